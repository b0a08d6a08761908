/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_strace.c - system calls as strace(1) shows them: tracevisualizer --strace */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "builder.h"
#include "call_arguments.h"
#include "report_case.h"
#include "syscall_table.h"
#include "unit.h"
#include "visualizer.h"

static const char *const names[] = {
	[SYS_read] = "read",   [SYS_close] = "close", [SYS_sendmsg] = "sendmsg",      [SYS_recvmsg] = "recvmsg",
	[SYS_dup] = "dup",     [SYS_write] = "write", [SYS_openat] = "openat",	      [SYS_mmap] = "mmap",
	[SYS_fcntl] = "fcntl", [SYS_wait4] = "wait4", [SYS_exit_group] = "exit_group"};

/* Process 10 on CPU 0 and its thread 11 on CPU 1. */
static struct tb *make_two_threads(void)
{
	struct tb *tb = tb_new();

	for (uint64_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i])
			tb_string(tb, TRACE_STRING_SYSCALL, i, names[i]);
	tb_thread(tb, 10, 10, 1, "shop", 0, true);
	tb_thread(tb, 11, 10, 1, "worker", 1, true);
	return tb;
}

static void each_row_of_the_table_is_of_a_call_and_has_its_arguments(void)
{
	struct call_meaning call;
	const char *name;

	for (size_t i = 0; (name = call_meaning_name(i)); i++) {
		const struct syscall_row *row = syscall_row_find(name, false);

		CU_ASSERT(call_meaning_make(name, false, &call));
		CU_ASSERT_PTR_NOT_NULL_FATAL(row);
		if (call.nr_arguments != strlen(row->arguments))
			fprintf(stderr, "%s\n", name);
		CU_ASSERT_EQUAL(call.nr_arguments, strlen(row->arguments));
		for (unsigned int arg = 0; arg < call.nr_arguments; arg++) {
			bool is_memory = call.arguments[arg].kind == KIND_MEMORY ||
					 call.arguments[arg].kind == KIND_OTHER_MEMORY;

			CU_ASSERT_EQUAL(call.arguments[arg].kind == KIND_PATH, row->arguments[arg] == 'p');
			CU_ASSERT(is_memory || row->arguments[arg] != 'a');
		}
	}
}

static void a_call_that_another_thread_interrupts_is_two_lines(void)
{
	struct tb *tb = make_two_threads();
	char *text;

	tb_sys_enter(tb, 0, 1000, SYS_read, 3, 1, 100);
	tb_sys_enter(tb, 1, 2000, SYS_write, 1, 1, 5);
	tb_sys_exit(tb, 1, 3000, 5);
	tb_sys_exit(tb, 0, 4000, -11);
	text = report_of(tb, "--strace -fT");
	contains(text, "read(3,  <unfinished ...>\n");
	contains(text, "[pid    11] write(1, ..., 5)            = 5 <0.000001>\n");
	contains(text, "<... read resumed>..., 100) = -1 EAGAIN (Resource temporarily unavailable) <0.000003>\n");
	free(text);
}

static void flags_have_names_and_other_values_stay_numbers(void)
{
	struct tb *tb = make_two_threads();
	char *text;

	tb_sys_enter(tb, 0, 1000, SYS_openat, AT_FDCWD, 1, O_WRONLY | O_CREAT | 0x40000000, 0640);
	tb_sys_path(tb, 0, 1000, SYS_openat, "a\n\"file\"");
	tb_sys_exit(tb, 0, 2000, 3);
	tb_sys_enter(tb, 0, 3000, SYS_mmap, 0, 4096, 0, 0x22, -1, 0);
	tb_sys_exit(tb, 0, 4000, 0x7f0000000000);
	text = report_of(tb, "--strace");
	contains(text, "openat(AT_FDCWD, \"a\\n\\\"file\\\"\", O_WRONLY|O_CREAT|0x40000000, 0640) = 3\n");
	contains(text, "mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE|MAP_ANONYMOUS, -1, 0) = 0x7f0000000000\n");
	free(text);
}

