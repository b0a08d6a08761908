/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_ORIGIN_H
#define ANALYZER_SERVERS_SERVERS_ORIGIN_H
/* servers_origin.h - origins: the clients where chains of requests began */
#include <stdbool.h>
#include <stdint.h>
#include <trace/error.h>
#include "hash_table.h"

struct trace_servers;
struct servers_process;
struct endpoint;

/*
 * The place where a request came from first. A LINK is decided after the pass: data from a pipe is
 * a request only if the reader also sent data back.
 */
enum origin_kind { ORIGIN_PROCESS, ORIGIN_ADDRESS, ORIGIN_LINK };
struct origin {
	uint8_t kind;
	/* PROCESS: servers_process.idx; ADDRESS: string_id; LINK: the origin of the data */
	uint32_t of;
	uint32_t sender;   /* LINK: idx of the process that sent, */
	uint32_t receiver; /* and of the one that received */
};

struct servers_origins {
	struct origin *items; /* owned */
	uint64_t *stamps;     /* owned; for each origin the request_sets.stamp when it was last counted */
	uint32_t nr;
	struct hash_table by_hash;
};

/** origins_prepare() - returns 0 or -ENOMEM */
int origins_prepare(struct trace_servers *s) TRACE_NODISCARD;
void origins_free(struct servers_origins *origins);
/** origin_process() - the number of the origin that is a process */
uint32_t origin_process(struct trace_servers *s, const struct servers_process *process);
/** origin_address() - the number of the origin that is the other host of a TCP connection */
uint32_t origin_address(struct trace_servers *s, const struct endpoint *endpoint);
/**
 * origin_link() - the number of the origin of data from @of that @sender sent to @receiver through
 * a pipe
 */
uint32_t origin_link(struct trace_servers *s, uint32_t of, const struct servers_process *sender,
		     const struct servers_process *receiver);
/** origin_resolve() - the process of an origin, or NULL and its address. For use after the pass. */
struct servers_process *origin_resolve(struct trace_servers *s, uint32_t origin, const char **ret_address);
#endif
