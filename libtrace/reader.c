/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* reader.c - open a trace, except for its events. */
#include "trace.h"

#include "catalogue.h"
#include "chunk.h"
#include "error_set.h"
#include "index.h"
#include "loss_ledger.h"
#include "metadata.h"
#include "growing.h"
#include "gaps.h"
#include "opening.h"
#include "plausible.h"
#include "spool.h"
#include "stored_file.h"
#include "timeline.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <trace/saturate.h>
#include <unistd.h>
#include <xxhash.h>

/* ---- the file ---- */

static int file_map(struct trace *trace, const char *path, struct trace_error *ret_error)
{
	struct stat stat;
	void *data;

	trace->fd = spool_open(path, ret_error);
	if (trace->fd < 0)
		return trace->fd;
	if (fstat(trace->fd, &stat) < 0)
		return error_set(ret_error, -errno, "%s: cannot open the trace: %s", path, strerror(errno));
	trace->mtime_ns = file_mtime_ns(&stat);
	if (stat.st_size == 0) /* load() refuses it; a mapping of no bytes is an error */
		return 0;
	data = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, trace->fd, 0);
	if (data == MAP_FAILED)
		return error_set(ret_error, -errno, "%s: cannot map the trace: %s", path, strerror(errno));
	trace->data = data;
	trace->bytes = trace->mapped_bytes = (size_t)stat.st_size;
	trace->head = file_head(data, trace->bytes);
	return 0;
}

static bool has_chunk_somewhere(const struct trace *trace, uint64_t *ret_at)
{
	uint64_t near = trace->bytes < TRACE_SEARCHED_BYTES ? trace->bytes : TRACE_SEARCHED_BYTES;
	struct trace_chunk_header header;

	for (uint64_t at = 0; at < near; at++) {
		const unsigned char *found = memmem(trace->data + at, near - at, TRACE_CHUNK_MAGIC, TRACE_MAGIC_BYTES);

		if (!found)
			return false;
		at = (uint64_t)(found - trace->data);
		if (!chunk_header_read(trace, at, &header)) {
			*ret_at = at;
			return true;
		}
	}
	return false;
}

/*
 * The header of the file is damaged. A good chunk near the beginning shows that the file is a trace
 * nevertheless.
 */
static int file_header_damaged(struct trace *trace, uint64_t *ret_first, struct trace_error *ret_error)
{
	if (!has_chunk_somewhere(trace, ret_first))
		return error_set(ret_error, -EINVAL, "%s: is not a trace of this toolkit", trace->path);
	trace->info.version_major = TRACE_FORMAT_MAJOR;
	return trace_add_damage(trace, 0, *ret_first,
				"offset 0: the header of the file is damaged; the recording's start is unknown");
}

int file_header_read(struct trace *trace, uint64_t *ret_first, bool *ret_good, struct trace_error *ret_error)
{
	struct trace_file_header header;
	uint64_t checksum;

	*ret_good = false;
	if (trace->bytes < sizeof(header))
		return error_set(ret_error, -EINVAL,
				 "%s: has %zu bytes, and a trace at least %zu: its recording was cut at the begin, or "
				 "it is no trace",
				 trace->path, (size_t)trace->bytes, sizeof(header));
	memcpy(&header, trace->data, sizeof(header));
	if (memcmp(header.magic, TRACE_FILE_MAGIC, TRACE_MAGIC_BYTES) != 0 || header.header_bytes < sizeof(header) ||
	    header.header_bytes > trace->bytes)
		return file_header_damaged(trace, ret_first, ret_error);
	memcpy(&checksum, trace->data + header.header_bytes - sizeof(checksum), sizeof(checksum));
	if (XXH3_64bits(trace->data, header.header_bytes - sizeof(checksum)) != checksum)
		return file_header_damaged(trace, ret_first, ret_error);
	if (header.version_major != TRACE_FORMAT_MAJOR)
		return error_set(
			ret_error, -ENOTSUP,
			"%s: is a trace of format %u.%u, this program reads %u: use %s version of it, or record again",
			trace->path, header.version_major, header.version_minor, TRACE_FORMAT_MAJOR,
			header.version_major > TRACE_FORMAT_MAJOR ? "a newer" : "an earlier");
	trace->info.version_major = header.version_major;
	trace->info.version_minor = header.version_minor;
	trace->info.start_ns = header.start_ns;
	trace->info.start_realtime_ns = header.start_realtime_ns;
	trace->schema_checksum = header.schema_checksum;
	trace->trace_id = header.trace_id;
	*ret_first = header.header_bytes;
	*ret_good = true;
	return 0;
}

