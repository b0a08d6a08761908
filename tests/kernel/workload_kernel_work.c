/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_kernel_work.c - processes for which the kernel works outside of their calls
 *
 * "workload_kernel_work TRUTH FOLDER": each scenario is a child process, and writes its pid and
 * what it measured into TRUTH. FOLDER gets core dumps and mounts.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "spend.h"

#define MIB	 (1ul << 20)
#define BIG	 (384 * MIB)
#define PAGE	 4096ul
#define NO_HUGE	 15 /* MADV_NOHUGEPAGE */
#define POPULATE 23 /* MADV_POPULATE_WRITE */

static const char *truth, *folder;
static const char *scenario;
static volatile long long *shared; /* with the parent */
static volatile int *volatile nowhere = (volatile int *)8;

static void write_truth(const char *key, long long value)
{
	FILE *file = fopen(truth, "a");

	fprintf(file, "%s.%s %lld\n", scenario, key, value);
	fclose(file);
}

static long long computed_ns; /* the CPU time of this thread in compute() */

/* In user mode only. */
static void count_to(int n)
{
	for (volatile int i = 0; i < n; i++)
		;
}

static void compute(void)
{
	long long cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);

	count_to(20000000);
	computed_ns += clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
}

static char *filled(unsigned long bytes)
{
	char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	madvise(memory, bytes, NO_HUGE);
	madvise(memory, bytes, POPULATE); /* without page faults of the program */
	return memory;
}

/* ---- ends of processes ---- */

static void *spin(void *unused)
{
	shared[0] = now_ns();
	for (;;)
		shared[1] = now_ns();
	return unused;
}

static void threads_end(void)
{
	pthread_t thread;

	filled(BIG);
	pthread_create(&thread, NULL, spin, NULL);
	sleep_ns(30 * MS);
	_exit(0);
}

static void is_killed(void)
{
	filled(BIG);
	shared[2] = 1;
	spin(NULL);
}

static void kill_spinner(pid_t child)
{
	while (!shared[2])
		sleep_ns(MS);
	sleep_ns(20 * MS);
	kill(child, SIGKILL);
}

static void *nap(void *unused)
{
	for (;;)
		pause();
	return unused;
}

static void dumps_core(void)
{
	struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY};
	char *memory = filled(64 * MIB);
	pthread_t thread;
	long long cpu;

	setrlimit(RLIMIT_CORE, &most);
	if (chdir(folder))
		_exit(1);
	pthread_create(&thread, NULL, nap, NULL);
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	memset(memory, 1, 64 * MIB); /* pages of zeros are left out */
	shared[2] = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	sleep_ns(10 * MS);
	shared[0] = now_ns();
	*nowhere = 1;
}

/* ---- faults that end in a handler ---- */

static sigjmp_buf back;
static volatile int depth;

static void handler(int number)
{
	(void)number;
	compute();
	if (depth++ == 0)
		*nowhere = 1; /* within the handler */
	siglongjmp(back, 1);
}

static void handles_faults(void)
{
	static char stack[64 * 1024];
	stack_t other = {.ss_sp = stack, .ss_size = sizeof(stack)};
	struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK | SA_NODEFER};

	sigaltstack(&other, NULL);
	sigaction(SIGSEGV, &action, NULL);
	if (!sigsetjmp(back, 1))
		*nowhere = 1;
	compute();
	write_truth("computed_ns", computed_ns);
	write_truth("cpu_ns", clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

#define EXCEPTIONS 50

static void go_on(int number, siginfo_t *info, void *context)
{
	ucontext_t *at = context;

	if (number != SIGTRAP)
		at->uc_mcontext.gregs[REG_RIP] += 1; /* behind hlt */
}

/* A breakpoint and an instruction that is not allowed; the program computes before each. */
static void handles_exceptions(void)
{
	struct sigaction action = {.sa_sigaction = go_on, .sa_flags = SA_SIGINFO};

	sigaction(SIGTRAP, &action, NULL);
	sigaction(SIGSEGV, &action, NULL);
	for (int i = 0; i < EXCEPTIONS; i++) {
		count_to(1000000);
		__asm__ volatile("int3");
		count_to(1000000);
		__asm__ volatile("hlt");
	}
	write_truth("cpu_ns", clock_ns(CLOCK_THREAD_CPUTIME_ID));
}

#define STEPS 2000

static void is_stepped(void)
{
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	spin(NULL);
}

static void step(pid_t child)
{
	int status;

	waitpid(child, &status, 0);
	for (int i = 0; i < STEPS; i++) {
		ptrace(PTRACE_SINGLESTEP, child, NULL, NULL);
		waitpid(child, &status, 0);
	}
	kill(child, SIGKILL);
	write_truth("steps", STEPS);
}

/* ---- late releases ---- */

static void measure(void (*release)(void *), void *context)
{
	long long from = now_ns(), cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID), to;

	release(context);
	to = now_ns();
	write_truth("cpu_ns", clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu);
	write_truth("start_ns", from);
	write_truth("end_ns", to);
}

