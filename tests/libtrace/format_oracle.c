/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * format_oracle.c - libtrace's part of format_reader_agrees.
 *
 * 	print TRACE         what libtrace reads in a trace, in the lines of format_reader.py
 * 	make TRACE          a finished trace with every event type, odd values, and losses
 * 	make-cut TRACE      the same, as a killed recorder leaves it
 * 	make-losses TRACE   the same, with every kind of loss in every way that headers express it
 * 	make-limits TRACE   limits only: numbers of types and payloads around a change of
 * 	                    encoding, longest pauses
 * 	make-chunks TRACE   more chunks than one chunk of the index and of the table has entries
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/reader.h>
#include <unistd.h>

#include "builder.h"
#include "image.h"

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

/* The losses first: the reader returns them as events, each at its end. */
static void print_lost(const struct trace_event *event)
{
	const struct trace_trace_lost *lost = event->payload;

	if (event->id == TRACE_EV_trace_lost)
		printf("lost %" PRIu64 " %u %u %" PRIu64 " %" PRIu64 " %u\n", event->ts_ns, event->cpu, lost->stream,
		       lost->from_ns, lost->lost, lost->cause);
}

/* The trace's own events contain these losses. */
static void print_missed(const struct trace *trace)
{
	for (size_t i = 0; i < trace_nr_gaps(trace); i++) {
		const struct trace_gap *gap = trace_get_gap(trace, i);

		if (gap->cause == TRACE_GAP_MISSED)
			printf("lost %" PRIu64 " %u %u %" PRIu64 " %" PRIu64 " %u\n", gap->end_ns, gap->cpu,
			       gap->stream, gap->start_ns, gap->lost, gap->cause);
	}
}

static int print_all(const struct trace *trace, void (*print)(const struct trace_event *),
		     struct trace_cursor_options options)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, &options, NULL);
	const struct trace_event *event;

	if (!cursor)
		return 1;
	while ((event = trace_cursor_next(cursor)))
		print(event);
	return trace_cursor_end(cursor, NULL) == -ENOMEM; /* damage is what the oracle is asked about */
}

static void print_strings(const struct trace *trace)
{
	for (int space = TRACE_STRING_SYSCALL; space <= TRACE_STRING_BUILD_ID; space++)
		for (uint64_t key = 0; key < 1024; key++) {
			const char *text = trace_string(trace, (enum trace_string_space)space, key);

			if (text)
				printf("string %d %" PRIu64 " %s\n", space, key, text);
		}
}

static void print_text(const char *name, const char *text)
{
	printf(" %s=", name);
	print_bytes(text, strlen(text));
}

static void print_types(const struct trace *trace)
{
	static const char *const kinds[TRACE_NR_KINDS] = {"DEC",     "HEX",    "NS",	 "TID",	    "CPU",    "BOOL",
							  "SYSCALL", "RESULT", "IRQ",	 "SOFTIRQ", "VECTOR", "STATE",
							  "CONTEXT", "DEV",    "MODE",	 "SIGNAL",  "FAMILY", "PORT",
							  "ADDR",    "EVENT",  "COMM",	 "PATH",    "TEXT",   "PAD",
							  "FLOAT",   "CHAR",   "STRING", "BYTES"};

	for (uint32_t id = 0; id < 65536; id++) {
		const struct trace_event_type *type = trace_type_by_id(trace, id);

		if (!type)
			continue;
		printf("type %u %u %u%s%s%s %s", id, type->fixed_bytes, type->has_string,
		       type->flags & TRACE_EVENT_ON ? " on" : "",
		       type->flags & TRACE_EVENT_STRUCTURAL ? " structural" : "",
		       type->flags & TRACE_EVENT_TID ? " tid" : "", trace_role_name(type->role));
		print_text("name", type->name);
		print_text("category", trace_category_name(type->category));
		print_text("classic", type->classic);
		print_text("program", type->program);
		print_text("text", type->text);
		print_text("doc", type->doc);
		print_text("source", type->source ? type->source : "");
		for (size_t i = 0; i < type->nr_fields; i++)
			printf(" %s:%s:%u:%u:%u", type->fields[i].name, kinds[type->fields[i].kind],
			       type->fields[i].offset, type->fields[i].bytes, type->fields[i].is_signed);
		putchar('\n');
	}
}

