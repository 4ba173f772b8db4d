/* SPDX-License-Identifier: MIT */
/* Sessions outlive the program: killed while it measures, it has them at the next start, as they
 * were; and what was saved is opened, looked at, and measured anew. */
#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "terminal/live.h"

/* The file in that folder whose name begins and ends so; "" when there is none. */
static const char *file_in(const char *folder, const char *begin, const char *end)
{
    static char path[600];
    DIR *d = opendir(folder);
    path[0] = '\0';
    for (struct dirent *e; d && (e = readdir(d));) {
        size_t n = strlen(e->d_name);
        if (n > strlen(end) && strncmp(e->d_name, begin, strlen(begin)) == 0 &&
            strcmp(e->d_name + n - strlen(end), end) == 0)
            snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
    }
    if (d)
        closedir(d);
    return path;
}

static const char *state_file(const char *folder, const char *begin, const char *end)
{
    char state[300];
    snprintf(state, sizeof state, "%s/iodash", folder);
    return file_in(state, begin, end);
}

static char *text_of(const char *path)
{
    FILE *f = fopen(path, "r");
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    if (f) {
        text[fread(text, 1, (1 << 20) - 1, f)] = '\0';
        fclose(f);
    }
    return text;
}

static int lines_of(const char *text)
{
    int n = 0;
    for (; (text = strchr(text, '\n')); text++)
        n++;
    return n;
}

struct wanted {
    const char *folder;
    int lines;
};

static bool has_lines(struct tty *t, void *arg)
{
    struct wanted *w = arg;
    char *text = text_of(state_file(w->folder, "autosave-", ".csv"));
    bool enough = lines_of(text) >= w->lines;
    (void)t;
    free(text);
    return enough;
}

static void a_saved_session_is_opened(const char *folder)
{
    char *path = strdup(file_in(folder, "iodash-", "-tables.csv"));
    assert_non_null(path);
    strcpy(strstr(path, "-tables.csv"), ".csv");
    const char *const args[] = {"open", path, NULL};
    struct tty *t = tty_open(&(struct tty_want){.args = args});
    pid_t servers[4];
    live_expect(t, "saved session");
    live_expect(t, "iodash-2");
    live_expect(t, "nothing is measured");
    live_until_measured(t);
    tty_keys(t, "2");
    live_expect(t, "[2 table]");
    tty_keys(t, "q ");
    live_expect(t, "this is a saved session");
    assert_int_equal(children_of(tty_pid(t), "--server-child", servers, 4), 0);
    tty_resize(t, 15, 60);
    live_expect(t, "? help  q quit");
    tty_resize(t, 24, 80);
    tty_keys(t, "2\r"); /* measured anew: now there are servers */
    live_expect(t, "load on");
    for (int i = 0; i < 400 && children_of(tty_pid(t), "--server-child", servers, 4) < 2; i++)
        tty_pump(t, 50);
    assert_int_equal(children_of(tty_pid(t), "--server-child", servers, 4), 2);
    live_leave(t);
    free(path);
}

static void a_killed_session_is_recovered(void **state)
{
    (void)state;
    static char state_home[300], config[300];
    static const char *const warm[] = {"--warmup", "0", NULL};
    struct tty *t = live_start((struct tty_want){.args = warm});
    live_expect(t, "two servers under the same load"); /* the first start */
    live_until_measured(t);
    struct wanted w = {tty_folder(t), 9}; /* the header and four rounds */
    if (!tty_until(t, has_lines, &w, LATER)) {
        tty_dump(t, "no autosave");
        fail();
    }
    tty_signal(t, SIGKILL);
    assert_true(tty_until_ended(t, SOON));
    char *before = text_of(state_file(w.folder, "autosave-", ".csv"));
    assert_true(lines_of(before) >= 9);

    snprintf(state_home, sizeof state_home, "XDG_STATE_HOME=%s", w.folder);
    snprintf(config, sizeof config, "XDG_CONFIG_HOME=%s", w.folder);
    const char *const env[] = {state_home, config, NULL};
    struct tty *again = live_start((struct tty_want){.env = env, .args = warm});
    live_expect(again, "recovered session of");
    char *after = text_of(state_file(w.folder, "recovered-", ".csv"));
    assert_string_equal(before, after);
    free(before);
    free(after);

    live_until_measured(again);
    tty_keys(again, "o");
    live_expect(again, "recovered, of");
    tty_keys(again, "\r");
    live_expect(again, "recovered-2");
    live_expect(again, "20 connections");
    live_expect(again, "µs CPU a request");
    tty_keys(again, "s"); /* into a file of its own */
    live_expect(again, "saved as iodash-");
    tty_keys(again, "q");
    live_expect(again, "load on"); /* the one that measures goes on */
    live_leave(again);
    assert_string_equal(state_file(w.folder, "autosave-", ""), "");
    a_saved_session_is_opened(tty_folder(again));
}

#define IN_TERMINAL(f) cmocka_unit_test_teardown(f, tty_close_all)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_TERMINAL(a_killed_session_is_recovered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
