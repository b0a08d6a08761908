/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_condition.c - conditions: what a text means, compared with the same condition in C. */
#include "unit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "condition_text.h"

/** struct payload - as records have it; the text follows the fixed part */
struct payload {
	uint32_t tid;
	int32_t a;
	uint64_t b;
	float f;
	double d;
	uint16_t name_at;
	uint16_t name_bytes;
	int8_t small;
	unsigned char pad[3];
	char text[16];
} __attribute__((packed));

#define AT(member) offsetof(struct payload, member)

static const struct trace_field fields[] = {
	{"tid", 0, 4, false, TRACE_KIND_TID},	       {"a", AT(a), 4, true, TRACE_KIND_DEC},
	{"b", AT(b), 8, false, TRACE_KIND_DEC},	       {"f", AT(f), 4, true, TRACE_KIND_FLOAT},
	{"d", AT(d), 8, true, TRACE_KIND_FLOAT},       {"name", AT(name_at), 4, false, TRACE_KIND_STRING},
	{"small", AT(small), 1, true, TRACE_KIND_DEC}, {"order_id", AT(a), 4, true, TRACE_KIND_DEC},
};
static const struct trace_event_type type = {.name = "shop:paid", .fields = fields, .nr_fields = 8};

static struct payload payload_of(int32_t a, uint64_t b, double d, const char *name)
{
	struct payload payload = {.a = a, .b = b, .f = (float)d, .d = d, .small = (int8_t)a};

	payload.name_at = AT(text);
	payload.name_bytes = (uint16_t)strlen(name);
	memcpy(payload.text, name, strlen(name));
	return payload;
}

static bool holds(const char *text, const struct payload *payload)
{
	struct condition_text parsed;
	struct trace_condition condition;
	struct trace_error error = {0};
	size_t missing;

	if (condition_parse(text, &parsed, &error) || condition_compile(&parsed, &type, &condition, &missing, &error)) {
		fprintf(stderr, "%s\n", error.message);
		CU_FAIL("a condition was refused");
		return false;
	}
	return trace_condition_holds(&condition, payload, sizeof(*payload));
}

#define HOLDS(condition, p) CU_ASSERT_TRUE(holds(condition, &(p)))
#define FAILS(condition, p) CU_ASSERT_FALSE(holds(condition, &(p)))

static void numbers_compare_by_value(void)
{
	struct payload p = payload_of(-3, UINT64_MAX, 2.5, "bob");

	HOLDS("a<0", p);
	HOLDS("a < 18446744073709551615", p);
	HOLDS("a==-3", p);
	HOLDS("small<=-3", p);
	FAILS("a>5", p);
	HOLDS("b>0", p);
	HOLDS("b>-1", p);
	FAILS("b==-1", p);
	HOLDS("b==0xffffffffffffffff", p);
	HOLDS("order->id==-3", p);
	HOLDS("a!=-9223372036854775808", p);
	HOLDS("a", p);
	FAILS("!a", p);
}

static void floating_point_numbers_compare_by_value(void)
{
	static const double values[] = {-1e30, -2.5, -0.1, -0.0, 0.0, 0.1, 0.3, 2.5, 1e-40, 1e30};
	char text[64];

	for (size_t i = 0; i < 10; i++)
		for (size_t j = 0; j < 10; j++) {
			struct payload p = payload_of(0, 0, values[i], "");

			snprintf(text, sizeof(text), "d>%.17g", values[j]);
			CU_ASSERT_EQUAL(holds(text, &p), p.d > values[j]);
			snprintf(text, sizeof(text), "d<=%.17g", values[j]);
			CU_ASSERT_EQUAL(holds(text, &p), p.d <= values[j]);
			snprintf(text, sizeof(text), "f>=%.17g && f>%.17g", values[j], values[j]);
			CU_ASSERT_EQUAL(holds(text, &p), p.f >= values[j] && p.f > values[j]);
			snprintf(text, sizeof(text), "f<%.17g || f<=%.17g", values[j], values[j]);
			CU_ASSERT_EQUAL(holds(text, &p), p.f < values[j] || p.f <= values[j]);
		}
}

static void nothing_is_true_of_not_a_number_but_difference(void)
{
	struct payload p = payload_of(0, 0, __builtin_nan(""), "");

	FAILS("d>0 || d<0 || d==0", p);
	HOLDS("d!=0", p);
	HOLDS("!(d>=0)", p);
}

static void texts_are_compared_whole(void)
{
	struct payload p = payload_of(1, 2, 0, "bob,[\"]");

	HOLDS("name==\"bob,[\\\"]\"", p);
	FAILS("name==\"bob\"", p);
	HOLDS("name!=\"bobs\"", p);
	p = payload_of(1, 2, 0, "");
	HOLDS("name==\"\"", p);
}

