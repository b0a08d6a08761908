/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_RANDOM_SERVER_H
#define TESTS_RANDOM_SERVER_H
/*
 * random_server.h - random servers, as plans that a built trace or a real program executes
 *
 * A plan is a list of steps. Each step belongs to one actor: a thread of the server, or a client.
 * An actor executes its steps in the order of the plan; where one needs what another actor does, it
 * waits. The other steps may run at the same time.
 *
 * A plan says for whom each ns of CPU time is spent: any client, or none. It keeps the assumptions
 * of the theorem in docs/SERVERS.md, and no other rule: the server executes jobs in batches, by a
 * timer, out of order, in pieces, for clients that are gone, through other threads that it wakes or
 * that look into its memory; the threads share a lock; it reads requests early, answers late, in
 * pieces or never, and works for itself in between. A part of the work is done by processes of its
 * own, which return a result or answer the client themselves; or each thread is such a process.
 */
#include <stdbool.h>
#include <stdint.h>

enum {
	PLAN_CLIENTS = 5,
	PLAN_THREADS = 4, /* of the server; the first one accepts the connections */
	PLAN_HELPERS = 2, /* processes that work for the server's first threads, one for each */
	PLAN_ACTORS = PLAN_THREADS + PLAN_CLIENTS + PLAN_HELPERS,
	PLAN_HELPER = PLAN_THREADS + PLAN_CLIENTS, /* the first one */
	PLAN_STEPS = 1000,
	PLAN_NOTES = 160,
	NO_CLIENT = -1,
};

enum step_kind {
	/* of the server */
	STEP_ACCEPT,	   /* @client connects */
	STEP_READ,	   /* read a request of @client, blocking; @note: in this many more pieces */
	STEP_POLL_READ,	   /* poll for it, then read */
	STEP_TRY_READ,	   /* read from @client what is not there: MSG_DONTWAIT */
	STEP_SLEEP,	   /* for @us */
	STEP_TIMER,	   /* poll no connection, for @us */
	STEP_WORK,	   /* use CPU time, @us, for @client */
	STEP_ANSWER,	   /* write to @client */
	STEP_DROP,	   /* close the connection of @client */
	STEP_WAKE,	   /* post @note, and wake a thread that waits for it, by plan.means */
	STEP_WAIT,	   /* wait for @note */
	STEP_WRITE_MEMORY, /* post @note, and wake no thread */
	STEP_LOOK,	   /* look for @note again and again, and sleep in between */
	STEP_LOCK,	   /* take the lock of all threads: turn @note */
	STEP_UNLOCK,	   /* pass it on to the next turn, and wake the thread that waits for it */
	STEP_FORK,	   /* begin the process of actor @note */
	STEP_ASK,	   /* give work for @client to the thread's helper */
	STEP_GET,	   /* read its result, blocking */
	STEP_POLL_GET,	   /* poll for it, then read */
	/* of a helper */
	STEP_TAKE, /* read what the thread gave */
	STEP_GIVE, /* return a result */
	/* of a client */
	STEP_CONNECT,
	STEP_SEND, /* datagrams: the one with number @note */
	STEP_RECEIVE,
	STEP_CLOSE,
};

struct step {
	uint8_t actor;
	uint8_t kind;
	int8_t client;
	uint8_t note;
	uint32_t us;
};

/* how a thread wakes another one of its process */
enum plan_means { MEANS_FUTEX, MEANS_PIPE, MEANS_EVENTFD };

/**
 * struct plan
 * @forked: the threads are processes, except for the first one
 * @by_pipes: a helper is asked through two pipes, not through a pair of sockets
 * @execs: a helper is another program, with the descriptors of the server
 * @tcp: the clients connect by TCP, not by unix sockets
 * @udp: they have no connections, and the server has one socket
 * @ring: the server's threads accept, read without poll, and answer through rings of io_uring
 * @startup_us: CPU time of each process that the server makes, before its first step: for no client
 */
struct plan {
	uint32_t nr;
	uint32_t nr_threads, nr_clients, nr_helpers;
	bool forked, by_pipes, execs, tcp, udp, ring;
	uint8_t means; /* enum plan_means */
	uint32_t startup_us;
	uint32_t nr_notes;
	struct step steps[PLAN_STEPS];
};

/** plan_process() - the actor that stands for the process of @actor, a thread or helper */
uint32_t plan_process(const struct plan *plan, uint32_t actor);
/**
 * plan_has_server() - false if the process only reads datagrams: without an answer it is no server,
 * and has no bills
 */
bool plan_has_server(const struct plan *plan);
/** plan_make() - the plan of @seed; @job_us: the longest job */
void plan_make(struct plan *plan, uint64_t seed, uint32_t job_us);
/** plan_print() - to standard error */
void plan_print(const struct plan *plan);
#endif
