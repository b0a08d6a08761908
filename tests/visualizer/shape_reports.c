/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "shape_reports.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_file.h"
#include "image.h"

int visualizer_main(int argc, char **argv); /* tracevisualizer's */

static void fail(const char *what, const char *why)
{
	dprintf(2, "%s: %s\n", what, why);
	abort();
}

static uint64_t number(const json_t *row, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(row, key)); /* null: 0 */
}

static uint64_t sum_of(const json_t *rows, const char *key)
{
	uint64_t sum = 0;
	size_t i;
	json_t *row;

	json_array_foreach(rows, i, row)
		sum += number(row, key);
	return sum;
}

/* @parts: their names, separated by blanks. */
static uint64_t parts_of(const json_t *row, const char *parts)
{
	char key[64];
	uint64_t sum = 0;

	for (int used; sscanf(parts, "%63s%n", key, &used) == 1; parts += used)
		sum += number(row, key);
	return sum;
}

static void adds_up(const json_t *row, const char *what, uint64_t sum, uint64_t whole)
{
	char *text;

	if (sum == whole)
		return;
	text = json_dumps(row, 0);
	dprintf(2, "%s\n", text);
	fail("JSON does not add up", what);
}

/* The parts of a process and of its threads add up: docs/JSON.md, "What adds up". */
static void check_life(const json_t *row)
{
	const json_t *calls = json_object_get(row, "syscalls");
	size_t i;
	json_t *call;

	adds_up(row, "elapsed_ns",
		parts_of(row, "cpu_ns interrupted_ns wait_cpu_ns") + sum_of(json_object_get(row, "waits"), "ns"),
		number(row, "elapsed_ns"));
	adds_up(row, "wait_cpu_ns", sum_of(json_object_get(row, "wait_cpu_for"), "ns"), number(row, "wait_cpu_ns"));
	if (json_is_integer(json_object_get(row, "user_ns")))
		adds_up(row, "cpu_ns", parts_of(row, "user_ns system_ns"), number(row, "cpu_ns"));
	json_array_foreach(calls, i, call)
		adds_up(call, "a call", parts_of(call, "cpu_ns interrupted_ns wait_cpu_ns wait_ns"),
			number(call, "elapsed_ns"));
}

static void check_process(const json_t *process)
{
	static const char *const keys[] = {"elapsed_ns", "cpu_ns",	   "user_ns",
					   "system_ns",	 "interrupted_ns", "wait_cpu_ns"};
	const json_t *threads = json_object_get(process, "threads"),
		     *identities = json_object_get(process, "identities");
	size_t i;
	json_t *thread;

	check_life(process);
	if (json_array_size(identities))
		adds_up(process, "identities", sum_of(identities, "elapsed_ns"), number(process, "elapsed_ns"));
	json_array_foreach(threads, i, thread)
		check_life(thread);
	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		adds_up(process, keys[i], sum_of(threads, keys[i]), number(process, keys[i]));
}

static void check_server(const json_t *server)
{
	const json_t *clients = json_object_get(server, "clients");

	adds_up(server, "a server", parts_of(server, "exact_ns shared_ns background_ns"), number(server, "cpu_ns"));
	adds_up(server, "its clients", sum_of(clients, "exact_ns") + sum_of(clients, "shared_ns"),
		parts_of(server, "exact_ns shared_ns"));
}

static void check_server_wait(const json_t *row)
{
	adds_up(row, "a server wait",
		parts_of(row, "for_client_ns for_others_ns server_waited_ns server_wait_cpu_ns rest_ns"),
		number(row, "wait_ns"));
}

static void check_span(const json_t *span)
{
	adds_up(span, "a span", parts_of(span, "cpu_ns interrupted_ns wait_cpu_ns blocked_ns queued_ns unseen_ns"),
		number(span, "sum_ns"));
	adds_up(span, "its waits", sum_of(json_object_get(span, "waits"), "ns"), number(span, "blocked_ns"));
}

static void check_rows(const json_t *json, const char *key, void (*check)(const json_t *row))
{
	size_t i;
	json_t *row;

	json_array_foreach(json_object_get(json, key), i, row)
		check(row);
}

