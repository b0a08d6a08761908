/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_unwind_tables.c - each row of the tables of installed libraries, compared with the CFI
 * reader of libdw
 */
#include <dirent.h>
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jail_case.h"
#include "unit.h"
#include "unwind_elf.h"
#include "unwind_reader.h"
#include "unwind_table.h"

#define LIBRARIES "/usr/lib/x86_64-linux-gnu"

/* ---- libdw ---- */

static bool is_saved(Dwarf_Op *ops, size_t nr, long long *ret_offset)
{
	if (nr < 1 || nr > 2 || ops[0].atom != DW_OP_call_frame_cfa)
		return false;
	*ret_offset = nr == 2 && ops[1].atom == DW_OP_plus_uconst ? (long long)ops[1].number : 0;
	return nr == 1 || ops[1].atom == DW_OP_plus_uconst;
}

/* The row for what libdw says; of rule UNWIND_UNSUPPORTED if there is none. */
static struct unwind_row oracle_rbp(Dwarf_Frame *frame, struct unwind_row row)
{
	static const struct unwind_row none = {.rule = UNWIND_UNSUPPORTED};
	Dwarf_Op memory[3], *ops;
	long long offset;
	size_t nr;

	if (dwarf_frame_register(frame, 6, memory, &ops, &nr))
		return none;
	if (nr == 0)
		return row; /* same value, or not known */
	if (is_saved(ops, nr, &offset) && row.rule != UNWIND_RBP_POINTER && offset < 0 && offset % 8 == 0 &&
	    offset >= -1024) {
		row.rbp = (signed char)(offset / 8);
		return row;
	}
	/* libdw puts the CFA, which an expression finds on the stack, first */
	if (nr == 2 && ops[0].atom == DW_OP_call_frame_cfa)
		ops++;
	if (row.rule == UNWIND_RBP_POINTER && ops[0].atom == DW_OP_breg6 && ops[0].number == 0) {
		row.rbp = -1;
		return row;
	}
	return none;
}

static struct unwind_row oracle_rbx(Dwarf_Frame *frame, struct unwind_row row)
{
	Dwarf_Op memory[3], *ops;
	long long offset;
	size_t nr;

	row.rbx = UNWIND_RBX_LOST;
	if (dwarf_frame_register(frame, 3, memory, &ops, &nr))
		return row;
	if (nr == 0)
		row.rbx = UNWIND_RBX_SAME;
	else if (is_saved(ops, nr, &offset) && row.rule != UNWIND_RBP_POINTER && offset <= -16 &&
		 offset >= -8 - 8 * UNWIND_RBX_MAX && offset % 8 == 0)
		row.rbx = (unsigned char)(-offset / 8 - 1) & 15;
	return row;
}

static struct unwind_row oracle_cfa(const Dwarf_Op *ops, size_t nr)
{
	struct unwind_row row = {.rule = UNWIND_UNSUPPORTED};
	long long offset = (long long)ops[0].number;

