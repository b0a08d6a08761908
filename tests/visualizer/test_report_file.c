/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_report_file.c - the file of --output has a whole report, or what it had before. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include "report_file.h"
#include "unit.h"

#define LINE	 "a line of a report\n"
#define NR_LINES 10000 /* more than any buffer has */

static char folder[] = "/tmp/report_file_XXXXXX";
static char path[64];

static void write_old(const char *text)
{
	FILE *file = fopen(path, "we");

	fputs(text, file);
	fclose(file);
}

static bool begins_with(const char *text)
{
	char bytes[64] = "";
	FILE *file = fopen(path, "re");

	if (!file)
		return false;
	if (!fgets(bytes, sizeof(bytes), file))
		bytes[0] = '\0';
	fclose(file);
	return strcmp(bytes, text) == 0;
}

static off_t bytes_of(const char *name)
{
	struct stat status;

	return stat(name, &status) == 0 ? status.st_size : -1;
}

static FILE *write_report(struct report_file **ret_file)
{
	FILE *out = report_file_open(path, ret_file);

	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	for (int i = 0; i < NR_LINES; i++)
		fputs(LINE, out);
	fflush(out);
	return out;
}

/* A child writes a report, and a signal ends it before the report is closed. */
static void end_by(int signal_number)
{
	struct report_file *file;
	int status;
	pid_t child = fork();

	if (!child) {
		write_report(&file);
		raise(signal_number);
		_exit(1);
	}
	CU_ASSERT_EQUAL(waitpid(child, &status, 0), child);
	CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == signal_number);
}

static void a_signal_leaves_no_part_of_a_report(void)
{
	static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGKILL};

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		end_by(signals[i]);
		CU_ASSERT_EQUAL(bytes_of(path), -1);
		write_old("old\n");
		end_by(signals[i]);
		CU_ASSERT(begins_with("old\n"));
		unlink(path);
	}
}

static void a_report_that_is_not_kept_leaves_the_old_file(void)
{
	struct report_file *file;
	FILE *out;

	write_old("old\n");
	out = write_report(&file);
	CU_ASSERT_EQUAL(report_file_close(out, file, false), 0);
	CU_ASSERT(begins_with("old\n"));
	unlink(path);
}

static void a_report_has_the_rights_of_the_file_that_it_replaces(void)
{
	struct report_file *file;
	struct stat before, after;
	FILE *out;

	write_old("old\n");
	CU_ASSERT_EQUAL(chmod(path, 0640), 0);
	if (geteuid() == 0)
		CU_ASSERT_EQUAL(chown(path, 12345, 12346), 0);
	CU_ASSERT_EQUAL(stat(path, &before), 0);
	out = write_report(&file);
	CU_ASSERT_EQUAL(report_file_close(out, file, true), 0);
	CU_ASSERT_EQUAL(stat(path, &after), 0);
	CU_ASSERT(after.st_mode == before.st_mode && after.st_uid == before.st_uid && after.st_gid == before.st_gid);
	CU_ASSERT_EQUAL(after.st_size, NR_LINES * (off_t)strlen(LINE));
	unlink(path);
}

static void a_symbolic_link_stays_and_leads_to_the_report(void)
{
	struct report_file *file;
	struct stat status;
	char target[80];
	FILE *out;

	snprintf(target, sizeof(target), "%s/target", folder);
	for (int is_there = 0; is_there < 2; is_there++) {
		CU_ASSERT_EQUAL(symlink("target", path), 0);
		out = write_report(&file);
		CU_ASSERT_EQUAL(report_file_close(out, file, true), 0);
		CU_ASSERT(lstat(path, &status) == 0 && S_ISLNK(status.st_mode));
		CU_ASSERT_EQUAL(bytes_of(target), NR_LINES * (off_t)strlen(LINE));
		unlink(path);
	}
	unlink(target);
}

static void a_file_with_two_names_keeps_both(void)
{
	struct report_file *file;
	char other[80];
	FILE *out;

	snprintf(other, sizeof(other), "%s/other", folder);
	write_old("old\n");
	CU_ASSERT_EQUAL(link(path, other), 0);
	out = write_report(&file);
	CU_ASSERT_EQUAL(report_file_close(out, file, true), 0);
	CU_ASSERT_EQUAL(bytes_of(other), NR_LINES * (off_t)strlen(LINE));
	unlink(path);
	unlink(other);
}

/* A shell has opened the file, and /dev/fd/N is that open file, which need not have a name. */
static void an_open_file_gets_the_report(void)
{
	struct report_file *file;
	char named[64];
	int fd;
	FILE *out;

	write_old("old\n");
	fd = open(path, O_RDWR | O_CLOEXEC);
	snprintf(named, sizeof(named), "/dev/fd/%d", fd);
	out = report_file_open(named, &file);
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	fputs(LINE, out);
	CU_ASSERT_EQUAL(report_file_close(out, file, true), 0);
	CU_ASSERT_EQUAL(lseek(fd, 0, SEEK_END), (off_t)strlen(LINE));
	close(fd);
	unlink(path);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_signal_leaves_no_part_of_a_report),
		CASE(a_report_that_is_not_kept_leaves_the_old_file),
		CASE(a_report_has_the_rights_of_the_file_that_it_replaces),
		CASE(a_symbolic_link_stays_and_leads_to_the_report),
		CASE(a_file_with_two_names_keeps_both),
		CASE(an_open_file_gets_the_report),
		{NULL, NULL},
	};
	int result;

	if (!mkdtemp(folder))
		abort();
	snprintf(path, sizeof(path), "%s/report", folder);
	result = unit_main("the file of a report", cases, argc, argv);
	rmdir(folder);
	return result;
}
