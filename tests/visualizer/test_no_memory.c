/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_no_memory.c - tracevisualizer without memory: each allocation of each mode fails, once or
 * from then on.
 *
 * First the mode runs with all memory: its output is the reference, and its allocations are
 * counted. Then it runs again, and forks before each allocation: the child goes on without it, or
 * without it and all later ones (each_allocation.h). Where a thread or another process is at work,
 * a child runs the mode from its begin instead. A child either prints the reference, byte by byte,
 * or exits with status 1 and one more line on stderr, which contains "memory", or says that names
 * are missing. No signal ends a child, and no child leaves a partial report in the file of
 * --output. Allocations of zstd, libelf, libdw and the C library fail as well.
 */

#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "complain.h"
#include "each_allocation.h"
#include "no_memory.h"
#include "random_story.h"
#include "sample_case.h"
#include "servers_case.h"
#include "unit.h"
#include "view_session.h"

#define MOST_ARGUMENTS 12
#define VIEW	       "VIEW"	  /* instead of options: a view's answers to many questions */
#define QUESTION       "QUESTION" /* and one question: only the answer to it lacks memory */
#define TIMEOUT_S      60
#define ONCE_STEP      331 /* without TRACE_TEST_LONG; both are primes */
#define FOREVER_STEP   809
#define VIEW_STEP      97
#define NARROW_STEP    13 /* a pass with few allocations is searched */
#define QUESTION_STEP  11
#define SPARSE_STEP    1499 /* modes that differ from another one in a small part */
#define READPROFILE    "--profile=readprofile"
#define CODE	       0xffffffff81000000ull
#define VDA	       (254u << 20)

int visualizer_main(int argc, char **argv); /* main() of tracevisualizer */
int named_function(int number);		    /* a trace contains its address */

__attribute__((noinline)) int named_function(int number)
{
	return number + 1;
}

/* ---- traces ---- */

static char story_path[] = "/tmp/no_memory_story_XXXXXX", random_path[] = "/tmp/no_memory_random_XXXXXX",
	    samples_path[] = "/tmp/no_memory_samples_XXXXXX", map_path[] = "/tmp/no_memory_map_XXXXXX",
	    counts_path[] = "/tmp/no_memory_counts_XXXXXX";

static void write_trace(struct tb *tb, char *path)
{
	int fd = mkstemp(path);

	tb_write(tb, fd, true);
	close(fd);
	tb_free(tb);
}

/* Writes the mapping of this program as that of process @pid. */
static void tell_mapping(struct tb *tb, uint32_t pid)
{
	struct trace_start_map map = {.tgid = pid};
	char path[512];
	ssize_t bytes = readlink("/proc/self/exe", path, sizeof(path) - 1);
	Dl_info info;

	if (bytes <= 0 || !dladdr((void *)(uintptr_t)named_function, &info))
		abort();
	path[bytes] = 0;
	map.start = (uintptr_t)info.dli_fbase;
	map.end = map.start + (1 << 24);
	tb_start(tb, 1000, TRACE_EV_start_map, &map, sizeof(map), path);
}

/* Writes scopes, a request, a counter, and an address with a symbol. */
static void tell_of_itself(struct tb *tb)
{
	static const struct trace_field value = {.name = "value", .offset = 8, .bytes = 8, .kind = TRACE_KIND_DEC},
					address = {.name = "function", .offset = 8, .bytes = 8, .kind = TRACE_KIND_HEX};
	static const struct {
		const char *name;
		enum trace_event_role role;
		uint64_t ns;
	} told[] = {
		{"shop:pay.begin", TRACE_ROLE_BEGIN, 1150},
		{"shop:order.begin", TRACE_ROLE_REQUEST_BEGIN, 1160},
		{"shop:depth", TRACE_ROLE_COUNTER, 1170},
		{"shop:met", TRACE_ROLE_EVENT, 1180},
		{"shop:order.end", TRACE_ROLE_REQUEST_END, 3300},
		{"shop:pay.end", TRACE_ROLE_END, 3400},
		{"shop:call", TRACE_ROLE_EVENT, 3410},
	};
	struct trace_user_stream stream = {.stream = TB_USER_STREAM, .pid = 10};

	tb_event(tb, 0, 1100, TRACE_EV_user_stream, &stream, sizeof(stream), "/bin/shop");
	for (size_t i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		bool calls = strcmp(told[i].name, "shop:call") == 0;
		struct trace_event_type type = {.name = told[i].name,
						.classic = "NONE",
						.text = "",
						.doc = "",
						.program = "NONE",
						.source = "a.c:1",
						.fields = calls ? &address : &value,
						.nr_fields = 1,
						.fixed_bytes = 16,
						.category = TRACE_CATEGORY_USER,
						.flags = TRACE_EVENT_ON | TRACE_EVENT_TID,
						.role = told[i].role};
		struct {
			uint32_t tid, pad;
			uint64_t value;
		} payload = {.tid = 10, .value = calls ? (uintptr_t)named_function : 7};

		tb_user_event(tb, 0, told[i].ns, tb_user_type(tb, &type), &payload, sizeof(payload));
	}
}

