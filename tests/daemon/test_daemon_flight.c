/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The flight recorder of kernel events, with a tracer in plain memory: a snapshot holds the latest
 * events, and missing events are counted. */
#include <pthread.h>
#include "daemon_case.h"
#include "flight.h"
#include "flight_metadata.h"
#include "overwrite_reader.h"
#include "ring_reader.h"
#include "unit.h"

static struct found snapshot(struct bench *bench, struct flight *flight, struct flight_result *ret_result)
{
	char path[] = "/tmp/test_daemon.XXXXXX";
	int fd = mkstemp(path);
	struct found found;

	CU_ASSERT_EQUAL(flight_snapshot(flight, fd, 1, ret_result, &bench->error), 0);
	close(fd);
	found = read_back(path);
	unlink(path);
	return found;
}

static void a_snapshot_holds_the_latest_events(void)
{
	struct bench bench = bench_new(true);
	struct flight *flight = flight_begin(bench.tracer, NULL, &bench.error);
	struct flight_result result;
	struct found found;

	CU_ASSERT_PTR_NOT_NULL_FATAL(flight);
	for (int i = 0; i < 99; i++)
		fake_switch(bench.tracer, 0);
	fake_delay(bench.tracer, 0); /* deferred until the snapshot */
	found = snapshot(&bench, flight, &result);
	CU_ASSERT_EQUAL(found.switches[0], 100);
	CU_ASSERT_EQUAL(found.lost, 0);
	CU_ASSERT_EQUAL(found.verify, 0);
	for (int i = 0; i < 100000; i++)
		CU_ASSERT(fake_switch(bench.tracer, 0));
	found = snapshot(&bench, flight, &result);
	CU_ASSERT(found.switches[0] > 1000);
	CU_ASSERT_EQUAL(found.switches[0] + result.overwritten, 100100);
	CU_ASSERT_EQUAL(found.lost, result.overwritten);
	CU_ASSERT_EQUAL(found.waits, 1);
	CU_ASSERT_EQUAL(found.verify, 0);
	CU_ASSERT(found.clean_end);
	flight_free(flight);
	bench_free(&bench);
}

/* No later record in the snapshot could show what is missing. */
static void a_writer_that_is_inside_the_last_subbuffer_hides_no_loss(void)
{
	struct bench bench = bench_new(true);
	struct flight *flight = flight_begin(bench.tracer, NULL, &bench.error);
	struct flight_result result;
	struct found found;

	CU_ASSERT_PTR_NOT_NULL_FATAL(flight);
	for (int i = 0; i < 10; i++)
		fake_switch(bench.tracer, 0);
	fake_hold(bench.tracer, 0);
	found = snapshot(&bench, flight, &result);
	CU_ASSERT_EQUAL(found.switches[0], 0);
	CU_ASSERT_EQUAL(result.overwritten, 10);
	CU_ASSERT_EQUAL(found.lost, 10);
	CU_ASSERT_EQUAL(found.verify, 0);
	fake_release(bench.tracer, 0);
	found = snapshot(&bench, flight, &result);
	CU_ASSERT_EQUAL(found.switches[0], 11);
	CU_ASSERT_EQUAL(found.lost, 0);
	CU_ASSERT_EQUAL(found.verify, 0);
	flight_free(flight);
	bench_free(&bench);
}

#define LONG_PATIENCE_MS 60000 /* for a thread that a busy machine starts late */

/* No record follows the last closed sub-buffer of the ring. */
static bool is_closed(const struct tracer *tracer, size_t ring)
{
	const struct subbuf_ring *of = &tracer_get_ring(tracer, ring)->ring;

	return (__atomic_load_n(&of->control->position, __ATOMIC_ACQUIRE) & SUBBUF_OFFSET_MASK) >= of->subbuf_bytes;
}

/* Records more events once the rings of both CPUs are closed, which the snapshot does before it
 * waits for writers inside them. */
static void *record_when_closed(void *context)
{
	struct tracer *tracer = context;

	for (int i = 0; i < 50000 && !(is_closed(tracer, 0) && is_closed(tracer, 2)); i++)
		usleep(100);
	for (uint32_t i = 0; i < 10; i++)
		fake_switch(tracer, i % FAKE_CPUS);
	fake_release(tracer, 0);
	return NULL;
}

