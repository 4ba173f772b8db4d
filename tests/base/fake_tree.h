/* SPDX-License-Identifier: MIT */
/* A folder of files that a test writes and a reader of /proc or /sys takes for the real ones. */
#ifndef TESTS_BASE_FAKE_TREE_H
#define TESTS_BASE_FAKE_TREE_H

/* A new folder; its path is valid until fake_tree_remove(), which deletes everything in it. One at
 * a time. */
const char *fake_tree_make(void);
void fake_tree_remove(void);

/* Writes PATH below the folder, which begins with '/', with the folders on the way. */
void fake_tree_write(const char *path, const char *text);

#endif
