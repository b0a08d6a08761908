/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gcov.c - tracectl gcov: the execution counts of a program that runs, from outside
 *
 *   objects    the program and its libraries that have counters        gcov_objects.c
 *   counters   are read from the process's memory; it runs on          gcov_counters.c
 *   since      the counts of an earlier dump are subtracted            gcov_counters.c
 *   files      .gcda files below a folder, with links to the .gcno     gcov_file.c
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "error_set.h"
#include "format_text.h"
#include "gcov.h"
#include "gcov_counters.h"
#include "gcov_file.h"
#include "gcov_objects.h"
#include "message.h"
#include "process_dump.h"

static int read_counters(pid_t pid, struct gcov_units *units, struct trace_error *ret_error)
{
	struct gcov_object *objects = NULL;
	struct gcov_missing missing = {0};
	size_t nr = 0;
	int err = gcov_objects_find(pid, &objects, &nr, &missing, ret_error);

	if (err)
		return err;
	for (size_t i = 0; i < nr && !err; i++)
		err = gcov_units_read(units, pid, objects[i].path, objects[i].root, ret_error);
	gcov_objects_free(objects, nr);
	if (!err && missing.nr_unread)
		message_warning("process %d: %zu of its files %s too many symbols, or took too long to read: what %s "
				"is missing",
				(int)pid, missing.nr_unread, missing.nr_unread == 1 ? "has" : "have",
				missing.nr_unread == 1 ? "it counted" : "they counted");
	if (!err && !units->nr)
		err = error_set(ret_error, -ENODATA, "process %d: no part of it was built with --coverage%s", (int)pid,
				missing.nr_stripped
					? ", or that part has no symbol table: build it without -s, and do not strip it"
					: "");
	return err;
}

/* A unit that the earlier dump does not have was loaded since: all of its counts are new. */
static int subtract(struct gcov_units *units, const char *since, struct trace_error *ret_error)
{
	int folder = open(since, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err = 0;
	size_t nr_found = 0;

	if (folder < 0)
		return error_set(ret_error, -errno, "--since: %s: %s", since, strerror(errno));
	for (size_t i = 0; i < units->nr && !err; i++) {
		struct gcov_unit earlier = {0};
		char name[PATH_MAX];

		gcov_file_name(&units->units[i], name, sizeof(name));
		err = gcov_file_read(folder, name, &earlier);
		if (err == -ENOENT) {
			err = 0;
			continue;
		}
		nr_found++;
		if (!err)
			err = gcov_unit_subtract(&units->units[i], &earlier);
		gcov_unit_free(&earlier);
		if (err)
			error_set(ret_error, err, "--since: %s/%s: %s", since, name,
				  err == -ESTALE    ? "it is of another build of the program"
				  : err == -ERANGE  ? "it has higher counts than the process: it is of another process"
				  : err == -EBADMSG ? "it is not a file of counts"
						    : strerror(-err));
	}
	close(folder);
	if (!err && !nr_found)
		err = error_set(ret_error, -ENOENT, "--since: %s has no file of this program", since);
	return err;
}

static int write_files(const struct gcov_units *units, const char *folder, bool is_chosen,
		       struct trace_error *ret_error)
{
	int at = process_dump_folder(folder, is_chosen, ret_error), err;

	if (at < 0)
		return at;
	err = gcov_files_write(at, units, folder, ret_error);
	close(at);
	return err;
}

/* "gcov.7: 12 files, 340 functions, 2190 counts of process 7", and what to type */
static void tell(const struct gcov_units *units, pid_t pid, const char *folder, const char *since)
{
	uint64_t nr_functions = 0, nr_counts = 0;
	char name[PATH_MAX], path[2 * PATH_MAX], word[4 * sizeof(path)];

	for (size_t i = 0; i < units->nr; i++) {
		nr_counts += gcov_unit_counts(&units->units[i]);
		for (uint32_t k = 0; k < units->units[i].nr; k++)
			nr_functions += units->units[i].functions[k].counts != NULL;
	}
	gcov_file_name(&units->units[0], name, sizeof(name));
	printf("%s: %u file%s, %llu function%s, %llu counts of process %d%s%s\n", folder, units->nr,
	       units->nr == 1 ? "" : "s", (unsigned long long)nr_functions, nr_functions == 1 ? "" : "s",
	       (unsigned long long)nr_counts, (int)pid, since ? ", since " : "", since ? since : "");
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (text_shell(path, word, sizeof(word)))
		printf("next: gcov %s\n", word);
}

static int dump(pid_t pid, const char *folder, bool is_chosen, const char *since)
{
	struct gcov_units units = {0};
	struct trace_error error = {0};
	int err = read_counters(pid, &units, &error);

	if (!err && since)
		err = subtract(&units, since, &error);
	if (!err)
		err = write_files(&units, folder, is_chosen, &error);
	if (err)
		message_error("%s", error.message);
	else
		tell(&units, pid, folder, since);
	gcov_units_free(&units);
	return err ? 1 : 0;
}

int gcov_dump(const char *pid_text, const char *folder, const char *since)
{
	char default_folder[32];
	pid_t pid = process_dump_pid("gcov", pid_text);

	if (!pid)
		return 2;
	snprintf(default_folder, sizeof(default_folder), "gcov.%d", (int)pid);
	return dump(pid, folder ? folder : default_folder, folder, since);
}
