/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * follow.c - the processes that a filter by process passes: their pids in the kernel, and
 * their existing descendants
 *
 * The BPF programs see pids of the first pid namespace. The caller may be in another namespace, and
 * names processes by the pids there.
 */
#include "follow.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "clock_ns.h"
#include "loader.h"
#include "start_state.h"
#include "not_traced.h"

/* The inode of the first one's /proc/PID/ns/pid: PROC_PID_INIT_INO, include/linux/proc_ns.h. */
#define FIRST_NAMESPACE 0xeffffffcu
/* Processes may be forked during the scan; the programs follow the children of processes
 * that are followed already. */
#define FOLLOW_ROUNDS 16

/** struct processes - all existing processes, sorted by tgid */
struct processes {
	struct tracer_iter_process *rows; /* owned */
	size_t nr;
	size_t room;
};

bool tracer_in_first_namespace(void)
{
	struct stat status;

	return stat("/proc/self/ns/pid", &status) == 0 ? status.st_ino == FIRST_NAMESPACE
						       : tracer_own_number() == getpid();
}

/* Found with a program of three instructions that the kernel runs for us. */
pid_t tracer_own_number(void)
{
	const struct bpf_insn code[] = {
		{.code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_get_current_pid_tgid},
		{.code = BPF_ALU64 | BPF_RSH | BPF_K, .dst_reg = BPF_REG_0, .imm = 32},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_test_run_opts, options);
	int fd = bpf_prog_load(BPF_PROG_TYPE_RAW_TRACEPOINT, NULL, "GPL", code, sizeof(code) / sizeof(code[0]), NULL);
	bool ran = fd >= 0 && bpf_prog_test_run_opts(fd, &options) == 0;

	if (fd >= 0)
		close(fd);
	return ran ? (pid_t)options.retval : getpid();
}

/* ---- the list ---- */

static int add_row(void *context, const struct tracer_iter_process *row)
{
	struct processes *processes = context;
	size_t room = processes->room ? 2 * processes->room : 256;
	struct tracer_iter_process *rows;

	if (processes->nr == processes->room) {
		rows = realloc(processes->rows, room * sizeof(*rows));
		if (!rows)
			return -ENOMEM;
		processes->rows = rows;
		processes->room = room;
	}
	processes->rows[processes->nr++] = *row;
	return 0;
}

static int compare(const void *a, const void *b)
{
	const struct tracer_iter_process *one = a, *other = b;

	return one->tgid < other->tgid ? -1 : one->tgid > other->tgid;
}

static int list(struct tracer *tracer, struct processes *processes)
{
	int result;

	processes->nr = 0;
	result = tracer_each_process(tracer, add_row, processes);
	if (!result && processes->nr)
		qsort(processes->rows, processes->nr, sizeof(*processes->rows), compare);
	return result;
}

static struct tracer_iter_process *find(const struct processes *processes, uint32_t tgid)
{
	const struct tracer_iter_process key = {.tgid = tgid};

	return processes->nr ? bsearch(&key, processes->rows, processes->nr, sizeof(key), compare) : NULL;
}

/* ---- the processes to follow ---- */

static int number_of(struct tracer *tracer, pid_t pid, uint32_t *ret_number)
{
	struct processes processes = {0};
	int result;

	if (tracer_in_first_namespace()) {
		*ret_number = (uint32_t)pid;
		return 0;
	}
	result = list(tracer, &processes);
	for (size_t i = 0; !result && i < processes.nr; i++) {
		if (processes.rows[i].number != (uint32_t)pid)
			continue;
		*ret_number = processes.rows[i].tgid;
		free(processes.rows);
		return 0;
	}
	free(processes.rows);
	return result ? result : -ESRCH;
}

pid_t tracer_number(struct tracer *tracer, pid_t pid)
{
	uint32_t number;

	return number_of(tracer, pid, &number) ? 0 : (pid_t)number;
}

