/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_verdict.c - the first paragraphs of the report: its result in a few sentences.
 *
 * The first paragraph is about the processes in question: those that --pid, --comm or --cgroup
 * choose, or the recorded command and its descendants. For one process it names the longest waits.
 * For several it leaves out the waits for one another, because that time is in the figures of the
 * others. The second paragraph is about the machine, and about what is missing.
 */
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "grid.h"
#include "report_user.h"

#define NAME_BYTES 256
#define NAMED 2		/* waits that a sentence names */
#define WORTH_NAMING 1	/* percent */
#define TIE "\x01"	/* a blank at which no line breaks; text_name() keeps it out of names */
#define LINE_WIDTH 100	/* of a paragraph; a narrower terminal has its own */

/* ---- words ---- */

static void add_percent(struct string *s, uint64_t part, uint64_t whole)
{
	double share = percent(part, whole);

	if (share >= 9.95 || part == 0)
		string_addf(s, "%.0f" TIE "%%", share);
	else if (share >= 0.095)
		string_addf(s, "%.1f" TIE "%%", share);
	else
		string_add(s, "under" TIE "0.1" TIE "%");
}

static void add_ns(struct string *s, const struct report *report, uint64_t ns)
{
	struct text t;

	text_ns(report, ns, &t);
	string_add(s, ns ? g_strdelimit(t.bytes, " ", *TIE) : "0");
	if (report->options->exact)
		string_add(s, TIE "ns");
}

static void add_name(struct string *s, const char *name)
{
	char buffer[NAME_BYTES];

	string_add(s, text_name(name, buffer, sizeof(buffer)));
}

static void add_process(struct string *s, const char *comm, uint32_t pid)
{
	char buffer[NAME_BYTES + 32];

	string_add(s, text_process(comm, pid, buffer, sizeof(buffer)));
}

/* Groups of processes that cannot be told apart have pid 0, too. */
static bool is_nobody(const char *comm)
{
	return strcmp(comm, "several") == 0 || strcmp(comm, "unknown") == 0;
}

static void add_wait(struct string *s, const struct report *report, const struct trace_wait *wait, uint32_t own_pid)
{
	static const char *const plain[TRACE_NR_WAIT_KINDS] = {
		[TRACE_WAIT_FILE] = "the file ",     [TRACE_WAIT_PROCESS] = "process ", [TRACE_WAIT_NETWORK] = "the network, ",
		[TRACE_WAIT_TIMEOUT] = "a timer",    [TRACE_WAIT_DEVICE] = "the device ", [TRACE_WAIT_MEMORY] = "memory",
		[TRACE_WAIT_STOPPED] = "being continued after a stop", [TRACE_WAIT_OTHER] = "the end of ", [TRACE_WAIT_UNKNOWN] = "something unknown",
		[TRACE_WAIT_KERNEL] = "the kernel, ", [TRACE_WAIT_QUOTA] = "the CPU quota of its control group",
	};
	_Static_assert(TRACE_NR_WAIT_KINDS == 11, "each kind has its words");

	if (wait->kind == TRACE_WAIT_PROCESS && wait->pid == own_pid && own_pid) {
		string_add(s, "another of its threads");
	} else if (wait->kind == TRACE_WAIT_PROCESS && !wait->pid && is_nobody(wait->target)) {
		string_addf(s, "%s processes", wait->target);
	} else if (wait->kind == TRACE_WAIT_PROCESS && !wait->pid) {
		string_add(s, "processes named ");
		add_name(s, wait->target);
	} else if (wait_is_for_disk(report, wait)) {
		string_add(s, "the disk ");
		add_name(s, wait->target);
	} else {
		string_add(s, plain[wait->kind]);
		if (wait->kind == TRACE_WAIT_PROCESS)
			string_addf(s, *wait->target ? "%u" TIE : "%u", wait->pid);
		if (wait->kind == TRACE_WAIT_UNKNOWN && *wait->target)
			string_add(s, ", ");
		add_name(s, wait->target);
	}
	if (*wait->via)
		string_addf(s, " via %s", wait->via);
	if (wait->idle)
		string_add(s, ", idle between requests");
}

/* ---- sums over several processes ---- */

