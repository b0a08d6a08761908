/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_places.c - turn the text of a probe into places, their events, and recipes for the
 * arguments. The files that take part:
 *
 *     probe_spec.c      split the text into its parts
 *     probe_file.c      find a file by name, like ld.so, or as a process has it mapped
 *     probe_elf.c       functions and offsets of an ELF file
 *     probe_sdt.c       static probes: the notes of <sys/sdt.h>
 *     probe_dwarf.c     variables of the source: location and type
 *     probe_code.c      turn an argument's text, or a variable, into a recipe
 *     probe_tracepoint.c  the tracepoints of the kernel, as tracefs.c describes them
 *     probe_entry.c     the list of places, and the fields of their events
 *     probe_places.c    trace_probes_add(), which uses all of these
 *     probe_reader.c    the process that reads the files, see probe_reader.h
 *     probe_list.c      trace_probes_list()
 *     probe_attach.c    attach the probes to the kernel (needs the tracer)
 */
#include "probe_entry.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "error_set.h"
#include "probe_answer.h"
#include "probe_code.h"
#include "probe_dwarf.h"
#include "probe_elf.h"
#include "probe_file.h"
#include "probe_files.h"
#include "probe_instruction.h"
#include "probe_reader.h"
#include "probe_sdt.h"
#include "probe_spec.h"
#include "probe_tracepoint.h"

/* ---- names ---- */

/*
 * Is the character one of @separators, or a control character, which a damaged symbol table can
 * contain? The name of an event has neither.
 */
static bool is_separator(char c, const char *separators)
{
	return strchr(separators, c) || iscntrl((unsigned char)c);
}

/* The provider of a file's functions: "libc" for /lib/libc.so.6, "shop" for ./shop. */
static void provider_of_file(const char *file, char *text, size_t size)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file, *end = strstr(base, ".so");
	size_t chars = end && end > base ? (size_t)(end - base) : strlen(base);

	if (chars >= size)
		chars = size - 1;
	for (size_t i = 0; i < chars; i++)
		text[i] = is_separator(base[i], " :,*?[]%") ? '_' : base[i];
	text[chars] = '\0';
}

static void name_event(struct probe_entry *entry, const struct probe_spec *spec, const char *provider, const char *name)
{
	static const char *const suffixes[] = {
		[TRACE_ROLE_EVENT] = "", [TRACE_ROLE_BEGIN] = ".begin", [TRACE_ROLE_END] = ".end"};
	const char *suffix = suffixes[entry->type.role];

	if (entry->probe.at_return && entry->type.role == TRACE_ROLE_EVENT && !*spec->event)
		suffix = ".return";
	if (strchr(spec->event, ':'))
		snprintf(entry->name, sizeof(entry->name), "%.*s%s", TRACE_PROBE_NAME_BYTES - 1, spec->event, suffix);
	else
		snprintf(entry->name, sizeof(entry->name), "%.*s:%.*s%s", TRACE_PROBE_NAME_BYTES - 8, provider,
			 TRACE_PROBE_NAME_BYTES - 8, *spec->event ? spec->event : name, suffix);
	for (char *at = entry->name; *at; at++)
		if (is_separator(*at, " ,*?[]"))
			*at = '_';
}

static void finish_fields(struct probe_entry *entry)
{
	entry->type.fixed_bytes = (uint16_t)((entry->type.fixed_bytes + 7u) & ~7u);
}

/* ---- arguments of functions ---- */

/**
 * struct function_place - the address at which the arguments are read
 * @scope: its scope in the source, opened on first use
 */
struct function_place {
	struct probe_elf *elf; /* NULL: in the kernel */
	const struct probe_spec *spec;
	struct probe_scope scope;
	bool scope_tried;
	bool moved; /* after the prologue, for variables of unoptimised code */
	uint64_t address;
};

static struct probe_scope *scope_of(struct function_place *place)
{
	if (!place->scope_tried && place->elf)
		probe_scope_open(place->elf, place->address, &place->scope);
	place->scope_tried = true;
	return &place->scope;
}

static int no_scope(const struct function_place *place, const char *expression, struct trace_error *ret_error)
{
	if (!place->elf)
		return error_set(
			ret_error, -ENOTSUP,
			"%s: variables of the kernel cannot be found by name; $arg1, $arg2 ... are its arguments",
			expression);
	return error_set(ret_error, -ENOTSUP,
			 "%s: %s has no debug information for this address; compile it with -g, install its -dbgsym "
			 "package, or use $arg1, $arg2 ...",
			 expression, place->elf->path);
}

