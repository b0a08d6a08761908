/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_tracepoint.c - <trace/tracepoint.h> in this process, read by a consumer in the same process:
 * types, names, switches, the macros.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "unit.h"
#include "user_consumer.h"
#include <trace/tracepoint.h>

static struct user_consumer consumer;

/* Copies of the first records of the last drain. */
#define MAX_SEEN 64
static struct user_record seen[MAX_SEEN];
static unsigned char payloads[MAX_SEEN][TRACE_RECORD_MAX_BYTES];
static int nr_seen;

static void keep(const struct user_record *record, void *argument)
{
	if (nr_seen < MAX_SEEN) {
		seen[nr_seen] = *record;
		memcpy(payloads[nr_seen], record->payload, record->payload_bytes);
		seen[nr_seen].payload = payloads[nr_seen];
	}
	nr_seen++;
}

static int by_time(const void *a, const void *b)
{
	const struct user_record *left = a, *right = b;

	return (left->time > right->time) - (left->time < right->time);
}

/* In the order in which they were recorded: a thread that migrates leaves them in the rings of two
 * CPUs. */
static int drain(void)
{
	nr_seen = 0;
	consumer.each = keep;
	user_consumer_drain(&consumer, true);
	CU_ASSERT_PTR_NULL(consumer.fault);
	qsort(seen, (size_t)(nr_seen < MAX_SEEN ? nr_seen : MAX_SEEN), sizeof(seen[0]), by_time);
	return nr_seen;
}

static void all_on(void)
{
	user_consumer_switch(&consumer, true);
	drain();
}

static bool text_is(int n, const char *field, const char *text)
{
	size_t bytes;
	const void *at = user_record_field(&seen[n], field, &bytes);

	return at && bytes == strlen(text) && memcmp(at, text, bytes) == 0;
}

/* The field's description, or NULL if there is none. */
static const struct user_field *field_of(const struct user_event *event, const char *name)
{
	const struct user_field *fields = (const struct user_field *)(event + 1);

	for (int i = 0; i < event->nr_fields; i++)
		if (strcmp(user_event_text(event, fields[i].name), name) == 0)
			return &fields[i];
	return NULL;
}

#define EXPECT_FIELD(name_, type_, bytes_)                                       \
	do {                                                                     \
		const struct user_field *field = field_of(seen[0].event, name_); \
		CU_ASSERT_PTR_NOT_NULL_FATAL(field);                             \
		CU_ASSERT_EQUAL(field->type, type_);                             \
		CU_ASSERT_EQUAL(field->bytes, bytes_);                           \
	} while (0)

enum color { RED, GREEN = 7 };
enum depth { BELOW = -3, ABOVE = 3 };

static void integers_of_all_sizes_arrive(void)
{
	signed char s8 = -8;
	unsigned char u8 = 200;
	short s16 = -1600;
	unsigned short u16 = 60000;
	int s32 = -320000;
	unsigned int u32 = 4000000000u;
	long s64 = -64000000000;
	unsigned long long u64 = 18000000000000000000ull;
	long long value;
	size_t bytes;

	all_on();
	tracepoint(types, integers, s8, u8, s16, u16, s32, u32, s64, u64);
	CU_ASSERT_EQUAL_FATAL(drain(), 1);
	EXPECT_FIELD("s8", USER_FIELD_SIGNED, 1);
	EXPECT_FIELD("u8", USER_FIELD_UNSIGNED, 1);
	EXPECT_FIELD("s16", USER_FIELD_SIGNED, 2);
	EXPECT_FIELD("u16", USER_FIELD_UNSIGNED, 2);
	EXPECT_FIELD("s32", USER_FIELD_SIGNED, 4);
	EXPECT_FIELD("u32", USER_FIELD_UNSIGNED, 4);
	EXPECT_FIELD("s64", USER_FIELD_SIGNED, 8);
	EXPECT_FIELD("u64", USER_FIELD_UNSIGNED, 8);
	CU_ASSERT_EQUAL((signed char)user_record_integer(&seen[0], "s8"), s8);
	CU_ASSERT_EQUAL(user_record_integer(&seen[0], "u8"), u8);
	CU_ASSERT_EQUAL((short)user_record_integer(&seen[0], "s16"), s16);
	CU_ASSERT_EQUAL(user_record_integer(&seen[0], "u16"), u16);
	CU_ASSERT_EQUAL((int)user_record_integer(&seen[0], "s32"), s32);
	CU_ASSERT_EQUAL(user_record_integer(&seen[0], "u32"), u32);
	memcpy(&value, user_record_field(&seen[0], "s64", &bytes), 8);
	CU_ASSERT_EQUAL(value, s64);
	CU_ASSERT_EQUAL((unsigned long long)user_record_integer(&seen[0], "u64"), u64);
	CU_ASSERT_EQUAL(seen[0].tid, (trace_u32)syscall(SYS_gettid));
	CU_ASSERT_EQUAL(seen[0].pid, getpid());
	CU_ASSERT_STRING_EQUAL(user_event_text(seen[0].event, seen[0].event->function), __func__);
	CU_ASSERT_EQUAL(seen[0].event->role, USER_ROLE_EVENT);
}

