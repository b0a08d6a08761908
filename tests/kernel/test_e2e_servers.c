/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_servers.c - record servers of all shapes (tests/kernel/server_patterns.c), and compare
 * the bills with what the servers measured themselves.
 *
 * All patterns run in one recording. A bill and the truth cover the same calls and the same
 * switches (tests/kernel/server_patterns.h explains it), so
 *
 * 	CPU time of the bill + interrupts shown next to it = the server's own clock
 *
 * within 1 % or 100 us, both ways. A bill may only be less by the process's unknown time in the
 * report: a thread that the kernel hides from tracers (of process 1 on some machines) may have
 * counted as running. Where a request has a process of its own, the bill includes the end of the
 * process, and only the length of that end is known: the bill may exceed the truth by that.
 *
 * A hypervisor can stop the machine between an event and the reading of the clock next to it. So a
 * pattern that fails on a machine from which time was taken, or which hid a thread, is recorded
 * again, alone, a few times at most. On a dedicated machine it never is.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include "e2e_session.h"
#include "unit.h"

#define ALLOWED_NS	 100000 /* or 1 %; each times price() */
#define BIRTH_AND_END_NS 3000000
#define FREE_TRIES	 4 /* caches and clock rates are shared with other programs; a wrong bill is wrong each time */
#define MAX_TRIES	 8 /* if the machine stood still meanwhile, or hid a thread */

/*
 * A server makes a few system calls, page faults and switches between its readings of its own
 * clock. On a virtual machine without hardware support these take many times longer, so the
 * tolerance is multiplied by this factor. It comes from the fastest of some system calls, and is 1
 * where a call takes 0.3 us.
 */
static long long price(void)
{
	static long long price;
	struct timespec begin, end;
	long long ns, best = 1 << 30;

	for (int i = 0; !price && i < 1000; i++) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		for (int j = 0; j < 10; j++)
			syscall(SYS_getppid);
		clock_gettime(CLOCK_MONOTONIC, &end);
		ns = ((end.tv_sec - begin.tv_sec) * 1000000000LL + end.tv_nsec - begin.tv_nsec) / 10;
		best = ns < best ? ns : best;
	}
	if (!price)
		price = best / 300 > 1 ? best / 300 : 1;
	return price;
}

/**
 * struct recording - one recording
 * @patterns: all of them, or one
 * @stolen_ns: taken by a hypervisor meanwhile, from all CPUs
 */
struct recording {
	struct session session;
	const char *patterns;
	long long stolen_ns;
};

static struct recording now = {.patterns = ""}, early = {.patterns = ""};

static void load(struct session *s)
{
	if (session_run("%s/tracevisualizer --verify %s >/dev/null", TRACE_BIN, s->trace) == 0)
		s->report = session_load(s, "");
}

static void record(struct recording *r)
{
	struct session *s = &r->session;

	session_begin(s);
	if (session_run("timeout 130 %s/tracedaemon %s -- timeout 120 %s %s %s run %s 2>%s/stderr", TRACE_BIN, s->trace,
			TRACE_PATTERNS, s->truth, s->folder, r->patterns, s->folder) == 0)
		load(s);
	r->stolen_ns = session_stolen_ns(s);
}

static void record_early(struct recording *r)
{
	struct session *s = &r->session;

	session_begin(s);
	session_run("timeout 50 %s %s %s early & i=0; while [ ! -e %s/ready ] && [ $i -lt 200 ]; do sleep 0.1; "
		    "i=$((i+1)); done",
		    TRACE_PATTERNS, s->truth, s->folder, s->folder);
	if (session_run("timeout 60 %s/tracedaemon %s -- timeout 50 %s %s/none %s go 2>%s/stderr", TRACE_BIN, s->trace,
			TRACE_PATTERNS, s->folder, s->folder, s->folder) == 0)
		load(s);
	r->stolen_ns = session_stolen_ns(s);
}

/* ---- one line of truth ---- */

struct truth {
	char pattern[64];
	char kind[16];
	long long server, client, ns;
	int requests;
};

static bool next_truth(FILE *file, struct truth *t)
{
	return fscanf(file, "%63s %15s %lld %lld %lld %d", t->pattern, t->kind, &t->server, &t->client, &t->ns,
		      &t->requests) == 6;
}

