/* SPDX-License-Identifier: MIT */
/* The least that a select server over `fetch` has to do: copy the set, wait, find the ready ones by
 * the words of the answer, one recv and one send each. No protocol layer, no counters, no partial
 * requests or replies (where they are not whole the connection is closed and the load says so); a
 * descriptor past FD_SETSIZE is refused. What `iodash serve -m select` costs beside it is what the
 * project's layers cost. Usage: tight_select_fetch PORT */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST = 64, WORD = 8 * sizeof(fd_mask), BUFFER = 16384, REPLY_MAX = 65536 };

static uint8_t pattern[REPLY_MAX + 256];
static fd_set watched;
static int top;

static _Noreturn void give_up(const char *what)
{
    perror(what);
    exit(1);
}

static int listen_on(const char *port)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 1024) < 0)
        give_up("listen");
    return fd;
}

static void accept_all(int listener)
{
    int one = 1;
    for (int fd; (fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        if (fd >= FD_SETSIZE) {
            close(fd);
            continue;
        }
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        FD_SET(fd, &watched);
        top = fd > top ? fd : top;
    }
}

static uint32_t get32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* One request: the size stands at 8, the low byte of the sequence at 23. */
static void serve(int fd, uint8_t *in)
{
    ssize_t n = recv(fd, in, BUFFER, 0);
    uint32_t size = n == REQUEST && memcmp(in, "IODF", 4) == 0 ? get32(in + 8) : 0;
    if (size > 0 && size <= REPLY_MAX &&
        send(fd, pattern + in[23], size, MSG_NOSIGNAL) == (ssize_t)size)
        return;
    close(fd);
    FD_CLR(fd, &watched);
    while (!FD_ISSET(top, &watched))
        top--;
}

int main(int argc, char **argv)
{
    static uint8_t in[BUFFER];
    if (argc != 2)
        return fputs("usage: tight_select_fetch PORT\n", stderr), 2;
    for (size_t i = 0; i < sizeof pattern; i++)
        pattern[i] = (uint8_t)i;
    int listener = listen_on(argv[1]);
    FD_SET(listener, &watched);
    top = listener;
    for (;;) {
        fd_set ready = watched;
        int words = top / (int)WORD + 1;
        if (select(top + 1, &ready, NULL, NULL, NULL) < 0)
            give_up("select");
        for (int i = 0; i < words; i++)
            for (unsigned long any = (unsigned long)ready.fds_bits[i]; any; any &= any - 1) {
                int fd = i * (int)WORD + __builtin_ctzl(any);
                if (fd == listener)
                    accept_all(listener);
                else
                    serve(fd, in);
            }
    }
}
