/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * slice_log.c - which process had a CPU, and when: a wait for a CPU is charged to those processes.
 *
 * Terms. A time slice lasts from one switch of a CPU to the next. The holder of a time slice is the
 * process that had the CPU in it. A run-queue episode is the time in which a thread never sleeps:
 * it alternates between waiting for a CPU and running on it. To charge a wait is to add its time to
 * the rows of the holders.
 *
 * Each CPU keeps a log of its latest time slices. A short wait is charged slice by slice. But if
 * thousands of threads compete for a CPU, each wait contains thousands of slices, and going through
 * them in every wait of every thread costs too much. Two mechanisms avoid that.
 *
 * 1. Cumulative time per holder. For each recent holder the CPU keeps the time that it has had so
 * far (holder.had_ns). Each time slice notes the value of its holder when it began. The time of a
 * holder between two slices is then the difference of two numbers, however many slices it had.
 *
 * The value at slice n is in the first slice of the holder that is not before n. To find that
 * slice, the slices of a holder form a list (`before`) with shortcuts (`jump`): the slice with rank
 * r in the list also links to rank r & (r - 1), as in a Fenwick tree. The search takes logarithmic
 * time.
 *
 * 2. Run-queue episodes. All waits of a thread in one episode on one CPU are charged together. The
 * time of other processes in these waits is their time from the begin of the first wait to the end
 * of the last one, because between two waits the thread itself had the CPU. From the time of the
 * thread's own process the thread's own slices are subtracted. So a wait inside an episode costs a
 * few additions, whichever processes had the CPU.
 *
 * The episode is closed when the thread sleeps, when it moves to another CPU, when a caller reads
 * its sums, or when the log has no room. Only then the code goes through the holders once, latest
 * first, until the whole waiting time is charged.
 *
 * Example. The threads A, B and C of three processes share a CPU; each time slice is 4 ms:
 *
 *	slice     0     1     2     3     4     5     6
 *	begin     0     4     8    12    16    20    24 ms
 *	holder    A     B     C     A     B     C     A
 *	had_ns    0     0     0     4     4     4     8 ms   (of its holder, before the slice)
 *
 * A's episode begins at 4 ms with slice 1. A waits from 4 to 12 ms and from 16 to 24 ms, together
 * 16 ms; in between it runs in slice 3, 4 ms. A sleeps at 28 ms. The episode then covers the slices
 * from 1 up to, but without, 6:
 *
 *	C  had 8 ms so far (slice 6 is later than its last) and 0 ms before slice 2: charge 8 ms
 *	B  had 8 ms so far and 0 ms before slice 1: charge 8 ms
 *	A  had 8 ms before slice 6 and 4 ms before slice 3: 4 ms, minus its own 4 ms: nothing
 *
 * The sum is 16 ms, all of the waiting time. (Waits of only two slices are really charged slice by
 * slice, see NEAR.)
 *
 * Both mechanisms cost time at every switch. A CPU therefore starts them only when a thread has
 * waited for more than NEAR time slices.
 *
 * At the end of the trace open episodes and their slices stay as they are. Expanding them takes
 * time and memory for each of thousands of threads, and a report usually shows a few threads only.
 * acct_of() expands an episode on demand.
 *
 * Threads of the waiting thread's own process have rows of their own. The list above is one of
 * processes, so the code follows the slices of the own process back, as many as the waits had.
 *
 * Accuracy. For waits of less than MAX_NAMED_HOLDERS slices each, every nanosecond is charged to
 * its holder. Longer waits are charged to the processes that had the CPU last, to at least
 * MAX_NAMED_HOLDERS of them, and the rest to "several". Naming all processes for all waiting
 * processes would need a table of the square of their number.
 *
 * Length of the log. The log doubles if closing all episodes would look at more holders than a
 * quarter of its slices, up to MAX_LOG_BYTES for all CPUs. Whenever half of the log has been
 * filled, the episodes that began in the other half are closed, and older holders are forgotten. An
 * open episode therefore always finds its slices. If thousands of threads compete and the log must
 * not grow, fewer processes are named (at least MIN_NAMED_HOLDERS), so that a time slice never
 * costs more than about one look.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "pages.h"
