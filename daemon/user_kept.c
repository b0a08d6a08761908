/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_kept.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/saturate.h>
#include <unistd.h>

#include "bytes_present.h"
#include "clock.h"
#include "untrusted.h"
#include "overwrite_reader.h"
#include "ring_reader.h"

#define KEPT_ROUNDS 8 /* the ring may wrap around so often during one read */
/* salvaged per ring of a dead program; each incomplete sub-buffer is copied whole */
#define KEPT_SALVAGE_BYTES (256u << 20)

/**
 * struct user_saved - a sub-buffer of a dead program
 * @lost_total: events lost or overwritten before it
 * @bytes: of this struct, including the records after @header
 */
struct user_saved {
	struct user_saved *next; /* owned */
	uint64_t lost_total;
	uint32_t nr_records;
	size_t bytes;
	struct subbuf_header header;
};

/**
 * struct user_kept - a ring that a flight recorder reads
 * @last_dropped: sub-buffers up to this one do not count, nor the @records_before records in them
 * @since_ns: later events count
 * @counter: the ring's counter of discarded events. @impossible: a number of overwritten records
 * was impossible
 * @is_saved: the program's memory has been released. @saved and @counts hold what it left; @dropped
 * records of @saved were released again
 */
struct user_kept {
	struct user_kept_source source;
	uint64_t last_dropped;
	uint64_t records_before;
	uint64_t since_ns;
	struct untrusted_counter counter;
	bool impossible;
	bool broken;
	bool is_saved;
	struct user_saved *saved; /* owned; oldest first */
	struct user_saved **saved_end;
	uint64_t dropped;
	struct user_kept_counts counts;
};

/* ---- inspecting a ring ---- */

/*
 * Events that the ring discarded since @since_ns. The limit is that of one CPU, because a ring
 * belongs to one CPU.
 */
static uint64_t discarded(struct user_kept *kept)
{
	uint64_t value = __atomic_load_n(&kept->source.ring.control->discarded, __ATOMIC_RELAXED);

	untrusted_counter_take(&kept->counter, value, untrusted_max_events(kept->since_ns, 1));
	return untrusted_counter_sum(&kept->counter);
}

/*
 * Does every slot that the position implies have memory? A ring that has wrapped around has no
 * holes.
 * SECURITY: reading a hole allocates pages, in the program's memory and in the daemon: as many as
 * the program claims that its ring has.
 */
static bool has_all_pages(const struct user_kept *kept)
{
	const struct subbuf_ring *ring = &kept->source.ring;
	uint64_t newest = ring_newest(ring), nr = newest < ring->nr_subbufs ? newest + 1 : ring->nr_subbufs;

	for (uint64_t slot = newest ? 0 : nr; slot < nr; slot++) {
		off_t at = kept->source.offset + (off_t)SUBBUF_CONTROL_BYTES + (off_t)slot * ring->subbuf_bytes;

		if (lseek(kept->source.fd, at, SEEK_DATA) != at)
			return false;
	}
	return true;
}

/*
 * Copies @bytes from the beginning of a sub-buffer, as ring_copy_racing() does.
 * SECURITY: a sub-buffer that claims to be full may be a hole after its header. Reading the file
 * instead of the mapping allocates no pages. Returns the number of bytes copied; bytes without
 * pages are not read.
 */
static size_t copy_present(const struct user_kept *kept, uint64_t seq, struct subbuf_header *copy, size_t bytes)
{
	const struct subbuf_ring *ring = &kept->source.ring;
	off_t offset = kept->source.offset + (off_t)SUBBUF_CONTROL_BYTES +
		       (off_t)(seq & (ring->nr_subbufs - 1)) * ring->subbuf_bytes;
	ssize_t got = pread(kept->source.fd, copy, bytes_present(kept->source.fd, offset, bytes), offset);
	size_t present_bytes = got > 0 ? (size_t)got : 0;

	if (present_bytes < sizeof(*copy))
		memset(copy, 0, sizeof(*copy));
	return present_bytes;
}