pid_t tracer_pid(struct tracer *tracer, pid_t number)
{
	struct processes processes = {0};
	struct tracer_iter_process *row;
	pid_t pid = 0;

	if (tracer_in_first_namespace())
		return number;
	row = list(tracer, &processes) ? NULL : find(&processes, (uint32_t)number);
	if (row)
		pid = (pid_t)row->number;
	free(processes.rows);
	return pid;
}

static int add(struct tracer *tracer, uint32_t number)
{
	uint8_t one = 1;

	return bpf_map__update_elem(tracer->skeleton->maps.followed, &number, sizeof(number), &one, sizeof(one),
				    BPF_ANY);
}

int tracer_follow(struct tracer *tracer, pid_t pid, struct trace_error *ret_error)
{
	uint32_t number;
	int result = number_of(tracer, pid, &number);

	if (!result)
		result = add(tracer, number);
	return result ? error_set(ret_error, result, "cannot follow process %d: %s", pid, strerror(-result)) : 0;
}

static bool is_in(const struct bpf_map *map, uint32_t number)
{
	uint8_t value;

	return bpf_map__lookup_elem(map, &number, sizeof(number), &value, sizeof(value), 0) == 0;
}

static bool is_followed(const struct tracer *tracer, uint32_t number)
{
	return is_in(tracer->skeleton->maps.followed, number);
}

bool tracer_followed(const struct tracer *tracer, uint32_t number)
{
	return is_followed(tracer, number) || is_in(tracer->skeleton->maps.followed_before, number);
}

static void count_unfollowed(struct tracer *tracer)
{
	if (__atomic_fetch_add(&tracer->skeleton->bss->unfollowed, 1, __ATOMIC_RELAXED) == 0)
		tracer->skeleton->bss->unfollowed_ns = clock_monotonic_ns();
}

/* Decide from @row up to the first ancestor with a known state; its state holds for
 * all processes in between. */
static void decide_followed(struct tracer *tracer, const struct processes *processes, struct tracer_iter_process *row)
{
	struct tracer_iter_process *top = row;
	unsigned char state;

	for (size_t steps = 0; top && !top->state && steps <= processes->nr; steps++) {
		if (is_followed(tracer, top->tgid))
			top->state = TRACER_PROCESS_FOLLOWED;
		else
			top = find(processes, top->ppid);
	}
	state = top && top->state == TRACER_PROCESS_FOLLOWED ? TRACER_PROCESS_DESCENDS
		: top && top->state			     ? top->state
							     : TRACER_PROCESS_STRANGER;
	for (; row && !row->state; row = find(processes, row->ppid))
		row->state = state;
}

/* The programs follow processes that were forked after they were attached, if
 * the parents were followed. */
void tracer_follow_descendants(struct tracer *tracer)
{
	char text[128];
	struct processes processes = {0};
	bool any = true, full = false;
	int result = 0;

	for (int round = 0; !result && any && !full && round < FOLLOW_ROUNDS; round++) {
		result = list(tracer, &processes);
		any = false;
		for (size_t i = 0; !result && i < processes.nr; i++)
			decide_followed(tracer, &processes, &processes.rows[i]);
		for (size_t i = 0; !result && i < processes.nr; i++) {
			if (processes.rows[i].state != TRACER_PROCESS_DESCENDS)
				continue;
			any = true;
			if (add(tracer, processes.rows[i].tgid) == 0)
				continue;
			count_unfollowed(tracer);
			full = true; /* stop, otherwise they would be counted again */
		}
	}
	free(processes.rows);
	if (!result)
		return;
	snprintf(text, sizeof(text), "descendants that began before the recording: the search for them failed: %s",
		 strerror(-result));
	tracer_note(tracer, text);
}

void tracer_get_unfollowed(const struct tracer *tracer, struct tracer_unfollowed *ret_unfollowed)
{
	const struct tracer_bpf *skeleton = tracer->skeleton;

	*ret_unfollowed =
		(struct tracer_unfollowed){.processes = __atomic_load_n(&skeleton->bss->unfollowed, __ATOMIC_RELAXED),
					   .first_ns = skeleton->bss->unfollowed_ns,
					   .max_processes = bpf_map__max_entries(skeleton->maps.followed)};
}
