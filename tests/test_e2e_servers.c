// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * test_e2e_servers.c - record servers of all shapes (tests/server_patterns.c), and hold the bills against what they know of
 * themselves.
 *
 * All patterns run in one recording. A bill and the truth span the same calls (tests/server_patterns.h says how, and why it is not
 * one and the same figure), so
 *
 *	CPU time of the bill + interrupts told beside it = the server's own clock
 *
 * to 1 % or 100 us. That the clock counts interrupts is no assumption: the same is held against the kernel's final count of the whole process,
 * which wait4() tells when it is ended. What the books of the process have more than that count, a hypervisor took from it: the kernel
 * takes that from its clocks, in later requests too if it is much at once, and no tracer inside the machine can see it. A bill may be
 * greater by that much, and only by that much; where nothing is stolen, by nothing. And it may be less by what the report calls unknown of the
 * process: a thread that the kernel hides from tracers (of process 1 on some machines) was believed to have the CPU.
 *
 * Where each request has a process of its own, all of its life is in the bill, and the truth is the kernel's count of it: what the bill
 * has more than that is steal, so there only the other side is a test.
 */
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "session.h"
#include "unit.h"

#define ALLOWED_NS 100000 /* or 1 % */

static struct session now, early;

static void load(struct session *s)
{
	if (session_run("%s/tracevisualizer --verify %s >/dev/null", TRACE_BIN, s->trace) == 0)
		s->report = session_load(s, "");
}

static void record(struct session *s)
{
	session_begin(s);
	if (session_run("timeout 90 %s/tracedaemon %s -- timeout 80 %s %s %s run 2>%s/stderr", TRACE_BIN, s->trace, TRACE_PATTERNS, s->truth,
			s->folder, s->folder) == 0)
		load(s);
}

static void record_early(struct session *s)
{
	session_begin(s);
	session_run("timeout 50 %s %s %s early & i=0; while [ ! -e %s/ready ] && [ $i -lt 200 ]; do sleep 0.1; i=$((i+1)); done", TRACE_PATTERNS,
		    s->truth, s->folder, s->folder);
	if (session_run("timeout 60 %s/tracedaemon %s -- timeout 50 %s %s/none %s go 2>%s/stderr", TRACE_BIN, s->trace, TRACE_PATTERNS, s->folder,
			s->folder, s->folder) == 0)
		load(s);
}

/* The first case that needs it records. */
static const struct session *recorded(struct session *s, void (*how)(struct session *))
{
	if (!*s->folder)
		how(s);
	return s;
}

static json_t *with_pid(const json_t *object, const char *array, long long pid)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(object, array), i, row) if (json_number(row, "pid") == pid) return row;
	return NULL;
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
	return fscanf(file, "%63s %15s %lld %lld %lld %d", t->pattern, t->kind, &t->server, &t->client, &t->ns, &t->requests) == 6;
}

static FILE *truth_open(const struct session *s)
{
	return fopen(s->truth, "r");
}

static bool truth_find(const struct session *s, const char *kind, long long server, long long client, struct truth *ret_truth)
{
	FILE *file = truth_open(s);
	bool found = false;

	while (file && !found && next_truth(file, ret_truth))
		found = strcmp(ret_truth->kind, kind) == 0 && ret_truth->server == server && (client < 0 || ret_truth->client == client);
	if (file)
		fclose(file);
	return found;
}

static long long allowed(long long ns)
{
	return ns / 100 > ALLOWED_NS ? ns / 100 : ALLOWED_NS;
}

/* What is not known of it. */
static long long unknown(const struct session *s, long long server)
{
	json_t *wait;
	long long ns = 0;
	size_t i;

	json_array_foreach(json_object_get(json_process(s->report, server), "waits"), i, wait) if (strcmp(json_text(wait, "kind"), "unknown") == 0)
		ns += json_number(wait, "ns");
	return ns;
}

/* What a hypervisor took from the process: its time in the books that the kernel did not count. */
static long long stolen(const struct session *s, long long server)
{
	json_t *process = json_process(s->report, server);
	struct truth cpu;
	long long more;

	if (!truth_find(s, "cpu", server, -1, &cpu))
		return 0;
	more = json_number(process, "user_ns") + json_number(process, "system_ns") + json_number(process, "interrupted_ns") - cpu.ns;
	CU_ASSERT(more >= -allowed(cpu.ns) - unknown(s, server)); /* the books have all that the kernel counted */
	return more > 0 ? more : 0;
}

