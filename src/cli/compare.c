/* SPDX-License-Identifier: MIT */
/* `iodash compare A.csv... -- B.csv...`: first what differs between the machines, then the counts,
 * then what was measured, then what follows. Files that cannot be read are said and left out. */
#include "cli/cli.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"
#include "cli/grid.h"
#include "cli/json.h"
#include "session/compare.h"

static const char *const side_words[SIDES] = {"A", "B"};

/* --- before ---------------------------------------------------------------------------------- */

static int parse_spread(const char *text, double *out, struct err *e)
{
    char *end, echo[48];
    *out = NAN;
    if (!text)
        return 0;
    double v = units_strtod(text, &end);
    if (*end == '%')
        end++;
    if (*end || end == text || !(v > 0 && v <= 1000))
        return err_set(e, EINVAL, "--spread %s: must be a number of percent, above 0 to 1000",
                       params_echo(text, echo, sizeof echo));
    *out = v / 100;
    return 0;
}

/* What stands behind "--" is a file, whatever it looks like; one that is none was meant as an
 * option. */
static int no_options_behind(const struct args *a, struct err *e)
{
    char echo[48];
    for (int i = a->split; i < a->operand_count; i++)
        if (a->operand[i][0] == '-' && access(a->operand[i], F_OK) < 0)
            return err_set(e, EINVAL, "compare: %s stands behind --, where only files do; options "
                                      "come before that",
                           params_echo(a->operand[i], echo, sizeof echo));
    return 0;
}

static int check(const struct args *a, struct comparison *c, enum grid_format *format,
                 struct err *e)
{
    int r = grid_format(a->options.format, format, e);
    if (r == 0)
        r = parse_spread(a->options.spread, &c->spread, e);
    if (r == 0 && (a->split == 0 || a->split == a->operand_count))
        r = err_set(e, EINVAL, "compare: needs saved sessions on both sides: A.csv... -- B.csv...");
    return r == 0 ? no_options_behind(a, e) : r;
}

static void say_about(const char *name, const char *what)
{
    char text[400];
    snprintf(text, sizeof text, "%.190s: %s", name, what);
    cli_fail(0, text);
}

static void open_all(const struct args *a, struct comparison *c)
{
    for (int i = 0; i < a->operand_count; i++) {
        char note[200];
        struct err e;
        const char *name = a->operand[i];
        if (compare_open(c, i < a->split ? SIDE_A : SIDE_B, name, note, &e) < 0)
            cli_fail(0, e.text);
        else if (*note)
            say_about(name, note);
    }
}

/* --- text and Markdown ----------------------------------------------------------------------- */

static const char *interval_text(const struct compare_figure *f, char *buf, size_t size)
{
    char low[16], high[16];
    if (isnan(f->low))
        return "";
    snprintf(buf, size, "%s .. %s", units_number(low, sizeof low, f->low),
             units_number(high, sizeof high, f->high));
    return buf;
}

static const char *mean_text(double v, int n, char *buf, size_t size)
{
    char number[24];
    snprintf(buf, size, "%s (%d)", units_number(number, sizeof number, v), n);
    return buf;
}

static void add_figure(struct grid *g, const struct comparison *c, const struct compare_figure *f)
{
    char label[200], a[40], b[40], ratio[16], range[40], name[80], is[160];
    const struct metric *m = &metric_table[f->metric];
    snprintf(name, sizeof name, "%s%s%s", m->title, *m->unit ? ", " : "", m->unit);
    snprintf(is, sizeof is, "%s%s%s", compare_word(f->outcome), *f->reason ? ": " : "", f->reason);
    grid_add(g, (const char *const[]){
                    compare_label(c, &c->row[f->at], label, sizeof label), name,
                    mean_text(f->mean[SIDE_A], f->n[SIDE_A], a, sizeof a),
                    mean_text(f->mean[SIDE_B], f->n[SIDE_B], b, sizeof b),
                    units_number(ratio, sizeof ratio, f->ratio),
                    interval_text(f, range, sizeof range), is});
}

static void print_figures(const struct comparison *c, bool counts, enum grid_format format)
{
    static const char *const heads[] = {"row",   "figure",   "A (sessions)", "B (sessions)",
                                        "B / A", "interval", "B is",         NULL};
    struct grid g;
    grid_init(&g, heads);
    for (int i = 0; i < c->figures; i++)
        if ((metric_table[c->figure[i].metric].cls == CLASS_COUNT) == counts &&
            compare_worth(&c->figure[i]))
            add_figure(&g, c, &c->figure[i]);
    if (g.rows) {
        printf("%s%s\n\n", format == GRID_MARKDOWN ? "### " : "",
               counts ? "Counts: exact" : "Measured");
        grid_print(&g, format, !cli_utf8(), stdout);
        putchar('\n');
    }
    grid_fini(&g);
}

