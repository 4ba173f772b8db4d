# SPDX-License-Identifier: MIT
"""What other means say of the same: CPU that was burned on purpose, the kernel and other programs'
counts, faults that were planted."""
import http.client
import os
import pathlib
import re
import resource
import shutil
import socket
import subprocess
import threading
import time

import rounds
import told

SHORT = ["--turn", "0.05", "--settle", "0.01", "--warmup", "0"]


def few(bench):
    """Samples of a row that is only to have a verdict."""
    return ["--samples", 4, *SHORT] if bench.short else ["--samples", 10, "--warmup", 0]


def near(bench, what, ours, theirs, off, sure_off=None):
    """sure_off: what it may be off by on a busy machine, too."""
    text = f"{what}: {ours:.2f}, truly {theirs:.2f}, may be off by {off:.2f}"
    if bench.short and sure_off is not None:
        bench.check(f"{text} (in short {sure_off:.2f})", abs(ours - theirs) <= sure_off)
    else:
        bench.check(text, abs(ours - theirs) <= off, sure=False)


# --- attribution ----------------------------------------------------------------------------------


def more_of_b(done, metric):
    """What B used beyond what A takes for as many replies."""
    rate = [done.mean("requests_per_s", pane) for pane in "AB"]
    return done.mean(metric, "B") - done.mean(metric) * rate[1] / rate[0]


def attribution(bench):
    """CPU burned in the server, in the load, outside of both: each in its own figure (4 min)."""
    samples = ["--samples", 5, *SHORT] if bench.short else ["--samples", 60]
    twice = ["-m", "epoll-lt,epoll-lt", "-c", "10"]

    log = pathlib.Path(bench.folder("log")) / "log"
    done = bench.run(*twice, "--rate", "4k", *samples,
                     env=bench.preloaded(server_pct=20, server_cpu=0, log=log))
    _, burned, wall = map(int, log.read_text(encoding="ascii").split()[:3])
    share = 100 * burned / wall
    print(f"a thread in B's server that uses {share:.1f} % of a CPU:")
    near(bench, "server CPU of B beyond A's", more_of_b(done, "server_cpu_pct"), share, 2, 10)
    near(bench, "others beside A", done.mean("others_pct"), share, 2)
    near(bench, "others beside B", done.mean("others_pct", "B"), 0, 2)

    # Few replies: a load that is busy when the next one comes sleeps less, and so does the server.
    done = bench.run(*twice, "--rate", "1k", "--load-wait", "block", *samples,
                     env=bench.preloaded(load_ns=200000))
    share = done.mean("requests_per_s", "B") * 200e-6 * 100
    print(f"200 us in B's load for each reply, {share:.1f} % of a CPU:")
    near(bench, "load CPU of B beyond A's", more_of_b(done, "load_cpu_pct"), share, 2)
    near(bench, "server CPU of B beyond A's", more_of_b(done, "server_cpu_pct"), 0, 2, 10)

    if bench.short:
        return  # who is busy beside it on a busy machine is not known
    burner = told.Burner(bench, 0.2, 0)
    done = bench.run("-m", "epoll-lt", "-c", "10", "--rate", "4k", *samples)
    share = burner.stop()
    print(f"another process that uses {share:.1f} % of the server's CPU:")
    near(bench, "others", done.mean("others_pct"), share, 2)


# --- observers ------------------------------------------------------------------------------------

NGINX = """
daemon off; worker_processes 1; pid {0}/pid; error_log {0}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off; keepalive_requests 1000000000; keepalive_timeout 1h; default_type text/plain;
    client_body_temp_path {0}/body; proxy_temp_path {0}/proxy; fastcgi_temp_path {0}/fastcgi;
    uwsgi_temp_path {0}/uwsgi; scgi_temp_path {0}/scgi;
    server {{
        listen 127.0.0.1:{1} backlog=1024;
        location / {{ return 200 "hello"; }}
        location = /status {{ stub_status; }}
    }}
}}
"""


def status_of(port):
    """What nginx counted: connections handled, requests."""
    link = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    link.request("GET", "/status")
    text = link.getresponse().read().decode()
    link.close()
    found = re.search(r"requests\s+\d+ (\d+) (\d+)", text)
    return int(found[1]), int(found[2])


