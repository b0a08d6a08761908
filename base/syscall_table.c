/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* syscall_table.c - look-ups in the table of system calls. */
#include "syscall_table.h"
#include <stddef.h>
#include <string.h>

/* Both are sorted by name. */
static const struct syscall_row rows[] = {
#define SYSCALL(name, class, arguments) {#name, CALL_##class, arguments},
#include <trace/syscalls.def>
#undef SYSCALL
};
static const struct syscall_row rows_32[] = {
#define SYSCALL(name, class, arguments)
#define SYSCALL_32(name, class, arguments) {#name, CALL_##class, arguments},
#include <trace/syscalls.def>
#undef SYSCALL
};

static const struct {
	uint64_t number;
	const char *name;
} numbers[] = {
#define SYSCALL(name, class, arguments)
#define SYSCALL_NUMBER(number, name) {number, #name},
#include <trace/syscalls.def>
#undef SYSCALL
};

static const struct syscall_row *find(const struct syscall_row *list, size_t nr, const char *name)
{
	size_t low = 0, high = nr;

	while (low < high) {
		size_t middle = (low + high) / 2;
		int order = strcmp(list[middle].name, name);

		if (!order)
			return &list[middle];
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

const struct syscall_row *syscall_row_find(const char *name, bool is_32)
{
	const struct syscall_row *row = is_32 ? find(rows_32, sizeof(rows_32) / sizeof(rows_32[0]), name) : NULL;

	return row ? row : find(rows, sizeof(rows) / sizeof(rows[0]), name);
}

const char *syscall_name_of(uint64_t number)
{
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		if (numbers[i].number == number)
			return numbers[i].name;
	return NULL;
}
