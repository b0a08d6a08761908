/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_bills.c - the bills of servers in a view: view_bills.h. */
#include <stdlib.h>
#include <string.h>
#include "complain.h"
#include "only_client.h"
#include "view_bills.h"
#include "view_books.h"
#include "view_counters.h"
#include "view_scopes.h"

#define MAX_SHARES   (4u << 20) /* 16 to 32 bytes each */
#define MAX_REQUESTS (1u << 18) /* 144 bytes each, and 112 for their lanes */

/* row: a process or thread of the bills or of the view. @other: the one of the other analysis */
struct bills_pair {
	uint64_t key; /* its address */
	const void *other;
};

/*
 * struct view_bill_pass - @pairs: processes of the bills, and threads of both, after the pass
 * @report: of the whole trace, until the end of the pass; its trace is NULL if it is not made
 */
struct view_bill_pass {
	struct trace_analysis *analysis; /* owned */
	struct trace_servers *servers;	 /* owned */
	struct hash_table pairs;
	struct report report;
	bool is_complete;
};

/* A view that is full answers no question about intervals of clients, so it keeps none. */
static int bills_begin(struct view_session *session)
{
	const struct trace *trace = session->report.trace;
	struct view_bill_pass *bills = session->bills = memory_take(1, sizeof(*bills));
	struct trace_error error = {0};

	bills->analysis = trace_analysis_new(trace, NULL, &error);
	if (bills->analysis)
		bills->servers = trace_servers_new(trace, bills->analysis, &error);
	if (!bills->servers)
		return complain_of_error(&error);
	if (!trace_view_error(session->view) && (trace_servers_keep_shares(bills->servers, MAX_SHARES) < 0 ||
						 trace_servers_keep_requests(bills->servers, MAX_REQUESTS) < 0))
		memory_end();
	if (view_books_can_keep(session)) {
		bills->report = (struct report){.trace = trace, .analysis = bills->analysis, .servers = bills->servers};
		if (!view_books_begin(&bills->report, &error))
			return complain_of_error(&error);
	}
	if (session->is_of_index) {
		view_scopes_begin(session, bills->analysis);
		view_counters_begin(session, bills->analysis);
	}
	if (session->watch)
		session->watch(bills->analysis);
	return 0;
}

static void report_end(struct view_bill_pass *bills)
{
	if (bills->report.trace)
		view_books_end(&bills->report);
	bills->report = (struct report){0};
}

void view_bills_free(struct view_session *session)
{
	struct view_bill_pass *bills = session->bills;

	if (!bills)
		return;
	report_end(bills);
	trace_servers_free(bills->servers);
	trace_analysis_free(bills->analysis);
	table_clear(&bills->pairs);
	free(bills);
	session->bills = NULL;
}

/* ---- pairs ---- */

static void pair_add(struct view_bill_pass *bills, const void *one, const void *other)
{
	struct bills_pair *pair = memory_row(&bills->pairs, sizeof(*pair), (uintptr_t)one);

	pair->other = other;
}

static bool pair_process(struct view_bill_pass *bills, const struct trace_process *shown,
			 const struct trace_process *billed)
{
	const struct trace_thread *one = trace_next_thread(shown, NULL), *two = trace_next_thread(billed, NULL);

	pair_add(bills, billed, shown);
	for (; one && two && trace_thread_tid(one) == trace_thread_tid(two);
	     one = trace_next_thread(shown, one), two = trace_next_thread(billed, two)) {
		pair_add(bills, one, two);
		pair_add(bills, two, one);
	}
	return !one && !two && trace_process_pid(shown) == trace_process_pid(billed);
}

/* False: the passes have not read the same; the file has changed in between. */
static bool pair_all(const struct view_session *session, struct view_bill_pass *bills)
{
	const struct trace_analysis *shown = session->report.analysis;
	size_t nr = trace_nr_processes(shown);

	if (trace_nr_processes(bills->analysis) != nr)
		return false;
	for (size_t i = 0; i < nr; i++)
		if (!pair_process(bills, trace_get_process(shown, i), trace_get_process(bills->analysis, i)))
			return false;
	return true;
}

static const void *other_of(const struct view_bill_pass *bills, const void *one)
{
	const struct bills_pair *pair = one ? table_find(&bills->pairs, sizeof(*pair), (uintptr_t)one) : NULL;

	return pair ? pair->other : NULL;
}

const struct trace_process *view_bills_shown(const struct view_session *session, const struct trace_process *billed)
{
	return other_of(session->bills, billed);
}

const struct trace_thread *view_bills_thread(const struct view_session *session, const struct trace_thread *shown)
{
	return other_of(session->bills, shown);
}

const struct trace_thread *view_bills_shown_thread(const struct view_session *session,
						   const struct trace_thread *billed)
{
	return other_of(session->bills, billed);
}

/* ---- the pass ---- */

/* The verdict names the client of a server that has no other. An index has them, too. */
static void take_only_clients(struct view_session *session)
{
	struct report *report = &session->report;
	const struct trace_server *server;
	struct only_client client;

	while (report->nr_only_clients)
		free((char *)session->clients[--report->nr_only_clients].name);
	for (size_t i = 0; (server = trace_get_server(session->bills->servers, i)); i++) {
		if (!only_client_of_server(server, &client))
			continue;
		client.server = view_bills_shown(session, client.server);
		client.process = view_bills_shown(session, client.process);
		client.name = memory_copy(client.name, strlen(client.name));
		session->clients = memory_grow(session->clients, report->nr_only_clients, &session->clients_room,
					       sizeof(*session->clients));
		session->clients[report->nr_only_clients++] = client;
		report->only_clients = session->clients;
	}
}

/* Scopes keep the analysis of the bills: they have names from it. */
static void bills_end(struct view_session *session)
{
	struct view_bill_pass *bills = session->bills;
	bool is_same = pair_all(session, bills);

	bills->is_complete = is_same && trace_nr_servers(bills->servers);
	if (trace_servers_error(bills->servers, NULL) < 0)
		memory_end();
	if (is_same)
		take_only_clients(session);
	if (is_same && bills->report.trace)
		view_books_keep(session, &bills->report);
	report_end(bills);
	if (session->is_of_index && is_same)
		view_scopes_pair(session, view_bills_shown_thread);
	if (session->is_of_index && !(is_same && view_scopes_exist(session)))
		view_scopes_free(session);
	if (!bills->is_complete && !(session->is_of_index && session->scopes))
		view_bills_free(session);
}

int view_bills_step(struct view_session *session, unsigned int nr, unsigned int of)
{
	struct trace_error error = {0};
	int result;

	if (!session->bills && bills_begin(session))
		return -1;
	result = trace_analysis_step(session->bills->analysis, view_session_time(session, nr, of), &error);
	if (result < 0)
		return -complain_of_error(&error);
	if (result > 0)
		bills_end(session);
	return result;
}

struct trace_servers *view_bills(const struct view_session *session)
{
	return session->bills && session->bills->is_complete ? session->bills->servers : NULL;
}
