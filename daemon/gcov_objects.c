/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gcov_objects.c - find __gcov_root, the head of libgcov's lists, in each file that a process has
 * mapped: a local symbol that each program and each library built with --coverage has of its own.
 */
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "error_set.h"
#include "gcov_objects.h"
#include "regular.h"

#define ROOT_NAME    "__gcov_root"
#define MAX_SECTIONS 4096
#define MAX_SEGMENTS 64
#define MAX_SYMBOLS  (16u << 20) /* of all files of a process, whatever their headers say */
#define SYMBOL_BLOCK 4096

/** struct gcov_mapped - the first mapping of a file */
struct gcov_mapped {
	uint64_t begin, end, offset, inode;
	unsigned int major, minor;
	char path[4096];
};

/** struct gcov_elf - an open ELF file of 64 bits. @nr_symbols: read until now, of all files */
struct gcov_elf {
	int fd;
	uint64_t *nr_symbols;
	Elf64_Ehdr head;
	Elf64_Phdr segments[MAX_SEGMENTS];
	size_t nr_segments;
};

static bool read_at(int fd, void *into, size_t bytes, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, into, bytes, (off_t)offset) == (ssize_t)bytes;
}

static bool elf_open(struct gcov_elf *elf, int fd)
{
	Elf64_Ehdr *head = &elf->head;

	elf->fd = fd;
	if (!read_at(fd, head, sizeof(*head), 0) || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
	    head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_phentsize != sizeof(Elf64_Phdr) ||
	    head->e_phnum > MAX_SEGMENTS || head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shnum > MAX_SECTIONS)
		return false;
	elf->nr_segments = head->e_phnum;
	return read_at(fd, elf->segments, elf->nr_segments * sizeof(Elf64_Phdr), head->e_phoff);
}

/* ---- the symbol ---- */

static bool is_root(const struct gcov_elf *elf, const Elf64_Shdr *names, uint32_t name)
{
	char text[sizeof(ROOT_NAME)];

	return name < names->sh_size && sizeof(text) <= names->sh_size - name &&
	       names->sh_offset <= INT64_MAX - names->sh_size &&
	       read_at(elf->fd, text, sizeof(text), names->sh_offset + name) && !memcmp(text, ROOT_NAME, sizeof(text));
}

static bool search_table(const struct gcov_elf *elf, const Elf64_Shdr *table, const Elf64_Shdr *names,
			 uint64_t *ret_address)
{
	uint64_t nr = table->sh_size / sizeof(Elf64_Sym);
	Elf64_Sym symbols[SYMBOL_BLOCK / sizeof(Elf64_Sym)];
	size_t block = sizeof(symbols) / sizeof(symbols[0]);

	if (nr > MAX_SYMBOLS || *elf->nr_symbols > MAX_SYMBOLS - nr || table->sh_offset > INT64_MAX - table->sh_size)
		return false;
	*elf->nr_symbols += nr;
	for (uint64_t first = 0; first < nr; first += block) {
		size_t here = nr - first < block ? (size_t)(nr - first) : block;

		if (!read_at(elf->fd, symbols, here * sizeof(symbols[0]),
			     table->sh_offset + first * sizeof(symbols[0])))
			return false;
		for (size_t i = 0; i < here; i++)
			if (ELF64_ST_TYPE(symbols[i].st_info) == STT_OBJECT && symbols[i].st_shndx != SHN_UNDEF &&
			    is_root(elf, names, symbols[i].st_name)) {
				*ret_address = symbols[i].st_value;
				return true;
			}
	}
	return false;
}

/* @ret_has_table: the file has a symbol table */
static bool find_root(const struct gcov_elf *elf, uint64_t *ret_address, bool *ret_has_table)
{
	*ret_has_table = false;
	for (uint16_t i = 0; i < elf->head.e_shnum; i++) {
		uint64_t at = elf->head.e_shoff + i * sizeof(Elf64_Shdr);
		Elf64_Shdr table, names;

		if (!read_at(elf->fd, &table, sizeof(table), at) || table.sh_type != SHT_SYMTAB ||
		    table.sh_link >= elf->head.e_shnum ||
		    !read_at(elf->fd, &names, sizeof(names), elf->head.e_shoff + table.sh_link * sizeof(Elf64_Shdr)))
			continue;
		*ret_has_table = true;
		if (search_table(elf, &table, &names, ret_address))
			return true;
	}
	return false;
}

