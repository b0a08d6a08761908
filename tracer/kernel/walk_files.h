/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
#ifndef TRACER_WALK_FILES_H
#define TRACER_WALK_FILES_H
/* walk_files.h - files with unwind tables, between the BPF programs and sample_tables.c; the same
 * structs on both sides */

#define WALK_MAX_FILES	   8192
#define WALK_VDSO	   0	       /* the number of the kernel's own page */
#define WALK_FIRST_FILE	   1	       /* numbers of files are from here on */
#define WALK_NO_FILE	   0xffffffffu /* more files than have numbers */
#define WALK_MAX_PROCESSES 8192
#define WALK_MAX_MAPPINGS  128

#define WALK_EARLY_BLOCKS	6144 /* of 4096 bytes */
#define WALK_EARLY_TABLE_BLOCKS 3072 /* of the largest table: that of cc1plus has 2475 */
#define WALK_EARLY_SMALL_BLOCKS 128  /* of the largest small table */
#define WALK_EARLY_SMALL_ROOM	2048 /* left for small tables */

/**
 * struct walk_file - identifies what is in a file: a file that is written again, or has the inode
 * number of a deleted one, is another. A program can set the mtime of a file, but not its ctime.
 */
struct walk_file {
	unsigned long long ino;
	unsigned long long mtime_ns;
	unsigned long long ctime_ns;
	unsigned int dev;
	unsigned int generation;
};

/**
 * struct walk_mapping - a mapping of code. @pages: of 4096 bytes; 0: unused
 * @base: the address at which the begin of the file would be
 */
struct walk_mapping {
	unsigned long long start;
	unsigned long long base;
	unsigned int pages;
	unsigned int file;
};

/** struct walk_process - the mappings of a process. @lost: mappings for which there was no room */
struct walk_process {
	unsigned int nr;
	unsigned int lost;
	struct walk_mapping mappings[WALK_MAX_MAPPINGS];
};

/**
 * struct walk_address - code of process @tgid in no file. @uid: 0 in the BPF programs, where the
 * map's value has it: the user of the process when it was sampled first
 */
struct walk_address {
	unsigned long long address;
	unsigned int tgid;
	unsigned int uid;
};

/** struct walk_wanted - a file whose table is wanted, and where a process has it mapped */
struct walk_wanted {
	unsigned long long start;
	unsigned long long end;
	unsigned int file;
	unsigned int tgid;
};

#endif
