/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_deferred.c - deferred entries of system calls (tracer/kernel/deferred.h).
 *
 * A program that interrupts the deferring code at any access to shared memory, and a second one
 * that interrupts the first at any access, never make an entry appear twice, disappear, or carry
 * another call's values.
 *
 * The rule: for each call the ring holds one entry, one path if the call has one, and one exit,
 * each with its own values and its own time; or these events are counted as discarded.
 */
#include <stdlib.h>
#include <trace/subbuf.h>
#include "unit.h"

static trace_u64 now_ns; /* each reading returns another time */
static void (*at_point)(void);

static void point(void)
{
	if (at_point)
		at_point();
}

#define WRITER_POINT()				 point()
#define SUBBUF_CLOCK()				 (point(), ++now_ns)
#define SUBBUF_NOW(w)				 ((w)->at ? (w)->at : SUBBUF_CLOCK())
#define SUBBUF_POSITION(w)			 ((w)->position)
#define SUBBUF_PRELIMINARY(w, seq, offset, size) ((void)0)
#include "subbuf_writer.h"

static struct subbuf_writer writer;
static struct subbuf_ring ring;
static unsigned char memory[SUBBUF_CONTROL_BYTES + (1 << 16)] __attribute__((aligned(64)));

/* ---- as record.bpf.h has it ---- */

struct open_record {
	struct subbuf_header *header;
	unsigned char *record;
	trace_u32 time;
	trace_u32 bytes;
	bool structural;
};

static void *record_emplace(struct open_record *r, struct subbuf_control *control, trace_u64 position)
{
	r->header = (struct subbuf_header *)writer_slot(&writer, position >> SUBBUF_OFFSET_BITS);
	r->record = (unsigned char *)r->header + (position & SUBBUF_OFFSET_MASK);
	return r->record + sizeof(struct trace_record);
}

static trace_u64 *position_of(struct subbuf_control *control);
static void add_up_uninterrupted(struct subbuf_control *control);

static bool reserve_slow(struct subbuf_writer *w, trace_u32 bytes, trace_u64 position,
			 struct subbuf_reservation *ret_reservation)
{
	w->position = position_of(w->control);
	add_up_uninterrupted(w->control);
	return subbuf_reserve_slow(w, bytes, position, ret_reservation);
}

static void *record_reserve(struct open_record *r, struct subbuf_control *control, trace_u32 cpu, bool structural,
			    trace_u32 bytes, trace_u64 at, bool interrupts)
{
	struct subbuf_writer w = writer;
	struct subbuf_reservation reservation;
	trace_u64 position = SUBBUF_NO_POSITION, now;

	w.at = at;
	r->bytes = bytes += (trace_u32)sizeof(struct trace_record);
	if (!interrupts && (SUBBUF_LOAD(&control->position) & SUBBUF_OFFSET_MASK) + bytes < w.subbuf_bytes)
		position = SUBBUF_ADD(&control->position, bytes);
	if ((position & SUBBUF_OFFSET_MASK) + bytes < w.subbuf_bytes) {
		now = SUBBUF_NOW(&w);
		if ((now - SUBBUF_LOAD(&SUBBUF_HEADER(&w, position >> SUBBUF_OFFSET_BITS)->base)) >> 32 == 0) {
			r->time = (trace_u32)now;
			return record_emplace(r, control, position);
		}
	}
	if (!reserve_slow(&w, bytes, position, &reservation))
		return NULL;
	r->time = reservation.time;
	return record_emplace(r, control, reservation.position);
}

static void record_head(struct open_record *r, trace_u32 id)
{
	point();
	*(trace_u64 *)r->record = subbuf_record_word(r->time, id, r->bytes, 0);
}

static void record_end_as(struct open_record *r, trace_u32 id, trace_u32 nr_events)
{
	record_head(r, id);
	SUBBUF_ADD(&r->header->commit, r->bytes + nr_events * SUBBUF_COMMIT_RECORD);
}

