/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "code_history.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (8u << 20) /* about 50,000 mappings */

static void add_entry(void *context, const struct tracer_code_map *map)
{
	struct code_history *history = context;
	size_t path_bytes = strlen(map->path) + 1, bytes = sizeof(struct code_entry) + path_bytes;
	struct code_entry *entry = malloc(bytes);

	if (!entry) {
		history->lost_here++;
		return;
	}
	*entry = (struct code_entry){.ts_ns = map->ts_ns, .bytes = bytes, .map = map->map};
	memcpy(entry->path, map->path, path_bytes);
	if (history->last)
		history->last->next = entry;
	else
		history->first = entry;
	history->last = entry;
	history->bytes += bytes;
	build_ids_note_code(history->ids, map);
}

/* Drop those of processes that ended before the oldest event that is kept; @all: any process. */
static void drop(struct code_history *history, size_t until_bytes, bool all)
{
	struct code_entry **at = &history->first, *entry;

	history->last = NULL;
	while ((entry = *at)) {
		bool ended = entry->ts_ns < history->oldest_ns && kill((pid_t)entry->map.pid, 0) < 0 && errno == ESRCH;

		if (history->bytes <= until_bytes || !(all || ended)) {
			history->last = entry;
			at = &entry->next;
			continue;
		}
		history->lost_here += !ended;
		*at = entry->next;
		history->bytes -= entry->bytes;
		free(entry);
	}
}

void code_history_take(struct code_history *history, struct tracer *tracer, uint64_t oldest_ns)
{
	if (!history->ids)
		history->ids = build_ids_new(true);
	history->oldest_ns = oldest_ns;
	history->lost = tracer_take_code_maps(tracer, add_entry, history);
	if (history->bytes > MAX_BYTES) {
		drop(history, 0, false);
		if (history->bytes > MAX_BYTES / 4 * 3) /* not again with the next mapping */
			drop(history, MAX_BYTES / 4 * 3, true);
	}
	history->lost += history->lost_here;
}

bool code_history_block(const struct code_entry **at, uint64_t until_ns, struct own_records *block, int *ret_error)
{
	const struct code_entry *entry;

	own_records_clear(block);
	*ret_error = 0;
	for (; (entry = *at) && entry->ts_ns <= until_ns; *at = entry->next) {
		if (!own_records_fit(block, TRACE_RECORD_MAX_BYTES, entry->ts_ns))
			break;
		*ret_error = own_records_add_event(block, TRACE_EV_fs_map, &entry->map, sizeof(entry->map), entry->path,
						   entry->ts_ns);
		if (*ret_error)
			return false;
	}
	return block->nr_records;
}

void code_history_clear(struct code_history *history)
{
	struct code_entry *next;

	for (struct code_entry *entry = history->first; entry; entry = next) {
		next = entry->next;
		free(entry);
	}
	build_ids_free(history->ids);
	*history = (struct code_history){0};
}
