/* SPDX-License-Identifier: MIT */
/* One question to the kernel over netlink: all listening TCP sockets. Of a listener the "receive
 * queue" is how many connections wait to be accepted, the "send queue" how many may; what it
 * dropped is counted in its memory figures. Source: sock_diag(7), linux/inet_diag.h. */
#include "metrics/diag.h"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct tally {
    int port, found;
    struct listen_queue sum;
};

static uint32_t drops_of(const struct nlmsghdr *h)
{
    const struct inet_diag_msg *m = NLMSG_DATA(h);
    const struct rtattr *a = (const void *)(m + 1);
    size_t left = NLMSG_PAYLOAD(h, sizeof *m);
    for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
        if (a->rta_type == INET_DIAG_SKMEMINFO &&
            RTA_PAYLOAD(a) > SK_MEMINFO_DROPS * sizeof(uint32_t))
            return ((const uint32_t *)RTA_DATA(a))[SK_MEMINFO_DROPS];
    return 0;
}

static void count(struct tally *t, const struct nlmsghdr *h)
{
    const struct inet_diag_msg *m = NLMSG_DATA(h);
    if (ntohs(m->id.idiag_sport) != t->port)
        return;
    t->found++;
    if (t->sum.backlog < (int)m->idiag_wqueue)
        t->sum.backlog = (int)m->idiag_wqueue;
    t->sum.waiting += (int)m->idiag_rqueue;
    t->sum.drops += drops_of(h);
}

static bool ask(int fd, int family)
{
    struct {
        struct nlmsghdr head;
        struct inet_diag_req_v2 ask;
    } q = {.head = {.nlmsg_len = sizeof q,
                    .nlmsg_type = SOCK_DIAG_BY_FAMILY,
                    .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
           .ask = {.sdiag_family = (uint8_t)family,
                   .sdiag_protocol = IPPROTO_TCP,
                   .idiag_ext = 1 << (INET_DIAG_SKMEMINFO - 1),
                   .idiag_states = 1u << TCP_LISTEN}};
    return send(fd, &q, sizeof q, 0) == sizeof q;
}

/* One read of the answer; false: it is over. */
static bool take(int fd, struct tally *t)
{
    char buf[16384] __attribute__((aligned(8)));
    ssize_t n = recv(fd, buf, sizeof buf, 0);
    size_t left = n > 0 ? (size_t)n : 0;
    bool more = left > 0;
    for (const struct nlmsghdr *h = (const void *)buf; NLMSG_OK(h, left); h = NLMSG_NEXT(h, left)) {
        if (h->nlmsg_type == NLMSG_DONE || h->nlmsg_type == NLMSG_ERROR)
            more = false;
        else
            count(t, h);
    }
    return more;
}

bool diag_listener(int port, struct listen_queue *out)
{
    static const int families[] = {AF_INET, AF_INET6};
    struct tally t = {.port = port};
    struct timeval most = {.tv_sec = 1};
    for (size_t i = 0; i < 2; i++) {
        int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
        if (fd < 0)
            return false;
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof most);
        for (bool more = ask(fd, families[i]); more;)
            more = take(fd, &t);
        close(fd);
    }
    *out = t.sum;
    if (!t.found)
        out->waiting = -1;
    return t.found > 0;
}
