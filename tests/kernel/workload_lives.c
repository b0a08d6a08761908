/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_lives.c - families of processes and threads that live and end in all ways of the kernel
 *
 *	workload_lives MS SEED RECORDS FOLDER
 *
 * Each process and thread has a record in the file RECORDS (lives.h). Their calls are in
 * lives_calls.c. The program adopts all that it leaves behind, and ends it.
 */
#include "workload_lives.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "lives.h"
#include "spend.h"

#define MAX_DEPTH 4
#define NOBODY	  65534
#define V2_ROOT	  "/sys/fs/cgroup/unified"
#define V1_MEMORY "/sys/fs/cgroup/memory"

struct storm storm;
static char *records;
static int depth;
static unsigned long long seed;
static _Thread_local unsigned long long random_state;

/* ---- tools ---- */

void chance_from(unsigned long long from)
{
	random_state = (from + life_index(life_mine()) * 7919ull) * 2654435761u | 1;
	chance(1);
	chance(1);
}

unsigned int chance(unsigned int n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned int)(random_state >> 16) % n;
}

void nap_us(unsigned int us)
{
	sleep_ns(us * 1000ll);
}

static void compute_us(unsigned int us)
{
	long long until = now_ns() + us * 1000ll;

	while (now_ns() < until)
		;
}

static pid_t after_fork(struct life *life, pid_t pid)
{
	if (life_made(life, pid) == 0) {
		chance_from(seed);
		depth++;
	}
	return pid;
}

pid_t fork_life(void)
{
	struct life *life = life_make(0);

	return after_fork(life, fork());
}

static pid_t clone_life(struct clone_args *arguments)
{
	struct life *life = life_make(0);

	return after_fork(life, (pid_t)syscall(SYS_clone3, arguments, sizeof(*arguments)));
}

struct thread_start {
	struct life *life;
	void *(*run)(void *);
	void *data;
};

static void *thread_main(void *data)
{
	struct thread_start start = *(struct thread_start *)data;
	void *result;

	free(data);
	life_begin(start.life);
	chance_from(seed);
	result = start.run(start.data);
	life_end();
	return result;
}

bool thread_life(void *(*run)(void *), void *data, int flags)
{
	struct thread_start *start = malloc(sizeof(*start));
	pthread_t thread;

	if (!start)
		return false;
	*start = (struct thread_start){life_make(LIFE_IS_THREAD | (uint32_t)flags), run, data};
	if (pthread_create(&thread, NULL, thread_main, start) != 0) {
		start->life->flags |= LIFE_FAILED;
		free(start);
		return false;
	}
	pthread_detach(thread);
	return true;
}

/* A child that sleeps for up to @us and exits. */
static pid_t sleeper(unsigned int us)
{
	pid_t pid = fork_life();

	if (pid == 0) {
		nap_us(chance(us) + 1);
		life_exit(0);
	}
	return pid;
}

static void reap_if_chance(pid_t pid)
{
	if (pid > 0 && chance(4))
		life_reap(pid, 0);
}

static void go_on(void);

static void maybe_go_on(void)
{
	if (depth < MAX_DEPTH && chance(2))
		go_on();
}

/* Executes the program again: it goes on with the record @idx. */
static void execute(const char *program, uint32_t idx)
{
	char text[3][24];

	snprintf(text[0], sizeof(text[0]), "%u", idx);
	snprintf(text[1], sizeof(text[1]), "%llu", seed);
	snprintf(text[2], sizeof(text[2]), "%d", depth);
	execl(program, "workload_lives", "again", text[0], text[1], text[2], records, storm.folder, (char *)NULL);
}

/* ---- families ---- */

static void have_a_child(void)
{
	pid_t pid = fork_life();

	if (pid == 0) {
		maybe_go_on();
		do_something();
		life_exit((int)chance(3));
	}
	reap_if_chance(pid);
}

