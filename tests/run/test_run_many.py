#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Many connections: idle-mix and hold as whole programs, beyond one descriptor table, beyond what a
model, a table or the local ports hold, and all at once into a small accept queue."""
import os
import socket
import subprocess
import threading
import unittest

from program import SHORT, Case


def number(text):
    return float(text) if text else float("nan")


def nofile(n):
    return ["prlimit", f"--nofile={n}:{n}"]


class IdleMix(Case):
    def test_a_sweep_of_idle_connections(self):
        done = self.iodash("run", "-w", "idle-mix", "-m", "poll,epoll-lt", "-c", 7,
                           "--idle", "0,30,90", "--requests", 701, "--repeats", 3, "-o", "i.csv")
        self.assertEqual(done.status, 0, done)
        rows = self.csv("i.csv")
        self.assertEqual(len(rows), 2 * 3 * 3)
        for r in rows:
            self.assertEqual((r["kind"], r["requests"], r["active_at"]), ("repeat", "701", "first"))
            self.assertGreater(number(r["exchange_s"]), 0)
            self.assertLess(number(r["exchange_s"]), number(r["interval_s"]))
            self.assertGreater(number(r["cpu_us_per_request"]), 0)
            self.assertEqual(number(r["established"]), 7 + number(r["idle"]))
            self.assertEqual(number(r["accepted"]), 7 + number(r["idle"]))
            self.assertEqual((number(r["served"]), number(r["never_answered"])), (7, 0))
            self.assertEqual(number(r["errors"]), 0)
        # The list of poll has its connections, the listener and the wake-up, in every wait.
        for r in rows:
            if r["model"] == "poll" and r["idle"] == "90":
                waits = number(r["waits_per_s"]) / number(r["requests_per_s"])
                self.assertAlmostEqual(number(r["looks_per_request"]) / waits, 99, delta=3)
        self.assertIn("idle", done.out)

    def test_a_model_that_cannot_hold_a_row(self):
        done = self.iodash("run", "-w", "idle-mix", "-m", "select,epoll-lt", "--idle", 1200,
                           "--requests", 500, "--repeats", 3, "-o", "s.csv")
        self.assertEqual(done.status, 0, done)
        verdicts = {r["model"]: r["verdict"] for r in self.csv("s-tables.csv")}
        self.assertEqual(verdicts["select"], "fd-limit")
        self.assertNotEqual(verdicts["epoll-lt"], "fd-limit")
        for r in self.csv("s.csv"):
            self.assertEqual(r["exchange_s"] == "", r["model"] == "select", r)


class Hold(Case):
    def held(self, name, connections):
        for r in self.csv(name):
            self.assertEqual(number(r["established"]), connections, r)
            self.assertEqual(number(r["accepted"]), connections, r)
            self.assertEqual(number(r["errors"]), 0)

    def own_tables(self):
        if "thread" in os.environ.get("IODASH_SANITIZE", ""):
            self.skipTest("[  SKIPPED ] under ThreadSanitizer descriptor tables stay shared")

    def test_the_loads_of_two_models_have_tables_of_their_own(self):
        self.own_tables()
        done = self.iodash("run", "-w", "hold", "-c", 300, "-m", "poll,epoll-lt", *SHORT,
                           "-o", "h.csv", before=nofile(400))
        self.assertEqual(done.status, 0, done)
        self.held("h.csv", 300)
        rates = [r["accepts_per_s"] for r in self.csv("h.csv") if r["model"] == "poll"]
        self.assertGreater(number(rates[0]), 0) # measured once, on the way
        self.assertEqual(set(rates[1:]), {""})
        self.assertIn("holds 300 of 300", done.out)

    def test_each_worker_has_a_table_of_its_own(self):
        self.own_tables()
        done = self.iodash("run", "-w", "hold", "-c", 700, "--workers", 3, "-m", "epoll-lt,select",
                           *SHORT, "-o", "w.csv", before=nofile(400))
        self.assertEqual(done.status, 0, done)
        self.held("w.csv", 700)

    def test_select_ends_at_its_limit_and_the_others_go_on(self):
        done = self.iodash("run", "-w", "hold", "-c", 2000, "-m", "select,epoll-lt", *SHORT,
                           "-o", "s.csv")
        self.assertEqual(done.status, 0, done)
        tables = {r["model"]: r for r in self.csv("s-tables.csv")}
        self.assertEqual(tables["select"]["verdict"], "fd-limit")
        self.assertIn("1024", tables["select"]["reason"])
        self.assertEqual(number(tables["epoll-lt"]["accepted"]), 2000)
        self.memory([r["kernel_per_connection"] for r in self.csv("s.csv")
                     if r["model"] == "epoll-lt"], done.out)
        self.assertIn("select: kernel memory not measured (", done.out)

    def memory(self, kernel, out):
        """Measured once, where it can be: two sockets and two files at least."""
        self.assertEqual(set(kernel[1:]), {""})
        try:
            with open("/proc/slabinfo", encoding="ascii") as f:
                f.read(1)
        except OSError:
            self.assertEqual(kernel[0], "")
            return
        if not kernel[0]: # others moved the machine's slabs: then that is the reason given
            self.assertRegex(out, r"epoll-lt: kernel memory not measured \(others .* meanwhile\)")
            return
        self.assertGreater(number(kernel[0]), 1000)
        self.assertLess(number(kernel[0]), 100000)

    def test_more_than_possible_is_refused_before(self):
        done = self.iodash("run", "-w", "hold", "-c", 2000, before=nofile(400))
        self.refused(done, "2000", "at most 336", "descriptors")


class NeverAnswered(Case):
    """A server with ten workers, each with one connection at a time, and a thousand connections."""
    REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"

    def work(self, listener):
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            try:
                with connection:
                    while connection.recv(65536):
                        connection.sendall(self.REPLY)
            except OSError:
                pass

    def test_who_was_served(self):
        with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
            workers = [threading.Thread(target=self.work, args=(listener,), daemon=True)
                       for _ in range(10)]
            for w in workers:
                w.start()
            done = self.iodash("load", f"http://127.0.0.1:{listener.getsockname()[1]}/", "-c", 1000,
                               "-d", 0.5, "--turn", 0.1, "--warmup", 0, "--timeout", 1,
                               "-o", "n.csv")
            listener.shutdown(socket.SHUT_RDWR)
        self.assertIn("1000 of 1000 connected, 10 served at least once, 990 never answered",
                      done.out)
        rows = self.csv("n.csv")
        for r in rows:
            self.assertEqual(number(r["established"]), 1000)
            self.assertEqual((number(r["served"]), number(r["never_answered"])), (10, 990))


class Limits(Case):
    def test_few_local_ports(self):
        probe = subprocess.run(["unshare", "-n", "true"], capture_output=True, timeout=20)
        if probe.returncode != 0:
            self.skipTest("[  SKIPPED ] no private network namespace here (unshare -n)")
        setup = "ip link set lo up && echo 40000 40199 > /proc/sys/net/ipv4/ip_local_port_range"
        done = self.iodash("run", "-c", 300, *SHORT,
                           before=["unshare", "-n", "sh", "-c", f'{setup} && exec "$@"', "sh"])
        self.assertEqual(done.status, 1, done)
        self.assertIn("at most 200", done.err)
        self.assertIn("local ports", done.err)

    def test_2000_at_once_and_a_small_backlog(self):
        """The kernel's accept queue is named, and nothing is called the server's latency. Of a server
        that looks at all it holds for each one it accepts: epoll can keep up."""
        done = self.iodash("run", "-w", "connect", "-c", 2000, "--arrival", "storm",
                           "--backlog", 16, "--repeats", 1, "--timeout", 5, "-m", "poll",
                           "--accept", "one", "-o", "q.csv")
        self.assertEqual(done.status, 0, done)
        table = self.csv("q-tables.csv")[0]
        self.assertEqual(table["verdict"], "accept-queue", done)
        self.assertIn("SYNs lost", table["reason"])
        row = self.csv("q.csv")[0]
        self.assertGreater(number(row["listen_drops"]), 0)
        self.assertGreater(number(row["syn_retransmits"]), 0)
        for name, cell in row.items():
            if name.startswith(("latency_", "response_")):
                self.assertEqual(cell, "", name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
