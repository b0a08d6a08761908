/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_memory.c - the analysis of a trace needs memory for threads and files, not for events.
 *
 * The test analyzes traces of different lengths with the same two hundred threads, and reads from
 * the kernel the maximum memory that tracevisualizer held, including mapped parts of the file. Only
 * the directory of the file's chunks may grow, by a fraction of a byte for each event.
 * TRACE_TEST_LONG: up to a hundred million events.
 *
 * The analysis also forgets pipes, sockets, files and paths that no process has open any more and
 * no report names. Processes, and the files that they read, are named in reports and do take
 * memory; the test limits that as well.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <malloc.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/sched.h>
#include <unistd.h>
#include <trace/analysis.h>
#include <trace/servers.h>
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

/**
 * struct stream - the records of one CPU
 * @seed: of its own small differences in time and in the threads' actions
 */
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

/* The analysis knows calls by their names. */
static void name_calls(struct trace_writer *writer)
{
	static const struct {
		uint32_t nr;
		const char *name;
	} names[] = {
#define CALL(name) {SYS_##name, #name}
		CALL(accept),	  CALL(access), CALL(arch_prctl), CALL(connect),
		CALL(brk),	  CALL(clone),	CALL(close),	  CALL(execve),
		CALL(exit_group), CALL(fstat),	CALL(futex),	  CALL(getrandom),
		CALL(ioctl),	  CALL(mmap),	CALL(mprotect),	  CALL(munmap),
		CALL(newfstatat), CALL(openat), CALL(pipe2),	  CALL(pread64),
		CALL(prlimit64),  CALL(read),	CALL(rseq),	  CALL(set_tid_address),
		CALL(socketpair), CALL(statfs), CALL(wait4),	  CALL(write),
#undef CALL
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		CU_ASSERT_EQUAL_FATAL(trace_writer_string(writer, TRACE_STRING_SYSCALL, names[i].nr, names[i].name), 0);
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

/* Adds a record now. Times on a CPU are all different. */
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

/* The thread on the CPU makes a few calls, wakes another, and blocks in a read; the other returns
 * from one. Returns the number of events. */
static uint64_t add_turn(struct stream *stream)
{
	uint32_t next = (stream->running + 1 + next_random(stream) % (NR_THREADS - 1)) % NR_THREADS,
		 calls = 2 + next_random(stream) % 6;
	struct trace_sched_waking waking = {.tid = tid_of(stream, next),
					    .target_cpu = (uint16_t)stream->cpu,
					    .context = TRACE_CONTEXT_TASK};
	struct trace_sched_switch sw = {.prev_tid = tid_of(stream, stream->running),
					.next_tid = tid_of(stream, next),
					.prev_state = STATE_S,
					.next_prio = 120};
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
	struct trace_writer_options options = {.size = sizeof(options),
					       .start_ns = START_NS,
					       .start_realtime_ns = START_NS};
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	struct trace_stream_stats stats[NR_CPUS + 1];
	uint64_t written = 0, end_ns = 0, made[NR_CPUS] = {0};
	struct trace_writer *writer;

	CU_ASSERT_FATAL(fd >= 0);
	writer = trace_writer_new(fd, &options, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
	name_calls(writer);
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
	stats[NR_CPUS] = (struct trace_stream_stats){.stream = 1000,
						     .stored = NR_CPUS * NR_THREADS,
						     .attempted = NR_CPUS * NR_THREADS};
	CU_ASSERT_EQUAL(trace_writer_statistics(writer, stats, NR_CPUS + 1, end_ns, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(trace_writer_finish(writer, NULL), 0);
	trace_writer_free(writer);
	close(fd);
	return written;
}

/* ---- memory of the analysis ---- */

/* Runs tracevisualizer with @option. Returns the maximum of memory that it held, in bytes, or -1 if
 * it failed. */
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
	fprintf(stderr, "\n    %.1f M events: -a %.1f MiB, --verify %.1f MiB\n", usage.events / 1e6,
		usage.analysis / (double)MIB, usage.verify / (double)MIB);
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

/* ---- objects that are created and closed ---- */

#define DISK	  0xfe0001u
#define TREE_TID  1000u
#define TREE_TIDS 30000u

/**
 * struct object_life - a trace of one CPU on which one thread creates, uses and closes @nr objects
 */
struct object_life {
	struct trace_writer *writer;
	struct stream stream;
	uint64_t made;
	uint64_t ino;
};

static void add_in(struct object_life *life, uint16_t id, const void *payload, size_t payload_bytes)
{
	if (life->stream.bytes > BLOCK_BYTES - 2048)
		write_block(life->writer, &life->stream, TRACE_CHUNK_EVENTS);
	add(&life->stream, id, payload, payload_bytes);
	life->made++;
}

static void enters(struct object_life *life, uint32_t nr, uint64_t arg0, uint64_t arg1)
{
	struct trace_sys_enter3 call = {.nr = nr, .arg0 = arg0, .arg1 = arg1};

	add_in(life, TRACE_EV_sys_enter3, &call, sizeof(call));
}

static void leaves(struct object_life *life, int64_t ret)
{
	struct trace_sys_exit result = {.ret = ret};

	add_in(life, TRACE_EV_sys_exit, &result, sizeof(result));
}

static void calls(struct object_life *life, uint32_t nr, uint64_t arg0, int64_t ret)
{
	enters(life, nr, arg0, 0);
	leaves(life, ret);
}

static void gives_path(struct object_life *life, uint32_t nr, const char *path)
{
	struct {
		struct trace_sys_path path;
		char text[128];
	} event = {.path = {.nr = nr}};

	snprintf(event.text, sizeof(event.text), "%s", path);
	add_in(life, TRACE_EV_sys_path, &event, sizeof(event.path) + strlen(path) + 1);
}

static void gets_file(struct object_life *life, int fd, uint32_t dev, uint64_t ino, uint32_t mode, uint32_t flags,
		      const char *path)
{
	struct {
		struct trace_fs_open open;
		char text[128];
	} event = {.open = {.fd = fd, .flags = flags, .dev = dev, .mode = mode, .ino = ino}};

	snprintf(event.text, sizeof(event.text), "%s", path);
	add_in(life, TRACE_EV_fs_open, &event, sizeof(event.open) + strlen(path) + 1);
}

static void pipe_lives(struct object_life *life, uint32_t i)
{
	uint64_t ino = ++life->ino;

	enters(life, SYS_pipe2, 0, 0);
	gets_file(life, 3, 13, ino, S_IFIFO | 0600, 0, "");
	gets_file(life, 4, 13, ino, S_IFIFO | 0600, 1, "");
	leaves(life, 0);
	calls(life, SYS_write, 4, 1);
	calls(life, SYS_read, 3, 1);
	calls(life, SYS_close, 3, 0);
	calls(life, SYS_close, 4, 0);
}

static void socket_pair_lives(struct object_life *life, uint32_t i)
{
	struct trace_sock_endpoints ends[2] = {{.fd = 3, .family = AF_UNIX, .type = SOCK_STREAM, .state = 1}};
	struct trace_sock_send transfer = {.ret = 1, .family = AF_UNIX};

	ends[1] = ends[0];
	ends[1].fd = 4;
	ends[0].ino = ends[1].peer_ino = ++life->ino;
	ends[1].ino = ends[0].peer_ino = ++life->ino;
	enters(life, SYS_socketpair, AF_UNIX, 0);
	for (int end = 0; end < 2; end++) {
		gets_file(life, 3 + end, 8, ends[end].ino, S_IFSOCK | 0777, 0, "");
		add_in(life, TRACE_EV_sock_endpoints, &ends[end], sizeof(ends[end]));
	}
	leaves(life, 0);
	for (int end = 0; end < 2; end++) {
		enters(life, end ? SYS_read : SYS_write, 3 + (uint64_t)end, 0);
		transfer.ino = ends[end].ino;
		add_in(life, end ? TRACE_EV_sock_recv : TRACE_EV_sock_send, &transfer, sizeof(transfer));
		leaves(life, 1);
	}
	calls(life, SYS_close, 3, 0);
	calls(life, SYS_close, 4, 0);
}

static void changes_state(struct object_life *life, uint64_t ino, uint16_t from, uint16_t to)
{
	struct trace_sock_state state = {
		.ino = ino, .family = AF_INET, .protocol = 6, .old_state = from, .new_state = to};

	add_in(life, TRACE_EV_sock_state, &state, sizeof(state));
}

/* To a listener that need not be known; request, answer, closed at both ends. */
static void connection_lives(struct object_life *life, uint32_t i)
{
	static const uint64_t localhost = 0x0100007fffff0000ull;
	struct trace_sock_endpoints ends[2];
	struct trace_sock_send transfer = {.ret = 1, .family = AF_INET, .protocol = 6};

	for (int end = 0; end < 2; end++) {
		ends[end] = (struct trace_sock_endpoints){.fd = 3 + end,
							  .ino = ++life->ino,
							  .family = AF_INET,
							  .type = SOCK_STREAM,
							  .protocol = 6,
							  .state = 1,
							  .local_lo = localhost,
							  .remote_lo = localhost};
		ends[end].local_port = end ? 80 : (uint16_t)(1024 + i % 60000);
		ends[end].remote_port = end ? (uint16_t)(1024 + i % 60000) : 80;
		enters(life, end ? SYS_accept : SYS_connect, end ? 5 : 3, 0);
		gets_file(life, 3 + end, 8, ends[end].ino, S_IFSOCK | 0777, 0, "");
		add_in(life, TRACE_EV_sock_endpoints, &ends[end], sizeof(ends[end]));
		leaves(life, end ? 4 : 0);
	}
	for (int end = 0; end < 2; end++) {
		enters(life, end ? SYS_read : SYS_write, 3 + (uint64_t)end, 0);
		transfer.ino = ends[end].ino;
		transfer.position = 2;
		add_in(life, end ? TRACE_EV_sock_recv : TRACE_EV_sock_send, &transfer, sizeof(transfer));
		leaves(life, 1);
	}
	for (int end = 0; end < 2; end++) {
		enters(life, SYS_close, 3 + (uint64_t)end, 0);
		changes_state(life, ends[end].ino, end ? 8 : 1, end ? 9 : 4);
		leaves(life, 0);
	}
}

static void file_is_looked_at(struct object_life *life, uint32_t i)
{
	char path[100];

	snprintf(path, sizeof(path), "/home/tester/projects/toolkit/build/objects/part-%u.o", i);
	enters(life, SYS_newfstatat, 0, 0);
	gives_path(life, SYS_newfstatat, path);
	leaves(life, -2);
	enters(life, SYS_openat, 0, 0);
	gives_path(life, SYS_openat, path);
	gets_file(life, 3, DISK, 100 + i, S_IFREG | 0644, 0, path);
	leaves(life, 3);
	calls(life, SYS_fstat, 3, 0);
	calls(life, SYS_close, 3, 0);
}

static void file_is_read(struct object_life *life, uint32_t i)
{
	char path[100];

	snprintf(path, sizeof(path), "/home/tester/projects/toolkit/build/objects/part-%u.o", i);
	enters(life, SYS_openat, 0, 0);
	gives_path(life, SYS_openat, path);
	gets_file(life, 3, DISK, 100 + i, S_IFREG | 0644, 0, path);
	leaves(life, 3);
	calls(life, SYS_read, 3, 4096);
	calls(life, SYS_close, 3, 0);
}

static void turns_to(struct object_life *life, uint32_t prev, uint32_t next, uint32_t state)
{
	struct trace_sched_switch sw = {.prev_tid = prev, .next_tid = next, .prev_state = state, .next_prio = 120};

	add_in(life, TRACE_EV_sched_switch, &sw, sizeof(sw));
}

/* As many calls, descriptors and mappings as a small command makes. */
static void command_runs(struct object_life *life, uint32_t i)
{
	static const uint32_t some_calls[] = {SYS_brk,	      SYS_access, SYS_fstat,	       SYS_pread64,
					      SYS_mprotect,   SYS_munmap, SYS_prlimit64,       SYS_getrandom,
					      SYS_ioctl,      SYS_statfs, SYS_set_tid_address, SYS_rseq,
					      SYS_arch_prctl, SYS_futex};
	uint32_t tid = TREE_TID + 1 + i % TREE_TIDS;
	struct {
		struct trace_sched_fork fork;
		char comm[16];
	} fork = {.fork = {.parent_tid = TREE_TID, .tid = tid, .tgid = tid, .ns_tid = tid, .clone_flags = 17},
		  .comm = "make"};
	struct {
		struct trace_sched_exec exec;
		char path[32];
	} exec = {.exec = {.tid = tid, .old_tid = tid}, .path = "/usr/bin/true"};
	struct trace_sched_wakeup_new wakeup = {.tid = tid};
	struct trace_sched_waking waking = {.tid = TREE_TID, .context = TRACE_CONTEXT_TASK};
	struct trace_sched_exit exit = {.tid = tid, .tgid = tid, .group_dead = 1};
	struct trace_sched_free gone = {.tid = tid};
	struct trace_sys_enter6 map = {.nr = SYS_mmap, .arg1 = 8192, .arg3 = 2, .arg4 = 3};

	enters(life, SYS_clone, 0, 0);
	add_in(life, TRACE_EV_sched_fork, &fork, sizeof(fork));
	add_in(life, TRACE_EV_sched_wakeup_new, &wakeup, sizeof(wakeup));
	leaves(life, tid);
	enters(life, SYS_wait4, tid, 0);
	turns_to(life, TREE_TID, tid, STATE_S);
	leaves(life, 0);
	enters(life, SYS_execve, 0, 0);
	add_in(life, TRACE_EV_sched_exec, &exec, sizeof(exec));
	leaves(life, 0);
	enters(life, SYS_openat, 0, 0);
	gets_file(life, 3, DISK, 7, S_IFREG | 0644, 0, "/usr/lib/libc.so.6");
	leaves(life, 3);
	calls(life, SYS_read, 3, 832);
	for (uint64_t at = 0; at < 5; at++) {
		add_in(life, TRACE_EV_sys_enter6, &map, sizeof(map));
		leaves(life, (int64_t)(0x7f0000000000 + at * 16384));
	}
	for (size_t at = 0; at < sizeof(some_calls) / sizeof(some_calls[0]); at++)
		calls(life, some_calls[at], 3, 0);
	calls(life, SYS_write, 1, 10);
	calls(life, SYS_close, 3, 0);
	enters(life, SYS_exit_group, 0, 0);
	add_in(life, TRACE_EV_sched_exit, &exit, sizeof(exit));
	add_in(life, TRACE_EV_sched_waking, &waking, sizeof(waking));
	turns_to(life, tid, TREE_TID, TRACE_TASK_DEAD);
	add_in(life, TRACE_EV_sched_free, &gone, sizeof(gone));
	leaves(life, tid);
}

static void write_life(const char *path, uint32_t nr, void (*lives)(struct object_life *, uint32_t))
{
	static struct object_life life;
	struct trace_writer_options options = {.size = sizeof(options),
					       .start_ns = START_NS,
					       .start_realtime_ns = START_NS};
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	struct trace_stream_stats stats;

	CU_ASSERT_FATAL(fd >= 0);
	memset(&life, 0, sizeof(life));
	life.writer = trace_writer_new(fd, &options, NULL);
	life.stream.ns = START_NS;
	life.ino = 1000;
	CU_ASSERT_PTR_NOT_NULL_FATAL(life.writer);
	name_calls(life.writer);
	turns_to(&life, 1, TREE_TID, STATE_S);
	for (uint32_t i = 0; i < nr; i++)
		lives(&life, i);
	write_block(life.writer, &life.stream, TRACE_CHUNK_EVENTS);
	stats = (struct trace_stream_stats){.stored = life.made, .attempted = life.made};
	CU_ASSERT_EQUAL(trace_writer_statistics(life.writer, &stats, 1, life.stream.ns, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(trace_writer_finish(life.writer, NULL), 0);
	trace_writer_free(life.writer);
	close(fd);
}

static size_t in_use(void)
{
	struct mallinfo2 info = mallinfo2();

	return info.uordblks + info.hblkhd;
}

/* The memory that the analysis holds at the end of a trace with @nr of them; @with_servers:
 * including the bills of servers. */
static long long held_for(uint32_t nr, void (*lives)(struct object_life *, uint32_t), bool with_servers)
{
	struct trace_error error = {0};
	struct trace_analysis *analysis;
	struct trace_servers *servers = NULL;
	struct trace *trace;
	size_t before;
	char path[64];

	snprintf(path, sizeof(path), "%s/t.trace", folder);
	write_life(path, nr, lives);
	trace = trace_open(path, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	before = in_use();
	analysis = trace_analysis_new(trace, NULL, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(analysis);
	if (with_servers)
		servers = trace_servers_new(trace, analysis, &error);
	CU_ASSERT_EQUAL(trace_analysis_run(analysis, &error), 0);
	before = in_use() - before;
	CU_ASSERT_EQUAL(trace_analysis_verify(analysis, &error), 0);
	CU_ASSERT_EQUAL(trace_analysis_inconsistencies(analysis), 0);
	trace_servers_free(servers);
	trace_analysis_free(analysis);
	trace_close(trace);
	unlink(path);
	return (long long)before;
}

/* Bytes for each object beyond @few, with four times as many. TRACE_TEST_LONG: with a million. */
static double price_beyond(uint32_t few, const char *what, void (*lives)(struct object_life *, uint32_t),
			   bool with_servers)
{
	uint32_t many = getenv("TRACE_TEST_LONG") ? 1000000 : 4 * few;
	double price = (double)(held_for(many, lives, with_servers) - held_for(few, lives, with_servers)) /
		       (many - few);

	fprintf(stderr, "\n    %.0f bytes for each %s%s ", price, what,
		with_servers ? ", with its part of the bills of servers" : "");
	return price;
}

static double price_of(const char *what, void (*lives)(struct object_life *, uint32_t), bool with_servers)
{
	return price_beyond(30000, what, lives, with_servers);
}

static void closed_objects_are_forgotten(void)
{
	CU_ASSERT(price_of("pipe", pipe_lives, false) < 2);
	CU_ASSERT(price_of("pair of unix sockets", socket_pair_lives, false) < 2);
	/* its memory comes in pieces of 4 MB */
	CU_ASSERT(price_beyond(120000, "file that was opened", file_is_looked_at, false) < 10);
	CU_ASSERT(price_of("connection", connection_lives, false) < 2);
	CU_ASSERT(price_of("pipe", pipe_lives, true) < 4);
	CU_ASSERT(price_of("pair of unix sockets", socket_pair_lives, true) < 4);
	CU_ASSERT(price_of("connection", connection_lives, true) < 4);
}

static void objects_in_reports_take_little_memory(void)
{
	CU_ASSERT(price_beyond(60000, "file that was read", file_is_read, false) < 330); /* the same */
	CU_ASSERT(price_of("process", command_runs, false) < 2150);
	CU_ASSERT(price_of("process", command_runs, true) < 3250);
}

static const struct unit_case cases[] = {
	{"memory_does_not_grow_with_events", memory_does_not_grow_with_events},
	{"closed_objects_are_forgotten", closed_objects_are_forgotten},
	{"objects_in_reports_take_little_memory", objects_in_reports_take_little_memory},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int status;

	if (!mkdtemp(folder))
		return 1;
	/* freeing memory raises the threshold; a mapping of its own counts with its padding */
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
	status = unit_main("memory of the analysis", cases, argc, argv);
	rmdir(folder);
	return status;
}
