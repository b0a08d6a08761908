/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * start_later.c - descriptors, mappings and parents of the start state that are true from later on
 *
 * A descriptor or a mapping that changed before the recorder read it has its record's file since
 * the last of these changes. The event of that change comes first, and then the record.
 * A process has its record's parent since that one's last adoption.
 */
#include "start_later.h"

#include <errno.h>
#include <stdlib.h>
#include "sort.h"
#include "state.h"
#include "state_directory.h"
#include "state_family.h"
#include "state_touch.h"

void later_add(struct trace_analysis *a, const struct later *new)
{
	struct later_list *later = &a->later;
	struct later *bigger;

	if (later->nr == later->max) {
		bigger = reallocarray(later->list, 2 * later->max + 64, sizeof(*bigger));
		if (!bigger) {
			a->failed = -ENOMEM;
			return;
		}
		later->list = bigger;
		later->max = 2 * later->max + 64;
	}
	later->list[later->nr++] = *new;
}

static int by_time(const void *left, const void *right)
{
	const struct later *l = left, *r = right;

	return l->ns < r->ns ? -1 : l->ns > r->ns;
}

void later_complete(struct trace_analysis *a)
{
	if (!sort_rows(a->later.list, a->later.nr, sizeof(*a->later.list), by_time))
		a->failed = -ENOMEM;
	if (a->later.nr)
		a->later.next_ns = a->later.list[0].ns;
}

static void apply_one(struct trace_analysis *a, const struct later *now)
{
	struct trace_process *process = process_find(&a->threads, now->pid);
	struct trace_thread *thread = now->tid	? thread_find(&a->threads, now->tid)
				      : process ? process_owner(&a->threads, process)
						: NULL;

	if (!thread || thread->sched_state == SCHED_DEAD)
		return;
	if (now->ppid) {
		family_adopted(a, process, now->ns, now->ppid);
		return;
	}
	if (!now->end && (int32_t)now->fd < 0) {
		directory_put(a, thread, (int32_t)now->fd, now->file);
		return;
	}
	if (!now->end) {
		fd_put(a, thread, now->fd, now->file & ~FD_CLOEXEC_BIT, now->file & FD_CLOEXEC_BIT);
		return;
	}
	if (!thread->memory)
		thread->memory = memory_new(a);
	if (thread->memory)
		memory_map(a, thread->memory,
			   (struct mapping){now->start, now->end, now->offset, now->file, now->is_private});
	if (a->rules)
		rules_had_file(a, thread, now->file);
}

void later_apply(struct trace_analysis *a, uint64_t ns)
{
	struct later_list *later = &a->later;

	while (later->next < later->nr && later->next_ns <= ns) {
		apply_one(a, &later->list[later->next++]);
		if (later->next < later->nr)
			later->next_ns = later->list[later->next].ns;
	}
}

void later_mark(const struct later_list *later, uint64_t *marks)
{
	for (size_t i = later->next; i < later->nr; i++) {
		uint32_t file = later->list[i].file & ~FD_CLOEXEC_BIT;

		marks[file / 64] |= 1ull << file % 64;
	}
}

void later_clear(struct later_list *later)
{
	free(later->list);
}
