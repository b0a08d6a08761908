/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_location.c - turn the compiler's description of a variable's location into a recipe for the
 * kernel.
 *
 * A DWARF location is a small program of DW_OP_* operations. For variables, compilers write
 * programs with one of four results: a register, memory at a register plus an offset, memory at the
 * frame base plus an offset, or memory at an address of the file. These become a start value, a sum
 * and loads. Other locations (values in pieces, thread-local variables) are refused.
 *
 * Example: DW_OP_fbreg -24, with a frame base of rbp, becomes start = rbp, offset -24, and one
 * load.
 */
#include "probe_location.h"

#include <errno.h>
#include <stdlib.h>
#include <dwarf.h>
#include "error_set.h"
#include "probe_code.h"

/* SECURITY: a location may refer to itself. A walk that reaches the limit is refused. */
#define MAX_DEPTH 64

/*
 * Offsets come from the file: if a sum overflows, the location is wrong, but the behaviour is
 * defined.
 */
void location_add_sum(struct dwarf_location *loc, uint64_t offset)
{
	loc->sum = (int64_t)((uint64_t)loc->sum + offset);
}

int location_add_load(struct dwarf_location *loc, struct trace_error *ret_error)
{
	if (loc->argument.nr_loads == TRACE_PROBE_MAX_LOADS)
		return error_set(ret_error, -EINVAL, "an argument takes at most %d steps through memory",
				 TRACE_PROBE_MAX_LOADS);
	loc->argument.offsets[loc->argument.nr_loads++] = loc->sum;
	loc->sum = 0;
	return 0;
}

/* A recipe has one start value, so a location with a second one is refused. */
static int begin(struct dwarf_location *loc, struct trace_error *ret_error)
{
	if (loc->begun)
		return error_set(ret_error, -ENOTSUP,
				 "it is computed from several values there; name those, or compile with -O0");
	loc->begun = true;
	return 0;
}

static int begin_register(struct dwarf_location *loc, unsigned int number, int64_t sum, struct trace_error *ret_error)
{
	int word = probe_register_dwarf(number);

	if (word < 0)
		return error_set(ret_error, -ENOTSUP,
				 "it is in a vector register there, which the kernel does not hand to probes; choose "
				 "an address where it is in memory, or compile with -O0");
	loc->argument.start = TRACE_PROBE_REGISTER;
	loc->argument.base = (uint8_t)word;
	loc->sum = sum;
	return begin(loc, ret_error);
}

static int walk(struct probe_scope *scope, const Dwarf_Op *ops, size_t nr, int depth, struct dwarf_location *loc,
		struct trace_error *ret_error);

static int walk_cfa(struct probe_scope *scope, int depth, struct dwarf_location *loc, struct trace_error *ret_error)
{
	Dwarf_Frame *frame = NULL;
	Dwarf_Op *ops;
	size_t nr;
	int err;

	if ((!scope->cfi || dwarf_cfi_addrframe(scope->cfi, scope->address, &frame)) &&
	    (!scope->cfi_section || dwarf_cfi_addrframe(scope->cfi_section, scope->address, &frame)))
		return error_set(ret_error, -ENOTSUP, "its stack frame is not described in the file (no .eh_frame)");
	err = dwarf_frame_cfa(frame, &ops, &nr) ? -ENOTSUP : 0;
	err = err ? error_set(ret_error, err, "its stack frame cannot be computed")
		  : walk(scope, ops, nr, depth, loc, ret_error);
	free(frame);
	return err;
}

static int walk_frame_base(struct probe_scope *scope, int64_t offset, int depth, struct dwarf_location *loc,
			   struct trace_error *ret_error)
{
	Dwarf_Attribute attribute, *location = loc->location;
	bool in_memory = loc->in_memory;
	Dwarf_Op *ops;
	size_t nr;
	int err;

	if (!dwarf_attr_integrate(&scope->function, DW_AT_frame_base, &attribute) ||
	    dwarf_getlocation_addr(&attribute, scope->address, &ops, &nr, 1) != 1)
		return error_set(ret_error, -ENOTSUP, "the debug information does not describe its stack frame");
	loc->location = &attribute;
	err = walk(scope, ops, nr, depth, loc, ret_error);
	loc->location = location;
	loc->in_memory = in_memory; /* a frame base in a register (clang) is a position, not the value */
	location_add_sum(loc, (uint64_t)offset);
	return err;
}

static int walk_address(struct probe_scope *scope, const Dwarf_Op *op, struct dwarf_location *loc,
			struct trace_error *ret_error)
{
	Dwarf_Addr address = op->number;
	Dwarf_Attribute indirect;

	if (op->atom == DW_OP_addrx && (!loc->location || dwarf_getlocation_attr(loc->location, op, &indirect) ||
					dwarf_formaddr(&indirect, &address)))
		return error_set(ret_error, -ENOTSUP, "the debug information does not contain its address");
	loc->argument.start = TRACE_PROBE_PLACE;
	loc->sum = (int64_t)(address - scope->address);
	return begin(loc, ret_error);
}

/*
 * DW_OP_entry_value(register): the register's value at the function's entry. It is still there if
 * the probe is at the entry.
 */
static int walk_entry_value(struct probe_scope *scope, const Dwarf_Op *op, struct dwarf_location *loc,
			    struct trace_error *ret_error)
{
	Dwarf_Attribute inner;
	Dwarf_Addr entry;
	Dwarf_Op *ops;
	size_t nr;

