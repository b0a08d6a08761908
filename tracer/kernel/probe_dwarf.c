/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_dwarf.c - the function around an address, and its variables: names, types, members
 *
 * probe_location.c turns the location of a variable into a recipe for the kernel.
 *
 * In unoptimised code the parameters are not at their DWARF locations at the first instruction of
 * the function: the prologue stores them there. Such functions are probed after the prologue.
 */
#include "probe_dwarf.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <dwarf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"
#include "probe_code.h"
#include "probe_elf.h"
#include "probe_location.h"

/*
 * SECURITY: limits for walks over debug information, which may come from anyone: types that contain
 * themselves, endlessly nested namespaces. No compiler's output comes near them. A walk that
 * reaches a limit finds nothing.
 */
#define MAX_DEPTH   64	       /* nested namespaces, types in types */
#define MAX_SCOPES  1024       /* nested blocks and inlined calls */
#define MAX_STEPS   (1u << 24) /* entries per search */
#define MAX_MEMBERS (1u << 16) /* per struct, including its bases and anonymous members */

/* ---- the function ---- */

static bool unit_of_address(Dwarf *dwarf, uint64_t address, Dwarf_Die *ret_unit)
{
	Dwarf_Off at = 0, next;
	size_t header_bytes;

	if (dwarf_addrdie(dwarf, address, ret_unit))
		return true;
	/* clang writes no .debug_aranges */
	for (; dwarf_nextcu(dwarf, at, &next, &header_bytes, NULL, NULL, NULL) == 0 && next > at; at = next)
		if (dwarf_offdie(dwarf, at + header_bytes, ret_unit) && dwarf_haspc(ret_unit, address) > 0)
			return true;
	return false;
}

/*
 * Find the function with @address in @parent, or in namespaces and classes in it. elfutils'
 * dwarf_getscopes() would do, but up to 0.188 it fails for some output of clang 14: it requires an
 * address for blocks that have ranges.
 */
static bool function_of_address(Dwarf_Die *parent, uint64_t address, unsigned int depth, unsigned int *steps,
				Dwarf_Die *ret_function)
{
	Dwarf_Die child;

	if (depth == MAX_DEPTH)
		return false;
	for (int left = dwarf_child(parent, &child); left == 0 && ++*steps < MAX_STEPS;
	     left = dwarf_siblingof(&child, &child)) {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_subprogram && dwarf_haspc(&child, address) > 0) {
			*ret_function = child;
			return true;
		}
		if ((tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type) &&
		    function_of_address(&child, address, depth + 1, steps, ret_function))
			return true;
	}
	return false;
}

/*
 * True if no entry of the unit is deeper than MAX_SCOPES, because libdw's search for scopes
 * recurses down to the deepest.
 */
static bool is_shallow(Dwarf_Die *unit)
{
	static Dwarf_Die path[MAX_SCOPES]; /* for one thread at a time; too large for the stack */
	unsigned int depth = 0, steps = 0;

	if (dwarf_child(unit, &path[0]))
		return true;
	while (++steps < MAX_STEPS) {
		Dwarf_Die child;

		if (dwarf_child(&path[depth], &child) == 0) {
			if (++depth == MAX_SCOPES)
				return false;
			path[depth] = child;
			continue;
		}
		while (dwarf_siblingof(&path[depth], &path[depth]))
			if (depth-- == 0)
				return true;
	}
	return false;
}

void probe_scope_open(struct probe_elf *elf, uint64_t address, struct probe_scope *ret_scope)
{
	struct probe_scope scope = {.address = address, .elf = elf};
	unsigned int steps = 0;

	*ret_scope = scope;
	scope.dwarf = probe_elf_dwarf(elf);
	if (!scope.dwarf || !unit_of_address(scope.dwarf, address, &scope.unit))
		return;
	scope.found = function_of_address(&scope.unit, address, 0, &steps, &scope.function);
	if (!scope.found)
		return;
	scope.cfi = dwarf_getcfi(scope.dwarf);
	scope.cfi_section = dwarf_getcfi_elf(elf->elf);
	*ret_scope = scope;
}

void probe_scope_close(struct probe_scope *scope)
{
	if (scope->cfi_section)
		dwarf_cfi_end(scope->cfi_section);
	*scope = (struct probe_scope){0};
}

