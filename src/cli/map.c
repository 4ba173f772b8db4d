/* SPDX-License-Identifier: MIT */
/* What the map view draws, in lines: a column for each number of connections, a line for each rate,
 * then the answer. */
#include "cli/map.h"

#include "cli/cli.h"

enum { WIDTH = 10 };

/* Eight columns: the shade, how many times, what is to be known of it. */
static char *cell_text(const struct map_cell *c, char *buf, size_t size)
{
    char mark[16], times[16];
    if (c->kind == MAP_FIGURE && !isnan(c->times))
        snprintf(buf, size, "%s%5s%s", map_mark(c, !cli_utf8(), mark, sizeof mark),
                 map_times(c->times, times, sizeof times),
                 c->doubt                     ? "?"
                 : c->full[0] || c->full[1] ? "!"
                                            : " ");
    else
        snprintf(buf, size, "%7s ",
                 c->kind == MAP_CANNOT ? "no" : c->kind == MAP_FAILED ? "fails" : "-");
    return buf;
}

static void print_heads(FILE *out, const struct map *m, bool markdown)
{
    char text[24];
    fputs(markdown ? "| requests/s |" : "requests/s", out);
    for (int x = 0; x < map_columns(m); x++) {
        map_number(m->axes.connections.values[x], text, sizeof text);
        if (markdown)
            fprintf(out, " %s |", text);
        else
            fprintf(out, "%*s ", WIDTH - 1, text);
    }
    fputs(markdown ? "\n|" : "", out);
    for (int x = 0; markdown && x <= map_columns(m); x++)
        fputs(" --- |", out);
    fputc('\n', out);
}

static void print_grid(FILE *out, const struct map *m, bool markdown)
{
    char text[32];
    print_heads(out, m, markdown);
    for (int y = 0; y < map_rows(m); y++) {
        map_number(m->axes.rate.values[y], text, sizeof text);
        fprintf(out, markdown ? "| %s |" : "%10s", text);
        for (int x = 0; x < map_columns(m); x++)
            fprintf(out, markdown ? " %s |" : "  %s",
                    cell_text(map_cell(m, x, y), text, sizeof text));
        fputc('\n', out);
    }
    fputc('\n', out);
}

static void print_words(FILE *out, const struct map *m, bool markdown)
{
    char text[800];
    const char *bold = markdown ? "**" : "", *end = markdown ? "  " : "";
    map_legend(m, !cli_utf8(), false, text, sizeof text);
    fprintf(out, "%s\n\n", text);
    map_answer(m, text, sizeof text);
    fprintf(out, "%sANSWER%s  %s%s\n", bold, bold, text[0] ? text : "nothing was measured", end);
    map_trust(m, text, sizeof text);
    fprintf(out, "%sTRUST%s   %s%s\n\n", bold, bold, text, end);
}

static void print_one(FILE *out, const struct map *m, bool markdown)
{
    char title[160];
    map_title(m, title, sizeof title);
    fprintf(out, "%smap: %s, over the connections open\n\n", markdown ? "### " : "", title);
    print_grid(out, m, markdown);
    print_words(out, m, markdown);
}

/* Is it the first row of its lineup? */
static bool is_first(const struct plan *p, int i)
{
    for (int k = 0; k < i; k++)
        if (lineup_same(&p->rows[k].lineup, &p->rows[i].lineup))
            return false;
    return true;
}

void map_print(FILE *out, const struct plan *plan, const struct map_axes *axes,
               const struct rows *rows, bool markdown)
{
    struct reach_limits limits;
    struct map m;
    reach_limits_read(&limits);
    for (int i = 0; i < plan->count; i++) {
        const struct plan_row *row = &plan->rows[i];
        for (int pane = 1; is_first(plan, i) && pane < row->lineup.count; pane++) {
            struct map_ask ask = {row, axes, pane, workload_of(&row->params)->yields[0], &limits};
            if (*map_refused(row))
                continue;
            map_make(&ask, rows, &m);
            print_one(out, &m, markdown);
            map_free(&m);
        }
    }
}
