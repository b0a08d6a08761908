/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "auto_save.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "format_text.h"
#include "message.h"
#include "progress_line.h"
#include "output_file.h"

#define SUFFIX	  ".trace"
#define WAIT_NS	  100000000ull /* while another save is being written */
#define NAMES_MAX 100	       /* files of one second */

/**
 * struct auto_save - @hit: the trigger that the next file is for. @hit_realtime_ns: its time of day
 * @last_ns: of the last trigger that was taken; 0: none was
 * @nr_skipped: triggers since then. @nr_skipped_ever: in all
 * @path, @output: of the file that is being written. @reason: see auto_save_reason()
 */
struct auto_save {
	const struct auto_options *options; /* borrowed */
	int timer_fd;
	bool is_due;
	struct trigger_hit hit;
	uint64_t hit_realtime_ns;
	uint64_t last_ns;
	uint64_t nr_files;
	uint64_t nr_skipped;
	uint64_t nr_skipped_ever;
	char path[PATH_MAX];
	char reason[TRIGGER_TEXT_BYTES + 256];
	struct output_target output;
};

struct auto_save *auto_save_new(const struct auto_options *options, struct trace_error *ret_error)
{
	struct auto_save *saves = calloc(1, sizeof(*saves));

	if (!saves) {
		error_set(ret_error, -ENOMEM, "no memory for triggers");
		return NULL;
	}
	saves->options = options;
	saves->output.fd = -1;
	saves->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (saves->timer_fd < 0) {
		error_set(ret_error, -errno, "cannot make a timer for triggers: %s", strerror(errno));
		return auto_save_free(saves);
	}
	return saves;
}

struct auto_save *auto_save_free(struct auto_save *saves)
{
	if (!saves)
		return NULL;
	output_discard(&saves->output);
	if (saves->timer_fd >= 0)
		close(saves->timer_fd);
	free(saves);
	return NULL;
}

/* ---- triggers ---- */

static void set_timer(const struct auto_save *saves, uint64_t after_ns)
{
	struct itimerspec times = {
		.it_value = {.tv_sec = (time_t)(after_ns / 1000000000), .tv_nsec = (long)(after_ns % 1000000000)}};

	if (!after_ns)
		times.it_value.tv_nsec = 1; /* 0 would disarm it */
	timerfd_settime(saves->timer_fd, 0, &times, NULL);
}

void auto_save_hit(void *context, const struct trigger_hit *hit)
{
	struct auto_save *saves = context;
	struct clock_sample now = clock_take_sample();

	if (saves->is_due || saves->output.fd >= 0 || saves->nr_files >= saves->options->max_files ||
	    (saves->last_ns && now.monotonic_ns - saves->last_ns < saves->options->distance_ns)) {
		saves->nr_skipped++;
		saves->nr_skipped_ever++;
		return;
	}
	saves->hit = *hit;
	saves->hit_realtime_ns = now.realtime_ns - (now.monotonic_ns - hit->ns);
	saves->last_ns = now.monotonic_ns;
	saves->is_due = true;
	set_timer(saves, saves->options->after_ns);
}

int auto_save_fd(const struct auto_save *saves)
{
	return saves->timer_fd;
}

bool auto_save_is_due(const struct auto_save *saves)
{
	return saves->is_due;
}

void auto_save_wait(struct auto_save *saves)
{
	set_timer(saves, WAIT_NS);
}

/* ---- files ---- */

/* The path of the file that is due; @number: of the files of that second, from 1. */
static int make_path(struct auto_save *saves, int number)
{
	const char *base = saves->options->path ? saves->options->path : "trace" SUFFIX;
	size_t chars = strlen(base), suffix = strlen(SUFFIX);
	time_t seconds = (time_t)(saves->hit_realtime_ns / 1000000000);
	char when[32], more[16] = "";
	struct tm local;

	if (chars > suffix && !strcmp(base + chars - suffix, SUFFIX))
		chars -= suffix;
	strftime(when, sizeof(when), "%Y%m%d-%H%M%S", localtime_r(&seconds, &local));
	if (number > 1)
		snprintf(more, sizeof(more), "-%d", number);
	return snprintf(saves->path, sizeof(saves->path), "%.*s-%s%s" SUFFIX, (int)chars, base, when, more) <
			       (int)sizeof(saves->path)
		       ? 0
		       : -ENAMETOOLONG;
}

