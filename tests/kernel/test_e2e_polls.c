/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_polls.c - a recording of one process says for which process it waited in poll, select
 * and epoll_wait, though that one was not recorded.
 *
 * The program asks four children in turn, and waits for the answer of one with the pipes of all in
 * the call; each child is asked for with another call. This is the program as well:
 * "test_e2e_polls do TRUTH". Root only; skipped (77) where the kernel cannot be recorded.
 */
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "e2e_session.h"
#include "spend.h"
#include "unit.h"

/* ---- the program ---- */

enum { BY_POLL, BY_SELECT, BY_EPOLL, BY_EPOLL_POINTER, NR_WAYS };
static const char *const ways[NR_WAYS] = {"poll", "select", "epoll", "epoll_pointer"};
static int asks[NR_WAYS], answers[NR_WAYS], epolls[NR_WAYS];

static void be_child(int ask, int answer)
{
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(ask, &byte, 1) == 1) {
		sleep_ns(5 * MS);
		if (write(answer, &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static pid_t start_child(int way)
{
	int ask[2], answer[2];
	pid_t child;

	if (pipe(ask) != 0 || pipe(answer) != 0)
		exit(1);
	child = fork();
	if (!child)
		be_child(ask[0], answer[1]);
	close(ask[0]);
	close(answer[1]);
	asks[way] = ask[1];
	answers[way] = answer[0];
	return child;
}

/* One epoll has the descriptors as its data, the other one addresses. */
static void make_epolls(void)
{
	for (int which = BY_EPOLL; which <= BY_EPOLL_POINTER; which++) {
		epolls[which] = epoll_create1(EPOLL_CLOEXEC);
		for (int way = 0; way < NR_WAYS; way++) {
			struct epoll_event event = {.events = EPOLLIN};

			if (which == BY_EPOLL)
				event.data.fd = answers[way];
			else
				event.data.ptr = &answers[way];
			epoll_ctl(epolls[which], EPOLL_CTL_ADD, answers[way], &event);
		}
	}
}

static void wait_for_answer(int way)
{
	struct pollfd polled[NR_WAYS];
	struct epoll_event event;
	fd_set set;

	FD_ZERO(&set);
	for (int i = 0; i < NR_WAYS; i++) {
		polled[i] = (struct pollfd){.fd = answers[i], .events = POLLIN};
		FD_SET(answers[i], &set);
	}
	if (way == BY_POLL)
		poll(polled, NR_WAYS, -1);
	else if (way == BY_SELECT)
		select(answers[NR_WAYS - 1] + 1, &set, NULL, NULL, NULL);
	else
		epoll_wait(epolls[way], &event, 1, -1);
}

static int program(const char *truth_path)
{
	FILE *truth = fopen(truth_path, "we");
	char byte = 'x';

	if (!truth)
		return 1;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int way = 0; way < NR_WAYS; way++)
		fprintf(truth, "%s %d\n", ways[way], start_child(way));
	fprintf(truth, "pid %d\n", getpid());
	fclose(truth);
	make_epolls();
	for (int way = 0;; way = (way + 1) % NR_WAYS) {
		if (write(asks[way], &byte, 1) != 1)
			return 1;
		wait_for_answer(way);
		if (read(answers[way], &byte, 1) != 1)
			return 1;
	}
}

/* ---- the test ---- */

static struct session session;

static void the_program_alone_is_recorded(void)
{
	char self[256];
	ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[bytes > 0 ? bytes : 0] = '\0';
	session_begin(&session);
	CU_ASSERT_EQUAL_FATAL(session_run("%s do %s >/dev/null 2>&1 </dev/null & sleep 0.3; "
					  "%s/tracedaemon --quiet -P $! -t 1s %s >%s/out 2>&1 </dev/null; kill $!",
					  self, session.truth, TRACE_BIN, session.trace, session.folder),
			      0);
	session.report = session_load(&session, "--all");
	CU_ASSERT_PTR_NOT_NULL_FATAL(session.report);
	session.process = json_process(session.report, session_truth(&session, "pid"));
	CU_ASSERT_PTR_NOT_NULL_FATAL(session.process);
}

static void each_call_waited_for_the_child_that_answered(void)
{
	for (int way = 0; way < NR_WAYS; way++) {
		json_t *wait = json_with_pid(session.process, "waits", session_truth(&session, ways[way]));

		CU_ASSERT_PTR_NOT_NULL(wait);
		CU_ASSERT_STRING_EQUAL(wait ? json_text(wait, "via") : ways[way], "pipe");
		CU_ASSERT(wait && json_number(wait, "count") > 2);
		CU_ASSERT(wait && json_number(wait, "ns") >= json_number(wait, "count") * 4 * MS);
	}
}

/*
 * The calls in progress at the begin and at the end of the recording may be exceptions, and on a
 * machine with hidden threads one in ten.
 */
static void no_other_wait_is_left(void)
{
	json_t *waits = json_object_get(session.process, "waits"), *wait;
	long long all = 0;
	size_t i;

	json_array_foreach(waits, i, wait)
		all += json_number(wait, "count");
	json_array_foreach(waits, i, wait) {
		bool is_known = false;

		for (int way = 0; way < NR_WAYS; way++)
			is_known |= json_number(wait, "pid") == session_truth(&session, ways[way]);
		is_known |= json_number(wait, "count") <= 2 + all / 10;
		CU_ASSERT(is_known);
		if (!is_known)
			fprintf(stderr, "%lld waits, %lld ns, for %s %s %lld\n", json_number(wait, "count"),
				json_number(wait, "ns"), json_text(wait, "kind"), json_text(wait, "target"),
				json_number(wait, "pid"));
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_program_alone_is_recorded),
		CASE(each_call_waited_for_the_child_that_answered),
		CASE(no_other_wait_is_left),
		{NULL, NULL},
	};
	int result;

	if (argc == 3 && strcmp(argv[1], "do") == 0)
		return program(argv[2]);
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "skipped: needs root and a kernel with BTF\n");
		return 77;
	}
	result = unit_main("e2e_polls", cases, argc, argv);
	session_end(&session);
	return result;
}
