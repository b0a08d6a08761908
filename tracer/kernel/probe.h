/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_H
#define TRACER_PROBE_H
/*
 * probe.h - declarations shared by the files that turn the text of a probe into places.
 *
 *     probe_spec.c      split the text into its parts
 *     probe_file.c      find a file by name, like ld.so, or as a process has it mapped
 *     probe_elf.c       functions and offsets of an ELF file
 *     probe_sdt.c       static probes: the notes of <sys/sdt.h>
 *     probe_dwarf.c     variables of the source: location and type
 *     probe_code.c      turn an argument's text, or a variable, into a recipe
 *     probe_places.c    trace_probes_add(), which uses all of these
 *     probe_reader.c    the process that reads the files, see probe_reader.h
 *     probe_list.c      trace_probes_list()
 *     probe_attach.c    attach the probes to the kernel (needs the tracer)
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

/** struct probe_argument_text - "name=expression:type"; name and type are "" if not given */
struct probe_argument_text {
	char name[TRACE_PROBE_NAME_BYTES];
	char expression[TRACE_PROBE_NAME_BYTES];
	char type[32];
};

/**
 * struct probe_spec - the parsed text of a probe
 * @event: "provider:name" or "name"; "" = to be derived
 * @file: as written
 * @pid: from FILE@PID, or 0
 * @provider: of a static probe; "" = all
 * @function: name of a function or static probe, or a glob; "" = all static probes
 * @address: if @has_address, used instead of a function: a virtual address of the file
 * @offset: bytes from the begin of the function
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
	bool has_function; /* the text contains a name, possibly "" */
	uint32_t nr_arguments;
	struct probe_argument_text arguments[TRACE_PROBE_MAX_ARGUMENTS];
};

/**
 * probe_spec_parse() - parse @text. 0, or -EINVAL with what is wrong. @listing: the function is
 * optional
 */
int probe_spec_parse(const char *text, bool listing, struct probe_spec *ret_spec, struct trace_error *ret_error);
/** probe_is_glob() - does @name contain wildcards? */
bool probe_is_glob(const char *name);

/* ---- probe_file.c ---- */

/**
 * probe_find_file() - find the file that @name means
 * Without @pid: a path, the library that ld.so would load by that name, or a program in PATH. With
 * @pid: the file that this process has mapped by that name, or that exists at that path in the root
 * of the process.
 * Returns 0 with a path that can be opened, or -ENOENT ...
 */
int probe_find_file(const char *name, pid_t pid, char ret_path[4096], struct trace_error *ret_error);

/* ---- probe_elf.c ---- */

/**
 * struct probe_elf - an open file
 * @path: owned
 * @debug: the file with symbols and DWARF: @elf itself, or a separate debug file
 */
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
	Dwarf *dwarf;		     /* opened on first use */
	bool dwarf_tried;
	bool unit_is_shallow; /* result for @unit_looked_at: see probe_dwarf.c */
	const void *unit_looked_at;
	int machine;
};
struct probe_opener;
/**
 * probe_elf_open_by() - open the program at @path; for the reader of probe_reader.h
 * @opener: opens the program and its debug files; must outlive @ret_elf
 */
int probe_elf_open_by(struct probe_elf *ret_elf, const char *path, struct probe_opener *opener,
		      struct trace_error *ret_error);
void probe_elf_close(struct probe_elf *elf);
/**
 * probe_elf_offset() - convert a virtual address to a file offset; false: the address is in no
 * loaded segment
 */
bool probe_elf_offset(const struct probe_elf *elf, uint64_t address, bool executable, uint64_t *ret_offset);
/**
 * probe_elf_dwarf() - the debug information of the file or of its separate debug file; NULL: none
 */
Dwarf *probe_elf_dwarf(struct probe_elf *elf);

/**
 * struct probe_symbol - a function
 * @name: borrowed
 * @plain: demangled, without parameters; in C equal to @name
 * @full: demangled, with parameters; in C equal to @name
 */
struct probe_symbol {
	const char *name;
	const char *plain;
	const char *full;
	uint64_t address;
	uint64_t bytes;
	bool is_ifunc; /* STT_GNU_IFUNC: the code there chooses an implementation, once */
};
/**
 * probe_elf_functions() - call @visit for each defined function of both symbol tables
 * A non-zero return value ends the walk and is returned.
 */
typedef int (*probe_symbol_fn)(void *context, const struct probe_symbol *symbol);
int probe_elf_functions(struct probe_elf *elf, probe_symbol_fn visit, void *context);
/** probe_symbol_matches() - does the symbol match @pattern, a name or a glob? */
bool probe_symbol_matches(const struct probe_symbol *symbol, const char *pattern);

