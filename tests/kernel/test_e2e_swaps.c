/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_swaps.c - names of descriptors where events are lost: right or unknown
 *
 * Programs change their descriptors all the time and know them (workload_swaps.c). The sub-buffers
 * are so small that events are lost in bursts. Root only; skipped (77) where the kernel cannot be
 * recorded.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <trace/analysis.h>
#include "descriptor_swaps.h"
#include "e2e_session.h"
#include "unit.h"

#define TRIES 5

struct comparison {
	const struct swaps *truth;
	const struct trace *trace;
	size_t marks, known, unknown, wrong; /* after the first loss; all but @marks of descriptors */
};

static int process_of(const struct swaps *truth, const struct trace_thread *thread)
{
	uint32_t pid = thread ? trace_process_pid(trace_thread_process(thread)) : 0;

	for (int i = 0; i < SWAP_PROCESSES; i++)
		if (pid && truth->of[i].pid == pid)
			return i;
	return -1;
}

static void compare(struct comparison *c, const struct trace_analysis *a, const struct trace_thread *thread,
		    const uint64_t truth[SWAP_FDS], bool is_after)
{
	for (int i = 0; i < SWAP_FDS; i++) {
		struct trace_file_id id;
		bool is_known = trace_thread_file_id(a, thread, SWAP_FIRST_FD + i, &id);

		c->known += is_known && is_after;
		c->unknown += !is_known && truth[i] && is_after;
		c->wrong += is_known && id.ino != truth[i];
	}
	c->marks += is_after;
}

static void on_enter(void *data, struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_sys_enter3 *enter = event->payload;
	const struct trace_thread *thread = trace_thread_on_cpu(a, event->cpu);
	struct comparison *c = data;
	int process = process_of(c->truth, thread);

	if (process < 0 || enter->nr != SYS_lseek || (int)enter->arg0 != -1 || enter->arg2 != SWAP_WHENCE ||
	    enter->arg1 >= c->truth->of[process].nr_marks)
		return;
	compare(c, a, thread, c->truth->of[process].ino[enter->arg1],
		trace_nr_gaps(c->trace) && event->ts_ns > trace_get_gap(c->trace, 0)->end_ns);
}

/* No file has more bytes than were written. */
static size_t count_too_many_bytes(struct trace_analysis *a, const struct swaps *truth)
{
	size_t wrong = 0;

	for (size_t i = 0; i < trace_nr_processes(a); i++) {
		const struct trace_process *process = trace_get_process(a, i);
		struct trace_figures *figures = trace_process_figures(a, process);

		for (int of = 0; of < SWAP_PROCESSES; of++)
			for (size_t f = 0; truth->of[of].pid == trace_process_pid(process) && f < figures->nr_files;
			     f++) {
				const char *name = strstr(figures->files[f].path, "/swap-");

				wrong += name && figures->files[f].written_bytes > truth->of[of].written[name[6] - '0'];
			}
		trace_figures_free(figures);
	}
	return wrong;
}

/* Returns false if the recording has no loss, or too little beside it. */
static bool record(struct comparison *c)
{
	uint64_t mask[4] = {1ull << TRACE_EV_sys_enter3};
	struct trace_error error = {0};
	struct trace_analysis *a = NULL;
	struct trace *trace = NULL;
	struct session s;
	int fd;

	session_begin(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon -b16384 -n2 %s -- %s %s %s 2>%s/stderr", TRACE_BIN, s.trace,
				    TRACE_WORKLOAD_SWAPS, s.truth, s.folder, s.folder),
			0);
	fd = open(s.truth, O_RDONLY);
	c->truth = mmap(NULL, sizeof(*c->truth), PROT_READ, MAP_PRIVATE, fd, 0);
	c->trace = trace = trace_open(s.trace, &error);
	a = trace && c->truth != MAP_FAILED ? trace_analysis_new(trace, NULL, &error) : NULL;
	CU_ASSERT_PTR_NOT_NULL_FATAL(a);
	CU_ASSERT_EQUAL(trace_analysis_on_event(a, mask, on_enter, c), 0);
	CU_ASSERT_EQUAL(trace_analysis_run(a, &error), 0);
	c->wrong += count_too_many_bytes(a, c->truth);
	printf("%zu gaps; %zu marks after the first: %zu known, %zu unknown, %zu wrong ", trace_nr_gaps(trace),
	       c->marks, c->known, c->unknown, c->wrong);
	trace_analysis_free(a);
	trace_close(trace);
	munmap((void *)c->truth, sizeof(*c->truth));
	close(fd);
	session_end(&s);
	return c->known && c->unknown;
}

static void a_name_is_right_or_unknown_where_events_are_lost(void)
{
	struct comparison c = {0};
	int tries = 0;

	while (!record(&c) && ++tries < TRIES)
		;
	CU_ASSERT(tries < TRIES);
	CU_ASSERT_EQUAL(c.wrong, 0);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_name_is_right_or_unknown_where_events_are_lost),
		{NULL, NULL},
	};

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_swaps: needs root and a kernel with BTF\n");
		return 77;
	}
	return unit_main("names where events are lost", cases, argc, argv);
}
