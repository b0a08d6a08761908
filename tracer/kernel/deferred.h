/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef TRACER_DEFERRED_H
#define TRACER_DEFERRED_H
/*
 * deferred.h - the deferred entries of system calls
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
 * deferred_ns says which program may touch the deferred entry. 0: the next entry. A time: the
 * program that takes it. DEFERRED_BUSY: the program that flushes it, until it has copied what it
 * needs. So an entry is recorded exactly once, however programs interrupt or preempt each other:
 * tracer/CONCURRENCY.md, "Deferred entries". tests/ring/test_deferred.c interrupts at every access.
 *
 * An exit writes the record of its call without a locked instruction: DEFERRED_TAKEN tells the
 * programs that interrupt it. They take the slow path. As long as the exit is about to store to the
 * position, they do not touch it, but use a shadow position ahead of it (deferred_position()); the
 * exit catches up afterwards. The exit adds to commit in a word of its own, until its sub-buffer is
 * closed: "Calls without a lock" in the same document.
 *
 * Example. read() enters at 1,000 ns: deferred_ns = 1000, nothing is recorded. Without an interrupt
 * the exit at 1,900 ns writes one record: entry at 1,000, elapsed 900, result. If a program in a
 * timer interrupt records an event at 1,500, it first sets deferred_ns = DEFERRED_BUSY, writes the
 * entry's record with time 1,000, sets deferred_ns = 0, and then writes its own. The exit finds
 * nothing deferred and writes a record of its own.
 *
 * The includer defines what subbuf_write.h needs, DEFERRED_SUBBUF_BYTES, DEFERRED_HEADER(control,
 * seq), DEFERRED_SWAP(p, v), and, as in record.bpf.h, struct open_record, record_reserve(),
 * record_emplace(), record_head() and record_end_as(); also DEFERRED_PUT_TEXT(to, text, bytes),
 * which pads what it copies with 0 to whole words. The rare paths may be out of line:
 * DEFERRED_SYNC_SHADOW(control, cpu, position, bytes), DEFERRED_ADD_UP(control, cpu).
 */
#include <trace/subbuf.h>

#define DEFERRED_BUSY	(1ULL << 63)
#define DEFERRED_TAKEN	(DEFERRED_BUSY | 1)
#define DEFERRED_MORE	4u /* in deferred_kind: the call has a path, or its exit records more than the result */
#define DEFERRED_INLINE static __attribute__((always_inline)) inline

/* Size of struct trace_sys_enter, or of its variants with arguments. */
DEFERRED_INLINE trace_u32 deferred_entry_bytes(trace_u32 kind)
{
	return sizeof(struct trace_sys_enter) + 24 * kind;
}

DEFERRED_INLINE trace_u32 deferred_kind(const struct subbuf_control *control)
{
	return SUBBUF_LOAD(&control->deferred_kind) & 3;
}

/* Bytes of the deferred path, NUL included; 0: none. The mask bounds
 * the number for the verifier. */
DEFERRED_INLINE trace_u32 deferred_path_bytes(const struct subbuf_control *control)
{
	return SUBBUF_LOAD(&control->deferred_kind) >> 8 & 2047;
}

/* Is the call described by numbers alone? */
DEFERRED_INLINE int deferred_is_plain(const struct subbuf_control *control)
{
	return control->deferred_kind < DEFERRED_MORE;
}

/* Payload bytes of the entry and its path. */
DEFERRED_INLINE trace_u32 deferred_bytes(const struct subbuf_control *control, trace_u32 path_bytes)
{
	trace_u32 bytes = deferred_entry_bytes(deferred_kind(control));

	return path_bytes ? bytes + sizeof(struct trace_sys_path) + ((path_bytes + 7) & ~7u) : bytes;
}

/* Copy entry and path. The function reads its values again, because a BPF program has few
 * registers and a short stack. */
DEFERRED_INLINE void deferred_put(const struct subbuf_control *control, trace_u32 path_bytes,
				  struct trace_sys_enter6 *entry)
{
	trace_u32 kind = deferred_kind(control);
	trace_u64 *path = (trace_u64 *)entry + deferred_entry_bytes(kind) / 8;

