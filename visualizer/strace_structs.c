/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * strace_structs.c - structs of 64-bit programs. Their members are where the ABI of the kernel has
 * them, the same on all 64-bit machines; struct stat is that of x86-64.
 */
#include "strace_structs.h"
#include <arpa/inet.h>
#include <inttypes.h>
#include <string.h>
#include <sys/socket.h>
#include "linux_names.h"
#include "strace_descriptors.h"

#define MAX_ELEMENTS 32u

static uint64_t number(const struct call_memory *memory, size_t offset, size_t bytes)
{
	uint64_t value = 0;

	if (offset + bytes <= memory->nr_bytes)
		memcpy(&value, memory->bytes + offset, bytes);
	return value;
}

static int32_t int_at(const struct call_memory *memory, size_t offset)
{
	return (int32_t)number(memory, offset, 4);
}

static uint64_t long_at(const struct call_memory *memory, size_t offset)
{
	return number(memory, offset, 8);
}

static void put_pointer(struct string *s, uint64_t value)
{
	if (value)
		string_addf(s, "0x%" PRIx64, value);
	else
		string_add(s, "NULL");
}

/* ---- times ---- */

static void put_timespec(struct string *s, const struct call_memory *memory, size_t offset)
{
	int64_t ns = (int64_t)long_at(memory, offset + 8);

	if (ns == 0x3fffffff)
		string_add(s, "UTIME_NOW");
	else if (ns == 0x3ffffffe)
		string_add(s, "UTIME_OMIT");
	else
		string_addf(s, "{tv_sec=%" PRId64 ", tv_nsec=%" PRId64 "}", (int64_t)long_at(memory, offset), ns);
}

static void put_timeval(struct string *s, const struct call_memory *memory, size_t offset)
{
	string_addf(s, "{tv_sec=%" PRId64 ", tv_usec=%" PRId64 "}", (int64_t)long_at(memory, offset),
		    (int64_t)long_at(memory, offset + 8));
}

static void put_interval(struct string *s, const struct call_memory *memory,
			 void (*put)(struct string *, const struct call_memory *, size_t))
{
	string_add(s, "{it_interval=");
	put(s, memory, 0);
	string_add(s, ", it_value=");
	put(s, memory, 16);
	string_add(s, "}");
}

/* ---- signals ---- */

static void put_signal_set(struct string *s, uint64_t set)
{
	bool is_negated = __builtin_popcountll(set) >= 32;
	const char *before = "";

	if (is_negated)
		set = ~set;
	string_add(s, is_negated ? "~[" : "[");
	for (unsigned int signal = 1; signal <= 64; signal++) {
		const char *name = linux_signal_name(signal);

		if (!(set >> (signal - 1) & 1))
			continue;
		string_add(s, before);
		if (name)
			string_add(s, name);
		else if (signal == 32)
			string_add(s, "RTMIN");
		else
			string_addf(s, "RT_%u", signal - 32);
		before = " ";
	}
	string_add(s, "]");
}

static void put_sigaction(struct string *s, const struct call_memory *memory)
{
	uint64_t handler = long_at(memory, 0), flags = long_at(memory, 8);
	uint64_t restorer = value_number_find("sa_flags", "SA_RESTORER");

	string_add(s, "{sa_handler=");
	if (handler < 2)
		string_add(s, handler ? "SIG_IGN" : "SIG_DFL");
	else
		put_pointer(s, handler);
	string_add(s, ", sa_mask=");
	put_signal_set(s, long_at(memory, 24));
	string_add(s, ", sa_flags=");
	strace_put_bits(s, "sa_flags", flags);
	if (flags & restorer) {
		string_add(s, ", sa_restorer=");
		put_pointer(s, long_at(memory, 16));
	}
	string_add(s, "}");
}