/* ---- event types ---- */

/*
 * If the trace's schema is missing, use the library's own types, provided that they are identical
 * (same checksum).
 */
static int schema_fall_back(struct trace *trace, bool header_is_good)
{
	size_t bytes;
	unsigned char *own;
	int error = 0;

	for (size_t i = 0; i < trace->schema.nr_types; i++)
		if (trace->schema.types[i]->id < TRACE_EV_MAX)
			return 0;
	own = schema_serialize_catalogue(&bytes);
	if (!own)
		return -ENOMEM;
	if (header_is_good && XXH3_64bits(own, bytes) == trace->schema_checksum)
		error = schema_add_catalogue(&trace->schema);
	free(own);
	return error;
}

/*
 * Compile the text template of each type. Events that the reader makes itself use the library's own
 * type.
 */
int templates_load(struct trace *trace)
{
	uint32_t nr = trace->nr_templates > TRACE_EV_MAX ? trace->nr_templates : TRACE_EV_MAX;
	struct text_template *templates;
	int error = 0;

	for (size_t i = 0; i < trace->schema.nr_types; i++)
		nr = trace->schema.types[i]->id < nr ? nr : trace->schema.types[i]->id + 1u;
	templates = reallocarray(trace->templates, nr, sizeof(*templates));
	if (!templates)
		return -ENOMEM;
	memset(templates + trace->nr_templates, 0, (nr - trace->nr_templates) * sizeof(*templates));
	trace->templates = templates;
	trace->nr_templates = nr;
	for (size_t i = 0; !error && i < trace->schema.nr_types; i++)
		if (!templates[trace->schema.types[i]->id].pieces)
			error = text_compile(trace->schema.types[i], &templates[trace->schema.types[i]->id]);
	if (!error && !trace->schema.by_id[TRACE_EV_trace_lost] && !templates[TRACE_EV_trace_lost].pieces)
		error = text_compile(catalogue_by_id(TRACE_EV_trace_lost), &templates[TRACE_EV_trace_lost]);
	return error;
}

/* ---- times ---- */

void window_load(struct trace *trace, bool header_is_good)
{
	if (!header_is_good && trace->first_ns != UINT64_MAX)
		trace->info.start_ns = trace->first_ns;
	if (trace->info.end_ns < trace->last_ns)
		trace->info.end_ns = trace->last_ns;
	if (trace->info.end_ns < trace->info.start_ns)
		trace->info.end_ns = trace->info.start_ns;
}

/* ---- trace_get_info() ---- */

static const char *info_text(const struct trace *trace, enum trace_info_key key)
{
	const char *text = trace_string(trace, TRACE_STRING_INFO, key);

	return text ? text : "";
}

/*
 * A flight recording reaches back further on some CPUs than on others. Find the time from which on
 * all CPUs are recorded; before it the analysis can say little.
 */
static void whole_load(struct trace *trace)
{
	struct trace_info *info = &trace->info;

	info->complete_from_ns = info->start_ns;
	for (size_t i = 0; i < trace->nr_gaps; i++) {
		const struct trace_gap *gap = &trace->gaps[i];
		bool is_of_cpu = gap->stream < 2 * info->nr_cpus && gap->stream % 2 == 0;

		if (gap->cause == TRACE_GAP_OVERWRITTEN && is_of_cpu && gap->start_ns <= info->start_ns &&
		    gap->end_ns < info->end_ns && gap->end_ns > info->complete_from_ns)
			info->complete_from_ns = gap->end_ns;
	}
}

