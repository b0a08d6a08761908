/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_html.c - the self-contained page.
 *
 * The trace goes into it without the compression of its chunks, and compressed as a whole (gzip),
 * which is smaller, and which a browser unpacks itself. The engine, the trace and all scripts but
 * one are the texts of elements that a browser does not run. So nothing in a trace can become a
 * part of the page: the policy allows the script with the digest of web/loader.js only, and what
 * that one makes itself. The page asks no server for anything.
 */
#include <errno.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <trace/writer.h>
#include <unistd.h>
#include "checked_memory.h"
#include "complain.h"
#include "json.h"
#include "number_text.h"
#include "packed.h"
#include "page_engine.h"
#include "report_html.h"
#include "whole_file.h"

#define UNPACKED_TIMES 64u	   /* a trace that needs more than that many sizes of its page is refused early */
#define PIECE_BYTES    (48u << 10) /* a multiple of 3: base64 has no padding inside */

/* ---- the trace ---- */

static int too_large(const struct visualizer_options *options)
{
	return complain(
		1,
		"the page would have more than %s, and nothing was written: --max-size allows more, tracevisualizer "
		"--view shows the trace without a page, and a shorter recording makes a smaller one",
		number_bytes(options->max_size).s);
}

static int pack_trace(const struct trace *trace, const struct visualizer_options *options, struct packed *ret_packed)
{
	int fd = memfd_create("page", MFD_CLOEXEC), result = 0;
	struct trace_error error = {0};
	off_t bytes;
	void *raw;

	if (fd < 0)
		return complain(1, "no memory for the page: %s", strerror(errno));
	if ((options->anonymous ? trace_write_anonymous
				: trace_write_unpacked)(trace, fd, options->max_size * UNPACKED_TIMES, &error) < 0)
		result = error.code == -EFBIG ? too_large(options) : complain_of_error(&error);
	bytes = lseek(fd, 0, SEEK_END);
	raw = result ? MAP_FAILED : mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (!result && raw == MAP_FAILED)
		result = complain(1, "no memory for the page: %s", strerror(errno));
	/* three quarters: base64 needs four characters for three bytes */
	if (!result && !packed_make(raw, (size_t)bytes, options->max_size / 4 * 3, ret_packed))
		result = too_large(options);
	if (raw != MAP_FAILED)
		munmap(raw, (size_t)bytes);
	close(fd);
	return result;
}

/* ---- the page ---- */

static void put_base64(FILE *out, const char *id, const void *bytes, size_t size)
{
	char text[PIECE_BYTES / 3 * 4 + 8];

	fprintf(out, "<script type=\"application/octet-stream\" id=\"%s\">", id);
	for (size_t at = 0; at < size; at += PIECE_BYTES) {
		size_t piece = size - at < PIECE_BYTES ? size - at : PIECE_BYTES, length;
		gint state = 0, save = 0;

		length = g_base64_encode_step((const guchar *)bytes + at, piece, FALSE, text, &state, &save);
		length += g_base64_encode_close(FALSE, text + length, &state, &save);
		fwrite(text, 1, length, out);
	}
	fputs("</script>\n", out);
}

static void put_text(FILE *out, const struct page_file *file, const char *attribute)
{
	fprintf(out, "<script type=\"text/plain\" id=\"%s\"%s>\n", file->name, attribute);
	fwrite(file->bytes, 1, file->size, out);
	fputs("</script>\n", out);
}

/* Are all modules that @file imports among those with a bit in @done? */
static bool imports_are_done(const struct page_file *file, uint64_t done)
{
	for (size_t i = 0; page_file_at(i); i++) {
		char import[128];

		snprintf(import, sizeof(import), "from \"./%s\"", page_file_at(i)->name);
		if (!(done >> i & 1) && memmem(file->bytes, file->size, import, strlen(import)))
			return false;
	}
	return true;
}

static bool is_module(const struct page_file *file)
{
	return strcmp(strrchr(file->name, '.'), ".js") == 0;
}

/* A module comes after those that it imports. */
static void put_modules(FILE *out)
{
	uint64_t done = 0, before;

	do {
		before = done;
		for (size_t i = 0; page_file_at(i) && i < 64; i++) {
			struct page_file file = *page_file_at(i);

			if ((done >> i & 1) || !is_module(&file) || !imports_are_done(&file, done))
				continue;
			put_text(out, &file, " data-module");
			done |= 1ull << i;
		}
	} while (done != before);
}

