/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * state_device.c - the block devices of files
 *
 * The block device of a path is the device of its file system or, with precedence, the device that
 * was seen to serve the file.
 */
#include <stdio.h>
#include "state.h"
#include "state_device.h"

#define MINOR_BITS 20 /* of the kernel's number of a device; the major number of no disk is 0 */

struct device_row {
	uint64_t key;	 /* path + 1 */
	uint64_t device; /* string_id */
	uint64_t served;
};

string_id device_name(struct trace_analysis *a, uint64_t dev)
{
	const char *name = trace_string(a->trace, TRACE_STRING_DEVICE, dev);
	char number[32];

	snprintf(number, sizeof(number), "%u:%u", (unsigned int)(dev >> MINOR_BITS),
		 (unsigned int)(dev & ((1u << MINOR_BITS) - 1)));
	return strings_intern(&a->strings, name ? name : dev >> MINOR_BITS ? number : "disk");
}

void device_learn(struct trace_analysis *a, string_id path, uint32_t dev, bool served)
{
	bool is_disk_itself = dev >> MINOR_BITS && path == device_name(a, dev);
	struct device_row *row;

	if (!path || !dev || (!trace_string(a->trace, TRACE_STRING_DEVICE, dev) && !is_disk_itself))
		return;
	row = acct_row(a, &a->devices, sizeof(*row), path + 1ull);
	if (row->served && !served)
		return;
	row->device = device_name(a, dev);
	row->served = served;
}

const char *trace_file_device(const struct trace_analysis *a, const char *path)
{
	/* A path in a report is interned already. */
	string_id id = *path ? strings_intern(&((struct trace_analysis *)a)->strings, path) : 0;
	const struct device_row *row = id ? table_find(&a->devices, sizeof(*row), id + 1ull) : NULL;

	return row ? strings_text(&a->strings, (string_id)row->device) : "";
}
