/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * report_disk_uses.c - the processes whose requests the disks served.
 *
 * A process that waits for a disk may have few requests of its own: those of another one, or of a
 * worker that writes the files of another one back, are in front of them. So a page names the
 * processes with most of the time of the disk while its process waited for it.
 */
#include <stdlib.h>
#include <string.h>
#include "checked_memory.h"
#include "cpu_takers.h"
#include "device_name.h"
#include "grid.h"
#include "group_name.h"
#include "report_disk_uses.h"
#include "row_limit.h"
#include "value_text.h"

#define ROWS	   15 /* unless --top or --all choose another number */
#define NAMED	   2  /* processes in a line */
#define MATTERS	   10 /* percent */
#define NAME_BYTES 256

static struct trace_disk_use *uses(const struct report *report, size_t *ret_nr)
{
	struct trace_disk_use *list = trace_disk_uses(report->analysis, ret_nr);

	if (!list)
		memory_end();
	return list;
}

static const char *disk_name(const struct trace_disk_use *use, struct value_text *number)
{
	snprintf(number->bytes, sizeof(number->bytes), "%u:%u", use->dev >> 20, use->dev & 0xfffff);
	return *use->device ? use->device : number->bytes;
}

static const char *group_of(const struct trace_disk_use *use)
{
	const char *cgroup = use->process ? trace_process_cgroup(use->process) : "";

	return strcmp(cgroup, "/") == 0 ? "" : cgroup;
}

static void put_use(struct grid *grid, const struct trace_disk_use *use)
{
	char name[NAME_BYTES];
	struct value_text number;

	grid_ns(grid, use->busy_ns);
	grid_percent(grid, use->busy_ns, use->disk_busy_ns);
	grid_count(grid, use->reads);
	grid_bytes(grid, use->read_bytes);
	grid_count(grid, use->writes);
	grid_bytes(grid, use->written_bytes);
	grid_count(grid, use->others);
	grid_name(grid, disk_name(use, &number));
	grid_process(grid, use->title, use->process ? trace_process_pid(use->process) : 0);
	grid_text(grid, *group_of(use) ? group_name(group_of(use), name, sizeof(name)) : "");
}

void report_disk_uses(const struct report *report)
{
	static const struct grid_column columns[] = {{"busy", GRID_RIGHT},   {"%", GRID_RIGHT},
						     {"reads", GRID_RIGHT},  {"read", GRID_RIGHT},
						     {"writes", GRID_RIGHT}, {"written", GRID_RIGHT},
						     {"others", GRID_RARE},  {"disk", GRID_ELASTIC},
						     {"by", GRID_ELASTIC},   {"control group", GRID_EXTRA}};
	struct row_limit limit = row_limit_new(&report->options->rows, ROWS);
	struct value_text rest;
	struct grid *grid;
	size_t nr;
	struct trace_disk_use *list = uses(report, &nr);

	if (nr) {
		output_title(&report->output, "",
			     "Use of the disks (busy: its part of the time in which the disk had requests; written "
			     "back: for the process that wrote to the file):");
		grid = grid_new(&report->output, "  ", columns, sizeof(columns) / sizeof(columns[0]));
		for (size_t i = 0; i < nr; i++)
			if (row_limit_shows_if(&limit, true, list[i].busy_ns))
				put_use(grid, &list[i]);
		grid_end(grid, row_limit_rest(&limit, &report->output, &rest));
		fputs("\n", report->output.out);
	}
	free(list);
}

/* ---- on a page ---- */

static uint64_t waited_ns(const struct report *report, const struct trace_figures *f, const char *disk)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < f->nr_waits; i++)
		if (f->waits[i].kind == TRACE_WAIT_FILE &&
		    device_is_part_of(trace_file_device(report->analysis, f->waits[i].target), disk))
			ns += f->waits[i].ns;
	return ns;
}

/* The uses by known processes but @process, as times of CPUs, for cpu_takers(). */
static struct cpu_taker *disk_takers(const struct trace_process *process, const struct trace_disk_use *list, size_t nr,
				     size_t *ret_nr)
{
	struct trace_cpu_wait *times = memory_take(nr + 1, sizeof(*times));
	struct cpu_taker *takers;
	size_t nr_times = 0;

	for (size_t i = 0; i < nr; i++)
		if (list[i].process && list[i].process != process)
			times[nr_times++] = (struct trace_cpu_wait){.pid = trace_process_pid(list[i].process),
								    .comm = trace_process_comm(list[i].process),
								    .ns = list[i].busy_ns,
								    .title = list[i].title,
								    .process = list[i].process};
	takers = cpu_takers(times, nr_times, 0, ret_nr);
	free(times);
	return takers;
}

static void add_taker(struct string *s, const struct cpu_taker *taker)
{
	char name[NAME_BYTES + 32];

	if (taker->nr == 1)
		string_add(s, text_process(taker->first.title, taker->first.pid, name, sizeof(name)));
	else
		string_addf(s, "%zu %s processes", taker->nr,
			    text_comm(process_program(taker->first.process), name, sizeof(name)));
}

