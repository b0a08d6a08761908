/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbols.c - translate addresses to names: the mapped file, and the function in it.
 *
 * One pass over the trace collects all mappings before the first query. An address has the latest
 * mapping before its time, since a library may be mapped where another one was. A program may
 * report a mapping (program:map) after its first use; the kernel's (fs_map) come before it. So an
 * address without a mapping before its time has the first one that its program reported later.
 *
 * Example: a.so is mapped at 0x1000 at 1 ms, and b.so, after dlclose, at 0x1000 at 5 ms. A sample
 * at 0x1010 is of a.so at 3 ms, of b.so at 6 ms, and has no name at 0.5 ms.
 *
 * A process without mappings of its own since its last exec has those of its parent. A file is read
 * at the first query about it, by a process without rights (symbol_reader.c). Answers are kept,
 * because the addresses of a trace repeat.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/symbols.h>
#include <unistd.h>
#include <xxhash.h>

#include "error_set.h"
#include "hash_table.h"
#include "kernel_code.h"
#include "mapping_index.h"
#include "program_code.h"
#include "symbol_identity.h"
#include "symbol_origin.h"
#include "symbol_reader.h"
#include "symbol_places.h"
#include "symbol_store.h"

#define MAX_READERS 16		 /* processes at a time */
#define MAX_OFFSET  (1ull << 61) /* no file is that long */
#define STEP_BYTES  18		 /* of one between bytes, in hexadecimal, with a blank */
#define MAX_ALIKE   3000	 /* so that a text is short enough for a trace */

#define CLONE_THREAD 0x00010000
#define NO_OBJECT    SIZE_MAX
#define FEW_MAPPINGS 64 /* of a process, which need no index */
#define NONE_BEFORE  SIZE_MAX

/**
 * struct symbol_kept - an answer about a byte of a file
 * @key: the byte, and what was asked for
 */
struct symbol_kept {
	uint64_t key;
	uint64_t address;
	uint64_t offset;
	string_id function;
	string_id source;
};

/** enum symbol_object_state - what is still asked about a file: less after its reader failed */
enum symbol_object_state { OBJECT_NEW, OBJECT_READABLE, OBJECT_WITHOUT_SOURCE, OBJECT_UNREADABLE };

/**
 * struct symbol_object - a file from which code was mapped
 * @why: why there are no names. @used_at: number of the query that asked last
 * @stored: its number among the files of which the trace has names, or NO_STORED_FILE
 */
struct symbol_object {
	char *path; /* owned; @origin refers to it */
	struct symbol_origin origin;
	const char *why;
	int fd;
	enum symbol_object_state state;
	struct symbol_reader reader;
	struct hash_table answers;
	size_t stored;
	uint64_t used_at;
};

/**
 * struct symbol_mapping - a mapping of a process; @since_ns: when it was reported
 * @may_be_late: it may have been reported after its first use
 * @before: the one before it of the same process, or NONE_BEFORE
 */
struct symbol_mapping {
	uint32_t pid;
	size_t before;
	size_t object;
	uint64_t since_ns;
	uint64_t start;
	uint64_t end;
	uint64_t offset;
	bool may_be_late;
};

/**
 * struct symbol_step - an event in the life of a thread, in time order
 * Either @parent starts it as part of @pid (for a new process its own), or it executes a new
 * program.
 * @by_map: fs_map told of the program, and sched_exec has not come yet
 * @before: the step before it of the same thread, or NONE_BEFORE
 */
struct symbol_step {
	uint32_t tid;
	uint32_t pid;
	uint32_t parent;
	bool exec;
	bool by_map;
	uint64_t ts_ns;
	size_t before;
};

/** struct symbol_last - the last step or mapping of a thread or process. @idx: 0: none, else + 1 */
struct symbol_last {
	uint64_t key; /* number + 1 */
	size_t idx;
};

/** struct symbol_object_row - the newest object with a path, an identity, and perhaps an inode */
struct symbol_object_row {
	uint64_t key;  /* of their texts */
	size_t object; /* + 1 */
};

/**
 * struct symbol_index - of the mappings of a process with many
 * @index: NULL: it cannot be made. @numbers: of its places; both are owned
 */
struct symbol_index {
	uint64_t key; /* process + 1 */
	struct mapping_index *index;
	size_t *numbers;
};

/** struct symbol_file_row - the object of a file that was mapped last */
struct symbol_file_row {
	uint64_t key; /* of device and inode */
	size_t object;
};

struct trace_symbols {
	struct symbol_object *objects;
	size_t nr_objects, room_objects;
	struct symbol_mapping *mappings;
	size_t nr_mappings, room_mappings;
	struct symbol_step *steps;
	size_t nr_steps, room_steps;
	struct hash_table last_steps, last_mappings; /* by thread, by process */
	struct hash_table files;		     /* mapped during the recording */
	struct hash_table objects_by_ino, objects_by_name;
	struct hash_table indexes;   /* rows: struct symbol_index */
	struct strings strings;	     /* names and source lines */
	struct symbol_answer answer; /* the last one of a reader */
	struct trace_error unread;   /* the first file that cannot be read; code 0: none */
	uint64_t nr_unread;
	uint64_t nr_queries;
	unsigned int nr_readers;
	const struct trace *trace;
	struct symbol_search search;
	struct kernel_code kernel;
	struct symbol_identities identities;
	struct symbol_store store;
	struct stored_code code; /* the last one of it */
	struct program_code generated;
	struct trace_symbol_level levels[SYMBOL_MAX_LEVELS]; /* the last ones that were asked for */
	char level_texts[2 * (SYMBOL_NAME_BYTES + 1)];
	bool want_source;
	bool failed; /* out of memory for a part of a query */
};

