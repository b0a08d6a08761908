/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * view_functions.c - the functions in the verdict of a view: view_functions.h.
 *
 * The profile of the whole trace is large. Only the functions of the threads and waits in the
 * verdict are kept, so a view of an index says the same.
 */
#include "view_functions.h"

#include <stdlib.h>
#include <string.h>

#define MAX_WAITS 64u /* the answer has five, each perhaps of several */

/**
 * struct view_function - where @thread was for most of its own code, or for most of the wait of
 * @key; the places own the function's name
 */
struct view_function {
	const struct trace_thread *thread; /* NULL: of a wait */
	char *key;			   /* owned */
	struct wait_place place;
};

/** struct view_function_list - @profile: during the pass. @places: of the list, for the report */
struct view_function_list {
	struct trace_profile *profile; /* owned */
	struct wait_places *places;    /* owned */
	struct view_function *items;   /* owned */
	size_t nr, room;
};

static struct view_function_list *list_of(struct view_session *session)
{
	if (!session->functions)
		session->functions = memory_take(1, sizeof(*session->functions));
	return session->functions;
}

int view_functions_begin(struct view_session *session, struct trace_error *ret_error)
{
	const struct report *report = &session->report;

	if (!trace_string(report->trace, TRACE_STRING_KERNEL_CODE, 0) || /* it comes with samples */
	    session->window.has_from || session->window.has_to)
		return 0;
	list_of(session)->profile = trace_profile_new(report->analysis, ret_error);
	return session->functions->profile ? 0 : ret_error->code;
}

static struct view_function *add_item(struct view_session *session)
{
	struct view_function_list *list = list_of(session);

	if (!list->places)
		list->places = session->report.places = wait_places_told();
	list->items = memory_grow(list->items, list->nr, &list->room, sizeof(*list->items));
	list->items[list->nr] = (struct view_function){0};
	return &list->items[list->nr++];
}

void view_functions_add(struct view_session *session, const struct trace_thread *thread, const struct wait_place *place)
{
	struct view_function *item = add_item(session);

	item->thread = thread;
	item->place = wait_places_tell(session->functions->places, thread, place);
}

void view_functions_add_wait(struct view_session *session, const char *key, const struct wait_place *place)
{
	struct view_function *item = add_item(session);

	item->key = memory_copy(key, strlen(key));
	item->place = wait_places_tell_wait(session->functions->places, key, place);
}

static bool is_known(const struct view_function_list *list, const struct trace_thread *thread)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->items[i].thread == thread)
			return true;
	return false;
}

static void add_functions_of(struct view_session *session, const struct path_tree *tree, struct wait_places *places)
{
	for (size_t i = 0; i < tree->nr_links; i++) {
		const struct trace_thread *thread = tree->links[i].thread;
		struct wait_place place = cpu_place_of_thread(places, thread, CPU_OWN_CODE);

		if (place.function && *place.function && !is_known(session->functions, thread))
			view_functions_add(session, thread, &place);
	}
}

static bool is_known_wait(const struct view_function_list *list, const char *key)
{
	for (size_t i = 0; i < list->nr; i++)
		if (list->items[i].key && strcmp(list->items[i].key, key) == 0)
			return true;
	return false;
}

static void add_waits_of(struct view_session *session, const struct path_tree *tree, struct wait_places *places)
{
	for (size_t i = 0; i < tree->nr_waits && i < MAX_WAITS; i++) {
		struct wait_place place = wait_place_of_program(places, &tree->waits[i].first);
		struct string key = {0};

		wait_place_key(&tree->waits[i].first, &key);
		if (place.function && !is_known_wait(session->functions, string_text(&key)))
			view_functions_add_wait(session, string_text(&key), &place);
		string_free(&key);
	}
}

void view_functions_find(struct view_session *session, const struct path_tree *tree)
{
	struct view_function_list *list = session->functions;
	struct report whole = session->report;
	struct wait_places *places;

	whole.profile = list->profile;
	places = wait_places_new(&whole);
	add_functions_of(session, tree, places);
	add_waits_of(session, tree, places);
	wait_places_free(places);
	list->profile = trace_profile_free(list->profile);
}

void view_functions_free(struct view_session *session)
{
	struct view_function_list *list = session->functions;

	if (!list)
		return;
	trace_profile_free(list->profile);
	wait_places_free(list->places);
	for (size_t i = 0; i < list->nr; i++)
		free(list->items[i].key);
	free(list->items);
	free(list);
	session->functions = NULL;
	session->report.places = NULL;
}

void view_functions_note(const struct view_session *session, struct string *notes)
{
	const struct view_function_list *list = session->functions;
	struct trace_row_id id;

	for (size_t i = 0; list && i < list->nr; i++) {
		const struct view_function *item = &list->items[i];
		const struct wait_place *place = &item->place;

		if (item->key)
			string_addf(notes, "wait %zu:%s\n", strlen(item->key), item->key);
		else if (trace_view_row_of(session->view, item->thread, &id))
			string_addf(notes, "function %u\n", id.index);
		else
			continue;
		string_addf(notes, "%llu %llu %zu:%s\n", (unsigned long long)place->ns,
			    (unsigned long long)place->of_ns, strlen(place->function), place->function);
		if (item->key)
			string_addf(notes, "%llu %zu:%s\n", (unsigned long long)place->woken_in_ns,
				    strlen(place->woken_in), place->woken_in);
	}
}
