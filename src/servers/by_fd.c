/* SPDX-License-Identifier: MIT */
/* One mapping for all descriptors that there can be, so that nothing is allocated at an accept and
 * nothing freed at a close: a library that still looks at an element after its connection ended
 * looks at memory that is there. */
#include "servers/by_fd.h"

#include <sys/mman.h>

int by_fd_open(struct by_fd *t, int count, size_t element, struct err *e)
{
    *t = (struct by_fd){.element = element, .bytes = (size_t)count * element};
    void *p = mmap(NULL, t->bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return err_sys(e, "address space for %d watchers", count);
    t->at = p;
    return 0;
}

void by_fd_close(struct by_fd *t)
{
    if (t->at)
        munmap(t->at, t->bytes);
    *t = (struct by_fd){0};
}
