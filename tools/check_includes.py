#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Checks every #include below src/ against the table of folders: no upward call, no cycle, curses
in the files of the terminal. Usage: check_includes.py SOURCE_FOLDER. Exit 1 names each offence."""
import pathlib
import re
import sys

# A folder, and the folders whose headers it may include besides its own.
MAY = {
    "base": "",
    "params": "base",
    "net": "base",
    "metrics": "net base",
    "servers": "params net metrics base",
    "load": "params net metrics base",
    "session": "servers load params net metrics base",
    "ui": "session metrics params base",
    "cli": "ui session servers load params net metrics base",
}
# ui/ draws the tables of models, targets and workloads, and nothing else of those folders.
ALSO = {"ui": {"servers/io_models.h", "servers/targets.h", "load/workloads.h"}}
CURSES = re.compile(r"^(n?cursesw?|ncursesw?/.*|term|panel|menu|form)\.h$")
CURSES_HOMES = ("ui/term.c", "ui/term_keys.c")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def offences(source):
    for path in sorted(source.rglob("*.[ch]")):
        name = path.relative_to(source).as_posix()
        folder = name.split("/")[0] if "/" in name else "main"
        if folder != "main" and folder not in MAY:
            yield f"{name}: the folder {folder}/ stands in no row of the table"
            continue
        allowed = {"cli", "ui"} if folder == "main" else {folder, *MAY[folder].split()}
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            quote, header = found.groups()
            where = f"src/{name}:{number}: {header}"
            if quote == "<":
                if CURSES.match(header) and name not in CURSES_HOMES:
                    yield f"{where}: only {' and '.join(CURSES_HOMES)} include curses"
                continue
            if not (source / header).is_file():
                yield f"{where}: includes are rooted at src/, and there is no such file"
            elif header.split("/")[0] not in allowed and header not in ALSO.get(folder, ()):
                yield f"{where}: {folder}/ may not include {header.split('/')[0]}/"


def main():
    source = pathlib.Path(sys.argv[1]) / "src"
    files = len(list(source.rglob("*.[ch]")))
    if files < 20:
        sys.exit(f"only {files} files below {source}: is this the project?")
    bad = list(offences(source))
    print("\n".join(bad) if bad else f"{files} files, every include within its row")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
