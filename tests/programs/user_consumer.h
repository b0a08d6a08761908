/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_USER_CONSUMER_H
#define TESTS_USER_CONSUMER_H
/*
 * user_consumer.h - the smallest daemon there can be for programs with tracepoints: takes their memory, switches events, reads
 * rings, salvages what the dead left, and keeps the books. It trusts the program, which is a test.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <trace/user_memory.h>

/** struct user_record - one event, borrowed while the callback runs */
struct user_record {
	const struct user_event *event; /* in the registry */
	const char *provider;
	const char *name;
	const unsigned char *payload;
	trace_u32 payload_bytes;
	trace_u32 tid;
	trace_u32 cpu;
	trace_u64 time;
	pid_t pid; /* by the memory's header */
};

struct user_consumer {
	struct user_memory *memory;
	int fd;
	int lock_fd;
	bool taken; /* a daemon that runs on this machine was faster: what this test sees is not all */
	const struct user_event *last;
	trace_u32 nr_rings;
	trace_u64 found;     /* records seen, of all kinds */
	trace_u64 in_flight; /* that salvage met */
	trace_u64 given_up; /* committed, and cannot be told from what lies in several holes */
	trace_u64 faults;    /* broken rules */
	const char *fault;   /* the first */
	void (*each)(const struct user_record *record, void *argument);
	void *argument;
};

/* Takes the memory behind @fd. 0, or -1 when it is not one. */
int user_consumer_open(struct user_consumer *c, int fd);
void user_consumer_close(struct user_consumer *c);
/* The memory of this process, made if it is not there. */
int user_consumer_self(struct user_consumer *c);

/* Switch all events, those that come too; or one. */
void user_consumer_switch(struct user_consumer *c, bool on);
void user_consumer_switch_one(struct user_consumer *c, const char *provider, const char *name, bool on);
const struct user_event *user_consumer_event(struct user_consumer *c, const char *provider, const char *name);
/* A text of a registry entry, by its offset there. */
const char *user_event_text(const struct user_event *event, trace_u16 offset);

/* Read what is complete, once around each ring at most: programs may write as fast as it reads. @flush: close what is open before. Returns the
 * records read. */
trace_u64 user_consumer_drain(struct user_consumer *c, bool flush);
/* Read all that is left of a dead program. */
trace_u64 user_consumer_salvage(struct user_consumer *c);
/* control.discarded of all rings, and unready */
trace_u64 user_consumer_lost(const struct user_consumer *c);

/* A field of a record, by name: its bytes, and how many; NULL when there is none. A text's bytes are what the reference means. */
const void *user_record_field(const struct user_record *record, const char *field, size_t *ret_bytes);
long long user_record_integer(const struct user_record *record, const char *field);

/* A socket that programs offer their memory to, in a folder of its own; its path goes into $TRACER_SOCKET. */
int user_listen(void);
/* The next offer; waits at most @ms. The memory's descriptor; -1: none came, -2: a program that came died before it said anything. */
int user_accept(int listener, int ms);
#endif
