/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_start_state.c - the start state from /proc, for threads that this program creates: it is
 * complete whatever the names of threads and files. */
#include "failing_stream.h"
#include "unit.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <trace/reader.h>
#include "../../tracer/kernel/limits.h"
#include "../../tracer/kernel/perf_maps.h"
#include "../../tracer/kernel/sample_tables.h"
#include "../../tracer/kernel/start_state.h"
#include "../../tracer/kernel/start_proc.h"

#define NAME		"a\n) S 1"
#define DEPTH		9
#define LONG_NAME_BYTES 200

/**
 * struct found - the start state of this process, and of one thread
 * @texts: of its descriptors
 */
struct found {
	uint32_t pid, tid;
	char name[16];
	int32_t nr; /* the call of thread @tid */
	struct trace_start_fd fds[3];
	char texts[3][2048];
	int wanted[3];
};

static int collect(void *context, const struct trace_record *record, size_t bytes, uint64_t ts_ns)
{
	const void *payload = record ? record + 1 : NULL;
	const struct trace_start_thread *thread = payload;
	const struct trace_start_fd *fd = payload;
	struct found *found = context;

	(void)bytes;
	(void)ts_ns;
	if (!record) /* no answer yet: time for other work */
		return 0;
	if (record->id == TRACE_EV_start_thread && thread->tid == found->tid) {
		snprintf(found->name, sizeof(found->name), "%s", (const char *)(thread + 1));
		found->nr = thread->nr;
	}
	for (int i = 0; i < 3; i++)
		if (record->id == TRACE_EV_start_fd && fd->tgid == found->pid && fd->fd == found->wanted[i]) {
			found->fds[i] = *fd;
			snprintf(found->texts[i], sizeof(found->texts[i]), "%s", (const char *)(fd + 1));
		}
	return 0;
}

static void read_state(struct found *found)
{
	struct tracer_collector *collector = calloc(1, sizeof(*collector));

	CU_ASSERT_PTR_NOT_NULL_FATAL(collector);
	collector->emit = collect;
	collector->context = found;
	found->pid = (uint32_t)getpid();
	CU_ASSERT_EQUAL(tracer_start_state_of_proc(collector), 0);
	free(collector);
}

static pthread_barrier_t there, seen;
static uint32_t tid;

static void *be_named(void *unused)
{
	tid = (uint32_t)syscall(SYS_gettid);
	pthread_setname_np(pthread_self(), NAME);
	pthread_barrier_wait(&there);
	pthread_barrier_wait(&seen);
	return unused;
}

static void a_thread_is_recorded_whatever_its_name(void)
{
	struct found found = {.wanted = {-1, -1, -1}};
	pthread_t thread;

	pthread_barrier_init(&there, NULL, 2);
	pthread_barrier_init(&seen, NULL, 2);
	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, be_named, NULL), 0);
	pthread_barrier_wait(&there);
	found.tid = tid;
	read_state(&found);
	pthread_barrier_wait(&seen);
	pthread_join(thread, NULL);
	CU_ASSERT_STRING_EQUAL(found.name, NAME);
}

/* Process 1 of a new pid namespace waits for its child. Returns its pid. */
static pid_t begin_namespace(void)
{
	pid_t init = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, 0, 0, 0, 0), child;

	if (init)
		return init;
	child = fork();
	if (!child)
		pause();
	waitpid(child, NULL, 0);
	_exit(0);
}

static pid_t child_of(pid_t parent)
{
	char path[64];
	pid_t child = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", parent, parent);
	for (int i = 0; i < 1000 && !child; i++) {
		usleep(5000);
		file = fopen(path, "re");
		if (file && fscanf(file, "%d", &child) != 1)
			child = 0;
		if (file)
			fclose(file);
	}
	return child;
}

/*
 * Process 1 of a pid namespace waits in its exit for its child. This program traces the child and
 * stops it in its exit.
 */
static void a_thread_that_exits_is_in_no_call(void)
{
	struct found found = {.wanted = {-1, -1, -1}};
	pid_t init = begin_namespace(), child;
	int status = 0;

	if (init < 0) {
		puts("skipped: needs root");
		return;
	}
	child = child_of(init);
	CU_ASSERT_EQUAL(ptrace(PTRACE_SEIZE, child, 0, PTRACE_O_TRACEEXIT), 0);
	found.tid = (uint32_t)init;
	read_state(&found);
	CU_ASSERT_EQUAL(found.nr, SYS_wait4);
	kill(init, SIGKILL);
	CU_ASSERT_EQUAL(waitpid(child, &status, __WALL), child);
	CU_ASSERT(WIFSTOPPED(status));
	read_state(&found);
	CU_ASSERT_EQUAL(found.nr, -1);
	ptrace(PTRACE_CONT, child, 0, 0);
	waitpid(child, &status, __WALL);
	waitpid(init, &status, 0);
}

