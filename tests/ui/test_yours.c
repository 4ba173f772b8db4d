/* SPDX-License-Identifier: MIT */
/* Servers that are not ours in the picker of models: what can be taken, in which protocol all are
 * asked then, and the way back. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/fake_tree.h"
#include "net/protocol.h"
#include "servers/target.h"
#include "ui/show.h"

static struct app a;

static int setup(void **state)
{
    (void)state;
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    show_init(&a, &want, 120, 24, CHARSET_BRAILLE); /* room for a long $TMPDIR */
    app_take(&a);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    show_fini(&a);
    return 0;
}

static void ordered(int count, const char *model, const char *protocol, double size)
{
    const struct fake_orders *o = fake_orders(a.session);
    assert_int_equal(o->live, count);
    assert_string_equal(o->want.lineup.models[a.pane]->id, model);
    assert_string_equal(protocol_table[(int)o->want.params.protocol]->id, protocol);
    assert_near(o->want.params.size, size, 0);
}

static void all_speak_what_it_speaks(void **state)
{
    (void)state;
    show_keys(&a, "mkept");
    assert_true(show_has(&a, "yours"));
    assert_true(show_has(&a, "▶ kept"));
    show_keys(&a, "<enter>");
    ordered(1, "target:kept", "resp", 7);
    show_keys(&a, "mweb<enter>");
    ordered(2, "target:web", "http", 1024);
    show_keys(&a, "mpoll<enter>");
    ordered(3, "poll", "fetch", 1024);
    show_keys(&a, "mboth<enter>"); /* of several what is usual */
    ordered(4, "target:both", "fetch", 1024);
}

static void what_cannot_be_taken_says_why(void **state)
{
    (void)state;
    show_keys(&a, "mabsent<enter>");
    assert_true(show_has(&a, "absent: no-such-program is not there; to install: a-package"));
    show_keys(&a, "<esc>mbroken<enter>");
    assert_true(show_has(&a, "line 1: ttle: no such key"));
    assert_int_equal(fake_orders(a.session)->live, 0);
    show_keys(&a, "<esc>mweb<enter>");
    ordered(1, "target:web", "http", 1024);
    show_keys(&a, "<tab>mkept<enter>"); /* nothing that both speak */
    assert_true(show_has(&a, "kept: speaks resp; pane A http, and all are asked the same"));
    show_keys(&a, "<esc>mboth<enter>");
    ordered(2, "target:both", "http", 1024);
}

static void a_workload_that_it_cannot_serve(void **state)
{
    (void)state;
    show_keys(&a, "mweb<enter>wstream<enter>");
    assert_true(show_has(&a, "stream waits for no reply"));
    ordered(1, "target:web", "http", 1024);
    show_keys(&a, "mpoll<enter>wstream<enter>");
    ordered(3, "poll", "discard", 1024);
}

static void attaching(void **state)
{
    (void)state;
    show_keys(&a, "mattach<enter>");
    assert_true(show_has(&a, "server to attach to"));
    show_keys(&a, "127.0.0.1:99999<enter>");
    assert_true(show_has(&a, "above 65535"));
    show_keys(&a, "<back><back><back><back><back>8080 x<enter>");
    assert_true(show_has(&a, "--pid x: must be the number of a process"));
    assert_int_equal(fake_orders(a.session)->live, 0);
    char pid[24];
    snprintf(pid, sizeof pid, "<back>%d<enter>", (int)getpid());
    show_keys(&a, pid);
    ordered(1, "127.0.0.1:8080", "http", 1024);
    const struct target *t = fake_orders(a.session)->want.lineup.models[0]->target;
    assert_int_equal(t->pid, 0);
    assert_true(show_has(&a, "iodash itself runs below it"));
    show_keys(&a, "m127<enter>"); /* it stays in the list */
    ordered(2, "127.0.0.1:8080", "http", 1024);
    show_keys(&a, "mattach<enter><esc>");
    assert_int_equal(a.dialog, DIALOG_NONE);
    assert_int_equal(fake_orders(a.session)->live, 2);
}

/* Nobody tied it to a CPU, and of one whose process is not known it shows what it serves. */
static void what_is_known_of_it(void **state)
{
    (void)state;
    show_keys(&a, "mattach<enter>127.0.0.1:8082<enter>");
    struct plan_row want = fake_orders(a.session)->want;
    struct row *r = fake_row(a.session, &want);
    fake_rounds(a.session, r, 0, 6);
    fake_now(a.session)->cpus = (struct cpu_plan){.pinned = true, .server = 0};
    struct pane_now *p = &fake_now(a.session)->panes[0];
    for (int i = 0; i < p->trace_count; i++)
        p->trace[i].v[METRIC_cpu_us_per_request] = METRIC_NONE;
    for (struct sample_chunk *c = r->panes[0].first; c; c = c->next)
        for (int i = 0; i < c->count; i++)
            c->samples[i].values.v[METRIC_cpu_us_per_request] = METRIC_NONE;
    app_take(&a);
    assert_true(show_has(&a, "% of one CPU, in its turns"));
    assert_true(show_has(&a, "% of CPU 0, in its turns"));
    assert_true(show_has(&a, " requests/s "));
}

static void one_that_ended_is_not_ours_to_start(void **state)
{
    (void)state;
    show_keys(&a, "mattach<enter>127.0.0.1:8081<enter>");
    struct pane_now *p = &fake_now(a.session)->panes[0];
    p->alive = false;
    snprintf(p->trouble, sizeof p->trouble, "process 7 (web) ended");
    assert_true(show_has(&a, "process 7 (web) ended"));
    assert_true(show_has(&a, "not ours to start; u tries again"));
    assert_false(show_has(&a, "u starts it again"));
    show_keys(&a, "u");
    assert_int_equal(fake_orders(a.session)->restarts, 1);
    assert_true(show_has(&a, "looking whether it is back"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_speak_what_it_speaks, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_taken_says_why, setup, teardown),
        cmocka_unit_test_setup_teardown(a_workload_that_it_cannot_serve, setup, teardown),
        cmocka_unit_test_setup_teardown(attaching, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_known_of_it, setup, teardown),
        cmocka_unit_test_setup_teardown(one_that_ended_is_not_ours_to_start, setup, teardown),
    };
    setenv("IODASH_ASSETS", fake_tree_make(), 1);
    fake_tree_write("/targets/web.ini", "title = a web\ncommand = true\nprotocol = http\n");
    fake_tree_write("/targets/kept.ini", "title = a store\ncommand = true\nprotocol = resp\n");
    fake_tree_write("/targets/both.ini", "title = two\ncommand = true\nprotocol = http fetch\n");
    fake_tree_write("/targets/absent.ini", "title = none\ncommand = no-such-program\n"
                                           "protocol = http\ninstall = a-package\n");
    fake_tree_write("/targets/broken.ini", "ttle = x\n");
    int failed = cmocka_run_group_tests_name("yours", tests, NULL, NULL);
    fake_tree_remove();
    return failed;
}
