/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_JAIL_CHILD_H
#define BASE_JAIL_CHILD_H
/*
 * jail_child.h - start and end a child process that reads untrusted files, from a program or from a
 * library in any program.
 *
 * The caller may have several threads. The child has a copy of one of them, so it calls only
 * functions that are safe then: system calls, and malloc(), which glibc's fork() leaves usable. A
 * library that the child needs is loaded before the fork.
 *
 * SIGCHLD: the kernel sends it to the caller when the child ends. A caller that ignores it, or
 * whose handler waits for all children, hides the child's exit status; nothing else depends on it.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct jail_child - a running child
 * @socket: sequenced packets to and from its JAIL_SOCKET; owned
 * @pid: process id. @owner: the process that forked it; a fork of that process has no child
 * @cpu_seconds: its limit, for the reason of its end
 */
struct jail_child {
	int socket;
	pid_t pid;
	pid_t owner;
	unsigned int cpu_seconds;
};

/**
 * struct jail_role - what a child does
 * @run: runs in the child and never returns; calls jail_enter() before it reads untrusted bytes
 * @files: descriptors that the child needs besides its socket; it has them from JAIL_FILES on, and
 *         no other
 * @cpu_seconds: as in struct jail
 */
struct jail_role {
	void (*run)(void *context) __attribute__((noreturn));
	void *context;
	const int *files;
	size_t nr_files;
	unsigned int cpu_seconds;
};

/** jail_child_start() - fork a child. Returns 0, or a negative errno with @ret_child untouched */
int jail_child_start(const struct jail_role *role, struct jail_child *ret_child);

/**
 * jail_child_end() - close the socket, end the child and wait for it
 * @has_left: the child closed its socket. It gets a second to end by itself, and @ret_reason says
 *            how it ended. Otherwise it is killed at once and @ret_reason stays.
 */
void jail_child_end(struct jail_child *child, bool has_left, char *ret_reason, size_t reason_bytes);

/** jail_left_ms() - milliseconds from now to @deadline_ns (CLOCK_MONOTONIC), for poll() */
int jail_left_ms(uint64_t deadline_ns);

#endif
