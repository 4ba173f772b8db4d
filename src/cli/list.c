/* SPDX-License-Identifier: MIT */
/* `iodash list TABLE`: the tables of the program, plans and claims, as text, Markdown (the
 * README's tables are made of it) or CSV. A listing is a row here: its word, its heads, and a
 * function that fills one row of cells. What depends on this machine stays out of Markdown. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/grid.h"
#include "cli/json.h"
#include "load/workloads.h"
#include "metrics/metrics.h"
#include "servers/recipe.h"
#include "servers/targets.h"
#include "session/claims.h"
#include "session/loopback.h"
#include "session/plan.h"
#include "session/rows.h"
#include "ui/commands.h"
#include "ui/keys.h"
#include "ui/theme.h"
#include "ui/views.h"

struct line {
    const char *cell[GRID_COLUMNS];
    char store[4][1024]; /* for cells that are made, not found */
};

static void join(char *buf, size_t size, const char *word)
{
    size_t n = strlen(buf);
    snprintf(buf + n, size - n, "%s%s", n ? " " : "", word);
}

/* --- one function a table: false past its last row ------------------------------------------- */

/* What can be started here, and what is to install for what cannot. */
static bool target_line(int i, struct line *out)
{
    const struct target *t = targets_at(i);
    struct err e = {""};
    if (!t)
        return false;
    const struct recipe *r = t->recipe;
    out->cell[0] = t->id;
    out->cell[1] = t->model.summary;
    out->cell[2] = targets_speak(t, out->store[1], sizeof out->store[1]);
    out->cell[3] = r->install;
    out->cell[4] = "can be started";
    if (target_probe(t, &e) < 0) {
        char *end = strstr(e.text, "; to install:"); /* which stands in the column before */
        snprintf(out->store[0], sizeof out->store[0], "%.*s",
                 end ? (int)(end - e.text) : (int)strlen(e.text), e.text);
        out->cell[4] = out->store[0];
    }
    out->cell[5] = r->notes;
    return true;
}

static bool model_line(int i, struct line *out)
{
    if (i >= io_model_count)
        return false;
    const struct io_model *m = io_model_table[i];
    struct err e = {""};
    out->cell[0] = m->id;
    out->cell[1] = io_group_words[m->group];
    out->cell[2] = m->summary;
    if (io_model_probe(m, &e) < 0) {
        snprintf(out->store[0], sizeof out->store[0], "not here: %s", e.text);
        out->cell[3] = out->store[0];
    } else if (m->note) {
        m->note(out->store[0], sizeof out->store[0]);
        out->cell[3] = out->store[0];
    }
    return true;
}

/* Metrics of a workload, main one first, at most so many. */
static const char *yields_of(const struct workload *w, int most, char *buf, size_t size)
{
    for (int i = 0; i < most && w->yields[i] != METRIC_COUNT; i++)
        join(buf, size, metric_table[w->yields[i]].id);
    return buf;
}

static bool workload_line(int i, struct line *out)
{
    if (i >= workload_count)
        return false;
    const struct workload *w = &workload_table[i];
    snprintf(out->store[0], sizeof out->store[0], "%s %s", param_table[w->sweep].id,
             w->next_step ? "in steps of its own" : w->sweep_list);
    for (const enum param_id *p = w->matters; *p != PARAM_COUNT; p++)
        join(out->store[2], sizeof out->store[2], param_table[*p].id);
    out->cell[0] = w->id;
    out->cell[1] = w->summary;
    out->cell[2] = w->rule;
    out->cell[3] = out->store[0];
    out->cell[4] = yields_of(w, 3, out->store[1], sizeof out->store[1]);
    out->cell[5] = out->store[2];
    out->cell[6] = yields_of(w, METRIC_COUNT, out->store[3], sizeof out->store[3]);
    return true;
}

static bool param_line(int i, struct line *out)
{
    if (i >= PARAM_COUNT)
        return false;
    const struct param_info *p = &param_table[i];
    char letter = params_letter(i);
    if (letter)
        snprintf(out->store[0], sizeof out->store[0], "-%c", letter);
    out->cell[0] = p->id;
    out->cell[1] = out->store[0];
    out->cell[2] = *p->preset ? p->preset : "by workload";
    out->cell[3] = params_allowed(i, out->store[1], sizeof out->store[1]);
    out->cell[4] = p->axis ? "yes" : "";
    out->cell[5] = p->help;
    return true;
}

