/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_anonymous.c - trace_write_anonymous(): a copy has no recorded name, also of a damaged trace,
 * and all numbers of the trace.
 *
 * Each text that a user, a program or the machine chose has the mark in it, so a search for the
 * mark in the bytes of the copy, which is not compressed, finds any that is left.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <trace/user_memory.h>
#include <unistd.h>

#include "image.h"
#include "unit.h"

enum { MOST_BYTES = 64 << 20, USER = 4711 };

#define MARK	"Zq7"
#define PROGRAM "Zq7payroll"

static const unsigned char remote[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 203, 0, 113, 77};

/* ---- a trace with names of all kinds ---- */

static void name_numbers(struct tb *tb)
{
	static const struct {
		enum trace_string_space space;
		uint64_t key;
		const char *text;
	} names[] = {
		{TRACE_STRING_INFO, TRACE_INFO_HOST, "Zq7host.example.com"},
		{TRACE_STRING_INFO, TRACE_INFO_KERNEL, "6.18.2-Zq7corp"},
		{TRACE_STRING_INFO, TRACE_INFO_COMMAND, "./" PROGRAM " --key=Zq7key Zq7argument"},
		{TRACE_STRING_INFO, TRACE_INFO_BOOT_ID, "Zq7boot"},
		{TRACE_STRING_INFO, TRACE_INFO_MACHINE, "x86_64"},
		{TRACE_STRING_IRQ, 9, "Zq7card-rx-0"},
		{TRACE_STRING_NOT_TRACED, 0, "sock_send: Zq7 has no such probe"},
		{TRACE_STRING_NOT_TRACED, 1, "./Zq7program: it has no function Zq7"},
		{TRACE_STRING_DEVICE, 0x800001, "Zq7disk1"},
		{TRACE_STRING_DEVICE, 0x800002, "vda1"},
		{TRACE_STRING_NETDEV, 3, "Zq7vpn0"},
		{TRACE_STRING_NETDEV, 1, "lo"},
		{TRACE_STRING_BUILD_ID, 0, "8 99 Zq7build"},
		{TRACE_STRING_SYSCALL, SYS_read, "read"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		tb_string(tb, names[i].space, names[i].key, names[i].text);
}

static void describe_start(struct tb *tb)
{
	struct trace_start_exe exe = {.tgid = 42};
	struct trace_start_args args = {.tgid = 42, .bytes = 400};
	struct trace_start_map map = {.tgid = 42, .start = 0x1000, .end = 0x2000};
	struct trace_start_irq irq = {.irq = 9};
	struct trace_start_cgroup cgroup = {.cgroup = 77};
	struct trace_start_thread thread = {.tid = 43, .tgid = 43, .ppid = 42, .uid = USER, .gid = USER, .nr = -1};
	struct trace_start_socket socket = {.tgid = 42, .fd = 5, .ino = 500, .family = AF_INET, .remote_port = 5432};

	memcpy(&socket.remote_hi, remote, 8);
	memcpy(&socket.remote_lo, remote + 8, 8);
	tb_thread(tb, 42, 42, 1, PROGRAM, 0, true);
	tb_start(tb, 1000, TRACE_EV_start_thread, &thread, sizeof(thread), "Zq7worker");
	tb_start(tb, 1000, TRACE_EV_start_exe, &exe, sizeof(exe), "/home/Zq7user/bin/" PROGRAM);
	tb_start(tb, 1000, TRACE_EV_start_args, &args, sizeof(args), "./" PROGRAM "\x1f--key=Zq7key\x1fZq7x/Zq7y");
	tb_start(tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/opt/Zq7corp/libZq7.so (deleted)");
	tb_start(tb, 1000, TRACE_EV_start_irq, &irq, sizeof(irq), "Zq7card-rx-0");
	tb_start(tb, 1000, TRACE_EV_start_cgroup, &cgroup, sizeof(cgroup), "/system.slice/Zq7.service");
	tb_start(tb, 1000, TRACE_EV_start_socket, &socket, sizeof(socket), NULL);
	tb_fd(tb, 42, 3, 1, 99, 0100644, "/home/Zq7user/Zq7file.xlsx");
	tb_fd(tb, 42, 4, 1, 98, 0010600, "pipe:[98]");
}

/* The event of a program: a number and two texts. */
struct checkout {
	uint32_t tid, pad;
	struct user_reference customer, secret;
	int64_t amount;
	char text[32];
};

static uint16_t checkout_type(struct tb *tb, enum trace_event_role role, const char *name)
{
	static const struct trace_field fields[] = {
		{"Zq7customer", offsetof(struct checkout, customer), 4, false, TRACE_KIND_STRING},
		{"Zq7secret", offsetof(struct checkout, secret), 4, false, TRACE_KIND_BYTES},
		{"Zq7amount", offsetof(struct checkout, amount), 8, true, TRACE_KIND_DEC}};
	const struct trace_event_type type = {.name = name,
					      .text = "Zq7 {Zq7customer}",
					      .doc = "Zq7 doc",
					      .source = "Zq7.c:12",
					      .classic = "NONE",
					      .program = "NONE",
					      .fields = fields,
					      .nr_fields = 3,
					      .fixed_bytes = offsetof(struct checkout, text),
					      .has_string = true,
					      .category = TRACE_CATEGORY_USER,
					      .flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
					      .role = role};

	return tb_user_type(tb, &type);
}

static void check_out(struct tb *tb, uint64_t ns, uint16_t id)
{
	const struct checkout event = {.tid = 42,
				       .customer = {offsetof(struct checkout, text), 11},
				       .secret = {offsetof(struct checkout, text) + 11, 9},
				       .amount = 1234567,
				       .text = "Zq7customerZq7secret"};

	tb_user_event(tb, 0, ns, id, &event, offsetof(struct checkout, text) + 20);
}

/* The memory of an argument, of which the event has the first 22 of 4000 bytes. */
static void copy_memory(struct tb *tb, uint64_t ns)
{
	struct {
		struct trace_sys_data data;
		char content[24];
	} payload = {{.argument = 1, .bytes = 4000}, "password=Zq7secret\0Zq7"};

	payload.data.content = sizeof(payload.data) | 22u << 16;
	tb_event(tb, 0, ns, TRACE_EV_sys_data, &payload, sizeof(payload), NULL);
}

static struct tb *named_trace(void)
{
	struct tb *tb = tb_new();
	uint16_t begin = checkout_type(tb, TRACE_ROLE_BEGIN, "Zq7shop:Zq7checkout.begin"),
		 end = checkout_type(tb, TRACE_ROLE_END, "Zq7shop:Zq7checkout.end");
	uint64_t ns = 2000;

	name_numbers(tb);
	describe_start(tb);
	for (int i = 0; i < 3; i++, ns += 10000) {
		struct trace_sock_endpoints ends = {.fd = 6, .ino = 600, .family = AF_INET, .remote_port = 80};
		struct trace_sched_ids ids = {.tid = 42, .tgid = 42, .ppid = 1, .uid = USER, .gid = 0};

		memcpy(&ends.remote_hi, remote, 8);
		memcpy(&ends.remote_lo, remote + 8, 8);
		tb_cut(tb, 0);
		tb_switch(tb, 0, ns, 0, 42, 0);
		tb_sys_enter(tb, 0, ns + 10, SYS_read, 3, 0x7ffe0000, 4096);
		copy_memory(tb, ns + 15);
		tb_sys_path(tb, 0, ns + 20, SYS_openat, "../Zq7relative/Zq7file.xlsx");
		tb_sys_exit(tb, 0, ns + 30, 55);
		tb_open(tb, 0, ns + 40, 7, 1, 70, 0100644, "/home/Zq7user/Zq7relative/Zq7file.xlsx");
		tb_event(tb, 0, ns + 50, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
		tb_event(tb, 0, ns + 60, TRACE_EV_sched_ids, &ids, sizeof(ids), NULL);
		tb_fork(tb, 0, ns + 70, 42, 50 + (uint32_t)i, 50 + (uint32_t)i, PROGRAM);
		tb_comm(tb, 0, ns + 80, 42, "Zq7renamed");
		tb_comm(tb, 0, ns + 81, 42, "kworker/1:2-Zq7q");
		tb_exec(tb, 0, ns + 90, 42, "/home/Zq7user/bin/" PROGRAM);
		tb_add(tb, 0, ns + 91, sched_args, "python3\x1f-u\x1f/srv/Zq7app.py\x1f--Zq7", .tid = 42, .bytes = 30);
		tb_add(tb, 0, ns + 92, cgroup_attach, "/Zq7pod/Zq7container", .cgroup = 78, .tid = 42);
		tb_add(tb, 0, ns + 93, trace_mark, "Zq7 mark");
		tb_add(tb, 0, ns + 94, trace_select, "Zq7shop:*");
		tb_add(tb, 0, ns + 95, user_stream, "/home/Zq7user/bin/" PROGRAM, .stream = TB_USER_STREAM, .pid = 42,
		       .uid = USER);
		tb_switch(tb, 0, ns + 1000, 42, 0, 1);
		check_out(tb, ns + 100, begin);
		check_out(tb, ns + 200, end);
	}
	tb_lost(tb, 0, 17);
	tb_switch(tb, 0, ns, 0, 42, 0);
	return tb;
}

/* ---- the copy ---- */

struct copy {
	int fd;
	char *bytes;
	size_t size;
	struct trace *trace;
};

static struct copy copy_of(const struct trace *trace)
{
	struct copy copy = {.fd = memfd_create("copy", MFD_CLOEXEC)};

	CU_ASSERT_EQUAL(trace_write_anonymous(trace, copy.fd, MOST_BYTES, NULL), 0);
	copy.size = (size_t)lseek(copy.fd, 0, SEEK_END);
	copy.bytes = mmap(NULL, copy.size, PROT_READ, MAP_SHARED, copy.fd, 0);
	copy.trace = trace_open_memory(copy.bytes, copy.size, "copy", NULL);
	return copy;
}

static void copy_free(struct copy *copy)
{
	trace_close(copy->trace);
	munmap(copy->bytes, copy->size);
	close(copy->fd);
}

static bool has_mark(const struct copy *copy)
{
	return memmem(copy->bytes, copy->size, MARK, strlen(MARK));
}

static void a_copy_has_no_recorded_name(void)
{
	struct tb *tb = named_trace();
	struct trace *trace = tb_open_trace(tb);
	struct copy copy = copy_of(trace);
	const struct trace_info *info = trace_get_info(copy.trace);

	CU_ASSERT_FALSE(has_mark(&copy));
	CU_ASSERT_EQUAL(trace_verify(copy.trace, NULL), 0);
	CU_ASSERT_STRING_EQUAL(info->host, "host");
	CU_ASSERT_STRING_EQUAL(info->kernel, "6.18.2");
	CU_ASSERT_STRING_EQUAL(trace_string(copy.trace, TRACE_STRING_NETDEV, 1), "lo");
	CU_ASSERT_STRING_EQUAL(trace_string(copy.trace, TRACE_STRING_DEVICE, 0x800002), "vda1");
	CU_ASSERT_STRING_EQUAL(trace_string(copy.trace, TRACE_STRING_SYSCALL, SYS_read), "read");
	CU_ASSERT_PTR_NULL(trace_string(copy.trace, TRACE_STRING_INFO, TRACE_INFO_BOOT_ID));
	CU_ASSERT_EQUAL(info->events, trace_get_info(trace)->events);
	CU_ASSERT_EQUAL(info->lost, trace_get_info(trace)->lost);
	copy_free(&copy);
	trace_close(trace);
	tb_free(tb);
}

static bool may_differ(const struct trace_field *field)
{
	return field->kind == TRACE_KIND_ADDR || field->kind == TRACE_KIND_STRING || field->kind == TRACE_KIND_BYTES ||
	       strcmp(field->name, "uid") == 0 || strcmp(field->name, "gid") == 0 || strcmp(field->name, "bytes") == 0;
}

static void compare_fields(const struct trace_event *a, const struct trace_event *b)
{
	CU_ASSERT_EQUAL_FATAL(a->id, b->id);
	CU_ASSERT_EQUAL(a->ts_ns, b->ts_ns);
	CU_ASSERT_EQUAL(a->cpu, b->cpu);
	CU_ASSERT_EQUAL(a->type->role, b->type->role);
	CU_ASSERT_EQUAL(*trace_event_string(a) == 0, *trace_event_string(b) == 0);
	for (uint16_t i = 0; i < a->type->nr_fields; i++)
		if (a->type->fields[i].bytes && !may_differ(&a->type->fields[i]))
			CU_ASSERT_EQUAL(trace_event_u64(a, &a->type->fields[i]),
					trace_event_u64(b, &b->type->fields[i]));
}

static void all_numbers_stay(void)
{
	struct tb *tb = named_trace();
	struct trace *trace = tb_open_trace(tb);
	struct copy copy = copy_of(trace);
	struct trace_cursor *a = trace_cursor_new(trace, NULL, NULL), *b = trace_cursor_new(copy.trace, NULL, NULL);
	const struct trace_event *event;
	size_t nr = 0;

	for (; (event = trace_cursor_next(a)); nr++)
		compare_fields(event, trace_cursor_next(b));
	CU_ASSERT_PTR_NULL(trace_cursor_next(b));
	CU_ASSERT_TRUE(nr > 50);
	CU_ASSERT_EQUAL(trace_cursor_end(a, NULL), 0);
	CU_ASSERT_EQUAL(trace_cursor_end(b, NULL), 0);
	copy_free(&copy);
	trace_close(trace);
	tb_free(tb);
}

/* Stacks are stored as differences, and read as they were: addresses name nothing. */
static void stacks_stay(void)
{
	enum { NR = 300, CALLERS = 6 };
	struct tb *tb = tb_new();
	struct trace_cursor *cursor;
	const struct trace_event *event;
	struct trace *trace;
	struct copy copy;
	uint64_t nr = 0;

	for (uint64_t i = 0; i < NR; i++) {
		struct {
			struct trace_sample sample;
			uint64_t callers[CALLERS];
		} payload = {.sample = {.tid = 7, .certain = 4, .ip = 0x401000 + i % 13}};

		payload.sample.kernel = sizeof(payload.sample) | 16 << 16;
		payload.sample.user = (sizeof(payload.sample) + 16) | 32 << 16;
		for (uint64_t k = 0; k < CALLERS; k++)
			payload.callers[k] = 0x400000 * (k + 1) + i / (k + 2);
		tb_event(tb, 0, 1000 * (i + 1), TRACE_EV_sample, &payload, sizeof(payload), NULL);
	}
	trace = tb_open_trace(tb);
	copy = copy_of(trace);
	cursor = trace_cursor_new(copy.trace, NULL, NULL);
	for (; (event = trace_cursor_next(cursor)); nr++) {
		const struct trace_sample *sample = event->payload;
		uint64_t callers[CALLERS];

		CU_ASSERT_EQUAL_FATAL(event->id, TRACE_EV_sample);
		memcpy(callers, sample + 1, sizeof(callers));
		CU_ASSERT(sample->tid == 7 && sample->certain == 4 && sample->ip == 0x401000 + nr % 13);
		for (uint64_t k = 0; k < CALLERS; k++)
			CU_ASSERT_EQUAL(callers[k], 0x400000 * (k + 1) + nr / (k + 2));
	}
	CU_ASSERT_EQUAL(nr, NR);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	copy_free(&copy);
	trace_close(trace);
	tb_free(tb);
}

/* Not even the pseudonyms of equal contents are there; the number of bytes is. */
static void the_memory_of_arguments_is_left_out(void)
{
	struct tb *tb = named_trace();
	struct trace *trace = tb_open_trace(tb);
	struct copy copy = copy_of(trace);
	struct trace_cursor *cursor = trace_cursor_new(copy.trace, NULL, NULL);
	const struct trace_event *event;
	size_t nr = 0, bytes;

	while ((event = trace_cursor_next(cursor))) {
		const struct trace_sys_data *data = event->payload;

		if (event->id != TRACE_EV_sys_data)
			continue;
		CU_ASSERT_PTR_NOT_NULL(trace_event_bytes(event, trace_type_field(event->type, "content"), &bytes));
		CU_ASSERT_EQUAL(bytes, 0);
		CU_ASSERT_EQUAL(data->argument, 1);
		CU_ASSERT_EQUAL(data->bytes, 4000);
		nr++;
	}
	CU_ASSERT_EQUAL(nr, 3);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	copy_free(&copy);
	trace_close(trace);
	tb_free(tb);
}

/* ---- pseudonyms ---- */

/* The texts and numbers of the last event of each kind in the copy. */
struct found {
	char comm[64], path[256], open[256], exec[256], exe[256], args[256], name[64], customer[64];
	unsigned char address[16];
	uint32_t uid, args_bytes;
	int64_t amount;
};

static void take_user(const struct trace_event *event, struct found *found)
{
	size_t bytes;
	const char *text = trace_event_bytes(event, &event->type->fields[0], &bytes);

	snprintf(found->customer, sizeof(found->customer), "%.*s", (int)bytes, text);
	snprintf(found->name, sizeof(found->name), "%s", event->type->name);
	found->amount = (int64_t)trace_event_u64(event, &event->type->fields[2]);
}

static void take(const struct trace_event *event, struct found *found)
{
	const struct {
		uint32_t id;
		char *text;
	} texts[] = {{TRACE_EV_sched_comm, found->comm}, {TRACE_EV_sys_path, found->path},
		     {TRACE_EV_fs_open, found->open},	 {TRACE_EV_sched_exec, found->exec},
		     {TRACE_EV_user_stream, found->exe}, {TRACE_EV_sched_args, found->args}};
	const struct trace_sock_endpoints *ends = event->payload;
	const struct trace_sched_args *args = event->payload;

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (event->id == texts[i].id)
			strcpy(texts[i].text, trace_event_string(event));
	if (event->id == TRACE_EV_sched_ids) {
		found->uid = ((const struct trace_sched_ids *)event->payload)->uid;
	} else if (event->id == TRACE_EV_sched_args) {
		found->args_bytes = args->bytes;
	} else if (event->id == TRACE_EV_sock_endpoints) {
		memcpy(found->address, &ends->remote_hi, 8);
		memcpy(found->address + 8, &ends->remote_lo, 8);
	} else if (event->id >= TRACE_EV_MAX) {
		take_user(event, found);
	}
}

static const char *last_part(const char *path)
{
	return strrchr(path, '/') + 1;
}

static void a_name_has_one_pseudonym(void)
{
	struct tb *tb = named_trace();
	struct trace *trace = tb_open_trace(tb);
	struct copy copy = copy_of(trace);
	struct trace_cursor *cursor = trace_cursor_new(copy.trace, NULL, NULL);
	const struct trace_event *event;
	struct found found = {0};
	const char *command = trace_string(copy.trace, TRACE_STRING_INFO, TRACE_INFO_COMMAND);
	char address[INET_ADDRSTRLEN];

	while ((event = trace_cursor_next(cursor)))
		take(event, &found);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	CU_ASSERT_STRING_EQUAL(found.comm, "kworker/1:2");
	/* the program, its file and the command */
	CU_ASSERT_STRING_EQUAL(found.exe, found.exec);
	CU_ASSERT_STRING_EQUAL(last_part(found.exec), last_part(command));
	/* a file stays in its folder, and a path that was given leads to it */
	CU_ASSERT_EQUAL(strncmp(found.exec, "/home/", 6), 0);
	CU_ASSERT_EQUAL(strncmp(found.open, found.exec, strcspn(found.exec + 6, "/") + 7), 0);
	CU_ASSERT_EQUAL(strncmp(found.path, "../", 3), 0);
	CU_ASSERT_STRING_EQUAL(found.open + strlen(found.open) - strlen(found.path + 3), found.path + 3);
	CU_ASSERT_EQUAL(strncmp(found.args, "python3\x1f-u\x1f/srv/file-", 20), 0);
	CU_ASSERT_TRUE(found.args_bytes == strlen(found.args));
	CU_ASSERT_STRING_EQUAL(found.name, "provider-1:event-1.end");
	CU_ASSERT_EQUAL(strncmp(found.customer, "text-", 5), 0);
	CU_ASSERT_EQUAL(found.amount, 1234567);
	inet_ntop(AF_INET, found.address + 12, address, sizeof(address));
	CU_ASSERT_STRING_EQUAL(address, "198.18.0.1");
	CU_ASSERT_EQUAL(found.uid, 1001);
	copy_free(&copy);
	trace_close(trace);
	tb_free(tb);
}

/* ---- damage ---- */

static void a_damaged_trace_gives_no_name_away(void)
{
	size_t step = getenv("TRACE_TEST_LONG") ? 1 : 61;
	struct tb *tb = named_trace();
	struct image image = image_new(tb, true);

	for (size_t at = 0; at < image.bytes; at += step) {
		unsigned char bit = (unsigned char)(1 << at % 8);
		struct image damaged;
		struct trace *trace;

		image.data[at] ^= bit;
		damaged = image_of(image.data, at % 3 ? image.bytes : image.bytes - at / 2);
		image.data[at] ^= bit;
		trace = trace_open(damaged.path, NULL);
		if (trace) {
			struct copy copy = copy_of(trace);

			CU_ASSERT_FALSE(has_mark(&copy));
			CU_ASSERT_PTR_NOT_NULL(copy.trace);
			if (copy.trace)
				CU_ASSERT_TRUE(trace_get_info(copy.trace)->events <= trace_get_info(trace)->events);
			copy_free(&copy);
		}
		trace_close(trace);
		image_free(&damaged);
	}
	image_free(&image);
	tb_free(tb);
}

/* A recorder without compression writes names as they are, also into what it could not finish. */
static void bytes_that_are_not_understood_are_zeros(void)
{
	struct tb *tb = named_trace();
	struct trace *trace = tb_open_trace(tb);
	int fd = memfd_create("plain", MFD_CLOEXEC);
	struct image plain;
	char *bytes;
	size_t size;

	CU_ASSERT_EQUAL(trace_write_unpacked(trace, fd, MOST_BYTES, NULL), 0);
	size = (size_t)lseek(fd, 0, SEEK_END);
	bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, fd, 0);
	CU_ASSERT_PTR_NOT_NULL(memmem(bytes, size, MARK, strlen(MARK)));
	for (size_t cut = 0; cut < 3; cut++) {
		struct trace *cut_trace;

		plain = image_of(bytes, size - cut * (size / 3));
		for (size_t i = 0; i < 4; i++) {
			image_spoil(&plain, TRACE_CHUNK_EVENTS, i);
			image_spoil(&plain, TRACE_CHUNK_STRINGS, i);
		}
		cut_trace = trace_open(plain.path, NULL);
		CU_ASSERT_PTR_NOT_NULL(cut_trace);
		if (cut_trace) {
			struct copy copy = copy_of(cut_trace);

			CU_ASSERT_FALSE(has_mark(&copy));
			CU_ASSERT_EQUAL(trace_nr_gaps(copy.trace), trace_nr_gaps(cut_trace));
			copy_free(&copy);
		}
		trace_close(cut_trace);
		image_free(&plain);
	}
	munmap(bytes, size);
	close(fd);
	trace_close(trace);
	tb_free(tb);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_copy_has_no_recorded_name),
		CASE(all_numbers_stay),
		CASE(stacks_stay),
		CASE(the_memory_of_arguments_is_left_out),
		CASE(a_name_has_one_pseudonym),
		CASE(a_damaged_trace_gives_no_name_away),
		CASE(bytes_that_are_not_understood_are_zeros),
		{NULL, NULL},
	};

	return unit_main("trace_write_anonymous", cases, argc, argv);
}
