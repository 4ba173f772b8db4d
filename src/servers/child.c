/* SPDX-License-Identifier: MIT */
/* main() of a server process: opens the header, listens and is the first worker. A signal tells it
 * of the lifeline's end, so that no thread has to wait for that. Nothing else runs here: its CPU is
 * the server's. Nothing is printed; what goes wrong is in the header. Sources: fcntl(2), "Managing
 * signals"; signal-safety(7). */
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fds.h"
#include "servers/crew.h"
#include "servers/place.h"

#define STOP_S 2

static struct crew crew; /* too large for a stack; the signal's handler needs it */

/* A model that does not leave its loop must not outlive its owner. */
static void stop(void)
{
    alarm(STOP_S);
    crew_stop(&crew);
}

/* The owner never writes: what can be read is the end of file. */
static void on_lifeline(int sig)
{
    struct pollfd p = {.fd = crew.shared->lifeline, .events = POLLIN};
    int before = errno;
    (void)sig;
    if (poll(&p, 1, 0) == 1 && p.revents & POLLIN)
        stop();
    errno = before;
}

/* The signal goes to this thread, because others may have descriptors of their own. It is asked for
 * before the owner is told: of one that ended too early for it the send knows. */
static int tell_ready(int lifeline, struct err *e)
{
    struct sigaction action = {.sa_handler = on_lifeline, .sa_flags = SA_RESTART};
    struct f_owner_ex owner = {F_OWNER_TID, gettid()};
    if (sigaction(SIGIO, &action, NULL) < 0 || fcntl(lifeline, F_SETOWN_EX, &owner) < 0 ||
        fcntl(lifeline, F_SETFL, O_ASYNC) < 0)
        return err_sys(e, "a signal at the end of the owner");
    return send(lifeline, "+", 1, MSG_NOSIGNAL) == 1 ? 0 : err_sys(e, "lifeline");
}

/* What only the start needed of program and libraries is no memory of the server's: pages that are
 * never written come back from the file when somebody needs them. */
static int give_back(struct dl_phdr_info *object, size_t size, void *arg)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    (void)size, (void)arg;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        if (p->p_type != PT_LOAD || p->p_flags & PF_W)
            continue;
        uintptr_t from = (object->dlpi_addr + p->p_vaddr) & ~(page - 1);
        madvise((void *)from, object->dlpi_addr + p->p_vaddr + p->p_memsz - from, MADV_DONTNEED);
    }
    return 0;
}

static int serve(struct shared *s, struct err *e)
{
    int rc = crew_init(&crew, s, e);
    if (rc == 0)
        rc = crew_listen(&crew, e);
    if (rc < 0)
        return rc;
    rc = crew_start(&crew, e);
    if (rc == 0) {
        dl_iterate_phdr(give_back, NULL);
        shared_set_state(s, SHARED_READY);
        rc = tell_ready(s->lifeline, e);
    }
    if (rc == 0)
        crew_work(&crew);
    stop();
    bool joined = crew_join(&crew, e);
    signal(SIGIO, SIG_IGN);
    alarm(0);
    return joined ? rc : -EIO;
}

int server_child_main(int argc, char **argv)
{
    struct shared *s;
    struct err e = {""};
    int fd = argc > 2 ? atoi(argv[2]) : -1;
    prctl(PR_SET_NAME, "iodash"); /* of /proc/self/exe it would be "exe" */
    if (fd < 3 || shared_open(fd, &s, &e) < 0)
        return 2;
    fds_keep_only((int[]){fd, s->lifeline}, 2);
    close(fd);
    int rc = serve(s, &e);
    crew_fini(&crew);
    if (rc < 0)
        shared_fail(s, &e);
    else
        shared_set_state(s, SHARED_STOPPED);
    shared_close(s);
    return rc < 0 ? 1 : 0;
}
