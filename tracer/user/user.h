/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_USER_USER_H
#define TRACER_USER_USER_H
/*
 * user.h - the files of libtracer among themselves.
 *
 *   record.c    what a tracepoint calls: finds the ring of its CPU and writes. No system call but a thread's first gettid().
 *   ring.h      the writing itself, shared with the tests that run all its interleavings
 *   memory.c    a process's memory: made at the first registration or event, again in each forked child that records
 *   vfork.c     a child that shares the thread's memory
 *   offer.c     how a daemon gets to know of it
 *   registry.c  descriptions of the events in that memory
 *
 * Everything here runs inside other people's programs, at any moment: in constructors, in signal handlers, between fork and exec. So there is no
 * allocation, no lock that anybody waits for in the record path, no stdio; whatever fails turns tracing off and says nothing.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/tracepoint.h>
#include <trace/user_memory.h>

/**
 * struct user_state - what a process knows of its memory
 * It stands in pages that fork() gives to the child as zeros (MADV_WIPEONFORK), whichever way the child was made. So a child
 * finds epoch 0, which no thread of it has, and makes a memory of its own at its first event.
 * @epoch: 0 = not ready; threads compare it with what they saw last
 * @windows: by CPU, in the same pages. @nr_windows: that are used: none when threads cannot read their CPU
 * @rseq_offset: of the kernel's word to a thread, where its CPU stands, from its thread pointer; 0: there is none
 * @phase: enum user_phase; who moves it from NEW to BUSY sets up
 * @registering: 1 while somebody appends to the registry
 * @memory: of a program that begins it is there, to count in, before the state is ready
 * @unready: events that came while there was no @memory, until they are added to that one's
 * @offering: somebody offers it again just now
 * @unclaimed_naps: so often a writer that may block waits for room while the daemon that heard of the memory has not yet said whether it may
 * @unheard: 0 = some daemon heard of the memory, or there is none; else how often that was looked at
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
	uint32_t unheard;
	uint32_t offering;
	struct trace_window windows[];
};

enum user_phase {
	USER_NEW = 0,
	USER_BUSY = 1,
	USER_READY = 2,
	USER_OFF = 3,
};

/* The state of this process: a mapping of its own, or as long as there is none an empty one that is never ready. */
extern struct user_state *user_state;

/* What stands for the CPU of a child of vfork(), behind the numbers that the kernel has for none. */
#define USER_CPU_VFORKED ((uint32_t)-3)

/* A flag that is never set. */
extern const unsigned char user_never;

/* What was asked for in the environment, read when the state is made. */
struct user_options {
	bool off;
	uint32_t subbuf_bytes;
	uint32_t nr_subbufs;
	uint32_t blocking_ms;
};
extern struct user_options user_options;

/* The state, ready; NULL when it cannot be, or is just being made by somebody (whom we may have interrupted): @ret_busy. */
struct user_state *user_ready(bool *ret_busy);

/* An event was lost because something was being set up. */
void user_count_unready(void);

/* The state cannot be made. If a forebear has a memory, an event is counted there, and its switch for new tracepoints is ours. */
void user_count_for_parent(void);
void user_leave_to_parent(struct trace_tracepoint *tracepoint);

/* Set up ring @cpu if nobody has. */
void user_ring_ready(struct user_state *state, uint32_t cpu);

/* @wait: sleep while somebody else registers, for a moment at most. Afterwards tracepoint->flag is what to look at, unless false. */
bool user_register(struct trace_tracepoint *tracepoint, bool wait);

/* Was there somebody to hear an offer? UNHEARD: perhaps, but no one could be reached. */
enum user_heard { USER_NOBODY, USER_UNHEARD, USER_HEARD };

/* Offer the memory to all daemons; @memory_fd -1: tell them that there is none. @tries: of each, with naps of 0.5 ms between them. */
enum user_heard user_offer(int memory_fd, int tries);

/* Nobody heard of our memory yet: now and then, try again. */
void user_offer_again(struct user_state *state);

uint64_t user_time_offset(void); /* from this process's CLOCK_MONOTONIC to the host's, for time namespaces */

#endif
