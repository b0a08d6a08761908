/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "cpu_visit.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

enum { MAX_CPUS = 8192 };
#define MASK_BYTES CPU_ALLOC_SIZE(MAX_CPUS)

static _Thread_local struct {
	_Alignas(cpu_set_t) unsigned char mask[MASK_BYTES];
	struct sched_param param;
	int policy;
	bool is_away;
} home;

/* True if the CPU does not exist or is offline. */
static bool is_offline(uint32_t cpu)
{
	char path[64], text[2] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u", cpu);
	if (access("/sys/devices/system/cpu", F_OK) == 0 && access(path, F_OK) != 0)
		return true;
	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	file = fopen(path, "re");
	if (!file)
		return false;
	if (!fgets(text, sizeof(text), file))
		text[0] = '\0';
	fclose(file);
	return text[0] == '0';
}

/*
 * Run at the highest real-time priority: otherwise the visit would wait for a thread that computes
 * all the time.
 */
static void raise_priority(void)
{
	struct sched_param param = {.sched_priority = sched_get_priority_max(SCHED_FIFO)};

	home.policy = sched_getscheduler(0);
	if (home.policy < 0 || sched_getparam(0, &home.param) != 0 || sched_setscheduler(0, SCHED_FIFO, &param) != 0)
		home.policy = -1;
}

bool cpu_visit(uint32_t cpu)
{
	_Alignas(cpu_set_t) unsigned char wanted[MASK_BYTES] = {0};

	if (cpu >= MAX_CPUS)
		return false;
	if (!home.is_away) {
		if (sched_getaffinity(0, sizeof(home.mask), (cpu_set_t *)home.mask) != 0)
			return false;
		raise_priority();
		home.is_away = true;
	}
	CPU_SET_S(cpu, sizeof(wanted), (cpu_set_t *)wanted);
	if (sched_setaffinity(0, sizeof(home.mask), (cpu_set_t *)wanted) == 0)
		return true;
	cpu_leave();
	return is_offline(cpu);
}

void cpu_leave(void)
{
	if (!home.is_away)
		return;
	home.is_away = false;
	sched_setaffinity(0, sizeof(home.mask), (cpu_set_t *)home.mask);
	if (home.policy >= 0)
		sched_setscheduler(0, home.policy, &home.param);
}
