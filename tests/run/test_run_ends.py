#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How `run` and `serve` end: interrupted, refused before any load, on a full disk, on a taken port."""
import fcntl
import glob
import os
import pty
import re
import signal
import socket
import struct
import subprocess
import termios
import time
import unittest

from program import EXE, SHORT, SLOW, Case, children, sleeps


def private_mounts():
    """True where a mount namespace of our own may be made."""
    done = subprocess.run(["unshare", "-m", "true"], capture_output=True, timeout=20)
    return done.returncode == 0


class Interrupted(Case):
    def interrupt(self, number, *words):
        """Once its servers have slept 500 times, at most twice in one of the 50 requests of a turn."""
        process = self.start("run", "-c", 10, "-r", "1k", "--samples", 1000, "--warmup", "0",
                             "--turn", "0.05", "--settle", "0.01", *words)
        self.wait_for(process, lambda: sum(map(sleeps, children(process))) > 500)
        process.send_signal(number)
        out, err = process.communicate(timeout=10 * SLOW)
        self.assertEqual(process.returncode, 130, err)
        return out, err

    def test_what_was_measured_is_saved(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            name = f"{number}.csv"
            out, err = self.interrupt(number, "-o", name)
            self.assertIn(f"saved {number}.csv and {number}-tables.csv", err)
            self.assertGreater(len(self.csv(name)), 4)
            self.assertIn("ANSWER", out)

    def test_without_a_name_it_says_where(self):
        _, err = self.interrupt(signal.SIGINT)
        saved = [p for p in self.folder.glob("iodash-*.csv") if "tables" not in p.name]
        self.assertEqual(len(saved), 1)
        self.assertIn(saved[0].name, err)

    def test_nothing_kept_saves_nothing(self):
        """While it warms up there is nothing to save, and the name stays free."""
        for words in (["-o", "x.csv"], []):
            process = self.start("run", "-m", "epoll-lt", "-c", 10, "--warmup", 600, *words)
            self.wait_for(process, lambda: children(process))
            time.sleep(0.5)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=20 * SLOW)
            self.assertEqual((process.returncode, out), (130, ""), err)
            self.assertIn("nothing is saved", err)
            self.assertFalse(list(self.folder.glob("*.csv")))

    def test_stopped_for_a_while(self):
        """A turn in which nothing ran counts for nothing; the row gets its samples all the same."""
        for attempt in range(4):  # a stop may fall between two turns
            name = f"{attempt}.csv"
            process = self.start("run", "-m", "epoll-lt,poll", "-c", 10, "-r", "1k", "--samples", 4,
                                 "--warmup", 0, "--turn", 0.2, "--settle", 0.01, "-o", name)
            self.wait_for(process, lambda: sum(map(sleeps, children(process))) > 100)
            process.send_signal(signal.SIGSTOP)
            time.sleep(2)
            process.send_signal(signal.SIGCONT)
            out, err = process.communicate(timeout=40 * SLOW)
            self.assertEqual(process.returncode, 0, out + err)
            kept = [row["kept"] for row in self.csv(name)]
            self.assertEqual(kept.count("yes"), 8, kept)
            if "broken" in kept:
                return
        self.fail("no stop broke a turn")

    def test_killed_leaves_no_child(self):
        process = self.start("run", "-c", 10, "-r", "1k", "--samples", 1000)
        self.wait_for(process, lambda: sum(map(sleeps, children(process))) > 100)
        servers = children(process)
        process.kill()
        process.communicate(timeout=10)
        end = time.monotonic() + 20 * SLOW
        while any(map(runs, servers)) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertFalse([p for p in servers if runs(p)])


