/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The triggers of --save-on: their words, and which events fulfil them. The records are those of
 * two CPUs, which are read one after the other, as the daemon reads them. */
#include "unit.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <trace/events.h>
#include <unistd.h>

#include "own_records.h"
#include "pressure.h"
#include "triggers.h"

/* ---- words ---- */

static struct save_on parsed(const char *text)
{
	struct save_on on;
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(save_on_parse(text, &on, &error), 0);
	if (error.code)
		fprintf(stderr, "%s: %s\n", text, error.message);
	return on;
}

static void refused(const char *text)
{
	struct save_on on;
	struct trace_error error = {0};

	CU_ASSERT_EQUAL(save_on_parse(text, &on, &error), -EINVAL);
	CU_ASSERT(error.message[0]);
	if (!error.code)
		fprintf(stderr, "not refused: %s\n", text);
}

static void words_say_when_to_save(void)
{
	CU_ASSERT_EQUAL(parsed("wait>200ms").over_ns, 200000000);
	CU_ASSERT_STRING_EQUAL(parsed("wait>200ms").name, "");
	CU_ASSERT_STRING_EQUAL(parsed("wait:postgres>1.5s").name, "postgres");
	CU_ASSERT_STRING_EQUAL(parsed("wait:python3 app.py>1.5s").name, "python3 app.py");
	CU_ASSERT_EQUAL(parsed("scope:shop:pay>50ms").kind, SAVE_SCOPE);
	CU_ASSERT_STRING_EQUAL(parsed("scope:shop:pay>50ms").name, "shop:pay");
	CU_ASSERT_EQUAL(parsed("call:fsync>50ms").kind, SAVE_CALL);
	CU_ASSERT_STRING_EQUAL(parsed("event:shop:pay").name, "shop:pay");
	CU_ASSERT_STRING_EQUAL(parsed("event:shop:pay[cents>5]").condition, "cents>5");
	CU_ASSERT(parsed("signal:SIGUSR1").to_daemon);
	CU_ASSERT_FALSE(parsed("signal:SIGSEGV").to_daemon);
	CU_ASSERT_EQUAL(parsed("signal:SIGSEGV").signal, SIGSEGV);
	CU_ASSERT_STRING_EQUAL(parsed("signal:nginx:SIGUSR1").name, "nginx");
	CU_ASSERT_FALSE(parsed("signal:nginx:SIGUSR1").to_daemon);
	CU_ASSERT(parsed("signal:USR1").to_daemon);
	CU_ASSERT_EQUAL(parsed("signal:TERM").signal, SIGTERM);
	CU_ASSERT_EQUAL(parsed("signal:nginx:hup").signal, SIGHUP);
	CU_ASSERT_EQUAL(parsed("psi:io>100ms/1s").window_ns, 1000000000);
	CU_ASSERT_EQUAL(parsed("psi:io>100ms").window_ns, 2000000000);
	CU_ASSERT(parsed("psi:memory:full>100ms/2s").all);
	CU_ASSERT_EQUAL(parsed("loss").kind, SAVE_LOSS);
}

static void write_pressure(int fd, const char *some, const char *full)
{
	char text[256];
	int bytes = snprintf(
		text, sizeof(text),
		"some avg10=1.00 avg60=0.42 avg300=1.03 total=%s\nfull avg10=0.00 avg60=0.25 avg300=0.44 total=%s\n",
		some, full);

	CU_ASSERT_EQUAL(ftruncate(fd, 0), 0);
	CU_ASSERT_EQUAL(pwrite(fd, text, (size_t)bytes, 0), bytes);
}

