/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * condition_text.c - conditions from text to table
 *
 * Each part of a condition leaves exits: the outcomes of tests after which the part is decided, but
 * whose next step is not known yet. && leads the true exits of its left side to the first test of
 * its right side, || the false ones. The exits that remain at the end accept or reject.
 */
#include "condition_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "error_set.h"

#define MAX_DEPTH 32 /* of parentheses and ! */

/** struct exits - bits of tests, by the outcome of the part [true] and that of the test [true] */
struct exits {
	uint32_t bits[2][2];
	uint8_t first;
};

/** struct parser - @at: in @text, which messages quote */
struct parser {
	const char *text;
	const char *at;
	struct condition_text *condition;
	struct trace_error *ret_error;
	unsigned int depth;
};

static int fail(struct parser *parser, const char *reason)
{
	return error_set(
		parser->ret_error, -EINVAL,
		"condition \"%.100s\": %s at \"%.20s\"; write FIELD OPERATOR CONSTANT: 'cents>5 && name==\"bob\"'",
		parser->text, reason, parser->at);
}

static void skip_blanks(struct parser *parser)
{
	parser->at += strspn(parser->at, " \t\n");
}

static bool take(struct parser *parser, const char *word)
{
	size_t chars = strlen(word);

	skip_blanks(parser);
	if (strncmp(parser->at, word, chars))
		return false;
	parser->at += chars;
	return true;
}

/* The end of an operand: an operator or a blank outside of parentheses and brackets. */
static const char *operand_end(const char *at)
{
	int depth = 0;

	for (; *at; at++) {
		if (at[0] == '-' && at[1] == '>') {
			at++;
			continue;
		}
		if (*at == '(' || *at == '[')
			depth++;
		else if ((*at == ')' || *at == ']') && depth > 0)
			depth--;
		else if (strchr("<>=!&|", *at) || (depth == 0 && strchr(" \t\n,)]", *at)))
			break;
	}
	return at;
}

bool condition_is_begun(const char *at)
{
	const char *end;

	if (*at == '(' || (*at == '!' && at[1] != '='))
		return true;
	end = operand_end(at);
	if (end == at)
		return false;
	if (*end == '=' && end[1] != '=') /* NAME=EXPRESSION, an argument; its expression is no condition */
		return false;
	end += strspn(end, " \t\n");
	return *end && (strchr("<>!=", *end) || !strncmp(end, "&&", 2) || !strncmp(end, "||", 2));
}

static bool take_comparison(struct parser *parser, uint8_t *ret_comparison)
{
	static const struct {
		const char *sign;
		uint8_t comparison;
	} signs[] = {
		{"==", TRACE_CONDITION_EQUAL},	       {"!=", TRACE_CONDITION_DIFFERENT},
		{"<=", TRACE_CONDITION_LESS_OR_EQUAL}, {">=", TRACE_CONDITION_GREATER_OR_EQUAL},
		{"<", TRACE_CONDITION_LESS},	       {">", TRACE_CONDITION_GREATER},
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++)
		if (take(parser, signs[i].sign)) {
			*ret_comparison = signs[i].comparison;
			return true;
		}
	return false;
}

static int take_text(struct parser *parser, struct condition_test *test)
{
	struct trace_condition_test *step = &test->step;

	test->constant = CONDITION_TEXT;
	for (parser->at++; *parser->at && *parser->at != '"'; parser->at++) {
		if (*parser->at == '\\' && parser->at[1])
			parser->at++;
		if (step->text_bytes == TRACE_CONDITION_TEXT_BYTES)
			return fail(parser, "a text has at most 48 bytes");
		step->text[step->text_bytes++] = (uint8_t)*parser->at;
	}
	if (*parser->at != '"')
		return fail(parser, "the quotation mark is not closed");
	parser->at++;
	if (step->comparison > TRACE_CONDITION_DIFFERENT)
		return fail(parser, "texts have only == and !=");
	return 0;
}

