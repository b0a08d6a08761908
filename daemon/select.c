/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "select.h"

#include <errno.h>
#include <fnmatch.h>
#include <string.h>
#include <strings.h>
#include <trace/reader.h>

#include "format_text.h"
#include "select_condition.h"
#include "similar.h"

#define SELECT_SUGGESTIONS 3
#define CHANGES		   6 /* by which a mask is shorter to tell than by its number of events */

/*
 * The original toolkit's option -eCORE, and its classes without events here or with events that are
 * always on.
 */
static const char *const select_core[] = {"SYS_ENTRY", "SYS_EXIT", "TRAP_ENTRY", "TRAP_EXIT",
					  "IRQ_ENTRY", "IRQ_EXIT", "SCHED"};
static const char *const select_accepted[] = {"START", "CHMSK", "HEARTBEAT", "CSTM", "NEWEV"};

/* Without these events the reader does not know the thread of an event. */
static const uint16_t select_always_needed[] = {TRACE_EV_sched_switch, TRACE_EV_sched_fork, TRACE_EV_sched_exec,
						TRACE_EV_sched_exit,   TRACE_EV_sched_free, TRACE_EV_sched_comm};

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))

static bool name_is_in(const char *name, const char *const *names, size_t nr_names)
{
	for (size_t i = 0; i < nr_names; i++)
		if (!strcasecmp(name, names[i]))
			return true;
	return false;
}

/* ---- from one name to a mask ---- */

static bool is_selectable(const struct trace_event_type *type)
{
	return type->category != TRACE_CATEGORY_TRACE && type->category != TRACE_CATEGORY_START;
}

static bool matches_class(const struct trace_event_type *type, const char *name)
{
	return strcmp(type->classic, "NONE") && !strcmp(type->classic, name);
}

static bool matches_category(const struct trace_event_type *type, const char *name)
{
	return !strcasecmp(trace_category_name(type->category), name);
}

/*
 * sys_enter, sys_enter3 and sys_enter6 are one event in three sizes; each name selects all three.
 */
static bool matches_event(const struct trace_event_type *type, const char *name)
{
	size_t type_chars = strcspn(type->name, "0123456789"), name_chars = strcspn(name, "0123456789");

	if (!strcasecmp(type->name, name))
		return true;
	return !strcmp(type->program, "sys_enter") && !strncmp(name, "sys_enter", 9) && type_chars == name_chars &&
	       !strncmp(type->name, name, name_chars);
}

static bool matches_pattern(const struct trace_event_type *type, const char *name)
{
	return strpbrk(name, "*?[") && fnmatch(name, type->name, 0) == 0;
}

static bool matches_all(const struct trace_event_type *type, const char *name)
{
	return !strcasecmp(name, "all");
}

static bool matches_default(const struct trace_event_type *type, const char *name)
{
	return !strcasecmp(name, "default") && (type->flags & TRACE_EVENT_ON);
}

static bool matches_core(const struct trace_event_type *type, const char *name)
{
	return !strcasecmp(name, "CORE") && name_is_in(type->classic, select_core, ARRAY_SIZE(select_core));
}

static bool matches_class_any_case(const struct trace_event_type *type, const char *name)
{
	return strcmp(type->classic, "NONE") && !strcasecmp(type->classic, name);
}

/*
 * The order matters: the first rule with a match wins. So SCHED is the class and sched the
 * category.
 */
static bool (*const select_rules[])(const struct trace_event_type *, const char *) = {
	matches_all,	  matches_default, matches_core,    matches_class,
	matches_category, matches_event,   matches_pattern, matches_class_any_case,
};

static bool select_resolve(const char *name, uint64_t ret_mask[TRACE_MASK_WORDS])
{
	const struct trace_event_type *type;
	bool found = false;

	memset(ret_mask, 0, TRACE_MASK_WORDS * sizeof(ret_mask[0]));
	for (size_t rule = 0; rule < ARRAY_SIZE(select_rules) && !found; rule++)
		for (size_t i = 0; i < trace_catalogue_size(); i++) {
			type = trace_catalogue_type(i);
			if (!is_selectable(type) || !select_rules[rule](type, name))
				continue;
			select_set(ret_mask, type->id);
			found = true;
		}
	return found || name_is_in(name, select_accepted, ARRAY_SIZE(select_accepted));
}

/* ---- suggestions for an unknown name ---- */

struct suggestions {
	const char *names[SELECT_SUGGESTIONS];
	size_t distances[SELECT_SUGGESTIONS];
	size_t nr;
};

