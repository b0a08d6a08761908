/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "preload.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "format_text.h"
#include "similar.h"

/** struct preload_mode - "LIBRARY:MODE" sets the library's variable to the mode */
static const struct preload_mode {
	const char *library, *mode, *variable;
} preload_modes[] = {
	{"pthread", "all", "TRACER_PTHREAD"}, /* all locks, not only contended ones */
	{"gprof", "times", "TRACER_GPROF"},   /* also the times of each context */
};
#define NR_MODES (sizeof(preload_modes) / sizeof(preload_modes[0]))

/* For libtracer-gprof.so: only the command itself says that it has no instrumented functions. */
#define PRELOAD_GPROF_PARENT "TRACER_GPROF_PARENT"

#ifndef PRELOAD_LIBDIR
#define PRELOAD_LIBDIR "lib"
#endif

static const char *const preload_names[] = {"malloc", "pthread", "functions", "profil", "gprof"};
#define NR_NAMES (sizeof(preload_names) / sizeof(preload_names[0]))

/* ld.so splits LD_PRELOAD at spaces and colons. */
static const char preload_separators[] = " :";

static char preload_before[4096]; /* the original LD_PRELOAD */
static enum {
	PRELOAD_UNTOUCHED,
	PRELOAD_UNSET,
	PRELOAD_SET,
} preload_state;

/* Searches relative to the program: in ../lib, for the build and for the installation. */
static int find_library(const char *name, size_t chars, char *path, size_t size, struct trace_error *ret_error)
{
	static const char *const folders[] = {"../lib", "../" PRELOAD_LIBDIR};
	char program[PATH_MAX];
	ssize_t bytes = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char candidate[2 * PATH_MAX];

	if (bytes < 0)
		return error_set(ret_error, -errno, "/proc/self/exe: %s; --preload needs it to find its libraries",
				 strerror(errno));
	program[bytes] = '\0';
	*strrchr(program, '/') = '\0';
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		char real[PATH_MAX];

		snprintf(candidate, sizeof(candidate), "%s/%s/libtracer-%.*s.so", program, folders[i], (int)chars,
			 name);
		if (!realpath(candidate, real) || strlen(real) >= size)
			continue;
		if (strpbrk(real, preload_separators))
			return error_set(
				ret_error, -EINVAL,
				"%s: ld.so cannot load a library from a folder with a blank or colon in its name",
				real);
		memcpy(path, real, strlen(real) + 1);
		return 0;
	}
	return error_set(ret_error, -ENOENT, "libtracer-%.*s.so is not installed: --preload searches %s/../lib",
			 (int)chars, name, program);
}

/* The name of the library in the @chars of @names, and the mode behind its colon. NULL: none */
static size_t library_chars(const char *names, size_t chars, const struct preload_mode **ret_mode)
{
	*ret_mode = NULL;
	for (size_t i = 0; i < NR_MODES; i++) {
		const struct preload_mode *mode = &preload_modes[i];
		size_t own = strlen(mode->library);

		if (chars != own + 1 + strlen(mode->mode) || strncmp(names, mode->library, own) != 0 ||
		    names[own] != ':' || strncmp(names + own + 1, mode->mode, strlen(mode->mode)) != 0)
			continue;
		*ret_mode = mode;
		return own;
	}
	return chars;
}

static int unknown_library(const char *name, size_t chars, struct trace_error *ret_error)
{
	char wanted[64];
	struct similar best = {.wanted = wanted};

	snprintf(wanted, sizeof(wanted), "%.*s", (int)chars, name);
	for (size_t i = 0; i < NR_NAMES; i++)
		similar_offer(&best, preload_names[i]);
	return error_set(ret_error, -EINVAL,
			 "--preload: \"%s\" is none of malloc, pthread, pthread:all, functions, profil, gprof, "
			 "gprof:times (separated by commas)%s%s%s",
			 wanted, best.name ? "; did you mean " : "", best.name ? best.name : "", best.name ? "?" : "");
}

/* @wanted: whether each of preload_modes is wanted */
static int each_library(const char *names, char *list, size_t size, bool *wanted, struct trace_error *ret_error)
{
	const struct preload_mode *mode;
	size_t used = 0, chars, whole;
	char path[PATH_MAX];
	bool known;
	int err;

	for (;; names += whole + 1) {
		whole = strcspn(names, ",");
		chars = library_chars(names, whole, &mode);
		if (mode)
			wanted[mode - preload_modes] = true;
		known = false;
		for (size_t i = 0; i < NR_NAMES; i++)
			known |= strlen(preload_names[i]) == chars && !strncmp(names, preload_names[i], chars);
		if (!known)
			return unknown_library(names, chars, ret_error);
		err = find_library(names, chars, path, sizeof(path), ret_error);
		if (err)
			return err;
		if (used + strlen(path) + 2 > size)
			return error_set(ret_error, -E2BIG, "--preload: the list is too long");
		used += (size_t)snprintf(list + used, size - used, "%s%s", used ? ":" : "", path);
		if (!names[whole])
			return 0;
	}
}

int preload_check(const char *names, struct trace_error *ret_error)
{
	char list[4096];
	bool wanted[NR_MODES] = {false};

	return each_library(names, list, sizeof(list), wanted, ret_error);
}

int preload_begin(const char *names, struct trace_error *ret_error)
{
	const char *before = getenv("LD_PRELOAD");
	char list[2 * sizeof(preload_before)];
	bool wanted[NR_MODES] = {false};
	char own_pid[32];
	size_t used;
	int err;

	if (!names)
		return 0;
	err = each_library(names, list, sizeof(list) / 2, wanted, ret_error);
	if (err)
		return err;
	preload_state = before ? PRELOAD_SET : PRELOAD_UNSET;
	if (before && strlen(before) >= sizeof(preload_before))
		return error_set(ret_error, -E2BIG, "LD_PRELOAD is too long to be extended");
	snprintf(preload_before, sizeof(preload_before), "%s", before ? before : "");
	used = strlen(list);
	snprintf(own_pid, sizeof(own_pid), "%d", (int)getpid());
	for (size_t i = 0; i < NR_MODES; i++)
		if (wanted[i] && setenv(preload_modes[i].variable, preload_modes[i].mode, 1))
			return error_set(ret_error, -ENOMEM, "no memory for the environment");
	if (setenv(PRELOAD_GPROF_PARENT, own_pid, 1))
		return error_set(ret_error, -ENOMEM, "no memory for the environment");
	if (*preload_before)
		snprintf(list + used, sizeof(list) - used, ":%s", preload_before);
	return setenv("LD_PRELOAD", list, 1) ? error_set(ret_error, -ENOMEM, "no memory for the environment") : 0;
}

void preload_end(void)
{
	if (preload_state == PRELOAD_SET)
		setenv("LD_PRELOAD", preload_before, 1);
	else if (preload_state == PRELOAD_UNSET)
		unsetenv("LD_PRELOAD");
	preload_state = PRELOAD_UNTOUCHED;
}
