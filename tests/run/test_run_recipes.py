#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The recipes whose packages the tests have: each server started, asked, every reply right, its figures
there, what it waits with read as it is known to be, ended without a trace."""
import pathlib
import re
import shutil
import signal
import subprocess
import unittest
import urllib.request

from program import SLOW
from test_run_targets import PATH, RUN, Targets, free_port

TARGETS = pathlib.Path(__file__).resolve().parents[2] / "assets" / "targets"
SOMAXCONN = int(pathlib.Path("/proc/sys/net/core/somaxconn").read_text())
# What each is known to do: waits, backlog (those of nginx and redis are asked for), processes.
KNOWN = {
    "eventmachine": ("select", 100, 1),
    "eventmachine-epoll": ("epoll level", 100, 1),
    "eventmachine-print": ("select", 100, 1),
    "twisted": ("epoll level", 50, 1),
    "nginx": ("epoll edge", 1024, 2),
    "redis": ("epoll level", 1024, 1),
}
NEEDS = {
    "eventmachine": "/usr/lib/ruby/vendor_ruby/eventmachine.rb",
    "twisted": "/usr/lib/python3/dist-packages/twisted/__init__.py",
    "nginx": shutil.which("nginx", path=PATH),
    "redis": shutil.which("redis-server", path=PATH),
}


class Recipes(Targets):
    def needs(self, *names):
        for name in names:
            if not NEEDS[name] or not pathlib.Path(NEEDS[name]).exists():
                print(f"[  SKIPPED ] no {name} here", flush=True)
                self.skipTest(f"no {name}")

    def printed(self, row, connections):
        """Its fingerprint is what is known of it."""
        waits, backlog, processes = KNOWN[row["model"].partition(":")[2]]
        self.assertEqual(row["seen_unknown"], "", row["model"])
        if connections:
            self.assertEqual(row["seen_waits"], waits, row["model"])
            self.assertGreater(int(row["seen_watched"]), connections)
            self.assertIn(row["seen_nagle"], ("on", "off"))
        else:  # how it would watch them does not show
            self.assertEqual(row["seen_waits"], waits.partition(" ")[0], row["model"])
        self.assertEqual(int(row["seen_backlog"]), min(backlog, SOMAXCONN))
        self.assertEqual(int(row["seen_queue"]), 0)
        self.assertEqual(int(row["seen_processes"]), processes)
        self.assertEqual(int(row["seen_waiting"]), 1)
        self.assertEqual(int(row["seen_rings"]), 0)

    def test_pages(self):
        self.needs("eventmachine", "twisted", "nginx")
        names = ["eventmachine", "eventmachine-epoll", "twisted", "nginx"]
        done, rows = self.run_of(*(f"target:{name}" for name in names))
        for name in names:
            row = rows[f"target:{name}"]
            self.figures(row, processes=KNOWN[name][2])
            self.assertEqual((row["protocol"], row["size"]), ("http", "1024"))
            self.assertAlmostEqual(float(row["mib_per_s"]), float(row["requests_per_s"]) / 1024, delta=0.01)
            self.printed(row, connections=8)
        self.assertIn("waits with", done.out)

    def test_redis(self):
        self.needs("redis")
        _, rows = self.run_of("target:redis")
        self.printed(rows["target:redis"], connections=8)

    def test_the_document_again(self):
        """Bytes of a POST over a new connection each time, and back: every byte is looked at."""
        self.needs("eventmachine")
        done = self.iodash("run", "--plan", "eventmachine-rate", "--step-length", 0.4, "-o", "x.csv")
        self.assertEqual(done.status, 0, done)
        self.nothing_left()
        rows = self.rows()
        self.assertEqual(set(rows), {"select", "epoll-lt", "target:eventmachine", "target:eventmachine-print"})
        for model, row in rows.items():
            self.assertEqual((row["protocol"], row["keepalive"], row["connections"]), ("echo", "off", "10"))
            self.assertNotIn(row["verdict"], ("died", "errors", "skipped"), row)
            self.assertEqual(float(row["errors"]), 0, model)
            self.assertGreater(float(row["requests_per_s"]), 10, model)
            if model.startswith("target:"):
                self.printed(row, connections=0)
        self.assertRegex(done.out, r"target:eventmachine: no collapse up to 10 .*\(published: collapsed at 250\)")
        self.assertRegex(done.out, r"1200 +1200")  # the published figure, beside both of EventMachine
        self.assertIn("our verdict on the published figures: eventmachine: not-server (server at 20 % CPU",
                      done.out)

    def test_printing_each_request(self):
        self.needs("eventmachine")
        port, script = free_port(), TARGETS / "eventmachine" / "server.rb"
        for words in (["print"], []):
            server = subprocess.Popen(["ruby", script, str(port), "5", "http", *words], text=True,
                                      stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
            try:
                self.wait_for(lambda: self.reply(port) == "xxxxx")
            finally:
                server.terminate()
                out, _ = server.communicate(timeout=20 * SLOW)
            self.assertEqual(out.startswith("GET /seen HTTP/1.1"), bool(words), out)

    @staticmethod
    def reply(port):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/seen", timeout=10) as page:
                return page.read().decode()
        except OSError:
            return ""

    def test_serve_attached(self):
        """One of ours, in the way of those that are not: its threads keep their descriptors to themselves."""
        server = self.start("serve", "-m", "epoll-et", "--listen", "127.0.0.1:0", "--quiet")
        self.addCleanup(server.communicate, timeout=10 * SLOW)
        self.addCleanup(server.send_signal, signal.SIGINT)
        where = re.search(r"127\.0\.0\.1:\d+", server.stderr.readline())[0]
        done = self.iodash("run", "-m", "attach", "--attach", where, "--pid", server.pid, *RUN)
        self.assertEqual(done.status, 0, done)
        row = self.rows()[where]
        self.assertEqual((row["seen_waits"], row["seen_backlog"]), ("epoll edge", str(min(1024, SOMAXCONN))))
        self.assertEqual(row["seen_nagle"], "off")
        self.assertGreater(float(row["server_cpu_pct"]), 0)


if __name__ == "__main__":
    unittest.main(verbosity=2)
