/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * control_commands.c - the requests to a running daemon. One function for each verb; a table finds
 * it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trace/saturate.h>
#include <unistd.h>

#include "control_commands.h"
#include "own_records.h"
#include "clock.h"
#include "message.h"
#include "priority.h"
#include "session_probes.h"
#include "session.h"
#include "status_json.h"
#include "format_text.h"
#include "tracefile.h"

/**
 * struct answer - @later: control_commands_synced() or control_commands_close() sends the answer
 */
struct answer {
	int err;
	bool later;
	char text[CONTROL_ANSWER_BYTES - 16];
};

static void answer_set(struct answer *answer, int err, const char *format, ...) __attribute__((format(printf, 3, 4)));

static void answer_set(struct answer *answer, int err, const char *format, ...)
{
	va_list arguments;

	answer->err = err;
	va_start(arguments, format);
	vsnprintf(answer->text, sizeof(answer->text), format, arguments);
	va_end(arguments);
}

/* ---- masks ---- */

/* The events that are recorded while halted: the trace's events about itself. */
static void halted_mask(uint64_t ret_mask[TRACE_MASK_WORDS])
{
	struct selection none = {.begun = true};

	memset(none.removed, 0xff, sizeof(none.removed));
	select_finish(&none, ret_mask);
}

static int set_mask(struct session *session, const uint64_t mask[TRACE_MASK_WORDS], struct answer *answer)
{
	struct trace_error error = {0};
	int err = session->flight ? flight_set_mask(session->flight, mask, &error)
				  : recording_set_mask(session->recording, mask, &error);

	if (err)
		answer_set(answer, err, "%s", error.message);
	return err;
}

/*
 * Write the new selection to the trace before it takes effect. From then on a reader must not match
 * an end event with a begin event that was recorded earlier.
 */
static void note_selection(struct session *session)
{
	char text[SELECT_TEXT_BYTES] = "none";

	if (!session->clients && !session->probes)
		return;
	if (!session->halted)
		select_print_user(&session->selection, text, sizeof(text));
	if (session->flight)
		flight_select(session->flight, text);
	else
		recording_select(session->recording, text);
}

static void switch_programs(struct session *session)
{
	note_selection(session);
	if (session->clients) {
		clients_halt(session->clients, session->halted);
		clients_select(session->clients, &session->selection);
	}
	session_probes_switch(session->tracer, session->probes, session->halted ? NULL : &session->selection);
}

/* ---- counts in the kernel ---- */

static bool has_profile(const struct session *session, struct answer *answer)
{
	if (!session->tracer || !session->profile.period)
		answer_set(
			answer, -ENOTSUP,
			"this daemon takes no samples: tracedaemon --sample TRACE does (tracectl dump saves events)");
	return session->tracer && session->profile.period;
}

/* Take so many times as many samples as --sample says. */
static void multiply_samples(struct session *session, unsigned int multiplier)
{
	bool by_event = session->options->tracer.sample_event != NULL;
	uint64_t mean = profile_counts_multiply(&session->profile, multiplier, by_event ? 1 : SAMPLES_MIN_NS);

	session->samples.period = mean;
	tracer_set_sample_mean(session->tracer, mean);
}

static bool reset_profile(struct session *session, struct answer *answer)
{
	int err = profile_counts_reset(&session->profile, session->tracer, clock_now());

	if (err)
		answer_set(answer, err, "the counts cannot be read: %s", strerror(-err));
	else if (session->flight)
		flight_mark(session->flight, PROFILE_RESET_MARK);
	else
		recording_mark(session->recording, PROFILE_RESET_MARK);
	return !err;
}

