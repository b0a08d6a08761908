/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_json.h"

#include "profile_folded.h"
#include "profile_code.h"
#include "profile_lines.h"
#include "profile_within.h"

static void json_times(struct json *json, const struct profile_time *time)
{
	json_u64(json, "elapsed_ns", profile_elapsed(time));
	json_u64(json, "on_cpu_ns", time->on_cpu_ns);
	json_u64(json, "wait_cpu_ns", time->wait_cpu_ns);
	json_u64(json, "blocked_ns", time->blocked_ns);
	json_u64(json, "samples", time->samples);
}

static void json_total(struct json *json, const char *key, const struct profile_time *time)
{
	json_open(json, key, "{");
	json_times(json, time);
	json_close(json, "}");
}

static void json_texts(struct json *json, const struct profile_row *row)
{
	json_text(json, "kind", profile_kind_word(row->kind));
	json_text(json, "name", row->name);
	json_text(json, "file", row->file);
	json_text(json, "program", row->program);
	json_text(json, "why", row->why);
	json_bool(json, "late", row->is_late);
}

static void open_row(struct json *json)
{
	putc_unlocked('\n', json->out);
	json_open(json, NULL, "{");
}

static void json_woken(struct json *json, const struct woken_in *list)
{
	json_open(json, "woken", "[");
	for (; list; list = list->next) {
		json_open(json, NULL, "{");
		json_text(json, "in", list->name);
		json_u64(json, "ns", list->ns);
		json_close(json, "}");
	}
	json_close(json, "]");
}

static void json_rows(struct json *json, const struct profile_rows *rows)
{
	json_open(json, "rows", "[");
	for (size_t i = 0; i < rows->rows.nr; i++) {
		const struct profile_row *row = rows->rows.at[i];

		open_row(json);
		json_texts(json, row);
		json_times(json, &row->self);
		json_u64(json, "deviation_ns", profile_deviation(row));
		json_text(json, "where", row->where ? row->where->name : "");
		json_u64(json, "where_ns", row->where_ns);
		json_woken(json, row->woken);
		json_total(json, "total", &row->total);
		json_close(json, "}");
	}
	json_close(json, "]");
}

/* Callers come before what they call, so a reader of the list knows the parent already. */
static void json_nodes(struct json *json, const struct profile_rows *rows)
{
	const struct profile_node *node = rows->tree.nodes.nr ? rows->tree.nodes.at[0] : NULL;

	json_open(json, "nodes", "[");
	for (node = node ? node->child : NULL; node; node = profile_node_next(node)) {
		open_row(json);
		json_u64(json, "number", node->number);
		json_u64(json, "parent", node->parent->number);
		json_texts(json, node->row);
		json_times(json, &node->self);
		json_woken(json, node->woken);
		json_total(json, "total", &node->total);
		json_close(json, "}");
	}
	json_close(json, "]");
}

static void json_neighbours(struct json *json, const struct report *report, const struct profile_neighbours *neighbours)
{
	const struct profile_choice *choice = &report->options->profile;

	json_text(json, "function", choice->function);
	json_total(json, "total", &neighbours->total);
	json_total(json, "self", &neighbours->self);
	json_open(json, choice->form == PROFILE_CALLERS ? "callers" : "callees", "[");
	for (size_t i = 0; i < neighbours->list.nr; i++) {
		const struct profile_neighbour *neighbour = neighbours->list.at[i];
		const struct profile_row itself = {
			.kind = PROFILE_FUNCTION, .name = choice->function, .file = "", .program = "", .why = ""};

		open_row(json);
		json_bool(json, "itself", !neighbour->row);
		json_texts(json, neighbour->row ? neighbour->row : &itself);
		json_times(json, &neighbour->time);
		json_close(json, "}");
	}
	json_close(json, "]");
}

static void json_folded(struct json *json, const struct profile_rows *rows, enum profile_part part)
{
	const struct profile_node *node = rows->tree.nodes.nr ? rows->tree.nodes.at[0] : NULL;

	json_open(json, "folded", "[");
	for (; node; node = profile_node_next(node)) {
		struct string text = {0};

		if (profile_folded_ns(node, part)) {
			open_row(json);
			profile_folded_text(node, &text);
			json_text(json, "stack", string_text(&text));
			json_u64(json, "ns", profile_folded_ns(node, part));
			json_close(json, "}");
		}
		string_free(&text);
	}
	json_close(json, "]");
}

