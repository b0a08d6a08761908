/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_dynamic.c - <trace/dynamic.h> in this process, read by a consumer in the same process:
 * declarations, values, threads.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit.h"
#include "user_consumer.h"
#include <trace/dynamic.h>

#define MANY 20000 /* more than a process can have */

static struct user_consumer consumer;
static struct user_record seen;
static unsigned char payload[TRACE_RECORD_MAX_BYTES];
static int nr_seen;

static void keep(const struct user_record *record, void *argument)
{
	seen = *record;
	memcpy(payload, record->payload, record->payload_bytes);
	seen.payload = payload;
	nr_seen++;
}

/* The number of records; the last one is in @seen. */
static int drain(void)
{
	nr_seen = 0;
	consumer.each = keep;
	user_consumer_drain(&consumer, true);
	CU_ASSERT_PTR_NULL(consumer.fault);
	return nr_seen;
}

static struct trace_dynamic *declare(const char *name, uint32_t role, const char *fields)
{
	struct trace_dynamic *event = NULL;

	CU_ASSERT_EQUAL_FATAL(trace_dynamic_declare("test", name, role, fields, "here.py", 7, &event), 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	return event;
}

/* Record an exact copy of the values, so that AddressSanitizer sees each byte that is read beyond
 * them. */
static int record(struct trace_dynamic *event, const void *values, size_t bytes)
{
	void *copy = malloc(bytes ? bytes : 1);

	if (bytes)
		memcpy(copy, values, bytes);
	trace_dynamic_record(event, copy, bytes);
	free(copy);
	return drain();
}

static bool text_is(const char *field, const char *text, size_t length)
{
	size_t bytes;
	const void *at = user_record_field(&seen, field, &bytes);

	return at && bytes == length && memcmp(at, text, length) == 0;
}

static void values_of_all_types_arrive(void)
{
	struct trace_dynamic *event = declare("types", TRACE_DYNAMIC_EVENT,
					      "a:i8 b:i16 c:i32 d:i64 e:u8 f:u16 g:u32 h:u64 i:f32 j:f64 k:bool "
					      "l:pointer m:text n:bytes");
	struct {
		int64_t a, b, c, d;
		uint64_t e, f, g, h;
		double i, j;
		uint64_t k, l, m, n;
		char texts[8];
	} values = {-8,	 -1600, -320000, -64000000000, 200, 60000, 4000000000, 18000000000000000000u,
		    1.5, -2.25, 256,	 0xabcdef,     5,   3,	   "alicexyz"};
	size_t bytes;
	float f;
	double d;

	CU_ASSERT_EQUAL_FATAL(record(event, &values, sizeof(values)), 1);
	CU_ASSERT_STRING_EQUAL(seen.provider, "test");
	CU_ASSERT_STRING_EQUAL(seen.name, "types");
	CU_ASSERT_STRING_EQUAL(user_event_text(seen.event, seen.event->file), "here.py");
	CU_ASSERT_EQUAL(seen.event->line, 7);
	CU_ASSERT_EQUAL(seen.tid, (trace_u32)gettid());
	CU_ASSERT_EQUAL((signed char)user_record_integer(&seen, "a"), -8);
	CU_ASSERT_EQUAL((short)user_record_integer(&seen, "b"), -1600);
	CU_ASSERT_EQUAL((int)user_record_integer(&seen, "c"), -320000);
	CU_ASSERT_EQUAL(user_record_integer(&seen, "d"), -64000000000);
	CU_ASSERT_EQUAL(user_record_integer(&seen, "e"), 200);
	CU_ASSERT_EQUAL(user_record_integer(&seen, "f"), 60000);
	CU_ASSERT_EQUAL(user_record_integer(&seen, "g"), 4000000000);
	CU_ASSERT_EQUAL((trace_u64)user_record_integer(&seen, "h"), 18000000000000000000u);
	memcpy(&f, user_record_field(&seen, "i", &bytes), sizeof(f));
	CU_ASSERT_EQUAL(f, 1.5F);
	memcpy(&d, user_record_field(&seen, "j", &bytes), sizeof(d));
	CU_ASSERT_EQUAL(d, -2.25);
	CU_ASSERT_EQUAL(user_record_integer(&seen, "k"), 1);
	CU_ASSERT_EQUAL(user_record_integer(&seen, "l"), 0xabcdef);
	CU_ASSERT(text_is("m", "alice", 5));
	CU_ASSERT(text_is("n", "xyz", 3));
}

static void values_that_end_early_are_zero_or_cut(void)
{
	struct trace_dynamic *event = declare("short", TRACE_DYNAMIC_EVENT, "a:text b:u32 c:text d:bytes");
	struct {
		uint64_t a, b, c, d;
		char texts[8];
	} values = {3, 9, UINT64_MAX, 4, "onetwo"};

	CU_ASSERT_EQUAL_FATAL(record(event, &values, 32 + 6), 1);
	CU_ASSERT(text_is("a", "one", 3) && text_is("c", "two", 3) && text_is("d", "", 0));
	CU_ASSERT_EQUAL(user_record_integer(&seen, "b"), 9);
	values.c = 2;
	CU_ASSERT_EQUAL_FATAL(record(event, &values, 32 + 6), 1);
	CU_ASSERT(text_is("c", "tw", 2) && text_is("d", "o", 1));
	for (size_t bytes = 0; bytes < 32 + 6; bytes++)
		CU_ASSERT_EQUAL_FATAL(record(event, &values, bytes), 1);
	CU_ASSERT_EQUAL_FATAL(record(event, &values, 16), 1);
	CU_ASSERT(text_is("a", "", 0));
	CU_ASSERT_EQUAL(user_record_integer(&seen, "b"), 9);
	CU_ASSERT_EQUAL_FATAL(record(event, NULL, 0), 1);
	CU_ASSERT_EQUAL(user_record_integer(&seen, "b"), 0);
	trace_dynamic_record(declare("two", TRACE_DYNAMIC_EVENT, "a:u64 b:u64"), &values, 8); /* more follow */
	CU_ASSERT_EQUAL_FATAL(drain(), 1);
	CU_ASSERT_EQUAL(user_record_integer(&seen, "a"), 3);
	CU_ASSERT_EQUAL(user_record_integer(&seen, "b"), 0);
}

static void gaps_between_fields_are_zero(void)
{
	static const unsigned char gaps[] = {1, 0, 2, 0, 3, 0, 0, 0};
	struct trace_dynamic *small = declare("small", TRACE_DYNAMIC_EVENT, "a:bool b:u16 c:u8");
	const uint64_t ones[] = {~0ull, ~0ull, ~0ull}, values[] = {256, 2, 3};

	trace_dynamic_record(declare("ones", TRACE_DYNAMIC_EVENT, "a:u64 b:u64 c:u64"), ones,
			     sizeof(ones)); /* on the stack */
	trace_dynamic_record(small, values, sizeof(values));
	CU_ASSERT_EQUAL_FATAL(drain(), 2);
	CU_ASSERT_EQUAL(memcmp(seen.payload + 4, gaps, sizeof(gaps)), 0);
}

static void texts_are_bounded(void)
{
	struct trace_dynamic *event = declare("long", TRACE_DYNAMIC_EVENT, "a:text");
	uint64_t values[1 + 300] = {2000};
	size_t bytes;

	memset(values + 1, 'x', 2000);
	CU_ASSERT_EQUAL_FATAL(record(event, values, 8 + 2000), 1);
	user_record_field(&seen, "a", &bytes);
	CU_ASSERT_EQUAL(bytes, 1024);
	CU_ASSERT_EQUAL(memcmp((const char *)user_record_field(&seen, "a", &bytes) + 1021, "...", 3), 0);
}

static void declarations_against_the_rules_are_refused(void)
{
	static const char *const names[] = {"", "2pay", "a-b", "a b", "a.b", "\xc3\xa4", NULL};
	static const char *const fields[] = {"a",	    "a:",	   ":i32",    "a:int",
					     "a:i32 a:i64", "a:i32,b:i32", "a b:i32", "a:i3 2"};
	char sixty_four[65] = "", seventeen[17 * 8] = "";
	struct trace_dynamic *event = NULL;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		CU_ASSERT_EQUAL(trace_dynamic_declare("test", names[i], 0, "", NULL, 0, &event), -EINVAL);
		CU_ASSERT_EQUAL(trace_dynamic_declare(names[i], "test", 0, "", NULL, 0, &event), -EINVAL);
	}
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		CU_ASSERT_EQUAL(trace_dynamic_declare("test", "fields", 0, fields[i], NULL, 0, &event), -EINVAL);
	memset(sixty_four, 'x', 64);
	CU_ASSERT_EQUAL(trace_dynamic_declare("test", sixty_four, 0, "", NULL, 0, &event), -EINVAL);
	for (int i = 0; i < 17; i++)
		sprintf(seventeen + strlen(seventeen), "f%d:u8 ", i);
	CU_ASSERT_EQUAL(trace_dynamic_declare("test", "fields", 0, seventeen, NULL, 0, &event), -EINVAL);
	CU_ASSERT_EQUAL(trace_dynamic_declare("test", "role", 7, "a:u8", NULL, 0, &event), -EINVAL);
	CU_ASSERT_EQUAL(trace_dynamic_declare("test", "role", TRACE_DYNAMIC_COUNTER, "", NULL, 0, &event), -EINVAL);
	CU_ASSERT_PTR_NULL(event);
	CU_ASSERT(strlen(trace_dynamic_rules()) > 50);
}