static void other_numbers_arrive(void)
{
	float f = 1.5F;
	double d = -2.25;
	long double ld = 3.125L;
	bool yes = true;
	char c = 'x';
	enum color color = GREEN;
	enum depth depth = BELOW;
	int *pointer = &(int){0};
	const volatile void *any = &f;
	void (*function)(void) = other_numbers_arrive;
	size_t bytes;
	double read;

	all_on();
	tracepoint(types, others, f, d, ld, yes, c, color, depth, pointer, any,
		   trace_field(function, (void *)function));
	CU_ASSERT_EQUAL_FATAL(drain(), 1);
	EXPECT_FIELD("f", USER_FIELD_FLOAT, 4);
	EXPECT_FIELD("d", USER_FIELD_FLOAT, 8);
	EXPECT_FIELD("ld", USER_FIELD_FLOAT, 8);
	EXPECT_FIELD("yes", USER_FIELD_BOOL, 1);
	EXPECT_FIELD("c", USER_FIELD_CHAR, 1);
	EXPECT_FIELD("color", USER_FIELD_UNSIGNED, 4);
	EXPECT_FIELD("depth", USER_FIELD_SIGNED, 4);
	EXPECT_FIELD("pointer", USER_FIELD_POINTER, 8);
	EXPECT_FIELD("any", USER_FIELD_POINTER, 8);
	EXPECT_FIELD("function", USER_FIELD_POINTER, 8);
	CU_ASSERT_EQUAL(memcmp(user_record_field(&seen[0], "f", &bytes), &f, 4), 0);
	CU_ASSERT_EQUAL(memcmp(user_record_field(&seen[0], "d", &bytes), &d, 8), 0);
	memcpy(&read, user_record_field(&seen[0], "ld", &bytes), 8);
	CU_ASSERT_EQUAL(read, 3.125);
	CU_ASSERT_EQUAL(user_record_integer(&seen[0], "yes"), 1);
	CU_ASSERT_EQUAL(user_record_integer(&seen[0], "c"), 'x');
	CU_ASSERT_EQUAL(user_record_integer(&seen[0], "color"), GREEN);
	CU_ASSERT_EQUAL((int)user_record_integer(&seen[0], "depth"), BELOW);
	CU_ASSERT_EQUAL(user_record_integer(&seen[0], "pointer"), (long long)(intptr_t)pointer);
	CU_ASSERT_EQUAL(user_record_integer(&seen[0], "function"), (long long)(intptr_t)other_numbers_arrive);
}

