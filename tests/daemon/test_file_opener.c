/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_file_opener.c - files that are opened by a child, and children that do not answer: here they
 * are stopped, while in the field they wait for a file system
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <trace/reader.h>
#include <trace/writer.h>
#include <unistd.h>

#include "build_id_reader.h"
#include "build_ids.h"
#include "clock_ns.h"
#include "elf_names.h"
#include "file_envelope.h"
#include "file_opener.h"
#include "jail.h"
#include "jail_case.h"
#include "kept_names.h"
#include "unit.h"

static struct file_place own_program(void)
{
	struct file_place place = {.tgid = (uint32_t)getpid()};

	snprintf(place.name, sizeof(place.name), "/proc/%d/exe", (int)getpid());
	return place;
}

static void a_file_is_opened_by_a_child(void)
{
	struct file_opener opener = {0};
	struct file_place place = own_program(), none = {.name = "/dev/null"};
	struct stat status, own;
	char magic[4];
	int fd = file_opener_open(&opener, &place, &status);

	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT_EQUAL(stat(place.name, &own), 0);
	CU_ASSERT(status.st_ino == own.st_ino && status.st_dev == own.st_dev);
	CU_ASSERT_EQUAL(pread(fd, magic, sizeof(magic), 0), 4);
	CU_ASSERT(!memcmp(magic, "\177ELF", 4));
	close(fd);
	CU_ASSERT_EQUAL(file_opener_open(&opener, &none, &status), -EINVAL);
	snprintf(none.name, sizeof(none.name), "/nothing");
	CU_ASSERT_EQUAL(file_opener_open(&opener, &none, &status), -ENOENT);
	CU_ASSERT(opener.child.runs);
	file_opener_close(&opener);
	CU_ASSERT(!opener.child.runs);
}

/*
 * A process that has only the envelope gives it to a child, which has the file. The other end tells
 * when all copies are closed.
 */
static void an_envelope_holds_a_file(void)
{
	char magic[4] = "";
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), end, envelope, copy, opened;

	envelope = file_envelope_new(file, &end);
	CU_ASSERT_FATAL(envelope >= 0);
	CU_ASSERT(file_envelope_is(envelope));
	CU_ASSERT(!file_envelope_is(file));
	for (int i = 0; i < 2; i++) {
		copy = dup(envelope);
		opened = file_envelope_open(copy);
		CU_ASSERT(!file_envelope_is(opened));
		CU_ASSERT_EQUAL(pread(opened, magic, sizeof(magic), 0), 4);
		CU_ASSERT(!memcmp(magic, "\177ELF", 4));
		close(opened);
	}
	CU_ASSERT_EQUAL(file_envelope_open(file), file);
	CU_ASSERT(!file_envelope_is_closed(end));
	close(envelope);
	CU_ASSERT(file_envelope_is_closed(end));
	close(end);
	close(file);
}

/* The child keeps its user, the capabilities to read, and no other right. */
static void the_child_cannot_write_or_execute(void)
{
	struct file_opener opener = {0};
	struct file_place place = own_program();
	struct stat status;
	char text[8192], capabilities[32];
	unsigned long long own = 0;
	int fd = file_opener_open(&opener, &place, &status);

	CU_ASSERT(fd >= 0);
	close(fd);
	read_proc(getpid(), "status", text, sizeof(text));
	CU_ASSERT_EQUAL(sscanf(strstr(text, "\nCapEff:"), "\nCapEff: %llx", &own), 1);
	/* dac_override, dac_read_search, sys_ptrace, checkpoint_restore */
	snprintf(capabilities, sizeof(capabilities), "%016llx\n", own & 0x10000080006);
	read_proc(opener.child.pid, "status", text, sizeof(text));
	expect_line(text, "\nCapPrm:", capabilities);
	expect_line(text, "\nCapEff:", capabilities);
	expect_line(text, "\nNoNewPrivs:", "1\n");
#ifndef JAIL_SANITIZED
	expect_line(text, "\nSeccomp:", "2\n");
#endif
	file_opener_close(&opener);
}

