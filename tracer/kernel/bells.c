/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* bells.c - programs that call the daemon because they cannot see its socket: bell.bpf.c */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include <sys/mman.h>
#include "follow.h"
#include "loader.h"

#define BELLS_AT_ONCE 64 /* then the caller drains rings and looks at signals */

/* An error ends ring_buffer__consume(), which otherwise goes on while programs call. */
static int on_bell(void *context, void *data, size_t bytes)
{
	struct tracer *tracer = context;
	const struct tracer_bell_record *record = data;
	struct tracer_bell bell = {0};

	if (bytes < sizeof(*record) || !tracer->on_bell)
		return 0;
	bell.number = (pid_t)record->number;
	bell.pid = tracer_pid(tracer, bell.number);
	bell.bytes = record->bytes;
	memcpy(bell.comm, record->comm, sizeof(bell.comm) - 1);
	snprintf(bell.name, sizeof(bell.name), "%.*s", (int)sizeof(record->name),
		 strncmp(record->name, "memfd:", 6) == 0 ? record->name + 6 : record->name);
	tracer->on_bell(tracer->bell_context, &bell);
	return --tracer->bells_to_take ? 0 : -EAGAIN;
}

static struct bpf_link *attach(struct tracer *tracer, const struct bpf_program *program)
{
	for (size_t i = 0; i < tracer->nr_programs; i++)
		if (tracer->programs[i].program == program)
			return tracer->programs[i].unavailable[0] ? NULL : bpf_program__attach(program);
	return NULL;
}

/* The device of memfds, as the kernel numbers it. */
static uint32_t memory_device(void)
{
	int fd = memfd_create("device", MFD_CLOEXEC);
	struct stat status;
	bool found = fd >= 0 && fstat(fd, &status) == 0;

	if (fd >= 0)
		close(fd);
	return found ? major(status.st_dev) << 20 | minor(status.st_dev) : 0;
}

int tracer_bell_begin(struct tracer *tracer)
{
	uint32_t device = memory_device();

	if (!device)
		return -EMFILE;
	tracer->bell_links[0] = attach(tracer, tracer->skeleton->progs.program_bell);
	if (!tracer->bell_links[0])
		return -ENOTSUP;
	tracer->bell_links[1] = attach(tracer, tracer->skeleton->progs.program_bell_name);
	tracer->bells = ring_buffer__new(bpf_map__fd(tracer->skeleton->maps.bells), on_bell, tracer, NULL);
	if (!tracer->bells) {
		tracer_bell_end(tracer);
		return -ENOMEM;
	}
	tracer->skeleton->bss->bell_device = device;
	return ring_buffer__epoll_fd(tracer->bells);
}

void tracer_bell_take(struct tracer *tracer, tracer_bell_fn fn, void *context)
{
	if (!tracer->bells)
		return;
	tracer->on_bell = fn;
	tracer->bell_context = context;
	tracer->bells_to_take = BELLS_AT_ONCE;
	ring_buffer__consume(tracer->bells);
	tracer->on_bell = NULL;
}

uint64_t tracer_bells_lost(const struct tracer *tracer)
{
	return __atomic_load_n(&tracer->skeleton->bss->lost_bells, __ATOMIC_RELAXED);
}

void tracer_bell_end(struct tracer *tracer)
{
	for (int i = 0; i < 2; i++) {
		bpf_link__destroy(tracer->bell_links[i]);
		tracer->bell_links[i] = NULL;
	}
	ring_buffer__free(tracer->bells);
	tracer->bells = NULL;
}
