/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_report_where.c - the functions in which threads waited, in reports that are no profile, and
 * the lines of a source
 *
 * The process in the trace has the code of this program.
 */
#include <jansson.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include "file_case.h"
#include "own_code.h"
#include "report_case.h"
#include "sample_case.h"
#include "view_says.h"
#include "visualizer.h"

#define MS    1000000ull
#define TIMER TRACE_VECTOR_LOCAL_TIMER

int flush_orders(int n);
int read_orders(int n);
int main(int argc, char **argv);

enum { FLUSH_BEGIN = __LINE__ };
__attribute__((noinline)) int flush_orders(int n)
{
	return n * 3 + (int)(uintptr_t)&n % 2;
}
enum { FLUSH_END = __LINE__ };

__attribute__((noinline)) int read_orders(int n)
{
	return n * 5 + (int)(uintptr_t)&n % 2;
}

static uint64_t inside(int (*function)(int))
{
	return (uintptr_t)function + 1;
}

/* Thread 10 sleeps in @function, which main() called. */
static void sleep_in(struct tb *tb, uint64_t at_ns, uint64_t ns, int (*function)(int))
{
	const struct lists wait = {.source = 1, .user = {inside(function)}, .nr_user = 1},
			   left = {.source = 2, .user = {(uintptr_t)main + 4}, .nr_user = 1};
	uint64_t end_ns = at_ns + 100 + ns;

	tb_sys_enter(tb, 0, at_ns, SYS_nanosleep, 1, 0);
	tb_switch(tb, 0, at_ns + 100, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_vector(tb, 0, end_ns - 5, TIMER);
	tb_waking(tb, 0, end_ns, 10, TRACE_CONTEXT_HARDIRQ);
	tb_vector_exit(tb, 0, end_ns + 5, TIMER);
	tb_switch(tb, 0, end_ns + 50, 0, 10, 0);
	if (function) {
		add_sample(tb, 0, end_ns + 51, 10, 0xffffffff81000010ull, &wait);
		add_sample(tb, 0, end_ns + 90, 10, inside(function), &left);
	}
	tb_sys_exit(tb, 0, end_ns + 100, 0);
}

/* 3 ms in flush_orders() and 1 ms in read_orders(), all for the same timer */
static struct tb *sleeper(bool with_stacks)
{
	struct tb *tb = tb_new();

	if (with_stacks)
		tb_string(tb, TRACE_STRING_KERNEL_CODE, 0, "ffffffff81000000 256 schedule");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	tb_string(tb, TRACE_STRING_VECTOR, TIMER, "local_timer");
	tb_thread(tb, 10, 10, 1, "sleeper", 0, false);
	tb_own_code(tb, 10, (const void *)(uintptr_t)flush_orders);
	tb_switch(tb, 0, 2000, 0, 10, 0);
	sleep_in(tb, MS, 3 * MS, with_stacks ? flush_orders : NULL);
	sleep_in(tb, 5 * MS, MS, with_stacks ? read_orders : NULL);
	tb_switch(tb, 0, 7 * MS, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	return tb;
}

/* The waits of the process, and those of its thread, for the timer */
static json_t *wait_of(const json_t *process)
{
	json_t *wait;
	size_t i;

	json_array_foreach(json_object_get(process, "waits"), i, wait)
		if (!strcmp(json_string_value(json_object_get(wait, "kind")), "timeout"))
			return wait;
	return NULL;
}

static json_t *json_of_comm(struct tb *tb, const char *comm)
{
	char options[64], *text;
	json_t *json;

	snprintf(options, sizeof(options), "--json --comm=%s", comm);
	text = report_of(tb, options);
	json = json_loads(text, 0, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	free(text);
	return json;
}

static json_t *json_of(struct tb *tb)
{
	return json_of_comm(tb, "sleeper");
}

static void json_tells_the_function_with_the_most_of_each_wait(void)
{
	json_t *json = json_of(sleeper(true)), *process = json_array_get(json_object_get(json, "processes"), 0),
	       *both[] = {wait_of(process), wait_of(json_array_get(json_object_get(process, "threads"), 0))};

	for (int i = 0; i < 2; i++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(both[i]);
		CU_ASSERT_EQUAL(json_integer_value(json_object_get(both[i], "ns")), 4 * (long long)MS);
		CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(both[i], "where")), "flush_orders");
		CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(both[i], "where_file")), "test_report_where");
		CU_ASSERT_EQUAL(json_integer_value(json_object_get(both[i], "where_ns")), 3 * (long long)MS);
	}
	json_decref(json);
}

