/* SPDX-License-Identifier: MIT */
/* Claims as text: what both the command and the dashboard write. */
#include <stdio.h>

#include "session/claims_run.h"

char *claim_figures(const struct claim_result *r, char *buf, size_t size)
{
    snprintf(buf, size, "%s%s%s", r->reason, r->reason[0] && r->figures[0] ? "; " : "", r->figures);
    return buf;
}

static void put_cell(const char *text, FILE *out)
{
    fputs("| ", out);
    for (; *text; text++) {
        if (*text == '|')
            fputc('\\', out);
        fputc(*text, out);
    }
    fputc(' ', out);
}

void claims_markdown(const struct claims *c, const struct claim_try *tries, FILE *out)
{
    char figures[CLAIM_FIGURES];
    fputs("| claim | verdict | figures | source |\n| --- | --- | --- | --- |\n", out);
    for (int i = 0; i < c->count; i++) {
        if (!tries[i].tried)
            continue;
        put_cell(c->list[i]->title, out);
        put_cell(claim_words[tries[i].result.verdict], out);
        put_cell(claim_figures(&tries[i].result, figures, sizeof figures), out);
        put_cell(c->list[i]->source, out);
        fputs("|\n", out);
    }
}
