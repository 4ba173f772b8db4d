/* SPDX-License-Identifier: MIT */
/* How many buffers? Bulk wants few, because they should stay in the CPU's cache: the kernel goes
 * round all of them. Many small requests at once want many, because a receive that finds none has
 * to be made again. So there is 1 MiB of them, and when they were too few although each held less
 * than a page, there are twice as many: memory that is not touched costs nothing. Source:
 * io_uring_register_buf_ring(3). */
#include "net/uring_buffers.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#define TOGETHER (1u << 20)
#define LEAST 4u
#define TOGETHER_GROWN (4u << 20) /* so that bulk that comes later is not too much either */
#define ROOM_LEAST 64u
#define ROOM_MOST 1024u
#define SMALL 4096u

static unsigned power_of_two(size_t n)
{
    unsigned p = 1;
    while (p * 2 <= n)
        p *= 2;
    return p;
}

static unsigned within(unsigned n, unsigned low, unsigned high)
{
    return n < low ? low : n > high ? high : n;
}

static void *map(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    /* A huge page would be memory for bytes that nobody touches. */
    madvise(p, bytes, MADV_NOHUGEPAGE);
    return p;
}

static void provide(struct uring_buffers *b, unsigned id, int offset)
{
    io_uring_buf_ring_add(b->ring, b->bytes + id * b->size, (unsigned)b->size, (unsigned short)id,
                          io_uring_buf_ring_mask(b->room), offset);
}

static void provide_up_to(struct uring_buffers *b, unsigned n)
{
    unsigned added = n - b->provided;
    for (unsigned i = 0; i < added; i++)
        provide(b, b->provided + i, (int)i);
    b->provided = n;
    io_uring_buf_ring_advance(b->ring, (int)added);
}

int uring_buffers_open(struct uring_buffers *b, struct io_uring *io, size_t size, struct err *e)
{
    *b = (struct uring_buffers){.size = size};
    b->room = within(power_of_two(TOGETHER_GROWN / size + 1), ROOM_LEAST, ROOM_MOST);
    b->ring = map(b->room * sizeof(struct io_uring_buf));
    b->bytes = map(b->room * size);
    if (!b->ring || !b->bytes)
        return err_sys(e, "memory for %u receive buffers", b->room);
    struct io_uring_buf_reg reg = {.ring_addr = (uintptr_t)b->ring,
                                   .ring_entries = b->room,
                                   .bgid = URING_GROUP};
    int rc = io_uring_register_buf_ring(io, &reg, 0);
    if (rc < 0)
        return err_set(e, -rc, "io_uring_register_buf_ring: %s", strerror(-rc));
    io_uring_buf_ring_init(b->ring);
    provide_up_to(b, within(power_of_two(TOGETHER / size + 1), LEAST, b->room));
    return 0;
}

void uring_buffers_close(struct uring_buffers *b)
{
    if (b->ring)
        munmap(b->ring, b->room * sizeof(struct io_uring_buf));
    if (b->bytes)
        munmap(b->bytes, b->room * b->size);
    *b = (struct uring_buffers){0};
}

void uring_buffers_return(struct uring_buffers *b, unsigned id)
{
    provide(b, id, 0);
    io_uring_buf_ring_advance(b->ring, 1);
}

void uring_buffers_short(struct uring_buffers *b)
{
    if (b->uses < b->provided)
        return;
    if (b->bytes_used / b->uses < SMALL && b->provided < b->room)
        provide_up_to(b, b->provided * 2);
    b->uses = b->bytes_used = 0;
}
