/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "session_probes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "condition_text.h"
#include "message.h"
#include "daemon_options.h"
#include "format_text.h"

static int number_all(const struct trace_probes *probes, struct trace_writer *writer, uint16_t *ids,
		      struct trace_error *ret_error)
{
	int err = 0;

	for (size_t i = 0; i < trace_probes_nr(probes) && !err; i++)
		err = trace_writer_event_type(writer, trace_probes_get(probes, i)->type, &ids[i], ret_error);
	return err;
}

int session_probes_describe(const struct trace_probes *probes, struct trace_writer *writer,
			    struct trace_error *ret_error)
{
	uint16_t id;
	int err = 0;

	for (size_t i = 0; probes && i < trace_probes_nr(probes) && !err; i++)
		err = trace_writer_event_type(writer, trace_probes_get(probes, i)->type, &id, ret_error);
	return err;
}

/* ---- which probes are on ---- */

#define PROBE_NAMES 4

/** struct names - the names of a probe that a pattern can match */
struct names {
	size_t nr;
	const char *names[PROBE_NAMES];
	char texts[PROBE_NAMES][TRACE_PROBE_NAME_BYTES];
};

static void add_name(struct names *names, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_name(struct names *names, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(names->texts[names->nr], TRACE_PROBE_NAME_BYTES, format, arguments);
	va_end(arguments);
	names->names[names->nr] = names->texts[names->nr];
	names->nr++;
}

/*
 * A probe has several names: the event's name with and without its suffix (.return, .begin, .end),
 * and file and function as the user typed them: libc.so.6:malloc for libc:malloc. Both ends of a
 * scope have the same names, so no pattern can select one without the other.
 */
static void name_probe(const struct trace_probe *probe, struct names *names)
{
	const char *name = probe->type->name, *slash = strrchr(probe->file, '/');
	bool scope = probe->type->role == TRACE_ROLE_BEGIN || probe->type->role == TRACE_ROLE_END;
	size_t chars = trace_type_stem(probe->type), suffix = strlen(".return");

	if (probe->at_return && chars > suffix && !strcmp(name + chars - suffix, ".return"))
		chars -= suffix;
	names->nr = 0;
	if (probe->tracepoint) {
		add_name(names, "%s", name);
		return;
	}
	add_name(names, "%.*s", (int)chars, name);
	add_name(names, "%.*s%s", (int)chars, name, scope ? ".begin" : name + chars);
	if (scope)
		add_name(names, "%.*s.end", (int)chars, name);
	if (!probe->in_kernel)
		add_name(names, "%s:%s", slash ? slash + 1 : probe->file, probe->function);
}

static bool is_wanted(const struct trace_probe *probe, const struct selection *selection)
{
	struct names names;

	name_probe(probe, &names);
	return select_wants_probe(selection, names.names, names.nr);
}

/* ---- conditions ---- */

/*
 * The condition of a place: its own and that of the pattern of -e that selects it. Returns 0;
 * -ENOENT: the event has not all fields of the condition; or another negative errno.
 */
static int condition_of(const struct trace_probe *probe, const struct selection *selection,
			struct trace_condition *ret_condition, struct trace_error *ret_error)
{
	struct condition_text text;
	struct trace_condition selected;
	struct names names;
	const char *condition;
	size_t missing;
	int err;

	name_probe(probe, &names);
	condition = select_condition(selection, names.names, names.nr);
	*ret_condition = probe->condition;
	if (!*condition)
		return 0;
	err = condition_parse(condition, &text, ret_error);
	if (!err)
		err = condition_compile(&text, probe->type, &selected, &missing, ret_error);
	if (!err && condition_join(&probe->condition, &selected, ret_condition))
		err = error_set(ret_error, -E2BIG, "%s: its conditions have more than %d tests", probe->type->name,
				TRACE_CONDITION_MAX_TESTS);
	return err;
}

/* A condition that no selected place can have is a mistake of the user. */
static int check_conditions(const struct trace_probes *probes, const struct selection *selection,
			    struct trace_error *ret_error)
{
	struct trace_condition condition;
	struct trace_error error = {0};
	bool any = false;

	for (size_t i = 0; i < trace_probes_nr(probes); i++) {
		const struct trace_probe *probe = trace_probes_get(probes, i);
		int err = is_wanted(probe, selection) ? condition_of(probe, selection, &condition, &error) : 0;

		if (err && err != -ENOENT) {
			*ret_error = error;
			return err;
		}
		any |= !err && is_wanted(probe, selection);
	}
	if (error.code && !any)
		*ret_error = error;
	return any ? 0 : error.code;
}

/* Give a place its condition. Returns false if it lacks a field of it, and has to be off. */
static bool set_condition(struct tracer *tracer, size_t idx, const struct trace_probe *probe,
			  const struct selection *selection, struct trace_error *ret_error)
{
	struct trace_condition condition;

	if (condition_of(probe, selection, &condition, ret_error))
		return false;
	tracer_set_probe_condition(tracer, idx, &condition);
	return true;
}

/* ---- all probes ---- */

/*
 * Add the tracepoints of the kernel that a pattern of -e names. -ENXIO: the kernel has no such
 * subsystem, so the pattern is for programs. A user that may not see the kernel's tracepoints
 * records programs only.
 */
static int add_tracepoints(struct trace_probes *probes, const struct selection *selection, size_t idx,
			   struct trace_error *ret_error)
{
	char spec[SELECT_PATTERN_MAX + 32];
	struct trace_error error;
	int err = select_spec(selection, idx, spec, sizeof(spec)) ? trace_probes_add(probes, spec, &error) : 0;

	if (err != -ENOENT && err != -EINVAL && err != -E2BIG && err != -ENOMEM)
		return 0;
	*ret_error = error;
	return err;
}

int session_probes_parse(const struct daemon_options *options, struct trace_probes **ret_probes,
			 struct trace_error *ret_error)
{
	struct trace_probes *probes;
	int err = 0;

	*ret_probes = NULL;
	if (!options->nr_probes && !options->selection.nr_user)
		return 0;
	probes = trace_probes_new();
	if (!probes)
		return error_set(ret_error, -ENOMEM, "no memory for probes");
	for (size_t i = 0; i < options->nr_probes && !err; i++)
		err = trace_probes_add(probes, options->probes[i], ret_error);
	for (size_t i = 0; i < options->selection.nr_user && !err; i++)
		err = add_tracepoints(probes, &options->selection, i, ret_error);
	if (!err)
		err = check_conditions(probes, &options->selection, ret_error);
	if (err || !trace_probes_nr(probes))
		trace_probes_free(probes);
	else
		*ret_probes = probes;
	return err;
}

void session_probes_note(const struct trace_probes *probes, struct selection *selection)
{
	struct names names;

	for (size_t i = 0; probes && i < trace_probes_nr(probes); i++) {
		name_probe(trace_probes_get(probes, i), &names);
		select_note_probe(selection, names.names, names.nr);
	}
}

void session_probes_switch(struct tracer *tracer, const struct trace_probes *probes, const struct selection *selection)
{
	bool *on = probes ? calloc(trace_probes_nr(probes) + 1, sizeof(*on)) : NULL;
	struct trace_error error;
	size_t nr_unfit = 0;

	if (probes && !on)
		message_warning("no memory to switch probes: they are off");
	for (size_t i = 0; on && selection && i < trace_probes_nr(probes); i++) {
		const struct trace_probe *probe = trace_probes_get(probes, i);
		bool wanted = is_wanted(probe, selection);

		on[i] = wanted && set_condition(tracer, i, probe, selection, &error);
		nr_unfit += wanted && !on[i];
	}
	if (nr_unfit)
		message_note("%zu events are off, because they lack a field of the condition: %s", nr_unfit,
			     error.message);
	if (probes)
		tracer_switch_probes(tracer, on);
	free(on);
}

/* Prints each name once. */
static size_t print_some(const struct trace_probes *probes, const struct selection *selection, bool on,
			 const char *title, char *buffer, size_t size)
{
	size_t used = 0;
	const char *before = "";

	*buffer = '\0';
	for (size_t i = 0; i < trace_probes_nr(probes); i++) {
		const struct trace_probe *probe = trace_probes_get(probes, i);

		if (is_wanted(probe, selection) != on || !strcmp(before, probe->type->name))
			continue;
		before = probe->type->name;
		if (used + strlen(before) + strlen(title) + 8 > size) {
			used += (size_t)snprintf(buffer + used, size - used, " ...");
			break;
		}
		used += (size_t)snprintf(buffer + used, size - used, "%s %s", used ? "" : title, before);
	}
	if (used)
		used += (size_t)snprintf(buffer + used, size - used, "\n");
	return used;
}

void session_probes_print(const struct trace_probes *probes, const struct selection *selection, char *buffer,
			  size_t size)
{
	size_t used = probes ? print_some(probes, selection, true, "Probes that are on:", buffer, size / 2) : 0;

	if (probes)
		print_some(probes, selection, false, "Probes that are off:", buffer + used, size - used);
}

/*
 * A user that selects probes, and other events by name, may expect that the probes are selected,
 * too.
 */
void session_probes_report_off(const struct trace_probes *probes, const struct selection *selection)
{
	const char *first = NULL;
	size_t nr = 0;

	for (size_t i = 0; probes && i < trace_probes_nr(probes); i++) {
		const struct trace_probe *probe = trace_probes_get(probes, i);

		if (is_wanted(probe, selection))
			continue;
		first = first ? first : probe->type->name;
		nr++;
	}
	if (nr)
		message_note("%zu of %zu probed places are off, because -e does not select them: %s%s", nr,
			     trace_probes_nr(probes), first, nr > 1 ? ", ..." : "");
}

/* If the kernel supports no probes, everything else is still recorded. */
int session_probes_attach(struct tracer *tracer, const struct trace_probes *probes, const struct selection *selection,
			  struct trace_writer *writer, struct trace_error *ret_error)
{
	struct trace_error error;
	uint16_t *ids;
	int err;

	if (!probes)
		return 0;
	ids = calloc(trace_probes_nr(probes), sizeof(*ids));
	if (!ids)
		return error_set(ret_error, -ENOMEM, "no memory for probes");
	err = number_all(probes, writer, ids, ret_error);
	if (!err && tracer_load_probes(tracer, probes, ids, &error) < 0)
		message_warning("%s", error.message);
	else if (!err)
		session_probes_switch(tracer, probes, selection);
	free(ids);
	return err;
}

/*
 * Numbers the probes with a writer to /dev/null: every writer numbers its first event types
 * equally.
 */
int session_probes_attach_unwritten(struct tracer *tracer, const struct trace_probes *probes,
				    const struct selection *selection, struct trace_error *ret_error)
{
	struct trace_writer_options options = {.size = sizeof(options)};
	struct trace_writer *writer;
	int fd, err;

	if (!probes)
		return 0;
	fd = open("/dev/null", O_WRONLY | O_NOCTTY | O_CLOEXEC);
	writer = fd < 0 ? NULL : trace_writer_new(fd, &options, ret_error);
	if (fd < 0)
		error_set(ret_error, -errno, "cannot open /dev/null, which is needed to number probes");
	err = writer ? session_probes_attach(tracer, probes, selection, writer, ret_error) : ret_error->code;
	trace_writer_free(writer);
	if (fd >= 0)
		close(fd);
	return err;
}

bool session_probes_refused(const struct tracer *tracer, const struct trace_probes *probes, char *text, size_t size)
{
	uint64_t nr = 0, most = 0, cost_ns = 0;
	const char *name = "";
	int used;

	for (size_t i = 0; probes && i < trace_probes_nr(probes); i++) {
		uint32_t one_ns = 0;
		uint64_t refused = tracer_probe_refused(tracer, i, &one_ns);

		nr += refused;
		cost_ns += refused * one_ns;
		if (refused > most) {
			most = refused;
			name = trace_probes_get(probes, i)->type->name;
		}
	}
	if (!nr)
		return false;
	used = snprintf(text, size, "%s hits of probes, because their condition was false (most of %.80s)",
			text_count(nr).s, name);
	if (cost_ns)
		snprintf(text + used, size - (size_t)used,
			 ": they took some %.1f ms, which count as the programs' own code", (double)cost_ns / 1e6);
	return true;
}

void session_probes_report_unread(const struct tracer *tracer)
{
	uint64_t unread = tracer_probes_unread(tracer);

	if (unread)
		message_warning(
			"%s arguments of probes are 0 or empty in the trace, because their memory could not be read",
			text_count(unread).s);
}

/* The places of the option of the place @from: the best of them. @ret_next: the next option. */
static enum tracer_probe_hit hit_of_option(const struct tracer *tracer, const struct trace_probes *probes, size_t from,
					   size_t *ret_next)
{
	uint32_t option = trace_probes_get(probes, from)->option;
	enum tracer_probe_hit hit = TRACER_PROBE_NEVER_ON, one;
	size_t i;

	for (i = from; i < trace_probes_nr(probes) && trace_probes_get(probes, i)->option == option; i++) {
		one = tracer_probe_hit(tracer, i);
		hit = one > hit ? one : hit;
	}
	*ret_next = i;
	return hit;
}

void session_probes_report_unhit(const struct tracer *tracer, const struct trace_probes *probes,
				 const struct daemon_options *options)
{
	for (size_t i = 0, next; probes && i < trace_probes_nr(probes); i = next) {
		const struct trace_probe *probe = trace_probes_get(probes, i);

		if (hit_of_option(tracer, probes, i, &next) == TRACER_PROBE_NO_HIT)
			message_warning("probe %s: no hit", probe->option < options->nr_probes
								    ? options->probes[probe->option]
								    : probe->type->name);
	}
}
