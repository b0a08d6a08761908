/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * times_contexts.c - find the context of each event.
 *
 * Most events have contexts with a past of the same few types, so that a handful of the map's cache
 * lines is in use. A search by the types before would branch on each of them.
 */
#include "times_contexts.h"

#include "clones.h"

#include <string.h>

void contexts_init(struct contexts *contexts)
{
	contexts->nr = contexts->nr_classes = contexts->nr_deep = 0;
	for (unsigned int i = 0; i < 256; i++)
		contexts->places[i] = (struct context_place){.first = i};
	memset(contexts->map, CONTEXT_NO_CODE, 256);
}

unsigned int contexts_class(struct contexts *contexts, uint8_t type)
{
	unsigned int class = contexts->places[type].class >> 8;

	if (class || contexts->nr_classes == CONTEXT_CLASSES)
		return class;
	contexts->classes[contexts->nr_classes++] = type;
	contexts->places[type].class = (uint16_t)(contexts->nr_classes << 8);
	return contexts->nr_classes;
}

static unsigned char *codes_of_type(struct contexts *contexts, uint8_t type)
{
	struct context_place *place = &contexts->places[type];
	unsigned char code = contexts->map[type];

	if (!place->mask) {
		place->first = 256 + contexts->nr_deep++ * CONTEXT_PASTS;
		place->mask = CONTEXT_PASTS - 1;
		memset(contexts->map + place->first, code, CONTEXT_PASTS);
	}
	return contexts->map + place->first;
}

bool contexts_add(struct contexts *contexts, struct context context)
{
	unsigned int nr_pasts = 1u << 4 * (CONTEXT_DEPTH - context.depth);
	unsigned char code = (unsigned char)contexts->nr;

	/* the codes of a type without a past come first, so that they are in one byte of the map */
	if (contexts->nr == CONTEXT_CODES || context.past % nr_pasts || context.past >= CONTEXT_PASTS ||
	    (context.type == CONTEXT_ANY && (context.depth || contexts->nr)) ||
	    (!context.depth && contexts->places[context.type].mask))
		return false;
	contexts->codes[contexts->nr++] = context;
	if (context.type == CONTEXT_ANY)
		memset(contexts->map, code, 256);
	else if (context.depth)
		memset(codes_of_type(contexts, context.type) + context.past, code, nr_pasts);
	else
		contexts->map[context.type] = code;
	return true;
}

TRACE_CLONES static void apply(const struct contexts *contexts, const unsigned char *type_idxs, size_t n,
			       uint8_t *ret_codes)
{
	uint32_t past = 0;

	for (size_t i = 0; i < n; i++) {
		struct context_place place = contexts->places[type_idxs[i]];

		ret_codes[i] = contexts->map[place.first + (past & place.mask)];
		past = past >> 4 | place.class;
	}
}

void contexts_apply(const struct contexts *contexts, const unsigned char *type_idxs, size_t n, uint8_t *ret_codes)
{
	apply(contexts, type_idxs, n, ret_codes);
}

unsigned char *contexts_put(unsigned char *out, const struct contexts *contexts, const bool *is_used)
{
	unsigned char *nr = out + 1;

	*out = (unsigned char)contexts->nr_classes;
	*nr = 0;
	out = mempcpy(out + 2, contexts->classes, contexts->nr_classes);
	for (unsigned int i = 0; i < contexts->nr; i++) {
		struct context context = contexts->codes[i];

		if (!is_used[i])
			continue;
		++*nr;
		*out++ = context.type;
		*out++ = (unsigned char)(context.depth | (context.past & 15) << 4);
		*out++ = (unsigned char)(context.past >> 4);
	}
	return out;
}

const unsigned char *contexts_take(struct contexts *contexts, const unsigned char *in, const unsigned char *end)
{
	unsigned int nr_classes, nr;

	if (end - in < 2)
		return NULL;
	nr_classes = in[0];
	nr = in[1];
	in += 2;
	if (nr_classes > CONTEXT_CLASSES || (size_t)(end - in) < nr_classes + 3 * (size_t)nr)
		return NULL;
	for (unsigned int i = 0; i < nr_classes; i++)
		if (contexts_class(contexts, *in++) != i + 1)
			return NULL;
	for (unsigned int i = 0; i < nr; i++, in += 3) {
		struct context context = {.type = in[0],
					  .depth = in[1] & 15,
					  .past = (uint16_t)(in[1] >> 4 | in[2] << 4)};

		if (context.depth > CONTEXT_DEPTH || !contexts_add(contexts, context))
			return NULL;
	}
	return in;
}
