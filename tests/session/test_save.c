/* SPDX-License-Identifier: MIT */
/* Saving: both files or none, never over another, and nothing left behind, whatever comes between:
 * existing names, several dashboards, a full or read-only disk, kill -9. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/check.h"
#include "base/clock.h"
#include "session/sample_rows.h"

#define SKIPPED 99 /* exit status of a child that could not make what it wanted */

static struct rows rows;
static struct environment env;
static struct csv_session session;

static int enter(void **state)
{
    static char path[SCRATCH_PATH];

    folder_enter(path);
    *state = path;
    rows_session(&rows);
    env = rows_environment();
    session = (struct csv_session){&rows, &env, "s"};
    return 0;
}

static int leave(void **state)
{
    rows_free(&rows);
    folder_leave(*state);
    return 0;
}

/* True when the file opens with every sample, and its tables stand beside it. */
static bool whole(const char *name)
{
    struct rows back = {0};
    char note[200], tables[80];
    struct err e = {{0}};
    int samples = csv_open(name, &back, NULL, note, &e);

    snprintf(tables, sizeof tables, "%.*s-tables.csv", (int)strlen(name) - 4, name);
    rows_free(&back);
    return samples == 151 && note[0] == 0 && access(tables, R_OK) == 0;
}

/* Runs fn in a child and returns its exit status, -1 when it was killed. */
static int in_child(int (*fn)(void))
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit(fn());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_name_gets_its_ending(void **state)
{
    (void)state;
    struct err e = {{0}};

    assert_int_equal(csv_save(&session, "one", &e), 0);
    assert_int_equal(csv_save(&session, "two.csv", &e), 0);
    assert_int_equal(csv_save(&session, "./th.ree", &e), 0);
    assert_true(whole("one.csv") && whole("two.csv") && whole("th.ree.csv"));
    assert_int_equal(folder_count(""), 6);
}

static void nothing_existing_is_overwritten(void **state)
{
    (void)state;
    static const char *const taken[] = {"a.csv", "a-tables.csv"};
    struct err e = {{0}};

    for (int i = 0; i < 2; i++) {
        file_write(taken[i], "mine", 4);
        assert_int_equal(csv_check("a.csv", &e), -EEXIST);
        assert_int_equal(csv_save(&session, "a", &e), -EEXIST);
        assert_non_null(strstr(e.text, taken[i]));
        char *text = file_text(taken[i], NULL);
        assert_string_equal(text, "mine");
        free(text);
        assert_int_equal(folder_count(""), 1);
        unlink(taken[i]);
    }
    assert_int_equal(symlink("elsewhere", "a.csv"), 0); /* to nowhere: it is a name all the same */
    assert_int_equal(csv_check("a", &e), -EEXIST);
    assert_int_equal(csv_save(&session, "a", &e), -EEXIST);
    assert_int_equal(folder_count(""), 1);
}

static void a_check_makes_nothing(void **state)
{
    (void)state;
    struct err e = {{0}};

    assert_int_equal(csv_check("new.csv", &e), 0);
    assert_int_equal(folder_count(""), 0);
}

static void impossible_names_say_so(void **state)
{
    (void)state;
    struct err e = {{0}};
    char name[400];

    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    file_write("file", "", 0);
    mkdir("folder", 0755);
    static const struct {
        const char *name;
        int error;
    } bad[] = {{"", -EISDIR}, {"folder/", -EISDIR}, {"..", -EISDIR},
               {"none/a.csv", -ENOENT}, {"file/a", -ENOTDIR}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(csv_check(bad[i].name, &e), bad[i].error);
        assert_int_equal(csv_save(&session, bad[i].name, &e), bad[i].error);
        assert_null(strchr(e.text, '\n'));
    }
    assert_int_equal(csv_check(name, &e), -ENAMETOOLONG);
    assert_int_equal(csv_save(&session, name, &e), -ENAMETOOLONG);
    assert_int_equal(folder_count(""), 2);
}

static void twice_in_one_second_gives_two(void **state)
{
    (void)state;
    char name[3][80];
    struct err e = {{0}};

    for (int i = 0; i < 3; i++)
        assert_int_equal(csv_save_new(&session, name[i], sizeof name[i], &e), 0);
    assert_string_not_equal(name[0], name[1]);
    assert_true(whole(name[0]) && whole(name[1]) && whole(name[2]));
    assert_int_equal(strncmp(name[0], "iodash-20", 9), 0);
    assert_int_equal(folder_count(""), 6);
}

static int save_ten(void)
{
    char name[80];
    struct err e = {{0}};

    for (int i = 0; i < 10; i++)
        if (csv_save_new(&session, name, sizeof name, &e) < 0 || !whole(name))
            return 1;
    return 0;
}

static void several_dashboards_at_once(void **state)
{
    (void)state;
    pid_t pid[6];

    for (int i = 0; i < 6; i++) {
        pid[i] = fork();
        if (pid[i] == 0)
            _exit(save_ten());
    }
    for (int i = 0; i < 6; i++) {
        int status = -1;
        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        assert_int_equal(status, 0);
    }
    assert_int_equal(folder_count(""), 6 * 10 * 2);
    assert_int_equal(folder_count(".iodash"), 0);
}

