#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A server of HTTP in the hands of a keeper, with one bad habit: MODE PORT.

forks: two workers below a master; daemon: leaves its parent; crash: ends with 3 after some requests;
late: after some hundreds, by a signal; leaks: a descriptor a request; silent: never listens; stubborn: as
forks, and none heeds TERM; brackets, lines: with such a name in /proc; six: on ::1 alone. Any other mode:
one process with no bad habit."""
import ctypes
import os
import selectors
import signal
import socket
import sys
import time

NAMES = {"brackets": b"a) R 1 (2 b", "lines": b"a\nb\tc"}
LIFE_S = 600  # it does not outlive a test that was killed for longer
REPLY = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


def serve(listener, after):
    """One loop; after(n) once n requests are answered."""
    signal.alarm(LIFE_S)
    watch, served, kept = selectors.DefaultSelector(), 0, {}
    listener.setblocking(False)
    watch.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in watch.select():
            if key.fileobj is listener:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    continue
                watch.register(connection, selectors.EVENT_READ)
                continue
            connection = key.fileobj
            try:
                came = connection.recv(65536)
            except OSError:
                came = b""
            if not came:
                watch.unregister(connection)
                connection.close()
                continue
            kept[connection] = kept.get(connection, b"") + came
            while b"\r\n\r\n" in kept[connection]:
                _, _, kept[connection] = kept[connection].partition(b"\r\n\r\n")
                connection.sendall(REPLY)
                served += 1
                after(served)


def crash(served):
    if served == 20:
        print("the last thing it says", flush=True)
        os._exit(3)


def late(served):
    if served == 600:
        os.kill(os.getpid(), signal.SIGKILL)


def leak(_):
    os.dup(0)


def main(mode, port):
    print(mode, "on", port, flush=True)
    if mode == "silent":
        time.sleep(LIFE_S)
        return
    if mode == "daemon":
        if os.fork():
            os._exit(0)
        os.setsid()
        if os.fork():
            os._exit(0)
    if mode in NAMES:
        ctypes.CDLL(None).prctl(15, NAMES[mode], 0, 0, 0)  # PR_SET_NAME
    if mode == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    where, family = ("::1", socket.AF_INET6) if mode == "six" else ("127.0.0.1", socket.AF_INET)
    listener = socket.create_server((where, port), family=family, backlog=256)
    if mode in ("forks", "stubborn"):
        for _ in range(2):
            if os.fork() == 0:
                serve(listener, lambda n: None)
        time.sleep(LIFE_S)
        return
    serve(listener, {"crash": crash, "late": late, "leaks": leak}.get(mode, lambda n: None))


main(sys.argv[1], int(sys.argv[2]))
