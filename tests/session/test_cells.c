/* SPDX-License-Identifier: MIT */
/* Most lines are split without the CSV library: whatever they hold, the cells must be those that it
 * finds. Files of the bytes that mean something, in every order that chance makes. */
#include "session/csv_cells.h"

#include <csv.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "metrics/random.h"
#include "session/sample_rows.h"

enum { FILES = 2000, BYTES = 300, CELL_END = 1, LINE_END = 2 };

/* Lines of cells as one text. */
struct flat {
    char text[8 * BYTES];
    size_t used, line; /* where this line begins */
};

static void add(struct flat *f, const char *bytes, size_t n, char end)
{
    assert_true(f->used + n + 1 <= sizeof f->text);
    memcpy(f->text + f->used, bytes, n);
    f->used += n;
    f->text[f->used++] = end;
}

static int on_cells(void *ctx, const struct cells *c, struct err *e)
{
    (void)e;
    for (int i = 0; i < c->count; i++)
        add(ctx, c->cell[i], strlen(c->cell[i]), CELL_END);
    add(ctx, "", 0, LINE_END);
    return 0;
}

static void on_cell(void *bytes, size_t n, void *ctx)
{
    for (char *nul; (nul = memchr(bytes, 0, n));)
        *nul = '?';
    add(ctx, bytes, n, CELL_END);
}

/* A line that is empty, or one cell that is, is none. */
static void on_line(int end, void *ctx)
{
    struct flat *f = ctx;

    (void)end;
    if (f->used - f->line <= 1)
        f->used = f->line;
    else
        add(f, "", 0, LINE_END);
    f->line = f->used;
}

static void read_by_library(const char *text, size_t n, char by, struct flat *out)
{
    struct csv_parser parser;

    *out = (struct flat){.used = 0};
    assert_int_equal(csv_init(&parser, 0), 0);
    csv_set_delim(&parser, (unsigned char)by);
    assert_int_equal(csv_parse(&parser, text, n, on_cell, on_line, out), n);
    assert_int_equal(csv_fini(&parser, on_cell, on_line, out), 0);
    csv_free(&parser);
}

static void check(const char *text, size_t n, char by)
{
    static struct flat is, expected;
    struct err e = {{0}};

    is.used = 0;
    unlink("t.csv"); /* one that is cut to nothing and written again goes to the disk at once */
    file_write("t.csv", text, n);
    assert_int_equal(cells_read("t.csv", on_cells, &is, &e), 0);
    read_by_library(text, n, by, &expected);
    if (is.used != expected.used || memcmp(is.text, expected.text, is.used) != 0)
        fail_msg("'%.*s' is split into '%.*s', not into '%.*s'", (int)n, text, (int)is.used,
                 is.text, (int)expected.used, expected.text);
}

static size_t piece(char *to, const char *text)
{
    memcpy(to, text, strlen(text));
    return strlen(text);
}

/* A header, and then pieces; the more `mad`, the fewer of them are what a program writes. */
static size_t make(char *text, char by, unsigned mad, uint64_t *seed)
{
    char middle[] = {'"', by, '"', 0}, between[] = {by, 0};
    const char *const pieces[] = {"1.5", "a", between, "\n", "\r\n", middle, "b c", between,
                                  " ", "\t", "\"\"", "\"", "\r", ",", ";", "'"};
    size_t n = (size_t)snprintf(text, BYTES, "h%ch%ch\n", by, by);

    while (n < BYTES - 8)
        n += piece(text + n, pieces[random_bits(seed) % (8 + mad)]);
    text[n / 2] = mad == 8 && n % 2 ? 0 : text[n / 2];
    return n;
}

static void any_bytes_are_split_as_the_library_does(void **state)
{
    (void)state;
    uint64_t seed = 7;
    char text[BYTES + 8];

    for (unsigned i = 0; i < FILES; i++) {
        char by = ",;\t"[i % 3];
        check(text, make(text, by, i % 9, &seed), by);
    }
}

static void quoted_cells_are_split_as_the_library_does(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "\"a\",\"b\",\"c\"", "\"a,b\",c", "a,\"\",\"\"", "\"\"", "\"\",", "a,\" b \"", "a, \"b\",c",
        "a,\"b\" ,c", "a,\"b\"\"c\",d", "a,\"\"\"\",d", "a,b\"c\",d", "\"a\"b,c", "a,\"b\nc\",d",
        "a,\"b\r\nc\",d", "a,\"b\rc\",d", "a,\"b", "a,b\"", "\"a\";\"b\"", "\t\"a\"",
    };
    char text[BYTES];

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        for (int end = 0; end < 4; end++) {
            int n = snprintf(text, sizeof text, "x,y\n%s%s", lines[i],
                             (const char *const[]){"", "\n", "\r\n", "\nnext,\"line\"\n"}[end]);
            check(text, (size_t)n, ',');
        }
}

static int enter(void **state)
{
    static char path[SCRATCH_PATH];

    folder_enter(path);
    *state = path;
    return 0;
}

static int leave(void **state)
{
    folder_leave(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_bytes_are_split_as_the_library_does),
        cmocka_unit_test(quoted_cells_are_split_as_the_library_does),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
