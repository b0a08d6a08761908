/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_interleave.c - every interleaving of writers, consumer and flusher, with the shipped code of
 * the ring.
 *
 * Terms. An actor is a writer, the consumer or the flusher, and runs as a coroutine. Before each
 * access to shared memory that another actor could see, it calls point(). There it continues, or
 * another actor continues instead. A schedule is one run of all actors to their end.
 *
 * Search. This is stateless model checking: trail[] holds the choices made in a schedule, and the
 * next run repeats all of them except the last one that has an alternative. So the runs are a
 * depth-first walk through all schedules with at most `bound` preemptions. A preemption is a switch
 * away from an actor that could continue; after the end of an actor any other one may follow.
 * Example: a writer and a consumer have 3 points each, and the bound is 1. There are 2 schedules
 * without a preemption (either actor runs first), and 6 with one, at a point of the first actor.
 *
 * A small bound finds most bugs, because bugs of lock-free code need few preemptions (Musuvathi and
 * Qadeer, "Iterative context bounding", PLDI 2007). Writers are equal, so one writer that has not
 * begun represents all of them.
 *
 * A plan may let one writer die at any point. In the plans of programs records go through
 * tracer/user/ring.h: the writers set up the rings of two CPUs themselves, all at once, and migrate
 * between them. Their restartable sequences are simulated step by step, and abort if another actor
 * was on that CPU meanwhile. test_user_program checks that the real instructions do the same.
 *
 * The search assumes sequential consistency. test_subbuf.c checks the order of memory accesses
 * under TSan.
 */
#include <setjmp.h>
#include <stdio.h>
#include <ucontext.h>
#include "unit.h"

static void point(void);
static void point_of_death(void);

/* The consumer's code has its points in the builtins that it uses. */
#define __atomic_load_n(p, order)			 (point(), __atomic_load_n(p, order))
#define __atomic_store_n(p, v, order)			 (point(), __atomic_store_n(p, v, order))
#define __atomic_fetch_add(p, v, order)			 (point(), __atomic_fetch_add(p, v, order))
#define __atomic_compare_exchange_n(p, o, n, weak, s, f) (point(), __atomic_compare_exchange_n(p, o, n, weak, s, f))
#include <trace/subbuf.h>
#undef __atomic_load_n
#undef __atomic_store_n
#undef __atomic_fetch_add
#undef __atomic_compare_exchange_n

#define LEDGER_POINT()			    point()
#define LEDGER_OWN_POINT()		    point_of_death()
#define LEDGER_NOW()			    read_clock()
#define LEDGER_TIME_IS_RIGHT(payload, time) is_time_right(payload, time)
struct ledger_payload;
static trace_u64 read_clock(void);
static bool is_time_right(const struct ledger_payload *payload, trace_u64 time);
#include "ring_ledger.h"

struct trace_window;
struct user_payload;
static bool append(const struct trace_window *window, trace_u64 now, trace_u64 word,
		   const struct user_payload *payload);
static bool swap(trace_u32 cpu, trace_u64 *at, trace_u64 from, trace_u64 to);
#define USER_APPEND(window, where, now, word, payload) append(window, now, word, payload)
#define USER_SWAP(where, cpu, at, from, to)	       swap(cpu, at, from, to)
#define USER_BLOCK_ROOM				       24u
#ifndef LEDGER_USER_RING_H /* as WRITER_SUBBUF_WRITE_H */
#define LEDGER_USER_RING_H "../../tracer/user/ring.h"
#endif
#include LEDGER_USER_RING_H

#define MAX_ACTORS 6
#define MAX_TRAIL  512

struct plan {
	const char *name;
	int writers;
	int records; /* of each writer */
	int takes;   /* attempts of the consumer to take a sub-buffer; 0 = no consumer */
	int flushes; /* of the flusher; 0 = no flusher */
	int bound;
	int kills;
	bool flusher_dies; /* instead of a writer */
	bool overwrite;
	bool program;	/* records through ring.h, into rings that are not set up yet */
	bool switched;	/* of a program: a flight recorder ends, and a recording begins, at the flusher's step */
	int moves;	/* to the other CPU */
	trace_u64 step; /* of the clock */
};

