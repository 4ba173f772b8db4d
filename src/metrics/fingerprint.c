/* SPDX-License-Identifier: MIT */
/* A thread that serves sockets and is parked sleeps in the call that it waits with. So each look
 * reads in which call every thread sleeps; what was seen most often counts, and what the call waits
 * for decides whether it is about sockets at all: programs have threads that sleep on a timer, a
 * pipe or a signal, by the same calls. */
#include "metrics/fingerprint.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/err.h"
#include "base/limits.h"
#include "metrics/diag.h"
#include "metrics/fingerprint_inner.h"
#include "metrics/proc.h"

#define THREADS_MOST 4096
#define OWNERS_MOST 256
#define TABLES_MOST 256
#define GROUPS_MOST 8
#define SETS_MOST 32

struct sleeper { /* a thread */
    pid_t pid, tid;
    uint8_t seen[ASLEEP_COUNT];
    struct asleep most; /* the wait that was seen most often; ASLEEP_ELSEWHERE: none */
};

struct set { /* an epoll set that was read: several threads may wait on it */
    const struct table *table;
    int fd;
    struct watched watched;
};

struct group {
    const char *word;
    int threads;
};

struct fingerprint_taking {
    pid_t *owners;
    struct sleeper *sleepers;
    int owner_count, count, cursor;
    struct table *tables[TABLES_MOST];
    int table_count;
    int threads, processes; /* by the last look */
    int refused;            /* -errno of reading a thread's call */
    pid_t refused_by;
    struct sockets sockets;
    struct set sets[SETS_MOST];
    int set_count, watched;
    bool watched_known;
    struct group groups[GROUPS_MOST];
    int group_count, waiting;
};

void fingerprint_none(struct fingerprint *out, const char *why)
{
    memset(out, 0, sizeof *out);
    out->taken = true;
#define X(id, help) out->id = -1;
    FINGERPRINT_COUNTS(X)
#undef X
    snprintf(out->unknown, sizeof out->unknown, "%s", why);
}

/* --- looks ------------------------------------------------------------------------------------ */

struct fingerprint_taking *fingerprint_begin(const pid_t *pids, int count, int port)
{
    struct fingerprint_taking *t = xcalloc(1, sizeof *t);
    t->owner_count = count < OWNERS_MOST ? count : OWNERS_MOST;
    t->owners = xcalloc((size_t)t->owner_count + 1, sizeof *t->owners);
    t->sleepers = xcalloc(THREADS_MOST, sizeof *t->sleepers);
    t->sockets = (struct sockets){.port = port, .backlog = -1, .queue = -1};
    for (int i = 0; i < t->owner_count; i++)
        t->owners[i] = pids[i];
    return t;
}

/* Threads come in the same order at each look, so the next one is mostly where the last was. */
static struct sleeper *find(struct fingerprint_taking *t, pid_t pid, pid_t tid)
{
    for (int i = 0; i < t->count; i++) {
        int at = (t->cursor + i) % t->count;
        if (t->sleepers[at].tid == tid && t->sleepers[at].pid == pid) {
            t->cursor = at + 1;
            return &t->sleepers[at];
        }
    }
    if (t->count == THREADS_MOST)
        return NULL;
    t->cursor = 0;
    t->sleepers[t->count] = (struct sleeper){.pid = pid, .tid = tid};
    return &t->sleepers[t->count++];
}

static void look_at(struct fingerprint_taking *t, pid_t pid, pid_t tid)
{
    char path[320], text[256];
    struct asleep now;
    snprintf(path, sizeof path, "%s/%d/task/%d/syscall", proc_root(), pid, tid);
    int n = limits_read_file(path, text, sizeof text);
    if (n < 0 && n != -ESRCH) {
        t->refused = n;
        t->refused_by = pid;
    }
    struct sleeper *s = find(t, pid, tid);
    if (n < 0 || !s || !asleep_parse(text, &now) || now.in == ASLEEP_ELSEWHERE)
        return;
    s->seen[now.in]++;
    if (s->seen[now.in] >= s->seen[s->most.in])
        s->most = now;
}

