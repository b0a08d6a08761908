/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shared_maps.h"

#include <errno.h>

#include "loader.h"

int tracer_share_maps(const struct tracer *tracer, const struct bpf_object *object)
{
	static const char *const names[] = {"rings", "structural_rings", "wakeups", "followed"};
	int result = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && !result; i++) {
		struct bpf_map *map = bpf_object__find_map_by_name(object, names[i]),
			       *shared = bpf_object__find_map_by_name(tracer->skeleton->obj, names[i]);

		result = map && shared ? bpf_map__reuse_fd(map, bpf_map__fd(shared)) : -ENOENT;
	}
	return result;
}
