/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "strace_values.h"
#include <inttypes.h>
#include <string.h>
#include "kernel_numbers.h"
#include "linux_names.h"
#include "strace_descriptors.h"
#include "strace_structs.h"
#include "syscall_arguments.h"
#include "value_text.h"

#define MAX_ERRNO      4095
#define FIRST_REALTIME 32u
#define O_CREATES      (value_number_find("open_flags", "O_CREAT"))
#define NAME_BYTES     4096u

/* ---- numbers ---- */

static void put_hex(struct string *s, uint64_t value)
{
	if (value)
		string_addf(s, "0x%" PRIx64, value);
	else
		string_add(s, "0");
}

static void put_octal(struct string *s, uint64_t value)
{
	string_addf(s, "%#03" PRIo64, value);
}

static void put_address(struct string *s, uint64_t value)
{
	if (!value)
		string_add(s, "NULL");
	else if (value == TRACE_ARG_ADDRESS)
		string_add(s, "...");
	else
		string_addf(s, "0x%" PRIx64, value);
}

/* ---- names ---- */

static const char *choice_name(const struct value_set *set, uint64_t value)
{
	for (size_t i = 0; set && i < set->nr_values; i++)
		if (set->values[i].number == value)
			return set->values[i].name;
	return NULL;
}

static void put_choice(struct string *s, const struct value_set *set, uint64_t value)
{
	const char *name = choice_name(set, value);

	if (name)
		string_add(s, name);
	else
		put_hex(s, value);
}

void strace_put_choice(struct string *s, const char *set, uint64_t value)
{
	put_choice(s, value_set_find(set, strlen(set)), value);
}

/* Bits with names, and the rest of them as a number. @before: other bits are written already */
static void put_bits_behind(struct string *s, const struct value_set *set, uint64_t value, bool before)
{
	for (size_t i = 0; set && i < set->nr_values; i++) {
		uint64_t number = set->values[i].number;

		if (!number || (value & number) != number)
			continue;
		string_addf(s, "%s%s", before ? "|" : "", set->values[i].name);
		before = true;
		value &= ~number;
	}
	if (value) {
		string_add(s, before ? "|" : "");
		put_hex(s, value);
	}
}

static void put_bits(struct string *s, const struct value_set *set, uint64_t value)
{
	const char *zero = value ? NULL : choice_name(set, 0);

	if (value)
		put_bits_behind(s, set, value, false);
	else
		string_add(s, zero ? zero : "0");
}

void strace_put_bits(struct string *s, const char *set, uint64_t value)
{
	put_bits(s, value_set_find(set, strlen(set)), value);
}

static void put_open_flags(struct string *s, const struct value_set *set, uint64_t value)
{
	static const char *const modes[] = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"};

	string_add(s, modes[value & 3]);
	put_bits_behind(s, set, value & ~3ull, true);
}

void strace_put_signal(struct string *s, uint64_t signal)
{
	const char *name = linux_signal_name(signal);

	if (name)
		string_addf(s, "SIG%s", name);
	else if (signal == FIRST_REALTIME)
		string_add(s, "SIGRTMIN");
	else if (signal > FIRST_REALTIME && signal <= 64)
		string_addf(s, "SIGRT_%u", (unsigned int)(signal - FIRST_REALTIME));
	else
		string_addf(s, "%" PRIu64, signal);
}

/* ---- processes ---- */

static void put_name(struct string *s, const char *name)
{
	char harmless[NAME_BYTES];

	string_addf(s, "<%s>", text_name(name, harmless, sizeof(harmless)));
}

void strace_put_pid(struct string *s, const struct strace_names *names, int64_t pid)
{
	const struct trace_thread *thread = NULL;

	string_addf(s, "%" PRId64, pid);
	if (names->choice->comms && pid > 0)
		thread = trace_find_thread(names->analysis, (uint32_t)pid);
	if (thread && *trace_thread_comm(thread))
		put_name(s, trace_thread_comm(thread));
}

/* ---- text ---- */

