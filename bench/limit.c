/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* limit OBJECT COMMAND [ARG...] - runs COMMAND while the programs of OBJECT (limit.bpf.o) are attached; its exit status. */
#include <bpf/libbpf.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct bpf_object *object = argc > 2 ? bpf_object__open_file(argv[1], NULL) : NULL;
	struct bpf_program *program;
	int status;

	if (!object || bpf_object__load(object)) {
		fprintf(stderr, "limit: %s cannot be loaded\n", argc > 2 ? argv[1] : "nothing");
		return 1;
	}
	bpf_object__for_each_program(program, object)
		if (!bpf_program__attach(program))
			return 1;
	if (fork() == 0) {
		execvp(argv[2], argv + 2);
		_exit(127);
	}
	wait(&status);
	bpf_object__close(object);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