/* Copies a complete sub-buffer, as ring_copy() does. */
static bool copy_complete(const struct user_kept *kept, uint64_t seq, struct subbuf_header *copy)
{
	size_t present_bytes = copy_present(kept, seq, copy, kept->source.ring.subbuf_bytes);

	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return copy->seq == seq && copy->end <= present_bytes && !ring_is_overwritten(&kept->source.ring, seq);
}

/* Stop reading the ring. The number of lost events is unknown; one event stands for all of them. */
static void stop_reading(struct user_kept *kept)
{
	if (!kept->broken)
		kept->counts.lost++;
	kept->broken = true;
}

static void drop_saved(struct user_kept *kept)
{
	while (user_kept_drop(kept) > 0)
		;
	kept->dropped = 0;
	kept->counts = (struct user_kept_counts){0};
}

/* A ring that discards needs its oldest sub-buffers released before it can record later events. */
static void make_room(struct user_kept *kept)
{
	if (!kept->source.overwrites)
		__atomic_store_n(&kept->source.ring.control->consumed, kept->last_dropped, __ATOMIC_RELEASE); /* [W4] */
}

void user_kept_reset(struct user_kept *kept, int *patience)
{
	drop_saved(kept);
	kept->impossible = kept->counter.impossible = false;
	if (kept->is_saved || kept->broken)
		return;
	if (!has_all_pages(kept)) {
		stop_reading(kept);
		return;
	}
	kept->last_dropped = ring_drop(&kept->source.ring, &kept->records_before, patience);
	untrusted_counter_begin(&kept->counter,
				__atomic_load_n(&kept->source.ring.control->discarded, __ATOMIC_RELAXED));
	kept->since_ns = clock_now();
	make_room(kept);
}

struct user_kept *user_kept_new(const struct user_kept_source *source)
{
	struct user_kept *kept = calloc(1, sizeof(*kept));

	if (!kept)
		return NULL;
	kept->source = *source;
	kept->saved_end = &kept->saved;
	kept->since_ns = source->start_ns;
	if (!source->count_all)
		user_kept_reset(kept, source->patience);
	return kept;
}

struct user_kept *user_kept_free(struct user_kept *kept)
{
	if (kept)
		drop_saved(kept);
	free(kept);
	return NULL;
}

bool user_kept_is_broken(const struct user_kept *kept)
{
	return kept->broken;
}

bool user_kept_is_distrusted(const struct user_kept *kept)
{
	return kept->impossible || kept->counter.impossible;
}

/* ---- reading a ring ---- */

/**
 * struct kept_walk - one pass over a ring
 * @counted: records of the sub-buffers so far that are stored or counted as lost
 * @unfinished: records that cannot be read or were never finished
 * @skipped: the sub-buffer before the current one was not taken
 */
struct kept_walk {
	struct user_kept *kept;
	struct subbuf_header *copy; /* owned, with USER_KEPT_ROOM bytes before it */
	int (*take)(void *context, struct subbuf_header *copy, uint32_t nr_records, uint64_t lost_total);
	void *context;
	uint64_t counted;
	uint64_t overwritten;
	uint64_t unfinished;
	uint64_t salvaged_bytes;
	bool dead;
	bool skipped;
	int *patience;
};

/* Number of records committed in sub-buffer @seq, from its copy. */
static uint32_t committed(const struct subbuf_ring *ring, const struct subbuf_header *copy, uint64_t seq)
{
	uint64_t before = seq / ring->nr_subbufs * ring->subbuf_bytes;
	uint32_t records = (uint32_t)(((copy->commit - before) >> 40) - copy->records_before) & 0xffffff;
	uint32_t max = ring->subbuf_bytes / sizeof(struct trace_record);

	return copy->seq != seq && copy->seq != 0 ? 0 : records < max ? records : max;
}

