/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbols.c - translate addresses to names: the mapped file, and the function in it.
 *
 * One pass over the trace collects all mappings before the first query, because a program may
 * report a mapping after its first use. A process without mappings of its own since its last exec
 * has those of its parent. A file is read at the first query about it.
 */
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trace/symbols.h>
#include <unistd.h>

#include "demangle.h"
#include "error_set.h"
#include "regular.h"
#include "sort.h"

#define MOST_DEBUG_BYTES   (2ull << 30) /* decompressed debug information; a file with more gets no source lines */
#define MOST_ZDEBUG_FACTOR 1032 /* zlib cannot compress better */
#define MOST_UNITS	   (1u << 22) /* compilation units that are searched per file */

#define CLONE_THREAD 0x00010000
#define NO_OBJECT SIZE_MAX

/**
 * struct function - a function of a file, in a list sorted by address. @name: borrowed from the ELF
 * file
 */
struct function {
	uint64_t address;
	uint64_t bytes;
	const char *name;
};

/**
 * struct object - a file from which code was mapped
 * @functions: sorted by address; NULL until the first query
 */
struct object {
	char *path; /* owned */
	uint64_t ino; /* 0: unknown */
	int fd;
	Elf *elf;
	Dwarf *dwarf;
	struct function *functions;
	size_t nr_functions;
	bool opened;
	bool dwarf_tried;
};

/** struct mapping - a mapping of a process; @since_ns: when it was reported */
struct mapping {
	uint32_t pid;
	size_t object;
	uint64_t since_ns;
	uint64_t start;
	uint64_t end;
	uint64_t offset;
};

/**
 * struct step - an event in the life of a thread, in time order
 * Either @parent starts it as part of @pid (for a new process its own), or it executes a new
 * program.
 */
struct step {
	uint32_t tid;
	uint32_t pid;
	uint32_t parent;
	bool exec;
	uint64_t ts_ns;
};

