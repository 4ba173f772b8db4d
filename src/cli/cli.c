/* SPDX-License-Identifier: MIT */
/* The command table, and what all commands share: picking one, help, and the one form of an error.
 * A command is a row here and a file beside; its help is made from its row and the parameters. */
#include "cli/cli.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "load/workloads.h"
#include "net/protocol.h"
#include "servers/server.h"
#include "ui/text.h"

static const char *const dash_options[] = {"models", "plan", "at", "charset", "theme", "no_color",
                                           "attach", "pid", ""};
static const char *const run_options[] = {"models", "plan",    "at",    "output",    "format",
                                          "quiet",  "fail_if", "find_rate", "attach", "pid", ""};
static const char *const serve_options[] = {"models", "listen", "quiet", ""};
static const char *const serve_params[] = {"size", "workers", "backlog", "accept", "buffer",
                                           "socket_buffer", "events", "nodelay", "client_work",
                                           "place", "pin", "protocol", "suffix", ""};
static const struct args_words serve_words[] = {
    {"models", "MODEL", "the model that serves (list models names them)"},
    {"place", "process|inside",
     "the server as a process of its own, or as threads of this one (default inside)"},
    {"quiet", "", "no status lines on stderr"},
    {NULL, NULL, NULL}};
static const char *const load_options[] = {"pid",   "output",  "format",
                                           "quiet", "fail_if", "find_rate", ""};
static const char *const of_servers[] = {"workers", "backlog", "accept", "buffer", "events",
                                         "client_work", "place", "protocol", ""};
static const char load_notes[] =
    "  http://HOST[:PORT][/PATH][?QUERY]  fetch://HOST:PORT  echo://HOST:PORT  "
    "discard://HOST:PORT\n"
    "  HOST:PORT alone is http. HOST: a name, an IPv4 address, an IPv6 address in brackets.\n"
    "  Exit 1 also when nobody listens, nothing was answered or the process of --pid ended.\n";
static const char compare_notes[] = "  The session is the unit: rows match by workload, model and "
                                    "all parameters, and a figure is judged\n"
                                    "  by how far sessions lie apart. With fewer than three a side "
                                    "that is unknown: nothing is worse,\n"
                                    "  unless --spread says it.\n";
static char list_notes[240]; /* made of the listings when the program starts */
static const char *const list_options[] = {"format", ""};
static const char *const claims_options[] = {"output", "format", "quiet", ""};
static const struct args_words claims_words[] = {
    {"output", "FILE.md", "save the verdicts here, as a Markdown table"}, {NULL, NULL, NULL}};
static const char claims_notes[] =
    "  Without a NAME all that came with the program are tried, which takes about two minutes;\n"
    "  FILE.ini is a claim of one's own. The verdicts do not change the exit status.\n";
static const char *const open_options[] = {"charset", "theme", "no_color", ""};
static const char open_notes[] =
    "  Nothing is measured: its rows, its last samples and what it answers are looked at.\n"
    "  FILE-tables.csv beside it is not needed.\n";
static const char *const compare_options[] = {"format", "spread", ""};
static const char *const plot_options[] = {"output", "plot", "figure", "axis", "axes", ""};
static const struct args_words plot_option_words[] = {
    {"output", "FILE.svg|FILE.png", "the picture; it must not exist"}, {NULL, NULL, NULL}};
static const char plot_notes[] =
    "  Drawn by gnuplot. Parameters choose among the rows of the session. Where gnuplot is\n"
    "  missing its script and data are left beside (exit 1).\n";
static const char *const no_options[] = {""};

const struct command_line cli_table[] = {
    {"", "[PARAM...]", "the dashboard: servers side by side under the same load",
     {.accepts = dash_options}, cli_dash, NULL},
    {"run", "run [PARAM...] [-o FILE.csv]",
     "measure with no dashboard: progress on stderr, tables and the answer on stdout",
     {.accepts = run_options}, cli_run, NULL},
    {"serve", "serve -m MODEL --listen ADDR:PORT [PARAM...]",
     "one server in the foreground, for another machine or a real client; http by default",
     {.accepts = serve_options, .params = serve_params, .one_value = true, .words = serve_words},
     cli_serve, NULL},
    {"load", "load URL|ADDR:PORT [--pid PID] [PARAM...] [-o FILE.csv]",
     "only the load, on any server; rate max, 1 s of warm-up and 10 s unless told otherwise",
     {.accepts = load_options, .without = of_servers, .operands = 1}, cli_load, load_notes},
    {"claims", "claims [-o FILE.md] [NAME|FILE.ini...]",
     "what is said of these models, tried here: true, false, depends or not measured, with figures",
     {.accepts = claims_options, .no_params = true, .operands = ARGS_OPERANDS,
      .words = claims_words}, cli_claims, claims_notes},
    {"open", "open FILE.csv", "the dashboard over a saved session",
     {.accepts = open_options, .no_params = true, .operands = 1}, cli_open, open_notes},
    {"compare", "compare [--spread PCT] A.csv... -- B.csv...",
     "saved sessions beside saved sessions; three or more a side can exit 3: B is worse",
     {.accepts = compare_options, .no_params = true, .operands = ARGS_OPERANDS}, cli_compare,
     compare_notes},
    {"plot", "plot FILE.csv -o FILE.svg|FILE.png [--plot KIND] [PARAM...]",
     "a picture of a saved session: curves, time series, or the latency of a row",
     {.accepts = plot_options, .operands = 1, .one_value = true, .words = plot_option_words},
     cli_plot, plot_notes},
    {"list", "list TABLE [--format markdown]",
     "a table of what there is: models, workloads, metrics, keys and more; --help names them all",
     {.accepts = list_options, .no_params = true, .operands = 1}, cli_list, list_notes},
    {"doctor", "doctor", "what this machine allows, and what will spoil a measurement",
     {.accepts = no_options, .no_params = true}, cli_doctor, NULL},
};
const int cli_count = sizeof cli_table / sizeof *cli_table;

