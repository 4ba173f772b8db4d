/* SPDX-License-Identifier: MIT */
/* curses keeps the picture of the terminal and writes differences; this file keeps a copy of the
 * last canvas besides, so a frame costs only the cells that changed. newterm(3) rather than
 * initscr(3): a failure is an error, not an exit. Pasted text never becomes commands: it arrives
 * between the marks of bracketed paste, or, from a terminal without it, as more characters at once
 * than a person types. */
#include "ui/term.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "base/clock.h"
#include "ui/signals.h"
#include "ui/text.h"
#include "ui/theme.h"

#define ESC_MS 50
#define PASTE_ON "\033[?2004h"
#define PASTE_OFF "\033[?2004l"
enum { KEY_PASTE_BEGIN = KEY_MAX + 1, KEY_PASTE_END };
enum { PASTE_FLOOD = 48, PASTE_QUIET_MS = 120, LATE_MS = 300, GONE_AFTER = 3 };

static struct {
    SCREEN *screen;
    struct termios before;
    struct canvas *shown; /* what curses was given last */
    enum term_charset charset;
    int colors;
    attr_t attrs[ROLE_COUNT];
    short pairs[ROLE_COUNT];
    int empty_reads;
    uint64_t esc_ns; /* when a lone Esc was reported */
    bool take_paste, in_paste;
    uint64_t paste_ns; /* its last character */
} term;

/* For term_restore(): a handler may not ask terminfo. */
static struct bytes {
    char text[256];
    size_t length;
} leave, cursor_on;
static atomic_int taken; /* the terminal is ours */

/* --- giving it back --------------------------------------------------------------------------- */

/* Appends a terminfo string without its padding ("$<5>"). */
static void bytes_add(struct bytes *b, const char *s)
{
    if (!s || s == (const char *)-1)
        return;
    while (*s && b->length + 1 < sizeof b->text) {
        const char *close = s[0] == '$' && s[1] == '<' ? strchr(s, '>') : NULL;
        if (close)
            s = close + 1;
        else
            b->text[b->length++] = *s++;
    }
}

static void write_bytes(const struct bytes *b)
{
    if (write(STDOUT_FILENO, b->text, b->length) < 0) {
        /* nobody is left to see it */
    }
}

static void leave_compose(void)
{
    /* The cursor last: leaving the other screen brings back that screen's idea of it. */
    static char *const names[] = {"rmkx", "sgr0", "op", "rmcup", "cnorm"};
    leave.length = cursor_on.length = 0;
    bytes_add(&leave, PASTE_OFF);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        bytes_add(&leave, tigetstr(names[i]));
    if (!tigetstr("rmcup"))
        bytes_add(&leave, "\r\n");
    bytes_add(&cursor_on, tigetstr("cnorm"));
}

void term_restore(void)
{
    if (!atomic_exchange(&taken, 0))
        return;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    sigaction(SIGTTOU, &ignore, &old); /* in the background tcsetattr would stop us */
    write_bytes(&leave);
    tcsetattr(STDIN_FILENO, TCSANOW, &term.before);
    sigaction(SIGTTOU, &old, NULL);
}

/* --- opening ---------------------------------------------------------------------------------- */

static int check_terminal(struct err *e)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return err_set(e, ENOTTY, "%s is not a terminal; `iodash run` measures without one",
                       isatty(STDIN_FILENO) ? "standard output" : "standard input");
    const char *name = getenv("TERM");
    if (!name || !*name)
        return err_set(e, EINVAL,
                       "TERM is not set; it names the kind of terminal (xterm, linux, "
                       "vt100 ...)");
    int status = 0;
    if (setupterm(NULL, STDOUT_FILENO, &status) != OK)
        return err_set(e, EINVAL, "TERM=%s is not known here (%s)", name,
                       status < 0 ? "there is no terminfo database" : "no such terminfo entry");
    const char *cup = tigetstr("cup");
    leave_compose(); /* now: from the first byte on a signal may need it */
    del_curterm(cur_term);
    if (!cup || cup == (const char *)-1)
        return err_set(e, EINVAL, "TERM=%s cannot move the cursor; `iodash run` needs no screen",
                       name);
    return 0;
}

static enum term_charset pick_charset(enum term_charset asked)
{
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        return CHARSET_ASCII;
    return asked == CHARSET_AUTO ? CHARSET_BRAILLE : asked;
}

