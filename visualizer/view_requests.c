/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * view_requests.c - the requests of servers: when each was open, for which client, and its part of
 * the bill.
 *
 * Requests of a server may be open at the same time, so each has a lane: the first one that is free
 * when it begins.
 */
#include <errno.h>
#include <stdlib.h>
#include "view_bills.h"
#include "view_clients.h"
#include "view_requests.h"
#include "view_row.h"

#define MAX_LISTED 20000u
#define MAX_LANES  256u /* the last one has what finds no free one */

/* struct view_request - a request, its lane, and the number of its client */
struct view_request {
	struct trace_server_request told; /* about the analysis of the view */
	uint32_t lane, client;
};

/* struct view_request_list - of all servers, one after the other, each in order of time */
struct view_request_list {
	struct view_request *items;   /* owned by the session */
	struct view_session *session; /* while it is made */
	size_t nr, room;
	bool is_cut; /* there are more than the analysis keeps */
};

static bool take_request(void *data, const struct trace_server_request *request)
{
	struct view_request_list *list = data;
	struct view_request taken = {.told = *request,
				     .client = view_client_number(list->session, request->process, request->address)};

	taken.told.server = view_bills_shown(list->session, request->server);
	taken.told.process = view_bills_shown(list->session, request->process);
	taken.told.thread = view_bills_shown_thread(list->session, request->thread);
	taken.told.answerer = view_bills_shown_thread(list->session, request->answerer);
	list->items = memory_grow(list->items, list->nr, &list->room, sizeof(*list->items));
	list->items[list->nr++] = taken;
	return true;
}

/* The lanes of the requests from number @first on, which are of one server. */
static void find_lanes(struct view_request_list *list, size_t first)
{
	uint64_t ends[MAX_LANES] = {0};

	for (size_t i = first; i < list->nr; i++) {
		struct view_request *request = &list->items[i];
		uint32_t lane = 0;

		while (lane < MAX_LANES - 1 && ends[lane] > request->told.from_ns)
			lane++;
		request->lane = lane;
		if (ends[lane] <= request->told.to_ns)
			ends[lane] = request->told.to_ns + (request->told.to_ns == request->told.from_ns);
	}
}

/* The list, once the bills are known. */
static const struct view_request_list *requests_of(struct view_session *session)
{
	struct view_request_list *list = session->requests;
	struct trace_servers *servers = view_bills(session);
	const struct trace_server *server;

	if (list || !servers)
		return list;
	session->requests = list = memory_take(1, sizeof(*list));
	list->session = session;
	for (size_t i = 0; (server = trace_get_server(servers, i)) && !list->is_cut; i++) {
		size_t first = list->nr;
		int error = trace_server_requests(servers, server->process, take_request, list);

		if (error == -ENOMEM)
			memory_end();
		list->is_cut = error < 0;
		find_lanes(list, first);
	}
	session->request_items = list->items;
	return list;
}

/* ---- which servers have some ---- */

static void put_server(struct json *json, struct view_session *session, const struct view_request *requests, size_t nr)
{
	uint32_t lanes = 0;
	uint64_t open_ns = 0;

	for (size_t i = 0; i < nr; i++) {
		lanes = requests[i].lane >= lanes ? requests[i].lane + 1 : lanes;
		open_ns += requests[i].told.to_ns - requests[i].told.from_ns;
	}
	json_open(json, NULL, "\n{");
	json_process(json, session, "process", requests->told.server);
	json_u64(json, "requests", nr);
	json_u64(json, "lanes", lanes);
	json_u64(json, "open_ns", open_ns);
	json_close(json, "}");
}

void view_servers(struct view_session *session, struct view_question *question, struct json *json)
{
	const struct view_request_list *list = requests_of(session);

	json_open(json, "servers", "[");
	for (size_t i = 0, end; list && i < list->nr; i = end) {
		for (end = i; end < list->nr && list->items[end].told.server == list->items[i].told.server; end++)
			;
		put_server(json, session, &list->items[i], end - i);
	}
	json_close(json, "]");
	json_bool(json, "cut", list && list->is_cut);
}

/* ---- requests ---- */

static void put_request(struct json *json, struct view_session *session, const struct view_request *request)
{
	static const char *const ends[] = {[TRACE_REQUEST_OPEN] = "open",
					   [TRACE_REQUEST_ANSWERED] = "answered",
					   [TRACE_REQUEST_CLOSED] = "closed",
					   [TRACE_REQUEST_REPLACED] = "replaced",
					   [TRACE_REQUEST_UNKNOWN] = "unknown"};
	const struct trace_server_request *told = &request->told;

	json_open(json, NULL, "\n{");
	json_time(json, session, "from", told->from_ns);
	json_time(json, session, "to", told->to_ns);
	json_u64(json, "lane", request->lane);
	json_client(json, session, request->client, told->process, told->address);
	json_text(json, "end", ends[told->end]);
	json_u64(json, "cpu_ns", told->cpu_ns);
	json_u64(json, "least_ns", told->least_ns);
	json_u64(json, "most_ns", told->most_ns);
	json_process(json, session, "server", told->server);
	json_thread(json, session, "thread", told->thread);
	json_thread(json, session, "answerer", told->answerer);
	json_close(json, "}");
}

/* False: it is not of @process, not in the window, or shorter than @least. */
static bool is_asked(const struct view_request *request, const struct trace_process *process,
		     const struct view_window *window, uint64_t least)
{
	const struct trace_server_request *told = &request->told;

	return (!process || told->server == process) && told->from_ns < window->to && told->to_ns >= window->from &&
	       told->to_ns - told->from_ns >= least;
}

static int longest_first(const void *left, const void *right, void *data)
{
	const struct view_request *l = *(const struct view_request *const *)left,
				  *r = *(const struct view_request *const *)right;
	uint64_t l_ns = l->told.to_ns - l->told.from_ns, r_ns = r->told.to_ns - r->told.from_ns;

	(void)data;
	if (l_ns != r_ns)
		return l_ns > r_ns ? -1 : 1;
	return l < r ? -1 : l > r; /* as in the list */
}

void view_requests(struct view_session *session, struct view_question *question, struct json *json)
{
	struct view_window window = view_window_asked(session, question);
	const struct view_request_list *list = requests_of(session);
	uint64_t max = question_number(question, "max", MAX_LISTED), least = question_number(question, "least", 0);
	const struct view_request **asked;
	struct trace_row row = {0};
	size_t nr = 0;

	if ((*question_text(question, "row", "") && !view_row_asked(session, question, &row)) || *question->error)
		return;
	if (*question_text(question, "row", "") && !row.process) {
		snprintf(question->error, sizeof(question->error), "a CPU has no requests");
		return;
	}
	asked = memory_take(list ? list->nr : 0, sizeof(struct view_request *));
	for (size_t i = 0; list && i < list->nr; i++)
		if (is_asked(&list->items[i], row.process, &window, least))
			asked[nr++] = &list->items[i];
	if (question_number(question, "longest", 0))
		memory_sort(asked, nr, sizeof(*asked), longest_first, NULL);
	max = max < MAX_LISTED ? max : MAX_LISTED;
	json_open(json, "requests", "[");
	for (size_t i = 0; i < nr && i < max; i++)
		put_request(json, session, asked[i]);
	json_close(json, "]");
	json_bool(json, "cut", nr > max);
	free(asked);
}
