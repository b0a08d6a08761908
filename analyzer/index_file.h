/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_INDEX_FILE_H
#define ANALYZER_INDEX_FILE_H
/*
 * index_file.h - an index that is written and read in pieces, in a file or in memory
 *
 * An index may have 30 MB, and a view may take 256 MiB. So neither the writer nor the reader has
 * all of an index in memory: it is a header, sections and a checksum, and they handle one section
 * after the other. A section is the number of its bytes (8 bytes, little-endian), and these.
 *
 * The checksum is the XXH3-64 of all before it, and the last 8 bytes.
 */
#include <trace/error.h>
#include "index_bytes.h"

/**
 * struct index_out - an index that is written
 * @fd: the file; -1: @bytes, owned
 * @error: 0 or a negative errno: then nothing more is written
 */
struct index_out {
	int fd;
	struct bytes_out bytes;
	void *checksum; /* owned; XXH3_state_t */
	int error;
};
/** index_out_begin() - write to @fd, or with -1 into memory */
struct index_out index_out_begin(int fd);
void index_put(struct index_out *out, const void *bytes, size_t nr);
/** index_put_section() - the begin of a section of @nr bytes */
void index_put_section(struct index_out *out, uint64_t nr);
/** index_out_end() - write the checksum; releases all but out->bytes */
void index_out_end(struct index_out *out);

/**
 * struct index_in - an index that is read, by one or several threads
 * @bytes: borrowed; NULL: it is in the file @fd
 * @size: its bytes without the checksum
 * @read_error: set to the negative errno of a read that fails, by any of the threads; NULL: not
 *     wanted. Borrowed
 */
struct index_in {
	const uint8_t *bytes;
	int fd;
	uint64_t size;
	int *read_error;
};
/** struct index_piece - bytes of an index: at @bytes, until index_piece_end() */
struct index_piece {
	struct bytes_in bytes;
	uint8_t *memory; /* owned; NULL: they are borrowed */
};
/**
 * index_read() - @nr bytes at @at
 * Returns 0; -EBADMSG: there are fewer; -ENOMEM; or the errno of the read, which @in keeps, too.
 */
int index_read(const struct index_in *in, uint64_t at, uint64_t nr, struct index_piece *ret) TRACE_NODISCARD;
/**
 * index_section() - the size of the section at @at, which becomes that of its first byte
 * Returns 0; -EBADMSG: it is larger than the rest of the index; or as index_read().
 */
int index_section(const struct index_in *in, uint64_t *at, uint64_t *ret_nr) TRACE_NODISCARD;
/** index_read_section() - read the section at @at, which becomes the end of it. As index_read() */
int index_read_section(const struct index_in *in, uint64_t *at, struct index_piece *ret);
void index_piece_end(struct index_piece *piece); /* zeroed = none */
/** index_is_whole() - is the checksum behind @in that of its bytes? */
bool index_is_whole(const struct index_in *in);
#endif
