/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_symbol_builds.c - only the build of a file that ran gives its names. */
#include "symbol_files_case.h"

#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The build id of @file in hexadecimal, as readelf prints it; "" if it has none. */
static void id_of_file(const char *file, char id[static 129])
{
	char command[PATH_MAX + 64];
	FILE *out;

	snprintf(command, sizeof(command), "readelf -n '%s' | sed -n 's/.*Build ID: //p'", file);
	out = popen(command, "r");
	if (!out || fscanf(out, "%128s", id) != 1)
		*id = '\0';
	if (out)
		pclose(out);
}

/** struct rebuilt - a folder with a program that was recorded at @path and built again since */
struct rebuilt {
	char folder[32];
	char path[64];
	struct trace *trace;
	struct tb *tb;
};

/* @id: as the recorder read it */
static void record_program(struct rebuilt *rebuilt, const char *id)
{
	char text[160];

	strcpy(rebuilt->folder, "/tmp/symbols.XXXXXX");
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(rebuilt->folder));
	snprintf(rebuilt->path, sizeof(rebuilt->path), "%s/program", rebuilt->folder);
	snprintf(text, sizeof(text), "0 0 %s", id);
	rebuilt->tb = tb_new();
	tb_string(rebuilt->tb, TRACE_STRING_BUILD_ID, 0, "1 2 abcdef");
	tb_string(rebuilt->tb, TRACE_STRING_BUILD_ID, 1, text);
	start_file(rebuilt->tb, 100, rebuilt->path);
	tb_switch(rebuilt->tb, 0, 1000, 0, 100, 0);
	rebuilt->trace = tb_open_trace(rebuilt->tb);
}

static void expect_pay(const struct rebuilt *rebuilt, const char *folder, const char *function, const char *why)
{
	struct trace_symbols *symbols = trace_symbols_new(rebuilt->trace, NULL);
	struct trace_symbol symbol;

	trace_symbols_set_folder(symbols, folder);
	symbol = in_file(symbols, 100, offset_in_file(PROBE_TARGET, " [tT] pay$"));
	CU_ASSERT_STRING_EQUAL(symbol.function, function);
	CU_ASSERT_PTR_NOT_NULL(strstr(symbol.why, why));
	CU_ASSERT_STRING_EQUAL(symbol.file, rebuilt->path);
	CU_ASSERT_EQUAL(*why == '\0', *symbol.why == '\0');
	trace_symbols_free(symbols);
}

static void forget_program(struct rebuilt *rebuilt)
{
	shell("rm -r %s", rebuilt->folder);
	trace_close(rebuilt->trace);
	tb_free(rebuilt->tb);
}

static void a_program_that_was_built_again_never_lends_its_names(void)
{
	struct rebuilt rebuilt;
	char id[129], folder[64];

	id_of_file(PROBE_TARGET, id);
	if (!*id)
		return; /* no readelf, or the compiler makes no build ids */
	record_program(&rebuilt, id);
	shell("rm -f %s", rebuilt.path);
	expect_pay(&rebuilt, NULL, "", "not on this machine");
	shell("cp %s %s", PROBE_TARGET, rebuilt.path);
	expect_pay(&rebuilt, NULL, "pay", "");
	shell("cat %s > %s", PROBE_TARGET_CXX, rebuilt.path); /* the same inode */
	expect_pay(&rebuilt, NULL, "", "built again");
	snprintf(folder, sizeof(folder), "%s/root", rebuilt.folder);
	expect_pay(&rebuilt, folder, "", "built again");
	shell("mkdir -p %s%s && cp %s %s%s", folder, rebuilt.folder, PROBE_TARGET, folder, rebuilt.path);
	expect_pay(&rebuilt, folder, "pay", "");
	snprintf(folder, sizeof(folder), "%s/debug", rebuilt.folder);
	shell("mkdir -p %s/usr/lib/debug/.build-id/%.2s && cp %s %s/usr/lib/debug/.build-id/%.2s/%s.debug", folder, id,
	      PROBE_TARGET, folder, id, id + 2);
	expect_pay(&rebuilt, folder, "pay", "");
	shell("cp %s %s/usr/lib/debug/.build-id/%.2s/%s.debug", PROBE_TARGET_CXX, folder, id, id + 2);
	expect_pay(&rebuilt, folder, "", "built again");
	shell("mkdir %s/.debug && cp %s %s/.debug/program.debug", rebuilt.folder, PROBE_TARGET, rebuilt.folder);
	expect_pay(&rebuilt, NULL, "pay", "");
	forget_program(&rebuilt);
}

