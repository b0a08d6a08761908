/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_view_store_damage.c - an index of the view that is damaged, or made to be wrong, is refused
 * or harmless; one that cannot be read or written is told
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>
#include "view_store.h"
#include "view_store_case.h"

#define HEADER 40 /* bytes: analyzer/view_index.h */
#define SIZE   8  /* of a section, before it; and of the checksum */

static int reads_fail; /* errno */

/* libtrace reads the index with it, and nothing else. */
ssize_t pread64(int fd, void *bytes, size_t nr, off64_t at);
ssize_t __pread_chk(int fd, void *bytes, size_t nr, off_t at, size_t room);

#pragma GCC visibility push(default)
ssize_t pread64(int fd, void *bytes, size_t nr, off64_t at)
{
	if (reads_fail && at) {
		errno = reads_fail;
		return -1;
	}
	return (ssize_t)syscall(SYS_pread64, fd, bytes, nr, at);
}

ssize_t pread(int fd, void *bytes, size_t nr, off_t at) __attribute__((alias("pread64")));

/* The compiler makes it of pread() where it knows the room for the bytes. */
ssize_t __pread_chk(int fd, void *bytes, size_t nr, off_t at, size_t room)
{
	return nr <= room ? pread64(fd, bytes, nr, at) : -1;
}
#pragma GCC visibility pop

struct index {
	unsigned char *bytes; /* owned */
	size_t size;
};

static struct index index_read(void)
{
	struct index index = {0};
	struct stat info;
	FILE *file = fopen(path, "r");

	CU_ASSERT_FATAL(file && fstat(fileno(file), &info) == 0);
	index.size = (size_t)info.st_size;
	index.bytes = malloc(index.size + 1);
	CU_ASSERT_EQUAL(fread(index.bytes, 1, index.size, file), index.size);
	fclose(file);
	return index;
}

static uint64_t field(const struct index *index, size_t at)
{
	uint64_t value;

	memcpy(&value, index->bytes + at, sizeof(value));
	return value;
}

static void index_sign(struct index *index)
{
	uint64_t checksum = XXH3_64bits(index->bytes, index->size - SIZE);

	memcpy(index->bytes + index->size - SIZE, &checksum, SIZE);
}

static void index_write(const struct index *index)
{
	FILE *file = fopen(path, "w");

	CU_ASSERT_FATAL(file != NULL);
	CU_ASSERT_EQUAL(fwrite(index->bytes, 1, index->size, file), index->size);
	fclose(file);
}

static bool index_opens(const struct trace *trace)
{
	static struct view_session session;
	bool opens = view_store_begin(&session, trace, &options, path);

	if (opens) {
		ask_all(&session, NULL, 3, 0);
		session.is_billed = false;
		CU_ASSERT_EQUAL(view_session_step(&session, 1, 1), 1);
		ask_beside(&session, NULL, 3);
		view_session_end(&session);
	}
	return opens;
}

static void a_damaged_index_is_refused(void)
{
	static struct view_session session;
	struct trace *trace = story(3), *other = story(4);
	struct dice dice = {7, NULL};
	struct index index;

	session_of_pass(&session, trace);
	write_index(&session);
	index = index_read();
	CU_ASSERT(index_opens(trace));
	CU_ASSERT(!index_opens(other));
	for (int i = 0; i < 200 / unit_step(3); i++) {
		struct index damaged = {malloc(index.size), index.size};
		size_t at = below(&dice, index.size);

		memcpy(damaged.bytes, index.bytes, index.size);
		if (i % 2)
			damaged.size = at;
		else
			damaged.bytes[at] ^= (unsigned char)(1 + below(&dice, 255));
		index_write(&damaged);
		CU_ASSERT(!index_opens(trace));
		free(damaged.bytes);
	}
	free(index.bytes);
	view_session_end(&session);
	trace_close(trace);
	trace_close(other);
}

static void change_bytes(unsigned char *bytes, size_t size, struct dice *dice)
{
	for (uint64_t i = 0; size && i <= below(dice, 3); i++) {
		size_t at = below(dice, size);

		bytes[at] = below(dice, 2) ? (unsigned char)roll(dice)
					   : (unsigned char)(bytes[at] + below(dice, 3) - 1);
	}
}

static uint64_t number_at(const unsigned char *bytes, size_t *at)
{
	uint64_t number = 0;

	for (unsigned int shift = 0;; shift += 7) {
		number |= (uint64_t)(bytes[*at] & 0x7f) << shift;
		if (bytes[(*at)++] < 0x80)
			return number;
	}
}

