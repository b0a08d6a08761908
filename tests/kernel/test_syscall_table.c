/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_syscall_table.c - the table of system calls (syscalls.def) says the same as the kernel: its
 * own descriptions are in events/syscalls of tracefs.
 *
 * Skipped (77) where tracefs cannot be mounted.
 */
#include <dirent.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <trace/tracer.h>
#include <unistd.h>
#include "syscall_table.h"
#include "unit.h"

#define MAX_FIELDS 6

/* tracefs names a call after its function in the kernel. */
static const struct {
	const char *function;
	const char *name;
} functions[] = {
	{"newfstat", "fstat"}, {"newlstat", "lstat"},	   {"newstat", "stat"},
	{"newuname", "uname"}, {"sendfile64", "sendfile"}, {"umount", "umount2"},
};

/* One argument in the kernel's words: "const char * filename". */
struct argument {
	char type[64];
	char name[32];
};

static char folder[] = "/tmp/syscall-table-XXXXXX";
static unsigned int nr_checked;

static const char *name_of(const char *function)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(functions[i].function, function) == 0)
			return functions[i].name;
	return function;
}

/* "	field:unsigned int fd;	offset:16; ..." */
static bool read_argument(const char *line, struct argument *ret_argument)
{
	const char *field = strstr(line, "field:"), *end = field ? strchr(field, ';') : NULL, *name = end;

	if (!end)
		return false;
	field += strlen("field:");
	while (name > field && name[-1] != ' ' && name[-1] != '*')
		name--;
	snprintf(ret_argument->type, sizeof(ret_argument->type), "%.*s", (int)(name - field), field);
	snprintf(ret_argument->name, sizeof(ret_argument->name), "%.*s", (int)(end - name), name);
	return strncmp(ret_argument->name, "common_", 7) != 0 && strcmp(ret_argument->name, "__syscall_nr") != 0;
}

