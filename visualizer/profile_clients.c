/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_clients.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "checked_memory.h"
#include "complain.h"
#include "losses.h"
#include "value_text.h"

#define MAX_SHARES (8u << 20) /* 24 to 32 bytes each */
#define NAME_BYTES 256
#define SEVERAL	   "(several)"

int profile_shares_pass(const struct report *report, int (*take)(struct trace_servers *servers, void *data), void *data)
{
	struct trace_error error = {0};
	struct trace_analysis *analysis = trace_analysis_new(report->trace, NULL, &error);
	struct trace_servers *servers = analysis ? trace_servers_new(report->trace, analysis, &error) : NULL;
	int result = servers ? 0 : complain_of_error(&error), failed;

	if (!result && trace_servers_keep_shares(servers, MAX_SHARES) < 0)
		memory_end();
	if (!result && trace_analysis_run(analysis, &error) < 0)
		result = complain_of_error(&error);
	failed = result ? 0 : take(servers, data);
	if (failed == -ENOMEM || (!result && trace_servers_error(servers, NULL) < 0))
		memory_end();
	if (failed)
		result = complain(1, "the trace has more requests than a profile of a client can hold");
	trace_servers_free(servers);
	trace_analysis_free(analysis);
	return result;
}

/* ---- labels ---- */

/** struct labelling - @index: of the names */
struct labelling {
	struct profile_clients *clients;
	struct strings texts;
	struct hash_table index;
};

struct label_slot {
	uint64_t key; /* of the name */
	uint32_t label;
};

static uint32_t label_of(struct labelling *labelling, const char *name)
{
	struct label_slot *slot = memory_row(&labelling->index, sizeof(*slot), memory_key(&labelling->texts, name));

	if (!slot->label) {
		pointers_add(&labelling->clients->names, memory_copy(name, strlen(name)));
		slot->label = (uint32_t)labelling->clients->names.nr;
	}
	return slot->label;
}

static void name_client(const struct trace_share_client *client, char *text, size_t size)
{
	if (client->process)
		text_process(trace_process_title(client->process), trace_process_pid(client->process), text, size);
	else
		snprintf(text, size, "%s", client->address);
}

static bool on_share(void *data, const struct trace_server_share *share)
{
	bool is_whole = share->nr_clients == 1 && share->clients[0].ns == share->to_ns - share->from_ns;
	struct labelling *labelling = data;
	struct profile_clients *clients = labelling->clients;
	char name[NAME_BYTES] = SEVERAL;

	if (share->from_ns >= share->to_ns)
		return true;
	if (is_whole)
		name_client(&share->clients[0], name, sizeof(name));
	clients->labels = memory_grow(clients->labels, clients->nr, &clients->room, sizeof(*clients->labels));
	clients->labels[clients->nr++] = (struct trace_profile_span){.thread = trace_thread_index(share->thread),
								     .label = label_of(labelling, name),
								     .from_ns = share->from_ns,
								     .to_ns = share->to_ns};
	return true;
}

static int take_servers(struct trace_servers *servers, void *data)
{
	int error = 0;

	for (size_t i = 0; i < trace_nr_servers(servers) && !error; i++) {
		const struct trace_process *process = trace_get_server(servers, i)->process;
		const struct trace_thread *thread = NULL;

		while (!error && (thread = trace_next_thread(process, thread)))
			error = trace_server_shares(servers, thread, 0, UINT64_MAX, on_share, data);
	}
	return error;
}

int profile_clients_new(const struct report *report, struct profile_clients **ret_clients)
{
	struct labelling labelling = {.clients = memory_take(1, sizeof(*labelling.clients))};
	int result = profile_shares_pass(report, take_servers, &labelling);

	strings_clear(&labelling.texts);
	table_clear(&labelling.index);
	*ret_clients = result ? profile_clients_free(labelling.clients) : labelling.clients;
	return result;
}

struct profile_clients *profile_clients_free(struct profile_clients *clients)
{
	if (!clients)
		return NULL;
	free(clients->labels);
	pointers_free_all(&clients->names);
	free(clients);
	return NULL;
}
