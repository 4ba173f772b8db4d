/* SPDX-License-Identifier: MIT */
/* Order matters to the footer alone: labels are taken from the top while they fit. A letter means
 * the same in every view; arrows move what is in focus there. No capitals. */
#include "ui/commands.h"

#include <stdio.h>
#include <string.h>

#include "ui/actions.h"
#include "ui/keys.h"

#define LIVE VIEW_LIVE
#define TABLE VIEW_TABLE
#define HELP VIEW_HELP
#define WHY VIEW_WHY
#define WORK (VIEW_LIVE | VIEW_TABLE)

const struct command command_table[] = {
    {"stop", "esc", "Esc stop",
     "stop a running plan, what was measured stays; else back, on live: leave", VIEWS_ALL, act_back,
     1},
    {"model-before", "left", "←→ {model}",
     "model of the pane in focus, the one before; frozen: an older value", LIVE, act_model, -1},
    {"model-next", "right", "", "model of the pane in focus, the next one; frozen: a newer value",
     LIVE, act_model, 1},
    {"step-up", "up + =", "↑↓ {field}",
     "the number in brackets, one step up (1 2 5 10 ..., and its usual value)", LIVE, act_step, 1},
    {"step-down", "down -", "", "the number in brackets, one step down", LIVE, act_step, -1},
    {"row-up", "up", "↑↓ row", "the row before", TABLE, act_table_row, -1},
    {"row-down", "down", "", "the next row", TABLE, act_table_row, 1},
    {"row-live", "enter", "Enter measure it live", "measure the row in focus live", TABLE,
     act_table_enter, 0},
    {"columns-left", "[", "[ ] columns", "columns further left", TABLE, act_table_column, -1},
    {"columns-right", "]", "", "columns further right", TABLE, act_table_column, 1},
    {"line-up", "up", "↑↓ line", "the line of the bill before", WHY, act_why_line, -1},
    {"line-down", "down", "", "the next line of the bill", WHY, act_why_line, 1},
    {"scroll-up", "up", "↑↓ scroll", "scroll the help up", HELP, act_scroll, -1},
    {"scroll-down", "down", "", "scroll the help down", HELP, act_scroll, 1},
    {"page-up", "pgup", "", "a page up", HELP, act_scroll, -12},
    {"page-down", "pgdn", "", "a page down", HELP, act_scroll, 12},
    {"workload", "w", "w workload", "pick the workload: what the load does", WORK, act_pick,
     PICK_WORKLOAD},
    {"plan", "p", "p plan",
     "pick a sweep or a plan, each with its time; Esc stops it, its rows stay", WORK, act_pick,
     PICK_PLAN},
    {"table-before", "left", "←→ table", "the table of the workload and lineup measured before",
     TABLE, act_table, -1},
    {"table-next", "right", "", "the table of the workload and lineup measured after", TABLE,
     act_table, 1},
    {"save", "s", "s save", "save the session as CSV in the current folder; never overwrites",
     VIEWS_ALL, act_save, 0},
    {"live", "1", "1 2 5 views", "the live view: what is measured now", VIEWS_ALL, act_view,
     VIEW_LIVE},
    {"table", "2", "",
     "the table view: all rows of this workload and lineup; after a plan those of the plan",
     VIEWS_ALL, act_view, VIEW_TABLE},
    {"why", "5", "", "the why view: the bill of a request, calls times their prices here",
     VIEWS_ALL, act_view, VIEW_WHY},
    {"explain", "e", "e explain",
     "explain the row in focus in the why view; there: the line in focus", WORK | WHY, act_explain,
     0},
    {"model", "m", "m models", "pick the model of the pane in focus, one sentence each", WORK,
     act_pick, PICK_MODEL},
    {"more", "n", "n more", "measure as many samples again of what is measured", WORK, act_more, 0},
    {"load", "space", "space load off/on", "load off, and on again", WORK, act_load, 0},
    {"pane", "tab", "Tab {pane}", "the next pane; it is compared with pane A", WORK | WHY, act_pane,
     1},
    {"pane-before", "backtab", "", "the pane before", WORK | WHY, act_pane, -1},
    {"add", "a", "a add", "add a pane (at most 4)", WORK, act_add_pane, 0},
    {"drop", "d", "d drop", "drop the pane in focus", WORK, act_drop_pane, 0},
    {"figure", "g", "g figure", "pick the figure that the graphs show", LIVE, act_pick,
     PICK_FIGURE},
    {"log-axis", "l", "l log", "graphs with a logarithmic axis, and back", LIVE, act_log_axis, 0},
    {"freeze", "f", "f freeze",
     "freeze the picture, measuring goes on; the arrows read all panes off", LIVE, act_freeze, 0},
    {"connections", "c", "", "put the brackets on the connections that ask", LIVE, act_field,
     PARAM_connections},
    {"idle", "i", "", "put the brackets on the idle connections", LIVE, act_field, PARAM_idle},
    {"rate", "r", "", "put the brackets on the rate asked for", LIVE, act_field, PARAM_rate},
    {"size", "z", "", "put the brackets on the size of a reply", LIVE, act_field, PARAM_size},
    {"type", "enter", "Enter type it", "type the number in brackets", LIVE, act_enter, 0},
    {"up-again", "u", "", "start the server of the pane in focus again after it died", WORK,
     act_restart, 0},
    {"help", "? h f1", "? help", "what the keys of this view do", VIEWS_ALL, act_help, 0},
    {"back", "q", "q quit", "back; in the live view: leave", VIEWS_ALL, act_back, 0},
    {"quit", "f10", "", "leave, from a dialog too", VIEWS_ALL, act_quit, 0},
};
const int command_count = sizeof command_table / sizeof *command_table;

