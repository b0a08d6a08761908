/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * identity.bpf.c - what a process is, whenever it changes: user and group, control group, parent
 *
 * The kernel has no tracepoint for the first and the last. The exits of the calls that change ids,
 * and the exec of a program, record the ids. The exit of a process records the process that becomes
 * the parent of its children.
 */

/* ---- user and group ---- */

/* A global function is verified once. The results of these functions have no meaning. */
__noinline int record_ids(u32 passes)
{
	struct task_struct *task = current_task();

	RECORD_STRUCTURAL(sched_ids, 0) {
		record->tid = task->pid;
		record->tgid = task->tgid;
		record->ppid = BPF_CORE_READ(task, real_parent, tgid);
		record->uid = BPF_CORE_READ(task, cred, euid.val);
		record->gid = BPF_CORE_READ(task, cred, egid.val);
		record->passes = passes;
		COMMIT(sched_ids);
	}
	return 0;
}

/* The name of a thread that passes the filter from now on: its fork was not recorded. */
__noinline int record_own_name(void)
{
	struct task_struct *task = current_task();

	RECORD_STRUCTURAL(sched_comm, 16) {
		record->tid = task->pid;
		record->pad = 0;
		bpf_core_read((char *)(record + 1), 16, &task->comm);
		COMMIT(sched_comm);
	}
	return 0;
}

/* Does a filter ask for what the calls change? */
static __always_inline bool filters_by_ids(void)
{
	return config.filter_by_uid || config.filter_by_gid || config.filter_pgrp;
}

/*
 * After a call that can change the ids. With a filter by ids this is recorded for every thread: the
 * thread may have passed the filter until now, or pass it from now on.
 */
static __always_inline void note_ids(void)
{
	bool passes = !config.filtering || task_matches(current_task());

	if (!event_wanted(TRACE_EV_sched_ids) || !(passes || filters_by_ids()))
		return;
	record_ids(passes);
	if (config.filtering && passes && event_wanted(TRACE_EV_sched_comm))
		record_own_name();
}

/* After exec, whose own event has the user, but not the group, and only if the thread passes. */
static __always_inline void note_ids_after_exec(struct task_struct *task)
{
	const struct cred *cred = BPF_CORE_READ(task, cred);

	if (filters_by_ids() || BPF_CORE_READ(cred, uid.val) != BPF_CORE_READ(cred, euid.val) ||
	    BPF_CORE_READ(cred, gid.val) != BPF_CORE_READ(cred, egid.val))
		note_ids();
}

/* When a process exits whose calls were not recorded. */
static __always_inline void note_ids_at_exit(bool group_dead)
{
	if (group_dead && !event_wanted(TRACE_EV_sys_exit))
		record_ids(true);
}

/* ---- the parent ---- */

#define MAX_ANCESTORS 32768 /* each step is one of the kernel, which has no maximum */

/**
 * struct reaper_walk - as find_new_reaper of the kernel searches
 * @at: the ancestor that is examined; @level: the pid namespace's; @reaper: the result, 0 = none
 */
struct reaper_walk {
	struct task_struct *at;
	u32 level;
	u32 reaper;
};

static long reaper_step(u32 index, struct reaper_walk *walk)
{
	struct task_struct *task = walk->at;
	struct signal_struct *signal = BPF_CORE_READ(task, signal);
	u32 tgid = BPF_CORE_READ(task, tgid);

	if (!tgid || BPF_CORE_READ(task, thread_pid, level) != walk->level)
		return 1;
	if (BPF_CORE_READ_BITFIELD_PROBED(signal, is_child_subreaper) && BPF_CORE_READ(signal, live.counter) > 0) {
		walk->reaper = tgid;
		return 1;
	}
	walk->at = BPF_CORE_READ(task, real_parent);
	return 0;
}

/* The init process of the pid namespace of @pid. */
static __always_inline u32 init_of(struct pid *pid, u32 level)
{
	void *numbers = (void *)pid + bpf_core_field_offset(struct pid, numbers);
	struct pid_namespace *space = NULL;

	bpf_probe_read_kernel(&space, sizeof(space),
			      numbers + level * bpf_core_type_size(struct upid) +
				      bpf_core_field_offset(struct upid, ns));
	return BPF_CORE_READ(space, child_reaper, tgid);
}

__noinline int record_adoption(void)
{
	struct task_struct *task = current_task();
	struct signal_struct *signal = BPF_CORE_READ(task, signal);
	struct pid *pid = BPF_CORE_READ(task, thread_pid);
	struct reaper_walk walk = {.at = BPF_CORE_READ(task, real_parent), .level = BPF_CORE_READ(pid, level)};

	if (BPF_CORE_READ_BITFIELD_PROBED(signal, has_child_subreaper) &&
	    bpf_loop(MAX_ANCESTORS, reaper_step, &walk, 0) == MAX_ANCESTORS)
		return 0; /* it is further away: the analyzer does not know it */
	if (!walk.reaper)
		walk.reaper = init_of(pid, walk.level);
	if (!walk.reaper || walk.reaper == (u32)task->tgid) /* init itself: the kernel kills its children */
		return 0;
	RECORD_STRUCTURAL(sched_adopt, 0) {
		record->parent = task->tgid;
		record->reaper = walk.reaper;
		COMMIT(sched_adopt);
	}
	return 0;
}

