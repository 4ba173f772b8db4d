/* SPDX-License-Identifier: MIT */
/* `iodash run`: the session with no dashboard. Everything that can be refused is refused before any
 * load; progress goes to stderr when that is a terminal; the table and the answer go to stdout. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/attach.h"
#include "cli/cli.h"
#include "cli/conditions.h"
#include "cli/follow.h"
#include "cli/grid.h"
#include "cli/json.h"
#include "cli/map.h"
#include "cli/print.h"
#include "cli/run.h"
#include "load/workloads.h"
#include "session/csv.h"
#include "session/reach.h"

/* --- the highest rate ------------------------------------------------------------------------- */

struct found { /* what --find-rate says at the end */
    int count;
    char line[LINEUP_MAX * 8][400];
    struct print_rows rows;
};

static void find_lines(const struct find *f, const struct row *r, struct found *out)
{
    const int room = sizeof out->line / sizeof *out->line;
    for (int i = 0; r && i < r->pane_count && out->count < room; i++)
        out->count += find_say(f, r, i, out->line[out->count], sizeof out->line[0]);
    const int most = sizeof out->rows.number / sizeof *out->rows.number;
    if (find_row(f) && out->rows.count < most)
        out->rows.number[out->rows.count++] = find_row(f);
}

/* One lineup at one set of parameters: a row a rate until there is nothing left to find. */
static void find_one(struct session *s, const struct conditions *c, const struct plan_row *base,
                     bool quiet, struct found *out)
{
    struct plan_row row = *base;
    struct plan one = {.count = 1, .rows = &row, .axis = {PARAM_rate, PARAM_COUNT}};
    const struct row *last = NULL;
    struct find f;
    char rate[24];
    find_init(&f, &c->limit, &base->lineup);
    while (!follow_interrupted() && find_next(&f, &row.params.rate)) {
        params_show(PARAM_rate, row.params.rate, rate, sizeof rate);
        snprintf(one.title, sizeof one.title, "rate %d of at most %d, %s", f.rows + 1,
                 find_most(&f), rate);
        one.seconds = plan_row_seconds(&row);
        follow_plan(s, &one, quiet);
        session_lock(s);
        last = session_rows(s)->last;
        if (!follow_interrupted())
            find_take(&f, last);
        session_unlock(s);
    }
    session_lock(s);
    find_lines(&f, last, out);
    session_unlock(s);
}

static void find_all(struct session *s, const struct conditions *c, const struct plan *plan,
                     bool quiet, struct found *out)
{
    double seconds;
    char span[24];
    int most = conditions_find_most(c, plan, &seconds);
    if (isatty(STDERR_FILENO) && !quiet)
        fprintf(stderr, "looking for the highest rate: at most %d rows, about %s\n", most,
                units_about(span, sizeof span, seconds));
    for (int i = 0; i < plan->count && !follow_interrupted(); i++)
        find_one(s, c, &plan->rows[i], quiet, out);
}

/* --- the end ---------------------------------------------------------------------------------- */

/* What is dropped is in no file. */
static bool kept_anything(const struct rows *rows)
{
    const struct row *r = rows->first;
    while (r && r->state == ROW_DROPPED)
        r = r->next;
    return r != NULL;
}

static void say_saved(const char *name)
{
    int n = (int)strlen(name);
    n -= n > 4 && !strcmp(name + n - 4, ".csv") ? 4 : 0;
    fprintf(stderr, "iodash: saved %.*s.csv and %.*s-tables.csv\n", n, name, n, name);
}

/* Saves where it was asked for; after an interruption under a name of our own, if need be. Files
 * with nothing in them would only take the name. */
static int save(struct session *s, const struct args *a, struct err *e)
{
    struct csv_session c = {session_rows(s), session_environment(s), session_id(s)};
    const char *name = a->options.output;
    char own[64];
    if (!kept_anything(c.rows) || (!name && !follow_interrupted()))
        return 0;
    int r = name ? csv_save(&c, name, e) : csv_save_new(&c, own, sizeof own, e);
    if (r >= 0 && (follow_interrupted() || !a->options.quiet))
        say_saved(name ? name : own);
    return r;
}

static bool measured_anything(const struct rows *rows)
{
    for (const struct row *r = rows->first; r; r = r->next)
        for (int i = 0; i < r->pane_count && r->state != ROW_DROPPED; i++)
            if (r->panes[i].count > 0)
                return true;
    return false;
}

/* A table alone: what has no column goes to stderr. */
static bool for_programs(enum grid_format format)
{
    return format == GRID_CSV || format == GRID_JSON;
}

static void print_tables(const struct csv_session *c, enum grid_format format, const char *command)
{
    if (format == GRID_CSV) {
        csv_tables(c, stdout);
        return;
    }
    struct json *j = json_new(command);
    csv_tables_to(c, json_table(j, "rows"));
    json_print(j, stdout);
}

static void print_found(const struct found *found, enum grid_format format)
{
    FILE *out = for_programs(format) ? stderr : stdout;
    for (int i = 0; i < found->count; i++)
        fprintf(out, format == GRID_MARKDOWN ? "**RATE**  %s  \n" : "RATE    %s\n", found->line[i]);
}

/* As they stand also in Markdown; a table for programs has no room for them. */
static void print_details(const struct run_kind *kind, enum grid_format format,
                          const struct rows *rows)
{
    const char *fence = format == GRID_MARKDOWN ? "```\n" : "";
    if (for_programs(format))
        return;
    fputs(fence, stdout);
    kind->details(stdout, rows);
    fputs(fence, stdout);
}

