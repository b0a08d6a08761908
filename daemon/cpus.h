/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CPUS_H
#define DAEMON_CPUS_H
/* cpus.h - how many CPUs the machine can ever have. A number that a program states is compared with it. */
#include <stdint.h>

/**
 * possible_cpus() - one more than the highest CPU number that the kernel can use, CPUs that are offline or not
 * plugged in included Read once. A machine without /sys has as many as the C library counts; at least 1.
 */
uint32_t possible_cpus(void);

/** possible_cpus_pretend() - tests only: the number that possible_cpus() returns from now on; 0: the machine's again
 */
void possible_cpus_pretend(uint32_t nr);
#endif
