/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_probes_hostile.c - programs of another user: their debug information must not harm the
 * reader, and the reader must not harm its caller. The timeout of ctest detects a hang.
 */
#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jail.h"
#include "regular.h"
#include "../../tracer/kernel/probe_answer.h"
#include "../../tracer/kernel/probe_dwarf.h"
#include "../../tracer/kernel/probe_elf.h"
#include "../../tracer/kernel/probe_files.h"
#include "../../tracer/kernel/probe_reader.h"
#include "../../tracer/kernel/probe_spec.h"
#include "hostile_elf.h"
#include "jail_case.h"
#include "probe_opener.h"

static char folder[] = "/tmp/test_probes_hostile.XXXXXX";

static const char *in_folder(const char *name)
{
	static char paths[4][256];
	static unsigned int next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
	return path;
}

/* ---- questions of a user ---- */

static int ask(const char *path, const char *rest, struct trace_error *ret_error)
{
	struct trace_probes *probes = trace_probes_new();
	char spec[512];
	int result;

	*ret_error = (struct trace_error){0};
	snprintf(spec, sizeof(spec), "%s:%s", path, rest);
	result = trace_probes_add(probes, spec, ret_error);
	trace_probes_free(probes);
	CU_ASSERT(!result == !ret_error->message[0]);
	CU_ASSERT_PTR_NULL(strchr(ret_error->message, '\n'));
	return result;
}

static int list(const char *path, struct trace_error *ret_error)
{
	FILE *out = fopen("/dev/null", "we");
	char target[512];
	int result;

	*ret_error = (struct trace_error){0};
	snprintf(target, sizeof(target), "%s:*", path);
	result = trace_probes_list(target, out, ret_error);
	fclose(out);
	return result;
}

static void expect(int result, int wanted, const struct trace_error *error)
{
	CU_ASSERT_EQUAL(result, wanted);
	if (result != wanted)
		fprintf(stderr, "%d instead of %d: %s\n", result, wanted, error->message);
}

/* ---- debug information without end ---- */

static void nest(struct he *he, enum he_abbreviation what, unsigned int depth)
{
	for (unsigned int i = 0; i < depth; i++)
		he_entry(he, what);
	for (unsigned int i = 0; i < depth; i++)
		he_end(he);
}

static void namespaces_in_each_other_end(void)
{
	struct trace_error error;
	struct he he;

	he_begin(&he);
	nest(&he, HE_NAMESPACE, 200000);
	he_write(&he, in_folder("namespaces"));
	expect(list(in_folder("namespaces"), &error), 1, &error);
	expect(ask(in_folder("namespaces"), "f x", &error), -ENOTSUP, &error);
}

/* An 8-byte type for x. */
static uint32_t put_struct(struct he *he, const char *name)
{
	uint32_t type = he_here(he);

	he_entry(he, HE_STRUCT);
	he_text(he, name);
	he_byte(he, 8);
	return type;
}

static void put_member(struct he *he, const char *name, uint32_t type)
{
	he_entry(he, *name ? HE_MEMBER : HE_NAMELESS);
	if (*name)
		he_text(he, name);
	he_type(he, type);
	he_byte(he, 0);
}

static void blocks_in_each_other_end(void)
{
	struct trace_error error;
	struct he he;
	uint32_t type;

	he_begin(&he);
	type = put_struct(&he, "s");
	put_member(&he, "m", type);
	he_end(&he);
	he_function(&he, type);
	nest(&he, HE_BLOCK, 200000);
	he_end(&he);
	he_write(&he, in_folder("blocks"));
	expect(ask(in_folder("blocks"), "f x.nosuch", &error), -EINVAL, &error);
	/* the parameter was found nevertheless */
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "members: m"));
}

static void a_string_that_contains_itself_is_no_string(void)
{
	struct trace_error error;
	struct he he;
	uint32_t type;

	he_begin(&he);
	type = put_struct(&he, "basic_string<char>");
	put_member(&he, "_M_dataplus", type);
	put_member(&he, "_M_p", type);
	he_end(&he);
	he_function(&he, type);
	he_end(&he);
	he_write(&he, in_folder("string"));
	expect(ask(in_folder("string"), "f x", &error), -EINVAL, &error);
}

