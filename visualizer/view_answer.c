/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_answer.c - the questions, and the ones about the trace as a whole. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "losses.h"
#include "verdict.h"
#include "view_books.h"
#include "view_clients.h"
#include "view_count.h"
#include "view_counters.h"
#include "view_path.h"
#include "view_profile.h"
#include "view_requests.h"
#include "view_row.h"
#include "view_samples.h"
#include "view_scopes.h"
#include "view_shares.h"
#include "view_span.h"
#include "view_tables.h"
#include "whole_trace.h"

#define MAX_GAPS  2000u
#define SECOND_NS 1000000000u

/* ---- the trace as a whole ---- */

static uint64_t done_ns(const struct view_session *session)
{
	uint64_t now = trace_analysis_now(session->report.analysis);

	if (session->is_complete)
		return session->end - session->start;
	return now > session->start ? now - session->start : 0;
}

static const char *file_word(enum trace_file_state state)
{
	static const char *const words[] = {
		[TRACE_FILE_SAME] = "same",	    [TRACE_FILE_GROWN] = "grown", [TRACE_FILE_CHANGED] = "changed",
		[TRACE_FILE_REPLACED] = "replaced", [TRACE_FILE_GONE] = "gone",	  [TRACE_FILE_UNKNOWN] = "unknown"};

	return words[state];
}

static void put_progress(struct view_session *session, struct view_question *question, struct json *json)
{
	enum trace_file_state state = trace_file_state(session->report.trace);

	json_u64(json, "done_ns", done_ns(session));
	json_u64(json, "duration_ns", session->end - session->start);
	json_bool(json, "complete", session->is_complete);
	json_bool(json, "billing", !session->is_billed);
	json_u64(json, "version", session->version);
	json_text(json, "trace_file", file_word(state));
	json_bool(json, "growing", state == TRACE_FILE_GROWN);
}

/* Not in "about", whose answer is the same for the same file. */
static void put_progress_and_rest(struct view_session *session, struct view_question *question, struct json *json)
{
	put_progress(session, question, json);
	if (session->rest_ns >= SECOND_NS)
		json_u64(json, "rest_s", session->rest_ns / SECOND_NS);
	json_text(json, "unread", session->unread);
}

/* Times that need more than 53 bits are texts. */
static void put_long(struct json *json, const char *key, uint64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%llu", (unsigned long long)value);
	json_text(json, key, text);
}

static void put_classes(struct json *json)
{
	static const char *const labels[TRACE_NR_CLASSES] = {[TRACE_CLASS_USER] = "own code",
							     [TRACE_CLASS_SYSCALL] = "kernel",
							     [TRACE_CLASS_TRAP] = "page faults",
							     [TRACE_CLASS_INTERRUPTED] = "interrupted",
							     [TRACE_CLASS_WAIT_CPU] = "waiting for a CPU",
							     [TRACE_CLASS_REST] = "at rest",
							     [TRACE_CLASS_RUNNING] = "on a CPU",
							     [TRACE_CLASS_IDLE] = "idle",
							     [TRACE_CLASS_ABSENT] = "not there",
							     [TRACE_CLASS_UNREAD] = "not read yet"};

	json_open(json, "classes", "[");
	for (enum trace_class class = 0; class < TRACE_NR_CLASSES; class ++) {
		json_open(json, NULL, "{");
		json_text(json, "name", trace_class_name(class));
		json_text(json, "label",
			  labels[class] ? labels[class]
					: verdict_place((enum path_place)(PLACE_BLOCKED + class - TRACE_CLASS_WAIT)));
		json_close(json, "}");
	}
	json_close(json, "]");
}

static const char *cause_of(enum trace_gap_cause cause)
{
	static const char *const causes[] = {[TRACE_GAP_DISCARDED] = "the buffers were full",
					     [TRACE_GAP_OVERWRITTEN] = "overwritten by the flight recorder",
					     [TRACE_GAP_DAMAGED] = "a damaged part of the file",
					     [TRACE_GAP_MISSED] = "missed by the kernel",
					     [TRACE_GAP_SUSPECT] = "events without a known time",
					     [TRACE_GAP_CUT] = "the end of the recording is missing",
					     [TRACE_GAP_UNWRITTEN] = "the disk was full or failed"};

	return (size_t)cause < sizeof(causes) / sizeof(causes[0]) && causes[cause] ? causes[cause] : "";
}

