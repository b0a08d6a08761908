/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * task_work.bpf.c - work that the kernel puts off until a thread returns to user mode
 *
 * The kernel queues such work in task_struct.task_works and does it between the exit of a call and
 * user mode. It has no event at the end of it, but it then updates the thread's restartable
 * sequence (rseq), which most programs have. For the others, the registers with which the thread
 * entered the kernel last tell more: as long as they are those of the call, the thread has not been
 * in user mode. Each interrupt and each switch asks for that, while there is such work.
 */

/* Threads with such work, and the call behind which it comes. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, u64);
} works_put_off SEC(".maps");
volatile trace_u64 nr_works_put_off; /* in the map, or evicted */
/*
 * The same for the threads of each slot, so that all other threads need no look-up: a thread that
 * sleeps in the call behind which the work came stays in the map.
 */
#define WORK_SLOTS   1024u
#define WORK_SLOT(a) ((a) & (WORK_SLOTS - 1))
volatile unsigned int nr_works_in_slot[WORK_SLOTS];

static __always_inline bool has_task_work(struct subbuf_control *control)
{
	return current_by_loads(control)->task_works != NULL;
}

static __always_inline void count_work(u32 tid, int change)
{
	__sync_fetch_and_add(&nr_works_in_slot[WORK_SLOT(tid)], change);
	__sync_fetch_and_add(&nr_works_put_off, change);
}

/* The current thread will return to user mode; that is to be recorded. */
static __always_inline void note_return(struct task_struct *task)
{
	u64 call = call_id((struct pt_regs *)bpf_task_pt_regs(task));
	u32 tid = task->pid;

	if (!bpf_map_update_elem(&works_put_off, &tid, &call, BPF_NOEXIST))
		count_work(tid, 1);
	else
		bpf_map_update_elem(&works_put_off, &tid, &call, BPF_ANY);
}

/* Only completions of io_uring? They have events of their own, and the kernel does not update rseq
 * after them. */
static __always_inline bool is_of_io_uring(struct task_struct *task)
{
	struct io_uring_task *own = task->io_uring;
	struct callback_head *work = task->task_works;

	return own && bpf_core_field_exists(own->task_work) &&
	       (u64)work == (u64)own + bpf_core_field_offset(struct io_uring_task, task_work) &&
	       !BPF_CORE_READ(work, next);
}

/* The result has no meaning. */
static __noinline int task_work_begins(void)
{
	struct task_struct *task = current_task();
	u32 tid = task->pid;

	if (!event_wanted(TRACE_EV_task_work) || is_of_io_uring(task))
		return 0;
	note_return(task);
	RECORD(task_work) {
		record->tid = tid;
		record->pad = 0;
		COMMIT(task_work);
	}
	return 0;
}

/* Returns whether it was there. */
static __always_inline bool forget_task_work(u32 tid)
{
	if (bpf_map_delete_elem(&works_put_off, &tid))
		return false;
	count_work(tid, -1);
	return true;
}

/* The result has no meaning. */
static __noinline int task_work_ends(bool exact)
{
	struct task_struct *task = current_task();
	u32 tid = task->pid;
	u64 *call;

	if (!nr_works_in_slot[WORK_SLOT(tid)])
		return 0;
	call = bpf_map_lookup_elem(&works_put_off, &tid);
	if (!call || (!exact && *call == call_id((struct pt_regs *)bpf_task_pt_regs(task))))
		return 0;
	if (!forget_task_work(tid) || !event_wanted(TRACE_EV_task_work_end))
		return 0;
	RECORD(task_work_end) {
		record->tid = tid;
		record->exact = exact;
		COMMIT(task_work_end);
	}
	return 0;
}

/* For an event that may come from user mode, before its record. */
static __always_inline void check_task_work(void)
{
	if (nr_works_put_off)
		task_work_ends(false);
}

SEC("event/rseq_update")
int BPF_PROG(task_work_end__rseq, struct task_struct *task)
{
	if (nr_works_put_off)
		task_work_ends(true);
	return 0;
}