static void suggest(struct suggestions *best, const char *wanted, const char *candidate)
{
	size_t distance, at;

	if (!similar_is_near(wanted, candidate, &distance))
		return;
	for (size_t i = 0; i < best->nr; i++)
		if (!strcmp(best->names[i], candidate))
			return;
	for (at = best->nr; at > 0 && best->distances[at - 1] > distance; at--)
		;
	if (at == SELECT_SUGGESTIONS)
		return;
	if (best->nr < SELECT_SUGGESTIONS)
		best->nr++;
	for (size_t i = best->nr - 1; i > at; i--) {
		best->names[i] = best->names[i - 1];
		best->distances[i] = best->distances[i - 1];
	}
	best->names[at] = candidate;
	best->distances[at] = distance;
}

static int unknown_name(const char *name, struct trace_error *ret_error)
{
	struct suggestions best = {.nr = 0};
	char list[SELECT_SUGGESTIONS * (SELECT_NAME_MAX + 2)] = "";
	const struct trace_event_type *type;

	for (size_t i = 0; i < trace_catalogue_size(); i++) {
		type = trace_catalogue_type(i);
		if (!is_selectable(type))
			continue;
		suggest(&best, name, type->name);
		suggest(&best, name, trace_category_name(type->category));
		if (strcmp(type->classic, "NONE"))
			suggest(&best, name, type->classic);
	}
	for (size_t i = 0; i < best.nr; i++) {
		strncat(list, i ? ", " : "", sizeof(list) - strlen(list) - 1);
		strncat(list, best.names[i], sizeof(list) - strlen(list) - 1);
	}
	return error_set(ret_error, -EINVAL, "no event, category or class is called \"%s\"%s%s; see tracedaemon --list",
			 name, best.nr ? "; similar names: " : "", list);
}

/* ---- selections ---- */

/* ---- events of programs ---- */

static bool matches_one(const struct select_user *user, const char *const *names, size_t nr_names)
{
	for (size_t i = 0; i < nr_names; i++)
		if (fnmatch(user->pattern, names[i], 0) == 0)
			return true;
	return false;
}

bool select_wants_probe(const struct selection *selection, const char *const *names, size_t nr_names)
{
	bool wanted = !selection->nr_user || selection->user[0].adds_to_all;

	for (size_t i = 0; i < selection->nr_user; i++)
		if (matches_one(&selection->user[i], names, nr_names))
			wanted = !selection->user[i].removes;
	return wanted;
}

bool select_wants_user(const struct selection *selection, const char *name)
{
	return !selection->no_user && select_wants_probe(selection, &name, 1);
}

bool select_wants_any_user(const struct selection *selection)
{
	bool any = !selection->nr_user || selection->user[0].adds_to_all;

	for (size_t i = 0; i < selection->nr_user; i++)
		if (!selection->user[i].removes || !strcmp(selection->user[i].pattern, "*"))
			any = !selection->user[i].removes;
	return any && !selection->no_user;
}

void select_note_probe(struct selection *selection, const char *const *names, size_t nr_names)
{
	for (size_t i = 0; i < selection->nr_user; i++)
		selection->user[i].matched |= matches_one(&selection->user[i], names, nr_names);
}

void select_note_user(struct selection *selection, const char *name)
{
	select_note_probe(selection, &name, 1);
}

/* Patterns that remove events, and patterns for all events, may match nothing. */
const struct select_user *select_unmatched(const struct selection *selection, size_t *at)
{
	while (*at < selection->nr_user) {
		const struct select_user *user = &selection->user[(*at)++];

		if (!user->matched && !user->removes && strcmp(user->pattern, "*") != 0)
			return user;
	}
	return NULL;
}

void select_print_pattern(const struct select_user *user, char *text, size_t size)
{
	snprintf(text, size, *user->condition ? "%s[%s]" : "%s", user->pattern, user->condition);
}

void select_print_user(const struct selection *selection, char *buffer, size_t size)
{
	char pattern[SELECT_PATTERN_MAX];
	size_t used = 0;

	snprintf(buffer, size, "%s", selection->nr_user ? "" : "all");
	for (size_t i = 0; i < selection->nr_user && used < size; i++) {
		select_print_pattern(&selection->user[i], pattern, sizeof(pattern));
		used += (size_t)snprintf(buffer + used, size - used, "%s%s%s", i ? "," : "",
					 selection->user[i].removes	  ? "-"
					 : selection->user[0].adds_to_all ? "+"
									  : "",
					 pattern);
	}
}