void fingerprint_look(struct fingerprint_taking *t)
{
    char path[320];
    t->threads = t->processes = 0;
    for (int i = 0; i < t->owner_count; i++) {
        int before = t->threads;
        snprintf(path, sizeof path, "%s/%d/task", proc_root(), t->owners[i]);
        DIR *folder = opendir(path);
        for (const struct dirent *d; folder && (d = readdir(folder));) {
            pid_t tid = atoi(d->d_name);
            if (tid <= 0)
                continue;
            t->threads++;
            look_at(t, t->owners[i], tid);
        }
        if (folder)
            closedir(folder);
        t->processes += t->threads > before;
    }
}

/* --- what they say together ------------------------------------------------------------------- */

static struct table *add_table(struct fingerprint_taking *t, pid_t pid, pid_t tid)
{
    return t->tables[t->table_count++] = table_new(pid, tid, &t->sockets);
}

/* The process's own, which is there already, or one that only this thread and its like have. */
static const struct table *table_of(struct fingerprint_taking *t, const struct sleeper *s)
{
    const struct table *main = NULL;
    for (int i = 0; i < t->table_count; i++) {
        if (t->tables[i]->pid == s->pid && table_shared(t->tables[i], s->tid))
            return t->tables[i];
        if (t->tables[i]->pid == s->pid && !main)
            main = t->tables[i];
    }
    return t->table_count < TABLES_MOST ? add_table(t, s->pid, s->tid) : main;
}

static const struct watched *known_set(const struct fingerprint_taking *t, const struct table *o,
                                       int fd)
{
    for (int i = 0; i < t->set_count; i++)
        if (table_same_file(t->sets[i].table, t->sets[i].fd, o, fd))
            return &t->sets[i].watched;
    return NULL;
}

static struct watched watched_by(struct fingerprint_taking *t, const struct sleeper *s)
{
    const struct table *o = table_of(t, s);
    bool shared = s->most.in == ASLEEP_EPOLL;
    int fd = (int)s->most.args[0];
    const struct watched *known = shared ? known_set(t, o, fd) : NULL;
    struct watched w;
    if (known)
        return *known;
    table_watched(o, &s->most, &w);
    if (w.sockets > 0) {
        t->watched += w.count;
        t->watched_known = true;
    }
    if (shared && t->set_count < SETS_MOST)
        t->sets[t->set_count++] = (struct set){o, fd, w};
    return w;
}

static const char *word_of(const struct sleeper *s, const struct watched *w)
{
    if (!w->epoll)
        return asleep_words[s->most.in];
    if (!w->known || w->shown == 0)
        return asleep_words[ASLEEP_EPOLL];
    if (2 * w->once > w->shown)
        return "epoll one-shot";
    return 2 * w->edge > w->shown ? "epoll edge" : "epoll level";
}

static void add(struct fingerprint_taking *t, const char *word)
{
    int i = 0;
    while (i < t->group_count && strcmp(t->groups[i].word, word) != 0)
        i++;
    if (i == GROUPS_MOST)
        return;
    t->groups[i].word = word;
    t->groups[i].threads++;
    t->group_count += i == t->group_count;
    t->waiting++;
}

/* A set with nothing but a listener in it does not tell how connections will be watched; others of
 * the same server do. */
static void fold_bare(struct fingerprint_taking *t)
{
    const char *bare = asleep_words[ASLEEP_EPOLL];
    struct group *to = NULL, *from = NULL;
    for (int i = 0; i < t->group_count; i++) {
        if (!strcmp(t->groups[i].word, bare))
            from = &t->groups[i];
        else if (!strncmp(t->groups[i].word, bare, strlen(bare)))
            to = &t->groups[i];
    }
    if (!to || !from)
        return;
    to->threads += from->threads;
    *from = t->groups[--t->group_count];
}

static int by_threads(const void *a, const void *b)
{
    const struct group *x = a, *y = b;
    return x->threads != y->threads ? y->threads - x->threads : strcmp(x->word, y->word);
}

static void gather(struct fingerprint_taking *t)
{
    for (int i = 0; i < t->owner_count; i++)
        add_table(t, t->owners[i], t->owners[i]);
    for (int i = 0; i < t->count; i++) {
        const struct sleeper *s = &t->sleepers[i];
        if (s->most.in == ASLEEP_ELSEWHERE)
            continue;
        struct watched w = watched_by(t, s);
        if (!w.known || w.sockets > 0)
            add(t, word_of(s, &w));
    }
    fold_bare(t);
    qsort(t->groups, (size_t)t->group_count, sizeof *t->groups, by_threads);
}

