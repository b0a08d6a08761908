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

#define JAIL_MAX_ABANDONED 32

/**
 * struct jail_child - a child; zeroed: there is none
 * @socket: sequenced packets to and from its JAIL_SOCKET; owned
 * @pid: process id. @owner: the process that forked it; a fork of that process has no child
 * @cpu_seconds: its limit, for the reason of its end
 * @runs: from its start until jail_child_end()
 */
struct jail_child {
	int socket;
	pid_t pid;
	pid_t owner;
	unsigned int cpu_seconds;
	bool runs;
};

/**
 * struct jail_role - what a child does
 * @run: runs in the child and never returns; calls jail_enter() before it reads untrusted bytes
 * @files: descriptors that the child needs besides its socket; it has them from JAIL_FILES on, and
 *         no other. For an envelope (file_envelope.h) it has the file
 * @cpu_seconds: as in struct jail
 */
struct jail_role {
	void (*run)(void *context) __attribute__((noreturn));
	void *context;
	const int *files;
	size_t nr_files;
	unsigned int cpu_seconds;
};

/**
 * jail_child_start() - fork a child. Returns 0, or a negative errno with @ret_child untouched;
 * -EBUSY: JAIL_MAX_ABANDONED children still wait for a file system
 */
int jail_child_start(const struct jail_role *role, struct jail_child *ret_child);

/**
 * jail_child_end() - close the socket, end the child and wait for it, for a moment
 * A child that waits for a file system that does not answer cannot be killed. It is abandoned: a
 * later start or end of a child takes its exit status.
 * @has_left: the child closed its socket. It gets a second to end by itself, and @ret_reason says
 *            how it ended. Otherwise it is killed at once; @ret_reason stays, and may be NULL.
 */
void jail_child_end(struct jail_child *child, bool has_left, char *ret_reason, size_t reason_bytes);

/** jail_child_keep() - as jail_child_start(), unless @child runs and is a child of this process */
int jail_child_keep(const struct jail_role *role, struct jail_child *child);
/** jail_child_stop() - end it at once, if it runs */
void jail_child_stop(struct jail_child *child);

/** jail_nr_abandoned() - children that were killed and have not ended yet */
size_t jail_nr_abandoned(void);

/* ---- packets, of both sides ---- */

/**
 * jail_send() - a packet, with the descriptor @fd unless it is negative
 * @flags: MSG_DONTWAIT: fail instead of waiting for room. Returns false: not sent
 */
bool jail_send(int socket, const void *bytes, size_t nr_bytes, int fd, int flags);

/**
 * jail_receive() - the next packet, in the child: it waits as long as the caller lives
 * @ret_fd: the descriptor that came with it, owned; -1: none; may be NULL: none is accepted
 * Returns its bytes; 0: the other side has closed; -EBADMSG: larger than @room; or another errno
 */
ssize_t jail_receive(int socket, void *bytes, size_t room, int *ret_fd);

/**
 * jail_await() - the same in the caller, until @deadline_ns (CLOCK_MONOTONIC), or until @stop_fd
 * can be read; -1: no such descriptor. Returns also -ETIMEDOUT, -ECANCELED
 */
ssize_t jail_await(const struct jail_child *child, void *bytes, size_t room, int *ret_fd, uint64_t deadline_ns,
		   int stop_fd);

/**
 * jail_answer() - the same, for @limit_ns; but a child that then waits for a CPU, on a busy
 * machine, has up to 10 s more
 */
ssize_t jail_answer(const struct jail_child *child, void *bytes, size_t room, int *ret_fd, uint64_t limit_ns,
		    int stop_fd);

/** jail_child_is_runnable() - it runs or waits for a CPU, and for nothing else */
bool jail_child_is_runnable(const struct jail_child *child);

/** jail_left_ms() - milliseconds from now to @deadline_ns (CLOCK_MONOTONIC), for poll() */
int jail_left_ms(uint64_t deadline_ns);

#endif
