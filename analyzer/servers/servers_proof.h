/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_PROOF_H
#define ANALYZER_SERVERS_SERVERS_PROOF_H
/*
 * servers_proof.h - which CPU time was certainly spent on one client: the theorem of
 * docs/SERVERS.md
 *
 * A slice of CPU time is proven in two steps. When it is billed, only one client may have been
 * served (proof_add()): the time waits in its request. When the thread that spent it sends the
 * answer, the time counts (proof_take()).
 */
#include <stdbool.h>
#include <stdint.h>

struct trace_servers;
struct servers_process;
struct servers_thread;
struct server_request;
struct set;

/*
 * The origins of some requests, without the requests: enough to tell whether all of them have the
 * same origin. @unsure: requests whose origin is not known.
 */
struct tally {
	uint32_t nr;
	uint32_t unsure;
	uint64_t sum;
	unsigned __int128 squares __attribute__((packed, aligned(8))); /* 16 would make holes */
};

void tally_add(struct tally *tally, uint32_t origin);
void tally_remove(struct tally *tally, uint32_t origin);
/** tally_is_only() - true if each of the requests, if there is one, has the origin @origin */
bool tally_is_only(const struct tally *tally, uint32_t origin);

/*
 * Time that is certainly for one client: @alone if its client was the only one that the process
 * had a request of, @apart if that is so of the thread.
 */
struct proof {
	uint64_t alone, apart;
};

/*
 * Time that waits in a request until @worker answers it. A thread that was woken at a lock seems to
 * have a request of another thread until it waits again, so there is room for both.
 */
#define PROOF_WORKERS 2u

struct pending_proof {
	struct pending_of {
		const struct servers_thread *worker;
		uint64_t since_ns;
		struct proof proof, own; /* @own: certainly for this request, and no other one of its client */
		uint32_t share_proof;	 /* servers_share.h */
	} of[PROOF_WORKERS];
};

#define PROOFS 64u

/* The CPU time that an answer has proven, and for whom. */
struct proof_taken {
	uint64_t ns;
	uint32_t origin;
	uint32_t share_proof;
	/*
	 * It had requests of others when it asked for this one, so it is proven only if this is no
	 * server: server_request.unsure. NULL: it had none.
	 */
	const struct servers_process *doubter;
	struct proof proof, own;
	uint32_t kept; /* the request: servers_kept.h */
};

/* The latest proofs of a process: a later event may refute them. */
struct proofs {
	uint64_t refuted_ns; /* what was spent before is not proven any more */
	uint64_t nr;
	struct proof_taken items[PROOFS]; /* number n is at n % PROOFS */
};

/** proof_is_doubtful() - true if what @thread sends with @set may be for another client */
bool proof_is_doubtful(const struct servers_thread *thread, const struct set *set);
/**
 * proof_add() - @thread spent @ns on @set, which has requests of @origin only
 * Returns what share.proof says about this time.
 */
uint32_t proof_add(struct trace_servers *s, struct servers_thread *thread, const struct set *set, uint32_t origin,
		   uint64_t ns);
/** proof_seen() - @thread is billed: its open requests and those of its process are known */
void proof_seen(struct servers_thread *thread);
/**
 * proof_is_unsure() - true if @request, or one in its chain, may be for another client
 * @ret_doubter: only if this process is a server; NULL: in any case
 */
bool proof_is_unsure(const struct server_request *request, const struct servers_process **ret_doubter);
/**
 * proof_take() - @thread answered @request: returns what is proven by that, which is remembered
 *
 * Returns NULL if nothing is. It is borrowed from the process until its next proof.
 */
struct proof_taken *proof_take(struct trace_servers *s, const struct servers_thread *thread,
			       struct server_request *request);
#endif
