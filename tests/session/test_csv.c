/* SPDX-License-Identifier: MIT */
/* What is written comes back bit for bit, under any locale, and opens in another program. */
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "session/csv_cells.h"
#include "session/sample_rows.h"

static struct environment env;

static struct csv_session session_of(const struct rows *rows)
{
    env = rows_environment();
    return (struct csv_session){rows, &env, "20261130-140601-7"};
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

static void save(const struct rows *rows, const char *name)
{
    struct csv_session s = session_of(rows);
    struct err e = {{0}};

    if (csv_save(&s, name, &e) < 0)
        fail_msg("%s", e.text);
}

static struct rows open_ok(const char *name, char note[200])
{
    struct rows rows = {0};
    struct err e = {{0}};

    if (csv_open(name, &rows, &env, note, &e) < 0)
        fail_msg("%s", e.text);
    return rows;
}

static bool same_bits(double a, double b)
{
    return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b));
}

static void same_print(const struct fingerprint *a, const struct fingerprint *b)
{
    assert_int_equal(a->taken, b->taken);
    if (!a->taken)
        return;
#define X(id, help) assert_int_equal(a->id, b->id);
    FINGERPRINT_COUNTS(X)
#undef X
#define X(id, help) assert_string_equal(a->id, b->id);
    FINGERPRINT_WORDS(X)
#undef X
}

static void same_pane(const struct pane *a, const struct pane *b)
{
    assert_string_equal(a->model, b->model);
    assert_ptr_equal(a->io, b->io);
    assert_int_equal(a->verdict, b->verdict);
    assert_string_equal(a->reason, b->reason);
    assert_string_equal(a->workers, b->workers);
    same_print(&a->print, &b->print);
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        const struct sample *x = pane_at(a, i), *y = pane_at(b, i);

        assert_int_equal(x->index, y->index);
        assert_int_equal(x->kept, y->kept);
        assert_string_equal(x->time, y->time);
        assert_true(same_bits(x->elapsed_s, y->elapsed_s));
        assert_true(same_bits(x->interval_s, y->interval_s));
        for (int m = 0; m < METRIC_COUNT; m++)
            if (!same_bits(x->values.v[m], y->values.v[m]))
                fail_msg("%s: %.17g came back as %.17g", metric_table[m].id, x->values.v[m],
                         y->values.v[m]);
    }
}

static void same_rows(const struct rows *a, const struct rows *b)
{
    const struct row *y = b->first;

    assert_int_equal(a->count, b->count);
    for (const struct row *x = a->first; x; x = x->next, y = y->next) {
        assert_int_equal(x->number, y->number);
        assert_ptr_equal(x->workload, y->workload);
        assert_int_equal(x->pane_count, y->pane_count);
        assert_string_equal(x->claim, y->claim);
        for (int i = 0; i < PARAM_COUNT; i++)
            if (!same_bits(params_get(&x->params, i), params_get(&y->params, i)))
                fail_msg("%s differs", param_table[i].id);
        for (int i = 0; i < x->pane_count; i++)
            same_pane(&x->panes[i], &y->panes[i]);
    }
}

static void comes_back_bit_for_bit(void **state)
{
    (void)state;
    struct rows rows = {0}, back;
    char note[200];

    rows_session(&rows);
    strcpy(rows.last->claim, "idle-epoll");
    strcpy(rows.last->panes[0].workers, "connections 26+24, requests 52+48 %, CPU 51+49 %");
    save(&rows, "a.csv");
    back = open_ok("a.csv", note);
    assert_string_equal(note, "");
    same_rows(&rows, &back);
    struct environment written = rows_environment();
    assert_memory_equal(&env, &written, sizeof env);

    save(&back, "b.csv");
    char *a = file_text("a.csv", NULL), *b = file_text("b.csv", NULL);
    assert_string_equal(a, b);
    free(a);
    free(b);
    a = file_text("a-tables.csv", NULL);
    b = file_text("b-tables.csv", NULL);
    assert_string_equal(a, b);
    free(a);
    free(b);
    rows_free(&rows);
    rows_free(&back);
}

static void dropped_rows_are_not_saved(void **state)
{
    (void)state;
    struct rows rows = {0}, back;
    char note[200];

    rows_session(&rows);
    rows.first->state = ROW_DROPPED;
    save(&rows, "a.csv");
    back = open_ok("a.csv", note);
    assert_int_equal(back.count, 2);
    assert_int_equal(back.first->number, 2);
    rows_free(&rows);
    rows_free(&back);
}

/* --- the columns ----------------------------------------------------------------------------- */

struct seen {
    char head[1024][40];
    int count, lines;
};

static int see_line(void *ctx, const struct cells *c, struct err *e)
{
    struct seen *s = ctx;

    (void)e;
    s->lines++;
    if (s->lines > 1) {
        assert_int_equal(c->count, s->count);
        return 0;
    }
    s->count = c->count;
    for (int i = 0; i < c->count; i++) {
        snprintf(s->head[i], sizeof *s->head, "%s", c->cell[i]);
        for (int k = 0; k < i; k++)
            assert_string_not_equal(s->head[i], s->head[k]);
    }
    return 0;
}

