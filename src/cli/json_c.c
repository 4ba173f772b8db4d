/* SPDX-License-Identifier: MIT */
/* By json-c (json-c.github.io). A number is handed over together with its shortest exact text, so
 * that what is written comes back as the same double and 0.1 stays 0.1. */
#include <json-c/json.h>
#include <math.h>
#include <stdlib.h>

#include "base/units.h"
#include "cli/json.h"

struct json {
    struct sink sink;
    json_object *root, *list, *ids, *line; /* list, ids, line: of the table being written */
    size_t column;
};

int json_missing(struct err *e)
{
    (void)e;
    return 0;
}

static json_object *need(json_object *o)
{
    if (!o)
        die("out of memory");
    return o;
}

/* In the first line a value is an id, later it stands under the id of its column. */
static void put(struct json *j, json_object *value)
{
    if (!j->line) {
        json_object_array_add(j->ids, value);
        return;
    }
    json_object *id = json_object_array_get_idx(j->ids, j->column++);
    json_object_object_add(j->line, json_object_get_string(id), value);
}

static void put_text(struct sink *to, const char *text)
{
    put((struct json *)to, *text ? need(json_object_new_string(text)) : NULL);
}

static void put_number(struct sink *to, double v)
{
    char text[64];
    put((struct json *)to,
        isfinite(v) ? need(json_object_new_double_s(v, units_exact(text, sizeof text, v))) : NULL);
}

static void put_end(struct sink *to)
{
    struct json *j = (struct json *)to;
    if (j->line)
        json_object_array_add(j->list, j->line);
    j->line = need(json_object_new_object());
    j->column = 0;
}

static void end_table(struct json *j)
{
    json_object_put(j->ids);
    json_object_put(j->line);
    j->ids = j->line = NULL;
}

struct json *json_new(const char *command)
{
    struct json *j = xcalloc(1, sizeof *j);
    *j = (struct json){.sink = {put_text, put_number, put_end}};
    j->root = need(json_object_new_object());
    json_object_object_add(j->root, "iodash", need(json_object_new_string(IODASH_VERSION)));
    json_object_object_add(j->root, "command", need(json_object_new_string(command)));
    return j;
}

struct sink *json_table(struct json *j, const char *name)
{
    end_table(j);
    j->list = need(json_object_new_array());
    j->ids = need(json_object_new_array());
    json_object_object_add(j->root, name, j->list);
    return &j->sink;
}

void json_print(struct json *j, FILE *out)
{
    const int how = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE;
    end_table(j);
    fputs(json_object_to_json_string_ext(j->root, how), out);
    fputc('\n', out);
    json_object_put(j->root);
    free(j);
}
