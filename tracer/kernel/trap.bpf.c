/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * trap.bpf.c - page faults
 *
 * The kernel has a tracepoint only at the beginning of a fault. We see the end where the kernel
 * counts the fault. Newer kernels count it for the memory control group, with a tracepoint; that
 * costs less than half of the software event page-faults-min right after it. If that tracepoint is
 * not available, programs.c uses page-faults-min. The tracepoint does not tell whether the fault
 * was a major one; page-faults-maj does, for the few major faults.
 */

/* Threads with an unfinished fault in kernel mode, and the call in which they have it. Such faults
 * are few. A fault that fails, because there is no page, has no end. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, u64);
} kernel_faults SEC(".maps");

const volatile bool faults_are_counted; /* fault_exit__counted is available */

/* fault_cost.c measures the kernel's way between two faults of this thread; 0: not now */
volatile unsigned int way_tid;
volatile trace_u64 way_from_ns, least_way_ns;

static __noinline int note_way(bool is_end)
{
	u64 ns, from = way_from_ns;

	if ((u32)bpf_get_current_pid_tgid() != way_tid)
		return 0;
	ns = bpf_ktime_get_ns();
	way_from_ns = is_end ? ns : 0;
	if (!is_end && from && ns - from < least_way_ns)
		least_way_ns = ns - from;
	return 0;
}

static __always_inline int record_fault(unsigned long address, unsigned long ip, unsigned long error, bool user)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct subbuf_control *control = control_of_cpu(false, cpu);

	if (way_tid)
		note_way(false);
	if (!control || !current_passes() || own_event(current_by_loads(control)))
		return 0;
	RECORD_ON(control, cpu, fault_entry) {
		record->address = address;
		record->ip = ip;
		record->error = error;
		record->user = user;
		COMMIT(fault_entry);
	}
	return 0;
}

#if defined(__TARGET_ARCH_x86)
/* Did the current thread enter the kernel by a system call (or never leave it)? An exception or
 * interrupt has no call number. */
static __always_inline bool in_system_call(struct task_struct *task)
{
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);

	return regs->orig_ax != -1ul;
}

static __always_inline u64 call_of(struct task_struct *task)
{
	return call_id((struct pt_regs *)bpf_task_pt_regs(task));
}

SEC("event/page_fault_user")
int BPF_PROG(fault_entry__user, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	return record_fault(address, regs->ip, error, true);
}

/* A read with faults disabled, by programs such as ours and where the kernel must not wait, brings
 * in no page: it fails at once and has no end. */
SEC("event/page_fault_kernel")
int BPF_PROG(fault_entry__kernel, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	struct task_struct *task = current_task();
	u32 tid = task->pid;
	u64 call;

	if (task->pagefault_disabled)
		return 0;
	if (faults_are_counted && in_system_call(task)) {
		call = call_of(task);
		bpf_map_update_elem(&kernel_faults, &tid, &call, BPF_ANY);
	}
	return record_fault(address, regs->ip, error, false);
}
#endif

static __always_inline int record_fault_end(bool major)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct subbuf_control *control = control_of_cpu(false, cpu);

	if (way_tid)
		note_way(true);
	if (!control || !current_passes() || own_event(current_by_loads(control)))
		return 0;
	RECORD_ON(control, cpu, fault_exit) {
		record->major = major;
		record->pad = 0;
		COMMIT(fault_exit);
	}
	return 0;
}

#if defined(__TARGET_ARCH_x86)
/* In a system call the kernel also brings in pages without a fault, for exec or direct I/O,
 * and counts them like faults. */
SEC("event/count_memcg_events")
int BPF_PROG(fault_exit__counted, void *memcg, int item)
{
	struct task_struct *task;
	u64 *call;
	u32 tid;

	if (item != (int)bpf_core_enum_value(enum vm_event_item, PGFAULT))
		return 0;
	task = current_task();
	if (in_system_call(task)) {
		tid = task->pid;
		call = bpf_map_lookup_elem(&kernel_faults, &tid);
		if (!call || *call != call_of(task))
			return 0;
		bpf_map_delete_elem(&kernel_faults, &tid);
	}
	return record_fault_end(false);
}
#endif

SEC("perf_event")
int fault_exit__minor(void *ctx)
{
	return record_fault_end(false);
}

SEC("perf_event")
int fault_exit__major(void *ctx)
{
	return record_fault_end(true);
}
