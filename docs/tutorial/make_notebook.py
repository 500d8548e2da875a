#!/usr/bin/env python3
"""Makes tutorial.ipynb of docs/tutorial.md.

  make_notebook.py            writes the notebook beside this script
  make_notebook.py --check    fails when the notebook is not that of the page

Text becomes cells of text, commands become cells that run them by a shell, and what the page prints below a command is
the output of its cell. Comments and the shell's variables stay as they are on the page; the notebook sets LFIW.
"""

import json
import pathlib
import re
import sys

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE, NOTEBOOK = FOLDER.parent / "tutorial.md", FOLDER / "tutorial.ipynb"
FENCE = re.compile(r"```(\w+)\n(.*?)```\n", re.DOTALL)


def text_cell(text):
    # links of the page are relative to its folder, one above
    text = re.sub(r"\]\((?!http|#)", "](../", text.strip("\n"))
    return {"cell_type": "markdown", "metadata": {}, "source": text.splitlines(keepends=True)}


def command_cell(commands):
    lines = []
    for line in commands.rstrip("\n").splitlines(keepends=True):
        assigned = re.match(r"(LFIW)=(\S+)", line)
        if assigned:
            lines.append(f'%env {assigned.group(1)}={assigned.group(2)}\n')
        elif lines and lines[-1].endswith("\\\n") or not line.strip():
            lines.append(line)
        else:
            lines.append("!" + line)
    return {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": lines}


def notebook():
    page, cells, end = PAGE.read_text(), [], 0
    for block in FENCE.finditer(page):
        if page[end:block.start()].strip():
            cells.append(text_cell(page[end:block.start()]))
        end = block.end()
        language, body = block.groups()
        if language == "console":
            cells.append(command_cell(body))
        else:  # what the last command printed
            command = next(cell for cell in reversed(cells) if cell["cell_type"] == "code")
            command["outputs"].append(
                {"name": "stdout", "output_type": "stream", "text": body.splitlines(keepends=True)})
    cells.append(text_cell(page[end:]))
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return json.dumps({"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5},
                      indent=1, ensure_ascii=False) + "\n"


def main():
    if sys.argv[1:] == ["--check"]:
        if not NOTEBOOK.exists() or NOTEBOOK.read_text() != notebook():
            sys.exit("docs/tutorial/tutorial.ipynb is not that of docs/tutorial.md: run docs/tutorial/make_notebook.py")
    else:
        NOTEBOOK.write_text(notebook())


main()