/* What a run leaves beside its rows. */
struct run_result {
    const char *title; /* of a plan that was asked for; NULL: there is none */
    enum grid_format format;
    const struct plan *plan;
    struct map_axes map; /* where the plan is over connections and rate */
    struct conditions conditions;
    struct found found;
};

/* Of single rounds the map says more than their table. */
static void print_people(struct session *s, const struct run_result *o)
{
    bool markdown = o->format == GRID_MARKDOWN, map = map_is_plan(o->plan) && !o->conditions.finds;
    if (!map || !row_asks_one(&o->plan->rows[0].params))
        print_session(stdout, s, &o->found.rows, markdown);
    if (map)
        map_print(stdout, o->plan, &o->map, session_rows(s), markdown);
}

static int report(struct session *s, const struct args *a, const struct run_kind *kind,
                  const struct run_result *o)
{
    struct err e = {{0}};
    session_lock(s);
    const struct rows *rows = session_rows(s);
    struct csv_session c = {rows, session_environment(s), session_id(s)};
    bool any = measured_anything(rows), kept = kept_anything(rows);
    struct err why = {{0}};
    if (!any && rows->first)
        err_set(&why, ENODATA, "nothing was measured: %s", rows->first->panes[0].reason);
    int r = save(s, a, &e);
    if (for_programs(o->format))
        print_tables(&c, o->format, kind->command);
    else if (o->title)
        printf("%s%s\n\n", o->format == GRID_MARKDOWN ? "## " : "", o->title);
    if (!for_programs(o->format))
        print_people(s, o);
    if (kind->details)
        print_details(kind, o->format, rows);
    print_found(&o->found, o->format);
    bool vain = any && !follow_interrupted() && kind->judge && kind->judge(rows, &why) < 0;
    bool failed = any && !follow_interrupted() && conditions_failed(&o->conditions, rows);
    session_unlock(s);
    if (fflush(stdout) != 0 && r >= 0)
        r = err_sys(&e, "write the table");
    if (r < 0)
        return cli_fail(1, e.text);
    if (follow_interrupted())
        return kept ? 130 : cli_fail(130, "interrupted before anything was kept: nothing is saved");
    if (!any || vain)
        return cli_fail(1, why.text[0] ? why.text : "nothing was measured");
    return failed ? 3 : 0;
}

static int take_at(const struct args *a, struct plan *plan, struct map_axes *map, struct err *e)
{
    map_axes_of(plan, map);
    int r = a->options.at ? map_at_parse(a->options.at, map, e) : 0;
    return r == 0 && a->options.at ? map_plan_at(plan, map, e) : r;
}

/* Everything that can be refused from the arguments and this machine. */
static int prepare(const struct args *a, const struct run_kind *kind, struct plan *plan,
                   struct run_result *o, struct err *e)
{
    int r = grid_format(a->options.format, &o->format, e);
    if (r == 0)
        r = kind->plan(a, plan, e);
    if (r == 0)
        r = take_at(a, plan, &o->map, e);
    if (r == 0)
        r = conditions_take(a, plan, &o->conditions, e);
    if (r == 0 && a->options.output)
        r = csv_check(a->options.output, e);
    if (r == 0)
        r = reach_check_here(plan, e);
    if (r == 0 && kind->ready)
        r = kind->ready(e);
    return r;
}

static bool looked_at(const struct plan *p, enum param_id id)
{
    for (int i = 0; i < p->count; i++)
        if (workload_matters(workload_of(&p->rows[i].params), id))
            return true;
    return id == PARAM_workload;
}

/* What was asked for and changes nothing, in a line each. */
static void say_in_vain(const struct args *a, const struct plan *p)
{
    const struct params *first = &p->rows[0].params;
    const struct workload *w = workload_of(first);
    double values = w->repeat ? first->repeats : first->samples;
    char flag[32];
    for (int id = 0; id < PARAM_COUNT; id++)
        if (a->given[id] && !looked_at(p, id))
            fprintf(stderr, "iodash: %s: %s does not look at it\n",
                    params_flag(id, flag, sizeof flag), w->id);
    if (a->given[PARAM_trim] && first->duration <= 0 && 2 * first->trim >= values)
        fprintf(stderr, "iodash: --trim %.0f: of %.0f values that leaves only the middle, with no "
                "interval\n", first->trim, values);
}

int run_command(const struct args *a, const struct run_kind *kind)
{
    struct err e = {{0}};
    struct plan plan = {0};
    static struct run_result out; /* large */
    bool quiet = a->options.quiet != NULL;
    int r = prepare(a, kind, &plan, &out, &e);
    if (r < 0) {
        plan_free(&plan);
        return cli_fail(cli_status(r), e.text);
    }
    if (!quiet)
        say_in_vain(a, &plan);
    follow_signals();
    struct session_options o = {.pin = a->params.pin != PIN_OFF, .prices = kind->prices};
    struct session *s = session_new(&o, &e);
    if (!s) {
        plan_free(&plan);
        return cli_fail(1, e.text);
    }
    if (out.conditions.finds)
        find_all(s, &out.conditions, &plan, quiet, &out.found);
    else
        follow_plan(s, &plan, quiet);
    out.plan = &plan;
    out.title = a->options.plan ? plan.title : NULL;
    int status = report(s, a, kind, &out);
    session_free(s);
    plan_free(&plan);
    return status;
}

int cli_run(const struct args *a)
{
    static const struct run_kind kind = {.command = "run", .plan = attach_plan, .prices = true};
    return run_command(a, &kind);
}
