/* SPDX-License-Identifier: MIT */
/* System calls that wait for sockets. /proc/PID/task/TID/syscall has the number of the call that a
 * thread sleeps in and its arguments; what a newer C library makes of select() is pselect6, and so
 * on, so several numbers are one way to wait. Numbers differ between machines, and some machines
 * have only the newer calls. */
#include "metrics/fingerprint_inner.h"

#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>

const char *const asleep_words[ASLEEP_COUNT] = {
    [ASLEEP_ELSEWHERE] = "", [ASLEEP_SELECT] = "select",   [ASLEEP_POLL] = "poll",
    [ASLEEP_EPOLL] = "epoll", [ASLEEP_RING] = "io_uring",  [ASLEEP_AIO] = "aio",
    [ASLEEP_ACCEPT] = "accept", [ASLEEP_RECV] = "recv",    [ASLEEP_SEND] = "send",
};

static const struct {
    long number;
    enum asleep_in in;
} calls[] = {
#ifdef SYS_select
    {SYS_select, ASLEEP_SELECT},
#endif
#ifdef SYS_poll
    {SYS_poll, ASLEEP_POLL},
#endif
#ifdef SYS_epoll_wait
    {SYS_epoll_wait, ASLEEP_EPOLL},
#endif
#ifdef SYS_epoll_pwait2
    {SYS_epoll_pwait2, ASLEEP_EPOLL},
#endif
#ifdef SYS_io_uring_enter
    {SYS_io_uring_enter, ASLEEP_RING},
#endif
    {SYS_pselect6, ASLEEP_SELECT},
    {SYS_ppoll, ASLEEP_POLL},
    {SYS_epoll_pwait, ASLEEP_EPOLL},
    {SYS_io_getevents, ASLEEP_AIO},
    {SYS_accept, ASLEEP_ACCEPT},
    {SYS_accept4, ASLEEP_ACCEPT},
    {SYS_read, ASLEEP_RECV},
    {SYS_readv, ASLEEP_RECV},
    {SYS_recvfrom, ASLEEP_RECV},
    {SYS_recvmsg, ASLEEP_RECV},
    {SYS_write, ASLEEP_SEND},
    {SYS_writev, ASLEEP_SEND},
    {SYS_sendto, ASLEEP_SEND},
    {SYS_sendmsg, ASLEEP_SEND},
};

bool asleep_parse(const char *text, struct asleep *out)
{
    long number;
    memset(out, 0, sizeof *out);
    if (sscanf(text, "%ld %lx %lx %lx", &number, &out->args[0], &out->args[1], &out->args[2]) < 1)
        return false; /* "running" */
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (calls[i].number == number)
            out->in = calls[i].in;
    return true;
}
