/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef TRACER_HELD_H
#define TRACER_HELD_H
/*
 * held.h - the deferred entries of system calls
 *
 * On most CPUs nothing else is recorded between the entry of most system calls and their exit. So
 * both become one record instead of two, or instead of three with the path.
 *
 * The program at the entry of a call does not write a record. It stores the entry in the control
 * page of its CPU's ring, with the path that the call was given: a deferred entry. If the exit of
 * the same call comes next, the exit writes one record for all, struct trace_record_call. Any other
 * record in this ring flushes the deferred entry first: the entry gets the record that it would
 * have had, with its own time, and shares it with its path.
 *
 * held_ns says which program may touch the deferred entry. 0: the next entry. A time: the program
 * that takes it. HELD_BUSY: the program that flushes it, until it has copied what it needs. So an
 * entry is recorded exactly once, however programs interrupt or preempt each other:
 * tracer/CONCURRENCY.md, "Deferred entries". tests/ring/test_held.c interrupts at every access.
 *
 * An exit writes the record of its call without a locked instruction: HELD_PLAIN tells the programs
 * that interrupt it. They take the slow path. As long as the exit is about to store to the
 * position, they do not touch it, but use a position ahead of it (held_position()); the exit
 * catches up afterwards. The exit adds to commit in a word of its own, until its sub-buffer is
 * closed: "Calls without a lock" in the same document.
 *
 * Example. read() enters at 1,000 ns: held_ns = 1000, nothing is recorded. Without an interrupt the
 * exit at 1,900 ns writes one record: entry at 1,000, elapsed 900, result. If a program in a timer
 * interrupt records an event at 1,500, it first sets held_ns = HELD_BUSY, writes the entry's record
 * with time 1,000, sets held_ns = 0, and then writes its own. The exit finds nothing deferred and
 * writes a record of its own.
 *
 * The includer defines what subbuf_write.h needs, HELD_SUBBUF_BYTES, HELD_HEADER(control, seq),
 * HELD_SWAP(p, v), and, as in record.bpf.h, struct recording, record_place(), place_record(),
 * record_head() and record_end_as(); also HELD_PUT_TEXT(to, text, bytes), which pads what it copies
 * with 0 to whole words. The rare paths may be out of line: HELD_CATCH_UP(control, cpu, position,
 * bytes), HELD_ADD_UP(control, cpu).
 */
#include <trace/subbuf.h>

#define HELD_BUSY (1ULL << 63)
#define HELD_PLAIN (HELD_BUSY | 1)
#define HELD_MORE 4u /* in held_kind: the call has a path, or its exit records more than the result */
#define HELD_INLINE static __attribute__((always_inline)) inline

/* Size of struct trace_sys_enter, or of its variants with arguments. */
HELD_INLINE trace_u32 held_entry_bytes(trace_u32 kind)
{
	return sizeof(struct trace_sys_enter) + 24 * kind;
}

HELD_INLINE trace_u32 held_kind(const struct subbuf_control *control)
{
	return SUBBUF_LOAD(&control->held_kind) & 3;
}

/* Bytes of the deferred path, NUL included; 0: none. The mask bounds
 * the number for the verifier. */
HELD_INLINE trace_u32 held_path_bytes(const struct subbuf_control *control)
{
	return SUBBUF_LOAD(&control->held_kind) >> 8 & 2047;
}

/* Is the call described by numbers alone? */
HELD_INLINE int held_is_plain(const struct subbuf_control *control)
{
	return control->held_kind < HELD_MORE;
}

/* Payload bytes of the entry and its path. */
HELD_INLINE trace_u32 held_bytes(const struct subbuf_control *control, trace_u32 path_bytes)
{
	trace_u32 bytes = held_entry_bytes(held_kind(control));

	return path_bytes ? bytes + sizeof(struct trace_sys_path) + ((path_bytes + 7) & ~7u) : bytes;
}

/* Copy entry and path. The function reads its values again, because a BPF program has few
 * registers and a short stack. */