static void commands_of_fcntl_their_arguments_and_results_have_names(void)
{
	static const struct {
		uint64_t command, argument;
		int64_t ret;
		const char *line;
	} calls[] = {{14, 0x1000, 0, "F_SETLKW64, 0x1000) = 0"},
		     {1024, 1, 0, "F_SETLEASE, F_WRLCK) = 0"},
		     {1024, 0xffffffff00000002, 0, "F_SETLEASE, F_UNLCK) = 0"},
		     {1024, 3, 0, "F_SETLEASE, 0x3) = 0"},
		     {1025, 0, 2, "F_GETLEASE)    = 0x2 (F_UNLCK)"},
		     {1026, 0x80000005, 0, "F_NOTIFY, DN_ACCESS|DN_CREATE|DN_MULTISHOT) = 0"},
		     {1027, 4, 1, "F_DUPFD_QUERY, 4) = 1"},
		     {1028, 0, 1, "F_CREATED_QUERY) = 1"},
		     {11, 0, 10, "F_GETSIG)      = 10 (SIGUSR1)"},
		     {11, 0, 0, "F_GETSIG)      = 0"},
		     {1030, 5, 7, "F_DUPFD_CLOEXEC, 5) = 7"}};
	struct tb *tb = make_two_threads();
	char *text, line[128];

	for (uint64_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		tb_sys_enter(tb, 0, 1000 + i * 100, SYS_fcntl, 3, calls[i].command, calls[i].argument);
		tb_sys_exit(tb, 0, 1050 + i * 100, calls[i].ret);
	}
	text = report_of(tb, "--strace -a24");
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		snprintf(line, sizeof(line), "fcntl(3, %s\n", calls[i].line);
		contains(text, line);
	}
	free(text);
}

