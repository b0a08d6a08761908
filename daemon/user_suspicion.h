/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_SUSPICION_H
#define DAEMON_USER_SUSPICION_H
/*
 * user_suspicion.h - a program that wrote impossible values: reported once, and listed in the trace
 */
struct user_program;

/**
 * user_suspect() - note that @program wrote impossible values; @reasons: mask of enum doubt_reason
 */
void user_suspect(struct user_program *program, unsigned int reasons);
/**
 * user_suspect_counts() - look for impossible values in its counters, its rings and its registry
 */
void user_suspect_counts(struct user_program *program);
#endif
