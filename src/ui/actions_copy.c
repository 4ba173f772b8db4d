/* SPDX-License-Identifier: MIT */
/* The text says what was asked and on which machine, so that it can stand alone where somebody
 * pastes it. */
#include "ui/actions_copy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "ui/clipboard.h"

#define NAMES_A_SECOND 100

/* --- the file -------------------------------------------------------------------------------- */

static int write_file(int fd, const char *text)
{
    FILE *f = fdopen(fd, "w");
    bool bad = !f || fputs(text, f) < 0;
    int code = errno;
    if (f && fclose(f) != 0) {
        bad = true;
        code = errno;
    }
    return bad ? -(code ? code : EIO) : 0;
}

/* Returns 0 and the name, or -errno. */
static int save(const char *name, const char *text, char *path, size_t size)
{
    char stamp[24];
    int fd = -1;
    clock_stamp(stamp, sizeof stamp);
    for (int i = 0; fd < 0 && i < NAMES_A_SECOND; i++) {
        snprintf(path, size, i ? "iodash-%s-%s-%d.md" : "iodash-%s-%s.md", name, stamp, i);
        fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd < 0 && errno != EEXIST)
            return -errno;
    }
    int rc = fd < 0 ? -EEXIST : write_file(fd, text);
    if (rc < 0 && fd >= 0)
        unlink(path);
    return rc;
}

int copy_markdown(struct app *a, const char *name, const char *text)
{
    char path[128];
    int rc = save(name, text, path, sizeof path);
    bool asked = clipboard_ask(text);
    if (rc < 0)
        app_warn(a, "%s cannot be written: %s%s", path, strerror(-rc),
                 asked ? "; the terminal was asked to copy the text" : "");
    else
        app_say(a, "saved as %s%s", path, asked ? "; copied, if the terminal lets it" : "");
    return rc;
}

/* --- the text -------------------------------------------------------------------------------- */

/* What would end a cell, or begin something else, is made harmless. */
static void put_text(FILE *f, const char *text, const char *escape)
{
    for (; *text; text++) {
        if (strchr(escape, *text))
            fputc('\\', f);
        fputc(*text, f);
    }
}

static void put_line(FILE *f, const char *word, const char *text)
{
    if (!*text)
        return;
    fprintf(f, "**%s** ", word);
    put_text(f, text, "*<\\");
    fputs("  \n", f); /* two blanks: the next line stays a line */
}

static void put_cells(FILE *f, const struct table *t, int row)
{
    char head[2 * TABLE_CELL];
    for (int i = 0; i < t->columns; i++) {
        const struct table_column *c = &t->column[i];
        snprintf(head, sizeof head, "%s%s%s", c->head[0], *c->head[0] ? " " : "", c->head[1]);
        fputs("| ", f);
        put_text(f, row < 0 ? head : t->row[row].cell[i], "|<\\");
        fputc(' ', f);
    }
    fputs("|\n", f);
}

static void put_table(FILE *f, const struct table *t)
{
    put_text(f, t->title, "*<\\");
    fputs("\n\n", f);
    put_cells(f, t, -1);
    for (int i = 0; i < t->columns; i++)
        fputs(t->column[i].text ? "|:--" : "|--:", f);
    fputs("|\n", f);
    for (int i = 0; i < t->rows; i++)
        put_cells(f, t, i);
    fputc('\n', f);
}

/* "transfer of select and epoll-lt: connections 400, ...", and what is not as usual. */
static void put_asked(FILE *f, const struct scene *s)
{
    const struct workload *w = workload_of(&s->shown.params);
    struct params usual;
    char value[48];
    const char *between = ": ";
    params_init(&usual);
    usual.workload = s->shown.params.workload;
    workload_resolve(&usual);
    fputs(w->id, f);
    for (int i = 0; i < s->pane_count; i++)
        fprintf(f, "%s%s", !i ? " of " : i == s->pane_count - 1 ? " and " : ", ", s->pane[i].model);
    for (const enum param_id *m = w->matters; *m != PARAM_COUNT; m++) {
        bool always = *m == PARAM_connections || *m == PARAM_rate || *m == PARAM_size;
        if (!always && params_same(params_get(&usual, *m), params_get(&s->shown.params, *m)))
            continue;
        fprintf(f, "%s%s %s", between, param_table[*m].id,
                params_show(*m, params_get(&s->shown.params, *m), value, sizeof value));
        between = ", ";
    }
    fputs("\n\n", f);
}

static void put_machine(FILE *f, const struct environment *env)
{
    const char *const parts[] = {env->cpu, env->kernel, env->host};
    fprintf(f, "\niodash %s", env->version);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (*parts[i]) {
            fputs(", ", f);
            put_text(f, parts[i], "*<\\");
        }
    fputc('\n', f);
}

/* Of the whole table, of the curves, or of the row that is shown. */
static const struct answer *answer_of(const struct app *a)
{
    const struct scene *s = a->scene;
    if (a->view == VIEW_CURVES && s->curves.has)
        return &s->curves.answer;
    return a->view == VIEW_TABLE ? &s->sweep : &s->answer;
}

static bool put_answer(FILE *f, const struct app *a)
{
    const struct scene *s = a->scene;
    const struct answer *n = answer_of(a);
    if (a->view == VIEW_TABLE && s->has_table && s->table.rows)
        put_table(f, &s->table);
    else
        put_asked(f, s);
    put_line(f, "ANSWER", n->answer);
    put_line(f, "WHY", n->why);
    put_line(f, "TRUST", n->trust);
    return n->answer[0];
}

/* With the place in focus. */
static bool put_map(FILE *f, const struct app *a)
{
    const struct map *m = &a->scene->map;
    char text[800];
    if (!a->scene->has_map || !a->scene->map_measured)
        return false;
    map_title(m, text, sizeof text);
    put_text(f, text, "*<\\");
    fputs("\n\n", f);
    map_answer(m, text, sizeof text);
    put_line(f, "ANSWER", text);
    map_say(m, map_cell(m, a->map_column, a->map_row), text, sizeof text);
    put_line(f, "PLACE", text);
    map_trust(m, text, sizeof text);
    put_line(f, "TRUST", text);
    return true;
}

void act_copy(struct app *a, int arg)
{
    char *text;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    (void)arg;
    if (!f)
        die("out of memory for a text");
    bool any = a->view == VIEW_MAP ? put_map(f, a) : put_answer(f, a);
    put_machine(f, a->scene->env);
    if (fclose(f) != 0)
        die("out of memory for a text");
    if (any)
        copy_markdown(a, "answer", text);
    else
        app_warn(a, "there is no answer to copy yet");
    free(text);
}