/* The kernel's first report may be of stalls before its trigger was made. */
static void a_stall_before_the_recording_is_none(void)
{
	struct save_on some = parsed("psi:cpu>200ms/2s"), all = parsed("psi:io:full>200ms/2s");
	int fd = memfd_create("pressure", MFD_CLOEXEC);

	write_pressure(fd, "46931058279", "1000");
	CU_ASSERT_EQUAL(pressure_total_us(fd, false), 46931058279);
	CU_ASSERT_EQUAL(pressure_total_us(fd, true), 1000);
	write_pressure(fd, "46931088279", "200999");
	CU_ASSERT_FALSE(pressure_has_grown(fd, &some, 46931058279));
	CU_ASSERT_FALSE(pressure_has_grown(fd, &all, 1000));
	write_pressure(fd, "46931258279", "201000");
	CU_ASSERT(pressure_has_grown(fd, &some, 46931058279));
	CU_ASSERT(pressure_has_grown(fd, &all, 1000));
	CU_ASSERT_EQUAL(ftruncate(fd, 0), 0);
	CU_ASSERT(pressure_has_grown(fd, &some, 46931058279));
	close(fd);
}

static void pressure_without_a_time_is_told_what_is_missing(void)
{
	static const char *const texts[] = {"psi:cpu", "psi:io:full", "psi:io>", "psi:memory/1s"};
	struct save_on on;
	struct trace_error error = {0};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		CU_ASSERT_EQUAL(save_on_parse(texts[i], &on, &error), -EINVAL);
		CU_ASSERT_EQUAL(strstr(error.message, "has no time behind a >") != NULL, i != 3);
	}
}

static void wrong_words_are_refused(void)
{
	static const char *const texts[] = {
		"",
		"wait",
		"wait>",
		"wait>0",
		"wait>long",
		"wait:>1s",
		"wait:a",
		"scope>1s",
		"scope:>1s",
		"scope:a",
		"call>1s",
		"call:fsync",
		"call:fsyn>1s",
		"event",
		"event:",
		"event:a[b>]",
		"signal",
		"signal:",
		"signal:SIGNOT",
		"signal:nginx",
		"signal:SIG",
		"signal::SIGUSR1",
		"psi",
		"psi:disk>1s",
		"psi:io",
		"psi:io:full",
		"psi:io>3s/2s",
		"psi:io>1ms/1h",
		"psi:io>1ms/1ms",
		"losses",
		"loss:a",
		"weight>1s",
	};

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		refused(texts[i]);
}

static void wrong_words_are_answered_with_the_right_ones(void)
{
	static const struct {
		const char *text, *words;
	} cases[] = {
		{"wait>200ms:napper", "has the name behind the time; did you mean --save-on='wait:napper>200ms'?"},
		{"wait>200ms:python3 app.py", "did you mean --save-on='wait:python3 app.py>200ms'?"},
		{"scope>50ms:shop:pay", "has the name behind the time; did you mean --save-on='scope:shop:pay>50ms'?"},
		{"call>50ms:fsync", "has the name behind the time; did you mean --save-on='call:fsync>50ms'?"},
		{"psi>200ms/2s:io", "has the name behind the time; did you mean --save-on='psi:io>200ms/2s'?"},
		{"psi:io>200ms:full", "has wrong signs; did you mean --save-on='psi:io:full>200ms'?"},
		{"signal:SIGTERM:nginx",
		 "has the name behind the signal; did you mean --save-on='signal:nginx:SIGTERM'?"},
		{"signal>SIGTERM", "has wrong signs; did you mean --save-on='signal:SIGTERM'?"},
		{"wait:200ms", "has wrong signs; did you mean --save-on='wait>200ms'?"},
		{"wait:napper:200ms", "did you mean --save-on='wait:napper>200ms'?"},
		{"wait=200ms", "did you mean --save-on='wait>200ms'?"},
		{"wait > 200ms", "did you mean --save-on='wait>200ms'?"},
		{"wait:napper >= 200ms", "did you mean --save-on='wait:napper>200ms'?"},
		{"wait:napper<200ms", "did you mean --save-on='wait:napper>200ms'?"},
		{"wait:napper", "has no time behind a >; for example --save-on='wait>200ms' or 'wait:postgres>200ms'"},
		{"wait>", "has no time behind a >; for example --save-on='wait>200ms'"},
		{"wait:napper>soon", "has something else than a time behind the >; for example --save-on='wait>200ms'"},
		{"wait>200ms:a>1s", "has more than one >; for example"},
		{"scope>50ms", "has no name; for example --save-on='scope:pay>50ms'"},
		{"call:fsyn>1s", "names no system call; did you mean fsync?; for example"},
		{"psi:disk>1s", "names none of io, cpu, memory; for example --save-on='psi:io>200ms/2s'"},
		{"losses", "psi, loss; did you mean loss?"},
		{"napper>200ms", "begins with none of wait, scope,"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct save_on on;
		struct trace_error error = {0};

		CU_ASSERT_EQUAL(save_on_parse(cases[i].text, &on, &error), -EINVAL);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.message, cases[i].words));
		if (!strstr(error.message, cases[i].words))
			fprintf(stderr, "%s\n", error.message);
	}
}

