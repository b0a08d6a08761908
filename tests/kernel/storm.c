/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* storm.c - the frame of a storm: arguments, choices, and the end of all its processes */
#include "storm.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include "spend.h"

#define GONE_MS 10000 /* the kernel has so long to end killed processes */

static const struct storm_operation *operations;
static uint64_t chosen;
static uint32_t chosen_weight;
static _Thread_local uint64_t state = 1;

/* ---- choices ---- */

/* A xorshift generator: Marsaglia, "Xorshift RNGs", 2003. */
static uint64_t next_random(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

void storm_seed(uint64_t seed)
{
	state = seed * 2654435761u | 1;
	for (int i = 0; i < 8; i++) /* seeds that differ by 1 begin alike */
		next_random();
}

uint64_t storm_new_seed(void)
{
	return next_random() >> 11;
}

uint32_t below(uint32_t end)
{
	return (uint32_t)(next_random() >> 11) % end;
}

bool one_in(uint32_t nr)
{
	return below(nr) == 0;
}

/* ---- operations ---- */

static bool is_chosen(uint32_t i)
{
	return chosen >> i & 1;
}

void storm_choose(const struct storm_operation *list, uint64_t bits)
{
	operations = list;
	chosen = bits;
	chosen_weight = 0;
	for (uint32_t i = 0; list[i].name; i++)
		chosen_weight += is_chosen(i) ? list[i].weight : 0;
}

uint64_t storm_chosen(void)
{
	return chosen;
}

void storm_operate(void)
{
	uint32_t at = below(chosen_weight), i = 0;

	while (!is_chosen(i) || at >= operations[i].weight) {
		at -= is_chosen(i) ? operations[i].weight : 0;
		i++;
	}
	operations[i].run();
}

void nap_us(uint32_t us)
{
	nanosleep(&(struct timespec){.tv_nsec = us * 1000L}, NULL);
}

/* ---- the frame ---- */

/* The bit of the operation @name; 0: there is none. */
static uint64_t bit_of(const struct storm_operation *list, const char *name)
{
	for (uint32_t i = 0; list[i].name; i++)
		if (strcmp(list[i].name, name) == 0)
			return 1ull << i;
	return 0;
}

static bool read_arguments(const struct storm *storm, int argc, char **argv)
{
	uint64_t bits = 0;

	if (argc < 3 || atoi(argv[1]) < 1)
		return false;
	for (int i = 3; i < argc; i++) {
		uint64_t bit = bit_of(storm->operations, argv[i]);

		if (!bit)
			return false;
		bits |= bit;
	}
	storm_choose(storm->operations, bits ? bits : UINT64_MAX);
	return true;
}

static void usage(const struct storm *storm, const char *program)
{
	fprintf(stderr, "usage: %s SECONDS SEED [OPERATION...]\nOPERATION:", program);
	for (const struct storm_operation *each = storm->operations; each->name; each++)
		fprintf(stderr, " %s", each->name);
	fputs("\n", stderr);
}

/* The first process, and the leader of the group that all others belong to. */
static pid_t start(const struct storm *storm, uint64_t seed, const sigset_t *signals)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setpgid(0, 0);
		sigprocmask(SIG_UNBLOCK, signals, NULL);
		storm_seed(seed);
		storm->begin();
	}
	setpgid(pid, pid);
	return pid;
}

/* Until the group has no process, dead or alive. A fork in progress fails or gets the signal. */
static bool end_group(pid_t group)
{
	kill(-group, SIGKILL);
	for (int i = 0; i < GONE_MS; i++) {
		while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
			;
		if (kill(-group, 0) < 0 && errno == ESRCH)
			return true;
		sleep_ns(MS);
	}
	return false;
}

int storm_main(const struct storm *storm, int argc, char **argv)
{
	sigset_t signals;
	uint64_t seed;
	bool is_gone;
	pid_t group;

	if (!read_arguments(storm, argc, argv)) {
		usage(storm, argv[0]);
		return 2;
	}
	seed = strtoull(argv[2], NULL, 10);
	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	if (seed % 2)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	if (storm->prepare)
		storm->prepare();
	group = start(storm, seed, &signals);
	signal(SIGUSR1, SIG_IGN); /* from orphans that signal their parent */
	signal(SIGUSR2, SIG_IGN);
	signal(SIGALRM, SIG_IGN);
	sigtimedwait(&signals, NULL, &(struct timespec){.tv_sec = atoi(argv[1])});
	is_gone = group > 0 && end_group(group);
	if (storm->clean)
		storm->clean();
	return is_gone ? 0 : 1;
}
