/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_DISTRUST_H
#define DAEMON_USER_DISTRUST_H
/*
 * user_distrust.h - a program that wrote impossible values: reported once, and listed in the trace
 */
struct user_program;

/**
 * user_distrust() - note that @program wrote impossible values; @reasons: mask of enum
 * distrust_reason
 */
void user_distrust(struct user_program *program, unsigned int reasons);
/**
 * user_check_counts() - look for impossible values in its counters, its rings and its registry
 */
void user_check_counts(struct user_program *program);
#endif