HELD_INLINE void held_put(const struct subbuf_control *control, trace_u32 path_bytes, struct trace_sys_enter6 *entry)
{
	trace_u32 kind = held_kind(control);
	trace_u64 *path = (trace_u64 *)entry + held_entry_bytes(kind) / 8;

	*(trace_u64 *)entry = control->held_call;
	if (path_bytes) {
		*path = control->held_call; /* nr and abi; late = 0 */
		HELD_PUT_TEXT(path + 1, control->held_path, path_bytes);
	}
	if (kind == 0)
		return;
	entry->arg0 = control->held_args[0];
	entry->arg1 = control->held_args[1];
	entry->arg2 = control->held_args[2];
	if (kind == 1)
		return;
	entry->arg3 = control->held_args[3];
	entry->arg4 = control->held_args[4];
	entry->arg5 = control->held_args[5];
}

/* ---- records of calls, without a lock ---- */

#define HELD_EVENTS_SHIFT 26
#define HELD_SEQ_SHIFT 50
#define HELD_SEQ_MASK 0x3fffULL /* more than a ring has sub-buffers */
#define HELD_CATCHES 64 /* a try fails only if a program that records interrupted it */

/* Did we interrupt an exit that is writing the record of its call? Then we
 * may not move the position. */
HELD_INLINE int held_is_interrupted(const struct subbuf_control *control)
{
	return SUBBUF_LOAD(&control->held_ns) == HELD_PLAIN;
}

/* The position for a program that may have interrupted an exit. While the exit is about to store to
 * the position, this is a position ahead of it, past the bytes that the exit is reserving or has
 * just reserved. */
HELD_INLINE trace_u64 *held_position(struct subbuf_control *control)
{
	trace_u64 bytes = SUBBUF_LOAD(&control->plain_bytes), position;

	if (SUBBUF_LOAD(&control->ahead))
		return &control->ahead;
	if (!bytes)
		return &control->position;
	position = SUBBUF_LOAD(&control->position);
	if ((position & SUBBUF_OFFSET_MASK) + bytes < HELD_SUBBUF_BYTES)
		position += bytes;
	if (SUBBUF_CAS(&control->ahead, 0, position) == 0)
		SUBBUF_STORE(&control->ahead_begin, position);
	return &control->ahead;
}

/* Programs interrupted the exit that stored @position + @bytes. Set the position to where they
 * have moved the one ahead. */
HELD_INLINE void held_catch_up(struct subbuf_control *control, trace_u64 position, trace_u32 bytes)
{
	struct recording rest = {.bytes = bytes, .structural = false};
	trace_u64 ahead;

	for (int i = 0; i < HELD_CATCHES; i++) {
		ahead = SUBBUF_LOAD(&control->ahead);
		SUBBUF_STORE(&control->position, ahead);
		if (SUBBUF_CAS(&control->ahead, ahead, 0) == ahead)
			break;
	}
	if (SUBBUF_LOAD(&control->ahead_begin) != position + 2 * bytes)
		return;
	/* They loaded the position after our store, and skipped @bytes once
	 * more: turn these into padding. */
	place_record(&rest, control, position + bytes);
	rest.time = 0;
	record_end_as(&rest, TRACE_EV_padding, 0);
}

/* Reserve @bytes in the middle of the open sub-buffer. Returns SUBBUF_NO_POSITION if they do not
 * fit. held_ns is HELD_PLAIN. */
HELD_INLINE trace_u64 held_reserve(struct subbuf_control *control, trace_u32 cpu, trace_u32 bytes)
{
	trace_u64 position;
	int fits;

	SUBBUF_STORE(&control->plain_bytes, bytes);
	position = SUBBUF_LOAD(&control->position);
	fits = (position & SUBBUF_OFFSET_MASK) + bytes < HELD_SUBBUF_BYTES;
	if (fits)
		SUBBUF_STORE(&control->position, position + bytes);
	SUBBUF_STORE(&control->plain_bytes, 0);
	if (SUBBUF_LOAD(&control->ahead))
		HELD_CATCH_UP(control, cpu, position, bytes);
	return fits ? position : SUBBUF_NO_POSITION;
}

/* Add the uncommitted sums to commit. Do not call this after interrupting the exit that adds to
 * them. Returns true if that completed the sub-buffer. */
