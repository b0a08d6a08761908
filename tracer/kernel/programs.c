/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * programs.c - lists the programs, and loads those that this kernel accepts
 *
 * A program belongs to the events that name it in the catalogue; a program called NAME__variant
 * belongs to the events of NAME. Two steps find what the kernel does not have. A program is not
 * tried if its tracepoint has no type in the kernel's BTF. If loading all programs together fails,
 * those that the kernel refuses alone are left out.
 */
#include "programs.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "loader.h"
#include "constants.h"
#include "read_end.h"

struct catalogue_row {
	uint32_t event;
	const char *name;
	const char *program;
};

static const struct catalogue_row catalogue[] = {
#define TRACE_EVENT(id, event, category, classic, bpf_program, flags, fields, text, doc) {id, #event, #bpf_program},
#include <trace/events.def>
#undef TRACE_EVENT
};
#define NR_ROWS (sizeof(catalogue) / sizeof(catalogue[0]))

/* The length of NAME in NAME or NAME__variant. */
size_t tracer_stem_length(const char *program)
{
	const char *variant = strstr(program, "__");

	return variant ? (size_t)(variant - program) : strlen(program);
}

static bool same_stem(const char *program, const char *name)
{
	size_t length = tracer_stem_length(program);

	return strncmp(program, name, length) == 0 && name[length] == '\0';
}

bool tracer_program_serves(const struct tracer_program *program, uint32_t event)
{
	for (size_t i = 0; i < NR_ROWS; i++)
		if (catalogue[i].event == event)
			return same_stem(bpf_program__name(program->program), catalogue[i].program);
	return false;
}

static uint32_t main_event(const char *program)
{
	for (size_t i = 0; i < NR_ROWS; i++)
		if (same_stem(program, catalogue[i].name))
			return catalogue[i].event;
	return 0;
}

static bool is_iterator(const struct bpf_program *program)
{
	return strncmp(bpf_program__section_name(program), "iter/", 5) == 0;
}

/* Tracepoints with other arguments in other kernels: with another number of arguments the
 * program would read wrong ones. */
static const struct {
	const char *program;
	int nr_arguments;
} arguments[] = {
	{"sched_switch", 4},	       /* earlier without prev_state */
	{"sched_exit", 2},	       /* since 6.13 */
	{"sched_exit__task", 1},       /* 6.1 */
	{"fs_throttle", 8},	       /* 6.18 */
	{"fs_throttle__limits", 12},   /* 6.1 */
	{"fault_exit__counted", 3},    /* 6.18 */
	{"oom_kill", 2},	       /* earlier only a number */
	{"compact_begin", 4},	       /* before 5.19 without struct compact_control, but with two more page numbers */
	{"compact_end", 5},	       /* the same */
	{"reclaim_begin__direct", 2},  /* after 6.18 with the control group, in another order */
	{"reclaim_begin__memcg", 2},   /* the same */
	{"uring_complete", 3},	       /* 6.18 */
	{"uring_complete__values", 7}, /* 6.1: values instead of the entry */
};

static int nr_arguments_of(const struct btf *kernel, int tracepoint_type)
{
	const struct btf_type *type = btf__type_by_id(kernel, (__u32)tracepoint_type);

	/* typedef -> pointer -> prototype; its first parameter is the probe's own */
	while (type && !btf_is_func_proto(type))
		type = btf__type_by_id(kernel, type->type);
	return type ? btf_vlen(type) - 1 : -1;
}

static bool has_other_arguments(const struct btf *kernel, int tracepoint_type, const char *program)
{
	for (size_t i = 0; i < sizeof(arguments) / sizeof(arguments[0]); i++)
		if (strcmp(arguments[i].program, program) == 0)
			return nr_arguments_of(kernel, tracepoint_type) != arguments[i].nr_arguments;
	return false;
}

static bool file_has(const char *path, bool (*says_so)(const char *line))
{
	FILE *file = fopen(path, "re");
	char line[256];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = says_so(line);
	return !read_end(file) && found;
}

static bool is_enabled(const char *line)
{
	unsigned int enabled;

	return sscanf(line, "memory %*u %*u %u", &enabled) == 1 && enabled;
}

static bool names_memory(const char *line)
{
	return strstr(line, "memory") != NULL;
}

/* Are faults counted for control groups? With cgroup_disable=memory the kernel has the tracepoint
 * all the same. Newer kernels list the controller in only one of the two files. */
