/* SPDX-License-Identifier: MIT */
/* `iodash`: the dashboard. It never starts empty: what does not fit into the descriptors is
 * reduced, and said. */
#include "cli/dash.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/home.h"
#include "base/limits.h"
#include "cli/attach.h"
#include "cli/cli.h"
#include "session/autosave.h"
#include "session/map.h"
#include "session/reach.h"
#include "session/state.h"
#include "ui/ui.h"

#define WELCOME "two servers under the same load: who pays less for a request, and why. ? help"

static int charset(const char *text, enum term_charset *out, struct err *e)
{
    static const char *const words[] = {"auto", "braille", "block", "ascii"};
    *out = CHARSET_AUTO;
    for (size_t i = 0; text && i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = (enum term_charset)i;
            return 0;
        }
    if (!text)
        return 0;
    return err_set(e, EINVAL, "--charset %s: must be auto, braille, block or ascii", text);
}

int dash_look(const struct args *a, struct ui_options *o, struct err *wrong, struct err *e)
{
    o->term.no_color = a->options.no_color != NULL;
    int r = charset(a->options.charset, &o->term.charset, e);
    if (r < 0)
        return r;
    r = theme_load(a->options.theme, &o->theme, wrong);
    o->theme_wrong = wrong->text;
    return r < 0 ? err_set(e, -r, "%s", wrong->text) : 0;
}

void dash_say(char *line, size_t size, const char *before, const char *text)
{
    size_t n = strlen(line);
    snprintf(line + n, size - n, "%s%s%s", n ? "; " : "", before, text);
}

int dash_keep(struct settings *config, int status)
{
    struct err e = {{0}};
    return settings_save(config, &e) < 0 ? cli_fail(1, e.text) : status;
}

/* --- what is measured first ------------------------------------------------------------------- */

struct start {
    struct ui_options o;
    struct plan plan;
    struct map_axes map;
    struct err theme_wrong;
    bool asked[PARAM_COUNT]; /* typed, or set for good */
    char models[LINEUP_MAX * 40]; /* taken from the plan map, "": others */
    char line[400];          /* the log's first */
};

/* Halves what nobody typed until the plan fits; what was typed is refused instead. */
static int fit(const struct args *a, struct start *s, struct err *e)
{
    struct params *p = &s->plan.rows[0].params;
    double asked = p->connections;
    char text[120];
    int r;
    while ((r = reach_check_here(&s->plan, e)) < 0) {
        if (a->given[PARAM_connections] || p->connections < 2)
            return r;
        p->connections = (double)(long)(p->connections / 2);
    }
    if (p->connections < asked) {
        snprintf(text, sizeof text,
                 "%.0f connections in place of %.0f: %ld descriptors are allowed here",
                 p->connections, asked, limits_nofile_soft());
        dash_say(s->line, sizeof s->line, "", text);
    }
    return 0;
}

/* The lists that were given are the map's too. */
static int map_of(const struct args *a, struct plan *plan, struct map_axes *out, struct err *e)
{
    map_axes_of(plan, out);
    int r = a->options.at ? map_at_parse(a->options.at, out, e) : 0;
    return r == 0 && out->has_at && map_is_plan(plan) ? map_plan_at(plan, out, e) : r;
}

/* What a place of a map leaves out, the live row has again. */
static void live_again(struct plan_row *want)
{
    if (!row_asks_one(&want->params))
        return;
    want->params.samples = want->params.warmup = want->params.trim = PARAM_UNSET;
    workload_resolve(&want->params);
}

/* A place on the map is asked of the map's models: not all go so far. Where no plan came with the
 * program they are the usual ones. */
static void models_of_map(struct start *s)
{
    struct plan map;
    size_t n = 0;
    if (plan_from_file("map", NULL, &map, NULL) < 0)
        return;
    const struct lineup *l = &map.rows[0].lineup;
    for (int i = 0; i < l->count && n < sizeof s->models; i++)
        n += (size_t)snprintf(s->models + n, sizeof s->models - n, "%s%s", i ? "," : "",
                              l->models[i]->id);
    plan_free(&map);
}

static int plan_of(const struct args *a, struct start *s, struct err *e)
{
    const struct options *o = &a->options;
    s->models[0] = '\0';
    if (!o->at || o->models || o->plan || o->attach)
        return attach_plan(a, &s->plan, e);
    struct args *with = xcalloc(1, sizeof *with); /* large */
    *with = *a;
    models_of_map(s);
    with->options.models = s->models[0] ? s->models : NULL;
    int r = attach_plan(with, &s->plan, e);
    free(with);
    return r;
}

