/* SPDX-License-Identifier: MIT */
/* The filter finds letters anywhere in the name or the sentence, whatever their case. The window
 * scrolls so that the cursor stays in sight; where it starts follows from the cursor alone, so that
 * a screen drawn anew is the same. */
#include "ui/picker.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "ui/term.h"
#include "ui/text.h"
#include "ui/views.h"

void picker_open(struct picker *p, int kind, const char *title)
{
    memset(p, 0, sizeof *p);
    p->kind = kind;
    snprintf(p->title, sizeof p->title, "%s", title);
}

struct picker_item *picker_add(struct picker *p)
{
    if (p->count < PICKER_ITEMS)
        p->count++;
    struct picker_item *item = &p->items[p->count - 1];
    memset(item, 0, sizeof *item);
    return item;
}

static bool holds(const char *text, const char *part)
{
    return strcasestr(text, part) != NULL;
}

bool picker_matches(const struct picker *p, int i)
{
    const struct picker_item *item = &p->items[i];
    return !p->filter[0] || holds(item->name, p->filter) || holds(item->text, p->filter);
}

/* The next item that matches, from i in steps of d; -1 when there is none. */
static int next_match(const struct picker *p, int i, int d)
{
    for (; i >= 0 && i < p->count; i += d)
        if (picker_matches(p, i))
            return i;
    return -1;
}

static void move(struct picker *p, int d, int times)
{
    while (times-- > 0) {
        int next = next_match(p, p->at + d, d);
        if (next < 0)
            return;
        p->at = next;
    }
}

/* After the filter changed: names that begin with it come first. */
static void settle(struct picker *p)
{
    size_t n = strlen(p->filter);
    for (int i = 0; n && i < p->count; i++)
        if (!strncasecmp(p->items[i].name, p->filter, n)) {
            p->at = i;
            return;
        }
    if (p->at < 0 || !picker_matches(p, p->at))
        p->at = next_match(p, 0, 1);
}

void picker_start(struct picker *p, int value)
{
    p->at = p->count ? 0 : -1;
    for (int i = 0; i < p->count; i++)
        if (p->items[i].value == value)
            p->at = i;
}

static void type(struct picker *p, int key)
{
    char bytes[5];
    size_t used = strlen(p->filter);
    int n = text_utf8((wchar_t)key, bytes);
    if (used + (size_t)n < sizeof p->filter && key >= 0x20 && key < TERM_KEY_BASE)
        memcpy(p->filter + used, bytes, (size_t)n + 1);
    settle(p);
}

static void untype(struct picker *p)
{
    size_t n = strlen(p->filter);
    while (n && (p->filter[--n] & 0xc0) == 0x80)
        ;
    p->filter[n] = '\0';
    settle(p);
}

static enum picker_result take(struct picker *p)
{
    if (p->at < 0)
        return PICKER_STAY;
    if (!p->items[p->at].why_not[0])
        return PICKER_TAKE;
    snprintf(p->message, sizeof p->message, "%s: %s", p->items[p->at].name,
             p->items[p->at].why_not);
    return PICKER_STAY;
}

enum picker_result picker_key(struct picker *p, int key)
{
    p->message[0] = '\0';
    switch (key) {
    case TERM_ESC:
        return PICKER_CLOSE;
    case TERM_ENTER:
        return take(p);
    case TERM_UP:
    case TERM_BACKTAB:
        move(p, -1, 1);
        break;
    case TERM_DOWN:
    case TERM_TAB:
        move(p, 1, 1);
        break;
    case TERM_PGUP:
    case TERM_HOME:
        move(p, -1, key == TERM_HOME ? p->count : 8);
        break;
    case TERM_PGDN:
    case TERM_END:
        move(p, 1, key == TERM_END ? p->count : 8);
        break;
    case TERM_BACKSPACE:
        untype(p);
        break;
    default:
        if (key > 0x20 || (key == ' ' && p->filter[0]))
            type(p, key);
    }
    return PICKER_STAY;
}

/* --- drawing ---------------------------------------------------------------------------------- */

enum { ITEM_TEXT = 360, DETAIL_LINES = 2 };

struct line { /* of the list: an item, or (item < 0) the heading of a group */
    int item;
    const char *group;
};

static int list_lines(const struct picker *p, struct line out[2 * PICKER_ITEMS])
{
    const char *group = NULL;
    int n = 0;
    for (int i = 0; i < p->count; i++) {
        if (!picker_matches(p, i))
            continue;
        const char *g = p->items[i].group;
        if (g && (!group || strcmp(g, group) != 0))
            out[n++] = (struct line){-1, g};
        group = g ? g : group;
        out[n++] = (struct line){i, g};
    }
    return n;
}

static int count_items(const struct line *lines, int from, int to)
{
    int items = 0;
    for (int i = from; i < to; i++)
        items += lines[i].item >= 0;
    return items;
}

static int name_width(const struct picker *p, int room)
{
    int most = 6;
    for (int i = 0; i < p->count; i++) {
        int w = canvas_width(p->items[i].name);
        most = w > most ? w : most;
    }
    return most > room / 2 ? room / 2 : most;
}

