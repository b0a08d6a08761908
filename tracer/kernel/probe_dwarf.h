/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_DWARF_H
#define TRACER_PROBE_DWARF_H
/* probe_dwarf.h - variables of the source: location and type. */
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>

struct probe_elf;
struct probe_field;

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

#endif
