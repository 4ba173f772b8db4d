/* SPDX-License-Identifier: MIT */
/* `iodash doctor`: what this machine allows, and what will spoil a measurement. A check is one
 * function and one row: it writes a figure and, where something should be mended, the one line that
 * says how. Advice, not judgement: the exit status is always 0. */
#include "cli/cli.h"

#include <langinfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/doctor.h"
#include "cli/grid.h"
#include "load/workloads.h"
#include "metrics/proc.h"
#include "servers/io_models.h"
#include "session/reach.h"

/* --- sockets --------------------------------------------------------------------------------- */

/* The largest published row: 10240 idle connections and 10 that ask, and room for ourselves. */
#define NOFILE_WANTED 10400
#define PORTS_WANTED 10400
#define SOMAXCONN_WANTED 1024

static void check_descriptors(struct finding *f)
{
    long soft = cli_nofile_before(), hard = limits_nofile_hard();
    FIGURE(f, "soft %ld, hard %ld%s", soft, hard,
           soft < limits_nofile_soft() ? "; iodash takes the hard one" : "");
    if (hard < NOFILE_WANTED)
        FIX(f, "raise the hard limit: ulimit -Hn 20000 as root, LimitNOFILE=, or limits.conf");
}

static void check_ports(struct finding *f)
{
    long ports = limits_local_ports();
    if (ports < 0) {
        FIGURE(f, "unknown");
        return;
    }
    FIGURE(f, "%ld for each server", ports);
    if (ports < PORTS_WANTED)
        FIX(f, "sysctl -w net.ipv4.ip_local_port_range='10000 65000'");
}

static void check_time_wait(struct finding *f)
{
    long busy = limits_time_wait(), ports = limits_local_ports();
    if (busy < 0) {
        FIGURE(f, "unknown");
        return;
    }
    FIGURE(f, "%ld sockets", busy);
    if (ports > 0 && busy > ports / 5)
        FIX(f, "wait a minute: each holds a local port for 60 s");
}

static void check_somaxconn(struct finding *f)
{
    long most = limits_somaxconn();
    if (most < 0) {
        FIGURE(f, "unknown");
        return;
    }
    FIGURE(f, "%ld", most);
    if (most < SOMAXCONN_WANTED)
        FIX(f, "sysctl -w net.core.somaxconn=4096, or the accept queue ends at %ld", most);
}

static void check_syncookies(struct finding *f)
{
    static const char *const words[] = {"0, off", "1, when the queue is full", "2, always"};
    long v = limits_syncookies();
    FIGURE(f, "%s", v >= 0 && v <= 2 ? words[v] : "unknown");
    if (v == 2)
        FIX(f, "sysctl -w net.ipv4.tcp_syncookies=1: always on changes what a full queue does");
}

static void check_slabs(struct finding *f)
{
    bool readable = proc_socket_bytes() >= 0;
    FIGURE(f, "/proc/slabinfo %s", readable ? "can be read" : "cannot be read");
    if (!readable)
        FIX(f, "run hold as root, or what a connection costs the kernel is not measured");
}

/* --- terminal -------------------------------------------------------------------------------- */

static void check_terminal(struct finding *f)
{
    const char *term = getenv("TERM");
    char echo[48];
    if (!term || !*term) {
        FIGURE(f, "TERM is not set");
        FIX(f, "export TERM=xterm-256color, or use iodash run");
        return;
    }
    FIGURE(f, "%s", params_echo(term, echo, sizeof echo));
    if (!strcmp(term, "dumb"))
        FIX(f, "export TERM=xterm-256color: a dumb terminal cannot hold the dashboard");
}

static void check_size(struct finding *f)
{
    struct winsize w;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) < 0 && ioctl(STDIN_FILENO, TIOCGWINSZ, &w) < 0) {
        FIGURE(f, "stdin and stdout are no terminal");
        return;
    }
    FIGURE(f, "%dx%d", w.ws_col, w.ws_row);
    if (w.ws_col < 80 || w.ws_row < 24)
        FIX(f, "80x24 shows everything, 60x15 is the least");
}

