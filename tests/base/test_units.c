/* SPDX-License-Identifier: MIT */
/* Numbers for people and for files: the examples of the header, the borders where a rounding adds a
 * digit, every double back unchanged, what strtod reads, and a country that writes decimals with a
 * comma. */
#include "base/units.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/fake_tree.h"

struct example {
    double v;
    const char *text;
};

#define CHECK_ALL(fn, ...)                                                                         \
    do {                                                                                           \
        static const struct example list[] = {__VA_ARGS__};                                        \
        char buf_[64];                                                                             \
        for (size_t i_ = 0; i_ < sizeof list / sizeof *list; i_++)                                 \
            assert_string_equal(fn(buf_, sizeof buf_, list[i_].v), list[i_].text);                 \
    } while (0)

static void test_number(void **state)
{
    (void)state;
    CHECK_ALL(units_number, {0.147, "0.147"}, {4.02, "4.02"}, {72.6, "72.6"}, {396, "396"},
              {1234, "1234"}, {0, "0"}, {-0.0, "0"}, {1, "1.00"}, {-3.456, "-3.46"}, {NAN, "-"},
              {INFINITY, "inf"}, {-INFINITY, "-inf"}, {0.000147, "0.000147"}, {1e-9, "0"},
              {123456789, "123456789"}, {1e300, "1.00e+300"}, {-1e300, "-1.00e+300"},
              {DBL_MAX, "1.80e+308"});
}

static char *one_place(char *buf, size_t size, double v)
{
    return units_fixed(buf, size, v, 1);
}

/* The same figure looks the same wherever it stands: halves as one reads them go away from zero. */
static void test_halves(void **state)
{
    (void)state;
    CHECK_ALL(units_number, {44.55, "44.6"}, {44.45, "44.5"}, {2.675, "2.68"}, {-44.55, "-44.6"},
              {0.125, "0.125"}, {1234.5, "1235"}, {44.5499, "44.5"});
    CHECK_ALL(one_place, {44.55, "44.6"}, {44.45, "44.5"}, {-44.55, "-44.6"}, {44.5499, "44.5"},
              {0, "0.0"}, {-0.01, "0.0"}, {0.25, "0.3"}, {1e300, "1.00e+300"}, {NAN, "-"});
}

static void test_number_where_rounding_adds_a_digit(void **state)
{
    (void)state;
    CHECK_ALL(units_number, {9.994, "9.99"}, {9.996, "10.0"}, {99.94, "99.9"}, {99.96, "100"},
              {0.9996, "1.00"}, {999.6, "1000"});
}

static void test_si(void **state)
{
    (void)state;
    CHECK_ALL(units_si, {950, "950"}, {11500, "11.5k"}, {1.2e6, "1.20M"}, {999, "999"},
              {999.7, "1.00k"}, {999600, "1.00M"}, {2.5, "2.50"}, {7, "7"}, {0, "0"}, {-0.0, "0"},
              {3.2e9, "3.20G"}, {5e15, "5000T"}, {1e300, "1.00e+300"}, {-11500, "-11.5k"},
              {NAN, "-"});
}

static void test_bytes(void **state)
{
    (void)state;
    CHECK_ALL(units_bytes, {0, "0 B"}, {64, "64 B"}, {1024, "1024 B"}, {4096, "4096 B"},
              {16384, "16 KiB"}, {65536, "64 KiB"}, {1.9 * 1048576, "1.9 MiB"},
              {16777216, "16 MiB"}, {1048575, "1.0 MiB"}, {123.4 * 1048576, "123 MiB"},
              {3.5 * 1073741824, "3.5 GiB"}, {NAN, "-"});
}

static char *in_utf8(char *buf, size_t size, double v)
{
    return units_us(buf, size, v, 0);
}

static char *in_ascii(char *buf, size_t size, double v)
{
    return units_us(buf, size, v, 1);
}

static void test_latency(void **state)
{
    (void)state;
    CHECK_ALL(in_utf8, {310, "310 µs"}, {72.6, "72.6 µs"}, {0.147, "0.147 µs"}, {4100, "4.1 ms"},
              {999.6, "1.0 ms"}, {99960, "100 ms"}, {1.5e6, "1.50 s"}, {150e6, "150 s"},
              {NAN, "-"});
    CHECK_ALL(in_ascii, {310, "310 us"}, {0, "0 us"});
}