/* ---- collecting ---- */

/* Make room for one more element. */
static bool grow(void **array, size_t nr, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 64;
	void *grown;

	if (nr < *room)
		return true;
	grown = reallocarray(*array, more, size);
	if (!grown)
		return false;
	*array = grown;
	*room = more;
	return true;
}

static bool is_same_file(const struct symbol_origin *a, const struct symbol_origin *b)
{
	return !strcmp(a->path, b->path) && (!b->ino || (a->ino == b->ino && a->dev == b->dev)) &&
	       a->identity == b->identity && !strcmp(a->id, b->id);
}

/*
 * The row of the newest object that is the file of @origin, or one without an object. The table
 * @by_ino is for an origin with an inode; the other one has any inode. NULL: no memory.
 */
static struct symbol_object_row *object_row(struct trace_symbols *symbols, const struct symbol_origin *origin,
					    bool by_ino)
{
	struct hash_table *table = by_ino ? &symbols->objects_by_ino : &symbols->objects_by_name;
	uint64_t key = XXH3_64bits_withSeed(origin->path, strlen(origin->path),
					    XXH3_64bits_withSeed(origin->id, strlen(origin->id),
								 hash_u64(origin->identity + 1)));
	struct symbol_origin wanted = *origin;
	struct symbol_object_row *row;

	if (by_ino)
		key ^= hash_u64(origin->ino);
	else
		wanted.ino = 0;
	for (;; key++) {
		row = table_add(table, sizeof(*row), key + !key);
		if (!row || !row->object || is_same_file(&symbols->objects[row->object - 1].origin, &wanted))
			return row;
	}
}

/* @origin: of its path only @chars characters */
static size_t object_of(struct trace_symbols *symbols, struct symbol_origin *origin, size_t chars)
{
	char *path = strndup(origin->path, chars);
	struct symbol_object_row *row, *other;

	if (!path ||
	    !grow((void **)&symbols->objects, symbols->nr_objects, &symbols->room_objects, sizeof(*symbols->objects))) {
		symbols->failed = true;
		free(path);
		return NO_OBJECT;
	}
	origin->path = path;
	row = object_row(symbols, origin, origin->ino);
	if (row && row->object) {
		free(path);
		return row->object - 1;
	}
	other = object_row(symbols, origin, false);
	if (!row || !other) {
		symbols->failed = true;
		free(path);
		return NO_OBJECT;
	}
	row->object = other->object = symbols->nr_objects + 1;
	symbols->objects[symbols->nr_objects] =
		(struct symbol_object){.path = path, .origin = *origin, .why = "", .fd = -1};
	symbols->objects[symbols->nr_objects].stored = symbol_store_file(&symbols->store,
									 &symbols->objects[symbols->nr_objects].origin);
	return symbols->nr_objects++;
}

static uint64_t realtime_of(const struct trace_symbols *symbols, uint64_t ts_ns)
{
	const struct trace_info *info = trace_get_info(symbols->trace);

	return info->start_realtime_ns + (ts_ns > info->start_ns ? ts_ns - info->start_ns : 0);
}

static size_t object_at_start(struct trace_symbols *symbols, const struct trace_start_map *map, const char *path)
{
	struct symbol_origin origin = {
		.path = path, .ino = map->ino, .dev = map->dev, .mapped_ns = realtime_of(symbols, 0)};

	if (symbol_identity_of(&symbols->identities, map->dev, map->ino, origin.id))
		origin.identity = *origin.id ? SYMBOL_WITH_ID : SYMBOL_WITHOUT_ID;
	return object_of(symbols, &origin, strlen(path));
}

/* The field "build_id" is missing in events of an older libtracer. */
static size_t object_reported(struct trace_symbols *symbols, const struct trace_event *event, const char *path,
			      size_t chars)
{
	const struct trace_field *field = trace_type_field(event->type, "build_id");
	struct symbol_origin origin = {.path = path, .mapped_ns = realtime_of(symbols, event->ts_ns)};
	size_t bytes = 0;
	const char *id = field ? trace_event_bytes(event, field, &bytes) : NULL;

	if (field)
		origin.identity = id && bytes ? SYMBOL_WITH_ID : SYMBOL_WITHOUT_ID;
	if (id && bytes < sizeof(origin.id))
		memcpy(origin.id, id, bytes);
	return object_of(symbols, &origin, chars);
}

static size_t last_of(const struct hash_table *table, uint32_t number)
{
	const struct symbol_last *last = table_find(table, sizeof(*last), (uint64_t)number + 1);

	return last ? last->idx - 1 : NONE_BEFORE;
}

/* @idx is the last of @number from now on. Returns the one before it. */
static size_t put_last(struct trace_symbols *symbols, struct hash_table *table, uint32_t number, size_t idx)
{
	struct symbol_last *last = table_add(table, sizeof(*last), (uint64_t)number + 1);
	size_t before = last ? last->idx - 1 : NONE_BEFORE;

	if (last)
		last->idx = idx + 1;
	else
		symbols->failed = true;
	return before;
}