/*
 * Updates the number of records overwritten before @seq. That number only grows. One CPU recorded
 * them all, which limits their number.
 */
static void count_overwritten(struct kept_walk *walk, uint64_t seq)
{
	struct user_kept *kept = walk->kept;
	/* the maximum error of an inexact count */
	uint64_t records, inexact = (uint64_t)kept->source.ring.nr_subbufs << 24;

	if (!kept->source.overwrites)
		return;
	records = ring_records_before(&kept->source.ring, seq, walk->patience);
	records = records > kept->records_before + walk->counted ? records - kept->records_before - walk->counted : 0;
	if (records > untrusted_max_events(kept->since_ns, 1) && records > inexact)
		kept->impossible = true;
	else if (records > walk->overwritten)
		walk->overwritten = records;
}

/*
 * Passes the copy to @take. Returns -EAGAIN if the ring wrapped around while the overwritten
 * records were counted: the count is then uncertain. Nothing is missed, because the copied
 * sub-buffer is overwritten, too.
 */
static int deliver(struct kept_walk *walk, uint64_t seq, uint32_t nr_records)
{
	struct user_kept *kept = walk->kept;
	uint64_t lost, before = walk->overwritten;

	discarded(kept);
	lost = walk->copy->lost < kept->counter.highest ? walk->copy->lost : kept->counter.highest;
	if (walk->skipped)
		count_overwritten(walk, seq);
	if (walk->skipped && !walk->dead && ring_newest(&kept->source.ring) >= seq + kept->source.ring.nr_subbufs) {
		walk->overwritten = before;
		return -EAGAIN;
	}
	walk->skipped = false;
	lost = lost > kept->counter.before ? lost - kept->counter.before : 0;
	lost = trace_add_saturated(lost, walk->unfinished);
	return walk->take(walk->context, walk->copy, nr_records, trace_add_saturated(walk->overwritten, lost));
}

/* Reads a sub-buffer that will not become complete, or not soon. */
static int read_incomplete(struct kept_walk *walk, uint64_t seq, uint64_t position)
{
	const struct subbuf_ring *ring = &walk->kept->source.ring;
	bool salvage = walk->dead && walk->salvaged_bytes < KEPT_SALVAGE_BYTES;
	size_t present_bytes = copy_present(walk->kept, seq, walk->copy,
					    salvage ? ring->subbuf_bytes : sizeof(*walk->copy));
	uint32_t nr_records = committed(ring, walk->copy, seq);
	struct subbuf_salvaged salvaged;
	int err = 0;

	if (salvage && present_bytes >= sizeof(*walk->copy)) {
		memset((unsigned char *)walk->copy + present_bytes, 0, ring->subbuf_bytes - present_bytes);
		walk->salvaged_bytes += ring->subbuf_bytes;
	}
	if (!salvage) {
		walk->unfinished += nr_records;
	} else if (present_bytes >= sizeof(*walk->copy) &&
		   subbuf_salvage(walk->copy, ring->subbuf_bytes, ring->nr_subbufs, seq, position, UINT16_MAX,
				  &salvaged)) {
		if (salvaged.opened)
			err = deliver(walk, seq, salvaged.records);
		else
			walk->unfinished += salvaged.records; /* the opener did not write the base of their times */
		walk->unfinished += salvaged.in_flight + salvaged.lost;
	}
	walk->counted += nr_records;
	return err;
}

/* Returns -EAGAIN if the sub-buffer has been overwritten. */
static int read_subbuf(struct kept_walk *walk, uint64_t seq, uint64_t position)
{
	const struct subbuf_ring *ring = &walk->kept->source.ring;
	uint32_t nr_records;
	int err;

	if (ring_is_overwritten(ring, seq))
		return -EAGAIN;
	if (!ring_wait_until_complete(ring, seq, walk->patience))
		return ring_is_overwritten(ring, seq) ? -EAGAIN : read_incomplete(walk, seq, position);
	if (!copy_complete(walk->kept, seq, walk->copy)) {
		if (ring_is_overwritten(ring, seq))
			return -EAGAIN;
		stop_reading(walk->kept);
		return 0;
	}
	nr_records = subbuf_records(ring, walk->copy);
	err = deliver(walk, seq, nr_records);
	if (err != -EAGAIN)
		walk->counted += nr_records;
	return err;
}

