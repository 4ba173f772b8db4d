/* SPDX-License-Identifier: MIT */
/* The claims view's keys. Claims are read when the view is first looked at; trying them is left to
 * a thread of the session's, and what is on the screen is a copy of its state. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "ui/actions.h"
#include "ui/actions_copy.h"

enum { ALL, REST, ONE }; /* of the picker */

/* --- their state ------------------------------------------------------------------------------ */

/* Not a saved one that is looked at meanwhile. */
static struct session *measuring(const struct app *a)
{
    return a->sessions.live ? a->sessions.live : a->session;
}

static void read_claims(struct app *a)
{
    struct claims_state *k = &a->claims;
    if (claims_read(NULL, 0, &k->all, &k->why) < 0 && !k->why.text[0])
        snprintf(k->why.text, sizeof k->why.text, "the claims cannot be read");
    k->run = claims_run_new(measuring(a), &k->all);
    k->tries = xcalloc((size_t)k->all.count + 1, sizeof *k->tries);
}

/* How they came out, when the last one that was asked for is done. */
static void say_end(struct app *a)
{
    int n[CLAIM_VERDICTS] = {0};
    for (int i = 0; i < a->claims.all.count; i++)
        if (a->claims.tries[i].tried)
            n[a->claims.tries[i].result.verdict]++;
    app_say(a, "tried so far: %d true, %d false, %d depend%s, %d not measured", n[CLAIM_TRUE],
            n[CLAIM_FALSE], n[CLAIM_DEPENDS], n[CLAIM_DEPENDS] == 1 ? "s" : "",
            n[CLAIM_NOT_MEASURED]);
}

void claims_take(struct app *a)
{
    struct claims_state *k = &a->claims;
    if (!k->run && a->view == VIEW_CLAIMS)
        read_claims(a);
    if (!k->run)
        return;
    claims_run_read(k->run, k->tries);
    bool busy = claims_to_try(a) > 0;
    if (k->busy && !busy)
        say_end(a);
    k->busy = busy;
}

void claims_drop(struct app *a)
{
    struct claims_state *k = &a->claims;
    claims_run_free(k->run);
    free(k->tries);
    claims_free(&k->all);
    *k = (struct claims_state){0};
}

int claims_tried(const struct app *a)
{
    int n = 0;
    for (int i = 0; i < a->claims.all.count; i++)
        n += a->claims.tries[i].tried;
    return n;
}

int claims_to_try(const struct app *a)
{
    int n = 0;
    for (int i = 0; i < a->claims.all.count; i++)
        n += a->claims.tries[i].state != TRY_RESTS;
    return n;
}

bool claims_stop(struct app *a)
{
    if (!a->claims.run || claims_run_wait(a->claims.run, 0))
        return false;
    claims_run_stop(a->claims.run);
    a->claims.busy = false; /* its end is no news */
    session_stop_plan(measuring(a));
    a->changed = true;
    app_say(a, "stopped; what was tried stays");
    return true;
}

/* --- trying ----------------------------------------------------------------------------------- */

/* One, those without a verdict, or all. Returns how many. */
static int choose(const struct app *a, int which, bool *wanted)
{
    const struct claims_state *k = &a->claims;
    int n = 0;
    for (int i = 0; i < k->all.count; i++) {
        bool open = !k->tries[i].tried || k->tries[i].result.verdict == CLAIM_NOT_MEASURED;
        wanted[i] = which == ONE ? i == k->at : which == ALL || open;
        n += wanted[i];
    }
    return n;
}