static void add_mapping(struct trace_symbols *symbols, const struct symbol_mapping *mapping)
{
	if (!grow((void **)&symbols->mappings, symbols->nr_mappings, &symbols->room_mappings,
		  sizeof(*symbols->mappings)))
		symbols->failed = true;
	else if (!symbols->failed)
		symbols->mappings[symbols->nr_mappings++] = *mapping;
	else
		return;
	if (!symbols->failed)
		symbols->mappings[symbols->nr_mappings - 1].before = put_last(symbols, &symbols->last_mappings,
									      mapping->pid, symbols->nr_mappings - 1);
}

static void add_step(struct trace_symbols *symbols, const struct symbol_step *step)
{
	if (!grow((void **)&symbols->steps, symbols->nr_steps, &symbols->room_steps, sizeof(*symbols->steps)))
		symbols->failed = true;
	else
		symbols->steps[symbols->nr_steps++] = *step;
	if (!symbols->failed)
		symbols->steps[symbols->nr_steps - 1].before = put_last(symbols, &symbols->last_steps, step->tid,
									symbols->nr_steps - 1);
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

static void collect_start(struct trace_symbols *symbols, const struct trace_event *event)
{
	char memory[NAME_MAX + 32];
	const char *path = path_at_start(event, memory, sizeof(memory));

	if (event->id == TRACE_EV_start_thread && has_room(event, sizeof(struct trace_start_thread))) {
		const struct trace_start_thread *thread = event->payload;

		add_step(symbols, &(struct symbol_step){.tid = thread->tid, .pid = thread->tgid});
	} else if (event->id == TRACE_EV_start_map && has_room(event, sizeof(struct trace_start_map)) && *path == '/') {
		const struct trace_start_map *map = event->payload;

		add_mapping(symbols, &(struct symbol_mapping){.pid = map->tgid,
							      .object = object_at_start(symbols, map, path),
							      .start = map->start,
							      .end = map->end,
							      .offset = map->offset});
	}
}

static const struct symbol_step *latest_step(const struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns,
					     bool exec_only);

/* A program reports where its code is mapped. The process is that of the reporting thread. */
static void collect_reported_map(struct trace_symbols *symbols, const struct trace_event *event)
{
	const struct trace_event_type *type = event->type;
	size_t chars;
	const char *path = trace_event_bytes(event, trace_type_field(type, "path"), &chars);
	const struct symbol_step *step;
	uint32_t tid;

	if (!(type->flags & TRACE_EVENT_TID) || !path || event->payload_bytes < sizeof(tid))
		return;
	memcpy(&tid, event->payload, sizeof(tid));
	step = latest_step(symbols, tid, event->ts_ns, false);
	add_mapping(symbols, &(struct symbol_mapping){
				     .pid = step ? step->pid : tid,
				     .since_ns = event->ts_ns,
				     .may_be_late = true,
				     .object = object_reported(symbols, event, path, chars),
				     .start = trace_event_u64(event, trace_type_field(type, "start")),
				     .end = trace_event_u64(event, trace_type_field(type, "end")),
				     .offset = trace_event_u64(event, trace_type_field(type, "offset")),
			     });
}

/* Most processes map files that others have mapped before them. */
static size_t object_mapped(struct trace_symbols *symbols, const struct trace_fs_map *map, const char *path,
			    uint64_t ts_ns)
{
	struct symbol_origin origin = {
		.path = path, .ino = map->ino, .dev = map->dev, .mapped_ns = realtime_of(symbols, ts_ns)};
	uint64_t key = hash_u64(map->ino) ^ map->dev;
	struct symbol_file_row *row = table_add(&symbols->files, sizeof(*row), key + !key);
	const struct symbol_origin *last;

	if (!row) {
		symbols->failed = true;
		return NO_OBJECT;
	}
	last = row->object ? &symbols->objects[row->object - 1].origin : NULL;
	if (last && last->ino == map->ino && last->dev == map->dev && !strcmp(last->path, path))
		return row->object - 1;
	if (symbol_identity_of(&symbols->identities, map->dev, map->ino, origin.id))
		origin.identity = *origin.id ? SYMBOL_WITH_ID : SYMBOL_WITHOUT_ID;
	row->object = object_of(symbols, &origin, strlen(path)) + 1;
	return row->object - 1;
}

/* The kernel maps the code of a new program before sched_exec. So the mappings begin with
 * fs_map.exec. */
static void collect_code_map(struct trace_symbols *symbols, const struct trace_event *event)
{
	const struct trace_fs_map *map = event->payload;

	if (map->exec) {
		add_step(symbols, &(struct symbol_step){.tid = map->pid,
							.pid = map->pid,
							.exec = true,
							.by_map = true,
							.ts_ns = event->ts_ns});
		return;
	}
	add_mapping(symbols, &(struct symbol_mapping){.pid = map->pid,
						      .since_ns = event->ts_ns,
						      .object = object_mapped(symbols, map, trace_event_string(event),
									      event->ts_ns),
						      .start = map->start,
						      .end = map->end,
						      .offset = map->offset});
}

/* Without fs_map before it, no mapping of the new program is known. */
static void collect_exec(struct trace_symbols *symbols, uint32_t pid, uint64_t ts_ns)
{
	const struct symbol_step *step = latest_step(symbols, pid, ts_ns, true);

	if (step && step->by_map)
		symbols->steps[step - symbols->steps].by_map = false;
	else
		add_step(symbols, &(struct symbol_step){.tid = pid, .pid = pid, .exec = true, .ts_ns = ts_ns});
}

static void collect(struct trace_symbols *symbols, const struct trace_event *event)
{
	if (event->id == TRACE_EV_sched_fork && has_room(event, sizeof(struct trace_sched_fork))) {
		const struct trace_sched_fork *fork = event->payload;

		add_step(symbols, &(struct symbol_step){.tid = fork->tid,
							.pid = fork->tgid,
							.parent = fork->parent_tid,
							.ts_ns = event->ts_ns});
	} else if (event->id == TRACE_EV_fs_map && has_room(event, sizeof(struct trace_fs_map))) {
		collect_code_map(symbols, event);
	} else if (event->id == TRACE_EV_sched_exec && has_room(event, sizeof(struct trace_sched_exec))) {
		const struct trace_sched_exec *exec = event->payload;

		collect_exec(symbols, exec->tid, event->ts_ns);
	} else if (event->type && !strcmp(event->type->name, "program:map")) {
		collect_reported_map(symbols, event);
	}
}

static int scan_events(struct trace_symbols *symbols, const struct trace *trace, bool start_state,
		       struct trace_error *ret_error)
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
	cursor = trace_cursor_new(trace, &options, ret_error);
	if (!cursor)
		return -ENOMEM;
	while ((event = trace_cursor_next(cursor)))
		(start_state ? collect_start : collect)(symbols, event);
	error = trace_cursor_end(cursor, NULL);
	return error == -EBADMSG ? 0 : error; /* the mappings in a damaged chunk stay unknown */
}

