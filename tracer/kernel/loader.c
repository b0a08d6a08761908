/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* loader.c - the life cycle of a tracer: open, load, map the rings, start, stop. */
#include "group_hierarchy.h"
#include "loader.h"

#include <bpf/btf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "geometry.h"
#include "constants.h"
#include "follow.h"
#include "not_traced.h"
#include "percpu.h"
#include "probe_attach.h"
#include "programs.h"
#include "ready.h"
#include "samples.h"
#include "syscalls.h"
#include "tracer_maps.h"

#define CAP_BIT_SYS_ADMIN 21
#define CAP_BIT_PERFMON	  38
#define CAP_BIT_BPF	  39
#define NR_WAIT_SLOTS	  65536u /* of 16 bytes; a power of two */

/* By default libbpf prints to stderr; its messages are for developers, not for users. */
int tracer_silent(enum libbpf_print_level level, const char *format, va_list arguments)
{
	if (getenv("TRACER_DEBUG"))
		return vfprintf(stderr, format, arguments);
	return 0;
}

/*
 * Ask the kernel, not /proc: otherwise a lack of memory, of descriptors or of /proc would be
 * reported as missing rights.
 */
static uint64_t effective_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = {0};

	if (syscall(SYS_capget, &header, data) < 0)
		return 0;
	return data[0].effective | (uint64_t)data[1].effective << 32;
}

