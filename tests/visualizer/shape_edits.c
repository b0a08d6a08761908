/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shape_edits.h"

#include <string.h>

static struct reshape_chunk *chunk_of(const struct reshape *r, const struct shape_edit *edit)
{
	return &r->chunks[edit->where % r->nr];
}

static struct reshape_events *events_of(const struct reshape *r, const struct shape_edit *edit)
{
	struct reshape_chunk *chunk = chunk_of(r, edit);

	return chunk->events && chunk->head.nr_types ? &chunk->events[edit->field % chunk->head.nr_types] : NULL;
}

/* The event type of this number, modulo their number. */
static struct trace_schema_type *type_of(const struct reshape *r, size_t number, struct trace_schema_field **ret_fields)
{
	size_t nr = 0;

	while (reshape_type(r, nr, ret_fields))
		nr++;
	return nr ? reshape_type(r, number % nr, ret_fields) : NULL;
}

static void edit_word(struct reshape *r, const struct shape_edit *edit)
{
	struct reshape_events *events = events_of(r, edit);
	size_t nr = events ? (size_t)events->head.words * events->head.payloads : 0;

	if (nr)
		events->words[edit->which % nr] = edit->value;
}

/* Changes one field; the others of its word stay. */
static void edit_field(struct reshape *r, const struct shape_edit *edit)
{
	struct reshape_events *events = events_of(r, edit);
	struct trace_schema_field *fields, *field;
	const struct trace_schema_type *type = events ? reshape_type_by_id(r, events->head.id, &fields) : NULL;
	size_t bytes = events ? 8u * events->head.words : 0;

	if (!type || !fields)
		return;
	field = &fields[edit->which % type->nr_fields];
	if (field->offset + field->bytes <= bytes && field->bytes <= 8)
		memcpy((unsigned char *)events->words + (edit->which >> 8) % events->head.payloads * bytes +
			       field->offset,
		       &edit->value, field->bytes);
}

/* Changes a field in all payloads of the chunk: another thread or file throughout. */
static void edit_all(struct reshape *r, const struct shape_edit *edit)
{
	struct reshape_events *events = events_of(r, edit);

	if (events && events->head.words)
		for (size_t i = edit->which % events->head.words;
		     i < (size_t)events->head.words * events->head.payloads; i += events->head.words)
			events->words[i] ^= edit->value;
}

static void edit_text(struct reshape *r, const struct shape_edit *edit)
{
	struct reshape_events *events = events_of(r, edit);

	if (events && events->text_bytes)
		events->texts[edit->which % events->text_bytes] = (unsigned char)edit->value;
}

static void edit_size(struct reshape *r, const struct shape_edit *edit)
{
	struct trace_schema_field *fields;
	const struct trace_schema_type *type = type_of(r, edit->where, &fields);

	if (type)
		reshape_resize(r, type->id, edit->which % 16, edit->value & 1);
}

/* Changes the place and the kind of a field: mostly to kinds and names that other fields have. */
static void edit_schema_field(struct reshape *r, const struct shape_edit *edit)
{
	struct trace_schema_field *fields, *others, *field;
	const struct trace_schema_type *type = type_of(r, edit->where, &fields), *other;

	if (!type || !fields)
		return;
	field = &fields[edit->field % type->nr_fields];
	other = type_of(r, edit->which & 0xff, &others);
	switch (edit->which >> 8 & 7) {
	case 0:
		field->offset = (uint16_t)(edit->value % (type->fixed_bytes + 1u));
		break;
	case 1:
		field->bytes = (uint8_t[]){0, 1, 2, 4, 8}[edit->value % 5];
		break;
	case 2:
		field->is_signed = (uint8_t)edit->value;
		break;
	case 3:
		field->name = (uint32_t)edit->value;
		break;
	case 4:
		field->name = other && others ? others[edit->value % other->nr_fields].name : field->name;
		break;
	default:
		field->kind = other && others ? others[edit->value % other->nr_fields].kind : field->kind;
	}
}

