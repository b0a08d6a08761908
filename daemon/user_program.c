/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_program.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trace/saturate.h>
#include <unistd.h>

#include "cpus.h"
#include "message.h"
#include "ring_reader.h"
#include "format_text.h"

/*
 * A record can be up to 65,535 units earlier than the base of its sub-buffer, because reading the
 * clock is not ordered with the accesses before it. Its 32-bit difference then exceeds this value.
 */
#define USER_EARLIER (UINT32_MAX - 65535u)

#define PAGES_PERIOD_NS 1000000000ull
#define EVENTS_MIN	64 /* the first allocation; each further one is twice as large */
#define TRACEPOINTS_MAX (1u << 24) /* tracepoints in a program and its libraries: each uses memory of the program */

#define CLAIM_PATIENCE_MS 20 /* for writers inside a sub-buffer that a killed daemon was closing */

/**
 * struct user_local - an event of the program's registry
 * @name: owned
 * @global: its id in the trace; 0: not known
 * @wanted: the event is selected, or was at some time
 * @wanted_ns: since when; 0: since it was registered. Earlier records are left out
 */
struct user_local {
	char *name;
	uint64_t wanted_ns;
	uint16_t global;
	bool wanted;
};

/**
 * struct user_ring - a ring in use
 * @announced: the trace holds the identity of the stream
 * @unwritten: number of lost chunks when it was written; if it has grown, the identity may be lost
 */
struct user_ring {
	struct user_program *program;
	struct drain_ring *drained; /* borrowed from the drain */
	struct user_kept *kept;	  /* owned; in a flight recorder, instead of @drained */
	uint32_t stream;
	uint32_t cpu;
	bool announced;
	uint64_t unwritten;
};

struct user_program {
	struct user_identity identity;
	uid_t payer; /* the user that pays, even if the identity changes later */
	struct user_mapping mapping;
	struct user_recording *recording; /* borrowed */
	struct user_local *events;	  /* owned; nr_events entries, by id */
	struct user_ring **rings;	  /* owned, with the rings; nr_rings of the mapping; NULL: not in use */
	uint64_t mapped_bytes;	 /* of its rings, charged to its user; 0: read from the file instead */
	uint64_t pages_bytes;	 /* of its memory, charged to its user */
	uint64_t pages_ns;	 /* time of the next count of its pages */
	uint64_t heap_bytes;	 /* of the daemon's heap, charged to its user */
	uint32_t nr_events;	 /* allocated entries of events */
	uint32_t nr_types;	 /* event types that the trace has because of this program */
	uint32_t lookups;	 /* system calls of the last search for rings */
	struct doubt_counter unready;	   /* events without a ring since the recording began */
	uint64_t unready_counted;	   /* the part of unready that is accounted */
	struct doubt_counter unregistered; /* instrumentation points without room in the registry */
	unsigned int doubted;		   /* mask of enum doubt_reason; 0: none */
	uint64_t doubts_idx;		   /* index in the recording's list, if doubted */
	size_t saved_bytes;	 /* in a flight recorder: bytes that it left when it died */
	bool whole;
	bool off;
	bool counts_closed;
	bool released;
};

static bool look_for_events(struct user_program *program);

/* ---- impossible values ---- */

static void doubt(struct user_program *program, unsigned int reasons)
{
	struct doubts *doubts = &program->recording->doubts;

	if ((program->doubted & reasons) == reasons)
		return;
	if (program->doubted) {
		doubts_reason(doubts, program->doubts_idx, reasons);
	} else {
		if (budget_may_report(program->recording->budget, program->payer))
			message_warning("process %d (%s) wrote invalid data into its trace buffers: its events are incomplete",
					(int)program->identity.pid, program->identity.exe);
		program->doubts_idx = doubts_add(doubts, program->identity.pid, program->identity.exe, reasons);
	}
	program->doubted |= reasons;
}

static unsigned int ring_reasons(const struct user_ring *ring)
{
	bool is_broken = ring->kept ? user_kept_is_broken(ring->kept) : drain_is_broken(ring->drained);
	bool is_doubted = ring->kept ? user_kept_is_doubted(ring->kept) : drain_is_doubted(ring->drained);

	return (is_broken ? DOUBT_MEMORY : 0) | (is_doubted ? DOUBT_COUNTER : 0);
}

static void look_for_doubts(struct user_program *program)
{
	unsigned int reasons = program->mapping.registry_broken ? DOUBT_MEMORY : 0;

	if (program->unready.impossible || program->unregistered.impossible)
		reasons |= DOUBT_COUNTER;
	for (uint32_t i = 0; i < program->mapping.nr_rings; i++)
		reasons |= program->rings[i] ? ring_reasons(program->rings[i]) : 0;
	if (reasons)
		doubt(program, reasons);
}

/* ---- translation of records ---- */

