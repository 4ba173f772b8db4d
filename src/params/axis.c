/* SPDX-License-Identifier: MIT */
/* Lists. Text is cut at commas; an item is one value or a range A..B:STEP or A..B*FACTOR. Every
 * bound goes through the parser of single values, so units and limits are the same
 * everywhere; a step may lie outside the limits of the parameter but not be zero. */
#include "params/axis.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "params/number.h"

#define ITEM_MAX 96

/* What is wrong with this text, after the name of the option. */
static int refuse(enum param_id id, const char *text, const char *what, struct err *e)
{
    char flag[32], echo[64];
    return err_set(e, EINVAL, "%s %s: %s", params_flag(id, flag, sizeof flag),
                   params_echo(text, echo, sizeof echo), what);
}

/* Rows of a value that stands twice would be one row, measured on. The steps of a range may round
 * to the same one; `before`: how many there were before it. */
static int push(struct axis *a, int before, double v)
{
    for (int i = 0; i < a->count; i++)
        if (params_same(a->values[i], v))
            return i < before ? -EEXIST : 0;
    if (a->count == AXIS_MAX)
        return -E2BIG;
    a->values[a->count++] = v;
    return 0;
}

/* The value that a person would have typed: without the noise of binary fractions. */
static double tidy(double v)
{
    double scale = v > 0 && v < 1e12 ? pow(10, 11 - floor(log10(v))) : 1;
    return nearbyint(v * scale) / scale;
}

static bool counted(enum param_id id)
{
    return param_table[id].kind == KIND_COUNT || param_table[id].kind == KIND_BYTES;
}

struct range {
    double from, to, step;
    bool times;
};

static int push_range(struct axis *a, const struct range *r)
{
    double v = r->from, slack = r->to * 1e-9;
    int before = a->count;
    for (int i = 1; v <= r->to + slack; i++) {
        double value = counted(a->id) ? round(v) : tidy(v);
        int error = i > AXIS_MAX ? -E2BIG : push(a, before, fmin(value, r->to));
        if (error)
            return error;
        v = r->times ? v * r->step : r->from + i * r->step;
    }
    return 0;
}

/* A step has the units of its parameter; a factor is a plain number. */
static int parse_step(enum param_id id, const char *text, bool times, double *out)
{
    int error = number_parse(times ? KIND_COUNT : param_table[id].kind, text, out);
    if (error || !isfinite(*out) || *out <= (times ? 1 : 0))
        return -EINVAL;
    return !times && counted(id) && *out != floor(*out) ? -EINVAL : 0;
}

/* text is a private copy: A..B:STEP, whole is the item as it was typed. */
static int parse_range(struct axis *a, char *text, const char *whole, struct err *e)
{
    struct range r;
    char *second = strstr(text, "..");
    *second = '\0';
    second += 2;
    char *step = second + strcspn(second, ":*");
    if (!*step)
        return refuse(a->id, whole, "a range needs a step: A..B:STEP or A..B*FACTOR", e);
    r.times = *step == '*';
    *step++ = '\0';
    int error = params_parse(a->id, text, &r.from, e);
    if (!error)
        error = params_parse(a->id, second, &r.to, e);
    if (error)
        return error;
    if (!isfinite(r.from) || !isfinite(r.to) || r.from > r.to)
        return refuse(a->id, whole, "a range counts upwards, from a number to a number", e);
    if (parse_step(a->id, step, r.times, &r.step) < 0)
        return refuse(a->id, whole,
                      r.times ? "the factor of a range must be a number above 1"
                              : counted(a->id) ? "the step of a range must be whole and above 0"
                                               : "the step of a range must be a number above 0",
                      e);
    if (r.times && r.from <= 0)
        return refuse(a->id, whole, "a range with a factor begins above 0", e);
    return push_range(a, &r);
}

/* Cuts blanks off both ends, in place. */
static char *trimmed(char *text)
{
    text += strspn(text, " \t");
    size_t n = strlen(text);
    while (n && (text[n - 1] == ' ' || text[n - 1] == '\t'))
        text[--n] = '\0';
    return text;
}

static int parse_item(struct axis *a, const char *from, size_t length, struct err *e)
{
    char copy[ITEM_MAX], whole[ITEM_MAX];
    snprintf(copy, sizeof copy, "%.*s", (int)(length < ITEM_MAX ? length : ITEM_MAX), from);
    snprintf(whole, sizeof whole, "%s", copy);
    if (length >= ITEM_MAX)
        return refuse(a->id, whole, "too long", e);
    char *text = trimmed(copy);
    bool range = strstr(text, "..");
    double v;
    int error = range ? parse_range(a, text, whole, e) : params_parse(a->id, text, &v, e);
    if (!error && !range)
        error = push(a, a->count, v);
    if (error != -EEXIST)
        return error;
    return refuse(a->id, trimmed(whole),
                  range ? "the list holds a value of it already" : "the list holds it already", e);
}

static bool is_list(const char *text)
{
    return strchr(text, ',') || strstr(text, "..");
}

int axis_parse(enum param_id id, const char *text, struct axis *out, struct err *e)
{
    out->id = id;
    out->count = 0;
    if (!param_table[id].axis) {
        if (is_list(text))
            return refuse(id, text, "takes one value, no list", e);
        out->count = 1;
        return params_parse(id, text, &out->values[0], e);
    }
    for (const char *item = text;; item++) {
        size_t length = strcspn(item, ",");
        if (!length && is_list(text))
            return refuse(id, text, "an item of the list is empty", e);
        int error = parse_item(out, item, length, e);
        if (error == -E2BIG)
            return refuse(id, text, "more than 256 values", e);
        if (error)
            return error;
        item += length;
        if (!*item)
            return 0;
    }
}
