/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rule_descriptors.h"

#include <inttypes.h>
#include <stdlib.h>
#include <trace/events.h>

#include "hash_table.h"
#include "kernel_numbers.h"
#include "rules.h"

/* The descriptor that a thread made in its last call. */
struct descriptor_row {
	uint64_t key; /* trace_thread_index() + 1 */
	uint64_t ns;
	struct trace_file_id file;
	int32_t from;
	int32_t fd;
	bool is_new; /* to be judged at the next call */
};

struct descriptors {
	struct rules *rules;
	struct hash_table threads;
	struct hash_table shared; /* pid + 1 of processes whose descriptors others use, too */
};

static void on_exit_of_call(struct descriptors *d, struct trace_analysis *analysis, const struct trace_thread *thread,
			    const struct trace_event *event)
{
	int64_t ret = ((const struct trace_sys_exit *)event->payload)->ret;
	struct descriptor_row *row;
	struct trace_file_id file;
	int32_t from;

	if (ret < 0 || ret > INT32_MAX || !rules_duplicates(analysis, thread))
		return;
	from = (int32_t)trace_thread_syscall_arg(thread, 0);
	if (!trace_thread_file_id(analysis, thread, from, &file))
		return;
	row = table_add(&d->threads, sizeof(*row), trace_thread_index(thread) + 1ull);
	if (row) /* without memory the rule sees less */
		*row = (struct descriptor_row){.key = row->key,
					       .ns = event->ts_ns,
					       .file = file,
					       .from = from,
					       .fd = (int32_t)ret,
					       .is_new = true};
}

static bool is_shared(const struct descriptors *d, const struct trace_thread *thread)
{
	const struct trace_process *process = trace_thread_process(thread);
	const struct trace_thread *first = trace_next_thread(process, NULL);

	return (first && trace_next_thread(process, first)) ||
	       table_find(&d->shared, sizeof(uint64_t), trace_process_pid(process) + 1ull);
}

static void on_next_call(struct descriptors *d, struct trace_analysis *analysis, const struct trace_thread *thread,
			 uint64_t ns)
{
	struct descriptor_row *row = table_find(&d->threads, sizeof(*row), trace_thread_index(thread) + 1ull);
	struct trace_file_id file;

	if (!row || !row->is_new)
		return;
	row->is_new = false;
	if ((trace_thread_file_id(analysis, thread, row->fd, &file) && file.ino == row->file.ino &&
	     file.dev == row->file.dev) ||
	    is_shared(d, thread) || !rules_are_sure(d->rules, row->ns, ns))
		return;
	rules_broken(d->rules, row->ns, thread,
		     "has made descriptor %d of %d, but they are not of the same file in the results", row->fd,
		     row->from);
}

static void on_fork(struct descriptors *d, const struct trace_thread *parent, const struct trace_sched_fork *fork)
{
	if (!(fork->clone_flags & LINUX_CLONE_FILES))
		return;
	table_add(&d->shared, sizeof(uint64_t), trace_process_pid(trace_thread_process(parent)) + 1ull);
	table_add(&d->shared, sizeof(uint64_t), fork->tgid + 1ull);
}

static void on_event(void *data, struct trace_analysis *analysis, const struct trace_event *event)
{
	const struct trace_thread *thread = trace_event_thread(analysis, event);

	if (!thread)
		return;
	if (event->id == TRACE_EV_sys_exit)
		on_exit_of_call(data, analysis, thread, event);
	else if (event->id == TRACE_EV_sched_fork)
		on_fork(data, thread, event->payload);
	else
		on_next_call(data, analysis, thread, event->ts_ns);
}

void *rule_descriptors_begin(struct rules *rules)
{
	static const uint32_t ids[] = {TRACE_EV_sys_enter, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6, TRACE_EV_sys_exit,
				       TRACE_EV_sched_fork};
	struct descriptors *d = calloc(1, sizeof(*d));

	if (!d)
		return NULL;
	d->rules = rules;
	if (!rules_on_events(rules, ids, sizeof(ids) / sizeof(ids[0]), on_event, d)) {
		rule_descriptors_end(d);
		return NULL;
	}
	return d;
}

void rule_descriptors_end(void *data)
{
	struct descriptors *d = data;

	table_clear(&d->threads);
	table_clear(&d->shared);
	free(d);
}
