/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* irq.bpf.c - interrupts, softirqs, tasklets, and the vectors that have no interrupt line. */

SEC("event/irq_handler_entry")
int BPF_PROG(irq_entry, int irq, struct irqaction *action)
{
	if (!current_passes())
		return 0;
	count_function(TRACER_COUNT_IRQ, (u64)action->handler);
	check_task_work();
	RECORD(irq_entry) {
		record->irq = irq;
		record->pad = 0;
		COMMIT(irq_entry);
	}
	return 0;
}

SEC("event/irq_handler_exit")
int BPF_PROG(irq_exit, int irq, struct irqaction *action, int ret)
{
	if (!current_passes())
		return 0;
	RECORD(irq_exit) {
		record->irq = irq;
		record->ret = ret;
		COMMIT(irq_exit);
	}
	return 0;
}

#define SOFTIRQ_PROGRAM(event)                                     \
	SEC("event/" #event)                                       \
	int BPF_PROG(event, unsigned int vec)                      \
	{                                                          \
		if (!current_passes())                             \
			return 0;                                  \
		if (TRACE_EV_##event == TRACE_EV_softirq_entry)    \
			count_function(TRACER_COUNT_SOFTIRQ, vec); \
		check_task_work();                                 \
		RECORD(event) {                                    \
			record->vec = vec;                         \
			record->pad = 0;                           \
			COMMIT(event);                             \
		}                                                  \
		return 0;                                          \
	}
SOFTIRQ_PROGRAM(softirq_raise)
SOFTIRQ_PROGRAM(softirq_entry)
SOFTIRQ_PROGRAM(softirq_exit)

#define TASKLET_PROGRAM(event)                                           \
	SEC("event/" #event)                                             \
	int BPF_PROG(event, struct tasklet_struct *tasklet, void *func)  \
	{                                                                \
		if (!current_passes())                                   \
			return 0;                                        \
		if (TRACE_EV_##event == TRACE_EV_tasklet_entry)          \
			count_function(TRACER_COUNT_TASKLET, (u64)func); \
		RECORD(event) {                                          \
			record->func = (u64)func;                        \
			COMMIT(event);                                   \
		}                                                        \
		return 0;                                                \
	}
TASKLET_PROGRAM(tasklet_entry)
TASKLET_PROGRAM(tasklet_exit)

SEC("event/ipi_send_cpu")
int BPF_PROG(ipi_send, unsigned int cpu, unsigned long callsite, void *callback)
{
	if (!current_passes())
		return 0;
	RECORD(ipi_send) {
		record->target_cpu = cpu;
		record->pad = 0;
		record->callback = (u64)callback;
		COMMIT(ipi_send);
	}
	return 0;
}

#if defined(__TARGET_ARCH_x86)
#define VECTOR_PROGRAM(event, tracepoint, number)                    \
	SEC("event/" #tracepoint)                                    \
	int BPF_PROG(event##__##tracepoint, int vector)              \
	{                                                            \
		if (!current_passes())                               \
			return 0;                                    \
		if (TRACE_EV_##event == TRACE_EV_vector_entry)       \
			count_function(TRACER_COUNT_VECTOR, number); \
		check_task_work();                                   \
		RECORD(event) {                                      \
			record->vector = number;                     \
			record->pad = 0;                             \
			COMMIT(event);                               \
		}                                                    \
		return 0;                                            \
	}
#define VECTOR_PROGRAMS(name, number)                      \
	VECTOR_PROGRAM(vector_entry, name##_entry, number) \
	VECTOR_PROGRAM(vector_exit, name##_exit, number)

VECTOR_PROGRAMS(local_timer, TRACE_VECTOR_LOCAL_TIMER)
VECTOR_PROGRAMS(reschedule, TRACE_VECTOR_RESCHEDULE)
VECTOR_PROGRAMS(call_function, TRACE_VECTOR_CALL_FUNCTION)
VECTOR_PROGRAMS(call_function_single, TRACE_VECTOR_CALL_FUNCTION_SINGLE)
VECTOR_PROGRAMS(irq_work, TRACE_VECTOR_IRQ_WORK)
VECTOR_PROGRAMS(x86_platform_ipi, TRACE_VECTOR_X86_PLATFORM_IPI)
VECTOR_PROGRAMS(thermal_apic, TRACE_VECTOR_THERMAL)
VECTOR_PROGRAMS(threshold_apic, TRACE_VECTOR_THRESHOLD)
VECTOR_PROGRAMS(deferred_error_apic, TRACE_VECTOR_DEFERRED_ERROR)
VECTOR_PROGRAMS(error_apic, TRACE_VECTOR_ERROR)
VECTOR_PROGRAMS(spurious_apic, TRACE_VECTOR_SPURIOUS)
#endif
