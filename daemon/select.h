/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SELECT_H
#define DAEMON_SELECT_H
/*
 * select.h - from what was typed after -e to a mask of events.
 *
 * A selection is a list of names separated by commas: classic classes (SCHED, FS ... and CORE), categories (sched, fs ...),
 * events (sched_switch), patterns (block_*), "all", "default". "-name" takes away, "+name" adds. A selection that begins with
 * either starts from the defaults, any other one from nothing.
 *
 * Names with a colon are patterns of programs' events, "shop:*"; the category "user" and "all" mean all of them. Programs' events are chosen
 * apart from the kernel's: as long as none is named all are recorded. Probes are chosen with them. "!" is another way to write "-".
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <trace/error.h>
#include <trace/events.h>

#define SELECT_NAME_MAX 128
#define SELECT_MAX_USER 32
#define SELECT_TEXT_BYTES (SELECT_MAX_USER * (SELECT_NAME_MAX + 2)) /* of select_print_user(), at most */

/**
 * struct selection - zeroed = nothing typed yet
 * @mask: the events chosen so far
 * @removed: those taken away by name: select_finish() does not bring them back
 * @user: patterns of programs' events, of which the last that matches counts; @no_user: none of them at all
 */
struct selection {
	uint64_t mask[TRACE_MASK_WORDS];
	uint64_t removed[TRACE_MASK_WORDS];
	bool begun;
	bool no_user;
	size_t nr_user;
	struct select_user {
		char pattern[SELECT_NAME_MAX];
		bool removes;
		bool adds_to_all; /* the first one, with a sign: starts from all */
		bool matched;	  /* some program has such an event */
	} user[SELECT_MAX_USER];
};

/** select_wants_user() - is the event of this name, "provider:event", to be recorded? */
bool select_wants_user(const struct selection *selection, const char *name);
/** select_wants_any_user() - may there be one that is? */
bool select_wants_any_user(const struct selection *selection);
/** select_wants_probe() - the same of a probe, which goes by several names: a pattern of any of them counts. --no-user does not concern it */
bool select_wants_probe(const struct selection *selection, const char *const *names, size_t nr_names);
/**
 * select_note_user(), select_note_probe() - a program has this event, or there is this probe
 * select_unmatched() - the first pattern from *@at on that nothing was called by, moving *@at; NULL: none
 */
void select_note_user(struct selection *selection, const char *name);
void select_note_probe(struct selection *selection, const char *const *names, size_t nr_names);
const char *select_unmatched(const struct selection *selection, size_t *at);
/** select_print_user() - the patterns as they would be typed, "all" if there are none; writes at most @size bytes with the NUL */
void select_print_user(const struct selection *selection, char *buffer, size_t size);

/** select_add() - one -e option; several add up. -EINVAL: an unknown name; the message suggests near ones */
int select_add(struct selection *selection, const char *names, struct trace_error *ret_error);

/**
 * select_finish() - the mask to record
 * Adds what a trace cannot be read without: scheduling changes and the life of processes (records carry no pid; who ran is
 * known from these), unless taken away by name, and the trace's events about itself, always. Nothing typed = the defaults.
 * Returns true when something was added that was not asked for.
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

/** select_list() - all events with category, class, default and what they mean, for --list */
void select_list(FILE *out);

/** select_print_mask() - the classic line and the names of the events of @mask; writes at most @size bytes with the NUL */
void select_print_mask(const uint64_t mask[TRACE_MASK_WORDS], char *buffer, size_t size);
#endif