enum role { WRITER, CONSUMER, FLUSHER };

struct actor {
	enum role role;
	bool begun;
	bool done;
	bool fresh; /* its stack is at the start of actor_main() */
	jmp_buf resume;
	trace_u64 clock[2];
	trace_u32 where[2]; /* its CPU, twice, as in struct rseq */
	bool in_sequence;
	bool disturbed;
	char stack[64 << 10] __attribute__((aligned(16)));
};

static struct actor actors[MAX_ACTORS];
static int nr_actors, current;
static jmp_buf driver;

static const struct plan *plan;
static int preemptions, kills, moves;
static int killed; /* the actor that died, or -1 */
static struct {
	unsigned char choice, options;
} trail[MAX_TRAIL];
static int depth, recorded;
static unsigned long long schedules;

#define DEEP_LIMIT_S 60	  /* of CPU time for a search; twice that with its sample */
#define LIMIT_S	     0.25 /* in ./check */

#define NR_RINGS 2 /* the second one only in the plans of programs */
static struct ledger ledgers[NR_RINGS];
#define NO_CPU 9
static unsigned char memory[NR_RINGS][SUBBUF_CONTROL_BYTES + 1024] __attribute__((aligned(64)));
static struct trace_window windows[NR_RINGS];
static trace_u64 clock_ns;
static trace_u32 overwrites; /* of programs, as user_memory.overwrite */

/* For programs: the clock's readings during each record, because the test cannot know which of them
 * the record uses. */
#define MAX_RECORDS 4
#define MAX_LOOKS   16
static struct {
	trace_u64 looks[MAX_LOOKS];
	int nr_looks;
} programs_records[MAX_ACTORS][MAX_RECORDS];
static int attempts[MAX_ACTORS];

static trace_u64 read_clock(void)
{
	trace_u64 *clock = actors[current].clock;

	clock[1] = clock[0];
	clock[0] = clock_ns += plan->step;
	if (plan->program) {
		int n = attempts[current] - 1;

		assert(programs_records[current][n].nr_looks < MAX_LOOKS);
		programs_records[current][n].looks[programs_records[current][n].nr_looks++] = clock[0];
	}
	return clock[0];
}

static bool is_time_right(const struct ledger_payload *payload, trace_u64 time)
{
	if (!plan->program)
		return payload->clock == time;
	for (int i = 0; i < programs_records[payload->writer][payload->n].nr_looks; i++)
		if (programs_records[payload->writer][payload->n].looks[i] == time)
			return true;
	return false;
}

/* ---- the scheduler ---- */

/* Chooses one of @options: the first one in the first schedule. */
static int choose(int options)
{
	if (options == 1)
		return 0;
	if (depth == recorded) {
		assert(recorded < MAX_TRAIL);
		trail[recorded].choice = 0;
		trail[recorded++].options = (unsigned char)options;
	}
	assert(trail[depth].options == options); /* a run repeats the earlier choices exactly */
	return trail[depth++].choice;
}

/* The actors other than @self that may run now. */
static int others(int self, int *ret_list)
{
	bool untouched_writer = false;
	int nr = 0;

	for (int i = 0; i < nr_actors; i++) {
		if (i == self || actors[i].done)
			continue;
		if (actors[i].role == WRITER && !actors[i].begun) {
			if (untouched_writer)
				continue;
			untouched_writer = true;
		}
		ret_list[nr++] = i;
	}
	return nr;
}

static void actor_main(void);

/* @self runs, or migrates to the CPU, while others are in the middle of a sequence there. */
static void disturb(int self)
{
	for (int i = 0; i < nr_actors; i++)
		if (i != self && actors[i].in_sequence && actors[i].where[0] == actors[self].where[0])
			actors[i].disturbed = true;
}

static void run_actor(int next)
{
	struct actor *actor = &actors[next];
	ucontext_t context;

	current = next;
	actor->begun = true;
	disturb(next);
	if (!actor->fresh)
		_longjmp(actor->resume, 1);
	actor->fresh = false;
	getcontext(&context);
	context.uc_stack.ss_sp = actor->stack;
	context.uc_stack.ss_size = sizeof(actor->stack);
	context.uc_link = NULL;
	makecontext(&context, actor_main, 0);
	setcontext(&context);
}