static void a_child_that_does_not_answer_is_abandoned(void)
{
	struct file_opener opener = {0};
	struct file_place place = own_program();
	struct stat status;
	uint64_t before = files_unanswered();
	pid_t first;
	int fd = file_opener_open(&opener, &place, &status);

	CU_ASSERT(fd >= 0);
	close(fd);
	first = opener.child.pid;
	kill(first, SIGSTOP);
	CU_ASSERT_EQUAL(file_opener_open(&opener, &place, &status), -ETIMEDOUT);
	CU_ASSERT_EQUAL(files_unanswered(), before + 1);
	fd = file_opener_open(&opener, &place, &status);
	CU_ASSERT(fd >= 0 && opener.child.pid != first);
	close(fd);
	kill(opener.child.pid, SIGSTOP);
	CU_ASSERT_EQUAL(file_opener_open(&opener, &place, &status), -ETIMEDOUT);
	/* now this user is not asked any more */
	CU_ASSERT_EQUAL(file_opener_open(&opener, &place, &status), -ETIMEDOUT);
	CU_ASSERT(!opener.child.runs);
	CU_ASSERT_EQUAL(files_unanswered(), before + 3);
}

static void a_text_and_memory_of_a_process_are_read_by_a_child(void)
{
	struct file_opener opener = {0};
	static char own[100000], copy[sizeof(own)];
	FILE *file = file_opener_text(&opener, (uint32_t)getpid(), "maps");
	char line[4352];
	bool found = false;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	while (fgets(line, sizeof(line), file))
		found |= strstr(line, "[stack]") != NULL;
	fclose(file);
	CU_ASSERT(found);
	CU_ASSERT_PTR_NULL(file_opener_text(&opener, (uint32_t)getpid(), "nothing"));
	CU_ASSERT_EQUAL(errno, ENOENT);
	for (size_t i = 0; i < sizeof(own); i++)
		own[i] = (char)(i * 7);
	CU_ASSERT_EQUAL(file_opener_memory(&opener, (uint32_t)getpid(), (uintptr_t)own, copy, sizeof(copy)), 0);
	CU_ASSERT(!memcmp(own, copy, sizeof(own)));
	CU_ASSERT_EQUAL(file_opener_memory(&opener, (uint32_t)getpid(), 8, copy, 100000), -EFAULT);
	CU_ASSERT_EQUAL(file_opener_memory(&opener, (uint32_t)getpid(), (uintptr_t)own, copy, 8), 0);
	CU_ASSERT(opener.child.runs);
	file_opener_close(&opener);
}

/* A fork has the descriptors of the opener, and must not talk with the same child. */
static void a_fork_of_the_caller_has_an_opener_of_its_own(void)
{
	struct file_opener opener = {0};
	struct file_place place = own_program();
	struct stat status;
	int fd = file_opener_open(&opener, &place, &status), ended = -1;
	pid_t first = opener.child.pid, pid = fork();

	close(fd);
	if (pid == 0)
		_exit(file_opener_open(&opener, &place, &status) < 0 || opener.child.pid == first);
	CU_ASSERT_EQUAL(waitpid(pid, &ended, 0), pid);
	CU_ASSERT_EQUAL(ended, 0);
	file_opener_close(&opener);
}

/* A caller that gets another priority while its child runs. Returns the difference. */
static int priority_behind(void)
{
	struct file_opener opener = {0};
	struct file_place place = own_program();
	struct stat status;
	int difference;

	close(file_opener_open(&opener, &place, &status));
	setpriority(PRIO_PROCESS, 0, 7);
	close(file_opener_open(&opener, &place, &status));
	difference = 7 - getpriority(PRIO_PROCESS, (id_t)opener.child.pid);
	file_opener_close(&opener);
	return difference;
}

static void a_child_has_the_priority_of_its_caller(void)
{
	int ended = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(priority_behind() != 0);
	CU_ASSERT_EQUAL(waitpid(pid, &ended, 0), pid);
	CU_ASSERT_EQUAL(ended, 0);
}

/* ---- users ---- */

#define A_USER	  65533u
#define SUB_USERS 100000u

static void write_map(pid_t pid, const char *name, const char *text)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	file = fopen(path, "we");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	CU_ASSERT_EQUAL(fclose(file), 0);
}

