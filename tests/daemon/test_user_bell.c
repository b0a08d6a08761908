/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* test_user_bell.c - programs that cannot see the daemon's socket, and call it: they are taken, or
 * lost and named. */
#include "unit.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client_bell.h"
#include "clients_missing.h"
#include "lost_programs.h"
#include "message.h"
#include "test_daemon_fake.h"
#include "user_bench.h"

/* A daemon with a fake tracer, on which fake_bell() calls. */
struct heard {
	struct bench *bench;
	struct tracer *tracer;
	struct clients *clients;
	char texts[4096]; /* what is missing, a line each */
};

static struct heard heard_begin(const struct budget_limits *limits)
{
	struct tracer_options tracer_options = {.size = sizeof(tracer_options)};
	struct heard heard = {.bench = bench_new(NULL)};
	struct clients_options options = {.selection = &heard.bench->selection, .limits = limits};
	struct clock_sample start = clock_take_sample();
	struct trace_error error;

	heard.tracer = options.tracer = tracer_new(&tracer_options, &error);
	heard.clients = clients_new(&options, &error);
	CU_ASSERT_PTR_NOT_NULL_FATAL(heard.clients);
	clients_begin(heard.clients, heard.bench->recording->drain, heard.bench->writer, &start);
	return heard;
}

static void add_text(void *context, const char *text)
{
	struct heard *heard = context;

	snprintf(heard->texts + strlen(heard->texts), sizeof(heard->texts) - strlen(heard->texts), "%s\n", text);
}

static void heard_end(struct heard *heard)
{
	clients_free(heard->clients);
	tracer_free(heard->tracer);
	bench_free(heard->bench);
}

static size_t nr_programs(const struct heard *heard)
{
	struct clients_status status;

	clients_get_status(heard->clients, &status);
	return status.programs;
}

static void call_as(pid_t pid, pid_t number, uint64_t bytes, const char *name)
{
	struct tracer_bell bell = {.pid = pid, .number = number, .bytes = bytes, .comm = "boxed"};

	snprintf(bell.name, sizeof(bell.name), "%s", name);
	fake_bell(&bell);
}

static void call(pid_t pid, uint64_t bytes, const char *name)
{
	call_as(pid, pid, bytes, name);
}

static const char *memory_name(void)
{
	static char name[USER_MEMORY_NAME_BYTES];

	user_memory_name(getenv("TRACER_SOCKET"), name);
	return name;
}

/* A process with the memory of @program, mapped only. */
static pid_t live(const struct fake_program *program)
{
	pid_t child = fork();

	if (child == 0) {
		close(program->fd);
		for (;;)
			pause();
	}
	return child;
}

static void end(pid_t child)
{
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
}

static void a_program_that_calls_is_taken_and_answered(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct heard heard = heard_begin(NULL);
	pid_t child = live(&program);

	program.memory->new_flag = 1;
	call(child, program.memory->total_bytes, memory_name());
	client_bell_take(heard.clients);
	CU_ASSERT_EQUAL(nr_programs(&heard), 1);
	CU_ASSERT_EQUAL(program.memory->daemon_pid, (trace_u32)getpid());
	CU_ASSERT_EQUAL(program.memory->answered, 1);
	call(child, program.memory->total_bytes, memory_name()); /* again */
	client_bell_take(heard.clients);
	CU_ASSERT_EQUAL(nr_programs(&heard), 1);
	call(child, program.memory->total_bytes, memory_name());
	end(child);
	client_bell_take(heard.clients);
	call_as(0, child, program.memory->total_bytes,
		memory_name()); /* as a daemon in a pid namespace hears its end */
	client_bell_take(heard.clients);
	clients_describe_missing(heard.clients, add_text, &heard);
	CU_ASSERT_STRING_EQUAL(heard.texts, "");
	call_as(0, child + 1, program.memory->total_bytes, memory_name());
	client_bell_take(heard.clients);
	clients_describe_missing(heard.clients, add_text, &heard);
	CU_ASSERT_STRING_NOT_EQUAL(heard.texts, "");
	heard_end(&heard);
	fake_program_free(&program);
}

