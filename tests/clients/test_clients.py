#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every model over http, asked by curl, ab, wrk, h2load and by sockets of our own that speak well
or badly. No error, right bytes. TEST_MODELS="poll libev": only these."""
import csv
import os
import re
import signal
import socket
import subprocess
import tempfile
import unittest

EXE = os.environ["IODASH_EXE"]
SLOW = 6 if os.environ.get("IODASH_SANITIZE") else 1
ASKED = re.findall(r"[\w-]+", os.environ.get("TEST_MODELS", ""))


def pattern(n):
    return (bytes(range(256)) * (n // 256 + 1))[:n]


def run(*words, data=None):
    return subprocess.run(words, input=data, capture_output=True, timeout=30 * SLOW, check=False)


def models():
    out = run(EXE, "list", "models", "--format", "csv").stdout.decode()
    names = [row["model"] for row in csv.DictReader(out.splitlines())]
    return [n for n in names if n in ASKED] if ASKED else names


class Server:
    """`iodash serve`; `why` when the model cannot run here."""

    def __init__(self, model, place):
        self.process = subprocess.Popen(
            [EXE, "serve", "-m", model, "--listen", "127.0.0.1:0", "--place", place],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.first = self.process.stderr.readline()
        found = re.search(r" (127\.0\.0\.1:(\d+)) ", self.first)
        self.why = None if found else self.first
        self.address = found[1] if found else ""
        self.port = int(found[2]) if found else 0

    def stop(self):
        self.process.send_signal(signal.SIGINT)
        _, self.said = self.process.communicate(timeout=10 * SLOW)
        return self.process.returncode


class Clients(unittest.TestCase):
    def check_all(self, model, place):
        server = Server(model, place)
        if server.why:
            server.process.wait(10)
            print(f"[  SKIPPED ] {model}: {server.why.strip()}", flush=True)
            self.assertRegex(server.why, r"^iodash: ")
            return
        try:
            self.address, self.port = server.address, server.port
            self.url = f"http://{server.address}/"
            for name in sorted(n for n in dir(self) if n.startswith("check_with")):
                with self.subTest(model=model, place=place, client=name):
                    getattr(self, name)()
        finally:
            status = server.stop()
        self.assertEqual(status, 0, server.said)
        self.assertNotIn("Sanitizer", server.said)

    def test_every_model(self):
        for model in models():
            self.check_all(model, "process")

    def test_inside(self):
        for model in [m for m in models() if m in ("epoll-lt", *ASKED)]:
            self.check_all(model, "inside")

    # --- curl ------------------------------------------------------------------------------------

    def curl(self, *words, data=None):
        done = run("curl", "-sS", "--max-time", str(10 * SLOW), *words, data=data)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def check_with_curl(self):
        done = self.curl("-w", "%{stderr}%{num_connects}\n", self.url, self.url + "100",
                         self.url + "0", self.url + "70000")
        self.assertEqual(done.stdout, pattern(1024) + pattern(100) + pattern(70000))
        self.assertEqual(done.stderr.split(), [b"1", b"0", b"0", b"0"])
        head = self.curl("-I", self.url + "500").stdout
        self.assertRegex(head, rb"^HTTP/1.1 200 OK\r\n")
        self.assertIn(b"\r\nContent-Length: 500\r\n", head)
        for version in ("--http1.0", "--http1.1"):
            done = self.curl(version, "-H", "Connection: close", self.url)
            self.assertEqual(done.stdout, pattern(1024))
        done = self.curl("-o", os.devnull, "-w", "%{http_code}", self.url + "nothing-there")
        self.assertEqual(done.stdout, b"404")

    def check_with_curl_post(self):
        body = os.urandom(300000)
        for extra in ([], ["-H", "Expect: 100-continue"]):
            done = self.curl("--data-binary", "@-", *extra, self.url + "any", data=body)
            self.assertEqual(done.stdout, body)
        with tempfile.TemporaryFile() as f:
            f.write(bytes(1 << 21))
            f.seek(0)
            done = subprocess.run(["curl", "-sS", "-w", "%{http_code}", "--data-binary", "@-",
                                   "-o", os.devnull, self.url], stdin=f, capture_output=True,
                                  timeout=20 * SLOW, check=False)
        self.assertEqual(done.stdout, b"413", done.stderr)
        done = self.curl("-w", "%{http_code}", "-o", os.devnull, "-H", "Transfer-Encoding: chunked",
                         "-d", "hello", self.url)
        self.assertEqual(done.stdout, b"411")

    # --- sockets of our own ----------------------------------------------------------------------

    def dial(self):
        s = socket.create_connection(("127.0.0.1", self.port), timeout=10 * SLOW)
        self.addCleanup(s.close)
        return s

    @staticmethod
    def all_of(s):
        parts = []
        while part := s.recv(65536):
            parts.append(part)
        return b"".join(parts)

    def check_with_pipelining(self):
        asked, wanted = [], []
        for i in range(200):
            if i % 5 == 4:
                asked.append(b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n" % i)
                asked.append(pattern(i))
            else:
                asked.append(b"GET /%d HTTP/1.1\r\nHost: a\r\n\r\n" % i)
            wanted.append(pattern(i))
        s = self.dial()
        s.sendall(b"".join(asked) + b"HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
        came = self.all_of(s)
        for body in wanted:
            head, _, rest = came.partition(b"\r\n\r\n")
            self.assertRegex(head, rb"^HTTP/1.1 200 OK\r\n")
            self.assertEqual(int(re.search(rb"Content-Length: (\d+)", head)[1]), len(body))
            self.assertEqual(rest[:len(body)], body)
            came = rest[len(body):]
        self.assertRegex(came, rb"^HTTP/1.1 200 OK\r\n(.*\r\n)+\r\n$")

    def check_with_bad_requests(self):
        for status, text in [
                (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
                (400, b"GET / HTTP/1.1\n\n"),
                (400, b"GET / HTTP/1.1\r\n\r\n"),
                (400, b"GET /\r\n\r\n"),
                (400, b"GET / HTTP/1.1\r\nHost: a\r\nHost : b\r\n\r\n"),
                (400, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1, 1\r\n\r\n"),
                (400, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n"
                      b"Transfer-Encoding: chunked\r\n\r\n"),
                (405, b"DELETE / HTTP/1.1\r\nHost: a\r\n\r\n"),
                (411, b"POST / HTTP/1.1\r\nHost: a\r\n\r\n"),
                (413, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999"
                      b"\r\n\r\n"),
                (414, b"GET /" + b"1" * 5000),
                (417, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nExpect: x\r\n\r\n"),
                (431, b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"y" * 10000),
                (501, b"x" * 100000),
                (505, b"GET / HTTP/2.0\r\nHost: a\r\n\r\n")]:
            s = self.dial()
            s.sendall(b"GET /3 HTTP/1.1\r\nHost: a\r\n\r\n" + text)
            came = self.all_of(s)
            good, _, bad = came.partition(b"\r\n\r\n" + pattern(3))
            self.assertRegex(good, rb"^HTTP/1.1 200 OK\r\n", text[:40])
            self.assertRegex(bad, rb"^HTTP/1.1 %d [^\r\n]+\r\n(.*\r\n)*Connection: close\r\n"
                             % status, text[:40])
            s.close()

    # --- load generators -------------------------------------------------------------------------

    def check_with_ab(self):
        for keep, count in (["-k"], 2000), ([], 300):
            done = run("ab", "-q", *keep, "-n", str(count), "-c", "20", self.url)
            self.assertEqual(done.returncode, 0, done.stderr)
            out = done.stdout.decode()
            self.assertRegex(out, rf"Complete requests: +{count}\n")
            self.assertRegex(out, r"Failed requests: +0\n")
            self.assertRegex(out, rf"HTML transferred: +{count * 1024} bytes")
            self.assertNotIn("Non-2xx", out)
            if keep:
                self.assertRegex(out, rf"Keep-Alive requests: +{count}\n")

    def check_with_wrk(self):
        done = run("wrk", "-d1s", "-c20", "-t1", self.url)
        out = done.stdout.decode()
        self.assertEqual(done.returncode, 0, out)
        self.assertGreater(int(re.search(r"(\d+) requests in", out)[1]), 100, out)
        self.assertNotIn("Non-2xx", out)
        self.assertNotIn("Socket errors", out)

    def check_with_h2load(self):
        done = run("h2load", "--h1", "-n", "2000", "-c", "20", "-m", "4", self.url)
        out = done.stdout.decode()
        self.assertEqual(done.returncode, 0, out)
        self.assertIn("2000 done, 2000 succeeded, 0 failed, 0 errored, 0 timeout", out)
        self.assertIn("2000 2xx, 0 3xx, 0 4xx, 0 5xx", out)

    def check_with_z_another(self):
        """After all that it still answers, and nobody is left: not even those who were refused."""
        s = self.dial()
        s.sendall(b"GET /1 HTTP/1.0\r\n\r\n")
        self.assertTrue(self.all_of(s).endswith(b"\r\n\r\n\0"))


if __name__ == "__main__":
    print("models:", " ".join(models()), flush=True)
    unittest.main(verbosity=2)
