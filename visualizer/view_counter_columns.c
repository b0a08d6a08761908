/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * view_counter_columns.c - the numbers of a counter in the columns of a picture, exactly.
 *
 * A column has a count, a sum, and the least and greatest number in it. Where a number holds at
 * each instant (SHARE, LEVEL), the sum is number times ns, and the count is the ns at which it is
 * known. So the mean is always the sum divided by the count; but an AMOUNT is divided by the time.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "view_counters.h"
#include "view_row.h"

#define MAX_COLUMNS 16384u

/* struct counter_column - @least, @greatest: bits, if @count. @sum: for whole numbers */
struct counter_column {
	uint64_t count;
	__int128 sum;
	double float_sum;
	uint64_t least, greatest;
};

/* struct counter_columns - @nr columns of a window */
struct counter_columns {
	struct view_session *session;
	const struct view_counter *counter;
	struct view_window window;
	uint32_t nr;
	struct counter_column *at; /* owned */
};

static uint64_t edge(const struct counter_columns *c, uint32_t i)
{
	return c->window.from + (uint64_t)((unsigned __int128)(c->window.to - c->window.from) * i / c->nr);
}

static double float_of(uint64_t bits)
{
	double value;

	memcpy(&value, &bits, sizeof(value));
	return value;
}

static bool is_less(enum counter_number number, uint64_t left, uint64_t right)
{
	if (number == NUMBER_FLOAT)
		return float_of(left) < float_of(right);
	return number == NUMBER_SIGNED ? (int64_t)left < (int64_t)right : left < right;
}

static void add(struct counter_column *column, enum counter_number number, uint64_t bits, uint64_t times)
{
	if (!column->count || is_less(number, bits, column->least))
		column->least = bits;
	if (!column->count || is_less(number, column->greatest, bits))
		column->greatest = bits;
	column->count += times;
	if (number == NUMBER_FLOAT)
		column->float_sum += float_of(bits);
	else
		column->sum += number == NUMBER_SIGNED ? (__int128)(int64_t)bits * times : (__int128)bits * times;
}