/* Events recorded while another CPU is read are not in the snapshot, and the snapshot does not wait
 * for them. */
static void a_snapshot_ends_at_one_moment_on_all_cpus(void)
{
	struct bench bench = bench_new(true);
	struct flight *flight = flight_begin(bench.tracer, NULL, &bench.error);
	struct flight_result result;
	struct found found;
	pthread_t recorder;

	CU_ASSERT_PTR_NOT_NULL_FATAL(flight);
	flight_set_patience(flight, LONG_PATIENCE_MS);
	for (uint32_t i = 0; i < 20; i++)
		fake_switch(bench.tracer, i % FAKE_CPUS);
	fake_hold(bench.tracer, 0);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&recorder, NULL, record_when_closed, bench.tracer), 0);
	found = snapshot(&bench, flight, &result);
	pthread_join(recorder, NULL);
	CU_ASSERT_EQUAL(found.switches[0], 11);
	CU_ASSERT_EQUAL(found.switches[1], 10);
	CU_ASSERT_EQUAL(found.lost, 0);
	CU_ASSERT_EQUAL(found.waits, 1);
	CU_ASSERT_EQUAL(found.verify, 0);
	found = snapshot(&bench, flight, &result);
	CU_ASSERT_EQUAL(found.switches[0], 16);
	CU_ASSERT_EQUAL(found.switches[1], 15);
	CU_ASSERT_EQUAL(found.lost, 0);
	flight_free(flight);
	bench_free(&bench);
}

#define UNFINISHED (SUBBUF_COMMIT_RECORD + 8) /* missing from the commit count of an unfinished record */

/* Example: a fork during which the BPF program was preempted within its record. The records next to
 * it cannot be read yet. */
static void a_structural_event_that_is_not_finished_hides_no_loss(void)
{
	struct bench bench = bench_new(true);
	struct flight *flight = flight_begin(bench.tracer, NULL, &bench.error);
	const struct subbuf_ring *ring = &tracer_get_ring(bench.tracer, 1)->ring;
	struct flight_result result;
	struct found found;
	trace_u64 *commit;

	CU_ASSERT_PTR_NOT_NULL_FATAL(flight);
	for (int i = 0; i < 10; i++)
		CU_ASSERT(fake_exec(bench.tracer, 0, "/bin/true"));
	commit = &subbuf_slot(ring, ring->control->position >> SUBBUF_OFFSET_BITS)->commit;
	*commit -= UNFINISHED;
	found = snapshot(&bench, flight, &result);
	CU_ASSERT_EQUAL(found.execs, 0);
	CU_ASSERT_EQUAL(found.lost, 9);
	CU_ASSERT_EQUAL(found.verify, 0);
	*commit += UNFINISHED;
	found = snapshot(&bench, flight, &result);
	CU_ASSERT_EQUAL(found.execs, 10);
	CU_ASSERT_EQUAL(found.lost, 0);
	CU_ASSERT_EQUAL(found.verify, 0);
	flight_free(flight);
	bench_free(&bench);
}

/* As record_when_closed(), for a structural ring with an unfinished record. */
static void *open_files_when_closed(void *context)
{
	struct tracer *tracer = context;
	const struct subbuf_ring *ring = &tracer_get_ring(tracer, 1)->ring;
	trace_u64 *commit = &subbuf_slot(ring, 1)->commit;

	for (int i = 0; i < 50000 && !is_closed(tracer, 1); i++)
		usleep(100);
	for (int i = 0; i < 300; i++)
		fake_exec(tracer, 0, "/bin/true");
	__atomic_fetch_add(commit, UNFINISHED, __ATOMIC_RELEASE);
	return NULL;
}

/* Where programs open many files, sub-buffers of structural events become full while others are
 * read. */