def runs(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


class Refused(Case):
    def test_existing_file(self):
        (self.folder / "a.csv").write_text("mine")
        self.refused(self.iodash("run", *SHORT, "-o", "a.csv"), "a.csv", "exist")
        self.assertEqual((self.folder / "a.csv").read_text(), "mine")
        (self.folder / "b-tables.csv").write_text("mine")
        self.refused(self.iodash("run", *SHORT, "-o", "b.csv"), "b-tables.csv", "exist")
        self.assertFalse((self.folder / "b.csv").exists())

    def test_dangling_link_is_not_written_through(self):
        os.symlink(self.folder / "elsewhere", self.folder / "l.csv")
        self.refused(self.iodash("run", *SHORT, "-o", "l.csv"), "l.csv")
        self.assertFalse((self.folder / "elsewhere").exists())

    def test_missing_folder(self):
        self.refused(self.iodash("run", *SHORT, "-o", "no/such/a.csv"), "no/such")

    def in_namespace(self, mount, *words):
        if not private_mounts():
            self.skipTest("[  SKIPPED ] no private mount namespace here (unshare -m)")
        (self.folder / "there").mkdir()
        return self.iodash(*words, before=["unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh"])

    def test_read_only_folder(self):
        done = self.in_namespace("mount --bind there there && mount -o remount,ro,bind there",
                                 "run", *SHORT, "-o", "there/a.csv")
        self.refused(done, "there", "ead-only")

    def test_full_disk_is_told_and_leaves_nothing(self):
        self.env["XDG_STATE_HOME"] = str(self.folder / "there")
        done = self.in_namespace("mount -t tmpfs -o size=4k,nr_inodes=3 none there && touch there/x",
                                 "run", "-c", 5, "-r", "500", *SHORT, "-o", "there/a.csv")
        self.assertEqual(done.status, 1, done)
        self.assertIn("there/a", done.err)

    def test_file_that_may_not_grow_is_told(self):
        done = self.iodash("list", "metrics",
                           before=["sh", "-c", 'exec prlimit --fsize=100 -- "$@" >l.txt', "sh"])
        self.refused(done, "File too large")

    def test_too_many_connections(self):
        done = self.iodash("run", "-c", 400, *SHORT, before=["prlimit", "--nofile=100:100"])
        self.refused(done, "400", "100")

    def test_soft_limit_is_raised(self):
        done = self.iodash("run", "-c", 100, "-r", "1k", *SHORT, before=["prlimit", "--nofile=64:4096"])
        self.assertEqual(done.status, 0, done)

    def test_wrong_usage_names_the_option(self):
        for words, part in (
                (["-c", "many"], "many"), (["-m", "epol-lt"], "epoll-lt"), (["-w", "tranfer"], "transfer"),
                (["--conections", "4"], "connections"), (["-c", "9..1:x"], "9..1:x"),
                (["-c", "0"], "1"), (["--format", "xml"], "markdown"), (["--size", "1GiB"], "size"),
                (["--protocol", "echo", "--size", "4096"], "271"),
                (["--rate", "0"], "0.001"), (["--rate", "-5"], "-5"), (["--rate", "4k..1k*2"], "upwards")):
            self.refused(self.iodash("run", *words), part, status=2)

    def test_bad_conditions(self):
        for words, part in (
                (["--fail-if", "errors"], "METRIC"), (["--fail-if", "erors>0"], "did you mean errors?"),
                (["--fail-if", "poll.errors>0"], "not among"), (["--fail-if", "errors>much"], "much"),
                (["--fail-if", "errors>0", "--fail-if", "connect_s>1"], "does not yield connect_s"),
                (["--find-rate", "response_p99_us"], "METRIC"),
                (["--find-rate", "response_p99_us<2000", "--rate", "1k"], "rate"),
                (["--find-rate", "connect_s<1", "-w", "connect"], "no rate"),
                (["--find-rate", "rsponse_p99_us<1"], "did you mean response_p99_us?")):
            self.refused(self.iodash("run", *words), part, status=2)

    def test_bad_plans(self):
        (self.folder / "key.ini").write_text("models = poll\nconections = 5\n")
        (self.folder / "value.ini").write_text("; a remark\nworkload = transfr\n")
        for name, parts in (("key.ini", ("key.ini, line 2", "did you mean connections?")),
                            ("value.ini", ("value.ini, line 2", "did you mean transfer?")),
                            ("nonsense", ("nonsense", "shipped are")),
                            ("trnsfer", ("did you mean transfer?",))):
            self.refused(self.iodash("run", "--plan", name), *parts, status=2)

    def test_plans_where_none_came_with_it(self):
        self.env["IODASH_ASSETS"] = str(self.folder)
        self.refused(self.iodash("run", "--plan", "quick"), f"{self.folder}/plans", "IODASH_ASSETS",
                     status=2)


class WallClock(Case):
    def test_steps_of_an_hour_change_nothing(self):
        """Each second the wall clock goes an hour forward or back."""
        if "thread" in os.environ.get("IODASH_SANITIZE", ""):
            self.skipTest("[  SKIPPED ] nothing can be preloaded under TSan")
        self.env["LD_PRELOAD"] = os.environ["WALL_SHIM"]
        self.env["ASAN_OPTIONS"] = self.env.get("ASAN_OPTIONS", "") + ":verify_asan_link_order=0"
        done = self.iodash("run", "-m", "epoll-lt,poll", "-c", 5, "-r", "500", "--samples", 14,
                           "--warmup", 0, "--turn", "0.05", "--settle", "0.01", "-o", "w.csv")
        self.assertEqual(done.status, 0, done)
        rows = [r for r in self.csv("w.csv") if r["kept"] == "yes"]
        self.assertEqual(len(rows), 28)
        self.assertGreater(len({r["time"][:13] for r in rows}), 1, "the clock never stepped")
        for model in ("epoll-lt", "poll"):
            elapsed = [float(r["elapsed_s"]) for r in rows if r["model"] == model]
            self.assertEqual(elapsed, sorted(elapsed))
            self.assertLess(elapsed[-1], done.seconds)
        for r in rows:
            self.assertTrue(0.01 < float(r["interval_s"]) < done.seconds, r["interval_s"])


class Conditions(Case):
    def test_a_condition_fails_the_run(self):
        quick = ["run", "-m", "epoll-lt", "-c", 5, "-r", "500", *SHORT]
        done = self.iodash(*quick, "--fail-if", "requests_per_s>1M", "--fail-if",
                           "epoll-lt.requests_per_s>10")
        self.assertEqual(done.status, 3, done)
        self.assertIn("ANSWER", done.out)
        self.assertIn("--fail-if epoll-lt.requests_per_s>10: epoll-lt at 500/s:", done.err)
        self.assertEqual(done.err.count("--fail-if"), 1, done)
        done = self.iodash(*quick, "--fail-if", "requests_per_s>1M")
        self.assertEqual(done.status, 0, done)

    def test_a_response_needs_a_pace(self):
        self.refused(self.iodash("run", "-m", "epoll-lt", "-c", 5, "-r", "max", *SHORT, "--fail-if",
                                 "response_p99_us>1M"), "latency_p99_us", status=2)

    def test_what_changes_nothing_is_said(self):
        done = self.iodash("run", "-m", "epoll-lt", "-w", "hold", "-c", 5, *SHORT, "--samples", 2,
                           "--trim", 9, "--requests", 7, "--rate", "5")
        self.assertEqual(done.status, 0, done)
        self.assertIn("--requests: hold does not look at it", done.err)
        self.assertIn("--rate: hold does not look at it", done.err)
        self.assertIn("--trim 9: of 2 values", done.err)

    def test_a_plan_has_its_title(self):
        (self.folder / "own.ini").write_text("title = two of five\nmodels = poll\nconnections = 5\n")
        done = self.iodash("run", "--plan", "own.ini", *SHORT)
        self.assertEqual(done.status, 0, done)
        self.assertTrue(done.out.startswith("two of five\n\n"), done)

    def test_all_that_fail_are_named(self):
        done = self.iodash("run", "-m", "epoll-lt,poll", "-c", 5, "-r", "1k", *SHORT, "--fail-if",
                           "response_p99_us>0")
        self.assertEqual(done.status, 3, done)
        self.assertRegex(done.err, r"epoll-lt at 1k/s: [^;]*; poll at 1k/s: .* \(2 in all\)")

    def test_the_highest_rate(self):
        """Whatever this machine can do: the bracket is named, and each try is a row of the table."""
        done = self.iodash("run", "-m", "epoll-lt", "-c", 10, *SHORT, "--find-rate",
                           "response_p99_us<100M", "-o", "f.csv")
        self.assertEqual(done.status, 0, done)
        rates = [r["rate"] for r in self.csv("f-tables.csv")]
        self.assertEqual(rates[-1], "max") # tried first; the table is sorted
        self.assertTrue(2 <= len(rates) <= 10, rates)
        said = re.search(r"RATE +epoll-lt (keeps|does not keep) response_p99_us<100M (?:up|down) to "
                         r"(\S+)/s", done.out)
        self.assertTrue(said, done.out)
        if said[1] == "keeps":  # the answer is about that row and no other
            asked = re.search(r"ANSWER .* at (\S+)/s", done.out)
            self.assertTrue(asked, done.out)
            number, unit = re.fullmatch(r"([\d.]+)(\D*)", asked[1]).groups()
            self.assertRegex(said[2], rf"^{re.escape(number)}(\.?0*){unit}$") # 7.5k is 7.50k


class Terminal(Case):
    def test_a_table_fits_its_line(self):
        """Columns that have no room are left off, and that is said."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 60, 0, 0))
        process = subprocess.Popen([EXE, "run", "-m", "epoll-lt", "-c", "5", *map(str, SHORT)],
                                   stdin=subprocess.DEVNULL, stdout=theirs, env=self.env,
                                   stderr=subprocess.DEVNULL)
        os.close(theirs)
        text = b""
        try:
            while piece := os.read(ours, 4096):
                text += piece
        except OSError:  # the other end is closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(timeout=20 * SLOW), 0)
        table = text.decode().replace("\r", "").split("ANSWER")[0].splitlines()[2:]
        self.assertRegex("\n".join(table), r"\(\d+ of \d+ columns in a line of 60; a pipe has all\)")
        self.assertLessEqual(max(map(len, table)), 60, table)


class Serve(Case):
    def free_port(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            return s.getsockname()[1]

    def test_taken_port(self):
        with socket.create_server(("127.0.0.1", 0)) as s:
            port = s.getsockname()[1]
            done = self.iodash("serve", "-m", "epoll-lt", "--listen", f"127.0.0.1:{port}")
        self.assertEqual(done.status, 1, done)
        self.assertIn(str(port), done.err)
        self.assertIn("in use", done.err)
        self.assertEqual(len(done.err.splitlines()), 1, done)

    def test_serves_and_stops(self):
        for model in self.names("models"):
            port = self.free_port()
            process = self.start("serve", "-m", model, "--listen", f"127.0.0.1:{port}", "--protocol",
                                 "fetch")
            try:
                self.fetch(port)
            finally:
                process.terminate()
                _, err = process.communicate(timeout=10 * SLOW)
            self.assertIn(process.returncode, (0, 130), err)

    def fetch(self, port):
        """One request by hand: 3000 bytes, byte i is the low byte of sequence + i."""
        end = time.monotonic() + 5 * SLOW
        while True:
            try:
                connection = socket.create_connection(("127.0.0.1", port), timeout=5)
                break
            except ConnectionRefusedError:
                self.assertLess(time.monotonic(), end, "it never listened")
                time.sleep(0.02)
        with connection:
            connection.sendall(struct.pack(">4sIIIQ", b"IODF", 1, 3000, 0, 250).ljust(64, b"\0"))
            got = b""
            while len(got) < 3000:
                piece = connection.recv(4096)
                self.assertTrue(piece, "closed in mid-reply")
                got += piece
        self.assertEqual(got, bytes((250 + i) & 255 for i in range(3000)))


if __name__ == "__main__":
    unittest.main(verbosity=2)
