/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_attach.c - attach probes to the kernel, and switch them on and off.
 *
 * Attaching. Places of one file are attached in groups where the kernel can do that (uprobe_multi,
 * since 6.6), because attaching a thousand places one by one takes seconds. Places that the kernel
 * might refuse are attached alone, because undoing a group is slow, too. If the kernel refuses a
 * group nevertheless, it is split into halves. Each place that fails is reported with the reason.
 *
 * SECURITY: files that may stop the machine are refused, and a look at all processes comes first
 * (probe_target.h). A process can still take its lock later; then the kernel waits.
 *
 * Switching. A probe that is off has no breakpoint, because a hit would cost nearly as much as a
 * recorded one. Switching it off takes effect at once: a word in memory makes the BPF program
 * ignore its hits. Its link is closed a little later, and only when all places of the link are off.
 * To remove some of its places, the others would have to be attached again, which would miss hits
 * or record some twice.
 */
#include "probe_attach.h"

#include <stdbool.h>
#include <stdint.h>
#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <trace/probes.h>
#include <unistd.h>
#include "loader.h"
#include "error_set.h"
#include "probe_cost.h"
#include "probe_detach.h"
#include "probe_instruction.h"
#include "probe_list.h"
#include "probe_recipe.h"
#include "probe_skeleton.h"
#include "probe_target.h"
#include "shared_maps.h"
#include "deferring.h"
#include "not_traced.h"

#define LINK_CREATE	    28 /* value of enum bpf_cmd */
#define TRACE_UPROBE_MULTI  48 /* value of enum bpf_attach_type, Linux 6.6 */
#define UPROBE_MULTI_RETURN 1u
#define MAX_GROUP	    1024

/*
 * The part of union bpf_attr (Linux 6.6) that is needed here; the build host's header may be older.
 */
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

/**
 * struct probe_link - an attachment of several places: those of one command-line option with the
 * same file, process and moment
 * @link: NULL for uprobe_multi, which has @fd
 * @nr_on: places that are on; at 0 the link is closed
 */
struct probe_link {
	struct probe_link *next; /* owned */
	struct bpf_link *link;	 /* owned; NULL: @fd */
	int fd;
	uint32_t nr_on;
	bool is_tracepoint;
	pthread_t closer;
	bool closing;
};

/**
 * struct attach_place - the loader's state of one probe
 * @link: borrowed; NULL: not attached
 * @number: number of its last link, which is in the cookie
 * @is_misread: a breakpoint there would break programs
 * @is_plain: every kernel can probe the instruction
 * @kind: of the instruction
 * @id: of its events
 * @file: when the probe was made
 */
struct attach_place {
	struct probe_link *link;
	uint32_t number;
	bool on;
	bool is_misread;
	bool is_plain;
	enum probe_cost_kind kind;
	uint16_t id;
	struct probe_target file;
};

/**
 * struct tracer_probing - @fd: the file that gets probes
 * @is_any_mute: a process holds the lock of its mappings
 */
struct tracer_probing {
	struct probes_bpf *skeleton;	   /* owned */
	const struct trace_probes *probes; /* borrowed */
	struct attach_place *places;	   /* owned; one per probe */
	struct probe_link *links;	   /* owned */
	size_t nr;
	bool multi;
	struct probe_costs costs;
	struct file_opener opener;
	int fd;
	bool is_any_mute;
};

/* ---- load ---- */

/* ways to load, best first */
enum {
	LOAD_ALL,
	LOAD_WITHOUT_MULTI,  /* before 6.6 */
	LOAD_WITHOUT_FAULTS, /* before 6.0: not sleepable */
	LOAD_USER_ONLY,	     /* no kprobes */
	NR_LOADS,
};

/** struct programs_needed - kinds of places besides those in programs */
struct programs_needed {
	bool kernel;
	bool tracepoint;
};

