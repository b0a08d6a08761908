/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_overview.c - the first paragraphs of the report: its result in a few sentences.
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
#include "checked_figures.h"
#include "cpu_takers.h"
#include "losses.h"
#include "number_text.h"
#include "overview_waits.h"
#include "process_choice.h"
#include "process_sum.h"
#include "recorded.h"
#include "recorded_family.h"
#include "report_cpus.h"
#include "report_overview.h"
#include "report_probes.h"
#include "thread_choice.h"
#include "wait_text.h"
#include "wait_places.h"

#define NAME_BYTES   256
#define WORTH_NAMING 1 /* percent */

/* ---- sentences ---- */

static void add_process(struct string *s, const char *comm, uint32_t pid)
{
	char buffer[NAME_BYTES + 32];

	string_add(s, text_process(comm, pid, buffer, sizeof(buffer)));
}

/* True if @part is at least half of @whole and may be called "mostly". */
static bool is_most(uint64_t part, uint64_t whole)
{
	return part >= whole - part;
}

/* @own_pid: of the only process of @sum; 0: it has several */
static void add_holders(struct string *s, const struct process_sum *sum, uint32_t own_pid)
{
	size_t nr;
	struct cpu_taker *takers = cpu_takers(sum->holders, sum->nr_holders, own_pid, &nr);
	const struct cpu_taker *first = takers; /* zeroed if there is none */
	bool idle = nr && is_idle(&first->first);

	if (percent(first->ns, sum->wait_cpu_ns) >= 10) {
		string_add(s, ", ");
		if (is_most(first->ns, sum->wait_cpu_ns)) {
			string_add(s, idle ? "mostly " : "taken mostly ");
		} else {
			overview_percent(s, first->ns, sum->wait_cpu_ns);
			string_add(s, idle ? " of that " : " of that taken ");
		}
		string_add(s, idle ? "while an idle CPU woke up" : "by ");
		if (!idle && own_pid && first->first.pid == own_pid)
			cpu_taker_own_text(s, first);
		else if (!idle)
			cpu_taker_text(s, first, NULL);
	}
	free(takers);
}

/* " (flush_orders 64 %)": the function with most of its own code; nothing without samples */
static void add_function(struct string *s, const struct report *report, const struct trace_process *process)
{
	struct wait_place place = cpu_place_of_process(report->places, process, CPU_OWN_CODE);
	struct string where = {0};
	char name[NAME_BYTES];

	cpu_place_text(&place, &where);
	if (*string_text(&where))
		string_addf(s, " (%s)", text_name(string_text(&where), name, sizeof(name)));
	string_free(&where);
}

/* A sentence about one process: shares of its elapsed time. */
static void about_one(struct string *s, const struct report *report, const struct trace_process *process,
		      const struct process_sum *sum)
{
	bool tells_events = event_cost_matters(sum->event_ns, sum->user_ns + sum->system_ns);

	add_process(s, trace_process_title(process), trace_process_pid(process));
	chosen_threads_text(s, report, process);
	if (!has_scheduling(report->analysis)) {
		string_add(s, " existed for ");
		overview_ns(s, &report->output, sum->elapsed_ns);
		string_add(s, "; what it did is unknown: no scheduling changes were recorded.");
		return;
	}
	string_add(s, " waited ");
	overview_percent(s, sum->blocked_ns ? sum->blocked_ns : sum->wait_cpu_ns, sum->elapsed_ns);
	string_add(s, " of its ");
	overview_ns(s, &report->output, sum->elapsed_ns);
	if (sum->threads > 1)
		string_addf(s, " (%zu threads, added up)", sum->threads);
	if (sum->blocked_ns) {
		overview_waits(s, report, sum,
			       &(struct overview_scale){.reference_ns = sum->elapsed_ns,
							.own_pid = trace_process_pid(process)});
		string_add(s, "; it waited ");
		overview_percent(s, sum->wait_cpu_ns, sum->elapsed_ns);
	}
	string_add(s, " for a CPU");
	if (percent(sum->wait_cpu_ns, sum->elapsed_ns) >= WORTH_NAMING)
		add_holders(s, sum, trace_process_pid(process));
	string_add(s, ", and used ");
	overview_percent(s, sum->user_ns + sum->system_ns, sum->elapsed_ns);
	string_add(s, " CPU");
	if (!trace_analysis_sees_calls(report->analysis)) {
		string_add(s, ".");
		return;
	}
	string_add(s, " (");
	overview_ns(s, &report->output, sum->user_ns - (tells_events ? sum->event_ns : 0));
	string_add(s, " in its own code");
	add_function(s, report, process);
	string_add(s, ", ");
	if (tells_events) {
		overview_ns(s, &report->output, sum->event_ns);
		string_addf(s, " recording %s events of its own, ", number_count(sum->event_records).s);
	}
	overview_ns(s, &report->output, sum->system_ns);
	string_add(s, " in the kernel");
	if (sum->probe_hits) {
		string_add(s, ", of which ");
		overview_ns(s, &report->output, sum->probe_ns);
		string_addf(s, " for %s hits of probes", number_count(sum->probe_hits).s);
	}
	string_add(s, ").");
}