struct trace_symbols {
	struct object *objects;
	size_t nr_objects, room_objects;
	struct mapping *mappings;
	size_t nr_mappings, room_mappings;
	struct step *steps;
	size_t nr_steps, room_steps;
	char *demangled; /* owned; from the last query */
	char source[512];
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

static size_t object_of(struct trace_symbols *symbols, const char *path, size_t chars, uint64_t ino)
{
	for (size_t i = symbols->nr_objects; i-- > 0;)
		if (strlen(symbols->objects[i].path) == chars && !memcmp(symbols->objects[i].path, path, chars) &&
		    (symbols->objects[i].ino == ino || !ino))
			return i;
	if (!grow((void **)&symbols->objects, symbols->nr_objects, &symbols->room_objects, sizeof(*symbols->objects))) {
		symbols->failed = true;
		return NO_OBJECT;
	}
	symbols->objects[symbols->nr_objects] = (struct object){ .path = strndup(path, chars), .ino = ino, .fd = -1 };
	if (!symbols->objects[symbols->nr_objects].path) {
		symbols->failed = true;
		return NO_OBJECT;
	}
	return symbols->nr_objects++;
}

static void add_mapping(struct trace_symbols *symbols, const struct mapping *mapping)
{
	if (!grow((void **)&symbols->mappings, symbols->nr_mappings, &symbols->room_mappings, sizeof(*symbols->mappings)))
		symbols->failed = true;
	else if (!symbols->failed)
		symbols->mappings[symbols->nr_mappings++] = *mapping;
}

static void add_step(struct trace_symbols *symbols, const struct step *step)
{
	if (!grow((void **)&symbols->steps, symbols->nr_steps, &symbols->room_steps, sizeof(*symbols->steps)))
		symbols->failed = true;
	else
		symbols->steps[symbols->nr_steps++] = *step;
}

/* The trace may come from an older version of the event with fewer fields. */
static bool has_room(const struct trace_event *event, size_t bytes)
{
	return event->type && event->type->fixed_bytes >= bytes;
}

static void collect_start(struct trace_symbols *symbols, const struct trace_event *event)
{
	const char *path = trace_event_string(event);

	if (event->id == TRACE_EV_start_thread && has_room(event, sizeof(struct trace_start_thread))) {
		const struct trace_start_thread *thread = event->payload;

		add_step(symbols, &(struct step){ .tid = thread->tid, .pid = thread->tgid });
	} else if (event->id == TRACE_EV_start_map && has_room(event, sizeof(struct trace_start_map)) && *path == '/') {
		const struct trace_start_map *map = event->payload;

		add_mapping(symbols, &(struct mapping){ .pid = map->tgid, .object = object_of(symbols, path, strlen(path), map->ino),
							.start = map->start, .end = map->end, .offset = map->offset });
	}
}

static const struct step *latest_step(const struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns, bool exec_only);

/* A program reports where its code is mapped. The process is that of the reporting thread. */
static void collect_told(struct trace_symbols *symbols, const struct trace_event *event)
{
	const struct trace_event_type *type = event->type;
	size_t chars;
	const char *path = trace_event_bytes(event, trace_type_field(type, "path"), &chars);
	const struct step *step;
	uint32_t tid;

	if (!(type->flags & TRACE_EVENT_TID) || !path || event->payload_bytes < sizeof(tid))
		return;
	memcpy(&tid, event->payload, sizeof(tid));
	step = latest_step(symbols, tid, event->ts_ns, false);
	add_mapping(symbols, &(struct mapping){
		.pid = step ? step->pid : tid,
		.since_ns = event->ts_ns,
		.object = object_of(symbols, path, chars, 0),
		.start = trace_event_u64(event, trace_type_field(type, "start")),
		.end = trace_event_u64(event, trace_type_field(type, "end")),
		.offset = trace_event_u64(event, trace_type_field(type, "offset")),
	});
}

static void collect(struct trace_symbols *symbols, const struct trace_event *event)
{
	if (event->id == TRACE_EV_sched_fork && has_room(event, sizeof(struct trace_sched_fork))) {
		const struct trace_sched_fork *fork = event->payload;

		add_step(symbols, &(struct step){ .tid = fork->tid, .pid = fork->tgid, .parent = fork->parent_tid, .ts_ns = event->ts_ns });
	} else if (event->id == TRACE_EV_sched_exec && has_room(event, sizeof(struct trace_sched_exec))) {
		const struct trace_sched_exec *exec = event->payload;

		add_step(symbols, &(struct step){ .tid = exec->tid, .pid = exec->tid, .exec = true, .ts_ns = event->ts_ns });
	} else if (event->type && !strcmp(event->type->name, "program:map")) {
		collect_told(symbols, event);
	}
}

static int run_through(struct trace_symbols *symbols, const struct trace *trace, bool start_state, struct trace_error *ret_error)
{
	uint64_t mask[TRACE_MASK_WORDS] = { 0 };
	struct trace_cursor_options options = { .size = sizeof(options), .start_state = start_state, .mask = mask };
	static const uint32_t wanted[] = { TRACE_EV_start_thread, TRACE_EV_start_map, TRACE_EV_sched_fork, TRACE_EV_sched_exec, TRACE_EV_USER };
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

	if (!symbols || run_through(symbols, trace, true, ret_error) || run_through(symbols, trace, false, ret_error) || symbols->failed) {
		error_set(ret_error, -ENOMEM, "no memory for the mappings of processes");
		return trace_symbols_free(symbols);
	}
	return symbols;
}

struct trace_symbols *trace_symbols_free(struct trace_symbols *symbols)
{
	if (!symbols)
		return NULL;
	for (size_t i = 0; i < symbols->nr_objects; i++) {
		struct object *object = &symbols->objects[i];

		dwarf_end(object->dwarf);
		elf_end(object->elf);
		if (object->fd >= 0)
			close(object->fd);
		free(object->functions);
		free(object->path);
	}
	free(symbols->objects);
	free(symbols->mappings);
	free(symbols->steps);
	free(symbols->demangled);
	free(symbols);
	return NULL;
}

void trace_symbols_want_source(struct trace_symbols *symbols, bool wanted)
{
	symbols->want_source = wanted;
}

/* ---- mappings of a thread ---- */

/* Steps are in time order. */
static const struct step *latest_step(const struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns, bool exec_only)
{
	for (size_t i = symbols->nr_steps; i-- > 0;)
		if (symbols->steps[i].tid == tid && symbols->steps[i].ts_ns <= ts_ns && (!exec_only || symbols->steps[i].exec))
			return &symbols->steps[i];
	return NULL;
}

static const struct step *birth(const struct trace_symbols *symbols, uint32_t pid, uint64_t ts_ns)
{
	for (size_t i = symbols->nr_steps; i-- > 0;)
		if (symbols->steps[i].tid == pid && symbols->steps[i].ts_ns <= ts_ns && !symbols->steps[i].exec)
			return &symbols->steps[i];
	return NULL;
}

/* Start of the next program after @ts_ns: mappings from then on belong to that program. */
static uint64_t next_exec(const struct trace_symbols *symbols, uint32_t pid, uint64_t ts_ns)
{
	for (size_t i = 0; i < symbols->nr_steps; i++)
		if (symbols->steps[i].tid == pid && symbols->steps[i].exec && symbols->steps[i].ts_ns > ts_ns)
			return symbols->steps[i].ts_ns;
	return UINT64_MAX;
}

static const struct mapping *mapping_of(const struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns, uint64_t address)
{
	for (int generation = 0; generation < 64; generation++) {
		const struct step *now = latest_step(symbols, tid, ts_ns, false), *exec, *born;
		uint32_t pid = now ? now->pid : tid;
		uint64_t from_ns, to_ns = next_exec(symbols, pid, ts_ns);

		exec = latest_step(symbols, pid, ts_ns, true);
		born = birth(symbols, pid, ts_ns);
		from_ns = exec ? exec->ts_ns : born ? born->ts_ns : 0;
		for (size_t i = symbols->nr_mappings; i-- > 0;) {
			const struct mapping *mapping = &symbols->mappings[i];

			if (mapping->pid == pid && mapping->since_ns >= from_ns && mapping->since_ns < to_ns && address >= mapping->start &&
			    address < mapping->end)
				return mapping;
		}
		if ((exec && (!born || exec->ts_ns >= born->ts_ns)) || !born || !born->parent)
			return NULL;
		tid = born->parent; /* a forked child starts with a copy */
		ts_ns = born->ts_ns;
	}
	return NULL;
}

/* ---- functions of a file ---- */

static int by_address(const void *a, const void *b)
{
	const struct function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name[0] == '_' ? 1 : y->name[0] == '_' ? -1 : 0; /* prefer malloc to __libc_malloc */
}

static size_t add_functions(struct object *object, unsigned int table, size_t nr, size_t *room)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(object->elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != table || !header.sh_entsize)
			continue;
		data = elf_getdata(section, NULL);
		for (size_t i = 0; data && i < header.sh_size / header.sh_entsize; i++) {
			GElf_Sym symbol;
			const char *name = gelf_getsym(data, (int)i, &symbol) ? elf_strptr(object->elf, header.sh_link, symbol.st_name) : NULL;

			if (!name || !*name || symbol.st_shndx == SHN_UNDEF ||
			    (GELF_ST_TYPE(symbol.st_info) != STT_FUNC && GELF_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC) ||
			    !grow((void **)&object->functions, nr, room, sizeof(*object->functions)))
				continue;
			object->functions[nr++] = (struct function){ symbol.st_value, symbol.st_size, name };
		}
	}
	return nr;
}

