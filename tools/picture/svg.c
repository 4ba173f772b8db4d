/* SPDX-License-Identifier: MIT */
/* One group a colour, and in it: the dots of graphs (a dashed stroke down each column of dots), the
 * strokes of frames, filled bars, and text. Each letter of a text has its own place, so columns
 * line up whatever font the reader has. */
#include "svg.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "marks.h"
#include "terminal/tty.h"

#define MARGIN 14
#define DEFAULT 256 /* the colour of text that has none */
#define COLORS 257

struct glyph {
    uint32_t ch; /* 0 and ' ': blank */
    int color;
    bool bold, reverse;
};

struct picture {
    int rows, cols;
    struct glyph *glyphs; /* rows * cols */
    FILE *out;
};

static const struct glyph *at(const struct picture *p, int x, int y)
{
    return &p->glyphs[y * p->cols + x];
}

static int color_of(const VTermColor *c)
{
    if (VTERM_COLOR_IS_DEFAULT_FG(c) || !VTERM_COLOR_IS_INDEXED(c))
        return DEFAULT;
    return c->indexed.idx;
}

static void take(struct tty *t, struct picture *p)
{
    for (int y = 0; y < p->rows; y++)
        for (int x = 0; x < p->cols; x++) {
            VTermScreenCell cell;
            struct glyph *g = &p->glyphs[y * p->cols + x];
            if (!vterm_screen_get_cell(t->screen, (VTermPos){.row = y, .col = x}, &cell))
                continue;
            g->ch = cell.chars[0] == (uint32_t)-1 ? 0 : cell.chars[0];
            g->color = color_of(&cell.fg);
            g->bold = cell.attrs.bold;
            g->reverse = cell.attrs.reverse;
        }
}

/* --- colours --------------------------------------------------------------------------------- */

static unsigned rgb_of(int color)
{
    static const unsigned basic[] = {0x3b4048, 0xe0606a, 0x4fb36f, 0xc9a03d, 0x4f9de0, 0xb97fd0,
                                     0x3fb3c0, 0xc8ccd4, 0x6b7280, 0xf0808a, 0x6fd08f, 0xe5c05d,
                                     0x6fb8f5, 0xd09fe5, 0x5fd0dd, 0xffffff};
    static const unsigned char step[] = {0, 95, 135, 175, 215, 255};
    if (color == DEFAULT)
        return 0xd7dce2;
    if (color < 16)
        return basic[color];
    if (color >= 232)
        return (unsigned)(8 + 10 * (color - 232)) * 0x10101;
    int c = color - 16;
    return (unsigned)step[c / 36] << 16 | (unsigned)step[c / 6 % 6] << 8 | step[c % 6];
}

/* The same on white: darker, since the palette was made for both and leans to the dark side. */
static unsigned light_rgb_of(int color)
{
    unsigned rgb = rgb_of(color), r = rgb >> 16, g = rgb >> 8 & 255, b = rgb & 255;
    if (color == DEFAULT)
        return 0x1f2328;
    return (r * 4 / 5) << 16 | (g * 4 / 5) << 8 | b * 4 / 5;
}

static bool used(const struct picture *p, int color)
{
    for (int i = 0; i < p->rows * p->cols; i++)
        if (p->glyphs[i].ch && p->glyphs[i].color == color)
            return true;
    return false;
}

static void put_style(const struct picture *p)
{
    fputs("<style>\n"
          "text{font:15px ui-monospace,'DejaVu Sans Mono',Menlo,Consolas,'Liberation Mono',"
          "monospace;fill:currentColor;white-space:pre}\n"
          ".b{font-weight:bold}\n"
          ".d{fill:none;stroke:currentColor;stroke-width:3.2;stroke-dasharray:3.2 1.3}\n"
          ".l{fill:none;stroke:currentColor}\n"
          ".f{fill:currentColor}\n"
          ".bg{fill:#0f141b}\n"
          ".r{fill:#0f141b}\n", p->out);
    for (int c = 0; c < COLORS; c++)
        if (used(p, c))
            fprintf(p->out, ".c%d{color:#%06x}\n", c, rgb_of(c));
    fputs("@media (prefers-color-scheme:light){\n"
          ".bg{fill:#ffffff;stroke:#d0d7de}\n.r{fill:#ffffff}\n",
          p->out);
    for (int c = 0; c < COLORS; c++)
        if (used(p, c))
            fprintf(p->out, ".c%d{color:#%06x}\n", c, light_rgb_of(c));
    fputs("}\n</style>\n", p->out);
}

/* --- one colour ------------------------------------------------------------------------------ */

static bool dot(const struct picture *p, int color, int x, int y)
{
    const struct glyph *g = at(p, x / DOTS_X, y / DOTS_Y);
    return g->color == color && marks_dots(g->ch) >> (y % DOTS_Y * DOTS_X + x % DOTS_X) & 1;
}

/* Runs of dots, down each column. */
static void gather_dots(const struct picture *p, int color, FILE *dots)
{
    const double pitch = (double)CELL_H / DOTS_Y, size = 3.2;
    for (int x = 0; x < p->cols * DOTS_X; x++)
        for (int y = 0, n; y < p->rows * DOTS_Y; y += n + 1) {
            for (n = 0; y + n < p->rows * DOTS_Y && dot(p, color, x, y + n); n++) {
            }
            if (n > 0)
                fprintf(dots, "M%g %gv%g", MARGIN + (x + 0.5) * CELL_W / DOTS_X,
                        MARGIN + (y + 0.5) * pitch - size / 2, (n - 1) * pitch + size);
        }
}