static struct probes_bpf *try_load(struct tracer *tracer, size_t nr, int way, struct programs_needed needed,
				   int *ret_error)
{
	struct probes_bpf *skeleton = probes_bpf__open();

	if (!skeleton) {
		*ret_error = -errno;
		return NULL;
	}
	memcpy((void *)&skeleton->rodata->config, (const void *)&tracer->skeleton->rodata->config,
	       sizeof(skeleton->rodata->config));
	skeleton->rodata->may_fault = way != LOAD_WITHOUT_FAULTS;
	skeleton->rodata->may_disable_preemption = btf__find_by_name_kind(tracer->types, "bpf_preempt_disable",
									  BTF_KIND_FUNC) > 0;
	bpf_map__set_max_entries(skeleton->maps.recipes, (uint32_t)nr + 1); /* and the one to be measured */
	bpf_program__set_expected_attach_type(skeleton->progs.probe_user_multi,
					      (enum bpf_attach_type)TRACE_UPROBE_MULTI);
	bpf_program__set_autoload(skeleton->progs.probe_user_multi, way == LOAD_ALL);
	bpf_program__set_autoload(skeleton->progs.probe_kernel, needed.kernel && way != LOAD_USER_ONLY);
	bpf_program__set_autoload(skeleton->progs.probe_tracepoint, needed.tracepoint);
	if (way == LOAD_WITHOUT_FAULTS)
		bpf_program__set_flags(skeleton->progs.probe_user, 0);
	*ret_error = tracer_share_maps(tracer, skeleton->obj);
	if (!*ret_error)
		*ret_error = probes_bpf__load(skeleton);
	if (!*ret_error)
		return skeleton;
	probes_bpf__destroy(skeleton);
	return NULL;
}

static int load(struct tracer *tracer, struct tracer_probing *probing, size_t nr, struct programs_needed needed)
{
	int result = -ENOTSUP;

	for (int way = LOAD_ALL; way < NR_LOADS && !probing->skeleton; way++) {
		probing->skeleton = try_load(tracer, nr, way, needed, &result);
		probing->multi = way == LOAD_ALL;
	}
	return probing->skeleton ? 0 : result;
}

static int write_recipe(struct tracer_probing *probing, uint32_t idx, const struct trace_probe *probe, uint16_t id)
{
	struct probe_recipe recipe = {.id = id,
				      .nr_arguments = probe->nr_arguments,
				      .fixed_bytes = probe->type->fixed_bytes};

	memcpy(recipe.arguments, probe->arguments, sizeof(recipe.arguments));
	recipe.condition = probe->condition;
	return bpf_map__update_elem(probing->skeleton->maps.recipes, &idx, sizeof(idx), &recipe, sizeof(recipe),
				    BPF_ANY);
}

/* ---- attach ---- */

static void look_at_code(const struct trace_probe *probe, int fd, struct attach_place *place)
{
	uint8_t bytes[16]; /* 15 is the maximum */
	ssize_t got = fd < 0 ? 0 : pread(fd, bytes, sizeof(bytes), (off_t)probe->offset);

	place->is_misread = got > 0 && probe_instruction_is_misread(bytes, (size_t)got);
	place->is_plain = got > 0 && probe_instruction_is_plain(bytes, (size_t)got);
	place->kind = probe_cost_kind(bytes, got > 0 ? (size_t)got : 0);
}

/* The places of a file follow each other. */
static void look_at_places(struct tracer_probing *probing)
{
	const struct trace_probe *last = NULL;
	struct probe_target file = {0};
	int fd = -1;

	for (size_t i = 0; i < probing->nr; i++) {
		const struct trace_probe *probe = trace_probes_get(probing->probes, i);

		if (!last || strcmp(probe->file, last->file) != 0) {
			if (fd >= 0)
				close(fd);
			file = (struct probe_target){0};
			fd = probe_target_open(&probing->opener, probe, &file);
		}
		last = probe;
		probing->places[i].file = file;
		look_at_code(probe, fd, &probing->places[i]);
	}
	if (fd >= 0)
		close(fd);
}

/* The path of the very file that was looked at. */
static const char *path_of(const struct tracer_probing *probing, char text[static 32])
{
	snprintf(text, 32, "/proc/self/fd/%d", probing->fd);
	return text;
}

