/* SPDX-License-Identifier: MIT */
/* The parameter table as data. Everything here is a walk over params.def: a new parameter needs a
 * row there and no line here. Names of other tables (workloads, protocols) are bound at start, so
 * this folder knows neither. */
#include "params/params.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define PARAM(id, kind, unit, preset, low, high, axis, renews, words, help)                        \
    {#id, KIND_##kind, unit, preset, low, high, axis, RENEWS_##renews, words, help},
#define OPTION(...)
const struct param_info param_table[PARAM_COUNT] = {
#include "params/params.def"
};
#undef PARAM
#undef OPTION

#define PARAM(...)
#define OPTION(id, letter, argument, help) {#id, letter, argument, help},
const struct option_info option_table[OPTION_COUNT] = {
#include "params/params.def"
};
#undef PARAM
#undef OPTION

#define PARAM(id, ...) offsetof(struct params, id),
#define OPTION(...)
static const size_t field[PARAM_COUNT] = {
#include "params/params.def"
};
#undef PARAM
#undef OPTION

static const struct {
    enum param_id id;
    char letter;
} letters[] = {
    {PARAM_workload, 'w'}, {PARAM_connections, 'c'},  {PARAM_rate, 'r'},
    {PARAM_duration, 'd'}, {PARAM_load_threads, 't'},
};

static const char *(*bound[PARAM_COUNT])(int i);

void params_bind(enum param_id id, const char *(*word)(int i))
{
    bound[id] = word;
}

char params_letter(enum param_id id)
{
    for (size_t i = 0; i < sizeof letters / sizeof *letters; i++)
        if (letters[i].id == id)
            return letters[i].letter;
    return 0;
}

const char *params_group(enum param_id id)
{
    const char *group = "";
#define GROUP(words) group = words;
#define PARAM(at, ...)                                                                             \
    if (id == PARAM_##at)                                                                          \
        return group;
#define OPTION(...)
#include "params/params.def"
#undef PARAM
#undef OPTION
    return group;
}

double *params_at(struct params *p, enum param_id id)
{
    return (double *)((char *)p + field[id]);
}

double params_get(const struct params *p, enum param_id id)
{
    return *(const double *)((const char *)p + field[id]);
}

bool params_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

bool params_same_but(const struct params *a, const struct params *b, enum param_id id)
{
    for (enum param_id i = 0; i < PARAM_COUNT; i++)
        if (i != id && !params_same(params_get(a, i), params_get(b, i)))
            return false;
    return true;
}

bool params_effort(enum param_id id)
{
    switch (id) {
    case PARAM_samples:
    case PARAM_repeats:
    case PARAM_duration:
    case PARAM_trim:
    case PARAM_warmup:
    case PARAM_seed:
        return true;
    default:
        return false;
    }
}

enum param_id params_rival(enum param_id id)
{
    return id == PARAM_duration  ? PARAM_samples
           : id == PARAM_samples ? PARAM_duration
                                 : PARAM_COUNT;
}

void params_init(struct params *p)
{
    for (int id = 0; id < PARAM_COUNT; id++) {
        double *v = params_at(p, id);
        if (!*param_table[id].preset || params_parse(id, param_table[id].preset, v, NULL) < 0)
            *v = PARAM_UNSET;
    }
}

/* Words stand in the table as "one|drain"; they are handed out as strings that live as long as the
 * program, so they are split once, by whichever thread asks first. */
#define WORDS_MAX 8
static char word_pool[PARAM_COUNT][WORDS_MAX][16];

static void split_words(void)
{
    for (int id = 0; id < PARAM_COUNT; id++) {
        const char *w = param_table[id].words;
        for (int n = 0; *w && n < WORDS_MAX; n++) {
            size_t length = strcspn(w, "|");
            snprintf(word_pool[id][n], sizeof word_pool[id][n], "%.*s", (int)length, w);
            w += length + (w[length] == '|');
        }
    }
}

static const char *table_word(enum param_id id, int i)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, split_words);
    return i >= 0 && i < WORDS_MAX && *word_pool[id][i] ? word_pool[id][i] : NULL;
}

const char *params_choice(enum param_id id, int i)
{
    switch (param_table[id].kind) {
    case KIND_WORD:
        return table_word(id, i);
    case KIND_NAME:
        return bound[id] && i >= 0 ? bound[id](i) : NULL;
    default:
        return NULL;
    }
}

static bool same_id(const char *a, const char *b)
{
    for (; *a && *b; a++, b++)
        if (*a != *b && !(*a == '-' && *b == '_') && !(*a == '_' && *b == '-'))
            return false;
    return *a == *b;
}

int params_find(const char *id)
{
    for (int i = 0; params_word(i); i++)
        if (same_id(id, params_word(i)))
            return i;
    return -1;
}

const char *params_word(int i)
{
    if (i < 0 || i >= PARAM_COUNT + OPTION_COUNT)
        return NULL;
    return i < PARAM_COUNT ? param_table[i].id : option_table[i - PARAM_COUNT].id;
}

char *params_flag(enum param_id id, char *buf, size_t size)
{
    snprintf(buf, size, "--%s", param_table[id].id);
    for (char *c = buf; *c; c++)
        if (*c == '_')
            *c = '-';
    return buf;
}

char *params_echo(const char *text, char *buf, size_t size)
{
    size_t n = 0;
    bool wide = false;
    const unsigned char *c = (const unsigned char *)text;
    if (!*c) {
        snprintf(buf, size, "\"\"");
        return buf;
    }
    for (; *c && n + 4 < size; c++) {
        bool tail = wide && (*c & 0xc0) == 0x80; /* the rest of a character already replaced */
        wide = *c >= 0x80;
        if (!tail)
            buf[n++] = (char)(*c < 0x20 || *c >= 0x7f ? '?' : *c);
    }
    snprintf(buf + n, size - n, "%s", *c ? "..." : "");
    return buf;
}
