/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_format.c - docs/FORMAT.md describes the structs of include/trace/format.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/format.h>

#include "unit.h"

/**
 * struct field - a field of a struct of the file, as the compiler lays it out
 */
struct field {
	const char *type;
	const char *name;
	size_t offset;
	size_t bytes;
	bool seen;
};

/* clang-format off */
#define FIELD(type, name) { #type, #name, offsetof(struct type, name), sizeof(((struct type *)0)->name), false }
#define FIELDS_END(type) { #type, NULL, sizeof(struct type), 0, false }
static struct field fields[] = {
	FIELD(trace_file_header, magic), FIELD(trace_file_header, version_major),
	FIELD(trace_file_header, version_minor),
	FIELD(trace_file_header, header_bytes), FIELD(trace_file_header, start_ns),
	FIELD(trace_file_header, start_realtime_ns),
	FIELD(trace_file_header, schema_checksum), FIELD(trace_file_header, trace_id),
	FIELD(trace_file_header, reserved),
	FIELD(trace_file_header, reserved2), FIELD(trace_file_header, checksum), FIELDS_END(trace_file_header),

	FIELD(trace_chunk_header, magic), FIELD(trace_chunk_header, header_bytes), FIELD(trace_chunk_header, kind),
	FIELD(trace_chunk_header, encoding), FIELD(trace_chunk_header, compression), FIELD(trace_chunk_header, flags),
	FIELD(trace_chunk_header, trace_id), FIELD(trace_chunk_header, stream), FIELD(trace_chunk_header, cpu),
	FIELD(trace_chunk_header, events), FIELD(trace_chunk_header, seq), FIELD(trace_chunk_header, first_ns),
	FIELD(trace_chunk_header, last_ns), FIELD(trace_chunk_header, events_before),
	FIELD(trace_chunk_header, lost_before),
	FIELD(trace_chunk_header, lost_write), FIELD(trace_chunk_header, missed),
	FIELD(trace_chunk_header, undecodable),
	FIELD(trace_chunk_header, lost_cause), FIELD(trace_chunk_header, reserved),
	FIELD(trace_chunk_header, raw_bytes),
	FIELD(trace_chunk_header, packed_bytes), FIELD(trace_chunk_header, ids),
	FIELD(trace_chunk_header, payload_checksum),
	FIELD(trace_chunk_header, checksum), FIELDS_END(trace_chunk_header),

	FIELD(trace_end_mark, magic), FIELD(trace_end_mark, trace_id), FIELD(trace_end_mark, nr_index_chunks),
	FIELD(trace_end_mark, index_offset), FIELD(trace_end_mark, file_bytes), FIELD(trace_end_mark, checksum),
	FIELDS_END(trace_end_mark),

	FIELD(trace_columns_header, events), FIELD(trace_columns_header, nr_types),
	FIELD(trace_columns_header, first_ns),
	FIELD(trace_columns_header, string_bytes), FIELD(trace_columns_header, stack_bytes),
	FIELDS_END(trace_columns_header),

	FIELD(trace_columns_times, step), FIELD(trace_columns_times, odd), FIELD(trace_columns_times, nr_corrections),
	FIELD(trace_columns_times, code_bytes), FIELD(trace_columns_times, bit_bytes),
	FIELD(trace_columns_times, coding), FIELDS_END(trace_columns_times),

	FIELD(trace_columns_type, id), FIELD(trace_columns_type, words), FIELD(trace_columns_type, flags),
	FIELD(trace_columns_type, events), FIELD(trace_columns_type, payloads), FIELDS_END(trace_columns_type),

	FIELD(trace_schema_header, nr_types), FIELD(trace_schema_header, nr_fields),
	FIELD(trace_schema_header, type_bytes),
	FIELD(trace_schema_header, field_bytes), FIELD(trace_schema_header, text_bytes),
	FIELD(trace_schema_header, reserved),
	FIELDS_END(trace_schema_header),

	FIELD(trace_schema_type, id), FIELD(trace_schema_type, nr_fields), FIELD(trace_schema_type, fixed_bytes),
	FIELD(trace_schema_type, has_string), FIELD(trace_schema_type, flags), FIELD(trace_schema_type, first_field),
	FIELD(trace_schema_type, name), FIELD(trace_schema_type, category), FIELD(trace_schema_type, classic),
	FIELD(trace_schema_type, program), FIELD(trace_schema_type, text), FIELD(trace_schema_type, doc),
	FIELD(trace_schema_type, source),
	FIELD(trace_schema_type, role), FIELD(trace_schema_type, reserved), FIELDS_END(trace_schema_type),