/* The current actor has ended or died: runs the next actor. */
static void run_next(int self)
{
	int list[MAX_ACTORS], nr = others(self, list);

	if (nr == 0)
		_longjmp(driver, 1);
	run_actor(list[choose(nr)]);
}

static void die(int self)
{
	kills++;
	killed = self;
	actors[self].done = actors[self].fresh = true;
	run_next(self);
}

static void point(void)
{
	int list[MAX_ACTORS], nr = 0, self = current, choice, options = 1;
	bool may_die;

	if (self < 0) /* the driver continues */
		return;
	if (preemptions < plan->bound)
		nr = others(self, list);
	may_die = kills < plan->kills && actors[self].role == (plan->flusher_dies ? FLUSHER : WRITER);
	options += nr + may_die;
	choice = choose(options);
	if (choice == 0)
		return;
	if (choice <= nr) {
		preemptions++;
		if (_setjmp(actors[self].resume) == 0)
			run_actor(list[choice - 1]);
		return;
	}
	die(self);
}

/* The thread that wrote to @cpu last may have migrated: a choice of the scheduler. */
static bool is_moved(trace_u32 cpu)
{
	struct actor *actor = &actors[current];

	if (moves < plan->moves && choose(2)) {
		moves++;
		actor->where[0] = actor->where[1] ^= 1;
		disturb(current);
	}
	return actor->where[1] != cpu;
}

/* Before a step that only the reader of a dead writer's memory can distinguish from the step
 * before. */
static void point_of_death(void)
{
	if (current >= 0 && kills < plan->kills && !plan->flusher_dies && actors[current].role == WRITER && choose(2))
		die(current);
}

/* ---- restartable sequences ---- */

static bool begin_sequence(trace_u32 cpu)
{
	struct actor *actor = &actors[current];

	actor->in_sequence = !is_moved(cpu);
	actor->disturbed = false;
	return actor->in_sequence;
}

/* Before each of its instructions. Returns false if the sequence is aborted. */
static bool goes_on(void)
{
	struct actor *actor = &actors[current];

	point();
	actor->in_sequence &= !actor->disturbed;
	return actor->in_sequence;
}

/* Before instructions that no other actor can distinguish from the one before. */
static bool goes_on_alone(void)
{
	point_of_death();
	return true;
}

static bool end_sequence(bool done)
{
	actors[current].in_sequence = false;
	return done;
}

static bool append(const struct trace_window *window, trace_u64 now, trace_u64 word, const struct user_payload *payload)
{
	trace_u64 size = sizeof(struct trace_record) + user_payload_bytes(payload), block;
	unsigned char *record;

	if (!begin_sequence(window->block ? window->cpu : (trace_u32)(window - windows)) || !goes_on())
		return end_sequence(false);
	if (!window->block || (now - window->base) >> 32 != 0)
		return end_sequence(false);
	if (!goes_on())
		return end_sequence(false);
	block = *window->block;
	if ((trace_u32)block + size > window->bytes)
		return end_sequence(false);
	record = window->subbuf + (trace_u32)block;
	block += size + (1ULL << TRACE_BLOCK_RECORD_SHIFT);
	if (!goes_on())
		return end_sequence(false);
	assert(word >> 48 << 3 == size); /* the instructions read the size from it */
	*(trace_u64 *)(void *)record = window->lap | word | (trace_u32)now;
	goes_on_alone();
	user_payload_store(payload, record + sizeof(struct trace_record));
	if (!goes_on())
		return end_sequence(false);
	*window->block = block;
	return end_sequence(true);
}

static bool swap(trace_u32 cpu, trace_u64 *at, trace_u64 from, trace_u64 to)
{
	if (!begin_sequence(cpu) || !goes_on() || *at != from || !goes_on())
		return end_sequence(false);
	*at = to;
	return end_sequence(true);
}

/* ---- the actors ---- */

