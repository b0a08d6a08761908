/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef TRACER_RECORD_BPF_H
#define TRACER_RECORD_BPF_H
/*
 * record.bpf.h - how a BPF program writes a record into its CPU's ring, and what
 * decides whether it should
 *
 *	SEC("event/some_tracepoint")
 *	int BPF_PROG(some_event, int argument)
 *	{
 *		RECORD(some_event, 0) {
 *			record->field = argument;
 *			COMMIT(some_event);
 *		}
 *		return 0;
 *	}
 */
#include "config.h"
#include <trace/subbuf.h>

/* ---- set by the loader before it loads the programs: constants for the verifier,
 * which removes dead code ---- */
const volatile struct tracer_config config;
/* The action for each system call, by ABI and number: SYSCALL_* of config.h. */
const volatile unsigned int syscall_actions[2][TRACER_NR_SYSCALLS];
/* By number, for any ABI: can the exit have more to record than the result? For most calls it
 * cannot, and the program looks at nothing else. */
const volatile bool syscall_has_effects[TRACER_NR_SYSCALLS];

/* ---- may change while the programs run ---- */
volatile trace_u64 event_mask[TRACE_MASK_WORDS]; /* for programs that emit more than one event */

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1); /* number of CPUs; value_size = a ring and slack: set by the loader */
	__type(key, u32);
	__uint(value_size, 4096);
} rings SEC(".maps"), structural_rings SEC(".maps");

/* One record of 8 bytes for each filled sub-buffer; its only purpose is to wake the daemon. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 4096);
} wakeups SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 65536);
	__type(key, u32);
	__type(value, u8);
} followed SEC(".maps"); /* process ids that the filter lets pass */

/* Those that have ended: the daemon reads what they mapped some time later. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, u32);
	__type(value, u8);
} followed_before SEC(".maps");

/* ---- the producer's side of the rings ---- */

struct subbuf_writer {
	struct subbuf_control *control;
	u32 subbuf_bytes;
	u32 subbuf_bytes_log2;
	u32 slots_mask;
	u32 nr_subbufs_log2;
	u32 cpu;
	u16 producer;
	u8 clock;
	u8 overwrite;
	u8 structural;
	u64 at; /* time of the record; 0: now */
	u64 *position;
};

#define SUBBUF_LOAD(p)				  (*(volatile typeof(*(p)) *)(p))
#define SUBBUF_STORE(p, v)			  (*(volatile typeof(*(p)) *)(p) = (v))
#define SUBBUF_ADD(p, v)			  __sync_fetch_and_add(p, v)
#define SUBBUF_CAS(p, old, new)			  __sync_val_compare_and_swap(p, old, new)
#define SUBBUF_CLOCK()				  bpf_ktime_get_ns()
#define SUBBUF_NOW(w)				  ((w)->at ? (w)->at : SUBBUF_CLOCK())
#define SUBBUF_POSITION(w)			  ((w)->position)
#define SUBBUF_TRIES				  4
#define SUBBUF_HEADER(w, seq)			  ((struct subbuf_header *)slot_of(w, seq))
#define SUBBUF_WRITE_HEADER(w, seq, offset, word) (*(volatile u64 *)record_of(w, seq, offset) = (word))

/* These masks are constants to the verifier: a slot is inside the ring, a record begins in its slot
 * at a multiple of 8, and the slack after the ring takes what the longest record could reach
 * beyond. */
static __always_inline unsigned char *slot_of(const struct subbuf_writer *w, u64 seq)
{
	u64 at = (seq << w->subbuf_bytes_log2) & w->slots_mask;

	return (unsigned char *)w->control + SUBBUF_CONTROL_BYTES + at;
}

static __always_inline unsigned char *record_of(const struct subbuf_writer *w, u64 seq, u32 offset)
{
	u64 at = (seq << w->subbuf_bytes_log2) + offset;

	return (unsigned char *)w->control + SUBBUF_CONTROL_BYTES + (at & w->slots_mask & ~7ULL);
}

