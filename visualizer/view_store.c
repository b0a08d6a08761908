/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_store.c - the index of a view as a file: view_store.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "complain.h"
#include "error_set.h"
#include "only_client.h"
#include "version.h"
#include "view_bills.h"
#include "view_functions.h"
#include "view_row.h"
#include "view_scopes.h"
#include "view_store.h"
#include "whole_file.h"

#define MIN_EVENTS 2000000u /* a pass over fewer takes less than 0.3 s */

static bool is_for_all(const struct visualizer_options *options)
{
	const struct process_choice *processes = &options->processes;

	return !options->no_index && !options->window.from.origin && !options->window.to.origin &&
	       !options->window.span_ns && processes->pid < 0 && processes->tid < 0 && !processes->comm &&
	       !processes->cgroup && !options->rows.sorted && !options->rows.top && !options->rows.all;
}

char *view_store_path(const struct trace *trace, const struct visualizer_options *options)
{
	const struct trace_info *info = trace_get_info(trace);
	struct string path = {0};

	if (!is_for_all(options) || info->events < MIN_EVENTS || strcmp(info->file, "-") == 0)
		return NULL;
	string_add(&path, info->file);
	string_add(&path, ".view");
	return string_take(&path);
}

/* ---- notes: a line for each fact ---- */

/* The number of a process in the analysis; the number of processes: none. */
static size_t number_of(const struct trace_analysis *analysis, const struct trace_process *process)
{
	size_t i = 0;

	while (i < trace_nr_processes(analysis) && trace_get_process(analysis, i) != process)
		i++;
	return i;
}

static void note_clients(struct string *notes, const struct report *report)
{
	for (size_t i = 0; i < report->nr_only_clients; i++) {
		const struct only_client *client = &report->only_clients[i];

		string_addf(notes, "client %zu %zu %u %zu:%s\n", number_of(report->analysis, client->server),
			    number_of(report->analysis, client->process), client->pid, strlen(client->name),
			    client->name);
	}
}

static void note_answer(struct string *notes, struct view_session *session)
{
	struct answer_choice *answer = &session->answer.is;
	struct trace_row_id id;

	view_session_choose(session);
	for (size_t i = 0; i < answer->nr; i++)
		if (trace_view_row_of(session->view, answer->threads[i], &id))
			string_addf(notes, "answer %u\n", id.index);
	string_addf(notes, "time %llu %llu %d\n", (unsigned long long)answer->from_ns,
		    (unsigned long long)answer->to_ns, answer->of_command);
	if (answer->before.len)
		string_addf(notes, "before %zu:%s\n", answer->before.len, string_text(&answer->before));
}

char *view_store_notes(struct view_session *session)
{
	const struct report *report = &session->report;
	struct string notes = {0};

	string_addf(&notes, "program %s\n", program_version());
	note_answer(&notes, session);
	view_functions_note(session, &notes);
	if (report->command.process)
		string_addf(&notes, "command %zu %llu %d\n", number_of(report->analysis, report->command.process),
			    (unsigned long long)report->command.exec_ns, report->command.is_sure);
	note_clients(&notes, report);
	if (view_bills(session) || view_scopes_exist(session))
		string_addf(&notes, "beside 1\n");
	if (session->books.text) {
		string_addf(&notes, "books %zu:", session->books.bytes);
		string_add_bytes(&notes, session->books.text, session->books.bytes);
		string_add(&notes, "\n");
	}
	return string_take(&notes);
}

/* struct reading - @at: the next byte of the notes. @is_bad: they are not as they were written */
struct reading {
	const char *at, *end;
	bool is_bad;
};

static bool begins(struct reading *notes, const char *word)
{
	size_t length = strlen(word);

	if ((size_t)(notes->end - notes->at) < length || memcmp(notes->at, word, length) != 0)
		return false;
	notes->at += length;
	return true;
}

