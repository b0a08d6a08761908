/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_symbols.c - names for addresses: of this program, with its mappings in /proc/self/maps. */
#include "symbol_files_case.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <trace/symbols.h>
#include <trace/user_memory.h>
#include <unistd.h>

#define MAP_TEXT 512

int known_function(int number);

__attribute__((noinline)) int known_function(int number)
{
	return number * 3 + (int)(uintptr_t)&number % 2;
}

/* The mapping of this program that contains @address. */
static struct trace_start_map own_mapping(const void *address, char path[PATH_MAX])
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct trace_start_map map = {0};
	unsigned long long start, end, offset;
	char line[PATH_MAX + 256];
	struct stat status;

	while (maps && fgets(line, sizeof(line), maps)) {
		*path = '\0';
		if (sscanf(line, "%llx-%llx %*s %llx %*s %*s %4095s", &start, &end, &offset, path) < 3 ||
		    (uintptr_t)address < start || (uintptr_t)address >= end)
			continue;
		map = (struct trace_start_map){.start = start, .end = end, .offset = offset};
		break;
	}
	if (maps)
		fclose(maps);
	if (stat(path, &status) == 0)
		map.ino = status.st_ino;
	return map;
}

static void start_process(struct tb *tb, uint32_t pid, const void *address, uint64_t wrong_ino)
{
	struct trace_start_thread thread = {.tid = pid, .tgid = pid, .nr = -1};
	char path[PATH_MAX];
	struct trace_start_map map = own_mapping(address, path);

	map.tgid = pid;
	map.ino += wrong_ino;
	tb_start(tb, 10, TRACE_EV_start_thread, &thread, sizeof(thread), "one");
	tb_start(tb, 10, TRACE_EV_start_map, &map, sizeof(map), path);
}

static void expect(struct trace_symbols *symbols, uint32_t tid, uint64_t ts_ns, const void *address,
		   const char *function, uint64_t offset)
{
	struct trace_symbol symbol = {.function = "nothing"};
	bool found = trace_symbols_find(symbols, tid, ts_ns, (uintptr_t)address, &symbol);

	CU_ASSERT_EQUAL(found, function != NULL);
	if (!function || !found)
		return;
	CU_ASSERT_STRING_EQUAL(symbol.function, function);
	CU_ASSERT_EQUAL(symbol.offset, offset);
}

static void told_mapping(struct tb *tb, uint64_t ts_ns, uint32_t tid, uint16_t id, const void *address)
{
	char path[PATH_MAX];
	struct trace_start_map map = own_mapping(address, path);
	struct {
		uint32_t tid, path;
		uint64_t start, end, offset;
		char text[MAP_TEXT];
	} told = {.tid = tid, .start = map.start, .end = map.end, .offset = map.offset};
	struct user_reference reference = {.offset = offsetof(__typeof__(told), text), .bytes = (uint16_t)strlen(path)};

	memcpy(&told.path, &reference, sizeof(reference));
	memcpy(told.text, path, strlen(path));
	tb_user_event(tb, 0, ts_ns, id, &told, offsetof(__typeof__(told), text) + strlen(path));
}

static uint16_t map_type(struct tb *tb)
{
	static const struct trace_field fields[] = {
		{"path", 4, 4, false, TRACE_KIND_STRING},
		{"start", 8, 8, false, TRACE_KIND_HEX},
		{"end", 16, 8, false, TRACE_KIND_HEX},
		{"offset", 24, 8, false, TRACE_KIND_HEX},
	};
	struct trace_event_type type = {
		.name = "program:map",
		.classic = "NONE",
		.text = "",
		.doc = "",
		.program = "NONE",
		.source = "",
		.fields = fields,
		.nr_fields = 4,
		.fixed_bytes = 32,
		.has_string = true,
		.category = TRACE_CATEGORY_USER,
		.flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
	};

	return tb_user_type(tb, &type);
}

static void an_address_has_the_name_of_its_function(void)
{
	struct tb *tb = tb_new();
	struct trace *trace;
	struct trace_symbols *symbols;

	start_process(tb, 100, known_function, 0);
	tb_switch(tb, 0, 1000, 0, 100, 0);
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	expect(symbols, 100, 1000, known_function, "known_function", 0);
	expect(symbols, 100, 1000, (const char *)known_function + 3, "known_function", 3);
	expect(symbols, 100, 1000, NULL, NULL, 0);
	expect(symbols, 101, 1000, known_function, NULL, 0); /* another process */
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
}