def nginx_requests(bench, seconds):
    program = shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin")
    if not program:
        print("nginx is not installed (apt-get install nginx-light): left out")
        return
    folder, port = bench.folder("nginx"), told.free_port()
    conf = pathlib.Path(folder) / "conf"
    conf.write_text(NGINX.format(folder, port), encoding="ascii")
    server = rounds.Server("nginx", [program, "-p", folder, "-c", conf], port)
    try:
        before = status_of(port)
        done = bench.iodash("load", f"http://127.0.0.1:{port}/", "-c", 8, "-d", seconds, "--rate",
                            "2k", "--warmup", 0, "--quiet")
        after = status_of(port)
    finally:
        server.stop()
    ours = [int(n) for n in re.findall(r"\d+", told.plain(done.out)["in all"])]
    # Its own second look at nginx was a connection and a request, and reach tries it once.
    print(f"  ours: {ours[0]} sent, {ours[1]} answered, {ours[3]} connections; nginx: "
          f"{after[1] - before[1] - 1} requests, {after[0] - before[0] - 1} connections")
    bench.check("nginx counted the requests that we sent", after[1] - before[1] - 1 == ours[0])


def ss_count(port):
    done = subprocess.run(["ss", "-Htn", "state", "established", f"( sport = :{port} )"],
                          capture_output=True, text=True, check=True)
    return len(done.stdout.splitlines())


def rss_bytes(pid):
    text = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"^VmRSS:\s+(\d+) kB", text, re.M)[1]) * 1024


def pidstat(pid, seconds):
    """Its average of %CPU, or None."""
    if not shutil.which("pidstat"):
        print("pidstat is not installed (apt-get install sysstat): left out")
        return None
    done = subprocess.run(["pidstat", "-u", "-p", str(pid), "1", str(seconds)],
                          capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"},
                          check=False)
    lines = done.stdout.splitlines()
    head = next((line.split() for line in lines if "%CPU" in line), [])
    last = next((line.split() for line in lines if line.startswith("Average:")), [])
    # The averages have one word in place of the time; "12:00:00 PM" would be two.
    return float(last[head.index("%CPU") - len(head)]) if last and head else None


def server_from_outside(bench, seconds, model="epoll-lt"):
    print(f"  {model}:")
    foreign = model.startswith("target:")
    running = told.Running(bench, "run", "-m", model, "-c", 100, "-o", "r.csv", "--quiet",
                           "--samples", seconds, "--warmup", 0,
                           *(["--turn", "0.1"] if bench.short else []))
    pid = running.servers(foreign=foreign)[0]
    time.sleep(0.2 if bench.short else 1)
    port, begun, cpu = told.port_of(pid), time.monotonic(), rounds.cpu_ns(pid)
    seen, rss = ss_count(port), rss_bytes(pid)
    watched = time.time()
    theirs = None if bench.short else pidstat(pid, seconds - 4)
    watched = watched, time.time()
    cpu = (rounds.cpu_ns(pid) - cpu) / 1e7 / (time.monotonic() - begun)
    done = running.end()
    bench.check(f"connections: {done.mean('established'):.0f}, by ss {seen}",
                done.mean("established") == seen and
                (foreign or seen == done.mean("accepted")))
    near(bench, "RSS in KiB", done.mean("rss_bytes") / 1024, rss / 1024, 0.01 * rss / 1024,
         0.15 * rss / 1024)
    if theirs is not None:
        ours = done.mean_between("server_cpu_pct", *watched)
        near(bench, "server CPU, by pidstat", ours, theirs, max(0.01 * theirs, 0.1))
        near(bench, "server CPU, by its clock read from here", ours, cpu, max(0.01 * cpu, 0.1))