struct sum {
	uint64_t user, system, interrupted, wait_cpu, blocked, elapsed;
	uint64_t among; /* waits of these processes for each other */
	struct hash_table pids;	       /* rows of a key: pid_key() */
	struct hash_table waits_by_what;    /* struct wait_row */
	struct hash_table holders_by_pid;   /* struct holder_row */
	struct strings targets, vias;  /* strings of @waits_by_what */
	/* owned: waits for other processes, by sum_sort(); longest first */
	struct trace_wait *waits;
	/* owned: the same for other processes on the CPU, and idle */
	struct trace_cpu_wait *holders;
	size_t nr, threads, nr_waits, nr_holders;
};

struct wait_row {
	uint64_t key; /* wait_key() */
	struct trace_wait wait;
};

struct holder_row {
	uint64_t key; /* pid_key() */
	struct trace_cpu_wait wait;
};

static uint64_t pid_key(uint32_t pid)
{
	return pid + 1ull;
}

static bool has_pid(const struct sum *sum, uint32_t pid)
{
	return table_find(&sum->pids, sizeof(uint64_t), pid_key(pid));
}

/*
 * Waits for processes of one name have one row, but the chosen processes have a row of their own.
 * Where the pids differ, the sum has pid 0; where the means differ, via "".
 */
static uint64_t wait_key(struct sum *sum, const struct trace_wait *wait, bool own)
{
	uint64_t target = memory_key(&sum->targets, wait->target), rest;

	rest = wait->kind == TRACE_WAIT_PROCESS ? own : memory_key(&sum->vias, wait->via);
	return target << 32 | rest << 8 | (uint64_t)wait->kind << 1 | wait->idle;
}

static void merge_wait(struct trace_wait *sum, const struct trace_wait *wait)
{
	if (sum->pid != wait->pid)
		sum->pid = 0;
	if (strcmp(sum->via, wait->via) != 0)
		sum->via = "";
	sum->ns += wait->ns;
}

static void sum_waits(struct sum *sum, const struct trace_figures *f)
{
	for (size_t i = 0; i < f->nr_waits; i++) {
		const struct trace_wait *wait = &f->waits[i];
		bool own = has_pid(sum, wait->pid);
		struct wait_row *row;

		if (wait->kind == TRACE_WAIT_PROCESS && sum->nr > 1 && own) {
			sum->among += wait->ns;
			continue;
		}
		row = memory_row(&sum->waits_by_what, sizeof(*row), wait_key(sum, wait, own));
		if (row->wait.target)
			merge_wait(&row->wait, wait);
		else
			row->wait = *wait;
	}
}

static void sum_holders(struct sum *sum, const struct trace_figures *f)
{
	for (size_t i = 0; i < f->nr_wait_cpu_for; i++) {
		const struct trace_cpu_wait *holder = &f->wait_cpu_for[i];
		struct holder_row *row;

		if ((!holder->pid && !is_idle(holder)) || (sum->nr > 1 && has_pid(sum, holder->pid)))
			continue;
		row = memory_row(&sum->holders_by_pid, sizeof(*row), pid_key(holder->pid));
		if (row->wait.comm)
			row->wait.ns += holder->ns;
		else
			row->wait = *holder;
	}
}

static int order_waits(const void *left, const void *right, void *data)
{
	const struct trace_wait *l = left, *r = right;

	if (l->ns != r->ns)
		return l->ns > r->ns ? -1 : 1;
	return l->kind != r->kind ? (l->kind < r->kind ? -1 : 1) : strcmp(l->target, r->target);
}

static int order_holders(const void *left, const void *right, void *data)
{
	const struct trace_cpu_wait *l = left, *r = right;

	if (l->ns != r->ns)
		return l->ns > r->ns ? -1 : 1;
	return l->pid < r->pid ? -1 : l->pid > r->pid;
}

static bool is_chosen(const struct options *options)
{
	return options->pid >= 0 || options->comm || options->cgroup;
}

static void sum_add(struct sum *sum, const struct report *report, const struct trace_process *process)
{
	struct trace_figures *f = whole_figures(trace_process_figures(report->analysis, process));

	if (process == report->command)
		command_free_figures(report, f);
	sum->elapsed += f->elapsed_ns;
	sum->user += f->user_ns;
	sum->system += f->syscall_ns + f->trap_ns;
	sum->interrupted += f->interrupted_ns;
	sum->wait_cpu += f->wait_cpu_ns;
	sum->blocked += f->blocked_ns;
	sum->threads += trace_nr_threads(process);
	sum_waits(sum, f);
	sum_holders(sum, f);
	trace_figures_free(f);
}