static void descriptors_have_their_flags(void)
{
	struct found found = {0};
	int pipes[2];

	CU_ASSERT_EQUAL_FATAL(pipe2(pipes, O_CLOEXEC), 0);
	found.wanted[0] = pipes[0];
	found.wanted[1] = pipes[1];
	found.wanted[2] = dup(pipes[1]);
	read_state(&found);
	CU_ASSERT_EQUAL(found.fds[0].flags & (O_ACCMODE | O_CLOEXEC), O_RDONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL(found.fds[1].flags & (O_ACCMODE | O_CLOEXEC), O_WRONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL(found.fds[2].flags & (O_ACCMODE | O_CLOEXEC), O_WRONLY);
	for (int i = 0; i < 3; i++)
		close(found.wanted[i]);
}

/* A path of 1800 bytes is recorded completely. A path longer than a record is marked as
 * truncated. */
static void a_path_is_whole_or_says_that_it_is_not(void)
{
	char folder[] = "/var/tmp/start-state-XXXXXX", name[LONG_NAME_BYTES + 1], command[64];
	struct found found = {.wanted = {-1, -1, -1}};
	int at[DEPTH + 3];

	memset(name, 'x', LONG_NAME_BYTES);
	name[LONG_NAME_BYTES] = '\0';
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
	at[0] = open(folder, O_DIRECTORY | O_CLOEXEC);
	for (int i = 1; i < DEPTH + 3; i++) {
		CU_ASSERT_EQUAL_FATAL(mkdirat(at[i - 1], name, 0700), 0);
		at[i] = openat(at[i - 1], name, O_DIRECTORY | O_CLOEXEC);
	}
	found.wanted[0] = at[DEPTH];
	found.wanted[1] = at[DEPTH + 2];
	read_state(&found);
	CU_ASSERT_EQUAL(strlen(found.texts[0]), strlen(folder) + DEPTH * (LONG_NAME_BYTES + 1));
	CU_ASSERT_TRUE(strlen(found.texts[1]) > 1900);
	CU_ASSERT_EQUAL(strcmp(found.texts[1] + strlen(found.texts[1]) - 5, "xx..."), 0);
	for (int i = 0; i < DEPTH + 3; i++)
		close(at[i]);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	CU_ASSERT_EQUAL(system(command), 0);
}

#ifdef __x86_64__
/* A program of 32 bits that pauses. */
static void write_program(const char *path)
{
	static const unsigned char code[] = {0xb8, 29, 0, 0, 0, 0xcd, 0x80, 0xeb, 0xf7}; /* pause(), again */
	struct {
		Elf32_Ehdr head;
		Elf32_Phdr segment;
		unsigned char code[sizeof(code)];
	} program = {.head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS32, ELFDATA2LSB, EV_CURRENT},
			      .e_type = ET_EXEC,
			      .e_machine = EM_386,
			      .e_version = EV_CURRENT,
			      .e_entry = 0x10000 + sizeof(Elf32_Ehdr) + sizeof(Elf32_Phdr),
			      .e_phoff = sizeof(Elf32_Ehdr),
			      .e_ehsize = sizeof(Elf32_Ehdr),
			      .e_phentsize = sizeof(Elf32_Phdr),
			      .e_phnum = 1},
		     .segment = {.p_type = PT_LOAD,
				 .p_vaddr = 0x10000,
				 .p_filesz = sizeof(program),
				 .p_memsz = sizeof(program),
				 .p_flags = PF_R | PF_X,
				 .p_align = 4096}};
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0700);

	memcpy(program.code, code, sizeof(code));
	CU_ASSERT_EQUAL_FATAL(write(fd, &program, sizeof(program)), sizeof(program));
	close(fd);
}

/* Returns false where the kernel runs no such programs. */
static bool begin_program(const char *path, pid_t *ret_pid)
{
	int gone[2], status;
	char refused;

	CU_ASSERT_EQUAL_FATAL(pipe2(gone, O_CLOEXEC), 0);
	*ret_pid = fork();
	if (!*ret_pid) {
		execl(path, path, NULL);
		_exit(write(gone[1], "", 1) != 1);
	}
	close(gone[1]);
	status = (int)read(gone[0], &refused, 1); /* 0: exec has closed the end */
	close(gone[0]);
	return status == 0;
}

