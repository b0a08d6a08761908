/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_PROFILE_LABELS_H
#define ANALYZER_PROFILE_LABELS_H
/* profile_labels.h - labels of the time of threads, by which a profile divides it. */
#include <trace/profile.h>

/** struct profile_labels - @list: owned, by thread and time; zeroed: none */
struct profile_labels {
	struct trace_profile_label *list;
	size_t nr;
};

/**
 * profile_labels_set() - copy @nr labels, instead of those before
 * Returns 0, -ENOMEM, or -EINVAL: labels of a thread overlap, or one is empty
 */
int profile_labels_set(struct profile_labels *labels, const struct trace_profile_label *list,
		       size_t nr) TRACE_NODISCARD;
void profile_labels_clear(struct profile_labels *labels);
/**
 * profile_label_at() - the label of the thread at @ns; 0: none
 * @end_ns: NULL, or lowered to the end of the time from @ns on that has this label
 */
uint32_t profile_label_at(const struct profile_labels *labels, uint32_t thread, uint64_t ns, uint64_t *end_ns);
#endif
