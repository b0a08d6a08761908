/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_RECORD_IMAGE_H
#define TRACER_RECORD_IMAGE_H
/*
 * record_image.h - how libtracer writes an event with texts, or with many fields
 *
 * An image is the payload of a record, in the thread's own memory, before it is copied into a
 * buffer. The daemon measures the cost of such events with the same code (event_cost.c).
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <trace/tracepoint.h>
#include <trace/user_memory.h>

#define TEXTS_IMAGE_BYTES (TRACE_RECORD_MAX_BYTES - sizeof(struct trace_record))
#define TEXTS_IMAGE_WORDS (TEXTS_IMAGE_BYTES / 4 + 1)

#ifdef __x86_64__
/**
 * append_image() - trace_append() for any size, which is in @word, of a payload of @words words
 * @first: its first two. The others of @image are copied, 8 bytes at a time, the last 4 alone.
 */
/* clang-format off */
static inline bool append_image(const struct trace_window *window, const volatile uint32_t *where, uint64_t now,
				uint64_t word, uint64_t first, const uint32_t *image, uint32_t words)
{
	const uint32_t low = (uint32_t)now, high = (uint32_t)(now >> 32);

	TRACE_APPEND_("movq %[word], %%rsi\n\tshrq $45, %%rsi\n\tandl $-8, %%esi\n\taddq %%rsi, %%rcx\n\t",
		      "movq %[first], 8(%%rdi)\n\tmovl $2, %%r8d\n"
		      "5:\n\tleal 1(%%r8), %%esi\n\tcmpl %[words], %%esi\n\tjae 6f\n\t"
		      "movq (%[image], %%r8, 4), %%rsi\n\tmovq %%rsi, 8(%%rdi, %%r8, 4)\n\t"
		      "addl $2, %%r8d\n\tjmp 5b\n"
		      "6:\n\tcmpl %[words], %%r8d\n\tjae 7f\n\tmovl (%[image], %%r8, 4), %%esi\n\t"
		      "movq %%rsi, 8(%%rdi, %%r8, 4)\n"
		      "7:\n\tmovq (%[window]), %%r8\n\t", /* reload the block */
		      [first] "r"(first), [image] "r"(image), [words] "r"(words));
	return true;
disturbed:
	return false;
}
/* clang-format on */
#endif

/**
 * texts_image() - put the fields of @image and then the @texts, one for each field, into @payload
 * @payload: TEXTS_IMAGE_WORDS words. Texts that do not fit are cut.
 * Returns the number of words that it used.
 */
static inline uint32_t texts_image(uint32_t *payload, const struct trace_tracepoint *tracepoint, const void *image,
				   const struct trace_bytes_value *texts)
{
	unsigned char *bytes = (unsigned char *)payload;
	size_t used = tracepoint->payload_bytes;

	memcpy(bytes, image, used);
	for (unsigned int i = 0; i < tracepoint->nr_fields; i++) {
		const struct trace_tracepoint_field *field = &tracepoint->fields[i];
		size_t limit = TEXTS_IMAGE_BYTES - used < TRACE_TEXT_MAX ? TEXTS_IMAGE_BYTES - used : TRACE_TEXT_MAX,
		       length = texts[i].length;
		struct user_reference reference;

		if (field->type != USER_FIELD_STRING && field->type != USER_FIELD_BYTES)
			continue;
		if (!texts[i].pointer)
			length = 0;
		else if (field->type == USER_FIELD_STRING)
			length = strnlen(texts[i].pointer, length < limit + 1 ? length : limit + 1);
		if (length > limit) {
			memcpy(bytes + used, texts[i].pointer, limit);
			length = limit;
			if (field->type == USER_FIELD_STRING && limit >= 3)
				memcpy(bytes + used + limit - 3, "...", 3);
		} else if (length) {
			memcpy(bytes + used, texts[i].pointer, length);
		}
		reference = (struct user_reference){(trace_u16)used, (trace_u16)length};
		memcpy(bytes + field->offset, &reference, sizeof(reference));
		used += length;
	}
	memset(bytes + used, 0, -used & 3);
	return (uint32_t)(used + 3) / 4;
}

#endif
