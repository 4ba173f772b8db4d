/* SPDX-License-Identifier: MIT */
/* A session: everything measured since launch, and the thread that measures. The same for the
 * dashboard and for `run`; it knows no terminal. Two threads: the runner (servers, load, turns,
 * samples at the edges) and the sampler (/proc/self/stat each second, always). Orders are taken
 * from any thread and carried out by the runner between two turns. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H

#include <time.h>

#include "base/cpus.h"
#include "session/environ.h"
#include "session/plan.h"
#include "session/rows.h"

struct session;

struct session_options {
    bool pin;
    bool forever; /* the dashboard: a finished row goes on (kept = extra) until the next order */
    bool prices;  /* measure what calls cost here, before the first row */
    const char *autosave; /* folder in which all that is measured is kept as it comes; NULL: none */
};

/* NULL with one line. session_free stops everything: servers, load, threads, within 2 s. */
struct session *session_new(const struct session_options *o, struct err *e);
void session_free(struct session *s);

/* A saved session, to be looked at: no thread, no load, orders do nothing. What was left out of the
 * file is said in note[], "" when nothing was. NULL with one line. */
struct session *session_open(const char *name, char note[200], struct err *e);

/* The file that it was opened from; NULL: it measures. */
const char *session_file(const struct session *s);

/* Of a saved one: shows the row of this number. False: there is none. */
bool session_show(struct session *s, int number);

/* --- orders (any thread, at once) ---------------------------------------------------------- */

/* Measure this from now on, instead of what runs. What is equal stays up and connected. */
void session_live(struct session *s, const struct plan_row *want);
/* Measure these rows (copied), then go on with the live row (forever) or end. Returns the plan's
 * number. */
unsigned session_plan(struct session *s, const struct plan *p);
void session_stop_plan(struct session *s); /* back to live; a row with under 3 kept is dropped */
void session_stop_plan_of(struct session *s, unsigned plan); /* only if it is still this one */
void session_load(struct session *s, bool on);
void session_more(struct session *s);      /* as many samples again for the running row */
void session_restart(struct session *s, int pane); /* a server that died */
/* This process was stopped, or is about to be: the round in progress is broken, the row goes on. */
void session_interrupted(struct session *s);
/* What was measured so far is over: a new period of rows begins, and no row goes on from it; a
 * running one begins anew. Returns the period that ended, or -ENODATA when nothing was kept in it:
 * then it goes on. */
int session_apart(struct session *s);
void session_stop(struct session *s);      /* end the running row and stop measuring */

/* Waits until nothing is left to do (never with forever) or timeout_ns passed; true when done. */
bool session_wait(struct session *s, uint64_t timeout_ns);

/* Waits until so many rows of the plan of that number are measured: 1 when they are, 0 when
 * timeout_ns passed before, -ECANCELED when that plan was stopped or another one ordered. */
int session_wait_rows(struct session *s, unsigned plan, int rows, uint64_t timeout_ns);

/* The thread that draws, for ui_cpu_pct: call from it once. */
void session_ui_thread(struct session *s);

/* --- reading -------------------------------------------------------------------------------- */

/* Rows may be read between these two; hold it for a millisecond, not more. */
void session_lock(struct session *s);
void session_unlock(struct session *s);
const struct rows *session_rows(const struct session *s); /* under the lock */

/* How many samples were measured so far (under the lock); and that the first so many stand in a
 * file of their own: their autosave is needed no more. SESSION_ALL: those to come, too. */
#define SESSION_ALL (~0ul)
unsigned long session_samples(const struct session *s);
void session_saved(struct session *s, unsigned long samples);

enum session_phase {
    PHASE_IDLE, PHASE_PRICES, PHASE_STARTING, PHASE_CONNECTING, PHASE_WARMUP, PHASE_MEASURING,
    PHASE_EXTRA, PHASE_OFF, PHASE_FAILED, PHASE_SAVED
};
extern const char *const session_phase_words[]; /* "idle", "pricing calls", ... */

#define TRACE_POINTS 600 /* last samples of a pane, whatever row they belong to, for graphs */

struct pane_now {
    bool alive;
    char trouble[160];   /* "killed by SIGKILL", "" when all is well */
    long established;
    unsigned long trace_pushed; /* samples ever traced: changes when there is a new one */
    int trace_count;     /* newest last */
    double trace_t_s[TRACE_POINTS]; /* elapsed_s of the session */
    struct values *trace;           /* trace_count of them, inside the snapshot's storage */
};

struct session_now {
    enum session_phase phase;
    int row_number;      /* running row, or the one that the load was turned off in; 0: none */
    int turn_pane;       /* whose turn it is, -1: nobody's */
    int taken, asked;    /* samples of the running row, kept */
    int plan_done, plan_count; /* 0 of 0: no plan */
    int plan_row;        /* last row of the plan that ended last, until another order; 0: none.
                          * One of claims leaves none: it is nobody's table */
    double plan_left_s;  /* with what is left of the running row */
    double row_left_s;   /* of the running one, about, until it has all that was asked for */
    char plan_title[80];
    bool load_on;
    double elapsed_s;
    char log[200];       /* the last thing worth saying */
    unsigned log_number; /* grows with each log line */
    struct cpu_plan cpus;
    double process_cpu_pct, ui_cpu_pct;          /* last second; NaN before */
    double servers_cpu_pct; /* all servers, last second */
    double others_pct, steal_pct; /* of the server's CPU, last second */
    double load_spare_pct;
    struct plan_row want;                        /* the live order in force */
    struct pane_now panes[LINEUP_MAX];
    struct load_watch watch[LINEUP_MAX]; /* of its running pass, else of its last: points only */
    int watch_pane;                      /* whose pass is running, -1: nobody's */
};

/* A copy of it, taken under the lock, into caller's storage made by session_now_new(). */
struct session_now *session_now_new(void);
void session_now_free(struct session_now *n);
void session_read(struct session *s, struct session_now *out);

/* Server pid of a pane, 0 when there is none; of several processes minus the one below which they
 * run. */
pid_t session_server_pid(struct session *s, int pane);

/* Its prices under the lock: they come a moment after the start. */
const struct environment *session_environment(const struct session *s);
const char *session_id(const struct session *s); /* "20261130-140601-12345" */

#endif
