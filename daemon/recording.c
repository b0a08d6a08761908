/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "recording.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <trace/saturate.h>

#include "clock.h"
#include "message.h"
#include "metadata_events.h"
#include "own_records.h"
#include "priority.h"
#include "program_names.h"
#include "session_probes.h"
#include "start_state_writer.h"
#include "clients_missing.h"
#include "format_text.h"
#include "tracefile.h"
#include "writer_thread.h"

#define RECORDING_QUEUE_BYTES (64u << 20)
/* Period of clock correspondences, while events are recorded. */
#define RECORDING_CLOCK_NS 10000000000ull
/*
 * Period of reading the missed events of the BPF programs. It takes one system call per program,
 * 0.5 ms for all, and the result is nearly always 0.
 */
#define RECORDING_MISSED_NS 5000000000ull
/* At the end, the wait for a writer that is inside a sub-buffer when the tracer stops. */
#define RECORDING_STRAGGLER_MS 1000
/*
 * At the end, the time limit for draining: programs can leave more in their rings than a user wants
 * to wait for.
 */
#define RECORDING_REST_NS 5000000000ull
/* After so much waiting, check whether the writer's program still runs. */
#define RECORDING_SALVAGE_MS 20
/* A sync takes the records that programs have written so far in at most so many drain runs. */
#define RECORDING_SYNC_ROUNDS 64

/* lists of what the kernel has, which are written beside its events */
enum { LIST_AT_START, LIST_AFTER_PAUSE, LIST_AT_END, NR_LISTS };

/** struct recording - @incomplete: why a list is not complete; "": it is */
struct recording {
	struct tracer *tracer;		   /* borrowed */
	const struct trace_probes *probes; /* borrowed; may be NULL */
	struct trace_writer *writer;	   /* owned */
	struct writer_thread *thread;	   /* owned */
	struct drain *drain;		   /* owned */
	struct clients *clients;	   /* borrowed */
	struct metadata_events metadata;
	struct trace_error write_error; /* of calls outside the writer thread */
	uint64_t start_ns;
	uint64_t clock_ns;	   /* time of the last clock correspondence */
	struct clock_sample flush; /* begin of the last flush; monotonic_ns 0: no heartbeat is due for it */
	bool took;		   /* events since the last heartbeat */
	uint64_t missed_ns;	   /* time of the last reading of missed events */
	uint64_t syncs;
	uint64_t start_state_blocks;
	uint64_t described;  /* number of texts about what is not traced, at the start */
	uint64_t not_traced; /* those of them from the tracer */
	size_t nr_unmatched;
	struct build_ids *build_ids; /* owned */
	int fd;			     /* borrowed */
	bool has_samples;
	bool keeps; /* the chunks go to memory */
	char incomplete[NR_LISTS][sizeof(struct trace_error) + 64];
	uint64_t lost_maps;	/* mappings of code that the kernel could not tell */
	uint64_t maps_until_ns; /* later ones do not belong to the recording; 0: it goes on */
	uint64_t marked_blocks; /* of metadata events, at recording_mark_end() */
	bool blocked;		/* the drain waits for room in the queue */
	bool ended;		/* the writer thread has ended; the writer belongs to the main thread again */
};

/* ---- begin ---- */

static void keep_error(struct recording *recording, int err, const struct trace_error *error)
{
	if (err && !recording->write_error.code)
		recording->write_error = *error;
}

static void push_clock(struct recording *recording)
{
	struct clock_sample sample = clock_take_sample();

	recording->clock_ns = sample.monotonic_ns;
	writer_thread_push_clock(recording->thread, &sample);
}

/* The recording begins when all BPF programs are attached. */
static int begin_events(struct recording *recording, struct clock_sample *ret_start, struct trace_error *ret_error)
{
	int err = recording->tracer ? tracer_start(recording->tracer, ret_error) : 0;

	if (err)
		return err;
	if (recording->tracer)
		metadata_begin(&recording->metadata, recording->tracer);
	*ret_start = clock_take_sample();
	recording->missed_ns = ret_start->monotonic_ns;
	recording->start_ns = ret_start->monotonic_ns;
	recording->drain = drain_new(recording->tracer, ret_error);
	return recording->drain ? 0 : ret_error->code;
}