/* The first sentence of an answer: what was counted. */
static void print_profile(struct session *session, int fd, struct answer *answer)
{
	bool by_event = session->options->tracer.sample_event != NULL;
	struct profile_sums sums;
	int err = profile_counts_write(&session->profile, session->tracer, by_event, fd, &sums);
	char period[64];

	if (err) {
		answer_set(answer, err, "the counts cannot be written: %s", strerror(-err));
		return;
	}
	if (by_event)
		snprintf(period, sizeof(period), "%s events", text_count(session->samples.period).s);
	else
		snprintf(period, sizeof(period), "%.1f us", (double)session->samples.period / 1e3);
	answer_set(answer, 0,
		   "in %s: %s samples at %s addresses of the kernel, one about every %s of a CPU; %s runs of calls, "
		   "interrupts, timers and work\n",
		   text_seconds(clock_now() - session->profile.since_ns).s, text_count(sums.samples).s,
		   text_count(sums.addresses).s, period, text_count(sums.runs).s);
}

static void dump_profile(struct session *session, int file_fd, struct answer *answer)
{
	struct stat status;

	if (file_fd < 0 || fstat(file_fd, &status) < 0 || !S_ISREG(status.st_mode))
		answer_set(answer, -EINVAL, "the counts are written to a file: kgmon -p");
	else
		print_profile(session, file_fd, answer);
}

static void do_profile(struct session *session, const struct control_request *request, struct answer *answer)
{
	char *end;
	unsigned long multiplier = strtoul(request->argument, &end, 10);

	if (!has_profile(session, answer))
		return;
	if (!*request->argument) {
		print_profile(session, -1, answer);
	} else if (!strcmp(request->argument, "dump")) {
		dump_profile(session, request->file_fd, answer);
	} else if (!strcmp(request->argument, "reset")) {
		if (reset_profile(session, answer))
			answer_set(answer, 0, "tracedaemon: the kernel's profile was reset\n");
	} else if (*end || !multiplier || multiplier > PROFILE_MAX_MULTIPLIER) {
		answer_set(answer, -EINVAL,
			   "profile: \"%.40s\" is neither reset nor a number from 1 to %d: so many times as "
			   "many samples as --sample says",
			   request->argument, PROFILE_MAX_MULTIPLIER);
	} else {
		multiply_samples(session, (unsigned int)multiplier);
		print_profile(session, -1, answer);
	}
}

/* "begin fine": also take more samples */
static void do_begin(struct session *session, const struct control_request *request, struct answer *answer)
{
	bool is_fine = !strcmp(request->argument, "fine");

	if (is_fine && !has_profile(session, answer))
		return;
	if (session->profile.period)
		multiply_samples(session, is_fine ? PROFILE_FINE : 1);
	if (session->halted && set_mask(session, session->mask, answer))
		return;
	if (session->halted) {
		session->halted = false;
		switch_programs(session);
	}
	answer_set(answer, 0, "tracedaemon: recording\n");
}

static void answer_halted(const struct session *session, struct answer *answer)
{
	char option[CONTROL_OPTION_BYTES];

	control_print_option(session->control, option);
	answer_set(answer, 0, "tracedaemon: halted pid %d, %s%s; tracectl%s begin goes on\n", (int)getpid(),
		   session_is_flight(session) ? "a flight recorder" : "which writes ",
		   session_is_flight(session) ? "" : session->output.path, option);
}

static void do_halt(struct session *session, const struct control_request *request, struct answer *answer)
{
	uint64_t mask[TRACE_MASK_WORDS];

	halted_mask(mask);
	if (!session->halted && set_mask(session, mask, answer))
		return;
	if (!session->halted) {
		session->halted = true;
		switch_programs(session);
	}
	answer_halted(session, answer);
}

/* The mask of @session, without the kernel's events if the daemon cannot record them. */
static void recorded_mask(const struct session *session, uint64_t mask[TRACE_MASK_WORDS])
{
	memcpy(mask, session->mask, sizeof(session->mask));
	for (size_t i = 0; !session->tracer && i < trace_catalogue_size(); i++) {
		const struct trace_event_type *type = trace_catalogue_type(i);

		if (strcmp(type->program, "NONE") != 0)
			mask[type->id / 64] &= ~(1ull << type->id % 64);
	}
}

