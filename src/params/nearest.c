/* SPDX-License-Identifier: MIT */
/* "did you mean": the edit distance of Damerau and Levenshtein (insert, delete, replace, swap of
 * neighbours), limited to a third of what was typed so that a guess is never far-fetched. */
#include "params/params.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define LONGEST 48

static int folded(char c)
{
    return c == '-' ? '_' : tolower((unsigned char)c);
}

static int least(int a, int b, int c)
{
    int ab = a < b ? a : b;
    return ab < c ? ab : c;
}

static int distance(const char *a, const char *b)
{
    int d[LONGEST + 1][LONGEST + 1];
    int m = (int)strlen(a), n = (int)strlen(b);
    for (int i = 0; i <= m; i++)
        d[i][0] = i;
    for (int j = 0; j <= n; j++)
        d[0][j] = j;
    for (int i = 1; i <= m; i++) {
        for (int j = 1; j <= n; j++) {
            int cost = folded(a[i - 1]) != folded(b[j - 1]);
            d[i][j] = least(d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + cost);
            bool swapped = i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
                           folded(a[i - 2]) == folded(b[j - 1]);
            if (swapped && d[i - 2][j - 2] + 1 < d[i][j])
                d[i][j] = d[i - 2][j - 2] + 1;
        }
    }
    return d[m][n];
}

const char *params_nearest(const char *text, const char *(*word)(int i))
{
    size_t length = strlen(text);
    if (length == 0 || length > LONGEST)
        return NULL;
    int limit = length < 6 ? 1 + (length > 3) : (int)length / 3, best = limit + 1;
    const char *found = NULL, *begins = NULL, *w;
    for (int i = 0; (w = word(i)); i++) {
        if (strlen(w) > LONGEST)
            continue;
        int d = distance(text, w);
        if (d < best && d < (int)length) {
            best = d;
            found = w;
        }
        if (!begins && length > 2 && !strncasecmp(w, text, length))
            begins = w;
    }
    return best > 1 && begins ? begins : found;
}