static void put_wait_status(struct string *s, uint32_t status)
{
	unsigned int signal = status & 0x7f, stop = status >> 8 & 0xff;

	if (status == 0xffff) {
		string_add(s, "[{WIFCONTINUED(s)}]");
	} else if ((status & 0xff) == 0x7f) {
		string_add(s, "[{WIFSTOPPED(s) && WSTOPSIG(s) == ");
		strace_put_signal(s, stop & 0x7f);
		string_add(s, stop & 0x80 ? " | 0x80}]" : "}]");
	} else if (signal) {
		string_add(s, "[{WIFSIGNALED(s) && WTERMSIG(s) == ");
		strace_put_signal(s, signal);
		string_add(s, status & 0x80 ? " && WCOREDUMP(s)}]" : "}]");
	} else {
		string_addf(s, "[{WIFEXITED(s) && WEXITSTATUS(s) == %u}]", stop);
	}
}

/* ---- addresses of sockets ---- */

static void put_unix_address(struct string *s, const struct call_memory *memory)
{
	const char *path = (const char *)memory->bytes + 2;
	size_t room = memory->nr_bytes > 2 ? memory->nr_bytes - 2 : 0;

	string_add(s, "{sa_family=AF_UNIX");
	if (room && !*path) {
		string_add(s, ", sun_path=@");
		strace_put_text(s, path + 1, room - 1, room, false);
	} else if (room) {
		string_add(s, ", sun_path=");
		strace_put_text(s, path, strnlen(path, room), room, false);
	}
	string_add(s, "}");
}

static void put_socket_address(struct string *s, const struct call_memory *memory)
{
	unsigned int family = (unsigned int)number(memory, 0, 2), port = ntohs((uint16_t)number(memory, 2, 2));
	char text[INET6_ADDRSTRLEN];

	if (family == AF_UNIX) {
		put_unix_address(s, memory);
	} else if (family == AF_INET && memory->nr_bytes >= 8) {
		inet_ntop(AF_INET, memory->bytes + 4, text, sizeof(text));
		string_addf(s, "{sa_family=AF_INET, sin_port=htons(%u), sin_addr=inet_addr(\"%s\")}", port, text);
	} else if (family == AF_INET6 && memory->nr_bytes >= 28) {
		inet_ntop(AF_INET6, memory->bytes + 8, text, sizeof(text));
		string_addf(s,
			    "{sa_family=AF_INET6, sin6_port=htons(%u), sin6_flowinfo=htonl(%u), inet_pton(AF_INET6, "
			    "\"%s\", &sin6_addr), sin6_scope_id=%u}",
			    port, ntohl((uint32_t)number(memory, 4, 4)), text, (unsigned int)number(memory, 24, 4));
	} else if (family == AF_NETLINK && memory->nr_bytes >= 12) {
		string_addf(s, "{sa_family=AF_NETLINK, nl_pid=%d, nl_groups=%08x}", int_at(memory, 4),
			    (unsigned int)number(memory, 8, 4));
	} else {
		string_add(s, "{sa_family=");
		strace_put_choice(s, "sock_families", family);
		string_add(s, ", ...}");
	}
}

/* ---- files ---- */

static void put_file_type_and_mode(struct string *s, uint32_t mode)
{
	const char *type = value_name_find("file_types", mode & 0170000u);

	if (type)
		string_addf(s, "%s|", type);
	string_addf(s, "%#03o", type ? mode & 07777u : mode);
}

/* struct stat of x86-64 */
static void put_stat(struct string *s, const struct call_memory *memory)
{
	uint32_t mode = (uint32_t)number(memory, 24, 4);
	const char *type = value_name_find("file_types", mode & 0170000u);

	string_add(s, "{st_mode=");
	put_file_type_and_mode(s, mode);
	if (type && (!strcmp(type, "S_IFCHR") || !strcmp(type, "S_IFBLK"))) {
		uint64_t dev = long_at(memory, 40);

		string_addf(s, ", st_rdev=makedev(0x%x, 0x%x), ...}", (unsigned int)(dev >> 8 & 0xfff),
			    (unsigned int)((dev & 0xff) | (dev >> 12 & ~0xffu)));
	} else {
		string_addf(s, ", st_size=%" PRId64 ", ...}", (int64_t)long_at(memory, 48));
	}
}

