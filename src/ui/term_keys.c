/* SPDX-License-Identifier: MIT */
/* What comes in from the terminal, as keys. Pasted text never becomes commands: it arrives between
 * the marks of bracketed paste, or, from a terminal without it, as more characters at once than a
 * person types. Characters are put together here: get_wch(3) makes one of a byte that is none and
 * of the keys behind it, and loses them all. The mouse is asked for presses alone, so that marking
 * text with Shift held works as ever. */
#include "ui/term_keys.h"

#include <curses.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <unistd.h>
#include <wchar.h>

#include "base/clock.h"
#include "ui/term.h"

#define ESC_MS 50
enum { KEY_PASTE_BEGIN = KEY_MAX + 1, KEY_PASTE_END };
enum { PASTE_FLOOD = 48, PASTE_QUIET_MS = 120, LATE_MS = 300, GONE_AFTER = 3 };

#define PRESSES (BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED)

static struct {
    int empty_reads;
    uint64_t esc_ns; /* when a lone Esc was reported */
    bool marks; /* the terminal is known to mark a paste: no need to guess */
    bool take_paste, in_paste;
    uint64_t paste_ns; /* its last character */
    mbstate_t part; /* the bytes of a character that have come so far */
    struct term_mouse mouse;
} in;

/* Every form of the arrows and of the keys above them, whichever this terminal sends; and the marks
 * of a paste. */
static void define_keys(void)
{
    static const struct {
        const char *bytes;
        int key;
    } more[] = {
        {"\033[A", KEY_UP},           {"\033[B", KEY_DOWN},
        {"\033[C", KEY_RIGHT},        {"\033[D", KEY_LEFT},
        {"\033OA", KEY_UP},           {"\033OB", KEY_DOWN},
        {"\033OC", KEY_RIGHT},        {"\033OD", KEY_LEFT},
        {"\033[H", KEY_HOME},         {"\033[F", KEY_END},
        {"\033OH", KEY_HOME},         {"\033OF", KEY_END},
        {"\033[1~", KEY_HOME},        {"\033[4~", KEY_END},
        {"\033[7~", KEY_HOME},        {"\033[8~", KEY_END},
        {"\033[5~", KEY_PPAGE},       {"\033[6~", KEY_NPAGE},
        {"\033[3~", KEY_DC},          {"\033[Z", KEY_BTAB},
        {"\033OP", KEY_F(1)},         {"\033[11~", KEY_F(1)},
        {"\033[21~", KEY_F(10)},      {"\033[200~", KEY_PASTE_BEGIN},
        {"\033[201~", KEY_PASTE_END},
    };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        define_key(more[i].bytes, more[i].key);
}

void term_keys_open(void)
{
    const char *marks = tigetstr("BE");
    memset(&in, 0, sizeof in);
    in.marks = marks && marks != (const char *)-1;
    set_escdelay(ESC_MS);
    define_keys();
    mouseinterval(0); /* a press counts at once, whatever follows */
    mousemask(PRESSES, NULL);
}

/* A press that one can do something with. */
static int read_mouse(void)
{
    MEVENT e;
    if (getmouse(&e) != OK)
        return TERM_NONE;
    in.mouse.x = e.x;
    in.mouse.y = e.y;
    in.mouse.what = e.bstate & BUTTON4_PRESSED   ? MOUSE_WHEEL_UP
                    : e.bstate & BUTTON5_PRESSED ? MOUSE_WHEEL_DOWN
                                                 : MOUSE_CLICK;
    return e.bstate & PRESSES ? TERM_MOUSE : TERM_NONE;
}

struct term_mouse term_mouse(void)
{
    return in.mouse;
}

static const struct {
    int curses, key;
} key_map[] = {
    {KEY_UP, TERM_UP},
    {KEY_DOWN, TERM_DOWN},
    {KEY_LEFT, TERM_LEFT},
    {KEY_RIGHT, TERM_RIGHT},
    {KEY_ENTER, TERM_ENTER},
    {KEY_BTAB, TERM_BACKTAB},
    {KEY_BACKSPACE, TERM_BACKSPACE},
    {KEY_DC, TERM_DELETE},
    {KEY_HOME, TERM_HOME},
    {KEY_END, TERM_END},
    {KEY_PPAGE, TERM_PGUP},
    {KEY_NPAGE, TERM_PGDN},
    {KEY_F(1), TERM_F1},
    {KEY_F(10), TERM_F10},
    {KEY_RESIZE, TERM_RESIZE},
};

static int map_key(int code)
{
    for (size_t i = 0; i < sizeof key_map / sizeof *key_map; i++)
        if (key_map[i].curses == code)
            return key_map[i].key;
    return TERM_NONE;
}

static int map_char(wint_t ch)
{
    switch (ch) {
    case '\r':
    case '\n':
        return TERM_ENTER;
    case '\t':
        return TERM_TAB;
    case 27:
        in.esc_ns = clock_ns();
        return TERM_ESC;
    case 8:
    case 127:
        return TERM_BACKSPACE;
    default:
        return ch < 0x20 || (ch >= 0x80 && ch < 0xa0) ? TERM_NONE : (int)ch;
    }
}

static bool readable(int timeout_ms)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    return poll(&p, 1, timeout_ms) > 0 && (p.revents & POLLIN);
}

static int waiting_bytes(void)
{
    int n = 0;
    return ioctl(STDIN_FILENO, FIONREAD, &n) < 0 ? 0 : n;
}

