/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_TIMES_CONTEXTS_H
#define LIBTRACE_TIMES_CONTEXTS_H
/*
 * times_contexts.h - which code the time of an event has.
 *
 * A *context* is the type of an event, and the types of up to three events before it. For example,
 * the end of a system call after its begin is mostly close, and after a switch of threads it is
 * not. The types before are *classes*: 15 types have one each, and all others have class 0. The
 * *past* of an event has the class of the event before in bits 8 to 11, that of the one before in
 * bits 4 to 7, and that of the third in bits 0 to 3.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CONTEXT_CODES = 64,   /* at most */
	CONTEXT_CLASSES = 15, /* besides class 0 */
	CONTEXT_DEPTH = 3,
	CONTEXT_PASTS = 1 << (4 * CONTEXT_DEPTH),
	CONTEXT_ANY = 255, /* instead of a type: all types */
	CONTEXT_NO_CODE = 255,
	CONTEXT_LIST_BYTES = 2 + CONTEXT_CLASSES + 3 * CONTEXT_CODES,
};

/**
 * struct context - the events of @type after the past @past, of which the latest @depth classes
 * count
 */
struct context {
	uint8_t type;
	uint8_t depth;
	uint16_t past;
};

/** struct context_place - codes of a type: map[first + (past & mask)]; @class: in bits 8 to 11 */
struct context_place {
	uint32_t first;
	uint16_t mask;
	uint16_t class;
};

/**
 * struct contexts - the contexts of a block
 * @codes: an event has the last code of which it has the context
 * @classes: the type of each class from 1 on
 * @map: for each type one byte; then CONTEXT_PASTS for each type with a context that has a past
 */
struct contexts {
	unsigned int nr;
	unsigned int nr_classes;
	unsigned int nr_deep;
	struct context codes[CONTEXT_CODES];
	uint8_t classes[CONTEXT_CLASSES];
	struct context_place places[256];
	uint8_t map[256 + CONTEXT_CODES * CONTEXT_PASTS];
};

/** contexts_init() - no context, no class */
void contexts_init(struct contexts *contexts);

/**
 * contexts_class() - the class of @type, which gets the next one if it has none
 * Returns 0 if there is none left.
 */
unsigned int contexts_class(struct contexts *contexts, uint8_t type);

/** contexts_add() - add a code. Returns false when it is not a context, or there are too many */
bool contexts_add(struct contexts *contexts, struct context context);

/** contexts_apply() - the code of each of @n events; CONTEXT_NO_CODE: it has none */
void contexts_apply(const struct contexts *contexts, const unsigned char *type_idxs, size_t n, uint8_t *ret_codes);

/** contexts_put() - write those codes that are in @is_used; returns the end */
unsigned char *contexts_put(unsigned char *out, const struct contexts *contexts, const bool *is_used);

/**
 * contexts_take() - read them into contexts as after contexts_init()
 * Returns the end; NULL: they are invalid.
 */
const unsigned char *contexts_take(struct contexts *contexts, const unsigned char *in, const unsigned char *end);

#endif
