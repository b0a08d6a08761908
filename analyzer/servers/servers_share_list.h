/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_SHARE_LIST_H
#define ANALYZER_SERVERS_SERVERS_SHARE_LIST_H
/* servers_share_list.h - the shares of a thread by client, after the pass */
#include <trace/servers.h>

/** share_list() - as trace_server_shares(), when the bills are finished */
int share_list(struct trace_servers *s, const struct trace_thread *thread, uint64_t from_ns, uint64_t to_ns,
	       trace_server_share_fn fn, void *data);
/** share_list_verify() - without a missing event: do the shares of @server add up to its bills? */
int share_list_verify(struct trace_servers *s, const struct trace_server *server, struct trace_error *ret_error);
#endif