	if (nr == 1 && (ops[0].atom == DW_OP_breg7 || ops[0].atom == DW_OP_breg6) && offset >= 0 && offset % 8 == 0 &&
	    offset / 8 <= 65535)
		return (struct unwind_row){.rule = ops[0].atom == DW_OP_breg7 ? UNWIND_RSP : UNWIND_RBP,
					   .cfa = (unsigned short)(offset / 8)};
	if (nr == 1 && ops[0].atom == DW_OP_bregx && ops[0].number2 % 8 == 0 &&
	    (ops[0].number == 6 || ops[0].number == 7))
		return (struct unwind_row){.rule = ops[0].number == 7 ? UNWIND_RSP : UNWIND_RBP,
					   .cfa = (unsigned short)(ops[0].number2 / 8)};
	if (nr == 1 && ops[0].atom == DW_OP_breg3 && offset >= 0 && offset % 8 == 0)
		return (struct unwind_row){.rule = UNWIND_RBX, .cfa = (unsigned short)(offset / 8)};
	if (nr == 1 && ops[0].atom == DW_OP_breg2 && offset >= 0 && offset % 8 == 0)
		return (struct unwind_row){.rule = UNWIND_RCX, .cfa = (unsigned short)(offset / 8)};
	if (nr == 1 && ops[0].atom == DW_OP_bregx && ops[0].number == 2 && ops[0].number2 % 8 == 0)
		return (struct unwind_row){.rule = UNWIND_RCX, .cfa = (unsigned short)(ops[0].number2 / 8)};
	if (nr == 1 && ops[0].atom == DW_OP_bregx && ops[0].number == 3 && ops[0].number2 % 8 == 0)
		return (struct unwind_row){.rule = UNWIND_RBX, .cfa = (unsigned short)(ops[0].number2 / 8)};
	if (nr == 2 && ops[1].atom == DW_OP_deref && ops[0].atom == DW_OP_breg6 && offset <= 0 && offset % 8 == 0)
		return (struct unwind_row){.rule = UNWIND_RBP_POINTER, .cfa = (unsigned short)(-offset / 8)};
	if (nr == 2 && ops[1].atom == DW_OP_deref && ops[0].atom == DW_OP_breg7 && offset == UNWIND_SIGNAL_RSP)
		return (struct unwind_row){.rule = UNWIND_SIGNAL};
	if (nr == 3 && ops[1].atom == DW_OP_deref && ops[0].atom == DW_OP_breg7 && ops[2].atom == DW_OP_plus_uconst &&
	    ops[2].number == 8 && offset >= 0 && offset % 8 == 0)
		return (struct unwind_row){.rule = UNWIND_RSP_POINTER, .cfa = (unsigned short)(offset / 8)};
	if (nr == 9 && ops[0].atom == DW_OP_breg7 && offset == 8 && ops[1].atom == DW_OP_breg16 &&
	    ops[4].atom >= DW_OP_lit0 && ops[8].atom == DW_OP_plus)
		return (struct unwind_row){.rule = UNWIND_PLT, .cfa = (unsigned short)(ops[4].atom - DW_OP_lit0)};
	return row;
}

/* The return address is in a register. */
static struct unwind_row oracle_call(Dwarf_Frame *frame, enum unwind_rule rule)
{
	struct unwind_row row = {.rule = UNWIND_UNSUPPORTED};
	Dwarf_Op *ops;
	size_t nr;

	if (!dwarf_frame_cfa(frame, &ops, &nr) && nr)
		row = oracle_cfa(ops, nr);
	if (row.rule != UNWIND_RSP)
		return (struct unwind_row){.rule = UNWIND_UNSUPPORTED};
	row.rule = (unsigned char)rule & 15;
	return oracle_rbx(frame, row);
}

static bool is_in_register(const Dwarf_Op *ops, size_t nr, unsigned int number)
{
	return nr == 1 &&
	       (ops[0].atom == DW_OP_reg0 + number || (ops[0].atom == DW_OP_regx && ops[0].number == number));
}

static struct unwind_row oracle(Dwarf_Frame *frame)
{
	static const struct unwind_row none = {.rule = UNWIND_UNSUPPORTED};
	Dwarf_Op memory[3], *ops;
	struct unwind_row row;
	long long offset;
	size_t nr;

	if (dwarf_frame_register(frame, 16, memory, &ops, &nr))
		return none;
	if (nr == 0 && ops == memory)
		return (struct unwind_row){.rule = UNWIND_END};
	if (is_in_register(ops, nr, 5))
		return oracle_call(frame, UNWIND_RDI);
	if (is_in_register(ops, nr, 2))
		return oracle_call(frame, UNWIND_TO_RCX);
	if (!is_saved(ops, nr, &offset) || offset != -8) {
		/* the address is in the same struct as the others */
		if (dwarf_frame_cfa(frame, &ops, &nr) == 0 && nr == 2 && oracle_cfa(ops, nr).rule == UNWIND_SIGNAL)
			return oracle_cfa(ops, nr);
		return none;
	}
	if (dwarf_frame_cfa(frame, &ops, &nr) || nr == 0)
		return none;
	row = oracle_cfa(ops, nr);
	if (row.rule == UNWIND_UNSUPPORTED || row.rule == UNWIND_SIGNAL)
		return row;
	row = oracle_rbp(frame, row);
	return row.rule == UNWIND_UNSUPPORTED ? row : oracle_rbx(frame, row);
}

