/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SYMBOL_COLLECTION_H
#define LIBTRACE_SYMBOL_COLLECTION_H
/* symbol_collection.h - the mappings that the events of a trace tell of, and their files */
#include <trace/reader.h>

#include "symbol_files.h"
#include "symbol_identity.h"
#include "symbol_mappings.h"
#include "symbol_store.h"

/**
 * struct symbol_collection - zeros but for @trace: nothing collected yet
 * @mapped: the file of a device and an inode that was mapped last
 * @store: the names that the trace has
 */
struct symbol_collection {
	const struct trace *trace;
	struct symbol_files files;
	struct symbol_mappings mappings;
	struct hash_table mapped;
	struct symbol_identities identities;
	struct symbol_store store;
};

/**
 * symbol_collect() - two passes over the trace: its start state, and its events
 * Returns 0 or a negative errno. The mappings in a damaged chunk stay unknown.
 */
int symbol_collect(struct symbol_collection *collection, struct trace_error *ret_error) TRACE_NODISCARD;
void symbol_collection_clear(struct symbol_collection *collection);

#endif
