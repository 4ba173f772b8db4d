/* SPDX-License-Identifier: MIT */
/* A saved session, opened. What was read is written again and opened once more: it must be the same
 * number of samples, since whatever is shown can be saved. */
#include <stdlib.h>
#include <string.h>

#include "fuzz/input.h"
#include "load/workloads.h"
#include "net/protocol.h"
#include "session/csv.h"

static int open_bytes(const void *bytes, size_t size, struct rows *rows, struct environment *env)
{
    char note[200];
    struct err e;
    return csv_open(input_file(bytes, size), rows, env, note, &e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct rows rows = {0}, again = {0};
    struct environment env = {0}, env_again = {0};
    params_bind(PARAM_workload, workload_word);
    params_bind(PARAM_protocol, protocol_word);
    int samples = open_bytes(data, size, &rows, &env);
    if (samples > 0) {
        struct csv_session s = {.rows = &rows, .env = &env, .session = "s"};
        struct csv_image image;
        csv_image_make(&s, &image);
        if (open_bytes(image.samples, image.samples_size, &again, &env_again) != samples)
            abort();
        csv_image_free(&image);
        rows_free(&again);
    }
    rows_free(&rows);
    return 0;
}