static bool next_parameter(const struct probe_scope *scope, Dwarf_Die *die, bool first)
{
	int result = first ? dwarf_child((Dwarf_Die *)&scope->function, die) : dwarf_siblingof(die, die);

	while (result == 0 && dwarf_tag(die) != DW_TAG_formal_parameter)
		result = dwarf_siblingof(die, die);
	return result == 0;
}

const char *probe_scope_parameter(const struct probe_scope *scope, unsigned int n)
{
	Dwarf_Die die;
	bool there;

	if (!scope->found)
		return NULL;
	for (there = next_parameter(scope, &die, true); there && n > 0; n--)
		there = next_parameter(scope, &die, false);
	return there ? dwarf_diename(&die) : NULL;
}

/*
 * A single location relative to the frame, valid in the whole function, is typical of unoptimised
 * code.
 */
static bool is_in_frame(Dwarf_Die *parameter)
{
	Dwarf_Attribute attribute;
	Dwarf_Op *ops;
	size_t nr;

	if (!dwarf_attr_integrate(parameter, DW_AT_location, &attribute) ||
	    dwarf_whatform(&attribute) != DW_FORM_exprloc || dwarf_getlocation(&attribute, &ops, &nr) || !nr)
		return false;
	return ops[0].atom == DW_OP_fbreg || (ops[0].atom >= DW_OP_breg0 && ops[0].atom <= DW_OP_breg31);
}

uint64_t probe_scope_body(const struct probe_scope *scope)
{
	Dwarf_Addr *places = NULL, body = scope->address;
	Dwarf_Die parameter;

	if (!scope->found || !next_parameter(scope, &parameter, true) || !is_in_frame(&parameter))
		return body;
	if (dwarf_entry_breakpoints((Dwarf_Die *)&scope->function, &places) > 0 &&
	    dwarf_haspc((Dwarf_Die *)&scope->function, places[0]) > 0)
		body = places[0];
	free(places);
	return body;
}

/* In DWARF 5 file 0 is the unit's own source, as clang writes it; libdw treats 0 as no file. */
static const char *file_of(Dwarf_Die *die)
{
	const char *file = dwarf_decl_file(die);
	Dwarf_Attribute attribute;
	Dwarf_Files *files;
	Dwarf_Half version;
	Dwarf_Word idx;
	Dwarf_Die unit;
	size_t nr;

	if (file || !dwarf_attr_integrate(die, DW_AT_decl_file, &attribute) || dwarf_formudata(&attribute, &idx) || idx)
		return file;
	if (!dwarf_diecu(die, &unit, NULL, NULL) ||
	    dwarf_cu_info(unit.cu, &version, NULL, NULL, NULL, NULL, NULL, NULL) || version < 5)
		return NULL;
	return dwarf_getsrcfiles(&unit, &files, &nr) == 0 && nr ? dwarf_filesrc(files, 0, NULL, NULL) : NULL;
}

void probe_scope_source(const struct probe_scope *scope, char *text, size_t size)
{
	const char *file = scope->found ? file_of((Dwarf_Die *)&scope->function) : NULL, *slash;
	const char *name = scope->found ? dwarf_diename((Dwarf_Die *)&scope->function) : NULL;
	int line = 0;

	*text = '\0';
	if (!file || !name)
		return;
	dwarf_decl_line((Dwarf_Die *)&scope->function, &line);
	slash = strrchr(file, '/');
	snprintf(text, size, "%s:%d %s", slash ? slash + 1 : file, line, name);
}

/* ---- types ---- */

/* typedef, const and so on: the underlying type is used instead. */
static bool is_other_name(Dwarf_Die *type)
{
	static const int tags[] = {DW_TAG_typedef,	 DW_TAG_const_type,  DW_TAG_volatile_type,
				   DW_TAG_restrict_type, DW_TAG_atomic_type, DW_TAG_immutable_type,
				   DW_TAG_packed_type,	 DW_TAG_shared_type};
	int tag = dwarf_tag(type);

	for (size_t i = 0; i < sizeof(tags) / sizeof(tags[0]); i++)
		if (tag == tags[i])
			return true;
	return false;
}

/* Unlike libdw's dwarf_peel_type(), this ends for a typedef of itself. */
static bool type_of(Dwarf_Die *die, Dwarf_Die *ret_type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die type, next;

	for (unsigned int depth = 0; depth < MAX_DEPTH; depth++) {
		if (!dwarf_attr_integrate(die, DW_AT_type, &attribute) || !dwarf_formref_die(&attribute, &type))
			return false;
		if (!is_other_name(&type)) {
			*ret_type = type;
			return true;
		}
		next = type;
		die = &next;
	}
	return false;
}

