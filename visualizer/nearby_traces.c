/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* nearby_traces.c - the traces in the folder of a file that does not exist. */
#include "nearby_traces.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <trace/error.h>
#include <trace/format.h>
#include <unistd.h>
#include "complain.h"
#include "similar.h"
#include "value_text.h"

#define SHOWN	 3
#define SEARCHED 10000 /* entries of a folder */

/** struct nearby - what a folder has */
struct nearby {
	const char *wanted;
	char *best; /* owned: the name nearest to the wanted one; NULL: none is near */
	size_t best_distance;
	char *newest[SHOWN]; /* owned; the newest first */
	struct timespec at[SHOWN];
};

static bool is_older(struct timespec left, struct timespec right)
{
	return left.tv_sec < right.tv_sec || (left.tv_sec == right.tv_sec && left.tv_nsec < right.tv_nsec);
}

static bool is_trace(const char *path, struct timespec *ret_at)
{
	char magic[TRACE_MAGIC_BYTES];
	struct stat stat;
	int fd = open(path, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	bool is = fd >= 0 && !fstat(fd, &stat) && S_ISREG(stat.st_mode) &&
		  read(fd, magic, sizeof(magic)) == sizeof(magic) && !memcmp(magic, TRACE_FILE_MAGIC, sizeof(magic));

	if (is)
		*ret_at = stat.st_mtim;
	if (fd >= 0)
		close(fd);
	return is;
}

static void keep_newest(struct nearby *nearby, const char *name, struct timespec at)
{
	int i = SHOWN;

	while (i > 0 && (!nearby->newest[i - 1] || is_older(nearby->at[i - 1], at)))
		i--;
	if (i == SHOWN)
		return;
	g_free(nearby->newest[SHOWN - 1]);
	memmove(&nearby->newest[i + 1], &nearby->newest[i], (size_t)(SHOWN - 1 - i) * sizeof(nearby->newest[0]));
	memmove(&nearby->at[i + 1], &nearby->at[i], (size_t)(SHOWN - 1 - i) * sizeof(nearby->at[0]));
	nearby->newest[i] = g_strdup(name);
	nearby->at[i] = at;
}

/* "shop" for shop.trace: the nearest that there is. */
static bool lacks_ending(const char *wanted, const char *name)
{
	size_t chars = strlen(wanted);

	return strncmp(name, wanted, chars) == 0 && strcmp(name + chars, ".trace") == 0;
}

/* Only files that may be meant are opened: a folder may have many. */
static void look_at(struct nearby *nearby, const char *folder, const char *name)
{
	char *path = g_build_filename(folder, name, NULL);
	size_t distance;
	bool is_near = similar_is_near(nearby->wanted, name, &distance);
	struct timespec at;

	if (lacks_ending(nearby->wanted, name)) {
		is_near = true;
		distance = 0;
	}
	if ((is_near || g_str_has_suffix(name, ".trace")) && is_trace(path, &at)) {
		keep_newest(nearby, name, at);
		if (is_near && (!nearby->best || distance < nearby->best_distance)) {
			g_free(nearby->best);
			nearby->best = g_strdup(name);
			nearby->best_distance = distance;
		}
	}
	g_free(path);
}

/* The name as the user would type it: with the folder, if the wrong one had it. */
static void add_name(GString *hint, const char *path, const char *name)
{
	const char *slash = strrchr(path, '/');

	g_string_append_len(hint, path, slash ? slash + 1 - path : 0);
	g_string_append(hint, name);
}

static void add_hint(GString *hint, const char *path, const struct nearby *nearby)
{
	if (nearby->best) {
		g_string_append(hint, "; did you mean ");
		add_name(hint, path, nearby->best);
		g_string_append_c(hint, '?');
		return;
	}
	for (int i = 0; i < SHOWN && nearby->newest[i]; i++) {
		g_string_append(hint, i ? ", " : "; the folder has the trace");
		if (!i)
			g_string_append(hint, nearby->newest[1] ? "s " : " ");
		add_name(hint, path, nearby->newest[i]);
	}
	if (!nearby->newest[0])
		g_string_append(hint, "; \"tracedaemon t.trace -- COMMAND\" records a trace");
}

static void look_around(GString *hint, const char *path)
{
	char *folder = g_path_get_dirname(path), *base = g_path_get_basename(path);
	struct nearby nearby = {.wanted = base};
	GDir *dir = g_dir_open(folder, 0, NULL);
	const char *name;

	for (int i = 0; dir && i < SEARCHED && (name = g_dir_read_name(dir)); i++)
		look_at(&nearby, folder, name);
	if (dir)
		add_hint(hint, path, &nearby);
	else if (errno == ENOENT)
		g_string_append_printf(hint, "; there is no folder %s", folder);
	if (dir)
		g_dir_close(dir);
	for (int i = 0; i < SHOWN; i++)
		g_free(nearby.newest[i]);
	g_free(nearby.best);
	g_free(folder);
	g_free(base);
}

int complain_of_open(const char *path, const struct trace_error *error)
{
	GString *line;
	char *text;

	if (error->code != -ENOENT)
		return complain_of_error(error);
	line = g_string_new(error->message);
	look_around(line, path);
	text = g_malloc(4 * line->len + 1); /* \xNN is the longest form of a byte */
	complain(1, "%s", text_name(line->str, text, 4 * line->len + 1));
	g_free(text);
	g_string_free(line, TRUE);
	return 1;
}