/* A number, and the byte after it. */
static uint64_t number(struct reading *notes, char after)
{
	uint64_t value = 0;
	const char *begin = notes->at;

	for (; notes->at < notes->end && *notes->at >= '0' && *notes->at <= '9'; notes->at++)
		value = value * 10 + (uint64_t)(*notes->at - '0');
	notes->is_bad |= notes->at == begin || notes->at == notes->end || *notes->at != after;
	notes->at += !notes->is_bad;
	return value;
}

static void read_answer(struct view_session *session, struct reading *notes)
{
	struct answer_choice *answer = &session->answer.is;
	uint64_t index = number(notes, '\n');
	struct trace_row row;

	notes->is_bad |= answer->nr == ANSWER_THREADS || index > UINT32_MAX;
	if (!notes->is_bad &&
	    trace_view_get_row(session->view, (struct trace_row_id){TRACE_ROW_THREAD, (uint32_t)index}, &row))
		answer->threads[answer->nr++] = row.thread;
}

static void read_time(struct view_session *session, struct reading *notes)
{
	session->answer.is.from_ns = number(notes, ' ');
	session->answer.is.to_ns = number(notes, ' ');
	session->answer.is.of_command = number(notes, '\n');
}

/* The sentence before the verdict. */
static void read_before(struct view_session *session, struct reading *notes)
{
	uint64_t length = number(notes, ':');

	notes->is_bad |= length >= (uint64_t)(notes->end - notes->at) || notes->at[length] != '\n';
	if (notes->is_bad)
		return;
	string_add_bytes(&session->answer.is.before, notes->at, (size_t)length);
	notes->at += length + 1;
}

/* A text after its number of bytes, and the end of the line; owned by the caller, or NULL. */
static char *counted_text(struct reading *notes)
{
	uint64_t bytes = number(notes, ':');
	char *text;

	notes->is_bad |= bytes >= (uint64_t)(notes->end - notes->at) || notes->at[bytes] != '\n';
	if (notes->is_bad)
		return NULL;
	text = memory_copy(notes->at, bytes);
	notes->at += bytes + 1;
	return text;
}

/* Where a thread of the answer used the CPUs, or with @of_wait where it waited. */
static void read_function(struct view_session *session, struct reading *notes, bool of_wait)
{
	char *key = of_wait ? counted_text(notes) : NULL;
	uint64_t index = of_wait ? 0 : number(notes, '\n');
	struct wait_place place = {.ns = number(notes, ' ')};
	struct trace_row row = {0};
	char *name, *woken_in;

	place.of_ns = number(notes, ' ');
	name = counted_text(notes);
	place.function = name;
	place.woken_in_ns = of_wait ? number(notes, ' ') : 0;
	woken_in = of_wait ? counted_text(notes) : NULL;
	place.woken_in = woken_in;
	notes->is_bad |= index > UINT32_MAX;
	if (!notes->is_bad && of_wait)
		view_functions_add_wait(session, key, &place);
	else if (!notes->is_bad &&
		 trace_view_get_row(session->view, (struct trace_row_id){TRACE_ROW_THREAD, (uint32_t)index}, &row))
		view_functions_add(session, row.thread, &place);
	free(key);
	free(name);
	free(woken_in);
}

static void read_client(struct view_session *session, struct reading *notes)
{
	struct report *report = &session->report;
	struct only_client client = {0};
	uint64_t length;

	client.server = trace_get_process(report->analysis, number(notes, ' '));
	client.process = trace_get_process(report->analysis, number(notes, ' '));
	client.pid = (uint32_t)number(notes, ' ');
	length = number(notes, ':');
	if (notes->is_bad || length >= (uint64_t)(notes->end - notes->at)) {
		notes->is_bad = true;
		return;
	}
	client.name = memory_copy(notes->at, length);
	notes->at += length + 1;
	session->clients = memory_grow(session->clients, report->nr_only_clients, &session->clients_room,
				       sizeof(*session->clients));
	session->clients[report->nr_only_clients++] = client;
	report->only_clients = session->clients;
}

static void read_command(struct report_command *command, struct reading *notes)
{
	command->process = trace_get_process(command->analysis, number(notes, ' '));
	command->exec_ns = number(notes, ' ');
	command->is_sure = number(notes, '\n');
}

