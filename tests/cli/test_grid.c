/* SPDX-License-Identifier: MIT */
/* Tables of text, without a process. */
#include "cli/grid.h"

#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *printed(enum grid_format format, int ascii)
{
    static const char *const heads[] = {"key", "what", "more", NULL};
    char *text = NULL;
    size_t size;
    struct grid g;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    grid_init(&g, heads);
    grid_add(&g, (const char *const[]){"↑ +", "a|b", "x \"y\", z"});
    grid_add(&g, (const char *const[]){"日本", "longer text", NULL});
    grid_print(&g, format, ascii, out);
    grid_fini(&g);
    fclose(out);
    return text;
}

static void text_lines_up_by_columns(void **state)
{
    (void)state;
    char *text = printed(GRID_TEXT, 0);
    assert_string_equal(text, "key   what         more\n"
                              "↑ +   a|b          x \"y\", z\n"
                              "日本  longer text\n");
    free(text);
    text = printed(GRID_TEXT, 1);
    for (char *c = text; *c; c++)
        assert_true((unsigned char)*c < 0x80);
    free(text);
}

/* In a line that is too short cells go on below, at words where there are some. */
static void text_goes_on_below(void **state)
{
    static const char *const heads[] = {"a word", "what", "here", NULL};
    (void)state;
    char *text = NULL;
    size_t size;
    struct grid g;
    FILE *out = open_memstream(&text, &size);
    grid_init(&g, heads);
    grid_add(&g, (const char *const[]){"first", "one two three four", "can be started"});
    grid_add(&g, (const char *const[]){"second", "nothing-to-break-at", NULL});
    g.room = 8 + 12 + 2 + 12;
    grid_print(&g, GRID_TEXT, 0, out);
    grid_fini(&g);
    fclose(out);
    assert_string_equal(text, "a word  what          here\n"
                              "first   one two       can be\n"
                              "        three four    started\n"
                              "second  nothing-to-b\n"
                              "        reak-at\n");
    free(text);
}

static void markdown_escapes_bars(void **state)
{
    (void)state;
    char *text = printed(GRID_MARKDOWN, 0);
    assert_string_equal(text, "| key | what | more |\n"
                              "| --- | --- | --- |\n"
                              "| ↑ + | a\\|b | x \"y\", z |\n"
                              "| 日本 | longer text |  |\n");
    free(text);
}

static void csv_is_rfc_4180(void **state)
{
    (void)state;
    char *text = printed(GRID_CSV, 0);
    assert_non_null(strstr(text, "\"key\",\"what\",\"more\"\r\n"));
    assert_non_null(strstr(text, "\"x \"\"y\"\", z\"\r\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_lines_up_by_columns),
        cmocka_unit_test(text_goes_on_below),
        cmocka_unit_test(markdown_escapes_bars),
        cmocka_unit_test(csv_is_rfc_4180),
    };
    if (!setlocale(LC_CTYPE, "C.UTF-8"))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
