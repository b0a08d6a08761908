/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "prepare_files.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include <trace/events.h>
#include "iterator_child.h"
#include "sample_skeleton.h"

/* Since Linux 6.1 the iterator may be of one process; before, it goes through all. */
static struct bpf_link *attach_iterator(const struct samples_bpf *skeleton)
{
	union bpf_iter_link_info own = {.task = {.pid = (uint32_t)getpid()}};
	LIBBPF_OPTS(bpf_iter_attach_opts, options, .link_info = &own, .link_info_len = sizeof(own));
	struct bpf_link *link = bpf_program__attach_iter(skeleton->progs.walk_start, &options);

	return link ? link : bpf_program__attach_iter(skeleton->progs.walk_start, NULL);
}

/* Destroys @link. */
static void iterate(struct bpf_link *link)
{
	int fd = link ? bpf_iter_create(bpf_link__fd(link)) : -1;
	char none[64];

	while (fd >= 0 && read(fd, none, sizeof(none)) > 0)
		;
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
}

void prepare_files(struct samples_bpf *skeleton, const int *fds, size_t nr, struct ring_buffer *wanted)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = nr * page;
	char *place = nr ? mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
			 : MAP_FAILED;

	if (place == MAP_FAILED)
		return;
	for (size_t i = 0; i < nr; i++)
		mmap(place + i * page, page, PROT_READ, MAP_PRIVATE | MAP_FIXED, fds[i], 0);
	skeleton->data_files->prepared_from = (uintptr_t)place;
	skeleton->data_files->prepared_bytes = bytes;
	skeleton->data_files->prepared_by = (unsigned int)getpid();
	iterate(attach_iterator(skeleton));
	ring_buffer__consume(wanted);
	skeleton->data_files->prepared_by = 0;
	munmap(place, bytes);
}

void prepare_running(struct samples_bpf *skeleton, struct ring_buffer *wanted)
{
	skeleton->data_files->prepares_running = 1;
	iterator_child_read(skeleton->progs.walk_start, NULL, NULL, NULL); /* tables that are missing come later */
	skeleton->data_files->prepares_running = 0;
	ring_buffer__consume(wanted);
}
