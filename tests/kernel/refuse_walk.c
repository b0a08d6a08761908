/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * refuse_walk.c - a library for LD_PRELOAD: the kernel refuses the BPF programs that walk by unwind
 * tables, because the loader says that they are for a socket, and the verifier knows no such helper
 * functions there. An older kernel refuses them for others.
 */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dlfcn.h>
#include <stddef.h>

__attribute__((visibility("default"))) int bpf_object__load_skeleton(struct bpf_object_skeleton *skeleton)
{
	int (*load)(struct bpf_object_skeleton *) =
		(int (*)(struct bpf_object_skeleton *))dlsym(RTLD_NEXT, "bpf_object__load_skeleton");
	struct bpf_program *walker = bpf_object__find_program_by_name(*skeleton->obj, "sample_by_tables");

	if (walker && bpf_program__autoload(walker))
		bpf_program__set_type(walker, BPF_PROG_TYPE_SOCKET_FILTER);
	return load(skeleton);
}