static void sum_sort(struct sum *sum)
{
	const struct wait_row *wait = NULL;
	const struct holder_row *holder = NULL;

	sum->waits = memory_take(sum->waits_by_what.used, sizeof(*sum->waits));
	while ((wait = table_next(&sum->waits_by_what, sizeof(*wait), wait)))
		sum->waits[sum->nr_waits++] = wait->wait;
	sum->holders = memory_take(sum->holders_by_pid.used, sizeof(*sum->holders));
	while ((holder = table_next(&sum->holders_by_pid, sizeof(*holder), holder)))
		sum->holders[sum->nr_holders++] = holder->wait;
	memory_sort(sum->waits, sum->nr_waits, sizeof(*sum->waits), order_waits, NULL);
	memory_sort(sum->holders, sum->nr_holders, sizeof(*sum->holders), order_holders, NULL);
}

static struct sum sum_new(const struct report *report, const struct pointers *processes)
{
	struct sum sum = {.nr = processes->nr};

	for (size_t i = 0; i < processes->nr; i++)
		memory_row(&sum.pids, sizeof(uint64_t), pid_key(trace_process_pid(processes->at[i])));
	for (size_t i = 0; i < processes->nr; i++)
		sum_add(&sum, report, processes->at[i]);
	sum_sort(&sum);
	return sum;
}

static void sum_clear(struct sum *sum)
{
	table_clear(&sum->pids);
	table_clear(&sum->waits_by_what);
	table_clear(&sum->holders_by_pid);
	strings_clear(&sum->targets);
	strings_clear(&sum->vias);
	free(sum->waits);
	free(sum->holders);
}

/* ---- sentences ---- */

/* True if @part is at least half of @whole and may be called "mostly". */
static bool is_most(uint64_t part, uint64_t whole)
{
	return part >= whole - part;
}

static void add_holders(struct string *s, const struct report *report, const struct sum *sum)
{
	const struct trace_cpu_wait *first = sum->nr_holders ? &sum->holders[0] : NULL;

	if (!first || percent(first->ns, sum->wait_cpu) < 10)
		return;
	string_add(s, ", ");
	if (is_most(first->ns, sum->wait_cpu)) {
		string_add(s, is_idle(first) ? "mostly " : "taken mostly ");
	} else {
		add_percent(s, first->ns, sum->wait_cpu);
		string_add(s, is_idle(first) ? " of that " : " of that taken ");
	}
	string_add(s, is_idle(first) ? "while an idle CPU woke up" : "by ");
	if (!is_idle(first))
		add_process(s, first->comm, first->pid);
}

/*
 * The longest waits. @least: waits below WORTH_NAMING percent of it are left out. @whole: if not 0,
 * print percentages of it instead of times.
 */
static void add_waits(struct string *s, const struct report *report, const struct sum *sum, uint64_t least, uint64_t whole, uint32_t own_pid)
{
	bool most;

	for (size_t i = 0, named = 0; i < sum->nr_waits && named < NAMED; i++) {
		const struct trace_wait *wait = &sum->waits[i];

		if (percent(wait->ns, least) < WORTH_NAMING)
			return;
		most = is_most(wait->ns, sum->blocked - sum->among);
		string_add(s, named ? ", then " : most ? ", mostly " : ", ");
		if (whole)
			add_percent(s, wait->ns, whole);
		else
			add_ns(s, report, wait->ns);
		string_add(s, named++ || most || whole ? " for " : " of it for ");
		add_wait(s, report, wait, own_pid);
	}
}

/* The one wait with over 99 % of the time, else NULL. */
static const struct trace_wait *only_wait(const struct sum *sum)
{
	const struct trace_wait *first = sum->nr_waits ? &sum->waits[0] : NULL;

	return first && percent(first->ns, sum->blocked - sum->among) > 100 - WORTH_NAMING ? first : NULL;
}

/* @others: words for several targets together; @least and @whole as in add_waits() */
static void add_only_or_waits(struct string *s, const struct report *report, const struct sum *sum, const char *others, uint64_t least,
			      uint64_t whole, uint32_t own_pid)
{
	const struct trace_wait *only = only_wait(sum);

	string_add(s, " for ");
	if (only) {
		add_wait(s, report, only, own_pid);
		return;
	}
	string_add(s, others);
	add_waits(s, report, sum, least, whole, own_pid);
}

