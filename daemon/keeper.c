/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <trace/saturate.h>
#include <unistd.h>

#include "clock.h"
#include "control.h"
#include "format_text.h"
#include "message.h"
#include "pressure.h"

#define TICK_NS 250000000ull /* how often triggers look at the events */

enum wake { WAKE_SAVE, WAKE_TICK, WAKE_DUE }; /* what wakes the keeper */

/**
 * struct keeper - the flight recorder
 * @source: what a save reads
 * @epoll_fd: readable when one of enum wake is
 * @save: the running save; owned; NULL: none
 * @file_fd, @client_fd: of a save for a client; owned; -1: the save is for a trigger
 * @saves, @marks, @triggers: owned; NULL: none are needed
 * @tick_fd: a timer, for triggers that the daemon has to look for; -1: none
 * @pressure_fds: owned; -1: the value is another one. @pressure_us: the totals at the begin
 * @lost: events of the recording, so far; @claimed: the part that only programs counted
 */
struct keeper {
	struct keep *keep; /* owned */
	struct keep_options options;
	const struct auto_options *on; /* borrowed */
	struct keep_source source;
	int epoll_fd;
	struct keep_save *save;
	int file_fd;
	int client_fd;
	struct auto_save *saves;
	struct trigger_marks *marks;
	struct triggers *triggers;
	int tick_fd;
	int pressure_fds[SAVE_ON_MAX];
	uint64_t pressure_us[SAVE_ON_MAX];
	uint64_t lost;
	uint64_t claimed;
};

struct keeper *keeper_new(const struct keep_options *options, const struct auto_options *saves,
			  struct trace_error *ret_error)
{
	struct keeper *keeper = calloc(1, sizeof(*keeper));

	if (!keeper) {
		error_set(ret_error, -ENOMEM, "no memory for a flight recorder");
		return NULL;
	}
	*keeper = (struct keeper){.options = *options, .on = saves, .file_fd = -1, .client_fd = -1, .tick_fd = -1};
	for (size_t i = 0; i < SAVE_ON_MAX; i++)
		keeper->pressure_fds[i] = -1;
	keeper->keep = keep_new(options);
	keeper->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (!keeper->keep || keeper->epoll_fd < 0) {
		error_set(ret_error, keeper->epoll_fd < 0 ? -errno : -ENOMEM, "no memory for a flight recorder");
		return keeper_free(keeper);
	}
	return keeper;
}

struct keeper *keeper_free(struct keeper *keeper)
{
	if (!keeper)
		return NULL;
	for (size_t i = 0; i < SAVE_ON_MAX; i++)
		if (keeper->pressure_fds[i] >= 0)
			close(keeper->pressure_fds[i]);
	if (keeper->tick_fd >= 0)
		close(keeper->tick_fd);
	if (keeper->epoll_fd >= 0)
		close(keeper->epoll_fd);
	triggers_free(keeper->triggers);
	trigger_marks_free(keeper->marks);
	auto_save_free(keeper->saves);
	keep_free(keeper->keep);
	free(keeper);
	return NULL;
}

struct keep *keeper_keep(struct keeper *keeper)
{
	return keeper->keep;
}

int keeper_fd(const struct keeper *keeper)
{
	return keeper->epoll_fd;
}

static int wake_on(struct keeper *keeper, int fd, enum wake wake)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = wake};

	return epoll_ctl(keeper->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
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
	close(keeper->file_fd);
	keeper->client_fd = keeper->file_fd = -1;
}

/* Waits for the running save, and reports it. */
static void complete_save(struct keeper *keeper)
{
	struct keep_saved saved;
	struct trace_error error = {0};
	int err;

	if (!keeper->save)
		return;
	epoll_ctl(keeper->epoll_fd, EPOLL_CTL_DEL, keep_save_fd(keeper->save), NULL);
	err = keep_save_end(keeper->save, &saved, &error);
	keeper->save = NULL;
	if (keeper->client_fd >= 0)
		answer_client(keeper, err, &saved, &error);
	else
		auto_save_close(keeper->saves, &saved, err ? &error : NULL);
}

static int begin_save(struct keeper *keeper, int fd, struct trace_error *ret_error)
{
	keeper->save = keep_save_begin(&keeper->source, fd, ret_error);
	if (!keeper->save)
		return ret_error->code;
	if (wake_on(keeper, keep_save_fd(keeper->save), WAKE_SAVE))
		complete_save(keeper); /* without waiting for it in the loop */
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
	err = begin_save(keeper, keeper->file_fd, ret_error);
	if (err) {
		close(keeper->file_fd);
		keeper->client_fd = keeper->file_fd = -1;
	}
	return err;
}