#include "slice_log.h"
#include "state.h"

#define NEAR		  16u
#define MAX_NAMED_HOLDERS 128u
#define MIN_NAMED_HOLDERS 8u /* for long waits of thousands of threads */
#define MAX_LOG_BYTES	  (32u << 20)
#define MAX_OWN_THREADS	  256u /* more living threads of a process have one row */
#define LIST_END	  0u   /* holders[0] is both ends of the list */

/* of the time slice with the same number in the log */
struct slice_link {
	uint64_t had_ns; /* time that its holder had on this CPU before it */
	uint32_t before; /* distance to its holder's previous slice; 0: none known */
	uint32_t jump;	 /* distance to an earlier slice of its holder; 0: none */
};

/* a process that had this CPU recently */
struct holder {
	uint64_t had_ns; /* without interrupts and without the current slice */
	uint64_t last;	 /* number of its latest slice */
	uint32_t slices;
	uint32_t process;
	uint32_t newer, older; /* by latest slice; in a free holder, `older` is the next free one */
};

struct slice_index {
	struct slice_link *links; /* owned; one for each entry of the log */
	/*
	 * The first slice with which an episode may begin. Older slices have no links, or lose them
	 * before the next half of the log is full.
	 */
	uint64_t from;
	struct holder *holders; /* owned */
	uint32_t nr, capacity, free;
	struct hash_table by_process;	/* rows are holder_row */
	struct trace_thread **episodes; /* owned; threads with an open episode on this CPU */
	uint32_t nr_episodes, max_episodes;
};

struct holder_row {
	uint64_t key; /* process + 1 */
	uint64_t holder;
};

uint64_t slice_log_key_of(const struct trace_thread *thread, uint32_t process, uint32_t holder)
{
	bool is_sibling = process == thread->process_idx && holder != thread->idx &&
			  thread->process->nr_living <= MAX_OWN_THREADS;

	return slice_log_key(process, is_sibling ? holder : ANY_THREAD);
}

static void charge_key(struct trace_analysis *a, struct trace_thread *thread, uint64_t key, uint64_t ns)
{
	if (ns)
		acct_defer(a, &thread->acct.cpu_holders, SUM_OF(cpu_holder_row, ns), key, ns);
}

static void charge_process(struct trace_analysis *a, struct trace_thread *thread, uint32_t process, uint64_t ns)
{
	charge_key(a, thread, slice_log_key(process, ANY_THREAD), ns);
}

static void charge_slice(struct trace_analysis *a, struct trace_thread *thread, const struct cpu_log_entry *slice,
			 uint64_t ns)
{
	charge_key(a, thread, slice_log_key_of(thread, slice->process, slice->thread), ns);
}

static uint64_t without(uint64_t ns, uint64_t less)
{
	return ns > less ? ns - less : 0;
}

/*
 * The time that the holder of @slice had, if the slice ends at @end_ns and the CPU had spent
 * @end_irq_ns in interrupts by then.
 */
static uint64_t slice_ns(const struct cpu_log_entry *slice, uint64_t end_ns, uint64_t end_irq_ns)
{
	return without(without(end_ns, slice->ns), without(end_irq_ns, slice->irq_ns));
}

static uint64_t oldest_slice(const struct cpu *cpu, uint64_t max)
{
	return cpu->log_pos > max ? cpu->log_pos - max : 0;
}

/* ---- holders and their cumulative time ---- */

static struct slice_link *link_of(const struct cpu *cpu, uint64_t slice)
{
	return &cpu->slices->links[slice & cpu->log_mask];
}

