/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_TIMELINE_H
#define LIBTRACE_TIMELINE_H
/* timeline.h - the chunks of one kind in the order of their times. */
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>

struct trace;
struct trace_error;

/** struct span - a chunk in a timeline, with all that a gap needs when the chunk cannot be read */
struct span {
	uint64_t first_ns;
	uint64_t last_ns;
	uint32_t idx; /* chunk number */
	uint32_t events;
	uint32_t stream;
	uint32_t cpu;
};

/**
 * struct timeline - the good chunks of one kind, sorted by first_ns
 * @latest_ns: for each group of TIMELINE_GROUP spans, the latest last_ns up to the group's end
 */
struct timeline {
	size_t nr;
	size_t room;
	struct span *spans;  /* owned */
	uint64_t *latest_ns; /* owned */
};

/**
 * trace_timeline() - the timeline of TRACE_CHUNK_EVENTS or TRACE_CHUNK_START_STATE; made on first
 * use
 * Returns NULL with -ENOMEM or -EBADMSG in @ret_error.
 */
const struct timeline *trace_timeline(const struct trace *trace, uint16_t kind, struct trace_error *ret_error);

/**
 * timeline_extend() - add the chunks from @first on to the timeline that has been made, if any
 * A chunk that begins before @safe_ns comes late: it is added after all spans before @safe_ns,
 * which cursors may have passed. 0 or -ENOMEM
 */
int timeline_extend(struct trace *trace, uint16_t kind, size_t first, uint64_t safe_ns) TRACE_NODISCARD;

/** timeline_at() - index of the first span that can hold an event at or after @ts_ns */
size_t timeline_at(const struct timeline *timeline, uint64_t ts_ns);
struct timeline *timeline_free(struct timeline *timeline);

#endif