static bool wants_color(const struct term_options *o)
{
    const char *no = getenv("NO_COLOR");
    return !o->no_color && !(no && *no);
}

static void open_colors(bool wanted)
{
    term.colors = 0;
    if (wanted && has_colors() && start_color() == OK && use_default_colors() == OK)
        term.colors = COLORS;
    for (int r = 0; r < ROLE_COUNT; r++) {
        struct style s = theme_style((enum role)r, term.colors);
        term.attrs[r] = (s.bold ? A_BOLD : 0) | (s.dim ? A_DIM : 0) | (s.reverse ? A_REVERSE : 0) |
                        (s.underline ? A_UNDERLINE : 0);
        term.pairs[r] = 0;
        if (s.color >= 0 && init_pair((short)(r + 1), s.color, -1) == OK)
            term.pairs[r] = (short)(r + 1);
    }
}

static void tell(const char *s)
{
    if (write(STDOUT_FILENO, s, strlen(s)) < 0) {
        /* term_key() will find out */
    }
}

static void fit_size(void)
{
    struct winsize ws;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_row > 0 && ws.ws_col > 0 &&
        (ws.ws_row != LINES || ws.ws_col != COLS))
        resizeterm(ws.ws_row, ws.ws_col);
}

/* Both forms of the arrows, whichever the terminal was told to send; and the marks of a paste. */
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
        {"\033OP", KEY_F(1)},         {"\033[11~", KEY_F(1)},
        {"\033[21~", KEY_F(10)},      {"\033[200~", KEY_PASTE_BEGIN},
        {"\033[201~", KEY_PASTE_END},
    };
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        define_key(more[i].bytes, more[i].key);
}

static void open_screen(void)
{
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    leaveok(stdscr, TRUE);
    set_escdelay(ESC_MS);
    curs_set(0);
    define_keys();
    fit_size();
    tell(PASTE_ON);
}

/* In order, with curses in a state to go on from. A signal in the middle gives it back again. */
static void give_back(void)
{
    if (!atomic_load(&taken))
        return;
    tell(PASTE_OFF);
    endwin();
    write_bytes(&cursor_on);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &term.before);
    atomic_store(&taken, 0);
}

int term_open(const struct term_options *o, struct err *e)
{
    memset(&term, 0, sizeof term);
    int rc = check_terminal(e);
    if (rc < 0)
        return rc;
    if (tcgetattr(STDIN_FILENO, &term.before) < 0)
        return err_sys(e, "reading the terminal's settings");
    rc = signals_open(term_restore, e);
    if (rc < 0)
        return rc;
    atomic_store(&taken, 1);
    die_on(term_restore);
    term.screen = newterm(NULL, stdout, stdin);
    if (!term.screen) {
        atomic_store(&taken, 0);
        die_on(NULL);
        signals_close();
        return err_set(e, EINVAL, "TERM=%s cannot be used", getenv("TERM"));
    }
    term.charset = pick_charset(o->charset);
    open_colors(wants_color(o));
    open_screen();
    term.shown = canvas_new(1, 1);
    return 0;
}

void term_close(void)
{
    if (!term.screen)
        return;
    give_back();
    die_on(NULL);
    signals_close();
    delscreen(term.screen);
    term.screen = NULL;
    canvas_free(term.shown);
    term.shown = NULL;
}

/* --- showing ---------------------------------------------------------------------------------- */

void term_size(int *w, int *h)
{
    *w = COLS;
    *h = LINES;
}

enum term_charset term_charset(void)
{
    return term.charset;
}

int term_colors(void)
{
    return term.colors;
}

static bool same_cell(const struct cell *a, const struct cell *b)
{
    return a->role == b->role && a->bold == b->bold && a->ch[0] == b->ch[0] &&
           a->ch[1] == b->ch[1] && a->ch[2] == b->ch[2];
}

static void show_cell(int x, int y, const struct cell *c)
{
    wchar_t text[4] = {c->ch[0], c->ch[1], c->ch[1] ? c->ch[2] : 0, 0};
    attr_t attr = term.attrs[c->role] | (c->bold ? A_BOLD : 0);
    cchar_t out;
    if (c->ch[0] && setcchar(&out, text, attr, term.pairs[c->role], NULL) == OK)
        mvadd_wch(y, x, &out);
}

