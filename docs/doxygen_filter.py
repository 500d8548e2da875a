#!/usr/bin/env python3
"""Writes a header with its `//` comments as Doxygen's: before a declaration as `///`, behind a member as `///<`."""

import html
import re
import sys

WHOLE_LINE = re.compile(r"^(\s*)//(?!/)( ?)(.*)$")
BEHIND = re.compile(r"^(\s*[^\s/][^\"]*?[;,{])\s*//(?!/) ?(.*)$")


def escaped(text):
    """Text that says what it says, whatever Doxygen makes of <, @ and backslashes."""
    return html.escape(text, quote=False).replace("\\", "\\\\").replace("@", "\\@").replace("#", "\\#")


def main():
    continues = False  # whether the comment goes on that began behind a member
    for line in open(sys.argv[1], encoding="utf-8"):
        line = line.rstrip("\n")
        whole, behind = WHOLE_LINE.match(line), BEHIND.match(line)
        if whole and continues and len(whole[1]) > 8:
            print(f"{whole[1]}///< {escaped(whole[3])}")
        elif whole:
            continues = False
            print(f"{whole[1]}/// {escaped(whole[3])}")
        elif behind:
            continues = True
            print(f"{behind[1]}  ///< {escaped(behind[2])}")
        else:
            continues = False
            print(line)


if __name__ == "__main__":
    main()
