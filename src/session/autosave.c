/* SPDX-License-Identifier: MIT */
/* Lines are only appended, so a second costs as much after hours as at first: some samples are
 * copied under the session's lock (never more than a chunk), and made text and written without it,
 * by a thread that shares no CPU with the servers. It is not flushed to the disk: what was written
 * survives the death of the process, and no turn is disturbed by a disk. A row that is dropped is
 * cut off again; a verdict that changed is said in a line without a sample.
 *
 * The name says whose it is, a lock on the file that its owner lives. While all that was measured
 * stands in a file of its own, the name ends in ".saved", and nobody recovers it. */
#include "session/autosave.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/home.h"
#include "session/csv_write.h"
#include "session/inner.h"

#define LOOK_NS NS_PER_S
#define RETRY_NS (10 * NS_PER_S)

struct said { /* what the file says of a pane */
    int samples;
    bool verdict_said;
    enum verdict verdict;
    char reason[160];
};

struct place { /* of a row in the file */
    struct said pane[LINEUP_MAX];
};

struct batch { /* copied under the lock */
    const struct row *from;
    struct row row;
    int pane, count; /* count 0: its verdict alone */
    struct sample sample[SAMPLE_CHUNK];
};

struct autosave {
    struct session *s;
    char folder[512], path[2][640]; /* as long as it is needed, and as long as it is not */
    pthread_t thread;
    bool runs, failed;
    int fd;         /* -1: no file yet */
    int named;      /* which of the two names it has */
    off_t end;      /* of what is whole */
    off_t row_from; /* where the lines of the row written last begin */
    const struct row *last;
    uint64_t again_ns; /* after a failure */
    struct place *places;
    int count;
    struct batch batch;
};

/* --- what is new (under the lock) ------------------------------------------------------------ */

/* Rows of a session that measures are numbered from 1. */
static struct place *place_of(struct autosave *a, const struct row *r)
{
    if (r->number > a->count) {
        int room = 2 * r->number;
        a->places = xrealloc(a->places, (size_t)room, sizeof *a->places);
        memset(a->places + a->count, 0, (size_t)(room - a->count) * sizeof *a->places);
        a->count = room;
    }
    return &a->places[r->number - 1];
}

static bool verdict_new(const struct row *r, const struct said *said, int pane)
{
    const struct pane *p = &r->panes[pane];
    if (r->state == ROW_RUNNING || p->verdict == VERDICT_NONE)
        return false;
    return !said->verdict_said || said->verdict != p->verdict ||
           strcmp(said->reason, p->reason) != 0;
}

static void copy_samples(struct batch *b, const struct pane *p, int from)
{
    const struct sample_chunk *c = p->first;
    int skip = from;
    for (; c && skip >= c->count; c = c->next)
        skip -= c->count;
    for (; c && skip < c->count && b->count < SAMPLE_CHUNK; skip++)
        b->sample[b->count++] = c->samples[skip];
}

/* The next thing that the file does not have, into the batch. */
static bool find_new(struct autosave *a)
{
    for (const struct row *r = a->s->rows.first; r; r = r->next) {
        if (r->state == ROW_DROPPED || (r->state == ROW_RUNNING && row_kept(r) == 0))
            continue;
        struct place *at = place_of(a, r);
        for (int i = 0; i < r->pane_count; i++) {
            if (r->panes[i].count <= at->pane[i].samples && !verdict_new(r, &at->pane[i], i))
                continue;
            a->batch.from = r;
            a->batch.row = *r;
            a->batch.pane = i;
            a->batch.count = 0;
            copy_samples(&a->batch, &r->panes[i], at->pane[i].samples);
            return true;
        }
    }
    return false;
}

/* --- the file -------------------------------------------------------------------------------- */

static int failed(struct autosave *a, const char *what)
{
    int code = errno;
    if (!a->failed)
        session_log(a->s, "not kept for a crash: %s %s: %s", what, a->folder, strerror(code));
    a->failed = true;
    a->again_ns = clock_ns() + RETRY_NS;
    if (a->fd >= 0 && ftruncate(a->fd, a->end) < 0)
        a->again_ns = UINT64_MAX; /* half a line stands there: read as cut, but nothing after it */
    return -1;
}

static int write_text(struct autosave *a, const char *text, size_t n)
{
    off_t at = a->end;
    while (n > 0) {
        ssize_t done = pwrite(a->fd, text, n, at);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return failed(a, "write in");
        text += done;
        at += done;
        n -= (size_t)done;
    }
    a->end = at;
    return 0;
}

static int name_file(struct autosave *a, int named)
{
    if (a->named == named)
        return 0;
    if (rename(a->path[a->named], a->path[named]) < 0)
        return failed(a, "rename in");
    a->named = named;
    return 0;
}

