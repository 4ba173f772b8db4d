/* SPDX-License-Identifier: MIT */
/* One value: what is taken, what is refused and in which words, printing, steps, nearest names. */
#include "params/params.h"

#include <errno.h>
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *workload(int i)
{
    static const char *const words[] = {"connect", "transfer", "idle-mix"};
    return i < 3 ? words[i] : NULL;
}

static bool same(double a, double b)
{
    return (isnan(a) && isnan(b)) || a == b;
}

static void takes_what_people_type(void **state)
{
    static const struct {
        enum param_id id;
        const char *text;
        double value;
    } cases[] = {
        {PARAM_connections, "400", 400},
        {PARAM_connections, "1k", 1000},
        {PARAM_connections, "1.001k", 1001},
        {PARAM_connections, "1M", 1000000},
        {PARAM_connections, "1e3", 1000},
        {PARAM_connections, "007", 7},
        {PARAM_idle, "0", 0},
        {PARAM_size, "1024", 1024},
        {PARAM_size, "64KiB", 65536},
        {PARAM_size, "64 KiB", 65536},
        {PARAM_size, "0.5MiB", 524288},
        {PARAM_size, "16MiB", 16777216},
        {PARAM_size, "1024B", 1024},
        {PARAM_size, "64k", 64000},
        {PARAM_rate, "11.5k", 11500},
        {PARAM_rate, "11.5k/s", 11500},
        {PARAM_rate, "0.001", 0.001},
        {PARAM_rate, ".5", 0.5},
        {PARAM_rate, "100M", 1e8},
        {PARAM_rate, "max", PARAM_MAX},
        {PARAM_turn, "250ms", 0.25},
        {PARAM_turn, "300ms", 0.3},
        {PARAM_turn, "0.25 s", 0.25},
        {PARAM_timeout, "2min", 120},
        {PARAM_warmup, "auto", PARAM_AUTO},
        {PARAM_warmup, "0", 0},
        {PARAM_duration, "auto", PARAM_AUTO},
        {PARAM_load_threads, "auto", PARAM_AUTO},
        {PARAM_load_wait, "auto", WAIT_AUTO},
        {PARAM_load_wait, "block", WAIT_BLOCK},
        {PARAM_arrival, "storm", ARRIVAL_STORM},
        {PARAM_engine, "blocking", ENGINE_BLOCKING},
        {PARAM_accept, "drain", ACCEPT_DRAIN},
        {PARAM_place, "inside", PLACE_INSIDE},
        {PARAM_pin, "off", PIN_OFF},
        {PARAM_nodelay, "on", 1},
        {PARAM_workload, "transfer", 1},
        {PARAM_seed, "4294967295", 4294967295.0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double v = -77;
        struct err e = {""};
        int error = params_parse(cases[i].id, cases[i].text, &v, &e);
        if (error || v != cases[i].value)
            fail_msg("%s: %d, %.17g, %s", cases[i].text, error, v, e.text);
    }
}

static void refuses_what_is_no_value(void **state)
{
    static const char *const numbers[] = {
        "",    " ",   "nan",  "NaN", "inf",  "infinity", "-1",   "-0",    "+5",   "0x10", "1x",
        "1 2", "5 ",  " 5",   "1,5", "1e",   "1e999",    "0",    "1.5",   "--",   "k",    ".",
        "1..", "1KB", "1e-1", "MAX", "auto", "max",      "1ms",  "1000001", "99999999999999999999",
        "0b1", "1'000", "\xc2\xb2", "1\n", "1K", "1h",
    };
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        double v = -77;
        struct err e = {""};
        int error = params_parse(PARAM_connections, numbers[i], &v, &e);
        if (error != -EINVAL || v != -77 || !strstr(e.text, "--connections ") ||
            !strstr(e.text, "must be a whole number, 1 to 1000000") || strchr(e.text, '\n'))
            fail_msg("\"%s\": %d, %g, %s", numbers[i], error, v, e.text);
    }
}

