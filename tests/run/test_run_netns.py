#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Two machines, as far as one machine can be two: `serve` in one network namespace, `load` in another,
a veth pair between them."""
import os
import re
import signal
import subprocess
import unittest

from peers import report
from program import EXE, SLOW, Case

NAMES = [f"iodash-{os.getpid()}-{end}" for end in ("serve", "load")]
ADDRESSES = ["10.213.77.1", "10.213.77.2"]


def ip(*words, check=True):
    done = subprocess.run(["ip", *words], capture_output=True, text=True, timeout=20, check=False)
    if check and done.returncode:
        raise OSError(f"ip {' '.join(words)}: {done.stderr.strip()}")
    return done


def make_machines():
    """"" when they are there, else why they cannot be made."""
    try:
        for name in NAMES:
            ip("netns", "add", name)
            ip("-n", name, "link", "set", "lo", "up")
        ip("-n", NAMES[0], "link", "add", "far", "type", "veth", "peer", "name", "near", "netns",
           NAMES[1])
        for name, link, address in zip(NAMES, ("far", "near"), ADDRESSES):
            ip("-n", name, "address", "add", address + "/30", "dev", link)
            ip("-n", name, "link", "set", link, "up")
        return ""
    except (OSError, subprocess.TimeoutExpired) as e:
        return str(e)


def remove_machines():
    for name in NAMES:
        ip("netns", "del", name, check=False)


class TwoMachines(Case):
    def in_machine(self, at, *words):
        return ["ip", "netns", "exec", NAMES[at], EXE, *map(str, words)]

    def serve(self, *words):
        process = subprocess.Popen(
            self.in_machine(0, "serve", "--listen", ADDRESSES[0] + ":0", "--protocol", "fetch",
                            *words),
            stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=self.env)
        self.addCleanup(process.kill)
        said = process.stderr.readline()
        found = re.search(r"listens on (\S+) \(pid (\d+)", said)
        self.assertTrue(found, said)
        return process, found[1], int(found[2])

    def load(self, *words, status=0):
        done = subprocess.run(self.in_machine(1, "load", *words), capture_output=True, text=True,
                              timeout=60 * SLOW, check=False, env=self.env, cwd=self.folder)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        return done

    def test_counts_agree(self):
        """What the load asked is what the server answered, and so are the bytes on the wire."""
        server, address, _ = self.serve("-m", "epoll-lt")
        before = self.link_bytes()
        done = self.load("fetch://" + address, "-c", 20, "-d", 1, "--warmup", 0, "--size", 4000,
                         "-o", "away.csv")
        sent = self.link_bytes() - before
        server.send_signal(signal.SIGINT)
        _, said = server.communicate(timeout=10 * SLOW)
        load = report(done.stdout)
        served = re.search(r"in all (\d+) requests answered, (\d+) connections", said)
        self.assertTrue(served, said)
        self.assertEqual(int(served[1]), load["sent"])
        self.assertEqual(int(served[2]), 20 + 1)  # one looked whether anybody is there
        self.assertEqual(load["answered"], load["sent"])
        self.assertEqual(load["errors"], "none")
        self.assertEqual(load["bytes"], 4000 * load["answered"])
        self.assertGreater(sent, load["bytes"])  # the headers of TCP and IP come on top
        self.assertLess(sent, 1.5 * load["bytes"])
        rows = self.csv("away.csv")
        self.assertEqual({row["path"] for row in rows}, {"network"})
        self.assertEqual({row["model"] for row in rows}, {address})
        self.assertNotIn("loopback", done.stdout)

    def link_bytes(self):
        out = ip("-n", NAMES[0], "-s", "-s", "link", "show", "far").stdout
        return int(re.search(r"TX: +bytes.*\n +(\d+)", out)[1])

    def test_paced_as_in_one_machine(self):
        """The same rate is served, wherever the server is."""
        server, address, pid = self.serve("-m", "poll")
        words = ["-c", 10, "-r", 2000, "-d", 1, "--turn", 0.05, "--warmup", 0]
        for attempt in range(5):  # where the machine stood still: once more
            away, known, here = (f"{name}{attempt}.csv" for name in ("away", "known", "here"))
            self.load("fetch://" + address, *words, "-o", away)
            self.load("fetch://" + address, *words, "--pid", pid, "-o", known)
            done = self.iodash("run", "-m", "poll", *words, "-o", here)
            self.assertEqual(done.status, 0, done)
            rates = []
            for name, path in (away, "network"), (known, "netns"), (here, "loopback"):
                rows = [r for r in self.csv(name) if r["kept"] == "yes"]
                self.assertEqual({row["path"] for row in rows}, {path})
                rates.append(sum(float(row["requests_per_s"]) for row in rows) / len(rows))
                self.assertEqual(sum(float(row["errors"]) for row in rows), 0)
                seen = [row["server_cpu_pct"] != "" for row in rows]
                self.assertEqual(set(seen), {name != away})
            if all(abs(rate - 2000) < (200 if SLOW == 1 else 800) for rate in rates):
                break
        else:
            self.fail(f"not once at its rate: {rates}")
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=10 * SLOW)

    def test_a_process_of_this_machine_is_not_of_that(self):
        server, address, _ = self.serve("-m", "poll")
        done = self.load("fetch://" + address, "--pid", os.getpid(), status=1)
        self.assertIn("is not this machine", done.stderr)
        done = self.load("fetch://" + address, "-c", 60000, status=1)
        self.assertIn("at most", done.stderr)
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=10 * SLOW)


if __name__ == "__main__":
    why = make_machines()
    try:
        if why:
            print("[  SKIPPED ] two network namespaces:", why, flush=True)
        else:
            unittest.main(verbosity=2)
    finally:
        remove_machines()
