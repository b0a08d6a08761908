/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_profile_boxes.c - profiles of a program with a root and a mount namespace of its own, of
 * a program of 32 bits, and of a kernel that hides its addresses: the names are right, or the rows
 * say why there are none
 *
 * This is the program in the box as well: "test_e2e_profile_boxes busy|ends". Root only; skipped
 * (77) where the kernel cannot be recorded.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "as_it_is.h"
#include "e2e_session.h"
#include "unit.h"

#define BUSY_NS	      700000000ll
#define KPTR_RESTRICT "/proc/sys/kernel/kptr_restrict"

static const char *self;

/* ---- the program ---- */

static volatile unsigned long sink;

static long long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

static AS_IT_IS unsigned long busy_in_box(void)
{
	long long end = cpu_ns() + BUSY_NS;

	while (cpu_ns() < end)
		for (int i = 0; i < 100000; i++)
			sink = sink * 1664525 + 1013904223;
	return sink + 1;
}

/* Tells that it is done, and stays until it is killed. */
static int run(bool stays)
{
	sink = busy_in_box();
	if (stays) {
		close(open("/done", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
		alarm(60);
		pause();
	}
	return 0;
}

/* ---- the tests ---- */

/* $1: a folder, $2: the program, $3: what it does. Its root is in memory and has what it needs. */
static const char script[] = "mkdir $1/box && mount -t tmpfs none $1/box && cd $1/box || exit 1\n"
			     "for f in $(ldd $2 | grep -o '/[^ ]*'); do mkdir -p .$(dirname $f); cp $f .$f; done\n"
			     "cp $2 boxed\n"
			     "[ $3 = busy ] || exec chroot . /boxed $3\n"
			     "chroot . /boxed $3 >/dev/null 2>&1 &\n"
			     "echo \"pid $!\" >$1/truth\n"
			     "for i in $(seq 600); do [ -e done ] && exit 0; sleep 0.1; done\n"
			     "exit 1\n";

static void write_file(const struct session *s, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", s->folder, name);
	file = fopen(path, "we");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	fclose(file);
}

/* Returns the profile of the processes with the name @comm. */
static json_t *record(struct session *s, const char *command, const char *comm)
{
	char options[64];
	json_t *profile;

	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon --sample=500us %s -- %s >%s/stdout 2>%s/stderr", TRACE_BIN,
					  s->trace, command, s->folder, s->folder),
			      0);
	CU_ASSERT_EQUAL(session_run("%s/tracevisualizer --profile --verify %s >%s/stdout 2>&1", TRACE_BIN, s->trace,
				    s->folder),
			0);
	snprintf(options, sizeof(options), "--profile --comm=%s", comm);
	profile = session_load(s, options);
	CU_ASSERT_PTR_NOT_NULL_FATAL(profile);
	return profile;
}

/** struct found - time on a CPU: of the function, of code without a name but a reason, of all */
struct found {
	long long named, explained, all;
};

static struct found find(const json_t *profile, const char *function)
{
	struct found found = {.all = json_number(profile, "on_cpu_ns")};
	json_t *row;
	size_t i;

	json_array_foreach(json_object_get(profile, "rows"), i, row) {
		if (!strcmp(json_text(row, "name"), function))
			found.named += json_number(row, "on_cpu_ns");
		if (*json_text(row, "why"))
			found.explained += json_number(row, "on_cpu_ns");
	}
	printf("%s: %lld of %lld ms named, %lld without a name\n", function, found.named / 1000000, found.all / 1000000,
	       found.explained / 1000000);
	return found;
}

static void check_whole(const json_t *profile)
{
	const json_t *stacks = json_object_get(profile, "stacks");
	long long samples = json_number(profile, "samples");

	printf("%lld of %lld stacks whole, %lld before the table was ready\n", json_number(stacks, "whole"), samples,
	       json_number(stacks, "not_ready"));
	CU_ASSERT(samples > 100);
	CU_ASSERT(json_number(stacks, "whole") + json_number(stacks, "not_ready") >= samples - samples / 100);
	CU_ASSERT(json_number(stacks, "whole") >= samples * 4 / 5);
}

static json_t *record_box(struct session *s, const char *what)
{
	char command[512];

	session_begin(s);
	write_file(s, "script", script);
	snprintf(command, sizeof(command), "unshare --mount sh %s/script %s %s %s", s->folder, s->folder, self, what);
	return record(s, command, "boxed");
}

