/* SPDX-License-Identifier: MIT */
/* cmocka and what it wants included before it; a comparison of doubles, which it lacks. */
#ifndef TESTS_BASE_CHECK_H
#define TESTS_BASE_CHECK_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

/* |is - expected| <= off, and says both when not. */
#define assert_near(is, expected, off)                                                             \
    do {                                                                                           \
        double is_ = (is), expected_ = (expected);                                                 \
        if (!(fabs(is_ - expected_) <= (off)))                                                     \
            fail_msg("%s is %.17g, expected %.17g", #is, is_, expected_);                          \
    } while (0)

#define assert_nan(is)                                                                             \
    do {                                                                                           \
        double is_ = (is);                                                                         \
        if (!isnan(is_))                                                                           \
            fail_msg("%s is %.17g, expected NaN", #is, is_);                                       \
    } while (0)

#endif
