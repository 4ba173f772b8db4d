/* SPDX-License-Identifier: MIT */
/* Filling a load_watch from a pass: points at even steps, 100 at most. When they are full every
 * second one goes and the step doubles, so they cover whatever a pass lasts. */
#ifndef LOAD_WATCH_H
#define LOAD_WATCH_H

#include "load/load.h"

struct watcher {
    struct load_watch *watch; /* NULL: nobody watches */
    uint64_t start_ns, step_ns, next_ns;
};

/* Empties the points. */
void watcher_start(struct watcher *w, struct load_watch *watch, uint64_t start_ns);
static inline bool watcher_due(const struct watcher *w, uint64_t now_ns)
{
    return w->watch && now_ns >= w->next_ns;
}
/* One point: seconds since the start, and both series. */
void watcher_add(struct watcher *w, uint64_t now_ns, double a, double b);
static inline bool watcher_stopped(const struct watcher *w)
{
    return w->watch && atomic_load_explicit(&w->watch->stop, memory_order_relaxed);
}

#endif