/* ---- events ---- */

#define MS 1000000ull

/** struct story - records of two CPUs, and what they fulfil */
struct story {
	struct save_on on[2];
	struct trace_writer *writer;
	struct trigger_marks *marks;
	struct triggers *triggers;
	struct own_records records[2];
	uint64_t lost[2];
	uint64_t begin_ns;
	size_t nr_hits;
	struct trigger_hit last;
};

static void note_hit(void *context, const struct trigger_hit *hit)
{
	struct story *story = context;

	story->nr_hits++;
	story->last = *hit;
}

static struct story *story_new(const char *first, const char *second)
{
	struct story *story = calloc(1, sizeof(*story));
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	story->begin_ns = 1ull << 33;
	story->on[0] = parsed(first);
	if (second)
		story->on[1] = parsed(second);
	story->writer = trace_writer_new(fd, NULL, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(story->writer);
	story->marks = trigger_marks_new(story->on, second ? 2 : 1, story->writer);
	story->triggers = triggers_new(story->on, second ? 2 : 1, NULL, note_hit, story);
	close(fd); /* nothing more is written */
	return story;
}

static void story_free(struct story *story)
{
	triggers_free(story->triggers);
	trigger_marks_free(story->marks);
	trace_writer_free(story->writer);
	for (int cpu = 0; cpu < 2; cpu++)
		own_records_release(&story->records[cpu]);
	free(story);
}

static void put(struct story *story, int cpu, uint64_t ms, uint16_t id, const void *payload, size_t bytes)
{
	struct own_records *records = &story->records[cpu];

	if (!records->nr_records)
		records->base_ns = story->begin_ns;
	CU_ASSERT_EQUAL(own_records_add_event(records, id, payload, bytes, NULL, story->begin_ns + ms * MS), 0);
}

static void out_in(struct story *story, int cpu, uint64_t ms, uint32_t prev, uint32_t state, uint32_t next)
{
	struct trace_sched_switch change = {.prev_tid = prev, .next_tid = next, .prev_state = state};

	put(story, cpu, ms, TRACE_EV_sched_switch, &change, sizeof(change));
}

static void waking(struct story *story, int cpu, uint64_t ms, uint32_t tid)
{
	struct trace_sched_waking wake = {.tid = tid};

	put(story, cpu, ms, TRACE_EV_sched_waking, &wake, sizeof(wake));
}

static int producer = -1; /* the kernel */

/* The daemon drains both CPUs, @first before the other one. */
static void drained(struct story *story, int first, uint64_t until_ms)
{
	for (int i = 0; i < 2; i++) {
		int cpu = i ? !first : first;
		struct trace_source source = own_records_source(&story->records[cpu], TRACE_CHUNK_EVENTS,
								(uint32_t)(2 * cpu), 1);

		source.cpu = (uint32_t)cpu;
		source.lost_total = story->lost[cpu];
		trigger_marks_read(story->marks, &source, producer);
		own_records_clear(&story->records[cpu]);
	}
	triggers_run(story->triggers, story->marks, story->begin_ns + until_ms * MS);
}

#define ASLEEP TRACE_TASK_INTERRUPTIBLE
#define DISK   TRACE_TASK_UNINTERRUPTIBLE

static void a_long_wait_for_a_disk_is_found(void)
{
	struct story *story = story_new("wait>200ms", NULL);

	out_in(story, 0, 0, 10, DISK, 0);
	out_in(story, 0, 1, 0, 0, 20);
	out_in(story, 0, 2, 20, DISK, 0);
	waking(story, 0, 100, 20);
	waking(story, 0, 250, 10);
	drained(story, 0, 260);
	CU_ASSERT_EQUAL(story->nr_hits, 1);
	CU_ASSERT_EQUAL(story->last.ns, story->begin_ns + 250 * MS);
	CU_ASSERT_PTR_NOT_NULL(strstr(story->last.text, "(10) waited 0.250 s"));
	story_free(story);
}

static void a_wait_that_lasts_is_found_once(void)
{
	struct story *story = story_new("wait>200ms", NULL);

	out_in(story, 0, 0, 10, DISK, 0);
	drained(story, 0, 100);
	CU_ASSERT_EQUAL(story->nr_hits, 0);
	drained(story, 0, 300);
	CU_ASSERT_EQUAL(story->nr_hits, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(story->last.text, "has been waiting for 0.300 s"));
	waking(story, 0, 400, 10);
	drained(story, 0, 500);
	CU_ASSERT_EQUAL(story->nr_hits, 1);
	story_free(story);
}

/* The other CPU is drained first, and has the end of the wait. */
static void the_order_of_draining_does_not_matter(void)
{
	struct story *story;

	for (int first = 0; first < 2; first++) {
		story = story_new("wait>200ms", NULL);
		out_in(story, 0, 0, 10, DISK, 0);
		waking(story, 1, 10, 10);
		out_in(story, 1, 11, 0, 0, 10);
		out_in(story, 1, 20, 10, DISK, 0);
		waking(story, 0, 210, 10);
		out_in(story, 0, 211, 0, 0, 10);
		drained(story, first, 500);
		CU_ASSERT_EQUAL(story->nr_hits, 0);
		story_free(story);
	}
}

static void rest_preemption_and_idle_kernel_threads_are_no_waits(void)
{
	struct story *story = story_new("wait>200ms", NULL);
	struct trace_sched_switch preempted = {.prev_tid = 30, .prev_state = DISK, .preempt = 1};

	out_in(story, 0, 0, 10, ASLEEP, 0);
	out_in(story, 0, 1, 20, DISK | TRACE_TASK_NOLOAD, 0);
	put(story, 0, 2, TRACE_EV_sched_switch, &preempted, sizeof(preempted));
	out_in(story, 0, 3, 40, TRACE_TASK_RUNNING, 0);
	out_in(story, 0, 4, 50, TRACE_TASK_DEAD, 0);
	drained(story, 0, 5000);
	CU_ASSERT_EQUAL(story->nr_hits, 0);
	story_free(story);
}

/* The thread ran in between, but that event is lost. */
static void a_loss_makes_no_wait_longer(void)
{
	struct story *story = story_new("wait>200ms", NULL);

	out_in(story, 0, 0, 10, DISK, 0);
	drained(story, 0, 100);
	story->lost[0] = 5;
	waking(story, 0, 400, 10);
	drained(story, 0, 500);
	CU_ASSERT_EQUAL(story->nr_hits, 0);
	out_in(story, 0, 600, 10, DISK, 0);
	waking(story, 0, 900, 10);
	drained(story, 0, 1000);
	CU_ASSERT_EQUAL(story->nr_hits, 1);
	story_free(story);
}

/* ---- events and scopes of programs ---- */

static uint16_t add_type(struct story *story, const char *name, enum trace_event_role role)
{
	static const struct trace_field fields[] = {
		{.name = "tid", .kind = TRACE_KIND_PAD, .offset = 0, .bytes = 4},
		{.name = "cents", .kind = TRACE_KIND_DEC, .offset = 8, .bytes = 8},
	};
	struct trace_event_type type = {.name = name,
					.classic = "NONE",
					.text = "",
					.doc = "",
					.program = "NONE",
					.source = "",
					.fields = &fields[1],
					.nr_fields = 1,
					.fixed_bytes = 16,
					.flags = TRACE_EVENT_TID,
					.category = TRACE_CATEGORY_USER,
					.role = role};
	struct trace_error error = {0};
	uint16_t id = 0;

	CU_ASSERT_EQUAL(trace_writer_event_type(story->writer, &type, &id, &error), 0);
	if (error.code)
		fprintf(stderr, "%s\n", error.message);
	return id;
}

static void user(struct story *story, uint64_t ms, uint16_t id, uint32_t tid, uint64_t cents)
{
	struct {
		uint32_t tid;
		uint32_t pad;
		uint64_t cents;
	} payload = {.tid = tid, .cents = cents};

	put(story, 0, ms, id, &payload, sizeof(payload));
}

static void an_event_with_a_value_is_found(void)
{
	struct story *story = story_new("event:shop:pay[cents>5]", "event:shop:p*");
	uint16_t pay = add_type(story, "shop:pay", TRACE_ROLE_EVENT),
		 other = add_type(story, "shop:other", TRACE_ROLE_EVENT);

	user(story, 1, pay, 7, 5);
	user(story, 2, other, 7, 100);
	drained(story, 0, 10);
	CU_ASSERT_EQUAL(story->nr_hits, 1);
	CU_ASSERT_PTR_EQUAL(story->last.on, &story->on[1]);
	user(story, 11, pay, 7, 6);
	drained(story, 0, 20);
	CU_ASSERT_EQUAL(story->nr_hits, 3);
	story_free(story);
}

static void a_long_scope_is_found(void)
{
	struct story *story = story_new("scope:pay>50ms", NULL);
	uint16_t begin = add_type(story, "shop:pay.begin", TRACE_ROLE_BEGIN),
		 end = add_type(story, "shop:pay.end", TRACE_ROLE_END);

	user(story, 0, begin, 7, 0);
	user(story, 10, begin, 8, 0);
	user(story, 20, begin, 8, 0); /* inside the other one */
	user(story, 30, end, 8, 0);
	user(story, 40, end, 8, 0);
	user(story, 49, end, 7, 0);
	drained(story, 0, 60);
	CU_ASSERT_EQUAL(story->nr_hits, 0);
	user(story, 100, begin, 7, 0);
	user(story, 160, end, 7, 0);
	drained(story, 0, 200);
	CU_ASSERT_EQUAL(story->nr_hits, 1);
	user(story, 300, begin, 9, 0);
	drained(story, 0, 400);
	CU_ASSERT_EQUAL(story->nr_hits, 2); /* it has not ended */
	user(story, 500, end, 9, 0);
	drained(story, 0, 600);
	CU_ASSERT_EQUAL(story->nr_hits, 2);
	story_free(story);
}

/*
 * SECURITY: the thread of a scope is what the program says. It opens the scope in more threads than
 * there can be; those of another program are found.
 */
static void scopes_of_a_program_are_bounded(void)
{
	struct story *story = story_new("scope:pay>50ms", NULL);
	uint16_t begin = add_type(story, "shop:pay.begin", TRACE_ROLE_BEGIN),
		 end = add_type(story, "shop:pay.end", TRACE_ROLE_END);

	producer = 7;
	for (uint32_t round = 1; round <= 2; round++) {
		for (uint32_t tid = 1; tid <= 6000; tid++)
			user(story, round * 1000, begin, tid, 0);
		drained(story, 0, round * 1000 + 100);
		CU_ASSERT_EQUAL(story->nr_hits, round * 4096);
		for (uint32_t tid = 1; tid <= 6000; tid++)
			user(story, round * 1000 + 200, end, tid, 0);
		drained(story, 0, round * 1000 + 300);
		CU_ASSERT_EQUAL(story->nr_hits, round * 4096);
	}
	producer = -1;
	story_free(story);
}

/* The messages while @nr_programs open @nr scopes each */
static void open_scopes(int32_t nr_programs, uint32_t nr, char *ret_text, size_t size)
{
	struct story *story = story_new("scope:pay>50ms", NULL);
	uint16_t begin = add_type(story, "shop:pay.begin", TRACE_ROLE_BEGIN);
	int saved = dup(STDERR_FILENO), fd = memfd_create("stderr", MFD_CLOEXEC);
	ssize_t bytes;

	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	for (producer = 1; producer <= nr_programs; producer++) {
		for (uint32_t tid = 1; tid <= nr; tid++)
			user(story, 1000, begin, tid, 0);
		drained(story, 0, 1010);
	}
	producer = -1;
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	bytes = pread(fd, ret_text, size - 1, 0);
	ret_text[bytes > 0 ? bytes : 0] = '\0';
	close(fd);
	story_free(story);
}

static void the_bound_that_scopes_have_passed_is_told(void)
{
	char text[512];

	open_scopes(16, 4096, text, sizeof(text));
	CU_ASSERT_STRING_EQUAL(text, "");
	open_scopes(1, 4097, text, sizeof(text));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "a program has more than 4096 open scopes"));
	open_scopes(33, 2000, text, sizeof(text));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "all programs have more than 65536 open scopes"));
}