/*
 * A trace with rows in every table: a command that is a client, its server, a disk, a file, locks,
 * interrupts, and a program's own events.
 */
static struct tb *whole_story(void)
{
	struct trace_block_issue issue = {.dev = VDA, .bytes = 4096, .request = 0xb10c};
	struct trace_block_complete complete = {.dev = VDA, .bytes = 4096, .request = 0xb10c};
	struct trace_start_cgroup cgroup = {.cgroup = 5};
	struct case_of_servers k = begin();
	struct tb *tb = k.c.tb;

	tb_string(tb, TRACE_STRING_INFO, TRACE_INFO_COMMAND, "/usr/bin/client --all");
	tb_string(tb, TRACE_STRING_DEVICE, VDA, "vda");
	tb_string(tb, TRACE_STRING_IRQ, 7, "virtio");
	tb_string(tb, TRACE_STRING_KERNEL_CODE, 0, "ffffffff81000000 256 f"); /* samples have names */
	tb_start(tb, 1000, TRACE_EV_start_cgroup, &cgroup, sizeof(cgroup), "/slice");
	tell_mapping(tb, 10);
	tb_fd(tb, 30, 8, VDA, 300, S_IFREG, "/data");
	tb_exec(tb, 0, 1005, 10, "/usr/bin/client");
	tell_of_itself(tb);
	add_sample(tb, 0, 1190, 10, (uintptr_t)named_function,
		   &(struct lists){.user = {(uintptr_t)whole_story}, .nr_user = 1});
	add_sample(tb, 0, 3450, 10, (uintptr_t)named_function, NULL);
	connects(&k, &one, &one_server, 1200);
	polls(&k, 2, 1220);
	sends(&k, &one, 1230);
	tb_sys_enter(tb, 0, 1245, SYS_read, 3, 0, 16);
	tb_switch(tb, 0, 1250, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	receives(&k, &one_server, 1300);
	tb_sys_enter(tb, 2, 1400, SYS_read, 8, 0, 16);
	tb_event(tb, 2, 1450, TRACE_EV_block_issue, &issue, sizeof(issue), NULL);
	tb_switch(tb, 2, 1500, 30, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(tb, 2, 2450, 7);
	tb_event(tb, 2, 2490, TRACE_EV_block_complete, &complete, sizeof(complete), NULL);
	tb_waking(tb, 2, 2500, 30, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(tb, 2, 2550, 7);
	tb_switch(tb, 2, 2800, 0, 30, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 2, 2810, 16);
	sends(&k, &one_server, 3000);
	tb_waking(tb, 2, 3002, 10, TRACE_CONTEXT_TASK);
	tb_switch(tb, 0, 3100, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(tb, 0, 3200, 16);
	tb_fork(tb, 0, 3500, 10, 11, 11, "child");
	tb_sys_enter(tb, 1, 3600, SYS_futex, 0x7f00, 0, 2);
	tb_switch(tb, 1, 3700, 20, 11, TRACE_TASK_INTERRUPTIBLE);
	tb_sys_path(tb, 1, 3800, SYS_openat, "/etc/passwd");
	tb_open(tb, 1, 3805, 5, VDA, 9, S_IFREG | 0644, "/etc/passwd");
	tb_sys_exit(tb, 1, 3810, 5);
	tb_sys_enter(tb, 1, 3900, SYS_futex, 0x7f00, 1, 1);
	tb_waking(tb, 1, 3950, 20, TRACE_CONTEXT_TASK);
	tb_sys_exit(tb, 1, 4000, 1);
	tb_exit(tb, 1, 4100, 11, 11, true);
	tb_switch(tb, 1, 4200, 11, 20, TRACE_TASK_DEAD);
	tb_sys_exit(tb, 1, 4300, 0);
	finish(&k);
	return tb;
}

/*
 * A trace with losses, hidden threads, masks, overlapping chunks, and threads that migrate and die.
 */
static struct tb *random_trace(void)
{
	static const struct mood mood = {.noise = 10,
					 .nr_tids = 12,
					 .switches = 40,
					 .sleeps = 20,
					 .cuts = 2,
					 .nr_events = 500,
					 .losses = true,
					 .streams = true,
					 .masks = true,
					 .programs = true,
					 .moves = true};

	return random_story(9, &mood); /* its noise breaks no rule of --verify */
}

/* A trace with samples of the kernel, for readprofile, and of functions of this program. */
static struct tb *sampled_functions(void)
{
	const struct lists lists = {.user = {(uintptr_t)visualizer_main + 1}, .nr_user = 1};
	struct tb *tb = tb_new();

	tell_mapping(tb, 10);
	tb_string(tb, TRACE_STRING_KERNEL_CODE, 0, "ffffffff81000000 0 _stext");
	tb_string(tb, TRACE_STRING_KERNEL_CODE, 1, "ffffffff81000100 256 f");
	tb_string(tb, TRACE_STRING_KERNEL_CODE, 2, "ffffffff81001000 0 _etext");
	tb_switch(tb, 0, 1000, 0, 10, 0);
	for (uint64_t i = 0; i < 40; i++)
		add_sample(tb, 0, 2000 + 10 * i, 10, i % 2 ? CODE + 0x100 + i : (uintptr_t)named_function,
			   i % 2 ? NULL : &lists);
	tb_switch(tb, 0, 6000, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	return tb;
}

static void write_bytes(char *path, const void *bytes, size_t size)
{
	int fd = mkstemp(path);

	if (write(fd, bytes, size) != (ssize_t)size)
		abort();
	close(fd);
}

/* The files that readprofile reads beside a trace: a map, and counters in steps of 4 bytes. */
static void write_map_and_counts(void)
{
	static const char map[] = "ffffffff81000000 T _stext\nffffffff81000100 t f\nffffffff81000200 t g\n"
				  "ffffffff81001000 T _etext\n";
	static uint32_t counts[0x1000 / 4 + 1] = {[0] = 4, [0x100 / 4 + 1] = 7, [0x200 / 4 + 1] = 2};

	write_bytes(map_path, map, sizeof(map) - 1);
	write_bytes(counts_path, counts, sizeof(counts));
}

/* ---- one run ---- */

/* allocations of trace_open(), which one test checks for all modes; 0: not checked yet */
static long nr_to_open;
/* for --output; does not exist before a run */
static char output_path[] = "/tmp/no_memory_output_XXXXXX";
static long once_step = ONCE_STEP, forever_step = FOREVER_STEP;
static int out_fd, error_fd;		 /* stdout and stderr of a mode */
static int child_out_fd, child_error_fd; /* those of its children at an allocation */
static int log_fd;			 /* stdout of the test */
static struct shared {
	long nr_taken; /* number of a mode's allocations */
	unsigned int nr_wrong;
	struct each_allocation each;
} * shared; /* with the processes of a mode */

static char *content_of(int fd, size_t *ret_bytes)
{
	off_t bytes = fd < 0 ? 0 : lseek(fd, 0, SEEK_END);
	char *text = calloc(1, (size_t)bytes + 1);

	*ret_bytes = bytes ? (size_t)pread(fd, text, (size_t)bytes, 0) : 0;
	return text;
}

/* Ends as the server of a view does: with an answer, with an error, or with memory_end(). */
static void answer(struct view_session *session, const char *question)
{
	struct view_answer answer = view_answer(session, question);

	if (answer.is_wrong && memmem(answer.bytes, answer.size, "memory", 6))
		_exit(complain(1, "out of memory"));
	printf("%s: %zu\n", question, answer.size);
	fwrite(answer.bytes, 1, answer.size, stdout);
	free(answer.bytes);
}

static void answer_all(struct view_session *session)
{
	static const char *const of_all[] = {"about",
					     "rows",
					     "sums?from=0&to=8000",
					     "search?text=e",
					     "waits",
					     "clients",
					     "servers",
					     "requests",
					     "counters",
					     "lanes",
					     "verdict",
					     "functions",
					     "functions?from=2000&to=4000",
					     "books",
					     "books?from=2000&to=4000",
					     "events",
					     "events?from=2000&to=4000",
					     "counters?name=threads%20that%20wait%20for%20a%20CPU&columns=50"};
	static const char *const of_rows[] = {"spans", "waits", "path", "scopes", "billed", "requests", "samples"};
	char question[64];

	for (size_t i = 0; i < sizeof(of_all) / sizeof(of_all[0]); i++)
		answer(session, of_all[i]);
	for (size_t i = 0; i < sizeof(of_rows) / sizeof(of_rows[0]); i++) {
		snprintf(question, sizeof(question), "%s?row=%u&from=0&to=8000", of_rows[i], TRACE_ROW_THREAD << 28);
		answer(session, question);
	}
}

/** struct lack - what fails: the @at-th allocation (0: none), or each one of @each, if not NULL */
struct lack {
	long at;
	bool and_after;
	struct each_allocation *each;
};

static void lack_begin(const struct lack *lack)
{
	if (lack->each)
		each_allocation_begin(lack->each);
	else
		no_memory_at(lack->at, lack->and_after);
}

/* @question: NULL: all, and the session lacks memory, too */
static int view_main(const char *path, const char *question, const struct lack *lack)
{
	static const struct visualizer_options options = {
		.reports.view = true, .events.cpu = -1, .processes.pid = -1, .processes.tid = -1};
	struct trace_error error = {0};
	struct trace *trace;
	struct view_session session;
	int result;

	if (!question)
		lack_begin(lack);
	trace = trace_open(path, &error);
	if (!trace)
		return complain_of_error(&error);
	if (view_session_begin(&session, trace, &options))
		return 1;
	do
		result = view_session_step(&session, 1, 1);
	while (!result);
	if (result < 0)
		return 1;
	if (question) {
		lack_begin(lack);
		answer(&session, question);
	} else {
		answer_all(&session);
	}
	view_session_end(&session);
	trace_close(trace);
	return 0;
}

static void child_run(const char *const *mode, const char *path, const struct lack *lack)
{
	char *argv[MOST_ARGUMENTS] = {(char *)"tracevisualizer"};
	int argc = 1, result;

	for (; mode[argc - 1]; argc++)
		argv[argc] = strcmp(mode[argc - 1], "TRACE") == 0 ? (char *)path : (char *)mode[argc - 1];
	dup2(out_fd, STDOUT_FILENO);
	dup2(error_fd, STDERR_FILENO);
	alarm(lack->each ? 0 : TIMEOUT_S);
	if (strcmp(mode[0], VIEW) == 0 || strcmp(mode[0], QUESTION) == 0) {
		result = view_main(path, strcmp(mode[0], QUESTION) == 0 ? mode[1] : NULL, lack);
	} else {
		lack_begin(lack);
		result = visualizer_main(argc, argv);
	}
	shared->nr_taken = no_memory_nr();
	each_allocation_end();
	fflush(stdout);
	_exit(result);
}

static struct run run_mode(const char *const *mode, const char *path, const struct lack *lack)
{
	struct run run = {0};
	pid_t child;

	for (int i = 0; i < 2; i++) {
		int fd = i ? error_fd : out_fd;

		if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0)
			abort();
	}
	child = fork();
	if (!child)
		child_run(mode, path, lack);
	if (waitpid(child, &run.status, 0) != child)
		abort();
	run.text = content_of(out_fd, &run.bytes);
	run.error_text = content_of(error_fd, &run.error_bytes);
	return run;
}

static void run_free(struct run *run)
{
	free(run->text);
	free(run->error_text);
}

/* ---- the expected output ---- */

static unsigned int lines_of(const char *text)
{
	unsigned int nr = 0;

	for (; (text = strchr(text, '\n')); text++)
		nr++;
	return nr;
}

static bool is_same(const struct run *run, const struct run *reference)
{
	return run->status == reference->status && run->bytes == reference->bytes &&
	       memcmp(run->text, reference->text, run->bytes) == 0 && run->error_bytes == reference->error_bytes &&
	       memcmp(run->error_text, reference->error_text, run->error_bytes) == 0;
}

/* True if the last line names the cause. Warnings of the reference may precede it. */
static bool is_refusal(const struct run *run, const struct run *reference)
{
	char last[1024];
	size_t bytes = run->error_bytes, begin;

	if (!WIFEXITED(run->status) || WEXITSTATUS(run->status) != 1 || !bytes || run->error_text[bytes - 1] != '\n')
		return false;
	for (begin = bytes - 1; begin && run->error_text[begin - 1] != '\n'; begin--)
		;
	snprintf(last, sizeof(last), "%s", run->error_text + begin);
	return strncmp(last, "tracevisualizer: ", 17) == 0 && strstr(last, "memory") &&
	       lines_of(run->error_text) <= lines_of(reference->error_text) + 1;
}

/*
 * libelf and libdw crash without memory: that ends a process of their own, and is told. No line
 * says that the program has no debug information.
 */
static bool is_told(const struct run *run)
{
	return WIFEXITED(run->status) && !strstr(run->error_text, "build it with -g") &&
	       strstr(run->error_text, "names of functions or their source lines are missing: the process that "
				       "reads it stopped: signal ");
}

static bool check_output_file(const struct run *run, const char *wanted, size_t wanted_bytes)
{
	int fd = open(output_path, O_RDONLY | O_CLOEXEC);
	size_t bytes;
	char *text = content_of(fd, &bytes);
	bool is_whole = bytes == wanted_bytes && memcmp(text, wanted, bytes) == 0;
	bool ok = WIFEXITED(run->status) && WEXITSTATUS(run->status) == 0 ? is_whole : fd < 0 || is_whole;

	free(text);
	if (fd >= 0)
		close(fd);
	unlink(output_path);
	return ok;
}

/* The mode that is searched, and its output with all memory. */
static struct search {
	const char *const *mode;
	const char *path;
	struct run reference;
	bool to_file; /* it writes to output_path */
	char *file;
	size_t file_bytes;
} search;

static void tell(const struct run *run, long at, bool and_after, const char *what)
{
	if (__atomic_fetch_add(&shared->nr_wrong, 1, __ATOMIC_RELAXED) >= 10)
		return;
	dprintf(log_fd, "\n    ");
	for (const char *const *word = search.mode; *word; word++)
		dprintf(log_fd, "%s ", *word);
	dprintf(log_fd, "without memory for allocation %ld%s: %s, status %#x, %zu bytes; %s", at,
		and_after ? " and all after it" : "", what, (unsigned int)run->status, run->bytes, run->error_text);
}

static void judge(const struct run *run, long at, bool and_after)
{
	if (!is_same(run, &search.reference) && !is_refusal(run, &search.reference) && !is_told(run))
		tell(run, at, and_after, "neither the whole output nor a refusal");
	if (search.to_file && !check_output_file(run, search.file, search.file_bytes))
		tell(run, at, and_after, "a part in the file");
}

static void try_from_begin(long at, bool and_after)
{
	struct run run = run_mode(search.mode, search.path, &(struct lack){.at = at, .and_after = and_after});

	judge(&run, at, and_after);
	run_free(&run);
}

/* Runs the mode once, and its children at the chosen allocations. */
static void try_children(long first, long once, long forever)
{
	struct each_allocation *each = &shared->each;
	struct run run;

	*each = (struct each_allocation){.first = first,
					 .once_step = once,
					 .forever_step = forever,
					 .timeout_s = TIMEOUT_S,
					 .out_fd = child_out_fd,
					 .error_fd = child_error_fd,
					 .judge = judge};
	run = run_mode(search.mode, search.path, &(struct lack){.each = each});
	if (!is_same(&run, &search.reference))
		tell(&run, 0, false, "differs when it forks");
	run_free(&run);
	CU_ASSERT_FATAL(each->nr_left <= EACH_ALLOCATION_MOST_LEFT);
	for (long i = 0; i < each->nr_left; i++) {
		if ((each->left[i] - first) % once == 0)
			try_from_begin(each->left[i], false);
		if ((each->left[i] - first) % forever == 0)
			try_from_begin(each->left[i], true);
	}
}

/* All children would write to the same file. */
static void try_all_from_begin(long first, long nr, long once, long forever)
{
	for (long at = first; at <= nr; at += once)
		try_from_begin(at, false);
	for (long at = first; at <= nr; at += forever)
		try_from_begin(at, true);
}

static void fails_at_any(const char *const *mode, const char *path, bool to_file)
{
	long once = getenv("TRACE_TEST_LONG") ? 1 : once_step, forever = getenv("TRACE_TEST_LONG") ? 1 : forever_step;
	long nr, first;
	int fd;

	search = (struct search){.mode = mode, .path = path, .to_file = to_file};
	search.reference = run_mode(mode, path, &(struct lack){0});
	nr = shared->nr_taken;
	first = nr_to_open > 0 && nr > nr_to_open && strcmp(mode[0], QUESTION) ? nr_to_open : 1;
	fd = to_file ? open(output_path, O_RDONLY | O_CLOEXEC) : -1;
	search.file = content_of(fd, &search.file_bytes);
	close(fd);
	unlink(output_path);
	shared->nr_wrong = 0;
	CU_ASSERT(WIFEXITED(search.reference.status) && WEXITSTATUS(search.reference.status) == 0 &&
		  search.reference.bytes + search.file_bytes > 0);
	if (search.reference.status)
		tell(&search.reference, 0, false, "fails with memory");
	if (nr > first)
		first += unit_first((int)once) % (nr - first);
	if (to_file)
		try_all_from_begin(first, nr, once, forever);
	else
		try_children(first, once, forever);
	CU_ASSERT_EQUAL(shared->nr_wrong, 0);
	free(search.file);
	run_free(&search.reference);
}

typedef const char *const mode_words[MOST_ARGUMENTS];

static void fails_in_modes(mode_words *modes, const char *path)
{
	for (; **modes; modes++)
		fails_at_any(*modes, path, false);
}

/* @to_file: the modes write to output_path */
static void fails_in_similar_modes(mode_words *modes, const char *path, bool to_file)
{
	once_step = forever_step = SPARSE_STEP;
	for (; **modes; modes++)
		fails_at_any(*modes, path, to_file);
	once_step = ONCE_STEP;
	forever_step = FOREVER_STEP;
}

/* ---- the claims ---- */

static void a_trace_opens_without_memory_whole_or_not_at_all(void)
{
	static const char *const summary[MOST_ARGUMENTS] = {"-s", "TRACE"};
	struct trace *trace;

	fails_at_any(summary, story_path, false);
	no_memory_at(0, false);
	trace = trace_open(story_path, NULL);
	nr_to_open = no_memory_nr();
	CU_ASSERT_PTR_NOT_NULL(trace);
	trace_close(trace);
}

static void a_report_without_memory_is_whole_or_refused(void)
{
	static mode_words modes[] = {{"-a", "TRACE"}, {"-a", "--all", "--ns", "TRACE"}, {NULL}};
	static mode_words chosen[] = {{"-a", "--top=3", "--sort=wait", "--comm=client", "TRACE"},
				      {"-a", "--pid=10", "TRACE"},
				      {NULL}};

	fails_in_modes(modes, story_path);
	fails_in_modes(modes, random_path);
	fails_in_modes(chosen, story_path);
}

static void json_without_memory_is_whole_or_refused(void)
{
	static mode_words modes[] = {{"--json", "TRACE"}, {"--json", "--all", "--pid=10", "TRACE"}, {NULL}};

	fails_in_modes(modes, story_path);
	fails_in_modes(modes, random_path);
}

static void a_list_without_memory_is_whole_or_refused(void)
{
	static mode_words modes[] = {{"-d", "TRACE"},
				     {"-d", "-y", "--ns", "TRACE"},
				     {"-d", "-c0", "-tsched", "-tshop:*", "-oirq", "--from=0.0000001", "TRACE"},
				     {NULL}};

	fails_in_modes(modes, story_path);
	fails_in_modes(modes, random_path);
}

static void a_critical_path_without_memory_is_whole_or_refused(void)
{
	static mode_words modes[] = {{"--critical-path", "TRACE"}, {"--critical-path=10", "--json", "TRACE"}, {NULL}};

	fails_in_modes(modes, story_path);
}

static void a_timeline_without_memory_is_whole_or_refused(void)
{
	static mode_words modes[] = {{"--timeline", "TRACE"}, {"--timeline", "--verify", "TRACE"}, {NULL}};

	fails_in_modes(modes, story_path);
	fails_in_modes(modes, random_path);
}

static void a_list_of_calls_without_memory_is_whole_or_refused(void)
{
	static mode_words modes[] = {{"--strace", "-fyYT", "--add-columns=for,cpu", "TRACE"},
				     {"--strace", "-c", "TRACE"},
				     {NULL}};

	fails_in_modes(modes, story_path);
	fails_in_modes(modes, random_path);
}

static void a_comparison_without_memory_is_whole_or_refused(void)
{
	mode_words modes[] = {{"--diff", "TRACE", random_path},
			      {"--diff", "--json", "--all", "TRACE", random_path},
			      {"--diff", "TRACE", story_path},
			      {NULL}};

	fails_in_modes(modes, story_path);
}

static void verification_without_memory_is_whole_or_refused(void)
{
	static mode_words modes[] = {{"--verify", "TRACE"}, {"-a", "-d", "--verify", "TRACE"}, {NULL}};

	fails_in_modes(modes, story_path);
	fails_in_modes(modes, random_path);
}

static void every_other_report_without_memory_is_whole_or_refused(void)
{
	static mode_words modes[] = {{"TRACE"}, {"--help"}, {"--version"}, {NULL}};
	static mode_words similar[] = {{"-s", "--json", "TRACE"},
				       {"-s", "-d", "TRACE"},
				       {"--from=0.000001", "TRACE"},
				       {"-h"},
				       {"--strace", "--help"},
				       {READPROFILE, "--help"},
				       {NULL}};

	fails_in_modes(modes, story_path);
	fails_in_similar_modes(similar, story_path, false);
}

static void a_choice_without_memory_is_whole_or_refused(void)
{
	static mode_words similar[] = {{"-a", "--classic", "TRACE"},
				       {"-a", "--section=files,locks", "TRACE"},
				       {"-a", "--tid=client", "TRACE"},
				       {"-a", "--around=0.000003+-0.000001", "TRACE"},
				       {"-d", "--comm=client", "--time=wall", "TRACE"},
				       {"-d", "--json", "-fc", "--cgroup=/slice", "TRACE"},
				       {"--timeline", "--comm=client", "TRACE"},
				       {"--critical-path=client", "--from=0.000001", "TRACE"},
				       {"--slowest=shop:order", "--comm=client", "TRACE"},
				       {"--strace", "-Cw", "-k", "-tt", "-e", "trace=%file,read", "TRACE"},
				       {"--strace", "-r", "-P", "/etc/passwd", "-f", "TRACE"},
				       {NULL}};

	fails_in_similar_modes(similar, story_path, false);
}

static void a_profile_without_memory_is_whole_or_refused(void)
{
	static mode_words modes[] = {{"--profile", "TRACE"},
				     {"--profile", "--json", "TRACE"},
				     {"--profile", "--critical-path", "TRACE"},
				     {"--diff", "--profile", "TRACE", "TRACE"},
				     {NULL}};

	static mode_words within[] = {{"--profile", "--scope=shop:pay", "TRACE"},
				      {"--profile", "--client=client", "TRACE"},
				      {"--by=client,exe", "TRACE"},
				      {"--by=symbol,cpu", "--json", "TRACE"},
				      {NULL}};

	fails_in_modes(modes, story_path);
	once_step = NARROW_STEP;
	fails_in_modes(within, story_path);
	once_step = ONCE_STEP;
}

static void every_form_of_a_profile_without_memory_is_whole_or_refused(void)
{
	static mode_words named[] = {{"--profile", "TRACE"},
				     {"--lines=" __FILE__, "TRACE"},
				     {"--lines=" __FILE__, "--json", "TRACE"},
				     {"--asm=named_function", "TRACE"},
				     {"--callers=named_function", "TRACE"},
				     {"--callees=named_function", "TRACE"},
				     {NULL}};
	static mode_words similar[] = {{"--profile=tree", "TRACE"},
				       {"--profile=tree", "--json", "TRACE"},
				       {"--folded", "TRACE"},
				       {"--folded=off", "TRACE"},
				       {"--folded=all", "TRACE"},
				       {"--folded=wakers", "TRACE"},
				       {"--profile", "--symfs=/", "TRACE"},
				       {NULL}};

	static mode_words oprofile[] = {{"--profile=opreport", "TRACE"},
					{"--profile=opreport", "-d", "-g", "TRACE"},
					{"--profile=opreport", "-c", "-a", "TRACE"},
					{"--profile=opreport", "-l", "{", "TRACE", "}", "{", "TRACE", "}"},
					{NULL}};

	fails_in_modes(named, samples_path);
	fails_in_modes(oprofile, samples_path);
	fails_in_similar_modes(similar, story_path, false);
}

static void lines_without_memory_are_no_lack_of_debug_information(void)
{
	static mode_words modes[] = {{"--lines=" __FILE__, "TRACE"}, {NULL}};

	once_step = forever_step = 5;
	fails_in_modes(modes, samples_path);
	once_step = ONCE_STEP;
	forever_step = FOREVER_STEP;
}

static void hits_without_memory_are_whole_or_refused(void)
{
	mode_words of_trace[] = {{READPROFILE, "TRACE"},
				 {READPROFILE, "-v", "-b", "TRACE"},
				 {READPROFILE, "-s", "--from=0.000001", "TRACE"},
				 {READPROFILE, "-i", "TRACE"},
				 {READPROFILE, "-a", "-m", map_path, "TRACE"},
				 {NULL}};
	mode_words of_counts[] = {{READPROFILE, "-p", counts_path, "-m", map_path},
				  {READPROFILE, "-n", "-i", "-p", counts_path, "-m", map_path},
				  {NULL}};
	long to_open = nr_to_open;

	fails_in_modes(of_trace, samples_path);
	nr_to_open = 0; /* it opens no trace */
	once_step = 1;
	fails_in_modes(of_counts, "");
	once_step = ONCE_STEP;
	nr_to_open = to_open;
}

static void the_slowest_without_memory_are_whole_or_refused(void)
{
	static mode_words modes[] = {{"--slowest=shop:pay", "TRACE"},
				     {"--slowest=read", "--json", "TRACE"},
				     {"--slowest=client", "TRACE"},
				     {NULL}};

	fails_in_modes(modes, story_path);
}

static void completions_without_memory_are_whole_or_refused(void)
{
	static mode_words modes[] = {
		{"--complete=pid", "TRACE"}, {"--complete=event", "TRACE"}, {"--complete=instance", "TRACE"}, {NULL}};
	static mode_words similar[] = {
		{"--complete=comm", "TRACE"}, {"--complete=task", "TRACE"}, {"--complete=cgroup", "TRACE"}, {NULL}};

	fails_in_modes(modes, story_path);
	fails_in_similar_modes(similar, story_path, false);
}

static void answers_of_a_view_without_memory_are_whole_or_refused(void)
{
	static mode_words modes[] = {{VIEW, "TRACE"}, {NULL}};

	once_step = VIEW_STEP;
	fails_in_modes(modes, story_path);
	fails_in_modes(modes, random_path);
	once_step = ONCE_STEP;
}

/* Each of these runs a report or a pass of its own. */
static void an_answer_without_memory_is_whole_or_refused(void)
{
	static mode_words questions[] = {{QUESTION, "functions?from=2000&to=4000", "TRACE"},
					 {QUESTION, "functions", "TRACE"},
					 {QUESTION, "books?from=2000&to=4000", "TRACE"},
					 {QUESTION, "events?from=2000&to=4000", "TRACE"},
					 {NULL}};

	once_step = QUESTION_STEP;
	fails_in_modes(questions, story_path);
	once_step = ONCE_STEP;
}

static void a_file_written_without_memory_is_whole_or_not_there(void)
{
	mode_words modes[] = {{"-a", "--output", output_path, "TRACE"},
			      {"--json", "--output", output_path, "TRACE"},
			      {"-d", "--output", output_path, "TRACE"},
			      {"--timeline", "--output", output_path, "TRACE"},
			      {"--strace", "-f", "-o", output_path, "TRACE"},
			      {"--flame", output_path, "TRACE"},
			      {"--pprof", output_path, "TRACE"},
			      {NULL}};

	mode_words similar[] = {{"--critical-path", "--output", output_path, "TRACE"},
				{"--slowest=read", "--output", output_path, "TRACE"},
				{"--diff", "--output", output_path, "TRACE", random_path},
				{"--profile", "--flame", output_path, "TRACE"},
				{"--html", output_path, "TRACE"},
				{"--html", output_path, "--anonymous", "TRACE"},
				{"--html", output_path, "TRACE", random_path},
				{NULL}};

	for (mode_words *mode = modes; **mode; mode++)
		fails_at_any(*mode, story_path, true);
	fails_in_similar_modes(similar, story_path, true);
}

/* The map is written first, and it does not become that of other counters. */
static void hits_written_without_memory_are_whole_or_not_there(void)
{
	mode_words modes[] = {{READPROFILE, "--write", output_path, "TRACE"}, {NULL}};
	char name[sizeof(output_path) + 4];

	once_step = NARROW_STEP;
	fails_at_any(*modes, samples_path, true);
	once_step = ONCE_STEP;
	snprintf(name, sizeof(name), "%s.map", output_path);
	unlink(name);
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		/* first: the others skip these allocations */
		CASE(a_trace_opens_without_memory_whole_or_not_at_all),
		CASE(a_report_without_memory_is_whole_or_refused),
		CASE(json_without_memory_is_whole_or_refused),
		CASE(a_list_without_memory_is_whole_or_refused),
		CASE(a_critical_path_without_memory_is_whole_or_refused),
		CASE(a_timeline_without_memory_is_whole_or_refused),
		CASE(a_list_of_calls_without_memory_is_whole_or_refused),
		CASE(a_comparison_without_memory_is_whole_or_refused),
		CASE(verification_without_memory_is_whole_or_refused),
		CASE(a_profile_without_memory_is_whole_or_refused),
		CASE(every_form_of_a_profile_without_memory_is_whole_or_refused),
		CASE(lines_without_memory_are_no_lack_of_debug_information),
		CASE(hits_without_memory_are_whole_or_refused),
		CASE(the_slowest_without_memory_are_whole_or_refused),
		CASE(completions_without_memory_are_whole_or_refused),
		CASE(answers_of_a_view_without_memory_are_whole_or_refused),
		CASE(an_answer_without_memory_is_whole_or_refused),
		CASE(every_other_report_without_memory_is_whole_or_refused),
		CASE(a_choice_without_memory_is_whole_or_refused),
		CASE(a_file_written_without_memory_is_whole_or_not_there),
		CASE(hits_written_without_memory_are_whole_or_not_there),
		{NULL, NULL},
	};
	int result;

	setenv("LC_ALL", "C", 1); /* another locale that finds no memory is this one: bars of # are whole too */
	out_fd = memfd_create("stdout", MFD_CLOEXEC);
	error_fd = memfd_create("stderr", MFD_CLOEXEC);
	child_out_fd = memfd_create("stdout of a child", MFD_CLOEXEC);
	child_error_fd = memfd_create("stderr of a child", MFD_CLOEXEC);
	log_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	close(mkstemp(output_path));
	unlink(output_path);
	write_trace(whole_story(), story_path);
	write_trace(random_trace(), random_path);
	write_trace(sampled_functions(), samples_path);
	write_map_and_counts();
	result = unit_main("without memory", cases, argc, argv);
	unlink(story_path);
	unlink(random_path);
	unlink(samples_path);
	unlink(map_path);
	unlink(counts_path);
	return result;
}
