/* SPDX-License-Identifier: MIT */
/* Setting a ring up, from the best flags down. DEFER_TASKRUN (Linux 6.1) runs what a completion
 * needs only inside our own wait, so that nothing interrupts the loop and completions come in
 * batches; it needs SINGLE_ISSUER. COOP_TASKRUN (5.19) at least sends no interrupt. A kernel
 * without one answers EINVAL. liburing returns the error and leaves errno alone. Closing the ring
 * would cancel what is in flight too, but later, on a thread of the kernel, which holds our sockets
 * (and so our port) until then: hence the cancel before, each by its tag, because a cancel of any
 * or by descriptor searches all. Sources: io_uring_setup(2),
 * io_uring_enter(2), io_uring_prep_cancel(3). */
#include "servers/uring.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "base/clock.h"

#define SUBMISSIONS 1024
#define CLOSE_NS (500 * NS_PER_MS)

static const struct {
    unsigned flag;
    const char *word;
} words[] = {
    {IORING_SETUP_SINGLE_ISSUER, "SINGLE_ISSUER"},
    {IORING_SETUP_DEFER_TASKRUN, "DEFER_TASKRUN"},
    {IORING_SETUP_COOP_TASKRUN, "COOP_TASKRUN"},
};

/* --- why not ---------------------------------------------------------------------------------- */

static int disabled_by_sysctl(void)
{
    int level = 0;
    FILE *f = fopen("/proc/sys/kernel/io_uring_disabled", "re");
    if (!f)
        return 0;
    if (fscanf(f, "%d", &level) != 1)
        level = 0;
    fclose(f);
    return level;
}

static int refused(int code, struct err *e)
{
    struct rlimit memory;
    int level;
    switch (code) {
    case ENOSYS:
        return err_set(e, code, "io_uring: this kernel has none, or a filter hides it");
    case EPERM:
        level = disabled_by_sysctl();
        if (level > 0)
            return err_set(e, code, "io_uring is switched off (kernel.io_uring_disabled is %d)",
                           level);
        return err_set(e, code, "io_uring is forbidden here (by a seccomp filter or policy)");
    case ENOMEM:
        getrlimit(RLIMIT_MEMLOCK, &memory);
        return err_set(e, code, "io_uring gets no memory (limit of locked memory: %llu KiB)",
                       (unsigned long long)memory.rlim_cur / 1024);
    case EINVAL:
        return err_set(e, code, "io_uring of this kernel is too old or restricted: %s",
                       strerror(code));
    default:
        return err_set(e, code, "io_uring: %s", strerror(code));
    }
}

/* --- set up and closed ------------------------------------------------------------------------ */

int uring_open(struct uring *r, struct err *e)
{
    static const unsigned flags[] = {
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN,
        IORING_SETUP_COOP_TASKRUN,
        0,
    };
    int rc = -EINVAL;
    *r = (struct uring){0};
    for (size_t i = 0; i < sizeof flags / sizeof *flags && rc == -EINVAL; i++) {
        struct io_uring_params p = {.cq_entries = URING_BATCH};
        r->flags = flags[i];
        p.flags = flags[i] | IORING_SETUP_CQSIZE | (flags[i] ? IORING_SETUP_SUBMIT_ALL : 0);
        rc = io_uring_queue_init_params(SUBMISSIONS, &r->io, &p);
    }
    if (rc < 0)
        return refused(-rc, e);
    r->open = true;
    io_uring_register_ring_fd(&r->io); /* saves looking it up at each call; fine without */
    return 0;
}

void uring_watch_wake(struct worker *w, struct uring *r)
{
    struct io_uring_sqe *sqe = uring_request(r);
    io_uring_prep_poll_add(sqe, w->wake, POLLIN);
    io_uring_sqe_set_data64(sqe, uring_tag(URING_WAKE, w->wake, 0));
    r->wake = w->wake;
}

/* The last completion of a request that is counted as in flight. */
static bool is_last(const struct io_uring_cqe *cqe)
{
    enum uring_op op = uring_op_of(cqe);
    return !(cqe->flags & IORING_CQE_F_MORE) && op != URING_QUIET && op != URING_CANCEL;
}

void uring_close(struct uring *r)
{
    if (!r->open)
        return;
    if (r->wake > 0)
        uring_cancel(r, uring_tag(URING_WAKE, r->wake, 0));
    for (uint64_t end = clock_ns() + CLOSE_NS; r->inflight > 0 && clock_ns() < end;) {
        struct __kernel_timespec t = {.tv_nsec = 10 * (long long)NS_PER_MS};
        struct io_uring_cqe *cqe;
        unsigned head, n = 0;
        unsigned wanted = r->inflight < URING_BATCH ? r->inflight : URING_BATCH;
        io_uring_submit_and_wait_timeout(&r->io, &cqe, wanted, &t, NULL);
        io_uring_for_each_cqe(&r->io, head, cqe) {
            r->inflight -= is_last(cqe);
            n++;
        }
        io_uring_cq_advance(&r->io, n);
    }
    io_uring_queue_exit(&r->io);
    r->open = false;
}

/* --- requests and completions ----------------------------------------------------------------- */

