/* SPDX-License-Identifier: MIT */
/* `iodash list TABLE`: the five tables of the program, and the plans, as text, Markdown (the README's
 * tables are made of it) or CSV. A listing is a row here: its word, its heads, and a function that
 * fills one row of cells. What depends on this machine stays out of Markdown, which is kept. */
#include "cli/cli.h"

#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cli/grid.h"
#include "load/workloads.h"
#include "metrics/metrics.h"
#include "servers/io_models.h"
#include "session/plan.h"
#include "ui/commands.h"
#include "ui/keys.h"

struct line {
    const char *cell[GRID_COLUMNS];
    char store[4][512]; /* for cells that are made, not found */
};

static void join(char *buf, size_t size, const char *word)
{
    size_t n = strlen(buf);
    snprintf(buf + n, size - n, "%s%s", n ? " " : "", word);
}

/* --- one function a table: false past its last row ------------------------------------------- */

static bool model_line(int i, enum grid_format format, struct line *out)
{
    if (i >= io_model_count)
        return false;
    const struct io_model *m = io_model_table[i];
    struct err e = {""};
    out->cell[0] = m->id;
    out->cell[1] = io_group_words[m->group];
    out->cell[2] = m->summary;
    if (format != GRID_MARKDOWN && m->probe && m->probe(&e) < 0) {
        snprintf(out->store[0], sizeof out->store[0], "not here: %s", e.text);
        out->cell[3] = out->store[0];
    }
    return true;
}

static bool workload_line(int i, enum grid_format format, struct line *out)
{
    (void)format;
    if (i >= workload_count)
        return false;
    const struct workload *w = &workload_table[i];
    for (const enum param_id *p = w->matters; *p != PARAM_COUNT; p++)
        join(out->store[0], sizeof out->store[0], param_table[*p].id);
    for (const enum metric_id *m = w->yields; *m != METRIC_COUNT; m++)
        join(out->store[1], sizeof out->store[1], metric_table[*m].id);
    out->cell[0] = w->id;
    out->cell[1] = w->summary;
    out->cell[2] = w->rule;
    out->cell[3] = out->store[0];
    out->cell[4] = out->store[1];
    return true;
}

static bool param_line(int i, enum grid_format format, struct line *out)
{
    (void)format;
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

static bool metric_line(int i, enum grid_format format, struct line *out)
{
    static const char *const classes[] = {
        [CLASS_COST] = "cost",       [CLASS_RATE] = "rate", [CLASS_SHARE] = "share",
        [CLASS_LATENCY] = "latency", [CLASS_TIME] = "time", [CLASS_COUNT] = "count",
        [CLASS_STATE] = "state",
    };
    static const char *const better[] = {
        [BETTER_LESS] = "less", [BETTER_MORE] = "more", [BETTER_NONE] = "",
    };
    (void)format;
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

static const char *views_of(unsigned views, char *buf, size_t size)
{
    static const struct {
        unsigned view;
        const char *word;
    } words[] = {{VIEW_LIVE, "live"}, {VIEW_TABLE, "table"}, {VIEW_HELP, "help"}};
    if (views == VIEWS_ALL)
        return "all";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (views & words[i].view)
            join(buf, size, words[i].word);
    return buf;
}

static bool key_line(int i, enum grid_format format, struct line *out)
{
    (void)format;
    if (i >= command_count)
        return false;
    const struct command *c = &command_table[i];
    out->cell[0] = keys_show(c->keys, out->store[0], sizeof out->store[0]);
    out->cell[1] = c->name;
    out->cell[2] = views_of(c->views, out->store[1], sizeof out->store[1]);
    out->cell[3] = c->help;
    return true;
}

static bool plan_line(int i, enum grid_format format, struct line *out)
{
    (void)format;
    struct plan_info info;
    if (!plan_shipped(i, &info))
        return false;
    snprintf(out->store[0], sizeof out->store[0], "%s", info.name);
    snprintf(out->store[1], sizeof out->store[1], "%s", info.title);
    out->cell[0] = out->store[0];
    out->cell[1] = out->store[1];
    out->cell[2] = units_span(out->store[2], sizeof out->store[2], info.seconds);
    return true;
}

/* --- the listings ---------------------------------------------------------------------------- */

struct listing {
    const char *word;
    const char *heads[GRID_COLUMNS + 1];
    bool (*line)(int i, enum grid_format format, struct line *out);
};

static const struct listing listings[] = {
    {"models", {"model", "group", "how it waits", "here", NULL}, model_line},
    {"workloads", {"workload", "what it does", "rule", "parameters", "metrics", NULL},
     workload_line},
    {"params", {"parameter", "short", "default", "allowed", "list", "what it is", NULL}, param_line},
    {"metrics", {"metric", "title", "unit", "class", "better", "what it is", NULL}, metric_line},
    {"keys", {"keys", "command", "views", "what it does", NULL}, key_line},
    {"plans", {"plan", "what it measures", "about", NULL}, plan_line},
};
static const int listing_count = sizeof listings / sizeof *listings;

static const char *listing_word(int i)
{
    return i < listing_count ? listings[i].word : NULL;
}

static int refuse(const char *word)
{
    char text[256], echo[64] = "list", all[128] = "";
    const char *near = word ? params_nearest(word, listing_word) : NULL;
    for (int i = 0; i < listing_count; i++) {
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", listings[i].word);
    }
    if (word)
        params_echo(word, echo, sizeof echo);
    snprintf(text, sizeof text, "%s: %s%s%s%s (%s)", echo,
             word ? "no such table" : "needs the name of a table", near ? "; did you mean " : "",
             near ? near : "", near ? "?" : "", all);
    return cli_fail(2, text);
}

/* The last column of the models is about this machine: not for a page that is kept. */
static int columns_kept(const struct listing *l, enum grid_format format)
{
    int n = 0;
    while (l->heads[n])
        n++;
    return n - (format == GRID_MARKDOWN && l->line == model_line);
}

static void print(const struct listing *l, enum grid_format format)
{
    const char *heads[GRID_COLUMNS + 1] = {NULL};
    struct grid g;
    memcpy(heads, l->heads, (size_t)columns_kept(l, format) * sizeof *heads);
    grid_init(&g, heads);
    for (int i = 0;; i++) {
        struct line line = {.store = {""}};
        if (!l->line(i, format, &line))
            break;
        grid_add(&g, line.cell);
    }
    grid_print(&g, format, !cli_utf8(), stdout);
    grid_fini(&g);
}

int cli_list(const struct args *a)
{
    const char *word = a->operand_count ? a->operand[0] : NULL;
    for (int i = 0; word && i < listing_count; i++) {
        if (!strcmp(word, listings[i].word)) {
            print(&listings[i], grid_format(a->options.format));
            return cli_flush(0);
        }
    }
    return refuse(word);
}
