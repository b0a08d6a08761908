/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_FAKE_PROGRAM_H
#define TESTS_FAKE_PROGRAM_H
/*
 * fake_program.h - a program with tracepoints that the test simulates.
 *
 * Its memory is built from the contract (user_memory.h) and not by libtracer, so that a test can
 * also build it wrong.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace/user_memory.h>
#include <unistd.h>
#include "cpus.h"
#ifndef __x86_64__
#error "the clock of user memory is x86's"
#endif

static inline trace_u64 fake_open_clock(enum subbuf_clock clock, const trace_u32 *overwrites, trace_u64 *ret_ns);

#define SUBBUF_OPEN_CLOCK(w, ret_ns) fake_open_clock((enum subbuf_clock)(w)->clock, (w)->overwrites, ret_ns)
#include "subbuf_writer.h"

/* As libtracer's openers do while a flight recorder is connected. */
static inline trace_u64 fake_open_clock(enum subbuf_clock clock, const trace_u32 *overwrites, trace_u64 *ret_ns)
{
	trace_u64 before;

	*ret_ns = 0;
	if (clock != SUBBUF_CLOCK_TSC || !*overwrites)
		return writer_now(clock);
	do {
		before = writer_now(clock);
		*ret_ns = writer_now(SUBBUF_CLOCK_MONOTONIC);
	} while (writer_now(clock) - before > 2000);
	return before;
}

/**
 * struct fake_program - a simulated program
 * @memory: mapped; the rings lie at a multiple of 4096
 */
struct fake_program {
	int fd;
	unsigned char *data;
	struct user_memory *memory;
	uint16_t nr_events;
};

#define FAKE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
enum { FAKE_MAX_EVENTS = 512, FAKE_REGISTRY = 65536, FAKE_SUBBUF = 16384, FAKE_SUBBUFS = 4, FAKE_RINGS = 4 };

/* Number of CPUs that the machine pretends to have: fake programs run on CPUs that the real machine
 * may not have. */
static uint32_t fake_cpus = FAKE_RINGS;

static inline struct fake_program fake_program_new(enum subbuf_clock clock, int seals)
{
	char name[USER_MEMORY_NAME_BYTES];
	struct fake_program program = {.fd = -1};
	uint64_t stride = 4096 + FAKE_SUBBUF * FAKE_SUBBUFS, rings = 4096 + 4096 + FAKE_REGISTRY,
		 total = rings + FAKE_RINGS * stride;

	possible_cpus_pretend(fake_cpus);
	user_memory_name(getenv("TRACER_SOCKET"), name);
	program.fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (program.fd < 0 || ftruncate(program.fd, (off_t)total) < 0 ||
	    (seals && fcntl(program.fd, F_ADD_SEALS, seals) < 0))
		abort();
	program.data = mmap(NULL, total, PROT_READ | PROT_WRITE, MAP_SHARED, program.fd, 0);
	if (program.data == MAP_FAILED)
		abort();
	program.memory = (struct user_memory *)program.data;
	*program.memory = (struct user_memory){
		.magic = USER_MEMORY_MAGIC,
		.version = USER_MEMORY_VERSION,
		.clock = clock,
		.total_bytes = total,
		.pid = (uint32_t)getpid(),
		.max_events = FAKE_MAX_EVENTS,
		.nr_rings = FAKE_RINGS,
		.subbuf_bytes = FAKE_SUBBUF,
		.nr_subbufs = FAKE_SUBBUFS,
		.registry_bytes = FAKE_REGISTRY,
		.flags_offset = 4096,
		.registry_offset = 8192,
		.ring_stride = stride,
		.rings_offset = rings,
		.features = USER_FEATURE_OVERWRITE,
		.new_flag = 1,
	};
	return program;
}

static inline void fake_program_free(struct fake_program *program)
{
	munmap(program->data, program->memory->total_bytes);
	close(program->fd);
}

static inline bool fake_program_flag(const struct fake_program *program, uint16_t id)
{
	return program->data[4096 + id];
}

/**
 * fake_program_event() - register "provider:name" with one field of each of @types
 * @types: enum user_field_type, 0 at the end
 * Returns the id of the event.
 */
static inline uint16_t fake_program_event(struct fake_program *program, const char *provider, const char *name,
					  enum user_event_role role, const uint16_t *types)
{
	unsigned char entry[2048] = {0};
	struct user_event *event = (struct user_event *)entry;
	struct user_field *fields = (struct user_field *)(event + 1);
	char text[1024], *at = text;
	uint16_t offset = 4, nr = 0;

