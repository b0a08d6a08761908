/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * subbuf.pml - the protocol of a ring, for Spin: include/trace/subbuf.h, tracer/subbuf_write.h,
 * tracer/user/ring.h.
 *
 * Terms. A step is one access of the code to shared memory, here a line "do :: d_step { AT(...) ->
 * ..." that is named after the access. Only the bytes of a record are one step where no one but the
 * reader of a dead writer's memory could see a difference. tracer/CONCURRENCY.md, "The model",
 * lists the line of code for each step.
 *
 * The script "check" in this folder searches all runs, with bounds from the environment, and breaks
 * the model on purpose:
 *
 *   WRITERS   threads (1..3); RECORDS of each (1..2)
 *   HANDLERS  0..2: a handler that interrupts thread 0 anywhere, and one that interrupts the first
 *             handler; one record each. The interrupted thread waits
 *   FLUSHES, READS  flushes of the flusher; whether there is a reader
 *   DEATHS    0; 1: a thread with its handlers dies, and the others continue; 2: or the whole
 *             program dies
 *   EXPIRES, MOVES  how often a time does not fit its base, and a writer is on another CPU
 *   OVERWRITE flight recorder: no reader before the end
 *   BROKEN    a guard to leave out
 *
 * A sub-buffer has 6 units of 8 bytes. A header (64 bytes in the code) takes 1, a record 2 or 3.
 * Times are not modelled, except that a time may not fit. The model is sequentially consistent;
 * TSan checks weaker orders.
 *
 * Example: with WRITERS=1 RECORDS=1 the writer opens sub-buffer 1, reserves 2 units at offset 1,
 * writes payload and header, and commits. With DEATHS=1 it may die before each of these steps, and
 * the salvage must then report one record in flight, or none.
 *
 * Proved for all runs:
 *   - No writer writes to a sub-buffer of another use, or to one that is being read. Each record
 *     that is read is complete, committed, in its place, and read once.
 *   - At the end each record was read, or is counted as discarded or overwritten, never both.
 *   - A death loses the records that the dead thread and its handlers were writing, one each, and
 *     no record of another writer.
 *   - When no writer is inside, nothing blocks the reader before the last record. No actor waits or
 *     repeats for ever.
 */
#define SLOTS 2
#define BYTES 6
#define HEAD 1
#define TRIES 3 /* SUBBUF_TRIES is 8; fewer only discard more */
#define NR_WRITERS 5
#define NR_RECORDS 2
#define ALL 31 /* all writers, as bits */

c_decl {
	static int bound(const char *name, int otherwise)
	{
		const char *value = getenv(name);

		return value ? atoi(value) : otherwise;
	}
	static int broken;
};
#define BROKEN(guard) (c_expr { broken == guard })
#define COMMIT_BEFORE_HEADER 1
#define SLOT_WITH_WRITER_INSIDE 2
#define SLOT_NOT_YET_CONSUMED 3
#define OPEN_WITHOUT_CAS 4
#define CLOSE_BY_EVERYONE 5
#define FLUSH_ENDS_LATE 6
#define HEADER_NOT_COMMITTED 7
#define TAKE_INCOMPLETE 8
#define DISCARDED_NOT_COUNTED 9
#define OVERWRITTEN_NOT_COUNTED 10
#define SALVAGE_ANY_LAP 11
#define SALVAGE_PRELIMINARY 12
#define EXPIRE_WITHOUT_COMMIT 13
#define EXPIRE_ANOTHER 14
#define FLUSH_WITHOUT_CAS 15
#define FILL_WITHOUT_END 16
#define LOST_READ_LATE 17
#define MOVED_COUNTS_PADDING 18
#define FAST_IGNORES_OTHERS 19

/* ---- the ring: struct subbuf_control, struct subbuf_header ---- */
byte pos_seq, pos_off = BYTES; /* control.position */
byte discarded, overwritten, consumed;
typedef header {
	byte seq, lost, end, commit, records, before;
}
header head[SLOTS]; /* commit: its bytes; records: its upper 24 bits */
byte mark[12];	    /* per unit, the record header in it: kind + 4 * size + 16 * lap; 0: no header */
byte unit[12];	    /* per unit, the record that wrote it */
#define PRE 1
#define FINAL 2
#define PAD 3
#define SLOT(q) ((q) % SLOTS)
#define LAP(q) ((q) / SLOTS)
#define PLACE(q, o) (SLOT(q) * BYTES + (o))
#define MARK(kind, size, q) ((kind) + 4 * (size) + 16 * LAP(q))
#define COMPLETE(q) (head[SLOT(q)].commit == (LAP(q) + 1) * BYTES)