static void list_remove(struct holder *holders, uint32_t idx)
{
	holders[holders[idx].newer].older = holders[idx].older;
	holders[holders[idx].older].newer = holders[idx].newer;
}

static void list_prepend(struct holder *holders, uint32_t idx)
{
	holders[idx].newer = LIST_END;
	holders[idx].older = holders[LIST_END].older;
	holders[holders[LIST_END].older].newer = idx;
	holders[LIST_END].older = idx;
}

static uint32_t holder_new(struct trace_analysis *a, struct slice_index *slices)
{
	uint32_t idx = slices->free;

	if (idx) {
		slices->free = slices->holders[idx].older;
		return idx;
	}
	if (slices->nr == slices->capacity) {
		struct holder *bigger = reallocarray(slices->holders, slices->capacity * 2ull, sizeof(*bigger));

		if (!bigger) {
			a->failed = -ENOMEM;
			return LIST_END;
		}
		slices->holders = bigger;
		slices->capacity *= 2;
	}
	return slices->nr++;
}

static uint32_t holder_get(struct trace_analysis *a, struct slice_index *slices, uint32_t process)
{
	struct holder_row *row = acct_row(a, &slices->by_process, sizeof(*row), process + 1ull);

	if (!row->holder) {
		uint32_t idx = holder_new(a, slices);

		if (!idx)
			return LIST_END;
		slices->holders[idx] = (struct holder){.process = process};
		row->holder = idx;
		list_prepend(slices->holders, idx);
	}
	return (uint32_t)row->holder;
}

static void drop_slices(struct slice_index *slices, uint64_t before)
{
	slices->from = before > slices->from ? before : slices->from;
	for (uint32_t idx; (idx = slices->holders[LIST_END].newer) && slices->holders[idx].last < before;) {
		table_remove(&slices->by_process, sizeof(struct holder_row), slices->holders[idx].process + 1ull);
		list_remove(slices->holders, idx);
		slices->holders[idx].older = slices->free;
		slices->free = idx;
	}
}

/*
 * The shortcut of slice @slice, which has rank @rank in its holder's list. It goes from the slice
 * before over ranks rank - 1, ... to rank & (rank - 1).
 */
static uint32_t jump_of(const struct cpu *cpu, uint64_t slice, uint32_t before, uint32_t rank)
{
	uint64_t back = before;

	for (; back && !(rank & 1); rank >>= 1) {
		uint32_t jump = link_of(cpu, slice - back)->jump;

		back = jump && slice - back - jump >= cpu->slices->from ? back + jump : 0;
	}
	return (uint32_t)back;
}

/*
 * The first slice of a holder that is not before slice @slice. @at is a slice of that holder, and
 * not before @slice either.
 */
static uint64_t first_since(const struct cpu *cpu, uint64_t at, uint64_t slice)
{
	for (;;) {
		const struct slice_link *link = link_of(cpu, at);

		if (link->jump && at - link->jump >= slice)
			at -= link->jump;
		else if (link->before && at - link->before >= slice)
			at -= link->before;
		else
			return at;
	}
}

/*
 * The time that @holder had between the begins of the slices @from and @to. Its last slice must not
 * be before @from.
 */
static uint64_t had_between(const struct cpu *cpu, const struct holder *holder, uint64_t from, uint64_t to)
{
	uint64_t until = holder->had_ns, at = holder->last;

	if (at >= to) {
		at = first_since(cpu, at, to);
		until = link_of(cpu, at)->had_ns;
	}
	return until - link_of(cpu, first_since(cpu, at, from))->had_ns;
}