static void print_statistics(const struct trace *trace)
{
	static const struct {
		enum trace_info_key key;
		const char *name;
	} infos[] = {{TRACE_INFO_HOST, "host"},
		     {TRACE_INFO_KERNEL, "kernel"},
		     {TRACE_INFO_MACHINE, "machine"},
		     {TRACE_INFO_CLOCK, "clock"},
		     {TRACE_INFO_COMMAND, "command"},
		     {TRACE_INFO_BOOT_ID, "boot id"},
		     {TRACE_INFO_LEFT_OUT, "parts left out"},
		     {TRACE_INFO_CHOSEN, "chosen process"},
		     {TRACE_INFO_CPUS, "CPUs"},
		     {TRACE_INFO_DISTRUSTED, "distrusted programs"},
		     {TRACE_INFO_RECORDER, "recorder"}};
	const struct trace_info *info = trace_get_info(trace);

	for (size_t i = 0; i < sizeof(infos) / sizeof(infos[0]); i++) {
		const char *text = trace_string(trace, TRACE_STRING_INFO, infos[i].key);

		if (text)
			printf("info %s %s\n", infos[i].name, text);
	}
	printf("trace %u %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", info->version_major, info->start_ns, info->end_ns,
	       info->start_realtime_ns);
	for (size_t i = 0; i < trace_nr_clocks(trace); i++) {
		const struct trace_clock *clock = trace_get_clock(trace, i);

		printf("clock %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", clock->monotonic_ns, clock->realtime_ns,
		       clock->tsc);
	}
	for (size_t i = 0; info->clean_end && i < trace_nr_streams(trace); i++) {
		/* otherwise they are computed from the chunks */
		const struct trace_stream_stats *of = trace_get_stream(trace, i);

		printf("account %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
		       of->stream, of->cpu, of->stored, of->discarded, of->overwritten, of->missed, of->filtered,
		       of->attempted);
	}
	for (size_t i = 0; i < trace_nr_chunks(trace); i++) {
		const struct trace_chunk *chunk = trace_get_chunk(trace, i);

		if (chunk->kind != TRACE_CHUNK_INDEX && chunk->kind != TRACE_CHUNK_TABLE &&
		    chunk->kind != TRACE_CHUNK_ROOT)
			printf("chunk %" PRIu64 " %u %u %u %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			       " %u %u\n",
			       chunk->offset, chunk->kind, chunk->encoding, chunk->stream, chunk->cpu, chunk->seq,
			       chunk->first_ns, chunk->last_ns, chunk->events, chunk->lost_before, chunk->raw_bytes,
			       chunk->packed_bytes);
	}
}

static int print_trace(const char *path)
{
	struct trace *trace = trace_open(path, NULL);
	struct trace_cursor_options all = {.size = sizeof(all)}, start = all, events = all;
	int error;

	if (!trace)
		return 1;
	start.start_state = events.no_lost = true;
	print_missed(trace);
	error = print_all(trace, print_lost, all) || print_all(trace, print_event, start) ||
		print_all(trace, print_event, events);
	print_strings(trace);
	print_types(trace);
	print_statistics(trace);
	trace_close(trace);
	return error;
}

/* ---- make ---- */

enum { NR_CPUS = 2, NR_EVENTS = 20000, MAX_FIXED = 256, MAX_STRING = 40 };

/* The same in every run, and with every C library. */
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

/* Few values, many values, values close to each other, any values: every encoding of a column is
 * used. */
