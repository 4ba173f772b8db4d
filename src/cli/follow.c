/* SPDX-License-Identifier: MIT */
/* The handler notes the signal and no more: the loop that waits for the session looks at it a
 * few times a second and lets the session end its row, so that what was measured is there to be
 * shown. */
#include "cli/follow.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/units.h"

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
    interrupted = sig;
}

void follow_signals(void)
{
    struct sigaction sa = {.sa_handler = on_signal};
    sigaction(SIGINT, &sa, NULL);
    sigaction(SIGTERM, &sa, NULL);
    sigaction(SIGHUP, &sa, NULL);
    signal(SIGPIPE, SIG_IGN);
}

bool follow_interrupted(void)
{
    return interrupted != 0;
}

static void progress(struct session *s, struct session_now *now)
{
    char left[24];
    session_read(s, now);
    fprintf(stderr, "\r\033[Krow %d of %d: %s, %d of %d", now->plan_done + 1, now->plan_count,
            session_phase_words[now->phase], now->taken, now->asked);
    if (now->plan_left_s > 0)
        fprintf(stderr, ", about %s left", units_about(left, sizeof left, now->plan_left_s));
    if (now->turn_pane >= 0)
        fprintf(stderr, ", %c's turn", 'A' + now->turn_pane);
    fflush(stderr);
}

void follow_until(struct session *s, bool (*done)(void *ctx), void *ctx, bool quiet)
{
    bool show = isatty(STDERR_FILENO) && !quiet;
    struct session_now *now = session_now_new();
    while (!done(ctx) && !interrupted)
        if (show)
            progress(s, now);
    if (interrupted) {
        session_stop(s);
        session_wait(s, 3000000000u);
    }
    if (show)
        fputs("\r\033[K", stderr);
    session_now_free(now);
}

static bool is_idle(void *session)
{
    return session_wait(session, 200000000);
}

void follow_plan(struct session *s, const struct plan *plan, bool quiet)
{
    char span[24];
    if (isatty(STDERR_FILENO) && !quiet)
        fprintf(stderr, "%s: %d row%s, about %s\n", plan->title, plan->count,
                plan->count == 1 ? "" : "s", units_about(span, sizeof span, plan->seconds));
    session_plan(s, plan);
    follow_until(s, is_idle, s, quiet);
}
