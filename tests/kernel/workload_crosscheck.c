/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_crosscheck.c - fifty processes at once that report the kernel's accounting of
 * themselves, for test_e2e_crosscheck.c.
 *
 * 	workload_crosscheck TRUTH-FILE SCRATCH-FOLDER
 *
 * Truth: lines "process.key value" for processes 0 to 49, and "process.thread.key value" for their
 * threads (0: the main thread):
 *
 *   kind                   its work: an index of kinds[]
 *   pid, tid
 *   from_ns, to_ns         CLOCK_MONOTONIC where the thread began its work, and where it read the
 *   clocks below at the end
 *   from_delay_ns          /proc/thread-self/schedstat, run delay, at from_ns
 *   cpu_ns                 CLOCK_THREAD_CPUTIME_ID at to_ns
 *   run_ns, delay_ns       /proc/thread-self/schedstat at to_ns
 *   process_cpu_ns         CLOCK_PROCESS_CPUTIME_ID at to_ns, main thread
 *   rusage_ns              getrusage() at to_ns, main thread
 *   end_ns                 CLOCK_MONOTONIC, the main thread's last action
 *   all_cpu_ns             the process's CPU clock after its death, including its exit: the parent
 *   reads it before it reaps
 *   all_run_ns, all_delay_ns   the same of schedstat, which for a dead process covers its main
 *   thread only
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "spend.h"

#define NR_PROCESSES 50
#define NR_THREADS   4 /* at most, including the main thread */

struct thread_truth {
	long long tid, from_ns, to_ns, from_delay_ns, cpu_ns, run_ns, delay_ns;
};
struct process_truth {
	struct thread_truth threads[NR_THREADS];
	int nr_threads;
	long long pid, process_cpu_ns, rusage_ns, end_ns, all_cpu_ns, all_run_ns, all_delay_ns;
};

static struct process_truth *truths; /* shared with the children */
static const char *scratch;
static int gate[2];

static void read_schedstat(const char *path, long long *ret_run_ns, long long *ret_delay_ns)
{
	FILE *file = fopen(path, "r");

	if (!file || fscanf(file, "%lld %lld", ret_run_ns, ret_delay_ns) != 2)
		*ret_run_ns = *ret_delay_ns = -1;
	if (file)
		fclose(file);
}

static void thread_begins(struct thread_truth *truth)
{
	long long run_ns;

	truth->tid = syscall(SYS_gettid);
	read_schedstat("/proc/thread-self/schedstat", &run_ns, &truth->from_delay_ns);
	truth->from_ns = clock_ns(CLOCK_MONOTONIC);
}

/* Clocks that are compared are read again if too much time passed between the readings: 20 times at
 * most. */
#define TOGETHER_NS 500000

/* Reading the thread's clock makes the kernel update the run time in schedstat. */
static void thread_ends(struct thread_truth *truth)
{
	for (int i = 0; i < 20; i++) {
		truth->cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
		truth->to_ns = clock_ns(CLOCK_MONOTONIC);
		read_schedstat("/proc/thread-self/schedstat", &truth->run_ns, &truth->delay_ns);
		if (clock_ns(CLOCK_MONOTONIC) - truth->to_ns < TOGETHER_NS)
			return;
	}
}

/* ---- their work ---- */

static void write_a_file(int nr, int nr_writes)
{
	static char block[16384];
	char path[512];
	int fd;

	snprintf(path, sizeof(path), "%s/file%d", scratch, nr);
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
	for (int i = 0; i < nr_writes; i++)
		if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
			exit(1);
	fsync(fd);
	close(fd);
	unlink(path);
}

static void compute(int nr)
{
	spin_cpu_ns(60 * MS + nr * MS / 10);
}

static void sleep_often(int nr)
{
	for (int i = 0; i < 60; i++) {
		spin_cpu_ns(MS / 2);
		sleep_ns(2 * MS + nr * 10000);
	}
}

static int pipes[NR_PROCESSES][2]; /* process n reads from pipes[n] */
static int partners[NR_PROCESSES];

/* Passes messages back and forth with another process of this kind. */
static void talk(int nr)
{
	int other = partners[nr];
	char byte = 'x';

	for (int i = 0; i < 1000; i++) {
		if (nr < other && write(pipes[other][1], &byte, 1) != 1)
			exit(1);
		if (read(pipes[nr][0], &byte, 1) != 1)
			exit(1);
		if (i % 50 == 0)
			spin_cpu_ns(MS);
		if (nr > other && write(pipes[other][1], &byte, 1) != 1)
			exit(1);
	}
}

