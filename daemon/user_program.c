/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_program.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "message.h"
#include "text.h"

/* Records that seem to be so much later than their sub-buffer's base are a little earlier: a clock read is not ordered with what stands before it. */
#define USER_EARLIER (UINT32_MAX - 65535u)

/** struct user_local - an event of the program's registry. @global: its id in the trace; 0: not known. @name: owned */
struct user_local {
	char *name;
	uint16_t global;
	bool wanted;
};

/** struct user_ring - a ring in use. @announced: the trace knows whose stream it is */
struct user_ring {
	struct user_program *program;
	struct drain_ring *books; /* borrowed from the drain */
	uint32_t stream;
	uint32_t cpu;
	bool announced;
};

struct user_program {
	struct user_identity identity;
	struct user_mapping mapping;
	struct user_recording *recording; /* borrowed */
	struct user_local *events;	  /* owned; max_events of them */
	struct user_ring **rings;	  /* owned, as what they point to; nr_rings of the mapping, NULL: not in use */
	uint64_t unready_before; /* what is in the books, or before the recording */
	bool whole;
	bool off;
	bool told;
	bool settled;
	bool buried;
};

/* ---- translating ---- */

static bool to_ns(struct user_program *program, uint64_t time, uint64_t *ret_ns)
{
	if (program->mapping.clock == SUBBUF_CLOCK_TSC)
		return user_clock_ns(&program->recording->clock, time, ret_ns);
	*ret_ns = time;
	return time <= INT64_MAX;
}

/* Both clocks now, so that what was copied lies between two pairs. */
static void read_clocks(struct user_program *program)
{
	struct clock_sample now;

	if (program->mapping.clock != SUBBUF_CLOCK_TSC)
		return;
	now = clock_take_sample();
	user_clock_add(&program->recording->clock, &now);
}

/* What a record is worth to the trace. */
enum verdict { VERDICT_KEEP, VERDICT_BAD, VERDICT_FILTERED, VERDICT_EARLY };

static enum verdict judge(struct user_program *program, struct trace_record *record, uint64_t base, uint64_t base_ns)
{
	uint32_t delta = record->time - (uint32_t)base;
	const struct user_local *event = record->id < program->mapping.max_events ? &program->events[record->id] : NULL;
	uint64_t ns;

	if (!to_ns(program, base + (delta < USER_EARLIER ? delta : 0), &ns))
		return VERDICT_BAD;
	if (ns < program->recording->start_ns)
		return VERDICT_EARLY;
	if (!event || !event->global)
		return VERDICT_BAD;
	if (!event->wanted)
		return VERDICT_FILTERED;
	record->id = event->global;
	record->time = (uint32_t)base_ns + (ns - base_ns > UINT32_MAX ? UINT32_MAX : ns < base_ns ? 0 : (uint32_t)(ns - base_ns));
	return VERDICT_KEEP;
}

/* Whose stream it is stands before its first record; with a place in the copy that is kept free for it. */
static void announce(struct user_ring *ring, struct drain_copy *copy)
{
	const struct user_identity *identity = &ring->program->identity;
	struct trace_user_stream stream = { ring->stream, (uint32_t)identity->pid, identity->uid, ring->cpu };
	size_t bytes = (sizeof(struct trace_record) + sizeof(stream) + strlen(identity->exe) + 1 + 7) & ~(size_t)7;
	struct trace_record record = { .time = (uint32_t)copy->base_ns, .id = TRACE_EV_user_stream, .words = (trace_u8)(bytes / 8) };
	unsigned char *at = copy->records - bytes;

	memset(at, 0, bytes);
	memcpy(at, &record, sizeof(record));
	memcpy(at + sizeof(record), &stream, sizeof(stream));
	memcpy(at + sizeof(record) + sizeof(stream), identity->exe, strlen(identity->exe));
	copy->records = at;
	copy->bytes += bytes;
	copy->nr_records++;
	copy->added = 1;
	ring->announced = true;
}