static bool to_ns(struct user_program *program, uint64_t time, uint64_t *ret_ns)
{
	if (program->mapping.clock == SUBBUF_CLOCK_TSC)
		return user_clock_ns(&program->recording->clock, time, ret_ns);
	*ret_ns = time;
	return time <= INT64_MAX;
}

/* Read both clocks now, so that the times of the copied records lie between two pairs. */
static void read_clocks(struct user_program *program)
{
	struct clock_sample now;

	if (program->mapping.clock != SUBBUF_CLOCK_TSC)
		return;
	now = clock_take_sample();
	user_clock_add(&program->recording->clock, &now);
}

/* The decision about one record. */
enum record_decision { DECISION_KEEP, DECISION_BAD, DECISION_FILTERED, DECISION_EARLY, DECISION_UNTYPED };

/* Decides why a record does not go into the trace. */
static enum record_decision why_unwanted(const struct user_local *event, uint64_t ns)
{
	if (!event || !event->name)
		return DECISION_BAD;
	return event->wanted && ns >= event->wanted_ns ? DECISION_UNTYPED : DECISION_FILTERED;
}

/**
 * struct subbuf_times - the times of a sub-buffer
 * @base: its base in the program's clock. @base_ns: the same in ns
 * @taken_ns: when its copy was complete
 */
struct subbuf_times {
	uint64_t base;
	uint64_t base_ns;
	uint64_t taken_ns;
};

/* The time of an event in ns. False: the time is invalid or in the future. */
static bool time_of(struct user_program *program, const struct subbuf_times *times, uint32_t time, uint64_t *ret_ns)
{
	uint32_t delta = time - (uint32_t)times->base;
	uint64_t ns;

	if (!to_ns(program, times->base + (delta < USER_EARLIER ? delta : 0), &ns))
		return false;
	if (doubt_time(ns, times->taken_ns)) {
		doubt(program, DOUBT_TIME);
		return false;
	}
	*ret_ns = ns < times->taken_ns ? ns : times->taken_ns;
	return true;
}

static bool is_outside(const struct user_recording *recording, uint64_t ns)
{
	return ns < recording->start_ns || (recording->end_ns && ns > recording->end_ns);
}

static enum record_decision decide(struct user_program *program, struct trace_record *record, const struct subbuf_times *times)
{
	const struct user_local *event = record->id < program->nr_events ? &program->events[record->id] : NULL;
	uint64_t ns, base_ns = times->base_ns;

	if (!time_of(program, times, record->time, &ns))
		return DECISION_BAD;
	if (is_outside(program->recording, ns))
		return DECISION_EARLY;
	if (!event || !event->global || !event->wanted || ns < event->wanted_ns)
		return why_unwanted(event, ns);
	record->id = event->global;
	record->time = (uint32_t)base_ns + (ns - base_ns > UINT32_MAX ? UINT32_MAX : ns < base_ns ? 0 : (uint32_t)(ns - base_ns));
	return DECISION_KEEP;
}

/*
 * Put the identity of the stream before its first record, and again if a chunk with it may be lost.
 * It uses the free bytes in front of the copy.
 */
static void announce(struct user_ring *ring, struct drain_copy *copy)
{
	const struct user_identity *identity = &ring->program->identity;
	struct trace_user_stream stream = { ring->stream, (uint32_t)identity->number, identity->uid, ring->cpu };
	size_t bytes = (sizeof(struct trace_record) + sizeof(stream) + strlen(identity->exe) + 1 + 7) & ~(size_t)7;
	uint64_t start_ns = ring->program->recording->start_ns, ns = copy->base_ns;
	struct trace_record record = { .id = TRACE_EV_user_stream, .words = (trace_u8)(bytes / 8) };
	unsigned char *at = copy->records - bytes;

	if (ns < start_ns && start_ns - ns <= UINT32_MAX)
		/*
		 * the sub-buffer was opened before the recording, but no event of the stream is
		 * older than the start
		 */
		ns = start_ns;
	record.time = (uint32_t)ns;
	memset(at, 0, bytes);
	memcpy(at, &record, sizeof(record));
	memcpy(at + sizeof(record), &stream, sizeof(stream));
	memcpy(at + sizeof(record) + sizeof(stream), identity->exe, strlen(identity->exe));
	copy->records = at;
	copy->bytes += bytes;
	copy->nr_records++;
	copy->added = 1;
	ring->announced = true;
	ring->unwritten = copy->unwritten;
}

static void leave_out(struct drain_copy *copy, enum record_decision decision, uint32_t *bad)
{
	*bad += decision == DECISION_BAD;
	copy->filtered += decision == DECISION_FILTERED;
	copy->early += decision == DECISION_EARLY;
	copy->untyped += decision == DECISION_UNTYPED;
}

/*
 * Records that are left out become padding. So do invalid records, but nr_records still counts
 * them.
 */
