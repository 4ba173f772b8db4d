/* SPDX-License-Identifier: MIT */
/* The settings and the prompt: what is typed becomes an order or one line that says why not, and
 * either way the same rules hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ui/actions.h"
#include "golden.h"
#include "ui/show.h"

static struct app a;
static struct fake_orders *got;

static void open_at(int w, int h, enum term_charset charset)
{
    struct plan_row want = fake_want("transfer", "select,epoll-lt");
    show_init(&a, &want, w, h, charset);
    fake_rounds(a.session, fake_row(a.session, &want), 3, 9);
    got = fake_orders(a.session);
    app_take(&a);
}

static int setup(void **state)
{
    (void)state;
    open_at(80, 24, CHARSET_BRAILLE);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    show_fini(&a);
    return 0;
}

static void golden(const char *name, const char *keys)
{
    show_keys(&a, keys);
    char *screen = show_screen(&a);
    char path[64];
    snprintf(path, sizeof path, "ui/golden/%s", name);
    golden_is(path, screen);
    free(screen);
    show_fini(&a);
}

static void screens(void **state)
{
    (void)state;
    open_at(80, 24, CHARSET_BRAILLE);
    golden("settings-80x24", ",");
    open_at(80, 24, CHARSET_ASCII);
    golden("settings-80x24-ascii", ",<pgdn><pgdn><pgdn>");
    open_at(80, 24, CHARSET_BRAILLE);
    golden("settings-80x24-find", ",/buff");
    open_at(60, 15, CHARSET_BRAILLE);
    golden("settings-60x15", ",<pgdn>");
    open_at(160, 50, CHARSET_BRAILLE);
    golden("settings-160x50", ",<pgdn><pgdn><pgdn>");
    open_at(80, 24, CHARSET_BRAILLE);
    golden("prompt-80x24", ":re");
    open_at(80, 24, CHARSET_BRAILLE);
    golden("prompt-80x24-bad", ":backlog 70000<enter>");
    open_at(60, 15, CHARSET_BRAILLE);
    golden("prompt-60x15", "2:rate 2k");
}

/* Every parameter stands in it, once, and the cursor reaches each. */
static void every_parameter_is_listed(void **state)
{
    (void)state;
    enum param_id list[PARAM_COUNT];
    bool seen[PARAM_COUNT] = {false};
    show_keys(&a, ",");
    assert_int_equal(settings_list(&a, list), PARAM_COUNT);
    for (int i = 0; i < PARAM_COUNT; i++) {
        assert_true(params_group((enum param_id)i)[0]);
        assert_false(seen[list[i]]);
        seen[list[i]] = true;
    }
    show_keys(&a, "<pgup><pgup><pgup><pgup><pgup><pgup>");
    for (int i = 0; i < PARAM_COUNT; i++) {
        char row[40];
        assert_int_equal(a.settings.at, list[i]);
        snprintf(row, sizeof row, "▶ %.13s", param_table[list[i]].id);
        assert_true(show_has(&a, row));
        show_keys(&a, "<down>");
    }
    assert_int_equal(a.settings.at, list[PARAM_COUNT - 1]);
}

static void to(enum param_id id)
{
    a.settings.at = id;
}

static void values_are_changed_in_place(void **state)
{
    (void)state;
    show_keys(&a, ",");
    to(PARAM_backlog);
    show_keys(&a, "<right>");
    assert_int_equal(got->live, 1);
    assert_true(got->want.params.backlog == 2000);
    show_keys(&a, "-<left>");
    assert_true(got->want.params.backlog == 1000);
    show_keys(&a, "<enter>20<enter>");
    assert_true(got->want.params.backlog == 20);
    assert_int_equal(a.view, VIEW_SETTINGS);
    show_keys(&a, "<enter>70000<enter>");
    assert_true(show_has(&a, "backlog 70000: must be a whole number, 0 to 65535"));
    assert_int_equal(got->live, 4);
    show_keys(&a, "<esc>");
    to(PARAM_accept);
    show_keys(&a, "<enter>"); /* its words */
    assert_int_equal(a.dialog, DIALOG_PICKER);
    show_keys(&a, "one<enter>");
    assert_true(got->want.params.accept == ACCEPT_ONE);
    show_keys(&a, "<left>");
    assert_true(show_has(&a, "accept one is the first"));
    show_keys(&a, ",");
    assert_int_equal(a.view, VIEW_LIVE);
}

/* What has no use, would not work, or was decided at the start. */
static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    show_keys(&a, ",");
    to(PARAM_until);
    show_keys(&a, "<right>");
    assert_true(show_has(&a, "transfer has no use for until"));
    to(PARAM_pin);
    show_keys(&a, "<right>");
    assert_true(show_has(&a, "pin is chosen at the start: iodash --pin off"));
    show_keys(&a, ":protocol discard<enter>");
    assert_true(show_has(&a, "protocol discard: it replies nothing"));
    show_keys(&a, "<esc>");
    assert_int_equal(got->live, 0);
    fake_now(a.session)->plan_count = 5;
    show_keys(&a, "<esc>,"); /* stops the plan, then back */
    fake_now(a.session)->plan_count = 5;
    show_keys(&a, ",");
    to(PARAM_backlog);
    show_keys(&a, "<right><enter>");
    assert_int_equal(got->live, 0);
    assert_int_equal(a.dialog, DIALOG_NONE);
    assert_true(show_has(&a, "a plan runs"));
}

static void samples_stand_in_place_of_duration(void **state)
{
    (void)state;
    show_keys(&a, ":duration 5<enter>");
    assert_true(got->want.params.duration == 5);
    show_keys(&a, ":samples 20<enter>");
    assert_true(got->want.params.samples == 20 && got->want.params.duration == PARAM_AUTO);
}

