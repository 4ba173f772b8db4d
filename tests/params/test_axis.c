/* SPDX-License-Identifier: MIT */
/* Lists and ranges: the values they give, and each way to be wrong. */
#include "params/axis.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void gives(enum param_id id, const char *text, int count, const double *values)
{
    struct axis a;
    struct err e = {""};
    if (axis_parse(id, text, &a, &e) < 0)
        fail_msg("%s: %s", text, e.text);
    assert_int_equal(a.id, id);
    assert_int_equal(a.count, count);
    for (int i = 0; i < count; i++)
        if (a.values[i] != values[i])
            fail_msg("%s [%d]: %.17g is not %.17g", text, i, a.values[i], values[i]);
}

#define GIVES(id, text, ...)                                                                       \
    gives(id, text, (int)(sizeof((double[]){__VA_ARGS__}) / sizeof(double)),                       \
          (const double[]){__VA_ARGS__})

static void refuses(enum param_id id, const char *text, const char *words)
{
    struct axis a;
    struct err e = {""};
    int error = axis_parse(id, text, &a, &e);
    if (error != -EINVAL || !strstr(e.text, words) || strncmp(e.text, "--", 2))
        fail_msg("%s: %d, \"%s\", expected \"%s\"", text, error, e.text, words);
}

static void single_values(void **state)
{
    (void)state;
    GIVES(PARAM_connections, "400", 400);
    GIVES(PARAM_samples, "12", 12);
    GIVES(PARAM_rate, "max", PARAM_MAX);
    GIVES(PARAM_warmup, "auto", PARAM_AUTO);
    GIVES(PARAM_engine, "blocking", ENGINE_BLOCKING);
    GIVES(PARAM_connections, "5..5:1", 5);
}

static void lists_keep_their_order(void **state)
{
    (void)state;
    GIVES(PARAM_connections, "800,100", 800, 100);
    GIVES(PARAM_connections, "100, 200 ,300", 100, 200, 300);
    GIVES(PARAM_size, "100,512,1KiB,4KiB", 100, 512, 1024, 4096);
}

static void ranges_include_their_end(void **state)
{
    (void)state;
    GIVES(PARAM_connections, "100..800:100", 100, 200, 300, 400, 500, 600, 700, 800);
    GIVES(PARAM_connections, "100..350:100", 100, 200, 300);
    GIVES(PARAM_rate, "1k..64k*2,max", 1000, 2000, 4000, 8000, 16000, 32000, 64000, PARAM_MAX);
    GIVES(PARAM_idle, "0,10..10240*2", 0, 10, 20, 40, 80, 160, 320, 640, 1280, 2560, 5120, 10240);
    GIVES(PARAM_idle, "0..20:10,100..200:50", 0, 10, 20, 100, 150, 200);
    GIVES(PARAM_connections, "10..40*1.5", 10, 15, 23, 34);
    GIVES(PARAM_connections, "1..4*1.3", 1, 2, 3, 4); /* 1, 1.3, 1.69, 2.197, 2.86, 3.71 */
    GIVES(PARAM_buffer, "64..128:16", 64, 80, 96, 112, 128); /* a step below the lowest value */
}

static void fractions_are_as_typed(void **state)
{
    (void)state;
    GIVES(PARAM_rate, "0.1..0.7:0.1", 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7);
    GIVES(PARAM_rate, "0.001..1*10", 0.001, 0.01, 0.1, 1);
}

static void at_most_256_values(void **state)
{
    struct axis a;
    struct err e = {""};
    (void)state;
    assert_int_equal(axis_parse(PARAM_connections, "1..256:1", &a, &e), 0);
    assert_int_equal(a.count, AXIS_MAX);
    assert_true(a.values[255] == 256);
    refuses(PARAM_connections, "1..257:1", "more than 256 values");
    refuses(PARAM_connections, "1..256:1,300", "more than 256 values");
    refuses(PARAM_connections, "1..1000000:1", "more than 256 values");
    refuses(PARAM_rate, "0.001..100000000*1.000000001", "more than 256 values");
}

