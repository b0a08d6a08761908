/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * format_oracle.c - libtrace's part of format_reader_agrees.
 *
 *	print TRACE         what libtrace reads in a trace, in the lines of format_reader.py
 *	make TRACE          a trace with every event of the catalogue and of programs, of odd values; with losses; finished
 *	make-cut TRACE      the same, as a recorder leaves it that was killed
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/reader.h>
#include <unistd.h>

#include "builder.h"

/* ---- print ---- */

static void print_bytes(const char *bytes, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		unsigned char c = bytes[i];

		if (c > ' ' && c < 127 && c != '\\')
			putchar(c);
		else
			printf("\\%02x", c);
	}
}

static void print_field(const struct trace_event *event, const struct trace_field *field)
{
	size_t size;
	const char *bytes = trace_event_bytes(event, field, &size);

	printf(" %s=", field->name);
	if (bytes || field->kind == TRACE_KIND_STRING || field->kind == TRACE_KIND_BYTES)
		print_bytes(bytes, size);
	else if (field->kind == TRACE_KIND_FLOAT)
		printf("0x%0*" PRIx64, 2 * field->bytes, trace_event_u64(event, field));
	else if (field->is_signed)
		printf("%" PRId64, (int64_t)trace_event_u64(event, field));
	else
		printf("%" PRIu64, trace_event_u64(event, field));
}

static void print_event(const struct trace_event *event)
{
	printf("%" PRIu64 " %u %u %s", event->ts_ns, event->cpu, event->stream, event->type->name);
	for (size_t i = 0; i < event->type->nr_fields; i++)
		print_field(event, &event->type->fields[i]);
	putchar('\n');
}

/* The losses first: they come as events, each at its end. */
static void print_lost(const struct trace_event *event)
{
	const struct trace_trace_lost *lost = event->payload;

	if (event->id == TRACE_EV_trace_lost)
		printf("lost %" PRIu64 " %u %u %" PRIu64 " %" PRIu64 " %u\n", event->ts_ns, event->cpu, lost->stream, lost->from_ns, lost->lost, lost->cause);
}

/* Of these the events of the trace itself tell. */
static void print_missed(const struct trace *trace)
{
	for (size_t i = 0; i < trace_nr_gaps(trace); i++) {
		const struct trace_gap *gap = trace_get_gap(trace, i);

		if (gap->cause == TRACE_GAP_MISSED)
			printf("lost %" PRIu64 " %u %u %" PRIu64 " %" PRIu64 " %u\n", gap->end_ns, gap->cpu, gap->stream, gap->start_ns, gap->lost, gap->cause);
	}
}

static int print_all(const struct trace *trace, void (*print)(const struct trace_event *), struct trace_cursor_options options)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, &options, NULL);
	const struct trace_event *event;

	if (!cursor)
		return 1;
	while ((event = trace_cursor_next(cursor)))
		print(event);
	trace_cursor_free(cursor);
	return 0;
}

static void print_strings(const struct trace *trace)
{
	for (int space = TRACE_STRING_SYSCALL; space <= TRACE_STRING_SYMBOL; space++)
		for (uint64_t key = 0; key < 1024; key++) {
			const char *text = trace_string(trace, (enum trace_string_space)space, key);

			if (text)
				printf("string %d %" PRIu64 " %s\n", space, key, text);
		}
}

static int print_trace(const char *path)
{
	struct trace *trace = trace_open(path, NULL);
	struct trace_cursor_options all = { .size = sizeof(all) }, start = all, events = all;
	int error;

	if (!trace)
		return 1;
	start.start_state = events.no_lost = true;
	print_missed(trace);
	error = print_all(trace, print_lost, all) || print_all(trace, print_event, start) || print_all(trace, print_event, events);
	print_strings(trace);
	trace_close(trace);
	return error;
}

/* ---- make ---- */

enum { NR_CPUS = 2, NR_EVENTS = 20000, MAX_FIXED = 256, MAX_STRING = 40 };

/* The same in every run, and in every C library. */
static uint64_t random_bits(void)
{
	static uint64_t state = 88172645463325252;

	state ^= state << 13;
	state ^= state >> 7;
	return state ^= state << 17;
}

static uint64_t below(uint64_t n)
{
	return random_bits() % n;
}

/* Few values, many values, numbers close to each other, any: every coding of a column comes up. */
static void fill_payload(uint64_t *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		switch ((words[0] + i) % 5) {
		case 0: words[i] = 7; break;
		case 1: words[i] = below(3); break;
		case 2: words[i] = below(500) << 20 | 1ull << 56; break;
		case 3: words[i] = 0xffffffff00000000 + below(100000); break;
		case 4: words[i] = random_bits(); break;
		}
}

static void fill_string(char *string)
{
	size_t length = below(MAX_STRING);

	for (size_t i = 0; i < length; i++)
		string[i] = (char)(1 + below(255));
	string[length] = '\0';
}

