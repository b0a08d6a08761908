/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "gmon.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "control.h"
#include "error_set.h"
#include "format_text.h"
#include "gmon_arcs.h"
#include "gmon_counts.h"
#include "gmon_file.h"
#include "kernel_symbols.h"
#include "message.h"

/* The daemon writes to memory of this process. */
static int ask_counts(const char *control_path, struct gmon_counts *counts, char *answer, struct trace_error *ret_error)
{
	int memory = memfd_create("counts", MFD_CLOEXEC), err;

	if (memory < 0)
		return error_set(ret_error, -errno, "no memory for the counts: %s", strerror(errno));
	err = control_ask(control_path, "profile dump", memory, answer, ret_error);
	if (!err)
		err = gmon_counts_read(counts, memory, ret_error);
	close(memory);
	return err;
}

static void tell(const struct gmon_counts *counts, const struct gmon_arcs *arcs, const struct gmon_numbers *numbers,
		 const char *answer)
{
	printf(GMON_FILE ": %s", answer);
	if (numbers->nameless || arcs->nameless)
		printf("not in it: %s samples, and %s runs of functions, that " KERNEL_SYMBOLS_RUNNING
		       " does not name\n",
		       text_count(numbers->nameless).s, text_count(arcs->nameless).s);
	if (counts->not_counted)
		printf("not in it: %s counts of more addresses than have room\n", text_count(counts->not_counted).s);
	if (counts->is_mixed && !counts->by_event)
		puts("the period of the samples has changed: a sample is as much as it lasted, in units of the "
		     "shortest");
	puts("next: gprof -S " GMON_LIST " /bin/true " GMON_FILE);
}

int gmon_dump(const char *control_path)
{
	struct gmon_counts counts = {0};
	struct gmon_arcs arcs = {0};
	struct gmon_numbers numbers = {0};
	struct kernel_symbols symbols = {0};
	struct trace_error error = {0};
	char answer[CONTROL_ANSWER_BYTES];
	int err = ask_counts(control_path, &counts, answer, &error);

	if (!err)
		err = kernel_symbols_read(&symbols, KERNEL_SYMBOLS_RUNNING, &error);
	if (!err && gmon_arcs_make(&arcs, &counts, &symbols))
		err = error_set(&error, -ENOMEM, "no memory for the counts");
	if (!err && !counts.nr)
		err = error_set(&error, -ENODATA,
				"nothing was counted yet: wait for the first samples (kgmon shows whether it records)");
	if (!err)
		err = gmon_files_write(&counts, &arcs, &symbols, &numbers, &error);
	if (err)
		message_error("%s", error.message);
	else
		tell(&counts, &arcs, &numbers, answer);
	gmon_counts_free(&counts);
	gmon_arcs_free(&arcs);
	kernel_symbols_clear(&symbols);
	return err ? 1 : 0;
}
