/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ring_file.c - write the kernel's own ring buffer to files, to measure what that costs.
 *
 *	ring_file INSTANCE DIR
 *
 * Until SIGTERM it writes INSTANCE/per_cpu/cpuN/trace_pipe_raw to DIR/ringN, for each CPU N.
 *
 * It works as trace-cmd does: a thread for each CPU splices pages of the buffer through a pipe,
 * without copying them, and the kernel wakes the thread when half of the buffer is full. The
 * threads have a higher priority than the traced programs, as our daemon has. Otherwise half of
 * the events would be overwritten before they are read.
 */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
	NICENESS = -15, /* the same as PRIORITY_DRAIN */
	PIPE_BYTES = 1 << 20,
	MAX_CPUS = 256,
};

static atomic_bool stopping;

static struct reader {
	pthread_t thread;
	int ring;
	int file;
	int pipe[2];
} readers[MAX_CPUS];

/* The handler does nothing: the signal only has to end a wait. */
static void on_signal(int signal_number)
{
}

/* The signal may come before the wait that it should end, so send it until the thread has ended. */
static void reader_end(struct reader *reader)
{
	do
		pthread_kill(reader->thread, SIGUSR1);
	while (usleep(1000), pthread_tryjoin_np(reader->thread, NULL));
}

static bool reader_begin(struct reader *reader, const char *instance, const char *directory, long cpu)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/per_cpu/cpu%ld/trace_pipe_raw", instance, cpu);
	reader->ring = open(path, O_RDONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "%s/ring%ld", directory, cpu);
	reader->file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	return reader->ring >= 0 && reader->file >= 0 && pipe2(reader->pipe, O_CLOEXEC) == 0 &&
	       fcntl(reader->pipe[1], F_SETPIPE_SZ, PIPE_BYTES) > 0;
}

/*
 * Moves the buffer's events to the file. Returns false if there are none, or if a signal ended
 * the wait.
 */
static bool reader_move(const struct reader *reader, bool waits)
{
	ssize_t moved = splice(reader->ring, NULL, reader->pipe[1], NULL, PIPE_BYTES,
			       SPLICE_F_MOVE | (waits ? 0 : SPLICE_F_NONBLOCK));

	while (moved > 0) {
		ssize_t written = splice(reader->pipe[0], NULL, reader->file, NULL, (size_t)moved, SPLICE_F_MOVE);

		if (written <= 0)
			return false;
		moved -= written;
		if (!moved)
			return true;
	}
	return false;
}

static void *reader_main(void *context)
{
	const struct reader *reader = context;

	setpriority(PRIO_PROCESS, 0, NICENESS); /* on Linux, of the thread */
	while (!stopping)
		reader_move(reader, true);
	while (reader_move(reader, false))
		;
	return NULL;
}

int main(int argc, char **argv)
{
	const struct sigaction action = {.sa_handler = on_signal};
	long nr_cpus = sysconf(_SC_NPROCESSORS_ONLN);
	sigset_t end;
	int signal_number;

	if (argc != 3 || nr_cpus > MAX_CPUS) {
		fprintf(stderr, "usage: ring_file INSTANCE DIR\n");
		return 2;
	}
	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&end);
	sigaddset(&end, SIGTERM);
	sigprocmask(SIG_BLOCK, &end, NULL);
	for (long cpu = 0; cpu < nr_cpus; cpu++)
		if (!reader_begin(&readers[cpu], argv[1], argv[2], cpu) ||
		    pthread_create(&readers[cpu].thread, NULL, reader_main, &readers[cpu])) {
			perror("ring_file");
			return 1;
		}
	puts("ready");
	fflush(stdout);
	sigwait(&end, &signal_number);
	stopping = true;
	for (long cpu = 0; cpu < nr_cpus; cpu++)
		reader_end(&readers[cpu]);
	return 0;
}