	*(trace_u64 *)entry = control->deferred_call;
	if (path_bytes) {
		*path = control->deferred_call; /* nr and abi; late = 0 */
		DEFERRED_PUT_TEXT(path + 1, control->deferred_path, path_bytes);
	}
	if (kind == 0)
		return;
	entry->arg0 = control->deferred_args[0];
	entry->arg1 = control->deferred_args[1];
	entry->arg2 = control->deferred_args[2];
	if (kind == 1)
		return;
	entry->arg3 = control->deferred_args[3];
	entry->arg4 = control->deferred_args[4];
	entry->arg5 = control->deferred_args[5];
}

/* ---- records of calls, without a lock ---- */

#define DEFERRED_EVENTS_SHIFT 26
#define DEFERRED_SEQ_SHIFT    50
#define DEFERRED_SEQ_MASK     0x3fffULL /* more than a ring has sub-buffers */
#define DEFERRED_TRIES	      64	/* a try fails only if a program that records interrupted it */

/* Did we interrupt an exit that is writing the record of its call? Then we
 * may not move the position. */
DEFERRED_INLINE int deferred_is_interrupted(const struct subbuf_control *control)
{
	return SUBBUF_LOAD(&control->deferred_ns) == DEFERRED_TAKEN;
}

/* The position for a program that may have interrupted an exit. While the exit is about to store to
 * the position, this is the shadow position, past the bytes that the exit is reserving or has
 * just reserved. */
DEFERRED_INLINE trace_u64 *deferred_position(struct subbuf_control *control)
{
	trace_u64 bytes = SUBBUF_LOAD(&control->tail_reserved), position;

	if (SUBBUF_LOAD(&control->shadow))
		return &control->shadow;
	if (!bytes)
		return &control->position;
	position = SUBBUF_LOAD(&control->position);
	if ((position & SUBBUF_OFFSET_MASK) + bytes < DEFERRED_SUBBUF_BYTES)
		position += bytes;
	if (SUBBUF_CAS(&control->shadow, 0, position) == 0)
		SUBBUF_STORE(&control->shadow_begin, position);
	return &control->shadow;
}

/* Programs interrupted the exit that stored @position + @bytes. Set the position to where they
 * have moved the shadow position. */
DEFERRED_INLINE void deferred_sync_shadow(struct subbuf_control *control, trace_u64 position, trace_u32 bytes)
{
	struct open_record rest = {.bytes = bytes, .structural = false};
	trace_u64 shadow;

	for (int i = 0; i < DEFERRED_TRIES; i++) {
		shadow = SUBBUF_LOAD(&control->shadow);
		SUBBUF_STORE(&control->position, shadow);
		if (SUBBUF_CAS(&control->shadow, shadow, 0) == shadow)
			break;
	}
	if (SUBBUF_LOAD(&control->shadow_begin) != position + 2 * bytes)
		return;
	/* They loaded the position after our store, and skipped @bytes once
	 * more: turn these into padding. */
	record_emplace(&rest, control, position + bytes);
	rest.time = 0;
	record_end_as(&rest, TRACE_EV_padding, 0);
}

/* Reserve @bytes in the middle of the open sub-buffer. Returns SUBBUF_NO_POSITION if they do not
 * fit. deferred_ns is DEFERRED_TAKEN. */
DEFERRED_INLINE trace_u64 deferred_reserve(struct subbuf_control *control, trace_u32 cpu, trace_u32 bytes)
{
	trace_u64 position;
	int fits;

	SUBBUF_STORE(&control->tail_reserved, bytes);
	position = SUBBUF_LOAD(&control->position);
	fits = (position & SUBBUF_OFFSET_MASK) + bytes < DEFERRED_SUBBUF_BYTES;
	if (fits)
		SUBBUF_STORE(&control->position, position + bytes);
	SUBBUF_STORE(&control->tail_reserved, 0);
	if (SUBBUF_LOAD(&control->shadow))
		DEFERRED_SYNC_SHADOW(control, cpu, position, bytes);
	return fits ? position : SUBBUF_NO_POSITION;
}

/* Add the uncommitted sums to commit. Do not call this after interrupting the exit that adds to
 * them. Returns true if that completed the sub-buffer. */