static int add_variable(struct probe_entry *entry, struct function_place *place, const struct probe_argument_text *text,
			const char *expression, const char *name, struct trace_error *ret_error)
{
	struct probe_scope *scope = scope_of(place);
	struct probe_field field;
	int err;

	if (!scope->found)
		return no_scope(place, expression, ret_error);
	if (entry->probe.at_return)
		return error_set(ret_error, -EINVAL,
				 "%s: variables are not available when a function returns; use $retval, or record both "
				 "with %%scope",
				 expression);
	err = probe_scope_variable(scope, expression, &field, ret_error);
	if (!err && *text->type)
		err = probe_code_type(text->type, &field, ret_error);
	return err ? err : probe_entry_add_field(entry, name, &field, ret_error);
}

/*
 * Add all parameters that can be recorded; the event's documentation names one that is left out.
 */
static int add_parameters(struct probe_entry *entry, struct function_place *place,
			  const struct probe_argument_text *text, struct trace_error *ret_error)
{
	struct probe_scope *scope = scope_of(place);
	struct trace_error error;
	const char *name;

	if (!scope->found)
		return no_scope(place, text->expression, ret_error);
	for (unsigned int n = 0; (name = probe_scope_parameter(scope, n)); n++)
		if (add_variable(entry, place, text, name, name, &error))
			snprintf(entry->doc, sizeof(entry->doc), "without %.*s", TRACE_PROBE_NAME_BYTES - 16,
				 error.message);
	return 0;
}

static int add_argument(struct probe_entry *entry, struct function_place *place, const struct probe_argument_text *text,
			struct trace_error *ret_error)
{
	struct probe_field field;
	int err;

	if (!strcmp(text->expression, "$params"))
		return add_parameters(entry, place, text, ret_error);
	err = probe_code_expression(text->expression, entry->probe.at_return, &field, ret_error);
	if (err > 0)
		return add_variable(entry, place, text, text->expression, *text->name ? text->name : text->expression,
				    ret_error);
	if (!err && place->moved && field.argument.start == TRACE_PROBE_REGISTER &&
	    field.argument.base == PROBE_REGISTER_STACK)
		return error_set(ret_error, -EINVAL,
				 "%s: this probe reads variables after the function's prologue, where the stack "
				 "pointer differs; name the variable, or use a separate probe",
				 text->expression);
	if (!err && *text->type)
		err = probe_code_type(text->type, &field, ret_error);
	else if (!err && !strcmp(text->expression, "$retval"))
		err = probe_scope_result(scope_of(place), &field, ret_error);
	return err ? err : probe_entry_add_field(entry, *text->name ? text->name : text->expression, &field, ret_error);
}

static bool is_result(const struct probe_argument_text *text)
{
	return !strcmp(text->expression, "$retval");
}

/* For a scope, the begin event has the arguments and the end event the result. */
static int add_arguments(struct probe_entry *entry, struct function_place *place, struct trace_error *ret_error)
{
	static const struct probe_argument_text result = {.expression = "$retval"};
	const struct probe_spec *spec = place->spec;
	bool any = false;
	int err = 0;

	for (uint32_t i = 0; !err && i < spec->nr_arguments; i++) {
		if (entry->type.role != TRACE_ROLE_EVENT && is_result(&spec->arguments[i]) != entry->probe.at_return)
			continue;
		err = add_argument(entry, place, &spec->arguments[i], ret_error);
		any = true;
	}
	if (!err && !any && spec->moment == PROBE_RETURN)
		add_argument(entry, place, &result, NULL); /* not requested, so an unavailable result is left out */
	finish_fields(entry);
	return err;
}

/* Does any argument need the locations of variables? */
static bool wants_variables(const struct probe_spec *spec)
{
	struct probe_field field;

	for (uint32_t i = 0; i < spec->nr_arguments; i++)
		if (!strcmp(spec->arguments[i].expression, "$params") ||
		    probe_code_expression(spec->arguments[i].expression, true, &field, NULL) > 0)
			return true;
	return false;
}

/* ---- functions ---- */

