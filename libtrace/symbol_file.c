/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* symbol_file.c - the symbol tables and DWARF lines of one ELF file, by libelf and libdw. */
#include "symbol_file.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "demangle.h"
#include "sort.h"

#define MAX_TABLE_BYTES	  (1ull << 30) /* symbols and their names; a larger file is refused */
#define MAX_DEBUG_BYTES	  (2ull << 30) /* decompressed debug information; a file with more has no source lines */
#define MAX_ZDEBUG_FACTOR 1032	       /* zlib cannot compress better */

static void note_memory(struct symbol_file *file)
{
	file->no_memory |= errno == ENOMEM;
	errno = 0;
}

/* ---- functions ---- */

/* Make room for one more function. */
static bool grow(struct symbol_file *file, size_t nr, size_t *room)
{
	size_t more = *room ? 2 * *room : 64;
	struct symbol_function *grown;

	if (nr < *room)
		return true;
	grown = reallocarray(file->functions, more, sizeof(*grown));
	if (!grown)
		return false;
	file->functions = grown;
	*room = more;
	return true;
}

static int by_address(const void *a, const void *b)
{
	const struct symbol_function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->name[0] == '_' ? 1 : y->name[0] == '_' ? -1 : 0; /* prefer malloc to __libc_malloc */
}

static size_t add_functions(struct symbol_file *file, unsigned int table, size_t nr, size_t *room)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(file->elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != table || !header.sh_entsize)
			continue;
		data = elf_getdata(section, NULL);
		for (size_t i = 0; data && i < header.sh_size / header.sh_entsize; i++) {
			GElf_Sym symbol;
			const char *name = gelf_getsym(data, (int)i, &symbol)
						   ? elf_strptr(file->elf, header.sh_link, symbol.st_name)
						   : NULL;

			if (!name || !*name || symbol.st_shndx == SHN_UNDEF ||
			    (GELF_ST_TYPE(symbol.st_info) != STT_FUNC &&
			     GELF_ST_TYPE(symbol.st_info) != STT_GNU_IFUNC) ||
			    !grow(file, nr, room))
				continue;
			file->functions[nr++] = (struct symbol_function){symbol.st_value, symbol.st_size, name};
		}
	}
	return nr;
}

/* Do the tables of symbols fit in memory? Their sizes are known before they are read. */
static bool tables_fit(Elf *elf)
{
	uint64_t total = 0;
	Elf_Scn *section = NULL, *names;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section))) {
		if (!gelf_getshdr(section, &header) || (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		names = elf_getscn(elf, header.sh_link);
		if (__builtin_add_overflow(total, header.sh_size, &total) ||
		    (names && gelf_getshdr(names, &header) && __builtin_add_overflow(total, header.sh_size, &total)) ||
		    total > MAX_TABLE_BYTES)
			return false;
	}
	return true;
}

/*
 * Sections are read, not mapped: if the owner truncates the file meanwhile, a mapping would raise
 * SIGBUS.
 */
int symbol_file_open(struct symbol_file *file, int fd)
{
	size_t room = 0;

	errno = 0;
	elf_version(EV_CURRENT);
	file->elf = elf_begin(fd, ELF_C_READ, NULL);
	if (file->elf && elf_kind(file->elf) != ELF_K_ELF) {
		elf_end(file->elf);
		file->elf = NULL;
	}
	note_memory(file);
	if (!file->elf)
		return 0;
	if (!tables_fit(file->elf))
		return -EFBIG;
	file->nr_functions = add_functions(file, SHT_SYMTAB, 0, &room);
	file->nr_functions = add_functions(file, SHT_DYNSYM, file->nr_functions, &room);
	if (!sort_rows(file->functions, file->nr_functions, sizeof(*file->functions), by_address))
		errno = ENOMEM;
	note_memory(file);
	return 0;
}

/* The function that contains @address. A function without a size extends to the next one. */
static const struct symbol_function *function_at(const struct symbol_file *file, uint64_t address)
{
	size_t low = 0, high = file->nr_functions;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (file->functions[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	for (low--; low > 0 && file->functions[low - 1].address == file->functions[low].address; low--)
		;
	if (file->functions[low].bytes && address - file->functions[low].address >= file->functions[low].bytes)
		return NULL;
	return &file->functions[low];
}

static bool file_address(const struct symbol_file *file, uint64_t offset, uint64_t *ret_address)
{
	GElf_Phdr segment;
	size_t nr;

	if (!file->elf || elf_getphdrnum(file->elf, &nr))
		return false;
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(file->elf, (int)i, &segment) && segment.p_type == PT_LOAD &&
		    offset >= (segment.p_offset & ~4095ull) && offset < segment.p_offset + segment.p_filesz) {
			*ret_address = offset - segment.p_offset + segment.p_vaddr;
			return true;
		}
	return false;
}

/* ---- source lines ---- */

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

		if (!debug_is_section(name))
			continue;
		bytes = header.sh_size;
		if ((header.sh_flags & SHF_COMPRESSED) && gelf_getchdr(section, &packed))
			bytes = packed.ch_size;
		if (name[1] == 'z' && __builtin_mul_overflow(bytes, MAX_ZDEBUG_FACTOR, &bytes))
			return false;
		if (__builtin_add_overflow(total, bytes, &total) || total > MAX_DEBUG_BYTES)
			return false;
	}
	return true;
}

/*
 * For a file with a supplementary debug file, libdw would open whatever path the file names, even a
 * FIFO. Such a file gets no source lines.
 */
