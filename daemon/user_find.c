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

/* Is @target, a link or mapping as /proc shows it, the memory of a program that meets daemons where we are? */
static bool is_ours(const char *target)
{
	char name[USER_MEMORY_NAME_BYTES];
	size_t prefix = strlen("/memfd:");

	user_memory_name(getenv("TRACER_SOCKET"), name);
	return strncmp(target, "/memfd:", prefix) == 0 && strncmp(target + prefix, name, strlen(name)) == 0 &&
	       strchr(" \n", target[prefix + strlen(name)]);
}

void user_find_identity(struct user_identity *identity)
{
	struct stat status;
	char path[64];
	ssize_t chars;

	if (identity->pid_fd < 0)
		identity->pid_fd = (int)syscall(SYS_pidfd_open, identity->pid, 0);
	snprintf(path, sizeof(path), "/proc/%d", (int)identity->pid);
	identity->gone = stat(path, &status) < 0;
	if (!identity->gone) {
		identity->uid = status.st_uid;
		identity->gid = status.st_gid;
	}
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)identity->pid);
	chars = readlink(path, identity->exe, sizeof(identity->exe) - 1);
	identity->exe[chars > 0 ? chars : 0] = '\0';
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

/** struct mapped - a line of /proc/PID/maps that is about the memory's first page */
struct mapped {
	unsigned long start;
	unsigned long end;
	unsigned long ino;
};

/* The next such line of @maps. */
static bool next_mapped(FILE *maps, struct mapped *ret_mapped)
{
	char line[512];

	while (fgets(line, sizeof(line), maps)) {
		unsigned long offset;
		int name = 0;

		if (!strstr(line, "/memfd:" USER_MEMORY_NAME))
			continue;
		if (sscanf(line, "%lx-%lx %*s %lx %*s %lu %n", &ret_mapped->start, &ret_mapped->end, &offset, &ret_mapped->ino, &name) == 4 &&
		    offset == 0 && name && is_ours(line + name))
			return true;
	}
	return false;
}

static FILE *open_maps(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	return fopen(path, "re");
}

bool user_find_maps(pid_t pid, ino_t ino)
{
	FILE *maps = open_maps(pid);
	struct mapped mapped;
	bool found = false;

	/* No descriptor left for it, or not for our eyes: that says nothing of the process. */
	if (!maps)
		return errno != ENOENT && errno != ESRCH;
	while (!found && next_mapped(maps, &mapped))
		found = mapped.ino == ino;
	found |= ferror(maps) && errno != ESRCH;
	fclose(maps);
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

static int open_mapped(pid_t pid, const struct mapped *mapped)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)pid, mapped->start, mapped->end);
	fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	return fd >= 0 ? fd : open_file(pid, mapped->ino);
}

static void look_at(pid_t pid, void (*found)(void *, int, struct user_identity *), void *context)
{
	struct user_identity identity;
	struct mapped mapped;
	FILE *maps = open_maps(pid);

	while (maps && next_mapped(maps, &mapped)) {
		int fd = open_mapped(pid, &mapped);

		if (fd < 0)
			continue;
		identity = (struct user_identity){ .pid = pid, .pid_fd = -1 };
		user_find_identity(&identity);
		found(context, fd, &identity);
	}
	if (maps)
		fclose(maps);
}

void user_find_programs(void (*found)(void *context, int fd, struct user_identity *identity), void *context)
{
	DIR *processes = opendir("/proc");
	struct dirent *entry;

	while (processes && (entry = readdir(processes))) {
		pid_t pid = (pid_t)atoi(entry->d_name);

		if (pid > 0 && pid != getpid())
			look_at(pid, found, context);
	}
	if (processes)
		closedir(processes);
}
