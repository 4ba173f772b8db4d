/* SPDX-License-Identifier: MIT */
/* Curves in words: the same on the screen and in a picture. Pure. */
#ifndef SESSION_CURVES_SAY_H
#define SESSION_CURVES_SAY_H

#include "session/curves.h"
#include "session/say.h"

/* One sentence: where they meet, or that they do not between which ends. */
void curves_say_meet(const struct curves *c, const struct meeting *m, int count, struct text *t);

/* "transfer, 400 connections, 1024 B, loopback": what the rows have in common. */
void curves_say_common(const struct curves *c, struct text *t);

/* The axis in words: "requests/s asked", "connections", "size, B". */
struct name curves_axis_word(enum param_id axis);

/* A value on that axis, without the unit that the words have: 400, 11.5k, max. */
struct num curves_tick(enum param_id axis, double x);

/* "CPU a request, µs" */
struct name curves_figure_word(enum metric_id m);

/* A pane by letter and model: "A select". */
struct name curves_line_name(const struct curves *c, int line);

#endif
