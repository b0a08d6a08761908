/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * unwind_table.c - writes the rows of all functions, and of known code between them, in the order
 * of their addresses.
 */
#include "unwind_table.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>
#include "unwind_cfi.h"
#include "unwind_elf.h"
#include "unwind_gaps.h"

#define WINDOW_BYTES 16384
_Static_assert(WINDOW_BYTES >= UNWIND_MAX_GAP + UNWIND_AHEAD, "a gap is in one window");

/**
 * struct writing - a table being written
 * @row: the row that holds at the end of what is written
 * @page: of that row. @group: the rows of that page so far
 * @function_begin, @function_end: offsets of the function, or of the gap, whose rows come
 * @window: the file from offset @window_begin on, @window_bytes of it
 */
struct writing {
	struct unwind_table *table;
	int fd;
	const struct unwind_segment *segment;
	struct unwind_row row;
	uint64_t page;
	struct unwind_row group[UNWIND_PAGE_BYTES];
	uint32_t nr_group;
	uint64_t function_begin, function_end;
	unsigned char window[WINDOW_BYTES];
	uint64_t window_begin, window_bytes;
	int failed;
};

/* ---- pages ---- */

static bool is_same_rule(struct unwind_row a, struct unwind_row b)
{
	return a.rule == b.rule && a.cfa == b.cfa && a.rbp == b.rbp && a.rbx == b.rbx;
}

/* Its rows are in one block. */
static void write_group(struct writing *writing)
{
	struct unwind_table *table = writing->table;
	uint32_t nr = writing->nr_group, left = UNWIND_BLOCK_WORDS - table->nr_words % UNWIND_BLOCK_WORDS;
	struct unwind_page entry;

	if (!nr || (nr == 1 && writing->group[0].rule == UNWIND_NONE))
		return;
	if (nr > left)
		table->nr_words += left;
	if (nr > table->room - table->nr_words) {
		writing->failed = -E2BIG;
		return;
	}
	memcpy(&table->words[table->nr_words], writing->group, nr * sizeof(writing->group[0]));
	entry = (struct unwind_page){.first = table->nr_words, .nr = nr};
	memcpy(&table->words[writing->page], &entry, sizeof(entry));
	table->nr_words += nr;
	for (uint32_t i = 0; i < nr; i++) {
		const struct unwind_row *row = &writing->group[i];

		table->nr_rows += i || row->offset != writing->page << UNWIND_PAGE_SHIFT;
		table->nr_unsupported += row->rule == UNWIND_UNSUPPORTED;
	}
}

static void begin_group(struct writing *writing, uint64_t page)
{
	writing->page = page;
	writing->group[0] = writing->row;
	writing->group[0].offset = (unsigned int)(page << UNWIND_PAGE_SHIFT);
	writing->nr_group = 1;
}

/* Pages up to @page, in which the last row holds. */
static void go_to_page(struct writing *writing, uint64_t page)
{
	while (writing->page < page && !writing->failed) {
		write_group(writing);
		if (writing->row.rule == UNWIND_NONE)
			begin_group(writing, page); /* the pages between have no entry */
		else
			begin_group(writing, writing->page + 1);
	}
}

/* From @row.offset on, which is not before the last row. */
static void put_row(struct writing *writing, struct unwind_row row)
{
	struct unwind_row *last;

	go_to_page(writing, row.offset >> UNWIND_PAGE_SHIFT);
	last = &writing->group[writing->nr_group - 1];
	writing->row = row;
	if (last->offset == row.offset) {
		*last = row;
		if (writing->nr_group > 1 && is_same_rule(last[-1], row))
			writing->nr_group--;
	} else if (!is_same_rule(*last, row)) {
		writing->group[writing->nr_group++] = row; /* offsets differ, so there is room */
	}
}

/* ---- functions ---- */

static void on_row(void *context, uint64_t address, struct unwind_row row)
{
	struct writing *writing = context;
	uint64_t offset = address - writing->segment->address + writing->segment->offset;

	/* the first bytes may be those of another function, too */
	if (offset < writing->function_begin)
		offset = writing->function_begin;
	if (offset >= writing->function_end || offset < writing->group[writing->nr_group - 1].offset)
		return;
	row.offset = (unsigned int)offset;
	put_row(writing, row);
}

static const struct unwind_segment *segment_of(const struct unwind_elf *elf, const struct unwind_function *function)
{
	for (uint32_t i = 0; i < elf->nr_code; i++) {
		const struct unwind_segment *segment = &elf->code[i];
		uint64_t at = function->address - segment->address;

		if (function->address >= segment->address && at < segment->bytes &&
		    function->bytes <= segment->bytes - at)
			return segment;
	}
	return NULL;
}

static void put_function(struct writing *writing, const struct unwind_elf *elf, const struct unwind_function *function)
{
	uint64_t begin, end;

	writing->segment = segment_of(elf, function);
	if (!writing->segment || !function->bytes)
		return; /* no code, or removed by the linker */
	begin = function->address - writing->segment->address + writing->segment->offset;
	end = begin + function->bytes;
	if (begin < writing->function_end) /* two functions have the same code */
		begin = writing->function_end;
	if (begin >= end)
		return;
	writing->function_begin = begin;
	writing->function_end = end;
	unwind_cfi_run(elf, function, on_row, writing);
	/* the next function replaces this row if it begins here */
	put_row(writing, (struct unwind_row){.offset = (unsigned int)end, .rule = UNWIND_NONE});
	writing->table->nr_functions++;
}