static uint64_t cookie_of(const struct tracer_probing *probing, uint32_t idx)
{
	return (uint64_t)(probing->places[idx].number + 1) << 32 | idx;
}

static struct bpf_link *attach_user(struct tracer_probing *probing, uint32_t idx, const struct trace_probe *probe)
{
	LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = cookie_of(probing, idx), .retprobe = probe->at_return,
		    .ref_ctr_offset = probe->semaphore);
	char path[32];

	return bpf_program__attach_uprobe_opts(probing->skeleton->progs.probe_user, probe->pid ? probe->pid : -1,
					       path_of(probing, path), probe->offset, &options);
}

static struct bpf_link *attach_kernel(struct tracer_probing *probing, uint32_t idx, const struct trace_probe *probe)
{
	LIBBPF_OPTS(bpf_kprobe_opts, options, .bpf_cookie = cookie_of(probing, idx), .retprobe = probe->at_return,
		    .offset = probe->offset);
	char function[256];

	snprintf(function, sizeof(function), "%.*s", (int)strcspn(probe->function, "+"), probe->function);
	if (bpf_program__fd(probing->skeleton->progs.probe_kernel) < 0) {
		errno = ENOTSUP;
		return NULL;
	}
	return bpf_program__attach_kprobe_opts(probing->skeleton->progs.probe_kernel, function, &options);
}

/*
 * One event on one CPU is enough: the program belongs to the tracepoint, and runs on all of them.
 */
static struct bpf_link *attach_tracepoint(struct tracer_probing *probing, uint32_t idx, const struct trace_probe *probe)
{
	LIBBPF_OPTS(bpf_perf_event_opts, options, .bpf_cookie = cookie_of(probing, idx));
	struct perf_event_attr attributes = {.type = PERF_TYPE_TRACEPOINT,
					     .size = sizeof(attributes),
					     .config = probe->tracepoint};
	int cpu = sched_getcpu(), err,
	    fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu < 0 ? 0 : cpu, -1, PERF_FLAG_FD_CLOEXEC);
	struct bpf_link *link;

	if (fd < 0)
		return NULL;
	link = bpf_program__attach_perf_event_opts(probing->skeleton->progs.probe_tracepoint, fd, &options);
	err = errno;
	if (!link)
		close(fd);
	errno = err;
	return link;
}

static const char *tracepoint_reason(int err)
{
	if (err == -EPERM || err == -EACCES)
		return "not permitted: CAP_PERFMON is needed";
	return err == -EINVAL || err == -ENOENT ? "the kernel does not let programs attach to this tracepoint"
						: strerror(-err);
}

static const char *kernel_reason(int err)
{
	if (probe_kernel_missing())
		return probe_kernel_missing();
	if (err == -ENOENT || err == -EINVAL || err == -EADDRNOTAVAIL)
		return "the kernel has no such function, or does not permit probes in it; tracedaemon --list "
		       "'kernel:*' lists them";
	return strerror(-err);
}

static const char *user_reason(int err)
{
	if (access("/sys/bus/event_source/devices/uprobe", F_OK) < 0)
		return "this kernel has no uprobes (CONFIG_UPROBE_EVENTS is off)";
	switch (err) {
	case -ENOTSUP: /* the kernel returns 524 (its own ENOTSUPP) */
	case -524:
		return "the kernel cannot probe the instruction there; choose another address, +OFFSET after it";
	case -EILSEQ:
		return "the kernel runs the instruction there wrongly, and a probe would break programs; choose "
		       "another address, +OFFSET after it";
	case -EPERM:
	case -EACCES:
		return "not permitted: CAP_PERFMON is needed";
	case -ESRCH:
		return "the process has ended";
	case -EREMOTE:
		return "another user may serve its file system: the kernel, and each fork of the machine, would wait "
		       "for the server; copy the file to another file system";
	case -ETIMEDOUT:
		return "its file does not answer: " FILE_WHY;
	case -EBUSY:
		return file_why(-EBUSY);
	case -EDEADLK:
		return "a process holds the lock of its mappings: the kernel, and each fork of the machine, would "
		       "wait for it: " FILE_WHY;
	case -ESTALE:
		return "the file has changed since the recording began";
	case -EIO:
		return "the kernel cannot map the file: it must be on a file system that supports it, and must not be "
		       "open for writing";
	default:
		return strerror(-err);
	}
}

