/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * limit.c - run a command under BPF programs that do almost nothing, to measure the minimum cost.
 *
 * limit attached: print the names of all places to which BPF programs are attached now, one a line:
 *	tracepoints, and the perf events page-faults-min and page-faults-maj
 * limit on NAME,... COMMAND: run COMMAND with a program on each NAME that only reads the clock
 * limit OBJECT KIND COMMAND: run COMMAND with the programs of OBJECT (limit.bpf.o) of one KIND
 *	(clock, path, record); a thread reads their records and drops them
 *
 * The exit status is the command's.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "limit_ring.h"

/* The perf events at the end of a page fault, because not every kernel has a tracepoint there. */
static const struct faults {
	const char *name;
	unsigned int config;
} faults[] = {{"page-faults-min", PERF_COUNT_SW_PAGE_FAULTS_MIN}, {"page-faults-maj", PERF_COUNT_SW_PAGE_FAULTS_MAJ}};

/* The part of bpf_link_info for a perf event, since Linux 6.6; older kernels write zeros. */
struct perf_event_link {
	uint32_t type, id, program;
	uint32_t pad0;
	uint32_t kind, pad1;
	uint64_t config;
};

static int run(char **command)
{
	int status;

	if (fork() == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	wait(&status);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* ---- attached ---- */

static int name_attached(void)
{
	bool seen[2] = {false, false};
	unsigned int id = 0;

	while (bpf_link_get_next_id(id, &id) == 0) {
		char tracepoint[128] = "";
		union {
			struct bpf_link_info link;
			struct perf_event_link perf;
			char newer[256];
		} info = {.link.raw_tracepoint = {.tp_name = (uintptr_t)tracepoint, .tp_name_len = sizeof(tracepoint)}};
		unsigned int bytes = sizeof(info);
		int fd = bpf_link_get_fd_by_id(id);

		if (fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0) {
			if (info.link.type == BPF_LINK_TYPE_RAW_TRACEPOINT)
				puts(tracepoint);
			for (int i = 0; i < 2 && info.link.type == BPF_LINK_TYPE_PERF_EVENT; i++)
				seen[i] |= info.perf.config == faults[i].config || info.perf.config == 0;
		}
		if (fd >= 0)
			close(fd);
	}
	for (int i = 0; i < 2; i++)
		if (seen[i])
			puts(faults[i].name);
	return 0;
}

/* ---- on ---- */

static int load_clock(enum bpf_prog_type type, const char *place, unsigned int tracepoint)
{
	char name[16]; /* l_ and the name of the attachment, cut to fit */
	const struct bpf_insn program[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_ktime_get_ns},
		{.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options);

	snprintf(name, sizeof(name), "l_%.13s", place);
	for (char *letter = name; *letter; letter++)
		if (*letter == '-')
			*letter = '_';
	if (type == BPF_PROG_TYPE_TRACING) {
		options.expected_attach_type = BPF_TRACE_RAW_TP;
		options.attach_btf_id = tracepoint;
	}
	return bpf_prog_load(type, name, "GPL", program, sizeof(program) / sizeof(program[0]), &options);
}

static int attach_to_faults(const char *name, unsigned int config)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes), .type = PERF_TYPE_SOFTWARE, .config = config, .sample_period = 1};
	int program = load_clock(BPF_PROG_TYPE_PERF_EVENT, name, 0), nr_attached = 0;

	for (int cpu = 0; cpu < libbpf_num_possible_cpus(); cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

		nr_attached += fd >= 0 && bpf_link_create(program, fd, BPF_PERF_EVENT, NULL) >= 0;
	}
	return nr_attached ? 0 : -1;
}

