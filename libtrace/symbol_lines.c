/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * symbol_lines.c - an index of the functions in DWARF debug information.
 *
 * libdw finds the entries at an address by a walk through the whole unit, 80 us to some ms each.
 * The addresses of a profile are many. So each unit is walked once, when an address in it is looked
 * up first, and its functions are a sorted list of ranges.
 *
 * Ranges of one unit nest: that of an inlined function is within that of its caller. They are
 * sorted by their beginning, and the larger first. So the smallest range around another is before
 * it in the list. The walk keeps it as `up`. For example
 *
 *	f 10-90, g inlined 20-40, h inlined into g 25-30, g again 60-70
 *
 * has the list f, g (up f), h (up g), g (up f). The last range that begins at or before address 65
 * is the second g. For address 50 it is h, which ends before; its `up` g does, too; f contains it.
 */
#include "symbol_lines.h"

#include <dwarf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "array_room.h"
#include "sort.h"

#define NO_RANGE   UINT32_MAX
#define MAX_RANGES (1u << 26)
#define MAX_DEPTH  256u /* of entries in entries */
#define MAX_UNITS  (1u << 22)

/* @result of a walk by libdw: negative, if it did not reach its end. Returns @result */
static ptrdiff_t walked(struct line_index *index, ptrdiff_t result)
{
	index->no_memory |= result < 0 && errno == ENOMEM;
	index->is_damaged |= result < 0 && errno != ENOMEM;
	return result;
}

/* ---- ranges ---- */

static bool add_range(struct line_index *index, struct code_ranges *ranges, const struct code_range *range)
{
	if (range->low >= range->high || ranges->nr >= MAX_RANGES)
		return true;
	if (!array_room((void **)&ranges->list, ranges->nr, &ranges->room, sizeof(*ranges->list))) {
		index->no_memory = true;
		return false;
	}
	ranges->list[ranges->nr++] = *range;
	return true;
}

/* All ranges of @die */
static bool add_ranges_of(struct line_index *index, struct code_ranges *ranges, Dwarf_Die *die, uint64_t owner)
{
	Dwarf_Addr base, low, high;
	ptrdiff_t at = 0;

	while ((at = walked(index, dwarf_ranges(die, at, &base, &low, &high))) > 0)
		if (!add_range(index, ranges,
			       &(struct code_range){.low = low, .high = high, .owner = owner, .up = NO_RANGE}))
			return false;
	return true;
}

static int by_begin(const void *left, const void *right)
{
	const struct code_range *l = left, *r = right;

	if (l->low != r->low)
		return l->low < r->low ? -1 : 1;
	return (l->high < r->high) - (l->high > r->high);
}

/* Entries are collected outermost first, and equal ranges keep that order. */
static void nest(struct line_index *index, struct code_ranges *ranges)
{
	if (!sort_rows(ranges->list, ranges->nr, sizeof(*ranges->list), by_begin))
		index->no_memory = true;
	for (uint32_t i = 0; i < ranges->nr; i++) {
		uint32_t up = i ? i - 1 : NO_RANGE;

		while (up != NO_RANGE && ranges->list[up].high < ranges->list[i].high)
			up = ranges->list[up].up;
		ranges->list[i].up = up;
	}
}

/* The smallest range that contains @address, or NO_RANGE */
static uint32_t range_at(const struct code_ranges *ranges, uint64_t address)
{
	uint32_t low = 0, high = ranges->nr, at;

	while (low < high) {
		uint32_t middle = (low + high) / 2;

		if (ranges->list[middle].low <= address)
			low = middle + 1;
		else
			high = middle;
	}
	for (at = low ? low - 1 : NO_RANGE; at != NO_RANGE && address >= ranges->list[at].high;)
		at = ranges->list[at].up;
	return at;
}

/* ---- units ---- */

static void build(struct line_index *index, Dwarf *dwarf)
{
	Dwarf_CU *unit = NULL;
	Dwarf_Die die;
	uint8_t type;

	index->is_built = true;
	while (index->nr_units < MAX_UNITS &&
	       walked(index, dwarf_get_units(dwarf, unit, &unit, NULL, &type, &die, NULL)) == 0) {
		if (type != DW_UT_compile && type != DW_UT_partial)
			continue;
		if (!add_ranges_of(index, &index->by_address, &die, index->nr_units))
			return;
		if (!array_room((void **)&index->units, index->nr_units, &index->room_units, sizeof(*index->units))) {
			index->no_memory = true;
			return;
		}
		index->units[index->nr_units++] = (struct unit_index){.die = die};
	}
	nest(index, &index->by_address);
}

