/* SPDX-License-Identifier: MIT */
/* Rows made by hand and folders to save them in. The values are those that are hard to write down:
 * thirds, denormals, beyond 2^53. */
#include "session/sample_rows.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "net/protocol.h"

struct params rows_params(const char *workload)
{
    struct params p;

    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    params_init(&p);
    p.workload = workload_find(workload);
    workload_resolve(&p);
    return p;
}

struct row *rows_make(struct rows *r, const struct params *p, const char *const *models, int count)
{
    struct row *row = rows_add(r, p, count);

    for (int i = 0; i < count; i++) {
        int at = io_model_find(models[i]);

        snprintf(row->panes[i].model, sizeof row->panes[i].model, "%s", models[i]);
        row->panes[i].io = at >= 0 ? io_model_table[at] : NULL;
        row->panes[i].verdict = VERDICT_OK;
    }
    row->state = ROW_DONE;
    return row;
}

struct sample *rows_sample(struct row *row, int pane, enum metric_id m, double value)
{
    struct sample *s = pane_add(&row->panes[pane]);

    s->index = row->panes[pane].count;
    s->kept = KEPT_YES;
    s->values.v[m] = value;
    return s;
}

static double odd_value(unsigned seed)
{
    static const double values[] = {0, 1.0 / 3, 5e-324, 9007199254740993.0, 1e300, 0.1, -2.5,
                                    1.7976931348623157e308, 123456789.123456789, METRIC_NONE};

    return values[seed * 2654435761u % (sizeof values / sizeof *values)] *
           (1 + (seed % 97) / 97.0);
}

void rows_scatter(struct row *row, int samples, unsigned seed)
{
    for (int pane = 0; pane < row->pane_count; pane++)
        for (int i = 0; i < samples; i++) {
            struct sample *s = rows_sample(row, pane, METRIC_errors, 0);

            s->kept = (enum kept)(i % 4);
            s->elapsed_s = i + 1.0 / 7;
            s->interval_s = 0.4 + pane * 0.1;
            snprintf(s->time, sizeof s->time, "2026-11-30T14:06:%02d.250+01:00", i % 60);
            for (int m = 0; m < METRIC_COUNT; m++) {
                double v = odd_value(seed++);
                s->values.v[m] = isfinite(v) ? v : METRIC_NONE;
            }
        }
}

void rows_session(struct rows *r)
{
    struct params p = rows_params("transfer");

    rows_scatter(rows_make(r, &p, (const char *const[]){"select", "epoll-lt"}, 2), 70, 1);
    p.rate = PARAM_MAX;
    p.backlog = 77;
    p.seed = 4294967295.0;
    struct row *row = rows_make(r, &p, (const char *const[]){"=cmd|'/c calc'!A0", "poll"}, 2);
    rows_scatter(row, 5, 7);
    row->panes[0].verdict = VERDICT_FULL;
    snprintf(row->panes[0].reason, sizeof row->panes[0].reason, "a \"quoted\", long\nreason; -");
    fingerprint_none(&row->panes[0].print, "-1: who \"knows\"");
    fingerprint_none(&row->panes[1].print, "");
    row->panes[1].print.threads = 3;
    row->panes[1].print.queue = 0;
    snprintf(row->panes[1].print.waits, sizeof row->panes[1].print.waits, "epoll edge");
    p = rows_params("connect");
    row = rows_make(r, &p, (const char *const[]){"select", "epoll-lt", "select"}, 3);
    rows_sample(row, 0, METRIC_connect_s, 0.123456789012345678);
    row->panes[1].verdict = VERDICT_SKIPPED;
    snprintf(row->panes[1].reason, sizeof row->panes[1].reason, "-1 is no descriptor");
}

struct environment rows_environment(void)
{
    struct environment env;

    memset(&env, 0, sizeof env);
    snprintf(env.host, sizeof env.host, "@host");
    snprintf(env.kernel, sizeof env.kernel, "Linux 6.18, a kernel");
    snprintf(env.cpu, sizeof env.cpu, "'=CPU");
    snprintf(env.version, sizeof env.version, "0.1.0");
    prices_clear(&env.prices);
    env.prices.ns[PRICE_call] = 971.3;
    env.prices.ns[PRICE_kib] = 1.0 / 3;
    return env;
}

void folder_enter(char path[SCRATCH_PATH])
{
    if (!mkdtemp(scratch_path(path, "test-XXXXXX")) || chdir(path) != 0)
        die("no folder for the test");
}

void folder_leave(const char *path)
{
    DIR *d = opendir(".");

    for (struct dirent *f; d && (f = readdir(d));)
        if (unlink(f->d_name) < 0)
            rmdir(f->d_name);
    if (d)
        closedir(d);
    if (chdir("/") == 0)
        rmdir(path);
}

int folder_count(const char *prefix)
{
    DIR *d = opendir(".");
    int n = 0;

    for (struct dirent *f; d && (f = readdir(d));)
        n += strncmp(f->d_name, prefix, strlen(prefix)) == 0 && strcmp(f->d_name, ".") != 0 &&
             strcmp(f->d_name, "..") != 0;
    if (d)
        closedir(d);
    return n;
}

char *file_text(const char *name, size_t *size)
{
    char *text = NULL;
    FILE *f = fopen(name, "re");
    size_t used = 0, n = 1;

    while (f && n > 0) {
        text = xrealloc(text, used + 65536 + 1, 1);
        n = fread(text + used, 1, 65536, f);
        used += n;
    }
    if (!f)
        die("no file %s", name);
    fclose(f);
    text[used] = 0;
    if (size)
        *size = used;
    return text;
}

void file_write(const char *name, const void *bytes, size_t size)
{
    FILE *f = fopen(name, "we");

    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0)
        die("cannot write %s", name);
}
