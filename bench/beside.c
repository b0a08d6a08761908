/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * beside CPUS COMMAND [ARG...] - measure the CPU time of a command, and the speed of the CPUs
 * meanwhile.
 *
 * On a virtual machine a CPU is faster or slower by a fifth for seconds at a time, because other
 * guests use the same core and caches. A few repetitions cannot show a difference of 1 % on such
 * a machine. So this program confines the command to CPUS CPUs, and runs a reference thread on
 * each of them. The thread repeats one small piece of work, and shares the CPU with the command
 * in time slices of some ms. Whatever slows the command slows the reference thread, too. The work
 * makes no system calls and no page faults, so tracing adds almost nothing to it.
 *
 * The program prints four numbers: the CPU ns of the command and its children, of the process that
 * started this program (the tracer), and of the reference threads; and the pieces of work that the
 * reference threads did. Its exit status is the command's.
 */
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAX_CPUS 64
/*
 * 512 KiB, the whole cache of a core here. With 128 KiB or 1 MiB, other events slowed it than
 * slowed gzip.
 */
#define WORDS (1 << 17)
#define STEPS 20000 /* in one piece of work: some 50 us */

struct reference {
	pthread_t thread;
	_Alignas(64) atomic_ullong pieces; /* only the thread writes it */
	uint32_t words[WORDS];
};

static struct reference references[MAX_CPUS];

/* One piece of work: look-ups that depend on each other, and branches that cannot be predicted. */
static uint32_t piece(uint32_t *words, uint32_t at)
{
	for (int i = 0; i < STEPS; i++) {
		uint32_t word = words[at % WORDS];

		if (word & 0x40)
			words[(at >> 3) % WORDS] = word * 2654435761u + at;
		at = at * 1664525u + (word >> 7) + 1013904223u;
	}
	return at;
}

static void confine(int first, int nr)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (int i = 0; i < nr; i++)
		CPU_SET(first + i, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void *work(void *argument)
{
	struct reference *reference = argument;
	uint32_t at = 1;

	confine((int)(reference - references), 1);
	for (int i = 0; i < WORDS; i++)
		reference->words[i] = (uint32_t)i * 2654435761u;
	for (;;) {
		at = piece(reference->words, at);
		atomic_store_explicit(&reference->pieces,
				      atomic_load_explicit(&reference->pieces, memory_order_relaxed) + 1,
				      memory_order_relaxed);
	}
	return NULL;
}

static long long now(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void read_references(int first, int nr, long long *ret_cpu_ns, long long *ret_pieces)
{
	*ret_cpu_ns = *ret_pieces = 0;
	for (int i = first; i < first + nr; i++) {
		clockid_t clock;

		pthread_getcpuclockid(references[i].thread, &clock);
		*ret_cpu_ns += now(clock);
		*ret_pieces += (long long)atomic_load_explicit(&references[i].pieces, memory_order_relaxed);
	}
}

/* Returns the CPU time of all threads of the process that started this program. */
static long long parents_cpu_ns(void)
{
	char path[300];
	long long sum = 0, ns;
	struct dirent *entry;
	DIR *threads;

	snprintf(path, sizeof(path), "/proc/%d/task", getppid());
	threads = opendir(path);
	while (threads) {
		FILE *file;

		errno = 0;
		entry = readdir(threads);
		if (!entry && errno) {
			perror("beside: the threads cannot be counted");
			exit(1);
		}
		if (!entry)
			break;

		snprintf(path, sizeof(path), "/proc/%d/task/%.20s/schedstat", getppid(), entry->d_name);
		file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
		if (file && fscanf(file, "%lld", &ns) == 1)
			sum += ns;
		if (file)
			fclose(file);
	}
	if (threads)
		closedir(threads);
	return sum;
}

static long long ns_of(struct timeval time)
{
	return time.tv_sec * 1000000000LL + time.tv_usec * 1000LL;
}

int main(int argc, char **argv)
{
	int nr = argc > 2 ? atoi(argv[1]) : 0, online = (int)sysconf(_SC_NPROCESSORS_ONLN), first = online - nr,
	    status = 1;
	long long cpu[2], pieces[2], parent[2];
	struct rusage used;
	pid_t child;

	if (nr < 1 || nr > online || online > MAX_CPUS) {
		fprintf(stderr, "usage: beside CPUS COMMAND [ARG...], 1 to %d CPUS\n",
			online < MAX_CPUS ? online : MAX_CPUS);
		return 2;
	}
	for (int i = first; i < online; i++)
		if (pthread_create(&references[i].thread, NULL, work, &references[i]))
			return 1;
	confine(first, nr);
	usleep(20000);
	parent[0] = parents_cpu_ns();
	read_references(first, nr, &cpu[0], &pieces[0]);
	child = vfork();
	if (child == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &used) < 0)
		return 1;
	read_references(first, nr, &cpu[1], &pieces[1]);
	parent[1] = parents_cpu_ns();
	printf("%lld %lld %lld %lld\n", ns_of(used.ru_utime) + ns_of(used.ru_stime), parent[1] - parent[0],
	       cpu[1] - cpu[0], pieces[1] - pieces[0]);
	fflush(stdout);
	_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}