static int begin_file(struct recording *recording, int fd, const struct recording_options *options,
		      const struct clock_sample *start, struct trace_error *ret_error)
{
	struct trace_writer_options writer_options = {
		.size = sizeof(writer_options),
		.level = options->level,
		.start_ns = start->monotonic_ns,
		.start_realtime_ns = start->realtime_ns,
		.block_bytes = recording->tracer ? tracer_get_ring(recording->tracer, 0)->ring.subbuf_bytes : 0,
		.take = options->keep ? keep_take : NULL,
		.take_context = options->keep,
	};
	struct trace_error error;

	recording->probes = options->probes;
	recording->writer = trace_writer_new(fd, &writer_options, ret_error);
	if (!recording->writer ||
	    session_probes_attach(recording->tracer, options->probes, options->selection, recording->writer, ret_error))
		return ret_error->code;
	keep_error(recording,
		   tracefile_describe(recording->tracer, recording->writer, options->command, options->filter, &error),
		   &error);
	recording->described = tracefile_nr_not_traced(recording->tracer, options->filter);
	recording->not_traced = recording->tracer ? tracefile_nr_not_traced(recording->tracer, NULL) : 0;
	recording->thread = writer_thread_new(recording->writer, fd,
					      options->queue_bytes ? options->queue_bytes : RECORDING_QUEUE_BYTES,
					      ret_error);
	if (!recording->thread)
		return ret_error->code;
	if (!options->level)
		writer_thread_adapt(recording->thread);
	drain_connect(recording->drain, recording->writer, recording->thread);
	recording->keeps = options->keep;
	recording->fd = fd;
	recording->has_samples = recording->tracer && options->filter && options->filter->sample_period;
	if (recording->keeps)
		drain_announce_always(recording->drain);
	return 0;
}

static void select_note(struct recording *recording, const struct selection *selection)
{
	char text[SELECT_TEXT_BYTES];

	select_print_user(selection, text, sizeof(text));
	recording_select(recording, text);
}

/*
 * The mask has a block of its own: what keeps the latest events keeps that block longer than
 * others. So has the selection.
 */
static void note_mask(struct recording *recording, const uint64_t mask[TRACE_MASK_WORDS])
{
	metadata_push(&recording->metadata, recording->writer, recording->thread);
	metadata_mask(&recording->metadata, mask);
	metadata_push(&recording->metadata, recording->writer, recording->thread);
}

static void drain_meanwhile(void *context)
{
	struct recording *recording = context;

	drain_run(recording->drain);
}

static struct start_state_sink state_sink(struct recording *recording)
{
	return (struct start_state_sink){recording->writer, recording->thread, drain_meanwhile, recording,
					 recording->build_ids};
}

static int flush_names(void *context, struct trace_writer *writer, struct trace_error *ret_error)
{
	(void)context;
	return trace_writer_flush_strings(writer, ret_error);
}

static void note_incomplete(struct recording *recording, size_t list, const struct trace_error *error)
{
	static const char *const names[NR_LISTS] = {"the state at the start", "the state after the pause",
						    "the list of what threads wait for at the end"};

	message_warning("%s is incomplete: %s", names[list], error->message);
	snprintf(recording->incomplete[list], sizeof(recording->incomplete[list]), "a part of %s: %s", names[list],
		 error->message);
}

/* A recording that is cut off has those of the start, too. Without memory they wait for the end. */
static void push_build_ids(struct recording *recording)
{
	build_ids_wait(recording->build_ids, BUILD_IDS_WAIT_NS);
	build_ids_write(recording->build_ids, recording->writer);
	writer_thread_push_call(recording->thread, flush_names, NULL);
}

/*
 * The mask and the start state are written after the tracer's start. Changes meanwhile are recorded
 * in the rings, so nothing is missing in between.
 */