static void a_trace_without_stacks_has_no_such_keys(void)
{
	json_t *json = json_of(sleeper(false)), *process = json_array_get(json_object_get(json, "processes"), 0);

	CU_ASSERT_PTR_NOT_NULL_FATAL(wait_of(process));
	CU_ASSERT_PTR_NULL(json_object_get(wait_of(process), "where"));
	json_decref(json);
}

static void the_waits_of_a_process_have_a_column_of_functions(void)
{
	char *text = report_of(sleeper(true), "-a --ns --comm=sleeper");

	contains(text, "mostly in");
	contains(text, " 4000000  ");
	contains(text, "  timeout  flush_orders 75 %\n");
	free(text);
	text = report_of(sleeper(false), "-a --ns --comm=sleeper");
	CU_ASSERT_PTR_NULL(strstr(text, "mostly in"));
	free(text);
}

static void the_one_screen_answer_has_the_functions_of_its_waits(void)
{
	char *text = report_of(sleeper(true), "--comm=sleeper");

	contains(text, "timeout in nanosleep    flush_orders 75 %\n");
	free(text);
}

/* ---- wakers ---- */

/* Thread 10 waits in flush_orders() for @ns, until thread 20 ends that at @address. */
static void wait_until(struct tb *tb, uint64_t at_ns, uint64_t ns, uint64_t address)
{
	const struct lists waker = {.source = 3,
				    .kernel = {10}, /* the woken one */
				    .nr_kernel = 1,
				    .user = {address, (uintptr_t)main + 4},
				    .nr_user = 2},
			   wait = {.source = 1, .certain = 1, .user = {inside(flush_orders)}, .nr_user = 1},
			   left = {.source = 2, .user = {(uintptr_t)main + 4}, .nr_user = 1};
	uint64_t end_ns = at_ns + 100 + ns;

	tb_sys_enter(tb, 0, at_ns, SYS_futex, 2, 0x7000, 0);
	tb_switch(tb, 0, at_ns + 100, 10, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_waking(tb, 0, end_ns, 10, TRACE_CONTEXT_TASK);
	add_sample(tb, 0, end_ns + 1, 20, 0xffffffff81000020ull, &waker);
	tb_switch(tb, 0, end_ns + 50, 20, 10, TRACE_TASK_INTERRUPTIBLE);
	add_sample(tb, 0, end_ns + 51, 10, 0xffffffff81000010ull, &wait);
	add_sample(tb, 0, end_ns + 90, 10, inside(flush_orders), &left);
	tb_sys_exit(tb, 0, end_ns + 100, 0);
}

/* The same for a timer of the futex, which interrupts thread 20. */
static void wait_for_timer(struct tb *tb, uint64_t at_ns, uint64_t ns)
{
	const struct lists waker = {.source = 5, .kernel = {10}, .nr_kernel = 1},
			   wait = {.source = 1, .certain = 1, .user = {inside(flush_orders)}, .nr_user = 1};
	uint64_t end_ns = at_ns + 100 + ns;

	tb_sys_enter(tb, 0, at_ns, SYS_nanosleep, 1, 0);
	tb_switch(tb, 0, at_ns + 100, 10, 20, TRACE_TASK_INTERRUPTIBLE);
	tb_vector(tb, 0, end_ns - 5, TIMER);
	tb_waking(tb, 0, end_ns, 10, TRACE_CONTEXT_HARDIRQ);
	add_sample(tb, 0, end_ns + 1, 0, 0xffffffff81000020ull, &waker);
	tb_vector_exit(tb, 0, end_ns + 5, TIMER);
	tb_switch(tb, 0, end_ns + 50, 20, 10, TRACE_TASK_INTERRUPTIBLE);
	add_sample(tb, 0, end_ns + 51, 10, 0xffffffff81000010ull, &wait);
	tb_sys_exit(tb, 0, end_ns + 100, 0);
}

/* 3 ms until read_orders(), at two places, 1 ms until flush_orders() of thread 20; 2 ms for a
 * timer */
static struct tb *waiter(void)
{
	struct tb *tb = tb_new();

	tb_string(tb, TRACE_STRING_KERNEL_CODE, 0, "ffffffff81000000 256 schedule");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_futex, "futex");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_nanosleep, "nanosleep");
	tb_string(tb, TRACE_STRING_VECTOR, TIMER, "local_timer");
	tb_thread(tb, 10, 10, 1, "waiter", 0, false);
	tb_thread(tb, 20, 20, 1, "worker", 0, false);
	tb_own_code(tb, 10, (const void *)(uintptr_t)flush_orders);
	tb_own_code(tb, 20, (const void *)(uintptr_t)flush_orders);
	tb_switch(tb, 0, 2000, 0, 10, 0);
	wait_until(tb, MS, 2 * MS, inside(read_orders));
	wait_until(tb, 3 * MS + MS / 2, MS, inside(read_orders) + 1);
	wait_until(tb, 5 * MS, MS, inside(flush_orders));
	wait_for_timer(tb, 7 * MS, 2 * MS);
	tb_switch(tb, 0, 10 * MS, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	return tb;
}