/* Records that are left out become padding; so do those that make no sense, which nr_records goes on to count. */
static bool translate(void *context, struct drain_copy *copy)
{
	struct user_ring *ring = context;
	struct user_program *program = ring->program;
	uint64_t base = copy->base_ns, base_ns;
	uint32_t kept = 0, bad = 0, found, counted = copy->nr_records;
	struct trace_record record;

	read_clocks(program);
	user_program_look(program); /* an event is registered before its first record is made */
	if (!to_ns(program, base, &base_ns))
		return false;
	for (size_t at = 0; at + sizeof(record) <= copy->bytes; at += record.words * 8u) {
		enum verdict verdict;

		memcpy(&record, copy->records + at, sizeof(record));
		if (record.words == 0 || record.words * 8u > copy->bytes - at) {
			copy->bytes = at;
			break;
		}
		if (record.id == TRACE_EV_padding)
			continue;
		verdict = judge(program, &record, base, base_ns);
		kept += verdict == VERDICT_KEEP;
		bad += verdict == VERDICT_BAD;
		copy->filtered += verdict == VERDICT_FILTERED;
		copy->early += verdict == VERDICT_EARLY;
		if (verdict != VERDICT_KEEP)
			record.id = TRACE_EV_padding;
		memcpy(copy->records + at, &record, sizeof(record));
	}
	found = kept + bad + copy->filtered + copy->early;
	copy->nr_records = kept + bad + (counted > found ? counted - found : 0);
	copy->base_ns = base_ns;
	if (copy->nr_records && !ring->announced)
		announce(ring, copy);
	return true;
}

/* ---- events ---- */

static bool is_wanted(const struct user_program *program, const char *name)
{
	const struct user_recording *recording = program->recording;

	return !program->off && !recording->halted && select_wants_user(recording->selection, name);
}

/* A tracepoint without an id in the trace, of which there are only so many, is not recorded. */
static void take_event(struct user_program *program, const struct user_description *description)
{
	struct user_local *event = &program->events[description->id];
	struct trace_error error;

	if (event->global || event->name)
		return; /* an id is never used again */
	event->name = strdup(description->name);
	if (!event->name || trace_writer_event_type(program->recording->writer, &description->type, &event->global, &error))
		event->global = 0;
	event->wanted = event->global && is_wanted(program, event->name);
	user_mapping_set_flag(&program->mapping, description->id, event->wanted);
}

static void set_new_flag(const struct user_program *program)
{
	struct user_memory *memory = user_mapping_memory(&program->mapping);
	bool on = !program->off && !program->recording->halted && select_wants_any_user(program->recording->selection);

	__atomic_store_n(&memory->new_flag, on, __ATOMIC_RELAXED);
}

/*
 * What was recorded before it was switched off is still in the rings, and wanted; so a flag that goes off does not filter
 * what was made while it was on. Only events that never were wanted are left out.
 */
void user_program_switch(struct user_program *program, bool off)
{
	program->off = off;
	set_new_flag(program);
	for (uint32_t id = 1; id < program->mapping.max_events; id++) {
		struct user_local *event = &program->events[id];
		bool on = event->global && is_wanted(program, event->name);

		if (!event->name)
			continue;
		event->wanted |= on;
		user_mapping_set_flag(&program->mapping, id, on);
	}
}

/* ---- rings ---- */

static void add_ring(struct user_program *program, uint32_t idx)
{
	struct user_recording *recording = program->recording;
	struct user_ring *ring = calloc(1, sizeof(*ring));
	struct drain_source source = { .ring = user_mapping_ring(&program->mapping, idx), .cpu = idx, .translate = translate, .context = ring };

	if (!ring)
		return;
	ring->program = program;
	ring->stream = source.stream = recording->next_stream;
	ring->cpu = idx;
	ring->books = drain_add(recording->drain, &source, program->whole);
	if (!ring->books) {
		free(ring);
		return;
	}
	recording->next_stream++;
	program->rings[idx] = ring;
}

/* A ring that comes into use while the program is recorded belongs to the recording from its first event on. */
static void look_for_rings(struct user_program *program)
{
	uint32_t nr_rings = program->mapping.nr_rings;

	for (uint32_t i = user_mapping_next_ring(&program->mapping, 0); i < nr_rings; i = user_mapping_next_ring(&program->mapping, i + 1))
		if (!program->rings[i])
			add_ring(program, i);
}

static void tell_broken(struct user_program *program)
{
	bool broken = program->mapping.registry_broken;

	for (uint32_t i = 0; i < program->mapping.nr_rings; i++)
		broken |= program->rings[i] && drain_is_broken(program->rings[i]->books);
	if (!broken || program->told)
		return;
	message_warning("process %d (%s) writes nonsense into its trace buffers: its events are incomplete", (int)program->identity.pid,
			program->identity.exe);
	program->told = true;
}

void user_program_look(struct user_program *program)
{
	struct user_description description;

	if (program->buried || program->settled)
		return;
	while (user_mapping_next_event(&program->mapping, &description))
		take_event(program, &description);
	look_for_rings(program);
	tell_broken(program);
}

