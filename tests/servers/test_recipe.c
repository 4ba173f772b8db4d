/* SPDX-License-Identifier: MIT */
/* What a recipe may say, how its mistakes are named, and what becomes of it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"
#include "base/fake_tree.h"
#include "base/limits.h"
#include "net/protocol.h"
#include "servers/recipe.h"
#include "servers/targets.h"

#define GOOD "title = t\ncommand = true {port}\nprotocol = http\n"

static void splits(const char *line, const char *joined)
{
    char buf[512], all[512] = "", *words[KEEPER_WORDS];
    int n = recipe_words(line, buf, sizeof buf, words);
    for (int i = 0; i < n; i++) {
        strcat(all, i ? "|" : "");
        strcat(all, words[i]);
    }
    if (!joined)
        assert_int_equal(n, -EINVAL);
    else
        assert_string_equal(all, joined);
}

static void words(void **state)
{
    (void)state;
    splits("a b  c\td", "a|b|c|d");
    splits("  a ", "a");
    splits("", "");
    splits("\"a b\" 'c d'", "a b|c d");
    splits("a\"b c\"d", "ab cd");
    splits("\"\" x ''", "|x|");
    splits("\"say \\\"hi\\\" \\\\ \\n\"", "say \"hi\" \\ \\n");
    splits("'a\\b' $HOME *", "a\\b|$HOME|*");
    splits("\"it's\"", "it's");
    splits("\"a", NULL);
    splits("a 'b", NULL);
    splits("'", NULL);
    splits("\"a\\\"", NULL);
}

static void placeholders(void **state)
{
    (void)state;
    const struct recipe_values v = {.port = 8080, .size = 1024, .workers = 2, .backlog = 9,
                                    .dir = "/d", .recipe = "/r", .targets = "/t", .cache = "/c",
                                    .protocol = "echo"};
    char out[128];
    setenv("RECIPE_TEST", "jar", 1);
    assert_int_equal(recipe_expand("{port} {size} {workers} {backlog} {dir}/x {recipe} {cache} "
                                   "{$RECIPE_TEST}{$RECIPE_NONE}. {targets} {protocol}",
                                   &v, true, out, sizeof out), 0);
    assert_string_equal(out, "8080 1024 2 9 /d/x /r /c jar. /t echo");
    assert_int_equal(recipe_expand("{prot}", &v, true, out, sizeof out), -EINVAL);
    assert_int_equal(recipe_expand("http { a {prot} {} }", &v, false, out, sizeof out), 0);
    assert_string_equal(out, "http { a {prot} {} }");
    assert_int_equal(recipe_expand("{dir}{dir}{dir}", &v, false, out, 5), -ENAMETOOLONG);
}

static const char *write_recipe(const char *text)
{
    static char path[300];
    const char *folder = fake_tree_make();
    snprintf(path, sizeof path, "%s/one.ini", folder);
    fake_tree_write("/one.ini", text);
    return path;
}

static void problem(const char *text, const char *said)
{
    struct recipe r;
    recipe_read(write_recipe(text), &r);
    if (!strstr(r.problem, said))
        fail_msg("'%s' is not in '%s'", said, r.problem);
    assert_int_equal(recipe_probe(&r, NULL), -EINVAL);
    fake_tree_remove();
}

static void mistakes(void **state)
{
    (void)state;
    problem("title = t\ncomand = x\n",
            "one.ini, line 2: comand: no such key; did you mean command?");
    problem(GOOD "zzz = 1\n", "line 4: zzz: no such key; keys are title, command,");
    problem("protocol = http\ncommand = x\n", "title is missing");
    problem("title = t\ncommand = x\n", "protocol is missing");
    problem("title = t\nprotocol = gopher\n",
            "line 2: protocol gopher: must be one or some of fetch,");
    problem(GOOD "title = u\n", "line 4: title stands there twice");
    problem("title = t\ncommand = a 'b\n", "line 2: command: a quote has no end");
    problem("title = t\ncommand = a {prot}\n", "line 2: command: '{prot}' has a placeholder");
    problem(GOOD "port = 0\n", "line 4: port 0: must be a number above 0, at most 65535");
    problem(GOOD "timeout = 5 m\n", "line 4: timeout");
    problem(GOOD "ready = http\n", "line 4: ready http: must be connect");
    problem(GOOD "[more]\nx = 1\n", "line 5: [more]: a recipe has no sections");
    problem("title\n", "line 1: neither KEY = VALUE");
    struct recipe r;
    recipe_read("/nowhere/at/all.ini", &r);
    assert_non_null(strstr(r.problem, "cannot read the recipe /nowhere/at/all.ini"));
}

static void lines_that_go_on(void **state)
{
    (void)state;
    struct recipe r;
    struct err e = {""};
    recipe_read(write_recipe("title = t\ncommand = true\n  {port}\n  'a b'\nprotocol = echo http\n"
                             "port = 700\ntimeout = 2.5 s\nneeds = /dev/nu*l /none|/dev/null\n"),
                &r);
    assert_string_equal(r.problem, "");
    assert_string_equal(r.command, "true {port} 'a b'");
    assert_string_equal(r.name, "one");
    assert_int_equal(r.port, 700);
    assert_near(r.timeout_s, 2.5, 1e-9);
    assert_string_equal(protocol_table[r.protocol]->id, "echo");
    assert_int_equal(r.speaks, 1u << protocol_find("echo") | 1u << protocol_find("http"));
    assert_int_equal(recipe_probe(&r, &e), 0);
    fake_tree_remove();
}

static void lacks(const char *more, const char *said)
{
    char text[300];
    struct recipe r;
    struct err e = {""};
    snprintf(text, sizeof text, "title = t\nprotocol = http\n%s\n", more);
    recipe_read(write_recipe(text), &r);
    assert_string_equal(r.problem, "");
    assert_int_equal(recipe_probe(&r, &e), -ENOENT);
    assert_string_equal(e.text, said);
    fake_tree_remove();
}

static void what_is_no_program(void **state)
{
    static const char *const all[] = {"/etc/passwd", "/etc"};
    (void)state;
    for (int i = 0; i < 2; i++) {
        char text[200], said[200];
        struct recipe r;
        struct err e = {""};
        snprintf(text, sizeof text, "title = t\nprotocol = http\ncommand = %s\n", all[i]);
        snprintf(said, sizeof said, "%s is no program: it cannot be executed", all[i]);
        recipe_read(write_recipe(text), &r);
        assert_int_equal(recipe_probe(&r, &e), -EACCES);
        assert_string_equal(e.text, said);
        fake_tree_remove();
    }
}

static void what_is_missing(void **state)
{
    (void)state;
    lacks("command = no-such-thing\ninstall = a-package",
          "no-such-thing is not there; to install: a-package");
    lacks("command = no-such-thing", "no-such-thing is not there");
    lacks("command = /no/such/thing", "/no/such/thing is not there");
    lacks("command = true\nneeds = /dev/null /none/at|/all", "/none/at is not there");
    lacks("command = true\nneeds = {$RECIPE_NONE}", "RECIPE_NONE is not set");
    lacks("command = {cache}/made\nbuild = no-such-compiler", "no-such-compiler is not there");
}

/* What a keeper gets: a folder with templates filled in and the bytes of a reply. */
static void filled(void **state)
{
    (void)state;
    struct recipe r;
    struct err e = {""};
    struct keeper *k;
    struct params p;
    struct stat st;
    char path[PATH_MAX + 16], text[64];
    params_init(&p);
    p.size = 300;
    const char *from = write_recipe("title = t\ncommand = true {port} {dir}/conf\nprotocol = http\n"
                                    "files = conf\ndata = page\n");
    fake_tree_write("/one/conf", "listen {port} { keep {this} }");
    recipe_read(from, &r);
    assert_true(recipe_says(&r, "{size}") && recipe_says(&r, "{port}"));
    assert_false(recipe_says(&r, "{workers}"));
    int fd = keeper_new(&k, &e);
    assert_true(fd >= 0);
    if (recipe_fill(&r, &p, 4321, k, &e) < 0)
        fail_msg("%s", e.text);
    assert_int_equal(k->words, 3);
    assert_int_equal(k->text[0], '/'); /* found along the path */
    snprintf(path, sizeof path, "%s/conf", k->folder);
    assert_true(limits_read_file(path, text, sizeof text) > 0);
    assert_string_equal(text, "listen 4321 { keep {this} }");
    snprintf(path, sizeof path, "%s/page", k->folder);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 300);
    keeper_clear(k);
    assert_int_equal(stat(k->folder, &st), -1);
    keeper_free(k);
    close(fd);
    fake_tree_remove();
}

