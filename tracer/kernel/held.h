/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef TRACER_HELD_H
#define TRACER_HELD_H
/*
 * held.h - a system call between whose entry and exit its CPU records nothing else, as most are, is one record instead of two, or of three with its path.
 *
 * An entry is not recorded, but held in the control page of its CPU's ring, with the path that the call is given. When the exit of the same call comes
 * next, all become one record, struct trace_record_call. Whatever else comes settles the entry first: it gets the record that it would have had, with
 * its own time; one record with its path.
 *
 * held_ns says who may touch what is held: 0, the next entry; a time, whoever takes it; HELD_BUSY, who settles it, until it has copied what it needs. So
 * an entry is recorded once, whoever interrupts or preempts whom: tracer/CONCURRENCY.md, "Held entries". tests/ring/test_held.c interrupts at every access.
 *
 * The record of a call, at its exit, is made without a locked instruction: HELD_PLAIN tells those who interrupt it. They take the long way, which does not touch the
 * position as long as somebody is about to store to it, but one that is ahead of it (held_position()); whom they interrupted catches up afterwards. And what it adds
 * to commit waits in a word that is its own, until its sub-buffer is closed: "Calls without a lock" there.
 *
 * The includer has what subbuf_write.h asks for, HELD_SUBBUF_BYTES, HELD_HEADER(control, seq), HELD_SWAP(p, v), and as record.bpf.h has them struct recording,
 * record_place(), place_record(), record_head() and record_end_as(), and HELD_PUT_TEXT(to, text, bytes), which pads what it copies with 0 to whole words. What is
 * rare it may have out of line: HELD_CATCH_UP(control, cpu, position, bytes), HELD_ADD_UP(control, cpu).
 */
#include <trace/subbuf.h>

#define HELD_BUSY (1ULL << 63)
#define HELD_PLAIN (HELD_BUSY | 1)
#define HELD_MORE 4u /* in held_kind: the call has a path, or its exit more to tell than the result */
#define HELD_INLINE static __attribute__((always_inline)) inline

/* struct trace_sys_enter, or its kin with arguments. */
HELD_INLINE trace_u32 held_entry_bytes(trace_u32 kind)
{
	return sizeof(struct trace_sys_enter) + 24 * kind;
}

HELD_INLINE trace_u32 held_kind(const struct subbuf_control *control)
{
	return SUBBUF_LOAD(&control->held_kind) & 3;
}

/* Of the path that is held, NUL included; 0: none is. The number is bounded for whoever does not trust it. */
HELD_INLINE trace_u32 held_path_bytes(const struct subbuf_control *control)
{
	return SUBBUF_LOAD(&control->held_kind) >> 8 & 2047;
}

/* Is there nothing to the call but numbers? */
HELD_INLINE int held_is_plain(const struct subbuf_control *control)
{
	return control->held_kind < HELD_MORE;
}

/* Payload of the entry, and of its path. */
HELD_INLINE trace_u32 held_bytes(const struct subbuf_control *control, trace_u32 path_bytes)
{
	trace_u32 bytes = held_entry_bytes(held_kind(control));

	return path_bytes ? bytes + sizeof(struct trace_sys_path) + ((path_bytes + 7) & ~7u) : bytes;
}

