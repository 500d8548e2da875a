"""Makes pages of the site from files that stand outside of docs, and turns links to them around.

Links in the repository are those that a code host follows; mkdocs knows files below docs alone.
"""

import pathlib
import posixpath
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Files of the repository and the pages that they become.
OUTSIDE = {"README.md": "readme.md", "CONTRIBUTING.md": "contributing.md",
           "CHANGELOG.md": "changelog.md", "tests/integration/README.md": "situations.md"}
LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^)#\s]+)(#[^)\s]*)?\)")


def on_files(files, config):
    for source, page in OUTSIDE.items():
        files.append(File.generated(config, page, content=(ROOT / source).read_text()))
    return files


def on_page_markdown(markdown, page, config, files):
    sources = {name: source for source, name in OUTSIDE.items()}
    here = page.file.src_uri
    # where the text of this page stands in the repository
    folder = posixpath.dirname(sources.get(here, "docs/" + here))

    def turn(match):
        image, text, target, anchor = match.groups()
        if "://" in target:
            return match.group(0)
        path = posixpath.normpath(posixpath.join(folder, target))
        if path in OUTSIDE:
            inside = OUTSIDE[path]
        elif path.startswith("docs/") and not path.endswith(".py"):
            inside = path[len("docs/"):]
        else:
            return text  # no page of the site
        inside = posixpath.relpath(inside, posixpath.dirname(here) or ".")
        return f"{image}[{text}]({inside}{anchor or ''})"

    return LINK.sub(turn, markdown)