static void structural_events_after_the_end_are_in_the_next_snapshot(void)
{
	struct bench bench = bench_new(true);
	struct flight *flight = flight_begin(bench.tracer, NULL, &bench.error);
	const struct subbuf_ring *ring = &tracer_get_ring(bench.tracer, 1)->ring;
	struct flight_result result;
	struct found found;
	pthread_t recorder;

	CU_ASSERT_PTR_NOT_NULL_FATAL(flight);
	flight_set_patience(flight, LONG_PATIENCE_MS);
	for (int i = 0; i < 10; i++)
		CU_ASSERT(fake_exec(bench.tracer, 0, "/bin/true"));
	__atomic_fetch_sub(&subbuf_slot(ring, 1)->commit, UNFINISHED, __ATOMIC_RELAXED);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&recorder, NULL, open_files_when_closed, bench.tracer), 0);
	found = snapshot(&bench, flight, &result);
	pthread_join(recorder, NULL);
	CU_ASSERT(ring->control->consumed > 1);
	CU_ASSERT_EQUAL(found.execs, 10);
	CU_ASSERT_EQUAL(found.lost, 0);
	CU_ASSERT_EQUAL(found.waits, 1); /* at the end, which is not later than the end of the other CPU */
	CU_ASSERT_EQUAL(found.verify, 0);
	found = snapshot(&bench, flight, &result);
	CU_ASSERT_EQUAL(found.execs, 310);
	CU_ASSERT_EQUAL(found.lost, 0);
	CU_ASSERT_EQUAL(found.verify, 0);
	flight_free(flight);
	bench_free(&bench);
}

/* The kernel opens a sub-buffer and counts a loss while the recorder, during a reset, reads one
 * counter and then the other. */
static void a_loss_during_a_reset_is_not_counted_after_it(void)
{
	struct bench bench = bench_new(true);
	struct flight *flight = flight_begin(bench.tracer, NULL, &bench.error);
	trace_u64 *discarded = &tracer_get_ring(bench.tracer, 0)->ring.control->discarded;
	struct flight_result result;
	struct found found;

	CU_ASSERT_PTR_NOT_NULL_FATAL(flight);
	*discarded = 5;
	flight_reset(flight);
	*discarded = 3; /* the first sub-buffer notes this, as if it had been opened before */
	for (int i = 0; i < 10; i++)
		fake_switch(bench.tracer, 0);
	*discarded = 5;
	found = snapshot(&bench, flight, &result);
	CU_ASSERT_EQUAL(found.switches[0], 10);
	CU_ASSERT_EQUAL(found.lost, 0);
	CU_ASSERT_EQUAL(found.verify, 0);
	flight_free(flight);
	bench_free(&bench);
}

static void structural_events_outlive_the_others(void)
{
	struct bench bench = bench_new(true);
	struct flight *flight = flight_begin(bench.tracer, NULL, &bench.error);
	struct flight_result result;
	struct found found;

	CU_ASSERT_PTR_NOT_NULL_FATAL(flight);
	for (int i = 0; i < 5000; i++) {
		CU_ASSERT(fake_exec(bench.tracer, 1, "/bin/true"));
		if (i % 50 == 0)
			flight_drain(flight);
	}
	found = snapshot(&bench, flight, &result);
	CU_ASSERT_EQUAL(found.execs, 5000);
	CU_ASSERT_EQUAL(found.lost, 0);
	CU_ASSERT_EQUAL(found.verify, 0);
	flight_free(flight);
	bench_free(&bench);
}

static void a_reset_drops_earlier_events(void)
{
	struct bench bench = bench_new(true);
	struct flight *flight = flight_begin(bench.tracer, NULL, &bench.error);
	struct flight_result result;
	struct found found;

	for (int i = 0; i < 50000; i++)
		fake_switch(bench.tracer, 0);
	fake_exec(bench.tracer, 0, "/bin/true");
	flight_mark(flight, "before");
	fake_delay(bench.tracer, 0);
	flight_reset(flight);
	flight_mark(flight, "after");
	for (int i = 0; i < 7; i++)
		fake_switch(bench.tracer, 0);
	found = snapshot(&bench, flight, &result);
	CU_ASSERT_EQUAL(found.switches[0], 7);
	CU_ASSERT_EQUAL(found.execs, 0);
	CU_ASSERT_EQUAL(found.marks, 1);
	CU_ASSERT_EQUAL(found.lost, 0);
	CU_ASSERT_EQUAL(found.verify, 0);
	/* more than the ring holds: events that a reset dropped do not count as overwritten */
	for (int i = 0; i < 99993; i++)
		fake_switch(bench.tracer, 0);
	found = snapshot(&bench, flight, &result);
	CU_ASSERT_EQUAL(found.switches[0] + result.overwritten, 100000);
	CU_ASSERT_EQUAL(found.lost, result.overwritten);
	flight_free(flight);
	bench_free(&bench);
}

