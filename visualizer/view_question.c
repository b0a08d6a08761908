/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_question.c - take a question apart. Questions come from a network: nothing is trusted. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "checked_memory.h"
#include "view_question.h"

static int hex(char digit)
{
	if (digit >= '0' && digit <= '9')
		return digit - '0';
	digit = (char)tolower((unsigned char)digit);
	return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

/* Replace %XX, in place. False: not two digits, or a NUL. */
static bool decode(char *text)
{
	char *out = text;

	for (const char *at = text; *at; at++) {
		int high, low;

		if (*at != '%') {
			*out++ = *at;
			continue;
		}
		high = hex(at[1]);
		low = high < 0 ? -1 : hex(at[2]);
		if (low < 0 || (!high && !low))
			return false;
		*out++ = (char)(high << 4 | low);
		at += 2;
	}
	*out = 0;
	return true;
}

static bool wrong(struct view_question *question, const char *sentence)
{
	snprintf(question->error, sizeof(question->error), "%s", sentence);
	return false;
}

bool question_parse(struct view_question *question, const char *text)
{
	char *rest, *part, *value;

	*question = (struct view_question){.name = ""};
	if (strnlen(text, QUESTION_BYTES) == QUESTION_BYTES)
		return wrong(question, "the question is too long");
	question->text = memory_copy(text, strlen(text));
	question->name = question->text;
	rest = strchr(question->text, '?');
	if (rest)
		*rest++ = 0;
	while (rest && *rest) {
		part = rest;
		rest = strchr(part, '&');
		if (rest)
			*rest++ = 0;
		value = strchr(part, '=');
		if (!value || question->nr == QUESTION_PARAMETERS)
			return wrong(question, "parameters are KEY=VALUE, at most eight");
		*value++ = 0;
		if (!decode(value))
			return wrong(question, "a % in a value needs two hexadecimal digits");
		question->parameters[question->nr].key = part;
		question->parameters[question->nr++].value = value;
	}
	return true;
}

void question_free(struct view_question *question)
{
	free(question->text);
}

const char *question_text(const struct view_question *question, const char *key, const char *otherwise)
{
	for (size_t i = 0; i < question->nr; i++)
		if (strcmp(question->parameters[i].key, key) == 0)
			return question->parameters[i].value;
	return otherwise;
}

uint64_t question_number(struct view_question *question, const char *key, uint64_t otherwise)
{
	const char *text = question_text(question, key, NULL);
	unsigned long long value;
	char *end;

	if (!text)
		return otherwise;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno) {
		snprintf(question->error, sizeof(question->error), "%s is not a number", key);
		return otherwise;
	}
	return value;
}
