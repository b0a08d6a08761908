/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* sched.bpf.c - switches and wakeups of threads, their creation and exit. */

PATH_SCRATCH(exec_scratch);
PATH_SCRATCH(program_scratch);

extern struct task_struct *bpf_task_from_pid(s32 pid) __ksym __weak;
extern void bpf_task_release(struct task_struct *task) __ksym __weak;

/* The result has no meaning; global functions must have one. */
__noinline int record_stolen(u64 ns)
{
	if (!event_wanted(TRACE_EV_cpu_stolen))
		return 0;
	RECORD(cpu_stolen) {
		record->ns = ns;
		COMMIT(cpu_stolen);
	}
	return 0;
}

/* The kernel has just updated the steal time, with the clock that the
 * scheduler read for this switch. */
static __always_inline void record_steal_time(struct subbuf_control *control, struct task_struct *prev,
					      struct task_struct *next)
{
	u64 stolen, before = control->stolen_before;

	if (!bpf_core_field_exists(struct rq, prev_steal_time_rq))
		return;
	stolen = prev->se.cfs_rq->rq->prev_steal_time_rq + 1;
	if (stolen == before)
		return;
	control->stolen_before = stolen;
	if (before && prev->pid && (!config.filtering || task_matches(prev) || task_matches(next)))
		record_stolen(stolen - before);
}

/* Threads that were taken off their CPU because a quota is used up: their queue, and for how long
 * it had been throttled in total by then; NULL: by the limit of their class. Most often there are
 * none. */
struct quota_wait {
	struct cfs_rq *queue;
	u64 before;
};
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 4096);
	__type(key, u32);
	__type(value, struct quota_wait);
} quota_waits SEC(".maps");
volatile trace_u64 nr_quota_waits; /* in the map, or evicted */

/* The result has no meaning; global functions must have one. */
__noinline int record_quota(u32 tid, u32 over, u64 ns)
{
	if (!event_wanted(TRACE_EV_sched_quota))
		return 0;
	RECORD(sched_quota) {
		record->ns = ns;
		record->tid = tid;
		record->over = over;
		COMMIT(sched_quota);
	}
	return 0;
}

#define MAX_RT_PRIO 100 /* threads of the real-time and the deadline class are below */

/* Before 6.18 a group's queue is throttled as a whole, with the thread that runs from it. */
static __always_inline bool quota_is_used_up(struct task_struct *prev, unsigned int prev_state)
{
	if (bpf_core_field_exists(prev->throttled))
		return prev->throttled;
	if (!bpf_core_field_exists(struct cfs_rq, throttle_count))
		return false;
	return !prev_state && prev->prio >= MAX_RT_PRIO && prev->se.cfs_rq->throttle_count > 0;
}

#define MAX_GROUPS 16 /* from a group to the root */

struct quota_scan {
	struct task_group *group;
	u64 limit;
};

static long quota_step(u32 index, struct quota_scan *scan)
{
	struct task_group *group = scan->group;
	u64 quota, period;

	if (!group)
		return 1;
	quota = FIELD(group, cfs_bandwidth.quota);
	period = FIELD(group, cfs_bandwidth.period);
	quota = period && quota != ~0ull ? quota * 1000 / period * 1000000 : 0; /* ~0: RUNTIME_INF */
	if (quota && (!scan->limit || quota < scan->limit))
		scan->limit = quota;
	scan->group = FIELD(group, parent);
	return 0;
}

/* The CPU time, in ns per second, that the quotas of the thread's groups allow; 0: not known. */
static __noinline u64 quota_limit(struct task_struct *task)
{
	struct quota_scan scan = {.limit = 0};

	if (!bpf_core_field_exists(struct task_group, cfs_bandwidth) || !bpf_core_field_exists(struct cfs_rq, tg))
		return 0;
	scan.group = BPF_CORE_READ(task, se.cfs_rq, tg);
	bpf_loop(MAX_GROUPS, quota_step, &scan, 0);
	return scan.limit;
}

static __noinline void quota_wait_begins(struct task_struct *prev)
{
	struct quota_wait wait = {.queue = prev->se.cfs_rq};
	u32 tid = prev->pid;
	u64 since;

	if (bpf_core_field_exists(struct cfs_rq, throttled_clock_self_time)) {
		since = prev->se.cfs_rq->throttled_clock_self;
		wait.before = prev->se.cfs_rq->throttled_clock_self_time +
			      (since ? prev->se.cfs_rq->rq->clock - since : 0);
	}
	if (!bpf_map_update_elem(&quota_waits, &tid, &wait, BPF_ANY))
		__sync_fetch_and_add(&nr_quota_waits, 1);
	record_quota(tid, 0, quota_limit(prev));
}