static void put_text(void *to, const char *text, trace_u32 bytes)
{
	point();
	memset((char *)to + (bytes & ~7u), 0, bytes & 7 ? 8 : 0);
	memcpy(to, text, bytes);
}

#define DEFERRED_PUT_TEXT(to, text, bytes)		    put_text(to, text, bytes)
#define DEFERRED_SUBBUF_BYTES				    (writer.subbuf_bytes)
#define DEFERRED_SWAP(p, v)				    (point(), __atomic_exchange_n(p, v, __ATOMIC_RELAXED))
#define DEFERRED_HEADER(control, seq)			    ((struct subbuf_header *)writer_slot(&writer, seq))
#define DEFERRED_SYNC_SHADOW(control, cpu, position, bytes) deferred_sync_shadow(control, position, bytes)
#define DEFERRED_ADD_UP(control, cpu)			    deferred_add_up(control)
#ifndef TEST_DEFERRED_H /* tests/ring/mutants defines this as its broken copy */
#define TEST_DEFERRED_H "../../tracer/kernel/deferred.h"
#endif
#include TEST_DEFERRED_H

static trace_u64 *position_of(struct subbuf_control *control)
{
	return deferred_position(control);
}

static void add_up_uninterrupted(struct subbuf_control *control)
{
	if (!deferred_is_interrupted(control))
		deferred_add_up(control);
}

/* As the BPF program of that name, which the daemon runs on the CPU until it interrupts no other
 * program. */
static bool flush(void)
{
	struct subbuf_control *control = writer.control;

	if (deferred_is_interrupted(control))
		return false;
	deferred_flush(control, 0);
	deferred_add_up(control);
	subbuf_flush(&ring);
	return true;
}

/* ---- what the run recorded ---- */

enum { ENTRY, PATH, EXIT, OTHER, MAX_EVENTS = 400, OTHER_ID = 200, NR = 7 };

/**
 * struct done - an event that the run made: kind, thread, and the times between which it happened
 * @found: how often it is in the ring
 * @found_ns: the time in its record
 */
struct done {
	int what;
	trace_u64 thread;
	trace_u32 kind;
	trace_u64 from;
	trace_u64 to;
	int found;
	trace_u64 found_ns;
	bool suspect;
};

static struct done done[MAX_EVENTS];
static trace_u64 nr_done;
static trace_u32 path_bytes;  /* of each later call, NUL included; 0: calls have no path */
static trace_u32 other_bytes; /* payload of each later record that is not of a call */
/* a flush may be interrupted: an entry that is written late then has the time at which its
 * sub-buffer was opened */
static bool interrupted;
static bool preempted; /* an entry may then follow its exit */

static trace_u64 event_begin(int what, trace_u64 thread, trace_u32 kind)
{
	if (nr_done == MAX_EVENTS)
		abort();
	done[nr_done] = (struct done){.what = what, .thread = thread, .kind = kind, .from = now_ns};
	return nr_done++;
}

/* As record_begin_in() and the program around it. The record contains only the event's number. */
static void record_event(trace_u64 n, trace_u32 id)
{
	bool is_entry = done[n].what == ENTRY;
	struct open_record recording;
	trace_u32 bytes = is_entry ? deferred_entry_bytes(done[n].kind) : done[n].what == EXIT ? 8 : other_bytes;
	trace_u64 *payload;

	if (SUBBUF_LOAD(&writer.control->deferred_ns))
		deferred_flush(writer.control, 0);
	payload = record_reserve(&recording, writer.control, 0, false, bytes, 0,
				 deferred_is_interrupted(writer.control));
	if (payload) {
		for (trace_u32 i = 0; i < bytes / 8; i++)
			payload[i] = is_entry && i == 0 ? NR | n << 32 : n;
		record_end_as(&recording, id, 1);
	}
	done[n].to = now_ns;
}

/* The path of entry @n. */
static void path_of(trace_u64 n, char *text)
{
	memset(text, 'a' + (char)(n % 26), path_bytes - 1);
	text[path_bytes - 1] = 0;
}