/* Compressed bytes of an index: @packed at @at, and @unpacked. @size: where their section is */
struct packed_part {
	size_t size, at, packed, unpacked;
};

static struct packed_part facts_of(const struct index *index)
{
	return (struct packed_part){HEADER, HEADER + SIZE, field(index, HEADER), field(index, 24)};
}

/* The marks and edges: index_times.c. Their sizes are before them. */
static struct packed_part times_of(const struct index *index)
{
	struct packed_part section = {.size = HEADER + SIZE + field(index, HEADER)};
	size_t end = section.size + SIZE + field(index, section.size);

	section.at = section.size + SIZE;
	for (int i = 0; i < 257; i++)
		section.unpacked += number_at(index->bytes, &section.at);
	section.packed = end - section.at;
	return section;
}

/* The index with a change in a compressed section. */
static struct index section_changed(const struct index *index, struct packed_part section, struct dice *dice)
{
	size_t room = ZSTD_compressBound(section.unpacked), end = section.at + section.packed, packed;
	unsigned char *bytes = malloc(section.unpacked + 1);
	struct index changed = {malloc(index->size + room), 0};
	uint64_t size;

	memcpy(changed.bytes, index->bytes, section.at);
	CU_ASSERT_EQUAL(ZSTD_decompress(bytes, section.unpacked, index->bytes + section.at, section.packed),
			section.unpacked);
	change_bytes(bytes, section.unpacked, dice);
	packed = ZSTD_compress(changed.bytes + section.at, room, bytes, section.unpacked, 1);
	memcpy(changed.bytes + section.at + packed, index->bytes + end, index->size - end);
	changed.size = index->size - section.packed + packed;
	size = field(index, section.size) - section.packed + packed;
	memcpy(changed.bytes + section.size, &size, SIZE);
	free(bytes);
	return changed;
}

/* The index with a change in its facts, in its marks, or anywhere. */
static struct index index_changed(const struct index *index, struct dice *dice)
{
	struct index changed;

	switch (below(dice, 4)) {
	case 0:
		changed = (struct index){malloc(index->size), index->size};
		memcpy(changed.bytes, index->bytes, index->size);
		changed.bytes[below(dice, index->size)] ^= (unsigned char)(1 + below(dice, 255));
		break;
	case 1:
		changed = section_changed(index, times_of(index), dice);
		break;
	default:
		changed = section_changed(index, facts_of(index), dice);
	}
	index_sign(&changed);
	return changed;
}

/*
 * The checksum protects from accidents only. The bytes that it covers may have been made to do
 * harm.
 */
static void a_hostile_index_does_no_harm(void)
{
	unsigned int nr = getenv("TRACE_TEST_LONG") ? 20000 : 300 / (unsigned int)unit_step(3), nr_open = 0;

	for (uint64_t seed = 5; seed < 8; seed++) {
		static struct view_session session;
		struct trace *trace = story(seed);
		struct dice dice = {seed, NULL};
		struct index index;

		session_of_pass(&session, trace);
		write_index(&session);
		index = index_read();
		for (unsigned int i = 0; i < nr / 3; i++) {
			struct index changed = index_changed(&index, &dice);

			index_write(&changed);
			nr_open += index_opens(trace);
			free(changed.bytes);
		}
		free(index.bytes);
		view_session_end(&session);
		trace_close(trace);
	}
	CU_ASSERT(nr_open > 10); /* the changes reach beyond the first checks */
}

/* The lines of view_store_begin() on stderr; to be freed. */
static char *complaint_of_begin(const struct trace *trace)
{
	static struct view_session session;
	int saved = dup(STDERR_FILENO), fd = memfd_create("stderr", MFD_CLOEXEC);
	char *text = calloc(1, 4096);

	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	CU_ASSERT(!view_store_begin(&session, trace, &options, path));
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	CU_ASSERT(syscall(SYS_pread64, fd, text, 4095, 0) >= 0);
	close(saved);
	close(fd);
	return text;
}

static void expect_complaint(const struct trace *trace, const char *cause)
{
	char *text = complaint_of_begin(trace);

	CU_ASSERT_PTR_NOT_NULL(strstr(text, path));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, cause));
	CU_ASSERT(*text && strchr(text, '\n') == text + strlen(text) - 1);
	free(text);
}

