/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_events.c - the catalogue follows its own rules. libtrace/catalogue.c has those that the
 * compiler can check. */
#include <ctype.h>
#include <stdlib.h>
#include "unit.h"
#include <trace/reader.h>

static const struct trace_event_type *type_of(size_t idx)
{
	return trace_catalogue_type(idx);
}

/* Fails with the event's name in the output. */
static void expect(int holds, const struct trace_event_type *type)
{
	if (!holds)
		printf("\n    %s ", type->name);
	CU_ASSERT_TRUE(holds);
}

static void more_than_the_classic_sixty(void)
{
	CU_ASSERT_TRUE(trace_catalogue_size() >= 60);
}

static void ids_and_names_are_unique(void)
{
	for (size_t i = 0; i < trace_catalogue_size(); i++) {
		expect(type_of(i)->id >= 1 && type_of(i)->id < TRACE_EV_MAX, type_of(i));
		for (size_t j = 0; j < i; j++) {
			expect(type_of(i)->id != type_of(j)->id, type_of(i));
			expect(strcmp(type_of(i)->name, type_of(j)->name) != 0, type_of(i));
		}
	}
}

static void payloads_have_no_hidden_padding(void)
{
	for (size_t i = 0; i < trace_catalogue_size(); i++) {
		const struct trace_event_type *type = type_of(i);
		size_t offset = 0;

		for (size_t f = 0; f < type->nr_fields; f++) {
			const struct trace_field *field = &type->fields[f];

			expect(field->offset == offset, type);
			expect(field->bytes == 0 || field->offset % field->bytes == 0, type);
			offset += field->bytes;
		}
		expect(offset == type->fixed_bytes, type);
		expect(type->fixed_bytes % 8 == 0, type);
		expect(sizeof(struct trace_record) + type->fixed_bytes <= TRACE_RECORD_MAX_BYTES, type);
	}
}

static void only_the_last_field_is_a_string(void)
{
	for (size_t i = 0; i < trace_catalogue_size(); i++)
		for (size_t f = 0; f + 1 < type_of(i)->nr_fields; f++)
			expect(type_of(i)->fields[f].bytes != 0, type_of(i));
}

/* The next {field} of @text; NULL at the end. */
static const char *next_reference(const char *text, char *ret_name, size_t size)
{
	const char *open = strchr(text, '{'), *close = open ? strchr(open, '}') : NULL;

	if (!close || (size_t)(close - open) > size)
		return NULL;
	memcpy(ret_name, open + 1, (size_t)(close - open - 1));
	ret_name[close - open - 1] = 0;
	return close + 1;
}

static void texts_name_fields_that_exist(void)
{
	char name[64];

	for (size_t i = 0; i < trace_catalogue_size(); i++) {
		const struct trace_event_type *type = type_of(i);

		expect(strchr(type->text, '|') == NULL && type->text[0], type);
		for (const char *text = type->text; (text = next_reference(text, name, sizeof(name)));)
			expect(trace_type_field(type, name) != NULL, type);
	}
}

static void every_event_says_where_it_comes_from(void)
{
	for (size_t i = 0; i < trace_catalogue_size(); i++)
		expect(strlen(type_of(i)->doc) > 10 && strchr(type_of(i)->doc, '|') == NULL, type_of(i));
}

static void kernel_events_have_a_program(void)
{
	for (size_t i = 0; i < trace_catalogue_size(); i++) {
		const struct trace_event_type *type = type_of(i);
		bool own = type->category == TRACE_CATEGORY_TRACE || type->category == TRACE_CATEGORY_START ||
			   type->category == TRACE_CATEGORY_USER ||
			   type->id == TRACE_EV_fs_map; /* the kernel tells it to perf */

		expect(own == (strcmp(type->program, "NONE") == 0), type);
	}
}

static void classic_classes_are_spelt_as_they_were(void)
{
	for (size_t i = 0; i < trace_catalogue_size(); i++)
		for (const char *c = type_of(i)->classic; *c; c++)
			expect(isupper((unsigned char)*c) || *c == '_', type_of(i));
}

static const struct unit_case cases[] = {
	{"more_than_the_classic_sixty", more_than_the_classic_sixty},
	{"ids_and_names_are_unique", ids_and_names_are_unique},
	{"payloads_have_no_hidden_padding", payloads_have_no_hidden_padding},
	{"only_the_last_field_is_a_string", only_the_last_field_is_a_string},
	{"texts_name_fields_that_exist", texts_name_fields_that_exist},
	{"every_event_says_where_it_comes_from", every_event_says_where_it_comes_from},
	{"kernel_events_have_a_program", kernel_events_have_a_program},
	{"classic_classes_are_spelt_as_they_were", classic_classes_are_spelt_as_they_were},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("events", cases, argc, argv);
}
