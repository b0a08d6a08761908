/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_writer_queue.c - each item of the queue between drain and writer arrives once and in order,
 * and neither side sleeps while the other has something for it.
 */
#include "unit.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <trace/events.h>
#include <trace/writer.h>
#include <unistd.h>

#include "clock.h"
#include "writer_queue.h"
#include "writer_thread.h"

#define PATIENCE_NS 10000000000ull /* a thread that sleeps so long was not woken */

/** struct number - an item. @value: 1, 2, 3 ... in the order of the pushes */
struct number {
	struct cds_wfcq_node node;
	uint64_t value;
};

/**
 * struct consumer - the taker's thread
 * @taken: items so far. @last: the value of the last one
 * @disordered: items that came after an item with a higher value
 */
struct consumer {
	struct writer_queue queue;
	pthread_t thread;
	uint64_t taken;
	uint64_t last;
	uint64_t disordered;
};

static struct number *number_of(struct cds_wfcq_node *node)
{
	return node ? (struct number *)(void *)((char *)node - offsetof(struct number, node)) : NULL;
}

static void *consume(void *context)
{
	struct consumer *consumer = context;
	struct number *number;

	while ((number = number_of(writer_queue_take(&consumer->queue)))) {
		consumer->disordered += number->value <= consumer->last;
		consumer->last = number->value;
		free(number);
		__atomic_fetch_add(&consumer->taken, 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

static struct consumer *consumer_new(void)
{
	struct consumer *consumer = aligned_alloc(64, (sizeof(*consumer) + 63) & ~(size_t)63);

	memset(consumer, 0, sizeof(*consumer));
	writer_queue_init(&consumer->queue);
	if (pthread_create(&consumer->thread, NULL, consume, consumer))
		abort();
	return consumer;
}

static void push(struct consumer *consumer, uint64_t value)
{
	struct number *number = malloc(sizeof(*number));

	number->value = value;
	writer_queue_push(&consumer->queue, &number->node);
}

static uint64_t taken(struct consumer *consumer)
{
	return __atomic_load_n(&consumer->taken, __ATOMIC_ACQUIRE);
}

static void consumer_stop(struct consumer *consumer)
{
	writer_queue_stop(&consumer->queue);
	pthread_join(consumer->thread, NULL);
}

static void consumer_free(struct consumer *consumer)
{
	writer_queue_destroy(&consumer->queue);
	free(consumer);
}

static void items_arrive_once_and_in_order(void)
{
	struct consumer *consumer = consumer_new();
	uint64_t nr = 200000 / (uint64_t)unit_step(10);

	for (uint64_t i = 1; i <= nr; i++)
		push(consumer, i);
	consumer_stop(consumer);
	CU_ASSERT_EQUAL(consumer->taken, nr);
	CU_ASSERT_EQUAL(consumer->disordered, 0);
	consumer_free(consumer);
}

/* The pauses between pushes vary, so that a push meets the taker at each step of falling asleep. */
static void each_push_wakes_a_taker_that_sleeps(void)
{
	struct consumer *consumer = consumer_new();
	uint64_t nr = 100000 / (uint64_t)unit_step(10), until_ns;

	for (uint64_t i = 1; i <= nr; i++) {
		for (volatile uint64_t spin = i % 997; spin; spin--)
			;
		push(consumer, i);
		for (until_ns = clock_now() + PATIENCE_NS; taken(consumer) < i && clock_now() < until_ns;)
			;
		if (taken(consumer) < i)
			break;
	}
	CU_ASSERT_EQUAL(taken(consumer), nr);
	consumer_stop(consumer);
	consumer_free(consumer);
}

static void a_stop_leaves_no_item_behind(void)
{
	for (int round = 0; round < 2000 / unit_step(10); round++) {
		struct consumer *consumer = consumer_new();

		for (uint64_t i = 1; i <= (uint64_t)round % 7; i++)
			push(consumer, i);
		consumer_stop(consumer);
		CU_ASSERT_EQUAL(consumer->taken, (uint64_t)round % 7);
		consumer_free(consumer);
	}
}

static void an_item_is_taken_or_dropped_but_never_both(void)
{
	struct consumer *consumer = consumer_new();
	uint64_t pushed = 0, dropped = 0;
	struct number *number;

	for (int round = 0; round < 5000 / unit_step(10); round++) {
		for (int i = 0; i < 20; i++)
			push(consumer, ++pushed);
		while ((number = number_of(writer_queue_drop(&consumer->queue)))) {
			free(number);
			dropped++;
		}
	}
	consumer_stop(consumer);
	CU_ASSERT_EQUAL(consumer->taken + dropped, pushed);
	CU_ASSERT_EQUAL(consumer->disordered, 0);
	consumer_free(consumer);
}

/* ---- the writer's thread ---- */

/** struct output - a writer to /dev/null with its thread. @seq: of the last block */
struct output {
	int fd;
	struct trace_writer *writer;
	struct writer_thread *thread;
	uint64_t seq;
};

static struct output output_new(size_t limit_bytes)
{
	struct trace_writer_options options = {.size = sizeof(options)};
	struct output output = {.fd = open("/dev/null", O_WRONLY | O_CLOEXEC | O_NOCTTY)};
	struct trace_error error;

	output.writer = trace_writer_new(output.fd, &options, &error);
	output.thread = writer_thread_new(output.writer, output.fd, limit_bytes, &error);
	if (!output.thread)
		abort();
	return output;
}

static void output_free(struct output *output)
{
	writer_thread_free(output->thread);
	trace_writer_free(output->writer);
	close(output->fd);
}

/* Pushes a block of one event. */
static void push_block(struct output *output, uint64_t *lost)
{
	struct {
		struct trace_record head;
		struct trace_sched_waking payload;
	} record = {.head = {.id = TRACE_EV_sched_waking, .words = sizeof(record) / 8}};
	struct trace_source source = {.records = &record,
				      .bytes = sizeof(record),
				      .base_ns = 1,
				      .seq = ++output->seq,
				      .nr_records = 1,
				      .kind = TRACE_CHUNK_EVENTS};
	struct trace_packed *packed = trace_writer_pack(output->writer, &source, NULL);

	CU_ASSERT_EQUAL_FATAL(writer_thread_push(output->thread, packed, 1, lost), 0);
}

/*
 * The limit is 1 byte: as long as a block waits, the queue is full. The pauses between push and
 * question vary, so that the question meets the writer at each step of finishing the block.
 */
static void a_pusher_that_waits_for_room_is_woken(void)
{
	struct output output = output_new(1);
	struct pollfd wake = {.fd = writer_thread_wake_fd(output.thread), .events = POLLIN};
	int waits = 0, woken = 0, nr = 40000 / unit_step(10);

	for (int i = 0; i < nr && waits == woken; i++) {
		for (int n = 0; n <= i % 3; n++)
			push_block(&output, NULL);
		for (volatile int spin = i * 37 % 9973; spin; spin--)
			;
		while (writer_thread_full(output.thread) && waits == woken) {
			waits++;
			woken += poll(&wake, 1, (int)(PATIENCE_NS / 1000000)) == 1;
			writer_thread_acknowledge(output.thread);
		}
	}
	CU_ASSERT_TRUE(waits > 0);
	CU_ASSERT_EQUAL(woken, waits);
	output_free(&output);
}

static void each_block_is_written_or_abandoned_and_then_the_queue_is_empty(void)
{
	struct output output = output_new(1);
	struct trace_writer_totals totals;
	uint64_t pushed = 0, lost = 0, until_ns = clock_now() + PATIENCE_NS;

	for (int i = 0; i < 500; i++) {
		for (int n = 0; n < 10; n++, pushed++)
			push_block(&output, &lost);
		writer_thread_abandon(output.thread);
	}
	while (!writer_thread_empty(output.thread) && clock_now() < until_ns)
		poll(NULL, 0, 1);
	CU_ASSERT_TRUE(writer_thread_empty(output.thread));
	CU_ASSERT_FALSE(writer_thread_full(output.thread));
	writer_thread_totals(output.thread, &totals);
	CU_ASSERT_EQUAL(totals.events + lost, pushed);
	output_free(&output);
}

static const struct unit_case cases[] = {
	CASE(items_arrive_once_and_in_order),
	CASE(each_push_wakes_a_taker_that_sleeps),
	CASE(a_stop_leaves_no_item_behind),
	CASE(an_item_is_taken_or_dropped_but_never_both),
	CASE(a_pusher_that_waits_for_room_is_woken),
	CASE(each_block_is_written_or_abandoned_and_then_the_queue_is_empty),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("the queue between drain and writer", cases, argc, argv);
}