/* As record_path(): the number of entry @n follows its path. */
static void record_path(trace_u64 n)
{
	struct open_record recording;
	trace_u64 *payload = record_reserve(&recording, writer.control, 0, false, 8 + (path_bytes + 7) / 8 * 8, 0,
					    deferred_is_interrupted(writer.control));

	if (payload) {
		payload[0] = NR | n << 32;
		path_of(n, (char *)(payload + 1));
		record_end_as(&recording, TRACE_EV_sys_path, 1);
	}
	done[n + 1].to = now_ns;
}

/* As sys_enter: a call of @thread with @kind of arguments. */
static void enter(trace_u64 thread, trace_u32 kind)
{
	trace_u64 n = event_begin(ENTRY, thread, kind);

	if (path_bytes)
		event_begin(PATH, thread, 0);
	if (SUBBUF_LOAD(&writer.control->deferred_ns))
		deferred_flush(writer.control, 0);
	if (SUBBUF_LOAD(&writer.control->deferred_ns)) {
		record_event(n, TRACE_EV_sys_enter + kind);
		if (path_bytes)
			record_path(n);
		return;
	}
	if (path_bytes)
		path_of(n, writer.control->deferred_path);
	for (trace_u32 i = 0; i < 3 * kind; i++)
		writer.control->deferred_args[i] = n;
	deferred_begin(writer.control, thread, NR | n << 32, kind | (path_bytes ? DEFERRED_MORE : 0), path_bytes);
	done[n].to = now_ns;
	if (path_bytes)
		done[n + 1].to = now_ns;
}

/* As sys_exit. */
static void leave(trace_u64 thread)
{
	trace_u64 n = event_begin(EXIT, thread, 0);

	if (deferred_is_plain(writer.control) ? deferred_end(writer.control, 0, true, thread, NR, n)
					      : deferred_end(writer.control, 0, false, thread, NR, n))
		done[n].to = now_ns;
	else
		record_event(n, TRACE_EV_sys_exit);
}

/* ---- what the ring holds ---- */

static const char *fault;

static bool suspect; /* the sub-buffer is marked as having suspect times */

static void found(trace_u64 n, int what, trace_u32 kind, trace_u64 time, trace_u64 base)
{
	if (n >= nr_done || done[n].what != what || done[n].kind != kind)
		fault = "values of another event";
	else if (done[n].found++)
		fault = "an event twice";
	else if (time < base)
		fault = "a time before its sub-buffer's base";
	else if (!suspect && (time <= done[n].from || time > done[n].to) &&
		 !(time == base && time > done[n].from && what <= PATH && interrupted))
		fault = "a time at which the event was not";
	if (n < nr_done) {
		done[n].found_ns = time;
		done[n].suspect = suspect;
	}
}

static void found_entry(const trace_u64 *payload, trace_u32 kind, trace_u64 time, trace_u64 base)
{
	for (trace_u32 i = 0; i < 3 * kind; i++)
		if (payload[1 + i] != payload[0] >> 32)
			fault = "arguments of another entry";
	if ((trace_u32)payload[0] != NR)
		fault = "another call";
	found(payload[0] >> 32, ENTRY, kind, time, base);
}

static void found_path(const trace_u64 *payload, trace_u64 time, trace_u64 base)
{
	trace_u64 n = payload[0] >> 32;
	char text[64] = "";

	path_of(n, text);
	if (memcmp(payload + 1, text, (path_bytes + 7) / 8 * 8) != 0)
		fault = "the path of another entry";
	found(n + 1, PATH, 0, time, base);
}

/* Decodes one record that may hold several events. Returns their number. */
static trace_u32 found_call(trace_u32 id, const trace_u64 *payload, trace_u64 time, trace_u64 base)
{
	trace_u32 kind = (id - TRACE_RECORD_PATH_ENTRY) % 3;
	bool has_path = id < TRACE_RECORD_CALL, has_exit = id >= TRACE_RECORD_PATH_CALL;

	found_entry(payload + 2, kind, time, base);
	if (has_path)
		found_path(payload + 2 + deferred_entry_bytes(kind) / 8, time, base);
	if (has_exit) {
		found(payload[1], EXIT, 0, time + payload[0], base);
		if (!fault && done[payload[2] >> 32].thread != done[payload[1]].thread)
			fault = "an exit of another thread";
	}
	return 1 + has_path + has_exit;
}

