/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_CODE_MAPS_H
#define TRACER_CODE_MAPS_H
/*
 * code_maps.h - what processes map as code while samples are taken: the kernel tells it in a buffer
 * of each CPU, as it tells perf
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/error.h>
#include <trace/tracer.h>

struct code_map_buffer;

/** struct code_maps - zeroed: closed. @lost: records that found no room, so far */
struct code_maps {
	struct code_map_buffer *buffers; /* owned; one for each CPU */
	uint32_t nr_cpus;
	uint64_t lost;
	unsigned char *record;	       /* owned; a copy of the record being read */
	struct tracer_code_map *taken; /* owned; the array of code_maps_take() */
	size_t nr_taken, taken_room;
};

/**
 * code_maps_open() - make the buffers; nothing is recorded yet. Returns 0, or a negative errno with
 * a sentence
 */
int code_maps_open(struct code_maps *maps, uint32_t nr_cpus, struct trace_error *ret_error);
void code_maps_close(struct code_maps *maps);
void code_maps_switch(struct code_maps *maps, bool on);

/** code_maps_take() - as tracer_take_code_maps() */
uint64_t code_maps_take(struct code_maps *maps, tracer_code_map_fn fn, void *context);
#endif
