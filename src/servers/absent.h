/* SPDX-License-Identifier: MIT */
/* The functions of a model that could not be built: it is listed with the reason and never runs. */
#ifndef SERVERS_ABSENT_H
#define SERVERS_ABSENT_H

#include "servers/models.h"

/* "not built: PACKAGE is missing" */
int absent_reason(const char *package, struct err *e);

int absent_open(struct worker *w, struct err *e);
int absent_loop(struct worker *w, struct err *e);
void absent_close(struct worker *w);

#endif
