/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "command_files.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "probe_file.h"
#include "file_opener.h"

#define MAX_SCRIPTS 4 /* the interpreter of a script may be a script; the kernel has the same limit */
#define HEAD_BYTES  256
#define TEXT_BYTES  16384 /* of a script that are read */
#define MAX_WORDS   512	  /* of all texts, each a search in all folders of PATH */
#define MAX_WORD    64
#define WORD_CHARS  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+/-"

/**
 * struct command_search - @paths: of the files; owned; the search goes on with the first @done
 * @nr_words: looked up so far
 */
struct command_search {
	struct command_files *files;
	struct unwind_reader *reader;
	struct file_opener opener;
	char *paths[COMMAND_MAX_FILES];
	size_t done;
	uint32_t nr_words;
};

static bool is_known(const struct command_files *files, const struct stat *status)
{
	for (size_t i = 0; i < files->nr; i++)
		if (files->devices[i] == status->st_dev && files->inodes[i] == status->st_ino)
			return true;
	return false;
}

/* The kernel may wait for such a file when it starts the command; the daemon does not. */
static int open_file(struct command_search *search, const char *path, struct stat *ret_status)
{
	return file_opener_unserved(&search->opener, path, 0, ret_status);
}

/* Returns false if there is no such file. */
static bool add_file(struct command_search *search, const char *path)
{
	struct command_files *files = search->files;
	struct stat status;
	int fd = open_file(search, path, &status);

	if (fd < 0)
		return false;
	if (files->nr == COMMAND_MAX_FILES || is_known(files, &status)) {
		close(fd);
		return true;
	}
	files->fds[files->nr] = fd;
	files->devices[files->nr] = status.st_dev;
	files->inodes[files->nr] = status.st_ino;
	search->paths[files->nr++] = strdup(path);
	return true;
}

/* ---- the program ---- */

/* As execvp(): a name without '/' is in a folder of PATH. */
static bool search_program(const char *name, char ret_path[PATH_MAX])
{
	const char *folders = getenv("PATH");
	size_t chars;

	if (strchr(name, '/'))
		return (size_t)snprintf(ret_path, PATH_MAX, "%s", name) < PATH_MAX;
	for (folders = folders ? folders : "/bin:/usr/bin";; folders += chars + 1) {
		chars = strcspn(folders, ":");
		snprintf(ret_path, PATH_MAX, "%.*s%s%s", (int)chars, folders, chars ? "/" : "./", name);
		if (access(ret_path, X_OK) == 0)
			return true;
		if (!folders[chars])
			return false;
	}
}

/* The interpreter of a script, or the program that env(1) starts; false: it is no script. */
static bool read_script(struct command_search *search, const char *path, char ret_program[HEAD_BYTES])
{
	char head[HEAD_BYTES], *word, *rest;
	struct stat status;
	int fd = open_file(search, path, &status);
	ssize_t got = fd < 0 ? -1 : read(fd, head, sizeof(head) - 1);

	if (fd >= 0)
		close(fd);
	if (got < 3 || head[0] != '#' || head[1] != '!')
		return false;
	head[got] = 0;
	head[strcspn(head, "\n")] = 0;
	word = strtok_r(head + 2, " \t", &rest);
	if (!word)
		return false;
	if (!strcmp(word, "/usr/bin/env") || !strcmp(word, "/bin/env")) {
		char *next = strtok_r(NULL, " \t", &rest);

		word = next && next[0] != '-' ? next : word;
	}
	snprintf(ret_program, HEAD_BYTES, "%s", word);
	return true;
}

static void add_program(struct command_search *search, const char *name)
{
	char path[PATH_MAX], script[HEAD_BYTES];

	for (int i = 0; i < MAX_SCRIPTS && search_program(name, path); i++) {
		if (!read_script(search, path, script)) {
			add_file(search, path);
			return;
		}
		name = script;
	}
}

/* ---- programs that a shell starts ---- */

/* SECURITY: a script can name any file, also one of a file system that does not answer. */
static bool is_executable(struct command_search *search, const char *path)
{
	struct stat status;
	int fd = open_file(search, path, &status);

	if (fd >= 0)
		close(fd);
	return fd >= 0 && status.st_mode & 0111;
}

