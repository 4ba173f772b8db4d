/* SPDX-License-Identifier: MIT */
/* `iodash open FILE.csv`: the dashboard over a saved session. Nothing starts by itself: no server,
 * no load, no prices. */
#include <errno.h>
#include <stdio.h>

#include "cli/cli.h"
#include "cli/dash.h"
#include "session/state.h"

static int show(const char *path, struct session *s, const char *note, struct ui_options *o)
{
    struct err e = {{0}};
    char parting[2048] = "", folder[STATE_PATH], line[300];
    struct session_now *now = session_now_new();
    session_read(s, now);
    o->want = now->want;
    session_now_free(now);
    snprintf(line, sizeof line, "%s",
             *note ? note : "nothing is measured here; ? help");
    o->first_line = line;
    o->autosave = state_folder(folder, sizeof folder) ? folder : NULL;
    state_recent_add(path);
    int status = ui_run(s, o, parting, sizeof parting, &e);
    if (status < 0)
        return cli_fail(1, e.text);
    fputs(parting, stdout);
    return status;
}

int cli_open(const struct args *a)
{
    struct err e = {{0}}, wrong;
    struct settings config;
    struct args with = *a;
    struct ui_options o = {0};
    char note[200];
    if (a->operand_count != 1)
        return cli_fail(2, "open: needs a saved session: open FILE.csv");
    struct session *s = session_open(a->operand[0], note, &e);
    if (!s)
        return cli_fail(1, e.text);
    settings_load(&config, &e); /* how it looks; the dashboard says what is wrong there */
    settings_under(&config, &with);
    int status = dash_look(&with, &o, &wrong, &e);
    o.config = &config;
    status = status < 0 ? cli_fail(cli_status(status), e.text) : show(a->operand[0], s, note, &o);
    session_free(s);
    return dash_keep(&config, status);
}
