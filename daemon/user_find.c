/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <trace/user_memory.h>
#include <unistd.h>

#include "clock.h"
#include "read_end.h"

/*
 * SECURITY: a process chooses how many mappings it has, and how many of them look like a program
 * memory. An honest one has its own or its parent's.
 */
#define FIND_MAPPINGS 65536 /* mappings of one process that are examined */
#define FIND_MEMORIES 8
#define FIND_USER_NS  250000000ull /* time limit of a scan for the processes of one user */

/*
 * Is @target, a link or a mapping as /proc shows it, the memory of a program that uses this
 * daemon's socket?
 */
static bool is_program_memory(const char *target)
{
	char name[USER_MEMORY_NAME_BYTES];
	size_t prefix = strlen("/memfd:");

	user_memory_name(getenv("TRACER_SOCKET"), name);
	return strncmp(target, "/memfd:", prefix) == 0 && strncmp(target + prefix, name, strlen(name)) == 0 &&
	       strchr(" \n", target[prefix + strlen(name)]);
}

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

/** struct mapped - a mapping of the memory's first page */
struct mapped {
	unsigned long start;
	unsigned long end;
	unsigned long ino;
};

/**
 * struct maps - the mappings of a process
 * @text: of @fd, on kernels without the query
 * @looked_at: number of mappings examined
 * @failed: the mappings could not be read to the end
 */
struct maps {
	int fd;
	FILE *text; /* owned, with @fd; NULL: not in use */
	uint64_t next;
	uint32_t looked_at;
	bool failed;
};

/* struct procmap_query of Linux 6.11; the system's headers may be older. */
struct maps_query {
	uint64_t size;
	uint64_t flags;
	uint64_t address;
	uint64_t start;
	uint64_t end;
	uint64_t vma_flags;
	uint64_t page_bytes;
	uint64_t offset;
	uint64_t ino;
	uint32_t dev_major;
	uint32_t dev_minor;
	uint32_t name_bytes;
	uint32_t build_id_bytes;
	uint64_t name;
	uint64_t build_id;
};

#define MAPS_QUERY		_IOWR('f', 17, struct maps_query)
#define MAPS_QUERY_SHARED	0x08u
#define MAPS_QUERY_THIS_OR_NEXT 0x10u
#define MAPS_QUERY_FILES	0x20u

static bool in_text; /* atomic: any thread may scan */

void user_find_use_text(bool wanted)
{
	__atomic_store_n(&in_text, wanted, __ATOMIC_RELAXED);
}

static bool open_maps(struct maps *maps, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	*maps = (struct maps){.fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC)};
	return maps->fd >= 0;
}

static void close_maps(struct maps *maps)
{
	if (maps->text)
		fclose(maps->text);
	else if (maps->fd >= 0)
		close(maps->fd);
}

/* The next line that shows a program memory. */
static bool next_in_text(struct maps *maps, struct mapped *ret_mapped)
{
	char line[512];

	while (maps->looked_at < FIND_MAPPINGS && fgets(line, sizeof(line), maps->text)) {
		unsigned long offset;
		int name = 0;

		maps->looked_at++;

		if (!strstr(line, "/memfd:" USER_MEMORY_NAME))
			continue;
		if (sscanf(line, "%lx-%lx %*s %lx %*s %lu %n", &ret_mapped->start, &ret_mapped->end, &offset,
			   &ret_mapped->ino, &name) == 4 &&
		    offset == 0 && name && is_program_memory(line + name))
			return true;
	}
	maps->failed = maps->looked_at == FIND_MAPPINGS || (ferror(maps->text) && errno != ESRCH);
	return false;
}

/* A name that exceeds the buffer is not that of a program memory. */
static bool is_named_program_memory(const struct maps *maps, const struct maps_query *found)
{
	char name[256] = "";
	struct maps_query query = {.size = sizeof(query),
				   .address = found->start,
				   .name = (uintptr_t)name,
				   .name_bytes = sizeof(name) - 1};

	return ioctl(maps->fd, MAPS_QUERY, &query) == 0 && query.ino == found->ino && is_program_memory(name);
}

/*
 * The kernel searches for the few shared mappings of files. Printing and parsing all mappings takes
 * ten times as long, and the scan does this for every process of the machine.
 */
static bool next_by_query(struct maps *maps, struct mapped *ret_mapped)
{
	struct maps_query query = {.size = sizeof(query),
				   .flags = MAPS_QUERY_THIS_OR_NEXT | MAPS_QUERY_FILES | MAPS_QUERY_SHARED,
				   .address = maps->next};

	while (maps->looked_at < FIND_MAPPINGS && ioctl(maps->fd, MAPS_QUERY, &query) == 0) {
		maps->looked_at++;
		query.address = maps->next = query.end;
		if (query.offset || !is_named_program_memory(maps, &query))
			continue;
		*ret_mapped = (struct mapped){.start = query.start, .end = query.end, .ino = query.ino};
		return true;
	}
	maps->failed = maps->looked_at == FIND_MAPPINGS || (errno != ENOENT && errno != ESRCH);
	return false;
}

