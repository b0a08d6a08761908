/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_LEDGER_H
#define ANALYZER_SERVERS_SERVERS_LEDGER_H
/*
 * servers_ledger.h - the data structures that the files of the servers analysis share
 *
 * docs/SERVERS.md has the rules and examples. The terms:
 *
 *   request     data (or a connection) that came to a server and is not answered yet
 *   origin      the client where a chain of requests began: a process or a host's address
 *   set         the open requests that a thread works on, or that data carries
 *   bill        the CPU time of one process that is charged to one origin
 *   channel     one direction of a connection, or the content of a pipe or queue
 *   range       data in a channel that one call sent, with the sender and its set
 *   endpoint    one end of a connection, a datagram socket, a pipe, a futex word or eventfd
 *   rest        a call in which a thread may wait for work
 *
 * The files:
 *
 *   servers.c           threads and their sets, bills, the handlers of events
 *   servers_request.c   requests and origins: which request a transfer begins or answers
 *   servers_set.c       sets
 *   servers_call.c      entry and exit of system calls
 *   servers_channel.c   endpoints and channels: which call sent the bytes that come out
 *   servers_signal.c    requests in shared memory
 *   servers_ring.c      io_uring
 *   servers_packet.c    the network's softirq, and UDP on this machine
 *   servers_explicit.c  requests that programs name by numbers
 *   servers_gaps.c      what is dropped when events are missing
 *   servers_wait.c      what a server did while its client waited
 *   servers_results.c   bills by client, and the verification of the sums
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/servers.h>
#include "hash_table.h"
#include "tuple.h"

/*
 * Where a request came from first. A LINK is decided after the pass: data from a pipe is a request
 * only if the reader also sent data back.
 */
enum origin_kind {
	ORIGIN_PROCESS,
	ORIGIN_ADDRESS,
	ORIGIN_LINK
};
struct origin {
	uint8_t kind;
	uint32_t of;	 /* PROCESS: ledger_process.idx; ADDRESS: string_id; LINK: the origin of the data */
	uint32_t sender; /* LINK: idx of the process that sent, and of the one that received */
	uint32_t messenger;
};

struct bill {	      /* row: what a process did for an origin */
	uint64_t key; /* index of the origin + 1 */
	uint64_t exact;
	uint64_t shared;
	uint64_t requests;
	uint64_t interrupted; /* interrupts while it worked for the origin; not in the process's CPU time */
	uint64_t receiving; /* softirq time; not in the process's CPU time */
};

#define NR_WORDS 4
struct naming;

/* the addresses of the latest NR_WORDS futexes */
struct words {
	uint64_t word[NR_WORDS];
	uint8_t at; /* index of the next entry to overwrite */
};
bool words_have(const struct words *words, uint64_t word);
void words_add(struct words *words, uint64_t word);

struct ledger_process {
	struct words locks; /* futexes at which its threads wait in turn: they are locks */
	const struct trace_process *process;
	uint32_t idx;
	bool accepted; /* it served a connection that it had accepted, or a queue that others send to */
	bool answered; /* it sent to a process that had sent to it first */
	bool listens;
	uint64_t billed; /* exact and shared, of all bills */
	uint64_t rotor;	 /* rotates which origin gets the odd ns */
	uint64_t receiving; /* softirq time that received for its sockets */
	uint64_t deliveries;
	/* events of its own are missing until then: requests named by numbers are ignored */
	uint64_t unnamed_until;
	struct naming *namings; /* servers_explicit.c: the numbers of its requests */
	struct set *pending; /* requests announced to it by a wakeup, and not answered */
	bool announced;	     /* it is in the list trace_servers.announced: @pending may not be empty */
	struct ledger_process *next_announced; /* in that list */
	uint64_t stamp;	     /* trace_servers.stamp when it was last counted as a client */
	struct hash_table bills;
};

#define MAX_SET 4096u /* requests in a set; the oldest are dropped from a larger one, and no longer billed */

/*
 * The requests that a thread works on, or that data carries; NULL is the empty set. Sets are shared
 * by reference. A set with more than one reference is never changed, but replaced.
 */
struct set {
	uint32_t refs;
	uint32_t nr;
	uint64_t unreplied; /* trace_servers.replies + 1 when none of them was answered; 0: not known */
	bool asked;	    /* each of them has request.counted; false: not known */
	struct request *items[];
};

/*
 * A request that came in. It lives while a thread works on it, or while data that carries it is on
 * its way.
 */