/* ---- debuginfod ---- */

/* Answers one request: @file for the debug information of the program @id, nothing for others. */
static void serve_once(int connection, const char *id, const char *file)
{
	char request[4096] = "", wanted[192], head[128];
	FILE *from = fopen(file, "re");
	ssize_t got = 0;
	size_t used = 0, nr;

	snprintf(wanted, sizeof(wanted), "GET /buildid/%s/debuginfo ", id);
	while (!strstr(request, "\r\n\r\n") && (got = read(connection, request + used, sizeof(request) - 1 - used)) > 0)
		used += (size_t)got;
	if (!from || strncmp(request, wanted, strlen(wanted)) != 0) {
		dprintf(connection, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
	} else {
		fseek(from, 0, SEEK_END);
		dprintf(connection, "HTTP/1.1 200 OK\r\nContent-Length: %ld\r\nConnection: close\r\n\r\n", ftell(from));
		rewind(from);
		while ((nr = fread(head, 1, sizeof(head), from)) > 0 && write(connection, head, nr) == (ssize_t)nr)
			;
	}
	if (from)
		fclose(from);
	close(connection);
}

/*
 * A server of this machine that has @file for the program @id, as the environment tells the client.
 * @rebuilt: its folder gets a cache for the server @number, since clients keep what they did not
 * find
 */
static pid_t serve_file(const struct rebuilt *rebuilt, size_t number, const char *id, const char *file)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t bytes = sizeof(address);
	char text[96];
	pid_t server;

	CU_ASSERT_FATAL(bind(listener, (struct sockaddr *)&address, bytes) == 0 && listen(listener, 8) == 0 &&
			getsockname(listener, (struct sockaddr *)&address, &bytes) == 0);
	snprintf(text, sizeof(text), "http://127.0.0.1:%u", ntohs(address.sin_port));
	setenv("DEBUGINFOD_URLS", text, 1);
	snprintf(text, sizeof(text), "%s/cache%zu", rebuilt->folder, number);
	setenv("DEBUGINFOD_CACHE_PATH", text, 1);
	setenv("no_proxy", "127.0.0.1", 1);
	server = fork();
	if (!server) {
		alarm(60); /* whatever goes wrong, the test ends */
		signal(SIGPIPE, SIG_IGN);
		for (int connection; (connection = accept(listener, NULL, NULL)) >= 0;)
			serve_once(connection, id, file);
		_exit(0);
	}
	close(listener);
	return server;
}

static void expect_served(const struct rebuilt *rebuilt, bool wanted, const char *function, const char *why)
{
	struct trace_symbols *symbols = trace_symbols_new(rebuilt->trace, NULL);
	struct trace_symbol symbol;

	trace_symbols_want_debuginfod(symbols, wanted);
	symbol = in_file(symbols, 100, offset_in_file(PROBE_TARGET, " [tT] pay$"));
	CU_ASSERT_STRING_EQUAL(symbol.function, function);
	CU_ASSERT_PTR_NOT_NULL(strstr(symbol.why, why));
	CU_ASSERT_EQUAL(*why == '\0', *symbol.why == '\0');
	trace_symbols_free(symbols);
}

