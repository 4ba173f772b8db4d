/* SPDX-License-Identifier: MIT */
/* The dashboard over more than one session: the one that measures, and a saved one that is looked
 * at meanwhile. While that is on the screen the load of the other is off; nothing of it is lost. A
 * row of a saved session is measured anew in the session that measures, never in the saved one: its
 * figures are of another day and perhaps of another machine. Thread: the screen's. */
#ifndef UI_SESSIONS_H
#define UI_SESSIONS_H

#include "session/compare.h"
#include "session/session.h"
#include "session/state.h"

struct app;

enum path_for { PATH_OPEN, PATH_COMPARE, PATH_ATTACH };

struct sessions {
    struct session *live;         /* the one that measures; NULL: none yet */
    struct session *own[2];       /* begun here, opened here: ours to free */
    struct session_options start; /* of one that is begun here */
    bool was_on;                  /* the load of live, when it was put aside */

    struct recent recent[STATE_RECENT]; /* as the picker lists them */
    int recents;
    struct path_entry {
        enum path_for what;
        char text[STATE_PATH];
        char problem[320];
    } path;

    struct comparison comparison; /* what the compare view shows */
    char *names[SIDES];
    int top;
};

/* app_init: `s` is shown first. app_fini: frees what is ours. */
void sessions_init(struct app *a, struct session *s);
void sessions_fini(struct app *a);

/* Shows a saved session. 0, or -errno, and said. */
int sessions_open(struct app *a, const char *path);

/* From a saved session back to the one that measures. False: there is none. */
bool sessions_back(struct app *a);

/* Measures the row of this number, of the saved session on the screen, anew. */
void sessions_measure(struct app *a, int number);

/* Shows a saved session (A, before) beside the one on the screen (B, after). */
void sessions_compare(struct app *a, const char *path);
void sessions_forget(struct sessions *s); /* the comparison */

/* The picker of sessions, and of those to compare with; and what taking an item does. */
void sessions_list(struct app *a);
void sessions_compare_list(struct app *a);
void sessions_take(struct app *a, int value);

/* The dialog in which a path is typed. */
void path_key(struct app *a, int key);
void path_draw(const struct app *a);

void act_show_row(struct app *a, int step); /* of a saved session, in the live view */
void act_compare_scroll(struct app *a, int lines);
void view_compare_draw(struct app *a);

#endif