static void open_dwarf(struct symbol_file *file)
{
	const char *name;
	const void *id;

	file->dwarf_tried = true;
	if (!debug_fits(file->elf))
		return;
	debug_sections_read(file->elf);
	note_memory(file);
	if (debug_strings_end(file->elf, &file->strings))
		file->dwarf = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	note_memory(file);
	if (!file->dwarf)
		return;
	dwarf_new_oom_handler(file->dwarf, file->on_no_memory);
	if (dwelf_dwarf_gnu_debugaltlink(file->dwarf, &name, &id) == 0)
		return;
	dwarf_end(file->dwarf);
	file->dwarf = NULL;
}

static size_t find_levels(struct symbol_file *file, uint64_t address, struct line_level levels[SYMBOL_MAX_LEVELS])
{
	size_t nr;

	if (!file->elf)
		return 0;
	if (!file->dwarf_tried)
		open_dwarf(file);
	if (!file->dwarf)
		return 0;
	nr = line_index_find(&file->lines, file->dwarf, address, levels);
	file->no_memory |= file->lines.no_memory;
	file->is_damaged |= file->lines.is_damaged;
	return nr;
}

/* ---- look-up ---- */

/* demangle() sets errno = ENOMEM if there is no memory for the readable name. */
static const char *readable(struct symbol_file *file, const char *name)
{
	free(file->demangled);
	file->demangled = NULL;
	if (!strncmp(name, "_Z", 2) && !demangle_is_prepared())
		file->needs_demangler = true;
	else
		file->demangled = demangle(name);
	return file->demangled ? file->demangled : name;
}

/* "file.c:12" */
static void put_source(const struct line_level *level, struct symbol_found *found)
{
	const char *slash = level->path ? strrchr(level->path, '/') : NULL;

	if (level->path && level->line)
		snprintf(found->source, SYMBOL_PATH_BYTES, "%s:%d", slash ? slash + 1 : level->path, level->line);
}

/* Names and paths come from the file: a line break there would begin another level. */
static size_t put_line(char *to, const char *text, size_t max)
{
	size_t bytes = strnlen(text, max);

	for (size_t i = 0; i < bytes; i++)
		to[i] = text[i] == '\n' ? '?' : text[i];
	return bytes;
}

static size_t put_path(char *to, const struct line_level *level)
{
	bool is_whole = level->path && (*level->path == '/' || !*level->folder);
	char path[SYMBOL_PATH_BYTES - 12]; /* with room for the line */
	int bytes;

	if (!level->path)
		return 0;
	bytes = snprintf(path, sizeof(path), "%s%s%s", is_whole ? "" : level->folder, is_whole ? "" : "/", level->path);
	if (bytes <= 0 || (size_t)bytes >= sizeof(path))
		return 0;
	put_line(to, path, (size_t)bytes);
	return (size_t)(bytes + sprintf(to + bytes, ":%d", level->line));
}

/* @function: of the symbol table, for the outermost level; NULL: it has none there */
static void put_levels(struct symbol_file *file, const struct line_level *levels, size_t nr, const char *function,
		       struct symbol_found *found)
{
	size_t names = 0, paths = 0;
	char *text;

	free(file->levels);
	text = file->levels = malloc(SYMBOL_MAX_LEVELS * (SYMBOL_LEVEL_BYTES + 1) + SYMBOL_NAME_BYTES / 2);
	if (!text)
		return;
	for (size_t i = 0; i < nr; i++) {
		bool is_last = i + 1 == nr;
		const char *name = is_last && function ? function : levels[i].name ? levels[i].name : "";

		if (!is_last || !function)
			name = readable(file, name);
		names += put_line(text + names, name, is_last ? SYMBOL_NAME_BYTES / 2 - 2 : SYMBOL_LEVEL_BYTES);
		paths += put_path(found->source + paths, &levels[i]);
		text[names++] = is_last ? '\0' : '\n';
		found->source[paths++] = is_last ? '\0' : '\n';
	}
	found->function = text;
}

static void find_lines(struct symbol_file *file, enum symbol_wanted wanted, struct symbol_found *found)
{
	struct line_level levels[SYMBOL_MAX_LEVELS];
	size_t nr = find_levels(file, found->address, levels);
	char *function;

	if (wanted == SYMBOL_SOURCE && nr)
		put_source(&levels[0], found);
	if (wanted != SYMBOL_LEVELS || !nr)
		return;
	function = found->function ? strdup(found->function) : NULL;
	if (function || !found->function)
		put_levels(file, levels, nr, function, found);
	free(function);
}

void symbol_file_find(struct symbol_file *file, uint64_t offset, enum symbol_wanted wanted,
		      struct symbol_found *ret_found)
{
	const struct symbol_function *function;

	errno = 0;
	*ret_found = (struct symbol_found){.address = offset};
	if (!file_address(file, offset, &ret_found->address))
		ret_found->address = offset;
	function = function_at(file, ret_found->address);
	if (function) {
		ret_found->function = readable(file, function->name);
		ret_found->offset = ret_found->address - function->address;
		note_memory(file);
	}
	if (wanted != SYMBOL_NAME)
		find_lines(file, wanted, ret_found);
	note_memory(file);
}

const char *symbol_file_id(struct symbol_file *file)
{
	static char text[2 * 64 + 1];
	const void *bits = NULL;
	ssize_t bytes = file->elf ? dwelf_elf_gnu_build_id(file->elf, &bits) : 0;

	note_memory(file);
	if (bytes <= 0 || bytes > 64)
		return NULL;
	for (ssize_t i = 0; i < bytes; i++)
		snprintf(text + 2 * i, 3, "%02x", ((const unsigned char *)bits)[i]);
	return text;
}
