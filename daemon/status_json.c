/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * status_json.c - the state of a session for programs: docs/JSON.md, trace-status/1
 *
 * The answer of a daemon has a limit. Machines with so many CPUs that theirs do not fit in get
 * null instead of the list.
 */
#include "status_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/saturate.h>
#include <unistd.h>

#include "auto_save.h"
#include "clock.h"
#include "json.h"
#include "session.h"
#include "text_stream.h"
#include "version.h"

static uint64_t since(uint64_t ns)
{
	uint64_t now_ns = clock_now();

	return now_ns > ns ? now_ns - ns : 0;
}

/* As session_is_flight(), which is in a file that needs this one. */
static bool is_flight(const struct session *session)
{
	return session->flight || session->keeper;
}

static void put_counts(struct json *json, const struct session *session)
{
	struct recording_status status = {0};
	bool is_known = session->recording;

	if (is_known)
		recording_get_status(session->recording, &status);
	json_known(json, "events", status.events, is_known);
	json_known(json, "lost", trace_add_saturated(status.lost, status.lost_write + status.not_understood), is_known);
	json_known(json, "claimed", status.claimed, is_known);
	json_known(json, "missed", status.missed, is_known);
	json_known(json, "filtered", status.filtered, is_known);
	json_text(json, "file", is_flight(session) ? "" : session->output.path);
	json_known(json, "file_bytes", status.file_bytes, is_known && !session->keeper);
}

static void put_kept(struct json *json, const struct session *session)
{
	struct keeper_status status;

	if (!session->keeper)
		return;
	keeper_get_status(session->keeper, &status);
	json_open(json, "kept", "{");
	json_u64(json, "ns", since(status.kept.since_ns));
	json_u64(json, "asked_ns", status.keep_ns);
	json_u64(json, "bytes", status.kept.bytes);
	json_u64(json, "max_bytes", status.max_bytes);
	json_bool(json, "is_short", status.kept.is_short);
	json_u64(json, "files", status.nr_files);
	json_known(json, "max_files", status.max_files, status.saves);
	json_u64(json, "left_out", status.nr_left_out);
	json_close(json, "}");
}

static void put_held(struct json *json, const struct session *session, size_t idx, uint32_t cpu)
{
	struct keep_status held = {0};
	uint64_t bytes = 0;

	if (session->keeper) {
		keeper_get_cpu(session->keeper, cpu, &held);
		bytes = held.bytes;
	} else if (session->flight) {
		flight_get_held(session->flight, idx, &held.since_ns, &bytes);
	}
	json_known(json, "held_ns", since(held.since_ns), is_flight(session));
	json_known(json, "held_bytes", bytes, is_flight(session));
}

static void put_cpus(struct json *json, const struct session *session)
{
	json_open(json, "cpus", "[");
	for (size_t i = 0; session->tracer && i < tracer_nr_rings(session->tracer); i++) {
		const struct tracer_ring *ring = tracer_get_ring(session->tracer, i);

		if (ring->structural)
			continue;
		json_open(json, NULL, "{");
		json_u64(json, "cpu", ring->cpu);
		json_u64(json, "lost", __atomic_load_n(&ring->ring.control->discarded, __ATOMIC_RELAXED));
		put_held(json, session, i, ring->cpu);
		json_close(json, "}");
	}
	json_close(json, "]");
}

static void put_programs(struct json *json, const struct session *session)
{
	struct clients_status status = {0};

	if (session->clients)
		clients_get_status(session->clients, &status);
	json_open(json, "programs", "{");
	json_u64(json, "now", status.programs);
	json_u64(json, "so_far", status.ever);
	json_u64(json, "refused", status.refused);
	json_bool(json, "can_join", session->clients && !status.cannot_join);
	json_close(json, "}");
}

static void put_not_traced(struct json *json, const struct session *session)
{
	const char *text;

	json_open(json, "not_traced", "[");
	for (size_t i = 0; session->tracer && (text = tracer_not_traced(session->tracer, i)); i++) {
		json_separate(json);
		json_string(json, text);
	}
	json_close(json, "]");
}

static void put(struct json *json, const struct session *session, bool with_cpus)
{
	const char *mode = is_flight(session) ? "flight" : "file";

	json_open(json, NULL, "{");
	json_text(json, "schema", "trace-status/1");
	json_text(json, "version", program_version());
	json_u64(json, "pid", (uint64_t)getpid());
	json_bool(json, "recording", !session->halted);
	json_text(json, "mode", mode);
	json_bool(json, "kernel", session->tracer);
	json_u64(json, "elapsed_ns", since(session->start_ns));
	put_counts(json, session);
	put_kept(json, session);
	put_programs(json, session);
	put_not_traced(json, session);
	if (with_cpus)
		put_cpus(json, session);
	else
		json_known(json, "cpus", 0, false);
	json_close(json, "}");
	fputs("\n", json->out);
}

static int print(const struct session *session, bool with_cpus, char *ret_text, size_t size)
{
	struct text_stream stream;
	struct json json = {.first = true};
	size_t bytes = 0;
	char *text;

	if (text_stream_begin(&stream) < 0)
		return -ENOMEM;
	json.out = stream.out;
	put(&json, session, with_cpus);
	if (text_stream_end(&stream, &text, &bytes) < 0)
		return -ENOMEM;
	if (bytes < size)
		memcpy(ret_text, text, bytes + 1);
	free(text);
	return bytes < size ? 0 : -E2BIG;
}

int status_json(const struct session *session, char *text, size_t size)
{
	int error = print(session, true, text, size);

	return error == -E2BIG ? print(session, false, text, size) : error;
}
