/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_verdict.c - the beginning of the report: what somebody would say who had read all of it.
 *
 * First whoever was asked about: the process of --pid, those of --comm, or the command that was recorded with all that it started.
 * What one of them waited for is told by its longest waits; of several together, the waits for one another are left out: that
 * time is what the others did. A second paragraph tells of the machine, and of what is missing.
 */
#include <glib.h>
#include <inttypes.h>
#include <string.h>
#include "grid.h"
#include "report_user.h"

#define NAME_BYTES 256
#define NAMED 2		/* waits that the verdict names */
#define WORTH_NAMING 1	/* percent */
#define TIE "\x01"	/* a blank where no line breaks; names have none: text_name() */
#define LINE_WIDTH 100	/* where the paragraph breaks; on a narrower terminal, there */

/* ---- words ---- */

static void add_percent(GString *s, uint64_t part, uint64_t whole)
{
	double share = percent(part, whole);

	if (share >= 9.95 || part == 0)
		g_string_append_printf(s, "%.0f" TIE "%%", share);
	else if (share >= 0.095)
		g_string_append_printf(s, "%.1f" TIE "%%", share);
	else
		g_string_append(s, "under" TIE "0.1" TIE "%");
}

static void add_ns(GString *s, const struct report *report, uint64_t ns)
{
	struct text t;

	text_ns(report, ns, &t);
	g_string_append(s, ns ? g_strdelimit(t.bytes, " ", *TIE) : "0");
	if (report->options->exact)
		g_string_append(s, TIE "ns");
}

static void add_name(GString *s, const char *name)
{
	char buffer[NAME_BYTES];

	g_string_append(s, text_name(name, buffer, sizeof(buffer)));
}

static void add_process(GString *s, const char *comm, uint32_t pid)
{
	char buffer[NAME_BYTES + 32];

	g_string_append(s, text_process(comm, pid, buffer, sizeof(buffer)));
}

/* Who stands for processes that cannot be told apart has number 0, too. */
static bool is_nobody(const char *comm)
{
	return strcmp(comm, "several") == 0 || strcmp(comm, "unknown") == 0;
}

static void add_wait(GString *s, const struct report *report, const struct trace_wait *wait, uint32_t own_pid)
{
	static const char *const plain[TRACE_NR_WAIT_KINDS] = {
		[TRACE_WAIT_FILE] = "the file ",     [TRACE_WAIT_PROCESS] = "process ", [TRACE_WAIT_NETWORK] = "the network, ",
		[TRACE_WAIT_TIMEOUT] = "a timer",    [TRACE_WAIT_DEVICE] = "the device ", [TRACE_WAIT_MEMORY] = "memory",
		[TRACE_WAIT_STOPPED] = "being continued after a stop", [TRACE_WAIT_OTHER] = "the end of ", [TRACE_WAIT_UNKNOWN] = "nobody knows what",
		[TRACE_WAIT_KERNEL] = "the kernel, ", [TRACE_WAIT_QUOTA] = "the CPU quota of its control group",
	};
	_Static_assert(TRACE_NR_WAIT_KINDS == 11, "each kind has its words");

	if (wait->kind == TRACE_WAIT_PROCESS && wait->pid == own_pid && own_pid) {
		g_string_append(s, "another of its threads");
	} else if (wait->kind == TRACE_WAIT_PROCESS && !wait->pid && is_nobody(wait->target)) {
		g_string_append_printf(s, "%s processes", wait->target);
	} else if (wait->kind == TRACE_WAIT_PROCESS && !wait->pid) {
		g_string_append(s, "processes named ");
		add_name(s, wait->target);
	} else if (wait_is_for_disk(report, wait)) {
		g_string_append(s, "the disk ");
		add_name(s, wait->target);
	} else {
		g_string_append(s, plain[wait->kind]);
		if (wait->kind == TRACE_WAIT_PROCESS)
			g_string_append_printf(s, *wait->target ? "%u" TIE : "%u", wait->pid);
		if (wait->kind == TRACE_WAIT_UNKNOWN && *wait->target)
			g_string_append(s, ", ");
		add_name(s, wait->target);
	}
	if (*wait->via)
		g_string_append_printf(s, " via %s", wait->via);
	if (wait->idle)
		g_string_append(s, ", at rest between requests");
}

/* ---- sums over several processes ---- */

