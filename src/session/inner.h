/* SPDX-License-Identifier: MIT */
/* What the files of session/ share and nobody else sees. Who may touch what: fields are grouped by
 * owner. The runner is the only thread that measures; it takes the lock for the moment of an append
 * or a change of `now`, never while it waits for a server or a load. */
#ifndef SESSION_INNER_H
#define SESSION_INNER_H

#include <pthread.h>

#include "session/autosave.h"
#include "session/measure.h"
#include "session/rig.h"
#include "session/session.h"

struct trace { /* the last figures of a pane, for graphs; anew with another model or workload */
    const struct io_model *io;
    const struct workload *workload;
    unsigned long pushed, first;
    double t_s[TRACE_POINTS];
    struct values values[TRACE_POINTS];
};

struct session {
    /* frozen after start */
    struct session_options options;
    struct environment env; /* its prices under lock */
    char id[48];
    uint64_t t0_ns;
    struct cpu_plan cpus;
    int64_t mem_total;
    pthread_t runner, sampler;
    int threads; /* how many of the two run */
    struct autosave *autosave; /* NULL: none */
    char *file;                /* a saved session's; NULL: this one measures */

    /* atomic */
    _Atomic bool quit, has_ui;
    _Atomic unsigned orders; /* grows with each order that ends the running row */
    _Atomic int more; /* how often as many samples again were asked for */

    /* under lock */
    pthread_mutex_t lock;
    pthread_cond_t changed; /* an order came, or the runner has nothing left to do */
    struct rows rows;
    struct session_now now; /* all but elapsed_s, panes' traces and the watch of a running pass */
    struct trace traces[LINEUP_MAX];
    double row_began_s, left_at_s; /* of the running row; when now.row_left_s was worked out */
    unsigned long samples, saved;  /* measured; of those, in a file of their own */
    double saved_s;                /* the clock of a saved session */
    double rest_s;                 /* of the plan, the rows after this one */
    bool have_want, idle;
    bool resting; /* the live row ended by itself; only an order moves the runner */
    struct plan plan; /* rows copied; plan_next: the next one to run */
    int plan_next;
    unsigned plan_number; /* of the one ordered last */
    unsigned restart; /* panes asked to start again, as bits */
    clockid_t ui_clock;
    pid_t ui_tid, sampler_tid; /* 0: none (yet) */
    pid_t pids[LINEUP_MAX];

    /* the runner's own */
    struct prices taken[PRICES_TAKEN]; /* the last ones */
    int takings;
    uint64_t taken_ns; /* when the last one was over */
    struct rig rig;
    struct load_watch watch; /* has a lock of its own */
};

/* runner.c, sampler.c */
void *session_runner(void *session);
void *session_sampler(void *session);

/* runner.c: what each worker has done since the row began, into its panes. */
void session_split(struct session *s, struct row *row);

/* turns.c: measures one row of the rig until it has what it asked for, or an order came (the count
 * of orders differs from `seen`). Returns true when the row is complete. */
bool turns_run(struct session *s, struct row *row, unsigned seen);
/* passes.c: the same for a repeated workload. */
bool passes_run(struct session *s, struct row *row, unsigned seen);

/* session.c, for saved.c: what any session needs */
void session_base(struct session *s);

/* session.c, for the runner */
static inline int server_cpu(const struct session *s)
{
    return s->cpus.pinned ? s->cpus.server : -1;
}
double session_elapsed(const struct session *s);
void session_phase(struct session *s, enum session_phase phase);
void session_log(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool session_ordered(const struct session *s, unsigned seen);
/* Sleeps until t_ns; true when an order came first. */
bool session_sleep(struct session *s, uint64_t t_ns, unsigned seen);
/* Appends a sample to a pane and to its trace. */
void session_push(struct session *s, struct row *row, int pane, const struct sample *sample);
/* progress.c, under the lock: the figures of these panes go on, or begin anew; and how long the
 * running row will still take. */
void session_traces(struct session *s, const struct row *row);
void session_left(struct session *s, const struct row *row);
/* What is left now, into a copy of `now`. */
void session_count_down(const struct session *s, struct session_now *out);
/* Kept samples the row wants: its samples or repeats, what duration makes of them, and "more". */
int session_asked(const struct session *s, const struct row *row);
/* Pane's trouble line; NULL or "" when all is well. */
void session_trouble(struct session *s, int pane, bool alive, const char *text);
/* What ended a pane of the running row, its server's death or something else: into the row, the
 * pane's trouble line, and the log. */
void session_lost(struct session *s, struct row *row, int pane, bool died, const char *why);

#endif