static void fill_payload(uint64_t *words, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		switch ((words[0] + i) % 5) {
		case 0:
			words[i] = 7;
			break;
		case 1:
			words[i] = below(3);
			break;
		case 2:
			words[i] = below(500) << 20 | 1ull << 56;
			break;
		case 3:
			words[i] = 0xffffffff00000000 + below(100000);
			break;
		case 4:
			words[i] = random_bits();
			break;
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
	uint64_t words[MAX_FIXED / 8] = {type->id};
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

/**
 * struct paid - an event of a program: its thread, then its numbers and references
 */
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
		{"text", offsetof(struct paid, text_at), 4, false, TRACE_KIND_STRING},
		{"bytes", offsetof(struct paid, bytes_at), 4, false, TRACE_KIND_BYTES},
		{"price", offsetof(struct paid, price), 4, true, TRACE_KIND_FLOAT},
		{"sum", offsetof(struct paid, sum), 8, true, TRACE_KIND_FLOAT},
		{"small", offsetof(struct paid, small), 1, true, TRACE_KIND_DEC},
		{"letter", offsetof(struct paid, letter), 1, false, TRACE_KIND_CHAR},
	};
	static const struct trace_event_type type = {.name = "shop:paid",
						     .classic = "NONE",
						     .program = "NONE",
						     .text = "",
						     .doc = "",
						     .fields = fields,
						     .nr_fields = 6,
						     .fixed_bytes = offsetof(struct paid, behind),
						     .has_string = true,
						     .category = TRACE_CATEGORY_USER,
						     .flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
						     .source = "shop.c:1"};

	return tb_user_type(tb, &type);
}

static void put_user_event(struct tb *tb, uint32_t cpu, uint64_t ts_ns, uint16_t id)
{
	struct paid paid = {.tid = 42,
			    .price = (float)below(1000) / 7,
			    .sum = -1.0 / (double)(1 + below(9)),
			    .small = (int8_t)below(256),
			    .letter = 'x'};

	paid.text_at = offsetof(struct paid, behind);
	paid.text_bytes = (uint16_t)below(20);
	paid.bytes_at = (uint16_t)(paid.text_at + paid.text_bytes);
	paid.nr_bytes = (uint16_t)below(30);
	for (int i = 0; i < paid.text_bytes + paid.nr_bytes; i++)
		paid.behind[i] = (char)below(256);
	tb_user_event(tb, cpu, ts_ns, id, &paid, (size_t)paid.bytes_at + paid.nr_bytes);
}

/**
 * struct clock - a CPU's clock that counts steps of a little less than 10 ns, odd ones a little
 * late, and is sometimes read late
 */
struct clock {
	uint64_t steps;
	uint64_t ts_ns;
};

static uint64_t clock_read(struct clock *clock)
{
	uint64_t ts_ns;

	clock->steps += below(1 << below(12));
	if (below(500) == 0)
		clock->steps += below(10000000); /* a long time without events */
	ts_ns = 1000000000 +
		(uint64_t)(((unsigned __int128)clock->steps * 42938765432 + (clock->steps & 1 ? 2000000000 : 0)) >> 32);
	if (below(30) == 0)
		ts_ns += 1 + below(100);
	if (ts_ns > clock->ts_ns)
		clock->ts_ns = ts_ns;
	return clock->ts_ns;
}

