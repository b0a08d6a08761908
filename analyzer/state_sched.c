/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_sched.c - switches and wakeups. state_life.c has fork, rename and death.
 *
 * Scheduling states and the events between them:
 *
 *   NEW --wakeup_new--> RUNNABLE --switch in--> ON_CPU --switch out--> RUNNABLE
 *                          ^                      |
 *                          +------- waking ------ BLOCKED              or DEAD
 *
 * States that began before the trace are decided backwards:
 * - A thread off the CPUs at the start (OFF_AT_START) was blocked if its first event is a wakeup.
 *   It was queued if its first event is a switch in.
 * - A thread that is on a CPU or waits for one may be in user mode or in a system call
 *   (MODE_UNKNOWN). Its next own event decides. A thread that blocks was in the kernel.
 *
 * A blocked thread is switched in without a wakeup, wakeups are recorded, and nothing was lost:
 * - As a rule the thread never slept. Either the wakeup came while the thread was about to sleep,
 *   so that the waker's event is earlier than the thread's own switch, or a signal was pending. All
 *   of the time is queued.
 * - If its CPU was idle for more than IDLE_NS in between, the thread slept until now, and its waker
 *   was not recorded (a thread without events: state_hidden.c).
 * - If there are hidden threads and its CPU was busy, the thread slept and then queued. The wakeup
 *   happened while a hidden thread had a CPU; that time is unknown.
 * - While a CPU is offline, the time is unknown. A CPU that comes online wakes threads before its
 *   tracepoints work.
 *
 * If wakeups are not recorded, the thread slept and then queued. The time of the change is not
 * known, so all of it is unknown.
 *
 * Any other inconsistency comes from a missing event: state_close.c.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "frame_end.h"
#include "kernel_work.h"
#include "kernel_numbers.h"
#include "pending.h"
#include "slice_log.h"
#include "start_records.h"
#include "state.h"
#include "state_args.h"
#include "state_cause.h"
#include "state_close.h"
#include "state_directory.h"
#include "state_family.h"
#include "state_frame.h"
#include "state_life.h"
#include "state_packet.h"
#include "state_sched.h"
#include "wait_path.h"

/* ---- switch ---- */

static void switch_out(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns,
		       uint32_t state)
{
	thread->since = ns;
	thread->cpu = cpu->cpu;
	thread->task_state = state;
	thread->flags |= THREAD_VISIBLE;
	if (state & TASK_STATES_ENDED) {
		thread->sched_state = SCHED_BLOCKED; /* of zero length */
		thread_end(a, thread, ns);
		return;
	}
	if (thread->flags & THREAD_FILTERED) {
		thread->sched_state = SCHED_UNKNOWN;
		return;
	}
	if (state == TRACE_TASK_RUNNING) {
		thread->sched_state = SCHED_RUNNABLE;
		slice_log_leave(a, cpu, thread, ns);
		return;
	}
	slice_log_flush(a, thread);
	if (state & (TRACE_TASK_STOPPED | TRACE_TASK_TRACED))
		stop_begins(a, thread, ns);
	/* the wait may end in the kernel or on the way back to user mode */
	if (!(state & TASK_STATE_QUOTA))
		acct_mode(a, thread, true);
	thread->sched_state = SCHED_BLOCKED;
}

#define IDLE_NS 1000000u /* a CPU is not idle for so long while a runnable thread waits for it */

static bool was_idle(const struct cpu *cpu, uint64_t from, uint64_t to)
{
	uint64_t end = to, idle = 0, oldest = cpu->log_pos > CPU_LOG ? cpu->log_pos - CPU_LOG : 0;

	for (uint64_t i = cpu->log_pos; i > oldest && end > from; i--) {
		const struct cpu_log_entry *entry = cpu_slice(cpu, i - 1);

		if (entry->process == PROCESS_IDLE && end > entry->ns)
			idle += end - (entry->ns > from ? entry->ns : from);
		end = entry->ns < end ? entry->ns : end;
	}
	return idle > IDLE_NS;
}

/*
 * The start state saw the thread asleep and no wakeup was recorded since. There was one all the
 * same.
 */
static bool slept_since_start(const struct trace_thread *thread, uint64_t ns)
{
	return thread->read_ns && thread->read_ns < ns &&
	       (thread->task_state & (TRACE_TASK_INTERRUPTIBLE | TRACE_TASK_UNINTERRUPTIBLE));
}

static void wakeup_while_hidden(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns,
				const struct hidden_slice *slice)
{
	pending_wait(a, thread, slice->from, NULL);
	acct_unknown(a, thread, slice->to);
	thread->cpu = cpu->cpu;
	thread->queued_irq = slice_log_irq_at(cpu, ns, slice->to);
	acct_queued(a, thread, ns, NULL);
}