/* Each form of the profile has these keys. The object stays open. */
static void open_profile(struct json *json, const struct report *report, const struct profile_rows *rows)
{
	static const struct {
		const char *key;
		enum trace_profile_end end;
	} lost[] = {{"by_pointers", TRACE_PROFILE_END_POINTERS},  {"not_ready", TRACE_PROFILE_END_NOT_READY},
		    {"no_caller", TRACE_PROFILE_END_NO_CALLER},	  {"unsupported", TRACE_PROFILE_END_UNSUPPORTED},
		    {"unreadable", TRACE_PROFILE_END_UNREADABLE}, {"unmapped", TRACE_PROFILE_END_UNMAPPED}};
	const char *sampled_by = trace_string(report->trace, TRACE_STRING_INFO, TRACE_INFO_SAMPLED_BY);
	struct trace_profile_numbers numbers;
	uint64_t from_ns, to_ns;

	trace_profile_get_numbers(report->profile, &numbers);
	trace_profile_window(report->profile, &from_ns, &to_ns);
	json_open(json, NULL, "{");
	json_text(json, "schema", "trace-profile/1");
	json_text(json, "file", trace_get_info(report->trace)->file);
	json_u64(json, "from_ns", from_ns);
	json_u64(json, "to_ns", to_ns);
	if (report->within) {
		json_open(json, "within", "{");
		json_text(json, "kind", profile_within_word(report->within->kind));
		json_text(json, "name", report->within->name);
		json_u64(json, "number", report->within->number);
		json_u64(json, "ns", report->within->ns);
		json_close(json, "}");
	}
	json_text(json, "sampled_by", sampled_by ? sampled_by : "");
	json_u64(json, "threads", rows->nr_threads);
	json_times(json, &rows->sum);
	json_u64(json, "rest_ns", rows->rest_ns);
	json_u64(json, "not_traced_ns", rows->not_traced_ns);
	json_u64(json, "unnamed_ns", rows->unnamed_ns);
	json_u64(json, "unplaced", numbers.unplaced);
	json_open(json, "not_traced", "[");
	for (size_t i = 0; trace_not_traced(report->trace, i); i++) {
		json_separate(json);
		json_string(json, trace_not_traced(report->trace, i));
	}
	json_close(json, "]");
	json_open(json, "stacks", "{");
	json_u64(json, "whole", rows->ends[STACK_WHOLE]);
	json_u64(json, "cut", rows->ends[STACK_CUT]);
	json_u64(json, "incomplete", rows->ends[STACK_LOST]);
	for (size_t i = 0; i < sizeof(lost) / sizeof(lost[0]); i++)
		json_u64(json, lost[i].key, rows->lost[lost[i].end]);
	json_u64(json, "waits", rows->wait_stacks);
	json_close(json, "}");
}

static void json_by(struct json *json, const struct report *report, const struct profile_rows *rows)
{
	const struct profile_by_choice *choice = &report->options->profile.by;

	json_open(json, "by", "[");
	for (size_t i = 0; i < choice->nr; i++) {
		json_separate(json);
		json_string(json, profile_key_word(choice->keys[i]));
	}
	json_close(json, "]");
	json_open(json, "rows", "[");
	for (size_t i = 0; i < rows->by.rows.nr; i++) {
		const struct profile_by_row *row = rows->by.rows.at[i];

		open_row(json);
		for (size_t k = 0; k < choice->nr; k++)
			json_text(json, profile_key_word(choice->keys[k]), row->values[k]);
		json_times(json, &row->time);
		json_u64(json, "deviation_ns", profile_deviation_of(row->variance));
		json_close(json, "}");
	}
	json_close(json, "]");
}

void profile_json(const struct report *report, const struct profile_rows *rows,
		  const struct profile_neighbours *neighbours)
{
	struct json json_of_out = {.out = report->output.out, .first = true}, *json = &json_of_out;

	open_profile(json, report, rows);
	if (neighbours)
		json_neighbours(json, report, neighbours);
	else if (report->options->profile.form == PROFILE_TREE)
		json_nodes(json, rows);
	else if (report->options->profile.form == PROFILE_BY)
		json_by(json, report, rows);
	else if (report->options->profile.form == PROFILE_FOLDED)
		json_folded(json, rows, report->options->profile.part);
	else
		json_rows(json, rows);
	json_close(json, "}\n");
}

/* Each line with time, by number. */
void profile_lines_json(const struct report *report, const struct profile_rows *rows, const struct pointers *lines)
{
	struct json json_of_out = {.out = report->output.out, .first = true}, *json = &json_of_out;

	open_profile(json, report, rows);
	json_text(json, "source", ((const struct line_row *)lines->at[0])->source);
	json_open(json, "lines", "[");
	for (size_t i = 0; i < lines->nr; i++) {
		const struct line_row *row = lines->at[i];

		open_row(json);
		json_u64(json, "line", row->line);
		json_times(json, &row->self);
		json_total(json, "total", &row->total);
		json_close(json, "}");
	}
	json_close(json, "]");
	json_close(json, "}\n");
}

/* Each address with time, in order. */
void profile_code_json(const struct report *report, const struct profile_rows *rows, const struct pointers *code)
{
	struct json json_of_out = {.out = report->output.out, .first = true}, *json = &json_of_out;
	const struct code_row *first = code->at[0];

	open_profile(json, report, rows);
	json_text(json, "function", report->options->profile.code);
	json_text(json, "code_file", first->path);
	json_u64(json, "begin", first->begin);
	json_open(json, "instructions", "[");
	for (size_t i = 0; i < code->nr; i++) {
		const struct code_row *row = code->at[i];

		open_row(json);
		json_u64(json, "address", row->address);
		json_times(json, &row->self);
		json_total(json, "total", &row->total);
		json_close(json, "}");
	}
	json_close(json, "]");
	json_close(json, "}\n");
}