struct trace_symbols *trace_symbols_new(const struct trace *trace, struct trace_error *ret_error)
{
	struct trace_symbols *symbols = calloc(1, sizeof(*symbols));

	if (symbols) {
		symbols->trace = trace;
		symbols->search.folder = "";
	}
	if (!symbols || kernel_code_read(&symbols->kernel, trace) || program_code_read(&symbols->generated, trace) ||
	    symbol_store_read(&symbols->store, trace) || symbol_identities_read(&symbols->identities, trace) ||
	    scan_events(symbols, trace, true, ret_error) || scan_events(symbols, trace, false, ret_error) ||
	    symbols->failed) {
		error_set(ret_error, -ENOMEM, "no memory for the mappings of processes");
		return trace_symbols_free(symbols);
	}
	return symbols;
}

struct trace_symbols *trace_symbols_free(struct trace_symbols *symbols)
{
	if (!symbols)
		return NULL;
	file_opener_close(&symbols->search.opener);
	for (size_t i = 0; i < symbols->nr_objects; i++) {
		struct symbol_object *object = &symbols->objects[i];

		symbol_reader_stop(&object->reader);
		if (object->fd >= 0)
			close(object->fd);
		table_clear(&object->answers);
		free(object->path);
	}
	free(symbols->objects);
	free(symbols->mappings);
	free(symbols->steps);
	strings_clear(&symbols->strings);
	table_clear(&symbols->last_steps);
	table_clear(&symbols->last_mappings);
	for (struct symbol_index *row = NULL; (row = table_next(&symbols->indexes, sizeof(*row), row));) {
		mapping_index_free(row->index);
		free(row->numbers);
	}
	table_clear(&symbols->indexes);
	table_clear(&symbols->objects_by_ino);
	table_clear(&symbols->objects_by_name);
	table_clear(&symbols->files);
	kernel_code_clear(&symbols->kernel);
	symbol_store_clear(&symbols->store);
	symbol_identities_clear(&symbols->identities);
	program_code_clear(&symbols->generated);
	free(symbols);
	return NULL;
}

const struct trace *symbols_trace(const struct trace_symbols *symbols)
{
	return symbols->trace;
}

void trace_symbols_want_source(struct trace_symbols *symbols, bool wanted)
{
	symbols->want_source = wanted;
}

void trace_symbols_set_folder(struct trace_symbols *symbols, const char *folder)
{
	symbols->search.folder = folder ? folder : "";
}

void trace_symbols_want_debuginfod(struct trace_symbols *symbols, bool wanted)
{
	symbols->search.debuginfod = wanted;
}

void trace_symbols_set_kept(struct trace_symbols *symbols, const struct trace_symbols_kept *kept)
{
	symbols->search.kept = *kept;
}

/* ---- mappings of a thread ---- */

/* Steps are in time order. */
static const struct symbol_step *latest_step(const struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns,
					     bool exec_only)
{
	for (size_t i = last_of(&symbols->last_steps, tid); i != NONE_BEFORE; i = symbols->steps[i].before)
		if (symbols->steps[i].ts_ns <= ts_ns && (!exec_only || symbols->steps[i].exec))
			return &symbols->steps[i];
	return NULL;
}

static const struct symbol_step *birth(const struct trace_symbols *symbols, uint32_t pid, uint64_t ts_ns)
{
	for (size_t i = last_of(&symbols->last_steps, pid); i != NONE_BEFORE; i = symbols->steps[i].before)
		if (symbols->steps[i].ts_ns <= ts_ns && !symbols->steps[i].exec)
			return &symbols->steps[i];
	return NULL;
}

