/* SPDX-License-Identifier: MIT */
/* Bisection over the logarithm of the rate. A row tells where every model stands, so models that
 * are alike share their rows. A failure that the machine may have caused (noisy) is not believed
 * until it comes twice: a bracket never opens again. */
#include "session/find.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "session/say.h"
#include "session/verdict.h"

void find_init(struct find *f, const struct expr *limit, const struct lineup *l)
{
    *f = (struct find){.limit = *limit, .panes = l->count};
    for (int i = 0; i < l->count; i++)
        f->pane[i].over = limit->model[0] && strcmp(limit->model, l->models[i]->id) != 0;
}

static int looked_for(const struct find *f)
{
    int n = 0;
    for (int i = 0; i < f->panes; i++)
        n += !f->pane[i].over;
    return n;
}

int find_most(const struct find *f)
{
    return 1 + (FIND_ROWS_EACH + FIND_AGAIN_EACH) * looked_for(f);
}

static bool is_open(const struct find_pane *p)
{
    if (p->over || p->rows >= FIND_ROWS_EACH)
        return false;
    return p->low > 0 ? p->high > p->low * FIND_RATIO : true;
}

/* Three digits: a rate that one can say. */
static double tidy(double rate)
{
    double scale = pow(10, floor(log10(rate)) - 2);
    return round(rate / scale) * scale;
}

bool find_next(struct find *f, double *rate)
{
    if (!f->peaked) {
        *rate = PARAM_MAX;
        return true;
    }
    if (f->again > 0) {
        *rate = f->again;
        return true;
    }
    for (int i = 0; i < f->panes; i++) {
        struct find_pane *p = &f->pane[i];
        if (!is_open(p))
            continue;
        *rate = tidy(p->low > 0 ? sqrt(p->low * p->high) : p->high / 2);
        if (*rate > p->low && *rate < p->high) {
            p->rows++;
            return true;
        }
        p->rows = FIND_ROWS_EACH; /* no rate of three digits lies between */
    }
    return false;
}

static void give_up(struct find_pane *p, const struct row *r, int pane)
{
    const struct pane *what = &r->panes[pane];
    p->over = true;
    snprintf(p->why, sizeof p->why, "%.30s%s%.110s", verdict_words[what->verdict],
             what->reason[0] ? ": " : "", what->reason);
}

static void take_peak(struct find *f, const struct row *r)
{
    f->peaked = true;
    for (int i = 0; i < f->panes; i++) {
        struct find_pane *p = &f->pane[i];
        double peak = row_summary(r, i, METRIC_requests_per_s).mean;
        if (p->over)
            continue;
        if (!(peak > 0)) {
            give_up(p, r, i);
            continue;
        }
        struct text t = {p->why, sizeof p->why, 0};
        p->high = tidy(peak * FIND_RATIO);
        say(&t, "flat out it does %s/s", num_si(peak).s);
    }
}

/* Did it serve the rate and keep the limit? If not, `why`. */
static bool keeps(const struct find *f, const struct row *r, int pane, char *why, size_t size)
{
    const struct pane *p = &r->panes[pane];
    struct text t = {why, size, 0};
    double v = row_summary(r, pane, f->limit.metric).mean;
    if (verdict_ends(p->verdict, ENDS_SEARCH)) {
        say(&t, "%s: %s", verdict_words[p->verdict], p->reason);
        return false;
    }
    if (verdict_behind(r, pane, why, size))
        return false;
    say(&t, "%s %s", metric_table[f->limit.metric].id, isnan(v) ? "not measured" : num(v).s);
    return expr_holds(&f->limit, v);
}

/* ", noisy, second try": the machine's share in it, and which of the rows at this rate it was. */
static void note(const struct row *r, int pane, const char *try, char *buf, size_t size)
{
    bool noisy = r->panes[pane].verdict == VERDICT_NOISY;
    snprintf(buf, size, "%s%s", noisy ? ", noisy" : "", try);
}

static bool narrow(struct find *f, const struct row *r, int pane)
{
    struct find_pane *p = &f->pane[pane];
    double rate = r->params.rate;
    const char *try = f->again == rate ? ", second try" : "";
    char why[sizeof p->why] = "", notes[32];
    if (p->over || rate <= p->low || rate >= p->high)
        return true; /* it says nothing new */
    if (keeps(f, r, pane, why, sizeof why)) {
        p->low = rate;
        p->at_low = row_summary(r, pane, f->limit.metric).mean;
        p->low_row = r->number;
        note(r, pane, try, p->low_note, sizeof p->low_note);
        return true;
    }
    note(r, pane, try, notes, sizeof notes);
    if (r->panes[pane].verdict == VERDICT_NOISY && f->again != rate &&
        f->agains < FIND_AGAIN_EACH * looked_for(f))
        return false;
    p->high = rate;
    snprintf(p->why, sizeof p->why, "%.110s%s%s%s", why, *notes ? " (" : "",
             *notes ? notes + 2 : "", *notes ? ")" : "");
    return true;
}

void find_take(struct find *f, const struct row *r)
{
    bool sure = true;
    f->rows++;
    if (!f->peaked) {
        take_peak(f, r);
        return;
    }
    for (int i = 0; i < f->panes; i++)
        sure &= narrow(f, r, i);
    for (int i = 0; i < f->panes && !sure; i++) /* another row at this rate comes now */
        if (f->pane[i].low_row == r->number)
            note(r, i, ", first try", f->pane[i].low_note, sizeof f->pane[i].low_note);
    f->agains += !sure;
    f->again = sure ? 0 : r->params.rate;
}

int find_row(const struct find *f)
{
    const struct find_pane *best = NULL;
    for (int i = 0; i < f->panes; i++) {
        const struct find_pane *p = &f->pane[i];
        if (!p->over && p->low > 0 && (!best || p->low < best->low))
            best = p;
    }
    return best ? best->low_row : 0;
}

bool find_say(const struct find *f, const struct row *r, int pane, char *buf, size_t size)
{
    const struct find_pane *p = &f->pane[pane];
    const char *model = r->panes[pane].model, *limit = f->limit.text;
    struct text t = {buf, size, 0};
    if (f->limit.model[0])
        limit = strchr(limit, '.') + 1;
    if (p->over && !p->why[0])
        return false;
    if (p->over)
        say(&t, "%s: nothing found, %s", model, p->why);
    else if (p->low > 0)
        say(&t, "%s keeps %s up to %s/s (%s%s), not at %s/s: %s", model, limit, num_si(p->low).s,
            num(p->at_low).s, p->low_note, num_si(p->high).s, p->why);
    else
        say(&t, "%s does not keep %s down to %s/s: %s", model, limit, num_si(p->high).s, p->why);
    return true;
}
