/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_FILE_H
#define ANALYZER_STATE_FILE_H
/*
 * state_file.h - files, and the descriptor tables of processes
 *
 * All other code refers to a file by its number, file_idx.
 */
#include <stdbool.h>
#include <stdint.h>
#include <trace/error.h>
#include "file_layers.h"
#include "file_names.h"
#include "handler.h"
#include "hash_table.h"

struct file_use;
struct frame;
struct trace_analysis;
struct trace_thread;

typedef uint32_t file_idx; /* 0: not known */

/* mode of a pipe: this is the write end, a file of its own beside the read end */
#define FILE_WRITE_END 0x80000000u
#define FILE_FREE      UINT32_MAX
struct traced_file {
	union {		    /* @path says which member is valid; both in one cache line */
		char *text; /* !path: owned; the path, until a report needs it: file_path() */
		/*
		 * path: borrowed; the file_use that was added to last: accounting_files.c; NULL:
		 * none
		 */
		struct file_use *use;
	};
	string_id path;	 /* 0: it has no path, or has @text; FREE: next of the free list */
	uint32_t sweeps; /* number of sweeps before its last use: state_expire.c; or FREE */
	uint64_t ino;
	uint32_t dev;
	uint32_t mode;
};

struct file_table {
	struct traced_file *list;     /* owned, with their texts; [0] is all zeros: no file */
	uint32_t nr, max, first_free; /* first_free: of the free list, 0: empty */
	struct hash_table by_identity;
	struct hash_table by_inode;
	struct file_layers layers;
	struct file_names names;
	uint64_t nr_anonymous; /* shared mappings without a file: state_syscall.c */
};

/** file_table_prepare() - make the entry of no file; returns 0 or -ENOMEM */
int file_table_prepare(struct file_table *table) TRACE_NODISCARD;
void file_table_clear(struct file_table *table);
file_idx file_get(struct trace_analysis *a, const char *path, uint32_t dev, uint64_t ino, uint32_t mode);
/** file_text() - its path, borrowed until the next event; "" for file 0 */
const char *file_text(const struct trace_analysis *a, file_idx file);
#define file_has_text(file) (!(file)->path && (file)->text)
/** file_path() - its name in reports, interned: the path, or more than that (file_names.h) */
string_id file_path(struct trace_analysis *a, file_idx file);
/** file_drop() - release a file that no process has and no later caller asks for */
void file_drop(struct trace_analysis *a, file_idx file);
/** file_has_other_end() - is the other end of this pipe known, too? */
bool file_has_other_end(const struct trace_analysis *a, file_idx file);
/** layer_learn() - take an fs_layer of an event or of the start state */
void layer_learn(struct trace_analysis *a, const struct trace_event *event);
/** file_of_inode() - also by the inode of an overlay's upper layer; 0: none is known */
file_idx file_of_inode(const struct trace_analysis *a, uint32_t dev, uint64_t ino);
/** inode_shows() - is inode @ino the same as @real_ino, or that of an overlay above it? */
bool inode_shows(uint32_t dev, uint64_t ino, uint32_t real_dev, uint64_t real_ino);
/**
 * file_shows() - is this inode that of @file, or the real file behind it in a layer of an overlay?
 */
bool file_shows(const struct trace_analysis *a, file_idx file, uint32_t dev, uint64_t ino);
/**
 * file_opened() - the file of a descriptor, as the kernel describes it
 * @flags: as in open(2)
 */
file_idx file_opened(struct trace_analysis *a, const char *path, uint32_t dev, uint64_t ino, uint32_t mode,
		     uint32_t flags);
/** file_mode() - mode of an open file, from the mode of its inode and the flags of open(2) */
uint32_t file_mode(uint32_t mode, uint32_t flags);

#define FD_CLOEXEC_BIT 0x80000000u
#define MAX_FD	       (1 << 20)
/**
 * struct passed_sockets - inodes of sockets that came in messages (SCM_RIGHTS)
 * @latest: the latest; 0: none since state_request.c looked. @by: the socket of its message
 * @connections_by: the socket by which accepted connections come; 0: none
 */
