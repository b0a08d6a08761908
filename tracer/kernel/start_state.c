/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* start_state.c - turns the output of the iterators, and data only in /proc,
 * into start-state records. */
#include "start_state.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "clock_ns.h"
#include "file_opener.h"
#include "iterator_child.h"
#include "loader.h"
#include "group_hierarchy.h"
#include "kernel_names.h"
#include "not_traced.h"
#include "probe_attach.h"
#include "event_cost.h"
#include "fault_cost.h"
#include "probe_cost.h"
#include "start_proc.h"
#include "start_record.h"
#include "read_end.h"

#define ITER_BUFFER_BYTES (256u << 10)

void tracer_remember_group(struct tracer_collector *c, uint64_t cgroup, uint32_t tid)
{
	for (size_t i = 0; i < c->nr_cgroups; i++)
		if (c->cgroups[i] == cgroup)
			return;
	if (c->nr_cgroups == TRACER_MAX_CGROUPS) {
		c->unnamed_threads++;
		return;
	}
	c->cgroups[c->nr_cgroups] = cgroup;
	c->cgroup_tids[c->nr_cgroups++] = tid;
}

static void remember_thread(struct tracer_collector *c, const struct trace_start_thread *thread)
{
	if (thread->tid < TRACER_MAX_TID)
		c->seen[thread->tid / 8] |= (unsigned char)(1u << thread->tid % 8);
	tracer_remember_group(c, thread->cgroup, thread->tid);
}

/* ---- threads that share descriptors, and processes that share memory ---- */

static int by_table(const void *left, const void *right)
{
	const struct tracer_iter_files *l = left, *r = right;

	return l->files < r->files ? -1 : l->files > r->files;
}

static int by_memory(const void *left, const void *right)
{
	const struct tracer_iter_files *l = left, *r = right;

	return l->memory < r->memory ? -1 : l->memory > r->memory;
}

/* The first thread of those that @compare finds equal; a copy of @files if that is the first one.
 * NULL: out of memory. */
static const struct tracer_iter_files *first_of(void **tree, const struct tracer_iter_files *files,
						int (*compare)(const void *left, const void *right))
{
	struct tracer_iter_files **slot = tsearch(files, tree, compare), *own;

	if (!slot || *slot != files)
		return slot ? *slot : NULL;
	own = malloc(sizeof(*own));
	if (!own) {
		tdelete(files, tree, compare);
		return NULL;
	}
	*own = *files;
	*slot = own;
	return own;
}

/* The first thread with a table represents it. That thread gets a record only if it is not the
 * leader: the record says that its table is not its process's. */
static int emit_table(struct tracer_collector *c, const struct tracer_iter_files *files, uint64_t ts_ns)
{
	const struct tracer_iter_files *first = first_of(&c->tables, files, by_table);
	struct trace_start_files payload = {.tid = files->tid};

	if (!first)
		return -ENOMEM;
	if (first->tid == files->tid && files->tid == files->tgid)
		return 0;
	payload.as = first->tid;
	return tracer_emit_record(c, TRACE_EV_start_files, ts_ns, &payload, sizeof(payload), NULL);
}

/* The first process with an address space represents it. */
static int emit_memory(struct tracer_collector *c, const struct tracer_iter_files *files, uint64_t ts_ns)
{
	const struct tracer_iter_files *first = files->memory ? first_of(&c->memories, files, by_memory) : files;
	struct trace_start_memory payload = {.tgid = files->tgid};

	if (!first)
		return -ENOMEM;
	if (first->tgid == files->tgid)
		return 0;
	payload.as = first->tgid;
	return tracer_emit_record(c, TRACE_EV_start_memory, ts_ns, &payload, sizeof(payload), NULL);
}

static int emit_files(struct tracer_collector *c, const struct tracer_iter_files *files, uint64_t ts_ns)
{
	int result = emit_table(c, files, ts_ns);

	return result ? result : emit_memory(c, files, ts_ns);
}