/*
 * A process of the name that used the most CPU time.
 * @ret_ns, @ret_nr: CPU time and number of all processes of that name
 */
static const struct trace_process *busiest(const struct trace_analysis *analysis, const struct pointers *processes,
					   uint64_t *ret_ns, unsigned int *ret_nr)
{
	struct name_share {
		uint64_t key;
		uint64_t ns;
		unsigned int nr;
	} * share, *largest;
	struct strings names = {0};
	struct hash_table shares = {0};
	const struct trace_process *best = NULL;
	uint64_t best_key = 0;

	for (size_t i = 0; i < processes->nr; i++) {
		share = memory_row(&shares, sizeof(*share), memory_key(&names, trace_process_title(processes->at[i])));
		share->nr++;
		for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(processes->at[i], thread));)
			share->ns += trace_thread_cpu_ns(analysis, thread);
		largest = best ? table_find(&shares, sizeof(*largest), best_key) : NULL;
		if (!largest || share->ns > largest->ns) {
			best_key = share->key;
			best = processes->at[i];
		}
	}
	largest = best ? table_find(&shares, sizeof(*largest), best_key) : NULL;
	*ret_ns = largest ? largest->ns : 0;
	*ret_nr = largest ? largest->nr : 0;
	table_clear(&shares);
	strings_clear(&names);
	return *ret_ns ? best : NULL;
}

/* A sentence about several processes: their CPU time, and their waits for others. */
static void about_several(struct string *s, const struct report *report, const struct pointers *processes,
			  const struct process_sum *sum, uint64_t span)
{
	uint64_t others = sum->blocked_ns - sum->among_ns, busy_ns,
		 whole = sum->user_ns + sum->system_ns + sum->interrupted_ns + sum->wait_cpu_ns + others;
	unsigned int nr;
	const struct trace_process *busy = busiest(report->analysis, processes, &busy_ns, &nr);

	string_add(s, " used ");
	overview_ns(s, &report->output, sum->user_ns + sum->system_ns);
	string_addf(s, " of CPU, %.2f CPUs on average",
		    span ? (double)(sum->user_ns + sum->system_ns) / (double)span : 0);
	if (busy) {
		string_add(s, busy_ns < sum->user_ns + sum->system_ns ? ", most by " : ", all by ");
		add_process(s, trace_process_title(busy), nr == 1 ? trace_process_pid(busy) : 0);
		if (nr > 1)
			string_addf(s, " (%u" UNBROKEN_BLANK "processes)", nr);
		if (busy_ns < sum->user_ns + sum->system_ns) {
			string_add(s, " with ");
			overview_ns(s, &report->output, busy_ns);
		}
	}
	string_add(s, "; they waited ");
	overview_ns(s, &report->output, sum->wait_cpu_ns);
	string_add(s, " for a CPU");
	if (sum->wait_cpu_ns)
		add_holders(s, sum, 0);
	if (others) {
		string_add(s, ", and ");
		overview_ns(s, &report->output, others);
		overview_waits(s, report, sum, &(struct overview_scale){.reference_ns = whole, .is_family = true});
	}
	string_add(s, ".");
}

static void about_command(struct string *s, const struct report *report, const struct trace_process *root)
{
	struct pointers tree = command_family(&report->command), alone = {0};
	uint64_t span = command_ran_ns(&report->command);
	bool ended = command_has_ended(&report->command);
	struct process_sum all = process_sum_new(report, &tree), own;

	pointers_add(&alone, root);
	own = process_sum_new(report, &alone);
	/* capital letter: a sentence begins */
	string_addf(s, "T%s %s for ", command_words(&report->command) + 1, ended ? "ran" : "had run");
	overview_ns(s, &report->output, span);
	if (!ended)
		string_addf(s, " when the recording ended, and %s", command_not_ended(&report->command));
	string_add(s, ": ");
	about_one(s, report, root, &own);
	if (tree.nr > 1) {
		string_addf(s, " It and the %zu process%s that it started", tree.nr - 1, tree.nr == 2 ? "" : "es");
		about_several(s, report, &tree, &all, span);
	}
	process_sum_clear(&own);
	process_sum_clear(&all);
	pointers_free(&alone);
	pointers_free(&tree);
}

