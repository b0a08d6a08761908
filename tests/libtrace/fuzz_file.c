/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz_file.c - any bytes as a trace file, for libFuzzer targets. fuzz_trace() of the target uses
 * the trace.
 *
 * 	TRACE_FUZZ_SEEDS=seeds fuzz_reader -runs=0 && fuzz_reader seeds
 *
 * The file's sizes and checksums are repaired first, and its compression is removed, so that
 * mutations reach the columns, the loss ledger and the schema instead of ending at the first
 * checksum. With TRACE_FUZZ_SEEDS small traces to start with are written there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "fuzz_file.h"
#include "image.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1 << 20 };

/* The bytes before the input: the file header, and the catalogue's schema if a target wants it
 * unchanged. */
static unsigned char prefix[128 << 10];
static size_t prefix_bytes;

/* ---- seeds ---- */

/* The trace with all payloads uncompressed, and without an index. */
static size_t unpack_all(const struct image *image, unsigned char *out)
{
	unsigned char *begin = out;
	struct trace_chunk_header header;
	long at;

	out = mempcpy(out, image->data, sizeof(struct trace_file_header));
	for (size_t i = 0; (at = image_chunk(image, i, &header)) >= 0 && header.kind != TRACE_CHUNK_INDEX; i++) {
		const unsigned char *payload = image->data + at + header.header_bytes;
		unsigned char *copy = out;

		out += header.header_bytes;
		if (header.compression == TRACE_COMPRESSION_ZSTD)
			out += ZSTD_decompress(out, header.raw_bytes, payload, header.packed_bytes);
		else
			out = mempcpy(out, payload, header.packed_bytes);
		header.compression = TRACE_COMPRESSION_NONE;
		header.packed_bytes = header.raw_bytes;
		memcpy(copy, &header, sizeof(header));
	}
	return (size_t)(out - begin);
}

static void prefix_new(void)
{
	unsigned char *data = malloc(MOST_BYTES);
	struct trace_chunk_header header;
	struct tb *tb = tb_new();
	struct image image = image_new(tb, true);

	unpack_all(&image, data);
	memcpy(&header, data + sizeof(struct trace_file_header), sizeof(header));
	prefix_bytes = sizeof(struct trace_file_header) + header.header_bytes + header.packed_bytes;
	if (header.kind != TRACE_CHUNK_SCHEMA || prefix_bytes > sizeof(prefix))
		abort();
	memcpy(prefix, data, prefix_bytes);
	free(data);
	image_free(&image);
	tb_free(tb);
}

static void seed_write(struct tb *tb, const char *folder, int nr)
{
	struct image image = image_new(tb, true);
	unsigned char *data = malloc(MOST_BYTES);
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/seed%d", folder, nr);
	file = fopen(path, "we");
	if (file) {
		fwrite(data + prefix_bytes, 1, unpack_all(&image, data) - prefix_bytes, file);
		fclose(file);
	}
	free(data);
	image_free(&image);
	tb_free(tb);
}

static struct tb *seed_small(void)
{
	struct tb *tb = tb_new();

	tb_string(tb, TRACE_STRING_SYSCALL, 0, "read");
	tb_thread(tb, 42, 42, 1, "shell", 0, true);
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		tb_switch(tb, cpu, 1000 + cpu, 0, 42, 0);
		tb_exec(tb, cpu, 1500, 42, "/bin/true");
		tb_lost(tb, cpu, 3);
		tb_sys_exit(tb, cpu, 2000, -2);
	}
	return tb;
}

static struct tb *seed_dictionary(void)
{
	struct tb *tb = tb_new();

	for (uint64_t i = 0; i < 200; i++)
		tb_sys_enter(tb, 0, 1000 + i * i, i % 7, i, 0x7fff0000 + i * 4096, i % 3);
	return tb;
}

/* Threads that wait for each other in most of the possible ways, and a program's own events. */
static struct tb *seed_story(void)
{
	static const struct trace_field id = {"id", 4, 4, true, TRACE_KIND_DEC};
	struct trace_event_type type = {.name = "shop:order",
					.classic = "NONE",
					.text = "",
					.doc = "",
					.program = "NONE",
					.fields = &id,
					.nr_fields = 1,
					.fixed_bytes = 8,
					.category = TRACE_CATEGORY_USER,
					.flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
					.role = TRACE_ROLE_BEGIN,
					.source = "shop.c:1 main"};
	struct tb *tb = tb_new();
	uint32_t payload[2] = {11, 5};
	uint16_t begin, end;