/* The entries of the list "woken" */
static long long ns_woken_in(const json_t *row, const char *name)
{
	long long ns = 0;
	json_t *woken;
	size_t i;

	json_array_foreach(json_object_get(row, "woken"), i, woken)
		if (!strcmp(json_string_value(json_object_get(woken, "in")), name))
			ns += json_integer_value(json_object_get(woken, "ns"));
	return ns;
}

static void a_profile_has_the_functions_that_ended_waits(void)
{
	char *text = report_of(waiter(), "--profile --ns --comm=waiter");

	contains(text, "woken in");
	contains(text, "  flush_orders  read_orders 75 %");
	contains(text, "  flush_orders  (timer)");
	free(text);
	text = report_of(waiter(), "--profile=tree --ns --comm=waiter");
	contains(text, ", woken in read_orders 75 %");
	contains(text, ", woken in (timer)");
	free(text);
	text = report_of(sleeper(true), "--profile --comm=sleeper");
	CU_ASSERT_PTR_NULL(strstr(text, "woken in"));
	free(text);
}

static void a_profile_as_json_has_all_functions_that_ended_waits(void)
{
	static const char *const forms[] = {"--profile --json --comm=waiter", "--profile=tree --json --comm=waiter"};

	for (int i = 0; i < 2; i++) {
		char *text = report_of(waiter(), forms[i]);
		json_t *json = json_loads(text, 0, NULL), *row;
		long long ns[3] = {0};
		size_t at;

		CU_ASSERT_PTR_NOT_NULL_FATAL(json);
		json_array_foreach(json_object_get(json, i ? "nodes" : "rows"), at, row) {
			ns[0] += ns_woken_in(row, "read_orders");
			ns[1] += ns_woken_in(row, "flush_orders");
			ns[2] += ns_woken_in(row, "(timer)");
		}
		CU_ASSERT_EQUAL(ns[0], 3 * (long long)MS);
		CU_ASSERT_EQUAL(ns[1], (long long)MS);
		CU_ASSERT_EQUAL(ns[2], 2 * (long long)MS);
		json_decref(json);
		free(text);
	}
}

static void the_waits_of_a_process_have_the_functions_that_ended_them(void)
{
	char *text = report_of(waiter(), "-a --ns --comm=waiter");
	json_t *json, *process, *wait;

	contains(text, "woken in");
	contains(text, "  flush_orders  read_orders 75 %\n");
	contains(text, "  flush_orders  (timer)\n");
	free(text);
	json = json_of_comm(waiter(), "waiter");
	process = json_array_get(json_object_get(json, "processes"), 0);
	wait = wait_of(process);
	CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(wait, "woken_in")), "(timer)");
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(wait, "woken_in_ns")), 2 * (long long)MS);
	json_decref(json);
}

