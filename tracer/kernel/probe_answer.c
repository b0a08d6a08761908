/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_answer.c - the messages from the reader of a program to its caller: packets of records.
 *
 * A record has a kind and a size (32 bits each) and content: numbers of 64 bits, and texts with a
 * 16-bit length.
 *
 * SECURITY: a reader that a hostile file has taken over can write any bytes. So the caller uses no
 * pointer and no size from a record. Each number has a range, each text a maximum length and no
 * control characters, and the caller computes the offsets of fields again.
 */
#include "probe_answer.h"

#include <stdbool.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include "error_set.h"
#include "probe_files.h"
#include "probe_entry.h"
#include "probe_spec.h"

struct record_head {
	uint32_t kind;
	uint32_t bytes; /* of the content */
};

#define MAX_LINE_BYTES 8192 /* per text */

/* ---- the reader writes ---- */

static void put(struct probe_answer *answer, const void *from, size_t bytes)
{
	if (bytes > sizeof(answer->packet) - answer->used) {
		answer->failed = true; /* cannot happen: no record is that long */
		return;
	}
	memcpy(answer->packet + answer->used, from, bytes);
	answer->used += bytes;
}

static void put_number(struct probe_answer *answer, uint64_t value)
{
	put(answer, &value, sizeof(value));
}

static void put_text(struct probe_answer *answer, const char *text)
{
	size_t chars = strlen(text);
	uint16_t length;

	chars = chars < MAX_LINE_BYTES ? chars : MAX_LINE_BYTES - 1;
	length = (uint16_t)chars;

	put(answer, &length, sizeof(length));
	put(answer, text, chars);
}

/* Make room for a record; the longest is a row, with two texts. */
static void begin(struct probe_answer *answer, enum probe_record_kind kind)
{
	struct record_head head = {.kind = kind};

	if (sizeof(answer->packet) - answer->used < 4 * MAX_LINE_BYTES)
		probe_answer_flush(answer);
	answer->record = answer->used;
	put(answer, &head, sizeof(head));
}

static void end(struct probe_answer *answer)
{
	uint32_t bytes = (uint32_t)(answer->used - answer->record - sizeof(struct record_head));

	memcpy(answer->packet + answer->record + offsetof(struct record_head, bytes), &bytes, sizeof(bytes));
}

void probe_answer_flush(struct probe_answer *answer)
{
	struct iovec part = {answer->packet, answer->used};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	if (answer->used && !answer->failed && sendmsg(answer->fd, &message, MSG_NOSIGNAL) != (ssize_t)answer->used)
		answer->failed = true;
	answer->used = 0;
}

void probe_answer_row(struct probe_answer *answer, const char *left, const char *right)
{
	begin(answer, PROBE_RECORD_ROW);
	put_text(answer, left);
	put_text(answer, right);
	end(answer);
}

static void put_field(struct probe_answer *answer, const struct trace_field *field,
		      const struct trace_probe_argument *argument)
{
	put_text(answer, field->name);
	put_number(answer, field->kind);
	put_number(answer, field->is_signed);
	put_number(answer, field->bytes);
	put(answer, argument, sizeof(*argument));
}

void probe_answer_entry(struct probe_answer *answer, const struct probe_entry *entry)
{
	begin(answer, PROBE_RECORD_ENTRY);
	put_text(answer, entry->name);
	put_text(answer, entry->doc);
	put_text(answer, entry->source);
	put_text(answer, entry->function);
	put_number(answer, entry->probe.offset);
	put_number(answer, entry->probe.semaphore);
	put_number(answer, entry->probe.at_return);
	put_number(answer, entry->type.role);
	put_number(answer, entry->probe.nr_arguments);
	for (uint32_t i = 0; i < entry->probe.nr_arguments; i++)
		put_field(answer, &entry->fields[i], &entry->probe.arguments[i]);
	end(answer);
}

void probe_answer_error(struct probe_answer *answer, const struct trace_error *error)
{
	begin(answer, PROBE_RECORD_ERROR);
	put_number(answer, (uint64_t) - (int64_t)error->code);
	put_text(answer, error->message);
	end(answer);
}