struct sum {
	uint64_t user, system, interrupted, wait_cpu, blocked, elapsed;
	uint64_t among; /* waits of these processes for one another */
	GHashTable *pids;
	GHashTable *waits_by_what;  /* struct wait_sum, owned; its own key */
	GHashTable *holders_by_pid; /* struct trace_cpu_wait, owned */
	GArray *waits;	/* when all are added up: struct trace_wait, for others; the longest first */
	GArray *holders; /* the same: struct trace_cpu_wait, others that had the CPU; idle, too */
	size_t nr, threads;
};

/* Processes of one name are one, but for the own threads: pid 0 then, and via "" if they differ in it. */
struct wait_sum {
	struct trace_wait wait;
	bool own;
};

static bool has_pid(const struct sum *sum, uint32_t pid)
{
	return g_hash_table_contains(sum->pids, GUINT_TO_POINTER(pid));
}

static guint wait_hash(gconstpointer key)
{
	const struct wait_sum *sum = key;

	return g_str_hash(sum->wait.target) ^ (guint)sum->wait.kind << 2 ^ (guint)sum->wait.idle << 1 ^ (guint)sum->own;
}

static gboolean wait_equal(gconstpointer left, gconstpointer right)
{
	const struct wait_sum *l = left, *r = right;

	if (l->wait.kind != r->wait.kind || l->wait.idle != r->wait.idle || strcmp(l->wait.target, r->wait.target) != 0)
		return FALSE;
	return l->wait.kind != TRACE_WAIT_PROCESS ? strcmp(l->wait.via, r->wait.via) == 0 : l->own == r->own;
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
		struct wait_sum wait = {f->waits[i], has_pid(sum, f->waits[i].pid)}, *known;

		if (wait.wait.kind == TRACE_WAIT_PROCESS && sum->nr > 1 && wait.own) {
			sum->among += wait.wait.ns;
			continue;
		}
		known = g_hash_table_lookup(sum->waits_by_what, &wait);
		if (known)
			merge_wait(&known->wait, &wait.wait);
		else
			g_hash_table_add(sum->waits_by_what, g_memdup2(&wait, sizeof(wait)));
	}
}

static void sum_holders(struct sum *sum, const struct trace_figures *f)
{
	for (size_t i = 0; i < f->nr_wait_cpu_for; i++) {
		const struct trace_cpu_wait *holder = &f->wait_cpu_for[i];
		struct trace_cpu_wait *known;

		if ((!holder->pid && !is_idle(holder)) || (sum->nr > 1 && has_pid(sum, holder->pid)))
			continue;
		known = g_hash_table_lookup(sum->holders_by_pid, GUINT_TO_POINTER(holder->pid));
		if (known)
			known->ns += holder->ns;
		else
			g_hash_table_insert(sum->holders_by_pid, GUINT_TO_POINTER(holder->pid), g_memdup2(holder, sizeof(*holder)));
	}
}

static gint order_waits(gconstpointer left, gconstpointer right)
{
	const struct trace_wait *l = left, *r = right;

	if (l->ns != r->ns)
		return l->ns > r->ns ? -1 : 1;
	return l->kind != r->kind ? (l->kind < r->kind ? -1 : 1) : strcmp(l->target, r->target);
}

static gint order_holders(gconstpointer left, gconstpointer right)
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
	struct trace_figures *f = trace_process_figures(report->analysis, process);

	if (!f)
		return;
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
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, sum->waits_by_what);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		g_array_append_vals(sum->waits, &((const struct wait_sum *)value)->wait, 1);
	g_hash_table_iter_init(&iter, sum->holders_by_pid);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		g_array_append_vals(sum->holders, value, 1);
	g_array_sort(sum->waits, order_waits);
	g_array_sort(sum->holders, order_holders);
}

static struct sum sum_new(const struct report *report, const GPtrArray *processes)
{
	struct sum sum = {.pids = g_hash_table_new(NULL, NULL), .waits_by_what = g_hash_table_new_full(wait_hash, wait_equal, g_free, NULL),
			  .holders_by_pid = g_hash_table_new_full(NULL, NULL, NULL, g_free), .waits = g_array_new(FALSE, FALSE, sizeof(struct trace_wait)),
			  .holders = g_array_new(FALSE, FALSE, sizeof(struct trace_cpu_wait)), .nr = processes->len};