static void another_workload_brings_its_own(void **state)
{
    (void)state;
    show_keys(&a, ":workload churn<enter>");
    assert_int_equal(got->want.params.workload, workload_find("churn"));
    assert_true(got->want.params.connections == 100);
}

static void the_list_is_narrowed(void **state)
{
    (void)state;
    enum param_id list[PARAM_COUNT];
    show_keys(&a, ",/buff");
    int n = settings_list(&a, list);
    assert_true(n > 1 && n < 6);
    assert_true(a.settings.at == list[0]);
    show_keys(&a, "<down><enter>");
    assert_int_equal(a.settings.at, list[1]);
    assert_int_equal(a.dialog, DIALOG_NONE);
    show_keys(&a, "<esc>"); /* all of them again */
    assert_int_equal(a.view, VIEW_SETTINGS);
    assert_int_equal(settings_list(&a, list), PARAM_COUNT);
    show_keys(&a, "/xyzzy");
    assert_true(show_has(&a, "nothing is called that"));
    show_keys(&a, "<enter>"); /* with none in sight a key would change one unseen */
    assert_true(show_has(&a, "no parameter has \"xyzzy\" in its name or words"));
    assert_int_equal(settings_list(&a, list), PARAM_COUNT);
    show_keys(&a, "q");
    assert_int_equal(a.view, VIEW_LIVE);
}

static void one_comes_back_to_where_one_was(void **state)
{
    (void)state;
    show_keys(&a, "2,q");
    assert_int_equal(a.view, VIEW_TABLE);
    show_keys(&a, "?,<esc>");
    assert_int_equal(a.view, VIEW_TABLE);
    show_keys(&a, ",?");
    assert_true(show_has(&a, "keys of the settings view"));
    show_keys(&a, "q,");
    assert_int_equal(a.view, VIEW_TABLE);
}

/* --- the prompt ------------------------------------------------------------------------------- */

static void parameters_are_typed(void **state)
{
    (void)state;
    show_keys(&a, "2:connections 250<enter>");
    assert_true(got->want.params.connections == 250);
    assert_int_equal(a.view, VIEW_TABLE);
    show_keys(&a, ":load-wait=spin<enter>");
    assert_true(got->want.params.load_wait == WAIT_SPIN);
    show_keys(&a, ":backlog<enter>"); /* without a value it is asked for */
    assert_int_equal(a.dialog, DIALOG_ENTRY);
    show_keys(&a, "50<enter>");
    assert_true(got->want.params.backlog == 50);
}

static void mistakes_are_told_on_one_line(void **state)
{
    (void)state;
    static const struct {
        const char *keys, *says;
    } wrong[] = {
        {":connections 0<enter>", "connections 0: must be a whole number, 1 to 1000000"},
        {":conections 5<enter>",
         "conections: no such parameter or command; did you mean connections?"},
        {":sav<enter>", "sav: no such parameter or command; did you mean save?"},
        {":xyzzy 1<enter>", "xyzzy: no such parameter or command"},
        {":save 5<enter>", "save takes no value"},
        {":row-live<enter>", "row-live (Enter) is for another view: table"},
        {":engine mx<enter>", "engine mx: must be mux, mux-uring or blocking"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        show_keys(&a, wrong[i].keys);
        if (!show_has(&a, wrong[i].says)) {
            char *screen = show_screen(&a);
            fail_msg("%s does not say '%s':\n%s", wrong[i].keys, wrong[i].says, screen);
        }
        assert_int_equal(a.dialog, DIALOG_PROMPT); /* to be mended */
        show_keys(&a, "<esc>");
        assert_int_equal(got->live, 0);
    }
    show_keys(&a, ":backlog 7oo<enter><back><back>0<enter>");
    assert_true(got->want.params.backlog == 70);
}

static void commands_are_found_by_name(void **state)
{
    (void)state;
    show_keys(&a, ":table<enter>");
    assert_int_equal(a.view, VIEW_TABLE);
    show_keys(&a, ":model<enter>");
    assert_int_equal(a.dialog, DIALOG_PICKER);
    show_keys(&a, "<esc>:settings<enter>");
    assert_int_equal(a.view, VIEW_SETTINGS);
    show_keys(&a, ":quit<enter>");
    assert_true(a.quit);
}

static void names_are_completed(void **state)
{
    (void)state;
    show_keys(&a, ":backl<tab>");
    assert_string_equal(a.entry.text, "backlog ");
    show_keys(&a, "<esc>:socket<tab>7<esc>");
    show_keys(&a, ":s<tab>"); /* several: as far as they agree */
    assert_string_equal(a.entry.text, "s");
    assert_true(show_has(&a, "size  samples"));
    show_keys(&a, "<esc>:engine mux-<tab><enter>");
    assert_true(got->want.params.engine == ENGINE_MUX_URING || a.dialog == DIALOG_PROMPT ||
                a.note_bad); /* where the kernel has no io_uring it is refused, with the reason */
    show_keys(&a, "<esc>:<back>"); /* nothing left to take back */
    assert_int_equal(a.dialog, DIALOG_NONE);
}

int main(void)
{
#define FRESH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(screens),
        FRESH(every_parameter_is_listed),
        FRESH(values_are_changed_in_place),
        FRESH(what_cannot_be_is_refused),
        FRESH(samples_stand_in_place_of_duration),
        FRESH(another_workload_brings_its_own),
        FRESH(the_list_is_narrowed),
        FRESH(one_comes_back_to_where_one_was),
        FRESH(parameters_are_typed),
        FRESH(mistakes_are_told_on_one_line),
        FRESH(commands_are_found_by_name),
        FRESH(names_are_completed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
