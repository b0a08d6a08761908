/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "test_daemon_fake.h"
#include "error_set.h"

#include <sys/syscall.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <trace/reader.h>
#include <unistd.h>

#define SUBBUF_PRELIMINARY(w, seq, offset, size) ((void)0)
#include "subbuf_writer.h"
#include "../../tracer/kernel/geometry.h"

struct tracer {
	struct tracer_options options;
	struct tracer_ring rings[2 * FAKE_CPUS];
	struct subbuf_writer writers[2 * FAKE_CPUS];
	void *memory[2 * FAKE_CPUS]; /* owned */
	struct subbuf_reservation held[FAKE_CPUS];
	uint32_t nr_delayed[FAKE_CPUS];
	uint64_t attempted[FAKE_CPUS];
	uint64_t missed[TRACE_EV_MAX];
	struct tracer_unfollowed unfollowed;
	const char *not_traced; /* in addition to the event that is never attached */
	const char *limit;
	uint32_t nr_start_records;
	bool has_no_states;
	uint64_t mask[TRACE_MASK_WORDS];
	int wake_fd;
	bool running; /* atomic */
	bool maps_code, has_stopped;
	uint64_t code_map_ns; /* not yet taken; 0: none */
	pthread_t threads[FAKE_CPUS];
	uint32_t nr_threads;
	uint64_t thread_events;
	unsigned int thread_pause_us;
};

/* ---- producers ---- */

static void wake(const struct tracer *tracer)
{
	uint64_t one = 1;

	if (write(tracer->wake_fd, &one, sizeof(one)) < 0)
		return; /* the wake-up descriptor is already readable */
}

static bool emit(struct tracer *tracer, size_t ring, uint16_t id, const void *payload, size_t bytes)
{
	const struct subbuf_writer *w = &tracer->writers[ring];
	struct subbuf_reservation r = {0};

	if (!subbuf_reserve(w, (trace_u32)((sizeof(struct trace_record) + bytes + 7) & ~(size_t)7), &r)) {
		if (r.completed)
			wake(tracer);
		return false;
	}
	memcpy(writer_at(w, r.position) + sizeof(struct trace_record), payload, bytes);
	if (subbuf_commit(w, &r, id))
		wake(tracer);
	return true;
}

bool fake_switch(struct tracer *tracer, uint32_t cpu)
{
	uint64_t count = __atomic_add_fetch(&tracer->attempted[cpu], 1, __ATOMIC_RELAXED);
	struct trace_sched_switch payload = {.next_tid = (uint32_t)count};

	return emit(tracer, 2 * cpu, TRACE_EV_sched_switch, &payload, sizeof(payload));
}

void fake_delay(struct tracer *tracer, uint32_t cpu)
{
	tracer->nr_delayed[cpu]++;
}

bool fake_exec(struct tracer *tracer, uint32_t cpu, const char *path)
{
	struct {
		struct trace_sched_exec payload;
		char path[64];
	} record = {.payload = {.tid = 1}};

	strncpy(record.path, path, sizeof(record.path) - 1);
	return emit(tracer, 2 * cpu + 1, TRACE_EV_sched_exec, &record, sizeof(record));
}

uint64_t fake_attempted(const struct tracer *tracer, uint32_t cpu)
{
	return __atomic_load_n(&tracer->attempted[cpu], __ATOMIC_RELAXED);
}

void fake_hold(struct tracer *tracer, uint32_t cpu)
{
	struct trace_sched_switch payload = {.next_tid = (uint32_t)++tracer->attempted[cpu]};
	struct subbuf_reservation *r = &tracer->held[cpu];

	if (!subbuf_reserve(&tracer->writers[2 * cpu], sizeof(struct trace_record) + sizeof(payload), r))
		abort();
	memcpy(writer_at(&tracer->writers[2 * cpu], r->position) + sizeof(struct trace_record), &payload,
	       sizeof(payload));
}