	FIELD(trace_schema_field, name), FIELD(trace_schema_field, kind), FIELD(trace_schema_field, offset),
	FIELD(trace_schema_field, bytes), FIELD(trace_schema_field, is_signed), FIELDS_END(trace_schema_field),

	FIELD(trace_string_entry, space), FIELD(trace_string_entry, text_bytes), FIELD(trace_string_entry, reserved),
	FIELD(trace_string_entry, key), FIELDS_END(trace_string_entry),

	FIELD(trace_clock_entry, monotonic_ns), FIELD(trace_clock_entry, realtime_ns), FIELD(trace_clock_entry, tsc),
	FIELDS_END(trace_clock_entry),

	FIELD(trace_statistics_header, nr_streams), FIELD(trace_statistics_header, stream_bytes),
	FIELD(trace_statistics_header, end_ns),
	FIELDS_END(trace_statistics_header),

	FIELD(trace_statistics_stream, stream), FIELD(trace_statistics_stream, cpu),
	FIELD(trace_statistics_stream, stored),
	FIELD(trace_statistics_stream, discarded), FIELD(trace_statistics_stream, overwritten),
	FIELD(trace_statistics_stream, missed),
	FIELD(trace_statistics_stream, filtered), FIELD(trace_statistics_stream, attempted),
	FIELD(trace_statistics_stream, written),
	FIELD(trace_statistics_stream, lost_write), FIELD(trace_statistics_stream, undecodable),
	FIELD(trace_statistics_stream, lost_before), FIELD(trace_statistics_stream, last_ns),
	FIELD(trace_statistics_stream, claimed),
	FIELDS_END(trace_statistics_stream),

	FIELD(trace_index_entry, offset), FIELD(trace_index_entry, header), FIELDS_END(trace_index_entry),

	FIELD(trace_table_entry, offset), FIELD(trace_table_entry, seq), FIELD(trace_table_entry, first_ns),
	FIELD(trace_table_entry, last_ns),
	FIELD(trace_table_entry, events_before), FIELD(trace_table_entry, events), FIELD(trace_table_entry, stream),
	FIELD(trace_table_entry, cpu),
	FIELD(trace_table_entry, raw_bytes), FIELD(trace_table_entry, packed_bytes), FIELD(trace_table_entry, kind),
	FIELD(trace_table_entry, encoding), FIELD(trace_table_entry, flags), FIELDS_END(trace_table_entry),

	FIELD(trace_table_root, offset), FIELD(trace_table_root, nr_entries), FIELD(trace_table_root, nr_chunks),
	FIELD(trace_table_root, entry_bytes), FIELD(trace_table_root, header_bytes),
	FIELD(trace_table_root, index_entries),
	FIELDS_END(trace_table_root),
};
/* clang-format on */
enum { NR_FIELDS = sizeof(fields) / sizeof(fields[0]) };

static FILE *document_open(void)
{
	FILE *file = fopen(TRACE_SOURCE_DIR "/docs/FORMAT.md", "re");

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	return file;
}

static struct field *field_find(const char *type, const char *name)
{
	for (size_t i = 0; i < NR_FIELDS; i++)
		if (fields[i].name && !strcmp(fields[i].type, type) && !strcmp(fields[i].name, name))
			return &fields[i];
	return NULL;
}

static void row_check(const char *type, const char *line)
{
	struct field *field;
	size_t offset, bytes;
	char name[64];

	if (sscanf(line, "| %zu | %zu | %63[a-z0-9_] |", &offset, &bytes, name) != 3)
		return;
	field = field_find(type, name);
	CU_ASSERT_PTR_NOT_NULL(field);
	if (!field)
		return;
	CU_ASSERT_EQUAL(field->offset, offset);
	CU_ASSERT_EQUAL(field->bytes, bytes);
	CU_ASSERT_FALSE(field->seen);
	field->seen = true;
}

static void the_document_has_every_field_at_its_offset(void)
{
	FILE *file = document_open();
	char line[1024], type[64] = "";

	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#' && sscanf(line, "### struct %63s", type) != 1)
			type[0] = '\0';
		else if (type[0])
			row_check(type, line);
	}
	fclose(file);
	for (size_t i = 0; i < NR_FIELDS; i++) {
		if (fields[i].name && !fields[i].seen)
			fprintf(stderr, "FORMAT.md lacks %s.%s\n", fields[i].type, fields[i].name);
		CU_ASSERT_TRUE(!fields[i].name || fields[i].seen);
	}
}