int auto_save_open(struct auto_save *saves, struct trace_error *ret_error)
{
	int err = 0;

	saves->is_due = false;
	for (int number = 1; !err && number <= NAMES_MAX; number++) {
		err = make_path(saves, number);
		if (err || access(saves->path, F_OK) < 0)
			break; /* no older file is replaced */
	}
	if (err)
		return error_set(ret_error, err, "the name of the trace is too long");
	err = output_open(&saves->output, saves->path, OUTPUT_TRACE, ret_error);
	return err ? err : saves->output.fd;
}

const char *auto_save_reason(struct auto_save *saves)
{
	const struct trigger_hit *hit = &saves->hit;

	snprintf(saves->reason, sizeof(saves->reason), "%u %llu %llu %s (%s)", hit->tid,
		 (unsigned long long)(hit->begin_ns ? hit->begin_ns : hit->ns), (unsigned long long)hit->ns, hit->text,
		 hit->on->text);
	return saves->reason;
}

/* "23:16:41.123" */
static struct text time_of_day(uint64_t realtime_ns)
{
	time_t seconds = (time_t)(realtime_ns / 1000000000);
	char whole[16];
	struct text text;
	struct tm local;

	strftime(whole, sizeof(whole), "%H:%M:%S", localtime_r(&seconds, &local));
	snprintf(text.s, sizeof(text.s), "%s.%03u", whole, (unsigned int)(realtime_ns / 1000000 % 1000));
	return text;
}

static void report(struct auto_save *saves, const struct keep_saved *saved)
{
	const struct trigger_hit *hit = &saves->hit;
	char skipped[80] = "", line[PATH_MAX + 512];

	if (saves->nr_skipped)
		snprintf(skipped, sizeof(skipped), "; %s more since the file before", text_count(saves->nr_skipped).s);
	snprintf(line, sizeof(line), "%s  %s: %s  (%s; %s, %s%s)", time_of_day(saves->hit_realtime_ns).s, saves->path,
		 hit->text, hit->on->text, text_seconds(saved->held_ns).s, text_bytes(saved->file_bytes).s, skipped);
	if (!saves->options->prints) {
		message_note("%s", line);
		return;
	}
	progress_line_erase();
	printf("%s\n", line);
	fflush(stdout);
}

void auto_save_close(struct auto_save *saves, const struct keep_saved *saved, const struct trace_error *error)
{
	struct trace_error failure = {0};

	if (error)
		failure = *error;
	else if (!output_commit(&saves->output, &failure))
		output_close(&saves->output, &failure);
	output_discard(&saves->output); /* if it is still open */
	if (failure.code) {
		message_warning("%s: %s", saves->path, failure.message);
		return;
	}
	saves->nr_files++;
	report(saves, saved);
	saves->nr_skipped = 0;
	if (saves->nr_files == saves->options->max_files)
		message_note("%s %s saved, and no more follow: --save-files", text_count(saves->options->max_files).s,
			     saves->options->max_files == 1 ? "file is" : "files are");
}

void auto_save_count(const struct auto_save *saves, uint64_t *ret_files, uint64_t *ret_max, uint64_t *ret_left_out)
{
	*ret_files = saves->nr_files;
	*ret_max = saves->options->max_files;
	*ret_left_out = saves->nr_skipped_ever;
}

size_t auto_save_print(const struct auto_save *saves, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "Saves by itself on:");

	for (size_t i = 0; i < saves->options->nr_on && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, " %s", saves->options->on[i].text);
	if (used < size)
		used += (size_t)snprintf(text + used, size - used, "; %s of %s files, %s triggers left out\n",
					 text_count(saves->nr_files).s, text_count(saves->options->max_files).s,
					 text_count(saves->nr_skipped_ever).s);
	return used;
}