static void put_policy(FILE *out)
{
	const struct page_file *loader = page_loader();
	GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
	guint8 digest[32];
	gsize bytes = sizeof(digest);
	gchar *text;

	g_checksum_update(checksum, (const guchar *)loader->bytes, (gssize)loader->size);
	g_checksum_get_digest(checksum, digest, &bytes);
	text = g_base64_encode(digest, bytes);
	fprintf(out,
		"<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'sha256-%s' "
		"blob: "
		"'wasm-unsafe-eval'; worker-src blob:; img-src data:; base-uri 'none'; form-action 'none'\">\n",
		text);
	g_free(text);
	g_checksum_free(checksum);
}

/* In a script element "</script" would end the name. */
static void put_name(FILE *out, const char *path)
{
	const char *slash = strrchr(path, '/');
	char *json = NULL;
	size_t size;
	FILE *memory = open_memstream(&json, &size);

	if (!memory)
		memory_end();
	json_string(&(struct json){.out = memory}, slash ? slash + 1 : path);
	if (fclose(memory) != 0)
		memory_end();
	fputs("<script type=\"application/json\" id=\"trace-name\">", out);
	for (const char *at = json; *at; at++)
		if (*at == '<')
			fputs("\\u003c", out);
		else
			putc(*at, out);
	fputs("</script>\n", out);
	free(json);
}

/* The window that the page is about; 0: it has no such end. */
static void put_window(FILE *out, const struct time_window *window)
{
	fprintf(out,
		"<script type=\"application/json\" id=\"trace-window\">{\"from_ns\":\"%llu\",\"to_ns\":\"%llu\"}"
		"</script>\n",
		window->has_from ? (unsigned long long)window->from_ns : 0,
		window->has_to ? (unsigned long long)window->to_ns : 0);
}

static void put_parts(FILE *out, const char *name, const struct time_window *window, const struct packed *packed)
{
	const struct page_file *loader = page_loader(), *engine = page_engine();

	put_text(out, page_file("style.css"), "");
	put_modules(out);
	put_text(out, page_worker(), "");
	put_name(out, name);
	put_window(out, window);
	put_base64(out, "engine", engine->bytes, engine->size);
	put_base64(out, "trace-data", packed->bytes, packed->size);
	fputs("<script>", out);
	fwrite(loader->bytes, 1, loader->size, out);
	fputs("</script>\n", out);
}

/* The lines of index.html; those that name other files are left out. */
static void put_page(FILE *out, const char *name, const struct time_window *window, const struct packed *packed)
{
	const struct page_file *index = page_file("index.html");
	const char *end = index->bytes + index->size;

	for (const char *line = index->bytes, *next; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t bytes = (size_t)((stop ? stop + 1 : end) - line);

		next = line + bytes;
		if (memmem(line, bytes, "rel=\"stylesheet\"", 16) || memmem(line, bytes, "type=\"module\"", 13))
			continue;
		if (memmem(line, bytes, "</body>", 7))
			put_parts(out, name, window, packed);
		fwrite(line, 1, bytes, out);
		if (memmem(line, bytes, "<meta charset", 13))
			put_policy(out);
	}
}

int report_html(const struct trace *trace, const struct time_window *window, const struct visualizer_options *options)
{
	struct packed packed = {0};
	struct whole_file file;
	int result, error;
	long size;

	if (!page_engine())
		return complain(1,
				"--html is not in this program: it was built without clang-14, lld-14, wasi-libc and "
				"libclang-rt-14-dev-wasm32; tracevisualizer --view shows the trace");
	result = pack_trace(trace, options, &packed);
	if (result)
		return result;
	error = whole_file_open(&file, options->html);
	if (error)
		return complain(1, "%s cannot be written: %s", options->html, strerror(-error));
	put_page(file.out, options->anonymous ? "anonymous" : trace_get_info(trace)->file, window, &packed);
	size = ftell(file.out);
	if (file.path && size > 0 && (uint64_t)size > options->max_size)
		result = too_large(options);
	error = whole_file_close(&file, !result);
	free(packed.bytes);
	if (error && !result)
		result = complain(1, "%s could not be written completely: %s", options->html, strerror(-error));
	return result;
}
