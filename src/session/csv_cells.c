/* SPDX-License-Identifier: MIT */
/* libcsv splits the bytes; this file decides by what (the header line shows it), gathers the cells
 * of a line in one buffer that grows, and bounds what a file that is no CSV can make it hold. Lines
 * with nothing in them that takes a parser are split where they lie, several times faster: of a
 * session these are nearly all.
 * The guard against formulas is reversible: it adds one ' to what begins with any number of ' and
 * then a sign that starts a formula, and takes one off the same. */
#include "session/csv_cells.h"

#include <csv.h>
#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/home.h"
#include "base/units.h"

#define BLOCK (256 << 10)

struct reader {
    struct csv_parser parser;
    cells_fn fn;
    void *ctx;
    struct err *e;
    int status;
    struct cells cells;
    unsigned char by;
    bool inside; /* of a record that the parser has begun, or may have */
    char *text; /* the cells of this line, each with its NUL */
    size_t used, size;
    size_t *start; /* offsets: text moves while it grows */
    const char **cell;
    int room;
};

static void make_room(struct reader *r)
{
    if (r->cells.count < r->room)
        return;
    r->room = r->room ? 2 * r->room : 128;
    r->start = xrealloc(r->start, (size_t)r->room, sizeof *r->start);
    r->cell = xrealloc(r->cell, (size_t)r->room, sizeof *r->cell);
}

static void on_cell(void *bytes, size_t n, void *ctx)
{
    struct reader *r = ctx;

    make_room(r);
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
    return r->cells.count == 0 || (r->cells.count == 1 && r->cell[0][0] == 0);
}

static void hand_over(struct reader *r, bool unended)
{
    r->cells.line++;
    r->cells.unended = unended;
    r->cells.cell = r->cell;
    if (r->status >= 0 && !empty_line(r))
        r->status = r->fn(r->ctx, &r->cells, r->e);
    r->cells.count = 0;
    r->cells.nul = false;
    r->used = 0;
}

static void on_line(int end, void *ctx)
{
    struct reader *r = ctx;

    for (int i = 0; i < r->cells.count; i++)
        r->cell[i] = r->text + r->start[i];
    hand_over(r, end == -1);
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
    r->by = separator(s + skip, n - (size_t)skip);
    csv_set_delim(&r->parser, r->by);
    r->cells.comma = r->by == ';';
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

/* --- lines ----------------------------------------------------------------------------------- */

/* No NUL, no CR, and quotes around whole cells only, with none inside. */
static bool is_plain(const char *s, size_t n, unsigned char by)
{
    const char *end = s + n, *from = s, *open;

    while ((open = memchr(from, '"', (size_t)(end - from)))) {
        const char *shut = memchr(open + 1, '"', (size_t)(end - open - 1));
        bool begins = open == s || open[-1] == by;
        if (!shut || !begins || (shut + 1 < end && shut[1] != by))
            return false;
        from = shut + 1;
    }
    return !memchr(s, '\r', n) && !memchr(s, 0, n);
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Ends the cell that begins at s with a NUL; returns the separator behind it. As libcsv does,
 * blanks around it are left off. */
static char *cut(char *s, char by, const char **cell)
{
    if (*s == '"') {
        char *shut = strchr(s + 1, '"');
        *cell = s + 1;
        *shut = 0;
        return shut + 1;
    }
    while (is_blank(*s) && *s != by)
        s++;
    *cell = s;
    while (*s != by)
        s++;
    char *to = s;
    while (to > *cell && is_blank(to[-1]))
        to--;
    *to = 0;
    return s;
}

/* s[n] may be overwritten. */
static void split(struct reader *r, char *s, size_t n)
{
    char *end = s + n;

    if (n == 0)
        return;
    *end = (char)r->by;
    for (; s <= end; s++) {
        make_room(r);
        s = cut(s, (char)r->by, &r->cell[r->cells.count++]);
    }
    hand_over(r, false);
}

/* With an odd number of quotes, or a CR in the middle, several records may end here, or none. */
static bool ends_here(const char *s, size_t n)
{
    bool even = true;

    for (size_t i = 0; i < n; i++)
        even ^= s[i] == '"';
    return even && !memchr(s, '\r', n);
}

/* One line with its end. */
static int take_line(struct reader *r, const char *path, char *s, size_t n)
{
    size_t bare = n - 1 - (n > 1 && s[n - 2] == '\r');

    if (!r->inside && is_plain(s, bare, r->by)) {
        split(r, s, bare);
        return r->status < 0 ? r->status : 0;
    }
    long before = r->cells.line;
    int status = feed(r, path, s, n);
    r->inside = !(r->cells.line == before + 1 && ends_here(s, bare));
    return status;
}

/* All lines that are whole; what follows them is moved to the front. Returns how much that is, or
 * an error. A line longer than the block is the parser's. */
static ssize_t take_lines(struct reader *r, const char *path, char *buf, size_t n)
{
    char *at = buf, *end = buf + n, *nl;
    int status = 0;

    while (status == 0 && (nl = memchr(at, '\n', (size_t)(end - at)))) {
        status = take_line(r, path, at, (size_t)(nl + 1 - at));
        at = nl + 1;
    }
    size_t rest = (size_t)(end - at);
    if (status == 0 && (r->inside || rest == BLOCK)) {
        r->inside |= rest > 0;
        status = feed(r, path, at, rest);
        rest = 0;
    }
    memmove(buf, at, rest);
    return status < 0 ? status : (ssize_t)rest;
}

static int read_blocks(struct reader *r, const char *path, FILE *f, char *buf)
{
    bool first = true;
    ssize_t have = 0;

    for (size_t n; (n = fread(buf + have, 1, BLOCK - (size_t)have, f)) > 0; first = false) {
        int skip = first ? begin(r, path, buf, n) : 0;
        if (skip < 0)
            return skip;
        if (skip)
            memmove(buf, buf + skip, n - (size_t)skip);
        have = take_lines(r, path, buf, (size_t)have + n - (size_t)skip);
        if (have < 0)
            return (int)have;
    }
    if (ferror(f))
        return err_sys(r->e, "read %s", path);
    int status = feed(r, path, buf, (size_t)have);
    if (status == 0 && csv_fini(&r->parser, on_cell, on_line, r) == 0)
        status = r->status;
    return status < 0 ? status : 0;
}

static int read_all(struct reader *r, const char *path, FILE *f)
{
    char *buf = xcalloc(BLOCK, 1);
    int status = read_blocks(r, path, f, buf);

    free(buf);
    return status;
}

int cells_read(const char *path, cells_fn fn, void *ctx, struct err *e)
{
    struct reader r = {.fn = fn, .ctx = ctx, .e = e};
    FILE *f = home_open(path, "open", e);

    if (!f)
        return -errno;
    if (csv_init(&r.parser, 0) != 0)
        die("no parser for CSV");
    csv_set_blk_size(&r.parser, BLOCK); /* it grows by this; 128 bytes crawl in a long cell */
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
    const char *text = cells_text(c, i);
    size_t n = strnlen(text, size - 1);

    memcpy(buf, text, n);
    buf[n] = 0;
    char *comma = c->comma && !memchr(buf, '.', n) ? memchr(buf, ',', n) : NULL;
    if (comma)
        *comma = '.';
    return buf;
}

double cells_number(const struct cells *c, int i)
{
    char buf[64], *end;
    const char *text = c->comma ? cells_decimal(c, i, buf, sizeof buf) : cells_text(c, i);

    if (!*text)
        return NAN;
    double v = units_strtod(text, &end);
    return *end == 0 && isfinite(v) ? v : NAN;
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