static void say_line(const char *word, const char *text, enum grid_format format)
{
    if (format == GRID_MARKDOWN)
        printf("**%s**  %s  \n", word, text);
    else
        printf("%-9s %s\n", word, text);
}

static void print_sides(const struct comparison *c, enum grid_format format)
{
    char text[600];
    for (int side = 0; side < SIDES; side++) {
        int n = snprintf(text, sizeof text, "%d session%s:", c->sessions[side],
                         c->sessions[side] == 1 ? "" : "s");
        for (int i = 0; i < c->sessions[side] && n < (int)sizeof text; i++)
            n += snprintf(text + n, sizeof text - (size_t)n, " %s", c->session[side][i].name);
        say_line(side_words[side], text, format);
    }
    for (int i = 0; compare_difference(c, i, text, sizeof text); i++)
        say_line("DIFFERS", text, format);
    putchar('\n');
}

static void print_only(const struct comparison *c, enum grid_format format)
{
    char label[200], text[400];
    int said = 0;
    for (int i = 0; i < c->rows; i++) {
        const struct compare_row *r = &c->row[i];
        compare_label(c, r, label, sizeof label);
        if (!r->sessions[SIDE_A] || !r->sessions[SIDE_B])
            say_line(r->sessions[SIDE_A] ? "ONLY IN A" : "ONLY IN B", label, format);
        else if (strcmp(r->verdicts[SIDE_A], r->verdicts[SIDE_B]) != 0) {
            snprintf(text, sizeof text, "%s: A %s; B %s", label, r->verdicts[SIDE_A],
                     r->verdicts[SIDE_B]);
            say_line(r->worse ? "WORSE" : "VERDICT", text, format);
        } else {
            continue;
        }
        said++;
    }
    if (said)
        putchar('\n');
}

/* --- what follows ---------------------------------------------------------------------------- */

static void print_end(const struct comparison *c, enum grid_format format)
{
    static const struct {
        enum outcome outcome;
        const char *word;
    } named[] = {{OUTCOME_DEARER, "WORSE"}, {OUTCOME_CHEAPER, "BETTER"}};
    char label[200], text[400], range[40], ratio[16];
    for (size_t k = 0; k < sizeof named / sizeof *named; k++)
        for (int i = 0; i < c->figures; i++) {
            const struct compare_figure *f = &c->figure[i];
            if (f->outcome != named[k].outcome)
                continue;
            snprintf(text, sizeof text, "%s of %s: %s times (%s)", metric_table[f->metric].title,
                     compare_label(c, &c->row[f->at], label, sizeof label),
                     units_number(ratio, sizeof ratio, f->ratio),
                     interval_text(f, range, sizeof range));
            say_line(named[k].word, text, format);
        }
    if (!compare_count(c, OUTCOME_DEARER) && !compare_count(c, OUTCOME_CHEAPER) && c->judged)
        say_line("ANSWER", "no difference can be told", format);
    say_line("TRUST", compare_trust(c, text, sizeof text), format);
}

/* --- for programs ---------------------------------------------------------------------------- */

static void print_json(const struct comparison *c)
{
    struct json *j = json_new("compare");
    struct sink *to = json_table(j, "differences");
    char text[600];
    to->text(to, "what");
    to->end(to);
    for (int i = 0; compare_difference(c, i, text, sizeof text); i++) {
        to->text(to, text);
        to->end(to);
    }
    compare_to(c, json_table(j, "rows"));
    json_print(j, stdout);
}

static void print(const struct comparison *c, enum grid_format format)
{
    struct csv_sink csv;
    if (format == GRID_JSON) {
        print_json(c);
    } else if (format == GRID_CSV) {
        compare_to(c, csv_sink_init(&csv, stdout));
    } else {
        print_sides(c, format);
        print_figures(c, true, format);
        print_figures(c, false, format);
        print_only(c, format);
        print_end(c, format);
    }
}

int cli_compare(const struct args *a)
{
    static const char *const none = "compare: no row is in both sides";
    struct comparison c = {.spread = NAN};
    enum grid_format format;
    struct err e;
    if (check(a, &c, &format, &e) < 0)
        return cli_fail(2, e.text);
    open_all(a, &c);
    compare_make(&c);
    if (c.sessions[SIDE_A] && c.sessions[SIDE_B])
        print(&c, format);
    int status = !compare_common(&c) ? 1 : compare_count(&c, OUTCOME_DEARER) ? 3 : 0;
    if (status == 1)
        cli_fail(1, !c.sessions[SIDE_A] || !c.sessions[SIDE_B] ? "compare: a side has no session"
                                                               : none);
    compare_free(&c);
    return cli_flush(status);
}
