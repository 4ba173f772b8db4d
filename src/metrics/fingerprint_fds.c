/* SPDX-License-Identifier: MIT */
/* The descriptors of a process that is not ours, or of a thread that keeps its own. Their links in
 * /proc tell sockets from the rest; a duplicate that pidfd_getfd() lends answers what a listener's
 * queue holds and what is set on a connection. A set that is waited on stands in three places:
 * epoll's in the fdinfo of its descriptor, poll's and select's in the memory of the process, which
 * lies still while it sleeps. Lending costs some 3 us, so of thousands of connections only the
 * first are looked at. */
#include "metrics/fingerprint_inner.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/kcmp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/err.h"
#include "metrics/proc.h"

#define LENT_MOST 512   /* sockets of a process */
#define LENT_TRIED 4096 /* of its descriptors, when other kinds come first */

/* --- one socket ------------------------------------------------------------------------------- */

static int option(int fd, int level, int name)
{
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(fd, level, name, &value, &size) < 0 ? -1 : value;
}

static int port_of(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_storage room;
    } a = {0};
    socklen_t size = sizeof a;
    if (getsockname(fd, &a.any, &size) < 0)
        return -1;
    return ntohs(a.any.sa_family == AF_INET6 ? a.v6.sin6_port : a.v4.sin_port);
}

static void take_listener(int fd, unsigned long inode, struct sockets *s)
{
    struct tcp_info info;
    socklen_t size = sizeof info;
    for (int i = 0; i < s->listener_count; i++)
        if (s->listeners[i] == inode)
            return;
    if (s->listener_count == LISTENERS_MOST ||
        getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) < 0)
        return;
    s->listeners[s->listener_count++] = inode;
    if (s->backlog < (int)info.tcpi_sacked)
        s->backlog = (int)info.tcpi_sacked;
    s->queue = (s->queue < 0 ? 0 : s->queue) + (int)info.tcpi_unacked;
}

static enum fd_kind kind_of(int fd, unsigned long inode, struct sockets *s)
{
    int domain = option(fd, SOL_SOCKET, SO_DOMAIN);
    if ((domain != AF_INET && domain != AF_INET6) ||
        option(fd, SOL_SOCKET, SO_PROTOCOL) != IPPROTO_TCP)
        return FD_OTHER;
    bool ours = s->port == 0 || port_of(fd) == s->port;
    if (option(fd, SOL_SOCKET, SO_ACCEPTCONN) == 1) {
        if (ours)
            take_listener(fd, inode, s);
        return FD_LISTENER;
    }
    if (ours && option(fd, IPPROTO_TCP, TCP_NODELAY) == 1)
        s->nagle_off++;
    else if (ours)
        s->nagle_on++;
    return FD_CONNECTION;
}

/* --- all of a process ------------------------------------------------------------------------- */

/* PID/NAME, or that of the thread whose table it is. Returns buf. */
static char *path_of(const struct table *o, const char *name, char *buf, size_t size)
{
    if (o->tid == o->pid)
        snprintf(buf, size, "%s/%d/%s", proc_root(), o->pid, name);
    else
        snprintf(buf, size, "%s/%d/task/%d/%s", proc_root(), o->pid, o->tid, name);
    return buf;
}

struct scan {
    struct table *o;
    struct sockets *s;
    int pidfd, lent;
};

static void scan_socket(struct scan *c, int fd, unsigned long inode)
{
    if (c->pidfd < 0 || c->lent >= LENT_MOST)
        return;
    int lent = (int)syscall(SYS_pidfd_getfd, c->pidfd, fd, 0);
    if (lent < 0) {
        c->o->code = errno == EBADF ? c->o->code : -errno; /* closed meanwhile */
        return;
    }
    c->lent++;
    c->o->kinds[fd] = (uint8_t)kind_of(lent, inode, c->s);
    close(lent);
}

static void scan_link(struct scan *c, int folder, const char *name)
{
    char link[64], *end;
    unsigned long inode;
    long fd = strtol(name, &end, 10);
    ssize_t n = *end ? -1 : readlinkat(folder, name, link, sizeof link - 1);
    if (n < 0 || fd < 0 || fd >= FDS_SEEN)
        return;
    link[n] = '\0';
    if (sscanf(link, "socket:[%lu]", &inode) == 1) {
        scan_socket(c, (int)fd, inode);
        return;
    }
    c->o->kinds[fd] = strcmp(link, "anon_inode:[eventpoll]") == 0 ? FD_EPOLL : FD_OTHER;
    c->s->rings += strcmp(link, "anon_inode:[io_uring]") == 0;
}

/* A thread with a table of its own is reached by a pidfd of its own, where the kernel has such. */
static int open_pidfd(const struct table *o)
{
    return (int)syscall(SYS_pidfd_open, o->tid, o->tid == o->pid ? 0 : O_EXCL);
}

