/* SPDX-License-Identifier: MIT */
/* Numbers with units, without limits: what values and the steps of ranges share. Thread: any. */
#ifndef PARAMS_NUMBER_H
#define PARAMS_NUMBER_H

#include "params/params.h"

/* Parses the whole text: "400", "11.5k", "64KiB", "250 ms". Returns 0, -EINVAL when it is no
 * number, -ENOENT when the unit does not fit the kind. May give infinity (1e999). */
int number_parse(enum param_kind kind, const char *text, double *out);

/* The units of a kind, for a message: "ms, s, min". */
const char *number_units(enum param_kind kind);

#endif
