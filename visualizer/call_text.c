/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* call_text.c - system calls as text. Without printf(), because lists have millions of lines. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include "call_text.h"
#include "value_text.h"

#define NR_CALLS   512u
#define SMALL	   (1u << 16)
#define PATH_BYTES 512u
#define NAME_BYTES 40u

/*
 * The arguments of a class of calls, one letter each: f descriptor, n number of bytes, x bits.
 * Others are printed by value, or are addresses (a, p: syscalls.def).
 */
static const struct {
	const char *class;
	const char *arguments;
} classes[] = {
	{"ACCEPT", "f"},     {"BIND", "f"},	{"CLOSE", "f"},	      {"CLOSE_RANGE", "f"}, {"CONNECT", "f"},
	{"DUP", "f"},	     {"DUP2", "ff"},	{"EPOLL_CTL", "f-f"}, {"EPOLL_WAIT", "f"},  {"FCNTL", "f"},
	{"FD_META", "f"},    {"GETDENTS", "f"}, {"IOCTL", "fx"},      {"MMAP", "-n--f"},    {"MUNMAP", "-n"},
	{"READ", "f-n"},     {"RECV", "f-n"},	{"SEEK", "fn"},	      {"SEND", "f-n"},	    {"SENDFILE", "ff-n"},
	{"SPLICE", "f-f-n"}, {"SYNC", "f"},	{"URING_ENTER", "f"}, {"WRITE", "f-n"},
};

static const struct {
	const char *name;
	const char *class;
	const char *arguments;
} known[] = {
#define SYSCALL(name, class, arguments) {#name, #class, arguments},
#include <trace/syscalls.def>
#undef SYSCALL
};

/* A system call of one ABI. */
struct call_format {
	char name[NAME_BYTES]; /* "SYSCALL : read(" */
	uint8_t bytes;	       /* 0: unknown */
	uint8_t nr_args;
	char arguments[6];
};

struct call_texts {
	struct call_format calls[2][NR_CALLS]; /* native and 32-bit */
	struct {			       /* cache by the address of a call's name */
		const char *name;
		bool makes_fd;
	} makers[256];
};

/*
 * Fills the letters that syscalls.def leaves open ('-') from the class. An argument that is
 * recorded only as "an address" keeps its letter.
 */
static void fill_from_class(struct call_format *call, const char *arguments)
{
	for (size_t i = 0; arguments[i]; i++)
		if (call->arguments[i] == '-')
			call->arguments[i] = arguments[i];
}

static void call_format_init(struct call_format *call, const char *name)
{
	char harmless[NAME_BYTES - 12];

	if (!name)
		return;
	call->bytes = (uint8_t)snprintf(call->name, sizeof(call->name), "SYSCALL : %s(",
					text_name(name, harmless, sizeof(harmless)));
	call->nr_args = 6;
	memset(call->arguments, '-', sizeof(call->arguments));
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(known[i].name, name) != 0)
			continue;
		call->nr_args = (uint8_t)strlen(known[i].arguments);
		memcpy(call->arguments, known[i].arguments, call->nr_args);
		for (size_t j = 0; j < sizeof(classes) / sizeof(classes[0]); j++)
			if (strcmp(classes[j].class, known[i].class) == 0)
				fill_from_class(call, classes[j].arguments);
		if (call->arguments[1] == 'p' && strlen(name) > 2 && strcmp(name, "mount") != 0 &&
		    strcmp(name, "symlink") != 0)
			call->arguments[0] = 'f'; /* the directory descriptor of a relative path */
		return;
	}
}

struct call_texts *call_texts_new(const struct trace *trace)
{
	struct call_texts *texts = calloc(1, sizeof(*texts));

	for (unsigned int i = 0; texts && i < NR_CALLS; i++) {
		call_format_init(&texts->calls[0][i], trace_string(trace, TRACE_STRING_SYSCALL, i));
		call_format_init(&texts->calls[1][i], trace_string(trace, TRACE_STRING_SYSCALL_32, i));
	}
	return texts;
}

struct call_texts *call_texts_free(struct call_texts *texts)
{
	free(texts);
	return NULL;
}

static bool makes_fd(const char *name)
{
	static const char *const makers[] = {"OPEN", "DUP", "DUP2", "ACCEPT", "SOCKET", "FD_NEW"};

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		for (size_t j = 0; j < sizeof(makers) / sizeof(makers[0]); j++)
			if (strcmp(known[i].class, makers[j]) == 0 && strcmp(known[i].name, name) == 0)
				return true;
	return false;
}

bool call_text_makes_fd(struct call_texts *texts, const char *name)
{
	size_t slot = ((uintptr_t)name >> 4) % (sizeof(texts->makers) / sizeof(texts->makers[0]));

	if (texts->makers[slot].name != name) {
		texts->makers[slot].name = name;
		texts->makers[slot].makes_fd = makes_fd(name);
	}
	return texts->makers[slot].makes_fd;
}