static void scan(struct table *o, struct sockets *s)
{
    char path[320];
    struct scan c = {o, s, open_pidfd(o), 0};
    DIR *folder = opendir(path_of(o, "fd", path, sizeof path));
    if (!folder)
        o->code = -errno;
    int left = LENT_TRIED;
    for (const struct dirent *d; folder && left-- && (d = readdir(folder));)
        scan_link(&c, dirfd(folder), d->d_name);
    if (folder)
        closedir(folder);
    if (c.pidfd >= 0)
        close(c.pidfd);
}

struct table *table_new(pid_t pid, pid_t tid, struct sockets *s)
{
    struct table *o = xcalloc(1, sizeof *o);
    o->pid = pid;
    o->tid = tid;
    scan(o, s);
    return o;
}

/* Not to be known: taken for so, as it nearly always is. */
bool table_shared(const struct table *t, pid_t tid)
{
    return t->tid == tid || syscall(SYS_kcmp, t->tid, tid, KCMP_FILES, 0, 0) <= 0;
}

bool table_same_file(const struct table *a, int fd_a, const struct table *b, int fd_b)
{
    return (a == b && fd_a == fd_b) ||
           syscall(SYS_kcmp, a->tid, b->tid, KCMP_FILE, fd_a, fd_b) == 0;
}

/* --- sets ------------------------------------------------------------------------------------- */

static void watch_epoll(const struct table *o, int set, struct watched *w);

/* An epoll set can be waited for as any descriptor can: who does so waits with epoll. The kernel
 * allows sets in sets, but no circle. */
static void watch(struct watched *w, const struct table *o, int fd, uint32_t events)
{
    enum fd_kind kind = fd >= 0 && fd < FDS_SEEN ? (enum fd_kind)o->kinds[fd] : FD_UNKNOWN;
    if (kind == FD_EPOLL) {
        watch_epoll(o, fd, w);
        return;
    }
    w->count++;
    w->sockets += kind != FD_OTHER;
    if (kind == FD_OTHER || kind == FD_LISTENER)
        return;
    w->shown++;
    w->edge += (events & EPOLLET) != 0;
    w->once += (events & EPOLLONESHOT) != 0;
}

static void watch_epoll(const struct table *o, int set, struct watched *w)
{
    char path[320], name[32], line[256];
    int fd;
    uint32_t events;
    snprintf(name, sizeof name, "fdinfo/%d", set);
    FILE *f = fopen(path_of(o, name, path, sizeof path), "re");
    w->known = f != NULL;
    w->epoll = true;
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "tfd: %d events: %" SCNx32, &fd, &events) == 2)
            watch(w, o, fd, events);
    if (f)
        fclose(f);
}

/* Memory of another process; NULL: not to be read. */
static void *borrow(pid_t pid, unsigned long at, size_t size)
{
    void *copy = xcalloc(1, size + 1);
    struct iovec here = {copy, size}, there = {(void *)at, size}; /* NOLINT: an address of theirs */
    if (process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)size)
        return copy;
    free(copy);
    return NULL;
}

static void watch_poll(const struct table *o, const struct asleep *a, struct watched *w)
{
    size_t n = a->args[1] < FDS_SEEN ? a->args[1] : FDS_SEEN;
    struct pollfd *set = borrow(o->pid, a->args[0], n * sizeof *set);
    for (size_t i = 0; set && i < n; i++)
        if (set[i].fd >= 0)
            watch(w, o, set[i].fd, 0);
    w->known = set != NULL;
    free(set);
}

static void watch_select(const struct table *o, const struct asleep *a, struct watched *w)
{
    size_t n = a->args[0] < FDS_SEEN ? a->args[0] : FDS_SEEN, bits = 8 * sizeof(unsigned long);
    unsigned long *set = borrow(o->pid, a->args[1], (n + bits - 1) / bits * sizeof *set);
    for (size_t i = 0; set && i < n; i++)
        if (set[i / bits] >> i % bits & 1)
            watch(w, o, (int)i, 0);
    w->known = set != NULL;
    free(set);
}

void table_watched(const struct table *o, const struct asleep *a, struct watched *out)
{
    *out = (struct watched){0};
    if (a->in == ASLEEP_EPOLL) {
        watch_epoll(o, (int)a->args[0], out);
    } else if (a->in == ASLEEP_POLL) {
        watch_poll(o, a, out);
    } else if (a->in == ASLEEP_SELECT) {
        watch_select(o, a, out);
    } else if (a->in >= ASLEEP_ACCEPT) {
        watch(out, o, (int)a->args[0], 0);
        out->known = true;
    }
}
