/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SAVE_ON_H
#define DAEMON_SAVE_ON_H
/*
 * save_on.h - the values of --save-on: when a flight recorder saves by itself
 *
 *	wait>200ms, wait:postgres>200ms    a thread waits for longer than that
 *	scope:pay>50ms                     a scope takes longer
 *	call:fsync>50ms                    a system call takes longer
 *	event:shop:pay, event:shop:pay[cents>5]   an event, of the catalogue, a program or a probe
 *	signal:SIGUSR1                     the daemon gets it, or SIGUSR2
 *	signal:SIGSEGV, signal:nginx:SIGTERM      a thread gets another one
 *	psi:io>200ms/2s                    the kernel's pressure stall information: io, cpu, memory
 *	loss                               events are lost
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/error.h>

#define SAVE_ON_MAX	   16
#define SAVE_ON_NAME_BYTES 128
#define SAVE_ON_CONDITION  256
#define SAVE_ON_CALLS	   1024 /* the numbers of system calls that have names are below */

enum save_kind { SAVE_WAIT, SAVE_SCOPE, SAVE_CALL, SAVE_EVENT, SAVE_SIGNAL, SAVE_PRESSURE, SAVE_LOSS };

/**
 * struct save_on - one value
 * @text: as given; borrowed
 * @name: of a thread or program, a scope, a call or an event; of a resource; "": any
 * @condition: of an event; "": none
 * @over_ns: longer than this. @window_ns: in so much time, of the pressure
 * @all: of the pressure: all tasks stall ("full"), not only some
 * @signal: its number. @to_daemon: the daemon itself gets it
 */
struct save_on {
	const char *text;
	enum save_kind kind;
	char name[SAVE_ON_NAME_BYTES];
	char condition[SAVE_ON_CONDITION];
	uint64_t over_ns;
	uint64_t window_ns;
	bool all;
	bool to_daemon;
	int signal;
};

/** save_on_parse() - returns 0, or -EINVAL with the reason */
int save_on_parse(const char *text, struct save_on *ret_on, struct trace_error *ret_error);
/** save_on_needs_events() - is it decided from the recorded events? */
bool save_on_needs_events(const struct save_on *on);
/** save_on_names_thread() - is it for threads or programs of a name only? */
bool save_on_names_thread(const struct save_on *on);
#endif
