/* SPDX-License-Identifier: MIT */
/* What a comparison says beside its figures: what differs between the machines, what a row is
 * called, and all of it as one table. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "session/compare.h"
#include "session/say.h"

/* Prices closer than this are the same machine on another day. */
#define PRICE_DIFFERS 1.1

const char *compare_word(enum outcome o)
{
    return o == OUTCOME_DEARER ? "worse" : o == OUTCOME_CHEAPER ? "better" : outcome_words[o];
}

/* --- rows ------------------------------------------------------------------------------------ */

static bool varies(const struct comparison *c, const struct compare_row *like, enum param_id id)
{
    double v = params_get(&like->row->params, id);

    for (int i = 0; i < c->rows; i++) {
        double w = params_get(&c->row[i].row->params, id);
        if (c->row[i].row->workload == like->row->workload && v != w && !(isnan(v) && isnan(w)))
            return true;
    }
    return false;
}

char *compare_label(const struct comparison *c, const struct compare_row *r, char *buf, size_t size)
{
    struct text t = {buf, size, 0};
    char v[32];

    say(&t, "%s %s", r->row->workload->id, r->row->panes[r->pane].model);
    for (int i = 0; i < PARAM_COUNT; i++)
        if (i != PARAM_workload && (i == PARAM_connections || varies(c, r, (enum param_id)i)))
            say(&t, ", %s %s", param_table[i].id,
                params_show((enum param_id)i, params_get(&r->row->params, (enum param_id)i), v,
                            sizeof v));
    if (r->row->path != row_paths[0])
        say(&t, ", %s", r->row->path);
    return buf;
}

/* --- machines -------------------------------------------------------------------------------- */

static const struct {
    const char *id;
    size_t at;
} fields[] = {
#define X(id, help) {#id, offsetof(struct environment, id)},
    ENVIRONMENT(X)
#undef X
};
#define FIELDS ((int)(sizeof fields / sizeof *fields))

static const char *field_of(const struct compare_session *s, int field)
{
    return (const char *)&s->env + fields[field].at;
}

static bool field_differs(const struct comparison *c, int field)
{
    for (int side = 0; side < SIDES; side++)
        for (int i = 0; i < c->sessions[side]; i++)
            if (strcmp(field_of(&c->session[side][i], field), field_of(c->session[0], field)) != 0)
                return true;
    return false;
}

/* Each text of a side once. */
static void say_side(struct text *t, const struct comparison *c, int side, int field)
{
    const struct compare_session *s = c->session[side];
    int said = 0;

    say(t, "%s %c ", side ? ";" : "", 'A' + side);
    for (int i = 0; i < c->sessions[side]; i++) {
        const char *text = field_of(&s[i], field);
        int k = 0;
        while (k < i && strcmp(field_of(&s[k], field), text) != 0)
            k++;
        if (k == i)
            say(t, "%s%s", said++ ? " | " : "", *text ? text : "not known");
    }
}

static double price_of(const struct comparison *c, int side, int price)
{
    double v[64];
    int n = 0;

    for (int i = 0; i < c->sessions[side] && n < 64; i++)
        if (!isnan(c->session[side][i].env.prices.ns[price]))
            v[n++] = c->session[side][i].env.prices.ns[price];
    return stats_median(v, n);
}

/* All prices in one line. */
static bool say_prices(const struct comparison *c, char *buf, size_t size)
{
    struct text t = {buf, size, 0};

    say(&t, "prices:");
    for (int i = 0; i < PRICE_COUNT; i++) {
        double a = price_of(c, SIDE_A, i), b = price_of(c, SIDE_B, i);
        if (!(b > PRICE_DIFFERS * a || a > PRICE_DIFFERS * b))
            continue;
        say(&t, "%s %s A %s, B %s ns", t.used > 7 ? ";" : "", price_columns[i] + 6, num(a).s,
            num(b).s);
    }
    return t.used > 7;
}