/* The last byte of the section is a letter. AddressSanitizer stops a reader that reads on. */
static void a_name_without_end_ends_with_its_section(void)
{
	struct trace_error error;
	struct he he;

	he_begin(&he);
	he_function(&he, 0);
	he_entry(&he, HE_PARAMETER);
	he_text(&he, "nameless");
	he.cut = 2; /* the end of the name and that of the unit */
	he_write(&he, in_folder("name"));
	expect(ask(in_folder("name"), "f another", &error), -EINVAL, &error);
}

static void a_typedef_of_itself_is_no_type(void)
{
	struct trace_error error;
	struct he he;
	uint32_t type;

	he_begin(&he);
	type = he_here(&he);
	he_entry(&he, HE_TYPEDEF);
	he_type(&he, type);
	he_function(&he, type);
	he_end(&he);
	he_write(&he, in_folder("typedef"));
	expect(ask(in_folder("typedef"), "f x", &error), -EINVAL, &error);
	expect(ask(in_folder("typedef"), "f $params", &error), 0, &error);
}

/*
 * The search descends into nameless members. 40 members of the struct's own type would be 40^8 =
 * 6.5 * 10^12 members in eight levels.
 */
static void a_struct_of_nameless_structs_of_its_own_type_is_searched_for_a_while(void)
{
	struct trace_error error;
	struct he he;
	uint32_t type;

	he_begin(&he);
	type = put_struct(&he, "s");
	for (int i = 0; i < 40; i++)
		put_member(&he, "", type);
	he_end(&he);
	he_function(&he, type);
	he_end(&he);
	he_write(&he, in_folder("nameless"));
	expect(ask(in_folder("nameless"), "f x.nosuch", &error), -EINVAL, &error);
}

/* ---- files that are not regular ---- */

static void write_linked(const char *path, const char *debuglink, const char *altlink)
{
	struct he he;

	he_begin(&he);
	he.debuglink = debuglink;
	he.altlink = altlink;
	he_write(&he, path);
}

static void what_is_no_regular_file_is_not_opened(void)
{
	static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/tty", "/"};
	struct trace_error error;

	CU_ASSERT_EQUAL(mkfifo(in_folder("fifo"), 0600), 0);
	CU_ASSERT_EQUAL(regular_open(in_folder("fifo")), -EINVAL);
	for (size_t i = 0; i < sizeof(devices) / sizeof(devices[0]); i++) {
		CU_ASSERT(regular_open(devices[i]) < 0);
		CU_ASSERT(ask(devices[i], "f", &error) < 0);
	}
	CU_ASSERT(ask(in_folder("fifo"), "f", &error) < 0);
	CU_ASSERT_EQUAL(symlink("/dev/zero", in_folder("device")), 0);
	CU_ASSERT_EQUAL(regular_open(in_folder("device")), -EINVAL);
}

/* The FIFO has no writer: a reader that opened it would wait until the timeout of ctest. */
static void a_debug_file_that_is_a_fifo_or_a_device_is_left_out(void)
{
	struct trace_error error;

	CU_ASSERT_EQUAL(mkfifo(in_folder("fifo.debug"), 0600), 0);
	write_linked(in_folder("linked"), "fifo.debug", NULL);
	expect(list(in_folder("linked"), &error), 1, &error);
	expect(ask(in_folder("linked"), "f x", &error), -ENOTSUP, &error);
	CU_ASSERT_EQUAL(symlink("/dev/zero", in_folder("zero.debug")), 0);
	write_linked(in_folder("linked"), "zero.debug", NULL);
	expect(list(in_folder("linked"), &error), 1, &error);
	write_linked(in_folder("linked"), "linked", NULL); /* links to itself */
	expect(list(in_folder("linked"), &error), 1, &error);
	write_linked(in_folder("linked"), NULL, in_folder("fifo.debug"));
	expect(list(in_folder("linked"), &error), 1, &error);
	write_linked(in_folder("linked"), NULL, "fifo.debug");
	expect(list(in_folder("linked"), &error), 1, &error);
}

