/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "read_end.h"
#include "user_maps.h"

#define FIND_USER_NS 250000000ull /* time limit of a scan for the processes of one user */

/**
 * struct status_key - a line of /proc/PID/status
 * @number: the last number of the line; 0: there is no such line
 */
struct status_key {
	const char *key;
	pid_t number;
};

static void read_status(pid_t pid, struct status_key *keys, size_t nr)
{
	char path[64], line[256];
	size_t missing = nr;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && missing && fgets(line, sizeof(line), file))
		for (size_t i = 0; i < nr; i++) {
			const char *last = strrchr(line, '\t');

			if (strncmp(line, keys[i].key, strlen(keys[i].key)) != 0)
				continue;
			keys[i].number = last ? (pid_t)atoi(last + 1) : 0;
			missing--;
		}
	if (read_end(file) < 0) /* the others may be in the rest */
		for (size_t i = 0; i < nr; i++)
			keys[i].number = 0;
}

static pid_t status_number(pid_t pid, const char *key)
{
	struct status_key line = {.key = key};

	read_status(pid, &line, 1);
	return line.number;
}

/*
 * SECURITY: a process that is not dumpable has its files in /proc owned by root, and a process can
 * make itself so. Then the owner is read from its status.
 */
static void owner_of(pid_t pid, const struct stat *status, uid_t *ret_uid, gid_t *ret_gid)
{
	struct status_key lines[] = {{.key = "Pid:"}, {.key = "Uid:"}, {.key = "Gid:"}};

	*ret_uid = status->st_uid;
	*ret_gid = status->st_gid;
	if (status->st_uid != 0)
		return;
	read_status(pid, lines, sizeof(lines) / sizeof(lines[0]));
	*ret_uid = (uid_t)lines[1].number;
	*ret_gid = (gid_t)lines[2].number;
	if (lines[0].number == 0) /* the process is dead, so st_uid says nothing about it */
		*ret_uid = (uid_t)-1;
}

bool user_find_owner(pid_t pid, uid_t *ret_uid, gid_t *ret_gid)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &status) < 0)
		return false;
	owner_of(pid, &status, ret_uid, ret_gid);
	return true;
}

bool user_find_has_pid(const struct user_identity *identity)
{
	uid_t uid;
	gid_t gid;

	if (identity->pid_fd < 0) /* the kernel has no pidfds, or no descriptor is free */
		return user_find_owner(identity->pid, &uid, &gid);
	return syscall(SYS_pidfd_send_signal, identity->pid_fd, 0, NULL, 0) == 0 || errno == EPERM;
}

/*
 * The kernel may have reused the pid meanwhile. So the result from /proc counts only if the process
 * of pid_fd has its pid still afterwards.
 */
void user_find_identity(struct user_identity *identity)
{
	char path[64];
	ssize_t chars;

	if (identity->pid_fd < 0)
		identity->pid_fd = (int)syscall(SYS_pidfd_open, identity->pid, 0);
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)identity->pid);
	chars = readlink(path, identity->exe, sizeof(identity->exe) - 1);
	identity->gone = !user_find_has_pid(identity);
	identity->exe[chars > 0 && !identity->gone && identity->pid_fd >= 0 ? chars : 0] = '\0';
}

pid_t user_find_parent(pid_t pid)
{
	return status_number(pid, "PPid:");
}

pid_t user_find_inner_pid(pid_t pid)
{
	return status_number(pid, "NSpid:");
}

/* ---- mappings of a process ---- */

void user_find_use_text(bool wanted)
{
	user_maps_use_text(wanted);
}

uint32_t user_find_which_maps(pid_t pid, const ino_t *inos, bool *ret_mapped, size_t nr)
{
	uint32_t looked_at = 0;

	for (size_t first = 0; first < nr; first += USER_MAPS_INODES) {
		size_t here = nr - first < USER_MAPS_INODES ? nr - first : USER_MAPS_INODES;
		struct user_maps maps;
		bool unknown;

		user_maps_inodes(pid, inos + first, here, &maps);
		/* without a descriptor or the permission nothing is known about the process */
		unknown = maps.failed || (maps.open_err && maps.open_err != -ENOENT && maps.open_err != -ESRCH);
		for (size_t i = 0; i < here; i++)
			ret_mapped[first + i] = unknown || maps.mapped >> i & 1;
		looked_at += maps.looked_at;
	}
	return looked_at;
}

bool user_find_maps(pid_t pid, ino_t ino)
{
	bool mapped;

	user_find_which_maps(pid, &ino, &mapped, 1);
	return mapped;
}

/*
 * SECURITY: the process may replace the file at any time: with a terminal, a FIFO, a device, or a
 * file of a file system that it serves itself. So O_PATH follows the link without opening the file,
 * the file is checked by what the kernel knows, without a question to its file system, and then
 * exactly that file is opened.
 */