/* A process of A_USER, in a user namespace of its own, where it has the uid of another user. */
static pid_t live_as_sub_user(unsigned int uid)
{
	int ready[2], go[2];
	char text[32], byte = 0;
	pid_t pid;

	CU_ASSERT_EQUAL_FATAL(pipe2(ready, O_CLOEXEC) | pipe2(go, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		if (setresuid(A_USER, A_USER, A_USER) || unshare(CLONE_NEWUSER))
			_exit(1);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1 || setresuid(0, 0, 0) ||
		    write(ready[1], &byte, 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
	snprintf(text, sizeof(text), "0 %u 1", uid);
	write_map(pid, "uid_map", text);
	CU_ASSERT_EQUAL(write(go[1], &byte, 1), 1);
	CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
	for (int i = 0; i < 2; i++) {
		close(ready[i]);
		close(go[i]);
	}
	return pid;
}

/* A user has many uids in namespaces of its own, and all tries are charged to it. */
static void a_user_is_charged_for_its_namespaces(void)
{
	pid_t pids[3];

	if (getuid() != 0) {
		puts("skipped: needs root");
		return;
	}
	for (unsigned int i = 0; i < 3; i++)
		pids[i] = live_as_sub_user(SUB_USERS + i);
	for (int i = 0; i < FILE_MAX_UNANSWERED; i++) {
		CU_ASSERT(files_may_ask((uint32_t)pids[2]));
		files_note_unanswered((uint32_t)pids[i]);
	}
	CU_ASSERT(!files_may_ask((uint32_t)pids[2]));
	CU_ASSERT(files_may_ask((uint32_t)getpid()));
	for (int i = 0; i < 3; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], NULL, 0);
	}
}

static void a_wait_ends_with_its_stop(void)
{
	struct file_opener opener = {.has_stop = true, .stop_fd = eventfd(1, EFD_CLOEXEC)};
	struct file_place place = {.name = "/nothing", .tgid = UINT32_MAX / 2};
	struct stat status;

	CU_ASSERT_EQUAL(file_opener_open(&opener, &place, &status), -ECANCELED);
	close(opener.stop_fd);
	file_opener_close(&opener);
}

/* ---- children that SIGKILL does not end ---- */

static int kill_is_ignored; /* for the linker's wrapper below */
int __real_kill(pid_t pid, int number);
int __wrap_kill(pid_t pid, int number);

int __wrap_kill(pid_t pid, int number)
{
	return kill_is_ignored && number == SIGKILL ? 0 : __real_kill(pid, number);
}

static void __attribute__((noreturn)) sleep_for_ever(void *context)
{
	(void)context;
	for (;;)
		pause();
}

static void children_that_do_not_end_are_few(void)
{
	const struct jail_role role = {.run = sleep_for_ever, .cpu_seconds = 1};
	struct jail_child children[JAIL_MAX_ABANDONED], more;
	struct file_place place = own_program();
	struct file_opener opener = {0};
	uint64_t before = files_unanswered();
	char reason[128] = "";
	struct stat status;
	int fd;

	CU_ASSERT_EQUAL(jail_nr_abandoned(), 0);
	kill_is_ignored = 1;
	for (size_t i = 0; i < JAIL_MAX_ABANDONED; i++) {
		CU_ASSERT_EQUAL_FATAL(jail_child_start(&role, &children[i]), 0);
		jail_child_end(&children[i], i == 0, reason, sizeof(reason));
		CU_ASSERT_EQUAL(jail_nr_abandoned(), i + 1);
	}
	CU_ASSERT_STRING_EQUAL(reason, "it waits for a file system that does not answer");
	CU_ASSERT_EQUAL(jail_child_start(&role, &more), -EBUSY);
	CU_ASSERT_EQUAL(file_opener_open(&opener, &place, &status), -EBUSY);
	CU_ASSERT_EQUAL(files_unanswered(), before + 1);
	kill_is_ignored = 0;
	kill(children[0].pid, SIGKILL); /* its file system answers: there is a place again */
	while (jail_nr_abandoned() == JAIL_MAX_ABANDONED)
		usleep(1000);
	fd = file_opener_open(&opener, &place, &status);
	CU_ASSERT(fd >= 0);
	close(fd);
	file_opener_close(&opener);
	for (size_t i = 1; i < JAIL_MAX_ABANDONED; i++)
		kill(children[i].pid, SIGKILL);
	while (jail_nr_abandoned())
		usleep(1000);
	CU_ASSERT_EQUAL(jail_child_start(&role, &more), 0);
	jail_child_end(&more, false, reason, sizeof(reason));
}

/* Each of many users may leave a few children waiting; together they do not use up all places. */
static void other_users_leave_places_to_the_caller(void)
{
	const struct jail_role role = {.run = sleep_for_ever, .cpu_seconds = 1};
	struct jail_child children[FILE_MAX_OF_OTHERS];
	struct file_place place = own_program();
	struct file_opener opener = {0};
	struct stat status;
	pid_t other;
	char byte;
	int fd;

	if (getuid() != 0) {
		puts("skipped: needs root");
		return;
	}
	other = live_as_sub_user(SUB_USERS);
	CU_ASSERT_EQUAL(jail_nr_abandoned(), 0);
	for (size_t i = 0; i < FILE_MAX_OF_OTHERS; i++) {
		CU_ASSERT(files_may_ask((uint32_t)other));
		CU_ASSERT_EQUAL_FATAL(jail_child_start(&role, &children[i]), 0);
		kill_is_ignored = 1;
		jail_child_end(&children[i], false, NULL, 0);
		kill_is_ignored = 0;
	}
	CU_ASSERT(!files_may_ask((uint32_t)other));
	CU_ASSERT_EQUAL(file_opener_memory(&opener, (uint32_t)other, 0, &byte, sizeof(byte)), -EBUSY);
	CU_ASSERT_PTR_NULL(strstr(file_why(-EBUSY), "it does not"));
	CU_ASSERT_PTR_NOT_NULL(strstr(file_why(-EBUSY), "too many processes wait already"));
	CU_ASSERT(files_may_ask(0));
	fd = file_opener_open(&opener, &place, &status);
	CU_ASSERT(fd >= 0);
	close(fd);
	file_opener_close(&opener);
	kill(children[0].pid, SIGKILL);
	while (jail_nr_abandoned() == FILE_MAX_OF_OTHERS)
		usleep(1000);
	CU_ASSERT(files_may_ask((uint32_t)other));
	for (size_t i = 1; i < FILE_MAX_OF_OTHERS; i++)
		kill(children[i].pid, SIGKILL);
	while (jail_nr_abandoned())
		usleep(1000);
	kill(other, SIGKILL);
	waitpid(other, NULL, 0);
}

/* ---- build ids ---- */

static void a_build_id_is_read_meanwhile(void)
{
	static const char owner, other;
	struct mapped_file file = {.tgid = (uint32_t)getpid()};
	struct build_id_answer answer;
	char line[4352], found = 0;
	FILE *maps = fopen("/proc/self/maps", "re");

	while (!found && fgets(line, sizeof(line), maps))
		found = sscanf(line, "%lx-%lx r-xp %*s %*s %lu", &file.start, &file.end, &file.ino) == 3 && file.ino;
	fclose(maps);
	CU_ASSERT_FATAL(found);
	CU_ASSERT(build_id_reader_ask(&owner, &file, NULL));
	CU_ASSERT(build_id_reader_ask(&other, &file, NULL));
	build_id_reader_forget(&other);
	CU_ASSERT(build_id_reader_wait(&owner, 60000000000ull));
	CU_ASSERT_FATAL(build_id_reader_take(&owner, &answer));
	CU_ASSERT_EQUAL(answer.ino, file.ino);
	CU_ASSERT(!answer.is_unanswered);
	CU_ASSERT(answer.is_known || getuid() != 0); /* map_files is root's */
	CU_ASSERT(!build_id_reader_take(&owner, &answer));
	CU_ASSERT(!build_id_reader_take(&other, &answer));
	file.ino++;
	CU_ASSERT(build_id_reader_ask(&owner, &file, NULL));
	CU_ASSERT(build_id_reader_wait(&owner, 60000000000ull));
	CU_ASSERT_FATAL(build_id_reader_take(&owner, &answer));
	CU_ASSERT(!answer.is_known);
}

/* ---- names that are kept ---- */

/** struct memory_program - this program in a file of memory, mapped as code */
struct memory_program {
	void *at;
	size_t bytes;
	int fd;
	struct tracer_code_map map;
};

static void map_in_memory(struct memory_program *program)
{
	int own = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct stat status;

	program->fd = memfd_create("program", MFD_CLOEXEC);
	CU_ASSERT_EQUAL_FATAL(fstat(own, &status), 0);
	program->bytes = (size_t)status.st_size;
	while (sendfile(program->fd, own, NULL, program->bytes) > 0)
		;
	close(own);
	program->at = mmap(NULL, program->bytes, PROT_READ | PROT_EXEC, MAP_PRIVATE, program->fd, 0);
	CU_ASSERT_FATAL(program->at != MAP_FAILED && !fstat(program->fd, &status));
	program->map =
		(struct tracer_code_map){.generation = 1,
					 .map = {.pid = (uint32_t)getpid(),
						 .dev = 1,
						 .ino = status.st_ino,
						 .start = (uintptr_t)program->at,
						 .end = (uintptr_t)program->at + (program->bytes + 4095) / 4096 * 4096},
					 .path = "/memfd:program (deleted)"};
}

static void unmap(struct memory_program *program)
{
	munmap(program->at, program->bytes);
	close(program->fd);
}

static struct build_ids *note_program(const struct memory_program *program, bool keeps_names)
{
	struct build_ids *ids = build_ids_new(keeps_names);

	build_ids_note_code(ids, &program->map);
	CU_ASSERT(build_ids_wait(ids, 60000000000ull));
	return ids;
}

static int open_names(const struct build_ids *ids, const struct memory_program *program)
{
	return build_ids_open_names(ids, program->map.map.dev, program->map.map.ino);
}

/* Do the binutils find @text with a command on the file @fd? */
static bool shows(int fd, const char *command, const char *text)
{
	char line[512];
	bool found = false;
	FILE *out;

	snprintf(line, sizeof(line), "%s /proc/%d/fd/%d 2>/dev/null", command, (int)getpid(), fd);
	out = popen(line, "re");
	while (out && fgets(line, sizeof(line), out))
		found |= strstr(line, text) != NULL;
	return out && (pclose(out) || found); /* they are not there, or it is */
}

static void the_names_of_a_program_in_memory_are_kept(void)
{
	struct memory_program program;
	struct build_ids *ids, *others = build_ids_new(false);
	char id[BUILD_ID_CHARS], own[BUILD_ID_CHARS];
	struct stat status;
	int fd;

	if (getuid())
		return; /* map_files is root's */
	map_in_memory(&program);
	CU_ASSERT(build_id_read(program.fd, own));
	ids = note_program(&program, true);
	unmap(&program);
	build_ids_add(others, ids);
	build_ids_free(ids);
	fd = open_names(others, &program);
	CU_ASSERT_FATAL(fd >= 0);
	CU_ASSERT(build_id_read(fd, id));
	CU_ASSERT_STRING_EQUAL(id, own);
	CU_ASSERT_EQUAL(fstat(fd, &status), 0);
	CU_ASSERT((size_t)status.st_size <= program.bytes && (size_t)status.st_blocks * 512 < program.bytes);
	CU_ASSERT(elf_names_bytes(fd) > 0);
	CU_ASSERT(shows(fd, "nm", "the_names_of_a_program_in_memory_are_kept"));
	CU_ASSERT(shows(fd, "readelf -n", own)); /* libelf, too, takes the section */
	close(fd);
	CU_ASSERT_EQUAL(build_ids_nr_lost(others), 0);
	build_ids_free(others);
}

static void a_recording_without_samples_keeps_no_names(void)
{
	struct memory_program program;
	struct build_ids *ids;

	map_in_memory(&program);
	ids = note_program(&program, false);
	CU_ASSERT_EQUAL(open_names(ids, &program), -ENOENT);
	build_ids_free(ids);
	unmap(&program);
}

/* The @idx-th build id of a trace that gets those of @ids; "" after the last one */
static void written_id(struct build_ids *ids, uint64_t idx, char ret_text[static 256])
{
	struct trace_writer_options options = {.size = sizeof(options)};
	int fd = memfd_create("trace", MFD_CLOEXEC);
	struct trace_writer *writer = trace_writer_new(fd, &options, NULL);
	const char *text;
	char path[64];
	struct trace *trace;

	CU_ASSERT_PTR_NOT_NULL_FATAL(writer);
	build_ids_write(ids, writer);
	CU_ASSERT_EQUAL(trace_writer_finish(writer, NULL), 0);
	trace_writer_free(writer);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	trace = trace_open(path, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
	text = trace_string(trace, TRACE_STRING_BUILD_ID, idx);
	snprintf(ret_text, 256, "%s", text ? text : "");
	trace_close(trace);
	close(fd);
}

/* As another build has it, with the same inode. */
static void change_id(const struct memory_program *program)
{
	const unsigned char *file = program->at;
	char id[BUILD_ID_CHARS];
	unsigned char bytes[4], changed;
	const unsigned char *found;

	CU_ASSERT(build_id_read(program->fd, id));
	CU_ASSERT_EQUAL_FATAL(sscanf(id, "%2hhx%2hhx%2hhx%2hhx", &bytes[0], &bytes[1], &bytes[2], &bytes[3]), 4);
	found = memmem(file, program->bytes, bytes, sizeof(bytes));
	CU_ASSERT_PTR_NOT_NULL_FATAL(found);
	changed = (unsigned char)~bytes[0];
	CU_ASSERT_EQUAL(pwrite(program->fd, &changed, 1, found - file), 1);
}

static void note_build(struct build_ids *ids, struct memory_program *program, uint32_t generation, uint64_t ts_ns)
{
	program->map.generation = generation;
	program->map.ts_ns = ts_ns;
	build_ids_note_code(ids, &program->map);
	CU_ASSERT(build_ids_wait(ids, 60000000000ull));
}

/* The trace has the build id of each, and from when on the number was that of the later one. */
static void a_number_that_is_used_again_has_the_build_ids_of_both(void)
{
	char first[BUILD_ID_CHARS], second[BUILD_ID_CHARS], text[256], expected[2 * 256];
	struct build_ids *ids = build_ids_new(true), *others = build_ids_new(false);
	struct memory_program program;

	if (getuid())
		return;
	map_in_memory(&program);
	CU_ASSERT(build_id_read(program.fd, first));
	note_build(ids, &program, 1, 1000);
	note_build(ids, &program, 1, 2000);
	change_id(&program);
	CU_ASSERT(build_id_read(program.fd, second));
	CU_ASSERT_STRING_NOT_EQUAL(first, second);
	note_build(ids, &program, 2, 5000);
	note_build(ids, &program, 2, 6000);
	note_build(ids, &program, 3, 7000); /* of the same build: nothing to say */
	build_ids_add(others, ids);
	written_id(others, 0, text);
	snprintf(expected, sizeof(expected), "1 %llu %s 5000", (unsigned long long)program.map.map.ino, second);
	CU_ASSERT_STRING_EQUAL(text, expected);
	build_ids_free(others);
	others = build_ids_new(false);
	build_ids_add(others, ids);
	written_id(others, 1, text);
	snprintf(expected, sizeof(expected), "1 %llu %s", (unsigned long long)program.map.map.ino, first);
	CU_ASSERT_STRING_EQUAL(text, expected);
	written_id(ids, 2, text);
	CU_ASSERT_STRING_EQUAL(text, "");
	build_ids_free(ids);
	build_ids_free(others);
	unmap(&program);
}

/* A program is written over in place: number and generation stay. */
static void a_file_that_is_written_over_has_the_build_ids_of_both(void)
{
	char first[BUILD_ID_CHARS], second[BUILD_ID_CHARS], text[256], expected[2 * 256];
	struct build_ids *ids = build_ids_new(true);
	struct memory_program program;

	if (getuid())
		return;
	map_in_memory(&program);
	CU_ASSERT(build_id_read(program.fd, first));
	note_build(ids, &program, 1, 1000000000);
	CU_ASSERT(build_ids_has_names(ids, 1, program.map.map.ino));
	CU_ASSERT_EQUAL(fchmod(program.fd, 0700), 0); /* a change that is no other build */
	note_build(ids, &program, 1, 3000000000);
	CU_ASSERT(build_ids_has_names(ids, 1, program.map.map.ino));
	change_id(&program);
	CU_ASSERT(build_id_read(program.fd, second));
	note_build(ids, &program, 1, 3000000001); /* it was looked at just before */
	CU_ASSERT(build_ids_has_names(ids, 1, program.map.map.ino));
	note_build(ids, &program, 1, 5000000000);
	CU_ASSERT(!build_ids_has_names(ids, 1, program.map.map.ino));
	note_build(ids, &program, 1, 7000000000);
	written_id(ids, 0, text);
	snprintf(expected, sizeof(expected), "1 %llu %s 5000000000", (unsigned long long)program.map.map.ino, second);
	CU_ASSERT_STRING_EQUAL(text, expected);
	build_ids_free(ids);
	unmap(&program);
}

/* A later file that cannot be read has no build id of an earlier one. */
static void a_later_file_that_is_not_read_is_told(void)
{
	struct build_ids *ids = build_ids_new(false);
	char text[256], expected[256];
	struct memory_program program;

	if (getuid())
		return;
	map_in_memory(&program);
	note_build(ids, &program, 1, 1000);
	unmap(&program);
	note_build(ids, &program, 2, 5000);
	written_id(ids, 0, text);
	snprintf(expected, sizeof(expected), "1 %llu ? 5000", (unsigned long long)program.map.map.ino);
	CU_ASSERT_STRING_EQUAL(text, expected);
	for (uint32_t generation = 3; generation < 100; generation++)
		note_build(ids, &program, generation, 6000 + generation);
	written_id(ids, 16, text); /* there are the first file and 15 later ones */
	CU_ASSERT_STRING_EQUAL(text, "");
	build_ids_free(ids);
}

static void more_files_than_have_build_ids_are_told(void)
{
	struct build_ids *ids = build_ids_new(false), *others = build_ids_new(false);
	struct trace_start_map map = {.dev = 1, .prot = PROT_EXEC}; /* process 0: there is nothing to read */
	char text[256] = "";

	for (uint64_t ino = 1; ino <= 65536; ino++) {
		map.ino = ino;
		build_ids_note(ids, &map, "/x");
	}
	CU_ASSERT_FALSE(build_ids_describe_missing(ids, text, sizeof(text)));
	build_ids_note(ids, &map, "/x"); /* one of them again */
	CU_ASSERT_FALSE(build_ids_describe_missing(ids, text, sizeof(text)));
	map.ino = 65537;
	build_ids_note(ids, &map, "/x");
	CU_ASSERT_TRUE(build_ids_describe_missing(ids, text, sizeof(text)));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "more than 65,536 files"));
	CU_ASSERT_FALSE(build_ids_describe_missing(others, text, sizeof(text)));
	build_ids_add(others, ids);
	CU_ASSERT_TRUE(build_ids_describe_missing(others, text, sizeof(text)));
	build_ids_free(others);
	build_ids_free(ids);
}

