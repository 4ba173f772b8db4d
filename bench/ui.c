/* SPDX-License-Identifier: MIT */
/* bench_ui [KEYS]: what the dashboard's screen costs and how soon it answers, seen from outside:
 * the real program ($IODASH_EXE) in a terminal emulator. Three tables: key to screen beside 1000
 * load threads at full load; CPU of a frame at 200x60; start to first picture. It prints, it never
 * asserts. The emulator runs before all others where it may: what is late is the program. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "terminal/harness.h"

enum { MOST = 2000, WAIT_MS = 20000, LOST_MS = 2000 };

/* --- clocks ----------------------------------------------------------------------------------- */

static double clock_ms(clockid_t clock)
{
    struct timespec t = {0, 0};
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* CPU of the whole process, all its threads. */
static double process_cpu_ms(pid_t pid)
{
    clockid_t clock;
    return clock_getcpuclockid(pid, &clock) == 0 ? clock_ms(clock) : 0;
}

/* Of its first thread, the one that draws. */
static double screen_cpu_ms(pid_t pid)
{
    char path[64];
    unsigned long long ns = 0;
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", (int)pid, (int)pid);
    FILE *f = fopen(path, "r");
    if (!f || fscanf(f, "%llu", &ns) != 1)
        ns = 0;
    if (f)
        fclose(f);
    return (double)ns / 1e6;
}

/* --- figures ---------------------------------------------------------------------------------- */

struct figures {
    int count;
    double v[MOST];
};

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print(const char *what, struct figures *f, const char *bar)
{
    if (!f->count) {
        printf("%-44s nothing was measured\n", what);
        return;
    }
    qsort(f->v, (size_t)f->count, sizeof *f->v, by_value);
    printf("%-44s n %4d  p50 %7.2f  p99 %7.2f  max %7.2f ms   %s\n", what, f->count,
           f->v[f->count / 2], f->v[(int)(0.99 * (f->count - 1) + 0.5)], f->v[f->count - 1], bar);
}

static void add(struct figures *f, double v)
{
    if (f->count < MOST)
        f->v[f->count++] = v;
}

static void must_show(struct tty *t, const char *text)
{
    if (tty_until_text(t, text, WAIT_MS))
        return;
    tty_dump(t, text);
    exit(1);
}

/* --- keys ------------------------------------------------------------------------------------- */

/* Help opens and closes; false: the key had no effect. */
static bool time_key(struct tty *t, bool opens, struct figures *f)
{
    static char text[] = "keys of the live view";
    double start = clock_ms(CLOCK_MONOTONIC);
    tty_keys(t, opens ? "?" : "q");
    bool done = opens ? tty_until_text(t, text, LOST_MS) : tty_until_gone(t, text, LOST_MS);
    add(f, clock_ms(CLOCK_MONOTONIC) - start);
    return done;
}

/* Digits into the number that is typed, as fast as the terminal takes them; returns how many of
 * them are missing on the screen. */
static int lost_of_a_burst(struct tty *t)
{
    static char digits[] = "123456789012345678901234567890";
    tty_keys(t, "c\r");
    must_show(t, "Enter take");
    for (char *d = digits; *d; d++) {
        char key[2] = {*d, 0};
        tty_keys(t, key);
        tty_pump(t, 1);
    }
    bool all = tty_until_text(t, digits, LOST_MS);
    int shown = 0;
    for (int n = (int)strlen(digits); n > 0 && !shown; n--) {
        char part[40];
        snprintf(part, sizeof part, "%.*s_", n, digits);
        shown = tty_shows(t, part) ? n : 0;
    }
    tty_keys(t, "\033");
    tty_until_gone(t, "Enter take", LOST_MS);
    return all ? 0 : (int)strlen(digits) - shown;
}

static void keys_beside(const char *what, const char *const *args, int keys)
{
    struct tty *t = tty_open(&(struct tty_want){.args = args});
    static struct figures f;
    int lost = 0;
    f.count = 0;
    must_show(t, "CPU a request");
    tty_pump(t, 3000);
    srand(1);
    for (int i = 0; i < keys; i++) {
        lost += !time_key(t, i % 2 == 0, &f);
        tty_pump(t, 20 + rand() % 60);
    }
    print(what, &f, "bar: p99 under 50");
    int typed = 0;
    for (int i = 0; i < 5; i++) {
        lost += lost_of_a_burst(t);
        typed += 30;
    }
    printf("%-44s %d of %d\n", "  keys lost", lost, keys + typed);
    tty_close(t);
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Each frame that changes something is told to the terminal as one. */
static int frames(const char *from)
{
    int n = 0;
    for (; (from = strstr(from, "\033[?2026h")); n++)
        from++;
    return n;
}

/* CPU of the thread that draws, for each frame written while this goes on. */
static void frame_cpu(struct tty *t, const char *what, const char *keys, int seconds)
{
    size_t bytes = tty_bytes(t), next = 0;
    double cpu = screen_cpu_ms(tty_pid(t));
    for (int i = 0; i < seconds * 20; i++) {
        char key[2] = {keys[next], 0};
        if (*keys) {
            tty_keys(t, key);
            next = (next + 1) % strlen(keys);
        }
        tty_pump(t, 50);
    }
    cpu = screen_cpu_ms(tty_pid(t)) - cpu;
    int n = frames(tty_raw(t) + bytes);
    printf("%-44s n %4d  mean %6.2f ms of CPU, %.1f KB a frame   bar: under 2\n", what, n,
           n ? cpu / n : 0, n ? (double)(tty_bytes(t) - bytes) / 1e3 / n : 0);
}

static void frames_of(int rows, int cols)
{
    static const char *const args[] = {"-c", "100", "--rate", "5k", NULL};
    struct tty *t = tty_open(&(struct tty_want){.args = args, .rows = rows, .cols = cols});
    char what[64];
    must_show(t, "CPU a request");
    tty_pump(t, 12000);
    snprintf(what, sizeof what, "a frame of the live view, %dx%d", cols, rows);
    frame_cpu(t, what, "", 10);
    snprintf(what, sizeof what, "the same, another view each time, %dx%d", cols, rows);
    frame_cpu(t, what, "2151", 5);
    tty_close(t);
}

/* --- start ------------------------------------------------------------------------------------ */

static void starts(int count)
{
    static struct figures wall, cpu;
    for (int i = 0; i < count; i++) {
        double start = clock_ms(CLOCK_MONOTONIC);
        struct tty *t = tty_open(&(struct tty_want){0});
        must_show(t, "B epoll");
        add(&cpu, process_cpu_ms(tty_pid(t)));
        add(&wall, clock_ms(CLOCK_MONOTONIC) - start);
        tty_close(t);
    }
    print("start to first picture", &wall, "bar: under 200");
    print("  CPU of the program until then", &cpu, "");
}

int main(int argc, char **argv)
{
    static const char *const busy[] = {"-c", "1000", "--engine", "blocking", "--rate", "max", NULL};
    static const char *const usual[] = {NULL};
    int keys = argc > 1 ? atoi(argv[1]) : 300;
    struct sched_param first = {.sched_priority = 1};
    if (!getenv("IODASH_EXE")) {
        fprintf(stderr, "IODASH_EXE must name the program\n");
        return 2;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &first) < 0)
        printf("the emulator has no priority here: its own lateness is counted too\n");
    starts(keys < 40 ? 5 : 20);
    frames_of(24, 80);
    frames_of(60, 200);
    keys_beside("key to screen, 400 connections", usual, keys / 3);
    keys_beside("key to screen, 1000 load threads, no pace", busy, keys);
    return 0;
}
