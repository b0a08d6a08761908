/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "tracefile.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

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

static void add_command(struct trace_writer *writer, char *const *command)
{
	char line[1024] = "";

	for (; command && *command; command++) {
		if (*line)
			strncat(line, " ", sizeof(line) - strlen(line) - 1);
		strncat(line, *command, sizeof(line) - strlen(line) - 1);
	}
	if (*line)
		add_info(writer, TRACE_INFO_COMMAND, line);
}

int tracefile_describe(struct tracer *tracer, struct trace_writer *writer, char *const *command, struct trace_error *ret_error)
{
	const char *text;

	add_system(writer);
	add_info(writer, TRACE_INFO_CLOCK, "CLOCK_MONOTONIC");
	add_boot_id(writer);
	add_command(writer, command);
	if (!tracer) /* the analysis knows it by its first two words */
		trace_writer_string(writer, TRACE_STRING_NOT_TRACED, 0, "the kernel: the recorder had not the right to, it recorded events of programs only");
	tracer_strings(add_string, writer, NULL); /* without a name a number is shown as one */
	for (size_t i = 0; tracer && (text = tracer_not_traced(tracer, i)); i++)
		trace_writer_string(writer, TRACE_STRING_NOT_TRACED, i, text);
	return trace_writer_flush_strings(writer, ret_error);
}

uint64_t tracefile_nr_not_traced(struct tracer *tracer)
{
	uint64_t nr = tracer ? 0 : 1;

	while (tracer && tracer_not_traced(tracer, nr))
		nr++;
	return nr;
}
