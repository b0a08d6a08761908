/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "builder.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "../libtrace/plausible.h"

/**
 * struct tb_block - records of one ring that are written to the file as one chunk
 * @ring: the CPU of a kernel ring; USER_RINGS or STRUCTURAL_RINGS + the CPU of the others
 */
struct tb_block {
	struct tb_block *next;
	uint32_t ring;
	uint64_t lost_total; /* lost before this block */
	uint64_t lost_after;
	uint64_t base_ns;
	uint64_t last_ns;
	struct tb_record {
		struct tb_record *next;
		uint64_t ts_ns;
		uint32_t id;
		size_t bytes;
		unsigned char payload[];
	} * records, **end;
};

struct tb {
	struct tb_block *blocks, **end; /* in the order of their creation */
	struct tb_block *start;
	struct tb_string {
		struct tb_string *next;
		enum trace_string_space space;
		uint64_t key;
		char text[];
	} * strings;
	struct trace_event_type *types; /* owned; the strings in it are borrowed */
	struct trace_writer *typist;	/* owned; assigns the ids of event types */
	size_t nr_types;
	struct trace_clock clocks[16];
	size_t nr_clocks;
	uint64_t start_ns;
	uint64_t end_ns;
	bool is_end_kept;
	bool is_claim_unknown;
	bool are_clocks_last;
	bool has_window;
	bool has_structural;
	bool overwrites; /* the trace is a flight recorder's */
};

enum { START_STREAM = 1000000, USER_RINGS = 2048, STRUCTURAL_RINGS = 2 * USER_RINGS, MAX_RINGS = 3 * USER_RINGS };

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "builder: %s: %s\n", what, why);
	abort();
}

static void *need(void *memory)
{
	if (!memory)
		fail("memory", "there is none");
	return memory;
}

struct tb *tb_new(void)
{
	struct tb *tb = need(calloc(1, sizeof(*tb)));

	tb->end = &tb->blocks;
	return tb;
}

static struct tb_block *block_free(struct tb_block *block)
{
	struct tb_block *next = block->next;

	while (block->records) {
		struct tb_record *record = block->records;

		block->records = record->next;
		free(record);
	}
	free(block);
	return next;
}

struct tb *tb_free(struct tb *tb)
{
	if (!tb)
		return NULL;
	while (tb->blocks)
		tb->blocks = block_free(tb->blocks);
	if (tb->start)
		block_free(tb->start);
	while (tb->strings) {
		struct tb_string *string = tb->strings;

		tb->strings = string->next;
		free(string);
	}
	trace_writer_free(tb->typist);
	free(tb->types);
	free(tb);
	return NULL;
}

void tb_window(struct tb *tb, uint64_t start_ns, uint64_t end_ns)
{
	tb->start_ns = start_ns;
	tb->end_ns = end_ns;
	tb->has_window = true;
}

void tb_claims_unknown(struct tb *tb)
{
	tb->is_claim_unknown = true;
}

void tb_keep_end(struct tb *tb)
{
	tb->is_end_kept = true;
}

void tb_clocks_last(struct tb *tb)
{
	tb->are_clocks_last = true;
}

void tb_string(struct tb *tb, enum trace_string_space space, uint64_t key, const char *text)
{
	struct tb_string *string = need(malloc(sizeof(*string) + strlen(text) + 1));

	*string = (struct tb_string){.next = tb->strings, .space = space, .key = key};
	memcpy(string->text, text, strlen(text) + 1);
	tb->strings = string;
}

/* ---- blocks ---- */

static struct tb_block *block_new(uint32_t ring, uint64_t lost_total)
{
	struct tb_block *block = need(calloc(1, sizeof(*block)));

	block->ring = ring;
	block->lost_total = lost_total;
	block->base_ns = UINT64_MAX;
	block->end = &block->records;
	return block;
}

static struct tb_block *block_last(const struct tb *tb, uint32_t ring)
{
	struct tb_block *last = NULL;

	for (struct tb_block *block = tb->blocks; block; block = block->next)
		if (block->ring == ring)
			last = block;
	return last;
}

