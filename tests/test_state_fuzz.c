/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_fuzz.c - whatever the events say, the books balance.
 *
 * Events of every kind, valid in their shape and random in all else: threads run on two CPUs at once, die twice, return from calls they never
 * made. Three moods: pure noise, a plausible machine with some noise, and one that is crowded, where threads seldom sleep and so wait for each other's
 * turns, often many of them. Much happens at the same time, also at the very end. The interval hook is checked against the books: the intervals of each thread
 * cover its life without hole or overlap. So are the bills of servers, critical paths, and what lies between programs' events.
 *
 *	test_state_fuzz            200,000 events in several traces
 */
#include <stdlib.h>
#include <trace/analysis.h>
#include <trace/critical_path.h>
#include <trace/servers.h>
#include <trace/user_events.h>
#include "builder.h"
#include "image.h"
#include "unit.h"

#define NR_CPUS 3
#define EVENTS_PER_TRACE 4000
#define NR_TRACES 13 /* of each mood */

/**
 * struct mood - what a trace is like
 * @noise: percent of the events are random in all
 * @switches: percent of the rest are switches, @sleeps of these end with a sleep
 * @cuts: percent of the events begin a new chunk of their CPU
 * @streams: structural events and those of programs have streams of their own, and chunks of one stream may overlap
 * @masks: what is recorded changes
 * @moves: threads are moved from CPU to CPU, made and freed
 * @programs: threads tell of scopes and requests, under numbers that others have later
 */
struct mood {
	uint32_t noise, nr_tids, switches, sleeps, cuts;
	bool losses, streams, masks, programs, moves;
};

struct dice {
	uint64_t state;
	const struct mood *mood;
};

static uint64_t roll(struct dice *dice)
{
	uint64_t x = dice->state += 0x9e3779b97f4a7c15ULL; /* splitmix64 */

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return x ^ x >> 31;
}

static uint64_t below(struct dice *dice, uint64_t n)
{
	return roll(dice) % n;
}

/* A field's value: small, so that threads and descriptors meet; now and then absurd. */
static uint64_t value(struct dice *dice, const struct trace_field *field)
{
	if (below(dice, 200) == 0)
		return roll(dice);
	switch (field->kind) {
	case TRACE_KIND_TID:
		return below(dice, dice->mood->nr_tids);
	case TRACE_KIND_CPU:
		return below(dice, NR_CPUS);
	case TRACE_KIND_STATE:
		return (uint64_t[]){0, 0, 1, 2, 4, 8, 0x80, 0x20}[below(dice, 8)];
	case TRACE_KIND_SYSCALL:
		return below(dice, 460);
	case TRACE_KIND_RESULT:
		return below(dice, 4) ? below(dice, 20) : (uint64_t)-(int64_t)below(dice, 600);
	case TRACE_KIND_HEX:
		return below(dice, 2) ? below(dice, 8) : below(dice, 1 << 20) << 12;
	case TRACE_KIND_MODE:
		return (uint64_t[]){0100000, 0040000, 0010000, 0140000, 0020000, 0}[below(dice, 6)];
	default:
		return below(dice, 12);
	}
}

static bool is_structural(uint32_t id)
{
	return id == TRACE_EV_sched_fork || id == TRACE_EV_sched_exec || id == TRACE_EV_sched_exit || id == TRACE_EV_fs_open;
}

static void random_event(struct tb *tb, struct dice *dice, const struct trace_event_type *type, uint32_t cpu, uint64_t ts_ns, bool start)
{
	static const char *const texts[] = {"", "a", "/usr/bin/make", "pipe:[7]", "socket:[3]", "\x01\xff\"\\", "anon_inode:[eventpoll]"};
	unsigned char payload[256] = {0};
	const char *string = type->has_string ? texts[below(dice, sizeof(texts) / sizeof(texts[0]))] : NULL;

	for (unsigned int i = 0; i < type->nr_fields; i++) {
		uint64_t v = value(dice, &type->fields[i]);

		if (type->fields[i].bytes)
			memcpy(payload + type->fields[i].offset, &v, type->fields[i].bytes);
	}
	if (start)
		tb_start(tb, ts_ns, type->id, payload, type->fixed_bytes, string);
	else if (dice->mood->streams && is_structural(type->id))
		tb_structural_event(tb, cpu, ts_ns, type->id, payload, type->fixed_bytes, string);
	else
		tb_event(tb, cpu, ts_ns, type->id, payload, type->fixed_bytes, string);
}

