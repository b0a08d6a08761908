/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pack_time.so - a library to preload into tracedaemon, which replaces trace_writer_pack().
 *
 * It answers two questions: how much CPU time would the daemon need if packing were free, and how
 * much if it only copied the records and dropped them?
 *
 * The library copies the records of each block before it packs the block, so that the copy pays
 * for fetching them from another CPU's cache. With PACK_TIME=FILE it writes three 64-bit sums to
 * FILE: the ns of CPU time to copy, to pack, and to go from record to record in the copy, a step
 * that no way of packing can avoid. With PACK_DROP it packs an empty block after the copy.
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
#include "clock_ns.h"

typedef struct trace_packed *pack_function(struct trace_writer *writer, const struct trace_source *source,
					   struct trace_error *ret_error);

struct sums {
	uint64_t copy_ns;
	uint64_t pack_ns;
	uint64_t walk_ns;
};

static struct {
	pack_function *pack;
	struct sums *sums; /* NULL: PACK_TIME is not set */
	bool drops;
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
	state.drops = getenv("PACK_DROP");
	memset(state.copy, 1, 4 << 20); /* touch the pages now, not while the time is measured */
	memset(state.times, 1, 1 << 20);
}

static uint64_t cpu_ns(void)
{
	return clock_read_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void copy(const struct trace_source *source)
{
	memcpy(state.copy, source->records, source->bytes);
	__asm__ volatile("" ::: "memory");
}

/* Reads the header of each record, and nothing else. */
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

static struct trace_packed *pack_timed(struct trace_writer *writer, const struct trace_source *source,
				       struct trace_error *ret_error)
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

__attribute__((visibility("default"))) struct trace_packed *trace_writer_pack(struct trace_writer *writer,
									      const struct trace_source *source,
									      struct trace_error *ret_error)
{
	struct trace_source nothing = *source;

	if (source->kind != TRACE_CHUNK_EVENTS || source->bytes > sizeof(state.copy))
		return state.pack(writer, source, ret_error);
	if (state.sums)
		return pack_timed(writer, source, ret_error);
	if (!state.drops)
		return state.pack(writer, source, ret_error);
	copy(source);
	nothing.bytes = 0;
	nothing.nr_records = 0;
	return state.pack(writer, &nothing, ret_error);
}