static void children_have_their_parents_mappings_until_they_execute(void)
{
	struct tb *tb = tb_new();
	struct trace *trace;
	struct trace_symbols *symbols;
	uint16_t id = map_type(tb);

	start_process(tb, 100, known_function, 0);
	tb_fork(tb, 0, 2000, 100, 102, 100, "thread");
	tb_fork(tb, 0, 3000, 102, 103, 103, "child");
	tb_fork(tb, 0, 4000, 103, 104, 104, "grandchild");
	tb_exec(tb, 0, 5000, 103, "/bin/other");
	tb_fork(tb, 0, 6000, 103, 105, 105, "child of other");
	tb_fork(tb, 0, 6100, 100, 106, 106, "stranger");
	tb_exec(tb, 0, 6200, 106, "/bin/stranger");
	tb_fork(tb, 0, 6300, 106, 107, 107, "child of stranger");
	told_mapping(tb, 7000, 103, id, known_function);
	tb_switch(tb, 0, 9000, 0, 100, 0);
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	expect(symbols, 102, 2500, known_function, "known_function", 0);
	expect(symbols, 103, 3500, known_function, "known_function", 0);
	expect(symbols, 104, 4500, known_function, "known_function", 0);
	expect(symbols, 104, 8000, known_function, "known_function", 0);
	/* a mapping that the parent recorded later existed before */
	expect(symbols, 105, 8000, known_function, "known_function", 0);
	expect(symbols, 106, 6150, known_function, "known_function", 0);
	expect(symbols, 106, 8000, known_function, NULL, 0);
	expect(symbols, 107, 8000, known_function, NULL, 0);
	expect(symbols, 103, 8000, known_function, "known_function", 0); /* from its own record */
	expect(symbols, 103, 6000, known_function, "known_function", 0); /* a mapping may be recorded after its use */
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
}

/* A program may record any path as a mapping. This one is a FIFO, and opening it would wait for a
 * writer. */
static void only_regular_files_are_opened(void)
{
	struct tb *tb = tb_new();
	char path[] = "/tmp/trace-symbols-XXXXXX";
	struct trace_symbols *symbols;
	struct trace *trace;

	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(path));
	rmdir(path);
	CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
	start_file(tb, 100, path);
	tb_switch(tb, 0, 1000, 0, 100, 0);
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	alarm(30); /* ends the test */
	CU_ASSERT_STRING_EQUAL(in_file(symbols, 100, 4096).function, "");
	alarm(0);
	unlink(path);
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
}

/* The file is cut after the reader has its functions, and before it reads the lines. With a mapping
 * of the file, SIGBUS would end this process. */
static void a_file_that_is_cut_after_its_functions_were_read_has_no_lines(void)
{
	struct tb *tb = tb_new();
	char path[] = "/tmp/trace-symbols-XXXXXX", command[256];
	struct trace_symbols *symbols;
	struct trace *trace;

	close(mkstemp(path));
	start_file(tb, 100, path);
	snprintf(command, sizeof(command), "cp %s %s", PROBE_TARGET, path);
	CU_ASSERT_EQUAL_FATAL(system(command), 0);
	tb_switch(tb, 0, 1000, 0, 100, 0);
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	in_file(symbols, 100, offset_in_file(PROBE_TARGET, " [tT] pay$"));
	CU_ASSERT_EQUAL(truncate(path, 100), 0);
	trace_symbols_want_source(symbols, true);
	CU_ASSERT_STRING_EQUAL(in_file(symbols, 100, offset_in_file(PROBE_TARGET, " [tT] pay$")).source, "");
	unlink(path);
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
}

static void a_replaced_file_gives_no_names(void)
{
	struct tb *tb = tb_new();
	struct trace_symbol symbol;
	struct trace *trace;
	struct trace_symbols *symbols;

	start_process(tb, 100, known_function, 1);
	tb_switch(tb, 0, 1000, 0, 100, 0);
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	CU_ASSERT_TRUE(trace_symbols_find(symbols, 100, 1000, (uintptr_t)known_function, &symbol));
	CU_ASSERT_STRING_EQUAL(symbol.function, "");
	CU_ASSERT_PTR_NOT_NULL(strstr(symbol.file, "test_symbols"));
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
}