/* A sentence about one process: shares of its elapsed time. */
static void about_one(struct string *s, const struct report *report, const struct trace_process *process, const struct sum *sum)
{
	add_process(s, trace_process_comm(process), trace_process_pid(process));
	if (!has_turns(report)) {
		string_add(s, " existed for ");
		add_ns(s, report, sum->elapsed);
		string_add(s, "; what it did is unknown: no scheduling changes were recorded.");
		return;
	}
	string_add(s, " waited ");
	add_percent(s, sum->blocked ? sum->blocked : sum->wait_cpu, sum->elapsed);
	string_add(s, " of its ");
	add_ns(s, report, sum->elapsed);
	if (sum->threads > 1)
		string_addf(s, " (%zu threads, added up)", sum->threads);
	if (sum->blocked) {
		add_only_or_waits(s, report, sum, "something", sum->elapsed, sum->elapsed, trace_process_pid(process));
		string_add(s, "; it waited ");
		add_percent(s, sum->wait_cpu, sum->elapsed);
	}
	string_add(s, " for a CPU");
	if (percent(sum->wait_cpu, sum->elapsed) >= WORTH_NAMING)
		add_holders(s, report, sum);
	string_add(s, ", and used ");
	add_percent(s, sum->user + sum->system, sum->elapsed);
	string_add(s, " CPU");
	if (!trace_analysis_sees_calls(report->analysis)) {
		string_add(s, ".");
		return;
	}
	string_add(s, " (");
	add_ns(s, report, sum->user);
	string_add(s, " in its own code, ");
	add_ns(s, report, sum->system);
	string_add(s, " in the kernel).");
}

/*
 * A process of the name that used the most CPU time.
 * @ret_ns, @ret_nr: CPU time and number of all processes of that name
 */
static const struct trace_process *busiest(const struct report *report, const struct pointers *processes, uint64_t *ret_ns, unsigned int *ret_nr)
{
	struct share {
		uint64_t key;
		uint64_t ns;
		unsigned int nr;
	} *share, *most;
	struct strings names = {0};
	struct hash_table shares = {0};
	const struct trace_process *best = NULL;
	uint64_t best_key = 0;

	for (size_t i = 0; i < processes->nr; i++) {
		share = memory_row(&shares, sizeof(*share), memory_key(&names, trace_process_comm(processes->at[i])));
		share->nr++;
		for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(processes->at[i], thread));)
			share->ns += trace_thread_cpu_ns(report->analysis, thread);
		most = best ? table_find(&shares, sizeof(*most), best_key) : NULL;
		if (!most || share->ns > most->ns) {
			best_key = share->key;
			best = processes->at[i];
		}
	}
	most = best ? table_find(&shares, sizeof(*most), best_key) : NULL;
	*ret_ns = most ? most->ns : 0;
	*ret_nr = most ? most->nr : 0;
	table_clear(&shares);
	strings_clear(&names);
	return *ret_ns ? best : NULL;
}

/* A sentence about several processes: their CPU time, and their waits for others. */
static void about_several(struct string *s, const struct report *report, const struct pointers *processes, const struct sum *sum, uint64_t span)
{
	uint64_t others = sum->blocked - sum->among, most, whole = sum->user + sum->system + sum->interrupted + sum->wait_cpu + others;
	unsigned int nr;
	const struct trace_process *busy = busiest(report, processes, &most, &nr);

	string_add(s, " used ");
	add_ns(s, report, sum->user + sum->system);
	string_addf(s, " of CPU, %.2f CPUs at a time", span ? (double)(sum->user + sum->system) / (double)span : 0);
	if (busy) {
		string_add(s, most < sum->user + sum->system ? ", most by " : ", all by ");
		add_process(s, trace_process_comm(busy), nr == 1 ? trace_process_pid(busy) : 0);
		if (nr > 1)
			string_addf(s, " (%u" TIE "processes)", nr);
		if (most < sum->user + sum->system) {
			string_add(s, " with ");
			add_ns(s, report, most);
		}
	}
	string_add(s, "; they waited ");
	add_ns(s, report, sum->wait_cpu);
	string_add(s, " for a CPU");
	if (sum->wait_cpu)
		add_holders(s, report, sum);
	if (others) {
		string_add(s, ", and ");
		add_ns(s, report, others);
		add_only_or_waits(s, report, sum, "something other than one another", whole, 0, 0);
	}
	string_add(s, ".");
}

