/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_BUILD_IDS_H
#define DAEMON_BUILD_IDS_H
/*
 * build_ids.h - the build ids of the files that processes had mapped as code when the recording
 * began, so that a program that is built again does not lend its names to the one that ran
 */
#include <stdbool.h>
#include <trace/events.h>
#include <trace/tracer.h>
#include <trace/writer.h>

struct build_ids;

/**
 * build_ids_new() - none yet; NULL: no memory, which the functions below accept
 * @keeps_names: keep the names of functions of files that may be gone at the end, for samples
 */
struct build_ids *build_ids_new(bool keeps_names);
struct build_ids *build_ids_free(struct build_ids *ids);

/**
 * build_ids_note() - ask for the build id of a mapped file, once for each file. Never waits:
 * build_id_reader.h reads it meanwhile
 * @path: of the file in the process
 */
void build_ids_note(struct build_ids *ids, const struct trace_start_map *map, const char *path);
/**
 * build_ids_note_code() - the same for a file that was mapped during the recording: it can be read
 * until the process ends
 */
void build_ids_note_code(struct build_ids *ids, const struct tracer_code_map *map);

#define BUILD_IDS_WAIT_NS     100000000ull  /* while events are recorded */
#define BUILD_IDS_END_WAIT_NS 2500000000ull /* for the last time: longer than a file system may take */

/** build_ids_wait() - until all files are read, or @limit_ns have passed. Returns true: all */
bool build_ids_wait(struct build_ids *ids, uint64_t limit_ns);

/** build_ids_add() - note all that @from knows, too */
void build_ids_add(struct build_ids *ids, const struct build_ids *from);

/**
 * build_ids_describe_missing() - a sentence, if files have no row because there are too many, or no
 * memory. Returns false: each has one
 */
bool build_ids_describe_missing(const struct build_ids *ids, char *ret_text, size_t size);
/**
 * build_ids_nr_lost() - files that may be gone, and there was no room to keep their names
 */
uint64_t build_ids_nr_lost(const struct build_ids *ids);
/** build_ids_has_names() - are the names of the file @ino of @dev kept? */
bool build_ids_has_names(const struct build_ids *ids, uint32_t dev, uint64_t ino);
/**
 * build_ids_open_names() - a file with the tables of functions of the file @ino of @dev
 * Returns a descriptor that the caller closes; -ENOENT: they are not kept; or a negative errno
 */
int build_ids_open_names(const struct build_ids *ids, uint32_t dev, uint64_t ino);

/**
 * build_ids_write() - store those that are new as TRACE_STRING_BUILD_ID
 * Right behind the start state, so that a recording that is cut off has them, and at the end.
 */
void build_ids_write(struct build_ids *ids, struct trace_writer *writer);

#endif