static const struct trace_event_type *random_type(struct dice *dice)
{
	static const uint16_t common[] = {TRACE_EV_sched_switch, TRACE_EV_sched_waking, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6, TRACE_EV_sys_exit,
					  TRACE_EV_fault_entry,	 TRACE_EV_fault_exit,	TRACE_EV_irq_entry,  TRACE_EV_irq_exit,	  TRACE_EV_fs_open,
					  TRACE_EV_sched_fork,	 TRACE_EV_sched_exec};
	uint16_t wanted = common[below(dice, sizeof(common) / sizeof(common[0]))];

	for (;;) {
		const struct trace_event_type *type = trace_catalogue_type(below(dice, trace_catalogue_size()));

		if (below(dice, 3) && type->id != wanted)
			continue;
		if (type->id > TRACE_EV_start_cgroup) /* not of the trace about itself, not of the start state */
			return type;
	}
}

/* Who runs where, so that a plausible trace can be told. */
struct machine {
	uint32_t running[NR_CPUS];
};

/* Of some that are switched the quota is used up, or was, for however long. */
static void quota(struct tb *tb, struct dice *dice, uint32_t cpu, uint64_t ts_ns, uint32_t tid, bool over)
{
	struct trace_sched_quota event = {.tid = tid, .over = over, .ns = over ? below(dice, 1000) : 0};

	if (tid && below(dice, 10) == 0)
		tb_event(tb, cpu, ts_ns, TRACE_EV_sched_quota, &event, sizeof(event), NULL);
}

static void plausible_event(struct tb *tb, struct dice *dice, struct machine *machine, uint32_t cpu, uint64_t ts_ns)
{
	uint32_t next = (uint32_t)below(dice, dice->mood->nr_tids);

	for (int i = 0; i < NR_CPUS; i++)
		if (machine->running[i] == next)
			next = 0;
	if (below(dice, 100) < dice->mood->switches) {
		quota(tb, dice, cpu, ts_ns, machine->running[cpu], false);
		quota(tb, dice, cpu, ts_ns, next, true);
		tb_switch(tb, cpu, ts_ns, machine->running[cpu], next, below(dice, 100) < dice->mood->sleeps ? TRACE_TASK_INTERRUPTIBLE : TRACE_TASK_RUNNING);
		machine->running[cpu] = next;
		return;
	}
	switch (below(dice, 6)) {
	case 0:
		tb_waking(tb, cpu, ts_ns, next, (enum trace_context)below(dice, 3));
		break;
	case 1:
		tb_sys_enter(tb, cpu, ts_ns, (uint32_t)below(dice, 440), below(dice, 8), 4096, below(dice, 64));
		break;
	case 2:
		tb_sys_exit(tb, cpu, ts_ns, (int64_t)below(dice, 100) - 20);
		break;
	case 3:
		tb_fault(tb, cpu, ts_ns, below(dice, 1 << 16) << 12, below(dice, 2));
		break;
	case 4:
		tb_fault_end(tb, cpu, ts_ns, below(dice, 2));
		break;
	default:
		if (below(dice, 2))
			tb_softirq(tb, cpu, ts_ns, (uint32_t)below(dice, 10));
		else
			tb_softirq_exit(tb, cpu, ts_ns, (uint32_t)below(dice, 10));
	}
}

static void moving_event(struct tb *tb, struct dice *dice, const struct machine *machine, uint32_t cpu, uint64_t ts_ns)
{
	uint32_t tid = 1 + (uint32_t)below(dice, dice->mood->nr_tids - 1);
	struct trace_sched_migrate migrate = {.tid = tid, .from_cpu = cpu, .to_cpu = (uint32_t)below(dice, NR_CPUS)};
	struct trace_sched_wakeup_new new = {.tid = tid, .target_cpu = (uint32_t)below(dice, NR_CPUS)};
	struct trace_sched_free gone = {.tid = tid};

	switch (below(dice, 8)) {
	case 0:
		tb_fork(tb, cpu, ts_ns, machine->running[cpu], tid, below(dice, 2) ? tid : machine->running[cpu], "child");
		break;
	case 1:
		tb_event(tb, cpu, ts_ns, TRACE_EV_sched_wakeup_new, &new, sizeof(new), NULL);
		break;
	case 2:
		tb_exit(tb, cpu, ts_ns, machine->running[cpu], machine->running[cpu], true);
		break;
	case 3:
		tb_event(tb, cpu, ts_ns, TRACE_EV_sched_free, &gone, sizeof(gone), NULL);
		break;
	case 4:
		tb_exec(tb, cpu, ts_ns, machine->running[cpu], "/usr/bin/make");
		break;
	default:
		tb_event(tb, cpu, ts_ns, TRACE_EV_sched_migrate, &migrate, sizeof(migrate), NULL);
	}
}