/*
 * The rare case is a function of its own, and one try of it is another. They are global, so the
 * verifier checks each once and not at every call. Each looks the ring up again, because pointers
 * cannot be arguments. There are two versions of both, so that the kind of ring is a constant:
 * older verifiers do not see that the size belongs to the map. @at: the time of the record; 0: now.
 */
struct subbuf_reservation;
int reserve_try(u32 cpu, u32 size, u64 position, u64 at, struct subbuf_reservation *ret_reservation);
int reserve_try_structural(u32 cpu, u32 size, u64 position, struct subbuf_reservation *ret_reservation);
int reserve_slow(u32 cpu, u32 size, u64 position, u64 at, struct subbuf_reservation *ret_reservation);
int reserve_slow_structural(u32 cpu, u32 size, u64 position, struct subbuf_reservation *ret_reservation);
#define SUBBUF_RESERVE_TRY(w, size, position, ret_reservation)                               \
	((w)->structural ? reserve_try_structural((w)->cpu, size, position, ret_reservation) \
			 : reserve_try((w)->cpu, size, position, (w)->at, ret_reservation))

#include "../subbuf_write.h"

static __always_inline u64 *position_of(struct subbuf_control *control);

static __always_inline struct subbuf_control *control_of_cpu(bool structural, u32 cpu)
{
	return structural ? bpf_map_lookup_elem(&structural_rings, &cpu) : bpf_map_lookup_elem(&rings, &cpu);
}

/* The ring of @cpu. This is the current CPU, except for a deferred entry of an offline CPU. */
static __always_inline bool ring_of_cpu(struct subbuf_writer *w, bool structural, u32 cpu)
{
	const volatile struct tracer_geometry *geometry = structural ? &config.structural : &config.ring;

	w->control = control_of_cpu(structural, cpu);
	w->subbuf_bytes = geometry->subbuf_bytes;
	w->subbuf_bytes_log2 = geometry->subbuf_bytes_log2;
	w->nr_subbufs_log2 = geometry->nr_subbufs_log2;
	w->slots_mask = geometry->slots_mask;
	w->cpu = cpu;
	w->producer = SUBBUF_PRODUCER_KERNEL;
	w->clock = SUBBUF_CLOCK_MONOTONIC;
	w->overwrite = config.overwrite && !structural;
	w->structural = structural;
	if (w->control)
		w->position = structural ? &w->control->position : position_of(w->control);
	return w->control;
}

/* Structural sub-buffers are few, so each wakes the daemon. A flight recorder's other sub-buffers
 * do not: the daemon reads them only for a snapshot. */
static __always_inline bool wakes_daemon(u32 structural)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct subbuf_control *control = control_of_cpu(false, cpu);
	u64 position, nr;

	if (structural || !control)
		return true;
	if (config.overwrite)
		return false;
	position = SUBBUF_LOAD(&control->position);
	nr = (position >> SUBBUF_OFFSET_BITS) - SUBBUF_LOAD(&control->consumed);
	if ((position & SUBBUF_OFFSET_MASK) < config.ring.subbuf_bytes)
		nr--; /* this one is open */
	return nr >= SUBBUF_LOAD(&control->wake_at);
}

/* Out of line: it runs once per sub-buffer. The result has no meaning;
 * global functions must have one. */
__noinline int wake_daemon(u32 structural)
{
	u64 one = 1;

	if (!wakes_daemon(structural))
		return 0;
	/* An irq_work wakes the poller: this is safe in every context that a tracepoint runs in. If
	 * there is no room, the daemon is awake. */
	return bpf_ringbuf_output(&wakeups, &one, sizeof(one), BPF_RB_FORCE_WAKEUP);
}

static __always_inline void add_up_uninterrupted(struct subbuf_control *control);

static __always_inline int reserve_try_in(bool structural, u32 cpu, u32 size, u64 position, u64 at,
					  struct subbuf_reservation *ret_reservation)
{
	struct subbuf_writer w;