static void texts_arrive_bounded_and_null_safe(void)
{
	static char large[5000], longer[TRACE_TEXT_MAX + 1];
	const char *text = "hello", *none = NULL;
	char array[4] = {'a', 'b', 'c', 'd'}; /* no NUL */
	char padded[16] = "short";
	unsigned char raw[3] = {1, 0, 255};
	const void *at;
	size_t bytes;

	memset(large, 'L', sizeof(large) - 1);
	memset(longer, 'x', TRACE_TEXT_MAX);
	all_on();
	tracepoint(types, texts, text, none, array, padded, "a literal", trace_bytes(raw, sizeof(raw)),
		   trace_field(nothing, trace_bytes(NULL, 5)));
	tracepoint(types, large, large, trace_field(after, text));
	tracepoint(types, exact, trace_field(text, longer));
	tracepoint(types, two, trace_field(first, large), trace_field(second, large), trace_field(third, large),
		   trace_field(n, 42));
	tracepoint(types, bytes, trace_field(b, trace_bytes(large, sizeof(large))));
	CU_ASSERT_EQUAL_FATAL(drain(), 5);
	EXPECT_FIELD("text", USER_FIELD_STRING, 4);
	EXPECT_FIELD("raw", USER_FIELD_BYTES, 4);
	CU_ASSERT_TRUE(text_is(0, "text", "hello"));
	CU_ASSERT_TRUE(text_is(0, "none", ""));
	CU_ASSERT_TRUE(text_is(0, "array", "abcd"));
	CU_ASSERT_TRUE(text_is(0, "padded", "short"));
	CU_ASSERT_TRUE(text_is(0, "field5", "a literal"));
	at = user_record_field(&seen[0], "raw", &bytes);
	CU_ASSERT_TRUE(bytes == 3 && memcmp(at, raw, 3) == 0);
	CU_ASSERT_TRUE(text_is(0, "nothing", ""));
	at = user_record_field(&seen[1], "large", &bytes);
	CU_ASSERT_EQUAL(bytes, TRACE_TEXT_MAX);
	CU_ASSERT_EQUAL(memcmp((const char *)at + bytes - 4, "L...", 4), 0);
	CU_ASSERT_TRUE(text_is(1, "after", "hello"));
	CU_ASSERT_TRUE(text_is(2, "text", longer));
	user_record_field(&seen[3], "third", &bytes);
	CU_ASSERT_EQUAL(bytes, 0);
	at = user_record_field(&seen[3], "second", &bytes);
	CU_ASSERT_TRUE(bytes > 900 && memcmp((const char *)at + bytes - 4, "L...", 4) == 0);
	CU_ASSERT_EQUAL(user_record_integer(&seen[3], "n"), 42);
	user_record_field(&seen[4], "b", &bytes);
	CU_ASSERT_EQUAL(bytes, TRACE_TEXT_MAX);
}

struct order {
	int id;
	struct {
		double total;
	} bill;
	unsigned int paid : 1;
};

static void names_come_from_the_expressions(void)
{
	struct order order = {7, {9.5}, 1}, *o = &order;
	int values[3] = {1, 2, 3}, i = 1;

	all_on();
	tracepoint(names, all, o->id, order.bill.total, values[i], *values, i + 1, (long)i, i, +o->paid, strlen("a, b"),
		   ')', trace_field(sum, i + 4), -i);
	CU_ASSERT_EQUAL_FATAL(drain(), 1);
	EXPECT_FIELD("o_id", USER_FIELD_SIGNED, 4);
	EXPECT_FIELD("order_bill_total", USER_FIELD_FLOAT, 8);
	EXPECT_FIELD("values_i", USER_FIELD_SIGNED, 4);
	EXPECT_FIELD("values", USER_FIELD_SIGNED, 4);
	EXPECT_FIELD("i_1", USER_FIELD_SIGNED, 4);
	EXPECT_FIELD("long_i", USER_FIELD_SIGNED, 8);
	EXPECT_FIELD("i", USER_FIELD_SIGNED, 4);
	EXPECT_FIELD("o_paid", USER_FIELD_SIGNED, 4);
	EXPECT_FIELD("strlen_a_b", USER_FIELD_UNSIGNED, 8);
	EXPECT_FIELD("field10", USER_FIELD_SIGNED, 4);
	EXPECT_FIELD("sum", USER_FIELD_SIGNED, 4);
	EXPECT_FIELD("i_2", USER_FIELD_SIGNED, 4); /* the second i */
	CU_ASSERT_EQUAL(user_record_integer(&seen[0], "values_i"), 2);
	CU_ASSERT_EQUAL(user_record_integer(&seen[0], "sum"), 5);
	CU_ASSERT_EQUAL((int)user_record_integer(&seen[0], "i_2"), -1);
}