/* The events of programs and the probes, behind what @text has. */
static void print_user(const struct session *session, char *text, size_t size)
{
	size_t used = strlen(text);

	if ((!session->clients && !session->probes) || used >= size)
		return;
	used += (size_t)snprintf(text + used, size - used, "Events of programs: ");
	if (used < size && !session->clients)
		snprintf(text + used, size - used, "none");
	else if (used < size)
		select_print_user(clients_selection(session->clients), text + used, size - used);
	used = strlen(text);
	if (used + 2 <= size)
		memcpy(text + used, "\n", 2);
	used = strlen(text);
	if (used + 256 <= size)
		session_probes_print(session->probes, &session->selection, text + used, size - used);
}

static void print_mask(const struct session *session, struct answer *answer)
{
	uint64_t mask[TRACE_MASK_WORDS];

	recorded_mask(session, mask);
	select_print_mask(mask, answer->text, sizeof(answer->text));
	print_user(session, answer->text, sizeof(answer->text));
}

/* The list of all events would hide the rest. */
static void print_events(const struct session *session, char *text, size_t size)
{
	uint64_t mask[TRACE_MASK_WORDS];
	char changes[1024];

	recorded_mask(session, mask);
	select_print_changes(mask, changes, sizeof(changes));
	snprintf(text, size, "Events of the kernel: %s (tracectl mask lists them)\n", changes);
	print_user(session, text, size);
}

/* Appends the event types that could not be attached by this request. */
static void report_not_traced(const struct session *session, size_t nr_before, struct answer *answer)
{
	size_t used = strlen(answer->text);
	const char *text;

	for (size_t i = nr_before;
	     session->tracer && (text = tracer_not_traced(session->tracer, i)) && used < sizeof(answer->text); i++)
		used += (size_t)snprintf(answer->text + used, sizeof(answer->text) - used, "not traced: %s\n", text);
}

static size_t nr_not_traced(const struct session *session)
{
	size_t nr = 0;

	while (session->tracer && tracer_not_traced(session->tracer, nr))
		nr++;
	return nr;
}

static void do_mask(struct session *session, const struct control_request *request, struct answer *answer)
{
	struct selection selection = {0};
	struct trace_error error;
	uint64_t mask[TRACE_MASK_WORDS];
	size_t nr_before = nr_not_traced(session);

	if (!*request->argument) {
		print_mask(session, answer);
		return;
	}
	if (strchr("-+!", *request->argument)) { /* changes the current selection */
		selection = session->clients ? *clients_selection(session->clients) : session->selection;
		memset(selection.removed, 0, sizeof(selection.removed));
		memcpy(selection.mask, session->mask, sizeof(selection.mask));
		selection.begun = true;
	}
	if (select_add(&selection, request->argument, &error)) {
		answer_set(answer, error.code, "%s", error.message);
		return;
	}
	select_finish(&selection, mask);
	samples_choose(mask, &session->options->tracer, false);
	if (session->probes)
		select_set(mask, TRACE_EV_USER);
	if (!session->halted && set_mask(session, mask, answer))
		return;
	session_probes_note(session->probes, &selection);
	session->selection = selection;
	memcpy(session->mask, mask, sizeof(mask));
	switch_programs(session);
	print_mask(session, answer);
	report_not_traced(session, nr_before, answer);
}

/* ---- status ---- */

static uint64_t subbufs_of_ring(const struct tracer_ring *ring)
{
	return __atomic_load_n(&ring->ring.control->position, __ATOMIC_RELAXED) >> SUBBUF_OFFSET_BITS;
}

/* A flight recorder holds so much of a CPU: "; the last 29.8 s, 7.1 MB". */
static void print_held(const struct session *session, size_t idx, char *text, size_t size)
{
	const struct tracer_ring *ring = tracer_get_ring(session->tracer, idx);
	struct keep_status held = {0};
	uint64_t now_ns = clock_now(), since_ns, bytes;

	*text = '\0';
	if (ring->structural || !session_is_flight(session))
		return;
	if (session->keeper) {
		keeper_get_cpu(session->keeper, ring->cpu, &held);
		since_ns = held.since_ns;
		bytes = held.bytes;
	} else {
		flight_get_held(session->flight, idx, &since_ns, &bytes);
	}
	snprintf(text, size, "; the last %s, %s", text_seconds(now_ns > since_ns ? now_ns - since_ns : 0).s,
		 text_bytes(bytes).s);
}