HELD_INLINE int held_add_up(struct subbuf_control *control)
{
	trace_u64 uncommitted = HELD_SWAP(&control->uncommitted, 0), newest, commit;
	trace_u32 bytes = uncommitted & ((1u << HELD_EVENTS_SHIFT) - 1);
	struct subbuf_header *header;

	if (!uncommitted)
		return 0;
	newest = SUBBUF_LOAD(&control->position) >> SUBBUF_OFFSET_BITS;
	header = HELD_HEADER(control, newest - ((newest - (uncommitted >> HELD_SEQ_SHIFT)) & HELD_SEQ_MASK));
	commit = SUBBUF_ADD(&header->commit, bytes + (uncommitted >> HELD_EVENTS_SHIFT & 0xffffff) * SUBBUF_COMMIT_RECORD) + bytes; /* [W2] */
	return (commit & (HELD_SUBBUF_BYTES - 1)) == 0;
}

/* The record in sub-buffer @seq is written: add it to the uncommitted
 * sums. held_ns is HELD_PLAIN. */
HELD_INLINE void held_commit(struct subbuf_control *control, trace_u32 cpu, trace_u64 seq, trace_u64 bytes, trace_u64 nr_events)
{
	trace_u64 uncommitted = SUBBUF_LOAD(&control->uncommitted);

	if ((uncommitted >> HELD_SEQ_SHIFT ^ seq) & HELD_SEQ_MASK) {
		HELD_ADD_UP(control, cpu);
		uncommitted = (seq & HELD_SEQ_MASK) << HELD_SEQ_SHIFT;
	}
	SUBBUF_STORE(&control->uncommitted, uncommitted + bytes + (nr_events << HELD_EVENTS_SHIFT));
}

/* Write a record of its own for the entry that was taken. */
HELD_INLINE void held_record(struct subbuf_control *control, trace_u32 cpu, trace_u64 held_ns)
{
	trace_u32 head_bytes = held_path_bytes(control) ? sizeof(struct trace_record_call) : 0;
	struct recording recording;
	void *payload = record_place(&recording, control, cpu, false, head_bytes + held_bytes(control, held_path_bytes(control)), held_ns, false);

	if (payload) {
		held_put(control, held_path_bytes(control), payload + head_bytes);
		record_end_as(&recording, (head_bytes ? TRACE_RECORD_PATH_ENTRY : TRACE_EV_sys_enter) + held_kind(control), head_bytes ? 2 : 1);
	} else if (head_bytes) {
		SUBBUF_ADD(&control->discarded, 1); /* two events are lost; only one was counted */
	}
	SUBBUF_STORE(&control->held_ns, 0); /* [H2] after all was copied; pairs with [H1] */
}

/* Flush the deferred entry, if there is one. In any context. */
HELD_INLINE void held_settle(struct subbuf_control *control, trace_u32 cpu)
{
	trace_u64 held_ns = SUBBUF_LOAD(&control->held_ns);

	if (held_ns - 1 >= HELD_BUSY - 1 || SUBBUF_CAS(&control->held_ns, held_ns, HELD_BUSY) != held_ns)
		return; /* 0, or busy */
	/* for a held_take() that we interrupted */
	SUBBUF_STORE(&control->nr_settled, SUBBUF_LOAD(&control->nr_settled) + 1);
	held_record(control, cpu, held_ns);
}

/*
 * Defer an entry. @call is the first word of struct trace_sys_enter. The caller has filled
 * held_args as @kind says, and @path_bytes of held_path. @kind also has HELD_MORE if the call is
 * not plain. @thread distinguishes the call from all others in progress. held_ns was 0 [H1], and
 * the caller is not preempted: no other program writes here, and an interrupting program reads
 * nothing before held_ns is a time.
 */
HELD_INLINE void held_begin(struct subbuf_control *control, trace_u64 thread, trace_u64 call, trace_u32 kind, trace_u32 path_bytes)
{
	control->held_thread = thread;
	control->held_call = call;
	control->held_kind = kind | path_bytes << 8;
	SUBBUF_STORE(&control->held_ns, SUBBUF_CLOCK());
}

