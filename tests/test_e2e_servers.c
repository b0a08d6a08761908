// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * test_e2e_servers.c - record servers of all shapes (tests/server_patterns.c), and hold the bills against what they know of
 * themselves.
 *
 * All patterns run in one recording. A bill must be within 1 % or 100 us of the truth, and:
 * - the servers' own clock counts the interrupts that hit them, a bill does not: it may be less by what the report says they
 * took;
 * - it may be more by what a hypervisor took, which stops the servers' clock alone; the servers saw how much;
 * - the truth is the work of a request alone, the bill includes its receiving and sending: 30 us for each, and 100 us for
 * accepting, a thread for it perhaps, and the first touch of memory;
 * - a pattern that is off nevertheless is recorded once more alone, and that counts;
 * - where each request has a process of its own, its birth and its end are in the bill too: 600 us.
 */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "unit.h"

#define PER_REQUEST 30000
#define PER_CLIENT  100000
#define PER_PROCESS 600000
#define NOTHING	    100000 /* a connection made before there was a request */

static const char *bin = TRACE_BIN;
static char folder[64];
static json_t *report, *early_report;

static int run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int run(const char *format, ...)
{
	char command[1024];
	va_list arguments;
	int status;

	va_start(arguments, format);
	vsnprintf(command, sizeof(command), format, arguments);
	va_end(arguments);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static json_t *load_report(const char *name)
{
	char path[128];
	json_error_t error;
	json_t *json;

	if (run("%s/tracevisualizer --verify %s/%s.trace >/dev/null && %s/tracevisualizer --json %s/%s.trace >%s/%s.json", bin,
		folder, name, bin, folder, name, folder, name))
		return NULL;
	snprintf(path, sizeof(path), "%s/%s.json", folder, name);
	json = json_load_file(path, 0, &error);
	if (!json)
		fprintf(stderr, "report: line %d: %s\n", error.line, error.text);
	return json;
}

static void record_early(void)
{
	run("rm -f %s/ready %s/go %s/finished; timeout 50 %s %s/early.truth %s early & i=0; while [ ! -e %s/ready ] && [ $i -lt "
	    "200 ]; do sleep 0.1; i=$((i+1)); "
	    "done",
	    folder, folder, folder, TRACE_PATTERNS, folder, folder, folder);
	if (run("timeout 60 %s/tracedaemon %s/early.trace -- timeout 50 %s %s/none %s go 2>>%s/stderr", bin, folder,
		TRACE_PATTERNS, folder, folder, folder) == 0)
		early_report = load_report("early");
}

static void record_all(void)
{
	if (!mkdtemp(strcpy(folder, "/tmp/trace-servers-XXXXXX")))
		return;
	if (run("timeout 60 %s/tracedaemon %s/all.trace -- timeout 50 %s %s/all.truth %s run 2>%s/stderr", bin, folder,
		TRACE_PATTERNS, folder, folder, folder) == 0)
		report = load_report("all");
	record_early();
}

static long long number(json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static json_t *with_pid(json_t *array, long long pid)
{
	json_t *row;
	size_t i;

	json_array_foreach(array, i, row) if (number(row, "pid") == pid) return row;
	return NULL;
}

/* ---- one line of truth ---- */

struct truth {
	char pattern[64];
	char kind[16];
	long long server, client, ns;
	int requests;
	long long stolen;
};

static bool next_truth(FILE *file, struct truth *t)
{
	return fscanf(file, "%63s %15s %lld %lld %lld %d %lld", t->pattern, t->kind, &t->server, &t->client, &t->ns, &t->requests,
		      &t->stolen) == 7;
}

static bool near(const struct truth *t, long long got, long long interrupted, bool quiet)
{
	long long allowed = t->ns / 100 > 100000 ? t->ns / 100 : 100000,
		  more = allowed + PER_CLIENT + t->stolen + (long long)t->requests * PER_REQUEST;

	if (strstr(t->pattern, "_fork"))
		more += PER_PROCESS;
	if (strcmp(t->pattern, "short_connections") == 0) /* accepted and closed each time */
		more += t->requests * PER_CLIENT;
	if (got >= t->ns - allowed - interrupted && got <= t->ns + more)
		return true;
	if (!quiet)
		fprintf(stderr, "\n    %s: %lld for %lld: %s %lld, expected %lld (off by %.2f %%)\n", t->pattern, t->server,
			t->client, t->kind, got, t->ns, 100.0 * (double)(got - t->ns) / (double)t->ns);
	return false;
}

static long long interrupted_ns(json_t *from, long long pid)
{
	return number(with_pid(json_object_get(from, "processes"), pid), "interrupted_ns");
}

static void check_bill(json_t *from, json_t *server, const struct truth *t)
{
	json_t *client = with_pid(json_object_get(server, "clients"), t->client);
	bool shared = strcmp(t->kind, "shared") == 0;
	long long rest;

	CU_ASSERT_PTR_NOT_NULL(client);
	CU_ASSERT(near(t, number(client, shared ? "shared_ns" : "exact_ns"), interrupted_ns(from, t->server), false));
	CU_ASSERT_EQUAL(number(client, "requests"), t->requests);
	CU_ASSERT_EQUAL(number(client, "cpu_ns"), number(client, "exact_ns") + number(client, "shared_ns"));
	rest = number(client, shared ? "exact_ns" : "shared_ns"); /* receiving and sending may fall into the other column */
	CU_ASSERT(rest <= 100000 + PER_CLIENT + t->stolen + (long long)t->requests * PER_REQUEST);
}

static void check_sums(json_t *from, json_t *server)
{
	json_t *process = with_pid(json_object_get(from, "processes"), number(server, "pid")), *client;
	long long exact = 0, shared = 0;
	size_t i;

	json_array_foreach(json_object_get(server, "clients"), i, client)
	{
		exact += number(client, "exact_ns");
		shared += number(client, "shared_ns");
	}
	CU_ASSERT_EQUAL(exact, number(server, "exact_ns"));
	CU_ASSERT_EQUAL(shared, number(server, "shared_ns"));
	CU_ASSERT_EQUAL(exact + shared + number(server, "background_ns"), number(server, "cpu_ns"));
	CU_ASSERT_EQUAL(number(server, "cpu_ns"), number(process, "user_ns") + number(process, "system_ns"));
}

static void check_line(json_t *from, const struct truth *t)
{
	json_t *server = with_pid(json_object_get(from, "servers"), t->server), *client;

	if (strcmp(t->kind, "noserver") == 0) {
		CU_ASSERT_PTR_NULL(server);
		return;
	}
	if (strcmp(t->kind, "nothing") == 0) {
		client = with_pid(json_object_get(server, "clients"), t->client);
		CU_ASSERT(number(client, "cpu_ns") < NOTHING);
		CU_ASSERT_EQUAL(number(client, "requests"), 0);
		return;
	}
	CU_ASSERT_PTR_NOT_NULL(server);
	if (!server)
		return;
	check_sums(from, server);
	if (strcmp(t->kind, "server") == 0) /* the end of the process is in it */
		CU_ASSERT(number(server, "background_ns") >= t->ns - t->ns / 100 - interrupted_ns(from, t->server) &&
			  number(server, "background_ns") <= t->ns + t->stolen + 3000000)
	else
		check_bill(from, server, t);
}

/* Are all bills of the pattern near the truth? */
static bool is_quiet(json_t *from, const char *file, const char *pattern)
{
	char path[128];
	struct truth t;
	bool quiet = true;
	FILE *truth;

	snprintf(path, sizeof(path), "%s/%s.truth", folder, file);
	truth = fopen(path, "r");
	while (truth && next_truth(truth, &t)) {
		json_t *server = with_pid(json_object_get(from, "servers"), t.server);
		json_t *client = with_pid(json_object_get(server, "clients"), t.client);
		bool shared = strcmp(t.kind, "shared") == 0;

		if (strcmp(t.pattern, pattern) == 0 && (shared || strcmp(t.kind, "exact") == 0))
			quiet &=
				near(&t, number(client, shared ? "shared_ns" : "exact_ns"), interrupted_ns(from, t.server), true);
	}
	if (truth)
		fclose(truth);
	return quiet;
}

/* The machine may have been disturbed in a way that the servers could not see: then once more, alone, and that counts. */
static json_t *record_again(const char *pattern)
{
	if (run("timeout 30 %s/tracedaemon %s/again.trace -- timeout 20 %s %s/again.truth %s run %s 2>>%s/stderr", bin, folder,
		TRACE_PATTERNS, folder, folder, pattern, folder))
		return NULL;
	fprintf(stderr, "\n    %s: once more ", pattern);
	return load_report("again");
}

static void check_lines(json_t *from, const char *file, const char *pattern, int expected)
{
	char path[128];
	struct truth t;
	int lines = 0;
	FILE *truth;

	CU_ASSERT_PTR_NOT_NULL_FATAL(from);
	snprintf(path, sizeof(path), "%s/%s.truth", folder, file);
	truth = fopen(path, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(truth);
	while (next_truth(truth, &t))
		if (strcmp(t.pattern, pattern) == 0) {
			check_line(from, &t);
			lines++;
		}
	fclose(truth);
	CU_ASSERT_EQUAL(lines, expected);
}

static void check_pattern(const char *pattern, int expected)
{
	json_t *again = NULL;

	if (report && !is_quiet(report, "all", pattern))
		again = record_again(pattern);
	check_lines(again ? again : report, again ? "again" : "all", pattern, expected);
	json_decref(again);
}

static void check_early(const char *pattern)
{
	static bool again;

	if (early_report && !again && !is_quiet(early_report, "early", pattern)) {
		again = true;
		json_decref(early_report);
		early_report = NULL;
		record_early();
		fprintf(stderr, "\n    %s: once more ", pattern);
	}
	check_lines(early_report, "early", pattern, 4);
}

#define PATTERN(name, lines)                                                                                                     \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		check_pattern(#name, lines);                                                                                     \
	}
#define EARLY(name)                                                                                                              \
	static void name(void)                                                                                                   \
	{                                                                                                                        \
		check_early(#name);                                                                                              \
	}
PATTERN(unix_sequential, 4)
PATTERN(unix_poll, 4)
PATTERN(unix_epoll, 4)
PATTERN(unix_select, 4)
PATTERN(unix_threads, 4)
PATTERN(unix_datagrams, 4)
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
PATTERN(batch, 4)
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

static const struct unit_case cases[] = {
	{"unix_sequential", unix_sequential},
	{"unix_poll", unix_poll},
	{"unix_epoll", unix_epoll},
	{"unix_select", unix_select},
	{"unix_threads", unix_threads},
	{"unix_datagrams", unix_datagrams},
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
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int result;

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_servers: needs root and a kernel with BTF\n");
		return 77;
	}
	record_all();
	result = unit_main("servers, end to end", cases, argc, argv);
	if (report && early_report && !getenv("TRACE_KEEP"))
		run("rm -rf '%s'", folder);
	else
		fprintf(stderr, "kept: %s\n", folder);
	json_decref(report);
	json_decref(early_report);
	return result;
}
