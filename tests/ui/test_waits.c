/* SPDX-License-Identifier: MIT */
/* What a server was read to wait with, where there is room for it: in place of the sentence of one
 * that does not count, on a line of its own in a high pane, and in the why view. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "ui/show.h"

static struct app a;

static void print(struct pane *p, const char *waits, const char *nagle)
{
    fingerprint_none(&p->print, "");
    p->print.threads = p->print.waiting = p->print.processes = 1;
    p->print.backlog = 100;
    p->print.watched = 402;
    snprintf(p->print.waits, sizeof p->print.waits, "%s", waits);
    snprintf(p->print.nagle, sizeof p->print.nagle, "%s", nagle);
}

/* Pane B does not count its looks. */
static void show(int w, int h)
{
    struct plan_row want = fake_want("transfer", "epoll-lt,poll");
    show_init(&a, &want, w, h, CHARSET_BRAILLE);
    struct row *r = fake_row(a.session, &want);
    fake_rounds(a.session, r, 0, 6);
    print(&r->panes[0], "epoll level", "off");
    print(&r->panes[1], "select", "on");
    for (struct sample_chunk *c = r->panes[1].first; c; c = c->next)
        for (int i = 0; i < c->count; i++)
            c->samples[i].values.v[METRIC_looks_per_request] = METRIC_NONE;
    app_take(&a);
}

static void in_place_of_the_sentence(void **state)
{
    (void)state;
    show(80, 24);
    assert_true(show_has(&a, "looks at 1 socket for a request"));
    assert_true(show_has(&a, "select, 1 thread, backlog 100 "));
    /* A clause that is cut is no clause. */
    assert_false(show_has(&a, "Nag"));
    assert_false(show_has(&a, "epoll level"));
    show_fini(&a);
    show(60, 15);
    assert_false(show_has(&a, "backlog"));
    show_fini(&a);
}

static void on_a_line_of_its_own(void **state)
{
    (void)state;
    show(160, 50);
    assert_true(show_has(&a, "epoll level, 1 thread, backlog 100, Nagle off"));
    assert_true(show_has(&a, "looks at 1 socket for a request"));
    assert_true(show_has(&a, "select, 1 thread, backlog 100, Nagle on"));
    show_fini(&a);
}

static void in_the_why_view(void **state)
{
    (void)state;
    show(160, 50);
    show_keys(&a, "5");
    assert_true(show_has(&a, "Waits: A epoll level, 1 thread, backlog 100, Nagle off, watches 402; "
                             "B select, 1 thread, backlog 100, Nagle on, watches 402"));
    assert_true(show_has(&a, "poll leaves Nagle's algorithm on"));
    assert_false(show_has(&a, "nodelay on"));
    show_fini(&a);
    show(80, 24);
    show_keys(&a, "5");
    assert_true(
        show_has(&a, "Waits: A epoll level, 1 thread, backlog 100, Nagle off, watches 402;"));
    assert_true(show_has(&a, " select, 1 thread, backlog 100, Nagle on, watches 402"));
    show_fini(&a);
}

/* Of several: who of them did how much. */
static void what_each_worker_did(void **state)
{
    (void)state;
    show(80, 24);
    show_keys(&a, "5");
    assert_false(show_has(&a, "Workers:"));
    show_fini(&a);
    show(80, 24);
    struct pane *p = session_rows_edit(a.session)->first->panes;
    strcpy(p[0].workers, "connections 26+24, requests 52+48 %, CPU 51+49 %");
    strcpy(p[1].workers, "connections 49+1, requests 98+2 %, CPU 97+3 %");
    show_keys(&a, "5");
    assert_true(show_has(&a, "Workers: A connections 26+24, requests 52+48 %, CPU 51+49 %; B"));
    assert_true(show_has(&a, "49+1, requests 98+2 %, CPU 97+3 %"));
    show_fini(&a);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_place_of_the_sentence),
        cmocka_unit_test(on_a_line_of_its_own),
        cmocka_unit_test(in_the_why_view),
        cmocka_unit_test(what_each_worker_did),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
