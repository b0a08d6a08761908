/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gprof_names.c - reads the symbol tables of the files that are loaded, when a program ends
 */
#include "gprof_names.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- objects ---- */

static int add_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct gprof_names *names = context;
	bool is_program = !*info->dlpi_name && !names->nr_objects;
	struct gprof_object object = {.code = {.begin = UINTPTR_MAX, .bias = info->dlpi_addr},
				      .is_program = is_program};
	struct gprof_object *bigger;

	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + segment->p_vaddr, end = begin + segment->p_memsz;

		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X))
			continue;
		object.code.begin = begin < object.code.begin ? begin : object.code.begin;
		object.code.end = end > object.code.end ? end : object.code.end;
	}
	if (object.code.end <= object.code.begin)
		return 0;
	bigger = reallocarray(names->objects, names->nr_objects + 1, sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	names->objects = bigger;
	object.path = strdup(is_program ? "/proc/self/exe" : info->dlpi_name);
	if (!object.path)
		return -ENOMEM;
	names->objects[names->nr_objects++] = object;
	return 0;
}

int gprof_objects_find(struct gprof_names *names)
{
	*names = (struct gprof_names){0};
	return dl_iterate_phdr(add_object, names);
}

const struct gprof_object *gprof_object_at(const struct gprof_names *names, uintptr_t address)
{
	for (size_t i = 0; i < names->nr_objects; i++)
		if (address >= names->objects[i].code.begin && address < names->objects[i].code.end)
			return &names->objects[i];
	return NULL;
}

/* ---- functions ---- */

/** struct gprof_elf - a file in memory */
struct gprof_elf {
	const char *at;
	size_t bytes;
};

static const void *part(const struct gprof_elf *elf, uint64_t offset, uint64_t bytes)
{
	return offset <= elf->bytes && bytes <= elf->bytes - offset ? elf->at + offset : NULL;
}

static int add_function(struct gprof_names *names, const struct gprof_object *object, const ElfW(Sym) * symbol,
			const char *name)
{
	uintptr_t begin = object->code.bias + symbol->st_value, end = begin + symbol->st_size;

	if (begin < object->code.begin || end > object->code.end || end <= begin)
		return 0;
	if (names->nr == names->room) {
		size_t more = names->room ? 2 * names->room : 4096;
		struct gprof_function *bigger = reallocarray(names->functions, more, sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		names->functions = bigger;
		names->room = more;
	}
	names->functions[names->nr++] = (struct gprof_function){begin, end, name};
	return 0;
}

static int keep_texts(struct gprof_names *names, const char *from, size_t bytes, const char **ret_texts)
{
	char **bigger = reallocarray(names->texts, names->nr_texts + 1, sizeof(*bigger));
	char *copy = malloc(bytes + 1);

	if (bigger)
		names->texts = bigger;
	if (!bigger || !copy) {
		free(copy);
		return -ENOMEM;
	}
	memcpy(copy, from, bytes);
	copy[bytes] = '\0';
	names->texts[names->nr_texts++] = copy;
	*ret_texts = copy;
	return 0;
}

static int read_table(struct gprof_names *names, const struct gprof_object *object, const struct gprof_elf *elf,
		      const ElfW(Shdr) * table, const ElfW(Shdr) * strings)
{
	const ElfW(Sym) *symbols = part(elf, table->sh_offset, table->sh_size);
	const char *file_texts = part(elf, strings->sh_offset, strings->sh_size), *texts;
	int err;

	if (!symbols || !file_texts || table->sh_offset % _Alignof(ElfW(Sym)))
		return 0;
	err = keep_texts(names, file_texts, strings->sh_size, &texts);
	for (size_t i = 0; !err && i < table->sh_size / sizeof(*symbols); i++) {
		unsigned int type = ELF64_ST_TYPE(symbols[i].st_info);

		if ((type == STT_FUNC || type == STT_GNU_IFUNC) && symbols[i].st_shndx != SHN_UNDEF &&
		    symbols[i].st_name < strings->sh_size)
			err = add_function(names, object, &symbols[i], texts + symbols[i].st_name);
	}
	return err;
}

/* The whole table of symbols, or the one for the loader in a file that is stripped */
static int read_tables(struct gprof_names *names, const struct gprof_object *object, const struct gprof_elf *elf)
{
	const ElfW(Ehdr) *head = part(elf, 0, sizeof(*head));
	const ElfW(Shdr) * sections, *best = NULL;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 || head->e_ident[EI_CLASS] != ELFCLASS64 ||
	    head->e_shentsize != sizeof(*sections) || head->e_shoff % _Alignof(ElfW(Shdr)))
		return 0;
	sections = part(elf, head->e_shoff, (uint64_t)head->e_shnum * sizeof(*sections));
	for (size_t i = 0; sections && i < head->e_shnum; i++)
		if (sections[i].sh_link < head->e_shnum &&
		    (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && !best)))
			best = &sections[i];
	return best ? read_table(names, object, elf, best, &sections[best->sh_link]) : 0;
}

static int read_object(struct gprof_names *names, const struct gprof_object *object)
{
	int fd = open(object->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK), err = 0;
	struct stat status;

	if (fd < 0)
		return 0;
	if (!fstat(fd, &status) && S_ISREG(status.st_mode) && status.st_size > 0) {
		struct gprof_elf elf = {.bytes = (size_t)status.st_size};
		void *at = mmap(NULL, elf.bytes, PROT_READ, MAP_PRIVATE, fd, 0);

		if (at != MAP_FAILED) {
			elf.at = at;
			err = read_tables(names, object, &elf);
			munmap(at, elf.bytes);
		}
	}
	close(fd);
	return err;
}

static int compare(const void *a, const void *b)
{
	const struct gprof_function *left = a, *right = b;

	if (left->begin != right->begin)
		return left->begin < right->begin ? -1 : 1;
	return left->end > right->end ? -1 : left->end < right->end; /* the longest first */
}

int gprof_names_read(struct gprof_names *names)
{
	int err = 0;

	for (size_t i = 0; !err && i < names->nr_objects; i++)
		err = read_object(names, &names->objects[i]);
	if (!err && names->nr)
		qsort(names->functions, names->nr, sizeof(*names->functions), compare);
	return err;
}

const struct gprof_function *gprof_function_at(const struct gprof_names *names, uintptr_t address)
{
	size_t low = 0, high = names->nr;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (names->functions[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	while (low > 1 && names->functions[low - 2].begin == names->functions[low - 1].begin)
		low--;
	return address < names->functions[low - 1].end ? &names->functions[low - 1] : NULL;
}

void gprof_names_free(struct gprof_names *names)
{
	for (size_t i = 0; i < names->nr_objects; i++)
		free(names->objects[i].path);
	for (size_t i = 0; i < names->nr_texts; i++)
		free(names->texts[i]);
	free(names->objects);
	free(names->functions);
	free(names->texts);
	*names = (struct gprof_names){0};
}