/* Link slice @slice, which begins now at the end of the log. */
static void link_slice(struct trace_analysis *a, struct cpu *cpu, uint64_t slice)
{
	struct slice_index *slices = cpu->slices;
	struct cpu_log_entry *entry = cpu_slice(cpu, slice);
	const struct cpu_log_entry *last = cpu_slice(cpu, slice - 1);
	struct holder *holder;
	uint64_t before;

	if (slice > slices->from)
		slices->holders[last->holder].had_ns += slice_ns(last, entry->ns, entry->irq_ns);
	entry->holder = holder_get(a, slices, entry->process);
	if (!entry->holder)
		return;
	holder = &slices->holders[entry->holder];
	before = holder->slices && holder->last >= slices->from ? slice - holder->last : 0;
	*link_of(cpu, slice) = (struct slice_link){.had_ns = holder->had_ns,
						   .before = (uint32_t)before,
						   .jump = jump_of(cpu, slice, (uint32_t)before, ++holder->slices)};
	holder->last = slice;
	list_remove(slices->holders, entry->holder);
	list_prepend(slices->holders, entry->holder);
}

/* ---- run-queue episodes ---- */

static void episode_unlist(struct slice_index *slices, struct trace_thread *thread)
{
	slices->episodes[thread->episode.at] = slices->episodes[--slices->nr_episodes];
	slices->episodes[thread->episode.at]->episode.at = thread->episode.at;
	thread->in_episode = false;
}

/* Returns false when out of memory. */
static bool put(struct hash_table *rows, uint64_t key, uint64_t ns)
{
	struct cpu_holder_row *row = ns ? table_add(rows, sizeof(*row), key) : NULL;

	if (row)
		row->ns += ns;
	return row || !ns;
}

static bool put_process(struct hash_table *rows, uint32_t process, uint64_t ns)
{
	return put(rows, slice_log_key(process, ANY_THREAD), ns);
}

/* Charge a single wait slice by slice, if it has few slices. */
static bool put_slices(const struct cpu *cpu, const struct trace_thread *thread, struct hash_table *rows,
		       uint64_t *left_ns)
{
	const struct rq_episode *episode = &thread->episode;

	for (uint64_t slice = episode->own; *left_ns && slice-- > episode->first;) {
		const struct cpu_log_entry *entry = cpu_slice(cpu, slice), *end = cpu_slice(cpu, slice + 1);
		uint64_t ns = slice_ns(entry, end->ns, end->irq_ns);

		ns = ns < *left_ns ? ns : *left_ns;
		if (!put(rows, slice_log_key_of(thread, entry->process, entry->thread), ns))
			return false;
		*left_ns -= ns;
	}
	return true;
}

/*
 * Put @ns, the time of the other threads of @thread's process in its episode: by thread for the
 * latest @looks slices of the process, the rest in the row of the process.
 */
static bool put_siblings(const struct cpu *cpu, const struct trace_thread *thread, const struct holder *holder,
			 uint64_t looks, struct hash_table *rows, uint64_t ns)
{
	const struct rq_episode *episode = &thread->episode;
	uint64_t at = holder->last, until = holder->had_ns;

	if (at >= episode->own) {
		at = first_since(cpu, at, episode->own);
		until = link_of(cpu, at)->had_ns;
		at -= link_of(cpu, at)->before;
	}
	while (ns && looks && at >= episode->first && at < episode->own) {
		const struct cpu_log_entry *entry = cpu_slice(cpu, at);
		const struct slice_link *link = link_of(cpu, at);
		uint64_t part = without(until, link->had_ns);

		part = part < ns ? part : ns;
		if (entry->thread != thread->idx) {
			looks--;
			if (!put(rows, slice_log_key_of(thread, entry->process, entry->thread), part))
				return false;
			ns -= part;
		}
		until = link->had_ns;
		if (!link->before)
			break;
		at -= link->before;
	}
	return put_process(rows, thread->process_idx, ns);
}

/* @long_names: number of processes to name for waits that are too long to name all */
static bool put_holders(const struct cpu *cpu, const struct trace_thread *thread, uint32_t long_names,
			struct hash_table *rows, uint64_t *left_ns)
{
	const struct rq_episode *episode = &thread->episode;
	const struct holder *holders = cpu->slices->holders;
	uint64_t names = episode->names + (episode->is_long ? long_names : 0), looks;

