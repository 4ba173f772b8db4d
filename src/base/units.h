/* SPDX-License-Identifier: MIT */
/* Numbers for people: short, with units, never jumping in width more than needed, '.' decimals in
 * every locale. Every function writes into buf (size bytes, NUL-terminated) and returns buf. NaN is
 * "not measured" and is written as "-". */
#ifndef BASE_UNITS_H
#define BASE_UNITS_H

#include <stddef.h>

/* 3 significant digits, an exponent from 1e15 on: 0.147, 4.02, 72.6, 396, 1234. */
char *units_number(char *buf, size_t size, double v);

/* So many decimals; rounded as all others are: halves away from zero. */
char *units_fixed(char *buf, size_t size, double v, int places);

/* With k, M, G: 950, 11.5k, 1.20M. */
char *units_si(char *buf, size_t size, double v);

/* Bytes with KiB, MiB, GiB: 1024 B, 1.9 MiB. */
char *units_bytes(char *buf, size_t size, double bytes);

/* A latency given in microseconds: 310 us -> "310 µs", "4.1 ms", "1.50 s". ascii: "us". */
char *units_us(char *buf, size_t size, double us, int ascii);

/* A span in seconds: "0.25 s", "12 s", "4 min", "1 h 5 min". */
char *units_span(char *buf, size_t size, double seconds);

/* A span that is only a guess: "1 s", "5 s", "20 s", "4 min". */
char *units_about(char *buf, size_t size, double seconds);

/* A clock: "00:31", "1:02:03". */
char *units_clock(char *buf, size_t size, double seconds);

/* Shortest decimal text that reads back as the same double; integers without a point. For CSV. */
char *units_exact(char *buf, size_t size, double v);

/* strtod in the C locale, whatever setlocale() said. *end as strtod. */
double units_strtod(const char *s, char **end);

#endif