static void put_character(struct string *s, unsigned char c, bool is_digit_next)
{
	static const char letters[] = "\\\\\"\"\nn\tt\rr\vv\ff";

	for (const char *at = letters; *at; at += 2)
		if ((unsigned char)*at == c) {
			string_addf(s, "\\%c", at[1]);
			return;
		}
	if (c >= ' ' && c < 127)
		string_addf(s, "%c", c);
	else
		string_addf(s, is_digit_next ? "\\%03o" : "\\%o", c);
}

void strace_put_text(struct string *s, const void *bytes, size_t nr, size_t limit, bool is_cut)
{
	const unsigned char *at = bytes;
	size_t shown = nr < limit ? nr : limit;

	string_add(s, "\"");
	for (size_t i = 0; i < shown; i++)
		put_character(s, at[i], i + 1 < shown && at[i + 1] >= '0' && at[i + 1] <= '7');
	string_add(s, shown < nr || is_cut ? "\"..." : "\"");
}

/* ---- arguments that depend on others ---- */

static uint64_t argument(const struct strace_call *call, unsigned int idx)
{
	return idx < call->nr_args ? call->args[idx] : 0;
}

static void put_clone_flags(struct string *s, uint64_t flags)
{
	uint64_t signal = flags & 0xff, rest = flags & ~0xffull;

	if (rest || !signal)
		strace_put_bits(s, "clone_flags", rest);
	if (signal) {
		string_add(s, rest ? "|" : "");
		strace_put_signal(s, signal);
	}
}

/* clone() of x86-64: flags, stack, parent_tid, child_tid, tls; each is shown if the flags use it */
static void put_clone(struct string *s, const struct strace_call *call)
{
	uint64_t flags = argument(call, 0);

	string_add(s, "child_stack=");
	put_address(s, argument(call, 1));
	string_add(s, ", flags=");
	put_clone_flags(s, flags);
	if (flags & (value_number_find("clone_flags", "CLONE_PARENT_SETTID") |
		     value_number_find("clone_flags", "CLONE_PIDFD"))) {
		string_add(s, ", parent_tid=");
		put_address(s, argument(call, 2));
	}
	if (flags & value_number_find("clone_flags", "CLONE_SETTLS")) {
		string_add(s, ", tls=");
		put_address(s, argument(call, 4));
	}
	if (flags & (value_number_find("clone_flags", "CLONE_CHILD_SETTID") |
		     value_number_find("clone_flags", "CLONE_CHILD_CLEARTID"))) {
		string_add(s, ", child_tidptr=");
		put_address(s, argument(call, 3));
	}
}

static bool is_command_of_fcntl(const char *command, const char *const *names, size_t nr)
{
	for (size_t i = 0; command && i < nr; i++)
		if (!strcmp(names[i], command))
			return true;
	return false;
}

static bool put_fcntl(struct string *s, const struct strace_names *names, const struct strace_call *call,
		      uint64_t value)
{
	const char *command = value_name_find("fcntl_cmd", argument(call, 1));
	static const char *const without[] = {"F_GETFD",    "F_GETFL",	    "F_GETOWN",	   "F_GETSIG",
					      "F_GETLEASE", "F_GETPIPE_SZ", "F_GET_SEALS", "F_CREATED_QUERY"};

	if (is_command_of_fcntl(command, without, sizeof(without) / sizeof(without[0])))
		return false;
	string_add(s, ", ");
	if (command && !strcmp(command, "F_SETFD"))
		strace_put_bits(s, "fd_flags", value);
	else if (command && !strcmp(command, "F_SETFL"))
		put_open_flags(s, value_set_find("open_flags", strlen("open_flags")), (uint32_t)value);
	else if (command && !strcmp(command, "F_ADD_SEALS"))
		strace_put_bits(s, "seals", value);
	else if (command && !strcmp(command, "F_SETSIG"))
		strace_put_signal(s, value);
	else if (command && !strcmp(command, "F_SETLEASE"))
		strace_put_choice(s, "lock_types", (uint32_t)value);
	else if (command && !strcmp(command, "F_NOTIFY"))
		strace_put_bits(s, "dir_events", (uint32_t)value);
	else if (command && !strcmp(command, "F_DUPFD_QUERY"))
		strace_put_fd(s, names, (int)value);
	else if (command && (!strncmp(command, "F_DUPFD", 7) || !strcmp(command, "F_SETPIPE_SZ")))
		string_addf(s, "%d", (int)value);
	else if (command && !strcmp(command, "F_SETOWN"))
		strace_put_pid(s, names, (int32_t)value);
	else
		put_hex(s, value);
	return true;
}