static void a_set_chooses_calls_and_an_end_does(void)
{
	static const struct {
		const char *options;
		bool reads, writes;
	} cases[] = {{"-e read", true, false},
		     {"-e trace=write", false, true},
		     {"-e '!read'", false, true},
		     {"-e %desc", true, true},
		     {"-e %file", false, false},
		     {"-e /^wr/", false, true},
		     {"-e status=failed", true, false},
		     {"-z", false, true},
		     {"-Z", true, false},
		     {"-e read,%file", true, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tb *tb = make_two_threads();
		char options[64], *text;

		tb_sys_enter(tb, 0, 1000, SYS_read, 3, 1, 100);
		tb_sys_exit(tb, 0, 2000, -9);
		tb_sys_enter(tb, 0, 3000, SYS_write, 1, 1, 5);
		tb_sys_exit(tb, 0, 4000, 5);
		snprintf(options, sizeof(options), "--strace %s", cases[i].options);
		text = cases[i].reads || cases[i].writes ? report_of(tb, options) : refusal_of(tb, options);
		CU_ASSERT_EQUAL(strstr(text, "read(3") != NULL, cases[i].reads);
		CU_ASSERT_EQUAL(strstr(text, "write(1") != NULL, cases[i].writes);
		free(text);
	}
}

/*
 * Process 10 reads a file in 2 us, cannot open another one in 3 us, writes in 1 us and again in
 * 1 us, and exits; its thread 11 reads a descriptor that it does not have.
 */
static struct tb *make_letters(void)
{
	struct tb *tb = make_two_threads();
	struct {
		struct trace_sys_data data;
		char content[16];
	} payload = {{.argument = 1, .content = sizeof(payload.data) | 8 << 16, .bytes = 8}, "password"};

	tb_window(tb, 1000000, 9000000);
	tb_fd(tb, 10, 3, 1, 100, S_IFREG | 0644, "/etc/hosts");
	tb_sys_enter(tb, 0, 1500000, SYS_read, 3, 1, 100);
	tb_add(tb, 0, 1500000, sys_caller, NULL, .address = 0x401234);
	tb_sys_exit(tb, 0, 1502000, 100);
	tb_sys_enter(tb, 0, 2500000, SYS_openat, AT_FDCWD, 1, O_WRONLY);
	tb_sys_path(tb, 0, 2500000, SYS_openat, "/tmp/new");
	tb_sys_exit(tb, 0, 2503000, -2);
	for (uint64_t at = 3000000; at <= 3100000; at += 100000) {
		tb_sys_enter(tb, 0, at, SYS_write, 1, 1, 8);
		tb_event(tb, 0, at, TRACE_EV_sys_data, &payload, sizeof(payload), NULL);
		tb_sys_exit(tb, 0, at + 1000, 8);
	}
	tb_sys_enter(tb, 1, 4000000, SYS_read, 4, 1, 200);
	tb_sys_exit(tb, 1, 4001000, -9);
	tb_add(tb, 0, 5000000, sched_exit, NULL, .tid = 10, .tgid = 10, .code = 3 << 8);
	return tb;
}

/*
 * Each option makes a difference: the lines without it lack the text that it adds, or have the one
 * that it leaves out.
 */
static void each_letter_has_its_meaning(void)
{
	static const struct {
		const char *options, *has, *lacks;
	} cases[] = {{"-P /etc/hosts", "read(3, ", "openat("},
		     {"-P /etc/hosts", "read(3, ", "write("},
		     {"-P /tmp/new", "openat(", "read("},
		     {"-P /tmp/new -P /etc/hosts", "read(3, ", "write("},
		     {"--trace-path=/tmp/new", "openat(", "read("},
		     {"-y", "read(3</etc/hosts>, ..., 100)", NULL},
		     {"-yy", "read(3</etc/hosts>, ..., 100)", NULL},
		     {"--decode-fds", "read(3</etc/hosts>, ", NULL},
		     {"-t", "\n22:13:20 openat(", NULL},
		     {"-tt", "\n22:13:20.001500 openat(", NULL},
		     {"-t -t", "\n22:13:20.001500 openat(", NULL},
		     {"-ttt", "\n1700000000.001500 openat(", NULL},
		     {"-r", "\n     0.001000 openat(", NULL},
		     {"-rt", "\n     0.001000 22:13:20 openat(", NULL},
		     {"-z", "read(3, ", "openat("},
		     {"-Z", "openat(", "write("},
		     {"--status=failed", "openat(", "write("},
		     {"-e 'status=!failed'", "read(3, ", "openat("},
		     {"-T", "= 100 <0.000002>\n", NULL},
		     {"-n", "\n[ 257] openat(", NULL},
		     {"-q", "openat(", "+++"},
		     {"-p 11", "read(4, ..., 200)", "read(3"},
		     {"-p 10,11", "read(4, ..., 200)", NULL},
		     {"-fp10 -Y", "[pid    11<worker>] read(4, ", NULL},
		     {"-k", "\n > 0x401234\nopenat(", NULL},
		     {"-k --add-columns=on", "{on CPU 0}\n > 0x401234\nopenat(", NULL},
		     {"-a1", "read(3, ..., 100) = 100\n", NULL},
		     {"-s4", "write(1, \"pass\"..., 8)", "password"},
		     {"--add-columns=on,cpu", "= 100 {cpu 0.000002, on CPU 0}\n", NULL},
		     {"-C", "exited with 3 +++\n% time ", NULL},
		     {"-c", "% time ", "read(3"},
		     {"-cw -S calls", "2           write\n 28.57    0.000002           2         1           read\n",
		      NULL},
		     {"-cw -S name", "1 openat\n", "write\n 42.86"},
		     {"-cw -U name,max-time", "\nopenat    0.000003\n", "% time"}};
	char *plain = report_of(make_letters(), "--strace -p10");

	contains(plain, "write(1, \"password\", 8)                 = 8\n");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *has = cases[i].has, *lacks = cases[i].lacks;
		bool chooses = strstr(cases[i].options, "p 1") || strstr(cases[i].options, "p1");
		char options[96], *text;

		snprintf(options, sizeof(options), "--strace %s%s", chooses ? "" : "-p10 ", cases[i].options);
		text = report_of(make_letters(), options);
		contains(text, has);
		if (!strstr(text, has) || (lacks && strstr(text, lacks)))
			fprintf(stderr, "%s:\n%s", options, text);
		CU_ASSERT(!lacks || !strstr(text, lacks));
		CU_ASSERT(!strstr(plain, has) || (lacks && strstr(plain, lacks)));
		free(text);
	}
	free(plain);
	plain = report_of(make_letters(), "--strace -p10 -P /tmp/ne");
	CU_ASSERT_STRING_EQUAL(plain, "+++ exited with 3 +++\n");
	free(plain);
}

