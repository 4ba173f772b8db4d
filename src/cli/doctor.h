/* SPDX-License-Identifier: MIT */
/* The checks of `iodash doctor`: each is a function that fills in a finding, and a row. Thread:
 * main. */
#ifndef CLI_DOCTOR_H
#define CLI_DOCTOR_H

#include <stdbool.h>
#include <stdio.h>

struct finding {
    char figure[200];
    char fix[200]; /* "" when all is well */
};

#define FIGURE(f, ...) snprintf((f)->figure, sizeof(f)->figure, __VA_ARGS__)
#define FIX(f, ...) snprintf((f)->fix, sizeof(f)->fix, __VA_ARGS__)

struct check {
    const char *name;
    void (*look)(struct finding *f);
};

/* CPUs, clocks and what else works on them (doctor_machine.c). */
extern const struct check doctor_machine[];
extern const int doctor_machine_count;

/* Makes the check of that name, wherever it stands; false when there is none. */
bool doctor_look(const char *name, struct finding *f);

#endif