void probe_answer_file(struct probe_answer *answer, enum probe_related which, const char *name)
{
	begin(answer, PROBE_RECORD_FILE);
	put_number(answer, which);
	put_text(answer, name);
	end(answer);
	probe_answer_flush(answer);
}

void probe_answer_end(struct probe_answer *answer)
{
	begin(answer, PROBE_RECORD_END);
	end(answer);
	probe_answer_flush(answer);
}

/* ---- the caller checks ---- */

static void take(struct probe_record *record, void *into, size_t bytes)
{
	if (record->bad || bytes > (size_t)(record->end - record->at)) {
		record->bad = true;
		memset(into, 0, bytes);
		return;
	}
	memcpy(into, record->at, bytes);
	record->at += bytes;
}

/* Take a number of at most @max. */
static uint64_t take_number(struct probe_record *record, uint64_t max)
{
	uint64_t value;

	take(record, &value, sizeof(value));
	if (value > max)
		record->bad = true;
	return record->bad ? 0 : value;
}

/*
 * Take a text that fits @size with its NUL. Control characters are replaced, because they would
 * reach a terminal.
 */
static void take_text(struct probe_record *record, char *into, size_t size)
{
	uint16_t chars;

	*into = '\0';
	take(record, &chars, sizeof(chars));
	if (record->bad || chars >= size) {
		record->bad = true;
		return;
	}
	take(record, into, chars);
	into[chars] = '\0';
	for (size_t i = 0; i < chars; i++)
		if ((unsigned char)into[i] < ' ' || into[i] == 0x7f)
			into[i] = '?';
}

static int finish(struct probe_record *record)
{
	return record->bad || record->at != record->end ? -EBADMSG : 0;
}

bool probe_record_next(const unsigned char **at, const unsigned char *packet_end, struct probe_record *ret_record)
{
	struct record_head head;
	size_t left = (size_t)(packet_end - *at);

	*ret_record = (struct probe_record){.bad = left > 0};
	if (left < sizeof(head))
		return false;
	memcpy(&head, *at, sizeof(head));
	if (head.bytes > left - sizeof(head))
		return false;
	*ret_record = (struct probe_record){.kind = head.kind,
					    .at = *at + sizeof(head),
					    .end = *at + sizeof(head) + head.bytes};
	*at = ret_record->end;
	return true;
}

int probe_record_row(struct probe_record *record, char *ret_left, size_t left_bytes, char *ret_right,
		     size_t right_bytes)
{
	take_text(record, ret_left, left_bytes);
	take_text(record, ret_right, right_bytes);
	return finish(record);
}

int probe_record_error(struct probe_record *record, struct trace_error *ret_error)
{
	int64_t code = (int64_t)take_number(record, 4095);

	take_text(record, ret_error->message, sizeof(ret_error->message));
	ret_error->code = code ? (int)-code : -EBADMSG;
	return finish(record);
}

int probe_record_file(struct probe_record *record, enum probe_related *ret_which,
		      char ret_name[PROBE_RELATED_NAME_BYTES])
{
	*ret_which = (enum probe_related)take_number(record, PROBE_FILE_ALT_PATH);
	take_text(record, ret_name, PROBE_RELATED_NAME_BYTES);
	return finish(record);
}

/* ---- a probe ---- */

static bool is_width(unsigned int bytes)
{
	return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
}

/* Is the recipe safe for the BPF program? Each index must be in range, and each shift below 64. */
static bool is_recipe(const struct trace_probe_argument *argument)
{
	const unsigned int nr_registers = 21; /* words of struct pt_regs */

	return argument->start <= TRACE_PROBE_PLACE && argument->shape <= TRACE_PROBE_BYTES &&
	       argument->base < nr_registers && argument->index < nr_registers && argument->scale <= 3 &&
	       argument->nr_loads <= TRACE_PROBE_MAX_LOADS && is_width(argument->load_bytes) &&
	       argument->is_signed <= 1 && argument->shift_left < 64 && argument->shift_right < 64 &&
	       argument->max_bytes <= TRACE_PROBE_MAX_STRING_BYTES;
}

