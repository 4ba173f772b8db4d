/* SPDX-License-Identifier: MIT */
/* curses keeps the picture of the terminal and writes differences; this file keeps a copy of the
 * last canvas besides, so a frame costs only the cells that changed. newterm(3) rather than
 * initscr(3): a failure is an error, not an exit. Keys are read in term_keys.c. */
#include "ui/term.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <term.h>
#include <termios.h>
#include <unistd.h>

#include "ui/signals.h"
#include "ui/term_keys.h"

#define PASTE_ON "\033[?2004h"
#define PASTE_OFF "\033[?2004l"
#define SYNC_BEGIN "\033[?2026h"
#define SYNC_END "\033[?2026l"

static struct {
    SCREEN *screen;
    struct termios before;
    struct canvas *shown; /* what curses was given last */
    enum term_charset charset;
    int colors;
    attr_t attrs[ROLE_COUNT];
    short pairs[ROLE_COUNT];
    bool sync; /* the terminal may be told to show a frame at once */
} term;

/* For term_restore(): a handler may not ask terminfo. */
static struct bytes {
    char text[256];
    size_t length;
} leave, cursor_on;
/* Before the other screen is left: of one that has grown tmux would show lines behind it. */
static struct bytes wipe;
static atomic_int taken; /* the terminal is ours */

/* --- giving it back --------------------------------------------------------------------------- */

/* Appends a terminfo string without its padding ("$<5>"). */
static void bytes_add(struct bytes *b, const char *s)
{
    if (!s)
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

/* A capability as text; NULL when the terminal has none. */
static const char *has(const char *name)
{
    const char *s = tigetstr((char *)name);
    return s == (const char *)-1 ? NULL : s;
}

/* What curses itself sends to end reports of the mouse. */
static const char *mouse_off(void)
{
    if (!has("kmous"))
        return NULL;
    return has("XM") ? tiparm(has("XM"), 0) : "\033[?1000l";
}

static void leave_compose(void)
{
    /* The cursor last: leaving the other screen brings back that screen's idea of it. */
    static const char *const names[] = {"rmkx", "sgr0", "op", "rmcup", "cnorm"};
    leave.length = cursor_on.length = wipe.length = 0;
    if (has("rmcup"))
        bytes_add(&wipe, has("clear"));
    if (term.sync)
        bytes_add(&leave, SYNC_END);
    bytes_add(&leave, PASTE_OFF);
    bytes_add(&leave, mouse_off());
    if (has("rmcup"))
        bytes_add(&leave, has("clear"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        bytes_add(&leave, has(names[i]));
    if (!has("rmcup"))
        bytes_add(&leave, "\r\n");
    bytes_add(&cursor_on, has("cnorm"));
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
        return err_set(e, EINVAL, "TERM=%.60s is not known here: %s", name,
                       status < 0 ? "there is no terminfo database"
                                  : "no such terminfo entry; try TERM=xterm iodash");
    bool moves = has("cup");
    /* Of those that have it all know one kind of private mode or another, and skip the rest. */
    term.sync = has("smcup") && strstr(has("smcup"), "\033[?1049h");
    leave_compose(); /* now: from the first byte on a signal may need it */
    del_curterm(cur_term);
    if (!moves)
        return err_set(e, EINVAL, "TERM=%s cannot move the cursor; `iodash run` needs no screen",
                       name);
    return 0;
}

/* A font of 256 or 512 signs has frames, but neither braille nor all heights of a bar. */
static bool small_font(const char *name)
{
    static const char *const kinds[] = {"linux", "vt1", "vt2", "vt3", "ansi", "cons25"};
    for (size_t i = 0; name && i < sizeof kinds / sizeof *kinds; i++)
        if (!strncmp(name, kinds[i], strlen(kinds[i])))
            return true;
    return false;
}

static enum term_charset pick_charset(enum term_charset asked)
{
    if (strcmp(nl_langinfo(CODESET), "UTF-8") != 0)
        return CHARSET_ASCII;
    if (asked != CHARSET_AUTO)
        return asked;
    return small_font(getenv("TERM")) ? CHARSET_ASCII : CHARSET_BRAILLE;
}

static bool wants_color(const struct term_options *o)
{
    const char *no = getenv("NO_COLOR");
    return !o->no_color && !(no && *no);
}

static void open_colors(bool wanted, const struct theme *t)
{
    term.colors = 0;
    if (wanted && has_colors() && start_color() == OK && use_default_colors() == OK)
        term.colors = COLORS;
    term_theme(t);
}

static void tell(const char *s)
{
    if (write(STDOUT_FILENO, s, strlen(s)) < 0) {
        /* term_key() will find out */
    }
}

/* A frame of the old size may have reached a terminal that had the new one, with its scroll region:
 * it would hold the lower lines still. All is drawn anew after a resize, so the cursor may move. */
static void scroll_all(void)
{
    const char *csr = has("csr");
    if (csr)
        tell(tiparm(csr, 0, LINES - 1));
}

static void fit_size(void)
{
    struct winsize ws;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &ws) == 0 && ws.ws_row > 0 && ws.ws_col > 0 &&
        (ws.ws_row != LINES || ws.ws_col != COLS)) {
        resizeterm(ws.ws_row, ws.ws_col);
        scroll_all();
    }
}

/* After an event of the mouse that was not asked for, as a release, curses reads the next key, and
 * waits for it in spite of nodelay(): a read of nothing must return. */
static void read_without_waiting(void)
{
    struct termios t;
    if (tcgetattr(STDIN_FILENO, &t) < 0)
        return;
    t.c_cc[VMIN] = t.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &t);
    def_prog_mode();
}