	if (!ret_reservation || !ring_of_cpu(&w, structural, cpu))
		return 0;
	w.at = at;
	return subbuf_reserve_try(&w, size, position, ret_reservation);
}

__noinline int reserve_try(u32 cpu, u32 size, u64 position, u64 at, struct subbuf_reservation *ret_reservation)
{
	return reserve_try_in(false, cpu, size, position, at, ret_reservation);
}

__noinline int reserve_try_structural(u32 cpu, u32 size, u64 position, struct subbuf_reservation *ret_reservation)
{
	return reserve_try_in(true, cpu, size, position, 0, ret_reservation);
}

static __always_inline int reserve_slow_in(bool structural, u32 cpu, u32 size, u64 position, u64 at,
					   struct subbuf_reservation *ret_reservation)
{
	struct subbuf_writer w;
	int reserved;

	if (!ret_reservation || !ring_of_cpu(&w, structural, cpu))
		return 0;
	w.at = at;
	if (!structural)
		add_up_uninterrupted(w.control);
	reserved = subbuf_reserve_slow(&w, size, position, ret_reservation);
	if (ret_reservation->completed)
		wake_daemon(structural);
	return reserved;
}

__noinline int reserve_slow(u32 cpu, u32 size, u64 position, u64 at, struct subbuf_reservation *ret_reservation)
{
	return reserve_slow_in(false, cpu, size, position, at, ret_reservation);
}

__noinline int reserve_slow_structural(u32 cpu, u32 size, u64 position, struct subbuf_reservation *ret_reservation)
{
	return reserve_slow_in(true, cpu, size, position, 0, ret_reservation);
}

/**
 * struct open_record - a record that is being written
 * Only two pointers live across the call of the clock, because a program
 * has four registers for that.
 * @bytes, @structural: constants in most callers
 */
struct open_record {
	struct subbuf_header *header;
	unsigned char *record;
	u32 time;
	u32 bytes;
	bool structural;
};

static __always_inline const volatile struct tracer_geometry *geometry_of(bool structural)
{
	return structural ? &config.structural : &config.ring;
}

static __always_inline void *record_emplace(struct open_record *r, struct subbuf_control *control, u64 position)
{
	u64 slot = position >> SUBBUF_OFFSET_BITS << geometry_of(r->structural)->subbuf_bytes_log2;
	u64 mask = geometry_of(r->structural)->slots_mask & ~7ULL;

	r->header = (void *)control + SUBBUF_CONTROL_BYTES + (slot & mask);
	r->record = (void *)control + SUBBUF_CONTROL_BYTES + ((slot + (position & SUBBUF_OFFSET_MASK)) & mask);
	return r->record + sizeof(struct trace_record);
}

/*
 * Reserve room for a payload of @bytes, a multiple of 8, in @control, the ring of @cpu, which is
 * the current one. Returns NULL if the event is discarded.
 * This is the common case of subbuf_reserve(), written out here because a program has few
 * registers and a short stack.
 * @at: the time of the record, not before the last record's; 0: now.
 *     @interrupts: deferred_is_interrupted()
 */