/*
 * If entries of system calls are not recorded, or not those of @thread: a thread that runs again
 * may have returned from its call. It may be in another call when it waits next.
 */
static void drop_call(struct trace_analysis *a, struct trace_thread *thread, uint64_t ns)
{
	const struct frame *top = thread->depth ? &thread->frames[thread->depth - 1] : NULL;

	if ((!a->masks.no_entries && !thread->is_recorder) ||
	    (top && (top->kind != FRAME_SYSCALL || top->call == CALL_UNKNOWN)))
		return;
	if (thread->read_ns)
		start_call_ended(thread, ns);
	/* keep frame.begin: the time since then is not accounted yet */
	if (thread->flags & THREAD_MODE_UNKNOWN) {
		frame_drop_call(&thread->frames[0]);
		return;
	}
	frames_pop(a, thread, ns, 0, 0);
	thread_mode_unknown(thread, ns);
}

static void switch_in(struct trace_analysis *a, struct cpu *cpu, struct trace_thread *thread, uint64_t ns)
{
	bool mode_unknown = thread->flags & THREAD_MODE_UNKNOWN;
	struct hidden_slice slice;

	switch (thread->sched_state) {
	case SCHED_OFF_AT_START:
		if (!thread->read_ns)
			thread->cpu = cpu->cpu; /* no event or start state saw it on another CPU */
		if (slept_since_start(thread, ns)) {
			acct_mode(a, thread, true);
			pending_wait(a, thread, ns, NULL);
			break;
		}
		if (a->masks.no_wakings && !((thread->flags & THREAD_RAN_AT_START) ||
					     (thread->read_ns && thread->task_state == TRACE_TASK_RUNNING))) {
			acct_unknown(a, thread, ns);
			break;
		}
		/* fallthrough */
	case SCHED_RUNNABLE:
	case SCHED_NEW:
		acct_queued(a, thread, ns, cpu);
		break;
	case SCHED_BLOCKED:
		if (thread->task_state & TASK_STATE_QUOTA)
			pending_wait(a, thread, ns, NULL);
		else if (!thread->has_early && a->masks.no_wakings)
			acct_unknown(a, thread, ns);
		else if (!thread->has_early && was_idle(cpu, thread->since, ns))
			pending_wait(a, thread, ns, NULL);
		else if (!thread->has_early && a->nr_offline)
			acct_unknown(a, thread, ns);
		else if (!thread->has_early && a->hidden.any && hidden_slices(a, thread->since, ns, &slice))
			wakeup_while_hidden(a, cpu, thread, ns, &slice);
		else if (gap_log_first_loss(&a->gaps, thread->since, ns) == UINT64_MAX || thread->has_early)
			acct_queued(a, thread, ns, NULL);
		else
			thread_found_on_cpu(a, thread, ns);
		break;
	case SCHED_UNKNOWN:
		acct_unknown(a, thread, ns);
		if (!mode_unknown)
			thread_mode_unknown(thread, ns);
		break;
	default:
		thread_found_on_cpu(a, thread, ns);
	}
	if (!(thread->flags & THREAD_KERNEL))
		drop_call(a, thread, ns);
	cpu_take(a, cpu, thread);
	thread->has_early = false;
	if (!thread->slab)
		acct_slab_get(a, thread);
}

/* A thread that the filter leaves out has no events, nor has the switch to its successor. */
static struct trace_thread *filtered_next(struct cpu *cpu, struct trace_thread *next)
{
	bool passes = is_thread(cpu, next) && !(next->flags & THREAD_FILTERED);

	cpu->hidden = passes ? HIDES_NOTHING : HIDES_FILTERED;
	return passes ? next : NULL;
}

