/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "unwind_cfi.h"

#include <dwarf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include "unwind_table.h"

#define REG_RCX	   2
#define REG_RBX	   3
#define REG_RDI	   5
#define REG_RBP	   6
#define REG_RSP	   7
#define REG_RIP	   16
#define MAX_STATES 32
#define NO_CIE	   UINT32_MAX

/* ---- reading ---- */

/** struct cfi_reader - @failed: it would have read behind the end */
struct cfi_reader {
	const unsigned char *at, *end;
	bool failed;
};

static uint64_t take(struct cfi_reader *reader, size_t bytes)
{
	uint64_t value = 0;

	if ((size_t)(reader->end - reader->at) < bytes) {
		reader->failed = true;
		reader->at = reader->end;
		return 0;
	}
	memcpy(&value, reader->at, bytes);
	reader->at += bytes;
	return value;
}

static uint64_t take_uleb(struct cfi_reader *reader)
{
	uint64_t value = 0;
	unsigned int shift = 0;
	uint64_t byte;

	do {
		byte = take(reader, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && !reader->failed);
	return value;
}

static int64_t take_sleb(struct cfi_reader *reader)
{
	uint64_t value = 0, byte;
	unsigned int shift = 0;

	do {
		byte = take(reader, 1);
		if (shift < 64)
			value |= (byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && !reader->failed);
	if (shift < 64 && (byte & 0x40))
		value |= ~0ull << shift;
	return (int64_t)value;
}

static void skip(struct cfi_reader *reader, uint64_t bytes)
{
	if (bytes > (size_t)(reader->end - reader->at)) {
		reader->failed = true;
		bytes = (size_t)(reader->end - reader->at);
	}
	reader->at += bytes;
}

static struct cfi_reader reader_at(const struct unwind_elf *elf, uint64_t from, uint64_t to)
{
	return (struct cfi_reader){.at = elf->frames + from, .end = elf->frames + to};
}

/* An encoded pointer of .eh_frame; an encoding that is not known fails. */
static uint64_t take_pointer(struct cfi_reader *reader, unsigned int encoding, const struct unwind_elf *elf)
{
	uint64_t address = elf->frames_address + (uint64_t)(reader->at - elf->frames), value = 0;

	switch (encoding & 0x0f) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		value = take(reader, 8);
		break;
	case DW_EH_PE_udata4:
		value = take(reader, 4);
		break;
	case DW_EH_PE_sdata4:
		value = (uint64_t)(int64_t)(int32_t)take(reader, 4);
		break;
	case DW_EH_PE_udata2:
		value = take(reader, 2);
		break;
	case DW_EH_PE_sdata2:
		value = (uint64_t)(int64_t)(int16_t)take(reader, 2);
		break;
	default:
		reader->failed = true;
	}
	if ((encoding & 0x70) == DW_EH_PE_pcrel)
		value += address;
	else if (encoding & 0x70)
		reader->failed = true;
	return value;
}

/* ---- entries ---- */

/** struct cie - @instructions, @end: places in .eh_frame. @has_data: its FDEs have data, too */
struct cie {
	uint64_t code_factor;
	int64_t data_factor;
	uint32_t instructions, end;
	unsigned int encoding;
	bool has_data;
};

/* The bytes of the entry at @at behind its length; false: the end, or damaged. */
static bool entry_at(const struct unwind_elf *elf, uint64_t at, uint64_t *ret_body, uint64_t *ret_end)
{
	uint32_t bytes;

	if (at > elf->frames_bytes || elf->frames_bytes - at < sizeof(bytes))
		return false;
	memcpy(&bytes, elf->frames + at, sizeof(bytes));
	if (bytes > elf->frames_bytes - at - sizeof(bytes)) /* also the mark of lengths of 64 bits */
		return false;
	*ret_body = at + sizeof(bytes);
	*ret_end = *ret_body + bytes;
	return true;
}

/* The letters behind 'z' describe the data. */
static bool take_augmentation(struct cfi_reader *reader, const char *letters, struct cie *cie,
			      const struct unwind_elf *elf)
{
	for (; *letters && !reader->failed; letters++) {
		if (*letters == 'R')
			cie->encoding = (unsigned int)take(reader, 1);
		else if (*letters == 'L')
			take(reader, 1);
		else if (*letters == 'P')
			take_pointer(reader, (unsigned int)take(reader, 1) & 0x0f, elf);
		else if (*letters != 'S' && *letters != 'B')
			return false;
	}
	return !reader->failed;
}

static bool read_cie(const struct unwind_elf *elf, uint64_t at, struct cie *ret_cie)
{
	struct cie cie = {.encoding = DW_EH_PE_absptr};
	uint64_t body, end, version, data_bytes;
	struct cfi_reader reader, data;
	const char *letters;

	if (!entry_at(elf, at, &body, &end))
		return false;
	reader = reader_at(elf, body, end);
	if (take(&reader, 4) != 0)
		return false;
	version = take(&reader, 1);
	letters = (const char *)reader.at;
	skip(&reader, strnlen(letters, (size_t)(reader.end - reader.at)) + 1);
	cie.code_factor = take_uleb(&reader);
	cie.data_factor = take_sleb(&reader);
	if ((version == 1 ? take(&reader, 1) : take_uleb(&reader)) != REG_RIP || (version != 1 && version != 3) ||
	    reader.failed)
		return false;
	if (*letters == 'z') {
		data_bytes = take_uleb(&reader);
		data = reader;
		skip(&reader, data_bytes);
		data.end = reader.at;
		cie.has_data = true;
		if (!take_augmentation(&data, letters + 1, &cie, elf))
			return false;
	} else if (*letters) {
		return false;
	}
	cie.instructions = (uint32_t)(reader.at - elf->frames);
	cie.end = (uint32_t)end;
	*ret_cie = cie;
	return !reader.failed;
}

/** struct cfi_listing - @cie, @cie_at: the last one that was read; NO_CIE: none */
struct cfi_listing {
	const struct unwind_elf *elf;
	struct unwind_functions *functions;
	struct cie cie;
	uint32_t cie_at;
};

static int add_function(struct unwind_functions *functions, const struct unwind_function *function)
{
	uint32_t room = functions->room ? 2 * functions->room : 1024;
	struct unwind_function *bigger;

	if (functions->nr == UNWIND_MAX_FUNCTIONS)
		return -E2BIG;
	if (functions->nr == functions->room) {
		bigger = reallocarray(functions->list, room, sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		functions->list = bigger;
		functions->room = room;
	}
	functions->list[functions->nr++] = *function;
	return 0;
}

static int take_entry(struct cfi_listing *listing, uint64_t body, uint64_t end)
{
	const struct unwind_elf *elf = listing->elf;
	struct cfi_reader reader = reader_at(elf, body, end);
	uint64_t distance = take(&reader, 4);
	struct unwind_function function = {.end = (uint32_t)end};

	if (reader.failed || !distance || distance > body)
		return 0; /* a CIE, or damaged */
	function.cie = (uint32_t)(body - distance);
	if (function.cie != listing->cie_at) {
		listing->cie_at = NO_CIE;
		if (!read_cie(elf, function.cie, &listing->cie))
			return 0;
		listing->cie_at = function.cie;
	}
	function.address = take_pointer(&reader, listing->cie.encoding, elf);
	function.bytes = take_pointer(&reader, listing->cie.encoding & 0x0f, elf);
	if (listing->cie.has_data)
		skip(&reader, take_uleb(&reader));
	function.instructions = (uint32_t)(reader.at - elf->frames);
	return reader.failed ? 0 : add_function(listing->functions, &function);
}

static int by_address(const void *left, const void *right)
{
	const struct unwind_function *l = left, *r = right;

	return (l->address > r->address) - (l->address < r->address);
}

int unwind_cfi_list(const struct unwind_elf *elf, struct unwind_functions *ret_functions)
{
	struct unwind_functions functions = {0};
	struct cfi_listing listing = {.elf = elf, .functions = &functions, .cie_at = NO_CIE};
	uint64_t at = 0, body, end;
	int result = 0;

	for (; !result && entry_at(elf, at, &body, &end); at = end)
		if (end > body)
			result = take_entry(&listing, body, end);
	if (result) {
		unwind_functions_free(&functions);
		return result;
	}
	if (functions.nr)
		qsort(functions.list, functions.nr, sizeof(*functions.list), by_address);
	*ret_functions = functions;
	return 0;
}

void unwind_functions_free(struct unwind_functions *functions)
{
	free(functions->list);
	*functions = (struct unwind_functions){0};
}

/* ---- instructions ---- */

enum return_rule { RETURN_AT_CFA, RETURN_UNDEFINED, RETURN_IN_RDI, RETURN_IN_RCX, RETURN_ELSEWHERE };
enum rbp_rule { RBP_SAME, RBP_AT_CFA, RBP_AT_RBP, RBP_ELSEWHERE };
enum rbx_rule { RBX_SAME, RBX_AT_CFA, RBX_ELSEWHERE };

/**
 * struct state - @rule: of the CFA. @cfa: its number, in bytes
 * @rbp, @rbx: distances from the CFA
 */
struct state {
	enum unwind_rule rule;
	int64_t cfa;
	int64_t rbp, rbx;
	enum rbp_rule rbp_rule;
	enum rbx_rule rbx_rule;
	enum return_rule return_rule;
};

/** struct run - @initial: the state that the CIE describes; @nr_states: remembered */
struct run {
	const struct cie *cie;
	struct state state, initial;
	struct state states[MAX_STATES];
	unsigned int nr_states;
	uint64_t address;
	unwind_row_fn fn; /* NULL: the CIE runs */
	void *context;
};

static struct unwind_row unsupported(void)
{
	return (struct unwind_row){.rule = UNWIND_UNSUPPORTED};
}

static bool rbp_of(const struct state *state, signed char *ret_rbp)
{
	*ret_rbp = 0;
	switch (state->rbp_rule) {
	case RBP_SAME:
		return true;
	case RBP_AT_CFA:
		*ret_rbp = (signed char)(state->rbp / 8);
		return state->rbp % 8 == 0 && state->rbp < 0 && state->rbp / 8 >= INT8_MIN;
	case RBP_AT_RBP:
		*ret_rbp = -1;
		return state->rule == UNWIND_RBP_POINTER;
	default:
		return false;
	}
}

static unsigned char rbx_of(const struct state *state)
{
	if (state->rbx_rule == RBX_SAME)
		return UNWIND_RBX_SAME;
	if (state->rbx_rule == RBX_AT_CFA && state->rbx % 8 == 0 && state->rbx / 8 <= -2 &&
	    state->rbx / 8 >= -1 - UNWIND_RBX_MAX)
		return (unsigned char)(-state->rbx / 8 - 1);
	return UNWIND_RBX_LOST;
}

static bool is_in_register(const struct state *state)
{
	return state->return_rule == RETURN_IN_RDI || state->return_rule == RETURN_IN_RCX;
}

static struct unwind_row row_of(const struct state *state)
{
	struct unwind_row row = {.rule = (unsigned char)(state->rule & 15), .rbx = rbx_of(state) & 15};

	if (state->return_rule == RETURN_UNDEFINED)
		return (struct unwind_row){.rule = UNWIND_END};
	if (state->rule == UNWIND_SIGNAL)
		return (struct unwind_row){.rule = UNWIND_SIGNAL};
	if (state->return_rule == RETURN_ELSEWHERE || state->rule == UNWIND_UNSUPPORTED || !rbp_of(state, &row.rbp) ||
	    (state->rule == UNWIND_RBP_POINTER && state->rbp_rule == RBP_AT_CFA))
		return unsupported();
	row.cfa = (unsigned short)state->cfa;
	if (state->rule == UNWIND_PLT)
		return is_in_register(state) ? unsupported() : row;
	if (state->cfa < 0 || state->cfa % 8 || state->cfa / 8 > UINT16_MAX)
		return unsupported();
	row.cfa = (unsigned short)(state->cfa / 8);
	if (is_in_register(state)) {
		if (state->rule != UNWIND_RSP || state->rbp_rule != RBP_SAME)
			return unsupported();
		row.rule = state->return_rule == RETURN_IN_RDI ? UNWIND_RDI : UNWIND_TO_RCX;
	}
	return row;
}

static void put_row(struct run *run)
{
	if (run->fn)
		run->fn(run->context, run->address, row_of(&run->state));
}

static void advance(struct run *run, uint64_t delta)
{
	put_row(run);
	run->address += delta * run->cie->code_factor;
}

static void set_register(struct state *state, uint64_t number)
{
	state->rule = number == REG_RSP	  ? UNWIND_RSP
		      : number == REG_RBP ? UNWIND_RBP
		      : number == REG_RBX ? UNWIND_RBX
		      : number == REG_RCX ? UNWIND_RCX
					  : UNWIND_UNSUPPORTED;
}

/* The register is at CFA + @offset. */
static void set_saved(struct state *state, uint64_t number, int64_t offset)
{
	if (number == REG_RBP) {
		state->rbp_rule = RBP_AT_CFA;
		state->rbp = offset;
	} else if (number == REG_RBX) {
		state->rbx_rule = RBX_AT_CFA;
		state->rbx = offset;
	} else if (number == REG_RIP) {
		state->return_rule = offset == -8 ? RETURN_AT_CFA : RETURN_ELSEWHERE;
	}
}

static void restore(struct run *run, uint64_t number)
{
	if (number == REG_RBP) {
		run->state.rbp_rule = run->initial.rbp_rule;
		run->state.rbp = run->initial.rbp;
	} else if (number == REG_RBX) {
		run->state.rbx_rule = run->initial.rbx_rule;
		run->state.rbx = run->initial.rbx;
	} else if (number == REG_RIP) {
		run->state.return_rule = run->initial.return_rule;
	}
}

static void set_elsewhere(struct state *state, uint64_t number)
{
	if (number == REG_RBP)
		state->rbp_rule = RBP_ELSEWHERE;
	else if (number == REG_RBX)
		state->rbx_rule = RBX_ELSEWHERE;
	else if (number == REG_RIP)
		state->return_rule = RETURN_ELSEWHERE;
}

/* rsp + 8 + ((rip & 15) >= N) * 8: the stubs of the linker */
static bool is_plt(const unsigned char *code, uint64_t bytes, int64_t *ret_from)
{
	static const unsigned char before[] = {DW_OP_breg7, 8, DW_OP_breg16, 0, DW_OP_lit15, DW_OP_and},
				   after[] = {DW_OP_ge, DW_OP_lit3, DW_OP_shl, DW_OP_plus};

	if (bytes != sizeof(before) + 1 + sizeof(after) || memcmp(code, before, sizeof(before)) ||
	    memcmp(code + sizeof(before) + 1, after, sizeof(after)) || code[sizeof(before)] < DW_OP_lit0 ||
	    code[sizeof(before)] > DW_OP_lit15)
		return false;
	*ret_from = code[sizeof(before)] - DW_OP_lit0;
	return true;
}

static void set_cfa_expression(struct state *state, const unsigned char *code, uint64_t bytes)
{
	struct cfi_reader reader = {.at = code, .end = code + bytes};
	uint64_t op;
	int64_t offset;

	state->rule = UNWIND_UNSUPPORTED;
	if (is_plt(code, bytes, &state->cfa)) {
		state->rule = UNWIND_PLT;
		return;
	}
	op = take(&reader, 1);
	offset = take_sleb(&reader);
	if ((op != DW_OP_breg6 && op != DW_OP_breg7) || take(&reader, 1) != DW_OP_deref || reader.failed)
		return;
	if (reader.at == reader.end) {
		state->rule = op == DW_OP_breg6		    ? UNWIND_RBP_POINTER
			      : offset == UNWIND_SIGNAL_RSP ? UNWIND_SIGNAL
							    : UNWIND_UNSUPPORTED;
		state->cfa = -offset;
	} else if (op == DW_OP_breg7 && take(&reader, 1) == DW_OP_plus_uconst && take_uleb(&reader) == 8 &&
		   !reader.failed && reader.at == reader.end) {
		state->rule = UNWIND_RSP_POINTER;
		state->cfa = offset;
	}
}

static void set_expression(struct state *state, uint64_t number, const unsigned char *code, uint64_t bytes)
{
	static const unsigned char at_rbp[] = {DW_OP_breg6, 0};

	set_elsewhere(state, number);
	if (number == REG_RBP && bytes == sizeof(at_rbp) && !memcmp(code, at_rbp, sizeof(at_rbp)))
		state->rbp_rule = RBP_AT_RBP;
}

/* The code of an expression, which @reader skips. */
static const unsigned char *take_block(struct cfi_reader *reader, uint64_t *ret_bytes)
{
	const unsigned char *code;

	*ret_bytes = take_uleb(reader);
	code = reader->at;
	skip(reader, *ret_bytes);
	if (reader->failed)
		*ret_bytes = 0;
	return code;
}

/* The instructions whose operation is in the upper two bits of the byte; false: it is another. */
static bool run_short(struct run *run, struct cfi_reader *reader, unsigned int op)
{
	switch (op & 0xc0) {
	case DW_CFA_advance_loc:
		advance(run, op & 0x3f);
		return true;
	case DW_CFA_offset:
		set_saved(&run->state, op & 0x3f, (int64_t)take_uleb(reader) * run->cie->data_factor);
		return true;
	case DW_CFA_restore:
		restore(run, op & 0x3f);
		return true;
	default:
		return false;
	}
}

/* Instructions about the CFA and the remembered states; false: it is another, or impossible. */
static bool run_cfa(struct run *run, struct cfi_reader *reader, unsigned int op)
{
	struct state *state = &run->state;
	const unsigned char *code;
	uint64_t bytes;

	switch (op) {
	case DW_CFA_def_cfa:
		set_register(state, take_uleb(reader));
		state->cfa = (int64_t)take_uleb(reader);
		return true;
	case DW_CFA_def_cfa_sf:
		set_register(state, take_uleb(reader));
		state->cfa = take_sleb(reader) * run->cie->data_factor;
		return true;
	case DW_CFA_def_cfa_register:
		set_register(state, take_uleb(reader));
		return true;
	case DW_CFA_def_cfa_offset:
		state->cfa = (int64_t)take_uleb(reader);
		return true;
	case DW_CFA_def_cfa_offset_sf:
		state->cfa = take_sleb(reader) * run->cie->data_factor;
		return true;
	case DW_CFA_def_cfa_expression:
		code = take_block(reader, &bytes);
		set_cfa_expression(state, code, bytes);
		return true;
	case DW_CFA_remember_state:
		if (run->nr_states == MAX_STATES)
			return false;
		run->states[run->nr_states++] = *state;
		return true;
	case DW_CFA_restore_state:
		if (!run->nr_states)
			return false;
		*state = run->states[--run->nr_states];
		return true;
	default:
		return false;
	}
}

/* Instructions about registers; false: it is another. */
static bool run_register(struct run *run, struct cfi_reader *reader, unsigned int op)
{
	struct state *state = &run->state;
	const unsigned char *code;
	uint64_t number = 0, other, bytes;

	if (op != DW_CFA_nop && op != DW_CFA_GNU_window_save && op != DW_CFA_GNU_args_size)
		number = take_uleb(reader);
	switch (op) {
	case DW_CFA_offset_extended:
		set_saved(state, number, (int64_t)take_uleb(reader) * run->cie->data_factor);
		return true;
	case DW_CFA_offset_extended_sf:
		set_saved(state, number, take_sleb(reader) * run->cie->data_factor);
		return true;
	case DW_CFA_restore_extended:
		restore(run, number);
		return true;
	case DW_CFA_undefined:
		if (number == REG_RIP)
			state->return_rule = RETURN_UNDEFINED;
		return true;
	case DW_CFA_same_value:
		set_elsewhere(state, number);
		if (number == REG_RBP)
			state->rbp_rule = RBP_SAME;
		else if (number == REG_RBX)
			state->rbx_rule = RBX_SAME;
		return true;
	case DW_CFA_register:
		set_elsewhere(state, number);
		other = take_uleb(reader);
		if (number == REG_RIP && (other == REG_RDI || other == REG_RCX))
			state->return_rule = other == REG_RDI ? RETURN_IN_RDI : RETURN_IN_RCX;
		return true;
	case DW_CFA_val_offset:
	case DW_CFA_val_offset_sf:
		take_uleb(reader);
		set_elsewhere(state, number);
		return true;
	case DW_CFA_expression:
		code = take_block(reader, &bytes);
		set_expression(state, number, code, bytes);
		return true;
	case DW_CFA_val_expression:
		take_block(reader, &bytes);
		set_elsewhere(state, number);
		return true;
	case DW_CFA_GNU_args_size:
		take_uleb(reader);
		return true;
	case DW_CFA_nop:
		return true;
	default:
		return false;
	}
}

static bool run_one(struct run *run, struct cfi_reader *reader)
{
	unsigned int op = (unsigned int)take(reader, 1);

	if (op & 0xc0)
		return run_short(run, reader, op);
	switch (op) {
	case DW_CFA_advance_loc1:
		advance(run, take(reader, 1));
		return true;
	case DW_CFA_advance_loc2:
		advance(run, take(reader, 2));
		return true;
	case DW_CFA_advance_loc4:
		advance(run, take(reader, 4));
		return true;
	default:
		return (op >= DW_CFA_def_cfa && op <= DW_CFA_def_cfa_offset) || op == DW_CFA_def_cfa_expression ||
				       op == DW_CFA_def_cfa_sf || op == DW_CFA_def_cfa_offset_sf ||
				       op == DW_CFA_remember_state || op == DW_CFA_restore_state
			       ? run_cfa(run, reader, op)
			       : run_register(run, reader, op);
	}
}

/* Returns false at an instruction that is damaged or not known. */
static bool run_all(struct run *run, struct cfi_reader reader)
{
	while (reader.at < reader.end)
		if (!run_one(run, &reader) || reader.failed)
			return false;
	return true;
}

void unwind_cfi_run(const struct unwind_elf *elf, const struct unwind_function *function, unwind_row_fn fn,
		    void *context)
{
	struct cie cie;
	struct run run = {.cie = &cie, .address = function->address};

	run.state = (struct state){.rule = UNWIND_UNSUPPORTED, .return_rule = RETURN_ELSEWHERE};
	if (!read_cie(elf, function->cie, &cie) || !run_all(&run, reader_at(elf, cie.instructions, cie.end))) {
		fn(context, function->address, unsupported());
		return;
	}
	run.initial = run.state;
	run.nr_states = 0;
	run.fn = fn;
	run.context = context;
	if (run_all(&run, reader_at(elf, function->instructions, function->end)))
		put_row(&run);
	else
		fn(context, run.address, unsupported());
}
