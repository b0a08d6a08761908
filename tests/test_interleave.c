/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_interleave.c - every interleaving of writers, consumer and flusher, on the ring code that is shipped.
 *
 * Stateless model checking. Each actor is a coroutine; before each access to shared memory that another actor could see
 * it calls point(), where it goes on or another actor takes over. One run of all actors to their end is a schedule; the
 * choices made are kept in trail[], and the next run repeats all but the last choice that has an alternative: a depth-first
 * walk through all schedules with at most `bound` preemptions (a switch away from an actor that could go on; at
 * its end any other may follow). Bugs of lock-free code need few preemptions, so a small bound finds them all the same
 * (Musuvathi and Qadeer, "Iterative context bounding", PLDI 2007). Writers are alike: one that has not begun stands for all of
 * them. A plan may also let one writer die at any point.
 *
 * This is sequential consistency only; the order of memory is checked by test_subbuf.c under TSan.
 */
#include <setjmp.h>
#include <stdio.h>
#include <ucontext.h>
#include "unit.h"

static void point(void);
static void point_of_death(void);

/* The consumer's side makes its points through the builtins that it uses. */
#define __atomic_load_n(p, order) (point(), __atomic_load_n(p, order))
#define __atomic_store_n(p, v, order) (point(), __atomic_store_n(p, v, order))
#define __atomic_fetch_add(p, v, order) (point(), __atomic_fetch_add(p, v, order))
#define __atomic_compare_exchange_n(p, o, n, weak, s, f) (point(), __atomic_compare_exchange_n(p, o, n, weak, s, f))
#include <trace/subbuf.h>
#undef __atomic_load_n
#undef __atomic_store_n
#undef __atomic_fetch_add
#undef __atomic_compare_exchange_n

#define LEDGER_POINT() point()
#define LEDGER_OWN_POINT() point_of_death()
#define LEDGER_NOW() read_clock()
static trace_u64 read_clock(void);
#include "ring_ledger.h"

#define MAX_ACTORS 6
#define MAX_TRAIL 512

struct plan {
	const char *name;
	int writers;
	int records; /* of each */
	int takes;   /* looks of the consumer; 0 = no consumer */
	int flushes; /* of the flusher; 0 = none */
	int bound;
	int kills;
	bool overwrite;
	trace_u64 step; /* of the clock */
};

enum role { WRITER, CONSUMER, FLUSHER };

struct actor {
	enum role role;
	bool begun;
	bool done;
	bool fresh; /* its stack is at the top of actor_main() */
	jmp_buf resume;
	trace_u64 clock[2];
	char stack[64 << 10] __attribute__((aligned(16)));
};

static struct actor actors[MAX_ACTORS];
static int nr_actors, current;
static jmp_buf driver;

static const struct plan *plan;
static int preemptions, kills;
static int killed; /* the actor, or -1 */
static struct {
	unsigned char choice, options;
} trail[MAX_TRAIL];
static int depth, recorded;
static unsigned long long schedules;

static struct ledger ledger;
static unsigned char memory[SUBBUF_CONTROL_BYTES + 1024] __attribute__((aligned(64)));
static trace_u64 clock_ns;

static trace_u64 read_clock(void)
{
	trace_u64 *clock = actors[current].clock;

	clock[1] = clock[0];
	return clock[0] = clock_ns += plan->step;
}

/* ---- the scheduler ---- */