static void calls_of_32_bit_programs_have_their_own_numbers(void)
{
	char path[] = "/var/tmp/start-state-XXXXXX";
	pid_t pid;

	close(mkstemp(path));
	write_program(path);
	if (begin_program(path, &pid)) {
		/* exec closes descriptors before it gives the program its vector */
		for (int tries = 0; tries < 5000 && tracer_abi_of_process((uint32_t)pid) != TRACE_ABI_32; tries++)
			usleep(1000);
		CU_ASSERT_EQUAL(tracer_abi_of_process((uint32_t)pid), TRACE_ABI_32);
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	unlink(path);
	CU_ASSERT_EQUAL(tracer_abi_of_process((uint32_t)getpid()), TRACE_ABI_NATIVE);
	CU_ASSERT_EQUAL(tracer_abi_of_process(0), TRACE_ABI_NATIVE);
}
#endif

static int drop(void *context, const struct trace_record *record, size_t bytes, uint64_t ts_ns)
{
	(void)record;
	(void)bytes;
	(void)ts_ns;
	(*(size_t *)context)++;
	return 0;
}

static void a_part_of_the_processes_is_an_error(void)
{
	struct tracer_collector *collector = calloc(1, sizeof(*collector));
	size_t nr = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(collector);
	collector->emit = drop;
	collector->context = &nr;
	folders_fail_after(100);
	CU_ASSERT_EQUAL(tracer_start_state_of_proc(collector), -EIO);
	folders_fail_after(0);
	free(collector);
}

static void take_text(void *context, const char *text)
{
	snprintf(context, 256, "%s", text);
}

static void threads_in_further_control_groups_are_told(void)
{
	struct tracer_collector *collector = calloc(1, sizeof(*collector));
	struct tracer_passed passed = {0};
	char text[256] = "";

	CU_ASSERT_PTR_NOT_NULL_FATAL(collector);
	for (uint32_t group = 1; group <= 4096; group++)
		tracer_remember_group(collector, group, group);
	tracer_remember_group(collector, 1, 5000);
	CU_ASSERT_EQUAL(collector->unnamed_threads, 0);
	for (uint32_t thread = 5001; thread <= 5003; thread++)
		tracer_remember_group(collector, thread % 2 + 5000, thread);
	CU_ASSERT_EQUAL(collector->nr_cgroups, 4096);
	CU_ASSERT_EQUAL(collector->unnamed_threads, 3);
	limits_describe(&passed, take_text, text);
	CU_ASSERT_STRING_EQUAL(text, "");
	passed.group_threads = collector->unnamed_threads;
	limits_describe(&passed, take_text, text);
	CU_ASSERT_STRING_EQUAL(text, "the names of further control groups at the start: there were more than 4096, and "
				     "3 threads are in others");
	free(collector);
}

static int take_name(void *context, int space, uint64_t key, const char *text)
{
	CU_ASSERT_EQUAL(space, TRACE_STRING_PROGRAM_CODE);
	CU_ASSERT_EQUAL(key, 0);
	take_text(context, text);
	return 0;
}

/* The file with the names of generated code of this process; the caller closes it. */
static FILE *begin_perf_map(char path[64])
{
	FILE *file;

	snprintf(path, 64, "/tmp/perf-%d.map", (int)getpid());
	file = fopen(path, "wx");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	return file;
}

static void names_in_a_file_that_is_too_large_are_told(void)
{
	const struct walk_address address = {.address = 0x1008,
					     .tgid = (unsigned int)getpid(),
					     .uid = (unsigned int)getuid()};
	struct perf_maps_missing missing;
	struct tracer_passed passed = {0};
	char path[64], text[256] = "";
	FILE *file;

	file = begin_perf_map(path);
	fprintf(file, "1000 10 jit\n");
	fflush(file);
	CU_ASSERT_EQUAL(perf_maps_emit(&address, 1, take_name, text, &missing), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, " 1000 16 jit"));
	CU_ASSERT_EQUAL(missing.too_large, 0);
	CU_ASSERT_EQUAL(missing.unread, 0);
	CU_ASSERT_EQUAL_FATAL(ftruncate(fileno(file), (256 << 20) + 1), 0);
	text[0] = '\0';
	CU_ASSERT_EQUAL(perf_maps_emit(&address, 1, take_name, text, &missing), 0);
	CU_ASSERT_STRING_EQUAL(text, "");
	CU_ASSERT_EQUAL(missing.too_large, 1);
	passed.large_maps = missing.too_large;
	limits_describe(&passed, take_text, text);
	CU_ASSERT_STRING_EQUAL(text, "names of generated code: perf-PID.map has more than 256 MiB in 1 processes");
	fclose(file);
	unlink(path);
}

