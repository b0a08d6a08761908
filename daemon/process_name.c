/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "process_name.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "error_set.h"
#include "file_opener.h"
#include "format_text.h"
#include "program_title.h"
#include "read_end.h"
#include "similar.h"
#include <trace/events.h>

#define LISTED		5 /* processes in a message */
#define MAX_GENERATIONS 64

/* The bytes of /proc/PID/FILE, with a NUL at the end; 0: the process has exited, or has none. */
static size_t read_proc(pid_t pid, const char *file, char *text, size_t size)
{
	char path[64];
	ssize_t got;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, file);
	fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
	got = fd >= 0 ? read(fd, text, size - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[got > 0 ? got : 0] = '\0';
	return got > 0 ? (size_t)got : 0;
}

/*
 * SECURITY: the kernel takes the lock of the process's mappings for its arguments, so a child reads
 * them (file_opener.h). The main thread of a recording waits, and its rings fill: for a moment.
 */
static struct file_opener opener = {.answer_ns = 100000000};

static size_t read_args(pid_t pid, char *text, size_t size)
{
	FILE *file = file_opener_text(&opener, (uint32_t)pid, "cmdline");
	size_t got = file ? fread(text, 1, size - 1, file) : 0;

	if (file)
		fclose(file);
	return got;
}

/**
 * struct name_search - @in_args: @name is a part of the arguments
 * @list: the first of those that were found, for a message
 * @near: the most similar title so far, which is in @title
 */
struct name_search {
	const char *name;
	bool in_args;
	pid_t first;
	size_t nr;
	char list[LISTED * (PROGRAM_TITLE_BYTES + 16)];
	struct similar near;
	char title[PROGRAM_TITLE_BYTES];
};

/** struct process_words - what /proc says of the name of a process */
struct process_words {
	char args[4096];
	char comm[32];
	bool is_cut;
};

static bool read_words(pid_t pid, struct process_words *words)
{
	size_t bytes = read_args(pid, words->args, sizeof(words->args));

	if (!read_proc(pid, "comm", words->comm, sizeof(words->comm)))
		return false;
	words->comm[strcspn(words->comm, "\n")] = '\0';
	while (bytes && (words->args[bytes - 1] == '\0' || words->args[bytes - 1] == ' '))
		bytes--;
	words->args[bytes] = '\0';
	for (size_t i = 0; i < bytes; i++)
		if (!words->args[i])
			words->args[i] = TRACE_ARGS_SEPARATOR;
	words->is_cut = bytes + 1 == sizeof(words->args);
	return true;
}

/* The name of a process as a terminal shows it. */
static void print_title(const struct process_words *words, char title[PROGRAM_TITLE_BYTES])
{
	if (!program_title(words->args, words->is_cut, words->comm, title))
		snprintf(title, PROGRAM_TITLE_BYTES, "%s", words->comm);
	for (char *at = title; *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f)
			*at = '?';
}

bool process_is_called(pid_t tid, const char *name)
{
	struct process_words words;

	return read_words(tid, &words) && program_is_called(words.args, words.is_cut, words.comm, name);
}

_Static_assert(PROCESS_NAME_BYTES == PROGRAM_TITLE_BYTES, "a title is a name");

void process_print_name(pid_t tid, char name[PROCESS_NAME_BYTES])
{
	struct process_words words;

	if (read_words(tid, &words))
		print_title(&words, name);
	else
		snprintf(name, PROCESS_NAME_BYTES, "a thread");
}

static void found(struct name_search *search, pid_t pid, const struct process_words *words)
{
	char title[PROGRAM_TITLE_BYTES];
	size_t used = strlen(search->list);

	if (!search->nr++)
		search->first = pid;
	if (search->nr > LISTED)
		return;
	print_title(words, title);
	snprintf(search->list + used, sizeof(search->list) - used, "%s%d %s", used ? ", " : "", (int)pid, title);
}

static void offer_title(struct name_search *search, const struct process_words *words)
{
	char title[PROGRAM_TITLE_BYTES];

	print_title(words, title);
	similar_offer(&search->near, title);
	if (search->near.name != title)
		return;
	memcpy(search->title, title, sizeof(title));
	search->near.name = search->title;
}

/* The parent of a process; 0: it has exited, or has none. */
static pid_t parent_of(pid_t pid)
{
	char text[512], *after;

	if (!read_proc(pid, "stat", text, sizeof(text)))
		return 0;
	after = strrchr(text, ')'); /* of the name, which may have any byte */
	return after && strlen(after) > 4 ? (pid_t)strtol(after + 4, NULL, 10) : 0;
}

static bool descends_from(pid_t pid, pid_t ancestor)
{
	for (int i = 0; pid && i < MAX_GENERATIONS; i++) {
		pid = parent_of(pid);
		if (pid == ancestor)
			return true;
	}
	return false;
}

static void look_at(struct name_search *search, pid_t pid)
{
	struct process_words words;

	/* a child of this daemon, such as the one that opens files, has its name and arguments */
	if (pid == getpid() || parent_of(pid) == getpid() || !read_words(pid, &words))
		return;
	if (search->in_args) {
		/* sudo, a shell, and time have this daemon's command line in their arguments */
		if (program_args_have(words.args, search->name) && !descends_from(getpid(), pid))
			found(search, pid, &words);
	} else if (program_is_called(words.args, words.is_cut, words.comm, search->name)) {
		found(search, pid, &words);
	} else {
		offer_title(search, &words);
	}
}

static int TRACE_NODISCARD look_at_all(struct name_search *search)
{
	DIR *folder = opendir("/proc");
	int error = folder ? 0 : -errno;
	struct dirent *entry;

	while (folder && (entry = folder_next(folder, &error)))
		if (*entry->d_name >= '1' && *entry->d_name <= '9')
			look_at(search, (pid_t)strtoul(entry->d_name, NULL, 10));
	if (folder)
		closedir(folder);
	return error;
}

int process_of_name(const char *name, pid_t *ret_pid, struct trace_error *ret_error)
{
	struct name_search search = {.name = name, .near.wanted = name};
	int error = look_at_all(&search);

	if (!error && !search.nr && *name) { /* as pgrep -f */
		search.in_args = true;
		error = look_at_all(&search);
	}
	file_opener_close(&opener);
	if (error)
		return error_set(ret_error, error,
				 "--pid: /proc cannot be read, so that \"%s\" is not found: %s; give the number of "
				 "the process",
				 name, strerror(-error));
	if (!search.nr)
		return error_set(
			ret_error, -EINVAL,
			"--pid: no process is called \"%s\": %s%s%sgive its number, or the name of its program "
			"or script, as ps -e shows them",
			name, search.near.name ? "did you mean \"" : "", search.near.name ? search.near.name : "",
			search.near.name ? "\"? Or " : "");
	if (search.nr > 1)
		return error_set(ret_error, -EINVAL,
				 "--pid: %zu processes %s \"%s\": %s%s; give the number of one (--follow adds "
				 "its descendants)",
				 search.nr, search.in_args ? "have in their arguments" : "are called", name,
				 search.list, search.nr > LISTED ? ", ..." : "");
	*ret_pid = search.first;
	return 0;
}
