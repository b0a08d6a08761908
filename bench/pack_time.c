/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pack_time.so - preloaded into tracedaemon: what its CPU time would be if packing were free, or if it took the records and forgot them.
 *
 * Before each block of events is packed its records are copied, for the first time that this CPU sees them. With PACK_TIME, the name of a file, the sums of
 * three times stand in it, as numbers of 64 bits: ns of CPU time to copy, to pack, and to go from record to record in the copy, which the first of all steps
 * of packing cannot do without. With PACK_FORGET the copy is all: what is packed is an empty block.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <trace/format.h>
#include <trace/writer.h>
#include <unistd.h>

typedef struct trace_packed *pack_function(struct trace_writer *writer, const struct trace_source *source, struct trace_error *ret_error);

struct sums {
	uint64_t copy_ns;
	uint64_t pack_ns;
	uint64_t walk_ns;
};

static struct {
	pack_function *pack;
	struct sums *sums; /* NULL: nobody wants them */
	bool forgets;
	unsigned char copy[TRACE_RAW_MAX];
	uint32_t times[TRACE_RAW_MAX / 8];
} state;

__attribute__((constructor)) static void prepare(void)
{
	const char *path = getenv("PACK_TIME");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	void *memory = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, 4096) == 0)
		memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	state.pack = (pack_function *)dlsym(RTLD_NEXT, "trace_writer_pack");
	state.sums = memory == MAP_FAILED ? NULL : memory;
	state.forgets = getenv("PACK_FORGET");
	memset(state.copy, 1, 4 << 20); /* its pages are there */
	memset(state.times, 1, 1 << 20);
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static void copy(const struct trace_source *source)
{
	memcpy(state.copy, source->records, source->bytes);
	__asm__ volatile("" ::: "memory");
}

/* The time of each, and nothing else. */
static void walk(const struct trace_source *source)
{
	size_t nr = 0;

	for (size_t at = 0; at < source->bytes;) {
		struct trace_record record;

		memcpy(&record, state.copy + at, sizeof(record));
		if (!record.words)
			break;
		state.times[nr++] = record.time;
		at += (size_t)record.words * 8;
	}
	__asm__ volatile("" ::: "memory");
}

static struct trace_packed *pack_timed(struct trace_writer *writer, const struct trace_source *source, struct trace_error *ret_error)
{
	struct trace_packed *packed;
	uint64_t begin = cpu_ns(), copied, walked;

	copy(source);
	copied = cpu_ns();
	walk(source);
	walked = cpu_ns();
	packed = state.pack(writer, source, ret_error);
	state.sums->copy_ns += copied - begin;
	state.sums->walk_ns += walked - copied;
	state.sums->pack_ns += cpu_ns() - walked;
	return packed;
}

__attribute__((visibility("default"))) struct trace_packed *trace_writer_pack(struct trace_writer *writer, const struct trace_source *source, struct trace_error *ret_error)
{
	struct trace_source nothing = *source;

	if (source->kind != TRACE_CHUNK_EVENTS || source->bytes > sizeof(state.copy))
		return state.pack(writer, source, ret_error);
	if (state.sums)
		return pack_timed(writer, source, ret_error);
	if (!state.forgets)
		return state.pack(writer, source, ret_error);
	copy(source);
	nothing.bytes = 0;
	nothing.nr_records = 0;
	return state.pack(writer, &nothing, ret_error);
}