#define LOG(event, ...) tracepoint(wrapped, event, ##__VA_ARGS__)
/* without ## the fields are expanded first */
#define LOG_FIELDS(event, ...)	     tracepoint(wrapped, event, __VA_ARGS__)
#define LOG_ORDER(event, order, ...) LOG(event, (order)->id, trace_field(total, (order)->bill.total), ##__VA_ARGS__)

static void names_come_through_macros_around_tracepoint(void)
{
	struct order order = {7, {9.5}, 1}, *o = &order;
	char array[3] = {'a', 'b', 'c'};
	int i = 1;

	all_on();
	LOG_FIELDS(some, i + 1, trace_field(sum, i + 4), trace_field(letters, array),
		   trace_field(bytes, trace_bytes(array, 2)), trace_field(comma, &"\",\""[i]), trace_bytes(array, 1));
	LOG_ORDER(nested, o, trace_field(paid, +o->paid), trace_field(sum, i), o->bill.total);
	LOG(none);
	CU_ASSERT_EQUAL_FATAL(drain(), 3);
	CU_ASSERT_EQUAL(seen[0].event->nr_fields, 6);
	EXPECT_FIELD("i_1", USER_FIELD_SIGNED, 4);
	EXPECT_FIELD("sum", USER_FIELD_SIGNED, 4);
	EXPECT_FIELD("array", USER_FIELD_BYTES, 4);
	CU_ASSERT_EQUAL(user_record_integer(&seen[0], "sum"), 5);
	CU_ASSERT_TRUE(text_is(0, "letters", "abc")); /* still an array: its size is known */
	CU_ASSERT_TRUE(text_is(0, "bytes", "ab"));
	CU_ASSERT_TRUE(text_is(0, "comma", ",\""));
	CU_ASSERT_EQUAL(seen[1].event->nr_fields, 5);
	CU_ASSERT_EQUAL(user_record_integer(&seen[1], "o_id"), 7);
	CU_ASSERT_EQUAL(field_of(seen[1].event, "total")->type, USER_FIELD_FLOAT);
	CU_ASSERT_EQUAL(user_record_integer(&seen[1], "paid"), 1);
	CU_ASSERT_EQUAL(user_record_integer(&seen[1], "sum"), 1);
	CU_ASSERT_PTR_NOT_NULL(field_of(seen[1].event, "o_bill_total"));
	CU_ASSERT_EQUAL(seen[2].event->nr_fields, 0);
	LOG_FIELDS(twice, trace_field(sum, trace_field(inner, i)));
	CU_ASSERT_EQUAL_FATAL(drain(), 1);
	EXPECT_FIELD("sum", USER_FIELD_SIGNED, 4);
}

static int calls;

static int call(void)
{
	return ++calls;
}

static void fields_are_evaluated_once_and_only_when_enabled(void)
{
	const char *texts[] = {"first", "second"}, **next = texts;

	all_on();
	for (int on = 1; on >= 0; on--) {
		user_consumer_switch(&consumer, on);
		tracepoint(once, number, call());
		tracepoint(once, text, *next++, trace_field(n, call()));
	}
	CU_ASSERT_EQUAL(calls, 2);
	CU_ASSERT_EQUAL(next - texts, 1);
	CU_ASSERT_EQUAL(drain(), 2);
	CU_ASSERT_EQUAL(user_record_integer(&seen[0], "call"), 1);
	CU_ASSERT_TRUE(text_is(1, "next", "first"));
}

static void an_event_without_fields_is_sixteen_bytes(void)
{
	all_on();
	tracepoint(small, none);
	tracepoint(small, one, trace_field(n, 5));
	CU_ASSERT_EQUAL_FATAL(drain(), 2);
	CU_ASSERT_EQUAL(seen[0].payload_bytes, 8);
	CU_ASSERT_EQUAL(seen[0].event->nr_fields, 0);
	CU_ASSERT_EQUAL(seen[1].payload_bytes, 8);
	CU_ASSERT_TRUE(seen[0].time <= seen[1].time);
}

static void one_event_is_switched_alone(void)
{
	all_on();
	for (int on = 0; on < 2; on++) {
		user_consumer_switch_one(&consumer, "switches", "some", on);
		for (int i = 0; i < 5; i++) {
			tracepoint(switches, some, i);
			tracepoint(switches, other, i);
		}
		CU_ASSERT_EQUAL(drain(), on ? 10 : 5);
	}
}