/* The view is right without its index, but takes longer, and the disk may be failing. */
static void an_index_that_fails_to_be_read_is_told_in_one_line(void)
{
	static struct view_session session;
	struct trace *trace = story(2);
	char *text;

	session_of_pass(&session, trace);
	write_index(&session);
	reads_fail = EIO;
	expect_complaint(trace, "Input/output error");
	reads_fail = ENOMEM;
	expect_complaint(trace, "out of memory");
	reads_fail = 0;
	CU_ASSERT(index_opens(trace));
	CU_ASSERT_EQUAL(truncate(path, 100), 0);
	text = complaint_of_begin(trace);
	CU_ASSERT_STRING_EQUAL(text, ""); /* an index that does not fit is replaced */
	free(text);
	CU_ASSERT_EQUAL(unlink(path), 0);
	text = complaint_of_begin(trace);
	CU_ASSERT_STRING_EQUAL(text, "");
	free(text);
	view_session_end(&session);
	trace_close(trace);
}

/* A byte of the last section is another one, and the checksum is right. */
static void an_index_that_is_damaged_is_told_in_one_line(void)
{
	static struct view_session session;
	struct trace *trace = story(2);
	struct index index;

	session_of_pass(&session, trace);
	write_index(&session);
	index = index_read();
	memset(index.bytes + facts_of(&index).at, 0xff, SIZE);
	index_sign(&index);
	index_write(&index);
	expect_complaint(trace, "is damaged");
	free(index.bytes);
	view_session_end(&session);
	trace_close(trace);
}

static void an_index_that_cannot_be_written_is_not_missed(void)
{
	static struct view_session session;
	struct trace *trace = story(2);
	char *notes;

	session_of_pass(&session, trace);
	notes = view_store_notes(&session);
	CU_ASSERT(!view_store_write(&session, notes, "/proc/self/no/index"));
	CU_ASSERT(!view_store_begin(&(struct view_session){0}, trace, &options, "/proc/self/no/index"));
	CU_ASSERT(!view_store_begin(&(struct view_session){0}, trace, &options, folder));
	free(notes);
	view_session_end(&session);
	trace_close(trace);
}

static size_t nr_files_of_folder(void)
{
	DIR *dir = opendir(folder);
	size_t nr = 0;

	CU_ASSERT_PTR_NOT_NULL_FATAL(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}

/* As on a full disk: a limit of the size of files stops the write. */
static void an_index_that_does_not_fit_leaves_the_old_one(void)
{
	static struct view_session session;
	const struct rlimit least = {.rlim_cur = 100, .rlim_max = RLIM_INFINITY};
	struct trace *trace = story(2);
	struct index before, after;
	struct rlimit limit;
	size_t nr_files;
	char *notes;

	session_of_pass(&session, trace);
	write_index(&session);
	before = index_read();
	nr_files = nr_files_of_folder();
	notes = view_store_notes(&session);
	signal(SIGXFSZ, SIG_IGN);
	CU_ASSERT_FATAL(getrlimit(RLIMIT_FSIZE, &limit) == 0 && setrlimit(RLIMIT_FSIZE, &least) == 0);
	CU_ASSERT(!view_store_write(&session, notes, path));
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_FSIZE, &limit), 0);
	signal(SIGXFSZ, SIG_DFL);
	after = index_read();
	CU_ASSERT(before.size > least.rlim_cur && before.size == after.size &&
		  memcmp(before.bytes, after.bytes, after.size) == 0);
	CU_ASSERT_EQUAL(nr_files_of_folder(), nr_files);
	CU_ASSERT(index_opens(trace));
	free(before.bytes);
	free(after.bytes);
	free(notes);
	view_session_end(&session);
	trace_close(trace);
}

static void small_traces_and_parts_have_no_index(void)
{
	struct visualizer_options part = options;
	struct trace *trace = story(2);

	CU_ASSERT_PTR_NULL(view_store_path(trace, &options));
	part.no_index = true;
	CU_ASSERT_PTR_NULL(view_store_path(trace, &part));
	trace_close(trace);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_damaged_index_is_refused),
		CASE(a_hostile_index_does_no_harm),
		CASE(an_index_that_fails_to_be_read_is_told_in_one_line),
		CASE(an_index_that_is_damaged_is_told_in_one_line),
		CASE(an_index_that_cannot_be_written_is_not_missed),
		CASE(an_index_that_does_not_fit_leaves_the_old_one),
		CASE(small_traces_and_parts_have_no_index),
		{NULL, NULL},
	};

	return view_store_main("view_store_damage", cases, argc, argv);
}
