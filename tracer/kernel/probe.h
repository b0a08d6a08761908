/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_H
#define TRACER_PROBE_H
/*
 * probe.h - what the files that turn a probe's text into places share.
 *
 *	probe_spec.c	the text into its parts
 *	probe_file.c	a name into a file, as ld.so would, or as a process has it
 *	probe_elf.c	functions and offsets of an ELF file
 *	probe_sdt.c	static probes: the notes of <sys/sdt.h>
 *	probe_dwarf.c	variables of the source: where they are, what type they have
 *	probe_code.c	an argument's text, or a variable, into a recipe
 *	probe_places.c	all together: trace_probes_add()
 *	probe_reader.c	the process that reads files for it, see probe_reader.h
 *	probe_list.c	trace_probes_list()
 *	probe_attach.c	into the kernel (with the tracer)
 */
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <gelf.h>
#include <trace/probes.h>
#include "error_set.h"

/* ---- probe_spec.c ---- */

enum probe_kind {
	PROBE_FUNCTION,
	PROBE_USDT,
	PROBE_KERNEL,
};

enum probe_moment {
	PROBE_ENTRY,
	PROBE_RETURN,
	PROBE_SCOPE, /* both: the begin and the end of a scope */
};

/** struct probe_argument_text - "name=expression:type", each "" if not given, but the expression */
struct probe_argument_text {
	char name[TRACE_PROBE_NAME_BYTES];
	char expression[TRACE_PROBE_NAME_BYTES];
	char type[32];
};

/**
 * struct probe_spec - a probe's text, taken apart
 * @event: "provider:name" or "name", "" = to be made up
 * @file: as written. @pid: of FILE@PID, or 0
 * @provider: of USDT, "" = all. @function: or name of the static probe, or a glob; "" = all of USDT
 * @address: with @has_address, in place of a function: a virtual address of the file. @offset: behind the function
 */
struct probe_spec {
	enum probe_kind kind;
	enum probe_moment moment;
	char event[TRACE_PROBE_NAME_BYTES];
	char file[4096];
	pid_t pid;
	char provider[TRACE_PROBE_NAME_BYTES];
	char function[TRACE_PROBE_NAME_BYTES];
	uint64_t address;
	uint64_t offset;
	bool has_address;
	bool has_function; /* the text names one, be it "" */
	uint32_t nr_arguments;
	struct probe_argument_text arguments[TRACE_PROBE_MAX_ARGUMENTS];
};

/** probe_spec_parse() - 0, or -EINVAL with what is wrong. @listing: a function may be missing */
int probe_spec_parse(const char *text, bool listing, struct probe_spec *ret_spec, struct trace_error *ret_error);
/** probe_is_glob() - does it stand for several names? */
bool probe_is_glob(const char *name);

/* ---- probe_file.c ---- */

/**
 * probe_find_file() - the file that @name means: a path; the library that ld.so would load by that name; a program in PATH. With @pid the file
 * that this process has mapped by that name, or that its root has at that path
 * Returns 0 with a path that we can open, or -ENOENT ...
 */
int probe_find_file(const char *name, pid_t pid, char ret_path[4096], struct trace_error *ret_error);

/* ---- probe_elf.c ---- */

/** struct probe_elf - an open file. @path: owned. @debug: where symbols and DWARF come from: @elf itself, or a separate file with them */
struct probe_elf {
	char *path;
	int fd;
	uint64_t file_bytes;
	Elf *elf;
	int debug_fd;
	Elf *debug;
	int alt_fd;
	Elf *alt; /* the supplementary file of dwz, or NULL */
	Dwarf *alt_dwarf;
	struct probe_opener *opener; /* borrowed */
	Dwarf *dwarf; /* when asked for */
	bool dwarf_tried;
	bool unit_is_shallow; /* that of @unit_looked_at: see probe_dwarf.c */
	const void *unit_looked_at;
	int machine;
};
struct probe_opener;
/** probe_elf_open_by() - the program at @path; @opener, which must outlive it, opens its files. For the reader of probe_reader.h */
int probe_elf_open_by(struct probe_elf *ret_elf, const char *path, struct probe_opener *opener, struct trace_error *ret_error);
void probe_elf_close(struct probe_elf *elf);
/** probe_elf_offset() - a virtual address of the file as an offset in it; false: not in any loaded part */
bool probe_elf_offset(const struct probe_elf *elf, uint64_t address, bool executable, uint64_t *ret_offset);
/** probe_elf_dwarf() - the debug information, of the file or of its separate debug file; NULL: none */
Dwarf *probe_elf_dwarf(struct probe_elf *elf);

/** struct probe_symbol - a function. @name: borrowed. @plain: demangled without parameters, @full: with; both equal to @name in C */
struct probe_symbol {
	const char *name;
	const char *plain;
	const char *full;
	uint64_t address;
	uint64_t bytes;
	bool chooser; /* STT_GNU_IFUNC: the code there chooses an implementation, once */
};
/** probe_elf_functions() - call @visit for each defined function, of both symbol tables; a non-zero return ends it and is returned */
typedef int (*probe_symbol_fn)(void *context, const struct probe_symbol *symbol);
int probe_elf_functions(struct probe_elf *elf, probe_symbol_fn visit, void *context);
/** probe_symbol_matches() - is it meant by @pattern, a name or a glob? */
bool probe_symbol_matches(const struct probe_symbol *symbol, const char *pattern);
/** probe_demangle_prepare() - load the demangler now: later no file can be opened */
void probe_demangle_prepare(void);
/** probe_demangle() - the C++ or Rust name behind a symbol; NULL: it is none. To be freed */
char *probe_demangle(const char *name);