/* Does the caller map @program, besides as its memory? */
static bool daemon_maps(struct fake_program *program)
{
	char line[512];
	bool is_mapped = false;
	FILE *file;

	fake_program_free(program);
	file = fopen("/proc/self/maps", "re");
	while (file && fgets(line, sizeof(line), file))
		is_mapped |= strstr(line, memory_name()) != NULL;
	if (file)
		fclose(file);
	return is_mapped;
}

/* It would keep the memory of a program that has ended, and be taken for one of its processes. */
static void a_child_of_the_daemon_does_not_map_programs(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct heard heard = heard_begin(NULL);
	pid_t child = live(&program), forked;
	int status = -1;

	call(child, program.memory->total_bytes, memory_name());
	client_bell_take(heard.clients);
	CU_ASSERT_EQUAL(nr_programs(&heard), 1);
	forked = fork();
	if (!forked)
		_exit(daemon_maps(&program));
	waitpid(forked, &status, 0);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_TRUE(daemon_maps(&program));
	end(child);
	heard_end(&heard);
}

static void a_program_that_could_not_know_of_the_daemon_is_named(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct heard heard = heard_begin(NULL);
	pid_t child = live(&program);

	program.memory->new_flag = 0;
	call(child, program.memory->total_bytes, memory_name());
	client_bell_take(heard.clients);
	CU_ASSERT_EQUAL(nr_programs(&heard), 1);
	clients_describe_missing(heard.clients, add_text, &heard);
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.texts, "(boxed), which are lost: the first ones, because it could not"));
	end(child);
	heard_end(&heard);
	fake_program_free(&program);
}

static void a_program_that_ended_or_has_no_memory_is_lost_and_named(void)
{
	struct heard heard = heard_begin(NULL);
	char no_memory[USER_BELL_NAME_BYTES];
	uint64_t claimed = 1;
	pid_t child = fork();

	if (!child)
		_exit(0);
	waitpid(child, NULL, 0);
	call(child, 1 << 20, memory_name());
	call(getpid(), 0, memory_name());
	user_bell_name(getenv("TRACER_SOCKET"), geteuid(), no_memory);
	call(getpid(), 0, no_memory);
	client_bell_take(heard.clients);
	CU_ASSERT_EQUAL(nr_programs(&heard), 0);
	clients_describe_missing(heard.clients, add_text, &heard);
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.texts, "it ended before the daemon could take its trace buffers\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.texts, "it had no memory or no descriptor for its trace buffers\n"));
	CU_ASSERT_EQUAL(clients_close_counts(heard.clients, &claimed), 3);
	CU_ASSERT_EQUAL(claimed, 0);
	heard_end(&heard);
}

static void a_call_to_another_daemon_is_not_ours(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct heard heard = heard_begin(NULL);
	pid_t child = live(&program);

	call(child, program.memory->total_bytes, "trace-program");
	call(child, program.memory->total_bytes, "trace!00000000");
	call(child, 0, "");
	client_bell_take(heard.clients);
	CU_ASSERT_EQUAL(nr_programs(&heard), 0);
	clients_describe_missing(heard.clients, add_text, &heard);
	CU_ASSERT_STRING_EQUAL(heard.texts, "");
	end(child);
	heard_end(&heard);
	fake_program_free(&program);
}

/* SECURITY: the daemon looks at processes of a user only as often as it reads offers. */
static void a_user_that_calls_too_often_is_refused(void)
{
	struct budget_limits limits;
	struct heard heard;

	budget_default_limits(&limits);
	limits.trusts_none = true;
	limits.burst[BUDGET_OFFERS] = 2;
	limits.per_s[BUDGET_OFFERS] = 1;
	heard = heard_begin(&limits);
	for (int i = 0; i < 12; i++)
		call(getpid(), 1 << 20, memory_name());
	client_bell_take(heard.clients);
	clients_describe_missing(heard.clients, add_text, &heard);
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.texts, "its user started programs faster than the limit\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.texts, "more processes, which are lost for such reasons: "));
	heard_end(&heard);
}