DEFERRED_INLINE int deferred_add_up(struct subbuf_control *control)
{
	trace_u64 uncommitted = DEFERRED_SWAP(&control->uncommitted, 0), newest, commit;
	trace_u32 bytes = uncommitted & ((1u << DEFERRED_EVENTS_SHIFT) - 1);
	struct subbuf_header *header;

	if (!uncommitted)
		return 0;
	newest = SUBBUF_LOAD(&control->position) >> SUBBUF_OFFSET_BITS;
	header = DEFERRED_HEADER(control,
				 newest - ((newest - (uncommitted >> DEFERRED_SEQ_SHIFT)) & DEFERRED_SEQ_MASK));
	/* [W2] */
	commit = SUBBUF_ADD(&header->commit,
			    bytes + (uncommitted >> DEFERRED_EVENTS_SHIFT & 0xffffff) * SUBBUF_COMMIT_RECORD) +
		 bytes;
	return (commit & (DEFERRED_SUBBUF_BYTES - 1)) == 0;
}

/* The record in sub-buffer @seq is written: add it to the uncommitted
 * sums. deferred_ns is DEFERRED_TAKEN. */
DEFERRED_INLINE void deferred_commit(struct subbuf_control *control, trace_u32 cpu, trace_u64 seq, trace_u64 bytes,
				     trace_u64 nr_events)
{
	trace_u64 uncommitted = SUBBUF_LOAD(&control->uncommitted);

	/* The sums can still be those of a closed sub-buffer: a program added them up and was
	 * preempted by calls before it closed the sub-buffer. */
	if ((uncommitted >> DEFERRED_SEQ_SHIFT ^ seq) & DEFERRED_SEQ_MASK) {
		DEFERRED_ADD_UP(control, cpu);
		uncommitted = (seq & DEFERRED_SEQ_MASK) << DEFERRED_SEQ_SHIFT;
	}
	SUBBUF_STORE(&control->uncommitted, uncommitted + bytes + (nr_events << DEFERRED_EVENTS_SHIFT));
}

/* Write a record of its own for the entry that was taken. */
DEFERRED_INLINE void deferred_record(struct subbuf_control *control, trace_u32 cpu, trace_u64 deferred_ns)
{
	trace_u32 head_bytes = deferred_path_bytes(control) ? sizeof(struct trace_record_call) : 0;
	struct open_record recording;
	void *payload = record_reserve(&recording, control, cpu, false,
				       head_bytes + deferred_bytes(control, deferred_path_bytes(control)), deferred_ns,
				       false);

	if (payload) {
		deferred_put(control, deferred_path_bytes(control), payload + head_bytes);
		record_end_as(&recording,
			      (head_bytes ? TRACE_RECORD_PATH_ENTRY : TRACE_EV_sys_enter) + deferred_kind(control),
			      head_bytes ? 2 : 1);
	} else if (head_bytes) {
		SUBBUF_ADD(&control->discarded, 1); /* two events are lost; only one was counted */
	}
	SUBBUF_STORE(&control->deferred_ns, 0); /* [H2] after all was copied; pairs with [H1] */
}

/* Flush the deferred entry, if there is one. In any context. */
DEFERRED_INLINE void deferred_flush(struct subbuf_control *control, trace_u32 cpu)
{
	trace_u64 deferred_ns = SUBBUF_LOAD(&control->deferred_ns);

	if (deferred_ns - 1 >= DEFERRED_BUSY - 1 ||
	    SUBBUF_CAS(&control->deferred_ns, deferred_ns, DEFERRED_BUSY) != deferred_ns)
		return; /* 0, or busy */
	/* for a deferred_take() that we interrupted */
	SUBBUF_STORE(&control->nr_flushed, SUBBUF_LOAD(&control->nr_flushed) + 1);
	deferred_record(control, cpu, deferred_ns);
}

/*
 * Defer an entry. @call is the first word of struct trace_sys_enter. The caller has filled
 * deferred_args as @kind says, and @path_bytes of deferred_path. @kind also has DEFERRED_MORE if
 * the call is not plain. @thread distinguishes the call from all others in progress. deferred_ns
 * was 0 [H1], and the caller is not preempted: no other program writes here, and an interrupting
 * program reads nothing before deferred_ns is a time.
 */
DEFERRED_INLINE void deferred_begin(struct subbuf_control *control, trace_u64 thread, trace_u64 call, trace_u32 kind,
				    trace_u32 path_bytes)
{
	control->deferred_thread = thread;
	control->deferred_call = call;
	control->deferred_kind = kind | path_bytes << 8;
	SUBBUF_STORE(&control->deferred_ns, SUBBUF_CLOCK());
}

/* Called by an exit: is the deferred entry that of this call? */
DEFERRED_INLINE int deferred_is(const struct subbuf_control *control, trace_u64 thread, trace_u32 nr)
{
	return control->deferred_thread == thread && (trace_u32)control->deferred_call == nr;
}