/* The difference between addresses in the process and in the file */
static bool find_bias(const struct gcov_elf *elf, const struct gcov_mapped *mapped, uint64_t *ret_bias)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;

	for (size_t i = 0; i < elf->nr_segments; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];

		if (segment->p_type == PT_LOAD && (segment->p_offset & ~page) == mapped->offset) {
			*ret_bias = mapped->begin - (segment->p_vaddr & ~page);
			return true;
		}
	}
	return false;
}

/* ---- mappings ---- */

static bool parse_mapping(const char *line, struct gcov_mapped *ret)
{
	int path_at = -1;

	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %" SCNu64 " %n", &ret->begin, &ret->end,
		   &ret->offset, &ret->major, &ret->minor, &ret->inode, &path_at) < 6 ||
	    path_at < 0 || line[path_at] != '/' || !ret->inode)
		return false;
	snprintf(ret->path, sizeof(ret->path), "%s", line + path_at);
	ret->path[strcspn(ret->path, "\n")] = '\0';
	return true;
}

/*
 * The very file that is mapped: by the kernel's link to it, or by its path if that has not
 * changed.
 */
static int open_mapped(pid_t pid, const struct gcov_mapped *mapped)
{
	char path[sizeof(mapped->path) + 64];
	struct stat status;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, (int)pid, mapped->begin, mapped->end);
	fd = regular_open(path);
	if (fd >= 0)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", (int)pid, mapped->path);
	fd = regular_open(path);
	if (fd >= 0 && (fstat(fd, &status) < 0 || status.st_ino != mapped->inode ||
			status.st_dev != makedev(mapped->major, mapped->minor))) {
		close(fd);
		fd = -ESTALE;
	}
	return fd;
}

/** struct search - what gcov_objects_find() has found so far */
struct gcov_search {
	struct gcov_object *objects;
	size_t nr, stripped;
	uint64_t nr_symbols;
};

static int add_object(struct gcov_search *search, const char *path, uint64_t root)
{
	struct gcov_object *bigger = reallocarray(search->objects, search->nr + 1, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	search->objects = bigger;
	bigger[search->nr] = (struct gcov_object){strdup(path), root};
	return bigger[search->nr].path ? (search->nr++, 0) : -ENOMEM;
}

static int look_at(pid_t pid, const struct gcov_mapped *mapped, struct gcov_search *search)
{
	int fd = open_mapped(pid, mapped), err = 0;
	uint64_t address, bias;
	struct gcov_elf elf = {.nr_symbols = &search->nr_symbols};
	bool has_table;

	if (fd < 0)
		return 0;
	if (elf_open(&elf, fd)) {
		if (!find_root(&elf, &address, &has_table))
			search->stripped += !has_table;
		else if (find_bias(&elf, mapped, &bias))
			err = add_object(search, mapped->path, address + bias);
	}
	close(fd);
	return err;
}

/* The mappings of a file follow each other; its first one is looked at. */
static int look_at_all(pid_t pid, FILE *maps, struct gcov_search *search)
{
	struct gcov_mapped mapped, last = {0};
	char *line = NULL;
	size_t room = 0;
	int err = 0;

	while (!err && getline(&line, &room, maps) >= 0) {
		if (!parse_mapping(line, &mapped) || (mapped.inode == last.inode && mapped.major == last.major &&
						      mapped.minor == last.minor && !strcmp(mapped.path, last.path)))
			continue;
		err = look_at(pid, &mapped, search);
		last = mapped;
	}
	free(line);
	return err;
}

int gcov_objects_find(pid_t pid, struct gcov_object **ret_objects, size_t *ret_nr, size_t *ret_stripped,
		      struct trace_error *ret_error)
{
	struct gcov_search search = {0};
	char path[32];
	FILE *maps;
	int err;

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	maps = fopen(path, "re");
	if (!maps)
		return error_set(ret_error, errno == ENOENT ? -ESRCH : -errno, "process %d: %s", (int)pid,
				 errno == ENOENT ? "there is no such process" : strerror(errno));
	err = look_at_all(pid, maps, &search);
	fclose(maps);
	if (err) {
		gcov_objects_free(search.objects, search.nr);
		return error_set(ret_error, err, "process %d: %s", (int)pid, strerror(-err));
	}
	*ret_objects = search.objects;
	*ret_nr = search.nr;
	*ret_stripped = search.stripped;
	return 0;
}

void gcov_objects_free(struct gcov_object *objects, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(objects[i].path);
	free(objects);
}
