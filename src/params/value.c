/* SPDX-License-Identifier: MIT */
/* One value from text and back: special words first, then a number within its limits. Every refusal
 * is one line that names the option, the value and what is allowed, so that nobody has to look it
 * up. */
#include "params/params.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "params/number.h"

bool params_allows_auto(enum param_id id)
{
    return param_table[id].kind < KIND_WORD && !strcmp(param_table[id].preset, "auto");
}

/* Appends to a text that may already be full. */
static void append(char *buf, size_t size, const char *a, const char *b)
{
    size_t n = strlen(buf);
    snprintf(buf + n, size - n, "%s%s", a, b);
}

static char *allowed_words(enum param_id id, char *buf, size_t size)
{
    const char *w;
    *buf = '\0';
    for (int i = 0; (w = params_choice(id, i)); i++)
        append(buf, size, !i ? "" : params_choice(id, i + 1) ? ", " : " or ", w);
    return buf;
}

char *params_allowed(enum param_id id, char *buf, size_t size)
{
    const struct param_info *p = &param_table[id];
    char low[32], high[32];
    if (p->kind == KIND_WORD || p->kind == KIND_NAME)
        return allowed_words(id, buf, size);
    snprintf(buf, size, "%s%s to %s", p->kind == KIND_COUNT ? "a whole number, " : "",
             units_exact(low, sizeof low, p->low), units_exact(high, sizeof high, p->high));
    append(buf, size, *p->unit ? " " : "", p->unit);
    if (p->kind == KIND_RATE)
        append(buf, size, ", or max", "");
    if (params_allows_auto(id))
        append(buf, size, ", or auto", "");
    return buf;
}

static int refuse(enum param_id id, const char *text, const char *more, struct err *e)
{
    char flag[32], echo[48], allowed[160];
    return err_set(e, EINVAL, "%s %s: must be %s%s", params_flag(id, flag, sizeof flag),
                   params_echo(text, echo, sizeof echo),
                   params_allowed(id, allowed, sizeof allowed), more);
}

/* params_nearest() takes a word function without a context; parsing belongs to one thread at a time
 * where it can fail, but values are parsed from any thread: hence one per thread. */
static _Thread_local enum param_id asked;

static const char *asked_choice(int i)
{
    return params_choice(asked, i);
}

static const char *nearest_choice_word(enum param_id id, const char *text)
{
    asked = id;
    return params_nearest(text, asked_choice);
}

static int parse_choice(enum param_id id, const char *text, double *out, struct err *e)
{
    const char *w;
    for (int i = 0; (w = params_choice(id, i)); i++) {
        if (!strcmp(w, text)) {
            *out = i;
            return 0;
        }
    }
    char more[64] = "";
    const char *near = nearest_choice_word(id, text);
    if (near)
        snprintf(more, sizeof more, "; did you mean %s?", near);
    return refuse(id, text, more, e);
}

static int parse_number(enum param_id id, const char *text, double *out, struct err *e)
{
    const struct param_info *p = &param_table[id];
    double v;
    int error = number_parse(p->kind, text, &v);
    if (error == -ENOENT) {
        char more[48];
        snprintf(more, sizeof more, "; units: %s", number_units(p->kind));
        return refuse(id, text, more, e);
    }
    bool whole = p->kind == KIND_COUNT || p->kind == KIND_BYTES;
    if (error || !(v >= p->low && v <= p->high) || (whole && v != floor(v)))
        return refuse(id, text, "", e);
    *out = v;
    return 0;
}

int params_parse(enum param_id id, const char *text, double *out, struct err *e)
{
    enum param_kind kind = param_table[id].kind;
    if (kind == KIND_WORD || kind == KIND_NAME)
        return parse_choice(id, text, out, e);
    if (kind == KIND_RATE && !strcmp(text, "max"))
        *out = PARAM_MAX;
    else if (params_allows_auto(id) && !strcmp(text, "auto"))
        *out = PARAM_AUTO;
    else
        return parse_number(id, text, out, e);
    return 0;
}

/* The word that stands for a value, or NULL for a plain number. */
static const char *special(enum param_id id, double value)
{
    enum param_kind kind = param_table[id].kind;
    const char *w = NULL;
    if (isnan(value))
        return "";
    if (kind == KIND_WORD || kind == KIND_NAME) {
        if (value >= 0 && value < 1000)
            w = params_choice(id, (int)value);
        return w ? w : "";
    }
    if (isinf(value))
        return "max";
    return value == PARAM_AUTO ? "auto" : NULL;
}

char *params_print(enum param_id id, double value, char *buf, size_t size)
{
    const char *w = special(id, value);
    if (!w)
        return units_exact(buf, size, value);
    snprintf(buf, size, "%s", w);
    return buf;
}

/* "2.00k" is what somebody asked for, not a figure: "2k". */
static void drop_zeros(char *text)
{
    char *point = strchr(text, '.'), *end = point;
    if (!point)
        return;
    for (char *c = point + 1; *c >= '0' && *c <= '9'; c++)
        end = *c == '0' ? end : c + 1;
    memmove(end, end + strspn(end, ".0"), strlen(end + strspn(end, ".0")) + 1);
}

char *params_show(enum param_id id, double value, char *buf, size_t size)
{
    const char *w = special(id, value);
    if (w) {
        snprintf(buf, size, "%s", w);
        return buf;
    }
    switch (param_table[id].kind) {
    case KIND_BYTES:
        return units_bytes(buf, size, value);
    case KIND_SPAN:
        return units_span(buf, size, value);
    case KIND_RATE:
        units_si(buf, size, value);
        drop_zeros(buf);
        append(buf, size, "/s", "");
        return buf;
    default:
        return units_exact(buf, size, value);
    }
}
