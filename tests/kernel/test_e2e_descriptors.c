/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_descriptors.c - the file that each descriptor refers to.
 *
 * A program that gets descriptors in every usual way (workload_descriptors.c) writes what the
 * kernel says of them, and how much it read and wrote there. The analysis of the recording has to
 * say the same, and must not know a descriptor that is not open. Root only; skipped (77) where the
 * kernel cannot be recorded.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <trace/analysis.h>
#include "descriptors.h"
#include "e2e_session.h"
#include "unit.h"

/* ---- the truth ---- */

enum line_kind { LINE_USE, LINE_MARK, LINE_OPEN, LINE_DONE, LINE_SKIPPED, LINE_FAILED };

struct line {
	enum line_kind kind;
	char scene[40];
	unsigned int pid;
	long long number; /* of a mark */
	unsigned long long read_bytes, written_bytes;
	int fd;
	char link[256]; /* as in /proc */
	bool seen;	/* a mark: found in the trace */
};

static struct line *lines;
static size_t nr_lines;

static bool line_parse(const char *text, struct line *line)
{
	*line = (struct line){.kind = LINE_USE};
	if (sscanf(text, "use %39s %u %llu %llu %255[^\n]", line->scene, &line->pid, &line->read_bytes,
		   &line->written_bytes, line->link) == 5)
		return true;
	line->kind = LINE_MARK;
	if (sscanf(text, "mark %39s %u %lld", line->scene, &line->pid, &line->number) == 3)
		return true;
	line->kind = LINE_OPEN;
	if (sscanf(text, "open %lld %d %255[^\n]", &line->number, &line->fd, line->link) == 3)
		return true;
	line->kind = LINE_DONE;
	if (sscanf(text, "done %39s", line->scene) == 1)
		return true;
	line->kind = LINE_SKIPPED;
	if (sscanf(text, "skipped %39s", line->scene) == 1)
		return true;
	line->kind = LINE_FAILED;
	return sscanf(text, "failed %39s %255[^\n]", line->scene, line->link) == 2;
}

static void truth_load(const char *path)
{
	FILE *file = fopen(path, "r");
	char text[1024];

	while (file && fgets(text, sizeof(text), file)) {
		lines = reallocarray(lines, nr_lines + 1, sizeof(*lines));
		if (!lines)
			abort();
		CU_ASSERT(line_parse(text, &lines[nr_lines++]));
	}
	if (file)
		fclose(file);
}

static struct line *find(enum line_kind kind, const char *scene)
{
	for (size_t i = 0; i < nr_lines; i++)
		if (lines[i].kind == kind && !strcmp(lines[i].scene, scene))
			return &lines[i];
	return NULL;
}

static const char *truth_link(long long number, int fd)
{
	for (size_t i = 0; i < nr_lines; i++)
		if (lines[i].kind == LINE_OPEN && lines[i].number == number && lines[i].fd == fd)
			return lines[i].link;
	return NULL;
}

/* ---- the trace ---- */

static struct trace *trace;
static struct trace_analysis *analysis;
static struct {
	char scene[40];
	char text[640];
} * wrong;
static size_t nr_wrong;

static void note_wrong(const char *scene, const char *text)
{
	wrong = reallocarray(wrong, nr_wrong + 1, sizeof(*wrong));
	if (!wrong)
		abort();
	snprintf(wrong[nr_wrong].scene, sizeof(wrong[nr_wrong].scene), "%s", scene);
	snprintf(wrong[nr_wrong++].text, sizeof(wrong[0].text), "%s", text);
}

/*
 * "/path (deleted)", "/memfd:name" and "anon_inode:[eventfd]" of /proc are "/path", "memfd:name"
 * and "[eventfd]" in the trace. Pipes have no names, and sockets have the names of their protocols,
 * so for these only the kind and the inode number are compared.
 */
