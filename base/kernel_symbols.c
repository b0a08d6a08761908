/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernel_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "error_set.h"
#include "read_end.h"

#define READ_BYTES	   (1u << 15)
#define MAX_FUNCTION_BYTES (1u << 20) /* what is further away is behind the end of a section */
#define MAX_PROGRAM_BYTES  (1u << 16) /* behind a BPF program there may be others that have ended */

static int compare(const void *left, const void *right)
{
	const struct kernel_symbol *l = left, *r = right;

	return l->address != r->address ? (l->address < r->address ? -1 : 1)
					: (l->name > r->name) - (l->name < r->name);
}

/*
 * 1,300 faults of single pages take a seventh of the time of a list; one call maps them all. It may
 * fail: then the pages fault.
 */
static void map_pages(const void *memory, size_t bytes)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), begin = ((uintptr_t)memory + page - 1) & ~(page - 1);

	madvise((void *)begin, ((uintptr_t)memory + bytes - begin) & ~(page - 1), MADV_POPULATE_WRITE);
}

static bool make_room(void **array, size_t needed, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 65536;
	void *bigger;

	if (needed <= *room)
		return true;
	bigger = reallocarray(*array, more, size);
	if (!bigger)
		return false;
	map_pages(bigger, more * size);
	*array = bigger;
	*room = more;
	return true;
}

static bool add(struct kernel_symbols *list, uint64_t address, const char *name, size_t length)
{
	if (!make_room((void **)&list->symbols, list->nr + 1, &list->room, sizeof(*list->symbols)) ||
	    !make_room((void **)&list->text, list->bytes + length + 1, &list->text_room, 1))
		return false;
	memcpy(list->text + list->bytes, name, length);
	list->text[list->bytes + length] = '\0';
	list->symbols[list->nr++] = (struct kernel_symbol){.address = address, .name = (uint32_t)list->bytes};
	list->bytes += length + 1;
	return true;
}

/* strtoull() of a library takes a quarter of the time of a list. */
static uint64_t read_hexadecimal(char *text, char **ret_end)
{
	uint64_t number = 0;

	for (;; text++) {
		unsigned int digit = (unsigned char)*text;

		if (digit - '0' < 10)
			digit -= '0';
		else if ((digit | 32) - 'a' < 6)
			digit = (digit | 32) - 'a' + 10;
		else
			break;
		number = number << 4 | digit;
	}
	*ret_end = text;
	return number;
}

static bool is_function(char type)
{
	return type == 't' || type == 'T' || type == 'w' || type == 'W';
}

/* "ffffffff81000000 T name" or "ffffffffc0000000 t name\t[module]", up to the NUL at @end.
 * Addresses that are hidden from us are 0. Returns false without memory. */
static bool add_line(struct kernel_symbols *list, char *line, const char *end, bool *ret_hidden)
{
	char *name, *tab;
	uint64_t address = read_hexadecimal(line, &name);

	if (name[0] && name[1] == 'A' && !strncmp(name, " A " KERNEL_SYMBOLS_SHIFT, strlen(" A " KERNEL_SYMBOLS_SHIFT)))
		list->shift = address;
	if (*name != ' ' || !is_function(name[1]) || name[2] != ' ')
		return true;
	*ret_hidden |= !address;
	name += 3;
	tab = memchr(name, '\t', (size_t)(end - name));
	if (tab)
		*tab = ' ';
	if (address <= list->shift || !*name)
		return true;
	if (*name != '_' || (strcmp(name, "_stext") != 0 && strcmp(name, "_etext") != 0))
		address -= list->shift;
	else if (name[1] == 's')
		list->begin = address;
	else
		list->end = address;
	return add(list, address, name, (size_t)(end - name));
}

/* Adds the whole lines of @text, at @nr bytes of which there is room for a NUL. @ret_rest: the
 * begin of a line that is not whole. Returns false without memory. */
static bool add_lines(struct kernel_symbols *list, char *text, size_t nr, bool *ret_hidden, size_t *ret_rest)
{
	char *line = text, *end;
	bool has_room = true;

	while (has_room && (end = memchr(line, '\n', (size_t)(text + nr - line)))) {
		*end = '\0';
		has_room = add_line(list, line, end, ret_hidden);
		line = end + 1;
	}
	*ret_rest = (size_t)(line - text);
	return has_room;
}