static void check_summary(const json_t *json)
{
	size_t i;
	json_t *cpu;

	json_array_foreach(json_object_get(json, "cpus"), i, cpu)
		if (json_is_integer(json_object_get(cpu, "idle_ns")))
			adds_up(cpu, "a CPU", parts_of(cpu, "cpu_ns irq_ns softirq_ns idle_ns unknown_ns"),
				number(json_object_get(json, "trace"), "elapsed_ns"));
	check_rows(json, "processes", check_process);
	check_rows(json, "servers", check_server);
	check_rows(json, "server_waits", check_server_wait);
	check_rows(json, "spans", check_span);
}

/* 64-bit numbers are valid JSON, but not integers of this parser: then nothing is added up. */
static void check_json(const char *text)
{
	json_error_t error;
	json_t *json = json_loads(text, 0, &error);

	if (!json) {
		json = json_loads(text, JSON_DECODE_INT_AS_REAL, &error);
		if (!json)
			fail("JSON", error.text);
	} else if (json_object_get(json, "processes")) {
		check_summary(json);
	}
	json_decref(json);
}

static void check_text(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < ' ' && *text != '\n' && *text != '\t')
			fail("report", "it has control characters");
}

char *shape_report(const char *path, const char *const *options)
{
	int argc = 1, fd = memfd_create("report", MFD_CLOEXEC);
	char *argv[12] = {(char *)"tracevisualizer"}, out[64], *text = NULL;
	FILE *was = stderr;
	bool diff = false;
	off_t bytes;

	for (; *options; options++) {
		diff |= strcmp(*options, "--diff") == 0;
		argv[argc++] = (char *)*options;
	}
	snprintf(out, sizeof(out), "--output=/proc/self/fd/%d", fd);
	argv[argc++] = out;
	argv[argc++] = (char *)path;
	if (diff)
		argv[argc++] = (char *)path;
	stderr = fopen("/dev/null", "we"); /* discards other messages about such traces */
	if (visualizer_main(argc, argv) == 0) {
		bytes = lseek(fd, 0, SEEK_END);
		text = calloc(1, (size_t)bytes + 1);
		if (pread(fd, text, (size_t)bytes, 0) != bytes)
			abort();
	}
	fclose(stderr);
	stderr = was;
	close(fd);
	return text;
}

static void check_report(const char *path, const char *const *options)
{
	char *text = shape_report(path, options);
	bool json = false;

	for (; *options; options++)
		json |= strcmp(*options, "--json") == 0;
	if (text && *text)
		(json ? check_json : check_text)(text);
	free(text);
}

static const char *const reports[][6] = {
	{"-a"},
	{"--ns"},
	{"--json"},
	{"-a", "--all", "--ns"},
	{"--json", "--all"},
	{"-d"},
	{"-d", "-y"},
	{"-s"},
	{"--verify"},
	{"--critical-path"},
	{"--critical-path=10"},
	{"--critical-path", "--json"},
	{"--critical-path=11", "--json", "--from=0.000001"},
	{"-a", "--pid=10"},
	{"--json", "--pid=11"},
	{"-a", "--comm=sh*", "--sort=wait", "--top=3"},
	{"-d", "-c0", "--ns"},
	{"-d", "-p11", "-fp"},
	{"-d", "-tsched", "--from=0.000001", "--to=0.00001"},
	{"-d", "-osched_switch"},
	{"-a", "--cgroup=/"},
	{"--strace", "-fyYT", "-rttt", "--add-columns=cpu,runnable,wait,for,on"},
	{"--strace", "-C", "-w", "-p10,11"},
	{"--diff"},
	{"--diff", "--json"},
	{"--diff", "--all", "--ns"},
};

void shape_look(const unsigned char *data, size_t bytes, uint32_t nr)
{
	struct image image = image_of(data, bytes);
	struct trace *trace = trace_open(image.path, NULL);

	if (trace)
		fuzz_trace(trace);
	trace_close(trace);
	check_report(image.path, reports[nr % (sizeof(reports) / sizeof(reports[0]))]);
	image_free(&image);
}