static void begin_contents(struct recording *recording, const struct recording_options *options)
{
	struct start_state_sink sink;
	uint64_t mask[TRACE_MASK_WORDS];
	struct trace_error error;

	recording->build_ids = build_ids_new(recording->has_samples && !recording->keeps);
	sink = state_sink(recording);
	push_clock(recording);
	if (options->selection && options->selection->nr_user)
		select_note(recording, options->selection);
	if (!recording->tracer)
		return;
	tracer_get_mask(recording->tracer, mask);
	note_mask(recording, mask);
	if (recording->keeps)
		return; /* each save reads the state */
	if (start_state_push(recording->tracer, &sink, options->proc, &recording->start_state_blocks, &error))
		note_incomplete(recording, LIST_AT_START, &error);
	push_build_ids(recording);
}

struct recording *recording_begin(struct tracer *tracer, int fd, const struct recording_options *options,
				  struct trace_error *ret_error)
{
	struct recording *recording = calloc(1, sizeof(*recording));
	struct trace_error error = {0};
	struct clock_sample start;
	int err;

	if (!recording) {
		error_set(ret_error, -ENOMEM, "no memory for a recording");
		return NULL;
	}
	recording->tracer = tracer;
	recording->clients = options->clients;
	err = begin_events(recording, &start, &error);
	if (!err)
		err = begin_file(recording, fd, options, &start, &error);
	if (err) {
		*ret_error = error;
		return recording_free(recording);
	}
	if (recording->clients)
		clients_begin(recording->clients, recording->drain, recording->writer, &start);
	begin_contents(recording, options);
	metadata_heartbeat(&recording->metadata, &start, recording->writer, recording->thread);
	return recording;
}

struct recording *recording_free(struct recording *recording)
{
	if (!recording)
		return NULL;
	writer_thread_free(recording->thread);
	drain_free(recording->drain);
	metadata_release(&recording->metadata);
	build_ids_free(recording->build_ids);
	trace_writer_free(recording->writer);
	free(recording);
	return NULL;
}

/* Waits until the queue has room, or for a writer that is still inside. */
static void wait_for_writer(struct recording *recording, int timeout_ms)
{
	struct pollfd wake = {.fd = writer_thread_wake_fd(recording->thread), .events = POLLIN};

	poll(&wake, 1, timeout_ms);
}

/* ---- while it runs ---- */

size_t recording_nr_unmatched(const struct recording *recording)
{
	return recording->nr_unmatched;
}

uint64_t recording_start_ns(const struct recording *recording)
{
	return recording->start_ns;
}

bool recording_wake_at(struct recording *recording, bool half)
{
	return drain_wake_at(recording->drain, half);
}

/*
 * A heartbeat tells a reader that follows the recording up to which time it has all events: the
 * begin of the last flush whose events are in the file. @programs: wait also for those of programs
 */
static void push_heartbeat(struct recording *recording, bool programs)
{
	if (!recording->flush.monotonic_ns || !recording->took || !drain_is_flushed(recording->drain, programs))
		return;
	if (recording->tracer)
		recording_take_code_maps(recording);
	metadata_heartbeat(&recording->metadata, &recording->flush, recording->writer, recording->thread);
	recording->flush.monotonic_ns = 0;
	recording->took = false;
}

enum drain_result recording_drain(struct recording *recording)
{
	enum drain_result result;

	if (recording->blocked)
		writer_thread_acknowledge(recording->thread);
	/* if blocked, the disk is late, not the drain */
	priority_watch(!recording->blocked && drain_is_late(recording->drain), clock_now());
	result = drain_run(recording->drain);
	recording->blocked = result == DRAIN_BLOCKED;
	if (recording->clients)
		clients_look(recording->clients);
	recording->took |= result == DRAIN_TOOK;
	if (result == DRAIN_TOOK && clock_now() - recording->clock_ns >= RECORDING_CLOCK_NS)
		push_clock(recording);
	push_heartbeat(recording, true);
	metadata_push(&recording->metadata, recording->writer, recording->thread);
	return result;
}

int recording_wake_fd(const struct recording *recording)
{
	return writer_thread_wake_fd(recording->thread);
}

uint32_t recording_flush(struct recording *recording)
{
	uint32_t fill;

	if (recording->clients)
		clients_dispatch(recording->clients); /* programs that have just connected */
	push_heartbeat(recording, false);
	recording->flush = clock_take_sample();
	fill = drain_flush(recording->drain);
	if (recording->tracer && clock_now() - recording->missed_ns >= RECORDING_MISSED_NS) {
		recording->missed_ns = clock_now();
		metadata_missed(&recording->metadata, recording->tracer);
	}
	recording_drain(recording);
	return fill;
}