/* Called by an exit: is the deferred entry that of this call? */
HELD_INLINE int held_is(const struct subbuf_control *control, trace_u64 thread, trace_u32 nr)
{
	return control->held_thread == thread && (trace_u32)control->held_call == nr;
}

/*
 * Take the deferred entry: returns its time, or 0. The caller is not preempted, so a plain store is
 * enough: a program that interrupted us between the load and the store has flushed the entry, and
 * nr_settled shows it.
 */
HELD_INLINE trace_u64 held_take(struct subbuf_control *control, trace_u32 cpu)
{
	trace_u64 nr_settled = SUBBUF_LOAD(&control->nr_settled);
	trace_u64 held_ns = SUBBUF_LOAD(&control->held_ns);

	if (held_ns - 1 >= HELD_BUSY - 1) /* 0, or busy */
		return 0;
	SUBBUF_STORE(&control->held_ns, HELD_PLAIN);
	if (SUBBUF_LOAD(&control->nr_settled) == nr_settled)
		return held_ns;
	SUBBUF_STORE(&control->held_ns, 0);
	HELD_ADD_UP(control, cpu); /* as after the record of a call */
	return 0;
}

/* Write one record for the entry that was taken and the exit that returns @ret, in the middle of
 * the open sub-buffer. Returns 0 if the record does not fit there. */
HELD_INLINE int held_record_call(struct subbuf_control *control, trace_u32 cpu, int is_plain, trace_u64 held_ns, trace_u64 ret)
{
	trace_u32 path_bytes = is_plain ? 0 : held_path_bytes(control);
	trace_u64 position, now, base;
	struct recording recording = {.structural = false};
	struct trace_record_call *call;

	recording.bytes = sizeof(struct trace_record) + sizeof(*call) + held_bytes(control, path_bytes);
	position = held_reserve(control, cpu, recording.bytes);
	if (position == SUBBUF_NO_POSITION)
		return 0;
	call = place_record(&recording, control, position);
	SUBBUF_STORE((trace_u64 *)recording.record, 0); /* as in record_place() */
	now = SUBBUF_CLOCK();
	base = SUBBUF_LOAD(&recording.header->base);
	recording.time = held_ns;
	if (held_ns < base || (now - base) >> 32 != 0) {
		record_end_as(&recording, TRACE_EV_padding, 0);
		return 0;
	}
	call->elapsed = now > held_ns ? now - held_ns : 0; /* the kernel's fast clock may step back by some ns */
	call->exit.ret = ret;
	held_put(control, path_bytes, (struct trace_sys_enter6 *)(call + 1));
	record_head(&recording, (path_bytes ? TRACE_RECORD_PATH_CALL : TRACE_RECORD_CALL) + held_kind(control));
	held_commit(control, cpu, position >> SUBBUF_OFFSET_BITS, recording.bytes, path_bytes ? 3 : 2);
	SUBBUF_STORE(&control->held_ns, 0); /* [H2] */
	/* A program that interrupted us and closed the sub-buffer left the sums to us. From now on
	 * the program that closes a sub-buffer adds them up. */
	now = SUBBUF_LOAD(&control->position);
	if ((now ^ position) >> SUBBUF_OFFSET_BITS || (now & SUBBUF_OFFSET_MASK) >= HELD_SUBBUF_BYTES)
		HELD_ADD_UP(control, cpu);
	return 1;
}

/*
 * The exit of call @nr of @thread. Returns 1 if its entry was deferred and both now have their
 * record. Returns 0 if the exit is to be recorded by itself; that flushes an entry that is still
 * deferred, as any record does. The caller is not preempted. @is_plain: a compile-time constant; 1
 * only if held_is_plain().
 */
HELD_INLINE int held_end(struct subbuf_control *control, trace_u32 cpu, int is_plain, trace_u64 thread, trace_u32 nr, trace_u64 ret)
{
	trace_u64 held_ns = held_is(control, thread, nr) ? held_take(control, cpu) : 0;

	if (held_ns == 0)
		return 0;
	if (held_record_call(control, cpu, is_plain, held_ns, ret))
		return 1;
	SUBBUF_STORE(&control->held_ns, held_ns);
	HELD_ADD_UP(control, cpu); /* as above */
	return 0;
}

#endif
