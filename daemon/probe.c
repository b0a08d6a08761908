/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probe.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "message.h"
#include "options.h"
#include "text.h"

int probe_parse(const struct options *options, struct trace_probes **ret_probes, struct trace_error *ret_error)
{
	struct trace_probes *probes;
	int err = 0;

	*ret_probes = NULL;
	if (!options->nr_probes)
		return 0;
	probes = trace_probes_new();
	if (!probes)
		return text_error(ret_error, -ENOMEM, "no memory for probes");
	for (size_t i = 0; i < options->nr_probes && !err; i++)
		err = trace_probes_add(probes, options->probes[i], ret_error);
	if (err)
		trace_probes_free(probes);
	else
		*ret_probes = probes;
	return err;
}

static int number_all(const struct trace_probes *probes, struct trace_writer *writer, uint16_t *ids, struct trace_error *ret_error)
{
	int err = 0;

	for (size_t i = 0; i < trace_probes_nr(probes) && !err; i++)
		err = trace_writer_event_type(writer, trace_probes_get(probes, i)->type, &ids[i], ret_error);
	return err;
}

int probe_describe(const struct trace_probes *probes, struct trace_writer *writer, struct trace_error *ret_error)
{
	uint16_t id;
	int err = 0;

	for (size_t i = 0; probes && i < trace_probes_nr(probes) && !err; i++)
		err = trace_writer_event_type(writer, trace_probes_get(probes, i)->type, &id, ret_error);
	return err;
}

/* A kernel that takes no probes at all still records everything else. */
int probe_attach(struct tracer *tracer, const struct trace_probes *probes, struct trace_writer *writer, struct trace_error *ret_error)
{
	struct trace_error error;
	uint16_t *ids;
	int err;

	if (!probes)
		return 0;
	ids = calloc(trace_probes_nr(probes), sizeof(*ids));
	if (!ids)
		return text_error(ret_error, -ENOMEM, "no memory for probes");
	err = number_all(probes, writer, ids, ret_error);
	if (!err && tracer_attach_probes(tracer, probes, ids, &error) < 0)
		message_warning("%s", error.message);
	free(ids);
	return err;
}

/* The numbers that any writer gives when it is asked first of all. */
int probe_attach_unwritten(struct tracer *tracer, const struct trace_probes *probes, struct trace_error *ret_error)
{
	struct trace_writer_options options = {.size = sizeof(options)};
	struct trace_writer *writer;
	int fd, err;

	if (!probes)
		return 0;
	fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
	writer = fd < 0 ? NULL : trace_writer_new(fd, &options, ret_error);
	if (fd < 0)
		text_error(ret_error, -errno, "/dev/null cannot be opened, which is needed to number probes");
	err = writer ? probe_attach(tracer, probes, writer, ret_error) : ret_error->code;
	trace_writer_free(writer);
	if (fd >= 0)
		close(fd);
	return err;
}

void probe_tell_unread(const struct tracer *tracer)
{
	uint64_t unread = tracer_probes_unread(tracer);

	if (unread)
		message_warning("%s arguments of probes lay in memory that could not be read: they are 0 or empty in the trace", text_count(unread).s);
}
