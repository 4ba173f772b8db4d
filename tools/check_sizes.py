#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints how long functions and files are, folder by folder, and fails when one is over its limit,
or a line of C is.
Usage: check_sizes.py SOURCE_FOLDER [FOLDER...] (default: src). Needs Universal Ctags."""
import collections
import pathlib
import subprocess
import sys

FUNCTION_MAX = 80
FILE_MAX = 500
COLUMN_MAX = 100


def functions(files):
    """(lines, path, name) of each function, by Universal Ctags."""
    command = ["ctags", "-x", "--c-kinds=f", "--_xformat=%{end} %n %F %N", "--languages=C", *files]
    try:
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as e:
        sys.exit(f"Universal Ctags is needed (package universal-ctags): {e}")
    for line in out.splitlines():
        end, start, path, name = line.split(None, 3)
        if not end.isdigit():
            sys.exit(f"ctags gave no end of {name} in {path}: not Universal Ctags?")
        yield int(end) - int(start) + 1, path, name


def at(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def report(title, lengths):
    print(f"{title:16}{len(lengths):6} functions, lines: median {at(lengths, 0.5):3}"
          f"  p95 {at(lengths, 0.95):3}  max {max(lengths):3}")


def main():
    root = pathlib.Path(sys.argv[1])
    folders = sys.argv[2:] or ["src"]
    files = [p for f in folders for p in sorted((root / f).rglob("*.[ch]"))]
    if not files:
        sys.exit(f"nothing to measure below {root}")
    found = list(functions([str(f) for f in files]))
    if not found:
        sys.exit("no function found")
    by_folder = collections.defaultdict(list)
    for lines, path, _ in found:
        by_folder[pathlib.Path(path).relative_to(root).parent.as_posix()].append(lines)
    for folder, lengths in sorted(by_folder.items()):
        report(folder, lengths)
    report("all", [f[0] for f in found])

    bad = [f"{path}: {name}: {lines} lines, at most {FUNCTION_MAX}"
           for lines, path, name in found if lines > FUNCTION_MAX]
    for path in files:
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) > FILE_MAX:
            bad.append(f"{path}: {len(lines)} lines, at most {FILE_MAX}")
        bad += [f"{path}:{n}: {len(line)} columns, at most {COLUMN_MAX}"
                for n, line in enumerate(lines, 1) if len(line) > COLUMN_MAX]
    print("\n".join(bad))
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
