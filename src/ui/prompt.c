/* SPDX-License-Identifier: MIT */
/* The prompt of `:` on the last line: NAME VALUE changes a parameter, NAME runs a command. Names
 * are those of the two tables; Tab completes them, and what is wrong stands on the line above while
 * one goes on typing. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ui/actions.h"
#include "ui/commands.h"
#include "ui/keys.h"
#include "ui/views.h"

struct typed {
    char name[40];
    const char *value; /* NULL: no blank behind the name yet */
    int param;         /* -1: none of that name */
    const struct command *command;
};

static bool same(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(*a == '-' && *b == '_') && !(*a == '_' && *b == '-'))
            return false;
    return *a == *b;
}

/* -1: none; options of the command line are none. */
static int param_of(const char *name)
{
    int id = params_find(name);
    return id < PARAM_COUNT ? id : -1;
}

static struct typed take_apart(const char *text)
{
    struct typed t = {.param = -1};
    text += strspn(text, " :");
    size_t n = strcspn(text, " =");
    snprintf(t.name, sizeof t.name, "%.*s", (int)n, text);
    if (text[n])
        t.value = text + n + strspn(text + n, " =");
    t.param = param_of(t.name);
    for (int i = 0; i < command_count; i++)
        if (same(command_table[i].name, t.name))
            t.command = &command_table[i];
    return t;
}

/* --- names ------------------------------------------------------------------------------------ */

static const char *name_word(int i)
{
    return i < PARAM_COUNT                   ? param_table[i].id
           : i < PARAM_COUNT + command_count ? command_table[i - PARAM_COUNT].name
                                             : NULL;
}

static enum param_id choice_of; /* whose words are completed */

static const char *choice_word(int i)
{
    return params_choice(choice_of, i);
}

/* A command whose name is a parameter's, too. */
static bool is_twice(int i)
{
    return i >= PARAM_COUNT && param_of(name_word(i)) >= 0;
}

/* How far all words that begin like this agree; how many there are. */
static int agree(const char *begin, const char *(*word)(int i), char *out, size_t size)
{
    size_t n = strlen(begin);
    int count = 0;
    const char *w;
    snprintf(out, size, "%s", begin);
    for (int i = 0; (w = word(i)); i++) {
        size_t k = 0;
        if (strncmp(w, begin, n) != 0)
            continue;
        count += count == 0 || strcmp(w, out) != 0;
        if (count == 1)
            snprintf(out, size, "%s", w);
        while (out[k] && out[k] == w[k])
            k++;
        out[k] = '\0';
    }
    return count;
}

static void complete(struct entry *n)
{
    struct typed t = take_apart(n->text);
    char word[40], text[sizeof n->text];
    if (t.value && t.param < 0)
        return;
    choice_of = (enum param_id)(t.param < 0 ? 0 : t.param);
    if (t.value) {
        agree(t.value, choice_word, word, sizeof word);
        snprintf(text, sizeof text, "%s %s", t.name, word);
    } else {
        int count = agree(t.name, name_word, word, sizeof word);
        bool param = count == 1 && param_of(word) >= 0;
        snprintf(text, sizeof text, "%s%s", word, param ? " " : "");
    }
    memcpy(n->text, text, sizeof text);
}

/* --- doing it --------------------------------------------------------------------------------- */