static void note(struct tracer *tracer, const struct trace_probe *probe, int err)
{
	char text[TRACER_NOTE_BYTES];

	snprintf(text, sizeof(text), "%s: %s", probe->type->name,
		 probe->tracepoint  ? tracepoint_reason(err)
		 : probe->in_kernel ? kernel_reason(err)
				    : user_reason(err));
	tracer_note(tracer, text);
}

static struct probe_link *new_link(struct tracer_probing *probing)
{
	struct probe_link *link = calloc(1, sizeof(*link));

	if (!link)
		return NULL;
	link->fd = -1;
	link->next = probing->links;
	probing->links = link;
	return link;
}

static void give_link(struct tracer_probing *probing, uint32_t idx, struct probe_link *link)
{
	probing->places[idx].link = link;
	probing->places[idx].number++;
}

static void attach_one(struct tracer *tracer, struct tracer_probing *probing, uint32_t idx)
{
	const struct trace_probe *probe = trace_probes_get(probing->probes, idx);
	struct bpf_link *attached = probe->tracepoint  ? attach_tracepoint(probing, idx, probe)
				    : probe->in_kernel ? attach_kernel(probing, idx, probe)
						       : attach_user(probing, idx, probe);
	struct probe_link *link = attached ? new_link(probing) : NULL;

	if (link) {
		link->link = attached;
		link->is_tracepoint = probe->tracepoint != 0;
		give_link(probing, idx, link);
		return;
	}
	note(tracer, probe, attached ? -ENOMEM : -errno);
	bpf_link__destroy(attached);
}

/* Can one link hold both? */
static bool can_share_link(const struct trace_probe *a, const struct trace_probe *b)
{
	return a->option == b->option && !a->in_kernel && !b->in_kernel && a->at_return == b->at_return &&
	       a->pid == b->pid && !strcmp(a->file, b->file);
}

static bool attach_group(struct tracer_probing *probing, const uint32_t *idxs, uint32_t nr)
{
	const struct trace_probe *probe = trace_probes_get(probing->probes, idxs[0]);
	uint64_t *words = calloc(3 * (size_t)nr, sizeof(*words));
	char path[32];
	struct link_create request = {
		.program = (uint32_t)bpf_program__fd(probing->skeleton->progs.probe_user_multi),
		.attach_type = TRACE_UPROBE_MULTI,
		.path = (uintptr_t)path_of(probing, path),
		.offsets = (uintptr_t)words,
		.semaphores = (uintptr_t)(words + nr),
		.cookies = (uintptr_t)(words + 2 * (size_t)nr),
		.nr = nr,
		.multi_flags = probe->at_return ? UPROBE_MULTI_RETURN : 0,
		.pid = (uint32_t)probe->pid,
	};
	struct probe_link *link = NULL;
	int fd;

	if (!words)
		return false;
	for (uint32_t i = 0; i < nr; i++) {
		probe = trace_probes_get(probing->probes, idxs[i]);
		words[i] = probe->offset;
		words[nr + i] = probe->semaphore;
		words[2 * (size_t)nr + i] = cookie_of(probing, idxs[i]);
	}
	fd = (int)syscall(SYS_bpf, LINK_CREATE, &request, sizeof(request));
	free(words);
	if (fd >= 0)
		link = new_link(probing);
	if (!link) {
		if (fd >= 0)
			close(fd);
		return false;
	}
	link->fd = fd;
	for (uint32_t i = 0; i < nr; i++)
		give_link(probing, idxs[i], link);
	return true;
}

/*
 * Attach all as one group if possible; otherwise attach halves, down to the places that the kernel
 * refuses.
 */
