/* SPDX-License-Identifier: MIT */
/* What is measured, kept as it comes: a thread of its own appends each second what is new to a file
 * in the state folder, so that a crash costs a second. A session whose file was left behind is
 * recovered at the next start. Thread: starting and stopping, the session's owner. */
#ifndef SESSION_AUTOSAVE_H
#define SESSION_AUTOSAVE_H

#include <stdbool.h>
#include <stddef.h>

struct autosave;
struct session;

/* Never NULL: what cannot be kept is said in the session's log, once. */
struct autosave *autosave_start(struct session *s, const char *folder);

/* Writes what is left, ends the thread, and removes the file when all that was measured is saved
 * (session_saved). NULL does nothing. */
void autosave_stop(struct autosave *a);

/* Makes each session that was left behind in this folder, by an iodash that runs no more, a file of
 * its own there: recovered-YYYYMMDD-HHMMSS-PID.csv. Returns how many; path[] is the newest. */
int autosave_recover(const char *folder, char *path, size_t size);

/* The time in such a name, as "14:03", or "29 Nov 14:03" where that is not today; false: the name
 * is no recovered session's. */
bool autosave_when(const char *path, char *buf, size_t size);

#endif