static char *text_of(struct autosave *a, bool header, size_t *size)
{
    struct csv_session s = {&a->s->rows, &a->s->env, a->s->id};
    const struct batch *b = &a->batch;
    struct csv_sink to;
    char *text;
    FILE *f = open_memstream(&text, size);
    if (!f)
        die("out of memory for the autosave");
    csv_sink_init(&to, f);
    if (header)
        csv_sample_header(&to.sink);
    for (int i = 0; i < b->count && !header; i++)
        csv_sample_line(&to.sink, &s, &b->row, b->pane, &b->sample[i]);
    if (b->count == 0 && !header)
        csv_sample_line(&to.sink, &s, &b->row, b->pane, NULL);
    if (fclose(f) != 0)
        die("out of memory for the autosave");
    return text;
}

static int write_batch(struct autosave *a, bool header)
{
    size_t n;
    char *text = text_of(a, header, &n);
    int rc = write_text(a, text, n);
    free(text);
    return rc;
}

/* Made under a name that nobody recovers, locked, and only then named: no one meets it unlocked. */
static int make_file(struct autosave *a)
{
    char temp[640];
    struct err e = {""};
    if (home_make(a->folder, &e) < 0) {
        if (!a->failed)
            session_log(a->s, "not kept for a crash: %s", e.text);
        a->failed = true;
        a->again_ns = clock_ns() + RETRY_NS;
        return -1;
    }
    snprintf(temp, sizeof temp, "%s/.autosave-%s.tmp", a->folder, a->s->id);
    a->fd = open(temp, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (a->fd < 0)
        return failed(a, "make a file in");
    a->end = 0;
    if (flock(a->fd, LOCK_EX | LOCK_NB) == 0 && write_batch(a, true) == 0 &&
        renameat2(AT_FDCWD, temp, AT_FDCWD, a->path[0], RENAME_NOREPLACE) == 0)
        return 0;
    failed(a, "make a file in");
    unlink(temp);
    close(a->fd);
    a->fd = -1;
    return -1;
}

static void note_written(struct autosave *a, off_t from)
{
    const struct batch *b = &a->batch;
    const struct pane *p = &b->row.panes[b->pane];
    struct said *said = &a->places[b->row.number - 1].pane[b->pane];
    said->samples += b->count;
    said->verdict_said = true;
    said->verdict = p->verdict;
    memcpy(said->reason, p->reason, sizeof said->reason);
    if (a->last != b->from)
        a->row_from = from;
    a->last = b->from;
}

/* --- the thread ------------------------------------------------------------------------------ */

/* A row that was dropped after some of it was written: its lines are the last ones. */
static void cut_dropped(struct autosave *a, bool dropped)
{
    if (!dropped || a->fd < 0)
        return;
    if (ftruncate(a->fd, a->row_from) == 0)
        a->end = a->row_from;
    a->last = NULL;
}

static bool saved(const struct session *s)
{
    return s->saved >= s->samples;
}

/* Writes all that is new. */
static void look(struct autosave *a)
{
    struct session *s = a->s;
    bool more = clock_ns() >= a->again_ns;
    while (more) {
        pthread_mutex_lock(&s->lock);
        bool dropped = a->last && a->last->state == ROW_DROPPED, all_saved = saved(s);
        more = find_new(a);
        pthread_mutex_unlock(&s->lock);
        cut_dropped(a, dropped);
        if (a->fd >= 0 && name_file(a, all_saved) < 0)
            return;
        if (!more || (a->fd < 0 && make_file(a) < 0))
            return;
        off_t from = a->end;
        if (write_batch(a, false) < 0)
            return;
        note_written(a, from);
    }
}

static void *run(void *autosave)
{
    struct autosave *a = autosave;
    struct session *s = a->s;
    for (bool quit = false; !quit;) {
        struct timespec until = clock_timespec(clock_ns() + LOOK_NS);
        pthread_mutex_lock(&s->lock);
        if (!atomic_load(&s->quit)) /* an order may end a row: a good time, too */
            pthread_cond_timedwait(&s->changed, &s->lock, &until);
        quit = atomic_load(&s->quit);
        pthread_mutex_unlock(&s->lock);
        look(a);
    }
    return NULL;
}

struct autosave *autosave_start(struct session *s, const char *folder)
{
    struct autosave *a = xcalloc(1, sizeof *a);
    a->s = s;
    a->fd = -1;
    snprintf(a->folder, sizeof a->folder, "%s", folder);
    snprintf(a->path[0], sizeof a->path[0], "%s/autosave-%s.csv", a->folder, s->id);
    snprintf(a->path[1], sizeof a->path[1], "%s/autosave-%s.csv.saved", a->folder, s->id);
    errno = pthread_create(&a->thread, NULL, run, a);
    a->runs = errno == 0;
    if (!a->runs)
        failed(a, "start a thread for");
    return a;
}

void autosave_stop(struct autosave *a)
{
    if (!a)
        return;
    if (a->runs)
        pthread_join(a->thread, NULL);
    a->again_ns = 0;
    if (!saved(a->s))
        look(a); /* what the runner wrote while this thread ended */
    else if (a->fd >= 0)
        unlink(a->path[a->named]);
    if (a->fd >= 0)
        close(a->fd);
    free(a->places);
    free(a);
}
