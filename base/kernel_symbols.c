/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "kernel_symbols.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error_set.h"
#include "read_end.h"

#define NAME_BYTES	   256
#define MAX_FUNCTION_BYTES (1u << 20) /* what is further away is behind the end of a section */
#define MAX_PROGRAM_BYTES  (1u << 16) /* behind a BPF program there may be others that have ended */

static int compare(const void *left, const void *right)
{
	const struct kernel_symbol *l = left, *r = right;

	return l->address != r->address ? (l->address < r->address ? -1 : 1)
					: (l->name > r->name) - (l->name < r->name);
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
	*array = bigger;
	*room = more;
	return true;
}

static bool add(struct kernel_symbols *list, uint64_t address, const char *name)
{
	size_t bytes = strlen(name) + 1;

	if (!make_room((void **)&list->symbols, list->nr + 1, &list->room, sizeof(*list->symbols)) ||
	    !make_room((void **)&list->text, list->bytes + bytes, &list->text_room, 1))
		return false;
	memcpy(list->text + list->bytes, name, bytes);
	list->symbols[list->nr++] = (struct kernel_symbol){.address = address, .name = (uint32_t)list->bytes};
	list->bytes += bytes;
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

/* "ffffffff81000000 T name" or "ffffffffc0000000 t name\t[module]". Addresses that are hidden from
 * us are 0. Returns false without memory. */
static bool add_line(struct kernel_symbols *list, char *line, bool *ret_hidden)
{
	char *name;
	uint64_t address = read_hexadecimal(line, &name);

	if (name[1] == 'A' && !strncmp(name, " A " KERNEL_SYMBOLS_SHIFT, strlen(" A " KERNEL_SYMBOLS_SHIFT)))
		list->shift = address;
	if (*name != ' ' || !name[1] || !strchr("tTwW", name[1]) || name[2] != ' ')
		return true;
	*ret_hidden |= !address;
	name += 3;
	name[strcspn(name, "\n")] = '\0';
	if (strchr(name, '\t'))
		*strchr(name, '\t') = ' ';
	if (address <= list->shift || !*name)
		return true;
	if (strcmp(name, "_stext") != 0 && strcmp(name, "_etext") != 0)
		address -= list->shift;
	if (!strcmp(name, "_stext"))
		list->begin = address;
	if (!strcmp(name, "_etext"))
		list->end = address;
	return add(list, address, name);
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
	char line[NAME_BYTES + 64];
	bool is_hidden = false, has_room = true;
	int error;

	if (!file)
		return error_set(ret_error, -errno, "%s: %s", path, strerror(errno));
	while (has_room && fgets(line, sizeof(line), file))
		has_room = add_line(list, line, &is_hidden);
	error = read_end(file);
	if (!has_room)
		return error_set(ret_error, -ENOMEM, "%s: no memory for its names", path);
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