static void edit_schema_type(struct reshape *r, const struct shape_edit *edit)
{
	struct trace_schema_field *fields, *others;
	struct trace_schema_type *type = type_of(r, edit->where, &fields),
				 *other = type_of(r, edit->which & 0xff, &others);
	uint32_t *text;

	if (!type || !other)
		return;
	text = (uint32_t *[]){&type->name, &type->category, &type->classic, &type->program,
			      &type->text, &type->doc,	    &type->source}[edit->field % 7];
	switch (edit->which >> 8 & 7) {
	case 0:
		type->id = (uint16_t)edit->value;
		break;
	case 1:
		type->flags = (uint32_t)edit->value;
		break;
	case 2:
		type->role = (uint16_t)(edit->value % 8);
		break;
	case 3:
		type->nr_fields = (uint16_t)edit->value;
		break;
	case 4:
		type->first_field = (uint32_t)edit->value;
		break;
	case 5:
		*text = (uint32_t)edit->value; /* into the middle of another text, or after all of them */
		break;
	default:
		*text = other->name;
	}
}

/* Makes them events of another type, with the size that the schema wants. */
static void edit_event(struct reshape *r, const struct shape_edit *edit)
{
	struct reshape_events *events = events_of(r, edit);
	struct trace_schema_field *fields;
	const struct trace_schema_type *type = type_of(r, edit->which & 0xff, &fields);

	if (!events || !type)
		return;
	events->head.id = type->id;
	reshape_events_resize(events, type->fixed_bytes / 8 % 256, type->has_string);
}

/* Changes the order of two events of different types. */
static void edit_order(struct reshape *r, const struct shape_edit *edit)
{
	struct reshape_chunk *chunk = chunk_of(r, edit);
	unsigned char *one, *other, id;

	if (!chunk->events || !chunk->head.events)
		return;
	one = &chunk->ids[edit->which % chunk->head.events];
	other = &chunk->ids[edit->value % chunk->head.events];
	id = *one;
	*one = *other;
	*other = id;
}

/* Moves all events of a chunk to a later or earlier time. */
static void edit_time(struct reshape *r, const struct shape_edit *edit)
{
	struct reshape_chunk *chunk = chunk_of(r, edit);
	uint64_t by = edit->field % 4 ? edit->value % 1000000 - 500000 : edit->value;

	chunk->header.first_ns += by;
	chunk->header.last_ns += by;
}

static void edit_header(struct reshape *r, const struct shape_edit *edit)
{
	struct trace_chunk_header *header = &chunk_of(r, edit)->header;
	uint64_t *const longs[] = {&header->seq,	 &header->first_ns,   &header->last_ns, &header->events_before,
				   &header->lost_before, &header->lost_write, &header->missed};
	uint32_t *const words[] = {&header->stream, &header->cpu, &header->undecodable};
	uint16_t *const halves[] = {&header->flags, &header->lost_cause, &header->kind};
	uint32_t nr = edit->field % 13;

	if (nr < 7)
		*longs[nr] = edit->value;
	else if (nr < 10)
		*words[nr - 7] = (uint32_t)edit->value;
	else
		*halves[nr - 10] = (uint16_t)edit->value;
}

/* Changes any 1, 2, 4 or 8 bytes of strings, clocks, statistics or the schema. */
static void edit_raw(struct reshape *r, const struct shape_edit *edit)
{
	struct reshape_chunk *chunk = chunk_of(r, edit);
	size_t bytes = 1u << edit->field % 4;

	if (!chunk->events && chunk->raw_bytes >= bytes)
		memcpy(chunk->raw + edit->which % (chunk->raw_bytes - bytes + 1), &edit->value, bytes);
}

