/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * engine_asks.c - engine_asks TRACE [FROM TO]: answers the questions on stdin, one in each line, as
 * the view does; each answer after a line with its number of bytes. FROM and TO are those of --from
 * and --to. With MANY=N in place of a trace's name it writes a trace of N processes to stdout, each
 * with a call and a wait, and with STORY=N random story N: every third one is not finished, every
 * fourth one damaged.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "image.h"
#include "random_story.h"
#include "view_session.h"

static int write_story(uint64_t seed)
{
	struct mood mood = {.noise = (uint32_t)(seed % 3 * 10),
			    .nr_tids = seed % 5 ? 12 : 60,
			    .switches = 25,
			    .sleeps = 50,
			    .losses = seed & 1,
			    .cuts = 1,
			    .nr_events = 3000,
			    .streams = seed % 3 == 0,
			    .masks = seed % 7 == 1,
			    .moves = seed & 2,
			    .programs = seed & 1};
	struct tb *tb = random_story(seed, &mood);
	struct image image = image_new(tb, seed % 3 != 2);

	for (size_t i = 1; seed % 4 == 3 && image_spoil(&image, TRACE_CHUNK_EVENTS, i); i += 5)
		;
	fwrite(image.data, 1, image.bytes, stdout);
	image_free(&image);
	tb_free(tb);
	return 0;
}

static int write_many(uint32_t nr)
{
	struct tb *tb = tb_new();
	struct image image;

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t ns = 1000 + i * UINT64_C(1000);
		uint32_t tid = 100 + i;

		tb_thread(tb, tid, tid, 1, "one", 0, false);
		tb_switch(tb, 0, ns, 0, tid, TRACE_TASK_RUNNING);
		tb_sys_enter(tb, 0, ns + 100, i % 2 ? SYS_read : SYS_poll, 3);
		tb_switch(tb, 0, ns + 300, tid, 0, TRACE_TASK_INTERRUPTIBLE);
		tb_waking(tb, 0, ns + 400, tid, TRACE_CONTEXT_TASK);
		tb_switch(tb, 0, ns + 500, 0, tid, TRACE_TASK_RUNNING);
		tb_sys_exit(tb, 0, ns + 600, 1);
		tb_switch(tb, 0, ns + 700 + i % 200, tid, 0, TRACE_TASK_INTERRUPTIBLE);
	}
	image = image_new(tb, true);
	fwrite(image.data, 1, image.bytes, stdout);
	image_free(&image);
	tb_free(tb);
	return 0;
}

/* Both passes; false after a message. */
static bool session_complete(struct view_session *session)
{
	int result = 0;

	while (result == 0)
		result = view_session_step(session, 1, 1);
	return result == 1;
}

static int answer_all(const struct trace *trace, char **window)
{
	static struct visualizer_options options = {
		.reports.view = true, .events.cpu = -1, .processes.pid = -1, .processes.tid = -1};
	static struct view_session session;
	char line[4096];

	if (window &&
	    (time_choice_from(&options.window, window[0], NULL) || time_choice_to(&options.window, window[1], NULL)))
		return 2;
	if (view_session_begin(&session, trace, &options) || !session_complete(&session))
		return 1;
	while (fgets(line, sizeof(line), stdin)) {
		struct view_answer answer;

		line[strcspn(line, "\n")] = 0;
		answer = view_answer(&session, line);
		printf("%zu\n", answer.size);
		fwrite(answer.bytes, 1, answer.size, stdout);
		fflush(stdout);
		free(answer.bytes);
	}
	view_session_end(&session);
	return 0;
}

int main(int argc, char **argv)
{
	struct trace_error error = {0};
	struct trace *trace;
	int result;

	if (argc == 2 && strncmp(argv[1], "STORY=", 6) == 0)
		return write_story(strtoull(argv[1] + 6, NULL, 10));
	if (argc == 2 && strncmp(argv[1], "MANY=", 5) == 0)
		return write_many((uint32_t)strtoul(argv[1] + 5, NULL, 10));
	trace = argc == 2 || argc == 4 ? trace_open(argv[1], &error) : NULL;
	if (!trace) {
		fprintf(stderr, "%s\n",
			*error.message ? error.message : "usage: engine_asks TRACE [FROM TO]|STORY=N|MANY=N");
		return 1;
	}
	result = answer_all(trace, argc == 4 ? argv + 2 : NULL);
	trace_close(trace);
	return result;
}