static void the_longest_declaration_is_taken(void)
{
	char name[64] = "", fields[16 * 80] = "";
	struct trace_dynamic *event;

	memset(name, 'n', 63);
	for (int i = 0; i < 16; i++)
		sprintf(fields + strlen(fields), " %.61s%02d:pointer", name, i);
	CU_ASSERT_EQUAL_FATAL(trace_dynamic_declare(name, name, 0, fields, NULL, 0, &event), 0);
	CU_ASSERT_EQUAL(record(event, "12345678", 8), 1);
	CU_ASSERT_STRING_EQUAL(seen.name, name);
	CU_ASSERT_EQUAL(seen.event->nr_fields, 16);
}

static void the_same_declaration_is_the_same_event(void)
{
	struct trace_dynamic *event = declare("same", TRACE_DYNAMIC_BEGIN, "id:u32 of:text"), *other = NULL;
	char copy[] = "id:u32  of:text";

	CU_ASSERT_PTR_EQUAL(declare("same", TRACE_DYNAMIC_BEGIN, copy), event);
	CU_ASSERT_PTR_NOT_EQUAL(declare("same", TRACE_DYNAMIC_END, copy), event);
	CU_ASSERT_PTR_NOT_EQUAL(declare("same", TRACE_DYNAMIC_BEGIN, "id:u32"), event);
	CU_ASSERT_PTR_NOT_EQUAL(declare("same", TRACE_DYNAMIC_BEGIN, "id:u32 to:text"), event);
	CU_ASSERT_PTR_NOT_EQUAL(declare("same", TRACE_DYNAMIC_BEGIN, "id:i32 of:text"), event);
	CU_ASSERT_EQUAL(trace_dynamic_declare("test", "same", 1, copy, "here.py", 8, &other), 0);
	CU_ASSERT_PTR_NOT_EQUAL(other, event);
	CU_ASSERT_EQUAL(trace_dynamic_declare("test", "same", 1, copy, "there.py", 7, &other), 0);
	CU_ASSERT_PTR_NOT_EQUAL(other, event);
}

