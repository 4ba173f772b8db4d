/* SPDX-License-Identifier: MIT */
/* The option part of a --help, in two columns, all of it from the table: nothing is written here
 * that a new parameter would have to repeat. */
#include "params/args.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LEFT 32
#define WIDTH 100

/* Writes the words of text into the right column; `at` is the column the cursor stands in. */
static void wrap(FILE *out, const char *text)
{
    int at = LEFT;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (at > LEFT && at + 1 + length > WIDTH) {
            fprintf(out, "\n%*s", LEFT, "");
            at = LEFT;
        }
        at += fprintf(out, "%s%.*s", at > LEFT ? " " : "", length, text);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

static void entry(FILE *out, char letter, const char *id, const char *argument, const char *help)
{
    char left[96], name[32];
    char with[4] = {'-', letter, ',', 0};
    snprintf(name, sizeof name, "%s", id);
    for (char *c = name; *c; c++)
        if (*c == '_')
            *c = '-';
    int n = snprintf(left, sizeof left, "  %-3s --%s%s%s", letter ? with : "", name,
                     *argument ? " " : "", argument);
    if (n >= LEFT)
        fprintf(out, "%s\n%*s", left, LEFT, "");
    else
        fprintf(out, "%-*s", LEFT, left);
    wrap(out, help);
}

/* The command's own words for it, or NULL. */
static const struct args_words *words_of(const struct args_rules *rules, const char *id)
{
    const struct args_words *w = rules->words;
    while (w && w->id && strcmp(w->id, id))
        w++;
    return w && w->id ? w : NULL;
}

static const char *argument_of(const struct param_info *p)
{
    static const char *const words[] = {
        [KIND_COUNT] = "N", [KIND_BYTES] = "BYTES", [KIND_RATE] = "RATE",
        [KIND_SPAN] = "TIME", [KIND_NAME] = "NAME",
    };
    return p->kind == KIND_WORD ? p->words : words[p->kind];
}

/* "(default 30 s; 0.01 to 3600 s)"; words have their choice in the left column already. */
static void facts_of(enum param_id id, const struct args_rules *rules, char *buf, size_t size)
{
    const struct param_info *p = &param_table[id];
    bool unit = *p->preset && *p->unit && strcmp(p->preset, "auto");
    char allowed[160] = "";
    if (p->kind != KIND_WORD)
        params_allowed(id, allowed, sizeof allowed);
    if (!*p->preset && !args_takes(rules, PARAM_workload))
        snprintf(buf, size, "(%s)", allowed);
    else
        snprintf(buf, size, "(default %s%s%s%s%s)", *p->preset ? p->preset : "by workload",
                 unit ? " " : "", unit ? p->unit : "", *allowed ? "; " : "", allowed);
}

static void param_entry(FILE *out, enum param_id id, const struct args_rules *rules)
{
    const struct param_info *p = &param_table[id];
    const struct args_words *own = words_of(rules, p->id);
    char text[512], facts[256];
    if (own) {
        entry(out, params_letter(id), p->id, own->argument, own->help);
        return;
    }
    facts_of(id, rules, facts, sizeof facts);
    bool listable = p->axis && !rules->one_value;
    snprintf(text, sizeof text, "%s %s%s", p->help, facts, listable ? " *" : "");
    entry(out, params_letter(id), p->id, argument_of(p), text);
}

static bool listed(const struct args_rules *rules, const char *id)
{
    const char *const *a = rules->accepts;
    while (a && *a && **a && strcmp(*a, id))
        a++;
    return !a || (*a && **a);
}

char *args_help(const struct args_rules *rules)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        die("out of memory");
    for (int id = 0; id < PARAM_COUNT; id++)
        if (args_takes(rules, id))
            param_entry(out, id, rules);
    for (int i = 0; i < OPTION_COUNT; i++) {
        const struct option_info *o = &option_table[i];
        const struct args_words *own = words_of(rules, o->id);
        if (listed(rules, o->id))
            entry(out, o->letter, o->id, own ? own->argument : o->argument,
                  own ? own->help : o->help);
    }
    entry(out, 'h', "help", "", "this text");
    entry(out, 0, "version", "", "the version");
    if (!rules->no_params && !rules->one_value)
        fputs("\n  *  also a list or ranges: 10,20,50  100..800:100 (steps)  1k..64k*2,max (times)."
              "\n     At most two parameters take one at a time; every combination is measured.",
              out);
    if (!rules->no_params)
        fputs("\n  Numbers take k, M (thousands), bytes KiB, MiB too; times ms, s, min.\n", out);
    if (fclose(out))
        die("out of memory");
    return text;
}
