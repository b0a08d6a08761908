// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * test_memory.c - the analysis of a trace needs memory for threads and files, not for events: traces of different lengths of the same two hundred
 * threads, and what the kernel says was the most that tracevisualizer held, parts of the file that it has mapped included. What may grow is the
 * directory of the file's chunks, by a fraction of a byte for each event. TRACE_TEST_LONG: up to a hundred million events.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <trace/writer.h>
#include "unit.h"

#define MIB	    (1 << 20)
#define NR_CPUS	    4
#define NR_THREADS  50 /* for each CPU */
#define BLOCK_BYTES 65536
#define START_NS    1000000000ull
#define STATE_S	    1

static char folder[] = "/var/tmp/trace-memory-XXXXXX";

/* ---- a long trace ---- */

/** struct stream - the records of one CPU. @seed: of its own small differences in time and in what the threads do */
struct stream {
	uint32_t cpu;
	uint32_t running; /* index of the thread on it */
	uint32_t seed;
	uint64_t ns;
	uint64_t seq;
	uint64_t base_ns;
	uint32_t nr_records;
	size_t bytes;
	unsigned char records[BLOCK_BYTES];
};

static uint32_t next_random(struct stream *stream)
{
	stream->seed = stream->seed * 1664525 + 1013904223;
	return stream->seed >> 16;
}

static void write_block(struct trace_writer *writer, struct stream *stream, uint16_t kind)
{
	struct trace_source source = {
		.records = stream->records,
		.bytes = stream->bytes,
		.base_ns = stream->base_ns,
		.seq = ++stream->seq,
		.stream = kind == TRACE_CHUNK_EVENTS ? stream->cpu : 1000,
		.cpu = stream->cpu,
		.nr_records = stream->nr_records,
		.kind = kind,
	};
	struct trace_packed *packed = trace_writer_pack(writer, &source, NULL);

	CU_ASSERT_PTR_NOT_NULL_FATAL(packed);
	CU_ASSERT_EQUAL_FATAL(trace_writer_write(writer, packed, NULL), 0);
	stream->bytes = 0;
	stream->nr_records = 0;
}

/* A record, now. Nothing happens at the same time as something else on its CPU. */
static void add(struct stream *stream, uint16_t id, const void *payload, size_t payload_bytes)
{
	size_t bytes = (sizeof(struct trace_record) + payload_bytes + 7) / 8 * 8;
	struct trace_record *record = (struct trace_record *)(stream->records + stream->bytes);

	stream->ns += 200 + next_random(stream) % 1000;
	if (!stream->nr_records)
		stream->base_ns = stream->ns;
	memset(record, 0, bytes);
	*record = (struct trace_record){.time = (uint32_t)stream->ns, .id = id, .words = (uint8_t)(bytes / 8)};
	memcpy(record + 1, payload, payload_bytes);
	stream->bytes += bytes;
	stream->nr_records++;
}

static uint32_t tid_of(const struct stream *stream, uint32_t idx)
{
	return 1000 + stream->cpu * NR_THREADS + idx;
}

/* The thread on the CPU makes a few calls, wakes another, and blocks in a read; the other comes back from one. Returns the events made. */
static uint64_t add_turn(struct stream *stream)
{
	uint32_t next = (stream->running + 1 + next_random(stream) % (NR_THREADS - 1)) % NR_THREADS, calls = 2 + next_random(stream) % 6;
	struct trace_sched_waking waking = {.tid = tid_of(stream, next), .target_cpu = (uint16_t)stream->cpu, .context = TRACE_CONTEXT_TASK};
	struct trace_sched_switch sw = {
		.prev_tid = tid_of(stream, stream->running), .next_tid = tid_of(stream, next), .prev_state = STATE_S, .next_prio = 120};
	struct trace_sys_enter3 call = {.arg2 = 4096};
	struct trace_sys_exit result = {.ret = 4096};

	for (uint32_t i = 0; i < calls; i++) {
		call.nr = next_random(stream) % 2; /* read, write */
		call.arg0 = 3 + next_random(stream) % 20;
		add(stream, TRACE_EV_sys_enter3, &call, sizeof(call));
		add(stream, TRACE_EV_sys_exit, &result, sizeof(result));
	}
	add(stream, TRACE_EV_sched_waking, &waking, sizeof(waking));
	call.nr = 0;
	add(stream, TRACE_EV_sys_enter3, &call, sizeof(call));
	add(stream, TRACE_EV_sched_switch, &sw, sizeof(sw));
	add(stream, TRACE_EV_sys_exit, &result, sizeof(result));
	stream->running = next;
	return 2 * calls + 4;
}

