// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * probe_attach.c - probes into the kernel.
 *
 * Places of one file go in together where the kernel can do that (uprobe_multi, since 6.6): attaching a thousand one by one takes seconds. Where
 * it cannot, or refuses a group, they go in one by one, and each that fails is listed with the reason.
 */
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <trace/probes.h>
#include <unistd.h>
#include "loader.h"
#include "probe_recipe.h"
#include "probe_skeleton.h"

#define LINK_CREATE	     28 /* enum bpf_cmd */
#define TRACE_UPROBE_MULTI   48 /* enum bpf_attach_type, Linux 6.6 */
#define UPROBE_MULTI_RETURN  1u
#define MAX_GROUP	     1024

/* union bpf_attr of Linux 6.6, as far as it is needed here; the header we are built with may be older. */
struct link_create {
	uint32_t program;
	uint32_t target;
	uint32_t attach_type;
	uint32_t flags;
	uint64_t path;
	uint64_t offsets;
	uint64_t semaphores;
	uint64_t cookies;
	uint32_t nr;
	uint32_t multi_flags;
	uint32_t pid;
	uint32_t pad;
};

/** struct tracer_probing - @fds: of uprobe_multi links; @links: of the others */
struct tracer_probing {
	struct probes_bpf *skeleton; /* owned */
	struct bpf_link **links;     /* owned */
	size_t nr_links;
	int *fds; /* owned */
	size_t nr_fds;
	size_t nr;
	bool multi;
};

/* ---- load ---- */

static int share_maps(struct tracer *tracer, struct probes_bpf *skeleton)
{
	struct {
		struct bpf_map *map;
		struct bpf_map *shared;
	} pairs[] = {
		{skeleton->maps.rings, tracer->skeleton->maps.rings},
		{skeleton->maps.structural_rings, tracer->skeleton->maps.structural_rings},
		{skeleton->maps.wakeups, tracer->skeleton->maps.wakeups},
		{skeleton->maps.followed, tracer->skeleton->maps.followed},
	};
	int result = 0;

	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]) && !result; i++)
		result = bpf_map__reuse_fd(pairs[i].map, bpf_map__fd(pairs[i].shared));
	return result;
}

enum { /* what to try, best first */
	LOAD_ALL,
	LOAD_WITHOUT_MULTI, /* before 6.6 */
	LOAD_WITHOUT_FAULTS, /* before 6.0: not sleepable */
	LOAD_USER_ONLY,	    /* no kprobes */
	NR_LOADS,
};

static struct probes_bpf *try_load(struct tracer *tracer, size_t nr, int way, bool kernel, int *ret_error)
{
	struct probes_bpf *skeleton = probes_bpf__open();

	if (!skeleton) {
		*ret_error = -errno;
		return NULL;
	}
	memcpy((void *)&skeleton->rodata->config, (const void *)&tracer->skeleton->rodata->config, sizeof(skeleton->rodata->config));
	skeleton->rodata->may_fault = way != LOAD_WITHOUT_FAULTS;
	skeleton->rodata->may_hold = btf__find_by_name_kind(tracer->types, "bpf_preempt_disable", BTF_KIND_FUNC) > 0;
	bpf_map__set_max_entries(skeleton->maps.recipes, (uint32_t)nr);
	bpf_program__set_expected_attach_type(skeleton->progs.probe_user_multi, (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	bpf_program__set_autoload(skeleton->progs.probe_user_multi, way == LOAD_ALL);
	bpf_program__set_autoload(skeleton->progs.probe_kernel, kernel && way != LOAD_USER_ONLY);
	if (way == LOAD_WITHOUT_FAULTS)
		bpf_program__set_flags(skeleton->progs.probe_user, 0);
	*ret_error = share_maps(tracer, skeleton);
	if (!*ret_error)
		*ret_error = probes_bpf__load(skeleton);
	if (!*ret_error)
		return skeleton;
	probes_bpf__destroy(skeleton);
	return NULL;
}

static int load(struct tracer *tracer, struct tracer_probing *probing, size_t nr, bool kernel)
{
	int result = -ENOTSUP;

	for (int way = LOAD_ALL; way < NR_LOADS && !probing->skeleton; way++) {
		probing->skeleton = try_load(tracer, nr, way, kernel, &result);
		probing->multi = way == LOAD_ALL;
	}
	return probing->skeleton ? 0 : result;
}

static int write_recipe(struct tracer_probing *probing, uint32_t idx, const struct trace_probe *probe, uint16_t id)
{
	struct probe_recipe recipe = {.id = id, .nr_arguments = probe->nr_arguments, .fixed_bytes = probe->type->fixed_bytes};

	memcpy(recipe.arguments, probe->arguments, sizeof(recipe.arguments));
	return bpf_map__update_elem(probing->skeleton->maps.recipes, &idx, sizeof(idx), &recipe, sizeof(recipe), BPF_ANY);
}

/* ---- attach ---- */

static bool remember_link(struct tracer_probing *probing, struct bpf_link *link)
{
	struct bpf_link **links = reallocarray(probing->links, probing->nr_links + 1, sizeof(struct bpf_link *));

	if (!links)
		return false;
	links[probing->nr_links++] = link;
	probing->links = links;
	return true;
}

static bool remember_fd(struct tracer_probing *probing, int fd)
{
	int *fds = reallocarray(probing->fds, probing->nr_fds + 1, sizeof(*fds));

	if (!fds)
		return false;
	fds[probing->nr_fds++] = fd;
	probing->fds = fds;
	return true;
}

static struct bpf_link *attach_user(struct tracer_probing *probing, uint32_t idx, const struct trace_probe *probe)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = idx, .retprobe = probe->at_return, .ref_ctr_offset = probe->semaphore);