static bool translate(void *context, struct drain_copy *copy)
{
	struct user_ring *ring = context;
	struct user_program *program = ring->program;
	struct subbuf_times times = { .base = copy->base_ns };
	uint32_t found = 0, bad = 0, kept, counted = copy->nr_records;
	struct trace_record record;

	read_clocks(program);
	look_for_events(program); /* a program registers an event before it makes the first record */
	times.taken_ns = clock_now();
	if (!to_ns(program, times.base, &times.base_ns))
		return false;
	if (times.base_ns > times.taken_ns)
		/* all records are refused, except those within the error of the clocks */
		times.base_ns = times.taken_ns;
	for (size_t at = 0; at + sizeof(record) <= copy->bytes; at += record.words * 8u) {
		enum record_decision decision;

		memcpy(&record, copy->records + at, sizeof(record));
		if (record.words == 0 || record.words * 8u > copy->bytes - at) {
			copy->bytes = at;
			break;
		}
		if (record.id == TRACE_EV_padding)
			continue;
		decision = decide(program, &record, &times);
		found++;
		if (decision != DECISION_KEEP) {
			leave_out(copy, decision, &bad);
			record.id = TRACE_EV_padding;
		}
		memcpy(copy->records + at, &record, sizeof(record));
	}
	kept = found - bad - copy->filtered - copy->early - copy->untyped;
	copy->nr_records = kept + bad + (counted > found ? counted - found : 0);
	copy->base_ns = times.base_ns;
	if (copy->nr_records && (!ring->announced || ring->unwritten != copy->unwritten))
		announce(ring, copy);
	return true;
}

/* ---- events ---- */

static bool is_wanted(const struct user_program *program, const char *name)
{
	const struct user_recording *recording = program->recording;

	return !program->off && !recording->halted && select_wants_user(recording->selection, name);
}

/* The entry of event @id. NULL: no memory, or the user has used up the budget. */
static struct user_local *local_of(struct user_program *program, uint32_t id)
{
	uint32_t nr = program->nr_events ? program->nr_events : EVENTS_MIN;
	struct user_local *events;
	uint64_t bytes;

	if (id < program->nr_events)
		return &program->events[id];
	while (nr <= id)
		nr *= 2;
	nr = nr < program->mapping.max_events ? nr : program->mapping.max_events;
	bytes = (nr - program->nr_events) * sizeof(*events);
	if (!budget_charge(program->recording->budget, program->payer, BUDGET_HEAP, bytes))
		return NULL;
	program->heap_bytes += bytes;
	events = realloc(program->events, nr * sizeof(*events));
	if (!events)
		return NULL;
	memset(events + program->nr_events, 0, bytes);
	program->events = events;
	program->nr_events = nr;
	return &events[id];
}

static char *keep_name(struct user_program *program, const char *name)
{
	uint64_t bytes = strlen(name) + 1 + sizeof(void *); /* and the overhead of malloc() */

	if (!budget_charge(program->recording->budget, program->payer, BUDGET_HEAP, bytes))
		return NULL;
	program->heap_bytes += bytes;
	return strdup(name);
}

/* Charges one event type to the program and to its user. */
static int charge_type(const struct user_program *program, struct trace_error *ret_error)
{
	struct budget *budget = program->recording->budget;
	uint64_t max = budget_types_per_program(budget, program->payer);

	if (program->nr_types >= max)
		return error_set(ret_error, -EDQUOT, "process %d (%s) reached the limit of one program, %s event types",
				 (int)program->identity.pid, program->identity.exe, text_count(max).s);
	if (!budget_charge(budget, program->payer, BUDGET_TYPES, 1))
		return error_set(ret_error, -EDQUOT, "user %u, or all users together, reached the limit of event types",
				 (unsigned int)program->payer);
	return 0;
}

/*
 * Gets the id of an event in the trace. A program and the programs of one user may add a limited
 * number of types; a type that the trace has already costs nothing. The writer numbers types in
 * sequence: a new type has a higher number than all before.
 */
static int describe(struct user_program *program, const struct trace_event_type *type, uint16_t *ret_global,
		    struct trace_error *ret_error)
{
	struct user_recording *recording = program->recording;
	int err = charge_type(program, ret_error);

	if (err) {
		*ret_global = trace_writer_known_type(recording->writer, type);
		return *ret_global ? 0 : err;
	}
	err = trace_writer_event_type(recording->writer, type, ret_global, ret_error);
	if (err || *ret_global <= recording->last_type) {
		budget_release(recording->budget, program->payer, BUDGET_TYPES, 1);
	} else {
		recording->last_type = *ret_global;
		program->nr_types++;
	}
	return err;
}

/*
 * If an event's type gets no id in the trace, the program records the event nevertheless. Each such
 * record counts as lost.
 */
static void take_event(struct user_program *program, const struct user_description *description)
{
	struct user_local *event = local_of(program, description->id);
	bool is_new = event && !event->name;
	struct trace_error error;

	if (!event || event->global || (!is_new && !program->recording->flight))
		return; /* an id is never used again */
	if (is_new)
		event->name = keep_name(program, description->name);
	if (event->name && program->recording->writer && describe(program, &description->type, &event->global, &error)) {
		event->global = 0;
		if (!program->recording->undescribed++)
			program->recording->why = error;
	}
	if (!event->name || !is_new)
		return;
	select_note_user(program->recording->selection, event->name);
	event->wanted = is_wanted(program, event->name);
	if (!program->released)
		user_mapping_set_flag(&program->mapping, description->id, event->wanted);
}

