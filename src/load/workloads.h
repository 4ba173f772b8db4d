/* SPDX-License-Identifier: MIT */
/* The workload table. A sampled workload runs in rounds of turns and yields one set of figures a
 * round; a repeated one makes passes that yield one set each. The table says which parameters
 * matter, what it yields (main metric first), its defaults and its rule; `repeat` is the function
 * of a repeated one, NULL for a sampled one, which is all the engine's. */
#ifndef LOAD_WORKLOADS_H
#define LOAD_WORKLOADS_H

#include "load/load.h"
#include "metrics/metrics.h"
#include "params/params.h"

#define PRESET_AS_SIZE (-2.0) /* as many bytes as `size` */

struct workload_preset { /* what an unset parameter becomes */
    enum param_id id;
    double value;
};

/* What the live view draws of it; the screen knows no workload. */
struct workload_picture {
    enum metric_id graph;     /* of a sampled one, over time */
    const char *series[2];    /* of a repeated one: what its load_watch holds; NULL: none */
    enum param_id reaches;    /* what the series end at; 0: nothing that is known beforehand */
    const char *beside;       /* the figure after the main one, in a word; NULL: its title */
    const char *says;         /* under it: {metric} becomes the figure, {s} an s unless it was 1 */
};

struct workload {
    const char *id, *label, *summary;
    const char *rule;              /* "12 samples, drop 1+1, mean of 10" */
    const enum param_id *matters;  /* ends with PARAM_COUNT; the screen's brackets come first */
    const enum metric_id *yields;  /* main one first; ends with METRIC_COUNT */
    const struct workload_preset *presets; /* ends with id PARAM_COUNT */
    enum param_id sweep;           /* the axis of its published table, with */
    const char *sweep_list;        /* its values as typed, "100..800:100" */
    const char *protocol;          /* what it speaks by default; NULL: fetch */
    struct workload_picture draws;
    /* A workload in steps, each a row: with how many clients the one after this goes on, up to
     * `until`. NULL: it has none. */
    double (*next_step)(double clients);
    double most;    /* connections: each takes a thread; 0: as many as the machine holds */
    bool one_table; /* its passes open their connections in this process's descriptor table */
    bool holds; /* of a sampled one: its connections only stay open, nothing is asked */
    /* Of a repeated one: about how long a pass takes, in seconds; walks: the server looks at every
     * connection in each wait. */
    double (*seconds)(const struct params *p, bool walks);
    int (*repeat)(const struct load_spec *spec, struct load_watch *watch, struct repeat_result *out,
                  struct err *e);
};

extern const struct workload workload_table[];
extern const int workload_count;
const char *workload_word(int i);
int workload_find(const char *id);
const struct workload *workload_of(const struct params *p);
bool workload_yields(const struct workload *w, enum metric_id m);
bool workload_matters(const struct workload *w, enum param_id id); /* does that parameter */

/* -EINVAL with one line where the workload cannot do what is asked: wait for replies that the
 * protocol does not have, or do without those that it has, keep connections that it is to close.
 * Unset is fine. */
int workload_check(const struct params *p, struct err *e);

/* Fills every PARAM_UNSET of p with the workload's or the table's default. */
void workload_resolve(struct params *p);

/* Another size was put into resolved parameters: what was as long as the one before, by default,
 * follows. */
void workload_resize(struct params *p, double size_before);

#endif
