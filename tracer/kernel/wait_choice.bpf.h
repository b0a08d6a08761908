/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/*
 * wait_choice.bpf.h - which waits have stacks: those of 1 ms or more, and of shorter ones each with
 * the probability length / 1 ms
 *
 * Most waits are short and have none, so a choice must cost next to nothing. The switch away from a
 * thread draws a length below 1 ms, and notes the time at which the wait will be longer than that.
 * The wakeup, or the switch to the thread, compares two numbers. For example, 0.3 ms are drawn: a
 * wait of 0.2 ms has no stack, one of 0.4 ms has. 40 % of the waits of 0.4 ms draw less.
 *
 * The programs of sched_switch, sched_waking and sys_exit choose, with the times of their records.
 * Only then they continue with a program of the samples' object (wait_stacks.bpf.c).
 */
#define ALWAYS_NS 1000000
#define NO_STACK  (~0ull)

/**
 * struct wait_note - of a thread that is off the CPUs, and not by preemption
 * @until: a longer wait has a stack. NO_STACK: woken before. @tid: 0 if the slot is free
 * @is_woken: the wakeup has chosen it
 */
struct wait_note {
	u64 until;
	u32 tid;
	u32 is_woken;
};

/* By the low bits of the tid. A program writes that of a thread that stops or begins to run on its
 * CPU, and the wakeup that of a thread between the two. A wakeup on another CPU can come before the
 * switch away, and finds no note: then the switch to the thread chooses. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1); /* a power of two; set by the loader */
	__type(key, u32);
	__type(value, struct wait_note);
} wait_notes SEC(".maps");

/* Threads whose slot another one has. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__uint(max_entries, 16384);
	__type(key, u32);
	__type(value, struct wait_note);
} crowded_waits SEC(".maps");
volatile trace_u64 nr_crowded_waits;

/* The programs that take the stacks: the loader puts those of samples.bpf.c here. */
#define WAIT_PROGRAMS(name, nr)                        \
	struct {                                       \
		__uint(type, BPF_MAP_TYPE_PROG_ARRAY); \
		__uint(max_entries, nr);               \
		__type(key, u32);                      \
		__type(value, u32);                    \
	} name SEC(".maps")
WAIT_PROGRAMS(wait_programs, NR_WAIT_PROGRAMS);
WAIT_PROGRAMS(waker_programs, 1);
WAIT_PROGRAMS(exit_programs, 1);

/* Each time and thread gives another number, and no period in them is left in it (the last steps of
 * the generator SplitMix64). */
static __always_inline u32 random_number(u64 now, u32 tid)
{
	u64 x = now ^ (u64)tid << 40;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return (x ^ x >> 31) >> 32;
}

/* Threads that follow each other are not in the same cache line. */
static __always_inline struct wait_note *slot_of_wait(u32 tid)
{
	u32 slot = tid * 0x9e3779b1 & config.wait_slots_mask;

	return bpf_map_lookup_elem(&wait_notes, &slot);
}

static __noinline void crowded_wait_begins(u32 tid, u64 until)
{
	struct wait_note note = {.until = until, .tid = tid};

	if (!bpf_map_update_elem(&crowded_waits, &tid, &note, BPF_ANY))
		__sync_fetch_and_add(&nr_crowded_waits, 1);
}

static __always_inline void wait_begins(u32 tid, u64 now)
{
	struct wait_note *note = slot_of_wait(tid);
	u64 until = now + ((u64)random_number(now, tid) * ALWAYS_NS >> 32);

	if (!note)
		return;
	if (note->tid && note->tid != tid) {
		crowded_wait_begins(tid, until);
		return;
	}
	note->until = until;
	note->is_woken = false;
	note->tid = tid;
}

/* Whether the waker's stack is taken at this wakeup. */
static __always_inline bool wakeup_has_stack(u32 tid, u64 now)
{
	struct wait_note *note = slot_of_wait(tid);

	if (note && note->tid != tid)
		note = nr_crowded_waits ? bpf_map_lookup_elem(&crowded_waits, &tid) : NULL;
	if (!note || note->until == NO_STACK)
		return false;
	if (now <= note->until) {
		note->until = NO_STACK;
		return false;
	}
	note->until = 0;
	note->is_woken = true;
	return true;
}

/* The result of both: an index of wait_programs, or NR_WAIT_PROGRAMS: the wait has no stack. */
static __always_inline u32 choice_of(const struct wait_note *note, u64 now)
{
	return now <= note->until ? NR_WAIT_PROGRAMS : note->is_woken ? WAIT_IS_WOKEN : WAIT_IS_NOT_WOKEN;
}

static __noinline u32 crowded_wait_ends(u32 tid, u64 now)
{
	struct wait_note *note = bpf_map_lookup_elem(&crowded_waits, &tid);
	u32 choice;

	if (!note)
		return NR_WAIT_PROGRAMS;
	choice = choice_of(note, now);
	if (!bpf_map_delete_elem(&crowded_waits, &tid))
		__sync_fetch_and_add(&nr_crowded_waits, -1);
	return choice;
}

static __always_inline u32 wait_ends(u32 tid, u64 now)
{
	struct wait_note *note = slot_of_wait(tid);

	if (!note)
		return NR_WAIT_PROGRAMS;
	if (note->tid != tid)
		return nr_crowded_waits ? crowded_wait_ends(tid, now) : NR_WAIT_PROGRAMS;
	note->tid = 0;
	return choice_of(note, now);
}