	return bpf_program__attach_uprobe_opts(probing->skeleton->progs.probe_user, probe->pid ? probe->pid : -1, probe->file, probe->offset,
					       &options);
}

static struct bpf_link *attach_kernel(struct tracer_probing *probing, uint32_t idx, const struct trace_probe *probe)
{
	LIBBPF_OPTS(bpf_kprobe_opts, options, .bpf_cookie = idx, .retprobe = probe->at_return, .offset = probe->offset);
	char function[256];

	snprintf(function, sizeof(function), "%.*s", (int)strcspn(probe->function, "+"), probe->function);
	if (bpf_program__fd(probing->skeleton->progs.probe_kernel) < 0) {
		errno = ENOTSUP;
		return NULL;
	}
	return bpf_program__attach_kprobe_opts(probing->skeleton->progs.probe_kernel, function, &options);
}

static const char *kernel_reason(int err)
{
	if (access("/sys/bus/event_source/devices/kprobe", F_OK) < 0 && access("/sys/kernel/tracing/kprobe_events", F_OK) < 0 &&
	    access("/sys/kernel/debug/tracing/kprobe_events", F_OK) < 0)
		return "this kernel has no kprobes (CONFIG_KPROBE_EVENTS is off); its events are listed by tracedaemon --list";
	if (err == -ENOENT || err == -EINVAL || err == -EADDRNOTAVAIL)
		return "the kernel has no function of that name that may be probed; tracedaemon --list 'kernel:*' lists them";
	return strerror(-err);
}

static const char *user_reason(int err)
{
	if (access("/sys/bus/event_source/devices/uprobe", F_OK) < 0)
		return "this kernel has no uprobes (CONFIG_UPROBE_EVENTS is off)";
	switch (err) {
	case -ENOTSUP: /* the kernel's own number for it is 524 */
	case -524:
		return "the kernel cannot probe the instruction there; take another place, +OFFSET behind it";
	case -EPERM:
	case -EACCES:
		return "not permitted: CAP_PERFMON is needed";
	case -ESRCH:
		return "the process has gone";
	case -EIO:
		return "the file cannot be mapped for it: it must be on a real file system, and not be written meanwhile";
	default:
		return strerror(-err);
	}
}

static void note(struct tracer *tracer, const struct trace_probe *probe, int err)
{
	char text[512];

	snprintf(text, sizeof(text), "%s: %s", probe->type->name, probe->in_kernel ? kernel_reason(err) : user_reason(err));
	tracer_note(tracer, text);
}

static bool attach_one(struct tracer *tracer, struct tracer_probing *probing, uint32_t idx, const struct trace_probe *probe)
{
	struct bpf_link *link = probe->in_kernel ? attach_kernel(probing, idx, probe) : attach_user(probing, idx, probe);

	if (!link) {
		note(tracer, probe, -errno);
		return false;
	}
	if (remember_link(probing, link))
		return true;
	bpf_link__destroy(link);
	note(tracer, probe, -ENOMEM);
	return false;
}

/* Probes from @first on that can go in together: of the same file, process and moment. */
static uint32_t group_of(const struct trace_probes *probes, uint32_t first)
{
	const struct trace_probe *a = trace_probes_get(probes, first), *b;
	uint32_t nr = 1;

	while (nr < MAX_GROUP && (b = trace_probes_get(probes, first + nr)) && !b->in_kernel && b->at_return == a->at_return && b->pid == a->pid &&
	       !strcmp(a->file, b->file))
		nr++;
	return nr;
}

