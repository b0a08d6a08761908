/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SYMBOL_IDENTITY_H
#define LIBTRACE_SYMBOL_IDENTITY_H
/* symbol_identity.h - the build ids that a trace has: TRACE_STRING_BUILD_ID */
#include <trace/reader.h>

#include "hash_table.h"
#include "symbol_origin.h"

/** struct symbol_identities - zeros: none. @files: by device and inode */
struct symbol_identities {
	struct hash_table files;
};

/** symbol_identities_read() - take those of @trace, which outlives them. Returns 0 or -ENOMEM */
int symbol_identities_read(struct symbol_identities *identities, const struct trace *trace) TRACE_NODISCARD;
void symbol_identities_clear(struct symbol_identities *identities);
/**
 * symbol_identity_of() - the build id of a file, "" if it has none
 * Returns false if the recorder did not read the file.
 */
bool symbol_identity_of(const struct symbol_identities *identities, uint32_t dev, uint64_t ino,
			char ret_id[SYMBOL_ID_BYTES]);

#endif
