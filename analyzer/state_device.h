/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_STATE_DEVICE_H
#define ANALYZER_STATE_DEVICE_H
/* state_device.h - the block devices of files */
#include <stdbool.h>
#include <stdint.h>
#include "hash_table.h"

struct trace_analysis;

/**
 * device_learn() - the file of @path is on block device @dev
 * @served: the device was seen to serve it
 */
void device_learn(struct trace_analysis *a, string_id path, uint32_t dev, bool served);

/** device_name() - name of a block device; "disk" if it has none */
string_id device_name(struct trace_analysis *a, uint64_t dev);
#endif