#define FUTEX_PRIVATE 128u
#define FUTEX_CLOCK   256u
#define FUTEX_COMMAND 127u

enum { FUTEX_VAL2 = 3, FUTEX_ADDRESS2 = 4, FUTEX_VAL3 = 5 };

/* The arguments behind the third that a command uses: bits of their numbers. */
static unsigned int futex_uses(unsigned int command)
{
	static const uint8_t uses[] = {
		[0] = 1 << FUTEX_VAL2,
		[3] = 1 << FUTEX_VAL2 | 1 << FUTEX_ADDRESS2,
		[4] = 1 << FUTEX_VAL2 | 1 << FUTEX_ADDRESS2 | 1 << FUTEX_VAL3,
		[5] = 1 << FUTEX_VAL2 | 1 << FUTEX_ADDRESS2 | 1 << FUTEX_VAL3,
		[6] = 1 << FUTEX_VAL2,
		[9] = 1 << FUTEX_VAL2 | 1 << FUTEX_VAL3,
		[10] = 1 << FUTEX_VAL3,
		[11] = 1 << FUTEX_VAL2 | 1 << FUTEX_ADDRESS2,
		[12] = 1 << FUTEX_VAL2 | 1 << FUTEX_ADDRESS2 | 1 << FUTEX_VAL3,
		[13] = 1 << FUTEX_VAL2,
	};

	return command < sizeof(uses) ? uses[command] : 1 << FUTEX_VAL2 | 1 << FUTEX_ADDRESS2 | 1 << FUTEX_VAL3;
}

static bool futex_is_wait(unsigned int command)
{
	return command == 0 || command == 6 || command == 9 || command == 11 || command == 13;
}

static bool put_futex(struct string *s, const struct strace_call *call, unsigned int idx)
{
	unsigned int command = argument(call, 1) & FUTEX_COMMAND;
	uint64_t value = argument(call, idx);

	if (idx == 2 && (command == 7 || command == 8 || command == 6 || command == 13))
		return false;
	if (idx > 2 && !(futex_uses(command) >> idx & 1))
		return false;
	string_add(s, ", ");
	if (idx == FUTEX_VAL3 && (command == 9 || command == 10) && (uint32_t)value == UINT32_MAX)
		string_add(s, "FUTEX_BITSET_MATCH_ANY");
	else if (idx == FUTEX_VAL3 && command != 4)
		put_hex(s, (uint32_t)value);
	else if (idx == FUTEX_ADDRESS2 || (idx == FUTEX_VAL2 && futex_is_wait(command)))
		put_address(s, value);
	else
		string_addf(s, "%u", (uint32_t)value);
	return true;
}

static void put_futex_op(struct string *s, uint64_t value)
{
	const char *name = value_name_find("futex_op", value & FUTEX_COMMAND);

	if (!name || value & ~(uint64_t)(FUTEX_PRIVATE | FUTEX_CLOCK | FUTEX_COMMAND)) {
		put_hex(s, value);
		return;
	}
	string_addf(s, "%s%s%s", name, value & FUTEX_PRIVATE ? "_PRIVATE" : "",
		    value & FUTEX_CLOCK ? "|FUTEX_CLOCK_REALTIME" : "");
}

#define SOCK_TYPE_MASK 0xfu

static void put_sock_type(struct string *s, uint64_t value)
{
	if (!value_name_find("sock_types", value & SOCK_TYPE_MASK)) {
		put_hex(s, value);
		return;
	}
	strace_put_choice(s, "sock_types", value & SOCK_TYPE_MASK);
	if (value & ~(uint64_t)SOCK_TYPE_MASK) {
		const struct value_set *flags = value_set_find("sock_flags", strlen("sock_flags"));

		put_bits_behind(s, flags, value & ~(uint64_t)SOCK_TYPE_MASK, true);
	}
}

