/* SPDX-License-Identifier: MIT */
/* Whole command lines: options in every spelling, lists, mistakes and the text of --help. */
#include "params/args.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const run_takes[] = {"models", "output", "format", "no_color", ""};
static const char *const nothing[] = {""};
static const struct args_rules all = {.operands = 2};
static const struct args_rules run = {.accepts = run_takes};
static const char *const few[] = {"size", "load_wait", ""};
static const struct args_rules some = {
    .accepts = run_takes, .operands = 1, .params = few, .one_value = true};
static const struct args_rules bare = {
    .accepts = nothing, .no_params = true, .operands = 1};

static const char *workload(int i)
{
    static const char *const words[] = {"connect", "transfer"};
    return i < 2 ? words[i] : NULL;
}

/* Splits at blanks and parses. The words live until the next call: args point into them. */
static int parse(const struct args_rules *rules, const char *line, struct args *out, struct err *e)
{
    static char copy[512];
    char *argv[32] = {"run"};
    int argc = 1;
    snprintf(copy, sizeof copy, "%s", line);
    e->text[0] = '\0';
    for (char *rest = copy, *word; (word = strsep(&rest, " ")) && argc < 31;)
        if (*word)
            argv[argc++] = word;
    return args_parse(argc, argv, rules, out, e);
}

static struct args good(const struct args_rules *rules, const char *line)
{
    struct args a;
    struct err e;
    if (parse(rules, line, &a, &e))
        fail_msg("%s: %s", line, e.text);
    return a;
}

static void bad(const struct args_rules *rules, const char *line, const char *message)
{
    struct args a;
    struct err e;
    assert_int_equal(parse(rules, line, &a, &e), -EINVAL);
    assert_string_equal(e.text, message);
}

static void every_spelling(void **state)
{
    (void)state;
    static const char *const lines[] = {
        "-c 123 -w connect", "-c123 -wconnect", "--connections 123 --workload connect",
        "--connections=123 --workload=connect", "--conn 123 --workl=connect",
    };
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct args a = good(&run, lines[i]);
        assert_true(a.params.connections == 123 && a.params.workload == 0);
        assert_true(a.given[PARAM_connections] && a.given[PARAM_workload] && !a.given[PARAM_rate]);
        assert_int_equal(a.axis_count, 0);
    }
}

static void letters(void **state)
{
    (void)state;
    struct args a = good(&run, "-r 5k -d 10 -t 2 -m select,poll -o x.csv");
    assert_true(a.params.rate == 5000 && a.params.duration == 10 && a.params.load_threads == 2);
    assert_string_equal(a.options.models, "select,poll");
    assert_string_equal(a.options.output, "x.csv");
    assert_null(a.options.format);
}

static void nothing_given(void **state)
{
    (void)state;
    struct args a = good(&run, "");
    for (int id = 0; id < PARAM_COUNT; id++)
        assert_false(a.given[id]);
    assert_true(isnan(a.params.connections) && a.params.turn == 0.25);
    assert_false(a.help || a.version);
}

static void lists_become_axes_in_their_order(void **state)
{
    (void)state;
    struct args a = good(&run, "--rate 1k..4k*2,max -c 100..300:100");
    assert_int_equal(a.axis_count, 2);
    assert_int_equal(a.axes[0].id, PARAM_rate);
    assert_int_equal(a.axes[1].id, PARAM_connections);
    assert_int_equal(a.axes[0].count, 4);
    assert_true(a.params.rate == 1000 && a.params.connections == 100);
}

static void the_last_one_counts(void **state)
{
    (void)state;
    struct args a = good(&run, "-c 5 -c 6,7 --idle 1,2 -c 8");
    assert_int_equal(a.axis_count, 1);
    assert_int_equal(a.axes[0].id, PARAM_idle);
    assert_true(a.params.connections == 8);
    a = good(&run, "-c 1,2 --idle 1,2 -c 3,4 -w connect -w transfer");
    assert_int_equal(a.axis_count, 2);
    assert_int_equal(a.axes[1].id, PARAM_connections);
    assert_true(a.axes[1].values[0] == 3 && a.params.workload == 1);
}

static void operands_and_the_end_of_options(void **state)
{
    (void)state;
    struct args a = good(&all, "one -c 5 two");
    assert_int_equal(a.operand_count, 2);
    assert_string_equal(a.operand[0], "one");
    assert_string_equal(a.operand[1], "two");
    a = good(&all, "-- -c");
    assert_string_equal(a.operand[0], "-c");
    bad(&all, "a b c", "c: one word too many");
    bad(&run, "a", "a: not expected here; only options are (--help lists them)");
    bad(&run, "connections 5", "connections: options begin with --; did you mean --connections?");
}

static void help_and_version_end_the_parse(void **state)
{
    (void)state;
    assert_true(good(&run, "--help --nonsense").help);
    assert_true(good(&run, "-h").help);
    assert_true(good(&bare, "--version -x").version);
    assert_true(good(&bare, "--help").help);
    bad(&run, "--rate 0 --help", "--rate 0: must be 0.001 to 100000000 /s, or max");
    bad(&run, "--help=1", "--help: takes no value");
    bad(&run, "--version=1", "--version: takes no value");
}

