#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Servers that are not ours beside one of ours: started, measured as a whole, ended without a trace, and
what goes wrong with one of them said while the others go on."""
import csv
import fcntl
import io
import os
import pathlib
import pty
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import termios
import time
import unittest

from program import EXE, SLOW, Case

FAKE = pathlib.Path(__file__).resolve().parent / "fake_target.py"
PATH = os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin"
SHORT = ["--samples", 3, "--warmup", 0, "--turn", 0.04, "--settle", 0.01]
RUN = [*SHORT, "-c", 8, "-r", 400, "-o", "x.csv"]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def parents():
    """Parent of each process."""
    found = {}
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            stat = pathlib.Path("/proc", name, "stat").read_text(errors="replace")
        except OSError:
            continue
        state, parent = stat.rpartition(")")[2].split()[:2]
        if state != "Z":
            found[int(name)] = int(parent)
    return found


def below(root):
    all_of, found = parents(), {root}
    while more := {p for p, parent in all_of.items() if parent in found} - found:
        found |= more
    return found - {root}


class Targets(Case):
    def setUp(self):
        super().setUp()
        self.tmp = self.folder / "tmp"
        self.tmp.mkdir()
        os.chmod(self.folder, 0o755)
        self.env |= {"TMPDIR": str(self.tmp), "XDG_CACHE_HOME": str(self.folder)}

    def recipe(self, mode, *lines, port="{port}"):
        """Word of a model that is FAKE in this mode."""
        path = self.folder / f"{mode}.ini"
        command = f'"{sys.executable}" "{FAKE}" {mode} {port}'
        path.write_text("\n".join(["title = a fake", f"command = {command}", "protocol = http", *lines, ""]))
        return f"target:{path}"

    def wait_for(self, what, seconds=10):
        end = time.monotonic() + seconds * SLOW
        while not what():
            self.assertLess(time.monotonic(), end, f"{what} took too long")
            time.sleep(0.02)

    def nothing_left(self):
        """No process that knows this test's folder, and none of its files."""
        def gone():
            left = []
            for pid in parents():
                try:
                    words = pathlib.Path("/proc", str(pid), "environ").read_bytes()
                except OSError:
                    continue
                if f"TMPDIR={self.tmp}".encode() in words and pid != os.getpid():
                    left.append(pid)
            return not left and not list(self.tmp.iterdir())
        self.wait_for(gone)

    def rows(self):
        """Table rows by model."""
        return {row["model"]: row for row in self.csv("x-tables.csv")}

    def run_of(self, *models, status=0, words=RUN):
        done = self.iodash("run", "-m", ",".join(models), *words)
        self.assertEqual(done.status, status, done)
        self.nothing_left()
        return done, self.rows()

    def figures(self, row, *, processes):
        self.assertNotIn(row["verdict"], ("died", "errors", "skipped"), row["reason"])
        for name in ("server_cpu_pct", "cpu_us_per_request", "rss_bytes", "pss_bytes", "descriptors",
                     "threads", "switches_per_s", "requests_per_s"):
            self.assertGreater(float(row[name] or 0), 0, name)
        self.assertEqual(float(row["processes"]), processes)
        self.assertEqual(float(row["errors"]), 0)
        if processes > 1:
            self.assertLess(float(row["pss_bytes"]), float(row["rss_bytes"]))


