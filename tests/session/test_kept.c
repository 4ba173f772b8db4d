/* SPDX-License-Identifier: MIT */
/* What is kept from one start to the next: the autosave and what is recovered of it, saved sessions
 * as one looks at them, the settings, the list of recent sessions. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "session/autosave.h"
#include "session/inner.h"
#include "session/sample_rows.h"
#include "session/settings.h"
#include "session/state.h"

static char home[SCRATCH_PATH];
static struct params asked;

static int enter(void **state)
{
    (void)state;
    folder_enter(home);
    setenv("XDG_STATE_HOME", home, 1);
    setenv("XDG_CONFIG_HOME", home, 1);
    asked = rows_params("transfer");
    return 0;
}

static int leave(void **state)
{
    char command[SCRATCH_PATH + 16];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", home);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* --- autosave --------------------------------------------------------------------------------- */

static struct session *begin(const char *folder)
{
    struct err e = {""};
    struct session_options o = {.forever = true, .autosave = folder};
    struct session *s = session_new(&o, &e);
    if (!s)
        fail_msg("%s", e.text);
    return s;
}

static struct row *add(struct session *s, double connections)
{
    static const char *const models[] = {"select", "epoll-lt"};
    pthread_mutex_lock(&s->lock);
    asked.connections = connections;
    struct row *r = rows_make(&s->rows, &asked, models, 2);
    r->state = ROW_RUNNING;
    r->panes[0].verdict = r->panes[1].verdict = VERDICT_NONE;
    pthread_mutex_unlock(&s->lock);
    return r;
}

static void push(struct session *s, struct row *r, int samples)
{
    for (int i = 0; i < samples; i++)
        for (int p = 0; p < r->pane_count; p++) {
            struct sample x = {.index = r->panes[p].count + 1, .kept = KEPT_YES,
                               .elapsed_s = r->panes[p].count + 0.5, .interval_s = 1.0 / 3};
            values_clear(&x.values);
            x.values.v[METRIC_cpu_us_per_request] = 10 * (p + 1) + 1.0 / 7;
            session_push(s, r, p, &x);
        }
}

static void end(struct session *s, struct row *r, enum row_state state, enum verdict v)
{
    pthread_mutex_lock(&s->lock);
    r->state = state;
    for (int p = 0; p < r->pane_count; p++) {
        r->panes[p].verdict = v;
        snprintf(r->panes[p].reason, sizeof r->panes[p].reason, "reason of %c", 'A' + p);
    }
    pthread_mutex_unlock(&s->lock);
}

static char *own_path(struct session *s, const char *end)
{
    static char path[SCRATCH_PATH + 100];
    snprintf(path, sizeof path, "%s/iodash/autosave-%s.csv%s", home, session_id(s), end);
    return path;
}

static int samples_in(const char *path, struct rows *rows)
{
    char note[200];
    struct err e;
    int n = csv_open(path, rows, NULL, note, &e);
    return n >= 0 && *note ? -1 : n;
}

/* Until a file has so many samples (-1: is not there); an order makes it look. */
static void until(struct session *s, const char *path, int samples)
{
    uint64_t give_up = clock_ns() + 20 * NS_PER_S;
    for (int n = -2; n != samples;) {
        struct rows rows = {0};
        n = access(path, F_OK) < 0 ? -1 : samples_in(path, &rows);
        rows_free(&rows);
        if (clock_ns() > give_up)
            fail_msg("%s has %d samples, not %d", path, n, samples);
        pthread_cond_broadcast(&s->changed);
        usleep(20000);
    }
}

static void what_is_measured_is_kept_as_it_comes(void **state)
{
    (void)state;
    char folder[SCRATCH_PATH + 16], path[SCRATCH_PATH + 100];
    struct rows back = {0};
    snprintf(folder, sizeof folder, "%s/iodash", home);
    struct session *s = begin(folder);
    struct row *first = add(s, 100);
    push(s, first, 70); /* more than a chunk */
    until(s, own_path(s, ""), 140);

    end(s, first, ROW_DONE, VERDICT_FULL);
    struct row *second = add(s, 200);
    push(s, second, 2);
    until(s, own_path(s, ""), 144);
    end(s, second, ROW_DROPPED, VERDICT_NONE); /* and is cut off again */
    push(s, add(s, 300), 1);
    until(s, own_path(s, ""), 142);

    assert_int_equal(autosave_recover(folder, path, sizeof path), 0); /* its owner lives */
    pthread_mutex_lock(&s->lock);
    unsigned long samples = session_samples(s);
    pthread_mutex_unlock(&s->lock);
    session_saved(s, samples);
    until(s, own_path(s, ""), -1);
    until(s, own_path(s, ".saved"), 142);
    push(s, s->rows.last, 1);
    until(s, own_path(s, ""), 144);
    until(s, own_path(s, ".saved"), -1);

    strcpy(path, own_path(s, ""));
    session_free(s); /* not saved: it stays */
    assert_int_equal(samples_in(path, &back), 144);
    assert_int_equal(back.count, 2);
    assert_int_equal(back.first->panes[1].verdict, VERDICT_FULL);
    assert_string_equal(back.first->panes[1].reason, "reason of B");
    assert_true(back.last->params.connections == 300);
    assert_true(pane_at(&back.first->panes[0], 69)->values.v[METRIC_cpu_us_per_request] ==
                10 + 1.0 / 7);
    rows_free(&back);
}