	begin = tb_user_type(tb, &type);
	type.role = TRACE_ROLE_END;
	end = tb_user_type(tb, &type);
	tb_string(tb, TRACE_STRING_SYSCALL, 0, "read");
	tb_thread(tb, 10, 10, 1, "shell", 0, true);
	tb_thread(tb, 11, 11, 10, "server", 1, false);
	tb_fd(tb, 11, 0, 9, 77, 0010600, "pipe:[77]");
	tb_switch(tb, 1, 1000, 0, 11, 0);
	tb_user_event(tb, 1, 1050, begin, payload, sizeof(payload));
	tb_sys_enter(tb, 1, 1100, 0, 0, 0x1000, 64);
	tb_switch(tb, 1, 1200, 11, 0, 1);
	tb_irq(tb, 0, 1250, 30);
	tb_softirq(tb, 0, 1260, 3);
	tb_waking(tb, 0, 1270, 11, TRACE_CONTEXT_TASK);
	tb_softirq_exit(tb, 0, 1280, 3);
	tb_irq_exit(tb, 0, 1290, 30);
	tb_switch(tb, 1, 1300, 0, 11, 0);
	tb_sys_exit(tb, 1, 1400, 64);
	tb_user_event(tb, 1, 1450, end, payload, sizeof(payload));
	tb_fork(tb, 0, 1500, 10, 12, 12, "child");
	tb_switch(tb, 0, 1600, 10, 12, 0);
	tb_exec(tb, 0, 1650, 12, "/bin/true");
	tb_fault(tb, 0, 1700, 0x4000, true);
	tb_fault_end(tb, 0, 1750, true);
	tb_open(tb, 0, 1760, 3, 8, 99, 0100644, "/etc/passwd");
	tb_lost(tb, 1, 4);
	tb_exit(tb, 0, 1800, 12, 12, true);
	tb_switch(tb, 0, 1850, 12, 10, 0x80);
	tb_free_thread(tb, 0, 1900, 12);
	tb_comm(tb, 0, 1950, 10, "sh");
	return tb;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *folder = getenv("TRACE_FUZZ_SEEDS");

	(void)argc;
	(void)argv;
	if (fuzz_behind_schema)
		prefix_new();
	if (folder) {
		seed_write(seed_small(), folder, 0);
		seed_write(seed_dictionary(), folder, 1);
		seed_write(seed_story(), folder, 2);
	}
	return 0;
}

/* ---- one input ---- */

static void repair_header(unsigned char *data)
{
	struct trace_file_header header;

	memcpy(&header, data, sizeof(header));
	memcpy(header.magic, TRACE_FILE_MAGIC, TRACE_MAGIC_BYTES);
	header.version_major = TRACE_FORMAT_MAJOR;
	header.header_bytes = sizeof(header);
	header.trace_id = 1;
	header.checksum = XXH3_64bits(&header, offsetof(struct trace_file_header, checksum));
	memcpy(data, &header, sizeof(header));
}

/* Returns where the next chunk begins. */
static size_t repair_chunk(unsigned char *data, size_t size, size_t at)
{
	size_t room = size - at - sizeof(struct trace_chunk_header);
	struct trace_chunk_header header;

	memcpy(&header, data + at, sizeof(header));
	memcpy(header.magic, TRACE_CHUNK_MAGIC, TRACE_MAGIC_BYTES);
	header.header_bytes = sizeof(header);
	header.trace_id = 1;
	header.compression = TRACE_COMPRESSION_NONE;
	if (header.packed_bytes > room)
		header.packed_bytes = (uint32_t)room;
	header.raw_bytes = header.packed_bytes;
	header.payload_checksum = XXH3_64bits(data + at + sizeof(header), header.packed_bytes);
	header.checksum = XXH3_64bits(&header, offsetof(struct trace_chunk_header, checksum));
	memcpy(data + at, &header, sizeof(header));
	return at + sizeof(header) + header.packed_bytes;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t bytes = prefix_bytes + size;
	unsigned char *copy;
	struct trace *trace;

	if (bytes < sizeof(struct trace_file_header) || size > MOST_BYTES)
		return 0;
	copy = malloc(bytes);
	memcpy(copy, prefix, prefix_bytes);
	memcpy(copy + prefix_bytes, data, size);
	repair_header(copy);
	for (size_t at = sizeof(struct trace_file_header); bytes - at >= sizeof(struct trace_chunk_header);)
		at = repair_chunk(copy, bytes, at);
	/* In memory AddressSanitizer sees each byte that is read behind the trace. */
	trace = trace_open_memory(copy, bytes, "fuzz", NULL);
	if (trace)
		fuzz_trace(trace);
	trace_close(trace);
	free(copy);
	return 0;
}