static bool look_for_events(struct user_program *program)
{
	struct user_description description;
	bool found = false;

	if (program->released || program->counts_closed)
		return false;
	while (user_mapping_next_event(&program->mapping, &description)) {
		take_event(program, &description);
		found = true;
	}
	return found;
}

static void set_new_flag(const struct user_program *program)
{
	struct user_memory *memory = user_mapping_memory(&program->mapping);
	bool on = !program->off && !program->recording->halted && select_wants_any_user(program->recording->selection);

	__atomic_store_n(&memory->new_flag, on, __ATOMIC_RELAXED);
}

/*
 * Records made before a flag went off are still in the rings, and they are wanted. So a flag that
 * goes off does not filter them. Only records made before the event was selected for the first time
 * are left out.
 */
void user_program_switch(struct user_program *program, bool off)
{
	program->off = off;
	set_new_flag(program);
	for (uint32_t id = 1; id < program->nr_events; id++) {
		struct user_local *event = &program->events[id];
		bool on;

		if (!event->name)
			continue;
		select_note_user(program->recording->selection, event->name);
		on = is_wanted(program, event->name);
		if (on && !event->wanted)
			event->wanted_ns = clock_now();
		event->wanted |= on;
		user_mapping_set_flag(&program->mapping, id, on);
	}
}

/* ---- rings ---- */

static struct user_kept *keep_ring(const struct user_program *program, uint32_t idx)
{
	const struct user_mapping *mapping = &program->mapping;
	struct user_kept_source source = {
		.ring = user_mapping_ring(mapping, idx),
		.fd = mapping->fd,
		.offset = user_mapping_ring_offset(mapping, idx),
		.start_ns = program->recording->start_ns,
		.overwrites = mapping->features & USER_FEATURE_OVERWRITE,
		.whole = program->whole,
		.patience = &program->recording->patience,
	};

	return user_kept_new(&source);
}

static void free_ring(struct user_ring *ring)
{
	if (ring)
		user_kept_free(ring->kept);
	free(ring);
}

static void add_ring(struct user_program *program, uint32_t idx)
{
	struct user_recording *recording = program->recording;
	struct user_ring *ring = calloc(1, sizeof(*ring));
	struct drain_source source = {
		.ring = user_mapping_ring(&program->mapping, idx),
		.fd = program->mapping.fd,
		.offset = user_mapping_ring_offset(&program->mapping, idx),
		.budget = recording->budget,
		.uid = program->payer,
		.is_mapped = program->mapped_bytes || !budget_is_bounded(recording->budget, program->payer),
		.cpu = idx,
		.translate = translate,
		.context = ring,
	};

	if (!ring)
		return;
	source.start_ns = recording->start_ns;
	ring->program = program;
	ring->stream = source.stream = recording->next_stream;
	ring->cpu = idx;
	if (recording->flight)
		ring->kept = keep_ring(program, idx);
	else
		ring->drained = drain_add(recording->drain, &source, program->whole);
	if (!ring->drained && !ring->kept) {
		free(ring);
		return;
	}
	recording->next_stream += !recording->flight;
	program->rings[idx] = ring;
}

/* Ring n belongs to CPU n, and its header must say so. */
static bool ring_is_possible(struct user_program *program, uint32_t idx)
{
	struct subbuf_ring ring = user_mapping_ring(&program->mapping, idx);

	if (__atomic_load_n(&ring.control->cpu, __ATOMIC_RELAXED) == idx)
		return true;
	doubt(program, DOUBT_CPU);
	return false;
}

/* If a ring comes into use during the recording, all its events belong to the recording. */
static void look_for_rings(struct user_program *program)
{
	uint32_t nr_rings = program->mapping.nr_rings, before = program->mapping.lookups;

	if (!budget_take(program->recording->budget, program->payer, BUDGET_LOOKUPS, program->lookups))
		return; /* the budget pays for the last search: this one has to wait */
	for (uint32_t i = 0; i < nr_rings; i++) {
		if (program->rings[i])
			continue;
		i = user_mapping_next_ring(&program->mapping, i);
		if (i < nr_rings && !program->rings[i] && ring_is_possible(program, i))
			add_ring(program, i);
	}
	if (user_mapping_has_impossible_ring(&program->mapping))
		doubt(program, DOUBT_CPU);
	program->lookups = program->mapping.lookups - before;
}

/*
 * A program's memory grows as the program uses it. The daemon's own stores must not make it larger
 * than the user's limit. Above the limit the daemon does not close the sub-buffer in use, but takes
 * it when it is full.
 */