/* CRC-32, bit by bit. */
static uint32_t checksum_of(const char *path)
{
	FILE *file = fopen(path, "re");
	uint32_t crc = UINT32_MAX;
	int byte;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	while ((byte = fgetc(file)) != EOF) {
		crc ^= (uint32_t)byte;
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	fclose(file);
	return ~crc;
}

static void write_debug(const char *path, const char *member)
{
	struct he he;
	uint32_t type;

	he_begin(&he);
	type = he_here(&he);
	he_entry(&he, HE_STRUCT);
	he_text(&he, "s");
	he_byte(&he, 8);
	he_entry(&he, HE_MEMBER);
	he_text(&he, member);
	he_type(&he, type);
	he_byte(&he, 0);
	he_end(&he);
	he_function(&he, type);
	he_end(&he);
	he_write(&he, path);
}

/* The program was built again, and a file of the same name is of the build before. */
static void a_debug_file_with_another_checksum_is_not_read(void)
{
	struct trace_error error;
	struct he he;

	CU_ASSERT_EQUAL(mkdir(in_folder(".debug"), 0700), 0);
	write_debug(in_folder("f.debug"), "old");
	write_debug(in_folder(".debug/f.debug"), "new");
	for (int step = 0; step < 3; step++) {
		he_begin(&he);
		he.debuglink = "f.debug";
		he.checksum = checksum_of(in_folder(step == 0 ? "f.debug" : ".debug/f.debug")) + (step == 2);
		he_write(&he, in_folder("linked"));
		expect(ask(in_folder("linked"), "f x", &error), step == 2 ? -ENOTSUP : -EINVAL, &error);
		CU_ASSERT_EQUAL(strstr(error.message, "name a member: old") != NULL, step == 0);
		CU_ASSERT_EQUAL(strstr(error.message, "name a member: new") != NULL, step == 1);
		expect(list(in_folder("linked"), &error), 1, &error);
	}
}

static void names_of_debug_files_lead_to_no_other_folder(void)
{
	static const struct {
		enum probe_related which;
		const char *name;
	} refused[] = {
		{PROBE_FILE_DEBUG_LINK, "../../etc/passwd"},
		{PROBE_FILE_DEBUG_LINK, "/etc/passwd"},
		{PROBE_FILE_DEBUG_LINK, ".."},
		{PROBE_FILE_DEBUG_LINK, ""},
		{PROBE_FILE_DEBUG_ID, "../../../etc/passwd"},
		{PROBE_FILE_DEBUG_ID, "ab/../cd"},
		{PROBE_FILE_DEBUG_ID, "abc"},
		{PROBE_FILE_DEBUG_ID, ""},
		{PROBE_FILE_ALT_PATH, "/etc/passwd"},
		{PROBE_FILE_ALT_PATH, "../../etc/passwd"},
		{PROBE_FILE_ALT_PATH, "/usr/lib/debug/../../../etc/passwd"},
		{PROBE_FILE_ALT_ID, "/etc/passwd"},
	};
	struct probe_files files = {.path = in_folder("linked")};

	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		CU_ASSERT(probe_files_open(&files, refused[i].which, refused[i].name) < 0);
	CU_ASSERT_EQUAL(probe_files_open(&files, PROBE_FILE_DEBUG_LINK, "../../etc/passwd"), -EPERM);
	CU_ASSERT_EQUAL(probe_files_open(&files, PROBE_FILE_ALT_PATH, "/etc/passwd"), -EPERM);
}

/* ---- files that change ---- */

static int count_symbol(void *context, const struct probe_symbol *symbol)
{
	++*(unsigned int *)context;
	return 0;
}

/* Reads in this process, so that SIGBUS would end the test. The file is cut before each step. */
static void a_file_that_is_cut_while_it_is_read_is_damaged_at_most(void)
{
	const char *path = in_folder("cut");
	struct trace_error error;

	for (int step = 0; step < 4; step++) {
		struct direct_opener direct = direct_opener(path);
		struct probe_scope scope;
		unsigned int nr = 0;
		struct probe_elf elf;

		copy_file(PROBE_TARGET, path);
		CU_ASSERT_EQUAL_FATAL(probe_elf_open_by(&elf, path, &direct.opener, &error), 0);
		if (step == 0)
			CU_ASSERT_EQUAL(truncate(path, 100), 0);
		probe_elf_functions(&elf, count_symbol, &nr);
		if (step == 1)
			CU_ASSERT_EQUAL(truncate(path, 100), 0);
		probe_elf_dwarf(&elf);
		if (step == 2)
			CU_ASSERT_EQUAL(truncate(path, 100), 0);
		probe_scope_open(&elf, 0x1200, &scope);
		probe_scope_close(&scope);
		probe_elf_functions(&elf, count_symbol, &nr);
		probe_elf_close(&elf);
	}
}

static void a_file_that_is_cut_and_grows_all_the_time_stops_no_reader(void)
{
	const char *path = in_folder("cut");
	struct trace_error error;
	pid_t pid;

	copy_file(PROBE_TARGET, path);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;) {
			if (truncate(path, 100))
				_exit(1);
			copy_file(PROBE_TARGET, path);
		}
	}
	for (int i = 0; i < 100; i++) {
		list(path, &error);
		CU_ASSERT_PTR_NULL(strstr(error.message, "signal"));
		ask(path, "pay $params", &error);
		CU_ASSERT_PTR_NULL(strstr(error.message, "signal"));
	}
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void damaged_files_end_in_an_answer_or_one_sentence(void)
{
	static const char *const questions[] = {"pay $params", "*", "pay%scope order->items[1].name $retval", "0x1234"};
	struct trace_error error;
	unsigned char *bytes;
	uint64_t random = 42;
	struct stat status;
	int fd, step = unit_step(7);

	copy_file(PROBE_TARGET, in_folder("damaged"));
	fd = open(in_folder("damaged"), O_RDWR | O_CLOEXEC);
	CU_ASSERT_EQUAL_FATAL(fstat(fd, &status), 0);
	bytes = malloc((size_t)status.st_size);
	CU_ASSERT_EQUAL(pread(fd, bytes, (size_t)status.st_size, 0), status.st_size);
	for (int i = 0; i < 400; i += step) {
		off_t places[8];

		for (int k = 0; k < 8; k++) {
			unsigned char value;

			random = random * 6364136223846793005u + 1442695040888963407u;
			places[k] = (off_t)((random >> 20) % (uint64_t)status.st_size);
			value = (unsigned char)(random >> 8);
			CU_ASSERT_EQUAL(pwrite(fd, &value, 1, places[k]), 1);
		}
		list(in_folder("damaged"), &error);
		ask(in_folder("damaged"), questions[i % 4], &error);
		CU_ASSERT_PTR_NULL(strstr(error.message, "answer is invalid"));
		for (int k = 0; k < 8; k++)
			CU_ASSERT_EQUAL(pwrite(fd, bytes + places[k], 1, places[k]), 1);
	}
	free(bytes);
	close(fd);
}

