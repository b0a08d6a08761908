/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_JAIL_CASE_H
#define TESTS_JAIL_CASE_H
/* jail_case.h - for tests of the children that read programs in a jail (base/jail.h). */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "unit.h"

static inline void copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
	char bytes[65536];
	ssize_t got;

	CU_ASSERT(in >= 0 && out >= 0);
	while ((got = read(in, bytes, sizeof(bytes))) > 0)
		CU_ASSERT_EQUAL(write(out, bytes, (size_t)got), got);
	close(in);
	close(out);
}

static inline void read_proc(pid_t pid, const char *name, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	got = read(fd, text, size - 1);
	text[got < 0 ? 0 : got] = '\0';
	close(fd);
}

/* The value of the line @name in the text of a file in /proc begins with @value. */
static inline void expect_line(const char *text, const char *name, const char *value)
{
	const char *line = strstr(text, name);
	size_t chars = strlen(name);

	CU_ASSERT_PTR_NOT_NULL_FATAL(line);
	line += chars + strspn(line + chars, " \t");
	CU_ASSERT(!strncmp(line, value, strlen(value)));
	if (strncmp(line, value, strlen(value)))
		fprintf(stderr, "%s %.*s instead of %s\n", name, (int)strcspn(line, "\n"), line, value);
}

/* The process @pid has dropped its rights. @with_filter: the kernel accepted the seccomp filter. */
static inline void expect_no_rights(pid_t pid, bool with_filter)
{
	static const char *const capabilities[] = {"\nCapInh:", "\nCapPrm:", "\nCapEff:", "\nCapAmb:"};
	char text[8192];

	read_proc(pid, "status", text, sizeof(text));
	if (getuid() == 0) {
		expect_line(text, "\nUid:", "65534\t65534\t65534\t65534\n");
		expect_line(text, "\nGid:", "65534\t65534\t65534\t65534\n");
		expect_line(text, "\nGroups:", "\n");
	}
	for (size_t i = 0; i < sizeof(capabilities) / sizeof(capabilities[0]); i++)
		expect_line(text, capabilities[i], "0000000000000000\n");
	expect_line(text, "\nNoNewPrivs:", "1\n");
#ifndef JAIL_SANITIZED
	expect_line(text, "\nSeccomp:", with_filter ? "2\n" : "0\n");
#endif
	read_proc(pid, "limits", text, sizeof(text));
	expect_line(text, "\nMax cpu time ", "20 ");
	expect_line(text, "\nMax core file size ", "0 ");
	expect_line(text, "\nMax file size ", "0 ");
	expect_line(text, "\nMax open files ", "16 ");
}

#endif
