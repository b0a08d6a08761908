/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_by.h"

#include <inttypes.h>
#include <stdio.h>
#include "profile_clients.h"
#include "profile_rows.h"
#include "value_text.h"

#define VALUE_BYTES 1024

struct by_slot {
	uint64_t key; /* of the texts of the row */
	struct profile_by_row *row;
};

const char *profile_key_word(enum profile_key key)
{
#define WORD(name, word, heading) word,
	static const char *const words[NR_PROFILE_KEYS] = {EACH_PROFILE_KEY(WORD)};
#undef WORD

	return words[key];
}

static const char *exe_of(const struct trace_thread *thread)
{
	const struct trace_process *process = trace_thread_process(thread);
	const char *exe = trace_process_exe(process);

	return trace_thread_is_kernel(thread) ? "[kernel]" : *exe ? exe : trace_process_comm(process);
}

/* The text in the place of a function: no sample, or the state of a thread that had no CPU. */
static void name_none(const struct profile_row *row, char *text)
{
	snprintf(text, VALUE_BYTES, "(%s)",
		 row->kind == PROFILE_BLOCKED ? "blocked, where is not known" : profile_kind_word(row->kind));
}

static void name_place(enum profile_key key, const struct frame_name *place, char *text)
{
	if (key == BY_DSO)
		snprintf(text, VALUE_BYTES, "%s", *place->file ? place->file : "(in no file)");
	else if (key == BY_ADDRESS)
		snprintf(text, VALUE_BYTES, "%016" PRIx64, place->address);
	else if (key == BY_SYMBOL && *place->name)
		snprintf(text, VALUE_BYTES, "%s", place->name);
	else if (key == BY_SYMBOL)
		snprintf(text, VALUE_BYTES, "(no name: %s)", place->why);
	else if (*place->source)
		snprintf(text, VALUE_BYTES, "%s:%u", place->source, place->line);
	else
		snprintf(text, VALUE_BYTES, "(no line)");
}

static void name_value(enum profile_key key, const struct report *report, const struct trace_profile_share *share,
		       const struct profile_row *row, const struct frame_name *place, char *text)
{
	const struct trace_process *process = trace_thread_process(share->thread);
	const char *group = trace_process_cgroup(process);

	switch (key) {
	case BY_EXE:
		snprintf(text, VALUE_BYTES, "%s", exe_of(share->thread));
		break;
	case BY_THREAD:
		text_process(trace_thread_comm(share->thread), trace_thread_tid(share->thread), text, VALUE_BYTES);
		break;
	case BY_CPU:
		snprintf(text, VALUE_BYTES, share->cpu < 0 ? "(none)" : "%d", share->cpu);
		break;
	case BY_CGROUP:
		snprintf(text, VALUE_BYTES, "%s", *group ? group : "(unknown)");
		break;
	case BY_CLIENT:
		snprintf(text, VALUE_BYTES, "%s", profile_client_name(report->clients, share->label));
		break;
	default:
		if (place)
			name_place(key, place, text);
		else
			name_none(row, text);
	}
}

static struct profile_by_row *row_of(struct profile_rows *rows, const struct profile_by_choice *choice,
				     const struct profile_by_row *wanted)
{
	struct string text = {0};
	struct by_slot *slot;
	uint64_t key;

	for (size_t i = 0; i < choice->nr; i++) {
		string_add(&text, wanted->values[i]);
		string_add(&text, "\x01");
	}
	key = memory_key(&rows->names.texts, string_text(&text));
	string_free(&text);
	slot = memory_row(&rows->by.index, sizeof(*slot), key);
	if (slot->row)
		return slot->row;
	slot->row = memory_take(1, sizeof(*slot->row));
	*slot->row = *wanted;
	pointers_add(&rows->by.rows, slot->row);
	return slot->row;
}

void profile_by_add(struct profile_rows *rows, const struct report *report, const struct trace_profile_share *share,
		    const struct profile_row *row, const struct frame_name *place, const struct profile_time *time)
{
	const struct profile_by_choice *choice = &report->options->profile.by;
	struct profile_by_row wanted = {0}, *found;
	char text[VALUE_BYTES];

	for (size_t i = 0; i < choice->nr; i++) {
		name_value(choice->keys[i], report, share, row, place, text);
		wanted.values[i] = profile_names_keep(&rows->names, text);
	}
	found = row_of(rows, choice, &wanted);
	profile_time_add(&found->time, time);
	if (share->samples && !found->pending)
		pointers_add(&rows->by.pending, found);
	found->pending += share->samples;
}

void profile_by_end_stratum(struct profile_by *by, uint64_t ns, uint64_t of)
{
	for (size_t i = 0; i < by->pending.nr; i++) {
		struct profile_by_row *row = by->pending.at[i];

		row->variance += (double)ns * (double)ns * profile_share_variance(row->pending, of);
		row->pending = 0;
	}
	by->pending.nr = 0;
}

static int by_time(const void *left, const void *right, void *data)
{
	const struct profile_by_row *l = *(struct profile_by_row *const *)left,
				    *r = *(struct profile_by_row *const *)right;
	uint64_t ns[2] = {l->time.on_cpu_ns, r->time.on_cpu_ns};

	(void)data;
	if (ns[0] == ns[1]) {
		ns[0] = profile_elapsed(&l->time);
		ns[1] = profile_elapsed(&r->time);
	}
	return (ns[0] < ns[1]) - (ns[0] > ns[1]);
}

void profile_by_end(struct profile_by *by)
{
	memory_sort(by->rows.at, by->rows.nr, sizeof(*by->rows.at), by_time, NULL);
}

void profile_by_free(struct profile_by *by)
{
	pointers_free_all(&by->rows);
	pointers_free(&by->pending);
	table_clear(&by->index);
}