static void save_what_is_due(struct keeper *keeper)
{
	struct trace_error error = {0};
	struct keep_saved saved = {0};
	int fd;

	if (!auto_save_is_due(keeper->saves))
		return;
	if (keeper->save) {
		auto_save_wait(keeper->saves);
		return;
	}
	fd = auto_save_open(keeper->saves, &error);
	if (fd < 0) {
		message_warning("%s", error.message);
		return;
	}
	keeper->source.saved_for = auto_save_reason(keeper->saves);
	if (begin_save(keeper, fd, &error))
		auto_save_close(keeper->saves, &saved, &error);
	keeper->source.saved_for = NULL;
}

void keeper_finish(struct keeper *keeper)
{
	if (!keeper)
		return;
	complete_save(keeper);
	if (!keeper->saves)
		return;
	save_what_is_due(keeper);
	complete_save(keeper);
}

void keeper_reset(struct keeper *keeper)
{
	keep_reset(keeper->keep, clock_now());
}

/* ---- triggers ---- */

static const struct save_on *first_of(const struct keeper *keeper, enum save_kind kind)
{
	for (size_t i = 0; i < keeper->on->nr_on; i++)
		if (keeper->on->on[i].kind == kind)
			return &keeper->on->on[i];
	return NULL;
}

static uint64_t claimed_since(const struct keeper *keeper, const struct recording_status *status)
{
	return status->claimed > keeper->claimed ? status->claimed - keeper->claimed : 0;
}

static void look_for_losses(struct keeper *keeper)
{
	const struct save_on *on = first_of(keeper, SAVE_LOSS);
	struct recording_status status;
	struct trigger_hit hit = {.on = on, .ns = clock_now()};
	uint64_t lost;

	if (!on)
		return;
	recording_get_status(keeper->source.recording, &status);
	lost = trace_add_saturated(trace_add_saturated(status.lost, status.lost_write), status.missed);
	if (lost > keeper->lost) {
		snprintf(hit.text, sizeof(hit.text), "%s lost%s", text_events(lost - keeper->lost).s,
			 number_claimed(claimed_since(keeper, &status), true).s);
		auto_save_hit(keeper->saves, &hit);
	}
	keeper->lost = lost;
	keeper->claimed = status.claimed;
}

static void tick(struct keeper *keeper)
{
	uint64_t until_ns, expirations;

	if (read(keeper->tick_fd, &expirations, sizeof(expirations)) < 0)
		return;
	if (recording_drain_to_mark(keeper->source.recording, &until_ns) && keeper->triggers)
		triggers_run(keeper->triggers, keeper->marks, until_ns);
	look_for_losses(keeper);
}

int keeper_pressure_fd(const struct keeper *keeper, size_t idx)
{
	return keeper->pressure_fds[idx];
}

void keeper_pressure(struct keeper *keeper, int fd)
{
	const struct save_on *on = NULL;
	struct trigger_hit hit = {.ns = clock_now()};

	for (size_t i = 0; i < keeper->on->nr_on; i++)
		if (keeper->pressure_fds[i] == fd && pressure_has_grown(fd, &keeper->on->on[i], keeper->pressure_us[i]))
			on = &keeper->on->on[i];
	if (!on)
		return; /* the stalls were before the recording */
	hit.on = on;
	hit.begin_ns = hit.ns > on->window_ns ? hit.ns - on->window_ns : 0; /* the kernel counted since then */
	snprintf(hit.text, sizeof(hit.text), "%s tasks waited for %.16s for more than %s of %s",
		 on->all ? "all" : "some", on->name, text_seconds(on->over_ns).s, text_seconds(on->window_ns).s);
	auto_save_hit(keeper->saves, &hit);
}

bool keeper_signal(struct keeper *keeper, const struct signalfd_siginfo *info)
{
	bool is_known = false;

	for (size_t i = 0; i < keeper->on->nr_on; i++) {
		const struct save_on *on = &keeper->on->on[i];
		struct trigger_hit hit = {.on = on, .ns = clock_now()};

		if (on->kind != SAVE_SIGNAL || !on->to_daemon || on->signal != (int)info->ssi_signo)
			continue;
		snprintf(hit.text, sizeof(hit.text), "sent by process %u", info->ssi_pid);
		auto_save_hit(keeper->saves, &hit);
		is_known = true;
	}
	return is_known;
}

static void read_marks(void *context, const struct trace_source *source, int producer)
{
	trigger_marks_read(context, source, producer);
}

