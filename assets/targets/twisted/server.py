# SPDX-License-Identifier: MIT
"""A server on Twisted: one process, one thread, the reactor that Twisted takes by itself.
   python3 server.py PORT SIZE echo|http
echo sends back what came. http answers each request (no body is looked for) with SIZE bytes."""
import sys

from twisted.internet import protocol, reactor

HEAD_MOST = 65536


class Echo(protocol.Protocol):
    def dataReceived(self, data):
        self.transport.write(data)


class Http(protocol.Protocol):
    reply = b""

    def __init__(self):
        self.head = b""

    def dataReceived(self, data):
        *whole, self.head = (self.head + data).split(b"\r\n\r\n")
        for _ in whole:
            self.transport.write(self.reply)
        if len(self.head) > HEAD_MOST:
            self.transport.abortConnection()


def main():
    if len(sys.argv) != 4 or sys.argv[3] not in ("echo", "http"):
        sys.exit(__doc__)
    port, size, what = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    Http.reply = (b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % size
                  + b"x" * size)
    factory = protocol.Factory.forProtocol(Echo if what == "echo" else Http)
    reactor.listenTCP(port, factory, interface="127.0.0.1")
    reactor.run()


main()