static void leave_a_grandchild(void)
{
	pid_t pid = fork_life();

	if (pid == 0) {
		if (chance(2))
			prctl(PR_SET_CHILD_SUBREAPER, 1);
		for (unsigned int i = chance(3) + 1; i > 0; i--)
			if (fork_life() == 0) {
				sleeper(4000);
				if (chance(2))
					nap_us(chance(3000));
				life_exit(0);
			}
		nap_us(chance(1500));
		life_exit(0);
	}
	reap_if_chance(pid);
}

/* Threads of a process can have the number of a process that has just ended. */
static void use_a_number_again(void)
{
	pid_t number = sleeper(300);
	struct clone_args arguments = {.exit_signal = SIGCHLD, .set_tid = (uintptr_t)&number, .set_tid_size = 1};

	if (number <= 0 || life_reap(number, 0) != number)
		return;
	for (int i = 0; i < 3; i++) {
		pid_t pid = clone_life(&arguments);

		if (pid == 0) {
			sleeper(3000);
			maybe_go_on();
			life_exit(0);
		}
		if (pid > 0)
			life_reap(pid, 0);
	}
}

static void *work_in_a_thread(void *unused)
{
	(void)unused;
	do_something();
	return NULL;
}

static void have_threads(void)
{
	for (unsigned int i = chance(3) + 1; i > 0; i--)
		thread_life(work_in_a_thread, NULL, 0);
	if (chance(2))
		nap_us(chance(2000));
}

static void *execute_in_a_thread(void *unused)
{
	(void)unused;
	nap_us(chance(500));
	execute("/proc/self/exe", life_index(life_of_process()));
	return NULL;
}

static void *fork_in_a_thread(void *unused)
{
	(void)unused;
	sleeper(3000);
	nap_us(chance(300));
	return NULL;
}

static void *exit_in_a_thread(void *unused)
{
	(void)unused;
	nap_us(chance(700));
	life_exit(7);
}

static void end_the_leader_first(void)
{
	life_end();
	syscall(SYS_exit, 0);
}

/* One thread ends the process or executes a program, while others begin and fork. */
static void end_by_a_thread(void)
{
	bool executes = depth < MAX_DEPTH && chance(2);
	pid_t pid = fork_life();

	if (pid == 0) {
		thread_life(fork_in_a_thread, NULL, 0);
		thread_life(executes ? execute_in_a_thread : exit_in_a_thread, NULL, executes ? LIFE_EXECUTES : 0);
		thread_life(work_in_a_thread, NULL, 0);
		if (chance(2))
			end_the_leader_first();
		nap_us(20000);
		life_exit(0);
	}
	reap_if_chance(pid);
}

static void vfork_and_execute(void)
{
	struct life *life = life_make(LIFE_SHARES), *me = life_mine();
	bool executes = depth < MAX_DEPTH && chance(3);
	pid_t pid;

	pid = vfork();
	if (pid == 0) {
		if (executes)
			execute("/proc/self/exe", life_index(life));
		_exit(9);
	}
	if (life_mine() != me)
		abort();
	life_made(life, pid);
	reap_if_chance(pid);
}

static void have_a_sibling(void)
{
	struct clone_args arguments = {.flags = CLONE_PARENT};
	struct life *life = life_make(LIFE_IS_SIBLING);
	pid_t pid = (pid_t)syscall(SYS_clone3, &arguments, sizeof(arguments));

	if (pid <= 0) /* it is a child of another process, which does not know it */
		after_fork(life, pid);
	if (pid == 0) {
		nap_us(chance(3000));
		life_exit(0);
	}
}

/* The end of the first process of a pid namespace ends all others in it. */
static void have_a_namespace(void)
{
	pid_t pid = fork_life();

	if (pid == 0) {
		pid_t init;

		if (unshare(CLONE_NEWPID | (chance(2) ? CLONE_NEWNET : 0)) != 0)
			life_exit(1);
		init = fork_life();
		if (init == 0) {
			for (unsigned int i = chance(4) + 1; i > 0; i--)
				if (fork_life() == 0) {
					sleeper(20000);
					if (chance(2))
						nap_us(20000);
					life_exit(0);
				}
			maybe_go_on();
			nap_us(chance(2000));
			life_exit(0);
		}
		if (chance(2))
			life_reap(init, 0);
		life_exit(0);
	}
	reap_if_chance(pid);
}

