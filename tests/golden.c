/* SPDX-License-Identifier: MIT */
/* A screen is compared as a whole; what differs is told line by line. */
#include "golden.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *read_all(const char *path)
{
    enum { MOST = 1 << 18 };
    FILE *f = fopen(path, "r");
    if (!f)
        return NULL;
    char *text = calloc(1, MOST);
    assert_non_null(text);
    size_t n = fread(text, 1, MOST - 1, f);
    text[n] = '\0';
    fclose(f);
    return text;
}

static void show_difference(const char *want, const char *got)
{
    for (int line = 1; *want || *got; line++) {
        size_t w = strcspn(want, "\n"), g = strcspn(got, "\n");
        if (w != g || memcmp(want, got, w) != 0)
            fprintf(stderr, "line %d\n  expected %.*s\n  shown    %.*s\n", line, (int)w, want,
                    (int)g, got);
        want += w + (want[w] != '\0');
        got += g + (got[g] != '\0');
    }
}

static void write_all(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

void golden_is(const char *name, const char *got)
{
    char path[300];
    const char *source = getenv("IODASH_SOURCE"), *mode = getenv("IODASH_GOLDEN");
    snprintf(path, sizeof path, "%s/tests/%s.txt", source ? source : ".", name);
    if (mode && !strcmp(mode, "write"))
        write_all(path, got);
    char *want = read_all(path);
    if (!want)
        fail_msg("%s is not there", path);
    if (strcmp(want, got) != 0) {
        show_difference(want, got);
        fail_msg("the screen is not %s", path);
    }
    free(want);
}