static bool take_name(struct parser *parser, const char *name)
{
	size_t chars = strlen(name);

	if (strncmp(parser->at, name, chars) || isalnum((unsigned char)parser->at[chars]) || parser->at[chars] == '_')
		return false;
	parser->at += chars;
	return true;
}

static int take_number(struct parser *parser, struct condition_test *test)
{
	const char *begin = parser->at, *digits = begin + (*begin == '-' || *begin == '+');
	char *end, *end_of_real;

	if (!isdigit((unsigned char)*digits) && *digits != '.')
		return fail(parser, "a number, 'c' or \"text\" is missing");
	errno = 0;
	test->step.number = strtoull(digits, &end, 0);
	test->step.negative = *begin == '-' && test->step.number;
	if (test->step.negative)
		test->step.number = -test->step.number;
	test->real = strtod(begin, &end_of_real);
	if (end_of_real > end) {
		test->constant = CONDITION_FLOAT;
		end = end_of_real;
	} else if (errno == ERANGE || (test->step.negative && test->step.number < 1ULL << 63)) {
		return fail(parser, "the number has more than 64 bits");
	}
	if (isalnum((unsigned char)*end) || *end == '_' || *end == '.')
		return fail(parser, "this is not a number");
	parser->at = end;
	return 0;
}

static int take_constant(struct parser *parser, struct condition_test *test)
{
	skip_blanks(parser);
	if (*parser->at == '"')
		return take_text(parser, test);
	if (*parser->at == '\'' && parser->at[1] && parser->at[2] == '\'') {
		test->step.number = (unsigned char)parser->at[1];
		test->real = (double)test->step.number;
		parser->at += 3;
		return 0;
	}
	if (take_name(parser, "true")) {
		test->step.number = 1;
		test->real = 1;
		return 0;
	}
	if (take_name(parser, "false"))
		return 0;
	return take_number(parser, test);
}

static int take_test(struct parser *parser, struct exits *ret_exits)
{
	struct condition_text *condition = parser->condition;
	struct condition_test *test = &condition->tests[condition->nr_tests];
	const char *end = operand_end(parser->at);
	size_t chars = (size_t)(end - parser->at);
	int err = 0;

	if (condition->nr_tests == TRACE_CONDITION_MAX_TESTS)
		return fail(parser, "a condition has at most 16 tests");
	if (!chars || chars >= sizeof(test->operand))
		return fail(parser, "a field is missing");
	if (isdigit((unsigned char)*parser->at) && !strchr("(", parser->at[strspn(parser->at, "0123456789xX")]))
		return fail(parser, "the field comes first");
	*test = (struct condition_test){.constant = CONDITION_NUMBER};
	memcpy(test->operand, parser->at, chars);
	parser->at = end;
	if (take_comparison(parser, &test->step.comparison))
		err = take_constant(parser, test);
	else
		test->step.comparison = TRACE_CONDITION_DIFFERENT; /* from 0 */
	if (!err && take(parser, "="))
		return fail(parser, "a comparison is ==");
	*ret_exits = (struct exits){.first = (uint8_t)condition->nr_tests};
	ret_exits->bits[1][1] = ret_exits->bits[0][0] = 1u << condition->nr_tests++;
	return err;
}

/* The tests in @exits that decide the part as @outcome go on at @step. */
static void lead(struct condition_text *condition, const struct exits *exits, bool outcome, uint8_t step)
{
	for (uint32_t i = 0; i < condition->nr_tests; i++) {
		if (exits->bits[outcome][true] >> i & 1)
			condition->tests[i].step.if_true = step;
		if (exits->bits[outcome][false] >> i & 1)
			condition->tests[i].step.if_false = step;
	}
}

static int take_any(struct parser *parser, struct exits *ret_exits);

