/* SPDX-License-Identifier: MIT */
/* The table as text or Markdown. Both walk the same cells, so what is printed, drawn and saved
 * cannot differ. */
#include "cli/print.h"

#include <string.h>
#include <stdlib.h>
#include <wchar.h>

#include "cli/grid.h"
#include "session/answers.h"
#include "session/say.h"
#include "session/table.h"

/* Terminal columns of UTF-8 text. */
static int columns(const char *text)
{
    int n = 0;
    wchar_t ch;
    mbstate_t st = {0};
    for (size_t len; *text; text += len) {
        len = mbrtowc(&ch, text, strlen(text), &st);
        if (len == (size_t)-1 || len == (size_t)-2)
            return n + (int)strlen(text);
        n += wcwidth(ch) > 0 ? wcwidth(ch) : 0;
    }
    return n;
}

static void cell(FILE *out, const struct table_column *c, const char *text, bool markdown)
{
    int pad = c->width - columns(text);
    pad = pad > 0 ? pad : 0;
    if (markdown)
        fprintf(out, " %s |", text);
    else if (c->text)
        fprintf(out, "  %s%*s", text, pad, "");
    else
        fprintf(out, "  %*s%s", pad, "", text);
}

/* Columns of a group stand together: its name is written once, over as many as it fits. */
static void groups(FILE *out, const struct table *t)
{
    int at = 0, want = 0; /* where the line is, where the next column begins */
    for (int i = 0; i < t->columns; i++) {
        const char *name = t->column[i].head[0];
        bool first = i == 0 || strcmp(name, t->column[i - 1].head[0]) != 0;
        if (name[0] && first) {
            int gap = want + 2 > at ? want + 2 - at : 1;
            fprintf(out, "%*s%s", gap, "", name);
            at += gap + columns(name);
        }
        want += 2 + t->column[i].width;
    }
    fputc('\n', out);
}

static void head(FILE *out, const struct table *t, bool markdown)
{
    if (markdown) {
        fputs("|", out);
        for (int i = 0; i < t->columns; i++)
            fprintf(out, " %s%s%s |", t->column[i].head[0], t->column[i].head[0][0] ? " " : "",
                    t->column[i].head[1]);
        fputs("\n|", out);
        for (int i = 0; i < t->columns; i++)
            fputs(t->column[i].text ? " --- |" : " ---: |", out);
        fputc('\n', out);
        return;
    }
    groups(out, t);
    for (int i = 0; i < t->columns; i++)
        cell(out, &t->column[i], t->column[i].head[1], false);
    fputc('\n', out);
}

/* How many columns stand in a line of this terminal; all where it is none. */
static int columns_that_fit(FILE *out, const struct table *t, int *width)
{
    int used = 0, n = 0;
    *width = grid_terminal(out);
    if (*width == 0)
        return t->columns;
    while (n < t->columns && (used += 2 + t->column[n].width) <= *width)
        n++;
    return n;
}

static void say_left_off(FILE *out, const struct table *all, int shown, int width)
{
    if (shown == all->columns)
        return;
    fprintf(out, "(%d of %d columns in a line of %d; a pipe has all)\n", shown, all->columns,
            width);
}

static void print_table(FILE *out, const struct table *all, bool markdown)
{
    int width = 0;
    struct table cut = *all;
    const struct table *t = &cut;
    cut.columns = markdown ? all->columns : columns_that_fit(out, all, &width);
    fprintf(out, "%s%s\n\n", markdown ? "### " : "", t->title);
    head(out, t, markdown);
    for (int i = 0; i < t->rows; i++) {
        if (markdown)
            fputc('|', out);
        for (int k = 0; k < t->columns; k++)
            cell(out, &t->column[k], t->row[i].cell[k], markdown);
        fputc('\n', out);
    }
    say_left_off(out, all, cut.columns, width);
    fputc('\n', out);
    if (t->published[0])
        fprintf(out, "%s\n\n", t->published);
    if (t->foot[0])
        fprintf(out, "%s\n\n", t->foot);
}

/* Of all rows of r's table, or of r alone (rows NULL). */
static void print_answer(FILE *out, const struct rows *rows, const struct row *r, bool markdown)
{
    int first = r->pane_count > 1;
    for (int pane = first; pane < r->pane_count; pane++) {
        struct answer a;
        if (rows)
            answer_sweep(rows, r, pane, &a);
        else
            answer_row(r, pane, &a);
        const char *bold = markdown ? "**" : "", *end = markdown ? "  " : "";
        fprintf(out, "%sANSWER%s  %s%s\n", bold, bold, a.answer, end);
        fprintf(out, "%sWHY%s     %s%s\n", bold, bold, a.why, end);
        fprintf(out, "%sTRUST%s   %s%s\n\n", bold, bold, a.trust, end);
    }
}

static int print_workers_of(FILE *out, const struct row *r, bool alone, bool markdown)
{
    const char *bold = markdown ? "**" : "", *end = markdown ? "  " : "";
    int lines = 0;
    for (int i = 0; i < r->pane_count; i++) {
        if (!r->panes[i].workers[0])
            continue;
        fprintf(out, "%sWORKERS%s %s", bold, bold, pane_name(r, i).s);
        if (!alone)
            fprintf(out, ", %.0f for %.0f connections", r->params.workers, r->params.connections);
        fprintf(out, ": %s%s\n", r->panes[i].workers, end);
        lines++;
    }
    return lines;
}

/* Of every row of the table: each dealt its connections anew. */
static void print_workers(FILE *out, const struct rows *rows, const struct row *table,
                          bool markdown)
{
    int count = 0, lines = 0;
    for (const struct row *r = rows->first; r; r = r->next)
        count += row_in_table(r, table);
    for (const struct row *r = rows->first; r; r = r->next)
        lines += row_in_table(r, table) ? print_workers_of(out, r, count == 1, markdown) : 0;
    if (lines > 0)
        fputc('\n', out);
}

/* The last row of each workload and lineup speaks for its table. */
static bool speaks(const struct row *r)
{
    for (const struct row *x = r->next; x; x = x->next)
        if (row_in_table(x, r))
            return false;
    return r->state != ROW_DROPPED;
}

static bool is_about(const struct print_rows *about, const struct row *r, const struct row *table)
{
    bool any = false;
    for (int i = 0; i < about->count && row_in_table(r, table); i++)
        any |= about->number[i] == r->number;
    return any;
}

static void print_answers(FILE *out, const struct rows *rows, const struct row *last,
                          const struct print_rows *about, bool markdown)
{
    bool any = false;
    for (const struct row *r = rows->first; r; r = r->next) {
        if (!is_about(about, r, last))
            continue;
        any = true;
        print_answer(out, NULL, r, markdown);
    }
    if (!any)
        print_answer(out, rows, last, markdown);
    print_workers(out, rows, last, markdown);
}

void print_session(FILE *out, struct session *s, const struct print_rows *about, bool markdown)
{
    const struct rows *rows = session_rows(s);
    for (const struct row *r = rows->first; r; r = r->next) {
        if (!speaks(r))
            continue;
        struct table t;
        table_make(rows, r, &t);
        print_table(out, &t, markdown);
        table_free(&t);
        print_answers(out, rows, r, about, markdown);
    }
}