static void write_files(int nr)
{
	for (int i = 0; i < 4; i++) {
		write_a_file(nr, 100);
		spin_cpu_ns(3 * MS);
	}
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *thread_main(void *context)
{
	struct thread_truth *truth = context;

	thread_begins(truth);
	for (int i = 0; i < 10; i++) {
		pthread_mutex_lock(&lock);
		spin_cpu_ns(MS);
		pthread_mutex_unlock(&lock);
		spin_cpu_ns(MS / 2);
		if (i % 3 == 0)
			sleep_ns(MS);
	}
	thread_ends(truth);
	return NULL;
}

static void run_threads(int nr)
{
	struct process_truth *truth = &truths[nr];
	pthread_t threads[NR_THREADS];

	truth->nr_threads = NR_THREADS;
	for (int i = 1; i < NR_THREADS; i++)
		pthread_create(&threads[i], NULL, thread_main, &truth->threads[i]);
	for (int i = 1; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void mix(int nr)
{
	size_t bytes = 4 << 20;

	for (int i = 0; i < 5; i++) {
		char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		for (size_t at = 0; at < bytes; at += 4096)
			memory[at] = 1;
		munmap(memory, bytes);
		for (int j = 0; j < 3000; j++)
			syscall(SYS_getppid);
		write_a_file(nr, 10);
		sleep_ns(MS);
		spin_cpu_ns(2 * MS);
		sched_yield();
	}
}

static void (*const kinds[])(int) = {compute, sleep_often, talk, write_files, run_threads, mix};
#define NR_KINDS ((int)(sizeof(kinds) / sizeof(kinds[0])))
#define TALK	 2

/* ---- all processes ---- */

static long long rusage_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000ll +
	       (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000ll;
}

static void child_main(int nr)
{
	struct process_truth *truth = &truths[nr];
	char byte;

	truth->pid = getpid();
	truth->nr_threads = 1;
	close(gate[1]);
	if (read(gate[0], &byte, 1) != 0) /* until the parent has closed its end */
		_exit(1);
	thread_begins(&truth->threads[0]);
	kinds[nr % NR_KINDS](nr);
	for (int i = 0; i < 20; i++) {
		truth->process_cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
		truth->rusage_ns = rusage_ns();
		thread_ends(&truth->threads[0]);
		if (clock_ns(CLOCK_PROCESS_CPUTIME_ID) - truth->process_cpu_ns < TOGETHER_NS)
			break;
	}
	truth->end_ns = clock_ns(CLOCK_MONOTONIC);
	_exit(0);
}

static void write_truth(FILE *file, int process, int thread, const char *key, long long value)
{
	if (thread < 0)
		fprintf(file, "%d.%s %lld\n", process, key, value);
	else
		fprintf(file, "%d.%d.%s %lld\n", process, thread, key, value);
}

static void write_truth_of_process(FILE *file, int nr)
{
	const struct process_truth *truth = &truths[nr];

	write_truth(file, nr, -1, "kind", nr % NR_KINDS);
	write_truth(file, nr, -1, "pid", truth->pid);
	write_truth(file, nr, -1, "threads", truth->nr_threads);
	write_truth(file, nr, -1, "process_cpu_ns", truth->process_cpu_ns);
	write_truth(file, nr, -1, "rusage_ns", truth->rusage_ns);
	write_truth(file, nr, -1, "end_ns", truth->end_ns);
	write_truth(file, nr, -1, "all_cpu_ns", truth->all_cpu_ns);
	write_truth(file, nr, -1, "all_run_ns", truth->all_run_ns);
	write_truth(file, nr, -1, "all_delay_ns", truth->all_delay_ns);
	for (int i = 0; i < truth->nr_threads; i++) {
		const struct thread_truth *thread = &truth->threads[i];

		write_truth(file, nr, i, "tid", thread->tid);
		write_truth(file, nr, i, "from_ns", thread->from_ns);
		write_truth(file, nr, i, "to_ns", thread->to_ns);
		write_truth(file, nr, i, "from_delay_ns", thread->from_delay_ns);
		write_truth(file, nr, i, "cpu_ns", thread->cpu_ns);
		write_truth(file, nr, i, "run_ns", thread->run_ns);
		write_truth(file, nr, i, "delay_ns", thread->delay_ns);
	}
}

/* The total of a process that is dead and not reaped. */
static void read_the_dead(struct process_truth *truth)
{
	clockid_t clock;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%lld/schedstat", truth->pid);
	read_schedstat(path, &truth->all_run_ns, &truth->all_delay_ns);
	truth->all_cpu_ns = clock_getcpuclockid((pid_t)truth->pid, &clock) ? -1 : clock_ns(clock);
}

static void pair_the_talkers(void)
{
	int waiting = -1;

	for (int i = TALK; i < NR_PROCESSES; i += NR_KINDS) {
		if (pipe2(pipes[i], O_CLOEXEC))
			exit(1);
		if (waiting >= 0) {
			partners[i] = waiting;
			partners[waiting] = i;
			waiting = -1;
		} else {
			waiting = i;
		}
	}
	if (waiting >= 0)
		exit(1); /* one too many */
}

int main(int argc, char **argv)
{
	pid_t children[NR_PROCESSES];
	siginfo_t info;
	FILE *file;

	if (argc != 3) {
		fprintf(stderr, "usage: workload_crosscheck TRUTH-FILE SCRATCH-FOLDER\n");
		return 2;
	}
	scratch = argv[2];
	truths = mmap(NULL, sizeof(*truths) * NR_PROCESSES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (truths == MAP_FAILED || pipe(gate))
		return 1;
	pair_the_talkers();
	for (int i = 0; i < NR_PROCESSES; i++) {
		children[i] = fork();
		if (children[i] == 0)
			child_main(i);
	}
	close(gate[1]);
	for (int i = 0; i < NR_PROCESSES; i++)
		waitid(P_PID, (id_t)children[i], &info, WEXITED | WNOWAIT);
	sleep_ns(20 * MS); /* the last one may still be leaving the CPU */
	for (int i = 0; i < NR_PROCESSES; i++)
		read_the_dead(&truths[i]);
	for (int i = 0; i < NR_PROCESSES; i++)
		if (waitpid(children[i], &info.si_status, 0) != children[i] || info.si_status)
			return 1;
	file = fopen(argv[1], "w");
	if (!file)
		return 1;
	for (int i = 0; i < NR_PROCESSES; i++)
		write_truth_of_process(file, i);
	return fclose(file) ? 1 : 0;
}
