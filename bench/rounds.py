# SPDX-License-Identifier: MIT
"""Interleaved rounds. What is compared stands in a group and is measured back to back, in shuffled
order, so that a ratio is of two figures a second or two apart; groups are shuffled within a round;
of the ratios of all rounds the median counts. Servers run on CPU 0, loads on CPU 1."""
import dataclasses
import glob
import os
import pathlib
import random
import resource
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import time

FULL_PCT = 95


bars = []  # a line for each ratio that has one


class Trouble(SystemExit):
    """One measurement went wrong; the others may still be right."""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def cpu_ns(pid):
    """CPU clock of a process, as clock_getcpuclockid(3) makes it."""
    return time.clock_gettime_ns((~int(pid) << 3) | 2)


class Server:
    """A server in the foreground; PORT in its command is replaced by its port."""

    def __init__(self, name, command, port=None):
        self.name, self.port = name, port or free_port()
        words = [str(w).replace("PORT", str(self.port)) for w in command]
        self.process = subprocess.Popen(["taskset", "-c", "0", *words], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        end = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    self.stop()
                    raise Trouble(f"{name} does not listen on port {self.port}") from None
                time.sleep(0.02)

    def pids(self):
        """The process and its children: wherever its server runs, its CPU is in the sum."""
        return [str(self.process.pid), *self.children()]

    def children(self):
        found = []
        for name in glob.glob(f"/proc/{self.process.pid}/task/*/children"):
            with open(name, encoding="ascii") as f:
                found += f.read().split()
        return found

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


NGINX = """
daemon off; worker_processes 1; pid {0}/pid; error_log {0}/error.log;
events {{ worker_connections 4096; }}
http {{
    access_log off; keepalive_requests 1000000000; keepalive_timeout 1h; default_type text/plain;
    client_body_temp_path {0}/body; proxy_temp_path {0}/proxy; fastcgi_temp_path {0}/fastcgi;
    uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi;
    server {{ listen 127.0.0.1:{1} backlog=1024; return 200 "{2}"; }}
}}
"""


def nginx(folder):
    """With one worker and replies of 1 KiB; None where it is not installed."""
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    if not program:
        print("nginx is not installed (apt-get install nginx-light): it is left out\n")
        return None
    port, conf = free_port(), pathlib.Path(folder) / "conf"
    conf.write_text(NGINX.format(folder, port, "x" * 1024), encoding="ascii")
    return Server("nginx", [program, "-p", folder, "-c", conf], port)


# --- one measurement: {"requests", "seconds", "server_s", "load_pct"} -----------------------------


def load_on_cpu1(words, seconds):
    line = " ".join(map(str, words))
    try:
        done = subprocess.run(["taskset", "-c", "1", *map(str, words)], capture_output=True,
                              text=True, timeout=seconds + 60, check=False)
    except subprocess.TimeoutExpired:
        raise Trouble(f"{line}: not over after {seconds + 60:.0f} s") from None
    if done.returncode:
        raise Trouble(f"{line}: {done.stderr.strip()}")
    return done.stdout


def own_load(words, seconds):
    """A load of limit/: it reads the server's clocks itself."""
    words = load_on_cpu1(words, seconds).split()
    got = dict(zip(words[::2], map(float, words[1::2])))
    return {"requests": got["requests"], "seconds": got["seconds"], "server_s": got["server_cpu_s"],
            "load_pct": 100 * (1 - got["load_spare"])}


def wrk(server, connections, seconds):
    """wrk counts what it got from its first connect on, so the clocks are read around it."""
    seconds = max(1, round(seconds))
    before, own = sum(map(cpu_ns, server.pids())), resource.getrusage(resource.RUSAGE_CHILDREN)
    out = load_on_cpu1(["wrk", "-t1", f"-c{connections}", f"-d{seconds}s",
                        f"http://127.0.0.1:{server.port}/"], seconds)
    after, now = sum(map(cpu_ns, server.pids())), resource.getrusage(resource.RUSAGE_CHILDREN)
    bad = [line.strip() for line in out.splitlines()
           if "Non-2xx" in line or "Socket errors" in line]
    if bad:
        raise Trouble(f"wrk at {server.name}: {bad[0]}")
    requests = next(line.split() for line in out.splitlines() if " requests in " in line)
    took = float(requests[3].rstrip("s,"))
    used = now.ru_utime + now.ru_stime - own.ru_utime - own.ru_stime
    return {"requests": float(requests[0]), "seconds": took, "server_s": (after - before) / 1e9,
            "load_pct": 100 * used / took}


# --- groups ---------------------------------------------------------------------------------------


FIGURES = {
    "cpu": ("requests per server-CPU-second", lambda g: g["requests"] / g["server_s"]),
    "load": ("requests per load-CPU-second", lambda g: g["requests"] / g["load_s"]),
    "rate": ("requests/s", lambda g: g["requests"] / g["seconds"]),
    "time": ("time an exchange", lambda g: g["seconds"] / g["requests"]),
}


@dataclasses.dataclass
class Ratio:
    over: str
    under: str
    figure: str = "cpu"
    least: float = None
    most: float = None

    def values(self, got):
        of = FIGURES[self.figure][1]
        return [of(a) / of(b) for a, b in zip(got[self.over], got[self.under])]

    def line(self, group):
        values = self.values(group.got)
        median = statistics.median(values)
        text = (f"  {self.over} / {self.under}, {FIGURES[self.figure][0]}: {median:.3f}"
                f"  (rounds {min(values):.3f} to {max(values):.3f})")
        if self.least is None and self.most is None:
            return text
        reached = (self.least is None or median >= self.least) and \
            (self.most is None or median <= self.most)
        bar = f"at least {self.least}" if self.least is not None else f"at most {self.most}"
        if self.figure == "rate" and group.of == "server" and \
                group.server_pct(self.under) < FULL_PCT:
            word = "not judged: the server was not saturated"
        else:
            word = "reached" if reached else "MISSED"
        bar += f"  {word}"
        bars.append(f"{median:7.3f}  {bar:22}  {self.over} / {self.under}, "
                    f"{FIGURES[self.figure][0]}, {group.title}")
        return f"{text}  bar: {bar}"


@dataclasses.dataclass
class Group:
    title: str
    runs: dict   # name: function that measures once
    ratios: list
    of: str = "server"  # whose CPU the lines are about; or "load"
    got: dict = dataclasses.field(default_factory=dict)

    def measure(self):
        """All or nothing: a round that was interrupted is not in it."""
        names = list(self.runs)
        random.shuffle(names)
        new = {name: self.runs[name]() for name in names}
        for name, figures in new.items():
            self.got.setdefault(name, []).append(figures)

    def report(self):
        print(self.title)
        if not self.got:
            print("  not measured")
        for name in self.got:
            print("  " + self.side(name))
        for ratio in self.ratios if self.got else []:
            print(ratio.line(self))
        print(flush=True)

    def server_pct(self, name):
        return statistics.median(100 * g["server_s"] / g["seconds"] for g in self.got[name])

    def side(self, name):
        def median(of):
            return statistics.median(map(of, self.got[name]))
        server = self.server_pct(name)
        load = median(lambda g: g["load_pct"])
        full = {(True, True): "both saturated", (True, False): "the server is saturated",
                (False, True): "the load is saturated", (False, False): "neither is saturated"}
        cpu = FIGURES["load" if self.of == "load" else "cpu"][1]
        return (f"{name:20} {median(cpu):9.0f} a {self.of}-CPU-second  "
                f"{median(FIGURES['rate'][1]):8.0f}/s  server {server:3.0f} %, load {load:3.0f} %: "
                f"{full[server >= FULL_PCT, load >= FULL_PCT]}")


def say(text):
    """How far it is, where somebody looks on."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def measure(groups, rounds):
    """Ctrl-C ends it early; what was measured is told."""
    interrupted = False
    try:
        for i in range(rounds):
            order = list(groups)
            random.shuffle(order)
            for k, group in enumerate(order):
                say(f"round {i + 1} of {rounds}, {k + 1} of {len(order)}: {group.title}")
                try:
                    group.measure()
                except Trouble as trouble:
                    print(f"round {i + 1} is left out of \"{group.title}\": {trouble}", flush=True)
    except KeyboardInterrupt:
        interrupted = True
    finally:
        say("")
    for group in groups:
        group.report()
    if interrupted:
        raise KeyboardInterrupt


def raise_nofile():
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def build(folder, *programs):
    """The default folder is configured and built here; another one is taken as it is."""
    if not folder:
        root = pathlib.Path(__file__).resolve().parent.parent
        folder = root / "build/bench"
        for words in (["-S", root, "-B", folder, "-DIODASH_BENCH=ON"],
                      ["--build", folder, "--parallel"]):
            subprocess.run(["cmake", *words], check=True, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL)
    for program in programs:
        if not (folder / program).exists():
            sys.exit(f"{folder / program} is missing: configure with -DIODASH_BENCH=ON and build")
    return folder.resolve()


def need_two_cpus():
    if not {0, 1} <= os.sched_getaffinity(0):
        raise SystemExit("needs CPUs 0 and 1")
