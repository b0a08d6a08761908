/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "control_client.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <trace/reader.h>
#include <unistd.h>

#include "control.h"
#include "message.h"
#include "output_file.h"
#include "format_text.h"

static int ask(const char *control_path, const char *line, int file_fd, char *answer)
{
	struct trace_error error;
	int err;

	message_waiting("waiting for the daemon");
	err = control_ask(control_path, line, file_fd, answer, &error);
	message_waiting_end();
	if (err) {
		message_error("%s", error.message);
		return 1;
	}
	return 0;
}

int control_client_ask(const char *control_path, const char *line)
{
	char answer[CONTROL_ANSWER_BYTES];

	if (ask(control_path, line, -1, answer))
		return 1;
	fputs(answer, stdout);
	return 0;
}

/* ---- a snapshot ---- */

/* Copies all of @from. @to may be non-blocking with a slow reader. */
static int copy(int from, int to, off_t *ret_done, off_t *ret_all)
{
	off_t all = lseek(from, 0, SEEK_END), done = 0;
	char bytes[65536];
	ssize_t got, put;

	while ((got = pread(from, bytes, sizeof(bytes), done)) > 0) {
		put = write(to, bytes, (size_t)got);
		if (put < 0 && errno == EAGAIN)
			poll(&(struct pollfd){.fd = to, .events = POLLOUT}, 1, -1);
		else if (put < 0 && errno != EINTR)
			break;
		done += put > 0 ? put : 0;
	}
	*ret_done = done;
	*ret_all = all;
	return got == 0 ? 0 : -errno;
}

static int copy_out(int memory, const struct output_target *output)
{
	off_t done, all;
	int err;

	signal(SIGPIPE, SIG_IGN); /* report the error instead of dying of it */
	err = copy(memory, output->fd, &done, &all);
	if (err == -EPIPE)
		message_error("%s: the reader closed before the end of the snapshot: %s of %s were written",
			      output->path, text_bytes((uint64_t)done).s, text_bytes((uint64_t)all).s);
	else if (err)
		message_error("%s: cannot write the snapshot at offset %lld: %s", output->path, (long long)done,
			      strerror(-err));
	return err;
}

/*
 * This process creates the file, with the permissions of its user, and passes it open: so the
 * daemon follows no path of a client. A pipe may accept only a part at once, and the daemon cannot
 * wait for its reader. For output that is no regular file, the daemon therefore writes to a memfd
 * of this process, which then copies it out.
 */
static int ask_for_snapshot(const char *control_path, const struct output_target *output, char *answer)
{
	struct trace_error error;
	struct stat status;
	int memory, err;

	if (fstat(output->fd, &status) == 0 && S_ISREG(status.st_mode)) {
		message_waiting("waiting for the daemon, which saves");
		err = control_ask(control_path, "dump", output->fd, answer, &error);
		message_waiting_end();
		if (err)
			message_error("%s: %s", output->path, error.message);
		return err;
	}
	memory = memfd_create("snapshot", MFD_CLOEXEC);
	if (memory < 0) {
		message_error("no memory for the snapshot: %s", strerror(errno));
		return 1;
	}
	err = ask(control_path, "dump", memory, answer) || copy_out(memory, output);
	close(memory);
	return err;
}

static int save_flight(const char *control_path, const char *path)
{
	char answer[CONTROL_ANSWER_BYTES];
	struct text default_name = text_trace_name();
	struct output_target output;
	struct trace_error error;

	if (!path)
		path = default_name.s;
	if (output_open(&output, path, OUTPUT_TRACE, &error)) {
		message_error("%s", error.message);
		return 1;
	}
	if (ask_for_snapshot(control_path, &output, answer)) {
		output_discard(&output);
		return 1;
	}
	if (output_commit(&output, &error)) {
		message_error("%s", error.message);
		output_discard(&output);
		return 1;
	}
	if (output_close(&output, &error)) {
		message_error("%s", error.message);
		return 1;
	}
	answer[strcspn(answer, "\n")] = '\0';
	message_note("%s: %s", output.path, answer);
	return 0;
}

int control_client_dump(const char *control_path, const char *path)
{
	char mode[CONTROL_ANSWER_BYTES];

	if (ask(control_path, "mode", -1, mode))
		return 1;
	if (!strcmp(mode, "flight"))
		return save_flight(control_path, path);
	if (path) {
		message_error("the daemon is not a flight recorder and writes its own file; \"tracectl dump\" without "
			      "a name brings it up to date");
		return 1;
	}
	return control_client_ask(control_path, "dump");
}

/* Appends the patterns of programs' events to the names. Returns false if there is no space. */
static bool add_patterns(const struct selection *selection, char *line, size_t size, size_t used, size_t before)
{
	for (size_t i = 0; i < selection->nr_user && used < size; i++) {
		const struct select_user *user = &selection->user[i];
		char pattern[SELECT_PATTERN_MAX];

		select_print_pattern(user, pattern, sizeof(pattern));
		used += (size_t)snprintf(line + used, size - used, "%s%s%s", used > before ? "," : "",
					 user->removes			  ? "-"
					 : selection->user[0].adds_to_all ? "+"
									  : "",
					 strcmp(pattern, "*") ? pattern : "user");
	}
	return used < size;
}

/* Sends the mask as a list of event names, because the daemon may be of another version. */
static int set_mask(const struct daemon_options *options)
{
	char line[CONTROL_REQUEST_BYTES] = "mask ";
	const struct trace_event_type *type;
	size_t used = strlen(line), before = used;

	for (size_t i = 0; i < trace_catalogue_size(); i++) {
		type = trace_catalogue_type(i);
		if (!select_has(options->selection.mask, type->id))
			continue;
		used += (size_t)snprintf(line + used, sizeof(line) - used, "%s%s", used > before ? "," : "",
					 type->name);
	}
	if (!add_patterns(&options->selection, line, sizeof(line), used, before)) {
		message_error("the list of events is too long for one request");
		return 1;
	}
	return control_client_ask(options->session.control_path, line);
}

int control_client_run(const struct daemon_options *options)
{
	const char *control_path = options->session.control_path;

	switch (options->action) {
	case ACTION_PRINT_MASK:
		return control_client_ask(control_path, "mask");
	case ACTION_SET_MASK:
		return set_mask(options);
	case ACTION_STATUS:
		return control_client_ask(control_path, "status");
	case ACTION_SNAPSHOT:
		return control_client_dump(control_path, options->output.path);
	case ACTION_STOP:
		return control_client_ask(control_path, "stop");
	default:
		return 2;
	}
}