struct request {
	uint32_t refs;
	uint32_t origin;
	struct ledger_process *sender; /* NULL: another host */
	struct request *parent;	       /* the request that the sender worked on; holds a reference */
	struct endpoint *endpoint;     /* where it came in */
	struct request *next, **place; /* in endpoint.requests */
	uint64_t peer_ino;	       /* datagrams: the socket that sent it */
	struct ledger_thread *queued_for; /* the thread with the ring that announced it last */
	uint32_t queued_at;		  /* the position of that result in the ring; 0: not known */
	bool queued_soon;		  /* the event with the position has not come yet */
	uint16_t depth;
	bool replied;
	bool counted;
	bool named; /* a number of the program stands for it: servers_explicit.c */
	uint64_t stamp;	/* trace_servers.stamp of the last set_stamp() of a set that had it */
	/*
	 * A set of this request alone. It is the last member, because its item follows it. While
	 * that set has references, it holds one reference to the request.
	 */
	struct set only;
};

/* data on its way: the positions from the end of the range before up to @end */
struct range {
	uint64_t end;
	uint64_t ns; /* when it was sent, at the latest */
	struct set *set;
	struct ledger_process *sender; /* NULL: not known */
	struct ledger_thread *thread;  /* the thread of @sender */
	uint64_t from_ino;
	/*
	 * the call that sent the range before ended after this one had begun: their order may be
	 * wrong
	 */
	bool unsure;
};

#define MAX_RANGES  4096u /* ranges in one channel; if there are more, its reader is not recorded */
#define MAX_SENDING 8u

struct channel {
	struct range *ranges; /* owned; a circular buffer */
	uint32_t first, nr, capacity;
	uint64_t sent; /* bytes or messages sent so far; TCP: the sequence number, unwrapped */
	uint64_t received;
	uint64_t last_ns; /* the last time something was sent */
	uint32_t epoch; /* trace_servers.epoch at the last use */
	uint32_t doubt; /* UDP: trace_servers.udp_doubt at the last use */
	bool in_step;	/* @sent and @received count from the same byte */
	bool absolute;	/* TCP */
	bool udp;
	bool has_position;
	uint8_t nr_sending;
	/* threads in a call that sends; its result is not known yet */
	struct ledger_thread *sending[MAX_SENDING];
};

enum endpoint_kind {
	ENDPOINT_STREAM,
	ENDPOINT_SEQPACKET,
	ENDPOINT_DATAGRAM,
	ENDPOINT_TCP,
	ENDPOINT_PIPE,
	ENDPOINT_OTHER
};
enum role {
	ROLE_UNKNOWN,
	ROLE_SERVER,
	ROLE_CLIENT
};

/**
 * struct ring_ops - io_uring operations in progress
 * @first: the oldest operation that sends, and the oldest that receives. Its @previous is the last
 * one.
 * @nr: all operations, also those that neither send nor receive
 */
struct ring_ops {
	struct ring_op *first[2];
	uint32_t nr;
};

struct endpoint {
	uint64_t key; /* in trace_servers.endpoints */
	uint64_t ino;
	uint64_t closed_ns; /* 0: it is not closed */
	uint32_t refs;	    /* requests that came in here and are still alive */
	struct request *requests; /* the list of these, newest first */
	bool gone;	    /* no descriptor is left */
	bool retired;	    /* both ends are closed; it is in trace_servers.retired */
	bool pinned;	    /* used by sweep() only: a thread or packet refers to it */
	uint8_t kind;
	uint8_t role;
	bool is_new;  /* made during the trace */
	bool guessed; /* the role comes from the first transfer on a connection older than the trace */
	bool listening;
	/*
	 * In trace_servers.listeners, for good. Its inode number may have passed to a socket of
	 * another kind since.
	 */
	bool at_port;
	bool shared;   /* several processes write to it, so it is a queue of messages, not a conversation */
	bool accepted; /* accepted by a server, not one of a pair */
	bool is_old;   /* a pipe that was open at the start */
	bool signal; /* not a pipe, but a futex word or eventfd at which its owner waits: servers_signal.c */
	struct tuple ends; /* TCP */
	struct endpoint *peer;				  /* streams: the other end */
	struct ledger_process *owner; /* the process that used it last; of a pipe: the reader */
	struct ledger_process *sender;			  /* the sender of the last request */
	const struct ledger_process *talk_from, *talk_to; /* the last pair given to request_talk() */
	/*
	 * In trace_servers.held if one of the next three sets may not be empty. @held_place is NULL
	 * if it is not in that list.
	 */
	struct endpoint *next_held, **held_place;
	struct set *connect_set;			  /* what the thread that connected worked on */
	struct set *awaiting; /* what the client worked on when it sent its last request here */
	struct set *open; /* requests that came in here and are not answered, oldest first */
	struct ring_ops ring_ops;			  /* io_uring operations in progress here */
	/*
	 * Stream, TCP: what this end sends. Datagrams: what this socket receives. Pipe: its
	 * content.
	 */
	struct channel channel;
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
	CALL_REST,
	CALL_MAKE,
	CALL_OPEN,
	CALL_SIGNAL, /* wakes waiters of a futex word in shared memory */
	CALL_RING,   /* io_uring_enter */
};