static void about_chosen(struct string *s, const struct report *report, const struct process_row *rows, size_t nr)
{
	struct pointers list = {0};
	uint64_t start, end;
	struct process_sum sum;

	for (size_t i = 0; i < nr; i++)
		pointers_add(&list, rows[i].process);
	trace_analysis_window(report->analysis, &start, &end);
	sum = process_sum_new(report, &list);
	if (nr == 1) {
		about_one(s, report, rows[0].process, &sum);
	} else if (!has_scheduling(report->analysis)) {
		string_addf(s, "Unknown: no scheduling changes were recorded for the %zu processes.", nr);
	} else {
		string_addf(s, "The %zu processes", nr);
		about_several(s, report, &list, &sum, end - start);
	}
	process_sum_clear(&sum);
	pointers_free(&list);
}

static const struct process_row *longest_waiting(const struct process_row *rows, size_t nr)
{
	const struct process_row *best = NULL;

	for (size_t i = 0; i < nr; i++)
		if (!best || rows[i].wait_cpu_ns > best->wait_cpu_ns)
			best = &rows[i];
	return best && best->wait_cpu_ns ? best : NULL;
}

static const struct process_row *most_cpu_time(const struct process_row *rows, size_t nr)
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
		if (!f->waits[i].idle &&
		    (f->waits[i].kind == TRACE_WAIT_FILE || f->waits[i].kind == TRACE_WAIT_NETWORK ||
		     f->waits[i].kind == TRACE_WAIT_DEVICE || f->waits[i].kind == TRACE_WAIT_MEMORY))
			return &f->waits[i];
	return NULL;
}

/* The parts of busy time, as far as the recorded events tell them apart. */
static void add_modes(struct string *s, const struct trace_analysis *analysis, const struct cpu_total *sum,
		      uint64_t all)
{
	bool calls = trace_analysis_sees_calls(analysis), interrupts = has_interrupts(analysis);

	if (!calls && !interrupts) {
		string_add(s, ", in programs, the kernel or interrupts (not recorded which)");
		return;
	}
	string_add(s, ": ");
	if (calls) {
		overview_percent(s, sum->user_ns, all);
		string_add(s, " in programs, ");
		overview_percent(s, sum->system_ns, all);
		string_add(s, " in the kernel, ");
	} else {
		overview_percent(s, sum->user_ns + sum->system_ns, all);
		string_add(s, " in programs or the kernel, ");
	}
	if (interrupts) {
		overview_percent(s, sum->interrupts_ns, all);
		string_add(s, trace_analysis_sees_interrupts(analysis) ? " in interrupts"
								       : " in interrupts (not all were recorded)");
	} else {
		string_add(s, "including interrupts, which were not recorded");
	}
}

static void about_cpus(struct string *s, const struct report *report)
{
	const struct trace_info *info = trace_get_info(report->trace);
	size_t nr = trace_nr_cpus(report->analysis);
	struct cpu_total sum = cpu_total(report->analysis);
	uint64_t start, end, all = sum.all_ns;

	trace_analysis_window(report->analysis, &start, &end);
	if (start == end) {
		string_add(s, "No time passes in this trace.");
		return;
	}
	if (!all) {
		string_add(s, "In ");
		overview_ns(s, &report->output, end - start);
		string_add(s, " no activity of the CPUs was recorded.");
		return;
	}
	if (sum.unknown_ns == all) {
		string_add(s, "The activity of the CPUs in ");
		overview_ns(s, &report->output, end - start);
		string_add(s, " is unknown.");
		return;
	}
	string_add(s, "In ");
	overview_ns(s, &report->output, end - start);
	string_addf(s, " the %zu CPU%s of ", nr, nr == 1 ? "" : "s");
	overview_name(s, *info->host ? info->host : "the machine");
	/* CPUs without chosen threads do not appear */
	if (trace_analysis_is_filtered(report->analysis))
		string_add(s, nr == 1 ? " that was recorded" : " that were recorded");
	string_add(s, nr == 1 ? " was " : " were ");
	overview_percent(s, sum.user_ns + sum.system_ns + sum.interrupts_ns, all);
	string_add(s, trace_analysis_is_filtered(report->analysis) ? " busy with processes that the filter selects"
								   : " busy");
	add_modes(s, report->analysis, &sum, all);
	if (percent(sum.unknown_ns, all) >= WORTH_NAMING) {
		string_add(s, ", and ");
		overview_percent(s, sum.unknown_ns, all);
		string_add(s, " is unknown");
	}
	string_add(s, ".");
}