/* Set the first character of the text @from, wherever the file has it, to @value. */
static void damage_text(const char *path, const char *from, char value)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	struct stat status;
	char *bytes;

	CU_ASSERT_EQUAL_FATAL(fstat(fd, &status), 0);
	bytes = malloc((size_t)status.st_size);
	CU_ASSERT_EQUAL(pread(fd, bytes, (size_t)status.st_size, 0), status.st_size);
	for (char *at = bytes; (at = memmem(at, (size_t)(bytes + status.st_size - at), from, strlen(from) + 1)); at++)
		CU_ASSERT_EQUAL(pwrite(fd, &value, 1, at - bytes), 1);
	free(bytes);
	close(fd);
}

static void a_symbol_with_any_character_gets_a_valid_event_name(void)
{
	struct trace_error error;

	copy_file(PROBE_TARGET, in_folder("characters"));
	for (int value = 1; value < 256; value++) {
		damage_text(in_folder("characters"), value == 1 ? "pay" : (char[]){(char)(value - 1), 'a', 'y', '\0'},
			    (char)value);
		expect(ask(in_folder("characters"), "*", &error), 0, &error);
	}
}

/* ---- the reader has no rights ---- */

static int take_nothing(void *context, struct probe_record *record, uint64_t file_bytes, struct trace_error *ret_error)
{
	return 0;
}

static int run_reader(int (*read)(void *context, struct probe_opener *opener, struct probe_answer *answer,
				  struct trace_error *ret_error),
		      int (*take)(void *context, struct probe_record *record, uint64_t file_bytes,
				  struct trace_error *ret_error),
		      void *context, struct trace_error *ret_error)
{
	const struct probe_reading reading = {.read = read, .take = take, .context = context};

	*ret_error = (struct trace_error){0};
	return probe_reader_run(PROBE_TARGET, &reading, ret_error);
}

/*
 * Answers with the pid of the reader, and then asks for a file. The caller inspects the process
 * before it replies, so the reader is still alive.
 */