/* ---- state of the proof, not of the protocol ---- */
byte use[SLOTS];    /* the sequence number that the slot is used for */
bit taken[SLOTS];   /* the reader is inside */
byte last_lost;
byte record[10];    /* of writer w: 2 * w, 2 * w + 1 */
#define NEVER 0
#define BEGUN 1
#define WRITTEN 2
#define COMMITTED 3
#define DISCARDED 4
#define READ 5
bit begun[NR_WRITERS];
byte out; /* bits: writers that have ended or died */
byte dead;
bit flushed, reader_out;

/* ---- bounds ---- */
byte writers, handlers, records, flushes, deaths, expires, moves;
bit overwrite, reads;

#define IS(w, bits) (((bits) >> (w)) & 1)
/* A handler that has begun runs alone: 3 interrupts 0, 4 interrupts 3. */
#define INTERRUPTED(w) ((w) == 0 && begun[3] && !IS(3, out) || (w) == 3 && begun[4] && !IS(4, out))
/* Threads are equal: they begin one after the other. */
#define MAY_BEGIN(w) ((w) == 0 || (w) == 1 && (handlers || begun[0]) || (w) == 2 && begun[1] || (w) == 3 && begun[0] || (w) == 4 && begun[3])
#define AT(step) pc == step && !IS(self, dead) && !INTERRUPTED(self)
#define OWN(q) assert(use[SLOT(q)] == (q) && !taken[SLOT(q)])

mtype = { LOAD, ADD, PRELIMINARY, CLOCK, COMMIT, MOVED, EXPIRE_COMMIT, EXPIRE_LOAD, EXPIRE_CAS, CLOSE_END, CLOSE_COMMIT, TRY, LOOK, SLOT_COMMIT,
	  SLOT_CONSUMED, LOST, OPEN_CAS, OPEN_PRELIMINARY, OPEN, OPEN_COMMIT, PAYLOAD, END };

inline next_record()
{
	n++;
	seq = 0; off = 0; try = 0; lost = 0; seen = 0; expired = 0;
	if
	:: n == (self < 3 -> records : 1) -> pc = END; out = out | (1 << self)
	:: else -> pc = LOAD
	fi
}

inline discard()
{
	if
	:: BROKEN(DISCARDED_NOT_COUNTED) -> skip
	:: else -> discarded++
	fi;
	record[2 * self + n] = DISCARDED;
	next_record()
}

inline write_record() /* payload, then the record's header: subbuf_commit() up to its add */
{
	OWN(seq);
	unit[PLACE(seq, off)] = 2 * self + n + 1;
	mark[PLACE(seq, off)] = MARK(FINAL, size, seq);
	unit[PLACE(seq, off) + 1] = 2 * self + n + 1;
	mark[PLACE(seq, off) + 1] = 0;
	if
	:: size == 3 -> unit[PLACE(seq, off) + 2] = 2 * self + n + 1; mark[PLACE(seq, off) + 2] = 0
	:: else -> skip
	fi;
	record[2 * self + n] = WRITTEN
}