/* Check for missing rights before the first attempt, to report them clearly. */
static int check_system(struct trace_error *ret_error)
{
	uint64_t capabilities = effective_capabilities();
	bool admin = capabilities >> CAP_BIT_SYS_ADMIN & 1;
	bool bpf = admin || (capabilities >> CAP_BIT_BPF & 1);
	bool perfmon = admin || (capabilities >> CAP_BIT_PERFMON & 1);

	if (!bpf || !perfmon)
		return error_set(ret_error, -EPERM,
				 "recording the kernel needs %s%s%s: run as root (sudo); for a group without it see "
				 "SECURITY in tracedaemon(1)",
				 bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ", perfmon ? "" : "CAP_PERFMON");
	return 0;
}

static int load_types(struct tracer *tracer, struct trace_error *ret_error)
{
	tracer->types = btf__load_vmlinux_btf();
	if (tracer->types)
		return 0;
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		return error_set(ret_error, -ENOTSUP,
				 "cannot read type information from /sys/kernel/btf/vmlinux: memory or file "
				 "descriptors are exhausted, or its format is newer than this program");
	return error_set(ret_error, -ENOTSUP,
			 "/sys/kernel/btf/vmlinux: %s: the kernel has no type information; boot one built with "
			 "CONFIG_DEBUG_INFO_BTF",
			 strerror(errno));
}

static void default_mask(uint64_t mask[TRACE_MASK_WORDS])
{
	enum { ON = 1, STRUCTURAL = 2, OFF = 0 };

	for (int i = 0; i < TRACE_MASK_WORDS; i++)
		if (mask[i])
			return;
#define TRACE_EVENT(id, name, category, classic, program, flags, fields, text, doc) \
	if ((flags)&ON)                                                             \
		mask[(id) / 64] |= 1ULL << ((id) % 64);
#include <trace/events.def>
#undef TRACE_EVENT
}

static struct tracer_geometry geometry(uint32_t subbuf_bytes, uint32_t nr_subbufs)
{
	return (struct tracer_geometry){
		.subbuf_bytes = subbuf_bytes,
		.subbuf_bytes_log2 = (unsigned int)__builtin_ctz(subbuf_bytes),
		.nr_subbufs_log2 = (unsigned int)__builtin_ctz(nr_subbufs),
		.slots_mask = subbuf_bytes * nr_subbufs - 1,
	};
}

static void configure_syscalls(unsigned int actions[2][TRACER_NR_SYSCALLS], bool has_effects[TRACER_NR_SYSCALLS],
			       bool is_filtering)
{
	tracer_syscall_actions(actions, is_filtering);
	for (int nr = 0; nr < TRACER_NR_SYSCALLS; nr++)
		has_effects[nr] = (actions[TRACE_ABI_NATIVE][nr] | actions[TRACE_ABI_32][nr]) >> SYSCALL_PATH_SHIFT;
}

static void configure_constants(struct tracer *tracer)
{
	const struct tracer_options *options = &tracer->options;
	struct tracer_config *config = (struct tracer_config *)&tracer->skeleton->rodata->config;

	config->ring = geometry(options->subbuf_bytes, options->nr_subbufs);
	config->structural = geometry(tracer_structural_subbuf_bytes(options), TRACER_STRUCTURAL_NR_SUBBUFS);
	config->overwrite = options->overwrite;
	config->exclude_tgid = options->exclude_pid == getpid() ? tracer_own_number() : options->exclude_pid;
	config->filter_pid = options->filter_pid > 0 || options->follow;
	config->follow = options->follow;
	config->filter_pgrp = options->filter_pgrp;
	config->filter_by_uid = options->filter_uid >= 0;
	config->filter_uid = (unsigned int)options->filter_uid;
	config->filter_by_gid = options->filter_gid >= 0;
	config->filter_gid = (unsigned int)options->filter_gid;
	config->others_hidden = options->others_hidden;
	config->group_hierarchy = tracer_group_hierarchy();
	config->caller_in_bounds = options->caller == TRACER_CALLER_BOUNDS;
	config->caller_depth = options->caller_depth;
	config->caller_lower = options->caller_lower;
	config->caller_upper = options->caller_upper;
	config->filtering = config->filter_pid || config->filter_pgrp || config->filter_by_uid || config->filter_by_gid;
	config->samples_waits = options->sample_period != 0;
	config->counts = options->sample_period != 0;
	config->data_bytes = options->data_bytes;
	tracer_data_rules((struct tracer_data_rule(*)[TRACER_NR_ARGS])tracer->skeleton->rodata->data_rules);
	config->wait_slots_mask = NR_WAIT_SLOTS - 1;
	config->preempt_count_distance = tracer_percpu_distance(tracer->types, "__preempt_count", "preempt_count");
	config->can_cast = btf__find_by_name_kind(tracer->types, "bpf_rdonly_cast", BTF_KIND_FUNC) > 0; /* since 6.2 */
	if (config->can_cast)
		config->current_task_distance = tracer_percpu_distance(tracer->types, "current_task", "current_task");
	configure_syscalls((unsigned int(*)[TRACER_NR_SYSCALLS])tracer->skeleton->rodata->syscall_actions,
			   (bool *)tracer->skeleton->rodata->syscall_has_effects, config->filtering);
}

/* The last page is slack: the verifier must allow a record of any length anywhere in the ring. */
static size_t ring_value_bytes(uint32_t subbuf_bytes, uint32_t nr_subbufs)
{
	return subbuf_ring_bytes(subbuf_bytes, nr_subbufs) + 4096;
}

static int size_ring_map(struct bpf_map *map, uint32_t nr_cpus, size_t value_bytes)
{
	int result = bpf_map__set_max_entries(map, nr_cpus);

	return result ? result : bpf_map__set_value_size(map, (uint32_t)value_bytes);
}

static int map_rings(struct tracer *tracer, int which, struct bpf_map *map, uint32_t subbuf_bytes, uint32_t nr_subbufs,
		     bool overwrite)
{
	size_t value_bytes = ring_value_bytes(subbuf_bytes, nr_subbufs);
	void *memory;

	tracer->map_bytes[which] = value_bytes * tracer->nr_cpus;
	memory = mmap(NULL, tracer->map_bytes[which], PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	if (memory == MAP_FAILED)
		return -errno;
	tracer->maps[which] = memory;
	for (uint32_t cpu = 0; cpu < tracer->nr_cpus; cpu++) {
		struct tracer_ring *ring = &tracer->rings[2 * cpu + (uint32_t)which];

		subbuf_ring_init(&ring->ring, (unsigned char *)memory + cpu * value_bytes, subbuf_bytes, nr_subbufs,
				 cpu, SUBBUF_PRODUCER_KERNEL, SUBBUF_CLOCK_MONOTONIC, overwrite);
		ring->stream = 2 * cpu + (uint32_t)which;
		ring->cpu = cpu;
		ring->structural = which == 1;
	}
	return 0;
}

static int make_rings(struct tracer *tracer, struct trace_error *ret_error)
{
	const struct tracer_options *options = &tracer->options;
	int result;

	tracer->nr_rings = 2 * (size_t)tracer->nr_cpus;
	tracer->rings = calloc(tracer->nr_rings, sizeof(*tracer->rings));
	if (!tracer->rings)
		return error_set(ret_error, -ENOMEM, "out of memory for %zu rings", tracer->nr_rings);
	result = map_rings(tracer, 0, tracer->skeleton->maps.rings, options->subbuf_bytes, options->nr_subbufs,
			   options->overwrite);
	if (!result)
		result = map_rings(tracer, 1, tracer->skeleton->maps.structural_rings,
				   tracer_structural_subbuf_bytes(options), TRACER_STRUCTURAL_NR_SUBBUFS, false);
	if (result)
		return error_set(ret_error, result, "cannot map the buffers (%u CPUs x %u x %u bytes): %s",
				 tracer->nr_cpus, options->nr_subbufs, options->subbuf_bytes, strerror(-result));
	return 0;
}

static int ignore_wakeup(void *context, void *data, size_t bytes)
{
	return 0;
}

static int follow_first(struct tracer *tracer, struct trace_error *ret_error)
{
	return tracer->options.filter_pid > 0 ? tracer_follow(tracer, tracer->options.filter_pid, ret_error) : 0;
}

/*
 * The kernel compares the global number of a process group, which can differ from its number in a
 * PID namespace.
 */
static int check_namespace(const struct tracer *tracer, struct trace_error *ret_error)
{
	if (!tracer->options.filter_pgrp || tracer_in_first_namespace())
		return 0;
	return error_set(
		ret_error, -ENOTSUP,
		"--pgrp does not work inside a PID namespace: use --pid, or record from outside of the namespace");
}

struct tracer *tracer_new(const struct tracer_options *options, struct trace_error *ret_error)
{
	struct tracer *tracer;
	int result = check_system(ret_error);
	int nr_cpus;

	if (result)
		return NULL;
	tracer = calloc(1, sizeof(*tracer));
	if (!tracer) {
		error_set(ret_error, -ENOMEM, "out of memory");
		return NULL;
	}
	tracer->options.filter_uid = tracer->options.filter_gid = -1;
	if (options)
		memcpy(&tracer->options, options,
		       options->size && options->size < sizeof(*options) ? options->size : sizeof(*options));
	default_mask(tracer->options.mask);
	libbpf_set_print(tracer_silent);
	if (check_namespace(tracer, ret_error) || load_types(tracer, ret_error))
		goto fail;
	nr_cpus = libbpf_num_possible_cpus();
	tracer->nr_cpus = nr_cpus > 0 ? (uint32_t)nr_cpus : 1;
	tracer_choose_geometry(&tracer->options, tracer->nr_cpus);
	tracer->skeleton = tracer_open_programs();
	if (!tracer->skeleton) {
		error_set(ret_error, -errno, "cannot open the BPF programs: %s", strerror(errno));
		goto fail;
	}
	configure_constants(tracer);
	size_ring_map(tracer->skeleton->maps.rings, tracer->nr_cpus,
		      ring_value_bytes(tracer->options.subbuf_bytes, tracer->options.nr_subbufs));
	size_ring_map(tracer->skeleton->maps.structural_rings, tracer->nr_cpus,
		      ring_value_bytes(tracer_structural_subbuf_bytes(&tracer->options), TRACER_STRUCTURAL_NR_SUBBUFS));
	tracer_list_programs(tracer);
	if (tracer_load_programs(tracer, ret_error) || make_rings(tracer, ret_error) || follow_first(tracer, ret_error))
		goto fail;
	if (tracer->options.sample_period && tracer_load_samples(tracer, ret_error))
		goto fail;
	if (tracer_open_code_maps(tracer, ret_error))
		goto fail;
	tracer_make_ready(tracer);
	tracer->wakeups = ring_buffer__new(bpf_map__fd(tracer->skeleton->maps.wakeups), ignore_wakeup, NULL, NULL);
	if (!tracer->wakeups) {
		error_set(ret_error, -errno, "cannot poll the BPF programs: %s", strerror(errno));
		goto fail;
	}
	return tracer;
fail:
	tracer_free(tracer);
	return NULL;
}

struct tracer *tracer_free(struct tracer *tracer)
{
	if (!tracer)
		return NULL;
	tracer_stop(tracer);
	tracer_detach_probes(tracer);
	tracer_free_samples(tracer);
	code_maps_close(&tracer->code_maps);
	tracer_bell_end(tracer);
	ring_buffer__free(tracer->wakeups);
	for (int i = 0; i < 2; i++)
		if (tracer->maps[i])
			munmap(tracer->maps[i], tracer->map_bytes[i]);
	tracer_bpf__destroy(tracer->skeleton);
	btf__free(tracer->types);
	free(tracer->rings);
	free(tracer);
	return NULL;
}

int tracer_poll_fd(const struct tracer *tracer)
{
	return ring_buffer__epoll_fd(tracer->wakeups);
}

void tracer_acknowledge(struct tracer *tracer)
{
	ring_buffer__consume(tracer->wakeups);
}

size_t tracer_nr_rings(const struct tracer *tracer)
{
	return tracer->nr_rings;
}

const struct tracer_ring *tracer_get_ring(const struct tracer *tracer, size_t idx)
{
	return idx < tracer->nr_rings ? &tracer->rings[idx] : NULL;
}

const char *tracer_not_traced(const struct tracer *tracer, size_t idx)
{
	return idx < tracer->nr_not_traced ? tracer->not_traced[idx] : NULL;
}
