/* SPDX-License-Identifier: MIT */
/* Changing a parameter, from wherever that is asked: the settings, a number that is typed, NAME
 * VALUE at the prompt. All of them pass act_set(), which knows what the workload and the session
 * allow. */
#include "ui/actions.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int act_settable(const struct app *a, enum param_id id, struct err *e)
{
    bool pinned = a->want.params.pin == PIN_AUTO;
    if (session_file(a->session))
        return err_set(e, EBUSY, SAVED_SESSION);
    if (id == PARAM_pin)
        return err_set(e, EBUSY, "pin is chosen at the start: iodash --pin %s",
                       params_choice(id, pinned ? PIN_OFF : PIN_AUTO));
    if (id != PARAM_workload && !act_matters(a, id))
        return err_set(e, EINVAL, "%s has no use for %s", workload_of(&a->want.params)->label,
                       param_table[id].id);
    return 0;
}

/* Here a parameter is no option of a command line. */
static int plainly(int status, struct err *e)
{
    if (status < 0 && !strncmp(e->text, "--", 2))
        memmove(e->text, e->text + 2, sizeof e->text - 2);
    return status;
}

int act_set(struct app *a, enum param_id id, double v, struct err *e)
{
    struct plan_row want = a->want;
    int status = act_settable(a, id, e);
    if (status < 0)
        return status;
    if (act_refused(a))
        return err_set(e, EBUSY, "%s", a->note);
    if (id == PARAM_workload) {
        pickers_workload(a, (int)v);
        return 0;
    }
    *params_at(&want.params, id) = v;
    if (id == PARAM_samples) /* duration stands in place of them */
        want.params.duration = PARAM_AUTO;
    workload_resize(&want.params, a->want.params.size);
    plan_as_step(&want);
    status = workload_check(&want.params, e);
    if (status == 0 && id == PARAM_workers && v > 1)
        status = lineup_takes_workers(&want.lineup, e);
    if (status == 0)
        app_order(a, &want);
    return plainly(status, e);
}

int act_change(struct app *a, enum param_id id, const char *text, struct err *e)
{
    double v;
    int status = params_parse(id, text, &v, e);
    return status < 0 ? plainly(status, e) : act_set(a, id, v, e);
}

/* --- the words of one of them ----------------------------------------------------------------- */

static void words_pick(struct app *a, enum param_id id)
{
    a->entry = (struct entry){.id = id};
    act_pick(a, PICK_WORD);
}

void words_list(struct app *a)
{
    enum param_id id = a->entry.id;
    const char *word;
    picker_open(&a->picker, PICK_WORD, param_table[id].id);
    for (int i = 0; (word = params_choice(id, i)); i++) {
        struct picker_item *item = picker_add(&a->picker);
        snprintf(item->name, sizeof item->name, "%s", word);
        item->value = i;
    }
    picker_start(&a->picker, (int)params_get(&a->want.params, id));
}

void words_take(struct app *a, int value)
{
    struct err e = {""};
    if (act_set(a, a->entry.id, value, &e) < 0)
        app_warn(a, "%s", e.text);
}

void act_type(struct app *a, enum param_id id)
{
    struct err e = {""};
    if (act_settable(a, id, &e) < 0) {
        app_warn(a, "%s", e.text);
        return;
    }
    if (act_refused(a))
        return;
    if (id == PARAM_workload)
        act_pick(a, PICK_WORKLOAD);
    else if (params_choice(id, 0))
        words_pick(a, id);
    else
        entry_open(a, id);
}

/* --- the view --------------------------------------------------------------------------------- */

static bool found(const struct app *a, enum param_id id)
{
    const char *find = a->settings.find;
    return !*find || strcasestr(param_table[id].id, find) || strcasestr(param_table[id].help, find);
}

/* Is there one of the same group before it? */
static bool goes_on(enum param_id id)
{
    for (int i = 0; i < (int)id; i++)
        if (!strcmp(params_group((enum param_id)i), params_group(id)))
            return true;
    return false;
}

int settings_list(const struct app *a, enum param_id out[PARAM_COUNT])
{
    int n = 0;
    for (int first = 0; first < PARAM_COUNT; first++) {
        const char *group = params_group((enum param_id)first);
        for (int id = first; id < PARAM_COUNT && !goes_on((enum param_id)first); id++)
            if (!strcmp(params_group((enum param_id)id), group) && found(a, (enum param_id)id))
                out[n++] = (enum param_id)id;
    }
    return n;
}

void act_settings(struct app *a, int arg)
{
    (void)arg;
    if (a->view == VIEW_SETTINGS) {
        settings_leave(a);
        return;
    }
    if (a->view != VIEW_HELP || a->help_of != VIEW_SETTINGS)
        a->settings.of = a->view == VIEW_HELP ? a->help_of : a->view;
    a->settings.find[0] = '\0';
    a->view = VIEW_SETTINGS;
}

void settings_leave(struct app *a)
{
    a->view = a->settings.of;
    a->changed = true;
}

void act_setting_focus(struct app *a, int id)
{
    a->settings.at = (enum param_id)id;
}

/* The one in focus is always among those listed, if there are any. */
void act_setting_move(struct app *a, int step)
{
    enum param_id list[PARAM_COUNT];
    int n = settings_list(a, list), at = 0;
    for (int i = 0; i < n; i++)
        at = list[i] == a->settings.at ? i + step : at;
    at = at >= n ? n - 1 : at < 0 ? 0 : at;
    if (n)
        a->settings.at = list[at];
}

void act_setting_step(struct app *a, int direction)
{
    act_step_of(a, a->settings.at, direction);
}

void act_setting_type(struct app *a, int arg)
{
    (void)arg;
    act_type(a, a->settings.at);
}

void act_find(struct app *a, int arg)
{
    (void)arg;
    a->settings.find[0] = '\0';
    a->dialog = DIALOG_FIND;
}

void find_key(struct app *a, int key)
{
    enum param_id list[PARAM_COUNT];
    bool none = key == TERM_ENTER && settings_list(a, list) == 0; /* nothing to step unseen */
    if (none)
        app_warn(a, "no parameter has \"%s\" in its name or words", a->settings.find);
    if (key == TERM_ESC || none)
        a->settings.find[0] = '\0';
    if (key == TERM_ESC || key == TERM_ENTER)
        a->dialog = DIALOG_NONE;
    else if (key == TERM_UP || key == TERM_DOWN)
        act_setting_move(a, key == TERM_UP ? -1 : 1);
    else
        entry_edit(a->settings.find, sizeof a->settings.find, key);
    act_setting_move(a, 0);
}
