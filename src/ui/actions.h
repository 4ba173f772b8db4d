/* SPDX-License-Identifier: MIT */
/* What the commands do. Each takes the state and the argument of its row in the table. */
#ifndef UI_ACTIONS_H
#define UI_ACTIONS_H

#include "ui/app.h"

void act_view(struct app *a, int view);
void act_help(struct app *a, int arg);
void act_back(struct app *a, int esc); /* esc: stops a plan before anything else */
void act_quit(struct app *a, int arg);
void act_save(struct app *a, int arg);
void act_freeze(struct app *a, int arg);
void act_log_axis(struct app *a, int arg);
void act_more(struct app *a, int arg);
void act_model(struct app *a, int step); /* frozen: reads off instead */
void act_pane(struct app *a, int step);
void act_step(struct app *a, int direction);
void act_field(struct app *a, int param);
void act_enter(struct app *a, int arg); /* types the number in brackets */
void act_add_pane(struct app *a, int arg);
void act_drop_pane(struct app *a, int arg);
void act_load(struct app *a, int arg);
void act_restart(struct app *a, int arg);
void act_table_row(struct app *a, int step);
void act_table(struct app *a, int step);
void act_table_column(struct app *a, int step);
void act_table_enter(struct app *a, int arg);
void act_why_line(struct app *a, int step);
void act_explain(struct app *a,
                 int arg); /* goes to the why view; there: the line in focus, or not */
void act_scroll(struct app *a, int lines);

/* pickers.c */
void act_pick(struct app *a, int kind); /* opens a picker (enum picker_kind) */
void pickers_take(struct app *a);       /* the item chosen in it */

/* entry.c */
void entry_open(struct app *a);
void entry_key(struct app *a, int key);
void entry_draw(const struct app *a);

/* True, and said, while a plan runs: what would change the order has to wait. */
bool act_refused(struct app *a);

/* The workload in force has a use for this parameter. */
bool act_matters(const struct app *a, enum param_id id);

#endif
