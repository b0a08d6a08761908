/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_USER_USER_H
#define TRACER_USER_USER_H
/*
 * user.h - interfaces between the files of libtracer
 *
 *   record.c    what a tracepoint calls: finds the ring of its CPU and writes. Its only system call
 *               is a thread's first gettid().
 *   ring.h      the writing itself, shared with the tests that run all its interleavings
 *   memory.c    the program memory of a process: created at the first registration or event, and
 *               again in each forked child that records
 *   vfork.c     a child that shares the thread's memory
 *   offer.c     offers the memory to the daemons
 *   bell.c      reaches a daemon that has no socket here
 *   registry.c  descriptions of the event types in that memory
 *   condition.c conditions of events
 *   dynamic.c   events that a program declares while it runs; the only file that allocates
 *
 * All this code runs inside other people's programs, at any moment: in constructors, in signal
 * handlers, between fork and exec. So it does not allocate, takes no lock in the record path that a
 * thread would wait for, and uses no stdio. If anything fails it disables tracing, without a
 * message.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/tracepoint.h>
#include <trace/user_memory.h>

/**
 * struct user_state - what libtracer keeps for a process
 * It is in pages that every kind of fork gives to the child as zeros (MADV_WIPEONFORK). So a child
 * finds epoch 0, which no thread has, and creates a memory of its own at its first event.
 * @epoch: 0 = not ready; threads compare it with the one that they saw last
 * @windows: by CPU, in the same pages. @nr_windows: number in use; 0 if
 *     threads cannot read their CPU
 * @rseq_offset: offset of the kernel's struct rseq, which has the CPU, from the thread
 *     pointer; 0: there is none
 * @phase: enum user_phase; the thread that moves it from NEW to BUSY sets up
 * @registering: 1 while a thread appends to the registry
 * @memory: while a program starts this is set, for counting, before the state is ready
 * @unready: events that came while there was no @memory; they are added to its count later
 * @offering: a thread is offering the memory again
 * @unclaimed_naps: number of naps of a writer that may block, waiting for room while the daemon
 *     that read the offer has not yet said whether writers may block
 * @offer_not_sent: 0 = a daemon has read the offer, or there is no memory; otherwise
 *     how often a thread checked
 */
struct user_state {
	uint64_t epoch;
	unsigned char *rings;
	uint64_t ring_stride;
	int64_t rseq_offset;
	uint32_t nr_windows;
	uint32_t subbuf_bytes;
	uint32_t nr_subbufs_log2;
	uint32_t nr_rings;
	uint32_t clock;
	uint32_t blocking_ms;
	uint32_t unclaimed_naps;
	struct user_memory *memory;
	unsigned char *flags;
	uint32_t phase;
	uint32_t registering;
	uint64_t unready;
	uint32_t offer_not_sent;
	uint32_t offering;
	struct trace_window windows[];
};

enum user_phase {
	USER_NEW = 0,
	USER_BUSY = 1,
	USER_READY = 2,
	USER_OFF = 3,
};

/* The state of this process: a mapping of its own, or, until there is one, an empty
 * state that is never ready. */
extern struct user_state *user_state;

/* The CPU number of a child of vfork(). The kernel uses the numbers -1 and -2 for "no CPU". */
#define USER_CPU_VFORKED ((uint32_t)-3)

/* A flag that is never set. */
extern const unsigned char user_flag_off;

/* The environment's options, read when the state is created. */
struct user_options {
	bool off;
	uint32_t subbuf_bytes;
	uint32_t nr_subbufs;
	uint32_t blocking_ms;
};
extern struct user_options user_options;

/* Returns the state if it is ready. Returns NULL if it cannot be made, or if a thread is making it
 * (possibly one that we interrupted): @ret_busy. */
struct user_state *user_ready(bool *ret_busy);

/* Count an event that was lost because the state was being set up. */
void user_count_unready(void);

/* For a process that cannot make a state. If its fork parent has a memory, the event is counted
 * there, and new tracepoints use the parent's flags. */
void user_count_for_parent(void);
void user_leave_to_parent(struct trace_tracepoint *tracepoint);

/* Set up ring @cpu unless it is set up already. */
void user_ring_ready(struct user_state *state, uint32_t cpu);

/* Register a tracepoint. @wait: if another thread is registering, sleep, up to a limit. Unless the
 * result is false, tracepoint->flag is valid afterwards. */
bool user_register(struct trace_tracepoint *tracepoint, bool wait);

/* Count an event that stays off, as user_register() does for one that finds no room. */
void user_count_unregistered(void);

/* The flag of the tracepoint. Another thread may be registering a declared event. */
static inline unsigned char user_flag(const struct trace_tracepoint *tracepoint)
{
	return *__atomic_load_n(&tracepoint->flag, __ATOMIC_ACQUIRE);
}

/* The header of the tracepoint's records, without lap and time. */
static inline uint64_t user_word(const struct trace_tracepoint *tracepoint)
{
	return (uint64_t)tracepoint->id << 32 | (uint64_t)(1 + (tracepoint->payload_bytes + 7u) / 8) << 48;
}

/* Is the event with this payload to be recorded? If it has no condition, the inlined code records
 * it from now on. */
bool user_condition_passes(const struct user_state *state, struct trace_tracepoint *tracepoint, const void *image,
			   uint32_t bytes);
/* A child's memory begins with its parent's conditions. */
void user_condition_inherit(struct user_memory *memory, const struct user_memory *from);

/* Result of an offer: USER_NO_DAEMON: no daemon listens; USER_NOT_SENT: there may be one,
 * but none could be reached. */
enum user_offer_result { USER_NO_DAEMON, USER_NOT_SENT, USER_SENT };

/* Offer the memory to all daemons. @memory_fd -1: report that there is none. @tries: per daemon,
 * with naps of 0.5 ms between them. */
enum user_offer_result user_offer(int memory_fd, int tries);

/* If no socket was found: is there a daemon that cannot be seen from here? If so, call it, and wait
 * for its answer for at most @naps of 0.1 ms. */
enum user_offer_result user_bell(int memory_fd, const struct user_memory *memory, int naps);

/* Report to such a daemon that there is no memory. */
void user_bell_without_memory(void);

/* If no daemon has read the offer yet, repeat it from time to time. */
void user_offer_again(struct user_state *state);

uint64_t user_time_offset(void); /* from this process's CLOCK_MONOTONIC to the host's, for time namespaces */

#endif
