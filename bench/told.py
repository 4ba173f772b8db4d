# SPDX-License-Identifier: MIT
"""Runs iodash and reads what it says, for bench/truth: each session in a folder of its own, with an
environment of its own."""
import csv
import datetime
import math
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time

import rounds

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Told:
    """What a finished command said, and its files."""

    def __init__(self, words, status, out, err, folder):
        self.words, self.status, self.out, self.err, self.folder = words, status, out, err, folder

    def csv(self, name="r-tables.csv"):
        with open(self.folder / name, newline="", encoding="utf-8") as f:
            return list(csv.DictReader(f))

    def rows(self):
        """Rows of the table, each a list of its panes."""
        found = {}
        for line in self.csv():
            found.setdefault(line["row"], []).append(line)
        return list(found.values())

    def samples(self, pane="A"):
        return [s for s in self.csv("r.csv") if s["kept"] == "yes" and s["pane"] == pane]

    def mean_between(self, metric, begin, end):
        """Of A's samples that lie in this stretch of time.time(), untrimmed."""
        values = [number(s[metric]) for s in self.samples()
                  if begin + float(s["interval_s"]) <= seconds(s["time"]) <= end]
        if not values:
            raise rounds.Trouble(f"no sample of {metric} between {begin} and {end}")
        return sum(values) / len(values)

    def mean(self, metric, pane="A"):
        return number(next(row for row in self.csv() if row["pane"] == pane)[metric])


class Running:
    """A command under way. env: more environment; before: words in front."""

    def __init__(self, bench, *words, env=None, before=()):
        self.folder = pathlib.Path(bench.folder(words[0]))
        self.words = [str(w) for w in words]
        full = {**os.environ, "LC_ALL": "C.UTF-8", "XDG_STATE_HOME": str(self.folder),
                "XDG_CONFIG_HOME": str(self.folder), "IODASH_EXE": str(bench.exe),
                "IODASH_ASSETS": str(ROOT / "assets"), **(env or {})}
        self.process = subprocess.Popen(
            [*map(str, before), str(bench.exe), *self.words], cwd=self.folder, env=full, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            encoding="utf-8")
        bench.running.append(self.process)

    def end(self, seconds=1200):
        try:
            out, err = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            out, err = self.process.communicate()
            raise rounds.Trouble(f"{' '.join(self.words)}: not over after {seconds} s: {err}") \
                from None
        return Told(self.words, self.process.returncode, out, err, self.folder)

    def servers(self, count=1, seconds=20, foreign=False):
        """The pids of its server processes, once there are so many; foreign: of those that are not
        ours, which their keepers started."""
        end, word = time.monotonic() + seconds, "--keeper" if foreign else "--server-child"
        while time.monotonic() < end and self.process.poll() is None:
            found = [pid for pid in children(self.process.pid) if word in command(pid)]
            if foreign:
                found = [pid for keeper in found for pid in children(keeper)]
            if len(found) >= count:
                return sorted(found)
            time.sleep(0.002)
        raise rounds.Trouble(f"{' '.join(self.words)}: it has no server")


def children(pid):
    found = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as f:
                found += map(int, f.read().split())
    except OSError:
        pass
    return found


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().decode("utf-8", "replace").split("\0")
    except OSError:
        return []


def threads(pid, name):
    """Thread ids of a process whose threads have this name."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        try:
            with open(f"/proc/{pid}/task/{task}/comm", encoding="utf-8") as f:
                if f.read().strip() == name:
                    found.append(int(task))
        except OSError:
            continue
    return found


def seconds(stamp):
    return datetime.datetime.fromisoformat(stamp).timestamp()


def number(text):
    return float(text) if text else math.nan


def port_of(pid):
    """Where a process listens, as ss says."""
    done = subprocess.run(["ss", "-Hltnp"], capture_output=True, text=True, check=True)
    for line in done.stdout.splitlines():
        if f"pid={pid}," in line:
            return int(line.split()[3].rsplit(":", 1)[1])
    raise rounds.Trouble(f"process {pid} does not listen")


def plain(text):
    """What `load` says below its table: words by their first word."""
    return dict(re.findall(r"^(latency|response|in all|connections|errors) +(.*)$", text, re.M))


class Burner:
    """A process that uses a share of a CPU, at times that have nothing to do with the ticks."""

    PROGRAM = """
import random, sys, time
share, begin = float(sys.argv[1]), time.monotonic()
print("burns", flush=True)
while True:
    due = (time.monotonic() - begin) * share
    while time.process_time() < due:
        pass
    time.sleep(random.uniform(0.002, 0.011) if share < 1 else 0)
"""

    def __init__(self, bench, share, cpu):
        self.process = subprocess.Popen(["taskset", "-c", str(cpu), sys.executable, "-c",
                                         self.PROGRAM, str(share)], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.PIPE)
        bench.running.append(self.process)
        self.process.stdout.readline() # on a busy machine an interpreter takes seconds to start
        self.began = self.read()

    def read(self):
        return time.monotonic(), rounds.cpu_ns(self.process.pid) / 1e9

    def stop(self):
        """The share of a CPU that it used, in percent."""
        ended = self.read()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        return 100 * (ended[1] - self.began[1]) / (ended[0] - self.began[0])


class Bench:
    """Where the programs are, what was found so far, what runs."""

    def __init__(self, build, short):
        self.build, self.short, self.exe = build, short, build / "iodash"
        self.running, self.folders, self.checks = [], [], []

    def folder(self, name):
        self.folders.append(tempfile.TemporaryDirectory(prefix=f"iodash-{name}-"))
        return self.folders[-1].name

    def iodash(self, *words, env=None, before=(), seconds=1200):
        return Running(self, *words, env=env, before=before).end(seconds)

    def run(self, *words, env=None, before=(), seconds=1200):
        """A session with its tables saved as r.csv; a failure of it is told."""
        told = self.iodash("run", "-o", "r.csv", "--quiet", *words, env=env, before=before,
                           seconds=seconds)
        if told.status != 0:
            raise rounds.Trouble(f"iodash {' '.join(told.words)}: {told.status}: {told.err}")
        return told

    def preloaded(self, **plant):
        return {"LD_PRELOAD": str(self.build / "bench/plant_shim.so"),
                "PLANT_TICKET": f"{self.folder('plant')}/first",
                **{f"PLANT_{k.upper()}": str(v) for k, v in plant.items()}}

    def check(self, what, holds, sure=True):
        """One bar. sure: it holds on a busy machine, too, and for a short look."""
        self.checks.append((what, holds, sure))
        word = "reached" if holds else "MISSED"
        print(f"  {what}: {word}{'' if sure or not self.short else ' (not judged in short)'}",
              flush=True)

    def close(self):
        for process in self.running:
            if process.poll() is None:
                process.kill()
                process.wait()
        for folder in self.folders:
            folder.cleanup()
        self.running, self.folders = [], []


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]
