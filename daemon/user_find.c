/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "user_find.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Is @target, a link or mapping as /proc shows it, the memory of a program that meets daemons where we are? */
static bool is_ours(const char *target)
{
	char name[USER_MEMORY_NAME_BYTES];
	size_t prefix = strlen("/memfd:");

	user_memory_name(getenv("TRACER_SOCKET"), name);
	return strncmp(target, "/memfd:", prefix) == 0 && strncmp(target + prefix, name, strlen(name)) == 0 &&
	       strchr(" \n", target[prefix + strlen(name)]);
}

bool user_find_owner(pid_t pid, uid_t *ret_uid, gid_t *ret_gid)
{
	struct stat status;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d", (int)pid);
	if (stat(path, &status) < 0)
		return false;
	*ret_uid = status.st_uid;
	*ret_gid = status.st_gid;
	return true;
}

bool user_find_is_there(const struct user_identity *identity)
{
	uid_t uid;
	gid_t gid;

	if (identity->pid_fd < 0) /* the kernel has none, or we have no room for one */
		return user_find_owner(identity->pid, &uid, &gid);
	return syscall(SYS_pidfd_send_signal, identity->pid_fd, 0, NULL, 0) == 0 || errno == EPERM;
}

/* The number may be another process's by now: what /proc says of it counts only if the process that pid_fd stands for still has the number afterwards. */
void user_find_identity(struct user_identity *identity)
{
	char path[64];
	ssize_t chars;

	if (identity->pid_fd < 0)
		identity->pid_fd = (int)syscall(SYS_pidfd_open, identity->pid, 0);
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)identity->pid);
	chars = readlink(path, identity->exe, sizeof(identity->exe) - 1);
	identity->gone = !user_find_is_there(identity);
	identity->exe[chars > 0 && !identity->gone && identity->pid_fd >= 0 ? chars : 0] = '\0';
}

/* A number that stands behind @key in /proc/PID/status; of several the last. */
static pid_t status_number(pid_t pid, const char *key)
{
	char path[64], line[256];
	pid_t number = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file)) {
		const char *last;

		if (strncmp(line, key, strlen(key)) != 0)
			continue;
		last = strrchr(line, '\t');
		number = last ? (pid_t)atoi(last + 1) : 0;
		break;
	}
	if (file)
		fclose(file);
	return number;
}

pid_t user_find_parent(pid_t pid)
{
	return status_number(pid, "PPid:");
}

pid_t user_find_inner_pid(pid_t pid)
{
	return status_number(pid, "NSpid:");
}

/* ---- what a process maps ---- */

/** struct mapped - where the memory's first page is mapped */
struct mapped {
	unsigned long start;
	unsigned long end;
	unsigned long ino;
};

/** struct maps - of a process. @text: of @fd, on kernels that cannot be asked; @failed: it could not be read to its end */
struct maps {
	int fd;
	FILE *text; /* owned, with @fd; NULL: none */
	uint64_t next;
	bool failed;
};

/* struct procmap_query of Linux 6.11: our headers may be older. */
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

bool user_find_in_text;

static bool open_maps(struct maps *maps, pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	*maps = (struct maps){ .fd = open(path, O_RDONLY | O_CLOEXEC) };
	return maps->fd >= 0;
}

static void close_maps(struct maps *maps)
{
	if (maps->text)
		fclose(maps->text);
	else if (maps->fd >= 0)
		close(maps->fd);
}

/* The next line that is about the memory. */
static bool next_in_text(struct maps *maps, struct mapped *ret_mapped)
{
	char line[512];

	while (fgets(line, sizeof(line), maps->text)) {
		unsigned long offset;
		int name = 0;

		if (!strstr(line, "/memfd:" USER_MEMORY_NAME))
			continue;
		if (sscanf(line, "%lx-%lx %*s %lx %*s %lu %n", &ret_mapped->start, &ret_mapped->end, &offset, &ret_mapped->ino, &name) == 4 &&
		    offset == 0 && name && is_ours(line + name))
			return true;
	}
	maps->failed = ferror(maps->text) && errno != ESRCH;
	return false;
}

