/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_symbols_hostile.c - files of other users: they must not harm the process that asks for names
 * of functions, and a name that is missing is reported.
 *
 * This program replaces elf_begin(), dwarf_begin_elf(), fork() and prctl() for the library. A
 * replaced parser does in the reader process what a hostile file might make it do.
 */
#include <dlfcn.h>
#include <elf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <trace/symbols.h>
#include <unistd.h>

#include "../probes/hostile_elf.h"
#include "builder.h"
#include "jail.h"
#include "jail_case.h"
#include "unit.h"

#define MAPPED	  0x10000000u
#define MAX_FILES 20

static char folder[] = "/tmp/test_symbols_hostile.XXXXXX";

static const char *in_folder(const char *name)
{
	static char paths[MAX_FILES + 4][256];
	static unsigned int next;
	char *path = paths[next++ % (MAX_FILES + 4)];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

/* ---- replaced functions of libraries ---- */

/** enum sabotage - what the reader does instead of reading the file */
enum sabotage { NONE, CRASH, LOOP, EAT_MEMORY, NO_MEMORY, LEAVE, LIE };

static enum sabotage elf_sabotage, dwarf_sabotage;
static bool refuse_fork, refuse_filter;
static unsigned int entries_read; /* by libdw, until it fails; 0: it does not fail */
static pid_t children[64];	  /* of fork(), in order */
static unsigned int nr_children;
static bool opens_next; /* the next child opens files, and is not counted */

static pid_t (*real_fork)(void);
static Elf *(*real_elf_begin)(int, Elf_Cmd, Elf *);
static Dwarf *(*real_dwarf_begin_elf)(Elf *, Dwarf_Cmd, Elf_Scn *);
static int (*real_dwarf_siblingof)(Dwarf_Die *, Dwarf_Die *);

/** struct lie - an answer that no reader gives; see struct symbol_answer_head of symbol_reader.c */
struct lie {
	uint32_t kind, err, function_bytes, source_bytes;
	uint64_t address, offset;
	char texts[16];
	size_t bytes; /* of all */
};
#define HEAD_BYTES offsetof(struct lie, texts)

static struct lie lie;
static void *volatile eaten;

static void crash(void)
{
#ifdef JAIL_SANITIZED
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGKILL);
#else
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSEGV);
#endif
}

static void tell_lie(void)
{
	struct iovec part = {&lie, lie.bytes};
	struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};

	sendmsg(JAIL_SOCKET, &message, MSG_NOSIGNAL);
}

static void act(enum sabotage sabotage)
{
	int never = 0;

	switch (sabotage) {
	case CRASH:
		crash();
		break;
	case LOOP:
		for (volatile unsigned int i = 0;; i++)
			;
	case EAT_MEMORY:
		do
			eaten = malloc(64u << 20);
		while (eaten);
		break;
	case NO_MEMORY:
		errno = ENOMEM;
		break;
	case LEAVE:
		close(JAIL_SOCKET);
		syscall(SYS_futex, &never, FUTEX_WAIT, 0, NULL, NULL, 0);
		break;
	case LIE:
		tell_lie();
		break;
	case NONE:
		break;
	}
}

#pragma GCC visibility push(default)
Elf *elf_begin(int fd, Elf_Cmd command, Elf *elf)
{
	act(elf_sabotage);
	return elf_sabotage == NO_MEMORY || elf_sabotage == EAT_MEMORY ? NULL : real_elf_begin(fd, command, elf);
}

Dwarf *dwarf_begin_elf(Elf *elf, Dwarf_Cmd command, Elf_Scn *section)
{
	act(dwarf_sabotage);
	return real_dwarf_begin_elf(elf, command, section);
}

int dwarf_siblingof(Dwarf_Die *die, Dwarf_Die *ret_die)
{
	return entries_read && !--entries_read ? -1 : real_dwarf_siblingof(die, ret_die);
}

pid_t fork(void)
{
	pid_t pid;

	if (refuse_fork) {
		errno = EAGAIN;
		return -1;
	}
	pid = real_fork();
	if (pid > 0 && !opens_next)
		children[nr_children++ % 64] = pid;
	opens_next = false;
	return pid;
}

