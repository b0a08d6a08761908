/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* symbol_collection.c - passes over a trace, which collect all mappings before the first query. */
#include "symbol_collection.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

/** struct symbol_file_row - the object of a file that was mapped last. @known: of it then */
struct symbol_file_row {
	uint64_t key; /* of device and inode */
	size_t object;
	const struct symbol_known *known;
};

static uint64_t realtime_of(const struct symbol_collection *collection, uint64_t ts_ns)
{
	const struct trace_info *info = trace_get_info(collection->trace);

	return info->start_realtime_ns + (ts_ns > info->start_ns ? ts_ns - info->start_ns : 0);
}

static size_t add_file(struct symbol_collection *collection, struct symbol_origin *origin, size_t chars)
{
	return symbol_files_add(&collection->files, origin, chars, &collection->store);
}

static size_t file_at_start(struct symbol_collection *collection, const struct trace_start_map *map, const char *path)
{
	struct symbol_origin origin = {
		.path = path, .ino = map->ino, .dev = map->dev, .mapped_ns = realtime_of(collection, 0)};

	symbol_identity_put(symbol_identity_at(&collection->identities, map->dev, map->ino, 0), &origin);
	return add_file(collection, &origin, strlen(path));
}

/* The field "build_id" is missing in events of an older libtracer. */
static size_t file_reported(struct symbol_collection *collection, const struct trace_event *event, const char *path,
			    size_t chars)
{
	const struct trace_field *field = trace_type_field(event->type, "build_id");
	struct symbol_origin origin = {.path = path, .mapped_ns = realtime_of(collection, event->ts_ns)};
	size_t bytes = 0;
	const char *id = field ? trace_event_bytes(event, field, &bytes) : NULL;

	if (field)
		origin.identity = id && bytes ? SYMBOL_WITH_ID : SYMBOL_WITHOUT_ID;
	if (id && bytes < sizeof(origin.id))
		memcpy(origin.id, id, bytes);
	return add_file(collection, &origin, chars);
}

/* The trace may come from an older version of the event with fewer fields. */
static bool has_room(const struct trace_event *event, size_t bytes)
{
	return event->type && event->type->fixed_bytes >= bytes;
}

/*
 * The start state names a file in memory as its dentry does, fs_map as a path of the kernel: with
 * a slash, and as deleted.
 */
static const char *path_at_start(const struct trace_event *event, char *room, size_t bytes)
{
	const char *path = trace_event_string(event);

	if (strncmp(path, "memfd:", strlen("memfd:")))
		return path;
	snprintf(room, bytes, "/%s (deleted)", path);
	return room;
}

static void collect_start(struct symbol_collection *collection, const struct trace_event *event)
{
	char memory[NAME_MAX + 32];
	const char *path = path_at_start(event, memory, sizeof(memory));

	if (event->id == TRACE_EV_start_thread && has_room(event, sizeof(struct trace_start_thread))) {
		const struct trace_start_thread *thread = event->payload;

		symbol_mappings_add_step(&collection->mappings,
					 &(struct symbol_step){.tid = thread->tid, .pid = thread->tgid});
	} else if (event->id == TRACE_EV_start_map && has_room(event, sizeof(struct trace_start_map)) && *path == '/') {
		const struct trace_start_map *map = event->payload;

		symbol_mappings_add(&collection->mappings,
				    &(struct symbol_mapping){.pid = map->tgid,
							     .file = file_at_start(collection, map, path),
							     .start = map->start,
							     .end = map->end,
							     .offset = map->offset});
	}
}

/* A program reports where its code is mapped. The process is that of the reporting thread. */
static void collect_reported_map(struct symbol_collection *collection, const struct trace_event *event)
{
	const struct trace_event_type *type = event->type;
	size_t chars;
	const char *path = trace_event_bytes(event, trace_type_field(type, "path"), &chars);
	uint32_t tid;

	if (!(type->flags & TRACE_EVENT_TID) || !path || event->payload_bytes < sizeof(tid))
		return;
	memcpy(&tid, event->payload, sizeof(tid));
	symbol_mappings_add(&collection->mappings,
			    &(struct symbol_mapping){
				    .pid = symbol_mappings_pid(&collection->mappings, tid, event->ts_ns),
				    .since_ns = event->ts_ns,
				    .may_be_late = true,
				    .file = file_reported(collection, event, path, chars),
				    .start = trace_event_u64(event, trace_type_field(type, "start")),
				    .end = trace_event_u64(event, trace_type_field(type, "end")),
				    .offset = trace_event_u64(event, trace_type_field(type, "offset")),
			    });
}

