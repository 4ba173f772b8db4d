/* SPDX-License-Identifier: MIT */
/* A claim's file: [claim] has its words and rules, [rows] is a plan. A key that goes on in the next
 * line (indented) is handed over line by line: sentences are joined, and each line of true, false or
 * depends is a rule. A condition is [SLOPE OR EXPONENT OF] a figure, a comparison and a number; the
 * figure's names are those of --fail-if, so they are read by the same function. */
#include "session/claims.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/plan_file.h"

const char *const claim_words[] = {"not measured", "true", "false", "depends"};

static const char *key_word(int i)
{
    static const char *const keys[] = {"title", "source",  "how",   "probe",
                                       "true",  "false", "depends", NULL};
    return keys[i];
}

struct rule_text {
    enum claim_verdict verdict;
    int line;
    char text[200];
};

struct reading {
    struct claim *claim;
    const char *path;
    int rules;
    struct rule_text rule[CLAIM_RULES]; /* read when the rows and the probe are known */
};

/* --- the keys --------------------------------------------------------------------------------- */

static int append(const char *key, const char *value, char *to, size_t size, struct err *e)
{
    size_t n = strlen(to);
    if (n + strlen(value) + 2 > size)
        return err_set(e, EINVAL, "%s: longer than %zu characters", key, size - 2);
    snprintf(to + n, size - n, "%s%s", n ? " " : "", value);
    return 0;
}

static const char *probe_word(int i)
{
    return i < claim_probe_count ? claim_probes[i].name : NULL;
}

static int no_such(const char *what, const char *word, const char *near, struct err *e)
{
    char echo[64];
    params_echo(word, echo, sizeof echo);
    return err_set(e, EINVAL, "%s: no such %s%s%s%s", echo, what, near ? "; did you mean " : "",
                   near ? near : "", near ? "?" : "");
}

static int take_probe(struct claim *c, const char *value, struct err *e)
{
    for (int i = 0; i < claim_probe_count; i++)
        if (!strcmp(claim_probes[i].name, value))
            c->probe = &claim_probes[i];
    return c->probe ? 0 : no_such("probe", value, params_nearest(value, probe_word), e);
}

static int take_rule(struct reading *r, enum claim_verdict v, int line, const char *value,
                     struct err *e)
{
    struct rule_text *t = &r->rule[r->rules];
    if (r->rules == CLAIM_RULES)
        return err_set(e, EINVAL, "more than %d rules", CLAIM_RULES);
    if (!*value || strlen(value) >= sizeof t->text)
        return err_set(e, EINVAL, "%s: a rule of 1 to %zu characters", claim_words[v],
                       sizeof t->text - 1);
    t->verdict = v;
    t->line = line;
    snprintf(t->text, sizeof t->text, "%s", value);
    r->rules++;
    return 0;
}

static int take(void *ctx, int line, const char *key, const char *value, struct err *e)
{
    struct reading *r = ctx;
    struct claim *c = r->claim;
    if (!strcmp(key, "title"))
        return append(key, value, c->title, sizeof c->title, e);
    if (!strcmp(key, "source"))
        return append(key, value, c->source, sizeof c->source, e);
    if (!strcmp(key, "how"))
        return append(key, value, c->how, sizeof c->how, e);
    if (!strcmp(key, "probe"))
        return take_probe(c, value, e);
    for (int v = CLAIM_TRUE; v < CLAIM_VERDICTS; v++)
        if (!strcmp(key, claim_words[v]))
            return take_rule(r, (enum claim_verdict)v, line, value, e);
    return no_such("key", key, params_nearest(key, key_word), e);
}

/* --- conditions ------------------------------------------------------------------------------- */

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
        return no_such("parameter", word, params_nearest(word, param_word), e);
    if (p->count && !in_axis(p, (enum param_id)id))
        return err_set(e, EINVAL, "%s is no list in [rows]", param_table[id].id);
    *out = (enum param_id)id;
    return 0;
}

static int parse_at(const char *text, const struct plan *p, struct claim_condition *c, struct err *e)
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
    for (int i = 0; claim->probe->figures[i]; i++) {
        size_t n = strlen(all);
        c->figure = i;
        if (!strcmp(claim->probe->figures[i], figure))
            return 0;
        snprintf(all + n, sizeof all - n, "%s%s", n ? ", " : "", claim->probe->figures[i]);
    }
    return err_set(e, EINVAL, "probe.%.40s: no such figure; %s gives %s", figure,
                   claim->probe->name, all);
}

/* slope(FIGURE, PARAM): leaves FIGURE in `term`. */
static int parse_function(char *term, const struct plan *p, struct claim_condition *c, struct err *e)
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

/* MODEL/MODEL.METRIC: leaves MODEL.METRIC of the upper one in `term`. One of the two is pane A, which
 * is what the others are paired with. */
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
        return no_such("model", c->under, params_nearest(c->under, io_model_word), e);
    const char *first = p->count ? p->rows[0].lineup.models[0]->id : upper;
    if (strcmp(first, upper) && strcmp(first, c->under))
        return err_set(e, EINVAL, "%s: one of the two must be the first model, %s", term, first);
    memmove(term + strlen(upper), point, strlen(point) + 1);
    memcpy(term, upper, strlen(upper));
    return 0;
}

