/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_MAPS_H
#define DAEMON_USER_MAPS_H
/*
 * user_maps.h - the memories of programs that a process has mapped
 *
 * SECURITY: the kernel takes the lock of the process's mappings to show and to open them, and the
 * process can hold it for ever (file_opener.h). So a child looks at them. The main thread waits for
 * it, and the rings of the kernel fill: for at most USER_MAPS_ANSWER_NS, unless the child runs.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define USER_MAPS_ANSWER_NS 100000000ull
/*
 * SECURITY: a process chooses how many mappings it has, and how many of them look like a program
 * memory. An honest one has its own or its parent's.
 */
#define USER_MAPS_MAPPINGS 65536 /* mappings of one process that are examined */
#define USER_MAPS_MEMORIES 8
#define USER_MAPS_INODES   64

/**
 * struct user_maps - what a process has mapped
 * @fds: of its memories, opened with O_PATH; the caller closes them. @inos: of these
 * @mapped: for each inode that was asked for
 * @looked_at: number of mappings examined
 * @err: the first error, negative: a memory could not be opened, or there is no child
 * @open_err: of /proc/PID/maps, negative; then there is nothing else
 * @failed: the mappings could not be read to the end
 */
struct user_maps {
	int fds[USER_MAPS_MEMORIES];
	ino_t inos[USER_MAPS_MEMORIES];
	size_t nr;
	uint64_t mapped;
	uint32_t looked_at;
	int err, open_err;
	bool failed;
};

/** user_maps_memories() - open the memories of programs. Any thread */
void user_maps_memories(pid_t pid, struct user_maps *ret_maps);

/** user_maps_inodes() - which of @nr <= USER_MAPS_INODES memories has it mapped? Any thread */
void user_maps_inodes(pid_t pid, const ino_t *inos, size_t nr, struct user_maps *ret_maps);

/**
 * user_maps_is_memory() - is the O_PATH descriptor @fd the memory with the inode @ino? The file
 * system is not asked
 */
bool user_maps_is_memory(int fd, ino_t ino);

/** user_maps_close() - end the child; the next question starts another one. Any thread */
void user_maps_close(void);

/** user_maps_use_text() - see user_find_use_text() */
void user_maps_use_text(bool wanted);

#endif