static __always_inline void *record_reserve(struct open_record *r, struct subbuf_control *control, u32 cpu,
					    bool structural, u32 bytes, u64 at, bool interrupts)
{
	struct subbuf_reservation slow = {0};
	u64 position = SUBBUF_NO_POSITION, now;
	u32 subbuf_bytes = geometry_of(structural)->subbuf_bytes;
	void *payload;

	bytes += sizeof(struct trace_record);
	r->bytes = bytes;
	r->structural = structural;
	if (!interrupts && (SUBBUF_LOAD(&control->position) & SUBBUF_OFFSET_MASK) + bytes < subbuf_bytes)
		position = SUBBUF_ADD(&control->position, bytes);
	if ((position & SUBBUF_OFFSET_MASK) + bytes < subbuf_bytes) {
		payload = record_emplace(r, control, position);
		/* Fetch the memory while the clock is read: the daemon most often wrote to it last,
		 * and the add of record_end() waits for all stores before it. */
		SUBBUF_STORE((u64 *)r->record, 0);
		now = at ? at : SUBBUF_CLOCK();
		r->time = now;
		/* The base may still be that of an earlier use of the slot. That base is earlier: a
		 * time that fits it fits ours, too. */
		if ((now - SUBBUF_LOAD(&r->header->base)) >> 32 == 0)
			return payload;
	}
	if (!(structural ? reserve_slow_structural(cpu, bytes, position, &slow)
			 : reserve_slow(cpu, bytes, position, at, &slow)))
		return NULL;
	control = control_of_cpu(structural, cpu); /* looked up again, because it is rarely needed here */
	if (!control)
		return NULL;
	r->time = slow.time;
	return record_emplace(r, control, slow.position);
}

/*
 * As subbuf_commit(), with less to compute. The record's lap stays 0: only salvage of a dead
 * program's ring reads it. Each use of a slot adds its whole size, a power of two, to commit, and
 * does so before the next use begins. So commit is a multiple of that size only at the end of a
 * use.
 */
static __always_inline void record_head(struct open_record *r, u32 id)
{
	*(volatile u64 *)r->record = subbuf_record_word(r->time, id, r->bytes, 0);
}

static __always_inline void record_end_as(struct open_record *r, u32 id, u32 nr_events)
{
	u64 commit;

	record_head(r, id);
	commit = SUBBUF_ADD(&r->header->commit, r->bytes + nr_events * SUBBUF_COMMIT_RECORD) + r->bytes; /* [W2] */
	if ((commit & (geometry_of(r->structural)->subbuf_bytes - 1)) == 0)
		wake_daemon(r->structural);
}

static __always_inline void record_end(struct open_record *r, u32 id)
{
	record_end_as(r, id, 1);
}

/* The time of a record that is open, whole: the sub-buffer's base has the high bits. */
static __always_inline u64 record_time(const struct open_record *r)
{
	u64 base = SUBBUF_LOAD(&r->header->base);

	return base + (u32)(r->time - (u32)base);
}

#define SHORT_TEXT 64

/*
 * Copy @bytes (at most TRACER_PATH_BYTES) of text after a payload, padded with 0 to whole words.
 * @text is in a map with room after it. Most paths are short, and these loads copy them sooner than
 * the helper has begun.
 */
static __always_inline void put_text(void *to, const char *text, u32 bytes)
{
	barrier_var(bytes); /* otherwise the compiler checks one copy and uses another */
	bytes &= 2047;
#pragma unroll
	for (u32 at = 0; at < SHORT_TEXT; at += sizeof(u64))
		if (at < bytes)
			*(u64 *)(to + at) = *(const u64 *)(text + at);
	if (bytes > SHORT_TEXT)
		bpf_probe_read_kernel(to + SHORT_TEXT, (bytes - SHORT_TEXT) & 2047, text + SHORT_TEXT);
	if (bytes & 7)
		*(u64 *)(to + (bytes & (2047 & ~7u))) &= (1ULL << (bytes & 7) * 8) - 1;
}

/* ---- events that happen now ---- */
#define DEFERRED_PUT_TEXT(to, text, bytes) put_text(to, text, bytes)
#define DEFERRED_SUBBUF_BYTES		   (geometry_of(false)->subbuf_bytes)
#define DEFERRED_SWAP(p, v)		   __sync_lock_test_and_set(p, v)
#define DEFERRED_HEADER(control, seq)                                        \
	((struct subbuf_header *)((void *)(control) + SUBBUF_CONTROL_BYTES + \
				  ((seq) << geometry_of(false)->subbuf_bytes_log2 & geometry_of(false)->slots_mask)))
