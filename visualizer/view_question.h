/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_QUESTION_H
#define VISUALIZER_VIEW_QUESTION_H
/* view_question.h - the name and the parameters of a question: "spans?row=7&from=0" */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUESTION_BYTES	    (64u << 10) /* at most; a list of 1,000 rows has 10,000 */
#define QUESTION_PARAMETERS 8u

struct view_question {
	char *text; /* owned; cut into the parts below */
	const char *name;
	struct {
		const char *key, *value;
	} parameters[QUESTION_PARAMETERS];
	size_t nr;
	char error[128]; /* "" or one sentence */
};

/** question_parse() - false, with an error, if @text is no question */
bool question_parse(struct view_question *question, const char *text);
void question_free(struct view_question *question);
/** question_text() - the value of @key; @otherwise if it is not there */
const char *question_text(const struct view_question *question, const char *key, const char *otherwise);
/** question_number() - the same as a number; a value that is none is an error */
uint64_t question_number(struct view_question *question, const char *key, uint64_t otherwise);
#endif