static int take_one(struct parser *parser, struct exits *ret_exits)
{
	struct exits inner;
	int err;

	skip_blanks(parser);
	if (parser->depth == MAX_DEPTH)
		return fail(parser, "too many parentheses");
	if (*parser->at == '!') {
		parser->at++;
		parser->depth++;
		err = take_one(parser, &inner);
		parser->depth--;
		if (err)
			return err;
		*ret_exits = inner;
		memcpy(ret_exits->bits[0], inner.bits[1], sizeof(inner.bits[1]));
		memcpy(ret_exits->bits[1], inner.bits[0], sizeof(inner.bits[0]));
		return 0;
	}
	if (*parser->at != '(')
		return take_test(parser, ret_exits);
	parser->at++;
	parser->depth++;
	err = take_any(parser, ret_exits);
	parser->depth--;
	if (!err && !take(parser, ")"))
		return fail(parser, "a closing parenthesis is missing");
	return err;
}

/* A chain of @sign: the exits of @decided end the whole chain, the others lead to the next part. */
static int take_chain(struct parser *parser, const char *sign, bool decided,
		      int (*take_part)(struct parser *, struct exits *), struct exits *ret_exits)
{
	struct exits next;
	int err = take_part(parser, ret_exits);

	while (!err && take(parser, sign)) {
		err = take_part(parser, &next);
		if (err)
			break;
		lead(parser->condition, ret_exits, !decided, next.first);
		for (int by = 0; by < 2; by++) {
			ret_exits->bits[decided][by] |= next.bits[decided][by];
			ret_exits->bits[!decided][by] = next.bits[!decided][by];
		}
	}
	return err;
}

static int take_all(struct parser *parser, struct exits *ret_exits)
{
	return take_chain(parser, "&&", false, take_one, ret_exits);
}

static int take_any(struct parser *parser, struct exits *ret_exits)
{
	return take_chain(parser, "||", true, take_all, ret_exits);
}

int condition_parse(const char *text, struct condition_text *ret_condition, struct trace_error *ret_error)
{
	struct parser parser = {.text = text, .at = text, .condition = ret_condition, .ret_error = ret_error};
	struct exits exits;
	int err;

	*ret_condition = (struct condition_text){0};
	err = take_any(&parser, &exits);
	if (err)
		return err;
	skip_blanks(&parser);
	if (*parser.at)
		return fail(&parser, "&& or || is missing");
	lead(ret_condition, &exits, true, TRACE_CONDITION_ACCEPT);
	lead(ret_condition, &exits, false, TRACE_CONDITION_REJECT);
	return 0;
}

/* ---- fields ---- */

void condition_field_name(const char *operand, char *name, size_t size)
{
	const char *colon = strrchr(operand, ':'), *end = operand + strlen(operand);
	size_t used = 0;

	if (colon && colon > operand && colon[-1] != ':' && colon[1] != ':')
		end = colon; /* a type follows */
	for (; operand < end && used + 1 < size; operand++)
		if (isalnum((unsigned char)*operand))
			name[used++] = *operand;
		else if (*operand == '_' || (used && name[used - 1] != '_'))
			name[used++] = '_';
	while (used && name[used - 1] == '_' && end[-1] != '_')
		used--;
	name[used] = '\0';
}

/* A name as written, or without its leading and double underscores, as probes name their fields. */
static const struct trace_field *find_field(const struct trace_event_type *type, const char *operand)
{
	char name[CONDITION_OPERAND_BYTES];

	for (uint32_t i = 0; i < type->nr_fields; i++)
		if (!strcmp(type->fields[i].name, operand))
			return &type->fields[i];
	condition_field_name(operand, name, sizeof(name));
	for (uint32_t i = 0; i < type->nr_fields; i++)
		if (!strcmp(type->fields[i].name, name) || !strcmp(type->fields[i].name, name + strspn(name, "_")))
			return &type->fields[i];
	return NULL;
}

/*
 * A float field has only some of the numbers that the constant can be. One that lies between two of
 * them is replaced by the neighbour with which the comparison has the same result.
 */
