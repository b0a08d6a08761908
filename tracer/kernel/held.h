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
 * held_ns says who may touch what is held: 0, the next entry; a time, whoever takes it; HELD_BUSY, who did, until it has copied what it needs. So
 * an entry is recorded once, whoever interrupts or preempts whom: tracer/CONCURRENCY.md, "Held entries". tests/test_held.c interrupts at every access.
 *
 * The includer has what subbuf_write.h asks for, HELD_SUBBUF_BYTES, and as record.bpf.h has them struct recording, record_place(), place_record() and
 * record_end_as(), and HELD_PUT_TEXT(to, text, bytes), which pads what it copies with 0 to whole words.
 */
#include <trace/subbuf.h>

#define HELD_BUSY (1ULL << 63)
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

/* The entry that was taken gets a record of its own. */
HELD_INLINE void held_record(struct subbuf_control *control, trace_u32 cpu, trace_u64 held_ns)
{
	trace_u32 head_bytes = held_path_bytes(control) ? sizeof(struct trace_record_call) : 0;
	struct recording recording;
	void *payload = record_place(&recording, control, cpu, false, head_bytes + held_bytes(control, held_path_bytes(control)), held_ns);

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

	if (held_ns == 0 || held_ns == HELD_BUSY || SUBBUF_CAS(&control->held_ns, held_ns, HELD_BUSY) != held_ns)
		return;
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
HELD_INLINE trace_u64 held_take(struct subbuf_control *control)
{
	trace_u64 nr_settled = SUBBUF_LOAD(&control->nr_settled);
	trace_u64 held_ns = SUBBUF_LOAD(&control->held_ns);

	if (held_ns - 1 >= HELD_BUSY - 1) /* 0, or HELD_BUSY */
		return 0;
	SUBBUF_STORE(&control->held_ns, HELD_BUSY);
	if (SUBBUF_LOAD(&control->nr_settled) == nr_settled)
		return held_ns;
	SUBBUF_STORE(&control->held_ns, 0);
	return 0;
}

/* One record for what was taken and the exit that returns @ret, in the middle of the open sub-buffer; 0: there is no place for it. */
HELD_INLINE int held_record_call(struct subbuf_control *control, int is_plain, trace_u64 held_ns, trace_u64 ret)
{
	trace_u32 path_bytes = is_plain ? 0 : held_path_bytes(control);
	trace_u64 position = SUBBUF_LOAD(&control->position), now, base;
	struct recording recording = {.structural = false};
	struct trace_record_call *call;

	recording.bytes = sizeof(struct trace_record) + sizeof(*call) + held_bytes(control, path_bytes);
	if ((position & SUBBUF_OFFSET_MASK) + recording.bytes >= HELD_SUBBUF_BYTES ||
	    SUBBUF_CAS(&control->position, position, position + recording.bytes) != position)
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
	if (path_bytes)
		record_end_as(&recording, TRACE_RECORD_PATH_CALL + held_kind(control), 3);
	else
		record_end_as(&recording, TRACE_RECORD_CALL + held_kind(control), 2);
	SUBBUF_STORE(&control->held_ns, 0); /* [H2] */
	return 1;
}

/*
 * The exit of call @nr of @thread: 1 when its entry was held, and both have their record; 0: the exit is to be recorded by itself, and if the entry is held
 * still that settles it, as anything would. The caller is not preempted. @is_plain: a constant; if so held_is_plain() has said it
 */
HELD_INLINE int held_end(struct subbuf_control *control, int is_plain, trace_u64 thread, trace_u32 nr, trace_u64 ret)
{
	trace_u64 held_ns = held_is(control, thread, nr) ? held_take(control) : 0;

	if (held_ns == 0)
		return 0;
	if (held_record_call(control, is_plain, held_ns, ret))
		return 1;
	SUBBUF_STORE(&control->held_ns, held_ns);
	return 0;
}

#endif