proctype writer(byte self)
{
	mtype pc = LOAD;
	byte n, size, seq, off, try, lost, seen;
	bit expired;

	do
	/* subbuf_reserve(), user_ring_write(): a look, then the add */
	:: d_step { AT(LOAD) && (begun[self] || MAY_BEGIN(self)) ->
		begun[self] = 1;
		size = 2 + (n & 1);
		record[2 * self + n] = BEGUN;
		if
		:: BROKEN(FAST_IGNORES_OTHERS) && pos_off < BYTES -> seq = pos_seq; off = pos_off
		:: else -> skip
		fi;
		pc = (pos_off < BYTES -> ADD : LOOK) }
	:: d_step { AT(ADD) ->
		if
		:: off != 0 -> skip /* from a look that the model without one guard takes for the add's result */
		:: else -> seq = pos_seq; off = pos_off
		fi;
		pos_off = pos_off + size;
		pc = (off + size <= BYTES -> PRELIMINARY : (off < BYTES || BROKEN(CLOSE_BY_EVERYONE) -> CLOSE_END : LOOK)) }
	:: d_step { AT(PRELIMINARY) ->
		OWN(seq);
		mark[PLACE(seq, off)] = MARK(PRE, size, seq);
		if
		:: off + size == BYTES && !BROKEN(FILL_WITHOUT_END) -> head[SLOT(seq)].end = BYTES
		:: else -> skip
		fi;
		pc = CLOCK }
	/* The time fits, or it does not, or the writer may be on another CPU. */
	:: d_step { AT(CLOCK) ->
		if
		:: BROKEN(COMMIT_BEFORE_HEADER) -> head[SLOT(seq)].commit = head[SLOT(seq)].commit + size; head[SLOT(seq)].records++; pc = PAYLOAD
		:: else -> write_record(); pc = COMMIT
		fi }
	:: d_step { AT(CLOCK) && expires > 0 ->
		expires--;
		OWN(seq);
		mark[PLACE(seq, off)] = MARK(PAD, size, seq);
		pc = EXPIRE_COMMIT }
	:: d_step { AT(CLOCK) && moves > 0 ->
		moves--;
		OWN(seq);
		mark[PLACE(seq, off)] = MARK(PAD, size, seq);
		pc = MOVED }
	:: d_step { AT(COMMIT) ->
		head[SLOT(seq)].commit = head[SLOT(seq)].commit + size; head[SLOT(seq)].records++;
		record[2 * self + n] = COMMITTED;
		next_record() }
	:: d_step { AT(MOVED) ->
		head[SLOT(seq)].commit = head[SLOT(seq)].commit + size;
		if
		:: BROKEN(MOVED_COUNTS_PADDING) -> head[SLOT(seq)].records++
		:: else -> skip
		fi;
		try = 0; seq = 0; off = 0;
		pc = LOAD }

	/* subbuf_expire() */
	:: d_step { AT(EXPIRE_COMMIT) ->
		if
		:: BROKEN(EXPIRE_WITHOUT_COMMIT) -> skip
		:: else -> head[SLOT(seq)].commit = head[SLOT(seq)].commit + size
		fi;
		pc = EXPIRE_LOAD }
	:: d_step { AT(EXPIRE_LOAD) ->
		if
		:: (pos_seq == seq || BROKEN(EXPIRE_ANOTHER)) && pos_off < BYTES -> off = pos_off; pc = EXPIRE_CAS
		:: else -> pc = TRY
		fi }
	:: d_step { AT(EXPIRE_CAS) ->
		if
		:: pos_seq == seq && pos_off == off -> pos_off = BYTES; expired = 1; pc = CLOSE_END
		:: BROKEN(EXPIRE_ANOTHER) -> pos_off = BYTES; expired = 1; pc = CLOSE_END
		:: else -> pc = TRY
		fi }

	/* subbuf_close() */
	:: d_step { AT(CLOSE_END) ->
		OWN(seq);
		head[SLOT(seq)].end = off;
		pc = CLOSE_COMMIT }
	:: d_step { AT(CLOSE_COMMIT) ->
		head[SLOT(seq)].commit = head[SLOT(seq)].commit + BYTES - off;
		pc = (expired -> TRY : LOOK);
		expired = 0 }

	/* subbuf_reserve_slow(): the next try */
	:: d_step { AT(TRY) ->
		try++;
		seq = 0; off = 0;
		if
		:: try == TRIES -> discard()
		:: else -> pc = (pos_off < BYTES -> ADD : LOOK)
		fi }
	:: d_step { AT(LOOK) ->
		if
		:: pos_off < BYTES -> pc = TRY
		:: else -> seq = pos_seq + 1; off = pos_off; pc = SLOT_COMMIT
		fi }
	:: d_step { AT(SLOT_COMMIT) ->
		seen = head[SLOT(seq)].records;
		if
		:: head[SLOT(seq)].commit == LAP(seq) * BYTES || BROKEN(SLOT_WITH_WRITER_INSIDE) -> pc = (overwrite -> LOST : SLOT_CONSUMED)
		:: else -> discard()
		fi }
	:: d_step { AT(SLOT_CONSUMED) ->
		if
		:: seq - consumed <= SLOTS || BROKEN(SLOT_NOT_YET_CONSUMED) -> pc = LOST
		:: else -> discard()
		fi }
	:: d_step { AT(LOST) ->
		lost = discarded;
		pc = OPEN_CAS }
	:: d_step { AT(OPEN_CAS) ->
		if
		:: pos_seq == seq - 1 && pos_off == off || BROKEN(OPEN_WITHOUT_CAS) ->
			assert(!taken[SLOT(seq)]);
			pos_seq = seq; pos_off = HEAD + size;
			use[SLOT(seq)] = seq;
			off = HEAD;
			pc = OPEN_PRELIMINARY
		:: else -> seen = 0; lost = 0; pc = TRY
		fi }
	:: d_step { AT(OPEN_PRELIMINARY) ->
		OWN(seq);
		mark[PLACE(seq, HEAD)] = MARK(PRE, size, seq);
		pc = OPEN }

	/* subbuf_open() */
	:: d_step { AT(OPEN) ->
		OWN(seq);
		if
		:: overwrite && head[SLOT(seq)].seq && !BROKEN(OVERWRITTEN_NOT_COUNTED) -> overwritten = overwritten + seen - head[SLOT(seq)].before
		:: else -> skip
		fi;
		head[SLOT(seq)].before = seen;
		head[SLOT(seq)].lost = (BROKEN(LOST_READ_LATE) -> discarded : lost);
		head[SLOT(seq)].seq = seq;
		seen = 0; lost = 0;
		pc = OPEN_COMMIT }
	:: d_step { AT(OPEN_COMMIT) ->
		if
		:: BROKEN(HEADER_NOT_COMMITTED) -> skip
		:: else -> head[SLOT(seq)].commit = head[SLOT(seq)].commit + HEAD
		fi;
		pc = PAYLOAD }
	:: d_step { AT(PAYLOAD) ->
		write_record();
		if
		:: BROKEN(COMMIT_BEFORE_HEADER) && off != HEAD -> record[2 * self + n] = COMMITTED; next_record()
		:: else -> pc = COMMIT
		fi }

	:: d_step { pc != END && IS(self, dead) -> out = out | (1 << self); begun[self] = 1; pc = END; n = 0; size = 0; seq = 0; off = 0; try = 0; lost = 0; seen = 0; expired = 0 }
	:: pc == END -> break
	od
}

