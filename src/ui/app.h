/* SPDX-License-Identifier: MIT */
/* The dashboard's own state: what the person looks at and asks for. Keys change it (commands.c),
 * the views draw it; neither knows a terminal, so tests drive both with a scripted list of keys.
 * Thread: the screen's. */
#ifndef UI_APP_H
#define UI_APP_H

#include "session/claims_run.h"
#include "session/settings.h"
#include "ui/canvas.h"
#include "ui/mouse.h"
#include "ui/picker.h"
#include "ui/scene.h"
#include "ui/sessions.h"
#include "ui/term.h"

enum view {
    VIEW_LIVE = 1, VIEW_TABLE = 2, VIEW_CURVES = 4, VIEW_MAP = 8, VIEW_WHY = 16, VIEW_CLAIMS = 32,
    VIEW_HELP = 64, VIEW_SETTINGS = 128, VIEW_COMPARE = 256
};
#define VIEWS_ALL 0x1ffu

/* From DIALOG_ENTRY on text is typed. */
enum dialog { DIALOG_NONE, DIALOG_PICKER, DIALOG_ENTRY, DIALOG_PROMPT, DIALOG_FIND, DIALOG_PATH };
enum picker_kind {
    PICK_MODEL, PICK_WORKLOAD, PICK_PLAN, PICK_FIGURE, PICK_MAP_FIGURE, PICK_THEME, PICK_CLAIMS,
    PICK_WORD, PICK_AXIS, PICK_PICTURE, PICK_SESSION, PICK_COMPARE
};

struct entry { /* what is being typed: a value, NAME VALUE, or what to find */
    enum param_id id; /* of the value */
    char text[80];
    char problem[320]; /* why it was not taken */
};

struct app {
    struct session *session;
    struct scene *scene;
    struct canvas *canvas;
    enum term_charset charset;
    struct theme theme;
    struct theme theme_before; /* that was there when the picker opened */
    bool theme_new;            /* the terminal has not been told */
    struct hots hots;

    struct plan_row want;    /* the live order last given, resolved */
    struct params given;     /* what was asked for at the start; PARAM_UNSET: nothing */
    enum view view, help_of; /* help_of: the view that the help is of */
    int pane;                /* in focus */
    enum param_id field;     /* in brackets */
    enum metric_id figure;   /* drawn; METRIC_COUNT: the workload's own picture */
    bool log_axis, frozen;
    int cursor;    /* frozen: samples before the newest, read off */
    int table_row; /* number of the row in focus in the table, 0: the running one */
    int table_column, help_top;
    int help_most; /* top of the last page, as it was drawn last */
    int why_row;      /* number of the row that is explained, 0: the running one */
    int why_line;     /* of its bill, in focus */
    bool why_explain; /* that line is explained below */

    struct curves_state {
        enum param_id axis;    /* PARAM_COUNT: the usual one */
        enum metric_id figure; /* METRIC_COUNT: the main one */
        enum curve_axes axes;
        int row;   /* number of a row of the curves; 0: those of the row shown */
        double at; /* value of the axis that is read off; NaN: of the row shown */
    } curves;
    struct plot_job *picture; /* that gnuplot draws now; NULL: none */

    struct claims_state {
        struct claims all;
        struct err why;          /* they could not be read; "" */
        struct claims_run *run;  /* NULL: the view was not looked at yet */
        struct claim_try *tries; /* as last taken, one a claim */
        bool busy;               /* some were being tried then */
        int at;                  /* in focus */
    } claims;
    struct settings_state {
        enum param_id at; /* in focus */
        enum view of;     /* where one came from */
        char find[32];    /* only those in whose name or words this stands; "": all */
    } settings;

    struct map_axes map_axes;
    struct reach_limits limits;
    enum metric_id map_figure; /* that the map compares; METRIC_COUNT: the main one */
    int map_column, map_row;   /* place in focus */

    enum dialog dialog;
    struct picker picker;
    struct entry entry;

    char note[320]; /* the dashboard's own log line */
    bool note_bad;
    double note_at_s;
    unsigned note_number; /* the session's log when it was written */
    unsigned log_number;  /* the session's log when it was last looked at, */
    double log_at_s;      /* and when it became that */

    struct sessions sessions;
    struct settings *config;    /* what the person set for good; the caller's, or NULL */
    char saved[256];            /* file last saved, "" */
    unsigned long saved_mark;   /* samples that it holds */
    bool quit, changed; /* changed: the scene must be taken anew */
};

/* Starts with this order; charset as the terminal has it. The session is the caller's. */
void app_init(struct app *a, struct session *s, const struct plan_row *want,
              enum term_charset charset);
void app_fini(struct app *a);

/* One key: to the dialog, else to the command that has it in this view. */
void app_key(struct app *a, int key);

/* Takes the scene anew, unless the picture is frozen. */
void app_take(struct app *a);

/* Draws everything into the canvas, whatever its size. */
void app_draw(struct app *a);

/* Why nothing is measured while a file is looked at. */
#define SAVED_SESSION "this is a saved session; in the table (2) Enter measures a row of it anew"

/* The dashboard's line of the log. */
void app_say(struct app *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void app_warn(struct app *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Saves the session as a new file in the current folder and says where. 0 or -errno. */
int app_save(struct app *a);

/* saving.c. On leaving: what is not saved yet goes into the state folder; the lines that stay on
 * the terminal. */
void app_part(struct app *a, char *parting, size_t size);

/* Gives the order `want` to the session; the fields of the screen follow. */
void app_order(struct app *a, const struct plan_row *want);

/* Is there anything measured? Rows with a kept sample. */
bool app_measured(struct app *a);

#endif
