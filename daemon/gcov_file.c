/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * gcov_file.c - .gcda files
 *
 *   "gcda", version, stamp, checksum of the .gcno
 *   TAG_PROGRAM, 8 bytes: number of runs, the highest count
 *   for each function: TAG_FUNCTION, 12 bytes: ident and two checksums; 0 bytes: it is elsewhere
 *                      TAG_ARCS, n bytes: counts of 64 bits; -n: all n bytes are 0 and left out
 *   0
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "array_room.h"
#include "error_set.h"
#include "gcov_file.h"

#define MAGIC	       0x67636461u
#define TAG_PROGRAM    0xa1000000u
#define TAG_FUNCTION   0x01000000u
#define TAG_ARCS       0x01a10000u
#define MAX_FILE_BYTES (256 << 20)

#define FUNCTION_BYTES 12
#define PROGRAM_BYTES  8

/* ---- names ---- */

/*
 * Parts of the path that are "", "." or ".." are left out. SECURITY: the path is what the process
 * has there, and the name is printed, also by other programs.
 */
void gcov_file_name(const struct gcov_unit *unit, char *ret_name, size_t size)
{
	size_t used = 0;

	*ret_name = '\0';
	for (const char *at = unit->path; *at;) {
		size_t chars = strcspn(at, "/");

		if (chars && !(chars == 1 && !strncmp(at, ".", 1)) && !(chars == 2 && !strncmp(at, "..", 2)) &&
		    used + chars + 2 < size)
			used += (size_t)snprintf(ret_name + used, size - used, "%s%.*s", used ? "/" : "", (int)chars,
						 at);
		at += chars + (at[chars] == '/');
	}
	for (char *c = ret_name; *c; c++)
		*c = iscntrl((unsigned char)*c) ? '?' : *c;
}

/*
 * Opens the folder that @name is in, and makes those that are missing. @ret_base: the rest of
 * @name
 */
