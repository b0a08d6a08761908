/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_sdt.c - static probes of <sys/sdt.h>: a nop in the code, and a note with its address and
 * its arguments.
 *
 * A note (owner "stapsdt", type 3) has three addresses: of the probe, of section .stapsdt.base at
 * link time, and of the semaphore or 0. Three strings follow: provider, name, arguments. If prelink
 * has moved the file since, .stapsdt.base has moved by the same distance.
 *
 * An argument is SIZE@OPERAND in assembler syntax; SIZE is negative for signed values:
 *
 *     -4@%eax 8@$5 -8@-16(%rbp) 4@8(%rax,%rdx,4) 8@counter(%rip)
 */
#include "probe_sdt.h"

#include <stdbool.h>
#include <stdint.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"
#include "probe_code.h"
#include "probe_elf.h"

#define SDT_NOTE_TYPE 3

/* ---- notes ---- */

static uint64_t section_address(Elf *elf, const char *name)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	size_t names;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		const char *here = gelf_getshdr(section, &header) ? elf_strptr(elf, names, header.sh_name) : NULL;

		if (here && !strcmp(here, name))
			return header.sh_addr;
	}
	return 0;
}

/* The next string of a note; NULL when it is not terminated. */
static const char *next_string(const char **at, const char *end)
{
	const char *text = *at, *nul = text < end ? memchr(text, 0, (size_t)(end - text)) : NULL;

	*at = nul ? nul + 1 : end;
	return nul ? text : NULL;
}

static int visit_note(const char *at, size_t bytes, uint64_t base, probe_sdt_fn visit, void *context)
{
	const char *end = at + bytes;
	struct probe_sdt sdt = {0};
	uint64_t addresses[3];

	if (bytes < sizeof(addresses))
		return 0;
	memcpy(addresses, at, sizeof(addresses));
	at += sizeof(addresses);
	sdt.provider = next_string(&at, end);
	sdt.name = next_string(&at, end);
	sdt.arguments = next_string(&at, end);
	if (!sdt.provider || !sdt.name || !sdt.arguments)
		return 0;
	sdt.address = addresses[0] + (base ? base - addresses[1] : 0);
	sdt.semaphore = addresses[2] ? addresses[2] + (base ? base - addresses[1] : 0) : 0;
	return visit(context, &sdt);
}

static int visit_notes(Elf_Data *data, uint64_t base, probe_sdt_fn visit, void *context)
{
	size_t at = 0, name, contents;
	GElf_Nhdr note;
	int result = 0;

	while (!result && (at = gelf_getnote(data, at, &note, &name, &contents)) > 0)
		if (note.n_type == SDT_NOTE_TYPE && note.n_namesz == sizeof("stapsdt") &&
		    !memcmp((const char *)data->d_buf + name, "stapsdt", sizeof("stapsdt")))
			result = visit_note((const char *)data->d_buf + contents, note.n_descsz, base, visit, context);
	return result;
}

int probe_sdt_each(struct probe_elf *elf, probe_sdt_fn visit, void *context)
{
	uint64_t base = section_address(elf->elf, ".stapsdt.base");
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	int result = 0;

	while (!result && (section = elf_nextscn(elf->elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || header.sh_type != SHT_NOTE)
			continue;
		data = elf_getdata(section, NULL);
		if (data)
			result = visit_notes(data, base, visit, context);
	}
	return result;
}

/* ---- arguments ---- */

struct operand {
	const char *begin;
	const char *end;
};

static int bad_operand(const struct operand *operand, struct trace_error *ret_error)
{
	return error_set(ret_error, -EINVAL, "an argument of the probe has the unknown operand \"%.*s\"",
			 (int)(operand->end - operand->begin), operand->begin);
}

static bool find_symbol(Elf *elf, const char *name, size_t chars, uint64_t *ret_address)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;
	GElf_Sym entry;

	while ((section = elf_nextscn(elf, section))) {
		Elf_Data *data;

		if (!gelf_getshdr(section, &header) || (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) ||
		    !header.sh_entsize)
			continue;
		data = elf_getdata(section, NULL);
		for (size_t i = 0; data && i < header.sh_size / header.sh_entsize; i++) {
			const char *here = gelf_getsym(data, (int)i, &entry)
						   ? elf_strptr(elf, header.sh_link, entry.st_name)
						   : NULL;

			if (here && !strncmp(here, name, chars) && !here[chars] && entry.st_shndx != SHN_UNDEF) {
				*ret_address = entry.st_value;
				return true;
			}
		}
	}
	return false;
}