void on_sched_switch(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_switch *sw = event->payload;
	struct trace_thread *prev, *next;

	if (ns < cpu->gap_until)
		return;
	if (!cpu->switched) {
		cpu->switched = true;
		cpu->first_switch_ns = ns;
	}
	cpu->nr_switches = ns == cpu->last_switch_ns ? cpu->nr_switches + 1 : 1;
	cpu->last_switch_ns = ns;
	if (is_thread(cpu, cpu->current) && cpu->current->tid != sw->prev_tid)
		thread_note_exchange(a, cpu->current, sw->prev_tid);
	if (is_thread(cpu, cpu->current) && cpu->current->tid == sw->prev_tid)
		/* the number of an exiting thread may belong to another already */
		prev = cpu->current;
	else
		prev = sw->prev_tid ? thread_living(a, sw->prev_tid) : &cpu->idle;
	if (cpu->nested)
		irq_flush(cpu);
	if (cpu->current == prev) {
		acct_cpu(a, cpu, ns);
	} else {
		cpu_evict(a, cpu, ns);
		if (is_thread(cpu, prev))
			thread_found_on_cpu(a, prev, ns);
	}
	cpu->touched = true;
	cpu->cause = CAUSE_NONE;
	cpu->signalled = 0;
	cpu->woken = NULL;
	cpu->previous = (struct slice){sw->prev_tid, ns - cpu->slice_since, cpu->slice_stolen};
	cpu->slice_since = ns;
	cpu->slice_stolen = 0;
	cpu->slice_woken = 0;
	cpu->current = NULL;
	if (is_thread(cpu, prev)) {
		prev->flags &= ~THREAD_FROM_START;
		switch_out(a, cpu, prev, ns,
			   sw->prev_tid == cpu->quota_tid && sw->prev_state == TRACE_TASK_RUNNING ? cpu->quota_state
												  : sw->prev_state);
	}
	cpu->quota_tid = 0;
	next = sw->next_tid ? thread_living(a, sw->next_tid) : &cpu->idle;
	if (a->filter.is_on)
		next = filtered_next(cpu, next);
	if (is_thread(cpu, next)) {
		next->flags &= ~THREAD_FROM_START;
		if (!sw->prev_tid && next->sched_state == SCHED_RUNNABLE && ns > next->since)
			cpu->slice_woken = ns - next->since;
		if (__builtin_expect(a->doubt.is_open, 0))
			doubt_thread(a, next);
		switch_in(a, cpu, next, ns);
		hidden_enter(a, cpu, next, ns);
	} else {
		cpu->current = next;
	}
	slice_log_begin(a, cpu, ns);
}

/* ---- wakeups ---- */

static bool waits_for_many(const struct trace_analysis *a, struct trace_thread *thread)
{
	const struct frame *frame = frame_syscall(thread);
	enum call_class class = frame ? frame_class(a, frame) : CALL_OTHER;

	return class == CALL_POLL || class == CALL_SELECT || class == CALL_EPOLL_WAIT;
}

/*
 * A thread that exits closes its files. The poller was woken because of the other end of one of
 * them. A process that has both ends of a pipe open never sees it closed.
 */
static void note_exit(struct trace_analysis *a, const struct trace_thread *dead, const struct trace_thread *poller,
		      struct waker *waker)
{
	if (!poller->fds)
		return;
	if (dead->fds && dead->fds->refs == 1)
		waker->file = wakers_closed(a, dead, poller);
	for (uint32_t i = 0; i < poller->fds->nr && !waker->file; i++)
		if (file_via(a, fd_file(poller, i)) == VIA_PIDFD)
			waker->via = VIA_PIDFD;
}

/* The parent of a thread that exits may read its pipe: the end of the pipe wakes it, or SIGCHLD. */
static void note_closed(struct trace_analysis *a, const struct trace_thread *dead, struct trace_thread *reader,
			struct waker *waker)
{
	const struct frame *frame = frame_syscall(reader);

	if (frame && frame->file && frame_class(a, frame) == CALL_READ && dead->fds)
		waker->closes = wakers_has_other_end(a, dead, frame->file);
}

static void note_waker(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_sched_waking *waking,
		       struct trace_thread *woken, struct waker *waker)
{
	struct frame *frame;

	memset(waker, 0, sizeof(*waker));
	waker->ns = ns ? ns : 1;
	waker->context = (uint8_t)waking->context;
	waker->call = CALL_UNKNOWN;
	waker->cause = cpu->cause;
	waker->detail = cpu->cause_detail;
	if (cpu->signalled) {
		const struct trace_thread *target = thread_find(&a->threads, cpu->signalled);

		waker->by_signal = target && target->process == woken->process ? cpu->signal : 0;
	}
	if (waking->context != TRACE_CONTEXT_TASK) {
		irq_waker(a, cpu, waking->context, waker);
		packet_waker(a, cpu, waker);
		return;
	}
	if (!is_thread(cpu, cpu->current))
		return;
	waker->thread = cpu->current;
	waker->has_accepted = cpu->current->requests.has_accepted;
	if ((cpu->current->flags & THREAD_KERNEL) && cpu->current->work_for && cpu->current->work_for != woken &&
	    cpu->current->work_for->sched_state != SCHED_DEAD) {
		waker->worker = cpu->current;
		waker->thread = cpu->current->work_for;
		return; /* the current call of @thread is unrelated */
	}
	if ((cpu->current->flags & THREAD_EXITING) && waits_for_many(a, woken))
		note_exit(a, cpu->current, woken, waker);
	else if (cpu->current->flags & THREAD_EXITING)
		note_closed(a, cpu->current, woken, waker);
	if (waker->file)
		return;
	frame = frame_outermost(cpu->current);
	if (frame) {
		waker->call = frame->call;
		waker->file = frame->file;
		waker->second_file = call_second_file(a, cpu->current, frame);
		if (frame->has_path && waker->cause == CAUSE_NONE)
			waker->detail = path_whole(a, cpu->current, frame);
	}
}