/*
 * Is an event recorded again that reports threads, descriptors or mappings? Then the changes during
 * the pause are unknown.
 */
static bool missed_state_changes(const uint64_t before[TRACE_MASK_WORDS], const uint64_t now[TRACE_MASK_WORDS])
{
	static const uint16_t ids[] = {TRACE_EV_sys_enter,  TRACE_EV_sys_enter3,   TRACE_EV_sys_enter6,
				       TRACE_EV_sys_exit,   TRACE_EV_fs_open,	   TRACE_EV_sched_fork,
				       TRACE_EV_sched_exec, TRACE_EV_sched_exit,   TRACE_EV_sched_free,
				       TRACE_EV_sched_comm, TRACE_EV_sched_switch, TRACE_EV_sock_endpoints,
				       TRACE_EV_uring_close};

	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++)
		if (now[ids[i] / 64] & ~before[ids[i] / 64] & 1ull << ids[i] % 64)
			return true;
	return false;
}

static void read_again(struct recording *recording)
{
	const struct start_state_sink sink = state_sink(recording);
	struct trace_error error;

	if (start_state_repeat(recording->tracer, &sink, &recording->metadata, &error))
		note_incomplete(recording, LIST_AFTER_PAUSE, &error);
}

int recording_set_mask(struct recording *recording, const uint64_t mask[TRACE_MASK_WORDS],
		       struct trace_error *ret_error)
{
	uint64_t before[TRACE_MASK_WORDS], now[TRACE_MASK_WORDS];
	int err;

	if (!recording->tracer)
		return 0;
	tracer_get_mask(recording->tracer, before);
	err = tracer_set_mask(recording->tracer, mask, ret_error);
	if (err)
		return err;
	tracer_get_mask(recording->tracer, now);
	note_mask(recording, now);
	if (missed_state_changes(before, now))
		read_again(recording);
	metadata_push(&recording->metadata, recording->writer, recording->thread);
	return 0;
}

void recording_select(struct recording *recording, const char *text)
{
	metadata_push(&recording->metadata, recording->writer, recording->thread);
	metadata_select(&recording->metadata, text);
	metadata_push(&recording->metadata, recording->writer, recording->thread);
}

static void add_code_map(void *context, const struct tracer_code_map *map)
{
	struct recording *recording = context;

	if (recording->maps_until_ns && map->ts_ns > recording->maps_until_ns)
		return; /* it would be the end of the trace */
	metadata_code_map(&recording->metadata, map, recording->writer, recording->thread);
	build_ids_note_code(recording->build_ids, map);
}

/* They are earlier than other events of the stream, and have blocks of their own. */
void recording_take_code_maps(struct recording *recording)
{
	metadata_push(&recording->metadata, recording->writer, recording->thread);
	recording->lost_maps = tracer_take_code_maps(recording->tracer, add_code_map, recording);
	metadata_push(&recording->metadata, recording->writer, recording->thread);
}

uint64_t recording_nr_lost_maps(const struct recording *recording)
{
	return recording->lost_maps;
}

void recording_add_build_ids(const struct recording *recording, struct build_ids *ids)
{
	build_ids_wait(recording->build_ids, 0);
	build_ids_add(ids, recording->build_ids);
}

void recording_mark(struct recording *recording, const char *text)
{
	metadata_mark(&recording->metadata, text);
	metadata_push(&recording->metadata, recording->writer, recording->thread);
}

/* ---- a save of what a recording to memory keeps ---- */

void recording_mark_end(struct recording *recording, uint64_t *ret_end_ns)
{
	if (recording->tracer)
		metadata_missed(&recording->metadata, recording->tracer);
	metadata_push(&recording->metadata, recording->writer, recording->thread);
	recording->marked_blocks = recording->metadata.blocks;
	if (recording->clients)
		clients_dispatch(recording->clients); /* programs that have just connected */
	*ret_end_ns = clock_now();
	drain_mark(recording->drain);
}

/*
 * A writer that stays inside a sub-buffer holds up the save for a moment, and the recording never.
 */