static const char *const classes[] = {
    [CLASS_COST] = "cost",       [CLASS_RATE] = "rate", [CLASS_SHARE] = "share",
    [CLASS_LATENCY] = "latency", [CLASS_TIME] = "time", [CLASS_COUNT] = "count",
    [CLASS_STATE] = "state",
};

static bool metric_line(int i, struct line *out)
{
    static const char *const better[] = {
        [BETTER_LESS] = "less", [BETTER_MORE] = "more", [BETTER_NONE] = "",
    };
    if (i >= METRIC_COUNT)
        return false;
    const struct metric *m = &metric_table[i];
    out->cell[0] = m->id;
    out->cell[1] = m->title;
    out->cell[2] = m->unit;
    out->cell[3] = classes[m->cls];
    out->cell[4] = better[m->better];
    out->cell[5] = m->help;
    return true;
}

/* What may still rank under a verdict. Not said: state, which never ranks. */
static bool verdict_line(int i, struct line *out)
{
    enum verdict v = (enum verdict)(VERDICT_NONE + 1 + i);
    if (v >= VERDICT_COUNT)
        return false;
    for (int c = 0; c < CLASS_STATE; c++)
        if (verdict_holds(v, (enum metric_class)c))
            join(out->store[0], sizeof out->store[0], classes[c]);
    out->cell[0] = verdict_words[v];
    out->cell[1] = verdict_meanings[v];
    out->cell[2] = *out->store[0] ? out->store[0] : "nothing";
    return true;
}

static const char *views_of(unsigned views, char *buf, size_t size)
{
    if (views == VIEWS_ALL)
        return "all";
    for (int i = 0; i < view_count; i++)
        if (views & view_table[i].view)
            join(buf, size, view_table[i].name);
    return buf;
}

static bool key_line(int i, struct line *out)
{
    if (i >= command_count)
        return false;
    const struct command *c = &command_table[i];
    out->cell[0] = keys_show(c->keys, out->store[0], sizeof out->store[0]);
    out->cell[1] = c->name;
    out->cell[2] = views_of(c->views, out->store[1], sizeof out->store[1]);
    out->cell[3] = c->help;
    return true;
}

static bool plan_line(int i, struct line *out)
{
    struct plan_info info;
    if (!plan_shipped(i, &info))
        return false;
    snprintf(out->store[0], sizeof out->store[0], "%s", info.name);
    snprintf(out->store[1], sizeof out->store[1], "%s", info.title);
    out->cell[0] = out->store[0];
    out->cell[1] = out->store[1];
    out->cell[2] = units_about(out->store[2], sizeof out->store[2], info.seconds);
    return true;
}

static struct claims shipped_claims; /* while they are listed */
static struct err no_claims;         /* why there are none; "" */

static bool claim_line(int i, struct line *out)
{
    if (i == 0 && claims_read(NULL, 0, &shipped_claims, &no_claims) < 0)
        return false;
    if (i >= shipped_claims.count) {
        claims_free(&shipped_claims);
        return false;
    }
    const struct claim *c = shipped_claims.list[i];
    out->cell[0] = c->name;
    out->cell[1] = c->title;
    out->cell[2] = c->source;
    out->cell[3] = c->how;
    return true;
}

static bool command_line(int i, struct line *out)
{
    if (i >= cli_count)
        return false;
    snprintf(out->store[0], sizeof out->store[0], "iodash %s", cli_table[i].synopsis);
    out->cell[0] = out->store[0];
    out->cell[1] = cli_table[i].summary;
    return true;
}

/* Options that are no parameters. */
static bool option_line(int i, struct line *out)
{
    if (i >= OPTION_COUNT)
        return false;
    const struct option_info *o = &option_table[i];
    snprintf(out->store[0], sizeof out->store[0], "--%s", o->id);
    for (char *c = out->store[0]; *c; c++)
        if (*c == '_')
            *c = '-';
    if (o->letter)
        snprintf(out->store[1], sizeof out->store[1], "-%c", o->letter);
    out->cell[0] = out->store[0];
    out->cell[1] = out->store[1];
    out->cell[2] = o->argument;
    out->cell[3] = o->help;
    return true;
}

static bool theme_line(int i, struct line *out)
{
    struct theme t;
    struct err why;
    if (!theme_shipped(i, &t, &why))
        return false;
    snprintf(out->store[0], sizeof out->store[0], "%s", t.name);
    snprintf(out->store[1], sizeof out->store[1], "%s", why.text[0] ? why.text : t.title);
    out->cell[0] = out->store[0];
    out->cell[1] = out->store[1];
    return true;
}