/*
 * Adds "backup (12) had 80 %, 20 cp processes 11 %", for uses of one disk by others than
 * @process. False: none of them has much.
 */
static bool add_others(struct string *s, const struct trace_process *process, const struct trace_disk_use *list,
		       size_t nr)
{
	uint64_t disk_busy_ns = nr ? list[0].disk_busy_ns : 0;
	struct cpu_taker *takers = disk_takers(process, list, nr, &nr);
	int named = 0;

	for (size_t i = 0; i < nr && named < NAMED; i++) {
		double share = percent(takers[i].ns, disk_busy_ns);

		if (share < MATTERS)
			continue;
		string_add(s, named ? ", " : "");
		add_taker(s, &takers[i]);
		string_addf(s, named++ ? " %.0f %%" : " had %.0f %%", share);
	}
	free(takers);
	return named;
}

/*
 * Adds the other users of the disk @all->dev while @process waited for it; of the whole recording
 * if there are too many waits to know.
 */
static bool add_users(struct string *s, const struct report *report, const struct trace_process *process,
		      const struct trace_disk_use *all, size_t nr_all)
{
	bool is_known, has_others;
	size_t nr;
	struct trace_disk_use *list = trace_disk_uses_while_waiting(report->analysis, process, all->dev, &is_known,
								    &nr);

	if (!list)
		memory_end();
	has_others = is_known ? add_others(s, process, list, nr) : add_others(s, process, all, nr_all);
	if (has_others)
		string_add(s, " of the time of the disk");
	if (has_others && !is_known)
		string_add(s, report->is_windowed ? " in the whole window" : " in the whole recording");
	free(list);
	return has_others;
}

/* The uses of one disk, of which @nr begin at @list. */
static void disk_line(const struct report *report, const struct trace_process *process, const struct trace_figures *f,
		      const struct trace_disk_use *list, size_t nr)
{
	uint64_t ns = waited_ns(report, f, list->device);
	struct string s = {0};
	char name[NAME_BYTES];
	struct value_text time;

	if (percent(ns, f->elapsed_ns) >= WORTH_A_ROW && add_users(&s, report, process, list, nr))
		output_line(&report->output, "\t\t", "Disk %s, for which it waited %s: meanwhile %s",
			    text_name(list->device, name, sizeof(name)), text_ns(&report->output, ns, &time),
			    string_text(&s));
	string_free(&s);
}

void disk_use_lines(const struct report *report, const struct trace_process *process, const struct trace_figures *f)
{
	size_t nr, of_disk;
	struct trace_disk_use *list = uses(report, &nr);

	for (size_t i = 0; i < nr; i += of_disk) {
		for (of_disk = 1; i + of_disk < nr && list[i + of_disk].dev == list[i].dev;)
			of_disk++;
		disk_line(report, process, f, &list[i], of_disk);
	}
	free(list);
}

void disk_users_add(struct string *s, const struct report *report, const struct trace_thread *thread, const char *path)
{
	const struct trace_process *process = trace_thread_process(thread);
	size_t nr, of_disk;
	struct trace_disk_use *list = uses(report, &nr);
	const char *device = trace_file_device(report->analysis, path);
	char name[NAME_BYTES];

	for (size_t i = 0; i < nr && !s->len; i += of_disk) {
		struct string others = {0};

		for (of_disk = 1; i + of_disk < nr && list[i + of_disk].dev == list[i].dev;)
			of_disk++;
		if (device_is_part_of(device, list[i].device) &&
		    add_users(&others, report, process, &list[i], of_disk)) {
			string_add(s, "While ");
			text_process(trace_process_title(process), trace_process_pid(process), name, sizeof(name));
			string_addf(s, "%s waited for disk ", name);
			string_addf(s, "%s, %s.", text_name(list[i].device, name, sizeof(name)), string_text(&others));
		}
		string_free(&others);
	}
	free(list);
}

/* ---- JSON ---- */

void json_disk_uses(struct json *json, const struct report *report)
{
	struct value_text number;
	size_t nr;
	struct trace_disk_use *list = uses(report, &nr);

	json_open(json, "disk_uses", "[");
	for (size_t i = 0; i < nr; i++) {
		const struct trace_disk_use *use = &list[i];

		json_open(json, NULL, "{");
		json_text(json, "device", disk_name(use, &number));
		json_u64(json, "pid", use->process ? trace_process_pid(use->process) : 0);
		json_text(json, "title", use->title);
		json_u64(json, "reads", use->reads);
		json_u64(json, "read_bytes", use->read_bytes);
		json_u64(json, "writes", use->writes);
		json_u64(json, "written_bytes", use->written_bytes);
		json_u64(json, "others", use->others);
		json_u64(json, "busy_ns", use->busy_ns);
		json_u64(json, "disk_busy_ns", use->disk_busy_ns);
		json_close(json, "}");
	}
	json_close(json, "]");
	free(list);
}
