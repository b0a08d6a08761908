/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_CONDITION_TEXT_H
#define BASE_CONDITION_TEXT_H
/*
 * condition_text.h - the text of a condition, such as "cents>5 && name==\"bob\"", as a table
 * (<trace/condition.h>)
 *
 *     condition = test, !condition, (condition), condition && condition, condition || condition
 *     test      = FIELD OPERATOR CONSTANT, or FIELD alone: it is not 0
 *     OPERATOR  = ==  !=  <  <=  >  >=
 *     CONSTANT  = a number as in C, 'c', true, false, or a "text" (only == and !=)
 *
 * && binds more tightly than ||. FIELD is the name of a field, or the expression that it was made
 * from: order->id means the field order_id.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <trace/condition.h>
#include <trace/error.h>
#include <trace/reader.h>

#define CONDITION_OPERAND_BYTES 256

enum condition_constant {
	CONDITION_NUMBER,
	CONDITION_FLOAT,
	CONDITION_TEXT,
};

/** struct condition_test - a test as written; the steps of the table are in @step */
struct condition_test {
	char operand[CONDITION_OPERAND_BYTES];
	enum condition_constant constant;
	double real;
	struct trace_condition_test step;
};

/** struct condition_text - a parsed condition. @nr_tests 0: none */
struct condition_text {
	size_t nr_tests;
	struct condition_test tests[TRACE_CONDITION_MAX_TESTS];
};

/** condition_parse() - parse all of @text; -EINVAL with the reason */
int condition_parse(const char *text, struct condition_text *ret_condition, struct trace_error *ret_error);

/**
 * condition_is_begun() - does the word at @at begin a condition, and not a name or an argument?
 */
bool condition_is_begun(const char *at);

/**
 * condition_field_name() - the name of the field of an operand; the result has at most @size bytes
 */
void condition_field_name(const char *operand, char *name, size_t size);

/**
 * condition_compile() - find the fields of @condition in @type
 * @ret_missing: with -ENOENT, the index of the test whose field @type does not have
 * Returns 0; -ENOENT; or -EINVAL: a constant does not fit its field.
 */
int condition_compile(const struct condition_text *condition, const struct trace_event_type *type,
		      struct trace_condition *ret_table, size_t *ret_missing, struct trace_error *ret_error);

/** condition_join() - a condition that holds if both hold. Returns 0 or -E2BIG: too many tests */
int condition_join(const struct trace_condition *first, const struct trace_condition *second,
		   struct trace_condition *ret_both);

#endif
