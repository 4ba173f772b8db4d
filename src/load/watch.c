/* SPDX-License-Identifier: MIT */
/* The pass writes points, the screen copies them; both hold the watch's lock for that moment. */
#include "load/watch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define FIRST_STEP_NS (100 * NS_PER_US)

void load_watch_init(struct load_watch *w)
{
    memset(w, 0, sizeof *w);
    w->mutex = xcalloc(1, sizeof(pthread_mutex_t));
    pthread_mutex_init(w->mutex, NULL);
}

void load_watch_fini(struct load_watch *w)
{
    if (!w->mutex)
        return;
    pthread_mutex_destroy(w->mutex);
    free(w->mutex);
    w->mutex = NULL;
}

void load_watch_copy(struct load_watch *w, struct load_watch *out)
{
    pthread_mutex_lock(w->mutex);
    size_t n = (size_t)w->points * sizeof *w->x;
    out->points = w->points;
    memcpy(out->x, w->x, n);
    memcpy(out->series[0], w->series[0], n);
    memcpy(out->series[1], w->series[1], n);
    pthread_mutex_unlock(w->mutex);
}

void watcher_start(struct watcher *w, struct load_watch *watch, uint64_t start_ns)
{
    *w = (struct watcher){watch, start_ns, FIRST_STEP_NS, start_ns};
    if (!watch)
        return;
    pthread_mutex_lock(watch->mutex);
    watch->points = 0;
    pthread_mutex_unlock(watch->mutex);
}

static void halve(struct watcher *w)
{
    struct load_watch *p = w->watch;
    p->points /= 2;
    for (int i = 0; i < p->points; i++) {
        p->x[i] = p->x[2 * i];
        p->series[0][i] = p->series[0][2 * i];
        p->series[1][i] = p->series[1][2 * i];
    }
    w->step_ns *= 2;
}

void watcher_add(struct watcher *w, uint64_t now_ns, double a, double b)
{
    struct load_watch *p = w->watch;
    if (!p)
        return;
    pthread_mutex_lock(p->mutex);
    if (p->points == WATCH_POINTS)
        halve(w);
    p->x[p->points] = (double)(now_ns - w->start_ns) / 1e9;
    p->series[0][p->points] = a;
    p->series[1][p->points] = b;
    p->points++;
    pthread_mutex_unlock(p->mutex);
    w->next_ns = now_ns + w->step_ns;
}
