#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server that is ten times slower in its first second changes no summary, and what was left out
is said."""
import re
import time
import unittest

from peers import Peer, report
from program import Case

HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
QUICK_MS, SLOW_MS = 20, 200


def slow_at_first(seconds):
    begun = []

    def serve(connection, peer):
        for _ in peer.heads(connection):
            begun.append(time.monotonic())
            slow = begun[-1] - begun[0] < seconds
            time.sleep((SLOW_MS if slow else QUICK_MS) / 1e3)
            connection.sendall(HELLO)

    return serve


class WarmUp(Case):
    def load(self, warmup, slow_s):
        peer = Peer(slow_at_first(slow_s))
        self.addCleanup(peer.stop)
        done = self.iodash("load", peer.address, "-c", 2, "-d", 0.6, "--turn", 0.1, "--warmup",
                           warmup, "-o", f"{warmup}.csv", "--quiet")
        self.assertEqual(done.status, 0, done)
        return done

    def p50_ms(self, done):
        value, unit = re.search(r"p50 ([\d.]+) ?(us|µs|ms)", report(done.out)["latency"]).groups()
        return float(value) / (1 if unit == "ms" else 1000)

    def test_the_first_second_is_left_out_and_said(self):
        done = self.load("1", 0.8)
        self.assertLess(self.p50_ms(done), 0.75 * SLOW_MS, done)
        self.assertRegex(done.out,
                         r"(?m)^measured +\S+ s; the first [1-9]\S* s left out \(warm-up\)")
        kept = [row["kept"] for row in self.csv("1.csv")]
        first = kept.index("yes")
        self.assertEqual(set(kept[:first]), {"warmup"})
        self.assertNotIn("warmup", kept[first:])
        slowest = [float(row["latency_p50_us"]) / 1e3 for row in self.csv("1.csv")
                   if row["kept"] == "warmup" and row["latency_p50_us"]]
        self.assertGreaterEqual(slowest[0], SLOW_MS)

    def test_else_it_counts(self):
        done = self.load("0", 60)
        self.assertGreaterEqual(self.p50_ms(done), SLOW_MS, done)
        self.assertNotIn("left out", done.out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