static trace_u32 read_subbuf(const struct subbuf_header *header)
{
	trace_u32 events = 0;

	suspect = header->flags & SUBBUF_FLAG_TIME_SUSPECT;
	for (trace_u32 at = sizeof(*header); at < header->end;) {
		const struct trace_record *record = (const struct trace_record *)((const unsigned char *)header + at);
		const trace_u64 *payload = (const trace_u64 *)(record + 1);
		trace_u64 time = header->base + (trace_u32)(record->time - (trace_u32)header->base);

		if (record->id >= TRACE_RECORD_PATH_ENTRY && record->id < TRACE_RECORD_CALL + 3) {
			events += found_call(record->id, payload, time, header->base);
		} else if (record->id == TRACE_EV_sys_path) {
			found_path(payload, time, header->base);
			events++;
		} else if (record->id >= TRACE_EV_sys_enter && record->id <= TRACE_EV_sys_enter6) {
			found_entry(payload, record->id - TRACE_EV_sys_enter, time, header->base);
			events++;
		} else if (record->id != TRACE_EV_padding) {
			found(payload[0], record->id == TRACE_EV_sys_exit ? EXIT : OTHER, 0, time, header->base);
			events++;
		}
		at += record->words * 8u;
		if (record->words == 0) {
			fault = "a record without an end";
			return events;
		}
	}
	return events;
}

static void take_all(void)
{
	const struct subbuf_header *header;

	while ((header = subbuf_take(&ring))) {
		if (read_subbuf(header) != subbuf_records(&ring, header))
			fault = "another number of events than was counted";
		subbuf_release(&ring);
	}
}

/* Does the time of an exit lie before that of its entry? */
static bool order_is_wrong(trace_u64 exit)
{
	trace_u64 entry = exit;

	while (entry-- > 0)
		if (done[entry].what == ENTRY && done[entry].thread == done[exit].thread)
			return done[entry].found && !done[entry].suspect && !done[exit].suspect &&
			       done[entry].found_ns > done[exit].found_ns;
	return false;
}

/* The end of a run, after the daemon has flushed the deferred entry: checks the rule. */
static void check_rule(void)
{
	trace_u64 missing = 0;

	at_point = NULL;
	for (trace_u64 seq = ring.control->consumed + 1; !preempted && seq <= subbuf_newest_closed(&ring); seq++)
		if (!subbuf_complete(&ring, seq))
			fault = "a closed sub-buffer waits for a writer";
	if (!flush() || writer.control->deferred_ns || writer.control->tail_reserved || writer.control->shadow ||
	    writer.control->uncommitted)
		fault = "an entry stays deferred";
	take_all();
	for (trace_u64 n = 0; n < nr_done; n++) {
		missing += !done[n].found;
		if (!preempted && done[n].found && done[n].what == EXIT && order_is_wrong(n))
			fault = "an exit before its entry";
	}
	if (missing != writer.control->discarded)
		fault = "an event that is neither there nor counted";
}

/* ---- runs ---- */

#define HEADER sizeof(struct subbuf_header)

static void begin(trace_u32 subbuf_bytes, trace_u32 nr_subbufs)
{
	memset(memory, 0, sizeof(memory));
	subbuf_ring_init(&ring, memory, subbuf_bytes, nr_subbufs, 0, SUBBUF_PRODUCER_KERNEL, SUBBUF_CLOCK_MONOTONIC,
			 false);
	writer = (struct subbuf_writer){.control = ring.control,
					.data = ring.data,
					.subbuf_bytes = subbuf_bytes,
					.nr_subbufs_log2 = (trace_u32)__builtin_ctz(nr_subbufs)};
	now_ns = 1000;
	nr_done = 0;
	fault = NULL;
	path_bytes = 0;
	other_bytes = 8;
	interrupted = preempted = false;
}