/* Which of @options; the first time the first. */
static int choose(int options)
{
	if (options == 1)
		return 0;
	if (depth == recorded) {
		assert(recorded < MAX_TRAIL);
		trail[recorded].choice = 0;
		trail[recorded++].options = (unsigned char)options;
	}
	assert(trail[depth].options == options); /* a run repeats exactly */
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

static void run_actor(int next)
{
	struct actor *actor = &actors[next];
	ucontext_t context;

	current = next;
	actor->begun = true;
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

/* The current actor is at its end, or dead: whoever may run next does. */
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

	if (self < 0) /* the driver looks on */
		return;
	if (preemptions < plan->bound)
		nr = others(self, list);
	may_die = kills < plan->kills && actors[self].role == WRITER;
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

/* Before what only the reader of the dead can tell from the step before. */
static void point_of_death(void)
{
	if (current >= 0 && kills < plan->kills && actors[current].role == WRITER && choose(2))
		die(current);
}

/* ---- the actors ---- */

static void write_all(int id)
{
	int woken = 0;

	for (int n = 0; n < plan->records; n++)
		ledger_write(&ledger, (unsigned int)id, n & 1 ? 32 : 24, actors[id].clock, &woken);
}

/* Looks, reads, and sees that what was read stayed as it was until the release. */
static void consume(void)
{
	static unsigned char copy[1024];
	const struct subbuf_header *header;

	for (int i = 0; i < plan->takes; i++) {
		header = subbuf_take(&ledger.ring);
		if (!header)
			continue;
		memcpy(copy, header, ledger.ring.subbuf_bytes);
		ledger_read(&ledger, header, ledger.ring.control->consumed + 1);
		if (memcmp(copy, header, ledger.ring.subbuf_bytes) != 0)
			ledger_fault(&ledger, "a sub-buffer changed while it was read");
		subbuf_release(&ledger.ring);
	}
}

static void actor_main(void)
{
	int self = current;

	for (;;) { /* once per schedule: a stack is set up again only after a death */
		if (actors[self].role == WRITER)
			write_all(self);
		else if (actors[self].role == CONSUMER)
			consume();
		else
			for (int i = 0; i < plan->flushes; i++)
				subbuf_flush(&ledger.ring);
		actors[self].done = true;
		if (_setjmp(actors[self].resume) == 0)
			run_next(self);
	}
}

/* ---- one schedule, and all ---- */

static void check_books(void)
{
	trace_u64 attempted = ledger_sum(ledger.attempted), accounted;
	trace_u32 in_flight;

	current = -1;
	if (killed < 0)
		subbuf_flush(&ledger.ring);
	if (killed < 0) {
		if (plan->overwrite)
			ledger_dump(&ledger);
		else
			ledger_drain(&ledger);
		ledger_close(&ledger);
		return;
	}
	/* The record that the dead writer was in is lost, and may not be counted; nothing else. */
	in_flight = ledger_salvage(&ledger);
	accounted = ledger.found + ledger.ring.control->discarded;
	if (accounted + 1 < attempted || accounted > attempted)
		ledger_fault(&ledger, "a death cost more than the record in progress");
	if (in_flight > 1)
		ledger_fault(&ledger, "more records in flight than dead writers");
}

static void run_schedule(void)
{
	volatile trace_u32 bytes = sizeof(struct subbuf_header) + 24 + 32; /* two records, or one and a rest, or a tight fit */
	int list[MAX_ACTORS];

	memset(memory, 0, SUBBUF_CONTROL_BYTES - 3072);
	memset(memory + SUBBUF_CONTROL_BYTES, 0, sizeof(memory) - SUBBUF_CONTROL_BYTES);
	current = -1;
	ledger_init(&ledger, memory, bytes, 2, plan->overwrite);
	clock_ns = 1000;
	depth = preemptions = kills = 0;
	killed = -1;
	for (int i = 0; i < nr_actors; i++)
		actors[i].begun = actors[i].done = false;
	if (_setjmp(driver) == 0) {
		int nr = others(-1, list);

		run_actor(list[choose(nr)]);
	}
	check_books();
	schedules++;
}

/* The next schedule; false after the last. */
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

static void explore(const struct plan *with)
{
	plan = with;
	nr_actors = 0;
	recorded = 0;
	schedules = 0;
	for (int i = 0; i < plan->writers; i++)
		add_actor(WRITER);
	if (plan->takes)
		add_actor(CONSUMER);
	if (plan->flushes)
		add_actor(FLUSHER);
	do
		run_schedule();
	while (!ledger.fault && next_schedule());
	printf("(%llu schedules) ", schedules);
	if (ledger.fault) {
		printf("\n    %s; choices", ledger.fault);
		for (int i = 0; i < recorded; i++)
			printf(" %d", trail[i].choice);
		printf("\n    ");
	}
	CU_ASSERT_PTR_NULL(ledger.fault);
}

static int deeper; /* TRACE_TEST_LONG: one more preemption */

static void explore_plan(struct plan with)
{
	with.bound += deeper;
	explore(&with);
}

static void writers_and_consumer(void)
{
	explore_plan((struct plan){ .writers = 3, .records = 2, .takes = 2, .bound = 3, .step = 1 });
}

static void writers_consumer_and_flusher(void)
{
	explore_plan((struct plan){ .writers = 2, .records = 2, .takes = 2, .flushes = 2, .bound = 3, .step = 1 });
}

static void three_writers_and_flusher(void)
{
	explore_plan((struct plan){ .writers = 3, .records = 2, .flushes = 1, .bound = 3, .step = 1 });
}

static void flight_recorder(void)
{
	explore_plan((struct plan){ .writers = 3, .records = 2, .bound = 3, .overwrite = true, .step = 1 });
}

static void flight_recorder_of_two_that_laps(void)
{
	explore_plan((struct plan){ .writers = 2, .records = 5, .bound = 3, .overwrite = true, .step = 1 });
}

static void times_that_expire(void)
{
	explore_plan((struct plan){ .writers = 2, .records = 2, .takes = 2, .bound = 3, .step = (1ULL << 31) + 5 });
}

static void times_that_expire_at_every_look(void)
{
	explore_plan((struct plan){ .writers = 2, .records = 2, .takes = 1, .bound = 2, .step = (1ULL << 32) + 5 });
}

static void a_writer_dies(void)
{
	explore_plan((struct plan){ .writers = 3, .records = 2, .takes = 1, .bound = 2, .kills = 1, .step = 1 });
}

static const struct unit_case cases[] = {
	{ "writers_and_consumer", writers_and_consumer },
	{ "writers_consumer_and_flusher", writers_consumer_and_flusher },
	{ "three_writers_and_flusher", three_writers_and_flusher },
	{ "flight_recorder", flight_recorder },
	{ "flight_recorder_of_two_that_laps", flight_recorder_of_two_that_laps },
	{ "times_that_expire", times_that_expire },
	{ "times_that_expire_at_every_look", times_that_expire_at_every_look },
	{ "a_writer_dies", a_writer_dies },
	{ NULL, NULL },
};

int main(int argc, char **argv)
{
	deeper = getenv("TRACE_TEST_LONG") != NULL;
	return unit_main("interleave", cases, argc, argv);
}