/* A script marks each of its requests. The events recorded later must still be readable, and the
 * number of marks must be exact. */
static void metadata_events_of_a_flight_recorder_are_kept_or_counted(void)
{
	static const uint64_t masks[2][TRACE_MASK_WORDS] = {{1}, {2}};
	struct bench bench = bench_new(true);
	struct flight *flight = flight_begin(bench.tracer, NULL, &bench.error);
	struct flight_result result;
	struct found found;
	char text[400];

	CU_ASSERT_PTR_NOT_NULL_FATAL(flight);
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 200; i++)
		flight_mark(flight, text);
	found = snapshot(&bench, flight, &result);
	CU_ASSERT_EQUAL(found.marks, 200);
	CU_ASSERT_EQUAL(found.masks, 1);
	CU_ASSERT_EQUAL(found.lost, 0);
	flight_select(flight, "a:*");
	CU_ASSERT_EQUAL(flight_set_mask(flight, masks[0], &bench.error), 0);
	for (int i = 0; i < 5000; i++)
		flight_mark(flight, text);
	flight_select(flight, "b:*");
	CU_ASSERT_EQUAL(flight_set_mask(flight, masks[1], &bench.error), 0);
	found = snapshot(&bench, flight, &result);
	CU_ASSERT(found.marks > 2000 && found.marks < 3000); /* a megabyte of them */
	CU_ASSERT_EQUAL(found.masks, 2);
	CU_ASSERT_EQUAL(found.selects, 2);
	CU_ASSERT_EQUAL(found.marks + found.lost, 5200 + 1); /* the first mask, valid until the second, is lost too */
	CU_ASSERT_EQUAL(result.overwritten, found.lost);
	CU_ASSERT(found.loss_end_ns < found.last_mark_ns);
	CU_ASSERT_EQUAL(found.verify, 0);
	flight_reset(flight);
	found = snapshot(&bench, flight, &result);
	CU_ASSERT_EQUAL(found.marks, 0);
	CU_ASSERT_EQUAL(found.masks, 1);
	CU_ASSERT_EQUAL(found.lost, 0);
	flight_free(flight);
	bench_free(&bench);
}

