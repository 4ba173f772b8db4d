/* SPDX-License-Identifier: MIT */
/* `iodash doctor`: what this machine allows, and what will spoil a measurement. A check is one
 * function and one row: it writes a figure and, where something should be mended, the one line that
 * says how. Advice, not judgement: the exit status is always 0. */
#include "cli/cli.h"

#include <langinfo.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/limits.h"
#include "base/units.h"
#include "cli/grid.h"
#include "load/workloads.h"
#include "metrics/prices.h"
#include "metrics/proc.h"
#include "net/uring_probe.h"
#include "servers/io_models.h"
#include "session/reach.h"

struct finding {
    char figure[160];
    char fix[160]; /* "" when all is well */
};

static void say(char *buf, size_t size, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static void say(char *buf, size_t size, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(buf, size, fmt, ap);
    va_end(ap);
}

#define FIGURE(f, ...) say((f)->figure, sizeof(f)->figure, __VA_ARGS__)
#define FIX(f, ...) say((f)->fix, sizeof(f)->fix, __VA_ARGS__)

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

/* --- CPUs and clocks ------------------------------------------------------------------------- */

static void check_cpus(struct finding *f)
{
    struct cpu_plan plan;
    char number[32];
    double usable = round(cpus_usable() * 100) / 100;
    cpus_plan(true, &plan);
    FIGURE(f, "%d allowed, %s usable by quota", plan.allowed,
           units_exact(number, sizeof number, usable));
    if (plan.allowed < 2)
        FIX(f, "give it two CPUs: with one, server and load take turns on it");
    else if (usable < 2)
        FIX(f, "lift the cgroup's cpu.max to two CPUs: throttling stops server and load alike");
}

/* Pairs of allowed CPUs that are one core. */
static void check_siblings(struct finding *f)
{
    cpu_set_t set;
    int pairs = 0, a = -1, b = -1;
    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof set, &set);
    for (int i = 0; i < CPU_SETSIZE; i++)
        for (int j = i + 1; CPU_ISSET(i, &set) && j < CPU_SETSIZE; j++)
            if (CPU_ISSET(j, &set) && cpus_siblings(i, j) && !pairs++) {
                a = i;
                b = j;
            }
    if (!pairs)
        FIGURE(f, "none: each CPU is a core");
    else
        FIGURE(f, "%d pair%s, as CPU %d and %d", pairs, pairs > 1 ? "s" : "", a, b);
}

static void check_pinning(struct finding *f)
{
    struct cpu_plan plan;
    cpus_plan(true, &plan);
    FIGURE(f, "%s", plan.note);
    if (!plan.pinned)
        FIX(f, "allow two cores (taskset, cpuset): now the load's work disturbs the server's");
}

static void check_clock(struct finding *f)
{
    static const char *const slow[] = {"hpet", "acpi_pm", "jiffies", "refined-jiffies", "pit"};
    char name[64];
    const char *path = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
    if (limits_read_file(path, name, sizeof name) <= 0) {
        FIGURE(f, "unknown");
        return;
    }
    name[strcspn(name, "\n")] = '\0';
    FIGURE(f, "%s", name);
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        if (!strcmp(name, slow[i]))
            FIX(f, "boot with clocksource=tsc if the TSC is stable: %s is slow to read", name);
}

static void check_ticks(struct finding *f)
{
    long hz = sysconf(_SC_CLK_TCK);
    FIGURE(f, "%ld a second: user and system are told apart in steps of %ld ms", hz,
           hz > 0 ? 1000 / hz : 0);
}

static void check_call(struct finding *f)
{
    struct prices p;
    char call[16], wait[16];
    prices_measure(&(struct prices_spec){.cpu = -1, .alone = true}, &p);
    FIGURE(f, "%s µs, an epoll_wait %s: the dearer, the more is won by making fewer calls",
           units_number(call, sizeof call, p.ns[PRICE_call] / 1e3),
           units_number(wait, sizeof wait, p.ns[PRICE_wait] / 1e3));
}

static void check_load(struct finding *f)
{
    char text[64], *end;
    if (limits_read_file("/proc/loadavg", text, sizeof text) <= 0) {
        FIGURE(f, "unknown");
        return;
    }
    double now = units_strtod(text, &end);
    FIGURE(f, "%.2f over the last minute", now);
    if (now > 0.5)
        FIX(f, "stop what else runs: it takes the server's CPU, and the row says noisy");
}

static void check_engine(struct finding *f)
{
    struct params p = {.engine = ENGINE_MUX_URING};
    struct err e = {""};
    if (load_probe(&p, &e) < 0) {
        FIGURE(f, "--engine mux-uring cannot run here");
        FIX(f, "%s", strstr(e.text, ": ") + 2);
        return;
    }
    char flags[80];
    uring_note(flags, sizeof flags);
    FIGURE(f, "--engine mux-uring can run (%s)", flags);
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

static const struct check {
    const char *name;
    void (*look)(struct finding *f);
} checks[] = {
    {"descriptors", check_descriptors},
    {"local ports", check_ports},
    {"in TIME_WAIT", check_time_wait},
    {"somaxconn", check_somaxconn},
    {"SYN cookies", check_syncookies},
    {"kernel memory", check_slabs},
    {"CPUs", check_cpus},
    {"SMT siblings", check_siblings},
    {"pinning", check_pinning},
    {"clock source", check_clock},
    {"ticks", check_ticks},
    {"system call", check_call},
    {"load average", check_load},
    {"load engines", check_engine},
    {"terminal", check_terminal},
    {"screen", check_size},
    {"colours", check_colours},
    {"character set", check_charset},
};

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
    if (m->probe && m->probe(&e) < 0) {
        FIGURE(&f, "cannot run here");
        FIX(&f, "%s", e.text);
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
    for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
        struct finding f = {"", ""};
        checks[i].look(&f);
        add(&g, checks[i].name, &f);
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
