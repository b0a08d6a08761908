/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "waiting_line.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include "clock.h"
#include "progress_line.h"

#define SECOND_NS  1000000000ull
#define REFRESH_NS (SECOND_NS / 4)

/*
 * One line of the process. @has_ended: under the mutex. The others are written by the main thread
 * while no thread shows the line; the main thread shows no other line meanwhile.
 */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t changed;
	pthread_t thread;
	const char *program, *what;
	uint64_t begin_ns, after_ns;
	bool is_running, has_ended;
} line = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void show(uint64_t now_ns)
{
	char text[160];

	snprintf(text, sizeof(text), "%s: %s, %llu s", line.program, line.what,
		 (unsigned long long)((now_ns - line.begin_ns) / SECOND_NS));
	progress_line_show(text);
}

static void *show_until_end(void *unused)
{
	uint64_t next_ns = line.begin_ns + line.after_ns;

	pthread_mutex_lock(&line.mutex);
	while (!line.has_ended) {
		struct timespec next = {(time_t)(next_ns / SECOND_NS), (long)(next_ns % SECOND_NS)};

		if (pthread_cond_timedwait(&line.changed, &line.mutex, &next) == 0 || line.has_ended)
			continue;
		show(clock_now());
		next_ns = clock_now() + REFRESH_NS;
	}
	pthread_mutex_unlock(&line.mutex);
	return NULL;
}

/* The thread takes no signal: those of the program are for its main thread. */
static bool start(void)
{
	pthread_condattr_t clock;
	sigset_t all, old;
	bool is_started;

	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&line.changed, &clock);
	pthread_condattr_destroy(&clock);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	is_started = pthread_create(&line.thread, NULL, show_until_end, NULL) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (!is_started)
		pthread_cond_destroy(&line.changed);
	return is_started;
}

void waiting_line_begin(const char *program, const char *what)
{
	waiting_line_end();
	if (!progress_line_is_possible())
		return;
	line.program = program;
	line.what = what;
	line.begin_ns = clock_now();
	line.after_ns = progress_line_after_ns();
	line.has_ended = false;
	line.is_running = start();
}

void waiting_line_end(void)
{
	if (!line.is_running)
		return;
	pthread_mutex_lock(&line.mutex);
	line.has_ended = true;
	pthread_cond_signal(&line.changed);
	pthread_mutex_unlock(&line.mutex);
	pthread_join(line.thread, NULL);
	pthread_cond_destroy(&line.changed);
	line.is_running = false;
	progress_line_erase();
}