static void attach_all(struct tracer *tracer, struct tracer_probing *probing, const uint32_t *idxs, uint32_t nr)
{
	if (probing->multi && !trace_probes_get(probing->probes, idxs[0])->in_kernel && attach_group(probing, idxs, nr))
		return;
	if (nr == 1) {
		attach_one(tracer, probing, idxs[0]);
		return;
	}
	attach_all(tracer, probing, idxs, nr / 2);
	attach_all(tracer, probing, idxs + nr / 2, nr - nr / 2);
}

/*
 * The kernel checks an instruction only in a process that has it mapped. Without one it would
 * accept any place, and later silently skip those that it cannot probe. So map the file while
 * attaching.
 */
static void attach_mapped(struct tracer *tracer, struct tracer_probing *probing, const uint32_t *idxs, uint32_t nr)
{
	const struct trace_probe *probe = trace_probes_get(probing->probes, idxs[0]);
	size_t bytes = (size_t)probing->places[idxs[0]].file.bytes;
	void *code = probe->in_kernel ? MAP_FAILED : mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, probing->fd, 0);

	attach_all(tracer, probing, idxs, nr);
	if (code != MAP_FAILED)
		munmap(code, bytes);
}

/* Returns 0, with the file of a place in a program open; or why it cannot be attached. */
static int begin_to_attach(struct tracer_probing *probing, uint32_t idx)
{
	const struct trace_probe *probe = trace_probes_get(probing->probes, idx);
	const struct attach_place *place = &probing->places[idx];
	struct probe_target now;

	probing->fd = -1;
	if (place->is_misread)
		return -EILSEQ;
	if (probe->in_kernel)
		return 0;
	if (probing->is_any_mute)
		return -EDEADLK;
	probing->fd = probe_target_open(&probing->opener, probe, &now);
	if (probing->fd < 0)
		return probing->fd == -EREMOTE || probing->fd == -ETIMEDOUT || probing->fd == -EBUSY ? probing->fd
												     : -ESTALE;
	if (probe_target_is_same(&now, &place->file))
		return 0;
	close(probing->fd);
	return -ESTALE;
}

/* Attach the place @first, and with it all other places to be attached that can share its link. */
static void attach_with(struct tracer *tracer, struct tracer_probing *probing, uint32_t first, const bool *on)
{
	const struct trace_probe *probe = trace_probes_get(probing->probes, first);
	uint32_t idxs[MAX_GROUP] = {first}, nr = 1;
	int result = begin_to_attach(probing, first);

	if (result) {
		note(tracer, probe, result);
		return;
	}
	for (uint32_t i = first + 1;
	     probing->multi && probing->places[first].is_plain && i < probing->nr && nr < MAX_GROUP; i++)
		if (on[i] && !probing->places[i].link && probing->places[i].is_plain &&
		    can_share_link(probe, trace_probes_get(probing->probes, i)))
			idxs[nr++] = i;
	attach_mapped(tracer, probing, idxs, nr);
	if (probing->fd >= 0)
		close(probing->fd);
}

static bool any_to_attach_in_programs(const struct tracer_probing *probing, const bool *on)
{
	for (uint32_t i = 0; on && i < probing->nr; i++)
		if (on[i] && !probing->places[i].link && !trace_probes_get(probing->probes, i)->in_kernel)
			return true;
	return false;
}

/* ---- detach ---- */

static void *close_link(void *argument)
{
	struct probe_link *link = argument;

	if (link->link)
		bpf_link__destroy(link->link);
	else
		close(link->fd);
	return NULL;
}

/*
 * Closing a link waits until no BPF program runs any more, some 50 ms, but for any number of links
 * at once. A thread does it, because the rings fill up while the daemon waits.
 */
static void begin_to_close(struct probe_link *link)
{
	link->closing = pthread_create(&link->closer, NULL, close_link, link) == 0;
	if (link->closing)
		return;
	close_link(link);
	link->link = NULL;
	link->fd = -1;
}

static bool is_unused(const struct probe_link *link)
{
	return !link->nr_on && !link->closing && (link->link || link->fd >= 0);
}

static bool is_unused_tracepoint(const struct probe_link *link)
{
	return link->is_tracepoint && is_unused(link);
}