void fake_release(struct tracer *tracer, uint32_t cpu)
{
	if (subbuf_commit(&tracer->writers[2 * cpu], &tracer->held[cpu], TRACE_EV_sched_switch))
		wake(tracer);
}

void fake_miss(struct tracer *tracer, uint32_t id, uint64_t count)
{
	tracer->missed[id] += count;
}

void fake_unfollow(struct tracer *tracer)
{
	if (!tracer->unfollowed.processes++)
		tracer->unfollowed.first_ns = writer_now(SUBBUF_CLOCK_MONOTONIC);
}

void fake_not_traced(struct tracer *tracer, const char *text)
{
	tracer->not_traced = text;
}

void fake_limit(struct tracer *tracer, const char *text)
{
	tracer->limit = text;
}

void tracer_describe_limits(const struct tracer *tracer, tracer_describe_fn describe, void *context)
{
	if (tracer->limit)
		describe(context, tracer->limit);
}

void fake_no_states(struct tracer *tracer)
{
	tracer->has_no_states = true;
}

struct thread_start {
	struct tracer *tracer;
	uint32_t cpu;
};

#define FAKE_AT_ONCE 64u

/* The first events come even if the recording ends before this thread has had a CPU. */
static void *produce(void *context)
{
	struct thread_start start = *(struct thread_start *)context;

	free(context);
	for (uint64_t i = 0; i < start.tracer->thread_events; i++) {
		fake_switch(start.tracer, start.cpu);
		if (i % FAKE_AT_ONCE != FAKE_AT_ONCE - 1)
			continue;
		if (!__atomic_load_n(&start.tracer->running, __ATOMIC_ACQUIRE))
			break;
		if (start.tracer->thread_pause_us)
			usleep(start.tracer->thread_pause_us);
	}
	return NULL;
}

static int start_threads(struct tracer *tracer)
{
	struct thread_start *start;
	int err;

	for (; tracer->nr_threads < FAKE_CPUS; tracer->nr_threads++) {
		start = malloc(sizeof(*start));
		if (!start)
			return -ENOMEM;
		*start = (struct thread_start){tracer, tracer->nr_threads};
		err = pthread_create(&tracer->threads[tracer->nr_threads], NULL, produce, start);
		if (err) {
			free(start);
			return -err;
		}
	}
	return 0;
}

/* ---- tracer.h ---- */

static void make_ring(struct tracer *tracer, size_t idx, uint32_t subbuf_bytes, uint32_t nr_subbufs, bool overwrite)
{
	struct tracer_ring *ring = &tracer->rings[idx];

	ring->cpu = (uint32_t)idx / 2;
	ring->stream = (uint32_t)idx;
	ring->structural = idx % 2;
	if (posix_memalign(&tracer->memory[idx], 4096, subbuf_ring_bytes(subbuf_bytes, nr_subbufs)))
		abort();
	memset(tracer->memory[idx], 0, subbuf_ring_bytes(subbuf_bytes, nr_subbufs));
	subbuf_ring_init(&ring->ring, tracer->memory[idx], subbuf_bytes, nr_subbufs, ring->cpu, SUBBUF_PRODUCER_KERNEL,
			 SUBBUF_CLOCK_MONOTONIC, overwrite);
	tracer->writers[idx] = (struct subbuf_writer){
		.control = ring->ring.control,
		.data = ring->ring.data,
		.subbuf_bytes = subbuf_bytes,
		.nr_subbufs_log2 = (trace_u32)__builtin_ctz(nr_subbufs),
		.cpu = ring->cpu,
		.overwrite = overwrite,
	};
}

static uint64_t environment_number(const char *name)
{
	const char *value = getenv(name);

	return value ? strtoull(value, NULL, 10) : 0;
}

struct tracer *tracer_new(const struct tracer_options *options, struct trace_error *ret_error)
{
	struct tracer *tracer;

