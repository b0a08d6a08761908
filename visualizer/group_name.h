/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_GROUP_NAME_H
#define VISUALIZER_GROUP_NAME_H
/* group_name.h - the name of a control group: systemd unit, container, or path. */
#include <stddef.h>

/**
 * group_name() - "shop.service", "docker-0123456789ab", "shop.service/worker", else the path;
 * "(unknown)" for an empty path
 * Returns @buffer, with control characters as \xNN.
 */
const char *group_name(const char *path, char *buffer, size_t size);
#endif