static void put_statx(struct string *s, const struct call_memory *memory)
{
	string_add(s, "{stx_mask=");
	strace_put_bits(s, "statx_mask", (uint32_t)number(memory, 0, 4));
	string_add(s, ", stx_attributes=");
	string_addf(s, long_at(memory, 8) ? "0x%" PRIx64 : "%" PRIx64, long_at(memory, 8));
	string_add(s, ", stx_mode=");
	put_file_type_and_mode(s, (uint32_t)number(memory, 28, 2));
	string_addf(s, ", stx_size=%" PRIu64 ", ...}", long_at(memory, 40));
}

static void put_open_how(struct string *s, const struct call_memory *memory)
{
	static const char *const modes[] = {"O_RDONLY", "O_WRONLY", "O_RDWR", "O_ACCMODE"};
	uint64_t flags = long_at(memory, 0), resolve = long_at(memory, 16);

	string_addf(s, "{flags=%s", modes[flags & 3]);
	if (flags & ~3ull) {
		string_add(s, "|");
		strace_put_bits(s, "open_flags", flags & ~3ull);
	}
	if (long_at(memory, 8))
		string_addf(s, ", mode=%03" PRIo64, long_at(memory, 8));
	string_addf(s, resolve ? ", resolve=0x%" PRIx64 "}" : ", resolve=%" PRIx64 "}", resolve);
}

/* ---- lists ---- */

typedef void put_element(struct string *s, const struct call_memory *memory, size_t offset);
typedef void put_element_named(struct string *s, const struct strace_names *names, const struct call_memory *memory,
			       size_t offset);

/* A program has an array: [element, element, ...]. One of @put and @put_named writes an element. */
static void put_elements(struct string *s, const struct strace_names *names, const struct call_memory *memory,
			 size_t bytes, put_element *put, put_element_named *put_named)
{
	size_t nr = memory->nr_bytes / bytes;

	string_add(s, "[");
	for (size_t i = 0; i < nr && i < MAX_ELEMENTS; i++) {
		string_add(s, i ? ", " : "");
		if (put)
			put(s, memory, i * bytes);
		else
			put_named(s, names, memory, i * bytes);
	}
	string_add(s, memory->whole_bytes / bytes > nr || nr > MAX_ELEMENTS ? ", ...]" : "]");
}

static void put_list(struct string *s, const struct call_memory *memory, size_t bytes, put_element *put)
{
	put_elements(s, NULL, memory, bytes, put, NULL);
}

static void put_descriptor(struct string *s, const struct strace_names *names, const struct call_memory *memory,
			   size_t offset)
{
	strace_put_fd(s, names, int_at(memory, offset));
}

static void put_int(struct string *s, const struct call_memory *memory, size_t offset)
{
	string_addf(s, "%d", int_at(memory, offset));
}

static void put_pollfd(struct string *s, const struct strace_names *names, const struct call_memory *memory,
		       size_t offset)
{
	string_add(s, "{fd=");
	strace_put_fd(s, names, int_at(memory, offset));
	if (int_at(memory, offset) >= 0) {
		string_add(s, ", events=");
		strace_put_bits(s, "poll_events", number(memory, offset + 4, 2));
	}
	string_add(s, "}");
}

static void put_epoll_event(struct string *s, const struct call_memory *memory, size_t offset)
{
	string_add(s, "{events=");
	strace_put_bits(s, "epoll_events", (uint32_t)number(memory, offset, 4));
	string_addf(s, ", data={u32=%u, u64=%" PRIu64 "}}", (unsigned int)number(memory, offset + 4, 4),
		    number(memory, offset + 4, 8));
}

static void put_iovec(struct string *s, const struct call_memory *memory, size_t offset)
{
	string_add(s, "{iov_base=...");
	string_addf(s, ", iov_len=%" PRIu64 "}", long_at(memory, offset + 8));
}

static void put_known_null(struct string *s, const char *name, uint64_t address)
{
	string_addf(s, address ? "%s=..." : "%s=NULL", name);
}

/*
 * struct msghdr; what its members point to is not recorded. @is_result: the kernel wrote it, and
 * the length of a name has changed from what strace shows.
 */
