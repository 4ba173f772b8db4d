/* SPDX-License-Identifier: MIT */
/* Rows made by hand, for the tests of this folder. */
#ifndef TESTS_SAMPLE_ROWS_H
#define TESTS_SAMPLE_ROWS_H

#include "scratch.h"
#include "session/csv.h"

/* Binds the tables and resolves the parameters of a workload. */
struct params rows_params(const char *workload);

/* A row of these models ("select", "epoll-lt"; both 1 to 4) with verdict ok. */
struct row *rows_make(struct rows *r, const struct params *p, const char *const *models, int count);

/* A kept sample with the next index. */
struct sample *rows_sample(struct row *row, int pane, enum metric_id m, double value);

/* Values of every kind in every metric of `samples` samples a pane, from a seed. */
void rows_scatter(struct row *row, int samples, unsigned seed);

/* A session of three rows: paced transfer, closed loop, connect with a skipped pane. */
void rows_session(struct rows *r);

struct environment rows_environment(void);

/* A new folder under the temporary one, made the current one; and its removal with all in it. */
void folder_enter(char path[SCRATCH_PATH]);
void folder_leave(const char *path);

/* Files in the current folder whose name begins so. */
int folder_count(const char *prefix);

/* The whole file, NUL-terminated; the caller frees. */
char *file_text(const char *name, size_t *size);
void file_write(const char *name, const void *bytes, size_t size);

#endif
