#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes what `iodash list TABLE --format markdown` prints between the markers
<!-- iodash list TABLE --> and <!-- end --> of the files given; into the manual (FILE.scd), between
"; iodash list TABLE" and "; end", as a list in scdoc(5).
Usage: tables.py [--check] IODASH FILE...   With --check nothing is written: exit 1 when stale."""
import difflib
import pathlib
import re
import subprocess
import sys

MARKDOWN = re.compile(r"(<!-- iodash list (\w+) -->\n)(.*?)(<!-- end -->)", re.S)
MANUAL = re.compile(r"(; iodash list (\w+)\n)(.*?)(; end\n)", re.S)
OPENING = re.compile(r"(?:<!--|^;) iodash list ", re.M)


def printed(iodash, table):
    done = subprocess.run([iodash, "list", table, "--format", "markdown"], capture_output=True,
                          text=True, timeout=20)
    if done.returncode != 0 or not done.stdout.strip():
        sys.exit(f"{iodash} list {table}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout.strip() + "\n"


def cells(line):
    return [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]]


def literal(text):
    return re.sub(r"([\\*_])", r"\\\1", text)


def as_manual(table):
    """A row is its first cell, what else is known of it, and under them its last cell."""
    heads, _, *rows = [cells(line) for line in table.splitlines()]
    out = []
    for first, *others, last in rows:
        known = ", ".join(f"{h}: {literal(o)}" for h, o in zip(heads[1:], others) if o)
        term = f"*{literal(first.strip('`'))}*" + (f" ({known})" if known else "")
        out.append(f"{term}\n\t{literal(last)}\n")
    return "\n".join(out)


def filled(iodash, path, old):
    """The text of a file with its tables anew, and how many they are."""
    manual = path.suffix == ".scd"
    block = MANUAL if manual else MARKDOWN
    found = block.findall(old)
    if len(OPENING.findall(old)) != len(found):
        sys.exit(f"{path}: a table without its end")

    def anew(m):
        table = printed(iodash, m[2])
        return f"{m[1]}\n{as_manual(table) if manual else table}\n{m[4]}"

    return block.sub(anew, old), len(found)


def main():
    words = sys.argv[1:]
    check = "--check" in words
    iodash, *files = [w for w in words if w != "--check"]
    stale = blocks = 0
    for path in map(pathlib.Path, files):
        old = path.read_text()
        new, found = filled(iodash, path, old)
        blocks += found
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
        print("mend it with: tools/tables.py build/release/iodash README.md docs/iodash.1.scd")
    sys.exit(1 if check and stale else 0)


if __name__ == "__main__":
    main()
