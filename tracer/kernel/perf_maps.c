/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * perf_maps.c - a line is "START SIZE NAME", both numbers in hexadecimal. A program appends lines
 * and never changes one, so the last line with an address is right if code was moved.
 */
#include "perf_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <trace/reader.h>
#include "file_opener.h"
#include "jail.h"
#include "jail_child.h"
#include "read_end.h"

#define NAME_BYTES 256

/** struct generated - the function at an address. @bytes: 0: not known */
struct generated {
	uint64_t begin, bytes;
	char *name; /* owned */
};

/* ---- the file ---- */

/* The number of a process in its own namespace, which is in the name of the file. */
static uint32_t inner_number(uint32_t tgid)
{
	char path[32], line[256];
	uint32_t number = tgid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", tgid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (!strncmp(line, "NSpid:", 6))
			number = (uint32_t)strtoul(strrchr(line, '\t') + 1, NULL, 10);
	return read_end(file) < 0 ? tgid : number;
}

static int open_in(struct file_opener *opener, const char *root, uint32_t tgid, uint32_t number,
		   struct stat *ret_status)
{
	struct file_place place = {.folder = "tmp", .tgid = tgid};

	snprintf(place.root, sizeof(place.root), "%s", root);
	snprintf(place.name, sizeof(place.name), "perf-%" PRIu32 ".map", number);
	return file_opener_open(opener, &place, ret_status);
}

/*
 * SECURITY: in /tmp any user can make a file with the number of another's process, also of one that
 * has ended. The samples tell the user of the process.
 */
static bool is_owned(const struct stat *file, uint32_t uid)
{
	return !file->st_uid || file->st_uid == uid;
}

/* The file of a process that has ended stays, unless it was in a container that is gone, too. */
static int open_map(struct file_opener *opener, uint32_t tgid, uint32_t uid)
{
	struct stat status;
	char root[32];
	int fd;

	snprintf(root, sizeof(root), "/proc/%" PRIu32 "/root", tgid);
	fd = open_in(opener, root, tgid, inner_number(tgid), &status);
	if (fd < 0 && fd != -ETIMEDOUT && fd != -EBUSY)
		fd = open_in(opener, "/", tgid, tgid, &status);
	if (fd >= 0 && !is_owned(&status, uid)) {
		close(fd);
		return -EPERM;
	}
	if (fd >= 0 && status.st_size > PERF_MAPS_FILE_BYTES) {
		close(fd);
		return -EFBIG;
	}
	return fd;
}

/* ---- its lines ---- */

