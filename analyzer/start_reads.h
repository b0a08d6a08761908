/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_START_READS_H
#define ANALYZER_START_READS_H
/*
 * start_reads.h - when the recorder read each part of the start state, and its last change before
 *
 * Only what it read after the start has a row. start_changes.c finds the changes.
 *
 * A flight recorder may have overwritten the events between its reading and the window, if they
 * came faster than it wrote. A descriptor or mapping that it read so early has a row, and is
 * unknown: it may have changed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "hash_table.h"

struct fd_table;
struct process_memory;
struct trace_analysis;

#define NO_CHANGE 0

/*
 * A descriptor of a table, a socket's inode; the program, arguments, directory or parent of a
 * process.
 */
struct read_row {
	uint64_t key;
	uint64_t read_ns;
	uint64_t changed_ns; /* the last change before it was read; NO_CHANGE: none */
	uint64_t is_closed;  /* that change closed it, or it is not what was read later */
};

struct read_map {
	uint64_t memory; /* its number */
	uint64_t start;
	uint64_t end;
	uint64_t read_ns;
	uint64_t changed_ns;
	bool is_outdated;
};

struct start_reads {
	struct hash_table fds, sockets, exes, args, directories, parents; /* read_row */
	struct read_map *maps; /* owned; by memory and address once all are read */
	size_t nr_maps, max_maps;
	uint64_t last_ns;    /* when the last of all was read; 0: none after the start */
	uint64_t nr_changed; /* rows */
};

/** start_reads_new() - none so far; NULL: no memory */
struct start_reads *start_reads_new(void);
/** start_reads_free() - accepts NULL; returns NULL */
struct start_reads *start_reads_free(struct start_reads *reads);

/** start_read_is_outdated() - were events overwritten between @ns and the begin of the window? */
bool start_read_is_outdated(const struct trace_analysis *a, uint64_t ns);

/* These note a record of the start state, read at @ns. They do nothing without a->reads. */
void start_read_thread(struct trace_analysis *a, uint64_t ns);
void start_read_parent(struct trace_analysis *a, uint32_t pid, uint64_t ns);
void start_read_fd(struct trace_analysis *a, const struct fd_table *fds, int32_t fd, uint64_t ns);
void start_read_map(struct trace_analysis *a, const struct process_memory *memory, uint64_t start, uint64_t end,
		    uint64_t ns);
void start_read_socket(struct trace_analysis *a, uint64_t ino, uint64_t ns);
void start_read_exe(struct trace_analysis *a, uint32_t pid, uint64_t ns);
void start_read_args(struct trace_analysis *a, uint32_t pid, uint64_t ns);
/* @fd: TRACE_FD_WORKING_DIRECTORY or TRACE_FD_ROOT_DIRECTORY */
void start_read_directory(struct trace_analysis *a, uint32_t pid, int32_t fd, uint64_t ns);
/** start_reads_complete() - all are read: sort them */
void start_reads_complete(struct trace_analysis *a);

/** read_fd() - the row of a descriptor; NULL: none */
struct read_row *read_fd(const struct start_reads *reads, const struct fd_table *fds, int64_t fd);
/** read_directory() - the row of a directory of a process; NULL: none */
struct read_row *read_directory(const struct start_reads *reads, uint32_t pid, int32_t fd);
/** read_parent() - the row of the parent of process @pid; NULL: none */
struct read_row *read_parent(const struct start_reads *reads, uint32_t pid);
/** read_map() - the row of the mapping of @memory that begins at @start; NULL: none */
struct read_map *read_map(const struct start_reads *reads, const struct process_memory *memory, uint64_t start);

/*
 * These note a change at @ns: of a row, of descriptors @first to @last, of mappings between two
 * addresses.
 */
void read_row_changes(struct start_reads *reads, struct read_row *row, uint64_t ns, bool is_closed);
void read_fds_change(struct start_reads *reads, const struct fd_table *fds, uint64_t first, uint64_t last, uint64_t ns,
		     bool is_closed);
void read_maps_change(struct start_reads *reads, const struct process_memory *memory, uint64_t start, uint64_t end,
		      uint64_t ns);
/** read_directories_change() - some process changes its directories at @ns */
void read_directories_change(struct start_reads *reads, uint64_t ns);
/** reads_lose() - events were lost at @ns: all that was read later may have changed before */
void reads_lose(struct start_reads *reads, uint64_t ns);
#endif