static void the_one_screen_answer_has_the_functions_that_ended_its_waits(void)
{
	char *text = report_of(waiter(), "--comm=waiter");

	contains(text, "timeout in nanosleep        flush_orders  (timer)\n");
	free(text);
}

static void a_flame_graph_has_the_functions_that_ended_waits(void)
{
	struct file_case file = file_of(waiter(), "--comm=waiter --flame");

	contains(file.text, "\"woken\":{");
	contains(file.text, "[\"flush_orders\",1000000,\"read_orders\",3000000]");
	contains(file.text, "[\"(timer)\",2000000]");
	free(file.text);
}

/* The labels are texts of the file; the samples still add up to all time. */
static void a_file_for_pprof_has_the_functions_that_ended_waits(void)
{
	static const char *const texts[] = {"woken in", "read_orders", "(timer)"};
	struct file_case file = file_of(waiter(), "--comm=waiter --pprof");
	char *text = report_of(waiter(), "--comm=waiter --profile --json");
	json_t *json = json_loads(text, 0, NULL);
	size_t nr_samples = 0, nr_locations = 0;

	for (int i = 0; i < 3; i++)
		CU_ASSERT_PTR_NOT_NULL(memmem(file.text, file.size, texts[i], strlen(texts[i])));
	CU_ASSERT_EQUAL(pprof_elapsed(&file, &nr_samples, &nr_locations),
			(uint64_t)json_integer_value(json_object_get(json, "elapsed_ns")));
	json_decref(json);
	free(text);
	free(file.text);
}

/* ---- CPU time ---- */

/*
 * 6 ms of own code in flush_orders(), 2 ms in read_orders(), main() called both; 4 ms in a call of
 * read_orders()
 */
static struct tb *busy(bool with_samples)
{
	struct lists of_call = {.user = {inside(read_orders), (uintptr_t)main + 4}, .nr_user = 2},
		     of_code = {.user = {(uintptr_t)main + 4}, .nr_user = 1};
	struct tb *tb = tb_new();

	if (with_samples)
		tb_string(tb, TRACE_STRING_KERNEL_CODE, 0, "ffffffff81000000 256 sys_getpid");
	tb_string(tb, TRACE_STRING_SYSCALL, SYS_getpid, "getpid");
	tb_thread(tb, 10, 10, 1, "worker", 0, false);
	tb_own_code(tb, 10, (const void *)(uintptr_t)flush_orders);
	tb_switch(tb, 0, 2000, 0, 10, 0);
	for (uint64_t i = 0; with_samples && i < 4; i++)
		add_sample(tb, 0, 3000 + i, 10, inside(i == 2 ? read_orders : flush_orders), &of_code);
	tb_sys_enter(tb, 0, 2000 + 8 * MS, SYS_getpid);
	if (with_samples)
		add_sample(tb, 0, 3000 + 8 * MS, 10, 0xffffffff81000010ull, &of_call);
	tb_sys_exit(tb, 0, 2000 + 12 * MS, 10);
	tb_switch(tb, 0, 2000 + 12 * MS, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	return tb;
}

static void json_tells_the_function_with_the_most_cpu_time(void)
{
	char *text = report_of(busy(true), "--json --comm=worker");
	json_t *json = json_loads(text, 0, NULL), *process = json_array_get(json_object_get(json, "processes"), 0),
	       *both[] = {process, json_array_get(json_object_get(process, "threads"), 0)};

	for (int i = 0; i < 2; i++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(json_object_get(both[i], "cpu_where"));
		CU_ASSERT_EQUAL(json_integer_value(json_object_get(both[i], "cpu_ns")), 12 * (long long)MS);
		CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(both[i], "cpu_where")), "flush_orders");
		CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(both[i], "cpu_where_file")),
				       "test_report_where");
		CU_ASSERT_EQUAL(json_integer_value(json_object_get(both[i], "cpu_where_ns")), 6 * (long long)MS);
	}
	json_decref(json);
	free(text);
	text = report_of(busy(false), "--json --comm=worker");
	CU_ASSERT_PTR_NULL(strstr(text, "cpu_where"));
	free(text);
}