/* The log of a thread of a server: its latest changes of state and set. See servers_wait.c. */
enum log_state {
	LOG_CPU,
	LOG_QUEUED,
	LOG_BLOCKED,
	LOG_SAME
};
struct log_entry { /* the state from @ns on */
	uint64_t ns;
	uint64_t cpu_ns; /* the thread's CPU time until then */
	struct set *set;
	uint8_t state;
	uint16_t cpu;	/* QUEUED: the CPU on which it ran next */
	uint32_t cause; /* BLOCKED: index into trace_servers.causes + 1; 0: not decided yet */
};
#define LOG_ENTRIES	128u
#define MAX_LOG_ENTRIES 2048u	   /* entries of one thread's log */
#define ALL_LOG_ENTRIES (1u << 18) /* entries that all logs together may grow by */
struct log {
	uint64_t nr;	   /* entries written so far */
	uint32_t capacity; /* a power of two */
	struct log_entry *entries; /* owned; entry n is at n % capacity */
};

/* A thread's CPU time since its birth, and the time that interrupts took from it. */
struct spent {
	uint64_t cpu;
	uint64_t interrupted;
};

struct ledger_thread {
	const struct trace_thread *thread;
	struct ledger_process *process;
	struct set *set;
	struct spent charged; /* billed until here */
	struct spent enter;   /* at the entry of the call in progress */
	uint64_t enter_ns;
	uint64_t asked;	       /* bytes that the call may transfer; 0: not known */
	uint64_t written;      /* bytes already in the pipe, although the call has not returned */
	uint64_t slept_ns;     /* when it last went to sleep in a call that waits for data; 0: never */
	struct set *incoming;  /* the requests that came in during this call */
	struct set *inherited; /* the set of the thread that woke it in this call */
	struct set *outgoing;  /* what the data that it sends in this call carries */
	/*
	 * The part of its set for which it has sent something, or which it handed on. These
	 * requests leave the set when something new comes in.
	 */
	struct set *passed;
	struct endpoint *endpoint; /* the call acts on it */
	struct endpoint *target;   /* splice: the end that is read from */
	struct ledger_thread *waker;
	struct log *log;      /* owned; threads of servers only */
	uint64_t wait_from;   /* its last sleep in a call that waits for data begins, */
	uint64_t wait_to;     /* and ends with the wakeup; 0: not over, or already accounted for */
	uint64_t destination; /* datagrams: the socket to which it sent last */
	uint64_t word;	      /* the futex at which the call in progress waits; 0: none */
	struct words waited;  /* futexes at which it waited last, except for locks */
	/* those of them at which it waited with all requests answered: it waits for jobs there */
	struct words rested;
	uint8_t call;
	struct request *answer; /* the request of its set that the call in progress answers */
	bool tentative;		/* the set came with a wakeup; the next answer may correct it */
	bool handed;		/* a thread of the same process sent what came in during this call */
	bool signalled;		/* it woke another process in this call */
	bool idle_read;		/* it slept in a receive while all its requests were from other endpoints */
	bool slept;		/* in this call */
	bool woken_early;	/* woken while still on its CPU: servers_wait.c */
	bool peek, nonblock, lock;
	bool touched;	/* it is in trace_servers.touched */
	/*
	 * The call that it was in at the start, or at the end of a gap, has been looked up; or it
	 * has begun another call since.
	 */
	bool recovered;
	/* io_uring: servers_ring.c */
	bool has_ring;
	uint64_t ring;	    /* address of the ring that it entered last; 0: not known */
	bool several_rings; /* it uses several rings: a position in one says nothing about the others */
	bool ring_worker; /* a thread that the kernel made for a ring */
	bool ring_waits;  /* the call in progress also waits for completions */
	bool settled;	  /* the call in progress is already billed until its last submission */
	struct ledger_thread *parent; /* the thread that made it, if known */
	uint64_t born_ns;	      /* when it was first runnable, if that was recorded */
	struct ring_ops ring_ops;     /* its operations on files that are not known yet */
	struct ring_op *submitting;   /* the last operation submitted in its context */
	struct endpoint *ring_made;   /* the endpoint of the last sock_endpoints event in its context */
	struct set *arrived;	      /* its queue: requests that came in, and that it has not taken yet */
	struct spent arrived_at;      /* when the first of them came */
	struct set *got;	      /* what the last receive operation brought */
	bool knows_seen; /* in the call in progress, an event told how many results it has taken */
	struct set *answered;	      /* what it has answered by submissions since its last bill */
	struct spent submitted;	      /* at the last submission of the call in progress */
};