static int open_again(int path_fd, ino_t ino)
{
	char again[64];

	if (!user_maps_is_memory(path_fd, ino)) {
		errno = ESTALE;
		return -1;
	}
	snprintf(again, sizeof(again), "/proc/self/fd/%d", path_fd);
	return open(again, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
}

int user_find_open(const char *path, ino_t ino)
{
	int path_fd = open(path, O_PATH | O_CLOEXEC), fd;

	if (path_fd < 0)
		return -1;
	fd = open_again(path_fd, ino);
	close(path_fd);
	return fd;
}

/*
 * Returns the error if the daemon lacks a resource: then nothing is known about the process.
 * Returns 0 for other errors: the process is dead, or the daemon lacks the permission.
 */
static int missing_resource(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOMEM ? -err : 0;
}

/*
 * SECURITY: a process may run a set-user-id program after its memory was found, and then belongs to
 * root, whose programs have no bounds. The memory belongs to the user that created it.
 */
static void find_owner(pid_t pid, int memory_fd, struct user_identity *identity)
{
	struct stat memory;

	user_find_owner(pid, &identity->uid, &identity->gid);
	if (identity->uid != 0 || fstat(memory_fd, &memory) < 0 || memory.st_uid == 0)
		return;
	identity->uid = memory.st_uid;
	identity->gid = memory.st_gid;
}

static int look_at(pid_t pid, void (*found)(void *, int, struct user_identity *), void *context,
		   uint32_t *ret_looked_at)
{
	struct user_identity identity;
	struct user_maps maps;
	int err;

	user_maps_memories(pid, &maps);
	err = missing_resource(maps.open_err ? -maps.open_err : -maps.err);
	for (size_t i = 0; i < maps.nr; i++) {
		int fd = open_again(maps.fds[i], maps.inos[i]);

		err = err || fd >= 0 ? err : missing_resource(errno);
		close(maps.fds[i]);
		if (fd < 0)
			continue;
		identity = (struct user_identity){.pid = pid, .pid_fd = -1};
		find_owner(pid, fd, &identity);
		user_find_identity(&identity);
		found(context, fd, &identity);
	}
	*ret_looked_at = maps.looked_at;
	return err;
}

/**
 * struct scan_time - the time that a scan has used for processes of one user that is not trusted
 */
struct scan_time {
	uid_t uid;
	uint64_t ns;
};

enum { SPENT_USERS = 64 };

/**
 * struct scan - one scan of /proc
 * @spent: @nr users with processes that took long
 * @refuses: one of these users has used up the time limit
 */
struct scan {
	struct scan_time spent[SPENT_USERS];
	size_t nr;
	bool refuses;
};

static bool user_of(pid_t pid, uid_t *ret_uid)
{
	struct stat status;
	char path[64];
	gid_t gid;

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &status) < 0)
		return false;
	owner_of(pid, &status, ret_uid, &gid);
	return *ret_uid != 0 && *ret_uid != geteuid();
}

static bool has_used_up_time(const struct scan *scan, pid_t pid)
{
	uid_t uid;

	if (!scan->refuses || !user_of(pid, &uid))
		return false;
	for (size_t i = 0; i < scan->nr; i++)
		if (scan->spent[i].uid == uid)
			return scan->spent[i].ns > FIND_USER_NS;
	return false;
}

static void charge_user(struct scan *scan, pid_t pid, uint64_t ns)
{
	size_t i = 0;
	uid_t uid;

	if (ns < FIND_USER_NS / 1024 || !user_of(pid, &uid))
		return;
	while (i < scan->nr && scan->spent[i].uid != uid)
		i++;
	if (i == SPENT_USERS)
		return;
	if (i == scan->nr)
		scan->spent[scan->nr++] = (struct scan_time){.uid = uid};
	scan->spent[i].ns += ns;
	scan->refuses |= scan->spent[i].ns > FIND_USER_NS;
}

static int scan_process(struct scan *scan, pid_t pid,
			void (*found)(void *context, int fd, struct user_identity *identity), void *context)
{
	uint64_t begin_ns;
	uint32_t looked_at;
	int err;

	if (has_used_up_time(scan, pid))
		return -ETIME;
	begin_ns = clock_now();
	err = look_at(pid, found, context, &looked_at);
	charge_user(scan, pid, clock_now() - begin_ns);
	return err;
}

int user_find_process(pid_t pid, void (*found)(void *context, int fd, struct user_identity *identity), void *context,
		      uint32_t *ret_looked_at)
{
	return look_at(pid, found, context, ret_looked_at);
}

const char *user_find_error_text(int err)
{
	return err == -ETIME ? "the processes of one user take too long to examine" : strerror(-err);
}

int user_find_programs(void (*found)(void *context, int fd, struct user_identity *identity), void *context)
{
	DIR *processes = opendir("/proc");
	int err = processes ? 0 : missing_resource(errno), one;
	struct scan scan = {.nr = 0};
	struct dirent *entry;
	int error = 0;

	while (processes && (entry = folder_next(processes, &error))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid <= 0 || pid == getpid())
			continue;
		one = scan_process(&scan, pid, found, context);
		err = err ? err : one;
	}
	if (processes)
		closedir(processes);
	return err ? err : error;
}