/* A child in the pid namespace of another process, which may end meanwhile. */
static void enter_a_namespace(void)
{
	struct clone_args arguments = {.flags = CLONE_NEWPID | CLONE_PIDFD, .exit_signal = SIGCHLD};
	int pidfd = -1;
	pid_t init, pid;

	arguments.pidfd = (uintptr_t)&pidfd;
	init = clone_life(&arguments);
	if (init == 0) {
		nap_us(chance(3000) + 500);
		life_exit(0);
	}
	if (init < 0)
		return;
	pid = fork_life();
	if (pid == 0) {
		if (setns(pidfd, CLONE_NEWPID) == 0)
			for (int i = 0; i < 3; i++)
				sleeper(2000);
		life_exit(0);
	}
	close(pidfd);
	life_reap(pid, 0);
	reap_if_chance(init);
}

static void end_with_the_parent(void)
{
	pid_t pid = fork_life();

	if (pid == 0) {
		for (unsigned int i = chance(3) + 1; i > 0; i--)
			if (fork_life() == 0) {
				prctl(PR_SET_PDEATHSIG, SIGKILL);
				nap_us(20000);
				life_exit(0);
			}
		if (chance(2))
			setsid();
		nap_us(chance(1500));
		life_exit(0);
	}
	reap_if_chance(pid);
}

static void end_a_group(void)
{
	pid_t pid = fork_life();

	if (pid == 0) {
		setpgid(0, 0);
		for (int i = 0; i < 3; i++)
			sleeper(20000);
		nap_us(chance(1000));
		kill(0, SIGKILL);
	}
	reap_if_chance(pid);
}

static void change_user(void)
{
	pid_t pid = fork_life();

	if (pid == 0) {
		if (setgid(1 + chance(3)) != 0 || setuid(1 + chance(3)) != 0)
			life_exit(1);
		life_note();
		sleeper(1500);
		do_something();
		if (depth < MAX_DEPTH && chance(2))
			execute(storm.program, life_index(life_mine()));
		life_exit(0);
	}
	reap_if_chance(pid);
}

/* ---- tracers, stops and control groups ---- */

static pid_t victim(void)
{
	pid_t pid = fork_life();

	if (pid == 0) {
		if (chance(2))
			have_threads();
		for (int i = 0; i < 20; i++)
			if (chance(2))
				nap_us(300);
			else
				compute_us(200);
		if (chance(2))
			sleeper(1000);
		life_exit(0);
	}
	return pid;
}

static void stop(pid_t pid)
{
	kill(pid, SIGSTOP);
	nap_us(chance(1000));
	kill(pid, SIGCONT);
}

static void attach(pid_t pid)
{
	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL) != 0)
		return;
	life_reap(pid, 0);
	nap_us(chance(500));
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
}

/* A tracer that has the children of its victim, too, and may end before it. */
static void seize(pid_t pid)
{
	long options = PTRACE_O_TRACEFORK | PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXIT;
	long long until = now_ns() + 5000000;

	if (ptrace(PTRACE_SEIZE, pid, NULL, chance(2) ? options : options | PTRACE_O_EXITKILL) != 0)
		return;
	ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
	while (now_ns() < until) {
		int status;
		pid_t stopped = waitpid(-1, &status, __WALL | WNOHANG);

		if (stopped > 0 && WIFSTOPPED(status))
			ptrace(PTRACE_CONT, stopped, NULL, NULL);
		else
			nap_us(100);
	}
}

