/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_THREAD_H
#define ANALYZER_SERVERS_SERVERS_THREAD_H
/*
 * servers_thread.h - the threads that may serve: what each works on, the call that it is in, its
 * ring
 *
 * The comment above each part of a thread names the file that maintains it.
 */
#include <stdbool.h>
#include <stdint.h>
#include "servers_process.h"

struct trace_event;
struct trace_thread;
struct server_request;
struct endpoint;
struct ring_op;
struct thread_log;
struct late_wait;

/* A thread's CPU time since its birth, and the time that interrupts took from it, in ns. */
struct cpu_time {
	uint64_t cpu;
	uint64_t interrupted;
};

enum call_role {
	CALL_NONE = 0,
	CALL_RECEIVE,
	CALL_SEND,
	CALL_SPLICE,
	CALL_TEE,
	CALL_VMSPLICE,
	CALL_ACCEPT,
	CALL_CONNECT,
	CALL_POLL,
	CALL_FUTEX,
	CALL_REST, /* another call in which a thread may wait for work */
	CALL_MAKE, /* makes a socket, a pipe or a ring */
	CALL_OPEN,
	CALL_SIGNAL, /* wakes waiters of a futex word in shared memory */
	CALL_RING,   /* io_uring_enter */
	CALL_CLOSE,
};

/* The system call in progress: servers_call.c. */
struct thread_call {
	uint8_t role; /* enum call_role */
	/*
	 * The call that the thread was in at the start, or at the end of a gap, has been looked up;
	 * or the thread has begun another call since.
	 */
	bool recovered;
	bool by_ring;  /* an operation of its ring sends, not the call */
	bool doubtful; /* what it received may be for another client than its data says */

	/* call_clear() clears what follows, except for @enter and @enter_ns */
	bool from_own_process; /* a thread of the same process sent what came in */
	bool own_data;	       /* it takes what the thread itself has written */
	bool signalled;	       /* it woke another process */
	bool replies;	       /* what it sends answers @outgoing */
	/* it slept in a receive while all its requests were from other endpoints */
	bool idle_read;
	bool slept;
	bool peek, errors, nonblock, lock;
	uint32_t sends;	       /* number of calls that have sent what it received */
	struct cpu_time enter; /* the thread's CPU time at the entry */
	uint64_t enter_ns;
	uint64_t bytes_asked;	       /* bytes that the call may transfer; 0: not known */
	uint64_t bytes_written;	       /* bytes already in the pipe, although the call has not returned */
	uint64_t futex;		       /* the address at which the call waits; 0: none */
	struct endpoint *endpoint;     /* the call acts on it */
	struct endpoint *target;       /* splice: the end that is read from */
	struct set *incoming;	       /* the requests that came in during this call */
	struct set *inherited;	       /* the set of the thread that ended the wait in this call */
	struct set *outgoing;	       /* the requests that the data carries which it sends in this call */
	struct server_request *answer; /* the request of the thread's set that the call answers */
	struct servers_thread *waker;  /* the thread that woke it last in this call */
	struct set *sent;	       /* the requests that it has answered in this call */
};

/* The last sleep in a call that waits for data: servers_sched.c. */
struct thread_sleep {
	uint64_t last_ns; /* when it last went to sleep in such a call, except for a futex; 0: never */
	uint64_t from_ns; /* the last such sleep, futexes included, begins, */
	uint64_t to_ns;	  /* and ends with the wakeup; 0: not over, or already accounted for */
};

/* io_uring operations in progress, of a thread or at an endpoint: servers_ring_op.c. */
struct ring_ops {
	/*
	 * the oldest operation that sends, and the oldest that receives. The previous one of the
	 * oldest is the last.
	 */
	struct ring_op *first[2];
	uint32_t nr; /* all operations, also those that neither send nor receive */
};

/* The use of io_uring: servers_ring_user.c. */
struct thread_ring {
	bool used;		    /* the thread has entered a ring */
	bool several;		    /* it uses several rings: a position in one says nothing about the others */
	bool polled;		    /* a kernel thread polls it: no call shows when the thread rests */
	bool is_worker;		    /* the kernel made the thread for a ring */
	bool waits;		    /* the call in progress also waits for completions */
	bool billed;		    /* the call in progress is already billed until its last submission */
	bool seen_is_recorded;	    /* in the call in progress, an event told how many results the thread has taken */
	uint64_t address;	    /* of the ring that it entered last; 0: not known */
	struct ring_ops ops;	    /* its operations on files that are not known yet */
	struct ring_op *submitting; /* the last operation submitted in its context */
	struct endpoint *made;	    /* the endpoint of the last sock_endpoints event in its context */
	struct set *arrived;	    /* its queue: requests that came in, and that it has not taken yet */
	struct cpu_time arrived_at; /* its CPU time when the first of them came */
	struct set *got;	    /* the requests that the last receive operation brought */
	struct set *answered;	    /* the requests that it has answered by submissions since its last bill */
	struct cpu_time submitted;  /* its CPU time at the last submission of the call in progress */
};