static void check_pages(struct user_program *program)
{
	struct budget *budget = program->recording->budget;
	struct stat status;
	uint64_t bytes, now;

	if (!budget_is_bounded(budget, program->payer))
		return;
	now = budget_clock();
	if (now < program->pages_ns || fstat(program->mapping.fd, &status) < 0)
		return;
	program->pages_ns = now + PAGES_PERIOD_NS;
	bytes = (uint64_t)status.st_blocks * 512;
	if (bytes < program->pages_bytes)
		budget_release(budget, program->payer, BUDGET_PAGES, program->pages_bytes - bytes);
	else if (!budget_charge(budget, program->payer, BUDGET_PAGES, bytes - program->pages_bytes))
		bytes = program->pages_bytes;
	program->pages_bytes = bytes;
	for (uint32_t i = 0; i < program->mapping.nr_rings; i++)
		if (program->rings[i] && program->rings[i]->drained)
			drain_hold(program->rings[i]->drained, bytes < (uint64_t)status.st_blocks * 512);
}

static void charge_mapped(struct user_program *program)
{
	uint64_t bytes = program->mapping.nr_rings * subbuf_ring_bytes(program->mapping.subbuf_bytes, program->mapping.nr_subbufs);

	if (budget_charge(program->recording->budget, program->payer, BUDGET_MAPPED, bytes))
		program->mapped_bytes = bytes;
}

static void release_pages(struct user_program *program)
{
	budget_release(program->recording->budget, program->payer, BUDGET_MAPPED, program->mapped_bytes);
	program->mapped_bytes = 0;
	budget_release(program->recording->budget, program->payer, BUDGET_PAGES, program->pages_bytes);
	program->pages_bytes = 0;
}

bool user_program_look(struct user_program *program)
{
	bool found;

	if (program->released || program->counts_closed)
		return false;
	found = look_for_events(program);
	look_for_rings(program);
	check_pages(program);
	look_for_doubts(program);
	return found;
}

/* ---- begin and end ---- */

static uint64_t read_unready(const struct user_program *program)
{
	return __atomic_load_n(&user_mapping_memory(&program->mapping)->unready, __ATOMIC_RELAXED);
}

/*
 * As in drain.c: does memory exist where a flush writes, and may the daemon visit the CPU of the
 * block?
 */
static bool may_flush(const struct user_program *program, uint32_t idx)
{
	struct subbuf_ring ring = user_mapping_ring(&program->mapping, idx);
	uint64_t block = __atomic_load_n(&ring.control->block, __ATOMIC_RELAXED), seq = ring_newest(&ring);

	if (!user_mapping_has_page(&program->mapping, idx, seq, 0))
		return false;
	if (!subbuf_block_is_open(block))
		return true;
	seq = subbuf_block_seq(&ring, block);
	return user_mapping_has_page(&program->mapping, idx, seq, 0) && user_mapping_has_page(&program->mapping, idx, seq, (uint32_t)block - 8) &&
	       budget_take(program->recording->budget, program->payer, BUDGET_VISITS, 1);
}

/*
 * Does memory exist for the sub-buffers that a killed daemon was closing, also where their records
 * end?
 */
static bool may_finish(const struct user_program *program, uint32_t idx)
{
	struct subbuf_ring ring = user_mapping_ring(&program->mapping, idx);
	uint64_t flushing = __atomic_load_n(&ring.control->flushing, __ATOMIC_RELAXED), block = __atomic_load_n(&ring.control->flushing_block, __ATOMIC_RELAXED);
	uint64_t seq = flushing >> SUBBUF_OFFSET_BITS;
	uint32_t offset = (uint32_t)(flushing & SUBBUF_OFFSET_MASK);

	if (flushing && (!user_mapping_has_page(&program->mapping, idx, seq, 0) || (offset >= 8 && !user_mapping_has_page(&program->mapping, idx, seq, offset - 8))))
		return false;
	return !block || user_mapping_has_page(&program->mapping, idx, subbuf_block_seq(&ring, block), 0);
}

/*
 * Events of the recording that never had a ring. The program and its children count them on all
 * CPUs.
 */
static uint64_t unready(struct user_program *program)
{
	doubt_counter_take(&program->unready, read_unready(program), doubt_max_events(program->recording->start_ns, possible_cpus()));
	return doubt_counter_sum(&program->unready);
}

/* The part of them that is not accounted yet; it is accounted now. */
static uint64_t take_unready(struct user_program *program)
{
	uint64_t now = unready(program), new = now - program->unready_counted;

	program->unready_counted = now;
	return new;
}

static void begin_unready(struct user_program *program, uint64_t value)
{
	doubt_counter_begin(&program->unready, value);
	program->unready_counted = 0;
}

/*
 * Switch overwriting off: from now on sub-buffers stay until the daemon takes them. An earlier
 * flight recorder may have been killed before it did this. A flight recorder does it when it ends,
 * for the next daemon.
 */
