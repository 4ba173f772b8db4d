/* SPDX-License-Identifier: MIT */
/* Answers of a fixed wording: what the session says is tested there, where it stands here. */
#include <stdio.h>
#include <string.h>

#include "session/answers.h"
#include "ui/fake.h"

static struct answer given;

void fake_answer(const char *answer, const char *why, const char *trust)
{
    snprintf(given.answer, sizeof given.answer, "%s", answer);
    snprintf(given.why, sizeof given.why, "%s", why);
    snprintf(given.trust, sizeof given.trust, "%s", trust);
}

void answer_row(const struct row *r, int pane, struct answer *out)
{
    if (given.answer[0]) {
        *out = given;
        return;
    }
    if (pane <= 0) {
        *out = (struct answer){"one model alone", "nothing to compare", "ok; loopback"};
        return;
    }
    snprintf(out->answer, sizeof out->answer,
             "%s costs 5.0 times the CPU of %s (4.8 to 5.2) at 11.5k/s", r->panes[0].model,
             r->panes[pane].model);
    snprintf(out->why, sizeof out->why,
             "each select() finds 1.0 ready socket and pays for all %.0f", r->params.connections);
    snprintf(out->trust, sizeof out->trust,
             "ok: both served the 11.5k/s asked; can tell 4 %% apart; loopback");
}

void answer_sweep(const struct rows *rows, const struct row *r, int pane, struct answer *out)
{
    (void)rows;
    answer_row(r, pane, out);
    if (!given.answer[0])
        snprintf(out->answer, sizeof out->answer,
                 "at 11.5k/s epoll-lt is cheaper at every count, 2.0 to 5.9 times");
}
