/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_clients.c - for which clients servers had their CPU time, in any span. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "view_bills.h"
#include "view_clients.h"
#include "view_row.h"

#define MAX_BILLED 20000u

/* ---- clients, and their numbers ---- */

/*
 * row: a client. @key: address of the process of the bills, or of the text of its address
 * @place: in the list by bill; the clients from VIEW_MAX_CLIENTS on share a number
 */
struct view_client {
	uint64_t key;
	const struct trace_process *process;
	const char *address;
	uint64_t exact_ns, shared_ns; /* in the whole trace */
	uint32_t number;
	size_t place;
};
struct view_server_row {
	uint64_t key; /* address of the process of the view */
};
/* struct view_client_list - @table finds them, @ranked has them by number. @servers: all of them */
struct view_client_list {
	struct hash_table table, servers;
	struct view_client *ranked; /* owned */
	size_t nr;
	bool is_kept;
	bool is_cut; /* there are more shares than are kept */
};

static uint64_t key_of(const struct trace_process *process, const char *address)
{
	return process ? (uintptr_t)process : (uintptr_t)address;
}

static int by_bill(const void *left, const void *right, void *data)
{
	const struct view_client *l = left, *r = right;
	uint64_t one = l->exact_ns + l->shared_ns, two = r->exact_ns + r->shared_ns;
	uint32_t pid = l->process ? trace_process_pid(l->process) : 0,
		 other = r->process ? trace_process_pid(r->process) : 0;

	if (one != two)
		return one > two ? -1 : 1;
	if (pid != other)
		return pid < other ? -1 : 1;
	return l->process || r->process ? 0 : strcmp(l->address, r->address);
}

static bool ignore_share(void *data, const struct trace_server_share *share)
{
	return false;
}

static void add_bills(struct view_client_list *list, const struct view_session *session)
{
	struct trace_servers *servers = view_bills(session);

	for (size_t i = 0; i < trace_nr_servers(servers); i++) {
		const struct trace_server *server = trace_get_server(servers, i);
		const struct trace_process *shown = view_bills_shown(session, server->process);

		if (shown)
			memory_row(&list->servers, sizeof(struct view_server_row), (uintptr_t)shown);
		for (size_t c = 0; c < server->nr_clients; c++) {
			const struct trace_server_client *bill = &server->clients[c];
			struct view_client *client = memory_row(&list->table, sizeof(*client),
								key_of(bill->process, bill->address));

			client->process = view_bills_shown(session, bill->process);
			client->address = bill->address;
			client->exact_ns += bill->exact_ns;
			client->shared_ns += bill->shared_ns;
		}
	}
}

/* The clients, once the bills are known. */
static const struct view_client_list *clients_of(struct view_session *session)
{
	struct view_client_list *list = session->client_list;
	struct trace_servers *servers = view_bills(session);
	const struct trace_server *first;
	int error = -E2BIG;

	if (list || !servers)
		return list;
	session->client_list = list = memory_take(1, sizeof(*list));
	add_bills(list, session);
	first = trace_get_server(servers, 0);
	if (first)
		error = trace_server_shares(servers, trace_next_thread(first->process, NULL), 0, UINT64_MAX,
					    ignore_share, NULL);
	if (error == -ENOMEM)
		memory_end();
	list->is_kept = !error;
	list->is_cut = error && first;
	list->ranked = memory_take(list->table.used + 1, sizeof(*list->ranked));
	for (struct view_client *client = NULL; (client = table_next(&list->table, sizeof(*client), client));)
		list->ranked[list->nr++] = *client;
	memory_sort(list->ranked, list->nr, sizeof(*list->ranked), by_bill, NULL);
	for (size_t i = 0; i < list->nr; i++) {
		struct view_client *client = memory_row(&list->table, sizeof(*client), list->ranked[i].key);

		client->number = i < VIEW_MAX_CLIENTS ? (uint32_t)i : VIEW_MAX_CLIENTS - 1;
		client->place = i;
		list->ranked[i].number = client->number;
	}
	return list;
}

void view_clients_free(struct view_session *session)
{
	if (!session->client_list)
		return;
	table_clear(&session->client_list->table);
	table_clear(&session->client_list->servers);
	free(session->client_list->ranked);
	free(session->client_list);
	session->client_list = NULL;
}

bool view_clients_kept(struct view_session *session)
{
	const struct view_client_list *list = clients_of(session);

	return list && list->is_kept;
}

static uint32_t number_of(const struct view_client_list *list, const struct trace_share_client *client)
{
	const struct view_client *row = table_find(&list->table, sizeof(*row),
						   key_of(client->process, client->address));

	return row ? row->number : VIEW_MAX_CLIENTS - 1;
}

