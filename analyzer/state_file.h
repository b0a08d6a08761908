/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_FILE_H
#define ANALYZER_STATE_FILE_H
/*
 * state_file.h - what a process can have open or mapped: files, the tables of its descriptors, its memory; and requests of io_uring, which are made on files.
 *
 * Everywhere else a file is a number, file_idx.
 */
#include <stdbool.h>
#include <stdint.h>
#include "hash_table.h"

struct file_use;
struct trace_analysis;
struct trace_process;
struct trace_thread;

/* ---- files: state_file.c ---- */

typedef uint32_t file_idx; /* 0: not known */

#define FILE_WRITE_END 0x80000000u /* in the mode of a pipe: this is the end to write to, another file than the end to read from */
#define FILE_FREE UINT32_MAX
struct file {
	union { /* with what says which, in one line of the cache */
		char *text; /* !path: owned; its path, as long as no report needs it: file_path() */
		struct file_use *use; /* path: borrowed; of who added to one last, see accounting_files.c; NULL: nobody yet */
	};
	string_id path;	 /* 0: it has none, or it is text; FREE: the next that is free */
	uint32_t sweeps; /* before it was last asked for: state_forget.c; or FREE */
	uint64_t ino;
	uint32_t dev;
	uint32_t mode;
};

file_idx file_get(struct trace_analysis *a, const char *path, uint32_t dev, uint64_t ino, uint32_t mode);
/** file_text() - its path, borrowed until the next event; "" of 0 */
const char *file_text(const struct trace_analysis *a, file_idx file);
#define file_has_text(file) (!(file)->path && (file)->text)
/** file_path() - the same for good, for what a report will name */
string_id file_path(struct trace_analysis *a, file_idx file);
/** file_forget() - nobody has it, and nobody will ask for it by its number */
void file_forget(struct trace_analysis *a, file_idx file);
/** file_has_other_end() - is the other end of this pipe known, too? */
bool file_has_other_end(const struct trace_analysis *a, file_idx file);
file_idx file_of_inode(const struct trace_analysis *a, uint32_t dev, uint64_t ino);
/** file_opened() - the file behind a descriptor, as the kernel tells of it; @flags as in open(2) */
file_idx file_opened(struct trace_analysis *a, const char *path, uint32_t dev, uint64_t ino, uint32_t mode, uint32_t flags);
/** file_mode() - the mode of an open file, from that of its inode and the flags of open(2) */
uint32_t file_mode(uint32_t mode, uint32_t flags);

/* ---- descriptors: state_file.c ---- */

#define FD_CLOEXEC_BIT 0x80000000u
#define MAX_FD (1 << 20)
struct fd_table { /* shared by CLONE_FILES */
	uint32_t *files; /* owned: file_idx | FD_CLOEXEC_BIT */
	uint32_t nr;
	uint32_t refs;
	uint32_t nr_listening; /* sockets that were told to listen; never counted down */
	uint32_t sweeps;       /* it was looked through in this one: state_forget.c */
};

file_idx fd_file(const struct trace_thread *thread, int64_t fd);
void fd_put(struct trace_analysis *a, struct trace_thread *thread, int64_t fd, file_idx file, bool cloexec);
void fd_set_cloexec(struct trace_thread *thread, int64_t fd, bool cloexec);
void fd_cloexec_range(struct trace_thread *thread, uint64_t first, uint64_t last);
void fd_close_range(struct trace_thread *thread, uint64_t first, uint64_t last);
struct fd_table *fds_ref(struct fd_table *fds);
struct fd_table *fds_unref(struct fd_table *fds);
struct fd_table *fds_copy(struct trace_analysis *a, const struct fd_table *fds);
void fds_own(struct trace_analysis *a, struct trace_thread *thread); /* a table of its own from now on */
void fds_exec(struct trace_analysis *a, struct trace_thread *thread);

/* ---- memory: state_memory.c ---- */

struct mapping {
	uint64_t start;
	uint64_t end;
	file_idx file;
};
struct memory { /* shared by CLONE_VM */
	struct mapping *maps; /* owned; by start, without overlap */
	uint32_t nr;
	uint32_t capacity;
	uint32_t refs;
	uint32_t sweeps;  /* it was looked through in this one: state_forget.c */
	bool has_foreign; /* memory of System V, of which no more is known */
};

struct memory *memory_new(struct trace_analysis *a);
struct memory *memory_ref(struct memory *memory);
struct memory *memory_unref(struct memory *memory);
struct memory *memory_copy(struct trace_analysis *a, const struct memory *memory);
void memory_map(struct trace_analysis *a, struct memory *memory, uint64_t start, uint64_t end, file_idx file);
file_idx memory_find(const struct memory *memory, uint64_t address);

/* ---- files and sockets that nobody has any more: state_forget.c ---- */

/** forget_unused() - files and sockets that nobody has and that nobody asked for lately */
void forget_unused(struct trace_analysis *a);
/** forget_opened() - which files the descriptors and the mappings of all threads are of: they may have been closed unseen, and opened again */
void forget_opened(struct trace_analysis *a);

/* ---- block devices: state_device.c ---- */

/** device_learn() - @dev has the file of @path; @served: it was seen to */
void device_learn(struct trace_analysis *a, string_id path, uint32_t dev, bool served);
/** device_name() - of a block device; "disk" if it has no name */
string_id device_name(struct trace_analysis *a, uint64_t dev);

/* ---- requests of io_uring: state_uring.c ---- */

/** uring_next() - the requests in progress whose file is known; @at NULL: the first; NULL past the last */
const void *uring_next(const struct trace_analysis *a, const void *at, const struct trace_process **ret_process, file_idx *ret_file);
/** uring_mark() - set the bits of the files of all requests in progress */
void uring_mark(const struct trace_analysis *a, uint64_t *marks);
#endif
