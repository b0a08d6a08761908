/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * code_names.c - the functions of the kernel that samples hit, from /proc/kallsyms, and those that
 * programs generated (perf_maps.h).
 *
 * The BPF program keeps the addresses in a map. The list of the kernel is in no order and has
 * functions of modules and BPF programs, too. A function ends where the next one begins.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/reader.h>
#include "perf_maps.h"
#include "sample_skeleton.h"
#include "samples.h"

#define NAME_BYTES	   256
#define MAX_FUNCTION_BYTES (1u << 20) /* what is further away is behind the end of a section */

/** struct code_name - a function of the kernel. @line: its line of the list */
struct code_name {
	uint64_t address;
	uint32_t line;
};

struct code_names {
	struct code_name *names; /* owned */
	size_t nr, room;
	char *text; /* owned: name and module of each line, with its NUL */
	size_t bytes, text_room;
};

static int compare_names(const void *left, const void *right)
{
	const struct code_name *l = left, *r = right;

	return l->address != r->address ? (l->address < r->address ? -1 : 1)
					: (l->line > r->line) - (l->line < r->line);
}

static int compare_numbers(const void *left, const void *right)
{
	uint64_t l = *(const uint64_t *)left, r = *(const uint64_t *)right;

	return l < r ? -1 : l > r;
}

static bool make_room(void **array, size_t needed, size_t *room, size_t size)
{
	size_t more = *room ? 2 * *room : 65536;
	void *bigger;

	if (needed <= *room)
		return true;
	bigger = reallocarray(*array, more, size);
	if (!bigger)
		return false;
	*array = bigger;
	*room = more;
	return true;
}

static bool add_name(struct code_names *list, uint64_t address, const char *name)
{
	size_t bytes = strlen(name) + 1;

	if (!make_room((void **)&list->names, list->nr + 1, &list->room, sizeof(*list->names)) ||
	    !make_room((void **)&list->text, list->bytes + bytes, &list->text_room, 1))
		return false;
	memcpy(list->text + list->bytes, name, bytes);
	list->names[list->nr++] = (struct code_name){.address = address, .line = (uint32_t)list->bytes};
	list->bytes += bytes;
	return true;
}

/* "ffffffff81000000 T name" or "ffffffffc0000000 t name\t[module]". Addresses that are hidden from
 * us are 0. */
static int read_names(struct code_names *list)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[NAME_BYTES + 64], *name;
	int result = 0;

	while (file && !result && fgets(line, sizeof(line), file)) {
		uint64_t address = strtoull(line, &name, 16);

		if (!address || *name != ' ' || !strchr("tTwW", name[1]) || name[2] != ' ')
			continue;
		name += 3;
		name[strcspn(name, "\n")] = '\0';
		if (strchr(name, '\t'))
			*strchr(name, '\t') = ' ';
		if (!add_name(list, address, name))
			result = -ENOMEM;
	}
	if (file)
		fclose(file);
	qsort(list->names, list->nr, sizeof(*list->names), compare_names);
	return result;
}

/* The last function that begins at or before @address; list->nr: none. */
static size_t function_of(const struct code_names *list, uint64_t address)
{
	size_t from = 0, to = list->nr;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (list->names[middle].address <= address)
			from = middle + 1;
		else
			to = middle;
	}
	if (!from)
		return list->nr;
	for (from--; from && list->names[from - 1].address == list->names[from].address; from--)
		;
	return from;
}

static uint64_t end_of(const struct code_names *list, size_t idx)
{
	uint64_t begin = list->names[idx].address;

	for (size_t next = idx + 1; next < list->nr; next++)
		if (list->names[next].address > begin)
			return list->names[next].address - begin < MAX_FUNCTION_BYTES ? list->names[next].address
										      : begin;
	return begin;
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

static int emit_names(const struct code_names *list, const uint64_t *addresses, size_t nr, tracer_string_fn emit,
		      void *context)
{
	size_t before = list->nr;
	uint64_t number = 0;
	char text[NAME_BYTES + 96];
	int result = 0;

	for (size_t i = 0; i < nr && !result; i++) {
		size_t idx = function_of(list, addresses[i]);
		uint64_t begin = idx == list->nr ? 0 : list->names[idx].address;

		if (idx == list->nr || idx == before || addresses[i] >= end_of(list, idx))
			continue;
		before = idx;
		snprintf(text, sizeof(text), "%" PRIx64 " %" PRIu64 " %s", begin, end_of(list, idx) - begin,
			 list->text + list->names[idx].line);
		result = emit(context, TRACE_STRING_KERNEL_CODE, number++, text);
	}
	return result;
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

static int emit_program_code(const struct tracer_sampling *sampling, tracer_string_fn emit, void *context)
{
	const struct bpf_map *map = sampling->skeleton->maps.program_addresses;
	size_t room = bpf_map__max_entries(map), nr = 0;
	struct walk_address *addresses = calloc(room, sizeof(*addresses)), *before = NULL;
	int result;

	while (addresses && nr < room && bpf_map_get_next_key(bpf_map__fd(map), before, addresses + nr) == 0)
		before = addresses + nr++;
	if (nr)
		qsort(addresses, nr, sizeof(*addresses), compare_addresses);
	result = addresses ? perf_maps_emit(addresses, nr, emit, context) : -ENOMEM;
	free(addresses);
	return result;
}
#else
static int emit_program_code(const struct tracer_sampling *sampling, tracer_string_fn emit, void *context)
{
	return 0;
}
#endif

int tracer_code_names(const struct tracer *tracer, tracer_string_fn emit, void *context)
{
	struct code_names list = {0};
	uint64_t *addresses = NULL;
	size_t nr = tracer->sampling ? read_addresses(tracer, &addresses) : 0;
	int result = nr ? read_names(&list) : 0;

	if (!result)
		result = emit_names(&list, addresses, nr, emit, context);
	free(addresses);
	free(list.names);
	free(list.text);
	if (!result && tracer->sampling && tracer->sampling->has_tables)
		result = emit_program_code(tracer->sampling, emit, context);
	return result;
}