static unsigned int read_arguments(const char *event, struct argument *ret_arguments)
{
	unsigned int nr = 0;
	char path[400], line[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/events/syscalls/%s/format", folder, event);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file) && nr < MAX_FIELDS)
		nr += read_argument(line, &ret_arguments[nr]);
	if (file)
		fclose(file);
	return nr;
}

static bool is_one_of(const char *name, const char *const *names)
{
	while (*names && strcmp(*names, name) != 0)
		names++;
	return *names;
}

static bool is_address(const struct argument *argument)
{
	static const char *const typedefs[] = {"cap_user_header_t ", "cap_user_data_t ", "const cap_user_data_t ",
					       NULL};

	return strchr(argument->type, '*') || is_one_of(argument->type, typedefs);
}

static bool is_descriptor(const struct argument *argument)
{
	static const char *const names[] = {"fd",	  "dfd",       "olddfd",    "newdfd", "fd_in",	  "fd_out",
					    "ufd",	  "epfd",      "oldfd",	    "newfd",  "fdin",	  "fdout",
					    "out_fd",	  "in_fd",     "pidfd",	    "fs_fd",  "group_fd", "mqdes",
					    "mountdirfd", "from_dfd",  "to_dfd",    "fildes", "max_fd",	  "fanotify_fd",
					    "ruleset_fd", "kernel_fd", "initrd_fd", NULL};

	return !is_address(argument) && is_one_of(argument->name, names);
}

/* Numbers of bytes have one of these names, or the type size_t. */
static bool may_be_bytes(const struct argument *argument)
{
	static const char *const names[] = {"len",	"length",      "size",	   "usize",   "count",	   "nbytes",
					    "bufsiz",	"offset",      "pos",	   "off",     "old_len",   "new_len",
					    "addrlen",	"optlen",      "addr_len", "msg_len", "bytecount", "bufsize",
					    "rseq_len", "cmdline_len", NULL};

	return strstr(argument->type, "size_t") || is_one_of(argument->name, names);
}

/* A number of other things than bytes. */
static bool is_count(const struct argument *argument)
{
	static const char *const names[] = {"vlen", "nr_mnt_ids", NULL};

	return is_one_of(argument->name, names);
}

static bool agrees(char kind, char next, const struct argument *argument)
{
	switch (kind) {
	case 'a':
		return is_address(argument);
	case 'p':
		return strstr(argument->type, "char *");
	case 'd':
		return is_descriptor(argument) && next == 'p';
	case 'f':
		return is_descriptor(argument);
	case 'n':
		return may_be_bytes(argument);
	case 'x':
		return !is_address(argument) && (strstr(argument->name, "flag") || strcmp(argument->name, "cmd") == 0);
	case 'm':
		return is_address(argument) || strstr(argument->type, "unsigned long");
	default:
		return !is_address(argument) && !is_descriptor(argument) && !strstr(argument->name, "flag") &&
		       (!strstr(argument->type, "size_t") || is_count(argument));
	}
}

static void check_call(const char *event)
{
	const char *name = name_of(event + strlen("sys_enter_"));
	const struct syscall_row *row = syscall_row_find(name, false);
	struct argument arguments[MAX_FIELDS + 1];
	unsigned int nr = read_arguments(event, arguments);

	nr_checked++;
	if (!row || strlen(row->arguments) != nr) {
		printf("\n    %s: the kernel has %u arguments, the table \"%s\"", name, nr,
		       row ? row->arguments : "(none)");
		CU_FAIL("the table has the call with as many arguments as the kernel");
		return;
	}
	for (unsigned int i = 0; i < nr; i++)
		if (!agrees(row->arguments[i], row->arguments[i + 1], &arguments[i])) {
			printf("\n    %s: '%c' for %s%s", name, row->arguments[i], arguments[i].type,
			       arguments[i].name);
			CU_FAIL("an argument is what the kernel says");
		}
}

static void the_table_agrees_with_every_call_of_the_kernel(void)
{
	char path[200];
	struct dirent *entry;
	DIR *events;

	snprintf(path, sizeof(path), "%s/events/syscalls", folder);
	events = opendir(path);
	CU_ASSERT_PTR_NOT_NULL_FATAL(events);
	while ((entry = readdir(events)))
		if (strncmp(entry->d_name, "sys_enter_", 10) == 0)
			check_call(entry->d_name);
	closedir(events);
	CU_ASSERT(nr_checked > 300);
}

/* 32-bit programs pass 64-bit numbers in two registers, and have calls of their own. */
static void calls_of_32_bit_programs_have_their_own_arguments(void)
{
	static const struct {
		const char *name, *native, *compat;
	} calls[] = {
		{"read", "fan", "fan"},
		{"pread64", "fann", "fan--"},
		{"mmap", "mn-xfn", "a"},
		{"select", "-mmma", "a"},
		{"fanotify_mark", "fx-dp", "fx--dp"},
		{"stat64", NULL, "pa"},
		{"ftruncate64", NULL, "f--"},
		{"waitpid", NULL, "-a-"},
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		const struct syscall_row *native = syscall_row_find(calls[i].name, false),
					 *compat = syscall_row_find(calls[i].name, true);

		CU_ASSERT_PTR_NOT_NULL_FATAL(compat);
		CU_ASSERT_STRING_EQUAL(compat->arguments, calls[i].compat);
		CU_ASSERT_EQUAL(!native, !calls[i].native);
		if (native && calls[i].native)
			CU_ASSERT_STRING_EQUAL(native->arguments, calls[i].native);
	}
}

/* This kernel may be built without a call that another one has. No kernel has those of @none. */
static void every_call_with_a_number_is_in_the_table(void)
{
	static const char *const none[] = {"_sysctl",
					   "afs_syscall",
					   "bdflush",
					   "break",
					   "create_module",
					   "epoll_ctl_old",
					   "epoll_wait_old",
					   "ftime",
					   "get_kernel_syms",
					   "getpmsg",
					   "gtty",
					   "idle",
					   "lock",
					   "mpx",
					   "nfsservctl",
					   "prof",
					   "profil",
					   "putpmsg",
					   "query_module",
					   "security",
					   "stty",
					   "tuxcall",
					   "ulimit",
					   "vserver",
					   NULL};
	unsigned int nr_calls = 0;

	for (unsigned int nr = 0; nr < 512; nr++)
		for (uint32_t abi = 0; abi < 2; abi++) {
			const char *name = tracer_syscall_name(abi ? TRACE_ABI_32 : TRACE_ABI_NATIVE, nr);
			bool is_area = name && !abi && strstr(name, "et_thread_area"); /* of 32-bit programs */

			if (!name || is_area || is_one_of(name, none))
				continue;
			nr_calls++;
			if (syscall_row_find(name, abi))
				continue;
			printf("\n    %s call %u: %s", abi ? "32-bit" : "native", nr, name);
			CU_FAIL("the table has the call");
		}
	CU_ASSERT(nr_calls > 600);
}

static void new_calls_have_a_name_without_headers(void)
{
	CU_ASSERT_STRING_EQUAL(syscall_name_of(455), "futex_wait");
	CU_ASSERT_STRING_EQUAL(syscall_name_of(469), "file_setattr");
	CU_ASSERT_PTR_NULL(syscall_name_of(1500));
	CU_ASSERT_PTR_NULL(syscall_name_of(UINT64_MAX));
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(the_table_agrees_with_every_call_of_the_kernel),
		CASE(calls_of_32_bit_programs_have_their_own_arguments),
		CASE(every_call_with_a_number_is_in_the_table),
		CASE(new_calls_have_a_name_without_headers),
		{NULL, NULL},
	};
	int result;

	if (unshare(CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) || !mkdtemp(folder) ||
	    mount("none", folder, "tracefs", 0, NULL)) {
		rmdir(folder);
		return 77;
	}
	result = unit_main("table of system calls", cases, argc, argv);
	umount(folder);
	rmdir(folder);
	return result;
}