/*
 * DISPLACEMENT is a number, a symbol, or a symbol and numbers: 8, -16, counter, counter+8,
 * 4+counter.
 */
static int parse_displacement(struct probe_elf *elf, const struct operand *operand, const char *end, int64_t *ret_value,
			      bool *ret_symbol, struct trace_error *ret_error)
{
	const char *at = operand->begin;
	uint64_t address;
	char *rest;

	*ret_value = 0;
	*ret_symbol = false;
	while (at < end) {
		int sign = *at == '-' ? -1 : 1;
		size_t chars;

		at += *at == '+' || *at == '-';
		if (isdigit((unsigned char)*at)) {
			*ret_value = (int64_t)((uint64_t)*ret_value + (uint64_t)sign * strtoull(at, &rest, 0));
			if (rest == at || rest > end)
				return bad_operand(operand, ret_error);
			at = rest;
			continue;
		}
		chars = strcspn(at, "+-( \t");
		if (!chars || at + chars > end || *ret_symbol)
			return bad_operand(operand, ret_error);
		if (!elf ||
		    !(find_symbol(elf->elf, at, chars, &address) || find_symbol(elf->debug, at, chars, &address)))
			return error_set(ret_error, -ENOTSUP,
					 "an argument of the probe is the variable %.*s, which has no symbol: is the "
					 "file stripped?",
					 (int)chars, at);
		*ret_value = (int64_t)((uint64_t)*ret_value + address);
		*ret_symbol = true;
		at += chars;
	}
	return 0;
}

static int take_register(const char **at, const char *end, int *ret_word)
{
	size_t chars = 0;
	int bytes;

	if (*at >= end || **at != '%')
		return -EINVAL;
	while (*at + 1 + chars < end && isalnum((unsigned char)(*at)[1 + chars]))
		chars++;
	*ret_word = probe_register(*at + 1, chars, &bytes);
	*at += 1 + chars;
	return *ret_word < 0 ? -EINVAL : 0;
}

/* Parse (BASE), (BASE,INDEX) or (BASE,INDEX,SCALE). */
static int parse_address(const char *at, const char *end, struct trace_probe_argument *argument, bool *ret_ip)
{
	int word;

	*ret_ip = !strncmp(at, "%rip", 4);
	if (take_register(&at, end, &word))
		return -EINVAL;
	argument->base = (uint8_t)word;
	argument->start = TRACE_PROBE_REGISTER;
	if (at < end && *at == ',') {
		long scale = 1;
		char *rest;

		at++;
		if (take_register(&at, end, &word))
			return -EINVAL;
		if (at < end && *at == ',') {
			scale = strtol(at + 1, &rest, 10);
			at = rest;
		}
		if (scale != 1 && scale != 2 && scale != 4 && scale != 8)
			return -EINVAL;
		argument->start = TRACE_PROBE_INDEXED;
		argument->index = (uint8_t)word;
		argument->scale = (uint8_t)__builtin_ctzl((unsigned long)scale);
	}
	return at == end ? 0 : -EINVAL;
}

static int parse_memory(struct probe_elf *elf, const struct operand *operand, uint64_t address,
			struct trace_probe_argument *argument, struct trace_error *ret_error)
{
	const char *open = memchr(operand->begin, '(', (size_t)(operand->end - operand->begin));
	bool symbol, ip = false;
	int64_t displacement;
	int err;

	err = parse_displacement(elf, operand, open ? open : operand->end, &displacement, &symbol, ret_error);
	if (err)
		return err;
	if (open && (operand->end[-1] != ')' || parse_address(open + 1, operand->end - 1, argument, &ip)))
		return bad_operand(operand, ret_error);
	if (!open && !symbol)
		return bad_operand(operand, ret_error);
	if (symbol && (ip || !open)) { /* a variable of the file: its distance to the probe is fixed at link time */
		argument->start = TRACE_PROBE_PLACE;
		displacement = (int64_t)((uint64_t)displacement - address);
	} else if (symbol || ip) {
		return bad_operand(operand, ret_error);
	}
	argument->nr_loads = 1;
	argument->offsets[0] = displacement;
	return 0;
}

