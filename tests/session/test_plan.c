/* SPDX-License-Identifier: MIT */
/* Plans from arguments and files: order, what wins, what is refused and how; lengths and limits. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "session/plan.h"
#include "session/reach.h"
#include "session/sample_rows.h"

#define WORDS 16

static char folder[SCRATCH_PATH];

static int enter(void **state)
{
    folder_enter(folder);
    rows_params("transfer");
    *state = folder;
    return 0;
}

static int leave(void **state)
{
    folder_leave(*state);
    return 0;
}

/* Arguments as typed, split at blanks. */
static struct args typed(const char *line)
{
    static char copy[8][512];
    static int next;
    char *argv[WORDS] = {"iodash"}, *rest = copy[next++ % 8];
    struct args_rules rules = {0};
    struct args a;
    struct err e = {{0}};
    int argc = 1;

    snprintf(rest, 512, "%s", line);
    for (char *word; (word = strsep(&rest, " ")) && argc < WORDS;)
        if (*word)
            argv[argc++] = word;
    if (args_parse(argc, argv, &rules, &a, &e) < 0)
        fail_msg("%s", e.text);
    return a;
}

static struct plan planned(const char *line)
{
    struct args a = typed(line);
    struct plan p;
    struct err e = {{0}};

    if (plan_from_args(&a, &p, &e) < 0)
        fail_msg("%s", e.text);
    return p;
}

static void one_row_by_default(void **state)
{
    (void)state;
    struct plan p = planned("");

    assert_int_equal(p.count, 1);
    assert_int_equal(p.axis[0], PARAM_COUNT);
    assert_int_equal(p.axis[1], PARAM_COUNT);
    assert_int_equal(p.rows[0].lineup.count, 2);
    assert_string_equal(p.rows[0].lineup.models[0]->id, "select");
    assert_string_equal(p.rows[0].lineup.models[1]->id, "epoll-lt");
    assert_true(p.rows[0].params.connections == 400 && p.rows[0].params.rate == 11500);
    assert_string_equal(p.title, "transfer");
    plan_free(&p);
    assert_null(p.rows);
}

static void a_sweep_goes_coarse_first(void **state)
{
    (void)state;
    static const double order[] = {100, 800, 400, 200, 600, 300, 500, 700};
    struct plan p = planned("-c 100..800:100");

    assert_int_equal(p.count, 8);
    assert_int_equal(p.axis[0], PARAM_connections);
    for (int i = 0; i < 8; i++)
        assert_true(p.rows[i].params.connections == order[i]);
    assert_string_equal(p.title, "transfer, connections 100 to 800");
    plan_free(&p);
}

/* Every kernel call at one value before the next value. */
static void all_models_at_each_value(void **state)
{
    (void)state;
    struct plan p = planned("-m all -c 10,20");
    int each = p.count / 2;

    assert_true(each > 1 && p.count == 2 * each);
    for (int i = 0; i < p.count; i++) {
        assert_true(p.rows[i].params.connections == (i < each ? 10 : 20));
        assert_string_equal(p.rows[i].lineup.models[0]->id, "select");
        assert_ptr_equal(p.rows[i].lineup.models[1], p.rows[i % each].lineup.models[1]);
    }
    plan_free(&p);
}

/* Whatever the length: every value once, both ends first. */
static void every_length_is_complete(void **state)
{
    (void)state;
    struct plan_row base = {.params = rows_params("transfer")};
    struct axis axis = {.id = PARAM_connections};
    struct err e;

    assert_int_equal(lineup_parse("poll", &base.lineup, &e), 0);
    for (int n = 1; n <= AXIS_MAX; n += n < 20 ? 1 : 59) {
        struct plan p;
        bool seen[AXIS_MAX] = {false};

        axis.count = n;
        for (int i = 0; i < n; i++)
            axis.values[i] = i + 1;
        assert_int_equal(plan_sweep(&base, &axis, &p), 0);
        assert_int_equal(p.count, n);
        assert_true(p.rows[0].params.connections == 1);
        assert_true(p.rows[n > 1].params.connections == n);
        for (int i = 0; i < n; i++) {
            int at = (int)p.rows[i].params.connections - 1;
            assert_false(seen[at]);
            seen[at] = true;
        }
        plan_free(&p);
    }
}