static void names_are_readable_and_lines_are_found(void)
{
	struct tb *tb = tb_new();
	struct trace_symbol symbol;
	struct trace *trace;
	struct trace_symbols *symbols;

	start_file(tb, 100, PROBE_TARGET_CXX);
	start_file(tb, 101, PROBE_TARGET);
	start_file(tb, 102, "/no/such/file");
	start_file(tb, 103, "/etc/passwd");
	tb_switch(tb, 0, 1000, 0, 100, 0);
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	symbol = in_file(symbols, 100, offset_in_file(PROBE_TARGET_CXX, " [tTwW] .*Order.*pay"));
	CU_ASSERT_STRING_EQUAL(symbol.function, "shop::Order::pay(int) const");
	CU_ASSERT_STRING_EQUAL(symbol.source, "");
	trace_symbols_want_source(symbols, true);
	symbol = in_file(symbols, 101, offset_in_file(PROBE_TARGET, " [tT] pay$"));
	CU_ASSERT_STRING_EQUAL(symbol.function, "pay");
	CU_ASSERT_EQUAL(strncmp(symbol.source, "probe_target.c:", 15), 0);
	CU_ASSERT_STRING_EQUAL(in_file(symbols, 102, 4096).function, "");
	CU_ASSERT_STRING_EQUAL(in_file(symbols, 103, 4096).function, "");
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
}

/* Process @pid begins a new program, and maps this one as code. */
static void map_code(struct tb *tb, uint64_t ts_ns, uint32_t pid, const void *address)
{
	char path[PATH_MAX];
	struct trace_start_map map = own_mapping(address, path);

	tb_add(tb, 0, ts_ns, fs_map, "", .pid = pid, .exec = 1);
	tb_add(tb, 0, ts_ns + 1, fs_map, path, .pid = pid, .start = map.start, .end = map.end, .ino = map.ino,
	       .offset = map.offset);
}

static void a_new_program_has_the_mappings_before_its_exec(void)
{
	struct trace_symbols *symbols;
	struct tb *tb = tb_new();
	struct trace *trace;

	start_process(tb, 10, (const void *)known_function, 0);
	tb_fork(tb, 0, 20, 10, 30, 30, "two");
	map_code(tb, 40, 30, (const void *)known_function);
	tb_exec(tb, 0, 50, 30, "/bin/two");
	tb_exec(tb, 0, 70, 30, "/bin/three"); /* its mappings are missing */
	map_code(tb, 80, 30, (const void *)known_function);
	tb_exec(tb, 0, 90, 30, "/bin/four");
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(symbols);
	expect(symbols, 30, 30, (const void *)known_function, "known_function", 0); /* its parent's */
	expect(symbols, 30, 45, (const void *)known_function, "known_function", 0);
	expect(symbols, 30, 60, (const void *)known_function, "known_function", 0);
	expect(symbols, 30, 75, (const void *)known_function, NULL, 0);
	expect(symbols, 30, 95, (const void *)known_function, "known_function", 0);
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
}

/* A library is mapped where another one was; the kernel tells both before their first use. */
static void an_address_has_the_mapping_of_its_time(void)
{
	char path[PATH_MAX];
	const void *address = (const void *)known_function;
	struct trace_start_map map = own_mapping(address, path);
	struct trace_symbols *symbols;
	struct trace_symbol symbol;
	struct tb *tb = tb_new();
	struct trace *trace;

	tb_fork(tb, 0, 20, 1, 30, 30, "two");
	tb_add(tb, 0, 40, fs_map, "", .pid = 30, .exec = 1);
	tb_exec(tb, 0, 50, 30, "/bin/two");
	tb_add(tb, 0, 60, fs_map, path, .pid = 30, .start = map.start, .end = map.end, .ino = map.ino,
	       .offset = map.offset);
	tb_add(tb, 0, 80, fs_map, "/lib/other.so", .pid = 30, .start = map.start, .end = map.end, .ino = 7);
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(symbols);
	expect(symbols, 30, 55, address, NULL, 0);
	expect(symbols, 30, 60, address, "known_function", 0);
	expect(symbols, 30, 79, address, "known_function", 0);
	CU_ASSERT_TRUE(trace_symbols_find(symbols, 30, 80, (uintptr_t)address, &symbol));
	CU_ASSERT_PTR_NOT_NULL(strstr(symbol.file, "other.so"));
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
}

