/* SPDX-License-Identifier: MIT */
/* A rule is conditions joined by "and"; a condition is [SLOPE OR EXPONENT OF] a figure, a
 * comparison and a number. The figure's names are those of --fail-if, so they are read by the
 * same function; whether the claim's rows can answer is asked here, before any load. */
#include "session/claim_rules.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

int claim_no_such(const char *what, const char *word, const char *near, struct err *e)
{
    char echo[64];
    params_echo(word, echo, sizeof echo);
    return err_set(e, EINVAL, "%s: no such %s%s%s%s", echo, what, near ? "; did you mean " : "",
                   near ? near : "", near ? "?" : "");
}

/* The word from `from` on, `n` long, without blanks at its ends. */
static int cut(const char *from, size_t n, char *out, size_t size)
{
    while (n && isspace((unsigned char)*from))
        from++, n--;
    while (n && isspace((unsigned char)from[n - 1]))
        n--;
    if (n >= size)
        return -EINVAL;
    memcpy(out, from, n);
    out[n] = 0;
    return 0;
}

static bool in_axis(const struct plan *p, enum param_id id)
{
    return p->axis[0] == id || p->axis[1] == id;
}

static const char *param_word(int i)
{
    return i < PARAM_COUNT ? param_table[i].id : NULL;
}

static int find_axis(const char *word, const struct plan *p, enum param_id *out, struct err *e)
{
    int id = params_find(word);
    if (id < 0 || id >= PARAM_COUNT)
        return claim_no_such("parameter", word, params_nearest(word, param_word), e);
    if (p->count && !in_axis(p, (enum param_id)id))
        return err_set(e, EINVAL, "%s is no list in [rows]", param_table[id].id);
    *out = (enum param_id)id;
    return 0;
}

static int parse_at(const char *text, const struct plan *p, struct claim_condition *c,
                    struct err *e)
{
    char word[48], value[48];
    size_t n = strcspn(text, "=");
    if (!text[n] || cut(text, n, word, sizeof word) < 0 ||
        cut(text + n + 1, strlen(text + n + 1), value, sizeof value) < 0)
        return err_set(e, EINVAL, "at%s: must be PARAM=VALUE", text);
    int status = find_axis(word, p, &c->at, e);
    if (status == 0)
        status = params_parse(c->at, value, &c->at_value, e);
    for (int i = 0; status == 0 && i < p->count; i++)
        if (params_get(&p->rows[i].params, c->at) == c->at_value)
            return 0;
    return status < 0 || !p->count ? status
                                   : err_set(e, EINVAL, "at %s=%s: no such row", word, value);
}

static int parse_probe(const struct claim *claim, const char *figure, const char *limit,
                       struct claim_condition *c, struct err *e)
{
    char all[160] = "";
    c->term = TERM_PROBE;
    if (!claim->probe)
        return err_set(e, EINVAL, "probe.%.40s: the claim has no probe", figure);
    if (expr_parse_limit(limit, &c->of.op, &c->of.number) < 0)
        return err_set(e, EINVAL, "%.40s: is no comparison with a number", limit);
    for (int i = 0; claim->probe->figures[i].name; i++) {
        size_t n = strlen(all);
        c->figure = i;
        if (!strcmp(claim->probe->figures[i].name, figure))
            return 0;
        snprintf(all + n, sizeof all - n, "%s%s", n ? ", " : "", claim->probe->figures[i].name);
    }
    return err_set(e, EINVAL, "probe.%.40s: no such figure; %s gives %s", figure,
                   claim->probe->name, all);
}

/* slope(FIGURE, PARAM): leaves FIGURE in `term`. */
static int parse_function(char *term, const struct plan *p, struct claim_condition *c,
                          struct err *e)
{
    char inner[96], word[48], *open = strchr(term, '('), *comma = strrchr(term, ',');
    size_t n = strlen(term);
    bool slope = !strncmp(term, "slope(", 6), exponent = !strncmp(term, "exponent(", 9);
    if (!open)
        return 0;
    if (!(slope || exponent) || !comma || comma < open || term[n - 1] != ')')
        return err_set(e, EINVAL, "%s: must be slope(FIGURE, PARAM) or exponent(FIGURE, PARAM)",
                       term);
    if (cut(comma + 1, (size_t)(term + n - 1 - (comma + 1)), word, sizeof word) < 0)
        return err_set(e, EINVAL, "%s: no such parameter", term);
    c->term = slope ? TERM_SLOPE : TERM_EXPONENT;
    cut(open + 1, (size_t)(comma - open - 1), inner, sizeof inner);
    strcpy(term, inner); /* shorter than it was */
    return find_axis(word, p, &c->along, e);
}

/* MODEL/MODEL.METRIC: leaves MODEL.METRIC of the upper one in `term`. One of the two is pane A,
 * which is what the others are paired with. */