static void stop_overwriting(struct user_program *program)
{
	struct user_memory *memory = user_mapping_memory(&program->mapping);
	struct user_mapping *mapping = &program->mapping;
	bool was_set = __atomic_exchange_n(&memory->overwrite, 0, __ATOMIC_SEQ_CST) != 0; /* [W5] */

	for (uint32_t i = user_mapping_next_ring(mapping, 0); i < mapping->nr_rings; i = user_mapping_next_ring(mapping, i + 1)) {
		struct subbuf_ring ring = user_mapping_ring(mapping, i);
		uint64_t consumed = __atomic_load_n(&ring.control->consumed, __ATOMIC_RELAXED);

		if ((was_set || ring_newest(&ring) > consumed + ring.nr_subbufs) && may_flush(program, i)) {
			ring_flush(&ring);
			subbuf_keep(&ring);
		}
	}
}

/*
 * A daemon may have been killed while it closed a sub-buffer. Complete the flush, so that no ring
 * waits for it for ever.
 */
static void finish_flushes(struct user_program *program)
{
	struct user_mapping *mapping = &program->mapping;
	int patience = CLAIM_PATIENCE_MS;

	for (uint32_t i = user_mapping_next_ring(mapping, 0); i < mapping->nr_rings; i = user_mapping_next_ring(mapping, i + 1)) {
		struct subbuf_ring ring = user_mapping_ring(mapping, i);

		if (!may_finish(program, i))
			continue;
		while ((!subbuf_finish_flush_block(&ring, false) || !subbuf_finish_flush(&ring, false)) && patience > 0 &&
		       budget_take(program->recording->budget, program->payer, BUDGET_WAITS, 1)) {
			poll(NULL, 0, 1);
			patience--;
		}
		subbuf_finish_flush_block(&ring, true);
		subbuf_finish_flush(&ring, true);
	}
}

static void claim(struct user_program *program)
{
	struct user_memory *memory = user_mapping_memory(&program->mapping);

	__atomic_store_n(&memory->blocking, program->recording->blocking, __ATOMIC_RELAXED);
	/* a writer that waits for room reads daemon_pid, then blocking */
	__atomic_store_n(&memory->daemon_pid, (trace_u32)getpid(), __ATOMIC_RELEASE);
	finish_flushes(program);
	if (program->recording->flight)
		__atomic_store_n(&memory->overwrite, 1, __ATOMIC_RELEASE);
	else
		stop_overwriting(program);
	begin_unready(program, program->whole ? 0 : read_unready(program));
	user_program_look(program);
	program->whole = true; /* for rings that come into use from now on */
	set_new_flag(program);
	user_program_look(program); /* events that were registered before the new flag was set */
}

struct user_program *user_program_new(int fd, const struct user_identity *identity, struct user_recording *recording, bool whole,
				      struct trace_error *ret_error)
{
	struct user_program *program = calloc(1, sizeof(*program));
	int err = program ? user_mapping_open(&program->mapping, fd, true, ret_error) : error_set(ret_error, -ENOMEM, "no memory to record it");

	if (err) {
		free(program);
		return NULL;
	}
	program->identity = *identity;
	program->payer = identity->uid;
	program->recording = recording;
	program->whole = whole;
	program->rings = calloc(program->mapping.nr_rings, sizeof(struct user_ring *));
	if (!program->rings) {
		error_set(ret_error, -ENOMEM, "no memory to record it");
		program->identity.pid_fd = -1; /* it stays the caller's */
		return user_program_free(program);
	}
	charge_mapped(program);
	claim(program);
	return program;
}

bool user_program_finish(struct user_program *program)
{
	bool done = true;

	user_program_look(program);
	for (uint32_t i = 0; i < program->mapping.nr_rings && done && !program->counts_closed; i++) {
		struct user_ring *ring = program->rings[i];

		if (ring && ring->kept)
			program->saved_bytes += user_kept_save(ring->kept);
		else if (ring)
			done = drain_salvage(program->recording->drain, ring->drained);
	}
	return done;
}

void user_program_close_counts(struct user_program *program)
{
	struct drain *drain = program->recording->drain;

	if (program->counts_closed)
		return;
	program->counts_closed = true;
	if (program->recording->flight)
		return;
	for (uint32_t i = 0; i < program->mapping.nr_rings; i++) {
		struct user_ring *ring = program->rings[i];

		if (!ring)
			continue;
		/* the first ring takes all of them: these events never had a ring */
		drain_count_lost(ring->drained, take_unready(program));
		drain_retire(drain, ring->drained);
	}
	look_for_doubts(program);
}

/*
 * The program's children continue to count events that they cannot record, even after the program's
 * death.
 */
uint64_t user_program_late(struct user_program *program)
{
	uint64_t late = take_unready(program);

	if (program->unready.impossible)
		doubt(program, DOUBT_COUNTER);
	return late;
}

uint64_t user_program_unregistered(struct user_program *program)
{
	const struct user_memory *memory = user_mapping_memory(&program->mapping);

	doubt_counter_take(&program->unregistered, __atomic_load_n(&memory->unregistered, __ATOMIC_RELAXED), TRACEPOINTS_MAX);
	if (program->unregistered.impossible)
		doubt(program, DOUBT_COUNTER);
	return doubt_counter_sum(&program->unregistered);
}