/* ---- probe_instruction.c ---- */

/** probe_instruction_bytes() - the length of the instruction of x86-64 that @bytes begin with; 0: cut off, or not known */
size_t probe_instruction_bytes(const uint8_t *bytes, size_t size);
/** probe_instruction_is_misread() - would the kernel take the instruction for another, and a breakpoint there break whoever runs it? */
bool probe_instruction_is_misread(const uint8_t *bytes, size_t size);
/** probe_instruction_is_plain() - one that all kernels can probe; of others they refuse some */
bool probe_instruction_is_plain(const uint8_t *bytes, size_t size);
/** probe_instruction_check() - -EINVAL: @address is in the midst of an instruction of a function; 0: not, as far as is known */
int probe_instruction_check(struct probe_elf *elf, uint64_t address, struct trace_error *ret_error);

/* ---- probe_sdt.c ---- */

/** struct probe_sdt - a static probe. Strings borrowed during the call. @semaphore: its address, or 0 */
struct probe_sdt {
	const char *provider;
	const char *name;
	const char *arguments;
	uint64_t address;
	uint64_t semaphore;
};
typedef int (*probe_sdt_fn)(void *context, const struct probe_sdt *sdt);
int probe_sdt_each(struct probe_elf *elf, probe_sdt_fn visit, void *context);
/* ---- probe_code.c ---- */

/** probe_register() - the word of struct pt_regs that a register's name means, and how wide the name is; -1: none */
int probe_register(const char *name, size_t chars, int *ret_bytes);
/** probe_register_dwarf() - the same for DWARF's number */
int probe_register_dwarf(unsigned int number);
/** probe_register_argument() - the nth (from 0) integer argument: a register, or -1: it is on the stack */
int probe_register_argument(unsigned int n);
#define PROBE_REGISTER_STACK 19
#define PROBE_REGISTER_RESULT 10

/**
 * struct probe_field - a recipe and the field that it fills, its name apart
 * @source_bit, @source_bits: where in what is computed or loaded the value is, whatever type it is recorded as; 0 bits: nobody knows, it is as wide as
 *   that type. @source_signed: whether it is
 */
struct probe_field {
	struct trace_probe_argument argument;
	uint8_t source_bit;
	uint8_t source_bits;
	bool source_signed;
	enum trace_field_kind kind;
	bool is_signed;
	uint8_t bytes;
};
/** probe_code_expression() - registers, memory, $argN, $retval. Returns 0; 1: not such an expression; or -EINVAL */
int probe_code_expression(const char *text, bool at_return, struct probe_field *ret_field, struct trace_error *ret_error);
/** probe_code_type() - apply "u32", "string[64]" ... to a field */
int probe_code_type(const char *type, struct probe_field *field, struct trace_error *ret_error);

/**
 * probe_sdt_argument() - the next operand of a note's arguments
 * @elf: for symbols that operands name. @at: moved behind the operand. @address: of the probe
 * Returns 1, 0 at the end, or -EINVAL / -ENOTSUP (a vector register) with a sentence.
 */
int probe_sdt_argument(struct probe_elf *elf, const char **at, uint64_t address, struct probe_field *ret_field, struct trace_error *ret_error);

/* ---- probe_dwarf.c ---- */

/** struct probe_scope - a function of the source and a place in it. Zeroed = none */
struct probe_scope {
	struct probe_elf *elf; /* borrowed */
	Dwarf_Die function;
	Dwarf_Die unit;
	Dwarf *dwarf;
	Dwarf_CFI *cfi;		/* borrowed from the Dwarf */
	Dwarf_CFI *cfi_section; /* owned: of .eh_frame */
	uint64_t address;
	bool found;
};
/** probe_scope_open() - the function at @address; @ret_scope->found tells if there is debug information on it */
void probe_scope_open(struct probe_elf *elf, uint64_t address, struct probe_scope *ret_scope);
void probe_scope_close(struct probe_scope *scope);
/** probe_scope_body() - the first address at which the variables have their places: behind the prologue if the code is not optimised */
uint64_t probe_scope_body(const struct probe_scope *scope);
/** probe_scope_source() - "file.c:12 function", or "" */
void probe_scope_source(const struct probe_scope *scope, char *text, size_t size);
/** probe_scope_variable() - "order->items[2].id" at scope->address */
int probe_scope_variable(struct probe_scope *scope, const char *expression, struct probe_field *ret_field, struct trace_error *ret_error);
/** probe_scope_result() - the type of what the function returns, applied to a field that holds the register; 0 if it is not known */
int probe_scope_result(struct probe_scope *scope, struct probe_field *field, struct trace_error *ret_error);
/** probe_scope_parameter() - the name of the nth parameter, from 0; NULL past the last */
const char *probe_scope_parameter(const struct probe_scope *scope, unsigned int n);

/* ---- probe_list.c ---- */

/** probe_kernel_missing() - why no function of the kernel can be probed here, a static text; NULL: nothing speaks against it */
const char *probe_kernel_missing(void);

#endif