static bool is_pointer(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

static bool is_reference(Dwarf_Die *type)
{
	return is_pointer(type) && dwarf_tag(type) != DW_TAG_pointer_type;
}

static bool is_struct(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

static bool unsigned_attribute(Dwarf_Die *die, unsigned int name, Dwarf_Word *ret_value)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, name, &attribute) && dwarf_formudata(&attribute, ret_value) == 0;
}

static unsigned int encoding_of(Dwarf_Die *type)
{
	Dwarf_Word encoding;

	return dwarf_tag(type) == DW_TAG_base_type && unsigned_attribute(type, DW_AT_encoding, &encoding)
		       ? (unsigned int)encoding
		       : 0;
}

static bool is_character(Dwarf_Die *type)
{
	unsigned int encoding = encoding_of(type);

	return dwarf_bytesize(type) == 1 && (encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char);
}

/* Dereference a pointer: from now on the location is that of its target. */
static int follow_pointer(struct dwarf_location *loc, Dwarf_Die *type, const char *what, struct trace_error *ret_error)
{
	int err = loc->in_memory ? location_add_load(loc, ret_error) : 0;
	Dwarf_Die target = {0};

	loc->in_memory = true;
	if (!err && !type_of(type, &target))
		return error_set(ret_error, -EINVAL, "%s is a void pointer: what it points to has no type", what);
	*type = target;
	return err;
}

/* ---- members ---- */

/**
 * struct member - a member at @offset of a struct
 * @bit, @bits: first bit and width of a bit field; 0 bits: not a bit field
 */
struct member {
	Dwarf_Die type;
	uint64_t offset;
	unsigned int bit;
	unsigned int bits;
};

static void bit_field(Dwarf_Die *die, struct member *member)
{
	Dwarf_Word bits, bit, bytes;

	if (!unsigned_attribute(die, DW_AT_bit_size, &bits) || !bits || bits > 64)
		return;
	if (unsigned_attribute(die, DW_AT_data_bit_offset, &bit)) {
		member->offset += bit / 8;
		member->bit = bit % 8;
	} else if (unsigned_attribute(die, DW_AT_bit_offset, &bit)) {
		/* DWARF 3: counted from the most significant bit of the type */
		bytes = unsigned_attribute(die, DW_AT_byte_size, &bytes) ? bytes
									 : (Dwarf_Word)dwarf_bytesize(&member->type);
		member->bit = (unsigned int)(8 * bytes - bit - bits);
	}
	member->bits = (unsigned int)bits;
}

static bool find_member(Dwarf_Die *type, const char *name, size_t chars, int depth, unsigned int *steps,
			struct member *ret_member)
{
	Dwarf_Die die, inner;
	int result = depth < 8 ? dwarf_child(type, &die) : 1;

	for (; result == 0 && ++*steps < MAX_MEMBERS; result = dwarf_siblingof(&die, &die)) {
		const char *here = dwarf_diename(&die);
		Dwarf_Word offset = 0;
		bool base = dwarf_tag(&die) == DW_TAG_inheritance;

		if ((dwarf_tag(&die) != DW_TAG_member && !base) || !type_of(&die, &inner))
			continue;
		unsigned_attribute(&die, DW_AT_data_member_location, &offset);
		if (here && strlen(here) == chars && !strncmp(here, name, chars)) {
			*ret_member = (struct member){.type = inner, .offset = offset};
			bit_field(&die, ret_member);
			return true;
		}
		if ((base || !here) && is_struct(&inner) &&
		    find_member(&inner, name, chars, depth + 1, steps, ret_member)) {
			ret_member->offset += offset;
			return true;
		}
	}
	return false;
}

static void list_members(Dwarf_Die *type, char *text, size_t size)
{
	Dwarf_Die die;
	size_t used = 0;
	int result = dwarf_child(type, &die), nr = 0;

	*text = '\0';
	for (; result == 0 && used + 64 < size; result = dwarf_siblingof(&die, &die)) {
		const char *name = dwarf_tag(&die) == DW_TAG_member ? dwarf_diename(&die) : NULL;

		if (name && strlen(name) < 48)
			used += (size_t)snprintf(text + used, size - used, "%s%s", nr++ ? ", " : "", name);
	}
}

/* ---- expressions: *order->items[2].id ---- */