static void test_spans_and_clocks(void **state)
{
    (void)state;
    CHECK_ALL(units_span, {0.25, "0.25 s"}, {12, "12 s"}, {246, "4 min"}, {3900, "1 h 5 min"},
              {0.001, "1 ms"}, {0, "0 s"}, {7200, "2 h"}, {3599, "1 h"}, {60, "60 s"}, {NAN, "-"});
    CHECK_ALL(units_about, {0.2, "1 s"}, {4.52, "5 s"}, {9.4, "9 s"}, {9.6, "10 s"}, {19, "20 s"},
              {57, "55 s"}, {64, "65 s"}, {115, "115 s"}, {200, "3 min"}, {0, "0 s"}, {NAN, "-"});
    CHECK_ALL(units_clock, {31, "00:31"}, {3723, "1:02:03"}, {0.9, "00:00"}, {-5, "00:00"},
              {3599.9, "59:59"}, {NAN, "-"});
}

static void test_exact_examples(void **state)
{
    (void)state;
    CHECK_ALL(units_exact, {0, "0"}, {400, "400"}, {0.1, "0.1"}, {11500, "11500"}, {-2.5, "-2.5"},
              {9007199254740993.0, "9007199254740992"}, {4294967296.0, "4294967296"},
              {0.30000000000000004, "0.30000000000000004"}, {NAN, "-"});
}

static uint64_t next_random(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    return *s ^= *s << 17;
}

static void check_round_trip(double v)
{
    char text[64], *end;
    double back = units_strtod(units_exact(text, sizeof text, v), &end);
    if (back != v || *end)
        fail_msg("%a became %s", v, text);
}

static void test_exact_reads_back(void **state)
{
    (void)state;
    uint64_t seed = 88172645463325252u;
    for (int i = 0; i < 50000; i++) {
        double v;
        uint64_t bits = next_random(&seed);
        memcpy(&v, &bits, sizeof v);
        if (isfinite(v))
            check_round_trip(v);
        check_round_trip((double)(bits >> 11) / 9007199254740992.0 * 1000);
    }
    check_round_trip(5e-324);
    check_round_trip(1.7976931348623157e308);
}

static void check_read(const char *text)
{
    char *end, *expected_end;
    double v = units_strtod(text, &end), expected = strtod(text, &expected_end);
    if (memcmp(&v, &expected, sizeof v) != 0 && !(isnan(v) && isnan(expected)))
        fail_msg("%s is read as %a, not as %a", text, v, expected);
    if (end != expected_end)
        fail_msg("%s is read up to '%s', not to '%s'", text, end, expected_end);
}

/* Halves between two doubles, what no double holds, what is cut, and what is no plain number. */
static void test_odd_numbers_are_read_as_by_strtod(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "", "-", ".", "-.", ".5", "-.5", "5.", "0", "-0", "-0.0", "00.5", "007", "+1", " 1", "1 ",
        "1.2.3", "1,5", "1e", "1e5", "1E-5", "1e+", "2.5e-05", "1x", "0x", "0x1F", "0x1.8p1", "0b1",
        "-0x10", "inf", "-inf", "nan", "n", "- 1", "--1", "1-2", "1'000",
        "9007199254740991", "9007199254740992", "9007199254740993", "9007199254740995",
        "4503599627370496.5", "4503599627370497.5", "4503599627370497.49", "4503599627370497.51",
        "2251799813685248.25", "2251799813685249.25", "2251799813685249.75",
        "9223372036854775807", "9223372036854775808", "9223372036854776832", "9999999999999999999",
        "10000000000000000000", "18446744073709551615", "18446744073709551616",
        "99999999999999999999", "0.9999999999999999999", "0.00000000000000000001",
        "0.000000000000000000001", ".1234567890123456789", "0.1234567890123456789",
        "00.1234567890123456789", "1.234567890123456789", "12345678901234567.89012", "1e400",
        "4.9e-324", "2.4703282292062327e-324", "1.7976931348623157e308",
    };
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        check_read(odd[i]);
}