/* Most processes map files that others have mapped before them. */
static size_t file_mapped(struct symbol_collection *collection, const struct trace_fs_map *map, const char *path,
			  uint64_t ts_ns)
{
	struct symbol_origin origin = {
		.path = path, .ino = map->ino, .dev = map->dev, .mapped_ns = realtime_of(collection, ts_ns)};
	uint64_t key = hash_u64(map->ino) ^ map->dev;
	struct symbol_file_row *row = table_add(&collection->mapped, sizeof(*row), key + !key);
	const struct symbol_known *known = symbol_identity_at(&collection->identities, map->dev, map->ino, ts_ns);
	const struct symbol_origin *last;

	if (!row) {
		collection->files.failed = true;
		return NO_SYMBOL_FILE;
	}
	last = row->object ? &collection->files.objects[row->object - 1].origin : NULL;
	if (last && last->ino == map->ino && last->dev == map->dev && row->known == known &&
	    !strcmp(last->path, path)) {
		symbol_file_mapped(&collection->files, row->object - 1, origin.mapped_ns);
		return row->object - 1;
	}
	symbol_identity_put(known, &origin);
	row->known = known;
	row->object = add_file(collection, &origin, strlen(path)) + 1;
	return row->object - 1;
}

/* The kernel maps the code of a new program before sched_exec. So the mappings begin with
 * fs_map.exec. */
static void collect_code_map(struct symbol_collection *collection, const struct trace_event *event)
{
	const struct trace_fs_map *map = event->payload;

	if (map->exec) {
		symbol_mappings_add_step(&collection->mappings, &(struct symbol_step){.tid = map->pid,
										      .pid = map->pid,
										      .exec = true,
										      .by_map = true,
										      .ts_ns = event->ts_ns});
		return;
	}
	symbol_mappings_add(&collection->mappings,
			    &(struct symbol_mapping){.pid = map->pid,
						     .since_ns = event->ts_ns,
						     .file = file_mapped(collection, map, trace_event_string(event),
									 event->ts_ns),
						     .start = map->start,
						     .end = map->end,
						     .offset = map->offset});
}

static void collect(struct symbol_collection *collection, const struct trace_event *event)
{
	if (event->id == TRACE_EV_sched_fork && has_room(event, sizeof(struct trace_sched_fork))) {
		const struct trace_sched_fork *fork = event->payload;

		symbol_mappings_add_step(&collection->mappings, &(struct symbol_step){.tid = fork->tid,
										      .pid = fork->tgid,
										      .parent = fork->parent_tid,
										      .ts_ns = event->ts_ns});
	} else if (event->id == TRACE_EV_fs_map && has_room(event, sizeof(struct trace_fs_map))) {
		collect_code_map(collection, event);
	} else if (event->id == TRACE_EV_sched_exec && has_room(event, sizeof(struct trace_sched_exec))) {
		const struct trace_sched_exec *exec = event->payload;

		symbol_mappings_exec(&collection->mappings, exec->tid, event->ts_ns);
	} else if (event->type && !strcmp(event->type->name, "program:map")) {
		collect_reported_map(collection, event);
	}
}

static int scan_events(struct symbol_collection *collection, bool start_state, struct trace_error *ret_error)
{
	uint64_t mask[TRACE_MASK_WORDS] = {0};
	struct trace_cursor_options options = {.size = sizeof(options), .start_state = start_state, .mask = mask};
	static const uint32_t wanted[] = {TRACE_EV_start_thread, TRACE_EV_start_map, TRACE_EV_sched_fork,
					  TRACE_EV_sched_exec,	 TRACE_EV_fs_map,    TRACE_EV_USER};
	struct trace_cursor *cursor;
	const struct trace_event *event;
	int error;

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		mask[wanted[i] / 64] |= 1ULL << wanted[i] % 64;
	cursor = trace_cursor_new(collection->trace, &options, ret_error);
	if (!cursor)
		return -ENOMEM;
	while ((event = trace_cursor_next(cursor)))
		(start_state ? collect_start : collect)(collection, event);
	error = trace_cursor_end(cursor, NULL);
	return error == -EBADMSG ? 0 : error; /* the mappings in a damaged chunk stay unknown */
}

int symbol_collect(struct symbol_collection *collection, struct trace_error *ret_error)
{
	int err = symbol_store_read(&collection->store, collection->trace);

	err = err ?: symbol_identities_read(&collection->identities, collection->trace);
	err = err ?: scan_events(collection, true, ret_error);
	err = err ?: scan_events(collection, false, ret_error);
	return !err && (collection->files.failed || collection->mappings.failed) ? -ENOMEM : err;
}

void symbol_collection_clear(struct symbol_collection *collection)
{
	symbol_files_clear(&collection->files);
	symbol_mappings_clear(&collection->mappings);
	table_clear(&collection->mapped);
	symbol_store_clear(&collection->store);
	symbol_identities_clear(&collection->identities);
}