/* ---- gaps ---- */

/* The code from offset @begin on, and bytes ahead if the file has them; NULL: it cannot be read. */
static const unsigned char *read_window(struct writing *writing, uint64_t begin, uint64_t bytes)
{
	ssize_t got;

	if (begin >= writing->window_begin &&
	    begin + bytes + UNWIND_AHEAD <= writing->window_begin + writing->window_bytes)
		return writing->window + (begin - writing->window_begin);
	got = pread(writing->fd, writing->window, sizeof(writing->window), (off_t)begin);
	writing->window_begin = begin;
	writing->window_bytes = got < 0 ? 0 : (uint64_t)got;
	return writing->window_bytes >= bytes ? writing->window : NULL;
}

/* Known code from the end of the last function to offset @end. */
static void put_gap(struct writing *writing, const struct unwind_segment *segment, uint64_t end)
{
	uint64_t begin = writing->function_end > segment->offset ? writing->function_end : segment->offset, bytes,
		 ahead;
	const unsigned char *code;

	if (segment->bytes > UNWIND_MAX_GAPS_CODE || begin >= end)
		return;
	bytes = end - begin < UNWIND_MAX_GAP ? end - begin : UNWIND_MAX_GAP;
	code = read_window(writing, begin, bytes);
	if (!code)
		return;
	writing->segment = segment;
	writing->function_begin = begin;
	writing->function_end = begin + bytes;
	ahead = writing->window_begin + writing->window_bytes - begin - bytes;
	unwind_gap_run(code, bytes, ahead < UNWIND_AHEAD ? ahead : UNWIND_AHEAD,
		       begin - segment->offset + segment->address, on_row, writing);
	if (writing->row.rule != UNWIND_NONE)
		put_row(writing, (struct unwind_row){.offset = (unsigned int)(begin + bytes), .rule = UNWIND_NONE});
}

/* The gap between the last function and @function; NULL: and the end of the code. A file of data
 * has code without any function. */
static void put_gaps_before(struct writing *writing, const struct unwind_elf *elf,
			    const struct unwind_function *function)
{
	const struct unwind_segment *last = writing->segment, *next = function ? segment_of(elf, function) : NULL;

	if (!last && !function && elf->nr_code == 1)
		last = &elf->code[0];
	if (last && next != last && (next || !function))
		put_gap(writing, last, last->offset + last->bytes);
	if (next)
		put_gap(writing, next, function->address - next->address + next->offset);
}

/* The entries of pages come first. Offsets have 32 bits. */
static int reserve_pages(struct writing *writing, const struct unwind_elf *elf)
{
	uint64_t end = 0;
	uint32_t nr_pages;

	for (uint32_t i = 0; i < elf->nr_code; i++) {
		const struct unwind_segment *segment = &elf->code[i];
		uint64_t segment_end;

		if (__builtin_add_overflow(segment->offset, segment->bytes, &segment_end))
			return -EBADMSG;
		end = segment_end > end ? segment_end : end;
	}
	if (end > UINT32_MAX - UNWIND_PAGE_BYTES)
		return -E2BIG;
	/* a function that ends with the last page has a row behind it */
	nr_pages = (uint32_t)(end >> UNWIND_PAGE_SHIFT) + 1;
	if (nr_pages > writing->table->room)
		return -E2BIG;
	writing->table->nr_words = writing->table->nr_pages = nr_pages;
	begin_group(writing, 0);
	return 0;
}

static int write_table(int fd, const struct unwind_elf *elf, const struct unwind_functions *functions,
		       struct unwind_table *table)
{
	struct writing writing = {.table = table, .fd = fd};
	int result = reserve_pages(&writing, elf);

	for (uint32_t i = 0; i < functions->nr && !result; i++) {
		put_gaps_before(&writing, elf, &functions->list[i]);
		put_function(&writing, elf, &functions->list[i]);
		result = writing.failed;
	}
	if (!result)
		put_gaps_before(&writing, elf, NULL);
	if (!result)
		write_group(&writing);
	if (result || writing.failed)
		return result ? result : writing.failed;
	table->nr_words = (table->nr_words + UNWIND_BLOCK_WORDS - 1) / UNWIND_BLOCK_WORDS * UNWIND_BLOCK_WORDS;
	return 0;
}

int unwind_table_compile(int fd, struct unwind_table *table)
{
	struct unwind_functions functions = {0};
	struct unwind_elf elf;
	int result = unwind_elf_read(fd, &elf);

	if (result)
		return result;
	table->nr_pages = table->nr_words = table->nr_functions = table->nr_rows = table->nr_unsupported = 0;
	result = unwind_cfi_list(&elf, &functions);
	if (!result)
		result = write_table(fd, &elf, &functions, table);
	unwind_functions_free(&functions);
	unwind_elf_free(&elf);
	return result;
}

/* ---- look-up ---- */

struct unwind_row unwind_table_find(const struct unwind_table *table, uint64_t offset)
{
	struct unwind_row row = {.rule = UNWIND_NONE}, next;
	uint64_t page = offset >> UNWIND_PAGE_SHIFT;
	struct unwind_page entry;

	if (page >= table->nr_pages)
		return row;
	memcpy(&entry, &table->words[page], sizeof(entry));
	for (uint32_t i = 0; i < entry.nr && entry.first + i < table->nr_words; i++) {
		memcpy(&next, &table->words[entry.first + i], sizeof(next));
		if (next.offset > offset)
			break;
		row = next;
	}
	return row;
}
