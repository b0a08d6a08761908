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
#include "page_part.h"
#include "page_policy.h"
#include "page_size.h"
#include "report_html.h"
#include "whole_file.h"

#define UNPACKED_TIMES 64u	   /* a trace that needs more than that many sizes of its page is refused early */
#define PIECE_BYTES    (48u << 10) /* a multiple of 3: base64 has no padding inside */

/* ---- the trace ---- */

/** struct html_page - one trace, or two under each other. @packed: what the page has of them */
struct html_page {
	const struct trace *traces[2];
	struct time_window windows[2];
	struct packed packed[2];
	size_t nr;
	bool is_anonymous;
};

static int pack_trace(const struct trace *trace, const struct html_page *page, const struct visualizer_options *options,
		      struct packed *ret_packed)
{
	int fd = memfd_create("page", MFD_CLOEXEC), result = 0;
	struct trace_error error = {0};
	size_t most = options->max_size / 4 * 3;
	off_t bytes;
	void *raw;

	if (fd < 0)
		return complain(1, "no memory for the page: %s", strerror(errno));
	if ((options->anonymous ? trace_write_anonymous
				: trace_write_unpacked)(trace, fd, options->max_size * UNPACKED_TIMES, &error) < 0)
		result = error.code == -EFBIG ? page_too_large(page->traces, page->windows, page->nr, options)
					      : complain_of_error(&error);
	bytes = lseek(fd, 0, SEEK_END);
	raw = result ? MAP_FAILED : mmap(NULL, (size_t)bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (!result && raw == MAP_FAILED)
		result = complain(1, "no memory for the page: %s", strerror(errno));
	/* three quarters: base64 needs four characters for three bytes */
	if (!result && !packed_make(raw, (size_t)bytes, most - page->packed[0].size, ret_packed))
		result = page_too_large(page->traces, page->windows, page->nr, options);
	if (raw != MAP_FAILED)
		munmap(raw, (size_t)bytes);
	close(fd);
	return result;
}

/* ---- the page ---- */

/*
 * The text of an element with a script element for each piece: a browser takes a third less time
 * to read them than one long text.
 */
static void put_base64(FILE *out, const char *id, const char *suffix, const void *bytes, size_t size)
{
	char text[PIECE_BYTES / 3 * 4 + 8];

	fprintf(out, "<div id=\"%s%s\" hidden>", id, suffix);
	for (size_t at = 0; at < size; at += PIECE_BYTES) {
		size_t piece = size - at < PIECE_BYTES ? size - at : PIECE_BYTES, length;
		gint state = 0, save = 0;

		length = g_base64_encode_step((const guchar *)bytes + at, piece, FALSE, text, &state, &save);
		length += g_base64_encode_close(FALSE, text + length, &state, &save);
		fputs("<script type=\"application/octet-stream\">", out);
		fwrite(text, 1, length, out);
		fputs("</script>", out);
	}
	fputs("</div>\n", out);
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

/* In a script element "</script" would end the name. */
static void put_name(FILE *out, const char *suffix, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct text_stream memory;
	char *json;

	json_string(&(struct json){.out = memory_stream_begin(&memory)}, slash ? slash + 1 : path);
	json = memory_stream_end(&memory, NULL);
	fprintf(out, "<script type=\"application/json\" id=\"trace-name%s\">", suffix);
	for (const char *at = json; *at; at++)
		if (*at == '<')
			fputs("\\u003c", out);
		else
			putc(*at, out);
	fputs("</script>\n", out);
	free(json);
}

/* The window that the page is about; 0: it has no such end. */
static void put_window(FILE *out, const char *suffix, const struct time_window *window)
{
	fprintf(out,
		"<script type=\"application/json\" id=\"trace-window%s\">{\"from_ns\":\"%llu\",\"to_ns\":\"%llu\"}"
		"</script>\n",
		suffix, window->has_from ? (unsigned long long)window->from_ns : 0,
		window->has_to ? (unsigned long long)window->to_ns : 0);
}

/* The lines of @index but those that name other files; @end is put before the end of its body. */
static void put_lines(FILE *out, const struct page_file *index, const struct html_page *page,
		      void (*put_end)(FILE *out, const struct html_page *page))
{
	const char *end = index->bytes + index->size;

	for (const char *line = index->bytes, *next; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t bytes = (size_t)((stop ? stop + 1 : end) - line);

		next = line + bytes;
		if (memmem(line, bytes, "rel=\"stylesheet\"", 16) || memmem(line, bytes, "type=\"module\"", 13))
			continue;
		if (put_end && memmem(line, bytes, "</body>", 7))
			put_end(out, page);
		fwrite(line, 1, bytes, out);
		if (put_end && memmem(line, bytes, "<meta charset", 13))
			page_policy_put(out, page_loader(),
					" blob: 'wasm-unsafe-eval'; worker-src blob:; img-src data:");
	}
}

/* The page of each of two traces, without scripts of its own: web/loader.js. */
static void put_frame_page(FILE *out)
{
	fputs("<script type=\"text/plain\" id=\"frame-page\">\n", out);
	put_lines(out, page_file("index.html"), NULL, NULL);
	fputs("</script>\n", out);
}

static void put_end(FILE *out, const struct html_page *page)
{
	static const char *const suffixes[] = {"-a", "-b"};
	const struct page_file *loader = page_loader(), *engine = page_engine();

	put_text(out, page_file("style.css"), "");
	put_modules(out);
	put_text(out, page_worker(), "");
	if (page->nr > 1)
		put_frame_page(out);
	put_base64(out, "engine", "", engine->bytes, engine->size);
	for (size_t i = 0; i < page->nr; i++) {
		const char *suffix = page->nr > 1 ? suffixes[i] : "";

		put_name(out, suffix, page->is_anonymous ? "anonymous" : trace_get_info(page->traces[i])->file);
		put_window(out, suffix, &page->windows[i]);
		put_base64(out, "trace-data", suffix, page->packed[i].bytes, page->packed[i].size);
	}
	fputs("<script>", out);
	fwrite(loader->bytes, 1, loader->size, out);
	fputs("</script>\n", out);
}

static int write_page(const struct html_page *page, const struct visualizer_options *options)
{
	struct whole_file file;
	int result = 0, error = whole_file_open(&file, options->html);
	long size;

	if (error)
		return complain(1, "%s cannot be written: %s", options->html, strerror(-error));
	put_lines(file.out, page_file(page->nr > 1 ? "pair.html" : "index.html"), page, put_end);
	size = ftell(file.out);
	if (file.path && size > 0 && (uint64_t)size > options->max_size)
		result = page_too_large(page->traces, page->windows, page->nr, options);
	error = whole_file_close(&file, !result);
	if (error && !result)
		result = complain(1, "%s could not be written completely: %s", options->html, strerror(-error));
	return result;
}

/* Packs trace @idx, or the part of it that the page needs. */
static int pack_part(struct html_page *page, size_t idx, const struct visualizer_options *options)
{
	struct page_part part = {0};
	int result = page_part_new(page->traces[idx], &page->windows[idx], options, &part);

	if (!result)
		result = pack_trace(part.trace ? part.trace : page->traces[idx], page, options, &page->packed[idx]);
	page_part_free(&part);
	return result;
}

int report_html(const struct trace *trace, const struct trace *other, const struct visualizer_options *options)
{
	struct html_page page = {.traces = {trace, other}, .nr = other ? 2 : 1, .is_anonymous = options->anonymous};
	int result = 0;

	if (!page_engine())
		return complain(1,
				"--html is not in this program: it was built without clang-14, lld-14, wasi-libc and "
				"libclang-rt-14-dev-wasm32; tracevisualizer --view shows the trace");
	for (size_t i = 0; i < page.nr && !result; i++)
		result = time_window_of(page.traces[i], &options->window, &page.windows[i]);
	if (!result && page_is_too_large(page.traces, page.windows, page.nr, options))
		result = page_too_large(page.traces, page.windows, page.nr, options);
	for (size_t i = 0; i < page.nr && !result; i++)
		result = pack_part(&page, i, options);
	if (!result)
		result = write_page(&page, options);
	for (size_t i = 0; i < page.nr; i++)
		free(page.packed[i].bytes);
	return result;
}