static void wrong_lists(void **state)
{
    (void)state;
    refuses(PARAM_connections, "", "must be a whole number");
    refuses(PARAM_connections, ",", "an item of the list is empty");
    refuses(PARAM_connections, "1,", "an item of the list is empty");
    refuses(PARAM_connections, ",1", "an item of the list is empty");
    refuses(PARAM_connections, "1,,2", "an item of the list is empty");
    refuses(PARAM_connections, "1, ,2", "must be a whole number");
    refuses(PARAM_connections, "1,1,1", "--connections 1: the list holds it already");
    refuses(PARAM_connections, "1k,5, 1000", "--connections 1000: the list holds it already");
    refuses(PARAM_rate, "max,5,max", "--rate max: the list holds it already");
    refuses(PARAM_connections, "5,1..9:2", "--connections 1..9:2: the list holds a value of it");
    refuses(PARAM_connections, "100,abc", "--connections abc: must be a whole number");
    refuses(PARAM_connections, "100,0", "--connections 0: must be");
    refuses(PARAM_connections, "max", "must be a whole number");
    refuses(PARAM_samples, "1,2", "--samples 1,2: takes one value, no list");
    refuses(PARAM_samples, "1..4:1", "takes one value, no list");
    refuses(PARAM_turn, "1..4:1", "takes one value, no list");
    refuses(PARAM_engine, "mux,blocking", "takes one value, no list");
}

static void wrong_ranges(void **state)
{
    char text[300];
    (void)state;
    refuses(PARAM_connections, "800..100:100", "a range counts upwards");
    refuses(PARAM_connections, "1..9", "a range needs a step");
    refuses(PARAM_connections, "1..9:0", "the step of a range must be whole and above 0");
    refuses(PARAM_connections, "1..9:-1", "the step of a range");
    refuses(PARAM_connections, "1..9:0.5", "the step of a range");
    refuses(PARAM_connections, "1..9:", "the step of a range");
    refuses(PARAM_connections, "1..9:2x", "the step of a range");
    refuses(PARAM_connections, "1..9:nan", "the step of a range");
    refuses(PARAM_connections, "1..9*1", "the factor of a range must be a number above 1");
    refuses(PARAM_connections, "1..9*0", "the factor of a range");
    refuses(PARAM_connections, "1..9*", "the factor of a range");
    refuses(PARAM_connections, "1..9*inf", "the factor of a range");
    refuses(PARAM_connections, "1..9*1e999", "the factor of a range");
    refuses(PARAM_rate, "0.001..1:1e-9999", "the step of a range");
    refuses(PARAM_connections, "1..9:1:1", "the step of a range");
    refuses(PARAM_connections, "1..5..9:1", "must be a whole number");
    refuses(PARAM_connections, "..9:1", "--connections \"\": must be");
    refuses(PARAM_connections, "1..:1", "--connections \"\": must be");
    refuses(PARAM_connections, "..", "a range needs a step");
    refuses(PARAM_connections, "0..9:1", "--connections 0: must be");
    refuses(PARAM_connections, "1..2M:1", "--connections 2M: must be");
    refuses(PARAM_idle, "0..9*2", "a range with a factor begins above 0");
    refuses(PARAM_rate, "1..max:1", "a range counts upwards, from a number to a number");
    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    refuses(PARAM_connections, text, "too long");
    memcpy(text + 100, "..", 2);
    refuses(PARAM_connections, text, "too long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_values),
        cmocka_unit_test(lists_keep_their_order),
        cmocka_unit_test(ranges_include_their_end),
        cmocka_unit_test(fractions_are_as_typed),
        cmocka_unit_test(at_most_256_values),
        cmocka_unit_test(wrong_lists),
        cmocka_unit_test(wrong_ranges),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