	at += sprintf(at, "%s", provider) + 1;
	*event = (struct user_event){.id = ++program->nr_events,
				     .role = (uint16_t)role,
				     .line = 12,
				     .provider = 0,
				     .name = (uint16_t)(at - text)};
	at += sprintf(at, "%s", name) + 1;
	event->file = (uint16_t)(at - text);
	at += sprintf(at, "fake.c") + 1;
	event->function = (uint16_t)(at - text);
	at += sprintf(at, "play") + 1;
	for (; types[nr]; nr++) {
		uint16_t bytes = types[nr] == USER_FIELD_FLOAT || types[nr] == USER_FIELD_POINTER ? 8 : 4;

		offset = (uint16_t)((offset + bytes - 1u) & ~(bytes - 1u));
		fields[nr] = (struct user_field){
			.offset = offset, .bytes = bytes, .type = types[nr], .name = (uint16_t)(at - text)};
		at += sprintf(at, "field%u", nr) + 1;
		offset = (uint16_t)(offset + bytes);
	}
	event->nr_fields = nr;
	event->payload_bytes = offset;
	event->text_bytes = (uint32_t)(at - text);
	memcpy(fields + nr, text, event->text_bytes);
	event->bytes = (uint32_t)((sizeof(*event) + nr * sizeof(*fields) + event->text_bytes + 7) & ~7u);
	memcpy(program->data + 8192 + program->memory->registry_used, entry, event->bytes);
	program->data[4096 + event->id] = (unsigned char)program->memory->new_flag;
	__atomic_store_n(&program->memory->registry_used, program->memory->registry_used + event->bytes,
			 __ATOMIC_RELEASE);
	return event->id;
}

static inline struct subbuf_ring fake_program_ring(const struct fake_program *program, uint32_t cpu)
{
	unsigned char *at = program->data + program->memory->rings_offset + cpu * program->memory->ring_stride;

	return (struct subbuf_ring){(struct subbuf_control *)at, at + SUBBUF_CONTROL_BYTES, FAKE_SUBBUF, FAKE_SUBBUFS};
}

static inline struct subbuf_writer fake_program_writer(const struct fake_program *program, uint32_t cpu)
{
	static const trace_u32 never = 0;
	struct subbuf_ring ring = fake_program_ring(program, cpu);
	const trace_u32 *overwrites = program->memory->features & USER_FEATURE_OVERWRITE ? &program->memory->overwrite
											 : &never;

	if (!ring.control->position)
		subbuf_ring_init(&ring, ring.control, FAKE_SUBBUF, FAKE_SUBBUFS, cpu, SUBBUF_PRODUCER_USER,
				 (enum subbuf_clock)program->memory->clock, false);
	return (struct subbuf_writer){
		.control = ring.control,
		.data = ring.data,
		.subbuf_bytes = FAKE_SUBBUF,
		.nr_subbufs_log2 = (trace_u32)__builtin_ctz(FAKE_SUBBUFS),
		.cpu = cpu,
		.producer = SUBBUF_PRODUCER_USER,
		.clock = (trace_u8)program->memory->clock,
		.overwrites = overwrites,
	};
}

/**
 * fake_program_write() - write a record, if the event is switched on
 * @stop: die before the commit
 * Returns false if there was no room for it.
 */
static inline bool fake_program_write(struct fake_program *program, uint32_t cpu, uint16_t id, const void *payload,
				      size_t bytes, bool stop)
{
	struct subbuf_writer writer = fake_program_writer(program, cpu);
	struct subbuf_reservation reservation;
	trace_u32 size = (trace_u32)((sizeof(struct trace_record) + bytes + 7) & ~(size_t)7);
	unsigned char *at;

	if (!fake_program_flag(program, id))
		return true;
	if (!subbuf_reserve(&writer, size, &reservation))
		return false;
	at = writer_at(&writer, reservation.position);
	memset(at + 8, 0, size - 8);
	memcpy(at + 8, payload, bytes);
	if (!stop)
		subbuf_commit(&writer, &reservation, id);
	return true;
}

/**
 * fake_program_number() - write a record of an event with one number
 */
static inline bool fake_program_number(struct fake_program *program, uint32_t cpu, uint16_t id, int32_t n)
{
	return fake_program_write(program, cpu, id, &(struct {
					  uint32_t tid;
					  int32_t n;
				  }){42, n},
				  8, false);
}

/**
 * fake_program_spoil() - change @nr random bytes in [@begin, @end) of the program's memory
 */
static inline void fake_program_spoil(struct fake_program *program, size_t begin, size_t end, int nr)
{
	static const uint64_t values[] = {0, 1, 8, 0xff, 0x7fffffff, UINT32_MAX, 1ull << 40, 1ull << 63, UINT64_MAX};

	for (int i = 0; i < nr; i++) {
		size_t at = begin + (size_t)random() % (end - begin) / 8 * 8;
		uint64_t value = random() % 2 ? values[(size_t)random() % 9]
					      : (uint64_t)random() << 32 ^ (uint64_t)random();

		if (random() % 2)
			memcpy(program->data + at, &value, 8);
		else
			program->data[at] = (unsigned char)value;
	}
}

#endif