static void other(void)
{
	record_event(event_begin(OTHER, 0, 0), OTHER_ID);
}

static void an_exit_that_follows_its_entry_shares_the_record(void)
{
	for (trace_u32 kind = 0; kind < 3; kind++)
		for (trace_u32 path = 0; path <= 32; path += 8) {
			begin(4096, 2);
			path_bytes = path ? path - 3 : 0;
			other();
			enter(1, kind);
			CU_ASSERT_NOT_EQUAL(ring.control->deferred_ns, 0);
			leave(1);
			CU_ASSERT_EQUAL(ring.control->deferred_ns, 0);
			CU_ASSERT_EQUAL(ring.control->position & SUBBUF_OFFSET_MASK,
					HEADER + 16 + 32 + 24 * kind + (path ? 8 + path : 0));
			check_rule();
			CU_ASSERT_PTR_NULL(fault);
		}
}

/* The path of an earlier entry does not become the path of the next one. */
static void a_flushed_entry_keeps_its_path(void)
{
	for (trace_u32 kind = 0; kind < 3; kind++) {
		begin(4096, 2);
		path_bytes = 21;
		enter(1, kind);
		other();
		CU_ASSERT_EQUAL(ring.control->position & SUBBUF_OFFSET_MASK, HEADER + 32 + 24 * kind + 32 + 16);
		leave(1);
		enter(1, kind);
		leave(1);
		flush();
		take_all();
		path_bytes = 0;
		enter(1, kind);
		leave(1);
		check_rule();
		CU_ASSERT_PTR_NULL(fault);
		CU_ASSERT_EQUAL(done[1].what, PATH);
		CU_ASSERT_EQUAL(done[1].found_ns, done[0].found_ns);
		CU_ASSERT(done[1].found_ns < done[2].found_ns);
	}
}

static void any_other_record_flushes_the_entry_first(void)
{
	begin(4096, 2);
	enter(1, 1);
	other();
	leave(1);
	enter(1, 1);
	enter(2, 2); /* of another thread */
	leave(1);
	leave(2);
	check_rule();
	CU_ASSERT_PTR_NULL(fault);
	for (trace_u64 n = 1; n < nr_done; n++)
		CU_ASSERT(done[n].found_ns > done[n - 1].found_ns);
}

/* A child returns from the call that its parent is still in. A thread that died at its exit never
 * returned from another call. */
static void only_the_same_call_of_the_same_thread_is_joined(void)
{
	begin(4096, 2);
	enter(1, 0);
	leave(2);
	leave(1);
	enter(3, 0);
	CU_ASSERT_FALSE(deferred_end(writer.control, 0, true, 3, NR + 1, 0));
	check_rule();
	CU_ASSERT_PTR_NULL(fault);
	CU_ASSERT_EQUAL(done[0].found_ns, done[0].to);
	CU_ASSERT(done[0].found_ns < done[1].found_ns);
}

static void a_call_that_fills_a_subbuffer_or_lasts_long_is_two_records(void)
{
	for (trace_u32 before = 0; before < 24; before++) {
		begin(HEADER + 4 * 48, 4);
		path_bytes = before % 2 * 13;
		for (trace_u32 i = 0; i < before / 2; i++)
			other();
		enter(1, 1);
		leave(1);
		enter(1, 0);
		now_ns += 1ULL << 33;
		leave(1);
		enter(1, 0);
		leave(1);
		check_rule();
		CU_ASSERT_PTR_NULL(fault);
	}
}

static void a_clock_that_steps_back_makes_a_call_of_no_time(void)
{
	begin(4096, 2);
	other();
	now_ns += 100;
	enter(1, 1);
	now_ns -= 5;
	leave(1);
	flush();
	/* elapsed time; follows the other record and this one's header */
	CU_ASSERT_EQUAL(((trace_u64 *)(subbuf_slot(&ring, 1) + 1))[3], 0);
	CU_ASSERT_EQUAL(subbuf_slot(&ring, 1)->end, HEADER + 16 + 56);
}