/*
 * The kernel prints a page of its list for each read, as long as there is room for it: the buffer
 * of a stream is a quarter of that. Returns 0, -ENOMEM or why @file cannot be read.
 */
static int add_file(struct kernel_symbols *list, FILE *file, bool *ret_hidden)
{
	char text[READ_BYTES + 1];
	size_t kept = 0, nr, rest;
	int error;

	while ((nr = fread(text + kept, 1, READ_BYTES - kept, file))) {
		nr += kept;
		if (!add_lines(list, text, nr, ret_hidden, &rest))
			return -ENOMEM;
		kept = nr - rest < READ_BYTES ? nr - rest : 0; /* what is longer is no line */
		memmove(text, text + rest, kept);
	}
	error = read_error(file);
	text[kept] = '\0'; /* the last line may have no end */
	return error || !kept || add_line(list, text, text + kept, ret_hidden) ? error : -ENOMEM;
}

/* The kernel's own functions are sorted already, and the others are mostly behind them. */
static void sort(struct kernel_symbols *list)
{
	size_t sorted = 1;
	uint64_t lowest = UINT64_MAX;

	while (sorted < list->nr && list->symbols[sorted - 1].address <= list->symbols[sorted].address)
		sorted++;
	for (size_t i = sorted; i < list->nr; i++)
		if (list->symbols[i].address < lowest)
			lowest = list->symbols[i].address;
	while (sorted && list->symbols[sorted - 1].address >= lowest)
		sorted--;
	if (list->nr > sorted)
		qsort(list->symbols + sorted, list->nr - sorted, sizeof(*list->symbols), compare);
}

int kernel_symbols_read(struct kernel_symbols *list, const char *path, struct trace_error *ret_error)
{
	FILE *file = fopen(path, "re");
	bool is_hidden = false;
	int error;

	if (!file)
		return error_set(ret_error, -errno, "%s: %s", path, strerror(errno));
	error = add_file(list, file, &is_hidden);
	fclose(file);
	if (error == -ENOMEM)
		return error_set(ret_error, error, "%s: no memory for its names", path);
	if (error)
		return error_set(ret_error, error, "%s: %s", path, strerror(-error));
	if (!list->nr && is_hidden)
		return error_set(ret_error, -EPERM,
				 "%s: the kernel hides its addresses from this user (kernel.kptr_restrict): do it as "
				 "root",
				 path);
	if (!list->nr)
		return error_set(ret_error, -ENODATA, "%s: it has no functions, as System.map or /proc/kallsyms have",
				 path);
	sort(list);
	return 0;
}

void kernel_symbols_clear(struct kernel_symbols *list)
{
	free(list->symbols);
	free(list->text);
	*list = (struct kernel_symbols){0};
}

size_t kernel_symbols_find(const struct kernel_symbols *list, uint64_t address)
{
	size_t from = 0, to = list->nr;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (list->symbols[middle].address <= address)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from)
		return list->nr;
	for (from--; from && list->symbols[from - 1].address == list->symbols[from].address; from--)
		;
	return from;
}

uint64_t kernel_symbols_end(const struct kernel_symbols *list, size_t idx)
{
	uint64_t begin = list->symbols[idx].address;
	bool is_program = strstr(kernel_symbols_name(list, idx), " [bpf]");
	uint64_t max = is_program ? MAX_PROGRAM_BYTES : MAX_FUNCTION_BYTES;

	for (size_t next = idx + 1; next < list->nr; next++)
		if (list->symbols[next].address > begin)
			return list->symbols[next].address - begin < max ? list->symbols[next].address
			       : is_program				 ? begin + max
									 : begin;
	return begin;
}

bool kernel_symbols_has(const struct kernel_symbols *list, size_t idx, const char *name)
{
	for (size_t i = idx; i < list->nr && list->symbols[i].address == list->symbols[idx].address; i++)
		if (!strcmp(kernel_symbols_name(list, i), name))
			return true;
	return false;
}

const struct kernel_symbol *kernel_symbols_named(const struct kernel_symbols *list, const char *name)
{
	for (size_t i = 0; i < list->nr; i++)
		if (!strcmp(kernel_symbols_name(list, i), name))
			return &list->symbols[i];
	return NULL;
}
