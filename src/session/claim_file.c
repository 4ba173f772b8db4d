/* SPDX-License-Identifier: MIT */
/* A claim's file: [claim] has its words and rules, [rows] is a plan. A key that goes on in the
 * next line (indented) is handed over line by line: sentences are joined, and each line of true,
 * false or depends is a rule. Rules are read last, when the rows and the probe they speak of are
 * known. */
#include "session/claims.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/assets.h"
#include "base/ini_file.h"
#include "session/claim_rules.h"
#include "session/plan_file.h"

const char *const claim_words[] = {"not measured", "true", "false", "depends"};

static const char *key_word(int i)
{
    static const char *const keys[] = {"title", "source", "how",     "brief", "probe",
                                       "true",  "false",  "depends", NULL};
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
    int rules, brief_line;
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

static int take_probe(struct claim *c, const char *value, struct err *e)
{
    for (int i = 0; i < claim_probe_count; i++)
        if (!strcmp(claim_probes[i].name, value))
            c->probe = &claim_probes[i];
    return c->probe ? 0 : claim_no_such("probe", value, params_nearest(value, probe_word), e);
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
    if (!strcmp(key, "brief")) {
        r->brief_line = line;
        return append(key, value, c->brief, sizeof c->brief, e);
    }
    if (!strcmp(key, "probe"))
        return take_probe(c, value, e);
    for (int v = CLAIM_TRUE; v < CLAIM_VERDICTS; v++)
        if (!strcmp(key, claim_words[v]))
            return take_rule(r, (enum claim_verdict)v, line, value, e);
    return claim_no_such("key", key, params_nearest(key, key_word), e);
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

/* What speaks of the rows and the probe. */
static int read_rules(struct reading *r, struct err *e)
{
    struct err why = {""};
    int status = 0, line = 0;
    for (int i = 0; status == 0 && i < r->rules; i++) {
        line = r->rule[i].line;
        status = claim_rule_parse(r->claim, r->rule[i].verdict, line, r->rule[i].text, &why);
    }
    if (status == 0 && r->claim->brief[0]) {
        line = r->brief_line;
        status = claim_brief_parse(r->claim, &why);
    }
    return status == 0 ? 0 : err_set(e, EINVAL, "%s, line %d: %.240s", r->path, line, why.text);
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
    for (int i = 0; i < c->plan.count; i++)
        memcpy(c->plan.rows[i].claim, c->name, sizeof c->name);
    status = whole(&r, e);
    return status < 0 ? status : read_rules(&r, e);
}

static bool is_named(const struct claims *all, const char *name)
{
    for (int i = 0; i < all->count; i++)
        if (!strcmp(all->list[i]->name, name))
            return true;
    return false;
}

static int add_claim(struct claims *out, const char *path, struct err *e)
{
    struct claim *c = xcalloc(1, sizeof *c);
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *end = strrchr(name, '.');
    snprintf(c->name, sizeof c->name, "%.*s", (int)(end ? end - name : (long)strlen(name)), name);
    size_t n = strnlen(c->name, 20);
    if (is_named(out, c->name)) /* in another folder: its rows must not be taken for the other's */
        snprintf(c->name + n, sizeof c->name - n, "-%d", out->count + 1);
    out->list = xrealloc(out->list, (size_t)out->count + 1, sizeof *out->list);
    out->list[out->count++] = c;
    return read_claim(path, c, e);
}

/* --- where they are --------------------------------------------------------------------------- */

static int add_named(struct claims *out, const char *name, struct err *e)
{
    char path[PATH_MAX + 300];
    size_t n = strlen(name);
    bool file = strchr(name, '/') || (n > 4 && !strcmp(name + n - 4, ".ini"));
    snprintf(path, sizeof path, file ? "%.*s%.*s" : "%.*s/claims/%.*s.ini", file ? 0 : PATH_MAX,
             file ? "" : assets_folder(), 256, name);
    int status = add_claim(out, path, e);
    if (status == -ENOENT && !file)
        return err_set(e, EINVAL, "%.60s: no such claim; iodash list claims names them", name);
    return status;
}

static int add_shipped(struct claims *out, struct err *e)
{
    char folder[PATH_MAX + 16];
    struct ini_names names;
    int status = 0;
    snprintf(folder, sizeof folder, "%s/claims", assets_folder());
    ini_names(folder, &names);
    if (names.count == 0)
        return err_set(e, ENOENT, "no claims came with this program: looked in %.200s", folder);
    for (int i = 0; i < names.count && status == 0; i++)
        status = add_named(out, names.name[i], e);
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
