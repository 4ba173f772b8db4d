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
#include <strings.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/units.h"
#include "cli/follow.h"
#include "cli/grid.h"
#include "cli/json.h"
#include "session/claims_run.h"

struct tried {
    struct claims claims;
    struct claim_try *tries;
    bool quiet;
};

/* --- trying ----------------------------------------------------------------------------------- */

static void say_length(const struct tried *t)
{
    char span[24];
    if (isatty(STDERR_FILENO) && !t->quiet)
        fprintf(stderr, "%d claim%s, about %s\n", t->claims.count, t->claims.count == 1 ? "" : "s",
                units_about(span, sizeof span, claims_seconds(&t->claims, NULL)));
}

static bool is_over(void *run)
{
    return claims_run_wait(run, 200 * NS_PER_MS);
}

static int try_all(struct tried *t, struct err *e)
{
    struct session_options o = {.pin = true};
    follow_signals();
    struct session *s = session_new(&o, e);
    if (!s)
        return -EIO;
    struct claims_run *run = claims_run_new(s, &t->claims);
    say_length(t);
    bool began = claims_run_start(run, NULL);
    if (began)
        follow_until(s, is_over, run, t->quiet);
    claims_run_stop(run);
    claims_run_wait(run, 3 * NS_PER_S);
    claims_run_read(run, t->tries);
    claims_run_free(run);
    session_free(s);
    return began ? 0 : err_set(e, EAGAIN, "cannot start a thread");
}

/* --- telling ---------------------------------------------------------------------------------- */

static const char *const heads[] = {"claim", "verdict", "figures", "source", NULL};

static void fill(const struct tried *t, struct grid *g)
{
    char figures[CLAIM_FIGURES];
    grid_init(g, heads);
    for (int i = 0; i < t->claims.count; i++) {
        const struct claim *c = t->claims.list[i];
        const struct claim_result *r = &t->tries[i].result;
        if (t->tries[i].tried)
            grid_add(g, (const char *const[]){c->title, claim_words[r->verdict],
                                              claim_figures(r, figures, sizeof figures),
                                              c->source});
    }
}

static void print_one(const struct claim *c, const struct claim_result *r)
{
    printf("%-12s  %s\n", claim_words[r->verdict], c->title);
    if (r->reason[0])
        printf("%14s%s\n", "", r->reason);
    if (r->figures[0])
        printf("%14s%s\n", "", r->figures);
    printf("%14s%s\n%14ssaid in: %s\n", "", c->how, "", c->source);
}

static void print_text(const struct tried *t)
{
    for (int i = 0; i < t->claims.count; i++)
        if (t->tries[i].tried)
            print_one(t->claims.list[i], &t->tries[i].result);
}

static void print(const struct tried *t, enum grid_format format)
{
    struct grid g;
    if (format == GRID_TEXT || format == GRID_MARKDOWN) {
        if (format == GRID_TEXT)
            print_text(t);
        else
            claims_markdown(&t->claims, t->tries, stdout);
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

static int cannot_make(const char *name, struct err *e)
{
    return errno == EEXIST ? err_set(e, EEXIST, "cannot save %s: it exists already", name)
                           : err_sys(e, "cannot save %s", name);
}

/* A name that may be made: made and removed again, since only that asks all that can refuse it. */
static int check_output(const char *name, struct err *e)
{
    size_t n = strlen(name);
    if (n < 4 || strcasecmp(name + n - 3, ".md") != 0)
        return err_set(e, EINVAL, "--output %.200s: the verdicts are Markdown, so its name must "
                       "end in .md; --format csv is printed", name);
    int fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0)
        return cannot_make(name, e);
    close(fd);
    unlink(name);
    return 0;
}

static int save(const struct tried *t, const char *name, struct err *e)
{
    FILE *f = fopen(name, "wxe");
    if (!f)
        return cannot_make(name, e);
    claims_markdown(&t->claims, t->tries, f);
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
    t->tries = xcalloc((size_t)t->claims.count + 1, sizeof *t->tries);
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
    free(t.tries);
    claims_free(&t.claims);
    return status;
}