static void leaving_saved_leaves_nothing(void **state)
{
    (void)state;
    char folder[SCRATCH_PATH + 16], path[SCRATCH_PATH + 100];
    snprintf(folder, sizeof folder, "%s/iodash", home);
    struct session *s = begin(folder);
    push(s, add(s, 100), 1);
    until(s, own_path(s, ""), 2);
    strcpy(path, own_path(s, ""));
    session_saved(s, 2);
    session_free(s);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(autosave_recover(folder, path, sizeof path), 0);
    session_free(begin(folder)); /* nothing measured: nothing written */
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(folder_count("autosave"), 0);
    assert_int_equal(folder_count(".autosave"), 0);
}

static void a_folder_that_takes_nothing_is_said_once(void **state)
{
    (void)state;
    struct session_now *n = session_now_new();
    struct session *s = begin("/proc/nowhere/iodash");
    push(s, add(s, 100), 1);
    for (int i = 0; i < 500 && !strstr(n->log, "not kept"); i++) {
        pthread_cond_broadcast(&s->changed);
        session_read(s, n);
        usleep(20000);
    }
    assert_non_null(strstr(n->log, "not kept for a crash"));
    assert_non_null(strstr(n->log, "/proc/nowhere/iodash"));
    unsigned said = n->log_number;
    for (int i = 0; i < 10; i++) {
        pthread_cond_broadcast(&s->changed);
        usleep(20000);
    }
    session_read(s, n);
    assert_int_equal(n->log_number, said);
    session_now_free(n);
    session_free(s);
}

static void what_was_left_behind_is_recovered_once(void **state)
{
    (void)state;
    char folder[SCRATCH_PATH + 16], path[SCRATCH_PATH + 100], when[24];
    snprintf(folder, sizeof folder, "%s/iodash", home);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_int_equal(chdir(folder), 0);
    file_write("autosave-20200102-030405-7.csv", "a", 1);
    file_write("autosave-20200102-140305-8.csv", "b", 1);
    file_write("autosave-20200103-000000-9.csv.saved", "c", 1);
    file_write("autosave-20200104-000000-1.csv", "d", 1);
    file_write("recovered-20200102-030405-6.csv", "e", 1);
    int lives = open("autosave-20200104-000000-1.csv", O_RDONLY);
    assert_int_equal(flock(lives, LOCK_EX | LOCK_NB), 0);
    assert_int_equal(autosave_recover(folder, path, sizeof path), 2);
    assert_non_null(strstr(path, "/recovered-20200102-140305-8.csv"));
    assert_true(autosave_when(path, when, sizeof when));
    assert_string_equal(when, "02 Jan 14:03");
    assert_false(autosave_when("/x/iodash-20200102-140305.csv", when, sizeof when));
    assert_int_equal(folder_count("autosave"), 1);
    assert_int_equal(folder_count("recovered"), 3);
    assert_int_equal(autosave_recover(folder, path, sizeof path), 0);
    close(lives);
}

/* --- saved sessions --------------------------------------------------------------------------- */

static void a_saved_session_is_looked_at(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct environment env = rows_environment();
    struct csv_session csv = {&rows, &env, "20260101-000000-1"};
    struct err e = {""};
    char note[200] = "x";
    rows_session(&rows);
    assert_int_equal(csv_save(&csv, "a.csv", &e), 0);
    struct session *s = session_open("a.csv", note, &e);
    if (!s)
        fail_msg("%s", e.text);
    assert_string_equal(note, "");
    assert_string_equal(session_file(s), "a.csv");
    assert_string_equal(session_id(s), "20260101-000000-1");
    assert_string_equal(session_environment(s)->kernel, env.kernel);
    struct session_now *n = session_now_new();
    session_read(s, n);
    assert_false(n->load_on);
    assert_int_equal(n->phase, PHASE_SAVED);
    assert_int_equal(n->row_number, 3);
    assert_int_equal(n->panes[0].trace_count, 1);
    assert_true(session_show(s, 1));
    assert_false(session_show(s, 4));
    session_read(s, n);
    assert_int_equal(n->row_number, 1);
    assert_int_equal(n->panes[1].trace_count, 70);
    assert_true(n->panes[1].trace_t_s[69] == 69 + 1.0 / 7);
    assert_true(n->elapsed_s == 69 + 1.0 / 7); /* its clock stands */
    session_live(s, &n->want); /* orders do nothing */
    session_load(s, true);
    session_now_free(n);
    session_free(s);
    rows_free(&rows);
}

