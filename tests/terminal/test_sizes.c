/* SPDX-License-Identifier: MIT */
/* Sizes: many of them one after the other, a flood, and in the middle of each dialog. It must
 * survive, keys must work, and a picture that was resized away and back must be the same again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "terminal/live.h"

static void alive(struct tty *t, const char *when, int rows, int cols)
{
    if (tty_status(t) >= 0)
        fail_msg("%s at %dx%d: ended with %d: %.400s", when, cols, rows, tty_status(t),
                 tty_raw(t) + (tty_bytes(t) > 400 ? tty_bytes(t) - 400 : 0));
}

static bool not_blank(struct tty *t, void *arg)
{
    (void)arg;
    char *screen = tty_screen(t);
    bool found = strspn(screen, " \n") < strlen(screen);
    free(screen);
    return found;
}

static void every_kind_of_size(void **state)
{
    (void)state;
    static const int sizes[][2] = {{2, 2},   {1, 40},  {3, 10},   {60, 2},   {14, 59}, {14, 60},
                                   {15, 59}, {15, 60}, {16, 61},  {18, 70},  {20, 79}, {23, 79},
                                   {24, 79}, {23, 80}, {24, 80},  {25, 81},  {24, 200}, {60, 80},
                                   {60, 60}, {15, 200}, {30, 100}, {43, 132}, {60, 200}, {5, 200}};
    struct tty *t = live_open(0, 0);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tty_resize(t, sizes[i][0], sizes[i][1]);
        tty_pump(t, 150 * SLOW);
        alive(t, "resized", sizes[i][0], sizes[i][1]);
        if (!tty_until(t, not_blank, NULL, SOON))
            fail_msg("nothing on the screen at %dx%d", sizes[i][1], sizes[i][0]);
    }
    tty_resize(t, 24, 80);
    live_until_measured(t);
    live_leave(t);
}

static void too_small_says_what_it_needs(void **state)
{
    (void)state;
    struct tty *t = live_start((struct tty_want){.rows = 10, .cols = 40});
    live_expect(t, "60");
    live_expect(t, "15");
    tty_resize(t, 15, 60);
    live_until_measured(t);
    live_leave(t);
}

/* The panes: the lines above and below them tell the time and the machine, which go on. */
static char *panes(struct tty *t)
{
    return tty_part(t, 0, 2, 80, 12);
}

static void away_and_back_is_the_same_picture(void **state)
{
    (void)state;
    static const int away[][2] = {{50, 150}, {10, 30}, {24, 80}};
    struct tty *t = live_open(0, 0);
    tty_keys(t, "f");
    live_expect(t, "frozen");
    tty_pump(t, 500);
    char *before = panes(t);
    for (size_t i = 0; i < sizeof away / sizeof *away; i++) {
        tty_resize(t, away[i][0], away[i][1]);
        tty_pump(t, 800 * SLOW);
    }
    char *after = panes(t);
    for (int i = 0; i < 50 && strcmp(before, after); i++) { /* it comes when the machine lets it */
        free(after);
        tty_pump(t, 200);
        after = panes(t);
    }
    if (strcmp(before, after)) {
        fprintf(stderr, "before:\n%s\nafter:\n%s\n", before, after);
        fail_msg("the picture differs");
    }
    free(before);
    free(after);
    live_leave(t);
}

static void flood(struct tty *t, int count)
{
    unsigned seed = 7;
    for (int i = 0; i < count; i++) {
        seed = seed * 1103515245u + 12345u;
        int rows = 2 + (int)(seed >> 16) % 59;
        seed = seed * 1103515245u + 12345u;
        int cols = 2 + (int)(seed >> 16) % 199;
        tty_resize(t, rows, cols);
        tty_pump(t, 8);
        alive(t, "in the flood", rows, cols);
    }
}

static void a_flood_of_resizes(void **state)
{
    (void)state;
    struct tty *t = live_open(0, 0);
    flood(t, 1000);
    tty_resize(t, 24, 80);
    live_until_measured(t);
    live_leave(t);
}

static void resized_in_every_dialog(void **state)
{
    (void)state;
    static const char *const dialogs[] = {"m", "w", "p", "g", "c\r", "?", "2", "t", ",", ":", "o"};
    struct tty *t = live_open(0, 0);
    for (size_t i = 0; i < sizeof dialogs / sizeof *dialogs; i++) {
        tty_keys(t, dialogs[i]);
        tty_pump(t, 150);
        flood(t, 15);
        tty_resize(t, 24, 80);
        tty_pump(t, 100 * SLOW);
        alive(t, dialogs[i], 24, 80);
        tty_keys(t, "\033");
        tty_pump(t, 150 * SLOW);
        alive(t, "after Esc", 24, 80);
        tty_keys(t, "1");
        tty_pump(t, 50);
    }
    live_until_measured(t);
    live_leave(t);
}

#define IN_TERMINAL(f) cmocka_unit_test_teardown(f, tty_close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TERMINAL(every_kind_of_size), IN_TERMINAL(too_small_says_what_it_needs),
        IN_TERMINAL(away_and_back_is_the_same_picture), IN_TERMINAL(a_flood_of_resizes),
        IN_TERMINAL(resized_in_every_dialog),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
