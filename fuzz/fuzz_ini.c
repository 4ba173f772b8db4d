/* SPDX-License-Identifier: MIT */
/* Plans and claims, each INI files with values in grammars of their own; the first byte picks
 * which. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/input.h"
#include "load/workloads.h"
#include "net/protocol.h"
#include "session/claims.h"
#include "session/plan.h"

static void a_plan(const char *path)
{
    struct args none = {0};
    struct plan plan;
    struct err e;
    params_init(&none.params);
    if (plan_from_path(path, &none, &plan, &e) == 0)
        plan_free(&plan);
}

static void a_claim(const char *path)
{
    struct claims claims;
    struct err e;
    if (claims_read(&path, 1, &claims, &e) == 0)
        claims_free(&claims);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const readers[])(const char *path) = {a_plan, a_claim};
    if (size == 0)
        return 0;
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    readers[data[0] % (sizeof readers / sizeof *readers)](input_file(data + 1, size - 1));
    return 0;
}
