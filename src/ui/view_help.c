/* SPDX-License-Identifier: MIT */
/* The help of a view is a walk over the command table, then what loopback hides and what the words
 * on the screen mean; nothing is written twice. */
#include <stdio.h>

#include "session/loopback.h"
#include "ui/commands.h"
#include "ui/keys.h"
#include "ui/text.h"
#include "ui/views.h"

static const char *const facts[] = {
    "Panes A to D stand side by side under the same load, in turns: while one is asked, the others "
    "rest. Figures are of each one's own turns; top shows the average over everybody's.",
    "Percent is of one CPU. A server with four busy threads shows 400. In the line of the CPUs "
    "stand what the servers use of theirs, what the load has to spare of its own, what other "
    "programs took (others), what the hypervisor took (steal), and what this screen costs (ui).",
    "A server looks at the sockets that it hands to the kernel at a wait, and finds those ready "
    "that have something for it. WHY says how many of each.",
    "ANSWER, WHY and TRUST say what was found, the counter that explains it, and what limits the "
    "figures. A difference counts only when its interval lies wholly outside 3 %.",
    "What loopback hides:",
};

struct page { /* draws the lines from `top` on, counts all */
    struct canvas *c;
    int y, end, skip, lines;
};

static void page_line(struct page *p, int indent, enum role role, const char *left,
                      const char *text)
{
    const char *rest = text;
    int w = p->c->w - indent - 2;
    do {
        const char *next;
        char line[400];
        size_t n = text_break(rest, w, &next);
        snprintf(line, sizeof line, "%.*s", (int)n, rest);
        if (p->lines++ >= p->skip && p->y < p->end) {
            if (rest == text)
                canvas_text(p->c, canvas_at(2, p->y, indent - 3), ROLE_FOCUS, true, left);
            canvas_text(p->c, canvas_at(indent, p->y++, w), role, false, line);
        }
        rest = next;
    } while (*rest);
}

static void page_all(struct page *p, enum view view)
{
    char keys[48];
    for (int i = 0; i < command_count; i++)
        if (command_table[i].views & view)
            page_line(p, 16, ROLE_TEXT, keys_show(command_table[i].keys, keys, sizeof keys),
                      command_table[i].help);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        page_line(p, 2, ROLE_TEXT, "", "");
        page_line(p, 2, ROLE_DIM, "", facts[i]);
    }
    for (int i = 0; i < LOOPBACK_COUNT; i++)
        page_line(p, 16, ROLE_DIM, loopback_points[i].name, loopback_points[i].text);
}

void view_help_draw(struct app *a)
{
    struct canvas *c = a->canvas;
    int room = c->h - 4;
    struct page count = {c, 0, 0, 0, 0};
    page_all(&count, a->help_of);
    int most = count.lines > room ? count.lines - room : 0;
    int top = a->help_top < most ? a->help_top : most;
    a->help_most = most;
    chrome_header(a);
    canvas_printf(c, canvas_at(1, 1, c->w - 2), ROLE_TITLE, true, "keys of the %s view",
                  view_find(a->help_of)->name);
    struct page p = {c, 2, 2 + room, top, 0};
    page_all(&p, a->help_of);
    if (top < most)
        canvas_printf(c, canvas_at(1, c->h - 2, c->w - 2), ROLE_DIM, false, "↓ %d more lines",
                      most - top);
    chrome_footer(a);
}