static void see(const char *name, struct seen *s)
{
    struct err e = {{0}};

    memset(s, 0, sizeof *s);
    if (cells_read(name, see_line, s, &e) < 0)
        fail_msg("%s", e.text);
}

static int expect_params(const struct seen *s, int at)
{
    for (int i = 0; i < PARAM_COUNT; i++)
        assert_string_equal(s->head[at++], param_table[i].id);
    return at;
}

static int expect_print(const struct seen *s, int at)
{
#define X(id, help) assert_string_equal(s->head[at++], "seen_" #id);
    FINGERPRINT_WORDS(X)
    FINGERPRINT_COUNTS(X)
#undef X
    return at;
}

static int expect(const struct seen *s, int at, const char *const *words)
{
    for (; *words; words++)
        assert_string_equal(s->head[at++], *words);
    return at;
}

/* As on the screen: by what differs, whatever was measured first. */
static void table_rows_are_sorted(void **state)
{
    (void)state;
    static const double rates[] = {1000, PARAM_MAX, 2000}, sorted[] = {1, 3, 2};
    struct rows rows = {0};
    struct params p = rows_params("transfer");
    char *text = NULL, *line;
    size_t size;

    for (int i = 0; i < 3; i++) {
        p.rate = rates[i];
        rows_make(&rows, &p, (const char *const[]){"select"}, 1);
    }
    struct csv_session s = session_of(&rows);
    FILE *f = open_memstream(&text, &size);
    assert_int_equal(csv_tables(&s, f), 0);
    fclose(f);
    line = text;
    for (int i = 0; i < 3; i++) {
        line = strchr(line, '\n') + 1;
        assert_int_equal(atoi(strchr(line, ',') + 1), (int)sorted[i]);
    }
    free(text);
    rows_free(&rows);
}

static void columns_stand_as_documented(void **state)
{
    (void)state;
    static struct seen s;
    struct rows rows = {0};
    char name[64];

    rows_session(&rows);
    save(&rows, "a.csv");
    see("a.csv", &s);
    assert_int_equal(s.lines, 1 + 2 * 70 + 2 * 5 + 3);
    int at = expect(&s, 0, (const char *const[]){"time", "elapsed_s", "interval_s", "session",
                                                 "row", "pane", "model", NULL});
    at = expect_params(&s, at);
    at = expect(&s, at, (const char *const[]){"kind", "index", "kept", NULL});
    for (int i = 0; i < METRIC_COUNT; i++)
        assert_string_equal(s.head[at++], metric_table[i].id);
    at = expect(&s, at, (const char *const[]){"verdict", "reason", "workers_split", NULL});
    at = expect_print(&s, at);
    at = expect(&s, at, (const char *const[]){"period", "claim", "path", "env_host", NULL});

    see("a-tables.csv", &s);
    assert_int_equal(s.lines, 1 + 2 + 2 + 3);
    at = expect(&s, 0, (const char *const[]){"session", "row", "pane", "model", NULL});
    at = expect_params(&s, at);
    at = expect(&s, at, (const char *const[]){"taken", "used", NULL});
    static const char *const part[] = {"", "_n", "_min", "_max", "_low", "_high"};
    for (int i = 0; i < METRIC_COUNT; i++)
        for (int k = 0; k < 6; k++) {
            snprintf(name, sizeof name, "%s%s", metric_table[i].id, part[k]);
            assert_string_equal(s.head[at++], name);
        }
    at = expect(&s, at,
                (const char *const[]){"against", "compared", "ratio", "ratio_low", "ratio_high",
                                      "resolution_pct", "outcome", "verdict", "reason",
                                      "workers_split", "answer", "why", "trust", NULL});
    at = expect_print(&s, at);
    expect(&s, at, (const char *const[]){"period", "claim", "path", "env_host", NULL});
    rows_free(&rows);
}

/* --- text ------------------------------------------------------------------------------------ */

static char *put(const char *text)
{
    char *out = NULL;
    size_t size;
    FILE *f = open_memstream(&out, &size);

    cells_put(f, true, text);
    fclose(f);
    return out;
}

static void formulas_are_made_harmless(void **state)
{
    (void)state;
    static const char *const written[][2] = {
        {"=cmd|'/c calc'!A0", "'=cmd|'/c calc'!A0"},
        {"+1", "'+1"},
        {"-1 is no descriptor", "'-1 is no descriptor"},
        {"@sum", "'@sum"},
        {"'=x", "''=x"},
        {"''@", "'''@"},
        {"'tis", "'tis"},
        {"plain", "plain"},
        {"a=b", "a=b"},
        {"", ""},
        {"=a,b", "\"'=a,b\""},
        {"say \"no\"", "\"say \"\"no\"\"\""},
        {" edge ", "\" edge \""},
        {"two\r\nlines", "\"two\r\nlines\""},
    };
    char buf[64];

    for (size_t i = 0; i < sizeof written / sizeof *written; i++) {
        char *text = put(written[i][0]);
        assert_string_equal(text, written[i][1]);
        free(text);
    }
    for (size_t i = 0; i < 10; i++)
        assert_string_equal(cells_unguard(written[i][1], buf, sizeof buf), written[i][0]);
}