static FILE *truth_open(const struct session *s)
{
	return fopen(s->truth, "r");
}

static bool truth_find(const struct session *s, const char *kind, long long server, long long client,
		       struct truth *ret_truth)
{
	FILE *file = truth_open(s);
	bool found = false;

	while (file && !found && next_truth(file, ret_truth))
		found = strcmp(ret_truth->kind, kind) == 0 && ret_truth->server == server &&
			(client < 0 || ret_truth->client == client);
	if (file)
		fclose(file);
	return found;
}

static long long allowed(long long ns)
{
	return price() * (ns / 100 > ALLOWED_NS ? ns / 100 : ALLOWED_NS);
}

/* The server's unknown time. */
static long long unknown(const struct session *s, long long server)
{
	json_t *wait;
	long long ns = 0;
	size_t i;

	json_array_foreach(json_object_get(json_process(s->report, server), "waits"), i, wait)
		if (strcmp(json_text(wait, "kind"), "unknown") == 0)
			ns += json_number(wait, "ns");
	return ns;
}

/* The maximum length of its end, if that is in the bill. */
static long long end_of(const struct session *s, long long server)
{
	struct truth end;

	return truth_find(s, "end", server, -1, &end) ? end.ns : 0;
}

static int nr_wrong;

#define HOLDS(condition) holds(condition, #condition, __LINE__)
static void holds(bool true_, const char *claim, int line)
{
	if (true_)
		return;
	fprintf(stderr, "\n    line %d does not hold: %s", line, claim);
	nr_wrong++;
}

/* The CPU time that the server has measured for this client, alone and together with others. */
static long long whole_truth(const struct session *s, const struct truth *t)
{
	struct truth other;

	return t->ns + (truth_find(s, strcmp(t->kind, "shared") == 0 ? "exact" : "shared", t->server, t->client, &other)
				? other.ns
				: 0);
}

static void check_bill(const struct session *s, json_t *server, const struct truth *t)
{
	json_t *client = json_with_pid(server, "clients", t->client);
	long long bill = json_number(client, "cpu_ns"), interrupted = json_number(client, "interrupted_ns"),
		  got = bill + interrupted, ns = whole_truth(s, t), end = end_of(s, t->server);

	if (getenv("TRACE_VERBOSE") || got < ns - allowed(ns) - unknown(s, t->server) || got > ns + allowed(ns) + end)
		fprintf(stderr,
			"\n    %s: %lld for %lld: %lld + %lld interrupted, expected %lld, end %lld, %lld unknown, "
			"exact %lld, least %lld, most %lld: %+.2f %%, %+lld us",
			t->pattern, t->server, t->client, bill, interrupted, ns, end, unknown(s, t->server),
			json_number(client, "exact_ns"), json_number(client, "least_ns"),
			json_number(client, "most_ns"), 100.0 * (double)(got - ns) / (double)ns, (got - ns) / 1000);
	HOLDS(client != NULL);
	HOLDS(got >= ns - allowed(ns) - unknown(s, t->server));
	HOLDS(got <= ns + allowed(ns) + end);
	HOLDS(json_number(client, "requests") == t->requests);
	HOLDS(bill == json_number(client, "exact_ns") + json_number(client, "shared_ns"));
	HOLDS(json_number(client, "least_ns") <= ns + allowed(ns) + end);
	HOLDS(json_number(client, "most_ns") + interrupted >= ns - allowed(ns) - unknown(s, t->server));
	HOLDS(json_number(client, "least_ns") <= bill && json_number(client, "most_ns") >= bill);
}

static void check_sums(const struct session *s, json_t *server)
{
	json_t *process = json_process(s->report, json_number(server, "pid")), *client;
	long long exact = 0, shared = 0;
	size_t i;

	json_array_foreach(json_object_get(server, "clients"), i, client) {
		exact += json_number(client, "exact_ns");
		shared += json_number(client, "shared_ns");
	}
	HOLDS(exact == json_number(server, "exact_ns"));
	HOLDS(shared == json_number(server, "shared_ns"));
	HOLDS(exact + shared + json_number(server, "background_ns") == json_number(server, "cpu_ns"));
	HOLDS(json_number(server, "cpu_ns") == json_number(process, "user_ns") + json_number(process, "system_ns"));
}