static void a_server_on_request_has_the_names_of_a_program_that_was_built_again(void)
{
	static const struct {
		const char *file;
		const char *function, *why;
	} servers[] = {
		{PROBE_TARGET, "pay", ""},
		{PROBE_TARGET_CXX, "", "built again"}, /* of another program */
		{"/no/such/file", "", "built again"},
	};
	struct rebuilt rebuilt;
	char id[129];
	pid_t server;

	id_of_file(PROBE_TARGET, id);
	if (!*id || system("command -v debuginfod-find > /dev/null") != 0)
		return; /* nothing to look for, or nothing that looks */
	record_program(&rebuilt, id);
	shell("cp %s %s", PROBE_TARGET_CXX, rebuilt.path);
	for (size_t i = 0; i < sizeof(servers) / sizeof(servers[0]); i++) {
		server = serve_file(&rebuilt, i, id, servers[i].file);
		expect_served(&rebuilt, false, "", "built again");
		expect_served(&rebuilt, true, servers[i].function, servers[i].why);
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
	}
	forget_program(&rebuilt);
}

/* A client that the test puts in place of debuginfod-find. */
static void be_asked_by(const struct rebuilt *rebuilt, const char *script)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/bin:/usr/bin:/bin", rebuilt->folder);
	shell("mkdir -p %s/bin && printf '#!/bin/sh\\n%s\\n' > %s/bin/debuginfod-find && chmod 755 "
	      "%s/bin/debuginfod-find",
	      rebuilt->folder, script, rebuilt->folder, rebuilt->folder);
	setenv("PATH", path, 1);
}

static void a_silent_server_is_asked_for_a_limited_time(void)
{
	char id[129], *path = strdup(getenv("PATH"));
	struct rebuilt rebuilt;

	id_of_file(PROBE_TARGET, id);
	if (*id) {
		record_program(&rebuilt, id);
		shell("cp %s %s", PROBE_TARGET_CXX, rebuilt.path);
		setenv("DEBUGINFOD_MAXTIME", "1", 1);
		be_asked_by(&rebuilt, "exec sleep 600");
		expect_served(&rebuilt, true, "", "debuginfod took too long");
		unsetenv("DEBUGINFOD_MAXTIME");
		/* a client of ours has the limits of the library */
		be_asked_by(&rebuilt, "[ $DEBUGINFOD_MAXTIME = 60 ] && [ $DEBUGINFOD_MAXSIZE = 1073741824 ] && "
				      "echo " PROBE_TARGET);
		expect_served(&rebuilt, true, "pay", "");
		setenv("PATH", path, 1);
		forget_program(&rebuilt);
	}
	free(path);
}

static void a_file_without_a_build_id_must_not_have_changed(void)
{
	struct rebuilt rebuilt;

	record_program(&rebuilt, "");
	shell("cp %s %s && objcopy --remove-section=.note.gnu.build-id %s", PROBE_TARGET, rebuilt.path, rebuilt.path);
	expect_pay(&rebuilt, NULL, "", "changed since"); /* the built trace is of 1970 */
	shell("cp %s %s", PROBE_TARGET, rebuilt.path);
	expect_pay(&rebuilt, NULL, "", "since");
	forget_program(&rebuilt);
}

/* ---- files with the inode number of a deleted one ---- */

/* Process @pid begins at @ts_ns, and maps @path, which has inode 7. */
static void map_seven(struct tb *tb, uint64_t ts_ns, uint32_t pid, const char *path)
{
	tb_add(tb, 0, ts_ns, fs_map, "", .pid = pid, .exec = 1);
	tb_add(tb, 0, ts_ns + 1, fs_map, path, .pid = pid, .start = MAPPED, .end = 2 * MAPPED, .ino = 7);
}

static void expect_at(struct trace_symbols *symbols, uint32_t pid, uint64_t ts_ns, uint64_t offset,
		      const char *function, const char *why)
{
	struct trace_symbol symbol = {.function = "nothing"};

	CU_ASSERT_TRUE(trace_symbols_find(symbols, pid, ts_ns, MAPPED + offset, &symbol));
	CU_ASSERT_PTR_NOT_NULL(strstr(symbol.function, function));
	CU_ASSERT_EQUAL(*function == '\0', *symbol.function == '\0');
	CU_ASSERT_PTR_NOT_NULL(strstr(symbol.why, why));
}

