#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`iodash claims` as a person starts it: two short claims of one's own, one of them planted false, and
what is refused before any load."""
import json
import pathlib
import signal
import unittest

from program import SLOW, Case, children, sleeps

ROWS = """[rows]
models = select,epoll-lt
workload = transfer
connections = 4
rate = 200
samples = 3
warmup = 0
turn = 0.1
settle = 0.02
"""
TRUE = "[claim]\ntitle = four are four\nsource = planted\nhow = Counted.\n" \
    "true = select.established>=4 and epoll-lt.established<=4\n" + ROWS
FALSE = "[claim]\ntitle = epoll maps its set\nsource = planted\nhow = By maps.\n" \
    "true = probe.epoll_maps>0\nfalse = probe.epoll_maps<=0\nprobe = epoll_maps\n"
NOT = "[claim]\ntitle = a million\nsource = planted\nhow = Held.\n" \
    "true = select-wide.accepted>900k\n[rows]\nmodels = select-wide\nworkload = hold\n" \
    "connections = 1000000\n"


class Claims(Case):
    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")
        return name

    def files(self):
        return [self.write("true.ini", TRUE), self.write("false.ini", FALSE),
                self.write("not.ini", NOT)]

    def test_verdicts_figures_and_the_file(self):
        done = self.iodash("claims", "-o", "out.md", "--quiet", *self.files())
        self.assertEqual(done.status, 0, done)
        self.assertRegex(done.out, r"(?m)^true +four are four$")
        self.assertIn("select.established: 4", done.out)
        self.assertRegex(done.out, r"(?m)^false +epoll maps its set$")
        self.assertRegex(done.out, r"(?m)^not measured +a million\n +\S.*descriptor")
        lines = (self.folder / "out.md").read_text(encoding="utf-8").splitlines()
        self.assertRegex(lines[0], r"^\| *claim *\| *verdict *\| *figures *\| *source *\|$")
        self.assertEqual(len(lines), 5, lines)
        self.assertRegex(lines[3], r"epoll maps its set *\| *false *\| *shared mappings "
                                   r"of an epoll server: 0 *\|")

    def test_the_shipped_are_listed_and_json_has_the_columns(self):
        done = self.iodash("list", "claims", "--format", "csv")
        self.assertEqual(done.status, 0, done)
        self.assertGreaterEqual(len(done.out.splitlines()), 16)
        done = self.iodash("claims", "--format", "json", self.files()[1])
        if "has no JSON" in done.err:
            self.skipTest("built without json-c")
        row, = json.loads(done.out)["rows"]
        self.assertEqual(list(row), ["claim", "verdict", "figures", "source"])
        self.assertEqual(row["verdict"], "false")

    def test_an_existing_file_is_refused_before_any_load(self):
        self.write("out.md", "mine")
        done = self.iodash("claims", "-o", "out.md", *self.files())
        self.refused(done, "out.md", "exists already")
        self.assertEqual((self.folder / "out.md").read_text(), "mine")

    def test_a_name_that_is_no_markdown(self):
        for name in ("x.csv", "x", ".md"):
            self.refused(self.iodash("claims", "-o", name, *self.files()), f"--output {name}", ".md", status=2)
            self.assertFalse((self.folder / name).exists())

    def test_a_mistake_is_refused_before_any_load(self):
        name = self.write("bad.ini", TRUE.replace("established>=4", "establised>=4"))
        done = self.iodash("claims", "-o", "out.md", name)
        self.refused(done, "bad.ini, line 5", "established?", status=2)
        self.assertFalse((self.folder / "out.md").exists())
        self.refused(self.iodash("claims", "select-1023"), "no such claim", status=2)

    def test_interrupted_it_tells_what_was_tried(self):
        long = self.write("long.ini", TRUE.replace("samples = 3", "samples = 10000"))
        process = self.start("claims", self.files()[1], long, "-o", "out.md")
        # The first has a probe alone; the servers of the second are asked.
        self.wait_for(process, lambda: sum(map(sleeps, children(process))) > 100)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=10 * SLOW)
        self.assertEqual(process.returncode, 130, err)
        self.assertRegex(out, r"(?m)^false +epoll maps its set$")
        self.assertNotIn("four are four", out)
        text = pathlib.Path(self.folder / "out.md").read_text(encoding="utf-8")
        self.assertEqual(len(text.splitlines()), 3)


if __name__ == "__main__":
    unittest.main(verbosity=2)
