/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_READER_H
#define TRACER_PROBE_READER_H
/*
 * probe_reader.h - the process that reads a program's ELF and DWARF, and what it may do.
 *
 * The file comes from any user, and libelf and libdw are large. So the caller forks a reader, which drops every right before it looks at the first
 * byte. The caller opens the files, the reader reads them and answers in records of a fixed form, and the caller checks every number and every text
 * of the answer before it uses them.
 *
 *	probe_files.c	which files may be opened for a program, and how (the caller)
 *	probe_jail.c	rights, limits and system calls that the reader drops (the reader)
 *	probe_answer.c	the records: written by the reader, checked by the caller
 *	probe_reader.c	the two together: fork, requests for files, the end
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <trace/error.h>

/* ---- probe_files.c ---- */

enum probe_related {
	PROBE_FILE_SELF,       /* the program or library itself; no name */
	PROBE_FILE_DEBUG_ID,   /* its debug file, by the build id in hexadecimal */
	PROBE_FILE_DEBUG_LINK, /* its debug file, by the name in .gnu_debuglink */
	PROBE_FILE_ALT_ID,     /* the supplementary file of dwz, by its build id */
	PROBE_FILE_ALT_PATH,   /* the same by the path in .gnu_debugaltlink */
};

#define PROBE_RELATED_NAME_BYTES 4096

/** struct probe_files - a program and the files that belong to it. @path: borrowed. @debug: path of the debug file that was opened last, "" before */
struct probe_files {
	const char *path;
	char debug[2 * 4096];
};

/**
 * probe_files_open() - open one of the files that may belong to a program
 * @name: as the program says, and so any bytes: a name with a slash, or a path that leads out of the debug folders, is refused
 * Returns a descriptor, to be closed by the caller; or a negative errno: of regular_open(), or -EPERM for a refused name.
 */
int probe_files_open(struct probe_files *files, enum probe_related which, const char *name);

/** struct probe_opener - opens files for probe_elf.c: here, or by asking the caller of the reader. As probe_files_open() */
struct probe_opener {
	int (*open)(struct probe_opener *opener, enum probe_related which, const char *name);
};

/* ---- probe_jail.c ---- */

#define PROBE_JAIL_SOCKET	3 /* the descriptor by which the reader speaks with its caller */
#define PROBE_JAIL_CPU_SECONDS	20
#define PROBE_JAIL_MEMORY_BYTES (2ull << 30)
#define PROBE_JAIL_DESCRIPTORS	16

/**
 * probe_jail_enter() - drop all rights of this process, for ever; in a reader alone
 * Afterwards: user and groups of nobody (if it was root), no capability, no_new_privs, limits of CPU time, memory and descriptors, no file that
 * grows, no core file, and a filter that lets only reading, anonymous memory and PROBE_JAIL_SOCKET through; other system calls fail with EPERM.
 * Returns 0, or a negative errno: then nothing may be read.
 */
int probe_jail_enter(void);

/* ---- probe_answer.c ---- */

struct entry;
struct trace_probes;
struct probe_spec;

enum probe_record_kind {
	PROBE_RECORD_END = 1, /* all was told */
	PROBE_RECORD_ERROR,   /* why nothing is told */
	PROBE_RECORD_FILE,    /* a file is asked for; the caller answers with it */
	PROBE_RECORD_ENTRY,   /* a probe */
	PROBE_RECORD_ROW,     /* a line of a list */
};

#define PROBE_PACKET_BYTES (64u << 10) /* of one message, which holds whole records */
#define PROBE_ANSWER_BYTES (256ull << 20) /* of all messages of one reader */

/** struct probe_answer - the reader's side. @failed: the caller does not listen any more */
struct probe_answer {
	int fd; /* borrowed */
	bool failed;
	size_t used;
	size_t record; /* where the record that is being written begins */
	unsigned char packet[PROBE_PACKET_BYTES];
};
void probe_answer_row(struct probe_answer *answer, const char *left, const char *right);
void probe_answer_entry(struct probe_answer *answer, const struct entry *entry);
void probe_answer_error(struct probe_answer *answer, const struct trace_error *error);
void probe_answer_file(struct probe_answer *answer, enum probe_related which, const char *name);
void probe_answer_end(struct probe_answer *answer);
void probe_answer_flush(struct probe_answer *answer);

/** struct probe_record - the caller's side: a record of a packet, not looked at yet. @bad: it was shorter than what it should hold */
struct probe_record {
	unsigned int kind;
	const unsigned char *at;
	const unsigned char *end;
	bool bad;
};
/** probe_record_next() - take the next record of [@at, @end); false: there is none, or with ret_record->bad it is cut off */
bool probe_record_next(const unsigned char **at, const unsigned char *end, struct probe_record *ret_record);
/* Each takes what a record of its kind holds; -EBADMSG when that is impossible. Texts have no control characters and end with a NUL. */
int probe_record_row(struct probe_record *record, char *ret_left, size_t left_bytes, char *ret_right, size_t right_bytes);
int probe_record_error(struct probe_record *record, struct trace_error *ret_error);
int probe_record_file(struct probe_record *record, enum probe_related *ret_which, char ret_name[PROBE_RELATED_NAME_BYTES]);
/** probe_record_entry() - append a probe of @spec in the file @path, of @file_bytes bytes; -EBADMSG, or what the list has against it (-E2BIG, -ENOMEM) */
int probe_record_entry(struct probe_record *record, struct trace_probes *probes, const struct probe_spec *spec, const char *path, uint64_t file_bytes,
		       struct trace_error *ret_error);

/* ---- probe_reader.c ---- */

/**
 * struct probe_reading - what is to be read of a file
 * @read: runs in the reader: opens the file with @opener, tells what it finds by @answer. Returns 0 or a negative errno with @ret_error
 * @take: runs in the caller for each entry or row; another return than 0 ends the reading. @file_bytes: of the file
 */
struct probe_reading {
	int (*read)(void *context, struct probe_opener *opener, struct probe_answer *answer, struct trace_error *ret_error);
	int (*take)(void *context, struct probe_record *record, uint64_t file_bytes, struct trace_error *ret_error);
	void *context;
};

/**
 * probe_reader_run() - read the file at @path in a process without rights
 * Returns 0; what @read or @take failed with; a negative errno of opening the file; or -EBADMSG: the reader was stopped, or its answer is impossible.
 */
int probe_reader_run(const char *path, const struct probe_reading *reading, struct trace_error *ret_error);

#endif