	for (guint i = 0; i < processes->len; i++)
		g_hash_table_add(sum.pids, GUINT_TO_POINTER(trace_process_pid(processes->pdata[i])));
	for (guint i = 0; i < processes->len; i++)
		sum_add(&sum, report, processes->pdata[i]);
	sum_sort(&sum);
	return sum;
}

static void sum_clear(struct sum *sum)
{
	g_hash_table_destroy(sum->pids);
	g_hash_table_destroy(sum->waits_by_what);
	g_hash_table_destroy(sum->holders_by_pid);
	g_array_free(sum->waits, TRUE);
	g_array_free(sum->holders, TRUE);
}

/* ---- sentences ---- */

/* What may be called "mostly". */
static bool is_most(uint64_t part, uint64_t whole)
{
	return part >= whole - part;
}

static void add_holders(GString *s, const struct report *report, const struct sum *sum)
{
	const struct trace_cpu_wait *first = sum->holders->len ? &g_array_index(sum->holders, struct trace_cpu_wait, 0) : NULL;

	if (!first || percent(first->ns, sum->wait_cpu) < 10)
		return;
	g_string_append(s, ", ");
	if (is_most(first->ns, sum->wait_cpu)) {
		g_string_append(s, is_idle(first) ? "mostly " : "taken mostly ");
	} else {
		add_percent(s, first->ns, sum->wait_cpu);
		g_string_append(s, is_idle(first) ? " of that " : " of that taken ");
	}
	g_string_append(s, is_idle(first) ? "until one woke up" : "by ");
	if (!is_idle(first))
		add_process(s, first->comm, first->pid);
}

/* @whole not 0: as shares of it. */
static void add_waits(GString *s, const struct report *report, const struct sum *sum, uint64_t least, uint64_t whole, uint32_t own_pid)
{
	bool most;

	for (guint i = 0, named = 0; i < sum->waits->len && named < NAMED; i++) {
		const struct trace_wait *wait = &g_array_index(sum->waits, struct trace_wait, i);

		if (percent(wait->ns, least) < WORTH_NAMING)
			return;
		most = is_most(wait->ns, sum->blocked - sum->among);
		g_string_append(s, named ? ", then " : most ? ", mostly " : ", ");
		if (whole)
			add_percent(s, wait->ns, whole);
		else
			add_ns(s, report, wait->ns);
		g_string_append(s, named++ || most || whole ? " for " : " of it for ");
		add_wait(s, report, wait, own_pid);
	}
}

/* One wait, if there is hardly another; else NULL. */
static const struct trace_wait *only_wait(const struct sum *sum)
{
	const struct trace_wait *first = sum->waits->len ? &g_array_index(sum->waits, struct trace_wait, 0) : NULL;

	return first && percent(first->ns, sum->blocked - sum->among) > 100 - WORTH_NAMING ? first : NULL;
}

/* @others: what all of it was for, if for several things; @least and @whole as in add_waits() */
static void add_only_or_waits(GString *s, const struct report *report, const struct sum *sum, const char *others, uint64_t least,
			      uint64_t whole, uint32_t own_pid)
{
	const struct trace_wait *only = only_wait(sum);

	g_string_append(s, " for ");
	if (only) {
		add_wait(s, report, only, own_pid);
		return;
	}
	g_string_append(s, others);
	add_waits(s, report, sum, least, whole, own_pid);
}

/* One process: the shares of its elapsed time. */
static void about_one(GString *s, const struct report *report, const struct trace_process *process, const struct sum *sum)
{
	add_process(s, trace_process_comm(process), trace_process_pid(process));
	if (!has_turns(report)) {
		g_string_append(s, " was there for ");
		add_ns(s, report, sum->elapsed);
		g_string_append(s, ", and nobody knows what it did: no scheduling changes were recorded.");
		return;
	}
	g_string_append(s, " waited ");
	add_percent(s, sum->blocked ? sum->blocked : sum->wait_cpu, sum->elapsed);
	g_string_append(s, " of its ");
	add_ns(s, report, sum->elapsed);
	if (sum->threads > 1)
		g_string_append_printf(s, " (%zu threads, added up)", sum->threads);
	if (sum->blocked) {
		add_only_or_waits(s, report, sum, "something", sum->elapsed, sum->elapsed, trace_process_pid(process));
		g_string_append(s, "; it waited ");
		add_percent(s, sum->wait_cpu, sum->elapsed);
	}
	g_string_append(s, " for a CPU");
	if (percent(sum->wait_cpu, sum->elapsed) >= WORTH_NAMING)
		add_holders(s, report, sum);
	g_string_append(s, ", and used ");
	add_percent(s, sum->user + sum->system, sum->elapsed);
	g_string_append(s, " CPU");
	if (!trace_analysis_sees_calls(report->analysis)) {
		g_string_append(s, ".");
		return;
	}
	g_string_append(s, " (");
	add_ns(s, report, sum->user);
	g_string_append(s, " in its own code, ");
	add_ns(s, report, sum->system);
	g_string_append(s, " in the kernel).");
}