/* ---- the comparison ---- */

/** struct comparison - @known: code without a description whose rows test_unwind_steps.c checks */
struct comparison {
	const char *path;
	const struct unwind_table *table;
	unsigned long long rows, differences, unsupported, known;
};

static void compare(struct comparison *c, uint64_t offset, struct unwind_row expected)
{
	struct unwind_row row = unwind_table_find(c->table, offset);

	c->rows++;
	c->unsupported += expected.rule == UNWIND_UNSUPPORTED;
	if (row.rule == expected.rule && row.cfa == expected.cfa && row.rbp == expected.rbp && row.rbx == expected.rbx)
		return;
	if (expected.rule == UNWIND_NONE &&
	    ((row.rule == UNWIND_RSP && row.cfa <= 2) || row.rule == UNWIND_CLONE || row.rule == UNWIND_END)) {
		c->known++;
		return;
	}
	if (c->differences++ < 5)
		fprintf(stderr, "%s: offset %#llx: rule %u cfa %u rbp %d rbx %u, libdw: rule %u cfa %u rbp %d rbx %u\n",
			c->path, (unsigned long long)offset, row.rule, row.cfa, row.rbp, row.rbx, expected.rule,
			expected.cfa, expected.rbp, expected.rbx);
}

static void compare_segment(struct comparison *c, Dwarf_CFI *cfi, const GElf_Phdr *segment)
{
	uint64_t end = segment->p_vaddr + segment->p_filesz;

	for (uint64_t at = segment->p_vaddr; at < end;) {
		Dwarf_Addr first = at, last = at + 1;
		struct unwind_row expected = {.rule = UNWIND_NONE};
		Dwarf_Frame *frame = NULL;

		if (dwarf_cfi_addrframe(cfi, at, &frame) == 0) {
			bool is_signal;

			dwarf_frame_info(frame, &first, &last, &is_signal);
			expected = oracle(frame);
			free(frame);
		}
		if (last <= at || last > end)
			last = at + 1;
		compare(c, at - segment->p_vaddr + segment->p_offset, expected);
		compare(c, last - 1 - segment->p_vaddr + segment->p_offset, expected);
		at = last;
	}
}

static int is_library(const struct dirent *entry)
{
	char path[1024];
	struct stat status;

	snprintf(path, sizeof(path), LIBRARIES "/%s", entry->d_name);
	return strstr(entry->d_name, ".so") && lstat(path, &status) == 0 && S_ISREG(status.st_mode);
}

/* A file may hold data only. */
static bool has_frames(const char *path)
{
	struct unwind_elf elf;
	int fd = open(path, O_RDONLY | O_CLOEXEC), result = unwind_elf_read(fd, &elf);
	bool has_code = !result && elf.nr_code;

	close(fd);
	if (!result)
		unwind_elf_free(&elf);
	return has_code;
}

static void compare_file(const char *path)
{
	size_t bytes = (size_t)UNWIND_MAX_WORDS * 8, nr = 0;
	struct unwind_table table = {.room = UNWIND_MAX_WORDS};
	struct comparison c = {.path = path, .table = &table};
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Elf *elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	Dwarf_CFI *cfi = elf ? dwarf_getcfi_elf(elf) : NULL;
	GElf_Phdr segment;

	table.words = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	CU_ASSERT_PTR_NOT_NULL_FATAL(cfi);
	CU_ASSERT_EQUAL_FATAL(unwind_table_compile(fd, &table), 0);
	elf_getphdrnum(elf, &nr);
	for (size_t i = 0; i < nr; i++)
		if (gelf_getphdr(elf, (int)i, &segment) && segment.p_type == PT_LOAD && (segment.p_flags & PF_X))
			compare_segment(&c, cfi, &segment);
	CU_ASSERT(c.rows > 0);
	CU_ASSERT_EQUAL(c.differences, 0);
	CU_ASSERT(c.known <= 2 * 256); /* the begin and the end of a file, and clone() */
	printf("%s: %u functions, %u rows, %u without a rule, %llu comparisons, %llu differences, %llu of known code\n",
	       path, table.nr_functions, table.nr_rows, table.nr_unsupported, c.rows, c.differences, c.known);
	dwarf_cfi_end(cfi);
	elf_end(elf);
	close(fd);
	munmap(table.words, bytes);
}