static void put_msghdr(struct string *s, const struct call_memory *memory, bool is_result)
{
	uint64_t name = long_at(memory, 0), control_bytes = long_at(memory, 40);

	put_known_null(s, "{msg_name", name);
	if (is_result && name)
		string_add(s, ", msg_namelen=...");
	else
		string_addf(s, ", msg_namelen=%d", int_at(memory, 8));
	put_known_null(s, ", msg_iov", long_at(memory, 16));
	string_addf(s, ", msg_iovlen=%" PRIu64, long_at(memory, 24));
	if (control_bytes)
		put_known_null(s, ", msg_control", long_at(memory, 32));
	string_addf(s, ", msg_controllen=%" PRIu64 ", msg_flags=", control_bytes);
	strace_put_bits(s, "msg_flags", (uint32_t)number(memory, 48, 4));
	string_add(s, "}");
}

/* Texts with a NUL each: the arguments of a program. */
static void put_texts(struct string *s, const struct call_memory *memory, size_t limit)
{
	size_t at = 0;

	string_add(s, "[");
	while (at < memory->nr_bytes) {
		const char *text = (const char *)memory->bytes + at;
		size_t bytes = strnlen(text, memory->nr_bytes - at);

		string_add(s, at ? ", " : "");
		strace_put_text(s, text, bytes, limit, false);
		at += bytes + 1;
	}
	string_add(s, memory->whole_bytes > memory->nr_bytes ? ", ...]" : "]");
}

/* ---- others ---- */

static void put_limit(struct string *s, const char *name, uint64_t value)
{
	if (value == UINT64_MAX)
		string_addf(s, "%s=RLIM64_INFINITY", name);
	else if (value > 1024 && value % 1024 == 0)
		string_addf(s, "%s=%" PRIu64 "*1024", name, value / 1024);
	else
		string_addf(s, "%s=%" PRIu64, name, value);
}

static void put_rlimit(struct string *s, const struct call_memory *memory)
{
	put_limit(s, "{rlim_cur", long_at(memory, 0));
	put_limit(s, ", rlim_max", long_at(memory, 8));
	string_add(s, "}");
}

static void put_rusage(struct string *s, const struct call_memory *memory)
{
	string_add(s, "{ru_utime=");
	put_timeval(s, memory, 0);
	string_add(s, ", ru_stime=");
	put_timeval(s, memory, 16);
	string_add(s, ", ...}");
}

#define UTS_BYTES 65u

static void put_utsname(struct string *s, const struct call_memory *memory)
{
	const char *text = (const char *)memory->bytes;

	string_add(s, "{sysname=");
	strace_put_text(s, text, strnlen(text, UTS_BYTES), UTS_BYTES, false);
	string_add(s, ", nodename=");
	strace_put_text(s, text + UTS_BYTES, strnlen(text + UTS_BYTES, UTS_BYTES), UTS_BYTES, false);
	string_add(s, ", ...}");
}

static void put_siginfo(struct string *s, const struct call_memory *memory)
{
	string_add(s, "{si_signo=");
	strace_put_signal(s, (uint64_t)int_at(memory, 0));
	string_add(s, ", ...}");
}

static void put_cpuset(struct string *s, const struct call_memory *memory)
{
	const char *before = "";

	string_add(s, "[");
	for (unsigned int cpu = 0; cpu < 8 * memory->nr_bytes; cpu++)
		if (memory->bytes[cpu / 8] >> cpu % 8 & 1) {
			string_addf(s, "%s%u", before, cpu);
			before = " ";
		}
	string_add(s, "]");
}

static void put_fdset(struct string *s, const struct strace_names *names, const struct call_memory *memory, uint64_t nr)
{
	const char *before = "";

	string_add(s, "[");
	for (unsigned int fd = 0; fd < 8 * memory->nr_bytes && fd < nr; fd++)
		if (memory->bytes[fd / 8] >> fd % 8 & 1) {
			string_add(s, before);
			strace_put_fd(s, names, (int)fd);
			before = " ";
		}
	string_add(s, "]");
}

