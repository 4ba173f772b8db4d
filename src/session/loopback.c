/* SPDX-License-Identifier: MIT */
/* Most of it makes models look alike: what all of them pay more for here stands on both sides of a
 * ratio. */
#include "session/loopback.h"

const struct loopback_point loopback_points[LOOPBACK_COUNT] = {
    [LOOPBACK_NETWORK] = {"network", "There is none: no interrupt, no loss, no distance."},
    [LOOPBACK_SEND] = {"send",
                       "Who sends runs the receiver's half of TCP too, so a server's write "
                       "contains the client's receive path. It is the same for every model: "
                       "differences in microseconds hold, ratios come out nearer to 1 than "
                       "they are."},
    [LOOPBACK_WAKE] = {"waking",
                       "Who sends to a sleeper pays for waking it: a load that sleeps makes "
                       "the server dearer, and a server that sleeps the load."},
    [LOOPBACK_BATCH] = {"batches",
                        "A card hands over many packets at once, loopback each one alone: a "
                        "quiet server finds one event a wait, the worst case for select "
                        "and poll."},
    [LOOPBACK_CONNECT] = {"connecting",
                          "It is the client's work here: its connect() runs the server's "
                          "half of the handshake."},
    [LOOPBACK_BULK] = {"bulk", "It is copying memory."},
    [LOOPBACK_MEMORY] = {"memory", "RSS holds neither socket buffers nor epoll's items."},
    [LOOPBACK_CALL] = {"system calls", "Their price on this machine, which mitigations and "
                                       "virtualisation change, decides how much is won by making "
                                       "fewer."},
    [LOOPBACK_HOLDS] = {"carries over",
                        "Calls and looks a request, who pays for an idle connection, "
                        "the direction of large differences."},
    [LOOPBACK_FAILS] = {"does not", "Requests a second, microseconds, latency."},
};
