/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* answer_waits.c - one program may be at several places of the path: its waits have one line. */
#include "answer_waits.h"

#include <stdlib.h>
#include <string.h>

#include "text_output.h"
#include "verdict.h"
#include "wait_places.h"

static char *words(struct string *s)
{
	char *text = memory_copy(string_text(s), strlen(string_text(s)));

	for (char *at = text; (at = strchr(at, *UNBROKEN_BLANK));)
		*at = ' ';
	string_free(s);
	return text;
}

/* The functions with most of the time that the threads of that name waited so. */
static void put_places(const struct report *report, const struct path_wait *wait, struct answer_wait *line)
{
	struct wait_place place = wait_place_of_program(report->places, &wait->first);
	struct string where = {0}, woken = {0};

	wait_place_text(&place, &where);
	wait_place_waker_text(&place, &woken);
	line->where = words(&where);
	line->woken = words(&woken);
}

/* Waits are added longest first. */
static void add_wait(const struct report *report, struct hash_table *lines, struct strings *names,
		     const struct path_wait *wait, const struct trace_thread *root)
{
	struct string thread = {0}, what = {0}, key = {0};
	struct answer_wait *line;

	verdict_waiter_text(wait, root, &thread);
	verdict_wait_text(report, wait, &what);
	string_addf(&key, "%s\n%s", string_text(&thread), string_text(&what));
	line = memory_row(lines, sizeof(*line), memory_key(names, string_text(&key)));
	line->ns += wait->ns;
	line->count += wait->count;
	if (!line->thread) {
		line->thread = words(&thread);
		line->what = words(&what);
		put_places(report, wait, line);
		line->longest = wait;
	}
	string_free(&thread);
	string_free(&what);
	string_free(&key);
}

static int longest_first(const void *left, const void *right, void *data)
{
	const struct answer_wait *l = left, *r = right;
	int order;

	if (l->ns != r->ns)
		return l->ns > r->ns ? -1 : 1;
	order = strcmp(l->thread, r->thread);
	return order ? order : strcmp(l->what, r->what);
}

struct answer_wait *answer_waits(const struct report *report, const struct path_tree *tree, size_t *ret_nr)
{
	struct hash_table lines = {0};
	struct strings names = {0};
	struct answer_wait *list, *line = NULL;

	for (size_t i = 0; i < tree->nr_waits; i++)
		add_wait(report, &lines, &names, &tree->waits[i], tree->links[0].thread);
	list = memory_take(lines.used + 1, sizeof(*list));
	*ret_nr = 0;
	while ((line = table_next(&lines, sizeof(*line), line)))
		list[(*ret_nr)++] = *line;
	memory_sort(list, *ret_nr, sizeof(*list), longest_first, NULL);
	table_clear(&lines);
	strings_clear(&names);
	return list;
}

void answer_waits_free(struct answer_wait *list, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(list[i].thread);
		free(list[i].what);
		free(list[i].where);
		free(list[i].woken);
	}
	free(list);
}