void recording_catch_up(struct recording *recording)
{
	uint64_t end_ns = clock_now() + RECORDING_STRAGGLER_MS * 1000000ull, sync = recording->syncs + 1;
	bool is_pushed = false;

	while (clock_now() < end_ns) {
		recording_drain(recording);
		if (!is_pushed && drain_is_past_mark(recording->drain)) {
			is_pushed = writer_thread_push_sync(recording->thread) == 0;
			recording->syncs += is_pushed;
		}
		if (is_pushed && writer_thread_synced(recording->thread) >= sync)
			return;
		wait_for_writer(recording, 1);
	}
}

void recording_watch(struct recording *recording, drain_watch_fn watch, void *context)
{
	drain_watch(recording->drain, watch, context);
}

bool recording_drain_to_mark(struct recording *recording, uint64_t *ret_ns)
{
	*ret_ns = clock_now();
	drain_mark(recording->drain);
	recording_drain(recording);
	return drain_is_past_mark(recording->drain);
}

const struct trace_writer *recording_writer(const struct recording *recording)
{
	return recording->writer;
}

size_t recording_nr_marked(const struct recording *recording)
{
	return drain_nr_rings(recording->drain) + 1;
}

void recording_get_marked(const struct recording *recording, size_t idx, struct drain_marked *ret_marked)
{
	if (idx < drain_nr_rings(recording->drain))
		drain_get_marked(recording->drain, idx, ret_marked);
	else
		*ret_marked = (struct drain_marked){.stream = OWN_STREAM_DAEMON, .blocks = recording->marked_blocks};
}

int recording_sync(struct recording *recording, uint64_t *ret_sync)
{
	int err;

	recording->missed_ns = 0; /* so that the flush reads the missed events */
	recording_flush(recording);
	for (int i = 0; i < RECORDING_SYNC_ROUNDS && drain_has_more(recording->drain); i++)
		recording_drain(recording);
	err = writer_thread_push_sync(recording->thread);
	if (err)
		return err;
	*ret_sync = ++recording->syncs;
	return 0;
}

uint64_t recording_synced(struct recording *recording)
{
	writer_thread_acknowledge(recording->thread);
	return writer_thread_synced(recording->thread);
}

void recording_get_status(struct recording *recording, struct recording_status *ret_status)
{
	struct trace_writer_totals written;
	struct drain_totals drained;
	uint64_t events, gone, lost;

	if (recording->ended)
		trace_writer_totals(recording->writer, &written);
	else
		writer_thread_totals(recording->thread, &written);
	drain_get_totals(recording->drain, &drained);
	events = drained.events + recording->metadata.stored - recording->metadata.abandoned;
	gone = written.lost_write + written.undecodable;
	lost = trace_add_saturated(recording->metadata.lost, recording->metadata.abandoned);
	*ret_status = (struct recording_status){
		.start_ns = recording->start_ns,
		.events = events > gone ? events - gone : 0,
		.lost = trace_add_saturated(drained.lost, lost),
		.claimed = trace_add_saturated(drained.claimed, recording->metadata.claimed),
		.lost_write = written.lost_write,
		.not_understood = written.undecodable,
		.missed = recording->metadata.missed_total,
		.filtered = drained.filtered,
		.file_bytes = written.file_bytes,
	};
}

uint64_t recording_lost_on_cpu(const struct recording *recording, uint32_t cpu)
{
	struct drain_losses losses;
	uint64_t lost = 0;

	for (size_t i = 0; i < drain_nr_rings(recording->drain); i++) {
		drain_get_losses(recording->drain, i, &losses);
		if (losses.cpu == cpu && !losses.is_program)
			lost = trace_add_saturated(lost, losses.full);
	}
	return lost;
}

void recording_get_other_losses(const struct recording *recording, uint64_t *ret_programs, uint64_t *ret_others)
{
	struct drain_losses losses;

	drain_get_gone_losses(recording->drain, &losses);
	*ret_programs = losses.full;
	*ret_others = losses.other;
	for (size_t i = 0; i < drain_nr_rings(recording->drain); i++) {
		drain_get_losses(recording->drain, i, &losses);
		*ret_programs = trace_add_saturated(*ret_programs, losses.is_program ? losses.full : 0);
		*ret_others = trace_add_saturated(*ret_others, losses.other);
	}
}