static void refused(const char *name, const char *why)
{
    char note[200];
    struct err e = {""};
    struct session *s = session_open(name, note, &e);
    assert_null(s);
    if (!strstr(e.text, why))
        fail_msg("%s: %s", name, e.text);
    assert_null(strchr(e.text, '\n'));
}

static void what_is_no_session_says_what_is_missing(void **state)
{
    (void)state;
    struct rows rows = {0};
    struct environment env = rows_environment();
    struct csv_session csv = {&rows, &env, "s"};
    struct err e = {""};
    rows_session(&rows);
    assert_int_equal(csv_save(&csv, "a.csv", &e), 0);
    rows_free(&rows);
    refused("a-tables.csv", "the session is a.csv");
    file_write("b.csv", "x,y\r\n1,2\r\n", 10);
    refused("b.csv", "no column 'row'");
    file_write("c.csv", "", 0);
    refused("c.csv", "c.csv is empty");
    file_write("d.csv", "row,pane,model,index,workload\r\n", 31);
    refused("d.csv", "nothing was measured");
    refused("none.csv", "No such file");
    refused(".", "Is a directory");
    assert_int_equal(mkfifo("pipe", 0600), 0);
    refused("pipe", "no regular file"); /* and does not wait */
}

/* --- settings --------------------------------------------------------------------------------- */

static void settings_write(const char *text)
{
    mkdir("iodash", 0700);
    file_write("iodash/iodash.ini", text, strlen(text));
}

static void settings_come_back(void **state)
{
    (void)state;
    static struct settings s;
    static struct args a;
    struct err e = {""};
    assert_int_equal(settings_load(&s, &e), 0); /* there is none */
    assert_false(s.changed);
    assert_int_equal(settings_save(&s, &e), 0);
    assert_int_equal(access("iodash", F_OK), -1); /* nothing changed: nothing written */

    settings_set(&s, PARAM_connections, 250);
    settings_set(&s, PARAM_duration, 2.5);
    settings_set(&s, PARAM_samples, 7); /* in its place */
    settings_set_option(&s, OPTION_charset, "block");
    assert_int_equal(settings_save(&s, &e), 0);
    assert_int_equal(settings_load(&s, &e), 0);
    assert_true(s.params.connections == 250 && s.params.samples == 7);
    assert_true(isnan(s.params.duration) && isnan(s.params.rate));
    assert_string_equal(s.option[OPTION_charset], "block");

    params_init(&a.params);
    a.given[PARAM_connections] = true;
    a.params.connections = 10;
    settings_under(&s, &a);
    assert_true(a.params.connections == 10 && a.params.samples == 7);
    assert_string_equal(a.options.charset, "block");
    a.given[PARAM_duration] = true;
    a.params.samples = PARAM_UNSET;
    settings_under(&s, &a);
    assert_true(isnan(a.params.samples));
}

static void a_persons_own_lines_stay(void **state)
{
    (void)state;
    static struct settings s;
    struct err e = {""};
    settings_write("; mine\nrate = 2k\n\nwarmup=0\n");
    assert_int_equal(settings_load(&s, &e), 0);
    settings_set(&s, PARAM_rate, 5000);
    settings_set(&s, PARAM_warmup, PARAM_UNSET);
    settings_set(&s, PARAM_idle, 3);
    assert_int_equal(settings_save(&s, &e), 0);
    size_t size;
    char *text = file_text("iodash/iodash.ini", &size);
    assert_string_equal(text, "; mine\nrate = 5000\n\nidle = 3\n");
    free(text);
}

/* People link a file they do not want to the null device, which root could replace. */
static void a_device_is_never_replaced(void **state)
{
    (void)state;
    static struct settings s;
    struct err e = {""};
    struct stat st;
    settings_write("rate = 2k\n");
    assert_int_equal(settings_load(&s, &e), 0);
    assert_int_equal(unlink("iodash/iodash.ini"), 0);
    assert_int_equal(mkfifo("pipe", 0600), 0);
    assert_int_equal(symlink("../pipe", "iodash/iodash.ini"), 0);
    settings_set(&s, PARAM_rate, 5000);
    assert_int_equal(settings_save(&s, &e), -EINVAL);
    assert_non_null(strstr(e.text, "no regular file"));
    assert_true(lstat("pipe", &st) == 0 && S_ISFIFO(st.st_mode));
}