struct io_uring_sqe *uring_request(struct uring *r)
{
    int rc = 0;
    for (int i = 0; i < 1000; i++) {
        struct io_uring_sqe *sqe = io_uring_get_sqe(&r->io);
        if (sqe) {
            r->queued++;
            r->inflight++;
            return sqe;
        }
        rc = io_uring_submit(&r->io);
    }
    die("io_uring takes no more requests: %s", strerror(rc < 0 ? -rc : EBUSY));
}

void uring_make_quiet(struct uring *r, struct io_uring_sqe *sqe)
{
    sqe->flags |= IOSQE_CQE_SKIP_SUCCESS;
    r->inflight--;
}

void uring_cancel(struct uring *r, uint64_t tag)
{
    struct io_uring_sqe *sqe = uring_request(r);
    io_uring_prep_cancel64(sqe, tag, 0);
    io_uring_sqe_set_data64(sqe, uring_tag(URING_CANCEL, 0, 0));
    uring_make_quiet(r, sqe);
}

static int enter(struct uring *r, unsigned wanted, int timeout_ms)
{
    struct io_uring_cqe *first;
    struct __kernel_timespec t;
    if (wanted == 0)
        return io_uring_submit_and_get_events(&r->io);
    if (timeout_ms < 0)
        return io_uring_submit_and_wait(&r->io, wanted);
    t.tv_sec = timeout_ms / 1000;
    t.tv_nsec = timeout_ms % 1000 * (long long)NS_PER_MS;
    return io_uring_submit_and_wait_timeout(&r->io, &first, wanted, &t, NULL);
}

int uring_wait(struct worker *w, struct uring *r, unsigned wanted, int timeout_ms, struct err *e)
{
    counter_add(&w->count->submissions, r->queued);
    r->queued = 0;
    int rc = enter(r, wanted, timeout_ms);
    if (wanted > 0)
        counter_add(&w->count->waits, 1);
    switch (-rc) {
    case EINTR: case ETIME: case EAGAIN: case EBUSY:
        return 0; /* what was not submitted stays for the next time */
    default:
        return rc >= 0 ? 0 : err_set(e, -rc, "io_uring_enter: %s", strerror(-rc));
    }
}

unsigned uring_take(struct worker *w, struct uring *r, struct io_uring_cqe **cqes)
{
    unsigned most = w->events < URING_BATCH ? (unsigned)w->events : URING_BATCH;
    unsigned n = io_uring_peek_batch_cqe(&r->io, cqes, most);
    for (unsigned i = 0; i < n; i++)
        r->inflight -= is_last(cqes[i]);
    counter_add(&w->count->events, n);
    counter_add(&w->count->looks, n);
    counter_add(&w->count->completions, n);
    return n;
}

void uring_seen(struct uring *r, unsigned n)
{
    io_uring_cq_advance(&r->io, n);
}

bool uring_saw_all(struct uring *r, unsigned n)
{
    return io_uring_sq_ready(&r->io) == 0 && io_uring_cq_ready(&r->io) == n &&
           !io_uring_cq_has_overflow(&r->io);
}

int uring_pause_ms(const struct worker *w)
{
    if (!w->accept_paused)
        return -1;
    uint64_t now = clock_ns();
    return now >= w->accept_again_ns ? 0 : (int)((w->accept_again_ns - now) / NS_PER_MS) + 1;
}

/* --- what this machine has -------------------------------------------------------------------- */

/* Multishot receives have no flag of their own; zero-copy sends came with the same kernel. */
static int check_receive(struct uring *r, struct err *e)
{
    struct io_uring_probe *p = io_uring_get_probe_ring(&r->io);
    bool has = p && io_uring_opcode_supported(p, IORING_OP_SEND_ZC);
    io_uring_free_probe(p);
    return has ? 0 : err_set(e, ENOSYS, "no multishot receive: needs Linux 6.0 or newer");
}

static int check_poll(struct uring *r, struct err *e)
{
    bool has = r->io.features & IORING_FEAT_RSRC_TAGS; /* of the same kernel, again */
    return has ? 0 : err_set(e, ENOSYS, "no multishot poll: needs Linux 5.13 or newer");
}

static int probe(_Atomic bool *known, int (*check)(struct uring *r, struct err *e), struct err *e)
{
    struct uring r;
    if (atomic_load(known))
        return 0;
    int rc = uring_open(&r, e);
    if (rc == 0)
        rc = check(&r, e);
    uring_close(&r);
    atomic_store(known, rc == 0);
    return rc;
}

int uring_probe(struct err *e)
{
    static _Atomic bool known;
    return probe(&known, check_receive, e);
}

int uring_poll_probe(struct err *e)
{
    static _Atomic bool known;
    return probe(&known, check_poll, e);
}

void uring_note(char *buf, size_t size)
{
    struct uring r;
    size_t n = 0;
    *buf = '\0';
    if (uring_open(&r, NULL) == 0) {
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (r.flags & words[i].flag && n < size)
                n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? " " : "", words[i].word);
        if (n == 0)
            snprintf(buf, size, "no flags");
    }
    uring_close(&r);
}