/* In the order of the classic -v. */
static size_t print_rings(const struct session *session, char *text, size_t size)
{
	const struct tracer_ring *ring;
	size_t used = 0;
	char held[128];

	for (size_t i = 0; session->tracer && i < tracer_nr_rings(session->tracer) && used < size; i++) {
		ring = tracer_get_ring(session->tracer, i);
		print_held(session, i, held, sizeof(held));
		used += (size_t)snprintf(
			text + used, size - used, "  CPU %u%s: %s sub-buffers produced, %s lost%s\n", ring->cpu,
			ring->structural ? " structural" : "", text_count(subbufs_of_ring(ring)).s,
			text_events(__atomic_load_n(&ring->ring.control->discarded, __ATOMIC_RELAXED)).s, held);
	}
	return used;
}

static size_t print_recording(const struct session *session, char *text, size_t size)
{
	struct recording_status status;
	size_t used = 0;

	recording_get_status(session->recording, &status);
	if (!session->keeper)
		used = (size_t)snprintf(text, size, "File: %s, %s\n", session->output.path,
					text_bytes(status.file_bytes).s);
	return used >= size ? used : used + progress_print_counts(&status, text + used, size - used);
}

static size_t print_unfollowed(const struct session *session, char *text, size_t size)
{
	char unfollowed[TRACEFILE_TEXT_BYTES];

	if (!session->tracer ||
	    !tracefile_print_unfollowed(session->tracer, session->start_ns, unfollowed, sizeof(unfollowed)))
		return 0;
	return (size_t)snprintf(text, size, "Not traced: %s\n", unfollowed);
}

static size_t print_programs(const struct session *session, char *text, size_t size)
{
	struct clients_status status;

	clients_get_status(session->clients, &status);
	return (size_t)snprintf(text, size, "Programs with tracepoints: %zu now, %zu so far, %zu refused%s\n",
				status.programs, status.ever, status.refused,
				status.cannot_join ? "; new ones cannot join" : "");
}

static size_t print_buffers(const struct session *session, char *text, size_t size)
{
	const struct tracer_ring *ring = session->tracer ? tracer_get_ring(session->tracer, 0) : NULL;

	if (!ring)
		return (size_t)snprintf(text, size,
					"Buffering: lock-free, in the programs; the kernel is not recorded\n");
	return (size_t)snprintf(text, size, "Buffering: lock-free, %s per CPU (%u sub-buffers of %s)\n",
				text_bytes((uint64_t)ring->ring.subbuf_bytes * ring->ring.nr_subbufs).s,
				ring->ring.nr_subbufs, text_bytes(ring->ring.subbuf_bytes).s);
}