/* ---- values ---- */

static char *put_digits(char *at, uint64_t number, unsigned int base)
{
	char digits[24], *first = digits + sizeof(digits);

	do
		*--first = "0123456789abcdef"[number % base];
	while (number /= base);
	memcpy(at, first, (size_t)(digits + sizeof(digits) - first));
	return at + (digits + sizeof(digits) - first);
}

static char *put_signed(char *at, int64_t number)
{
	if (number < 0)
		*at++ = '-';
	return put_digits(at, number < 0 ? -(uint64_t)number : (uint64_t)number, 10);
}

static char *put_hex(char *at, uint64_t value)
{
	*at++ = '0';
	*at++ = 'x';
	return put_digits(at, value, 16);
}

static char *put_value(char *at, uint64_t value)
{
	if (value < SMALL)
		return put_digits(at, value, 10);
	if ((int64_t)value < 0 && (int64_t)value > -4096)
		return put_signed(at, (int64_t)value);
	return put_hex(at, value);
}

static char *put_fd(char *at, int fd, call_path_fn path, void *data)
{
	const char *name;

	if (fd == AT_FDCWD) {
		memcpy(at, "AT_FDCWD", 8);
		return at + 8;
	}
	at = put_signed(at, fd);
	name = path && fd >= 0 ? path(data, fd) : NULL;
	if (!name || !*name)
		return at;
	*at++ = '<';
	text_name(name, at, PATH_BYTES);
	at += strlen(at);
	*at++ = '>';
	return at;
}

/* ---- events ---- */

static size_t enter_text(const struct call_texts *texts, const struct trace_event *event, char *buffer,
			 call_path_fn path, void *data)
{
	const struct trace_sys_enter6 *enter = event->payload; /* the shorter forms are prefixes */
	unsigned int recorded = event->id == TRACE_EV_sys_enter6 ? 6 : event->id == TRACE_EV_sys_enter3 ? 3 : 0;
	uint32_t nr = enter->nr & 0x3fffffff; /* __X32_SYSCALL_BIT */
	const struct call_format *call;
	uint64_t args[6];
	char *at = buffer;

	if (nr >= NR_CALLS ||
	    event->type->fixed_bytes < offsetof(struct trace_sys_enter6, arg0) + recorded * sizeof(args[0]))
		return 0;
	call = &texts->calls[enter->abi == TRACE_ABI_32][nr];
	if (!call->bytes)
		return 0;
	memcpy(args, &enter->arg0, recorded * sizeof(args[0]));
	memcpy(at, call->name, call->bytes);
	at += call->bytes;
	for (unsigned int i = 0; i < recorded && i < call->nr_args; i++) {
		if (i) {
			*at++ = ',';
			*at++ = ' ';
		}
		if (call->arguments[i] == 'f')
			at = put_fd(at, (int32_t)args[i], path, data);
		else if (args[i] == TRACE_ARG_ADDRESS && (call->arguments[i] == 'a' || call->arguments[i] == 'p'))
			*at++ = '*';
		else if (call->arguments[i] == 'n')
			at = put_signed(at, (int64_t)args[i]);
		else if (call->arguments[i] == 'x')
			at = put_hex(at, args[i]);
		else
			at = put_value(at, args[i]);
	}
	*at++ = ')';
	return (size_t)(at - buffer);
}

static size_t exit_text(const struct trace_event *event, char *buffer, call_path_fn path, void *data, bool new_fd)
{
	const struct trace_sys_exit *exit = event->payload;
	char *at = buffer + 9;

	if (event->type->fixed_bytes < sizeof(*exit) || exit->ret < 0)
		return 0; /* an error: the event's own format prints its name */
	memcpy(buffer, "RETURN : ", 9);
	if (new_fd && exit->ret <= INT32_MAX)
		at = put_fd(at, (int)exit->ret, path, data);
	else if (exit->ret >> 32) /* an address */
		at = put_value(at, (uint64_t)exit->ret);
	else
		at = put_digits(at, (uint64_t)exit->ret, 10);
	return (size_t)(at - buffer);
}

size_t call_text(const struct call_texts *texts, const struct trace_event *event, char *buffer, call_path_fn path,
		 void *data, bool new_fd)
{
	switch (event->id) {
	case TRACE_EV_sys_enter:
	case TRACE_EV_sys_enter3:
	case TRACE_EV_sys_enter6:
		return enter_text(texts, event, buffer, path, data);
	case TRACE_EV_sys_exit:
		return exit_text(event, buffer, path, data, new_fd);
	default:
		return 0;
	}
}
