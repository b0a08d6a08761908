/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_unwind_steps.c - the rows of unwind tables, compared with where the return address really
 * is: a program is executed step by step, and each call and return is followed
 *
 * This is the program as well: "test_unwind_steps run" spawns a process, starts a thread, and
 * returns. So the code without a description is executed, too: the begin and the end of each file,
 * clone() and vfork().
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"
#include "unwind_table.h"

#define MAX_FILES 16
#define MAX_CALLS 4096
#define MAX_STEPS 3000000
#define CALL	  8 /* bytes of the longest call instruction, and one more */

static const char *self;

/* ---- the program ---- */

static void *do_nothing(void *nothing)
{
	return nothing;
}

static int run(void)
{
	char *arguments[] = {(char *)"true", NULL}, *none[] = {NULL};
	pthread_t thread;
	pid_t pid = vfork();

	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	if (posix_spawn(&pid, "/bin/true", NULL, NULL, arguments, none) || waitpid(pid, NULL, 0) != pid)
		return 1;
	return pthread_create(&thread, NULL, do_nothing, NULL) || pthread_join(thread, NULL);
}

/* ---- where code is ---- */

/** struct mapped - @base: the address at which the begin of the file would be */
struct mapped {
	uint64_t start, end, base;
	char path[256];
	struct unwind_table table; /* owned */
};

/** struct call - @at: where its return address is, and @to: the address. @rbx: of the caller */
struct call {
	uint64_t at, to, rbx;
};

/** struct steps - @counts: of steps, by the rule of the row. @wrong: of those that differ */
struct steps {
	pid_t pid;
	struct mapped files[MAX_FILES];
	size_t nr_files;
	struct call calls[MAX_CALLS + 1];
	size_t nr_calls;
	unsigned long long nr, counts[UNWIND_CLONE + 1], wrong, rbx_saved;
};

