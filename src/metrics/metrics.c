/* SPDX-License-Identifier: MIT */
/* The metric table is metrics.def and nothing else; this file only gives it an address. A set of
 * values starts as "not measured" in every cell, so that what nobody filled in cannot pass for 0.
 */
#include "metrics/metrics.h"

#include <stddef.h>
#include <string.h>

const struct metric metric_table[METRIC_COUNT] = {
#define METRIC(id, title, unit, fold, cls, better, help)                                           \
    {#id, title, unit, FOLD_##fold, CLASS_##cls, BETTER_##better, help},
#include "metrics/metrics.def"
#undef METRIC
};

void values_clear(struct values *v)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        v->v[i] = METRIC_NONE;
}

int metrics_find(const char *id)
{
    for (int i = 0; i < METRIC_COUNT; i++)
        if (!strcmp(metric_table[i].id, id))
            return i;
    return -1;
}

const char *metrics_word(int i)
{
    return i >= 0 && i < METRIC_COUNT ? metric_table[i].id : NULL;
}
