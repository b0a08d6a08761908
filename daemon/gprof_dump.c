/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gprof_dump.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "error_set.h"
#include "format_text.h"
#include "gprof_counts.h"
#include "message.h"
#include "process_dump.h"
#include "whole_file.h"

/* By its descriptor: the name may become that of another folder meanwhile. */
static int write_file(const struct gprof_counts *counts, int folder)
{
	char path[64];
	struct whole_file file;
	int err, written;

	snprintf(path, sizeof(path), "/proc/self/fd/%d/gmon.out", folder);
	err = whole_file_open(&file, path);
	if (err)
		return err;
	written = gprof_put_program(file.out, &counts->arcs, &counts->program,
				    counts->samples.nr_cells ? &counts->samples : NULL, counts->period_ns);
	err = whole_file_close(&file, !written);
	return written ? written : err;
}

static int write_counts(const struct gprof_counts *counts, const char *folder, bool is_chosen,
			struct trace_error *ret_error)
{
	int at = process_dump_folder(folder, is_chosen, ret_error), err;

	if (at < 0)
		return at;
	err = write_file(counts, at);
	close(at);
	return err ? error_set(ret_error, err, "%s/gmon.out cannot be written: %s", folder, strerror(-err)) : 0;
}

static void tell_next(pid_t pid, const char *folder)
{
	char link[32], path[PATH_MAX], program[4 * PATH_MAX], file[4 * PATH_MAX];
	ssize_t bytes;

	snprintf(link, sizeof(link), "/proc/%d/exe", (int)pid);
	bytes = readlink(link, path, sizeof(path) - 1);
	if (bytes <= 0)
		return;
	path[bytes] = '\0';
	if (!text_shell(path, program, sizeof(program)))
		return;
	snprintf(path, sizeof(path), "%s/gmon.out", folder);
	if (text_shell(path, file, sizeof(file)))
		printf("next: gprof %s %s\n", program, file);
}

/* "gprof.7/gmon.out: 1,030 calls of 12 functions, 250 samples of 1.0 ms, of process 7" */
static void tell(const struct gprof_counts *counts, pid_t pid, const char *folder)
{
	uint64_t nr_calls = 0, nr_others = 0, nr_functions = 0, nr_samples = 0, last = 0;

	for (size_t i = 0; i < counts->arcs.nr; i++) {
		const struct gprof_arc *arc = &counts->arcs.arcs[i];
		bool is_called = gprof_is_in(&counts->program, arc->self);
		bool is_within = is_called && gprof_is_in(&counts->program, arc->from);

		if (is_within)
			nr_calls += arc->count;
		else if (!is_called || arc->count > 1) /* main() is called from outside, once */
			nr_others += arc->count;
		nr_functions += is_within && arc->self != last;
		last = is_within ? arc->self : last;
	}
	for (size_t i = 0; i < counts->samples.nr_cells; i++)
		nr_samples += counts->samples.cells[i];
	printf("%s/gmon.out: %s calls of %s function%s", folder, text_count(nr_calls).s, text_count(nr_functions).s,
	       nr_functions == 1 ? "" : "s");
	if (counts->samples.nr_cells)
		printf(", %s samples of %.1f ms", text_count(nr_samples).s, (double)counts->period_ns / 1e6);
	printf(", of process %d\n", (int)pid);
	if (nr_others)
		printf("%s calls into or from libraries are not in it: they are in gmon.out.process, which the program "
		       "writes "
		       "when it ends\n",
		       text_count(nr_others).s);
	tell_next(pid, folder);
	if (counts->lost)
		message_warning("%s calls are not counted: the process had no memory", text_count(counts->lost).s);
}

int gprof_dump(const char *pid_text, const char *folder)
{
	struct gprof_counts counts = {0};
	struct trace_error error = {0};
	char default_folder[32];
	pid_t pid = process_dump_pid("gprof", pid_text);
	int err;

	if (!pid)
		return 2;
	snprintf(default_folder, sizeof(default_folder), "gprof.%d", (int)pid);
	err = gprof_counts_read(pid, &counts, &error);
	if (!err)
		err = write_counts(&counts, folder ? folder : default_folder, folder, &error);
	if (err)
		message_error("%s", error.message);
	else
		tell(&counts, pid, folder ? folder : default_folder);
	gprof_counts_free(&counts);
	return err ? 1 : 0;
}
