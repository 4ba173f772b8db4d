#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Resident memory of a server's process with 1000 connections that have asked."""
import os
import pathlib
import re
import resource
import socket
import time
import unittest

from program import Case

CONNECTIONS = 1000
REQUEST = b"IODF" + bytes((0, 0, 0, 1, 0, 0, 4, 0)) + bytes(52)  # fetch, 1024 bytes
MOST = {"uring": 12_000_000}
MODELS = ("select-wide", "poll", "epoll-lt", "epoll-et", "pool", "uring-poll", "uring", "libev")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


@unittest.skipIf(os.environ.get("IODASH_SANITIZE"), "a sanitizer's memory is no memory of ours")
class Memory(Case):
    def connect(self, process, port):
        end = time.monotonic() + 20
        while True:
            try:
                return socket.create_connection(("127.0.0.1", port), timeout=20)
            except ConnectionRefusedError:
                if process.poll() is not None:
                    self.skipTest(process.stderr.read().strip())  # cannot run here
                self.assertLess(time.monotonic(), end, "it does not listen")
                time.sleep(0.02)

    def ask(self, s):
        s.sendall(REQUEST)
        left = 1024
        while left > 0:
            got = len(s.recv(left))
            self.assertGreater(got, 0, "the server closed a connection")
            left -= got

    def rss(self, model):
        port, clients = free_port(), []
        process = self.start("serve", "-m", model, "--place", "process", "--protocol", "fetch",
                             "--quiet", "--listen", f"127.0.0.1:{port}")
        try:
            for _ in range(CONNECTIONS):
                clients.append(self.connect(process, port))
                self.ask(clients[-1])
            pid = process.pid
            child = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()[0]
            text = pathlib.Path(f"/proc/{child}/smaps_rollup").read_text()
        finally:
            process.terminate()
            process.communicate(timeout=30)
            for s in clients:
                s.close()
        return int(re.search(r"^Rss: +(\d+) kB", text, re.M).group(1)) * 1024

    def test_a_connection_costs_its_cache_line(self):
        hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        for model in MODELS:
            with self.subTest(model=model):
                self.assertLessEqual(self.rss(model), MOST.get(model, 3_000_000 + 64 * CONNECTIONS))


if __name__ == "__main__":
    unittest.main()
