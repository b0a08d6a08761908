/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_PROGRAM_STATE_H
#define DAEMON_USER_PROGRAM_STATE_H
/*
 * user_program_state.h - the state of one traced program, for the files that work on it:
 *
 *	user_program.c    begin and end
 *	user_types.c      the registry of events
 *	user_conditions.c conditions of events
 *	user_rings.c      the rings in use
 *	user_translate.c  records with the ids and times of the trace
 *	user_unready.c    events that never had a ring
 *	user_distrust.c  impossible values
 *	user_snapshot.c   a flight recorder reads the rings
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "untrusted.h"
#include "drain.h"
#include "user_identity.h"
#include "user_kept.h"
#include "user_mapping.h"
#include "user_recording.h"

/**
 * struct user_local - an event of the program's registry
 * @name: owned
 * @global: its id in the trace; 0: not known
 * @wanted: the event is selected, or was at some time
 * @wanted_ns: since when; 0: since it was registered. Earlier records are left out
 * @condition: records that do not fulfil it are left out; owned; NULL: none
 */
struct user_local {
	char *name;
	uint64_t wanted_ns;
	struct trace_condition *condition;
	uint16_t global;
	bool wanted;
	bool unfit; /* lacks a field of the condition */
};

/**
 * struct user_ring - a ring in use
 * @announced: the trace holds the identity of the stream
 * @unwritten: number of lost chunks when it was written; if it has grown, the identity may be lost
 */
struct user_ring {
	struct user_program *program;
	struct drain_ring *drained; /* borrowed from the drain */
	struct user_kept *kept;	    /* owned; in a flight recorder, instead of @drained */
	uint32_t stream;
	uint32_t cpu;
	bool announced;
	uint64_t unwritten;
};

struct user_program {
	struct user_identity identity;
	uid_t payer; /* the user that pays, even if the identity changes later */
	struct user_mapping mapping;
	struct user_recording *recording;      /* borrowed */
	struct user_local *events;	       /* owned; nr_events entries, by id */
	struct user_ring **rings;	       /* owned, with the rings; nr_rings of the mapping; NULL: not in use */
	uint64_t mapped_bytes;		       /* of its rings, charged to its user; 0: read from the file instead */
	uint64_t pages_bytes;		       /* of its memory, charged to its user */
	uint64_t pages_ns;		       /* time of the next count of its pages */
	uint64_t heap_bytes;		       /* of the daemon's heap, charged to its user */
	uint32_t nr_events;		       /* allocated entries of events */
	uint32_t nr_conditions;		       /* written into its memory */
	uint32_t nr_types;		       /* event types that the trace has because of this program */
	uint32_t lookups;		       /* system calls of the last search for rings */
	struct untrusted_counter unready;      /* events without a ring since the recording began */
	uint64_t unready_counted;	       /* the part of unready that is accounted */
	struct untrusted_counter unregistered; /* instrumentation points without room in the registry */
	unsigned int distrust_reasons;	       /* mask of enum distrust_reason; 0: none */
	uint64_t distrusted_idx;	       /* index in the recording's list, if distrusted */
	size_t saved_bytes;		       /* in a flight recorder: bytes that it left when it died */
	bool count_all;
	bool off;
	bool counts_closed;
	bool released;
};
#endif
