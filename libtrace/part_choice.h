/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_PART_CHOICE_H
#define LIBTRACE_PART_CHOICE_H
/* part_choice.h - which events a part of a trace keeps. */
#include <trace/error.h>
#include <trace/writer.h>

/**
 * struct part_choice - zeroed = empty
 * @bits: owned; one for each event, in the order of a cursor without gaps; set: it is kept
 */
struct part_choice {
	uint64_t *bits;
	size_t room;
	uint64_t nr;
	bool failed;
};

static inline bool part_choice_has(const struct part_choice *choice, uint64_t idx)
{
	return idx < choice->nr && choice->bits[idx / 64] >> idx % 64 & 1;
}

/** part_choose() - returns 0, -EBADMSG (a chunk is damaged) or -ENOMEM */
int part_choose(const struct trace *trace, const struct trace_part *part, struct part_choice *ret_choice,
		struct trace_error *ret_error) TRACE_NODISCARD;
void part_choice_release(struct part_choice *choice);
#endif