/* Add one end of a function, or an address. */
static int add_moment(struct trace_probes *probes, struct probe_elf *elf, const struct probe_spec *spec,
		      const char *file, const char *name, uint64_t address, bool at_return,
		      struct trace_error *ret_error)
{
	struct function_place place = {.elf = elf, .spec = spec, .address = address};
	struct probe_entry *entry = probe_entry_new(probes, file, ret_error);
	char provider[TRACE_PROBE_NAME_BYTES];
	int err = 0;

	if (!entry)
		return ret_error ? ret_error->code : -ENOMEM;
	entry->probe.at_return = at_return;
	entry->probe.pid = spec->pid;
	entry->probe.in_kernel = !elf;
	if (spec->moment == PROBE_SCOPE)
		entry->type.role = at_return ? TRACE_ROLE_END : TRACE_ROLE_BEGIN;
	provider_of_file(elf ? spec->file : "kernel", provider, sizeof(provider));
	name_event(entry, spec, provider, name);
	snprintf(entry->function, sizeof(entry->function), "%s", name);
	if (!at_return && wants_variables(spec)) {
		place.address = probe_scope_body(scope_of(&place));
		place.scope.address = place.address;
		place.moved = place.address != address;
	}
	snprintf(entry->doc, sizeof(entry->doc), "%s %.200s", at_return ? "return from" : "call of", name);
	probe_scope_source(scope_of(&place), entry->source, sizeof(entry->source));
	err = add_arguments(entry, &place, ret_error);
	if (!err && elf && !probe_elf_offset(elf, place.address, true, &entry->probe.offset))
		err = error_set(ret_error, -ENOENT,
				"%s has no code at 0x%llx; addresses are those that nm and objdump print", file,
				(unsigned long long)place.address);
	if (!elf)
		entry->probe.offset = spec->offset;
	probe_scope_close(&place.scope);
	return err;
}

static int add_function(struct trace_probes *probes, struct probe_elf *elf, const struct probe_spec *spec,
			const char *file, const char *name, uint64_t address, struct trace_error *ret_error)
{
	char text[TRACE_PROBE_NAME_BYTES];
	int err = 0;

	snprintf(text, sizeof(text), spec->offset ? "%.*s+0x%llx" : "%.*s", TRACE_PROBE_NAME_BYTES - 24, name,
		 (unsigned long long)spec->offset);
	if (spec->offset && spec->moment != PROBE_ENTRY)
		return error_set(
			ret_error, -EINVAL,
			"%s: a return belongs to a function, not to an address inside it: leave out the offset", text);
	if (elf && (spec->offset || spec->has_address)) /* here no symbol proves that an instruction begins */
		err = probe_instruction_check(elf, address + spec->offset, ret_error);
	if (!err && spec->moment != PROBE_RETURN)
		err = add_moment(probes, elf, spec, file, text, address + spec->offset, false, ret_error);
	if (!err && spec->moment != PROBE_ENTRY)
		err = add_moment(probes, elf, spec, file, text, address, true, ret_error);
	return err;
}

/**
 * struct function_found - a function; it may be in both symbol tables and have several names.
 * @name: owned
 */
struct function_found {
	uint64_t address;
	char *name;
};

struct function_search {
	const struct probe_spec *spec;
	struct function_found *found; /* owned */
	size_t nr;
	bool is_ifunc;
};

/* Prefer the name that programs call: malloc to __libc_malloc or __GI___libc_malloc. */
static bool is_better_name(const char *name, const char *than)
{
	size_t underscores = strspn(name, "_"), underscores_than = strspn(than, "_");

	return underscores != underscores_than ? underscores < underscores_than : strlen(name) < strlen(than);
}

static int name_found(struct function_found *found, const char *name)
{
	char *copy;

	if (found->name && !is_better_name(name, found->name))
		return 0;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	free(found->name);
	found->name = copy;
	return 0;
}

