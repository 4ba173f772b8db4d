/* SPDX-License-Identifier: MIT */
/* Who pays for the kernel's part of TCP. On loopback it is done in the sender's own call, as a
 * soft interrupt; a kernel with IRQ_TIME_ACCOUNTING takes that time out of the sender's CPU
 * clock, so that servers look cheaper than they are. */
#ifndef METRICS_IRQ_TIME_H
#define METRICS_IRQ_TIME_H

/* What part of the time of a loopback send its thread is charged, in 30 ms: about 1 where it
 * pays for all of it. NaN when it could not be tried. */
double irq_time_charged(void);

#endif
