/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * probe_list.c - list what can be probed: static probes and functions of a file, of a process, or
 * of the kernel.
 */
#include "probe_list.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <fnmatch.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "error_set.h"
#include "file_opener.h"
#include "probe_answer.h"
#include "probe_dwarf.h"
#include "probe_elf.h"
#include "probe_file.h"
#include "probe_files.h"
#include "probe_reader.h"
#include "probe_sdt.h"
#include "probe_spec.h"
#include "probe_tracepoint.h"
#include "read_end.h"

/** struct row - a line of two columns */
struct row {
	char *left;
	char *right;
};

/**
 * struct rows - @nr_unread: files of a process that are not read; @unread: why, of the first
 * @paths: of the files of the process that are listed, or not read: a tree of tsearch()
 */
struct rows {
	struct row *rows;
	size_t nr;
	size_t room;
	const struct probe_spec *spec;
	bool failed;
	size_t nr_unread;
	struct trace_error unread;
	void *paths;
};

/** struct finder - in the reader: finds lines and sends them */
struct finder {
	const struct probe_spec *spec;
	struct probe_elf *elf;
	struct probe_answer *answer;
};

static void add_row(struct rows *rows, const char *left, const char *right)
{
	struct row row;

	if (rows->nr == rows->room) {
		size_t room = rows->room ? 2 * rows->room : 256;
		struct row *more = reallocarray(rows->rows, room, sizeof(*more));

		rows->failed |= !more;
		if (!more)
			return;
		rows->rows = more;
		rows->room = room;
	}
	row = (struct row){strdup(left), strdup(right)};
	rows->failed |= !row.left || !row.right;
	rows->rows[rows->nr++] = row;
}

static void free_rows(struct rows *rows)
{
	for (size_t i = 0; i < rows->nr; i++) {
		free(rows->rows[i].left);
		free(rows->rows[i].right);
	}
	free(rows->rows);
	tdestroy(rows->paths, free);
}

static int by_text(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int order = strcmp(x->left, y->left);

	return order ? order : strcmp(x->right, y->right);
}

static int print_rows(struct rows *rows, FILE *out, struct trace_error *ret_error)
{
	size_t width = 0, printed = 0;

	if (rows->failed)
		return error_set(ret_error, -ENOMEM, "out of memory");
	if (rows->nr)
		qsort(rows->rows, rows->nr, sizeof(*rows->rows), by_text);
	for (size_t i = 0; i < rows->nr; i++)
		if (strlen(rows->rows[i].left) > width && strlen(rows->rows[i].left) <= 60)
			width = strlen(rows->rows[i].left);
	for (size_t i = 0; i < rows->nr; i++) {
		if (i && !by_text(&rows->rows[i - 1], &rows->rows[i]))
			continue;
		if (*rows->rows[i].right)
			fprintf(out, "%-*s  %s\n", (int)width, rows->rows[i].left, rows->rows[i].right);
		else
			fprintf(out, "%s\n", rows->rows[i].left);
		printed++;
	}
	return (int)printed;
}

/* ---- of a file ---- */

/* The file as written in a probe. */
static void short_name(const struct probe_spec *spec, char *text, size_t size)
{
	if (spec->pid)
		snprintf(text, size, "%.4000s@%d", spec->file, spec->pid);
	else
		snprintf(text, size, "%.4000s", spec->file);
}

static int list_static(void *context, const struct probe_sdt *sdt)
{
	struct finder *finder = context;
	struct probe_symbol provider = {.name = sdt->provider, .plain = sdt->provider, .full = sdt->provider};
	struct probe_symbol name = {.name = sdt->name, .plain = sdt->name, .full = sdt->name};
	char file[4200], left[5000], right[1024];

	if ((*finder->spec->provider && !probe_symbol_matches(&provider, finder->spec->provider)) ||
	    (*finder->spec->function && !probe_symbol_matches(&name, finder->spec->function)))
		return 0;
	short_name(finder->spec, file, sizeof(file));
	snprintf(left, sizeof(left), "usdt:%s:%.300s:%.300s", file, sdt->provider, sdt->name);
	snprintf(right, sizeof(right), "%s%s", sdt->arguments,
		 sdt->semaphore ? *sdt->arguments ? "  (has a semaphore)" : "(has a semaphore)" : "");
	probe_answer_row(finder->answer, left, right);
	return 0;
}