/* Threads that are told to be hidden, and to have slept since some time, whatever the events say. */
static void hidden_threads(struct tb *tb, struct dice *dice)
{
	for (uint64_t nr = below(dice, 4); nr; nr--) {
		uint32_t tid = 1 + (uint32_t)below(dice, dice->mood->nr_tids - 1);
		struct trace_start_thread start = {.tid = tid, .tgid = tid, .nr = -1, .flags = TRACE_THREAD_HIDDEN, .state = TRACE_TASK_INTERRUPTIBLE};
		struct trace_thread_runs runs = {.tid = tid, .state = TRACE_TASK_INTERRUPTIBLE, .switches = 7};
		uint64_t ts_ns = 1000 + below(dice, 50000);

		tb_start(tb, ts_ns, TRACE_EV_start_thread, &start, sizeof(start), "hidden");
		tb_start(tb, ts_ns + 1, TRACE_EV_thread_runs, &runs, sizeof(runs), NULL);
		tb_start(tb, ts_ns + 2 + below(dice, 100000), TRACE_EV_thread_runs, &runs, sizeof(runs), NULL);
	}
}

static uint16_t order_paid(struct tb *tb)
{
	static const struct trace_field fields[] = {{.name = "id", .bytes = 8}};
	static const struct trace_event_type type = {.name = "shop:order_paid", .classic = "NONE", .text = "", .doc = "", .program = "NONE", .source = "",
						     .fields = fields, .nr_fields = 1, .fixed_bytes = 8};

	return tb_user_type(tb, &type);
}

/* What programs tell of: all of what one begins, another may end. */
struct told {
	uint16_t ids[7];
};

static struct told told_types(struct tb *tb)
{
	static const struct {
		const char *name;
		enum trace_event_role role;
	} kinds[] = {
		{"shop:a.begin", TRACE_ROLE_BEGIN},	    {"shop:a.end", TRACE_ROLE_END},	       {"shop:order.begin", TRACE_ROLE_REQUEST_BEGIN},
		{"shop:order.end", TRACE_ROLE_REQUEST_END}, {"shop:order.handoff", TRACE_ROLE_REQUEST_HANDOFF}, {"shop:met", TRACE_ROLE_EVENT},
		{"shop:depth", TRACE_ROLE_COUNTER},
	};
	static const struct trace_field value = {.name = "value", .offset = 8, .bytes = 8, .kind = TRACE_KIND_DEC};
	struct told told;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct trace_event_type type = {.name = kinds[i].name, .classic = "NONE", .text = "", .doc = "", .program = "NONE", .source = "", .fields = &value,
						.nr_fields = 1, .fixed_bytes = 16, .category = TRACE_CATEGORY_USER,
						.flags = TRACE_EVENT_ON | TRACE_EVENT_TID, .role = kinds[i].role};

		told.ids[i] = tb_user_type(tb, &type);
	}
	return told;
}

/* Mostly by who is on the CPU; now and then by somebody else, or out of a container. */
static void told_event(struct tb *tb, struct dice *dice, const struct machine *machine, const struct told *told, uint32_t cpu, uint64_t ts_ns)
{
	uint32_t tid = below(dice, 8) ? machine->running[cpu] : (uint32_t)below(dice, dice->mood->nr_tids);
	struct trace_user_stream stream = {.stream = TB_USER_STREAM + cpu, .pid = 1 + (uint32_t)below(dice, 3), .cpu = cpu};
	struct {
		uint32_t tid, pad;
		uint64_t value;
	} payload = {.tid = tid, .value = below(dice, 4)};

	if (below(dice, 100) == 0)
		tb_event(tb, cpu, ts_ns, TRACE_EV_user_stream, &stream, sizeof(stream), "/bin/shop");
	tb_user_event(tb, cpu, ts_ns, told->ids[below(dice, 7)], &payload, sizeof(payload));
}

