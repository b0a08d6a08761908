/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "snapshot_notes.h"

#include "build_ids.h"
#include "clients_missing.h"
#include "tracefile.h"

/** struct snapshot_note - while the texts are stored. @next: the number of the next one */
struct snapshot_note {
	struct trace_writer *writer;
	uint64_t next;
};

static void describe_one(void *context, const char *text)
{
	struct snapshot_note *note = context;

	trace_writer_string(note->writer, TRACE_STRING_NOT_TRACED, note->next++, text);
}

uint64_t snapshot_notes_write(struct trace_writer *writer, const struct snapshot_facts *facts)
{
	struct snapshot_note note = {.writer = writer, .next = tracefile_nr_not_traced(facts->tracer, facts->filter)};
	struct clients *clients = facts->clients;
	char text[TRACEFILE_TEXT_BYTES];

	if (facts->tracer && tracefile_print_unfollowed(facts->tracer, facts->start_ns, text, sizeof(text)))
		describe_one(&note, text);
	tracefile_work_names(writer, facts->tracer);
	tracefile_device_names(writer, facts->tracer);
	if (tracefile_print_unanswered(text, sizeof(text)))
		describe_one(&note, text);
	if (build_ids_describe_missing(facts->build_ids, text, sizeof(text)))
		describe_one(&note, text);
	if (tracefile_print_lost_maps(facts->nr_lost_maps, text, sizeof(text)))
		describe_one(&note, text);
	if (facts->tracer)
		tracer_describe_limits(facts->tracer, describe_one, &note);
	if (!clients)
		return note.next;
	clients_describe_unmatched(clients, describe_one, &note);
	clients_describe_missing(clients, describe_one, &note);
	tracefile_distrusted(writer, clients_nr_distrusted(clients));
	return note.next;
}