	if (getenv("TRACE_FAKE_FORBIDDEN")) {
		*ret_error = (struct trace_error){.code = -EPERM, .message = "the kernel is root's: run as root"};
		return NULL;
	}
	tracer = calloc(1, sizeof(*tracer));
	if (!tracer) {
		*ret_error = (struct trace_error){.code = -ENOMEM, .message = "no memory for a tracer"};
		return NULL;
	}
	tracer->options = *options;
	if (!options->subbuf_bytes) /* small by default, so that they fill soon */
		tracer->options.subbuf_bytes = SUBBUF_MIN_BYTES;
	if (!options->nr_subbufs)
		tracer->options.nr_subbufs = 4;
	tracer_choose_geometry(&tracer->options, FAKE_CPUS);
	memcpy(tracer->mask, options->mask, sizeof(tracer->mask));
	tracer->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	for (size_t i = 0; i < 2 * FAKE_CPUS; i++)
		make_ring(tracer, i, i % 2 ? SUBBUF_MIN_BYTES : tracer->options.subbuf_bytes,
			  i % 2 ? 4 : tracer->options.nr_subbufs, i % 2 ? false : options->overwrite);
	tracer->thread_events = environment_number("TRACE_FAKE_EVENTS");
	tracer->thread_pause_us = (unsigned int)environment_number("TRACE_FAKE_PAUSE_US");
	return tracer;
}

struct tracer *tracer_free(struct tracer *tracer)
{
	if (!tracer)
		return NULL;
	tracer_stop(tracer);
	for (size_t i = 0; i < 2 * FAKE_CPUS; i++)
		free(tracer->memory[i]);
	close(tracer->wake_fd);
	free(tracer);
	return NULL;
}

int tracer_start(struct tracer *tracer, struct trace_error *ret_error)
{
	__atomic_store_n(&tracer->running, true, __ATOMIC_RELEASE);
	*ret_error = (struct trace_error){.code = tracer->thread_events ? start_threads(tracer) : 0,
					  .message = "cannot start the threads that make events"};
	return ret_error->code;
}

void tracer_flush_rings(struct tracer *tracer)
{
	for (uint32_t cpu = 0; cpu < FAKE_CPUS; cpu++)
		for (; tracer->nr_delayed[cpu]; tracer->nr_delayed[cpu]--)
			fake_switch(tracer, cpu);
}

void tracer_stop(struct tracer *tracer)
{
	__atomic_store_n(&tracer->running, false, __ATOMIC_RELEASE);
	while (tracer->nr_threads)
		pthread_join(tracer->threads[--tracer->nr_threads], NULL);
	tracer->has_stopped = true;
}

int tracer_set_mask(struct tracer *tracer, const uint64_t mask[TRACE_MASK_WORDS], struct trace_error *ret_error)
{
	memcpy(tracer->mask, mask, sizeof(tracer->mask));
	return 0;
}

void tracer_get_mask(const struct tracer *tracer, uint64_t ret_mask[TRACE_MASK_WORDS])
{
	memcpy(ret_mask, tracer->mask, sizeof(tracer->mask));
}

pid_t tracer_number(struct tracer *tracer, pid_t pid)
{
	return pid;
}

pid_t tracer_pid(struct tracer *tracer, pid_t number)
{
	return number;
}

const char *tracer_syscall_name(enum trace_abi abi, unsigned int nr)
{
	return abi == TRACE_ABI_NATIVE && nr == SYS_fsync ? "fsync" : NULL;
}

/* Calls that fake_bell() made and tracer_bell_take() has not taken. */
static struct tracer_bell bells[16];
static size_t nr_bells;

void fake_bell(const struct tracer_bell *bell)
{
	bells[nr_bells++] = *bell;
}

int tracer_bell_begin(struct tracer *tracer)
{
	static int fd = -1;

	if (fd < 0)
		fd = eventfd(0, EFD_CLOEXEC); /* never readable: the test takes the calls */
	return fd;
}