static void edit_file(struct reshape *r, const struct shape_edit *edit)
{
	if (edit->field & 2)
		r->complete = edit->value & 1;
	else
		*(edit->field & 1 ? &r->header.start_ns : &r->header.start_realtime_ns) = edit->value;
}

static void edit_index(struct reshape *r, const struct shape_edit *edit)
{
	r->lie = (struct reshape_lie){
		.is_told = true, .chunk = edit->where % r->nr, .at = edit->field, .value = edit->value};
}

/* Changes a frame that was compressed, or is declared so. */
static void edit_frame(struct reshape *r, const struct shape_edit *edit)
{
	struct reshape_frame *frame = &chunk_of(r, edit)->frame;

	switch (edit->field % 6) {
	case 0:
		frame->compression = edit->value & 1 ? TRACE_COMPRESSION_ZSTD : TRACE_COMPRESSION_NONE;
		break;
	case 1:
		frame->compression = (uint16_t)edit->value;
		break;
	case 2:
		frame->more = (uint32_t)edit->value;
		break;
	case 3:
		frame->missing = edit->which % 64;
		break;
	case 4:
		frame->times = edit->which % 4;
		break;
	default:
		/* its first bytes describe the rest */
		frame->flipped = edit->which & 1 ? edit->which >> 1 & 15 : edit->which;
		frame->bits = (unsigned char)edit->value;
	}
}

static void edit_table(struct reshape *r, const struct shape_edit *edit)
{
	struct reshape_lie lie = {
		.is_told = true, .chunk = edit->where % r->nr, .at = edit->field >> 2, .value = edit->value};

	switch (edit->field % 4) {
	case 0:
		r->has_table = edit->value & 1;
		break;
	case 1:
		r->stride = sizeof(struct trace_table_entry) + edit->which % 64;
		break;
	case 2:
		r->root_lie = lie;
		break;
	default:
		r->table_lie = lie;
	}
}

static void edit_places(struct reshape *r, const struct shape_edit *edit)
{
	struct reshape_chunk *one = chunk_of(r, edit), *other = &r->chunks[edit->which % r->nr], chunk = *one;

	*one = *other;
	*other = chunk;
}

/* Likely edits appear more than once. */
static void (*const edits[])(struct reshape *r, const struct shape_edit *edit) = {
	edit_word,	  edit_field, edit_field, edit_all,   edit_text,   edit_size, edit_schema_field,
	edit_schema_type, edit_event, edit_order, edit_time,  edit_header, edit_raw,  edit_file,
	edit_places,	  edit_index, edit_frame, edit_table, edit_table,
};
enum { NR_EDITS = sizeof(edits) / sizeof(edits[0]) };

void shape_edit(struct reshape *r, const struct shape_edit *edit)
{
	edits[edit->what % NR_EDITS](r, edit);
}

/* Limits, and numbers with a meaning: threads and files coincide where they are small. */
static uint64_t likely_value(struct dice *dice)
{
	/* clang-format off */
	static const uint64_t values[] = {0, 1, 2, 3, 7, 10, 11, 255, 256, 1000, 4096, 8191, 8192, 0xffff, 1u << 20,
	1u << 22, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff,
					  1ull << 32, 1ull << 62, INT64_MAX, 1ull << 63, UINT64_MAX - 4095,
					  UINT64_MAX - 1, UINT64_MAX};
	/* clang-format on */

	switch (below(dice, 4)) {
	case 0:
		return roll(dice);
	case 1:
		return below(dice, 16);
	case 2:
		return roll(dice) >> below(dice, 64);
	default:
		return values[below(dice, sizeof(values) / sizeof(values[0]))];
	}
}

struct shape_edit shape_edit_random(struct dice *dice)
{
	return (struct shape_edit){.what = (uint8_t)below(dice, NR_EDITS),
				   .field = (uint8_t)roll(dice),
				   .where = (uint16_t)below(dice, 256),
				   .which = (uint32_t)roll(dice),
				   .value = likely_value(dice)};
}
