/* SPDX-License-Identifier: MIT */
/* Keys as text: "s", "?", "up", "f1", "space". Pure. */
#ifndef UI_KEYS_H
#define UI_KEYS_H

#include <stdbool.h>
#include <stddef.h>

/* The code (ui/term.h) of a key's name; 0 when there is no such key. */
int keys_code(const char *name);

/* The i-th word of a list of keys separated by blanks, into buf; false past the last. */
bool keys_word(const char *list, int i, char *buf, size_t size);

/* True when the list names this key. */
bool keys_hold(const char *list, int code);

/* The code of a key as it is shown ("Esc", "s"); 0: none, or more than one ("←→"). */
int keys_shown(const char *shown);

/* A list as the help writes it: "↑ +", "Esc q", "F10". Returns buf. */
char *keys_show(const char *list, char *buf, size_t size);

#endif
