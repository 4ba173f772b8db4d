#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Workloads in which nothing is replied: stream and burst, and the gate that serves connect too."""
import unittest

import program

STREAM = ["run", "--workload", "stream", "-c", "20", *program.SHORT, "--quiet"]
ONE_BY_ONE = ["--repeats", "3", "--trim", "0", "--quiet"]


class Stream(program.Case):
    def test_messages_are_bytes_over_size(self):
        done = self.iodash(*STREAM, "-m", "epoll-lt,select", "--size", "100,4096", "-o", "s.csv")
        self.assertEqual(done.status, 0, done)
        rows = self.csv("s.csv")
        self.assertEqual({r["size"] for r in rows}, {"100", "4096"})
        for r in rows:
            self.assertEqual((r["protocol"], r["rate"]), ("discard", "max"))
            self.assertEqual(r["buffer"], r["size"])
            self.assertEqual(r["socket_buffer"], "65536")
            messages, size = float(r["messages_per_s"]), float(r["size"])
            self.assertGreater(messages, 0)
            self.assertAlmostEqual(messages * size / 2**20 / float(r["mib_per_s"]), 1, 6)
            # A read brings a message at most: the buffer is no longer than one.
            self.assertGreaterEqual(float(r["reads_per_s"]), 0.99 * messages)
            self.assertGreater(float(r["cpu_us_per_request"]), 0)
            for none in ("requests_per_s", "latency_p50_us", "response_p99_us"):
                self.assertEqual(r[none], "", none)
            self.assertEqual(r["errors"], "0")
        self.assertIn("messages/s", done.out)

    def test_paced(self):
        """Each turn of 50 ms; where the machine stood still in one: once more."""
        for attempt in range(5):
            name = f"{attempt}.csv"
            done = self.iodash(*STREAM, "-m", "epoll-lt", "--rate", "2000",
                               "--engine", "blocking", "-o", name)
            self.assertEqual(done.status, 0, done)
            rows = self.csv(name)
            for r in rows:
                self.assertNotEqual(r["send_late_p99_us"], "")
            rates = [float(r["messages_per_s"]) for r in rows]
            if all(1000 < rate < 2400 for rate in rates):
                return
        self.fail(f"not once at its pace: {rates}")

    def test_only_protocols_without_replies(self):
        self.refused(self.iodash("run", "-w", "stream", "--protocol", "fetch"),
                     "--protocol fetch", "stream", status=2)
        self.refused(self.iodash("run", "-w", "idle-mix", "--protocol", "discard"),
                     "--protocol discard", "idle-mix", status=2)


class Burst(program.Case):
    def test_sends_and_drain(self):
        done = self.iodash("run", "-w", "burst", "-c", "50", "-m", "select,blocking", *ONE_BY_ONE,
                           "-o", "b.csv")
        self.assertEqual(done.status, 0, done)
        rows = self.csv("b.csv")
        self.assertEqual(len(rows), 6)
        for r in rows:
            least, most, all_ = (float(r[f"send_{x}ns"]) for x in ("min_", "max_", ""))
            self.assertTrue(0 < least <= most <= all_ <= 50 * most, r)
            self.assertGreater(float(r["rearm_ns"]), 0)
            self.assertEqual(r["errors"], "0")
            gated = r["model"] == "select"
            for figure in ("drain_ns", "drain_cpu_ns"):
                self.assertEqual(bool(r[figure]), gated, figure)
            if gated:
                # All of it lay there before the first wait: half of the sockets a wait at least.
                self.assertGreater(float(r["events_per_wait"]), 5)
            else:
                self.assertIn("gate", r["reason"])
                if r["verdict"] != "noisy": # which comes before it
                    self.assertIn("drain CPU is not measured", r["reason"])
                self.assertEqual(r["events_per_wait"], "")
        if not any(r["verdict"] == "noisy" for r in rows):
            self.assertRegex(done.out, "ANSWER +withheld: drain CPU of blocking is not measured\n")

    def test_too_many_threads(self):
        self.refused(self.iodash("run", "-w", "burst", "-c", "100000"), "4000", status=2)


class Connect(program.Case):
    def test_accepts_out_of_a_full_queue(self):
        done = self.iodash("run", "-w", "connect", "-c", "200", "-m", "epoll-lt,blocking",
                           *ONE_BY_ONE, "-o", "c.csv")
        self.assertEqual(done.status, 0, done)
        for r in self.csv("c.csv"):
            self.assertGreater(float(r["accept_drain_per_s"]), 100)
            self.assertEqual(r["established"], "200")
        done = self.iodash("run", "-w", "connect", "-c", "60", "-m", "epoll-lt", "--backlog", "20",
                           *ONE_BY_ONE, "-o", "d.csv")
        self.assertEqual(done.status, 0, done)
        for r in self.csv("d.csv"):
            self.assertEqual(r["accept_drain_per_s"], "")


if __name__ == "__main__":
    unittest.main()