static void put_clone_args(struct string *s, const struct call_memory *memory)
{
	uint64_t flags = long_at(memory, 0);

	string_add(s, "{flags=");
	strace_put_bits(s, "clone_flags", flags);
	if (flags & value_number_find("clone_flags", "CLONE_PIDFD"))
		string_addf(s, ", pidfd=0x%" PRIx64, long_at(memory, 8));
	if (flags & (value_number_find("clone_flags", "CLONE_CHILD_SETTID") |
		     value_number_find("clone_flags", "CLONE_CHILD_CLEARTID")))
		string_addf(s, ", child_tid=0x%" PRIx64, long_at(memory, 16));
	if (flags & value_number_find("clone_flags", "CLONE_PARENT_SETTID"))
		string_addf(s, ", parent_tid=0x%" PRIx64, long_at(memory, 24));
	string_add(s, ", exit_signal=");
	strace_put_signal(s, long_at(memory, 32));
	string_add(s, ", stack=");
	put_pointer(s, long_at(memory, 40));
	string_addf(s, ", stack_size=%s%" PRIx64, long_at(memory, 48) ? "0x" : "", long_at(memory, 48));
	if (flags & value_number_find("clone_flags", "CLONE_SETTLS"))
		string_addf(s, ", tls=0x%" PRIx64, long_at(memory, 56));
	string_add(s, "}");
}

/* Without the content of clone3()'s argument the fork tells its flags. */
static bool put_clone_by_fork(struct string *s, const struct strace_call *call, enum call_type type)
{
	if (type != TYPE_clone_args || call->clone_flags == UINT64_MAX)
		return false;
	string_add(s, "{flags=");
	strace_put_bits(s, "clone_flags", call->clone_flags & ~0xffull);
	string_add(s, ", exit_signal=");
	strace_put_signal(s, call->clone_flags & 0xff);
	string_add(s, ", ...}");
	return true;
}

static void put_content(struct string *s, const struct strace_names *names, const struct strace_call *call,
			unsigned int idx, const struct call_memory *memory)
{
	size_t limit = (size_t)names->choice->string_bytes;

	switch ((enum call_type)call->row->arguments[idx].type) {
	case TYPE_str:
		strace_put_text(s, memory->bytes, strnlen((char *)memory->bytes, memory->nr_bytes), SIZE_MAX,
				memory->whole_bytes > memory->nr_bytes);
		break;
	case TYPE_strs:
		put_texts(s, memory, limit);
		break;
	case TYPE_bytes:
		strace_put_text(s, memory->bytes, memory->nr_bytes, limit, memory->whole_bytes > memory->nr_bytes);
		break;
	case TYPE_sockaddr:
		put_socket_address(s, memory);
		break;
	case TYPE_int:
	case TYPE_int_list:
	case TYPE_gid_one:
	case TYPE_gid:
	case TYPE_uint:
		put_list(s, memory, 4, put_int);
		break;
	case TYPE_fds:
		put_elements(s, names, memory, 4, NULL, put_descriptor);
		break;
	case TYPE_wstatus:
		put_wait_status(s, (uint32_t)number(memory, 0, 4));
		break;
	case TYPE_sigset:
		put_signal_set(s, long_at(memory, 0));
		break;
	case TYPE_timespec:
		put_timespec(s, memory, 0);
		break;
	case TYPE_timeval:
		put_timeval(s, memory, 0);
		break;
	case TYPE_timespecs:
		put_list(s, memory, 16, put_timespec);
		break;
	case TYPE_timevals:
		put_list(s, memory, 16, put_timeval);
		break;
	case TYPE_itimerval:
		put_interval(s, memory, put_timeval);
		break;
	case TYPE_itimerspec:
		put_interval(s, memory, put_timespec);
		break;
	case TYPE_sigaction:
		put_sigaction(s, memory);
		break;
	case TYPE_siginfo:
		put_siginfo(s, memory);
		break;
	case TYPE_stat:
		put_stat(s, memory);
		break;
	case TYPE_statx:
		put_statx(s, memory);
		break;
	case TYPE_rlimit:
		put_rlimit(s, memory);
		break;
	case TYPE_rusage:
		put_rusage(s, memory);
		break;
	case TYPE_iovec:
		put_list(s, memory, 16, put_iovec);
		break;
	case TYPE_msghdr:
		put_msghdr(s, memory, memory == &call->written[idx]);
		break;
	case TYPE_pollfd:
		put_elements(s, names, memory, 8, NULL, put_pollfd);
		break;
	case TYPE_epoll_event:
		if (call->row->arguments[idx].count == COUNT_ONE)
			put_epoll_event(s, memory, 0);
		else
			put_list(s, memory, 12, put_epoll_event);
		break;
	case TYPE_utsname:
		put_utsname(s, memory);
		break;
	case TYPE_fdset:
		put_fdset(s, names, memory, call->args[0]);
		break;
	case TYPE_cpuset:
		put_cpuset(s, memory);
		break;
	case TYPE_clone_args:
		put_clone_args(s, memory);
		break;
	case TYPE_open_how:
		put_open_how(s, memory);
		break;
	default:
		string_add(s, "{...}");
	}
}

