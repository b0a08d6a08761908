/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_LIVES_H
#define TESTS_LIVES_H
/*
 * lives.h - what processes and threads know of their own lives
 *
 * The program workload_lives makes many of both, in all ways of the kernel, and each writes the
 * times and names that it knows into a record of its own in a file that all of them have mapped.
 * The script lives_are_as_they_were compares the records with the report of a trace.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	LIFE_IS_THREAD = 1,  /* of the process of its maker */
	LIFE_ENDED = 2,	     /* it exits by itself right after @last_ns */
	LIFE_FAILED = 4,     /* the kernel refused it */
	LIFE_EXECUTES = 8,   /* a thread that calls exec, and gets the number of its process */
	LIFE_SHARES = 16,    /* a child of vfork until exec: what it wrote last is from before */
	LIFE_IS_SIBLING = 32 /* a child of the parent of its maker */
};

#define NO_LIFE UINT32_MAX

/** struct life - a record, as lives_are_as_they_were reads it; times of CLOCK_MONOTONIC */
struct life {
	uint32_t pid, tid;  /* of the machine; 0: it ended before it knew them */
	uint32_t maker;	    /* record of the process that made it; NO_LIFE: of another program */
	uint32_t flags;	    /* LIFE_... */
	uint64_t made_ns;   /* it did not exist before */
	uint64_t born_ns;   /* it existed then */
	uint64_t last_ns;   /* it still existed then, and the values below are of this time */
	uint64_t dead_ns;   /* its parent knew that it had ended; 0: not known */
	uint64_t cpu_ns;    /* of the thread, or of all threads of the process */
	uint64_t asked_ns;  /* its parent was @ppid then, a moment before @last_ns */
	uint32_t ppid, uid; /* parent, effective user */
	uint32_t ns_pid;    /* in its own pid namespace */
	int32_t status;	    /* if @dead_ns: as in wait(2) */
	char comm[16];
	char cgroup[32]; /* the path's end */
};

/** lives_open() - map the file of records; exits if that fails */
void lives_open(const char *path);

/** life_first() - the first life of an image: @idx of the record that the caller of exec had */
void life_first(uint32_t idx);

/** life_make() - a record for what the caller is about to make */
struct life *life_make(uint32_t flags);
uint32_t life_index(const struct life *life);

/** life_made() - @pid is the result of fork() or the like, also in the child: returns it */
pid_t life_made(struct life *life, pid_t pid);

/** life_begin() - the caller is the thread of this record */
void life_begin(struct life *life);

/** life_mine(), life_of_process() - records of the calling thread and of its process */
struct life *life_mine(void);
struct life *life_of_process(void);

/** life_note() - write the present values of the caller and of its process */
void life_note(void);

/** life_end() - as life_note(), right before the thread ends */
void life_end(void);

/** life_exit() - the same for the whole process, and _exit() */
void life_exit(int status) __attribute__((noreturn));

/** life_reap() - waitpid(); returns its result */
pid_t life_reap(pid_t pid, int flags);

#endif