/*
 * The time that the host of a virtual machine took from its CPUs: the guest counts it as CPU time.
 */
static void about_host(struct string *s, const struct text_output *output, const struct trace_figures *system)
{
	uint64_t cpu_ns = system->user_ns + system->syscall_ns + system->trap_ns + system->interrupted_ns;

	if (percent(system->stolen_ns, cpu_ns) < WORTH_NAMING)
		return;
	string_add(s, " The host of this virtual machine took ");
	overview_ns(s, output, system->stolen_ns);
	string_add(s, " (");
	overview_percent(s, system->stolen_ns, cpu_ns);
	string_add(s, ") of their CPU time for others.");
}

static void about_machine(struct string *s, const struct report *report, const struct process_row *rows, size_t nr,
			  const struct trace_figures *system)
{
	const struct process_row *busiest = most_cpu_time(rows, nr), *waiting = longest_waiting(rows, nr);
	const struct trace_wait *wait = worst_wait(system);

	about_cpus(s, report);
	if (busiest) {
		string_add(s, " The busiest process was ");
		add_process(s, trace_process_title(busiest->process), trace_process_pid(busiest->process));
		string_add(s, " with ");
		overview_ns(s, &report->output, busiest->user_ns + busiest->system_ns);
		string_add(s, " of CPU.");
	}
	if (waiting) {
		string_add(s, " Threads waited ");
		overview_ns(s, &report->output, system->wait_cpu_ns);
		string_add(s, " for a CPU, those of ");
		add_process(s, trace_process_title(waiting->process), trace_process_pid(waiting->process));
		string_add(s, " the longest, ");
		overview_ns(s, &report->output, waiting->wait_cpu_ns);
		string_add(s, ".");
	}
	if (wait) {
		string_add(s, " The longest wait for input, output or memory: ");
		overview_ns(s, &report->output, wait->ns);
		string_add(s, " for ");
		overview_wait(s, report->analysis, wait);
		string_add(s, ".");
	}
}

static const struct process_row *row_of(const struct process_row *rows, size_t nr, const struct trace_process *process)
{
	for (size_t i = 0; i < nr; i++)
		if (rows[i].process == process)
			return &rows[i];
	return NULL;
}

/* ---- the paragraph ---- */

void report_overview(const struct report *report, const struct process_row *rows, size_t nr,
		     const struct trace_figures *system)
{
	bool chosen = has_process_choice(&report->options->processes);
	const struct trace_process *command = chosen ? NULL : report->command.process;
	const struct process_row *recorded = chosen || command ? NULL : row_of(rows, nr, chosen_process(report));
	struct string s = {0};

	if (report->is_windowed && command) { /* the words about a whole command are not true of a part of it */
		recorded = row_of(rows, nr, command);
		command = NULL;
	}
	if (chosen)
		about_chosen(&s, report, rows, nr);
	else if (recorded)
		about_chosen(&s, report, recorded, 1);
	else if (command)
		about_command(&s, report, command);
	if (s.len)
		output_paragraph(&report->output, string_text(&s));
	string_free(&s);
	if (chosen || recorded)
		about_cpus(&s, report);
	else
		about_machine(&s, report, rows, nr, system);
	about_host(&s, &report->output, system);
	losses_sentence(&s, report->trace, report->analysis);
	output_paragraph(&report->output, string_text(&s));
	string_free(&s);
}

void report_overview_of_programs(const struct report *report, bool any)
{
	struct string s = {0};

	string_add(&s, "The kernel was not recorded, only events of programs: the processes, the other activity of "
		       "their threads and the causes of waits are unknown.");
	if (!any)
		string_add(&s, " The trace has no such events.");
	losses_sentence(&s, report->trace, report->analysis);
	output_paragraph(&report->output, string_text(&s));
	string_free(&s);
}
