"""The pages of the documentation, for the checks beside this file."""

import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^(`{3,})(.*)$")


def pages():
    """README, what is beside it, and everything below docs."""
    beside = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")]
    return beside + sorted((ROOT / "docs").rglob("*.md"))


def name_of(page):
    return str(page.relative_to(ROOT))


def blocks(page):
    """Yields the fenced blocks of a page: line, language with what follows it, lines, the line before."""
    lines = page.read_text().splitlines()
    at = 0
    while at < len(lines):
        match = FENCE.match(lines[at])
        if not match:
            at += 1
            continue
        first = at
        at += 1
        while at < len(lines) and lines[at].rstrip() != match.group(1):
            at += 1
        before = lines[first - 1] if first else ""
        yield first + 1, match.group(2).strip(), lines[first + 1:at], before
        at += 1


def prose(page):
    """Yields the numbered lines outside of fenced blocks, without inline code."""
    fence = ""
    for number, line in enumerate(page.read_text().splitlines(), 1):
        match = FENCE.match(line)
        if match and (not fence or match.group(1) == fence):
            fence = "" if fence else match.group(1)
        elif not fence:
            yield number, line