/* Parse %rax, %eax ... %ah; %xmm0 is not available. */
static int parse_register(const struct operand *operand, struct probe_field *field, struct trace_error *ret_error)
{
	struct trace_probe_argument *argument = &field->argument;
	const char *name = operand->begin + 1;
	size_t chars = (size_t)(operand->end - name);
	bool high = chars == 2 && strchr("abcd", name[0]) && name[1] == 'h';
	char low[] = {'\0', 'l'};
	int width, word;

	low[0] = *name;
	word = probe_register(high ? low : name, chars, &width);
	if (word < 0 && chars > 3 && (!strncmp(name, "xmm", 3) || !strncmp(name, "ymm", 3)))
		return error_set(ret_error, -ENOTSUP,
				 "an argument of the probe is in the vector register %%%.*s, which the kernel does not "
				 "hand to probes",
				 (int)chars, name);
	if (word < 0)
		return bad_operand(operand, ret_error);
	argument->start = TRACE_PROBE_REGISTER;
	argument->base = (uint8_t)word;
	if (high && field->bytes > 1)
		return bad_operand(operand, ret_error);
	if (high) {
		field->source_bit = 8;
		argument->shift_left = 48;
	}
	return 0;
}

static int parse_operand(struct probe_elf *elf, const struct operand *operand, uint64_t address,
			 struct probe_field *field, struct trace_error *ret_error)
{
	struct trace_probe_argument *argument = &field->argument;
	char *rest;

	if (*operand->begin == '$') {
		argument->start = TRACE_PROBE_CONSTANT;
		argument->constant = (int64_t)strtoull(operand->begin + 1, &rest, 0);
		return rest == operand->end ? 0 : bad_operand(operand, ret_error);
	}
	if (*operand->begin == '%')
		return parse_register(operand, field, ret_error);
	return parse_memory(elf, operand, address, argument, ret_error);
}

/* Parse the prefix "-4@", or "8f@" for floats; without it the size is eight bytes. */
static const char *parse_size(const char *at, struct probe_field *field)
{
	char *rest;
	long size = strtol(at, &rest, 10);
	bool is_float = *rest == 'f', given = rest != at && rest[is_float] == '@';

	if (!given)
		size = 8;
	field->kind = given && is_float ? TRACE_KIND_FLOAT : TRACE_KIND_DEC;
	field->is_signed = size < 0;
	field->bytes = (uint8_t)(size < -8 || size > 8 ? 0 : labs(size));
	return given ? rest + is_float + 1 : at;
}

int probe_sdt_argument(struct probe_elf *elf, const char **at, uint64_t address, struct probe_field *ret_field,
		       struct trace_error *ret_error)
{
	struct probe_field field = {.kind = TRACE_KIND_DEC};
	struct trace_probe_argument *argument = &field.argument;
	struct operand operand;
	int err;

	*at += strspn(*at, " \t");
	if (!**at)
		return 0;
	operand.begin = parse_size(*at, &field);
	operand.end = operand.begin + strcspn(operand.begin, " \t");
	*at = operand.end;
	if ((field.bytes != 1 && field.bytes != 2 && field.bytes != 4 && field.bytes != 8) ||
	    operand.begin == operand.end)
		return bad_operand(&operand, ret_error);
	argument->field_bytes = argument->load_bytes = field.bytes;
	argument->is_signed = field.source_signed = field.is_signed;
	field.source_bits = (uint8_t)(8 * field.bytes);
	argument->shift_left = argument->shift_right = (uint8_t)(64 - 8 * field.bytes);
	err = parse_operand(elf, &operand, address, &field, ret_error);
	if (err)
		return err;
	if (field.kind == TRACE_KIND_FLOAT && !argument->nr_loads)
		return error_set(ret_error, -ENOTSUP,
				 "an argument of the probe is a floating point number in a register, which the kernel "
				 "does not hand to probes");
	*ret_field = field;
	return 1;
}