static bool was_shown(const struct canvas *c, int i, bool all)
{
    return !all && same_cell(&c->cells[i], &term.shown->cells[i]);
}

void term_show(const struct canvas *c)
{
    bool all = c->w != term.shown->w || c->h != term.shown->h;
    if (all) {
        canvas_resize(term.shown, c->w, c->h);
        erase();
    }
    for (int i = 0; i < c->w * c->h; i++)
        if (!was_shown(c, i, all))
            show_cell(i % c->w, i / c->w, &c->cells[i]);
    memcpy(term.shown->cells, c->cells, (size_t)c->w * (size_t)c->h * sizeof *c->cells);
    refresh();
}

/* Whatever is on the terminal now is not what curses thinks: draw it anew. */
static void take_again(void)
{
    reset_prog_mode();
    tell(PASTE_ON);
    clearok(curscr, TRUE);
    atomic_store(&taken, 1);
    fit_size();
    canvas_resize(term.shown, 1, 1);
    curs_set(0);
}

void term_suspend(void)
{
    give_back();
    raise(SIGSTOP); /* goes on here after SIGCONT */
    take_again();
}

/* --- keys ------------------------------------------------------------------------------------- */

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
        term.esc_ns = clock_ns();
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
    wint_t ch;
    while (clock_ns() < end && readable(PASTE_QUIET_MS))
        while (get_wch(&ch) != ERR)
            ;
}

/* "[A" after a lone Esc is an arrow key that came slowly. */
static int late_arrow(void)
{
    static const char letters[] = "ABCDHF";
    static const int keys[] = {TERM_UP, TERM_DOWN, TERM_RIGHT, TERM_LEFT, TERM_HOME, TERM_END};
    wint_t ch;
    int rc = get_wch(&ch); /* curses may have read it already */
    if (rc == ERR && readable(LATE_MS))
        rc = get_wch(&ch);
    if (rc != OK)
        return TERM_NONE;
    const char *at = ch && ch < 0x80 ? strchr(letters, (int)ch) : NULL;
    return at ? keys[at - letters] : TERM_NONE;
}

/* Inside a paste? One whose end mark was lost is over after a second without a character. */
static bool pasting(void)
{
    if (term.in_paste && clock_ns() - term.paste_ns > NS_PER_S)
        term.in_paste = false;
    return term.in_paste;
}

static int take_char(wint_t ch)
{
    bool in_paste = pasting();
    term.paste_ns = clock_ns();
    if (in_paste)
        return term.take_paste && ch >= 0x20 && ch != 127 ? (int)ch : TERM_NONE;
    if ((ch == '[' || ch == 'O') && term.esc_ns && clock_ns() - term.esc_ns < LATE_MS * NS_PER_MS) {
        term.esc_ns = 0;
        return late_arrow();
    }
    term.esc_ns = 0;
    if (ch != 27 && waiting_bytes() >= PASTE_FLOOD) {
        drain_flood();
        return TERM_NONE;
    }
    return map_char(ch);
}

/* One key that has arrived, or TERM_NONE. *any: something was read. */
static int read_key(bool *any)
{
    wint_t ch = 0;
    int rc = get_wch(&ch);
    *any = rc != ERR;
    if (rc != KEY_CODE_YES)
        return rc == ERR ? TERM_NONE : take_char(ch);
    if ((int)ch == KEY_PASTE_BEGIN || (int)ch == KEY_PASTE_END) {
        term.in_paste = (int)ch == KEY_PASTE_BEGIN;
        term.paste_ns = clock_ns();
    }
    return pasting() ? TERM_NONE : map_key((int)ch);
}

/* poll(2) says there is input: a terminal that is gone has none, time after time. Bytes that are no
 * character were input all the same. */
static int read_ready(void)
{
    bool any;
    int before = waiting_bytes(), key = read_key(&any);
    term.empty_reads = any || waiting_bytes() != before ? 0 : term.empty_reads + 1;
    return term.empty_reads >= GONE_AFTER ? TERM_GONE : key;
}

void term_take_paste(bool take)
{
    term.take_paste = take;
}

void term_resized(void)
{
    fit_size();
}

void term_continued(void)
{
    take_again();
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