/** struct dwarf_path - an expression so far. @bit, @bits: of a bit field */
struct dwarf_path {
	struct dwarf_location loc;
	Dwarf_Die type;
	unsigned int bit;
	unsigned int bits;
};

static int step_member(struct dwarf_path *path, const char *name, size_t chars, const char *whole,
		       struct trace_error *ret_error)
{
	struct member member;
	unsigned int steps = 0;
	char members[256];
	int err = 0;

	while (!err && is_pointer(&path->type))
		err = follow_pointer(&path->loc, &path->type, whole, ret_error);
	if (err)
		return err;
	if (!is_struct(&path->type))
		return error_set(ret_error, -EINVAL, "%s: the expression before %.*s is not a struct", whole,
				 (int)chars, name);
	if (!path->loc.in_memory)
		return error_set(ret_error, -ENOTSUP, "%s: the struct is in registers; name the register, %%di ...",
				 whole);
	if (!find_member(&path->type, name, chars, 0, &steps, &member)) {
		list_members(&path->type, members, sizeof(members));
		return error_set(ret_error, -EINVAL, "%s: there is no member %.*s; members: %s", whole, (int)chars,
				 name, *members ? members : "unknown here, the struct is only declared");
	}
	location_add_sum(&path->loc, member.offset);
	path->type = member.type;
	path->bit = member.bit;
	path->bits = member.bits;
	return 0;
}

#define SUM_MAX (INT64_MAX / 2) /* leaves room for the offsets of members */

static int step_index(struct dwarf_path *path, long index, const char *whole, struct trace_error *ret_error)
{
	Dwarf_Die element;
	Dwarf_Word bytes;
	int64_t distance;
	int err;

	if (dwarf_tag(&path->type) == DW_TAG_array_type && path->loc.in_memory) {
		if (!type_of(&path->type, &element))
			return error_set(ret_error, -EINVAL, "%s: the elements have no type", whole);
		path->type = element;
	} else if (is_pointer(&path->type)) {
		err = follow_pointer(&path->loc, &path->type, whole, ret_error);
		if (err)
			return err;
	} else {
		return error_set(ret_error, -EINVAL, "%s: the expression before [%ld] is neither array nor pointer",
				 whole, index);
	}
	if (dwarf_aggregate_size(&path->type, &bytes))
		return error_set(ret_error, -EINVAL, "%s: the size of the elements is not known", whole);
	if (bytes > INT_MAX || __builtin_mul_overflow(index, (int64_t)bytes, &distance) ||
	    __builtin_add_overflow(path->loc.sum, distance, &path->loc.sum) || path->loc.sum > SUM_MAX ||
	    path->loc.sum < -SUM_MAX)
		return error_set(ret_error, -EINVAL, "%s: the index [%ld] is too large", whole, index);
	return 0;
}

static int walk_path(struct dwarf_path *path, const char *at, const char *whole, struct trace_error *ret_error)
{
	int err = 0;

	while (!err && *at) {
		size_t chars;
		char *end;

		if (*at == '[') {
			int before = errno; /* probe_elf_end() asks for it */
			long index;

			errno = 0;
			index = strtol(at + 1, &end, 0);
			if (errno || *end != ']' || end == at + 1)
				return error_set(ret_error, -EINVAL, "%s: an index is a number in brackets", whole);
			errno = before;
			err = step_index(path, index, whole, ret_error);
			at = end + 1;
			continue;
		}
		if (strncmp(at, "->", 2) && *at != '.')
			return error_set(
				ret_error, -EINVAL,
				"%s: \"%s\" is not understood; variables go on with ->member, .member or [index]",
				whole, at);
		at += *at == '.' ? 1 : 2;
		chars = strcspn(at, "-.[");
		err = step_member(path, at, chars, whole, ret_error);
		at += chars;
	}
	return err;
}

/* ---- the recorded form ---- */

static void take_location(const struct dwarf_location *loc, struct probe_field *field)
{
	field->argument = loc->argument;
	field->argument.constant = 0;
	field->argument.offsets[field->argument.nr_loads] = loc->sum;
}

static int finish_number(struct dwarf_path *path, struct probe_field *field, const char *type,
			 struct trace_error *ret_error)
{
	int err = path->loc.in_memory ? location_add_load(&path->loc, ret_error) : 0,
	    bytes = dwarf_bytesize(&path->type);