static int report_pid(void *context, struct probe_opener *opener, struct probe_answer *answer,
		      struct trace_error *ret_error)
{
	char pid[16];

	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	probe_answer_row(answer, pid, "");
	close(opener->open(opener, PROBE_FILE_SELF, ""));
	return 0;
}

static int look_at_status(void *context, struct probe_record *record, uint64_t file_bytes,
			  struct trace_error *ret_error)
{
	char pid[16], rest[16];
#ifndef JAIL_SANITIZED
	char text[8192];
#endif

	CU_ASSERT_EQUAL(probe_record_row(record, pid, sizeof(pid), rest, sizeof(rest)), 0);
	expect_no_rights((pid_t)atoi(pid), true);
#ifndef JAIL_SANITIZED
	read_proc((pid_t)atoi(pid), "limits", text, sizeof(text));
	expect_line(text, "\nMax address space ", "2147483648 ");
#endif
	++*(int *)context;
	return 0;
}

static void the_reader_has_no_rights(void)
{
	struct trace_error error;
	int seen = 0;

	expect(run_reader(report_pid, look_at_status, &seen, &error), 0, &error);
	CU_ASSERT_EQUAL(seen, 1);
}

#ifndef JAIL_SANITIZED
static void report_refusal(struct probe_answer *answer, const char *name, long result)
{
	if (result != -1 || errno != EPERM)
		probe_answer_row(answer, name, strerror(errno));
}

/* Answers with each system call that the filter does not refuse. */
static int try_calls(void *context, struct probe_opener *opener, struct probe_answer *answer,
		     struct trace_error *ret_error)
{
	char *const arguments[] = {NULL};
	char bytes[8] = "";

	report_refusal(answer, "open", syscall(SYS_open, "/etc/passwd", O_RDONLY));
	report_refusal(answer, "openat", syscall(SYS_openat, AT_FDCWD, "/etc/passwd", O_RDONLY));
	report_refusal(answer, "socket", syscall(SYS_socket, AF_INET, SOCK_STREAM, 0));
	report_refusal(answer, "execve", syscall(SYS_execve, "/bin/true", arguments, arguments));
	report_refusal(answer, "ptrace", syscall(SYS_ptrace, PTRACE_TRACEME, 0, 0, 0));
	report_refusal(answer, "fork", syscall(SYS_fork));
	report_refusal(answer, "clone", syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0));
	report_refusal(answer, "bpf", syscall(SYS_bpf, 0, bytes, sizeof(bytes)));
	report_refusal(answer, "write", syscall(SYS_write, JAIL_SOCKET, bytes, sizeof(bytes)));
	report_refusal(answer, "kill", syscall(SYS_kill, getppid(), 0));
	report_refusal(answer, "tgkill", syscall(SYS_tgkill, 1, 1, 0));
	report_refusal(answer, "mmap of a file", (long)mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, JAIL_SOCKET, 0));
	report_refusal(answer, "mmap of code",
		       (long)mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	report_refusal(answer, "mprotect of code",
		       mprotect((void *)((uintptr_t)bytes & ~4095ul), 4096, PROT_READ | PROT_WRITE | PROT_EXEC));
	report_refusal(answer, "stat", syscall(SYS_newfstatat, AT_FDCWD, "/etc/passwd", bytes, 0));
	report_refusal(answer, "x32", syscall(0x40000000 | SYS_getpid));
	return 0;
}

static int refuse_row(void *context, struct probe_record *record, uint64_t file_bytes, struct trace_error *ret_error)
{
	char name[64], reason[128];

	probe_record_row(record, name, sizeof(name), reason, sizeof(reason));
	fprintf(stderr, "%s is not refused: %s\n", name, reason);
	++*(int *)context;
	return 0;
}

static void the_reader_can_only_read(void)
{
	struct trace_error error;
	int allowed = 0;

	expect(run_reader(try_calls, refuse_row, &allowed, &error), 0, &error);
	CU_ASSERT_EQUAL(allowed, 0);
}
#endif

/* ---- the reader stops, or is hijacked ---- */

static int crash(void *context, struct probe_opener *opener, struct probe_answer *answer, struct trace_error *ret_error)
{
	probe_answer_row(answer, "half", "");
	raise(SIGKILL); /* the filter refuses this */
	syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGSEGV);
	return 0;
}

