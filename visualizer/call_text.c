/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* call_text.c - system calls as text. Without printf(), because lists have millions of lines. */
#include <stdlib.h>
#include <string.h>
#include "call_text.h"
#include "kernel_numbers.h"
#include "syscall_table.h"
#include "value_text.h"

#define NR_CALLS   512u
#define SMALL	   (1u << 16)
#define PATH_BYTES 512u
#define NAME_BYTES 40u

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

static void call_format_init(struct call_format *call, const char *name, bool is_32)
{
	const struct syscall_row *row;
	char harmless[NAME_BYTES - 12];

	if (!name)
		return;
	call->bytes = (uint8_t)snprintf(call->name, sizeof(call->name), "SYSCALL : %s(",
					text_name(name, harmless, sizeof(harmless)));
	call->nr_args = 6;
	memset(call->arguments, '-', sizeof(call->arguments));
	row = syscall_row_find(name, is_32);
	if (!row)
		return;
	call->nr_args = (uint8_t)strlen(row->arguments);
	memcpy(call->arguments, row->arguments, call->nr_args);
}

static const char *name_of(const struct trace *trace, enum trace_string_space space, unsigned int number)
{
	const char *name = trace_string(trace, space, number);

	return name ? name : syscall_name_of(number);
}

struct call_texts *call_texts_new(const struct trace *trace)
{
	struct call_texts *texts = calloc(1, sizeof(*texts));

	for (unsigned int i = 0; texts && i < NR_CALLS; i++) {
		call_format_init(&texts->calls[0][i], name_of(trace, TRACE_STRING_SYSCALL, i), false);
		call_format_init(&texts->calls[1][i], name_of(trace, TRACE_STRING_SYSCALL_32, i), true);
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
	static const bool makers[NR_CALL_CLASSES] = {
		[CALL_ACCEPT] = true, [CALL_DUP] = true,  [CALL_DUP2] = true,
		[CALL_FD_NEW] = true, [CALL_OPEN] = true, [CALL_SOCKET] = true,
	};
	const struct syscall_row *row = syscall_row_find(name, true);

	return row && makers[row->class];
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

	if (fd == LINUX_AT_FDCWD) {
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
		if (call->arguments[i] == 'f' || call->arguments[i] == 'd')
			at = put_fd(at, (int32_t)args[i], path, data);
		else if (args[i] == TRACE_ARG_ADDRESS && (call->arguments[i] == 'a' || call->arguments[i] == 'p'))
			*at++ = '*';
		else if (call->arguments[i] == 'n')
			at = put_signed(at, (int64_t)args[i]);
		else if (call->arguments[i] == 'x' && args[i])
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
