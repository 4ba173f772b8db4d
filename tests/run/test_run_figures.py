#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Short real runs of every model in both placements: the files hold what was measured, the table is
made from the samples by the rule, and what is printed is what is saved."""
import datetime
import math
import shutil
import subprocess
import unittest

from program import SHORT, Case


def number(text):
    return float(text) if text else math.nan


class Figures(Case):
    def lineups(self):
        models = self.names("models")
        self.assertIn("epoll-et", models)
        return [models[i:i + 4] for i in range(0, len(models), 4)]

    def check_samples(self, rows, models, place, connections):
        self.assertEqual({r["model"] for r in rows}, set(models))
        elapsed = dict.fromkeys("ABCD", 0)
        for row in rows:
            datetime.datetime.fromisoformat(row["time"])
            self.assertEqual(row["place"], place)
            self.assertEqual(row["connections"], str(connections))
            self.assertIn(row["kept"], ("yes", "warmup", "broken", "extra"))
            self.assertGreater(number(row["interval_s"]), 0)
            self.assertGreater(number(row["elapsed_s"]), elapsed[row["pane"]])
            elapsed[row["pane"]] = number(row["elapsed_s"])
            for name, cell in row.items():
                self.assertNotIn(cell, ("nan", "inf", "-nan", "-inf"), name)
        for model in models:
            pane = {r["pane"] for r in rows if r["model"] == model}
            self.assertEqual(pane, {"ABCD"[models.index(model)]})

    def kept(self, rows, model, metric):
        return [number(r[metric]) for r in rows
                if r["model"] == model and r["kept"] == "yes" and r[metric] != ""]

    def check_table(self, rows, table, metrics):
        """Each figure of the table is the mean of the kept samples without the smallest and largest."""
        for line in table:
            for metric in metrics:
                values = sorted(self.kept(rows, line["model"], metric))
                self.assertGreater(len(values), 2, (line["model"], metric))
                used = values[1:-1]
                self.assertAlmostEqual(number(line[metric]) / (sum(used) / len(used)), 1, 4, metric)
                self.assertEqual(number(line[metric + "_n"]), len(used))
                self.assertAlmostEqual(number(line[metric + "_min"]) / used[0], 1, 4)
                self.assertAlmostEqual(number(line[metric + "_max"]) / used[-1], 1, 4)

    def check_printed(self, text, table, metric, connections):
        """The printed row holds the saved figures, to the digits it shows."""
        lines = [x.split() for x in text.splitlines()]
        printed = [w for w in lines if w and w[0] == str(connections)]
        self.assertEqual(len(printed), 1, text)
        shown = []
        for word in printed[0][1:]:
            try:
                shown.append((float(word), len(word.partition(".")[2])))
            except ValueError:
                continue
        for line in table:
            value = number(line[metric])
            near = [v for v, digits in shown if abs(v - value) <= 0.51 * 10 ** -digits]
            self.assertTrue(near, f"{line['model']} {metric} {value} is not in:\n{text}")

    def transfer(self, models, place):
        done = self.iodash("run", "-w", "transfer", "-c", 20, "-r", "2k", "-m", ",".join(models),
                           "--place", place, *SHORT, "-o", f"{place}-{models[0]}.csv")
        self.assertEqual(done.status, 0, done)
        rows = self.csv(f"{place}-{models[0]}.csv")
        table = self.csv(f"{place}-{models[0]}-tables.csv")
        self.check_samples(rows, models, place, 20)
        self.assertEqual([r["model"] for r in table], models)
        for model in models:
            self.assertEqual(len(self.kept(rows, model, "requests_per_s")), 4, done)
            self.assertGreater(min(self.kept(rows, model, "cpu_us_per_request")), 0)
            self.assertGreater(min(self.kept(rows, model, "rss_bytes")), 0)
        self.check_table(rows, table, ["cpu_us_per_request", "requests_per_s", "server_cpu_pct"])
        self.check_printed(done.out, table, "server_cpu_pct", 20)
        for r in rows:
            self.assertEqual(number(r["errors"] or "0"), 0, r)
        for word in ("ANSWER", "WHY", "TRUST"):
            self.assertIn(word, done.out)
        self.assertIn(table[-1]["answer"], done.out)

    def connect(self, models, place):
        done = self.iodash("run", "-w", "connect", "-c", 50, "--repeats", 4, "-m", ",".join(models),
                           "--place", place, "-o", f"connect-{place}-{models[0]}.csv")
        self.assertEqual(done.status, 0, done)
        rows = self.csv(f"connect-{place}-{models[0]}.csv")
        table = self.csv(f"connect-{place}-{models[0]}-tables.csv")
        self.check_samples(rows, models, place, 50)
        for model in models:
            self.assertEqual(len(self.kept(rows, model, "connect_s")), 4, done)
        for r in rows:
            self.assertEqual(r["kind"], "repeat")
            self.assertEqual(number(r["established"]), 50)
            self.assertEqual(number(r["accepted"]), 50)
        self.check_table(rows, table, ["connect_s", "accepted_s"])

    def test_transfer_in_processes(self):
        for models in self.lineups():
            self.transfer(models, "process")

    def test_transfer_inside(self):
        for models in self.lineups():
            self.transfer(models, "inside")

    def test_connect_in_processes(self):
        for models in self.lineups():
            self.connect(models, "process")

    def test_connect_inside(self):
        for models in self.lineups():
            self.connect(models, "inside")

    def test_closed_loop_over_other_engines(self):
        for engine in ("blocking", "mux-uring"):
            done = self.iodash("run", "-c", 20, "-r", "max", "--engine", engine, *SHORT,
                               "-o", f"{engine}.csv")
            if engine == "mux-uring" and "cannot run here" in done.err:
                self.assertEqual(done.status, 1, done)
                print("skipped:", done.err, end="")
                continue
            self.assertEqual(done.status, 0, done)
            rows = self.csv(f"{engine}.csv")
            self.assertEqual({r["engine"] for r in rows}, {engine})
            self.assertEqual({r["rate"] for r in rows}, {"max"})
            self.assertEqual({r["errors"] for r in rows}, {"0"})
            self.assertGreater(min(self.kept(rows, "select", "requests_per_s")), 0)

    def test_columns_are_the_tables(self):
        self.assertEqual(self.iodash("run", "-c", 5, "-r", "500", *SHORT, "-o", "a.csv").status, 0)
        columns = set(self.csv("a.csv")[0])
        for table in ("params", "metrics"):
            for name in self.names(table):
                if table == "params" and name in ("models", "plan", "output", "format", "listen",
                                                  "charset", "no_color", "quiet"):
                    continue
                self.assertIn(name, columns)
        self.assertGreaterEqual(columns, {"time", "elapsed_s", "interval_s", "session", "row", "pane",
                                          "model", "kind", "index", "kept", "verdict", "reason",
                                          "path", "env_kernel", "env_cpus", "env_version",
                                          "price_send_ns", "price_sleep_ns"})
        for row in self.csv("a.csv") + self.csv("a-tables.csv"):  # measured before the first row
            self.assertGreater(number(row["price_call_ns"]), 0)
            self.assertGreater(number(row["price_accept_ns"]), 0)

    def test_an_axis_is_a_row_each(self):
        done = self.iodash("run", "-c", "5..15:5", "-r", "1k", "-m", "poll,epoll-lt", *SHORT,
                           "-o", "axis.csv")
        self.assertEqual(done.status, 0, done)
        table = self.csv("axis-tables.csv")
        self.assertEqual(sorted(int(r["connections"]) for r in table), [5, 5, 10, 10, 15, 15])
        for r in table:
            self.assertEqual(r["against"], "poll" if r["model"] == "epoll-lt" else "")
        for connections in (5, 10, 15):
            self.check_printed(done.out, [r for r in table if r["connections"] == str(connections)],
                               "server_cpu_pct", connections)

    def test_printed_csv_is_the_saved_table(self):
        done = self.iodash("run", "-c", 10, "-r", "1k", *SHORT, "--format", "csv", "-o", "same.csv")
        self.assertEqual(done.status, 0, done)
        saved = (self.folder / "same-tables.csv").read_text(encoding="utf-8")
        self.assertEqual(done.out.replace("\r\n", "\n"), saved.replace("\r\n", "\n"))

    def test_decimal_comma_locale_writes_points(self):
        if not shutil.which("localedef"):
            self.fail("localedef is needed (package locales)")
        subprocess.run(["localedef", "--no-archive", "-i", "de_DE", "-f", "UTF-8",
                        self.folder / "de_DE.UTF-8"], check=True, timeout=60)
        self.env |= {"LOCPATH": str(self.folder), "LC_ALL": "de_DE.UTF-8"}
        done = self.iodash("run", "-c", 10, "-r", "1k", *SHORT, "-o", "de.csv")
        self.assertEqual(done.status, 0, done)
        for r in self.csv("de.csv"):
            self.assertNotIn(",", r["cpu_us_per_request"])
            self.assertGreater(number(r["interval_s"]), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
