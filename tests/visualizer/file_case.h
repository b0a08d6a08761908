/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_FILE_CASE_H
#define TESTS_FILE_CASE_H
/* file_case.h - a file that a report writes besides its text: --flame, --pprof. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include "report_case.h"

/** struct file_case - a file that a report wrote, and its text */
struct file_case {
	char path[64];
	char *text;
	size_t size;
};

/* The report writes nothing else. */
static inline struct file_case file_of(struct tb *tb, const char *option)
{
	struct file_case file = {.path = "/tmp/file_case_XXXXXX"};
	char options[128], *text;
	gzFile in;
	int fd = mkstemp(file.path), nr;

	close(fd);
	snprintf(options, sizeof(options), "%s=%s", option, file.path);
	text = report_of(tb, options);
	CU_ASSERT_STRING_EQUAL(text, "");
	free(text);
	file.text = malloc(1 << 20);
	in = gzopen(file.path, "rb"); /* reads a plain file as it is */
	nr = gzread(in, file.text, (1 << 20) - 1);
	CU_ASSERT_FATAL(nr > 0);
	gzclose(in);
	file.size = (size_t)nr;
	file.text[nr] = 0;
	unlink(file.path);
	return file;
}
#endif