static void missed_events_are_in_each_snapshot(void)
{
	struct bench bench = bench_new(true);
	struct flight *flight;
	struct flight_result result;
	struct found found;

	fake_miss(bench.tracer, TRACE_EV_sys_enter, 7); /* before the beginning */
	flight = flight_begin(bench.tracer, NULL, &bench.error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(flight);
	fake_miss(bench.tracer, TRACE_EV_sys_enter, 3);
	found = snapshot(&bench, flight, &result);
	CU_ASSERT_EQUAL(found.missed, 3);
	CU_ASSERT_EQUAL(found.lost, 3);
	fake_miss(bench.tracer, TRACE_EV_sys_exit, 4);
	found = snapshot(&bench, flight, &result);
	CU_ASSERT_EQUAL(found.missed, 7);
	CU_ASSERT_EQUAL(found.lost, 7);
	CU_ASSERT_EQUAL(found.verify, 0);
	flight_reset(flight);
	CU_ASSERT_EQUAL(snapshot(&bench, flight, &result).lost, 0);
	flight_free(flight);
	bench_free(&bench);
}

/**
 * struct written_metadata - what flight_metadata_write() wrote
 */
struct written_metadata {
	uint64_t blocks;
	uint64_t missed[TRACE_EV_MAX];
	uint64_t last_ns;
};

static int take_block(void *context, const struct own_records *block, uint64_t lost)
{
	struct written_metadata *written = context;

	written->blocks++;
	CU_ASSERT(block->base_ns >= written->last_ns);
	written->last_ns = block->base_ns;
	for (size_t at = 0; at < block->bytes;) {
		const struct trace_record *record = (const struct trace_record *)(block->data + at);
		const struct trace_trace_missed *missed = (const struct trace_trace_missed *)(record + 1);

		if (record->id == TRACE_EV_trace_missed)
			written->missed[missed->event] += missed->count;
		at += record->words * 8u;
	}
	return 0;
}

/* Counts of several days take no more memory than those of an hour. */
static void old_counts_of_missed_events_are_merged(void)
{
	struct bench bench = bench_new(true);
	struct flight_metadata *notes = flight_metadata_new();
	struct flight_metadata_totals totals;
	struct written_metadata written = {0};

	flight_metadata_reset(notes, bench.tracer);
	fake_miss(bench.tracer, TRACE_EV_sched_fork, 11);
	for (int i = 0; i < 3000; i++) {
		fake_miss(bench.tracer, TRACE_EV_sys_enter, 1);
		fake_miss(bench.tracer, TRACE_EV_sys_exit, 2);
		flight_metadata_missed(notes, bench.tracer);
	}
	CU_ASSERT_EQUAL(flight_metadata_write(notes, take_block, &written, &totals), 0);
	CU_ASSERT_EQUAL(totals.missed, 9011);
	CU_ASSERT_EQUAL(totals.lost, 0);
	CU_ASSERT_EQUAL(written.missed[TRACE_EV_sched_fork], 11);
	CU_ASSERT_EQUAL(written.missed[TRACE_EV_sys_enter], 3000);
	CU_ASSERT_EQUAL(written.missed[TRACE_EV_sys_exit], 6000);
	CU_ASSERT(written.blocks <= 4096);
	flight_metadata_free(notes);
	bench_free(&bench);
}

/* An overwritten sub-buffer never becomes complete again. While the daemon waited for it, the rest
 * of its ring and all other rings would be overwritten. */
static void a_snapshot_does_not_wait_for_an_overwritten_subbuffer(void)
{
	struct bench bench = bench_new(true);
	const struct subbuf_ring *ring = &tracer_get_ring(bench.tracer, 0)->ring;
	int patience = 2;

	while (ring_newest(ring) <= ring->nr_subbufs)
		CU_ASSERT(fake_switch(bench.tracer, 0));
	CU_ASSERT_FALSE(ring_wait_until_complete(ring, 1, &patience));
	CU_ASSERT_EQUAL(patience, 2);
	CU_ASSERT(ring_wait_until_complete(ring, 2, &patience));
	fake_hold(bench.tracer, 0);
	CU_ASSERT_FALSE(ring_wait_until_complete(ring, ring_newest(ring), &patience));
	CU_ASSERT_EQUAL(patience, 0);
	fake_release(bench.tracer, 0);
	bench_free(&bench);
}

static void snapshots_while_producers_run_are_complete(void)
{
	struct flight_result result;
	struct flight *flight;
	struct bench bench;
	struct found found;

	setenv("TRACE_FAKE_EVENTS", "100000000", 1);
	bench = bench_new(true);
	unsetenv("TRACE_FAKE_EVENTS");
	flight = flight_begin(bench.tracer, NULL, &bench.error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(flight);
	for (int i = 0; i < 10; i++) {
		usleep(5000);
		found = snapshot(&bench, flight, &result);
		CU_ASSERT_EQUAL(found.disorder, 0);
		CU_ASSERT_EQUAL(found.verify, 0);
	}
	flight_free(flight);
	bench_free(&bench);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_snapshot_holds_the_latest_events),
		CASE(a_writer_that_is_inside_the_last_subbuffer_hides_no_loss),
		CASE(a_snapshot_ends_at_one_moment_on_all_cpus),
		CASE(a_structural_event_that_is_not_finished_hides_no_loss),
		CASE(structural_events_after_the_end_are_in_the_next_snapshot),
		CASE(a_loss_during_a_reset_is_not_counted_after_it),
		CASE(structural_events_outlive_the_others),
		CASE(a_reset_drops_earlier_events),
		CASE(metadata_events_of_a_flight_recorder_are_kept_or_counted),
		CASE(missed_events_are_in_each_snapshot),
		CASE(old_counts_of_missed_events_are_merged),
		CASE(a_snapshot_does_not_wait_for_an_overwritten_subbuffer),
		CASE(snapshots_while_producers_run_are_complete),
		{NULL, NULL},
	};

	return unit_main("flight recorder", cases, argc, argv);
}