static void code_that_a_program_generated_has_the_recorded_names(void)
{
	struct trace_symbol symbol;
	struct trace_symbols *symbols;
	struct tb *tb = tb_new();
	struct trace *trace;

	start_process(tb, 10, (const void *)known_function, 0);
	start_process(tb, 11, (const void *)known_function, 0);
	tb_string(tb, TRACE_STRING_PROGRAM_CODE, 0, "11 7e0000001000 64 other");
	tb_string(tb, TRACE_STRING_PROGRAM_CODE, 1, "10 7e0000001000 32 JS:*inner /a b.js:1:15");
	tb_string(tb, TRACE_STRING_PROGRAM_CODE, 2, "10 not a function");
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(symbols);
	CU_ASSERT_TRUE_FATAL(trace_symbols_find(symbols, 10, 20, 0x7e000000101f, &symbol));
	CU_ASSERT_STRING_EQUAL(symbol.function, "JS:*inner /a b.js:1:15");
	CU_ASSERT_STRING_EQUAL(symbol.file, "perf-10.map");
	CU_ASSERT_EQUAL(symbol.offset, 31);
	CU_ASSERT_FALSE(trace_symbols_find(symbols, 10, 20, 0x7e0000001020, &symbol));
	CU_ASSERT_FALSE(trace_symbols_find(symbols, 10, 20, 0x7e0000000fff, &symbol));
	CU_ASSERT_TRUE_FATAL(trace_symbols_find(symbols, 11, 20, 0x7e0000001020, &symbol));
	CU_ASSERT_STRING_EQUAL(symbol.function, "other");
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
}

static void code_of_the_kernel_has_the_recorded_names(void)
{
	static const uint64_t begin = 0xffffffff81000000, module = 0xffffffffc0000000;
	struct trace_symbol symbol;
	struct trace_symbols *symbols;
	struct tb *tb = tb_new();
	struct trace *trace;

	start_process(tb, 10, (const void *)known_function, 0);
	tb_string(tb, TRACE_STRING_KERNEL_CODE, 0, "ffffffffc0000000 16 ext4_sync_file [ext4]");
	tb_string(tb, TRACE_STRING_KERNEL_CODE, 1, "ffffffff81000000 32 do_syscall_64");
	tb_string(tb, TRACE_STRING_KERNEL_CODE, 2, "not a function");
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(symbols);
	CU_ASSERT_TRUE(trace_symbols_find(symbols, 10, 20, begin + 31, &symbol));
	CU_ASSERT_STRING_EQUAL(symbol.function, "do_syscall_64");
	CU_ASSERT_STRING_EQUAL(symbol.file, "[kernel]");
	CU_ASSERT_EQUAL(symbol.offset, 31);
	CU_ASSERT_FALSE(trace_symbols_find(symbols, 10, 20, begin + 32, &symbol));
	CU_ASSERT_FALSE(trace_symbols_find(symbols, 10, 20, begin - 1, &symbol));
	CU_ASSERT_TRUE(trace_symbols_find(symbols, 10, 20, module, &symbol));
	CU_ASSERT_STRING_EQUAL(symbol.function, "ext4_sync_file");
	CU_ASSERT_STRING_EQUAL(symbol.file, "[ext4]");
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
}

struct kept_names {
	struct tb *tb;
	size_t nr;
};

static int keep_name(void *context, enum trace_string_space space, uint64_t key, const char *text)
{
	struct kept_names *names = context;

	names->nr++;
	tb_string(names->tb, space, key, text);
	return 0;
}

