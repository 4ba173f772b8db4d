#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Is the table on the screen (stdin) the saved one? check_table.py NAME-tables.csv ROWS: each row of
the file stands on the screen with its CPU figures, to the digits that are shown."""
import csv
import sys


def numbers(words):
    for word in words:
        try:
            yield float(word), len(word.partition(".")[2])
        except ValueError:
            pass


def main():
    screen = {}
    for line in sys.stdin.read().splitlines():
        words = line.replace("▶", " ").split()
        if words and words[0].isdigit():
            screen[words[0]] = list(numbers(words[1:]))
    with open(sys.argv[1], newline="", encoding="utf-8") as f:
        rows = list(csv.DictReader(f, strict=True))
    if len(rows) != int(sys.argv[2]):
        sys.exit(f"{len(rows)} rows saved, not {sys.argv[2]}")
    for row in rows:
        for metric in ("server_cpu_pct", "cpu_us_per_request"):
            value = float(row[metric])
            if not any(abs(v - value) <= 0.51 * 10 ** -digits
                       for v, digits in screen.get(row["connections"], [])):
                sys.exit(f"{row['connections']} {row['model']}: {metric} {value} is not in {screen}")


if __name__ == "__main__":
    main()
