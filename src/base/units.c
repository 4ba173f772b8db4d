/* SPDX-License-Identifier: MIT */
/* Numbers as text. The screen needs setlocale() for its glyphs, and with it printf would write the
 * decimals of the user's country; so every number is formatted under the C locale, which is put on
 * for the calling thread alone. Which decimals to show is decided from the *rounded* value: 99.96
 * has one digit more after the rounding than before. */
#include "base/units.h"

#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"

#define TOO_LONG 1e15 /* from there on with an exponent */

static locale_t c_locale;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_locale(void)
{
    c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale)
        die("there is no C locale");
}

static char *write_text(char *buf, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static char *write_text(char *buf, size_t size, const char *fmt, ...)
{
    pthread_once(&once, make_locale);
    locale_t before = uselocale(c_locale);
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buf, size, fmt, ap);
    va_end(ap);
    uselocale(before);
    return buf;
}

static bool special(char *buf, size_t size, double v)
{
    if (isnan(v))
        snprintf(buf, size, "-");
    else if (isinf(v))
        snprintf(buf, size, v < 0 ? "-inf" : "inf");
    return !isfinite(v);
}

/* Halves are rounded away from zero as one reads them: 44.55 is 44.6, though the nearest double is
 * a little less. */
static double away(double v)
{
    return v == 0 ? v : nextafter(v, copysign(DBL_MAX, v));
}

/* The power of ten of v once rounded to 3 digits. */
static int exponent(double v)
{
    char text[16];
    write_text(text, sizeof text, "%.2e", away(v));
    return atoi(strchr(text, 'e') + 1);
}

/* Decimals that show 3 significant digits; past a millionth nobody reads them. */
static int decimals(double v)
{
    int d = 2 - exponent(v);
    return d < 0 ? 0 : d > 6 ? 6 : d;
}

static char *fixed(char *buf, size_t size, double v, int places, const char *suffix)
{
    char zero[16];
    if (fabs(v) >= TOO_LONG)
        return write_text(buf, size, "%.2e%s", v, suffix);
    write_text(zero, sizeof zero, "%.*f", places, 0.0);
    write_text(buf, size, "%.*f", places, away(v));
    bool negative_zero = *buf == '-' && !strcmp(buf + 1, zero);
    return write_text(buf, size, "%.*f%s", places, negative_zero ? 0 : away(v), suffix);
}

static char *three_digits(char *buf, size_t size, double v, const char *suffix)
{
    if (fabs(v) < 1e-6)
        return write_text(buf, size, "0%s", suffix);
    return fixed(buf, size, v, decimals(v), suffix);
}

char *units_fixed(char *buf, size_t size, double v, int places)
{
    return special(buf, size, v) ? buf : fixed(buf, size, v, places, "");
}

char *units_number(char *buf, size_t size, double v)
{
    return special(buf, size, v) ? buf : three_digits(buf, size, v, "");
}

char *units_si(char *buf, size_t size, double v)
{
    static const char *const suffix[] = {"", "k", "M", "G", "T"};
    if (special(buf, size, v))
        return buf;
    if (fabs(v) >= 1e4 * 1e12)
        return fixed(buf, size, v, 0, "");
    int step = exponent(v) / 3;
    step = step < 0 ? 0 : step > 4 ? 4 : step;
    if (!step && v == floor(v))
        return fixed(buf, size, v, 0, "");
    return three_digits(buf, size, v / pow(1000, step), suffix[step]);
}

char *units_bytes(char *buf, size_t size, double bytes)
{
    static const char *const unit[] = {"KiB", "MiB", "GiB", "TiB"};
    if (special(buf, size, bytes))
        return buf;
    if (fabs(bytes) < 9999.5)
        return write_text(buf, size, "%.0f B", bytes);
    int i = 0;
    double v = bytes / 1024;
    for (; fabs(v) >= 1023.5 && i < 3; i++)
        v /= 1024;
    int places = v == floor(v) || fabs(v) >= 99.95 ? 0 : 1;
    char suffix[8];
    snprintf(suffix, sizeof suffix, " %s", unit[i]);
    return fixed(buf, size, v, places, suffix);
}

