/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* page_part.c - a smaller trace for the page of a part: page_part.h. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace/view.h>
#include <trace/writer.h>
#include <unistd.h>
#include "checked_memory.h"
#include "complain.h"
#include "page_part.h"
#include "pass_progress.h"
#include "view_row.h"
#include "view_session.h"

#define MIN_MARGIN_NS 1000000u /* before and after the part, if the part is longer */
#define MAX_QUESTIONS 32
#define NR_COLUMNS    256

/** struct proposal - @margin: in hundredths of the part */
struct proposal {
	uint32_t margin;
	enum trace_part_detail detail;
};
static const struct proposal proposals[] = {{10, TRACE_PART_STATE},
					    {20, TRACE_PART_SWITCHES},
					    {100, TRACE_PART_SWITCHES},
					    {10, TRACE_PART_CALLS},
					    {100, TRACE_PART_CALLS}};

/** struct comparison - questions, and the answers of the whole trace */
struct comparison {
	struct view_session session; /* of the whole trace */
	char *questions[MAX_QUESTIONS];
	struct view_answer answers[MAX_QUESTIONS];
	int nr;
};

/* ---- questions ---- */

static void __attribute__((format(printf, 2, 3))) add(struct comparison *comparison, const char *format, ...)
{
	va_list arguments;
	char *text;

	va_start(arguments, format);
	if (comparison->nr == MAX_QUESTIONS || vasprintf(&text, format, arguments) < 0)
		memory_end();
	va_end(arguments);
	comparison->questions[comparison->nr] = text;
	comparison->answers[comparison->nr++] = view_answer(&comparison->session, text);
}

/* The columns of all rows, in groups: a question has at most 4 KiB or so. */
static void add_columns(struct comparison *comparison, const char *by)
{
	static const enum trace_row_kind kinds[] = {TRACE_ROW_CPU, TRACE_ROW_PROCESS, TRACE_ROW_THREAD};
	char rows[2048] = "";
	size_t bytes = 0;
	struct view_session *session = &comparison->session;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		for (size_t j = 0; j < trace_view_nr_rows(session->view, kinds[i]) && bytes < sizeof(rows) - 16; j++) {
			struct trace_row_id id = {kinds[i], (uint32_t)j};
			struct trace_row row;

			if (!trace_view_get_row(session->view, id, &row))
				continue;
			bytes += (size_t)snprintf(rows + bytes, sizeof(rows) - bytes, "%s%" PRIu32, bytes ? "," : "",
						  view_row_number(id));
		}
	if (bytes)
		add(comparison, "shares?rows=%s&from=0&to=%" PRIu64 "&columns=%d%s", rows,
		    session->end - session->start, NR_COLUMNS, by);
}

static void ask_whole(struct comparison *comparison)
{
	uint64_t width = comparison->session.end - comparison->session.start;

	add(comparison, "rows");
	add(comparison, "lanes");
	add(comparison, "books");
	add_columns(comparison, "");
	add_columns(comparison, "&by=client");
	for (uint64_t i = 0; i < 4; i++) {
		uint64_t from = i ? width * (i - 1) / 3 : 0, to = i ? width * i / 3 : width;

		if (from >= to)
			continue;
		add(comparison, "sums?from=%" PRIu64 "&to=%" PRIu64, from, to);
		add(comparison, "waits?from=%" PRIu64 "&to=%" PRIu64, from, to);
		add(comparison, "verdict?from=%" PRIu64 "&to=%" PRIu64, from, to);
		add(comparison, "clients?from=%" PRIu64 "&to=%" PRIu64, from, to);
		if (i == 2)
			add(comparison, "books?from=%" PRIu64 "&to=%" PRIu64, from, to);
	}
}

static bool answers_agree(const struct comparison *comparison, struct view_session *session)
{
	bool agree = true;

	for (int i = 0; agree && i < comparison->nr; i++) {
		struct view_answer answer = view_answer(session, comparison->questions[i]);

		agree = answer.size == comparison->answers[i].size &&
			memcmp(answer.bytes, comparison->answers[i].bytes, answer.size) == 0;
		free(answer.bytes);
	}
	return agree;
}

