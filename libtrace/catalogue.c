/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * catalogue.c - events.def as a table.
 *
 * An F() of the catalogue does not know its event, but offsetof() needs the name of the event's
 * struct. So each entry becomes a block of code in which `self` is that name. catalogue_fill() runs
 * once and fills in the table.
 */
#include "catalogue.h"

#include "scope_ends.h"
#include "schema.h"

#include <pthread.h>
#include <string.h>

static const char *const category_names[TRACE_NR_CATEGORIES] = {
	"trace", "start",  "syscall", "trap", "irq",	 "sched", "fs",	  "block",
	"timer", "memory", "socket",  "ipc",  "network", "work",  "user",
};

const char *trace_category_name(enum trace_category category)
{
	return (unsigned int)category < TRACE_NR_CATEGORIES ? category_names[category] : "user";
}

static const struct {
	const char *name;
	const char *suffix;
} roles[TRACE_NR_ROLES] = {
	[TRACE_ROLE_EVENT] = {"event", ""},
	[TRACE_ROLE_BEGIN] = {"begin", ".begin"},
	[TRACE_ROLE_END] = {"end", ".end"},
	[TRACE_ROLE_COUNTER] = {"counter", ""},
	[TRACE_ROLE_REQUEST_BEGIN] = {"request-begin", ".begin"},
	[TRACE_ROLE_REQUEST_END] = {"request-end", ".end"},
	[TRACE_ROLE_REQUEST_HANDOFF] = {"request-handoff", ".handoff"},
};

const char *trace_role_name(enum trace_event_role role)
{
	return roles[(unsigned int)role < TRACE_NR_ROLES ? role : TRACE_ROLE_EVENT].name;
}

const char *trace_role_suffix(enum trace_event_role role)
{
	return roles[(unsigned int)role < TRACE_NR_ROLES ? role : TRACE_ROLE_EVENT].suffix;
}

size_t trace_type_stem(const struct trace_event_type *type)
{
	const char *suffix = trace_role_suffix(type->role);
	size_t length = strlen(type->name), cut = strlen(suffix);

	if (cut < length && strcmp(type->name + length - cut, suffix) == 0)
		return length - cut;
	return type->role == TRACE_ROLE_BEGIN || type->role == TRACE_ROLE_END
		       ? scope_ends_stem(type->name, type->role == TRACE_ROLE_END)
		       : length;
}

/* values of the column "flags" in the catalogue */
enum catalogue_flag {
	ON = TRACE_EVENT_ON,
	OFF = 0,
	STRUCTURAL = TRACE_EVENT_STRUCTURAL,
};

#define TRACE_EVENT(id, name, ...) +1
enum {
	CATALOGUE_SIZE = 0
#include <trace/events.def>
};
#undef TRACE_EVENT

static struct trace_event_type catalogue[CATALOGUE_SIZE]; /* by catalogue_fill() */
static const struct trace_event_type *catalogue_ids[TRACE_EV_MAX];
static pthread_once_t catalogue_once = PTHREAD_ONCE_INIT;

static void catalogue_put(size_t idx, struct trace_event_type type)
{
	type.has_string = (type.nr_fields && type.fields[type.nr_fields - 1].bytes == 0) || type_has_references(&type);
	catalogue[idx] = type;
	catalogue_ids[type.id] = &catalogue[idx];
}

/* clang-format off */
#define F(ftype, fname, fkind) \
	{ #fname, offsetof(self, fname), sizeof(trace_##ftype), \
	  (trace_##ftype)-1 < (trace_##ftype)1, TRACE_KIND_##fkind },
#define S(fname, fkind) { #fname, sizeof(self), 0, false, TRACE_KIND_##fkind },
#define TRACE_EVENT(eid, ename, ecategory, eclassic, eprogram, eflags, efields, etext, edoc) { \
		typedef struct trace_##ename self;                                             \
		static const struct trace_field fields[] = { efields };                        \
		_Static_assert((eid) > 0 && (eid) < TRACE_RECORD_PATH_ENTRY, \
			       "ids are none of those that mean something else"); \
		_Static_assert(sizeof(self) % 8 == 0, "payloads are padded in the catalogue"); \
		catalogue_put(idx++, (struct trace_event_type){                                \
			.name = #ename, .classic = #eclassic, .text = etext, .doc = edoc, .program = #eprogram, \
			.fields = fields, .nr_fields = sizeof(fields) / sizeof(fields[0]),     \
			.id = (eid), .fixed_bytes = sizeof(self),                              \
			.category = TRACE_CATEGORY_##ecategory, .flags = (eflags), .source = "" }); \
	}
static void catalogue_fill(void)
{
	size_t idx = 0;

#include <trace/events.def>
}
/* clang-format on */

size_t trace_catalogue_size(void)
{
	return CATALOGUE_SIZE;
}

const struct trace_event_type *trace_catalogue_type(size_t idx)
{
	pthread_once(&catalogue_once, catalogue_fill);
	return idx < CATALOGUE_SIZE ? &catalogue[idx] : NULL;
}

const struct trace_event_type *const *catalogue_types(void)
{
	pthread_once(&catalogue_once, catalogue_fill);
	return catalogue_ids;
}

const struct trace_event_type *catalogue_by_id(uint32_t id)
{
	return id < TRACE_EV_MAX ? catalogue_types()[id] : NULL;
}