/* ---- reading iterators ---- */

/* The fixed part of the payload of an event from an iterator. */
static size_t payload_bytes_of(uint32_t id)
{
	switch (id) {
	case TRACE_EV_start_thread:
		return sizeof(struct trace_start_thread);
	case TRACE_EV_start_exe:
		return sizeof(struct trace_start_exe);
	case TRACE_EV_start_files:
		return sizeof(struct tracer_iter_files);
	case TRACE_EV_start_fd:
		return sizeof(struct trace_start_fd);
	case TRACE_EV_start_socket:
		return sizeof(struct trace_start_socket);
	case TRACE_EV_start_map:
		return sizeof(struct trace_start_map);
	case TRACE_EV_fs_layer:
		return sizeof(struct trace_fs_layer);
	default:
		return 0;
	}
}

static int emit_one(struct tracer_collector *c, const struct tracer_iter_record *head, const unsigned char *payload,
		    size_t fixed)
{
	struct tracer_iter_files files;
	char text[TRACER_PATH_BYTES + 1];

	if (head->id == TRACE_EV_start_files) {
		memcpy(&files, payload, sizeof(files));
		return emit_files(c, &files, head->ts_ns);
	}
	if (head->id == TRACE_EV_start_thread)
		remember_thread(c, (const void *)payload);
	memcpy(text, payload + fixed, head->bytes - fixed);
	text[head->bytes - fixed] = '\0';
	return tracer_emit_record(c, head->id, head->ts_ns, payload, fixed, head->bytes > fixed ? text : NULL);
}

/* Consume complete records of @buffer; the rest stays. Returns the bytes used, or
 * the negative result of emit. */
static ssize_t emit_buffer(struct tracer_collector *c, const unsigned char *buffer, size_t bytes)
{
	size_t used = 0;

	while (bytes - used >= sizeof(struct tracer_iter_record)) {
		struct tracer_iter_record head;
		size_t fixed;
		int result;

		memcpy(&head, buffer + used, sizeof(head));
		if (bytes - used - sizeof(head) < head.bytes)
			break;
		fixed = payload_bytes_of(head.id);
		if (!fixed || head.bytes < fixed || head.bytes - fixed > TRACER_PATH_BYTES)
			return -EBADMSG;
		result = emit_one(c, &head, buffer + used + sizeof(head), fixed);
		if (result)
			return result;
		used += sizeof(head) + head.bytes;
	}
	return (ssize_t)used;
}

/**
 * struct iterator_rows - what an iterator has written. @filled: bytes at the begin of @buffer that
 * are no complete record yet
 */
struct iterator_rows {
	struct tracer_collector *c;
	size_t filled;
	unsigned char buffer[ITER_BUFFER_BYTES];
};

static int take_rows(struct iterator_rows *rows, size_t bytes)
{
	ssize_t used;

	rows->filled += bytes;
	used = emit_buffer(rows->c, rows->buffer, rows->filled);
	if (used < 0)
		return (int)used;
	rows->filled -= (size_t)used;
	memmove(rows->buffer, rows->buffer + used, rows->filled);
	return 0;
}

static int read_iterator(struct iterator_rows *rows, int fd)
{
	for (;;) {
		ssize_t got = read(fd, rows->buffer + rows->filled, sizeof(rows->buffer) - rows->filled);
		int result;

		if (got < 0 && (errno == EINTR || errno == EAGAIN))
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		result = take_rows(rows, (size_t)got);
		if (result)
			return result;
	}
}

/* The mappings of a process that was read in part are emitted again, which does no harm. */
static int take_part(void *context, const unsigned char *part, size_t bytes)
{
	struct iterator_rows *rows = context;

	if (!part || bytes > sizeof(rows->buffer) - rows->filled) {
		rows->filled = 0;
		return part ? -EBADMSG : 0;
	}
	memcpy(rows->buffer + rows->filled, part, bytes);
	return take_rows(rows, bytes);
}

