/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "readprofile.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <trace/symbols.h>
#include <unistd.h>
#include "checked_memory.h"
#include "complain.h"
#include "error_set.h"
#include "number_text.h"
#include "value_text.h"
#include "visualizer_options.h"

/* ---- requests to the recorder ---- */

/* tracectl beside this program, else in the path; returns only if there is none */
static void run_tracectl(char **arguments)
{
	char path[512];
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - sizeof("tracectl"));

	if (bytes > 0) {
		path[bytes] = '\0';
		if (strrchr(path, '/'))
			strcpy(strrchr(path, '/') + 1, "tracectl");
		execv(path, arguments);
	}
	execvp("tracectl", arguments);
}

static int ask_recorder(const struct readprofile_choice *choice)
{
	char number[16], tracectl[] = "tracectl", profile[] = "profile", reset[] = "reset", control[] = "--control";
	char *arguments[8] = {tracectl, profile};
	size_t nr = 2;

	snprintf(number, sizeof(number), "%d", choice->multiplier);
	arguments[nr++] = choice->reset ? reset : number;
	if (choice->control) {
		arguments[nr++] = control;
		arguments[nr++] = (char *)choice->control;
	}
	run_tracectl(arguments);
	return complain(1, "tracectl, which asks the recorder, cannot be run: %s", strerror(errno));
}

/* ---- the functions ---- */

/* A System.map has the addresses of a kernel that was not moved at its start (KASLR). */
static void move_map(struct kernel_symbols *map, uint64_t begin)
{
	uint64_t distance = begin && map->begin ? begin - map->begin : 0;

	for (size_t i = 0; i < map->nr; i++)
		map->symbols[i].address += distance;
	map->begin += map->begin ? distance : 0;
	map->end += map->end ? distance : 0;
}

/* Does @map name a function of the trace otherwise? Then it is of another kernel. */
static bool is_of_another(const struct kernel_symbols *map, const struct kernel_rows *named)
{
	for (size_t i = 0; i < named->nr; i++) {
		size_t idx = kernel_symbols_find(map, named->rows[i].address);
		bool has_address = idx < map->nr && map->symbols[idx].address == named->rows[i].address;

		if (strchr(named->rows[i].name, '[') ||
		    (has_address && kernel_symbols_has(map, idx, named->rows[i].name)))
			continue;
		return true;
	}
	return false;
}

static int read_map(const struct readprofile_choice *choice, const char *path, struct kernel_rows *rows,
		    struct trace_error *ret_error)
{
	struct kernel_symbols map = {0};
	int err = kernel_symbols_read(&map, path, ret_error);

	if (!err) {
		move_map(&map, rows->begin);
		if (is_of_another(&map, rows))
			err = error_set(ret_error, -ESTALE, "%s: the map is of another kernel than the trace", path);
		if (!err && choice->counts && !map.begin)
			err = error_set(ret_error, -ENODATA, "%s: it has no _stext, where the counters begin", path);
	}
	if (!err) {
		struct kernel_rows named = *rows;

		*rows = (struct kernel_rows){0};
		rows_of_symbols(rows, &map);
		rows_free(&named);
	}
	kernel_symbols_clear(&map);
	return err;
}

static bool is_this_boot(const struct trace *trace)
{
	const char *boot = trace_string(trace, TRACE_STRING_INFO, TRACE_INFO_BOOT_ID);
	FILE *file = boot ? fopen("/proc/sys/kernel/random/boot_id", "re") : NULL;
	char line[64] = "";
	bool is_same = file && fgets(line, sizeof(line), file);

	if (file)
		fclose(file);
	line[strcspn(line, "\n")] = '\0';
	return is_same && !strcmp(line, boot);
}

/* The names in the trace, or all of -m. For -a those of this machine, if they are the same. */
static int read_rows(const struct readprofile_choice *choice, const struct trace *trace, struct kernel_rows *rows,
		     struct trace_error *ret_error)
{
	int err = 0;

	rows_take(rows, trace);
	if (!choice->map && choice->all && !is_this_boot(trace))
		return error_set(
			ret_error, -ENODATA,
			"-a: the trace names only the functions with hits, and this kernel is another one: give "
			"its System.map with -m");
	if (choice->map || choice->all)
		err = read_map(choice, choice->map ? choice->map : KERNEL_SYMBOLS_RUNNING, rows, ret_error);
	if (!err)
		rows_take(rows, trace);
	return err;
}

static int read_trace(const struct visualizer_options *options, struct kernel_rows *rows, struct hits *hits)
{
	struct trace_error error = {0};
	struct trace *trace = trace_open(options->trace, &error);
	struct time_window window;
	int result = 0;

	if (!trace)
		return complain_of_error(&error);
	result = time_window_of(trace, &options->window, &window);
	if (!result && read_rows(&options->readprofile, trace, rows, &error))
		result = complain_of_error(&error);
	if (!result &&
	    hits_of_trace(hits, trace, window.has_from ? window.from_ns : 0, window.has_to ? window.to_ns : 0, &error))
		result = complain_of_error(&error);
	if (!result && !hits->nr_samples && hits->reset_ns)
		result = complain(1, "the trace has no samples after its last \"" READPROFILE_RESET "\"");
	else if (!result && !hits->nr_samples)
		result = complain(1, "the trace has no samples%s: tracedaemon --sample TRACE -- COMMAND records some",
				  window.has_from || window.has_to ? " at that time" : "");
	if (!result && hits->reset_ns)
		fprintf(stderr, "tracevisualizer: samples before the last \"" READPROFILE_RESET "\" do not count\n");
	trace_close(trace);
	return result;
}

