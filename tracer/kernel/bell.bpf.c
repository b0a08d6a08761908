/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * bell.bpf.c - a program calls the daemon that it cannot see: <trace/user_memory.h>
 *
 * The release of a lock on a memfd with the name of a program memory is the call. Locks of other
 * files cost a comparison.
 */

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 65536);
} bells SEC(".maps");

/*
 * SECURITY: one user's programs can call so often in BELL_WINDOW_NS, so that they leave room in
 * the map for those of others. Further ones count as one lost call for each window.
 */
#define BELL_WINDOW_NS 100000000ull
#define BELL_CALLS     64

struct bell_caller {
	u64 begin_ns;
	u32 nr;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, u32); /* uid */
	__type(value, struct bell_caller);
} bell_callers SEC(".maps");

volatile trace_u32 bell_device; /* of memfds; 0 = the daemon does not listen */
volatile trace_u64 lost_bells;	/* calls that found no room in the map, or were too many */

#define F_UNLCK 2 /* as in fcntl(2) */

static __always_inline bool is_unlock(struct file_lock *lock)
{
	if (bpf_core_field_exists(struct file_lock___6_8, fl_type))
		return BPF_CORE_READ((struct file_lock___6_8 *)lock, fl_type) == F_UNLCK;
	return BPF_CORE_READ(lock, c.flc_type) == F_UNLCK;
}

static __always_inline struct file *file_of_lock(struct file_lock *lock)
{
	if (bpf_core_field_exists(struct file_lock___6_8, fl_file))
		return BPF_CORE_READ((struct file_lock___6_8 *)lock, fl_file);
	return BPF_CORE_READ(lock, c.flc_file);
}

static __always_inline bool is_program_memory(const char *name)
{
	const char wanted[] = "memfd:trace-program";

#pragma unroll
	for (u32 i = 0; i < sizeof(wanted) - 1; i++)
		if (name[i] != wanted[i])
			return false;
	return true;
}

/* The user's calls since the window began; NULL: they are too many. */
static __always_inline struct bell_caller *may_ring(void)
{
	struct bell_caller first = {.begin_ns = bpf_ktime_get_ns()}, *caller;
	u32 uid = (u32)bpf_get_current_uid_gid();

	caller = bpf_map_lookup_elem(&bell_callers, &uid);
	if (!caller) {
		bpf_map_update_elem(&bell_callers, &uid, &first, BPF_ANY);
		caller = bpf_map_lookup_elem(&bell_callers, &uid);
	}
	if (!caller)
		return NULL;
	if (first.begin_ns - caller->begin_ns > BELL_WINDOW_NS)
		*caller = first;
	if (caller->nr >= BELL_CALLS)
		return NULL;
	if (++caller->nr == BELL_CALLS)
		__sync_fetch_and_add(&lost_bells, 1);
	return caller;
}

static __always_inline void ring(struct tracer_bell_record *bell, struct task_struct *task)
{
	struct bell_caller *caller = may_ring();

	if (!caller)
		return;
	bell->number = task->tgid;
	bpf_probe_read_kernel(bell->comm, sizeof(bell->comm), BPF_CORE_READ(task, group_leader, comm));
	if (!bpf_ringbuf_output(&bells, bell, sizeof(*bell), BPF_RB_FORCE_WAKEUP))
		return;
	if (caller->nr < BELL_CALLS)
		__sync_fetch_and_add(&lost_bells, 1);
	caller->nr = BELL_CALLS;
}

SEC("event/flock_lock_inode")
int BPF_PROG(program_bell, struct inode *inode, struct file_lock *lock)
{
	struct tracer_bell_record bell = {};
	struct task_struct *task = current_task();

	if (!bell_device || !lock || BPF_CORE_READ(inode, i_sb, s_dev) != bell_device || !is_unlock(lock) ||
	    task->tgid == config.exclude_tgid)
		return 0;
	bpf_probe_read_kernel_str(bell.name, sizeof(bell.name),
				  BPF_CORE_READ(file_of_lock(lock), f_path.dentry, d_name.name));
	if (!is_program_memory(bell.name))
		return 0;
	bell.bytes = BPF_CORE_READ(inode, i_size);
	ring(&bell, task);
	return 0;
}

/* A call without a descriptor: the thread gets the name USER_BELL_NAME... for a moment. */
SEC("event/task_rename")
int BPF_PROG(program_bell_name, struct task_struct *task, const char *comm)
{
	struct tracer_bell_record bell = {};

	if (!bell_device || !is_bell_name(comm) || task != current_task() || task->tgid == config.exclude_tgid)
		return 0;
	bpf_probe_read_kernel_str(bell.name, 16, comm);
	ring(&bell, task);
	return 0;
}