/* ---- system calls ---- */

static void entry(struct story *story, int cpu, uint64_t ms, uint32_t nr)
{
	struct trace_sys_enter3 enter = {.nr = nr};

	put(story, cpu, ms, TRACE_EV_sys_enter3, &enter, sizeof(enter));
}

static void exit_of_call(struct story *story, int cpu, uint64_t ms)
{
	struct trace_sys_exit result = {0};

	put(story, cpu, ms, TRACE_EV_sys_exit, &result, sizeof(result));
}

/* Thread 10 blocks in its call on CPU 0 and returns from it on CPU 1. */
static void a_long_system_call_is_found(void)
{
	struct story *story = story_new("call:fsync>50ms", NULL);

	out_in(story, 0, 0, 0, 0, 10);
	entry(story, 0, 1, SYS_fsync);
	exit_of_call(story, 0, 41);
	entry(story, 0, 42, SYS_read);
	exit_of_call(story, 0, 142);
	entry(story, 0, 150, SYS_fsync);
	out_in(story, 0, 151, 10, DISK, 0);
	out_in(story, 1, 210, 0, 0, 10);
	exit_of_call(story, 1, 211);
	drained(story, 1, 211);
	CU_ASSERT_EQUAL(story->nr_hits, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(story->last.text, "was in fsync for 0.061 s"));
	story_free(story);
}