static void the_cpu_times_of_a_process_have_functions(void)
{
	char *text = report_of(busy(true), "-a --ns --comm=worker");

	contains(text, "(flush_orders 75 %), 4000000 ns in the kernel");
	contains(text, "on a CPU, in its own code         flush_orders 75 %\n");
	contains(text, "on a CPU, in system calls         read_orders\n");
	free(text);
	text = report_of(busy(false), "-a --ns --comm=worker");
	CU_ASSERT_PTR_NULL(strstr(text, "mostly in"));
	CU_ASSERT_PTR_NULL(strstr(text, "orders"));
	free(text);
}

static void the_one_screen_answer_has_the_functions_of_the_busiest_programs(void)
{
	char *text = report_of(busy(true), "");

	contains(text, ", mostly in its own code (flush_orders 75 %)");
	contains(text, "\n--profile shows all functions of worker (10).\n");
	free(text);
}

static void the_one_screen_answer_says_how_to_record_functions(void)
{
	char *text = report_of(busy(false), "");

	contains(text, "\ntracedaemon --sample records in which functions worker (10) ran.\n");
	free(text);
}

/* The view does not know the functions of a part: it has those of all of the time. */
static void ask_about_a_part(const char *path, const char *screen)
{
	char *whole = view_answer_of(path, "verdict"), *part = view_answer_of(path, "verdict?from=0&to=6000000");

	contains(whole, "mostly in its own code (flush_orders 75 %)");
	contains(part, "mostly in its own code.");
	free(whole);
	free(part);
}

static void the_view_has_no_function_of_a_part_of_the_time(void)
{
	report_also = ask_about_a_part;
	free(report_of(busy(true), ""));
	report_also = view_says_the_same;
}

/* The index of the view has it as well: report_also compares each view with that of its index. */
static void ask_about_waits(const char *path, const char *screen)
{
	char *whole = view_answer_of(path, "verdict"), *part = view_answer_of(path, "verdict?from=0&to=5000000");

	view_says_the_same(path, screen);
	contains(whole, "\"where\":\"flush_orders 75 %\"");
	contains(part, "timeout in nanosleep");
	CU_ASSERT_PTR_NULL(strstr(part, "\"where\""));
	free(whole);
	free(part);
}

static void the_waits_of_the_view_have_the_functions_of_the_screen(void)
{
	report_also = ask_about_waits;
	free(report_of(sleeper(true), ""));
	report_also = view_says_the_same;
}

/* The verdict has it: neither the bar of the program nor the line about its code say it again. */
static void the_one_screen_answer_names_a_function_once(void)
{
	static const char *const options[] = {"", "--comm=worker"};

	for (int i = 0; i < 2; i++) {
		char *text = report_of(busy(true), options[i]), *first = strstr(text, "flush_orders");

		CU_ASSERT_PTR_NOT_NULL_FATAL(first);
		CU_ASSERT_PTR_NULL(strstr(first + 1, "flush_orders"));
		free(text);
	}
}

/* ---- lines ---- */

/* Half of the own code is in flush_orders(), half at an address without code; main() called both */
static struct tb *worker(void)
{
	struct tb *tb = tb_new();
	const struct lists callers = {.user = {(uintptr_t)main + 4}, .nr_user = 1};

