#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`run` over all models, here and where the kernel refuses one of them."""
import csv
import ctypes
import errno
import os
import re
import struct
import unittest

from program import SHORT, Case

IO_URING_SETUP = 425  # on every architecture
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


def refuse_io_uring():
    """In the child: io_uring_setup(2) fails with EPERM, as under a container's filter."""
    code = b"".join(struct.pack("HBBI", *i) for i in [
        (0x20, 0, 0, 0),               # load the call's number
        (0x15, 0, 1, IO_URING_SETUP),  # equal: the next, else the one after
        (0x06, 0, 0, 0x00050000 | errno.EPERM),
        (0x06, 0, 0, 0x7FFF0000),
    ])
    program = ctypes.create_string_buffer(code, len(code))
    filters = struct.pack("@HP", len(code) // 8, ctypes.addressof(program))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or \
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, filters, 0, 0):
        os._exit(99)


class AllModels(Case):
    WORDS = ["run", "-m", "all", "-c", 20, "-r", "2k", *SHORT]

    def kernel_calls(self):
        listed = csv.DictReader(self.iodash("list", "models", "--format", "csv").out.splitlines())
        return [m["model"] for m in listed if m["group"] == "kernel calls"]

    def test_each_is_measured_beside_the_same(self):
        done = self.iodash(*self.WORDS, "-o", "all.csv", seconds=120)
        self.assertEqual(done.status, 0, done)
        tables = self.csv("all-tables.csv")
        self.assertEqual({t["model"] for t in tables}, set(self.kernel_calls()))
        self.assertEqual({t["model"] for t in tables if t["pane"] == "A"}, {"select"})
        for t in tables:
            if t["verdict"] != "skipped":
                self.assertGreater(int(t["taken"]), 0, t)
            if t["pane"] != "A":
                self.assertEqual(t["against"], "select")

    def test_one_that_the_kernel_refuses_is_skipped(self):
        self.refuse = refuse_io_uring
        done = self.iodash(*self.WORDS, "-o", "all.csv", seconds=120)
        self.assertEqual(done.status, 0, done)
        verdicts = {t["model"]: t for t in self.csv("all-tables.csv")}
        for model, t in verdicts.items():
            if model.startswith("uring"):
                self.assertEqual(t["verdict"], "skipped", t)
                self.assertTrue(t["reason"], t)
                self.assertEqual(t["taken"], "0")
            else:
                self.assertNotEqual(t["verdict"], "skipped", t)
                self.assertGreater(int(t["taken"]), 0, t)
        self.assertTrue({"uring", "select-wide"} <= set(verdicts), done)
        self.assertIn("skipped", done.out)
        self.refused(self.iodash("run", "-m", "uring"), "uring", "cannot run here")
        self.refused(self.iodash("run", "--engine", "mux-uring"), "--engine mux-uring cannot run here",
                     "forbidden")


class Workers(Case):
    def test_who_did_how_much_is_said(self):
        done = self.iodash("run", "-m", "epoll-lt,poll", "--workers", 2, "-c", 50, "-r", "2k", *SHORT, "-o", "w.csv")
        self.assertEqual(done.status, 0, done)
        kept = {r["model"]: r["workers_split"] for r in self.csv("w.csv")}
        self.assertEqual(kept, {r["model"]: r["workers_split"] for r in self.csv("w-tables.csv")})
        for model in ("epoll-lt", "poll"):
            self.assertIn(f"WORKERS {model}: {kept[model]}\n", done.out)
            split = re.search(rf"^WORKERS {model}: connections (\d+)\+(\d+), "
                              r"requests (\d+)\+(\d+) %, CPU (\d+)\+(\d+) %$", done.out, re.M)
            self.assertTrue(split, done)
            connections, requests, cpu = ((int(split[i]), int(split[i + 1])) for i in (1, 3, 5))
            self.assertEqual(sum(connections), 50)
            self.assertIn(sum(requests), (99, 100, 101))
            self.assertIn(sum(cpu), (99, 100, 101))
            self.assertTrue(all(connections), "the kernel deals by a hash: 50 to one is no chance")

    def test_one_alone_is_not_split(self):
        done = self.iodash("run", "-m", "epoll-lt", "-c", 5, "-r", "1k", *SHORT)
        self.assertNotIn("WORKERS", done.out)


if __name__ == "__main__":
    unittest.main()