const struct command *command_find(enum view view, int key)
{
    for (int i = 0; i < command_count; i++)
        if ((command_table[i].views & view) && keys_hold(command_table[i].keys, key))
            return &command_table[i];
    return NULL;
}

/* A label with its {word} filled in. */
static void write_label(const struct app *a, const char *label, char *buf, size_t size)
{
    const char *at = strchr(label, '{');
    if (!at)
        snprintf(buf, size, "%s", label);
    else
        snprintf(buf, size, "%.*s%s", (int)(at - label), label,
                 !strcmp(at, "{field}")        ? param_table[a->field].id
                 : !strcmp(at, "{pane}")       ? a->view == VIEW_WHY ? "other pair" : "pane"
                 : a->frozen                   ? "read off"
                                               : "model");
}

/* Help and quit stand at the end, Esc only while there is something to stop, Tab where it leads
 * somewhere: a bill is always of A and another. */
static bool in_footer(const struct app *a, enum view view, const struct command *c)
{
    if (!(c->views & view) || !c->label[0] || c->label[0] == '?' || c->label[0] == 'q')
        return false;
    if (c->run == act_pane)
        return a->scene->pane_count > (view == VIEW_WHY ? 2 : 1);
    return c->run != act_back || scene_planning(a->scene);
}

void command_footer(const struct app *a, enum view view, int width, char *buf, size_t size)
{
    const char *tail = view == VIEW_LIVE ? "? help  q quit" : "? help  q back";
    size_t used = (size_t)snprintf(buf, size, " ");
    for (int i = 0; i < command_count && width >= 80; i++) {
        const struct command *c = &command_table[i];
        char label[48];
        if (!in_footer(a, view, c))
            continue;
        write_label(a, c->label, label, sizeof label);
        if (canvas_width(buf) + canvas_width(label) + 2 + canvas_width(tail) > width - 1 ||
            used + strlen(label) + 20 >= size)
            continue;
        used += (size_t)snprintf(buf + used, size - used, "%s  ", label);
    }
    snprintf(buf + used, size - used, "%s", tail);
}
