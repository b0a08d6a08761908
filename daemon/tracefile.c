/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tracefile.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include "cpus.h"
#include "untrusted.h"
#include "version.h"
#include "build_id_reader.h"
#include "file_opener.h"
#include "format_text.h"

static int add_string(void *context, int space, uint64_t key, const char *text)
{
	return trace_writer_string(context, (enum trace_string_space)space, key, text);
}

static void add_info(struct trace_writer *writer, enum trace_info_key key, const char *text)
{
	add_string(writer, TRACE_STRING_INFO, (uint64_t)key, text);
}

static void add_system(struct trace_writer *writer)
{
	struct utsname system;

	if (uname(&system) < 0)
		return;
	add_info(writer, TRACE_INFO_HOST, system.nodename);
	add_info(writer, TRACE_INFO_KERNEL, system.release);
	add_info(writer, TRACE_INFO_MACHINE, system.machine);
}

static void add_recorder(struct trace_writer *writer)
{
	char text[128];

	snprintf(text, sizeof(text), "tracedaemon %s", program_version());
	add_info(writer, TRACE_INFO_RECORDER, text);
}

static void add_boot_id(struct trace_writer *writer)
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	char id[64] = "";

	if (!file)
		return;
	if (fgets(id, sizeof(id), file)) {
		id[strcspn(id, "\n")] = '\0';
		add_info(writer, TRACE_INFO_BOOT_ID, id);
	}
	fclose(file);
}

/* @is_alone: without its arguments */
static void add_command(struct trace_writer *writer, char *const *command, bool is_alone)
{
	char line[1024] = "";

	for (; command && *command && !(is_alone && *line); command++) {
		if (*line)
			strncat(line, " ", sizeof(line) - strlen(line) - 1);
		strncat(line, *command, sizeof(line) - strlen(line) - 1);
	}
	if (*line)
		add_info(writer, TRACE_INFO_COMMAND, line);
}

static bool filters(const struct tracer_options *filter)
{
	return filter && (filter->filter_pid > 0 || filter->filter_pgrp > 0 || filter->filter_uid >= 0 ||
			  filter->filter_gid >= 0);
}

static void add_filter(struct trace_writer *writer, uint64_t number, const struct tracer_options *filter)
{
	char text[256];
	size_t used;

	used = (size_t)snprintf(text, sizeof(text), "other processes: the recording has only events");
	if (filter->filter_pid > 0)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " of process %d%s", (int)filter->filter_pid,
					 filter->follow ? " and its descendants" : "");
	if (filter->filter_pgrp > 0)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " of process group %d",
					 (int)filter->filter_pgrp);
	if (filter->filter_uid >= 0)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " of user %lld",
					 (long long)filter->filter_uid);
	if (filter->filter_gid >= 0)
		snprintf(text + used, sizeof(text) - used, " of group %lld", (long long)filter->filter_gid);
	trace_writer_string(writer, TRACE_STRING_NOT_TRACED, number, text);
}

/* A process without events could not be distinguished from processes that the filter excludes. */
static void add_chosen_process(struct trace_writer *writer, struct tracer *tracer, const struct tracer_options *filter)
{
	bool by_pid_alone = filter->filter_pid > 0 && filter->filter_pgrp <= 0 && filter->filter_uid < 0 &&
			    filter->filter_gid < 0;
	pid_t number = by_pid_alone ? tracer_number(tracer, filter->filter_pid) : 0;
	char text[16];

	if (!number)
		return;
	snprintf(text, sizeof(text), "%d", (int)number);
	add_info(writer, TRACE_INFO_CHOSEN, text);
}

/* The number of CPUs, so that a reader can refuse a program's events of other CPUs. */
static void add_cpus(struct trace_writer *writer, struct tracer *tracer)
{
	uint32_t nr_cpus = possible_cpus();
	char text[16];

	for (size_t i = 0; tracer && i < tracer_nr_rings(tracer); i++)
		nr_cpus = tracer_get_ring(tracer, i)->cpu < nr_cpus ? nr_cpus : tracer_get_ring(tracer, i)->cpu + 1;
	snprintf(text, sizeof(text), "%u", nr_cpus);
	add_info(writer, TRACE_INFO_CPUS, text);
}

