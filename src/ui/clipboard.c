/* SPDX-License-Identifier: MIT */
/* ESC ] 52 ; c ; BASE64 BEL. A terminal that knows no such sequence swallows it, but for consoles
 * and old hardware, which would show it as letters. */
#include "ui/clipboard.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/err.h"

static bool terminal_swallows(void)
{
    static const char *const plain[] = {"linux", "vt", "ansi", "cons25", "dumb", "sun"};
    const char *term = getenv("TERM");
    for (size_t i = 0; term && i < sizeof plain / sizeof *plain; i++)
        if (strncmp(term, plain[i], strlen(plain[i])) == 0)
            return false;
    return term && *term && isatty(STDOUT_FILENO);
}

static char *base64(const char *from, size_t n, char *to)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        unsigned b[3] = {(unsigned char)from[i], i + 1 < n ? (unsigned char)from[i + 1] : 0,
                         i + 2 < n ? (unsigned char)from[i + 2] : 0};
        *to++ = digits[b[0] >> 2];
        *to++ = digits[(b[0] & 3) << 4 | b[1] >> 4];
        *to++ = i + 1 < n ? digits[(b[1] & 15) << 2 | b[2] >> 6] : '=';
        *to++ = i + 2 < n ? digits[b[2] & 63] : '=';
    }
    return to;
}

static bool write_all(const char *s, size_t n)
{
    while (n > 0) {
        ssize_t done = write(STDOUT_FILENO, s, n);
        if (done <= 0)
            return false;
        s += done;
        n -= (size_t)done;
    }
    return true;
}

bool clipboard_ask(const char *text)
{
    static const char begin[] = "\033]52;c;", end[] = "\a";
    size_t n = strlen(text);
    if (n == 0 || n > CLIPBOARD_MOST || !terminal_swallows())
        return false;
    char *all = xcalloc(n / 3 * 4 + 4 + sizeof begin + sizeof end, 1);
    memcpy(all, begin, sizeof begin - 1);
    char *to = base64(text, n, all + sizeof begin - 1);
    memcpy(to, end, sizeof end - 1);
    bool asked = write_all(all, (size_t)(to - all) + sizeof end - 1);
    free(all);
    return asked;
}