/* Start of the next program after @ts_ns: mappings from then on belong to that program. */
static uint64_t next_exec(const struct trace_symbols *symbols, uint32_t pid, uint64_t ts_ns)
{
	uint64_t next_ns = UINT64_MAX;

	for (size_t i = last_of(&symbols->last_steps, pid); i != NONE_BEFORE && symbols->steps[i].ts_ns > ts_ns;
	     i = symbols->steps[i].before)
		if (symbols->steps[i].exec)
			next_ns = symbols->steps[i].ts_ns;
	return next_ns;
}

static void index_mappings(const struct trace_symbols *symbols, struct symbol_index *row, uint32_t pid, size_t nr)
{
	struct mapping_place *places = calloc(nr, sizeof(*places));
	size_t at = nr;

	row->numbers = calloc(nr, sizeof(*row->numbers));
	if (places && row->numbers) {
		for (size_t i = last_of(&symbols->last_mappings, pid); i != NONE_BEFORE;
		     i = symbols->mappings[i].before) {
			const struct symbol_mapping *mapping = &symbols->mappings[i];

			row->numbers[--at] = i;
			places[at] = (struct mapping_place){.start = mapping->start,
							    .end = mapping->end,
							    .since_ns = mapping->since_ns,
							    .may_be_late = mapping->may_be_late};
		}
		row->index = mapping_index_new(places, nr);
	}
	free(places);
}

/* The index of the mappings of @pid; NULL: it has few, or those cannot be indexed. */
static const struct symbol_index *index_of(struct trace_symbols *symbols, uint32_t pid)
{
	struct symbol_index *row = table_find(&symbols->indexes, sizeof(*row), (uint64_t)pid + 1);
	size_t nr = 0;

	if (row)
		return row->index ? row : NULL;
	for (size_t i = last_of(&symbols->last_mappings, pid); i != NONE_BEFORE; i = symbols->mappings[i].before)
		nr++;
	row = table_add(&symbols->indexes, sizeof(*row), (uint64_t)pid + 1);
	if (row && nr > FEW_MAPPINGS)
		index_mappings(symbols, row, pid, nr);
	return row && row->index ? row : NULL;
}

/* The mapping of process @pid that has @address at @ts_ns, of those from @from_ns on and before
 * @to_ns. */
static const struct symbol_mapping *own_mapping(struct trace_symbols *symbols, uint32_t pid, uint64_t ts_ns,
						uint64_t from_ns, uint64_t to_ns, uint64_t address)
{
	const struct symbol_index *index = index_of(symbols, pid);
	const struct symbol_mapping *late = NULL;

	if (index) {
		size_t found = mapping_index_find(index->index, address, ts_ns, from_ns, to_ns);

		return found == NO_MAPPING ? NULL : &symbols->mappings[index->numbers[found]];
	}
	for (size_t i = last_of(&symbols->last_mappings, pid); i != NONE_BEFORE; i = symbols->mappings[i].before) {
		const struct symbol_mapping *mapping = &symbols->mappings[i];

		if (mapping->since_ns < from_ns || mapping->since_ns >= to_ns || address < mapping->start ||
		    address >= mapping->end)
			continue;
		if (mapping->since_ns <= ts_ns)
			return mapping;
		if (mapping->may_be_late)
			late = mapping;
	}
	return late;
}

static const struct symbol_mapping *mapping_of(struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns,
					       uint64_t address)
{
	for (int generation = 0; generation < 64; generation++) {
		const struct symbol_step *now = latest_step(symbols, tid, ts_ns, false), *exec, *born;
		uint32_t pid = now ? now->pid : tid;
		const struct symbol_mapping *mapping;

		exec = latest_step(symbols, pid, ts_ns, true);
		born = birth(symbols, pid, ts_ns);
		mapping = own_mapping(symbols, pid, ts_ns,
				      exec   ? exec->ts_ns
				      : born ? born->ts_ns
					     : 0,
				      next_exec(symbols, pid, ts_ns), address);
		if (mapping)
			return mapping;
		if ((exec && (!born || exec->ts_ns >= born->ts_ns)) || !born || !born->parent)
			return NULL;
		tid = born->parent; /* a forked child starts with a copy */
		ts_ns = born->ts_ns;
	}
	return NULL;
}

/* ---- queries to readers ---- */

/* Stops the reader that has not been asked for the longest time. */
static void limit_readers(struct trace_symbols *symbols)
{
	struct symbol_object *oldest = NULL;

	for (size_t i = 0; symbols->nr_readers >= MAX_READERS && i < symbols->nr_objects; i++)
		if (symbols->objects[i].reader.child.runs && (!oldest || symbols->objects[i].used_at < oldest->used_at))
			oldest = &symbols->objects[i];
	if (!oldest)
		return;
	symbol_reader_stop(&oldest->reader);
	symbols->nr_readers--;
}

static void note_unread(struct trace_symbols *symbols, const struct symbol_object *object, const char *reason)
{
	if (!symbols->nr_unread++)
		error_set(&symbols->unread, -EBADMSG,
			  "%.250s: names of functions or their source lines are missing: %s", object->path, reason);
}

