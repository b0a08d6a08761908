/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_LEDGER_H
#define ANALYZER_SERVERS_SERVERS_LEDGER_H
/*
 * servers_ledger.h - what servers.c (threads, bills), servers_request.c (who works for whom), servers_set.c (on what), servers_channel.c (whose bytes
 * these are), servers_packet.c (the network's softirq), servers_ring.c (io_uring), servers_gaps.c (what is forgotten) share. The mechanism:
 * docs/SERVERS.md.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/servers.h>
#include "hash_table.h"
#include "tuple.h"

/* Where a request came from first. A LINK is decided at the end: data from a pipe makes a request only if data went back. */
enum origin_kind {
	ORIGIN_PROCESS,
	ORIGIN_ADDRESS,
	ORIGIN_LINK
};
struct origin {
	uint8_t kind;
	uint32_t of;	 /* PROCESS: ledger_process.idx; ADDRESS: string_id; LINK: the origin that was handed over */
	uint32_t sender; /* LINK: processes */
	uint32_t messenger;
};

struct bill {	      /* row: what an origin cost a process */
	uint64_t key; /* origin + 1 */
	uint64_t exact;
	uint64_t shared;
	uint64_t requests;
	uint64_t interrupted; /* while it worked for it; not in the process's CPU time either */
	uint64_t receiving; /* softirq time; not in the process's CPU time */
};

#define NR_WORDS 4
struct naming;

/* Futexes, the latest few. */
struct words {
	uint64_t word[NR_WORDS];
	uint8_t at; /* the next place */
};
bool words_have(const struct words *words, uint64_t word);
void words_add(struct words *words, uint64_t word);

struct ledger_process {
	struct words locks; /* at which its threads wait in turns */
	const struct trace_process *process;
	uint32_t idx;
	bool accepted; /* it served a connection that it had accepted, or a queue that others sent to */
	bool answered; /* it sent to a process that had sent to it first */
	bool listens;
	uint64_t billed; /* exact and shared, of all */
	uint64_t rotor;	 /* whose turn it is to get the odd ns */
	uint64_t receiving; /* softirq time that received for its sockets */
	uint64_t deliveries;
	uint64_t unnamed_until; /* some of its own events are missing */
	struct naming *namings; /* servers_explicit.c: numbers that stand for its requests */
	struct set *pending; /* announced to it by a signal, and not answered */
	bool announced;	     /* it is in trace_servers.announced: it may have some, */
	struct ledger_process *next_announced; /* as others */
	uint64_t stamp;	     /* trace_servers.stamp of when it was counted last as a client */
	struct table bills;
};

#define MAX_SET 4096u /* requests: of a thread that has more open at the same time, the oldest are no longer billed */

/* The requests that a thread works on, or that data carries. Shared by reference, and never changed while more than one place has it. NULL: none. */
struct set {
	uint32_t refs;
	uint32_t nr;
	uint64_t unreplied; /* trace_servers.replies of when none of them had been answered, + 1; 0: not known */
	bool asked;	    /* each is counted; false: not known */
	struct request *items[];
};

/* A request that came in. Alive while a thread works on it, or data that carries it is on its way. */
struct request {
	uint32_t refs;
	uint32_t origin;
	struct ledger_process *sender; /* NULL: another host */
	struct request *parent;	       /* what the sender worked on; a reference */
	struct endpoint *endpoint;     /* it came in here, */
	struct request *next, **place; /* as others that are alive */
	uint64_t peer_ino;	       /* datagrams: the socket it came from */
	struct ledger_thread *queued_for; /* a ring told of it last, */
	uint32_t queued_at;		  /* as its result of this number; 0: not known */
	bool queued_soon;		  /* it will tell */
	uint16_t depth;
	bool replied;
	bool counted;
	bool named; /* a number of the program's stands for it: servers_explicit.c */
	uint64_t stamp;	/* trace_servers.stamp of when it was in the set that was looked at last */
	struct set only; /* last, its item follows: a set of just this one, if it has references; they are one to the request */
};