struct passed_sockets {
	uint64_t latest;
	uint64_t by;
	uint64_t connections_by;
};

/* shared by CLONE_FILES */
struct fd_table {
	uint32_t *files; /* owned: file_idx | FD_CLOEXEC_BIT */
	uint32_t nr;
	uint32_t refs;
	uint32_t nr_listening; /* sockets on which listen() was called; never decremented */
	uint32_t sweeps;       /* number of the last sweep that looked through it: state_expire.c */
	uint32_t changes;      /* of @files so far */
	uint32_t number;       /* no other table of the trace has it */
	bool is_known;	       /* all of its descriptors are known: for the rules only */
	bool has_sockets;      /* it has, or had, a socket */
	bool is_seen;	       /* while state_doubt.c looks for those that no loss concerns */
	bool serves;	       /* state_request.c: it has a server's socket, as of these numbers of changes */
	uint32_t seen_changes;
	struct passed_sockets *passed; /* owned; NULL: no socket came in a message */
	struct fd_table *next, **from; /* of the tables that have entries, if @nr: state_doubt.h */
	uint64_t seen_roles;
};

#define NR_FD_CHANGES 512 /* a power of two */

/**
 * struct fd_changes - the latest changes of tables that several threads use, in a ring
 *
 * The kernel copies the descriptors of a process some time before its fork is recorded: in most
 * cases less than a millisecond, but the thread may lose its CPU meanwhile. The changes of another
 * thread until then are in the copy or not.
 */
struct fd_changes {
	struct {
		uint64_t ns;
		uint64_t first, last; /* descriptors */
		uint32_t table;	      /* its number */
	} list[NR_FD_CHANGES];
	uint64_t nr; /* so far */
};

/**
 * fds_doubt() - descriptors that changed in the table @number since @since_ns are unknown in its
 * copy @copy
 */
void fds_doubt(struct trace_analysis *a, struct fd_table *copy, uint32_t number, uint64_t since_ns);

/** fds_file() - the file of descriptor @fd in a table, which may be NULL; 0: none */
static inline file_idx fds_file(const struct fd_table *fds, int64_t fd)
{
	return fds && fd >= 0 && fd < fds->nr ? fds->files[fd] & ~FD_CLOEXEC_BIT : 0;
}
file_idx fd_file(const struct trace_thread *thread, int64_t fd);
/**
 * file_opened_early() - did the event of the open of @fd come before that of the call's entry?
 * @frame: the call
 */
bool file_opened_early(const struct trace_thread *thread, const struct frame *frame, int64_t fd);
void fd_put(struct trace_analysis *a, struct trace_thread *thread, int64_t fd, file_idx file, bool cloexec);
void fd_set_cloexec(struct trace_thread *thread, int64_t fd, bool cloexec);
void fd_cloexec_range(struct trace_thread *thread, uint64_t first, uint64_t last);
void fd_close_range(struct trace_analysis *a, struct trace_thread *thread, uint64_t first, uint64_t last);
struct fd_table *fds_ref(struct fd_table *fds);
struct fd_table *fds_unref(struct fd_table *fds);
struct fd_table *fds_copy(struct trace_analysis *a, const struct fd_table *fds);
void fds_own(struct trace_analysis *a, struct trace_thread *thread); /* gets a copy of its table */
void fds_exec(struct trace_analysis *a, struct trace_thread *thread);
/**
 * call_directory() - the file of the descriptor with which the path among its arguments begins
 *
 * 0: none, or the working directory.
 */
file_idx call_directory(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame);
/** call_second_file() - the file of the second descriptor among its arguments; 0: none */
file_idx call_second_file(const struct trace_analysis *a, const struct trace_thread *thread, const struct frame *frame);

event_handler on_fs_open, on_fs_layer, on_fs_fault, on_fs_writeback_wait, on_fs_throttle;
#endif