static void put_sock_protocol(struct string *s, const struct strace_call *call, uint64_t value)
{
	const char *family = value_name_find("sock_families", argument(call, 0)), *name = NULL;

	if (family && (!strcmp(family, "AF_INET") || !strcmp(family, "AF_INET6")))
		name = value_name_find("ip_protocols", value);
	else if (family && !strcmp(family, "AF_NETLINK"))
		name = value_name_find("netlink_protocols", value);
	if (name)
		string_add(s, name);
	else
		put_hex(s, value);
}

static void put_sockopt(struct string *s, const struct strace_call *call, uint64_t value)
{
	static const struct {
		const char *level, *set;
	} levels[] = {{"SOL_SOCKET", "sock_options"},
		      {"SOL_TCP", "tcp_options"},
		      {"SOL_IP", "ip_options"},
		      {"SOL_IPV6", "ipv6_options"}};
	const char *level = value_name_find("sock_levels", argument(call, 1));

	for (size_t i = 0; level && i < sizeof(levels) / sizeof(levels[0]); i++)
		if (!strcmp(levels[i].level, level)) {
			strace_put_choice(s, levels[i].set, value);
			return;
		}
	put_hex(s, value);
}

#define MAP_TYPE 0xfu

static void put_mmap_flags(struct string *s, uint64_t value)
{
	const struct value_set *set = value_set_find("mmap_flags", strlen("mmap_flags"));

	put_choice(s, set, value & MAP_TYPE);
	put_bits_behind(s, set, value & ~(uint64_t)MAP_TYPE, true);
	if (!(value & ~(uint64_t)MAP_TYPE))
		return;
}

#define FILE_TYPE_MASK 0170000u

static void put_file_mode(struct string *s, uint64_t value)
{
	const char *type = value_name_find("file_types", value & FILE_TYPE_MASK);

	if (type)
		string_addf(s, "%s|", type);
	put_octal(s, type ? value & ~(uint64_t)FILE_TYPE_MASK : value);
}

#define STATX_SYNC 0x6000u

static void put_statx_flags(struct string *s, uint64_t value)
{
	const struct value_set *set = value_set_find("statx_flags", strlen("statx_flags"));

	string_add(s, (value & STATX_SYNC) == 0x2000	   ? "AT_STATX_FORCE_SYNC"
		      : (value & STATX_SYNC) == 0x4000	   ? "AT_STATX_DONT_SYNC"
		      : (value & STATX_SYNC) == STATX_SYNC ? "AT_STATX_FORCE_SYNC|AT_STATX_DONT_SYNC"
							   : "AT_STATX_SYNC_AS_STAT");
	put_bits_behind(s, set, value & ~(uint64_t)STATX_SYNC, true);
}

static void put_ipc_flags(struct string *s, uint64_t value)
{
	const struct value_set *set = value_set_find("ipc_flags", strlen("ipc_flags"));
	uint64_t bits = value & ~0777ull;

	if (bits)
		put_bits_behind(s, set, bits, false);
	string_add(s, bits ? "|" : "");
	put_octal(s, value & 0777);
}

/* prctl(2): how many arguments a command has; of others all are shown */
static unsigned int prctl_arguments(const char *command)
{
	static const struct {
		const char *command;
		unsigned int nr;
	} known[] = {{"PR_GET_DUMPABLE", 0},
		     {"PR_SET_DUMPABLE", 1},
		     {"PR_GET_KEEPCAPS", 0},
		     {"PR_SET_KEEPCAPS", 1},
		     {"PR_SET_NAME", 1},
		     {"PR_GET_NAME", 1},
		     {"PR_SET_PDEATHSIG", 1},
		     {"PR_GET_PDEATHSIG", 1},
		     {"PR_CAPBSET_READ", 1},
		     {"PR_CAPBSET_DROP", 1},
		     {"PR_GET_TIMERSLACK", 0},
		     {"PR_SET_TIMERSLACK", 1},
		     {"PR_SET_CHILD_SUBREAPER", 1},
		     {"PR_GET_CHILD_SUBREAPER", 1},
		     {"PR_GET_SECCOMP", 0}};

	for (size_t i = 0; command && i < sizeof(known) / sizeof(known[0]); i++)
		if (!strcmp(known[i].command, command))
			return known[i].nr;
	return 4;
}