static bool attach_group(struct tracer_probing *probing, const struct trace_probes *probes, uint32_t first, uint32_t nr)
{
	const struct trace_probe *probe = trace_probes_get(probes, first);
	uint64_t *words = calloc(3 * (size_t)nr, sizeof(*words));
	struct link_create request = {
		.program = (uint32_t)bpf_program__fd(probing->skeleton->progs.probe_user_multi),
		.attach_type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)probe->file,
		.offsets = (uintptr_t)words,
		.semaphores = (uintptr_t)(words + nr),
		.cookies = (uintptr_t)(words + 2 * (size_t)nr),
		.nr = nr,
		.multi_flags = probe->at_return ? UPROBE_MULTI_RETURN : 0,
		.pid = (uint32_t)probe->pid,
	};
	int fd;

	if (!words)
		return false;
	for (uint32_t i = 0; i < nr; i++) {
		probe = trace_probes_get(probes, first + i);
		words[i] = probe->offset;
		words[nr + i] = probe->semaphore;
		words[2 * (size_t)nr + i] = first + i;
	}
	fd = (int)syscall(SYS_bpf, LINK_CREATE, &request, sizeof(request));
	free(words);
	if (fd < 0)
		return false;
	if (remember_fd(probing, fd))
		return true;
	close(fd);
	return false;
}

static int attach_all(struct tracer *tracer, struct tracer_probing *probing, const struct trace_probes *probes)
{
	uint32_t nr = (uint32_t)trace_probes_nr(probes), together;
	int attached = 0;

	for (uint32_t i = 0; i < nr; i += together) {
		const struct trace_probe *probe = trace_probes_get(probes, i);

		together = probing->multi && !probe->in_kernel ? group_of(probes, i) : 1;
		if (probing->multi && !probe->in_kernel && attach_group(probing, probes, i, together)) {
			attached += (int)together;
			continue;
		}
		for (uint32_t j = 0; j < together; j++)
			attached += attach_one(tracer, probing, i + j, trace_probes_get(probes, i + j));
	}
	return attached;
}

/* ---- a tracer's probes ---- */

int tracer_attach_probes(struct tracer *tracer, const struct trace_probes *probes, const uint16_t *ids, struct trace_error *ret_error)
{
	struct tracer_probing *probing = calloc(1, sizeof(*probing));
	bool kernel = false;
	int result;

	if (!probing)
		return tracer_fail(ret_error, -ENOMEM, "out of memory for probes");
	tracer_detach_probes(tracer);
	tracer->probing = probing;
	probing->nr = trace_probes_nr(probes);
	for (size_t i = 0; i < probing->nr; i++)
		kernel |= trace_probes_get(probes, i)->in_kernel;
	result = load(tracer, probing, probing->nr, kernel);
	for (uint32_t i = 0; !result && i < probing->nr; i++)
		result = write_recipe(probing, i, trace_probes_get(probes, i), ids[i]);
	if (result) {
		tracer_detach_probes(tracer);
		return tracer_fail(ret_error, result, "the kernel does not take the programs behind probes: %s; TRACER_DEBUG=1 in the environment tells more",
				   strerror(-result));
	}
	tracer_mask_probes(tracer);
	return attach_all(tracer, probing, probes);
}

void tracer_mask_probes(struct tracer *tracer)
{
	for (int i = 0; tracer->probing && i < TRACE_MASK_WORDS; i++)
		tracer->probing->skeleton->bss->event_mask[i] = tracer->options.mask[i];
}

void tracer_unlink_probes(struct tracer *tracer)
{
	struct tracer_probing *probing = tracer->probing;

	if (!probing)
		return;
	for (size_t i = 0; i < probing->nr_links; i++)
		bpf_link__destroy(probing->links[i]);
	for (size_t i = 0; i < probing->nr_fds; i++)
		close(probing->fds[i]);
	probing->nr_links = probing->nr_fds = 0;
}

void tracer_detach_probes(struct tracer *tracer)
{
	struct tracer_probing *probing = tracer->probing;

	if (!probing)
		return;
	tracer_unlink_probes(tracer);
	probes_bpf__destroy(probing->skeleton);
	free(probing->links);
	free(probing->fds);
	free(probing);
	tracer->probing = NULL;
}

uint64_t tracer_probes_unread(const struct tracer *tracer)
{
	struct probe_recipe recipe;
	uint64_t unread = 0;

	for (uint32_t i = 0; tracer->probing && i < tracer->probing->nr; i++)
		if (bpf_map__lookup_elem(tracer->probing->skeleton->maps.recipes, &i, sizeof(i), &recipe, sizeof(recipe), 0) == 0)
			unread += recipe.unread;
	return unread;
}

static uint64_t program_missed(const struct bpf_program *program)
{
	struct bpf_prog_info info = {0};
	uint32_t bytes = sizeof(info);
	int fd = bpf_program__fd(program);

	return fd >= 0 && bpf_obj_get_info_by_fd(fd, &info, &bytes) == 0 ? info.recursion_misses : 0;
}

uint64_t tracer_probes_missed(const struct tracer *tracer)
{
	const struct tracer_probing *probing = tracer->probing;

	if (!probing)
		return 0;
	return program_missed(probing->skeleton->progs.probe_user) + program_missed(probing->skeleton->progs.probe_user_multi) +
	       program_missed(probing->skeleton->progs.probe_kernel);
}
