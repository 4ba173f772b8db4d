/* SPDX-License-Identifier: MIT */
/* Tables as JSON: an object a line, keyed by the ids of the first line; null where nothing was
 * measured. docs/files.md describes it. Where the library was not there at build, json_missing()
 * says so and the rest must not be called. Thread: main. */
#ifndef CLI_JSON_H
#define CLI_JSON_H

#include "base/err.h"
#include "session/sink.h"

/* 0, or -EINVAL and what to install. */
int json_missing(struct err *e);

struct json;

/* An empty document of this command. */
struct json *json_new(const char *command);

/* A sink that fills the list of that name; valid until json_print(). One is written at a time: a
 * new one ends the one before. */
struct sink *json_table(struct json *j, const char *name);

/* Writes all of it to the stream, with a line end, and frees it. */
void json_print(struct json *j, FILE *out);

#endif