struct servers_thread {
	const struct trace_thread *thread;
	struct servers_process *process;
	struct servers_thread *parent; /* the thread that made it, if known */
	uint64_t born_ns;	       /* when it was first runnable, if that was recorded */

	/* Small members of the parts below. */
	bool touched;	    /* it is in servers_threads.touched */
	bool tentative;	    /* @set came with a wakeup; the next answer may correct it */
	bool turn_left_cpu; /* it has left its CPU since the last answer of @turn */
	bool trails;	    /* it has answered since its last rest */
	bool has_accepted;  /* it was born with a connection that was only accepted, and has received nothing */
	/*
	 * since its last rest it has read a request, or the answer to one that it sent for a
	 * request
	 */
	bool fresh;
	bool by_guess;	  /* not @fresh, and its set came with an answer to what it asked by a guess */
	uint32_t perhaps; /* the number of those in @held that are answered: server_request.perhaps */

	/* The requests that it works on: servers_bill.c and servers_request.c. */
	struct set *set;
	/*
	 * the part of @set that it has sent for, or handed on; it leaves when something new comes
	 * in
	 */
	struct set *passed;
	struct cpu_time charged; /* it is billed until here */
	const struct set *named; /* the program itself said that it works on this set: servers_explicit.c */

	/* Answers that were sent in a row share the time before them: servers_turn.c. */
	struct set *turn;	  /* the requests that it answered since @charged; NULL: none that waits for its bill */
	struct cpu_time turn_end; /* its CPU time after the last of these answers */
	uint64_t turn_cost;	  /* CPU time of the call that sent it */

	/* Its open requests: servers_open.c, servers_proof.c. */
	struct tally held;			/* requests that it has, and has not answered */
	struct tally trailing;			/* those that it has answered since its last rest, */
	struct request_window *closing;		/* and the list of them */
	const struct request_window *held_last; /* the latest one that it got; it may be over by now */
	uint64_t held_version;			/* number of changes of @held from outside */
	uint64_t seen_held, seen_open;		/* @held_version and process.open_version when it was last billed */
	uint64_t counted;			/* its CPU time that process.counted includes */
	uint64_t guess_ns;			/* 1 + begin of the call in which it asked by a guess; 0: none */
	uint32_t unsure_until_exec;		/* the part of held.unsure that a new program does not have */

	struct thread_call call;
	struct thread_sleep sleep;
	struct recent_futexes waited; /* futexes at which it waited last, except for locks */
	/* those at which it waited with all requests answered, so for jobs */
	struct recent_futexes waited_idle;
	uint64_t destination;	/* datagrams: inode number of the socket to which it sent last */
	struct thread_log *log; /* owned; threads of servers only */
	struct late_wait *late; /* owned; waits for its answers: servers_wait.c */
	struct thread_ring ring;
};

/** thread_guesses() - what @thread sends in this call may be for the one request that it has */
static inline bool thread_guesses(const struct servers_thread *thread)
{
	return thread->guess_ns == thread->call.enter_ns + 1;
}

/* row: what a new thread inherits */
struct thread_birth {
	uint64_t key; /* tid + 1 */
	struct set *set;
	struct servers_thread *parent;
	bool fresh;  /* its parent's */
	bool unsure; /* its parent had requests that are not in @set, */
	bool piped;  /* and all of these came through pipes */
	bool has_accepted;
};

struct servers_threads {
	/* owned, with the threads; by trace_thread_index(); NULL: not known */
	struct servers_thread **by_idx;
	uint32_t nr;
	/*
	 * Owned, the array only: the threads that changed, or may have changed, since the last gap.
	 */
	struct servers_thread **touched;
	uint32_t nr_touched, max_touched;
	struct hash_table births; /* rows: struct thread_birth */
};

/** servers_thread_of() - find or make. Returns NULL for kernel threads, or if out of memory. */
struct servers_thread *servers_thread_of(struct trace_servers *s, const struct trace_thread *thread);
/**
 * servers_find_thread() - find a thread that the caller will not change; NULL: not known yet
 * servers_touch_thread() - find a thread that the caller may change
 */
struct servers_thread *servers_find_thread(const struct servers_threads *threads, const struct trace_thread *thread);
struct servers_thread *servers_touch_thread(struct trace_servers *s, const struct trace_thread *thread);
/** servers_current_thread() - the thread on the CPU of @event; NULL: none, or a kernel thread */
struct servers_thread *servers_current_thread(struct trace_servers *s, const struct trace_event *event);
/**
 * servers_touch() - the caller is about to change @thread: it is reset at the next gap
 *
 * Needed for each thread that was not found by one of the functions above.
 */
void servers_touch(struct trace_servers *s, struct servers_thread *thread);
/** servers_cpu_time() - the CPU time and interrupted time of @thread until now */
struct cpu_time servers_cpu_time(const struct trace_servers *s, const struct servers_thread *thread);
void servers_threads_free(struct servers_threads *threads);
#endif
