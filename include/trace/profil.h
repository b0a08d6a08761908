/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_PROFIL_H
#define TRACE_PROFIL_H
/*
 * profil.h - profil(2) and sprofil(2): a program counts where its own CPU time goes, in its own
 * memory
 *
 *	static unsigned short cells[65536];
 *
 *	trace_profil(cells, sizeof(cells), (size_t)&__executable_start, 0x10000);
 *	work();
 *	trace_profil(NULL, 0, 0, 0);
 *
 * A tick is one period of CPU time, of all threads of the process together: user and system time,
 * as with the C library's profil(). Each tick adds 1 to a cell. The address at which its thread was
 * (for system time: behind the system call) decides which one:
 *
 *	number of the cell = (address - offset) / bytes of a cell * scale / 65536
 *
 * so with the scale 0x10000 a cell stands for as many bytes of code as it has itself, and with
 * 0x8000 for twice as many. Two scales are not used in this formula: with 2 the first cell has all
 * addresses from the offset on, and 0 and 1 end the profile. A cell that is at its maximum stays
 * there; trace_profil_status() says how many ticks it could not hold.
 *
 * The process has one profile at a time. It counts all threads, those that begin later, too. A
 * child of fork() goes on with a profile of its own, in its copy of the cells, and exec ends the
 * profile.
 *
 * Ticks are samples of perf events if /proc/sys/kernel/perf_event_paranoid allows the process such
 * (2 or less; above 1 only user time is counted), else expirations of CPU timers, with the first
 * free real-time signal from SIGRTMAX down. A thread of libtracer adds them to the cells every
 * 20 ms. Neither SIGPROF nor ITIMER_PROF is used.
 *
 * Any thread may call these functions, but no signal handler. Preloaded (tracedaemon --preload
 * profil, or LD_PRELOAD=libtracer-profil.so), the classic names profil() and sprofil() are these.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/time.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRACE_PROFIL_MIN_PERIOD_NS 20000ull	 /* 20 us */
#define TRACE_PROFIL_MAX_PERIOD_NS 1000000000ull /* 1 s */
#define TRACE_PROFIL_PERIOD_NS	   10000000ull	 /* 10 ms, unless another one is set */
#define TRACE_PROFIL_FAST_NS	   1000000ull	 /* 1 ms, with TRACE_PROF_FAST */

/**
 * trace_profil() - begin a profile with cells of 16 bits, or end it
 * @cells: @bytes long; the caller's, until the profile ends. NULL: end the profile
 * @offset: the lowest address that is counted. @scale: as above; 0 or 1: end the profile
 * A profile that is on ends first, and its ticks until now are in its cells when this returns.
 * Returns 0; -EFAULT: the process cannot write to @cells; -EPERM: it may use neither perf events
 * nor timers; -ENOMEM, -EAGAIN, -EMFILE: as the system says. Then no profile is on.
 */
int trace_profil(unsigned short *cells, size_t bytes, size_t offset, unsigned int scale);

/**
 * struct trace_prof - one region of addresses, and its cells; the same as struct prof of
 * <sys/profil.h>
 */
struct trace_prof {
	void *pr_base;		/* the cells */
	size_t pr_size;		/* their size in bytes */
	size_t pr_off;		/* the lowest address */
	unsigned long pr_scale; /* as above; a region with 0 or 1 is not used */
};

/** enum trace_prof_flags - the size of cells, one of the first three; and the period */
enum trace_prof_flags {
	TRACE_PROF_USHORT = 0, /* 16 bits */
	TRACE_PROF_UINT = 1,   /* 32 bits */
	TRACE_PROF_FAST = 2,   /* TRACE_PROFIL_FAST_NS, unless another period is set */
	TRACE_PROF_UINT64 = 4, /* 64 bits */
};

/**
 * trace_sprofil() - begin a profile with several regions, or end it
 * @regions: @nr of them; copied. 0: end the profile
 * @ret_tick: the period, rounded up to 1 us; NULL: not asked for
 * @flags: enum trace_prof_flags
 * The region with the highest offset that is not above an address has this address. The region
 * with the offset 0 and the scale 2 is the outside bin: its first cell counts all ticks that no
 * cell of another region has.
 * Returns as trace_profil(); -EINVAL: flags that do not exist, or two sizes of cells.
 */
int trace_sprofil(const struct trace_prof *regions, int nr, struct timeval *ret_tick, unsigned int flags);

/**
 * trace_profil_set_period() - the period of profiles that begin later
 * @period_ns: 0: the default. A period above 1 ms is counted in pieces of at most 1 ms, so that
 *     threads that run for less than the period have their share
 * Returns 0, or -EINVAL: not from TRACE_PROFIL_MIN_PERIOD_NS to TRACE_PROFIL_MAX_PERIOD_NS
 */
int trace_profil_set_period(uint64_t period_ns);

/**
 * struct trace_profil_status - of the profile that is on, or of the last one
 * @ticks: in cells. @outside: at an address that has no cell. @full: not added, because the cell is
 *     at its maximum. @lost: not read in time. All four together are what was counted
 * @cpu_ns: CPU time of the process meanwhile, without libtracer's own thread. Ticks can be fewer
 *     than this, as threads use CPU time before they are known, and after their last piece of a
 *     period. A machine whose timers are late by more than a period makes one tick of several
 *     periods: a virtual machine made 3,241 ticks of 20 us in 200 ms
 * @user_only: system time is not counted. @by_timers: perf events are not allowed
 * @faulted: cells could not be written any more; their region counts no further ticks
 */
struct trace_profil_status {
	uint64_t period_ns;
	uint64_t ticks;
	uint64_t outside;
	uint64_t full;
	uint64_t lost;
	uint64_t cpu_ns;
	bool is_on;
	bool user_only;
	bool by_timers;
	bool faulted;
};
/**
 * trace_profil_status() - after adding all ticks until now to the cells
 * @size: sizeof(struct trace_profil_status) of the caller; so many bytes are written
 */
void trace_profil_status(struct trace_profil_status *ret_status, size_t size);

#ifdef __cplusplus
}
#endif
#endif