/* Data on its way: up to position @end, since the range before. */
struct range {
	uint64_t end;
	uint64_t ns; /* sent, at the latest */
	struct set *set;
	struct ledger_process *sender; /* NULL: not known */
	struct ledger_thread *thread;  /* of it */
	uint64_t from_ino;
	bool unsure; /* the call that sent the one before ended within the one that sent this */
};

#define MAX_RANGES  4096u /* on its way in one channel; more: nobody that we see reads it */
#define MAX_SENDING 8u

struct channel {
	struct range *ranges; /* owned; a ring */
	uint32_t first, nr, capacity;
	uint64_t sent; /* bytes or messages until now; TCP: its sequence number, unwrapped */
	uint64_t received;
	uint64_t last_ns; /* something was sent last */
	uint32_t epoch; /* of the last gap */
	uint32_t doubt; /* UDP: trace_servers.udp_doubt when it was in step */
	bool in_step;	/* both positions mean the same byte */
	bool absolute;	/* TCP */
	bool udp;
	bool has_position;
	uint8_t nr_sending;
	struct ledger_thread *sending[MAX_SENDING]; /* in a call that sends, result not known yet */
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

/** struct ring_ops - operations of io_uring, oldest first: those that send, those that receive; and how many there are, others too. The first knows the last */
struct ring_ops {
	struct ring_op *first[2];
	uint32_t nr;
};

struct endpoint {
	uint64_t key; /* in trace_servers.endpoints */
	uint64_t ino;
	uint64_t closed_ns; /* 0: it is not closed */
	uint32_t refs;	    /* requests that came in here, */
	struct request *requests; /* the last one first */
	bool gone;	    /* no descriptor is left */
	bool retired;	    /* both ends are closed: in trace_servers.retired */
	bool pinned;	    /* while these are looked through: a thread is at it */
	uint8_t kind;
	uint8_t role;
	bool is_new;  /* made during the trace */
	bool guessed; /* the role comes from the first transfer of an older connection */
	bool listening;
	bool at_port;  /* in trace_servers.listeners, for good: its number may be another kind of socket's since */
	bool shared;   /* several processes write to it: a queue of messages, not a conversation */
	bool accepted; /* by a server, not one of a pair */
	bool is_old;   /* a pipe that was open at the start */
	bool signal;   /* no pipe, but a word that its owner waits at: servers_signal.c */
	struct tuple ends; /* TCP */
	struct endpoint *peer;				  /* streams */
	struct ledger_process *owner;			  /* who used it last; of a pipe: who reads it */
	struct ledger_process *sender;			  /* of the last request */
	const struct ledger_process *talk_from, *talk_to; /* noted last */
	struct endpoint *next_held, **held_place;	  /* in trace_servers.held, if one of these is not empty; NULL: it is not */
	struct set *connect_set;			  /* what the thread that connected worked on */
	struct set *awaiting;				  /* what was asked for here as a client */
	struct set *open;				  /* requests that came in here and are not answered, oldest first */
	struct ring_ops ring_ops;			  /* of io_uring, in progress here */
	struct channel channel; /* stream, TCP: what this end sends; datagrams: what it receives; pipe: what is in it */
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
	CALL_SIGNAL, /* futex wake */
	CALL_RING,   /* io_uring_enter */
};

/* The last changes of a server's thread: servers_wait.c. */
enum log_state {
	LOG_CPU,
	LOG_QUEUED,
	LOG_BLOCKED,
	LOG_SAME
};
struct log_entry { /* from then on */
	uint64_t ns;
	uint64_t cpu_ns; /* the thread's CPU time until then */
	struct set *set;
	uint8_t state;
	uint16_t cpu;	/* QUEUED: where it came to run */
	uint32_t cause; /* BLOCKED: into trace_servers.causes + 1; 0: not decided yet */
};
#define LOG_ENTRIES	128u
#define MAX_LOG_ENTRIES 2048u	   /* of one thread, */
#define ALL_LOG_ENTRIES (1u << 18) /* of all that have more than the first */
struct log {
	uint64_t nr;	   /* ever */
	uint32_t capacity; /* a power of two */
	struct log_entry *entries; /* owned; entry n is at n % capacity */
};

/* Of a thread since its birth: its CPU time, and what interrupts took from it. */
struct spent {
	uint64_t cpu;
	uint64_t interrupted;
};

struct ledger_thread {
	const struct trace_thread *thread;
	struct ledger_process *process;
	struct set *set;
	struct spent charged; /* billed until */
	struct spent enter;   /* at the entry of the call in progress */
	uint64_t enter_ns;
	uint64_t asked;	       /* bytes; 0: not known */
	uint64_t written;      /* bytes that are in the pipe already, although the call is not over */
	uint64_t slept_ns;     /* last time it went to sleep in a call that waits for data; 0 never */
	struct set *incoming;  /* came in during this call */
	struct set *inherited; /* from who woke it in this call */
	struct set *outgoing;  /* what the data that it sends in this call carries */
	struct set *passed;    /* of its set, what it has sent something for, or handed on: leaves when something new comes in */
	struct endpoint *endpoint; /* the call acts on */
	struct endpoint *target;   /* splice: and writes to */
	struct ledger_thread *waker;
	struct log *log;      /* owned; servers only */
	uint64_t wait_from;   /* its last sleep in a call that waits for data, */
	uint64_t wait_to;     /* until it was woken; 0: it is accounted for, or not over */
	uint64_t destination; /* datagrams: the socket that the last one went to */
	uint64_t word;	      /* the futex that the call in progress waits at; 0: none */
	struct words waited;  /* at which it waited last, other than locks, */
	struct words rested;  /* and had nothing to do: there it waits for jobs */
	uint8_t call;
	struct request *answer; /* that the call in progress answers; of the set */
	bool tentative;		/* the set was inherited with a wakeup */
	bool handed;		/* what came in during this call was handed on in the same process */
	bool signalled;		/* it woke another process in this call */
	bool idle_read;		/* slept in a receive although all its requests are from elsewhere */
	bool slept;		/* in this call */
	bool woken_early;	/* while it was on its CPU: servers_wait.c */
	bool peek, nonblock, lock;
	bool touched;	/* it is in trace_servers.touched */
	bool recovered; /* the call that it was in at the start, or at the end of a gap, was looked up, or it has begun another since */
	/* io_uring: servers_ring.c */
	bool has_ring;
	uint64_t ring;	    /* the one that it entered last, told apart by its address; 0: not known */
	bool several_rings; /* places in one mean nothing in the other */
	bool ring_worker; /* made by the kernel for a ring */
	bool ring_waits;  /* the call in progress is for what completes, too */
	bool settled;	  /* and it is billed until its last submission */
	struct ledger_thread *parent; /* that made it, if it is known */
	uint64_t born_ns;	      /* from when on it wanted a CPU, if that was seen */
	struct ring_ops ring_ops;     /* its operations on files that are not known yet */
	struct ring_op *submitting;   /* the last one submitted in its context */
	struct endpoint *ring_made;   /* the last endpoint told in its context */
	struct set *arrived;	      /* came in, and it has not looked at */
	struct spent arrived_at;      /* when the first of them came */
	struct set *got;	      /* by the last operation that received */
	bool knows_seen;	      /* the call in progress has told what it has looked at */
	struct set *answered;	      /* by what it has submitted since its last bill */
	struct spent submitted;	      /* in the call in progress, the last time */
};

struct birth {	      /* row: what a forked thread inherits */
	uint64_t key; /* tid + 1 */
	struct set *set;
	struct ledger_thread *parent;
};

/* What a thread of a server was blocked on. */
struct cause {
	const struct trace_process *other;
	const char *target, *via; /* of the analysis: equal texts are one */
	uint8_t kind;
	bool idle;
};

/* On its way through this machine: servers_packet.c. */
struct packet {
	uint32_t bytes; /* as it will arrive */
	uint32_t protocol;
	uint64_t from_ino;
	struct ledger_thread *thread; /* NULL: an interrupt sent it, or it was not seen */
	struct set *set;	      /* that it carries */
	struct ledger_process *to;    /* TCP: who has the other end; NULL: not known */
	bool udp, tcp;		      /* if the socket is known */
	bool asks;		      /* from the client's end to the server's */
};

#define MAX_HANDED 16u /* over to a CPU that receives already, at once */

typedef void (*servers_handler_fn)(struct trace_servers *s, const struct trace_event *event);

struct trace_servers {
	const struct trace *trace;
	struct trace_analysis *analysis;
	int failed;
	bool started, finished, masked;
	bool no_transfers; /* the kernel does not tell what is sent, or received */
	uint64_t wanted[TRACE_MASK_WORDS];   /* events that the requests depend on */
	uint64_t recorded[TRACE_MASK_WORDS]; /* once @masked: which are recorded now */
	servers_handler_fn handlers[TRACE_EV_MAX];
	uint32_t epoch;
	size_t next_gap;
	uint64_t gap_until;
	uint64_t next_gap_ns, next_gap_end;
	size_t next_user_gap; /* the same of programs' buffers */
	size_t next_damage;   /* and of what turned out to be damaged */
	uint64_t next_user_gap_ns;
	uint64_t start_ns;
	uint8_t calls[2][1024];		 /* enum call_role by ABI and number, */
	uint8_t forms[2][1024];		 /* and enum call_form: servers_call.c */
	struct table listeners;		 /* TCP port -> struct endpoint */
	struct table words;		 /* address -> struct endpoint: servers_signal.c */
	uint32_t talks;			 /* pairs so far */
	struct ledger_thread **threads;	 /* owned, and each; by trace_thread_index(); NULL: not known */
	uint32_t nr_threads;
	struct ledger_thread **touched;	 /* owned, the array; those of which anything has changed since all was forgotten, or may have: servers_gaps.c */
	uint32_t nr_touched, max_touched;
	struct table processes;		 /* pointer -> struct ledger_process */
	struct ledger_process **by_idx;	 /* owned */
	uint32_t nr_processes;
	struct ledger_process *announced; /* the first */
	struct table endpoints; /* inode -> struct endpoint */
	struct endpoint *held;	/* the first of those that hold sets */
	struct table tuples;
	struct endpoint **retired; /* owned, the array */
	uint32_t nr_retired, max_retired, sweep_at;
	struct table pairs; /* (from, to) processes -> channel that data went through */
	struct table births;
	struct table namings; /* servers_explicit.c */
	struct table ring_ops, ring_slots; /* servers_ring.c */
	struct origin *origins; /* owned */
	uint64_t *origin_stamps; /* owned; of each, @stamp of when it was met last */
	uint32_t nr_origins;
	uint64_t replies; /* so many requests were answered, */
	const struct request *last_replied; /* this one last: it may be gone since */
	uint64_t stamp; /* how often a set was looked through: thousands of requests may be open, and nothing may be looked for in all of them again and again */
	struct table origin_by_hash;
	struct strings strings;
	struct trace_server *servers; /* owned; results */
	size_t nr_servers;
	struct ledger_thread *sender; /* of the data that is being received; NULL: not known */
	struct backlog *backlogs;     /* owned; by CPU */
	uint32_t nr_backlogs;
	struct packet handed[MAX_HANDED]; /* datagrams, oldest first */
	uint32_t nr_handed;
	uint32_t loopback;  /* number of the interface */
	uint32_t udp_doubt; /* datagrams that went astray */
	uint64_t receiving_unclaimed;
	struct trace_receiver *receivers; /* owned; results */
	size_t nr_receivers;
	uint32_t log_entries; /* of logs that grew */
	struct table waits;
	struct cause *causes; /* owned */
	uint32_t nr_causes;
	struct table cause_by_hash;
	struct trace_server_wait *server_waits; /* owned; results */
	size_t nr_server_waits;
};

struct pointer_row {
	uint64_t key;
	void *pointer;
};

/* ---- servers_set.c ---- */

/** set_release() - @set has no reference any more */
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
/** set_stamp() - all of @set get a new one, which is returned */
uint64_t set_stamp(struct trace_servers *s, const struct set *set);
/** set_put() - *@place = *@place + @request. The caller keeps its reference to @request. */
void set_put(struct trace_servers *s, struct set **place, struct request *request);
void set_put_all(struct trace_servers *s, struct set **place, const struct set *more);
/** set_put_latest() - the same; of more than twice @max the latest @max stay */
void set_put_latest(struct trace_servers *s, struct set **place, struct request *request, uint32_t max);
typedef bool (*request_fn)(const struct request *request, const void *data);
void set_remove(struct trace_servers *s, struct set **place, const struct request *request);
/** set_filter() - *@place without those that @drop tells */
void set_filter(struct trace_servers *s, struct set **place, request_fn drop, const void *data);
/** set_drop_replied() - *@place without those that have been answered; set_drop_accepted(): that were not asked for, only accepted */
void set_drop_replied(struct trace_servers *s, struct set **place);
void set_drop_accepted(struct trace_servers *s, struct set **place);
/** set_drop() - *@place without those that are in @others; set_keep(): with these only */
void set_drop(struct trace_servers *s, struct set **place, const struct set *others);
void set_keep(struct trace_servers *s, struct set **place, const struct set *others);
/** set_assign() - *@place = @set, with a reference of its own */
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
/** origin_resolve() - after the pass: the process (NULL: none) or address behind an origin */
struct ledger_process *origin_resolve(struct trace_servers *s, uint32_t origin, const char **ret_address);

/** request_receive() - @thread got data through @endpoint that @sender had sent while it worked on @carried */
void request_receive(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint,
		     struct ledger_process *sender, struct set *carried, uint64_t from_ino);
/** request_accept() - @thread accepted @endpoint */
void request_accept(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint);
/** request_prepare() - @thread is about to send: which request does it answer? Sets thread->answer, ->outgoing */
void request_prepare(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint);
/**
 * request_prepare_queued() - the same of what it has queued for sending: also of what came in and it has not looked at
 * What it answers joins thread->answered; the set is left as it is.
 */
void request_prepare_queued(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint);
/** request_send() - it has sent */
void request_send(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint);
/** request_talk() - data went from one process to another */
void request_talk(struct trace_servers *s, struct ledger_process *from, struct ledger_process *to, const struct endpoint *through);
/** is_queue() - do requests of several senders come in here, each a message of its own? */
bool is_queue(const struct endpoint *endpoint);
bool request_is_server(const struct ledger_process *process);
/** endpoint_is_remote() - is the other end of this TCP connection on another host? */
bool endpoint_is_remote(const struct endpoint *endpoint);

/* ---- servers.c, servers_results.c ---- */

/** servers_charge() - bill what @thread used until now to the requests it works on */
void servers_charge(struct trace_servers *s, struct ledger_thread *thread);
/** bill_receiving() - softirq time that received for @process, on behalf of an origin */
void bill_receiving(struct trace_servers *s, struct ledger_process *process, uint32_t origin, uint64_t ns);
void servers_charge_until(struct trace_servers *s, struct ledger_thread *thread, const struct spent *until);
/** servers_replace_set() - from what it had spent @until then, @thread works on @set */
void servers_replace_set(struct trace_servers *s, struct ledger_thread *thread, struct set *set, const struct spent *until);
/** servers_spent() - until now */
struct spent servers_spent(const struct trace_servers *s, const struct ledger_thread *thread);
/** servers_leave_replied() - a rest: bill until now, and leave what is answered */
void servers_leave_replied(struct trace_servers *s, struct ledger_thread *thread);
/** servers_process_of() - made if it was never seen; NULL: out of memory */
struct ledger_process *servers_process_of(struct trace_servers *s, const struct trace_process *process);
/** servers_thread_of() - made if it was never seen; NULL for kernel threads */
struct ledger_thread *servers_thread_of(struct trace_servers *s, const struct trace_thread *thread);
/** servers_find_thread() - of which nothing is to be changed; servers_touch_thread(): of which something may be. NULL: it was never seen */
struct ledger_thread *servers_find_thread(const struct trace_servers *s, const struct trace_thread *thread);
struct ledger_thread *servers_touch_thread(struct trace_servers *s, const struct trace_thread *thread);
/** servers_current_thread() - on the CPU of @event; NULL: none, or a kernel thread */
struct ledger_thread *servers_current_thread(struct trace_servers *s, const struct trace_event *event);
int servers_fail(struct trace_error *ret_error, int code, const char *message);
void servers_results_free(struct trace_servers *s);

/* ---- servers_call.c ---- */

void servers_prepare_calls(struct trace_servers *s);
void servers_on_enter(struct trace_servers *s, const struct trace_event *event);
void servers_on_exit(struct trace_servers *s, const struct trace_event *event);
/** servers_call_recover() - the call that @thread is in began unseen: find out which */
void servers_call_recover(struct trace_servers *s, struct ledger_thread *thread);
/** servers_pipe_wakes() - @writer wakes @woken: what it writes to a pipe is in it already */
void servers_pipe_wakes(struct trace_servers *s, struct ledger_thread *writer, const struct ledger_thread *woken);
/** channel_out() - what is sent at @endpoint goes into; NULL: told by another event, or not followed */
struct channel *channel_out(struct endpoint *endpoint);
struct endpoint *endpoint_of_fd(struct trace_servers *s, const struct ledger_thread *thread, uint64_t fd);
/** brings_nothing() - what nobody can send through: see there */
bool brings_nothing(struct trace_servers *s, const struct ledger_thread *thread, uint64_t fd);

/* ---- servers_ring.c ---- */

void ring_enter(struct ledger_thread *thread, const uint64_t *args, unsigned int nr); /* io_uring_enter, its arguments as far as known */
void ring_looked(struct trace_servers *s, const struct trace_event *event); /* how far it has come until then */
void ring_sleeps(struct trace_servers *s, struct ledger_thread *thread); /* in it */
void ring_exit(struct trace_servers *s, struct ledger_thread *thread);
void ring_submit(struct trace_servers *s, const struct trace_event *event);
void ring_complete(struct trace_servers *s, const struct trace_event *event);
void ring_file(struct trace_servers *s, const struct trace_event *event);
void ring_open(struct trace_servers *s, const struct trace_event *event);
/** ring_sends() - something was sent in the context of @thread: by an operation of a ring? */
bool ring_sends(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint, int64_t ret, uint32_t position);
/** ring_receives() - the same; @amount bytes or messages, @channel as of channel_in() */
bool ring_receives(struct trace_servers *s, struct ledger_thread *thread, struct endpoint *endpoint, struct channel *channel, int64_t amount,
		   uint32_t position);
/** ring_datagram() - @thread puts a message into the queue of socket @destination: by an operation? Then it is as in a call that sends. */
bool ring_datagram(struct trace_servers *s, struct ledger_thread *thread, uint64_t destination);
/** ring_sending() - the operations that may be sending at @endpoint, one after the other; NULL past the last */
const struct ring_op *ring_sending(const struct endpoint *endpoint, const struct ring_op *after, struct ledger_thread **ret_user, struct set **ret_set);
void ring_forget(struct trace_servers *s); /* a gap */
void ring_free(struct trace_servers *s);

/* ---- servers_explicit.c ---- */

/** explicit_event() - a program's event: does it name a request? */
void explicit_event(struct trace_servers *s, const struct trace_event *event);
void explicit_forget(struct trace_servers *s);
/** explicit_lose() - of @process events are missing, from before now until @until_ns: what its threads work on is not known */
void explicit_lose(struct trace_servers *s, struct ledger_process *process, uint64_t until_ns);

/* ---- servers_gaps.c ---- */

void gaps_prepare(struct trace_servers *s);
/** gaps_touch() - something of @thread is about to change: it is to be forgotten with the next gap. Whoever finds a thread other than by servers.c has to tell */
void gaps_touch(struct trace_servers *s, struct ledger_thread *thread);
/** gaps_hold() - @endpoint has got a set, other than of its channel: the same; gaps_let_go(): it has none any more */
void gaps_hold(struct trace_servers *s, struct endpoint *endpoint);
void gaps_let_go(struct endpoint *endpoint);
/** gaps_pass() - gaps in the kernel's events begin, or end, before an event at @ns. Called if it is next_gap_ns or later, or gap_until is not 0 */
void gaps_pass(struct trace_servers *s, uint64_t ns);
/** gaps_user_pass() - the same of programs' own events: if it is later than next_user_gap_ns */
void gaps_user_pass(struct trace_servers *s, uint64_t ns);
/** gaps_damage() - @gap was not known before: its chunk could not be read when its turn came, now */
void gaps_damage(struct trace_servers *s, const struct trace_gap *gap);
/** gaps_lost() - a trace_lost, at the end of its gap: what a program's events from elsewhere began inside of it is as little known */
void gaps_lost(struct trace_servers *s, const struct trace_event *event);
/** gaps_mask() - a trace_mask: what was not recorded until now, or will not be, is a gap. The first one of a trace held from its beginning on */
void gaps_mask(struct trace_servers *s, const struct trace_event *event);

/* ---- servers_wait.c ---- */

/** log_set() - @thread, if it is a server's, works for others; since the entry of its call if it was billed until there */
void log_set(struct trace_servers *s, struct ledger_thread *thread);
/** log_put() - its state changes; LOG_SAME: only its set */
void log_put(struct trace_servers *s, struct ledger_thread *thread, uint64_t ns, uint64_t cpu_ns, enum log_state state);
void log_believe(struct ledger_thread *thread);
/** log_woken() - @thread, which has a log, is woken: queued from now on, or it was on its CPU still */
void log_woken(struct trace_servers *s, struct ledger_thread *thread, uint64_t ns);
/** log_runs() - and is on @cpu from now on */
void log_runs(struct trace_servers *s, struct ledger_thread *thread, uint64_t ns, uint32_t cpu);
/** log_interval() - what a thread was blocked on has been decided: a trace_interval_fn */
void log_interval(void *data, struct trace_analysis *analysis, const struct trace_interval *interval);
void log_free(struct ledger_thread *thread);
/** wait_answered() - what @thread slept for last was the answer that @server sent; @asked: what it worked on when it asked; NULL: what it works on */
void wait_answered(struct trace_servers *s, struct ledger_thread *thread, struct ledger_thread *server, const struct set *asked);
void waits_finish(struct trace_servers *s);
void waits_free(struct trace_servers *s);

/* ---- servers_signal.c ---- */

/** signal_wakes() - @waker wakes @woken, of another process */
void signal_wakes(struct trace_servers *s, struct ledger_thread *waker, struct ledger_thread *woken);
/** signal_found_nobody() - the call of @thread is over, and woke nobody */
void signal_found_nobody(struct trace_servers *s, struct ledger_thread *thread);
/** signal_is_eventfd() - does @thread write to an eventfd, and has woken nobody? */
bool signal_is_eventfd(const struct trace_servers *s, const struct ledger_thread *thread);
bool signal_is_private(uint64_t operation); /* of a futex call */
bool signal_is_wake(uint64_t operation);

/* ---- servers_packet.c ---- */

int packets_prepare(struct trace_servers *s);
void packets_end(struct trace_servers *s); /* the pass is over */
void packets_free(struct trace_servers *s);
void packets_forget(struct trace_servers *s); /* a gap */
void packets_pin(struct trace_servers *s); /* sets endpoint.pinned where one is being received for */
void packets_rest(struct trace_servers *s, uint32_t cpu); /* the CPU has nothing to do */
void packets_softirq(struct trace_servers *s, const struct trace_event *event);
void packet_sent(struct trace_servers *s, const struct trace_event *event);
void packet_received(struct trace_servers *s, const struct trace_event *event);
/** packet_ready() - an interrupt told that data has come for a socket */
void packet_ready(struct trace_servers *s, const struct trace_event *event);

/* ---- servers_channel.c ---- */

/** endpoint_get() - of a socket; made if it was never seen. NULL: out of memory, or inode 0 */
struct endpoint *endpoint_get(struct trace_servers *s, uint64_t ino, uint16_t family, uint16_t type, uint16_t protocol);
struct endpoint *endpoint_find(const struct trace_servers *s, uint64_t ino);
/** listener_here(), listener_there() - who listens, or has listened, where a connection has this end, and its other one; NULL: nobody known */
struct endpoint *listener_here(const struct trace_servers *s, const struct endpoint *endpoint);
struct endpoint *listener_there(const struct trace_servers *s, const struct endpoint *endpoint);
struct endpoint *pipe_get(struct trace_servers *s, uint32_t dev, uint64_t ino);
struct endpoint *tuple_peer(const struct trace_servers *s, const struct endpoint *endpoint);
void endpoint_learn(struct trace_servers *s, const struct trace_sock_endpoints *ends, struct ledger_process *owner, bool is_new);
/** channel_in() - what @endpoint receives from; NULL if the other end is not known */
struct channel *channel_in(const struct trace_servers *s, struct endpoint *endpoint);
void channel_begin(struct trace_servers *s, struct channel *channel, struct ledger_thread *thread); /* a call that sends begins */
void channel_end(struct channel *channel, struct ledger_thread *thread);
/** channel_send() - @amount bytes or messages went in; TCP: @position is the sequence number after them */
void channel_send(struct trace_servers *s, struct channel *channel, struct ledger_thread *thread, uint64_t amount,
		  uint32_t position);
/** channel_put() - one message went in; the position of @range is found here */
void channel_put(struct trace_servers *s, struct channel *channel, const struct range *range);
/** channel_message_of() - a single message of the socket @from_ino that is in @channel; NULL: none, or not alone */
struct range *channel_message_of(const struct channel *channel, uint64_t from_ino);
/** channel_unsure_of() - the first that @sender sent of what is in @channel, if it may have been sent before the one before it; NULL: no such */
struct range *channel_unsure_of(const struct channel *channel, const struct ledger_process *sender);
/** channel_last() - what was put in last, if anything is in it */
const struct range *channel_last(const struct channel *channel);
/** channel_receive() - @amount came out: request_receive() for all that is known about them */
void channel_receive(struct trace_servers *s, struct endpoint *endpoint, struct channel *channel, struct ledger_thread *thread,
		     uint64_t amount, uint32_t position);
/** channel_lost_step() - the positions of the two ends do not mean the same any more */
void channel_lost_step(struct channel *channel);
/** channel_drained() - @channel was empty at @ns */
void channel_drained(struct trace_servers *s, struct channel *channel, uint64_t ns);
/** endpoint_closed() - a program has closed this end (@gone: for both directions), or the network did */
void endpoint_closed(struct trace_servers *s, struct endpoint *endpoint, bool gone);
/** endpoint_gone() - a trace_gone_fn: the pipe or socket, if it is no TCP connection */
void endpoint_gone(void *servers, const struct trace_file_id *id);
/** endpoint_empty() - it has nothing of requests any more; endpoint_free(): nor has anybody of it */
void endpoint_empty(struct endpoint *endpoint);
void endpoint_free(struct endpoint *endpoint);
#endif