/* The descriptors stay open until this process ends, and that detaches the programs. */
static int attach_clock(const struct btf *types, const char *name)
{
	char typedef_name[128];
	int id, program;

	for (int i = 0; i < 2; i++)
		if (strcmp(name, faults[i].name) == 0)
			return attach_to_faults(name, faults[i].config);
	snprintf(typedef_name, sizeof(typedef_name), "btf_trace_%s", name);
	id = btf__find_by_name_kind(types, typedef_name, BTF_KIND_TYPEDEF);
	program = id > 0 ? load_clock(BPF_PROG_TYPE_TRACING, name, (unsigned int)id) : -1;
	return program >= 0 && bpf_raw_tracepoint_open(NULL, program) >= 0 ? 0 : -1;
}

static int run_with_clocks(char *names, char **command)
{
	struct btf *types = btf__load_vmlinux_btf();

	for (char *name = strtok(names, ","); types && name; name = strtok(NULL, ",")) {
		if (attach_clock(types, name)) {
			fprintf(stderr, "limit: %s: no program can be attached: %s\n", name, strerror(errno));
			return 1;
		}
	}
	btf__free(types);
	return types ? run(command) : 1;
}

/* ---- OBJECT KIND ---- */

/** struct reader - reads the rings of all CPUs. @read: for each ring, the bytes read so far */
struct reader {
	const struct limit_ring *rings; /* mapped until the process ends */
	int nr;
	__u64 *read; /* owned; lives until the process ends */
};

static __u64 read_new(const struct limit_ring *ring, __u64 *read)
{
	__u64 end = __atomic_load_n(&ring->commit, __ATOMIC_ACQUIRE), sum = 0;

	for (; *read < end; *read += 16)
		sum += ring->words[(*read & (LIMIT_RING_BYTES - 16)) / 8];
	return sum;
}

/* The reader thread; it runs until the process ends. */
static void *read_rings(void *argument)
{
	const struct timespec nap = {0, 1000000};
	struct reader *reader = argument;
	volatile __u64 seen;

	for (;;) {
		for (int cpu = 0; cpu < reader->nr; cpu++)
			seen = read_new(&reader->rings[cpu], &reader->read[cpu]);
		(void)seen;
		nanosleep(&nap, NULL);
	}
	return NULL;
}

/*
 * MAP_POPULATE touches all pages, as the daemon does, so no BPF program is the first to touch
 * one.
 */
static bool reader_start(struct reader *reader, int map)
{
	size_t bytes;
	pthread_t thread;
	void *memory;

	reader->nr = libbpf_num_possible_cpus();
	bytes = (size_t)reader->nr * sizeof(*reader->rings);
	memory = mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, map, 0);
	reader->rings = memory;
	reader->read = calloc((size_t)reader->nr, sizeof(*reader->read));
	return memory != MAP_FAILED && reader->read && pthread_create(&thread, NULL, read_rings, reader) == 0;
}

static int run_with_kind(const char *path, const char *kind, char **command)
{
	struct bpf_object *object = bpf_object__open_file(path, NULL);
	struct bpf_map *rings = object ? bpf_object__find_map_by_name(object, "rings") : NULL;
	struct bpf_program *program;
	static struct reader reader; /* static, because its thread outlives this call */
	int result;

	if (!rings || bpf_map__set_max_entries(rings, (unsigned int)libbpf_num_possible_cpus()) ||
	    bpf_object__load(object) || !reader_start(&reader, bpf_map__fd(rings))) {
		fprintf(stderr, "limit: %s cannot be loaded\n", path);
		return 1;
	}
	bpf_object__for_each_program(program, object)
		if (strncmp(bpf_program__name(program), kind, strlen(kind)) == 0 && !bpf_program__attach(program))
			return 1;
	result = run(command);
	bpf_object__close(object);
	return result;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "attached") == 0)
		return name_attached();
	if (argc > 3 && strcmp(argv[1], "on") == 0)
		return run_with_clocks(argv[2], argv + 3);
	if (argc > 3)
		return run_with_kind(argv[1], argv[2], argv + 3);
	fprintf(stderr, "usage: limit attached | on NAME,... COMMAND | OBJECT KIND COMMAND\n");
	return 2;
}
