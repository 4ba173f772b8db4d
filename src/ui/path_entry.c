/* SPDX-License-Identifier: MIT */
/* Typing the path of a session. Tab completes what glob(3) finds, as far as all of it agrees; what
 * cannot be opened stays in the field, with the reason. */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ui/app.h"
#include "ui/text.h"
#include "ui/views.h"
#include "ui/yours.h"

static void append(char *text, size_t size, const char *more)
{
    size_t n = strlen(text);
    if (n + strlen(more) < size)
        memcpy(text + n, more, strlen(more) + 1);
}

static void untype(char *text)
{
    size_t n = strlen(text);
    while (n && (text[--n] & 0xc0) == 0x80)
        ;
    text[n] = '\0';
}

/* What is typed, as glob(3) wants it: no sign of it means more than itself. */
static void pattern_of(const char *text, char *buf, size_t size)
{
    size_t n = 0;
    for (; *text && n + 3 < size; text++) {
        if (strchr("*?[]\\", *text))
            buf[n++] = '\\';
        buf[n++] = *text;
    }
    buf[n++] = '*';
    buf[n] = '\0';
}

static void complete(struct path_entry *p)
{
    char pattern[2 * STATE_PATH + 4];
    glob_t found;
    pattern_of(p->text, pattern, sizeof pattern);
    if (glob(pattern, GLOB_MARK | GLOB_TILDE, NULL, &found) != 0) {
        snprintf(p->problem, sizeof p->problem, "no file begins so");
        return;
    }
    size_t same = strlen(found.gl_pathv[0]);
    for (size_t i = 1; i < found.gl_pathc; i++) {
        size_t n = 0;
        while (n < same && found.gl_pathv[i][n] == found.gl_pathv[0][n])
            n++;
        same = n;
    }
    if (same > 0 && same < sizeof p->text)
        snprintf(p->text, sizeof p->text, "%.*s", (int)same, found.gl_pathv[0]);
    if (found.gl_pathc > 1)
        snprintf(p->problem, sizeof p->problem, "%zu files begin so", found.gl_pathc);
    globfree(&found);
}

static void take(struct app *a)
{
    struct path_entry *p = &a->sessions.path;
    char path[STATE_PATH];
    const char *home = getenv("HOME");
    a->dialog = DIALOG_NONE;
    if (!p->text[0])
        return;
    if (p->what == PATH_ATTACH) {
        yours_take(a);
        return;
    }
    if (home && strncmp(p->text, "~/", 2) == 0)
        snprintf(path, sizeof path, "%s%s", home, p->text + 1);
    else
        memcpy(path, p->text, sizeof path);
    if (p->what == PATH_COMPARE) {
        sessions_compare(a, path);
    } else if (sessions_open(a, path) < 0) {
        snprintf(p->problem, sizeof p->problem, "%s", a->note);
        a->note[0] = '\0';
        a->dialog = DIALOG_PATH;
    }
}

void path_key(struct app *a, int key)
{
    struct path_entry *p = &a->sessions.path;
    char bytes[8];
    if (key != TERM_ENTER)
        p->problem[0] = '\0';
    if (key == TERM_ESC) {
        a->dialog = DIALOG_NONE;
    } else if (key == TERM_ENTER) {
        take(a);
    } else if (key == TERM_TAB) {
        if (p->what != PATH_ATTACH)
            complete(p);
    } else if (key == TERM_BACKSPACE || key == TERM_DELETE) {
        untype(p->text);
    } else if (key >= 0x20 && key < TERM_KEY_BASE && key != 0x7f) {
        text_utf8((wchar_t)key, bytes);
        append(p->text, sizeof p->text, bytes);
    }
}

/* The end of a text that is longer than the field: what is being typed. */
static const char *tail(const char *text, int w)
{
    while (canvas_width(text) > w)
        text_next(&text);
    return text;
}

void path_draw(const struct app *a)
{
    static const char *const titles[] = {[PATH_OPEN] = "session to open",
                                         [PATH_COMPARE] = "session to compare with",
                                         [PATH_ATTACH] = "server to attach to"};
    const struct path_entry *p = &a->sessions.path;
    struct canvas *c = a->canvas;
    int w = c->w > 76 ? 76 : c->w, h = 6;
    struct rect r = {(c->w - w) / 2, (c->h - h) / 2, w, h};
    bool bad = p->problem[0], file = p->what != PATH_ATTACH;
    canvas_fill(c, r, ROLE_TEXT, L' ');
    canvas_frame(c, r, ROLE_FRAME, titles[p->what], "");
    canvas_printf(c, canvas_at(r.x + 2, r.y + 1, w - 4), ROLE_FOCUS, true, "%s_",
                  tail(p->text, w - 5));
    chrome_text(c, (struct rect){r.x + 2, r.y + 2, w - 4, 2}, bad ? ROLE_BAD : ROLE_DIM, false,
                bad    ? p->problem
                : file ? "a NAME.csv that s or `iodash run -o NAME.csv` wrote"
                       : YOURS_HINT);
    canvas_text(c, canvas_at(r.x + 2, r.y + 4, w - 4), ROLE_DIM, false,
                file ? "Enter take  Tab complete  Esc back" : "Enter take  Esc back");
}
