/* SPDX-License-Identifier: MIT */
/* main() of a server process: opens the header, listens, runs the workers, and sleeps on the
 * lifeline until its owner closes it or ends. Nothing else runs here, so that its CPU is the
 * server's. Nothing is printed; what goes wrong is in the header. */
#include <errno.h>
#include <link.h>
#include <poll.h>
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

static void sleep_on(int lifeline, struct crew *c)
{
    struct pollfd p[2] = {{.fd = lifeline, .events = POLLIN}, {.fd = c->wake, .events = POLLIN}};
    while (!crew_stopping(c)) {
        if (poll(p, 2, -1) < 0 && errno == EINTR)
            continue;
        return;
    }
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

static int serve(struct crew *c, struct shared *s, struct err *e)
{
    int rc = crew_init(c, s, e);
    if (rc == 0)
        rc = crew_listen(c, e);
    if (rc < 0)
        return rc;
    rc = crew_start(c, e);
    if (rc == 0) {
        dl_iterate_phdr(give_back, NULL);
        shared_set_state(s, SHARED_READY);
        if (send(s->lifeline, "+", 1, MSG_NOSIGNAL) == 1)
            sleep_on(s->lifeline, c);
    }
    crew_stop(c);
    alarm(STOP_S); /* a model that does not leave its loop must not outlive its owner */
    bool joined = crew_join(c, e);
    alarm(0);
    return joined ? rc : -EIO;
}

int server_child_main(int argc, char **argv)
{
    static struct crew crew; /* too large for a stack */
    struct shared *s;
    struct err e = {""};
    int fd = argc > 2 ? atoi(argv[2]) : -1;
    prctl(PR_SET_NAME, "iodash"); /* of /proc/self/exe it would be "exe" */
    if (fd < 3 || shared_open(fd, &s, &e) < 0)
        return 2;
    fds_keep_only((int[]){fd, s->lifeline}, 2);
    close(fd);
    int rc = serve(&crew, s, &e);
    crew_fini(&crew);
    if (rc < 0)
        shared_fail(s, &e);
    else
        shared_set_state(s, SHARED_STOPPED);
    shared_close(s);
    return rc < 0 ? 1 : 0;
}