/* The values of most options of sockets are one int; others are structs. */
static bool is_other_option(const struct strace_call *call, unsigned int idx)
{
	if (call->row->arguments[2].kind != KIND_SOCKOPT || idx != 3)
		return false;
	return call->row->arguments[4].kind == KIND_MEMORY
		       ? int_at(&call->read[4], 0) < 4 || call->written[3].whole_bytes != 4 ||
				 int_at(&call->written[4], 0) != 4
		       : call->args[4] != 4;
}

/* A struct that was recorded in part would be shown with zeros. */
static bool is_whole(const struct call_argument *kind, const struct call_memory *memory)
{
	if (!memory->bytes || !memory->nr_bytes)
		return false;
	return memory->nr_bytes >= call_type_bytes(kind->type);
}

static bool is_64_bit_only(enum call_type type)
{
	return type != TYPE_str && type != TYPE_bytes && type != TYPE_sockaddr && type != TYPE_int;
}

void strace_put_memory(struct string *s, const struct strace_names *names, const struct strace_call *call,
		       unsigned int idx)
{
	const struct call_argument *kind = &call->row->arguments[idx];
	const struct call_memory *read = &call->read[idx], *written = &call->written[idx];
	const struct call_memory *shown = kind->is_read ? read : written;
	uint64_t value = idx < call->nr_args ? call->args[idx] : 0;

	if (!value)
		string_add(s, "NULL");
	else if (kind->type == TYPE_bytes && shown->bytes && !shown->whole_bytes)
		string_add(s, "\"\"");
	else if ((call->is_32 && is_64_bit_only(kind->type)) || !is_whole(kind, shown) || is_other_option(call, idx)) {
		if (!put_clone_by_fork(s, call, kind->type))
			value == TRACE_ARG_ADDRESS ? string_add(s, "...") : put_pointer(s, value);
	} else if (kind->type == TYPE_int && kind->is_read && kind->is_written && written->nr_bytes == 4 &&
		   int_at(written, 0) != int_at(read, 0)) {
		string_addf(s, "[%d => %d]", int_at(read, 0), int_at(written, 0));
	} else {
		put_content(s, names, call, idx, shown);
	}
}

static void put_ready_fds(struct string *s, const struct call_memory *memory)
{
	const char *before = "";

	string_add(s, " ([");
	for (size_t offset = 0; offset + 8 <= memory->nr_bytes; offset += 8) {
		uint64_t events = number(memory, offset + 6, 2);

		if (!events)
			continue;
		string_addf(s, "%s{fd=%d, revents=", before, int_at(memory, offset));
		strace_put_bits(s, "poll_events", events);
		string_add(s, "}");
		before = ", ";
	}
	string_add(s, "])");
}

void strace_put_ready(struct string *s, const struct strace_call *call)
{
	if (call->ret > 0 && call->row->arguments[0].kind == KIND_MEMORY &&
	    call->row->arguments[0].type == TYPE_pollfd && call->written[0].nr_bytes)
		put_ready_fds(s, &call->written[0]);
}