static void about_command(struct string *s, const struct report *report, const struct trace_process *root)
{
	struct pointers tree = command_family(report), alone = {0};
	uint64_t span = command_ran_ns(report);
	bool ended = command_has_ended(report);
	struct sum all = sum_new(report, &tree), own;

	pointers_add(&alone, root);
	own = sum_new(report, &alone);
	/* capital letter: a sentence begins */
	string_addf(s, "T%s %s for ", command_words(report) + 1, ended ? "ran" : "had run");
	add_ns(s, report, span);
	if (!ended)
		string_addf(s, " when the recording ended, and %s", command_not_ended(report));
	string_add(s, ": ");
	about_one(s, report, root, &own);
	if (tree.nr > 1) {
		string_addf(s, " It and the %zu process%s that it started", tree.nr - 1, tree.nr == 2 ? "" : "es");
		about_several(s, report, &tree, &all, span);
	}
	sum_clear(&own);
	sum_clear(&all);
	pointers_free(&alone);
	pointers_free(&tree);
}

/*
 * The process of thread @tid, because users may give a thread id, as for lists. NULL if @tid is a
 * process id, or unknown.
 */
static const struct trace_process *process_of_thread(const struct report *report, int64_t tid)
{
	const struct trace_process *found = NULL;

	for (size_t i = 0; i < trace_nr_processes(report->analysis); i++) {
		const struct trace_process *process = trace_get_process(report->analysis, i);

		if (trace_process_pid(process) == tid)
			return NULL;
		for (const struct trace_thread *thread = trace_next_thread(process, NULL); thread; thread = trace_next_thread(process, thread))
			if (trace_thread_tid(thread) == tid)
				found = process;
	}
	return found;
}

static void add_chosen(struct string *s, const struct report *report)
{
	const struct options *options = report->options;
	const struct trace_process *process = options->pid >= 0 ? process_of_thread(report, options->pid) : NULL;

	if (options->pid >= 0)
		string_addf(s, " number %lld,", (long long)options->pid);
	if (process)
		string_addf(s, " which is a thread of process %u,", trace_process_pid(process));
	if (options->comm) {
		string_add(s, options->pid >= 0 ? " and called " : " called ");
		add_name(s, options->comm);
		string_add(s, ",");
	}
	if (options->cgroup) {
		string_add(s, options->pid >= 0 || options->comm ? " and in the control group " : " in the control group ");
		add_name(s, options->cgroup);
		string_add(s, ",");
	}
	s->bytes[s->len - 1] = ';';
	string_add(s, " without --pid, --comm and --cgroup all are listed");
}

static bool finds_any(const struct report *report)
{
	if (is_left_out(report->trace, TRACE_LEFT_OUT_KERNEL))
		return !report->user || report_user_has_any(report);
	for (size_t i = 0; i < trace_nr_processes(report->analysis); i++) {
		const struct trace_process *process = trace_get_process(report->analysis, i);

		if (process_wanted(report, process) && trace_nr_threads(process))
			return true;
	}
	return false;
}

bool report_finds_nobody(const struct report *sides, int nr_sides)
{
	const struct options *options = sides[0].options;
	struct string s = {0};

	if (!is_chosen(options))
		return false;
	for (int side = 0; side < nr_sides; side++)
		if (finds_any(&sides[side]))
			return false;
	string_add(&s, "tracevisualizer: no ");
	string_add(&s, is_left_out(sides[0].trace, TRACE_LEFT_OUT_KERNEL) ? "program that has events here is" :
			nr_sides > 1 ? "process of either trace is" : "process of this trace is");
	add_chosen(&s, &sides[0]);
	fprintf(stderr, "%s\n", string_text(&s));
	string_free(&s);
	return true;
}

