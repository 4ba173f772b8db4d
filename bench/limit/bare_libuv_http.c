/* SPDX-License-Identifier: MIT */
/* What a person writes who wants the most of libuv: uv_tcp handles, one read buffer for all, and
 * uv_try_write, which sends at once and allocates nothing. Beside it `iodash serve -m libuv`, which
 * waits by uv_poll and calls recv and send itself.
 * Usage: bare_libuv_http PORT */
#include <signal.h>
#include <uv.h>

#include "bare_http.h"

static uv_buf_t whole_reply;

static void need(int rc, const char *what)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "%s: %s\n", what, uv_strerror(rc));
    exit(1);
}

static void on_closed(uv_handle_t *conn)
{
    free(conn);
}

static void give_buffer(uv_handle_t *conn, size_t size, uv_buf_t *out)
{
    (void)conn, (void)size;
    *out = uv_buf_init(bare_in, sizeof bare_in);
}

static void on_read(uv_stream_t *conn, ssize_t n, const uv_buf_t *in)
{
    if (n == 0)
        return;
    if (bare_is_whole(in->base, n) &&
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
    bare_make_reply();
    whole_reply = uv_buf_init(bare_reply, (unsigned)bare_reply_bytes);
    need(uv_ip4_addr("127.0.0.1", atoi(argv[1]), &a), "address");
    need(uv_tcp_init(uv_default_loop(), &listener), "uv_tcp_init");
    need(uv_tcp_bind(&listener, (struct sockaddr *)&a, 0), "bind");
    need(uv_listen((uv_stream_t *)&listener, 1024, on_connection), "listen");
    return uv_run(uv_default_loop(), UV_RUN_DEFAULT);
}