static struct tb_block *block_begin(struct tb *tb, uint32_t ring)
{
	struct tb_block *last = block_last(tb, ring);
	struct tb_block *block = block_new(ring, last ? last->lost_total + last->lost_after : 0);

	*tb->end = block;
	tb->end = &block->next;
	return block;
}

static void block_add(struct tb_block *block, uint64_t ts_ns, uint32_t id, const void *payload, size_t bytes,
		      const char *string)
{
	size_t text_bytes = string ? strlen(string) + 1 : 0, all = (bytes + text_bytes + 7) & ~(size_t)7;
	struct tb_record *record;

	if (all + 8 > TRACE_RECORD_MAX_BYTES)
		fail("event", "it is longer than a record can be");
	record = need(calloc(1, sizeof(*record) + all));
	record->ts_ns = ts_ns;
	record->id = id;
	record->bytes = all;
	if (bytes)
		memcpy(record->payload, payload, bytes);
	if (string)
		memcpy(record->payload + bytes, string, text_bytes);
	*block->end = record;
	block->end = &record->next;
	block->base_ns = block->base_ns < ts_ns ? block->base_ns : ts_ns;
	block->last_ns = block->last_ns > ts_ns ? block->last_ns : ts_ns;
}

/* A block spans less than 2^32 ns, as a sub-buffer does. */
static struct tb_block *block_for(struct tb *tb, uint32_t ring, uint64_t ts_ns)
{
	struct tb_block *block = block_last(tb, ring);
	uint64_t base_ns, last_ns;

	if (!block || block->lost_after)
		return block_begin(tb, ring);
	base_ns = block->base_ns < ts_ns ? block->base_ns : ts_ns;
	last_ns = block->last_ns > ts_ns ? block->last_ns : ts_ns;
	return block->records && last_ns - base_ns > UINT32_MAX ? block_begin(tb, ring) : block;
}

void tb_event(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t id, const void *payload, size_t payload_bytes,
	      const char *string)
{
	block_add(block_for(tb, cpu, ts_ns), ts_ns, id, payload, payload_bytes, string);
}

void tb_structural_event(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t id, const void *payload,
			 size_t payload_bytes, const char *string)
{
	tb->has_structural = true;
	block_add(block_for(tb, STRUCTURAL_RINGS + cpu, ts_ns), ts_ns, id, payload, payload_bytes, string);
}

uint16_t tb_user_type(struct tb *tb, const struct trace_event_type *type)
{
	struct trace_error error;
	uint16_t id = 0;
	int fd;

	if (!tb->typist) {
		fd = memfd_create("types", MFD_CLOEXEC); /* this file is never read */
		tb->typist = trace_writer_new(fd, NULL, &error);
		close(fd);
	}
	tb->types = need(reallocarray(tb->types, tb->nr_types + 1, sizeof(*tb->types)));
	if (!tb->typist || trace_writer_event_type(tb->typist, type, &id, &error) < 0)
		fail(type->name, error.message);
	if (id != TRACE_EV_MAX + tb->nr_types)
		fail(type->name, "it was described before");
	tb->types[tb->nr_types++] = *trace_writer_type(tb->typist, id);
	return id;
}

void tb_user_event(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint16_t id, const void *payload, size_t payload_bytes)
{
	if (cpu >= USER_RINGS)
		fail("event", "a test that needs so many CPUs needs another builder");
	block_add(block_for(tb, USER_RINGS + cpu, ts_ns), ts_ns, id, payload, payload_bytes, NULL);
}

void tb_start(struct tb *tb, uint64_t ts_ns, uint32_t id, const void *payload, size_t payload_bytes, const char *string)
{
	if (!tb->start)
		tb->start = block_new(0, 0);
	block_add(tb->start, ts_ns, id, payload, payload_bytes, string);
}

static void ring_lost(struct tb *tb, uint32_t ring, uint64_t nr)
{
	struct tb_block *block = block_last(tb, ring);

	if (!block)
		block = block_begin(tb, ring);
	block->lost_after += nr;
}

void tb_lost(struct tb *tb, uint32_t cpu, uint64_t nr)
{
	ring_lost(tb, cpu, nr);
}

