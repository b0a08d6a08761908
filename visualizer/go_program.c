/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "go_program.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BEGIN_BYTES 8192 /* the linker puts its note right behind the program headers */

/* The end of the note's header: the type 4, and the name (Go: cmd/internal/buildid). */
static const char note[] = "\x04\0\0\0Go\0\0";

static bool has_note(const char *begin, size_t bytes)
{
	static const char elf[] = {0x7f, 'E', 'L', 'F'};

	return bytes > sizeof(elf) && memcmp(begin, elf, sizeof(elf)) == 0 &&
	       memmem(begin, bytes, note, sizeof(note) - 1);
}

bool go_program_is(const char *folder, const char *path)
{
	char whole[PATH_MAX], begin[BEGIN_BYTES];
	struct stat status;
	ssize_t bytes = -1;
	int fd;

	if (*path != '/' || (size_t)snprintf(whole, sizeof(whole), "%s%s", folder ? folder : "", path) >= sizeof(whole))
		return false;
	fd = open(whole, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return false;
	if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		bytes = pread(fd, begin, sizeof(begin), 0);
	close(fd);
	return bytes > 0 && has_note(begin, (size_t)bytes);
}