int prctl(int option, ...)
{
	unsigned long arguments[4];
	va_list list;

	if (option == PR_SET_SECCOMP && refuse_filter) {
		errno = EINVAL;
		return -1;
	}
	va_start(list, option);
	for (int i = 0; i < 4; i++)
		arguments[i] = va_arg(list, unsigned long);
	va_end(list);
	return (int)syscall(SYS_prctl, option, arguments[0], arguments[1], arguments[2], arguments[3]);
}
#pragma GCC visibility pop

static void find_real_functions(void)
{
	*(void **)&real_fork = dlsym(RTLD_NEXT, "fork");
	*(void **)&real_elf_begin = dlsym(RTLD_NEXT, "elf_begin");
	*(void **)&real_dwarf_siblingof = dlsym(RTLD_NEXT, "dwarf_siblingof");
	*(void **)&real_dwarf_begin_elf = dlsym(RTLD_NEXT, "dwarf_begin_elf");
}

/* ---- questions ---- */

/** struct questions - a trace in which process 100 + i maps the i-th file at MAPPED */
struct questions {
	struct tb *tb;
	struct trace *trace;
	struct trace_symbols *symbols;
};

static struct questions begin(const char *const *files, unsigned int nr)
{
	struct questions q = {.tb = tb_new()};

	for (unsigned int i = 0; i < nr; i++) {
		struct trace_start_thread thread = {.tid = 100 + i, .tgid = 100 + i, .nr = -1};
		struct trace_start_map map = {.tgid = 100 + i, .start = MAPPED, .end = 2 * MAPPED};

		tb_start(q.tb, 10, TRACE_EV_start_thread, &thread, sizeof(thread), "one");
		tb_start(q.tb, 10, TRACE_EV_start_map, &map, sizeof(map), files[i]);
	}
	tb_switch(q.tb, 0, 1000, 0, 100, 0);
	q.trace = tb_open_trace(q.tb);
	q.symbols = trace_symbols_new(q.trace, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(q.symbols);
	nr_children = 0;
	opens_next = true;
	return q;
}

static void end(struct questions *q)
{
	trace_symbols_free(q->symbols);
	trace_close(q->trace);
	tb_free(q->tb);
	elf_sabotage = dwarf_sabotage = NONE;
	refuse_fork = refuse_filter = false;
}

static struct trace_symbol ask(struct questions *q, uint32_t pid, uint64_t offset)
{
	struct trace_symbol symbol = {.function = "nothing", .source = "nothing"};

	CU_ASSERT_TRUE(trace_symbols_find(q->symbols, pid, 1000, MAPPED + offset, &symbol));
	return symbol;
}

/* The byte of PROBE_TARGET at which pay() begins, found by nm and the program headers. */
static uint64_t pay_offset(void)
{
	static uint64_t offset;
	unsigned long long address = 0;
	Elf64_Ehdr header;
	Elf64_Phdr segment;
	FILE *file;

	if (offset)
		return offset;
	file = popen("nm " PROBE_TARGET " | grep ' [tT] pay$'", "r");
	CU_ASSERT_EQUAL_FATAL(fscanf(file, "%llx", &address), 1);
	pclose(file);
	file = fopen(PROBE_TARGET, "re");
	CU_ASSERT_EQUAL_FATAL(fread(&header, sizeof(header), 1, file), 1);
	fseek(file, (long)header.e_phoff, SEEK_SET);
	for (int i = 0; i < header.e_phnum && fread(&segment, sizeof(segment), 1, file) == 1; i++)
		if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
		    address - segment.p_vaddr < segment.p_filesz)
			offset = address - segment.p_vaddr + segment.p_offset;
	fclose(file);
	return offset;
}

static void expect_name(struct questions *q, uint32_t pid, const char *name)
{
	CU_ASSERT_STRING_EQUAL(ask(q, pid, pay_offset()).function, name);
}

/* One sentence with @reason is reported; NULL: nothing is. */
static void expect_error(struct questions *q, int code, const char *reason)
{
	struct trace_error error = {0};
	int result = trace_symbols_error(q->symbols, &error);

	CU_ASSERT_EQUAL(result, code);
	CU_ASSERT_PTR_NULL(strchr(error.message, '\n'));
	CU_ASSERT(!reason || strstr(error.message, reason));
	if (result != code || (reason && !strstr(error.message, reason)))
		fprintf(stderr, "%d: %s\n", result, error.message);
}