static void add_words(struct command_search *search, const char *text)
{
	char word[MAX_WORD], path[PATH_MAX];

	for (size_t chars; *text && search->nr_words < MAX_WORDS; text += chars + !chars) {
		chars = strspn(text, WORD_CHARS);
		if (!chars || chars >= sizeof(word) || *text == '-')
			continue;
		snprintf(word, sizeof(word), "%.*s", (int)chars, text);
		search->nr_words++;
		if (search_program(word, path) && (!strchr(word, '/') || is_executable(search, path)))
			add_program(search, word);
	}
}

/* dash, bash, zsh ... */
static bool is_shell(const char *name)
{
	size_t chars = strlen(name);

	return chars >= 2 && !strcmp(name + chars - 2, "sh");
}

static void add_script(struct command_search *search, const char *path)
{
	struct stat status;
	int fd = open_file(search, path, &status);
	char *text = fd < 0 ? NULL : malloc(TEXT_BYTES);
	ssize_t got = text ? read(fd, text, TEXT_BYTES - 1) : -1;

	if (got > 0) {
		text[got] = 0;
		add_words(search, text);
	}
	free(text);
	if (fd >= 0)
		close(fd);
}

/* The command is a shell with a script, a script of a shell, or has a command in its arguments. */
static void add_started(struct command_search *search, char *const *argv)
{
	char path[PATH_MAX], interpreter[HEAD_BYTES];

	for (size_t i = 1; argv[i]; i++)
		add_words(search, argv[i]);
	if (!search_program(argv[0], path))
		return;
	if (read_script(search, path, interpreter)) {
		if (is_shell(interpreter))
			add_script(search, path);
		return;
	}
	for (size_t i = 1; is_shell(argv[0]) && argv[i]; i++)
		if (argv[i][0] != '-')
			add_script(search, argv[i]);
}

/* ---- its libraries ---- */

/* In one folder of DT_RUNPATH; $ORIGIN is the folder of the file that has it. */
static bool add_in_folder(struct command_search *search, const char *folder, size_t chars, const char *name,
			  const char *loader)
{
	static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
	const char *slash = strrchr(loader, '/');
	char path[PATH_MAX];
	int written = -1;

	for (size_t i = 0; i < sizeof(origins) / sizeof(origins[0]) && written < 0; i++) {
		size_t length = strlen(origins[i]);

		if (slash && chars >= length && !strncmp(folder, origins[i], length))
			written = snprintf(path, sizeof(path), "%.*s%.*s/%s", (int)(slash - loader), loader,
					   (int)(chars - length), folder + length, name);
	}
	if (written < 0)
		written = snprintf(path, sizeof(path), "%.*s/%s", (int)chars, folder, name);
	return written > 0 && (size_t)written < sizeof(path) && add_file(search, path);
}

static void add_library(struct command_search *search, const struct unwind_needed *needed, const char *name,
			const char *loader)
{
	char path[4096];
	size_t chars;

	if (strchr(name, '/')) {
		add_file(search, name);
		return;
	}
	for (const char *folder = needed->folders; *folder; folder += chars + (folder[chars] != 0)) {
		chars = strcspn(folder, ":");
		if (chars && add_in_folder(search, folder, chars, name, loader))
			return;
	}
	if (!probe_find_file_here(name, 0, path, NULL))
		add_file(search, path);
}

static void add_needed(struct command_search *search)
{
	size_t i = search->done++;
	struct unwind_needed needed;

	if (!search->paths[i] || unwind_reader_needed(search->reader, search->files->fds[i], &needed))
		return;
	if (needed.interpreter[0] == '/')
		add_file(search, needed.interpreter);
	for (uint32_t n = 0; n < needed.nr; n++)
		add_library(search, &needed, needed.names[n], search->paths[i]);
}

void command_files_find(char *const *argv, struct unwind_reader *reader, struct command_files *ret_files)
{
	struct command_search search = {.files = ret_files, .reader = reader};

	ret_files->nr = 0;
	add_program(&search, argv[0]);
	while (search.done < ret_files->nr)
		add_needed(&search);
	add_started(&search, argv); /* behind all that the command itself needs */
	while (search.done < ret_files->nr)
		add_needed(&search);
	for (size_t i = 0; i < ret_files->nr; i++)
		free(search.paths[i]);
	file_opener_close(&search.opener);
}

void command_files_close(struct command_files *files)
{
	for (size_t i = 0; i < files->nr; i++)
		close(files->fds[i]);
	files->nr = 0;
}