/* A new chunk; where writers nest, it begins before the end of the one before it. */
static void random_cut(struct tb *tb, struct dice *dice, struct machine *machine, uint32_t cpu, uint64_t ts_ns)
{
	uint64_t back_ns;

	switch (dice->mood->streams ? below(dice, 4) : 0) {
	case 0:
		tb_cut(tb, cpu);
		break;
	case 1:
		tb_structural_cut(tb, cpu);
		break;
	case 2:
		tb_user_cut(tb, cpu);
		break;
	default:
		tb_cut(tb, cpu);
		back_ns = 5 + below(dice, 150);
		for (uint64_t i = below(dice, 5); i && ts_ns > 1000 + back_ns; i--)
			plausible_event(tb, dice, machine, cpu, ts_ns - back_ns--);
	}
}

/* Events may come all the same: a mask takes some time to be everywhere. */
static void random_mask(struct tb *tb, struct dice *dice, uint32_t cpu, uint64_t ts_ns)
{
	static const uint32_t ids[] = {TRACE_EV_sched_switch, TRACE_EV_sched_waking, TRACE_EV_sys_enter, TRACE_EV_sys_enter3, TRACE_EV_sys_enter6,
				       TRACE_EV_sys_exit, TRACE_EV_fault_entry, TRACE_EV_fault_exit, TRACE_EV_sock_recv, TRACE_EV_softirq_exit};
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (below(dice, 4) == 0)
			mask[ids[i] / 64] &= ~(1ull << ids[i] % 64);
	tb_event(tb, cpu, ts_ns, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
}

static struct tb *random_story(uint64_t seed, const struct mood *mood)
{
	struct dice dice = {seed, mood};
	struct machine machine = {{0}};
	struct tb *tb = tb_new();
	uint16_t paid = mood->streams ? order_paid(tb) : 0;
	struct told told = mood->programs ? told_types(tb) : (struct told){0};
	uint64_t ts_ns = 1000;

	for (unsigned int i = 0; i < 40; i++)
		tb_string(tb, TRACE_STRING_SYSCALL, below(&dice, 460),
			  (const char *[]){"read", "write", "openat", "close", "mmap", "munmap", "clone", "execve", "poll", "futex", "wait4",
					   "dup2", "fcntl", "exit", "nanosleep", "epoll_wait", "accept", "close_range", "splice", "mremap"}[i % 20]);
	for (unsigned int i = 0; i < below(&dice, 30); i++) {
		const struct trace_event_type *type = trace_catalogue_type(below(&dice, trace_catalogue_size()));

		if (type->id >= TRACE_EV_thread_runs && type->id <= TRACE_EV_start_cgroup)
			random_event(tb, &dice, type, 0, 1000 + below(&dice, 2000), true);
	}
	if (seed % 2)
		hidden_threads(tb, &dice);
	for (unsigned int i = 0; i < EVENTS_PER_TRACE; i++) {
		uint32_t cpu = (uint32_t)below(&dice, NR_CPUS);

		ts_ns += below(&dice, 2) * below(&dice, 100);
		if (mood->losses && below(&dice, 500) == 0)
			tb_lost(tb, cpu, 1 + below(&dice, 9));
		if (mood->cuts && below(&dice, 100) < mood->cuts)
			random_cut(tb, &dice, &machine, cpu, ts_ns);
		if (mood->streams && below(&dice, 30) == 0)
			tb_user_event(tb, cpu, ts_ns, paid, &(uint64_t){below(&dice, 5)}, sizeof(uint64_t));
		if (mood->programs && below(&dice, 5) == 0)
			told_event(tb, &dice, &machine, &told, cpu, ts_ns);
		if (mood->moves && below(&dice, 8) == 0)
			moving_event(tb, &dice, &machine, cpu, ts_ns);
		if (mood->masks && below(&dice, 400) == 0)
			random_mask(tb, &dice, cpu, ts_ns);
		if (below(&dice, 100) < mood->noise)
			random_event(tb, &dice, random_type(&dice), cpu, ts_ns, false);
		else
			plausible_event(tb, &dice, &machine, cpu, ts_ns);
	}
	return tb;
}

/* ---- the check ---- */

struct life { /* of one thread, as the intervals tell it */
	const struct trace_thread *thread;
	uint64_t sum;
	uint64_t by_state[TRACE_STATE_RUNNING + 1];
};

struct lives {
	struct life *life;
	size_t nr;
	uint64_t backward; /* intervals that end before they begin */
};

static void add_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval)
{
	struct lives *lives = data;
	size_t i = 0;

	while (i < lives->nr && lives->life[i].thread != interval->thread)
		i++;
	if (i == lives->nr) {
		lives->life = reallocarray(lives->life, ++lives->nr, sizeof(*lives->life));
		memset(&lives->life[i], 0, sizeof(lives->life[i]));
		lives->life[i].thread = interval->thread;
	}
	lives->backward += interval->to_ns <= interval->from_ns;
	lives->life[i].sum += interval->to_ns - interval->from_ns;
	lives->life[i].by_state[interval->state] += interval->to_ns - interval->from_ns;
}