void claims_start(struct app *a, int which)
{
    struct claims_state *k = &a->claims;
    char span[24];
    if (!k->all.count || act_refused(a))
        return;
    if (!a->scene->now->load_on) {
        app_warn(a, "the load is off; space turns it on again in the live view");
        return;
    }
    bool *wanted = xcalloc((size_t)k->all.count, sizeof *wanted);
    int n = choose(a, which, wanted);
    if (n && !claims_run_start(k->run, wanted))
        app_warn(a, "claims are being tried; Esc stops that");
    else
        app_say(a, "%d claim%s, about %s; Esc stops, what was tried stays", n, n == 1 ? "" : "s",
                units_about(span, sizeof span, claims_seconds(&k->all, wanted)));
    k->busy = n > 0;
    a->changed = true;
    free(wanted);
}

void act_claim_again(struct app *a, int arg)
{
    (void)arg;
    claims_start(a, ONE);
}

static void add_choice(struct app *a, int which, const char *name)
{
    bool *wanted = xcalloc((size_t)a->claims.all.count, sizeof *wanted);
    struct picker_item *item = picker_add(&a->picker);
    int n = choose(a, which, wanted);
    char span[24];
    units_about(span, sizeof span, claims_seconds(&a->claims.all, wanted));
    snprintf(item->name, sizeof item->name, "%s", name);
    if (n == 0)
        snprintf(item->why_not, sizeof item->why_not, "all of them have a verdict");
    else if (which == ONE)
        snprintf(item->text, sizeof item->text, "about %s: %s", span,
                 a->claims.all.list[a->claims.at]->title);
    else
        snprintf(item->text, sizeof item->text, "about %s: %d claim%s, one after the other", span,
                 n, n == 1 ? "" : "s");
    item->value = which;
    free(wanted);
}

void claims_list(struct app *a)
{
    picker_open(&a->picker, PICK_CLAIMS, "claims to try; Esc stops, what was tried stays");
    if (a->claims.all.count) {
        add_choice(a, ALL, "all");
        add_choice(a, REST, "without a verdict");
        add_choice(a, ONE, "this one");
    }
    picker_start(&a->picker, ALL);
}

/* --- looking at them -------------------------------------------------------------------------- */

void act_claim_focus(struct app *a, int i)
{
    if (i >= 0 && i < a->claims.all.count)
        a->claims.at = i;
}

void act_claim_move(struct app *a, int step)
{
    act_claim_focus(a, a->claims.at + step);
}

static bool has_brackets(enum param_id id)
{
    return id == PARAM_connections || id == PARAM_idle || id == PARAM_rate || id == PARAM_size;
}

/* Its first row; what was varied is put in brackets, so that the arrows walk it. */
void act_claim_live(struct app *a, int arg)
{
    (void)arg;
    if (!a->claims.all.count || act_refused(a))
        return;
    const struct claim *c = a->claims.all.list[a->claims.at];
    enum param_id axis = c->plan.axis[0];
    if (!c->plan.count) {
        app_say(a, "%s", c->cannot[0] ? c->cannot
                                      : "nothing of it is measured live; n tries it in a moment");
        return;
    }
    struct plan_row want = c->plan.rows[0];
    want.claim[0] = '\0';
    want.params.pin = a->want.params.pin; /* chosen when the session began */
    a->figure = METRIC_COUNT;
    act_view(a, VIEW_LIVE);
    app_order(a, &want);
    if (a->note[0]) /* it does not fit here */
        return;
    a->field = has_brackets(axis) ? axis : a->field;
    if (has_brackets(axis))
        app_say(a, "\"%s\"; up and down change %s", c->title, param_table[axis].id);
    else
        app_say(a, "\"%s\"", c->title);
}

void act_claims_copy(struct app *a, int arg)
{
    (void)arg;
    char *text;
    size_t size;
    if (!claims_tried(a)) {
        app_warn(a, "no claim is tried yet; nothing was copied");
        return;
    }
    FILE *f = open_memstream(&text, &size);
    if (!f)
        die("out of memory for a text");
    claims_markdown(&a->claims.all, a->claims.tries, f);
    if (fclose(f) != 0)
        die("out of memory for a text");
    copy_markdown(a, "claims", text);
    free(text);
}