static void two_axes_give_every_combination(void **state)
{
    (void)state;
    struct plan p = planned("-c 1,2,3 --rate 1k,max -m poll,poll,epoll-et");
    static const double order[][2] = {{1, 1000}, {1, INFINITY}, {3, 1000},
                                      {3, INFINITY}, {2, 1000}, {2, INFINITY}};

    assert_int_equal(p.count, 6);
    assert_int_equal(p.axis[1], PARAM_rate);
    for (int i = 0; i < 6; i++) {
        assert_true(p.rows[i].params.connections == order[i][0]);
        assert_true(p.rows[i].params.rate == order[i][1]);
        assert_int_equal(p.rows[i].lineup.count, 3);
    }
    plan_free(&p);
}

static void a_list_that_changes_nothing_is_refused(void **state)
{
    static const char *const words[][2] = {
        {"-wconnect", "--rate=1k,5k"}, {"-wburst", "--rate=1k,max"}, {"-whold", "--size=1,2"},
        {"-wconnect", "--client-work=0,5"}};
    (void)state;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        char a[32], b[32], program[] = "iodash";
        char *argv[] = {program, a, b, NULL};
        struct args args;
        struct plan p;
        struct err e = {""};
        snprintf(a, sizeof a, "%s", words[i][0]);
        snprintf(b, sizeof b, "%s", words[i][1]);
        assert_int_equal(args_parse(3, argv, &(struct args_rules){0}, &args, &e), 0);
        assert_int_equal(plan_from_args(&args, &p, &e), -EINVAL);
        assert_non_null(strstr(e.text, "does not look at it"));
        assert_memory_equal(e.text, b, strcspn(b, "="));
    }
}

static void an_unknown_model_is_refused(void **state)
{
    (void)state;
    struct args a = typed("-m select,epol");
    struct plan p;
    struct err e = {{0}};

    assert_int_equal(plan_from_args(&a, &p, &e), -EINVAL);
    assert_null(strchr(e.text, '\n'));
    assert_non_null(strstr(e.text, "epol"));
    plan_free(&p);
}

/* --- files ------------------------------------------------------------------------------------ */

static int from_file(const char *text, const char *line, struct plan *p, struct err *e)
{
    struct args a = typed(line);

    file_write("p.ini", text, strlen(text));
    return plan_from_file("./p.ini", &a, p, e);
}

static void a_file_is_read(void **state)
{
    (void)state;
    struct plan p;
    struct err e = {{0}};

    static const char file[] = "\xef\xbb\xbf; a comment\ntitle = my own\r\nmodels=poll , epoll-et\n"
                               "load-threads = 2\nsize = 2KiB ; inline\nrate = 1k..4k*2,max\n";
    if (from_file(file, "", &p, &e) != 0)
        fail_msg("%s", e.text);
    assert_string_equal(p.title, "my own");
    assert_int_equal(p.count, 4);
    assert_int_equal(p.axis[0], PARAM_rate);
    assert_true(p.rows[1].params.rate == PARAM_MAX);
    assert_true(p.rows[0].params.size == 2048 && p.rows[0].params.load_threads == 2);
    assert_string_equal(p.rows[0].lineup.models[0]->id, "poll");
    plan_free(&p);
}