static void numbers_are_left_alone(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct params p = rows_params("transfer");

    rows_sample(rows_make(&rows, &p, (const char *const[]){"select"}, 1), 0, METRIC_errors, -2.5);
    save(&rows, "a.csv");
    char *text = file_text("a.csv", NULL);
    assert_non_null(strstr(text, ",-2.5,"));
    free(text);
    rows_free(&rows);
}

/* Where only text follows the figures, a missing line end alone costs nothing. */
static void our_own_last_line_may_lack_its_end(void **state)
{
    (void)state;
    struct rows rows = {0}, back;
    char note[200];
    size_t size;

    rows_session(&rows);
    save(&rows, "a.csv");
    char *text = file_text("a.csv", &size);
    file_write("t.csv", text, size - 2);
    back = open_ok("t.csv", note);
    assert_string_equal(note, "");
    same_rows(&rows, &back);
    free(text);
    rows_free(&rows);
    rows_free(&back);
}

/* --- other places ----------------------------------------------------------------------------- */

/* Makes a locale whose decimals have a comma, and puts it on; false when that cannot be. */
static bool comma_locale(void)
{
    char here[256];

    if (system("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 >/dev/null 2>&1") != 0 &&
        access("de_DE.UTF-8/LC_NUMERIC", R_OK) != 0)
        return false;
    setenv("LOCPATH", getcwd(here, sizeof here), 1);
    return setlocale(LC_ALL, "de_DE.UTF-8") && strcmp(localeconv()->decimal_point, ",") == 0;
}

static void decimals_are_the_same_in_every_locale(void **state)
{
    (void)state;
    struct rows rows = {0}, back;
    char note[200];

    rows_session(&rows);
    save(&rows, "c.csv");
    bool comma = comma_locale();
    if (comma) {
        save(&rows, "de.csv");
        back = open_ok("c.csv", note);
        same_rows(&rows, &back);
        rows_free(&back);
    }
    setlocale(LC_ALL, "C");
    unsetenv("LOCPATH");
    if (system("rm -rf ./de_DE.UTF-8") != 0)
        fail_msg("rm");
    if (!comma) {
        rows_free(&rows);
        print_message("skipped: no locale with a decimal comma can be made here\n");
        skip();
    }
    char *c = file_text("c.csv", NULL), *de = file_text("de.csv", NULL);
    assert_string_equal(c, de);
    free(c);
    free(de);
    back = open_ok("de.csv", note);
    same_rows(&rows, &back);
    rows_free(&back);
    rows_free(&rows);
}

static const char python[] =
    "import csv, sys\n"
    "rows = list(csv.DictReader(open('a.csv', newline='', encoding='utf-8'), strict=True))\n"
    "tables = list(csv.DictReader(open('a-tables.csv', newline='', encoding='utf-8'),"
    " strict=True))\n"
    "assert len(rows) == 153 and len(tables) == 7, (len(rows), len(tables))\n"
    "assert all(None not in r and None not in r.values() for r in rows + tables)\n"
    "kept = [float(r['server_cpu_pct']) for r in rows\n"
    "        if r['row'] == '1' and r['pane'] == 'A' and r['kept'] == 'yes'"
    " and r['server_cpu_pct']]\n"
    "print(repr(sum(kept)), rows[140]['reason'])\n";

static void another_program_opens_it(void **state)
{
    (void)state;
    struct rows rows = {0};
    char line[256] = "";
    double sum = 0;

    if (system("python3 -c 'import csv' 2>/dev/null") != 0) {
        print_message("skipped: no python3\n");
        skip();
    }
    rows_session(&rows);
    for (int i = 0; i < 70; i++) {
        const struct sample *s = pane_at(&rows.first->panes[0], i);
        double v = s->values.v[METRIC_server_cpu_pct];
        sum += s->kept == KEPT_YES && !isnan(v) ? v : 0;
    }
    save(&rows, "a.csv");
    file_write("read.py", python, strlen(python));
    FILE *f = popen("python3 read.py 2>&1", "re");
    assert_non_null(fgets(line, sizeof line, f));
    pclose(f);
    assert_near(strtod(line, NULL), sum, 0);
    if (!strstr(line, "a \"quoted\", long\n"))
        fail_msg("%s", line);
    rows_free(&rows);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(comes_back_bit_for_bit),
        TEST(dropped_rows_are_not_saved),
        TEST(columns_stand_as_documented),
        cmocka_unit_test(table_rows_are_sorted),
        TEST(formulas_are_made_harmless),
        TEST(numbers_are_left_alone),
        TEST(our_own_last_line_may_lack_its_end),
        TEST(decimals_are_the_same_in_every_locale),
        TEST(another_program_opens_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