	looks = names;
	names = names < cpu->slices->nr ? names : cpu->slices->nr;
	table_reserve(rows, sizeof(struct cpu_holder_row), (uint32_t)names);
	for (uint32_t idx = holders[LIST_END].older; idx && holders[idx].last >= episode->first && *left_ns && names;
	     idx = holders[idx].older) {
		uint64_t ns = had_between(cpu, &holders[idx], episode->first, episode->own);
		bool is_own = holders[idx].process == thread->process_idx;

		if (is_own)
			ns = without(ns, episode->own_ns);
		ns = ns < *left_ns ? ns : *left_ns;
		if (!ns)
			continue;
		if (!(is_own ? put_siblings(cpu, thread, &holders[idx], looks, rows, ns)
			     : put_process(rows, holders[idx].process, ns)))
			return false;
		names--;
		*left_ns -= ns;
	}
	return true;
}

static bool put_episode(const struct trace_analysis *a, const struct trace_thread *thread, uint32_t long_names,
			struct hash_table *rows)
{
	const struct rq_episode *episode = &thread->episode;
	const struct cpu *cpu = &a->cpus[episode->cpu];
	uint64_t left_ns = episode->left_ns;
	bool ok;

	if (episode->nr_waits == 1 && episode->own - episode->first <= MAX_NAMED_HOLDERS)
		ok = put_slices(cpu, thread, rows, &left_ns);
	else
		ok = put_holders(cpu, thread, long_names, rows, &left_ns);
	return ok && put_process(rows, PROCESS_INTERRUPTS, episode->irq_ns) &&
	       put_process(rows, PROCESS_SEVERAL, left_ns);
}

bool slice_log_add(const struct trace_analysis *a, const struct trace_thread *thread, struct hash_table *rows)
{
	return !thread->in_episode || put_episode(a, thread, MAX_NAMED_HOLDERS, rows);
}

static void episode_close(struct trace_analysis *a, struct trace_thread *thread, uint32_t long_names)
{
	if (!put_episode(a, thread, long_names, &thread->acct.cpu_holders))
		a->failed = -ENOMEM;
	episode_unlist(a->cpus[thread->episode.cpu].slices, thread);
}

void slice_log_flush(struct trace_analysis *a, struct trace_thread *thread)
{
	if (thread->in_episode && !a->closing)
		episode_close(a, thread, MAX_NAMED_HOLDERS);
}

/* Start to link time slices, first those that are already in the log. */
static void slices_begin(struct trace_analysis *a, struct cpu *cpu)
{
	uint64_t half = cpu->log_mask / 2 + 1ull;
	struct slice_index *slices = calloc(1, sizeof(*slices));

	if (!slices)
		return; /* without links each wait is charged by itself */
	slices->from = oldest_slice(cpu, half + cpu->log_pos % half);
	slices->nr = 1;
	slices->capacity = 64;
	slices->links = calloc(cpu->log_mask + 1ull, sizeof(*slices->links));
	slices->holders = calloc(slices->capacity, sizeof(*slices->holders));
	cpu->slices = slices;
	if (!slices->links || !slices->holders)
		slice_log_free(cpu);
	for (uint64_t slice = slices->from; cpu->slices && slice < cpu->log_pos; slice++)
		link_slice(a, cpu, slice);
}

void slice_log_free(struct cpu *cpu)
{
	if (!cpu->slices)
		return;
	free(cpu->slices->links);
	free(cpu->slices->holders);
	free(cpu->slices->episodes);
	table_clear(&cpu->slices->by_process);
	free(cpu->slices);
	cpu->slices = NULL;
}

/*
 * Charge the rest of the slice in which the first wait of an episode began. Returns the remaining
 * time of the wait. The slice before the first one with a link is no longer in a log that doubled
 * since: "several" have had that rest.
 */