static void structs_have_no_holes(void)
{
	size_t end = 0;

	for (size_t i = 0; i < NR_FIELDS; i++) {
		CU_ASSERT_EQUAL(fields[i].offset, end);
		end = fields[i].name ? fields[i].offset + fields[i].bytes : 0;
	}
}

static bool document_says(const char *text)
{
	FILE *file = document_open();
	char line[1024];
	bool found = false;

	while (!found && fgets(line, sizeof(line), file))
		found = strstr(line, text);
	fclose(file);
	return found;
}

static void magic_text(const char *magic, char *ret_text)
{
	for (int i = 0; i < TRACE_MAGIC_BYTES; i++)
		ret_text += sprintf(ret_text, i ? " %02x" : "%02x", (unsigned char)magic[i]);
}

static void the_document_has_the_numbers(void)
{
	char text[128];

	magic_text(TRACE_FILE_MAGIC, text);
	CU_ASSERT_TRUE(document_says(text));
	magic_text(TRACE_CHUNK_MAGIC, text);
	CU_ASSERT_TRUE(document_says(text));
	magic_text(TRACE_END_MAGIC, text);
	CU_ASSERT_TRUE(document_says(text));
	snprintf(text, sizeof(text), "Version %d.%d.", TRACE_FORMAT_MAJOR, TRACE_FORMAT_MINOR);
	CU_ASSERT_TRUE(document_says(text));
	snprintf(text, sizeof(text), "(%u bytes)", TRACE_RAW_MAX);
	CU_ASSERT_TRUE(document_says(text));
	snprintf(text, sizeof(text), "at most %u events", TRACE_CHUNK_EVENTS_MAX);
	CU_ASSERT_TRUE(document_says(text));
	snprintf(text, sizeof(text), "numbers below %u.", TRACE_CPUS_MAX);
	CU_ASSERT_TRUE(document_says(text));
	snprintf(text, sizeof(text), "at most %u bytes.", TRACE_CHUNK_HEADER_MAX_BYTES);
	CU_ASSERT_TRUE(document_says(text));
	snprintf(text, sizeof(text), "at most %u |", TRACE_STRING_MAX_BYTES);
	CU_ASSERT_TRUE(document_says(text));
	snprintf(text, sizeof(text),
		 "| kind | %d schema, %d start state, %d events, %d clock, %d strings, %d statistics, %d index, %d "
		 "table, %d root |",
		 TRACE_CHUNK_SCHEMA, TRACE_CHUNK_START_STATE, TRACE_CHUNK_EVENTS, TRACE_CHUNK_CLOCK,
		 TRACE_CHUNK_STRINGS, TRACE_CHUNK_STATISTICS, TRACE_CHUNK_INDEX, TRACE_CHUNK_TABLE, TRACE_CHUNK_ROOT);
	CU_ASSERT_TRUE(document_says(text));
	snprintf(text, sizeof(text), "%d discarded, %d overwritten, %d times unknown", TRACE_GAP_DISCARDED,
		 TRACE_GAP_OVERWRITTEN, TRACE_GAP_SUSPECT);
	CU_ASSERT_TRUE(document_says(text));
	snprintf(text, sizeof(text), "| %d dictionary |", TRACE_COLUMN_DICTIONARY);
	CU_ASSERT_TRUE(document_says(text));
	snprintf(text, sizeof(text), "| %d steps |", TRACE_COLUMN_STEPS);
	CU_ASSERT_TRUE(document_says(text));
	snprintf(text, sizeof(text), "%d: it has a string; %d: payloads that occur again", TRACE_COLUMNS_STRING,
		 TRACE_COLUMNS_INDEXES);
	CU_ASSERT_TRUE(document_says(text));
	snprintf(text, sizeof(text), "%d: its payloads are stacks", TRACE_COLUMNS_STACKS);
	CU_ASSERT_TRUE(document_says(text));
}

static const struct unit_case cases[] = {
	{"the_document_has_every_field_at_its_offset", the_document_has_every_field_at_its_offset},
	{"structs_have_no_holes", structs_have_no_holes},
	{"the_document_has_the_numbers", the_document_has_the_numbers},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("format", cases, argc, argv);
}
