/* SPDX-License-Identifier: MIT */
/* What a map says in words. A place of which the verdict lets no figure rank takes no part in the
 * answer. The answer names three things: up to where it hardly matters which model is taken, where
 * it saves most of a CPU while none is full (beyond that a ratio only tells what fits), and what is
 * left of it when both are as busy as they can be. */
#include "session/map.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/say.h"

char *map_number(double v, char *buf, size_t size)
{
    if (!isfinite(v))
        snprintf(buf, size, "max");
    else if (v < 1000)
        snprintf(buf, size, "%.6g", v);
    else if (v < 1e6)
        snprintf(buf, size, "%.4gk", v / 1e3);
    else
        snprintf(buf, size, "%.4gM", v / 1e6);
    return buf;
}

static struct num short_number(double v)
{
    struct num n;
    map_number(v, n.s, sizeof n.s);
    return n;
}

static void say_rate(struct text *t, double rate)
{
    if (isfinite(rate))
        say(t, "at %s/s", short_number(rate).s);
    else
        say(t, "flat out");
}

static void say_place(struct text *t, const struct map_cell *c)
{
    say(t, "%s connection%s ", short_number(c->connections).s, c->connections == 1 ? "" : "s");
    say_rate(t, c->rate);
}

/* --- marks ------------------------------------------------------------------------------------ */

static const char *const shades[2][5] = {{"=", "░", "▒", "▓", "█"}, {"=", ".", ":", "%", "#"}};

char *map_mark(const struct map_cell *c, bool ascii, char *buf, size_t size)
{
    int class = map_class(c->times);
    const char *shade = shades[ascii][class < 0 ? -class : class];
    if (c->kind != MAP_FIGURE || isnan(c->times))
        snprintf(buf, size, "  ");
    else
        snprintf(buf, size, "%s%s", class < 0 ? "A" : shade, class == 0 ? " " : shade);
    return buf;
}

void map_legend(const struct map *m, bool ascii, bool brief, char *buf, size_t size)
{
    const char *const *s = shades[ascii];
    if (brief) {
        snprintf(buf, size, "%s1.5 %s3 %s8 %s: %c better, A%s: A  %s same  ! full  ? doubtful",
                 s[1], s[2], s[3], s[4], 'A' + m->pane, s[1], s[0]);
        return;
    }
    snprintf(buf, size,
             "%s to 1.5  %s to 3  %s to 8  %s above: %c is better (A%s: A is)  %s same within 5 %%"
             "  ! no CPU left: the ratio is what fits  ? not to be relied on  no: cannot be",
             s[1], s[2], s[3], s[4], 'A' + m->pane, s[1], s[0]);
}

/* One round knows no third digit. */
char *map_times(double times, char *buf, size_t size)
{
    double v = fmax(times, 1 / times);
    snprintf(buf, size, "%.*f", v < 1.095 ? 2 : v < 9.95 ? 1 : 0, v);
    return buf;
}

static struct num times_of(double times)
{
    struct num n;
    map_times(times, n.s, sizeof n.s);
    return n;
}

static struct num percent(double v)
{
    struct num n;
    snprintf(n.s, sizeof n.s, "%.*f", v < 0.95 ? 1 : 0, v);
    return n;
}

void map_title(const struct map *m, char *buf, size_t size)
{
    snprintf(buf, size, "%s: A %s over %c %s", metric_table[m->metric].title, map_model(m, 0),
             'A' + m->pane, map_model(m, 1));
}

/* --- one place -------------------------------------------------------------------------------- */

static void say_figure(struct text *t, enum metric_id m, double v)
{
    const char *unit = metric_table[m].unit;
    if (isnan(v))
        say(t, "-");
    else if (!strcmp(unit, "us"))
        say(t, "%s µs", num(v).s);
    else if (!strcmp(unit, "/s"))
        say(t, "%s/s", num_metric(m, v).s);
    else if (!strcmp(unit, "B") || !strcmp(unit, "ns") || !*unit)
        say(t, "%s", num_metric(m, v).s);
    else
        say(t, "%s %s", num_metric(m, v).s, unit);
}

static void say_side(struct text *t, const struct map *m, const struct map_cell *c, int side)
{
    say(t, "%c ", side ? 'A' + m->pane : 'A');
    say_figure(t, m->metric, c->figure[side]);
    if (m->metric != METRIC_server_cpu_pct && !isnan(c->cpu_pct[side]))
        say(t, ", %s %% CPU%s", percent(c->cpu_pct[side]).s, c->full[side] ? " (full)" : "");
}