static void put_client(struct json *json, struct view_session *session, uint32_t number,
		       const struct trace_process *process, const char *address)
{
	json_u64(json, "client", number);
	if (process)
		json_process(json, session, "process", process);
	else
		json_text(json, "address", address);
}

uint32_t view_client_number(struct view_session *session, const struct trace_process *billed, const char *address)
{
	const struct trace_share_client client = {.process = billed, .address = address};
	const struct view_client_list *list = clients_of(session);

	return list ? number_of(list, &client) : VIEW_MAX_CLIENTS - 1;
}

void json_client(struct json *json, struct view_session *session, uint32_t number, const struct trace_process *process,
		 const char *address)
{
	put_client(json, session, number, process, address);
}

/* ---- columns ---- */

/* struct client_columns - @list: of one thread's shares; @at: the column of the last share */
struct client_columns {
	const struct view_client_list *list;
	struct trace_servers *servers;
	const struct trace_thread *thread;
	uint64_t from, to, *ns;
	uint32_t nr, at;
};

static uint64_t edge(const struct client_columns *c, uint32_t i)
{
	return c->from + (uint64_t)((unsigned __int128)(c->to - c->from) * i / c->nr);
}

static void add_to_column(const struct client_columns *c, uint32_t column, const struct trace_server_share *share)
{
	uint64_t *ns = c->ns + (size_t)column * VIEW_NR_CLASSES;

	for (size_t i = 0; i < share->nr_clients; i++)
		ns[VIEW_CLASS_CLIENT + 2 * number_of(c->list, &share->clients[i]) + !share->exact] +=
			share->clients[i].ns;
}

/* One that crosses an edge is asked for again, column by column. */
static bool add_share(void *data, const struct trace_server_share *share)
{
	struct client_columns *c = data;

	while (edge(c, c->at + 1) <= share->from_ns)
		c->at++;
	if (share->to_ns <= edge(c, c->at + 1)) {
		add_to_column(c, c->at, share);
		return true;
	}
	for (uint32_t column = c->at; edge(c, column) < share->to_ns; column++) {
		struct client_columns one = *c;
		uint64_t from = edge(c, column), to = edge(c, column + 1);

		one.at = column;
		if (trace_server_shares(c->servers, share->thread, from > share->from_ns ? from : share->from_ns,
					to < share->to_ns ? to : share->to_ns, add_share, &one) < 0)
			memory_end();
	}
	return true;
}

static void add_thread(struct view_session *session, struct client_columns *c, const struct trace_thread *thread)
{
	c->at = 0;
	if (trace_server_shares(c->servers, view_bills_thread(session, thread), c->from, c->to, add_share, c) < 0)
		memory_end();
}

/*
 * Billed time was on a CPU; the rest of that time is for no client. In a coarse view a column that
 * begins or ends within a piece may have a little less of such time: other time makes room.
 */
static void take_billed(uint64_t *ns)
{
	static const enum trace_class on_cpu[] = {TRACE_CLASS_USER, TRACE_CLASS_SYSCALL, TRACE_CLASS_TRAP,
						  TRACE_CLASS_RUNNING};
	uint64_t billed = 0, sum = 0;

	for (uint32_t i = VIEW_CLASS_CLIENT; i < VIEW_NR_CLASSES; i++)
		billed += ns[i];
	for (size_t i = 0; i < sizeof(on_cpu) / sizeof(on_cpu[0]); i++) {
		sum += ns[on_cpu[i]];
		ns[on_cpu[i]] = 0;
	}
	ns[VIEW_CLASS_NO_CLIENT] = sum > billed ? sum - billed : 0;
	for (int i = 0; i < TRACE_NR_CLASSES && sum < billed; i++) {
		uint64_t room = ns[i] < billed - sum ? ns[i] : billed - sum;

		ns[i] -= room;
		sum += room;
	}
}

static bool is_server(struct view_session *session, const struct trace_process *process)
{
	return table_find(&clients_of(session)->servers, sizeof(struct view_server_row), (uintptr_t)process);
}

