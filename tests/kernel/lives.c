/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "lives.h"
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "spend.h"

#define MAX_LIVES    65536
#define MAX_CHILDREN 128

struct lives {
	uint64_t nr;
	uint64_t unused[15];
	struct life list[MAX_LIVES];
};

struct child {
	pid_t pid;
	struct life *life;
};

static struct lives *lives;
static struct life *process;
static _Thread_local struct life *mine;
static _Thread_local struct child children[MAX_CHILDREN];
static _Thread_local unsigned int nr_children;

void lives_open(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
	void *mapping = MAP_FAILED;

	if (fd >= 0 && ftruncate(fd, sizeof(*lives)) == 0)
		mapping = mmap(NULL, sizeof(*lives), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (mapping == MAP_FAILED) {
		perror(path);
		_exit(1);
	}
	close(fd);
	lives = mapping;
}

struct life *life_make(uint32_t flags)
{
	uint64_t idx = __atomic_fetch_add(&lives->nr, 1, __ATOMIC_RELAXED);
	struct life *life = &lives->list[idx];

	if (idx >= MAX_LIVES)
		_exit(1);
	life->maker = process ? life_index(process) : NO_LIFE;
	life->flags = flags;
	if (flags & LIFE_IS_THREAD)
		life->pid = process->pid;
	life->made_ns = (uint64_t)now_ns();
	return life;
}

uint32_t life_index(const struct life *life)
{
	return (uint32_t)(life - lives->list);
}

struct life *life_mine(void)
{
	return mine;
}

struct life *life_of_process(void)
{
	return process;
}

/* ---- what the kernel says of the caller ---- */

static void read_file(const char *path, char *text, size_t room)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t bytes = fd < 0 ? 0 : read(fd, text, room - 1);

	text[bytes > 0 ? bytes : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

/* The mounted /proc is of the machine's namespace, so its numbers are, too. */
static uint32_t parent_of_process(void)
{
	char text[512];
	const char *line;

	read_file("/proc/self/status", text, sizeof(text));
	line = strstr(text, "\nPPid:");
	return line ? (uint32_t)strtoul(line + 6, NULL, 10) : 0;
}

static void note_cgroup(struct life *life)
{
	char text[1024], *line;
	size_t bytes;

	read_file("/proc/self/cgroup", text, sizeof(text));
	line = strstr(text, "0::");
	if (!line)
		return;
	line += 3;
	bytes = strcspn(line, "\n");
	if (bytes >= sizeof(life->cgroup)) {
		line += bytes - sizeof(life->cgroup) + 1;
		bytes = sizeof(life->cgroup) - 1;
	}
	memcpy(life->cgroup, line, bytes);
	life->cgroup[bytes] = '\0';
}

static void note_process(void)
{
	struct life *life = process;

	life->asked_ns = (uint64_t)now_ns();
	life->ppid = parent_of_process();
	life->ns_pid = (uint32_t)getpid();
	note_cgroup(life);
	if (mine == process) {
		life->uid = (uint32_t)geteuid();
		prctl(PR_GET_NAME, life->comm);
	}
	life->cpu_ns = (uint64_t)clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	life->last_ns = (uint64_t)now_ns();
}

static void note_thread(void)
{
	mine->uid = (uint32_t)geteuid();
	prctl(PR_GET_NAME, mine->comm);
	mine->cpu_ns = (uint64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID);
	mine->last_ns = (uint64_t)now_ns();
}

void life_note(void)
{
	if (mine != process)
		note_thread();
	else
		note_process();
}

/* ---- begin and end ---- */

static void learn_numbers(struct life *life)
{
	char text[64] = "";
	unsigned int pid = 0, tid = 0;
	ssize_t bytes = readlink("/proc/thread-self", text, sizeof(text) - 1);

	if (bytes > 0 && sscanf(text, "%u/task/%u", &pid, &tid) == 2) {
		life->tid = tid;
		life->pid = pid;
	}
}

void life_begin(struct life *life)
{
	mine = life;
	nr_children = 0;
	if (!(life->flags & LIFE_IS_THREAD))
		process = life;
	life->born_ns = (uint64_t)now_ns();
	learn_numbers(life);
	life_note();
}

void life_first(uint32_t idx)
{
	if (idx == NO_LIFE) {
		life_begin(life_make(0));
		return;
	}
	mine = process = &lives->list[idx];
	if (!process->born_ns)
		life_begin(process);
	__atomic_fetch_and(&process->flags, ~(uint32_t)(LIFE_SHARES | LIFE_ENDED), __ATOMIC_RELAXED);
	life_note();
}

void life_end(void)
{
	life_note();
	__atomic_fetch_or(&mine->flags, LIFE_ENDED, __ATOMIC_RELAXED);
}

void life_exit(int status)
{
	if (mine != process)
		life_end();
	note_process();
	__atomic_fetch_or(&process->flags, LIFE_ENDED, __ATOMIC_RELAXED);
	_exit(status);
}

/* ---- children ---- */

static void add_child(pid_t pid, struct life *life)
{
	bool is_of_the_machine = process->pid == (uint32_t)getpid();

	if (nr_children < MAX_CHILDREN)
		children[nr_children++] = (struct child){pid, life};
	if (is_of_the_machine) /* it may end before it knows that */
		life->pid = life->tid = (uint32_t)pid;
}

pid_t life_made(struct life *life, pid_t pid)
{
	if (pid < 0)
		life->flags |= LIFE_FAILED;
	else if (pid == 0)
		life_begin(life);
	else
		add_child(pid, life);
	return pid;
}

pid_t life_reap(pid_t pid, int flags)
{
	int status = 0;
	pid_t ended = waitpid(pid, &status, flags | __WALL);

	if (ended <= 0 || (!WIFEXITED(status) && !WIFSIGNALED(status)))
		return ended;
	for (unsigned int i = nr_children;
	     i-- > 0;) /* another thread may have waited for an older one of this number */
		if (children[i].pid == ended) {
			children[i].life->status = status;
			children[i].life->dead_ns = (uint64_t)now_ns();
			children[i] = children[--nr_children];
			break;
		}
	return ended;
}
