/* SPDX-License-Identifier: MIT */
/* Text of every kind in a canvas: it lines up, it is clipped, nothing in it is obeyed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <locale.h>
#include <string.h>

#include <cmocka.h>

#include "ui/canvas.h"
#include "ui/text.h"

static char line[1024];

static const char *drawn(int w, int x, int max, bool ascii, const char *text)
{
    struct canvas *c = canvas_new(w, 1);
    c->ascii = ascii;
    canvas_text(c, canvas_at(x, 0, max), ROLE_TEXT, false, text);
    canvas_line(c, 0, line, sizeof line);
    canvas_free(c);
    return line;
}

static void shows_text_as_typed(void **state)
{
    (void)state;
    assert_string_equal(drawn(30, 0, 30, false, "%n%s%100d"), "%n%s%100d");
    assert_string_equal(drawn(30, 2, 30, false, "select"), "  select");
    assert_string_equal(drawn(30, 0, 3, false, "select"), "sel");
    assert_string_equal(drawn(4, 2, 30, false, "select"), "  se");
    assert_string_equal(drawn(4, -2, 30, false, "select"), "lect");
}

static void control_characters_are_not_obeyed(void **state)
{
    (void)state;
    assert_string_equal(drawn(30, 0, 30, false, "a\033[2Jb\nc\td"), "a?[2Jb?c?d");
    assert_string_equal(drawn(30, 0, 30, false, "a\xff\xc3(b"), "a?"
                                                                "?(b");
    assert_string_equal(drawn(30, 0, 30, false, "\xc0\xaf\xed\xa0\x80x"), "?????x");
    assert_string_equal(drawn(30, 0, 30, false, "a\xc2\x9bz"), "a?z");     /* C1 CSI */
    assert_string_equal(drawn(30, 0, 30, false, "a\xe2\x80\xaez"), "a?z"); /* right to left */
    assert_string_equal(drawn(30, 0, 30, false, "cut \xe6\x97"), "cut ??");
}

static void wide_and_combining_characters_line_up(void **state)
{
    (void)state;
    assert_int_equal(canvas_width("日本語"), 6);
    assert_int_equal(canvas_width("e\xcc\x81x"), 2);
    assert_string_equal(drawn(30, 0, 30, false, "日本語|"), "日本語|");
    assert_string_equal(drawn(30, 0, 30, false, "e\xcc\x81x"), "e\xcc\x81x");
    assert_string_equal(drawn(30, 0, 5, false, "日本語"), "日本"); /* no half of a character */
    assert_string_equal(drawn(5, 0, 30, false, "日本語"), "日本");
    struct canvas *c = canvas_new(10, 1);
    canvas_text(c, canvas_at(0, 0, 10), ROLE_TEXT, false, "日本|");
    assert_int_equal(c->cells[4].ch[0], L'|');
    assert_int_equal(c->cells[1].ch[0], 0);
    canvas_put(c, 1, 0, ROLE_TEXT, L'x'); /* takes the right half: the left one must not stay */
    canvas_line(c, 0, line, sizeof line);
    assert_string_equal(line, " x本|");
    canvas_put(c, 2, 0, ROLE_TEXT, L'y');
    canvas_line(c, 0, line, sizeof line);
    assert_string_equal(line, " xy |");
    canvas_free(c);
}

static void ascii_keeps_the_columns(void **state)
{
    (void)state;
    assert_string_equal(drawn(40, 0, 40, true, "72.6 µs ±3 │ ▶ ● ⣿ █ …"), "72.6 us ~3 | > * # # .");
    assert_string_equal(drawn(40, 0, 40, true, "日本|"), "????|");
    assert_string_equal(drawn(40, 0, 40, true, "e\xcc\x81|"), "e|");
    for (wchar_t ch = 1; ch < 0x30000; ch++)
        if (text_ascii(ch) > 0x7f || text_ascii(ch) < 1)
            fail_msg("U+%04X becomes %d", (unsigned)ch, (int)text_ascii(ch));
}

