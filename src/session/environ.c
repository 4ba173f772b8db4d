/* SPDX-License-Identifier: MIT */
/* What makes two machines differ, in one line of text each. Read once: none of it changes while a
 * session runs, and a reader of the CSV needs it beside every figure. */
#include "session/environ.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/cpus.h"
#include "base/limits.h"
#include "base/units.h"

#define TEXT sizeof((struct environment *)0)->host

static const char vulnerabilities[] = "/sys/devices/system/cpu/vulnerabilities";

/* The first line of a file, "" when it cannot be read. */
static void first_line(const char *path, char *out)
{
    if (limits_read_file(path, out, TEXT) < 0)
        out[0] = 0;
    out[strcspn(out, "\n")] = 0;
}

static void read_kernel(char *out)
{
    struct utsname u;

    if (uname(&u) == 0)
        snprintf(out, TEXT, "%.60s %.60s", u.sysname, u.release);
}

/* x86 says "model name"; where a CPU has no name, its architecture. */
static void read_cpu(char *out)
{
    static const char *const keys[] = {"model name", "Model", "cpu model", "Processor", "cpu"};
    char text[8192];
    struct utsname u;

    if (limits_read_file("/proc/cpuinfo", text, sizeof text) < 0)
        text[0] = 0;
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *at = strstr(text, keys[i]);
        const char *value = at && (at == text || at[-1] == '\n') ? strchr(at, ':') : NULL;

        if (value) {
            value += 1 + strspn(value + 1, " \t");
            snprintf(out, TEXT, "%.*s", (int)strcspn(value, "\n"), value);
            return;
        }
    }
    if (uname(&u) == 0)
        snprintf(out, TEXT, "%s", u.machine);
}

static void read_limit(char *out, long limit)
{
    if (limit >= 0)
        snprintf(out, TEXT, "%ld", limit);
}

static int no_dot(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

/* Their names; "..." stands for those that found no room. */
static void read_mitigations(char *out)
{
    struct dirent **all;
    char path[512], text[TEXT];
    int n = scandir(vulnerabilities, &all, no_dot, alphasort);

    for (int i = 0; i < n; i++) {
        const char *name = all[i]->d_name;
        size_t used = strlen(out);

        snprintf(path, sizeof path, "%s/%s", vulnerabilities, name);
        first_line(path, text);
        if (strncmp(text, "Mitigation", 10) == 0 && used + strlen(name) + 6 < TEXT)
            snprintf(out + used, TEXT - used, "%s%s", used ? " " : "", name);
        else if (strncmp(text, "Mitigation", 10) == 0 && strcmp(out + used - 3, "...") != 0)
            snprintf(out + used, TEXT - used, " ...");
        free(all[i]);
    }
    if (n >= 0)
        free(all);
}

void environment_read(struct environment *out)
{
    memset(out, 0, sizeof *out);
    if (gethostname(out->host, sizeof out->host - 1) < 0)
        out->host[0] = 0;
    read_kernel(out->kernel);
    read_cpu(out->cpu);
    units_number(out->cpus, sizeof out->cpus, cpus_usable());
    read_mitigations(out->mitigations);
    read_limit(out->nofile, limits_nofile_soft());
    read_limit(out->somaxconn, limits_somaxconn());
    first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", out->clock);
    snprintf(out->version, sizeof out->version, "%s", IODASH_VERSION);
    prices_clear(&out->prices);
}