static void open_object(struct trace_symbols *symbols, struct symbol_object *object)
{
	uint64_t before = symbols->search.nr_unopened;
	char reason[128];

	limit_readers(symbols);
	if (symbol_origin_open(&object->origin, &symbols->search, &object->reader, &object->fd, &object->why))
		symbols->failed = true;
	if (object->fd < 0 && symbols->search.nr_unopened > before) {
		snprintf(reason, sizeof(reason), "no process can be started to read it: %s",
			 strerror(-symbols->search.open_err));
		note_unread(symbols, object,
			    symbols->search.open_err == -EAGAIN ? reason : "its file system does not answer");
	}
	symbols->nr_readers += object->reader.child.runs;
	object->state = object->fd >= 0 ? OBJECT_READABLE : OBJECT_UNREADABLE;
}

/* The reader of @object failed. It is asked for less from now on. */
static void restrict_object(struct trace_symbols *symbols, struct symbol_object *object, bool had_source,
			    const struct trace_error *error)
{
	if (object->state == OBJECT_READABLE)
		note_unread(symbols, object, error->message);
	object->state = had_source ? OBJECT_WITHOUT_SOURCE : OBJECT_UNREADABLE;
}

/* Returns false if there is no answer. */
static bool ask(struct trace_symbols *symbols, struct symbol_object *object, uint64_t offset, enum symbol_wanted wanted)
{
	struct trace_error error = {0};
	int result;

	if (!object->reader.child.runs)
		limit_readers(symbols);
	symbols->nr_readers -= object->reader.child.runs;
	object->used_at = symbols->nr_queries;
	result = symbol_reader_ask(&object->reader, object->fd, offset, wanted, &symbols->answer, &error);
	symbols->nr_readers += object->reader.child.runs;
	if (result == -ENOMEM)
		symbols->failed = true;
	else if (result)
		restrict_object(symbols, object, wanted != SYMBOL_NAME, &error);
	return !result;
}

static const struct symbol_kept *keep(struct trace_symbols *symbols, struct symbol_object *object, uint64_t key,
				      const struct symbol_kept *answer)
{
	struct symbol_kept *kept = table_add(&object->answers, sizeof(*kept), key);

	if (!kept) {
		symbols->failed = true;
		return NULL;
	}
	*kept = *answer;
	kept->key = key;
	symbols->failed |= symbols->strings.failed;
	return kept;
}

/* The last one of several functions is the outermost: it contains the others. */
static const char *outermost_of(const char *functions)
{
	const char *last = strrchr(functions, '\n');

	return last ? last + 1 : functions;
}

/* The innermost one, without its folder */
static const char *source_of(char *sources)
{
	const char *slash;

	sources[strcspn(sources, "\n")] = '\0';
	slash = strrchr(sources, '/');
	return slash ? slash + 1 : sources;
}

/* The answer that the trace has itself, or NULL */
static const struct symbol_kept *stored_answer(struct trace_symbols *symbols, struct symbol_object *object,
					       uint64_t offset, enum symbol_wanted wanted)
{
	uint64_t key = (offset << 2 | wanted) + 1;
	const struct symbol_kept *kept = table_find(&object->answers, sizeof(*kept), key);
	struct stored_code *code = &symbols->code;
	bool is_whole = wanted == SYMBOL_LEVELS;

	if (kept || object->stored == NO_STORED_FILE ||
	    !symbol_store_find(&symbols->store, object->stored, offset, code))
		return kept;
	return keep(symbols, object, key,
		    &(struct symbol_kept){.address = code->address,
					  .offset = code->offset,
					  .function = strings_intern(&symbols->strings,
								     is_whole ? code->functions
									      : outermost_of(code->functions)),
					  .source = strings_intern(&symbols->strings, is_whole ? code->sources
										      : wanted == SYMBOL_SOURCE
											      ? source_of(code->sources)
											      : "")});
}

/* Returns the answer, or NULL: there is none. */
static const struct symbol_kept *answer_of(struct trace_symbols *symbols, struct symbol_object *object, uint64_t offset,
					   enum symbol_wanted asked)
{
	enum symbol_wanted wanted = object->state == OBJECT_WITHOUT_SOURCE ? SYMBOL_NAME : asked;
	uint64_t key = offset << 2 | wanted;
	const struct symbol_kept *kept = table_find(&object->answers, sizeof(*kept), key + 1);

	if (kept)
		return kept;
	if (!ask(symbols, object, offset, wanted))
		return NULL;
	return keep(symbols, object, key + 1,
		    &(struct symbol_kept){.address = symbols->answer.address,
					  .offset = symbols->answer.offset,
					  .function = strings_intern(&symbols->strings, symbols->answer.function),
					  .source = strings_intern(&symbols->strings, symbols->answer.source)});
}

/* ---- queries ---- */

int trace_symbols_error(const struct trace_symbols *symbols, struct trace_error *ret_error)
{
	const struct trace_error *unread = &symbols->unread;

	if (symbols->failed)
		return error_set(ret_error, -ENOMEM, "no memory to read the names of functions from their files");
	if (symbols->nr_unread > 1)
		return error_set(ret_error, unread->code, "%s (and %" PRIu64 " more such files)", unread->message,
				 symbols->nr_unread - 1);
	return unread->code ? error_set(ret_error, unread->code, "%s", unread->message) : 0;
}