static int big_file(void)
{
	int fd = memfd_create("big", 0);

	if (fd < 0 || ftruncate(fd, BIG) || fallocate(fd, 0, 0, BIG))
		_exit(1);
	return fd;
}

static void unmap(void *memory)
{
	munmap(memory, BIG);
}

static void munmaps(void)
{
	int fd = big_file();
	void *memory = mmap(NULL, BIG, PROT_READ, MAP_SHARED, fd, 0);

	close(fd);
	measure(unmap, memory);
}

static void replace(void *fds)
{
	dup2(((int *)fds)[1], ((int *)fds)[0]);
}

static void dups(void)
{
	int fds[2] = {big_file(), open("/dev/null", O_RDONLY)};

	measure(replace, fds);
}

static void close_all(void *fd)
{
	syscall(SYS_close_range, *(int *)fd, *(int *)fd, 0);
}

static void closes_range(void)
{
	int fd = big_file();

	measure(close_all, &fd);
}

static void unmount(void *path)
{
	umount2(path, 0);
}

static void umounts(void)
{
	char path[300], name[330];
	int fd;

	snprintf(path, sizeof(path), "%s/mount", folder);
	snprintf(name, sizeof(name), "%s/data", path);
	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || mkdir(path, 0700) ||
	    mount("none", path, "tmpfs", 0, NULL))
		_exit(77);
	fd = open(name, O_RDWR | O_CREAT, 0600);
	if (fd < 0 || fallocate(fd, 0, 0, BIG))
		_exit(77);
	close(fd);
	measure(unmount, path);
}

static void replace_and_compute(void *fds)
{
	replace(fds);
	compute();
}

/* Then the kernel has no event at the end of the work. */
static void has_no_rseq(void)
{
	int fds[2] = {big_file(), open("/dev/null", O_RDONLY)};

	measure(replace_and_compute, fds);
}

static const struct {
	const char *name;
	void (*run)(void);
	void (*meanwhile)(pid_t child);
} scenarios[] = {
	{"threads_end", threads_end, NULL},
	{"is_killed", is_killed, kill_spinner},
	{"dumps_core", dumps_core, NULL},
	{"handles_faults", handles_faults, NULL},
	{"munmaps", munmaps, NULL},
	{"dups", dups, NULL},
	{"closes_range", closes_range, NULL},
	{"umounts", umounts, NULL},
	{"has_no_rseq", has_no_rseq, NULL},
	{"is_stepped", is_stepped, step},
	{"handles_exceptions", handles_exceptions, NULL},
};

static void run(size_t i, char *self)
{
	pid_t child;
	int status;

	scenario = scenarios[i].name;
	memset((void *)shared, 0, PAGE);
	child = fork();
	if (child == 0 && scenarios[i].run == has_no_rseq && !getenv("GLIBC_TUNABLES")) {
		setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
		execl(self, self, truth, folder, scenario, NULL);
	}
	if (child == 0) {
		scenarios[i].run();
		_exit(0);
	}
	if (scenarios[i].meanwhile)
		scenarios[i].meanwhile(child);
	waitpid(child, &status, 0);
	write_truth("pid", child);
	write_truth("gone_ns", now_ns());
	write_truth("status", status);
	write_truth("begun_ns", shared[0]);
	write_truth("spun_ns", shared[1] - shared[0]);
	write_truth("filled_ns", shared[2]);
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 1;
	truth = argv[1];
	folder = argv[2];
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
		if (argc == 3) {
			run(i, argv[0]);
		} else if (strcmp(argv[3], scenarios[i].name) == 0) {
			scenario = argv[3];
			scenarios[i].run();
		}
	}
	return 0;
}