/* Those of user space are detached at once: another recorder may change the program next. */
static void detach_tracepoints(struct tracer_probing *probing)
{
	int *fds = calloc(probing->nr + 2, sizeof(*fds)), guard = -1;
	size_t nr = 0;

	for (struct probe_link *link = probing->links; fds && link; link = link->next)
		if (is_unused_tracepoint(link) && nr < probing->nr)
			fds[nr++] = bpf_link__fd(link->link);
	if (fds)
		guard = probe_detach_begin(fds, nr);
	free(fds);
	if (guard < 0)
		return;
	for (struct probe_link *link = probing->links; link; link = link->next)
		if (is_unused_tracepoint(link)) {
			close_link(link);
			link->link = NULL;
		}
	close(guard);
}

static void close_unused(struct tracer_probing *probing)
{
	for (uint32_t i = 0; i < probing->nr; i++)
		if (probing->places[i].link && !probing->places[i].link->nr_on)
			probing->places[i].link = NULL;
	detach_tracepoints(probing);
	for (struct probe_link *link = probing->links; link; link = link->next)
		if (is_unused(link))
			begin_to_close(link);
}

/* @wait: also wait for the links that are being closed. */
static void free_closed_links(struct tracer_probing *probing, bool wait)
{
	struct probe_link **at = &probing->links, *link;

	while ((link = *at)) {
		bool closed = link->closing ? (wait ? pthread_join(link->closer, NULL)
						    : pthread_tryjoin_np(link->closer, NULL)) == 0
					    : !link->link && link->fd < 0;

		if (closed) {
			*at = link->next;
			free(link);
		} else {
			at = &link->next;
		}
	}
}

/* ---- a tracer's probes ---- */

static void set_place(struct tracer_probing *probing, uint32_t idx, bool on)
{
	struct attach_place *place = &probing->places[idx];

	if (place->on == on || !place->link)
		return;
	place->on = on;
	place->link->nr_on += on ? 1u : -1u;
	__atomic_store_n(&probing->skeleton->bss->probe_on[idx], on ? place->number : 0, __ATOMIC_RELEASE);
}

/*
 * Switch ends before begins, both on and off. When switching on, each recorded begin then has its
 * end recorded, too. When switching off, a begin may lack its end, but the reverse cannot happen:
 * the end of an inner call without its begin would be taken for the end of an outer call of the
 * same function.
 */
static void set_places(struct tracer_probing *probing, const bool *on, bool value)
{
	for (int returns = 1; returns >= 0; returns--)
		for (uint32_t i = 0; i < probing->nr; i++)
			if ((on && on[i]) == value && trace_probes_get(probing->probes, i)->at_return == returns)
				set_place(probing, i, value);
}

size_t tracer_switch_probes(struct tracer *tracer, const bool *on)
{
	struct tracer_probing *probing = tracer->probing;
	size_t nr = 0;

	if (!probing)
		return 0;
	free_closed_links(probing, false);
	set_places(probing, on, false);
	close_unused(probing);
	probing->is_any_mute = any_to_attach_in_programs(probing, on) && probe_target_any_is_mute(&probing->opener);
	for (uint32_t i = 0; on && i < probing->nr; i++)
		if (on[i] && !probing->places[i].link)
			attach_with(tracer, probing, i, on);
	if (on)
		set_places(probing, on, true);
	for (uint32_t i = 0; i < probing->nr; i++)
		nr += probing->places[i].on;
	return nr;
}

/* ---- costs ---- */

static void close_measured(void *context, struct bpf_link *link)
{
	struct probe_link *closing = new_link(context);

	if (!closing) {
		bpf_link__destroy(link);
		return;
	}
	closing->link = link;
	begin_to_close(closing);
}

static bool any_in_programs(const struct tracer_probing *probing)
{
	for (size_t i = 0; i < probing->nr; i++)
		if (!trace_probes_get(probing->probes, i)->in_kernel)
			return true;
	return false;
}

