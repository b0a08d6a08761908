/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_CPU_H
#define ANALYZER_STATE_CPU_H
/* state_cpu.h - CPUs: the thread that runs on each, and the interrupts that nest there. */
#include <stdbool.h>
#include <stdint.h>
#include <trace/analysis.h>
#include "lookahead.h"
#include "state_packet.h"
#include "state_thread.h"
#include "hash_table.h"

#define MAX_NESTED  16
#define NR_SOFTIRQS 10 /* include/linux/interrupt.h */
#define CPU_LOG	    256u

enum nest_type { NEST_IRQ = 1, NEST_SOFTIRQ = 2, NEST_VECTOR = 3 };
struct nest {
	uint64_t number;
	uint8_t type;
};

/* the process that has the CPU from then on, and its thread */
struct cpu_log_entry {
	uint64_t ns;
	uint64_t irq_ns; /* interrupt time of the CPU until then */
	uint32_t process;
	uint32_t thread; /* trace_thread_index(); of no meaning if @process is not a process */
	uint32_t holder; /* if the CPU has @slices: its holder there */
};

/* a time slice: a thread on a CPU, from switch to switch */
struct slice {
	uint32_t tid; /* 0: the idle thread, or not known */
	uint64_t ns;
	uint64_t stolen;
};

struct cpu {
	uint32_t cpu;
	uint64_t accounted_ns;	      /* the CPU's time is accounted until then */
	struct trace_thread *current; /* NULL: not known; the idle thread is &cpu->idle */
	uint32_t quota_tid;	      /* this thread is about to leave since its quota is used up; 0: none */
	uint32_t quota_state;	      /* its TASK_STATE_QUOTA, or that of a limit */
	struct trace_thread idle;
	uint8_t nested;
	uint8_t cause; /* the last cause of wakeups in the current context */
	uint64_t cause_detail;
	uint32_t signalled;	    /* target tid of the last signal_generate in this context, 0: none */
	uint8_t signal;		    /* its number */
	struct trace_thread *woken; /* the last thread woken in this context, NULL: none */
	uint32_t filtered_waker;    /* index of the process that makes the next wakeup: sched_waker; 0: none */
	bool woke_several;	    /* it is not the first one */
	bool loopback;		    /* the current packet came over the loopback device */
	uint8_t packet_depth;	    /* of the softirq that receives @packet */
	struct own_packet packet;   /* of this machine, being received; its id is 0: none */
	uint64_t gap_until;	    /* ignore events before: the CPU's state is lost */
	bool touched;		    /* an event changed the state since the start or the last gap */
	/* a switch was recorded, first at first_switch_ns; @current is known since */
	bool switched;
	uint64_t first_switch_ns;
	uint64_t last_switch_ns;
	uint32_t nr_switches; /* switches at last_switch_ns: the clock may repeat a time */
	/* the slice before; the current one follows: its begin and its stolen time */
	struct slice previous;
	uint64_t slice_since, slice_stolen;
	/* time from the current thread's wakeup to its switch in, if the CPU was idle; else 0 */
	uint64_t slice_woken;
	bool is_offline; /* cpu_hotplug said that the CPU is offline */
	/* @current may have left unseen; then @successor came: state_hidden.c */
	uint8_t hidden; /* enum hides */
	uint32_t successor;
	uint32_t successor_renamed; /* the number that an exec gives it before it leaves; 0: none */
	struct lookahead ahead;	    /* reads the next switches of this CPU */
	struct nest nest[MAX_NESTED];
	uint64_t irq_ns;		  /* time in irqs and softirqs, which waiting threads are charged for */
	uint64_t softirq_ns[NR_SOFTIRQS]; /* by softirq, those in ksoftirqd included */
	struct trace_cpu_figures figures;
	uint64_t log_pos;	   /* number of entries ever added to @log */
	uint32_t log_mask;	   /* size of @log less 1; the size is a power of two, at least CPU_LOG */
	struct cpu_log_entry *log; /* owned */
	/* owned; links between the time slices; NULL: no wait has seen many slices: slice_log.c */
	struct slice_index *slices;
};

/** is_thread() - is @thread known, and not the idle thread of @cpu? */
static inline bool is_thread(const struct cpu *cpu, const struct trace_thread *thread)
{
	return thread && thread != &cpu->idle;
}

static inline uint64_t nest_key(const struct nest *nest)
{
	return (uint64_t)nest->type << 56 | ((nest->number + 1) & ((1ull << 56) - 1));
}
/* The names of the last interrupts, each at the place that its key chooses */
#define NEST_MEMOS 64u
struct nest_memo {
	uint64_t key; /* nest_key(); 0: none yet */
	string_id name;
};
/** nest_name() - the name of the interrupt of @key, a nest_key(), and of its type */
string_id nest_name(struct trace_analysis *a, uint64_t key, const char **ret_type);
/** interrupted() - does an interrupt run on @cpu, and interrupt the thread there? */
bool interrupted(const struct cpu *cpu);
/** softirq_of() - the innermost interrupt of @cpu if it is a softirq; else NULL */
const struct nest *softirq_of(const struct cpu *cpu);
/** irq_flush() - drop the interrupts in progress: no switch can happen in one */
void irq_flush(struct cpu *cpu);
/** cpu_softirq_time() - total time of softirq @vec on @cpu until @ns */
uint64_t cpu_softirq_time(const struct cpu *cpu, unsigned int vec, uint64_t ns);
/** cpu_irq_time() - total interrupt time of @cpu until @ns */
uint64_t cpu_irq_time(const struct cpu *cpu, uint64_t ns);
#endif
