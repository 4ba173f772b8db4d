# SPDX-License-Identifier: MIT
"""Servers for the tests of `iodash load`: raw sockets, a thread a connection, manners by a function."""
import re
import socket
import threading


class Peer:
    """serve(connection, peer) has each connection; what it raises of the socket ends the connection."""

    def __init__(self, serve, host="127.0.0.1"):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.listener = socket.create_server((host, 0), family=family, backlog=256)
        self.port = self.listener.getsockname()[1]
        self.address = f"[{host}]:{self.port}" if ":" in host else f"{host}:{self.port}"
        self.serve, self.lock = serve, threading.Lock()
        self.accepted, self.requests, self.open = 0, [], []
        self.thread = threading.Thread(target=self.accept, daemon=True)
        self.thread.start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                self.accepted += 1
                self.open.append(connection)
            threading.Thread(target=self.one, args=(connection,), daemon=True).start()

    def one(self, connection):
        try:
            with connection:
                self.serve(connection, self)
        except OSError:
            pass

    def heads(self, connection):
        """The heads of the requests that come, each counted."""
        kept = b""
        while True:
            while b"\r\n\r\n" not in kept:
                part = connection.recv(65536)
                if not part:
                    return
                kept += part
            head, _, kept = kept.partition(b"\r\n\r\n")
            with self.lock:
                self.requests.append(head)
            yield head

    def stop(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        self.thread.join(5)


def always(reply, last=False):
    """The same reply to each request; last: and the end of the connection."""

    def serve(connection, peer):
        for _ in peer.heads(connection):
            connection.sendall(reply)
            if last:
                return

    return serve


def report(text):
    """What stands below the table of `iodash load`, by its first words."""
    found = dict(re.findall(r"^(latency|response|in all|connections|errors) +(.*)$", text, re.M))
    if "in all" in found:
        names = ("sent", "answered", "bytes", "made")
        found.update(zip(names, map(int, re.findall(r"\d+", found["in all"]))))
    return found