static int leave_early(int how)
{
	trace_scope(scopes, outer);
	if (how == 0)
		return 1;
	for (int i = 0; i < 3; i++) {
		trace_scope(scopes, inner);
		if (i == how)
			break;
	}
	return 0;
}

static void scopes_end_however_they_are_left(void)
{
	static const char *const expected[] = {"outer", "outer", "outer", "inner", "inner", "inner", "inner", "outer"};
	static const int roles[] = {1, 2, 1, 1, 2, 1, 2, 2};

	all_on();
	leave_early(0);
	leave_early(1);
	CU_ASSERT_EQUAL_FATAL(drain(), 8);
	for (int i = 0; i < 8; i++) {
		CU_ASSERT_STRING_EQUAL(seen[i].name, expected[i]);
		CU_ASSERT_EQUAL(seen[i].event->role, roles[i]);
	}
}

static void counters_and_requests_have_their_roles(void)
{
	all_on();
	trace_counter(roles, queue, 12);
	trace_counter(roles, load, 0.5);
	trace_begin(roles, part, trace_field(n, 1));
	trace_end(roles, part);
	trace_request_begin(roles, request, 99);
	trace_request_handoff(roles, request, "abc");
	trace_request_end(roles, request, 99L);
	CU_ASSERT_EQUAL_FATAL(drain(), 7);
	CU_ASSERT_EQUAL(seen[0].event->role, USER_ROLE_COUNTER);
	CU_ASSERT_EQUAL(user_record_integer(&seen[0], "value"), 12);
	CU_ASSERT_EQUAL(seen[2].event->role, USER_ROLE_BEGIN);
	CU_ASSERT_EQUAL(seen[3].event->role, USER_ROLE_END);
	CU_ASSERT_EQUAL(seen[4].event->role, USER_ROLE_REQUEST_BEGIN);
	CU_ASSERT_EQUAL(user_record_integer(&seen[4], "id"), 99);
	CU_ASSERT_EQUAL(seen[5].event->role, USER_ROLE_REQUEST_HANDOFF);
	CU_ASSERT_TRUE(text_is(5, "id", "abc"));
	CU_ASSERT_EQUAL(seen[6].event->role, USER_ROLE_REQUEST_END);
}

static void errno_is_left_alone(void)
{
	all_on();
	errno = 12345;
	tracepoint(errors, some, trace_field(n, 1));
	CU_ASSERT_EQUAL(errno, 12345);
}

/* ---- the other language, another library ---- */

extern int cpp_events(void); /* user_cpp.cpp */

static void cpp_events_arrive_from_templates_inlines_and_lambdas(void)
{
	static const char *const names[] = {"plain",  "inlined", "templated",	"templated", "lambda",
					    "member", "text",	 "view",	"scoped",    "scoped",
					    "none",   "wrapped", "wrapped_none"};

	all_on();
	CU_ASSERT_EQUAL(cpp_events(), 13);
	CU_ASSERT_EQUAL_FATAL(drain(), 13);
	for (int i = 0; i < 13; i++)
		CU_ASSERT_STRING_EQUAL(seen[i].name, names[i]);
	CU_ASSERT_EQUAL(user_record_integer(&seen[0], "order_id"), 5);
	CU_ASSERT_EQUAL(field_of(seen[0].event, "kind")->type, USER_FIELD_UNSIGNED);
	CU_ASSERT_EQUAL(field_of(seen[0].event, "kind")->bytes, 1);
	CU_ASSERT_EQUAL(field_of(seen[2].event, "value")->type, USER_FIELD_SIGNED);
	CU_ASSERT_EQUAL(field_of(seen[3].event, "value")->type, USER_FIELD_FLOAT);
	CU_ASSERT_TRUE(text_is(6, "text", "a temporary string"));
	CU_ASSERT_TRUE(text_is(6, "array", "abc"));
	CU_ASSERT_TRUE(text_is(7, "view", "iew"));
	CU_ASSERT_EQUAL(seen[8].event->role, USER_ROLE_BEGIN);
	CU_ASSERT_EQUAL(seen[9].event->role, USER_ROLE_END);
	CU_ASSERT_EQUAL(seen[11].event->nr_fields, 6);
	CU_ASSERT_EQUAL(user_record_integer(&seen[11], "order"), 5);
	CU_ASSERT_EQUAL(field_of(seen[11].event, "total")->type, USER_FIELD_FLOAT);
	CU_ASSERT_TRUE(text_is(11, "text", "a temporary string"));
	CU_ASSERT_TRUE(text_is(11, "letters", "abc"));
	CU_ASSERT_TRUE(text_is(11, "bytes", "ab"));
	CU_ASSERT_PTR_NOT_NULL(field_of(seen[11].event, "kind"));
	CU_ASSERT_EQUAL(seen[12].event->nr_fields, 0);
}

