/* SPDX-License-Identifier: MIT */
/* Order matters to the footer alone: labels are taken from the top while they fit. A letter means
 * the same in every view; arrows move what is in focus there. No capitals. */
#include "ui/commands.h"

#include <stdio.h>
#include <string.h>

#include "ui/actions.h"
#include "ui/actions_copy.h"
#include "ui/keys.h"

#define LIVE VIEW_LIVE
#define TABLE VIEW_TABLE
#define HELP VIEW_HELP
#define MAP VIEW_MAP
#define WHY VIEW_WHY
#define COMPARE VIEW_COMPARE
#define CURVES VIEW_CURVES
#define CLAIMS VIEW_CLAIMS
#define SETTINGS VIEW_SETTINGS
#define WORK (VIEW_LIVE | VIEW_TABLE | VIEW_CURVES)
#define WORK_MAP (WORK | MAP)

const struct command command_table[] = {
    {"stop", "esc", "Esc stop",
     "stop a running plan, what was measured stays; else back, on live: leave", VIEWS_ALL, act_back,
     1},
    {"model-before", "left", "←→ {model}",
     "model of the pane in focus, the one before; frozen: an older value", LIVE, act_model, -1},
    {"model-next", "right", "", "model of the pane in focus, the next one; frozen: a newer value",
     LIVE, act_model, 1},
    {"step-up", "up", "↑↓ {field}",
     "the number in brackets, one step up (1 2 5 10 ..., and its usual value)", LIVE, act_step, 1},
    {"step-down", "down", "", "the number in brackets, one step down", LIVE, act_step, -1},
    {"plus", "+ =", "",
     "the number in brackets (in the settings: the parameter in focus), one step up",
     LIVE | SETTINGS, act_plus, 1},
    {"minus", "-", "", "the same, one step down", LIVE | SETTINGS, act_plus, -1},
    {"claim-up", "up", "↑↓ claim", "the claim before", CLAIMS, act_claim_move, -1},
    {"claim-down", "down", "", "the next claim", CLAIMS, act_claim_move, 1},
    {"claim-live", "enter", "Enter see it live",
     "measure the claim in focus live: its models, the first of its rows", CLAIMS | MEASURES,
     act_claim_live, 0},
    {"claim-again", "n", "n again", "try the claim in focus, once more if it was tried",
     CLAIMS | MEASURES, act_claim_again, 0},
    {"claims-try", "p", "p try all",
     "try all claims, or those without a verdict, each with its time; Esc stops, what was tried "
     "stays",
     CLAIMS | MEASURES, act_pick, PICK_CLAIMS},
    {"claims-copy", "y", "y as Markdown",
     "copy the claims that were tried as a Markdown table: to a file and the clipboard", CLAIMS,
     act_claims_copy, 0},
    {"setting-up", "up", "↑↓ choose", "the parameter before", SETTINGS, act_setting_move, -1},
    {"setting-down", "down", "", "the next parameter", SETTINGS, act_setting_move, 1},
    {"setting-less", "left", "←→ step", "the parameter in focus, one step down",
     SETTINGS | MEASURES, act_setting_step, -1},
    {"setting-more", "right", "", "the parameter in focus, one step up", SETTINGS | MEASURES,
     act_setting_step, 1},
    {"setting-type", "enter", "Enter type it", "type its value, or choose among its words",
     SETTINGS | MEASURES, act_setting_type, 0},
    {"keep", "k", "k keep",
     "keep the value of the parameter in focus for the next start; once more: no longer", SETTINGS,
     act_setting_keep, 0},
    {"find", "/", "/ find", "only parameters in whose name or words something stands", SETTINGS,
     act_find, 0},
    {"settings-page-up", "pgup", "", "a page up", SETTINGS, act_setting_move, -8},
    {"settings-page-down", "pgdn", "", "a page down", SETTINGS, act_setting_move, 8},
    {"row-up", "up", "↑↓ row", "the row before", TABLE, act_table_row, -1},
    {"row-down", "down", "", "the next row", TABLE, act_table_row, 1},
    {"row-live", "enter", "Enter measure it live", "measure the row in focus live", TABLE,
     act_table_enter, 0},
    {"y-axis", "g", "g y-axis", "pick the figure of the y axis", CURVES, act_pick, PICK_FIGURE},
    {"x-axis", "x", "x x-axis", "pick the parameter of the x axis, of those that were varied",
     CURVES, act_pick, PICK_AXIS},
    {"axes", "l", "l log", "logarithmic axes, linear ones, and as the values are spread", CURVES,
     act_curve_axes, 0},
    {"read-before", "left", "←→ read off", "read off at the point before", CURVES, act_curve_read,
     -1},
    {"read-next", "right", "", "read off at the next point", CURVES, act_curve_read, 1},
    {"curve-before", "up", "", "where two parameters were varied: the curve for another value",
     CURVES, act_curve_other, -1},
    {"curve-next", "down", "", "the same, the next one", CURVES, act_curve_other, 1},
    {"point-live", "enter", "", "measure the point that is read off live", CURVES, act_curve_enter,
     0},
    {"before", "b", "b keep as before",
     "keep what is measured as \"before\", dotted beside what is measured from then on",
     CURVES | MEASURES, act_before, 0},
    {"columns-left", "[", "[ ] columns", "columns further left", TABLE, act_table_column, -1},
    {"columns-right", "]", "", "columns further right", TABLE, act_table_column, 1},
    {"place-left", "left", "←↑↓→ place", "the place with fewer connections", MAP, act_map_column,
     -1},
    {"place-right", "right", "", "the place with more connections", MAP, act_map_column, 1},
    {"place-up", "up", "", "the place with fewer requests/s", MAP, act_map_row, -1},
    {"place-down", "down", "", "the place with more requests/s", MAP, act_map_row, 1},
    {"place-live", "enter", "Enter see it live", "measure the place in focus live", MAP | MEASURES,
     act_map_enter, 0},
    {"map-measure", "n", "n {map}",
     "measure the map, or what is left of it; then: more rounds here and where the two are close",
     MAP | MEASURES, act_map_more, 0},
    {"map-figure", "g", "g figure", "pick the figure that the map compares", MAP, act_pick,
     PICK_MAP_FIGURE},
    {"line-up", "up", "↑↓ line", "the line of the bill before", WHY, act_why_line, -1},
    {"line-down", "down", "", "the next line of the bill", WHY, act_why_line, 1},
    {"lines-up", "up", "↑↓ scroll", "scroll up", COMPARE, act_compare_scroll, -1},
    {"lines-down", "down", "", "scroll down", COMPARE, act_compare_scroll, 1},
    {"lines-page-up", "pgup", "", "a page up", COMPARE, act_compare_scroll, -12},
    {"lines-page-down", "pgdn", "", "a page down", COMPARE, act_compare_scroll, 12},
    {"scroll-up", "up", "↑↓ scroll", "scroll the help up", HELP, act_scroll, -1},
    {"scroll-down", "down", "", "scroll the help down", HELP, act_scroll, 1},
    {"page-up", "pgup", "", "a page up", HELP, act_scroll, -12},
    {"page-down", "pgdn", "", "a page down", HELP, act_scroll, 12},
    {"workload", "w", "w workload", "pick the workload: what the load does",
     WORK_MAP | MEASURES, act_pick, PICK_WORKLOAD},
    {"plan", "p", "p plan",
     "pick a sweep or a plan, each with its time; Esc stops it, its rows stay",
     WORK_MAP | MEASURES, act_pick, PICK_PLAN},
    {"table-before", "left", "←→ table", "the table of the workload and lineup measured before",
     TABLE, act_table, -1},
    {"table-next", "right", "", "the table of the workload and lineup measured after", TABLE,
     act_table, 1},
    {"save", "s", "s save", "save the session as CSV in the current folder; never overwrites",
     VIEWS_ALL, act_save, 0},
    {"live", "1", "1-6 views", "the live view: what is measured now", VIEWS_ALL, act_view,
     VIEW_LIVE},
    {"table", "2", "",
     "the table view: all rows of this workload and lineup; after a plan those of the plan",
     VIEWS_ALL, act_view, VIEW_TABLE},
    {"curves", "3", "", "the curves view: any figure over any axis that was measured", VIEWS_ALL,
     act_view, VIEW_CURVES},
    {"map", "4", "",
     "the map view: where it matters, over connections and requests/s; measures nothing by itself",
     VIEWS_ALL, act_view, VIEW_MAP},
    {"why", "5", "", "the why view: the bill of a request, calls times their prices here",
     VIEWS_ALL, act_view, VIEW_WHY},
    {"explain", "e", "e explain",
     "explain the row in focus in the why view; there: the line in focus", WORK_MAP | WHY,
     act_explain, 0},
    {"model", "m", "m models", "pick the model of the pane in focus, one sentence each",
     WORK_MAP | MEASURES, act_pick, PICK_MODEL},
    {"more", "n", "n more", "measure as many samples again of what is measured", WORK | MEASURES,
     act_more, 0},
    {"load", "space", "space load off/on", "load off, and on again", WORK_MAP | MEASURES, act_load,
     0},
    {"pane", "tab", "Tab {pane}", "the next pane; it is compared with pane A", WORK_MAP | WHY,
     act_pane, 1},
    {"pane-before", "backtab", "", "the pane before", WORK_MAP | WHY, act_pane, -1},
    {"add", "a", "a add", "add a pane (at most 4)", WORK_MAP | MEASURES, act_add_pane, 0},
    {"drop", "d", "d drop", "drop the pane in focus", WORK_MAP | MEASURES, act_drop_pane, 0},
    {"figure", "g", "g figure", "pick the figure that the graphs show", LIVE, act_pick,
     PICK_FIGURE},
    {"log-axis", "l", "l log", "graphs with a logarithmic axis, and back", LIVE, act_log_axis, 0},
    {"before-live", "b", "",
     "keep what is measured as \"before\", beside what is measured from then on",
     LIVE | TABLE | MEASURES, act_before, 0},
    {"freeze", "f", "f freeze",
     "freeze the picture, measuring goes on; the arrows read all panes off", LIVE, act_freeze, 0},
    {"picture", "v", "v picture", "a picture (SVG) drawn by gnuplot, in the current folder", WORK,
     act_pick, PICK_PICTURE},
    {"open", "o", "o open",
     "open a saved session, one of the last or by its path; or compare one with this", VIEWS_ALL,
     act_pick, PICK_SESSION},
    {"copy", "y", "y copy",
     "copy ANSWER, WHY and TRUST as Markdown: to a file in the current folder and the clipboard",
     WORK | WHY | MAP, act_copy, 0},
    {"theme", "t", "", "pick the colours: for a dark or a light background, or none", VIEWS_ALL,
     act_pick, PICK_THEME},
    {"connections", "c", "", "put the brackets on the connections that ask", LIVE | MEASURES,
     act_field, PARAM_connections},
    {"idle", "i", "", "put the brackets on the idle connections", LIVE | MEASURES,
     act_field, PARAM_idle},
    {"rate", "r", "", "put the brackets on the rate asked for", LIVE | MEASURES,
     act_field, PARAM_rate},
    {"size", "z", "", "put the brackets on the size of a reply", LIVE | MEASURES,
     act_field, PARAM_size},
    {"type", "enter", "Enter type it", "type the number in brackets", LIVE | MEASURES, act_enter,
     0},
    {"up-again", "u", "", "start the server of the pane in focus again after it died",
     WORK_MAP | MEASURES, act_restart, 0},
    {"claims", "6", "",
     "the claims view: what is said of select and epoll, tried here; measures nothing by itself",
     VIEWS_ALL, act_view, VIEW_CLAIMS},
    {"settings", ",", ", settings", "every parameter: its value, its range, what it is; and back",
     VIEWS_ALL, act_settings, 0},
    {"prompt", ":", ": type", "type NAME VALUE to change a parameter, or the name of a command",
     VIEWS_ALL, act_prompt, 0},
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

void command_run(struct app *a, const struct command *c)
{
    if (c->views & MEASURES && session_file(a->session))
        app_warn(a, SAVED_SESSION);
    else
        c->run(a, c->arg);
}

/* A label with its {word} filled in. */
static void write_label(const struct app *a, const char *label, char *buf, size_t size)
{
    const char *at = strchr(label, '{');
    if (!at)
        snprintf(buf, size, "%s", label);
    else
        snprintf(buf, size, "%.*s%s", (int)(at - label), label,
                 !strcmp(at, "{field}")        ? a->scene->file ? "row" : param_table[a->field].id
                 : !strcmp(at, "{map}")        ? a->scene->map_missing ? "measure it" : "refine"
                 : !strcmp(at, "{pane}")       ? a->view == VIEW_WHY ? "other pair" : "pane"
                 : a->frozen || a->scene->file ? "read off"
                                               : "model");
}

/* Help and quit stand at the end, Esc only while there is something to stop, Tab where it leads
 * somewhere: a bill is always of A and another. */
static bool in_footer(const struct app *a, enum view view, const struct command *c)
{
    if (!(c->views & view) || !c->label[0] || c->label[0] == '?' || c->label[0] == 'q')
        return false;
    if (c->views & MEASURES && a->scene->file)
        return false;
    if (c->run == act_pane)
        return a->scene->pane_count > (view == VIEW_WHY ? 2 : 1);
    return c->run != act_back || scene_planning(a->scene);
}

void command_footer(const struct app *a, enum view view, int width, char *buf, size_t size)
{
    bool leaves = view == VIEW_LIVE && (!a->scene->file || !a->sessions.live);
    const char *tail = leaves ? "? help  q quit" : "? help  q back";
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
