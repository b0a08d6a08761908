/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_CLIENTS_H
#define VISUALIZER_VIEW_CLIENTS_H
/*
 * view_clients.h - for which clients servers had their CPU time: their numbers, and the columns of
 * a row by client
 *
 * A client has a number, from the greatest bill of the whole trace on. So it has the same colour in
 * every picture of the trace. The last number is that of all others together.
 */
#include <trace/servers.h>
#include "json.h"
#include "view_question.h"
#include "view_session.h"

/* Numbers of classes in the answer to "shares?by=client", after those of enum trace_class. */
#define VIEW_CLASS_NO_CLIENT 32u /* on a CPU, for no known client */
#define VIEW_CLASS_CLIENT    33u /* + 2 * client + 1 if it is shared */
#define VIEW_MAX_CLIENTS     16u
#define VIEW_NR_CLASSES	     (VIEW_CLASS_CLIENT + 2 * VIEW_MAX_CLIENTS)

/** view_clients_kept() - false: the trace is not read yet, or has too many intervals of clients */
bool view_clients_kept(struct view_session *session);
/**
 * view_client_columns() - as trace_view_columns(), with time on CPUs of servers by client
 * @ret_ns: @nr x VIEW_NR_CLASSES. The row of another process, or of a CPU, has no client.
 */
void view_client_columns(struct view_session *session, const struct trace_row *row, uint64_t from_ns, uint64_t to_ns,
			 uint32_t nr, uint64_t *ret_ns);

/**
 * view_client_number() - of a client of the bills, when they are known; @billed: of view_bills.h
 */
uint32_t view_client_number(struct view_session *session, const struct trace_process *billed, const char *address);
/** json_client() - "client": its number, and "process", which is shown in the view, or "address" */
void json_client(struct json *json, struct view_session *session, uint32_t number, const struct trace_process *process,
		 const char *address);
/** json_billed() - "billed": the interval of @thread at @ns and its clients; or nothing */
void json_billed(struct json *json, struct view_session *session, const struct trace_thread *thread, uint64_t ns);
/** view_clients() - answer "clients"; view_billed(): "billed" */
void view_clients(struct view_session *session, struct view_question *question, struct json *json);
void view_billed(struct view_session *session, struct view_question *question, struct json *json);
void view_clients_free(struct view_session *session);
#endif
