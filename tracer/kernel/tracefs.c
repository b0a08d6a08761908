/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * tracefs.c - read the tracepoints of the kernel.
 *
 * The formats in tracefs describe the record that the kernel makes of a tracepoint's arguments:
 * device numbers, names and states that the kernel computes while it makes the record. BTF has
 * only
 * the arguments, pointers to structs of the kernel. So the formats are what gives a user the
 * values
 * that perf and tracefs print.
 *
 * tracefs need not be mounted: a mount that no folder shows is enough, and ends with its
 * descriptor.
 */
#include "tracefs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "error_set.h"

#define FSCONFIG_CREATE 6 /* FSCONFIG_CMD_CREATE; the build host's headers may be older */

/* ---- the folder ---- */

static int mount_detached(void)
{
	int context = (int)syscall(SYS_fsopen, "tracefs", 1), mounted = -1, events = -1;

	if (context < 0)
		return -1;
	if (syscall(SYS_fsconfig, context, FSCONFIG_CREATE, NULL, NULL, 0) == 0)
		mounted = (int)syscall(SYS_fsmount, context, 1, 0);
	close(context);
	if (mounted >= 0) {
		events = openat(mounted, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		close(mounted);
	}
	return events;
}

static int open_events(struct trace_error *ret_error)
{
	static const char *const folders[] = {"/sys/kernel/tracing/events", "/sys/kernel/debug/tracing/events"};
	int fd = -1, err;

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]) && fd < 0; i++)
		fd = open(folders[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = errno;
	if (fd < 0)
		fd = mount_detached();
	if (fd >= 0)
		return fd;
	err = err == EACCES || errno == EPERM ? EACCES : errno;
	return error_set(ret_error, -err, "cannot read the kernel's tracepoints (/sys/kernel/tracing/events): %s",
			 err == EACCES ? "root may; use sudo" : strerror(err));
}

/* ---- all tracepoints that match ---- */

static int is_entry(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && (entry->d_type == DT_DIR || entry->d_type == DT_UNKNOWN);
}

/*
 * The sorted folders in @fd; frees nothing on failure. Returns their number or a negative errno.
 */
static int list_folders(int fd, struct dirent ***ret_entries)
{
	int nr = scandirat(fd, ".", ret_entries, is_entry, alphasort);

	return nr < 0 ? -errno : nr;
}

static void free_folders(struct dirent **entries, int nr)
{
	for (int i = 0; i < nr; i++)
		free(entries[i]);
	free(entries);
}

/* Read a file of tracefs, which has no size, as a text. */
static int read_format(int fd, const char *name, char format[static TRACEFS_FORMAT_BYTES])
{
	char path[TRACEFS_NAME_BYTES + 16];
	size_t used = 0;
	ssize_t got;
	int file;

	snprintf(path, sizeof(path), "%.*s/format", TRACEFS_NAME_BYTES - 1, name);
	file = openat(fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (file < 0)
		return -errno;
	while (used < TRACEFS_FORMAT_BYTES - 1 &&
	       (got = read(file, format + used, TRACEFS_FORMAT_BYTES - 1 - used)) > 0)
		used += (size_t)got;
	close(file);
	format[used] = '\0';
	return used ? 0 : -ENOENT;
}

/** struct visiting - the arguments of tracefs_each() */
struct visiting {
	const char *name;
	bool with_format;
	int (*visit)(void *context, const struct tracefs_event *event);
	void *context;
	char *format;
};

static int visit_subsystem(int events, const char *subsystem, const struct visiting *visiting)
{
	int fd = openat(events, subsystem, O_RDONLY | O_DIRECTORY | O_CLOEXEC), nr, err = 0;
	struct tracefs_event event = {.subsystem = subsystem, .format = visiting->format};
	struct dirent **entries = NULL;

	if (fd < 0)
		return 0; /* removed meanwhile */
	nr = list_folders(fd, &entries);
	for (int i = 0; i < nr && !err; i++) {
		if (fnmatch(visiting->name, entries[i]->d_name, 0))
			continue;
		event.name = entries[i]->d_name;
		*visiting->format = '\0';
		/*
		 * a folder without a format is none of the kernel's tracepoints (ftrace:function
		 * ...)
		 */
		if (!visiting->with_format || !read_format(fd, event.name, visiting->format))
			err = visiting->visit(visiting->context, &event);
	}
	free_folders(entries, nr);
	close(fd);
	return err;
}

int tracefs_each(const char *subsystem, const char *name, bool with_format,
		 int (*visit)(void *context, const struct tracefs_event *event), void *context, bool *ret_subsystem,
		 struct trace_error *ret_error)
{
	struct visiting visiting = {.name = name, .with_format = with_format, .visit = visit, .context = context};
	struct dirent **entries = NULL;
	int fd = open_events(ret_error), nr, err = 0;

	if (ret_subsystem)
		*ret_subsystem = false;
	if (fd < 0)
		return fd;
	visiting.format = malloc(TRACEFS_FORMAT_BYTES);
	nr = visiting.format ? list_folders(fd, &entries) : -ENOMEM;
	for (int i = 0; i < nr && !err; i++) {
		/* ftrace: the records of tracers, which no program can attach to */
		if (!strcmp(entries[i]->d_name, "ftrace") || fnmatch(subsystem, entries[i]->d_name, 0))
			continue;
		if (ret_subsystem)
			*ret_subsystem = true;
		err = visit_subsystem(fd, entries[i]->d_name, &visiting);
	}
	free_folders(entries, nr);
	free(visiting.format);
	close(fd);
	return nr < 0 ? error_set(ret_error, nr, "cannot read the kernel's tracepoints: %s", strerror(-nr)) : err;
}

/* ---- formats ---- */

uint32_t tracefs_event_id(const char *format)
{
	const char *at = strstr(format, "\nID: ");
	unsigned long id = at ? strtoul(at + 5, NULL, 10) : 0;

	return id > UINT32_MAX ? 0 : (uint32_t)id;
}

static bool number_after(const char *at, const char *key, uint32_t *ret_number)
{
	const char *end = at + strcspn(at, "\n"), *found = strstr(at, key);

	if (!found || found > end)
		return false;
	*ret_number = (uint32_t)strtoul(found + strlen(key), NULL, 10);
	return true;
}

/*
 * Split "unsigned long args[6]", or "__data_loc char[] name", which has its brackets in the type.
 */
static void split_declaration(const char *at, const char *end, struct tracefs_field *field)
{
	const char *name = end, *bracket = memchr(at, '[', (size_t)(end - at));
	const char *stop = bracket && end[-1] == ']' ? bracket : end;

	while (stop > at && stop[-1] == ' ')
		stop--;
	for (name = stop; name > at && name[-1] != ' ' && name[-1] != '*' && name[-1] != ']'; name--)
		;
	snprintf(field->name, sizeof(field->name), "%.*s", (int)(stop - name), name);
	snprintf(field->type, sizeof(field->type), "%.*s", (int)(name - at), at);
	for (size_t chars = strlen(field->type); chars && field->type[chars - 1] == ' '; chars--)
		field->type[chars - 1] = '\0';
	field->count = bracket && stop == bracket ? (uint32_t)strtoul(bracket + 1, NULL, 10) : 0;
}

static bool take_kind(struct tracefs_field *field, uint32_t size)
{
	static const char *const located[] = {"__data_loc ", "__rel_loc "};

	field->kind = TRACEFS_NUMBER;
	field->bytes = size;
	for (int i = 0; i < 2; i++)
		if (!strncmp(field->type, located[i], strlen(located[i]))) {
			field->kind = i ? TRACEFS_REL_LOC : TRACEFS_DATA_LOC;
			memmove(field->type, field->type + strlen(located[i]),
				strlen(field->type + strlen(located[i])) + 1);
			return size == 4;
		}
	if (field->count || (size != 1 && size != 2 && size != 4 && size != 8)) {
		field->kind = TRACEFS_ARRAY;
		field->count = field->count && size % field->count == 0 ? field->count : size;
		field->bytes = field->count ? size / field->count : 0;
	}
	return size > 0;
}

bool tracefs_next_field(const char **at, struct tracefs_field *ret_field)
{
	static const char key[] = "\tfield:";
	const char *begin = *at, *end;
	uint32_t size, is_signed;

	while ((begin = strstr(begin, key))) {
		begin += sizeof(key) - 1;
		end = begin + strcspn(begin, ";\n");
		*at = end;
		*ret_field = (struct tracefs_field){0};
		if (*end != ';' || !number_after(end, "\toffset:", &ret_field->offset) ||
		    !number_after(end, "\tsize:", &size))
			continue;
		ret_field->is_signed = number_after(end, "\tsigned:", &is_signed) && is_signed;
		split_declaration(begin, end, ret_field);
		if (strncmp(ret_field->name, "common_", 7) && take_kind(ret_field, size))
			return true;
	}
	return false;
}