/* The name whose processes used most of the CPU. */
static const struct trace_process *busiest(const struct report *report, const GPtrArray *processes, uint64_t *ret_ns, unsigned int *ret_nr)
{
	struct share {
		uint64_t ns;
		unsigned int nr;
	} *share, *most = NULL;
	GHashTable *shares = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, g_free);
	const struct trace_process *best = NULL;

	for (guint i = 0; i < processes->len; i++) {
		const char *comm = trace_process_comm(processes->pdata[i]);

		share = g_hash_table_lookup(shares, comm);
		if (!share) {
			share = g_new0(struct share, 1);
			g_hash_table_insert(shares, (gpointer)comm, share);
		}
		share->nr++;
		for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(processes->pdata[i], thread));)
			share->ns += trace_thread_cpu_ns(report->analysis, thread);
		if (!most || share->ns > most->ns || (share == most && share->nr == 1)) {
			most = share;
			best = processes->pdata[i];
		}
	}
	*ret_ns = most ? most->ns : 0;
	*ret_nr = most ? most->nr : 0;
	g_hash_table_destroy(shares);
	return *ret_ns ? best : NULL;
}

/* Several: what they did, and what they waited for that was none of them. */
static void about_several(GString *s, const struct report *report, const GPtrArray *processes, const struct sum *sum, uint64_t span)
{
	uint64_t others = sum->blocked - sum->among, most, whole = sum->user + sum->system + sum->interrupted + sum->wait_cpu + others;
	unsigned int nr;
	const struct trace_process *busy = busiest(report, processes, &most, &nr);

	g_string_append(s, " used ");
	add_ns(s, report, sum->user + sum->system);
	g_string_append_printf(s, " of CPU, %.2f CPUs at a time", span ? (double)(sum->user + sum->system) / (double)span : 0);
	if (busy) {
		g_string_append(s, most < sum->user + sum->system ? ", most by " : ", all by ");
		add_process(s, trace_process_comm(busy), nr == 1 ? trace_process_pid(busy) : 0);
		if (nr > 1)
			g_string_append_printf(s, " (%u" TIE "processes)", nr);
		if (most < sum->user + sum->system) {
			g_string_append(s, " with ");
			add_ns(s, report, most);
		}
	}
	g_string_append(s, "; they waited ");
	add_ns(s, report, sum->wait_cpu);
	g_string_append(s, " for a CPU");
	if (sum->wait_cpu)
		add_holders(s, report, sum);
	if (others) {
		g_string_append(s, ", and ");
		add_ns(s, report, others);
		add_only_or_waits(s, report, sum, "something other than one another", whole, 0, 0);
	}
	g_string_append(s, ".");
}

static void about_command(GString *s, const struct report *report, const struct trace_process *root)
{
	GPtrArray *tree = command_family(report), *alone = g_ptr_array_new();
	uint64_t span = command_ran_ns(report);
	bool ended = command_has_ended(report);
	struct sum all = sum_new(report, tree), own;

	g_ptr_array_add(alone, (gpointer)root);
	own = sum_new(report, alone);
	g_string_append_printf(s, "T%s %s for ", command_words(report) + 1, ended ? "ran" : "had run"); /* a sentence begins */
	add_ns(s, report, span);
	if (!ended)
		g_string_append_printf(s, " when the recording ended, and %s", command_not_ended(report));
	g_string_append(s, ": ");
	about_one(s, report, root, &own);
	if (tree->len > 1) {
		g_string_append_printf(s, " It and the %u process%s that it started", tree->len - 1, tree->len == 2 ? "" : "es");
		about_several(s, report, tree, &all, span);
	}
	sum_clear(&own);
	sum_clear(&all);
	g_ptr_array_free(alone, TRUE);
	g_ptr_array_free(tree, TRUE);
}