static void check_lives(struct trace_analysis *analysis, const struct lives *lives)
{
	CU_ASSERT_EQUAL(lives->backward, 0);
	for (size_t i = 0; i < lives->nr; i++) {
		const struct life *life = &lives->life[i];
		struct trace_figures *f = trace_thread_figures(analysis, life->thread);

		CU_ASSERT_EQUAL(life->sum, f->elapsed_ns);
		CU_ASSERT_EQUAL(life->by_state[TRACE_STATE_TRAP], f->trap_ns);
		CU_ASSERT_EQUAL(life->by_state[TRACE_STATE_INTERRUPTED], f->interrupted_ns);
		CU_ASSERT_EQUAL(life->by_state[TRACE_STATE_WAIT_CPU], f->wait_cpu_ns);
		CU_ASSERT_EQUAL(life->by_state[TRACE_STATE_BLOCKED], f->blocked_ns);
		trace_figures_free(f);
	}
}

/* Of the first threads, and of parts of their lives: every instant is somebody's. */
static void check_paths(struct trace_analysis *analysis, struct trace_history *history, uint64_t seed)
{
	struct dice dice = {seed, NULL};
	uint64_t start, end;

	trace_analysis_window(analysis, &start, &end);
	for (size_t i = 0; i < trace_nr_processes(analysis) && i < 16; i++)
		for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(trace_get_process(analysis, i), thread));) {
			uint64_t from = below(&dice, 2) ? 0 : start + below(&dice, end - start + 1);
			struct trace_critical_path *path = trace_critical_path_new(history, thread, from, UINT64_MAX, NULL);
			struct trace_error error = {0};

			if (path)
				CU_ASSERT_EQUAL(trace_critical_path_verify(path, &error), 0);
			if (error.code)
				printf("seed %llu, thread %u: %s\n", (unsigned long long)seed, trace_thread_tid(thread), error.message);
			trace_critical_path_free(path);
		}
}

static void check_trace(struct trace *trace, uint64_t seed, const struct mood *mood)
{
	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, NULL);
	struct trace_servers *servers = trace_servers_new(trace, analysis, NULL);
	struct trace_user_events *user = trace_user_events_new(trace, analysis, NULL);
	struct trace_history_options few = {.size = sizeof(few), .max_intervals = 2000 + seed % 3 * 4000}; /* some become coarse, some are given up */
	struct trace_history *history = trace_history_new(analysis, &few, NULL);
	struct trace_error error = {0};
	struct lives lives = {0};

	CU_ASSERT_EQUAL(trace_analysis_on_interval(analysis, add_interval, &lives), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(analysis, &error), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(analysis, &error), 0);
	if (!error.code)
		CU_ASSERT_EQUAL(trace_servers_verify(servers, &error), 0);
	if (!error.code)
		CU_ASSERT_EQUAL(trace_user_events_verify(user, &error), 0);
	if (error.code)
		printf("seed %llu, %u threads, noise %u, losses %d: %s\n", (unsigned long long)seed, mood->nr_tids, mood->noise, mood->losses, error.message);
	check_lives(analysis, &lives);
	free(lives.life);
	check_paths(analysis, history, seed);
	trace_history_free(history);
	trace_user_events_free(user);
	trace_servers_free(servers);
	trace_analysis_free(analysis);
}

static void check(uint64_t seed, struct mood mood)
{
	struct tb *tb = random_story(seed, &mood);
	struct trace *trace = tb_open_trace(tb);

	tb_free(tb);
	check_trace(trace, seed, &mood);
	trace_close(trace);
}

