/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_file_state.c - a trace file that cannot be looked at is neither the same nor gone. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <trace/reader.h>
#include <unistd.h>
#include "builder.h"
#include "unit.h"

static char folder[] = "/tmp/file_state.XXXXXX", path[64];

static struct trace *opened(void)
{
	struct tb *tb = tb_new();
	int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct trace *trace;

	tb_switch(tb, 0, 1000, 0, 100, 0);
	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
	trace = trace_open(path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	CU_ASSERT_EQUAL(trace_file_state(trace), TRACE_FILE_SAME);
	return trace;
}

/* The descriptor of the library for the file: this program has no other one of it. */
static int descriptor(void)
{
	struct stat wanted, status;

	CU_ASSERT_EQUAL_FATAL(stat(path, &wanted), 0);
	for (int fd = 3; fd < 100; fd++)
		if (fstat(fd, &status) == 0 && status.st_dev == wanted.st_dev && status.st_ino == wanted.st_ino)
			return fd;
	CU_FAIL_FATAL("no descriptor");
	return -1;
}

static void grow(void)
{
	int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);

	CU_ASSERT_EQUAL(write(fd, "more", 4), 4);
	close(fd);
}

static void a_descriptor_that_fails_is_unknown(void)
{
	struct trace *trace = opened();
	int fd = descriptor(), saved = dup(fd);

	close(fd);
	CU_ASSERT_EQUAL(trace_file_state(trace), TRACE_FILE_UNKNOWN);
	dup2(saved, fd);
	close(saved);
	CU_ASSERT_EQUAL(trace_file_state(trace), TRACE_FILE_SAME);
	trace_close(trace);
}

static void a_longer_file_that_is_not_read_is_unknown(void)
{
	struct trace *trace = opened();
	int fd = descriptor(), saved = dup(fd), unread = open(path, O_WRONLY | O_CLOEXEC);

	grow();
	CU_ASSERT_EQUAL(trace_file_state(trace), TRACE_FILE_GROWN);
	dup2(unread, fd); /* fstat() knows it, and pread() fails */
	CU_ASSERT_EQUAL(trace_file_state(trace), TRACE_FILE_UNKNOWN);
	dup2(saved, fd);
	CU_ASSERT_EQUAL(trace_file_state(trace), TRACE_FILE_GROWN);
	close(unread);
	close(saved);
	trace_close(trace);
}

static void a_path_that_is_not_permitted_is_unknown(void)
{
	struct trace *trace = opened();
	bool is_root = geteuid() == 0;

	CU_ASSERT_EQUAL(chmod(folder, 0), 0);
	if (is_root)
		CU_ASSERT_EQUAL(seteuid(65534), 0);
	CU_ASSERT_EQUAL(trace_file_state(trace), TRACE_FILE_UNKNOWN);
	if (is_root)
		CU_ASSERT_EQUAL(seteuid(0), 0);
	CU_ASSERT_EQUAL(chmod(folder, 0700), 0);
	CU_ASSERT_EQUAL(trace_file_state(trace), TRACE_FILE_SAME);
	CU_ASSERT_EQUAL(unlink(path), 0);
	CU_ASSERT_EQUAL(trace_file_state(trace), TRACE_FILE_GONE);
	trace_close(trace);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_descriptor_that_fails_is_unknown),
		CASE(a_longer_file_that_is_not_read_is_unknown),
		CASE(a_path_that_is_not_permitted_is_unknown),
		{NULL, NULL},
	};
	int result;

	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/t.trace", folder);
	result = unit_main("states of trace files", cases, argc, argv);
	unlink(path);
	rmdir(folder);
	return result;
}