/* Eats input until it has been quiet for a while (and at most 2 s). */
static void drain_flood(void)
{
    uint64_t end = clock_ns() + 2 * NS_PER_S;
    while (clock_ns() < end && readable(PASTE_QUIET_MS))
        while (getch() != ERR)
            ;
}

/* What follows "Esc [" or "Esc O": an arrow key that came slowly, or a key that has no meaning
 * here, which must not act as Esc and as the letters behind it. */
static int rest_of_key(void)
{
    static const char letters[] = "ABCDHF";
    static const int keys[] = {TERM_UP, TERM_DOWN, TERM_RIGHT, TERM_LEFT, TERM_HOME, TERM_END};
    const char *at = NULL;
    int n = 0;
    for (int ch = 0; ch < 0x40 || (n == 1 && ch == '['); n++) { /* a console's F1: Esc [ [ A */
        ch = getch(); /* curses may have read it already */
        if (ch == ERR && readable(LATE_MS))
            ch = getch();
        if (ch == 27) /* the next key */
            ungetch(27);
        if (ch == ERR || ch == 27 || ch >= KEY_MIN)
            return TERM_NONE;
        at = n == 0 && ch ? strchr(letters, ch) : NULL;
    }
    return at ? keys[at - letters] : TERM_NONE;
}

/* Of a key that curses does not know the rest has come with it. */
static bool begins_a_key(wint_t ch)
{
    int next = ch == 27 ? getch() : ERR;
    if (next != ERR && next != '[' && next != 'O')
        ungetch(next);
    return next == '[' || next == 'O';
}

/* Inside a paste? One whose end mark was lost is over after a second without a character. */
static bool pasting(void)
{
    if (in.in_paste && clock_ns() - in.paste_ns > NS_PER_S)
        in.in_paste = false;
    return in.in_paste;
}

static int take_char(wint_t ch)
{
    bool in_paste = pasting();
    in.paste_ns = clock_ns();
    if (in_paste)
        return in.take_paste && ch >= 0x20 && ch != 127 ? (int)ch : TERM_NONE;
    if ((ch == '[' || ch == 'O') && in.esc_ns && clock_ns() - in.esc_ns < LATE_MS * NS_PER_MS) {
        in.esc_ns = 0;
        return rest_of_key();
    }
    if (begins_a_key(ch))
        return rest_of_key();
    in.esc_ns = 0;
    if (!in.marks && ch != 27 && waiting_bytes() >= PASTE_FLOOD) {
        drain_flood();
        return TERM_NONE;
    }
    return map_char(ch);
}

/* Is the character whole with this byte? One that belongs to none is left out. */
static bool add_byte(int c, wint_t *ch)
{
    char byte = (char)c;
    wchar_t wide = 0;
    bool first = mbsinit(&in.part);
    size_t n = mbrtowc(&wide, &byte, 1, &in.part);
    *ch = (wint_t)wide;
    if (n != (size_t)-1)
        return n <= 1;
    memset(&in.part, 0, sizeof in.part);
    return !first && add_byte(c, ch); /* what had begun is none, but this may begin one */
}

/* As get_wch(3): ERR, OK or KEY_CODE_YES. */
static int next_char(wint_t *ch)
{
    int c = getch();
    while (c != ERR && c < KEY_MIN) {
        if (add_byte(c, ch))
            return OK;
        c = getch();
    }
    if (c == ERR)
        return ERR;
    memset(&in.part, 0, sizeof in.part);
    *ch = (wint_t)c;
    return KEY_CODE_YES;
}

/* One key that has arrived, or TERM_NONE. *any: something was read. */
static int read_key(bool *any)
{
    wint_t ch = 0;
    int rc = next_char(&ch);
    *any = rc != ERR;
    if (rc != KEY_CODE_YES)
        return rc == ERR ? TERM_NONE : take_char(ch);
    if ((int)ch == KEY_PASTE_BEGIN || (int)ch == KEY_PASTE_END) {
        in.in_paste = (int)ch == KEY_PASTE_BEGIN;
        in.paste_ns = clock_ns();
    }
    if ((int)ch == KEY_MOUSE) {
        int key = read_mouse(); /* out of the queue, also in a paste */
        return pasting() ? TERM_NONE : key;
    }
    return pasting() ? TERM_NONE : map_key((int)ch);
}

/* poll(2) says there is input: a terminal that is gone has none, time after time. Bytes that are no
 * character were input all the same. */
static int read_ready(void)
{
    bool any;
    int before = waiting_bytes(), key = read_key(&any);
    in.empty_reads = any || waiting_bytes() != before ? 0 : in.empty_reads + 1;
    return in.empty_reads >= GONE_AFTER ? TERM_GONE : key;
}

void term_take_paste(bool take)
{
    in.take_paste = take;
}

int term_key(int timeout_ms, int wake_fd)
{
    struct pollfd p[2] = {{.fd = STDIN_FILENO, .events = POLLIN},
                          {.fd = wake_fd, .events = POLLIN}};
    bool any;
    int key = read_key(&any); /* what curses has read already, poll(2) does not see */
    if (any)
        return key;
    int n = poll(p, 2, timeout_ms);
    if (n <= 0 || p[1].revents)
        return TERM_NONE;
    if (p[0].revents & POLLIN)
        return read_ready();
    return p[0].revents & (POLLHUP | POLLERR | POLLNVAL) ? TERM_GONE : TERM_NONE;
}