static bool put_prctl(struct string *s, const struct strace_call *call, unsigned int idx)
{
	const char *command = value_name_find("prctl_op", argument(call, 0));
	uint64_t value = argument(call, idx);

	if (idx > prctl_arguments(command))
		return false;
	string_add(s, ", ");
	if (command && !strcmp(command, "PR_SET_PDEATHSIG"))
		strace_put_signal(s, value);
	else if (value < 4096)
		string_addf(s, "%" PRIu64, value);
	else
		put_hex(s, value);
	return true;
}

static void put_device(struct string *s, uint64_t value)
{
	unsigned int major = (unsigned int)((value >> 8 & 0xfff) | (value >> 32 & ~0xfffu)),
		     minor = (unsigned int)((value & 0xff) | (value >> 12 & ~0xffu));

	string_addf(s, "makedev(0x%x, 0x%x)", major, minor);
}

static bool mknod_is_device(const struct strace_call *call, unsigned int idx)
{
	const char *type = value_name_find("file_types", argument(call, idx - 1) & FILE_TYPE_MASK);

	return type && (!strcmp(type, "S_IFCHR") || !strcmp(type, "S_IFBLK"));
}

/* The mode of open() has a meaning only if it creates a file. */
static bool open_creates(const struct strace_call *call, unsigned int idx)
{
	uint64_t flags = argument(call, idx - 1), unnamed = value_number_find("open_flags", "O_TMPFILE");

	return flags & O_CREATES || (flags & unnamed) == unnamed;
}

/* The new address of mremap() has a meaning only with some flags. */
static bool mremap_has_address(const struct strace_call *call)
{
	return strcmp(call->row->name, "mremap") != 0 ||
	       argument(call, 3) &
		       (value_number_find("mremap", "MREMAP_FIXED") | value_number_find("mremap", "MREMAP_DONTUNMAP"));
}

/* ---- arguments ---- */

static void put_bits_argument(struct string *s, const struct value_set *set, uint64_t value)
{
	if (!strcmp(set->name, "open_flags"))
		put_open_flags(s, set, (uint32_t)value);
	else if (!strcmp(set->name, "futex_op"))
		put_futex_op(s, (uint32_t)value);
	else if (!strcmp(set->name, "clone_flags"))
		put_bits(s, set, value);
	else
		put_bits(s, set, (uint32_t)value);
}

static void put_plain(struct string *s, const struct strace_names *names, const struct strace_call *call,
		      unsigned int idx, uint64_t value)
{
	const struct call_argument *kind = &call->row->arguments[idx];

	switch ((enum call_kind)kind->kind) {
	case KIND_UNSIGNED:
		string_addf(s, "%" PRIu64, value);
		break;
	case KIND_LONG:
		string_addf(s, "%" PRId64, (int64_t)value);
		break;
	case KIND_OCTAL:
	case KIND_MODE:
		put_octal(s, (uint32_t)value);
		break;
	case KIND_ADDRESS:
	case KIND_OTHER_MEMORY:
		put_address(s, value);
		break;
	case KIND_FD:
	case KIND_DIRECTORY:
		strace_put_fd_of(s, names, call, idx, (int32_t)value);
		break;
	case KIND_PID:
		strace_put_pid(s, names, (int32_t)value);
		break;
	case KIND_SIGNAL:
		strace_put_signal(s, (uint32_t)value);
		break;
	case KIND_DEVICE:
		put_device(s, value);
		break;
	case KIND_CHOICE:
		put_choice(s, kind->set, (uint32_t)value);
		break;
	case KIND_BITS:
		put_bits_argument(s, kind->set, value);
		break;
	case KIND_CLONE:
		put_clone(s, call);
		break;
	case KIND_SOCK_TYPE:
		put_sock_type(s, (uint32_t)value);
		break;
	case KIND_SOCK_PROTOCOL:
		put_sock_protocol(s, call, (uint32_t)value);
		break;
	case KIND_SOCKOPT:
		put_sockopt(s, call, (uint32_t)value);
		break;
	case KIND_MMAP_FLAGS:
		put_mmap_flags(s, (uint32_t)value);
		break;
	case KIND_MKNOD:
		put_file_mode(s, (uint32_t)value);
		break;
	case KIND_STATX_FLAGS:
		put_statx_flags(s, (uint32_t)value);
		break;
	case KIND_IPC_KEY:
		string_add(s, value ? "" : "IPC_PRIVATE");
		if (value)
			put_hex(s, (uint32_t)value);
		break;
	case KIND_IPC_FLAGS:
		put_ipc_flags(s, (uint32_t)value);
		break;
	case KIND_IPC_COMMAND:
		strace_put_choice(s, "sem_ctl", (uint32_t)value);
		break;
	case KIND_SIGNED:
		string_addf(s, "%d", (int32_t)value);
		break;
	default:
		put_hex(s, value);
	}
}

