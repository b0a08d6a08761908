/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_SERVERS_SERVERS_VERIFY_H
#define ANALYZER_SERVERS_SERVERS_VERIFY_H
/* servers_verify.h - the bills of a server must be inside its CPU time */
#include <stdint.h>
#include <trace/reader.h>

struct trace_server;

/**
 * bills_verify() - check the sums and bounds of @server's bills
 * @cpu_ns: the CPU time of its process, as the accounting has it
 * @over_ns: how much more its threads were billed than that, in a trace without losses: 0
 * Returns 0, or -EBADMSG with the bill that is wrong.
 */
int bills_verify(const struct trace_server *server, uint64_t cpu_ns, uint64_t over_ns,
		 struct trace_error *ret_error) TRACE_NODISCARD;
#endif
