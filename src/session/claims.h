/* SPDX-License-Identifier: MIT */
/* Claims: sentences that people repeat, tried here. A claim is a file (assets/claims/NAME.ini):
 * what is said and by whom, the rows or the probe that try it, and rules that make a verdict of
 * what was measured. Its rules stand in order and the first that holds for certain decides; none
 * of them: "not measured". Thread: the owner's. */
#ifndef SESSION_CLAIMS_H
#define SESSION_CLAIMS_H

#include "session/claim_probes.h"
#include "session/expr.h"

#define CLAIM_RULES 8
#define CLAIM_CONDITIONS 4
#define CLAIM_BRIEFS 4

enum claim_verdict { CLAIM_NOT_MEASURED, CLAIM_TRUE, CLAIM_FALSE, CLAIM_DEPENDS, CLAIM_VERDICTS };
extern const char *const claim_words[]; /* "not measured", "true", ... */

enum claim_term {
    TERM_FIGURE,   /* MODEL.METRIC */
    TERM_RATIO,    /* MODEL/MODEL.METRIC, by rounds */
    TERM_SLOPE,    /* slope(MODEL.METRIC, PARAM) */
    TERM_EXPONENT, /* exponent(MODEL.METRIC, PARAM): of its growth above the smallest PARAM */
    TERM_PROBE     /* probe.FIGURE */
};

struct claim_condition {
    char text[96]; /* the term as it is written */
    enum claim_term term;
    struct expr of;      /* its model (of a ratio the upper one), metric, comparison and number */
    char under[32];      /* the lower one */
    enum param_id along; /* of a slope and an exponent */
    enum param_id at; /* holds in the row where this parameter is at_value; PARAM_COUNT: in each */
    double at_value;
    int figure;          /* of the probe */
    bool range;          /* in a brief: with its interval */
};

struct claim_rule {
    enum claim_verdict verdict;
    int line, count;
    struct claim_condition conditions[CLAIM_CONDITIONS]; /* all must hold */
};

struct claim {
    char name[32], title[96], source[240], how[600];
    char brief[200]; /* the verdict's figures in a few words, each as {FIGURE}; "": none */
    int brief_count;
    struct claim_condition briefs[CLAIM_BRIEFS]; /* these figures; nothing is compared */
    const struct claim_probe *probe; /* NULL: none */
    struct plan plan;                /* no rows where a probe is enough */
    char cannot[320];                /* why its rows cannot be had on this machine; "" */
    int rule_count;
    struct claim_rule rules[CLAIM_RULES];
};

struct claims {
    int count;
    struct claim **list;
};

/* Those named (a shipped name or a file), or with 0 names all shipped, in the order of their names.
 * -EINVAL with file and line; -ENOENT where none are shipped. */
int claims_read(const char *const *names, int count, struct claims *out, struct err *e);
void claims_free(struct claims *c);

struct claim_result {
    enum claim_verdict verdict;
    char figures[480]; /* each term with its value and interval */
    char brief[120];   /* the claim's brief with its figures; "" where one of them is missing */
    char reason[320];  /* why it is not measured; "" otherwise */
};

/* From its rows among `first` and all behind it (those measured for it, of each the newest) and
 * from what its probe gave. The caller holds the rows' lock. Pure. */
void claim_judge(const struct claim *c, const struct row *first, const double *probe,
                 struct claim_result *out);

#endif
