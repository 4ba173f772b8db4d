/* SPDX-License-Identifier: MIT */
/* Setting a ring up, from the best flags down. DEFER_TASKRUN (Linux 6.1) runs what a completion
 * needs only inside our own wait, so that nothing interrupts the loop and completions come in
 * batches; it needs SINGLE_ISSUER. COOP_TASKRUN (5.19) at least sends no interrupt. A kernel
 * without one answers EINVAL. liburing returns the error and leaves errno alone. Closing the ring
 * would cancel what is in flight too, but later, on a thread of the kernel, which holds our sockets
 * (and so our port) until then: hence the cancel before, each by its tag, because a cancel of any
 * or by descriptor searches all. Sources: io_uring_setup(2),
 * io_uring_enter(2), io_uring_prep_cancel(3). */
#include "net/uring.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "net/uring_buffers.h"
#include "net/uring_probe.h"

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

/* A kernel before 5.19 knows neither kind of task work nor a flag that says that some is due. */
static unsigned wanted_flags(unsigned kind, unsigned how)
{
    unsigned flags = kind | IORING_SETUP_CQSIZE | (kind ? IORING_SETUP_SUBMIT_ALL : 0);
    if (how & URING_LATER)
        flags |= IORING_SETUP_R_DISABLED;
    if (how & URING_PEEKS && kind)
        flags |= IORING_SETUP_TASKRUN_FLAG;
    return flags;
}

/* Saves looking the descriptor up at each call; fine without. */
static void register_ring(struct uring *r)
{
    r->registered = io_uring_register_ring_fd(&r->io) == 1;
}

int uring_open(struct uring *r, unsigned how, struct err *e)
{
    static const unsigned kinds[] = {
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN,
        IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_COOP_TASKRUN,
        IORING_SETUP_COOP_TASKRUN,
        0,
    };
    int rc = -EINVAL;
    *r = (struct uring){0};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && rc == -EINVAL; i++) {
        struct io_uring_params p = {.cq_entries = URING_BATCH};
        r->flags = p.flags = wanted_flags(kinds[i], how);
        rc = io_uring_queue_init_params(URING_REQUESTS, &r->io, &p);
    }
    if (rc < 0)
        return refused(-rc, e);
    r->open = true;
    if (!(how & URING_LATER))
        register_ring(r);
    return 0;
}

/* By the bare call: not every liburing exports its function for it. */
void uring_enable(struct uring *r)
{
    syscall(__NR_io_uring_register, r->io.ring_fd, IORING_REGISTER_ENABLE_RINGS, NULL, 0);
    r->io.flags &= ~IORING_SETUP_R_DISABLED;
    register_ring(r);
}

void uring_watch_wake(struct uring *r, int wake, bool again)
{
    struct io_uring_sqe *sqe = uring_request(r);
    if (again)
        io_uring_prep_poll_multishot(sqe, wake, POLLIN);
    else
        io_uring_prep_poll_add(sqe, wake, POLLIN);
    io_uring_sqe_set_data64(sqe, uring_tag(URING_WAKE, wake, 0));
    r->wake = wake;
}

/* The last completion of a request that is counted as in flight. */
static bool is_last(const struct io_uring_cqe *cqe)
{
    enum uring_op op = uring_op_of(cqe);
    return !(cqe->flags & IORING_CQE_F_MORE) && op != URING_QUIET && op != URING_CANCEL;
}

void uring_drain(struct uring *r)
{
    if (r->wake > 0)
        uring_cancel(r, uring_tag(URING_WAKE, r->wake, 0));
    r->wake = 0;
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
    if (r->registered)
        io_uring_unregister_ring_fd(&r->io);
    r->registered = false;
}

void uring_close(struct uring *r)
{
    if (!r->open)
        return;
    uring_drain(r);
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

void uring_receive(struct uring *r, int fd, uint64_t tag)
{
    struct io_uring_sqe *sqe = uring_request(r);
    io_uring_prep_recv_multishot(sqe, fd, NULL, 0, 0);
    sqe->flags |= IOSQE_BUFFER_SELECT;
    sqe->buf_group = URING_GROUP;
    io_uring_sqe_set_data64(sqe, tag);
}

void uring_cancel(struct uring *r, uint64_t tag)
{
    struct io_uring_sqe *sqe = uring_request(r);
    io_uring_prep_cancel64(sqe, tag, 0);
    io_uring_sqe_set_data64(sqe, uring_tag(URING_CANCEL, 0, 0));
    uring_make_quiet(r, sqe);
}

static int enter(struct uring *r, unsigned wanted, uint64_t timeout_ns)
{
    struct io_uring_cqe *first;
    struct __kernel_timespec t;
    if (wanted == 0)
        return io_uring_submit_and_get_events(&r->io);
    if (timeout_ns == UINT64_MAX)
        return io_uring_submit_and_wait(&r->io, wanted);
    t.tv_sec = (long long)(timeout_ns / NS_PER_S);
    t.tv_nsec = (long long)(timeout_ns % NS_PER_S);
    return io_uring_submit_and_wait_timeout(&r->io, &first, wanted, &t, NULL);
}

int uring_enter(struct uring *r, unsigned wanted, uint64_t timeout_ns, struct err *e)
{
    int rc = enter(r, wanted, timeout_ns);
    switch (-rc) {
    case EINTR: case ETIME: case EAGAIN: case EBUSY:
        return 0; /* what was not submitted stays for the next time */
    default:
        return rc >= 0 ? 0 : err_set(e, -rc, "io_uring_enter: %s", strerror(-rc));
    }
}

unsigned uring_collect(struct uring *r, struct io_uring_cqe **cqes, unsigned most)
{
    unsigned n = io_uring_peek_batch_cqe(&r->io, cqes, most);
    for (unsigned i = 0; i < n; i++)
        r->inflight -= is_last(cqes[i]);
    return n;
}

void uring_seen(struct uring *r, unsigned n)
{
    io_uring_cq_advance(&r->io, n);
}

bool uring_has_work(const struct uring *r)
{
    unsigned due = __atomic_load_n(r->io.sq.kflags, __ATOMIC_RELAXED);
    return io_uring_sq_ready(&r->io) > 0 || io_uring_cq_ready(&r->io) > 0 ||
           (due & (IORING_SQ_TASKRUN | IORING_SQ_CQ_OVERFLOW));
}

bool uring_saw_all(struct uring *r, unsigned n)
{
    return io_uring_sq_ready(&r->io) == 0 && io_uring_cq_ready(&r->io) == n &&
           !io_uring_cq_has_overflow(&r->io);
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
    int rc = uring_open(&r, 0, e);
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
    if (uring_open(&r, 0, NULL) == 0) {
        for (size_t i = 0; i < sizeof words / sizeof *words; i++)
            if (r.flags & words[i].flag && n < size)
                n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? " " : "", words[i].word);
        if (n == 0)
            snprintf(buf, size, "no flags");
    }
    uring_close(&r);
}
