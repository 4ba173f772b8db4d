/* SPDX-License-Identifier: MIT */
/* A list of values for one parameter: "400", "100..800:100", "1k..64k*2,max", "0,10..10240*2".
 * Items are split by commas; A..B:STEP counts up, A..B*F multiplies, both include B when they hit
 * it. Thread: any. */
#ifndef PARAMS_AXIS_H
#define PARAMS_AXIS_H

#include "params/params.h"

#define AXIS_MAX 256

struct axis {
    enum param_id id;
    int count; /* at least 1 */
    double values[AXIS_MAX];
};

/* Parses text for parameter id. Returns 0 or -EINVAL with one line. A list for a parameter that is
 * no axis is an error; one value is always allowed. */
int axis_parse(enum param_id id, const char *text, struct axis *out, struct err *e);

#endif