/* Lists take numbers of threads, too, so one may be given here. NULL: it is none, but a process, or nobody's. */
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

static void add_chosen(GString *s, const struct report *report)
{
	const struct options *options = report->options;
	const struct trace_process *process = options->pid >= 0 ? process_of_thread(report, options->pid) : NULL;

	if (options->pid >= 0)
		g_string_append_printf(s, " number %lld,", (long long)options->pid);
	if (process)
		g_string_append_printf(s, " which is a thread of process %u,", trace_process_pid(process));
	if (options->comm) {
		g_string_append(s, options->pid >= 0 ? " and called " : " called ");
		add_name(s, options->comm);
		g_string_append(s, ",");
	}
	if (options->cgroup) {
		g_string_append(s, options->pid >= 0 || options->comm ? " and in the control group " : " in the control group ");
		add_name(s, options->cgroup);
		g_string_append(s, ",");
	}
	s->str[s->len - 1] = ';';
	g_string_append(s, " without --pid, --comm and --cgroup all are listed");
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
	GString *s;

	if (!is_chosen(options))
		return false;
	for (int side = 0; side < nr_sides; side++)
		if (finds_any(&sides[side]))
			return false;
	s = g_string_new("tracevisualizer: no ");
	g_string_append(s, is_left_out(sides[0].trace, TRACE_LEFT_OUT_KERNEL) ? "program that has events here is" :
			nr_sides > 1 ? "process of either trace is" : "process of this trace is");
	add_chosen(s, &sides[0]);
	fprintf(stderr, "%s\n", s->str);
	g_string_free(s, TRUE);
	return true;
}

static void about_chosen(GString *s, const struct report *report, const struct process_row *rows, size_t nr)
{
	GPtrArray *list = g_ptr_array_new();
	uint64_t start, end;
	struct sum sum;

	for (size_t i = 0; i < nr; i++)
		g_ptr_array_add(list, (gpointer)rows[i].process);
	trace_analysis_window(report->analysis, &start, &end);
	sum = sum_new(report, list);
	if (nr == 1) {
		about_one(s, report, rows[0].process, &sum);
	} else if (!has_turns(report)) {
		g_string_append_printf(s, "Nobody knows what the %zu processes did: no scheduling changes were recorded.", nr);
	} else {
		g_string_append_printf(s, "The %zu processes", nr);
		about_several(s, report, list, &sum, end - start);
	}
	sum_clear(&sum);
	g_ptr_array_free(list, TRUE);
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

/* The greatest wait of the machine that somebody should look at: neither idle nor the sleep of a process that wanted it. */
static const struct trace_wait *worst_wait(const struct trace_figures *f)
{
	for (size_t i = 0; i < f->nr_waits; i++)
		if (!f->waits[i].idle && (f->waits[i].kind == TRACE_WAIT_FILE || f->waits[i].kind == TRACE_WAIT_NETWORK ||
					  f->waits[i].kind == TRACE_WAIT_DEVICE || f->waits[i].kind == TRACE_WAIT_MEMORY))
			return &f->waits[i];
	return NULL;
}

/* What CPUs were busy with, as far as what tells it was recorded. */
static void add_modes(GString *s, const struct report *report, const struct trace_cpu_figures *sum, uint64_t all)
{
	bool calls = trace_analysis_sees_calls(report->analysis), interrupts = has_interrupts(report);

	if (!calls && !interrupts) {
		g_string_append(s, ", in programs, the kernel or interrupts: which of them was not recorded");
		return;
	}
	g_string_append(s, ": ");
	if (calls) {
		add_percent(s, sum->user_ns, all);
		g_string_append(s, " in programs, ");
		add_percent(s, sum->system_ns, all);
		g_string_append(s, " in the kernel, ");
	} else {
		add_percent(s, sum->user_ns + sum->system_ns, all);
		g_string_append(s, " in programs or the kernel, ");
	}
	if (interrupts) {
		add_percent(s, sum->irq_ns, all);
		g_string_append(s, trace_analysis_sees_interrupts(report->analysis) ? " in interrupts" : " in interrupts (not all were recorded)");
	} else {
		g_string_append(s, "both with interrupts, which were not recorded");
	}
}

static void about_cpus(GString *s, const struct report *report)
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
		g_string_append(s, "No time passes in this trace.");
		return;
	}
	if (!all) {
		g_string_append(s, "In ");
		add_ns(s, report, end - start);
		g_string_append(s, " nothing of what CPUs did was recorded.");
		return;
	}
	if (sum.unknown_ns == all) {
		g_string_append(s, "What the CPUs did in ");
		add_ns(s, report, end - start);
		g_string_append(s, " is not known.");
		return;
	}
	g_string_append(s, "In ");
	add_ns(s, report, end - start);
	g_string_append_printf(s, " the %zu CPU%s of ", nr, nr == 1 ? "" : "s");
	add_name(s, *info->host ? info->host : "the machine");
	if (trace_analysis_is_filtered(report->analysis)) /* there may be others */
		g_string_append(s, nr == 1 ? " that was seen" : " that were seen");
	g_string_append(s, nr == 1 ? " was " : " were ");
	add_percent(s, sum.user_ns + sum.system_ns + sum.irq_ns, all);
	g_string_append(s, trace_analysis_is_filtered(report->analysis) ? " busy with what the filter let pass" : " busy");
	add_modes(s, report, &sum, all);
	if (percent(sum.unknown_ns, all) >= WORTH_NAMING) {
		g_string_append(s, ", and ");
		add_percent(s, sum.unknown_ns, all);
		g_string_append(s, " is unknown");
	}
	g_string_append(s, ".");
}