/* In a recipe of its own, behind those of the places, which is on meanwhile. */
static void measure_costs(struct tracer_probing *probing)
{
	struct probe_recipe recipe = {.is_measured = 1};
	uint32_t idx = (uint32_t)probing->nr;

	if (probing->nr >= TRACE_PROBE_MAX_PLACES || !any_in_programs(probing) ||
	    bpf_map__update_elem(probing->skeleton->maps.recipes, &idx, sizeof(idx), &recipe, sizeof(recipe), BPF_ANY))
		return;
	__atomic_store_n(&probing->skeleton->bss->probe_on[idx], 1, __ATOMIC_RELEASE);
	probe_costs_measure(probing->skeleton->progs.probe_user, 1ull << 32 | idx, close_measured, probing,
			    &probing->costs);
	__atomic_store_n(&probing->skeleton->bss->probe_on[idx], 0, __ATOMIC_RELEASE);
}

static struct probe_cost both(struct probe_cost one, struct probe_cost two)
{
	if (!one.ns || !two.ns)
		return (struct probe_cost){0};
	return (struct probe_cost){.ns = one.ns + two.ns,
				   .least_ns = one.least_ns + two.least_ns,
				   .most_ns = one.most_ns + two.most_ns};
}

/*
 * Does the breakpoint of @idx count with the hits of @other? An instruction has one breakpoint,
 * which counts with the probe that every process of the others has, and else with the first one.
 */
static bool shares_breakpoint(const struct tracer_probing *probing, uint32_t idx, uint32_t other)
{
	const struct trace_probe *probe = trace_probes_get(probing->probes, idx),
				 *first = trace_probes_get(probing->probes, other);

	if (!probing->places[other].on || first->in_kernel || first->offset != probe->offset ||
	    probing->places[other].file.dev != probing->places[idx].file.dev ||
	    probing->places[other].file.ino != probing->places[idx].file.ino)
		return false;
	return first->pid == probe->pid ? other < idx : !first->pid;
}

/* The cost that a hit adds to the hits of other probes at the same instruction. */
static struct probe_cost cost_of(const struct tracer_probing *probing, uint32_t idx)
{
	const struct trace_probe *probe = trace_probes_get(probing->probes, idx);
	const struct probe_cost *costs = probing->costs.costs;
	bool shares_entry = false, shares_return = false;

	if (probe->in_kernel)
		return (struct probe_cost){0};
	for (uint32_t i = 0; i < probing->nr; i++) {
		if (i == idx || !shares_breakpoint(probing, idx, i))
			continue;
		shares_entry = true;
		shares_return |= trace_probes_get(probing->probes, i)->at_return;
	}
	if (probe->at_return ? shares_return : shares_entry)
		return costs[PROBE_COST_FURTHER];
	if (!probe->at_return)
		return costs[probing->places[idx].kind];
	return shares_entry ? costs[PROBE_COST_RETURN]
			    : both(costs[probing->places[idx].kind], costs[PROBE_COST_RETURN]);
}

int tracer_each_probe_cost(const struct tracer *tracer,
			   int (*fn)(void *context, uint32_t event, const struct probe_cost *cost), void *context)
{
	const struct tracer_probing *probing = tracer->probing;
	struct probe_cost cost;
	int result = 0;

	for (uint32_t i = 0; probing && i < probing->nr && !result; i++) {
		cost = cost_of(probing, i);
		if (cost.ns)
			result = fn(context, probing->places[i].id, &cost);
	}
	return result;
}

void tracer_set_probe_condition(struct tracer *tracer, size_t idx, const struct trace_condition *condition)
{
	struct tracer_probing *probing = tracer->probing;
	struct probe_recipe recipe;
	uint32_t key = (uint32_t)idx;

	if (!probing || !probing->skeleton || idx >= probing->nr ||
	    bpf_map__lookup_elem(probing->skeleton->maps.recipes, &key, sizeof(key), &recipe, sizeof(recipe), 0) ||
	    !memcmp(&recipe.condition, condition, sizeof(recipe.condition)))
		return;
	recipe.condition = *condition;
	bpf_map__update_elem(probing->skeleton->maps.recipes, &key, sizeof(key), &recipe, sizeof(recipe), BPF_ANY);
}