void info_load(struct trace *trace)
{
	trace->info.host = info_text(trace, TRACE_INFO_HOST);
	trace->info.kernel = info_text(trace, TRACE_INFO_KERNEL);
	trace->info.machine = info_text(trace, TRACE_INFO_MACHINE);
	trace->info.clock = info_text(trace, TRACE_INFO_CLOCK);
	trace->info.lost = 0;
	for (size_t i = 0; i < trace->nr_gaps; i++)
		trace->info.lost = trace_add_saturated(trace->info.lost, trace->gaps[i].lost);
	whole_load(trace);
}

/* ---- open, close ---- */

int chunks_are_known(struct trace *trace, bool header_is_good)
{
	bool is_unusable = false;
	int error = schema_fall_back(trace, header_is_good);

	if (!error)
		error = templates_load(trace);
	if (!error)
		error = plausible_load(trace, &is_unusable);
	if (error)
		return error;
	window_load(trace, header_is_good);
	if (is_unusable)
		trace->limit_ns = trace->info.end_ns;
	/* the start of the recording was unknown, or some chunks are refused */
	if (!header_is_good || is_unusable)
		ledger_restart(trace);
	error = ledger_add_chunks(trace);
	if (!error)
		error = ledger_load(trace);
	return error ? error : gaps_sort(trace);
}

/* Read all but the events of the file, which is in memory now. */
static int trace_load(struct trace *trace, struct trace_error *ret_error)
{
	uint64_t first = 0;
	bool header_is_good;
	struct metadata metadata = {0};
	int error;

	trace->info.file = trace->path;
	trace->info.file_bytes = trace->bytes;
	if (!trace->bytes)
		return error_set(ret_error, -EINVAL,
				 "%s: is empty, not a trace: nothing was recorded into it, or it was not copied",
				 trace->path);
	error = file_header_read(trace, &first, &header_is_good, ret_error);
	if (error)
		return error;
	trace->ledger = ledger_new();
	error = trace->ledger ? index_load(trace, first, header_is_good) : -ENOMEM;
	if (!error)
		error = metadata_load(trace, &metadata);
	error = metadata_end(trace, &metadata, error);
	if (!error)
		error = chunks_are_known(trace, header_is_good);
	trace->ledger = ledger_free(trace->ledger);
	if (!error)
		info_load(trace);
	else
		error_set(ret_error, error, "%s: cannot read the trace: %s", trace->path, strerror(-error));
	return error;
}

struct trace *trace_new(const char *name, struct trace_error *ret_error)
{
	struct trace *trace = calloc(1, sizeof(*trace));

	if (trace)
		trace->path = strdup(name);
	if (!trace || !trace->path) {
		free(trace);
		error_set(ret_error, -ENOMEM, "%s: no memory to open the trace", name);
		return NULL;
	}
	trace->fd = -1;
	trace->safe_ns = UINT64_MAX;
	trace->first_ns = trace->limit_ns = UINT64_MAX;
	trace->limit_cpus = UINT32_MAX;
	return trace;
}

struct trace *trace_open(const char *path, struct trace_error *ret_error)
{
	struct trace *trace = trace_new(path, ret_error);

	if (trace && (file_map(trace, path, ret_error) < 0 || trace_load(trace, ret_error) < 0))
		trace = trace_close(trace);
	return trace;
}

struct trace *trace_open_memory(const void *bytes, size_t size, const char *name, struct trace_error *ret_error)
{
	struct trace *trace = trace_new(name, ret_error);

	if (!trace)
		return NULL;
	trace->data = bytes;
	trace->bytes = size;
	if (trace_load(trace, ret_error) < 0)
		trace = trace_close(trace);
	return trace;
}

