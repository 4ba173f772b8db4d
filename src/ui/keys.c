/* SPDX-License-Identifier: MIT */
/* The names of keys, once: the command table writes them, the help shows them, the loop looks them
 * up. */
#include "ui/keys.h"

#include <stdio.h>
#include <string.h>

#include "ui/term.h"
#include "ui/text.h"

static const struct {
    const char *name, *shown;
    int code;
} named[] = {
    {"up", "↑", TERM_UP},           {"down", "↓", TERM_DOWN},
    {"left", "←", TERM_LEFT},       {"right", "→", TERM_RIGHT},
    {"enter", "Enter", TERM_ENTER}, {"esc", "Esc", TERM_ESC},
    {"tab", "Tab", TERM_TAB},       {"backtab", "Shift-Tab", TERM_BACKTAB},
    {"space", "space", ' '},        {"f1", "F1", TERM_F1},
    {"f10", "F10", TERM_F10},       {"pgup", "PgUp", TERM_PGUP},
    {"pgdn", "PgDn", TERM_PGDN},    {"home", "Home", TERM_HOME},
    {"end", "End", TERM_END},
};
enum { NAMED = sizeof named / sizeof *named };

int keys_code(const char *name)
{
    for (int i = 0; i < NAMED; i++)
        if (!strcmp(named[i].name, name))
            return named[i].code;
    const char *s = name;
    wchar_t ch = text_next(&s);
    return *s ? 0 : (int)ch;
}

bool keys_word(const char *list, int i, char *buf, size_t size)
{
    list += strspn(list, " ");
    while (i-- > 0) {
        list += strcspn(list, " ");
        list += strspn(list, " ");
    }
    snprintf(buf, size, "%.*s", (int)strcspn(list, " "), list);
    return *buf != '\0';
}

bool keys_hold(const char *list, int code)
{
    char word[16];
    for (int i = 0; keys_word(list, i, word, sizeof word); i++)
        if (keys_code(word) == code)
            return true;
    return false;
}

int keys_shown(const char *shown)
{
    for (int i = 0; i < NAMED; i++)
        if (!strcmp(named[i].shown, shown))
            return named[i].code;
    return shown[0] && !shown[1] ? shown[0] : 0;
}

char *keys_show(const char *list, char *buf, size_t size)
{
    char word[16];
    size_t used = 0;
    *buf = '\0';
    for (int i = 0; keys_word(list, i, word, sizeof word) && used < size; i++) {
        const char *shown = word;
        for (int k = 0; k < NAMED; k++)
            if (!strcmp(named[k].name, word))
                shown = named[k].shown;
        int n = snprintf(buf + used, size - used, "%s%s", i ? " " : "", shown);
        used += n > 0 ? (size_t)n : 0;
    }
    return buf;
}
