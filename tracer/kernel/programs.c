/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * programs.c - lists the programs, finds those that this kernel accepts, and attaches them
 *
 * A program belongs to the events that name it in the catalogue; a program called NAME__variant
 * belongs to the events of NAME. Two steps find what the kernel does not have. A program is not
 * tried if its tracepoint has no type in the kernel's BTF. If loading all programs together fails,
 * those that the kernel refuses alone are left out.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "loader.h"

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
static size_t stem_length(const char *program)
{
	const char *variant = strstr(program, "__");

	return variant ? (size_t)(variant - program) : strlen(program);
}

static bool same_stem(const char *program, const char *name)
{
	size_t length = stem_length(program);

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

static bool has_sibling(const struct tracer *tracer, const struct tracer_program *p);

static bool is_iterator(const struct bpf_program *program)
{
	return strncmp(bpf_program__section_name(program), "iter/", 5) == 0;
}

static bool is_perf_event(const struct bpf_program *program)
{
	return strcmp(bpf_program__section_name(program), "perf_event") == 0;
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
	{"fs_throttle__limits", 12},    /* 6.1 */
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
	if (file)
		fclose(file);
	return found;
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

void tracer_list_programs(struct tracer *tracer)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, tracer->skeleton->obj)
	{
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
			snprintf(p->unavailable, sizeof(p->unavailable), "this kernel has no tracepoint %s", tracepoint + 1);
		} else if (has_other_arguments(tracer->types, id, bpf_program__name(program))) {
			p->is_elsewhere = true;
			snprintf(p->unavailable, sizeof(p->unavailable), "tracepoint %s has other arguments here", tracepoint + 1);
		}
		if (strcmp(bpf_program__name(program), counted_faults) == 0)
			list_counted_faults(tracer, p);
		if (p->unavailable[0])
			bpf_program__set_autoload(program, false);
	}
}

static char reasons[TRACE_EV_MAX][96]; /* by event; constant once they are known */
static bool reasons_are_known;
static pthread_mutex_t reasons_lock = PTHREAD_MUTEX_INITIALIZER;

/* A call without memory leaves the reasons unknown, and the next call tries again. */
static void find_reasons(void)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));

	if (!tracer)
		return;
	libbpf_set_print(tracer_silent);
	tracer->types = btf__load_vmlinux_btf();
	tracer->skeleton = tracer_open_programs();
	if (tracer->types && tracer->skeleton)
		tracer_list_programs(tracer);
	for (size_t i = 0; i < tracer->nr_programs; i++) {
		struct tracer_program *p = &tracer->programs[i];

		if (p->event && p->unavailable[0] && !(p->is_elsewhere && has_sibling(tracer, p)))
			memcpy(reasons[p->event], p->unavailable, sizeof(reasons[0]));
	}
	reasons_are_known = true;
	tracer_free(tracer);
}

const char *tracer_unavailable(uint32_t id)
{
	bool is_unavailable;

	pthread_mutex_lock(&reasons_lock);
	if (!reasons_are_known)
		find_reasons();
	is_unavailable = id < TRACE_EV_MAX && reasons[id][0];
	pthread_mutex_unlock(&reasons_lock);
	return is_unavailable ? reasons[id] : NULL;
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
	memcpy((void *)&trial->rodata->config, (void *)&tracer->skeleton->rodata->config, sizeof(trial->rodata->config));
	bpf_map__set_value_size(trial->maps.rings, bpf_map__value_size(tracer->skeleton->maps.rings));
	bpf_map__set_value_size(trial->maps.structural_rings, bpf_map__value_size(tracer->skeleton->maps.structural_rings));
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

/* Would no program load, or too few? Returns @result, with the reason. 0: the
 * kernel may refuse only some. */
static int hopeless(const struct tracer *tracer, int result, struct trace_error *ret_error)
{
	if (result == -ENOMEM)
		return error_set(
			ret_error, result,
			"the kernel has no memory for the buffers (%u CPUs x %u x %u bytes): choose smaller ones (-b, -n)",
			tracer->nr_cpus, tracer->options.nr_subbufs, tracer->options.subbuf_bytes);
	/* libbpf's error if it cannot read the kernel's type information once more,
	 * which we have read already */
	if (result == -ESRCH)
		return error_set(ret_error, -ENOMEM, "no memory for the BPF programs: raise the limit of this process (ulimit -v)");
	if (result == -EMFILE || result == -EBADF) /* libbpf's error if it has no descriptor left for a copy */
		return error_set(ret_error, result, "too few open files are allowed for the BPF programs: raise the limit (ulimit -n)");
	if (result == -EPERM)
		return error_set(
			ret_error, result,
			"the kernel refuses BPF programs: CAP_BPF and CAP_PERFMON are needed, and lockdown must allow them");
	/* Few programs would load, and their records would show little: the trace would look
	 * as if nothing had happened. */
	if (libbpf_probe_bpf_helper(BPF_PROG_TYPE_RAW_TRACEPOINT, BPF_FUNC_probe_read_kernel, NULL) == 0)
		return error_set(ret_error, -EPERM,
				   "the kernel does not let BPF programs read its memory: it was booted with lockdown=confidentiality, or is older than 5.5");
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
		reason = hopeless(tracer, result, ret_error);
		if (reason)
			return reason;
		if (!leave_out_refused(tracer) || reopen(tracer))
			return error_set(ret_error, result, "cannot load the BPF programs: %s (TRACER_DEBUG=1 shows the kernel's log)", strerror(-result));
	}
	return 0;
}