/* subbuf_flush() */
proctype flusher()
{
	mtype pc = LOAD;
	byte seq, off;

	do
	:: d_step { flushes && pc == LOAD ->
		if
		:: pos_off < BYTES -> seq = pos_seq; off = pos_off; pc = OPEN_CAS
		:: else -> flushes--
		fi }
	:: d_step { pc == OPEN_CAS ->
		if
		:: pos_seq == seq && pos_off == off || BROKEN(FLUSH_WITHOUT_CAS) -> pos_seq = seq; pos_off = BYTES; pc = (BROKEN(FLUSH_ENDS_LATE) -> CLOSE_COMMIT : CLOSE_END)
		:: else -> pc = LOAD
		fi }
	:: d_step { pc == CLOSE_END ->
		if
		:: !BROKEN(FLUSH_ENDS_LATE) -> OWN(seq)
		:: else -> skip
		fi;
		head[SLOT(seq)].end = off;
		if
		:: BROKEN(FLUSH_ENDS_LATE) -> flushes--; seq = 0; off = 0; pc = LOAD
		:: else -> pc = CLOSE_COMMIT
		fi }
	:: d_step { pc == CLOSE_COMMIT ->
		head[SLOT(seq)].commit = head[SLOT(seq)].commit + BYTES - off;
		if
		:: BROKEN(FLUSH_ENDS_LATE) -> pc = CLOSE_END
		:: else -> flushes--; seq = 0; off = 0; pc = LOAD
		fi }
	:: flushes == 0 -> break
	od;
	flushed = 1
}

/* Checks as ledger_read() the records of sub-buffer @q, from HEAD to @stop. The other arguments are
 * scratch. */