	if (err)
		return err;
	if (path->bit > 64 - path->bits)
		return error_set(ret_error, -ENOTSUP,
				 "this bit field spans nine bytes, and a probe can load at most eight at once");
	take_location(&path->loc, field);
	field->source_bit = (uint8_t)path->bit;
	field->source_bits = (uint8_t)(path->bits		? path->bits
				       : bytes > 0 && bytes < 8 ? 8u * (unsigned int)bytes
								: 64);
	field->source_signed = (type[0] == 's' && strcmp(type, "string") != 0) ||
			       encoding_of(&path->type) == DW_ATE_signed_char;
	return probe_code_type(type, field, ret_error);
}

static int finish_base(struct dwarf_path *path, struct probe_field *field, const char *whole,
		       struct trace_error *ret_error)
{
	bool is_enum = dwarf_tag(&path->type) == DW_TAG_enumeration_type;
	Dwarf_Die number;
	unsigned int encoding = is_enum && type_of(&path->type, &number) ? encoding_of(&number)
									 : encoding_of(&path->type);
	int bytes = dwarf_bytesize(&path->type);
	bool is_signed = encoding == DW_ATE_signed || encoding == DW_ATE_signed_char || (is_enum && !encoding);
	char type[16];

	if (bytes != 1 && bytes != 2 && bytes != 4 && bytes != 8)
		return error_set(ret_error, -ENOTSUP, "%s has %d bytes: numbers of 1, 2, 4 and 8 bytes can be recorded",
				 whole, bytes);
	snprintf(type, sizeof(type), "%c%d", encoding == DW_ATE_float ? 'f' : is_signed ? 's' : 'u', 8 * bytes);
	if (encoding == DW_ATE_boolean)
		snprintf(type, sizeof(type), "bool");
	else if (is_character(&path->type) && dwarf_diename(&path->type) && !strcmp(dwarf_diename(&path->type), "char"))
		snprintf(type, sizeof(type), "char");
	return finish_number(path, field, type, ret_error);
}

static bool is_text_pointer(Dwarf_Die *type)
{
	Dwarf_Die target;

	return dwarf_tag(type) == DW_TAG_pointer_type && type_of(type, &target) && is_character(&target);
}

/* An array of characters becomes a string; others are recorded as bytes. */
static int finish_array(struct dwarf_path *path, struct probe_field *field, const char *whole,
			struct trace_error *ret_error)
{
	Dwarf_Die element;
	Dwarf_Word bytes;
	char type[24];

	if (!path->loc.in_memory || !type_of(&path->type, &element) || dwarf_aggregate_size(&path->type, &bytes) ||
	    !bytes)
		return error_set(ret_error, -EINVAL, "%s: the size of the array is not known; name an element: %s[0]",
				 whole, whole);
	if (bytes > TRACE_PROBE_MAX_STRING_BYTES)
		bytes = TRACE_PROBE_MAX_STRING_BYTES;
	take_location(&path->loc, field);
	snprintf(type, sizeof(type), "%s[%u]", is_character(&element) ? "string" : "bytes", (unsigned int)bytes);
	return probe_code_type(type, field, ret_error);
}

static int finish(struct dwarf_path *path, struct probe_field *field, const char *whole, unsigned int depth,
		  struct trace_error *ret_error)
{
	char members[256];
	int err = 0;

	while (!err && is_reference(&path->type))
		err = follow_pointer(&path->loc, &path->type, whole, ret_error);
	if (err)
		return err;
	if (is_struct(&path->type)) {
		const char *name = dwarf_diename(&path->type);

		if (name && !strncmp(name, "basic_string<char", 17) && depth == 0) /* the string of the C++ library */
			return walk_path(path, "._M_dataplus._M_p", whole, ret_error)
				       ?: finish(path, field, whole, depth + 1, ret_error);
		list_members(&path->type, members, sizeof(members));
		return error_set(ret_error, -EINVAL, "%s is a struct; name a member: %s", whole,
				 *members ? members : "(none is known here)");
	}
	if (dwarf_tag(&path->type) == DW_TAG_array_type)
		return finish_array(path, field, whole, ret_error);
	if (is_text_pointer(&path->type))
		return finish_number(path, field, "string", ret_error);
	if (is_pointer(&path->type) || dwarf_tag(&path->type) == DW_TAG_ptr_to_member_type)
		return finish_number(path, field, "ptr", ret_error);
	return finish_base(path, field, whole, ret_error);
}

/* ---- variables ---- */

