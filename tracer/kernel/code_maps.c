/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * code_maps.c - reads the records of mapped code: PERF_RECORD_MMAP2, and PERF_RECORD_COMM where a
 * process begins a new program, from a perf event without samples ("dummy") on each CPU
 *
 * The kernel writes the buffers, so their content is as reliable as the kernel. The times are those
 * of CLOCK_MONOTONIC, as in all events. Each buffer is in order of time; those of several CPUs are
 * sorted.
 */
#include "code_maps.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "error_set.h"

#define PAGE_BYTES   4096u
#define BUFFER_PAGES 128u /* a power of two: some 5,000 records */
#define DATA_BYTES   (BUFFER_PAGES * PAGE_BYTES)
#define MAX_RECORD   65536u /* perf_event_header.size has 16 bits */

struct code_map_buffer {
	int fd;
	struct perf_event_mmap_page *head; /* owned mapping; the data is behind the first page */
};

/* At the end of each record, as sample_id_all asks for. */
struct record_id {
	uint64_t time;
};

struct comm_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	/* and its name */
};

struct map_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t address, bytes, offset;
	uint32_t major, minor;
	uint64_t ino, generation;
	uint32_t prot, flags;
	char path[];
};

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
};

/* ---- open ---- */

static int open_event(uint32_t cpu)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TIME,
		.sample_id_all = 1,
		.disabled = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};

	return (int)syscall(SYS_perf_event_open, &attributes, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static int open_buffer(struct code_map_buffer *buffer, uint32_t cpu)
{
	void *memory;

	buffer->fd = open_event(cpu);
	if (buffer->fd < 0)
		return errno == ENODEV ? 0 : -errno; /* a possible CPU that is not present */
	memory = mmap(NULL, DATA_BYTES + PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, buffer->fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	buffer->head = memory;
	return 0;
}

int code_maps_open(struct code_maps *maps, uint32_t nr_cpus, struct trace_error *ret_error)
{
	int result = 0;

	maps->buffers = calloc(nr_cpus, sizeof(*maps->buffers));
	maps->record = calloc(1, MAX_RECORD);
	if (!maps->buffers || !maps->record)
		return error_set(ret_error, -ENOMEM, "no memory for the mappings of %u CPUs", nr_cpus);
	for (uint32_t cpu = 0; cpu < nr_cpus; cpu++)
		maps->buffers[cpu].fd = -1;
	maps->nr_cpus = nr_cpus;
	for (uint32_t cpu = 0; cpu < nr_cpus && !result; cpu++)
		result = open_buffer(&maps->buffers[cpu], cpu);
	if (result)
		return error_set(ret_error, result, "the kernel does not tell where programs map their code: %s",
				 strerror(-result));
	return 0;
}

void code_maps_close(struct code_maps *maps)
{
	for (uint32_t cpu = 0; cpu < maps->nr_cpus; cpu++) {
		if (maps->buffers[cpu].head)
			munmap(maps->buffers[cpu].head, DATA_BYTES + PAGE_BYTES);
		if (maps->buffers[cpu].fd >= 0)
			close(maps->buffers[cpu].fd);
	}
	free(maps->buffers);
	free(maps->taken);
	free(maps->record);
	*maps = (struct code_maps){0};
}

void code_maps_switch(struct code_maps *maps, bool on)
{
	for (uint32_t cpu = 0; cpu < maps->nr_cpus; cpu++)
		if (maps->buffers[cpu].fd >= 0)
			ioctl(maps->buffers[cpu].fd, on ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
}

/* ---- take ---- */

static struct tracer_code_map *add_taken(struct code_maps *maps)
{
	size_t room = maps->taken_room ? 2 * maps->taken_room : 64;
	struct tracer_code_map *bigger;

	if (maps->nr_taken < maps->taken_room)
		return &maps->taken[maps->nr_taken++];
	bigger = reallocarray(maps->taken, room, sizeof(*bigger));
	if (!bigger) {
		maps->lost++;
		return NULL;
	}
	maps->taken = bigger;
	maps->taken_room = room;
	return &maps->taken[maps->nr_taken++];
}

static void take_map(struct code_maps *maps, const struct map_record *record, size_t bytes, uint64_t ts_ns)
{
	size_t path_bytes = strnlen(record->path, bytes - sizeof(*record));
	struct tracer_code_map *map;

	/* "//anon" and the heap are no files; the kernel's own page has a name in brackets */
	if (!path_bytes || record->path[1] == '/' || (*record->path != '/' && strncmp(record->path, "[vdso]", 6)))
		return;
	map = add_taken(maps);
	if (!map)
		return;
	*map = (struct tracer_code_map){.ts_ns = ts_ns,
					.generation = (uint32_t)record->generation,
					.map = {.pid = record->pid,
						.dev = record->major << 20 | record->minor,
						.start = record->address,
						.end = record->address + record->bytes,
						.ino = record->ino,
						.offset = record->offset}};
	path_bytes = path_bytes < sizeof(map->path) ? path_bytes : sizeof(map->path) - 1;
	memcpy(map->path, record->path, path_bytes);
}

static void take_record(struct code_maps *maps, const struct perf_event_header *header)
{
	struct record_id id;
	struct tracer_code_map *map;

	if (header->size < sizeof(*header) + sizeof(id))
		return;
	memcpy(&id, (const char *)header + header->size - sizeof(id), sizeof(id));
	if (header->type == PERF_RECORD_LOST && header->size >= sizeof(struct lost_record)) {
		maps->lost += ((const struct lost_record *)header)->lost;
	} else if (header->type == PERF_RECORD_MMAP2 && header->size > sizeof(struct map_record) + sizeof(id)) {
		take_map(maps, (const struct map_record *)header, header->size - sizeof(id), id.time);
	} else if (header->type == PERF_RECORD_COMM && (header->misc & PERF_RECORD_MISC_COMM_EXEC)) {
		map = add_taken(maps);
		if (map)
			*map = (struct tracer_code_map){.ts_ns = id.time,
							.map = {.pid = ((const struct comm_record *)header)->pid,
								.exec = true}};
	}
}

/* Copy from the ring: a record may continue at its begin. */
static void copy_out(const unsigned char *data, uint64_t at, unsigned char *to, size_t bytes)
{
	size_t from = at % DATA_BYTES, first = bytes < DATA_BYTES - from ? bytes : DATA_BYTES - from;

	memcpy(to, data + from, first);
	memcpy(to + first, data, bytes - first);
}

static void take_buffer(struct code_maps *maps, struct perf_event_mmap_page *head)
{
	const unsigned char *data = (const unsigned char *)head + PAGE_BYTES;
	uint64_t end = __atomic_load_n(&head->data_head, __ATOMIC_ACQUIRE), at = head->data_tail;
	struct perf_event_header header;

	while (at + sizeof(header) <= end) {
		copy_out(data, at, (unsigned char *)&header, sizeof(header));
		if (header.size < sizeof(header) || at + header.size > end)
			break;
		copy_out(data, at, maps->record, header.size);
		take_record(maps, (const struct perf_event_header *)maps->record);
		at += header.size;
	}
	__atomic_store_n(&head->data_tail, end, __ATOMIC_RELEASE);
}

static int by_time(const void *left, const void *right)
{
	const struct tracer_code_map *l = left, *r = right;

	return (l->ts_ns > r->ts_ns) - (l->ts_ns < r->ts_ns);
}

uint64_t code_maps_take(struct code_maps *maps, tracer_code_map_fn fn, void *context)
{
	maps->nr_taken = 0;
	for (uint32_t cpu = 0; cpu < maps->nr_cpus; cpu++)
		if (maps->buffers[cpu].head)
			take_buffer(maps, maps->buffers[cpu].head);
	if (maps->nr_taken > 1)
		qsort(maps->taken, maps->nr_taken, sizeof(*maps->taken), by_time);
	for (size_t i = 0; i < maps->nr_taken; i++)
		fn(context, &maps->taken[i]);
	return maps->lost;
}
