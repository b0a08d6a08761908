/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* work.bpf.c - deferred work of the kernel: the thread that queued it, the worker that did it. */

/* The functions of all work so far: the loader gives the trace their names at the end. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, TRACER_MAX_WORK_FUNCTIONS);
	__type(key, u64);
	__type(value, struct tracer_function_name);
} work_functions SEC(".maps");

#define NO_ROOM (-7) /* E2BIG: the map is full */

volatile unsigned long long unnamed_work_runs; /* their functions have no room */

static const char function_format[] = "%ps"; /* NAME or NAME [MODULE] */

/* The kernel names the function now, because its module can be gone at the end. A name that is too
 * long stays empty. */
static __noinline int name_function(u64 func)
{
	struct tracer_function_name name = {0};

	if (bpf_snprintf(name.text, sizeof(name.text), function_format, &func, sizeof(func)) > (long)sizeof(name.text))
		name.text[0] = '\0';
	return (int)bpf_map_update_elem(&work_functions, &func, &name, BPF_NOEXIST);
}

static __always_inline void note_function(u64 func)
{
	if (!bpf_map_lookup_elem(&work_functions, &func) && name_function(func) == NO_ROOM)
		__sync_fetch_and_add(&unnamed_work_runs, 1);
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