static void freeze_or_move(pid_t pid)
{
	char path[128], text[16];
	int procs, state;

	snprintf(path, sizeof(path), "%s/cgroup.procs", storm.group);
	procs = open(path, O_WRONLY | O_CLOEXEC);
	snprintf(path, sizeof(path), "%s/cgroup.freeze", storm.group);
	state = open(path, O_WRONLY | O_CLOEXEC);
	snprintf(text, sizeof(text), "%d", (int)pid);
	if (procs >= 0 && write(procs, text, strlen(text)) > 0 && chance(2) && state >= 0 &&
	    write(state, "1", 1) == 1) {
		nap_us(chance(1000));
		if (write(state, "0", 1) != 1)
			abort();
	}
	close(procs);
	close(state);
}

static void hold_a_victim(void)
{
	static void (*const ways[])(pid_t) = {stop, attach, seize, freeze_or_move};
	pid_t pid = victim(), holder = fork_life();

	if (holder == 0) {
		ways[chance(storm.group[0] ? 4 : 3)](pid);
		life_exit(0);
	}
	life_reap(holder, 0);
	reap_if_chance(pid);
}

static void trace_a_program(void)
{
	pid_t pid = fork_life(), stopped;
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		if (depth < MAX_DEPTH)
			execute("/proc/self/exe", life_index(life_mine()));
		raise(SIGSTOP);
		life_exit(0);
	}
	for (int i = 0; i < 5; i++) {
		stopped = waitpid(pid, &status, __WALL | WNOHANG);
		if (stopped > 0 && !WIFSTOPPED(status))
			return;
		if (stopped > 0)
			ptrace(i < 3 ? PTRACE_CONT : PTRACE_DETACH, pid, NULL, NULL);
		nap_us(200);
	}
}

static void begin_in_a_group(void)
{
	struct clone_args arguments = {.flags = CLONE_INTO_CGROUP, .exit_signal = SIGCHLD};
	int fd = storm.group[0] ? open(storm.group, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	pid_t pid;

	if (fd < 0)
		return;
	arguments.cgroup = (uint64_t)fd;
	pid = clone_life(&arguments);
	close(fd);
	if (pid == 0) {
		sleeper(1000);
		do_something();
		life_exit(0);
	}
	reap_if_chance(pid);
}

static void write_text(const char *folder, const char *name, const char *text)
{
	char path[160];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		errno = 0; /* the group may refuse it: then the process goes on as it was */
	if (fd >= 0)
		close(fd);
}

/* The kernel ends a process that wants more memory than its group has. */
static void want_memory(void)
{
	pid_t pid = fork_life();

	if (pid == 0) {
		size_t bytes = (6 + chance(12)) << 20;
		char *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (storm.memory[0])
			write_text(storm.memory, "cgroup.procs", "0");
		for (size_t i = 0; memory != MAP_FAILED && i < bytes; i += 4096)
			memory[i] = 1;
		life_exit(0);
	}
	reap_if_chance(pid);
}

static void dump_core(void)
{
	pid_t pid = fork_life();

	if (pid == 0) {
		struct rlimit limit = {4 << 20, 4 << 20};

		setrlimit(RLIMIT_CORE, &limit);
		have_threads();
		nap_us(chance(500));
		abort();
	}
	reap_if_chance(pid);
}

static void change_name(void)
{
	char name[16];

	snprintf(name, sizeof(name), "lives-%u", chance(1000));
	prctl(PR_SET_NAME, name);
	life_note();
}

/* ---- the storm ---- */

static void go_on(void)
{
	static void (*const families[])(void) = {
		have_a_child,	   leave_a_grandchild, use_a_number_again, have_threads,      end_by_a_thread,
		vfork_and_execute, have_a_sibling,     have_a_namespace,   enter_a_namespace, end_with_the_parent,
		end_a_group,	   change_user,	       hold_a_victim,	   hold_a_victim,     trace_a_program,
		begin_in_a_group,  want_memory,	       dump_core,	   change_name,	      do_something,
		do_something,
	};

	for (unsigned int i = chance(8) + 2; i > 0; i--) {
		families[chance(sizeof(families) / sizeof(families[0]))]();
		if (chance(3) == 0)
			while (life_reap(-1, WNOHANG) > 0)
				;
	}
}

static void catch_signal(int signal)
{
	(void)signal;
}

static void set_signals(void)
{
	struct sigaction action = {.sa_handler = catch_signal};

	sigaction(SIGUSR1, &action, NULL);
	sigaction(SIGUSR2, &action, NULL);
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGIO, SIG_IGN);
}