/*
 * A thread exits. Its children get another thread of its process as parent, if one lives: that
 * changes no parent process. So the last one records the new parent. That one may have no child:
 * if threads exit at the same time, each passes its children on itself, now or in a moment, and
 * some of them may be gone already. Then the kernel has added their run times up.
 */
static __always_inline void note_adoption(struct task_struct *task, bool group_dead)
{
	u64 children = (u64)task + bpf_core_field_offset(struct task_struct, children);
	u64 first = (u64)BPF_CORE_READ(task, children.next);
	struct task_struct *child;
	bool passes;

	if (!group_dead || !event_wanted(TRACE_EV_sched_adopt) ||
	    (first == children && BPF_CORE_READ(task, signal, nr_threads) <= 1 &&
	     !BPF_CORE_READ(task, signal, sum_sched_runtime)))
		return;
	passes = !config.filtering || task_matches(task);
	if (!passes && first != children) {
		child = (void *)(first - bpf_core_field_offset(struct task_struct, sibling));
		passes = task_matches(child);
	}
	if (passes)
		record_adoption();
}

/* ---- the control group ---- */

PATH_SCRATCH(group_scratch);

/* One step up: the name of a group. Returns 1 at the root. */
static long group_step(u32 index, struct path_text **context)
{
	struct path_text *s = *context;
	struct kernfs_node *node = (void *)s->dentry, *parent;
	u32 at = s->at;
	long bytes;

	if (bpf_core_field_exists(struct kernfs_node___6_15, __parent))
		parent = BPF_CORE_READ((struct kernfs_node___6_15 *)node, __parent);
	else
		parent = BPF_CORE_READ(node, parent);
	if (!parent)
		return 1;
	bytes = bpf_probe_read_kernel_str(s->text + 2048, NAME_BYTES, BPF_CORE_READ(node, name));
	if (bytes <= 1 || bytes > NAME_BYTES || at < bytes + CUT_BYTES) {
		s->kind = PATH_CUT;
		return 1;
	}
	at -= bytes;
	bpf_probe_read_kernel(&s->text[(at + 1) & 2047], (bytes - 1) & (NAME_BYTES - 1), s->text + 2048);
	s->text[at & 2047] = '/';
	s->at = at;
	s->dentry = (void *)parent;
	return 0;
}

/* The path of a control group, as cgroup_path(). */
static __always_inline struct path_span group_path(struct path_text *s, struct kernfs_node *node)
{
	s->dentry = (void *)node;
	s->kind = PATH_WHOLE;
	s->at = TRACER_PATH_BYTES - 1;
	s->text[TRACER_PATH_BYTES - 1] = 0;
	bpf_loop(PATH_COMPONENTS, group_step, &s, 0);
	if (s->kind == PATH_CUT) {
		s->at -= CUT_BYTES;
		__builtin_memcpy(&s->text[s->at & 2047], "...", CUT_BYTES);
	} else if (s->at == TRACER_PATH_BYTES - 1) {
		s->text[--s->at & 2047] = '/'; /* the root */
	}
	return (struct path_span){.start = s->at & 2047, .bytes = (TRACER_PATH_BYTES - s->at) & 2047};
}

#define ROOT_GROUP 1 /* kernfs_node.id */

/*
 * The group of @task: of version 2, or, if that is the root, of the controller of CPU time of
 * version 1. Numbers of the latter have their hierarchy in the highest byte.
 */
static __always_inline struct kernfs_node *group_of(struct task_struct *task, u64 *ret_id)
{
	struct css_set *set = BPF_CORE_READ(task, cgroups);
	struct kernfs_node *node = BPF_CORE_READ(set, dfl_cgrp, kn);
	struct cgroup_subsys_state *state = NULL;
	u64 id = BPF_CORE_READ(node, id);
	u32 idx;

	*ret_id = id;
	if (id != ROOT_GROUP || !config.group_hierarchy ||
	    !bpf_core_enum_value_exists(enum cgroup_subsys_id, cpu_cgrp_id))
		return node;
	idx = bpf_core_enum_value(enum cgroup_subsys_id, cpu_cgrp_id);
	bpf_probe_read_kernel(&state, sizeof(state),
			      (void *)set + bpf_core_field_offset(set->subsys) + idx * sizeof(state));
	node = BPF_CORE_READ(state, cgroup, kn);
	*ret_id = BPF_CORE_READ(node, id) | (u64)config.group_hierarchy << 56;
	return node;
}

static __always_inline void record_group(struct task_struct *task, bool alone)
{
	struct path_text *s = path_scratch(&group_scratch);
	struct path_span span;
	u64 id;
	struct kernfs_node *node = group_of(task, &id);

	if (!s || !node)
		return;
	span = group_path(s, node);
	RECORD_STRUCTURAL(cgroup_attach, ROUND8(span.bytes)) {
		record->cgroup = id;
		record->tid = task->pid;
		record->alone = alone;
		put_text(record + 1, &s->text[span.start], span.bytes);
		COMMIT(cgroup_attach);
	}
}

#define CLONE_THREAD	  0x00010000
#define CLONE_INTO_CGROUP (1ull << 33) /* linux/sched.h */

/* A child that is born in another group than its parent's; after its fork. */
static __always_inline void note_birth_group(struct task_struct *child, u64 clone_flags)
{
	if ((clone_flags & CLONE_INTO_CGROUP) && event_wanted(TRACE_EV_cgroup_attach))
		record_group(child, clone_flags & CLONE_THREAD);
}
