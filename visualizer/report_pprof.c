/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_pprof.c - the profile for pprof (github.com/google/pprof, proto/profile.proto).
 *
 * The format is protobuf: a message is a sequence of fields, and a field a number with its type,
 * and a varint or bytes with their length. Each node of the tree with time of its own is a sample.
 * Its locations are the rows on the way to it, innermost first. A row is one location with one
 * function; a wait is the innermost location of its sample.
 */
#include "report_pprof.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "complain.h"
#include "packed.h"
#include "whole_file.h"

/* ---- protobuf ---- */

enum wire { WIRE_VARINT = 0, WIRE_BYTES = 2 };

static void put_varint(struct string *to, uint64_t value)
{
	char bytes[10];
	size_t nr = 0;

	for (; value >= 128; value >>= 7)
		bytes[nr++] = (char)(value | 128);
	bytes[nr++] = (char)value;
	string_add_bytes(to, bytes, nr);
}

static void put_number(struct string *to, unsigned int field, uint64_t value)
{
	put_varint(to, field << 3 | WIRE_VARINT);
	put_varint(to, value);
}

static void put_bytes(struct string *to, unsigned int field, const char *bytes, size_t nr)
{
	put_varint(to, field << 3 | WIRE_BYTES);
	put_varint(to, nr);
	string_add_bytes(to, bytes, nr);
}

/* @message is empty then, and keeps its memory. */
static void put_message(struct string *to, unsigned int field, struct string *message)
{
	put_bytes(to, field, message->bytes ? message->bytes : "", message->len);
	message->len = 0;
}

/* ---- profile.proto ---- */

enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE,
	PROFILE_MAPPING,
	PROFILE_LOCATION,
	PROFILE_FUNCTION_OF,
	PROFILE_STRING,
	PROFILE_DURATION_NS = 10,
	PROFILE_DEFAULT_TYPE = 14,
};
enum { VALUE_TYPE = 1, VALUE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT };
enum { MAPPING_ID = 1, MAPPING_FILE = 5, MAPPING_HAS_FUNCTIONS = 7 };
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_LINE = 4, LINE_FUNCTION = 1 };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE };

/**
 * struct pprof - the file while it is made
 * @texts: its table of strings; the first is ""
 * @mappings: files with a number, by the number of their text
 */
struct pprof {
	struct string out, message, part;
	struct strings texts;
	struct hash_table mappings;
};

struct mapping_slot {
	uint64_t key; /* number of the text + 1 */
	uint64_t id;
};

static uint64_t text_number(struct pprof *pprof, const char *text)
{
	string_id id = strings_intern(&pprof->texts, text);

	if (pprof->texts.failed)
		memory_end();
	return id;
}

static void put_types(struct pprof *pprof)
{
	static const char *const types[][2] = {{"elapsed", "nanoseconds"},
					       {"cpu", "nanoseconds"},
					       {"wait_cpu", "nanoseconds"},
					       {"blocked", "nanoseconds"},
					       {"samples", "count"}};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		put_number(&pprof->message, VALUE_TYPE, text_number(pprof, types[i][0]));
		put_number(&pprof->message, VALUE_UNIT, text_number(pprof, types[i][1]));
		put_message(&pprof->out, PROFILE_SAMPLE_TYPE, &pprof->message);
	}
	put_number(&pprof->out, PROFILE_DEFAULT_TYPE, text_number(pprof, types[0][0]));
}

/* pprof looks for names of its own in mappings that have none. */
static uint64_t mapping_of(struct pprof *pprof, const char *file)
{
	uint64_t text = text_number(pprof, file);
	struct mapping_slot *slot = memory_row(&pprof->mappings, sizeof(*slot), text + 1);

	if (slot->id)
		return slot->id;
	slot->id = pprof->mappings.used;
	put_number(&pprof->part, MAPPING_ID, slot->id);
	put_number(&pprof->part, MAPPING_FILE, text);
	put_number(&pprof->part, MAPPING_HAS_FUNCTIONS, 1);
	put_message(&pprof->out, PROFILE_MAPPING, &pprof->part);
	return slot->id;
}

