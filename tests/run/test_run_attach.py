#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Servers that run already: what is measured of them, of whom that may not be, and what is said when one
ends."""
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

from program import EXE, SLOW
from test_run_targets import FAKE, RUN, SHORT, Targets, below, free_port

TICK = 1 / os.sysconf("SC_CLK_TCK")


def ticks(pid):
    fields = pathlib.Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15]))


class Attached(Targets):
    def serve(self, mode):
        host, port = "::1" if mode == "six" else "127.0.0.1", free_port()
        server = subprocess.Popen([sys.executable, str(FAKE), mode, str(port)], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                  start_new_session=True)
        self.addCleanup(self.end, server)
        self.wait_for(lambda: self.listens(host, port))
        return f"{host}:{port}" if mode != "six" else f"[{host}]:{port}", server.pid

    @staticmethod
    def end(server):
        try:
            os.killpg(server.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        server.wait(10)

    @staticmethod
    def listens(host, port):
        try:
            socket.create_connection((host, port), timeout=5).close()
            return True
        except OSError:
            return False

    @staticmethod
    def resident(pids):
        said = subprocess.run(["ps", "-o", "rss=", "-p", ",".join(map(str, pids))], capture_output=True,
                              text=True, check=True).stdout.split()
        return sum(map(int, said)) * 1024

    def test_a_whole_tree_as_others_see_it(self):
        """CPU as stat's ticks have it, RSS as ps: within a tick a process and turn, and a page."""
        address, pid = self.serve("forks")
        self.wait_for(lambda: len(below(pid)) == 2) # the first may answer before the second is there
        members = [pid, *below(pid)]
        before = sum(map(ticks, members))
        process = self.start("run", "-m", "attach", "--attach", address, "--pid", pid, "-c", 8, "-o", "x.csv",
                             "--settle", 0, "--warmup", 0, "--turn", 0.25, "--samples", 2)
        seen = set()
        while process.poll() is None:
            seen.add(self.resident(members))
            time.sleep(0.05)
        out, err = process.communicate()
        self.assertEqual(process.returncode, 0, out + err)
        used = (sum(map(ticks, members)) - before) * TICK
        rows = self.csv("x.csv")
        measured = sum(float(r["server_cpu_pct"]) / 100 * float(r["interval_s"]) for r in rows)
        self.assertLess(measured, used + len(members) * TICK)
        # Connecting and leaving are in none of the samples.
        self.assertGreater(measured, used * 0.7 - len(members) * TICK)
        pages = len(members) * os.sysconf("SC_PAGESIZE")
        self.assertTrue(any(abs(float(rows[-1]["rss_bytes"]) - rss) <= pages for rss in seen), (rows[-1], seen))
        self.assertEqual({r["model"] for r in rows}, {address})
        self.assertEqual({r["processes"] for r in rows}, {"3"})

    def test_doubtful_pids(self):
        address, _ = self.serve("forks")
        _, other = self.serve("lines")
        done = self.iodash("run", "--attach", address, "--pid", other, *RUN)
        self.assertEqual(done.status, 0, done)
        row = self.rows()[address]
        self.assertEqual((row["server_cpu_pct"], row["rss_bytes"]), ("", ""))
        self.assertGreater(float(row["requests_per_s"]), 0)
        said = f"--pid {other} (a?b?c) does not listen on port {address.rpartition(':')[2]}"
        self.assertIn(said, done.out)
        self.assertIn(said, row["reason"])
        self.assertGreater(float(self.rows()["epoll-lt"]["server_cpu_pct"]), 0)
        done = self.iodash("run", "-m", "attach", "--attach", address, "--pid", os.getpid(), *SHORT[2:],
                           "--samples", 1, "-c", 1)
        self.assertIn("iodash itself runs below it", done.out)

    def test_refused(self):
        here = f"127.0.0.1:{free_port()}"
        for options, said, status in [
                (["--attach", here, "--pid", "x"], "--pid x", 2),
                (["--pid", 1], "--attach", 2),
                (["--attach", here, "--pid", 4194303], "no such process", 1),
                (["--attach", "127.0.0.1:99999"], "above 65535", 2),
                (["--attach", "localhost:"], "the port is missing after ':'", 2),
                (["--attach", "::1:80"], "goes in brackets", 2),
                (["-m", "attach"], "needs --attach", 2),
                (["-m", "poll", "--attach", here], "stands in no pane", 2),
                (["-m", "attach,attach2", "--attach", here], "fewer", 2)]:
            self.refused(self.iodash("run", *options), said, status=status)

    def test_nobody_listens_and_one_that_dies(self):
        here = f"127.0.0.1:{free_port()}"
        address, pid = self.serve("leaks")
        process = self.start("run", "-m", "epoll-lt,attach,attach2", "--attach", here, "--attach", address,
                             "--pid", pid, *SHORT, "-c", 4, "--samples", 8, "-r", 200, "-o", "x.csv")
        self.wait_for(lambda: len(os.listdir(f"/proc/{pid}/fd")) > 20)
        os.kill(pid, signal.SIGKILL)
        out, err = process.communicate(timeout=60 * SLOW)
        self.assertEqual(process.returncode, 0, out + err)
        rows = self.rows()
        self.assertEqual(rows[here]["verdict"], "died")
        self.assertIn("Connection refused", rows[here]["reason"])
        self.assertEqual(rows[address]["verdict"], "died")
        self.assertRegex(rows[address]["reason"], rf"process {pid} \(.*\) ended")
        self.assertGreater(float(rows["epoll-lt"]["requests_per_s"]), 0)
        self.assertIn("B died", out)

    def test_the_only_one_dies(self):
        """The run is over long before its time, and what was measured is kept."""
        address, pid = self.serve("late")
        done = self.iodash("run", "-m", "attach", "--attach", address, "--pid", pid, "--warmup", 0, "-c", 4,
                           "-r", 400, "-d", 600, "-o", "x.csv")
        self.assertEqual(done.status, 0, done)
        self.assertIn(f"A died: process {pid} (", done.out)
        *whole, last = self.csv("x.csv")
        self.assertGreater(len(whole), 0)
        for row in whole:
            self.assertEqual((row["kept"], row["verdict"]), ("yes", "died"))
            self.assertGreater(float(row["server_cpu_pct"]), 0)
        self.assertEqual((last["kept"], last["server_cpu_pct"], last["rss_bytes"]), ("broken", "", ""))
        address, pid = self.serve("crash")  # before its first sample is whole
        done = self.iodash("run", "-m", "attach", "--attach", address, "--pid", pid, "--warmup", 0, "-c", 2,
                           "-r", 100, "-o", "y.csv")
        self.assertEqual((done.status, done.out), (1, ""), done)
        self.assertIn(f"nothing was measured: process {pid} (", done.err)
        self.assertFalse((self.folder / "y.csv").exists())

    def test_names_like_parts_of_a_file(self):
        """A name with brackets and blanks, one with a line break: figures as of a plainly named twin."""
        words = []
        for mode in ("one", "brackets", "lines"):
            address, pid = self.serve(mode)
            words += ["--attach", address, "--pid", pid]
        done = self.iodash("run", "-m", "attach,attach2,attach3", *words, *RUN)
        self.assertEqual(done.status, 0, done)
        plain, *odd = self.csv("x-tables.csv")
        for row in odd:
            self.figures(row, processes=1)
            for name in ("descriptors", "threads", "seen_waits", "seen_backlog", "seen_nagle"):
                self.assertEqual(row[name], plain[name], name)
            self.assertAlmostEqual(float(row["rss_bytes"]), float(plain["rss_bytes"]), delta=2 << 20)

    def test_of_another_user(self):
        """What may be read is measured, the rest said: his process, then one that cannot be seen."""
        address, pid = self.serve("one")
        exe = shutil.copy(EXE, self.folder)
        os.chmod(exe, 0o755)
        drop = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
        self.env["IODASH_EXE"] = str(exe)
        shown = self.folder / "shown"
        shown.mkdir()
        os.chmod(shown, 0o777)
        command = [*drop, exe, "run", "-m", "attach", "--attach", address, "--pid", str(pid), *map(str, SHORT),
                   "-c", "2", "-o"]

        def run(name, *before):
            return subprocess.run([*before, *command, f"{shown}/{name}.csv"], capture_output=True, text=True,
                                  cwd="/", env=self.env, timeout=30 * SLOW, check=False)
        done = run("seen")
        self.assertEqual(done.returncode, 0, done)
        row = self.csv("shown/seen-tables.csv")[0]
        self.assertGreater(float(row["server_cpu_pct"]), 0)
        self.assertGreater(float(row["rss_bytes"]), 0)
        self.assertEqual((row["pss_bytes"], row["descriptors"], row["seen_waits"]), ("", "", ""))
        self.assertIn("may not look", row["seen_unknown"])
        self.assertIn(row["seen_unknown"], done.stdout)
        done = run("hidden", "unshare", "-m", "sh", "-c", 'mount -t proc -o hidepid=2 proc /proc && exec "$@"',
                   "sh")
        if "unshare" in done.stderr or "mount" in done.stderr:
            print("[  SKIPPED ] hidepid:", done.stderr.strip(), flush=True)
            self.skipTest("no hidepid")
        self.assertEqual(done.returncode, 0, done)
        self.assertIn(f"--pid {pid}: not visible to this user: no CPU measured", done.stdout)
        row = self.csv("shown/hidden-tables.csv")[0]
        self.assertEqual(row["server_cpu_pct"], "")
        self.assertGreater(float(row["requests_per_s"]), 0)

    def test_names_and_addresses_of_one_port(self):
        """One that listens on ::1 alone: by its address, and by a name that stands for 127.0.0.1 too."""
        if not socket.has_ipv6 or not os.path.exists("/proc/net/if_inet6"):
            print("[  SKIPPED ] no IPv6 here", flush=True)
            self.skipTest("no IPv6")
        address, pid = self.serve("six")
        port = address.rpartition(":")[2]
        (self.folder / "hosts").write_text("127.0.0.1 localhost\n::1 localhost\n")
        both = ["unshare", "-m", "sh", "-c", 'mount --bind hosts /etc/hosts && exec "$@"', "sh"]
        done = self.iodash("run", "-m", "attach,attach2", "--attach", f"localhost:{port}", "--pid", pid,
                           "--attach", f"[::1]:{port}", "--pid", pid, *RUN, before=both)
        if "unshare" in done.err or "mount" in done.err:
            print("[  SKIPPED ] no private mount namespace:", done.err.strip(), flush=True)
            self.skipTest("no namespace")
        self.assertEqual(done.status, 0, done)
        rows = self.rows()
        self.assertEqual(set(rows), {f"localhost:{port}", f"[::1]:{port}"})
        for row in rows.values():
            self.figures(row, processes=1)


if __name__ == "__main__":
    unittest.main(verbosity=2)
