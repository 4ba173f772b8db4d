# SPDX-License-Identifier: MIT
"""Starts iodash in an empty folder of its own and hands back what it said, with every wait bounded."""
import csv
import glob
import os
import pathlib
import re
import subprocess
import tempfile
import time
import unittest

EXE = os.environ["IODASH_EXE"]
SLOW = 6 if os.environ.get("IODASH_SANITIZE") else 1
# A session that is over in a second or two.
SHORT = ["--samples", "4", "--warmup", "0", "--turn", "0.05", "--settle", "0.01"]


def read(pattern):
    """The text of all files of /proc that match and are still there."""
    text = ""
    for name in glob.glob(pattern):
        try:
            with open(name, encoding="utf-8") as f:
                text += f.read() + "\n"
        except OSError:
            pass
    return text


def children(process):
    return [int(x) for x in read(f"/proc/{process.pid}/task/*/children").split()]


def sleeps(pid):
    """How often threads of that process went to sleep."""
    said = read(f"/proc/{pid}/task/*/status")
    return sum(map(int, re.findall(r"^voluntary_ctxt_switches:\s+(\d+)", said, re.M)))


class Done:
    def __init__(self, status, out, err, seconds, again):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds
        self.again = again  # does it once more

    def __str__(self):
        return f"status {self.status} after {self.seconds:.2f} s\n{self.out}\n{self.err}"


class Case(unittest.TestCase):
    refuse = None  # called in each child before it becomes iodash

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.env = {**os.environ, "LC_ALL": "C.UTF-8", "XDG_STATE_HOME": folder.name,
                    "XDG_CONFIG_HOME": folder.name}

    def start(self, *words, before=()):
        return subprocess.Popen([*before, EXE, *map(str, words)], cwd=self.folder, env=self.env,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                preexec_fn=self.refuse,
                                stderr=subprocess.PIPE, text=True, encoding="utf-8")

    def iodash(self, *words, before=(), seconds=60):
        begin = time.monotonic()
        process = self.start(*words, before=before)
        try:
            out, err = process.communicate(timeout=seconds * SLOW)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            self.fail(f"{words}: not over after {seconds * SLOW} s\n{out}\n{err}")
        return Done(process.returncode, out, err, time.monotonic() - begin,
                    lambda: self.iodash(*words, before=before, seconds=seconds))

    def wait_for(self, process, condition):
        end = time.monotonic() + 20 * SLOW
        while not condition():
            self.assertIsNone(process.poll(), "it ended by itself")
            self.assertLess(time.monotonic(), end, "it does not come so far")
            time.sleep(0.02)

    def refused(self, done, *parts, status=1):
        """One line that names the thing, in under a second. Where the machine stood still: once
        more."""
        self.assertEqual(done.status, status, done)
        self.assertEqual(done.out, "", done)
        self.assertEqual(len(done.err.splitlines()), 1, done)
        for part in parts:
            self.assertIn(part, done.err)
        for _ in range(4):
            if done.seconds >= SLOW:
                done = done.again()
        self.assertLess(done.seconds, SLOW, done)

    def csv(self, name):
        raw = (self.folder / name).read_bytes()
        self.assertNotIn(b"\033", raw)
        with open(self.folder / name, newline="", encoding="utf-8") as f:
            rows = list(csv.DictReader(f, strict=True))
        self.assertTrue(rows, f"{name} has no row")
        for row in rows:
            self.assertNotIn(None, row, "a row is longer than the header")
            self.assertNotIn(None, row.values(), "a row is shorter than the header")
        return rows

    def names(self, table):
        """First column of `iodash list TABLE`."""
        done = self.iodash("list", table, "--format", "markdown")
        self.assertEqual(done.status, 0, done)
        names = re.findall(r"^\| *`?([\w-]+)`? *\|", done.out, re.M)[1:]
        self.assertTrue(names, done)
        return [n for n in names if n.strip("-")]