char *units_us(char *buf, size_t size, double us, int ascii)
{
    if (special(buf, size, us))
        return buf;
    if (fabs(us) < 999.5)
        return three_digits(buf, size, us, ascii ? " us" : " µs");
    double ms = us / 1e3;
    if (fabs(ms) < 999.5)
        return fixed(buf, size, ms, fabs(ms) < 99.95 ? 1 : 0, " ms");
    return three_digits(buf, size, us / 1e6, " s");
}

char *units_span(char *buf, size_t size, double seconds)
{
    if (special(buf, size, seconds))
        return buf;
    if (fabs(seconds) < 1e-6)
        return write_text(buf, size, "0 s");
    if (seconds > 0 && seconds < 0.01)
        return write_text(buf, size, "%.3g ms", seconds * 1e3);
    if (seconds < 9.995)
        return write_text(buf, size, "%.3g s", seconds);
    if (seconds < 119.5)
        return write_text(buf, size, "%.0f s", seconds);
    long long minutes = llround(seconds / 60);
    if (minutes < 60)
        return write_text(buf, size, "%lld min", minutes);
    if (minutes % 60 == 0)
        return write_text(buf, size, "%lld h", minutes / 60);
    return write_text(buf, size, "%lld h %lld min", minutes / 60, minutes % 60);
}

char *units_about(char *buf, size_t size, double seconds)
{
    if (seconds < 9.5)
        return units_span(buf, size, seconds > 0 && seconds < 1 ? 1 : round(seconds));
    return units_span(buf, size, seconds < 92.5 ? 5 * round(seconds / 5) : seconds);
}

char *units_clock(char *buf, size_t size, double seconds)
{
    if (special(buf, size, seconds))
        return buf;
    long long s = seconds < 0 ? 0 : (long long)fmin(seconds, 1e12);
    if (s < 3600)
        return write_text(buf, size, "%02lld:%02lld", s / 60, s % 60);
    return write_text(buf, size, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
}

char *units_exact(char *buf, size_t size, double v)
{
    if (special(buf, size, v))
        return buf;
    if (v == floor(v) && fabs(v) < 1e17)
        return write_text(buf, size, "%.0f", v);
    /* 15 digits always survive the way decimal, double, decimal; 17 always the other one. */
    for (int digits = 15; digits <= 17; digits++) {
        write_text(buf, size, "%.*g", digits, v);
        if (units_strtod(buf, NULL) == v)
            break;
    }
    return buf;
}

/* --- reading --------------------------------------------------------------------------------- */

static const char *take_digits(const char *s, uint64_t *all)
{
    for (; *s >= '0' && *s <= '9'; s++)
        *all = 10 * *all + (uint64_t)(*s - '0');
    return s;
}

/* The quotient of two numbers that are exact rounds as strtod(3) would. Beyond 2^53 they are so as
 * long doubles only, and the result is rounded twice: the same, unless the first lies halfway
 * between two doubles, whose mirror image about one of them is the other. Then: false. */
static bool divide(uint64_t all, int decimals, double *out)
{
    static const double tens[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,
                                  1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19};

    if (all <= 1ull << 53 && FLT_EVAL_METHOD == 0) {
        *out = (double)all / tens[decimals];
        return true;
    }
    long double v = (long double)all / tens[decimals];
    *out = (double)v;
    long double mirror = v + (v - *out);
    return (LDBL_MANT_DIG == 64 || LDBL_MANT_DIG == 113) && (v == *out || mirror != (double)mirror);
}

/* Up to 19 digits with a point in them, which is nearly every number, in a fraction of the time
 * that strtod(3) takes. Returns what follows, or NULL for all else. */
static const char *plain_number(const char *s, double *out)
{
    bool minus = *s == '-';
    const char *first = s + minus, *point = NULL;
    uint64_t all = 0;

    s = take_digits(first, &all);
    if (*s == '.') {
        point = s;
        s = take_digits(s + 1, &all);
    }
    long digits = s - first - (point != NULL), decimals = point ? s - point - 1 : 0;
    bool goes_on = *s == 'e' || *s == 'E' || *s == 'x' || *s == 'X';
    if (digits == 0 || digits - (*first == '0') > 19 || goes_on ||
        !divide(all, (int)decimals, out))
        return NULL;
    *out = minus ? -*out : *out;
    return s;
}

double units_strtod(const char *s, char **end)
{
    double v;
    const char *past = plain_number(s, &v);

    if (!past) {
        pthread_once(&once, make_locale);
        return strtod_l(s, end, c_locale);
    }
    if (end)
        *end = (char *)past;
    return v;
}
