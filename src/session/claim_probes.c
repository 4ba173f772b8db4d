/* SPDX-License-Identifier: MIT */
/* Trials of what the kernel does, with sockets of this process; and of what a server of ours maps.
 * Each shows beside it that it can see what it looks for: memory that io_uring does share stands in
 * the same list, an event that is there is delivered. Sources: epoll(7), proc_pid_maps(5). */
#include "session/claim_probes.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "load/workloads.h"
#include "net/sock.h"
#include "params/params.h"
#include "servers/server.h"

/* --- a pair of sockets, one of them watched --------------------------------------------------- */

struct watched {
    int set, here, there; /* epoll's; the socket watched; its peer */
};

static void watched_close(struct watched *w)
{
    for (int i = 0; i < 3; i++) {
        int fd = (int[]){w->set, w->here, w->there}[i];
        if (fd >= 0)
            close(fd);
    }
}

static int watched_open(struct watched *w, unsigned events, struct err *e)
{
    int pair[2] = {-1, -1};
    struct epoll_event ev = {.events = events};
    int failed = socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair);
    *w = (struct watched){epoll_create1(EPOLL_CLOEXEC), pair[0], pair[1]};
    if (failed || w->set < 0 || epoll_ctl(w->set, EPOLL_CTL_ADD, w->here, &ev) < 0) {
        int code = err_sys(e, "watch a socket");
        watched_close(w);
        return code;
    }
    return 0;
}

/* Does a wait find anything? */
static bool finds(const struct watched *w)
{
    struct epoll_event ev;
    return epoll_wait(w->set, &ev, 1, 20) > 0;
}

static bool sends(const struct watched *w, size_t n)
{
    static const char bytes[64];
    return send(w->there, bytes, n, MSG_NOSIGNAL) == (ssize_t)n;
}

static void empty(const struct watched *w)
{
    char bytes[64];
    while (recv(w->here, bytes, sizeof bytes, 0) > 0)
        ;
}

/* --- close without delete --------------------------------------------------------------------- */

/* A watched socket with bytes in it is closed: is the set still told of it? With `copy` a second
 * descriptor holds the same socket open. */
static int told_after_close(bool copy, double *out, struct err *e)
{
    struct watched w;
    int status = watched_open(&w, EPOLLIN, e);
    if (status < 0)
        return status;
    int second = copy ? dup(w.here) : -1;
    bool seen = sends(&w, 8) && finds(&w);
    close(w.here);
    w.here = -1;
    *out = seen ? finds(&w) : NAN;
    if (second >= 0)
        close(second);
    watched_close(&w);
    return 0;
}

static int probe_close(double out[PROBE_FIGURES], struct err *e)
{
    int status = told_after_close(false, &out[0], e);
    return status < 0 ? status : told_after_close(true, &out[1], e);
}

/* --- edge-triggered, with and without MOD ----------------------------------------------------- */

#define EDGES 2000

/* The reader empties the socket after each event and does nothing else. */
static int lost_when_emptied(double *out, struct err *e)
{
    struct watched w;
    int status = watched_open(&w, EPOLLIN | EPOLLET, e);
    if (status < 0)
        return status;
    *out = 0;
    for (int i = 0; i < EDGES; i++) {
        *out += !(sends(&w, 8) && finds(&w));
        empty(&w);
    }
    watched_close(&w);
    return 0;
}

/* The reader leaves bytes behind: does the set tell of them again, after a MOD or without? */
static int lost_when_left(bool mod, double *out, struct err *e)
{
    struct watched w;
    struct epoll_event ev = {.events = EPOLLIN | EPOLLET};
    char bytes[4];
    int status = watched_open(&w, ev.events, e);
    if (status < 0)
        return status;
    bool seen = sends(&w, 8) && finds(&w) && recv(w.here, bytes, sizeof bytes, 0) == sizeof bytes;
    if (mod)
        epoll_ctl(w.set, EPOLL_CTL_MOD, w.here, &ev);
    *out = seen ? !finds(&w) : NAN;
    watched_close(&w);
    return 0;
}

static int probe_edge(double out[PROBE_FIGURES], struct err *e)
{
    int status = lost_when_emptied(&out[0], e);
    if (status == 0)
        status = lost_when_left(false, &out[1], e);
    return status < 0 ? status : lost_when_left(true, &out[2], e);
}

/* --- memory shared with the kernel ------------------------------------------------------------ */

static int count_maps(pid_t pid, const char *what, double *out, struct err *e)
{
    char path[64], line[512];
    snprintf(path, sizeof path, "/proc/%ld/maps", (long)pid);
    FILE *f = fopen(path, "re");
    if (!f)
        return err_sys(e, "read %s", path);
    for (*out = 0; fgets(line, sizeof line, f);)
        *out += strstr(line, what) != NULL;
    fclose(f);
    return 0;
}

/* Mappings of its kind in a server of this model that runs. */
static int maps_of(const char *model, const char *what, double *out, struct err *e)
{
    struct server_spec spec = {.model = io_model_table[io_model_find(model)], .cpu = -1};
    params_init(&spec.params);
    workload_resolve(&spec.params);
    net_addr_parse("127.0.0.1:0", true, &spec.listen, e);
    struct server *s = server_start(&spec, e);
    if (!s)
        return -ENODEV;
    int status = count_maps(server_pid(s), what, out, e);
    server_stop(s);
    return status;
}

static int may_be_mapped(double *out, struct err *e)
{
    int set = epoll_create1(EPOLL_CLOEXEC);
    if (set < 0)
        return err_sys(e, "epoll_create1");
    void *at = mmap(NULL, 4096, PROT_READ, MAP_SHARED, set, 0);
    *out = at != MAP_FAILED;
    if (at != MAP_FAILED)
        munmap(at, 4096);
    close(set);
    return 0;
}

static int probe_maps(double out[PROBE_FIGURES], struct err *e)
{
    struct err ignored;
    int status = maps_of("epoll-lt", "eventpoll", &out[0], e);
    if (status == 0)
        status = may_be_mapped(&out[1], e);
    if (maps_of("uring", "io_uring", &out[2], &ignored) < 0)
        out[2] = NAN;
    return status;
}

const struct claim_probe claim_probes[] = {
    {"epoll_maps",
     {{"epoll_maps", "shared mappings of an epoll server", false},
      {"mmap_of_a_set", "its set can be mapped", true},
      {"io_uring_maps", "mappings of an io_uring server", false},
      {NULL, NULL, false}},
     probe_maps},
    {"epoll_close",
     {{"told_after_close", "told of it after the close", true},
      {"told_while_a_copy_is_open", "told of it while a copy is open", true},
      {NULL, NULL, false}},
     probe_close},
    {"epoll_edge",
     {{"lost_when_emptied", "lost of 2000 events, all bytes read", false},
      {"lost_when_left", "lost with bytes left unread", true},
      {"lost_when_left_and_mod", "the same after a MOD", true},
      {NULL, NULL, false}},
     probe_edge},
};
const int claim_probe_count = sizeof claim_probes / sizeof *claim_probes;
