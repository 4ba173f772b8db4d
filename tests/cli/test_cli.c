/* SPDX-License-Identifier: MIT */
/* The command line of the real binary: help, version, tables, doctor, a line for each mistake. */
#include "cli/cli.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/program.h"
#include "load/workloads.h"
#include "metrics/metrics.h"
#include "servers/io_models.h"
#include "ui/commands.h"

static struct program p;

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

static int run_words(const char *const *words)
{
    return program_run(&p, &(struct program_want){.words = words});
}

/* Exit 0, nothing on stderr. */
static const char *output_of(const char *const *words)
{
    int status = run_words(words);
    if (status || *p.err)
        fail_msg("%s %s: %d, %s", words[0], words[1] ? words[1] : "", status, p.err);
    return p.out;
}

static void help_of_each_command(void **state)
{
    (void)state;
    for (int i = 0; i < cli_count; i++) {
        const struct command_line *c = &cli_table[i];
        for (int letter = 0; letter < 2; letter++) {
            const char *flag = letter ? "-h" : "--help";
            const char *text = output_of(*c->word ? WORDS(c->word, flag) : WORDS(flag));
            assert_non_null(strstr(text, c->summary));
            assert_non_null(strstr(text, "--version"));
            for (int id = 0; id < PARAM_COUNT; id++) {
                char option[40];
                params_flag(id, option, sizeof option - 1);
                strcat(option, " "); /* --accept is not --accepted */
                assert_int_equal(strstr(text, option) != NULL, args_takes(&c->rules, id));
            }
            for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
                assert_true(strcspn(line, "\n") <= 100);
        }
    }
    for (int i = 0; i < cli_count; i++) /* the dashboard's names them all */
        assert_non_null(strstr(output_of(WORDS("--help")), cli_table[i].synopsis));
}

static void version_of_each_command(void **state)
{
    (void)state;
    for (int i = 0; i < cli_count; i++) {
        const char *word = cli_table[i].word;
        output_of(*word ? WORDS(word, "--version") : WORDS("--version"));
        assert_int_equal(strncmp(p.out, "iodash ", 7), 0);
        assert_int_equal(lines_of(p.out), 1);
    }
}

/* The words of the tables where they fit, those of the command where they do not. */
static void help_speaks_of_its_command(void **state)
{
    (void)state;
    output_of(WORDS("serve", "--help"));
    assert_non_null(strstr(p.out, "--models MODEL"));
    assert_non_null(strstr(p.out, "default inside"));
    assert_null(strstr(p.out, "panes"));
    assert_null(strstr(p.out, "progress"));
    output_of(WORDS("run", "--help"));
    assert_non_null(strstr(p.out, "panes"));
    output_of(WORDS("list", "--help"));
    assert_non_null(strstr(p.out, "loopback"));
}

/* A word at the start of a line, or of a Markdown row. */
static bool row_of(const char *text, const char *begin, const char *word)
{
    char row[128];
    snprintf(row, sizeof row, "\n%s%s ", begin, word);
    return strstr(text, row) != NULL;
}

static void tables_hold_every_row(void **state)
{
    static const char *const begins[] = {"", "| "};
    (void)state;
    for (int markdown = 0; markdown < 2; markdown++) {
        const char *format = markdown ? "markdown" : "text", *begin = begins[markdown];
        output_of(WORDS("list", "models", "--format", format));
        for (int i = 0; i < io_model_count; i++)
            assert_true(row_of(p.out, begin, io_model_table[i]->id));
        output_of(WORDS("list", "workloads", "--format", format));
        for (int i = 0; i < workload_count; i++)
            assert_true(row_of(p.out, begin, workload_table[i].id));
        output_of(WORDS("list", "metrics", "--format", format));
        for (int i = 0; i < METRIC_COUNT; i++)
            assert_true(row_of(p.out, begin, metric_table[i].id));
        output_of(WORDS("list", "params", "--format", format));
        for (int i = 0; i < PARAM_COUNT; i++)
            assert_true(row_of(p.out, begin, param_table[i].id));
        output_of(WORDS("list", "plans", "--format", format));
        assert_true(row_of(p.out, begin, "transfer"));
        output_of(WORDS("list", "keys", "--format", format));
        for (int i = 0; i < command_count; i++)
            assert_non_null(strstr(p.out, command_table[i].help));
    }
}