class OfDebian(Targets):
    def against(self, name, program, *, protocol, processes, size):
        if not shutil.which(program, path=PATH):
            print(f"[  SKIPPED ] no {program} here", flush=True)
            self.skipTest(f"no {program}")
        done, rows = self.run_of("epoll-lt", f"target:{name}")
        self.figures(rows["epoll-lt"], processes=1)
        self.figures(rows[f"target:{name}"], processes=processes)
        for row in rows.values():
            self.assertEqual((row["protocol"], row["size"]), (protocol, size))
        rounds = {}
        for row in self.csv("x.csv"):
            rounds.setdefault(row["model"], []).append(row["index"])
            self.assertEqual(float(row["errors_bytes"]), 0)
            if row["kept"] == "yes":
                self.assertNotEqual(row["cpu_us_per_request"], "")
        self.assertEqual(rounds["epoll-lt"], rounds[f"target:{name}"], "turns of the same rounds")
        self.assertIn(f"target:{name}", done.out)
        return rows[f"target:{name}"]

    def test_nginx(self):
        row = self.against("nginx", "nginx", protocol="http", processes=2, size="1024")
        self.assertEqual(row["backlog"], "1024")  # its recipe hands it on
        self.assertEqual((row["accept"], row["buffer"], row["place"]), ("", "", ""))
        self.assertAlmostEqual(float(row["mib_per_s"]), float(row["requests_per_s"]) / 1024, delta=0.01)

    def test_redis(self):
        self.against("redis", "redis-server", protocol="resp", processes=1, size="7")

    def test_two_protocols_are_refused(self):
        self.refused(self.iodash("run", "-m", "target:nginx,target:redis"), "http", "resp", status=2)
        self.refused(self.iodash("run", "-m", "target:nginx", "--protocol", "fetch"), "--protocol fetch",
                     status=2)
        self.refused(self.iodash("run", "-m", "target:nginx", "-w", "stream"), "stream", status=2)
        self.refused(self.iodash("run", "-m", "target:ngin"), "did you mean 'nginx'", status=2)
        self.refused(self.iodash("run", "-m", "target:redis", "--workers", 2), "has its own workers",
                     status=2)

    def test_listed(self):
        self.env["PATH"] = str(self.folder)  # administrators' folders are looked into all the same
        done = self.iodash("list", "targets", "--format", "csv")
        self.assertEqual(done.status, 0, done)
        rows = {row["target"]: row for row in csv.DictReader(io.StringIO(done.out))}
        self.assertEqual(rows["target:redis"]["to install"], "redis-server")
        self.assertEqual(rows["target:redis"]["here"], "redis-server is not there")
        if os.path.exists("/usr/sbin/nginx"):
            self.assertEqual(rows["target:nginx"]["here"], "can be started")


