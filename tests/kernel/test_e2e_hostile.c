/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_hostile.c - a program without privileges costs root's daemon a bounded amount. During
 * each attack of hostile_program.c no kernel event is lost, the recording ends, and the daemon's
 * memory stays small. An honest program of another user is recorded completely.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <trace/reader.h>
#include <unistd.h>

#include "e2e_session.h"
#include "unit.h"

#define HOSTILE TRACE_TESTS "/hostile_program"

enum {
	ATTACKER = 65534,
	HONEST = 65533,
	HONEST_EVENTS = 20000,
	USER_FIRST_STREAM = 0x10000,
	MEMORY_MORE_KIB = 72 << 10 /* a full queue of the writer */,
	ATTACKS_STEP = 3,
	PATIENCE_S = 60,
	LEAD_US = 400000,
	LONG_LEAD_US = 1500000 /* TRACE_TEST_LONG */
};

/**
 * struct outcome - the result of a recording: exit status and memory of the daemon, and numbers
 * from the trace
 */
struct outcome {
	int status;
	long rss_kib;
	uint64_t kernel_events;
	uint64_t kernel_lost;
	uint64_t honest_events;
	uint64_t program_lost;
	int honest_status;
	int verified;
};

static pid_t start(const char *const arguments[], bool group)
{
	pid_t pid = fork();

	if (pid == 0) {
		if (group)
			setpgid(0, 0);
		execv(arguments[0], (char *const *)arguments);
		_exit(127);
	}
	return pid;
}

static pid_t start_program(int uid, const char *command, unsigned long nr)
{
	char uid_text[16], nr_text[32];
	const char *const arguments[] = {HOSTILE, uid_text, command, nr_text, NULL};

	snprintf(uid_text, sizeof(uid_text), "%d", uid);
	snprintf(nr_text, sizeof(nr_text), "%lu", nr);
	return start(arguments, true);
}

