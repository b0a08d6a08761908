/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_USER_CONSUMER_H
#define TESTS_USER_CONSUMER_H
/*
 * user_consumer.h - the smallest possible daemon for programs with tracepoints: it takes their
 * memory, switches events, reads rings, salvages those of dead programs, and counts. It trusts the
 * program, which is a test.
 */
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <trace/user_memory.h>

/**
 * struct user_record - one event, borrowed while the callback runs
 */
struct user_record {
	const struct user_event *event; /* in the registry */
	const char *provider;
	const char *name;
	const unsigned char *payload;
	trace_u32 payload_bytes;
	trace_u32 tid;
	trace_u32 cpu;
	trace_u64 time;
	pid_t pid; /* from the memory's header */
};

struct user_consumer {
	struct user_memory *memory;
	int fd;
	int lock_fd;
	bool taken; /* a daemon on this machine was faster: this test does not see all events */
	const struct user_event *last;
	trace_u32 nr_rings;
	trace_u64 found;     /* records read, of all kinds */
	trace_u64 in_flight; /* that salvage found */
	trace_u64 given_up;  /* committed, but not distinguishable within several holes */
	trace_u64 faults;    /* broken rules */
	const char *fault;   /* the first */
	void (*each)(const struct user_record *record, void *argument);
	void *argument;
};

/* Takes the memory of @fd. Returns 0, or -1 if it is no program memory. */
int user_consumer_open(struct user_consumer *c, int fd);
void user_consumer_close(struct user_consumer *c);
/* Takes the memory of this process, which is created if necessary. */
int user_consumer_self(struct user_consumer *c);

/* Switch all events, including later ones; or one. */
void user_consumer_switch(struct user_consumer *c, bool on);
void user_consumer_switch_one(struct user_consumer *c, const char *provider, const char *name, bool on);
const struct user_event *user_consumer_event(struct user_consumer *c, const char *provider, const char *name);
/* A text of a registry entry, by its offset there. */
const char *user_event_text(const struct user_event *event, trace_u16 offset);

/* Reads the complete sub-buffers, at most one round of each ring, because programs may write as
 * fast as it reads. @flush: first close the open ones. Returns the number of records. */
trace_u64 user_consumer_drain(struct user_consumer *c, bool flush);
/* Reads everything that a dead program left. */
trace_u64 user_consumer_salvage(struct user_consumer *c);
/* control.discarded of all rings, and unready */
trace_u64 user_consumer_lost(const struct user_consumer *c);

/* A field of a record, by name: its bytes and their number; NULL if there is no such field. The
 * bytes of a text are those that its reference points to. */
const void *user_record_field(const struct user_record *record, const char *field, size_t *ret_bytes);
long long user_record_integer(const struct user_record *record, const char *field);

/* A socket on which programs offer their memory, in a folder of its own. Its path goes into
 * $TRACER_SOCKET. */
int user_listen(void);
/* Waits at most @ms for the next offer. Returns the memory's descriptor; -1: no offer came; -2: a
 * program connected and died before its offer. */
int user_accept(int listener, int ms);
#endif