static __noinline void limit_wait_begins(struct task_struct *prev)
{
	struct quota_wait wait = {.queue = NULL};
	u32 tid = prev->pid;

	if (!event_wanted(TRACE_EV_sched_limit))
		return;
	if (!bpf_map_update_elem(&quota_waits, &tid, &wait, BPF_ANY))
		__sync_fetch_and_add(&nr_quota_waits, 1);
	RECORD(sched_limit) {
		record->tid = tid;
		record->prio = prev->prio;
		COMMIT(sched_limit);
	}
}

static __noinline void quota_wait_ends(u32 tid)
{
	struct quota_wait *wait = bpf_map_lookup_elem(&quota_waits, &tid);
	struct cfs_rq *queue;
	u64 ns = ~0ull;

	if (!wait)
		return;
	if (wait->queue && bpf_core_field_exists(struct cfs_rq, throttled_clock_self_time)) {
		queue = wait->queue;
		ns = FIELD(queue, throttled_clock_self_time) - wait->before;
		ns = (s64)ns < 0 ? 0 : ns;
	}
	if (!bpf_map_delete_elem(&quota_waits, &tid))
		__sync_fetch_and_add(&nr_quota_waits, -1);
	record_quota(tid, 1, ns);
}

/* include/linux/sched.h */
#define TASK_STOPPED 0x4
#define TASK_TRACED  0x8
#define TASK_DEAD    0x80

/* The kernel has just updated the thread's run time, with its clock of this switch. */
static __always_inline void record_exit_times(struct task_struct *task)
{
	if (!event_wanted(TRACE_EV_exit_times))
		return;
	RECORD(exit_times) {
		record->tid = task->pid;
		record->pad = 0;
		record->utime_ns = task->utime;
		record->stime_ns = task->stime;
		record->run_ns = task->se.sum_exec_runtime;
		record->switches = task->nvcsw + task->nivcsw;
		COMMIT(exit_times);
	}
}

/* A thread that is stopped returns to user mode later, as after task work. The result has no
 * meaning. */
static __noinline int record_rare(struct task_struct *prev, unsigned int prev_state)
{
	if (prev_state & TASK_DEAD)
		record_exit_times(prev);
	else if (event_wanted(TRACE_EV_task_work_end))
		note_return(prev);
	return 0;
}

SEC("event/sched_switch")
int BPF_PROG(sched_switch, bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state)
{
	u32 cpu = bpf_get_smp_processor_id(), choice;
	struct subbuf_control *control = control_of_cpu(false, cpu);
	u64 now = 0;

	if (!control)
		return 0;
	record_steal_time(control, prev, next);
	if (!either_passes(next))
		return 0;
	if (quota_is_used_up(prev, preempt ? 0 : prev_state))
		quota_wait_begins(prev);
	else if ((preempt || !prev_state) && prev->prio < MAX_RT_PRIO && next->prio >= MAX_RT_PRIO)
		limit_wait_begins(prev);
	if (nr_quota_waits)
		quota_wait_ends(next->pid);
	check_task_work();
	if (prev_state & (TASK_STOPPED | TASK_TRACED | TASK_DEAD))
		record_rare(prev, prev_state);
	RECORD_ON(control, cpu, sched_switch) {
		record->prev_tid = prev->pid;
		record->next_tid = next->pid;
		record->prev_state = preempt ? 0 : prev_state;
		record->next_prio = next->prio;
		record->preempt = preempt;
		if (config.samples_waits)
			now = record_time(&recording);
		COMMIT(sched_switch);
	}
	if (!config.samples_waits)
		return 0;
	now = now ? now : bpf_ktime_get_ns();
	if (!preempt && prev_state && !(prev_state & TASK_DEAD) && prev->pid)
		wait_begins(prev->pid, now);
	choice = next->pid ? wait_ends(next->pid, now) : NR_WAIT_PROGRAMS;
	if (choice < NR_WAIT_PROGRAMS)
		bpf_tail_call(ctx, &wait_programs, choice);
	return 0;
}

