/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PROBE_CHECKSUM_H
#define TRACER_PROBE_CHECKSUM_H
/* probe_checksum.h - the checksum by which .gnu_debuglink names a debug file */
#include <stdbool.h>
#include <stdint.h>

/**
 * probe_checksum_is() - does the file @fd have @checksum?
 * It is the CRC-32 of all bytes of the file: GDB's manual, "Debugging Information in Separate
 * Files". A file that is cut while it is read has another one.
 */
bool probe_checksum_is(int fd, uint32_t checksum);

#endif
