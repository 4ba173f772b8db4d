/* SPDX-License-Identifier: MIT */
/* Every view at four sizes, and in each character set, beside the expected text; which role (so,
 * which colour) each cell has, once a view; and what must hold for all of them: every view is in
 * the table, without colour panes are still told apart, a charset uses its own signs alone. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "ui/show.h"
#include "ui/text.h"
#include "ui/views.h"

static struct app a;

/* A new view joins by a line here. */
static const struct {
    const char *name, *keys;
} screens[] = {
    {"live", ""}, {"table", "2"},  {"curves", "3"}, {"map", "4"},
    {"why", "5"}, {"claims", "6"}, {"help", "?"},   {"settings", ","},
};
enum { SCREENS = sizeof screens / sizeof *screens };

static const struct {
    const char *name;
    enum term_charset charset;
} charsets[] = {{"braille", CHARSET_BRAILLE}, {"block", CHARSET_BLOCK}, {"ascii", CHARSET_ASCII}};

static const int sizes[][2] = {{60, 15}, {80, 24}, {120, 40}, {200, 60}};

/* What was measured: a sweep that has come to its last row. The clock of a fake session is a
 * number. */
static void open_session(int w, int h, enum term_charset charset)
{
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    show_init(&a, &want, w, h, charset);
    for (int i = 1; i <= 6; i++) {
        want.params.connections = 100 * i;
        struct row *r = fake_row(a.session, &want);
        fake_rounds(a.session, r, 3, i < 6 ? 15 : 13);
        if (i < 6)
            r->state = ROW_DONE;
    }
    app_take(&a);
}

static char *sized(int screen, int charset)
{
    enum { MOST = 1 << 18 };
    char *all = xcalloc(1, MOST);
    size_t used = 0;
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
        if (charset && sizes[k][0] != 80) /* tests/terminal has them all */
            continue;
        open_session(sizes[k][0], sizes[k][1], charsets[charset].charset);
        show_keys(&a, screens[screen].keys);
        char *got = show_screen(&a);
        used += (size_t)snprintf(all + used, MOST - used, "%dx%d\n%s", sizes[k][0], sizes[k][1],
                                 got);
        assert_true(used < MOST);
        free(got);
        show_fini(&a);
    }
    return all;
}

static void every_view_at_every_size(void **state)
{
    (void)state;
    for (int s = 0; s < SCREENS; s++)
        for (int c = 0; c < 3; c++) {
            char name[80], *got = sized(s, c);
            snprintf(name, sizeof name, "ui/golden/sizes-%s-%s", screens[s].name, charsets[c].name);
            golden_is(name, got);
            free(got);
        }
}

/* A letter a cell: colours change with the theme, roles do not. */
static char *roles_of(const struct canvas *c)
{
    static const char letters[] = "td!fFSgwbABCD";
    _Static_assert(sizeof letters == ROLE_COUNT + 1, "a letter a role");
    char *all = xcalloc((size_t)c->h, (size_t)c->w + 1), *at = all;
    for (int y = 0; y < c->h; y++) {
        char *line = at;
        for (int x = 0; x < c->w; x++) {
            const struct cell *cell = &c->cells[y * c->w + x];
            *at++ = cell->ch[0] == L' ' && cell->role == ROLE_TEXT ? ' ' : letters[cell->role];
        }
        while (at > line && at[-1] == ' ')
            at--;
        *at++ = '\n';
    }
    *at = '\0';
    return all;
}

static void every_view_in_colour(void **state)
{
    (void)state;
    for (int s = 0; s < SCREENS; s++) {
        char name[80];
        open_session(80, 24, CHARSET_BRAILLE);
        show_keys(&a, screens[s].keys);
        free(show_screen(&a));
        char *got = roles_of(a.canvas);
        snprintf(name, sizeof name, "ui/golden/colours-%s", screens[s].name);
        golden_is(name, got);
        free(got);
        show_fini(&a);
    }
}

static void every_view_is_here(void **state)
{
    (void)state;
    for (int v = 0; v < view_count; v++) {
        bool here = false;
        for (int s = 0; s < SCREENS && !here; s++) {
            open_session(80, 24, CHARSET_BRAILLE);
            show_keys(&a, screens[s].keys);
            here = a.view == view_table[v].view;
            show_fini(&a);
        }
        if (!here && view_table[v].view != VIEW_COMPARE) /* two files lead there */
            fail_msg("the %s view is not looked at", view_table[v].name);
    }
}

/* Signs of one charset alone; drawn twice the same; nothing wider than the screen. */
static bool belongs(wchar_t ch, enum term_charset charset)
{
    bool braille = ch >= 0x2800 && ch < 0x2900;
    if (charset == CHARSET_ASCII)
        return ch < 0x7f;
    return charset == CHARSET_BRAILLE || !braille;
}

static void only_its_own_signs(void **state)
{
    (void)state;
    for (int s = 0; s < SCREENS; s++)
        for (int c = 0; c < 3; c++) {
            char *got = sized(s, c);
            for (const char *p = got; *p;) {
                if (*p == '\n') {
                    p++;
                    continue;
                }
                wchar_t ch = text_next(&p);
                if (!belongs(ch, charsets[c].charset))
                    fail_msg("%s, %s: U+%04x", screens[s].name, charsets[c].name, (unsigned)ch);
            }
            free(got);
        }
}

/* A server with four busy threads: percent is of one CPU, and the axis goes beyond 100. */
static void four_busy_threads(void **state)
{
    (void)state;
    open_session(80, 24, CHARSET_BRAILLE);
    struct session_now *n = fake_now(a.session);
    n->cpus.pinned = false;
    for (int i = 0; i < n->panes[0].trace_count; i++)
        n->panes[0].trace[i].v[METRIC_server_cpu_pct] = 395;
    assert_true(show_has(&a, "% of one CPU"));
    assert_true(show_has(&a, " 400┤") || show_has(&a, " 500┤"));
    show_fini(&a);
}

/* Zeros, gaps, a thousand million and scales that change: what was drawn before leaves no trace. */
static void a_long_watch_equals_a_fresh_look(void **state)
{
    (void)state;
    open_session(80, 24, CHARSET_BRAILLE);
    struct row *r = session_rows_edit(a.session)->last;
    for (int i = 0; i < 300; i++) {
        fake_rounds(a.session, r, 0, 1);
        struct pane_now *p = &fake_now(a.session)->panes[0];
        static const double odd[] = {0, 1e9, 0.001, 83, 1e5};
        p->trace[p->trace_count - 1].v[METRIC_server_cpu_pct] = i % 7 == 6 ? NAN : odd[i / 9 % 5];
        if (i % 50 == 49)
            fake_pass(a.session, 3);
        free(show_screen(&a));
    }
    char *watched = show_screen(&a);
    canvas_free(a.canvas);
    a.canvas = canvas_new(80, 24);
    char *fresh = show_screen(&a);
    assert_string_equal(watched, fresh);
    free(watched);
    free(fresh);
    show_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_view_is_here),
        cmocka_unit_test(every_view_at_every_size),
        cmocka_unit_test(every_view_in_colour),
        cmocka_unit_test(only_its_own_signs),
        cmocka_unit_test(four_busy_threads),
        cmocka_unit_test(a_long_watch_equals_a_fresh_look),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
