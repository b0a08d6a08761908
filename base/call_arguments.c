/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "call_arguments.h"
#include <stdlib.h>
#include <string.h>
#include "syscall_table.h"

static const struct {
	const char *name;
	const char *classes;
	const char *arguments;
	char result;
} rows[] = {
#define D		    'D'
#define B		    'B'
#define G		    'G'
#define X		    'X'
#define O		    'O'
#define F		    'F'
#define P		    'P'
#define C		    'C'
#define T		    'T'
#define N		    'N'
#define CALL(name, c, r, a) {#name, c, a, r},
#include "call_arguments.def"
#undef D
#undef B
#undef G
#undef X
#undef O
#undef F
#undef P
#undef C
#undef T
#undef N
};
#define NR_ROWS (sizeof(rows) / sizeof(rows[0]))

static const struct {
	const char *word;
	enum call_kind kind;
} kinds[] = {
	{"d", KIND_SIGNED},
	{"u", KIND_UNSIGNED},
	{"x", KIND_HEX},
	{"o", KIND_OCTAL},
	{"l", KIND_LONG},
	{"addr", KIND_ADDRESS},
	{"fd", KIND_FD},
	{"at", KIND_DIRECTORY},
	{"pid", KIND_PID},
	{"sig", KIND_SIGNAL},
	{"dev", KIND_DEVICE},
	{"path", KIND_PATH},
	{"mode", KIND_MODE},
	{"*", KIND_OTHER_MEMORY},
	{"clone", KIND_CLONE},
	{"fcntl", KIND_FCNTL},
	{"futex", KIND_FUTEX},
	{"prctl", KIND_PRCTL},
	{"sockopt", KIND_SOCKOPT},
	{"sock_type", KIND_SOCK_TYPE},
	{"sock_protocol", KIND_SOCK_PROTOCOL},
	{"mmap_flags", KIND_MMAP_FLAGS},
	{"mknod", KIND_MKNOD},
	{"statx_flags", KIND_STATX_FLAGS},
	{"ioctl", KIND_IOCTL},
	{"ipc_key", KIND_IPC_KEY},
	{"ipc_flags", KIND_IPC_FLAGS},
	{"ipc_cmd", KIND_IPC_COMMAND},
};

static const struct {
	const char *name;
	unsigned int bytes;
} types[] = {
#define CALL_TYPE_ROW(name, bytes) {#name, bytes},
	CALL_TYPES(CALL_TYPE_ROW)
#undef CALL_TYPE_ROW
};

unsigned int call_type_bytes(enum call_type type)
{
	return types[type].bytes;
}

const char *call_meaning_name(size_t idx)
{
	return idx < NR_ROWS ? rows[idx].name : NULL;
}

/* "<timespec", ">bytes:R", "=int", "<sockaddr:*2" */
static bool take_memory(const char *word, size_t chars, struct call_argument *argument)
{
	const char *colon = memchr(word, ':', chars);
	size_t name_chars = (colon ? (size_t)(colon - word) : chars) - 1;

	argument->kind = KIND_MEMORY;
	argument->is_read = *word != '>';
	argument->is_written = *word != '<';
	argument->count = COUNT_ONE;
	for (argument->type = 0; argument->type < NR_CALL_TYPES; argument->type++)
		if (strlen(types[argument->type].name) == name_chars &&
		    !strncmp(types[argument->type].name, word + 1, name_chars))
			break;
	if (colon) {
		argument->count = colon[1] == 'R' ? COUNT_RESULT : colon[1] == '*' ? COUNT_BEHIND : COUNT_ARGUMENT;
		argument->idx = (uint8_t)(argument->count == COUNT_RESULT
						  ? 0
						  : strtol(colon + 1 + (colon[1] == '*'), NULL, 10));
	}
	return argument->type < NR_CALL_TYPES && argument->idx < CALL_MAX_ARGUMENTS;
}

static bool take_word(const char *word, size_t chars, struct call_argument *argument)
{
	*argument = (struct call_argument){0};
	if (*word == '<' || *word == '>' || *word == '=')
		return take_memory(word, chars, argument);
	if (*word == '@' || *word == '|') {
		argument->kind = *word == '@' ? KIND_CHOICE : KIND_BITS;
		argument->set = value_set_find(word + 1, chars - 1);
		return argument->set;
	}
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strlen(kinds[i].word) == chars && !strncmp(kinds[i].word, word, chars)) {
			argument->kind = (uint8_t)kinds[i].kind;
			return true;
		}
	return false;
}

static bool take_words(const char *words, struct call_meaning *row)
{
	while (*words && row->nr_arguments < CALL_MAX_ARGUMENTS) {
		size_t chars = strcspn(words, " ");

		if (!take_word(words, chars, &row->arguments[row->nr_arguments++]))
			return false;
		words += chars;
		words += *words == ' ';
	}
	return !*words;
}

/* The kinds that the letters of <trace/syscalls.def> tell. */
static void take_letters(const struct syscall_row *known, struct call_meaning *row)
{
	static const struct {
		char letter;
		enum call_kind kind;
	} letters[] = {{'f', KIND_FD},	    {'d', KIND_DIRECTORY},    {'n', KIND_LONG}, {'x', KIND_HEX},
		       {'m', KIND_ADDRESS}, {'a', KIND_OTHER_MEMORY}, {'p', KIND_PATH}};

	row->nr_arguments = (uint8_t)strlen(known->arguments);
	for (unsigned int i = 0; i < row->nr_arguments; i++) {
		row->arguments[i].kind = KIND_SIGNED;
		for (size_t j = 0; j < sizeof(letters) / sizeof(letters[0]); j++)
			if (letters[j].letter == known->arguments[i])
				row->arguments[i].kind = (uint8_t)letters[j].kind;
	}
	row->classes = strchr(known->arguments, 'p')   ? strchr(known->arguments, 'f') ? "fd" : "f"
		       : strchr(known->arguments, 'f') ? "d"
						       : "";
	row->result = known->class == CALL_FD_NEW ? 'F' : known->class == CALL_FORK ? 'P' : 'D';
}

bool call_meaning_make(const char *name, bool is_32, struct call_meaning *ret_row)
{
	const struct syscall_row *known = syscall_row_find(name, is_32);

	*ret_row = (struct call_meaning){.name = name, .classes = "", .result = 'D'};
	for (size_t i = 0; i < NR_ROWS; i++)
		/* a 32-bit call may have the same name and other arguments */
		if (!strcmp(rows[i].name, name) && (!is_32 || known == syscall_row_find(name, false))) {
			ret_row->classes = rows[i].classes;
			ret_row->result = rows[i].result;
			return take_words(rows[i].arguments, ret_row);
		}
	if (known) {
		take_letters(known, ret_row);
		return true;
	}
	ret_row->nr_arguments = CALL_MAX_ARGUMENTS;
	for (unsigned int i = 0; i < CALL_MAX_ARGUMENTS; i++)
		ret_row->arguments[i].kind = KIND_HEX;
	return true;
}