/* A name that does not fit is not ours. */
static bool is_named_as_ours(const struct maps *maps, const struct maps_query *found)
{
	char name[256] = "";
	struct maps_query query = { .size = sizeof(query), .address = found->start, .name = (uintptr_t)name, .name_bytes = sizeof(name) - 1 };

	return ioctl(maps->fd, MAPS_QUERY, &query) == 0 && query.ino == found->ino && is_ours(name);
}

/*
 * The kernel looks for the few mappings that are of files and shared; to print them all and read that takes ten times as long, and this is done
 * for every process of the machine.
 */
static bool next_by_query(struct maps *maps, struct mapped *ret_mapped)
{
	struct maps_query query = { .size = sizeof(query), .flags = MAPS_QUERY_THIS_OR_NEXT | MAPS_QUERY_FILES | MAPS_QUERY_SHARED, .address = maps->next };

	while (ioctl(maps->fd, MAPS_QUERY, &query) == 0) {
		query.address = maps->next = query.end;
		if (query.offset || !is_named_as_ours(maps, &query))
			continue;
		*ret_mapped = (struct mapped){ .start = query.start, .end = query.end, .ino = query.ino };
		return true;
	}
	maps->failed = errno != ENOENT && errno != ESRCH;
	return false;
}

static bool next_mapped(struct maps *maps, struct mapped *ret_mapped)
{
	if (!maps->text && !user_find_in_text && next_by_query(maps, ret_mapped))
		return true;
	if (!maps->text && !user_find_in_text && errno != ENOTTY)
		return false;
	if (!maps->text)
		maps->text = fdopen(maps->fd, "re");
	maps->failed = !maps->text;
	return maps->text && next_in_text(maps, ret_mapped);
}

bool user_find_maps(pid_t pid, ino_t ino)
{
	struct mapped mapped;
	struct maps maps;
	bool found = false;

	/* No descriptor left for it, or not for our eyes: that says nothing of the process. */
	if (!open_maps(&maps, pid))
		return errno != ENOENT && errno != ESRCH;
	while (!found && next_mapped(&maps, &mapped))
		found = mapped.ino == ino;
	found |= maps.failed;
	close_maps(&maps);
	return found;
}

/* Among the open files of the process; for us who may not open what it only maps. */
static int open_file(pid_t pid, unsigned long ino)
{
	char path[320], target[64];
	struct dirent *entry;
	struct stat status;
	int found = -1;
	DIR *files;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	files = opendir(path);
	while (files && found < 0 && (entry = readdir(files))) {
		ssize_t chars;

		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, entry->d_name);
		chars = readlink(path, target, sizeof(target) - 1);
		target[chars > 0 ? chars : 0] = '\0';
		if (!is_ours(target))
			continue;
		if (stat(path, &status) == 0 && status.st_ino == ino)
			found = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	}
	if (files)
		closedir(files);
	return found;
}

/* That we lack something says nothing of the process; all else is its own matter: it has gone, or is not for our eyes. */
static int lack(int err)
{
	return err == EMFILE || err == ENFILE || err == ENOMEM ? -err : 0;
}

static int open_mapped(pid_t pid, const struct mapped *mapped)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)pid, mapped->start, mapped->end);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 || lack(errno) ? fd : open_file(pid, mapped->ino);
}

static int look_at(pid_t pid, void (*found)(void *, int, struct user_identity *), void *context)
{
	struct user_identity identity;
	struct mapped mapped;
	struct maps maps;
	int err = 0;

	if (!open_maps(&maps, pid))
		return lack(errno);
	while (next_mapped(&maps, &mapped)) {
		int fd = open_mapped(pid, &mapped);

		if (fd < 0) {
			err = err ? err : lack(errno);
			continue;
		}
		identity = (struct user_identity){ .pid = pid, .pid_fd = -1 };
		user_find_owner(pid, &identity.uid, &identity.gid);
		user_find_identity(&identity);
		found(context, fd, &identity);
	}
	if (maps.failed && !err)
		err = lack(errno);
	close_maps(&maps);
	return err;
}

int user_find_programs(void (*found)(void *context, int fd, struct user_identity *identity), void *context)
{
	DIR *processes = opendir("/proc");
	int err = processes ? 0 : lack(errno), one;
	struct dirent *entry;

	while (processes && (entry = readdir(processes))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid <= 0 || pid == getpid())
			continue;
		one = look_at(pid, found, context);
		err = err ? err : one;
	}
	if (processes)
		closedir(processes);
	return err;
}
