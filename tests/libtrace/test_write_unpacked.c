/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_write_unpacked.c - a copy with its chunks uncompressed has the events and losses of the
 * trace, also of a damaged one.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "damage_case.h"
#include "unit.h"

enum { MOST_BYTES = 64 << 20 };

/* Returns the file descriptor of the copy; < 0: the error. */
static int copy_of(const struct trace *trace, uint64_t most_bytes)
{
	int fd = memfd_create("copy", MFD_CLOEXEC), error = trace_write_unpacked(trace, fd, most_bytes, NULL);

	if (error) {
		close(fd);
		return error;
	}
	return fd;
}

static struct trace *open_fd(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return trace_open(path, NULL);
}

static bool same_gaps(const struct trace *a, const struct trace *b)
{
	bool same = trace_nr_gaps(a) == trace_nr_gaps(b);

	for (size_t i = 0; same && i < trace_nr_gaps(a); i++) {
		const struct trace_gap *x = trace_get_gap(a, i), *y = trace_get_gap(b, i);

		same = x->stream == y->stream && x->cpu == y->cpu && x->start_ns == y->start_ns &&
		       x->end_ns == y->end_ns && x->lost == y->lost && x->cause == y->cause;
	}
	return same;
}

static bool same_info(const struct trace *a, const struct trace *b)
{
	const struct trace_info *x = trace_get_info(a), *y = trace_get_info(b);

	return strcmp(x->host, y->host) == 0 && x->start_ns == y->start_ns && x->end_ns == y->end_ns &&
	       x->start_realtime_ns == y->start_realtime_ns && x->complete_from_ns == y->complete_from_ns &&
	       x->events == y->events && x->lost == y->lost && x->nr_cpus == y->nr_cpus &&
	       x->clean_end == y->clean_end && x->index_rebuilt == y->index_rebuilt;
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

static bool is_same(const unsigned char *data, size_t bytes)
{
	struct image image = image_of(data, bytes);
	struct trace *trace = trace_open(image.path, NULL), *copy;
	bool same = true;
	int fd;

	if (trace) {
		fd = copy_of(trace, MOST_BYTES);
		copy = fd < 0 ? NULL : open_fd(fd);
		same = copy && same_info(trace, copy) && same_gaps(trace, copy) && same_events(trace, copy) &&
		       /*
			* a damaged table is whole in the copy, and a header of which the index has
			* another one
			*/
		       (trace_verify(copy, NULL) == 0 || trace_verify(trace, NULL) < 0) &&
		       trace_nr_damages(copy) <= trace_nr_damages(trace) &&
		       (trace_nr_damages(copy) == trace_nr_damages(trace) || !trace_get_info(trace)->index_rebuilt);
		trace_close(copy);
		close(fd);
	}
	trace_close(trace);
	image_free(&image);
	return same;
}

static void a_copy_has_no_compressed_chunk(void)
{
	for (int finish = 0; finish < 2; finish++) {
		struct fixture fixture = fixture_new(finish);
		struct trace *trace = trace_open(fixture.image.path, NULL), *copy;
		int fd = copy_of(trace, MOST_BYTES);

		CU_ASSERT_TRUE(is_same(fixture.image.data, fixture.image.bytes));
		copy = open_fd(fd);
		CU_ASSERT_EQUAL(trace_nr_chunks(copy), trace_nr_chunks(trace));
		for (size_t i = 0; i < trace_nr_chunks(copy); i++)
			CU_ASSERT_EQUAL(trace_get_chunk(copy, i)->packed_bytes, trace_get_chunk(copy, i)->raw_bytes);
		trace_close(copy);
		trace_close(trace);
		close(fd);
		fixture_free(&fixture);
	}
}

static void a_copy_of_the_copy_has_the_same_bytes(void)
{
	struct fixture fixture = fixture_new(true);
	struct trace *trace = trace_open(fixture.image.path, NULL), *copy;
	int first = copy_of(trace, MOST_BYTES), second;
	char a[4096], b[4096];
	ssize_t bytes;

	copy = open_fd(first);
	second = copy_of(copy, MOST_BYTES);
	CU_ASSERT_EQUAL(lseek(first, 0, SEEK_END), lseek(second, 0, SEEK_END));
	for (off_t at = 0; (bytes = pread(first, a, sizeof(a), at)) > 0; at += bytes)
		CU_ASSERT(pread(second, b, (size_t)bytes, at) == bytes && memcmp(a, b, (size_t)bytes) == 0);
	trace_close(copy);
	trace_close(trace);
	close(first);
	close(second);
	fixture_free(&fixture);
}

static void a_copy_is_not_larger_than_allowed(void)
{
	struct fixture fixture = fixture_new(true);
	struct trace *trace = trace_open(fixture.image.path, NULL);
	struct trace_error error = {0};
	int fd = copy_of(trace, MOST_BYTES);
	uint64_t bytes = (uint64_t)lseek(fd, 0, SEEK_END);

	close(fd);
	CU_ASSERT_EQUAL(copy_of(trace, bytes - 1), -EFBIG);
	CU_ASSERT_EQUAL(copy_of(trace, 0), -EFBIG);
	fd = copy_of(trace, bytes);
	CU_ASSERT_TRUE(fd >= 0);
	close(fd);
	fd = open("/dev/full", O_WRONLY | O_CLOEXEC);
	CU_ASSERT_EQUAL(trace_write_unpacked(trace, fd, MOST_BYTES, &error), -ENOSPC);
	CU_ASSERT_TRUE(error.code == -ENOSPC && error.message[0]);
	close(fd);
	trace_close(trace);
	fixture_free(&fixture);
}

static void a_truncated_trace_stays_truncated(void)
{
	size_t step = getenv("TRACE_TEST_LONG") ? 1 : 89;

	for (int finish = 0; finish < 2; finish++) {
		struct fixture fixture = fixture_new(finish);

		for (size_t bytes = 1; bytes < fixture.image.bytes; bytes += step) {
			bool same = is_same(fixture.image.data, bytes);

			CU_ASSERT_TRUE(same);
			if (!same)
				printf("the first %zu of %zu bytes\n", bytes, fixture.image.bytes);
		}
		fixture_free(&fixture);
	}
}

static void a_damaged_trace_stays_damaged(void)
{
	size_t step = getenv("TRACE_TEST_LONG") ? 1 : 53;

	for (int finish = 0; finish < 2; finish++) {
		struct fixture fixture = fixture_new(finish);

		for (size_t at = 0; at < fixture.image.bytes; at += step) {
			unsigned char bit = (unsigned char)(1 << at % 8);
			bool same;

			fixture.image.data[at] ^= bit;
			same = is_same(fixture.image.data, fixture.image.bytes);
			fixture.image.data[at] ^= bit;
			CU_ASSERT_TRUE(same);
			if (!same)
				printf("byte %zu of %zu, finished %d\n", at, fixture.image.bytes, finish);
		}
		fixture_free(&fixture);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_copy_has_no_compressed_chunk),	 CASE(a_copy_of_the_copy_has_the_same_bytes),
		CASE(a_copy_is_not_larger_than_allowed), CASE(a_truncated_trace_stays_truncated),
		CASE(a_damaged_trace_stays_damaged),	 {NULL, NULL},
	};

	return unit_main("trace_write_unpacked", cases, argc, argv);
}
