/* SPDX-License-Identifier: MIT */
/* UTF-8 is decoded here rather than by mbrtowc(3), so that the same bytes give the same cells in
 * every locale; overlong forms, surrogates and cut sequences count as broken. Widths are libc's
 * where the locale knows the character (curses uses the same), else guessed: 0 for combining
 * accents, 1 for the rest. */
#include "ui/text.h"

#include <string.h>

static int sequence_length(unsigned char c)
{
    if (c < 0x80)
        return 1;
    if (c >= 0xc2 && c < 0xe0)
        return 2;
    if (c >= 0xe0 && c < 0xf0)
        return 3;
    return c >= 0xf0 && c < 0xf5 ? 4 : 0;
}

/* The code point of n bytes, or 0 when they are no character. */
static unsigned long sequence_value(const unsigned char *p, int n)
{
    static const unsigned long least[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned long v = n == 1 ? p[0] : p[0] & (0xffu >> (n + 1));
    for (int i = 1; i < n; i++) {
        if ((p[i] & 0xc0) != 0x80)
            return 0;
        v = v << 6 | (p[i] & 0x3f);
    }
    if (v < least[n] || v > 0x10ffff || (v >= 0xd800 && v < 0xe000))
        return 0;
    return v;
}

wchar_t text_next(const char **s)
{
    const unsigned char *p = (const unsigned char *)*s;
    if (!*p)
        return 0;
    int n = sequence_length(*p);
    unsigned long v = n ? sequence_value(p, n) : 0;
    *s += v ? n : 1;
    if (v < 0x20 || (v >= 0x7f && v < 0xa0) || (v >= 0x2028 && v <= 0x202e) ||
        (v >= 0x2066 && v <= 0x2069))
        return L'?'; /* control characters, line separators and changes of direction */
    return (wchar_t)v;
}

int text_cell_width(wchar_t ch)
{
    if (ch < 0x80)
        return 1;
    int w = wcwidth(ch);
    if (w >= 0)
        return w;
    return (ch >= 0x300 && ch < 0x370) || ch == 0x200b || ch == 0x200d || ch == 0xfe0f ? 0 : 1;
}

struct plain {
    wchar_t from, to; /* a range of characters */
    char as;
};

static const struct plain plain_table[] = {
    {0xa0, 0xa0, ' '},     {0xb0, 0xb0, 'o'},     {0xb1, 0xb1, '~'},     {0xb2, 0xb2, '2'},
    {0xb3, 0xb3, '3'},     {0xb5, 0xb5, 'u'},     {0xb7, 0xb7, '-'},     {0xd7, 0xd7, 'x'},
    {0xf7, 0xf7, '/'},     {0x3bc, 0x3bc, 'u'},   {0x2010, 0x2015, '-'}, {0x2018, 0x2019, '\''},
    {0x201c, 0x201d, '"'}, {0x2022, 0x2022, '*'}, {0x2026, 0x2026, '.'}, {0x2190, 0x2190, '<'},
    {0x2191, 0x2191, '^'}, {0x2192, 0x2192, '>'}, {0x2193, 0x2193, 'v'}, {0x2212, 0x2212, '-'},
    {0x2248, 0x2248, '~'}, {0x2264, 0x2264, '<'}, {0x2265, 0x2265, '>'}, {0x2500, 0x2501, '-'},
    {0x2502, 0x2503, '|'}, {0x2504, 0x2505, '-'}, {0x2506, 0x2507, '|'}, {0x2508, 0x2509, '-'},
    {0x250a, 0x250b, '|'}, {0x250c, 0x254b, '+'}, {0x2550, 0x2550, '='}, {0x2551, 0x2551, '|'},
    {0x2552, 0x256c, '+'}, {0x2581, 0x2582, '.'}, {0x2583, 0x2585, ':'}, {0x2586, 0x2590, '#'},
    {0x2591, 0x2591, '.'}, {0x2592, 0x2592, ':'}, {0x2593, 0x259f, '#'}, {0x25a0, 0x25a0, '#'},
    {0x25ae, 0x25ae, '#'}, {0x25af, 0x25af, '.'}, {0x25b2, 0x25b2, '^'}, {0x25b6, 0x25b6, '>'},
    {0x25b8, 0x25b8, '>'}, {0x25bc, 0x25bc, 'v'}, {0x25c0, 0x25c0, '<'}, {0x25c6, 0x25c6, '*'},
    {0x25cb, 0x25cb, 'o'}, {0x25cf, 0x25cf, '*'}, {0x2713, 0x2714, '+'}, {0x2717, 0x2718, 'x'},
    {0x2800, 0x2800, ' '}, {0x2801, 0x28ff, '#'},
};

wchar_t text_ascii(wchar_t ch)
{
    if (ch < 0x80)
        return ch;
    for (size_t i = 0; i < sizeof plain_table / sizeof *plain_table; i++)
        if (ch >= plain_table[i].from && ch <= plain_table[i].to)
            return (wchar_t)plain_table[i].as;
    return L'?';
}

int text_utf8(wchar_t ch, char *buf)
{
    unsigned long v = (unsigned long)ch;
    int n = v < 0x80 ? 1 : v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;
    static const unsigned char lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (int i = n - 1; i > 0; i--, v >>= 6)
        buf[i] = (char)(0x80 | (v & 0x3f));
    buf[0] = (char)(lead[n] | v);
    buf[n] = '\0';
    return n;
}

size_t text_break(const char *text, int width, const char **next)
{
    const char *s = text, *blank = NULL;
    int used = 0;
    while (*s) {
        const char *at = s;
        wchar_t ch = text_next(&s);
        if (ch == L' ')
            blank = at;
        used += text_cell_width(ch);
        if (used > width) {
            const char *end = blank && blank > text ? blank : at > text ? at : s;
            *next = end;
            while (**next == ' ')
                ++*next;
            return (size_t)(end - text);
        }
    }
    *next = s;
    return (size_t)(s - text);
}

int text_lines(const char *text, int width)
{
    int n = 0;
    do {
        text_break(text, width, &text);
        n++;
    } while (*text);
    return n;
}