static int loop(void *context, struct probe_opener *opener, struct probe_answer *answer, struct trace_error *ret_error)
{
	for (volatile unsigned int i = 0;; i++)
		;
	return 0;
}

static int quit(void *context, struct probe_opener *opener, struct probe_answer *answer, struct trace_error *ret_error)
{
	_exit(0);
}

static void expect_stop(int (*read)(void *, struct probe_opener *, struct probe_answer *, struct trace_error *),
			const char *reason)
{
	struct trace_error error;

	expect(run_reader(read, take_nothing, NULL, &error), -EBADMSG, &error);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, reason));
	if (!strstr(error.message, reason))
		fprintf(stderr, "%s\n", error.message);
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, PROBE_TARGET ": its debug information cannot be read"));
	CU_ASSERT_PTR_NOT_NULL(strstr(error.message, "objcopy --strip-debug"));
	CU_ASSERT_PTR_NULL(strchr(error.message, '\n'));
}

static void a_reader_that_stops_is_reported_in_one_sentence(void)
{
	struct rlimit limits, low;

	expect_stop(crash, "the reader stopped: signal ");
	expect_stop(quit, "the reader stopped: it gave up with status 0");
	getrlimit(RLIMIT_CPU, &limits);
	low = limits;
	low.rlim_cur = 1; /* inherited by the reader, with CPU time from 0 */
	signal(SIGXCPU, SIG_IGN);
	setrlimit(RLIMIT_CPU, &low);
	expect_stop(loop, "s of CPU time");
	setrlimit(RLIMIT_CPU, &limits);
	signal(SIGXCPU, SIG_DFL);
}

/* A packet as a hijacked reader might send it. */
struct packet {
	unsigned char bytes[8192];
	size_t used;
};

static void put(struct packet *packet, const void *from, size_t bytes)
{
	memcpy(packet->bytes + packet->used, from, bytes);
	packet->used += bytes;
}

static void put_head(struct packet *packet, uint32_t kind, uint32_t bytes)
{
	put(packet, &kind, sizeof(kind));
	put(packet, &bytes, sizeof(bytes));
}

static void put_number(struct packet *packet, uint64_t value)
{
	put(packet, &value, sizeof(value));
}

static void put_text(struct packet *packet, const char *text)
{
	uint16_t chars = (uint16_t)strlen(text);

	put(packet, &chars, sizeof(chars));
	put(packet, text, chars);
}

/**
 * struct bad_entry - a probe with one number out of range
 * @at, @value: a byte of the argument and its value; -1: none
 */
struct bad_entry {
	uint64_t offset, semaphore, at_return, role, nr, kind, is_signed, bytes;
	int at;
	unsigned char value;
	const char *name;
};

static const struct trace_probe_argument honest = {.start = TRACE_PROBE_REGISTER, .base = 14, .load_bytes = 8};

static struct packet packet_of(const struct bad_entry *entry)
{
	struct packet content = {.used = 0}, packet = {.used = 0};
	unsigned char argument[sizeof(honest)];

	memcpy(argument, &honest, sizeof(honest));
	if (entry->at >= 0)
		argument[entry->at] = entry->value;
	put_text(&content, entry->name);
	put_text(&content, "doc");
	put_text(&content, "source");
	put_text(&content, "f");
	put_number(&content, entry->offset);
	put_number(&content, entry->semaphore);
	put_number(&content, entry->at_return);
	put_number(&content, entry->role);
	put_number(&content, entry->nr);
	for (uint64_t i = 0; i < entry->nr && i < 40; i++) {
		put_text(&content, "x");
		put_number(&content, entry->kind);
		put_number(&content, entry->is_signed);
		put_number(&content, entry->bytes);
		put(&content, argument, sizeof(argument));
	}
	put_head(&packet, PROBE_RECORD_ENTRY, (uint32_t)content.used);
	put(&packet, content.bytes, content.used);
	return packet;
}

static int take_entry(const struct bad_entry *entry)
{
	struct packet packet = packet_of(entry);
	const unsigned char *at = packet.bytes;
	struct trace_probes *probes = trace_probes_new();
	struct trace_error error;
	struct probe_record record;
	struct probe_spec spec;
	int result;

	CU_ASSERT_EQUAL(probe_spec_parse("p:f", false, &spec, &error), 0);
	CU_ASSERT_TRUE(probe_record_next(&at, packet.bytes + packet.used, &record));
	result = probe_record_entry(&record, probes, &spec, "p", 1000, &error);
	if (!result)
		CU_ASSERT_EQUAL(trace_probes_get(probes, 0)->nr_arguments, entry->nr);
	trace_probes_free(probes);
	return result;
}

