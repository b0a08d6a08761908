/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_start_state.c - processes that live when the recording begins: their programs, mappings
 * and descriptors, compared with what they know themselves.
 *
 * This is the programs as well: "test_e2e_start_state PROGRAM TRUTH FOLDER". Root only; skipped
 * (77) where the kernel cannot be recorded.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <trace/reader.h>
#include <unistd.h>

#include "e2e_session.h"
#include "truth_file.h"
#include "unit.h"

#define PIDFD  100
#define NUMBER 101

/* ---- the programs ---- */

/* Runs until the test has ended and its folder is removed. */
static void *outlive(void *path)
{
	usleep(100000); /* until the leader has exited */
	write_truth("pid", getpid());
	while (access(path, F_OK) == 0)
		usleep(20000);
	exit(0);
}

/* Runs before the recording begins. */
static int be_there(char *path)
{
	pthread_t thread;

	truth = fopen(path, "we");
	need(truth, path);
	need(dup2((int)syscall(SYS_pidfd_open, getpid(), 0), PIDFD) == PIDFD, "pidfd");
	need(!pthread_create(&thread, NULL, outlive, path), "thread");
	pthread_exit(NULL);
}

static void *have_own(void *path)
{
	need(!unshare(CLONE_FILES) && dup2(open("/dev/null", O_RDONLY), NUMBER) == NUMBER, "descriptors");
	write_truth("tid", syscall(SYS_gettid));
	return outlive(path);
}

/* Runs before the recording begins, with a thread that has its own descriptors. */
static int be_two(char *path)
{
	pthread_t thread;

	truth = fopen(path, "we");
	need(truth && dup2(open(path, O_RDONLY), NUMBER) == NUMBER, path);
	need(!pthread_create(&thread, NULL, have_own, path), "thread");
	pthread_join(thread, NULL);
	return 0;
}

/* The path of this program's interpreter. */
static void find_linker(char path[256])
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start = 0;
	char line[512];

	need(maps, "maps");
	while (start != getauxval(AT_BASE) && fgets(line, sizeof(line), maps))
		need(sscanf(line, "%lx-%*x %*s %*s %*s %*s %255s", &start, path) >= 1, line);
	need(start == getauxval(AT_BASE), "linker");
	fclose(maps);
}

static void overlay(const char *folder, const char *linker)
{
	static const char *const names[] = {"lower", "upper", "work", "merged"};
	char paths[4][400], options[1400];

	for (int i = 0; i < 4; i++) {
		snprintf(paths[i], sizeof(paths[i]), "%s/%s", folder, names[i]);
		need(!mkdir(paths[i], 0755), paths[i]);
	}
	snprintf(options, sizeof(options), "cp -L %s %s/linker", linker, paths[0]);
	need(!system(options), options);
	snprintf(options, sizeof(options), "lowerdir=%s,upperdir=%s,workdir=%s", paths[0], paths[1], paths[2]);
	need(!unshare(CLONE_NEWNS) && !mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "namespace");
	need(!mount("overlay", paths[3], "overlay", 0, options), "overlay");
}

/* The kernel's number of a device, as in traces. */
static long long kernel_device(dev_t device)
{
	return (long long)(major(device) << 20 | minor(device));
}

/*
 * Runs before the recording begins, has a file of an overlay mapped, and executes programs whose
 * interpreter is that file.
 */
static int be_on_overlay(char *path, const char *folder)
{
	char file[500], linker[256];
	struct stat status;
	int fd;

	truth = fopen(path, "we");
	need(truth, path);
	find_linker(linker);
	overlay(folder, linker);
	snprintf(file, sizeof(file), "%s/merged/linker", folder);
	fd = open(file, O_RDONLY);
	need(fd >= 0 && !fstat(fd, &status), file);
	need(mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) != MAP_FAILED, "mmap");
	need(!mount(file, linker, NULL, MS_BIND, NULL), "bind");
	write_truth("dev", kernel_device(status.st_dev));
	write_truth("ino", (long long)status.st_ino);
	write_truth("pid", getpid());
	for (int i = 0; i < 1200 && access(path, F_OK) == 0; i++) { /* a minute, if the test fails */
		if (!fork()) {
			execl("/bin/sleep", "/bin/sleep", "0.05", NULL);
			_exit(1);
		}
		wait(NULL);
	}
	return 0;
}

/* ---- their recordings ---- */

static const char *self;

/* Records @command while @program runs, which has begun before. */
static struct trace *record_beside(struct session *s, const char *program, const char *command)
{
	struct trace *trace;