class Habits(Targets):
    def test_workers_daemons_and_leaks(self):
        models = ["epoll-lt", self.recipe("forks"), self.recipe("daemon"), self.recipe("leaks")]
        _, rows = self.run_of(*models)
        self.figures(rows["epoll-lt"], processes=1)
        self.figures(rows["target:forks"], processes=3)
        self.figures(rows["target:daemon"], processes=1)
        self.figures(rows["target:leaks"], processes=1)
        grows = [float(row["descriptors"]) for row in self.csv("x.csv") if row["model"] == "target:leaks"]
        self.assertEqual(grows, sorted(set(grows)), "a descriptor a request")
        held = {row["descriptors"] for row in self.csv("x.csv") if row["model"] == "target:daemon"}
        self.assertEqual(len(held), 1)

    def test_what_goes_wrong_with_one_is_said_and_the_others_go_on(self):
        broken = self.folder / "broken.ini"
        broken.write_text("title = x\ncommnd = y\nprotocol = http\n")
        models = ["epoll-lt", self.recipe("crash"), self.recipe("silent", "timeout = 1"), f"target:{broken}"]
        done, rows = self.run_of(*models)
        self.figures(rows["epoll-lt"], processes=1)
        self.assertEqual(rows["target:crash"]["verdict"], "died")
        self.assertIn("exit 3; it said: ", rows["target:crash"]["reason"])
        self.assertIn("the last thing it says", rows["target:crash"]["reason"])
        self.assertEqual(rows["target:silent"]["verdict"], "died")
        self.assertRegex(rows["target:silent"]["reason"],
                         r"did not listen on 127.0.0.1:\d+ within 1 s; it said: silent on \d+")
        self.assertEqual(rows["target:broken"]["verdict"], "skipped")
        self.assertIn(f"{broken}, line 2: commnd: no such key; did you mean command?",
                      rows["target:broken"]["reason"])
        self.assertIn("line 2", done.out)

    def test_not_installed_and_a_port_that_is_taken(self):
        absent = self.folder / "absent.ini"
        absent.write_text("title = x\ncommand = no-such-program {port}\nprotocol = http\n"
                          "install = some-package\n")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            there = self.recipe("forks", f"port = {port}", port=str(port))
            _, rows = self.run_of("epoll-lt", f"target:{absent}", there)
        self.figures(rows["epoll-lt"], processes=1)
        self.assertEqual(rows["target:absent"]["verdict"], "skipped")
        self.assertEqual(rows["target:absent"]["reason"],
                         "no-such-program is not there; to install: some-package")
        self.assertEqual(rows["target:forks"]["verdict"], "died")
        self.assertIn(f"port {port} is taken", rows["target:forks"]["reason"])

    def test_what_is_built_first(self):
        tool, here = self.folder / "made.py", self.folder / "made"
        here.mkdir()
        (here / "source").write_text(FAKE.read_text())
        tool.write_text("import shutil, sys\nprint('building', flush=True)\n"
                        "shutil.copy(sys.argv[1], sys.argv[2])\nopen(sys.argv[3], 'a').write('x')\n")
        (self.folder / "made.ini").write_text(
            f"title = x\nbuild = {sys.executable} {tool} {{recipe}}/source {{cache}}/server.py"
            f" {self.folder}/builds\ncommand = {sys.executable} {{cache}}/server.py one {{port}}\n"
            "protocol = http\n")
        for _ in range(2):
            _, rows = self.run_of(f"target:{self.folder}/made.ini")
            self.figures(rows["target:made"], processes=1)
            os.remove(self.folder / "x.csv")
            os.remove(self.folder / "x-tables.csv")
        self.assertEqual((self.folder / "builds").read_text(), "x", "built once")
        (self.folder / "made.ini").write_text("title = x\nbuild = false\ncommand = true\nprotocol = http\n")
        done = self.iodash("run", "-m", f"target:{self.folder}/made.ini", *SHORT)
        self.assertEqual(done.status, 1, done)
        self.assertIn("its build failed: exit 1", done.err)

    def test_killed_iodash_leaves_nothing(self):
        models = f"epoll-lt,{self.recipe('stubborn')},{self.recipe('daemon')}"
        process = self.start("run", "-m", models, "-c", 4, "-d", 60)
        self.wait_for(lambda: sum("fake_target" in words(p) for p in below(process.pid)) == 4)
        process.kill()
        process.communicate(timeout=30 * SLOW)
        self.nothing_left()

    def test_one_that_died_is_started_again_by_a_key(self):
        model = self.recipe("forks")
        pid, screen = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(EXE, [EXE, "-m", f"epoll-lt,{model}", "-c", "4", "-r", "100", "--warmup", "0"],
                      {**self.env, "TERM": "xterm-256color"})
        self.addCleanup(os.close, screen)
        fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
        drawn = Drawn(screen)

        def fakes():
            drawn.read()
            return {p for p in below(pid) if "fake_target" in words(p)}
        try:
            self.wait_for(lambda: len(fakes()) == 3)
            first = fakes()
            os.kill(min(first), signal.SIGSEGV)
            self.wait_for(lambda: drawn.read("u starts it again"))
            self.assertIn("SIGSEGV", drawn.text)
            os.write(screen, b"\tu")
            self.wait_for(lambda: len(fakes() - first) == 3)
            os.write(screen, b"q")
            self.wait_for(lambda: drawn.read() or os.waitpid(pid, os.WNOHANG)[0] == pid)
        except BaseException:
            os.kill(pid, signal.SIGKILL)
            raise
        self.nothing_left()

    def test_a_start_is_called_off(self):
        process = self.start("run", "-m", self.recipe("silent", "timeout = 100"), "-c", 1)
        self.wait_for(lambda: any("fake_target" in words(p) for p in below(process.pid)))
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=20 * SLOW)
        self.assertEqual(process.returncode, 130, err)
        self.nothing_left()

    def test_of_a_build_without_its_keeper_nothing_is_left(self):
        (self.folder / "slow.ini").write_text(
            "title = x\nbuild = sh -c 'sleep 500 & wait'\ncommand = true\nprotocol = http\n")
        process = self.start("run", "-m", f"target:{self.folder}/slow.ini", "-c", 4, *SHORT)
        self.wait_for(lambda: sum(words(p).split(chr(0))[:2] == ["sleep", "500"] for p in below(process.pid)) == 1)
        os.kill(next(p for p in below(process.pid) if "--keeper" in words(p)), signal.SIGKILL)
        out, err = process.communicate(timeout=60 * SLOW)
        self.assertIn("its keeper ended", out + err)
        self.nothing_left()

    def test_without_its_keeper_nothing_is_left_either(self):
        process = self.start("run", "-m", f"epoll-lt,{self.recipe('forks')}", "-c", 4, *SHORT)
        self.wait_for(lambda: sum("fake_target" in words(p) for p in below(process.pid)) == 3)
        os.kill(next(p for p in below(process.pid) if "--keeper" in words(p)), signal.SIGKILL)
        out, err = process.communicate(timeout=60 * SLOW)
        self.assertIn("its keeper ended", out + err)
        self.nothing_left()


class Drawn:
    """What a terminal was sent, as far as it was read."""

    def __init__(self, fd):
        self.fd, self.text = fd, ""

    def read(self, wanted=None):
        while select.select([self.fd], [], [], 0)[0]:
            try:
                self.text += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                break
        return wanted is not None and wanted in self.text


def words(pid):
    try:
        return pathlib.Path("/proc", str(pid), "cmdline").read_text(errors="replace")
    except OSError:
        return ""


if __name__ == "__main__":
    unittest.main(verbosity=2)
