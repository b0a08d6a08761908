/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * busy_program MS [generated] - on a CPU for MS ms, in stay_busy(), or in code that it generated
 * itself and that is in no file.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

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
/* mov $200000, %ecx; dec %ecx; jnz -4; ret */
static const unsigned char loop[] = {0xb9, 0x40, 0x0d, 0x03, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0xc3};

static void run_generated(long long until_ns)
{
	void *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED)
		exit(1);
	memcpy(code, loop, sizeof(loop));
	while (cpu_ns() < until_ns)
		((void (*)(void))code)();
}
#else
static void run_generated(long long until_ns)
{
	exit(77);
}
#endif

int main(int argc, char **argv)
{
	long long until_ns = cpu_ns() + (argc > 1 ? atoll(argv[1]) : 0) * 1000000;

	if (argc > 2 && !strcmp(argv[2], "generated"))
		run_generated(until_ns);
	else
		stay_busy(until_ns);
	return 0;
}