/* Rare, so out of line. The results have no meaning; global functions must have one. */
int sync_shadow(u32 cpu, u64 position, u32 bytes);
int add_up(u32 cpu);
#define DEFERRED_SYNC_SHADOW(control, cpu, position, bytes) sync_shadow(cpu, position, bytes)
#define DEFERRED_ADD_UP(control, cpu)			    add_up(cpu)
#include "deferred.h"

static __always_inline u64 *position_of(struct subbuf_control *control)
{
	return deferred_position(control);
}

__noinline int sync_shadow(u32 cpu, u64 position, u32 bytes)
{
	struct subbuf_control *control = control_of_cpu(false, cpu);

	if (control)
		deferred_sync_shadow(control, position, bytes);
	return 0;
}

__noinline int add_up(u32 cpu)
{
	struct subbuf_control *control = control_of_cpu(false, cpu);

	if (control && deferred_add_up(control))
		wake_daemon(false);
	return 0;
}

/* Before a sub-buffer is closed. If we interrupted an exit that is writing the record of
 * its call, that exit does it. */
static __always_inline void add_up_uninterrupted(struct subbuf_control *control)
{
	if (!deferred_is_interrupted(control) && deferred_add_up(control))
		wake_daemon(false);
}

/* Flush the deferred entry. Rare, so out of line. The result has no meaning;
 * global functions must have one. */
__noinline int flush_entry(u32 cpu)
{
	struct subbuf_control *control = control_of_cpu(false, cpu);

	if (control)
		deferred_flush(control, cpu);
	return 0;
}

/* Returns whether we interrupted an exit that is writing the record of its call. */
static __always_inline bool flush_deferred(struct subbuf_control *control, u32 cpu)
{
	if (!SUBBUF_LOAD(&control->deferred_ns))
		return false;
	flush_entry(cpu);
	return deferred_is_interrupted(control);
}

/* Reserve room for the payload of an event that happens now, in @control, the ring of @cpu, which
 * is the current one. A deferred entry gets its record first, because no later record may precede
 * it. */
static __always_inline void *record_begin_in(struct open_record *r, struct subbuf_control *control, u32 cpu,
					     bool structural, u32 bytes)
{
	if (!control)
		return NULL;
	return record_reserve(r, control, cpu, structural, bytes, 0, !structural && flush_deferred(control, cpu));
}

static __always_inline void *record_begin(struct open_record *r, bool structural, u32 bytes)
{
	u32 cpu = bpf_get_smp_processor_id();

	return record_begin_in(r, control_of_cpu(structural, cpu), cpu, structural, bytes);
}

/* ---- the current thread ---- */
static __always_inline struct task_struct *current_task(void)
{
	return bpf_get_current_task_btf();
}

/* ---- the kernel's memory ---- */
extern void *bpf_rdonly_cast(const void *object, u32 type) __ksym __weak;

/* A member of a kernel object, as BPF_CORE_READ() of one step, by a plain load where the kernel
 * allows it. A load from a wrong address gives 0. */
#define FIELD(object, member)                                                                                    \
	(config.can_cast                                                                                         \
		 ? ((typeof(object))bpf_rdonly_cast(object, bpf_core_type_id_kernel(typeof(*(object)))))->member \
		 : BPF_CORE_READ(object, member))

/* The same of a member that is a pointer, as a number: the verifier forbids to calculate with
 * pointers, and global functions do not accept them. */
#define NUMBER(object, member)                                                                                      \
	(config.can_cast                                                                                            \
		 ? ((struct thread_info *)bpf_rdonly_cast((void *)(object) +                                        \
								  bpf_core_field_offset(typeof(*(object)), member), \
							  bpf_core_type_id_kernel(struct thread_info)))             \
			   ->flags                                                                                  \
		 : (u64)BPF_CORE_READ(object, member))

#if defined(__TARGET_ARCH_x86)
/*
 * The current thread, and other per-CPU variables of the kernel, by loads alone. The helper is a
 * call; with its return it costs as much as half a record on kernels that guard returns. We cannot
 * look up variables by name (kernels without CONFIG_KALLSYMS_ALL list none). But the kernel's type
 * information places them in the same per-CPU section as the run queue, and every thread has a
 * pointer to the run queue. make_ready stores that pointer for its CPU. A load from a wrong address
 * would give 0, and do no harm.
 */