/* Two records, or one and a rest, or a tight fit; in the plans of programs two more, in a block. */
#define RING_BYTES (sizeof(struct subbuf_header) + 24 + 32 + (plan->program ? 24 + 32 : 0))

/* As record.c: the fast path; otherwise the ring of the thread's current CPU, which may never have
 * been used. */
static void write_of_program(int id, trace_u32 n)
{
	trace_u32 image[6], *preliminary = NULL, cpu = actors[id].where[0];
	struct ledger_payload head = {(trace_u16)id, n & 1, n, 0};
	struct user_payload payload = {n & 1 ? 6 : 4, 0, image};
	struct subbuf_writer w = ledgers[cpu].writer;
	trace_u64 check = ledger_check_word((trace_u32)id, n);
	struct subbuf_ring ring;

	memcpy(image, &head, sizeof(head));
	memcpy(image + 4, &check, sizeof(check));
	memcpy(&payload.first, &head, sizeof(payload.first));
	attempts[id]++;
	if (user_ring_write(&w, &windows[cpu], actors[id].where, LEDGER_ID, &payload))
		return;
	cpu = actors[id].where[0];
	w = ledgers[cpu].writer;
	w.preliminary = &preliminary;
	if (SUBBUF_LOAD(&w.control->position) == 0)
		subbuf_ring_init(&ring, memory[cpu], RING_BYTES, 2, cpu, SUBBUF_PRODUCER_USER, SUBBUF_CLOCK_TSC, false);
	user_block_close(&w, &windows[cpu], actors[id].where);
	user_ring_write_slow(&w, LEDGER_ID, &payload);
	user_block_open(&w, &windows[cpu], actors[id].where);
}

static void write_all(int id)
{
	int woken = 0;

	for (int n = 0; n < plan->records; n++)
		if (plan->program)
			write_of_program(id, (trace_u32)n);
		else
			ledger_write(&ledgers[0], (unsigned int)id, n & 1 ? 32 : 24, actors[id].clock, &woken);
}

static bool is_set_up(const struct ledger *ledger)
{
	return !plan->program || SUBBUF_LOAD(&ledger->ring.control->position) != 0;
}

/* Looks for a sub-buffer, reads it, and checks that it did not change until the release. */
static void consume(struct ledger *ledger)
{
	static unsigned char copy[1024];
	const struct subbuf_header *header;

	/* the next flusher, after the dead one, while writers continue */
	if (plan->program && plan->flusher_dies && killed >= 0 && is_set_up(ledger))
		subbuf_finish_flush_block(&ledger->ring, false);
	header = is_set_up(ledger) ? subbuf_take(&ledger->ring) : NULL;
	if (!header)
		return;
	memcpy(copy, header, ledger->ring.subbuf_bytes);
	ledger_read(ledger, header, ledger->ring.control->consumed + 1);
	if (memcmp(copy, header, ledger->ring.subbuf_bytes) != 0)
		ledger_fault(ledger, "a sub-buffer changed while it was read");
	subbuf_release(&ledger->ring);
}

/* As the daemon does: on the ring's CPU if there is a block. */
static void flush(struct ledger *ledger)
{
	if (current >= 0 && subbuf_block_is_open(SUBBUF_LOAD(&ledger->ring.control->block))) {
		actors[current].where[0] = (trace_u32)(ledger - ledgers);
		disturb(current);
		subbuf_flush_block(&ledger->ring);
		actors[current].where[0] = NO_CPU;
	} else if (current < 0) {
		subbuf_flush_block(&ledger->ring);
	}
	subbuf_flush(&ledger->ring);
}

/* the records not to be read when a recording began; not exact: their number may still have grown
 * then */
static struct subbuf_count past;

/* Then it takes the records in the ring. */
static void stop_overwriting(struct ledger *ledger)
{
	int self = current;

	SUBBUF_STORE(&overwrites, 0);
	if (!is_set_up(ledger))
		return;
	flush(ledger);
	subbuf_keep(&ledger->ring);
	current = -1; /* at once */
	past = subbuf_records_before(&ledger->ring, ledger->ring.control->consumed + 1);
	if (subbuf_block_is_open(ledger->ring.control->block) &&
	    subbuf_block_seq(&ledger->ring, ledger->ring.control->block) <= ledger->ring.control->consumed)
		ledger_fault(ledger, "what is past can grow");
	current = self;
	ledger->last_seq = ledger->ring.control->consumed;
	consume(ledger);
}

