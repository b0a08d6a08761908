/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "pressure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
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
