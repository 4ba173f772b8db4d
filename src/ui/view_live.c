/* SPDX-License-Identifier: MIT */
/* The live view: layout.c says where, pane.c, small.c and chrome.c draw; here is the CPU line. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "ui/actions.h"
#include "ui/layout.h"
#include "ui/views.h"

/* "1" or "1-3" or "1-3,6": the CPUs of a set. */
static void cpu_list(const cpu_set_t *set, char *buf, size_t size)
{
    size_t used = 0;
    *buf = '\0';
    for (int i = 0; i < CPU_SETSIZE && used < size; i++) {
        if (!CPU_ISSET(i, set))
            continue;
        int to = i;
        while (to + 1 < CPU_SETSIZE && CPU_ISSET(to + 1, set))
            to++;
        int n =
            snprintf(buf + used, size - used, to > i ? "%s%d-%d" : "%s%d", used ? "," : "", i, to);
        used += n > 0 ? (size_t)n : 0;
        i = to;
    }
}

static const char *whole(double v, char *buf, size_t size)
{
    if (isnan(v))
        snprintf(buf, size, "-");
    else
        snprintf(buf, size, "%.0f", v);
    return buf;
}

static int draw_servers_cpu(struct app *a, int x, int y)
{
    const struct session_now *n = a->scene->now;
    struct canvas *c = a->canvas;
    double share = n->servers_cpu_pct;
    char text[16];
    if (!n->cpus.pinned)
        x += canvas_text(c, canvas_at(x, y, c->w - x), ROLE_TEXT, false, "unpinned ");
    else if (n->want.params.workers > 1) /* on CPUs of their own, as far as there are */
        x += canvas_text(c, canvas_at(x, y, c->w - x), ROLE_TEXT, false, "CPUs ");
    else
        x += canvas_printf(c, canvas_at(x, y, c->w - x), ROLE_TEXT, false, "CPU %d ",
                           n->cpus.server);
    meter_draw(c, canvas_at(x, y, 6), ROLE_TEXT, share);
    x += 7;
    x += canvas_printf(c, canvas_at(x, y, c->w - x), ROLE_TEXT, false, "server %3s %%  ",
                       whole(share, text, sizeof text));
    return x;
}

static void draw_cpu(struct app *a, int y)
{
    const struct session_now *n = a->scene->now;
    struct canvas *c = a->canvas;
    char cpus[48], spare[16], others[16], steal[16], ui[16];
    int x = draw_servers_cpu(a, 1, y);
    cpu_list(&n->cpus.load, cpus, sizeof cpus);
    x +=
        canvas_printf(c, canvas_at(x, y, c->w - x), ROLE_TEXT, false, "CPU %s load, %2s %% spare  ",
                      cpus, whole(n->load_spare_pct, spare, sizeof spare));
    canvas_printf(c, canvas_at(x, y, c->w - x), ROLE_DIM, false, "others %2s, steal %s, ui %s %%",
                  whole(n->others_pct, others, sizeof others),
                  whole(n->steal_pct, steal, sizeof steal), whole(n->ui_cpu_pct, ui, sizeof ui));
}

/* Of a saved session: which file it is, and where its figures are from. */
static void draw_machine(struct app *a, int y)
{
    const struct environment *e = a->scene->env;
    const char *slash = strrchr(a->scene->file, '/');
    char text[620];
    snprintf(text, sizeof text, "%.200s, measured on %s%s%s%s%s",
             slash ? slash + 1 : a->scene->file, *e->host ? e->host : "a machine",
             *e->cpu ? ", " : "", e->cpu, *e->kernel ? ", " : "", e->kernel);
    canvas_cut(a->canvas, canvas_at(1, y, a->canvas->w - 2), ROLE_DIM, false, text);
}

static void draw_pane(struct app *a, int pane, struct rect r)
{
    mouse_hot(a, r, act_focus, pane);
    pane_draw(a, pane, r);
}

void view_live_draw(struct app *a)
{
    struct layout l;
    const struct scene *s = a->scene;
    layout_live(a->canvas->w, a->canvas->h, s->pane_count,
                chrome_answer_lines(&s->answer, a->canvas->w), &l);
    chrome_header(a);
    chrome_asked(a, layout_find(&l, PART_ASKED, 0).y);
    for (int i = 0; i < s->pane_count; i++)
        draw_pane(a, i, layout_find(&l, PART_PANE, i));
    chrome_answer(a, layout_find(&l, PART_ANSWER, 0), &s->answer);
    struct rect table = layout_find(&l, PART_TABLE, 0), cpu = layout_find(&l, PART_CPU, 0);
    if (table.w)
        small_draw(a, table);
    if (cpu.w && s->file)
        draw_machine(a, cpu.y);
    else if (cpu.w)
        draw_cpu(a, cpu.y);
    chrome_log(a, layout_find(&l, PART_LOG, 0).y);
    chrome_footer(a);
}
