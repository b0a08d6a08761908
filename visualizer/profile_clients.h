/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_PROFILE_CLIENTS_H
#define VISUALIZER_PROFILE_CLIENTS_H
/*
 * profile_clients.h - the clients for which servers had CPUs, in labels of a profile
 *
 * They are found in a pass of their own, before that of the profile.
 */
#include <trace/profile.h>
#include <trace/servers.h>
#include "report.h"

/**
 * struct profile_clients - @labels: owned; of the time that is billed to clients
 * @names: owned, with their texts: the client with label i + 1
 */
struct profile_clients {
	struct trace_profile_span *labels;
	size_t nr, room;
	struct pointers names;
};

/** profile_clients_new() - returns 0 with @ret_clients, or 1 after a message */
int profile_clients_new(const struct report *report, struct profile_clients **ret_clients);
struct profile_clients *profile_clients_free(struct profile_clients *clients); /* NULL is fine; returns NULL */
/**
 * profile_client_name() - "worker (4711)", an address, "(several)", "(none)"
 * @clients: NULL is fine
 */
static inline const char *profile_client_name(const struct profile_clients *clients, uint32_t label)
{
	return clients && label && label <= clients->names.nr ? clients->names.at[label - 1] : "(none)";
}

/**
 * profile_shares_pass() - a pass that keeps the shares of servers, and then @take
 * @take: returns 0, or what trace_server_shares() returned. It copies all that it needs later
 * Returns 0, or 1 after a message
 */
int profile_shares_pass(const struct report *report, int (*take)(struct trace_servers *servers, void *data),
			void *data);
#endif
