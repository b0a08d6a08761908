/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * code_names.c - the functions of the kernel that samples hit, from /proc/kallsyms, and those that
 * programs generated (perf_maps.h).
 *
 * The BPF program keeps the addresses in a map.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/reader.h>
#include "kernel_symbols.h"
#include "perf_maps.h"
#include "sample_skeleton.h"
#include "samples.h"

#define NAME_BYTES 512
#define OWN_CODE   "[bpf:tracedaemon]"
#define MAX_PARTS  64 /* functions of one BPF program */

static int compare_numbers(const void *left, const void *right)
{
	uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;

	return l < r ? -1 : l > r;
}

static size_t read_addresses(const struct tracer *tracer, uint64_t **ret_addresses)
{
	int fd = bpf_map__fd(tracer->sampling->skeleton->maps.kernel_addresses);
	size_t room = bpf_map__max_entries(tracer->sampling->skeleton->maps.kernel_addresses), nr = 0;
	const uint64_t *before = NULL;

	*ret_addresses = calloc(room, sizeof(**ret_addresses));
	while (*ret_addresses && nr < room && bpf_map_get_next_key(fd, before, *ret_addresses + nr) == 0)
		before = *ret_addresses + nr++;
	if (nr)
		qsort(*ret_addresses, nr, sizeof(**ret_addresses), compare_numbers);
	return nr;
}

/* ---- BPF programs of this recording ---- */

/** struct own_function - a function of our BPF programs */
struct own_function {
	uint64_t begin;
	uint32_t bytes;
};

struct own_programs {
	struct own_function *functions; /* owned; sorted */
	size_t nr, room;
};

static bool add_functions(struct own_programs *own, const uint64_t *begins, const uint32_t *bytes, size_t nr)
{
	if (own->nr + nr > own->room) {
		size_t more = 2 * own->room + nr;
		struct own_function *bigger = reallocarray(own->functions, more, sizeof(*bigger));

		if (!bigger)
			return false;
		own->functions = bigger;
		own->room = more;
	}
	for (size_t i = 0; i < nr; i++)
		own->functions[own->nr++] = (struct own_function){begins[i], bytes[i]};
	return true;
}

/* A program that is interpreted has no such addresses. Returns false without memory. */
static bool add_object(struct own_programs *own, struct bpf_object *object)
{
	struct bpf_program *program;

	bpf_object__for_each_program(program, object) {
		uint64_t begins[MAX_PARTS];
		uint32_t lengths[MAX_PARTS], bytes = sizeof(struct bpf_prog_info), nr;
		struct bpf_prog_info info = {.nr_jited_ksyms = MAX_PARTS,
					     .jited_ksyms = (uintptr_t)begins,
					     .nr_jited_func_lens = MAX_PARTS,
					     .jited_func_lens = (uintptr_t)lengths};
		int fd = bpf_program__fd(program);

		if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &bytes) < 0)
			continue;
		nr = info.nr_jited_ksyms == info.nr_jited_func_lens ? info.nr_jited_ksyms : 0;
		if (!add_functions(own, begins, lengths, nr < MAX_PARTS ? nr : MAX_PARTS))
			return false;
	}
	return true;
}

static int compare_functions(const void *left, const void *right)
{
	return compare_numbers(&((const struct own_function *)left)->begin,
			       &((const struct own_function *)right)->begin);
}

static int read_own_code(const struct tracer *tracer, struct own_programs *own)
{
	if (!add_object(own, tracer->skeleton->obj) || !add_object(own, tracer->sampling->skeleton->obj))
		return -ENOMEM;
	if (own->nr)
		qsort(own->functions, own->nr, sizeof(*own->functions), compare_functions);
	return 0;
}

static const struct own_function *find_own(const struct own_programs *own, uint64_t begin)
{
	const struct own_function wanted = {.begin = begin};

	return own->nr ? bsearch(&wanted, own->functions, own->nr, sizeof(wanted), compare_functions) : NULL;
}

/* ---- names ---- */

/** struct code_name - a function of the list. @own: of our BPF programs, else NULL */
struct code_name {
	const char *name;
	uint64_t begin, bytes;
	const struct own_function *own;
};

/*
 * Behind a BPF program there may be one that has ended since, and has no name any more: it must not
 * get the name of the other.
 */
static struct code_name name_of(const struct kernel_symbols *list, size_t idx, const struct own_programs *own)
{
	struct code_name named = {.name = kernel_symbols_name(list, idx), .begin = list->symbols[idx].address};

	named.bytes = kernel_symbols_end(list, idx) - named.begin;
	named.own = find_own(own, named.begin);
	if (named.own && named.own->bytes < named.bytes)
		named.bytes = named.own->bytes;
	return named;
}