static void the_command_line_wins(void **state)
{
    (void)state;
    static const char file[] = "models = poll\nconnections = 100..300:100\nsamples = 5\nsize = 9\n";
    struct plan p;
    struct err e = {{0}};

    assert_int_equal(from_file(file, "-c 7 -m epoll-lt --duration 3", &p, &e), 0);
    assert_int_equal(p.count, 1);
    assert_true(p.rows[0].params.connections == 7 && p.rows[0].params.size == 9);
    assert_true(p.rows[0].params.duration == 3);
    assert_string_equal(p.rows[0].lineup.models[0]->id, "epoll-lt");
    plan_free(&p);

    assert_int_equal(from_file(file, "--size 1,2", &p, &e), 0);
    assert_int_equal(p.count, 6);
    assert_int_equal(p.axis[0], PARAM_size);
    plan_free(&p);

    assert_int_equal(from_file("duration = 5\n", "--samples 4", &p, &e), 0);
    assert_true(p.rows[0].params.samples == 4 && p.rows[0].params.duration == PARAM_AUTO);
    plan_free(&p);

    assert_int_equal(from_file(file, "--size 1,2 --rate 1k,2k", &p, &e), -EINVAL);
    assert_non_null(strstr(e.text, "third list"));
    plan_free(&p);
}

static void a_bad_file_names_its_line(void **state)
{
    (void)state;
    static const struct {
        const char *text, *line, *says;
    } bad[] = {
        {"title = x\nconections = 4\n", "line 2", "connections"},
        {"zzz = 4\n", "line 1", "no such key"},
        {"output = x\n", "line 1", "no such key"},
        {"\n\nrate = 1x\n", "line 3", "1x"},
        {"workload = transfers\n", "line 1", "transfer"},
        {"size = 1\nsize = 2\n", "line 2", "twice"},
        {"size = 1\nwhat is this\n", "line 2", "KEY = VALUE"},
        {"oops\nrate = 1x\n", "line 1", "KEY = VALUE"},
        {"rate = 1x\noops\n", "line 1", "1x"},
        {"[part]\nsize = 1\n", "line 2", "sections"},
        {"duration = 1\nsamples = 3\n", "line", "duration"},
        {"size = 1\nmodels = select,pol\n", "line 2", "poll"},
        {"place = process,inside\n", "line 1", "no list"},
    };
    struct plan p;

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct err e = {{0}};

        assert_int_equal(from_file(bad[i].text, "", &p, &e), -EINVAL);
        if (!strstr(e.text, bad[i].line) || !strstr(e.text, bad[i].says) ||
            !strstr(e.text, "p.ini") || strchr(e.text, '\n'))
            fail_msg("\"%s\": %s", bad[i].text, e.text);
        plan_free(&p);
    }
}

static void a_long_line_is_never_cut_in_silence(void **state)
{
    (void)state;
    char text[2048] = "connections = 1", *end = text + strlen(text);
    struct plan p;
    struct err e = {{0}};

    for (int i = 2; i < 100; i++)
        end += sprintf(end, ",%d", i * 1000);
    sprintf(end, "\nsize = 5\n");
    int status = from_file(text, "", &p, &e);
    if (status == 0)
        assert_int_equal(p.count, 99);
    else
        assert_non_null(strstr(e.text, "line 1"));
    plan_free(&p);
}

static void what_is_not_there_is_told(void **state)
{
    (void)state;
    struct plan p;
    struct err e = {{0}};

    assert_int_equal(plan_from_file("./none.ini", NULL, &p, &e), -ENOENT);
    assert_int_equal(plan_from_file("transfr", NULL, &p, &e), -EINVAL);
    assert_non_null(strstr(e.text, "did you mean transfer?"));
    assert_int_equal(plan_from_file("zzzzzz", NULL, &p, &e), -EINVAL);
    assert_non_null(strstr(e.text, "accept-queue"));
    assert_true(plan_from_file(".", NULL, &p, &e) < 0);
}

/* --- the shipped ones ------------------------------------------------------------------------- */

