/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "random_story.h"

#include <string.h>

#define NR_CPUS	  3
#define NR_EVENTS 4000

/* A field's value: small, so that threads and descriptors meet; sometimes absurd. */
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
		return below(dice, 4) ? below(dice, 20) : (uint64_t) - (int64_t)below(dice, 600);
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
	return id == TRACE_EV_sched_fork || id == TRACE_EV_sched_exec || id == TRACE_EV_sched_exit ||
	       id == TRACE_EV_fs_open;
}

static void random_event(struct tb *tb, struct dice *dice, const struct trace_event_type *type, uint32_t cpu,
			 uint64_t ts_ns, bool start)
{
	static const char *const texts[] = {
		"", "a", "/usr/bin/make", "pipe:[7]", "socket:[3]", "\x01\xff\"\\", "anon_inode:[eventpoll]"};
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
	static const uint16_t common[] = {TRACE_EV_sched_switch, TRACE_EV_sched_waking, TRACE_EV_sys_enter3,
					  TRACE_EV_sys_enter6,	 TRACE_EV_sys_exit,	TRACE_EV_fault_entry,
					  TRACE_EV_fault_exit,	 TRACE_EV_irq_entry,	TRACE_EV_irq_exit,
					  TRACE_EV_fs_open,	 TRACE_EV_sched_fork,	TRACE_EV_sched_exec};
	uint16_t wanted = common[below(dice, sizeof(common) / sizeof(common[0]))];

	for (;;) {
		const struct trace_event_type *type = trace_catalogue_type(below(dice, trace_catalogue_size()));

		if (below(dice, 3) && type->id != wanted)
			continue;
		if (type->id > TRACE_EV_start_cgroup) /* neither about the trace itself nor of the start state */
			return type;
	}
}

/* The thread on each CPU, so that the story is plausible. */
struct machine {
	uint32_t running[NR_CPUS];
};