static void broken_settings_are_named_with_their_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"rate = 2k\nconections = 3\n", "line 2: conections: no such setting; did you mean"},
        {"rate = fast\n", "line 1: rate fast"},
        {"rate = 1k,2k\n", "line 1: rate"},
        {"samples = 3\nduration = 2\n", "line 2: duration stands in place of samples"},
        {"[x]\nrate = 2k\n", "line 2: [x]"},
        {"rate = 2k\nrate = 3k\n", "line 2: rate stands there twice"},
        {"rate = 2k\nnonsense\n", "line 2: neither"},
        {"charset = latin\n", "line 1: charset latin: must be one of auto|braille"},
        {"models = selct\n", "line 1: "},
        {"output = x.csv\n", "line 1: output: no such setting"},
    };
    static struct settings s;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct err e = {""};
        settings_write(cases[i].text);
        if (settings_load(&s, &e) >= 0 || !strstr(e.text, cases[i].why) ||
            !strstr(e.text, "/iodash/iodash.ini"))
            fail_msg("%s -> %s", cases[i].text, e.text);
        assert_true(isnan(s.params.rate)); /* all of it is left out */
    }
    struct err e = {""};
    mkdir("iodash", 0700);
    file_write("iodash/iodash.ini", "rate = 2k\nid\0le = 3\n", 20);
    assert_true(settings_load(&s, &e) < 0);
    assert_non_null(strstr(e.text, "line 2: there is a NUL byte"));
    settings_set(&s, PARAM_rate, 1000); /* what is changed then gets a file that can be read */
    settings_write("rate = 2k\nconections = 3\n");
    assert_int_equal(settings_save(&s, &e), 0);
    assert_int_equal(settings_load(&s, &e), 0);
    assert_true(s.params.rate == 1000);
}

/* --- the state folder ------------------------------------------------------------------------- */

static void the_first_start_is_the_first(void **state)
{
    (void)state;
    assert_true(state_first_start());
    assert_false(state_first_start());
    setenv("XDG_STATE_HOME", "/proc/nowhere", 1);
    assert_true(state_first_start());
    unsetenv("XDG_STATE_HOME"); /* then below HOME */
    char folder[SCRATCH_PATH + 100], *before = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    setenv("HOME", home, 1);
    assert_true(state_folder(folder, sizeof folder));
    assert_non_null(strstr(folder, "/.local/state/iodash"));
    assert_int_equal(strncmp(folder, home, strlen(home)), 0);
    if (before)
        setenv("HOME", before, 1);
    free(before);
}

static void recent_sessions_are_a_short_list(void **state)
{
    (void)state;
    static struct recent recent[STATE_RECENT];
    char name[32];
    assert_int_equal(state_recent(recent), 0);
    for (int i = 0; i < STATE_RECENT + 5; i++) {
        snprintf(name, sizeof name, "s%d.csv", i);
        file_write(name, "x", 1);
        state_recent_add(name);
    }
    state_recent_add("s20.csv"); /* again: to the head, once */
    state_recent_add("none.csv");
    assert_int_equal(state_recent(recent), STATE_RECENT);
    assert_non_null(strstr(recent[0].path, "/s20.csv"));
    assert_non_null(strstr(recent[1].path, "/s24.csv"));
    assert_true(recent[0].path[0] == '/' && recent[0].changed > 0);
    assert_string_equal(recent[0].why_not, "");
    unlink("s24.csv");
    state_recent(recent);
    assert_string_equal(recent[1].why_not, "it is not there any more");
}

int main(void)
{
#define IN_HOME(f) cmocka_unit_test_setup_teardown(f, enter, leave)
    const struct CMUnitTest tests[] = {
        IN_HOME(what_is_measured_is_kept_as_it_comes),
        IN_HOME(leaving_saved_leaves_nothing),
        IN_HOME(a_folder_that_takes_nothing_is_said_once),
        IN_HOME(what_was_left_behind_is_recovered_once),
        IN_HOME(a_saved_session_is_looked_at),
        IN_HOME(what_is_no_session_says_what_is_missing),
        IN_HOME(settings_come_back),
        IN_HOME(a_persons_own_lines_stay),
        IN_HOME(a_device_is_never_replaced),
        IN_HOME(broken_settings_are_named_with_their_line),
        IN_HOME(the_first_start_is_the_first),
        IN_HOME(recent_sessions_are_a_short_list),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