struct birth {	      /* row: what a new thread inherits */
	uint64_t key; /* tid + 1 */
	struct set *set;
	struct ledger_thread *parent;
};

/* The wait cause of a server's thread. */
struct cause {
	const struct trace_process *other;
	const char *target, *via; /* interned by the analysis: equal texts have equal addresses */
	uint8_t kind;
	bool idle;
};

/* A packet on its way through this machine: servers_packet.c. */
struct packet {
	uint32_t bytes; /* as net_rx will record it */
	uint32_t protocol;
	uint64_t from_ino;
	struct ledger_thread *thread; /* the sender; NULL: an interrupt sent it, or it is not known */
	struct set *set;	      /* what it carries */
	struct ledger_process *to;    /* TCP: the process that has the other end; NULL: not known */
	bool udp, tcp;		      /* both false: the socket is not known */
	bool asks;		      /* goes from the client's end to the server's */
};

#define MAX_HANDED 16u /* datagrams handed over at once to a CPU that is already receiving */

typedef void (*servers_handler_fn)(struct trace_servers *s, const struct trace_event *event);

struct trace_servers {
	const struct trace *trace;
	struct trace_analysis *analysis;
	int failed;
	bool started, finished, masked;
	bool no_transfers; /* the kernel does not record what is sent, or what is received */
	uint64_t wanted[TRACE_MASK_WORDS];   /* events that the requests depend on */
	uint64_t recorded[TRACE_MASK_WORDS]; /* which of them are recorded now; valid once @masked */
	servers_handler_fn handlers[TRACE_EV_MAX];
	uint32_t epoch;
	size_t next_gap;
	uint64_t gap_until;
	uint64_t next_gap_ns, next_gap_end;
	size_t next_user_gap; /* the next gap of a program's buffer, */
	size_t next_damage;   /* and the next late gap: a chunk that turned out to be damaged */
	uint64_t next_user_gap_ns;
	uint64_t start_ns;
	uint8_t calls[2][1024];		 /* enum call_role by ABI and number */
	uint8_t forms[2][1024];		 /* enum call_form likewise: servers_call.c */
	struct hash_table listeners;		 /* TCP port -> struct endpoint */
	struct hash_table words;		 /* address -> struct endpoint: servers_signal.c */
	uint32_t talks;			 /* pairs so far; their order */
	/* owned, with the threads; by trace_thread_index(); NULL: not known */
	struct ledger_thread **threads;
	uint32_t nr_threads;
	/*
	 * Owned, the array only: the threads that changed, or may have changed, since the last gap.
	 * See servers_gaps.c.
	 */
	struct ledger_thread **touched;
	uint32_t nr_touched, max_touched;
	struct hash_table processes;		 /* pointer -> struct ledger_process */
	struct ledger_process **by_idx;	 /* owned */
	uint32_t nr_processes;
	struct ledger_process *announced; /* the first in the list */
	struct hash_table endpoints; /* inode -> struct endpoint */
	struct endpoint *held;	/* list of the endpoints that hold sets */
	struct hash_table tuples;
	struct endpoint **retired; /* owned, the array only */
	uint32_t nr_retired, max_retired, sweep_at;
	struct hash_table pairs; /* (from, to) processes -> the channel that data went through */
	struct hash_table births;
	struct hash_table namings; /* servers_explicit.c */
	struct hash_table ring_ops, ring_slots; /* servers_ring.c */
	struct origin *origins; /* owned */
	uint64_t *origin_stamps; /* owned; for each origin the @stamp when it was last counted */
	uint32_t nr_origins;
	uint64_t replies; /* number of requests that were answered */
	/* the latest of these; it may be freed by now, so only compare the pointer */
	const struct request *last_replied;
	/*
	 * Incremented for each search through a set. A search marks the members with it, so that a
	 * lookup among thousands of requests needs no nested loop.
	 */
	uint64_t stamp;
	struct hash_table origin_by_hash;
	struct strings strings;
	struct trace_server *servers; /* owned; results */
	size_t nr_servers;
	struct ledger_thread *sender; /* the thread that sent the data being received; NULL: not known */
	struct backlog *backlogs;     /* owned; by CPU */
	uint32_t nr_backlogs;
	struct packet handed[MAX_HANDED]; /* datagrams, oldest first */
	uint32_t nr_handed;
	uint32_t loopback;  /* index of the loopback interface */
	uint32_t udp_doubt; /* number of datagrams that were lost, or could not be matched */
	uint64_t receiving_unclaimed;
	struct trace_receiver *receivers; /* owned; results */
	size_t nr_receivers;
	uint32_t log_entries; /* entries that all logs have grown by */
	struct hash_table waits;
	struct cause *causes; /* owned */
	uint32_t nr_causes;
	struct hash_table cause_by_hash;
	struct trace_server_wait *server_waits; /* owned; results */
	size_t nr_server_waits;
};