static bool groups_have_memory(void)
{
	return file_has("/proc/cgroups", is_enabled) || file_has("/sys/fs/cgroup/cgroup.controllers", names_memory);
}

/* One of two programs records the end of a fault. The second is used if the first is not available,
 * for the reason that is noted for the first. */
static const char counted_faults[] = "fault_exit__counted", other_faults[] = "fault_exit__minor";

static void list_counted_faults(struct tracer *tracer, struct tracer_program *p)
{
	p->is_elsewhere = true;
	if (!p->unavailable[0] && !groups_have_memory())
		snprintf(p->unavailable, sizeof(p->unavailable), "this kernel counts no faults for control groups");
	tracer->skeleton->rodata->faults_are_counted = !p->unavailable[0];
}

static bool faults_are_counted(const struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->nr_programs; i++)
		if (strcmp(bpf_program__name(tracer->programs[i].program), counted_faults) == 0)
			return !tracer->programs[i].unavailable[0];
	return false;
}

static bool mask_has(const uint64_t *mask, uint32_t event)
{
	return mask[event / 64] >> (event % 64) & 1;
}

bool tracer_program_wanted(const struct tracer *tracer, const struct tracer_program *p,
			   const uint64_t mask[TRACE_MASK_WORDS])
{
	if (strcmp(bpf_program__name(p->program), other_faults) == 0 && faults_are_counted(tracer))
		return false;
	for (size_t i = 0; i < NR_ROWS && !is_iterator(p->program); i++)
		if (mask_has(mask, catalogue[i].event) &&
		    same_stem(bpf_program__name(p->program), catalogue[i].program))
			return true;
	return false;
}

void tracer_list_programs(struct tracer *tracer)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, tracer->skeleton->obj) {
		const char *section = bpf_program__section_name(program), *tracepoint = strchr(section, '/');
		struct tracer_program *p = &tracer->programs[tracer->nr_programs];
		char type[128];
		int id;

		if (tracer->nr_programs == TRACER_MAX_PROGRAMS)
			break;
		tracer->nr_programs++;
		p->program = program;
		p->event = main_event(bpf_program__name(program));
		snprintf(type, sizeof(type), "btf_trace_%s", tracepoint ? tracepoint + 1 : "");
		if (!tracepoint || is_iterator(program))
			continue;
		id = btf__find_by_name_kind(tracer->types, type, BTF_KIND_TYPEDEF);
		if (id < 0) {
			p->is_elsewhere = true;
			snprintf(p->unavailable, sizeof(p->unavailable), "this kernel has no tracepoint %s",
				 tracepoint + 1);
		} else if (has_other_arguments(tracer->types, id, bpf_program__name(program))) {
			p->is_elsewhere = true;
			snprintf(p->unavailable, sizeof(p->unavailable), "tracepoint %s has other arguments here",
				 tracepoint + 1);
		}
		if (same_stem(bpf_program__name(program), "sys_data") && !tracer->options.data_bytes)
			snprintf(p->unavailable, sizeof(p->unavailable), "it takes tracedaemon --args");
		if (strcmp(bpf_program__name(program), counted_faults) == 0)
			list_counted_faults(tracer, p);
		if (p->unavailable[0])
			bpf_program__set_autoload(program, false);
	}
}

/* Does the kernel accept this program alone? Tried in an object of its own, with the same
 * constants and small maps. */
static bool loads_alone(const struct tracer *tracer, const char *name)
{
	struct tracer_bpf *trial = tracer_open_programs();
	struct bpf_program *program;
	bool loads;

	if (!trial)
		return false;
	memcpy((void *)&trial->rodata->config, (void *)&tracer->skeleton->rodata->config,
	       sizeof(trial->rodata->config));
	bpf_map__set_value_size(trial->maps.rings, bpf_map__value_size(tracer->skeleton->maps.rings));
	bpf_map__set_value_size(trial->maps.structural_rings,
				bpf_map__value_size(tracer->skeleton->maps.structural_rings));
	bpf_object__for_each_program(program, trial->obj)
		bpf_program__set_autoload(program, strcmp(bpf_program__name(program), name) == 0);
	loads = tracer_load_skeleton(trial, tracer->types) == 0;
	tracer_bpf__destroy(trial);
	return loads;
}

