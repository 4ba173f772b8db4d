#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A map with no dashboard: two lists, one round a place, somebody's own server on it."""
import unittest

from program import Case

MAP = ["-m", "poll,epoll-lt", "-c", "5,200", "--rate", "500,2k", "--samples", 1, "--warmup", 0,
       "--trim", 0, "--turn", 0.05, "--settle", 0.01]


class Map(Case):
    def test_map(self):
        done = self.iodash("run", *MAP, "--at", "20,1k", "-o", "map.csv")
        self.assertEqual(done.status, 0, done)
        lines = done.out.splitlines()
        self.assertIn("A poll over B epoll-lt", lines[0])
        self.assertEqual(lines[2].split(), ["requests/s", "5", "200"])
        self.assertEqual([line.split()[0] for line in lines[3:5]], ["500", "2k"])
        self.assertIn("ANSWER  Yours, 20 connections at 1k/s: ", done.out)
        self.assertIn("TRUST", done.out)
        rows = self.csv("map.csv")
        places = {(r["connections"], r["rate"]) for r in rows}
        self.assertEqual(places, {("20", "1000")} | {(c, r) for c in ("5", "200")
                                                     for r in ("500", "2000")})
        self.assertEqual({r["samples"] for r in rows}, {"1"})
        # More rounds where the two are close go on in the same row.
        self.assertEqual(len({r["row"] for r in rows}), 5)
        self.assertEqual({r["kept"] for r in rows}, {"yes"})
        for r in rows:
            self.assertGreater(float(r["cpu_us_per_request"]), 0)

    def test_refused(self):
        for at in ("3000", "x,1k", "10,-1"):
            done = self.iodash("run", *MAP, "--at", at)
            self.refused(done, f"--at {at}", status=2)
        self.refused(self.iodash("run", "--at", "10,1k"), "--at", "--plan map", status=2)
        self.refused(self.iodash("--at", "10"), "--at 10", status=2)


if __name__ == "__main__":
    unittest.main(verbosity=2)