int recording_write_error(struct recording *recording, struct trace_error *ret_error)
{
	if (recording->write_error.code) {
		*ret_error = recording->write_error;
		return recording->write_error.code;
	}
	return writer_thread_error(recording->thread, ret_error);
}

/* ---- end ---- */

static void drain_rest(struct recording *recording, bool (*is_interrupted)(void *), void *context)
{
	uint64_t lost, end_ns = clock_now() + RECORDING_REST_NS, begin_ns;
	int straggler_ms = 0;

	while (!drain_is_empty(recording->drain)) {
		switch (drain_run(recording->drain)) {
		case DRAIN_TOOK:
			break;
		case DRAIN_BLOCKED:
			begin_ns = clock_now();
			wait_for_writer(recording, 100);
			writer_thread_acknowledge(recording->thread);
			end_ns += clock_now() - begin_ns; /* do not count the time of a slow disk */
			break;
		case DRAIN_IDLE: /* a writer is inside a sub-buffer */
			wait_for_writer(recording, 1);
			if (++straggler_ms >= RECORDING_SALVAGE_MS && recording->clients)
				clients_salvage(recording->clients);
			break;
		}
		if (straggler_ms >= RECORDING_STRAGGLER_MS || clock_now() > end_ns || is_interrupted(context)) {
			lost = drain_abandon(recording->drain);
			if (lost)
				message_warning(
					"%s lost because they were still in the buffers when the recording ended",
					text_events(lost).s);
		}
	}
}

static void wait_until_written(struct recording *recording, bool (*is_interrupted)(void *), void *context)
{
	while (!writer_thread_empty(recording->thread)) {
		if (is_interrupted(context)) {
			drain_cancel_ended(recording->drain);
			writer_thread_abandon(recording->thread);
		}
		poll(NULL, 0, 5);
	}
}

static void close_counts(struct recording *recording)
{
	uint64_t claimed, lost = clients_close_counts(recording->clients, &claimed);

	metadata_lose(&recording->metadata, lost, claimed);
}

static int write_statistics(struct recording *recording, uint64_t end_ns, struct trace_error *ret_error)
{
	struct trace_stream_stats *stats;
	size_t nr_rings;
	int err;

	drain_free_ended(recording->drain); /* these are in the trace */
	nr_rings = drain_nr_rings(recording->drain);
	stats = calloc(nr_rings + 1, sizeof(*stats));

	if (!stats)
		return error_set(ret_error, -ENOMEM, "no memory for the statistics of %zu streams", nr_rings);
	for (size_t i = 0; i < nr_rings; i++)
		drain_statistics(recording->drain, i, &stats[i]);
	metadata_statistics(&recording->metadata, &stats[nr_rings]);
	err = trace_writer_statistics(recording->writer, stats, nr_rings + 1, end_ns, ret_error);
	free(stats);
	return err;
}

/*
 * The wait states of threads are read first: they change at once, and detaching hundreds of BPF
 * programs takes longer than reading them.
 */
static void stop_tracer(struct recording *recording, uint64_t end_ns)
{
	const struct start_state_sink sink = {.writer = recording->writer, .thread = recording->thread};
	struct trace_error error = {0};

	if (end_state_push(recording->tracer, &sink, end_ns, recording->start_state_blocks, &error))
		note_incomplete(recording, LIST_AT_END, &error);
	tracer_stop(recording->tracer);
}

/**
 * struct recording_note - writes texts about what is not traced. @next: number of the next text
 */
struct recording_note {
	struct recording *recording;
	uint64_t next;
};

static void note_not_recorded(void *context, const char *text)
{
	struct recording_note *note = context;

	message_warning("not traced: %s", text);
	trace_writer_string(note->recording->writer, TRACE_STRING_NOT_TRACED, note->next++, text);
}

/* The user named events that do not exist: an error, in the exit status, too. */
static void note_unmatched(void *context, const char *text)
{
	struct recording_note *note = context;

	message_error("%s, and the kernel has no such tracepoint (tracedaemon --list)", text);
	trace_writer_string(note->recording->writer, TRACE_STRING_NOT_TRACED, note->next++, text);
}