void tb_structural_lost(struct tb *tb, uint32_t cpu, uint64_t nr)
{
	tb->has_structural = true;
	ring_lost(tb, STRUCTURAL_RINGS + cpu, nr);
}

void tb_overwritten(struct tb *tb, uint32_t cpu, uint64_t nr)
{
	tb->overwrites = true;
	ring_lost(tb, cpu, nr);
}

void tb_user_lost(struct tb *tb, uint32_t cpu, uint64_t nr)
{
	ring_lost(tb, USER_RINGS + cpu, nr);
}

void tb_cut(struct tb *tb, uint32_t cpu)
{
	block_begin(tb, cpu);
}

void tb_structural_cut(struct tb *tb, uint32_t cpu)
{
	tb->has_structural = true;
	block_begin(tb, STRUCTURAL_RINGS + cpu);
}

void tb_user_cut(struct tb *tb, uint32_t cpu)
{
	block_begin(tb, USER_RINGS + cpu);
}

/* ---- writing ---- */

static size_t block_records(const struct tb_block *block, unsigned char **ret_records, uint32_t *ret_nr)
{
	unsigned char *at, *records;
	size_t bytes = 0;

	*ret_nr = 0;
	for (const struct tb_record *record = block->records; record; record = record->next)
		bytes += 8 + record->bytes;
	at = records = need(malloc(bytes + 8));
	for (const struct tb_record *record = block->records; record; record = record->next, ++*ret_nr) {
		struct trace_record header = {.time = (uint32_t)record->ts_ns,
					      .id = (uint16_t)record->id,
					      .words = (uint8_t)((8 + record->bytes) / 8)};

		at = mempcpy(at, &header, sizeof(header));
		at = mempcpy(at, record->payload, record->bytes);
	}
	*ret_records = records;
	return bytes;
}

static uint32_t block_write(const struct tb_block *block, struct trace_writer *writer, struct trace_source *source)
{
	struct trace_error error;
	struct trace_packed *packed;
	unsigned char *records;

	source->bytes = block_records(block, &records, &source->nr_records);
	source->records = records;
	source->base_ns = block->records ? block->base_ns : 0;
	source->cpu = block->ring % USER_RINGS;
	source->lost_total = block->lost_total;
	packed = trace_writer_pack(writer, source, &error);
	if (!packed || trace_writer_write(writer, packed, &error) < 0)
		fail("write", error.message);
	free(records);
	return source->nr_records;
}

/* With two rings per CPU the stream is numbered as tracedaemon does; with one, as in the golden
 * file, it is the CPU. */
static uint32_t ring_stream(const struct tb *tb, uint32_t ring)
{
	uint32_t cpu = ring % USER_RINGS;

	if (ring < USER_RINGS)
		return tb->has_structural ? 2 * cpu : cpu;
	return ring < STRUCTURAL_RINGS ? TB_USER_STREAM + cpu : 2 * cpu + 1;
}

static void blocks_write(const struct tb *tb, struct trace_writer *writer, uint64_t *stored)
{
	uint64_t *seq = need(calloc(MAX_RINGS, sizeof(*seq)));

	if (tb->start)
		block_write(tb->start, writer,
			    &(struct trace_source){.kind = TRACE_CHUNK_START_STATE, .stream = START_STREAM, .seq = 1});
	for (const struct tb_block *block = tb->blocks; block; block = block->next) {
		struct trace_source source = {.kind = TRACE_CHUNK_EVENTS, .stream = ring_stream(tb, block->ring)};

		if (block->ring >= MAX_RINGS)
			fail("event", "a test that needs so many CPUs needs another builder");
		source.seq = ++seq[block->ring];
		source.lost_cause = tb->overwrites ? TRACE_GAP_OVERWRITTEN : TRACE_GAP_DISCARDED;
		stored[block->ring] += block_write(block, writer, &source);
	}
	free(seq);
}