static void a_program_in_a_container_that_runs_has_names(void)
{
	struct session s;
	json_t *profile = record_box(&s, "busy");
	struct found found = find(profile, "busy_in_box");

	kill((pid_t)session_truth(&s, "pid"), SIGKILL);
	check_whole(profile);
	CU_ASSERT(found.named >= found.all * 8 / 10);
	json_decref(profile);
	session_end(&s);
}

/* Its files are gone with it. */
static void a_container_that_has_ended_has_names_or_says_that_they_are_not_there(void)
{
	struct session s;
	json_t *profile = record_box(&s, "ends");
	struct found found = find(profile, "busy_in_box");

	check_whole(profile);
	CU_ASSERT(found.named + found.explained >= found.all * 8 / 10);
	json_decref(profile);
	session_end(&s);
}

/* Without a library, so that the compiler needs nothing for 32 bits. */
static const char narrow[] = "static volatile unsigned long sink;\n"
			     "__attribute__((noinline)) void busy_narrow(void)\n"
			     "{ for (unsigned long i = 0; i < 400000000ul; i++) sink += i; }\n"
			     "void _start(void)\n"
			     "{ busy_narrow(); __asm__ volatile(\"int $0x80\" : : \"a\"(1), \"b\"(0)); }\n";

/* The names are right; the callers are not found, and the counts say so. */
static void a_program_of_32_bits_has_names_and_no_callers(void)
{
	struct session s;
	json_t *profile;
	struct found found;
	char command[128];

	session_begin(&s);
	write_file(&s, "narrow.c", narrow);
	if (session_run("gcc -m32 -O2 -nostdlib -static -fno-pic -no-pie -fno-stack-protector -fomit-frame-pointer "
			"-o %s/narrow %s/narrow.c 2>/dev/null",
			s.folder, s.folder)) {
		printf("left out: the compiler has no -m32. ");
		session_end(&s);
		return;
	}
	snprintf(command, sizeof(command), "%s/narrow", s.folder);
	profile = record(&s, command, "narrow");
	found = find(profile, "busy_narrow");
	CU_ASSERT(found.named >= found.all * 8 / 10);
	CU_ASSERT(json_number(json_object_get(profile, "stacks"), "incomplete") >= json_number(profile, "samples") / 2);
	CU_ASSERT_PTR_NOT_NULL(json_row(profile, "rows", "kind", "stack incomplete"));
	json_decref(profile);
	session_end(&s);
}

static void set_kptr_restrict(int value)
{
	FILE *file = fopen(KPTR_RESTRICT, "we");

	if (file) {
		fprintf(file, "%d\n", value);
		fclose(file);
	}
}

static int get_kptr_restrict(void)
{
	FILE *file = fopen(KPTR_RESTRICT, "re");
	int value = -1;

	if (file && fscanf(file, "%d", &value) != 1)
		value = -1;
	if (file)
		fclose(file);
	return value;
}

/* With 2, root does not see the kernel's addresses either. */
static void a_kernel_that_hides_its_addresses_has_a_row_that_says_so(void)
{
	int before = get_kptr_restrict();
	struct session s;
	json_t *profile, *row;
	long long hidden = 0, other = 0;
	size_t i;

	if (before < 0)
		return;
	session_begin(&s);
	set_kptr_restrict(2);
	profile = record(&s, "dd if=/dev/zero of=/dev/null bs=1M count=20000", "dd");
	set_kptr_restrict(before);
	json_array_foreach(json_object_get(profile, "rows"), i, row)
		if (!strcmp(json_text(row, "file"), "[kernel]") && json_number(row, "samples"))
			*(*json_text(row, "why") ? &hidden : &other) += json_number(row, "on_cpu_ns");
	printf("kernel: %lld ms without a name, %lld with one\n", hidden / 1000000, other / 1000000);
	CU_ASSERT(hidden > 0);
	CU_ASSERT_EQUAL(other, 0);
	check_whole(profile);
	json_decref(profile);
	session_end(&s);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_program_in_a_container_that_runs_has_names),
		CASE(a_container_that_has_ended_has_names_or_says_that_they_are_not_there),
		CASE(a_program_of_32_bits_has_names_and_no_callers),
		CASE(a_kernel_that_hides_its_addresses_has_a_row_that_says_so),
		{NULL, NULL},
	};

	if (argc > 1 && (!strcmp(argv[1], "busy") || !strcmp(argv[1], "ends")))
		return run(!strcmp(argv[1], "busy"));
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_profile_boxes: needs root and a kernel with BTF\n");
		return 77;
	}
	self = argv[0];
	return unit_main("e2e_profile_boxes", cases, argc, argv);
}