/* Each of many processes is told: with its reason, by its name, or by their number. */
static void all_lost_programs_are_told(void)
{
	struct lost_programs programs = {0};
	struct heard heard = {.texts = ""};

	for (int i = 1; i <= LOST_PROGRAMS_NAMED + 1; i++)
		lost_programs_add(&programs, i, "/bin/one", "it had no room");
	lost_programs_describe(&programs, add_text, &heard);
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.texts, "process 8 (/bin/one), which are lost: it had no room\n"));
	CU_ASSERT_PTR_NOT_NULL(
		strstr(heard.texts, "of 1 more process, which are lost for such reasons: 9 (/bin/one)\n"));
	for (int i = LOST_PROGRAMS_NAMED + 2; i <= LOST_PROGRAMS_NAMED + LOST_PROGRAMS_LISTED + 3; i++)
		lost_programs_add(&programs, i, i == 10 ? "" : "/a/path/that/is/longer/than/a/name", "it had no room");
	*heard.texts = '\0';
	lost_programs_describe(&programs, add_text, &heard);
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.texts, "of 27 more processes, which are lost for such reasons: "
						   "9 (/bin/one), 10 (no name), 11 (t/is/longer/than/a/name), "));
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.texts, "32 (t/is/longer/than/a/name) and 3 more\n"));
}

static void a_program_that_finds_no_room_is_lost_and_named(void)
{
	struct fake_program program = fake_program_new(SUBBUF_CLOCK_TSC, FAKE_SEALS);
	struct budget_limits limits;
	struct heard heard;
	pid_t child;

	budget_default_limits(&limits);
	limits.trusts_none = true;
	limits.per_uid[BUDGET_PROGRAMS] = 0;
	heard = heard_begin(&limits);
	child = live(&program);
	call(child, program.memory->total_bytes, memory_name());
	client_bell_take(heard.clients);
	CU_ASSERT_EQUAL(nr_programs(&heard), 0);
	CU_ASSERT_EQUAL(program.memory->answered, 1); /* so that it does not wait */
	clients_describe_missing(heard.clients, add_text, &heard);
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.texts, "which are lost: user "));
	CU_ASSERT_PTR_NOT_NULL(strstr(heard.texts, "reached the limit of recorded programs"));
	end(child);
	heard_end(&heard);
	fake_program_free(&program);
}

static bool finds_lock(void)
{
	int fd = open("/proc/self/ns/time", O_RDONLY | O_CLOEXEC);
	struct flock lock = {.l_type = F_WRLCK,
			     .l_whence = SEEK_SET,
			     .l_start = (off_t)user_presence_offset(getenv("TRACER_SOCKET"), geteuid()),
			     .l_len = 1};

	return fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK && lock.l_pid == getppid();
}

/* Another process asks, because the lock ends when its owner closes the file. */
static bool is_held(void)
{
	pid_t child = fork();
	int status = 0;

	if (!child)
		_exit(finds_lock());
	waitpid(child, &status, 0);
	return status != 0;
}

static void the_daemon_is_present_while_it_takes_programs(void)
{
	struct heard heard = heard_begin(NULL);

	CU_ASSERT_TRUE(is_held());
	clients_switch_off(heard.clients);
	CU_ASSERT_FALSE(is_held());
	heard_end(&heard);
	heard = heard_begin(NULL);
	CU_ASSERT_TRUE(is_held());
	heard_end(&heard);
	CU_ASSERT_FALSE(is_held());
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_program_that_calls_is_taken_and_answered),
		CASE(a_child_of_the_daemon_does_not_map_programs),
		CASE(a_program_that_could_not_know_of_the_daemon_is_named),
		CASE(a_program_that_ended_or_has_no_memory_is_lost_and_named),
		CASE(a_call_to_another_daemon_is_not_ours),
		CASE(a_user_that_calls_too_often_is_refused),
		CASE(all_lost_programs_are_told),
		CASE(a_program_that_finds_no_room_is_lost_and_named),
		CASE(the_daemon_is_present_while_it_takes_programs),
		{NULL, NULL},
	};
	char path[64], lock[80];
	int status;

	/* no other daemon on this machine finds the programs, and none is found here */
	snprintf(path, sizeof(path), "/tmp/trace-bell-%d", (int)getpid());
	setenv("TRACER_SOCKET", path, 1);
	message_init("test_user_bell", true);
	status = unit_main("user daemon, calls", cases, argc, argv);
	snprintf(lock, sizeof(lock), "%s.lock", path);
	unlink(lock);
	return status;
}