static void markdown_rows_have_equal_cells(void **state)
{
    static const char *const tables[] = {"models",  "workloads", "params",
                                         "metrics", "keys",      "plans"};
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        output_of(WORDS("list", tables[i], "--format", "markdown"));
        int cells = -1;
        for (char *line = p.out; *line; line += strcspn(line, "\n") + 1) {
            int n = 0;
            for (char *c = line; *c != '\n'; c++)
                n += *c == '|' && c[-(c > line)] != '\\';
            assert_true(*line == '|' && (cells < 0 || n == cells));
            cells = n;
        }
        assert_int_equal(strncmp(strchr(p.out, '\n') + 1, "| --- |", 7), 0);
    }
}

static void list_names_its_tables(void **state)
{
    static const char *const tables[] = {"models", "options", "commands", "themes", "loopback"};
    (void)state;
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        assert_non_null(strstr(output_of(WORDS("list", "--help")), tables[i]));
}

static void csv_lists_are_quoted(void **state)
{
    (void)state;
    output_of(WORDS("list", "models", "--format", "csv"));
    assert_int_equal(strncmp(p.out, "\"model\",\"group\",", 16), 0);
    assert_int_equal(lines_of(p.out), io_model_count + 1);
    assert_non_null(strstr(p.out, "\"here\""));
    output_of(WORDS("list", "workloads", "--format", "csv"));
    for (int i = 0; i < workload_count; i++) /* whole, however long */
        for (const enum metric_id *m = workload_table[i].yields; *m != METRIC_COUNT; m++)
            assert_non_null(strstr(p.out, metric_table[*m].id));
}

/* A page that is kept holds nothing about the machine it was made on. */
static void markdown_is_the_same_everywhere(void **state)
{
    (void)state;
    assert_null(strstr(output_of(WORDS("list", "models", "--format", "markdown")), "here"));
}

static bool is_ascii(const char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text >= 0x80)
            return false;
    return true;
}

static void ascii_where_the_locale_is(void **state)
{
    static const char *const env[] = {"LC_ALL=C", NULL};
    (void)state;
    const char *const *lines[] = {WORDS("list", "keys"), WORDS("list", "models"), WORDS("doctor"),
                                  WORDS("--help"), WORDS("list", "plans")};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(program_run(&p, &(struct program_want){.words = lines[i], .env = env}), 0);
        assert_true(is_ascii(p.out));
    }
}

static void no_escape_bytes(void **state)
{
    (void)state;
    assert_null(strchr(output_of(WORDS("list", "keys")), 0x1b));
    assert_null(strchr(output_of(WORDS("doctor")), 0x1b));
}