const char *select_condition(const struct selection *selection, const char *const *names, size_t nr_names)
{
	const char *condition = "";

	for (size_t i = 0; i < selection->nr_user; i++)
		if (matches_one(&selection->user[i], names, nr_names))
			condition = selection->user[i].condition;
	return condition;
}

/* A pattern for any provider means programs: else "*:paid" would record parts of the kernel. */
bool select_spec(const struct selection *selection, size_t idx, char *text, size_t size)
{
	const struct select_user *user = &selection->user[idx];

	if (user->removes || !strchr(user->pattern, ':') || strchr("*?[", *user->pattern))
		return false;
	snprintf(text, size, "tracepoint:%s", user->pattern);
	return true;
}

/* The pattern if @name selects events of programs; else NULL. */
static const char *user_pattern(const char *name)
{
	if (!strcasecmp(name, "user") || !strcasecmp(name, "all"))
		return "*";
	return strchr(name, ':') ? name : NULL;
}

/*
 * A repeated pattern replaces the earlier one, so that switching all day does not fill the list.
 * The first entry stays, because it also determines whether the list starts from all events.
 */
static void drop_same(struct selection *selection, const char *pattern)
{
	for (size_t i = 1; i < selection->nr_user; i++) {
		if (strcmp(selection->user[i].pattern, pattern))
			continue;
		selection->nr_user--;
		memmove(&selection->user[i], &selection->user[i + 1],
			(selection->nr_user - i) * sizeof(selection->user[0]));
		return;
	}
}

static int select_add_user(struct selection *selection, const char *pattern, const char *condition, char sign,
			   struct trace_error *ret_error)
{
	struct select_user *user;

	if (*condition && sign == '-')
		return error_set(
			ret_error, -EINVAL,
			"-%s[%s]: a condition selects events; to leave some out, select the others with !(...)",
			pattern, condition);
	drop_same(selection, pattern);
	if (!strcmp(pattern, "*"))
		selection->nr_user = 0; /* earlier patterns have no effect any more */
	user = &selection->user[selection->nr_user];
	if (selection->nr_user == SELECT_MAX_USER)
		return error_set(ret_error, -EINVAL,
				 "at most %d patterns of programs' events; use a wildcard for many: 'shop:*'",
				 SELECT_MAX_USER);
	*user = (struct select_user){.removes = sign == '-', .adds_to_all = sign && !selection->nr_user};
	snprintf(user->pattern, sizeof(user->pattern), "%s", pattern);
	snprintf(user->condition, sizeof(user->condition), "%s", condition);
	selection->nr_user++;
	return 0;
}

/* Only events with fields that the recorder can compare have conditions. */
static int check_condition(const char *name, const char *condition, struct trace_error *ret_error)
{
	if (!*condition || strchr(name, ':'))
		return 0;
	return error_set(ret_error, -EINVAL,
			 "%s[%s]: only PROVIDER:EVENT of programs and SUBSYSTEM:EVENT of the kernel take a condition",
			 name, condition);
}

static int select_add_name(struct selection *selection, const char *item, struct trace_error *ret_error)
{
	char sign = *item == '-' || *item == '!' ? '-' : *item == '+' ? '+' : '\0';
	char name[SELECT_NAME_MAX], condition[SELECT_CONDITION_MAX];
	const char *pattern;
	uint64_t mask[TRACE_MASK_WORDS];
	int err = select_split(item + (sign != '\0'), name, sizeof(name), condition, sizeof(condition), ret_error);

	if (!err)
		err = check_condition(name, condition, ret_error);
	if (err)
		return err;
	pattern = user_pattern(name);
	if (pattern) {
		err = select_add_user(selection, pattern, condition, sign, ret_error);
		if (err)
			return err;
		if (!selection->begun && sign)
			select_resolve("default", selection->mask);
		selection->begun = true;
		if (strchr(name, ':'))
			return 0;
	}
	if (!select_resolve(name, mask))
		return unknown_name(name, ret_error);
	if (!selection->begun && sign)
		select_resolve("default", selection->mask);
	selection->begun = true;
	for (int i = 0; i < TRACE_MASK_WORDS; i++) {
		if (sign == '-') {
			selection->mask[i] &= ~mask[i];
			selection->removed[i] |= mask[i];
		} else {
			selection->mask[i] |= mask[i];
			selection->removed[i] &= ~mask[i];
		}
	}
	return 0;
}

