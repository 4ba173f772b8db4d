/* SPDX-License-Identifier: MIT */
/* Pictures of a session by gnuplot. What is drawn becomes two texts: data, and a script that
 * begins with the words of this picture and goes on with assets/plots/KIND.gp. Names and titles
 * stand in single quotes, in which gnuplot replaces nothing, or in the data, which it never runs;
 * gnuplot is started without a shell. Thread: the caller's. */
#ifndef SESSION_PLOT_H
#define SESSION_PLOT_H

#include "session/curves.h"

enum plot_kind { PLOT_CURVES, PLOT_TIME, PLOT_LATENCY, PLOT_KINDS };

/* Word, what it draws (one sentence). */
extern const struct plot_word {
    const char *id, *text;
} plot_words[PLOT_KINDS];
const char *plot_kind_word(int i); /* a word function for params_nearest() */

struct plot_wish {
    enum plot_kind kind;
    const struct row *row; /* that it is of, or the table of */
    struct curves_wish curves;
    enum curve_axes axes;
};

struct plot_text {
    char *data, *head; /* heap; plot_text_free */
    enum plot_kind kind;
};

/* 0, or -ENODATA with one line where there is nothing to draw. Under the rows' lock. */
int plot_make(const struct rows *rows, const struct plot_wish *w, struct plot_text *out,
              struct err *e);
void plot_text_free(struct plot_text *t);

/* plot_run.c */
struct plot_job;

/* Begins to draw into a new file NAME.svg or NAME.png, which must not exist. NULL with one line and
 * *status -errno (-EINVAL: the ending). Where gnuplot is not installed, or fails, script and data
 * stay beside as NAME.gp and NAME.dat, so that it can be drawn elsewhere, and the line says so. */
struct plot_job *plot_start(const struct plot_text *t, const char *name, int *status,
                            struct err *e);

/* 1: still drawing (never with wait); 0: the file is there; -errno with gnuplot's own line. Unless
 * it is 1 the job is freed. A gnuplot that takes longer than a minute is ended. */
int plot_end(struct plot_job *job, bool wait, struct err *e);

/* Ends the drawing; nothing is left. */
void plot_drop(struct plot_job *job);

const char *plot_name(const struct plot_job *job);

#endif