static void test_numbers_are_read_as_by_strtod(void **state)
{
    (void)state;
    static const int precision[] = {17, 16, 15, 6, 3};
    uint64_t seed = 88172645463325252u;
    char text[512];
    for (int i = 0; i < 100000; i++) {
        uint64_t bits = next_random(&seed);
        double v = (double)(int64_t)bits / pow(10, (double)(bits % 24));
        snprintf(text, sizeof text, "%.*g", precision[i % 5], v);
        check_read(text);
        int digits = snprintf(text, sizeof text, "%llu%03d", (unsigned long long)bits, i % 1000);
        int from = (int)(bits % (unsigned)(digits - 1));
        int point = from + (int)(bits / 23 % (unsigned)(digits - from));
        text[point] = i % 5 ? '.' : text[point];
        check_read(text + from);
    }
}

/* One digit more than doubles have: what they are halved between, and just beside it. */
static void test_halves_are_read_as_by_strtod(void **state)
{
    (void)state;
    uint64_t seed = 42;
    char text[64];
    for (int i = 0; i < 50000; i++) {
        uint64_t whole = 1ull << 49 | next_random(&seed) >> 15; /* doubles are 1/8 apart */
        uint64_t low = next_random(&seed) % 16 * 625 + (uint64_t)(i % 3) - 1; /* 1/16 is .0625 */
        snprintf(text, sizeof text, "%llu.%04llu", (unsigned long long)whole,
                 (unsigned long long)(low % 10000));
        check_read(text);
    }
}

static void test_small_buffers_are_cut(void **state)
{
    (void)state;
    char buf[6] = "#####";
    assert_string_equal(units_bytes(buf, 5, 1.9 * 1048576), "1.9 ");
    assert_int_equal(buf[5], '\0');
}

/* A locale with a decimal comma: one of the system's, or one made for this test. */
static bool comma_locale(void)
{
    char command[512];
    if (setlocale(LC_ALL, "de_DE.UTF-8") || setlocale(LC_ALL, "de_DE.utf8"))
        return true;
    const char *folder = fake_tree_make();
    snprintf(command, sizeof command,
             "localedef -i de_DE -f UTF-8 %s/de_DE.UTF-8 >/dev/null 2>&1", folder);
    if (system(command) != 0)
        return false;
    setenv("LOCPATH", folder, 1);
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
}

static void check_under_comma(void)
{
    char buf[64], *end;
    snprintf(buf, sizeof buf, "%.1f", 1.5);
    assert_string_equal(buf, "1,5"); /* printf itself does write the comma */
    assert_string_equal(units_number(buf, sizeof buf, 72.6), "72.6");
    assert_string_equal(units_si(buf, sizeof buf, 11500), "11.5k");
    assert_string_equal(units_bytes(buf, sizeof buf, 1.9 * 1048576), "1.9 MiB");
    assert_string_equal(units_us(buf, sizeof buf, 4100, 0), "4.1 ms");
    assert_string_equal(units_us(buf, sizeof buf, 72.6, 0), "72.6 µs");
    assert_string_equal(units_span(buf, sizeof buf, 0.25), "0.25 s");
    assert_string_equal(units_exact(buf, sizeof buf, 0.1), "0.1");
    assert_near(units_strtod("1.5,2", &end), 1.5, 0);
    assert_string_equal(end, ",2");
    snprintf(buf, sizeof buf, "%.1f", 1.5);
    assert_string_equal(buf, "1,5"); /* and the caller's locale is back */
}

static void test_decimal_comma(void **state)
{
    (void)state;
    if (!comma_locale()) {
        fake_tree_remove();
        print_message("skipped: no de_DE locale here and localedef cannot make one\n");
        skip();
    }
    check_under_comma();
    setlocale(LC_ALL, "C");
    fake_tree_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_number),
        cmocka_unit_test(test_halves),
        cmocka_unit_test(test_number_where_rounding_adds_a_digit),
        cmocka_unit_test(test_si),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_latency),
        cmocka_unit_test(test_spans_and_clocks),
        cmocka_unit_test(test_exact_examples),
        cmocka_unit_test(test_exact_reads_back),
        cmocka_unit_test(test_odd_numbers_are_read_as_by_strtod),
        cmocka_unit_test(test_numbers_are_read_as_by_strtod),
        cmocka_unit_test(test_halves_are_read_as_by_strtod),
        cmocka_unit_test(test_small_buffers_are_cut),
        cmocka_unit_test(test_decimal_comma),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
