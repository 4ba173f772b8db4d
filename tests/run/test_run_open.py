#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that are no sessions, no plans and no settings: named, in one line, before anything starts."""
import os
import unittest

from program import SHORT, Case


class Open(Case):
    def write(self, name, data):
        (self.folder / name).write_bytes(data)
        return name

    def test_what_is_no_session(self):
        done = self.iodash("run", "-m", "select,epoll-lt", "-c", "10", "--rate", "1k", *SHORT, "--quiet",
                           "-o", "a.csv")
        self.assertEqual(done.status, 0, done)
        self.refused(self.iodash("open", "a-tables.csv"), "a-tables.csv", "the session is a.csv")
        self.refused(self.iodash("open", self.write("b.csv", b"x,y\n1,2\n")), "b.csv", "no column 'row'")
        self.refused(self.iodash("open", self.write("c.csv", b"")), "c.csv", "is empty")
        self.refused(self.iodash("open", self.write("d.csv", os.urandom(3000))), "d.csv")
        self.refused(self.iodash("open", "none.csv"), "none.csv", "No such file")
        self.refused(self.iodash("open", "."), "Is a directory")
        self.refused(self.iodash("open"), "FILE.csv", status=2)
        self.refused(self.iodash("open", "a.csv", "b.csv"), "b.csv", status=2)
        self.refused(self.iodash("open", "a.csv"), "terminal")  # a session, but no screen
        os.mkfifo(self.folder / "pipe")
        self.refused(self.iodash("open", "pipe"), "pipe", "no regular file")
        self.refused(self.iodash("run", "--plan", "./pipe"), "pipe", "no regular file")

    def test_compare_goes_on_with_the_rest(self):
        done = self.iodash("run", "-m", "select,epoll-lt", "-c", "10", "--rate", "1k", *SHORT, "--quiet",
                           "-o", "a.csv")
        self.assertEqual(done.status, 0, done)
        done = self.iodash("compare", "none.csv", "a.csv", "--", "a.csv")
        self.assertEqual(done.status, 0, done)
        self.assertIn("none.csv", done.err)
        self.assertIn("CPU a request", done.out)
        done = self.iodash("compare", "none.csv", "--", "a.csv")
        self.assertEqual((done.status, done.out), (1, ""), done)
        self.assertIn("none.csv: No such file", done.err)
        self.assertIn("a side has no session", done.err)
        self.refused(self.iodash("compare", "a.csv", "--", "a.csv", "--spread", "5"), "--spread",
                     "stands behind --", status=2)
        self.refused(self.iodash("compare", "a.csv", "--", "-q", "a.csv"), "-q", status=2)
        os.rename(self.folder / "a.csv", self.folder / "-a.csv")
        self.assertEqual(self.iodash("compare", "./-a.csv", "--", "-a.csv").status, 0)

    def test_a_plan_with_a_nul(self):
        self.write("p.ini", b"rate = 2k\nconn\0ections = 5\n")
        self.refused(self.iodash("run", "--plan", "./p.ini"), "p.ini, line 2", "NUL", status=2)


if __name__ == "__main__":
    unittest.main()