/* "ADDRESS BYTES NAME"; a BPF program of this recording says so. */
static void print_name(const struct code_name *named, char *text, size_t size)
{
	int chars = (int)(named->own ? strcspn(named->name, " ") : strlen(named->name));

	snprintf(text, size, "%" PRIx64 " %" PRIu64 " %.*s%s", named->begin, named->bytes, chars, named->name,
		 named->own ? " " OWN_CODE : "");
}

/* Where the kernel's own code begins and ends: functions of no bytes, behind all others. */
static int emit_ends(const struct kernel_symbols *list, uint64_t number, tracer_string_fn emit, void *context)
{
	char text[NAME_BYTES];
	int result;

	if (!list->begin || list->end <= list->begin)
		return 0;
	snprintf(text, sizeof(text), "%" PRIx64 " 0 _stext", list->begin);
	result = emit(context, TRACE_STRING_KERNEL_CODE, number, text);
	snprintf(text, sizeof(text), "%" PRIx64 " 0 _etext", list->end);
	return result ? result : emit(context, TRACE_STRING_KERNEL_CODE, number + 1, text);
}

static int emit_names(const struct kernel_symbols *list, const struct own_programs *own, const uint64_t *addresses,
		      size_t nr, tracer_string_fn emit, void *context)
{
	size_t before = list->nr;
	uint64_t number = 0;
	char text[NAME_BYTES];
	struct code_name named;
	int result = 0;

	for (size_t i = 0; i < nr && !result; i++) {
		size_t idx = kernel_symbols_find(list, addresses[i]);

		if (idx == list->nr || idx == before)
			continue;
		named = name_of(list, idx, own);
		if (addresses[i] - named.begin >= named.bytes)
			continue;
		before = idx;
		print_name(&named, text, sizeof(text));
		result = emit(context, TRACE_STRING_KERNEL_CODE, number++, text);
	}
	return result || !number ? result : emit_ends(list, number, emit, context);
}

/* ---- code that programs generated ---- */

#if defined(__x86_64__)
static int compare_addresses(const void *left, const void *right)
{
	const struct walk_address *l = left, *r = right;

	if (l->tgid != r->tgid)
		return l->tgid < r->tgid ? -1 : 1;
	return (l->address > r->address) - (l->address < r->address);
}

static int emit_program_code(struct tracer_sampling *sampling, tracer_string_fn emit, void *context)
{
	const struct bpf_map *map = sampling->skeleton->maps.program_addresses;
	size_t room = bpf_map__max_entries(map), nr = 0;
	struct walk_address *addresses = calloc(room, sizeof(*addresses)), *before = NULL;
	struct perf_maps_missing missing = {0};
	int result;

	while (addresses && nr < room && bpf_map_get_next_key(bpf_map__fd(map), before, addresses + nr) == 0)
		before = addresses + nr++;
	for (size_t i = 0; i < nr; i++) {
		uint32_t uid = UINT32_MAX;

		bpf_map_lookup_elem(bpf_map__fd(map), &addresses[i], &uid);
		addresses[i].uid = uid;
	}
	if (nr)
		qsort(addresses, nr, sizeof(*addresses), compare_addresses);
	result = addresses ? perf_maps_emit(addresses, nr, emit, context, &missing) : -ENOMEM;
	sampling->large_maps = missing.too_large;
	sampling->unread_maps = missing.unread;
	free(addresses);
	return result;
}
#else
static int emit_program_code(struct tracer_sampling *sampling, tracer_string_fn emit, void *context)
{
	return 0;
}
#endif

/* A kernel that hides its addresses from us gives no names, and that is no error. */
static int emit_kernel_code(const struct tracer *tracer, tracer_string_fn emit, void *context)
{
	struct kernel_symbols list = {0};
	struct own_programs own = {0};
	uint64_t *addresses = NULL;
	size_t nr = read_addresses(tracer, &addresses);
	int result = nr && kernel_symbols_read(&list, KERNEL_SYMBOLS_RUNNING, NULL) == -ENOMEM ? -ENOMEM : 0;

	if (!result && nr)
		result = read_own_code(tracer, &own);
	if (!result && nr)
		result = emit_names(&list, &own, addresses, nr, emit, context);
	free(addresses);
	free(own.functions);
	kernel_symbols_clear(&list);
	return result;
}

int tracer_code_names(const struct tracer *tracer, tracer_string_fn emit, void *context)
{
	int result = tracer->sampling ? emit_kernel_code(tracer, emit, context) : 0;

	if (!result && tracer->sampling && tracer->sampling->has_tables)
		result = emit_program_code(tracer->sampling, emit, context);
	return result;
}
