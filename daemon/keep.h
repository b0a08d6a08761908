/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_KEEP_H
#define DAEMON_KEEP_H
/*
 * keep.h - the latest chunks of a recording, in memory
 *
 *	rings --drain--> queue --writer thread--> keep --save--> file
 *
 * Without a file, the writer of a recording gives each chunk, compressed, to keep_take(). A chunk
 * of events is dropped when the next one of its stream begins before the time that is asked for: so
 * what is kept begins no later than that. Below a limit of memory this time gets shorter, and
 * keep_get_status() tells how long it is. Chunks of programs and of the daemon itself are dropped
 * only before the time from which on the chunks of all CPUs are there.
 *
 * Kept longer: structural events, which describe threads that are old, at most KEEP_HISTORY_BYTES
 * of them; the last change of the mask and of the selection; and the descriptions of event types.
 *
 * The writer thread calls keep_take(), the main thread all other functions; a mutex protects the
 * lists. A chunk does not change any more, and has a count of its users: a save writes it while it
 * is dropped. A chunk that was compressed once more (keep_shrink.h) takes the place of its first
 * form.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/format.h>

#define KEEP_HISTORY_BYTES (16u << 20)

/** struct kept_chunk - as the file will have it. @users: atomic */
struct kept_chunk {
	struct kept_chunk *next; /* of its stream; only under the mutex */
	uint32_t users;
	struct trace_chunk_header header;
	unsigned char payload[];
};

struct kept_chunk *kept_chunk_release(struct kept_chunk *chunk); /* returns NULL */

/**
 * struct keep_options - @keep_ns: how long events are kept. @max_bytes: of memory, for all chunks.
 *     @shrinks: chunks are compressed once more, see keep_shrink.h
 */
struct keep_options {
	uint64_t keep_ns;
	size_t max_bytes;
	bool shrinks;
};

struct keep;

struct keep *keep_new(const struct keep_options *options); /* NULL: no memory */
struct keep *keep_free(struct keep *keep);		   /* NULL is fine; returns NULL */

/** keep_begin() - no event is older than @begin_ns, now that the recording has begun */
void keep_begin(struct keep *keep, uint64_t begin_ns);

/** keep_take() - keep a copy of a chunk; for trace_writer_options.take. Returns 0 or -ENOMEM */
int keep_take(void *keep, const struct trace_chunk_header *header, const void *payload);

/**
 * keep_hold_back() - with @hold, drop nothing from now on: a save is about to begin
 * Call it again without @hold soon, because memory only grows until then.
 */
void keep_hold_back(struct keep *keep, bool hold);

/** keep_oldest_ns() - the oldest event of a CPU or program that is kept; without any, the begin */
uint64_t keep_oldest_ns(struct keep *keep);

/**
 * keep_list() - all kept chunks of which the caller becomes a user too: descriptions of types, then
 * the streams, each in its order
 * Returns an array that the caller frees; NULL: no memory.
 */
struct kept_chunk **keep_list(struct keep *keep, size_t *ret_nr);

/** keep_reset() - drop all events: those before @begin_ns are no longer kept */
void keep_reset(struct keep *keep, uint64_t begin_ns);

/**
 * struct keep_status - what is kept of a CPU, or of everything
 * @since_ns: the oldest event of that CPU, or of the CPU that reaches back least far
 * @bytes: memory. @events: in chunks
 * @is_short: the limit of memory has dropped events that are younger than the time that is asked
 *     for
 */
struct keep_status {
	uint64_t since_ns;
	size_t bytes;
	uint64_t events;
	bool is_short;
};
void keep_get_status(struct keep *keep, struct keep_status *ret_status);
void keep_get_cpu_status(struct keep *keep, uint32_t cpu, struct keep_status *ret_status);
#endif