/*
 * Recorded on another CPU: an offline CPU passes no tracepoint, not even for the switch to its idle
 * thread. The steps run upwards and downwards; @state: the CPU's state then, which on the way down
 * is below the step.
 */
SEC("event/cpuhp_exit")
int BPF_PROG(cpu_hotplug, unsigned int cpu, int state, int step, int result)
{
	bool goes = step == (int)bpf_core_enum_value(enum cpuhp_state, CPUHP_TEARDOWN_CPU) && state < step;
	bool comes = step == (int)bpf_core_enum_value(enum cpuhp_state, CPUHP_BRINGUP_CPU) && state >= step;

	if (result || (!goes && !comes) || !current_passes())
		return 0;
	RECORD_STRUCTURAL(cpu_hotplug, 0) {
		record->cpu = cpu;
		record->online = comes;
		COMMIT(cpu_hotplug);
	}
	return 0;
}

#define PF_FORKNOEXEC 0x40 /* include/linux/sched.h: forked, and made no exec */

/* The name of a thread that the filters exclude and that wakes one of theirs. Threads of the kernel
 * act for others. The result has no meaning. */
__noinline int record_waker(void)
{
	struct task_struct *waker = current_task();

	if (!waker->pid || (waker->flags & PF_KTHREAD) || task_matches(waker) || !event_wanted(TRACE_EV_sched_waker))
		return 0;
	RECORD_IN(sched_waker, false, 16) {
		record->tid = waker->pid;
		record->tgid = waker->tgid;
		record->ppid = BPF_CORE_READ(waker, group_leader, real_parent, tgid);
		record->copy = (BPF_CORE_READ(waker, group_leader, flags) & PF_FORKNOEXEC) != 0;
		bpf_core_read((char *)(record + 1), 16, &waker->comm);
		COMMIT(sched_waker);
	}
	return 0;
}

SEC("event/sched_waking")
int BPF_PROG(sched_waking, struct task_struct *task)
{
	u32 cpu = bpf_get_smp_processor_id(), context;
	struct subbuf_control *control = control_of_cpu(false, cpu);
	u64 now = 0;

	if (!control || !either_passes(task))
		return 0;
	context = waker_context(control);
	if (config.filtering && context == TRACE_CONTEXT_TASK)
		record_waker();
	RECORD_ON(control, cpu, sched_waking) {
		record->tid = task->pid;
		record->target_cpu = task->thread_info.cpu;
		record->context = context;
		if (config.samples_waits)
			now = record_time(&recording);
		COMMIT(sched_waking);
	}
	if (config.samples_waits && wakeup_has_stack(task->pid, now ? now : bpf_ktime_get_ns()))
		bpf_tail_call(ctx, &waker_programs, 0);
	return 0;
}

SEC("event/sched_wakeup")
int BPF_PROG(sched_wakeup, struct task_struct *task)
{
	if (!either_passes(task))
		return 0;
	RECORD(sched_wakeup) {
		record->tid = task->pid;
		record->target_cpu = task->thread_info.cpu;
		COMMIT(sched_wakeup);
	}
	return 0;
}

SEC("event/sched_wakeup_new")
int BPF_PROG(sched_wakeup_new, struct task_struct *task)
{
	if (!either_passes(task))
		return 0;
	RECORD(sched_wakeup_new) {
		record->tid = task->pid;
		record->target_cpu = task->thread_info.cpu;
		COMMIT(sched_wakeup_new);
	}
	return 0;
}

SEC("event/sched_migrate_task")
int BPF_PROG(sched_migrate, struct task_struct *task, int to_cpu)
{
	if (!either_passes(task))
		return 0;
	RECORD(sched_migrate) {
		record->tid = task->pid;
		record->from_cpu = task->thread_info.cpu;
		record->to_cpu = to_cpu;
		COMMIT(sched_migrate);
	}
	return 0;
}

/* Number of children for which the map of followed processes had no room, and when the first of
 * them began: the filters do not pass them. */
volatile trace_u64 unfollowed;
volatile trace_u64 unfollowed_ns;

static __always_inline void stop_following(u32 tgid)
{
	u8 one = 1;

	if (!bpf_map_delete_elem(&followed, &tgid))
		bpf_map_update_elem(&followed_before, &tgid, &one, BPF_ANY);
}

/* Children of a followed process are followed from the start. A child of another process may get
 * the pid of a followed process that has exited but is not freed yet. */