static uint64_t charge_first(struct trace_analysis *a, const struct cpu *cpu, struct trace_thread *thread,
			     uint64_t from, uint64_t left_ns)
{
	const struct cpu_log_entry *end = cpu_slice(cpu, thread->queued_slice);
	uint64_t ns;

	if (thread->queued_slice <= cpu->slices->from)
		return left_ns;
	ns = without(without(end->ns, from), without(end->irq_ns, thread->queued_irq));
	ns = ns < left_ns ? ns : left_ns;
	charge_slice(a, thread, cpu_slice(cpu, thread->queued_slice - 1), ns);
	return left_ns - ns;
}

static bool episode_begin(struct slice_index *slices, const struct cpu *cpu, struct trace_thread *thread)
{
	if (slices->nr_episodes == slices->max_episodes) {
		uint32_t max = slices->max_episodes ? slices->max_episodes * 2 : 64;
		struct trace_thread **bigger = reallocarray(slices->episodes, max, sizeof(*bigger));

		if (!bigger)
			return false;
		slices->episodes = bigger;
		slices->max_episodes = max;
	}
	thread->episode = (struct rq_episode){.first = thread->queued_slice > slices->from ? thread->queued_slice
											   : slices->from,
					      .cpu = cpu->cpu,
					      .at = slices->nr_episodes};
	slices->episodes[slices->nr_episodes++] = thread;
	thread->in_episode = true;
	return true;
}

/*
 * Charge the slice of another thread in which a wait ended. Returns the remaining time of the wait.
 */
static uint64_t charge_last(struct trace_analysis *a, const struct cpu *cpu, struct trace_thread *thread, uint64_t to,
			    uint64_t left_ns)
{
	const struct cpu_log_entry *entry = cpu_slice(cpu, cpu->log_pos - 1);
	uint64_t ns = slice_ns(entry, to, cpu_irq_time(cpu, to));

	ns = ns < left_ns ? ns : left_ns;
	charge_slice(a, thread, entry, ns);
	return left_ns - ns;
}

/*
 * Add to the episode a wait that ended with @thread's own slice, which begins now, or (@is_last) in
 * the slice of another thread. Returns false if the caller must charge the wait by itself.
 */
static bool episode_wait(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t from,
			 uint64_t to, bool is_last)
{
	uint64_t nr_slices = cpu->log_pos - thread->queued_slice, irq, ns = to - from;
	struct rq_episode *episode = &thread->episode;

	if ((!thread->in_episode && nr_slices <= NEAR) ||
	    (is_last && (!nr_slices || cpu_slice(cpu, cpu->log_pos - 1)->ns > to)))
		return false;
	if (!cpu->slices)
		slices_begin(a, cpu);
	if (!cpu->slices ||
	    (thread->queued_slice < cpu->slices->from && cpu->log_pos - cpu->slices->from < MAX_NAMED_HOLDERS))
		return false;
	irq = without(cpu_irq_time(cpu, to), thread->queued_irq);
	irq = irq < ns ? irq : ns;
	ns -= irq;
	if (!thread->in_episode) {
		if (!episode_begin(cpu->slices, cpu, thread))
			return false;
		ns = charge_first(a, cpu, thread, from, ns);
	}
	episode->own = cpu->log_pos;
	if (is_last) {
		ns = charge_last(a, cpu, thread, to, ns);
		episode->own--;
	}
	episode->left_ns += ns;
	episode->irq_ns += irq;
	episode->own_ns += episode->last_own_ns;
	episode->last_own_ns = 0;
	episode->nr_waits++;
	if (nr_slices < MAX_NAMED_HOLDERS)
		episode->names += nr_slices;
	else
		episode->is_long = true;
	if (is_last)
		slice_log_flush(a, thread);
	return true;
}