static bool is_text(enum trace_field_kind kind)
{
	return kind == TRACE_KIND_STRING || kind == TRACE_KIND_BYTES;
}

/* Does the field's kind match the shape of its argument? */
static bool is_field(const struct trace_field *field, const struct trace_probe_argument *argument)
{
	static const enum trace_field_kind numbers[] = {TRACE_KIND_DEC, TRACE_KIND_HEX, TRACE_KIND_FLOAT,
							TRACE_KIND_BOOL, TRACE_KIND_CHAR};

	if (argument->shape != TRACE_PROBE_VALUE)
		return field->bytes == 4 &&
		       field->kind == (argument->shape == TRACE_PROBE_STRING ? TRACE_KIND_STRING : TRACE_KIND_BYTES);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (field->kind == numbers[i])
			return is_width(field->bytes);
	return false;
}

static void take_field(struct probe_record *record, struct probe_entry *entry, uint32_t idx)
{
	struct trace_probe_argument *argument = &entry->probe.arguments[idx];
	struct trace_field *field = &entry->fields[idx];

	take_text(record, entry->names[idx], sizeof(entry->names[idx]));
	field->name = entry->names[idx];
	field->kind = (enum trace_field_kind)take_number(record, UINT8_MAX);
	field->is_signed = take_number(record, 1);
	field->bytes = (uint8_t)take_number(record, 8);
	take(record, argument, sizeof(*argument));
	argument->pad = 0;
	if (!is_recipe(argument) || !is_field(field, argument))
		record->bad = true;
	entry->type.has_string |= is_text(field->kind);
}

/* Is it "provider:name", as name_event() makes it? */
static bool is_event_name(const char *name)
{
	return strchr(name, ':') && !strpbrk(name, " ,*?[]");
}

/* Is the moment the requested one? */
static bool is_requested(const struct probe_spec *spec, bool at_return, unsigned int role)
{
	if (spec->moment == PROBE_SCOPE)
		return role == (at_return ? TRACE_ROLE_END : TRACE_ROLE_BEGIN);
	return role == TRACE_ROLE_EVENT && at_return == (spec->moment == PROBE_RETURN);
}

static void take_entry(struct probe_record *record, struct probe_entry *entry, uint64_t file_bytes)
{
	take_text(record, entry->name, sizeof(entry->name));
	take_text(record, entry->doc, sizeof(entry->doc));
	take_text(record, entry->source, sizeof(entry->source));
	take_text(record, entry->function, sizeof(entry->function));
	entry->probe.offset = take_number(record, file_bytes ? file_bytes - 1 : 0);
	entry->probe.semaphore = take_number(record, file_bytes ? file_bytes - 1 : 0);
	entry->probe.at_return = take_number(record, 1);
	entry->type.role = (uint8_t)take_number(record, TRACE_ROLE_END);
	entry->probe.nr_arguments = (uint32_t)take_number(record, TRACE_PROBE_MAX_ARGUMENTS);
	for (uint32_t i = 0; i < entry->probe.nr_arguments && !record->bad; i++)
		take_field(record, entry, i);
}

int probe_record_entry(struct probe_record *record, struct trace_probes *probes, const struct probe_spec *spec,
		       const char *path, uint64_t file_bytes, struct trace_error *ret_error)
{
	struct probe_entry *entry = probe_entry_new(probes, path, ret_error);

	if (!entry)
		return ret_error->code;
	entry->probe.pid = spec->pid;
	take_entry(record, entry, file_bytes);
	if (finish(record) || !is_event_name(entry->name) ||
	    !is_requested(spec, entry->probe.at_return, entry->type.role))
		return -EBADMSG;
	entry->type.nr_fields = (uint16_t)entry->probe.nr_arguments;
	probe_entry_lay_out(entry);
	return 0;
}