static bool has_functions(int tag)
{
	switch (tag) {
	case DW_TAG_subprogram:
	case DW_TAG_inlined_subroutine:
	case DW_TAG_lexical_block:
	case DW_TAG_try_block:
	case DW_TAG_catch_block:
	case DW_TAG_namespace:
	case DW_TAG_module:
	case DW_TAG_class_type:
	case DW_TAG_structure_type:
	case DW_TAG_union_type:
		return true;
	default:
		return false;
	}
}

/* The entries of the unit, callers before what was inlined into them. */
static void build_unit(struct line_index *index, struct unit_index *unit)
{
	Dwarf_Die stack[MAX_DEPTH];
	unsigned int depth = 0;

	unit->is_built = true;
	if (walked(index, dwarf_child(&unit->die, &stack[0])))
		return;
	for (;;) {
		int tag = dwarf_tag(&stack[depth]);

		if ((tag == DW_TAG_subprogram || tag == DW_TAG_inlined_subroutine) &&
		    !add_ranges_of(index, &unit->functions, &stack[depth], dwarf_dieoffset(&stack[depth])))
			return;
		if (depth + 1 < MAX_DEPTH && has_functions(tag) &&
		    !walked(index, dwarf_child(&stack[depth], &stack[depth + 1]))) {
			depth++;
			continue;
		}
		while (walked(index, dwarf_siblingof(&stack[depth], &stack[depth])))
			if (!depth--) {
				nest(index, &unit->functions);
				return;
			}
	}
}

/* ---- look-up ---- */

/* The name of an inlined function is that of its abstract entry. */
static const char *name_of(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name;

	if (!dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute) &&
	    !dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attribute))
		return dwarf_diename(die);
	name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

static void find_line(Dwarf_Die *unit, uint64_t address, struct line_level *level)
{
	Dwarf_Line *line = dwarf_getsrc_die(unit, address);

	level->path = line ? dwarf_linesrc(line, NULL, NULL) : NULL;
	if (!level->path || dwarf_lineno(line, &level->line))
		level->line = 0;
}

/* Where the inlined function @die was called */
static void find_call(Dwarf_Die *unit, Dwarf_Die *die, struct line_level *level)
{
	Dwarf_Attribute attribute;
	Dwarf_Word file = 0, line = 0;
	Dwarf_Files *files;
	size_t nr;

	*level = (struct line_level){.folder = level->folder};
	if (dwarf_formudata(dwarf_attr(die, DW_AT_call_file, &attribute), &file) ||
	    dwarf_formudata(dwarf_attr(die, DW_AT_call_line, &attribute), &line) || line > INT32_MAX ||
	    dwarf_getsrcfiles(unit, &files, &nr) || file >= nr)
		return;
	level->path = dwarf_filesrc(files, file, NULL, NULL);
	level->line = level->path ? (int)line : 0;
}

size_t line_index_find(struct line_index *index, Dwarf *dwarf, uint64_t address,
		       struct line_level levels[SYMBOL_MAX_LEVELS])
{
	struct unit_index *unit;
	struct line_level level = {0};
	Dwarf_Attribute attribute;
	uint32_t at;
	size_t nr = 0;

	if (!index->is_built)
		build(index, dwarf);
	at = range_at(&index->by_address, address);
	if (at == NO_RANGE || index->by_address.list[at].owner >= index->nr_units)
		return 0;
	unit = &index->units[index->by_address.list[at].owner];
	if (!unit->is_built)
		build_unit(index, unit);
	level.folder = dwarf_formstring(dwarf_attr(&unit->die, DW_AT_comp_dir, &attribute));
	level.folder = level.folder ? level.folder : "";
	find_line(&unit->die, address, &level);
	for (at = range_at(&unit->functions, address); at != NO_RANGE; at = unit->functions.list[at].up) {
		Dwarf_Die die;

		if (!dwarf_offdie(dwarf, unit->functions.list[at].owner, &die))
			break;
		if (nr == SYMBOL_MAX_LEVELS) /* the innermost one is not told */
			memmove(levels, levels + 1, --nr * sizeof(*levels));
		level.name = name_of(&die);
		levels[nr++] = level;
		if (dwarf_tag(&die) != DW_TAG_inlined_subroutine)
			return nr;
		find_call(&unit->die, &die, &level);
	}
	if (!nr && level.path)
		levels[nr++] = level;
	return nr;
}
