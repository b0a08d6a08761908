/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_disks.c - each request of a disk has the process that made it, also if a worker of the
 * kernel issued it.
 *
 * Several processes read a file past the page cache at the same time. The kernel then lets a worker
 * (kblockd) issue some of their requests. This is the program as well: "test_e2e_disks do TRUTH
 * FOLDER". Root only; skipped (77) where the kernel cannot be recorded. Without a disk, or with one
 * that cannot be read past the page cache, there is nothing to check.
 */
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "e2e_session.h"
#include "unit.h"

#define NR_READERS 8
#define NR_READS   100
#define READ_BYTES 4096
#define STRIDE	   (16 * 1024) /* no two reads are adjacent, so that the kernel merges none */

/* ---- the program ---- */

static void make_file(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	char *block = calloc(1, STRIDE);

	for (int i = 0; fd >= 0 && block && i < NR_READERS * NR_READS; i++)
		if (write(fd, block, STRIDE) != STRIDE)
			exit(1);
	fsync(fd);
	close(fd);
	free(block);
}

/* Returns the number of reads. */
static int read_part(int fd, int part, void *block)
{
	int nr = 0;

	for (int i = 0; i < NR_READS; i++)
		nr += pread(fd, block, READ_BYTES, (part * NR_READS + i) * (off_t)STRIDE) == READ_BYTES;
	return nr;
}

static int program(const char *truth_path, const char *folder)
{
	void *block = aligned_alloc(READ_BYTES, READ_BYTES);
	FILE *truth = fopen(truth_path, "we");
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/file", folder);
	fd = open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0 || !block || !truth || pread(fd, block, READ_BYTES, 0) != READ_BYTES)
		return 77;
	for (int part = 0; part < NR_READERS; part++) {
		pid_t child = fork();

		if (!child)
			_exit(read_part(fd, part, block));
		fprintf(truth, "reader%d %d\n", part, child);
	}
	for (int status; wait(&status) > 0;)
		if (!WIFEXITED(status) || WEXITSTATUS(status) != NR_READS)
			return 1;
	fclose(truth);
	return 0;
}

/* ---- the test ---- */

static struct session session;
static bool has_disk;

static void the_program_is_recorded(void)
{
	char self[256], path[128];
	ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);
	int status;

	self[bytes > 0 ? bytes : 0] = '\0';
	session_begin(&session);
	snprintf(path, sizeof(path), "%s/file", session.folder);
	make_file(path);
	status = session_run("%s/tracedaemon --quiet %s -- %s do %s %s >%s/out 2>&1 </dev/null", TRACE_BIN,
			     session.trace, self, session.truth, session.folder, session.folder);
	CU_ASSERT(status == 0 || status == 77);
	session.report = session_load(&session, "--all");
	CU_ASSERT_PTR_NOT_NULL_FATAL(session.report);
	has_disk = status == 0 && json_array_size(json_object_get(session.report, "disk_uses")) &&
		   !json_number(json_object_get(session.report, "trace"), "lost");
	if (!has_disk)
		fprintf(stderr, "nothing to check: no disk, no reads past the page cache, or lost events\n");
}

/* A reader may also read pages of its program, so it has at least its own reads. */
static void each_reader_has_its_own_reads(void)
{
	char key[32];

	for (int part = 0; has_disk && part < NR_READERS; part++) {
		json_t *use;

		snprintf(key, sizeof(key), "reader%d", part);
		use = json_with_pid(session.report, "disk_uses", session_truth(&session, key));
		CU_ASSERT_PTR_NOT_NULL(use);
		CU_ASSERT(use && json_number(use, "reads") >= NR_READS && json_number(use, "reads") < NR_READS + 20);
		CU_ASSERT(use && json_number(use, "read_bytes") >= NR_READS * READ_BYTES);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_program_is_recorded),
		CASE(each_reader_has_its_own_reads),
		{NULL, NULL},
	};
	int result;

	if (argc == 4 && strcmp(argv[1], "do") == 0)
		return program(argv[2], argv[3]);
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "skipped: needs root and a kernel with BTF\n");
		return 77;
	}
	result = unit_main("e2e_disks", cases, argc, argv);
	session_end(&session);
	return result;
}