/* Queries come unit by unit, so the last result is cached. */
static bool unit_is_shallow(struct probe_scope *scope)
{
	struct probe_elf *elf = scope->elf;

	if (elf->unit_looked_at != scope->unit.addr)
		elf->unit_is_shallow = is_shallow(&scope->unit);
	elf->unit_looked_at = scope->unit.addr;
	return elf->unit_is_shallow;
}

static bool find_variable(struct probe_scope *scope, const char *name, Dwarf_Die *ret_die)
{
	Dwarf_Die *scopes = NULL, parameter;
	int nr = unit_is_shallow(scope) ? dwarf_getscopes(&scope->unit, scope->address, &scopes) : 0, found;
	bool there;

	found = nr > 0 ? dwarf_getscopevar(scopes, nr, name, 0, NULL, 0, 0, ret_die) : -1;
	free(scopes);
	if (found >= 0)
		return true;
	for (there = next_parameter(scope, &parameter, true); there; there = next_parameter(scope, &parameter, false))
		if (dwarf_diename(&parameter) && !strcmp(dwarf_diename(&parameter), name)) {
			*ret_die = parameter;
			return true;
		}
	return false;
}

static int unknown_variable(struct probe_scope *scope, const char *name, struct trace_error *ret_error)
{
	char names[256] = "";
	const char *parameter;
	size_t used = 0;

	for (unsigned int n = 0; (parameter = probe_scope_parameter(scope, n)) && used + 64 < sizeof(names); n++)
		if (strlen(parameter) < 48)
			used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", n ? ", " : "", parameter);
	return error_set(ret_error, -EINVAL, "%s: there is no such variable at this place; parameters of %s: %s", name,
			 dwarf_diename(&scope->function) ?: "the function", *names ? names : "none");
}

/* Prefix the error with the variable's name. */
static int prefix_error(const char *expression, int err, struct trace_error *ret_error)
{
	char reason[sizeof(ret_error->message)];

	if (!err || !ret_error || strstr(ret_error->message, expression) == ret_error->message)
		return err;
	snprintf(reason, sizeof(reason), "%s", ret_error->message);
	return error_set(ret_error, err, "%s: %.*s", expression, (int)sizeof(reason) - TRACE_PROBE_NAME_BYTES, reason);
}

int probe_scope_variable(struct probe_scope *scope, const char *expression, struct probe_field *ret_field,
			 struct trace_error *ret_error)
{
	size_t stars = strspn(expression, "*"), chars = strcspn(expression + stars, "-.[");
	struct dwarf_path path = {0};
	Dwarf_Die variable;
	char name[TRACE_PROBE_NAME_BYTES];
	int err;

	snprintf(name, sizeof(name), "%.*s", (int)chars, expression + stars);
	if (!find_variable(scope, name, &variable))
		return unknown_variable(scope, name, ret_error);
	if (!type_of(&variable, &path.type))
		return error_set(ret_error, -EINVAL, "%s has no type in the debug information", name);
	err = location_of_variable(scope, &variable, &path.loc, ret_error);
	if (!err)
		err = walk_path(&path, expression + stars + chars, expression, ret_error);
	for (; !err && stars; stars--)
		err = is_pointer(&path.type)
			      ? follow_pointer(&path.loc, &path.type, expression, ret_error)
			      : error_set(ret_error, -EINVAL, "%s: the operand of * is not a pointer", expression);
	*ret_field = (struct probe_field){.kind = TRACE_KIND_DEC};
	if (!err)
		err = finish(&path, ret_field, expression, 0, ret_error);
	return prefix_error(expression, err, ret_error);
}

int probe_scope_result(struct probe_scope *scope, struct probe_field *field, struct trace_error *ret_error)
{
	struct dwarf_path path = {0};
	struct probe_field result = {.kind = TRACE_KIND_DEC};

	if (!scope->found || !type_of(&scope->function, &path.type))
		return 0;
	if (encoding_of(&path.type) == DW_ATE_float)
		return error_set(ret_error, -ENOTSUP,
				 "$retval: the result of %s is a floating point number in a vector register, which the "
				 "kernel does not hand to probes",
				 dwarf_diename(&scope->function));
	if (is_struct(&path.type) || dwarf_tag(&path.type) == DW_TAG_array_type || is_reference(&path.type))
		return 0; /* the register has its address, or a part of it */
	path.loc.argument = field->argument;
	if (finish(&path, &result, "$retval", 0, ret_error))
		return -EINVAL;
	*field = result;
	return 0;
}