/* ---- attaching ---- */

static int open_fault_counter(uint32_t cpu, bool major)
{
	struct perf_event_attr attributes = {
		.size = sizeof(attributes),
		.type = PERF_TYPE_SOFTWARE,
		.config = major ? PERF_COUNT_SW_PAGE_FAULTS_MAJ : PERF_COUNT_SW_PAGE_FAULTS_MIN,
		.sample_period = 1,
	};

	return (int)syscall(SYS_perf_event_open, &attributes, -1, (int)cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

static void detach(struct tracer_program *p)
{
	for (size_t i = 0; i < p->nr_links; i++)
		bpf_link__destroy(p->links[i]);
	free(p->links);
	p->links = NULL;
	p->nr_links = 0;
	p->attached = false;
}

static int attach_faults(struct tracer *tracer, struct tracer_program *p)
{
	bool major = strstr(bpf_program__name(p->program), "major") != NULL;

	p->links = calloc(tracer->nr_cpus, sizeof(*p->links));
	if (!p->links)
		return -ENOMEM;
	for (uint32_t cpu = 0; cpu < tracer->nr_cpus; cpu++) {
		int fd = open_fault_counter(cpu, major);
		struct bpf_link *link;

		if (fd < 0 && errno == ENODEV)
			continue; /* a possible CPU that is not present */
		if (fd < 0)
			return -errno;
		link = bpf_program__attach_perf_event(p->program, fd);
		if (!link) {
			int result = -errno;

			close(fd);
			return result;
		}
		p->links[p->nr_links++] = link;
	}
	return 0;
}

static int attach(struct tracer *tracer, struct tracer_program *p)
{
	int result = 0;

	if (is_perf_event(p->program)) {
		result = attach_faults(tracer, p);
	} else {
		struct bpf_link *link = bpf_program__attach(p->program);

		if (!link)
			return -errno;
		p->links = malloc(sizeof(*p->links));
		if (!p->links) {
			bpf_link__destroy(link);
			return -ENOMEM;
		}
		p->links[0] = link;
		p->nr_links = 1;
	}
	if (result)
		detach(p);
	p->attached = result == 0;
	return result;
}

static bool mask_has(const uint64_t *mask, uint32_t event)
{
	return mask[event / 64] >> (event % 64) & 1;
}

/* Forks and frees are needed to follow children, and to distinguish a process from a
 * later one with the same pid. */
static bool is_needed(const struct tracer *tracer, const struct tracer_program *p, const uint64_t *mask)
{
	if ((tracer->options.follow || tracer->options.filter_pid > 0) &&
	    (tracer_program_serves(p, TRACE_EV_sched_fork) || tracer_program_serves(p, TRACE_EV_sched_free)))
		return true;
	if (strcmp(bpf_program__name(p->program), other_faults) == 0 && faults_are_counted(tracer))
		return false;
	for (size_t i = 0; i < NR_ROWS && !is_iterator(p->program); i++)
		if (mask_has(mask, catalogue[i].event) && same_stem(bpf_program__name(p->program), catalogue[i].program))
			return true;
	return false;
}

/* A variant with a tracepoint that this machine lacks, or has in another form, is not missed if the
 * event has another variant. */
static bool has_sibling(const struct tracer *tracer, const struct tracer_program *p)
{
	const char *name = bpf_program__name(p->program);
	size_t length = stem_length(name);

	for (size_t i = 0; i < tracer->nr_programs; i++) {
		const char *other = bpf_program__name(tracer->programs[i].program);

		if (!tracer->programs[i].unavailable[0] && stem_length(other) == length && strncmp(name, other, length) == 0)
			return true;
	}
	return false;
}

void tracer_note_not_traced(struct tracer *tracer, const struct tracer_program *p)
{
	char text[192];

	if (p->is_elsewhere && has_sibling(tracer, p))
		return;
	snprintf(text, sizeof(text), "%s: %s", bpf_program__name(p->program), p->unavailable);
	tracer_note(tracer, text);
}

void tracer_note(struct tracer *tracer, const char *text)
{
	for (size_t i = 0; i < tracer->nr_not_traced; i++)
		if (strcmp(tracer->not_traced[i], text) == 0)
			return;
	if (tracer->nr_not_traced < TRACER_MAX_NOT_TRACED)
		snprintf(tracer->not_traced[tracer->nr_not_traced++], TRACER_NOTE_BYTES, "%s", text);
}

int tracer_set_mask(struct tracer *tracer, const uint64_t mask[TRACE_MASK_WORDS], struct trace_error *ret_error)
{
	size_t attached = 0, wanted = 0;

	memcpy(tracer->options.mask, mask, sizeof(tracer->options.mask));
	for (int i = 0; i < TRACE_MASK_WORDS; i++)
		tracer->skeleton->bss->event_mask[i] = mask[i];
	for (size_t i = 0; i < tracer->nr_programs; i++) {
		struct tracer_program *p = &tracer->programs[i];
		bool needed = is_needed(tracer, p, mask);

		wanted += needed;
		if (p->attached && !needed)
			detach(p);
		if (needed && !p->attached && !p->unavailable[0]) {
			int result = attach(tracer, p);

			if (result)
				snprintf(p->unavailable, sizeof(p->unavailable), "cannot be attached: %s", strerror(-result));
		}
		if (needed && p->unavailable[0])
			tracer_note_not_traced(tracer, p);
		attached += p->attached;
	}
	tracer_choose_deferring(tracer);
	if (wanted && !attached)
		return error_set(ret_error, -ENOTSUP, "none of the %zu programs could be attached (the first: %s)", wanted,
				   tracer->not_traced[0]);
	return 0;
}

void tracer_get_mask(const struct tracer *tracer, uint64_t ret_mask[TRACE_MASK_WORDS])
{
	memcpy(ret_mask, tracer->options.mask, sizeof(tracer->options.mask));
}

int tracer_start(struct tracer *tracer, struct trace_error *ret_error)
{
	uint64_t mask[TRACE_MASK_WORDS];

	int result;

	tracer_get_mask(tracer, mask);
	result = tracer_set_mask(tracer, mask, ret_error);
	if (!result && tracer->options.follow)
		tracer_follow_descendants(tracer);
	return result;
}

void tracer_stop(struct tracer *tracer)
{
	bool any = false;

	for (size_t i = 0; i < tracer->nr_programs; i++) {
		any |= tracer->programs[i].attached;
		detach(&tracer->programs[i]);
	}
	any |= tracer->probing != NULL;
	tracer_unlink_probes(tracer);
	if (!any)
		return;
	/* A grace period: programs that run on other CPUs now finish their records. */
	syscall(SYS_membarrier, 1 /* MEMBARRIER_CMD_GLOBAL */, 0, 0);
	tracer_flush_rings(tracer);
	for (size_t i = 0; i < tracer->nr_rings; i++)
		subbuf_flush(&tracer->rings[i].ring);
}

static uint64_t program_missed(const struct tracer_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t bytes = sizeof(info);
	int fd = bpf_program__fd(program->program);

	return fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 ? info.recursion_misses : 0;
}

uint64_t tracer_missed(const struct tracer *tracer, uint32_t id)
{
	uint64_t missed = id == TRACE_EV_USER ? tracer_probes_missed(tracer) : 0;

	for (size_t i = 0; i < tracer->nr_programs; i++)
		if (tracer->programs[i].event == id)
			missed += program_missed(&tracer->programs[i]);
	return missed;
}
