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
void act_plus(struct app *a, int direction); /* + and -: of what is in focus */
void act_field(struct app *a, int param);
void act_enter(struct app *a, int arg); /* types the number in brackets */
void act_add_pane(struct app *a, int arg);
void act_drop_pane(struct app *a, int arg);
void act_load(struct app *a, int arg);
void act_restart(struct app *a, int arg);
void act_scroll(struct app *a, int lines);

/* actions_read.c: the table and why views */
void act_table_row(struct app *a, int step);
void act_table(struct app *a, int step);
void act_table_column(struct app *a, int step);
void act_table_enter(struct app *a, int arg);
void act_why_line(struct app *a, int step);
void act_explain(struct app *a, int arg); /* to the why view; there: the line in focus, or not */

/* saving.c: a setting for the next start, too; again: no longer */
void act_setting_keep(struct app *a, int arg);
/* The settings go into their file at once; when they cannot, it says why and returns false. */
bool settings_kept(struct app *a);

/* actions_look.c: what the mouse does, beside keys */
void act_focus(struct app *a, int pane);
void act_table_focus(struct app *a, int number); /* of the row */
void act_why_focus(struct app *a, int line);
void act_item(struct app *a, int item); /* of the picker */
void theme_list(struct app *a);         /* into the picker */
void theme_take(struct app *a, int value);
void theme_try(struct app *a, bool back); /* the one under the cursor; or the one before again */

/* actions_curves.c */
void act_curve_read(struct app *a, int step);
void act_curve_focus(struct app *a, int point);
void act_curve_other(struct app *a, int step);
void act_curve_axes(struct app *a, int arg);
void act_curve_enter(struct app *a, int arg);
void act_before(struct app *a, int arg); /* keeps what is measured as "before" */
void axes_list(struct app *a);           /* pickers of the curves view */
void axes_take(struct app *a, int value);
void curve_figures_list(struct app *a);
/* Measures the row of this number live. */
void act_row_live(struct app *a, int number);

/* actions_picture.c: pictures by gnuplot. */
void pictures_list(struct app *a);
void pictures_draw(struct app *a, int kind);
void picture_poll(struct app *a); /* says when one is drawn */
void picture_drop(struct app *a); /* waits for none */

/* actions_map.c */
void act_map_axes(struct app *a, const struct map_axes *axes); /* the map is over these */
void act_map_column(struct app *a, int step);
void act_map_row(struct app *a, int step);
void act_map_focus(struct app *a, int place); /* counted line by line */
void act_map_enter(struct app *a, int arg); /* measures the place in focus live */
void act_map_more(struct app *a, int arg);  /* the places that are missing, else more rounds */
void act_map_figures(struct app *a);        /* lists what the map can compare */
int act_map_number(const struct app *a);    /* of the row of the place in focus; 0: none */
enum metric_id act_map_metric(const struct app *a);

/* pickers.c */
void act_pick(struct app *a, int kind); /* opens a picker (enum picker_kind) */
void pickers_take(struct app *a);       /* the item chosen in it */
void pickers_workload(struct app *a, int index); /* the order with this workload */

/* entry.c */
void entry_open(struct app *a, enum param_id id);
void entry_key(struct app *a, int key);
void entry_draw(const struct app *a);
void entry_edit(char *text, size_t size, int key); /* one key into a line of text */

/* actions_settings.c */
void act_settings(struct app *a, int arg);
void settings_leave(struct app *a); /* to the view one came from */
int settings_list(const struct app *a, enum param_id out[PARAM_COUNT]); /* those shown, in groups */
void act_setting_focus(struct app *a, int id);
void act_setting_move(struct app *a, int step);
void act_setting_step(struct app *a, int direction);
void act_setting_type(struct app *a, int arg);
void act_find(struct app *a, int arg);
void find_key(struct app *a, int key);
void words_list(struct app *a); /* picker of the words of a parameter */
void words_take(struct app *a, int value);
/* May it be changed while this is looked at? 0, or -errno and why not. */
int act_settable(const struct app *a, enum param_id id, struct err *e);
/* The order with this parameter at v. 0, or -errno with one line: what does not allow it. */
int act_set(struct app *a, enum param_id id, double v, struct err *e);
int act_change(struct app *a, enum param_id id, const char *text, struct err *e); /* as typed */
/* Asks for its value: by a picker where it is one of some words. */
void act_type(struct app *a, enum param_id id);

/* prompt.c: the line of `:` */
void act_prompt(struct app *a, int arg);
void prompt_key(struct app *a, int key);
void prompt_draw(const struct app *a);

/* actions_claims.c */
void claims_take(struct app *a); /* what is on the screen of them */
void claims_drop(struct app *a);
int claims_tried(const struct app *a);  /* how many have a result */
int claims_to_try(const struct app *a); /* how many are being tried or wait for it */
bool claims_stop(struct app *a); /* false: none are being tried */
void act_claim_again(struct app *a, int arg);
void act_claims_copy(struct app *a, int arg);
void claims_list(struct app *a);  /* picker of what to try */
void claims_start(struct app *a, int which);
void act_claim_focus(struct app *a, int i);
void act_claim_move(struct app *a, int step);
void act_claim_live(struct app *a, int arg);

/* True, and said, while a plan runs: what would change the order has to wait. */
bool act_refused(struct app *a);

/* The workload in force has a use for this parameter. */
bool act_matters(const struct app *a, enum param_id id);
/* What the workload puts there by itself. */
double act_usual(const struct app *a, enum param_id id);
/* One step of any parameter, as that of the number in brackets. */
void act_step_of(struct app *a, enum param_id id, int direction);

#endif