/*
 * SECURITY: the path may come from a traced program, and the file may belong to another user.
 * Sections are read, not mapped: if the owner truncates the file meanwhile, a mapping would raise
 * SIGBUS.
 */
static void open_object(struct object *object)
{
	struct stat status;
	size_t room = 0;

	object->opened = true;
	object->fd = regular_open(object->path);
	if (object->fd < 0 || fstat(object->fd, &status) || (object->ino && object->ino != status.st_ino))
		return;
	elf_version(EV_CURRENT);
	object->elf = elf_begin(object->fd, ELF_C_READ, NULL);
	if (object->elf && elf_kind(object->elf) != ELF_K_ELF) {
		elf_end(object->elf);
		object->elf = NULL;
	}
	if (!object->elf)
		return;
	object->nr_functions = add_functions(object, SHT_SYMTAB, 0, &room);
	object->nr_functions = add_functions(object, SHT_DYNSYM, object->nr_functions, &room);
	if (!sort_rows(object->functions, object->nr_functions, sizeof(*object->functions), by_address))
		errno = ENOMEM;
}

/* The function that contains @address. A function without a size extends to the next one. */
static const struct function *function_at(const struct object *object, uint64_t address)
{
	size_t low = 0, high = object->nr_functions;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (object->functions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	for (low--; low > 0 && object->functions[low - 1].address == object->functions[low].address; low--)
		;
	if (object->functions[low].bytes && address - object->functions[low].address >= object->functions[low].bytes)
		return NULL;
	return &object->functions[low];
}

static bool file_address(const struct object *object, uint64_t offset, uint64_t *ret_address)
{
	GElf_Phdr segment;
	size_t nr;

	if (!object->elf || elf_getphdrnum(object->elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(object->elf, (int)i, &segment) && segment.p_type == PT_LOAD && offset >= (segment.p_offset & ~4095ull) &&
		    offset < segment.p_offset + segment.p_filesz) {
			*ret_address = offset - segment.p_offset + segment.p_vaddr;
			return true;
		}
	return false;
}

/* A section of a few kilobytes may decompress to gigabytes. */
static bool debug_fits(Elf *elf)
{
	uint64_t total = 0, bytes;
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Chdr packed;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return false;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (!name || (strncmp(name, ".debug_", 7) && strncmp(name, ".zdebug_", 8)))
			continue;
		bytes = header.sh_size;
		if ((header.sh_flags & SHF_COMPRESSED) && gelf_getchdr(section, &packed))
			bytes = packed.ch_size;
		if (name[1] == 'z' && __builtin_mul_overflow(bytes, MOST_ZDEBUG_FACTOR, &bytes))
			return false;
		if (__builtin_add_overflow(total, bytes, &total) || total > MOST_DEBUG_BYTES)
			return false;
	}
	return true;
}

/*
 * For a file with a supplementary debug file, libdw would open whatever path the file names, even a
 * FIFO. Such a file gets no source lines.
 */
static void open_dwarf(struct object *object)
{
	const char *name;
	const void *id;

	object->dwarf_tried = true;
	if (!debug_fits(object->elf))
		return;
	object->dwarf = dwarf_begin_elf(object->elf, DWARF_C_READ, NULL);
	if (object->dwarf && dwelf_dwarf_gnu_debugaltlink(object->dwarf, &name, &id) == 0)
		return;
	dwarf_end(object->dwarf);
	object->dwarf = NULL;
}

/* The compilation unit that contains @address. */
static bool find_unit(Dwarf *dwarf, uint64_t address, Dwarf_Die *ret_unit)
{
	Dwarf_CU *unit = NULL;

	if (dwarf_addrdie(dwarf, address, ret_unit))
		return true;
	/* clang writes no .debug_aranges */
	for (unsigned int i = 0; i < MOST_UNITS && dwarf_get_units(dwarf, unit, &unit, NULL, NULL, ret_unit, NULL) == 0; i++)
		if (dwarf_haspc(ret_unit, address) > 0)
			return true;
	return false;
}

static void find_source(struct trace_symbols *symbols, struct object *object, uint64_t address)
{
	Dwarf_Die unit;
	Dwarf_Line *line;
	const char *file, *slash;
	int number;

	symbols->source[0] = '\0';
	if (!symbols->want_source || !object->elf)
		return;
	if (!object->dwarf_tried)
		open_dwarf(object);
	if (!object->dwarf || !find_unit(object->dwarf, address, &unit))
		return;
	line = dwarf_getsrc_die(&unit, address);
	file = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (!file || dwarf_lineno(line, &number))
		return;
	slash = strrchr(file, '/');
	snprintf(symbols->source, sizeof(symbols->source), "%s:%d", slash ? slash + 1 : file, number);
}

/* The caller's query finds errno = ENOMEM if there was no memory for the readable name. */
static const char *readable(struct trace_symbols *symbols, const char *name)
{
	free(symbols->demangled);
	symbols->demangled = demangle(name);
	return symbols->demangled ? symbols->demangled : name;
}

/* ---- queries ---- */

static void answer(struct trace_symbols *symbols, struct object *object, uint64_t address, struct trace_symbol *ret_symbol)
{
	const struct function *function = function_at(object, address);

	find_source(symbols, object, address);
	*ret_symbol = (struct trace_symbol){
		.function = function ? readable(symbols, function->name) : "",
		.offset = function ? address - function->address : 0,
		.file = object->path,
		.file_address = address,
		.source = symbols->source,
	};
}

/*
 * Many calls of libelf and libdw report only that there is no result, not why. malloc() and mmap()
 * set errno, and success does not clear it: so each query clears errno at its start and checks it
 * at the end. A failed allocation counts even if the library recovered from it.
 */
static void note_errno(struct trace_symbols *symbols)
{
	symbols->failed |= errno == ENOMEM;
}

int trace_symbols_error(const struct trace_symbols *symbols, struct trace_error *ret_error)
{
	return symbols->failed ? error_set(ret_error, -ENOMEM, "no memory to read the names of functions from their files") : 0;
}

bool trace_symbols_find(struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns, uint64_t address, struct trace_symbol *ret_symbol)
{
	const struct mapping *mapping = mapping_of(symbols, tid, ts_ns, address);
	struct object *object;
	uint64_t in_file;

	if (!mapping)
		return false;
	object = &symbols->objects[mapping->object];
	errno = 0;
	if (!object->opened)
		open_object(object);
	/* if the file cannot be read any more, only its name is known */
	if (!file_address(object, address - mapping->start + mapping->offset, &in_file))
		in_file = address - mapping->start + mapping->offset;
	answer(symbols, object, in_file, ret_symbol);
	note_errno(symbols);
	return true;
}