static void unknown_options(void **state)
{
    (void)state;
    bad(&run, "--conections 5", "--conections: no such option; did you mean --connections?");
    bad(&run, "--conections=5", "--conections: no such option; did you mean --connections?");
    bad(&run, "-c 5 --rat=7 --ratee 5", "--ratee: no such option; did you mean --rate?");
    bad(&run, "--load-thread=1 --verison", "--verison: no such option; did you mean --version?");
    bad(&run, "--xyzzy", "--xyzzy: no such option (--help lists them)");
    bad(&run, "-x", "-x: no such option (--help lists them)");
    bad(&run, "-\x1b", "-?: no such option (--help lists them)");
    bad(&run, "-\xc3\xa9", "-?: no such option (--help lists them)");
    bad(&run, "--s 5", "--s: could be several options; write it out");
    bad(&run, "--listen 127.0.0.1:80", "--listen: not an option of this command");
    bad(&bare, "--rate 5", "--rate: not an option of this command");
    bad(&bare, "-c 5", "-c: not an option of this command");
    bad(&bare, "-o x", "-o: not an option of this command");
}

static void values_missing_or_too_many(void **state)
{
    (void)state;
    bad(&run, "-o", "--output: needs a value (FILE.csv)");
    bad(&run, "-c", "--connections: needs a value (a whole number, 1 to 1000000)");
    bad(&run, "--engine", "--engine: needs a value (mux, mux-uring or blocking)");
    bad(&run, "--output=", "--output \"\": needs a value (FILE.csv)");
    bad(&run, "--rate=", "--rate \"\": must be 0.001 to 100000000 /s, or max");
    bad(&run, "--no-color=1", "--no-color: takes no value");
    assert_string_equal(good(&run, "--no-color").options.no_color, "");
}

static void choices(void **state)
{
    (void)state;
    assert_string_equal(good(&run, "--format markdown").options.format, "markdown");
    bad(&run, "--format xml", "--format xml: must be one of text|markdown|csv|json");
    bad(&run, "--format mark", "--format mark: must be one of text|markdown|csv|json");
    bad(&run, "--format markdown|csv",
        "--format markdown|csv: must be one of text|markdown|csv|json");
}

static void what_excludes_each_other(void **state)
{
    (void)state;
    bad(&run, "--duration 5 --samples 3",
        "--duration stands in place of --samples; give one of them");
    bad(&run, "--samples 3 -d auto", "--duration stands in place of --samples; give one of them");
    bad(&run, "-c 1,2 --idle 1,2 --rate 1,2",
        "--rate: a third list; at most two parameters may be lists (--connections, --idle)");
}

/* A command line of junk never gives more than one line, and always one. */
static void every_mistake_is_one_line(void **state)
{
    static const char *const lines[] = {
        "-c \n", "--rate 1\n2", "--\n", "--a\nb=5", "-\n", "a\nb", "--format \n", "-w \n\n",
        "--connections 1..\n9:1", "--samples 1,\n",
    };
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct args a;
        struct err e;
        assert_int_equal(parse(&run, lines[i], &a, &e), -EINVAL);
        assert_true(*e.text && !strchr(e.text, '\n'));
    }
}

static void help_lists_each_option_within_100_columns(void **state)
{
    (void)state;
    char *text = args_help(&run);
    for (int id = 0; id < PARAM_COUNT; id++) {
        char flag[32];
        assert_non_null(strstr(text, params_flag(id, flag, sizeof flag)));
    }
    assert_non_null(strstr(text, "  -c, --connections N "));
    assert_non_null(strstr(text, "--load-wait auto|spin|block\n"));
    assert_non_null(strstr(text, "--output FILE.csv"));
    assert_null(strstr(text, "--listen"));
    for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
        if (end - line > 100)
            fail_msg("%.*s", (int)(end - line), line);
        assert_true(end == line || end[-1] != ' ');
    }
    free(text);
    text = args_help(&bare);
    assert_null(strstr(text, "--connections"));
    assert_null(strstr(text, "--output"));
    assert_non_null(strstr(text, "--help"));
    free(text);
}

static void a_command_may_take_some_parameters(void **state)
{
    (void)state;
    assert_true(good(&some, "--size 4k --load-wait spin").params.size == 4000);
    assert_true(args_takes(&some, PARAM_size) && !args_takes(&some, PARAM_rate));
    assert_true(args_takes(&run, PARAM_rate) && !args_takes(&bare, PARAM_rate));
    bad(&some, "--rate 5", "--rate: not an option of this command");
    bad(&some, "--load-threads=5", "--load-threads: not an option of this command");
    bad(&some, "-c 5", "-c: not an option of this command");
    bad(&some, "--size 1,2", "--size 1,2: takes one value here, no list");
    bad(&some, "--siez 1", "--siez: no such option; did you mean --size?");
    assert_true(good(&some, "rate").operand_count == 1);
    char *text = args_help(&some);
    assert_non_null(strstr(text, "--size BYTES"));
    assert_null(strstr(text, "--rate"));
    assert_null(strstr(text, " *"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_spelling),
        cmocka_unit_test(letters),
        cmocka_unit_test(nothing_given),
        cmocka_unit_test(lists_become_axes_in_their_order),
        cmocka_unit_test(the_last_one_counts),
        cmocka_unit_test(operands_and_the_end_of_options),
        cmocka_unit_test(help_and_version_end_the_parse),
        cmocka_unit_test(unknown_options),
        cmocka_unit_test(values_missing_or_too_many),
        cmocka_unit_test(choices),
        cmocka_unit_test(what_excludes_each_other),
        cmocka_unit_test(every_mistake_is_one_line),
        cmocka_unit_test(a_command_may_take_some_parameters),
        cmocka_unit_test(help_lists_each_option_within_100_columns),
    };
    params_bind(PARAM_workload, workload);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
