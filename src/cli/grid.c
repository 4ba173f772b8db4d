/* SPDX-License-Identifier: MIT */
/* Aligned text for people, Markdown for the README and the manual, CSV for programs. Widths are
 * columns of a terminal, so keys drawn as arrows line up; where it is too narrow for the table,
 * long cells go on in the lines below. */
#include "cli/grid.h"

#include <csv.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/json.h"
#include "ui/text.h"

#define NARROWEST 12

int grid_terminal(FILE *out)
{
    struct winsize size = {0};
    int fd = fileno(out);
    return fd >= 0 && isatty(fd) && !ioctl(fd, TIOCGWINSZ, &size) ? size.ws_col : 0;
}

void grid_init(struct grid *g, const char *const *heads)
{
    *g = (struct grid){.heads = heads};
    while (heads[g->columns])
        g->columns++;
    if (g->columns > GRID_COLUMNS)
        die("a table of %d columns", g->columns);
}

void grid_fini(struct grid *g)
{
    for (int i = 0; i < g->rows * g->columns; i++)
        free(g->cells[i]);
    free(g->cells);
}

void grid_add(struct grid *g, const char *const *cells)
{
    size_t count = (size_t)(g->rows + 1) * (size_t)g->columns;
    g->cells = xrealloc(g->cells, count, sizeof *g->cells);
    for (int i = 0; i < g->columns; i++)
        g->cells[g->rows * g->columns + i] = xstrdup(cells[i] ? cells[i] : "");
    g->rows++;
}

int grid_format(const char *word, enum grid_format *out, struct err *e)
{
    static const char *const words[] = {"text", "markdown", "csv", "json"};
    *out = GRID_TEXT;
    for (size_t i = 0; word && i < sizeof words / sizeof *words; i++)
        if (!strcmp(word, words[i]))
            *out = (enum grid_format)i;
    return *out == GRID_JSON ? json_missing(e) : 0;
}

static const char *cell(const struct grid *g, int row, int column)
{
    return row < 0 ? g->heads[column] : g->cells[row * g->columns + column];
}

static int width_of(const char *text, const char *end)
{
    int width = 0;
    while (*text && text != end)
        width += text_cell_width(text_next(&text));
    return width;
}

static int widest(const struct grid *g, int column)
{
    int width = 0;
    for (int row = -1; row < g->rows; row++) {
        int w = width_of(cell(g, row, column), NULL);
        width = w > width ? w : width;
    }
    return width;
}

/* Takes columns from the widest until a line has room for all; the first, where one looks for a
 * word, keeps its own. */
static void narrow(const struct grid *g, int *widths, int room)
{
    int line = -2;
    for (int c = 0; c < g->columns; c++)
        line += widths[c] + 2;
    for (; room > 0 && line > room; line--) {
        int most = 0;
        for (int c = 1; c < g->columns; c++)
            if (most == 0 || widths[c] > widths[most])
                most = c;
        if (most == 0 || widths[most] <= NARROWEST)
            return;
        widths[most]--;
    }
}

/* Where the text goes on when it has so many columns: behind a whole word, if one fits. */
static const char *end_of_line(const char *text, int width)
{
    const char *blank = text, *at = text, *next = text;
    for (int used = 0; *at; at = next) {
        wchar_t ch = text_next(&next);
        used += text_cell_width(ch);
        if (ch == ' ' && at > text)
            blank = at;
        if (used > width)
            return blank > text ? blank : at > text ? at : next;
    }
    return at;
}

static void put_text(const char *text, const char *end, bool ascii, FILE *out)
{
    char buf[8];
    while (text < end) {
        wchar_t ch = text_next(&text);
        text_utf8(ascii && ch >= 0x80 ? text_ascii(ch) : ch, buf);
        fputs(buf, out);
    }
}

/* One line of what is left of a row's cells. False: nothing is left for another. */
static bool text_line(const char **cells, int columns, const int *widths, bool ascii, FILE *out)
{
    int last = columns - 1, left = 0;
    while (last > 0 && !*cells[last])
        last--; /* no blanks at the end of a line */
    for (int c = 0; c <= last; c++) {
        const char *end = end_of_line(cells[c], widths[c]);
        put_text(cells[c], end, ascii, out);
        if (c < last)
            fprintf(out, "%*s", widths[c] - width_of(cells[c], end) + 2, "");
        cells[c] = end + strspn(end, " ");
        left += *cells[c] != '\0';
    }
    fputc('\n', out);
    return left > 0;
}

static void print_text(const struct grid *g, bool ascii, FILE *out)
{
    int widths[GRID_COLUMNS] = {0};
    for (int c = 0; c < g->columns; c++)
        widths[c] = widest(g, c);
    narrow(g, widths, g->room > 0 ? g->room : grid_terminal(out));
    for (int row = -1; row < g->rows; row++) {
        const char *cells[GRID_COLUMNS];
        for (int c = 0; c < g->columns; c++)
            cells[c] = cell(g, row, c);
        while (text_line(cells, g->columns, widths, ascii, out))
            ;
    }
}

static void put_markdown(const char *text, FILE *out)
{
    for (; *text; text++) {
        if (*text == '|')
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void markdown_row(const struct grid *g, int row, FILE *out)
{
    for (int c = 0; c < g->columns; c++) {
        fputs(c ? " | " : "| ", out);
        put_markdown(cell(g, row, c), out);
    }
    fputs(" |\n", out);
}

static void print_markdown(const struct grid *g, FILE *out)
{
    markdown_row(g, -1, out);
    for (int c = 0; c < g->columns; c++)
        fputs("| --- ", out);
    fputs("|\n", out);
    for (int row = 0; row < g->rows; row++)
        markdown_row(g, row, out);
}

static void print_csv(const struct grid *g, FILE *out)
{
    for (int row = -1; row < g->rows; row++) {
        for (int c = 0; c < g->columns; c++) {
            const char *text = cell(g, row, c);
            if (c)
                fputc(',', out);
            csv_fwrite(out, text, strlen(text));
        }
        fputs("\r\n", out);
    }
}

void grid_to(const struct grid *g, struct sink *to)
{
    for (int row = -1; row < g->rows; row++) {
        for (int c = 0; c < g->columns; c++)
            to->text(to, cell(g, row, c));
        to->end(to);
    }
}

void grid_print(const struct grid *g, enum grid_format format, int ascii, FILE *out)
{
    if (format == GRID_MARKDOWN)
        print_markdown(g, out);
    else if (format == GRID_CSV)
        print_csv(g, out);
    else
        print_text(g, ascii, out);
}