/* ---- sessions ---- */

static void watch_pass(struct trace_analysis *analysis)
{
	pass_progress_watch(analysis, "tracevisualizer: page of a part");
}

static int session_of(struct view_session *session, const struct trace *trace, const struct visualizer_options *options)
{
	int result = view_session_begin(session, trace, options);

	if (result)
		return result;
	session->watch = watch_pass;
	watch_pass(session->report.analysis);
	do
		result = view_session_step(session, 1, 1);
	while (!result);
	return result < 0 ? 1 : 0;
}

static bool is_same(const struct comparison *comparison, const struct trace *part,
		    const struct visualizer_options *options)
{
	struct view_session session = {0};
	bool same = session_of(&session, part, options) == 0 && session.start == comparison->session.start &&
		    session.end == comparison->session.end && answers_agree(comparison, &session);

	view_session_end(&session);
	return same;
}

/* ---- proposals ---- */

static void part_of(const struct comparison *comparison, const struct proposal *proposal, struct trace_part *ret_part)
{
	uint64_t start = comparison->session.start, end = comparison->session.end,
		 margin = (end - start) / 100 * proposal->margin, least = (end - start) / 2;

	least = least < MIN_MARGIN_NS ? least : MIN_MARGIN_NS;
	margin = margin > least ? margin : least;
	*ret_part = (struct trace_part){.size = sizeof(*ret_part),
					.from_ns = start > margin ? start - margin : 0,
					.to_ns = end < UINT64_MAX - margin ? end + margin : end,
					.detail = proposal->detail,
					.contradictions =
						trace_analysis_inconsistencies(comparison->session.report.analysis)};
}

/* Returns whether there is one. */
static bool open_proposal(const struct trace *trace, const struct trace_part *asked, struct page_part *part)
{
	struct trace_error error = {0};
	int fd = memfd_create("part", MFD_CLOEXEC);
	off_t size = -1;

	if (fd >= 0 && trace_write_part(trace, asked, fd, &error) == 0)
		size = lseek(fd, 0, SEEK_END);
	if (size > 0) {
		part->size = (size_t)size;
		part->bytes = mmap(NULL, part->size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (part->bytes == MAP_FAILED)
			part->bytes = NULL;
		else
			part->trace = trace_open_memory(part->bytes, part->size, trace_get_info(trace)->file, &error);
	}
	if (fd >= 0)
		close(fd);
	return part->trace;
}

void page_part_free(struct page_part *part)
{
	part->trace = trace_close(part->trace);
	if (part->bytes)
		munmap(part->bytes, part->size);
	part->bytes = NULL;
}

static void find_part(const struct trace *trace, const struct comparison *comparison,
		      const struct visualizer_options *options, struct page_part *part)
{
	for (size_t i = 0; i < sizeof(proposals) / sizeof(proposals[0]); i++) {
		struct trace_part asked;

		part_of(comparison, &proposals[i], &asked);
		part->attempts++;

		if (!open_proposal(trace, &asked, part))
			break;
		if (is_same(comparison, part->trace, options))
			return;
		page_part_free(part);
	}
	page_part_free(part);
}

int page_part_new(const struct trace *trace, const struct time_window *window, const struct visualizer_options *options,
		  struct page_part *ret_part)
{
	struct comparison comparison = {0};
	struct visualizer_options asked = *options;
	int result = 0;

	*ret_part = (struct page_part){0};
	if ((!window->has_from && !window->has_to) || !trace_has_parts(trace))
		return 0;
	asked.reports = (struct report_choice){.view = true};
	asked.html = NULL;
	result = session_of(&comparison.session, trace, &asked);
	if (!result) {
		ask_whole(&comparison);
		find_part(trace, &comparison, &asked, ret_part);
	}
	for (int i = 0; i < comparison.nr; i++) {
		free(comparison.questions[i]);
		free(comparison.answers[i].bytes);
	}
	view_session_end(&comparison.session);
	return result;
}
