/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_SYMBOL_IDENTITY_H
#define LIBTRACE_SYMBOL_IDENTITY_H
/* symbol_identity.h - the build ids that a trace has: TRACE_STRING_BUILD_ID */
#include <trace/reader.h>

#include "hash_table.h"
#include "symbol_origin.h"

/**
 * struct symbol_known - a build id of a file. @id: borrowed from the trace, @chars of it; none: the
 * file has none. @is_unread: the recorder could not read it
 * @since_ns: of its mappings from then on, because the inode number had another file before
 * @next: idx + 1 of a further one of the same number
 */
struct symbol_known {
	const char *id;
	size_t chars;
	bool is_unread;
	uint64_t since_ns;
	uint32_t next;
};

/** struct symbol_identities - zeros: none. @files: by device and inode; they lead to @known */
struct symbol_identities {
	struct hash_table files;
	struct symbol_known *known; /* owned */
	uint32_t nr, room;
};

/** symbol_identities_read() - take those of @trace, which outlives them. Returns 0 or -ENOMEM */
int symbol_identities_read(struct symbol_identities *identities, const struct trace *trace) TRACE_NODISCARD;
void symbol_identities_clear(struct symbol_identities *identities);
/**
 * symbol_identity_at() - the build id of the file that had this number at @ts_ns
 * Returns NULL: the recorder did not read the file; else borrowed until symbol_identities_clear().
 */
const struct symbol_known *symbol_identity_at(const struct symbol_identities *identities, uint32_t dev, uint64_t ino,
					      uint64_t ts_ns);
/** symbol_identity_put() - write what is @known, which may be NULL, into @origin */
void symbol_identity_put(const struct symbol_known *known, struct symbol_origin *origin);

#endif
