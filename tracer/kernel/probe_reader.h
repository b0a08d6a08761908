/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_READER_H
#define TRACER_PROBE_READER_H
/*
 * probe_reader.h - the process that reads the ELF and DWARF data of a program, and its
 * restrictions.
 *
 * SECURITY: the file may come from any user, and libelf and libdw are large. So the caller forks a
 * reader, which drops all rights before it reads the first byte. The caller opens the files. The
 * reader parses them and answers with records of a fixed form. The caller checks each number and
 * text of the answer before use.
 *
 *     probe_files.c     which files may be opened for a program, and how (caller)
 *     probe_answer.c    the records: written by the reader, checked by the caller
 *     probe_reader.c    requests for files, and the end (both)
 *     base/jail.c       rights, limits and system calls that the reader drops (reader)
 *     base/jail_child.c fork and the end of the reader (both)
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace/error.h>

/* ---- probe_files.c ---- */

enum probe_related {
	PROBE_FILE_SELF,       /* the program or library itself; no name */
	PROBE_FILE_DEBUG_ID,   /* its debug file, by build id in hexadecimal */
	PROBE_FILE_DEBUG_LINK, /* its debug file, by the name in .gnu_debuglink */
	PROBE_FILE_ALT_ID,     /* the supplementary file of dwz, by its build id */
	PROBE_FILE_ALT_PATH,   /* the supplementary file, by the path in .gnu_debugaltlink */
};

#define PROBE_RELATED_NAME_BYTES 4096

/**
 * struct probe_files - a program and the files that belong to it
 * @path: borrowed
 * @debug: path of the debug file that was opened last; initially ""
 */
struct probe_files {
	const char *path;
	char debug[2 * 4096];
};

/**
 * probe_files_open() - open one of the files that may belong to a program
 * @name: SECURITY: comes from the program, so it can be any bytes; a name with a slash, or a path
 *        that leaves the debug folders, is refused
 * Returns a descriptor, which the caller closes; or a negative errno: from regular_open(), or
 * -EPERM for a refused name.
 */
int probe_files_open(struct probe_files *files, enum probe_related which, const char *name);

/**
 * struct probe_opener - opens files for probe_elf.c, like probe_files_open(): directly, or in the
 * reader through its caller
 */
struct probe_opener {
	int (*open)(struct probe_opener *opener, enum probe_related which, const char *name);
};

/* ---- probe_answer.c ---- */

struct probe_entry;
struct trace_probes;
struct probe_spec;

enum probe_record_kind {
	PROBE_RECORD_END = 1, /* the answer is complete */
	PROBE_RECORD_ERROR,   /* the reading failed; has the reason */
	PROBE_RECORD_FILE,    /* a request for a file; the caller replies with it */
	PROBE_RECORD_ENTRY,   /* a probe */
	PROBE_RECORD_ROW,     /* a line of a list */
};

#define PROBE_PACKET_BYTES (64u << 10)	  /* of one message, which contains whole records */
#define PROBE_ANSWER_BYTES (256ull << 20) /* of all messages of one reader */

/** struct probe_answer - the reader's side. @failed: the caller no longer receives */
struct probe_answer {
	int fd; /* borrowed */
	bool failed;
	size_t used;
	size_t record; /* offset of the record that is being written */
	unsigned char packet[PROBE_PACKET_BYTES];
};
void probe_answer_row(struct probe_answer *answer, const char *left, const char *right);
void probe_answer_entry(struct probe_answer *answer, const struct probe_entry *entry);
void probe_answer_error(struct probe_answer *answer, const struct trace_error *error);
void probe_answer_file(struct probe_answer *answer, enum probe_related which, const char *name);
void probe_answer_end(struct probe_answer *answer);
void probe_answer_flush(struct probe_answer *answer);

/**
 * struct probe_record - the caller's side: an unchecked record of a packet. @bad: its content is
 * too short or impossible
 */
struct probe_record {
	unsigned int kind;
	const unsigned char *at;
	const unsigned char *end;
	bool bad;
};
/**
 * probe_record_next() - take the next record of [@at, @end); false: none, or with ret_record->bad
 * it is cut off
 */
bool probe_record_next(const unsigned char **at, const unsigned char *end, struct probe_record *ret_record);
/*
 * Each takes the content of a record of its kind; -EBADMSG when it is impossible. Texts have no
 * control characters and end with a NUL.
 */
int probe_record_row(struct probe_record *record, char *ret_left, size_t left_bytes, char *ret_right,
		     size_t right_bytes);
int probe_record_error(struct probe_record *record, struct trace_error *ret_error);
int probe_record_file(struct probe_record *record, enum probe_related *ret_which,
		      char ret_name[PROBE_RELATED_NAME_BYTES]);
/**
 * probe_record_entry() - append a probe of @spec in the file @path, which has @file_bytes bytes
 * Returns 0, -EBADMSG, or the error of the list (-E2BIG, -ENOMEM).
 */
int probe_record_entry(struct probe_record *record, struct trace_probes *probes, const struct probe_spec *spec,
		       const char *path, uint64_t file_bytes, struct trace_error *ret_error);

/* ---- probe_reader.c ---- */

/**
 * struct probe_reading - what to read from a file
 * @read: runs in the reader: opens the file with @opener and writes its results to @answer. Returns
 *        0 or a negative errno with @ret_error
 * @take: runs in the caller for each entry or row; a return value other than 0 ends the reading.
 *        @file_bytes: size of the file
 */
struct probe_reading {
	int (*read)(void *context, struct probe_opener *opener, struct probe_answer *answer,
		    struct trace_error *ret_error);
	int (*take)(void *context, struct probe_record *record, uint64_t file_bytes, struct trace_error *ret_error);
	void *context;
};

/**
 * probe_reader_run() - read the file at @path in a process without rights
 * Returns 0; the error of @read or @take; a negative errno of opening the file; or -EBADMSG: the
 * reader was stopped, or its answer is impossible.
 */
int probe_reader_run(const char *path, const struct probe_reading *reading, struct trace_error *ret_error);

#endif
