/* SPDX-License-Identifier: MIT */
/* The rows of the protocol table, for protocols.c and the files that define them. */
#ifndef NET_PROTOCOLS_H
#define NET_PROTOCOLS_H

struct protocol;

extern const struct protocol protocol_fetch, protocol_echo, protocol_echo_suffix, protocol_discard,
    protocol_http, protocol_resp;

#endif