	if (dwarf_lowpc(&scope->function, &entry) || entry != scope->address || !loc->location ||
	    dwarf_getlocation_attr(loc->location, op, &inner) || dwarf_getlocation(&inner, &ops, &nr) || nr != 1 ||
	    ops[0].atom < DW_OP_reg0 || ops[0].atom > DW_OP_reg31)
		return error_set(ret_error, -ENOTSUP,
				 "it is not available there: the compiler kept it only at the function's entry");
	return begin_register(loc, ops[0].atom - DW_OP_reg0, 0, ret_error);
}

static int walk_constant(struct dwarf_location *loc, int64_t value)
{
	if (loc->begun) {
		location_add_sum(loc, (uint64_t)value); /* for the DW_OP_plus that follows */
	} else {
		loc->argument.start = TRACE_PROBE_CONSTANT;
		loc->sum = value;
		loc->begun = true;
	}
	return 0;
}

static int walk_op(struct probe_scope *scope, const Dwarf_Op *op, int depth, struct dwarf_location *loc,
		   struct trace_error *ret_error)
{
	if (op->atom >= DW_OP_reg0 && op->atom <= DW_OP_reg31) {
		loc->in_memory = false;
		return begin_register(loc, op->atom - DW_OP_reg0, 0, ret_error);
	}
	if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31)
		return begin_register(loc, op->atom - DW_OP_breg0, (int64_t)op->number, ret_error);
	if (op->atom >= DW_OP_lit0 && op->atom <= DW_OP_lit31)
		return walk_constant(loc, op->atom - DW_OP_lit0);
	switch (op->atom) {
	case DW_OP_regx:
		loc->in_memory = false;
		return begin_register(loc, (unsigned int)op->number, 0, ret_error);
	case DW_OP_bregx:
		return begin_register(loc, (unsigned int)op->number, (int64_t)op->number2, ret_error);
	case DW_OP_fbreg:
		return walk_frame_base(scope, (int64_t)op->number, depth + 1, loc, ret_error);
	case DW_OP_call_frame_cfa:
		return walk_cfa(scope, depth + 1, loc, ret_error);
	case DW_OP_entry_value:
	case DW_OP_GNU_entry_value:
		return walk_entry_value(scope, op, loc, ret_error);
	case DW_OP_addr:
	case DW_OP_addrx:
		return walk_address(scope, op, loc, ret_error);
	case DW_OP_plus_uconst:
		location_add_sum(loc, op->number);
		return 0;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_const4u:
	case DW_OP_const4s:
	case DW_OP_const8u:
	case DW_OP_const8s:
	case DW_OP_constu:
	case DW_OP_consts:
		return walk_constant(loc, (int64_t)op->number);
	case DW_OP_plus:
	case DW_OP_nop:
		return 0;
	case DW_OP_deref:
		return location_add_load(loc, ret_error);
	case DW_OP_stack_value:
		loc->in_memory = false;
		return 0;
	case DW_OP_form_tls_address:
	case DW_OP_GNU_push_tls_address:
		return error_set(ret_error, -ENOTSUP, "it is a thread-local variable, which a probe cannot read");
	default:
		return error_set(
			ret_error, -ENOTSUP,
			"its location is too complex (DW_OP 0x%x); try the register that holds it, or compile with -O0",
			op->atom);
	}
}

/*
 * A constant is added to the sum at once. That is right only if a DW_OP_plus follows directly, so
 * check that.
 */
static int walk(struct probe_scope *scope, const Dwarf_Op *ops, size_t nr, int depth, struct dwarf_location *loc,
		struct trace_error *ret_error)
{
	int err = 0;

	if (depth > 4)
		return error_set(ret_error, -ENOTSUP, "its location is too complex");
	for (size_t i = 0; i < nr && !err; i++) {
		bool constant = loc->begun && ((ops[i].atom >= DW_OP_lit0 && ops[i].atom <= DW_OP_lit31) ||
					       (ops[i].atom >= DW_OP_const1u && ops[i].atom <= DW_OP_consts));

		if (constant && (i + 1 == nr || ops[i + 1].atom != DW_OP_plus))
			return error_set(
				ret_error, -ENOTSUP,
				"its location is too complex; try the register that holds it, or compile with -O0");
		err = walk_op(scope, &ops[i], depth, loc, ret_error);
	}
	return err;
}

int location_of_variable(struct probe_scope *scope, Dwarf_Die *variable, struct dwarf_location *loc,
			 struct trace_error *ret_error)
{
	Dwarf_Attribute attribute;
	Dwarf_Sword constant;
	Dwarf_Op *ops;
	size_t nr;
	int err;

	if (dwarf_attr_integrate(variable, DW_AT_const_value, &attribute) && !dwarf_formsdata(&attribute, &constant))
		return walk_constant(loc, constant);
	if (!dwarf_attr_integrate(variable, DW_AT_location, &attribute) ||
	    dwarf_getlocation_addr(&attribute, scope->address, &ops, &nr, 1) != 1 || !nr)
		return error_set(ret_error, -ENOTSUP,
				 "the compiler stores it nowhere at this address; try another address in the function, "
				 "or compile with -O0");
	loc->in_memory = true;
	loc->location = &attribute;
	err = walk(scope, ops, nr, 0, loc, ret_error);
	loc->location = NULL;
	return err;
}