struct pointer_row {
	uint64_t key;
	void *pointer;
};

/* ---- servers_set.c ---- */

/** set_release() - free @set after its last reference is gone */
void set_release(struct set *set);
static inline struct set *set_ref(struct set *set)
{
	if (set)
		set->refs++;
	return set;
}
static inline void set_unref(struct set *set)
{
	if (set && !--set->refs)
		set_release(set);
}
/** set_stamp() - mark all requests of @set with a new stamp, and return the stamp */
uint64_t set_stamp(struct trace_servers *s, const struct set *set);
/** set_put() - add @request to *@place. The caller keeps its reference to @request. */
void set_put(struct trace_servers *s, struct set **place, struct request *request);
void set_put_all(struct trace_servers *s, struct set **place, const struct set *more);
/**
 * set_put_latest() - set_put(), and reduce a set of more than 2 * @max requests to the latest @max
 */
void set_put_latest(struct trace_servers *s, struct set **place, struct request *request, uint32_t max);
typedef bool (*request_fn)(const struct request *request, const void *data);
void set_remove(struct trace_servers *s, struct set **place, const struct request *request);
/** set_filter() - remove the requests from *@place for which @drop returns true */
void set_filter(struct trace_servers *s, struct set **place, request_fn drop, const void *data);
/**
 * set_drop_replied() - remove answered requests from *@place
 * set_drop_accepted() - remove requests from *@place that were accepted, but sent no data yet
 */
void set_drop_replied(struct trace_servers *s, struct set **place);
void set_drop_accepted(struct trace_servers *s, struct set **place);
/**
 * set_drop() - remove the requests from *@place that are in @others
 * set_keep() - remove all others
 */
void set_drop(struct trace_servers *s, struct set **place, const struct set *others);
void set_keep(struct trace_servers *s, struct set **place, const struct set *others);
/** set_assign() - make *@place a reference to @set, and drop its old reference */
static inline void set_assign(struct set **place, struct set *set)
{
	struct set *old = *place;

	if (old == set)
		return;
	*place = set_ref(set);
	set_unref(old);
}
bool set_any_replied(const struct trace_servers *s, struct set *set);
bool set_any_unanswered(const struct set *set);
bool set_has(const struct set *set, const struct request *request);

/* ---- servers_request.c ---- */

struct request *request_ref(struct request *request);
void request_unref(struct request *request);
uint32_t origin_process(struct trace_servers *s, const struct ledger_process *process);
uint32_t origin_address(struct trace_servers *s, const struct endpoint *endpoint);
/** origin_resolve() - the process of an origin, or NULL and its address. For use after the pass. */
struct ledger_process *origin_resolve(struct trace_servers *s, uint32_t origin, const char **ret_address);

/**
 * request_receive() - @thread received data through @endpoint
 * @sender: the process that had sent the data, while it worked on @carried; NULL: not known
 */
void request_receive(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint,
		     struct ledger_process *sender, struct set *carried, uint64_t from_ino);
/** request_accept() - @thread accepted @endpoint */
void request_accept(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint);
/**
 * request_prepare() - @thread is about to send at @endpoint: find the request that this answers
 *
 * Sets thread->answer and thread->outgoing.
 */
void request_prepare(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint);
/**
 * request_prepare_queued() - request_prepare() for an operation that @thread submitted to a ring
 *
 * The answered request may also be one that came in and that @thread has not taken yet. It is added
 * to thread->answered; the set of @thread does not change.
 */
void request_prepare_queued(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint);
/** request_send() - @thread has sent at @endpoint */
void request_send(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint);
/** request_talk() - note that data went from one process to another */
void request_talk(struct trace_servers *s, struct ledger_process *from, struct ledger_process *to, const struct endpoint *through);
/** is_queue() - true if several senders' requests come in here, each a message of its own */
bool is_queue(const struct endpoint *endpoint);
bool request_is_server(const struct ledger_process *process);
/** endpoint_is_remote() - true if the other end of this TCP connection is on another host */
bool endpoint_is_remote(const struct endpoint *endpoint);