void tracer_bell_take(struct tracer *tracer, tracer_bell_fn fn, void *context)
{
	for (size_t i = 0; i < nr_bells; i++)
		fn(context, &bells[i]);
	nr_bells = 0;
}

uint64_t tracer_bells_lost(const struct tracer *tracer)
{
	return 0;
}

void tracer_bell_end(struct tracer *tracer)
{
}

int tracer_follow(struct tracer *tracer, pid_t pid, struct trace_error *ret_error)
{
	return 0;
}

void tracer_get_unfollowed(const struct tracer *tracer, struct tracer_unfollowed *ret_unfollowed)
{
	*ret_unfollowed = tracer->unfollowed;
	ret_unfollowed->max_processes = 4;
}

const char *tracer_not_traced(const struct tracer *tracer, size_t idx)
{
	return idx == 0 ? "fault_exit: this is no kernel" : idx == 1 ? tracer->not_traced : NULL;
}

int tracer_poll_fd(const struct tracer *tracer)
{
	return tracer->wake_fd;
}

void tracer_acknowledge(struct tracer *tracer)
{
	uint64_t count;

	if (read(tracer->wake_fd, &count, sizeof(count)) < 0)
		return;
}

size_t tracer_nr_rings(const struct tracer *tracer)
{
	return 2 * FAKE_CPUS;
}

const struct tracer_ring *tracer_get_ring(const struct tracer *tracer, size_t idx)
{
	return &tracer->rings[idx];
}

uint64_t tracer_missed(const struct tracer *tracer, uint32_t id)
{
	return tracer->missed[id];
}

/* Probes need a real kernel. */
int tracer_load_probes(struct tracer *tracer, const struct trace_probes *probes, const uint16_t *ids,
		       struct trace_error *ret_error)
{
	return 0;
}

size_t tracer_switch_probes(struct tracer *tracer, const bool *on)
{
	return 0;
}

void tracer_set_probe_condition(struct tracer *tracer, size_t idx, const struct trace_condition *condition)
{
}

uint64_t tracer_probes_unread(const struct tracer *tracer)
{
	return 0;
}

enum tracer_probe_hit tracer_probe_hit(const struct tracer *tracer, size_t idx)
{
	return TRACER_PROBE_NEVER_ON;
}

uint64_t tracer_probe_refused(const struct tracer *tracer, size_t idx, uint32_t *ret_ns)
{
	return 0;
}

const char *tracer_unavailable(uint32_t id)
{
	return NULL;
}

int tracer_end_state(struct tracer *tracer, uint64_t ts_ns, tracer_emit_fn emit_record, void *context,
		     struct trace_error *ret_error)
{
	struct {
		struct trace_record record;
		struct trace_end_wait wait;
	} pause = {.record = {.id = TRACE_EV_end_wait, .words = sizeof(pause) / 8, .time = (uint32_t)ts_ns},
		   .wait = {.tid = 1, .nr = 34, .fd = -1}};

	if (tracer->has_no_states)
		return error_set(ret_error, -ETIMEDOUT, "process 2 does not answer");
	return emit_record(context, &pause.record, sizeof(pause), ts_ns);
}

int tracer_start_state(struct tracer *tracer, tracer_emit_fn emit_record, void *context, struct trace_error *ret_error)
{
	struct {
		struct trace_record record;
		struct trace_start_thread thread;
		char comm[16];
	} init = {.record = {.id = TRACE_EV_start_thread}, .thread = {.tid = 1, .tgid = 1, .nr = -1}, .comm = "init"};
	struct {
		struct trace_record record;
		struct trace_start_irq irq;
		char name[8];
	} timer = {.record = {.id = TRACE_EV_start_irq, .words = sizeof(timer) / 8},
		   .irq = {.irq = 9},
		   .name = "timer"};
	uint64_t ts_ns = writer_now(SUBBUF_CLOCK_MONOTONIC);
	int result;

	init.record.words = (sizeof(init) + 7) / 8;
	init.record.time = timer.record.time = (uint32_t)ts_ns;
	result = emit_record(context, &init.record, sizeof(init), ts_ns);
	for (uint32_t i = 0; i < tracer->nr_start_records && !result; i++) {
		for (int n = 0; n < 10; n++)
			fake_switch(tracer, 0);
		result = emit_record(context, &timer.record, sizeof(timer), ts_ns);
	}
	if (!result && tracer->has_no_states)
		return error_set(ret_error, -ETIMEDOUT, "process 1 does not answer");
	return result ? result : emit_record(context, &timer.record, sizeof(timer), ts_ns);
}