/* The file is a copy, which is removed before the second trace is read. */
static void a_trace_with_names_needs_no_file(void)
{
	char copy[] = "/tmp/test_symbols.XXXXXX";
	struct kept_names kept = {.tb = tb_new()};
	struct tb *tb = tb_new();
	int fd = mkstemp(copy);
	uint64_t at[2];
	struct trace_symbol symbol;
	const struct trace_symbol_level *levels;
	struct trace_symbols *symbols;
	struct trace *trace;
	char names[2][2][512];

	CU_ASSERT_FATAL(fd >= 0);
	shell("cp %s %s", PROBE_TARGET_CXX, copy);
	at[0] = offset_in_file(copy, " T main$");
	at[1] = offset_in_file(copy, " [tTwW] .*Order.*pay");
	start_file(tb, 100, copy);
	start_file(kept.tb, 100, copy);
	tb_switch(tb, 0, 1000, 0, 100, 0);
	tb_switch(kept.tb, 0, 1000, 0, 100, 0);
	for (int run = 0; run < 2; run++) {
		trace = tb_open_trace(run ? kept.tb : tb);
		symbols = trace_symbols_new(trace, NULL);
		for (int i = 0; i < 2; i++) {
			size_t nr = trace_symbols_find_levels(symbols, 100, 1000, at[i] + MAPPED, &symbol, &levels);

			CU_ASSERT_FATAL(nr > 0);
			snprintf(names[run][i], sizeof(names[run][i]), "%zu %s %s %u %s %llu %llx", nr,
				 levels[0].function, levels[0].source, levels[0].line, symbol.function,
				 (unsigned long long)symbol.offset, (unsigned long long)symbol.file_address);
			CU_ASSERT_TRUE(*symbol.function);
		}
		/* a byte that was not asked for before has no name without the file */
		if (run) {
			CU_ASSERT_TRUE(trace_symbols_find(symbols, 100, 1000, at[0] + MAPPED + 1, &symbol));
			CU_ASSERT_STRING_EQUAL(symbol.function, "");
		} else {
			CU_ASSERT_EQUAL(trace_symbols_export(symbols, keep_name, &kept), 0);
			CU_ASSERT_EQUAL(kept.nr, 3);
			unlink(copy);
		}
		trace_symbols_free(symbols);
		trace_close(trace);
	}
	for (int i = 0; i < 2; i++)
		CU_ASSERT_STRING_EQUAL(names[0][i], names[1][i]);
	tb_free(tb);
	tb_free(kept.tb);
	close(fd);
}

/* The stored name of the code at @at in the file of process 100, which is not there. */
static void stored_name(struct trace_symbols *symbols, uint64_t at, char *ret_name, size_t room)
{
	struct trace_symbol symbol;
	const struct trace_symbol_level *levels;
	size_t nr = trace_symbols_find_levels(symbols, 100, 1000, at + MAPPED, &symbol, &levels);

	CU_ASSERT_FATAL(nr > 0);
	snprintf(ret_name, room, "%s %llu %llx", symbol.function, (unsigned long long)symbol.offset,
		 (unsigned long long)symbol.file_address);
}

static void bytes_of_one_function_are_steps(void)
{
	static const char gone[] = "/nowhere/program";
	struct kept_names kept = {.tb = tb_new()};
	struct tb *tb = tb_new();
	struct trace_symbols *symbols;
	struct trace *trace;
	char file[64], name[512];

	start_file(tb, 100, gone);
	tb_switch(tb, 0, 1000, 0, 100, 0);
	snprintf(file, sizeof(file), "0 ? %s", gone);
	tb_string(tb, TRACE_STRING_CODE_FILE, 0, file);
	tb_string(tb, TRACE_STRING_CODE, 0, "0 100 4100 8\nf\n\n");
	tb_string(tb, TRACE_STRING_CODE, 1, "0 200 4200 0\n\n");
	tb_string(tb, TRACE_STRING_CODE_STEPS, 0, "2 10");
	tb_string(tb, TRACE_STRING_CODE_STEPS, 1, "1 x");
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	stored_name(symbols, 0x100, name, sizeof(name));
	CU_ASSERT_STRING_EQUAL(name, "f 8 4100");
	stored_name(symbols, 0x102, name, sizeof(name));
	CU_ASSERT_STRING_EQUAL(name, "f 10 4102");
	stored_name(symbols, 0x112, name, sizeof(name));
	CU_ASSERT_STRING_EQUAL(name, "f 26 4112");
	stored_name(symbols, 0x201, name, sizeof(name));
	CU_ASSERT_STRING_EQUAL(name, " 0 4201");
	stored_name(symbols, 0x200, name, sizeof(name));
	CU_ASSERT_STRING_EQUAL(name, " 0 4200");
	/* as they came: one text for each function, and its steps */
	CU_ASSERT_EQUAL(trace_symbols_export(symbols, keep_name, &kept), 0);
	CU_ASSERT_EQUAL(kept.nr, 5);
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
	tb_free(kept.tb);
}

