/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_SYMBOLS_H
#define TRACE_SYMBOLS_H
/*
 * symbols.h - names for addresses in the events of a trace: the function and file
 * of an address in a process
 *
 *	struct trace_symbols *symbols = trace_symbols_new(trace, &error);
 *	struct trace_symbol symbol;
 *
 *	if (trace_symbols_find(symbols, tid, event->ts_ns, address, &symbol))
 *		printf("%s+0x%llx %s", symbol.function, symbol.offset, symbol.source);
 *
 * The trace says where files were mapped: in the start state, and in the program:map events of
 * programs that ran with a preload library. Names come from the very file that was mapped, which
 * the trace knows by its build id, or from its debug file; trace_symbol.why says why there are
 * none. A trace of an older recorder has no build ids: then a file with another inode gives no
 * names. One thread at a time.
 *
 * A child process without rights reads each file, because the file may come from any user: the
 * caller gets SIGCHLD when it ends, at the latest in trace_symbols_free(). At most 16 such
 * processes run at a time.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>
#include <trace/reader.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default) /* the library is built with -fvisibility=hidden */

struct trace_symbols;

/**
 * struct trace_symbol - what is at an address. Strings are borrowed until the next call
 * @function: demangled; "" if the file has no symbol there. @offset: of the address in it
 * @file: the program or library. @file_address: as nm and objdump print it
 * @why: a word why @function is "": its file was built again, is not on this machine ...; else ""
 * @source: "file.c:12" if requested and if there is debug information, else ""
 */
struct trace_symbol {
	const char *function;
	uint64_t offset;
	const char *file;
	uint64_t file_address;
	const char *source;
	const char *why;
};

/**
 * trace_symbols_new() - reads all events of @trace about mappings; @trace is
 * borrowed. NULL with -ENOMEM
 */
struct trace_symbols *trace_symbols_new(const struct trace *trace, struct trace_error *ret_error) TRACE_NODISCARD;
struct trace_symbols *trace_symbols_free(struct trace_symbols *symbols); /* NULL is fine; returns NULL */

/**
 * trace_symbols_want_source() - look up source lines, too
 * Off by default: the first lookup reads debug information, which takes time.
 */
void trace_symbols_want_source(struct trace_symbols *symbols, bool wanted);

/**
 * trace_symbols_set_folder() - look for the files below this folder first, as if it were "/";
 * borrowed
 * trace_symbols_want_debuginfod() - ask debuginfod for debug files that are not on this machine
 * Both before the first look-up. By default there is no folder, and nothing is asked of a server.
 */
void trace_symbols_set_folder(struct trace_symbols *symbols, const char *folder);
void trace_symbols_want_debuginfod(struct trace_symbols *symbols, bool wanted);

/**
 * struct trace_symbols_kept - copies of the tables of functions of files that may be gone
 * @has: is there one of the file @ino of the device @dev? @open: returns a descriptor of it, which
 * the library closes, or a negative errno. @context: borrowed
 */
struct trace_symbols_kept {
	bool (*has)(const void *context, uint32_t dev, uint64_t ino);
	int (*open)(const void *context, uint32_t dev, uint64_t ino);
	const void *context;
};
/**
 * trace_symbols_set_kept() - copies for files that are found nowhere, before the first look-up
 * A copy must have the recorded build id. trace_symbols_look_up() begins with the files that have
 * one, because nothing else finds their names later. @kept is copied
 */
void trace_symbols_set_kept(struct trace_symbols *symbols, const struct trace_symbols_kept *kept);

/**
 * trace_symbols_find() - the symbol at @address in the process of thread @tid at @ts_ns
 * An address of the kernel has a symbol if samples hit its function: @file is then "[kernel]" or
 * the module in brackets, and @file_address is @address.
 * Returns false, with nothing written, if no file is known to have been mapped there.
 */
bool trace_symbols_find(struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns, uint64_t address,
			struct trace_symbol *ret_symbol);

/**
 * struct trace_symbol_level - a function at an address: one that the compiler built into another,
 * or the one that contains it
 * @source: path of the source file, "" if there is no debug information. @line: of the address, or
 *     of the call of the level before; 0: not known
 */
struct trace_symbol_level {
	const char *function;
	const char *source;
	uint32_t line;
};

/**
 * trace_symbols_find_levels() - the same, with inlined functions and source lines
 * Returns the number of levels, the innermost first: the last one is the function of @ret_symbol,
 * whose @source is "". The outermost 32 are told if there are more. 0: as false. Levels are
 * borrowed until the next call. The first look-up in a file reads its debug information.
 */
size_t trace_symbols_find_levels(struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns, uint64_t address,
				 struct trace_symbol *ret_symbol, const struct trace_symbol_level **ret_levels);

/**
 * struct trace_symbol_place - an address in the process of thread @tid at a time
 * @hits: how often it is used; files with more are looked up first, and places with 0 last
 */
struct trace_symbol_place {
	uint64_t address;
	uint64_t ts_ns;
	uint32_t tid;
	uint32_t hits;
};
/**
 * trace_symbols_look_up() - look up many places as trace_symbols_find_levels() does, file by file,
 * for at most @limit_ns; UINT64_MAX: no limit
 * A file that is looked up among others is read several times, once if its places come together.
 * The files with the most hits come first, and places without hits last. Later queries for these
 * places are answered at once.
 * Returns how many places had to be left out; 0: all are known now.
 */
uint64_t trace_symbols_look_up(struct trace_symbols *symbols, const struct trace_symbol_place *places, size_t nr,
			       uint64_t limit_ns);
/**
 * trace_symbols_of_samples() - look up the code of all samples of the trace, for at most @limit_ns
 * Returns how many different addresses of threads had to be left out; 0: all are known now.
 */
uint64_t trace_symbols_of_samples(struct trace_symbols *symbols, uint64_t limit_ns);

/**
 * trace_symbols_pause() - end the processes that open and read files
 * The answers until now stay known; a look-up of another place starts the processes that it needs.
 */
void trace_symbols_pause(struct trace_symbols *symbols);

/** trace_symbols_emit_fn - as trace_writer_string(): returns 0, or a negative errno to stop */
typedef int (*trace_symbols_emit_fn)(void *context, enum trace_string_space space, uint64_t key, const char *text);
/**
 * trace_symbols_export() - the answers of trace_symbols_find_levels() until now, as texts of a
 * trace
 * A trace with them needs no files of the machine on which it was recorded.
 * Returns 0, what @emit returned, or -ENOMEM.
 */
int trace_symbols_export(const struct trace_symbols *symbols, trace_symbols_emit_fn emit,
			 void *context) TRACE_NODISCARD;

/**
 * trace_symbols_error() - were all answers until now complete?
 * Returns 0; -ENOMEM: an address has no name, or not its whole name, because there was no memory
 * to read its file; or -EBADMSG: names or source lines of a file are missing, because the process
 * that reads it could not be started or has failed. All other answers are complete.
 */
int trace_symbols_error(const struct trace_symbols *symbols, struct trace_error *ret_error) TRACE_NODISCARD;

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