static void a_system_call_that_lasts_is_found_once(void)
{
	struct story *story = story_new("call:fsync>50ms", NULL);

	out_in(story, 0, 0, 0, 0, 10);
	entry(story, 0, 1, SYS_fsync);
	out_in(story, 0, 2, 10, DISK, 0);
	drained(story, 0, 40);
	CU_ASSERT_EQUAL(story->nr_hits, 0);
	drained(story, 0, 60);
	CU_ASSERT_EQUAL(story->nr_hits, 1);
	out_in(story, 0, 99, 0, 0, 10);
	exit_of_call(story, 0, 100);
	drained(story, 0, 101);
	CU_ASSERT_EQUAL(story->nr_hits, 1);
	story_free(story);
}

/* A thread that a signal ends in its call does not return from it. */
static void a_thread_that_ended_is_in_no_system_call(void)
{
	struct story *story = story_new("call:fsync>50ms", NULL);

	out_in(story, 0, 0, 0, 0, 10);
	entry(story, 0, 1, SYS_fsync);
	out_in(story, 0, 2, 10, TRACE_TASK_DEAD, 0);
	drained(story, 0, 100);
	CU_ASSERT_EQUAL(story->nr_hits, 0);
	story_free(story);
}

/* Entry and exit in one record, as the kernel writes them if nothing is in between */
static void a_call_in_one_record_is_found(void)
{
	struct story *story = story_new("call:fsync>50ms", NULL);
	struct {
		struct trace_record_call call;
		struct trace_sys_enter3 enter;
	} record = {.enter.nr = SYS_fsync};

	out_in(story, 0, 0, 0, 0, 10);
	record.call.elapsed = 50 * MS;
	put(story, 0, 1, TRACE_RECORD_CALL + 1, &record, sizeof(record));
	drained(story, 0, 55);
	CU_ASSERT_EQUAL(story->nr_hits, 0);
	record.call.elapsed = 51 * MS;
	put(story, 0, 60, TRACE_RECORD_CALL + 1, &record, sizeof(record));
	drained(story, 0, 200);
	CU_ASSERT_EQUAL(story->nr_hits, 1);
	CU_ASSERT_EQUAL(story->last.ns, story->begin_ns + 111 * MS);
	story_free(story);
}