static void say_ratio(struct text *t, const struct map_cell *c)
{
    if (isnan(c->times)) {
        say(t, ": no ratio");
        return;
    }
    if (map_class(c->times) == 0)
        say(t, ": the same");
    else
        say(t, ": %s times", times_of(c->times).s);
    if (!isnan(c->ratio.low) && !say_too_wide(c->ratio.low, c->ratio.high))
        say(t, ", ratio %s to %s", num(c->ratio.low).s, num(c->ratio.high).s);
    say(t, " (%d round%s)", c->rounds, c->rounds == 1 ? "" : "s");
}

void map_say(const struct map *m, const struct map_cell *c, char *buf, size_t size)
{
    struct text t = {buf, size, 0};
    say_place(&t, c);
    switch (c->kind) {
    case MAP_NOTHING:
        say(&t, ": not measured");
        break;
    case MAP_CANNOT:
        say(&t, ": cannot be: %s", c->reason);
        break;
    case MAP_FAILED:
        say(&t, ": %s", c->reason);
        break;
    case MAP_FIGURE:
        say(&t, ": ");
        say_side(&t, m, c, 0);
        say(&t, "; ");
        say_side(&t, m, c, 1);
        say_ratio(&t, c);
        if (c->doubt)
            say(&t, "; not to be relied on: %s", c->reason);
        break;
    }
}

/* --- the whole -------------------------------------------------------------------------------- */

static bool counts(const struct map_cell *c)
{
    return c->kind == MAP_FIGURE && !c->doubt && !isnan(c->times);
}

struct found {
    int figures; /* places measured, */
    int count, same, better; /* that can be relied on; of them the same, and those where A wins */
    double most, least;      /* times */
    const struct map_cell *saves; /* most of a CPU, with none full; NULL: nowhere */
    const struct map_cell *widest;
};

static double saved_pct(const struct map_cell *c)
{
    return c->full[0] || c->full[1] ? NAN : fabs(c->cpu_pct[0] - c->cpu_pct[1]);
}

static void find(const struct map *m, struct found *out)
{
    *out = (struct found){.most = 0, .least = INFINITY};
    for (int i = 0; i < map_columns(m) * map_rows(m); i++) {
        const struct map_cell *c = &m->cell[i];
        int class = counts(c) ? map_class(c->times) : 0;
        out->figures += c->kind == MAP_FIGURE;
        if (!counts(c))
            continue;
        out->count++;
        out->same += class == 0;
        out->better += class < 0;
        out->most = fmax(out->most, c->times);
        out->least = fmin(out->least, c->times);
        if (!out->widest || fabs(log(c->times)) > fabs(log(out->widest->times)))
            out->widest = c;
        if (abs(class) > 1 && !isnan(saved_pct(c)) &&
            (!out->saves || saved_pct(c) > saved_pct(out->saves)))
            out->saves = c;
    }
}

/* Up to which column no place differs by more than the first class; -1: not even the first one. */
static int flat_columns(const struct map *m, double *most)
{
    int last = -1;
    *most = 1;
    for (int x = 0; x < map_columns(m); x++) {
        double here = *most;
        int any = 0;
        for (int y = 0; y < map_rows(m); y++) {
            const struct map_cell *c = map_cell(m, x, y);
            any += counts(c);
            here = counts(c) ? fmax(here, fmax(c->times, 1 / c->times)) : here;
        }
        if (here > 1.5)
            return last;
        if (any) {
            *most = here;
            last = x;
        }
    }
    return last;
}

static void say_flat(struct text *t, const struct map *m, const struct found *f)
{
    double most;
    int last = flat_columns(m, &most);
    if (last < 0)
        return;
    double n = m->axes.connections.values[last];
    if (f->widest && fmax(f->widest->times, 1 / f->widest->times) <= 1.5)
        say(t, "nowhere more than %s times. ", times_of(most).s);
    else if (map_class(most) == 0)
        say(t, "up to %s connection%s: no difference. ", short_number(n).s, n == 1 ? "" : "s");
    else
        say(t, "up to %s connection%s: at most %s times. ", short_number(n).s, n == 1 ? "" : "s",
            times_of(most).s);
}

/* "1k connections at 5k/s: 10 times, 80 % of a CPU against 8." */
static void say_one(struct text *t, const struct map *m, const struct map_cell *c)
{
    int dearer = c->times > 1 ? 0 : 1;
    say_place(t, c);
    if (map_class(c->times) == 0)
        say(t, ": the same");
    else
        say(t, ": %s %s times", map_model(m, dearer), times_of(c->times).s);
    if (!isnan(c->cpu_pct[0]) && !isnan(c->cpu_pct[1]))
        say(t, ", %s %% of a CPU against %s", percent(c->cpu_pct[dearer]).s,
            percent(c->cpu_pct[!dearer]).s);
    if (c->full[0] || c->full[1])
        say(t, c->full[0] && c->full[1] ? " (both full)" : " (full)");
    if (c->doubt)
        say(t, "; not to be relied on: %s", c->reason);
    say(t, ". ");
}