/* ---- the reader fails ---- */

static const char *const target[] = {PROBE_TARGET, PROBE_TARGET};

/* The first file fails with @sabotage; a second one has its names nevertheless. */
static void fails_with(enum sabotage sabotage, int code, const char *reason)
{
	const char *files[] = {in_folder("failing"), PROBE_TARGET};
	struct questions q;

	copy_file(PROBE_TARGET, files[0]);
	q = begin(files, 2);
	elf_sabotage = sabotage;
	expect_name(&q, 100, "");
	elf_sabotage = NONE;
	expect_error(&q, code, reason);
	if (code == -EBADMSG)
		expect_error(&q, code, files[0]);
	CU_ASSERT_EQUAL(ask(&q, 100, 12345).file_address, 12345);
	CU_ASSERT_STRING_EQUAL(ask(&q, 100, 12345).file, files[0]);
	CU_ASSERT_EQUAL(nr_children, 1); /* a file that failed is not read again */
	if (code == -EBADMSG)
		expect_name(&q, 101, "pay");
	expect_error(&q, code, reason);
	end(&q);
}

static void a_reader_that_crashes_leaves_an_address_without_a_name(void)
{
#ifdef JAIL_SANITIZED
	fails_with(CRASH, -EBADMSG, "stopped: signal 9");
#else
	fails_with(CRASH, -EBADMSG, "stopped: signal 11, Segmentation fault");
#endif
}

/* A reader keeps a limit that is lower than its own one of 20 s, which expect_no_rights() compares.
 * With TRACE_TEST_LONG it takes these 20 s. */
static void a_reader_without_end_is_stopped(void)
{
	struct rusage used;
	struct rlimit whole, low;

	CU_ASSERT_EQUAL(getrlimit(RLIMIT_CPU, &whole), 0);
	CU_ASSERT_EQUAL(getrusage(RUSAGE_SELF, &used), 0);
	low = whole;
	if (!getenv("TRACE_TEST_LONG"))
		low.rlim_cur = (rlim_t)used.ru_utime.tv_sec + (rlim_t)used.ru_stime.tv_sec + 5;
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_CPU, &low), 0);
	fails_with(LOOP, -EBADMSG, "it took ");
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_CPU, &whole), 0);
}

#ifndef JAIL_SANITIZED
static void a_reader_that_takes_all_its_memory_leaves_an_address_without_a_name(void)
{
	fails_with(EAT_MEMORY, -EBADMSG, "too large");
}
#endif

static void a_reader_without_memory_is_no_hostile_file(void)
{
	fails_with(NO_MEMORY, -ENOMEM, "memory");
}

static void a_reader_that_closes_its_socket_and_stays_is_killed(void)
{
	fails_with(LEAVE, -EBADMSG, "stopped: signal 9");
}

static void an_impossible_answer_is_no_name(void)
{
	static const struct lie lies[] = {
		{.bytes = 1},
		{.bytes = HEAD_BYTES - 1},
		{.bytes = HEAD_BYTES},
		{.kind = 9, .bytes = HEAD_BYTES},
		{.kind = 1, .bytes = HEAD_BYTES + 1},
		{.kind = 1, .function_bytes = 4, .bytes = HEAD_BYTES + 3},
		{.kind = 1, .function_bytes = 4, .texts = "ab\0d", .bytes = HEAD_BYTES + 4},
		{.kind = 1, .function_bytes = 4, .source_bytes = UINT32_MAX - 3, .texts = "abcd", .bytes = HEAD_BYTES},
		{.kind = 1, .function_bytes = UINT32_MAX, .source_bytes = 5, .texts = "abcd", .bytes = HEAD_BYTES + 4},
		{.kind = 1, .function_bytes = 4, .texts = "abcd", .address = 5, .offset = 6, .bytes = HEAD_BYTES + 4},
		{.kind = 1, .address = 5, .offset = 5, .bytes = HEAD_BYTES},
		{.kind = 2, .function_bytes = 4, .texts = "abcd", .bytes = HEAD_BYTES + 4},
		{.kind = 4, .err = 4096, .bytes = HEAD_BYTES},
		{.kind = 1, .err = 2, .bytes = HEAD_BYTES},
	};

	for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		lie = lies[i];
		fails_with(LIE, -EBADMSG, "impossible answer");
	}
}