bool compare_difference(const struct comparison *c, int i, char *buf, size_t size)
{
    struct text t = {buf, size, 0};

    if (!c->sessions[SIDE_A] || !c->sessions[SIDE_B])
        return false;
    for (int field = 0; field < FIELDS; field++) {
        if (!field_differs(c, field) || i-- > 0)
            continue;
        say(&t, "%s:", fields[field].id);
        say_side(&t, c, SIDE_A, field);
        say_side(&t, c, SIDE_B, field);
        return true;
    }
    return i == 0 && say_prices(c, buf, size);
}

/* --- what is said of figures ------------------------------------------------------------------ */

bool compare_worth(const struct compare_figure *f)
{
    return f->most[SIDE_A] != 0 || f->most[SIDE_B] != 0;
}

char *compare_trust(const struct comparison *c, char *text, size_t size)
{
    int least = c->sessions[c->sessions[SIDE_A] > c->sessions[SIDE_B]];
    if (c->known)
        snprintf(text, size,
                 "%d figures judged, by Welch's t over sessions; each interval is %.4g %%, so that "
                 "95 %% is left for all together",
                 c->judged, 100 * c->confidence);
    else if (!isnan(c->spread))
        snprintf(text, size,
                 "by the spread between sessions that was given, %.3g %%; it was not measured",
                 100 * c->spread);
    else if (least == 1)
        snprintf(text, size, "one session a side: the spread between sessions is unknown");
    else
        snprintf(text, size,
                 "%d sessions a side: too few to know the spread between sessions (%d do)", least,
                 COMPARE_LEAST);
    return text;
}

/* --- one table ------------------------------------------------------------------------------- */

static void put_ids(struct sink *to)
{
    static const char *const ids[] = {
        "metric",    "unit", "a",    "a_n",        "a_min",   "a_max",
        "a_verdict", "b",    "b_n",  "b_min",      "b_max",   "b_verdict",
        "b_over_a",  "low",  "high", "confidence", "outcome", "reason",
    };

    to->text(to, "model");
    for (int i = 0; i < PARAM_COUNT; i++)
        to->text(to, param_table[i].id);
    to->text(to, "path");
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++)
        to->text(to, ids[i]);
    to->end(to);
}

static void put_row(struct sink *to, const struct compare_row *r)
{
    const struct pane *p = &r->row->panes[r->pane];

    to->text(to, p->model);
    for (int i = 0; i < PARAM_COUNT; i++) {
        double v = params_get(&r->row->params, (enum param_id)i);
        sink_param(to, (enum param_id)i, pane_honours(p, (enum param_id)i) ? v : PARAM_UNSET);
    }
    to->text(to, r->row->path);
}

static void put_side(struct sink *to, const struct compare_row *r, const struct compare_figure *f,
                     int side)
{
    to->number(to, f ? f->mean[side] : NAN);
    to->number(to, f ? f->n[side] : r->sessions[side]);
    to->number(to, f ? f->least[side] : NAN);
    to->number(to, f ? f->most[side] : NAN);
    to->text(to, r->verdicts[side]);
}

static void put_figure(const struct comparison *c, struct sink *to, const struct compare_row *r,
                       const struct compare_figure *f)
{
    bool interval = f && c->known && !isnan(f->low);

    put_row(to, r);
    to->text(to, f ? metric_table[f->metric].id : "");
    to->text(to, f ? metric_table[f->metric].unit : "");
    put_side(to, r, f, SIDE_A);
    put_side(to, r, f, SIDE_B);
    to->number(to, f ? f->ratio : NAN);
    to->number(to, f ? f->low : NAN);
    to->number(to, f ? f->high : NAN);
    to->number(to, interval ? c->confidence : NAN);
    to->text(to, f                     ? compare_word(f->outcome)
                 : r->sessions[SIDE_A] ? "only in A"
                                       : "only in B");
    to->text(to, f ? f->reason : "");
    to->end(to);
}

void compare_to(const struct comparison *c, struct sink *to)
{
    put_ids(to);
    for (int i = 0; i < c->figures; i++)
        put_figure(c, to, &c->row[c->figure[i].at], &c->figure[i]);
    for (int i = 0; i < c->rows; i++)
        if (!c->row[i].sessions[SIDE_A] || !c->row[i].sessions[SIDE_B])
            put_figure(c, to, &c->row[i], NULL);
}