static void open_screen(void)
{
    cbreak();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    read_without_waiting();
    leaveok(stdscr, TRUE);
    curs_set(0);
    term_keys_open();
    fit_size();
    tell(PASTE_ON);
}

/* In order, with curses in a state to go on from. A signal in the middle gives it back again. */
static void give_back(void)
{
    if (!atomic_load(&taken))
        return;
    tell(PASTE_OFF);
    write_bytes(&wipe);
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
    open_colors(wants_color(o), o->theme ? o->theme : &theme_builtin);
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

void term_theme(const struct theme *t)
{
    for (int r = 0; r < ROLE_COUNT; r++) {
        struct style s = theme_style(t, (enum role)r, term.colors);
        term.attrs[r] = (s.bold ? A_BOLD : 0) | (s.dim ? A_DIM : 0) | (s.reverse ? A_REVERSE : 0) |
                        (s.underline ? A_UNDERLINE : 0);
        term.pairs[r] = 0;
        if (s.color >= 0 && init_pair((short)(r + 1), s.color, -1) == OK)
            term.pairs[r] = (short)(r + 1);
    }
    if (term.shown)
        canvas_resize(term.shown, 1, 1); /* all cells anew */
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
    bool all = c->w != term.shown->w || c->h != term.shown->h, any = all;
    if (all) {
        canvas_resize(term.shown, c->w, c->h);
        erase();
    }
    for (int i = 0; i < c->w * c->h; i++)
        if (!was_shown(c, i, all)) {
            show_cell(i % c->w, i / c->w, &c->cells[i]);
            any = true;
        }
    memcpy(term.shown->cells, c->cells, (size_t)c->w * (size_t)c->h * sizeof *c->cells);
    if (term.sync && any)
        tell(SYNC_BEGIN);
    refresh();
    if (term.sync && any)
        tell(SYNC_END);
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

/* By a signal that the kernel drops where no shell is there to continue us: a terminal that was
 * opened for this program alone would hang for good. */
static void stop_here(void)
{
    struct sigaction usual = {.sa_handler = SIG_DFL}, told;
    sigaction(SIGTSTP, &usual, &told);
    raise(SIGTSTP); /* goes on here after SIGCONT */
    sigaction(SIGTSTP, &told, NULL);
}

void term_suspend(void)
{
    give_back();
    stop_here();
    take_again();
}

void term_resized(void)
{
    fit_size();
}

void term_continued(void)
{
    take_again();
}