static void put_row(struct pprof *pprof, const struct profile_row *row)
{
	uint64_t id = (uint64_t)row->number + 1, name;
	struct string text = {0};

	profile_row_text(row, &text);
	name = text_number(pprof, string_text(&text));
	string_free(&text);
	put_number(&pprof->message, FUNCTION_ID, id);
	put_number(&pprof->message, FUNCTION_NAME, name);
	put_number(&pprof->message, FUNCTION_SYSTEM_NAME, name);
	put_number(&pprof->message, FUNCTION_FILE, text_number(pprof, row->file));
	put_message(&pprof->out, PROFILE_FUNCTION_OF, &pprof->message);
	put_number(&pprof->message, LOCATION_ID, id);
	put_number(&pprof->message, LOCATION_MAPPING, mapping_of(pprof, row->file));
	put_number(&pprof->part, LINE_FUNCTION, id);
	put_message(&pprof->message, LOCATION_LINE, &pprof->part);
	put_message(&pprof->out, PROFILE_LOCATION, &pprof->message);
}

static void put_label(struct pprof *pprof, const char *key, const char *text)
{
	put_number(&pprof->part, LABEL_KEY, text_number(pprof, key));
	put_number(&pprof->part, LABEL_TEXT, text_number(pprof, text));
	put_message(&pprof->message, SAMPLE_LABEL, &pprof->part);
}

/* @woken_in: where waits ended; NULL: not known, or no waits */
static void put_sample(struct pprof *pprof, const struct profile_node *node, const struct profile_time *time,
		       const char *woken_in)
{
	const uint64_t values[] = {profile_elapsed(time), time->on_cpu_ns, time->wait_cpu_ns, time->blocked_ns,
				   time->samples};
	const struct profile_node *at = node, *program = node;

	for (; at->parent; at = at->parent) {
		put_varint(&pprof->part, (uint64_t)at->row->number + 1);
		program = at;
	}
	put_message(&pprof->message, SAMPLE_LOCATIONS, &pprof->part);
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		put_varint(&pprof->part, values[i]);
	put_message(&pprof->message, SAMPLE_VALUES, &pprof->part);
	put_label(pprof, "program", program->row->name);
	if (woken_in)
		put_label(pprof, "woken in", woken_in);
	put_message(&pprof->out, PROFILE_SAMPLE, &pprof->message);
}

/* A sample for each function in which waits of the node ended, and one for the rest. */
static void put_samples(struct pprof *pprof, const struct profile_node *node)
{
	struct profile_time rest = node->self;

	for (const struct woken_in *woken = node->woken; woken; woken = woken->next) {
		put_sample(pprof, node, &(struct profile_time){.blocked_ns = woken->ns}, woken->name);
		rest.blocked_ns -= woken->ns;
	}
	if (profile_elapsed(&rest) + rest.samples)
		put_sample(pprof, node, &rest, NULL);
}

static void put_profile(struct pprof *pprof, const struct report *report, const struct profile_rows *rows)
{
	uint64_t from_ns, to_ns;

	trace_analysis_window(report->analysis, &from_ns, &to_ns);
	put_types(pprof);
	for (size_t i = 0; i < rows->rows.nr; i++)
		put_row(pprof, rows->rows.at[i]);
	for (size_t i = 0; i < rows->programs.nr; i++)
		put_row(pprof, rows->programs.at[i]);
	for (size_t i = 0; i < rows->tree.nodes.nr; i++) {
		const struct profile_node *node = rows->tree.nodes.at[i];

		if (node->row && profile_elapsed(&node->self) + node->self.samples)
			put_samples(pprof, node);
	}
	put_number(&pprof->out, PROFILE_DURATION_NS, to_ns - from_ns);
	put_bytes(&pprof->out, PROFILE_STRING, "", 0);
	for (uint32_t i = 1; i < pprof->texts.used; i++)
		put_bytes(&pprof->out, PROFILE_STRING, pprof->texts.text[i], strlen(pprof->texts.text[i]));
}

/* ---- the file ---- */

int report_pprof(const struct report *report, const struct profile_rows *rows, const char *path)
{
	struct packed packed = {0};
	struct pprof pprof = {0};
	struct whole_file file;
	int error = whole_file_open(&file, path);

	if (error)
		return complain(1, "%s cannot be written: %s", path, strerror(-error));
	put_profile(&pprof, report, rows);
	report_check_memory(report); /* the file would lack shares */
	packed_make(pprof.out.bytes, pprof.out.len, SIZE_MAX, &packed);
	fwrite(packed.bytes, 1, packed.size, file.out);
	error = whole_file_close(&file, true);
	free(packed.bytes);
	string_free(&pprof.out);
	string_free(&pprof.message);
	string_free(&pprof.part);
	strings_clear(&pprof.texts);
	table_clear(&pprof.mappings);
	return error ? complain(1, "%s could not be written completely: %s", path, strerror(-error)) : 0;
}