/* A model that cannot run here says why first. */
static void item_text(const struct picker_item *item, char text[ITEM_TEXT])
{
    if (item->why_not[0])
        snprintf(text, ITEM_TEXT, "%s (%s)", item->why_not, item->text);
    else
        snprintf(text, ITEM_TEXT, "%s", item->text);
}

static void draw_item(struct canvas *c, const struct picker *p, struct rect r, int i)
{
    const struct picker_item *item = &p->items[i];
    bool here = i == p->at;
    enum role role = here ? ROLE_SELECTED : item->why_not[0] ? ROLE_DIM : ROLE_TEXT;
    int name = name_width(p, r.w);
    canvas_fill(c, r, role, L' ');
    canvas_put(c, r.x + 1, r.y, role, here ? L'▶' : L' ');
    canvas_cut(c, canvas_at(r.x + 3, r.y, name), role, here, item->name);
    int x = r.x + 3 + name + 2, room = r.x + r.w - 1 - x;
    char text[ITEM_TEXT];
    item_text(item, text);
    canvas_cut(c, canvas_at(x, r.y, room), role, false, text);
}

/* Is any sentence longer than its row? Then the one under the cursor is written out below. */
static bool any_cut(const struct picker *p, int w)
{
    char text[ITEM_TEXT];
    int room = w - 2 - 3 - name_width(p, w - 2) - 2 - 1;
    for (int i = 0; i < p->count; i++) {
        item_text(&p->items[i], text);
        if (canvas_width(text) > room)
            return true;
    }
    return false;
}

static void draw_detail(struct canvas *c, const struct picker *p, struct rect r)
{
    char text[ITEM_TEXT];
    if (p->at < 0 || r.h < 1)
        return;
    item_text(&p->items[p->at], text);
    chrome_text(c, r, ROLE_DIM, false, text);
}

/* In the frame's last line; `below`: items that stand below what is in sight. */
static void draw_foot(struct canvas *c, const struct picker *p, struct rect r, int below)
{
    int y = r.y + r.h - 1, room = r.w - 4;
    const char *keys = " ↑↓ choose  type to find  Enter take  Esc back ";
    char message[sizeof p->message + 2];
    snprintf(message, sizeof message, " %s ", p->message);
    if (p->message[0])
        canvas_cut(c, canvas_at(r.x + 2, y, room), ROLE_WARN, true, message);
    else if (p->filter[0])
        canvas_printf(c, canvas_at(r.x + 2, y, room), ROLE_FOCUS, true,
                      " find: %s_  Enter take  Esc back ", p->filter);
    else
        canvas_text(c, canvas_at(r.x + 2, y, room), ROLE_FRAME, false, keys);
    if (below && !p->message[0])
        canvas_printf(c, canvas_at(r.x + r.w - 12, y, 11), ROLE_DIM, false, " %d more ↓ ", below);
}

/* First line in sight. */
static int window_top(const struct line *lines, int n, int at, int room)
{
    int where = 0;
    for (int i = 0; i < n; i++)
        if (lines[i].item == at)
            where = i;
    int top = where < room - 1 ? 0 : where - room + 2;
    return top + room > n && n >= room ? n - room : n < room ? 0 : top;
}

void picker_draw(struct canvas *c, const struct picker *p, struct picker_place *out)
{
    struct line lines[2 * PICKER_ITEMS];
    int n = list_lines(p, lines);
    struct line all[2 * PICKER_ITEMS];
    struct picker whole = *p;
    whole.filter[0] = '\0';
    int most = list_lines(&whole, all); /* the frame keeps its size while one types */
    int w = c->w > 140 ? 140 : c->w, detail = any_cut(p, w) ? DETAIL_LINES : 0;
    int h = most + detail + 2 > c->h - 2 ? c->h - 2 : most + detail + 2;
    struct rect r = {(c->w - w) / 2, (c->h - h) / 2, w, h};
    canvas_fill(c, r, ROLE_TEXT, L' ');
    int room = h - 2 - detail, top = window_top(lines, n, p->at, room);
    char above[24] = "";
    if (count_items(lines, 0, top))
        snprintf(above, sizeof above, "%d more ↑", count_items(lines, 0, top));
    canvas_frame(c, r, ROLE_FRAME, p->title, above);
    *out = (struct picker_place){.r = {r.x + 1, r.y + 1, r.w - 2, room > 0 ? room : 0}};
    for (int i = 0; i < room && top + i < n; i++) {
        struct rect place = {r.x + 1, r.y + 1 + i, r.w - 2, 1};
        out->item[out->lines++] = lines[top + i].item;
        if (lines[top + i].item < 0)
            canvas_text(c, canvas_at(place.x + 1, place.y, place.w - 1), ROLE_TITLE, true,
                        lines[top + i].group);
        else
            draw_item(c, p, place, lines[top + i].item);
    }
    if (n == 0)
        canvas_text(c, canvas_at(r.x + 3, r.y + 1, r.w - 4), ROLE_DIM, false,
                    "nothing is called that");
    draw_detail(c, p, (struct rect){r.x + 3, r.y + h - 1 - detail, r.w - 5, detail});
    draw_foot(c, p, r, count_items(lines, top + room, n));
}
