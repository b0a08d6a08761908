/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_PRELOAD_GPROF_NAMES_H
#define TRACER_PRELOAD_GPROF_NAMES_H
/*
 * gprof_names.h - the functions of the files that are loaded in this process, by their addresses
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "gprof_layout.h"

/** struct gprof_function - from @begin to before @end; @name: owned by the list */
struct gprof_function {
	uintptr_t begin, end;
	const char *name;
};

/** struct gprof_object - a loaded file. @path: owned */
struct gprof_object {
	struct gprof_code code;
	char *path;
	bool is_program;
};

/** struct gprof_names - @functions: sorted by @begin; all owned */
struct gprof_names {
	struct gprof_object *objects;
	size_t nr_objects;
	struct gprof_function *functions;
	size_t nr, room;
	char **texts;
	size_t nr_texts;
};

/** gprof_objects_find() - the files that are loaded. 0 or -ENOMEM */
int gprof_objects_find(struct gprof_names *names);
/**
 * gprof_names_read() - the functions of all objects. A file that cannot be read has none.
 * Returns 0 or -ENOMEM
 */
int gprof_names_read(struct gprof_names *names);
/** gprof_object_at(), gprof_function_at() - NULL: there is none */
const struct gprof_object *gprof_object_at(const struct gprof_names *names, uintptr_t address);
const struct gprof_function *gprof_function_at(const struct gprof_names *names, uintptr_t address);
void gprof_names_free(struct gprof_names *names);
#endif