	tb_thread(tb, 10, 10, 1, "worker", 0, false);
	tb_own_code(tb, 10, (const void *)(uintptr_t)flush_orders);
	tb_switch(tb, 0, 2000, 0, 10, 0);
	add_sample(tb, 0, 3000, 10, inside(flush_orders), &callers);
	add_sample(tb, 0, 4000, 10, 0x1234567, &callers);
	tb_switch(tb, 0, 10000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	return tb;
}

static void a_line_has_the_time_of_its_samples(void)
{
	char *text = report_of(worker(), "--lines=test_report_where.c --json --comm=worker");
	json_t *json = json_loads(text, 0, NULL), *row;
	long long self = 0, total = 0;
	size_t i;

	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	json_array_foreach(json_object_get(json, "lines"), i, row) {
		long long line = json_integer_value(json_object_get(row, "line")),
			  ns = json_integer_value(json_object_get(row, "on_cpu_ns"));

		self += ns;
		if (line > FLUSH_BEGIN && line < FLUSH_END)
			CU_ASSERT_EQUAL(ns, 4000);
		if (line > FLUSH_END) /* a line of main() */
			total += json_integer_value(json_object_get(json_object_get(row, "total"), "on_cpu_ns"));
	}
	CU_ASSERT_EQUAL(i, 2);
	CU_ASSERT_EQUAL(self, 4000);
	CU_ASSERT_EQUAL(total, 8000);
	json_decref(json);
	free(text);
}

static void the_source_stands_beside_its_times(void)
{
	char *text = report_of(worker(), "--profile=lines test_report_where.c --ns --verify --comm=worker");

	contains(text, "/test_report_where.c: 4000 on a CPU in its lines.\n");
	contains(text, "int flush_orders(int n)\n");
	contains(text, "  4000        4000        1  ");
	contains(text, "  ...\n");
	contains(text, "verified: ");
	free(text);
}

/* The source is the value of lines, or a word before or behind the trace. */
static void a_source_may_be_given_in_four_ways(void)
{
	static const char *const ways[] = {"--profile=lines=test_report_where.c", "--profile=lines test_report_where.c",
					   "--profile lines test_report_where.c"};
	char path[] = "/tmp/report_where_XXXXXX", arguments[256], *text;
	struct tb *trace;
	int fd;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		text = report_of(worker(), ways[i]);
		contains(text, "/test_report_where.c: 4.00 us on a CPU in its lines.\n");
		free(text);
	}
	fd = mkstemp(path);
	trace = worker();
	tb_write(trace, fd, true);
	close(fd);
	tb_free(trace);
	snprintf(arguments, sizeof(arguments), "--profile=lines %s test_report_where.c", path);
	CU_ASSERT_EQUAL(visualizer_run(arguments, &text), 0);
	contains(text, "/test_report_where.c: 4.00 us on a CPU in its lines.\n");
	free(text);
	unlink(path);
}

static void an_instruction_has_the_time_of_its_samples(void)
{
	char *text = report_of(worker(), "--asm=flush_orders --all --ns --verify --comm=worker");

	contains(text, "flush_orders in ");
	contains(text, "/test_report_where: 4000 on a CPU in its instructions.\n");
	contains(text, "  return n * 3 + ");
	contains(text, " ret");
	CU_ASSERT_PTR_NULL(strstr(text, "n * 5"));
	contains(text, "verified: ");
	free(text);
	text = report_of(worker(), "--asm=main --ns --comm=worker");
	contains(text, "main in ");
	contains(text, "nothing on a CPU in its instructions.\n");
	contains(text, "  8000  "); /* with calls */
	free(text);
}

/* 70,000 instructions; the listing has 65,536 rows. */
void long_function(void);
__asm__(".text\n.type long_function, @function\n.globl long_function\nlong_function:\n.rept 70000\nnop\n.endr\n"
	"ret\n.size long_function, . - long_function\n");