/* The state at the start has no generation, and most programs run again as they are. */
static void a_file_of_the_start_that_is_not_read_again_keeps_its_build_id(void)
{
	for (int is_read = 0; is_read < 2; is_read++) {
		struct build_ids *ids = build_ids_new(false);
		struct trace_start_map map = {.tgid = (uint32_t)getpid(), .dev = 1, .prot = PROT_EXEC};
		char first[BUILD_ID_CHARS], text[256];
		struct memory_program program;

		if (getuid())
			return;
		map_in_memory(&program);
		CU_ASSERT(build_id_read(program.fd, first));
		map.start = program.map.map.start;
		map.end = program.map.map.end;
		map.ino = program.map.map.ino;
		build_ids_note(ids, &map, program.map.path);
		CU_ASSERT(build_ids_wait(ids, 60000000000ull));
		if (is_read)
			change_id(&program);
		else
			unmap(&program);
		note_build(ids, &program, 2, 5000);
		written_id(ids, !is_read, text);
		CU_ASSERT_EQUAL(*text == '\0', !is_read);
		CU_ASSERT_EQUAL(strstr(text, " 5000") != NULL, is_read);
		if (is_read)
			unmap(&program);
		build_ids_free(ids);
	}
}

/* The file system gave the number of a deleted file to another one: its names are of neither. */
static void a_number_that_is_used_again_has_no_kept_names(void)
{
	struct memory_program program;
	struct build_ids *ids, *others = build_ids_new(false);
	int fd;

	if (getuid())
		return;
	map_in_memory(&program);
	ids = note_program(&program, true);
	build_ids_note_code(ids, &program.map);
	fd = open_names(ids, &program);
	CU_ASSERT(fd >= 0);
	close(fd);
	build_ids_add(others, ids);
	program.map.generation = 2;
	build_ids_note_code(ids, &program.map);
	CU_ASSERT_EQUAL(open_names(ids, &program), -ENOENT);
	build_ids_add(others, ids);
	CU_ASSERT_EQUAL(open_names(others, &program), -ENOENT);
	build_ids_free(ids);
	build_ids_free(others);
	program.map.generation = 0; /* a file system that has none */
	ids = note_program(&program, true);
	build_ids_note_code(ids, &program.map);
	CU_ASSERT_EQUAL(open_names(ids, &program), -ENOENT);
	build_ids_free(ids);
	unmap(&program);
}