static int parse_figure(const struct claim *claim, const char *who, const char *figure,
                        const char *limit, struct claim_condition *c, struct err *e)
{
    char text[160];
    struct expr under;
    const struct plan *p = &claim->plan;
    snprintf(text, sizeof text, "%s%s", figure, limit);
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

static int parse_condition(const struct claim *claim, enum claim_verdict v, char *text,
                           struct claim_condition *c, struct err *e)
{
    char term[96], limit[48], *at = strstr(text, " at ");
    *c = (struct claim_condition){.along = PARAM_COUNT, .at = PARAM_COUNT};
    int status = at ? parse_at(at + 4, &claim->plan, c, e) : 0;
    if (at)
        *at = 0;
    size_t n = strcspn(text, "<>");
    if (status == 0 && (!text[n] || cut(text, n, term, sizeof term) < 0 ||
                        cut(text + n, strlen(text + n), limit, sizeof limit) < 0))
        status = err_set(e, EINVAL, "%.80s: must be a figure, one of < <= > >=, and a number", text);
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
    return status < 0 ? status : parse_figure(claim, claim_words[v], term, limit, c, e);
}

static int parse_rule(struct claim *claim, struct rule_text *t, struct err *e)
{
    struct claim_rule *r = &claim->rules[claim->rule_count++];
    char *at = t->text;
    r->verdict = t->verdict;
    r->line = t->line;
    while (at) {
        char *next = strstr(at, " and ");
        if (next)
            *next = 0;
        if (r->count == CLAIM_CONDITIONS)
            return err_set(e, EINVAL, "more than %d conditions", CLAIM_CONDITIONS);
        int status = parse_condition(claim, t->verdict, at, &r->conditions[r->count++], e);
        if (status < 0)
            return status;
        at = next ? next + 5 : NULL;
    }
    return 0;
}

/* --- a file ----------------------------------------------------------------------------------- */

static int whole(const struct reading *r, struct err *e)
{
    const struct claim *c = r->claim;
    const char *missing = !c->title[0] ? "title" : !c->source[0] ? "source" : !c->how[0] ? "how"
                          : r->rules == 0 ? "true, false or depends" : NULL;
    if (missing)
        return err_set(e, EINVAL, "%s: the claim has no %s", r->path, missing);
    if (!c->probe && !c->plan.count && !c->cannot[0])
        return err_set(e, EINVAL, "%s: the claim has neither rows nor a probe", r->path);
    return 0;
}

static int name_file(const char *path, struct err *e)
{
    struct err said = *e;
    bool named = !strncmp(said.text, path, strlen(path));
    return named ? -EINVAL : err_set(e, EINVAL, "%s: %.200s", path, said.text);
}

static int read_claim(const char *path, struct claim *c, struct err *e)
{
    struct reading r = {.claim = c, .path = path};
    const struct plan_section section = {"claim", take, &r};
    int status = plan_from_section(path, &section, &c->plan, e);
    if (status == -EINVAL)
        return name_file(path, e);
    if (status < 0 && !r.rules)
        return status; /* the file itself cannot be read */
    if (status < 0)
        snprintf(c->cannot, sizeof c->cannot, "%s", e->text);
    status = whole(&r, e);
    for (int i = 0; status == 0 && i < r.rules; i++) {
        struct err why;
        status = parse_rule(c, &r.rule[i], &why);
        if (status < 0)
            err_set(e, EINVAL, "%s, line %d: %.240s", path, r.rule[i].line, why.text);
    }
    return status;
}

static int add_claim(struct claims *out, const char *path, struct err *e)
{
    struct claim *c = xcalloc(1, sizeof *c);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *end = strrchr(name, '.');
    snprintf(c->name, sizeof c->name, "%.*s", (int)(end ? end - name : (long)strlen(name)), name);
    out->list = xrealloc(out->list, (size_t)out->count + 1, sizeof *out->list);
    out->list[out->count++] = c;
    return read_claim(path, c, e);
}

/* --- where they are --------------------------------------------------------------------------- */

static int is_ini(const struct dirent *d)
{
    size_t n = strlen(d->d_name);
    return n > 4 && strcmp(d->d_name + n - 4, ".ini") == 0;
}

static int add_named(struct claims *out, const char *name, struct err *e)
{
    char path[PATH_MAX + 300];
    size_t n = strlen(name);
    bool file = strchr(name, '/') || (n > 4 && !strcmp(name + n - 4, ".ini"));
    snprintf(path, sizeof path, file ? "%.*s%.*s" : "%.*s/claims/%.*s.ini", file ? 0 : PATH_MAX,
             file ? "" : plan_assets(), 256, name);
    int status = add_claim(out, path, e);
    if (status == -ENOENT && !file)
        return err_set(e, EINVAL, "%.60s: no such claim; iodash list claims names them", name);
    return status;
}

static int add_shipped(struct claims *out, struct err *e)
{
    char folder[PATH_MAX + 16], path[PATH_MAX + 300];
    struct dirent **all;
    snprintf(folder, sizeof folder, "%s/claims", plan_assets());
    int n = scandir(folder, &all, is_ini, alphasort), status = 0;
    if (n <= 0)
        status = err_set(e, ENOENT, "no claims came with this program: looked in %.200s", folder);
    for (int i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, all[i]->d_name);
        if (status == 0)
            status = add_claim(out, path, e);
        free(all[i]);
    }
    if (n >= 0)
        free(all);
    return status;
}

int claims_read(const char *const *names, int count, struct claims *out, struct err *e)
{
    int status = 0;
    *out = (struct claims){0};
    if (count == 0)
        status = add_shipped(out, e);
    for (int i = 0; i < count && status == 0; i++)
        status = add_named(out, names[i], e);
    if (status < 0)
        claims_free(out);
    return status;
}

void claims_free(struct claims *c)
{
    for (int i = 0; i < c->count; i++) {
        plan_free(&c->list[i]->plan);
        free(c->list[i]);
    }
    free(c->list);
    *c = (struct claims){0};
}