void slice_log_leave(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns)
{
	const struct cpu_log_entry *own = cpu_slice(cpu, cpu->log_pos - 1);

	thread->queued_ns = ns;
	thread->queued_irq = cpu->irq_ns;
	thread->queued_slice = cpu->log_pos;
	if (!thread->in_episode)
		return;
	if (thread->episode.own == cpu->log_pos - 1 && thread->episode.cpu == cpu->cpu &&
	    own->process == thread->process_idx)
		thread->episode.last_own_ns = slice_ns(own, ns, cpu->irq_ns);
	else
		slice_log_flush(a, thread);
}

/* ---- the log ---- */

static bool log_double(struct cpu *cpu)
{
	uint64_t nr = cpu->log_mask + 1ull;
	struct cpu_log_entry *log = pages_large(2 * nr * sizeof(*log));
	struct slice_link *links = pages_large(2 * nr * sizeof(*links));

	if (!log || !links) {
		free(log);
		free(links);
		return false;
	}
	for (uint64_t slice = cpu->log_pos > nr ? cpu->log_pos - nr : 0; slice < cpu->log_pos; slice++) {
		log[slice & (2 * nr - 1)] = *cpu_slice(cpu, slice);
		links[slice & (2 * nr - 1)] = *link_of(cpu, slice);
	}
	free(cpu->log);
	free(cpu->slices->links);
	cpu->log = log;
	cpu->slices->links = links;
	cpu->log_mask = (uint32_t)(2 * nr - 1);
	return true;
}

/* Number of holders that closing all episodes would usually look at. */
static uint64_t looks_to_close(const struct slice_index *slices)
{
	return (uint64_t)slices->nr_episodes * (slices->nr < MAX_NAMED_HOLDERS ? slices->nr : MAX_NAMED_HOLDERS);
}

/*
 * Number of processes to name for an episode with long waits, such that a slice of the log costs
 * about one look.
 */
static uint32_t affordable_names(const struct slice_index *slices, uint64_t nr_slices)
{
	uint64_t names;

	if (looks_to_close(slices) <= nr_slices)
		return MAX_NAMED_HOLDERS;
	names = nr_slices / slices->nr_episodes;
	return names < MIN_NAMED_HOLDERS ? MIN_NAMED_HOLDERS : (uint32_t)names;
}

/* Called for each half of a log. */
static void make_room(struct trace_analysis *a, struct cpu *cpu)
{
	struct slice_index *slices = cpu->slices;
	uint64_t nr = cpu->log_mask + 1ull, half = nr / 2, keep = cpu->log_pos > half ? cpu->log_pos - half : 0;
	uint64_t bytes = 2 * nr * (sizeof(struct cpu_log_entry) + sizeof(struct slice_link));
	uint32_t names;

	if (2 * looks_to_close(slices) > half && bytes * a->nr_cpus <= MAX_LOG_BYTES && log_double(cpu))
		return;
	names = affordable_names(slices, half);
	for (uint32_t i = 0; i < slices->nr_episodes;)
		if (slices->episodes[i]->episode.first < keep)
			episode_close(a, slices->episodes[i], names);
		else
			i++;
	drop_slices(slices, keep);
}

int slice_log_prepare(struct cpu *cpu)
{
	cpu->log_mask = CPU_LOG - 1;
	cpu->log = calloc(CPU_LOG, sizeof(*cpu->log));
	return cpu->log ? 0 : -ENOMEM;
}

void slice_log_begin(struct trace_analysis *a, struct cpu *cpu, uint64_t ns)
{
	struct cpu_log_entry *entry = cpu_slice(cpu, cpu->log_pos);

	entry->ns = ns;
	entry->irq_ns = cpu->irq_ns;
	if (!cpu->current) {
		entry->process = PROCESS_UNKNOWN;
	} else if (cpu->current == &cpu->idle) {
		entry->process = PROCESS_IDLE;
	} else {
		entry->process = cpu->current->process_idx;
		entry->thread = cpu->current->idx;
	}
	if (cpu->slices)
		link_slice(a, cpu, cpu->log_pos);
	cpu->log_pos++;
	if (cpu->slices && !(cpu->log_pos & cpu->log_mask >> 1))
		make_room(a, cpu);
}

