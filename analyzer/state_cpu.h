/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_CPU_H
#define ANALYZER_STATE_CPU_H
/* state_cpu.h - CPUs: who is on each, and the interrupts that nest there. */
#include <stdbool.h>
#include <stdint.h>
#include <trace/analysis.h>
#include "lookahead.h"
#include "state_thread.h"
#include "hash_table.h"

#define MAX_NESTED 16
#define NR_SOFTIRQS 10 /* include/linux/interrupt.h */
#define CPU_LOG 256u

enum nest_type { NEST_IRQ = 1, NEST_SOFTIRQ = 2, NEST_VECTOR = 3, NEST_TASKLET = 4 };
struct nest {
	uint64_t number;
	uint8_t type;
};

struct cpu_log_entry { /* from then on, who had the CPU */
	uint64_t ns;
	uint64_t irq_ns; /* interrupt time of the CPU until then */
	uint32_t process;
	uint32_t holder; /* if the CPU has turns */
};

struct turn { /* of a thread on a CPU, from switch to switch */
	uint32_t tid; /* 0 = nobody, or not known */
	uint64_t ns;
	uint64_t stolen;
};

struct cpu {
	uint32_t cpu;
	uint64_t mark; /* booked until then */
	struct trace_thread *current; /* NULL: not known. The idle thread is &cpu->idle. */
	uint32_t quota_tid; /* of this thread, which is about to leave, the quota is used up; 0: of none */
	struct trace_thread idle;
	uint8_t nested;
	uint8_t cause; /* what the current context did last */
	uint64_t cause_detail;
	uint32_t signalled; /* tid of the last signal_generate in this context, 0 none */
	struct trace_thread *woken; /* last in this context, NULL none */
	bool loopback;	    /* the packet in progress came from this machine */
	uint64_t gap_until; /* events before are not to be trusted */
	bool touched;	    /* since the start or the last gap */
	bool switched;	    /* there was a switch, at first_switch_ns: from then on who has the CPU is known */
	uint64_t first_switch_ns;
	uint64_t last_switch_ns;
	uint32_t nr_switches; /* at that time: a clock may stand still for some */
	struct turn before;	 /* and now, since, with so much of it stolen: */
	uint64_t turn_since, turn_stolen;
	uint64_t turn_woken; /* so long before it somebody set out to wake who has it, and the CPU was idle; else 0 */
	bool is_offline;    /* it was seen to go */
	bool hidden;	    /* current may be gone already, unseen; then successor came: state_hidden.c */
	uint32_t successor;
	struct lookahead ahead; /* to the switches of this CPU to come */
	struct nest nest[MAX_NESTED];
	uint64_t irq_ns; /* irq + softirq, for the waiters */
	uint64_t softirq_ns[NR_SOFTIRQS]; /* each, also when ksoftirqd does them */
	struct trace_cpu_figures figures;
	uint64_t log_pos; /* entries ever */
	uint32_t log_mask; /* entries that are kept, less one; CPU_LOG or more, a power of two */
	struct cpu_log_entry *log; /* owned */
	struct turns *turns; /* owned; what more is known of them; NULL: nobody waited for many: slice_log.c */
};

/** is_thread() - is @thread, which @cpu has, known and not the idle one? */
static inline bool is_thread(const struct cpu *cpu, const struct trace_thread *thread)
{
	return thread && thread != &cpu->idle;
}

/* ---- state_irq.c ---- */

static inline uint64_t nest_key(const struct nest *nest)
{
	return (uint64_t)nest->type << 56 | ((nest->number + 1) & ((1ull << 56) - 1));
}
/** irq_flush() - forget the interrupts in progress: a scheduling change cannot happen in one */
void irq_flush(struct cpu *cpu);
/** irq_waker() - what the interrupt in progress on @cpu did last, and whose fault a wakeup by it is */
void irq_waker(struct trace_analysis *a, const struct cpu *cpu, uint32_t context, struct waker *waker);
string_id nest_name(struct trace_analysis *a, uint64_t key, const char **ret_type);
#endif