/* The notes live as long as the view. */
static void read_books(struct view_session *session, struct reading *notes)
{
	uint64_t bytes = number(notes, ':');

	notes->is_bad |= bytes >= (uint64_t)(notes->end - notes->at) || notes->at[bytes] != '\n';
	if (notes->is_bad)
		return;
	session->books = (struct view_whole_books){.text = notes->at, .bytes = (size_t)bytes};
	notes->at += bytes + 1;
}

static bool read_notes(struct view_session *session)
{
	size_t nr;
	const char *text = trace_view_notes(session->view, &nr);
	struct reading notes = {.at = text, .end = text + nr};

	session->answer.is_made = true;
	if (!saved_for_get(session->report.trace, &session->answer.is.saved))
		session->answer.is.saved.text = NULL;
	notes.is_bad = !begins(&notes, "program ") || !begins(&notes, program_version()) || !begins(&notes, "\n");
	while (notes.at < notes.end && !notes.is_bad) {
		if (begins(&notes, "answer "))
			read_answer(session, &notes);
		else if (begins(&notes, "time "))
			read_time(session, &notes);
		else if (begins(&notes, "before "))
			read_before(session, &notes);
		else if (begins(&notes, "function "))
			read_function(session, &notes, false);
		else if (begins(&notes, "wait "))
			read_function(session, &notes, true);
		else if (begins(&notes, "command "))
			read_command(&session->report.command, &notes);
		else if (begins(&notes, "client "))
			read_client(session, &notes);
		else if (begins(&notes, "books "))
			read_books(session, &notes);
		else if (begins(&notes, "beside 1\n"))
			session->is_billed = false; /* there are bills or scopes, for which a pass is made */
		else
			notes.is_bad = true;
	}
	return !notes.is_bad;
}

/* ---- the file ---- */

/*
 * A new pass finds the same as an index that cannot be used, but it takes long, and the disk or the
 * memory may fail. An index that is missing, or of another trace or program, is usual.
 */
static void say_unusable(const char *path, int code)
{
	struct trace_error error;
	char cause[128];

	if (!code || code == -ENOENT || code == -ESTALE)
		return;
	snprintf(cause, sizeof(cause), "cannot be read (%s)", strerror(-code));
	error_set(&error, code, "%s %s: the trace itself is read instead, which takes longer", path,
		  code == -EBADMSG  ? "is damaged"
		  : code == -ENOMEM ? "is not used (out of memory)"
				    : cause);
	complain_of_error(&error);
}

/* The view of the index at @path; NULL: there is none that fits. */
static struct trace_view *open_index(const struct trace *trace, const char *path, struct trace_analysis **ret_analysis)
{
	struct trace_error error = {0};
	struct trace_view *view;
	int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0) {
		say_unusable(path, -errno);
		return NULL;
	}
	view = trace_view_open_file(trace, fd, ret_analysis, &error);
	close(fd);
	if (!view)
		say_unusable(path, error.code);
	return view;
}

bool view_store_begin(struct view_session *session, const struct trace *trace, const struct visualizer_options *options,
		      const char *path)
{
	struct trace_analysis *analysis = NULL;
	struct trace_view *view = open_index(trace, path, &analysis);

	if (!view)
		return false;
	view_session_of_index(session, trace, options, view, analysis);
	if (read_notes(session))
		return true;
	say_unusable(path, -EBADMSG);
	view_session_end(session);
	return false;
}

static mode_t mode_of(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 ? info.st_mode & 0666 : 0600;
}

bool view_store_write(const struct view_session *session, const char *notes, const char *path)
{
	const char *trace = trace_get_info(session->report.trace)->file;
	struct whole_file file;
	bool is_good;

	if (whole_file_open(&file, path) < 0)
		return false;
	is_good = fchmod(fileno(file.out), mode_of(trace)) == 0 &&
		  trace_view_save_file(session->view, notes, strlen(notes), fileno(file.out), NULL) == 0;
	return whole_file_close(&file, is_good) == 0 && is_good;
}