static int unknown(const char *name, struct err *e)
{
    char echo[64];
    const char *near = params_nearest(name, name_word);
    params_echo(name, echo, sizeof echo);
    return err_set(e, EINVAL, "%s: no such parameter or command%s%s%s", echo,
                   near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static int elsewhere(const struct command *c, struct err *e)
{
    char keys[48], views[80] = "";
    for (int i = 0; i < view_count; i++)
        if (c->views & view_table[i].view) {
            size_t n = strlen(views);
            snprintf(views + n, sizeof views - n, "%s%s", n ? ", " : "", view_table[i].name);
        }
    return err_set(e, EINVAL, "%s (%s) is for another view: %s", c->name,
                   keys_show(c->keys, keys, sizeof keys), views);
}

static int obey(struct app *a, const struct typed *t, struct err *e)
{
    if (t->param >= 0 && t->value && *t->value)
        return act_change(a, (enum param_id)t->param, t->value, e);
    if (t->command && t->value && *t->value)
        return err_set(e, EINVAL, "%s takes no value", t->command->name);
    if (t->command && t->command->views & a->view) {
        t->command->run(a, t->command->arg);
        return 0;
    }
    if (t->param >= 0) {
        act_type(a, (enum param_id)t->param);
        return 0;
    }
    return t->command ? elsewhere(t->command, e) : unknown(t->name, e);
}

static void enter(struct app *a)
{
    struct entry was = a->entry;
    struct typed t = take_apart(was.text);
    struct err e = {""};
    a->dialog = DIALOG_NONE;
    if (!t.name[0] || obey(a, &t, &e) >= 0)
        return;
    a->entry = was; /* to be mended */
    a->dialog = DIALOG_PROMPT;
    snprintf(a->entry.problem, sizeof a->entry.problem, "%s", e.text);
}

void act_prompt(struct app *a, int arg)
{
    (void)arg;
    memset(&a->entry, 0, sizeof a->entry);
    a->dialog = DIALOG_PROMPT;
}

void prompt_key(struct app *a, int key)
{
    struct entry *n = &a->entry;
    if (key != TERM_ENTER)
        n->problem[0] = '\0';
    if (key == TERM_ESC || (key == TERM_BACKSPACE && !n->text[0]))
        a->dialog = DIALOG_NONE;
    else if (key == TERM_ENTER)
        enter(a);
    else if (key == TERM_TAB)
        complete(n);
    else
        entry_edit(n->text, sizeof n->text, key);
}

/* --- the two lines ---------------------------------------------------------------------------- */

static void say_matches(const struct typed *t, char *buf, size_t size)
{
    const char *w;
    size_t n = 0, length = strlen(t->name);
    *buf = '\0';
    for (int i = 0; (w = name_word(i)) && n + 1 < size; i++)
        if (!strncmp(w, t->name, length) && !is_twice(i))
            n += (size_t)snprintf(buf + n, size - n, "%s%s", n ? "  " : "", w);
}

/* What would help with what is typed so far. */
static void say_hint(const struct app *a, char *buf, size_t size)
{
    struct typed t = take_apart(a->entry.text);
    char now[48], allowed[200], keys[48];
    if (!t.name[0])
        snprintf(buf, size, "NAME VALUE changes a parameter, NAME runs a command; Tab completes");
    else if (t.param >= 0)
        snprintf(buf, size, "%s, now %s: %s", t.name,
                 params_show((enum param_id)t.param,
                             params_get(&a->want.params, (enum param_id)t.param), now, sizeof now),
                 params_allowed((enum param_id)t.param, allowed, sizeof allowed));
    else if (t.command)
        snprintf(buf, size, "%s: %s", keys_show(t.command->keys, keys, sizeof keys),
                 t.command->help);
    else
        say_matches(&t, buf, size);
}

void prompt_draw(const struct app *a)
{
    struct canvas *c = a->canvas;
    const char *problem = a->entry.problem;
    char hint[400];
    say_hint(a, hint, sizeof hint);
    canvas_fill(c, (struct rect){0, c->h - 2, c->w, 2}, ROLE_TEXT, L' ');
    canvas_cut(c, canvas_at(1, c->h - 2, c->w - 2), *problem ? ROLE_BAD : ROLE_DIM, false,
               *problem ? problem : hint);
    canvas_printf(c, canvas_at(0, c->h - 1, c->w), ROLE_FOCUS, true, ":%s_", a->entry.text);
    if (c->w >= 80)
        canvas_text(c, canvas_at(c->w - 37, c->h - 1, 37), ROLE_DIM, false,
                    "  Tab complete  Enter do it  Esc back");
}
