/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * pack_time.so - preloaded into tracedaemon: what its CPU time would be if packing were free.
 *
 * Before each block of events is packed its records are copied, for the first time that this CPU sees them. Both are timed, and the sums stand in the file that
 * the environment's PACK_TIME names, as two numbers of 64 bits: ns of CPU time to copy, ns to pack.
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

static struct {
	pack_function *pack;
	uint64_t *sums; /* NULL: nobody wants them */
	unsigned char copy[TRACE_RAW_MAX];
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
	memset(state.copy, 1, 4 << 20); /* its pages are there */
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

__attribute__((visibility("default"))) struct trace_packed *trace_writer_pack(struct trace_writer *writer, const struct trace_source *source, struct trace_error *ret_error)
{
	struct trace_packed *packed;
	uint64_t begin, middle;

	if (!state.sums || source->kind != TRACE_CHUNK_EVENTS || source->bytes > sizeof(state.copy))
		return state.pack(writer, source, ret_error);
	begin = cpu_ns();
	memcpy(state.copy, source->records, source->bytes);
	__asm__ volatile("" ::: "memory");
	middle = cpu_ns();
	packed = state.pack(writer, source, ret_error);
	state.sums[0] += middle - begin;
	state.sums[1] += cpu_ns() - middle;
	return packed;
}