static int parse_ratio(char *term, const struct plan *p, struct claim_condition *c, struct err *e)
{
    char upper[48], *slash = strchr(term, '/'), *point = slash ? strchr(slash, '.') : NULL;
    if (!slash)
        return 0;
    if (!point || c->term != TERM_FIGURE || cut(term, (size_t)(slash - term), upper, 48) < 0 ||
        cut(slash + 1, (size_t)(point - slash - 1), c->under, sizeof c->under) < 0)
        return err_set(e, EINVAL, "%s: must be MODEL/MODEL.METRIC", term);
    c->term = TERM_RATIO;
    if (io_model_find(c->under) < 0)
        return claim_no_such("model", c->under, params_nearest(c->under, io_model_word), e);
    const char *first = p->count ? p->rows[0].lineup.models[0]->id : upper;
    if (strcmp(first, upper) && strcmp(first, c->under))
        return err_set(e, EINVAL, "%s: one of the two must be the first model, %s", term, first);
    memmove(term + strlen(upper), point, strlen(point) + 1);
    memcpy(term, upper, strlen(upper));
    return 0;
}

static int parse_figure(const struct plan *p, const char *who, const char *text,
                        struct claim_condition *c, struct err *e)
{
    struct expr under;
    int status = expr_parse(who, text, &c->of, e);
    if (status == 0 && !c->of.model[0])
        status = err_set(e, EINVAL, "%s %s: must name its model", who, text);
    if (status < 0 || !p->count)
        return status;
    under = c->of;
    snprintf(under.model, sizeof under.model, "%s", c->under);
    status = expr_check(who, &c->of, p, e);
    return status < 0 ? status : expr_check(who, &under, p, e);
}

static int parse_condition(const struct claim *claim, const char *who, char *text,
                           struct claim_condition *c, struct err *e)
{
    char term[96], limit[48], figure[160], *at = strstr(text, " at ");
    *c = (struct claim_condition){.along = PARAM_COUNT, .at = PARAM_COUNT};
    int status = at ? parse_at(at + 4, &claim->plan, c, e) : 0;
    if (at)
        *at = 0;
    size_t n = strcspn(text, "<>");
    if (status == 0 && (!text[n] || cut(text, n, term, sizeof term) < 0 ||
                        cut(text + n, strlen(text + n), limit, sizeof limit) < 0))
        status =
            err_set(e, EINVAL, "%.80s: must be a figure, one of < <= > >=, and a number", text);
    if (status < 0)
        return status;
    snprintf(c->text, sizeof c->text, "%s", term);
    if (!strncmp(term, "probe.", 6))
        return parse_probe(claim, term + 6, limit, c, e);
    if (!claim->plan.count && !claim->cannot[0])
        return err_set(e, EINVAL, "%s: the claim has no rows", term);
    status = parse_function(term, &claim->plan, c, e);
    if (status == 0)
        status = parse_ratio(term, &claim->plan, c, e);
    if (status < 0)
        return status;
    snprintf(figure, sizeof figure, "%s%s", term, limit);
    return parse_figure(&claim->plan, who, figure, c, e);
}

int claim_rule_parse(struct claim *claim, enum claim_verdict v, int line, char *text, struct err *e)
{
    struct claim_rule *r = &claim->rules[claim->rule_count++];
    char *at = text;
    r->verdict = v;
    r->line = line;
    while (at) {
        char *next = strstr(at, " and ");
        if (next)
            *next = 0;
        if (r->count == CLAIM_CONDITIONS)
            return err_set(e, EINVAL, "more than %d conditions", CLAIM_CONDITIONS);
        struct claim_condition *c = &r->conditions[r->count++];
        int status = parse_condition(claim, claim_words[v], at, c, e);
        if (status < 0)
            return status;
        at = next ? next + 5 : NULL;
    }
    return 0;
}

/* A figure in a brief is a condition that compares nothing: FIGURE [at PARAM=VALUE] [range]. */
static int parse_blank(struct claim *claim, const char *from, size_t n, struct err *e)
{
    static const char with_range[] = " range";
    char term[96], text[128];
    struct claim_condition *c = &claim->briefs[claim->brief_count++];
    if (cut(from, n, term, sizeof term) < 0)
        return err_set(e, EINVAL, "brief: a figure of over %zu characters", sizeof term - 1);
    size_t end = strlen(term), tail = sizeof with_range - 1;
    bool range = end > tail && !strcmp(term + end - tail, with_range);
    if (range)
        term[end - tail] = '\0';
    const char *at = strstr(term, " at ");
    snprintf(text, sizeof text, "%.*s>0%s", (int)(at ? (size_t)(at - term) : strlen(term)), term,
             at ? at : "");
    int status = parse_condition(claim, "brief", text, c, e);
    c->range = range;
    return status;
}

int claim_brief_parse(struct claim *claim, struct err *e)
{
    int status = 0;
    for (const char *at = strchr(claim->brief, '{'); at && status == 0; at = strchr(at, '{')) {
        const char *end = strchr(at, '}');
        if (!end)
            return err_set(e, EINVAL, "brief: a { without its }");
        if (claim->brief_count == CLAIM_BRIEFS)
            return err_set(e, EINVAL, "brief: more than %d figures", CLAIM_BRIEFS);
        status = parse_blank(claim, at + 1, (size_t)(end - at - 1), e);
        at = end;
    }
    return status;
}