/*
 * Adds to the texts of tracefile_describe(): what could not be attached since then, and what is
 * missing of programs. Returns the number of the next text.
 */
static uint64_t add_not_recorded_notes(struct recording *recording)
{
	struct recording_note note = {.recording = recording, .next = recording->described};
	char unfollowed[TRACEFILE_TEXT_BYTES];
	const char *text;

	for (size_t i = 0; i < NR_LISTS; i++)
		if (*recording->incomplete[i])
			trace_writer_string(recording->writer, TRACE_STRING_NOT_TRACED, note.next++,
					    recording->incomplete[i]);
	for (uint64_t i = recording->not_traced; recording->tracer && (text = tracer_not_traced(recording->tracer, i));
	     i++)
		trace_writer_string(recording->writer, TRACE_STRING_NOT_TRACED, note.next++, text);
	if (recording->tracer &&
	    tracefile_print_unfollowed(recording->tracer, recording->start_ns, unfollowed, sizeof(unfollowed)))
		note_not_recorded(&note, unfollowed);
	tracefile_work_names(recording->writer, recording->tracer);
	tracefile_device_names(recording->writer, recording->tracer);
	tracefile_code_names(recording->writer, recording->tracer);
	if (tracefile_print_unanswered(unfollowed, sizeof(unfollowed)))
		note_not_recorded(&note, unfollowed);
	if (build_ids_describe_missing(recording->build_ids, unfollowed, sizeof(unfollowed)))
		note_not_recorded(&note, unfollowed);
	if (tracefile_print_lost_maps(recording->lost_maps, unfollowed, sizeof(unfollowed)))
		note_not_recorded(&note, unfollowed);
	if (recording->tracer)
		tracer_describe_limits(recording->tracer, note_not_recorded, &note);
	if (recording->tracer &&
	    session_probes_refused(recording->tracer, recording->probes, unfollowed, sizeof(unfollowed)))
		trace_writer_string(recording->writer, TRACE_STRING_NOT_TRACED, note.next++, unfollowed);
	if (!recording->clients)
		return note.next;
	recording->nr_unmatched = clients_describe_unmatched(recording->clients, note_unmatched, &note);
	clients_describe_missing(recording->clients, note_not_recorded, &note);
	tracefile_distrusted(recording->writer, clients_nr_distrusted(recording->clients));
	return note.next;
}

int recording_end(struct recording *recording, bool (*is_interrupted)(void *context), void *context,
		  struct trace_error *ret_error)
{
	struct trace_error error = {0};
	uint64_t end_ns = clock_now(), next_note;

	if (recording->clients) {
		clients_end_at(recording->clients, end_ns);
		clients_switch_off(recording->clients);
	}
	drain_run(recording->drain); /* makes room for the records until the end is reached on each CPU */
	drain_end(recording->drain);
	recording->maps_until_ns = clock_now();
	if (recording->tracer)
		stop_tracer(recording, end_ns);
	if (recording->tracer)
		recording_take_code_maps(recording);
	drain_rest(recording, is_interrupted, context);
	if (recording->clients)
		close_counts(recording);
	if (recording->tracer)
		metadata_missed(&recording->metadata, recording->tracer);
	metadata_push(&recording->metadata, recording->writer, recording->thread);
	push_clock(recording);
	wait_until_written(recording, is_interrupted, context);
	writer_thread_stop(recording->thread);
	recording->ended = true;
	if (recording->keeps)
		return 0; /* nothing is left to write */
	build_ids_wait(recording->build_ids, BUILD_IDS_END_WAIT_NS);
	build_ids_write(recording->build_ids, recording->writer);
	next_note = add_not_recorded_notes(recording);
	if (recording->has_samples)
		program_names_write(recording->writer, recording->fd, PROGRAM_NAMES_NS, recording->build_ids,
				    next_note);
	keep_error(recording, writer_thread_error(recording->thread, &error), &error);
	keep_error(recording, write_statistics(recording, end_ns, &error), &error);
	keep_error(recording, trace_writer_finish(recording->writer, &error), &error);
	return recording_write_error(recording, ret_error);
}