static void put_path(struct string *s, const struct strace_call *call, uint64_t value)
{
	size_t limit = 4096;

	if (call->path)
		strace_put_text(s, call->path, strlen(call->path), limit, false);
	else
		put_address(s, value);
}

bool strace_is_shown_later(const struct strace_call *call, unsigned int idx)
{
	const struct call_argument *kind = &call->row->arguments[idx];

	return (kind->kind == KIND_MEMORY && kind->is_written && !kind->is_read) ||
	       (kind->kind == KIND_PATH && !call->path && argument(call, idx));
}

bool strace_put_argument(struct string *s, const struct strace_names *names, const struct strace_call *call,
			 unsigned int idx, bool is_first)
{
	const struct call_argument *kind = &call->row->arguments[idx];
	uint64_t value = argument(call, idx);

	switch ((enum call_kind)kind->kind) {
	case KIND_FCNTL:
		return put_fcntl(s, names, call, value);
	case KIND_FUTEX:
		return put_futex(s, call, idx);
	case KIND_PRCTL:
		return put_prctl(s, call, idx);
	case KIND_MODE:
		if (!open_creates(call, idx))
			return false;
		break;
	case KIND_DEVICE:
		if (!mknod_is_device(call, idx))
			return false;
		break;
	case KIND_SIGNED:
		if (idx == 2 && !strcmp(call->row->name, "membarrier")) /* a CPU, of one flag only */
			return false;
		break;
	case KIND_ADDRESS:
		if (idx == 4 && !mremap_has_address(call))
			return false;
		break;
	default:
		break;
	}
	if (call->row->arguments[0].kind == KIND_CLONE && idx)
		return false;
	string_add(s, is_first ? "" : ", ");
	if (kind->kind == KIND_PATH)
		put_path(s, call, value);
	else if (kind->kind == KIND_MEMORY)
		strace_put_memory(s, names, call, idx);
	else
		put_plain(s, names, call, idx, value);
	return true;
}

/* ---- results ---- */

/* The kernel's own results, which a program never gets: the call goes on, or is interrupted. */
static const struct {
	int64_t number;
	const char *text;
} restarts[] = {
	{512, "ERESTARTSYS (To be restarted if SA_RESTART is set)"},
	{513, "ERESTARTNOINTR (To be restarted)"},
	{514, "ERESTARTNOHAND (To be restarted if no handler)"},
	{516, "ERESTART_RESTARTBLOCK (Interrupted by signal)"},
};

static void put_error(struct string *s, int64_t error)
{
	const char *name = linux_errno_name((uint64_t)error);

	for (size_t i = 0; i < sizeof(restarts) / sizeof(restarts[0]); i++)
		if (restarts[i].number == error) {
			string_addf(s, "? %s", restarts[i].text);
			return;
		}
	if (name)
		string_addf(s, "-1 %s (%s)", name, strerror((int)error));
	else
		string_addf(s, "-1 (errno %" PRId64 ")", error);
}

