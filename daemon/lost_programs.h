/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_LOST_PROGRAMS_H
#define DAEMON_LOST_PROGRAMS_H
/*
 * lost_programs.h - programs whose events are lost as a whole: the first ones with the reason, some
 * more by name, and the others by their number
 */
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LOST_PROGRAMS_NAMED  8
#define LOST_PROGRAMS_LISTED 24 /* so that the text fits a message */

/**
 * struct lost_programs - zeroed: none
 * @nr: all of them; @named has the first ones, @listed those behind them
 */
struct lost_programs {
	uint64_t nr;
	struct lost_program {
		pid_t pid;
		char name[64];
		char why[160];
	} named[LOST_PROGRAMS_NAMED];
	struct listed_program {
		pid_t pid;
		char name[24];
	} listed[LOST_PROGRAMS_LISTED];
};

/** lost_programs_add() - @name: of the program file, or the command's; @why: "it ..." */
void lost_programs_add(struct lost_programs *programs, pid_t pid, const char *name, const char *why);
/** lost_programs_describe() - one text for each program with a reason, and one for all others */
void lost_programs_describe(const struct lost_programs *programs, void (*describe)(void *context, const char *text),
			    void *context);
#endif