static bool find_in_kernel(const struct trace_symbols *symbols, uint64_t address, struct trace_symbol *ret_symbol)
{
	const struct kernel_function *function = kernel_code_find(&symbols->kernel, address);

	if (!function)
		return false;
	*ret_symbol = (struct trace_symbol){.function = function->name,
					    .offset = address - function->address,
					    .file = function->file,
					    .file_address = address,
					    .source = "",
					    .why = ""};
	return true;
}

/* Code in no file, that the process generated. */
static bool find_generated(const struct trace_symbols *symbols, const struct trace_symbol_place *place,
			   struct trace_symbol *ret_symbol)
{
	const struct symbol_step *now = latest_step(symbols, place->tid, place->ts_ns, false);
	const struct program_function *function = program_code_find(&symbols->generated, now ? now->pid : place->tid,
								    place->address);

	if (!function)
		return false;
	*ret_symbol = (struct trace_symbol){.function = function->name,
					    .offset = place->address - function->address,
					    .file = function->file,
					    .file_address = place->address,
					    .source = "",
					    .why = ""};
	return true;
}

size_t symbols_file_of(struct trace_symbols *symbols, const struct trace_symbol_place *place, uint64_t *ret_offset)
{
	const struct symbol_mapping *mapping = kernel_code_has(place->address)
						       ? NULL
						       : mapping_of(symbols, place->tid, place->ts_ns, place->address);

	*ret_offset = mapping ? place->address - mapping->start + mapping->offset : 0;
	return mapping ? mapping->object : symbols->nr_objects;
}

size_t symbols_nr_files(const struct trace_symbols *symbols)
{
	return symbols->nr_objects;
}

bool symbols_is_kept(const struct trace_symbols *symbols, size_t file)
{
	return symbol_origin_is_kept(&symbols->objects[file].origin, &symbols->search);
}

static bool find(struct trace_symbols *symbols, const struct trace_symbol_place *place, enum symbol_wanted wanted,
		 struct trace_symbol *ret_symbol)
{
	const struct symbol_mapping *mapping;
	const struct symbol_kept *kept = NULL;
	struct symbol_object *object;
	uint64_t offset;

	if (kernel_code_has(place->address))
		return find_in_kernel(symbols, place->address, ret_symbol);
	mapping = mapping_of(symbols, place->tid, place->ts_ns, place->address);
	if (!mapping)
		return find_generated(symbols, place, ret_symbol);
	object = &symbols->objects[mapping->object];
	offset = place->address - mapping->start + mapping->offset;
	symbols->nr_queries++;
	/* the user names a place with better files, or wants a line: a file goes first */
	if (offset < MAX_OFFSET && !*symbols->search.folder && !symbols->search.debuginfod && wanted != SYMBOL_SOURCE)
		kept = stored_answer(symbols, object, offset, wanted);
	if (!kept && object->state == OBJECT_NEW)
		open_object(symbols, object);
	/* after a failure the query is repeated without the source line */
	while (!kept && !symbols->failed && object->state != OBJECT_UNREADABLE && offset < MAX_OFFSET)
		kept = answer_of(symbols, object, offset, wanted);
	if (!kept && offset < MAX_OFFSET)
		kept = stored_answer(symbols, object, offset, wanted);
	/* if the file cannot be read any more, only its name is known */
	*ret_symbol = (struct trace_symbol){
		.function = kept ? strings_text(&symbols->strings, kept->function) : "",
		.offset = kept ? kept->offset : 0,
		.file = object->path,
		.file_address = kept ? kept->address : offset,
		.source = kept ? strings_text(&symbols->strings, kept->source) : "",
		.why = kept && *strings_text(&symbols->strings, kept->function) ? "" : object->why,
	};
	return true;
}

bool trace_symbols_find(struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns, uint64_t address,
			struct trace_symbol *ret_symbol)
{
	return find(symbols, &(struct trace_symbol_place){.tid = tid, .ts_ns = ts_ns, .address = address},
		    symbols->want_source ? SYMBOL_SOURCE : SYMBOL_NAME, ret_symbol);
}

/* Cuts off the first line of *@text, and moves *@text to the next one. */
static const char *take_line(char **text)
{
	char *line = *text, *end = line + strcspn(line, "\n");

	*text = end + (*end == '\n');
	*end = '\0';
	return line;
}

/* "/src/a.c:12": the path without the line */
static uint32_t take_number(char *source)
{
	char *colon = strrchr(source, ':');

	if (!colon)
		return 0;
	*colon = '\0';
	return (uint32_t)strtoul(colon + 1, NULL, 10);
}

size_t trace_symbols_find_levels(struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns, uint64_t address,
				 struct trace_symbol *ret_symbol, const struct trace_symbol_level **ret_levels)
{
	char *functions = symbols->level_texts, *sources = functions + sizeof(symbols->level_texts) / 2;
	size_t nr = 0;

	if (!find(symbols, &(struct trace_symbol_place){.tid = tid, .ts_ns = ts_ns, .address = address}, SYMBOL_LEVELS,
		  ret_symbol))
		return 0;
	snprintf(functions, sizeof(symbols->level_texts) / 2, "%s", ret_symbol->function);
	snprintf(sources, sizeof(symbols->level_texts) / 2, "%s", ret_symbol->source);
	do {
		struct trace_symbol_level *level = &symbols->levels[nr++];

		level->function = take_line(&functions);
		level->source = take_line(&sources);
		level->line = take_number((char *)(uintptr_t)level->source);
	} while (*functions && nr < SYMBOL_MAX_LEVELS);
	ret_symbol->function = symbols->levels[nr - 1].function;
	ret_symbol->source = "";
	*ret_levels = symbols->levels;
	return nr;
}

