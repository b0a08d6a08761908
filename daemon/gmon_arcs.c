/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gmon_arcs.c - the calls that the kernel's events tell, by the names of the functions in between
 *
 *	do_syscall_64 -> x64_sys_call -> __x64_sys_read
 *	asm_sysvec_apic_timer_interrupt -> sysvec_apic_timer_interrupt
 *	handle_softirqs -> net_rx_action
 *	process_one_work -> vmstat_update
 *
 * Names differ between kernels: the first of a list that this one has counts, and the compiler may
 * have added a dot and more to it.
 */
#include "gmon_arcs.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 128

/* ---- functions by name ---- */

/** struct arc_name - a symbol, for a search by name; @chars: before a dot */
struct arc_name {
	const char *name;
	size_t chars;
	uint64_t address;
};

/** struct arc_names - of all functions of the kernel itself, sorted */
struct arc_names {
	struct arc_name *at; /* owned */
	size_t nr;
};

static int compare(const void *left, const void *right)
{
	const struct arc_name *l = left, *r = right;
	size_t chars = l->chars < r->chars ? l->chars : r->chars;
	int differs = memcmp(l->name, r->name, chars);

	return differs ? differs : (l->chars > r->chars) - (l->chars < r->chars);
}

#define FIRST_BYTES 4 /* a number is compared faster than a text */

/* Can it be one of ours? All others would only be sorted. */
static bool is_wanted(const char *name)
{
	static const char *const begins[] = {"__x64_sys_",
					     "__ia32_",
					     "__arm64_sys_",
					     "do_syscall",
					     "do_el0_svc",
					     "do_int80",
					     "x64_sys_call",
					     "ia32_sys_call",
					     "__do_fast",
					     "invoke_syscall",
					     "asm_sysvec_",
					     "sysvec_",
					     "handle_softirqs",
					     "__do_softirq",
					     "__handle_irq_event_percpu",
					     "tasklet_",
					     "run_timer_softirq",
					     "run_rebalance_domains",
					     "net_tx_action",
					     "net_rx_action",
					     "blk_done",
					     "irq_poll",
					     "sched_balance",
					     "hrtimer_run",
					     "rcu_core",
					     "call_timer_fn",
					     "__run_timers",
					     "__hrtimer_run_queues",
					     "process_one_work",
					     "_stext"};

	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (!memcmp(name, begins[i], FIRST_BYTES) && !strncmp(name, begins[i], strlen(begins[i])))
			return !strchr(name, ' ');
	return false;
}

static int sort_names(struct arc_names *names, const struct kernel_symbols *symbols)
{
	names->at = calloc(symbols->nr ? symbols->nr : 1, sizeof(*names->at));
	if (!names->at)
		return -ENOMEM;
	for (size_t i = 0; i < symbols->nr; i++) {
		const char *name = kernel_symbols_name(symbols, i);

		if (symbols->symbols[i].name + FIRST_BYTES <= symbols->bytes && is_wanted(name))
			names->at[names->nr++] = (struct arc_name){name, strcspn(name, "."),
								   symbols->symbols[i].address};
	}
	if (names->nr)
		qsort(names->at, names->nr, sizeof(*names->at), compare);
	return 0;
}

/* The address of the first of @list, which blanks separate; 0: there is none. */
static uint64_t find(const struct arc_names *names, const char *list)
{
	while (*list) {
		const struct arc_name wanted = {.name = list, .chars = strcspn(list, " ")};
		const struct arc_name *found = names->nr
						       ? bsearch(&wanted, names->at, names->nr, sizeof(wanted), compare)
						       : NULL;

		if (found)
			return found->address;
		list += wanted.chars;
		list += strspn(list, " ");
	}
	return 0;
}

/* ---- arcs ---- */