/*
 * Take the deferred entry: returns its time, or 0. The caller is not preempted, so a plain store is
 * enough: a program that interrupted us between the load and the store has flushed the entry, and
 * nr_flushed shows it.
 */
DEFERRED_INLINE trace_u64 deferred_take(struct subbuf_control *control, trace_u32 cpu)
{
	trace_u64 nr_flushed = SUBBUF_LOAD(&control->nr_flushed);
	trace_u64 deferred_ns = SUBBUF_LOAD(&control->deferred_ns);

	if (deferred_ns - 1 >= DEFERRED_BUSY - 1) /* 0, or busy */
		return 0;
	SUBBUF_STORE(&control->deferred_ns, DEFERRED_TAKEN);
	if (SUBBUF_LOAD(&control->nr_flushed) == nr_flushed)
		return deferred_ns;
	SUBBUF_STORE(&control->deferred_ns, 0);
	DEFERRED_ADD_UP(control, cpu); /* as after the record of a call */
	return 0;
}

/* Write one record for the entry that was taken and the exit that returns @ret, in the middle of
 * the open sub-buffer. Returns 0 if the record does not fit there. */
DEFERRED_INLINE int deferred_record_call(struct subbuf_control *control, trace_u32 cpu, int is_plain,
					 trace_u64 deferred_ns, trace_u64 ret)
{
	trace_u32 path_bytes = is_plain ? 0 : deferred_path_bytes(control);
	trace_u64 position, now, base;
	struct open_record recording = {.structural = false};
	struct trace_record_call *call;

	recording.bytes = sizeof(struct trace_record) + sizeof(*call) + deferred_bytes(control, path_bytes);
	position = deferred_reserve(control, cpu, recording.bytes);
	if (position == SUBBUF_NO_POSITION)
		return 0;
	call = record_emplace(&recording, control, position);
	SUBBUF_STORE((trace_u64 *)recording.record, 0); /* as in record_reserve() */
	now = SUBBUF_CLOCK();
	base = SUBBUF_LOAD(&recording.header->base);
	recording.time = deferred_ns;
	if (deferred_ns < base || (now - base) >> 32 != 0) {
		record_end_as(&recording, TRACE_EV_padding, 0);
		return 0;
	}
	/* the kernel's fast clock may step back by some ns */
	call->elapsed = now > deferred_ns ? now - deferred_ns : 0;
	call->exit.ret = ret;
	deferred_put(control, path_bytes, (struct trace_sys_enter6 *)(call + 1));
	record_head(&recording, (path_bytes ? TRACE_RECORD_PATH_CALL : TRACE_RECORD_CALL) + deferred_kind(control));
	deferred_commit(control, cpu, position >> SUBBUF_OFFSET_BITS, recording.bytes, path_bytes ? 3 : 2);
	SUBBUF_STORE(&control->deferred_ns, 0); /* [H2] */
	/* A program that interrupted us and closed the sub-buffer left the sums to us. From now on
	 * the program that closes a sub-buffer adds them up. */
	now = SUBBUF_LOAD(&control->position);
	if ((now ^ position) >> SUBBUF_OFFSET_BITS || (now & SUBBUF_OFFSET_MASK) >= DEFERRED_SUBBUF_BYTES)
		DEFERRED_ADD_UP(control, cpu);
	return 1;
}

/*
 * The exit of call @nr of @thread. Returns 1 if its entry was deferred and both now have their
 * record. Returns 0 if the exit is to be recorded by itself; that flushes an entry that is still
 * deferred, as any record does. The caller is not preempted. @is_plain: a compile-time constant; 1
 * only if deferred_is_plain().
 */
DEFERRED_INLINE int deferred_end(struct subbuf_control *control, trace_u32 cpu, int is_plain, trace_u64 thread,
				 trace_u32 nr, trace_u64 ret)
{
	trace_u64 deferred_ns = deferred_is(control, thread, nr) ? deferred_take(control, cpu) : 0;

	if (deferred_ns == 0)
		return 0;
	if (deferred_record_call(control, cpu, is_plain, deferred_ns, ret))
		return 1;
	SUBBUF_STORE(&control->deferred_ns, deferred_ns);
	DEFERRED_ADD_UP(control, cpu); /* as above */
	return 0;
}

#endif