static void about_chosen(struct string *s, const struct report *report, const struct process_row *rows, size_t nr)
{
	struct pointers list = {0};
	uint64_t start, end;
	struct sum sum;

	for (size_t i = 0; i < nr; i++)
		pointers_add(&list, rows[i].process);
	trace_analysis_window(report->analysis, &start, &end);
	sum = sum_new(report, &list);
	if (nr == 1) {
		about_one(s, report, rows[0].process, &sum);
	} else if (!has_turns(report)) {
		string_addf(s, "Unknown: no scheduling changes were recorded for the %zu processes.", nr);
	} else {
		string_addf(s, "The %zu processes", nr);
		about_several(s, report, &list, &sum, end - start);
	}
	sum_clear(&sum);
	pointers_free(&list);
}

static const struct process_row *hungriest(const struct process_row *rows, size_t nr)
{
	const struct process_row *best = NULL;

	for (size_t i = 0; i < nr; i++)
		if (!best || rows[i].wait_cpu_ns > best->wait_cpu_ns)
			best = &rows[i];
	return best && best->wait_cpu_ns ? best : NULL;
}

static const struct process_row *hottest(const struct process_row *rows, size_t nr)
{
	const struct process_row *best = NULL;

	for (size_t i = 0; i < nr; i++)
		if (!best || rows[i].user_ns + rows[i].system_ns > best->user_ns + best->system_ns)
			best = &rows[i];
	return best && best->user_ns + best->system_ns ? best : NULL;
}

/*
 * The longest wait on the machine that deserves attention: neither idle nor a sleep that the
 * process asked for.
 */
static const struct trace_wait *worst_wait(const struct trace_figures *f)
{
	for (size_t i = 0; i < f->nr_waits; i++)
		if (!f->waits[i].idle && (f->waits[i].kind == TRACE_WAIT_FILE || f->waits[i].kind == TRACE_WAIT_NETWORK ||
					  f->waits[i].kind == TRACE_WAIT_DEVICE || f->waits[i].kind == TRACE_WAIT_MEMORY))
			return &f->waits[i];
	return NULL;
}

/* The parts of busy time, as far as the recorded events tell them apart. */
static void add_modes(struct string *s, const struct report *report, const struct trace_cpu_figures *sum, uint64_t all)
{
	bool calls = trace_analysis_sees_calls(report->analysis), interrupts = has_interrupts(report);

	if (!calls && !interrupts) {
		string_add(s, ", in programs, the kernel or interrupts (not recorded which)");
		return;
	}
	string_add(s, ": ");
	if (calls) {
		add_percent(s, sum->user_ns, all);
		string_add(s, " in programs, ");
		add_percent(s, sum->system_ns, all);
		string_add(s, " in the kernel, ");
	} else {
		add_percent(s, sum->user_ns + sum->system_ns, all);
		string_add(s, " in programs or the kernel, ");
	}
	if (interrupts) {
		add_percent(s, sum->irq_ns, all);
		string_add(s, trace_analysis_sees_interrupts(report->analysis) ? " in interrupts" : " in interrupts (not all were recorded)");
	} else {
		string_add(s, "including interrupts, which were not recorded");
	}
}

static void about_cpus(struct string *s, const struct report *report)
{
	const struct trace_info *info = trace_get_info(report->trace);
	size_t nr = trace_nr_cpus(report->analysis);
	struct trace_cpu_figures f, sum = {0};
	uint64_t start, end, all;

	for (size_t i = 0; i < nr; i++) {
		trace_cpu_figures(report->analysis, i, &f);
		sum.user_ns += f.user_ns;
		sum.system_ns += f.system_ns;
		sum.irq_ns += f.irq_ns + f.softirq_ns;
		sum.idle_ns += f.idle_ns;
		sum.unknown_ns += f.unknown_ns;
	}
	all = sum.user_ns + sum.system_ns + sum.irq_ns + sum.idle_ns + sum.unknown_ns;
	trace_analysis_window(report->analysis, &start, &end);
	if (start == end) {
		string_add(s, "No time passes in this trace.");
		return;
	}
	if (!all) {
		string_add(s, "In ");
		add_ns(s, report, end - start);
		string_add(s, " no activity of the CPUs was recorded.");
		return;
	}
	if (sum.unknown_ns == all) {
		string_add(s, "The activity of the CPUs in ");
		add_ns(s, report, end - start);
		string_add(s, " is unknown.");
		return;
	}
	string_add(s, "In ");
	add_ns(s, report, end - start);
	string_addf(s, " the %zu CPU%s of ", nr, nr == 1 ? "" : "s");
	add_name(s, *info->host ? info->host : "the machine");
	/* CPUs without chosen threads do not appear */
	if (trace_analysis_is_filtered(report->analysis))
		string_add(s, nr == 1 ? " that was recorded" : " that were recorded");
	string_add(s, nr == 1 ? " was " : " were ");
	add_percent(s, sum.user_ns + sum.system_ns + sum.irq_ns, all);
	string_add(s, trace_analysis_is_filtered(report->analysis) ? " busy with processes that the filter selects" : " busy");
	add_modes(s, report, &sum, all);
	if (percent(sum.unknown_ns, all) >= WORTH_NAMING) {
		string_add(s, ", and ");
		add_percent(s, sum.unknown_ns, all);
		string_add(s, " is unknown");
	}
	string_add(s, ".");
}