/* ---- threads, signals ---- */

static void *one_event(void *n)
{
	tracepoint(threads, short_lived, trace_field(n, (int)(intptr_t)n), trace_field(tid, (int)syscall(SYS_gettid)));
	return NULL;
}

static int wrong_tids;

static void check_tid(const struct user_record *record, void *argument)
{
	wrong_tids += record->tid != (trace_u32)user_record_integer(record, "tid");
	++*(int *)argument;
}

static void thousands_of_short_threads_have_their_own_numbers(void)
{
	pthread_t threads[50];
	int count = 0;

	all_on();
	consumer.each = check_tid;
	consumer.argument = &count;
	for (int round = 0; round < 60; round++) {
		for (int i = 0; i < 50; i++)
			CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, one_event, (void *)(intptr_t)i), 0);
		for (int i = 0; i < 50; i++)
			pthread_join(threads[i], NULL);
		user_consumer_drain(&consumer, true);
	}
	CU_ASSERT_EQUAL(count, 3000);
	if (count != 3000)
		printf("(%d found, %llu lost, %llu of them unready) ", count,
		       (unsigned long long)user_consumer_lost(&consumer), (unsigned long long)consumer.memory->unready);
	CU_ASSERT_EQUAL(wrong_tids, 0);
	CU_ASSERT_EQUAL(user_consumer_lost(&consumer), 0);
}

static volatile int handled;

static void on_signal(int number)
{
	handled++;
	tracepoint(signals, handler, number);
}

static _Atomic bool stop;

static void *kick(void *thread)
{
	while (!stop) {
		pthread_kill(*(pthread_t *)thread, SIGUSR1);
		usleep(50);
	}
	return NULL;
}

struct counts {
	trace_u64 handler, outer;
};

static void count_each(const struct user_record *record, void *argument)
{
	struct counts *counts = argument;

	if (strcmp(record->name, "handler") == 0)
		counts->handler++;
	else if (strcmp(record->name, "interrupted") == 0)
		counts->outer++;
}

static void signal_handlers_trace_in_the_middle_of_records(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	pthread_t self = pthread_self(), kicker;
	struct counts counts = {0, 0};
	trace_u64 lost;
	int outer = 0;

	all_on();
	lost = user_consumer_lost(&consumer);
	consumer.each = count_each;
	consumer.argument = &counts;
	sigaction(SIGUSR1, &action, NULL);
	stop = false;
	pthread_create(&kicker, NULL, kick, &self);
	while (handled < 2000) {
		for (int i = 0; i < 1000; i++, outer++)
			tracepoint(signals, interrupted, i);
		user_consumer_drain(&consumer, true);
	}
	stop = true;
	pthread_join(kicker, NULL);
	user_consumer_drain(&consumer, true);
	CU_ASSERT_PTR_NULL(consumer.fault);
	lost = user_consumer_lost(&consumer) - lost;
	CU_ASSERT_EQUAL(counts.handler + counts.outer + lost, (trace_u64)handled + (trace_u64)outer);
	printf("(%d in handlers, %d interrupted, %llu lost) ", handled, outer, (unsigned long long)lost);
}

/* ---- a consumer while writers run ---- */

struct producer {
	pthread_t thread;
	int n;
	trace_u64 attempted;
};

static int producer_records = 200000;
static _Atomic int producers_running;
static int out_of_order;

static void *produce(void *argument)
{
	struct producer *producer = argument;

	for (int i = 0; i < producer_records; i++, producer->attempted++)
		tracepoint(storm, number, trace_field(writer, producer->n), trace_field(i, i),
			   trace_field(check, (long)i * 3 + producer->n));
	producers_running--;
	return NULL;
}