static void set_float(struct trace_condition_test *step, double real)
{
	bool up = step->comparison == TRACE_CONDITION_GREATER_OR_EQUAL || step->comparison == TRACE_CONDITION_LESS;
	float narrow = (float)real;
	uint64_t bits = 0;

	if (step->bytes == 8)
		memcpy(&bits, &real, sizeof(real));
	else
		memcpy(&bits, &narrow, sizeof(narrow));
	step->number = trace_condition_float_key(bits, step->bytes);
	if (step->bytes == 4 && (double)narrow > real && !up)
		step->number--;
	else if (step->bytes == 4 && (double)narrow < real && up)
		step->number++;
}

static int bad_constant(const struct condition_test *test, const char *needs, struct trace_error *ret_error)
{
	return error_set(ret_error, -EINVAL, "condition on %.100s: the field needs %s", test->operand, needs);
}

static int compile_test(const struct condition_test *test, const struct trace_field *field,
			struct trace_condition_test *ret_step, struct trace_error *ret_error)
{
	bool is_text = field->kind == TRACE_KIND_STRING;

	*ret_step = test->step;
	ret_step->offset = field->offset;
	ret_step->bytes = field->bytes;
	if (field->kind == TRACE_KIND_BYTES)
		return bad_constant(test, "to be a number or a text, and is an array of bytes", ret_error);
	if (is_text != (test->constant == CONDITION_TEXT))
		return bad_constant(test, is_text ? "a \"text\" to compare with" : "a number to compare with",
				    ret_error);
	if (is_text) {
		ret_step->type = TRACE_CONDITION_TEXT;
	} else if (field->kind == TRACE_KIND_FLOAT) {
		ret_step->type = TRACE_CONDITION_FLOAT;
		ret_step->negative = 0;
		if (field->bytes == 4 && test->step.comparison <= TRACE_CONDITION_DIFFERENT &&
		    (double)(float)test->real != test->real)
			return bad_constant(test, "a number that a float can be; use < and >", ret_error);
		set_float(ret_step, test->real);
	} else {
		if (test->constant == CONDITION_FLOAT)
			return bad_constant(test, "an integer to compare with", ret_error);
		ret_step->type = field->is_signed ? TRACE_CONDITION_SIGNED : TRACE_CONDITION_UNSIGNED;
	}
	return 0;
}

int condition_compile(const struct condition_text *condition, const struct trace_event_type *type,
		      struct trace_condition *ret_table, size_t *ret_missing, struct trace_error *ret_error)
{
	int err = 0;

	*ret_table = (struct trace_condition){.nr_tests = (uint32_t)condition->nr_tests};
	for (size_t i = 0; i < condition->nr_tests && !err; i++) {
		const struct trace_field *field = find_field(type, condition->tests[i].operand);

		if (!field) {
			*ret_missing = i;
			return error_set(ret_error, -ENOENT, "%s has no field %.100s for the condition", type->name,
					 condition->tests[i].operand);
		}
		err = compile_test(&condition->tests[i], field, &ret_table->tests[i], ret_error);
	}
	return err;
}

static uint8_t moved(uint8_t step, uint32_t by)
{
	return step < TRACE_CONDITION_MAX_TESTS ? (uint8_t)(step + by) : step;
}

int condition_join(const struct trace_condition *first, const struct trace_condition *second,
		   struct trace_condition *ret_both)
{
	uint32_t nr = first->nr_tests;

	if (nr + second->nr_tests > TRACE_CONDITION_MAX_TESTS)
		return -E2BIG;
	*ret_both = *first;
	for (uint32_t i = 0; i < nr && second->nr_tests; i++) {
		struct trace_condition_test *test = &ret_both->tests[i];

		test->if_true = test->if_true == TRACE_CONDITION_ACCEPT ? (uint8_t)nr : test->if_true;
		test->if_false = test->if_false == TRACE_CONDITION_ACCEPT ? (uint8_t)nr : test->if_false;
	}
	for (uint32_t i = 0; i < second->nr_tests; i++) {
		ret_both->tests[nr + i] = second->tests[i];
		ret_both->tests[nr + i].if_true = moved(second->tests[i].if_true, nr);
		ret_both->tests[nr + i].if_false = moved(second->tests[i].if_false, nr);
	}
	ret_both->nr_tests += second->nr_tests;
	return 0;
}