/* Is it drawn by marks_draw() or as dots? Everything else is text. */
static bool shape(const struct picture *p, int x, int y, FILE *lines, FILE *fills)
{
    const struct glyph *g = at(p, x, y);
    if (g->reverse)
        return false;
    return (g->ch >= 0x2800 && g->ch <= 0x28ff) ||
           marks_draw(g->ch, MARGIN + x * CELL_W, MARGIN + y * CELL_H, lines, fills);
}

static bool blank(const struct glyph *g)
{
    return g->ch == 0 || g->ch == ' ';
}

static void gather_shapes(const struct picture *p, int color, FILE *lines, FILE *fills)
{
    for (int y = 0; y < p->rows; y++)
        for (int x = 0; x < p->cols; x++) {
            const struct glyph *g = at(p, x, y);
            if (g->color != color)
                continue;
            if (g->reverse)
                fprintf(fills, "M%d %dh%dv%dh-%dz", MARGIN + x * CELL_W, MARGIN + y * CELL_H,
                        CELL_W, CELL_H, CELL_W);
            shape(p, x, y, lines, fills);
        }
}

static void put_char(FILE *f, uint32_t c)
{
    if (c == '<' || c == '&')
        fputs(c == '<' ? "&lt;" : "&amp;", f);
    else if (c >= ' ' && c < 0x7f)
        fputc((int)c, f);
    else if (c >= 0xa0)
        fprintf(f, "&#%u;", c);
}

/* Does this cell go on with the text that began at `first`? One blank may lie between words. */
static bool goes_on(const struct picture *p, const struct glyph *first, int x, int y, FILE *none)
{
    if (x >= p->cols || (blank(at(p, x, y)) && (x + 1 >= p->cols || blank(at(p, x + 1, y)))))
        return false;
    const struct glyph *g = at(p, x, y), *next = blank(g) ? at(p, x + 1, y) : g;
    return next->color == first->color && next->bold == first->bold &&
           next->reverse == first->reverse && !shape(p, blank(g) ? x + 1 : x, y, none, none);
}

static void put_run(const struct picture *p, int x, int end, int y)
{
    const struct glyph *g = at(p, x, y);
    const char *class = g->reverse ? (g->bold ? " class=\"r b\"" : " class=\"r\"")
                                   : (g->bold ? " class=\"b\"" : "");
    fprintf(p->out, "<text%s y=\"%d\" x=\"", class, MARGIN + y * CELL_H + 14);
    for (int i = x; i < end; i++)
        fprintf(p->out, "%s%d", i > x ? " " : "", MARGIN + i * CELL_W);
    fputs("\">", p->out);
    for (int i = x; i < end; i++)
        put_char(p->out, blank(at(p, i, y)) ? ' ' : at(p, i, y)->ch);
    fputs("</text>\n", p->out);
}

static void put_text(const struct picture *p, int color, FILE *none)
{
    for (int y = 0; y < p->rows; y++)
        for (int x = 0, end; x < p->cols; x = end) {
            const struct glyph *g = at(p, x, y);
            end = x + 1;
            if (blank(g) || g->color != color || shape(p, x, y, none, none))
                continue;
            while (goes_on(p, g, end, y, none))
                end++;
            put_run(p, x, end, y);
        }
}

static void put_path(const struct picture *p, const char *class, FILE **f, char **text)
{
    fclose(*f);
    if (**text)
        fprintf(p->out, "<path class=\"%s\" d=\"%s\"/>\n", class, *text);
    free(*text);
}

static void put_color(const struct picture *p, int color)
{
    char *text[4];
    size_t size[4];
    FILE *f[4]; /* dots, lines, fills, and what is thrown away */
    for (int i = 0; i < 4; i++)
        if (!(f[i] = open_memstream(&text[i], &size[i])))
            abort();
    gather_dots(p, color, f[0]);
    gather_shapes(p, color, f[1], f[2]);
    fprintf(p->out, "<g class=\"c%d\">\n", color);
    put_path(p, "d", &f[0], &text[0]);
    put_path(p, "l", &f[1], &text[1]);
    put_path(p, "f", &f[2], &text[2]);
    put_text(p, color, f[3]);
    fputs("</g>\n", p->out);
    fclose(f[3]);
    free(text[3]);
}

/* --- all ------------------------------------------------------------------------------------- */

static void put_picture(const struct picture *p, const char *title)
{
    int w = p->cols * CELL_W + 2 * MARGIN, h = p->rows * CELL_H + 2 * MARGIN;
    fprintf(p->out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                    "viewBox=\"0 0 %d %d\" role=\"img\">\n<title>", w, h, w, h);
    for (const char *s = title; *s; s++)
        if (*s != '<' && *s != '&')
            fputc(*s, p->out);
    fputs("</title>\n", p->out);
    put_style(p);
    fprintf(p->out, "<rect class=\"bg\" x=\".5\" y=\".5\" width=\"%d\" height=\"%d\" rx=\"8\"/>\n",
            w - 1, h - 1);
    for (int c = 0; c < COLORS; c++)
        if (used(p, c))
            put_color(p, c);
    fputs("</svg>\n", p->out);
}

bool svg_write(struct tty *t, const char *title, const char *path)
{
    struct picture p = {.rows = t->rows, .cols = t->cols};
    p.glyphs = calloc((size_t)(p.rows * p.cols), sizeof *p.glyphs);
    if (!p.glyphs)
        abort();
    take(t, &p);
    p.out = fopen(path, "w");
    if (p.out)
        put_picture(&p, title);
    bool ok = p.out && !ferror(p.out);
    if (p.out && fclose(p.out) != 0)
        ok = false;
    free(p.glyphs);
    return ok;
}
