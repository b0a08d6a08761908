/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef LIBTRACE_CATALOGUE_H
#define LIBTRACE_CATALOGUE_H
/* catalogue.h - the types of the events that the library itself defines. */
#include <stdint.h>

struct trace_event_type;

/** catalogue_types() - the library's own types by id, TRACE_EV_MAX entries; unused ids are NULL */
const struct trace_event_type *const *catalogue_types(void);

/** catalogue_by_id() - the library's own type, or NULL */
const struct trace_event_type *catalogue_by_id(uint32_t id);

#endif