static int one_name_for_all(void)
{
    struct err e = {{0}};

    return csv_save(&session, "same", &e) == 0 ? 7 : 0;
}

static void one_of_many_gets_the_name(void **state)
{
    (void)state;
    pid_t pid[8];
    int winners = 0;

    for (int i = 0; i < 8; i++) {
        pid[i] = fork();
        if (pid[i] == 0)
            _exit(one_name_for_all());
    }
    for (int i = 0; i < 8; i++) {
        int status = -1;
        assert_int_equal(waitpid(pid[i], &status, 0), pid[i]);
        winners += WIFEXITED(status) && WEXITSTATUS(status) == 7;
    }
    assert_int_equal(winners, 1);
    assert_true(whole("same.csv"));
    assert_int_equal(folder_count(""), 2);
}

/* --- the disk says no ------------------------------------------------------------------------- */

static bool own_mounts(void)
{
    return unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* 0: as it should be. */
static int into_full_disk(void)
{
    struct err e = {{0}};
    char here[256];

    if (!getcwd(here, sizeof here) || !own_mounts() ||
        mount("none", here, "tmpfs", 0, "size=64k") < 0)
        return SKIPPED;
    if (chdir(here) < 0) /* into the mount that covers it */
        return 2;
    if (csv_save(&session, "full", &e) != -ENOSPC || !strstr(e.text, "full"))
        return 3;
    return folder_count("") == 0 ? 0 : 4;
}

static int into_read_only(void)
{
    struct err e = {{0}};
    char here[256];

    if (!getcwd(here, sizeof here) || !own_mounts() || mount(here, here, NULL, MS_BIND, NULL) < 0 ||
        mount(NULL, here, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) < 0)
        return SKIPPED;
    if (chdir(here) < 0) /* into the mount that covers it */
        return 2;
    if (csv_check("a", &e) != -EROFS)
        return 3;
    return csv_save(&session, "a", &e) == -EROFS ? 0 : 4;
}

static void skip_or_pass(int status, const char *what)
{
    if (status == SKIPPED) {
        print_message("skipped: %s cannot be made here\n", what);
        skip();
    }
    assert_int_equal(status, 0);
}

static void a_full_disk_is_told_at_once(void **state)
{
    (void)state;
    skip_or_pass(in_child(into_full_disk), "a small file system");
    assert_int_equal(folder_count(""), 0);
}

static void a_read_only_folder_is_told_at_once(void **state)
{
    (void)state;
    skip_or_pass(in_child(into_read_only), "a read-only mount");
    assert_int_equal(folder_count(""), 0);
}

/* The same where nothing can be mounted: the first file fits, the second does not. */
static int past_the_limit(void)
{
    struct csv_image i = {.samples = xstrdup("few"), .samples_size = 3};
    struct err e = {{0}};
    struct rlimit l = {4096, 4096};

    i.tables = xcalloc(1, 100000);
    i.tables_size = 100000;
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &l);
    int status = csv_image_save(&i, "a", &e);
    csv_image_free(&i);
    return status == -EFBIG && folder_count("") == 0 ? 0 : 1;
}

static void half_a_save_leaves_nothing(void **state)
{
    (void)state;
    assert_int_equal(in_child(past_the_limit), 0);
    assert_int_equal(folder_count(""), 0);
}

/* --- kill -9 ---------------------------------------------------------------------------------- */

static int save_for_ever(void)
{
    char name[80];
    struct err e = {{0}};

    for (int i = 0; i < 1000000; i++) {
        snprintf(name, sizeof name, "k-%d-%d.csv", (int)getpid(), i);
        csv_save(&session, name, &e);
    }
    return 0;
}

/* Every finished name opens whole; the newest is absent or whole, never a part. */
static int broken_files(pid_t pid, int *saved)
{
    char name[80], tables[80];
    int broken = 0;

    for (int i = 0;; i++) {
        snprintf(name, sizeof name, "k-%d-%d.csv", (int)pid, i);
        snprintf(tables, sizeof tables, "k-%d-%d-tables.csv", (int)pid, i);
        if (access(name, F_OK) < 0)
            return broken;
        broken += !whole(name);
        (*saved)++;
        unlink(name);
        unlink(tables);
    }
}

static void killed_while_saving(void **state)
{
    (void)state;
    int saved = 0;

    /* Until some were saved as well: on a busy machine one takes longer. */
    for (int i = 0; i < 60 || (saved == 0 && i < 300); i++) {
        pid_t pid = fork();

        if (pid == 0)
            _exit(save_for_ever());
        clock_sleep_until(clock_ns() + ((uint64_t)(5 + i * 7 % 40) << i / 60) * NS_PER_MS);
        kill(pid, SIGKILL);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_int_equal(broken_files(pid, &saved), 0);
    }
    assert_true(saved > 0);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, enter, leave)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_name_gets_its_ending),
        TEST(nothing_existing_is_overwritten),
        TEST(a_check_makes_nothing),
        TEST(impossible_names_say_so),
        TEST(twice_in_one_second_gives_two),
        TEST(several_dashboards_at_once),
        TEST(one_of_many_gets_the_name),
        TEST(a_full_disk_is_told_at_once),
        TEST(a_read_only_folder_is_told_at_once),
        TEST(half_a_save_leaves_nothing),
        TEST(killed_while_saving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