static void put_fcntl_result(struct string *s, const struct strace_names *names, const struct strace_call *call)
{
	const char *command = value_name_find("fcntl_cmd", argument(call, 1));
	uint64_t ret = (uint64_t)call->ret;

	if (command && !strncmp(command, "F_DUPFD", 7) && strcmp(command, "F_DUPFD_QUERY") != 0) {
		strace_put_fd_of(s, names, call, 0, (int)ret);
	} else if (command && !strcmp(command, "F_GETLEASE")) {
		put_hex(s, ret);
		string_add(s, " (");
		strace_put_choice(s, "lock_types", ret);
		string_add(s, ")");
	} else if (command && !strcmp(command, "F_GETSIG") && ret) {
		string_addf(s, "%" PRIu64 " (", ret);
		strace_put_signal(s, ret);
		string_add(s, ")");
	} else if (command && !strcmp(command, "F_GETFD")) {
		put_hex(s, ret);
		string_add(s, ret ? " (flags " : "");
		if (ret)
			strace_put_bits(s, "fd_flags", ret);
		string_add(s, ret ? ")" : "");
	} else if (command && !strcmp(command, "F_GETFL")) {
		put_hex(s, ret);
		string_add(s, " (flags ");
		put_open_flags(s, value_set_find("open_flags", strlen("open_flags")), ret);
		string_add(s, ")");
	} else if (command && !strcmp(command, "F_GET_SEALS")) {
		put_hex(s, ret);
		string_add(s, ret ? " (seals " : "");
		if (ret)
			strace_put_bits(s, "seals", ret);
		string_add(s, ret ? ")" : "");
	} else {
		string_addf(s, "%" PRIu64, ret);
	}
}

/* Results that are names of a set: " (SCHED_OTHER)" */
static void put_meaning(struct string *s, const struct strace_call *call, bool are_bits)
{
	static const struct {
		const char *call, *set, *command;
	} known[] = {{"sched_getscheduler", "sched_policy", NULL},
		     {"membarrier", "membarrier", NULL},
		     {"prctl", "dumpable", "PR_GET_DUMPABLE"}};
	const char *command = value_name_find("prctl_op", argument(call, 0));

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].call, call->row->name) || (are_bits && (!call->ret || argument(call, 0))))
			continue;
		if (known[i].command && (!command || strcmp(known[i].command, command) != 0))
			continue;
		string_add(s, " (");
		if (are_bits)
			strace_put_bits(s, known[i].set, (uint64_t)call->ret);
		else
			strace_put_choice(s, known[i].set, (uint64_t)call->ret);
		string_add(s, ")");
	}
}

void strace_put_result(struct string *s, const struct strace_names *names, const struct strace_call *call)
{
	int64_t ret = call->ret;

	if (ret < 0 && ret >= -MAX_ERRNO) {
		put_error(s, -ret);
		return;
	}
	switch (call->row->result) {
	case 'X':
		put_hex(s, (uint64_t)ret);
		break;
	case 'O':
		put_octal(s, (uint64_t)ret);
		break;
	case 'F':
		if (!strncmp(call->row->name, "dup", 3)) /* what is behind the copy */
			strace_put_fd_of(s, names, call, 0, (int)ret);
		else
			strace_put_fd(s, names, (int)ret);
		break;
	case 'P':
		strace_put_pid(s, names, ret);
		break;
	case 'C':
		put_fcntl_result(s, names, call);
		break;
	case 'T':
		if (ret)
			string_addf(s, "%" PRId64, ret);
		else
			string_add(s, "0 (Timeout)");
		break;
	case 'G':
		string_addf(s, "%" PRId64 " (", ret);
		strace_put_signal(s, (uint64_t)ret);
		string_add(s, ")");
		break;
	case 'B':
		put_hex(s, (uint64_t)ret);
		put_meaning(s, call, true);
		break;
	default:
		string_addf(s, "%" PRId64, ret);
		put_meaning(s, call, false);
	}
	strace_put_ready(s, call);
}