static int add(struct gmon_arcs *arcs, uint64_t from, uint64_t self, uint64_t count)
{
	if (!from || !self) {
		arcs->nameless += count;
		return 0;
	}
	if (arcs->nr == arcs->room) {
		size_t more = arcs->room ? 2 * arcs->room : 512;
		struct gmon_arc *bigger = reallocarray(arcs->arcs, more, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		arcs->arcs = bigger;
		arcs->room = more;
	}
	arcs->arcs[arcs->nr++] = (struct gmon_arc){from, self, count};
	return 0;
}

/* The kernel's functions of some calls have other names than the calls. */
static const char *name_in_kernel(const char *call)
{
	static const char *const names[][2] = {
		{"stat", "newstat"},   {"lstat", "newlstat"},	   {"fstat", "newfstat"}, {"newfstatat", "newfstatat"},
		{"uname", "newuname"}, {"sendfile", "sendfile64"}, {"umount2", "umount"}, {"fadvise64", "fadvise64"},
		{"_llseek", "llseek"}, {"_newselect", "select"},   {"_sysctl", "sysctl"}, {"pread64", "pread64"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(call, names[i][0]))
			return names[i][1];
	return call;
}

static uint64_t function_of_call(const struct arc_names *names, const char *call, bool is_32)
{
	const char *other = name_in_kernel(call);
	char list[8 * NAME_BYTES];

	if (is_32)
		snprintf(list, sizeof(list),
			 "__ia32_compat_sys_%.64s __ia32_sys_%.64s __ia32_compat_sys_%.64s __ia32_sys_%.64s", call,
			 call, other, other);
	else
		snprintf(list, sizeof(list), "__x64_sys_%.64s __x64_sys_%.64s __arm64_sys_%.64s __arm64_sys_%.64s",
			 other, call, other, call);
	return find(names, list);
}

/* All calls of the kernel enter by one function, and newer kernels have another one behind it. */
static int add_entry(struct gmon_arcs *arcs, const struct arc_names *names, bool is_32, uint64_t count,
		     uint64_t *ret_from)
{
	uint64_t entry = find(names, is_32 ? "do_int80_emulation __do_fast_syscall_32 do_int80_syscall_32"
					   : "do_syscall_64 do_el0_svc"),
		 behind = find(names, is_32 ? "ia32_sys_call" : "x64_sys_call invoke_syscall");

	*ret_from = behind ? behind : entry;
	return behind && count ? add(arcs, entry, behind, count) : 0;
}

static int add_calls(struct gmon_arcs *arcs, const struct gmon_counts *counts, const struct arc_names *names,
		     bool is_32)
{
	enum tracer_count_kind kind = is_32 ? TRACER_COUNT_CALL_32 : TRACER_COUNT_CALL;
	uint64_t sum = 0, from;
	int err;

	for (size_t i = 0; i < counts->nr; i++)
		sum += counts->counts[i].kind == kind ? counts->counts[i].count : 0;
	err = add_entry(arcs, names, is_32, sum, &from);
	for (size_t i = 0; i < counts->nr && !err; i++)
		if (counts->counts[i].kind == kind)
			err = add(arcs, from, function_of_call(names, counts->counts[i].name, is_32),
				  counts->counts[i].count);
	return err;
}

/* By the numbers of softirqs, include/linux/interrupt.h, Linux 6.18. */
static const char *const softirqs[] = {"tasklet_hi_action",   "run_timer_softirq",
				       "net_tx_action",	      "net_rx_action",
				       "blk_done_softirq",    "irq_poll_softirq",
				       "tasklet_action",      "sched_balance_softirq run_rebalance_domains",
				       "hrtimer_run_softirq", "rcu_core_si"};

/* By the numbers of vectors, <trace/events.h>. */
static const char *const vectors[] = {
	"apic_timer_interrupt",	  "reschedule_ipi", "call_function", "call_function_single", "irq_work",
	"x86_platform_ipi",	  "thermal",	    "threshold",     "deferred_error",	     "error_interrupt",
	"spurious_apic_interrupt"};

static int add_vector(struct gmon_arcs *arcs, const struct arc_names *names, const struct gmon_count *count)
{
	char from[NAME_BYTES] = "", self[NAME_BYTES] = "";

	if (count->key < sizeof(vectors) / sizeof(vectors[0])) {
		snprintf(from, sizeof(from), "asm_sysvec_%s", vectors[count->key]);
		snprintf(self, sizeof(self), "sysvec_%s", vectors[count->key]);
	}
	return add(arcs, find(names, from), find(names, self), count->count);
}

static int add_softirq(struct gmon_arcs *arcs, const struct arc_names *names, const struct gmon_count *count)
{
	const char *self = count->key < sizeof(softirqs) / sizeof(softirqs[0]) ? softirqs[count->key] : "";

	return add(arcs, find(names, "handle_softirqs __do_softirq"), find(names, self), count->count);
}

/* @symbols name the function, unless its module is gone. */
static int add_function(struct gmon_arcs *arcs, const struct arc_names *names, const struct kernel_symbols *symbols,
			const struct gmon_count *count)
{
	static const char *const callers[TRACER_NR_COUNTS] = {
		[TRACER_COUNT_IRQ] = "__handle_irq_event_percpu",
		[TRACER_COUNT_TASKLET] = "tasklet_action_common",
		[TRACER_COUNT_TIMER] = "call_timer_fn __run_timers",
		[TRACER_COUNT_HRTIMER] = "__hrtimer_run_queues",
		[TRACER_COUNT_WORK] = "process_one_work",
	};
	size_t idx = kernel_symbols_find(symbols, count->key);
	bool is_named = idx < symbols->nr && count->key < kernel_symbols_end(symbols, idx);

	return add(arcs, find(names, callers[count->kind]), is_named ? symbols->symbols[idx].address : 0, count->count);
}

static int add_others(struct gmon_arcs *arcs, const struct gmon_counts *counts, const struct arc_names *names,
		      const struct kernel_symbols *symbols)
{
	int err = 0;

	for (size_t i = 0; i < counts->nr && !err; i++) {
		const struct gmon_count *count = &counts->counts[i];

		if (count->kind == TRACER_COUNT_SOFTIRQ)
			err = add_softirq(arcs, names, count);
		else if (count->kind == TRACER_COUNT_VECTOR)
			err = add_vector(arcs, names, count);
		else if (count->kind == TRACER_COUNT_IRQ || count->kind >= TRACER_COUNT_TASKLET)
			err = add_function(arcs, names, symbols, count);
	}
	return err;
}

int gmon_arcs_make(struct gmon_arcs *arcs, const struct gmon_counts *counts, const struct kernel_symbols *symbols)
{
	struct arc_names names = {0};
	int err = sort_names(&names, symbols);

	for (int is_32 = 0; is_32 < 2 && !err; is_32++)
		err = add_calls(arcs, counts, &names, is_32);
	if (!err)
		err = add_others(arcs, counts, &names, symbols);
	free(names.at);
	return err;
}

void gmon_arcs_free(struct gmon_arcs *arcs)
{
	free(arcs->arcs);
	*arcs = (struct gmon_arcs){0};
}
