/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "profile_waker.h"

#include <string.h>
#include "value_text.h"

#define ALL_OF_IT 99.5 /* percent: less is printed */

const char *profile_waker_name(struct profile_names *names, const struct trace_profile_share *share,
			       struct profile_stack *stack)
{
	const struct frame_name *name;

	if (share->waker_kind == TRACE_PROFILE_WAKER_NONE)
		return NULL;
	if (share->waker_kind != TRACE_PROFILE_WAKER_THREAD)
		return trace_profile_waker_word(share->waker_kind);
	profile_stack_of(names, share->waker_frame, stack);
	name = profile_place_in(names, stack);
	if (!name)
		return "(kernel)";
	return *name->name ? profile_names_keep(names, name->name) : "(no name)";
}

void woken_in_add(struct woken_in **list, const char *name, uint64_t ns, struct pointers *owner)
{
	struct woken_in *at = *list;

	if (!name || !ns)
		return;
	while (at && strcmp(at->name, name) != 0)
		at = at->next;
	if (!at) {
		at = memory_take(1, sizeof(*at));
		*at = (struct woken_in){.name = name, .next = *list};
		pointers_add(owner, at);
		*list = at;
	}
	at->ns += ns;
}

const struct woken_in *woken_in_most(const struct woken_in *list)
{
	const struct woken_in *most = list;

	for (; list; list = list->next)
		if (list->ns > most->ns || (list->ns == most->ns && strcmp(list->name, most->name) < 0))
			most = list;
	return most;
}

void woken_in_text(const struct woken_in *list, uint64_t whole_ns, struct string *text)
{
	const struct woken_in *most = woken_in_most(list);
	double part = most ? percent(most->ns, whole_ns) : 0;

	if (!most)
		return;
	string_add(text, most->name);
	if (part < ALL_OF_IT)
		string_addf(text, " %.0f %%", part);
}