static void a_full_ring_counts_both(void)
{
	for (trace_u32 before = 0; before < 60; before++) {
		begin(HEADER + 4 * 48, 2);
		path_bytes = before % 2 * 17;
		for (trace_u32 i = 0; i < before / 2; i++)
			other();
		enter(1, 1);
		leave(1);
		enter(1, 2);
		other();
		leave(1);
		enter(2, 0);
		check_rule();
		CU_ASSERT_PTR_NULL(fault);
	}
}

/* ---- interrupts ---- */

/**
 * struct run - the parameters of a run
 * @before: records in the ring before it
 * @path: bytes of each call's path
 * @other: payload bytes of the record in which a program is preempted
 * @records: number of records of each interrupt
 * @gap: ns that pass before each interrupt
 * @in_turn: the second interrupt strikes within the first one, not in the interrupted code
 */
struct run {
	trace_u32 before;
	trace_u32 nr_subbufs;
	trace_u32 kind;
	trace_u32 path;
	trace_u32 other;
	int records;
	int flushes;
	trace_u64 gap;
	bool in_turn;
	void (*main)(const struct run *run);
	void (*interrupt)(const struct run *run);
};

static const struct run *current;
static int points_left[2];
static int depth, reached;

static void preemptible(const struct run *run);

static void maybe_interrupt(void)
{
	if (depth >= 2 || points_left[depth]-- != 0)
		return;
	depth++;
	reached |= 1 << (current->in_turn && reached ? 2 : depth);
	if (current->in_turn && !(reached & 4))
		points_left[0] = points_left[1];
	if (current->in_turn)
		points_left[1] = -1;
	now_ns += current->gap;
	current->interrupt(current);
	depth--;
}

static void interrupt(const struct run *run)
{
	if (run->records == 0)
		deferred_flush(writer.control, 0); /* that of a filtered program */
	for (int i = 0; i < run->records; i++)
		other();
	if (run->flushes)
		flush(); /* that of the daemon */
}

/* Two calls of a thread and, in between, one call of another thread. Preemption is off while each
 * BPF program runs. */
static void calls(const struct run *run)
{
	enter(1, run->kind);
	leave(1);
	enter(1, run->kind);
	enter(2, run->kind); /* the first thread was preempted in its call, and that switch was not recorded */
	leave(2);
	leave(1);
}

/* A probe's program, which may be preempted, finds a deferred entry ... */
static void preemptible(const struct run *run)
{
	at_point = NULL;
	enter(1, run->kind);
	at_point = maybe_interrupt;
	other_bytes = run->other;
	other();
	other_bytes = 8;
	at_point = NULL;
	enter(1, run->kind);
	leave(1);
}

/* ... and other programs run while it is preempted. */
static void others_run(const struct run *run)
{
	at_point = NULL;
	leave(1);
	for (int i = 0; i < run->records; i++) {
		enter(2, run->kind);
		leave(2);
	}
	enter(3, run->kind);
	at_point = maybe_interrupt;
}

/* Other threads make whole calls while it is preempted. */
static void others_call(const struct run *run)
{
	at_point = NULL;
	for (int i = 0; i < run->records; i++) {
		enter(2, run->kind);
		leave(2);
	}
	at_point = maybe_interrupt;
}

static int run_once(const struct run *run, int first, int second)
{
	begin(HEADER + 4 * 48, run->nr_subbufs);
	path_bytes = run->path;
	interrupted = true;
	preempted = run->main == preemptible;
	for (trace_u32 i = 0; i < run->before; i++)
		other();
	current = run;
	points_left[0] = first;
	points_left[1] = second;
	depth = reached = 0;
	at_point = maybe_interrupt;
	run->main(run);
	check_rule();
	return reached;
}

static int run_all(const struct run *run)
{
	int first = 0, second, reached_now, runs = 0;

	do {
		second = 0;
		do {
			reached_now = run_once(run, first, second++);
			runs++;
		} while (reached_now & 4 && !fault);
		first++;
	} while (reached_now & 2 && !fault);
	if (fault)
		printf("(%s: before %u, nr %u, kind %u, path %u, records %d, flushes %d, gap %llu, points %d %d) ",
		       fault, run->before, run->nr_subbufs, run->kind, run->path, run->records, run->flushes,
		       (unsigned long long)run->gap, first - 1, second - 1);
	CU_ASSERT_PTR_NULL(fault);
	return runs;
}

