/* SPDX-License-Identifier: MIT */
/* The event loop: one thread, which sleeps until a key, a signal or the next frame. Frames come
 * four times a second and after each key; what is measured never waits for them. */
#include "ui/ui.h"

#include <signal.h>
#include <string.h>

#include "base/clock.h"
#include "ui/actions.h"
#include "ui/app.h"
#include "ui/signals.h"

#define FRAME_NS (250 * NS_PER_MS)
enum { LATE_ARROW_MS = 300, KEYS_A_FRAME = 16 };

struct loop {
    struct app app;
    uint64_t next_ns; /* frame */
    int left_by;      /* a signal, 0: none */
    bool gone;        /* so is the terminal */
};

static void fit(struct loop *l)
{
    int w, h;
    term_size(&w, &h);
    if (w != l->app.canvas->w || h != l->app.canvas->h)
        canvas_resize(l->app.canvas, w, h);
    l->next_ns = 0;
}

static void on_signal(struct loop *l, int sig)
{
    if (sig == SIGWINCH) {
        term_resized();
        fit(l);
    } else if (sig == SIGTSTP) {
        session_interrupted(l->app.session); /* now: the runner goes on before SIGCONT is told */
        term_suspend();
        fit(l);
    } else if (sig == SIGCONT) {
        session_interrupted(l->app.session);
        term_continued();
        fit(l);
    } else {
        l->left_by = sig;
    }
}

static void take_signals(struct loop *l)
{
    int sig;
    while ((sig = signals_take()) > 0)
        on_signal(l, sig);
}

/* Esc would leave: an arrow key that comes in slow pieces begins with one. */
static int settle_esc(struct loop *l)
{
    const struct app *a = &l->app;
    if (a->view != VIEW_LIVE || a->dialog != DIALOG_NONE || scene_planning(a->scene))
        return TERM_ESC;
    int next = term_key(LATE_ARROW_MS, signals_fd());
    return next == TERM_NONE || next == TERM_GONE ? TERM_ESC : next;
}

static void on_key(struct loop *l, int key)
{
    if (key == TERM_ESC)
        key = settle_esc(l);
    if (key == TERM_GONE) {
        l->gone = true;
    } else if (key == TERM_RESIZE) {
        fit(l);
    } else if (key != TERM_NONE) {
        if (key == TERM_MOUSE)
            mouse_event(&l->app, term_mouse());
        else
            app_key(&l->app, key);
        term_take_paste(l->app.dialog >= DIALOG_ENTRY);
        l->next_ns = 0;
    }
}

static void frame(struct loop *l)
{
    if (l->app.theme_new)
        term_theme(&l->app.theme);
    l->app.theme_new = false;
    app_take(&l->app);
    app_draw(&l->app);
    term_show(l->app.canvas);
    l->next_ns = clock_ns() + FRAME_NS;
}

static bool goes_on(const struct loop *l)
{
    return !l->app.quit && !l->left_by && !l->gone;
}

/* The next key, and those that wait behind it: they share a frame. Each acts on what the one before
 * brought about. */
static void take_keys(struct loop *l, int wait_ms)
{
    int key = term_key(wait_ms, signals_fd());
    take_signals(l);
    on_key(l, key);
    for (int n = 1; n < KEYS_A_FRAME && key != TERM_NONE && goes_on(l); n++) {
        key = term_key(0, signals_fd());
        if (key != TERM_NONE)
            app_take(&l->app);
        on_key(l, key);
    }
}

static void run(struct loop *l)
{
    fit(l);
    while (goes_on(l)) {
        uint64_t now = clock_ns();
        if (now >= l->next_ns) {
            frame(l);
            now = clock_ns();
        }
        int wait_ms = l->next_ns > now ? (int)((l->next_ns - now) / NS_PER_MS) + 1 : 0;
        take_keys(l, wait_ms);
    }
}

static void first_order(struct loop *l, struct session *s, const struct ui_options *o)
{
    app_init(&l->app, s, &o->want, term_charset());
    for (int id = 0; o->given && id < PARAM_COUNT; id++)
        if (o->given[id])
            *params_at(&l->app.given, id) = params_get(&o->want.params, id);
    l->app.theme = o->theme;
    if (o->map)
        act_map_axes(&l->app, o->map);
    if (o->on_map)
        l->app.view = VIEW_MAP;
    l->app.config = o->config;
    l->app.sessions.start.autosave = o->autosave;
    session_ui_thread(s);
    if (!session_file(s))
        app_order(&l->app, &o->want);
    if (o->plan)
        session_plan(s, o->plan);
    if (o->first_line && *o->first_line)
        app_say(&l->app, "%s", o->first_line);
    if (o->theme_wrong && *o->theme_wrong)
        app_warn(&l->app, "%s; the usual colours are used", o->theme_wrong);
}

int ui_run(struct session *s, const struct ui_options *o, char *parting, size_t size, struct err *e)
{
    static struct loop l; /* large */
    memset(&l, 0, sizeof l);
    if (size)
        parting[0] = '\0';
    struct term_options term = o->term;
    term.theme = &o->theme;
    int rc = term_open(&term, e);
    if (rc < 0)
        return rc;
    first_order(&l, s, o);
    run(&l);
    term_close();
    app_part(&l.app, parting, size);
    app_fini(&l.app);
    return l.left_by || l.gone ? 130 : 0;
}
