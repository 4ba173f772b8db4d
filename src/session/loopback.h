/* SPDX-License-Identifier: MIT */
/* What a measurement over loopback cannot show, point by point: one text for the README, the
 * help and the why view, whose figures name their point. */
#ifndef SESSION_LOOPBACK_H
#define SESSION_LOOPBACK_H

enum loopback {
    LOOPBACK_NETWORK, LOOPBACK_SEND, LOOPBACK_WAKE, LOOPBACK_BATCH, LOOPBACK_CONNECT, LOOPBACK_BULK,
    LOOPBACK_MEMORY, LOOPBACK_CALL, LOOPBACK_HOLDS, LOOPBACK_FAILS, LOOPBACK_COUNT
};

struct loopback_point {
    const char *name; /* a word or two */
    const char *text; /* one or two sentences */
};

extern const struct loopback_point loopback_points[LOOPBACK_COUNT];

#endif
