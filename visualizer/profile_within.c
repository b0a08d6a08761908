/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * profile_within.c - the spans of a scope, of a client, or of the critical path.
 *
 * Spans of a thread must not overlap. Scopes of one name may be inside each other: their time
 * counts once. An interval that a server shared among clients counts with the part that is billed.
 */
#include "profile_within.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <trace/user_events.h>
#include "checked_memory.h"
#include "complain.h"
#include "losses.h"
#include "path_choice.h"
#include "profile_clients.h"
#include "value_text.h"

#define MAX_NAMED 5

bool profile_is_within(const struct visualizer_options *options)
{
	return options->profile.scope || options->profile.client || options->profile.along_path;
}

struct profile_within *profile_within_free(struct profile_within *within)
{
	if (within)
		free(within->spans);
	free(within);
	return NULL;
}

static void add_span(struct profile_within *within, const struct trace_thread *thread, uint64_t from_ns, uint64_t to_ns,
		     uint64_t ns)
{
	if (!thread || from_ns >= to_ns)
		return;
	within->spans = memory_grow(within->spans, within->nr, &within->room, sizeof(*within->spans));
	within->spans[within->nr++] = (struct trace_profile_span){
		.thread = trace_thread_index(thread), .from_ns = from_ns, .to_ns = to_ns, .ns = ns};
}

static int by_thread_and_time(const void *left, const void *right, void *data)
{
	const struct trace_profile_span *l = left, *r = right;

	(void)data;
	if (l->thread != r->thread)
		return l->thread < r->thread ? -1 : 1;
	return (l->from_ns > r->from_ns) - (l->from_ns < r->from_ns);
}

/* Spans that overlap or touch become one, if all of their time counts. */
static void join_spans(struct profile_within *within)
{
	size_t nr = 0;

	memory_sort(within->spans, within->nr, sizeof(*within->spans), by_thread_and_time, NULL);
	for (size_t i = 0; i < within->nr; i++) {
		const struct trace_profile_span *span = &within->spans[i];
		struct trace_profile_span *last = nr ? &within->spans[nr - 1] : NULL;

		if (!last || last->thread != span->thread || span->from_ns > last->to_ns) {
			within->spans[nr++] = *span;
			continue;
		}
		last->to_ns = span->to_ns > last->to_ns ? span->to_ns : last->to_ns;
		last->ns = last->to_ns - last->from_ns;
	}
	within->nr = nr;
}

/* ---- scopes ---- */

/** struct within_scope - @others: names that were seen instead */
struct within_scope {
	struct profile_within *within;
	const char *name;
	const char *others[MAX_NAMED];
	size_t nr_others;
};

static void on_span(void *data, const struct trace_span_instance *instance)
{
	struct within_scope *search = data;
	bool is_known = false;

	if (strcmp(instance->name, search->name) != 0) {
		for (size_t i = 0; i < search->nr_others; i++)
			is_known |= !strcmp(search->others[i], instance->name);
		if (!is_known && search->nr_others < MAX_NAMED)
			search->others[search->nr_others++] = instance->name;
		return;
	}
	search->within->number++;
	for (size_t i = 0; i < instance->nr_pieces; i++)
		add_span(search->within, instance->pieces[i].thread, instance->pieces[i].from_ns,
			 instance->pieces[i].to_ns, instance->pieces[i].to_ns - instance->pieces[i].from_ns);
}

static int complain_of_names(const char *what, const char *name, const char *const *others, size_t nr)
{
	struct string list = {0};

	for (size_t i = 0; i < nr; i++)
		string_addf(&list, "%s%s", i ? ", " : "", others[i]);
	complain(1, "the trace has no %s '%s'%s%s", what, name, nr ? "; it has " : "", string_text(&list));
	string_free(&list);
	return 1;
}

static int run_pass(struct trace_analysis *analysis, struct trace_error *error)
{
	return trace_analysis_run(analysis, error) < 0 ? complain_of_error(error) : 0;
}

static int find_scope(const struct report *report, struct profile_within *within)
{
	struct within_scope search = {.within = within, .name = report->options->profile.scope};
	struct trace_error error = {0};
	struct trace_analysis *analysis = trace_analysis_new(report->trace, NULL, &error);
	struct trace_user_events *user = analysis ? trace_user_events_new(report->trace, analysis, &error) : NULL;
	int result = user ? 0 : complain_of_error(&error);

	if (!result) {
		trace_user_events_on_span(user, on_span, &search);
		result = run_pass(analysis, &error);
	}
	if (!result) {
		trace_nr_spans(user); /* tells those without an end */
		if (trace_user_events_error(user, NULL) < 0)
			memory_end();
		join_spans(within);
		snprintf(within->name, sizeof(within->name), "%s", search.name);
		if (!within->nr)
			result = complain_of_names("scope or request", search.name, search.others, search.nr_others);
	}
	trace_user_events_free(user);
	trace_analysis_free(analysis);
	return result;
}

/* ---- clients ---- */

/**
 * struct within_client - @number: of the process, if the name is one
 * @result: 1 after a message
 */
struct within_client {
	struct profile_within *within;
	const char *name;
	uint32_t number;
	int result;
};