static void utf8_goes_there_and_back(void **state)
{
    (void)state;
    for (wchar_t ch = 0xa1; ch < 0x30000; ch += 7) {
        char bytes[5];
        if ((ch >= 0xd800 && ch < 0xe000) || (ch >= 0x2028 && ch < 0x206a))
            continue;
        const char *at = bytes;
        text_utf8(ch, bytes);
        assert_int_equal(text_next(&at), ch);
        assert_int_equal(*at, 0);
    }
}

static void frames_hold_their_titles(void **state)
{
    (void)state;
    struct canvas *c = canvas_new(24, 3);
    canvas_frame(c, (struct rect){0, 0, 24, 3}, ROLE_FRAME, "A select", "turn");
    canvas_line(c, 0, line, sizeof line);
    assert_string_equal(line, "┌ A select ────── turn ┐");
    canvas_line(c, 2, line, sizeof line);
    assert_string_equal(line, "└──────────────────────┘");
    for (int w = 0; w < 24; w++)
        for (int h = 0; h < 4; h++) /* nothing is drawn outside: the sanitizer looks */
            canvas_frame(c, (struct rect){0, 0, w, h}, ROLE_FRAME, "a long title", "right end");
    canvas_free(c);
}

static void drawing_outside_changes_nothing(void **state)
{
    (void)state;
    struct canvas *c = canvas_new(3, 2);
    canvas_put(c, -1, 0, ROLE_TEXT, L'x');
    canvas_put(c, 3, 1, ROLE_TEXT, L'x');
    canvas_text(c, canvas_at(0, 2, 9), ROLE_TEXT, false, "xxx");
    canvas_text(c, canvas_at(0, -1, 9), ROLE_TEXT, false, "xxx");
    canvas_fill(c, (struct rect){-5, -5, 4, 20}, ROLE_TEXT, L'x');
    for (int y = 0; y < 2; y++) {
        canvas_line(c, y, line, sizeof line);
        assert_string_equal(line, "");
    }
    canvas_free(c);
}

static void text_breaks_at_blanks(void **state)
{
    (void)state;
    const char *next;
    assert_int_equal(text_break("one two three", 8, &next), 7);
    assert_string_equal(next, "three");
    assert_int_equal(text_break("unbreakable", 4, &next), 4);
    assert_string_equal(next, "eakable");
    assert_int_equal(text_break("日本語", 1, &next), 3); /* too narrow: it goes on all the same */
    assert_int_equal(text_lines("", 10), 1);
    assert_int_equal(text_lines("one two three", 8), 2);
}

static const char *cut(int w, bool ascii, const char *text)
{
    struct canvas *c = canvas_new(30, 1);
    c->ascii = ascii;
    canvas_cut(c, canvas_at(0, 0, w), ROLE_TEXT, false, text);
    canvas_line(c, 0, line, sizeof line);
    canvas_free(c);
    return line;
}

/* "holds 1018 of 150" is another number. */
static void long_text_is_cut_between_words(void **state)
{
    (void)state;
    assert_string_equal(cut(18, false, "holds 1018 of 1500"), "holds 1018 of 1500");
    assert_string_equal(cut(17, false, "holds 1018 of 1500"), "holds 1018 of …");
    assert_string_equal(cut(17, true, "holds 1018 of 1500"), "holds 1018 of ..");
    assert_string_equal(cut(17, false, "in unbreakable_name_of_a_file"), "in unbreakable_n…");
    assert_string_equal(cut(8, false, "日本語日本語"), "日本語…");
    assert_string_equal(cut(3, true, "a b c"), "a..");
    assert_string_equal(cut(2, true, "a b c"), "."); /* no room for more */
    assert_string_equal(cut(1, true, "a b c"), ".");
    assert_string_equal(cut(0, false, "a b c"), "");
}

int main(void)
{
    setlocale(LC_ALL, "C.UTF-8");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_text_as_typed),
        cmocka_unit_test(control_characters_are_not_obeyed),
        cmocka_unit_test(wide_and_combining_characters_line_up),
        cmocka_unit_test(ascii_keeps_the_columns),
        cmocka_unit_test(utf8_goes_there_and_back),
        cmocka_unit_test(frames_hold_their_titles),
        cmocka_unit_test(drawing_outside_changes_nothing),
        cmocka_unit_test(text_breaks_at_blanks),
        cmocka_unit_test(long_text_is_cut_between_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
