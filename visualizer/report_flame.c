/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_flame.c - the flame graph: a page that needs nothing else.
 *
 * The profile is the text of an element that a browser does not run, and no character of a name can
 * end it. The policy allows the script with the digest of flame/flame.js only, and no address at
 * all.
 */
#include "report_flame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "complain.h"
#include "flame_page.h"
#include "json.h"
#include "page_policy.h"
#include "whole_file.h"

/* ---- hues: those of the view ---- */

/** struct hue - @light, @dark: colours of the class of time in page/classes.js */
struct hue {
	const char *name, *light, *dark;
};

/* The hues of blocked time follow, in the order of enum trace_wait_kind. */
enum { HUE_PROGRAM, HUE_USER, HUE_KERNEL, HUE_NOT_SAMPLED, HUE_INCOMPLETE, HUE_WAIT_CPU, HUE_REST, HUE_BLOCKED };

static const struct hue hues[] = {
	[HUE_PROGRAM] = {"program", "#d4d8dc", "#343a41"},
	[HUE_USER] = {"on a CPU: program", "#009e73", "#00a87b"},
	[HUE_KERNEL] = {"on a CPU: kernel", "#0072b2", "#2a86c4"},
	[HUE_NOT_SAMPLED] = {"on a CPU: not sampled", "#8f4f7a", "#b06a98"},
	[HUE_INCOMPLETE] = {"stack incomplete", "#a9afb6", "#70777f"},
	[HUE_WAIT_CPU] = {"waits for a CPU", "#d55e00", "#e0691a"},
	[HUE_REST] = {"at rest", "#e6e9ec", "#2b3036"},
	[HUE_BLOCKED + TRACE_WAIT_FILE] = {"blocked: file", "#e69f00", "#e69f00"},
	[HUE_BLOCKED + TRACE_WAIT_PROCESS] = {"blocked: process", "#f0e442", "#e3d640"},
	[HUE_BLOCKED + TRACE_WAIT_NETWORK] = {"blocked: network", "#56b4e9", "#56b4e9"},
	[HUE_BLOCKED + TRACE_WAIT_TIMEOUT] = {"blocked: timeout", "#c9bfa0", "#8a8064"},
	[HUE_BLOCKED + TRACE_WAIT_DEVICE] = {"blocked: device", "#b07d12", "#b07d12"},
	[HUE_BLOCKED + TRACE_WAIT_MEMORY] = {"blocked: memory", "#f2c78a", "#c9985a"},
	[HUE_BLOCKED + TRACE_WAIT_STOPPED] = {"blocked: stopped", "#7a7f85", "#8b9198"},
	[HUE_BLOCKED + TRACE_WAIT_OTHER] = {"blocked: other", "#a9afb6", "#70777f"},
	[HUE_BLOCKED + TRACE_WAIT_UNKNOWN] = {"blocked: unknown", "#f8f8f8", "#24282d"},
	[HUE_BLOCKED + TRACE_WAIT_KERNEL] = {"blocked: kernel", "#8fb3cc", "#6f93ad"},
	[HUE_BLOCKED + TRACE_WAIT_QUOTA] = {"blocked: CPU quota", "#a34700", "#c8641e"},
};

static int hue_of(const struct profile_row *row)
{
	switch (row ? row->kind : PROFILE_PROGRAM) {
	case PROFILE_FUNCTION:
		return *row->file == '[' && strcmp(row->file, "[vdso]") != 0 ? HUE_KERNEL : HUE_USER;
	case PROFILE_NOT_SAMPLED:
		return HUE_NOT_SAMPLED;
	case PROFILE_INCOMPLETE:
		return HUE_INCOMPLETE;
	case PROFILE_WAIT_CPU:
		return HUE_WAIT_CPU;
	case PROFILE_REST:
		return HUE_REST;
	case PROFILE_BLOCKED:
	case PROFILE_NOT_TRACED:
		return HUE_BLOCKED + (int)row->wait;
	default:
		return HUE_PROGRAM;
	}
}

/* ---- the profile as JSON ---- */

static void put_number(struct json *json, uint64_t number)
{
	json_separate(json);
	fprintf(json->out, "%" PRIu64, number);
}

static void put_text(struct json *json, const char *text)
{
	json_separate(json);
	json_string(json, text);
}

static void put_hues(struct json *json)
{
	json_open(json, "hues", "[");
	for (size_t i = 0; i < sizeof(hues) / sizeof(hues[0]); i++) {
		json_open(json, NULL, "{");
		json_text(json, "name", hues[i].name);
		json_text(json, "light", hues[i].light);
		json_text(json, "dark", hues[i].dark);
		json_close(json, "}");
	}
	json_close(json, "]");
	json_open(json, "functions", "[");
	put_number(json, HUE_USER);
	put_number(json, HUE_KERNEL);
	json_close(json, "]");
	json_open(json, "strip", "[");
	put_number(json, HUE_USER);
	put_number(json, HUE_WAIT_CPU);
	put_number(json, HUE_BLOCKED + TRACE_WAIT_FILE);
	json_close(json, "]");
}

