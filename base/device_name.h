/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_DEVICE_NAME_H
#define BASE_DEVICE_NAME_H
/* device_name.h - names of disks and their partitions */
#include <stdbool.h>
#include <string.h>

/** device_is_part_of() - true if @device ("vda1", "nvme0n1p2") is the disk or a partition of it */
static inline bool device_is_part_of(const char *device, const char *disk)
{
	size_t bytes = strlen(disk);
	const char *rest = device + bytes;

	if (!bytes || strncmp(device, disk, bytes) != 0)
		return false;
	rest += *rest == 'p';
	return rest[strspn(rest, "0123456789")] == 0;
}
#endif
