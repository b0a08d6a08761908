/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "clock.h"
#include "control.h"
#include "format_text.h"

/**
 * struct keeper - the flight recorder
 * @source: what a save reads
 * @epoll_fd: readable when the running save is done
 * @save: the running save; owned; NULL: none
 * @file_fd, @client_fd: of that save; owned
 */
struct keeper {
	struct keep *keep; /* owned */
	struct keep_options options;
	struct keep_source source;
	int epoll_fd;
	struct keep_save *save;
	int file_fd;
	int client_fd;
};

struct keeper *keeper_new(const struct keep_options *options, struct trace_error *ret_error)
{
	struct keeper *keeper = calloc(1, sizeof(*keeper));
	struct keep *keep = keep_new(options);
	int fd = epoll_create1(EPOLL_CLOEXEC);

	if (!keeper || !keep || fd < 0) {
		error_set(ret_error, fd < 0 ? -errno : -ENOMEM, "no memory for a flight recorder");
		if (fd >= 0)
			close(fd);
		keep_free(keep);
		free(keeper);
		return NULL;
	}
	*keeper = (struct keeper){.keep = keep, .options = *options, .epoll_fd = fd, .file_fd = -1, .client_fd = -1};
	return keeper;
}

struct keeper *keeper_free(struct keeper *keeper)
{
	if (!keeper)
		return NULL;
	keeper_finish(keeper);
	close(keeper->epoll_fd);
	keep_free(keeper->keep);
	free(keeper);
	return NULL;
}

struct keep *keeper_keep(struct keeper *keeper)
{
	return keeper->keep;
}

void keeper_begin(struct keeper *keeper, const struct keep_source *source)
{
	keeper->source = *source;
	keeper->source.keep = keeper->keep;
	keep_begin(keeper->keep, recording_start_ns(source->recording));
}

int keeper_fd(const struct keeper *keeper)
{
	return keeper->epoll_fd;
}

/* ---- saves ---- */

static void answer_client(struct keeper *keeper, int err, const struct keep_saved *saved,
			  const struct trace_error *error)
{
	char text[CONTROL_ANSWER_BYTES / 2];

	if (err)
		snprintf(text, sizeof(text), "%s", error->message);
	else
		snprintf(text, sizeof(text), "%s, %s; the last %s\n", text_events(saved->events).s,
			 text_bytes(saved->file_bytes).s, text_seconds(saved->held_ns).s);
	control_answer(keeper->client_fd, err, text);
	close(keeper->client_fd);
	keeper->client_fd = -1;
}

void keeper_finish(struct keeper *keeper)
{
	struct keep_saved saved;
	struct trace_error error = {0};
	int err;

	if (!keeper || !keeper->save)
		return;
	epoll_ctl(keeper->epoll_fd, EPOLL_CTL_DEL, keep_save_fd(keeper->save), NULL);
	err = keep_save_end(keeper->save, &saved, &error);
	keeper->save = NULL;
	close(keeper->file_fd);
	keeper->file_fd = -1;
	answer_client(keeper, err, &saved, &error);
}

void keeper_dispatch(struct keeper *keeper)
{
	if (keeper->save && keep_save_is_done(keeper->save))
		keeper_finish(keeper);
}

static int begin_save(struct keeper *keeper, struct trace_error *ret_error)
{
	struct epoll_event event = {.events = EPOLLIN};

	keeper->save = keep_save_begin(&keeper->source, keeper->file_fd, ret_error);
	if (!keeper->save)
		return ret_error->code;
	if (epoll_ctl(keeper->epoll_fd, EPOLL_CTL_ADD, keep_save_fd(keeper->save), &event) < 0)
		keeper_finish(keeper); /* without waiting for it in the loop */
	return 0;
}

int keeper_save_for_client(struct keeper *keeper, int file_fd, int client_fd, struct trace_error *ret_error)
{
	int err;

	if (keeper->save)
		return error_set(ret_error, -EBUSY, "another save is being written; try again");
	keeper->file_fd = fcntl(file_fd, F_DUPFD_CLOEXEC, 0);
	if (keeper->file_fd < 0)
		return error_set(ret_error, -errno, "the daemon has no free file descriptor for the file; try again");
	keeper->client_fd = client_fd;
	err = begin_save(keeper, ret_error);
	if (err) {
		keeper->client_fd = -1;
		close(keeper->file_fd);
		keeper->file_fd = -1;
	}
	return err;
}

void keeper_reset(struct keeper *keeper)
{
	keep_reset(keeper->keep, clock_now());
}

/* ---- status ---- */

size_t keeper_print(struct keeper *keeper, char *text, size_t size)
{
	struct keep_status status;
	uint64_t now_ns = clock_now();

	keep_get_status(keeper->keep, &status);
	return (size_t)snprintf(text, size, "Kept: the last %s (--keep=%s), %s of at most %s%s\n",
				text_seconds(now_ns > status.since_ns ? now_ns - status.since_ns : 0).s,
				text_seconds(keeper->options.keep_ns).s, text_bytes(status.bytes).s,
				text_bytes(keeper->options.max_bytes).s,
				status.is_short ? "; the limit of memory is too low for more" : "");
}