static long nofile_before;

bool cli_child(int argc, char **argv, int *status)
{
    return server_child(argc, argv, status);
}

static void write_list_notes(void)
{
    char tables[200];
    const char *at = cli_list_tables(tables, sizeof tables), *next;
    size_t used = 0;
    for (; *at && used < sizeof list_notes; at = next) {
        int n = (int)text_break(at, 96, &next);
        used += (size_t)snprintf(list_notes + used, sizeof list_notes - used, "  %.*s\n", n, at);
    }
}

void cli_start(void)
{
    setlocale(LC_CTYPE, ""); /* numbers keep their point in every locale */
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is an error to tell */
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    write_list_notes();
    nofile_before = limits_nofile_soft();
    limits_raise_nofile();
}

long cli_nofile_before(void)
{
    return nofile_before;
}

bool cli_utf8(void)
{
    return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

int cli_fail(int status, const char *text)
{
    fputs("iodash: ", stderr);
    while (*text) {
        char buf[8];
        wchar_t ch = text_next(&text);
        text_utf8(ch < 0x80 || cli_utf8() ? ch : text_ascii(ch), buf);
        fputs(buf, stderr);
    }
    fputc('\n', stderr);
    return status;
}

int cli_status(int error)
{
    return error == -EINVAL ? 2 : 1;
}

int cli_flush(int status)
{
    char text[128];
    if (!fflush(stdout) && !ferror(stdout))
        return status;
    snprintf(text, sizeof text, "standard output: %s", strerror(errno ? errno : EIO));
    return cli_fail(1, text);
}

/* --- help ------------------------------------------------------------------------------------ */

static void print_commands(void)
{
    printf("iodash %s: servers that wait for their sockets in different ways, side by side\n\n",
           IODASH_VERSION);
    for (int i = 0; i < cli_count; i++)
        printf("  iodash %s\n      %s\n", cli_table[i].synopsis, cli_table[i].summary);
    puts("\nCOMMAND --help tells the options of each; those of the dashboard:\n");
}

static int print_help(const struct command_line *c)
{
    if (*c->word)
        printf("usage: iodash %s\n  %s\n%s\n", c->synopsis, c->summary, c->notes ? c->notes : "");
    else
        print_commands();
    char *options = args_help(&c->rules);
    fputs(options, stdout);
    free(options);
    puts("\nexit: 0 done, 1 the system says no, 2 wrong usage, 3 a condition failed, 130 "
         "interrupted");
    return cli_flush(0);
}

static int print_version(void)
{
    printf("iodash %s\n", IODASH_VERSION);
    return cli_flush(0);
}

/* --- picking --------------------------------------------------------------------------------- */

static const char *command_word(int i)
{
    return i + 1 < cli_count ? cli_table[i + 1].word : NULL; /* without the dashboard's "" */
}

static const struct command_line *find_command(const char *word)
{
    for (int i = 0; i < cli_count; i++)
        if (!strcmp(cli_table[i].word, word))
            return &cli_table[i];
    return NULL;
}

/* What others make commands of. */
static const char *option_for(const char *word)
{
    if (!strcmp(word, "help"))
        return "iodash --help names them";
    return strcmp(word, "version") ? NULL : "iodash --version says which this is";
}

static int unknown_command(const char *word)
{
    char text[256], echo[64], all[128] = "";
    const char *near = params_nearest(word, command_word), *option = option_for(word);
    if (option) {
        snprintf(text, sizeof text, "%s: no such command; %s", word, option);
        return cli_fail(2, text);
    }
    for (int i = 0; command_word(i); i++) {
        size_t n = strlen(all);
        snprintf(all + n, sizeof all - n, "%s%s", i ? ", " : "", command_word(i));
    }
    snprintf(text, sizeof text, "%s: no such command%s%s%s (%s)",
             params_echo(word, echo, sizeof echo), near ? "; did you mean " : "", near ? near : "",
             near ? "?" : "", all);
    return cli_fail(2, text);
}

int cli_main(int argc, char **argv)
{
    bool dashboard = argc < 2 || argv[1][0] == '-';
    const struct command_line *c = find_command(dashboard ? "" : argv[1]);
    if (!c || (!dashboard && !*c->word))
        return unknown_command(argv[1]);
    struct args args;
    struct err e;
    int skip = dashboard ? 0 : 1;
    int error = args_parse(argc - skip, argv + skip, &c->rules, &args, &e);
    if (error)
        return cli_fail(cli_status(error), e.text);
    if (args.help)
        return print_help(c);
    return args.version ? print_version() : c->run(&args);
}