class Proxy:
    def __init__(self, bench, port, delay_us):
        self.process = subprocess.Popen(
            ["taskset", "-c", "1", bench.build / "bench/delay_proxy", str(port), str(delay_us)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        bench.running.append(self.process)
        self.port = int(self.process.stdout.readline())

    def stop(self):
        self.process.stdin.close()
        self.process.wait(timeout=10)


def latency_by_proxy(bench, seconds):
    port, delay_us = told.free_port(), 20000
    server = rounds.Server("iodash", [bench.exe, "serve", "-m", "epoll-lt", "--listen",
                                      f"127.0.0.1:{port}", "--quiet", "--pin", "off"], port)
    got = []
    try:
        for delay in (0, delay_us):
            proxy = Proxy(bench, port, delay)
            done = bench.iodash("load", f"http://127.0.0.1:{proxy.port}/", "-c", 4, "--rate", 100,
                                "-d", seconds, "--warmup", 0, "--load-wait", "block", "--quiet",
                                "-o", "r.csv", before=["taskset", "-c", "0"])
            proxy.stop()
            if done.status:
                raise rounds.Trouble(f"load through the proxy: {done.err}")
            got.append([done.mean(f"latency_{of}_us") for of in ("mean", "p50")])
    finally:
        server.stop()
    print(f"  latency without and with {delay_us} us, mean and p50: {got}")
    near(bench, "latency added by the proxy, us", got[1][0] - got[0][0], delay_us,
         0.01 * delay_us)
    bench.check("no reply is told to be quicker than the proxy lets it be",
                got[1][1] >= 0.998 * delay_us)


def observers(bench):
    """The same by other programs: pidstat, /proc/PID/status, ss, nginx, a proxy (2 min)."""
    server_from_outside(bench, 4 if bench.short else 24)
    if not bench.short and shutil.which("redis-server"):
        server_from_outside(bench, 24, "target:redis")
    nginx_requests(bench, 0.5 if bench.short else 5)
    latency_by_proxy(bench, 0.5 if bench.short else 5)


# --- faults ---------------------------------------------------------------------------------------


class SplitReplies:
    """An HTTP server that sends head and body in two parts, with Nagle's algorithm on; every second
    reply goes out in one."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                link, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(link,), daemon=True).start()

    @staticmethod
    def serve(link):
        head, body, count = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", b"hello", 0
        try:
            with link:
                while link.recv(65536):
                    count += 1
                    if count % 2:
                        link.sendall(head + body)
                    else:
                        link.sendall(head)
                        link.sendall(body)
        except OSError:
            pass

    def stop(self):
        self.listener.close()


def backlog_5(bench):
    """Of a server that makes a thread for each; epoll often keeps up, and then nothing is lost."""
    done = bench.run("-m", "blocking", "-w", "connect", "-c", 300, "--arrival", "storm",
                     "--backlog", 5, "--repeats", 1 if bench.short else 5, "--timeout", 2)
    return done.csv()


def split_reply(bench):
    server = SplitReplies()
    done = bench.iodash("load", f"http://127.0.0.1:{server.port}/", "-c", 6, "-d",
                        0.8 if bench.short else 4, "--warmup", 0, "--quiet", "-o", "r.csv")
    server.stop()
    line = done.csv()[0]
    line["verdict"] = "40 ms" if "Nagle" in line["trust"] else line["verdict"]
    line["reason"] = line["trust"]
    return [line]


def load_moved(bench):
    """Its threads are tied to the server's CPU once they run."""
    running = told.Running(bench, "run", "-m", "epoll-lt,poll", "-c", 20, "-o", "r.csv", "--quiet",
                           "--rate", "10k", *few(bench))
    running.servers(2)
    end = time.monotonic() + 10
    while time.monotonic() < end and len(told.threads(running.process.pid, "load")) < 2:
        time.sleep(0.002)
    for thread in told.threads(running.process.pid, "load"):
        os.sched_setaffinity(thread, {0})
    return running.end().csv()


def one_cpu(bench):
    return bench.run("-m", "epoll-lt,poll", "-c", 20, "--rate", "5k", *few(bench),
                     before=["taskset", "-c", "0"]).csv()


def few_descriptors(bench):
    """Of its server, from the first of two rows on."""
    running = told.Running(bench, "run", "-m", "epoll-lt", "-c", "20,200", "-o", "r.csv",
                           "--quiet", "--timeout", 1, *few(bench))
    for pid in running.servers():
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (60, 60))
    return [line for line in running.end().csv() if line["connections"] == "200"]


def burning(bench):
    burner = told.Burner(bench, 0.5, 0)
    lines = bench.run("-m", "epoll-lt", "-c", 20, "--rate", "5k", *few(bench)).csv()
    burner.stop()
    return lines


def too_fast(bench):
    return bench.run("-m", "epoll-lt", "-c", 50, "--rate", "2M", *few(bench)).csv()


def many_workers(bench):
    return bench.run("-m", "epoll-lt", "-c", 50, "--rate", "4k", "--workers", 8,
                     *few(bench)).csv()


FAULTS = (
    ("a backlog of 5", backlog_5, "accept-queue"),
    ("a reply in two parts, Nagle on", split_reply, "40 ms"),
    ("the load tied to the server's CPU", load_moved, "noisy"),
    ("one CPU for both", one_cpu, "cpus"),
    ("servers with 60 descriptors", few_descriptors, "fd-limit"),
    ("another process on the server's CPU", burning, "noisy"),
    ("a rate beyond the server", too_fast, "behind"),
    ("more workers than CPUs", many_workers, "cpus"),
)


def faults(bench):
    """Faults that are planted, and the verdict of each row (30 s)."""
    for what, plant, word in FAULTS:
        begin = time.monotonic()
        lines = plant(bench)
        print(f"{what} ({time.monotonic() - begin:.1f} s):")
        for line in lines:
            print(f"    {line['model']:12} {line['verdict']}: {line['reason']}", flush=True)
        # What a busy machine does to a row wins over what limits it beside that.
        hidden = {"noisy", "behind"} if bench.short and word in ("behind", "cpus") else set()
        bench.check(f"named {word}", lines != [] and
                    all(line["verdict"] in {word} | hidden for line in lines))
        if word == "accept-queue":
            deep = told.number(lines[0]["accept_queue"])
            bench.check(f"its depth was seen: {deep:.3g} of at most 6", 1 <= deep <= 6)