static void check_background(const struct session *s, json_t *server, const struct truth *t)
{
	long long ns = json_number(server, "background_ns"),
		  interrupted = json_number(json_process(s->report, t->server), "interrupted_ns");

	/* The birth and the end of the process are in the bill, and a part of its interrupts hit
	 * it. */
	HOLDS(ns >= t->ns - interrupted - allowed(t->ns) - unknown(s, t->server));
	HOLDS(ns <= t->ns + price() * BIRTH_AND_END_NS);
}

static void check_line(const struct session *s, const struct truth *t)
{
	json_t *server = json_with_pid(s->report, "servers", t->server), *client;

	if (strcmp(t->kind, "noserver") == 0) {
		HOLDS(server == NULL);
		return;
	}
	if (strcmp(t->kind, "nothing") == 0) { /* a connection made before there was a request */
		client = json_with_pid(server, "clients", t->client);
		HOLDS(json_number(client, "cpu_ns") < price() * ALLOWED_NS);
		HOLDS(json_number(client, "requests") == 0);
		return;
	}
	HOLDS(server != NULL);
	if (!server)
		return;
	check_sums(s, server);
	if (strcmp(t->kind, "server") == 0)
		check_background(s, server, t);
	else
		check_bill(s, server, t);
}

static void check_recording(const struct session *s, const char *pattern, int expected)
{
	bool skipped = false;
	struct truth t;
	int lines = 0;
	FILE *truth;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s->report);
	truth = truth_open(s);
	CU_ASSERT_PTR_NOT_NULL_FATAL(truth);
	nr_wrong = 0;
	while (next_truth(truth, &t))
		if (strcmp(t.pattern, pattern) != 0) {
			continue;
		} else if (strcmp(t.kind, "skipped") == 0) {
			fprintf(stderr, " (skipped: no io_uring of that kind here) ");
			skipped = true;
		} else if (strcmp(t.kind, "end") != 0) {
			check_line(s, &t);
			lines++;
		}
	fclose(truth);
	HOLDS(lines == (skipped ? 0 : expected));
}

/* Did the machine stand still meanwhile, or hide a thread of the pattern's servers? */
static bool was_disturbed(const struct recording *r, const char *pattern)
{
	FILE *truth = truth_open(&r->session);
	bool hidden = false;
	struct truth t;

	while (truth && next_truth(truth, &t))
		hidden = hidden || (strcmp(t.pattern, pattern) == 0 && unknown(&r->session, t.server));
	if (truth)
		fclose(truth);
	return hidden || r->stolen_ns;
}

static void check_pattern(struct recording *first, void (*how)(struct recording *), const char *pattern, int lines)
{
	struct recording again = {.patterns = pattern};

	if (!*first->session.folder) /* the first case that needs it records */
		how(first);
	check_recording(&first->session, pattern, lines);
	for (int tries = 1; nr_wrong && tries < MAX_TRIES && (tries < FREE_TRIES || was_disturbed(&again, pattern));
	     tries++) {
		fprintf(stderr, "\n    %.0f ms were stolen: again\n",
			(double)(tries > 1 ? &again : first)->stolen_ns / 1e6);
		if (tries > 1)
			session_end(&again.session);
		how(&again);
		check_recording(&again.session, pattern, lines);
	}
	if (*again.session.folder)
		session_end(&again.session);
	CU_ASSERT_EQUAL(nr_wrong, 0);
}