/* Descriptor @fd of process 10 is a socket with its number as inode. */
static void tb_socket(struct tb *tb, int fd, uint16_t family, uint16_t type, uint32_t protocol, const char *name)
{
	struct trace_start_socket sock = {
		.tgid = 10, .fd = fd, .ino = (uint64_t)fd, .family = family, .type = type, .protocol = protocol};

	if (family == AF_UNIX)
		sock.peer_ino = 4711;
	if (family == AF_INET || family == AF_INET6) {
		uint8_t local[16] = {[10] = 0xff, 0xff, 127, 0, 0, 1}, remote[16] = {[15] = 1};

		memcpy(&sock.local_hi, family == AF_INET ? local : remote, 16);
		memcpy(&sock.remote_hi, family == AF_INET ? local : remote, 16);
		sock.local_port = 80;
		sock.remote_port = family == AF_INET ? 4711 : 0;
	}
	tb_fd(tb, 10, fd, 9, (uint64_t)fd, S_IFSOCK, name);
	tb_start(tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
}

static struct tb *make_descriptors(void)
{
	static const uint64_t mask[4] = {~(1ull << TRACE_EV_sys_caller), ~0ull, ~0ull, ~0ull};
	struct tb *tb = make_two_threads();

	tb_window(tb, 1000000, 9000000);
	tb_fd(tb, 10, 3, 1, 100, S_IFREG | 0644, "/etc/hosts");
	tb_event(tb, 0, 1000000, TRACE_EV_trace_mask, mask, sizeof(mask), NULL);
	tb_fd(tb, 10, 8, 0, 777, S_IFIFO, "");
	tb_fd(tb, 10, 9, 0, 778, 0, "[eventfd]");
	tb_fd(tb, 10, 10, 0, 779, S_IFREG, "memfd:shared");
	tb_socket(tb, 20, AF_INET, SOCK_STREAM, IPPROTO_TCP, "TCP");
	tb_socket(tb, 21, AF_INET6, SOCK_DGRAM, IPPROTO_UDP, "socket:[21]");
	tb_socket(tb, 22, AF_UNIX, SOCK_STREAM, 0, "UNIX-STREAM");
	tb_socket(tb, 23, AF_NETLINK, SOCK_RAW, 0, "NETLINK");
	for (int fd = 8; fd < 24; fd += fd == 10 ? 10 : 1) {
		tb_sys_enter(tb, 0, 3200000 + (uint64_t)fd * 1000, SYS_close, fd, 0, 0);
		tb_sys_exit(tb, 0, 3200000 + (uint64_t)fd * 1000 + 500, 0);
	}
	tb_sys_enter(tb, 0, 3300000, SYS_dup, 3, 0, 0);
	tb_sys_exit(tb, 0, 3301000, 4);
	return tb;
}

/* close() is written when the descriptor is closed already, and dup() before the copy is known. */
static void a_descriptor_has_what_was_behind_it_at_the_entry(void)
{
	static const struct {
		const char *options, *has;
	} cases[] = {{"-y", "dup(3</etc/hosts>) "},
		     {"-y", "= 4</etc/hosts>\n"},
		     {"-y", "close(8<pipe:[777]>)"},
		     {"-y", "close(9<anon_inode:[eventfd]>)"},
		     {"-y", "close(10</memfd:shared>(deleted))"},
		     {"-y", "close(20<socket:[20]>)"},
		     {"-yy", "close(20<TCP:[127.0.0.1:80->127.0.0.1:4711]>)"},
		     {"-yy", "close(21<UDPv6:[[::1]:80]>)"},
		     {"-yy", "close(22<UNIX-STREAM:[22->4711]>)"},
		     {"-yy", "close(23<NETLINK:[23]>)"}};
	char options[64], *text;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(options, sizeof(options), "--strace -p10 %s", cases[i].options);
		text = report_of(make_descriptors(), options);
		contains(text, cases[i].has);
		free(text);
	}
}

