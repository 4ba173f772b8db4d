#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""churn and ramp as a person runs them, and the client's ports used up in a namespace of few."""
import time
import unittest

from peers import Peer
from program import SHORT, Case


def number(text):
    return float(text) if text else float("nan")


# Both runs in one namespace: the second finds what the first left.
FEW_PORTS = """
ip link set lo up || exit 77
echo 40000 40199 > /proc/sys/net/ipv4/ip_local_port_range || exit 77
echo 0 > /proc/sys/net/ipv4/tcp_tw_reuse || exit 77
"$0" "$@" -o one.csv; echo second; "$0" "$@" -o two.csv
"""


class Fresh(Case):
    def test_churn(self):
        done = self.iodash("run", "-w", "churn", "-c", 10, *SHORT, "-o", "churn.csv")
        self.assertEqual(done.status, 0, done)
        rows, table = self.csv("churn.csv"), self.csv("churn-tables.csv")
        self.assertEqual({r["keepalive"] for r in rows}, {"off"})
        self.assertEqual({r["close"] for r in rows}, {"rst"})
        for r in rows:
            self.assertEqual(number(r["errors"]), 0, r)
            self.assertGreater(number(r["connections_per_s"]), 0)
            self.assertEqual(r["connections_per_s"], r["requests_per_s"])
            self.assertGreater(number(r["latency_p50_us"]), 0)
        self.assertGreater(number(table[0]["connections_per_s"]), 0)
        self.assertIn("ANSWER", done.out)

    def test_churn_keeps_nothing(self):
        done = self.iodash("run", "-w", "churn", "--keepalive", "on")
        self.refused(done, "--keepalive on", "churn", status=2)

    def test_ramp_without_a_collapse(self):
        done = self.iodash("run", "-w", "ramp", "-c", 10, "--until", 60, "--step-length", 0.4,
                           "--turn", 0.05, "--settle", 0.01, "-o", "ramp.csv")
        self.assertEqual(done.status, 0, done)
        rows, table = self.csv("ramp.csv"), self.csv("ramp-tables.csv")
        self.assertEqual([r["connections"] for r in table], ["10", "10", "60", "60"])
        self.assertEqual({r["protocol"] for r in rows}, {"echo"})
        self.assertEqual({r["keepalive"] for r in rows}, {"off"})
        for r in rows:
            self.assertEqual(number(r["errors"]), 0, r)
        self.assertRegex(done.out, r"ANSWER +select: no collapse up to 60 clients, best ")
        self.assertRegex(done.out, r"epoll-lt: no collapse up to 60 clients, best ")

    def test_ramp_makes_its_own_list(self):
        done = self.iodash("run", "-w", "ramp", "-c", "50,100")
        self.refused(done, "--connections", status=2)
        done = self.iodash("run", "-w", "ramp", "-c", 50, "--until", 20)
        self.refused(done, "--until 20", status=2)


class Collapse(Case):
    """Echo servers whose weakness is known, under `iodash load`."""

    def ramp(self, mind):
        """mind(clients at this moment) is what an echo waits for."""

        def serve(connection, peer):
            data = b""
            while len(data) < 271:
                part = connection.recv(4096)
                if not part:
                    return
                data += part
            with peer.lock:
                peer.busy = getattr(peer, "busy", 0) + 1
            try:
                mind(peer.busy)
                connection.sendall(data)
            finally:
                with peer.lock:
                    peer.busy -= 1
            connection.recv(1)

        peer = Peer(serve)
        self.addCleanup(peer.stop)
        done = self.iodash("load", "echo://" + peer.address, "-w", "ramp", "-c", 5, "--until", 200,
                           "--step-length", 0.6, "--turn", 0.05, "--settle", 0, "--trim", 0,
                           "-o", "ramp.csv", "--pin", "off", "--load-wait", "block")
        return done, self.csv("ramp.csv"), self.csv("ramp-tables.csv")

    def test_the_more_clients_the_slower(self):
        done, rows, table = self.ramp(lambda n: time.sleep(2e-4 * n * n))
        self.assertEqual(done.status, 0, done)
        self.assertLess(len(table), 5, "it ends before 200 clients")
        self.assertEqual(table[-1]["collapse_connections"], table[-1]["connections"])
        self.assertEqual(table[0]["collapse_connections"], "")
        self.assertLessEqual(number(table[-1]["requests_per_s"]),
                             0.5 * max(number(r["requests_per_s"]) for r in table))
        self.assertRegex(done.out, r"collapsed at \d+ clients, under half of its best")
        self.assertEqual({r["errors"] for r in rows}, {"0"})

    def test_silence(self):
        done, _, table = self.ramp(lambda n: time.sleep(60))
        self.assertEqual(done.status, 1, done)
        self.assertEqual([r["collapse_connections"] for r in table], ["5"])
        self.assertIn("collapsed at 5 clients, 5 s without a reply", done.out)


class Ports(Case):
    def test_ports_used_up(self):
        before = ["unshare", "-n", "sh", "-c", FEW_PORTS]
        done = self.iodash("run", "-w", "churn", "-c", 50, "--close", "fin", "-m", "epoll-lt",
                           *SHORT, before=before)
        if done.status == 77 or "unshare" in done.err:
            self.skipTest(f"no network namespace of its own: {done.err}")
        self.assertIn("second", done.out)
        table = self.csv("one-tables.csv")
        self.assertEqual({r["verdict"] for r in table}, {"port-limit"}, done)
        self.assertIn("no local port (client)", table[0]["reason"])
        self.assertGreater(number(table[0]["errors_port"]), 0)
        self.assertNotIn("TIME_WAIT", done.err)  # each run's server is another: no port is lost to it
        self.assertEqual({r["verdict"] for r in self.csv("two-tables.csv")}, {"port-limit"})


if __name__ == "__main__":
    unittest.main(verbosity=2)
