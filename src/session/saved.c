/* SPDX-License-Identifier: MIT */
/* A saved session is a session with no thread: its rows stand, nothing is measured, its clock
 * stands at the last sample of the row that is shown. Views read it like any other. */
#include "session/inner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "session/csv.h"

/* --- what is shown --------------------------------------------------------------------------- */

/* The samples of a pane as a live session would have traced them. A file without that column says
 * when by their number alone. */
static double trace_pane(struct trace *t, const struct row *row, int pane)
{
    const struct pane *p = &row->panes[pane];
    double last_s = 0;
    int early = p->count - TRACE_POINTS; /* than what a trace holds */
    t->first = ++t->pushed;
    t->io = p->io;
    t->workload = row->workload;
    for (const struct sample_chunk *c = p->first; c; c = c->next)
        for (int i = 0; i < c->count; i++) {
            const struct sample *x = &c->samples[i];
            if (early-- > 0)
                continue;
            last_s = isnan(x->elapsed_s) ? x->index : x->elapsed_s;
            t->t_s[t->pushed % TRACE_POINTS] = last_s;
            t->values[t->pushed % TRACE_POINTS] = x->values;
            t->pushed++;
        }
    return last_s;
}

static double established(const struct row *r, int pane)
{
    double n = row_summary(r, pane, METRIC_established).max;
    return isnan(n) ? 0 : n;
}

static void show(struct session *s, const struct row *r)
{
    struct session_now *n = &s->now;
    s->saved_s = 0;
    n->row_number = r->number;
    n->taken = row_kept(r);
    n->asked = row_asked(r);
    n->want.params = r->params;
    n->want.lineup.count = r->pane_count;
    for (int i = 0; i < r->pane_count; i++) {
        n->want.lineup.models[i] = r->panes[i].io;
        n->panes[i].alive = true;
        n->panes[i].established = (long)established(r, i);
        s->saved_s = fmax(s->saved_s, trace_pane(&s->traces[i], r, i));
    }
}

bool session_show(struct session *s, int number)
{
    const struct row *r;
    pthread_mutex_lock(&s->lock);
    for (r = s->rows.first; r && r->number != number; r = r->next) {
    }
    if (r)
        show(s, r);
    pthread_mutex_unlock(&s->lock);
    return r;
}

/* --- opening --------------------------------------------------------------------------------- */

/* Rows are found by their number: where several sessions stand in one file, numbers occur twice. */
static void number_rows(struct rows *rows)
{
    int n = 0;
    for (struct row *r = rows->first; r; r = r->next)
        r->number = ++n;
    rows->count = n;
}

struct session *session_open(const char *name, char note[200], struct err *e)
{
    struct session *s = xcalloc(1, sizeof *s);
    session_base(s);
    s->file = xstrdup(name);
    if (csv_open(name, &s->rows, &s->env, note, e) < 0)
        goto fail;
    if (!s->rows.first) {
        err_set(e, EBADMSG, "%s holds no row: nothing was measured in it", name);
        goto fail;
    }
    csv_session_id(name, s->id, sizeof s->id);
    number_rows(&s->rows);
    s->now.load_on = false;
    s->now.phase = PHASE_SAVED;
    const struct row *last = s->rows.last;
    for (const struct row *r = s->rows.first; r; r = r->next)
        if (row_last_index(r) > 0) /* it has samples */
            last = r;
    show(s, last);
    return s;
fail:
    session_free(s);
    return NULL;
}

const char *session_file(const struct session *s)
{
    return s->file;
}