/* The page was not in memory, or an anonymous copy lacks it: then only the size is known. */
/* The kernel writes the length of a name; strace also shows the one before. */
static void a_message_has_its_members_and_no_wrong_one(void)
{
	struct {
		struct trace_sys_data data;
		uint64_t members[7];
	} payload = {{.argument = 1, .content = sizeof(payload.data) | 56 << 16, .bytes = 56},
		     {0x1000, 16, 0x2000, 2, 0x3000, 24, MSG_CTRUNC}};
	struct tb *tb = make_two_threads();
	char *text;

	tb_window(tb, 1000000, 9000000);
	tb_sys_enter(tb, 0, 1500000, SYS_sendmsg, 3, 1, 0);
	tb_event(tb, 0, 1500000, TRACE_EV_sys_data, &payload, sizeof(payload), NULL);
	tb_sys_exit(tb, 0, 1501000, 8);
	tb_sys_enter(tb, 0, 1600000, SYS_recvmsg, 3, 1, 0);
	payload.data.written = 1;
	tb_event(tb, 0, 1600500, TRACE_EV_sys_data, &payload, sizeof(payload), NULL);
	tb_sys_exit(tb, 0, 1601000, 8);
	text = report_of(tb, "--strace -p10");
	contains(text, "sendmsg(3, {msg_name=..., msg_namelen=16, msg_iov=..., msg_iovlen=2, msg_control=..., "
		       "msg_controllen=24, msg_flags=MSG_CTRUNC}, 0) = 8\n");
	contains(text, "recvmsg(3, {msg_name=..., msg_namelen=..., msg_iov=..., msg_iovlen=2, msg_control=..., "
		       "msg_controllen=24, msg_flags=MSG_CTRUNC}, 0) = 8\n");
	free(text);
}

static void a_trace_without_callers_is_named_once(void)
{
	char *with = report_of(make_letters(), "--strace -p10 -k"),
	     *without = report_of(make_descriptors(), "--strace -p10 -k");
	const char *message = "-k: the trace has no addresses of the code that made the calls", *found;

	CU_ASSERT_PTR_NULL(strstr(with, message));
	contains(without, message);
	found = strstr(without, message);
	CU_ASSERT(found && !strstr(found + 1, message));
	free(with);
	free(without);
}

static void memory_without_content_is_not_empty(void)
{
	static const struct {
		uint64_t bytes;
		const char *line;
	} cases[] = {{0, "write(1, \"\", 0)                         = 0\n"},
		     {8, "write(1, ..., 8)                        = 8\n"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tb *tb = make_two_threads();
		char *text;

		tb_sys_enter(tb, 0, 1000, SYS_write, 1, 1, cases[i].bytes);
		tb_add(tb, 0, 1000, sys_data, NULL, .argument = 1, .content = sizeof(struct trace_sys_data),
		       .bytes = cases[i].bytes);
		tb_sys_exit(tb, 0, 2000, (int64_t)cases[i].bytes);
		text = report_of(tb, "--strace -p10");
		CU_ASSERT_STRING_EQUAL(text, cases[i].line);
		free(text);
	}
}

/* Reads and removes the file @path, or if @tid is not 0 the one of that thread. */
static void file_has(const char *path, unsigned int tid, const char *has, const char *lacks)
{
	char name[64], text[4096] = "";
	FILE *file;

	snprintf(name, sizeof(name), tid ? "%s.%u" : "%s", path, tid);
	file = fopen(name, "r");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	unlink(name);
	contains(text, has);
	CU_ASSERT_PTR_NULL(strstr(text, lacks));
}

static void the_output_is_one_file_or_one_for_each_thread(void)
{
	static const char *const separate[] = {"-ff", "--output-separately"};
	char path[] = "/tmp/strace_out_XXXXXX", options[96];
	int fd = mkstemp(path);

	close(fd);
	snprintf(options, sizeof(options), "--strace -p10 -f -o %s", path);
	free(report_of(make_letters(), options));
	file_has(path, 0, "\n11    read(4, ", "[pid");
	for (size_t i = 0; i < sizeof(separate) / sizeof(separate[0]); i++) {
		snprintf(options, sizeof(options), "--strace -p10 %s -o %s", separate[i], path);
		free(report_of(make_letters(), options));
		file_has(path, 10, "read(3, ", "read(4, ");
		file_has(path, 11, "read(4, ", "read(3, ");
		unlink(path);
	}
}

/* There is no room for a byte of the new files. */
static void a_disk_that_is_full_leaves_the_old_files_of_threads(void)
{
	char path[] = "/tmp/strace_out_XXXXXX", options[96], name[64], *text = NULL;
	struct rlimit old;
	FILE *file;

	close(mkstemp(path));
	snprintf(name, sizeof(name), "%s.10", path);
	file = fopen(name, "w");
	fputs("old\n", file);
	fclose(file);
	snprintf(options, sizeof(options), "--strace -p10 -ff -o %s", path);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	setrlimit(RLIMIT_FSIZE, &(struct rlimit){.rlim_cur = 0, .rlim_max = old.rlim_max});
	CU_ASSERT_EQUAL(run_on_trace(options, &text), 1);
	setrlimit(RLIMIT_FSIZE, &old);
	free(text);
	file_has(path, 10, "old\n", "read");
	unlink(path);
}

/* Old scripts have these options; structs are always in their short form. */
static void options_without_effect_are_accepted(void)
{
	static const char *const cases[] = {"-v",	"--no-abbrev",	  "-e abbrev=none",
					    "-e a=all", "-e verbose=all", "-e v=none"};
	char *plain = report_of(make_letters(), "--strace -p10");

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char options[96], *text;

		snprintf(options, sizeof(options), "--strace -p10 %s", cases[i]);
		text = report_of(make_letters(), options);
		CU_ASSERT_STRING_EQUAL(text, plain);
		free(text);
	}
	free(plain);
}