static void names_that_are_no_names_are_harmless(void)
{
	static const char *const files[] = {"", "1", "1 - ", "1 - relative", "x - /a", "1  /a"},
				 *const answers[] = {"",
						     "0",
						     "0 ",
						     "0 10",
						     "0 10 20",
						     "0 10 20 1\n",
						     "0 10 20 1\nf",
						     "7 10 20 1\nf\n\n",
						     "0 zz 20 1\nf\n\n",
						     "-1 1 1 1\nf\n\n"};
	struct tb *tb = tb_new();
	struct trace_symbol symbol;
	struct trace_symbols *symbols;
	struct trace *trace;

	start_process(tb, 10, (const void *)known_function, 0);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		tb_string(tb, TRACE_STRING_CODE_FILE, i, files[i]);
	for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++)
		tb_string(tb, TRACE_STRING_CODE, i, answers[i]);
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(symbols);
	CU_ASSERT_TRUE(trace_symbols_find(symbols, 10, 20, (uintptr_t)known_function, &symbol));
	CU_ASSERT_STRING_EQUAL(symbol.function, "known_function");
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
}

/*
 * The reader of the first file was started before that of the second one asked for the C++ library.
 * This is the first test, because no other one may have loaded the library.
 */
static void readers_of_two_files_may_need_the_demangler(void)
{
	struct tb *tb = tb_new();
	char copy[] = "/tmp/test_symbols.XXXXXX";
	int fd = mkstemp(copy);
	struct trace *trace;
	struct trace_symbols *symbols;
	uint64_t pay = offset_in_file(PROBE_TARGET_CXX, " [tTwW] .*Order.*pay");

	CU_ASSERT_FATAL(fd >= 0);
	shell("cp %s %s", PROBE_TARGET_CXX, copy);
	start_file(tb, 100, PROBE_TARGET_CXX);
	start_file(tb, 101, copy);
	tb_switch(tb, 0, 1000, 0, 100, 0);
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	CU_ASSERT_STRING_EQUAL(in_file(symbols, 100, offset_in_file(PROBE_TARGET_CXX, " T main$")).function, "main");
	CU_ASSERT_STRING_EQUAL(in_file(symbols, 101, pay).function, "shop::Order::pay(int) const");
	CU_ASSERT_STRING_EQUAL(in_file(symbols, 100, pay).function, "shop::Order::pay(int) const");
	CU_ASSERT_EQUAL(trace_symbols_error(symbols, NULL), 0);
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
	close(fd);
	unlink(copy);
}

static const struct unit_case cases[] = {
	{"readers_of_two_files_may_need_the_demangler", readers_of_two_files_may_need_the_demangler},
	{"a_trace_with_names_needs_no_file", a_trace_with_names_needs_no_file},
	{"bytes_of_one_function_are_steps", bytes_of_one_function_are_steps},
	{"names_that_are_no_names_are_harmless", names_that_are_no_names_are_harmless},
	{"an_address_has_the_name_of_its_function", an_address_has_the_name_of_its_function},
	{"children_have_their_parents_mappings_until_they_execute",
	 children_have_their_parents_mappings_until_they_execute},
	{"a_new_program_has_the_mappings_before_its_exec", a_new_program_has_the_mappings_before_its_exec},
	{"an_address_has_the_mapping_of_its_time", an_address_has_the_mapping_of_its_time},
	{"code_that_a_program_generated_has_the_recorded_names", code_that_a_program_generated_has_the_recorded_names},
	{"code_of_the_kernel_has_the_recorded_names", code_of_the_kernel_has_the_recorded_names},
	{"only_regular_files_are_opened", only_regular_files_are_opened},
	{"a_file_that_is_cut_after_its_functions_were_read_has_no_lines",
	 a_file_that_is_cut_after_its_functions_were_read_has_no_lines},
	{"a_replaced_file_gives_no_names", a_replaced_file_gives_no_names},
	{"names_are_readable_and_lines_are_found", names_are_readable_and_lines_are_found},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	return unit_main("symbols", cases, argc, argv);
}