static void id_string(struct tb *tb, uint64_t key, const char *id, const char *since)
{
	char text[160];

	snprintf(text, sizeof(text), "0 7 %s%s", id, since);
	tb_string(tb, TRACE_STRING_BUILD_ID, key, text);
}

static void a_number_that_had_several_files_has_the_build_id_of_each(void)
{
	uint64_t pay = offset_in_file(PROBE_TARGET, " [tT] pay$"),
		 order = offset_in_file(PROBE_TARGET_CXX, " [tTwW] .*Order.*pay");
	char first[129], second[129];
	struct trace_symbols *symbols;
	struct tb *tb = tb_new();
	struct trace *trace;

	id_of_file(PROBE_TARGET, first);
	id_of_file(PROBE_TARGET_CXX, second);
	id_string(tb, 0, second, " 500"); /* in any order */
	id_string(tb, 1, first, "");
	id_string(tb, 2, "?", " 500");
	id_string(tb, 3, "?", " 900");
	id_string(tb, 4, "-", " 1200");
	map_seven(tb, 100, 30, PROBE_TARGET);
	map_seven(tb, 499, 31, PROBE_TARGET_CXX); /* at 500, the very time */
	map_seven(tb, 600, 32, PROBE_TARGET_CXX);
	map_seven(tb, 900, 33, PROBE_TARGET_CXX);
	map_seven(tb, 1300, 34, PROBE_TARGET_CXX);
	trace = tb_open_trace(tb);
	symbols = trace_symbols_new(trace, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(symbols);
	if (*first && *second) { /* readelf, and a compiler that makes build ids */
		expect_at(symbols, 30, 400, pay, "pay", "");
		expect_at(symbols, 31, 550, order, "pay", "");
		expect_at(symbols, 32, 2000, order, "pay", "");
		expect_at(symbols, 33, 2000, order, "", "its build id was not read");
		expect_at(symbols, 34, 2000, order, "", "built again since");
	}
	trace_symbols_free(symbols);
	trace_close(trace);
	tb_free(tb);
}

/* The file was written before it was mapped, between two mappings, or since. */
static void a_file_of_another_build_says_when_it_was_written(void)
{
	static const struct {
		bool is_before, is_between;
		const char *why;
	} cases[] = {{true, true, "not the build that ran"},
		     {false, true, "built again while it was recorded"},
		     {false, false, "built again since"}};
	uint64_t later_ns = ((uint64_t)time(NULL) + 3600 - 1700000000) * 1000000000;
	char id[129];

	id_of_file(PROBE_TARGET, id);
	for (size_t i = 0; *id && i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct tb *tb = tb_new();
		struct trace_symbols *symbols;
		struct trace *trace;

		id_string(tb, 0, "abcdef", "");
		tb_switch(tb, 0, 50, 0, 100, 0);
		map_seven(tb, cases[i].is_before ? later_ns : 100, 30, PROBE_TARGET);
		map_seven(tb, cases[i].is_between ? later_ns + 10 : 110, 31, PROBE_TARGET);
		trace = tb_open_trace(tb);
		symbols = trace_symbols_new(trace, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(symbols);
		expect_at(symbols, 30, later_ns + 5, 4096, "", cases[i].why);
		expect_at(symbols, 31, later_ns + 20, 4096, "", cases[i].why);
		trace_symbols_free(symbols);
		trace_close(trace);
		tb_free(tb);
	}
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_program_that_was_built_again_never_lends_its_names),
		CASE(a_server_on_request_has_the_names_of_a_program_that_was_built_again),
		CASE(a_silent_server_is_asked_for_a_limited_time),
		CASE(a_file_without_a_build_id_must_not_have_changed),
		CASE(a_number_that_had_several_files_has_the_build_id_of_each),
		CASE(a_file_of_another_build_says_when_it_was_written),
		{NULL, NULL},
	};

	return unit_main("builds of files", cases, argc, argv);
}