void user_program_release(struct user_program *program)
{
	user_program_close_counts(program);
	for (uint32_t i = 0; i < program->mapping.nr_rings && !program->recording->flight; i++) {
		free_ring(program->rings[i]);
		program->rings[i] = NULL;
	}
	user_mapping_drop_rings(&program->mapping);
	release_pages(program);
	if (program->identity.pid_fd >= 0)
		close(program->identity.pid_fd);
	program->identity.pid_fd = -1;
	program->released = true;
}

bool user_program_is_released(const struct user_program *program)
{
	return program->released;
}

struct user_program *user_program_free(struct user_program *program)
{
	struct user_memory *memory;

	if (!program)
		return NULL;
	memory = user_mapping_memory(&program->mapping);
	if (program->rings)
		user_program_switch(program, true);
	if (program->recording->flight && !program->released)
		stop_overwriting(program);
	__atomic_store_n(&memory->blocking, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&memory->daemon_pid, 0, __ATOMIC_RELAXED);
	for (uint32_t i = 0; program->rings && i < program->mapping.nr_rings; i++)
		free_ring(program->rings[i]);
	for (uint32_t id = 0; id < program->nr_events; id++)
		free(program->events[id].name);
	free(program->rings);
	free(program->events);
	release_pages(program);
	budget_release(program->recording->budget, program->payer, BUDGET_HEAP, program->heap_bytes);
	user_mapping_close(&program->mapping);
	if (program->identity.pid_fd >= 0)
		close(program->identity.pid_fd);
	free(program);
	return NULL;
}

/* ---- flight recorder ---- */

#define PAIRS_MAX USER_CLOCK_KNOTS

/* Add the clock pairs that the openers of all rings noted to those of the daemon. */
static void merge_clocks(struct user_program *program)
{
	struct user_clock_knot *pairs = malloc(PAIRS_MAX * sizeof(*pairs));
	size_t nr = 0;

	for (uint32_t i = 0; pairs && i < program->mapping.nr_rings; i++)
		if (program->rings[i])
			nr += user_kept_pairs(program->rings[i]->kept, pairs + nr, PAIRS_MAX - nr);
	read_clocks(program);
	if (nr)
		user_clock_merge(&program->recording->clock, pairs, nr);
	free(pairs);
}

/* Each snapshot has its own ids for the events. */
static void describe_again(struct user_program *program)
{
	struct user_description description;

	program->nr_types = 0;
	for (uint32_t id = 1; id < program->nr_events; id++)
		program->events[id].global = 0;
	program->mapping.registry_used = 0;
	program->mapping.registry_broken = false;
	while (user_mapping_next_event(&program->mapping, &description))
		take_event(program, &description);
}

/**
 * struct ring_output - a ring that is written into a snapshot
 * @unknown: records with an unknown time or type
 * @suspect: the last sub-buffer had an unknown time
 */
struct ring_output {
	struct user_ring *ring;
	struct user_snapshot *snapshot;
	struct trace_stream_stats stats;
	uint64_t blocks;
	uint64_t unknown;
	bool suspect;
};

static int write_subbuf(void *context, struct subbuf_header *header, uint32_t nr_records, uint64_t lost_total)
{
	struct ring_output *output = context;
	struct subbuf_ring ring = user_mapping_ring(&output->ring->program->mapping, output->ring->cpu);
	struct drain_copy copy = { .header = header, .records = (unsigned char *)(header + 1), .base_ns = header->base };
	struct trace_source source = { .stream = output->ring->stream, .cpu = output->ring->cpu, .kind = TRACE_CHUNK_EVENTS };

	copy.bytes = ring_record_bytes(&ring, header) & ~(size_t)7;
	copy.nr_records = nr_records <= copy.bytes / 8 ? nr_records : (uint32_t)(copy.bytes / 8);
	if (header->flags & SUBBUF_FLAG_TIME_SUSPECT || !translate(output->ring, &copy)) {
		output->unknown += copy.nr_records;
		output->suspect = true;
		return 0;
	}
	output->stats.filtered += copy.filtered;
	output->unknown += copy.untyped;
	if (!copy.nr_records)
		return 0;
	source.records = copy.records;
	source.bytes = copy.bytes;
	source.base_ns = copy.base_ns;
	source.nr_records = copy.nr_records;
	source.seq = ++output->blocks;
	source.lost_total = trace_add_saturated(lost_total, output->unknown);
	source.lost_cause = output->suspect ? TRACE_GAP_SUSPECT : TRACE_GAP_OVERWRITTEN;
	output->suspect = false;
	output->stats.stored += copy.nr_records;
	return output->snapshot->push(output->snapshot->context, &source);
}

