#!/usr/bin/env python3
"""Checks README and docs: every relative link and anchor leads somewhere, every page is reached from
README, code that is said to be that of a file is it, and numbers that are said to be those of another
page stand there. Prints one line for each fault."""

import re
import sys

import pages

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
NUMBERS = re.compile(r"<!-- numbers: (\S+) -->")
FILE = re.compile(r"<!-- file: (\S+) -->")


def slug(heading):
    """The anchor that code hosts give a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    text = re.sub(r"[^\w\- ]", "", text.lower())
    return text.strip().replace(" ", "-")


def anchors(page):
    found = {}
    for _, line in pages.prose(page):
        match = re.match(r"#{1,6} +(.*)", line)
        if not match:
            continue
        name = slug(match.group(1))
        count = found.get(name, 0)
        found[name] = count + 1
        if count:
            found[f"{name}-{count}"] = 1
    return found


def links(page):
    """Yields line and target of every link; a link may go over the end of a line."""
    lines = [(number, re.sub(r"`[^`]*`", "", line)) for number, line in pages.prose(page)]
    text = "\n".join(line for _, line in lines)
    starts = []
    position = 0
    for number, line in lines:
        starts.append((position, number))
        position += len(line) + 1
    for match in LINK.finditer(text):
        yield max(number for start, number in starts if start <= match.start()), match.group(1)


def check_links(faults):
    reached = set()
    for page in pages.pages():
        for number, target in links(page):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            at = f"{pages.name_of(page)}, line {number}"
            if not file.exists():
                faults.append(f"{at}: there is no file {target}")
            elif anchor and anchor not in anchors(file):
                faults.append(f"{at}: there is no heading {target}")
            reached.add(file)
    for page in pages.pages():
        if page not in reached and page.name != "README.md":
            faults.append(f"{pages.name_of(page)}: no page links to it")


def check_files(faults):
    for page in pages.pages():
        for number, _, lines, before in pages.blocks(page):
            match = FILE.fullmatch(before.strip())
            if not match:
                continue
            if (pages.ROOT / match.group(1)).read_text() != "\n".join(lines) + "\n":
                faults.append(f"{pages.name_of(page)}, line {number}: is not {match.group(1)}")


def check_numbers(faults):
    """A table below "numbers: PAGE" repeats what that page has."""
    for page in pages.pages():
        source = None
        for number, line in pages.prose(page):
            match = NUMBERS.fullmatch(line.strip())
            if match:
                source = match.group(1)
                words = set(re.findall(r"[^\s|,;()\[\]]+", (pages.ROOT / source).read_text()))
            elif source and line and not line.startswith("|"):
                source = None
            elif source:
                for word in re.findall(r"[^\s|,;()\[\]]*\d[^\s|,;()\[\]]*", line):
                    if word not in words:
                        faults.append(f"{pages.name_of(page)}, line {number}: {source} has no {word}")


def check_length(faults):
    """A first page that is too long is not read."""
    count = len((pages.ROOT / "README.md").read_text().splitlines())
    if count > 150:
        faults.append(f"README.md has {count} lines, at most 150 are wanted")


def main():
    faults = []
    check_links(faults)
    check_files(faults)
    check_numbers(faults)
    check_length(faults)
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