inline read_records(q, stop, is_salvaged, o, m, r, found)
{
	o = HEAD; found = 0;
	do
	:: o < stop ->
		m = mark[PLACE(q, o)];
		if
		:: m / 16 != LAP(q) || m % 4 == 0 -> assert(false) /* torn */
		:: m % 4 == PRE -> assert(is_salvaged)
		:: m % 4 == PAD -> skip
		:: m % 4 == FINAL && m / 16 == LAP(q) ->
			found++;
			r = unit[PLACE(q, o)] - 1;
			assert(record[r] == COMMITTED || is_salvaged && record[r] == WRITTEN);
			assert(unit[PLACE(q, o) + 1] == r + 1 && mark[PLACE(q, o) + 1] == 0);
			assert(m / 4 % 4 == 2 || unit[PLACE(q, o) + 2] == r + 1 && mark[PLACE(q, o) + 2] == 0);
			record[r] = READ
		fi;
		o = o + m / 4 % 4;
		assert(m / 4 % 4 >= 2 && o <= stop)
	:: else -> break
	od;
	assert(o == stop);
	m = 0; r = 0; o = 0
}

inline read_complete(q, o, m, r, found)
{
	assert(head[SLOT(q)].seq == q && use[SLOT(q)] == q);
	assert(head[SLOT(q)].lost >= last_lost && head[SLOT(q)].lost <= discarded);
	last_lost = head[SLOT(q)].lost;
	assert(head[SLOT(q)].end >= HEAD + 2 && head[SLOT(q)].end <= BYTES);
	read_records(q, head[SLOT(q)].end, false, o, m, r, found);
	assert(found == head[SLOT(q)].records - head[SLOT(q)].before);
	found = 0
}

/* subbuf_take(), subbuf_release() */
proctype reader()
{
	byte o, m, r, found;

	do
	:: d_step { pos_seq > consumed && (COMPLETE(consumed + 1) || BROKEN(TAKE_INCOMPLETE)) && !taken[SLOT(consumed + 1)] ->
		taken[SLOT(consumed + 1)] = 1;
		read_complete(consumed + 1, o, m, r, found) }
	:: d_step { taken[SLOT(consumed + 1)] -> taken[SLOT(consumed + 1)] = 0; consumed++ }
	:: out == ALL && flushed && !taken[0] && !taken[1] -> break
	od;
	reader_out = 1
}

/* At any moment a thread dies with its handlers, or all of them at once. */
proctype killer()
{
	if
	:: d_step { deaths && !IS(0, out) -> dead = 1 + 8 + 16; deaths = 0 }
	:: d_step { deaths && !IS(1, out) -> dead = 2; deaths = 0 }
	:: d_step { deaths == 2 && out != ALL -> dead = ALL; deaths = 0 }
	:: out == ALL -> skip
	fi
}

inline is_record_there(q, o, m, limit, ret)
{
	m = mark[PLACE(q, o)];
	ret = (m % 4 != 0 && (m / 16 == LAP(q) || BROKEN(SALVAGE_ANY_LAP)) && o + m / 4 % 4 <= limit)
}

/* subbuf_salvage(), on the only copy: all writers are dead */
inline salvage(q)
{
	limit = (pos_seq == q && pos_off < BYTES -> pos_off : BYTES);
	committed = head[SLOT(q)].commit - LAP(q) * BYTES;
	got = (head[SLOT(q)].seq == q -> HEAD : 0);
	missing = (committed < limit -> limit - committed : 0);
	in_flight = 0;
	o = HEAD;
	do
	:: o < limit ->
		is_record_there(q, o, m, limit, there);
		if
		:: there ->
			if
			:: m % 4 != PRE -> got = got + m / 4 % 4
			:: else ->
				in_flight++;
				missing = (m / 4 % 4 < missing -> missing - m / 4 % 4 : 0);
				mark[PLACE(q, o)] = (BROKEN(SALVAGE_PRELIMINARY) -> MARK(FINAL, m / 4 % 4, q) : MARK(PAD, m / 4 % 4, q))
			fi;
			o = o + m / 4 % 4
		:: else ->
			if
			:: limit == BYTES && committed == got + limit - o -> break /* the rest */
			:: else -> skip
			fi;
			next = o + 1; /* subbuf_salvage_exactly() */
			do
			:: next >= limit || next > o + missing || missing == 0 -> next = limit; break
			:: else ->
				is_record_there(q, next, m, limit, there);
				if
				:: there -> break
				:: else -> next++
				fi
			od;
			if
			:: next == limit && limit == BYTES ->
				if
				:: in_flight == 0 && committed <= got -> in_flight++
				:: else -> skip
				fi;
				break
			:: else -> skip
			fi;
			in_flight++;
			missing = (next - o < missing -> missing - (next - o) : 0);
			/* padding of any size: the reader only knows the marks of two and three
			 * units */
			do
			:: next - o > 3 -> mark[PLACE(q, o)] = MARK(PAD, 2, q); o = o + 2
			:: next - o <= 3 -> mark[PLACE(q, o)] = MARK(PAD, next - o, q); o = next; break
			od
		fi
	:: else -> break
	od;
	limit = o;
	read_records(q, limit, true, o, m, r, found);
	all_in_flight = all_in_flight + in_flight
}

