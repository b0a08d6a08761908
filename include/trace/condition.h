/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_CONDITION_H
#define TRACE_CONDITION_H
/*
 * condition.h - a condition on the fields of an event, as a table that is evaluated before the
 * event is recorded
 *
 * Three programs evaluate it: the BPF programs of probes, libtracer in a traced program, and the
 * daemon. Each reads the fields from a payload in its own way; trace_condition_compare() is
 * common.
 * The text of a condition becomes this table in condition_compile() (base/condition_text.h).
 *
 * Terms. A test compares one field with a constant. Each test names the test that follows when it
 * holds and the one that follows when it does not, always one further down the table, so the
 * evaluation ends: "a>5 && (b==1 || c<0)" is three tests with the steps (1, reject), (accept, 2),
 * (accept, reject).
 */
#include <trace/events.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TRACE_CONDITION_MAX_TESTS  16
#define TRACE_CONDITION_TEXT_BYTES 48
#define TRACE_CONDITION_ACCEPT	   0xfe /* values of @if_true and @if_false besides indexes of tests */
#define TRACE_CONDITION_REJECT	   0xff

enum trace_condition_operator {
	TRACE_CONDITION_EQUAL = 0,
	TRACE_CONDITION_DIFFERENT = 1,
	TRACE_CONDITION_LESS = 2,
	TRACE_CONDITION_LESS_OR_EQUAL = 3,
	TRACE_CONDITION_GREATER = 4,
	TRACE_CONDITION_GREATER_OR_EQUAL = 5,
};

enum trace_condition_type {
	TRACE_CONDITION_UNSIGNED = 0,
	TRACE_CONDITION_SIGNED = 1,
	TRACE_CONDITION_FLOAT = 2, /* IEEE 754; @number is trace_condition_float_key() of the constant */
	TRACE_CONDITION_TEXT = 3,  /* the field is a struct user_reference; only equal and different */
};

/**
 * struct trace_condition_test - field OPERATOR constant
 * @offset, @bytes: the field in the payload
 * @negative: the constant @number is below zero
 * @text: a constant text of @text_bytes bytes
 */
struct trace_condition_test {
	trace_u16 offset;
	trace_u8 bytes;
	trace_u8 type;
	trace_u8 comparison;
	trace_u8 negative;
	trace_u8 if_true;
	trace_u8 if_false;
	trace_u64 number;
	trace_u64 text_bytes;
	trace_u8 text[TRACE_CONDITION_TEXT_BYTES];
};

/** struct trace_condition - @nr_tests 0: no condition, each event is recorded */
struct trace_condition {
	trace_u32 nr_tests;
	trace_u32 pad;
	struct trace_condition_test tests[TRACE_CONDITION_MAX_TESTS];
};

/**
 * trace_condition_float_key() - an integer that orders floating point numbers of @bytes bytes as
 * their values do, from their @bits. Both zeros have one key
 */
static inline trace_u64 trace_condition_float_key(trace_u64 bits, trace_u8 bytes)
{
	trace_u64 sign = bytes == 4 ? 1ULL << 31 : 1ULL << 63;

	if (bits == sign)
		bits = 0;
	return bits & sign ? ~bits & (sign | (sign - 1)) : bits | sign;
}

/** trace_condition_is_nan() - are @bits those of "not a number" in @bytes bytes? */
static inline int trace_condition_is_nan(trace_u64 bits, trace_u8 bytes)
{
	return bytes == 4 ? (bits & 0x7fffffffULL) > 0x7f800000ULL
			  : (bits & 0x7fffffffffffffffULL) > 0x7ff0000000000000ULL;
}

/**
 * trace_condition_order() - does a result of a comparison (-1 less, 0, 1 greater) fulfil
 * @comparison?
 */
static inline int trace_condition_order(trace_u8 comparison, int order)
{
	switch (comparison) {
	case TRACE_CONDITION_EQUAL:
		return order == 0;
	case TRACE_CONDITION_DIFFERENT:
		return order != 0;
	case TRACE_CONDITION_LESS:
		return order < 0;
	case TRACE_CONDITION_LESS_OR_EQUAL:
		return order <= 0;
	case TRACE_CONDITION_GREATER:
		return order > 0;
	default:
		return order >= 0;
	}
}

/**
 * trace_condition_compare() - does the number @bits in a field fulfil @test?
 * @bits: the field's bytes, zero-extended
 * Numbers compare by their values, whatever their types: -1 is less than 1 also if the constant or
 * the field is unsigned.
 */
static inline int trace_condition_compare(const struct trace_condition_test *test, trace_u64 bits)
{
	unsigned int unused_bits = 64 - 8 * (test->bytes & 15);
	int negative = 0;

	if (test->type == TRACE_CONDITION_FLOAT) {
		if (trace_condition_is_nan(bits, test->bytes))
			return test->comparison == TRACE_CONDITION_DIFFERENT;
		bits = trace_condition_float_key(bits, test->bytes);
	} else if (test->type == TRACE_CONDITION_SIGNED) {
		bits = (trace_u64)((trace_s64)(bits << (unused_bits & 63)) >> (unused_bits & 63));
		negative = (trace_s64)bits < 0;
	}
	if (negative != test->negative)
		return trace_condition_order(test->comparison, negative ? -1 : 1);
	return trace_condition_order(test->comparison, bits < test->number ? -1 : bits > test->number);
}

#if !defined(__bpf__) && !defined(__BPF__)
/**
 * trace_condition_text_is() - is the text of the field the constant? The fixed part of @payload has
 * to have the field
 */
static inline int trace_condition_text_is(const struct trace_condition_test *test, const unsigned char *payload,
					  trace_u64 bytes)
{
	trace_u16 at, length;

	__builtin_memcpy(&at, payload + test->offset, sizeof(at)); /* struct user_reference */
	__builtin_memcpy(&length, payload + test->offset + sizeof(at), sizeof(length));
	return length == test->text_bytes && length <= TRACE_CONDITION_TEXT_BYTES && (trace_u64)at + length <= bytes &&
	       !__builtin_memcmp(payload + at, test->text, length);
}

/**
 * trace_condition_holds() - for a payload of @bytes bytes. A field outside of it fulfils no test
 */
static inline int trace_condition_holds(const struct trace_condition *condition, const void *payload, trace_u64 bytes)
{
	trace_u32 next = 0;

	for (trace_u32 i = 0; i < condition->nr_tests && i < TRACE_CONDITION_MAX_TESTS; i++) {
		const struct trace_condition_test *test = &condition->tests[i];
		trace_u64 bits = 0;
		int fulfilled;

		if (i != next)
			continue;
		if (test->bytes > sizeof(bits) || (trace_u64)test->offset + test->bytes > bytes) {
			fulfilled = 0;
		} else if (test->type == TRACE_CONDITION_TEXT) {
			fulfilled = trace_condition_text_is(test, (const unsigned char *)payload, bytes) ==
				    (test->comparison == TRACE_CONDITION_EQUAL);
		} else {
			__builtin_memcpy(&bits, (const unsigned char *)payload + test->offset, test->bytes);
			fulfilled = trace_condition_compare(test, bits);
		}
		next = fulfilled ? test->if_true : test->if_false;
	}
	return !condition->nr_tests || next == TRACE_CONDITION_ACCEPT;
}
#endif

#ifdef __cplusplus
}
#endif
#endif