static void interrupts_at_every_point(void)
{
	static const trace_u64 gaps[] = {0, 1ULL << 31, 1ULL << 32};
	struct run run = {.main = calls, .interrupt = interrupt};
	int runs = 0, nr = 0;

	for (run.nr_subbufs = 2; run.nr_subbufs <= 16; run.nr_subbufs *= 8)
		for (run.before = 0; run.before <= 8; run.before++)
			for (run.kind = 0; run.kind < 3; run.kind++)
				for (run.records = 0; run.records <= 4; run.records += 1 + run.records / 2)
					for (run.flushes = 0; run.flushes <= 1; run.flushes++)
						for (int gap = 0; gap < 6 && !fault; gap++) {
							if (nr++ % unit_step(73))
								continue;
							run.gap = gaps[gap / 2];
							run.path = gap % 2 * 11;
							run.in_turn = run.records == 1 && run.flushes == 0;
							runs += run_all(&run);
							if (!run.in_turn)
								continue;
							run.in_turn = false;
							runs += run_all(&run);
						}
	printf("(%d runs) ", runs);
}

static void a_preempted_program_flushes_once(void)
{
	struct run run = {.main = preemptible, .interrupt = others_run, .nr_subbufs = 64, .other = 8};
	int runs = 0;

	for (run.before = 0; run.before <= 12; run.before++)
		for (run.kind = 0; run.kind < 3; run.kind++)
			for (run.records = 0; run.records <= 9 && !fault; run.records++) {
				run.path = (trace_u32)run.records % 2 * 19;
				runs += run_all(&run);
			}
	printf("(%d runs) ", runs);
}

/* A program that finds too little room for its record adds up the uncommitted sums, then closes the
 * sub-buffer and opens the next. If it is preempted between the two steps, a call with a shorter
 * record can still write it to the first sub-buffer, and leaves new uncommitted sums there. The
 * next call writes its record to the next sub-buffer, and must not add it to these sums. */
static void a_preempted_program_closes_a_subbuffer_with_uncommitted_calls(void)
{
	struct run run = {.main = preemptible, .interrupt = others_call, .nr_subbufs = 64};
	int runs = 0;

	for (run.before = 0; run.before <= 12; run.before++)
		for (run.kind = 0; run.kind < 3; run.kind++)
			for (run.other = 16; run.other <= 96; run.other += 8)
				for (run.records = 1; run.records <= 3 && !fault; run.records++)
					runs += run_all(&run);
	printf("(%d runs) ", runs);
}

static const struct unit_case cases[] = {
	{"an_exit_that_follows_its_entry_shares_the_record", an_exit_that_follows_its_entry_shares_the_record},
	{"a_flushed_entry_keeps_its_path", a_flushed_entry_keeps_its_path},
	{"any_other_record_flushes_the_entry_first", any_other_record_flushes_the_entry_first},
	{"only_the_same_call_of_the_same_thread_is_joined", only_the_same_call_of_the_same_thread_is_joined},
	{"a_call_that_fills_a_subbuffer_or_lasts_long_is_two_records",
	 a_call_that_fills_a_subbuffer_or_lasts_long_is_two_records},
	{"a_clock_that_steps_back_makes_a_call_of_no_time", a_clock_that_steps_back_makes_a_call_of_no_time},
	{"a_full_ring_counts_both", a_full_ring_counts_both},
	{"interrupts_at_every_point", interrupts_at_every_point},
	{"a_preempted_program_flushes_once", a_preempted_program_flushes_once},
	{"a_preempted_program_closes_a_subbuffer_with_uncommitted_calls",
	 a_preempted_program_closes_a_subbuffer_with_uncommitted_calls},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("deferred", cases, argc, argv);
}
