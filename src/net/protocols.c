/* SPDX-License-Identifier: MIT */
/* The table of protocols. A row here and a file beside it make a protocol. */
#include "net/protocols.h"

#include <string.h>

#include "net/protocol.h"

const struct protocol *const protocol_table[] = {
    &protocol_fetch,
    &protocol_echo,
    &protocol_discard,
    &protocol_http,
    &protocol_resp,
};
const int protocol_count = sizeof protocol_table / sizeof *protocol_table;

const char *protocol_word(int i)
{
    return i >= 0 && i < protocol_count ? protocol_table[i]->id : NULL;
}

int protocol_find(const char *id)
{
    for (int i = 0; i < protocol_count; i++)
        if (strcmp(protocol_table[i]->id, id) == 0)
            return i;
    return -1;
}

const struct protocol *protocol_get(int i, bool suffix)
{
    const struct protocol *p = protocol_table[i];
    return suffix && p == &protocol_echo ? &protocol_echo_suffix : p;
}