static void doctor_looks_at_everything(void **state)
{
    static const char *const names[] = {
        "descriptors",
        "local ports",
        "in TIME_WAIT",
        "somaxconn",
        "SYN cookies",
        "CPUs",
        "SMT siblings",
        "NUMA",
        "pinning",
        "governor",
        "boost",
        "clock source",
        "TSC",
        "ticks",
        "HZ",
        "soft interrupts",
        "system call",
        "load average",
        "steal",
        "load engines",
        "conntrack",
        "nftables",
        "counters",
        "terminal",
        "screen",
        "colours",
        "character set",
    };
    (void)state;
    const char *text = output_of(WORDS("doctor"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_non_null(strstr(text, names[i]));
    for (int i = 0; i < workload_count; i++)
        assert_non_null(strstr(text, workload_table[i].id));
    assert_non_null(strstr(text, "below 1024")); /* select */
}

/* The line of a check, or NULL. */
static const char *line_of(const char *name)
{
    static char line[512];
    char *at = strstr(p.out, name);
    if (!at)
        return NULL;
    while (at > p.out && at[-1] != '\n')
        at--;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(at, "\n"), at);
    return line;
}

static void doctor_warns_with_a_fix(void **state)
{
    static const char *const bad[] = {"LC_ALL=C", "TERM=dumb", NULL};
    static const char *const good[] = {"LC_ALL=C.UTF-8", "TERM=xterm-256color", "NO_COLOR=1", NULL};
    (void)state;
    assert_int_equal(program_run(&p, &(struct program_want){WORDS("doctor"), bad, NULL}), 0);
    assert_int_equal(strncmp(line_of("terminal"), "! ", 2), 0);
    assert_non_null(strstr(line_of("terminal"), "-> export TERM="));
    assert_non_null(strstr(line_of("character set"), "-> export LC_ALL="));
    assert_int_equal(strncmp(line_of("ticks"), "ok ", 3), 0);
    assert_int_equal(program_run(&p, &(struct program_want){WORDS("doctor"), good, NULL}), 0);
    assert_null(strstr(line_of("terminal"), "->"));
    assert_null(strstr(line_of("character set"), "->"));
    assert_non_null(strstr(line_of("colours"), "NO_COLOR"));
}

/* --- mistakes -------------------------------------------------------------------------------- */

static const struct mistake {
    const char *words[8];
    int status;
    const char *says[4];
} mistakes[] = {
    {{"rum"}, 2, {"rum: no such command", "did you mean run?", "doctor"}},
    {{"xyzzy"}, 2,
     {"xyzzy: no such command", "run, serve, load, claims, open, compare, plot, list, doctor"}},
    {{""}, 2, {"\"\": no such command"}},
    {{"help"}, 2, {"help: no such command; iodash --help names them"}},
    {{"version"}, 2, {"version: no such command; iodash --version says which this is"}},
    {{"plot", "a.csv", "-o", "a.svg", "--figure", "qqqq"}, 2,
     {"--figure qqqq", "iodash list metrics"}},
    {{"plot", "a.csv", "-o", "a.svg", "--axis", "qqqq"}, 2, {"--axis qqqq", "iodash list params"}},
    {{"run", "-c", "1,1,1"}, 2, {"--connections 1: the list holds it already"}},
    {{"\x1b[31m\xe6\x97\xa5\n"}, 2, {"?[31m??: no such command"}},
    {{"--conections", "5"}, 2, {"--conections: no such option; did you mean --connections?"}},
    {{"run", "--conections", "5"}, 2, {"--conections", "--connections?"}},
    {{"run", "-c", "0"}, 2, {"--connections 0: must be a whole number, 1 to 1000000"}},
    {{"run", "-c", ""}, 2, {"--connections \"\": must be"}},
    {{"run", "-c", "-5"}, 2, {"--connections -5: must be"}},
    {{"run", "-c", "4x"}, 2, {"--connections 4x: must be", "units: k, M"}},
    {{"run", "-c", "0x10"}, 2, {"--connections 0x10: must be"}},
    {{"run", "--rate", "0"}, 2, {"--rate 0: must be 0.001 to 100000000 /s, or max"}},
    {{"run", "--rate", "nan"}, 2, {"--rate nan: must be"}},
    {{"run", "--rate", "inf"}, 2, {"--rate inf: must be"}},
    {{"run", "-c", "800..100:100"}, 2, {"--connections 800..100:100: a range counts upwards"}},
    {{"run", "-c", "1..9:0"}, 2, {"the step of a range"}},
    {{"run", "-c", "1..1000:1"}, 2, {"more than 256 values"}},
    {{"run", "-c", "1,2", "--idle=1,2", "--rate=1,2"}, 2, {"--rate: a third list"}},
    {{"run", "--samples", "1,2"}, 2, {"--samples 1,2: takes one value, no list"}},
    {{"run", "--duration", "5", "--samples", "5"}, 2, {"--duration", "--samples"}},
    {{"run", "-w", "transfr"}, 2, {"--workload transfr", "did you mean transfer?", "connect"}},
    {{"run", "-m", "epol-lt"}, 2, {"epol-lt", "epoll-lt", "select"}},
    {{"run", "-m", ","}, 2, {""}},
    {{"run", "-m", "select,poll,epoll-lt,epoll-et,select"}, 2, {"4"}},
    {{"run", "-m", "all,poll"}, 2, {"'all'", "alone"}},
    {{"run", "-m", "select,blocking", "--workers", "2"}, 2, {"--workers", "blocking has its own"}},
    {{"run", "-m", "pool", "--workers", "1,2"}, 2, {"--workers", "pool has its own workers"}},
    {{"run", "--client-work", "-1"}, 2, {"--client-work -1", "0 to 1000000 us"}},
    {{"run", "--protocol", "htp"}, 2, {"--protocol htp", "did you mean http?", "echo"}},
    {{"run", "--protocol", "discard"}, 2, {"--protocol discard: it replies nothing", "transfer"}},
    {{"run", "--suffix", "yes"}, 2, {"--suffix yes", "off or on"}},
    {{"run", "--format", "xml"}, 2, {"--format xml", "text|markdown|csv"}},
    {{"run", "-o"}, 2, {"--output: needs a value"}},
    {{"run", "400"}, 2, {"400: not expected here"}},
    {{"run", "rate", "max"}, 2, {"did you mean --rate?"}},
    {{"run", "--charset", "ascii"}, 2, {"--charset: not an option of this command"}},
    {{"run", "-o", "no-such-folder/x.csv"}, 1, {"no-such-folder"}},
    {{"run", "-c", "1M"}, 1, {"1000000", "descriptors"}},
    {{"run", "--plan", "no-such-plan"}, -1, {"no-such-plan"}},
    {{"--charset", "emoji"}, 2, {"--charset emoji", "ascii"}},
    {{"list"}, 2, {"list: needs the name of a table", "models", "plans"}},
    {{"list", "model"}, 2, {"model: no such table", "did you mean models?", "plans"}},
    {{"list", "qqqq"},
     2,
     {"qqqq: no such table", "(models, targets, workloads, params, metrics, verdicts,"}},
    {{"list", "models", "keys"}, 2, {"keys: one word too many"}},
    {{"list", "models", "-c", "5"}, 2, {"-c: not an option of this command"}},
    {{"list", "models", "--format", "html"}, 2, {"--format html"}},
    {{"doctor", "who"}, 2, {"who: not expected here"}},
    {{"doctor", "--quiet"}, 2, {"--quiet: not an option of this command"}},
    {{"serve"}, 2, {"needs a model", "-m"}},
    {{"serve", "-m", "select"}, 2, {"needs an address", "--listen"}},
    {{"serve", "-m", "select,poll", "--listen", "127.0.0.1:0"}, 2, {"one model, not 2"}},
    {{"serve", "-m", "all", "--listen", "127.0.0.1:0"}, 2, {"'all'"}},
    {{"serve", "-m", "pool", "--listen", "127.0.0.1:0", "--workers", "3"},
     2,
     {"pool has its own workers"}},
    {{"serve", "-m", "nginx", "--listen", "127.0.0.1:0"}, 2, {"nginx", "epoll-lt"}},
    {{"serve", "-m", "select", "--listen", "127.0.0.1"}, 2, {"127.0.0.1", "port"}},
    {{"serve", "-m", "select", "--listen", "127.0.0.1:99999"}, 2, {"99999", "port"}},
    {{"serve", "-m", "select", "--listen", "127.0.0.1:0", "--workers", "1,2"},
     2,
     {"--workers 1,2: takes one value here, no list"}},
    {{"serve", "-m", "select", "--listen", "127.0.0.1:0", "--rate", "5"},
     2,
     {"--rate: not an option of this command"}},
    {{"serve", "-m", "select", "--listen", "127.0.0.1:0", "-c", "5"},
     2,
     {"-c: not an option of this command"}},
    {{"serve", "-m", "select", "--listen", "127.0.0.1:0", "warmup"}, 2, {"warmup: not expected"}},
    {{"serve", "-m", "select", "--listen", "192.0.2.1:0"}, 1, {"192.0.2.1"}},
};

static void each_mistake_is_one_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        const struct mistake *m = &mistakes[i];
        int status = run_words(m->words);
        bool right = m->status < 0 ? status == 1 || status == 2 : status == m->status;
        for (int k = 0; k < 4 && m->says[k]; k++)
            right = right && strstr(p.err, m->says[k]);
        right = right && lines_of(p.err) == 1 && !*p.out && !strncmp(p.err, "iodash: ", 8);
        if (!right)
            fail_msg("iodash %s %s %s: %d, \"%s\", \"%s\"", m->words[0],
                     m->words[1] ? m->words[1] : "", m->words[1] && m->words[2] ? m->words[2] : "",
                     status, p.err, p.out);
    }
}