/* The number of a name is that of its row; a program is a row, too. */
static void put_texts(struct json *json, const struct profile_rows *rows, bool files)
{
	size_t nr = rows->rows.nr + rows->programs.nr;
	const struct profile_row **by_number = memory_take(nr + 1, sizeof(*by_number));

	for (size_t i = 0; i < rows->rows.nr; i++)
		by_number[((struct profile_row *)rows->rows.at[i])->number] = rows->rows.at[i];
	for (size_t i = 0; i < rows->programs.nr; i++)
		by_number[((struct profile_row *)rows->programs.at[i])->number] = rows->programs.at[i];
	json_open(json, files ? "files" : "names", "[");
	for (size_t i = 0; i < nr; i++) {
		struct string text = {0};

		if (!files)
			profile_row_text(by_number[i], &text);
		put_text(json, files ? by_number[i]->file : string_text(&text));
		string_free(&text);
	}
	put_text(json, files ? "" : "all");
	json_close(json, "]");
	free(by_number);
}

/* A function that only calls itself is one box. */
static void put_nodes(struct json *json, const struct profile_rows *rows)
{
	const struct profile_node *root = rows->tree.nodes.at[0], *node = root;

	json_open(json, "nodes", "[");
	for (; node; node = profile_node_next(node)) {
		size_t times;
		const struct profile_node *last = profile_node_last(node, &times);

		if (profile_node_is_repeated(node))
			continue;
		put_number(json, node == root ? 0 : profile_node_depth(node) + 1);
		put_number(json, node == root ? rows->rows.nr + rows->programs.nr : node->row->number);
		put_number(json, (uint64_t)hue_of(node->row));
		put_number(json, last->self.on_cpu_ns);
		put_number(json, last->self.wait_cpu_ns);
		put_number(json, last->self.blocked_ns);
		put_number(json, times);
	}
	json_close(json, "]");
}

/* The boxes of waits, by number, each with the functions in which they ended. */
static void put_woken(struct json *json, const struct profile_rows *rows)
{
	const struct profile_node *node = rows->tree.nodes.at[0];

	json_open(json, "woken", "{");
	for (unsigned int number = 0; node; node = profile_node_next(node)) {
		char key[16];

		if (profile_node_is_repeated(node))
			continue;
		snprintf(key, sizeof(key), "%u", number++);
		if (!node->woken)
			continue;
		json_open(json, key, "[");
		for (const struct woken_in *woken = node->woken; woken; woken = woken->next) {
			put_text(json, woken->name);
			put_number(json, woken->ns);
		}
		json_close(json, "]");
	}
	json_close(json, "}");
}

static void put_profile(FILE *out, const struct report *report, const struct profile_rows *rows)
{
	const char *name = trace_get_info(report->trace)->file, *slash = strrchr(name, '/');
	struct json json = {.out = out, .first = true};
	char note[128];

	snprintf(note, sizeof(note), "%llu samples, callers of %.1f %% known", (unsigned long long)rows->sum.samples,
		 rows->sum.samples ? 100.0 * (double)rows->ends[STACK_WHOLE] / (double)rows->sum.samples : 0.0);
	json_open(&json, NULL, "{");
	json_text(&json, "title", slash ? slash + 1 : name);
	json_text(&json, "note", note);
	json_u64(&json, "threads", rows->nr_threads);
	put_hues(&json);
	put_texts(&json, rows, false);
	put_texts(&json, rows, true);
	put_nodes(&json, rows);
	put_woken(&json, rows);
	json_close(&json, "}");
}

/* In a script element "</script" would end a name. */
static void put_data(FILE *out, const struct report *report, const struct profile_rows *rows)
{
	struct text_stream memory;
	char *text;

	put_profile(memory_stream_begin(&memory), report, rows);
	text = memory_stream_end(&memory, NULL);
	fputs("<script type=\"application/json\" id=\"profile\">", out);
	for (const char *at = text; *at; at++)
		if (*at == '<')
			fputs("\\u003c", out);
		else
			putc(*at, out);
	fputs("</script>\n", out);
	free(text);
}

/* ---- the page ---- */

static void put_file(FILE *out, const char *element, const struct page_file *file)
{
	fprintf(out, "<%s>", element);
	fwrite(file->bytes, 1, file->size, out);
	fprintf(out, "</%s>\n", element);
}

/* The lines of flame.html; the files that two of them name are put there. */
static void put_page(FILE *out, const struct report *report, const struct profile_rows *rows)
{
	const struct page_file *page = flame_page();
	const char *end = page->bytes + page->size;

	for (const char *line = page->bytes, *next; line < end; line = next) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));
		size_t bytes = (size_t)((stop ? stop + 1 : end) - line);

		next = line + bytes;
		if (memmem(line, bytes, "rel=\"stylesheet\"", 16)) {
			put_file(out, "style", flame_style());
		} else if (memmem(line, bytes, "<script", 7)) {
			put_data(out, report, rows);
			put_file(out, "script", flame_script());
		} else {
			fwrite(line, 1, bytes, out);
		}
		if (memmem(line, bytes, "<meta charset", 13))
			page_policy_put(out, flame_script(), "; style-src 'unsafe-inline'");
	}
}

int report_flame(const struct report *report, const struct profile_rows *rows, const char *path)
{
	struct whole_file file;
	int error = whole_file_open(&file, path);

	if (error)
		return complain(1, "%s cannot be written: %s", path, strerror(-error));
	put_page(file.out, report, rows);
	report_check_memory(report); /* the file would lack shares */
	error = whole_file_close(&file, true);
	return error ? complain(1, "%s could not be written completely: %s", path, strerror(-error)) : 0;
}
