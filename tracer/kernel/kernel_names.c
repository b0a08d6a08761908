/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kernel_names.c - names of numbers: system calls, interrupts, softirqs, vectors,
 * block and network devices. */
#include "kernel_names.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <trace/reader.h>
#include <unistd.h>
#include "loader.h"
#include "syscalls.h"
#include "read_end.h"

/* include/linux/interrupt.h, Linux 6.18 */
static const char *const softirq_names[] = {"HI",	"TIMER",   "NET_TX", "NET_RX",	"BLOCK",
					    "IRQ_POLL", "TASKLET", "SCHED",  "HRTIMER", "RCU"};

static const char *const vector_names[TRACE_NR_VECTORS] = {
	[TRACE_VECTOR_LOCAL_TIMER] = "local_timer",
	[TRACE_VECTOR_RESCHEDULE] = "reschedule",
	[TRACE_VECTOR_CALL_FUNCTION] = "call_function",
	[TRACE_VECTOR_CALL_FUNCTION_SINGLE] = "call_function_single",
	[TRACE_VECTOR_IRQ_WORK] = "irq_work",
	[TRACE_VECTOR_X86_PLATFORM_IPI] = "x86_platform_ipi",
	[TRACE_VECTOR_THERMAL] = "thermal_apic",
	[TRACE_VECTOR_THRESHOLD] = "threshold_apic",
	[TRACE_VECTOR_DEFERRED_ERROR] = "deferred_error_apic",
	[TRACE_VECTOR_ERROR] = "error_apic",
	[TRACE_VECTOR_SPURIOUS] = "spurious_apic",
};

/* struct name_sink - receiver of the names */
struct name_sink {
	tracer_string_fn emit;
	void *context;
};

static int emit_table(struct name_sink *sink, int space, const char *const *names, size_t nr_names)
{
	int result = 0;

	for (size_t i = 0; !result && i < nr_names; i++)
		if (names[i])
			result = sink->emit(sink->context, space, i, names[i]);
	return result;
}

static int emit_syscalls(struct name_sink *sink)
{
	int result = 0;

	for (unsigned int nr = 0; !result && nr < TRACER_NR_SYSCALLS; nr++) {
		const char *native = tracer_syscall_name(TRACE_ABI_NATIVE, nr),
			   *compat = tracer_syscall_name(TRACE_ABI_32, nr);

		if (native)
			result = sink->emit(sink->context, TRACE_STRING_SYSCALL, nr, native);
		if (!result && compat)
			result = sink->emit(sink->context, TRACE_STRING_SYSCALL_32, nr, compat);
	}
	return result;
}

/* "24:  1  0  IO-APIC  5-edge  ACPI:Ged, other": the handlers' names are the last column, after
 *       chip and hardware number. */
static const char *handler_names(char *line)
{
	char *at = strchr(line, ':') + 1;
	int words = 0;

	for (;;) {
		while (isspace((unsigned char)*at))
			at++;
		if (!*at)
			return NULL;
		if (words == 2)
			return at;
		if (words > 0 || !isdigit((unsigned char)*at) || strspn(at, "0123456789") != strcspn(at, " \t\n"))
			words++;
		at += strcspn(at, " \t\n");
	}
}

int tracer_each_interrupt(tracer_interrupt_fn emit, void *context)
{
	FILE *file = fopen("/proc/interrupts", "re");
	char *line = NULL;
	size_t room = 0;
	int result = 0;

	if (!file)
		return 0; /* names are optional */
	while (!result && getline(&line, &room, file) > 0) {
		unsigned int irq;
		const char *name;
		int colon = 0;

		line[strcspn(line, "\n")] = '\0';
		if (sscanf(line, " %u%n", &irq, &colon) != 1 || line[colon] != ':')
			continue;
		name = handler_names(line);
		if (name)
			result = emit(context, irq, name);
	}
	if (!result && read_lines_error(file) == -ENOMEM)
		result = -ENOMEM;
	free(line);
	fclose(file);
	return result;
}

static int emit_interrupt(void *context, unsigned int irq, const char *name)
{
	struct name_sink *sink = context;

	return sink->emit(sink->context, TRACE_STRING_IRQ, irq, name);
}

/*
 * "7:0" leads to "../../devices/virtual/block/loop0". /proc/partitions lacks devices without a
 * size, such as a loop device that has no file yet.
 */
static int emit_block_device(const struct name_sink *sink, int folder, const char *number)
{
	unsigned int major, minor;
	char path[PATH_MAX];
	ssize_t bytes = readlinkat(folder, number, path, sizeof(path) - 1);

	if (bytes <= 0 || sscanf(number, "%u:%u", &major, &minor) != 2)
		return 0;
	path[bytes] = '\0';
	return sink->emit(sink->context, TRACE_STRING_DEVICE, (uint64_t)major << 20 | minor,
			  path + (strrchr(path, '/') ? strrchr(path, '/') - path + 1 : 0));
}

static int emit_block_devices(struct name_sink *sink)
{
	DIR *folder = opendir("/sys/dev/block");
	const struct dirent *entry = NULL;
	int result = 0;

	if (!folder)
		return 0; /* names are optional */
	do {
		errno = 0;
		entry = readdir(folder);
		result = entry ? emit_block_device(sink, dirfd(folder), entry->d_name) : -errno;
	} while (entry && !result);
	closedir(folder);
	return result;
}

static int emit_network_devices(struct name_sink *sink)
{
	struct if_nameindex *devices = if_nameindex();
	int result = 0;

	for (struct if_nameindex *d = devices; !result && d && d->if_index; d++)
		result = sink->emit(sink->context, TRACE_STRING_NETDEV, d->if_index, d->if_name);
	if (devices)
		if_freenameindex(devices);
	return result;
}

int tracer_device_names(tracer_string_fn emit, void *context)
{
	struct name_sink sink = {emit, context};
	int result = emit_block_devices(&sink);

	return result ? result : emit_network_devices(&sink);
}

int tracer_strings(tracer_string_fn emit, void *context, struct trace_error *ret_error)
{
	struct name_sink sink = {emit, context};
	int result = emit_syscalls(&sink);

	if (!result)
		result = emit_table(&sink, TRACE_STRING_SOFTIRQ, softirq_names,
				    sizeof(softirq_names) / sizeof(softirq_names[0]));
	if (!result)
		result = emit_table(&sink, TRACE_STRING_VECTOR, vector_names, TRACE_NR_VECTORS);
	if (!result)
		result = tracer_each_interrupt(emit_interrupt, &sink);
	if (!result)
		result = tracer_device_names(emit, context);
	return result ? error_set(ret_error, result, "cannot collect names: %s", strerror(-result)) : 0;
}