static int again(char **argv)
{
	lives_open(argv[5]);
	records = argv[5];
	seed = strtoull(argv[3], NULL, 10);
	depth = atoi(argv[4]);
	snprintf(storm.folder, sizeof(storm.folder), "%s", argv[6]);
	snprintf(storm.program, sizeof(storm.program), "%s/set-uid", argv[6]);
	prctl(PR_SET_NAME, "lives");
	life_first((uint32_t)strtoul(argv[2], NULL, 10));
	chance_from(seed);
	depth++;
	set_signals();
	go_on();
	life_exit(0);
}

static void copy_program(void)
{
	char command[400];

	snprintf(storm.program, sizeof(storm.program), "%s/set-uid", storm.folder);
	snprintf(command, sizeof(command), "cp /proc/%d/exe %s && chown %d %s && chmod 4755 %s", (int)getpid(),
		 storm.program, NOBODY, storm.program, storm.program);
	if (system(command) != 0)
		exit(1);
}

static void make_groups(void)
{
	snprintf(storm.group, sizeof(storm.group), "%s/lives-%d", V2_ROOT, (int)getpid());
	if (mkdir(storm.group, 0755) != 0)
		storm.group[0] = '\0';
	snprintf(storm.memory, sizeof(storm.memory), "%s/lives-%d", V1_MEMORY, (int)getpid());
	if (mkdir(storm.memory, 0755) != 0)
		storm.memory[0] = '\0';
	else
		write_text(storm.memory, "memory.limit_in_bytes", "8388608");
}

/* Ends what is left: all of it is adopted by this process. */
static void end_all(void)
{
	char path[64], text[4096];

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", (int)getpid());
	for (int i = 0; i < 2000; i++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		ssize_t bytes = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

		if (fd >= 0)
			close(fd);
		text[bytes > 0 ? bytes : 0] = '\0';
		for (char *at = text, *end; strtol(at, &end, 10) > 0; at = end)
			kill((pid_t)strtol(at, NULL, 10), SIGKILL);
		if (life_reap(-1, WNOHANG) < 0)
			break;
		nap_us(500);
	}
	if (storm.group[0]) {
		write_text(storm.group, "cgroup.freeze", "0");
		rmdir(storm.group);
	}
	if (storm.memory[0])
		rmdir(storm.memory);
}

static void work_until(long long until)
{
	while (now_ns() < until) {
		if (fork_life() == 0) {
			go_on();
			life_exit(0);
		}
		nap_us(chance(3000));
		while (life_reap(-1, chance(2) ? WNOHANG : 0) > 0)
			;
	}
}

int main(int argc, char **argv)
{
	long long until;

	if (argc == 7 && strcmp(argv[1], "again") == 0)
		return again(argv);
	if (argc < 5)
		return 2;
	umask(0);
	seed = strtoull(argv[2], NULL, 10);
	records = argv[3];
	snprintf(storm.folder, sizeof(storm.folder), "%s", argv[4]);
	lives_open(records);
	prctl(PR_SET_NAME, "lives");
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	life_first(NO_LIFE);
	chance_from(seed);
	if (chdir(storm.folder) != 0)
		return 1;
	copy_program();
	make_groups();
	set_signals();
	until = now_ns() + atoll(argv[1]) * 1000000ll;
	for (int i = 0; i < 3; i++)
		if (fork_life() == 0) {
			work_until(until);
			life_exit(0);
		}
	while (now_ns() < until)
		nap_us(10000);
	end_all();
	life_exit(0);
}