/* libbpf cannot load an object again after a failure: open another, without the
 * programs that the kernel refused. */
static int reopen(struct tracer *tracer)
{
	struct tracer_bpf *old = tracer->skeleton, *fresh = tracer_open_programs();

	if (!fresh)
		return -errno;
	memcpy((void *)fresh->rodata, (void *)old->rodata, sizeof(*fresh->rodata));
	bpf_map__set_max_entries(fresh->maps.rings, tracer->nr_cpus);
	bpf_map__set_value_size(fresh->maps.rings, bpf_map__value_size(old->maps.rings));
	bpf_map__set_max_entries(fresh->maps.structural_rings, tracer->nr_cpus);
	bpf_map__set_value_size(fresh->maps.structural_rings, bpf_map__value_size(old->maps.structural_rings));
	for (size_t i = 0; i < tracer->nr_programs; i++) {
		struct tracer_program *p = &tracer->programs[i];

		p->program = bpf_object__find_program_by_name(fresh->obj, bpf_program__name(p->program));
		bpf_program__set_autoload(p->program, !p->unavailable[0]);
	}
	tracer->skeleton = fresh;
	tracer_bpf__destroy(old);
	return 0;
}

/* Returns @result, with the reason, if its cause lets no program load, or too few; 0: the kernel
 * may refuse only some programs. */
static int fatal_load_error(const struct tracer *tracer, int result, struct trace_error *ret_error)
{
	if (result == -ENOMEM)
		return error_set(ret_error, result,
				 "the kernel has no memory for the buffers (%u CPUs x %u x %u bytes): choose smaller "
				 "ones (-b, -n)",
				 tracer->nr_cpus, tracer->options.nr_subbufs, tracer->options.subbuf_bytes);
	/* libbpf's error if it cannot read the kernel's type information once more,
	 * which we have read already */
	if (result == -ESRCH)
		return error_set(ret_error, -ENOMEM,
				 "no memory for the BPF programs: raise the limit of this process (ulimit -v)");
	if (result == -EMFILE || result == -EBADF) /* libbpf's error if it has no descriptor left for a copy */
		return error_set(ret_error, result,
				 "too few open files are allowed for the BPF programs: raise the limit (ulimit -n)");
	if (result == -EPERM)
		return error_set(ret_error, result,
				 "the kernel refuses BPF programs: CAP_BPF and CAP_PERFMON are needed, and lockdown "
				 "must allow them");
	/* Few programs would load, and their records would show little: the trace would look
	 * as if nothing had happened. */
	if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_FUNC_probe_read_kernel, NULL) == 0)
		return error_set(ret_error, -EPERM,
				 "the kernel does not let BPF programs read its memory: it was booted with "
				 "lockdown=confidentiality, or is older than 5.5");
	return 0;
}

/* Returns true if the kernel refuses it. */
static bool leave_out_if_refused(const struct tracer *tracer, struct tracer_program *p)
{
	const char *name = bpf_program__name(p->program);

	if (p->unavailable[0] || loads_alone(tracer, name))
		return false;
	snprintf(p->unavailable, sizeof(p->unavailable), "this kernel refuses the program %s", name);
	return true;
}

/* Leave out the programs that the kernel refuses; returns their number. Most often it is the one at
 * which loading stopped, and no other need be tried. */
static size_t leave_out_refused(struct tracer *tracer)
{
	const struct bpf_program *stopped = tracer_program_loaded_last();
	size_t refused = 0;

	for (size_t i = 0; i < tracer->nr_programs; i++)
		if (tracer->programs[i].program == stopped && leave_out_if_refused(tracer, &tracer->programs[i]))
			return 1;
	for (size_t i = 0; i < tracer->nr_programs; i++)
		refused += leave_out_if_refused(tracer, &tracer->programs[i]);
	return refused;
}

int tracer_load_programs(struct tracer *tracer, struct trace_error *ret_error)
{
	int result, reason;

	while ((result = tracer_load_skeleton(tracer->skeleton, tracer->types))) {
		reason = fatal_load_error(tracer, result, ret_error);
		if (reason)
			return reason;
		if (!leave_out_refused(tracer) || reopen(tracer))
			return error_set(ret_error, result,
					 "cannot load the BPF programs: %s (TRACER_DEBUG=1 shows the kernel's log)",
					 strerror(-result));
	}
	return 0;
}