static int prepare(const struct args *a, struct start *s, struct err *e)
{
    plan_free(&s->plan);
    s->plan = (struct plan){0};
    int r = dash_look(a, &s->o, &s->theme_wrong, e);
    if (r == 0)
        r = plan_of(a, s, e);
    if (r == 0)
        r = map_of(a, &s->plan, &s->map, e);
    return r == 0 ? fit(a, s, e) : r;
}

/* The folder would leave no room for the reason. */
static void say_left_out(struct start *s, const char *why)
{
    const char *name = strstr(why, "/iodash.ini");
    dash_say(s->line, sizeof s->line, "settings left out: ", name ? name + 1 : why);
}

/* Settings end nothing: where it does not start with them it does without. */
static int with_settings(const struct args *a, struct settings *config, struct start *s,
                         struct err *e)
{
    struct args *under = xcalloc(1, sizeof *under); /* large */
    struct err wrong = {{0}};
    *under = *a;
    if (settings_load(config, &wrong) < 0)
        say_left_out(s, wrong.text);
    settings_under(config, under);
    if (a->options.attach)
        under->options.models = a->options.models; /* else it would not stand among them */
    int r = prepare(under, s, &wrong);
    free(under);
    if (r == 0) {
        for (int id = 0; id < PARAM_COUNT; id++)
            s->asked[id] = a->given[id] || !isnan(params_get(&config->params, (enum param_id)id));
        return 0;
    }
    memcpy(s->asked, a->given, sizeof s->asked);
    r = prepare(a, s, e);
    if (r == 0)
        say_left_out(s, wrong.text);
    return r;
}

/* --- showing it ------------------------------------------------------------------------------- */

/* Sessions that a crash left behind, and what this is when it was never started before. */
static void say_state(const char *folder, char *line, size_t size)
{
    char path[STATE_PATH], when[24], text[160];
    int n = *folder ? autosave_recover(folder, path, sizeof path) : 0;
    if (n > 0) {
        state_recent_add(path);
        autosave_when(path, when, sizeof when);
        if (n == 1)
            snprintf(text, sizeof text, "recovered session of %s: o opens it", when);
        else
            snprintf(text, sizeof text, "%d recovered sessions, the last of %s: o opens it", n,
                     when);
        dash_say(line, size, "", text);
    }
    if (!*line && state_first_start())
        dash_say(line, size, "", WELCOME);
}

static int show(struct start *st)
{
    struct err e = {{0}};
    char parting[2048] = "", folder[STATE_PATH] = "";
    if (!state_folder(folder, sizeof folder) &&
        home_folder(HOME_STATE, folder, sizeof folder, &e) < 0) {
        *folder = '\0';
        dash_say(st->line, sizeof st->line, "not kept for a crash: ", e.text);
    }
    say_state(folder, st->line, sizeof st->line);
    st->o.autosave = *folder ? folder : NULL;
    struct session_options so = {.pin = st->plan.rows[0].params.pin != PIN_OFF, .forever = true,
                                 .prices = true, .autosave = st->o.autosave};
    struct session *s = session_new(&so, &e);
    if (!s)
        return cli_fail(1, e.text);
    int status = ui_run(s, &st->o, parting, sizeof parting, &e);
    session_free(s);
    if (status < 0)
        return cli_fail(1, e.text);
    fputs(parting, stdout);
    return status;
}

int cli_dash(const struct args *a)
{
    struct err e = {{0}};
    struct settings config;
    struct start s = {0};
    int r = with_settings(a, &config, &s, &e);
    if (r < 0) {
        plan_free(&s.plan);
        return cli_fail(cli_status(r), e.text);
    }
    s.o.want = s.plan.rows[0];
    s.o.given = s.asked;
    s.o.plan = s.plan.count > 1 ? &s.plan : NULL;
    s.o.map = &s.map;
    s.o.on_map = s.map.has_at || (s.plan.count > 1 && row_asks_one(&s.o.want.params));
    if (s.plan.count > 1)
        live_again(&s.o.want);
    if (s.models[0])
        dash_say(s.line, sizeof s.line, s.models, ": the models of the plan map; m takes others");
    s.o.first_line = s.line;
    s.o.config = &config;
    int status = show(&s);
    plan_free(&s.plan);
    return dash_keep(&config, status);
}
