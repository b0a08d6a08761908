/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * user_maps.c - a child that lives as long as the daemon gets a process in a request. It answers
 * with a packet for each memory that it opened, and with a last one.
 */
#include "user_maps.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <trace/user_memory.h>
#include <unistd.h>

#include "file_opener.h"
#include "jail.h"
#include "jail_child.h"
#include "read_end.h"

#define CPU_SECONDS 600

/** struct maps_question - @nr: of @inos; 0: open the memories. @name: of memories */
struct maps_question {
	pid_t pid;
	uint32_t in_text;
	uint64_t nr;
	ino_t inos[USER_MAPS_INODES];
	char name[USER_MEMORY_NAME_BYTES];
};

/**
 * struct maps_answer - @has_file: a memory with the inode @ino; its packet has the descriptor,
 * unless the daemon has none free. Otherwise the last answer
 */
struct maps_answer {
	ino_t ino;
	uint64_t mapped;
	uint32_t has_file, looked_at, failed;
	int32_t err, open_err;
};

/* ---- the child ---- */

static char memory_name[USER_MEMORY_NAME_BYTES]; /* of the last question */

/*
 * Is @target, a link or a mapping as /proc shows it, the memory of a program that uses this
 * daemon's socket?
 */
static bool is_program_memory(const char *target)
{
	size_t prefix = strlen("/memfd:"), chars = strlen(memory_name);

	return strncmp(target, "/memfd:", prefix) == 0 && strncmp(target + prefix, memory_name, chars) == 0 &&
	       strchr(" \n", target[prefix + chars]);
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

bool user_maps_is_memory(int fd, ino_t ino)
{
	struct statx status;

	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_TYPE | STATX_INO, &status) == 0 &&
	       S_ISREG(status.stx_mode) && status.stx_ino == ino &&
	       makedev(status.stx_dev_major, status.stx_dev_minor) == memory_device();
}

static int open_path(const char *path, ino_t ino)
{
	int fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	if (user_maps_is_memory(fd, ino))
		return fd;
	close(fd);
	return -ESTALE;
}

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
 * @in_text: do not query
 */
struct maps {
	int fd;
	FILE *text; /* owned, with @fd; NULL: not in use */
	uint64_t next;
	uint32_t looked_at;
	bool failed, in_text;
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

_Static_assert(sizeof(struct maps_query) == 104, "jail.c allows this size");

#define MAPS_QUERY		_IOWR('f', 17, struct maps_query)
#define MAPS_QUERY_SHARED	0x08u
#define MAPS_QUERY_THIS_OR_NEXT 0x10u
#define MAPS_QUERY_FILES	0x20u

static bool open_maps(struct maps *maps, pid_t pid, bool in_text)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/maps", (int)pid);
	*maps = (struct maps){.fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC), .in_text = in_text};
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

	while (maps->looked_at < USER_MAPS_MAPPINGS && fgets(line, sizeof(line), maps->text)) {
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
	maps->failed = maps->looked_at == USER_MAPS_MAPPINGS || (ferror(maps->text) && errno != ESRCH);
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

	while (maps->looked_at < USER_MAPS_MAPPINGS && ioctl(maps->fd, MAPS_QUERY, &query) == 0) {
		maps->looked_at++;
		query.address = maps->next = query.end;
		if (query.offset || !is_named_program_memory(maps, &query))
			continue;
		*ret_mapped = (struct mapped){.start = query.start, .end = query.end, .ino = query.ino};
		return true;
	}
	maps->failed = maps->looked_at == USER_MAPS_MAPPINGS || (errno != ENOENT && errno != ESRCH);
	return false;
}

static bool next_mapped(struct maps *maps, struct mapped *ret_mapped)
{
	bool may_query = !maps->text && !maps->in_text;

	if (may_query && next_by_query(maps, ret_mapped))
		return true;
	if (may_query && (errno != ENOTTY || maps->looked_at == USER_MAPS_MAPPINGS))
		return false;
	if (!maps->text)
		maps->text = fdopen(maps->fd, "re");
	maps->failed = !maps->text;
	return maps->text && next_in_text(maps, ret_mapped);
}

/*
 * Searches the open files of the process, for a daemon that may not open what the process only
 * maps.
 */
static int open_file(pid_t pid, unsigned long ino)
{
	char path[320], target[64];
	struct dirent *entry;
	int found = -ENOENT, error = 0;
	DIR *files;

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	files = opendir(path);
	while (files && found < 0 && (entry = folder_next(files, &error))) {
		ssize_t chars;

		snprintf(path, sizeof(path), "/proc/%d/fd/%s", (int)pid, entry->d_name);
		chars = readlink(path, target, sizeof(target) - 1);
		target[chars > 0 ? chars : 0] = '\0';
		if (is_program_memory(target))
			found = open_path(path, ino);
	}
	if (files)
		closedir(files);
	return error ? error : found;
}

static int open_mapped(pid_t pid, const struct mapped *mapped)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%lx-%lx", (int)pid, mapped->start, mapped->end);
	fd = open_path(path, mapped->ino);
	return fd >= 0 || fd == -ENOMEM || fd == -ENFILE ? fd : open_file(pid, mapped->ino);
}

static bool send_memory(pid_t pid, const struct mapped *mapped, struct maps_answer *last)
{
	struct maps_answer answer = {.ino = mapped->ino, .has_file = true};
	int fd = open_mapped(pid, mapped);
	bool is_sent;

	if (fd < 0) {
		last->err = last->err ? last->err : fd;
		return true;
	}
	is_sent = jail_send(JAIL_SOCKET, &answer, sizeof(answer), fd, 0);
	close(fd);
	return is_sent;
}