#define PATTERN(name, lines)                               \
	static void name(void)                             \
	{                                                  \
		check_pattern(&now, record, #name, lines); \
	}
#define EARLY(name)                                            \
	static void name(void)                                 \
	{                                                      \
		check_pattern(&early, record_early, #name, 4); \
	}
PATTERN(unix_sequential, 4)
PATTERN(unix_poll, 4)
PATTERN(unix_epoll, 4)
PATTERN(unix_select, 4)
PATTERN(unix_threads, 4)
PATTERN(unix_datagrams, 4)
PATTERN(udp4, 4)
PATTERN(udp6, 4)
PATTERN(shared_memory_futex, 4)
PATTERN(shared_memory_eventfd, 4)
PATTERN(seqpacket_poll, 4)
PATTERN(tcp4_sequential, 4)
PATTERN(tcp4_epoll, 4)
PATTERN(tcp4_threads, 4)
PATTERN(interpreter_threads, 4)
PATTERN(tcp6_poll, 4)
PATTERN(tcp4_fork, 4)
PATTERN(unix_fork, 4)
PATTERN(two_networks, 4)
PATTERN(fifos, 4)
PATTERN(pipes, 4)
PATTERN(socket_pairs, 4)
PATTERN(pool_condvar, 4)
PATTERN(pool_busy, 4)
PATTERN(pool_pipe, 4)
PATTERN(pool_eventfd, 4)
PATTERN(batch, 8)
PATTERN(callback, 12)
PATTERN(chain, 9)
PATTERN(chain_event_loop, 9)
PATTERN(pipelined, 4)
PATTERN(request_in_pieces, 4)
PATTERN(reply_in_pieces, 4)
PATTERN(short_connections, 4)
PATTERN(background_thread, 5)
PATTERN(pipeline, 1)
PATTERN(ring_tcp4, 4)
PATTERN(ring_unix, 4)
PATTERN(ring_submits, 4)
PATTERN(ring_worker, 4)
PATTERN(ring_polled, 4)
PATTERN(ring_poll, 4)
PATTERN(ring_file, 4)
PATTERN(ring_multishot, 4)
PATTERN(ring_batch, 4)
PATTERN(ring_chain, 8)
PATTERN(ring_pipes, 4)
EARLY(early_unix)
EARLY(early_tcp4)
EARLY(early_seqpacket)

static void ends(void)
{
	if (getenv("TRACE_KEEP")) {
		fprintf(stderr, "kept: %s %s\n", now.session.folder, early.session.folder);
		return;
	}
	if (*now.session.folder)
		session_end(&now.session);
	if (*early.session.folder)
		session_end(&early.session);
}

static const struct unit_case cases[] = {
	{"unix_sequential", unix_sequential},
	{"unix_poll", unix_poll},
	{"unix_epoll", unix_epoll},
	{"unix_select", unix_select},
	{"unix_threads", unix_threads},
	{"unix_datagrams", unix_datagrams},
	{"udp4", udp4},
	{"udp6", udp6},
	{"shared_memory_futex", shared_memory_futex},
	{"shared_memory_eventfd", shared_memory_eventfd},
	{"seqpacket_poll", seqpacket_poll},
	{"tcp4_sequential", tcp4_sequential},
	{"tcp4_epoll", tcp4_epoll},
	{"tcp4_threads", tcp4_threads},
	{"interpreter_threads", interpreter_threads},
	{"tcp6_poll", tcp6_poll},
	{"tcp4_fork", tcp4_fork},
	{"unix_fork", unix_fork},
	{"two_networks", two_networks},
	{"fifos", fifos},
	{"pipes", pipes},
	{"socket_pairs", socket_pairs},
	{"pool_condvar", pool_condvar},
	{"pool_busy", pool_busy},
	{"pool_pipe", pool_pipe},
	{"pool_eventfd", pool_eventfd},
	{"batch_is_shared", batch},
	{"callback_is_the_clients_own", callback},
	{"chain_charges_the_origin", chain},
	{"chain_event_loop", chain_event_loop},
	{"pipelined", pipelined},
	{"request_in_pieces", request_in_pieces},
	{"reply_in_pieces", reply_in_pieces},
	{"short_connections", short_connections},
	{"background_thread", background_thread},
	{"a_pipeline_is_no_server", pipeline},
	{"ring_tcp4", ring_tcp4},
	{"ring_unix", ring_unix},
	{"ring_submits", ring_submits},
	{"ring_worker", ring_worker},
	{"ring_polled", ring_polled},
	{"ring_poll", ring_poll},
	{"ring_file", ring_file},
	{"ring_multishot", ring_multishot},
	{"ring_batch", ring_batch},
	{"ring_chain", ring_chain},
	{"ring_pipes", ring_pipes},
	{"early_unix", early_unix},
	{"early_tcp4", early_tcp4},
	{"early_seqpacket", early_seqpacket},
	{"the_recordings_are_removed", ends},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_servers: needs root and a kernel with BTF\n");
		return 77;
	}
	return unit_main("servers, end to end", cases, argc, argv);
}