struct trace *trace_close(struct trace *trace)
{
	if (!trace)
		return NULL;
	for (size_t i = 0; i < trace->nr_damages; i++)
		free((char *)trace->damages[i].message);
	free(trace->damages);
	free(trace->gaps);
	free(trace->gaps_by_end);
	timeline_free(trace->timelines[0]);
	timeline_free(trace->timelines[1]);
	follow_free(trace->follow);
	ledger_free(trace->ledger);
	free(trace->table.pieces);
	free(trace->table.unlisted);
	free(trace->unusable);
	free(trace->public_chunks);
	free(trace->metadata);
	free(trace->streams);
	free(trace->statistics);
	free(trace->clocks);
	for (uint32_t id = 0; id < trace->nr_templates; id++)
		free(trace->templates[id].pieces);
	free(trace->templates);
	schema_release(&trace->schema);
	string_table_release(&trace->strings);
	if (trace->data && trace->fd >= 0)
		munmap((void *)trace->data, trace->mapped_bytes);
	if (trace->fd >= 0)
		close(trace->fd);
	free(trace->path);
	free(trace);
	return NULL;
}

/* ---- content ---- */

const struct trace_info *trace_get_info(const struct trace *trace)
{
	return &trace->info;
}

uint64_t trace_follow_safe_ns(const struct trace *trace)
{
	return trace->safe_ns;
}

size_t trace_nr_gaps(const struct trace *trace)
{
	return trace->nr_gaps;
}

const struct trace_gap *trace_get_gap(const struct trace *trace, size_t idx)
{
	return idx < trace->nr_gaps ? &trace->gaps[idx] : NULL;
}

bool trace_gap_is_older(const struct trace *trace, const struct trace_gap *gap)
{
	return gap->end_ns <= trace->info.complete_from_ns &&
	       (gap->cause == TRACE_GAP_OVERWRITTEN || trace->info.complete_from_ns > trace->info.start_ns);
}

size_t trace_nr_damages(const struct trace *trace)
{
	return trace->nr_damages;
}

const struct trace_damage *trace_get_damage(const struct trace *trace, size_t idx)
{
	return idx < trace->nr_damages ? &trace->damages[idx] : NULL;
}

const char *trace_not_traced(const struct trace *trace, size_t idx)
{
	return trace_string(trace, TRACE_STRING_NOT_TRACED, idx);
}

size_t trace_nr_streams(const struct trace *trace)
{
	return trace->nr_streams;
}

const struct trace_stream_stats *trace_get_stream(const struct trace *trace, size_t idx)
{
	return idx < trace->nr_streams ? &trace->streams[idx] : NULL;
}

size_t trace_nr_chunks(const struct trace *trace)
{
	return trace->nr_chunks;
}

const struct trace_chunk *trace_get_chunk(const struct trace *trace, size_t idx)
{
	const struct trace_chunk *chunks = idx < trace->nr_chunks ? trace_public_chunks(trace) : NULL;

	return chunks ? &chunks[idx] : NULL;
}

size_t trace_nr_clocks(const struct trace *trace)
{
	return trace->nr_clocks;
}

const struct trace_clock *trace_get_clock(const struct trace *trace, size_t idx)
{
	return idx < trace->nr_clocks ? &trace->clocks[idx].of : NULL;
}

const char *trace_string(const struct trace *trace, enum trace_string_space space, uint64_t key)
{
	return string_table_get(&trace->strings, space, key);
}

const struct trace_event_type *trace_type_by_id(const struct trace *trace, uint32_t id)
{
	return schema_type(&trace->schema, id);
}

size_t trace_nr_types(const struct trace *trace)
{
	return trace->schema.nr_types;
}

const struct trace_event_type *trace_get_type(const struct trace *trace, size_t idx)
{
	return idx < trace->schema.nr_types ? trace->schema.types[idx] : NULL;
}