static void an_exit_has_its_status_and_the_table_its_calls(void)
{
	struct tb *tb = make_two_threads();
	char *text;

	tb_sys_enter(tb, 0, 1000, SYS_read, 3, 1, 100);
	tb_sys_exit(tb, 0, 2000, -9);
	tb_sys_enter(tb, 0, 3000, SYS_exit_group, 3);
	tb_add(tb, 0, 4000, sched_exit, NULL, .tid = 10, .tgid = 10, .code = 3 << 8);
	text = report_of(tb, "--strace -C -w -p10");
	contains(text, "read(3, ..., 100)                       = -1 EBADF (Bad file descriptor)\n");
	contains(text, "exit_group(3)                           = ?\n+++ exited with 3 +++\n");
	contains(text, "100.00    0.000001           1         1         1 read\n");
	CU_ASSERT_PTR_NULL(strstr(text, " exit_group\n"));
	free(text);
}

/* Memory of any content and of a length up to 1024 bytes */
static void add_any_memory(struct tb *tb, uint64_t ts_ns, uint8_t argument, bool written)
{
	static const uint32_t lengths[] = {0, 1, 4, 7, 8, 12, 16, 24, 64, 144, 300, 1024};
	uint32_t bytes = lengths[tb_random() % (sizeof(lengths) / sizeof(lengths[0]))];
	struct {
		struct trace_sys_data data;
		unsigned char content[1024];
	} payload = {
		.data = {.argument = argument, .written = written, .bytes = tb_random() % 2 ? bytes : tb_random()}};

	payload.data.content = sizeof(payload.data) | bytes << 16;
	for (uint32_t i = 0; i < bytes; i++)
		payload.content[i] = tb_random() % 3 ? (unsigned char)tb_random() : 0;
	tb_event(tb, 0, ts_ns, TRACE_EV_sys_data, &payload, sizeof(payload.data) + (bytes + 7) / 8 * 8, NULL);
}

static void add_any_call(struct tb *tb, uint64_t ts_ns, uint32_t nr)
{
	struct trace_sys_enter6 enter = {.nr = nr, .abi = tb_random() % 8 ? TRACE_ABI_NATIVE : TRACE_ABI_32};
	uint64_t *args = &enter.arg0;

	for (int i = 0; i < 6; i++)
		args[i] = tb_random() % 4 ? tb_random() % 70 : tb_random();
	tb_event(tb, 0, ts_ns, TRACE_EV_sys_enter6, &enter, sizeof(enter), NULL);
	for (uint8_t i = 0; i < 8; i++)
		add_any_memory(tb, ts_ns, i, false);
	for (uint8_t i = 0; i < 8; i++)
		add_any_memory(tb, ts_ns, i, true);
	tb_sys_exit(tb, 0, ts_ns + 1, tb_random() % 2 ? (int64_t)(tb_random() % 70) : (int64_t)tb_random());
}

