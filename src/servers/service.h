/* SPDX-License-Identifier: MIT */
/* Between a model and a protocol: bytes in -> requests -> bytes due -> sent. No recv, no send, so
 * models that are told of readiness, models that are told of completions and threads that block all
 * use it the same way:
 *
 *   in = service_came(...)                          bytes arrived
 *   while ((n = service_next(w, c, &in, &bytes)) > 0)
 *       ... send them, now or later, in parts; service_sent(w, c, how many went)
 *   service_keep(c, &in)                            whenever it stops before all is used
 *
 * and in = service_resume(c) to go on after a keep. While a reply is due nothing of the input is
 * looked at; who reads no more meanwhile holds at most one buffer for a connection. */
#ifndef SERVERS_SERVICE_H
#define SERVERS_SERVICE_H

#include <sys/types.h>

#include "servers/worker.h"

struct input {
    const uint8_t *at;
    size_t n;
    bool stashed; /* lies in the connection's stash */
};

/* Copies what the connection kept (less than one request) to the front of buf, where the bytes that
 * come next are to be put behind it. Returns how many: below protocol->request_max. */
size_t service_prefix(const struct conn *c, uint8_t *buf);

/* The n bytes at buf, prefix included, are the connection's input now. */
struct input service_came(struct conn *c, const uint8_t *buf, size_t n);

/* For models that do not choose where bytes land: n bytes came somewhere. They are joined with what
 * was kept before, by copying only when something was. Also while a reply is due. */
struct input service_append(struct conn *c, const uint8_t *bytes, size_t n);

/* What was kept. */
struct input service_resume(const struct conn *c);

/* The next bytes to send: their number and where they are (until service_sent() has all of them, or
 * worker_drop()); 0: more input is needed; -EPROTO: what came is no request. */
ssize_t service_next(struct worker *w, struct conn *c, struct input *in, const uint8_t **bytes);

/* Whether nothing is to do once the n bytes that are due went out, but to count the reply and to
 * wait for the next request. */
bool service_ends(const struct worker *w, const struct conn *c, size_t n);

/* n of them were taken by the socket, not only queued for it: behind the last reply of a connection
 * this ends our half of it, and from then on what comes is swallowed. Counts bytes and whole
 * replies. */
void service_sent(struct worker *w, struct conn *c, size_t n);

/* Keeps the unused rest of the input until later; frees the stash when there is none. */
void service_keep(struct conn *c, const struct input *in);

/* Frees what the connection holds. */
void service_free(struct conn *c);

#endif