/* ---- the tests ---- */

static void each_row_of_libc_and_bash_is_that_of_libdw(void)
{
	compare_file("/usr/lib/x86_64-linux-gnu/libc.so.6");
	compare_file("/usr/lib/x86_64-linux-gnu/libgcc_s.so.1");
	compare_file("/bin/bash");
	compare_file("/proc/self/exe");
}

/* Libraries of the folder, from all over the alphabet. */
static void each_row_of_installed_libraries_is_that_of_libdw(void)
{
	int wanted = getenv("TRACE_TEST_LONG") ? 50 : 3, nr = 0, done = 0;
	struct dirent **entries;
	int all = scandir(LIBRARIES, &entries, is_library, alphasort);

	CU_ASSERT_FATAL(all > 0);
	for (int i = 0; i < all; i++) {
		char path[1024];

		snprintf(path, sizeof(path), LIBRARIES "/%s", entries[i]->d_name);
		if (done * all <= i * wanted && has_frames(path)) {
			compare_file(path);
			done++;
		}
		nr++;
		free(entries[i]);
	}
	free(entries);
	CU_ASSERT(done == wanted || done == nr);
}

/* ---- untrusted files ---- */

#define SMALL_LIBRARY LIBRARIES "/libdl.so.2"

static struct unwind_table new_table(uint32_t room)
{
	struct unwind_table table = {.room = room, .words = calloc(room, sizeof(uint64_t))};

	CU_ASSERT_PTR_NOT_NULL_FATAL(table.words);
	return table;
}

/* A copy in memory, which a test can damage. */
static int copy_of(const char *path, size_t *ret_bytes)
{
	int from = open(path, O_RDONLY | O_CLOEXEC), to = memfd_create("copy", MFD_CLOEXEC);
	char bytes[65536];
	ssize_t got;

	*ret_bytes = 0;
	while ((got = read(from, bytes, sizeof(bytes))) > 0) {
		CU_ASSERT_EQUAL(write(to, bytes, (size_t)got), got);
		*ret_bytes += (size_t)got;
	}
	close(from);
	return to;
}

static void check_damaged(int fd)
{
	struct unwind_table table = new_table(4 * UNWIND_BLOCK_WORDS);
	int result = unwind_table_compile(fd, &table);
	struct unwind_needed needed;

	unwind_needed_read(fd, &needed);
	CU_ASSERT(needed.nr <= UNWIND_MAX_NEEDED && memchr(needed.interpreter, 0, sizeof(needed.interpreter)) &&
		  memchr(needed.folders, 0, sizeof(needed.folders)));
	for (uint32_t i = 0; i < needed.nr; i++)
		CU_ASSERT(needed.names[i][0] && memchr(needed.names[i], 0, UNWIND_NAME_BYTES));
	CU_ASSERT(result <= 0 && result > -4096);
	CU_ASSERT(table.nr_words <= table.room && table.nr_pages <= table.room);
	for (uint64_t offset = 0; offset < 65536; offset += 4093)
		unwind_table_find(&table, offset);
	free(table.words);
}

/* Each byte of the file with all bits changed: headers, names, and the descriptions themselves */
static void a_damaged_file_gives_an_error_or_a_table_within_its_bounds(void)
{
	size_t bytes, step = (size_t)unit_step(7);
	int fd = copy_of(SMALL_LIBRARY, &bytes);

	CU_ASSERT_FATAL(bytes > 1000);
	for (size_t at = 0; at < bytes; at += step) {
		unsigned char byte, damaged;

		CU_ASSERT_EQUAL_FATAL(pread(fd, &byte, 1, (off_t)at), 1);
		damaged = (unsigned char)~byte;
		CU_ASSERT_EQUAL(pwrite(fd, &damaged, 1, (off_t)at), 1);
		check_damaged(fd);
		CU_ASSERT_EQUAL(pwrite(fd, &byte, 1, (off_t)at), 1);
	}
	for (size_t cut = 0; cut < bytes; cut += 16 * step) {
		CU_ASSERT_EQUAL(ftruncate(fd, (off_t)(bytes - cut)), 0);
		check_damaged(fd);
	}
	close(fd);
}

