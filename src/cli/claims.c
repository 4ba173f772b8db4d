/* SPDX-License-Identifier: MIT */
/* `iodash claims`: what is said of these models, tried here. One session measures the rows of all
 * claims, one claim after the other; each is judged from its own. What cannot be tried says why and
 * the others go on; the exit status is about the trying, never about the verdicts. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/follow.h"
#include "cli/grid.h"
#include "cli/json.h"
#include "session/claims.h"
#include "session/reach.h"
#include "session/session.h"

struct tried {
    struct claims claims;
    struct claim_result *results; /* of the first `count` claims */
    int count;
    bool quiet;
};

/* --- trying ----------------------------------------------------------------------------------- */

static bool cannot(const struct claim *c, char *why, size_t size)
{
    struct err e = {{0}};
    if (!c->cannot[0] && c->plan.count && reach_check_here(&c->plan, &e) < 0)
        snprintf(why, size, "%s", e.text);
    else
        snprintf(why, size, "%s", c->cannot);
    return why[0] != 0;
}

static bool run_probe(const struct claim *c, double *out, char *why, size_t size)
{
    struct err e = {{0}};
    for (int i = 0; i < PROBE_FIGURES; i++)
        out[i] = NAN;
    if (!c->probe || c->probe->run(out, &e) >= 0)
        return true;
    snprintf(why, size, "%s", e.text);
    return false;
}

/* The rows that this claim added stand behind `before`. */
static void judge(struct session *s, const struct claim *c, const struct row *before,
                  const double *probe, struct claim_result *out)
{
    session_lock(s);
    const struct rows *rows = session_rows(s);
    claim_judge(c, before ? before->next : rows->first, probe, out);
    session_unlock(s);
}

static const struct row *last_row(struct session *s)
{
    session_lock(s);
    const struct row *last = session_rows(s)->last;
    session_unlock(s);
    return last;
}

static void try_one(struct session *s, struct tried *t, struct claim *c, struct claim_result *out)
{
    double probe[PROBE_FIGURES];
    const struct row *before = last_row(s);
    *out = (struct claim_result){CLAIM_NOT_MEASURED, "", ""};
    if (cannot(c, out->reason, sizeof out->reason) ||
        !run_probe(c, probe, out->reason, sizeof out->reason))
        return;
    snprintf(c->plan.title, sizeof c->plan.title, "%d of %d, %.60s", t->count + 1, t->claims.count,
             c->title);
    if (c->plan.count)
        follow_plan(s, &c->plan, t->quiet);
    judge(s, c, before, probe, out);
}

static void say_length(const struct tried *t)
{
    double seconds = 0;
    char span[24];
    for (int i = 0; i < t->claims.count; i++)
        seconds += t->claims.list[i]->plan.seconds;
    if (isatty(STDERR_FILENO) && !t->quiet)
        fprintf(stderr, "%d claim%s, about %s\n", t->claims.count, t->claims.count == 1 ? "" : "s",
                units_about(span, sizeof span, seconds));
}

static int try_all(struct tried *t, struct err *e)
{
    struct session_options o = {.pin = true};
    follow_signals();
    struct session *s = session_new(&o, e);
    if (!s)
        return -EIO;
    say_length(t);
    for (int i = 0; i < t->claims.count && !follow_interrupted(); i++) {
        try_one(s, t, t->claims.list[i], &t->results[i]);
        t->count += !follow_interrupted(); /* half a claim is none */
    }
    session_free(s);
    return 0;
}

/* --- telling ---------------------------------------------------------------------------------- */

static const char *const heads[] = {"claim", "verdict", "figures", "source", NULL};

/* Why there is no verdict stands before the figures there are. */
static const char *figures_of(const struct claim_result *r, char *buf, size_t size)
{
    snprintf(buf, size, "%s%s%s", r->reason, r->reason[0] && r->figures[0] ? "; " : "", r->figures);
    return buf;
}

static void fill(const struct tried *t, struct grid *g)
{
    char figures[sizeof t->results->figures + sizeof t->results->reason + 8];
    grid_init(g, heads);
    for (int i = 0; i < t->count; i++) {
        const struct claim *c = t->claims.list[i];
        const struct claim_result *r = &t->results[i];
        grid_add(g, (const char *const[]){c->title, claim_words[r->verdict],
                                          figures_of(r, figures, sizeof figures), c->source});
    }
}

static void print_text(const struct tried *t)
{
    for (int i = 0; i < t->count; i++) {
        const struct claim *c = t->claims.list[i];
        const struct claim_result *r = &t->results[i];
        printf("%-12s  %s\n", claim_words[r->verdict], c->title);
        if (r->reason[0])
            printf("%14s%s\n", "", r->reason);
        if (r->figures[0])
            printf("%14s%s\n", "", r->figures);
        printf("%14s%s\n%14ssaid in: %s\n", "", c->how, "", c->source);
    }
}

static void print(const struct tried *t, enum grid_format format)
{
    struct grid g;
    if (format == GRID_TEXT) {
        print_text(t);
        return;
    }
    fill(t, &g);
    if (format == GRID_JSON) {
        struct json *j = json_new("claims");
        grid_to(&g, json_table(j, "rows"));
        json_print(j, stdout);
    } else {
        grid_print(&g, format, 0, stdout);
    }
    grid_fini(&g);
}

/* --- the file --------------------------------------------------------------------------------- */

/* A name that may be made: made and removed again, since only that asks all that can refuse it. */
static int check_output(const char *name, struct err *e)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_sys(e, "cannot save %s", name);
    close(fd);
    unlink(name);
    return 0;
}

static int save(const struct tried *t, const char *name, struct err *e)
{
    struct grid g;
    FILE *f = fopen(name, "wxe");
    if (!f)
        return err_sys(e, "cannot save %s", name);
    fill(t, &g);
    grid_print(&g, GRID_MARKDOWN, 0, f);
    grid_fini(&g);
    bool bad = fflush(f) != 0 || ferror(f) || fsync(fileno(f)) != 0;
    int status = bad ? err_sys(e, "cannot save %s", name) : 0;
    if (fclose(f) != 0 && !status)
        status = err_sys(e, "cannot save %s", name);
    if (status < 0)
        unlink(name);
    return status;
}

/* --- the command ------------------------------------------------------------------------------ */

static int prepare(const struct args *a, struct tried *t, enum grid_format *format, struct err *e)
{
    int status = grid_format(a->options.format, format, e);
    if (status == 0)
        status = claims_read(a->operand, a->operand_count, &t->claims, e);
    if (status == 0 && a->options.output)
        status = check_output(a->options.output, e);
    t->quiet = a->options.quiet != NULL;
    t->results = xcalloc((size_t)t->claims.count + 1, sizeof *t->results);
    return status;
}

int cli_claims(const struct args *a)
{
    struct err e = {{0}};
    struct tried t = {0};
    enum grid_format format;
    int error = prepare(a, &t, &format, &e), status;
    if (error == 0)
        error = try_all(&t, &e);
    if (error == 0) {
        print(&t, format);
        if (a->options.output)
            error = save(&t, a->options.output, &e);
    }
    status = error < 0 ? cli_fail(cli_status(error), e.text)
                       : cli_flush(follow_interrupted() ? 130 : 0);
    free(t.results);
    claims_free(&t.claims);
    return status;
}
