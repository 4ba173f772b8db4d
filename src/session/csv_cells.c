/* SPDX-License-Identifier: MIT */
/* libcsv splits the bytes; this file decides by what (the header line shows it), gathers the cells
 * of a line in one buffer that grows, and bounds what a file that is no CSV can make it hold.
 * The guard against formulas is reversible: it adds one ' to what begins with any number of ' and
 * then a sign that starts a formula, and takes one off the same. */
#include "session/csv_cells.h"

#include <csv.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"

#define CHUNK 16384

struct reader {
    struct csv_parser parser;
    cells_fn fn;
    void *ctx;
    struct err *e;
    int status;
    struct cells cells;
    char *text; /* the cells of this line, each with its NUL */
    size_t used, size;
    size_t *start; /* offsets: text moves while it grows */
    const char **cell;
    int room;
};

static void on_cell(void *bytes, size_t n, void *ctx)
{
    struct reader *r = ctx;

    if (r->cells.count == r->room) {
        r->room = r->room ? 2 * r->room : 128;
        r->start = xrealloc(r->start, (size_t)r->room, sizeof *r->start);
        r->cell = xrealloc(r->cell, (size_t)r->room, sizeof *r->cell);
    }
    if (r->size - r->used <= n) {
        r->size = 2 * (r->used + n) + 4096;
        r->text = xrealloc(r->text, r->size, 1);
    }
    char *to = r->text + r->used;
    memcpy(to, bytes, n);
    to[n] = 0;
    for (char *nul; (nul = memchr(to, 0, n)); r->cells.nul = true)
        *nul = '?';
    r->start[r->cells.count++] = r->used;
    r->used += n + 1;
}

static bool empty_line(const struct reader *r)
{
    return r->cells.count == 0 || (r->cells.count == 1 && r->text[r->start[0]] == 0);
}

static void on_line(int end, void *ctx)
{
    struct reader *r = ctx;

    r->cells.line++;
    r->cells.unended = end == -1;
    for (int i = 0; i < r->cells.count; i++)
        r->cell[i] = r->text + r->start[i];
    r->cells.cell = r->cell;
    if (r->status >= 0 && !empty_line(r))
        r->status = r->fn(r->ctx, &r->cells, r->e);
    r->cells.count = 0;
    r->cells.nul = false;
    r->used = 0;
}

/* What splits the header: the one of , ; and tab that occurs most outside quotes. */
static unsigned char separator(const char *s, size_t n)
{
    size_t commas = 0, semicolons = 0, tabs = 0;
    bool quoted = false;

    for (size_t i = 0; i < n && (quoted || (s[i] != '\n' && s[i] != '\r')); i++) {
        quoted ^= s[i] == '"';
        commas += !quoted && s[i] == ',';
        semicolons += !quoted && s[i] == ';';
        tabs += !quoted && s[i] == '\t';
    }
    if (semicolons > commas && semicolons >= tabs)
        return ';';
    return tabs > commas ? '\t' : ',';
}

/* Looks at the first bytes. Returns how many to skip, or -EBADMSG. */
static int begin(struct reader *r, const char *path, const char *s, size_t n)
{
    int skip = n >= 3 && memcmp(s, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

    if (n >= 2 && (memcmp(s, "\xff\xfe", 2) == 0 || memcmp(s, "\xfe\xff", 2) == 0))
        return err_set(r->e, EBADMSG, "%s is UTF-16; save it as CSV in UTF-8", path);
    unsigned char by = separator(s + skip, n - (size_t)skip);
    csv_set_delim(&r->parser, by);
    r->cells.comma = by == ';';
    return skip;
}

static int feed(struct reader *r, const char *path, const char *s, size_t n)
{
    if (csv_parse(&r->parser, s, n, on_cell, on_line, r) != n)
        return err_set(r->e, EBADMSG, "%s, line %ld: %s", path, r->cells.line + 1,
                       csv_strerror(csv_error(&r->parser)));
    if (r->status < 0)
        return r->status;
    if (r->used + csv_get_buffer_size(&r->parser) > CELLS_LINE_MAX)
        return err_set(r->e, EBADMSG, "%s, line %ld is longer than 16 MiB: this is no CSV file",
                       path, r->cells.line + 1);
    return 0;
}

static int read_all(struct reader *r, const char *path, FILE *f)
{
    char buf[CHUNK];
    bool first = true;
    int status = 0;

    for (size_t n; status == 0 && (n = fread(buf, 1, sizeof buf, f)) > 0; first = false) {
        int skip = first ? begin(r, path, buf, n) : 0;
        status = skip < 0 ? skip : feed(r, path, buf + skip, n - (size_t)skip);
    }
    if (ferror(f))
        return err_sys(r->e, "read %s", path);
    if (status == 0 && csv_fini(&r->parser, on_cell, on_line, r) == 0)
        status = r->status;
    return status < 0 ? status : 0;
}

int cells_read(const char *path, cells_fn fn, void *ctx, struct err *e)
{
    struct reader r = {.fn = fn, .ctx = ctx, .e = e};
    FILE *f = fopen(path, "re");

    if (!f)
        return err_sys(e, "open %s", path);
    if (csv_init(&r.parser, 0) != 0)
        die("no parser for CSV");
    csv_set_blk_size(&r.parser, 16 * CHUNK); /* it grows by this; 128 bytes crawl in a long cell */
    int status = read_all(&r, path, f);
    csv_free(&r.parser);
    free(r.text);
    free(r.start);
    free(r.cell);
    fclose(f);
    return status;
}

const char *cells_text(const struct cells *c, int i)
{
    return i >= 0 && i < c->count ? c->cell[i] : "";
}

char *cells_decimal(const struct cells *c, int i, char *buf, size_t size)
{
    snprintf(buf, size, "%s", cells_text(c, i));
    char *comma = c->comma && !strchr(buf, '.') ? strchr(buf, ',') : NULL;
    if (comma)
        *comma = '.';
    return buf;
}

double cells_number(const struct cells *c, int i)
{
    char buf[64], *end;
    double v = units_strtod(cells_decimal(c, i, buf, sizeof buf), &end);

    return end != buf && *end == 0 && isfinite(v) ? v : NAN;
}

int cells_find(const struct cells *header, const char *id)
{
    for (int i = 0; i < header->count; i++)
        if (strcmp(header->cell[i], id) == 0)
            return i;
    return -1;
}

/* Would a spreadsheet take it for a formula, after any number of '? */
static bool guarded(const char *text)
{
    text += strspn(text, "'");
    return *text && strchr("=+-@\t\r", *text);
}

static bool wants_quotes(const char *text)
{
    size_t n = strlen(text);

    return text[strcspn(text, ",;\"\r\n\t")] || (n && (text[0] == ' ' || text[n - 1] == ' '));
}

void cells_put(FILE *f, bool first, const char *text)
{
    char *safe = NULL;

    if (guarded(text)) {
        size_t n = strlen(text) + 2;
        safe = xcalloc(n, 1);
        snprintf(safe, n, "'%s", text);
        text = safe;
    }
    if (!first)
        fputc(',', f);
    if (wants_quotes(text))
        csv_fwrite(f, text, strlen(text));
    else
        fputs(text, f);
    free(safe);
}

char *cells_unguard(const char *text, char *buf, size_t size)
{
    snprintf(buf, size, "%s", text + (text[0] == '\'' && guarded(text)));
    return buf;
}
