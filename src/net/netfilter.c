/* SPDX-License-Identifier: MIT */
/* Asked of the kernel over netlink (nfnetlink): one dump of the tables, of which only the number is
 * of interest. A kernel without nftables answers with an error. */
#include "net/netfilter.h"

#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { REPLIES = 64 };

static int ask(int fd)
{
    struct {
        struct nlmsghdr head;
        struct nfgenmsg nf;
    } m = {
        .head = {.nlmsg_len = sizeof m,
                 .nlmsg_type = NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_GETTABLE,
                 .nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP},
        .nf = {.nfgen_family = NFPROTO_UNSPEC, .version = NFNETLINK_V0},
    };
    struct timeval second = {.tv_sec = 1};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    return send(fd, &m, sizeof m, 0) < 0 ? -errno : 0;
}

/* NLMSG_OK() compares a signed with an unsigned length, which clang does not like. */
static bool is_whole(const struct nlmsghdr *h, int length)
{
    return length >= (int)sizeof *h && h->nlmsg_len >= sizeof *h &&
           h->nlmsg_len <= (unsigned)length;
}

/* Adds the tables of one reply; true when it was the last, with its error in *code. */
static bool take(const struct nlmsghdr *h, int length, int *tables, int *code)
{
    for (; is_whole(h, length); h = NLMSG_NEXT(h, length)) {
        if (h->nlmsg_type == NLMSG_DONE)
            return true;
        if (h->nlmsg_type == NLMSG_ERROR) {
            *code = ((const struct nlmsgerr *)NLMSG_DATA(h))->error;
            return true;
        }
        *tables += h->nlmsg_type == (NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWTABLE);
    }
    return false;
}

static int count(int fd)
{
    _Alignas(struct nlmsghdr) char buf[16384];
    int tables = 0, code = ask(fd);
    for (int i = 0; code == 0 && i < REPLIES; i++) {
        ssize_t n = recv(fd, buf, sizeof buf, 0);
        if (n < 0)
            return -errno;
        if (take((const struct nlmsghdr *)buf, (int)n, &tables, &code))
            break;
    }
    return code ? code : tables;
}

int netfilter_tables(void)
{
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER);
    if (fd < 0)
        return -errno;
    int n = count(fd);
    close(fd);
    return n;
}
