/* SPDX-License-Identifier: MIT */
/* What the dashboard keeps from one start to the next, in the state folder
 * ($XDG_STATE_HOME/iodash): whether it was ever started, and which sessions were saved or opened
 * last. None of it matters enough to fail: where it cannot be kept it is not. Thread: the
 * screen's. */
#ifndef SESSION_STATE_H
#define SESSION_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#define STATE_RECENT 20
#define STATE_PATH 512

/* The folder, made when it is not there; false: there can be none. */
bool state_folder(char *buf, size_t size);

/* True the first time that it is asked on this account, or always where that cannot be kept. */
bool state_first_start(void);

struct recent {
    char path[STATE_PATH]; /* absolute */
    time_t changed;        /* of the file */
    char why_not[80];      /* it cannot be opened any more; "" */
};

/* The last sessions, newest first. Returns how many. */
int state_recent(struct recent out[STATE_RECENT]);

/* Puts a session at the head of the list. */
void state_recent_add(const char *path);

#endif
