/* SPDX-License-Identifier: MIT */
/* What the fuzzers share. Each is a libFuzzer target: LLVMFuzzerTestOneInput() returns 0, and any
 * abort, report of a sanitizer or time-out is a finding. */
#ifndef FUZZ_INPUT_H
#define FUZZ_INPUT_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The bytes as a file that can be opened by name; the name stays valid until the next call. */
const char *input_file(const uint8_t *data, size_t size);

#endif
