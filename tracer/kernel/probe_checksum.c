/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probe_checksum.h"

#include <sys/stat.h>
#include <unistd.h>

#define POLYNOMIAL 0xedb88320u /* of CRC-32 as in IEEE 802.3, the lowest bit first */

static void table_make(uint32_t table[256])
{
	for (uint32_t byte = 0; byte < 256; byte++) {
		table[byte] = byte;
		for (int bit = 0; bit < 8; bit++)
			table[byte] = table[byte] >> 1 ^ (table[byte] & 1 ? POLYNOMIAL : 0);
	}
}

bool probe_checksum_is(int fd, uint32_t checksum)
{
	static unsigned char bytes[65536];
	uint32_t table[256], crc = UINT32_MAX;
	struct stat status;
	off_t at = 0;

	table_make(table);
	if (fstat(fd, &status) < 0)
		return false;
	while (at < status.st_size) { /* a file may grow for ever */
		ssize_t got = pread(fd, bytes, sizeof(bytes), at);

		if (got <= 0)
			return false;
		at += got;
		for (ssize_t i = 0; i < got; i++)
			crc = crc >> 8 ^ table[(crc ^ bytes[i]) & 0xff];
	}
	return ~crc == checksum;
}