static void check_bill(const struct session *s, json_t *server, const struct truth *t)
{
	json_t *client = with_pid(server, "clients", t->client);
	bool shared = strcmp(t->kind, "shared") == 0;
	long long bill = json_number(client, shared ? "shared_ns" : "exact_ns"), cpu = json_number(client, "cpu_ns"), steal = stolen(s, t->server);
	long long got = bill + (cpu ? json_number(client, "interrupted_ns") * bill / cpu : 0); /* told for both kinds together */
	struct truth other;

	if (getenv("TRACE_VERBOSE") || got < t->ns - allowed(t->ns) - unknown(s, t->server) || got > t->ns + allowed(t->ns) + steal)
		fprintf(stderr, "\n    %s: %lld for %lld: %s %lld + %lld interrupted, expected %lld, %lld stolen, %lld unknown: %+.2f %%, %+lld us", t->pattern,
			t->server, t->client, t->kind, bill, got - bill, t->ns, steal, unknown(s, t->server), 100.0 * (double)(got - t->ns) / (double)t->ns,
			(got - t->ns) / 1000);
	CU_ASSERT_PTR_NOT_NULL(client);
	CU_ASSERT(got >= t->ns - allowed(t->ns) - unknown(s, t->server));
	CU_ASSERT(got <= t->ns + allowed(t->ns) + steal);
	CU_ASSERT_EQUAL(json_number(client, "requests"), t->requests);
	CU_ASSERT_EQUAL(cpu, json_number(client, "exact_ns") + json_number(client, "shared_ns"));
	if (!truth_find(s, shared ? "exact" : "shared", t->server, t->client, &other))
		CU_ASSERT(json_number(client, shared ? "exact_ns" : "shared_ns") <= ALLOWED_NS + steal);
}

static void check_sums(const struct session *s, json_t *server)
{
	json_t *process = json_process(s->report, json_number(server, "pid")), *client;
	long long exact = 0, shared = 0;
	size_t i;

	json_array_foreach(json_object_get(server, "clients"), i, client)
	{
		exact += json_number(client, "exact_ns");
		shared += json_number(client, "shared_ns");
	}
	CU_ASSERT_EQUAL(exact, json_number(server, "exact_ns"));
	CU_ASSERT_EQUAL(shared, json_number(server, "shared_ns"));
	CU_ASSERT_EQUAL(exact + shared + json_number(server, "background_ns"), json_number(server, "cpu_ns"));
	CU_ASSERT_EQUAL(json_number(server, "cpu_ns"), json_number(process, "user_ns") + json_number(process, "system_ns"));
}

static void check_background(const struct session *s, json_t *server, const struct truth *t)
{
	long long ns = json_number(server, "background_ns"), interrupted = json_number(json_process(s->report, t->server), "interrupted_ns");

	/* The birth and the end of the process are in it, and a part of its interrupts hit it. */
	CU_ASSERT(ns >= t->ns - interrupted - allowed(t->ns) - unknown(s, t->server));
	CU_ASSERT(ns <= t->ns + stolen(s, t->server) + 3000000);
}

static void check_line(const struct session *s, const struct truth *t)
{
	json_t *server = with_pid(s->report, "servers", t->server), *client;

	if (strcmp(t->kind, "noserver") == 0) {
		CU_ASSERT_PTR_NULL(server);
		return;
	}
	if (strcmp(t->kind, "nothing") == 0) { /* a connection made before there was a request */
		client = with_pid(server, "clients", t->client);
		CU_ASSERT(json_number(client, "cpu_ns") < ALLOWED_NS + stolen(s, t->server));
		CU_ASSERT_EQUAL(json_number(client, "requests"), 0);
		return;
	}
	CU_ASSERT_PTR_NOT_NULL(server);
	if (!server)
		return;
	check_sums(s, server);
	if (strcmp(t->kind, "server") == 0)
		check_background(s, server, t);
	else
		check_bill(s, server, t);
}

static void check_lines(const struct session *s, const char *pattern, int expected)
{
	struct truth t;
	int lines = 0;
	FILE *truth;

	CU_ASSERT_PTR_NOT_NULL_FATAL(s->report);
	truth = truth_open(s);
	CU_ASSERT_PTR_NOT_NULL_FATAL(truth);
	while (next_truth(truth, &t))
		if (strcmp(t.pattern, pattern) == 0 && strcmp(t.kind, "cpu") != 0) {
			check_line(s, &t);
			lines++;
		}
	fclose(truth);
	CU_ASSERT_EQUAL(lines, expected);
}

#define PATTERN(name, lines)                                                                                                     \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		check_lines(recorded(&now, record), #name, lines);                                                                                 \
	}
#define EARLY(name)                                                                                                              \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		check_lines(recorded(&early, record_early), #name, 4);                                                                                   \
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
PATTERN(tcp6_poll, 4)
PATTERN(tcp4_fork, 4)
PATTERN(unix_fork, 4)
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
EARLY(early_unix)
EARLY(early_tcp4)
EARLY(early_seqpacket)

static void ends(void)
{
	if (getenv("TRACE_KEEP")) {
		fprintf(stderr, "kept: %s %s\n", now.folder, early.folder);
		return;
	}
	if (*now.folder)
		session_end(&now);
	if (*early.folder)
		session_end(&early);
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
	{"tcp6_poll", tcp6_poll},
	{"tcp4_fork", tcp4_fork},
	{"unix_fork", unix_fork},
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
