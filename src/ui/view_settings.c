/* SPDX-License-Identifier: MIT */
/* Every parameter, in the groups of its table: value, what it is; beneath, the one in focus with
 * all that the table says of it. The window follows the cursor alone. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "ui/actions.h"
#include "ui/views.h"

enum { NAME_X = 3, VALUE_X = NAME_X + 15, HELP_X = VALUE_X + 13, LIST_TOP = 2, DETAIL = 3 };

struct list { /* its lines: a parameter, or (id < 0) the heading of a group */
    int n, at; /* at: the line in focus */
    int id[2 * PARAM_COUNT];
    const char *group[2 * PARAM_COUNT];
};

static void make_list(const struct app *a, struct list *l)
{
    enum param_id ids[PARAM_COUNT];
    int n = settings_list(a, ids);
    const char *group = "";
    *l = (struct list){0};
    for (int i = 0; i < n; i++) {
        const char *own = params_group(ids[i]);
        if (strcmp(own, group) != 0) {
            l->id[l->n] = -1;
            l->group[l->n++] = own;
        }
        group = own;
        l->at = ids[i] == a->settings.at ? l->n : l->at;
        l->id[l->n++] = (int)ids[i];
    }
}

static char *value_of(const struct app *a, enum param_id id, char *buf, size_t size)
{
    double v = params_get(&a->want.params, id);
    const struct param_info *p = &param_table[id];
    char text[32];
    if (isnan(v))
        snprintf(buf, size, "-");
    else if (p->kind == KIND_COUNT && *p->unit)
        snprintf(buf, size, "%s %s", params_show(id, v, text, sizeof text), p->unit);
    else
        params_show(id, v, buf, size);
    return buf;
}

/* Is it what the workload has there by itself? */
static bool is_usual(const struct app *a, enum param_id id)
{
    return id == PARAM_workload || params_same(params_get(&a->want.params, id), act_usual(a, id));
}

/* For the next start, whatever it is now. */
static bool is_kept(const struct app *a, enum param_id id)
{
    return a->config && !isnan(params_get(&a->config->params, id));
}

static void draw_setting(struct app *a, enum param_id id, int y)
{
    struct canvas *c = a->canvas;
    bool here = id == a->settings.at;
    struct err why;
    enum role role = here ? ROLE_SELECTED : act_settable(a, id, &why) ? ROLE_DIM : ROLE_TEXT;
    struct rect row = {0, y, c->w, 1};
    char value[48];
    canvas_fill(c, row, role, L' ');
    canvas_put(c, 1, y, role, here ? L'▶' : L' ');
    if (is_kept(a, id))
        canvas_put(c, 2, y, role, L'●');
    canvas_cut(c, canvas_at(NAME_X, y, VALUE_X - NAME_X - 1), role, here, param_table[id].id);
    int w = canvas_cut(c, canvas_at(VALUE_X, y, HELP_X - VALUE_X - 2), role, true,
                       value_of(a, id, value, sizeof value));
    if (!is_usual(a, id))
        canvas_put(c, VALUE_X + w, y, here ? role : ROLE_FOCUS, L'*');
    canvas_cut(c, canvas_at(HELP_X, y, c->w - HELP_X - 1), here ? role : ROLE_DIM, false,
               param_table[id].help);
    mouse_hot(a, row, act_setting_focus, (int)id);
}

/* What the table says of it, and why it cannot be changed now. */
static void draw_detail(struct app *a, struct rect r)
{
    enum param_id id = a->settings.at;
    const struct param_info *p = &param_table[id];
    char text[900], allowed[200], usual[48];
    struct err why;
    int n = snprintf(text, sizeof text, "%s: %s. Takes %s", p->id, p->help,
                     params_allowed(id, allowed, sizeof allowed));
    double v = act_usual(a, id);
    if (!isnan(v) && id != PARAM_workload)
        n += snprintf(text + n, sizeof text - (size_t)n, "; usual %s",
                      params_show(id, v, usual, sizeof usual));
    bool free = act_settable(a, id, &why) == 0;
    snprintf(text + n, sizeof text - (size_t)n, ". %s%s", free ? "" : "Fixed: ",
             !free            ? why.text
             : is_kept(a, id) ? "● is kept for the next start; k ends that"
                              : "Another value begins a new row");
    chrome_text(a->canvas, r, ROLE_TEXT, false, text);
}

static void draw_title(struct app *a)
{
    struct canvas *c = a->canvas;
    if (a->dialog == DIALOG_FIND)
        canvas_printf(c, canvas_at(1, 1, c->w - 2), ROLE_FOCUS, true,
                      "find: %s_  Enter keep  Esc all", a->settings.find);
    else if (a->settings.find[0])
        canvas_printf(c, canvas_at(1, 1, c->w - 2), ROLE_TITLE, true,
                      "settings with \"%s\"; Esc shows all", a->settings.find);
    else
        canvas_text(c, canvas_at(1, 1, c->w - 2), ROLE_TITLE, true,
                    "settings: what is measured, and how   * not what is usual");
}

void view_settings_draw(struct app *a)
{
    struct canvas *c = a->canvas;
    int bottom = c->h - 2 - DETAIL - 1, room = bottom - LIST_TOP;
    struct list l;
    make_list(a, &l);
    int top = l.at < room - 1 ? 0 : l.at - room + 2;
    top = top + room > l.n ? (l.n > room ? l.n - room : 0) : top;
    chrome_header(a);
    draw_title(a);
    for (int i = 0; i < room && top + i < l.n; i++)
        if (l.id[top + i] < 0)
            canvas_text(c, canvas_at(1, LIST_TOP + i, c->w - 2), ROLE_TITLE, true,
                        l.group[top + i]);
        else
            draw_setting(a, (enum param_id)l.id[top + i], LIST_TOP + i);
    canvas_fill(c, (struct rect){0, bottom, c->w, 1}, ROLE_FRAME, L'─');
    if (top + room < l.n)
        canvas_printf(c, canvas_at(c->w - 13, bottom, 12), ROLE_DIM, false, " %d more ↓ ",
                      l.n - top - room);
    if (l.n)
        draw_detail(a, (struct rect){1, bottom + 1, c->w - 2, DETAIL});
    else
        canvas_text(c, canvas_at(NAME_X, LIST_TOP, c->w - NAME_X), ROLE_DIM, false,
                    "nothing is called that");
    chrome_log(a, c->h - 2);
    chrome_footer(a);
}