static void a_function_with_too_many_instructions_is_said_to_be_cut(void)
{
	const struct lists callers = {.user = {(uintptr_t)main + 4}, .nr_user = 1};
	struct tb *tb = tb_new();
	char *text;

	tb_thread(tb, 10, 10, 1, "worker", 0, false);
	tb_own_code(tb, 10, (const void *)(uintptr_t)long_function);
	tb_switch(tb, 0, 2000, 0, 10, 0);
	add_sample(tb, 0, 3000, 10, (uintptr_t)long_function, &callers);
	tb_switch(tb, 0, 10000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	text = report_of(tb, "--asm=long_function --comm=worker");
	contains(text,
		 "The function has more than 65,536 instructions: the last row has the time of all further ones.\n");
	free(text);
	text = report_of(worker(), "--asm=flush_orders --comm=worker");
	CU_ASSERT_PTR_NULL(strstr(text, "more than"));
	free(text);
}

static void instructions_add_up_to_their_function(void)
{
	char *text = report_of(worker(), "--asm=flush_orders --json --comm=worker");
	json_t *json = json_loads(text, 0, NULL), *row;
	long long self = 0;
	size_t i;

	CU_ASSERT_PTR_NOT_NULL_FATAL(json);
	json_array_foreach(json_object_get(json, "instructions"), i, row)
		self += json_integer_value(json_object_get(row, "on_cpu_ns"));
	CU_ASSERT_EQUAL(self, 4000);
	CU_ASSERT_EQUAL(i, 1);
	row = json_array_get(json_object_get(json, "instructions"), 0);
	CU_ASSERT_EQUAL(json_integer_value(json_object_get(row, "address")) -
				json_integer_value(json_object_get(json, "begin")),
			1);
	json_decref(json);
	free(text);
}

/* The addresses with time are left, and a line says why there are no instructions. */
static void without_the_code_its_addresses_are_left(void)
{
	char *path = strdup(getenv("PATH")), *text;
	struct tb *tb = worker();

	setenv("PATH", "/nowhere", 1);
	text = report_of(worker(), "--asm=flush_orders --ns --comm=worker");
	setenv("PATH", path, 1);
	contains(text, "No instructions: there is no objdump on this machine: install the package binutils.\n");
	contains(text, "  4000  ");
	CU_ASSERT_PTR_NULL(strstr(text, " ret"));
	free(text);
	free(path);
	tb_string(tb, TRACE_STRING_BUILD_ID, 0, "1 1 00ff00ff00ff00ff");
	text = report_of(tb, "--asm=flush_orders --ns --comm=worker");
	contains(text, "No instructions: the file was built again since: --symfs names a copy of the one that ran.\n");
	contains(text, "  4000  ");
	free(text);
}

static void a_source_without_samples_has_no_lines(void)
{
	char *text = refusal_of(worker(), "--lines=nothing.c");

	contains(text, "no sample is in the source 'nothing.c'; the sources with the most: /");
	free(text);
	CU_ASSERT_EQUAL(run_on_trace("--profile=lines", &text), 2);
	contains(text, "--profile=lines needs a source");
	free(text);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(json_tells_the_function_with_the_most_of_each_wait),
		CASE(a_trace_without_stacks_has_no_such_keys),
		CASE(the_waits_of_a_process_have_a_column_of_functions),
		CASE(the_one_screen_answer_has_the_functions_of_its_waits),
		CASE(a_profile_has_the_functions_that_ended_waits),
		CASE(a_profile_as_json_has_all_functions_that_ended_waits),
		CASE(the_waits_of_a_process_have_the_functions_that_ended_them),
		CASE(the_one_screen_answer_has_the_functions_that_ended_its_waits),
		CASE(a_flame_graph_has_the_functions_that_ended_waits),
		CASE(a_file_for_pprof_has_the_functions_that_ended_waits),
		CASE(json_tells_the_function_with_the_most_cpu_time),
		CASE(the_cpu_times_of_a_process_have_functions),
		CASE(the_one_screen_answer_has_the_functions_of_the_busiest_programs),
		CASE(the_one_screen_answer_names_a_function_once),
		CASE(the_one_screen_answer_says_how_to_record_functions),
		CASE(the_view_has_no_function_of_a_part_of_the_time),
		CASE(the_waits_of_the_view_have_the_functions_of_the_screen),
		CASE(a_line_has_the_time_of_its_samples),
		CASE(the_source_stands_beside_its_times),
		CASE(a_source_may_be_given_in_four_ways),
		CASE(an_instruction_has_the_time_of_its_samples),
		CASE(a_function_with_too_many_instructions_is_said_to_be_cut),
		CASE(instructions_add_up_to_their_function),
		CASE(without_the_code_its_addresses_are_left),
		CASE(a_source_without_samples_has_no_lines),
		{NULL, NULL},
	};

	report_also = view_says_the_same;
	return report_main("report_where", cases, argc, argv);
}