/* All of that. What it needs to know is read again, for a program has few registers and a short stack. */
HELD_INLINE void held_put(const struct subbuf_control *control, trace_u32 path_bytes, struct trace_sys_enter6 *entry)
{
	trace_u32 kind = held_kind(control);
	trace_u64 *path = (trace_u64 *)entry + held_entry_bytes(kind) / 8;

	*(trace_u64 *)entry = control->held_call;
	if (path_bytes) {
		*path = control->held_call; /* nr, abi; late: it was not */
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
#define HELD_SEQ_MASK 0x3fffULL /* more than there are sub-buffers */
#define HELD_CATCHES 64 /* each fails only when it was interrupted by somebody who recorded */

/* Is the record of a call in the making, which we have interrupted? Then the position is not ours to move. */
HELD_INLINE int held_is_interrupted(const struct subbuf_control *control)
{
	return SUBBUF_LOAD(&control->held_ns) == HELD_PLAIN;
}

/* The position for those who interrupted: while somebody is about to store to it, one that leaves him the place that he is about to take, or has just taken. */
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

/* Who stored @position + @bytes was interrupted around that: the position is what it has come to meanwhile. */
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
	/* They came behind the store, and left the place another time. */
	place_record(&rest, control, position + bytes);
	rest.time = 0;
	record_end_as(&rest, TRACE_EV_padding, 0);
}

/* Room for @bytes in the middle of the open sub-buffer; SUBBUF_NO_POSITION: there is none. held_ns is HELD_PLAIN. */
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

/* What is not committed yet is. Not where we have interrupted who adds to it. True: that completed its sub-buffer. */
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

/* A record in sub-buffer @seq stands. held_ns is HELD_PLAIN. */
HELD_INLINE void held_commit(struct subbuf_control *control, trace_u32 cpu, trace_u64 seq, trace_u64 bytes, trace_u64 nr_events)
{
	trace_u64 uncommitted = SUBBUF_LOAD(&control->uncommitted);

	if ((uncommitted >> HELD_SEQ_SHIFT ^ seq) & HELD_SEQ_MASK) {
		HELD_ADD_UP(control, cpu);
		uncommitted = (seq & HELD_SEQ_MASK) << HELD_SEQ_SHIFT;
	}
	SUBBUF_STORE(&control->uncommitted, uncommitted + bytes + (nr_events << HELD_EVENTS_SHIFT));
}

/* The entry that was taken gets a record of its own. */
HELD_INLINE void held_record(struct subbuf_control *control, trace_u32 cpu, trace_u64 held_ns)
{
	trace_u32 head_bytes = held_path_bytes(control) ? sizeof(struct trace_record_call) : 0;
	struct recording recording;
	void *payload = record_place(&recording, control, cpu, false, head_bytes + held_bytes(control, held_path_bytes(control)), held_ns, false);

	if (payload) {
		held_put(control, held_path_bytes(control), payload + head_bytes);
		record_end_as(&recording, (head_bytes ? TRACE_RECORD_PATH_ENTRY : TRACE_EV_sys_enter) + held_kind(control), head_bytes ? 2 : 1);
	} else if (head_bytes) {
		SUBBUF_ADD(&control->discarded, 1); /* two events are; one was counted */
	}
	SUBBUF_STORE(&control->held_ns, 0); /* [H2] after all was copied; pairs with [H1] */
}

/* What is held, if anything, gets its record. In any context. */
HELD_INLINE void held_settle(struct subbuf_control *control, trace_u32 cpu)
{
	trace_u64 held_ns = SUBBUF_LOAD(&control->held_ns);

	if (held_ns - 1 >= HELD_BUSY - 1 || SUBBUF_CAS(&control->held_ns, held_ns, HELD_BUSY) != held_ns)
		return; /* 0, or busy */
	SUBBUF_STORE(&control->nr_settled, SUBBUF_LOAD(&control->nr_settled) + 1); /* for held_take() that we interrupted */
	held_record(control, cpu, held_ns);
}

/*
 * Hold an entry: @call is the first word of struct trace_sys_enter, @kind tells how many of held_args and @path_bytes how much of held_path stand already;
 * of a call that is not plain @kind has HELD_MORE, too. @thread tells the call from all others that may be under way. held_ns was 0 [H1], and the caller is
 * not preempted: nobody else writes here, and who interrupts us reads nothing before held_ns is a time.
 */
HELD_INLINE void held_begin(struct subbuf_control *control, trace_u64 thread, trace_u64 call, trace_u32 kind, trace_u32 path_bytes)
{
	control->held_thread = thread;
	control->held_call = call;
	control->held_kind = kind | path_bytes << 8;
	SUBBUF_STORE(&control->held_ns, SUBBUF_CLOCK());
}

/* Is it the entry of this call that is held? Asked by its exit. */
HELD_INLINE int held_is(const struct subbuf_control *control, trace_u64 thread, trace_u32 nr)
{
	return control->held_thread == thread && (trace_u32)control->held_call == nr;
}

/*
 * Take what is held: its time, or 0. By a caller that is not preempted, so a plain store does: who interrupted us between the look and the store has
 * settled it, and says so.
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
	HELD_ADD_UP(control, cpu); /* as behind the record of a call */
	return 0;
}

/* One record for what was taken and the exit that returns @ret, in the middle of the open sub-buffer; 0: there is no place for it. */
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
	/* Who interrupted us and closed the sub-buffer left that to us; from now on whoever closes it adds up. */
	now = SUBBUF_LOAD(&control->position);
	if ((now ^ position) >> SUBBUF_OFFSET_BITS || (now & SUBBUF_OFFSET_MASK) >= HELD_SUBBUF_BYTES)
		HELD_ADD_UP(control, cpu);
	return 1;
}

/*
 * The exit of call @nr of @thread: 1 when its entry was held, and both have their record; 0: the exit is to be recorded by itself, and if the entry is held
 * still that settles it, as anything would. The caller is not preempted. @is_plain: a constant; if so held_is_plain() has said it
 */
HELD_INLINE int held_end(struct subbuf_control *control, trace_u32 cpu, int is_plain, trace_u64 thread, trace_u32 nr, trace_u64 ret)
{
	trace_u64 held_ns = held_is(control, thread, nr) ? held_take(control, cpu) : 0;

	if (held_ns == 0)
		return 0;
	if (held_record_call(control, cpu, is_plain, held_ns, ret))
		return 1;
	SUBBUF_STORE(&control->held_ns, held_ns);
	HELD_ADD_UP(control, cpu); /* the same */
	return 0;
}

#endif