/*
 * Charge a wait slice by slice, back from its end. Interrupt time inside a slice is charged to the
 * interrupts.
 */
static void split_wait(struct trace_analysis *a, struct trace_thread *thread, uint64_t from, uint64_t to)
{
	struct cpu *cpu = &a->cpus[thread->cpu];
	uint64_t end = to, irq_end = cpu_irq_time(cpu, to), oldest = oldest_slice(cpu, MAX_NAMED_HOLDERS);

	for (uint64_t i = cpu->log_pos; i > oldest && end > from; i--) {
		const struct cpu_log_entry *entry = cpu_slice(cpu, i - 1);
		uint64_t start = entry->ns > from ? entry->ns : from;
		uint64_t irq_start = entry->ns > from ? entry->irq_ns : thread->queued_irq;
		uint64_t irq = without(irq_end, irq_start);

		if (start >= end)
			continue;
		if (irq > end - start)
			irq = end - start;
		charge_slice(a, thread, entry, end - start - irq);
		charge_process(a, thread, PROCESS_INTERRUPTS, irq);
		end = start;
		irq_end = irq_start;
	}
	charge_process(a, thread, PROCESS_SEVERAL, end - from);
}

void slice_log_charge(struct trace_analysis *a, struct trace_thread *thread, uint64_t from, uint64_t to,
		      struct cpu *onto)
{
	bool is_known = thread->sched_state == SCHED_RUNNABLE
				? thread->queued_ns == from
				: thread->sched_state == SCHED_OFF_AT_START && from == a->start_ns;
	struct cpu *cpu = &a->cpus[thread->cpu];

	if (is_known && episode_wait(a, cpu, thread, from, to, cpu != onto))
		return;
	slice_log_flush(a, thread);
	split_wait(a, thread, from, to);
}

/* ---- for other files ---- */

void slice_log_holders(const struct cpu *cpu, uint64_t now, uint64_t from, uint64_t to, holder_fn fn, void *data)
{
	uint64_t next_ns = now, next_irq = cpu_irq_time(cpu, now), oldest = oldest_slice(cpu, CPU_LOG);

	for (uint64_t i = cpu->log_pos; i > oldest && to > from; i--) {
		const struct cpu_log_entry *entry = cpu_slice(cpu, i - 1);
		uint64_t start = entry->ns > from ? entry->ns : from, slice = next_ns - entry->ns,
			 irq = next_irq - entry->irq_ns;

		next_ns = entry->ns;
		next_irq = entry->irq_ns;
		if (start >= to || !slice)
			continue;
		/*
		 * If only a part of the slice is in the range, interrupts are taken in proportion.
		 */
		irq = (uint64_t)((unsigned __int128)(irq < slice ? irq : slice) * (to - start) / slice);
		fn(data, entry->process, entry->thread, to - start - irq);
		fn(data, PROCESS_INTERRUPTS, ANY_THREAD, irq);
		to = start;
	}
	if (to > from)
		fn(data, PROCESS_SEVERAL, ANY_THREAD, to - from);
}

uint64_t slice_log_irq_at(const struct cpu *cpu, uint64_t now, uint64_t ns)
{
	uint64_t next_ns = now, next_irq = cpu_irq_time(cpu, now), oldest = oldest_slice(cpu, CPU_LOG);

	for (uint64_t i = cpu->log_pos; i > oldest; i--) {
		const struct cpu_log_entry *entry = cpu_slice(cpu, i - 1);
		uint64_t slice = next_ns - entry->ns, irq = next_irq - entry->irq_ns;

		if (entry->ns <= ns)
			return entry->irq_ns +
			       (slice ? (uint64_t)((unsigned __int128)irq * (ns - entry->ns) / slice) : 0);
		next_ns = entry->ns;
		next_irq = entry->irq_ns;
	}
	return next_irq;
}