/* ---- servers.c, servers_results.c ---- */

/** servers_charge() - bill the CPU time of @thread until now to the requests that it works on */
void servers_charge(struct trace_servers *s, struct ledger_thread *thread);
/** bill_receiving() - add softirq time that received for @process on behalf of an origin */
void bill_receiving(struct trace_servers *s, struct ledger_process *process, uint32_t origin, uint64_t ns);
void servers_charge_until(struct trace_servers *s, struct ledger_thread *thread, const struct spent *until);
/** servers_replace_set() - bill until @until, then let @thread work on @set */
void servers_replace_set(struct trace_servers *s, struct ledger_thread *thread, struct set *set, const struct spent *until);
/** servers_spent() - the CPU time and interrupted time of @thread until now */
struct spent servers_spent(const struct trace_servers *s, const struct ledger_thread *thread);
/** servers_leave_replied() - at a rest: bill until now, and remove answered requests */
void servers_leave_replied(struct trace_servers *s, struct ledger_thread *thread);
/** servers_process_of() - find or make. Returns NULL if out of memory. */
struct ledger_process *servers_process_of(struct trace_servers *s, const struct trace_process *process);
/** servers_thread_of() - find or make. Returns NULL for kernel threads, or if out of memory. */
struct ledger_thread *servers_thread_of(struct trace_servers *s, const struct trace_thread *thread);
/**
 * servers_find_thread() - find a thread that the caller will not change; NULL: not known yet
 * servers_touch_thread() - find a thread that the caller may change
 */
struct ledger_thread *servers_find_thread(const struct trace_servers *s, const struct trace_thread *thread);
struct ledger_thread *servers_touch_thread(struct trace_servers *s, const struct trace_thread *thread);
/** servers_current_thread() - the thread on the CPU of @event; NULL: none, or a kernel thread */
struct ledger_thread *servers_current_thread(struct trace_servers *s, const struct trace_event *event);
void servers_results_free(struct trace_servers *s);

/* ---- servers_call.c ---- */

void servers_prepare_calls(struct trace_servers *s);
void servers_on_enter(struct trace_servers *s, const struct trace_event *event);
void servers_on_exit(struct trace_servers *s, const struct trace_event *event);
/** servers_call_recover() - look up the call of @thread if its entry was not recorded */
void servers_call_recover(struct trace_servers *s, struct ledger_thread *thread);
/** servers_pipe_wakes() - @writer wakes @woken: put what @writer is writing into the pipe now */
void servers_pipe_wakes(struct trace_servers *s, struct ledger_thread *writer, const struct ledger_thread *woken);
/**
 * channel_out() - the channel into which a call at @endpoint sends
 *
 * Returns NULL if another event tells what was sent, or if the endpoint is not followed.
 */
struct channel *channel_out(struct endpoint *endpoint);
struct endpoint *endpoint_of_fd(struct trace_servers *s, const struct ledger_thread *thread, uint64_t fd);
/** brings_nothing() - true if no process can send through @fd */
bool brings_nothing(struct trace_servers *s, const struct ledger_thread *thread, uint64_t fd);

/* ---- servers_ring.c ---- */

/* at the entry of io_uring_enter(), with the known arguments */
void ring_enter(struct ledger_thread *thread, const uint64_t *args, unsigned int nr);
/* an event told how many results the thread has taken */
void ring_looked(struct trace_servers *s, const struct trace_event *event);
/* the thread sleeps in io_uring_enter() */
void ring_sleeps(struct trace_servers *s, struct ledger_thread *thread);
void ring_exit(struct trace_servers *s, struct ledger_thread *thread);
void ring_submit(struct trace_servers *s, const struct trace_event *event);
void ring_complete(struct trace_servers *s, const struct trace_event *event);
void ring_file(struct trace_servers *s, const struct trace_event *event);
void ring_open(struct trace_servers *s, const struct trace_event *event);
/** ring_sends() - a send in the context of @thread; returns true if a ring operation sent it */
bool ring_sends(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint, int64_t ret, uint32_t position);
/**
 * ring_receives() - the same for a receive
 * @amount: bytes or messages
 * @channel: channel_in(@endpoint)
 */
bool ring_receives(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint, struct channel *channel, int64_t amount,
		   uint32_t position);
/**
 * ring_datagram() - @thread puts a message into the queue of the socket @destination
 *
 * Returns true if a ring operation sends it. Then @thread is in the same state as in a call that
 * sends.
 */
