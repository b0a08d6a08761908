/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_SYMBOL_WANTED_H
#define TRACE_SYMBOL_WANTED_H
/* symbol_wanted.h - what is asked about a byte of a file, and how long the answers are at most */

#define SYMBOL_NAME_BYTES   32768u /* of a function; longer names are cut */
#define SYMBOL_SOURCE_BYTES 16384u
#define SYMBOL_MAX_LEVELS   32u

/** enum symbol_wanted - what a look-up finds besides the function */
enum symbol_wanted {
	SYMBOL_NAME,   /* nothing */
	SYMBOL_SOURCE, /* the line, as "file.c:12" */
	SYMBOL_LEVELS, /* inlined functions, too: a line for each, the innermost first, the function last */
};

#endif