static int read_counts(const struct readprofile_choice *choice, struct kernel_rows *rows, struct hits *hits)
{
	struct trace_error error = {0};

	return read_map(choice, choice->map ? choice->map : KERNEL_SYMBOLS_RUNNING, rows, &error) ||
			       hits_of_file(hits, choice->counts, rows, choice->no_auto, &error)
		       ? complain_of_error(&error)
		       : 0;
}

/* ---- the report ---- */

static void put_line(bool verbose, uint64_t address, const char *name, uint64_t count, uint64_t bytes)
{
	double load = bytes ? (double)count / (double)bytes : 0;

	if (verbose)
		printf("%016" PRIx64 " %-40s %6" PRIu64 " %8.4f\n", address, name, count, load);
	else
		printf("%6" PRIu64 " %-40s %8.4f\n", count, name, load);
}

static void put_counters(const struct readprofile_choice *choice, const struct kernel_row *row, const struct hits *hits)
{
	for (size_t i = row->first; i < row->first + row->nr; i++) {
		const struct hit *hit = &hits->hits[i];
		uint64_t offset = hit->address > row->address ? hit->address - row->address : 0;

		if (choice->bins)
			printf("\t%" PRIx64 "\t%" PRIu64 "\n", hit->address, hit->count);
		else
			printf("\t0x%" PRIx64 "\t%s+%#" PRIx64 "\t%" PRIu64 "\n", hit->address, row->name, offset,
			       hit->count);
	}
}

static void put_row(const struct readprofile_choice *choice, const struct kernel_row *row, const struct hits *hits)
{
	if (choice->bins && row->count)
		printf("%s:\n", row->name);
	else if (!choice->bins)
		put_line(choice->verbose, row->address, row->name, row->count, row->bytes);
	if (choice->bins || choice->counters)
		put_counters(choice, row, hits);
	if (choice->bins && row->count)
		printf("  total\t\t\t\t%" PRIu64 "\n", row->count);
}

/* Without the size of the kernel's code that of the shown functions. */
static uint64_t whole_bytes(const struct kernel_rows *rows)
{
	uint64_t bytes = rows->end > rows->begin ? rows->end - rows->begin : 0;

	for (size_t i = 0; i < rows->nr; i++)
		if (!rows->begin || rows->rows[i].address < rows->begin || rows->rows[i].address >= rows->end)
			bytes += rows->rows[i].count ? rows->rows[i].bytes : 0;
	return bytes;
}

static void put_rows(const struct readprofile_choice *choice, const struct kernel_rows *rows, const struct hits *hits)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < rows->nr; i++) {
		sum += rows->rows[i].count;
		if (rows->rows[i].count || choice->all)
			put_row(choice, &rows->rows[i], hits);
	}
	printf("%6" PRIu64 " *unknown*\n", rows->unknown);
	put_line(choice->verbose, 0, "total", sum, whole_bytes(rows));
}

static int write_file(const struct visualizer_options *options, const struct kernel_rows *rows, const struct hits *hits)
{
	const char *path = options->readprofile.write;
	struct trace_error error = {0};
	uint64_t others;

	if (options_is_trace(path))
		return complain(1, "%s is a trace and is not replaced; remove it, or name another file", path);
	if (profile_file_write(path, rows, hits, &others, &error))
		return complain_of_error(&error);
	if (others)
		fprintf(stderr,
			"tracevisualizer: %s hits are in modules and BPF programs: that file has them as *unknown*\n",
			number_count(others).s);
	fprintf(stderr, "tracevisualizer: next: readprofile -p %s -m %s.map\n", path, path);
	return 0;
}

static int finish(const struct visualizer_options *options, const struct kernel_rows *rows, const struct hits *hits)
{
	if (options->readprofile.write)
		return write_file(options, rows, hits);
	if (options->readprofile.info)
		printf("Sampling_step: %" PRIu64 "\n", hits->step);
	else
		put_rows(&options->readprofile, rows, hits);
	errno = 0;
	return fflush(stdout) ? complain(1, "standard output could not be written completely: %s", strerror(errno)) : 0;
}

int readprofile(const struct visualizer_options *options)
{
	const struct readprofile_choice *choice = &options->readprofile;
	struct kernel_rows rows = {0};
	struct hits hits = {0};
	int result;

	if (choice->reset || choice->multiplier)
		return ask_recorder(choice);
	result = options->trace ? read_trace(options, &rows, &hits) : read_counts(choice, &rows, &hits);
	if (!result) {
		rows_count(&rows, &hits);
		result = finish(options, &rows, &hits);
	}
	rows_free(&rows);
	hits_free(&hits);
	return result;
}