/* Triggers that are decided from events read all sub-buffers. */
static int begin_triggers(struct keeper *keeper)
{
	const struct auto_options *on = keeper->on;

	keeper->marks = trigger_marks_new(on->on, on->nr_on, recording_writer(keeper->source.recording));
	keeper->triggers = triggers_new(on->on, on->nr_on, keeper->source.tracer, auto_save_hit, keeper->saves);
	if (!keeper->marks || !keeper->triggers)
		return -ENOMEM;
	recording_watch(keeper->source.recording, read_marks, keeper->marks);
	return 0;
}

static int begin_tick(struct keeper *keeper)
{
	struct itimerspec times = {.it_value.tv_nsec = TICK_NS, .it_interval.tv_nsec = TICK_NS};

	keeper->tick_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (keeper->tick_fd < 0 || timerfd_settime(keeper->tick_fd, 0, &times, NULL) < 0)
		return -errno;
	return wake_on(keeper, keeper->tick_fd, WAKE_TICK);
}

static int begin_pressures(struct keeper *keeper, struct trace_error *ret_error)
{
	int err = 0;

	for (size_t i = 0; i < keeper->on->nr_on && !err; i++) {
		if (keeper->on->on[i].kind != SAVE_PRESSURE)
			continue;
		keeper->pressure_fds[i] = pressure_open(&keeper->on->on[i], ret_error);
		err = keeper->pressure_fds[i] < 0 ? keeper->pressure_fds[i] : 0;
		keeper->pressure_us[i] = err ? 0 : pressure_total_us(keeper->pressure_fds[i], keeper->on->on[i].all);
	}
	return err;
}

static int begin_saves(struct keeper *keeper, struct trace_error *ret_error)
{
	bool needs_events = false;
	int err;

	keeper->saves = auto_save_new(keeper->on, ret_error);
	if (!keeper->saves)
		return ret_error->code;
	for (size_t i = 0; i < keeper->on->nr_on; i++)
		needs_events |= save_on_needs_events(&keeper->on->on[i]);
	err = wake_on(keeper, auto_save_fd(keeper->saves), WAKE_DUE);
	if (!err && needs_events)
		err = begin_triggers(keeper);
	if (!err && (needs_events || first_of(keeper, SAVE_LOSS)))
		err = begin_tick(keeper);
	if (err)
		return error_set(ret_error, err, "cannot wait for triggers: %s", strerror(-err));
	return begin_pressures(keeper, ret_error);
}

int keeper_begin(struct keeper *keeper, const struct keep_source *source, struct trace_error *ret_error)
{
	keeper->source = *source;
	keeper->source.keep = keeper->keep;
	keep_begin(keeper->keep, recording_start_ns(source->recording));
	return keeper->on->nr_on ? begin_saves(keeper, ret_error) : 0;
}

static void due(struct keeper *keeper)
{
	uint64_t expirations;

	if (read(auto_save_fd(keeper->saves), &expirations, sizeof(expirations)) > 0)
		save_what_is_due(keeper);
}

void keeper_dispatch(struct keeper *keeper)
{
	struct epoll_event events[8];
	int nr = epoll_wait(keeper->epoll_fd, events, 8, 0);

	for (int i = 0; i < nr; i++) {
		uint32_t wake = events[i].data.u32;

		if (wake == WAKE_TICK)
			tick(keeper);
		else if (wake == WAKE_DUE)
			due(keeper);
		else if (keeper->save && keep_save_is_done(keeper->save))
			complete_save(keeper);
	}
}

/* ---- status ---- */

void keeper_get_cpu(struct keeper *keeper, uint32_t cpu, struct keep_status *ret_status)
{
	keep_get_cpu_status(keeper->keep, cpu, ret_status);
}

void keeper_get_status(struct keeper *keeper, struct keeper_status *ret_status)
{
	*ret_status = (struct keeper_status){.keep_ns = keeper->options.keep_ns,
					     .max_bytes = keeper->options.max_bytes,
					     .saves = keeper->saves};
	keep_get_status(keeper->keep, &ret_status->kept);
	if (keeper->saves)
		auto_save_count(keeper->saves, &ret_status->nr_files, &ret_status->max_files, &ret_status->nr_left_out);
}

size_t keeper_print(struct keeper *keeper, char *text, size_t size)
{
	struct keep_status status;
	uint64_t now_ns = clock_now();
	size_t used;

	keep_get_status(keeper->keep, &status);
	used = (size_t)snprintf(text, size, "Kept: the last %s (--keep=%s), %s of at most %s%s\n",
				text_seconds(now_ns > status.since_ns ? now_ns - status.since_ns : 0).s,
				text_seconds(keeper->options.keep_ns).s, text_bytes(status.bytes).s,
				text_bytes(keeper->options.max_bytes).s,
				status.is_short ? "; the limit of memory is too low for more" : "");
	if (keeper->saves && used < size)
		used += auto_save_print(keeper->saves, text + used, size - used);
	return used;
}
