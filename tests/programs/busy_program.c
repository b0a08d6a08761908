/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * busy_program MS [generated|named|wrong|memory NAME] - on a CPU for MS ms, in stay_busy(), or in
 * code that it generated itself and that is in no file. named: its name is in /tmp/perf-PID.map.
 * wrong: RBP leads to numbers that are no callers, other ones after each 200,000 turns of its loop.
 * memory: in stay_busy() of a copy of its file in memory, with this name.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <time.h>
#include <unistd.h>

#define WRONG_CALLERS 60

static long long cpu_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec;
}

__attribute__((noinline)) void stay_busy(long long until_ns);
__attribute__((noinline)) void stay_busy(long long until_ns)
{
	static volatile unsigned long sink;

	while (cpu_ns() < until_ns)
		for (int i = 0; i < 200000; i++)
			sink++;
}

#if defined(__x86_64__)
/* push %rbp; mov %rdi, %rbp; mov $200000, %ecx; dec %ecx; jnz -4; pop %rbp; ret */
static const unsigned char loop[] = {0x55, 0x48, 0x89, 0xfd, 0xb9, 0x40, 0x0d, 0x03,
				     0x00, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3};

/** struct claimed_frame - what RBP points to in a program with frame pointers */
struct claimed_frame {
	struct claimed_frame *next;
	unsigned long caller;
};

static void write_map(const void *code)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "w");
	if (!file)
		exit(1);
	fprintf(file, "%lx %zx named_code\n", (unsigned long)code, sizeof(loop));
	fclose(file);
}

static void make_wrong(struct claimed_frame frames[WRONG_CALLERS])
{
	static unsigned long number = 0x500000000000;

	for (int i = 0; i < WRONG_CALLERS; i++)
		frames[i] = (struct claimed_frame){i + 1 < WRONG_CALLERS ? &frames[i + 1] : NULL, number += 4099};
}

static void run_generated(long long until_ns, const char *kind)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct claimed_frame frames[WRONG_CALLERS];
	bool is_wrong = !strcmp(kind, "wrong");

	if (code == MAP_FAILED)
		exit(1);
	memcpy(code, loop, sizeof(loop));
	if (!strcmp(kind, "named"))
		write_map(code);
	while (cpu_ns() < until_ns) {
		make_wrong(frames);
		((void (*)(struct claimed_frame *))code)(is_wrong ? frames : NULL);
	}
}
#else
static void run_generated(long long until_ns, const char *kind)
{
	exit(77);
}
#endif

/* Copies and begins the program in memory, which has the argument "begun" in place of "memory". */
static int run_in_memory(char **argv)
{
	int memory = memfd_create(argv[3], 0), file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	char path[32], begun[] = "begun";

	while (sendfile(memory, file, NULL, 1 << 20) > 0)
		;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", memory);
	argv[2] = begun;
	execv(path, argv);
	return 1;
}

int main(int argc, char **argv)
{
	long long until_ns = cpu_ns() + (argc > 1 ? atoll(argv[1]) : 0) * 1000000;

	if (argc > 3 && !strcmp(argv[2], "memory"))
		return run_in_memory(argv);
	if (argc > 3 && !prctl(PR_SET_NAME, argv[3]))
		stay_busy(until_ns);
	else if (argc > 2)
		run_generated(until_ns, argv[2]);
	else
		stay_busy(until_ns);
	return 0;
}
