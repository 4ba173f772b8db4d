/* SPDX-License-Identifier: MIT */
/* The handle of a server. It owns the shared memory; how the server runs and ends is its
 * placement's. Counters are read straight out of shared memory, so reading costs no call and works
 * after the server's end. */
#include "servers/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "servers/place.h"
#include "servers/target.h"

static const struct placement *place_of(const struct server_spec *spec)
{
    if (spec->model->target)
        return spec->model->target->recipe ? &place_recipe : &place_target;
    bool inside = shared_count(spec->params.place, PLACE_PROCESS) == PLACE_INSIDE;
    return inside ? &place_inside : &place_process;
}

struct server *server_start(const struct server_spec *spec, struct err *e)
{
    struct err why = {""};
    int rc = io_model_probe(spec->model, &why);
    if (rc < 0) {
        err_set(e, -rc, "%s cannot run here: %s", spec->model->id, why.text);
        return NULL;
    }
    struct server *s = xcalloc(1, sizeof *s);
    s->spec = *spec;
    s->place = place_of(spec);
    rc = shared_new(spec, &s->shared, e);
    if (rc >= 0)
        rc = s->place->start(s, rc, e);
    if (rc < 0) {
        tree_free(s->tree);
        shared_close(s->shared);
        free(s);
        return NULL;
    }
    return s;
}

void server_stop(struct server *s)
{
    if (!s)
        return;
    s->place->stop(s);
    tree_free(s->tree);
    proc_file_close(&s->statm_file);
    for (int i = 0; i < THREADS_READ; i++)
        proc_thread_close(&s->thread_files[i]);
    shared_close(s->shared);
    free(s);
}

const struct io_model *server_model(const struct server *s)
{
    return s->spec.model;
}

void server_address(const struct server *s, struct net_addr *out)
{
    *out = s->spec.listen;
    net_addr_set_port(out, s->shared->port);
}

pid_t server_pid(const struct server *s)
{
    return s->pid;
}

bool server_alive(struct server *s, struct err *why)
{
    return s->place->alive(s, why);
}

bool server_counted(const struct server *s)
{
    return !s->spec.model->target;
}

void server_read(const struct server *s, struct server_counts *out)
{
    memset(out, 0, sizeof *out);
    for (int i = 0; i < s->shared->workers; i++)
        server_counts_add(out, &s->shared->counters[i]);
}

int server_workers(const struct server *s)
{
    return s->shared->workers;
}

void server_read_worker(const struct server *s, int worker, struct server_counts *out)
{
    memset(out, 0, sizeof *out);
    if (worker >= 0 && worker < s->shared->workers)
        server_counts_add(out, &s->shared->counters[worker]);
}

uint64_t server_troubles(const struct server *s, struct err *latest)
{
    uint64_t n = atomic_load_explicit(&s->shared->troubles, memory_order_acquire);
    if (n > 0 && latest)
        err_set(latest, EIO, "%.*s", SHARED_TEXT, s->shared->trouble[(n - 1) % SHARED_TROUBLES]);
    return n;
}

void server_gate(struct server *s, enum gate_word word)
{
    gate_set(&s->shared->gate, word);
}

void server_gate_read(const struct server *s, struct gate_reading *out)
{
    gate_read(&s->shared->gate, out);
    out->workers = server_workers(s);
}

int64_t server_cpu_ns(const struct server *s)
{
    return s->place->cpu_ns(s);
}

int64_t server_tick_ns(const struct server *s)
{
    if (s->tree)
        return tree_tick_ns(s->tree);
    return s->pid == getpid() ? -1 : proc_tick_ns(s->pid);
}

int64_t server_worker_cpu_ns(const struct server *s, int worker)
{
    return worker >= 0 && worker < s->shared->workers ? s->place->worker_cpu_ns(s, worker) : -1;
}

static void add_known(int64_t *sum, int64_t v)
{
    *sum = *sum < 0 || v < 0 ? -1 : *sum + v;
}

int server_stat(struct server *s, struct proc_stat *out)
{
    return s->tree ? tree_stat(s->tree, out) : proc_use_read(&s->statm_file, s->pid, out);
}

int64_t server_look(struct server *s)
{
    return s->tree ? tree_look(s->tree) : 0;
}

void server_extent(struct server *s, struct proc_extent *out)
{
    *out = (struct proc_extent){-1, -1, -1, -1};
    if (s->tree)
        tree_extent(s->tree, out);
    else if (s->place == &place_process)
        proc_extent_read(s->pid, out);
    /* Each of several workers has a descriptor table of its own; /proc shows the first thread's. */
    bool tables = !s->tree && !(s->spec.model->caps & (CAP_POOL | CAP_OWN_WORKERS));
    if (tables && s->shared->workers > 1)
        out->descriptors = -1;
}

int server_processes(const struct server *s, pid_t *out, int most)
{
    if (s->tree)
        return tree_pids(s->tree, out, most);
    if (!s->pid || most < 1)
        return 0;
    *out = s->pid;
    return 1;
}

pid_t server_root(const struct server *s)
{
    return !s->tree ? 0 : s->place == &place_recipe ? s->child.pid : s->pid;
}

bool server_pinned(const struct server *s)
{
    return s->spec.cpu >= 0 && s->place != &place_target;
}

void server_threads(struct server *s, struct proc_thread *out)
{
    if (s->tree) {
        tree_threads(s->tree, out);
        return;
    }
    bool few = s->shared->workers <= THREADS_READ && !s->spec.model->cpu_ns;
    *out = few ? (struct proc_thread){0, 0, 0} : (struct proc_thread){-1, -1, -1};
    for (int i = 0; i < s->shared->workers && few; i++) {
        struct proc_thread t;
        proc_thread_read(&s->thread_files[i], s->pid, atomic_load(&s->shared->tids[i]), &t);
        add_known(&out->sleeps, t.sleeps);
        add_known(&out->preempted, t.preempted);
        add_known(&out->run_wait_ns, t.run_wait_ns);
    }
}
