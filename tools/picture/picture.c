/* SPDX-License-Identifier: MIT */
/* Plays a person at a terminal: starts iodash in a pseudo-terminal, takes step after step (wait,
 * type, wait for a text), and draws what then stands on the screen. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "svg.h"

#define UNTIL_MS 900000
#define ARGS 30

static const char usage[] =
    "usage: picture COLUMNSxROWS STEP... [-- ARGUMENT...]\n"
    "  runs $IODASH_EXE with these arguments in a terminal of that size; a STEP is\n"
    "  wait=SECONDS  keys=TEXT  until=TEXT (at most 15 min)  title=TEXT  shot=FILE.svg\n";

struct play {
    struct tty *tty;
    const char *title;
};

static bool fail(const char *what, const char *why)
{
    fprintf(stderr, "picture: %s: %s\n", what, why);
    return false;
}

static bool do_wait(struct play *p, const char *value)
{
    tty_pump(p->tty, (int)(1000 * strtod(value, NULL)));
    return tty_status(p->tty) < 0 || fail("wait", "iodash has ended");
}

static bool do_keys(struct play *p, const char *value)
{
    tty_keys(p->tty, value);
    return true;
}

static bool do_until(struct play *p, const char *value)
{
    if (tty_until_text(p->tty, value, UNTIL_MS))
        return true;
    tty_dump(p->tty, value);
    return fail(value, "never on the screen");
}

static bool do_title(struct play *p, const char *value)
{
    p->title = value;
    return true;
}

static bool do_shot(struct play *p, const char *value)
{
    return svg_write(p->tty, p->title, value) || fail(value, strerror(errno));
}

static const struct {
    const char *name;
    bool (*fn)(struct play *p, const char *value);
} steps[] = {
    {"wait=", do_wait}, {"keys=", do_keys}, {"until=", do_until}, {"title=", do_title},
    {"shot=", do_shot},
};

static bool take_step(struct play *p, const char *word)
{
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        size_t n = strlen(steps[i].name);
        if (strncmp(word, steps[i].name, n) == 0)
            return steps[i].fn(p, word + n);
    }
    return fail(word, "no such step");
}

int main(int argc, char **argv)
{
    struct tty_want want = {0};
    const char *args[ARGS + 1] = {0};
    int last = 2, n = 0;
    if (argc < 3 || sscanf(argv[1], "%dx%d", &want.cols, &want.rows) != 2 || want.cols < 2) {
        fputs(usage, stderr);
        return 2;
    }
    while (last < argc && strcmp(argv[last], "--") != 0)
        last++;
    for (int i = last + 1; i < argc && n < ARGS; i++)
        args[n++] = argv[i];
    want.args = args;
    struct play p = {tty_open(&want), "iodash"};
    bool ok = true;
    for (int i = 2; i < last && ok; i++)
        ok = take_step(&p, argv[i]);
    tty_close(p.tty);
    return ok ? 0 : 1;
}
