/* SPDX-License-Identifier: MIT */
/* CSV as a sink. Numbers are written so that they come back as the same double, whatever the
 * locale; what was not measured is an empty cell. */
#include "session/sink.h"

#include "base/units.h"
#include "session/csv_cells.h"

static void put_text(struct sink *to, const char *text)
{
    struct csv_sink *s = (struct csv_sink *)to;

    cells_put(s->f, !s->begun, text);
    s->begun = true;
}

static void put_number(struct sink *to, double v)
{
    struct csv_sink *s = (struct csv_sink *)to;
    char buf[64];

    put_text(to, ""); /* numbers are left alone: a minus is no formula */
    if (isfinite(v))
        fputs(units_exact(buf, sizeof buf, v), s->f);
}

static void put_end(struct sink *to)
{
    struct csv_sink *s = (struct csv_sink *)to;

    fputs("\r\n", s->f);
    s->begun = false;
}

struct sink *csv_sink_init(struct csv_sink *s, FILE *f)
{
    *s = (struct csv_sink){{put_text, put_number, put_end}, f, false};
    return &s->sink;
}

void sink_param(struct sink *to, enum param_id id, double v)
{
    enum param_kind kind = param_table[id].kind;
    bool automatic = v == PARAM_AUTO && params_allows_auto(id);
    char buf[64];

    if (kind == KIND_WORD || kind == KIND_NAME || automatic || !isfinite(v))
        to->text(to, params_print(id, v, buf, sizeof buf));
    else
        to->number(to, v);
}