static bool is_client(const struct within_client *search, const struct trace_process *process, const char *address)
{
	if (!process)
		return !strcmp(address, search->name);
	return (search->number && trace_process_pid(process) == search->number) ||
	       !strcmp(trace_process_comm(process), search->name) ||
	       !strcmp(trace_process_title(process), search->name);
}

static bool on_share(void *data, const struct trace_server_share *share)
{
	struct within_client *search = data;
	uint64_t ns = 0;

	for (size_t i = 0; i < share->nr_clients; i++)
		if (is_client(search, share->clients[i].process, share->clients[i].address))
			ns += share->clients[i].ns;
	if (ns)
		add_span(search->within, share->thread, share->from_ns, share->to_ns, ns);
	return true;
}

static int take_server(struct within_client *search, struct trace_servers *servers, const struct trace_server *server)
{
	const struct trace_thread *thread = NULL;
	bool is_one = false;
	int error = 0;

	for (size_t i = 0; i < server->nr_clients; i++) {
		const struct trace_server_client *client = &server->clients[i];

		if (!is_client(search, client->process, client->address))
			continue;
		is_one = true;
		search->within->number += client->requests;
	}
	while (is_one && !error && (thread = trace_next_thread(server->process, thread)))
		error = trace_server_shares(servers, thread, 0, UINT64_MAX, on_share, search);
	return error;
}

static int complain_of_client(struct trace_servers *servers, const char *name)
{
	const char *names[MAX_NAMED];
	size_t nr = 0;

	for (size_t i = 0; i < trace_nr_servers(servers); i++) {
		const struct trace_server *server = trace_get_server(servers, i);

		for (size_t k = 0; k < server->nr_clients && nr < MAX_NAMED; k++) {
			const char *its = server->clients[k].process ? server->clients[k].comm
								     : server->clients[k].address;
			bool is_known = false;

			for (size_t other = 0; other < nr; other++)
				is_known |= !strcmp(names[other], its);
			if (!is_known)
				names[nr++] = its;
		}
	}
	return complain_of_names("client", name, names, nr);
}

static int take_servers(struct trace_servers *servers, void *data)
{
	struct within_client *search = data;
	int error = 0;

	for (size_t i = 0; !error && i < trace_nr_servers(servers); i++)
		error = take_server(search, servers, trace_get_server(servers, i));
	if (!error && trace_servers_error(servers, NULL) < 0)
		return -ENOMEM; /* the list of clients is not whole */
	if (!error && !search->within->nr)
		search->result = complain_of_client(servers, search->name);
	return error;
}

static int find_client(const struct report *report, struct profile_within *within)
{
	struct within_client search = {.within = within, .name = report->options->profile.client};
	int result;

	search.number = (uint32_t)strtoul(search.name, NULL, 10);
	result = profile_shares_pass(report, take_servers, &search);
	snprintf(within->name, sizeof(within->name), "%s", search.name);
	return result ? result : search.result;
}

/* ---- the critical path ---- */

static void take_path(struct profile_within *within, const struct trace_critical_path *path)
{
	const struct trace_thread *thread = trace_critical_path_thread(path);

	within->number = trace_critical_path_nr_segments(path);
	for (size_t i = 0; i < within->number; i++) {
		struct trace_path_segment segment;

		trace_critical_path_segment(path, i, &segment);
		add_span(within, segment.thread, segment.from_ns, segment.to_ns, segment.to_ns - segment.from_ns);
	}
	text_process(trace_thread_comm(thread), trace_thread_tid(thread), within->name, sizeof(within->name));
}

static int find_path(const struct report *report, struct profile_within *within)
{
	struct report own = {.options = report->options, .trace = report->trace, .window = report->window};
	struct trace_critical_path *path = NULL;
	struct trace_error error = {0};
	int result;

	own.analysis = trace_analysis_new(report->trace, NULL, &error);
	result = own.analysis ? critical_path_begin(&own) : complain_of_error(&error);
	if (!result) {
		command_begin(&own.command, own.trace, own.analysis);
		result = run_pass(own.analysis, &error);
	}
	if (!result) {
		path = critical_path_choose(&own, &error);
		if (path)
			take_path(within, path);
		else
			result = error.code ? complain_of_error(&error) : 1;
	}
	trace_critical_path_free(path);
	trace_history_free(own.history);
	command_end(&own.command);
	trace_analysis_free(own.analysis);
	return result;
}

int profile_within_new(const struct report *report, struct profile_within **ret_within)
{
	const struct profile_choice *choice = &report->options->profile;
	struct profile_within *within = memory_take(1, sizeof(*within));
	int result;

	within->kind = choice->scope ? WITHIN_SCOPE : choice->client ? WITHIN_CLIENT : WITHIN_PATH;
	result = within->kind == WITHIN_SCOPE	 ? find_scope(report, within)
		 : within->kind == WITHIN_CLIENT ? find_client(report, within)
						 : find_path(report, within);
	for (size_t i = 0; i < within->nr; i++)
		within->ns += within->spans[i].ns;
	if (result)
		within = profile_within_free(within);
	else
		*ret_within = within;
	return result;
}