static void an_event_is_recorded_only_while_it_is_selected(void)
{
	struct trace_dynamic *event = declare("switched", TRACE_DYNAMIC_EVENT, "");
	const volatile unsigned char *flag = trace_dynamic_flag(event);

	user_consumer_switch(&consumer, false);
	CU_ASSERT_EQUAL(*flag, 0);
	CU_ASSERT_EQUAL(record(event, NULL, 0), 0);
	user_consumer_switch(&consumer, true);
	CU_ASSERT_EQUAL(*flag, 1);
	CU_ASSERT_EQUAL(record(event, NULL, 0), 1);
	CU_ASSERT_EQUAL(seen.payload_bytes, 8);
}

static void roles_arrive(void)
{
	for (uint32_t role = TRACE_DYNAMIC_EVENT; role <= TRACE_DYNAMIC_REQUEST_HANDOFF; role++) {
		CU_ASSERT_EQUAL_FATAL(record(declare("role", role, "id:u64"), &(uint64_t){role}, 8), 1);
		CU_ASSERT_EQUAL(seen.event->role, role);
		CU_ASSERT_EQUAL(user_record_integer(&seen, "id"), role);
	}
}

static void errno_is_left_alone(void)
{
	errno = 4711;
	trace_dynamic_record(declare("errno", TRACE_DYNAMIC_EVENT, "a:u8"), "12345678", 8);
	CU_ASSERT_EQUAL(errno, 4711);
	drain();
}