static void no_terminal_is_told(void **state)
{
    (void)state;
    assert_int_equal(run_words(WORDS("-c", "10")), 1);
    assert_int_equal(lines_of(p.err), 1);
    assert_non_null(strstr(p.err, "terminal"));
    assert_null(strchr(p.out, 0x1b));
}

static void a_full_disk_is_told(void **state)
{
    const char *const *lines[] = {WORDS("list", "metrics"), WORDS("doctor"), WORDS("--help"),
                                  WORDS("--version")};
    (void)state;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct program_want want = {.words = lines[i], .out = "/dev/full"};
        assert_int_equal(program_run(&p, &want), 1);
        assert_int_equal(lines_of(p.err), 1);
        assert_non_null(strstr(p.err, "No space left"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(help_of_each_command),
        cmocka_unit_test(version_of_each_command),
        cmocka_unit_test(help_speaks_of_its_command),
        cmocka_unit_test(tables_hold_every_row),
        cmocka_unit_test(markdown_rows_have_equal_cells),
        cmocka_unit_test(list_names_its_tables),
        cmocka_unit_test(csv_lists_are_quoted),
        cmocka_unit_test(markdown_is_the_same_everywhere),
        cmocka_unit_test(ascii_where_the_locale_is),
        cmocka_unit_test(no_escape_bytes),
        cmocka_unit_test(doctor_looks_at_everything),
        cmocka_unit_test(doctor_warns_with_a_fix),
        cmocka_unit_test(each_mistake_is_one_line),
        cmocka_unit_test(no_terminal_is_told),
        cmocka_unit_test(a_full_disk_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