/* The word at an address: any struct that begins with a word will do. */
static __always_inline u64 word_at(u64 address)
{
	struct thread_info *words = bpf_rdonly_cast((void *)address, bpf_core_type_id_kernel(struct thread_info));

	return words->flags;
}

/* Store the run queue of this CPU, which has the ring @control. */
static __always_inline void note_run_queue(struct subbuf_control *control)
{
	struct task_struct *task = current_task();
	u64 queue = (u64)task->se.cfs_rq->rq;

	if (config.current_task_distance && word_at(queue + config.current_task_distance) == (u64)task)
		control->run_queue = queue;
}

/* Returns 0 if the address is not known. */
static __always_inline u64 run_queue(struct subbuf_control *control)
{
	return config.current_task_distance ? SUBBUF_LOAD(&control->run_queue) : 0;
}

/* The current thread of this CPU, which has the ring @control. For loads only: helpers do not
 * accept this pointer as an argument. */
static __always_inline struct task_struct *current_by_loads(struct subbuf_control *control)
{
	u64 queue = run_queue(control), task;

	if (!config.current_task_distance)
		return current_task();
	task = queue ? word_at(queue + config.current_task_distance) : (u64)current_task();
	return bpf_rdonly_cast((void *)task, bpf_core_type_id_kernel(struct task_struct));
}
#else
static __always_inline void note_run_queue(struct subbuf_control *control)
{
}

static __always_inline struct task_struct *current_by_loads(struct subbuf_control *control)
{
	return current_task();
}
#endif

/* ---- filters ---- */
static __noinline void count_filtered(void)
{
	u32 cpu = bpf_get_smp_processor_id();
	struct subbuf_control *control = bpf_map_lookup_elem(&rings, &cpu);

	if (control)
		__sync_fetch_and_add(&control->filtered, 1);
}

#define DUMPABLE_MASK 3 /* MMF_DUMPABLE_MASK of include/linux/mm_types.h; sched/coredump.h until 6.17 */
#define DUMPABLE_USER 1 /* SUID_DUMP_USER */

/*
 * The kernel marks the memory of a process that got another user or group from its program's file,
 * and keeps the mark when the process changes back. A thread whose memory is gone shows none of it;
 * since 6.18 the kernel keeps the mark for it, too.
 */
static __always_inline bool is_dumpable(struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	u64 flags = 0;

	if (!mm)
		return !bpf_core_field_exists(struct task_struct___6_18, user_dumpable) ||
		       BPF_CORE_READ_BITFIELD_PROBED((struct task_struct___6_18 *)task, user_dumpable);
	if (bpf_core_field_exists(struct mm_struct___6_18, flags.__mm_flags))
		flags = BPF_CORE_READ((struct mm_struct___6_18 *)mm, flags.__mm_flags[0]);
	else if (bpf_core_field_exists(struct mm_struct___pre_6_18, flags))
		flags = BPF_CORE_READ((struct mm_struct___pre_6_18 *)mm, flags);
	return (flags & DUMPABLE_MASK) == DUMPABLE_USER;
}

/* Capabilities in a user namespace that the user has made are the user's own. */
static __always_inline bool has_foreign_caps(const struct cred *cred)
{
	u64 permitted = ~0ull;

	bpf_core_read(&permitted, sizeof(permitted), &cred->cap_permitted);
	return permitted && BPF_CORE_READ(cred, user_ns, owner.val) != config.filter_uid;
}

/*
 * A task with another id among its own is a program that changed its user, and one with a
 * capability is a program that got it from its file: memory and descriptors may hold what the user
 * may not see. ptrace(2) asks the same: kernel/ptrace.c, __ptrace_may_access().
 */