static __always_inline void follow_child(struct task_struct *parent, struct task_struct *child)
{
	u32 tgid = parent->tgid, child_tgid = child->tgid;
	u8 one = 1;

	if (!config.filter_pid || tgid == child_tgid)
		return;
	if (!config.follow || !bpf_map_lookup_elem(&followed, &tgid)) {
		stop_following(child_tgid);
		return;
	}
	if (bpf_map_update_elem(&followed, &child_tgid, &one, BPF_ANY) && !__sync_fetch_and_add(&unfollowed, 1))
		unfollowed_ns = bpf_ktime_get_ns();
}

SEC("event/task_newtask")
int BPF_PROG(sched_fork, struct task_struct *child, u64 clone_flags)
{
	struct task_struct *parent = current_task();

	follow_child(parent, child);
	if (!either_passes(child))
		return 0;
	RECORD_STRUCTURAL(sched_fork, 16) {
		record->parent_tid = parent->pid;
		record->tid = child->pid;
		record->tgid = child->tgid;
		record->ns_tid = pid_in_namespace(BPF_CORE_READ(child, thread_pid));
		record->clone_flags = clone_flags | (child->flags & PF_IO_WORKER ? TRACE_CLONE_IO_WORKER : 0);
		record->uid = BPF_CORE_READ(child, cred, euid.val);
		record->kthread = (child->flags & PF_KTHREAD) != 0;
		bpf_core_read((char *)(record + 1), 16, &child->comm);
		COMMIT(sched_fork);
	}
	note_birth_group(child, clone_flags);
	return 0;
}

/* Record a file that the exec of the current thread maps. */
static __always_inline void record_exec_file(struct path_text *s, struct file *file, u32 interpreter)
{
	struct opened opened = opened_by_program(file);
	struct path_span span = opened_path(s, &opened);
	struct inode *inode = opened.inode;

	RECORD_STRUCTURAL(fs_exec, ROUND8(span.bytes)) {
		record->ino = FIELD(inode, i_ino);
		record->dev = BPF_CORE_READ(inode, i_sb, s_dev);
		record->mode = FIELD(inode, i_mode);
		record->tid = current_task()->pid;
		record->interpreter = interpreter;
		put_text(record + 1, &s->text[span.start], span.bytes);
		COMMIT(fs_exec);
	}
}

/* The new memory has the program's file, but none of its pages is mapped yet: exec gives the thread
 * its name at this moment. The result has no meaning. */
__noinline int record_program(void)
{
	struct task_struct *task = current_task();
	struct path_text *s = path_scratch(&program_scratch);
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u32 nr = syscall_nr(regs);
	struct file *file;

	if (!s || !event_wanted(TRACE_EV_fs_exec) || !(syscall_action(syscall_abi(task, nr), nr) & SYSCALL_EXEC))
		return 0;
	file = BPF_CORE_READ(task, mm, exe_file);
	if (file)
		record_exec_file(s, file, false);
	return 0;
}

static long file_of_mapping(struct task_struct *task, struct vm_area_struct *vma, u64 *ret_file)
{
	*ret_file = (u64)vma->vm_file;
	return 0;
}

/*
 * A program that needs an interpreter (the dynamic linker) begins in it. The result has no meaning.
 */
__noinline int record_interpreter(void)
{
	struct task_struct *task = current_task();
	struct path_text *s = path_scratch(&exec_scratch);
	struct pt_regs *regs = (struct pt_regs *)bpf_task_pt_regs(task);
	u64 file = 0;

	if (!s || !event_wanted(TRACE_EV_fs_exec))
		return 0;
	bpf_find_vma(task, user_ip(regs), file_of_mapping, &file, 0);
	if (file && file != (u64)BPF_CORE_READ(task, mm, exe_file))
		record_exec_file(s, (struct file *)file, true);
	return 0;
}

/*
 * Each NUL in the text becomes the separator. In each byte of @nuls, the highest bit is set where
 * the byte of the word is 0.
 */
static __always_inline void separate_args(struct path_text *s)
{
	const u64 low = 0x7f7f7f7f7f7f7f7f;
	u64 *words = (u64 *)s->text;

	for (u32 i = 0; i < TRACER_ARGS_BYTES / sizeof(u64); i++) {
		u64 nuls = ~(((words[i] & low) + low) | words[i] | low);

		words[i] |= (nuls >> 7) * TRACE_ARGS_SEPARATOR;
	}
}