static void refusals_name_option_value_and_range(void **state)
{
    static const struct {
        enum param_id id;
        const char *text, *message;
    } cases[] = {
        {PARAM_rate, "0", "--rate 0: must be 0.001 to 100000000 /s, or max"},
        {PARAM_rate, "inf", "--rate inf: must be 0.001 to 100000000 /s, or max"},
        {PARAM_rate, "1e300", "--rate 1e300: must be 0.001 to 100000000 /s, or max"},
        {PARAM_size, "64KB",
         "--size 64KB: must be 1 to 16777216 B; units: k, M, KiB, MiB"},
        {PARAM_size, "0.5", "--size 0.5: must be 1 to 16777216 B"},
        {PARAM_turn, "1h", "--turn 1h: must be 0.02 to 60 s; units: ms, s, min"},
        {PARAM_warmup, "-1", "--warmup -1: must be 0 to 3600 s, or auto"},
        {PARAM_turn, "auto", "--turn auto: must be 0.02 to 60 s"},
        {PARAM_load_threads, "0",
         "--load-threads 0: must be a whole number, 1 to 256, or auto"},
        {PARAM_engine, "mx", "--engine mx: must be mux, mux-uring or blocking; did you mean mux?"},
        {PARAM_engine, "uring", "--engine uring: must be mux, mux-uring or blocking"},
        {PARAM_load_wait, "Spin",
         "--load-wait Spin: must be auto, spin or block; did you mean spin?"},
        {PARAM_workload, "transfr",
         "--workload transfr: must be connect, transfer or idle-mix; did you mean transfer?"},
        {PARAM_workload, "", "--workload \"\": must be connect, transfer or idle-mix"},
        {PARAM_rate, "1\x1b[2J\t\xe6\x97\xa5x\x7f",
         "--rate 1?[2J??x?: must be 0.001 to 100000000 /s, or max; units: k, M"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double v;
        struct err e = {""};
        assert_int_equal(params_parse(cases[i].id, cases[i].text, &v, &e), -EINVAL);
        assert_string_equal(e.text, cases[i].message);
    }
}

static void long_values_are_cut_in_messages(void **state)
{
    char text[3000], buf[16];
    struct err e = {""};
    double v;
    (void)state;
    memset(text, '9', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(params_parse(PARAM_connections, text, &v, &e), -EINVAL);
    assert_non_null(strstr(e.text, "9...: must be"));
    assert_string_equal(params_echo("", buf, sizeof buf), "\"\"");
    assert_string_equal(params_echo("0123456789abcdefghi", buf, sizeof buf), "0123456789ab...");
    assert_string_equal(params_echo("\xc3\xa9\x80%n", buf, sizeof buf), "?%n");
}

static void defaults_are_those_of_the_table(void **state)
{
    struct params p;
    (void)state;
    params_init(&p);
    assert_true(p.workload == 1);
    assert_true(isnan(p.connections) && isnan(p.size) && isnan(p.rate) && isnan(p.protocol));
    assert_true(p.idle == 0 && p.trim == 1 && p.turn == 0.25 && p.settle == 0.05);
    assert_true(p.warmup == PARAM_AUTO && p.duration == PARAM_AUTO);
    assert_true(p.accept == ACCEPT_DRAIN && p.nodelay == 1 && p.backlog == 1024);
    /* Every default of the table is a value that the table allows. */
    for (int id = 0; id < PARAM_COUNT; id++)
        assert_true(isnan(params_get(&p, id)) == (*param_table[id].preset == '\0'));
}

static void fields_are_reached_by_id(void **state)
{
    struct params p;
    (void)state;
    params_init(&p);
    *params_at(&p, PARAM_seed) = 42;
    assert_true(p.seed == 42);
    p.events = 7;
    assert_true(params_get(&p, PARAM_events) == 7);
}

/* What is printed is read back as the same value, in every locale that is there. */
static void printed_values_read_back(void **state)
{
    static const double values[] = {1, 2, 0.1, 0.25, 1.0 / 3, 11500, 12345.678, 65536, 1e6};
    (void)state;
    setlocale(LC_ALL, "de_DE.UTF-8");
    for (int id = 0; id < PARAM_COUNT; id++) {
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            char text[64];
            double v, back;
            if (param_table[id].kind >= KIND_WORD && values[i] != floor(values[i]))
                continue; /* no index of a word */
            params_print(id, values[i], text, sizeof text);
            if (params_parse(id, text, &v, NULL) < 0)
                continue; /* out of this one's range */
            assert_null(strchr(text, ','));
            assert_int_equal(params_parse(id, params_print(id, v, text, sizeof text), &back, NULL),
                             0);
            assert_true(v == values[i] && back == v);
        }
    }
    setlocale(LC_ALL, "C");
}

static void special_values_are_words(void **state)
{
    char b[64];
    (void)state;
    assert_string_equal(params_print(PARAM_rate, PARAM_MAX, b, sizeof b), "max");
    assert_string_equal(params_print(PARAM_warmup, PARAM_AUTO, b, sizeof b), "auto");
    assert_string_equal(params_print(PARAM_size, PARAM_UNSET, b, sizeof b), "");
    assert_string_equal(params_print(PARAM_accept, ACCEPT_ONE, b, sizeof b), "one");
    assert_string_equal(params_print(PARAM_accept, 9, b, sizeof b), "");
    assert_string_equal(params_print(PARAM_workload, 2, b, sizeof b), "idle-mix");
    assert_string_equal(params_print(PARAM_rate, 0.001, b, sizeof b), "0.001");
    assert_string_equal(params_show(PARAM_rate, 11500, b, sizeof b), "11.5k/s");
    assert_string_equal(params_show(PARAM_rate, 2000, b, sizeof b), "2k/s");
    assert_string_equal(params_show(PARAM_rate, 2500000, b, sizeof b), "2.5M/s");
    assert_string_equal(params_show(PARAM_rate, 100000, b, sizeof b), "100k/s");
    assert_string_equal(params_show(PARAM_rate, 1050, b, sizeof b), "1.05k/s");
    assert_string_equal(params_show(PARAM_rate, 0.5, b, sizeof b), "0.5/s");
    assert_string_equal(params_show(PARAM_rate, 10, b, sizeof b), "10/s");
    assert_string_equal(params_show(PARAM_rate, PARAM_MAX, b, sizeof b), "max");
    assert_string_equal(params_show(PARAM_size, 1024, b, sizeof b), "1024 B");
    assert_string_equal(params_show(PARAM_turn, 0.25, b, sizeof b), "0.25 s");
    assert_string_equal(params_show(PARAM_connections, 10240, b, sizeof b), "10240");
}

static void steps_walk_1_2_5_10(void **state)
{
    static const struct {
        enum param_id id;
        double from, up, down;
    } cases[] = {
        {PARAM_connections, 400, 500, 200},
        {PARAM_connections, 500, 1000, 200},
        {PARAM_connections, 1, 2, 1},
        {PARAM_connections, 999999, 1000000, 500000},
        {PARAM_connections, 1000000, 1000000, 500000},
        {PARAM_idle, 0, 1, 0},
        {PARAM_idle, 1, 2, 0},
        {PARAM_size, 1024, 2000, 1000},
        {PARAM_buffer, 70, 100, 64},
        {PARAM_events, 65536, 65536, 50000},
        {PARAM_rate, 11500, 20000, 10000},
        {PARAM_rate, 0.001, 0.002, 0.001},
        {PARAM_rate, 0.5, 1, 0.2},
        {PARAM_rate, 500000, 1e6, 200000},
        {PARAM_rate, 1e6, PARAM_MAX, 500000},
        {PARAM_rate, PARAM_MAX, PARAM_MAX, 1e6},
        {PARAM_turn, 0.25, 0.5, 0.2},
        {PARAM_turn, 0.02, 0.05, 0.02},
        {PARAM_turn, 60, 60, 50},
        {PARAM_settle, 0, 0.01, 0},
        {PARAM_settle, 0.01, 0.02, 0},
        {PARAM_warmup, 0, 0.01, PARAM_AUTO},
        {PARAM_warmup, PARAM_AUTO, 0, PARAM_AUTO},
        {PARAM_load_threads, 1, 2, PARAM_AUTO},
        {PARAM_load_threads, PARAM_AUTO, 1, PARAM_AUTO},
        {PARAM_connections, PARAM_UNSET, PARAM_UNSET, PARAM_UNSET},
        {PARAM_load_wait, WAIT_SPIN, WAIT_BLOCK, WAIT_AUTO},
        {PARAM_load_wait, WAIT_BLOCK, WAIT_BLOCK, WAIT_SPIN},
        {PARAM_workload, 2, 2, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double up = params_step(cases[i].id, cases[i].from, 1);
        double down = params_step(cases[i].id, cases[i].from, -1);
        if (!same(up, cases[i].up) || !same(down, cases[i].down))
            fail_msg("%s %g: up %.17g, down %.17g", param_table[cases[i].id].id, cases[i].from, up,
                     down);
    }
}

/* Up to the end and down again: always within the range, never stuck. */
static void steps_reach_both_ends(void **state)
{
    (void)state;
    for (int id = 0; id < PARAM_COUNT; id++) {
        const struct param_info *p = &param_table[id];
        if (p->kind >= KIND_WORD)
            continue;
        double v = p->low;
        for (int i = 0; i < 100; i++, v = params_step(id, v, 1))
            assert_true(isinf(v) || (v >= p->low && v <= p->high));
        assert_true(p->kind == KIND_RATE ? isinf(v) : v == p->high);
        for (int i = 0; i < 100; i++, v = params_step(id, v, -1))
            assert_true(isinf(v) || v == PARAM_AUTO || (v >= p->low && v <= p->high));
        assert_true(v == (params_allows_auto(id) ? PARAM_AUTO : p->low));
    }
}

static void ids_are_found_and_unique(void **state)
{
    (void)state;
    assert_int_equal(params_find("load_threads"), PARAM_load_threads);
    assert_int_equal(params_find("load-threads"), PARAM_load_threads);
    assert_int_equal(params_find("no-color"), PARAM_COUNT + OPTION_no_color);
    assert_int_equal(params_find("connection"), -1);
    assert_int_equal(params_find("connectionss"), -1);
    assert_int_equal(params_find(""), -1);
    for (int i = 0; params_word(i); i++)
        assert_int_equal(params_find(params_word(i)), i);
    assert_null(params_word(-1));
    assert_null(params_word(PARAM_COUNT + OPTION_COUNT));
    char letters[64] = "";
    for (int i = 0; params_word(i); i++) {
        char c = i < PARAM_COUNT ? params_letter(i) : option_table[i - PARAM_COUNT].letter;
        if (!c)
            continue;
        assert_null(strchr(letters, c));
        letters[strlen(letters)] = c;
    }
}

static void nearest_guesses_but_not_wildly(void **state)
{
    (void)state;
    assert_string_equal(params_nearest("conections", params_word), "connections");
    assert_string_equal(params_nearest("conenctions", params_word), "connections");
    assert_string_equal(params_nearest("load-thread", params_word), "load_threads");
    assert_string_equal(params_nearest("Transfer", workload), "transfer");
    assert_string_equal(params_nearest("idle", workload), "idle-mix");
    assert_string_equal(params_nearest("rtae", params_word), "rate");
    assert_null(params_nearest("xyzzy", params_word));
    assert_null(params_nearest("", params_word));
    assert_null(params_nearest("a", workload));
    assert_null(params_nearest("a-word-that-is-longer-than-any-id-that-there-will-be",
                               params_word));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(takes_what_people_type),
        cmocka_unit_test(refuses_what_is_no_value),
        cmocka_unit_test(refusals_name_option_value_and_range),
        cmocka_unit_test(long_values_are_cut_in_messages),
        cmocka_unit_test(defaults_are_those_of_the_table),
        cmocka_unit_test(fields_are_reached_by_id),
        cmocka_unit_test(printed_values_read_back),
        cmocka_unit_test(special_values_are_words),
        cmocka_unit_test(steps_walk_1_2_5_10),
        cmocka_unit_test(steps_reach_both_ends),
        cmocka_unit_test(ids_are_found_and_unique),
        cmocka_unit_test(nearest_guesses_but_not_wildly),
    };
    params_bind(PARAM_workload, workload);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
