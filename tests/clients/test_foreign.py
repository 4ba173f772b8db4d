#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`iodash load` against servers that others wrote: requests, connections and bytes are the same in
their books and in ours."""
import collections
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "run"))
from peers import report  # noqa: E402
from program import SLOW, Case  # noqa: E402

NGINX = """
daemon off; master_process off; worker_processes 1;
pid {folder}/nginx.pid; error_log {folder}/error.log;
events {{ worker_connections 512; }}
http {{
    log_format counted '$connection $request_uri $status $body_bytes_sent $http_host';
    access_log {folder}/access.log counted;
    client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
    uwsgi_temp_path {folder}; scgi_temp_path {folder};
    keepalive_requests {requests};
    server {{
        listen 127.0.0.1:{port};
        root {folder};
        location = /status {{ access_log off; stub_status; }}
        location = /chunked {{ try_files /page =404; sub_filter_types *; sub_filter nothing-like-it x; }}
    }}
}}
"""
LIGHTTPD = """
server.modules = ("mod_accesslog")
server.bind = "127.0.0.1"
server.port = {port}
server.document-root = "{folder}"
server.errorlog = "{folder}/error.log"
server.max-keep-alive-requests = {requests}
accesslog.filename = "{folder}/access.log"
accesslog.format = "- %U %s %b %{{Host}}i"
"""
PAGE = bytes(range(32, 127)) * 40


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


class Servers(Case):
    def begin(self, program, config, words, requests):
        path = shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")
        if not path:
            print(f"[  SKIPPED ] no {program} here", flush=True)
            self.skipTest(f"no {program}")
        os.chmod(self.folder, 0o755)
        (self.folder / "page").write_bytes(PAGE)
        self.port = free_port()
        (self.folder / "config").write_text(config.format(folder=self.folder, port=self.port,
                                                          requests=requests))
        self.server = subprocess.Popen([path, *words, str(self.folder / "config")],
                                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                       stderr=subprocess.DEVNULL)
        self.addCleanup(self.end)
        self.wait_for(self.listens)

    def end(self):
        if self.server.poll() is None:
            self.server.send_signal(signal.SIGTERM)
            try:
                self.server.wait(10 * SLOW)
            except subprocess.TimeoutExpired:
                self.server.kill()
                self.server.wait(10)

    def wait_for(self, what):
        end = time.monotonic() + 10 * SLOW
        while not what():
            self.assertLess(time.monotonic(), end, f"{what} took too long")
            time.sleep(0.05)

    def listens(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=5).close()
            return True
        except OSError:
            return False

    def load(self, path, *words):
        done = self.iodash("load", f"http://127.0.0.1:{self.port}{path}", "-c", 10, "-d", 0.4, "--turn",
                           0.05, "--warmup", 0, "--pid", self.server.pid, "-o", "x.csv", *words)
        self.assertEqual(done.status, 0, done)
        said = report(done.out)
        self.assertEqual(said["errors"], "none", done)
        self.assertEqual(said["sent"], said["answered"])
        for row in self.csv("x.csv"):
            self.assertGreater(float(row["server_cpu_pct"]), 0)
            self.assertGreater(float(row["rss_bytes"]), 100000)
        return said

    def log(self):
        lines = [line.split() for line in (self.folder / "access.log").read_text().splitlines()]
        return [line for line in lines if line[1] != "/probe"]

    def check_log(self, said, path):
        """Their access log holds what the report says; returns its lines by connection."""
        self.wait_for(lambda: len(self.log()) >= said["sent"])
        log = self.log()
        self.assertEqual(len(log), said["sent"])
        self.assertEqual({(line[1], line[2], line[4]) for line in log},
                         {(path, "200", f"127.0.0.1:{self.port}")})
        self.assertEqual(said["bytes"], len(PAGE) * len(log))
        return collections.Counter(line[0] for line in log), sum(int(line[3]) for line in log)


class Nginx(Servers):
    def start_nginx(self, requests):
        self.begin("nginx", NGINX, ["-e", str(self.folder / "error.log"), "-p", str(self.folder), "-c"],
                   requests)

    def status(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/status", timeout=10) as reply:
            accepts, handled, requests = map(int, re.findall(rb"\d+", reply.read())[1:4])
        self.assertEqual(accepts, handled)
        return accepts, requests

    def check(self, path, requests):
        self.start_nginx(requests)
        accepts, served = self.status()
        said = self.load(path)
        more, all_served = self.status()
        self.assertEqual(all_served - served, said["sent"] + 1)  # with the second look at the status
        # With the look whether anybody is there. A connection that nginx ended is opened again: the
        # last of these may not have been through when the load ended.
        ending = 10 if requests < said["sent"] // 10 else 0
        self.assertIn(more - accepts - said["made"] - 2, range(ending + 1))
        by_connection, sent = self.check_log(said, path)
        self.assertLessEqual(max(by_connection.values()), requests)
        return said, by_connection, sent

    def test_kept_connections(self):
        said, by_connection, sent = self.check("/page", 1000000)
        self.assertEqual(said["made"], 10)
        self.assertEqual(len(by_connection), 10)
        self.assertEqual(sent, said["bytes"])

    def test_connections_that_nginx_ends(self):
        said, by_connection, sent = self.check("/page", 7)
        self.assertGreater(said["made"], said["sent"] // 7)
        self.assertIn(said["made"] - len(by_connection), range(0, 11))  # the last ones asked nothing
        self.assertEqual(sent, said["bytes"])

    def test_chunks(self):
        said, _, sent = self.check("/chunked", 1000000)
        self.assertGreater(sent, said["bytes"])  # nginx counts the sizes of chunks too

    def test_limits_are_said(self):
        self.start_nginx(100)
        done = self.iodash("load", f"http://127.0.0.1:{self.port}/not-there", "-c", 2, "-d", 0.4, "--turn",
                           0.05, "--warmup", 0)
        self.assertEqual(done.status, 1, done)
        self.assertIn("HTTP status 404", done.err)


class Lighttpd(Servers):
    def check(self, requests):
        self.begin("lighttpd", LIGHTTPD, ["-D", "-f"], requests)
        said = self.load("/page")
        self.end()  # writes its log to the end
        by_connection, sent = self.check_log(said, "/page")
        self.assertEqual(sent, said["bytes"])
        return said

    def test_kept_connections(self):
        self.assertEqual(self.check(60000)["made"], 10)

    def test_connections_that_lighttpd_ends(self):
        said = self.check(5)
        self.assertGreaterEqual(said["made"], said["sent"] // 6)  # one and five more on each


if __name__ == "__main__":
    unittest.main(verbosity=2)