static void write_start_state(struct trace_writer *writer, struct stream *start)
{
	struct {
		struct trace_start_thread thread;
		char comm[16];
	} one = {.thread = {.tgid = 0, .ppid = 1, .prio = 120}};

	for (uint32_t i = 0; i < NR_CPUS * NR_THREADS; i++) {
		one.thread.tid = one.thread.tgid = one.thread.ns_tid = one.thread.ns_tgid = 1000 + i;
		one.thread.cpu = i / NR_THREADS;
		one.thread.running = i % NR_THREADS == 0;
		one.thread.nr = one.thread.running ? -1 : 0;
		one.thread.state = one.thread.running ? 0 : STATE_S;
		snprintf(one.comm, sizeof(one.comm), "worker-%u", i % 20);
		add(start, TRACE_EV_start_thread, &one, sizeof(one));
	}
	write_block(writer, start, TRACE_CHUNK_START_STATE);
}

static uint64_t write_trace(const char *path, uint64_t nr_events)
{
	static struct stream streams[NR_CPUS], start;
	struct trace_writer_options options = {.size = sizeof(options), .start_ns = START_NS, .start_realtime_ns = START_NS};
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	struct trace_stream_stats stats[NR_CPUS + 1];
	uint64_t written = 0, end_ns = 0, made[NR_CPUS] = {0};
	struct trace_writer *writer;

	CU_ASSERT_FATAL(fd >= 0);
	writer = trace_writer_new(fd, &options, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
	memset(&start, 0, sizeof(start));
	start.ns = START_NS;
	write_start_state(writer, &start);
	memset(streams, 0, sizeof(streams));
	for (uint32_t i = 0; i < NR_CPUS; i++)
		streams[i] = (struct stream){.cpu = i, .seed = i, .ns = START_NS + 1000000};
	while (written < nr_events) {
		for (uint32_t i = 0; i < NR_CPUS; i++) {
			uint64_t before = made[i];

			while (streams[i].bytes < BLOCK_BYTES - 2048)
				made[i] += add_turn(&streams[i]);
			written += made[i] - before;
			write_block(writer, &streams[i], TRACE_CHUNK_EVENTS);
			end_ns = streams[i].ns > end_ns ? streams[i].ns : end_ns;
		}
	}
	for (uint32_t i = 0; i < NR_CPUS; i++)
		stats[i] = (struct trace_stream_stats){.stream = i, .cpu = i, .stored = made[i], .attempted = made[i]};
	stats[NR_CPUS] = (struct trace_stream_stats){.stream = 1000, .stored = NR_CPUS * NR_THREADS, .attempted = NR_CPUS * NR_THREADS};
	CU_ASSERT_EQUAL(trace_writer_statistics(writer, stats, NR_CPUS + 1, end_ns, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(trace_writer_finish(writer, NULL), 0);
	trace_writer_free(writer);
	close(fd);
	return written;
}

/* ---- what its analysis takes ---- */

/* Runs tracevisualizer with @option; returns the most memory it held, bytes, or -1 if it failed. */
static long long run_analysis(const char *option, const char *path)
{
	pid_t child = fork();
	struct rusage usage;
	int status;

	if (child == 0) {
		if (!freopen("/dev/null", "w", stdout))
			_exit(126);
		execl(TRACE_BIN "/tracevisualizer", "tracevisualizer", option, path, (char *)NULL);
		_exit(127);
	}
	if (wait4(child, &status, 0, &usage) != child || status)
		return -1;
	return usage.ru_maxrss * 1024ll;
}

struct usage {
	uint64_t events;
	long long analysis, verify;
};

static struct usage measure(uint64_t nr_events, bool verify)
{
	struct usage usage = {0};
	char path[64];

	snprintf(path, sizeof(path), "%s/t.trace", folder);
	usage.events = write_trace(path, nr_events);
	usage.analysis = run_analysis("-a", path);
	CU_ASSERT(usage.analysis > 0);
	if (verify) {
		usage.verify = run_analysis("--verify", path);
		CU_ASSERT(usage.verify > 0);
	}
	fprintf(stderr, "\n    %.1f M events: -a %.1f MiB, --verify %.1f MiB\n", usage.events / 1e6, usage.analysis / (double)MIB, usage.verify / (double)MIB);
	unlink(path);
	return usage;
}

static void memory_does_not_grow_with_events(void)
{
	bool is_long = getenv("TRACE_TEST_LONG") != NULL;
	struct usage few = measure(2000000, true), many = measure(is_long ? 100000000 : 20000000, is_long);
	long long directory = (long long)(many.events - few.events) / 4;

	CU_ASSERT(many.events >= 9 * few.events);
	CU_ASSERT(many.analysis < few.analysis + directory + 16 * MIB);
	CU_ASSERT(many.verify < few.verify + directory + 16 * MIB);
	CU_ASSERT(many.analysis <= 256ll * MIB);
	CU_ASSERT(many.verify <= 256ll * MIB);
}

static const struct unit_case cases[] = {
	{"memory_does_not_grow_with_events", memory_does_not_grow_with_events},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int status;

	if (!mkdtemp(folder))
		return 1;
	status = unit_main("memory of the analysis", cases, argc, argv);
	rmdir(folder);
	return status;
}