void fake_start_records(struct tracer *tracer, uint32_t nr)
{
	tracer->nr_start_records = nr;
}

int tracer_strings(tracer_string_fn emit_string, void *context, struct trace_error *ret_error)
{
	return emit_string(context, TRACE_STRING_SYSCALL, 0, "read");
}

int tracer_device_names(tracer_string_fn emit_string, void *context)
{
	(void)emit_string;
	(void)context;
	return 0;
}

int tracer_work_names(const struct tracer *tracer, tracer_string_fn emit_string, void *context)
{
	(void)tracer;
	(void)emit_string;
	(void)context;
	return 0;
}

void tracer_set_sample_period(struct tracer *tracer, uint32_t cpu, uint64_t period_ns)
{
	(void)tracer;
	(void)cpu;
	(void)period_ns;
}

void tracer_set_sample_mean(struct tracer *tracer, uint64_t period)
{
	tracer->options.sample_period = period;
}

int tracer_read_counts(const struct tracer *tracer, struct tracer_count **ret_counts, size_t *ret_nr,
		       uint64_t *ret_not_counted)
{
	static const struct tracer_count counts[] = {
		{.kind = TRACER_COUNT_SAMPLE, .key = 0xffffffff81000000, .count = 70000, .sum = 70000000000},
		{.kind = TRACER_COUNT_SAMPLE, .key = 0xffffffff81000010, .count = 4, .sum = 4000000},
		{.kind = TRACER_COUNT_SAMPLE, .key = 0xffffffff81000020, .count = 1, .sum = 1000000},
		{.kind = TRACER_COUNT_CALL, .key = 0, .count = 5000000000},
		{.kind = TRACER_COUNT_SOFTIRQ, .key = 1, .count = 9},
	};

	static size_t nr; /* none at the start */

	(void)tracer;
	*ret_counts = malloc(sizeof(counts));
	if (!*ret_counts)
		return -ENOMEM;
	memcpy(*ret_counts, counts, sizeof(counts));
	*ret_nr = nr;
	nr = sizeof(counts) / sizeof(counts[0]);
	*ret_not_counted = 0;
	return 0;
}

void fake_code_map(struct tracer *tracer)
{
	tracer->maps_code = true;
	tracer->code_map_ns = writer_now(SUBBUF_CLOCK_MONOTONIC);
}

uint64_t tracer_take_code_maps(struct tracer *tracer, tracer_code_map_fn fn, void *context)
{
	static struct tracer_code_map map;

	if (tracer->code_map_ns) {
		map = (struct tracer_code_map){.ts_ns = tracer->code_map_ns, .map.pid = 1, .path = "/lib/early.so"};
		fn(context, &map);
	}
	tracer->code_map_ns = 0;
	if (tracer->maps_code && tracer->has_stopped) {
		map = (struct tracer_code_map){.ts_ns = writer_now(SUBBUF_CLOCK_MONOTONIC),
					       .map.pid = 1,
					       .path = "/lib/late.so"};
		fn(context, &map);
	}
	return 0;
}

int tracer_code_names(const struct tracer *tracer, tracer_string_fn emit_string, void *context)
{
	(void)tracer;
	(void)emit_string;
	(void)context;
	return 0;
}