static void put_event(struct tb *tb, uint32_t cpu, uint64_t ts_ns, const struct trace_event_type *type)
{
	uint64_t words[MAX_FIXED / 8] = { type->id };
	char string[MAX_STRING] = "";

	fill_payload(words, type->fixed_bytes / 8);
	if (type->id == TRACE_EV_trace_missed)
		((struct trace_trace_missed *)words)->count = 1 + below(3);
	if (below(2))
		fill_string(string);
	if (type->category == TRACE_CATEGORY_START)
		tb_start(tb, ts_ns, type->id, words, type->fixed_bytes, type->has_string ? string : NULL);
	else
		tb_event(tb, cpu, ts_ns, type->id, words, type->fixed_bytes, type->has_string ? string : NULL);
}

/** struct paid - an event of a program: its thread, then what fields refer to or have */
struct paid {
	uint32_t tid;
	uint16_t text_at, text_bytes;
	uint16_t bytes_at, nr_bytes;
	float price;
	double sum;
	int8_t small;
	uint8_t letter;
	int16_t pad;
	uint32_t pad2;
	char behind[64];
};

static uint16_t user_type(struct tb *tb)
{
	static const struct trace_field fields[] = {
		{ "text", offsetof(struct paid, text_at), 4, false, TRACE_KIND_STRING }, { "bytes", offsetof(struct paid, bytes_at), 4, false, TRACE_KIND_BYTES },
		{ "price", offsetof(struct paid, price), 4, true, TRACE_KIND_FLOAT },	 { "sum", offsetof(struct paid, sum), 8, true, TRACE_KIND_FLOAT },
		{ "small", offsetof(struct paid, small), 1, true, TRACE_KIND_DEC },	 { "letter", offsetof(struct paid, letter), 1, false, TRACE_KIND_CHAR },
	};
	static const struct trace_event_type type = { .name = "shop:paid", .classic = "NONE", .program = "NONE", .text = "", .doc = "",
						      .fields = fields, .nr_fields = 6, .fixed_bytes = offsetof(struct paid, behind),
						      .has_string = true, .category = TRACE_CATEGORY_USER,
						      .flags = TRACE_EVENT_ON | TRACE_EVENT_TID, .source = "shop.c:1" };

	return tb_user_type(tb, &type);
}

static void put_user_event(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint16_t id)
{
	struct paid paid = { .tid = 42, .price = (float)below(1000) / 7, .sum = -1.0 / (double)(1 + below(9)), .small = (int8_t)below(256), .letter = 'x' };

	paid.text_at = offsetof(struct paid, behind);
	paid.text_bytes = (uint16_t)below(20);
	paid.bytes_at = (uint16_t)(paid.text_at + paid.text_bytes);
	paid.nr_bytes = (uint16_t)below(30);
	for (int i = 0; i < paid.text_bytes + paid.nr_bytes; i++)
		paid.behind[i] = (char)below(256);
	tb_user_event(tb, cpu, ts_ns, id, &paid, (size_t)paid.bytes_at + paid.nr_bytes);
}

/** struct clock - of a CPU, that counts steps of a little less than 10 ns, odd ones a little late, and is sometimes read late */
struct clock {
	uint64_t steps;
	uint64_t ts_ns;
};

static uint64_t clock_read(struct clock *clock)
{
	uint64_t ts_ns;

	clock->steps += below(1 << below(12));
	if (below(500) == 0)
		clock->steps += below(10000000); /* nothing happens for long */
	ts_ns = 1000000000 + (uint64_t)(((unsigned __int128)clock->steps * 42938765432 + (clock->steps & 1 ? 2000000000 : 0)) >> 32);
	if (below(30) == 0)
		ts_ns += 1 + below(100);
	if (ts_ns > clock->ts_ns)
		clock->ts_ns = ts_ns;
	return clock->ts_ns;
}

static void make_events(struct tb *tb)
{
	struct clock clocks[NR_CPUS] = { 0 };
	uint16_t paid = user_type(tb);

	for (int nr = 0; nr < NR_EVENTS; nr++) {
		uint32_t cpu = (uint32_t)below(NR_CPUS);
		const struct trace_event_type *type = trace_catalogue_type(below(4) ? 2 * below(40) : below(trace_catalogue_size()));
		uint64_t ts_ns = clock_read(&clocks[cpu]);

		if (below(10) == 0)
			put_user_event(tb, cpu, ts_ns, paid);
		else if (type->id != TRACE_EV_trace_lost)
			put_event(tb, cpu, ts_ns, type);
		if (below(3000) == 0)
			tb_lost(tb, cpu, 1 + below(9));
		if (below(3000) == 0)
			tb_user_lost(tb, cpu, 1 + below(9));
		if (below(3000) == 0)
			tb_cut(tb, cpu);
	}
}

static int make_trace(const char *path, bool finish)
{
	struct tb *tb = tb_new();
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		return 1;
	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_HOST, "host");
	tb_string(tb, TRACE_STRING_IRQ, 9, "acpi");
	make_events(tb);
	tb_write(tb, fd, finish);
	tb_free(tb);
	return close(fd) < 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "print"))
		return print_trace(argv[2]);
	if (argc == 3 && (!strcmp(argv[1], "make") || !strcmp(argv[1], "make-cut")))
		return make_trace(argv[2], !strcmp(argv[1], "make"));
	return 2;
}