static bool loopback_line(int i, struct line *out)
{
    if (i >= LOOPBACK_COUNT)
        return false;
    out->cell[0] = loopback_points[i].name;
    out->cell[1] = loopback_points[i].text;
    return true;
}

/* --- the listings ---------------------------------------------------------------------------- */

/* Columns are dropped from the right: from Markdown, which is kept, what is about this machine;
 * from text what is too long to look at. 0: none. */
struct listing {
    const char *word;
    const char *heads[GRID_COLUMNS + 1];
    bool (*line)(int i, struct line *out);
    int dropped[4]; /* by enum grid_format */
};

static const struct listing listings[] = {
    {"models", {"model", "group", "how it waits", "here", NULL}, model_line, {0, 1, 0}},
    {"targets", {"target", "what it is", "protocol", "to install", "here", "notes", NULL},
     target_line, {1, 2, 0}},
    {"workloads",
     {"workload", "what it does", "rule", "sweep", "main metrics", "parameters", "metrics", NULL},
     workload_line, {2, 2, 0}},
    {"params", {"parameter", "short", "default", "allowed", "list", "what it is", NULL}, param_line,
     {0}},
    {"metrics", {"metric", "title", "unit", "class", "better", "what it is", NULL}, metric_line,
     {0}},
    {"verdicts", {"verdict", "meaning", "what still ranks", NULL}, verdict_line, {0}},
    {"commands", {"command", "what it does", NULL}, command_line, {0}},
    {"options", {"option", "short", "argument", "what it is", NULL}, option_line, {0}},
    {"keys", {"keys", "command", "views", "what it does", NULL}, key_line, {0}},
    {"plans", {"plan", "what it measures", "about", NULL}, plan_line, {0}},
    {"claims", {"claim", "what is said", "where", "how it is tried", NULL}, claim_line, {2, 0, 0}},
    {"themes", {"theme", "what it looks like", NULL}, theme_line, {0}},
    {"loopback", {"point", "what loopback hides", NULL}, loopback_line, {0}},
};
static const int listing_count = sizeof listings / sizeof *listings;

static const char *listing_word(int i)
{
    return i < listing_count ? listings[i].word : NULL;
}

char *cli_list_tables(char *buf, size_t size)
{
    *buf = '\0';
    for (int i = 0; i < listing_count; i++) {
        size_t n = strlen(buf);
        snprintf(buf + n, size - n, "%s%s", i ? ", " : "", listings[i].word);
    }
    return buf;
}

static int refuse(const char *word)
{
    char text[320], echo[64] = "list", all[200];
    const char *near = word ? params_nearest(word, listing_word) : NULL;
    cli_list_tables(all, sizeof all);
    if (word)
        params_echo(word, echo, sizeof echo);
    snprintf(text, sizeof text, "%s: %s%s%s%s (%s)", echo,
             word ? "no such table" : "needs the name of a table", near ? "; did you mean " : "",
             near ? near : "", near ? "?" : "", all);
    return cli_fail(2, text);
}

static void print_json(const struct grid *g)
{
    struct json *j = json_new("list");
    grid_to(g, json_table(j, "rows"));
    json_print(j, stdout);
}

static void print(const struct listing *l, enum grid_format format)
{
    const char *heads[GRID_COLUMNS + 1] = {NULL};
    struct grid g;
    for (int i = 0; l->heads[i + l->dropped[format]]; i++)
        heads[i] = l->heads[i];
    grid_init(&g, heads);
    for (int i = 0;; i++) {
        struct line line = {.store = {""}};
        if (!l->line(i, &line))
            break;
        grid_add(&g, line.cell);
    }
    if (format == GRID_JSON)
        print_json(&g);
    else
        grid_print(&g, format, !cli_utf8(), stdout);
    grid_fini(&g);
}

/* Why it came out empty, after it was printed; NULL: it did not. */
static const char *why_none(const struct listing *l)
{
    if (l->line == claim_line)
        return no_claims.text[0] ? no_claims.text : NULL;
    return l->line == plan_line ? plan_looked() : NULL;
}

int cli_list(const struct args *a)
{
    const char *word = a->operand_count ? a->operand[0] : NULL;
    enum grid_format format;
    struct err e;
    if (grid_format(a->options.format, &format, &e) < 0)
        return cli_fail(2, e.text);
    for (int i = 0; word && i < listing_count; i++) {
        if (!strcmp(word, listings[i].word)) {
            print(&listings[i], format);
            const char *none = why_none(&listings[i]);
            return none ? cli_fail(1, none) : cli_flush(0);
        }
    }
    return refuse(word);
}