static void output(struct keeper *k, const char *text)
{
    uint64_t said = atomic_load(&k->said);
    for (size_t i = 0; text[i]; i++)
        k->output[said++ % KEEPER_SAID] = text[i];
    atomic_store(&k->said, said);
}

static void last_lines(void **state)
{
    (void)state;
    struct keeper *k;
    char out[40];
    int fd = keeper_new(&k, NULL);
    assert_string_equal(keeper_last_lines(k, out, sizeof out), "");
    output(k, "\n\none\r\n\ntwo \033[1m\n\n");
    assert_string_equal(keeper_last_lines(k, out, sizeof out), "one / two ?[1m");
    output(k, "\tat  f   (x) \n  b\n");
    assert_string_equal(keeper_last_lines(k, out, sizeof out), "one / two ?[1m / at f (x) / b");
    for (int i = 0; i < 2000; i++)
        output(k, "a longer line\n");
    assert_string_equal(keeper_last_lines(k, out, sizeof out), "a longer line / a longer line");
    output(k, "one line that is longer than there is room for it");
    assert_string_equal(keeper_last_lines(k, out, sizeof out),
                        "hat is longer than there is room for it");
    keeper_free(k);
    close(fd);
}

static void shipped(void **state)
{
    (void)state;
    int n = 0;
    for (const struct target *t; (t = targets_at(n)); n++) {
        if (t->recipe->problem[0])
            fail_msg("%s", t->recipe->problem);
        assert_true(t->recipe->install[0] || t->recipe->needs[0]);
        assert_ptr_equal(targets_find(t->id, NULL), &t->model);
    }
    assert_true(n >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words),           cmocka_unit_test(placeholders),
        cmocka_unit_test(mistakes),        cmocka_unit_test(lines_that_go_on),
        cmocka_unit_test(what_is_missing),
        cmocka_unit_test(what_is_no_program), cmocka_unit_test(filled),
        cmocka_unit_test(last_lines),      cmocka_unit_test(shipped),
    };
    return cmocka_run_group_tests_name("recipe", tests, NULL, NULL);
}