/* A bad entry initializes a member a second time, after HONEST. */
#pragma GCC diagnostic ignored "-Woverride-init"
#ifdef __clang__
#pragma clang diagnostic ignored "-Winitializer-overrides"
#endif
#define HONEST	   .nr = 1, .kind = TRACE_KIND_DEC, .bytes = 8, .at = -1, .name = "p:f"
#define AT(member) (int)offsetof(struct trace_probe_argument, member)

static void every_number_of_an_answer_is_checked(void)
{
	static const struct bad_entry honest_one = {HONEST};
	/* clang-format off */
	static const struct bad_entry bad_entries[] = {
		{HONEST, .offset = 1000}, {HONEST, .offset = UINT64_MAX}, {HONEST, .semaphore = 1000},
		{HONEST, .at_return = 1}, {HONEST, .at_return = 2},
		{HONEST, .role = TRACE_ROLE_BEGIN}, {HONEST, .role = 200},
		{HONEST, .nr = TRACE_PROBE_MAX_ARGUMENTS + 1},
		{HONEST, .nr = UINT64_MAX}, {HONEST, .kind = TRACE_KIND_STRING},
		{HONEST, .kind = TRACE_KIND_COMM}, {HONEST, .kind = 255}, {HONEST, .kind = 1u << 20},
		{HONEST, .is_signed = 2}, {HONEST, .bytes = 0},
		{HONEST, .bytes = 3}, {HONEST, .bytes = 9}, {HONEST, .bytes = 255}, {HONEST, .name = "nocolon"},
		{HONEST, .name = ""}, {HONEST, .name = "p:a b"},
		{HONEST, .at = AT(start), .value = 4}, {HONEST, .at = AT(shape), .value = 3},
		{HONEST, .at = AT(shape), .value = TRACE_PROBE_STRING},
		{HONEST, .at = AT(base), .value = 21}, {HONEST, .at = AT(index), .value = 31},
		{HONEST, .at = AT(scale), .value = 4},
		{HONEST, .at = AT(nr_loads), .value = 8}, {HONEST, .at = AT(load_bytes), .value = 0},
		{HONEST, .at = AT(load_bytes), .value = 16},
		{HONEST, .at = AT(is_signed), .value = 2}, {HONEST, .at = AT(shift_left), .value = 64},
		{HONEST, .at = AT(shift_right), .value = 255},
		{HONEST, .at = AT(max_bytes) + 1, .value = 255},
	};
	/* clang-format on */

	CU_ASSERT_EQUAL(take_entry(&honest_one), 0);
	for (size_t i = 0; i < sizeof(bad_entries) / sizeof(bad_entries[0]); i++) {
		int result = take_entry(&bad_entries[i]);

		CU_ASSERT_EQUAL(result, -EBADMSG);
		if (result != -EBADMSG)
			fprintf(stderr, "bad entry %zu: %d\n", i, result);
	}
}

static void a_probe_that_is_cut_off_anywhere_is_refused(void)
{
	static const struct bad_entry honest_one = {HONEST};
	struct packet packet = packet_of(&honest_one);
	struct trace_error error;
	struct probe_spec spec;

	CU_ASSERT_EQUAL(probe_spec_parse("p:f", false, &spec, &error), 0);
	for (size_t bytes = 0; bytes < packet.used; bytes++) {
		struct trace_probes *probes = trace_probes_new();
		unsigned char *copy = malloc(bytes + 1); /* AddressSanitizer detects reads beyond */
		const unsigned char *at = copy;
		struct probe_record record;
		uint32_t content = (uint32_t)(bytes - 8);

		memcpy(copy, packet.bytes, bytes);
		CU_ASSERT_FALSE(probe_record_next(&at, copy + bytes, &record));
		CU_ASSERT_EQUAL(record.bad, bytes > 0);
		if (bytes >= 8) {
			memcpy(copy + 4, &content, sizeof(content));
			CU_ASSERT_TRUE(probe_record_next(&at, copy + bytes, &record));
			CU_ASSERT_EQUAL(probe_record_entry(&record, probes, &spec, "p", 1000, &error), -EBADMSG);
		}
		free(copy);
		trace_probes_free(probes);
	}
}