static void kept_names_have_a_budget(void)
{
	struct kept_names *kept[4] = {NULL}, *used;
	struct memory_program program;
	struct build_ids *ids;

	CU_ASSERT_PTR_NULL(kept_names_new(1, KEPT_NAMES_FILE_BYTES + 1));
	for (int i = 0; i < 4; i++)
		kept[i] = kept_names_new(i < 2 ? 1 : 2, KEPT_NAMES_FILE_BYTES);
	CU_ASSERT(kept[0] && kept[1] && kept[2] && kept[3]);
	CU_ASSERT_PTR_NULL(kept_names_new(3, 1)); /* all */
	if (!getuid()) {
		map_in_memory(&program);
		ids = note_program(&program, true);
		CU_ASSERT_EQUAL(open_names(ids, &program), -ENOENT);
		CU_ASSERT_EQUAL(build_ids_nr_lost(ids), 1);
		build_ids_free(ids);
		unmap(&program);
	}
	used = kept_names_use(kept[2]);
	kept_names_free(kept[2]);
	CU_ASSERT_PTR_NULL(kept_names_new(3, 1));
	kept_names_free(used);
	CU_ASSERT_PTR_NULL(kept_names_new(1, 1)); /* of one user */
	kept[2] = kept_names_new(3, 100);
	CU_ASSERT_PTR_NOT_NULL(kept[2]);
	CU_ASSERT(kept_names_add(kept[2], 4000, "name", 4));
	CU_ASSERT(!kept_names_add(kept[2], 1ull << 40, "name", 4));
	CU_ASSERT(!kept_names_add(kept[2], 0, "", 1 << 20));
	for (int i = 0; i < 4; i++)
		kept_names_free(kept[i]);
}

