/* SPDX-License-Identifier: MIT */
/* What was measured: rows, each with a lineup, each pane of it with its samples. The runner's
 * thread appends, everybody else reads; both hold the session's lock (session_lock) for the
 * short time it takes. Rows and samples never move and are never freed before the session. */
#ifndef SESSION_ROWS_H
#define SESSION_ROWS_H

#include "load/workloads.h"
#include "metrics/fingerprint.h"
#include "metrics/metrics.h"
#include "metrics/stats.h"
#include "params/params.h"
#include "servers/io_models.h"

enum kept { KEPT_YES, KEPT_WARMUP, KEPT_BROKEN, KEPT_EXTRA };
extern const char *const kept_words[]; /* "yes", ... "extra": after the last asked for */

struct sample {
    int index;         /* round or repeat of this row, from 1; equal numbers pair across panes */
    enum kept kept;
    char time[40];     /* ISO 8601, when it ended */
    double elapsed_s;  /* since the session began */
    double interval_s; /* measured seconds; a repeat: its whole time */
    struct values values;
};

enum verdict {
    VERDICT_NONE,
#define VERDICT(id, ...) VERDICT_##id,
#include "session/verdicts.def"
#undef VERDICT
    VERDICT_COUNT
};
extern const char *const verdict_words[];    /* "", "skipped", "died", ... "ok" */
extern const char *const verdict_meanings[]; /* one clause each */
/* May figures of this class rank under the verdict, pace aside? */
bool verdict_holds(enum verdict v, enum metric_class class);
/* Does a row with this verdict end it? */
enum { ENDS_RAMP = 1, ENDS_SEARCH = 2 };
bool verdict_ends(enum verdict v, unsigned what);

#define SAMPLE_CHUNK 64

struct sample_chunk {
    struct sample_chunk *next;
    int count;
    struct sample samples[SAMPLE_CHUNK];
};

struct pane {
    char model[32];                /* id: a model of ours, or what a file said */
    const struct io_model *io;     /* NULL when the row came from a file of another build */
    int count;
    struct sample_chunk *first, *last;
    bool died, unsteady;           /* its server ended; the warm-up never became steady */
    bool silent;                   /* it answered nothing for so long that the ramp ended */
    enum verdict verdict;
    char reason[160];              /* one clause, "" when there is nothing to say */
    char workers[160];             /* what each of its workers did of the row; "" for one */
    char note[120];                /* what its passes could not measure, and why; "" */
    char no_kernel[40];            /* why its connections' kernel memory is not measured; "" */
    struct values whole;           /* latency over all of the kept part together; turns only */
    struct load_counts total;      /* what the load did over all of the row, warm-up included */
    struct fingerprint print;      /* what its server waits with */
    char wrong[80];                /* what was wrong with the first reply that was; "" */
};

enum row_state { ROW_RUNNING, ROW_DONE, ROW_STOPPED, ROW_DROPPED };

struct row {
    int number; /* from 1 in this session */
    const struct workload *workload;
    struct params params; /* resolved */
    const char *path;     /* between load and server: a word of row_paths */
    char claim[32];       /* name of the claim that it was measured for; "": none */
    int pane_count;
    struct pane panes[LINEUP_MAX];
    enum row_state state;
    int rounds; /* kept ones it is to have, where that is more than its parameters ask */
    int period; /* rows of different ones stand in no table together (session_apart) */
    struct row *next;
};

struct rows {
    struct row *first, *last;
    int count;
    int period; /* of those that are added */
};

extern const char *const row_paths[]; /* "loopback", "netns", "network", NULL */

struct row *rows_add(struct rows *r, const struct params *p, int pane_count);
void rows_free(struct rows *r);
const struct row *rows_numbered(const struct rows *r, int number); /* NULL: there is none */
struct sample *pane_add(struct pane *p);             /* zeroed, values cleared */
void pane_sort(struct pane *p);                      /* by index: pairs are found by walking */
const struct sample *pane_at(const struct pane *p, int i); /* NULL outside */
bool pane_honours(const struct pane *p,
                  enum param_id id);                 /* its model does as the parameter says */
int pane_kept(const struct pane *p);                 /* samples that count */
int row_kept(const struct row *r);                   /* the most that a pane of it has */
int row_last_index(const struct row *r);             /* of its samples; 0: it has none */
int row_asked(const struct row *r);                  /* samples or repeats that it is to have */
double row_round_s(const struct params *p, int panes); /* how long a round of turns is */

/* The figures of one metric over the kept samples of a pane (published rule, 95 %). Where the trim
 * would drop everything it leaves the middle one or two values, with no interval. FOLD_SUM: mean is
 * the sum, no interval. */
struct summary row_summary(const struct row *r, int pane, enum metric_id m);

/* Pane A over pane `pane` by rounds or repeats that both kept. Of a metric where more is better the
 * outcome is turned round, so that "cheaper" is always what one wants; it is withheld where
 * row_may_rank() says no. */
struct paired row_ratio(const struct row *r, int pane, enum metric_id m);

/* True when figures of this class may rank a pane beside others under its verdict. */
bool pane_may_rank(const struct row *r, int pane, enum metric_id m);

/* True when figures of this class may rank these two panes under their verdicts.
 * Otherwise the outcome is withheld. */
bool row_may_rank(const struct row *r, int pane, enum metric_id m);

/* True while there is no outcome yet: the row runs, one of these two has no verdict so far, and the
 * other's does not withhold. */
bool row_undecided(const struct row *r, int pane, enum metric_id m);

/* A single round with no warm-up: a place of a map. It is compared with others of its kind only. */
bool row_asks_one(const struct params *p);

/* Its models; NULL among them where a file names one that this build has not. */
struct lineup row_lineup(const struct row *r);

/* The same models in the same panes? */
bool row_same_lineup(const struct row *a, const struct row *b);

/* Does r stand in the table of `like`: the same workload over the same models in the same panes,
 * for the same claim or for none, in the same period? A dropped one stands in none. */
bool row_in_table(const struct row *r, const struct row *like);

/* Of a pane's connections, idle ones too, at their best in the kept samples; NaN: not known. */
struct reached {
    double made;            /* by this row */
    double connected;       /* with those that the row before left open */
    double served, never;   /* got a right reply; asked and never got one */
};
void row_reached(const struct row *r, int pane, struct reached *out);

/* Main metric of the row's workload; of a server of which only what the load sees is known the
 * first that could be measured. row_p99: response when paced, else latency. */
enum metric_id row_main(const struct row *r);
/* By what pane A and this one are compared: the main metric, but the cost where that is a rate that
 * may not rank, because it is the load that ended it. */
enum metric_id row_compared(const struct row *r, int pane);
enum metric_id row_p99(const struct row *r);

#endif