static void write_waits(const struct fingerprint_taking *t, struct fingerprint *out)
{
    for (int i = 0; i < t->group_count; i++) {
        size_t n = strlen(out->waits);
        snprintf(out->waits + n, sizeof out->waits - n, "%s%s", n ? " + " : "", t->groups[i].word);
    }
    out->waiting = t->group_count ? t->waiting : -1;
    out->watched = t->watched_known ? t->watched : -1;
}

/* Its sockets are where ours are; not to be seen: taken for so. */
static bool same_network(pid_t pid)
{
    char path[320];
    struct stat theirs, ours;
    snprintf(path, sizeof path, "%s/%d/ns/net", proc_root(), pid);
    return stat(path, &theirs) < 0 || stat("/proc/self/ns/net", &ours) < 0 ||
           theirs.st_ino == ours.st_ino;
}

static void write_sockets(struct fingerprint_taking *t, struct fingerprint *out)
{
    struct sockets *s = &t->sockets;
    struct listen_queue q;
    if (s->backlog < 0 && s->port && t->owner_count && same_network(t->owners[0]) &&
        diag_listener(s->port, &q)) {
        s->backlog = q.backlog;
        s->queue = q.waiting;
    }
    out->backlog = s->backlog;
    out->queue = s->queue;
    snprintf(out->nagle, sizeof out->nagle, "%s",
             s->nagle_on && s->nagle_off ? "some" : s->nagle_on ? "on" : s->nagle_off ? "off" : "");
}

static void write_refused(const struct fingerprint_taking *t, struct fingerprint *out)
{
    pid_t pid = t->refused_by;
    int code = t->refused;
    for (int i = 0; i < t->table_count && !code; i++) {
        code = t->tables[i]->code;
        pid = t->tables[i]->pid;
    }
    if (code == -EPERM || code == -EACCES)
        snprintf(out->unknown, sizeof out->unknown,
                 "this user may not look into process %d; root may", pid);
    else if (code)
        snprintf(out->unknown, sizeof out->unknown, "looking into process %d: %s", pid,
                 strerror(-code));
    else if (!t->threads)
        snprintf(out->unknown, sizeof out->unknown, "its process is gone");
    else if (!t->group_count)
        snprintf(out->unknown, sizeof out->unknown, "no thread of it was seen waiting for sockets");
}

void fingerprint_end(struct fingerprint_taking *t, struct fingerprint *out)
{
    fingerprint_none(out, "");
    gather(t);
    write_waits(t, out);
    write_sockets(t, out);
    write_refused(t, out);
    bool there = t->threads > 0;
    out->threads = there ? t->threads : -1;
    out->processes = there ? t->processes : -1;
    out->rings = there && !t->tables[0]->code ? t->sockets.rings : -1;
    for (int i = 0; i < t->table_count; i++)
        free(t->tables[i]);
    free(t->owners);
    free(t->sleepers);
    free(t);
}

/* --- words ------------------------------------------------------------------------------------ */

static void more(char *buf, size_t size, const char *text)
{
    size_t n = strlen(buf);
    snprintf(buf + n, size - n, ", %s", text);
}

static void say_threads(const struct fingerprint *f, char *buf, size_t size)
{
    char text[64];
    size_t n = strlen(buf);
    if (f->threads > 0 && f->waiting > 0 && f->waiting != f->threads)
        snprintf(buf + n, size - n, " in %d of %d threads", f->waiting, f->threads);
    else if (f->threads > 0)
        snprintf(buf + n, size - n, ", %d thread%s", f->threads, f->threads == 1 ? "" : "s");
    snprintf(text, sizeof text, "%d processes", f->processes);
    if (f->processes > 1)
        more(buf, size, text);
}

char *fingerprint_text(const struct fingerprint *f, char *buf, size_t size)
{
    char text[64];
    buf[0] = '\0';
    if (!f->taken)
        return buf;
    snprintf(buf, size, "%s", *f->waits ? f->waits : "waits unknown");
    say_threads(f, buf, size);
    if (f->queue > 0)
        snprintf(text, sizeof text, "backlog %d (%d in it)", f->backlog, f->queue);
    else
        snprintf(text, sizeof text, "backlog %d", f->backlog);
    if (f->backlog >= 0)
        more(buf, size, text);
    snprintf(text, sizeof text, "Nagle %.20s", f->nagle);
    if (*f->nagle)
        more(buf, size, text);
    if (*f->unknown && !*f->waits)
        more(buf, size, f->unknown);
    return buf;
}
