/* SPDX-License-Identifier: MIT */
/* Arguments by getopt_long(3) over an array made from the table: the long options are the ids, the
 * values go through axis_parse(), and what is left are operands. getopt says only "?": who typed
 * what is worked out here, so that each mistake gets a line of its own. */
#include "params/args.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#define ITEMS (PARAM_COUNT + OPTION_COUNT)

/* Values of getopt_long for what has no letter: LONG + the index in params_find()'s numbering. */
enum { LONG = 256, LONG_HELP = LONG + ITEMS, LONG_VERSION };

/* Filled by build() for each parse; params_nearest() reads the names too. Main thread only. */
static struct option longs[ITEMS + 3];
static char names[ITEMS][32];
static char shorts[2 * ITEMS + 8];

static char letter_of(int item)
{
    return item < PARAM_COUNT ? params_letter(item) : option_table[item - PARAM_COUNT].letter;
}

static bool takes_value(int item)
{
    return item < PARAM_COUNT || *option_table[item - PARAM_COUNT].argument;
}

static bool in_list(const char *const *list, const char *id)
{
    for (const char *const *a = list; a && *a && **a; a++)
        if (!strcmp(*a, id))
            return true;
    return !list;
}

bool args_takes(const struct args_rules *rules, enum param_id id)
{
    const char *name = param_table[id].id;
    return !rules->no_params && in_list(rules->params, name) &&
           !(rules->without && in_list(rules->without, name));
}

static bool accepted(const struct args_rules *rules, int item)
{
    if (item < PARAM_COUNT)
        return args_takes(rules, item);
    return in_list(rules->accepts, option_table[item - PARAM_COUNT].id);
}

static void name_item(int item)
{
    snprintf(names[item], sizeof names[item], "%s", params_word(item));
    for (char *c = names[item]; *c; c++)
        if (*c == '_')
            *c = '-';
}

static void build(const struct args_rules *rules)
{
    int n = 0;
    char *s = shorts;
    *s++ = ':'; /* a missing value is told from an unknown option */
    for (int item = 0; item < ITEMS; item++) {
        if (!accepted(rules, item))
            continue;
        name_item(item);
        int has = takes_value(item) ? required_argument : no_argument;
        longs[n++] = (struct option){names[item], has, NULL, LONG + item};
        if (letter_of(item)) {
            *s++ = letter_of(item);
            if (has == required_argument)
                *s++ = ':';
        }
    }
    longs[n++] = (struct option){"help", no_argument, NULL, LONG_HELP};
    longs[n++] = (struct option){"version", no_argument, NULL, LONG_VERSION};
    longs[n] = (struct option){NULL, 0, NULL, 0};
    *s++ = 'h';
    *s = '\0';
}

static const char *long_word(int i)
{
    return longs[i].name;
}

/* The item of a value or letter that getopt_long gave; -1 when there is none. */
static int item_of(int c)
{
    if (c >= LONG && c < LONG + ITEMS)
        return c - LONG;
    for (int item = 0; item < ITEMS; item++)
        if (c && letter_of(item) == c)
            return item;
    return -1;
}

/* --- parameters ------------------------------------------------------------------------------ */

static void forget_axis(struct args *a, enum param_id id)
{
    for (int i = 0; i < a->axis_count; i++) {
        if (a->axes[i].id == id) {
            memmove(&a->axes[i], &a->axes[i + 1],
                    (size_t)(a->axis_count - i - 1) * sizeof *a->axes);
            a->axis_count--;
            return;
        }
    }
}

static int no_list(enum param_id id, const char *text, struct err *e)
{
    char flag[32], echo[64];
    return err_set(e, EINVAL, "%s %s: takes one value here, no list",
                   params_flag(id, flag, sizeof flag), params_echo(text, echo, sizeof echo));
}

static int third_list(const struct args *a, const struct axis *axis, struct err *e)
{
    char flag[3][32];
    return err_set(e, EINVAL, "%s: a third list; at most two parameters may be lists (%s, %s)",
                   params_flag(axis->id, flag[0], sizeof flag[0]),
                   params_flag(a->axes[0].id, flag[1], sizeof flag[1]),
                   params_flag(a->axes[1].id, flag[2], sizeof flag[2]));
}

static int take_param(struct args *a, enum param_id id, const char *text,
                      const struct args_rules *rules, struct err *e)
{
    struct axis axis;
    int error = axis_parse(id, text, &axis, e);
    if (error)
        return error;
    forget_axis(a, id); /* the last one given counts */
    if (axis.count > 1 && rules->one_value)
        return no_list(id, text, e);
    if (axis.count > 1) {
        if (a->axis_count == ARGS_AXES)
            return third_list(a, &axis, e);
        a->axes[a->axis_count++] = axis;
    }
    *params_at(&a->params, id) = axis.values[0];
    a->given[id] = true;
    return 0;
}

/* --- options --------------------------------------------------------------------------------- */

const char **args_option(struct options *o, enum option_id option)
{
    return (const char **)o + option; /* struct options is as many pointers as options */
}

_Static_assert(sizeof(struct options) == OPTION_COUNT * sizeof(const char *), "only pointers");

/* An argument "text|markdown" in the table is a choice; "NAME|FILE", in capitals, is not. */
bool args_allows(enum option_id id, const char *text)
{
    const char *choices = option_table[id].argument;
    if (!strchr(choices, '|') || *choices < 'a')
        return true;
    size_t length = strlen(text);
    for (const char *c = choices; *c; c += strcspn(c, "|"), c += *c == '|')
        if (length && strcspn(c, "|") == length && !strncmp(c, text, length))
            return true;
    return false;
}

