/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_gcov_elf.c - files in which `tracectl gcov` looks for libgcov's lists */
#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "gcov_elf.h"
#include "unit.h"

enum { NR_SYMBOLS = 3, NR_SECTIONS = 4000 };

struct file {
	Elf64_Ehdr head;
	Elf64_Phdr segment;
	Elf64_Shdr sections[NR_SECTIONS];
	Elf64_Sym symbols[NR_SYMBOLS];
	char names[16];
};

/* The last symbol is the root, at 0x1234; the file's begin is mapped as 0x1000. */
static const struct file with_root = {
	.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64},
		 .e_phoff = offsetof(struct file, segment),
		 .e_shoff = offsetof(struct file, sections),
		 .e_phentsize = sizeof(Elf64_Phdr),
		 .e_phnum = 1,
		 .e_shentsize = sizeof(Elf64_Shdr),
		 .e_shnum = 3},
	.segment = {.p_type = PT_LOAD, .p_vaddr = 0x1000},
	.sections = {[1] = {.sh_type = SHT_SYMTAB,
			    .sh_offset = offsetof(struct file, symbols),
			    .sh_size = sizeof(with_root.symbols),
			    .sh_link = 2},
		     [2] = {.sh_offset = offsetof(struct file, names), .sh_size = sizeof(with_root.names)}},
	.symbols = {[NR_SYMBOLS - 1] = {.st_name = 1,
					.st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT),
					.st_shndx = 1,
					.st_value = 0x1234}},
	.names = "\0__gcov_root",
};

static struct file file;

static struct gcov_root root_of(size_t bytes, uint64_t max_symbols)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	struct gcov_root root = {.kind = 99};

	CU_ASSERT_EQUAL(write(fd, &file, bytes), (ssize_t)bytes);
	CU_ASSERT_EQUAL(gcov_elf_root(fd, 0, max_symbols, &root), 0);
	close(fd);
	return root;
}

static void the_root_is_found(void)
{
	struct gcov_root root;

	file = with_root;
	root = root_of(sizeof(file), 1000);

	CU_ASSERT_EQUAL(root.kind, GCOV_HAS_ROOT);
	CU_ASSERT_EQUAL(root.at, 0x234);
	CU_ASSERT_EQUAL(root.nr_symbols, 2 + NR_SYMBOLS);
	file.sections[1].sh_type = SHT_DYNSYM;
	CU_ASSERT_EQUAL(root_of(sizeof(file), 1000).kind, GCOV_STRIPPED);
}

static void damaged_files_have_none(void)
{
	file = with_root;
	for (size_t bytes = 0; bytes < sizeof(file); bytes += 997)
		CU_ASSERT_EQUAL(root_of(bytes, 1000).kind == GCOV_HAS_ROOT, 0);
	file.symbols[NR_SYMBOLS - 1].st_name = UINT32_MAX;
	CU_ASSERT_EQUAL(root_of(sizeof(file), 1000).kind, GCOV_OTHER);
}

/* Each header names the same table. */
static void a_table_that_is_named_often_is_not_read_for_ever(void)
{
	file = with_root;
	file.head.e_shnum = NR_SECTIONS;
	file.symbols[NR_SYMBOLS - 1].st_name = 2; /* of another symbol */
	for (int i = 3; i < NR_SECTIONS; i++)
		file.sections[i] = file.sections[1];
	CU_ASSERT_EQUAL(root_of(sizeof(file), 1000).nr_symbols, 1000);
	CU_ASSERT_EQUAL(root_of(sizeof(file), 100000).nr_symbols, NR_SECTIONS + (NR_SECTIONS - 2) * NR_SYMBOLS);
	CU_ASSERT_EQUAL(root_of(sizeof(file), 1000).kind, GCOV_UNREAD);
	CU_ASSERT_EQUAL(root_of(sizeof(file), 100000).kind, GCOV_OTHER);
}

/* A file of a process that is behind another one with many symbols. */
static void a_file_without_symbols_left_is_not_read(void)
{
	file = with_root;
	CU_ASSERT_EQUAL(root_of(sizeof(file), 0).kind, GCOV_UNREAD);
	CU_ASSERT_EQUAL(root_of(sizeof(file), 1).kind, GCOV_UNREAD);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_root_is_found),
		CASE(damaged_files_have_none),
		CASE(a_table_that_is_named_often_is_not_read_for_ever),
		CASE(a_file_without_symbols_left_is_not_read),
		{NULL, NULL},
	};

	return unit_main("gcov elf", cases, argc, argv);
}