static void noise_never_breaks_the_balance(void)
{
	for (uint64_t seed = 1; seed <= NR_TRACES; seed++)
		check(seed, (struct mood){.noise = 100, .nr_tids = 12, .losses = seed & 1});
}

static void plausible_traces_with_noise_balance(void)
{
	for (uint64_t seed = 100; seed < 100 + NR_TRACES; seed++)
		check(seed, (struct mood){.noise = (uint32_t)(seed % 3 * 15), .nr_tids = 12, .switches = 25, .sleeps = 50, .losses = seed & 1});
}

static void crowded_machines_balance(void)
{
	for (uint64_t seed = 200; seed < 200 + 2 * NR_TRACES; seed++)
		check(seed, (struct mood){.noise = (uint32_t)(seed / 2 % 3), .nr_tids = seed & 1 ? 40 : 300, .switches = 80, .sleeps = (uint32_t)(seed / 2 % 8), .losses = seed % 4 == 0});
}

/* ---- chunks that turn out to be damaged when their turn comes ---- */

/* Everything that the analysis says of the threads, and of their waits, as one text. */
static char *told(struct image *image)
{
	struct trace *trace = trace_open(image->path, NULL);
	struct trace_analysis *analysis = trace_analysis_new(trace, NULL, NULL);
	struct lives lives = {0};
	size_t bytes;
	char *text;
	FILE *out = open_memstream(&text, &bytes);

	CU_ASSERT_EQUAL(trace_analysis_on_interval(analysis, add_interval, &lives), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(analysis, NULL), 0);
	CU_ASSERT_EQUAL(trace_analysis_verify(analysis, NULL), 0);
	check_lives(analysis, &lives);
	free(lives.life);
	for (size_t i = 0; i < trace_nr_processes(analysis); i++) {
		const struct trace_process *process = trace_get_process(analysis, i);
		struct trace_figures *f = trace_process_figures(analysis, process);

		fprintf(out, "%u %s: %llu %llu %llu %llu %llu %llu\n", trace_process_pid(process), trace_process_comm(process), (unsigned long long)f->elapsed_ns,
			(unsigned long long)f->user_ns, (unsigned long long)f->syscall_ns, (unsigned long long)f->trap_ns,
			(unsigned long long)f->interrupted_ns, (unsigned long long)f->wait_cpu_ns);
		for (size_t j = 0; j < f->nr_waits; j++)
			fprintf(out, "  %d %s %u %s %llu %llu\n", f->waits[j].kind, f->waits[j].target, f->waits[j].pid, f->waits[j].via,
				(unsigned long long)f->waits[j].ns, (unsigned long long)f->waits[j].count);
		for (size_t j = 0; j < f->nr_wait_cpu_for; j++)
			fprintf(out, "  cpu %s %u %llu\n", f->wait_cpu_for[j].comm, f->wait_cpu_for[j].pid, (unsigned long long)f->wait_cpu_for[j].ns);
		trace_figures_free(f);
	}
	for (size_t i = 0; i < trace_nr_cpus(analysis); i++) {
		struct trace_cpu_figures f;

		trace_cpu_figures(analysis, i, &f);
		fprintf(out, "CPU %zu: %llu %llu %llu %llu %llu\n", i, (unsigned long long)f.user_ns, (unsigned long long)f.system_ns,
			(unsigned long long)(f.irq_ns + f.softirq_ns), (unsigned long long)f.idle_ns, (unsigned long long)f.unknown_ns);
	}
	fprintf(out, "%llu contradictions\n", (unsigned long long)trace_analysis_contradictions(analysis));
	fclose(out);
	trace_analysis_free(analysis);
	trace_close(trace);
	return text;
}

/* Where there is a piece of a chunk only, that is known before the pass, and else it is found in it: that must make no difference. */
static void check_found(uint64_t seed, struct mood mood)
{
	struct tb *tb = random_story(seed, &mood);
	struct image image = image_new(tb, true), pieces;
	struct dice dice = {seed, &mood};
	size_t spoilt = 0;
	char *found, *known;

	for (size_t i = 0; i < 2000; i++)
		spoilt += below(&dice, 6) == 0 && image_spoil(&image, TRACE_CHUNK_EVENTS, i);
	CU_ASSERT(spoilt > 0);
	found = told(&image);
	pieces = image_with_pieces(&image);
	known = told(&pieces);
	CU_ASSERT_STRING_EQUAL(found, known);
	if (strcmp(found, known) != 0)
		printf("seed %llu, streams %d, %zu chunks damaged, found:\n%s\nknown:\n%s\n", (unsigned long long)seed, mood.streams, spoilt, found, known);
	free(found);
	free(known);
	image_free(&pieces);
	image_free(&image);
	tb_free(tb);
}