/* Kills the program with its children. */
static void stop_program(pid_t pid)
{
	kill(-pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* The recording has begun when the trace is not empty. */
static void wait_for_begin(const char *trace)
{
	struct stat status;

	for (int i = 0; i < 3000 && (stat(trace, &status) < 0 || status.st_size == 0); i++)
		usleep(10000);
}

/* Returns false if the daemon does not end by itself. */
static bool wait_for_end(pid_t daemon, struct outcome *outcome)
{
	struct rusage usage = {0};

	kill(daemon, SIGINT);
	for (int i = 0; i < PATIENCE_S * 100; i++, usleep(10000))
		if (wait4(daemon, &outcome->status, WNOHANG, &usage) == daemon) {
			outcome->rss_kib = usage.ru_maxrss;
			return true;
		}
	kill(daemon, SIGKILL);
	waitpid(daemon, NULL, 0);
	return false;
}

static void read_trace(const char *path, struct outcome *outcome)
{
	struct trace_error error = {0};
	struct trace *trace = trace_open(path, &error);
	struct trace_cursor *cursor;
	const struct trace_event *event;

	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	outcome->verified = trace_verify(trace, &error);
	if (outcome->verified)
		fprintf(stderr, "%s\n", error.message);
	for (size_t i = 0; i < trace_nr_streams(trace); i++) {
		const struct trace_stream_stats *stats = trace_get_stream(trace, i);

		if (stats->stream >= USER_FIRST_STREAM) {
			outcome->program_lost += stats->discarded;
			continue;
		}
		outcome->kernel_events += stats->stored;
		/* the daemon's own small stream counts losses that belong to no ring */
		outcome->kernel_lost += stats->stored > 1000 ? stats->discarded : 0;
	}
	cursor = trace_cursor_new(trace, NULL, NULL);
	while ((event = trace_cursor_next(cursor)))
		outcome->honest_events += event->id >= TRACE_EV_MAX && !strcmp(event->type->name, "honest:event");
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(trace);
}

/*
 * Records with the attack from the beginning. An honest program begins a moment later, and is
 * recorded from its beginning to its end.
 */
static struct outcome record(const struct session *s, const char *attack, unsigned long nr)
{
	const char *const arguments[] = {TRACE_BIN "/tracedaemon", "--quiet", s->trace, NULL};
	struct outcome outcome = {0};
	pid_t daemon = start(arguments, false), evil = 0, honest;

	wait_for_begin(s->trace);
	if (attack)
		evil = start_program(ATTACKER, attack, nr);
	usleep(getenv("TRACE_TEST_LONG") ? LONG_LEAD_US : LEAD_US);
	honest = start_program(HONEST, "honest", HONEST_EVENTS);
	waitpid(honest, &outcome.honest_status, 0);
	CU_ASSERT_TRUE(wait_for_end(daemon, &outcome));
	if (evil)
		stop_program(evil);
	read_trace(s->trace, &outcome);
	return outcome;
}

static struct outcome quiet;

static void attack(const char *command, unsigned long nr)
{
	struct outcome outcome;
	struct session s;

	session_begin(&s);
	if (!quiet.kernel_events)
		quiet = record(&s, NULL, 0);
	session_run("rm -f '%s'", s.trace);
	outcome = record(&s, command, nr);
	fprintf(stderr,
		"%s %lu: %llu kernel events, %llu lost, daemon %ld MiB (%ld without), honest %llu, of programs %llu "
		"lost\n",
		command, nr, (unsigned long long)outcome.kernel_events, (unsigned long long)outcome.kernel_lost,
		outcome.rss_kib >> 10, quiet.rss_kib >> 10, (unsigned long long)outcome.honest_events,
		(unsigned long long)outcome.program_lost);
	CU_ASSERT_EQUAL(outcome.status, 0);
	CU_ASSERT_EQUAL(outcome.verified, 0);
	CU_ASSERT_EQUAL(outcome.kernel_lost, 0);
	CU_ASSERT_EQUAL(outcome.honest_status, 0);
	CU_ASSERT_EQUAL(outcome.honest_events, HONEST_EVENTS);
	CU_ASSERT_TRUE(outcome.rss_kib <= quiet.rss_kib + MEMORY_MORE_KIB);
	session_end(&s);
}

#define ATTACK(command, nr)                     \
	static void command##_cost_little(void) \
	{                                       \
		attack(#command, nr);           \
	}
ATTACK(blocks, 1)
ATTACK(mapped, 600)
ATTACK(va, 200)
ATTACK(fds, 1500)
ATTACK(kept, 3000)
ATTACK(sparse, 64)
ATTACK(sparse_dead, 256)
ATTACK(ids, 5)
ATTACK(stuck, 128)
ATTACK(spin, 1)
ATTACK(rescan, 1)
ATTACK(connections, 1)
ATTACK(mute, 2000)
ATTACK(offers, 1)
ATTACK(nonsense, 200)
ATTACK(dense, 1024)
ATTACK(bells, 3)
ATTACK(brief, 2)

#define COSTS(command)                                         \
	{                                                      \
#command "_cost_little", command##_cost_little \
	}

static const struct unit_case cases[] = {
	COSTS(blocks), COSTS(mapped),	   COSTS(va),	 COSTS(fds),	COSTS(kept),
	COSTS(sparse), COSTS(sparse_dead), COSTS(ids),	 COSTS(stuck),	COSTS(spin),
	COSTS(rescan), COSTS(connections), COSTS(mute),	 COSTS(offers), COSTS(nonsense),
	COSTS(dense),  COSTS(bells),	   COSTS(brief), {NULL, NULL},
};

int main(int argc, char **argv)
{
	char path[64];

	if (geteuid() != 0)
		return 77;
	snprintf(path, sizeof(path), "/tmp/trace-e2e-hostile-%d", (int)getpid());
	setenv("TRACER_SOCKET", path, 1);
	return unit_main_of_day("hostile programs beside root's daemon", cases, ATTACKS_STEP, argc, argv);
}