/* The new memory has the arguments, in pages that exec has just written. The result has no
 * meaning. */
__noinline int record_args(void)
{
	struct task_struct *task = current_task();
	struct path_text *s = path_scratch(&exec_scratch);
	u64 begin, bytes, kept;

	if (!s || !event_wanted(TRACE_EV_sched_args))
		return 0;
	begin = BPF_CORE_READ(task, mm, arg_start);
	bytes = BPF_CORE_READ(task, mm, arg_end) - begin; /* NUL included */
	if ((s64)bytes <= 0)
		return 0;
	kept = bytes < TRACER_ARGS_BYTES ? bytes : TRACER_ARGS_BYTES;
	if (bpf_probe_read_user(s->text, kept, (void *)begin))
		return 0;
	separate_args(s);
	s->text[(kept - 1) & (TRACER_ARGS_BYTES - 1)] = 0;
	RECORD_STRUCTURAL(sched_args, ROUND8(kept)) {
		record->tid = task->pid;
		record->bytes = bytes - 1;
		put_text(record + 1, s->text, kept);
		COMMIT(sched_args);
	}
	return 0;
}

SEC("event/sched_process_exec")
int BPF_PROG(sched_exec, struct task_struct *task, int old_tid, struct linux_binprm *bprm)
{
	struct path_text *s = path_scratch(&exec_scratch);
	struct path_span span;

	note_ids_after_exec(task);
	if (!s || !current_passes())
		return 0;
	record_interpreter();
	if (!event_wanted(TRACE_EV_sched_exec))
		return 0;
	span = file_path(s, BPF_CORE_READ(task, mm, exe_file));
	RECORD_STRUCTURAL(sched_exec, ROUND8(span.bytes)) {
		record->tid = task->pid;
		record->old_tid = old_tid;
		record->uid = BPF_CORE_READ(task, cred, euid.val);
		record->pad = 0;
		put_text(record + 1, &s->text[span.start], span.bytes);
		COMMIT(sched_exec);
	}
	record_args();
	return 0;
}

volatile bool
	start_state_is_read; /* The start state has been read: names of threads that exit from now on are known. */

static __always_inline void record_name(struct task_struct *task, const char *comm)
{
	RECORD_STRUCTURAL(sched_comm, 16) {
		u64 *text = (u64 *)(record + 1);

		record->tid = task->pid;
		record->pad = 0;
		text[0] = text[1] = 0;
		bpf_probe_read_kernel_str(text, 16, comm);
		COMMIT(sched_comm);
	}
}

#define TITLE_BYTES 64 /* the first of a text, in which is_title() looks */

/*
 * A first argument with ": " in its first TITLE_BYTES is a title that the program wrote over its
 * arguments (base/program_title.c). The area of the arguments may be too short for it: then it goes
 * on in that of the environment, which follows.
 */
static __always_inline bool is_title(const struct path_text *s)
{
	for (u32 i = 0; i < TITLE_BYTES - 1; i++)
		if (s->text[i] == ':' && s->text[i + 1] == ' ')
			return true;
	return false;
}

/*
 * The title of a process at its exit: since Linux 6.16 its memory still exists then. Processes that
 * wrote none, which are most, have no record. The result has no meaning.
 */
__noinline int record_title(void)
{
	struct task_struct *task = current_task();
	struct path_text *s = path_scratch(&exec_scratch);
	u64 begin, end, kept;
	long bytes;

	if (!s || !event_wanted(TRACE_EV_sched_args))
		return 0;
	begin = BPF_CORE_READ(task, mm, arg_start);
	end = BPF_CORE_READ(task, mm, arg_end);
	if (end == BPF_CORE_READ(task, mm, env_start))
		end = BPF_CORE_READ(task, mm, env_end);
	if (end <= begin)
		return 0;
	kept = end - begin < TRACER_ARGS_BYTES ? end - begin : TRACER_ARGS_BYTES;
	__builtin_memset(s->text, 0, TITLE_BYTES); /* else older text would be behind a short argument */
	bytes = bpf_probe_read_user_str(s->text, kept, (void *)begin); /* NUL included */
	if (bytes <= 1 || !is_title(s))
		return 0;
	RECORD_STRUCTURAL(sched_args, ROUND8(bytes)) {
		record->tid = task->pid;
		record->bytes = bytes - 1;
		put_text(record + 1, s->text, bytes);
		COMMIT(sched_args);
	}
	return 0;
}

