/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_open_memory.c - a trace in memory is that of the file with the same bytes, also damaged. */
#include <string.h>
#include <sys/mman.h>

#include "damage_case.h"
#include "unit.h"

static bool same_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_info(const struct trace *a, const struct trace *b)
{
	const struct trace_info *x = trace_get_info(a), *y = trace_get_info(b);

	return same_text(x->file, y->file) && same_text(x->host, y->host) && x->start_ns == y->start_ns &&
	       x->end_ns == y->end_ns && x->start_realtime_ns == y->start_realtime_ns &&
	       x->complete_from_ns == y->complete_from_ns && x->events == y->events && x->lost == y->lost &&
	       x->file_bytes == y->file_bytes && x->nr_cpus == y->nr_cpus && x->clean_end == y->clean_end &&
	       x->index_rebuilt == y->index_rebuilt;
}

static bool same_lists(const struct trace *a, const struct trace *b)
{
	bool same = trace_nr_gaps(a) == trace_nr_gaps(b) && trace_nr_damages(a) == trace_nr_damages(b) &&
		    trace_nr_streams(a) == trace_nr_streams(b) && trace_nr_chunks(a) == trace_nr_chunks(b) &&
		    trace_nr_types(a) == trace_nr_types(b);

	for (size_t i = 0; same && i < trace_nr_gaps(a); i++) {
		const struct trace_gap *x = trace_get_gap(a, i), *y = trace_get_gap(b, i);

		same = x->stream == y->stream && x->start_ns == y->start_ns && x->end_ns == y->end_ns &&
		       x->lost == y->lost && x->cause == y->cause;
	}
	for (size_t i = 0; same && i < trace_nr_damages(a); i++)
		same = trace_get_damage(a, i)->offset == trace_get_damage(b, i)->offset &&
		       same_text(trace_get_damage(a, i)->message, trace_get_damage(b, i)->message);
	for (size_t i = 0; same && i < trace_nr_chunks(a); i++)
		same = trace_get_chunk(a, i)->offset == trace_get_chunk(b, i)->offset &&
		       trace_get_chunk(a, i)->damaged == trace_get_chunk(b, i)->damaged;
	return same;
}

static bool same_events(const struct trace *a, const struct trace *b)
{
	struct seen x = seen_of(a, NULL), y = seen_of(b, NULL);
	bool same = x.nr == y.nr && x.lost == y.lost && x.nr_lost == y.nr_lost && x.error == y.error &&
		    (!x.nr || memcmp(x.events, y.events, x.nr * sizeof(*x.events)) == 0);

	seen_free(&x);
	seen_free(&y);
	return same;
}

static bool same_verify(const struct trace *a, const struct trace *b)
{
	struct trace_error x = {0}, y = {0};

	return trace_verify(a, &x) == trace_verify(b, &y) && same_text(x.message, y.message);
}

/*
 * The copy begins at an odd address and ends with the allocation, so that AddressSanitizer sees
 * each byte that is read behind it.
 */
static bool is_same(const unsigned char *data, size_t bytes)
{
	struct image image = image_of(data, bytes);
	struct trace_error of_file = {0}, of_memory = {0};
	unsigned char *copy = malloc(bytes + 1), *odd = copy + 1;
	struct trace *file = trace_open(image.path, &of_file), *memory;
	bool same;

	memcpy(odd, data, bytes);
	memory = trace_open_memory(odd, bytes, image.path, &of_memory);
	if (!file || !memory)
		same = !file && !memory && of_file.code == of_memory.code &&
		       same_text(of_file.message, of_memory.message);
	else
		same = same_info(file, memory) && same_lists(file, memory) && same_events(file, memory) &&
		       same_verify(file, memory);
	same = same && memcmp(odd, data, bytes) == 0;
	trace_close(file);
	trace_close(memory);
	free(copy);
	image_free(&image);
	return same;
}