static void add_file(struct steps *steps, const char *line)
{
	struct mapped *file = &steps->files[steps->nr_files];
	unsigned long long start, end, offset;
	char rights[8];
	int fd;

	if (steps->nr_files == MAX_FILES ||
	    sscanf(line, "%llx-%llx %7s %llx %*s %*s %255s", &start, &end, rights, &offset, file->path) != 5 ||
	    rights[2] != 'x' || file->path[0] != '/')
		return;
	file->start = start;
	file->end = end;
	file->base = start - offset;
	file->table = (struct unwind_table){.room = UNWIND_MAX_WORDS};
	file->table.words = mmap(NULL, UNWIND_MAX_WORDS * 8ul, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	fd = open(file->path, O_RDONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL(unwind_table_compile(fd, &file->table), 0);
	close(fd);
	steps->nr_files++;
}

static void forget_files(struct steps *steps)
{
	for (size_t i = 0; i < steps->nr_files; i++)
		munmap(steps->files[i].table.words, UNWIND_MAX_WORDS * 8ul);
	steps->nr_files = 0;
}

static void read_files(struct steps *steps)
{
	char path[64], line[512];
	FILE *maps;

	forget_files(steps);
	snprintf(path, sizeof(path), "/proc/%d/maps", (int)steps->pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps))
		add_file(steps, line);
	if (maps)
		fclose(maps);
}

static const struct mapped *find_file(const struct steps *steps, uint64_t ip)
{
	for (size_t i = 0; i < steps->nr_files; i++)
		if (ip >= steps->files[i].start && ip < steps->files[i].end)
			return &steps->files[i];
	return NULL;
}

/* ---- a step ---- */

static uint64_t peek(const struct steps *steps, uint64_t address)
{
	return (uint64_t)ptrace(PTRACE_PEEKDATA, steps->pid, (void *)address, NULL);
}

/* Keep the list of calls that have not returned. */
static void follow(struct steps *steps, const struct user_regs_struct *before, const struct user_regs_struct *now)
{
	while (steps->nr_calls && steps->calls[steps->nr_calls - 1].at < now->rsp)
		steps->nr_calls--;
	if (now->rsp == before->rsp - 8 && steps->nr_calls < MAX_CALLS) {
		uint64_t to = peek(steps, now->rsp);

		if (to - before->rip <= CALL && to > before->rip && now->rip - before->rip > CALL)
			steps->calls[steps->nr_calls++] = (struct call){.at = now->rsp, .to = to, .rbx = now->rbx};
	}
}

static uint64_t cfa_of(const struct steps *steps, struct unwind_row row, const struct user_regs_struct *now)
{
	switch (row.rule) {
	case UNWIND_RSP:
	case UNWIND_RDI:
	case UNWIND_CLONE:
		return now->rsp + row.cfa * 8ul;
	case UNWIND_RBX:
		return now->rbx + row.cfa * 8ul;
	case UNWIND_RBP:
		return now->rbp + row.cfa * 8ul;
	case UNWIND_PLT:
		return now->rsp + 8 + ((now->rip & 15) >= row.cfa ? 8 : 0);
	case UNWIND_RBP_POINTER:
		return peek(steps, now->rbp - row.cfa * 8ul);
	case UNWIND_RSP_POINTER:
		return peek(steps, now->rsp + row.cfa * 8ul) + 8;
	default:
		return 0;
	}
}

static bool is_right(const struct steps *steps, struct unwind_row row, const struct user_regs_struct *now)
{
	const struct call *call = &steps->calls[steps->nr_calls - 1];

	if (row.rule == UNWIND_RDI) { /* popped, so that it is the last one that was in the list */
		call++;
		if (now->rdi != call->to)
			return false;
	}
	return cfa_of(steps, row, now) == call->at + 8;
}

/* The caller's RBX, which is not changed by what it calls. */
static bool is_right_rbx(struct steps *steps, struct unwind_row row, const struct user_regs_struct *now)
{
	const struct call *call = &steps->calls[steps->nr_calls - 1];

	if (row.rbx == UNWIND_RBX_LOST || row.rule == UNWIND_RDI)
		return true;
	if (row.rbx == UNWIND_RBX_SAME)
		return now->rbx == call->rbx;
	steps->rbx_saved++;
	return peek(steps, cfa_of(steps, row, now) - 8 - row.rbx * 8ul) == call->rbx;
}

/* The program's own first steps, before any call, have no truth. */
static void check_step(struct steps *steps, const struct user_regs_struct *now)
{
	const struct mapped *file = find_file(steps, now->rip);
	struct unwind_row row;

	if (!file) {
		read_files(steps);
		file = find_file(steps, now->rip);
	}
	if (!file || !steps->nr_calls)
		return;
	row = unwind_table_find(&file->table, now->rip - file->base);
	if (row.rule == UNWIND_NONE || row.rule == UNWIND_UNSUPPORTED || row.rule == UNWIND_END)
		return;
	if (row.rule == UNWIND_RCX || row.rule == UNWIND_TO_RCX)
		return; /* goes on in a handler, with no call in the list */
	steps->counts[row.rule]++;
	if ((!is_right(steps, row, now) || !is_right_rbx(steps, row, now)) && steps->wrong++ < 10)
		fprintf(stderr, "%s+%#llx: rule %u, RBX %u, CFA %#llx instead of %#llx\n", file->path,
			(unsigned long long)(now->rip - file->base), row.rule, row.rbx,
			(unsigned long long)cfa_of(steps, row, now),
			(unsigned long long)steps->calls[steps->nr_calls - 1].at + 8);
}

static bool step(struct steps *steps)
{
	int status;

	return ptrace(PTRACE_SINGLESTEP, steps->pid, NULL, NULL) == 0 &&
	       waitpid(steps->pid, &status, 0) == steps->pid && WIFSTOPPED(status);
}

static void run_steps(struct steps *steps)
{
	struct user_regs_struct before, now;

	CU_ASSERT_EQUAL_FATAL(ptrace(PTRACE_GETREGS, steps->pid, NULL, &before), 0);
	while (steps->nr < MAX_STEPS && step(steps) && !ptrace(PTRACE_GETREGS, steps->pid, NULL, &now)) {
		follow(steps, &before, &now);
		check_step(steps, &now);
		before = now;
		steps->nr++;
	}
}

static void the_return_address_is_where_each_row_says(void)
{
	struct steps *steps = calloc(1, sizeof(*steps));
	int status;

	CU_ASSERT_PTR_NOT_NULL_FATAL(steps);
	steps->pid = fork();
	if (steps->pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl("/proc/self/exe", self, "run", NULL);
		_exit(1);
	}
	CU_ASSERT_FATAL(waitpid(steps->pid, &status, 0) == steps->pid && WIFSTOPPED(status));
	run_steps(steps);
	printf("%llu steps; by rule: RSP %llu, RBP %llu, PLT %llu, RDI %llu, clone %llu, RBX %llu; %llu with RBX "
	       "saved; %llu wrong\n",
	       steps->nr, steps->counts[UNWIND_RSP], steps->counts[UNWIND_RBP], steps->counts[UNWIND_PLT],
	       steps->counts[UNWIND_RDI], steps->counts[UNWIND_CLONE], steps->counts[UNWIND_RBX], steps->rbx_saved,
	       steps->wrong);
	CU_ASSERT(steps->nr > 10000 && steps->nr < MAX_STEPS);
	CU_ASSERT_EQUAL(steps->wrong, 0);
	CU_ASSERT(steps->counts[UNWIND_RDI] > 0 && steps->counts[UNWIND_CLONE] > 0 && steps->counts[UNWIND_RBX] > 0);
	CU_ASSERT(steps->rbx_saved > 10000);
	forget_files(steps);
	free(steps);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_return_address_is_where_each_row_says),
		{NULL, NULL},
	};

	if (argc > 1 && !strcmp(argv[1], "run"))
		return run();
	self = argv[0];
	return unit_main("unwind_steps", cases, argc, argv);
}
