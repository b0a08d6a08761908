/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "saved_for.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "value_text.h"

#define TEXT_BYTES 256

/* One of the numbers in front of the text. */
static bool take_number(const char **at, uint64_t *ret_number)
{
	char *end;

	if (**at < '0' || **at > '9')
		return false;
	errno = 0;
	*ret_number = strtoull(*at, &end, 10);
	if (errno || *end != ' ')
		return false;
	*at = end + 1;
	return true;
}

bool saved_for_get(const struct trace *trace, struct saved_for *ret_saved)
{
	const char *at = trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_SAVED_FOR);
	struct saved_for saved;
	uint64_t tid;

	if (!at || !take_number(&at, &tid) || !take_number(&at, &saved.begin_ns) || !take_number(&at, &saved.end_ns) ||
	    tid > UINT32_MAX || saved.begin_ns > saved.end_ns || !*at)
		return false;
	saved.tid = (uint32_t)tid;
	saved.text = at;
	*ret_saved = saved;
	return true;
}

void saved_for_add(struct string *s, const struct saved_for *saved)
{
	char text[TEXT_BYTES];

	string_addf(s, "Saved by a trigger: %s", text_name(saved->text, text, sizeof(text)));
}

const struct trace_thread *saved_for_thread(const struct saved_for *saved, const struct process_row *rows, size_t nr)
{
	const struct trace_thread *found = NULL;

	for (size_t i = 0; saved->tid && i < nr; i++)
		for (const struct trace_thread *thread = NULL; (thread = trace_next_thread(rows[i].process, thread));)
			if (trace_thread_tid(thread) == saved->tid && trace_thread_start_ns(thread) <= saved->end_ns &&
			    (!found || trace_thread_start_ns(thread) > trace_thread_start_ns(found)))
				found = thread;
	return found;
}

uint64_t saved_for_gone_on_ns(const struct trace_critical_path *path, uint64_t ns)
{
	struct trace_path_segment segment;
	uint64_t from, to;

	trace_critical_path_window(path, &from, &to);
	for (size_t i = 0; i < trace_critical_path_nr_segments(path); i++) {
		trace_critical_path_segment(path, i, &segment);
		if (segment.depth == 0 && segment.to_ns > ns && segment.state != TRACE_STATE_BLOCKED)
			return segment.from_ns > ns ? segment.from_ns : ns;
	}
	return to;
}