static void check_colours(struct finding *f)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM"), *more = getenv("COLORTERM");
    if (no && *no)
        FIGURE(f, "none: NO_COLOR is set");
    else if ((more && *more) || (term && strstr(term, "256")))
        FIGURE(f, "256 or more");
    else
        FIGURE(f, "as the terminal says");
}

static void check_charset(struct finding *f)
{
    FIGURE(f, "%s", nl_langinfo(CODESET));
    if (!cli_utf8())
        FIX(f, "export LC_ALL=C.UTF-8: finer graphs (braille)");
}

/* --- all ------------------------------------------------------------------------------------- */

static const struct check checks[] = {
    {"descriptors", check_descriptors},
    {"local ports", check_ports},
    {"in TIME_WAIT", check_time_wait},
    {"somaxconn", check_somaxconn},
    {"SYN cookies", check_syncookies},
    {"kernel memory", check_slabs},
};

static const struct check of_terminal[] = {
    {"terminal", check_terminal},
    {"screen", check_size},
    {"colours", check_colours},
    {"character set", check_charset},
};

/* The i-th of all of them, NULL past the last. */
static const struct check *check_at(int i)
{
    const int sockets = sizeof checks / sizeof *checks;
    const int terminal = sizeof of_terminal / sizeof *of_terminal;
    if (i < sockets)
        return &checks[i];
    if (i < sockets + doctor_machine_count)
        return &doctor_machine[i - sockets];
    i -= sockets + doctor_machine_count;
    return i < terminal ? &of_terminal[i] : NULL;
}

bool doctor_look(const char *name, struct finding *f)
{
    *f = (struct finding){"", ""};
    for (int i = 0; check_at(i); i++)
        if (!strcmp(check_at(i)->name, name)) {
            check_at(i)->look(f);
            return true;
        }
    return false;
}

static void add(struct grid *g, const char *name, const struct finding *f)
{
    const char *mark = cli_utf8() ? (*f->fix ? "▲" : "✔") : (*f->fix ? "!" : "ok");
    char all[sizeof f->figure + sizeof f->fix + 8];
    snprintf(all, sizeof all, "%s%s%s", f->figure, *f->fix ? "  -> " : "", f->fix);
    grid_add(g, (const char *const[]){mark, name, all});
}

static void add_workload(struct grid *g, const struct workload *w, const struct reach_limits *l)
{
    struct finding f = {"", ""};
    struct reach r;
    struct params p;
    params_init(&p);
    p.workload = (double)(w - workload_table);
    workload_resolve(&p);
    reach_of(&p, l, 2, &r);
    FIGURE(&f, "up to %.0f connections (%s), %.0f by default", r.connections, r.why, p.connections);
    if (r.connections < p.connections)
        FIX(&f, "more %s (above), or -c %.0f", r.why, r.connections);
    add(g, w->id, &f);
}

/* Only models with something to say: one that cannot run here, or has a limit of its own. */
static void add_model(struct grid *g, const struct io_model *m)
{
    struct finding f = {"", ""};
    struct err e = {""};
    if (io_model_probe(m, &e) < 0) {
        FIGURE(&f, "cannot run here");
        FIX(&f, "%.190s", e.text);
    } else if (m->caps & CAP_FD_LIMIT) {
        FIGURE(&f, "its server takes descriptors below %d, and refuses what is above", FD_SETSIZE);
    } else {
        return;
    }
    add(g, m->id, &f);
}

int cli_doctor(const struct args *a)
{
    static const char *const heads[] = {"", "what", "figure", NULL};
    struct reach_limits limits;
    struct grid g;
    (void)a;
    grid_init(&g, heads);
    for (int i = 0; check_at(i); i++) {
        struct finding f = {"", ""};
        check_at(i)->look(&f);
        add(&g, check_at(i)->name, &f);
    }
    reach_limits_read(&limits);
    for (int i = 0; i < workload_count; i++)
        add_workload(&g, &workload_table[i], &limits);
    for (int i = 0; i < io_model_count; i++)
        add_model(&g, io_model_table[i]);
    grid_print(&g, GRID_TEXT, !cli_utf8(), stdout);
    grid_fini(&g);
    return cli_flush(0);
}