static void name_of(const char *link, char name[256])
{
	const char *deleted = strstr(link, " (deleted)");

	if (!strncmp(link, "pipe:", 5))
		link = "";
	else if (!strncmp(link, "socket:", 7))
		link = "socket";
	else if (!strncmp(link, "anon_inode:", 11))
		link += 11;
	else if (!strncmp(link, "/memfd:", 7))
		link++;
	snprintf(name, 256, "%.*s", deleted && deleted > link ? (int)(deleted - link) : 255, link);
}

static bool is_called(const char *path, const char *name)
{
	if (!strcmp(name, "socket"))
		return !strncmp(path, "UNIX", 4) || !strncmp(path, "TCP", 3);
	return !strcmp(path, name);
}

static bool same_file(const char *link, const char *path, const struct trace_file_id *id)
{
	unsigned long long ino;
	char name[256];

	if (sscanf(link, "pipe:[%llu]", &ino) == 1)
		return S_ISFIFO(id->mode) && id->ino == ino;
	if (sscanf(link, "socket:[%llu]", &ino) == 1)
		return S_ISSOCK(id->mode) && id->ino == ino;
	name_of(link, name);
	return is_called(path, name);
}

static void check_fd(const struct line *mark, const struct trace_thread *thread, int fd)
{
	const char *path = trace_thread_file(analysis, thread, fd), *link = truth_link(mark->number, fd);
	struct trace_file_id id = {0};
	char text[640];

	if (!path && !link)
		return;
	if (path && link && trace_thread_file_id(analysis, thread, fd, &id) && same_file(link, path, &id))
		return;
	snprintf(text, sizeof(text), "process %u descriptor %d: '%s' (%o, %llu), and it is '%s'", mark->pid, fd,
		 path ? path : "none", id.mode, (unsigned long long)id.ino, link ? link : "none");
	note_wrong(mark->scene, text);
}

static void on_enter(void *data, struct trace_analysis *a, const struct trace_event *event)
{
	const struct trace_sys_enter3 *enter = event->payload;
	const struct trace_thread *thread = trace_thread_on_cpu(a, event->cpu);

	if (enter->nr != SYS_lseek || (int)enter->arg0 != -1 || enter->arg2 != MARK_WHENCE || !thread)
		return;
	for (size_t i = 0; i < nr_lines; i++)
		if (lines[i].kind == LINE_MARK && lines[i].number == (long long)enter->arg1) {
			lines[i].seen = true;
			for (int fd = 0; fd < NR_FDS; fd++)
				check_fd(&lines[i], thread, fd);
		}
}

/* ---- the recording ---- */

static pid_t start_early(const struct session *s)
{
	char ready[128];
	pid_t child = fork();

	if (child == 0) {
		execl(TRACE_WORKLOAD_DESCRIPTORS, "workload_descriptors", s->truth, s->folder, "early", NULL);
		_exit(1);
	}
	snprintf(ready, sizeof(ready), "%s/" EARLY_PREFIX "ready", s->folder);
	for (int i = 0; i < 1000 && access(ready, F_OK); i++)
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
	return child;
}

static void analyse(const struct session *s)
{
	uint64_t mask[4] = {1ull << TRACE_EV_sys_enter3};
	struct trace_error error = {0};

	trace = trace_open(s->trace, &error);
	analysis = trace ? trace_analysis_new(trace, NULL, &error) : NULL;
	if (!analysis || trace_analysis_on_event(analysis, mask, on_enter, NULL) ||
	    trace_analysis_run(analysis, &error)) {
		fprintf(stderr, "test_e2e_descriptors: %s\n", error.message);
		analysis = trace_analysis_free(analysis);
	}
}

/* Once for all cases. */
static void record(void)
{
	static bool recorded;
	struct session s;
	pid_t early;

	if (recorded)
		return;
	recorded = true;
	session_begin(&s);
	early = start_early(&s);
	CU_ASSERT_EQUAL(session_run("%s/tracedaemon -b2097152 %s -- %s %s %s 2>%s/stderr", TRACE_BIN, s.trace,
				    TRACE_WORKLOAD_DESCRIPTORS, s.truth, s.folder, s.folder),
			0);
	kill(early, SIGKILL); /* if it was not released */
	waitpid(early, NULL, 0);
	truth_load(s.truth);
	analyse(&s);
	session_end(&s);
}

