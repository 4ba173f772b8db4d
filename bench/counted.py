# SPDX-License-Identifier: MIT
"""What is counted, not timed, of each model: the memory of its server's process, and its system
calls. Needs no quiet machine."""
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

import rounds

READINESS = ("select", "select-wide", "poll", "epoll-lt", "epoll-et", "epoll-oneshot",
             "epoll-rearm", "uring-poll", "pool", "libevent", "libuv", "libev")
MODELS = (*READINESS, "uring", "blocking")
MB = 1e6

# --- memory ---------------------------------------------------------------------------------------

REQUEST = b"IODF" + bytes((0, 0, 0, 1, 0, 0, 4, 0)) + bytes(52)


def exchange(s, request=REQUEST, reply=1024):
    s.sendall(request)
    while reply > 0:
        got = len(s.recv(reply))
        if got == 0:
            raise rounds.Trouble("a server closed a connection")
        reply -= got


def get(s):
    """Of a bare program: its head is of 67 bytes."""
    exchange(s, b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", 67 + 1024)


def rss(pid):
    """Resident memory of a process, and how much of it is mapped files: program and libraries."""
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as f:
        total = int(re.search(r"^Rss: +(\d+) kB", f.read(), re.M).group(1))
    with open(f"/proc/{pid}/status", encoding="utf-8") as f:
        files = int(re.search(r"^RssFile:\s+(\d+) kB", f.read(), re.M).group(1))
    return total * 1024, files * 1024


def held(bench, server, connections, active, ask=exchange):
    """RSS of a server with so many connections, of which some have asked three times; ends it."""
    clients, pid = [], (server.children() or server.pids())[0]
    time.sleep(0.2)  # the connection that tried whether it listens is gone
    before = len(os.listdir(f"/proc/{pid}/fd"))
    try:
        for _ in range(connections):
            clients.append(socket.create_connection(("127.0.0.1", server.port), timeout=20))
        for _ in range(3):
            for s in clients[:active]:
                ask(s)
        end = time.monotonic() + 20
        while len(os.listdir(f"/proc/{pid}/fd")) < before + connections:
            if time.monotonic() > end:
                raise rounds.Trouble(f"{server.name} did not accept {connections} connections")
            time.sleep(0.05)
        return rss(pid)
    finally:
        for s in clients:
            s.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            s.close()
        bench.stop()


def bar_of(model, connections):
    if model == "uring":
        return 12 * MB
    return 3 * MB + 64 * connections if model in READINESS else None


def cell(model, connections, got):
    bar, text = bar_of(model, connections), f"{got[0] / MB:6.2f}"
    if bar is None:
        return f"{text}  no bar"
    sign, word = ("<=", "reached") if got[0] <= bar else (">", "MISSED")
    return f"{text} {sign:>2} {bar / MB:5.2f} {word}"


def memory(bench):
    """Resident memory of each model's server process."""
    print("Resident memory of the server's process, in MB (10^6 bytes); fetch, 1 worker. Files:\n"
          "of that with no connection, program and libraries, which processes share. Each: what\n"
          "an idle connection adds. The library's own for each connection is some 170 bytes\n"
          "(libevent), 168 (libuv) and 64 (libev); iodash's is 64.\n")
    print(f"{'model':14} {'none':>6} {'files':>6}  {'1000 that ask':24} {'10 000 idle':24} each")
    for model in MODELS:
        none = held(bench, bench.ours(model, "fetch"), 0, 0)
        asking = held(bench, bench.ours(model, "fetch"), 1000, 1000)
        few = model in ("select", "blocking")
        idle = asking if few else held(bench, bench.ours(model, "fetch"), 10000, 10)
        each = (asking[0] - none[0]) / 1000 if few else (idle[0] - asking[0]) / 9000
        last = "-" if few else cell(model, 10000, idle)
        print(f"{model:14} {none[0] / MB:6.2f} {none[1] / MB:6.2f}  {cell(model, 1000, asking):24} "
              f"{last:24} {each:.0f} bytes", flush=True)
    print("\nThe same 10 000 held by bare programs on the libraries, which keep nothing "
          "themselves:\n")
    for library in ("libevent", "libuv", "libev"):
        server = bench.bare(f"bare_{library}_http")
        if server:
            idle = held(bench, server, 10000, 10, get)
            print(f"bare {library:9} {idle[0] / MB:6.2f}", flush=True)
    print()


# --- calls ----------------------------------------------------------------------------------------


def counted(pid, client, requests, report):
    """What strace counts in a process while one client asks so often."""
    with subprocess.Popen(["strace", "-f", "-c", "-o", report, "-p", pid], stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as trace:
        try:
            if "attached" not in trace.stderr.readline():
                raise rounds.Trouble("strace cannot attach")
            time.sleep(0.3)
            for _ in range(requests):
                exchange(client)
            time.sleep(0.1)
        finally:
            trace.send_signal(signal.SIGINT)
            trace.wait(timeout=10)
    lines = pathlib.Path(report).read_text(encoding="ascii").splitlines()
    rows = [line.split() for line in lines if re.match(r" *\d+\.\d+ ", line)]
    return {row[-1]: int(row[3]) / requests for row in rows if row[-1] != "total"}


def calls(bench):
    """System calls a request of each model, one connection, counted by strace."""
    if not shutil.which("strace"):
        print("strace is not installed (apt-get install strace): this part is left out\n")
        return
    print("System calls a request (strace -c, one connection in a closed loop, 2000 requests;\n"
          "below 0.01 left out). A clock that is read without a system call is not seen here:\n"
          "the test servers_calls counts those.\n")
    with tempfile.TemporaryDirectory() as folder:
        for model in MODELS:
            server = bench.ours(model, "fetch")
            with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                for _ in range(20):
                    exchange(client)
                got = counted(server.children()[0], client, 2000, f"{folder}/strace")
            bench.stop()
            print(f"{model:14} " + "  ".join(f"{name} {n:.2f}" for name, n in sorted(got.items())
                                             if n >= 0.01), flush=True)
    print()