static void check_number(const struct user_record *record, void *argument)
{
	int writer = (int)user_record_integer(record, "writer"), i = (int)user_record_integer(record, "i");

	if (user_record_integer(record, "check") != (long long)i * 3 + writer)
		out_of_order++;
	++*(trace_u64 *)argument;
}

static void threads_with_a_consumer_lose_nothing_uncounted(void)
{
	struct producer producers[4] = {0};
	trace_u64 count = 0, lost, attempted = 0;

	all_on();
	lost = user_consumer_lost(&consumer);
	consumer.each = check_number;
	consumer.argument = &count;
	producers_running = 4;
	for (int i = 0; i < 4; i++) {
		producers[i].n = i;
		pthread_create(&producers[i].thread, NULL, produce, &producers[i]);
	}
	while (producers_running > 0)
		user_consumer_drain(&consumer, true);
	for (int i = 0; i < 4; i++) {
		pthread_join(producers[i].thread, NULL);
		attempted += producers[i].attempted;
	}
	user_consumer_drain(&consumer, true);
	lost = user_consumer_lost(&consumer) - lost;
	CU_ASSERT_PTR_NULL(consumer.fault);
	CU_ASSERT_EQUAL(out_of_order, 0);
	CU_ASSERT_EQUAL(count + lost, attempted);
	printf("(%llu stored, %llu discarded) ", (unsigned long long)count, (unsigned long long)lost);
}

static void a_full_ring_discards_and_counts_exactly(void)
{
	trace_u64 lost, found;

	all_on();
	lost = user_consumer_lost(&consumer);
	found = consumer.found;
	for (int i = 0; i < 1000000; i++)
		tracepoint(full, ring, i);
	drain();
	CU_ASSERT_EQUAL(consumer.found - found + user_consumer_lost(&consumer) - lost, 1000000);
	CU_ASSERT_TRUE(user_consumer_lost(&consumer) > lost);
}

/* Another version of the structures compiled into programs: its tracepoints are switched off,
 * whatever recordings select. */
static void tracepoints_of_another_version_are_switched_off(void)
{
	static struct trace_tracepoint place = {.flag = &place.off,
						.provider = "versions",
						.name = "older",
						.field_names = "",
						.file = __FILE__,
						.function = "",
						.payload_bytes = 4,
						.version = TRACE_TRACEPOINT_VERSION - 1,
						.off = 1};

	trace_tracepoint_register(&place, &place + 1);
	all_on();
	CU_ASSERT_EQUAL(*place.flag, 0);
	CU_ASSERT_PTR_NULL(user_consumer_event(&consumer, "versions", "older"));
}

/* Every size of image that the program writes inline, with padding, and one that it does not. */
static void images_of_all_sizes_arrive_complete(void)
{
	signed char a = -1;
	short b = -2;
	int c = -3;
	long d = -4;

	for (int lap = 0; lap < 2; lap++) {
		all_on();
		tracepoint(sizes, event, a);
		tracepoint(sizes, event, a, b);
		tracepoint(sizes, event, b, a, trace_field(e, a));
		tracepoint(sizes, event, c, d);
		tracepoint(sizes, event, d, a, c);
		tracepoint(sizes, event, a, d, b, trace_field(e, d), c);
		tracepoint(sizes, event, d, a, b, c, trace_field(e, d), trace_field(f, d), trace_field(g, d),
			   trace_field(h, d));
		tracepoint(sizes, event, d, a, b, c, trace_field(e, d), trace_field(f, d), trace_field(g, d),
			   trace_field(h, d), trace_field(i, d), trace_field(j, d));
		CU_ASSERT_EQUAL_FATAL(drain(), 8);
		for (int i = 0; i < 8; i++) {
			const struct user_field *fields = (const struct user_field *)(seen[i].event + 1);
			trace_u32 payload[TRACE_RECORD_MAX_BYTES / 4], expected[TRACE_RECORD_MAX_BYTES / 4] = {0};

			memcpy(payload, seen[i].payload, seen[i].payload_bytes);
			expected[0] = seen[i].tid;
			for (int f = 0; f < seen[i].event->nr_fields; f++) {
				const char *name = user_event_text(seen[i].event, fields[f].name);
				long value = fields[f].bytes == 1   ? a
					     : fields[f].bytes == 2 ? b
					     : fields[f].bytes == 4 ? c
								    : d;

				CU_ASSERT_TRUE(*name != '\0');
				memcpy((char *)expected + fields[f].offset, &value, fields[f].bytes);
			}
			CU_ASSERT_EQUAL(memcmp(payload, expected, seen[i].payload_bytes), 0); /* padding is zero */
		}
	}
}

