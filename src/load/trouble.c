/* SPDX-License-Identifier: MIT */
/* What goes wrong with connections: the counter of an error, and its first cause as text. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/limits.h"
#include "load/engine.h"

_Atomic uint64_t *load_error_counter(struct load_counters *c, int code)
{
    switch (code) {
    case EMFILE:
    case ENFILE: return &c->errors_fd;
    case EADDRNOTAVAIL: return &c->errors_port;
    case ETIMEDOUT: return &c->errors_timeout;
    case ECONNRESET:
    case EPIPE: return &c->errors_reset;
    default: return &c->errors_refused;
    }
}

static void describe(int code, char *text, size_t size)
{
    if (code == EMFILE || code == ENFILE)
        snprintf(text, size, "no descriptor: %ld allowed", limits_nofile_soft());
    else if (code == EADDRNOTAVAIL)
        snprintf(text, size, "no local port: %ld an address", limits_local_ports());
    else if (code == ETIMEDOUT)
        snprintf(text, size, "connecting took too long");
    else
        snprintf(text, size, "connecting failed: %.90s", strerror(code));
}

void load_note_trouble(struct load *l, int code)
{
    pthread_mutex_lock(&l->lock);
    if (!l->trouble[0]) {
        describe(code, l->trouble, sizeof l->trouble);
        l->trouble_code = code;
    }
    pthread_mutex_unlock(&l->lock);
}

int load_trouble_code(const struct load *l)
{
    struct load *own = (struct load *)l;
    pthread_mutex_lock(&own->lock);
    int code = l->trouble[0] ? l->trouble_code : 0;
    pthread_mutex_unlock(&own->lock);
    return code;
}

const char *load_trouble(const struct load *l)
{
    struct load *own = (struct load *)l; /* the text is a cache of the owner's */
    long turned = atomic_load_explicit(&l->turned_away, memory_order_relaxed);
    pthread_mutex_lock(&own->lock);
    memcpy(own->said, l->trouble, sizeof own->said);
    pthread_mutex_unlock(&own->lock);
    if (!own->said[0] && turned > 0)
        snprintf(own->said, sizeof own->said, "the server closed %ld connection%s at once", turned,
                 turned == 1 ? "" : "s");
    return own->said;
}

void load_note_wrong(struct load *l, const struct proto_check *c, bool due)
{
    pthread_mutex_lock(&l->lock);
    if (!l->wrong[0] && !due)
        snprintf(l->wrong, sizeof l->wrong, "bytes that nobody asked for");
    else if (!l->wrong[0] && l->protocol->wrong)
        l->protocol->wrong(c, l->wrong, sizeof l->wrong);
    pthread_mutex_unlock(&l->lock);
}

const char *load_wrong(const struct load *l)
{
    struct load *own = (struct load *)l;
    pthread_mutex_lock(&own->lock);
    memcpy(own->said, l->wrong, sizeof l->wrong);
    pthread_mutex_unlock(&own->lock);
    return own->said;
}
