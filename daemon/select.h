/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SELECT_H
#define DAEMON_SELECT_H
/*
 * select.h - translate the argument of -e into a mask of events
 *
 * A selection is a comma-separated list of names: classic classes (SCHED, FS ... and CORE),
 * categories (sched, fs ...), events (sched_switch), patterns (block_*), "all", "default". "-name"
 * removes, "+name" adds. A selection that begins with either starts from the defaults; any other
 * one starts from nothing.
 *
 * Names with a colon are patterns for events of programs, such as "shop:*", and for tracepoints of
 * the kernel, such as "ext4:*". A condition may follow (select_condition.h). The category "user"
 * and
 * "all" select all of them. Events of programs are selected independently of kernel events: all
 * are
 * recorded unless the list names any. Probes are selected with them. "!" means the same as "-".
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <trace/error.h>
#include <trace/events.h>

#define SELECT_NAME_MAX	     128
#define SELECT_MAX_USER	     32
#define SELECT_CONDITION_MAX 256
#define SELECT_PATTERN_MAX   (SELECT_NAME_MAX + SELECT_CONDITION_MAX + 2) /* "pattern[condition]" */
/* the maximum length of select_print_user() */
#define SELECT_TEXT_BYTES (SELECT_MAX_USER * (SELECT_PATTERN_MAX + 2))

/**
 * struct selection - zeroed: no options yet
 * @mask: the events selected so far
 * @removed: events removed by name; select_finish() does not add them again
 * @user: patterns for events of programs; the last one that matches decides
 * @no_user: record no events of programs
 */
struct selection {
	uint64_t mask[TRACE_MASK_WORDS];
	uint64_t removed[TRACE_MASK_WORDS];
	bool begun;
	bool no_user;
	size_t nr_user;
	struct select_user {
		char pattern[SELECT_NAME_MAX];
		char condition[SELECT_CONDITION_MAX]; /* record only if it holds; "": always */
		bool removes;
		bool adds_to_all; /* in the first entry, if it has a sign: the list starts from all */
		bool matched;	  /* a program has such an event */
	} user[SELECT_MAX_USER];
};

/** select_wants_user() - is the event of this name, "provider:event", to be recorded? */
bool select_wants_user(const struct selection *selection, const char *name);
/** select_wants_any_user() - can any event of a program be selected? */
bool select_wants_any_user(const struct selection *selection);
/**
 * select_wants_probe() - is a probe with these names to be recorded? A pattern may match any of
 * them
 * --no-user does not affect probes.
 */
bool select_wants_probe(const struct selection *selection, const char *const *names, size_t nr_names);
/**
 * select_condition() - the condition of the last pattern that matches one of these names; "": none
 */
const char *select_condition(const struct selection *selection, const char *const *names, size_t nr_names);
/** select_print_pattern() - "pattern" or "pattern[condition]" */
void select_print_pattern(const struct select_user *user, char *text, size_t size);
/**
 * select_spec() - entry @idx as text of a probe of the kernel's tracepoints; false: it cannot mean
 * any
 */
bool select_spec(const struct selection *selection, size_t idx, char *text, size_t size);

/**
 * select_note_user(), select_note_probe() - note that this event or probe exists
 * select_unmatched() - the first pattern at or after *@at that matched nothing; advances *@at.
 * NULL: none
 */
void select_note_user(struct selection *selection, const char *name);
void select_note_probe(struct selection *selection, const char *const *names, size_t nr_names);
const struct select_user *select_unmatched(const struct selection *selection, size_t *at);
/**
 * select_print_user() - print the patterns as an argument of -e; "all" if there are none
 * Writes at most @size bytes with the NUL.
 */
void select_print_user(const struct selection *selection, char *buffer, size_t size);

/**
 * select_add() - add one -e option. -EINVAL: an unknown name; the message suggests similar ones
 */
int select_add(struct selection *selection, const char *names, struct trace_error *ret_error);

/**
 * select_finish() - the mask to record
 * It adds the events that every reader needs: scheduling changes and process life cycle, unless
 * they were removed by name. Records carry no pid, so the running thread follows from these
 * events.
 * The trace's events about itself are always added. Without options: the defaults.
 * Returns true if it added events that the options do not name.
 */
bool select_finish(const struct selection *selection, uint64_t ret_mask[TRACE_MASK_WORDS]);

static inline bool select_has(const uint64_t mask[TRACE_MASK_WORDS], uint32_t id)
{
	return id < TRACE_EV_MAX && mask[id / 64] >> id % 64 & 1;
}

static inline void select_set(uint64_t mask[TRACE_MASK_WORDS], uint32_t id)
{
	mask[id / 64] |= 1ULL << id % 64;
}

/** select_list() - print all events with category, class, default and meaning, for --list */
void select_list(FILE *out);

/**
 * select_print_mask() - print the classic line and the names of the events in @mask
 * Writes at most @size bytes with the NUL.
 */
void select_print_mask(const uint64_t mask[TRACE_MASK_WORDS], char *buffer, size_t size);
/**
 * select_print_changes() - print @mask as an argument of -e, "default,-futex,+page_alloc", or its
 * number of events if it differs from the default in many
 * Writes at most @size bytes with the NUL.
 */
void select_print_changes(const uint64_t mask[TRACE_MASK_WORDS], char *buffer, size_t size);
#endif