/* After all actors have ended. */
proctype auditor()
{
	byte q, o, m, r, found, limit, committed, got, missing, in_flight, all_in_flight, next, lost_records, were_inside, were_written;
	bit there;

	d_step { out == ALL && flushed && (reader_out || !reads) ->
		if
		:: pos_off < BYTES && !dead -> /* a last flush */
			head[SLOT(pos_seq)].end = pos_off;
			head[SLOT(pos_seq)].commit = head[SLOT(pos_seq)].commit + BYTES - pos_off;
			pos_off = BYTES
		:: else -> skip
		fi;
		/* complete, but not committed: found, although the sum shows that a writer was in
		 * the middle of a record */
		do
		:: r == 10 -> r = 0; break
		:: else -> were_written = were_written + (record[r] == WRITTEN -> 1 : 0); r++
		od;
		q = (overwrite && pos_seq > SLOTS -> pos_seq - SLOTS + 1 : consumed + 1);
		do
		:: q > pos_seq -> break
		:: q <= pos_seq ->
			if
			:: COMPLETE(q) && head[SLOT(q)].seq == q -> read_complete(q, o, m, r, found)
			/* without a death nothing blocks the reader before the end */
			:: else -> assert(dead); salvage(q)
			fi;
			q++
		od;
		/* the sums */
		r = 0; found = 0; lost_records = 0;
		do
		:: r == 10 -> break
		:: else ->
			if
			:: record[r] == DISCARDED -> found++
			:: record[r] == COMMITTED -> lost_records++
			:: record[r] == BEGUN || record[r] == WRITTEN -> assert(IS(r / 2, dead)); were_inside++
			:: record[r] == READ -> skip
			:: else -> assert(IS(r / 2, dead) || r / 2 >= writers && r / 2 < 3 || r / 2 >= 3 + handlers || r % 2 >= (r / 2 < 3 -> records : 1))
			fi;
			r++
		od;
		assert(found == discarded);
		assert(lost_records == overwritten);
		/* Each record that was found in flight was so, or had just ended. */
		assert(all_in_flight <= were_inside + were_written)
	}
}

init
{
	byte w;

	d_step {
		c_code {
			broken = bound("BROKEN", 0);
			now.writers = bound("WRITERS", 2);
			now.handlers = bound("HANDLERS", 0);
			now.records = bound("RECORDS", 2);
			now.flushes = bound("FLUSHES", 0);
			now.deaths = bound("DEATHS", 0);
			now.expires = bound("EXPIRES", 0);
			now.moves = bound("MOVES", 0);
			now.overwrite = bound("OVERWRITE", 0);
			now.reads = bound("READS", 1);
		};
		head[0].commit = BYTES; /* the imaginary sub-buffer 0 */
		w = 0;
		do
		:: w == NR_WRITERS -> break
		:: else ->
			if
			:: w >= writers && w < 3 || w >= 3 + handlers -> out = out | (1 << w)
			:: else -> skip
			fi;
			w++
		od;
		w = 0
	};
	atomic {
		do
		:: w == NR_WRITERS -> break
		:: w < NR_WRITERS && !IS(w, out) -> run writer(w); w++
		:: w < NR_WRITERS && IS(w, out) -> w++
		od;
		run flusher();
		if
		:: reads -> run reader()
		:: else -> skip
		fi;
		if
		:: deaths -> run killer()
		:: else -> skip
		fi;
		run auditor();
		w = 0
	}
}