static int walk_ring(struct kept_walk *walk)
{
	struct user_kept *kept = walk->kept;
	const struct subbuf_ring *ring = &kept->source.ring;
	uint64_t position, newest, seq = kept->last_dropped + 1;
	int err = 0, rounds = 0;

	do { /* again only if the ring wrapped around meanwhile, so that the whole first pass is overwritten */
		if (walk->dead && has_all_pages(kept))
			subbuf_reap_block(ring);
		newest = walk->dead ? ring_newest(ring) : ring_close(ring);
		position = __atomic_load_n(&ring->control->position, __ATOMIC_ACQUIRE);
		if (seq < ring_oldest(ring, kept->last_dropped))
			seq = ring_oldest(ring, kept->last_dropped);
		walk->skipped = seq > kept->last_dropped + 1;
		for (; !err && !kept->broken && seq <= newest; seq++) {
			err = read_subbuf(walk, seq, position);
			walk->skipped |= err == -EAGAIN;
			err = err == -EAGAIN ? 0 : err;
		}
	} while (!err && !kept->broken && ring_newest(ring) > newest + ring->nr_subbufs && ++rounds < KEPT_ROUNDS);
	if (walk->skipped && !kept->broken)
		count_overwritten(walk, newest + 1);
	return err;
}

static int read_ring(struct user_kept *kept, bool dead, int (*take)(void *, struct subbuf_header *, uint32_t, uint64_t),
		     void *context, struct user_kept_counts *ret_counts, int *patience)
{
	struct kept_walk walk = {.kept = kept, .take = take, .context = context, .dead = dead, .patience = patience};
	unsigned char *memory = NULL;
	int err = 0;

	if (!kept->broken && !has_all_pages(kept))
		stop_reading(kept);
	if (!kept->broken) {
		memory = aligned_alloc(64, USER_KEPT_ROOM + kept->source.ring.subbuf_bytes);
		if (!memory)
			return -ENOMEM;
		walk.copy = (struct subbuf_header *)(memory + USER_KEPT_ROOM);
		err = walk_ring(&walk);
	}
	free(memory);
	ret_counts->overwritten = walk.overwritten;
	ret_counts->claimed = discarded(kept);
	ret_counts->lost = trace_add_saturated(walk.unfinished, ret_counts->claimed);
	ret_counts->lost = trace_add_saturated(ret_counts->lost, kept->counts.lost + kept->impossible);
	return err;
}

/* ---- what a dead program left ---- */

static int save(void *context, struct subbuf_header *copy, uint32_t nr_records, uint64_t lost_total)
{
	struct user_kept *kept = context;
	size_t records = ring_record_bytes(&kept->source.ring, copy),
	       bytes = offsetof(struct user_saved, header) + sizeof(*copy) + records;
	struct user_saved *saved = malloc(bytes);

	if (!saved) {
		kept->dropped += nr_records;
		return 0;
	}
	saved->next = NULL;
	saved->lost_total = lost_total;
	saved->nr_records = nr_records;
	saved->bytes = bytes;
	memcpy(&saved->header, copy, sizeof(*copy) + records);
	*kept->saved_end = saved;
	kept->saved_end = &saved->next;
	return 0;
}

size_t user_kept_save(struct user_kept *kept)
{
	struct user_kept_counts counts = {0};
	int patience = 0;
	size_t bytes = 0;

	if (kept->is_saved)
		return 0;
	if (read_ring(kept, true, save, kept, &counts, &patience))
		stop_reading(kept);
	else
		kept->counts = counts;
	kept->is_saved = true;
	for (const struct user_saved *saved = kept->saved; saved; saved = saved->next)
		bytes += saved->bytes;
	return bytes;
}

