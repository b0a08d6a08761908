/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_shares.c - columns as bytes: view_shares.h has the layout. */
#include <stdlib.h>
#include <string.h>
#include "view_clients.h"
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

/* The class of a column that has one only; @nr_classes: it has several, or none. */
static unsigned int class_of_column(const uint64_t *ns, uint32_t nr_classes)
{
	unsigned int found = nr_classes;

	for (unsigned int class = 0; class < nr_classes; class ++)
		if (ns[class]) {
			if (found < nr_classes)
				return nr_classes;
			found = class;
		}
	return found;
}

static void put_column(struct bytes *bytes, const uint64_t *ns, uint32_t nr_classes)
{
	unsigned int nr = 0;

	for (unsigned int class = 0; class < nr_classes; class ++)
		nr += ns[class] != 0;
	put_byte(bytes, nr);
	for (unsigned int class = 0; class < nr_classes; class ++)
		if (ns[class]) {
			put_byte(bytes, class);
			put_varint(bytes, ns[class]);
		}
}

/* @is_sum: the row of a process, whose columns may have more or less than their width */
static void put_runs(struct bytes *bytes, const uint64_t *ns, uint32_t nr, uint32_t nr_classes, bool is_sum)
{
	for (uint32_t i = 0, end; i < nr; i = end) {
		unsigned int class = is_sum ? nr_classes : class_of_column(ns + (size_t)i * nr_classes, nr_classes);

		for (end = i + 1; end < nr; end++) {
			unsigned int next = is_sum ? nr_classes
						   : class_of_column(ns + (size_t)end * nr_classes, nr_classes);

			if (next != class)
				break;
		}
		put_varint(bytes, (uint64_t)(end - i) << 1 | (class < nr_classes));
		if (class < nr_classes)
			put_byte(bytes, class);
		for (uint32_t column = i; class == nr_classes && column < end; column++)
			put_column(bytes, ns + (size_t)column * nr_classes, nr_classes);
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

static void columns_of(struct view_session *session, const struct trace_row *row, const struct view_window *window,
		       uint32_t columns, bool by_client, uint64_t *ns)
{
	if (by_client)
		view_client_columns(session, row, window->from, window->to, columns, ns);
	else if (trace_view_columns(session->view, row->id, window->from, window->to, columns, ns) < 0)
		memory_end();
}

static void write_head(FILE *out, uint32_t nr, uint32_t columns, uint64_t from, uint64_t to)
{
	write_number(out, SHARES_MAGIC, 4);
	write_number(out, nr, 4);
	write_number(out, columns, 4);
	write_number(out, 0, 4);
	write_number(out, from, 8);
	write_number(out, to, 8);
}

void view_shares(struct view_session *session, struct view_question *question, FILE *out)
{
	struct view_window window = view_window_asked(session, question);
	uint64_t columns = question_number(question, "columns", 0);
	struct trace_row *rows = memory_take(SHARES_MAX_ROWS, sizeof(*rows));
	const char *by = question_text(question, "by", "");
	uint32_t nr_classes = *by ? VIEW_NR_CLASSES : TRACE_NR_CLASSES;
	uint64_t *ns = NULL;
	struct bytes bytes = {0};
	uint32_t nr = 0;

	if (*by && strcmp(by, "client") != 0)
		snprintf(question->error, sizeof(question->error), "by is client, or is left out");
	if (!columns || columns > SHARES_MAX_COLUMNS)
		snprintf(question->error, sizeof(question->error), "columns is a number from 1 to %u",
			 SHARES_MAX_COLUMNS);
	if (*question->error || !rows_asked(session, question, rows, &nr))
		goto end;
	ns = memory_take(columns * nr_classes, sizeof(*ns));
	write_head(out, nr, (uint32_t)columns, window.from - session->start, window.to - session->start);
	for (uint32_t i = 0; i < nr; i++) {
		columns_of(session, &rows[i], &window, (uint32_t)columns, *by, ns);
		bytes.nr = 0;
		put_runs(&bytes, ns, (uint32_t)columns, nr_classes, rows[i].id.kind == TRACE_ROW_PROCESS);
		write_number(out, view_row_number(rows[i].id), 4);
		write_number(out, bytes.nr, 4);
		fwrite(bytes.at, 1, bytes.nr, out);
	}
end:
	free(bytes.at);
	free(ns);
	free(rows);
}
