/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "command_word.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_program(const char *folder, int chars, const char *name)
{
	char path[PATH_MAX];
	struct stat status;

	return snprintf(path, sizeof(path), "%.*s/%s", chars, folder, name) < (int)sizeof(path) &&
	       stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

bool command_word(const char *word)
{
	const char *folders = getenv("PATH");

	if (!*word || strpbrk(word, "./") || access(word, F_OK) == 0)
		return false;
	for (const char *at = folders ? folders : ""; *at; at += *at == ':') {
		size_t chars = strcspn(at, ":");

		if (chars && is_program(at, (int)chars, word))
			return true;
		at += chars;
	}
	return false;
}
