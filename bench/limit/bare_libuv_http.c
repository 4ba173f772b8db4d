/* SPDX-License-Identifier: MIT */
/* What a person writes who wants the most of libuv: uv_tcp handles, one read buffer for all, and
 * uv_try_write, which sends at once and allocates nothing. One fixed reply of 1 KiB to every GET
 * that comes whole in one piece (from wrk each does); anything else closes the connection. Beside
 * it `iodash serve -m libuv`, which waits by uv_poll and calls recv and send itself.
 * Usage: bare_libuv_http PORT */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { BODY = 1024, BUFFER = 16384 };

static char reply[256 + BODY];
static uv_buf_t whole_reply;

static void need(int rc, const char *what)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "%s: %s\n", what, uv_strerror(rc));
    exit(1);
}

static void make_reply(void)
{
    int n = sprintf(reply,
                    "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n",
                    BODY);
    for (int i = 0; i < BODY; i++)
        reply[n + i] = (char)i;
    whole_reply = uv_buf_init(reply, (unsigned)(n + BODY));
}

static void on_closed(uv_handle_t *conn)
{
    free(conn);
}

static void give_buffer(uv_handle_t *conn, size_t size, uv_buf_t *out)
{
    static char in[BUFFER];
    (void)conn, (void)size;
    *out = uv_buf_init(in, sizeof in);
}

static void on_read(uv_stream_t *conn, ssize_t n, const uv_buf_t *in)
{
    if (n == 0)
        return;
    if (n > 4 && memcmp(in->base + n - 4, "\r\n\r\n", 4) == 0 &&
        uv_try_write(conn, &whole_reply, 1) == (int)whole_reply.len)
        return;
    uv_close((uv_handle_t *)conn, on_closed);
}

static void on_connection(uv_stream_t *listener, int status)
{
    uv_tcp_t *conn = malloc(sizeof *conn);
    need(conn ? status : UV_ENOMEM, "connection");
    need(uv_tcp_init(listener->loop, conn), "uv_tcp_init");
    need(uv_accept(listener, (uv_stream_t *)conn), "uv_accept");
    uv_tcp_nodelay(conn, 1);
    need(uv_read_start((uv_stream_t *)conn, give_buffer, on_read), "uv_read_start");
}

int main(int argc, char **argv)
{
    uv_tcp_t listener;
    struct sockaddr_in a;
    if (argc != 2)
        return fputs("usage: bare_libuv_http PORT\n", stderr), 2;
    signal(SIGPIPE, SIG_IGN);
    make_reply();
    need(uv_ip4_addr("127.0.0.1", atoi(argv[1]), &a), "address");
    need(uv_tcp_init(uv_default_loop(), &listener), "uv_tcp_init");
    need(uv_tcp_bind(&listener, (struct sockaddr *)&a, 0), "bind");
    need(uv_listen((uv_stream_t *)&listener, 1024, on_connection), "listen");
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