/* ---- begin and end ---- */

static uint64_t unready(const struct user_program *program)
{
	return __atomic_load_n(&user_mapping_memory(&program->mapping)->unready, __ATOMIC_RELAXED);
}

static void claim(struct user_program *program)
{
	struct user_memory *memory = user_mapping_memory(&program->mapping);

	__atomic_store_n(&memory->daemon_pid, (trace_u32)getpid(), __ATOMIC_RELAXED);
	__atomic_store_n(&memory->blocking, program->recording->blocking, __ATOMIC_RELAXED);
	program->unready_before = program->whole ? 0 : unready(program);
	user_program_look(program);
	program->whole = true; /* rings that come into use from now on */
	set_new_flag(program);
	user_program_look(program); /* what was registered before the new flag held */
}

struct user_program *user_program_new(int fd, const struct user_identity *identity, struct user_recording *recording, bool whole,
				      struct trace_error *ret_error)
{
	struct user_program *program = calloc(1, sizeof(*program));
	int err = program ? user_mapping_open(&program->mapping, fd, true, ret_error) : text_error(ret_error, -ENOMEM, "no memory for it");

	if (err) {
		free(program);
		return NULL;
	}
	program->identity = *identity;
	program->recording = recording;
	program->whole = whole;
	program->events = calloc(program->mapping.max_events, sizeof(*program->events));
	program->rings = calloc(program->mapping.nr_rings, sizeof(struct user_ring *));
	if (!program->events || !program->rings) {
		text_error(ret_error, -ENOMEM, "no memory for it");
		program->identity.pid_fd = -1; /* still the caller's */
		return user_program_free(program);
	}
	claim(program);
	return program;
}

bool user_program_finish(struct user_program *program)
{
	bool done = true;

	user_program_look(program);
	for (uint32_t i = 0; i < program->mapping.nr_rings && done && !program->settled; i++)
		done = !program->rings[i] || drain_salvage(program->recording->drain, program->rings[i]->books);
	return done;
}

void user_program_settle(struct user_program *program)
{
	uint64_t before = program->unready_before, now = unready(program);
	struct drain *drain = program->recording->drain;

	if (program->settled)
		return;
	program->settled = true;
	for (uint32_t i = 0; i < program->mapping.nr_rings; i++) {
		struct user_ring *ring = program->rings[i];

		if (!ring)
			continue;
		if (now > before)
			drain_count_lost(ring->books, now - before);
		before = program->unready_before = now; /* the first ring stands for all: these events never had one */
		drain_retire(drain, ring->books);
	}
}

/* Its children go on counting there what they cannot record, whether it lives or not. */
uint64_t user_program_late(struct user_program *program)
{
	uint64_t now = unready(program), late = now > program->unready_before ? now - program->unready_before : 0;

	program->unready_before = now;
	return late;
}

void user_program_bury(struct user_program *program)
{
	user_program_settle(program);
	for (uint32_t i = 0; i < program->mapping.nr_rings; i++) {
		free(program->rings[i]);
		program->rings[i] = NULL;
	}
	user_mapping_drop_rings(&program->mapping);
	if (program->identity.pid_fd >= 0)
		close(program->identity.pid_fd);
	program->identity.pid_fd = -1;
	program->buried = true;
}

bool user_program_is_buried(const struct user_program *program)
{
	return program->buried;
}

struct user_program *user_program_free(struct user_program *program)
{
	struct user_memory *memory;

	if (!program)
		return NULL;
	memory = user_mapping_memory(&program->mapping);
	if (program->events)
		user_program_switch(program, true);
	__atomic_store_n(&memory->blocking, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&memory->daemon_pid, 0, __ATOMIC_RELAXED);
	for (uint32_t i = 0; program->rings && i < program->mapping.nr_rings; i++)
		free(program->rings[i]);
	for (uint32_t id = 0; program->events && id < program->mapping.max_events; id++)
		free(program->events[id].name);
	free(program->rings);
	free(program->events);
	user_mapping_close(&program->mapping);
	if (program->identity.pid_fd >= 0)
		close(program->identity.pid_fd);
	free(program);
	return NULL;
}

uint64_t user_program_taken(const struct user_program *program)
{
	uint64_t taken = 0;

	for (uint32_t i = 0; i < program->mapping.nr_rings; i++)
		taken += program->rings[i] ? drain_taken(program->rings[i]->books) : 0;
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
