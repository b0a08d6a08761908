/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fault_cost.c - measure the kernel's way between two page faults.
 *
 * The events of a fault do not have all of it. The CPU's exception and the first instructions of
 * the kernel come before the first event; behind the last one come the rest of our program and the
 * way back to user mode. No event tells these times, and they are longer than the instruction of
 * the program in between: a program that touches 131,072 new pages had 75 ms of own code, of which
 * 60 ms were the kernel's.
 *
 * So each recording measures them. The thread touches new pages, one instruction for each, and the
 * BPF programs (trap.bpf.c) keep the shortest time between the end of one fault and the begin of
 * the next. No thread can be faster from one fault to the next, so as much of the time between two
 * faults without an event in between is the kernel's. The daemon's faults make no records, which
 * recorded ones do in that time: what the measurement tells is too little rather than too much.
 */
#include "fault_cost.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include "loader.h"

#define ROUNDS 4
#define PAGES  512

static void touch(volatile char *area, size_t page)
{
	for (size_t i = 0; i < PAGES; i++)
		area[i * page] = 1;
}

uint32_t fault_cost_measure(struct tracer_bpf *skeleton)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = PAGES * page;
	char *area = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t least;

	if (area == MAP_FAILED)
		return 0;
	madvise(area, bytes, MADV_NOHUGEPAGE); /* fails where there are none */
	__atomic_store_n(&skeleton->bss->least_way_ns, UINT64_MAX, __ATOMIC_RELAXED);
	__atomic_store_n(&skeleton->bss->way_tid, (uint32_t)gettid(), __ATOMIC_RELEASE);
	for (int i = 0; i < ROUNDS; i++) {
		touch(area, page);
		madvise(area, bytes, MADV_DONTNEED);
	}
	__atomic_store_n(&skeleton->bss->way_tid, 0, __ATOMIC_RELEASE);
	least = __atomic_load_n(&skeleton->bss->least_way_ns, __ATOMIC_RELAXED);
	munmap(area, bytes);
	return least < UINT32_MAX ? (uint32_t)least : 0;
}
