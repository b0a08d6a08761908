/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_WAITS_H
#define TESTS_WAITS_H
/*
 * waits.h - what the scenarios of workload_waits.c share: one wait each, with its length measured from inside.
 *
 * A scenario runs in a process of its own. It tells whom it waits for ("who"), and when, by measure(); its own number ("pid") is told for it.
 */
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include "spend.h"

#define MIB (1 << 20)
#define PAUSE_NS (200 * MS)

struct scenario {
	const char *name;
	void (*run)(void);
};
#define SCENARIO(name) {#name, name}

/* Each list ends with a NULL name. */
extern const struct scenario channel_scenarios[], descriptor_scenarios[], ipc_scenarios[], process_scenarios[], file_scenarios[], memory_scenarios[], metadata_scenarios[],
	network_scenarios[], uring_scenarios[], scenarios_32_bit[];
extern const struct scenario lasting_scenarios[]; /* longer than the recording: run by their names only */

extern int ready[2]; /* a pipe: a child that has to prepare something says so here */

void tell(const char *key, long long value);
/** skip() - the kernel refuses it: the test is told, and this process ends */
void skip(void) __attribute__((noreturn));
/** require() - what does not hold ends the process with a message */
void require(bool held);
/** tell_window() - what measure() tells */
void tell_window(long long start, long long end, long long cpu);
/** scratch_path() - of a file that only this scenario has; the text is overwritten by the next call */
const char *scratch_path(const char *name);

/* ---- the common shape: a child does nothing for a while, then acts; the parent waits for that ---- */

pid_t child_that(void (*act)(void *), void *context);
/** measure() - tell from when to when @wait_for waits, by the clock of traces, and how much of that this thread had a CPU, by perf's clock */
void measure(void (*wait_for)(void *), void *context);
void wait_for_child(void (*act)(void *), void (*wait_for)(void *), void *context);

/* ---- acts and waits: descriptor 0 of the context is waited on, descriptor 1 acted on ---- */

void write_8(void *fds);
void read_8(void *fds);
void poll_one(void *fds);
void epoll_one(void *fds);
int epoll_of(int fd);

/* ---- what is waited on ---- */

void make_pipe(int fds[2]);
void make_unix(int fds[2]);
void make_tcp(int fds[2]);
/** bound() - an internet socket with a port of its own on the loopback interface */
int bound(int type, struct sockaddr_in *address);
/** cold_file() - 32 MiB that no memory holds; made by another process, whose waits for it are its own */
int cold_file(void);
/** cold_file_at() - the same at @path, which is made */
int cold_file_at(const char *path);
void touch_pages(void *memory);
/** read_all() - of descriptor 0 of the context, until its end */
void read_all(void *fds);
/** send_descriptor() - @fd by a unix socket */
void send_descriptor(int by, int fd);
/** measure_passed() - the wait for a pipe whose reading end another process sends, and @receive gets */
void measure_passed(int (*receive)(int by));

#endif
