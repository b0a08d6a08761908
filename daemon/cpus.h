/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CPUS_H
#define DAEMON_CPUS_H
/*
 * cpus.h - the maximum number of CPUs of this machine. CPU numbers that a program states are
 * compared with it.
 */
#include <stdint.h>

/**
 * possible_cpus() - one more than the highest CPU number that the kernel can use, including CPUs
 * that are offline or not plugged in
 * It is read once. Without /sys, it is the number that the C library counts; at least 1.
 */
uint32_t possible_cpus(void);

/**
 * possible_cpus_pretend() - tests only: possible_cpus() returns @nr from now on; 0: the machine's
 * number again
 */
void possible_cpus_pretend(uint32_t nr);
#endif