int select_add(struct selection *selection, const char *names, struct trace_error *ret_error)
{
	struct selection result = *selection;
	char item[SELECT_PATTERN_MAX];
	size_t chars;
	int err;

	for (;; names++) {
		chars = (size_t)(select_item_end(names) - names);
		if (chars == 0)
			return error_set(ret_error, -EINVAL, "the name of an event is missing; see tracedaemon --list");
		if (chars >= sizeof(item))
			return error_set(ret_error, -EINVAL,
					 "\"%.20s...\" is too long for the name of an event; see tracedaemon --list",
					 names);
		memcpy(item, names, chars);
		item[chars] = '\0';
		err = select_add_name(&result, item, ret_error);
		if (err)
			return err;
		names += chars;
		if (!*names)
			break;
	}
	*selection = result;
	return 0;
}

bool select_finish(const struct selection *selection, uint64_t ret_mask[TRACE_MASK_WORDS])
{
	bool added = false;

	if (selection->begun)
		memcpy(ret_mask, selection->mask, sizeof(selection->mask));
	else
		select_resolve("default", ret_mask);
	for (size_t i = 0; i < ARRAY_SIZE(select_always_needed); i++) {
		if (select_has(ret_mask, select_always_needed[i]) ||
		    select_has(selection->removed, select_always_needed[i]))
			continue;
		select_set(ret_mask, select_always_needed[i]);
		added = true;
	}
	for (size_t i = 0; i < trace_catalogue_size(); i++)
		if (!is_selectable(trace_catalogue_type(i)))
			select_set(ret_mask, trace_catalogue_type(i)->id);
	return added;
}

/* ---- output ---- */

static const char *default_word(const struct trace_event_type *type)
{
	if (!is_selectable(type))
		return "always";
	return type->flags & TRACE_EVENT_ON ? "on" : "off";
}

void select_list(FILE *out)
{
	const struct trace_event_type *type;

	fprintf(out, "%-18s %-9s %-11s %-8s %s\n", "EVENT", "CATEGORY", "CLASS", "DEFAULT", "DESCRIPTION");
	for (size_t i = 0; i < trace_catalogue_size(); i++) {
		type = trace_catalogue_type(i);
		fprintf(out, "%-18s %-9s %-11s %-8s %s\n", type->name, trace_category_name(type->category),
			strcmp(type->classic, "NONE") ? type->classic : "-", default_word(type), type->doc);
	}
}

void select_print_changes(const uint64_t mask[TRACE_MASK_WORDS], char *buffer, size_t size)
{
	const struct selection none = {0};
	uint64_t usual[TRACE_MASK_WORDS];
	size_t used, changes = 0, events = 0;

	select_finish(&none, usual);
	used = (size_t)snprintf(buffer, size, "default");
	for (size_t i = 0; i < trace_catalogue_size(); i++) {
		const struct trace_event_type *type = trace_catalogue_type(i);
		bool is_on = select_has(mask, type->id);

		events += is_on && is_selectable(type);
		if (!is_selectable(type) || is_on == select_has(usual, type->id))
			continue;
		changes++;
		if (used < size)
			used += (size_t)snprintf(buffer + used, size - used, ",%c%s", is_on ? '+' : '-', type->name);
	}
	if (changes > CHANGES)
		snprintf(buffer, size, "%zu", events);
}

void select_print_mask(const uint64_t mask[TRACE_MASK_WORDS], char *buffer, size_t size)
{
	size_t used, column = 0, chars;
	const char *name;

	used = (size_t)snprintf(buffer, size, "Current event mask 0x%016llX%016llX%016llX%016llX",
				(unsigned long long)mask[3], (unsigned long long)mask[2], (unsigned long long)mask[1],
				(unsigned long long)mask[0]);
	for (size_t i = 0; i < trace_catalogue_size(); i++) {
		name = trace_catalogue_type(i)->name;
		chars = strlen(name);
		if (!select_has(mask, trace_catalogue_type(i)->id) || used + chars + 3 > size)
			continue;
		if (column == 0 || column + chars + 1 > 78) {
			used += (size_t)snprintf(buffer + used, size - used, "\n  %s", name);
			column = chars + 2;
		} else {
			used += (size_t)snprintf(buffer + used, size - used, " %s", name);
			column += chars + 1;
		}
	}
	if (used + 2 <= size)
		memcpy(buffer + used, "\n", 2);
}