static void a_process_without_rights_makes_the_same_table(void)
{
	struct unwind_table direct = new_table(UNWIND_MAX_WORDS), read = {0};
	struct unwind_reader reader = {0};
	int fd = open("/bin/bash", O_RDONLY | O_CLOEXEC), none = open("/dev/null", O_RDONLY | O_CLOEXEC);

	CU_ASSERT_EQUAL_FATAL(unwind_reader_open(&reader), 0);
	CU_ASSERT_EQUAL(unwind_table_compile(fd, &direct), 0);
	for (int i = 0; i < 3; i++) {
		CU_ASSERT_EQUAL(unwind_reader_compile(&reader, none, &read), -EBADMSG);
		CU_ASSERT_EQUAL_FATAL(unwind_reader_compile(&reader, fd, &read), 0);
		CU_ASSERT_EQUAL_FATAL(read.nr_words, direct.nr_words);
		CU_ASSERT_EQUAL(memcmp(read.words, direct.words, direct.nr_words * sizeof(uint64_t)), 0);
	}
	expect_no_rights(reader.child.pid, true);
	unwind_reader_close(&reader);
	close(fd);
	close(none);
	free(direct.words);
}

/* readelf -d knows the same names. */
static void a_process_without_rights_finds_what_a_program_needs(void)
{
	struct unwind_reader reader = {0};
	struct unwind_needed needed = {0};
	int fd = open("/bin/bash", O_RDONLY | O_CLOEXEC), none = open("/dev/null", O_RDONLY | O_CLOEXEC);
	FILE *truth = popen("readelf -d /bin/bash | sed -n 's/.*(NEEDED).*\\[\\(.*\\)\\]/\\1/p'", "r");
	char name[256];
	uint32_t nr = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(truth);
	CU_ASSERT_EQUAL_FATAL(unwind_reader_open(&reader), 0);
	CU_ASSERT_EQUAL(unwind_reader_needed(&reader, fd, &needed), 0);
	CU_ASSERT_STRING_EQUAL(needed.interpreter, "/lib64/ld-linux-x86-64.so.2");
	for (; nr < needed.nr && fgets(name, sizeof(name), truth); nr++) {
		name[strcspn(name, "\n")] = 0;
		CU_ASSERT_STRING_EQUAL(needed.names[nr], name);
	}
	CU_ASSERT(nr == needed.nr && nr > 0 && !fgets(name, sizeof(name), truth));
	CU_ASSERT_EQUAL(unwind_reader_needed(&reader, none, &needed), 0);
	CU_ASSERT_EQUAL(needed.nr, 0);
	pclose(truth);
	unwind_reader_close(&reader);
	close(fd);
	close(none);
}

static void a_reader_that_was_killed_is_replaced(void)
{
	struct unwind_reader reader = {0};
	struct unwind_table table = {0};
	int fd = open(SMALL_LIBRARY, O_RDONLY | O_CLOEXEC);

	CU_ASSERT_EQUAL_FATAL(unwind_reader_open(&reader), 0);
	CU_ASSERT_EQUAL(unwind_reader_compile(&reader, fd, &table), 0);
	CU_ASSERT_EQUAL(kill(reader.child.pid, SIGKILL), 0);
	CU_ASSERT_EQUAL(unwind_reader_compile(&reader, fd, &table), -EBADMSG);
	CU_ASSERT_EQUAL(unwind_reader_compile(&reader, fd, &table), 0);
	unwind_reader_close(&reader);
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_damaged_file_gives_an_error_or_a_table_within_its_bounds),
		CASE(a_process_without_rights_makes_the_same_table),
		CASE(a_process_without_rights_finds_what_a_program_needs),
		CASE(a_reader_that_was_killed_is_replaced),
		CASE(each_row_of_libc_and_bash_is_that_of_libdw),
		CASE(each_row_of_installed_libraries_is_that_of_libdw),
		{NULL, NULL},
	};

	elf_version(EV_CURRENT);
	return unit_main("unwind_tables", cases, argc, argv);
}
