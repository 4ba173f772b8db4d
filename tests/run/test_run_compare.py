#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`compare` over sessions made from a measured one, and JSON held against the CSV it stands for."""
import csv
import json
import math
import random
import unittest

from program import SHORT, Case


class Compare(Case):
    made = None

    def setUp(self):
        super().setUp()
        if Compare.made is None:
            done = self.iodash("run", "-m", "select,epoll-lt", "-c", "10,20", "--rate", "1k", *SHORT,
                               "-o", "first.csv", "--quiet", "--format", "csv")
            self.assertIn(done.status, (0,), done)
            Compare.made = self.csv("first.csv")
            Compare.tables = done.out
            Compare.saved = (self.folder / "first-tables.csv").read_bytes().decode()

    def session(self, name, factor=1.0, seed=0, change=lambda row: None):
        """The measured session again: quiet, with a cost of its own that is `factor` dearer."""
        drift = 1 + 0.004 * random.Random(seed).uniform(-1, 1)
        rows = [dict(row) for row in Compare.made]
        for row in rows:
            base = 10.0 if row["model"] == "select" else 5.0
            row.update(session=f"{name}-{seed}", verdict="ok", reason="")
            if row["kept"] == "yes":
                row["cpu_us_per_request"] = repr(base * factor * drift)
                row["response_p99_us"] = "900.5"
                for metric in ("waits", "looks", "sleeps", "reads", "writes"):
                    row[f"{metric}_per_request"] = "1"
            change(row)
        with open(self.folder / name, "w", newline="", encoding="utf-8") as f:
            out = csv.DictWriter(f, rows[0].keys())
            out.writeheader()
            out.writerows(r for r in rows if r["model"])
        return name

    def side(self, letter, factor=1.0, count=3, **more):
        return [self.session(f"{letter}{i}.csv", factor, seed=ord(letter) + i, **more)
                for i in range(count)]

    def compare(self, a, b, *words):
        return self.iodash("compare", *words, *a, "--", *b)

    def test_worse_better_and_the_same(self):
        a, same, worse = self.side("a"), self.side("b"), self.side("c", 1.2)
        done = self.compare(a, same)
        self.assertEqual(done.status, 0, done)
        self.assertIn("no difference can be told", done.out)
        done = self.compare(a, worse)
        self.assertEqual(done.status, 3, done)
        self.assertRegex(done.out, r"WORSE +CPU a request of transfer select, connections 10: 1\.20 times")
        self.assertLess(done.out.index("Counts: exact"), done.out.index("Measured"))
        done = self.compare(worse, a, "--format", "markdown")
        self.assertEqual(done.status, 0, done)
        self.assertIn("**BETTER**", done.out)
        self.assertIn("| row | figure |", done.out)

    def test_fewer_than_three(self):
        done = self.compare(self.side("a", count=1), self.side("b", 2, count=1))
        self.assertEqual(done.status, 0, done)
        self.assertIn("one session a side: the spread between sessions is unknown", done.out)
        self.assertRegex(done.out, r"CPU a request, us +\S+ \(1\) +\S+ \(1\) +(2\.0|1\.9)\d +cannot tell")
        done = self.compare(["a0.csv"], ["b0.csv"], "--spread", "5")
        self.assertEqual(done.status, 3, done)
        self.assertEqual(self.compare(["a0.csv"], ["b0.csv"], "--spread", "200%").status, 0)
        for bad in ("x", "0", "-3", "1001", "nan"):
            self.refused(self.compare(["a0.csv"], ["b0.csv"], f"--spread={bad}"), "--spread",
                         status=2)

    def test_machines_come_first(self):
        def other(row):
            row["env_kernel"] = "Linux 9.9"
            row["price_call_ns"] = "1e6"
        done = self.compare(self.side("a"), self.side("b", change=other))
        lines = done.out.splitlines()
        self.assertRegex(lines[2], r"^DIFFERS +kernel: A .*; B Linux 9\.9$")
        self.assertRegex(lines[3], r"^DIFFERS +prices: .*call_ns A \S+, B 1000000 ns")

    def test_what_is_not_comparable(self):
        (self.folder / "foreign.csv").write_text("x,y\n1,2\n")
        whole = (self.folder / self.session("a.csv", seed=1)).read_bytes()
        (self.folder / "cut.csv").write_bytes(whole[:-30])
        done = self.compare(["a.csv"], ["foreign.csv", "none.csv"])
        self.assertEqual(done.status, 1, done)
        self.assertIn("foreign.csv is no saved session", done.err)
        self.assertIn("none.csv", done.err)
        done = self.compare(["a.csv"], ["foreign.csv", "cut.csv"])
        self.assertEqual(done.status, 0, done)
        self.assertRegex(done.err, "cut.csv: the last line is cut")
        self.session("other.csv", change=lambda row: row.update(connections="77"))
        done = self.compare(["a.csv"], ["other.csv"])
        self.assertEqual(done.status, 1, done)
        self.assertIn("no row is in both sides", done.err)
        self.assertRegex(done.out, r"ONLY IN A +transfer select, connections 10\n")
        self.assertRegex(done.out, r"ONLY IN B +transfer epoll-lt, connections 77\n")

    def test_usage(self):
        self.refused(self.iodash("compare"), "A.csv... -- B.csv...", status=2)
        self.refused(self.iodash("compare", "a.csv", "b.csv"), "both sides", status=2)
        self.refused(self.iodash("compare", "--", "b.csv"), "both sides", status=2)
        self.refused(self.iodash("compare", "-c", "4", "a.csv", "--", "b.csv"), "-c", status=2)

    # --- JSON ---

    def json(self, *words, status=0):
        done = self.iodash(words[0], "--format", "json", *words[1:])
        if "has no JSON" in done.err:
            self.assertEqual(done.status, 2)
            self.skipTest("built without json-c")
        self.assertEqual(done.status, status, done)
        document = json.loads(done.out)
        self.assertEqual(document["command"], words[0])
        return document

    def same(self, rows, table):
        """Each cell: the same text, the same double, or null where it is empty."""
        lines = list(csv.DictReader(table.splitlines(keepends=True), strict=True))
        self.assertTrue(rows)
        self.assertEqual(len(rows), len(lines))
        for row, line in zip(rows, lines):
            self.assertEqual(list(row), list(line))
            for key, value in row.items():
                text = line[key]
                if isinstance(value, (int, float)):
                    self.assertTrue(math.isfinite(value), key)
                    self.assertEqual(float(text), value, key)
                else:
                    self.assertIn(text, (value or "", f"'{value}"), key)
        return rows

    def test_lists(self):
        for table in ("models", "params", "metrics", "verdicts", "keys", "plans"):
            text = self.iodash("list", table, "--format", "csv").out
            self.same(self.json("list", table)["rows"], text)

    def test_a_run(self):
        document = self.json("run", "-m", "poll", "-c", "5", "--rate", "500", *SHORT, "--quiet",
                             "-o", "r.csv")
        rows = self.same(document["rows"], (self.folder / "r-tables.csv").read_bytes().decode())
        self.assertEqual(rows[0]["model"], "poll")
        self.assertEqual(rows[0]["connections"], 5)
        self.assertEqual(rows[0]["warmup"], 0)
        self.assertEqual(rows[0]["accept"], "drain")
        self.assertEqual(rows[0]["load_threads"], "auto")
        self.assertIsNone(rows[0]["against"])
        self.assertGreater(rows[0]["requests_per_s"], 0)

    def test_a_comparison(self):
        a, b = self.side("a"), self.side("b", 1.2)
        self.session("more.csv", change=lambda row: row.update(connections="77"))
        text = self.compare(a, [*b, "more.csv"], "--format", "csv").out
        document = self.json("compare", *a, "--", *b, "more.csv", status=3)
        rows = self.same(document["rows"], text)
        self.assertEqual(document["differences"], [])
        cost = [r for r in rows if r["metric"] == "cpu_us_per_request"]
        self.assertEqual({r["outcome"] for r in cost}, {"worse"})
        self.assertTrue(all(r["low"] < r["b_over_a"] < r["high"] and r["a_n"] == 3 for r in cost))
        only = [r for r in rows if r["outcome"] == "only in B"]
        self.assertEqual({r["connections"] for r in only}, {77})
        self.assertTrue(all(r["metric"] is None and r["a"] is None for r in only))


if __name__ == "__main__":
    unittest.main()
