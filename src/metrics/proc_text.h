/* SPDX-License-Identifier: MIT */
/* What proc.c (processes) and proc_machine.c share: a file of /proc as text, and its units. */
#ifndef METRICS_PROC_TEXT_H
#define METRICS_PROC_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* As limits_read_file(): a file below the root, named from there. */
int proc_text(const char *name, char *buf, size_t size);

/* The number that follows the label; -1: the label is not there. */
int64_t proc_number_after(const char *text, const char *label);

uint64_t proc_ticks_to_ns(uint64_t ticks);
int64_t proc_pages_to_bytes(int64_t pages); /* -1: more than there can be */

/* Another root: what is open of the old one is closed. */
void proc_machine_forget(void);

#endif