static bool next_mapped(struct maps *maps, struct mapped *ret_mapped)
{
	bool may_query = !maps->text && !__atomic_load_n(&in_text, __ATOMIC_RELAXED);

	if (may_query && next_by_query(maps, ret_mapped))
		return true;
	if (may_query && (errno != ENOTTY || maps->looked_at == FIND_MAPPINGS))
		return false;
	if (!maps->text)
		maps->text = fdopen(maps->fd, "re");
	maps->failed = !maps->text;
	return maps->text && next_in_text(maps, ret_mapped);
}

uint32_t user_find_which_maps(pid_t pid, const ino_t *inos, bool *ret_mapped, size_t nr)
{
	struct mapped mapped;
	struct maps maps;
	bool unknown;

	/* Without a descriptor or the permission nothing is known about the process. */
	unknown = !open_maps(&maps, pid) && errno != ENOENT && errno != ESRCH;
	for (size_t i = 0; i < nr; i++)
		ret_mapped[i] = unknown;
	if (maps.fd < 0)
		return 0;
	while (next_mapped(&maps, &mapped))
		for (size_t i = 0; i < nr; i++)
			ret_mapped[i] |= mapped.ino == inos[i];
	for (size_t i = 0; i < nr; i++)
		ret_mapped[i] |= maps.failed;
	close_maps(&maps);
	return maps.looked_at;
}

bool user_find_maps(pid_t pid, ino_t ino)
{
	bool mapped;

	user_find_which_maps(pid, &ino, &mapped, 1);
	return mapped;
}

/*
 * The device of all memfds; 0: unknown. The kernel has one file system for them, which no path
 * reaches.
 */
static dev_t memory_device(void)
{
	static dev_t device;
	struct stat status;
	int fd;

	if (device)
		return device;
	fd = memfd_create("device", MFD_CLOEXEC);
	if (fd >= 0 && fstat(fd, &status) == 0)
		device = status.st_dev;
	if (fd >= 0)
		close(fd);
	return device;
}

/*
 * SECURITY: the process may replace the file at any time: with a terminal, a FIFO, a device, or a
 * file of a file system that it serves itself. So O_PATH follows the link without opening the file,
 * the file is checked by what the kernel knows, without a question to its file system, and then
 * exactly that file is opened.
 */
int user_find_open(const char *path, ino_t ino)
{
	int path_fd = open(path, O_PATH | O_CLOEXEC), fd = -1;
	struct statx status;
	char again[64];

	if (path_fd < 0)
		return -1;
	if (statx(path_fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &status) == 0 &&
	    S_ISREG(status.stx_mode) && status.stx_ino == ino &&
	    makedev(status.stx_dev_major, status.stx_dev_minor) == memory_device()) {
		snprintf(again, sizeof(again), "/proc/self/fd/%d", path_fd);
		fd = open(again, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	} else {
		errno = ESTALE;
	}
	close(path_fd);
	return fd;
}

/*
 * Searches the open files of the process, for a daemon that may not open what the process only
 * maps.
 */
static int open_file(pid_t pid, unsigned long ino)
{
	char path[320], target[64];
	struct dirent *entry;
	int found = -1, error = 0;
	DIR *files;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	files = opendir(path);
	while (files && found < 0 && (entry = folder_next(files, &error))) {
		ssize_t chars;

		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, entry->d_name);
		chars = readlink(path, target, sizeof(target) - 1);
		target[chars > 0 ? chars : 0] = '\0';
		if (is_program_memory(target))
			found = user_find_open(path, ino);
	}
	if (files)
		closedir(files);
	if (error)
		errno = -error;
	return found;
}

/*
 * Returns the error if the daemon lacks a resource: then nothing is known about the process.
 * Returns 0 for other errors: the process is dead, or the daemon lacks the permission.
 */
static int missing_resource(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOMEM ? -err : 0;
}

static int open_mapped(pid_t pid, const struct mapped *mapped)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)pid, mapped->start, mapped->end);
	fd = user_find_open(path, mapped->ino);
	return fd >= 0 || missing_resource(errno) ? fd : open_file(pid, mapped->ino);
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
	struct mapped mapped;
	struct maps maps;
	int err = 0, memories = 0;

	*ret_looked_at = 0;
	if (!open_maps(&maps, pid))
		return missing_resource(errno);
	while (memories++ < FIND_MEMORIES && next_mapped(&maps, &mapped)) {
		int fd = open_mapped(pid, &mapped);

		if (fd < 0) {
			err = err ? err : missing_resource(errno);
			continue;
		}
		identity = (struct user_identity){.pid = pid, .pid_fd = -1};
		find_owner(pid, fd, &identity);
		user_find_identity(&identity);
		found(context, fd, &identity);
	}
	if (maps.failed && !err)
		err = missing_resource(errno);
	*ret_looked_at = maps.looked_at;
	close_maps(&maps);
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