static __noinline bool is_own_task(struct task_struct *task)
{
	const struct cred *cred = BPF_CORE_READ(task, cred);
	u32 gid = BPF_CORE_READ(cred, gid.val);

	return BPF_CORE_READ(cred, uid.val) == config.filter_uid &&
	       BPF_CORE_READ(cred, euid.val) == config.filter_uid &&
	       BPF_CORE_READ(cred, suid.val) == config.filter_uid && BPF_CORE_READ(cred, egid.val) == gid &&
	       BPF_CORE_READ(cred, sgid.val) == gid && !has_foreign_caps(cred) && is_dumpable(task);
}

/* If others are hidden, @task must belong wholly to the user. */
static __always_inline bool is_shown(struct task_struct *task)
{
	return !config.others_hidden || is_own_task(task);
}

/* All filters must match, as in the original toolkit. */
static __always_inline bool task_matches(struct task_struct *task)
{
	if (config.filter_pid) {
		u32 tgid = BPF_CORE_READ(task, tgid);

		if (!bpf_map_lookup_elem(&followed, &tgid))
			return false;
	}
	if (config.filter_pgrp && BPF_CORE_READ(task, signal, pids[2], numbers[0].nr) != config.filter_pgrp)
		return false;
	if (config.filter_by_uid && BPF_CORE_READ(task, cred, euid.val) != config.filter_uid)
		return false;
	if (config.filter_by_gid && BPF_CORE_READ(task, cred, egid.val) != config.filter_gid)
		return false;
	return is_shown(task);
}

/* Does the event of the current thread pass the filters? Counts it if not. */
static __always_inline bool current_passes(void)
{
	if (!config.filtering || task_matches(current_task()))
		return true;
	count_filtered();
	return false;
}

/* The same for events that concern another thread @task: its wakeups and
 * scheduling changes pass too. */
static __always_inline bool either_passes(struct task_struct *task)
{
	if (!config.filtering || task_matches(current_task()) || task_matches(task))
		return true;
	count_filtered();
	return false;
}

/* The daemon's own system calls and faults are not recorded, because recording them
 * would cause more of them. */
static __always_inline bool own_event(struct task_struct *current)
{
	int excluded = config.exclude_tgid;

	if (excluded && current->tgid == excluded) {
		count_filtered();
		return true;
	}
	return false;
}

static __always_inline bool event_wanted(u32 id)
{
	return event_mask[id / 64] >> (id % 64) & 1;
}

/* ---- the body of a program: see the top of this file ---- */
#define RECORD_IN(event, structural, extra)                                                                          \
	struct open_record recording;                                                                                \
	struct trace_##event *record = record_begin(&recording, structural, sizeof(struct trace_##event) + (extra)); \
	if (record)
#define RECORD(event) RECORD_IN(event, false, 0)
/* For a program that has looked up @control, the ring of @cpu, and @cpu already. */
#define RECORD_ON(control, cpu, event)                                                                                 \
	struct open_record recording;                                                                                  \
	struct trace_##event *record = record_begin_in(&recording, control, cpu, false, sizeof(struct trace_##event)); \
	if (record)
/* After flush_deferred(), or after another record of the same program: no entry can have been
 * deferred since. This saves one function on the stack, of which older kernels allow 512 bytes
 * in all. */
#define RECORD_BEHIND(event, extra)                                                                               \
	struct open_record recording;                                                                             \
	struct subbuf_control *control = control_of_cpu(false, bpf_get_smp_processor_id());                       \
	struct trace_##event *record = control ? record_reserve(&recording, control, bpf_get_smp_processor_id(),  \
								false, sizeof(struct trace_##event) + (extra), 0, \
								deferred_is_interrupted(control))                 \
					       : NULL;                                                            \
	if (record)
#define RECORD_STRUCTURAL(event, extra) RECORD_IN(event, true, extra)
#define COMMIT(event)			record_end(&recording, TRACE_EV_##event)

#define ROUND8(n) (((n) + 7u) & ~7u)

#endif