static void do_status(struct session *session, const struct control_request *request, struct answer *answer)
{
	size_t nr_cpus = session->tracer ? tracer_nr_rings(session->tracer) / 2 : (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	char *text = answer->text;
	size_t size = sizeof(answer->text), used;

	if (!strcmp(request->argument, "json")) {
		int err = status_json(session, text, size);

		if (err)
			answer_set(answer, err, "the daemon has no memory for the status; try again");
		return;
	}
	used = (size_t)snprintf(
		text, size,
		"Trace status (%zu CPU%s): %s, process %d, for %s\nMode: %s\nTimestamping: CLOCK_MONOTONIC, ns\n",
		nr_cpus, nr_cpus == 1 ? "" : "s", session->halted ? "halted" : "recording", (int)getpid(),
		text_seconds(clock_now() - session->start_ns).s,
		session_is_flight(session) ? "Flight Recorder Mode" : "Trace Mode");
	used += print_buffers(session, text + used, size - used);
	if (session->recording)
		used += print_recording(session, text + used, size - used);
	if (session->keeper)
		used += keeper_print(session->keeper, text + used, size - used);
	used += print_unfollowed(session, text + used, size - used);
	used += print_rings(session, text + used, size - used);
	if (session->clients && used < size)
		used += print_programs(session, text + used, size - used);
	if (used < size)
		print_events(session, text + used, size - used);
}

/* ---- dump, reset, mark, stop ---- */

static void answer_later(struct session *session, int client_fd, uint64_t sync, struct answer *answer)
{
	session->waiting[session->nr_waiting++] = (struct waiting){client_fd, sync};
	answer->later = true;
}

static void dump_recording(struct session *session, int client_fd, struct answer *answer)
{
	uint64_t sync;

	if (session->nr_waiting == SESSION_MAX_WAITING) {
		answer_set(answer, -EBUSY, "too many dumps at once; try again");
		return;
	}
	if (recording_sync(session->recording, &sync)) {
		answer_set(answer, -ENOMEM, "the daemon has no memory for a dump; try again");
		return;
	}
	answer_later(session, client_fd, sync, answer);
}

/*
 * Write snapshots only to files and memory, which never block: recording must not wait for the
 * reader of a pipe. tracectl copies a snapshot to its pipe itself.
 */
static bool takes_snapshot(int file_fd, struct answer *answer)
{
	struct stat status;

	if (file_fd < 0)
		answer_set(answer, -EINVAL, "the flight recorder saves its events to a file: name one");
	else if (fstat(file_fd, &status) < 0 || !S_ISREG(status.st_mode))
		answer_set(answer, -EINVAL,
			   "this daemon writes snapshots to regular files only; use the tracectl of its version for a "
			   "pipe");
	else
		return true;
	return false;
}

static void dump_keeper(struct session *session, int file_fd, int client_fd, struct answer *answer)
{
	struct trace_error error = {0};

	if (!takes_snapshot(file_fd, answer))
		return;
	if (keeper_save_for_client(session->keeper, file_fd, client_fd, &error))
		answer_set(answer, error.code, "%s", error.message);
	else
		answer->later = true;
}

static void dump_flight(struct session *session, int file_fd, struct answer *answer)
{
	struct flight_result result;
	struct trace_error error = {0};

	if (!takes_snapshot(file_fd, answer))
		return;
	priority_watch(false, clock_now()); /* the rings are overwritten while the snapshot reads them */
	if (flight_snapshot(session->flight, file_fd, session->options->session.level, &result, &error)) {
		answer_set(answer, error.code, "%s", error.message);
		return;
	}
	answer_set(answer, 0, "%s, %s; %s older ones were overwritten\n", text_events(result.events).s,
		   text_bytes(result.file_bytes).s, text_count(result.overwritten).s);
}

static void do_reset(struct session *session, const struct control_request *request, struct answer *answer)
{
	if (!session_is_flight(session) && session->profile.period) {
		if (reset_profile(session, answer))
			answer_set(answer, 0,
				   "tracedaemon: the kernel's profile was reset; the events in the file remain\n");
		return;
	}
	if (!session_is_flight(session)) {
		answer_set(
			answer, -ENOTSUP,
			"this daemon writes to a file and cannot drop events; reset is only for the flight recorder");
		return;
	}
	if (session->flight)
		flight_reset(session->flight);
	else
		keeper_reset(session->keeper);
	if (session->profile.period && !reset_profile(session, answer))
		return;
	answer_set(answer, 0, "tracedaemon: the flight recorder was reset\n");
}

static void do_mark(struct session *session, const struct control_request *request, struct answer *answer)
{
	if (!*request->argument)
		answer_set(answer, -EINVAL, "a mark needs a text");
	else if (strlen(request->argument) > OWN_TEXT_MAX_BYTES)
		answer_set(answer, -E2BIG,
			   "a mark has at most %zu bytes, and this text has %zu; split it into several marks",
			   OWN_TEXT_MAX_BYTES, strlen(request->argument));
	else if (session->flight)
		flight_mark(session->flight, request->argument);
	else
		recording_mark(session->recording, request->argument);
}

/*
 * The client gets the answer when the trace is complete, with the result of the recording. A daemon
 * in the background has no other way to report it.
 */
static void stop(struct session *session, int client_fd, struct answer *answer)
{
	session->stopping = true;
	if (session->nr_waiting < SESSION_MAX_WAITING)
		answer_later(session, client_fd, SESSION_UNTIL_END, answer);
	else
		answer_set(answer, 0, "tracedaemon: stopping\n");
}

static void do_mode(struct session *session, const struct control_request *request, struct answer *answer)
{
	answer_set(answer, 0, "%s", session_is_flight(session) ? "flight" : "file");
}

static const struct {
	const char *verb;
	void (*run)(struct session *session, const struct control_request *request, struct answer *answer);
} requests[] = {
	{"status", do_status}, {"mode", do_mode},   {"begin", do_begin}, {"halt", do_halt},
	{"mask", do_mask},     {"reset", do_reset}, {"mark", do_mark},	 {"profile", do_profile},
};

static void perform(struct session *session, const struct control_request *request, int client_fd,
		    struct answer *answer)
{
	if (!strcmp(request->verb, "dump")) {
		if (session->flight)
			dump_flight(session, request->file_fd, answer);
		else if (session->keeper)
			dump_keeper(session, request->file_fd, client_fd, answer);
		else
			dump_recording(session, client_fd, answer);
		return;
	}
	if (!strcmp(request->verb, "stop")) {
		stop(session, client_fd, answer);
		return;
	}
	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		if (strcmp(request->verb, requests[i].verb))
			continue;
		requests[i].run(session, request, answer);
		return;
	}
	answer_set(answer, -EINVAL, "this daemon does not know \"%.40s\"", request->verb);
}