bool ring_datagram(struct trace_servers *s, struct ledger_thread *thread, uint64_t destination);
/**
 * ring_sending() - the operation after @after that may be sending at @endpoint; NULL: no more
 *
 * @after NULL starts with the oldest.
 */
const struct ring_op *ring_sending(const struct endpoint *endpoint, const struct ring_op *after, struct ledger_thread **ret_user, struct set **ret_set);
void ring_forget(struct trace_servers *s); /* after a gap */
void ring_free(struct trace_servers *s);

/* ---- servers_explicit.c ---- */

/** explicit_event() - handle an event of a program: it may begin, hand off or end a request */
void explicit_event(struct trace_servers *s, const struct trace_event *event);
void explicit_forget(struct trace_servers *s);
/**
 * explicit_lose() - events of @process are missing until @until_ns
 *
 * The requests of its threads are not known until then.
 */
void explicit_lose(struct trace_servers *s, struct ledger_process *process, uint64_t until_ns);

/* ---- servers_gaps.c ---- */

void gaps_prepare(struct trace_servers *s);
/**
 * gaps_touch() - the caller is about to change @thread: reset it at the next gap
 *
 * Needed for each thread that was not found by a function of servers.c.
 */
void gaps_touch(struct trace_servers *s, struct ledger_thread *thread);
/**
 * gaps_hold() - @endpoint got a set (other than in its channel): reset it at the next gap
 * gaps_let_go() - @endpoint has no such set any more
 */
void gaps_hold(struct trace_servers *s, struct endpoint *endpoint);
void gaps_let_go(struct endpoint *endpoint);
/**
 * gaps_pass() - handle gaps in the kernel's events that begin or end before an event at @ns
 *
 * To be called if @ns is next_gap_ns or later, or if gap_until is not 0.
 */
void gaps_pass(struct trace_servers *s, uint64_t ns);
/** gaps_user_pass() - the same for programs' events, if @ns is later than next_user_gap_ns */
void gaps_user_pass(struct trace_servers *s, uint64_t ns);
/** gaps_damage() - a late gap: the chunk could not be read when its turn came */
void gaps_damage(struct trace_servers *s, const struct trace_gap *gap);
/**
 * gaps_lost() - trace_lost, at the end of its gap
 *
 * Requests that the program's events in other streams began inside the gap are dropped, too.
 */
void gaps_lost(struct trace_servers *s, const struct trace_event *event);
/**
 * gaps_mask() - trace_mask: a change of the recorded event types is a gap
 *
 * The first trace_mask of a trace is not: it holds from the beginning on.
 */
void gaps_mask(struct trace_servers *s, const struct trace_event *event);

/* ---- servers_wait.c ---- */

/**
 * log_set() - log that the set of @thread changed
 *
 * The change counts from the entry of its call if the thread was billed until there, else from now.
 */
void log_set(struct trace_servers *s, struct ledger_thread *thread);
/** log_put() - log a change of state; LOG_SAME: only the set changed */
void log_put(struct trace_servers *s, struct ledger_thread *thread, uint64_t ns, uint64_t cpu_ns, enum log_state state);
void log_believe(struct ledger_thread *thread);
/**
 * log_woken() - @thread, which has a log, was woken
 *
 * It is queued from now on, unless it was still on its CPU.
 */
void log_woken(struct trace_servers *s, struct ledger_thread *thread, uint64_t ns);
/** log_runs() - @thread runs on @cpu from now on */
void log_runs(struct trace_servers *s, struct ledger_thread *thread, uint64_t ns, uint32_t cpu);
/** log_interval() - a trace_interval_fn: the wait cause of a blocked thread was decided */
void log_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval);
void log_free(struct ledger_thread *thread);
/**
 * wait_answered() - the last sleep of @thread ended with the answer that @server sent
 * @asked: what @thread worked on when it asked; NULL: what it works on now
 */
void wait_answered(struct trace_servers *s, struct ledger_thread *thread, struct ledger_thread *server, const struct set *asked);
void waits_finish(struct trace_servers *s);
void waits_free(struct trace_servers *s);

/* ---- servers_signal.c ---- */

/** signal_wakes() - @waker wakes @woken, a thread of another process */
void signal_wakes(struct trace_servers *s, struct ledger_thread *waker, struct ledger_thread *woken);
/** signal_found_nobody() - the wake call of @thread ended without a waiter to wake */
void signal_found_nobody(struct trace_servers *s, struct ledger_thread *thread);
/** signal_is_eventfd() - true if @thread writes to an eventfd, and has woken no other process */
bool signal_is_eventfd(const struct trace_servers *s, const struct ledger_thread *thread);
bool signal_is_private(uint64_t operation); /* @operation of a futex call */
bool signal_is_wake(uint64_t operation);