/* The read fails behind the first line, as that of a failing disk does. */
static void names_in_a_file_that_is_not_read_to_its_end_are_told(void)
{
	const struct walk_address address = {.address = 0x1008,
					     .tgid = (unsigned int)getpid(),
					     .uid = (unsigned int)getuid()};
	struct perf_maps_missing missing;
	struct tracer_passed passed = {0};
	char path[64], text[256] = "";
	FILE *file;

	file = begin_perf_map(path);
	fprintf(file, "1000 10 jit\n2000 10 other\n");
	fclose(file);
	streams_fail_after(strlen("1000 10 jit\n"));
	CU_ASSERT_EQUAL(perf_maps_emit(&address, 1, take_name, text, &missing), 0);
	streams_fail_after(0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, " 1000 16 jit"));
	CU_ASSERT_EQUAL(missing.unread, 1);
	CU_ASSERT_EQUAL(missing.too_large, 0);
	passed.unread_maps = missing.unread;
	limits_describe(&passed, take_text, text);
	CU_ASSERT_STRING_EQUAL(text, "names of generated code: a perf-PID.map may take 20 s of CPU time, and 1 were "
				     "not read to their end");
	unlink(path);
}

static void names_in_a_file_of_another_user_are_not_believed(void)
{
	const struct walk_address address = {.address = 0x1008, .tgid = (unsigned int)getpid(), .uid = 65533};
	struct perf_maps_missing missing;
	char path[64], text[256] = "";
	FILE *file;

	if (geteuid()) /* only root gives files to others */
		return;
	file = begin_perf_map(path);
	fprintf(file, "1000 10 jit\n");
	CU_ASSERT_EQUAL(fchown(fileno(file), 65534, 65534), 0);
	fclose(file);
	CU_ASSERT_EQUAL(perf_maps_emit(&address, 1, take_name, text, &missing), 0);
	CU_ASSERT_STRING_EQUAL(text, "");
	CU_ASSERT_EQUAL(chown(path, 65533, 65533), 0);
	CU_ASSERT_EQUAL(perf_maps_emit(&address, 1, take_name, text, &missing), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, " 1000 16 jit"));
	unlink(path);
}

static void count_text(void *context, const char *text)
{
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "4711"));
	CU_ASSERT(strlen(text) < 250);
	(*(unsigned int *)context)++;
}

static void each_passed_bound_is_told_with_its_number(void)
{
	struct tracer_passed passed;
	uint64_t counts[sizeof(passed) / 8] = {0};

	for (unsigned int i = 0; i < sizeof(passed) / 8; i++) {
		unsigned int nr = 0;

		counts[i] = 4711;
		memcpy(&passed, counts, sizeof(passed));
		limits_describe(&passed, count_text, &nr);
		CU_ASSERT_EQUAL(nr, i + 1);
	}
}

#if defined(__x86_64__)
static void unwind_tables_beyond_their_memory_are_told(void)
{
	struct sample_table_counts counts = {.bytes = (128 << 20) - 16};
	struct tracer_passed passed = {0};
	char text[256] = "";

	CU_ASSERT_TRUE(sample_table_counts_add(&counts, 2));
	CU_ASSERT_EQUAL(counts.bytes, 128 << 20);
	CU_ASSERT_FALSE(sample_table_counts_add(&counts, 1));
	CU_ASSERT_EQUAL(counts.made, 1);
	CU_ASSERT_EQUAL(counts.bytes, 128 << 20);
	passed.tables = counts.refused;
	limits_describe(&passed, take_text, text);
	CU_ASSERT_STRING_EQUAL(text, "callers in further files without frame pointers: all unwind tables may have 128 "
				     "MiB, and 1 others had no room");
}
#endif

static const struct unit_case cases[] = {
#if defined(__x86_64__)
	CASE(unwind_tables_beyond_their_memory_are_told),
#endif
	{"each_passed_bound_is_told_with_its_number", each_passed_bound_is_told_with_its_number},
	{"names_in_a_file_that_is_too_large_are_told", names_in_a_file_that_is_too_large_are_told},
	CASE(names_in_a_file_that_is_not_read_to_its_end_are_told),
	CASE(names_in_a_file_of_another_user_are_not_believed),
	{"threads_in_further_control_groups_are_told", threads_in_further_control_groups_are_told},
	{"a_part_of_the_processes_is_an_error", a_part_of_the_processes_is_an_error},
	{"a_thread_is_recorded_whatever_its_name", a_thread_is_recorded_whatever_its_name},
	{"a_thread_that_exits_is_in_no_call", a_thread_that_exits_is_in_no_call},
	{"descriptors_have_their_flags", descriptors_have_their_flags},
	{"a_path_is_whole_or_says_that_it_is_not", a_path_is_whole_or_says_that_it_is_not},
#ifdef __x86_64__
	{"calls_of_32_bit_programs_have_their_own_numbers", calls_of_32_bit_programs_have_their_own_numbers},
#endif
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("start state", cases, argc, argv);
}