static bool answer(const struct maps_question *question)
{
	struct maps_answer last = {0};
	struct mapped mapped;
	struct maps maps;
	int memories = 0;

	memcpy(memory_name, question->name, sizeof(memory_name));
	if (!open_maps(&maps, question->pid, question->in_text)) {
		last.open_err = -errno;
		return jail_send(JAIL_SOCKET, &last, sizeof(last), -1, 0);
	}
	while ((question->nr || memories++ < USER_MAPS_MEMORIES) && next_mapped(&maps, &mapped)) {
		for (uint64_t i = 0; i < question->nr && i < USER_MAPS_INODES; i++)
			last.mapped |= (uint64_t)(mapped.ino == question->inos[i]) << i;
		if (!question->nr && !send_memory(question->pid, &mapped, &last))
			return false;
	}
	last.looked_at = maps.looked_at;
	last.failed = maps.failed;
	if (maps.failed && !last.err)
		last.err = -errno;
	close_maps(&maps);
	return jail_send(JAIL_SOCKET, &last, sizeof(last), -1, 0);
}

static void __attribute__((noreturn)) run_child(void *context)
{
	struct jail jail = {.cpu_seconds = CPU_SECONDS, .opens_files = true, .dies_with_thread = true};
	struct maps_question question;

	(void)context;
	if (jail_enter(&jail))
		_exit(1);
	while (jail_receive(JAIL_SOCKET, &question, sizeof(question), NULL) == sizeof(question))
		if (!answer(&question))
			break;
	_exit(0);
}

/* ---- the caller ---- */

static struct {
	pthread_mutex_t lock;
	struct jail_child child;
	bool in_text;
} reader = {.lock = PTHREAD_MUTEX_INITIALIZER};

void user_maps_use_text(bool wanted)
{
	__atomic_store_n(&reader.in_text, wanted, __ATOMIC_RELAXED);
}

static int start_child(void)
{
	const struct jail_role role = {.run = run_child, .cpu_seconds = CPU_SECONDS};

	memory_device(); /* the child may make no memfd */
	return jail_child_keep(&role, &reader.child);
}

static void take_memory(const struct maps_answer *answer, int fd, struct user_maps *maps)
{
	if (fd >= 0) {
		maps->inos[maps->nr] = answer->ino;
		maps->fds[maps->nr++] = fd;
	} else if (!maps->err) {
		maps->err = -EMFILE;
	}
}

/* Returns 0, or why there is no last answer. */
static int take_answers(struct user_maps *maps)
{
	for (;;) {
		struct maps_answer answer;
		int fd = -1;
		ssize_t got = jail_answer(&reader.child, &answer, sizeof(answer), &fd, USER_MAPS_ANSWER_NS, -1);

		if (got == sizeof(answer) && answer.has_file && maps->nr < USER_MAPS_MEMORIES) {
			take_memory(&answer, fd, maps);
			continue;
		}
		if (fd >= 0)
			close(fd);
		if (got != sizeof(answer) || answer.has_file)
			return got == -ETIMEDOUT ? -ETIMEDOUT : -EPIPE;
		maps->mapped = answer.mapped;
		maps->looked_at = answer.looked_at;
		maps->failed = answer.failed;
		maps->open_err = answer.open_err;
		maps->err = maps->err ? maps->err : answer.err;
		return 0;
	}
}

static int ask(const struct maps_question *question, struct user_maps *maps)
{
	int result = start_child();

	if (!result)
		result = jail_send(reader.child.socket, question, sizeof(*question), -1, MSG_DONTWAIT)
				 ? take_answers(maps)
				 : -EPIPE;
	if (!result)
		return 0;
	jail_child_stop(&reader.child);
	while (maps->nr)
		close(maps->fds[--maps->nr]);
	return result;
}

static void look(struct maps_question *question, struct user_maps *ret_maps)
{
	int result;

	user_memory_name(getenv("TRACER_SOCKET"), question->name);
	question->in_text = __atomic_load_n(&reader.in_text, __ATOMIC_RELAXED);
	*ret_maps = (struct user_maps){0};
	if (!files_may_ask((uint32_t)question->pid)) {
		ret_maps->failed = true;
		return;
	}
	pthread_mutex_lock(&reader.lock);
	result = ask(question, ret_maps);
	if (result == -EPIPE) { /* the child had used its CPU time, or its thread has ended */
		*ret_maps = (struct user_maps){0};
		result = ask(question, ret_maps);
	}
	pthread_mutex_unlock(&reader.lock);
	if (result == -ETIMEDOUT)
		files_note_unanswered((uint32_t)question->pid);
	if (result) {
		ret_maps->failed = true;
		ret_maps->err = result == -ETIMEDOUT ? 0 : result;
	}
}

void user_maps_close(void)
{
	pthread_mutex_lock(&reader.lock);
	if (reader.child.owner == getpid())
		jail_child_stop(&reader.child);
	pthread_mutex_unlock(&reader.lock);
}

void user_maps_memories(pid_t pid, struct user_maps *ret_maps)
{
	struct maps_question question = {.pid = pid};

	look(&question, ret_maps);
}

void user_maps_inodes(pid_t pid, const ino_t *inos, size_t nr, struct user_maps *ret_maps)
{
	struct maps_question question = {.pid = pid,
					 .in_text = __atomic_load_n(&reader.in_text, __ATOMIC_RELAXED),
					 .nr = nr};

	for (size_t i = 0; i < nr && i < USER_MAPS_INODES; i++)
		question.inos[i] = inos[i];
	look(&question, ret_maps);
}
