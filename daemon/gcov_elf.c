/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gcov_elf.c - find the symbol __gcov_root in an ELF file, in a child without rights (jail.h).
 */
#include "gcov_elf.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "jail.h"
#include "jail_child.h"

#define ROOT_NAME    "__gcov_root"
#define MAX_SECTIONS 4096
#define MAX_SEGMENTS 64
#define SYMBOL_BLOCK 4096
#define CPU_SECONDS  20
#define MAX_SECONDS  10 /* including waits for the disk */

/** struct gcov_elf - an open ELF file of 64 bits */
struct gcov_elf {
	int fd;
	Elf64_Ehdr head;
	Elf64_Phdr segments[MAX_SEGMENTS];
	size_t nr_segments;
	uint64_t nr_left; /* symbols that may still be read */
	bool is_cut;	  /* there were more */
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

/*
 * SECURITY: a process may map many files, in turns, and a file may name one table many times.
 */
static bool take_symbols(struct gcov_elf *elf, uint64_t nr)
{
	elf->is_cut |= nr > elf->nr_left;
	if (nr > elf->nr_left)
		return false;
	elf->nr_left -= nr;
	return true;
}

static bool search_table(struct gcov_elf *elf, const Elf64_Shdr *table, const Elf64_Shdr *names, uint64_t *ret_address)
{
	uint64_t nr = table->sh_size / sizeof(Elf64_Sym);
	Elf64_Sym symbols[SYMBOL_BLOCK / sizeof(Elf64_Sym)];
	size_t block = sizeof(symbols) / sizeof(symbols[0]);

	if (table->sh_offset > INT64_MAX - table->sh_size || !take_symbols(elf, nr))
		return false;
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
static bool find_root(struct gcov_elf *elf, uint64_t *ret_address, bool *ret_has_table)
{
	*ret_has_table = false;
	for (uint16_t i = 0; i < elf->head.e_shnum; i++) {
		uint64_t at = elf->head.e_shoff + i * sizeof(Elf64_Shdr);
		Elf64_Shdr table, names;

		if (!take_symbols(elf, 1) || !read_at(elf->fd, &table, sizeof(table), at) ||
		    table.sh_type != SHT_SYMTAB || table.sh_link >= elf->head.e_shnum ||
		    !read_at(elf->fd, &names, sizeof(names), elf->head.e_shoff + table.sh_link * sizeof(Elf64_Shdr)))
			continue;
		*ret_has_table = true;
		if (search_table(elf, &table, &names, ret_address))
			return true;
	}
	return false;
}

/* The address in the file at which its part at @offset is mapped */
static bool find_base(const struct gcov_elf *elf, uint64_t offset, uint64_t *ret_base)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE) - 1;

	for (size_t i = 0; i < elf->nr_segments; i++) {
		const Elf64_Phdr *segment = &elf->segments[i];

		if (segment->p_type == PT_LOAD && (segment->p_offset & ~page) == offset) {
			*ret_base = segment->p_vaddr & ~page;
			return true;
		}
	}
	return false;
}

/* ---- the child ---- */

/** struct gcov_task - what the child looks for; it has a copy */
struct gcov_task {
	uint64_t offset;
	uint64_t nr_left;
};

/** struct gcov_answer - @err: negative errno of jail_enter() */
struct gcov_answer {
	int err;
	struct gcov_root root;
};

static struct gcov_root look_for_root(const struct gcov_task *task)
{
	struct gcov_elf elf = {.nr_left = task->nr_left};
	struct gcov_root root = {.kind = GCOV_OTHER};
	uint64_t address, base;
	bool has_table;

	if (!elf_open(&elf, JAIL_FILES))
		return root;
	if (!find_root(&elf, &address, &has_table))
		root.kind = elf.is_cut ? GCOV_UNREAD : has_table ? GCOV_OTHER : GCOV_STRIPPED;
	else if (find_base(&elf, task->offset, &base))
		root = (struct gcov_root){.kind = GCOV_HAS_ROOT, .at = address - base};
	root.nr_symbols = task->nr_left - elf.nr_left;
	return root;
}

static void __attribute__((noreturn)) run_child(void *context)
{
	struct jail jail = {.cpu_seconds = CPU_SECONDS, .dies_with_thread = true};
	struct gcov_answer answer = {.err = jail_enter(&jail)};

	if (!answer.err)
		answer.root = look_for_root(context);
	_exit(!jail_send(JAIL_SOCKET, &answer, sizeof(answer), -1, 0));
}

/* ---- the caller ---- */

int gcov_elf_root(int fd, uint64_t offset, uint64_t max_symbols, struct gcov_root *ret_root)
{
	struct gcov_task task = {offset, max_symbols};
	struct jail_role role = {
		.run = run_child, .context = &task, .files = &fd, .nr_files = 1, .cpu_seconds = CPU_SECONDS};
	struct gcov_answer answer;
	struct jail_child child;
	char reason[128];
	int err = jail_child_start(&role, &child);
	ssize_t got;

	if (err)
		return err;
	got = jail_answer(&child, &answer, sizeof(answer), NULL, MAX_SECONDS * 1000000000ull, -1);
	jail_child_end(&child, false, reason, sizeof(reason));
	*ret_root = (struct gcov_root){.kind = GCOV_UNREAD};
	if (got == -ETIMEDOUT)
		return -ETIMEDOUT;
	if (got != sizeof(answer))
		return 0; /* the file stopped it */
	if (answer.err)
		return answer.err;
	if (answer.root.kind <= GCOV_UNREAD && answer.root.nr_symbols <= max_symbols)
		*ret_root = answer.root;
	return 0;
}
