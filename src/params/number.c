/* SPDX-License-Identifier: MIT */
/* Numbers as people type them: digits with an optional point and exponent, then a unit that fits
 * the kind. Hexadecimal, nan, inf and signs are no numbers here. A unit is applied by one
 * multiplication or one division, so that "300ms" is the same double as "0.3". */
#include "params/number.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/units.h"

#define KINDS_PLAIN (1u << KIND_COUNT | 1u << KIND_BYTES | 1u << KIND_RATE)
#define KINDS_ALL (KINDS_PLAIN | 1u << KIND_SPAN)

static const struct unit {
    const char *suffix;
    double times, over;
    unsigned kinds;
} units[] = {
    {"", 1, 1, KINDS_ALL},
    {"k", 1e3, 1, KINDS_PLAIN},
    {"M", 1e6, 1, KINDS_PLAIN},
    {"KiB", 1024, 1, 1u << KIND_BYTES},
    {"MiB", 1048576, 1, 1u << KIND_BYTES},
    {"B", 1, 1, 1u << KIND_BYTES},
    {"/s", 1, 1, 1u << KIND_RATE},
    {"k/s", 1e3, 1, 1u << KIND_RATE},
    {"M/s", 1e6, 1, 1u << KIND_RATE},
    {"ms", 1, 1e3, 1u << KIND_SPAN},
    {"s", 1, 1, 1u << KIND_SPAN},
    {"min", 60, 1, 1u << KIND_SPAN},
};

static const char *const unit_words[] = {
    [KIND_COUNT] = "k, M",
    [KIND_BYTES] = "k, M, KiB, MiB",
    [KIND_RATE] = "k, M",
    [KIND_SPAN] = "ms, s, min",
};

const char *number_units(enum param_kind kind)
{
    return kind < KIND_WORD ? unit_words[kind] : "";
}

static const char *skip_digits(const char *s)
{
    while (isdigit((unsigned char)*s))
        s++;
    return s;
}

/* Past the number at the front of s; s itself when there is none. */
static const char *skip_number(const char *s)
{
    const char *end = skip_digits(s);
    bool digits = end > s;
    if (*end == '.') {
        const char *fraction = end + 1;
        end = skip_digits(fraction);
        digits |= end > fraction;
    }
    if (!digits)
        return s;
    if (*end == 'e' || *end == 'E') {
        const char *exponent = end + 1 + (end[1] == '+' || end[1] == '-');
        if (isdigit((unsigned char)*exponent))
            end = skip_digits(exponent);
    }
    return end;
}

static const struct unit *find_unit(enum param_kind kind, const char *suffix)
{
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if ((units[i].kinds & 1u << kind) && !strcmp(units[i].suffix, suffix))
            return &units[i];
    return NULL;
}

/* 1.001k is meant as 1001, and binary fractions miss it by one unit in the last place. */
static double snapped(double v)
{
    double whole = nearbyint(v);
    return fabs(v - whole) <= 1e-13 * fabs(v) ? whole : v;
}

int number_parse(enum param_kind kind, const char *text, double *out)
{
    const char *suffix = skip_number(text);
    char *end;
    double v = units_strtod(text, &end);
    if (suffix == text || end != suffix)
        return -EINVAL;
    const char *unit = suffix + strspn(suffix, " "); /* "250 ms", but no blank at the end */
    const struct unit *u = find_unit(kind, *unit ? unit : suffix);
    if (!u)
        return -ENOENT;
    *out = u->times > 1 ? snapped(v * u->times) : v / u->over;
    return 0;
}