static void append_parameters(const struct probe_scope *scope, char *text, size_t size)
{
	const char *name;
	size_t used = 0;

	probe_scope_source(scope, text, size / 2);
	used = strlen(text);
	/* the function's name is in the left column */
	used -= used ? (size_t)(strrchr(text, ' ') ? strlen(strrchr(text, ' ')) : 0) : 0;
	text[used] = '\0';
	for (unsigned int n = 0; (name = probe_scope_parameter(scope, n)) && used + strlen(name) + 4 < size; n++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", n ? " " : "  ", name);
}

static int list_function(void *context, const struct probe_symbol *symbol)
{
	struct finder *finder = context;
	struct probe_scope scope;
	char file[4200], left[8192], right[1024] = "";

	if (symbol->is_ifunc || (*finder->spec->function && !probe_symbol_matches(symbol, finder->spec->function)))
		return 0;
	short_name(finder->spec, file, sizeof(file));
	snprintf(left, sizeof(left), "%s:%.3000s", file, symbol->full);
	if (probe_elf_dwarf(finder->elf)) {
		probe_scope_open(finder->elf, symbol->address, &scope);
		append_parameters(&scope, right, sizeof(right));
		probe_scope_close(&scope);
	}
	probe_answer_row(finder->answer, left, right);
	return 0;
}

/** struct list_reading - @rows: the caller's */
struct list_reading {
	struct rows *rows;
	const struct probe_spec *spec;
	const char *path;
};

/* Runs in the reader. */
static int find_lines(void *context, struct probe_opener *opener, struct probe_answer *answer,
		      struct trace_error *ret_error)
{
	const struct list_reading *reading = context;
	struct probe_elf elf;
	struct finder finder = {.spec = reading->spec, .elf = &elf, .answer = answer};
	int err = probe_elf_open_by(&elf, reading->path, opener, ret_error);

	if (err)
		return err;
	if (reading->spec->kind == PROBE_USDT)
		probe_sdt_each(&elf, list_static, &finder);
	else
		probe_elf_functions(&elf, list_function, &finder);
	err = probe_elf_end(&elf, 0, ret_error);
	probe_elf_close(&elf);
	return err;
}

static int take_line(void *context, struct probe_record *record, uint64_t file_bytes, struct trace_error *ret_error)
{
	const struct list_reading *reading = context;
	char left[8192], right[8192];

	if (record->kind != PROBE_RECORD_ROW || probe_record_row(record, left, sizeof(left), right, sizeof(right)))
		return -EBADMSG;
	add_row(reading->rows, left, right);
	return reading->rows->failed ? error_set(ret_error, -ENOMEM, "out of memory") : 0;
}

static int list_path(struct rows *rows, const char *path, struct trace_error *ret_error)
{
	struct list_reading context = {.rows = rows, .spec = rows->spec, .path = path};
	const struct probe_reading reading = {.read = find_lines, .take = take_line, .context = &context};

	return probe_reader_run(path, &reading, ret_error);
}

static int list_file(struct rows *rows, struct trace_error *ret_error)
{
	char path[4096];
	int err = probe_find_file(rows->spec->file, rows->spec->pid, path, ret_error);

	return err ? err : list_path(rows, path, ret_error);
}

/* ---- of a process: each file that it has mapped as code ---- */

static void note_unread(struct rows *rows, const struct trace_error *error)
{
	if (!rows->nr_unread++)
		rows->unread = *error;
}

/* -EBADMSG: the reader was stopped; other files might take as long */
static int list_mapped(struct rows *rows, const char *path, pid_t pid, struct trace_error *ret_error)
{
	struct trace_error error = {0};
	char found[4096];
	int err = probe_find_file(path, pid, found, &error);

	if (!err)
		err = list_path(rows, found, &error);
	if (err == -EBADMSG || err == -ENOMEM)
		return error_set(ret_error, err, "%s", error.message);
	if (err)
		note_unread(rows, &error);
	return 0;
}

static int by_path(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Mappings of one file can have those of others between them. */
static bool is_new_path(struct rows *rows, const char *path)
{
	char *copy = strdup(path);
	char **found = copy ? tsearch(copy, &rows->paths, by_path) : NULL;
	bool is_new = found && *found == copy;

	rows->failed |= !found;
	if (!is_new)
		free(copy);
	return is_new;
}

static int list_process(struct rows *rows, pid_t pid, struct trace_error *ret_error)
{
	struct probe_spec spec = *rows->spec;
	char line[4400], permissions[8];
	int err = 0, failed;
	struct file_opener opener = {0};
	FILE *maps = file_opener_text(&opener, (uint32_t)pid, "maps");

	failed = errno;
	file_opener_close(&opener);
	if (!maps)
		return error_set(ret_error, -failed, "process %d: %s", pid,
				 failed == ENOENT ? "no such process" : file_why(-failed));
	spec.pid = pid;
	while (!err && fgets(line, sizeof(line), maps)) {
		char *path = strchr(line, '/');
		struct rows part;

		line[strcspn(line, "\n")] = '\0';
		if (!path || sscanf(line, "%*s %7s", permissions) != 1 || !strchr(permissions, 'x') ||
		    !is_new_path(rows, path))
			continue;
		snprintf(spec.file, sizeof(spec.file), "%s", strrchr(path, '/') + 1);
		part = *rows;
		part.spec = &spec;
		err = list_mapped(&part, path, pid, ret_error);
		part.spec = rows->spec;
		*rows = part;
	}
	failed = read_end(maps);
	if (!err && failed)
		return error_set(ret_error, failed, "process %d: %s", pid, strerror(-failed));
	return err;
}

/* ---- of the kernel ---- */

const char *probe_kernel_missing(void)
{
	if (access("/sys/bus/event_source/devices/kprobe", F_OK) < 0 &&
	    access("/sys/kernel/tracing/kprobe_events", F_OK) < 0 &&
	    access("/sys/kernel/debug/tracing/kprobe_events", F_OK) < 0)
		return "this kernel has no kprobes (CONFIG_KPROBE_EVENTS is off); its events are listed by tracedaemon "
		       "--list";
	return NULL;
}

static int list_kernel(struct rows *rows, struct trace_error *ret_error)
{
	FILE *symbols = fopen("/proc/kallsyms", "re");
	char line[512], name[256], type, left[300];
	int err;

	if (!symbols)
		return error_set(ret_error, -errno, "/proc/kallsyms: %s", strerror(errno));
	while (fgets(line, sizeof(line), symbols)) {
		if (sscanf(line, "%*x %c %255s", &type, name) != 2 || (type != 't' && type != 'T') ||
		    (*rows->spec->function && fnmatch(rows->spec->function, name, 0)))
			continue;
		snprintf(left, sizeof(left), "kernel:%s", name);
		add_row(rows, left, "");
	}
	err = read_end(symbols);
	return err ? error_set(ret_error, err, "/proc/kallsyms: %s", strerror(-err)) : 0;
}

/* "usdt:1234" means a process, unless a file has that name. */
static int is_process(const struct probe_spec *spec, struct trace_error *ret_error)
{
	int exists;

	if (spec->pid || !*spec->file || strspn(spec->file, "0123456789") != strlen(spec->file))
		return 0;
	exists = probe_file_exists(spec->file, ret_error);
	return exists < 0 ? exists : !exists;
}

static int list_numbered(struct rows *rows, const char *digits, struct trace_error *ret_error)
{
	long pid = strtol(digits, NULL, 10);

	if (pid < 1 || pid > INT_MAX)
		return error_set(ret_error, -ENOENT, "process %.40s: no such process", digits);
	return list_process(rows, (pid_t)pid, ret_error);
}

/* ---- of the kernel's tracepoints ---- */

static void add_tracepoint(void *context, const char *name, const char *fields)
{
	add_row(context, name, fields);
}

static int list_tracepoints(struct rows *rows, struct trace_error *ret_error)
{
	bool with_fields = *rows->spec->provider;
	int nr = probe_tracepoint_list(rows->spec, with_fields, add_tracepoint, rows, ret_error);

	return nr < 0 ? nr : 0;
}

static void ignore_row(void *context, const char *name, const char *fields)
{
	(void)context;
	(void)name;
	(void)fields;
}

/* "ext4:*" means tracepoints, unless a file in this folder has the name of the subsystem. */
static int names_tracepoints(const char *target, struct probe_spec *spec, struct trace_error *ret_error)
{
	struct probe_spec tracepoints = {.kind = PROBE_TRACEPOINT};
	char text[512];
	int exists;

	if (spec->kind == PROBE_TRACEPOINT)
		return 1;
	if (spec->kind != PROBE_FUNCTION || spec->pid || strchr(spec->file, '/'))
		return 0;
	snprintf(text, sizeof(text), "tracepoint:%.400s", target);
	if (probe_spec_parse(text, true, &tracepoints, NULL) || !*tracepoints.provider ||
	    probe_tracepoint_list(&tracepoints, false, ignore_row, NULL, NULL) <= 0)
		return 0;
	exists = probe_file_exists(spec->file, ret_error);
	if (exists)
		return exists < 0 ? exists : 0;
	*spec = tracepoints;
	return 1;
}

static int list_any(struct rows *rows, const char *target, struct probe_spec *spec, struct trace_error *ret_error)
{
	int result = names_tracepoints(target, spec, ret_error);

	if (result)
		return result < 0 ? result : list_tracepoints(rows, ret_error);
	if (spec->kind == PROBE_KERNEL)
		return list_kernel(rows, ret_error);
	result = is_process(spec, ret_error);
	if (result)
		return result < 0 ? result : list_numbered(rows, spec->file, ret_error);
	return list_file(rows, ret_error);
}

/* "2 files could not be read; the first: /tmp/a: not an ELF program or library" */
static int tell_unread(const struct rows *rows, int result, const char *target, const char *what,
		       struct trace_error *ret_error)
{
	return error_set(ret_error, result, "%s: %s %zu file%s could not be read; the first: %s", target, what,
			 rows->nr_unread, rows->nr_unread == 1 ? "" : "s", rows->unread.message);
}

int trace_probes_list(const char *target, FILE *out, struct trace_error *ret_error)
{
	struct probe_spec spec;
	struct rows rows = {.spec = &spec};
	int result = probe_spec_parse(target, true, &spec, ret_error);

	if (!result)
		result = list_any(&rows, target, &spec, ret_error);
	if (!result)
		result = print_rows(&rows, out, ret_error);
	free_rows(&rows);
	if (result > 0 && spec.kind == PROBE_KERNEL && probe_kernel_missing())
		fprintf(out, "\nNone of them can be probed here: %s\n", probe_kernel_missing());
	if (rows.nr_unread && result > 0)
		return tell_unread(&rows, -ENODATA, target, "the list is not whole:", ret_error);
	if (rows.nr_unread && !result)
		return tell_unread(&rows, -ENOENT, target, "nothing was found, but", ret_error);
	if (!result)
		return error_set(ret_error, -ENOENT, "%s: there is %s", target,
				 spec.kind == PROBE_TRACEPOINT ? "no tracepoint of the kernel of this name"
				 : spec.kind == PROBE_USDT     ? "no static probe (of <sys/sdt.h>) of this name"
							       : "no function of this name (is the file stripped?)");
	return result;
}
