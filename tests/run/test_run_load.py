#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`iodash load` against servers with known manners: what is refused beforehand, what is counted, what
is said at the end."""
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import unittest

from peers import Peer, always, report
from program import EXE, SLOW, Case, sleeps

OK = b"HTTP/1.1 200 OK\r\n"
HELLO = OK + b"Content-Length: 5\r\n\r\nhello"
SHORT = ["-c", 4, "-d", 0.4, "--turn", 0.05, "--warmup", 0]


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


class Loads(Case):
    def peer(self, serve, host="127.0.0.1"):
        peer = Peer(serve, host)
        self.addCleanup(peer.stop)
        return peer

    def load(self, where, *words, status=0):
        done = self.iodash("load", where, *words)
        self.assertEqual(done.status, status, done)
        return done, report(done.out)

    def sum(self, name, metric):
        return sum(float(row[metric]) for row in self.csv(name))

    def serve(self, protocol):
        process = subprocess.Popen([EXE, "serve", "-m", "epoll-lt", "--listen", "127.0.0.1:0",
                                    "--protocol", protocol, "--quiet"], stderr=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, text=True)
        self.addCleanup(process.communicate, timeout=10 * SLOW)
        self.addCleanup(process.send_signal, signal.SIGINT)
        said = process.stderr.readline()
        found = re.search(r"(127\.0\.0\.1:\d+) \(pid (\d+)", said)
        self.assertTrue(found, said)
        return found[1], int(found[2])


class Refused(Loads):
    def test_what_is_no_address(self):
        for where, said, status in [
                ("host:", "port is missing", 2),
                ("host:99999", "above 65535", 2),
                ("127.0.0.1", "port is missing", 2),
                ("http://", "host is missing", 2),
                ("http://:80/", "host is missing", 2),
                ("::1:80", "brackets", 2),
                ("gopher://127.0.0.1:70", "gopher:// is not spoken here", 2),
                ("https://127.0.0.1/", "https:// is not spoken here", 2),
                ("http://me@127.0.0.1:80/", "user name", 2),
                ("http://127.0.0.1:80/a b", "%20", 2),
                ("http://127.0.0.1:80/" + "a" * 600, "at most", 2),
                ("fetch://127.0.0.1:80/x", "only http has a path", 2),
                ("no-such-host.invalid:80", "no-such-host.invalid", 1)]:
            self.refused(self.iodash("load", where, *SHORT), said, status=status)

    def test_what_cannot_be(self):
        here = f"127.0.0.1:{free_port()}"
        for words, said, status in [
                ([], "needs a server", 2),
                ([here, "--rate", 0], "--rate", 2),
                ([here, "-d", 1, "--samples", 3], "--duration", 2),
                (["fetch://" + here, "--size", "17MiB"], "16777216", 2),
                ([here + "/file", "--size", 10], "path of the URL", 2),
                ([here, "-m", "poll"], "-m", 2),
                ([here, "--backlog", 5], "--backlog", 2),
                ([here, "more"], "more", 2),
                ([here, "--pid", "x"], "--pid x", 2),
                ([here, "--pid", 4194303], "no such process", 1),
                (["192.0.2.1:80", "--pid", 1], "not this machine", 1),
                (["discard://" + here, "-w", "transfer"], "replies nothing", 2),
                ([here], "Connection refused", 1)]:
            self.refused(self.iodash("load", *words), said, status=status)

    def test_more_than_descriptors_allow(self):
        self.refused(self.iodash("load", "127.0.0.1:9", "-c", 400, before=["prlimit", "--nofile=100"]),
                     "400", "at most")

    def test_a_process_of_somebody_else(self):
        """Where /proc is mounted with hidepid, a pid that is there cannot be seen."""
        here = f"127.0.0.1:{free_port()}"
        os.chmod(self.folder, 0o755)
        exe = shutil.copy(EXE, self.folder)
        script = "mount -t proc -o hidepid=2 proc /proc && setpriv --reuid 65534 --regid 65534" \
            f" --clear-groups {exe} load {here} --pid 1; exit $?"
        done = subprocess.run(["unshare", "-mp", "-f", "sh", "-c", script], capture_output=True,
                              text=True, timeout=20 * SLOW, check=False)
        if "unshare" in done.stderr or "mount" in done.stderr:
            print("[  SKIPPED ] hidepid:", done.stderr.strip(), flush=True)
            return
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("not visible to this user", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)


class Http(Loads):
    def test_path_and_host(self):
        peer = self.peer(always(HELLO))
        done, said = self.load(f"http://{peer.address}/a/b?c=d#e", *SHORT, "-o", "x.csv")
        self.assertEqual(set(peer.requests), {
            f"GET /a/b?c=d HTTP/1.1\r\nHost: {peer.address}\r\nUser-Agent: iodash\r\n"
            "Accept: */*".encode()})
        self.assertEqual(said["sent"], len(peer.requests))
        self.assertEqual(said["answered"], len(peer.requests))
        self.assertEqual(said["bytes"], 5 * len(peer.requests))
        self.assertEqual(said["made"], 4)
        self.assertEqual(peer.accepted, 5)  # one looked whether anybody is there
        self.assertEqual(said["errors"], "none")
        self.assertTrue(said["connections"].startswith("4 of 4 connected, 4 served"), done)
        self.assertIn("closed loop", said["latency"])
        self.assertIn("no pid given: no CPU measured", done.out)
        for row in self.csv("x.csv"):
            self.assertEqual(row["model"], peer.address)
            self.assertEqual(row["path"], "loopback")
            self.assertEqual(row["protocol"], "http")
            for name in ("server_cpu_pct", "cpu_us_per_request", "rss_bytes", "accepted", "refused",
                         "waits_per_s", "size", "workers", "backlog", "buffer", "place", "others_pct"):
                self.assertEqual(row[name], "", name)
            self.assertGreater(float(row["requests_per_s"]), 0)
            self.assertGreater(float(row["latency_p99_us"]), 0)
        self.assertEqual(self.csv("x-tables.csv")[0]["verdict"] in ("errors", "died"), False)

    def test_every_framing(self):
        chunked = OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\nT: u\r\n\r\n"
        closes = b"OK\r\nConnection: close\r\n"
        for engine, reply, last in [
                ("mux", chunked, False),
                ("mux", HELLO.replace(b"OK\r\n", closes), True),
                ("mux", HELLO.replace(b"1.1", b"1.0"), True),
                ("mux", OK + b"X: y\r\n\r\nhello", True),
                ("mux", chunked.replace(b"OK\r\n", closes), True),
                ("mux", b"HTTP/1.1 103 Early Hints\r\n\r\n" + HELLO, False),
                ("mux-uring", HELLO.replace(b"OK\r\n", closes), True),
                ("mux-uring", OK + b"X: y\r\n\r\nhello", True),
                ("blocking", chunked, False),
                ("blocking", HELLO.replace(b"OK\r\n", closes), True),
                ("blocking", OK + b"X: y\r\n\r\nhello", True)]:
            with self.subTest(engine=engine, reply=reply):
                peer = self.peer(always(reply, last))
                done = self.iodash("load", peer.address, "-c", 4, "-d", 0.2, "--turn", 0.05,
                                   "--warmup", 0, "--engine", engine)
                if engine == "mux-uring" and "cannot run" in done.err:
                    print("[  SKIPPED ] mux-uring:", done.err.strip(), flush=True)
                    continue
                self.assertEqual(done.status, 0, done)
                said = report(done.out)
                self.assertEqual(said["errors"], "none")
                self.assertEqual(said["sent"], len(peer.requests))
                self.assertEqual(said["answered"], len(peer.requests))
                self.assertEqual(said["bytes"], 5 * len(peer.requests))
                self.assertGreaterEqual(len(peer.requests), 8)
                if not last:
                    self.assertEqual(said["made"], 4)

    def test_a_status_that_is_not_2xx(self):
        peer = self.peer(always(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"))
        done, said = self.load(peer.address, *SHORT, "-o", "x.csv", status=1)
        self.assertRegex(said["errors"], r"^\d+ in all: \d+ wrong replies; HTTP status 404$")
        self.assertIn("HTTP status 404", done.err)
        self.assertTrue(said["latency"].startswith("-  ("), said)
        for row in self.csv("x.csv"):
            self.assertEqual(row["latency_p50_us"], "")
            self.assertEqual(float(row["requests_per_s"]), 0)
        self.assertGreater(self.sum("x.csv", "errors_bytes"), 0)

    def test_a_peer_that_speaks_something_else(self):
        def greets(connection, _):
            connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
            connection.recv(1000)

        done, said = self.load(self.peer(greets).address, *SHORT, status=1)
        self.assertIn("nothing succeeded", done.err)
        self.assertIn("errors", said)
        done, said = self.load("fetch://" + self.peer(always(HELLO)).address, *SHORT, "--timeout",
                               0.3, status=1)
        self.assertIn("timed out", said["errors"])

    def test_idle_connections_that_the_server_ends(self):
        """They are opened again before they are needed, and nothing is an error."""

        def serve(connection, peer):
            for _ in peer.heads(connection):
                connection.sendall(HELLO)
                connection.settimeout(0.1)

        peer = self.peer(serve)
        _, said = self.load(peer.address, "-c", 4, "-r", 6, "-d", 1.6, "--warmup", 0)
        self.assertEqual(said["errors"], "none")
        self.assertEqual(said["answered"], len(peer.requests))
        self.assertGreater(said["made"], 4)

    def test_a_server_that_closes_at_once(self):
        done, said = self.load(self.peer(lambda connection, _: None).address, *SHORT, status=1)
        self.assertRegex(done.err, r"nothing succeeded: (the server closed \d+ connections? without|"
                                   r".*reset)")
        self.assertRegex(said["errors"], r"the server closed \d+ of them|reset")
        self.assertNotIn("fd-limit", done.out)

    def test_silence(self):
        """Counted from the send; nothing completed, nothing divided by zero."""
        peer = self.peer(lambda connection, peer: [None for _ in peer.heads(connection)])
        done, said = self.load(peer.address, *SHORT, "--timeout", 0.4, "-o", "x.csv", status=1)
        self.assertIn("nothing succeeded", done.err)
        self.assertRegex(said["errors"], r"^\d+ in all: \d+ timed out")
        self.assertEqual(said["answered"], 0)
        self.assertTrue(said["latency"].startswith("-  ("), said)
        self.assertIn("4 never answered", said["connections"])
        self.assertEqual({row["latency_mean_us"] for row in self.csv("x.csv")}, {""})
        self.assertGreaterEqual(self.sum("x.csv", "errors_timeout"), 4)

    def test_a_pause_is_not_trimmed_away(self):
        """A server that stands still for half a second, asked at a steady pace."""
        stood = []

        def serve(connection, peer):
            for _ in peer.heads(connection):
                with peer.lock:
                    if len(peer.requests) > 100 and not stood:
                        stood.append(time.sleep(0.5))
                connection.sendall(HELLO)

        peer = self.peer(serve)
        _, said = self.load(peer.address, "-c", 4, "-d", 1.6, "-r", 150, "--warmup", 0)
        number, unit = re.search(r"p99 ([\d.]+) (\S+)", said["response"]).groups()
        self.assertGreaterEqual(float(number) * (1000 if unit == "s" else 1), 400, said)
        self.assertIn("from when each was due", said["response"])
        self.assertIn("of completed requests", said["latency"])

    def test_ipv6(self):
        try:
            peer = self.peer(always(HELLO), "::1")
        except OSError as e:
            print("[  SKIPPED ] no IPv6 here:", e, flush=True)
            return
        _, said = self.load(peer.address, *SHORT)
        self.assertEqual(said["sent"], len(peer.requests))
        self.assertIn(b"\r\nHost: [::1]:", peer.requests[0])
        names = {a[4][0] for a in socket.getaddrinfo("localhost", peer.port)}
        if "::1" in names:
            _, said = self.load(f"http://localhost:{peer.port}/", *SHORT)
            self.assertEqual(said["errors"], "none")


class Ours(Loads):
    def test_every_protocol(self):
        for protocol, words in [("http", []), ("http", ["--size", 3000]), ("fetch", []),
                                ("echo", []), ("discard", ["-w", "stream"])]:
            with self.subTest(protocol=protocol, words=words):
                address, _ = self.serve(protocol)
                _, said = self.load(f"{protocol}://{address}", *SHORT, *words)
                self.assertEqual(said["errors"], "none")
                if protocol != "discard":
                    self.assertEqual(said["sent"], said["answered"])
                    size = {"http": 1024, "fetch": 1024, "echo": 271}[protocol]
                    self.assertEqual(said["bytes"],
                                     said["answered"] * (3000 if words else size))

    def test_with_its_process(self):
        address, pid = self.serve("fetch")
        done, _ = self.load(f"fetch://{address}", "-c", 4, "-d", 1, "--pid", pid, "-r", "2k",
                            "--warmup", 0, "-o", "x.csv")
        with open(f"/proc/{pid}/statm", encoding="ascii") as f:
            rss = int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        for row in self.csv("x.csv"):
            self.assertGreater(float(row["server_cpu_pct"]), 0)
            self.assertGreater(float(row["cpu_us_per_request"]), 0)
            self.assertAlmostEqual(float(row["rss_bytes"]), rss, delta=rss / 2)
            self.assertEqual(row["accepted"], "")
        self.assertIn("ANSWER", done.out)

    def test_a_process_that_dies(self):
        """In a turn, whose CPU nobody knows then; or in the moment behind one that was read."""
        for attempt in range(5):
            name = f"{attempt}.csv"
            address, pid = self.serve("fetch")
            process = self.start("load", f"fetch://{address}", "-c", 4, "-d", 60, "--warmup", 0,
                                 "--turn", 0.05, "--pid", pid, "-o", name)
            asleep = sleeps(pid)
            self.wait_for(process, lambda: sleeps(pid) > asleep + 100)
            time.sleep(1)
            os.kill(pid, signal.SIGKILL)
            out, err = process.communicate(timeout=20 * SLOW)
            self.assertEqual(process.returncode, 1, out + err)
            self.assertIn(f"process {pid} ", err)
            rows = self.csv(name)
            self.assertEqual({row["verdict"] for row in rows}, {"died"})
            self.assertIn("yes", {row["kept"] for row in rows})
            self.assertEqual(rows[-1]["kept"], "broken")
            if rows[-1]["server_cpu_pct"] == "":
                return
        self.fail("a process that died in a turn has a CPU")


if __name__ == "__main__":
    unittest.main(verbosity=2)