static __always_inline void exited(struct task_struct *task, bool group_dead)
{
	if (nr_works_put_off)
		forget_task_work(task->pid);
	note_adoption(task, group_dead);
	if (!current_passes())
		return;
	if (!start_state_is_read && event_wanted(TRACE_EV_sched_comm))
		record_name(task, task->comm);
	note_ids_at_exit(group_dead);
	if (group_dead)
		record_title();
	RECORD_STRUCTURAL(sched_exit, 0) {
		record->tid = task->pid;
		record->tgid = task->tgid;
		record->group_dead = group_dead;
		record->code = task->exit_code;
		COMMIT(sched_exit);
	}
}

SEC("event/sched_process_exit")
int BPF_PROG(sched_exit, struct task_struct *task, bool group_dead)
{
	exited(task, group_dead);
	return 0;
}

/* Before 6.13: if two threads exit at the same time, both may find that no other thread lives. */
SEC("event/sched_process_exit")
int BPF_PROG(sched_exit__task, struct task_struct *task)
{
	exited(task, BPF_CORE_READ(task, signal, live.counter) == 0);
	return 0;
}

/* Is there a process with that pid? Not known before 6.2. */
static __always_inline bool pid_is_in_use(u32 pid)
{
	struct task_struct *task;
	bool lives;

	if (!bpf_task_from_pid)
		return false;
	task = bpf_task_from_pid(pid);
	if (!task)
		return false;
	lives = (u32)task->tgid == pid;
	bpf_task_release(task);
	return lives;
}

/* The kernel frees a thread some time after the wait for it. By then its pid may belong to another
 * process, and the fork of that one has decided whether it is followed. */
SEC("event/sched_process_free")
int BPF_PROG(sched_free, struct task_struct *task)
{
	u32 pid = task->pid;
	bool passes = either_passes(task);

	if (config.filter_pid && pid == (u32)task->tgid && !pid_is_in_use(pid))
		stop_following(pid);
	if (!passes)
		return 0;
	RECORD_STRUCTURAL(sched_free, 0) {
		record->tid = pid;
		record->pad = 0;
		COMMIT(sched_free);
	}
	return 0;
}

SEC("event/sched_process_wait")
int BPF_PROG(sched_wait, struct pid *pid)
{
	if (!current_passes())
		return 0;
	RECORD(sched_wait) {
		record->pid = pid ? BPF_CORE_READ(pid, numbers[0].nr) : 0;
		record->pad = 0;
		COMMIT(sched_wait);
	}
	return 0;
}

SEC("event/sched_pi_setprio")
int BPF_PROG(sched_prio, struct task_struct *task, struct task_struct *donor)
{
	if (!either_passes(task))
		return 0;
	RECORD(sched_prio) {
		int own_prio = task->normal_prio; /* the priority without a lender */

		record->tid = task->pid;
		record->old_prio = task->prio;
		record->new_prio = donor && BPF_CORE_READ(donor, prio) < own_prio ? BPF_CORE_READ(donor, prio)
										  : own_prio;
		COMMIT(sched_prio);
	}
	return 0;
}

SEC("event/task_rename")
int BPF_PROG(sched_comm, struct task_struct *task, const char *comm)
{
	if (!either_passes(task) || is_bell_name(comm))
		return 0;
	if (task == current_task())
		record_program();
	record_name(task, comm);
	return 0;
}

SEC("event/sched_kthread_stop")
int BPF_PROG(kthread_stop, struct task_struct *task)
{
	if (!either_passes(task))
		return 0;
	RECORD(kthread_stop) {
		record->tid = task->pid;
		record->pad = 0;
		COMMIT(kthread_stop);
	}
	return 0;
}

SEC("event/cgroup_attach_task")
int BPF_PROG(cgroup_attach, struct cgroup *cgroup, const char *path, struct task_struct *task, bool threadgroup)
{
	u32 hierarchy = BPF_CORE_READ(cgroup, root, hierarchy_id);

	/* A thread is in one group of each other hierarchy, too. */
	if (!hierarchy ||
	    (hierarchy == config.group_hierarchy && BPF_CORE_READ(task, cgroups, dfl_cgrp, kn, id) == ROOT_GROUP))
		if (either_passes(task))
			record_group(task, !threadgroup);
	return 0;
}