static void a_reader_that_crashes_in_the_lines_still_names_functions(void)
{
	struct questions q = begin(target, 1);

	trace_symbols_want_source(q.symbols, true);
	dwarf_sabotage = CRASH;
	expect_name(&q, 100, "pay");
	CU_ASSERT_STRING_EQUAL(ask(&q, 100, pay_offset()).source, "");
	CU_ASSERT_STRING_EQUAL(ask(&q, 100, pay_offset() + 1).function, "pay");
	CU_ASSERT_EQUAL(nr_children, 2);
	expect_error(&q, -EBADMSG, "source lines");
	end(&q);
}

/* Functions behind the damage have no inlined ones, and are not in the answer. */
static void damage_in_the_debug_information_is_told(void)
{
	struct questions q = begin(target, 2);

	trace_symbols_want_source(q.symbols, true);
	entries_read = 5;
	expect_name(&q, 100, "pay");
	expect_error(&q, -EBADMSG, "a part of its debug information is damaged");
	ask(&q, 100, pay_offset() + 1);
	CU_ASSERT_EQUAL(nr_children, 1); /* it is still asked, and told once */
	expect_error(&q, -EBADMSG, "damaged");
	end(&q);
	entries_read = 0;
	q = begin(target, 1);
	trace_symbols_want_source(q.symbols, true);
	expect_name(&q, 100, "pay");
	expect_error(&q, 0, NULL);
	end(&q);
}

/* ---- hostile files ---- */

static void nest(struct he *he, enum he_abbreviation what, unsigned int depth)
{
	for (unsigned int i = 0; i < depth; i++)
		he_entry(he, what);
	for (unsigned int i = 0; i < depth; i++)
		he_end(he);
}

static void debug_information_without_end_ends(void)
{
	const char *file = in_folder("nested");
	struct questions q;
	struct he he;

	he_begin(&he);
	nest(&he, HE_NAMESPACE, 200000);
	he_function(&he, 0);
	nest(&he, HE_BLOCK, 200000);
	he_end(&he);
	he_write(&he, file);
	q = begin(&file, 1);
	trace_symbols_want_source(q.symbols, true);
	for (uint64_t offset = 0; offset < 0x2000; offset += 64)
		CU_ASSERT_STRING_EQUAL(ask(&q, 100, offset).source, "");
	end(&q);
}

static void damaged_files_end_in_a_name_or_one_sentence(void)
{
	const char *file = in_folder("damaged");
	uint64_t random = 42;
	struct stat status;
	int step = unit_step(17);

	CU_ASSERT_EQUAL_FATAL(stat(PROBE_TARGET, &status), 0);
	for (int i = 0; i < 400; i += step) {
		struct questions q;
		int fd, result;

		copy_file(PROBE_TARGET, file);
		fd = open(file, O_WRONLY | O_CLOEXEC);
		for (int k = 0; k < 8; k++) {
			off_t at;
			unsigned char value;

			random = random * 6364136223846793005u + 1442695040888963407u;
			/* every second time one of the headers */
			at = (off_t)((random >> 20) % (i % 2 ? (uint64_t)status.st_size : 4096));
			at = i % 2 ? at : (k % 2 ? at : status.st_size - 1 - at);
			value = (unsigned char)(random >> 8);
			CU_ASSERT_EQUAL(pwrite(fd, &value, 1, at), 1);
		}
		close(fd);
		q = begin(&file, 1);
		trace_symbols_want_source(q.symbols, true);
		ask(&q, 100, pay_offset());
		ask(&q, 100, pay_offset() + 5);
		result = trace_symbols_error(q.symbols, NULL);
		CU_ASSERT(result == 0 || result == -EBADMSG);
		if (result != 0 && result != -EBADMSG)
			fprintf(stderr, "file %d: %d\n", i, result);
		end(&q);
	}
}

/* ---- the reader has no rights ---- */

static void the_reader_has_no_rights(void)
{
	struct questions q = begin(target, 1);

	expect_name(&q, 100, "pay");
	CU_ASSERT_EQUAL_FATAL(nr_children, 1);
	expect_no_rights(children[0], true);
	end(&q);
}

