/* SPDX-License-Identifier: MIT */
/* The views: each draws the state into its canvas, all of it, every time. */
#ifndef UI_VIEWS_H
#define UI_VIEWS_H

#include "ui/app.h"
#include "ui/graph.h"

void view_live_draw(struct app *a);
void view_table_draw(struct app *a);
void view_curves_draw(struct app *a);
void view_map_draw(struct app *a);
void view_why_draw(struct app *a);
void view_help_draw(struct app *a);
void view_claims_draw(struct app *a);
void view_settings_draw(struct app *a);

struct view_row { /* draw.c: in the order of the tabs */
    enum view view;
    const char *name, *tab; /* tab "": none */
    void (*draw)(struct app *a);
};
extern const struct view_row view_table[];
extern const int view_count;
const struct view_row *view_find(enum view view);

/* view_curves.c: the point that is read off, -1 where there is none. */
int curves_cursor(const struct app *a);
struct unit curves_unit(const struct app *a);
/* curves_read.c: which line is which; the figures at the cursor, and the most lines they take. */
void curves_legend(struct app *a, int y, const struct meeting *m, int meetings);
int curves_read_lines(const struct app *a);
void curves_read_draw(struct app *a, struct rect r);

/* pane.c: one pane of the live view. */
void pane_draw(struct app *a, int pane, struct rect r);

/* small.c: the small table of the live view. */
void small_draw(struct app *a, struct rect r);

/* chrome.c: the lines that views share. */
void chrome_header(struct app *a);
void chrome_asked(struct app *a, int y);
void chrome_log(struct app *a, int y);
void chrome_footer(struct app *a);
/* Text broken at blanks over the lines of r; returns the lines it took. */
int chrome_text(struct canvas *c, struct rect r, enum role role, bool bold, const char *text);
/* ANSWER, WHY, TRUST, broken over the lines there are. */
void chrome_answer(struct app *a, struct rect r, const struct answer *n);
int chrome_answer_lines(const struct answer *n, int w);

/* words.c: figures and phases as text; ascii as the canvas says. */
char *words_figure(enum metric_id m, double v, bool ascii, char *buf, size_t size);
char *words_cell(enum metric_id m, double v, char *buf, size_t size); /* bare, for tables */
/* The unit that a scale of this figure is read in, with its word as a title has it ("ms", "" where
 * the title says it), and a value in it. */
struct unit {
    const char *word;
    double per; /* of the metric's own */
};
struct unit words_unit(enum metric_id m, const struct scale *s, bool ascii);
char *words_in(enum metric_id m, struct unit u, double v, char *buf, size_t size);
char *words_count(double v, char *buf, size_t size);                  /* 396, 27.8, 1.03 */
const char *words_head(enum metric_id m);                             /* short head of a column */
char *words_phase(const struct scene *s, char *buf, size_t size);
char *words_param(enum param_id id, double v, char *buf, size_t size);
/* "100 to 800": the sweep of a workload; "" when it has no list of values. */
char *words_sweep(const struct workload *w, char *buf, size_t size);
enum role words_role(int pane);

/* series.c: the last `slots` figures of a pane for a graph, newest last; NaN where nothing was
 * measured. Slots at most TRACE_POINTS. Returns the time that they last; NaN: each is a pass, and
 * passes last as long as they last. */
double series_build(const struct scene *s, int pane, enum metric_id m, int slots, double *out);

#endif
