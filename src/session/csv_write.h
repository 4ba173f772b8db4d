/* SPDX-License-Identifier: MIT */
/* The samples file as text, for csv_save.c. csv_tables() is public. */
#ifndef SESSION_CSV_WRITE_H
#define SESSION_CSV_WRITE_H

#include "session/csv.h"

/* Returns 0 or the -errno of the stream. */
int csv_samples(const struct csv_session *s, FILE *out);

/* The header of that file, and one line of it. x NULL: of a pane that has no sample; read behind
 * others it says the pane's verdict anew. */
void csv_sample_header(struct sink *o);
void csv_sample_line(struct sink *o, const struct csv_session *s, const struct row *r, int pane,
                     const struct sample *x);

#endif