static void put_gap(struct json *json, const struct view_session *session, const struct trace_gap *gap)
{
	json_open(json, NULL, "{");
	json_u64(json, "cpu", gap->cpu);
	json_time(json, session, "from", gap->start_ns);
	json_time(json, session, "to", gap->end_ns);
	json_u64(json, "lost", gap->lost);
	json_text(json, "cause", cause_of(gap->cause));
	json_close(json, "}");
}

static void put_gaps(struct json *json, const struct view_session *session)
{
	const struct trace *trace = session->report.trace;
	const struct trace_analysis *analysis = session->report.analysis;
	size_t nr = 0;

	json_open(json, "gaps", "[");
	for (size_t i = 0; i < trace_nr_gaps(trace); i++)
		if (!trace_gap_is_older(trace, trace_get_gap(trace, i)) && nr++ < MAX_GAPS)
			put_gap(json, session, trace_get_gap(trace, i));
	for (size_t i = 0; i < trace_analysis_nr_late_gaps(analysis); i++)
		if (nr++ < MAX_GAPS)
			put_gap(json, session, trace_analysis_get_late_gap(analysis, i));
	json_close(json, "]");
	json_bool(json, "gaps_cut", nr > MAX_GAPS);
}

static void put_missing(struct json *json, const struct view_session *session)
{
	const struct trace *trace = session->report.trace;
	const char *not_traced;

	put_gaps(json, session);
	json_open(json, "damages", "[");
	for (size_t i = 0; i < trace_nr_damages(trace) && i < MAX_GAPS; i++) {
		json_separate(json);
		json_string(json, trace_get_damage(trace, i)->message);
	}
	json_close(json, "]");
	json_open(json, "not_traced", "[");
	for (size_t i = 0; (not_traced = trace_not_traced(trace, i)); i++) {
		json_separate(json);
		json_string(json, not_traced);
	}
	json_close(json, "]");
	json_bool(json, "sees_calls", trace_analysis_sees_calls(session->report.analysis));
	json_bool(json, "sees_traps", trace_analysis_sees_traps(session->report.analysis));
	json_bool(json, "sees_interrupts", trace_analysis_sees_interrupts(session->report.analysis));
}

/* A session with a window: where it begins, and how long the whole trace is. */
static void put_part(struct json *json, const struct view_session *session)
{
	uint64_t start, end;

	if (!session->window.has_from && !session->window.has_to)
		return;
	trace_analysis_window(session->report.analysis, &start, &end);
	json_open(json, "part", "{");
	json_u64(json, "from_ns", session->start - start);
	json_u64(json, "of_ns", end - start);
	json_close(json, "}");
}

/* When the command executed its program; only if it is sure, and in the window. */
static void put_command_from(const struct view_session *session, struct json *json)
{
	const struct report_command *command = &session->report.command;

	if (command->process && command->is_sure && command->exec_ns >= session->start &&
	    command->exec_ns < session->end)
		json_time(json, session, "command_from", command->exec_ns);
}

static void put_about(struct view_session *session, struct view_question *question, struct json *json)
{
	const struct trace *trace = session->report.trace;
	const struct trace_info *info = trace_get_info(trace);
	const char *recorder = trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_RECORDER),
		   *command = trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_COMMAND);
	const char *slash = strrchr(info->file, '/');

	json_text(json, "schema", "trace-view/1");
	json_text(json, "file", slash ? slash + 1 : info->file);
	json_text(json, "host", info->host);
	json_text(json, "kernel", info->kernel);
	json_text(json, "machine", info->machine);
	json_text(json, "recorder", recorder ? recorder : "");
	json_text(json, "command", command ? command : "");
	put_command_from(session, json);
	put_long(json, "start_ns", session->start);
	put_long(json, "start_realtime_ns",
		 info->start_realtime_ns ? info->start_realtime_ns + (session->start - info->start_ns) : 0);
	put_progress(session, question, json);
	put_part(json, session);
	json_u64(json, "events", whole_trace_events(trace));
	json_u64(json, "lost", losses_lost(trace, session->report.analysis, &(size_t){0}));
	json_text(json, "claim_words", losses_claim_words(trace).s);
	json_u64(json, "nr_cpus", info->nr_cpus);
	json_bool(json, "clean_end", info->clean_end);
	if (trace_view_full_ns(session->view))
		json_time(json, session, "full_from", trace_view_full_ns(session->view));
	/* names for samples come with them */
	json_bool(json, "samples", trace_string(trace, TRACE_STRING_KERNEL_CODE, 0) != NULL);
	json_bool(json, "coarse", trace_history_is_coarse(session->report.history));
	put_classes(json);
	put_missing(json, session);
}