/* Some of the threads that are switched run out of quota, or ran out of it, for any time. */
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
		tb_switch(tb, cpu, ts_ns, machine->running[cpu], next,
			  below(dice, 100) < dice->mood->sleeps ? TRACE_TASK_INTERRUPTIBLE : TRACE_TASK_RUNNING);
		machine->running[cpu] = next;
		return;
	}
	switch (below(dice, 6)) {
	case 0:
		tb_waking(tb, cpu, ts_ns, next, (enum trace_context)below(dice, 3));
		break;
	case 1:
		/* calls ask for more bytes than any returns */
		tb_sys_enter(tb, cpu, ts_ns, (uint32_t)below(dice, 440), below(dice, 8), 4096, 80 + below(dice, 64));
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
		tb_fork(tb, cpu, ts_ns, machine->running[cpu], tid, below(dice, 2) ? tid : machine->running[cpu],
			"child");
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

/* Threads that the start state declares hidden and asleep since some time, whatever the events
 * say. */
static void hidden_threads(struct tb *tb, struct dice *dice)
{
	for (uint64_t nr = below(dice, 4); nr; nr--) {
		uint32_t tid = 1 + (uint32_t)below(dice, dice->mood->nr_tids - 1);
		struct trace_start_thread start = {.tid = tid,
						   .tgid = tid,
						   .nr = -1,
						   .flags = TRACE_THREAD_HIDDEN,
						   .state = TRACE_TASK_INTERRUPTIBLE};
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
	static const struct trace_event_type type = {.name = "shop:order_paid",
						     .classic = "NONE",
						     .text = "",
						     .doc = "",
						     .program = "NONE",
						     .source = "",
						     .fields = fields,
						     .nr_fields = 1,
						     .fixed_bytes = 8};

	return tb_user_type(tb, &type);
}

/* The events of programs: any thread may end what another began. */
struct told {
	uint16_t ids[7];
};

static struct told told_types(struct tb *tb)
{
	static const struct {
		const char *name;
		enum trace_event_role role;
	} kinds[] = {
		{"shop:a.begin", TRACE_ROLE_BEGIN},
		{"shop:a.end", TRACE_ROLE_END},
		{"shop:order.begin", TRACE_ROLE_REQUEST_BEGIN},
		{"shop:order.end", TRACE_ROLE_REQUEST_END},
		{"shop:order.handoff", TRACE_ROLE_REQUEST_HANDOFF},
		{"shop:met", TRACE_ROLE_EVENT},
		{"shop:depth", TRACE_ROLE_COUNTER},
	};
	static const struct trace_field value = {.name = "value", .offset = 8, .bytes = 8, .kind = TRACE_KIND_DEC};
	struct told told;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct trace_event_type type = {.name = kinds[i].name,
						.classic = "NONE",
						.text = "",
						.doc = "",
						.program = "NONE",
						.source = "",
						.fields = &value,
						.nr_fields = 1,
						.fixed_bytes = 16,
						.category = TRACE_CATEGORY_USER,
						.flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
						.role = kinds[i].role};

		told.ids[i] = tb_user_type(tb, &type);
	}
	return told;
}

/* Mostly by the thread on the CPU; sometimes by another thread, or from a container. */
static void told_event(struct tb *tb, struct dice *dice, const struct machine *machine, const struct told *told,
		       uint32_t cpu, uint64_t ts_ns)
{
	uint32_t tid = below(dice, 8) ? machine->running[cpu] : (uint32_t)below(dice, dice->mood->nr_tids);
	struct trace_user_stream stream = {.stream = TB_USER_STREAM + cpu,
					   .pid = 1 + (uint32_t)below(dice, 3),
					   .cpu = cpu};
	struct {
		uint32_t tid, pad;
		uint64_t value;
	} payload = {.tid = tid, .value = below(dice, 4)};

	if (below(dice, 100) == 0)
		tb_event(tb, cpu, ts_ns, TRACE_EV_user_stream, &stream, sizeof(stream), "/bin/shop");
	tb_user_event(tb, cpu, ts_ns, told->ids[below(dice, 7)], &payload, sizeof(payload));
}

/* Begins a new chunk. Where writers nest, it begins before the end of the one before it. */
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

/* Events outside the mask may follow: a new mask takes some time to reach all CPUs. */
static void random_mask(struct tb *tb, struct dice *dice, uint32_t cpu, uint64_t ts_ns)
{
	static const uint32_t ids[] = {TRACE_EV_sched_switch, TRACE_EV_sched_waking, TRACE_EV_sys_enter,
				       TRACE_EV_sys_enter3,   TRACE_EV_sys_enter6,   TRACE_EV_sys_exit,
				       TRACE_EV_fault_entry,  TRACE_EV_fault_exit,   TRACE_EV_sock_recv,
				       TRACE_EV_softirq_exit};
	uint64_t mask[TRACE_MASK_WORDS] = {~0ull, ~0ull, ~0ull, ~0ull};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (below(dice, 4) == 0)
			mask[ids[i] / 64] &= ~(1ull << ids[i] % 64);
	tb_event(tb, cpu, ts_ns, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
}

struct tb *random_story(uint64_t seed, const struct mood *mood)
{
	struct dice dice = {seed, mood};
	struct machine machine = {{0}};
	struct tb *tb = tb_new();
	uint16_t paid = mood->streams ? order_paid(tb) : 0;
	struct told told = mood->programs ? told_types(tb) : (struct told){0};
	uint64_t ts_ns = 1000;

	for (unsigned int i = 0; i < 40; i++)
		tb_string(tb, TRACE_STRING_SYSCALL, below(&dice, 460),
			  (const char *[]){"read",	 "write",  "openat",	  "close",  "mmap",
					   "munmap",	 "clone",  "execve",	  "poll",   "futex",
					   "wait4",	 "dup2",   "fcntl",	  "exit",   "nanosleep",
					   "epoll_wait", "accept", "close_range", "splice", "mremap"}[i % 20]);
	for (unsigned int i = 0; i < below(&dice, 30); i++) {
		const struct trace_event_type *type = trace_catalogue_type(below(&dice, trace_catalogue_size()));

		if (type->id >= TRACE_EV_thread_runs && type->id <= TRACE_EV_start_cgroup)
			random_event(tb, &dice, type, 0, 1000 + below(&dice, 2000), true);
	}
	if (seed % 2)
		hidden_threads(tb, &dice);
	for (unsigned int i = 0; i < (mood->nr_events ? mood->nr_events : NR_EVENTS); i++) {
		uint32_t cpu = (uint32_t)below(&dice, NR_CPUS);

		ts_ns += below(&dice, 2) * below(&dice, 100);
		if (mood->losses && below(&dice, 500) == 0)
			(mood->overwrites ? tb_overwritten : tb_lost)(tb, cpu, 1 + below(&dice, 9));
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
