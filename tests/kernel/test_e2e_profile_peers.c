/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_profile_peers.c - profiles compared with other programs that look at the same run: the
 * shares of functions with perf record, and the waits with offcputime of BCC (libbpf-tools) and
 * with a script for bpftrace that does the same
 *
 * This is the program with waits as well: "test_e2e_profile_peers wait FIFO" opens FIFO, which a
 * script does once the peer is ready, and then waits in three ways.
 *
 * Root only; skipped (77) where the kernel cannot be recorded. A peer that is not installed, or
 * that the kernel refuses, is left out, and a line says so.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <math.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "e2e_session.h"
#include "unit.h"

#define NR_WAITS 12
#define WAIT_MS	 20
#define MS	 1000000ll
#define PERF	 "perf record -q -e cpu-clock -F 1499"
#define COMM	 "workload_own_ti"

static const char *self;

/* ---- the program ---- */

/* Each wait is of another function of the kernel. */
static int run(const char *fifo)
{
	const struct timespec time = {.tv_nsec = WAIT_MS * MS};
	unsigned int word = 0;
	int fd = open(fifo, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return 1;
	for (int i = 0; i < NR_WAITS; i++) {
		clock_nanosleep(CLOCK_MONOTONIC, 0, &time, NULL);
		poll(NULL, 0, WAIT_MS);
		syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
	}
	return 0;
}

/* ---- perf ---- */

static const char *const functions[] = {"own_recursive",   "own_outer",	 "own_tail_first",
					"own_tail_second", "own_caught", "own_handler",
					"own_thread",	   "own_child",	 "own_spawned"};
#define NR_FUNCTIONS (sizeof(functions) / sizeof(functions[0]))

/** struct counts - samples, or time, of each function */
struct counts {
	double of[NR_FUNCTIONS];
	double all;
};

static void add_count(struct counts *counts, const char *name, double count)
{
	for (size_t i = 0; i < NR_FUNCTIONS; i++)
		if (!strcmp(name, functions[i])) {
			counts->of[i] += count;
			counts->all += count;
		}
}

/* Lines "390 [.] own_thread" */
static struct counts perf_counts(const struct session *s)
{
	struct counts counts = {0};
	char command[256], line[256], name[128];
	long long samples;
	FILE *report;

	snprintf(command, sizeof(command),
		 "perf report -i %s/perf.data --stdio -q --no-children -F sample,sym 2>/dev/null", s->folder);
	report = popen(command, "r");
	while (report && fgets(line, sizeof(line), report))
		if (sscanf(line, "%lld [.] %127s", &samples, name) == 2)
			add_count(&counts, name, (double)samples);
	if (report)
		pclose(report);
	return counts;
}

/* perf counts a function that was built into another one as part of that. */
static void our_counts(const json_t *profile, struct counts *ret_ns, struct counts *ret_samples)
{
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(profile, "rows"), i, row) {
		const char *name = json_text(row, "name");

		name = strcmp(name, "own_inner") ? name : "own_outer";
		add_count(ret_ns, name, (double)json_number(row, "on_cpu_ns"));
		add_count(ret_samples, name, (double)json_number(row, "samples"));
	}
}

static void shares_of_functions_are_those_of_perf(void)
{
	struct counts theirs, ns = {0}, samples = {0};
	struct session s;
	json_t *profile;

	if (session_run("perf --version >/dev/null 2>&1")) {
		printf("left out: perf is not installed. ");
		return;
	}
	session_begin(&s);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon --sample=700us %s -- " PERF " -o %s/perf.data -- %s %s "
					  ">%s/stdout 2>%s/stderr",
					  TRACE_BIN, s.trace, s.folder, TRACE_OWN_TIMES, s.truth, s.folder, s.folder),
			      0);
	profile = session_load(&s, "--profile --comm=" COMM);
	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	our_counts(profile, &ns, &samples);
	theirs = perf_counts(&s);
	CU_ASSERT_FATAL(theirs.all > 500 && samples.all > 500);
	for (size_t i = 0; i < NR_FUNCTIONS; i++) {
		double their = theirs.of[i] / theirs.all, our = ns.of[i] / ns.all;
		double deviation = sqrt(their * (1 - their) * (1 / theirs.all + 1 / samples.all));

		printf("%s: %.2f %% of ours, %.2f %% of perf's, +- %.2f\n", functions[i], our * 100, their * 100,
		       deviation * 100);
		CU_ASSERT(fabs(our - their) <= 5 * deviation + 0.01);
	}
	json_decref(profile);
	session_end(&s);
}

/* ---- offcputime, and bpftrace ---- */