static void a_text_of_an_answer_has_no_control_characters(void)
{
	struct packet packet = {.used = 0};
	const unsigned char *at = packet.bytes;
	struct probe_record record;
	char left[16], right[16];

	put_head(&packet, PROBE_RECORD_ROW, 4 + 6 + 3);
	put_text(&packet, "a\x1b[2J\x7f");
	put_text(&packet, "b\nc");
	CU_ASSERT_TRUE(probe_record_next(&at, packet.bytes + packet.used, &record));
	CU_ASSERT_EQUAL(probe_record_row(&record, left, sizeof(left), right, sizeof(right)), 0);
	CU_ASSERT_STRING_EQUAL(left, "a?[2J?");
	CU_ASSERT_STRING_EQUAL(right, "b?c");
	at = packet.bytes;
	probe_record_next(&at, packet.bytes + packet.used, &record);
	CU_ASSERT_EQUAL(probe_record_row(&record, left, 4, right, sizeof(right)), -EBADMSG);
}

static int send_raw(void *context, struct probe_opener *opener, struct probe_answer *answer,
		    struct trace_error *ret_error)
{
	memcpy(answer->packet, context, 8);
	answer->used = 8;
	probe_answer_flush(answer);
	return 0;
}

static int flood(void *context, struct probe_opener *opener, struct probe_answer *answer, struct trace_error *ret_error)
{
	char text[4096];

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	while (!answer->failed)
		probe_answer_row(answer, text, text);
	return 0;
}

static int ask_without_end(void *context, struct probe_opener *opener, struct probe_answer *answer,
			   struct trace_error *ret_error)
{
	while (opener->open(opener, PROBE_FILE_DEBUG_LINK, "nosuch") == -ENOENT)
		;
	return 0;
}

static void an_answer_without_end_or_form_is_refused(void)
{
	static uint32_t kinds[][2] = {{0, 0},
				      {99, 0},
				      {PROBE_RECORD_ROW, 1000},
				      {PROBE_RECORD_ERROR, 0},
				      {PROBE_RECORD_FILE, 0},
				      {PROBE_RECORD_ENTRY, 0xffffffff}};
	struct trace_error error;

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		expect(run_reader(send_raw, take_nothing, kinds[i], &error), -EBADMSG, &error);
	expect(run_reader(flood, take_nothing, NULL, &error), -E2BIG, &error);
	expect(run_reader(ask_without_end, take_nothing, NULL, &error), -EBADMSG, &error);
}

static const struct unit_case cases[] = {
	CASE(namespaces_in_each_other_end),
	CASE(blocks_in_each_other_end),
	CASE(a_string_that_contains_itself_is_no_string),
	CASE(a_name_without_end_ends_with_its_section),
	CASE(a_typedef_of_itself_is_no_type),
	CASE(a_struct_of_nameless_structs_of_its_own_type_is_searched_for_a_while),
	CASE(what_is_no_regular_file_is_not_opened),
	CASE(a_debug_file_that_is_a_fifo_or_a_device_is_left_out),
	CASE(a_debug_file_with_another_checksum_is_not_read),
	CASE(names_of_debug_files_lead_to_no_other_folder),
	CASE(a_file_that_is_cut_while_it_is_read_is_damaged_at_most),
	CASE(a_file_that_is_cut_and_grows_all_the_time_stops_no_reader),
	CASE(damaged_files_end_in_an_answer_or_one_sentence),
	CASE(a_symbol_with_any_character_gets_a_valid_event_name),
	CASE(the_reader_has_no_rights),
#ifndef JAIL_SANITIZED
	CASE(the_reader_can_only_read),
#endif
	CASE(a_reader_that_stops_is_reported_in_one_sentence),
	CASE(every_number_of_an_answer_is_checked),
	CASE(a_probe_that_is_cut_off_anywhere_is_refused),
	CASE(a_text_of_an_answer_has_no_control_characters),
	CASE(an_answer_without_end_or_form_is_refused),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	char command[128];
	int result;

	if (!mkdtemp(folder))
		return 1;
	result = unit_main("probes of hostile programs", cases, argc, argv);
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command) ? 1 : result;
}