/* ---- the comparison ---- */

static struct trace_figures *figures_of(unsigned int pid)
{
	for (size_t i = 0; i < trace_nr_processes(analysis); i++)
		if (trace_process_pid(trace_get_process(analysis, i)) == pid)
			return trace_process_figures(analysis, trace_get_process(analysis, i));
	return NULL;
}

struct bytes {
	unsigned long long read, written;
};

static struct bytes true_bytes(unsigned int pid, const char *name)
{
	struct bytes sum = {0};
	char other[256];

	for (size_t i = 0; i < nr_lines; i++) {
		if (lines[i].kind != LINE_USE || lines[i].pid != pid)
			continue;
		name_of(lines[i].link, other);
		sum.read += strcmp(other, name) ? 0 : lines[i].read_bytes;
		sum.written += strcmp(other, name) ? 0 : lines[i].written_bytes;
	}
	return sum;
}

static struct bytes found_bytes(unsigned int pid, const char *name)
{
	struct trace_figures *figures = figures_of(pid);
	struct bytes sum = {0};

	for (size_t i = 0; figures && i < figures->nr_files; i++)
		if (is_called(figures->files[i].path, name)) {
			sum.read += figures->files[i].read_bytes;
			sum.written += figures->files[i].written_bytes;
		}
	trace_figures_free(figures);
	return sum;
}

/* Sums up the process's use of everything with this name. */
static void check_use(const struct line *use)
{
	struct bytes wanted, found;
	char name[256], text[640];

	name_of(use->link, name);
	wanted = true_bytes(use->pid, name);
	found = found_bytes(use->pid, name);
	if (wanted.read == found.read && wanted.written == found.written)
		return;
	snprintf(text, sizeof(text), "process %u, %s: %llu read and %llu written, of %llu and %llu", use->pid,
		 use->link, found.read, found.written, wanted.read, wanted.written);
	note_wrong(use->scene, text);
}

static void check_scene(const char *scene)
{
	const struct line *skipped, *failed;

	record();
	CU_ASSERT_PTR_NOT_NULL_FATAL(analysis);
	skipped = find(LINE_SKIPPED, scene);
	failed = find(LINE_FAILED, scene);
	if (skipped) {
		printf("(the kernel refuses it) ");
		return;
	}
	if (failed)
		printf("line %s ", failed->link);
	CU_ASSERT_PTR_NULL(failed);
	CU_ASSERT_PTR_NOT_NULL(find(LINE_DONE, scene));
	for (size_t i = 0; i < nr_lines; i++) {
		if (strcmp(lines[i].scene, scene))
			continue;
		if (lines[i].kind == LINE_MARK)
			CU_ASSERT(lines[i].seen);
		if (lines[i].kind == LINE_USE)
			check_use(&lines[i]);
	}
	for (size_t i = 0; i < nr_wrong; i++)
		if (!strcmp(wrong[i].scene, scene)) {
			printf("\n    %s ", wrong[i].text);
			CU_FAIL("the trace says otherwise");
		}
}

#define SCENE(scene, claim)          \
	static void claim(void)      \
	{                            \
		check_scene(#scene); \
	}
#include "descriptors.h"
#undef SCENE

static const struct unit_case cases[] = {
#define SCENE(scene, claim) CASE(claim),
#include "descriptors.h"
#undef SCENE
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int result;

	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_descriptors: needs root and a kernel with BTF\n");
		return 77;
	}
	result = unit_main("descriptors", cases, argc, argv);
	trace_analysis_free(analysis);
	trace_close(trace);
	free(lines);
	free(wrong);
	return result;
}
