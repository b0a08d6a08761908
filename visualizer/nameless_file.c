/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "nameless_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "checked_memory.h"

int nameless_file_open(const char *beside)
{
	const char *slash = strrchr(beside, '/'), *temporary = getenv("TMPDIR");
	char *folder = slash ? memory_copy(beside, (size_t)(slash - beside) + 1) : memory_copy(".", 1);
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	free(folder);
	if (fd < 0)
		fd = open(temporary ? temporary : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	return fd;
}