static void shipped_plans_are_as_published(void **state)
{
    (void)state;
    static const char *const names[] = {"accept-queue", "quick", "rate", "transfer"};
    struct plan_info info;
    struct plan p;
    struct err e = {{0}};
    int n = 0, found = 0;

    for (; plan_shipped(n, &info); n++) {
        for (int i = 0; i < 4; i++)
            found += strcmp(info.name, names[i]) == 0;
        if (!(info.seconds > 0))
            fail_msg("%s: %s", info.name, info.title);
    }
    assert_int_equal(found, 4);
    assert_false(plan_shipped(-1, &info));

    assert_int_equal(plan_from_file("accept-queue", NULL, &p, &e), 0);
    assert_int_equal(p.count, 10);
    const struct params *q = &p.rows[0].params;
    assert_true(q->backlog == 20 && q->accept == ACCEPT_ONE && q->arrival == ARRIVAL_SERIAL);
    assert_true(q->repeats == 5 && q->trim == 1 && q->timeout == 120);
    assert_true(p.seconds > 10 * 60 && p.seconds < 16 * 60);
    plan_free(&p);

    struct args a = typed("--repeats 1");
    assert_int_equal(plan_from_file("accept-queue", &a, &p, &e), 0);
    assert_true(p.seconds > 2 * 60 && p.seconds < 4 * 60);
    plan_free(&p);

    assert_int_equal(plan_from_file("rate", NULL, &p, &e), 0);
    assert_int_equal(p.count, 8);
    assert_true(p.rows[0].params.rate == 1000 && p.rows[1].params.rate == PARAM_MAX);
    plan_free(&p);
}

static void length_follows_samples_and_panes(void **state)
{
    (void)state;
    struct plan two = planned("--warmup 0 --samples 10 -c 1");
    struct plan four = planned("--warmup 0 --samples 10 -c 1 -m select,poll,epoll-lt,epoll-et");
    struct plan one = planned("--warmup 0 --duration 10 -c 1 -m poll");
    struct plan slow = planned("--warmup 0 --samples 10 --turn 1 -c 1 -m poll");

    assert_near(two.seconds, 11, 1);
    assert_near(four.seconds, 21, 1);
    assert_near(one.seconds, 11, 1);
    assert_near(slow.seconds, 41, 1); /* alone it has samples as long as those of two models */
    plan_free(&slow);
    plan_free(&two);
    plan_free(&four);
    plan_free(&one);
}

/* --- limits ----------------------------------------------------------------------------------- */

/* In a child whose hard limit is 1000. 0: as it should be. */
static int under_a_limit(void)
{
    struct rlimit l = {100, 1000};
    struct err e = {{0}};
    struct plan p;

    if (setrlimit(RLIMIT_NOFILE, &l) < 0)
        return 1;
    p = planned("-c 400");
    if (reach_check_here(&p, &e) != 0 || getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur != 1000)
        return 2; /* it fits once the soft limit is raised */
    p = planned("-c 1200");
    if (reach_check_here(&p, &e) != -EMFILE)
        return 3;
    if (!strstr(e.text, "1200") || !strstr(e.text, "1000") || !strstr(e.text, "936"))
        return 4; /* asked, allowed, possible */
    p = planned("-c 900 --idle 100");
    if (reach_check_here(&p, &e) != -EMFILE)
        return 5;
    p = planned("-w connect -c 900"); /* holds one model's connections at a time */
    if (reach_check_here(&p, &e) != 0)
        return 6;
    p = planned("-c 100,200,300,1600");
    return reach_check_here(&p, &e) == -EMFILE ? 0 : 7;
}

static void descriptors_are_counted_before(void **state)
{
    (void)state;
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit(under_a_limit());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(one_row_by_default),
        TEST(a_sweep_goes_coarse_first),
        TEST(all_models_at_each_value),
        TEST(every_length_is_complete),
        TEST(two_axes_give_every_combination),
        TEST(a_list_that_changes_nothing_is_refused),
        TEST(an_unknown_model_is_refused),
        TEST(a_file_is_read),
        TEST(the_command_line_wins),
        TEST(a_bad_file_names_its_line),
        TEST(a_long_line_is_never_cut_in_silence),
        TEST(what_is_not_there_is_told),
        TEST(shipped_plans_are_as_published),
        TEST(length_follows_samples_and_panes),
        TEST(descriptors_are_counted_before),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
