/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_json.c - the summary as JSON, schema trace-summary/1. Keys may be added, never renamed.
 *
 * Written as it goes: `separator` is what has to come before the next member.
 */
#include <errno.h>
#include <glib.h>
#include <inttypes.h>
#include <stdlib.h>
#include "report.h"

struct json {
	FILE *out;
	bool first; /* of the innermost object or array */
};

/* Names come from the kernel and from programs: what is not UTF-8 becomes U+FFFD. */
void report_json_string(FILE *out, const char *text)
{
	static const char escapes[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r', ['"'] = '"', ['\\'] = '\\'};

	putc('"', out);
	while (*text) {
		unsigned char byte = (unsigned char)*text;
		gunichar c = byte < 0x80 ? byte : g_utf8_get_char_validated(text, -1);
		const char *next = text + 1;

		if (byte < sizeof(escapes) && escapes[byte]) {
			fprintf(out, "\\%c", escapes[byte]);
		} else if (byte < 0x20 || byte == 0x7f) {
			fprintf(out, "\\u%04x", byte);
		} else if (c == (gunichar)-1 || c == (gunichar)-2) {
			fputs("\xef\xbf\xbd", out);
		} else {
			next = g_utf8_next_char(text);
			fwrite(text, 1, (size_t)(next - text), out);
		}
		text = next;
	}
	putc('"', out);
}

static void put_string(struct json *json, const char *text)
{
	report_json_string(json->out, text);
}

static void separate(struct json *json)
{
	if (!json->first)
		fputs(",", json->out);
	json->first = false;
}

static void put_key(struct json *json, const char *key)
{
	separate(json);
	put_string(json, key);
	putc(':', json->out);
}

static void open_with(struct json *json, const char *key, const char *bracket)
{
	if (key)
		put_key(json, key);
	else
		separate(json);
	fputs(bracket, json->out);
	json->first = true;
}

static void close_with(struct json *json, const char *bracket)
{
	fputs(bracket, json->out);
	json->first = false;
}

static void member_u64(struct json *json, const char *key, uint64_t value)
{
	put_key(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

static void member_string(struct json *json, const char *key, const char *value)
{
	put_key(json, key);
	put_string(json, value);
}

static void member_bool(struct json *json, const char *key, bool value)
{
	put_key(json, key);
	fputs(value ? "true" : "false", json->out);
}

/* ---- the trace ---- */

static void put_gaps(struct json *json, const struct trace *trace)
{
	open_with(json, "gaps", "[");
	for (size_t i = 0; i < trace_nr_gaps(trace); i++) {
		const struct trace_gap *gap = trace_get_gap(trace, i);

		open_with(json, NULL, "{");
		member_u64(json, "cpu", gap->cpu);
		member_u64(json, "start_ns", gap->start_ns);
		member_u64(json, "end_ns", gap->end_ns);
		member_u64(json, "lost", gap->lost);
		close_with(json, "}");
	}
	close_with(json, "]");
}

static void put_trace(struct json *json, const struct report *report)
{
	const struct trace_info *info = trace_get_info(report->trace);
	uint64_t start, end;

	trace_analysis_window(report->analysis, &start, &end);
	open_with(json, "trace", "{");
	member_string(json, "file", info->file);
	member_string(json, "host", info->host);
	member_string(json, "kernel", info->kernel);
	member_string(json, "clock", info->clock);
	member_u64(json, "start_ns", start);
	member_u64(json, "end_ns", end);
	member_u64(json, "elapsed_ns", end - start);
	member_u64(json, "events", info->events);
	member_u64(json, "lost", info->lost);
	member_u64(json, "contradictions", trace_analysis_contradictions(report->analysis));
	put_gaps(json, report->trace);
	open_with(json, "not_traced", "[");
	for (size_t i = 0; trace_not_traced(report->trace, i); i++) {
		separate(json);
		put_string(json, trace_not_traced(report->trace, i));
	}
	close_with(json, "]");
	close_with(json, "}");
}

static void put_cpus(struct json *json, const struct report *report)
{
	struct trace_cpu_figures f;

	open_with(json, "cpus", "[");
	for (size_t i = 0; i < trace_nr_cpus(report->analysis); i++) {
		trace_cpu_figures(report->analysis, i, &f);
		open_with(json, NULL, "{");
		member_u64(json, "cpu", f.cpu);
		member_u64(json, "user_ns", f.user_ns);
		member_u64(json, "system_ns", f.system_ns);
		member_u64(json, "irq_ns", f.irq_ns);
		member_u64(json, "softirq_ns", f.softirq_ns);
		member_u64(json, "idle_ns", f.idle_ns);
		member_u64(json, "unknown_ns", f.unknown_ns);
		close_with(json, "}");
	}
	close_with(json, "]");
}

/* ---- figures ---- */

static void put_wait(struct json *json, const struct trace_wait *wait)
{
	open_with(json, NULL, "{");
	member_string(json, "kind", trace_wait_kind_name(wait->kind));
	member_string(json, "target", wait->target);
	member_u64(json, "pid", wait->pid);
	member_string(json, "comm", wait->comm);
	member_string(json, "via", wait->via);
	member_bool(json, "idle", wait->idle);
	member_u64(json, "ns", wait->ns);
	member_u64(json, "count", wait->count);
	close_with(json, "}");
}

static void put_calls(struct json *json, const char *key, const struct trace_call *calls, size_t nr, bool traps)
{
	open_with(json, key, "[");
	for (size_t i = 0; i < nr; i++) {
		open_with(json, NULL, "{");
		member_string(json, "name", calls[i].name);
		member_u64(json, traps ? "count" : "calls", calls[i].calls);
		member_u64(json, traps ? "major" : "errors", calls[i].errors);
		member_u64(json, "elapsed_ns", calls[i].elapsed_ns);
		member_u64(json, "cpu_ns", calls[i].cpu_ns);
		member_u64(json, "interrupted_ns", calls[i].interrupted_ns);
		member_u64(json, "wait_cpu_ns", calls[i].wait_cpu_ns);
		member_u64(json, "wait_ns", calls[i].wait_ns);
		member_u64(json, "min_ns", calls[i].min_ns);
		member_u64(json, "p50_ns", calls[i].p50_ns);
		member_u64(json, "p99_ns", calls[i].p99_ns);
		member_u64(json, "max_ns", calls[i].max_ns);
		close_with(json, "}");
	}
	close_with(json, "]");
}

static void put_interrupts(struct json *json, const struct trace_figures *f)
{
	open_with(json, "interrupts", "[");
	for (size_t i = 0; i < f->nr_interrupts; i++) {
		open_with(json, NULL, "{");
		member_string(json, "type", f->interrupts[i].type);
		member_string(json, "name", f->interrupts[i].name);
		member_u64(json, "ns", f->interrupts[i].ns);
		member_u64(json, "count", f->interrupts[i].count);
		close_with(json, "}");
	}
	close_with(json, "]");
}

static void put_files(struct json *json, const struct trace_figures *f)
{
	open_with(json, "files", "[");
	for (size_t i = 0; i < f->nr_files; i++) {
		open_with(json, NULL, "{");
		member_string(json, "path", f->files[i].path);
		member_u64(json, "read_bytes", f->files[i].read_bytes);
		member_u64(json, "written_bytes", f->files[i].written_bytes);
		member_u64(json, "reads", f->files[i].reads);
		member_u64(json, "writes", f->files[i].writes);
		member_u64(json, "wait_ns", f->files[i].wait_ns);
		close_with(json, "}");
	}
	close_with(json, "]");
}

static void put_figures(struct json *json, const struct trace_figures *f)
{
	member_u64(json, "elapsed_ns", f->elapsed_ns);
	member_u64(json, "user_ns", f->user_ns);
	member_u64(json, "system_ns", f->syscall_ns + f->trap_ns);
	member_u64(json, "syscall_ns", f->syscall_ns);
	member_u64(json, "trap_ns", f->trap_ns);
	member_u64(json, "interrupted_ns", f->interrupted_ns);
	member_u64(json, "wait_cpu_ns", f->wait_cpu_ns);
	open_with(json, "wait_cpu_for", "[");
	for (size_t i = 0; i < f->nr_wait_cpu_for; i++) {
		open_with(json, NULL, "{");
		member_u64(json, "pid", f->wait_cpu_for[i].pid);
		member_string(json, "comm", f->wait_cpu_for[i].comm);
		member_u64(json, "ns", f->wait_cpu_for[i].ns);
		close_with(json, "}");
	}
	close_with(json, "]");
	open_with(json, "waits", "[");
	for (size_t i = 0; i < f->nr_waits; i++)
		put_wait(json, &f->waits[i]);
	close_with(json, "]");
	put_calls(json, "syscalls", f->syscalls, f->nr_syscalls_rows, false);
	put_calls(json, "traps", f->traps, f->nr_traps_rows, true);
	put_interrupts(json, f);
	put_files(json, f);
}

static bool put_thread(struct json *json, const struct report *report, const struct trace_thread *thread)
{
	struct trace_figures *f = trace_thread_figures(report->analysis, thread);

	if (!f)
		return false;
	open_with(json, NULL, "{");
	member_u64(json, "tid", trace_thread_tid(thread));
	member_string(json, "comm", trace_thread_comm(thread));
	member_u64(json, "start_ns", trace_thread_start_ns(thread));
	member_u64(json, "end_ns", trace_thread_end_ns(thread));
	put_figures(json, f);
	close_with(json, "}");
	trace_figures_free(f);
	return true;
}

static bool put_process(struct json *json, const struct report *report, const struct trace_process *process)
{
	struct trace_figures *f = trace_process_figures(report->analysis, process);
	bool ok = f != NULL;

	if (!f)
		return false;
	open_with(json, NULL, "{");
	member_u64(json, "pid", trace_process_pid(process));
	member_u64(json, "ppid", trace_process_ppid(process));
	member_string(json, "comm", trace_process_comm(process));
	member_string(json, "exe", trace_process_exe(process));
	member_u64(json, "uid", trace_process_uid(process));
	member_bool(json, "kernel", trace_process_is_kernel(process));
	member_u64(json, "start_ns", trace_process_start_ns(process));
	member_u64(json, "end_ns", trace_process_end_ns(process));
	put_figures(json, f);
	trace_figures_free(f);
	open_with(json, "threads", "[");
	for (const struct trace_thread *thread = NULL; ok && (thread = trace_next_thread(process, thread));)
		ok = put_thread(json, report, thread);
	close_with(json, "]");
	close_with(json, "}");
	return ok;
}

static void put_client(struct json *json, const struct trace_server_client *client)
{
	open_with(json, NULL, "{");
	member_u64(json, "pid", client->pid);
	member_string(json, "comm", client->comm);
	member_string(json, "address", client->address);
	member_u64(json, "cpu_ns", client->cpu_ns);
	member_u64(json, "exact_ns", client->exact_ns);
	member_u64(json, "shared_ns", client->shared_ns);
	member_u64(json, "requests", client->requests);
	close_with(json, "}");
}

static void put_servers(struct json *json, const struct report *report)
{
	open_with(json, "servers", "[");
	for (size_t i = 0; i < trace_nr_servers(report->servers); i++) {
		const struct trace_server *server = trace_get_server(report->servers, i);

		open_with(json, NULL, "{");
		member_u64(json, "pid", server->pid);
		member_string(json, "comm", server->comm);
		member_u64(json, "cpu_ns", server->cpu_ns);
		member_u64(json, "exact_ns", server->exact_ns);
		member_u64(json, "shared_ns", server->shared_ns);
		member_u64(json, "background_ns", server->background_ns);
		open_with(json, "clients", "[");
		for (size_t j = 0; j < server->nr_clients; j++)
			put_client(json, &server->clients[j]);
		close_with(json, "]");
		close_with(json, "}");
	}
	close_with(json, "]");
}

int report_json(struct report *report)
{
	struct json json = {.out = report->out, .first = true};
	size_t nr, limit;
	struct process_row *rows = process_rows(report, &nr);
	bool ok = rows != NULL;

	if (!ok)
		return -ENOMEM;
	limit = report->options->top && (size_t)report->options->top < nr ? (size_t)report->options->top : nr;
	open_with(&json, NULL, "{");
	member_string(&json, "schema", "trace-summary/1");
	put_trace(&json, report);
	put_cpus(&json, report);
	open_with(&json, "processes", "[");
	for (size_t i = 0; i < limit && ok; i++) {
		putc('\n', json.out);
		ok = put_process(&json, report, rows[i].process);
	}
	close_with(&json, "]");
	put_servers(&json, report);
	close_with(&json, "}\n");
	free(rows);
	return ok ? 0 : -ENOMEM;
}
