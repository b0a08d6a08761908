/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_WAITS_H
#define TESTS_WAITS_H
/*
 * waits.h - shared by the scenarios of workload_waits.c: one wait each, with its length measured
 * from inside.
 *
 * A scenario runs in a process of its own. With measure() it writes the process that it waits for
 * ("who"), and the times. Its own number ("pid") is written for it.
 */
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "spend.h"

#define MIB	 (1 << 20)
#define PAUSE_NS (200 * MS)

struct scenario {
	const char *name;
	void (*run)(void);
};
#define SCENARIO(name)      \
	{                   \
#name, name \
	}

/* Each list ends with a NULL name. */
extern const struct scenario channel_scenarios[], descriptor_scenarios[], ipc_scenarios[], process_scenarios[],
	file_scenarios[], memory_scenarios[], metadata_scenarios[], network_scenarios[], uring_scenarios[],
	namespace_scenarios[], scenarios_32_bit[];
extern const struct scenario lasting_scenarios[]; /* longer than the recording: run only by name */

extern int ready[2]; /* a pipe: a child that has to prepare first writes to it */

void write_truth(const char *key, long long value);
/**
 * skip() - the kernel refuses the scenario: report that to the test, and end this process
 */
void skip(void) __attribute__((noreturn));
/**
 * require() - end the process with a message if @held is false
 */
void require(bool held);
/**
 * write_window() - write what measure() measured
 */
void write_window(long long start, long long end, long long cpu);
/**
 * scratch_path() - the path of a file of this scenario only; the next call overwrites the text
 */
const char *scratch_path(const char *name);

/* ---- the common shape: a child sleeps for a while, then acts; the parent waits for that ---- */

pid_t child_that(void (*act)(void *), void *context);
/**
 * measure() - write from when to when @wait_for waits, on the clock of traces, and the thread's CPU
 * time in it, by perf's clock
 */
void measure(void (*wait_for)(void *), void *context);
void wait_for_child(void (*act)(void *), void (*wait_for)(void *), void *context);
/**
 * measure_holder_that_ends() - measure() a wait for the robust mutex at @word, which the kernel
 * releases when its holder, a child, ends
 */
void measure_holder_that_ends(uint32_t *word, void (*wait_for)(void *), void *context);

/* ---- acts and waits: a wait uses descriptor 0 of the context, an act descriptor 1 ---- */

void write_8(void *fds);
void read_8(void *fds);
void poll_one(void *fds);
void epoll_one(void *fds);
int epoll_of(int fd);

/* ---- objects to wait for ---- */

void make_pipe(int fds[2]);
void make_unix(int fds[2]);
void make_tcp(int fds[2]);
/**
 * bound() - an internet socket with a port of its own on the loopback interface
 */
int bound(int type, struct sockaddr_in *address);
/**
 * cold_file() - 32 MiB that are not in memory; another process writes it, so that waits for writing
 * are not this one's
 */
int cold_file(void);
/**
 * cold_file_at() - create the same at @path
 */
int cold_file_at(const char *path);
/**
 * make_cold_program() - create a copy of this program that is not in memory at @path
 */
void make_cold_program(const char *path);
void touch_pages(void *memory);
/**
 * read_all() - read descriptor 0 of the context until its end
 */
void read_all(void *fds);
/**
 * send_descriptor() - send @fd over the unix socket @by
 */
void send_descriptor(int by, int fd);
/**
 * measure_passed() - wait for a pipe; another process sends its reading end, and @receive gets it
 */
void measure_passed(int (*receive)(int by));

#endif
