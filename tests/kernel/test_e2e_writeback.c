/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_writeback.c - what a worker of the kernel writes to the disk is of the processes that
 * wrote to the files, to the byte.
 *
 * Two processes write to two files each, take turns, and sync nothing. Then a third process lets
 * the kernel's flusher write all of it (syncfs), in one run. The same on an overlay, where one of
 * the files is copied up from the lower layer. This is the program as well: "test_e2e_writeback do
 * TRUTH FOLDER", and "overlay TRUTH FOLDER". Root only; skipped (77) where the kernel cannot be
 * recorded. On a file system without a disk there is nothing to check.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "e2e_session.h"
#include "unit.h"

#define PAGE	   4096
#define NR_WRITERS 2
#define TURNS	   8

/* ---- the program ---- */

/* Pages of its large and of its small file that a writer makes dirty in a turn. */
static const int large_pages[NR_WRITERS] = {64, 24}, small_pages[NR_WRITERS] = {1, 2};

static long long bytes_of(int writer)
{
	return (long long)TURNS * (large_pages[writer] + small_pages[writer]) * PAGE;
}

static void write_pages(int fd, int nr)
{
	static char page[PAGE];

	memset(page, 'x', sizeof(page));
	for (int i = 0; i < nr; i++)
		if (write(fd, page, sizeof(page)) != sizeof(page))
			_exit(1);
}

/* @turn: a pipe; @next: that of the other writer */
static void be_writer(int writer, const char *folder, int turn, int next)
{
	char path[128], token;
	int large, small;

	snprintf(path, sizeof(path), "%s/large%d", folder, writer);
	large = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	snprintf(path, sizeof(path), "%s/small%d", folder, writer);
	small = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	for (int i = 0; i < TURNS; i++) {
		if (read(turn, &token, 1) != 1)
			_exit(1);
		write_pages(large, large_pages[writer]);
		write_pages(small, small_pages[writer]);
		if (write(next, "t", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

#define NO_OVERLAY 3 /* exit status of the program */

/* Mounts the overlay FOLDER/merged, for this process only. File large0 is in the lower layer. */
static bool mount_overlay(const char *folder)
{
	static const char *const names[] = {"lower", "upper", "work", "merged"};
	int fd;

	if (chdir(folder) != 0 || unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		return false;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (mkdir(names[i], 0700) != 0)
			return false;
	fd = open("lower/large0", O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	close(fd);
	return fd >= 0 && mount("overlay", "merged", "overlay", 0, "lowerdir=lower,upperdir=upper,workdir=work") == 0;
}

static int program(const char *truth_path, const char *folder)
{
	FILE *truth = fopen(truth_path, "we");
	int turns[NR_WRITERS][2], fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 || !truth || pipe(turns[0]) != 0 || pipe(turns[1]) != 0)
		return 1;
	syncfs(fd);
	for (int writer = 0; writer < NR_WRITERS; writer++) {
		pid_t child = fork();

		if (!child)
			be_writer(writer, folder, turns[writer][0], turns[!writer][1]);
		fprintf(truth, "writer%d %d\n", writer, child);
	}
	if (write(turns[0][1], "t", 1) != 1)
		return 1;
	for (int status; wait(&status) > 0;)
		if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
			return 1;
	syncfs(fd);
	fclose(truth);
	return 0;
}

/* ---- the test ---- */

struct recording {
	struct session session;
	bool has_disk;
};
static struct recording plain, overlay;

static void record(struct recording *recording, const char *how)
{
	struct session *s = &recording->session;
	ssize_t bytes;
	char self[256];
	int status;

	bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[bytes > 0 ? bytes : 0] = '\0';
	session_begin(s);
	status = session_run("%s/tracedaemon --quiet %s -- %s %s %s %s >%s/out 2>&1 </dev/null", TRACE_BIN, s->trace,
			     self, how, s->truth, s->folder, s->folder);
	CU_ASSERT_FATAL(status == 0 || (recording == &overlay && status == NO_OVERLAY));
	s->report = session_load(s, "--all");
	CU_ASSERT_PTR_NOT_NULL_FATAL(s->report);
	recording->has_disk = status == 0 && json_array_size(json_object_get(s->report, "disk_uses")) &&
			      !json_number(json_object_get(s->report, "trace"), "lost");
	if (!recording->has_disk)
		fprintf(stderr, "%s: nothing to check: no disk, no overlay, or lost events\n", how);
}

static void the_program_is_recorded(void)
{
	record(&plain, "do");
	record(&overlay, "overlay");
}

static void check_bytes(const struct recording *recording)
{
	char key[32];

	for (int writer = 0; recording->has_disk && writer < NR_WRITERS; writer++) {
		json_t *use;

		snprintf(key, sizeof(key), "writer%d", writer);
		use = json_with_pid(recording->session.report, "disk_uses", session_truth(&recording->session, key));
		CU_ASSERT_PTR_NOT_NULL(use);
		CU_ASSERT(use && json_number(use, "writes") > 0 && json_number(use, "busy_ns") > 0);
		CU_ASSERT_EQUAL(use ? json_number(use, "written_bytes") : 0, bytes_of(writer));
	}
}

static void each_writer_has_its_own_bytes(void)
{
	check_bytes(&plain);
}

static void so_has_each_writer_to_an_overlay(void)
{
	check_bytes(&overlay);
}

static void the_busy_time_is_divided(void)
{
	json_t *uses = json_object_get(plain.session.report, "disk_uses"), *row;
	json_t *first = plain.has_disk ? json_with_pid(plain.session.report, "disk_uses",
						       session_truth(&plain.session, "writer0"))
				       : NULL;
	const char *device = first ? json_text(first, "device") : "";
	long long busy_ns = 0, whole_ns = 0;
	size_t i;

	json_array_foreach(uses, i, row) {
		if (strcmp(json_text(row, "device"), device) != 0)
			continue;
		busy_ns += json_number(row, "busy_ns");
		whole_ns = json_number(row, "disk_busy_ns");
	}
	CU_ASSERT_EQUAL(busy_ns, whole_ns);
}

/* A BPF program names them; /proc/kallsyms is the kernel's own list. */
static void functions_of_work_have_the_names_of_the_kernel(void)
{
	json_t *works = json_object_get(plain.session.report, "deferred_work"), *row;
	size_t i;

	CU_ASSERT(json_array_size(works) > 0);
	json_array_foreach(works, i, row)
		CU_ASSERT_EQUAL(session_run("grep -q ' [tT] %s\\b' /proc/kallsyms", json_text(row, "work")), 0);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_program_is_recorded),
		CASE(each_writer_has_its_own_bytes),
		CASE(so_has_each_writer_to_an_overlay),
		CASE(the_busy_time_is_divided),
		CASE(functions_of_work_have_the_names_of_the_kernel),
		{NULL, NULL},
	};
	int result;

	if (argc == 4 && strcmp(argv[1], "do") == 0)
		return program(argv[2], argv[3]);
	if (argc == 4 && strcmp(argv[1], "overlay") == 0)
		return mount_overlay(argv[3]) ? program(argv[2], "merged") : NO_OVERLAY;
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "skipped: needs root and a kernel with BTF\n");
		return 77;
	}
	result = unit_main("e2e_writeback", cases, argc, argv);
	session_end(&plain.session);
	session_end(&overlay.session);
	return result;
}
