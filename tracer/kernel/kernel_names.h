/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_KERNEL_NAMES_H
#define TRACER_KERNEL_NAMES_H
/* kernel_names.h - the numbered lines of /proc/interrupts with the names of their handlers. */

typedef int (*tracer_interrupt_fn)(void *context, unsigned int irq, const char *name);

/** tracer_each_interrupt() - call @emit for each; stops at and returns the first non-zero result */
int tracer_each_interrupt(tracer_interrupt_fn emit, void *context);

#endif
