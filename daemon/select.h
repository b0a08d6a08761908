/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_SELECT_H
#define DAEMON_SELECT_H
/*
 * select.h - from what was typed after -e to a mask of events.
 *
 * A selection is a list of names separated by commas: classic classes (SCHED, FS ... and CORE), categories (sched, fs ...),
 * events (sched_switch), patterns (block_*), "all", "default". "-name" takes away, "+name" adds. A selection that begins with
 * either starts from the defaults, any other one from nothing.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <trace/error.h>
#include <trace/events.h>

/**
 * struct selection - zeroed = nothing typed yet
 * @mask: the events chosen so far
 * @removed: those taken away by name: select_finish() does not bring them back
 */
struct selection {
	uint64_t mask[TRACE_MASK_WORDS];
	uint64_t removed[TRACE_MASK_WORDS];
	bool begun;
};

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
