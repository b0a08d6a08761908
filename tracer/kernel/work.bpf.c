/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* work.bpf.c - deferred work of the kernel: the thread that queued it, the worker that did it. */

/* The functions of all work so far: the loader gives the trace their names at the end. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1024);
	__type(key, u64);
	__type(value, u32);
} work_functions SEC(".maps");

static __always_inline void note_function(u64 func)
{
	u32 one = 1;

	if (!bpf_map_lookup_elem(&work_functions, &func))
		bpf_map_update_elem(&work_functions, &func, &one, BPF_ANY);
}

SEC("event/workqueue_queue_work")
int BPF_PROG(work_queue, int cpu, void *pool, struct work_struct *work)
{
	if (!current_passes())
		return 0;
	RECORD(work_queue) {
		record->work = (u64)work;
		record->func = (u64)work->func;
		COMMIT(work_queue);
	}
	return 0;
}

SEC("event/workqueue_execute_start")
int BPF_PROG(work_start, struct work_struct *work)
{
	if (!current_passes())
		return 0;
	note_function((u64)work->func);
	count_function(TRACER_COUNT_WORK, (u64)work->func);
	RECORD(work_start) {
		record->work = (u64)work;
		record->func = (u64)work->func;
		COMMIT(work_start);
	}
	return 0;
}

SEC("event/workqueue_execute_end")
int BPF_PROG(work_end, struct work_struct *work)
{
	if (!current_passes())
		return 0;
	RECORD(work_end) { /* the work may be freed: only its address is used */
		record->work = (u64)work;
		COMMIT(work_end);
	}
	return 0;
}