/* A full registry: the tracepoint is off, and counted. */
static void tracepoints_that_do_not_fit_the_registry_are_counted(void)
{
	static struct trace_tracepoint places[2];
	trace_u32 max_events = consumer.memory->max_events;

	for (int i = 0; i < 2; i++)
		places[i] = (struct trace_tracepoint){.flag = &places[i].off,
						      .provider = "test",
						      .name = i ? "fits_not" : "fits_yet",
						      .field_names = "",
						      .file = "",
						      .function = "",
						      .payload_bytes = 4,
						      .version = TRACE_TRACEPOINT_VERSION};
	trace_tracepoint_register(&places[0], &places[1]);
	CU_ASSERT_NOT_EQUAL(places[0].id, 0);
	CU_ASSERT_EQUAL(consumer.memory->unregistered, 0);
	consumer.memory->max_events = places[0].id + 1u;
	trace_tracepoint_register(&places[1], &places[2]);
	consumer.memory->max_events = max_events;
	CU_ASSERT_EQUAL(places[1].id, 0);
	CU_ASSERT_EQUAL(*places[1].flag, 0);
	CU_ASSERT_EQUAL(consumer.memory->unregistered, 1);
}

static const struct unit_case cases[] = {
	{"tracepoints_that_do_not_fit_the_registry_are_counted", tracepoints_that_do_not_fit_the_registry_are_counted},
	{"tracepoints_of_another_version_are_switched_off", tracepoints_of_another_version_are_switched_off},
	{"images_of_all_sizes_arrive_complete", images_of_all_sizes_arrive_complete},
	{"integers_of_all_sizes_arrive", integers_of_all_sizes_arrive},
	{"other_numbers_arrive", other_numbers_arrive},
	{"texts_arrive_bounded_and_null_safe", texts_arrive_bounded_and_null_safe},
	{"names_come_from_the_expressions", names_come_from_the_expressions},
	{"names_come_through_macros_around_tracepoint", names_come_through_macros_around_tracepoint},
	{"fields_are_evaluated_once_and_only_when_enabled", fields_are_evaluated_once_and_only_when_enabled},
	{"an_event_without_fields_is_sixteen_bytes", an_event_without_fields_is_sixteen_bytes},
	{"one_event_is_switched_alone", one_event_is_switched_alone},
	{"scopes_end_however_they_are_left", scopes_end_however_they_are_left},
	{"counters_and_requests_have_their_roles", counters_and_requests_have_their_roles},
	{"errno_is_left_alone", errno_is_left_alone},
	{"cpp_events_arrive_from_templates_inlines_and_lambdas", cpp_events_arrive_from_templates_inlines_and_lambdas},
	{"thousands_of_short_threads_have_their_own_numbers", thousands_of_short_threads_have_their_own_numbers},
	{"signal_handlers_trace_in_the_middle_of_records", signal_handlers_trace_in_the_middle_of_records},
	{"threads_with_a_consumer_lose_nothing_uncounted", threads_with_a_consumer_lose_nothing_uncounted},
	{"a_full_ring_discards_and_counts_exactly", a_full_ring_discards_and_counts_exactly},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	/* Starts itself again with a socket of its own, because a daemon on this machine would take
	 * the events. */
	if (!getenv("TRACER_SOCKET")) {
		setenv("TRACER_SOCKET", "/tmp/test-tracepoint-nobody", 1);
		execv("/proc/self/exe", argv);
	}
	if (user_consumer_self(&consumer) != 0) {
		fprintf(stderr, "this process has no memory for events\n");
		return 1;
	}
	if (getenv("TRACE_TEST_LONG"))
		producer_records = 25000000;
	return unit_main("tracepoint", cases, argc, argv);
}
