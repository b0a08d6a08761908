/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pressure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error_set.h"

#define WINDOW_STEP_NS 2000000000ull /* for users without CAP_SYS_RESOURCE */

/* Documentation/accounting/psi.rst: "some 100000 1000000", in microseconds, with its NUL. */
int pressure_open(const struct save_on *on, struct trace_error *ret_error)
{
	char path[SAVE_ON_NAME_BYTES + 32], line[64];
	int fd, err, chars;

	snprintf(path, sizeof(path), "/proc/pressure/%s", on->name);
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return error_set(ret_error, -errno, "%s: cannot open %s: %s%s", on->text, path, strerror(errno),
				 errno == ENOENT ? "; the kernel has no pressure stall information" : "");
	chars = snprintf(line, sizeof(line), "%s %llu %llu", on->all ? "full" : "some",
			 (unsigned long long)(on->over_ns / 1000), (unsigned long long)(on->window_ns / 1000));
	if (write(fd, line, (size_t)chars + 1) == chars + 1)
		return fd;
	err = -errno;
	close(fd);
	return error_set(ret_error, err, "%s: the kernel refuses this trigger: %s%s", on->text, strerror(-err),
			 on->window_ns % WINDOW_STEP_NS ? "; without the capability CAP_SYS_RESOURCE the time behind "
							  "the / is 2s, 4s, 6s, 8s or 10s"
							: "");
}

/* "some avg10=0.00 avg60=0.00 avg300=0.00 total=4711", and the same for "full" */
uint64_t pressure_total_us(int fd, bool all)
{
	char text[256];
	ssize_t bytes = pread(fd, text, sizeof(text) - 1, 0);
	const char *line, *total;

	if (bytes <= 0)
		return 0;
	text[bytes] = '\0';
	line = strstr(text, all ? "full" : "some");
	total = line ? strstr(line, "total=") : NULL;
	return total ? strtoull(total + strlen("total="), NULL, 10) : 0;
}

bool pressure_has_grown(int fd, const struct save_on *on, uint64_t since_us)
{
	uint64_t total_us = pressure_total_us(fd, on->all);

	return total_us < since_us || total_us == 0 || total_us - since_us >= on->over_ns / 1000;
}