/* The first of @nr addresses that is not below @address. */
static size_t first_from(const struct walk_address *addresses, size_t nr, uint64_t address)
{
	size_t from = 0, to = nr;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (addresses[middle].address < address)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

/* Returns false without memory. */
static bool take_line(const struct walk_address *addresses, size_t nr, char *line, struct generated *found)
{
	char *at;
	uint64_t begin = strtoull(line, &at, 16), bytes = *at == ' ' ? strtoull(at + 1, &at, 16) : 0;

	if (*at != ' ' || !bytes || !at[1])
		return true;
	for (size_t i = first_from(addresses, nr, begin); i < nr && addresses[i].address - begin < bytes; i++) {
		char *name = strdup(at + 1);

		if (!name)
			return false;
		free(found[i].name);
		found[i] = (struct generated){begin, bytes, name};
	}
	return true;
}

static bool read_lines(FILE *file, const struct walk_address *addresses, size_t nr, struct generated *found)
{
	char line[NAME_BYTES + 64];
	bool is_complete = true, is_begin = true;

	while (is_complete && fgets(line, sizeof(line), file)) {
		size_t chars = strcspn(line, "\n");
		bool has_end = line[chars] == '\n';

		line[chars] = 0;
		if (is_begin)
			is_complete = take_line(addresses, nr, line, found);
		is_begin = has_end; /* the rest of a long line is no line */
	}
	return is_complete && !ferror(file);
}

/* ---- the child without rights ---- */

/** struct map_task - what the child looks for; it has a copy */
struct map_task {
	const struct walk_address *addresses;
	size_t nr;
};

/** struct map_answer - the function of address @idx; the last one has no name */
struct map_answer {
	uint64_t idx, begin, bytes;
	char name[NAME_BYTES];
};

static bool send_answer(size_t idx, const struct generated *generated)
{
	struct map_answer answer = {idx, generated->begin, generated->bytes, ""};

	if (generated->name)
		snprintf(answer.name, sizeof(answer.name), "%s", generated->name);
	return jail_send(JAIL_SOCKET, &answer, sizeof(answer), -1, 0);
}

static void __attribute__((noreturn)) run_child(void *context)
{
	struct jail jail = {.cpu_seconds = PERF_MAPS_CPU_SECONDS, .dies_with_thread = true};
	const struct map_task *task = context;
	struct generated *found = calloc(task->nr, sizeof(*found)), none = {0};
	FILE *file = jail_enter(&jail) ? NULL : fdopen(JAIL_FILES, "r");
	bool is_complete;

	if (!found || !file)
		_exit(1);
	is_complete = read_lines(file, task->addresses, task->nr, found);
	for (size_t i = 0; i < task->nr; i++)
		if (found[i].name && !send_answer(i, &found[i]))
			_exit(1);
	_exit(!is_complete || !send_answer(task->nr, &none));
}

/* Takes the answers of the child until the last one. Returns 0, -ENOMEM, or why they ended. */
static int take_answers(const struct jail_child *child, const struct map_task *task, struct generated *found)
{
	for (;;) {
		struct map_answer answer;
		ssize_t got = jail_answer(child, &answer, sizeof(answer), NULL, FILE_ANSWER_NS, -1);

		if (got != sizeof(answer) || answer.name[NAME_BYTES - 1] || answer.idx > task->nr)
			return got == -ETIMEDOUT ? -ETIMEDOUT : -EBADMSG;
		if (answer.idx == task->nr)
			return 0;
		for (unsigned char *c = (unsigned char *)answer.name; *c; c++)
			if (*c < ' ' || *c == 0x7f)
				*c = '?';
		free(found[answer.idx].name);
		found[answer.idx] = (struct generated){answer.begin, answer.bytes, strdup(answer.name)};
		if (!found[answer.idx].name)
			return -ENOMEM;
	}
}

/* Names that cannot be read are only missing, and counted. Returns 0 or -ENOMEM. */
static int read_map(int fd, const struct map_task *task, struct generated *found, uint64_t *unread)
{
	struct jail_role role = {.run = run_child,
				 .context = (void *)task,
				 .files = &fd,
				 .nr_files = 1,
				 .cpu_seconds = PERF_MAPS_CPU_SECONDS};
	struct jail_child child;
	char reason[1];
	int result = jail_child_start(&role, &child);

	if (!result) {
		result = take_answers(&child, task, found);
		jail_child_end(&child, false, reason, sizeof(reason));
	}
	*unread += result != 0;
	if (result == -ETIMEDOUT)
		files_note_unanswered(task->addresses->tgid);
	return result == -ENOMEM ? -ENOMEM : 0;
}

/* ---- all ---- */

static int emit_found(uint32_t tgid, const struct generated *found, size_t nr, uint64_t *number, tracer_string_fn emit,
		      void *context)
{
	const struct generated *before = NULL;
	char text[NAME_BYTES + 128];
	int result = 0;

	for (size_t i = 0; i < nr && !result; i++) {
		if (!found[i].name || (before && before->begin == found[i].begin && before->bytes == found[i].bytes))
			continue;
		before = &found[i];
		snprintf(text, sizeof(text), "%" PRIu32 " %" PRIx64 " %" PRIu64 " %s", tgid, before->begin,
			 before->bytes, before->name);
		result = emit(context, TRACE_STRING_PROGRAM_CODE, (*number)++, text);
	}
	return result;
}

/** struct map_totals - @number: of the next name */
struct map_totals {
	uint64_t number;
	struct perf_maps_missing missing;
};

static int emit_process(struct file_opener *opener, const struct walk_address *addresses, size_t nr,
			struct map_totals *totals, tracer_string_fn emit, void *context)
{
	const struct map_task task = {addresses, nr};
	struct generated *found = calloc(nr, sizeof(*found));
	int fd = found ? open_map(opener, addresses->tgid, addresses->uid) : -ENOMEM;
	int result = found ? 0 : -ENOMEM;

	totals->missing.too_large += fd == -EFBIG;
	totals->missing.unread += fd == -ETIMEDOUT || fd == -EBUSY;
	if (fd >= 0) {
		result = read_map(fd, &task, found, &totals->missing.unread);
		close(fd);
	}
	if (!result)
		result = emit_found(addresses->tgid, found, nr, &totals->number, emit, context);
	for (size_t i = 0; found && i < nr; i++)
		free(found[i].name);
	free(found);
	return result;
}

int perf_maps_emit(const struct walk_address *addresses, size_t nr, tracer_string_fn emit, void *context,
		   struct perf_maps_missing *ret_missing)
{
	struct file_opener opener = {0};
	struct map_totals totals = {0};
	int result = 0;
	size_t of_process;

	for (size_t i = 0; i < nr && !result; i += of_process) {
		for (of_process = 1; i + of_process < nr && addresses[i + of_process].tgid == addresses[i].tgid;)
			of_process++;
		result = emit_process(&opener, addresses + i, of_process, &totals, emit, context);
	}
	file_opener_close(&opener);
	*ret_missing = totals.missing;
	return result;
}
