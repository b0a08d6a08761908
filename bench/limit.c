/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* limit OBJECT KIND COMMAND [ARG...] - runs COMMAND while the programs of OBJECT (limit.bpf.o) of one kind (clock, busy, record) are attached; its exit status. */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct bpf_object *object = argc > 3 ? bpf_object__open_file(argv[1], NULL) : NULL;
	struct bpf_map *rings = object ? bpf_object__find_map_by_name(object, "rings") : NULL;
	struct bpf_program *program;
	int status;

	if (!rings || bpf_map__set_max_entries(rings, (unsigned int)libbpf_num_possible_cpus()) || bpf_object__load(object)) {
		fprintf(stderr, "limit: %s cannot be loaded\n", argc > 3 ? argv[1] : "nothing");
		return 1;
	}
	bpf_object__for_each_program(program, object)
		if (strncmp(bpf_program__name(program), argv[2], strlen(argv[2])) == 0 && !bpf_program__attach(program))
			return 1;
	if (fork() == 0) {
		execvp(argv[3], argv + 3);
		_exit(127);
	}
	wait(&status);
	bpf_object__close(object);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