/* Begins the program's waits when the peer $3 has attached its program. */
static const char script[] = "mkfifo $1/fifo\n"
			     "$2 wait $1/fifo & P=$!\n"
			     "echo \"pid $P\" >$1/truth\n"
			     "case $3 in\n"
			     "offcputime) offcputime -p $P 60 >$1/peer 2>&1 & ;;\n"
			     "bpftrace) bpftrace -B none -e \"\n"
			     "	tracepoint:sched:sched_switch /args->prev_pid == $P && args->prev_state/ { @at = "
			     "nsecs; @stack = kstack; }\n"
			     "	tracepoint:sched:sched_switch /args->next_pid == $P && @at/ { @us[@stack] = sum((nsecs "
			     "- @at) / 1000); @at = 0; }\n"
			     "	interval:ms:10 { if (!@is_ready) { printf(\\\"attached\\n\\\"); @is_ready = 1; } }\n"
			     "	END { clear(@at); clear(@stack); clear(@is_ready); }\" >$1/peer 2>&1 & ;;\n"
			     "esac\n"
			     "O=$!\n"
			     "for i in $(seq 100); do\n"
			     "	grep -q ^attached $1/peer && break\n"
			     "	bpftool link show 2>/dev/null | grep -q \"offcputime($O)\" && break\n"
			     "	kill -0 $O 2>/dev/null || break\n"
			     "	sleep 0.1\n"
			     "done\n"
			     ": >$1/fifo\n"
			     "wait $P\n"
			     "kill -INT $O 2>/dev/null\n"
			     "wait $O\n"
			     "exit 0\n";

static const char *const waits[] = {"hrtimer_nanosleep", "do_sys_poll", "futex_wait"};
#define NR_KINDS (sizeof(waits) / sizeof(waits[0]))

static int kind_of(const char *text)
{
	for (size_t i = 0; i < NR_KINDS; i++)
		if (strstr(text, waits[i]))
			return (int)i;
	return -1;
}

/* A stack is some lines with a function each, and then one with its time in us, or "]: time". */
static void their_waits(const struct session *s, long long ret_ns[NR_KINDS])
{
	char path[128], line[256], rest;
	long long us;
	int kind = -1;
	FILE *file;

	snprintf(path, sizeof(path), "%s/peer", s->folder);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%lld %c", &us, &rest) == 1 || sscanf(line, "]: %lld", &us) == 1) {
			if (kind >= 0)
				ret_ns[kind] += us * 1000;
			kind = -1;
		} else if (kind < 0) {
			kind = kind_of(line);
		}
	}
	if (file)
		fclose(file);
}

static void our_waits(const struct session *s, long long ret_ns[NR_KINDS], long long *ret_wait_cpu_ns)
{
	char options[64];
	json_t *folded, *row;
	size_t i;

	snprintf(options, sizeof(options), "--folded=off --pid=%lld", session_truth(s, "pid"));
	folded = session_load(s, options);
	CU_ASSERT_PTR_NOT_NULL_FATAL(folded);
	json_array_foreach(json_object_get(folded, "folded"), i, row) {
		int kind = kind_of(json_text(row, "stack"));

		if (kind >= 0)
			ret_ns[kind] += json_number(row, "ns");
	}
	*ret_wait_cpu_ns = json_number(folded, "wait_cpu_ns");
	json_decref(folded);
}

static bool has(const char *program)
{
	return session_run("command -v %s >/dev/null", program) == 0;
}

/* Its times have the waits for a CPU, too. */
static void compare_waits(const char *peer)
{
	long long ours[NR_KINDS] = {0}, theirs[NR_KINDS] = {0}, wait_cpu_ns = 0;
	struct session s;
	char path[128];
	FILE *file;

	session_begin(&s);
	snprintf(path, sizeof(path), "%s/script", s.folder);
	file = fopen(path, "we");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(script, file);
	fclose(file);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon --sample=2ms %s -- sh %s %s %s %s >%s/stdout 2>%s/stderr",
					  TRACE_BIN, s.trace, path, s.folder, self, peer, s.folder, s.folder),
			      0);
	their_waits(&s, theirs);
	our_waits(&s, ours, &wait_cpu_ns);
	if (session_run("grep -q 'do_syscall_64' %s/peer", s.folder)) {
		printf("left out: the kernel refuses %s. ", peer);
		session_end(&s);
		return;
	}
	for (size_t i = 0; i < NR_KINDS; i++) {
		printf("%s: %lld us of ours, %lld of %s's; %lld us waiting for a CPU\n", waits[i], ours[i] / 1000,
		       theirs[i] / 1000, peer, wait_cpu_ns / 1000);
		CU_ASSERT(ours[i] >= NR_WAITS * WAIT_MS * MS);
		CU_ASSERT(theirs[i] >= ours[i] - NR_WAITS * MS / 10);
		CU_ASSERT(theirs[i] <= ours[i] + wait_cpu_ns + NR_WAITS * MS / 10);
	}
	session_end(&s);
}

/* The offcputime of bpfcc-tools needs a kprobe, and that of libbpf-tools a tracepoint only. */
static void waits_are_those_of_offcputime(void)
{
	if (has("offcputime") && has("bpftool"))
		compare_waits("offcputime");
	else
		printf("left out: offcputime (libbpf-tools) or bpftool is not installed. ");
}

static void waits_are_those_of_bpftrace(void)
{
	if (has("bpftrace"))
		compare_waits("bpftrace");
	else
		printf("left out: bpftrace is not installed. ");
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(shares_of_functions_are_those_of_perf),
		CASE(waits_are_those_of_offcputime),
		CASE(waits_are_those_of_bpftrace),
		{NULL, NULL},
	};

	if (argc > 2 && !strcmp(argv[1], "wait"))
		return run(argv[2]);
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_profile_peers: needs root and a kernel with BTF\n");
		return 77;
	}
	self = argv[0];
	return unit_main("e2e_profile_peers", cases, argc, argv);
}