/* The first value at @ns or later. */
static size_t first_from(const struct view_counter *counter, uint64_t ns)
{
	size_t low = 0, high = counter->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (counter->values[middle].ns < ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static void fill_values(struct counter_columns *c)
{
	const struct view_counter *counter = c->counter;
	uint32_t column = 0;

	for (size_t i = first_from(counter, c->window.from); i < counter->nr && counter->values[i].ns < c->window.to;
	     i++) {
		while (edge(c, column + 1) <= counter->values[i].ns)
			column++;
		add(&c->at[column], counter->number, counter->values[i].bits, 1);
	}
}

/* A number holds until the next one; before the first it is 0. */
static void fill_levels(struct counter_columns *c)
{
	const struct view_counter *counter = c->counter;
	size_t next = first_from(counter, c->window.from);
	uint64_t now = c->window.from, bits = next ? counter->values[next - 1].bits : 0;

	for (uint32_t column = 0; column < c->nr; column++) {
		uint64_t end = edge(c, column + 1);

		while (now < end) {
			uint64_t to = next < counter->nr && counter->values[next].ns < end ? counter->values[next].ns
											   : end;

			if (to > now)
				add(&c->at[column], counter->number, bits, to - now);
			now = to;
			if (next < counter->nr && counter->values[next].ns == now && now < end)
				bits = counter->values[next++].bits;
		}
	}
}

static void fill_shares(struct counter_columns *c)
{
	static const enum trace_class busy[] = {TRACE_CLASS_USER, TRACE_CLASS_SYSCALL, TRACE_CLASS_TRAP,
						TRACE_CLASS_INTERRUPTED, TRACE_CLASS_RUNNING};
	uint64_t *ns = memory_take((size_t)c->nr * TRACE_NR_CLASSES, sizeof(*ns));

	if (trace_view_columns(c->session->view, (struct trace_row_id){TRACE_ROW_CPU, c->counter->cpu}, c->window.from,
			       c->window.to, c->nr, ns) < 0)
		memory_end();
	for (uint32_t i = 0; i < c->nr; i++) {
		const uint64_t *column = ns + (size_t)i * TRACE_NR_CLASSES;
		uint64_t used = 0;

		for (size_t k = 0; k < sizeof(busy) / sizeof(busy[0]); k++)
			used += column[busy[k]];
		if (column[TRACE_CLASS_IDLE])
			add(&c->at[i], NUMBER_SIGNED, 0, column[TRACE_CLASS_IDLE]);
		if (used)
			add(&c->at[i], NUMBER_SIGNED, 1, used);
	}
	free(ns);
}

/* A column that begins at or before @ns, as late as its number tells */
static uint32_t column_at(const struct counter_columns *c, uint64_t ns)
{
	if (ns <= c->window.from)
		return 0;
	if (ns >= c->window.to)
		return c->nr;
	return (uint32_t)((unsigned __int128)(ns - c->window.from) * c->nr / (c->window.to - c->window.from));
}

/* Only the ends of a gap are known, so its losses are divided evenly; the parts of a gap add up. */
static void fill_gap(struct counter_columns *c, const struct trace_gap *gap)
{
	uint64_t from = gap->start_ns, to = gap->end_ns > from ? gap->end_ns : from + 1;

	for (uint32_t column = column_at(c, from); column < c->nr && edge(c, column) < to; column++) {
		uint64_t begin = edge(c, column) > from ? edge(c, column) : from,
			 end = edge(c, column + 1) < to ? edge(c, column + 1) : to;

		if (begin < end)
			add(&c->at[column], NUMBER_UNSIGNED,
			    (uint64_t)((unsigned __int128)gap->lost * (end - from) / (to - from)) -
				    (uint64_t)((unsigned __int128)gap->lost * (begin - from) / (to - from)),
			    1);
	}
}

static void fill_losses(struct counter_columns *c)
{
	const struct trace *trace = c->session->report.trace;
	const struct trace_analysis *analysis = c->session->report.analysis;

	for (size_t i = 0; i < trace_nr_gaps(trace); i++)
		if (!trace_gap_is_older(trace, trace_get_gap(trace, i)))
			fill_gap(c, trace_get_gap(trace, i));
	for (size_t i = 0; i < trace_analysis_nr_late_gaps(analysis); i++)
		fill_gap(c, trace_analysis_get_late_gap(analysis, i));
}

/* ---- answers ---- */

static void put_bits(struct json *json, enum counter_number number, uint64_t bits)
{
	json_separate(json);
	if (number == NUMBER_SIGNED)
		fprintf(json->out, "%" PRId64, (int64_t)bits);
	else if (number == NUMBER_UNSIGNED)
		fprintf(json->out, "%" PRIu64, bits);
	else if (__builtin_isfinite(float_of(bits)))
		fprintf(json->out, "%.17g", float_of(bits));
	else
		fputs("null", json->out);
}

static void put_sum(struct json *json, enum counter_number number, const struct counter_column *column)
{
	double sum = number == NUMBER_FLOAT ? column->float_sum : (double)column->sum;
	uint64_t bits;

	memcpy(&bits, &sum, sizeof(bits));
	if (number != NUMBER_FLOAT && column->sum == (int64_t)column->sum)
		put_bits(json, NUMBER_SIGNED, (uint64_t)column->sum);
	else
		put_bits(json, NUMBER_FLOAT, bits); /* more than 64 bits */
}

static void put_columns(struct json *json, const struct counter_columns *c)
{
	enum counter_number number = c->counter->number;

	json_open(json, "list", "[");
	for (uint32_t i = 0; i < c->nr; i++) {
		const struct counter_column *column = &c->at[i];

		if (!column->count)
			continue;
		json_open(json, NULL, "\n[");
		put_bits(json, NUMBER_UNSIGNED, i);
		put_bits(json, NUMBER_UNSIGNED, column->count);
		put_sum(json, number, column);
		put_bits(json, number, column->least);
		put_bits(json, number, column->greatest);
		json_close(json, "]");
	}
	json_close(json, "]");
}

static const char *const kinds[] = {
	[COUNTER_SHARE] = "share", [COUNTER_LEVEL] = "level", [COUNTER_AMOUNT] = "amount", [COUNTER_VALUE] = "value"};

static void fill(struct counter_columns *c)
{
	if (c->counter->kind == COUNTER_SHARE)
		fill_shares(c);
	else if (c->counter->kind == COUNTER_LEVEL)
		fill_levels(c);
	else if (c->counter->is_lost)
		fill_losses(c);
	else
		fill_values(c);
}

static const struct view_counter *counter_named(struct view_session *session, const char *name)
{
	const struct view_counter *counter;

	for (size_t i = 0; (counter = view_counter_at(session, i)); i++)
		if (strcmp(counter->name, name) == 0)
			return counter;
	return NULL;
}

/* All that have a number in the span, each with one column. */
static void put_list(struct counter_columns *c, struct json *json)
{
	json_open(json, "counters", "[");
	for (size_t i = 0; (c->counter = view_counter_at(c->session, i)); i++) {
		c->at[0] = (struct counter_column){0};
		fill(c);
		if (!c->at[0].count && !c->counter->is_cut)
			continue;
		json_open(json, NULL, "\n{");
		json_text(json, "name", c->counter->name);
		json_text(json, "kind", kinds[c->counter->kind]);
		json_bool(json, "cut", c->counter->is_cut);
		put_columns(json, c);
		json_close(json, "}");
	}
	json_close(json, "]");
}

void view_counters(struct view_session *session, struct view_question *question, struct json *json)
{
	const char *name = question_text(question, "name", NULL);
	uint64_t columns = question_number(question, "columns", 1);
	struct counter_columns c = {.session = session, .window = view_window_asked(session, question)};

	c.counter = name ? counter_named(session, name) : NULL;
	if (!columns || columns > MAX_COLUMNS)
		snprintf(question->error, sizeof(question->error), "columns is a number from 1 to %u", MAX_COLUMNS);
	else if (name && !c.counter)
		snprintf(question->error, sizeof(question->error), "there is no such counter");
	if (*question->error)
		return;
	c.nr = name ? (uint32_t)columns : 1;
	c.at = memory_take(c.nr, sizeof(*c.at));
	if (name) {
		fill(&c);
		json_text(json, "name", c.counter->name);
		json_text(json, "kind", kinds[c.counter->kind]);
		json_bool(json, "cut", c.counter->is_cut);
		json_u64(json, "columns", c.nr);
		put_columns(json, &c);
	} else {
		put_list(&c, json);
	}
	free(c.at);
}
