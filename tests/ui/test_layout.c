/* SPDX-License-Identifier: MIT */
/* Every size from 1x1 to 200x60 with 1 to 4 panes: nothing empty, nothing overlapping, nothing
 * outside, and on every screen that is large enough all that must be there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdbool.h>
#include <string.h>

#include <cmocka.h>

#include "ui/layout.h"

static bool overlap(struct rect a, struct rect b)
{
    return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/* NULL, or what is wrong with it. */
static const char *wrong(const struct layout *l, int w, int h)
{
    for (int i = 0; i < l->count; i++) {
        struct rect r = l->item[i].r;
        if (r.w < 1 || r.h < 1)
            return "a part is empty";
        if (r.x < 0 || r.y < 0 || r.x + r.w > w || r.y + r.h > h)
            return "a part is outside";
        for (int k = 0; k < i; k++)
            if (overlap(r, l->item[k].r))
                return "two parts overlap";
    }
    return NULL;
}

static const char *missing(const struct layout *l, int panes)
{
    static const enum part always[] = {PART_HEADER, PART_ASKED, PART_ANSWER, PART_LOG, PART_FOOTER};
    for (size_t i = 0; i < sizeof always / sizeof *always; i++)
        if (!layout_find(l, always[i], 0).w)
            return "a part is missing";
    for (int p = 0; p < panes; p++)
        if (layout_find(l, PART_PANE, p).w < 29 || layout_find(l, PART_PANE, p).h < 2)
            return "a pane has no room";
    return layout_find(l, PART_PANE, panes).w ? "a pane too many" : NULL;
}

static void every_size(void **state)
{
    (void)state;
    for (int w = 1; w <= 200; w++)
        for (int h = 1; h <= 60; h++)
            for (int panes = 1; panes <= 4; panes++)
                for (int answer = 3; answer <= 8; answer++) {
                    struct layout l;
                    layout_live(w, h, panes, answer, &l);
                    const char *bad = wrong(&l, w, h);
                    if (!bad && l.fits != (w >= LAYOUT_MIN_W && h >= LAYOUT_MIN_H))
                        bad = "fits is wrong";
                    if (!bad && l.fits)
                        bad = missing(&l, panes);
                    if (!bad && !l.fits && l.count)
                        bad = "parts on a screen that is too small";
                    if (bad)
                        fail_msg("%dx%d, %d panes, %d lines: %s", w, h, panes, answer, bad);
                }
}

/* A longer answer moves nothing; on a low screen the table, never the graphs. */
static void panes_stay_where_they_are(void **state)
{
    (void)state;
    for (int w = 60; w <= 200; w += 5)
        for (int h = 15; h <= 60; h++)
            for (int panes = 1; panes <= 4; panes++) {
                struct layout a, b;
                layout_live(w, h, panes, 3, &a);
                layout_live(w, h, panes, 8, &b);
                for (int p = 0; p < panes; p++) {
                    struct rect x = layout_find(&a, PART_PANE, p),
                                y = layout_find(&b, PART_PANE, p);
                    assert_memory_equal(&x, &y, sizeof x);
                    assert_int_equal(x.w, layout_find(&a, PART_PANE, 0).w);
                }
                struct rect x = layout_find(&a, PART_TABLE, 0), y = layout_find(&b, PART_TABLE, 0);
                if (h >= 20)
                    assert_memory_equal(&x, &y, sizeof x);
            }
}

static void the_usual_screens(void **state)
{
    (void)state;
    struct layout l;
    layout_live(80, 24, 2, 3, &l);
    struct rect a = layout_find(&l, PART_PANE, 0), b = layout_find(&l, PART_PANE, 1);
    assert_int_equal(a.y, 2);
    assert_int_equal(a.h, 11);
    assert_int_equal(a.w, 39);
    assert_int_equal(b.x, 41);
    assert_int_equal(layout_find(&l, PART_TABLE, 0).h, 3);
    layout_live(60, 15, 2, 3, &l);
    a = layout_find(&l, PART_PANE, 0), b = layout_find(&l, PART_PANE, 1);
    assert_int_equal(a.w, 60);
    assert_int_equal(b.x, 0); /* one column */
    layout_live(160, 50, 4, 3, &l);
    assert_int_equal(layout_find(&l, PART_PANE, 3).y, 2); /* four abreast */
    assert_true(layout_find(&l, PART_PANE, 3).h > 20);
    layout_live(80, 24, 3, 3, &l); /* a third one is as wide as the others */
    assert_int_equal(layout_find(&l, PART_PANE, 2).w, layout_find(&l, PART_PANE, 0).w);
    assert_int_equal(layout_find(&l, PART_TABLE, 0).h, 2);
    layout_live(80, 24, 4, 3, &l);
    assert_int_equal(layout_find(&l, PART_PANE, 3).x, 41); /* two by two */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_size),
        cmocka_unit_test(panes_stay_where_they_are),
        cmocka_unit_test(the_usual_screens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
