/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_ENTRY_H
#define TRACER_PROBE_ENTRY_H
/*
 * probe_entry.h - the list in struct trace_probes. The reader fills one, and the caller fills its
 * own from the answer.
 */
#include <trace/probes.h>

/** struct probe_entry - a probe with all strings that it points to. @names: names of the fields */
struct probe_entry {
	struct trace_probe probe;
	struct trace_event_type type;
	struct trace_field fields[TRACE_PROBE_MAX_ARGUMENTS];
	char names[TRACE_PROBE_MAX_ARGUMENTS][TRACE_PROBE_NAME_BYTES];
	char name[2 * TRACE_PROBE_NAME_BYTES];
	char doc[TRACE_PROBE_NAME_BYTES];
	char source[TRACE_PROBE_NAME_BYTES];
	char function[TRACE_PROBE_NAME_BYTES];
	char file[];
};

struct trace_probes {
	struct probe_entry **entries; /* owned */
	size_t nr;
	size_t room;
	uint32_t nr_options;
};

/**
 * probe_entry_new() - append an empty entry for @file; NULL with -E2BIG or -ENOMEM in @ret_error
 */
struct probe_entry *probe_entry_new(struct trace_probes *probes, const char *file, struct trace_error *ret_error);
struct probe_field;
/** probe_entry_add_field() - append a field; -EINVAL: there are too many */
int probe_entry_add_field(struct probe_entry *entry, const char *name, const struct probe_field *field,
			  struct trace_error *ret_error);
/** probe_entry_too_many() - set the error of a list that is full */
void probe_entry_too_many(struct trace_error *ret_error);
/** probe_entry_lay_out() - compute the offsets of the fields and the total size */
void probe_entry_lay_out(struct probe_entry *entry);

#endif