void control_commands_answer(struct session *session, int fd)
{
	struct control_request request;
	struct answer answer;
	int err;

	answer.err = 0;
	answer.later = false;
	answer.text[0] = '\0';
	err = control_receive(fd, &request);
	if (err) {
		snprintf(answer.text, sizeof(answer.text), "the daemon could not read the request: %s; try again",
			 strerror(-err));
		control_answer(fd, err,
			       err == -EMFILE ? "the daemon has no free file descriptor for the file; try again"
					      : answer.text);
		close(fd);
		return;
	}
	perform(session, &request, fd, &answer);
	if (request.file_fd >= 0)
		close(request.file_fd);
	if (answer.later)
		return;
	control_answer(fd, answer.err, answer.text);
	close(fd);
}

static void answer_waiting(int fd, const struct trace_error *error, const char *text)
{
	char failed[sizeof(((struct answer *)0)->text)];

	if (error->code) {
		snprintf(failed, sizeof(failed), "not all events are on disk: %s", error->message);
		text = failed;
	}
	control_answer(fd, error->code, text);
	close(fd);
}

/*
 * Events that a full disk refused are not on it, whatever was synced since; neither is a removed
 * file.
 */
static struct trace_error why_incomplete(const struct session *session)
{
	struct trace_error error = {0};

	if (!recording_write_error(session->recording, &error) && output_check(&session->output, &error) != -ENOENT)
		error.code = 0;
	return error;
}

void control_commands_synced(struct session *session)
{
	uint64_t synced = recording_synced(session->recording);
	struct trace_error error = why_incomplete(session);
	size_t kept = 0;

	for (size_t i = 0; i < session->nr_waiting; i++) {
		if (session->waiting[i].sync > synced)
			session->waiting[kept++] = session->waiting[i];
		else
			answer_waiting(session->waiting[i].fd, &error, "tracedaemon: all events so far are on disk\n");
	}
	session->nr_waiting = kept;
}

void control_commands_close(struct session *session)
{
	char text[PROGRESS_SUMMARY_BYTES + 32] = "tracedaemon: the flight recorder has ended\n";

	if (session->recording && !session->keeper)
		snprintf(text, sizeof(text), "tracedaemon: %s\n", session->summary);
	for (size_t i = 0; i < session->nr_waiting; i++)
		answer_waiting(session->waiting[i].fd, &session->end_error, text);
	session->nr_waiting = 0;
}