static void a_signal_is_found(void)
{
	struct story *story = story_new("signal:SIGSEGV", NULL);
	struct trace_signal_generate signal = {.tid = 77, .signal = SIGTERM};

	put(story, 0, 1, TRACE_EV_signal_generate, &signal, sizeof(signal));
	signal.signal = SIGSEGV;
	signal.result = 1; /* ignored */
	put(story, 0, 2, TRACE_EV_signal_generate, &signal, sizeof(signal));
	signal.result = 0;
	put(story, 0, 3, TRACE_EV_signal_generate, &signal, sizeof(signal));
	drained(story, 0, 10);
	CU_ASSERT_EQUAL(story->nr_hits, 1);
	CU_ASSERT_PTR_NOT_NULL(strstr(story->last.text, "(77) got SIGSEGV"));
	story_free(story);
}

static void named(struct story *story, uint64_t ms, uint32_t tid, const char *path)
{
	struct {
		struct trace_sched_exec exec;
		char path[32];
	} run = {.exec = {.tid = tid, .old_tid = tid}};

	strncpy(run.path, path, sizeof(run.path) - 1);
	put(story, 1, ms, TRACE_EV_sched_exec, &run, sizeof(run));
}

/* When the daemon looks, the program has ended, and its name is only in the events. */
static void a_program_that_has_ended_is_known_by_its_name(void)
{
	struct story *story = story_new("wait:napper>200ms", "signal:napper:SIGTERM");
	struct trace_signal_generate signal = {.tid = 10, .signal = SIGTERM};
	struct trace_sched_fork thread = {.parent_tid = 10, .tid = 11, .tgid = 10};
	struct trace_sched_free gone = {.tid = 10};

	named(story, 0, 10, "/usr/bin/napper");
	named(story, 0, 20, "/usr/bin/other");
	put(story, 1, 1, TRACE_EV_sched_fork, &thread, sizeof(thread));
	out_in(story, 0, 2, 11, ASLEEP, 20);
	out_in(story, 0, 3, 20, ASLEEP, 10);
	put(story, 0, 4, TRACE_EV_signal_generate, &signal, sizeof(signal));
	waking(story, 0, 250, 11);
	waking(story, 0, 251, 20);
	drained(story, 0, 260);
	CU_ASSERT_EQUAL(story->nr_hits, 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(story->last.text, "napper (11) waited 0.248 s"));
	put(story, 1, 300, TRACE_EV_sched_free, &gone, sizeof(gone));
	out_in(story, 0, 301, 10, ASLEEP, 0); /* another thread of that number */
	waking(story, 0, 900, 10);
	drained(story, 0, 1000);
	CU_ASSERT_EQUAL(story->nr_hits, 2);
	story_free(story);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(words_say_when_to_save),
		CASE(pressure_without_a_time_is_told_what_is_missing),
		CASE(wrong_words_are_refused),
		CASE(wrong_words_are_answered_with_the_right_ones),
		CASE(a_stall_before_the_recording_is_none),
		CASE(a_long_wait_for_a_disk_is_found),
		CASE(a_wait_that_lasts_is_found_once),
		CASE(the_order_of_draining_does_not_matter),
		CASE(rest_preemption_and_idle_kernel_threads_are_no_waits),
		CASE(a_loss_makes_no_wait_longer),
		CASE(an_event_with_a_value_is_found),
		CASE(a_long_scope_is_found),
		CASE(scopes_of_a_program_are_bounded),
		CASE(the_bound_that_scopes_have_passed_is_told),
		CASE(a_long_system_call_is_found),
		CASE(a_system_call_that_lasts_is_found_once),
		CASE(a_thread_that_ended_is_in_no_system_call),
		CASE(a_call_in_one_record_is_found),
		CASE(a_signal_is_found),
		CASE(a_program_that_has_ended_is_known_by_its_name),
		{NULL, NULL},
	};

	return unit_main("triggers", cases, argc, argv);
}
