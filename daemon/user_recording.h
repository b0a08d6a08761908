/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_RECORDING_H
#define DAEMON_USER_RECORDING_H
/* user_recording.h - the part of a recording that all traced programs share */
#include <stdbool.h>
#include <stdint.h>
#include <trace/writer.h>

#include "budget.h"
#include "untrusted.h"
#include "drain.h"
#include "select.h"
#include "user_clock.h"

/**
 * struct user_recording - what a recording shares with its programs; the recording owns it
 * @budget: bounds on the work and memory that programs may cause; NULL: no bounds
 * @next_stream: stream number of the next ring
 * @start_ns: older events are not recorded. @end_ns: nor are younger ones; 0: the recording goes on
 * @distrusted: the programs that wrote impossible numbers
 * @last_type: the highest number that the trace gave to an event type of programs
 * @undescribed: event types that the trace refused; their events count as lost. @why: the first
 * refusal
 * @patience: for user_kept_reset() in a flight recorder, and for reads that happen now
 * @flight: records stay in the rings until a snapshot, which brings its own writer; until then
 * @drain and @writer are NULL
 */
struct user_recording {
	struct drain *drain;	     /* borrowed */
	struct trace_writer *writer; /* borrowed */
	struct budget *budget;	     /* borrowed */
	struct user_clock clock;
	struct selection *selection; /* borrowed; is given the name of each event */
	uint32_t next_stream;
	uint32_t last_type;
	uint64_t start_ns;
	uint64_t end_ns;
	struct distrusted_programs distrusted;
	uint64_t undescribed;
	uint64_t nr_unfit; /* events that lack a field of their condition */
	struct trace_error why;
	int patience;
	bool halted;
	bool blocking;
	bool flight;
};

#define USER_FIRST_STREAM 0x10000u
#endif