/* @lost: the program's events that never had a ring; set to 0 if the ring's stream took them. */
static int write_ring(struct user_ring *ring, struct user_snapshot *snapshot, uint64_t *lost)
{
	struct ring_output output = { .ring = ring, .snapshot = snapshot };
	struct trace_stream_stats *stats = &output.stats;
	struct user_kept_counts counts;
	int err;

	ring->announced = false;
	ring->stream = ring->program->recording->next_stream;
	err = user_kept_read(ring->kept, write_subbuf, &output, &counts, &snapshot->patience);
	if (err)
		return err;
	stats->stream = ring->stream;
	stats->cpu = ring->cpu;
	stats->overwritten = counts.overwritten;
	stats->discarded = trace_add_saturated(trace_add_saturated(counts.lost, output.unknown), *lost);
	stats->attempted = trace_add_saturated(stats->stored + stats->filtered, stats->overwritten);
	stats->attempted = trace_add_saturated(stats->attempted, stats->discarded);
	if (!stats->attempted)
		return 0;
	*lost = 0;
	ring->program->recording->next_stream++;
	return snapshot->add_stats(snapshot->context, stats);
}

int user_program_snapshot(struct user_program *program, struct user_snapshot *snapshot)
{
	struct user_recording *recording = program->recording;
	struct user_clock *clock = malloc(sizeof(*clock));
	uint64_t lost = unready(program);
	int err = clock ? 0 : -ENOMEM;

	if (err)
		return err;
	*clock = recording->clock;
	recording->writer = snapshot->writer;
	describe_again(program);
	user_program_look(program);
	merge_clocks(program);
	for (uint32_t i = 0; i < program->mapping.nr_rings && !err; i++)
		if (program->rings[i])
			err = write_ring(program->rings[i], snapshot, &lost);
	snapshot->missed = trace_add_saturated(snapshot->missed, lost);
	recording->writer = NULL;
	recording->clock = *clock; /* clock pairs of a program are trusted for its own events only */
	free(clock);
	look_for_doubts(program);
	return err;
}

uint64_t user_program_oldest_ns(struct user_program *program)
{
	uint64_t oldest = UINT64_MAX, now_ns = clock_now(), ns;
	struct user_clock_knot pair;

	read_clocks(program);
	for (uint32_t i = 0; i < program->mapping.nr_rings; i++) {
		if (!program->rings[i] || !user_kept_oldest(program->rings[i]->kept, &pair))
			continue;
		ns = pair.ns;
		/* else the snapshot would begin in the future */
		if ((ns || to_ns(program, pair.tsc, &ns)) && ns < oldest && ns <= now_ns)
			oldest = ns;
	}
	return oldest;
}

void user_program_reset(struct user_program *program)
{
	user_program_look(program); /* rings that came into use since the last look */
	for (uint32_t i = 0; i < program->mapping.nr_rings; i++)
		if (program->rings[i])
			user_kept_reset(program->rings[i]->kept, &program->recording->patience);
	program->saved_bytes = 0;
	begin_unready(program, read_unready(program));
	program->doubted = 0; /* the recording's list of doubts is cleared, too */
}

size_t user_program_drop(struct user_program *program)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < program->mapping.nr_rings && !bytes && program->saved_bytes; i++)
		if (program->rings[i])
			bytes = user_kept_drop(program->rings[i]->kept);
	program->saved_bytes -= bytes;
	return bytes;
}

size_t user_program_saved(const struct user_program *program)
{
	return program->saved_bytes;
}

static int take_nothing(void *context, struct subbuf_header *copy, uint32_t nr_records, uint64_t lost_total)
{
	return 0;
}

void user_program_get_counts(struct user_program *program, struct user_kept_counts *ret_counts)
{
	struct user_kept_counts counts = { 0 };
	int patience = 0; /* the program is dead */

	*ret_counts = counts;
	for (uint32_t i = 0; i < program->mapping.nr_rings; i++) {
		if (!program->rings[i] || user_kept_read(program->rings[i]->kept, take_nothing, NULL, &counts, &patience))
			continue;
		ret_counts->lost = trace_add_saturated(ret_counts->lost, counts.lost);
		ret_counts->overwritten = trace_add_saturated(ret_counts->overwritten, counts.overwritten);
	}
	ret_counts->lost = trace_add_saturated(ret_counts->lost, unready(program));
}

uint64_t user_program_taken(const struct user_program *program)
{
	uint64_t taken = 0;

	for (uint32_t i = 0; i < program->mapping.nr_rings; i++)
		taken += program->rings[i] && program->rings[i]->drained ? drain_taken(program->rings[i]->drained) : 0;
	return taken;
}

const struct user_identity *user_program_identity(const struct user_program *program)
{
	return &program->identity;
}

const struct user_mapping *user_program_mapping(const struct user_program *program)
{
	return &program->mapping;
}

void user_program_set_identity(struct user_program *program, const struct user_identity *identity)
{
	if (program->identity.pid_fd >= 0)
		close(program->identity.pid_fd);
	program->identity = *identity;
}
