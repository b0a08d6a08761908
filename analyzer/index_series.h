/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_INDEX_SERIES_H
#define ANALYZER_INDEX_SERIES_H
/*
 * index_series.h - the entries of series as columns, for the index of a view.
 *
 * An entry is a value and a duration; the next entry begins where it ends. The values are a column
 * of numbers. A duration is a symbol, the number of its bits with the first three of them, and the
 * bits that follow. Durations of one kind, such as those in own code or those of waits for files,
 * have a column of symbols of their own, because they are similar. The columns are compressed; the
 * bits that follow are a stream that is not, because they are random.
 *
 * Entries that end by an event of the trace have no duration: index_times.h. Which entries those
 * are follows from their values. A column has the exceptions.
 *
 * Blocks have INDEX_BLOCK entries each, of series that follow each other, and may begin and end
 * within a series. A block is a section of the index (index_file.h), so that each can be read
 * alone, and neither the writer nor a reader has more than one in memory.
 */
#include <trace/error.h>
#include "critical_path_history.h"
#include "index_file.h"

#define INDEX_BLOCK (1u << 18)

/**
 * struct stored_series - a series of an index
 * @timeline: of a thread: has @series, and pieces; NULL: it is of a CPU, and its values are
 *     timelines, or the highest numbers
 */
struct stored_series {
	struct series *series;
	struct thread_timeline *timeline;
};

struct index_times;
/**
 * series_save() - write all entries of @list to @out, in blocks of @block_entries
 * @times: which entries have no duration (index_times.h); NULL: all have one
 * Sets @out->error if an entry is not as the history makes it.
 */
void series_save(const struct trace_history *history, const struct stored_series *list, size_t nr,
		 uint32_t block_entries, const struct index_times *times, struct index_out *out);
/**
 * series_load() - the entries of @list, of which the number of entries and of pieces is known
 * @list: each series has its begin in series.end, and no arrays yet. They become parts of
 *	history.memory
 * @has_times: times_fill() makes times of what series.from has then
 * @at: of the first block in @in; the last one ends with @in
 * Returns 0; -EBADMSG if anything cannot be; -ENOMEM.
 */
int series_load(struct trace_history *history, const struct stored_series *list, size_t nr, uint32_t block_entries,
		bool has_times, const struct index_in *in, uint64_t at) TRACE_NODISCARD;
#endif