static void statistics_write(const struct tb *tb, struct trace_writer *writer, const uint64_t *stored, uint64_t end_ns)
{
	struct trace_stream_stats *stats = need(calloc(MAX_RINGS, sizeof(*stats)));
	struct trace_error error;
	size_t nr = 0;

	for (uint32_t ring = 0; ring < MAX_RINGS; ring++) {
		const struct tb_block *last = block_last(tb, ring);

		if (!last)
			continue;
		stats[nr] = (struct trace_stream_stats){.stream = ring_stream(tb, ring),
							.cpu = ring % USER_RINGS,
							.stored = stored[ring]};
		*(tb->overwrites ? &stats[nr].overwritten : &stats[nr].discarded) = last->lost_total + last->lost_after;
		stats[nr].attempted = stats[nr].stored + last->lost_total + last->lost_after;
		if (stats[nr].stream >= TB_USER_STREAM) /* programs count their own losses */
			stats[nr].claimed = tb->is_claim_unknown ? TRACE_CLAIMED_UNKNOWN
								 : last->lost_total + last->lost_after;
		nr++;
	}
	if (trace_writer_statistics(writer, stats, nr, end_ns, &error) < 0)
		fail("statistics", error.message);
	free(stats);
}

static void clocks_write(const struct tb *tb, struct trace_writer *writer)
{
	struct trace_error error;

	for (size_t i = 0; i < tb->nr_clocks; i++)
		if (trace_writer_clock(writer, tb->clocks[i].monotonic_ns, tb->clocks[i].realtime_ns, tb->clocks[i].tsc,
				       &error) < 0)
			fail("clock", error.message);
}

/* A reader refuses events of the kernel that are later than PLAUSIBLE_END_NS after the end. */
static void window_find(const struct tb *tb, uint64_t *ret_start_ns, uint64_t *ret_end_ns)
{
	*ret_start_ns = tb->blocks ? UINT64_MAX : 0;
	*ret_end_ns = 0;
	for (const struct tb_block *block = tb->blocks; block; block = block->next) {
		*ret_start_ns = *ret_start_ns < block->base_ns ? *ret_start_ns : block->base_ns;
		*ret_end_ns = *ret_end_ns > block->last_ns ? *ret_end_ns : block->last_ns;
	}
	if (!tb->has_window)
		return;
	*ret_start_ns = tb->start_ns;
	if (tb->is_end_kept || *ret_end_ns <= tb->end_ns + PLAUSIBLE_END_NS)
		*ret_end_ns = tb->end_ns;
}

void tb_clock(struct tb *tb, uint64_t monotonic_ns, uint64_t realtime_ns, uint64_t tsc)
{
	if (tb->nr_clocks == sizeof(tb->clocks) / sizeof(tb->clocks[0]))
		fail("clock", "there are too many");
	tb->clocks[tb->nr_clocks++] =
		(struct trace_clock){.monotonic_ns = monotonic_ns, .realtime_ns = realtime_ns, .tsc = tsc};
}

void tb_write(struct tb *tb, int fd, bool finish)
{
	struct trace_writer_options options = {.size = sizeof(options), .start_realtime_ns = 1700000000000000000};
	uint64_t *stored = need(calloc(MAX_RINGS, sizeof(*stored))), end_ns;
	uint16_t id;
	struct trace_writer *writer;
	struct trace_error error;

	window_find(tb, &options.start_ns, &end_ns);
	writer = trace_writer_new(fd, &options, &error);
	if (!writer)
		fail("begin", error.message);
	for (const struct tb_string *string = tb->strings; string; string = string->next)
		if (trace_writer_string(writer, string->space, string->key, string->text) < 0)
			fail("string", "no memory");
	for (size_t i = 0; i < tb->nr_types; i++)
		if (trace_writer_event_type(writer, &tb->types[i], &id, &error) < 0 || id != TRACE_EV_MAX + i)
			fail("type", "it gets another number than before");
	if (!tb->are_clocks_last)
		clocks_write(tb, writer);
	blocks_write(tb, writer, stored);
	if (tb->are_clocks_last)
		clocks_write(tb, writer);
	if (finish) {
		statistics_write(tb, writer, stored, end_ns);
		if (trace_writer_finish(writer, &error) < 0)
			fail("finish", error.message);
	}
	trace_writer_free(writer);
	free(stored);
}

