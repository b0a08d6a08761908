// SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later
/*
 * trap.bpf.c - page faults. The kernel has a tracepoint at their beginning only; their end is seen through the software events
 * page-faults-min and -maj, which it counts when a fault was served.
 */

static __always_inline int record_fault(unsigned long address, unsigned long ip, unsigned long error, bool user)
{
	u32 cpu = bpf_get_smp_processor_id();

	if (!current_passes() || own_event(current_by_loads(cpu)))
		return 0;
	RECORD_ON(cpu, fault_entry, false, 0) {
		record->address = address;
		record->ip = ip;
		record->error = error;
		record->user = user;
		COMMIT(fault_entry);
	}
	return 0;
}

#if defined(__TARGET_ARCH_x86)
SEC("tp_btf/page_fault_user")
int BPF_PROG(fault_entry__user, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	return record_fault(address, regs->ip, error, true);
}

SEC("tp_btf/page_fault_kernel")
int BPF_PROG(fault_entry__kernel, unsigned long address, struct pt_regs *regs, unsigned long error)
{
	return record_fault(address, regs->ip, error, false);
}
#endif

static __always_inline int record_fault_end(bool major)
{
	u32 cpu = bpf_get_smp_processor_id();

	if (!current_passes() || own_event(current_by_loads(cpu)))
		return 0;
	RECORD_ON(cpu, fault_exit, false, 0) {
		record->major = major;
		record->pad = 0;
		COMMIT(fault_exit);
	}
	return 0;
}

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