static int find_matching(void *context, const struct probe_symbol *symbol)
{
	struct function_search *search = context;
	struct function_found *found;

	if (!probe_symbol_matches(symbol, search->spec->function))
		return 0;
	if (search->nr > TRACE_PROBE_MAX_PLACES)
		return -E2BIG;
	search->is_ifunc |= symbol->is_ifunc;
	if (symbol->is_ifunc)
		return 0;
	for (size_t i = 0; i < search->nr; i++)
		if (search->found[i].address == symbol->address)
			return name_found(&search->found[i], symbol->plain);
	found = reallocarray(search->found, search->nr + 1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	search->found = found;
	found[search->nr] = (struct function_found){.address = symbol->address};
	return name_found(&found[search->nr++], symbol->plain);
}

static int add_functions(struct trace_probes *probes, struct probe_elf *elf, const struct probe_spec *spec,
			 struct trace_error *ret_error)
{
	struct function_search search = {.spec = spec};
	int err = probe_elf_functions(elf, find_matching, &search);

	if (err == -E2BIG)
		probe_entry_too_many(ret_error);
	else if (err)
		error_set(ret_error, err, "out of memory");
	for (size_t i = 0; i < search.nr && !err; i++)
		err = add_function(probes, elf, spec, elf->path, search.found[i].name, search.found[i].address,
				   ret_error);
	for (size_t i = 0; i < search.nr; i++)
		free(search.found[i].name);
	free(search.found);
	if (err || search.nr)
		return err;
	if (search.is_ifunc)
		return error_set(ret_error, -ENOTSUP,
				 "%s:%s only selects an implementation, once (ifunc); probe an implementation that the "
				 "file names: tracedaemon --list '%s:*%s*'",
				 spec->file, spec->function, spec->file, spec->function);
	return error_set(ret_error, -ENOENT, "%s has no function %s; tracedaemon --list '%s:%.20s*' lists them",
			 elf->path, spec->function, spec->file, probe_is_glob(spec->function) ? "" : spec->function);
}

static int add_address(struct trace_probes *probes, struct probe_elf *elf, const struct probe_spec *spec,
		       struct trace_error *ret_error)
{
	char name[32];

	snprintf(name, sizeof(name), "0x%llx", (unsigned long long)spec->address);
	return add_function(probes, elf, spec, elf->path, name, spec->address, ret_error);
}

/* ---- static probes ---- */

struct static_search {
	struct trace_probes *probes;
	struct probe_elf *elf;
	const struct probe_spec *spec;
	struct trace_error *ret_error;
	size_t nr;
};

static bool static_matches(const struct probe_spec *spec, const struct probe_sdt *sdt)
{
	struct probe_symbol provider = {.name = sdt->provider, .plain = sdt->provider, .full = sdt->provider};
	struct probe_symbol name = {.name = sdt->name, .plain = sdt->name, .full = sdt->name};

	return (!*spec->provider || probe_symbol_matches(&provider, spec->provider)) &&
	       (!*spec->function || probe_symbol_matches(&name, spec->function));
}

/* The nth operand (from 1) of a static probe. */
static int operand(struct probe_elf *elf, const struct probe_sdt *sdt, unsigned int n, struct probe_field *ret_field,
		   struct trace_error *ret_error)
{
	const char *at = sdt->arguments;
	int result = 0;

	for (unsigned int i = 1; i <= n; i++) {
		result = probe_sdt_argument(elf, &at, sdt->address, ret_field, i == n ? ret_error : NULL);
		if (!result || (result < 0 && i == n))
			break;
	}
	return result;
}

/* Add all operands. An unavailable one is left out, and the event's documentation says so. */
static int add_all_operands(struct probe_entry *entry, struct static_search *search, const struct probe_sdt *sdt)
{
	struct probe_field field;
	struct trace_error error;
	char name[16];
	int result;

	for (unsigned int n = 1; (result = operand(search->elf, sdt, n, &field, &error)); n++) {
		if (n > TRACE_PROBE_MAX_ARGUMENTS)
			return error_set(search->ret_error, -EINVAL, "%s: a probe has at most %d arguments",
					 entry->name, TRACE_PROBE_MAX_ARGUMENTS);
		if (result == -EINVAL)
			return error_set(search->ret_error, -EINVAL, "%s: %s", entry->name, error.message);
		snprintf(name, sizeof(name), "arg%u", n);
		if (result < 0)
			snprintf(entry->doc, sizeof(entry->doc), "static probe; without %s: %.*s", name,
				 TRACE_PROBE_NAME_BYTES - 64, error.message);
		else if (probe_entry_add_field(entry, name, &field, search->ret_error))
			return -EINVAL;
	}
	return 0;
}

static int add_operand(struct probe_entry *entry, struct static_search *search, const struct probe_sdt *sdt,
		       const struct probe_argument_text *text)
{
	struct trace_error *ret_error = search->ret_error;
	struct probe_field field;
	unsigned int number;
	char rest;
	int result;

	if (sscanf(text->expression, "$arg%u%c", &number, &rest) == 1 && number > 0) {
		result = operand(search->elf, sdt, number, &field, ret_error);
		if (!result)
			return error_set(ret_error, -EINVAL, "%s: the static probe has fewer arguments: \"%s\"",
					 text->expression, sdt->arguments);
		result = result < 0 ? result : 0;
	} else {
		result = probe_code_expression(text->expression, false, &field, ret_error);
		if (result > 0)
			result = error_set(ret_error, -EINVAL,
					   "%s: arguments of static probes have no names: $arg1, $arg2 ...",
					   text->expression);
	}
	if (!result && *text->type)
		result = probe_code_type(text->type, &field, ret_error);
	return result ? result
		      : probe_entry_add_field(entry, *text->name ? text->name : text->expression, &field, ret_error);
}

static int add_static(void *context, const struct probe_sdt *sdt)
{
	struct static_search *search = context;
	const struct probe_spec *spec = search->spec;
	struct trace_error *ret_error = search->ret_error;
	struct probe_entry *entry;
	int err = 0;

	if (!static_matches(spec, sdt))
		return 0;
	entry = probe_entry_new(search->probes, search->elf->path, ret_error);
	if (!entry)
		return ret_error ? ret_error->code : -ENOMEM;
	search->nr++;
	entry->probe.pid = spec->pid;
	snprintf(entry->doc, sizeof(entry->doc), "static probe");
	snprintf(entry->function, sizeof(entry->function), "%s:%s", sdt->provider, sdt->name);
	name_event(entry, spec, sdt->provider, sdt->name);
	if (!probe_elf_offset(search->elf, sdt->address, true, &entry->probe.offset) ||
	    (sdt->semaphore && !probe_elf_offset(search->elf, sdt->semaphore, false, &entry->probe.semaphore)))
		return error_set(ret_error, -EINVAL,
				 "%s: the note of %s is wrong: there is no such address in the file", search->elf->path,
				 entry->function);
	if (!spec->nr_arguments)
		err = add_all_operands(entry, search, sdt);
	for (uint32_t i = 0; !err && i < spec->nr_arguments; i++)
		err = add_operand(entry, search, sdt, &spec->arguments[i]);
	finish_fields(entry);
	return err;
}

/*
 * A static probe with several places may have arguments of different widths there (a constant, a
 * register). All places of one event get the same form: the largest width, signed if any is.
 */
static void widen_fields(struct trace_probes *probes, size_t from)
{
	for (size_t i = from; i < probes->nr; i++)
		for (size_t j = from; j < probes->nr; j++) {
			struct probe_entry *a = probes->entries[i], *b = probes->entries[j];

			if (i == j || strcmp(a->name, b->name) || a->type.nr_fields != b->type.nr_fields)
				continue;
			for (uint32_t k = 0; k < a->type.nr_fields; k++) {
				struct trace_field *x = &a->fields[k], *y = &b->fields[k];

				if (x->kind != TRACE_KIND_DEC || y->kind != TRACE_KIND_DEC)
					continue;
				if (y->bytes > x->bytes)
					x->bytes = y->bytes;
				x->is_signed |= y->is_signed;
			}
		}
}

static int add_statics(struct trace_probes *probes, struct probe_elf *elf, const struct probe_spec *spec,
		       struct trace_error *ret_error)
{
	struct static_search search = {.probes = probes, .elf = elf, .spec = spec, .ret_error = ret_error};
	size_t from = probes->nr;
	int err = probe_sdt_each(elf, add_static, &search);

	if (err)
		return err;
	if (!search.nr && !*spec->provider && !*spec->function)
		return error_set(ret_error, -ENOENT,
				 "%s has no static probes (of <sys/sdt.h>); its functions can be probed: tracedaemon "
				 "--list '%s:*'",
				 elf->path, spec->file);
	if (!search.nr)
		return error_set(ret_error, -ENOENT,
				 "%s has no static probe %s:%s; tracedaemon --list usdt:%s lists them", elf->path,
				 *spec->provider ? spec->provider : "*", *spec->function ? spec->function : "*",
				 spec->file);
	widen_fields(probes, from);
	for (size_t i = from; i < probes->nr; i++)
		probe_entry_lay_out(probes->entries[i]);
	return 0;
}

/* ---- all kinds ---- */

/** struct file_reading - @probes: the caller's list; the reader has its own */
struct file_reading {
	struct trace_probes *probes;
	const struct probe_spec *spec;
	const char *path;
};

static int add_of_elf(struct trace_probes *probes, struct probe_elf *elf, const struct probe_spec *spec,
		      struct trace_error *ret_error)
{
	if (spec->kind == PROBE_USDT)
		return add_statics(probes, elf, spec, ret_error);
	return spec->has_address ? add_address(probes, elf, spec, ret_error)
				 : add_functions(probes, elf, spec, ret_error);
}

/* Runs in the reader. */
static int read_file(void *context, struct probe_opener *opener, struct probe_answer *answer,
		     struct trace_error *ret_error)
{
	const struct file_reading *reading = context;
	struct trace_probes *probes = trace_probes_new();
	struct probe_elf elf;
	int err;

	if (!probes)
		return error_set(ret_error, -ENOMEM, "out of memory");
	err = probe_elf_open_by(&elf, reading->path, opener, ret_error);
	if (!err) {
		err = probe_elf_end(&elf, add_of_elf(probes, &elf, reading->spec, ret_error), ret_error);
		probe_elf_close(&elf);
	}
	for (size_t i = 0; !err && i < probes->nr; i++)
		probe_answer_entry(answer, probes->entries[i]);
	trace_probes_free(probes);
	return err;
}

static int take_probe(void *context, struct probe_record *record, uint64_t file_bytes, struct trace_error *ret_error)
{
	const struct file_reading *reading = context;

	if (record->kind != PROBE_RECORD_ENTRY)
		return -EBADMSG;
	return probe_record_entry(record, reading->probes, reading->spec, reading->path, file_bytes, ret_error);
}

static int add_in_file(struct trace_probes *probes, const struct probe_spec *spec, struct trace_error *ret_error)
{
	char path[4096];
	struct file_reading context = {.probes = probes, .spec = spec, .path = path};
	const struct probe_reading reading = {.read = read_file, .take = take_probe, .context = &context};
	int err = probe_find_file(spec->file, spec->pid, path, ret_error);

	return err ? err : probe_reader_run(path, &reading, ret_error);
}

static int add_in_kernel(struct trace_probes *probes, const struct probe_spec *spec, struct trace_error *ret_error)
{
	if (spec->has_address || probe_is_glob(spec->function))
		return error_set(ret_error, -EINVAL,
				 "kernel:%s: give the name of one function; tracedaemon --list 'kernel:*' lists them",
				 spec->has_address ? "0x..." : spec->function);
	return add_function(probes, NULL, spec, "", spec->function, 0, ret_error);
}

static int add_any(struct trace_probes *probes, const struct probe_spec *spec, struct trace_error *ret_error)
{
	if (spec->kind == PROBE_TRACEPOINT)
		return probe_tracepoint_add(probes, spec, ret_error);
	return spec->kind == PROBE_KERNEL ? add_in_kernel(probes, spec, ret_error)
					  : add_in_file(probes, spec, ret_error);
}

static int add_condition(struct probe_entry *entry, const struct probe_spec *spec, struct trace_error *ret_error)
{
	size_t missing;

	return condition_compile(&spec->condition, &entry->type, &entry->probe.condition, &missing, ret_error);
}

int trace_probes_add(struct trace_probes *probes, const char *text, struct trace_error *ret_error)
{
	struct trace_error error = {0};
	struct probe_spec spec;
	size_t from = probes->nr;
	int err = probe_spec_parse(text, false, &spec, &error);

#if !defined(__x86_64__)
	if (!err && spec.kind != PROBE_TRACEPOINT)
		err = error_set(&error, -ENOTSUP, "probes support only x86-64");
#endif
	if (!err)
		err = add_any(probes, &spec, &error);
	for (size_t i = from; spec.kind != PROBE_TRACEPOINT && i < probes->nr && !err; i++)
		err = add_condition(probes->entries[i], &spec, &error);
	if (!err) {
		probes->nr_options++;
		return 0;
	}
	while (probes->nr > from)
		free(probes->entries[--probes->nr]);
	if (ret_error)
		*ret_error = error;
	return err;
}