int tracefile_describe(struct tracer *tracer, struct trace_writer *writer, char *const *command,
		       const struct tracer_options *filter, struct trace_error *ret_error)
{
	uint64_t nr = tracefile_nr_not_traced(tracer, filter);
	const char *text;

	add_system(writer);
	add_recorder(writer);
	add_info(writer, TRACE_INFO_CLOCK, "CLOCK_MONOTONIC");
	add_cpus(writer, tracer);
	add_boot_id(writer);
	add_command(writer, command, filter && filter->no_args);
	if (tracer && filter && filter->sample_event)
		add_info(writer, TRACE_INFO_SAMPLED_BY, filter->sample_event);
	if (!tracer) {
		add_info(writer, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_KERNEL);
		trace_writer_string(writer, TRACE_STRING_NOT_TRACED, 0,
				    "the kernel: tracedaemon did not have the privileges for it, so it recorded only "
				    "events of programs");
	}
	tracer_strings(add_string, writer, NULL); /* without names readers show numbers */
	for (size_t i = 0; tracer && (text = tracer_not_traced(tracer, i)); i++)
		trace_writer_string(writer, TRACE_STRING_NOT_TRACED, i, text);
	if (tracer && filters(filter)) {
		add_info(writer, TRACE_INFO_LEFT_OUT, TRACE_LEFT_OUT_PROCESSES);
		add_chosen_process(writer, tracer, filter);
	}
	if (filters(filter))
		add_filter(writer, nr - 1, filter);
	return trace_writer_flush_strings(writer, ret_error);
}

void tracefile_work_names(struct trace_writer *writer, const struct tracer *tracer)
{
	if (tracer)
		tracer_work_names(tracer, add_string, writer);
}

void tracefile_device_names(struct trace_writer *writer, const struct tracer *tracer)
{
	if (tracer)
		tracer_device_names(add_string, writer);
}

void tracefile_code_names(struct trace_writer *writer, const struct tracer *tracer)
{
	if (tracer)
		tracer_code_names(tracer, add_string, writer);
}

void tracefile_distrusted(struct trace_writer *writer, uint64_t nr_programs)
{
	char text[24];

	if (!nr_programs)
		return;
	snprintf(text, sizeof(text), "%llu", (unsigned long long)nr_programs);
	add_info(writer, TRACE_INFO_DISTRUSTED, text);
}

bool tracefile_print_unfollowed(const struct tracer *tracer, uint64_t start_ns, char *text, size_t size)
{
	struct tracer_unfollowed unfollowed;

	tracer_get_unfollowed(tracer, &unfollowed);
	if (!unfollowed.processes)
		return false;
	snprintf(text, size,
		 "descendants that began while %u processes were already followed, and their own descendants: %s, the "
		 "first after %s; their events count as filtered",
		 unfollowed.max_processes, text_count(unfollowed.processes).s,
		 text_seconds(unfollowed.first_ns > start_ns ? unfollowed.first_ns - start_ns : 0).s);
	return true;
}

uint64_t tracefile_nr_not_traced(struct tracer *tracer, const struct tracer_options *filter)
{
	uint64_t nr = tracer ? 0 : 1;

	while (tracer && tracer_not_traced(tracer, nr))
		nr++;
	return nr + filters(filter);
}

bool tracefile_print_lost_maps(uint64_t nr, char *ret_text, size_t size)
{
	if (nr)
		snprintf(ret_text, size, "where programs mapped their code %s times: samples there may have no names",
			 text_count(nr).s);
	return nr;
}

bool tracefile_print_unanswered(char *ret_text, size_t size)
{
	static const char parts[] = "(build ids, unwind tables, names of generated code, descriptors of waits)";
	uint64_t nr = files_unanswered() + build_id_reader_nr_waiting();

	if (nr == 1)
		snprintf(ret_text, size,
			 "what a file or a process contains: its file system did not answer in time, or was not asked "
			 "because too many do not %s",
			 parts);
	else if (nr)
		snprintf(ret_text, size,
			 "what %s files or processes contain: their file systems did not answer in time, or were not "
			 "asked because too many do not %s",
			 text_count(nr).s, parts);
	return nr;
}