/* Returns the number of lines of the file, which is removed. */
static size_t count_printable_lines(const char *path)
{
	FILE *file = fopen(path, "r");
	size_t lines = 0, others = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	for (int c; (c = getc(file)) != EOF;) {
		lines += c == '\n';
		others += c != '\n' && (c < ' ' || c > '~');
	}
	CU_ASSERT_EQUAL(others, 0);
	fclose(file);
	unlink(path);
	return lines;
}

static void any_memory_is_shown_in_one_printable_line(void)
{
	static const char *const choices[] = {"-yyY -s 2000", "-v -a 100 --add-columns=for,on"};

	for (size_t n = 0; n < sizeof(choices) / sizeof(choices[0]); n++) {
		char path[] = "/tmp/strace_out_XXXXXX", options[128];
		struct tb *tb = tb_new();
		uint64_t at_ns = 1000;
		size_t nr = 0;

		close(mkstemp(path));
		for (; call_meaning_name(nr); nr++) {
			tb_string(tb, TRACE_STRING_SYSCALL, nr, call_meaning_name(nr));
			tb_string(tb, TRACE_STRING_SYSCALL_32, nr, call_meaning_name(nr));
		}
		tb_thread(tb, 10, 10, 1, "shop", 0, true);
		for (int round = 0; round < 3; round++)
			for (uint32_t i = 0; i < nr; i++, at_ns += 10)
				add_any_call(tb, at_ns, i);
		snprintf(options, sizeof(options), "--strace %s -o %s", choices[n], path);
		free(report_of(tb, options));
		CU_ASSERT_EQUAL(count_printable_lines(path), 3 * nr);
	}
}

static void a_wrong_option_is_one_line(void)
{
	static const struct {
		const char *options, *message;
	} cases[] = {{"--strace -e raed", "'raed' is no system call; did you mean read?"},
		     {"--strace -e '/(/'", "'/(/' is not a regular expression between two /"},
		     {"--strace -e inject=read:error=EIO", "changes a running program"},
		     {"--strace -S tim", "\"tim\" is none of its words; did you mean"},
		     {"--strace -p one", "'one' is not a list of process ids"},
		     {"--strace -e signal=NONE", "'NONE' is no signal"},
		     {"--strace -ff", "name it with -o FILE"},
		     {"--strace -d", "--strace cannot be combined"},
		     {"--strac", "write --strace in full"},
		     {"--strace --add-columns=cpu,gpu", "\"gpu\" is none of its words"}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text, options[96];

		snprintf(options, sizeof(options), "%s", cases[i].options);
		CU_ASSERT_NOT_EQUAL(run_on_trace(options, &text), 0);
		contains(text, cases[i].message);
		CU_ASSERT_EQUAL(strchr(text, '\n'), text + strlen(text) - 1);
		free(text);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(each_row_of_the_table_is_of_a_call_and_has_its_arguments),
		CASE(a_call_that_another_thread_interrupts_is_two_lines),
		CASE(flags_have_names_and_other_values_stay_numbers),
		CASE(commands_of_fcntl_their_arguments_and_results_have_names),
		CASE(a_set_chooses_calls_and_an_end_does),
		CASE(each_letter_has_its_meaning),
		CASE(a_descriptor_has_what_was_behind_it_at_the_entry),
		CASE(a_message_has_its_members_and_no_wrong_one),
		CASE(a_trace_without_callers_is_named_once),
		CASE(memory_without_content_is_not_empty),
		CASE(the_output_is_one_file_or_one_for_each_thread),
		CASE(a_disk_that_is_full_leaves_the_old_files_of_threads),
		CASE(options_without_effect_are_accepted),
		CASE(an_exit_has_its_status_and_the_table_its_calls),
		CASE(any_memory_is_shown_in_one_printable_line),
		CASE(a_wrong_option_is_one_line),
		{NULL, NULL},
	};

	return report_main("strace", cases, argc, argv);
}