	session_begin(s);
	CU_ASSERT_EQUAL_FATAL(session_run("%s %s %s %s & while ! grep -q pid %s 2>/dev/null; do sleep 0.1; done; "
					  "%s/tracedaemon %s -- %s 2>%s/stderr",
					  self, program, s->truth, s->folder, s->truth, TRACE_BIN, s->trace, command,
					  s->folder),
			      0);
	trace = trace_open(s->trace, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	return trace;
}

/* A process without its first thread, which has exited, with a descriptor of a process. */
static void a_process_without_its_leader_is_in_the_start_state(void)
{
	struct trace_cursor_options options = {.size = sizeof(options), .start_state = true};
	const struct trace_event *event;
	struct trace_cursor *cursor;
	int nr_programs = 0, nr_maps = 0;
	char pidfd[64] = "";
	struct session s;
	struct trace *start;

	start = record_beside(&s, "be", "true");
	cursor = trace_cursor_new(start, &options, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(cursor);
	while ((event = trace_cursor_next(cursor))) {
		const struct trace_start_fd *fd = event->payload;

		if ((event->id != TRACE_EV_start_exe && event->id != TRACE_EV_start_map &&
		     event->id != TRACE_EV_start_fd) ||
		    fd->tgid != session_truth(&s, "pid"))
			continue; /* all begin with tgid */
		nr_programs += event->id == TRACE_EV_start_exe &&
			       strstr(trace_event_string(event), "test_e2e_start_state");
		nr_maps += event->id == TRACE_EV_start_map && strstr(trace_event_string(event), "test_e2e_start_state");
		if (event->id == TRACE_EV_start_fd && fd->fd == PIDFD)
			snprintf(pidfd, sizeof(pidfd), "%s", trace_event_string(event));
	}
	CU_ASSERT_EQUAL(nr_programs, 1);
	CU_ASSERT_TRUE(nr_maps > 1);
	CU_ASSERT_EQUAL(strncmp(pidfd, "[pidf", 5), 0);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(start);
	session_end(&s);
}

static void a_threads_own_descriptors_are_distinguished(void)
{
	struct trace_cursor_options options = {.size = sizeof(options), .start_state = true};
	const struct trace_event *event;
	struct trace_cursor *cursor;
	int nr = 0, nr_own = 0;
	struct trace *start;
	struct session s;

	start = record_beside(&s, "two", "true");
	cursor = trace_cursor_new(start, &options, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(cursor);
	while ((event = trace_cursor_next(cursor))) {
		const struct trace_start_fd *fd = event->payload;

		if (event->id != TRACE_EV_start_fd || fd->fd != NUMBER || fd->tgid != session_truth(&s, "pid"))
			continue;
		nr += fd->tid == 0 && !strcmp(trace_event_string(event), s.truth);
		nr_own += fd->tid == session_truth(&s, "tid") && !strcmp(trace_event_string(event), "/dev/null");
	}
	CU_ASSERT_EQUAL(nr, 1);
	CU_ASSERT_EQUAL(nr_own, 1);
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	trace_close(start);
	session_end(&s);
}

/* The number of mappings of the start state, or of interpreters, that are the overlay's file. */
static int events_on_overlay(const struct session *s, struct trace *recorded, bool at_start)
{
	struct trace_cursor_options options = {.size = sizeof(options), .start_state = at_start};
	uint64_t ino = (uint64_t)session_truth(s, "ino");
	long long dev = session_truth(s, "dev"), pid = session_truth(s, "pid");
	struct trace_cursor *cursor = trace_cursor_new(recorded, &options, NULL);
	const struct trace_event *event;
	int nr = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(cursor);
	while ((event = trace_cursor_next(cursor))) {
		const struct trace_start_map *map = event->payload;
		const struct trace_fs_exec *exec = event->payload;

		if (event->id == TRACE_EV_start_map && map->tgid == pid && map->dev == dev && map->ino == ino)
			nr += strstr(trace_event_string(event), "/merged/linker") != NULL;
		if (event->id == TRACE_EV_fs_exec && exec->interpreter && exec->dev == dev && exec->ino == ino)
			nr++;
	}
	CU_ASSERT_EQUAL(trace_cursor_end(cursor, NULL), 0);
	return nr;
}

/* The kernel maps the file of the layer; stat() and open() tell the overlay's. */
static void a_mapped_file_of_an_overlay_is_the_one_that_was_opened(void)
{
	struct trace *recorded;
	struct session s;

	recorded = record_beside(&s, "overlay", "sleep 0.5");
	CU_ASSERT_EQUAL(events_on_overlay(&s, recorded, true), 1);
	CU_ASSERT(events_on_overlay(&s, recorded, false) >= 1);
	trace_close(recorded);
	session_end(&s);
}

static const struct unit_case cases[] = {
	CASE(a_process_without_its_leader_is_in_the_start_state),
	CASE(a_threads_own_descriptors_are_distinguished),
	CASE(a_mapped_file_of_an_overlay_is_the_one_that_was_opened),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "be"))
		return be_there(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "two"))
		return be_two(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "overlay"))
		return be_on_overlay(argv[2], argv[3]);
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_start_state: needs root and a kernel with BTF\n");
		return 77;
	}
	self = argv[0];
	return unit_main("processes at the start", cases, argc, argv);
}