#ifndef JAIL_SANITIZED
static void without_a_filter_the_reader_drops_all_else(void)
{
	struct questions q = begin(target, 1);

	refuse_filter = true;
	expect_name(&q, 100, "pay");
	expect_error(&q, 0, NULL);
	expect_no_rights(children[0], false);
	end(&q);
}

static void the_reader_has_its_own_descriptors_only(void)
{
	struct questions q = begin(target, 1);
	char path[64], line[PATH_MAX];
	int open_ones[50];

	for (size_t i = 0; i < 50; i++)
		open_ones[i] = dup(STDERR_FILENO); /* inherited by every child */
	expect_name(&q, 100, "pay");
	for (int fd = 0; fd < 100; fd++) {
		ssize_t chars;

		snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int)children[0], fd);
		chars = readlink(path, line, sizeof(line) - 1);
		CU_ASSERT_EQUAL(chars > 0, fd >= JAIL_SOCKET && fd <= JAIL_SOCKET + 2);
	}
	for (size_t i = 0; i < 50; i++)
		close(open_ones[i]);
	end(&q);
}
#endif

static void without_fork_functions_have_no_names_and_the_reason_is_reported(void)
{
	struct questions q = begin(target, 1);

	refuse_fork = true;
	expect_name(&q, 100, "");
	expect_error(&q, -EBADMSG, "no process can be started to read it: Resource temporarily unavailable");
	end(&q);
}

/* ---- the caller ---- */