/* No other event names a process that is newer than the start state. */
static void waker_begins(struct trace_analysis *a, struct trace_thread *leader, const struct trace_sched_waker *waker,
			 const char *comm)
{
	const struct trace_process *parent = process_find(&a->threads, waker->ppid);

	process_set_comm(a, leader, comm);
	leader->process->ppid = waker->ppid;
	family_join(a, leader->process);
	if (waker->copy && parent) {
		leader->process->exe = parent->exe;
		args_inherit(leader->process, parent);
	}
}

void on_sched_waker(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_waker *waker = event->payload;
	const struct trace_process *process = process_find(&a->threads, waker->tgid);
	struct trace_thread *leader;

	cpu->filtered_waker = 0;
	if (!a->filter.is_on)
		return;
	leader = process && process->nr_living ? thread_find(&a->threads, waker->tgid) : thread_living(a, waker->tgid);
	process = leader ? leader->process : process;
	if (!process || process->idx < NR_PSEUDO_PROCESSES)
		return;
	if (leader && !process->comm[0])
		waker_begins(a, leader, waker, trace_event_string(event));
	cpu->filtered_waker = process->idx;
}

void on_sched_waking(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_waking *waking = event->payload;
	struct trace_thread *thread = thread_get(a, waking->tid);
	uint32_t filtered = cpu->filtered_waker;
	struct waker waker;

	cpu->filtered_waker = 0;
	if (!thread || thread->sched_state == SCHED_DEAD || thread->sched_state == SCHED_RUNNABLE ||
	    thread->sched_state == SCHED_UNKNOWN)
		return;
	acct_cpu(a, cpu, ns);
	note_waker(a, cpu, ns, waking, thread, &waker);
	waker.filtered = filtered < 1u << FILTERED_BITS ? filtered : 0;
	if (waker.thread) {
		lock_released(a, thread, &waker);
		kernel_released(a, thread, &waker);
	}
	cpu->woke_several = cpu->woken != NULL;
	cpu->woken = thread;
	if (thread->sched_state == SCHED_ON_CPU) {
		thread->early = waker;
		thread->has_early = true;
		return;
	}
	if (thread->sched_state == SCHED_OFF_AT_START)
		acct_mode(a, thread, true);
	thread->flags &= ~THREAD_FROM_START;
	pending_wait(a, thread, ns, &waker);
	thread->sched_state = SCHED_RUNNABLE;
	if (waking->target_cpu < a->nr_cpus)
		thread->cpu = waking->target_cpu;
	slice_log_queue(&a->cpus[thread->cpu], thread, ns, cpu_irq_time(&a->cpus[thread->cpu], ns));
}

void on_sched_wakeup_new(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_wakeup_new *wakeup = event->payload;
	struct trace_thread *thread = thread_get(a, wakeup->tid);

	if (!thread || thread->sched_state != SCHED_NEW)
		return;
	pending_wait(a, thread, ns, NULL);
	thread->sched_state = SCHED_RUNNABLE;
	if (wakeup->target_cpu < a->nr_cpus)
		thread->cpu = wakeup->target_cpu;
	slice_log_queue(&a->cpus[thread->cpu], thread, ns, cpu_irq_time(&a->cpus[thread->cpu], ns));
}

/*
 * cpu_stolen comes right before the switch that ends the time slice.
 *
 * If a thread preempts another one at its wakeup, the kernel counts its slice from the wakeup on,
 * since it read the clock then. Stolen time beyond the slice was taken from the thread before. A
 * thread that was woken on an idle CPU also counts from its wakeup (slice_woken). The host's part
 * of that time is not known separately, so slice_woken is subtracted from the stolen time.
 * Time that no thread had is charged to no thread.
 */
