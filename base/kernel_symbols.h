/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_KERNEL_SYMBOLS_H
#define BASE_KERNEL_SYMBOLS_H
/*
 * kernel_symbols.h - the functions of the kernel, from /proc/kallsyms or a System.map
 *
 * /proc/kallsyms is in no order, and has functions of modules and BPF programs, too. A function
 * ends where the next one begins.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>

#define KERNEL_SYMBOLS_RUNNING "/proc/kallsyms"
/* The name of an absolute symbol of a map that we write: all addresses are so much too high. */
#define KERNEL_SYMBOLS_SHIFT "tracevisualizer_shift"

/** struct kernel_symbol - a function. @name: the place of its text in kernel_symbols.text */
struct kernel_symbol {
	uint64_t address;
	uint32_t name;
};

/**
 * struct kernel_symbols - zeroed: none; sorted by address
 * @text: owned; "schedule", or "ext4_sync_file [ext4]" of a module
 * @begin, @end: _stext and _etext, between which the kernel's own code is; 0: not in the file
 */
struct kernel_symbols {
	struct kernel_symbol *symbols; /* owned */
	size_t nr, room;
	char *text;
	size_t bytes, text_room;
	uint64_t begin, end;
	uint64_t shift; /* of a map that we wrote */
};

/**
 * kernel_symbols_read() - read the functions of @path
 * Returns 0; -ENOMEM; -EPERM: the kernel hides the addresses from this user; -ENODATA: the file has
 * no functions; or why it cannot be read. @ret_error has a sentence with the way out.
 */
int kernel_symbols_read(struct kernel_symbols *list, const char *path, struct trace_error *ret_error);
void kernel_symbols_clear(struct kernel_symbols *list);

/** kernel_symbols_find() - the first of the functions that begin last at or before @address */
size_t kernel_symbols_find(const struct kernel_symbols *list, uint64_t address); /* list->nr: none */
/** kernel_symbols_end() - where function @idx ends; its begin: not known */
uint64_t kernel_symbols_end(const struct kernel_symbols *list, size_t idx);
/** kernel_symbols_has() - has the address of function @idx, its first, also this name? */
bool kernel_symbols_has(const struct kernel_symbols *list, size_t idx, const char *name);
/** kernel_symbols_named() - the function @name; NULL: there is none */
const struct kernel_symbol *kernel_symbols_named(const struct kernel_symbols *list, const char *name);
static inline const char *kernel_symbols_name(const struct kernel_symbols *list, size_t idx)
{
	return list->text + list->symbols[idx].name;
}
#endif