static bool count_part(void *context, uint64_t offset, const void *part, size_t bytes)
{
	(void)context;
	return part && offset + bytes <= 4096;
}

/* Any user may write a file with headers that lie. */
static void sizes_that_lie_have_no_names(void)
{
	unsigned char *bits = calloc(1, 4096);
	Elf64_Ehdr head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64},
			   .e_phentsize = sizeof(Elf64_Phdr),
			   .e_shentsize = sizeof(Elf64_Shdr),
			   .e_shoff = 64,
			   .e_shnum = 2};
	Elf64_Shdr sections[2] = {{.sh_type = SHT_SYMTAB, .sh_offset = 1000, .sh_size = 24, .sh_link = 1},
				  {.sh_type = SHT_STRTAB, .sh_offset = 2000, .sh_size = 10}};
	int fd = memfd_create("lies", MFD_CLOEXEC);

	for (int i = 0; i < 5; i++) {
		memset(bits, 0, 4096);
		memcpy(bits, &head, sizeof(head));
		memcpy(bits + 64, sections, sizeof(sections));
		CU_ASSERT_EQUAL(pwrite(fd, bits, 4096, 0), 4096);
		if (i == 0)
			CU_ASSERT_EQUAL(elf_names_bytes(fd), 64 + 2 * sizeof(Elf64_Shdr) + 24 + 10);
		CU_ASSERT_EQUAL(elf_names_read(fd, count_part, NULL), i == 0);
		CU_ASSERT(i == 0 || !elf_names_bytes(fd) || elf_names_bytes(fd) > KEPT_NAMES_FILE_BYTES);
		sections[0] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
					   .sh_offset = i == 0 ? UINT64_MAX - 3 : 1000,
					   .sh_size = i == 1 ? UINT64_MAX - 50 : 1ull << 50};
		head.e_shnum = i == 2 ? 60000 : 2;
		head.e_shoff = i == 3 ? UINT64_MAX - 10 : 64;
	}
	close(fd);
	free(bits);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_file_is_opened_by_a_child),
		CASE(an_envelope_holds_a_file),
		CASE(the_child_cannot_write_or_execute),
		CASE(a_text_and_memory_of_a_process_are_read_by_a_child),
		CASE(a_fork_of_the_caller_has_an_opener_of_its_own),
		CASE(a_child_has_the_priority_of_its_caller),
		CASE(other_users_leave_places_to_the_caller),
		CASE(a_user_is_charged_for_its_namespaces),
		CASE(a_wait_ends_with_its_stop),
		CASE(children_that_do_not_end_are_few),
		CASE(a_build_id_is_read_meanwhile),
		CASE(the_names_of_a_program_in_memory_are_kept),
		CASE(a_recording_without_samples_keeps_no_names),
		CASE(a_number_that_is_used_again_has_no_kept_names),
		CASE(a_number_that_is_used_again_has_the_build_ids_of_both),
		CASE(a_file_that_is_written_over_has_the_build_ids_of_both),
		CASE(a_later_file_that_is_not_read_is_told),
		CASE(more_files_than_have_build_ids_are_told),
		CASE(a_file_of_the_start_that_is_not_read_again_keeps_its_build_id),
		CASE(kept_names_have_a_budget),
		CASE(sizes_that_lie_have_no_names),
		CASE(a_child_that_does_not_answer_is_abandoned),
		{NULL, NULL},
	};

	return unit_main("file opener", cases, argc, argv);
}