static void check_found_seed(uint64_t seed, bool streams)
{
	check_found(seed, (struct mood){.noise = (uint32_t)(seed % 3 * 15), .nr_tids = 12, .switches = 25, .sleeps = 50, .losses = seed & 1, .cuts = 1, .streams = streams});
}

/*
 * Of 1,300 seeds of either kind, these were told differently once: the look ahead for who is on a CPU first (385, 412), and for who leaves it after a hidden
 * thread (995), did not meet damage in chunks without scheduling changes; and (with streams) damage of a program's events made impossible switches
 * doubtful (301), that of structural ones hid who leaves (905), and a switch was foreseen that another chunk came before (1484, 1495).
 */
static void damage_that_was_told_differently_is_a_gap_like_others(void)
{
	static const uint64_t plain[] = {385, 412, 526, 598, 889, 981, 995, 1124, 1214, 1339}, streams[] = {301, 314, 905, 1484, 1495};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		check_found_seed(plain[i], false);
	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
		check_found_seed(streams[i], true);
}

static void damage_that_is_found_late_is_a_gap_like_others(void)
{
	for (uint64_t seed = 300; seed < 300 + NR_TRACES; seed++) {
		check_found_seed(seed, false);
		check_found_seed(seed, true);
	}
}

static struct mood mixed_mood(uint64_t seed)
{
	return (struct mood){.noise = (uint32_t)(seed % 5 * 20), .nr_tids = seed % 7 ? 12 : 200, .switches = 25, .sleeps = 50, .losses = seed & 1, .streams = seed % 3 == 0, .masks = seed & 2};
}

static void whatever_is_recorded_the_books_balance(void)
{
	for (uint64_t seed = 400; seed < 400 + 2 * NR_TRACES; seed++)
		check(seed, mixed_mood(seed));
}

static void threads_that_come_and_go_balance(void)
{
	for (uint64_t seed = 600; seed < 600 + 2 * NR_TRACES; seed++)
		check(seed, (struct mood){.noise = (uint32_t)(seed % 3), .nr_tids = seed & 1 ? 20 : 200, .switches = 70, .sleeps = (uint32_t)(seed % 5 * 10), .losses = seed % 4 == 0,
					  .programs = seed & 2, .moves = true});
}

static void what_programs_tell_of_adds_up(void)
{
	for (uint64_t seed = 500; seed < 500 + 2 * NR_TRACES; seed++)
		check(seed, (struct mood){.noise = (uint32_t)(seed % 5 * 10), .nr_tids = seed % 3 ? 8 : 40, .switches = 25, .sleeps = 60, .losses = seed & 1, .programs = true});
}

/* A wait of one thread was added to what another one did, who had its number since. */
static void who_had_a_number_before_waits_for_himself(void)
{
	static const uint64_t seeds[] = {51, 57, 72, 81, 108, 111, 117};

	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
		check(seeds[i], mixed_mood(seeds[i]));
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		{"noise_never_breaks_the_balance", noise_never_breaks_the_balance},
		{"plausible_traces_with_noise_balance", plausible_traces_with_noise_balance},
		{"crowded_machines_balance", crowded_machines_balance},
		{"whatever_is_recorded_the_books_balance", whatever_is_recorded_the_books_balance},
		{"threads_that_come_and_go_balance", threads_that_come_and_go_balance},
		{"what_programs_tell_of_adds_up", what_programs_tell_of_adds_up},
		{"who_had_a_number_before_waits_for_himself", who_had_a_number_before_waits_for_himself},
		{"damage_that_is_found_late_is_a_gap_like_others", damage_that_is_found_late_is_a_gap_like_others},
		{"damage_that_was_told_differently_is_a_gap_like_others", damage_that_was_told_differently_is_a_gap_like_others},
		{NULL, NULL},
	};

	return unit_main("state_fuzz", cases, argc, argv);
}