/* Whom to blame for time on a CPU in which nothing was done. */
static void about_host(GString *s, const struct report *report, const struct trace_figures *system)
{
	uint64_t cpu_ns = system->user_ns + system->syscall_ns + system->trap_ns + system->interrupted_ns;

	if (percent(system->stolen_ns, cpu_ns) < WORTH_NAMING)
		return;
	g_string_append(s, " Of their CPU time the host of this virtual machine took ");
	add_ns(s, report, system->stolen_ns);
	g_string_append(s, " (");
	add_percent(s, system->stolen_ns, cpu_ns);
	g_string_append(s, ") for others.");
}

static void about_machine(GString *s, const struct report *report, const struct process_row *rows, size_t nr, const struct trace_figures *system)
{
	const struct process_row *hot = hottest(rows, nr), *hungry = hungriest(rows, nr);
	const struct trace_wait *wait = worst_wait(system);

	about_cpus(s, report);
	if (hot) {
		g_string_append(s, " The busiest process was ");
		add_process(s, trace_process_comm(hot->process), trace_process_pid(hot->process));
		g_string_append(s, " with ");
		add_ns(s, report, hot->user_ns + hot->system_ns);
		g_string_append(s, " of CPU.");
	}
	if (hungry) {
		g_string_append(s, " Threads waited ");
		add_ns(s, report, system->wait_cpu_ns);
		g_string_append(s, " for a CPU, those of ");
		add_process(s, trace_process_comm(hungry->process), trace_process_pid(hungry->process));
		g_string_append(s, " the longest, ");
		add_ns(s, report, hungry->wait_cpu_ns);
		g_string_append(s, ".");
	}
	if (wait) {
		g_string_append(s, " The longest wait for input, output or memory: ");
		add_ns(s, report, wait->ns);
		g_string_append(s, " for ");
		add_wait(s, report, wait, 0);
		g_string_append(s, ".");
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
		g_free(shown);
	}
	fputs("\n\n", report->out);
}

void report_verdict(const struct report *report, const struct process_row *rows, size_t nr, const struct trace_figures *system)
{
	bool chosen = is_chosen(report->options);
	const struct trace_process *command = chosen ? NULL : report->command;
	GString *s = g_string_new(NULL);

	if (chosen)
		about_chosen(s, report, rows, nr);
	else if (command)
		about_command(s, report, command);
	if (s->len)
		report_wrapped(report, s->str);
	g_string_truncate(s, 0);
	if (chosen)
		about_cpus(s, report);
	else
		about_machine(s, report, rows, nr, system);
	about_host(s, report, system);
	report_loss_sentence(s, report);
	report_wrapped(report, s->str);
	g_string_free(s, TRUE);
}

void report_verdict_of_programs(const struct report *report, bool any)
{
	GString *s = g_string_new("The kernel was not recorded, only events of programs: what else their threads did, what they waited for, and which processes there were, is not known.");

	if (!any)
		g_string_append(s, " There are none.");
	report_loss_sentence(s, report);
	report_wrapped(report, s->str);
	g_string_free(s, TRUE);
}