size_t user_kept_drop(struct user_kept *kept)
{
	struct user_saved *saved = kept->saved;
	size_t bytes;

	if (!saved)
		return 0;
	bytes = saved->bytes;
	kept->dropped += saved->nr_records;
	kept->saved = saved->next;
	if (!kept->saved)
		kept->saved_end = &kept->saved;
	free(saved);
	return bytes;
}

/* Gives @take a new copy each time, because @take translates it in place. */
static int read_saved(struct user_kept *kept, int (*take)(void *, struct subbuf_header *, uint32_t, uint64_t),
		      void *context)
{
	unsigned char *memory = aligned_alloc(64, USER_KEPT_ROOM + kept->source.ring.subbuf_bytes);
	struct subbuf_header *copy = (struct subbuf_header *)(memory + USER_KEPT_ROOM);
	int err = 0;

	if (!memory)
		return -ENOMEM;
	for (const struct user_saved *saved = kept->saved; saved && !err; saved = saved->next) {
		memcpy(copy, &saved->header, saved->bytes - offsetof(struct user_saved, header));
		err = take(context, copy, saved->nr_records, trace_add_saturated(saved->lost_total, kept->dropped));
	}
	free(memory);
	return err;
}

int user_kept_read(struct user_kept *kept,
		   int (*take)(void *context, struct subbuf_header *copy, uint32_t nr_records, uint64_t lost_total),
		   void *context, struct user_kept_counts *ret_counts, int *patience)
{
	int err;

	if (kept->is_saved) {
		*ret_counts = kept->counts;
		ret_counts->overwritten = trace_add_saturated(ret_counts->overwritten, kept->dropped);
		return kept->saved ? read_saved(kept, take, context) : 0;
	}
	err = read_ring(kept, false, take, context, ret_counts, patience);
	if (!kept->source.overwrites && !kept->broken) {
		kept->last_dropped = ring_drop(&kept->source.ring, &kept->records_before, patience);
		make_room(kept);
	}
	return err;
}

/* ---- times ---- */

/* Reads the clock pair of a header that an opener may be writing concurrently. */
static bool read_pair(const struct user_kept *kept, uint64_t seq, struct user_clock_knot *ret_pair)
{
	struct subbuf_header header;

	copy_present(kept, seq, &header, sizeof(header));
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	*ret_pair = (struct user_clock_knot){header.base, header.base_ns};
	return header.seq == seq && ring_newest(&kept->source.ring) < seq + kept->source.ring.nr_subbufs;
}

size_t user_kept_pairs(const struct user_kept *kept, struct user_clock_knot *pairs, size_t max)
{
	uint64_t newest;
	size_t nr = 0;

	for (const struct user_saved *saved = kept->saved; saved && nr < max; saved = saved->next)
		if (saved->header.base_ns)
			pairs[nr++] = (struct user_clock_knot){saved->header.base, saved->header.base_ns};
	if (kept->is_saved || kept->broken || !kept->source.overwrites || !has_all_pages(kept))
		return nr;
	newest = ring_newest(&kept->source.ring);
	for (uint64_t seq = ring_oldest(&kept->source.ring, kept->last_dropped); seq <= newest && nr < max; seq++)
		if (read_pair(kept, seq, &pairs[nr]) && pairs[nr].ns)
			nr++;
	return nr;
}

bool user_kept_oldest(const struct user_kept *kept, struct user_clock_knot *ret_oldest)
{
	if (kept->saved) {
		*ret_oldest = (struct user_clock_knot){kept->saved->header.base, kept->saved->header.base_ns};
		return true;
	}
	if (kept->is_saved || kept->broken || !has_all_pages(kept))
		return false;
	return read_pair(kept, ring_oldest(&kept->source.ring, kept->last_dropped), ret_oldest);
}
