/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_shares.c - columns as bytes: view_shares.h has the layout. */
#include <stdlib.h>
#include <string.h>
#include "view_row.h"
#include "view_shares.h"

/* struct bytes - a growing array */
struct bytes {
	uint8_t *at; /* owned */
	size_t nr, room;
};

static void put_byte(struct bytes *bytes, unsigned int byte)
{
	bytes->at = memory_grow(bytes->at, bytes->nr, &bytes->room, 1);
	bytes->at[bytes->nr++] = (uint8_t)byte;
}

static void put_varint(struct bytes *bytes, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(bytes, (unsigned int)(value & 0x7f) | 0x80);
	put_byte(bytes, (unsigned int)value);
}

static void write_number(FILE *out, uint64_t value, unsigned int nr)
{
	for (unsigned int i = 0; i < nr; i++)
		putc((int)(value >> 8 * i & 0xff), out);
}

/* The class of a column that has one only; TRACE_NR_CLASSES: it has several, or none. */
static unsigned int class_of_column(const uint64_t *ns)
{
	unsigned int found = TRACE_NR_CLASSES;

	for (unsigned int class = 0; class < TRACE_NR_CLASSES; class ++)
		if (ns[class]) {
			if (found < TRACE_NR_CLASSES)
				return TRACE_NR_CLASSES;
			found = class;
		}
	return found;
}

static void put_column(struct bytes *bytes, const uint64_t *ns)
{
	unsigned int nr = 0;

	for (unsigned int class = 0; class < TRACE_NR_CLASSES; class ++)
		nr += ns[class] != 0;
	put_byte(bytes, nr);
	for (unsigned int class = 0; class < TRACE_NR_CLASSES; class ++)
		if (ns[class]) {
			put_byte(bytes, class);
			put_varint(bytes, ns[class]);
		}
}

/* @is_sum: the row of a process, whose columns may have more or less than their width */
static void put_runs(struct bytes *bytes, const uint64_t *ns, uint32_t nr, bool is_sum)
{
	for (uint32_t i = 0, end; i < nr; i = end) {
		unsigned int class = is_sum ? TRACE_NR_CLASSES : class_of_column(ns + (size_t)i * TRACE_NR_CLASSES);

		for (end = i + 1; end < nr; end++) {
			unsigned int next = is_sum ? TRACE_NR_CLASSES
						   : class_of_column(ns + (size_t)end * TRACE_NR_CLASSES);

			if (next != class)
				break;
		}
		put_varint(bytes, (uint64_t)(end - i) << 1 | (class < TRACE_NR_CLASSES));
		if (class < TRACE_NR_CLASSES)
			put_byte(bytes, class);
		for (uint32_t column = i; class == TRACE_NR_CLASSES && column < end; column++)
			put_column(bytes, ns + (size_t)column * TRACE_NR_CLASSES);
	}
}

/* The rows of "3,4,9"; false, with an error: one of them is none. */
static bool rows_asked(struct view_session *session, struct view_question *question, struct trace_row *rows,
		       uint32_t *ret_nr)
{
	const char *at = question_text(question, "rows", "");
	uint32_t nr = 0;

	while (*at && nr < SHARES_MAX_ROWS) {
		char *end;
		unsigned long number = strtoul(at, &end, 10);

		if (end == at || (*end && *end != ',') || !view_row_numbered(session, number, &rows[nr]))
			break;
		nr++;
		at = *end ? end + 1 : end;
	}
	*ret_nr = nr;
	if (!*at && nr)
		return true;
	snprintf(question->error, sizeof(question->error), "rows is a list of row numbers, at most %u",
		 SHARES_MAX_ROWS);
	return false;
}

void view_shares(struct view_session *session, struct view_question *question, FILE *out)
{
	struct view_window window = view_window_asked(session, question);
	uint64_t columns = question_number(question, "columns", 0);
	struct trace_row *rows = memory_take(SHARES_MAX_ROWS, sizeof(*rows));
	uint64_t *ns = NULL;
	struct bytes bytes = {0};
	uint32_t nr = 0;

	if (!columns || columns > SHARES_MAX_COLUMNS)
		snprintf(question->error, sizeof(question->error), "columns is a number from 1 to %u",
			 SHARES_MAX_COLUMNS);
	if (*question->error || !rows_asked(session, question, rows, &nr))
		goto end;
	ns = memory_take(columns * TRACE_NR_CLASSES, sizeof(*ns));
	write_number(out, SHARES_MAGIC, 4);
	write_number(out, nr, 4);
	write_number(out, columns, 4);
	write_number(out, 0, 4);
	write_number(out, window.from - session->start, 8);
	write_number(out, window.to - session->start, 8);
	for (uint32_t i = 0; i < nr; i++) {
		if (trace_view_columns(session->view, rows[i].id, window.from, window.to, (uint32_t)columns, ns) < 0)
			memory_end();
		bytes.nr = 0;
		put_runs(&bytes, ns, (uint32_t)columns, rows[i].id.kind == TRACE_ROW_PROCESS);
		write_number(out, view_row_number(rows[i].id), 4);
		write_number(out, bytes.nr, 4);
		fwrite(bytes.at, 1, bytes.nr, out);
	}
end:
	free(bytes.at);
	free(ns);
	free(rows);
}