static void make_events(struct tb *tb)
{
	struct clock clocks[NR_CPUS] = {0};
	uint16_t paid = user_type(tb);

	for (int nr = 0; nr < NR_EVENTS; nr++) {
		uint32_t cpu = (uint32_t)below(NR_CPUS);
		const struct trace_event_type *type = trace_catalogue_type(below(4) ? 2 * below(40)
										    : below(trace_catalogue_size()));
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

/* Events of @nr types in any order, the first type with @least of them. */
static void make_types(struct tb *tb, uint32_t cpu, uint64_t *ts_ns, size_t first, size_t nr, uint64_t least)
{
	uint64_t left[64], all = 0;

	for (size_t i = 0; i < nr; i++)
		all += left[i] = least + i % 4;
	while (all) {
		size_t i = below(nr);

		if (!left[i])
			continue;
		left[i]--;
		all--;
		*ts_ns += below(2) ? below(300) : below(1 << 14);
		put_event(tb, cpu, *ts_ns, trace_catalogue_type(first + i));
	}
	tb_cut(tb, cpu);
}

/* @different payloads, and @again of them a second time, which are then encoded by number. */
static void make_payloads(struct tb *tb, uint32_t cpu, uint64_t *ts_ns, uint64_t different, uint64_t again)
{
	for (uint64_t i = 0; i < different + again; i++)
		tb_sys_exit(tb, cpu, *ts_ns += 10, (int64_t)(i < different ? i : (i - different) * different / again));
	tb_cut(tb, cpu);
}

/* A clock with steps of 9.997 ns that is read late, after longer and longer runs of events that
 * were read in time. */
static void make_runs(struct tb *tb, uint32_t cpu, uint64_t *ts_ns)
{
	uint64_t steps = 0, first = *ts_ns, late = 0;

	for (uint64_t run = 250; run <= 3 * 260; run += run < 260 ? 1 : 51)
		for (uint64_t i = 0; i <= run; i++) {
			steps += 1 + below(60);
			late = i == run ? 1 + below(3) : 0;
			tb_sys_exit(tb, cpu,
				    *ts_ns = first + (uint64_t)(((unsigned __int128)steps * 42938765432) >> 32) + late,
				    0);
		}
	tb_cut(tb, cpu);
}

/* Every role that a program's event can have. */
static void make_roles(struct tb *tb, uint64_t *ts_ns)
{
	static const struct trace_field field = {"number", 0, 8, false, TRACE_KIND_DEC};

	for (int role = TRACE_ROLE_EVENT; role < TRACE_NR_ROLES; role++) {
		char name[32];
		struct trace_event_type type = {.name = name,
						.classic = "NONE",
						.program = "a program",
						.text = "text {number}",
						.doc = "doc",
						.fields = &field,
						.nr_fields = 1,
						.fixed_bytes = 8,
						.category = TRACE_CATEGORY_USER,
						.flags = TRACE_EVENT_ON,
						.role = (enum trace_event_role)role,
						.source = "a.c:1"};
		uint64_t number = (uint64_t)role;

		snprintf(name, sizeof(name), "roles:%d%s", role, trace_role_suffix(type.role));
		tb_user_event(tb, 0, *ts_ns += 10, tb_user_type(tb, &type), &number, sizeof(number));
	}
}

static void make_pauses(struct tb *tb, uint32_t cpu, uint64_t *ts_ns)
{
	for (int bit = 0; bit < 31; bit++)
		for (uint64_t odd = 0; odd < 4; odd++)
			tb_sys_exit(tb, cpu, *ts_ns += (bit < 29 ? 1ull << bit : 1) + odd, 0);
	tb_cut(tb, cpu);
	tb_sys_exit(tb, cpu, *ts_ns += 1, 0);
	tb_sys_exit(tb, cpu, *ts_ns += UINT32_MAX - 1, 0);
	tb_cut(tb, cpu);
}

/* Positions in the streams of some sockets, most of which grow by little: a column of steps. */
static void make_positions(struct tb *tb, uint32_t cpu, uint64_t *ts_ns)
{
	uint64_t positions[7];

	for (size_t i = 0; i < 7; i++)
		positions[i] = random_bits();
	for (size_t nr = 0; nr < 400; nr++) {
		size_t socket = (size_t)below(7);
		struct trace_sock_send send = {.ino = 4000 + socket * 77, .ret = 100, .family = 2, .protocol = 6};

		send.position = positions[socket] += below(100) ? below(60000) : random_bits();
		tb_event(tb, cpu, *ts_ns += 10, TRACE_EV_sock_send, &send, sizeof(send), NULL);
	}
	tb_cut(tb, cpu);
}

/* A type with one event only, with one payload, and with only equal payloads; a full dictionary,
 * one entry more, and one less; steps. */
static void make_limits(struct tb *tb)
{
	uint64_t ts_ns = 1000000000;

	make_runs(tb, 0, &ts_ns); /* first: from then on the step of the clock is known */
	for (uint64_t nr = 254; nr <= 258; nr++) {
		make_payloads(tb, 0, &ts_ns, nr, nr);
		make_payloads(tb, 0, &ts_ns, nr, 0);
	}
	make_payloads(tb, 0, &ts_ns, 1, 300);
	make_payloads(tb, 0, &ts_ns, 2, 1);
	for (size_t nr = 29; nr <= 34; nr++)
		make_types(tb, 0, &ts_ns, 20, nr, 126);
	make_types(tb, 0, &ts_ns, 20, 40, 128);
	make_roles(tb, &ts_ns);
	make_positions(tb, 0, &ts_ns);
	make_pauses(tb, 0, &ts_ns);
	make_payloads(tb, 0, &ts_ns, 65536, 2);
	make_payloads(tb, 0, &ts_ns, 65537, 2);
}

static void make_chunks(struct tb *tb)
{
	for (uint64_t i = 0; i < 2100; i++) {
		tb_sys_exit(tb, i % 3, 1000000000 + 7 * i, (int64_t)i);
		tb_cut(tb, i % 3);
	}
}

static int make_trace(const char *path, bool finish, void (*make)(struct tb *tb))
{
	struct tb *tb = tb_new();
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		return 1;
	for (int key = TRACE_INFO_HOST; key <= TRACE_INFO_DISTRUSTED; key++)
		tb_string(tb, TRACE_STRING_INFO, (uint64_t)key,
			  (const char *[]){"host", "6.18", "x86_64", "tsc", "ls -l", "b007", "kernel", "10", "64",
					   "1"}[key]);
	tb_string(tb, TRACE_STRING_IRQ, 9, "acpi");
	tb_clock(tb, 1000000000, 1700000000000000000, 3000000000);
	tb_clock(tb, 2000000000, 1700000001000000007, 0);
	make(tb);
	tb_write(tb, fd, finish);
	tb_free(tb);
	return close(fd) < 0;
}

/* Headers that a recorder writes when a disk is full, or when programs write nonsense: every third
 * chunk has one kind of loss, or several. */
static int make_losses(const char *path)
{
	struct trace_chunk_header header;
	struct image image;
	uint64_t more[4] = {0}; /* events before, by stream */
	FILE *out = fopen(path, "w");
	struct tb *tb = tb_new();
	long at;

	make_events(tb);
	image = image_new(tb, false);
	for (size_t i = 0, nr = 0; out && (at = image_find(&image, TRACE_CHUNK_EVENTS, i, &header)) >= 0; i++) {
		uint64_t *before = &more[header.stream < TB_USER_STREAM ? header.stream / 2
									: 2 + (header.stream - TB_USER_STREAM) / 2];

		header.events_before += *before;
		if (i % 2 == 0) {
			nr++;
			header.lost_write = nr & 1 ? 3 + nr : 0;
			header.lost_before += nr & 2 ? 5 : 0;
			header.lost_cause = nr & 2 ? TRACE_GAP_OVERWRITTEN : header.lost_cause;
			header.undecodable = nr & 4 ? 7 : 0;
			header.flags = (uint16_t)((nr & 8 ? TRACE_CHUNK_FLAG_JUMP : 0) |
						  (nr % 8 == 5 ? TRACE_CHUNK_FLAG_INSIDE_BEFORE : 0));
			/* 11: not counted by any loss */
			*before += header.lost_write + (nr & 2 ? 5 : 0) + (nr % 7 == 0 ? 11 : 0);
			header.events_before += header.lost_write + (nr & 2 ? 5 : 0) + (nr % 7 == 0 ? 11 : 0);
			*before += header.undecodable;
		}
		image_put_chunk(&image, (size_t)at, &header);
	}
	if (out && fwrite(image.data, image.bytes, 1, out) != 1)
		return 1;
	image_free(&image);
	tb_free(tb);
	return !out || fclose(out) != 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "print"))
		return print_trace(argv[2]);
	if (argc == 3 && (!strcmp(argv[1], "make") || !strcmp(argv[1], "make-cut")))
		return make_trace(argv[2], !strcmp(argv[1], "make"), make_events);
	if (argc == 3 && !strcmp(argv[1], "make-losses"))
		return make_losses(argv[2]);
	if (argc == 3 && !strcmp(argv[1], "make-limits"))
		return make_trace(argv[2], true, make_limits);
	if (argc == 3 && !strcmp(argv[1], "make-chunks"))
		return make_trace(argv[2], true, make_chunks);
	return 2;
}
