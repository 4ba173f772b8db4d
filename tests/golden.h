/* SPDX-License-Identifier: MIT */
/* Text beside the expected one in a file. IODASH_GOLDEN=write in the environment writes the
 * expected ones anew. */
#ifndef TESTS_GOLDEN_H
#define TESTS_GOLDEN_H

/* Fails the test, and prints the lines that differ, when tests/NAME.txt holds another text. */
void golden_is(const char *name, const char *got);

#endif
