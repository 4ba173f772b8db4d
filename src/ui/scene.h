/* SPDX-License-Identifier: MIT */
/* What the views draw: a copy of all they need of the session, taken in one go under its lock, so
 * that drawing holds no lock and a frozen picture is simply a scene that is not taken again.
 * Thread: the screen's. */
#ifndef UI_SCENE_H
#define UI_SCENE_H

#include "session/answers.h"
#include "session/session.h"
#include "session/table.h"

#define SMALL_ROWS 64
#define SMALL_CELLS 10

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
    char says[120]; /* the workload's sentence, "" when a figure of it is not measured */
    int taken; /* samples of all kinds */
    struct summary main_summary;
    enum verdict verdict;
    char reason[160];
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
    struct table table; /* whole; empty unless asked for */
    bool has_table;
    const struct environment *env;
    const char *session;
    double mark[6]; /* what the rows looked like when last taken */
};

struct scene_wish {
    const struct plan_row *want; /* the order last given */
    int against;                 /* pane in focus */
    bool table;                  /* the whole table is on the screen */
    bool anew;                   /* the order or the focus changed */
};

struct scene *scene_new(void);
void scene_free(struct scene *s);

/* Takes the present state, and the rows where they may have changed. */
void scene_take(struct scene *s, struct session *session, const struct scene_wish *w);

/* True while rows of a plan are measured. */
bool scene_planning(const struct scene *s);

#endif