/* A random condition over three tests, as text and as its truth. */
static bool random_condition(char *text, size_t size, int depth, const bool *truths, unsigned int *seed)
{
	static const char *const tests[] = {"a==1", "b==1", "name==\"x\""};
	char left[512], right[512];
	int what = rand_r(seed) % (depth ? 6 : 2), which = rand_r(seed) % 3;
	bool x, y;

	if (what < 2) {
		snprintf(text, size, what ? "!(%s)" : "%s", tests[which]);
		return what ? !truths[which] : truths[which];
	}
	x = random_condition(left, sizeof(left), depth - 1, truths, seed);
	y = random_condition(right, sizeof(right), depth - 1, truths, seed);
	if (what == 2) {
		snprintf(text, size, "!(%s)", left);
		return !x;
	}
	snprintf(text, size, what == 3 ? "(%s) && (%s)" : "(%s) || %s", left, right);
	return what == 3 ? x && y : x || y;
}

static void any_combination_means_what_it_means_in_c(void)
{
	unsigned int seed = 1, tried = 0;
	char text[1100];

	for (int i = 0; i < 3000; i++) {
		bool truths[3] = {rand_r(&seed) & 1, rand_r(&seed) & 1, rand_r(&seed) & 1}, truth;
		struct payload p = payload_of(truths[0], truths[1], 0, truths[2] ? "x" : "y");
		struct condition_text parsed;

		truth = random_condition(text, sizeof(text), 3, truths, &seed);
		if (condition_parse(text, &parsed, NULL))
			continue; /* too many tests */
		tried++;
		CU_ASSERT_EQUAL(holds(text, &p), truth);
	}
	CU_ASSERT(tried > 2000);
}

static void both_of_two_conditions_hold_when_they_are_joined(void)
{
	struct condition_text parsed;
	struct trace_condition first, second, both;
	size_t missing;

	CU_ASSERT_EQUAL(condition_parse("a==1 || b==1", &parsed, NULL), 0);
	CU_ASSERT_EQUAL(condition_compile(&parsed, &type, &first, &missing, NULL), 0);
	CU_ASSERT_EQUAL(condition_parse("!(name==\"x\") || b==2", &parsed, NULL), 0);
	CU_ASSERT_EQUAL(condition_compile(&parsed, &type, &second, &missing, NULL), 0);
	CU_ASSERT_EQUAL(condition_join(&first, &second, &both), 0);
	for (int32_t a = 0; a < 2; a++)
		for (uint64_t b = 0; b < 3; b++)
			for (int x = 0; x < 2; x++) {
				struct payload p = payload_of(a, b, 0, x ? "x" : "y");

				CU_ASSERT_EQUAL(!!trace_condition_holds(&both, &p, sizeof(p)),
						(a == 1 || b == 1) && (!x || b == 2));
			}
}

static void a_field_outside_of_the_payload_fulfils_nothing(void)
{
	struct payload p = payload_of(1, 2, 0, "bob");
	struct condition_text parsed;
	struct trace_condition condition;
	size_t missing;

	CU_ASSERT_EQUAL(condition_parse("name==\"bob\"", &parsed, NULL), 0);
	CU_ASSERT_EQUAL(condition_compile(&parsed, &type, &condition, &missing, NULL), 0);
	CU_ASSERT_TRUE(trace_condition_holds(&condition, &p, AT(text) + 3));
	CU_ASSERT_FALSE(trace_condition_holds(&condition, &p, AT(text) + 2));
	CU_ASSERT_FALSE(trace_condition_holds(&condition, &p, AT(name_at) + 2));
}

static void each_mistake_has_one_line(void)
{
	static const struct {
		const char *text;
		const char *words;
	} mistakes[] = {
		{"a=5", "a comparison is =="},
		{"a>", "a number, 'c' or \"text\" is missing"},
		{"5<a", "the field comes first"},
		{"name==\"bob", "not closed"},
		{"name<\"bob\"", "texts have only == and !="},
		{"(a>5", "a closing parenthesis is missing"},
		{"a>5 b<3", "&& or || is missing"},
		{"a>5x", "this is not a number"},
		{"a>99999999999999999999", "more than 64 bits"},
		{"a>5 &&", "a field is missing"},
		{"zz>5", "shop:paid has no field zz"},
		{"name==5", "a \"text\" to compare with"},
		{"a==\"x\"", "a number to compare with"},
		{"a>1.5", "an integer to compare with"},
	};

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		struct condition_text parsed;
		struct trace_condition condition;
		struct trace_error error = {0};
		size_t missing;
		int err = condition_parse(mistakes[i].text, &parsed, &error);

		if (!err)
			err = condition_compile(&parsed, &type, &condition, &missing, &error);
		CU_ASSERT_NOT_EQUAL(err, 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.message, mistakes[i].words));
		if (!strstr(error.message, mistakes[i].words))
			fprintf(stderr, "%s: %s\n", mistakes[i].text, error.message);
		CU_ASSERT_PTR_NULL(strchr(error.message, '\n'));
	}
}

static const struct unit_case cases[] = {
	CASE(numbers_compare_by_value),
	CASE(floating_point_numbers_compare_by_value),
	CASE(nothing_is_true_of_not_a_number_but_difference),
	CASE(texts_are_compared_whole),
	CASE(any_combination_means_what_it_means_in_c),
	CASE(both_of_two_conditions_hold_when_they_are_joined),
	CASE(a_field_outside_of_the_payload_fulfils_nothing),
	CASE(each_mistake_has_one_line),
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("condition", cases, argc, argv);
}
