/* SPDX-License-Identifier: MIT */
/* The parameter table (params.def) as C. Every parameter is one double: counts are whole numbers,
 * bytes bytes, spans seconds, words and names the index of the word. Three values are special:
 * PARAM_UNSET (take the workload's default), PARAM_AUTO and PARAM_MAX. A table is read-only after
 * params_bind(); struct params is plain data, copied freely. Thread: any. */
#ifndef PARAMS_PARAMS_H
#define PARAMS_PARAMS_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

#define PARAM_UNSET NAN
#define PARAM_AUTO (-1.0)
#define PARAM_MAX INFINITY

enum param_kind { KIND_COUNT, KIND_BYTES, KIND_RATE, KIND_SPAN, KIND_WORD, KIND_NAME };
enum param_renews { RENEWS_NONE, RENEWS_SERVER, RENEWS_LOAD, RENEWS_BOTH }; /* bits */

enum param_id {
#define PARAM(id, ...) PARAM_##id,
#define OPTION(...)
#include "params/params.def"
#undef PARAM
#undef OPTION
    PARAM_COUNT
};

struct params {
#define PARAM(id, ...) double id;
#define OPTION(...)
#include "params/params.def"
#undef PARAM
#undef OPTION
};

enum option_id {
#define PARAM(...)
#define OPTION(id, ...) OPTION_##id,
#include "params/params.def"
#undef PARAM
#undef OPTION
    OPTION_COUNT
};

struct options {
#define PARAM(...)
#define OPTION(id, ...) const char *id;
#include "params/params.def"
#undef PARAM
#undef OPTION
};

/* The words, in the order of the table. */
enum { ARRIVAL_SERIAL, ARRIVAL_STORM };
enum { ENGINE_MUX, ENGINE_MUX_URING, ENGINE_BLOCKING };
enum { WAIT_AUTO, WAIT_SPIN, WAIT_BLOCK };
enum { ACCEPT_ONE, ACCEPT_DRAIN };
enum { KEEPALIVE_OFF, KEEPALIVE_ON };
enum { CLOSE_RST, CLOSE_FIN };
enum { ACTIVE_FIRST, ACTIVE_LAST, ACTIVE_SPREAD };
enum { PLACE_PROCESS, PLACE_INSIDE };
enum { PIN_AUTO, PIN_OFF };

struct param_info {
    const char *id; /* CSV column and plan key; the option is --id with - for _ */
    enum param_kind kind;
    const char *unit, *preset; /* preset: the default as typed, "" by workload */
    double low, high;
    bool axis;
    enum param_renews renews; /* what a standing server or load cannot change in place */
    const char *words, *help;
};

struct option_info {
    const char *id;
    char letter; /* 0: none */
    const char *argument, *help;
};

extern const struct param_info param_table[PARAM_COUNT];
extern const struct option_info option_table[OPTION_COUNT];

/* Gives a NAME parameter the ids of its table: word(i) is NULL past the last. Called once at start
 * (workloads for PARAM_workload, protocols for PARAM_protocol). */
void params_bind(enum param_id id, const char *(*word)(int i));

/* The one-letter option of a parameter ('c' connections, 'w' workload, 'r' rate, 'd' duration,
 * 't' load_threads), or 0. */
char params_letter(enum param_id id);

/* The part of the settings that it belongs to. */
const char *params_group(enum param_id id);

/* The field of a parameter. */
double *params_at(struct params *p, enum param_id id);
double params_get(const struct params *p, enum param_id id);

/* Are two values of a parameter the same? Also both unset. And all of two sets, that one aside
 * (PARAM_COUNT: all)? */
bool params_same(double a, double b);
bool params_same_but(const struct params *a, const struct params *b, enum param_id id);

/* Does it say how long or how often is measured, and not what? */
bool params_effort(enum param_id id);
/* Of two that stand in each other's place the other one; PARAM_COUNT: none. */
enum param_id params_rival(enum param_id id);

/* Table defaults; fields with an empty default become PARAM_UNSET. */
void params_init(struct params *p);

/* The parameter of that id ('-' and '_' are the same), or PARAM_COUNT + the option of that id; -1
 * when there is neither. */
int params_find(const char *id);

/* The i-th word of a WORD or NAME parameter; NULL past the last, and for numbers. */
const char *params_choice(enum param_id id, int i);

/* For messages and help: the option ("--load-threads"), what is allowed ("0.001 to 100000000 /s, or
 * max"), and somebody else's text made safe: printable ASCII, cut when long, "" as two quotes. Each
 * returns buf. */
char *params_flag(enum param_id id, char *buf, size_t size);
char *params_allowed(enum param_id id, char *buf, size_t size);
char *params_echo(const char *text, char *buf, size_t size);

/* May the value be "auto"? */
bool params_allows_auto(enum param_id id);

/* Parses one value: "400", "11.5k", "64KiB", "250ms", "max", "auto", a word. Checks kind and range.
 * Returns 0 or -EINVAL with one line that names the option, the value and what is allowed. */
int params_parse(enum param_id id, const char *text, double *out, struct err *e);

/* Writes a value as one would type it, exactly (CSV, plan files); unset is "". Returns buf. */
char *params_print(enum param_id id, double value, char *buf, size_t size);

/* The same for people: "11.5k/s", "1024 B", "0.25 s". */
char *params_show(enum param_id id, double value, char *buf, size_t size);

/* One step up or down (direction +1 or -1) of the 1 2 5 10 series within the range: what the keys
 * + and - do. Words step to their neighbour, and stop at the ends. RATE steps past 1M/s to max and
 * back (more can be typed); what may be auto steps below its lowest to auto. Unset stays unset. */
double params_step(enum param_id id, double value, int direction);

/* The word nearest to text by edit distance (or that begins with it), for "did you mean"; NULL when
 * nothing is near. word(i) is NULL past the last. */
const char *params_nearest(const char *text, const char *(*word)(int i));

/* Every id of parameters and options, then NULL: a word function for params_nearest(). */
const char *params_word(int i);

#endif