static void actor_main(void)
{
	int self = current;

	for (;;) { /* once per schedule: a stack is set up again only after a death */
		if (actors[self].role == WRITER)
			write_all(self);
		else if (actors[self].role == CONSUMER)
			for (int i = 0; i < plan->takes; i++)
				consume(&ledgers[plan->moves ? i & 1 : 0]);
		else
			for (int i = 0; i < plan->flushes; i++) {
				if (plan->switched)
					stop_overwriting(&ledgers[0]);
				else if (is_set_up(&ledgers[0]))
					flush(&ledgers[0]);
			}
		actors[self].done = true;
		if (_setjmp(actors[self].resume) == 0)
			run_next(self);
	}
}

/* ---- one schedule, and all schedules ---- */

static const char *fault(void)
{
	return ledgers[0].fault ? ledgers[0].fault : ledgers[1].fault;
}

static trace_u64 attempted_by_programs(void)
{
	trace_u64 sum = 0;

	for (int i = 0; plan->program && i < nr_actors; i++)
		sum += (trace_u64)attempts[i];
	return sum;
}

/* After a switch each sub-buffer can be taken in order, and the number of records that are not to
 * be read is known, unless the slot was used again. */
static trace_u64 read_after_switch(struct ledger *ledger)
{
	trace_u64 kept_from = ledger->last_seq - ledger->subbufs + 1;
	struct subbuf_count before;

	flush(ledger);
	ledger_drain(ledger);
	if (ledger->ring.control->consumed != ledger->ring.control->position >> SUBBUF_OFFSET_BITS)
		ledger_fault(ledger, "the ring stands still");
	before = subbuf_records_before(&ledger->ring, kept_from);
	if (past.exact && before.exact && before.records != past.records)
		ledger_fault(ledger, "what is past has grown");
	return before.exact ? before.records
			    : ledger_sum(ledger->attempted) + attempted_by_programs() - ledger->found -
				      ledger->ring.control->discarded;
}

static void read_all(struct ledger *ledger)
{
	flush(ledger);
	if (plan->overwrite)
		ledger_dump(ledger);
	else
		ledger_drain(ledger);
	if (!plan->program)
		ledger_close(ledger);
}

/* Checks once over all rings, which the ledger of one ring cannot do, and that all writers that set
 * a ring up agreed on its header. */
static void check_program(struct ledger *ledger, trace_u32 cpu)
{
	const struct subbuf_control *control = ledger->ring.control;

	if (control->subbuf_bytes != RING_BYTES || control->nr_subbufs != 2 || control->overwrite ||
	    control->cpu != cpu || control->producer != SUBBUF_PRODUCER_USER || control->clock != SUBBUF_CLOCK_TSC)
		ledger_fault(ledger, "a ring is not set up");
}

/* The writer that died was opening the newest sub-buffer. Then a flight recorder may count records
 * in it twice: tracer/CONCURRENCY.md, "Limits". */
static bool is_counted_twice(const struct ledger *ledger)
{
	trace_u64 last = ledger->ring.control->position >> SUBBUF_OFFSET_BITS;

	return plan->program && plan->overwrite && killed >= 0 && subbuf_slot(&ledger->ring, last)->seq != last &&
	       !subbuf_records_before(&ledger->ring, last - 1).exact;
}

