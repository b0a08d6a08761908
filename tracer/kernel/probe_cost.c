/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_cost.c - measure what a hit of a probe costs.
 *
 * The cost depends on the machine, its kernel and the instruction, by a factor of ten. So each
 * recording with probes measures it: the program of the probes is attached to functions of this
 * process that do nothing, and these are called in batches. The cost is the median of the batches'
 * means, and the spread is between the cheapest and the dearest batch. The thread's CPU time
 * counts, so a preemption does not.
 *
 * The program does all but record for such a hit, and reads the clock instead, which is most of the
 * price of a record. Arguments in memory are not included.
 */
#include "probe_cost.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "read_end.h"

#define BATCHES 15
#define CALLS	30 /* in a batch */

#if defined(__x86_64__)
#define MEASURED_FUNCTION(name, instruction)                                                           \
	__asm__(".pushsection .text\n.balign 16\n.type " #name ", @function\n" #name ":\n" instruction \
		"\nret\n.size " #name ", . - " #name "\n.popsection\n");                               \
	void name(void)
MEASURED_FUNCTION(probe_cost_emulated, "push %rax\npop %rax");
MEASURED_FUNCTION(probe_cost_nop, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00");
MEASURED_FUNCTION(probe_cost_stepped, "mov %rax, %rax");
MEASURED_FUNCTION(probe_cost_return, "push %rax\npop %rax");
MEASURED_FUNCTION(probe_cost_further, "push %rax\npop %rax");

static const struct {
	void (*function)(void);
	bool at_return;
	bool twice; /* with two probes */
} measured[NR_PROBE_COSTS] = {
	[PROBE_COST_EMULATED] = {.function = probe_cost_emulated},
	[PROBE_COST_NOP] = {.function = probe_cost_nop},
	[PROBE_COST_STEPPED] = {.function = probe_cost_stepped},
	[PROBE_COST_RETURN] = {.function = probe_cost_return, .at_return = true},
	[PROBE_COST_FURTHER] = {.function = probe_cost_further, .twice = true},
};
#define HAS_FUNCTIONS 1
#else
static const struct {
	void (*function)(void);
	bool at_return;
	bool twice;
} measured[NR_PROBE_COSTS];
#define HAS_FUNCTIONS 0
#endif

/* arch/x86/kernel/uprobes.c: the instructions that it emulates, Linux 6.18 */
enum probe_cost_kind probe_cost_kind(const uint8_t *bytes, size_t size)
{
	static const uint8_t nop5[] = {0x0f, 0x1f, 0x44, 0x00, 0x00};

	if (size >= sizeof(nop5) && memcmp(bytes, nop5, sizeof(nop5)) == 0)
		return PROBE_COST_NOP;
	if (size && (*bytes & 0xfe) == 0x40) { /* push %r8 and the like */
		bytes++;
		size--;
	}
	if (!size)
		return PROBE_COST_STEPPED;
	if ((*bytes & 0xf8) == 0x50 || (*bytes & 0xf0) == 0x70 || *bytes == 0x90 || *bytes == 0xe8 || *bytes == 0xe9 ||
	    *bytes == 0xeb || (size > 1 && *bytes == 0x0f && (bytes[1] & 0xf0) == 0x80))
		return PROBE_COST_EMULATED;
	return PROBE_COST_STEPPED;
}

/* The file that has this code, and where in it. */
static bool find_code(uintptr_t address, char path[static 4096], uint64_t *ret_offset)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long long start, end, offset;
	bool found = false;
	char line[4200];

	while (maps && !found && fgets(line, sizeof(line), maps)) {
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %4095[^\n]", &start, &end, &offset, path) != 4 ||
		    address < start || address >= end)
			continue;
		*ret_offset = address - start + offset;
		found = true;
	}
	return !read_end(maps) && found;
}

static uint64_t cpu_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int ascending(const void *left, const void *right)
{
	uint32_t l = *(const uint32_t *)left, r = *(const uint32_t *)right;

	return l < r ? -1 : l > r;
}

static struct probe_cost measure(void (*function)(void))
{
	uint32_t means[BATCHES];

	function(); /* its page may be missing */
	for (int i = 0; i < BATCHES; i++) {
		uint64_t begin = cpu_now();

		for (int j = 0; j < CALLS; j++)
			function();
		means[i] = (uint32_t)((cpu_now() - begin) / CALLS);
	}
	qsort(means, BATCHES, sizeof(*means), ascending);
	return (struct probe_cost){.ns = means[BATCHES / 2], .least_ns = means[0], .most_ns = means[BATCHES - 1]};
}

static uint32_t less(uint32_t from, uint32_t by)
{
	return from > by ? from - by : 0;
}

/*
 * Without the hit of one probe at an instruction of the kind EMULATED. On a busy machine the
 * difference of the two medians may be 0, which would mean that the cost is not known.
 */
static void subtract_entry(struct probe_cost *cost, const struct probe_cost *entry)
{
	if (!cost->ns)
		return;
	*cost = (struct probe_cost){.ns = less(cost->ns, entry->ns) ?: 1,
				    .least_ns = less(cost->least_ns, entry->most_ns),
				    .most_ns = less(cost->most_ns, entry->least_ns)};
	if (cost->most_ns < cost->ns)
		cost->most_ns = cost->ns;
}

void probe_costs_measure(const struct bpf_program *program, uint64_t cookie,
			 void (*closing)(void *context, struct bpf_link *link), void *context,
			 struct probe_costs *ret_costs)
{
	struct probe_cost *costs = ret_costs->costs;
	char path[4096];
	uint64_t offset = 0;

	memset(ret_costs, 0, sizeof(*ret_costs));
	for (int i = 0; i < NR_PROBE_COSTS && HAS_FUNCTIONS; i++) {
		LIBBPF_OPTS(bpf_uprobe_opts, options, .bpf_cookie = cookie, .retprobe = measured[i].at_return);
		struct bpf_link *links[2] = {NULL};
		size_t nr = 0, needed = measured[i].twice ? 2 : 1;

		if (!find_code((uintptr_t)measured[i].function, path, &offset))
			continue;
		for (; nr < needed; nr++) {
			links[nr] = bpf_program__attach_uprobe_opts(program, getpid(), path, offset, &options);
			if (!links[nr])
				break;
		}
		if (nr == needed)
			costs[i] = measure(measured[i].function);
		while (nr-- > 0)
			closing(context, links[nr]);
	}
	subtract_entry(&costs[PROBE_COST_RETURN], &costs[PROBE_COST_EMULATED]);
	subtract_entry(&costs[PROBE_COST_FURTHER], &costs[PROBE_COST_EMULATED]);
}