static void a_good_trace_is_the_same(void)
{
	for (int finish = 0; finish < 2; finish++) {
		struct fixture fixture = fixture_new(finish);

		CU_ASSERT_TRUE(is_same(fixture.image.data, fixture.image.bytes));
		fixture_free(&fixture);
	}
}

static void a_truncated_trace_is_the_same(void)
{
	size_t step = getenv("TRACE_TEST_LONG") ? 1 : 97;

	for (int finish = 0; finish < 2; finish++) {
		struct fixture fixture = fixture_new(finish);
		size_t nr_differ = 0;

		for (size_t bytes = 1; bytes < fixture.image.bytes; bytes += step)
			nr_differ += !is_same(fixture.image.data, bytes);
		CU_ASSERT_EQUAL(nr_differ, 0);
		fixture_free(&fixture);
	}
}

static void a_damaged_trace_is_the_same(void)
{
	size_t step = getenv("TRACE_TEST_LONG") ? 1 : 61;

	for (int finish = 0; finish < 2; finish++) {
		struct fixture fixture = fixture_new(finish);
		size_t nr_differ = 0;

		for (size_t at = 0; at < fixture.image.bytes; at += step) {
			unsigned char bit = (unsigned char)(1 << at % 8);

			fixture.image.data[at] ^= bit;
			nr_differ += !is_same(fixture.image.data, fixture.image.bytes);
			fixture.image.data[at] ^= bit;
		}
		CU_ASSERT_EQUAL(nr_differ, 0);
		fixture_free(&fixture);
	}
}

static void no_bytes_are_no_trace(void)
{
	struct trace_error error = {0};

	CU_ASSERT_PTR_NULL(trace_open_memory(NULL, 0, "page", &error));
	CU_ASSERT(error.code == -EINVAL &&
		  same_text(error.message,
			    "page: is empty, not a trace: nothing was recorded into it, or it was not copied"));
	CU_ASSERT_PTR_NULL(trace_open_memory("text", 4, "page", &error));
	CU_ASSERT(error.code == -EINVAL && strncmp(error.message, "page: has 4 bytes, and a trace at least ", 40) == 0);
	CU_ASSERT_PTR_NULL(trace_open_memory(NULL, 0, "page", NULL));
}

/* The reader gives back pages of a file that it has read; the memory of the caller must stay. */
static void the_memory_stays_as_it_is(void)
{
	struct tb *tb = tb_new();
	struct image image;
	char path[1800] = "/";
	unsigned char *copy;
	struct trace *trace;
	struct seen seen;

	for (uint64_t i = 0; i < 9000; i++) {
		for (size_t at = 1; at < sizeof(path) - 1; at++)
			path[at] = (char)('0' + random() % 64);
		tb_sys_path(tb, 0, 1000 + i, 2, path);
		if (i % 500 == 499)
			tb_cut(tb, 0);
	}
	image = image_new(tb, true);
	CU_ASSERT_TRUE(image.bytes > 10u << 20);
	copy = mmap(NULL, image.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CU_ASSERT_TRUE_FATAL(copy != MAP_FAILED);
	memcpy(copy, image.data, image.bytes);
	trace = trace_open_memory(copy, image.bytes, "page", NULL);
	for (int i = 0; i < 2; i++) {
		seen = seen_of(trace, NULL);
		CU_ASSERT(seen.nr == 9000 && !seen.error);
		seen_free(&seen);
	}
	trace_close(trace);
	CU_ASSERT_TRUE(memcmp(copy, image.data, image.bytes) == 0);
	munmap(copy, image.bytes);
	image_free(&image);
	tb_free(tb);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_good_trace_is_the_same), CASE(a_truncated_trace_is_the_same), CASE(a_damaged_trace_is_the_same),
		CASE(no_bytes_are_no_trace),	CASE(the_memory_stays_as_it_is),     {NULL, NULL},
	};

	return unit_main("trace_open_memory", cases, argc, argv);
}