/* ---- threads ---- */

#define THREADS 4
#define NAMES	300
static pthread_barrier_t barrier;

static void *declare_all(void *argument)
{
	struct trace_dynamic **events = argument;
	char name[32];

	pthread_barrier_wait(&barrier);
	for (int i = 0; i < NAMES; i++) {
		sprintf(name, "raced%d", i);
		if (trace_dynamic_declare("test", name, 0, "a:u32", NULL, 0, &events[i]) == 0)
			trace_dynamic_record(events[i], "12345678", 8);
	}
	return NULL;
}

static void threads_that_declare_at_once_get_one_event(void)
{
	static struct trace_dynamic *events[THREADS][NAMES];
	pthread_t threads[THREADS];
	char name[32];

	pthread_barrier_init(&barrier, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&threads[i], NULL, declare_all, events[i]);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (int i = 0; i < NAMES; i++)
		for (int n = 1; n < THREADS; n++)
			CU_ASSERT_PTR_EQUAL(events[n][i], events[0][i]);
	CU_ASSERT_EQUAL((trace_u64)drain() + user_consumer_lost(&consumer), THREADS * NAMES);
	for (int i = 0; i < NAMES; i++) {
		sprintf(name, "raced%d", i);
		CU_ASSERT_PTR_NOT_NULL(user_consumer_event(&consumer, "test", name));
	}
}

/* ---- no room ---- */

static int declare_too_many(void)
{
	struct trace_dynamic *event = NULL, *last = NULL;
	char name[32];

	for (int i = 0; i < MANY; i++) {
		last = event;
		sprintf(name, "many%d", i);
		if (trace_dynamic_declare("test", name, 0, "a:text", NULL, 0, &event) != 0 ||
		    *trace_dynamic_flag(event))
			return 1;
		trace_dynamic_record(event, name, strlen(name));
	}
	return event != last; /* all that have no room are one */
}

static void events_beyond_the_limit_are_off(void)
{
	int status = system("TRACER_BUFFERS=off exec /proc/$PPID/exe --too-many");

	CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void events_without_room_are_counted(void)
{
	trace_u32 max_events = consumer.memory->max_events;
	trace_u64 unregistered = consumer.memory->unregistered;
	struct trace_dynamic *event;

	consumer.memory->max_events = 1;
	event = declare("crowded", TRACE_DYNAMIC_EVENT, "");
	consumer.memory->max_events = max_events;
	CU_ASSERT_EQUAL(*trace_dynamic_flag(event), 0);
	CU_ASSERT_EQUAL(consumer.memory->unregistered, unregistered + 1);
	CU_ASSERT_EQUAL(record(event, NULL, 0), 0);
}

static const struct unit_case cases[] = {
	CASE(values_of_all_types_arrive),
	CASE(values_that_end_early_are_zero_or_cut),
	CASE(gaps_between_fields_are_zero),
	CASE(texts_are_bounded),
	CASE(declarations_against_the_rules_are_refused),
	CASE(the_longest_declaration_is_taken),
	CASE(the_same_declaration_is_the_same_event),
	CASE(an_event_is_recorded_only_while_it_is_selected),
	CASE(roles_arrive),
	CASE(errno_is_left_alone),
	CASE(threads_that_declare_at_once_get_one_event),
	CASE(events_beyond_the_limit_are_off),
	CASE(events_without_room_are_counted),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	struct trace_dynamic *first; /* creates the memory of this process */

	if (argc == 2 && strcmp(argv[1], "--too-many") == 0)
		return declare_too_many();
	/* Starts itself again with a socket of its own, because a daemon on this machine would take
	 * the events. */
	if (!getenv("TRACER_SOCKET")) {
		setenv("TRACER_SOCKET", "/tmp/test-dynamic-alone", 1);
		execv("/proc/self/exe", argv);
	}
	if (trace_dynamic_declare("test", "first", 0, NULL, NULL, 0, &first) != 0 ||
	    user_consumer_self(&consumer) != 0) {
		fprintf(stderr, "this process has no memory for events\n");
		return 1;
	}
	user_consumer_switch(&consumer, true);
	return unit_main("dynamic", cases, argc, argv);
}