void view_client_columns(struct view_session *session, const struct trace_row *row, uint64_t from_ns, uint64_t to_ns,
			 uint32_t nr, uint64_t *ret_ns)
{
	struct client_columns c = {.list = clients_of(session),
				   .servers = view_bills(session),
				   .from = from_ns,
				   .to = to_ns,
				   .ns = ret_ns,
				   .nr = nr};
	uint64_t *plain = memory_take((size_t)nr * TRACE_NR_CLASSES, sizeof(*plain));

	if (trace_view_columns(session->view, row->id, from_ns, to_ns, nr, plain) < 0)
		memory_end();
	memset(ret_ns, 0, (size_t)nr * VIEW_NR_CLASSES * sizeof(*ret_ns));
	for (uint32_t i = 0; i < nr; i++)
		memcpy(ret_ns + (size_t)i * VIEW_NR_CLASSES, plain + (size_t)i * TRACE_NR_CLASSES,
		       TRACE_NR_CLASSES * sizeof(*plain));
	free(plain);
	if (!view_clients_kept(session) || !row->process || !is_server(session, row->process))
		return;
	if (row->thread)
		add_thread(session, &c, row->thread);
	for (const struct trace_thread *thread = NULL;
	     !row->thread && (thread = trace_next_thread(row->process, thread));)
		add_thread(session, &c, thread);
	for (uint32_t i = 0; i < nr; i++)
		take_billed(ret_ns + (size_t)i * VIEW_NR_CLASSES);
}

/* ---- intervals ---- */

/* struct billed_list - a list of shares as JSON, at most @left */
struct billed_list {
	struct view_session *session;
	struct json *json;
	uint64_t left;
	bool is_cut;
};

static void put_share(struct json *json, struct view_session *session, const struct trace_server_share *share)
{
	json_time(json, session, "from", share->from_ns);
	json_time(json, session, "to", share->to_ns);
	json_bool(json, "exact", share->exact);
	json_open(json, "clients", "[");
	for (size_t i = 0; i < share->nr_clients; i++) {
		json_open(json, NULL, "{");
		put_client(json, session, number_of(clients_of(session), &share->clients[i]),
			   view_bills_shown(session, share->clients[i].process), share->clients[i].address);
		json_u64(json, "ns", share->clients[i].ns);
		json_u64(json, "least_ns", share->exact ? share->clients[i].ns : 0);
		json_u64(json, "most_ns", share->exact ? share->clients[i].ns : share->to_ns - share->from_ns);
		json_close(json, "}");
	}
	json_close(json, "]");
}

static bool put_listed(void *data, const struct trace_server_share *share)
{
	struct billed_list *list = data;

	list->is_cut = !list->left;
	if (list->is_cut)
		return false;
	list->left--;
	json_open(list->json, NULL, "\n{");
	put_share(list->json, list->session, share);
	json_close(list->json, "}");
	return true;
}

void view_billed(struct view_session *session, struct view_question *question, struct json *json)
{
	struct view_window window = view_window_asked(session, question);
	struct billed_list list = {.session = session,
				   .json = json,
				   .left = question_number(question, "max", MAX_BILLED)};
	struct trace_row row;

	if (!view_row_asked(session, question, &row) || *question->error)
		return;
	if (!row.thread) {
		snprintf(question->error, sizeof(question->error), "only threads have such intervals");
		return;
	}
	if (list.left > MAX_BILLED)
		list.left = MAX_BILLED;
	json_u64(json, "row", view_row_number(row.id));
	json_open(json, "billed", "[");
	if (view_clients_kept(session) &&
	    trace_server_shares(view_bills(session), view_bills_thread(session, row.thread), window.from, window.to,
				put_listed, &list) < 0)
		memory_end();
	json_close(json, "]");
	json_bool(json, "cut", list.is_cut);
}

static bool put_billed(void *data, const struct trace_server_share *share)
{
	struct billed_list *list = data;

	json_open(list->json, "billed", "{");
	put_share(list->json, list->session, share);
	json_close(list->json, "}");
	return false;
}

/* The ends of the share in which @ns is. */
static bool take_ends(void *data, const struct trace_server_share *share)
{
	struct view_window *found = data;

	found->from = share->begin_ns;
	found->to = share->end_ns;
	return false;
}

void json_billed(struct json *json, struct view_session *session, const struct trace_thread *thread, uint64_t ns)
{
	struct billed_list list = {.session = session, .json = json};
	struct view_window found = {0};

	if (!view_clients_kept(session))
		return;
	thread = view_bills_thread(session, thread);
	if (trace_server_shares(view_bills(session), thread, ns, ns + 1, take_ends, &found) < 0)
		memory_end();
	if (found.to <= ns)
		return;
	if (trace_server_shares(view_bills(session), thread, found.from, found.to, put_billed, &list) < 0)
		memory_end();
}

/* ---- sums ---- */

/* row: what a server did for a client in the span */
struct client_sum {
	uint64_t key;
	uint64_t exact_ns, shared_ns;
};

