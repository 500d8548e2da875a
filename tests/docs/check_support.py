#!/usr/bin/env python3
"""Checks that every test that docs/support.md names is one of the tree."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TEST = re.compile(r"^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\)", re.MULTILINE)
NAMED = re.compile(r"`([A-Z]\w+\.[A-Z]\w+)`")


def main():
    known = {f"{suite}.{name}" for path in ROOT.glob("tests/**/*.cc") for suite, name in TEST.findall(path.read_text())}
    page = (ROOT / "docs" / "support.md").read_text()
    named = NAMED.findall(page)
    missing = sorted(set(named) - known)
    for name in missing:
        print(f"docs/support.md: there is no test {name}")
    # a row without a test says why in words
    for line in page.splitlines():
        if line.startswith("| ") and not line.startswith("| ---") and "`" not in line and "the same" not in line:
            if not re.match(r"\| (task|format|policy) \|", line):
                print(f"docs/support.md: a row names no test: {line}")
                missing.append(line)
    if len(named) < 40:
        missing.append(f"docs/support.md names {len(named)} tests, expected those of all its rows")
        print(missing[-1])
    sys.exit(1 if missing else 0)


if __name__ == "__main__":
    main()
