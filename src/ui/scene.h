/* SPDX-License-Identifier: MIT */
/* What the views draw: a copy of all they need of the session, taken in one go under its lock, so
 * that drawing holds no lock and a frozen picture is simply a scene that is not taken again.
 * Thread: the screen's. */
#ifndef UI_SCENE_H
#define UI_SCENE_H

#include "session/answers.h"
#include "session/bill.h"
#include "session/map.h"
#include "session/curves.h"
#include "session/same.h"
#include "session/session.h"
#include "session/table.h"

#define SMALL_ROWS 64
#define SMALL_CELLS 6

/* A row of the small table of the live view: figures of each pane, then the ratio. */
struct small_row {
    int number;  /* of the row; 0: published figures */
    double axis; /* value of the first column */
    double cell[LINEUP_MAX][SMALL_CELLS];
    struct paired ratio;
    bool withheld;
};

struct small_table {
    enum param_id axis; /* first column */
    int cells;          /* metrics of each pane */
    enum metric_id metric[SMALL_CELLS];
    enum metric_id ratio;
    int count;
    struct small_row row[SMALL_ROWS];
};

struct scene_pane {
    char model[32];
    const struct io_model *io;
    bool measured; /* figures below are those of the row shown */
    double main, beside;
    double before; /* the main figure in the period before the row's; NaN: none */
    char says[120]; /* the workload's sentence, "" when a figure of it is not measured */
    char waits[160]; /* the fingerprint of its server, "" before it is taken */
    int taken; /* samples of all kinds */
    struct summary main_summary;
    enum verdict verdict;
    char reason[160];
};

/* Figures that stand below a bill, best first. */
#define WHY_FACTS 25
extern const struct why_fact {
    enum metric_id metric;
    const char *name; /* "": the metric's title */
    bool less;        /* 100 less it, for each worker */
} why_facts[WHY_FACTS];

/* Why one row comes out as it does: pane A, and the one beside it. */
struct scene_why {
    int row;     /* its number, 0: nothing measured yet */
    int count;   /* 1 or 2 */
    int pane[2]; /* which ones they are */
    char model[2][32];
    const struct workload *workload;
    struct params params;
    struct bill bill[2];
    double fact[WHY_FACTS][2]; /* figures of why_facts[], NaN: not measured */
    struct same same;
    char workers[2 * 164]; /* what each of their workers did, "" for one */
    bool priced;
    double call_us; /* a bare system call */
    int rounds;
};

struct scene_curves {
    bool has, has_before;
    struct curves now, before;
    int row; /* number of the row that they are of */
    struct answer answer; /* of its table */
};

struct scene {
    struct session_now *now;
    struct plan_row shown;   /* what line 2 states: the live order, or the row of a plan */
    int row;                 /* number of the row that the figures are of, 0: none yet */
    int pane_count, against; /* against: the pane beside A */
    enum metric_id main, beside; /* beside: the tail of a request, else the second figure */
    struct scene_pane pane[LINEUP_MAX];
    struct answer answer, sweep;
    int sweep_rows; /* rows of the same table */
    struct small_table small;
    struct scene_why why;
    struct table table; /* whole; empty unless asked for; sweep is then the answer of its rows */
    bool has_table;
    int table_row; /* number of its row in focus */
    struct scene_curves curves;
    struct map map; /* only while it is looked at */
    bool has_map;
    const char *map_refused;       /* why there is none, "" */
    int map_missing, map_measured; /* places that can be measured and are not; that were */
    double map_seconds;            /* those that are missing take about so long */
    const struct environment *env;
    const char *file; /* of a saved session; NULL: it measures */
    const char *session;
    double mark[6]; /* what the rows looked like when last taken */
};

struct scene_wish {
    const struct plan_row *want; /* the order last given */
    int against;                 /* pane in focus */
    bool table;                  /* the whole table is on the screen, */
    int table_row; /* that of this row; 0: of a plan that has ended, else the running */
    bool explain;                /* the why view is on the screen */
    int why;                     /* number of the row to explain, 0: the one shown */
    bool anew;                   /* the order or the focus changed */
    const struct map_ask *map;   /* the map is on the screen: which; else NULL */
    bool curves;                 /* the curves view is on the screen, of */
    enum param_id axis;          /* PARAM_COUNT: the usual axis, */
    enum metric_id figure;       /* METRIC_COUNT: the main figure */
    int curves_row;              /* a row of them; 0: the one shown */
};

struct scene *scene_new(void);
void scene_free(struct scene *s);

/* Takes the present state, and the rows where they may have changed. */
void scene_take(struct scene *s, struct session *session, const struct scene_wish *w);

/* scene_curves.c: its part of a take; like: the row that the table would be of, NULL: none. */
void scene_take_curves(struct scene *s, const struct rows *rows, const struct row *like,
                       const struct scene_wish *w);
void scene_take_before(struct scene *s, const struct rows *rows, const struct row *like);
void scene_free_curves(struct scene_curves *c);

/* scene_map.c: takes the map, or drops it (NULL); under the session's lock. */
void scene_take_map(struct scene *s, const struct rows *rows, const struct map_ask *ask);

/* Does the bill show this line? */
bool scene_why_shows(const struct scene_why *w, int line);

/* True while rows of a plan are measured. */
bool scene_planning(const struct scene *s);

#endif
