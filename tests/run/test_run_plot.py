#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`plot`: pictures of a measured session, hostile names, and what is left where gnuplot is missing."""
import csv
import shutil
import subprocess
import unittest
import xml.etree.ElementTree as xml

from program import SHORT, Case


class Plot(Case):
    made = None

    def setUp(self):
        super().setUp()
        if Plot.made is None:
            done = self.iodash("run", "-m", "select,epoll-lt", "-c", "5,10", "--rate", "1k", *SHORT,
                               "-o", "s.csv", "--quiet")
            self.assertEqual(done.status, 0, done)
            Plot.made = self.csv("s.csv")
            (self.folder / "s-tables.csv").unlink()
        self.session("s.csv")

    def session(self, name, change=lambda row: None):
        rows = [dict(row) for row in Plot.made]
        for row in rows:
            change(row)
        with open(self.folder / name, "w", newline="", encoding="utf-8") as f:
            out = csv.DictWriter(f, rows[0].keys())
            out.writeheader()
            out.writerows(rows)

    def files(self):
        return sorted(p.name for p in self.folder.iterdir())

    def needs_gnuplot(self):
        if not shutil.which("gnuplot"):
            self.skipTest("gnuplot is not installed (gnuplot-nox)")

    def words(self, name):
        """All text of an SVG, which must be well-formed."""
        return " ".join(xml.parse(self.folder / name).getroot().itertext())

    def test_pictures(self):
        self.needs_gnuplot()
        for kind, words in (("curves", ["CPU a request, µs", "connections", "95 % interval"]),
                            ("time", ["server CPU, %", "seconds since"]),
                            ("latency", ["99.9 %", "slowest", "time of a request"])):
            figure = ["--figure", "server_cpu_pct"] if kind == "time" else []
            done = self.iodash("plot", "s.csv", "-o", f"{kind}.svg", "--plot", kind, *figure)
            self.assertEqual((done.status, done.err), (0, ""), done)
            text = self.words(f"{kind}.svg")
            for word in (*words, "A select", "B epoll-lt", "transfer", "loopback"):
                self.assertIn(word, text, kind)
        done = self.iodash("plot", "s.csv", "-o", "p.png", "--axes", "log")
        self.assertEqual(done.status, 0, done)
        self.assertEqual((self.folder / "p.png").read_bytes()[:4], b"\x89PNG")
        self.assertEqual(self.files(), ["curves.svg", "latency.svg", "p.png", "s.csv", "time.svg"])
        done = self.iodash("plot", "s.csv", "-o", "one.svg", "-c", "5")  # chosen: its curve all the same
        self.assertEqual(done.status, 0, done)
        self.assertIn("over connections", self.words("one.svg"))

    def test_names_are_never_run(self):
        self.needs_gnuplot()
        evil = "';system 'touch ran';`touch ran`\"|touch ran;&"
        self.session("e.csv", lambda row: row.update(
            model=evil if row["model"] == "select" else row["model"]))
        for kind in ("curves", "time", "latency"):
            for name in (f"| touch ran {kind}.svg", f"< touch ran {kind}.svg",
                         f"`touch ran` '{kind}' \\n $x.svg"):
                done = self.iodash("plot", "e.csv", "-o", name, "--plot", kind)
                self.assertEqual(done.status, 0, done)
                self.assertIn("touch ran", self.words(name))
        self.assertNotIn("ran", self.files())

    def test_without_gnuplot(self):
        self.env["PATH"] = str(self.folder)
        done = self.iodash("plot", "s.csv", "-o", "a.svg")
        self.refused(done, "gnuplot is not installed", "gnuplot-nox", "a.gp")
        self.assertEqual(self.files(), ["a.dat", "a.gp", "s.csv"])
        self.refused(self.iodash("plot", "s.csv", "-o", "a.svg"), "a-1.gp")
        shell = shutil.which("gnuplot")
        if shell:  # what was left draws it
            subprocess.run([shell, "a.gp"], cwd=self.folder, check=True, timeout=60)
            self.assertIn("A select", self.words("a.svg"))

    def test_bad_input(self):
        (self.folder / "there.svg").write_text("mine")
        self.refused(self.iodash("plot", "s.csv", "-o", "there.svg"), "there.svg", "exists already")
        self.assertEqual((self.folder / "there.svg").read_text(), "mine")
        self.refused(self.iodash("plot", "s.csv", "-o", "none/a.svg"), "none/a.svg")
        self.refused(self.iodash("plot", "none.csv", "-o", "a.svg"), "none.csv")
        (self.folder / "x.csv").write_text("a,b\n1,2\n")
        self.refused(self.iodash("plot", "x.csv", "-o", "a.svg"), "x.csv is no saved session")
        self.refused(self.iodash("plot", "s.csv", "-o", "a.svg", "-c", "77"), "asked for")
        self.refused(self.iodash("plot", "s.csv", "-o", "a.svg", "--axis", "size"), "not varied")
        self.refused(self.iodash("plot", "s.csv", "-o", "a.svg", "--figure", "exchange_s"),
                     "exchange_s is not measured")
        for words, part in ((["s.csv", "-o", "a.pdf"], ".svg or .png"), (["s.csv"], "-o"),
                            (["-o", "a.svg"], "FILE.csv"),
                            (["s.csv", "-o", "a.svg", "--plot", "curve"], "curves|time|latency"),
                            (["s.csv", "-o", "a.svg", "--figure", "rss_byte"], "did you mean rss_bytes"),
                            (["s.csv", "-o", "a.svg", "--axis", "connection"], "did you mean connections"),
                            (["s.csv", "-o", "a.svg", "--axes", "x"], "--axes x"),
                            (["s.csv", "-o", "a\n.svg"], "control character")):
            self.refused(self.iodash("plot", *words), part, status=2)
        self.assertEqual(self.files(), ["s.csv", "there.svg", "x.csv"])


if __name__ == "__main__":
    unittest.main()