void on_cpu_stolen(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_cpu_stolen *stolen = event->payload;
	struct trace_thread *before = cpu->previous.tid ? thread_find(&a->threads, cpu->previous.tid) : NULL;
	uint64_t slice_ns = ns - cpu->slice_since,
		 since_switch = stolen->ns > cpu->slice_woken ? stolen->ns - cpu->slice_woken : 0;
	uint64_t own = since_switch < slice_ns ? since_switch : slice_ns, rest = since_switch - own;

	if (ns < cpu->gap_until || !is_thread(cpu, cpu->current))
		return;
	cpu->current->acct.stolen += own;
	if (before)
		before->acct.stolen += rest < cpu->previous.ns - cpu->previous.stolen
					       ? rest
					       : cpu->previous.ns - cpu->previous.stolen;
	cpu->slice_stolen = own;
}

/*
 * sched_quota comes right before the switch by which the thread leaves its CPU or gets one again.
 * The thread was runnable, but its control groups had used up their quota. No event says when the
 * kernel gave them more. The event before the thread runs says how long that took; from then on the
 * thread waited for a CPU.
 */
void on_sched_quota(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_quota *quota = event->payload;
	struct trace_thread *thread = thread_find(&a->threads, quota->tid);
	uint64_t until;

	if (!thread || ns < cpu->gap_until)
		return;
	if (!quota->over) {
		cpu->quota_tid = quota->tid;
		cpu->quota_state = TASK_STATE_QUOTA;
		if (!thread->is_apart) /* that of another group */
			thread->process->cpu_limit_ns = quota->ns;
		return;
	}
	if (thread->sched_state != SCHED_BLOCKED || !(thread->task_state & TASK_STATE_QUOTA) || ns <= thread->since)
		return;
	until = quota->ns < ns - thread->since ? thread->since + quota->ns : ns;
	pending_wait(a, thread, until, NULL);
	thread->cpu = cpu->cpu;
	thread->queued_irq = slice_log_irq_at(cpu, ns, until);
	acct_queued(a, thread, ns, NULL);
	thread->sched_state = SCHED_RUNNABLE; /* until the switch, about 10 ns later */
	slice_log_queue(cpu, thread, ns, cpu_irq_time(cpu, ns));
}

/*
 * sched_limit comes right before the switch, too. The thread has the CPU again as soon as the
 * kernel allows it, since its class goes before others.
 */
void on_sched_limit(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_limit *limit = event->payload;

	a->has_limits = true;
	if (ns < cpu->gap_until)
		return;
	cpu->quota_tid = limit->tid;
	cpu->quota_state = TASK_STATE_QUOTA |
			   (limit->prio < 0 ? TASK_STATE_LIMIT_DEADLINE : TASK_STATE_LIMIT_REAL_TIME);
}

/*
 * A CPU that goes offline passes no tracepoint any more. The last switch, away from the thread that
 * stopped the CPU, is therefore not recorded. That thread's time since its last event is unknown.
 * Then it is blocked until the next CPU is to be stopped, and the CPU is idle until it comes back.
 */
void on_cpu_hotplug(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_cpu_hotplug *hotplug = event->payload;
	struct cpu *of = hotplug->cpu < a->nr_cpus ? &a->cpus[hotplug->cpu] : NULL,
		   *cpu_off = hotplug->online ? NULL : of;
	struct trace_thread *last;

	if (of && of->is_offline == hotplug->online) {
		of->is_offline = !hotplug->online;
		a->nr_offline += of->is_offline ? 1 : -1;
	}
	if (!cpu_off || ns < cpu_off->gap_until || cpu_off->current == &cpu_off->idle)
		return;
	last = cpu_off->current;
	cpu_evict(a, cpu_off, ns);
	if (is_thread(cpu_off, last))
		switch_out(a, cpu_off, last, ns, TRACE_TASK_INTERRUPTIBLE);
	cpu_off->current = &cpu_off->idle;
	cpu_off->slice_since = ns;
	cpu_off->slice_stolen = 0;
	slice_log_begin(a, cpu_off, ns);
}

void on_sched_migrate(struct trace_analysis *a, struct cpu *cpu, uint64_t ns, const struct trace_event *event)
{
	const struct trace_sched_migrate *migrate = event->payload;
	struct trace_thread *thread = thread_find(&a->threads, migrate->tid);

	if (!thread || migrate->to_cpu >= a->nr_cpus || thread->sched_state == SCHED_ON_CPU ||
	    thread->sched_state == SCHED_DEAD)
		return;
	if (thread->sched_state == SCHED_RUNNABLE) {
		acct_queued(a, thread, ns, NULL);
		/* even after a wait of 0 ns: earlier charges are to the other CPU */
		slice_log_flush(a, thread);
		slice_log_queue(&a->cpus[migrate->to_cpu], thread, ns, cpu_irq_time(&a->cpus[migrate->to_cpu], ns));
	}
	thread->cpu = migrate->to_cpu;
}