static bool add_sum(void *data, const struct trace_server_share *share)
{
	struct hash_table *sums = data;

	for (size_t i = 0; i < share->nr_clients; i++) {
		struct client_sum *sum = memory_row(sums, sizeof(*sum),
						    key_of(share->clients[i].process, share->clients[i].address));

		*(share->exact ? &sum->exact_ns : &sum->shared_ns) += share->clients[i].ns;
	}
	return true;
}

static uint64_t cpu_of(struct view_session *session, const struct trace_process *process,
		       const struct view_window *window)
{
	uint64_t ns[TRACE_NR_CLASSES];
	struct trace_row_id id;

	if (!trace_view_row_of_process(session->view, process, &id))
		return 0;
	if (trace_view_columns(session->view, id, window->from, window->to, 1, ns) < 0)
		memory_end();
	return ns[TRACE_CLASS_USER] + ns[TRACE_CLASS_SYSCALL] + ns[TRACE_CLASS_TRAP] + ns[TRACE_CLASS_RUNNING];
}

/* struct ranked_sum - of the client @ranked of the list: number @place of it */
struct ranked_sum {
	const struct client_sum *sum;
	size_t place;
};

static int by_place(const void *left, const void *right, void *data)
{
	const struct ranked_sum *l = left, *r = right;

	(void)data;
	return l->place < r->place ? -1 : l->place > r->place;
}

/* The @sums in the order of their clients' numbers; owned by the caller. */
static struct ranked_sum *rank_sums(const struct view_client_list *list, const struct hash_table *sums, size_t *ret_nr)
{
	struct ranked_sum *ranked = memory_take(sums->used + 1, sizeof(*ranked));
	size_t nr = 0;

	for (const struct client_sum *sum = NULL; (sum = table_next(sums, sizeof(*sum), sum));) {
		const struct view_client *client = table_find(&list->table, sizeof(*client), sum->key);

		if (client)
			ranked[nr++] = (struct ranked_sum){sum, client->place};
	}
	memory_sort(ranked, nr, sizeof(*ranked), by_place, NULL);
	*ret_nr = nr;
	return ranked;
}

static void put_server(struct json *json, struct view_session *session, const struct trace_server *server,
		       const struct view_window *window)
{
	const struct view_client_list *list = clients_of(session);
	struct hash_table sums = {0};
	struct ranked_sum *ranked;
	size_t nr;

	for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(server->process, thread));)
		if (trace_server_shares(view_bills(session), thread, window->from, window->to, add_sum, &sums) < 0)
			memory_end();
	json_open(json, NULL, "\n{");
	json_process(json, session, "process", view_bills_shown(session, server->process));
	json_u64(json, "cpu_ns", cpu_of(session, view_bills_shown(session, server->process), window));
	json_open(json, "clients", "[");
	ranked = rank_sums(list, &sums, &nr);
	for (size_t i = 0; i < nr; i++) {
		const struct view_client *client = &list->ranked[ranked[i].place];

		json_open(json, NULL, "{");
		put_client(json, session, client->number, client->process, client->address);
		json_u64(json, "exact_ns", ranked[i].sum->exact_ns);
		json_u64(json, "shared_ns", ranked[i].sum->shared_ns);
		json_close(json, "}");
	}
	json_close(json, "]");
	json_close(json, "}");
	free(ranked);
	table_clear(&sums);
}

static void put_ranked(struct json *json, struct view_session *session, const struct view_client_list *list)
{
	json_open(json, "clients", "[");
	for (size_t i = 0; list && i < list->nr && i < VIEW_MAX_CLIENTS; i++) {
		const struct view_client *client = &list->ranked[i];

		json_open(json, NULL, "\n{");
		put_client(json, session, client->number, client->process, client->address);
		json_u64(json, "exact_ns", client->exact_ns);
		json_u64(json, "shared_ns", client->shared_ns);
		json_close(json, "}");
	}
	json_close(json, "]");
	json_u64(json, "nr_clients", list ? list->nr : 0);
}

void view_clients(struct view_session *session, struct view_question *question, struct json *json)
{
	struct view_window window = view_window_asked(session, question);
	const struct view_client_list *list = clients_of(session);

	if (*question->error)
		return;
	json_bool(json, "kept", view_clients_kept(session));
	json_bool(json, "cut", list && list->is_cut);
	put_ranked(json, session, list);
	json_open(json, "servers", "[");
	for (size_t i = 0; view_clients_kept(session) && i < trace_nr_servers(view_bills(session)); i++)
		put_server(json, session, trace_get_server(view_bills(session), i), &window);
	json_close(json, "]");
}