static int open_folder_of(int folder, const char *name, const char **ret_base)
{
	int at = dup(folder);

	*ret_base = name;
	for (const char *slash = strchr(name, '/'); at >= 0 && slash; slash = strchr(name, '/')) {
		char part[NAME_MAX + 1];
		int next;

		snprintf(part, sizeof(part), "%.*s", (int)(slash - name), name);
		if (mkdirat(at, part, 0777) < 0 && errno != EEXIST) {
			int err = -errno;

			close(at);
			return err;
		}
		next = openat(at, part, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		close(at);
		at = next;
		name = slash + 1;
	}
	*ret_base = name;
	return at < 0 ? -errno : at;
}

/* ---- writing ---- */

static void put(FILE *file, uint32_t word)
{
	fwrite(&word, sizeof(word), 1, file);
}

static bool is_zero(const struct gcov_function *function)
{
	for (uint32_t i = 0; i < function->nr; i++)
		if (function->counts[i])
			return false;
	return true;
}

static void put_function(FILE *file, const struct gcov_function *function)
{
	uint32_t bytes = function->nr * (uint32_t)sizeof(*function->counts);

	put(file, TAG_FUNCTION);
	if (!function->counts) {
		put(file, 0);
		return;
	}
	put(file, FUNCTION_BYTES);
	put(file, function->ident);
	put(file, function->line_checksum);
	put(file, function->graph_checksum);
	if (!function->nr)
		return;
	put(file, TAG_ARCS);
	if (is_zero(function)) {
		put(file, -bytes);
		return;
	}
	put(file, bytes);
	fwrite(function->counts, sizeof(*function->counts), function->nr, file);
}

static uint32_t highest(const struct gcov_unit *unit)
{
	uint64_t highest = 0;

	for (uint32_t i = 0; i < unit->nr; i++)
		for (uint32_t k = 0; k < unit->functions[i].nr; k++)
			if (unit->functions[i].counts[k] > highest)
				highest = unit->functions[i].counts[k];
	return highest > UINT32_MAX ? UINT32_MAX : (uint32_t)highest;
}

static void put_unit(FILE *file, const struct gcov_unit *unit)
{
	put(file, MAGIC);
	put(file, unit->version);
	put(file, unit->stamp);
	put(file, unit->checksum);
	put(file, TAG_PROGRAM);
	put(file, PROGRAM_BYTES);
	put(file, 1);
	put(file, highest(unit));
	for (uint32_t i = 0; i < unit->nr; i++)
		put_function(file, &unit->functions[i]);
	put(file, 0);
}

/* Under another name first, so that a reader never finds a part of it. */
static void name_beside(const char *base, uint32_t idx, const char *ending, char ret_name[NAME_MAX + 1])
{
	snprintf(ret_name, NAME_MAX + 1, ".%.*s.%u.%s", NAME_MAX - 20, base, idx, ending);
}

static int write_part(int folder, const char *part, const struct gcov_unit *unit)
{
	int fd, err = 0;
	FILE *file;

	unlinkat(folder, part, 0);
	fd = openat(folder, part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0666);
	if (fd < 0)
		return -errno;
	file = fdopen(fd, "w");
	if (!file) {
		err = -errno;
		close(fd);
	} else {
		errno = 0;
		put_unit(file, unit);
		if (ferror(file))
			err = -(errno ? errno : EIO);
		if (fclose(file) && !err)
			err = -errno;
	}
	if (err)
		unlinkat(folder, part, 0);
	return err;
}

/* Beside the file, unless there is something of that name. false: there are no notes to link. */
static bool name_notes(const char *base, const char *path, char ret_notes[PATH_MAX], char ret_name[NAME_MAX + 1])
{
	size_t chars = strlen(path), base_chars = strlen(base);

	if (*path != '/' || chars < 5 || strcmp(path + chars - 5, ".gcda") != 0 || chars >= PATH_MAX ||
	    base_chars > NAME_MAX)
		return false;
	snprintf(ret_notes, PATH_MAX, "%.*s.gcno", (int)chars - 5, path);
	snprintf(ret_name, NAME_MAX + 1, "%.*s.gcno", (int)base_chars - 5, base);
	return true;
}

/*
 * gcov says what it misses. A look for the notes, at a path of the process, could wait for a file
 * system for ever: so the link is made also if there are none.
 */
static int link_notes(int folder, const char *base, const char *path, bool *ret_is_linked)
{
	char notes[PATH_MAX], name[NAME_MAX + 1];

	if (!name_notes(base, path, notes, name))
		return 0;
	*ret_is_linked = symlinkat(notes, folder, name) == 0;
	return *ret_is_linked || errno == EEXIST ? 0 : -errno;
}

/**
 * struct gcov_place - where the file of a unit will be
 * @is_linked: its notes were linked now. @is_named: the file has its name
 * @has_old: an older file has another name. @can_go_back: there was none, or it has that
 */
struct gcov_place {
	const char *base;
	char *name; /* owned */
	bool is_written, is_linked;
	bool is_named, has_old, can_go_back;
};

static int prepare(int folder, const struct gcov_unit *unit, uint32_t idx, struct gcov_place *place)
{
	char name[PATH_MAX], part[NAME_MAX + 1];
	int at, err;

	gcov_file_name(unit, name, sizeof(name));
	if (!*name)
		return -EINVAL;
	place->name = strdup(name);
	if (!place->name)
		return -ENOMEM;
	at = open_folder_of(folder, place->name, &place->base);
	if (at < 0)
		return at;
	name_beside(place->base, idx, "part", part);
	err = write_part(at, part, unit);
	place->is_written = !err;
	if (!err)
		err = link_notes(at, place->base, unit->path, &place->is_linked);
	close(at);
	return err;
}

/* ---- all files or none ---- */

/*
 * The file gets its name. Until all files have theirs, the old one keeps another, if the file
 * system has links.
 */
static int give_name(int folder, uint32_t idx, struct gcov_place *place)
{
	char part[NAME_MAX + 1], old[NAME_MAX + 1];
	int at = open_folder_of(folder, place->name, &place->base), err = 0;

	if (at < 0)
		return at;
	name_beside(place->base, idx, "part", part);
	name_beside(place->base, idx, "old", old);
	unlinkat(at, old, 0);
	place->has_old = linkat(at, place->base, at, old, 0) == 0;
	place->can_go_back = place->has_old || errno == ENOENT;
	if (renameat(at, part, at, place->base) < 0)
		err = -errno;
	place->is_named = !err;
	close(at);
	return err;
}

/* The old file has its name again, or there is none again. False: the new one stays. */
static bool take_name(int at, const char *old, const struct gcov_place *place)
{
	if (place->has_old)
		return renameat(at, old, at, place->base) == 0;
	return place->can_go_back && unlinkat(at, place->base, 0) == 0;
}

/* Removes what @place needs no more. Returns whether the new file stays. */
static bool settle(int folder, const struct gcov_unit *unit, uint32_t idx, const struct gcov_place *place, bool is_kept)
{
	char part[NAME_MAX + 1], old[NAME_MAX + 1], notes[PATH_MAX], name[NAME_MAX + 1];
	const char *base;
	bool stays = place->is_named;
	int at = place->is_written ? open_folder_of(folder, place->name, &base) : -1;

	if (at < 0)
		return stays;
	name_beside(base, idx, "part", part);
	name_beside(base, idx, "old", old);
	if (!place->is_named)
		unlinkat(at, part, 0);
	else if (!is_kept)
		stays = !take_name(at, old, place);
	if (place->has_old)
		unlinkat(at, old, 0);
	if (!stays && place->is_linked && name_notes(base, unit->path, notes, name))
		unlinkat(at, name, 0);
	close(at);
	return stays;
}

/* Two units may have the same file: the last one is settled first. */
static uint32_t settle_all(int folder, const struct gcov_units *units, struct gcov_place *places, bool is_kept)
{
	uint32_t nr_stay = 0;

	for (uint32_t i = units->nr; i--;) {
		nr_stay += settle(folder, &units->units[i], i, &places[i], is_kept);
		free(places[i].name);
	}
	return nr_stay;
}

/*
 * All are written before the first has its name, and after an error the folder has those of before;
 * where that is not possible, the error tells how many are new.
 */
int gcov_files_write(int folder, const struct gcov_units *units, const char *path, struct trace_error *ret_error)
{
	struct gcov_place *places = calloc(units->nr + 1u, sizeof(*places));
	const char *wrong = NULL;
	uint32_t nr_new;
	int err = 0;

	if (!places)
		return error_set(ret_error, -ENOMEM, "%s: out of memory", path);
	for (uint32_t i = 0; i < 2 * units->nr && !err; i++) {
		uint32_t idx = i % units->nr;

		err = i < units->nr ? prepare(folder, &units->units[idx], idx, &places[idx])
				    : give_name(folder, idx, &places[idx]);
		wrong = units->units[idx].path;
	}
	nr_new = settle_all(folder, units, places, !err);
	free(places);
	if (err && nr_new)
		return error_set(ret_error, err, "%s: the file of %s: %s; %u of the %u files are new, the others old",
				 path, wrong, strerror(-err), nr_new, units->nr);
	return err ? error_set(ret_error, err, "%s: the file of %s: %s", path, wrong, strerror(-err)) : 0;
}

/* ---- reading ---- */

/** struct gcov_words - what is left of a file */
struct gcov_words {
	const uint32_t *at;
	size_t nr;
};

static bool take(struct gcov_words *words, uint32_t *ret_word)
{
	if (!words->nr)
		return false;
	*ret_word = *words->at++;
	words->nr--;
	return true;
}

static int take_counts(struct gcov_words *words, struct gcov_function *function)
{
	uint32_t length, bytes;

	if (!take(words, &length))
		return -EBADMSG;
	bytes = (int32_t)length < 0 ? -length : length;
	function->nr = bytes / (uint32_t)sizeof(*function->counts);
	if (bytes % sizeof(*function->counts) || bytes > MAX_FILE_BYTES ||
	    (bytes == length && bytes / sizeof(*words->at) > words->nr))
		return -EBADMSG;
	free(function->counts);
	function->counts = calloc(function->nr + 1u, sizeof(*function->counts));
	if (!function->counts)
		return -ENOMEM;
	if (bytes == length) {
		memcpy(function->counts, words->at, bytes);
		words->at += bytes / sizeof(*words->at);
		words->nr -= bytes / sizeof(*words->at);
	}
	return 0;
}

static int take_function(struct gcov_words *words, struct gcov_unit *unit)
{
	struct gcov_function *function;
	uint32_t bytes;

	if (!array_room((void **)&unit->functions, unit->nr, &unit->room, sizeof(*unit->functions)))
		return -ENOMEM;
	function = &unit->functions[unit->nr++];
	*function = (struct gcov_function){0};
	if (!take(words, &bytes) || (bytes && bytes != FUNCTION_BYTES))
		return -EBADMSG;
	if (!bytes)
		return 0;
	if (!take(words, &function->ident) || !take(words, &function->line_checksum) ||
	    !take(words, &function->graph_checksum))
		return -EBADMSG;
	function->counts = calloc(1, sizeof(*function->counts));
	return function->counts ? 0 : -ENOMEM;
}

static int skip(struct gcov_words *words)
{
	uint32_t bytes;

	if (!take(words, &bytes))
		return -EBADMSG;
	bytes = (int32_t)bytes < 0 ? 0 : bytes / (uint32_t)sizeof(*words->at);
	if (bytes > words->nr)
		return -EBADMSG;
	words->at += bytes;
	words->nr -= bytes;
	return 0;
}

/* The last tag is 0: without it the end is missing, and so may be counts. */
static int parse(struct gcov_words *words, struct gcov_unit *unit)
{
	uint32_t magic, tag = 1;
	int err = 0;

	if (!take(words, &magic) || magic != MAGIC || !take(words, &unit->version) || !take(words, &unit->stamp) ||
	    !take(words, &unit->checksum))
		return -EBADMSG;
	while (!err && tag) {
		if (!take(words, &tag))
			err = -EBADMSG;
		else if (tag == TAG_FUNCTION)
			err = take_function(words, unit);
		else if (tag == TAG_ARCS && unit->nr && unit->functions[unit->nr - 1].counts)
			err = take_counts(words, &unit->functions[unit->nr - 1]);
		else if (tag)
			err = skip(words);
	}
	return err;
}

static int read_whole(int fd, void **ret_data, size_t *ret_bytes)
{
	struct stat status;
	size_t nr = 0;
	ssize_t got;
	void *data;

	if (fstat(fd, &status) < 0)
		return -errno;
	if (!S_ISREG(status.st_mode) || status.st_size > MAX_FILE_BYTES)
		return -EBADMSG;
	data = malloc((size_t)status.st_size + 1);
	if (!data)
		return -ENOMEM;
	do {
		got = pread(fd, (char *)data + nr, (size_t)status.st_size - nr, (off_t)nr);
		nr += got > 0 ? (size_t)got : 0;
	} while (got > 0 || (got < 0 && errno == EINTR));
	if (got < 0) {
		int err = -errno;

		free(data);
		return err;
	}
	*ret_data = data;
	*ret_bytes = nr;
	return 0;
}

int gcov_file_read(int folder, const char *name, struct gcov_unit *ret_unit)
{
	int fd = openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), err;
	struct gcov_unit unit = {0};
	struct gcov_words words;
	void *data = NULL;
	size_t bytes = 0;

	if (fd < 0)
		return -errno;
	err = read_whole(fd, &data, &bytes);
	close(fd);
	if (err)
		return err;
	words = (struct gcov_words){data, bytes / sizeof(uint32_t)};
	err = parse(&words, &unit);
	free(data);
	if (err)
		gcov_unit_free(&unit);
	else
		*ret_unit = unit;
	return err;
}