/* ---- names for the trace itself ---- */

static int export_file(const struct symbol_object *object, uint64_t number, trace_symbols_emit_fn emit, void *context)
{
	char *text = symbol_store_file_text(&object->origin);
	int error = text ? emit(context, TRACE_STRING_CODE_FILE, number, text) : -ENOMEM;

	free(text);
	return error;
}

static uint64_t byte_of(const struct symbol_kept *kept)
{
	return (kept->key - 1) >> 2;
}

static int by_byte(const void *left, const void *right)
{
	uint64_t l = byte_of(*(const struct symbol_kept *const *)left),
		 r = byte_of(*(const struct symbol_kept *const *)right);

	return (l > r) - (l < r);
}

/* Whether the names of @kept are those of @first, and its numbers follow from the bytes. */
static bool is_named_as(const struct trace_symbols *symbols, const struct symbol_kept *first,
			const struct symbol_kept *kept)
{
	uint64_t distance = byte_of(kept) - byte_of(first);
	bool has_function = *strings_text(&symbols->strings, first->function);

	return kept->function == first->function && kept->source == first->source &&
	       kept->address - first->address == distance &&
	       kept->offset - first->offset == (has_function ? distance : 0);
}

/* The answers with all levels, by byte; NULL: no memory. Released with free() */
static const struct symbol_kept **sorted_answers(const struct symbol_object *object, size_t *ret_nr)
{
	const struct symbol_kept **list = calloc(object->answers.used + 1, sizeof(*list)), *kept = NULL;
	size_t nr = 0;

	while (list && (kept = table_next(&object->answers, sizeof(*kept), kept)))
		if (((kept->key - 1) & 3) == SYMBOL_LEVELS)
			list[nr++] = kept;
	if (nr)
		qsort(list, nr, sizeof(*list), by_byte);
	*ret_nr = nr;
	return list;
}

/* The steps from list[0] to the others; @nr > 1 */
static int export_steps(const struct symbol_kept *const *list, size_t nr, uint64_t number, trace_symbols_emit_fn emit,
			void *context)
{
	char *text = malloc(nr * STEP_BYTES);
	size_t bytes = 0;
	int error;

	if (!text)
		return -ENOMEM;
	for (size_t i = 1; i < nr; i++)
		bytes += (size_t)sprintf(text + bytes, "%s%" PRIx64, i > 1 ? " " : "",
					 byte_of(list[i]) - byte_of(list[i - 1]));
	error = emit(context, TRACE_STRING_CODE_STEPS, number, text);
	free(text);
	return error;
}

/* The first of @list, and the steps to those that are named as it is. @number: of the answer, which
 * counts up; returns how many were exported, or a negative errno */
static ssize_t export_alike(const struct trace_symbols *symbols, const struct symbol_kept *const *list, size_t nr,
			    size_t file, uint64_t *number, trace_symbols_emit_fn emit, void *context)
{
	const struct symbol_kept *first = list[0];
	char *text = symbol_store_code_text(file, byte_of(first), first->address, first->offset,
					    strings_text(&symbols->strings, first->function),
					    strings_text(&symbols->strings, first->source));
	size_t alike = 1;
	int error;

	if (!text)
		return 1; /* a text that is too long is left out */
	while (alike < nr && alike < MAX_ALIKE && is_named_as(symbols, first, list[alike]))
		alike++;
	error = emit(context, TRACE_STRING_CODE, *number, text);
	free(text);
	if (!error && alike > 1)
		error = export_steps(list, alike, *number, emit, context);
	(*number)++;
	return error ? error : (ssize_t)alike;
}

/*
 * @file: the number of the file; @nr: that of the next answer
 * Neighbours often have one name, or none: those are steps of two or three characters each. In the
 * order of the table, with a text each, names were 42 % of a trace of a compiler.
 */
static int export_answers(const struct trace_symbols *symbols, const struct symbol_object *object, size_t file,
			  uint64_t *nr, trace_symbols_emit_fn emit, void *context)
{
	size_t nr_answers, i = 0;
	const struct symbol_kept **list = sorted_answers(object, &nr_answers);
	ssize_t exported = list ? 0 : -ENOMEM;

	while (exported >= 0 && i < nr_answers) {
		exported = export_alike(symbols, list + i, nr_answers - i, file, nr, emit, context);
		i += exported > 0 ? (size_t)exported : 0;
	}
	free(list);
	return exported < 0 ? (int)exported : 0;
}

int trace_symbols_export(const struct trace_symbols *symbols, trace_symbols_emit_fn emit, void *context)
{
	uint64_t nr_answers = 0;
	size_t nr_files = 0;
	int error = 0;

	for (size_t i = 0; !error && i < symbols->nr_objects; i++) {
		const struct symbol_object *object = &symbols->objects[i];

		if (!object->answers.used)
			continue;
		error = export_file(object, nr_files, emit, context);
		if (!error)
			error = export_answers(symbols, object, nr_files++, &nr_answers, emit, context);
	}
	return error;
}
