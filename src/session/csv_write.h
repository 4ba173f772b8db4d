/* SPDX-License-Identifier: MIT */
/* The samples file as text, for csv_save.c. csv_tables() is public. */
#ifndef SESSION_CSV_WRITE_H
#define SESSION_CSV_WRITE_H

#include "session/csv.h"

/* Returns 0 or the -errno of the stream. */
int csv_samples(const struct csv_session *s, FILE *out);

#endif
