/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * fuzz_reader.c - libFuzzer target: any bytes as a trace.
 *
 *	TRACE_FUZZ_SEEDS=seeds fuzz_reader -runs=0 && fuzz_reader seeds
 *
 * Sizes and checksums are repaired and compression is taken away first, so that mutations reach the columns, the books and the
 * schema instead of stopping at the first checksum. With TRACE_FUZZ_SEEDS small traces to begin with are written there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "image.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MOST_BYTES = 1 << 20 };

/* ---- seeds ---- */

/* The trace with all payloads as they are before compression, and without an index. */
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

static void seed_write(struct tb *tb, const char *folder, int nr)
{
	struct image image = image_new(tb, true);
	unsigned char *data = malloc(MOST_BYTES);
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/seed%d", folder, nr);
	file = fopen(path, "we");
	if (file) {
		fwrite(data, 1, unpack_all(&image, data), file);
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

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	const char *folder = getenv("TRACE_FUZZ_SEEDS");

	(void)argc;
	(void)argv;
	if (folder) {
		seed_write(seed_small(), folder, 0);
		seed_write(seed_dictionary(), folder, 1);
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

static void read_everything(const struct trace *trace)
{
	struct trace_cursor *cursor = trace_cursor_new(trace, NULL, NULL);
	const struct trace_event *event;
	struct trace_error error;
	char text[512];

	for (uint32_t i = 0; (event = trace_cursor_next(cursor)); i++) {
		for (size_t j = 0; j < event->type->nr_fields; j++)
			trace_event_u64(event, &event->type->fields[j]);
		if (i < 1000)
			trace_event_format(trace, event, text, sizeof(text));
	}
	trace_cursor_seek(cursor, trace_get_info(trace)->start_ns / 2 + trace_get_info(trace)->end_ns / 2);
	trace_cursor_next(cursor);
	trace_cursor_free(cursor);
	trace_verify(trace, &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned char *copy;
	struct image image;
	struct trace *trace;

	if (size < sizeof(struct trace_file_header) || size > MOST_BYTES)
		return 0;
	copy = malloc(size);
	memcpy(copy, data, size);
	repair_header(copy);
	for (size_t at = sizeof(struct trace_file_header); size - at >= sizeof(struct trace_chunk_header);)
		at = repair_chunk(copy, size, at);
	image = image_of(copy, size);
	free(copy);
	trace = trace_open(image.path, NULL);
	if (trace)
		read_everything(trace);
	trace_close(trace);
	image_free(&image);
	return 0;
}