static void check_ledgers(void)
{
	trace_u64 attempted = 0, accounted = 0;
	trace_u32 in_flight = 0;
	bool is_twice = false;

	current = -1;
	for (trace_u32 cpu = 0; cpu < NR_RINGS; cpu++) {
		struct ledger *ledger = &ledgers[cpu];

		if (plan->program && is_set_up(ledger))
			check_program(ledger, cpu);
		else if (plan->program || cpu > 0)
			continue;
		if (plan->switched)
			accounted += read_after_switch(ledger);
		else if (plan->flusher_dies &&
			 ((!subbuf_finish_flush_block(&ledger->ring, false) &&
			   !subbuf_finish_flush_block(&ledger->ring, true)) ||
			  (!subbuf_finish_flush(&ledger->ring, false) && !subbuf_finish_flush(&ledger->ring, true))))
			ledger_fault(ledger, "a flush is not finished");
		else if (killed < 0 || plan->flusher_dies)
			read_all(ledger);
		else
			in_flight += ledger_salvage(ledger);
		is_twice |= is_counted_twice(ledger);
		attempted += ledger_sum(ledger->attempted);
		accounted += ledger->found + ledger->ring.control->discarded;
		if (!plan->switched)
			accounted += plan->program && plan->overwrite ? ledger_overwritten(ledger)
								      : ledger->ring.control->overwritten;
	}
	attempted += attempted_by_programs();
	/* The record that a dead writer was writing is lost, and need not be counted; every other
	 * record must be. */
	if (accounted + (killed >= 0 && !plan->flusher_dies) < attempted || (accounted > attempted && !is_twice))
		ledger_fault(&ledgers[0], killed < 0 ? "attempted != found + lost"
						     : "a death cost more than the record in progress");
	if (in_flight > 1 || (accounted + in_flight > attempted && !is_twice))
		ledger_fault(&ledgers[0], "more records in flight than dead writers");
}

static void set_up(void)
{
	memset(windows, 0, sizeof(windows));
	for (trace_u32 cpu = 0; cpu < (plan->program ? NR_RINGS : 1); cpu++) {
		memset(memory[cpu], 0, SUBBUF_CONTROL_BYTES);
		memset(memory[cpu] + SUBBUF_CONTROL_BYTES, 0, sizeof(memory[cpu]) - SUBBUF_CONTROL_BYTES);
		ledger_init(&ledgers[cpu], memory[cpu], RING_BYTES, 2, plan->overwrite && !plan->program);
		if (!plan->program)
			continue;
		overwrites = plan->overwrite;
		ledgers[cpu].writer.overwrites = plan->overwrite || plan->switched ? &overwrites : NULL;
		ledgers[cpu].writer.cpu = ledgers[cpu].cpu = cpu;
		ledgers[cpu].any_order = true;
		memset(memory[cpu], 0, SUBBUF_CONTROL_BYTES);
		memset(memory[cpu] + SUBBUF_CONTROL_BYTES, 0, sizeof(struct subbuf_header));
	}
}

static void run_schedule(void)
{
	int list[MAX_ACTORS];

	current = -1;
	set_up();
	clock_ns = 1000;
	depth = preemptions = kills = moves = 0;
	killed = -1;
	past.exact = false;
	if (plan->program)
		memset(programs_records, 0, sizeof(programs_records));
	for (int i = 0; i < nr_actors; i++) {
		actors[i].begun = actors[i].done = actors[i].in_sequence = false;
		actors[i].where[0] = actors[i].where[1] = actors[i].role == WRITER ? 0 : NO_CPU;
		attempts[i] = 0;
	}
	if (_setjmp(driver) == 0) {
		int nr = others(-1, list);

		run_actor(list[choose(nr)]);
	}
	check_ledgers();
	schedules++;
}

/* Prepares the next schedule. Returns false after the last one. */
static bool next_schedule(void)
{
	while (recorded > 0 && trail[recorded - 1].choice + 1 == trail[recorded - 1].options)
		recorded--;
	if (recorded == 0)
		return false;
	trail[recorded - 1].choice++;
	return true;
}

static void add_actor(enum role role)
{
	actors[nr_actors].role = role;
	actors[nr_actors].fresh = true;
	nr_actors++;
}

/*
 * A search that takes longer than its time goes on as a sample: from then on, after every 4,096
 * schedules, it skips the rest of those that share a beginning, of random length, with the last
 * one. So what it still searches is from all over the tree, and it ends soon. The day chooses the
 * lengths. In ./check --long the searches with the bound of ./check have no limit and are complete.
 */
