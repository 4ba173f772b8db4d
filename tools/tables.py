#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes what `iodash list TABLE --format markdown` prints between the markers
<!-- iodash list TABLE --> and <!-- end --> of the files given.
Usage: tables.py [--check] IODASH FILE...   With --check nothing is written: exit 1 when stale."""
import difflib
import pathlib
import re
import subprocess
import sys

BLOCK = re.compile(r"(<!-- iodash list (\w+) -->\n)(.*?)(<!-- end -->)", re.S)
OPENING = re.compile(r"<!-- iodash list ")


def printed(iodash, table):
    done = subprocess.run([iodash, "list", table, "--format", "markdown"], capture_output=True,
                          text=True, timeout=20)
    if done.returncode != 0 or not done.stdout.strip():
        sys.exit(f"{iodash} list {table}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout.strip() + "\n"


def main():
    words = sys.argv[1:]
    check = "--check" in words
    iodash, *files = [w for w in words if w != "--check"]
    stale = blocks = 0
    for path in map(pathlib.Path, files):
        old = path.read_text()
        if len(OPENING.findall(old)) != len(BLOCK.findall(old)):
            sys.exit(f"{path}: a table without its <!-- end -->")
        blocks += len(BLOCK.findall(old))
        new = BLOCK.sub(lambda m: f"{m[1]}\n{printed(iodash, m[2])}\n{m[4]}", old)
        if new == old:
            continue
        stale += 1
        if check:
            sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True),
                                                       str(path), "what iodash list prints"))
        else:
            path.write_text(new)
    if blocks == 0:
        sys.exit("no table found in " + " ".join(files))
    print(f"{blocks} tables, {stale} files {'stale' if check else 'written'}")
    if check and stale:
        print("mend it with: tools/tables.py build/release/iodash README.md")
    sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
    main()