/* The highest rate, where both are as busy as they can be. */
static void say_top(struct text *t, const struct map *m)
{
    double most = 1;
    int any = 0, y = map_rows(m) - 1;
    for (int x = 0; x < map_columns(m); x++) {
        const struct map_cell *c = map_cell(m, x, y);
        if (!counts(c))
            continue;
        if (!c->full[0] || !c->full[1])
            return;
        any++;
        most = fmax(most, fmax(c->times, 1 / c->times));
    }
    if (any < 2)
        return;
    double rate = m->axes.rate.values[y];
    if (isfinite(rate))
        say(t, "At %s/s both are full: ", short_number(rate).s);
    else
        say(t, "Flat out both are full: ");
    if (map_class(most) == 0)
        say(t, "no difference. ");
    else
        say(t, "at most %s times. ", times_of(most).s);
}

/* Where it is the other way round. */
static void say_reversed(struct text *t, const struct found *f)
{
    if (f->better > 0 && f->better < f->count)
        say(t, "A is the better one at %d of %d places, by up to %s times. ", f->better, f->count,
            times_of(f->least).s);
}

static void say_yours(struct text *t, const struct map *m)
{
    const struct map_cell *c = map_at(m);
    if (!c)
        return;
    say(t, "Yours, ");
    if (c->kind == MAP_FIGURE && !isnan(c->times)) {
        say_one(t, m, c);
        return;
    }
    say_place(t, c);
    say(t, ": %s. ", c->kind == MAP_NOTHING ? "not measured yet" : c->reason);
}

static void say_all(struct text *t, const struct map *m, const struct found *f)
{
    if (f->count == 0 && f->figures > 0)
        say(t, "withheld: none of %d places measured can be relied on. ", f->figures);
    if (f->count == 0)
        return;
    if (f->same == f->count) {
        say(t, "no difference at %d place%s measured. ", f->count, f->count == 1 ? "" : "s");
        return;
    }
    say_flat(t, m, f);
    if (f->saves)
        say_one(t, m, f->saves);
    else if (fmax(f->widest->times, 1 / f->widest->times) > 1.5)
        say_one(t, m, f->widest);
    say_reversed(t, f);
    say_top(t, m);
}

/* Each sentence but the first begins with a capital; none ends in a blank. */
static void make_sentences(char *text)
{
    size_t n = strlen(text);
    for (char *at = text; (at = strstr(at, ". ")); at += 2)
        at[2] = (char)toupper((unsigned char)at[2]);
    if (n > 0 && text[n - 1] == ' ')
        text[n - 1] = '\0';
}

void map_answer(const struct map *m, char *buf, size_t size)
{
    struct text t = {buf, size, 0};
    const struct map_cell *at = map_at(m);
    struct found f;
    buf[0] = '\0';
    find(m, &f);
    if (f.count > 0 || (at && at->kind != MAP_NOTHING))
        say_yours(&t, m);
    say_all(&t, m, &f);
    make_sentences(buf);
}

void map_trust(const struct map *m, char *buf, size_t size)
{
    struct text t = {buf, size, 0};
    int figures = 0, rounds = 0, doubt = 0, failed = 0, cannot = 0;
    const char *why = "", *doubts = "";
    for (int i = 0; i < map_columns(m) * map_rows(m); i++) {
        const struct map_cell *c = &m->cell[i];
        figures += c->kind == MAP_FIGURE;
        rounds += c->kind == MAP_FIGURE && c->rounds >= 3;
        doubt += c->kind == MAP_FIGURE && c->doubt;
        doubts = c->kind == MAP_FIGURE && c->doubt && !*doubts ? c->reason : doubts;
        failed += c->kind == MAP_FAILED;
        cannot += c->kind == MAP_CANNOT;
        why = c->kind == MAP_CANNOT && !*why ? c->reason : why;
    }
    if (rounds > 0 && rounds == figures)
        say(&t, "three rounds or more a place");
    else
        say(&t, "one round a place has no interval and is some 20 %% off");
    if (rounds > 0 && rounds < figures)
        say(&t, "; %d of %d have three or more", rounds, figures);
    if (doubt > 0)
        say(&t, "; %d not to be relied on (%s%s)", doubt, doubts, doubt > 1 ? ", or the like" : "");
    if (failed > 0)
        say(&t, "; %d could not be measured", failed);
    if (cannot > 0)
        say(&t, "; %d cannot be: %s", cannot, why);
}