/* ---- probe_instruction.c ---- */

/**
 * probe_instruction_bytes() - the length of the x86-64 instruction at @bytes; 0: cut off, or
 * unknown
 */
size_t probe_instruction_bytes(const uint8_t *bytes, size_t size);
/**
 * probe_instruction_is_misread() - would the kernel mistake the instruction for another one? A
 * breakpoint there would break the program
 */
bool probe_instruction_is_misread(const uint8_t *bytes, size_t size);
/** probe_instruction_is_plain() - can all kernels probe the instruction? They refuse some others */
bool probe_instruction_is_plain(const uint8_t *bytes, size_t size);
/**
 * probe_instruction_check() - -EINVAL: @address is inside an instruction of a function; 0: it is
 * not, as far as can be determined
 */
int probe_instruction_check(struct probe_elf *elf, uint64_t address, struct trace_error *ret_error);

/* ---- probe_sdt.c ---- */

/**
 * struct probe_sdt - a static probe; strings are valid during the call. @semaphore: its address, or
 * 0
 */
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

/**
 * probe_register() - the word of struct pt_regs for a register name, and the width of the name; -1:
 * unknown
 */
int probe_register(const char *name, size_t chars, int *ret_bytes);
/** probe_register_dwarf() - the same for DWARF's register number */
int probe_register_dwarf(unsigned int number);
/**
 * probe_register_argument() - the register of the nth (from 0) integer argument; -1: it is on the
 * stack
 */
int probe_register_argument(unsigned int n);
#define PROBE_REGISTER_STACK  19
#define PROBE_REGISTER_RESULT 10

/**
 * struct probe_field - a recipe and the field that it fills, without its name
 * @source_bit, @source_bits: position and width of the value in what is computed or loaded,
 *                   independent of the recorded type; 0 bits: unknown, assume the width of that
 *                   type
 * @source_signed: is that value signed?
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
/**
 * probe_code_expression() - parse registers, memory, $argN and $retval. Returns 0; 1: not such an
 * expression; or -EINVAL
 */
int probe_code_expression(const char *text, bool at_return, struct probe_field *ret_field,
			  struct trace_error *ret_error);
/** probe_code_type() - apply a type such as "u32" or "string[64]" to a field */
int probe_code_type(const char *type, struct probe_field *field, struct trace_error *ret_error);

/**
 * probe_sdt_argument() - parse the next operand of a note's arguments
 * @elf: for symbols in operands
 * @at: moved behind the operand
 * @address: of the probe
 * Returns 1, 0 at the end, or -EINVAL / -ENOTSUP (a vector register) with a message.
 */
int probe_sdt_argument(struct probe_elf *elf, const char **at, uint64_t address, struct probe_field *ret_field,
		       struct trace_error *ret_error);

/* ---- probe_dwarf.c ---- */

/** struct probe_scope - a function of the source, and an address in it. Zeroed = none */
struct probe_scope {
	struct probe_elf *elf; /* borrowed */
	Dwarf_Die function;
	Dwarf_Die unit;
	Dwarf *dwarf;
	Dwarf_CFI *cfi;		/* borrowed from the Dwarf */
	Dwarf_CFI *cfi_section; /* owned; from .eh_frame */
	uint64_t address;
	bool found;
};
/**
 * probe_scope_open() - find the function at @address; ret_scope->found: it has debug information
 */
void probe_scope_open(struct probe_elf *elf, uint64_t address, struct probe_scope *ret_scope);
void probe_scope_close(struct probe_scope *scope);
/**
 * probe_scope_body() - the first address at which the variables' locations are valid: in
 * unoptimised code after the prologue
 */
uint64_t probe_scope_body(const struct probe_scope *scope);
/** probe_scope_source() - "file.c:12 function", or "" */
void probe_scope_source(const struct probe_scope *scope, char *text, size_t size);
/**
 * probe_scope_variable() - make a recipe for an expression such as "order->items[2].id", at
 * scope->address
 */
int probe_scope_variable(struct probe_scope *scope, const char *expression, struct probe_field *ret_field,
			 struct trace_error *ret_error);
/**
 * probe_scope_result() - apply the return type of the function to a field that holds the register;
 * 0 also if the type is unknown
 */
int probe_scope_result(struct probe_scope *scope, struct probe_field *field, struct trace_error *ret_error);
/** probe_scope_parameter() - the name of the nth parameter, from 0; NULL after the last */
const char *probe_scope_parameter(const struct probe_scope *scope, unsigned int n);

/* ---- probe_list.c ---- */

/**
 * probe_kernel_missing() - the reason why kernel functions cannot be probed here (static string);
 * NULL: none known
 */
const char *probe_kernel_missing(void);

#endif
