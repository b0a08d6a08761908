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

uint64_t snapshot_notes_write(struct trace_writer *writer, struct tracer *tracer, struct clients *clients,
			      const struct tracer_options *filter, const struct build_ids *build_ids, uint64_t start_ns)
{
	struct snapshot_note note = {.writer = writer, .next = tracefile_nr_not_traced(tracer, filter)};
	char unfollowed[TRACEFILE_TEXT_BYTES];

	if (tracer && tracefile_print_unfollowed(tracer, start_ns, unfollowed, sizeof(unfollowed)))
		describe_one(&note, unfollowed);
	tracefile_work_names(writer, tracer);
	if (tracefile_print_unanswered(unfollowed, sizeof(unfollowed)))
		describe_one(&note, unfollowed);
	if (build_ids_describe_missing(build_ids, unfollowed, sizeof(unfollowed)))
		describe_one(&note, unfollowed);
	if (!clients)
		return note.next;
	clients_describe_unmatched(clients, describe_one, &note);
	clients_describe_missing(clients, describe_one, &note);
	tracefile_distrusted(writer, clients_nr_distrusted(clients));
	return note.next;
}