static struct programs_needed programs_needed_by(const struct trace_probes *probes)
{
	struct programs_needed needed = {0};

	for (size_t i = 0; i < trace_probes_nr(probes); i++) {
		const struct trace_probe *probe = trace_probes_get(probes, i);

		needed.tracepoint |= probe->tracepoint != 0;
		needed.kernel |= probe->in_kernel && !probe->tracepoint;
	}
	return needed;
}

int tracer_load_probes(struct tracer *tracer, const struct trace_probes *probes, const uint16_t *ids,
		       struct trace_error *ret_error)
{
	struct tracer_probing *probing = calloc(1, sizeof(*probing));
	int result;

	tracer_detach_probes(tracer);
	tracer->probing = probing;
	if (probing)
		probing->places = calloc(trace_probes_nr(probes) + 1, sizeof(*probing->places));
	if (!probing || !probing->places) {
		tracer_detach_probes(tracer);
		return error_set(ret_error, -ENOMEM, "out of memory for probes");
	}
	probing->probes = probes;
	probing->nr = trace_probes_nr(probes);
	look_at_places(probing);
	for (uint32_t i = 0; i < probing->nr; i++)
		probing->places[i].id = ids[i];
	result = load(tracer, probing, probing->nr, programs_needed_by(probes));
	for (uint32_t i = 0; !result && i < probing->nr; i++)
		result = write_recipe(probing, i, trace_probes_get(probes, i), ids[i]);
	tracer_choose_deferring(tracer);
	if (!result)
		measure_costs(probing);
	if (!result)
		return 0;
	tracer_detach_probes(tracer);
	return error_set(ret_error, result,
			 "the kernel refuses the BPF programs of probes: %s (TRACER_DEBUG=1 shows the kernel's log)",
			 strerror(-result));
}

void tracer_unlink_probes(struct tracer *tracer)
{
	if (!tracer->probing || !tracer->probing->skeleton)
		return;
	tracer_switch_probes(tracer, NULL);
	free_closed_links(tracer->probing, true);
}

void tracer_detach_probes(struct tracer *tracer)
{
	struct tracer_probing *probing = tracer->probing;

	if (!probing)
		return;
	tracer_unlink_probes(tracer);
	probes_bpf__destroy(probing->skeleton);
	file_opener_close(&probing->opener);
	free(probing->places);
	free(probing);
	tracer->probing = NULL;
}

uint64_t tracer_probes_unread(const struct tracer *tracer)
{
	struct probe_recipe recipe;
	uint64_t unread = 0;

	for (uint32_t i = 0; tracer->probing && i < tracer->probing->nr; i++)
		if (bpf_map__lookup_elem(tracer->probing->skeleton->maps.recipes, &i, sizeof(i), &recipe,
					 sizeof(recipe), 0) == 0)
			unread += recipe.unread;
	return unread;
}

enum tracer_probe_hit tracer_probe_hit(const struct tracer *tracer, size_t idx)
{
	const struct tracer_probing *probing = tracer->probing;

	if (!probing || !probing->skeleton || idx >= probing->nr || !probing->places[idx].number)
		return TRACER_PROBE_NEVER_ON;
	return probing->skeleton->bss->probe_was_hit[idx] ? TRACER_PROBE_HIT : TRACER_PROBE_NO_HIT;
}

uint64_t tracer_probe_refused(const struct tracer *tracer, size_t idx, uint32_t *ret_ns)
{
	const struct tracer_probing *probing = tracer->probing;
	struct probe_recipe recipe;
	uint32_t key = (uint32_t)idx;

	if (!probing || idx >= probing->nr ||
	    bpf_map__lookup_elem(probing->skeleton->maps.recipes, &key, sizeof(key), &recipe, sizeof(recipe), 0))
		return 0;
	*ret_ns = cost_of(probing, key).ns;
	return recipe.refused;
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
	return program_missed(probing->skeleton->progs.probe_user) +
	       program_missed(probing->skeleton->progs.probe_user_multi) +
	       program_missed(probing->skeleton->progs.probe_kernel) +
	       program_missed(probing->skeleton->progs.probe_tracepoint);
}