static double limit_s; /* 0: none */
static double begin_s;
static bool has_skipped;

static double cpu_s(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static bool has_time(void)
{
	double spent_s = limit_s > 0 && schedules % 4096 == 0 ? cpu_s() - begin_s : 0;

	if (spent_s <= limit_s)
		return true;
	has_skipped = true;
	if (spent_s > 2.0 * limit_s)
		return false;
	recorded = recorded > 1 ? 1 + (int)(random() % recorded) : recorded;
	return true;
}

static void explore(const struct plan *with)
{
	plan = with;
	has_skipped = false;
	nr_actors = 0;
	recorded = 0;
	schedules = 0;
	for (int i = 0; i < plan->writers; i++)
		add_actor(WRITER);
	if (plan->takes)
		add_actor(CONSUMER);
	if (plan->flushes)
		add_actor(FLUSHER);
	begin_s = cpu_s();
	do
		run_schedule();
	while (!fault() && has_time() && next_schedule());
	printf("(%llu schedules%s) ", schedules, has_skipped ? ", a sample" : "");
	if (fault()) {
		printf("\n    %s; choices", fault());
		for (int i = 0; i < recorded; i++)
			printf(" %d", trail[i].choice);
		printf("\n    ");
	}
	CU_ASSERT_PTR_NULL(fault());
}

static int deeper; /* TRACE_TEST_LONG: then with one more preemption, too */
static int fewer;  /* else: one preemption less in the plans of many seconds */

static void explore_plan(struct plan with)
{
	limit_s = deeper || getenv("TRACE_TEST_WHOLE") ? 0 : LIMIT_S;
	explore(&with);
	with.bound++;
	limit_s = DEEP_LIMIT_S;
	if (deeper)
		explore(&with);
}

static void writers_and_consumer(void)
{
	explore_plan((struct plan){.writers = 3, .records = 2, .takes = 2, .bound = 3, .step = 1});
}

static void writers_consumer_and_flusher(void)
{
	explore_plan((struct plan){.writers = 2, .records = 2, .takes = 2, .flushes = 2, .bound = 3, .step = 1});
}

static void three_writers_and_flusher(void)
{
	explore_plan((struct plan){.writers = 3, .records = 2, .flushes = 1, .bound = 3, .step = 1});
}

static void flight_recorder(void)
{
	explore_plan((struct plan){.writers = 3, .records = 2, .bound = 3, .overwrite = true, .step = 1});
}

static void flight_recorder_of_two_that_laps(void)
{
	explore_plan((struct plan){.writers = 2, .records = 5, .bound = 3, .overwrite = true, .step = 1});
}

static void times_that_expire(void)
{
	explore_plan((struct plan){.writers = 2, .records = 2, .takes = 2, .bound = 3, .step = (1ULL << 31) + 5});
}

static void times_that_expire_at_every_look(void)
{
	explore_plan((struct plan){.writers = 2, .records = 2, .takes = 1, .bound = 2, .step = (1ULL << 32) + 5});
}

static void a_writer_dies(void)
{
	explore_plan((struct plan){.writers = 3, .records = 2, .takes = 1, .bound = 2, .kills = 1, .step = 1});
}

static void programs_set_up_a_ring_at_once(void)
{
	explore_plan((struct plan){
		.writers = 3, .records = 1, .takes = 1, .flushes = 1, .bound = 2, .program = true, .step = 1});
}

static void programs_writers_and_consumer(void)
{
	explore_plan((struct plan){.writers = 3, .records = 2, .takes = 2, .bound = 2, .program = true, .step = 1});
	explore_plan((struct plan){.writers = 2, .records = 4, .takes = 2, .bound = 3, .program = true, .step = 1});
}

static void programs_are_moved(void)
{
	explore_plan((struct plan){
		.writers = 2, .records = 3, .takes = 2, .bound = 2, .program = true, .moves = 2, .step = 1});
}

static void programs_times_expire(void)
{
	explore_plan((struct plan){
		.writers = 2, .records = 3, .takes = 2, .bound = 2, .program = true, .step = (1ULL << 31) + 5});
}

static void a_program_dies(void)
{
	struct plan with = {.writers = 2, .records = 2, .takes = 1, .bound = 2, .kills = 1, .program = true, .step = 1};

	explore_plan(with);
	with.moves = 1;
	with.bound -= fewer;
	explore_plan(with);
}

/* The next flusher finishes the flush, whether or not the dead one closed the sub-buffer and
 * announced that. */
static void a_flusher_dies(void)
{
	explore_plan((struct plan){
		.writers = 2, .records = 2, .flushes = 2, .bound = 2, .kills = 1, .flusher_dies = true, .step = 1});
	explore_plan((struct plan){.writers = 2,
				   .records = 3,
				   .takes = 1,
				   .flushes = 1,
				   .bound = 2,
				   .kills = 1,
				   .flusher_dies = true,
				   .step = 1});
}

/* Also in the middle of closing a block. */
static void a_programs_flusher_dies(void)
{
	explore_plan((struct plan){.writers = 2,
				   .records = 3,
				   .flushes = 2,
				   .bound = 2,
				   .kills = 1,
				   .flusher_dies = true,
				   .program = true,
				   .step = 1});
	explore_plan((struct plan){.writers = 2,
				   .records = 3,
				   .takes = 2,
				   .flushes = 1,
				   .bound = 2,
				   .kills = 1,
				   .flusher_dies = true,
				   .program = true,
				   .step = 1});
}

static void programs_writers_and_flusher(void)
{
	explore_plan((
		struct plan){.writers = 2, .records = 4, .flushes = 2, .bound = 3 - fewer, .program = true, .step = 1});
	explore_plan((struct plan){.writers = 2,
				   .records = 3,
				   .takes = 2,
				   .flushes = 1,
				   .bound = 2,
				   .program = true,
				   .moves = 1,
				   .step = 1});
}

static void programs_flight_recorder(void)
{
	explore_plan(
		(struct plan){.writers = 2, .records = 5, .bound = 2, .program = true, .overwrite = true, .step = 1});
	explore_plan(
		(struct plan){.writers = 3, .records = 2, .bound = 2, .program = true, .overwrite = true, .step = 1});
}

static void a_program_dies_in_flight(void)
{
	explore_plan((struct plan){
		.writers = 2, .records = 3, .bound = 2, .kills = 1, .program = true, .overwrite = true, .step = 1});
}

static void a_recording_follows_a_flight(void)
{
	explore_plan((struct plan){.writers = 2,
				   .records = 4,
				   .flushes = 1,
				   .bound = 2,
				   .program = true,
				   .overwrite = true,
				   .switched = true,
				   .step = 1});
}

static const struct unit_case cases[] = {
	{"writers_and_consumer", writers_and_consumer},
	{"writers_consumer_and_flusher", writers_consumer_and_flusher},
	{"three_writers_and_flusher", three_writers_and_flusher},
	{"flight_recorder", flight_recorder},
	{"flight_recorder_of_two_that_laps", flight_recorder_of_two_that_laps},
	{"times_that_expire", times_that_expire},
	{"times_that_expire_at_every_look", times_that_expire_at_every_look},
	{"a_writer_dies", a_writer_dies},
	{"programs_set_up_a_ring_at_once", programs_set_up_a_ring_at_once},
	{"programs_writers_and_consumer", programs_writers_and_consumer},
	{"programs_are_moved", programs_are_moved},
	{"programs_times_expire", programs_times_expire},
	{"a_program_dies", a_program_dies},
	{"programs_writers_and_flusher", programs_writers_and_flusher},
	{"a_flusher_dies", a_flusher_dies},
	{"a_programs_flusher_dies", a_programs_flusher_dies},
	{"programs_flight_recorder", programs_flight_recorder},
	{"a_program_dies_in_flight", a_program_dies_in_flight},
	{"a_recording_follows_a_flight", a_recording_follows_a_flight},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	deeper = getenv("TRACE_TEST_LONG") != NULL;
	fewer = !deeper;
	srandom(1 + (unsigned int)unit_first(1 << 30));
	return unit_main("interleave", cases, argc, argv);
}