/*
 * The time that the host of a virtual machine took from its CPUs: the guest counts it as CPU time.
 */
static void about_host(struct string *s, const struct report *report, const struct trace_figures *system)
{
	uint64_t cpu_ns = system->user_ns + system->syscall_ns + system->trap_ns + system->interrupted_ns;

	if (percent(system->stolen_ns, cpu_ns) < WORTH_NAMING)
		return;
	string_add(s, " The host of this virtual machine took ");
	add_ns(s, report, system->stolen_ns);
	string_add(s, " (");
	add_percent(s, system->stolen_ns, cpu_ns);
	string_add(s, ") of their CPU time for others.");
}

static void about_machine(struct string *s, const struct report *report, const struct process_row *rows, size_t nr, const struct trace_figures *system)
{
	const struct process_row *hot = hottest(rows, nr), *hungry = hungriest(rows, nr);
	const struct trace_wait *wait = worst_wait(system);

	about_cpus(s, report);
	if (hot) {
		string_add(s, " The busiest process was ");
		add_process(s, trace_process_comm(hot->process), trace_process_pid(hot->process));
		string_add(s, " with ");
		add_ns(s, report, hot->user_ns + hot->system_ns);
		string_add(s, " of CPU.");
	}
	if (hungry) {
		string_add(s, " Threads waited ");
		add_ns(s, report, system->wait_cpu_ns);
		string_add(s, " for a CPU, those of ");
		add_process(s, trace_process_comm(hungry->process), trace_process_pid(hungry->process));
		string_add(s, " the longest, ");
		add_ns(s, report, hungry->wait_cpu_ns);
		string_add(s, ".");
	}
	if (wait) {
		string_add(s, " The longest wait for input, output or memory: ");
		add_ns(s, report, wait->ns);
		string_add(s, " for ");
		add_wait(s, report, wait, 0);
		string_add(s, ".");
	}
}

/* ---- the paragraph ---- */

void report_wrapped(const struct report *report, char *text)
{
	size_t width = report->width && report->width < LINE_WIDTH ? report->width : LINE_WIDTH, at = 0;

	for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
		char *shown = grid_cut(report, 0, g_strdelimit(word, TIE, ' '));
		size_t length = grid_width(shown);

		if (at && at + 1 + length > width) {
			fputs("\n", report->out);
			at = 0;
		}
		fprintf(report->out, "%s%s", at ? " " : "", shown);
		at += length + (at ? 1 : 0);
		free(shown);
	}
	fputs("\n\n", report->out);
}

void report_verdict(const struct report *report, const struct process_row *rows, size_t nr, const struct trace_figures *system)
{
	bool chosen = is_chosen(report->options);
	const struct trace_process *command = chosen ? NULL : report->command;
	struct string s = {0};

	if (chosen)
		about_chosen(&s, report, rows, nr);
	else if (command)
		about_command(&s, report, command);
	if (s.len)
		report_wrapped(report, string_text(&s));
	string_free(&s);
	if (chosen)
		about_cpus(&s, report);
	else
		about_machine(&s, report, rows, nr, system);
	about_host(&s, report, system);
	report_loss_sentence(&s, report);
	report_wrapped(report, string_text(&s));
	string_free(&s);
}

void report_verdict_of_programs(const struct report *report, bool any)
{
	struct string s = {0};

	string_add(&s, "The kernel was not recorded, only events of programs: the processes, the other activity of their threads "
		       "and the causes of waits are unknown.");
	if (!any)
		string_add(&s, " The trace has no such events.");
	report_loss_sentence(&s, report);
	report_wrapped(report, string_text(&s));
	string_free(&s);
}