/* Another copy, in the folder that TRACE_KEEP names: see CONTRIBUTING.md. */
static void keep_trace(struct tb *tb)
{
	static unsigned int nr;
	const char *folder = getenv("TRACE_KEEP");
	char path[PATH_MAX];
	int fd;

	if (!folder)
		return;
	snprintf(path, sizeof(path), "%s/%s-%u.trace", folder, program_invocation_short_name, ++nr);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		fail("keep", path);
	tb_write(tb, fd, true);
	close(fd);
}

struct trace *tb_open_trace(struct tb *tb)
{
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct trace_error error;
	struct trace *trace;
	char path[64];

	if (fd < 0)
		fail("file", "cannot make one in memory");
	tb_write(tb, fd, true);
	keep_trace(tb);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = trace_open(path, &error);
	if (!trace)
		fail("open", error.message);
	close(fd);
	return trace;
}

/* ---- events ---- */

#define EVENT(tb, cpu, ts_ns, name, string, ...)                                                                    \
	tb_event(tb, cpu, ts_ns, TRACE_EV_##name, &(struct trace_##name){__VA_ARGS__}, sizeof(struct trace_##name), \
		 string)
#define START(tb, name, string, ...) \
	tb_start(tb, 0, TRACE_EV_##name, &(struct trace_##name){__VA_ARGS__}, sizeof(struct trace_##name), string)

void tb_switch(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t prev_tid, uint32_t next_tid, uint32_t prev_state)
{
	EVENT(tb, cpu, ts_ns, sched_switch, NULL, .prev_tid = prev_tid, .next_tid = next_tid, .prev_state = prev_state,
	      .next_prio = 120);
}

void tb_waking(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t tid, enum trace_context context)
{
	EVENT(tb, cpu, ts_ns, sched_waking, NULL, .tid = tid, .target_cpu = (uint16_t)cpu,
	      .context = (uint16_t)context);
}

void tb_sys_enter_args(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t nr, const uint64_t *args, size_t nr_args)
{
	struct trace_sys_enter6 all = {.nr = nr};
	uint64_t *places[6] = {&all.arg0, &all.arg1, &all.arg2, &all.arg3, &all.arg4, &all.arg5};

	for (size_t i = 0; i < nr_args && i < 6; i++)
		*places[i] = args[i];
	if (nr_args == 0)
		tb_event(tb, cpu, ts_ns, TRACE_EV_sys_enter, &all, sizeof(struct trace_sys_enter), NULL);
	else if (nr_args <= 3)
		tb_event(tb, cpu, ts_ns, TRACE_EV_sys_enter3, &all, sizeof(struct trace_sys_enter3), NULL);
	else
		tb_event(tb, cpu, ts_ns, TRACE_EV_sys_enter6, &all, sizeof(struct trace_sys_enter6), NULL);
}

void tb_sys_exit(struct tb *tb, uint32_t cpu, uint64_t ts_ns, int64_t ret)
{
	EVENT(tb, cpu, ts_ns, sys_exit, NULL, .ret = ret);
}

void tb_sys_path(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t nr, const char *path)
{
	EVENT(tb, cpu, ts_ns, sys_path, path, .nr = nr);
}

void tb_fork(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t parent_tid, uint32_t tid, uint32_t tgid,
	     const char *comm)
{
	uint64_t flags = tid == tgid ? 0 : CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;

	EVENT(tb, cpu, ts_ns, sched_fork, comm, .parent_tid = parent_tid, .tid = tid, .tgid = tgid, .ns_tid = tid,
	      .clone_flags = flags);
}

void tb_io_worker(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t parent_tid, uint32_t tid, uint32_t tgid,
		  const char *comm)
{
	EVENT(tb, cpu, ts_ns, sched_fork, comm, .parent_tid = parent_tid, .tid = tid, .tgid = tgid, .ns_tid = tid,
	      .clone_flags = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | TRACE_CLONE_IO_WORKER);
}

void tb_exec(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t tid, const char *path)
{
	EVENT(tb, cpu, ts_ns, sched_exec, path, .tid = tid, .old_tid = tid);
}

void tb_exit(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t tid, uint32_t tgid, bool group_dead)
{
	EVENT(tb, cpu, ts_ns, sched_exit, NULL, .tid = tid, .tgid = tgid, .group_dead = group_dead);
}

void tb_free_thread(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t tid)
{
	EVENT(tb, cpu, ts_ns, sched_free, NULL, .tid = tid);
}

void tb_comm(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t tid, const char *comm)
{
	EVENT(tb, cpu, ts_ns, sched_comm, comm, .tid = tid);
}

void tb_fault(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint64_t address, bool user)
{
	EVENT(tb, cpu, ts_ns, fault_entry, NULL, .address = address, .ip = 0x401000, .error = user ? 4 : 0,
	      .user = user);
}

void tb_fault_end(struct tb *tb, uint32_t cpu, uint64_t ts_ns, bool major)
{
	EVENT(tb, cpu, ts_ns, fault_exit, NULL, .major = major);
}

void tb_irq(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t irq)
{
	EVENT(tb, cpu, ts_ns, irq_entry, NULL, .irq = irq);
}

void tb_irq_exit(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t irq)
{
	EVENT(tb, cpu, ts_ns, irq_exit, NULL, .irq = irq, .ret = 1);
}

void tb_softirq(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t vec)
{
	EVENT(tb, cpu, ts_ns, softirq_entry, NULL, .vec = vec);
}

void tb_softirq_exit(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t vec)
{
	EVENT(tb, cpu, ts_ns, softirq_exit, NULL, .vec = vec);
}

void tb_vector(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t vector)
{
	EVENT(tb, cpu, ts_ns, vector_entry, NULL, .vector = vector);
}

void tb_vector_exit(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint32_t vector)
{
	EVENT(tb, cpu, ts_ns, vector_exit, NULL, .vector = vector);
}

void tb_open(struct tb *tb, uint32_t cpu, uint64_t ts_ns, int fd, uint32_t dev, uint64_t ino, uint32_t mode,
	     const char *path)
{
	EVENT(tb, cpu, ts_ns, fs_open, path, .fd = fd, .dev = dev, .mode = mode, .ino = ino);
}

void tb_thread(struct tb *tb, uint32_t tid, uint32_t tgid, uint32_t ppid, const char *comm, uint32_t cpu, bool running)
{
	tb_thread_in(tb, tid, tgid, ppid, comm, cpu, running, -1);
}

void tb_thread_in(struct tb *tb, uint32_t tid, uint32_t tgid, uint32_t ppid, const char *comm, uint32_t cpu,
		  bool running, int nr)
{
	START(tb, start_thread, comm, .tid = tid, .tgid = tgid, .ppid = ppid, .pgrp = tgid, .ns_tid = tid,
	      .ns_tgid = tgid, .state = running ? TRACE_TASK_RUNNING : TRACE_TASK_INTERRUPTIBLE, .nr = nr, .prio = 120,
	      .cpu = cpu, .running = running);
}

void tb_fd(struct tb *tb, uint32_t tgid, int fd, uint32_t dev, uint64_t ino, uint32_t mode, const char *path)
{
	START(tb, start_fd, path, .tgid = tgid, .fd = fd, .dev = dev, .mode = mode, .ino = ino);
}

void tb_tcp_end(struct tb *tb, uint32_t tgid, uint64_t ino)
{
	struct trace_start_socket sock = {.tgid = tgid,
					  .fd = 3,
					  .ino = ino,
					  .family = AF_INET,
					  .type = SOCK_STREAM,
					  .protocol = 6,
					  .netns = 7,
					  .local_port = (uint16_t)(80 + ino % 2),
					  .remote_port = (uint16_t)(81 - ino % 2),
					  .local_lo = 1,
					  .remote_lo = 1};

	tb_fd(tb, tgid, 3, 9, ino, S_IFSOCK, "socket:");
	tb_start(tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
}

void tb_order_text(const struct trace *trace, char *text)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;

	*text = '\0';
	while ((event = trace_cursor_next(cursor)))
		text += sprintf(text, "%s%u@%u ", event->id == TRACE_EV_trace_lost ? "lost:" : "", event->cpu,
				(unsigned int)event->ts_ns);
	if (trace_cursor_end(cursor, NULL) == -ENOMEM)
		strcpy(text, "(no memory)"); /* nothing that a test expects */
}