static unsigned int count_descriptors(void)
{
	unsigned int nr = 0;

	for (int fd = 0; fd < 1024; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

static void at_most_sixteen_readers_run_and_none_is_left(void)
{
	const char *files[MAX_FILES];
	unsigned int nr_running = 0, nr_descriptors = count_descriptors();
	struct questions q;
	char name[16];

	for (unsigned int i = 0; i < MAX_FILES; i++) {
		snprintf(name, sizeof(name), "copy%u", i);
		files[i] = in_folder(name);
		copy_file(PROBE_TARGET, files[i]);
	}
	q = begin(files, MAX_FILES);
	for (unsigned int i = 0; i < MAX_FILES; i++)
		expect_name(&q, 100 + i, "pay");
	CU_ASSERT_EQUAL(nr_children, MAX_FILES);
	for (unsigned int i = 0; i < MAX_FILES; i++)
		nr_running += kill(children[i], 0) == 0;
	CU_ASSERT_EQUAL(nr_running, 16);
	CU_ASSERT_STRING_EQUAL(ask(&q, 100, pay_offset() + 1).function, "pay"); /* its reader is started again */
	CU_ASSERT_EQUAL(nr_children, MAX_FILES + 1);
	expect_error(&q, 0, NULL);
	end(&q);
	CU_ASSERT_EQUAL(waitpid(-1, NULL, WNOHANG), -1);
	CU_ASSERT_EQUAL(errno, ECHILD);
	CU_ASSERT_EQUAL(count_descriptors(), nr_descriptors);
}

static void a_reader_is_replaced_after_ten_thousand_answers(void)
{
	struct questions q = begin(target, 1);

	for (uint64_t i = 0; i <= 10000; i++)
		ask(&q, 100, i);
	CU_ASSERT_EQUAL(nr_children, 2);
	for (uint64_t i = 0; i <= 10000; i++)
		ask(&q, 100, i);
	CU_ASSERT_EQUAL(nr_children, 2); /* the answers are kept */
	expect_name(&q, 100, "pay");
	expect_error(&q, 0, NULL);
	end(&q);
}

static void on_child(int number)
{
	int before = errno;

	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
	errno = before;
}

static void a_caller_that_ignores_or_takes_its_children_gets_the_names(void)
{
	void (*const handlers[])(int) = {SIG_IGN, on_child};

	for (size_t i = 0; i < 2; i++) {
		signal(SIGCHLD, handlers[i]);
		struct questions q = begin(target, 1);

		expect_name(&q, 100, "pay");
		expect_error(&q, 0, NULL);
		end(&q);
		fails_with(CRASH, -EBADMSG, "its exit status is not known");
		signal(SIGCHLD, SIG_DFL);
	}
}

static void a_fork_of_the_caller_has_readers_of_its_own(void)
{
	struct questions q = begin(target, 1);
	int status = -1;
	pid_t pid;

	expect_name(&q, 100, "pay");
	pid = fork();
	if (pid == 0) {
		bool good = !strcmp(ask(&q, 100, pay_offset() + 1).function, "pay") && nr_children == 2;

		trace_symbols_free(q.symbols);
		_exit(good ? 0 : 1);
	}
	CU_ASSERT_EQUAL(waitpid(pid, &status, 0), pid);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_STRING_EQUAL(ask(&q, 100, pay_offset() + 2).function, "pay");
	expect_error(&q, 0, NULL);
	CU_ASSERT_EQUAL(nr_children, 2);
	end(&q);
}

#ifndef JAIL_SANITIZED
static bool allocates; /* atomically */

static void *allocate(void *unused)
{
	while (__atomic_load_n(&allocates, __ATOMIC_RELAXED)) {
		void *some[64];

		for (size_t i = 0; i < 64; i++)
			some[i] = malloc(i * 100 + 1);
		for (size_t i = 0; i < 64; i++)
			free(some[i]);
	}
	return unused;
}

/* fork() in a thread's critical section of malloc() would leave the lock taken in the child. */
static void threads_that_allocate_stop_no_reader(void)
{
	pthread_t threads[3];

	__atomic_store_n(&allocates, true, __ATOMIC_RELAXED);
	for (size_t i = 0; i < 3; i++)
		CU_ASSERT_EQUAL_FATAL(pthread_create(&threads[i], NULL, allocate, NULL), 0);
	for (int i = 0; i < 50; i++) {
		struct questions q = begin(target, 1);

		expect_name(&q, 100, "pay");
		expect_error(&q, 0, NULL);
		end(&q);
	}
	__atomic_store_n(&allocates, false, __ATOMIC_RELAXED);
	for (size_t i = 0; i < 3; i++)
		pthread_join(threads[i], NULL);
}
#endif

/* A reader is not tied to the thread that started it. */
static void *ask_once(void *q)
{
	expect_name(q, 100, "pay");
	return NULL;
}

static void a_reader_survives_the_thread_that_asked_first(void)
{
	struct questions q = begin(target, 1);
	pthread_t thread;

	CU_ASSERT_EQUAL_FATAL(pthread_create(&thread, NULL, ask_once, &q), 0);
	pthread_join(thread, NULL);
	CU_ASSERT_STRING_EQUAL(ask(&q, 100, pay_offset() + 1).function, "pay");
	CU_ASSERT_EQUAL(nr_children, 1);
	expect_error(&q, 0, NULL);
	end(&q);
}

static const struct unit_case cases[] = {
	CASE(a_reader_that_crashes_leaves_an_address_without_a_name),
	CASE(a_reader_without_end_is_stopped),
#ifndef JAIL_SANITIZED
	CASE(a_reader_that_takes_all_its_memory_leaves_an_address_without_a_name),
#endif
	CASE(a_reader_without_memory_is_no_hostile_file),
	CASE(a_reader_that_closes_its_socket_and_stays_is_killed),
	CASE(an_impossible_answer_is_no_name),
	CASE(a_reader_that_crashes_in_the_lines_still_names_functions),
	CASE(damage_in_the_debug_information_is_told),
	CASE(debug_information_without_end_ends),
	CASE(damaged_files_end_in_a_name_or_one_sentence),
	CASE(the_reader_has_no_rights),
#ifndef JAIL_SANITIZED
	CASE(without_a_filter_the_reader_drops_all_else),
	CASE(the_reader_has_its_own_descriptors_only),
#endif
	CASE(without_fork_functions_have_no_names_and_the_reason_is_reported),
	CASE(at_most_sixteen_readers_run_and_none_is_left),
	CASE(a_reader_is_replaced_after_ten_thousand_answers),
	CASE(a_caller_that_ignores_or_takes_its_children_gets_the_names),
	CASE(a_fork_of_the_caller_has_readers_of_its_own),
#ifndef JAIL_SANITIZED /* their allocators may keep a lock in the child */
	CASE(threads_that_allocate_stop_no_reader),
#endif
	CASE(a_reader_survives_the_thread_that_asked_first),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	char command[128];
	int result;

	find_real_functions();
	if (!mkdtemp(folder))
		return 1;
	result = unit_main("symbols of hostile files", cases, argc, argv);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) ? 1 : result;
}
