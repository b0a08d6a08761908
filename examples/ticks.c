/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * ticks.c - a program that counts where its own CPU time goes
 *
 *     cc ticks.c -ltracer && ./a.out
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <trace/profil.h>

extern char __executable_start, etext; /* the linker's */
static uint32_t cells[1 << 16];
static volatile unsigned long sum;

static void work(unsigned long turns)
{
	while (turns--)
		sum += turns;
}

int main(void)
{
	size_t begin = (size_t)&__executable_start;
	uint32_t outside[1] = {0};
	struct trace_prof regions[] = {{cells, sizeof(cells), begin, 0x10000}, {outside, sizeof(outside), 0, 2}};
	struct trace_profil_status status;
	int error;

	trace_profil_set_period(1000000); /* 1 ms */
	error = trace_sprofil(regions, 2, NULL, TRACE_PROF_UINT);
	if (error) {
		fprintf(stderr, "no profile: %s\n", strerror(-error));
		return 1;
	}
	work(300000000);
	trace_sprofil(NULL, 0, NULL, 0);
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++)
		if (cells[i])
			printf("%6u  text + 0x%zx\n", cells[i], i * sizeof(cells[0]));
	trace_profil_status(&status, sizeof(status));
	printf("%6u  elsewhere\n%6llu  ticks of 1 ms, of %.3f s of CPU time\n", outside[0],
	       (unsigned long long)status.ticks, (double)status.cpu_ns / 1e9);
	return 0;
}