/* ---- servers_packet.c ---- */

int packets_prepare(struct trace_servers *s);
void packets_end(struct trace_servers *s); /* the pass is over */
void packets_free(struct trace_servers *s);
void packets_forget(struct trace_servers *s); /* after a gap */
void packets_pin(struct trace_servers *s); /* sets endpoint.pinned where a packet is being received */
void packets_rest(struct trace_servers *s, uint32_t cpu); /* the CPU becomes idle */
void packets_softirq(struct trace_servers *s, const struct trace_event *event);
void packet_sent(struct trace_servers *s, const struct trace_event *event);
void packet_received(struct trace_servers *s, const struct trace_event *event);
/** packet_ready() - in an interrupt, sock_ready reported data for a socket */
void packet_ready(struct trace_servers *s, const struct trace_event *event);

/* ---- servers_channel.c ---- */

/**
 * endpoint_get() - find or make the endpoint of a socket. Returns NULL if out of memory, or for
 * inode 0.
 */
struct endpoint *endpoint_get(struct trace_servers *s, uint64_t ino, uint16_t family, uint16_t type, uint16_t protocol);
struct endpoint *endpoint_find(const struct trace_servers *s, uint64_t ino);
/**
 * listener_here() - the socket that listens, or listened, at this end's port; NULL: not known
 * listener_there() - the same for the port of the other end
 */
struct endpoint *listener_here(const struct trace_servers *s, const struct endpoint *endpoint);
struct endpoint *listener_there(const struct trace_servers *s, const struct endpoint *endpoint);
struct endpoint *pipe_get(struct trace_servers *s, uint32_t dev, uint64_t ino);
struct endpoint *tuple_peer(const struct trace_servers *s, const struct endpoint *endpoint);
void endpoint_learn(struct trace_servers *s, const struct trace_sock_endpoints *ends, struct ledger_process *owner, bool is_new);
/** channel_in() - the channel from which @endpoint receives; NULL: the other end is not known */
struct channel *channel_in(const struct trace_servers *s, struct endpoint *endpoint);
/* a call that sends begins */
void channel_begin(struct trace_servers *s, struct channel *channel, struct ledger_thread *thread);
void channel_end(struct channel *channel, struct ledger_thread *thread);
/**
 * channel_send() - @amount bytes or messages went in
 * @position: TCP: the sequence number after them
 */
void channel_send(struct trace_servers *s, struct channel *channel, struct ledger_thread *thread, uint64_t amount,
		  uint32_t position);
/** channel_put() - one message went in; sets the position of @range in the channel */
void channel_put(struct trace_servers *s, struct channel *channel, const struct range *range);
/**
 * channel_message_of() - the first message in @channel that the socket @from_ino sent
 *
 * Returns NULL if there is none, or if its range has more than one message.
 */
struct range *channel_message_of(const struct channel *channel, uint64_t from_ino);
/**
 * channel_unsure_of() - the first range in @channel that @sender sent
 *
 * Returns NULL if there is none, or if it was certainly sent after the range before it.
 */
struct range *channel_unsure_of(const struct channel *channel, const struct ledger_process *sender);
/** channel_last() - the range that was put in last; NULL: the channel is empty */
const struct range *channel_last(const struct channel *channel);
/** channel_receive() - @amount came out: call request_receive() for each known sender */
void channel_receive(struct trace_servers *s, struct endpoint *endpoint, struct channel *channel, struct ledger_thread *thread,
		     uint64_t amount, uint32_t position);
/** channel_lost_step() - the positions of the two ends can no longer be compared */
void channel_lost_step(struct channel *channel);
/** channel_drained() - @channel was observed empty at @ns */
void channel_drained(struct trace_servers *s, struct channel *channel, uint64_t ns);
/**
 * endpoint_closed() - a program or the network closed this end
 * @gone: for both directions
 */
void endpoint_closed(struct trace_servers *s, struct endpoint *endpoint, bool gone);
/** endpoint_gone() - a trace_release_fn: a pipe or socket was released; not TCP connections */
void endpoint_gone(void *servers, const struct trace_file_id *id);
/**
 * endpoint_empty() - release the ranges and sets of @endpoint
 * endpoint_free() - free @endpoint, to which no request refers any more
 */
void endpoint_empty(struct endpoint *endpoint);
void endpoint_free(struct endpoint *endpoint);
#endif