/* ---- all questions ---- */

/* A question needs nothing of the view, or the part before it became full, or all of it. */
enum of_view { NOTHING, TOLD, ALL };

static bool is_beyond_view(const struct view_session *session, enum of_view of_view)
{
	int error = of_view == NOTHING ? 0 : trace_view_error(session->view);

	return error && (error != -E2BIG || of_view == ALL);
}

static const struct {
	const char *name;
	void (*put)(struct view_session *session, struct view_question *question, struct json *json);
	void (*write)(struct view_session *session, struct view_question *question, FILE *out);
	enum of_view of_view;
	bool is_binary, reads_trace;
} questions[] = {
	{"about", .put = put_about},
	{"progress", .put = put_progress_and_rest},
	{"rows", .put = view_rows, .of_view = TOLD},
	{"sums", .put = view_sums, .of_view = TOLD},
	{"search", .put = view_search, .of_view = TOLD},
	{"spans", .put = view_spans, .of_view = TOLD},
	{"at", .put = view_at, .of_view = TOLD},
	{"waits", .put = view_waits, .of_view = TOLD},
	{"clients", .put = view_clients, .of_view = ALL},
	{"billed", .put = view_billed, .of_view = ALL},
	{"servers", .put = view_servers, .of_view = ALL},
	{"requests", .put = view_requests, .of_view = ALL},
	{"counters", .put = view_counters, .of_view = ALL},
	{"lanes", .put = view_lanes, .of_view = ALL},
	{"scopes", .put = view_scopes, .of_view = ALL},
	{"path", .put = view_path, .of_view = ALL},
	{"verdict", .put = view_verdict, .of_view = TOLD},
	{"shares", .write = view_shares, .of_view = TOLD, .is_binary = true},
	{"sampled", .put = view_sampled, .of_view = TOLD, .reads_trace = true},
	{"samples", .put = view_samples, .of_view = TOLD, .reads_trace = true},
	{"sample", .put = view_sample, .of_view = TOLD, .reads_trace = true},
	{"functions", .write = view_functions, .reads_trace = true},
	{"books", .write = view_counted_books, .reads_trace = true},
	{"tables", .write = view_tables, .reads_trace = true},
	{"count", .put = view_count, .reads_trace = true},
	{"events", .write = view_events, .reads_trace = true},
};

static void write_answer(struct view_session *session, struct view_question *question, FILE *out, bool *ret_is_binary)
{
	struct json json = {.out = out, .first = true};

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		if (strcmp(questions[i].name, question->name) != 0)
			continue;
		*ret_is_binary = questions[i].is_binary;
		if (is_beyond_view(session, questions[i].of_view)) {
			if (trace_view_error(session->view) == -ENOMEM)
				memory_end();
			snprintf(question->error, sizeof(question->error),
				 "the trace has more intervals than the view can hold: --from and --to choose a part");
			return;
		}
		if (questions[i].reads_trace && trace_file_state(session->report.trace) == TRACE_FILE_CHANGED) {
			snprintf(question->error, sizeof(question->error),
				 "the trace was changed since it was opened, so its events cannot be read");
			return;
		}
		if (questions[i].write) {
			questions[i].write(session, question, out);
		} else {
			json_open(&json, NULL, "{");
			questions[i].put(session, question, &json);
			json_close(&json, "}\n");
		}
		/* others may have no view, or not its lock */
		if (questions[i].of_view != NOTHING && trace_view_error(session->view) == -ENOMEM)
			memory_end();
		return;
	}
	snprintf(question->error, sizeof(question->error), "there is no such question");
}

struct view_answer view_answer(struct view_session *session, const char *text)
{
	struct view_answer answer = {0};
	struct view_question question;
	struct text_stream stream;
	FILE *out = memory_stream_begin(&stream);

	if (question_parse(&question, text))
		write_answer(session, &question, out, &answer.is_binary);
	answer.bytes = memory_stream_end(&stream, &answer.size);
	if (*question.error) {
		struct json json = {.first = true};

		free(answer.bytes);
		answer = (struct view_answer){.is_wrong = true};
		json.out = memory_stream_begin(&stream);
		json_open(&json, NULL, "{");
		json_text(&json, "error", question.error);
		json_close(&json, "}\n");
		answer.bytes = memory_stream_end(&stream, &answer.size);
	}
	question_free(&question);
	return answer;
}