static int take_option(struct args *a, int option, const char *text, struct err *e)
{
    const struct option_info *o = &option_table[option];
    const char *name = names[PARAM_COUNT + option];
    char echo[64];
    if (!*o->argument) {
        *args_option(&a->options, (enum option_id)option) = "";
        return 0;
    }
    if (!*text)
        return err_set(e, EINVAL, "--%s \"\": needs a value (%s)", name, o->argument);
    if (!args_allows((enum option_id)option, text))
        return err_set(e, EINVAL, "--%s %s: must be one of %s", name,
                       params_echo(text, echo, sizeof echo), o->argument);
    if (a->text_count == ARGS_TEXTS)
        return err_set(e, EINVAL, "--%s %s: more than %d options", name,
                       params_echo(text, echo, sizeof echo), ARGS_TEXTS);
    a->texts[a->text_count++] = (struct option_text){option, text};
    *args_option(&a->options, (enum option_id)option) = text;
    return 0;
}

/* --- mistakes -------------------------------------------------------------------------------- */

static int missing_value(int item, struct err *e)
{
    char allowed[160];
    if (item >= PARAM_COUNT)
        snprintf(allowed, sizeof allowed, "%s", option_table[item - PARAM_COUNT].argument);
    else
        params_allowed(item, allowed, sizeof allowed);
    return err_set(e, EINVAL, "--%s: needs a value (%s)", names[item], allowed);
}

/* How many options begin with this word. */
static int begun(const char *word)
{
    int n = 0;
    for (const struct option *o = longs; o->name; o++)
        n += !strncmp(o->name, word, strlen(word));
    return n;
}

/* argument: what was typed, "--conections=400". */
static int unknown_long(const char *argument, struct err *e)
{
    char word[64], echo[64];
    const char *name = argument + strspn(argument, "-");
    snprintf(word, sizeof word, "%.*s", (int)strcspn(name, "="), name);
    params_echo(word, echo, sizeof echo);
    if (params_find(word) >= 0 && !begun(word))
        return err_set(e, EINVAL, "--%s: not an option of this command", echo);
    if (begun(word) > 1)
        return err_set(e, EINVAL, "--%s: could be several options; write it out", echo);
    const char *near = params_nearest(word, long_word);
    if (near)
        return err_set(e, EINVAL, "--%s: no such option; did you mean --%s?", echo, near);
    return err_set(e, EINVAL, "--%s: no such option (--help lists them)", echo);
}

static int unknown(int c, const char *argument, struct err *e)
{
    int item = item_of(c);
    char letter[2] = {(char)c, 0}, echo[8];
    if (c >= LONG_HELP)
        return err_set(e, EINVAL, "--%s: takes no value", c == LONG_HELP ? "help" : "version");
    if (c >= LONG)
        return err_set(e, EINVAL, "--%s: takes no value", names[item]);
    if (!c)
        return unknown_long(argument, e);
    if (item >= 0)
        return err_set(e, EINVAL, "-%c: not an option of this command", c);
    return err_set(e, EINVAL, "-%s: no such option (--help lists them)",
                   params_echo(letter, echo, sizeof echo));
}

static int odd_operand(const char *word, const struct args_rules *rules, struct err *e)
{
    char echo[64];
    params_echo(word, echo, sizeof echo);
    int item = params_find(word);
    if (item >= 0 && accepted(rules, item))
        return err_set(e, EINVAL, "%s: options begin with --; did you mean --%s?", echo,
                       names[item]);
    if (rules->operands)
        return err_set(e, EINVAL, "%s: one word too many", echo);
    return err_set(e, EINVAL, "%s: not expected here; only options are (--help lists them)", echo);
}

/* --- all ------------------------------------------------------------------------------------- */

static int take(struct args *a, int c, const char *argument, const struct args_rules *rules,
                struct err *e)
{
    if (c == LONG_HELP || c == 'h')
        a->help = true;
    else if (c == LONG_VERSION)
        a->version = true;
    else if (c == ':')
        return missing_value(item_of(optopt), e);
    else if (c == '?')
        return unknown(optopt, argument, e);
    else if (item_of(c) < PARAM_COUNT)
        return take_param(a, item_of(c), optarg, rules, e);
    else
        return take_option(a, item_of(c) - PARAM_COUNT, optarg, e);
    return 0;
}

static int check_together(const struct args *a, struct err *e)
{
    if (a->given[PARAM_duration] && a->given[PARAM_samples])
        return err_set(e, EINVAL, "--duration stands in place of --samples; give one of them");
    return 0;
}

/* How many words stand behind the first "--"; getopt_long forgets where it was. */
static int words_behind(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], "--"))
            return argc - 1 - i;
    return 0;
}

int args_parse(int argc, char **argv, const struct args_rules *rules, struct args *out,
               struct err *e)
{
    int behind = words_behind(argc, argv);
    memset(out, 0, sizeof *out);
    params_init(&out->params);
    build(rules);
    opterr = 0;
    optind = 0; /* glibc and musl: begin anew */
    for (int c; (c = getopt_long(argc, argv, shorts, longs, NULL)) != -1;) {
        int error = take(out, c, argv[optind > 0 ? optind - 1 : 0], rules, e);
        if (error || out->help || out->version)
            return error;
    }
    for (; optind < argc; optind++) {
        if (out->operand_count == rules->operands || out->operand_count == ARGS_OPERANDS)
            return odd_operand(argv[optind], rules, e);
        out->operand[out->operand_count++] = argv[optind];
    }
    out->split = out->operand_count > behind ? out->operand_count - behind : 0;
    return check_together(out, e);
}
