/* SPDX-License-Identifier: MIT */
/* Packet filters of this network namespace: each packet passes them, on loopback too, and the
 * sender pays. Thread: any. */
#ifndef NET_NETFILTER_H
#define NET_NETFILTER_H

/* Tables of nftables, iptables-nft's too; -EPERM where only root may ask, or another -errno. */
int netfilter_tables(void);

#endif