static int open_iterator(struct bpf_program *program, struct bpf_link **ret_link)
{
	int fd;

	*ret_link = bpf_program__attach_iter(program, NULL);
	if (!*ret_link)
		return -errno;
	fd = bpf_iter_create(bpf_link__fd(*ret_link));
	if (fd >= 0)
		return fd;
	fd = -errno;
	bpf_link__destroy(*ret_link);
	return fd;
}

static int read_all(struct iterator_rows *rows, struct bpf_program *program)
{
	struct bpf_link *link;
	int fd = open_iterator(program, &link), result;

	if (fd < 0)
		return fd;
	result = read_iterator(rows, fd);
	close(fd);
	bpf_link__destroy(link);
	return result;
}

/* An iterator that the kernel refused is noted as not traced; the rest of
 * the state is still useful. */
static int run_iterator(struct tracer_collector *c, struct tracer *tracer, struct bpf_program *program)
{
	struct iterator_rows *rows;
	int result;

	for (size_t i = 0; i < tracer->nr_programs; i++)
		if (tracer->programs[i].program == program && tracer->programs[i].unavailable[0]) {
			tracer_note_not_traced(tracer, &tracer->programs[i]);
			return 0;
		}
	rows = malloc(sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	rows->c = c;
	rows->filled = 0;
	result = program == tracer->skeleton->progs.start_map ? iterator_child_read(program, c, take_part, rows)
							      : read_all(rows, program);
	free(rows);
	return result;
}

/* The kernel writes complete rows; a short read ends between two. */
int tracer_each_process(struct tracer *tracer, int (*fn)(void *context, const struct tracer_iter_process *process),
			void *context)
{
	struct tracer_iter_process rows[256];
	struct bpf_link *link;
	int fd = open_iterator(tracer->skeleton->progs.list_processes, &link), result = 0;
	ssize_t got = 0;

	if (fd < 0)
		return fd;
	while (!result &&
	       ((got = read(fd, rows, sizeof(rows))) > 0 || (got < 0 && (errno == EINTR || errno == EAGAIN))))
		for (ssize_t i = 0; !result && i < got / (ssize_t)sizeof(rows[0]); i++)
			result = fn(context, &rows[i]);
	if (!result && got < 0)
		result = -errno;
	close(fd);
	bpf_link__destroy(link);
	return result;
}

/* The path in the hierarchy of the group, from the first thread that was found in the group. */
static int emit_cgroup(struct tracer_collector *c, size_t idx)
{
	struct trace_start_cgroup payload = {.cgroup = c->cgroups[idx]};
	char path[64], *line = NULL;
	const char *group;
	size_t room = 0;
	int result = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/cgroup", c->cgroup_tids[idx]);
	file = fopen(path, "re");
	if (!file)
		return 0; /* exited meanwhile */
	while (result == 0 && getline(&line, &room, file) > 0) {
		line[strcspn(line, "\n")] = '\0';
		group = tracer_group_path(line, (unsigned int)(payload.cgroup >> 56)); /* identity.bpf.c */
		if (group)
			result = tracer_emit_record(c, TRACE_EV_start_cgroup, clock_monotonic_ns(), &payload,
						    sizeof(payload), group);
	}
	if (!result && read_lines_error(file) == -ENOMEM)
		result = -ENOMEM; /* other errors: it exited meanwhile */
	free(line);
	fclose(file);
	return result;
}

static int emit_irq(void *context, unsigned int irq, const char *name)
{
	struct trace_start_irq payload = {.irq = irq};

	return tracer_emit_record(context, TRACE_EV_start_irq, clock_monotonic_ns(), &payload, sizeof(payload), name);
}

static int emit_probe_cost(void *context, uint32_t event, const struct probe_cost *cost)
{
	struct trace_probe_cost payload = {
		.event = event, .ns = cost->ns, .least_ns = cost->least_ns, .most_ns = cost->most_ns};

	return tracer_emit_record(context, TRACE_EV_probe_cost, clock_monotonic_ns(), &payload, sizeof(payload), NULL);
}

/* A recording without programs' events does not need it, but the daemon may add them later. */
static int emit_event_cost(struct tracer_collector *c)
{
	struct event_costs costs = event_cost_measure();
	struct trace_event_cost inlined = {.ps = costs.inlined.ps,
					   .least_ps = costs.inlined.least_ps,
					   .most_ps = costs.inlined.most_ps};
	struct trace_long_cost text = {.ps = costs.text.ps,
				       .least_ps = costs.text.least_ps,
				       .most_ps = costs.text.most_ps,
				       .ps_per_64_bytes = costs.ps_per_64_bytes};
	int result = 0;

	if (inlined.ps)
		result = tracer_emit_record(c, TRACE_EV_event_cost, clock_monotonic_ns(), &inlined, sizeof(inlined),
					    NULL);
	if (!result && text.ps)
		result = tracer_emit_record(c, TRACE_EV_long_cost, clock_monotonic_ns(), &text, sizeof(text), NULL);
	return result;
}

/* Recordings without page faults do not tell it. */
static int emit_fault_cost(struct tracer_collector *c, struct tracer_bpf *skeleton)
{
	struct trace_fault_cost payload = {.ns = fault_cost_measure(skeleton)};

	if (!payload.ns)
		return 0;
	return tracer_emit_record(c, TRACE_EV_fault_cost, clock_monotonic_ns(), &payload, sizeof(payload), NULL);
}

struct tracer_collector *tracer_collector_new(const struct tracer *tracer, tracer_emit_fn emit, void *context)
{
	struct tracer_collector *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->emit = emit;
	c->context = context;
	c->no_args = tracer->options.no_args;
	c->args_of_uid = tracer->options.others_hidden ? tracer->options.filter_uid : -1;
	return c;
}

/* Children that wait for processes of other users are no reason to record nothing. */
static int but_unread(int result)
{
	if (result != -ETIMEDOUT && result != -EBUSY)
		return result;
	files_note_unread();
	return 0;
}

int tracer_start_state(struct tracer *tracer, tracer_emit_fn emit, void *context, struct trace_error *ret_error)
{
	struct bpf_program *passes[] = {tracer->skeleton->progs.start_thread, tracer->skeleton->progs.start_exe,
					tracer->skeleton->progs.start_files, tracer->skeleton->progs.start_fd,
					tracer->skeleton->progs.start_map};
	struct tracer_collector *c = tracer_collector_new(tracer, emit, context);
	int result = c ? 0 : -ENOMEM;

	if (c)
		c->begin_ns = clock_monotonic_ns();
	for (size_t i = 0; !result && i < sizeof(passes) / sizeof(passes[0]); i++)
		result = but_unread(run_iterator(c, tracer, passes[i]));
	if (!result)
		result = but_unread(tracer_start_state_of_proc(c));
	for (size_t i = 0; !result && i < c->nr_cgroups; i++)
		result = emit_cgroup(c, i);
	if (!result)
		result = tracer_each_interrupt(emit_irq, c);
	if (!result)
		result = tracer_each_probe_cost(tracer, emit_probe_cost, c);
	if (!result)
		result = emit_event_cost(c);
	if (!result)
		result = emit_fault_cost(c, tracer->skeleton);
	/* A flight recorder reads the start state only at a snapshot. Until then a thread's name is
	 * recorded at its exit, with the other events of the exit. */
	tracer->skeleton->bss->start_state_is_read = !tracer->options.overwrite;
	if (c) {
		tracer->unnamed_group_threads = c->unnamed_threads;
		tdestroy(c->tables, free);
		tdestroy(c->memories, free);
	}
	free(c);
	return result ? error_set(ret_error, result, "cannot read the state of the system: %s", strerror(-result)) : 0;
}
