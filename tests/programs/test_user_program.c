/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_user_program.c - programs with tracepoints (sample_program.c) that fork, exec, get signals,
 * migrate, and die at every instruction of a record.
 *
 * The ledger is exact: attempted = stored + discarded + unready, minus the records in flight at a
 * death.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "unit.h"
#include "user_consumer.h"
#include "user_counts.h"

#define MAX_MEMORIES 256

static int listener, counts_fd;
static unsigned long long *attempted;
static struct user_consumer memories[MAX_MEMORIES];
static int nr_memories;
static int wrong;

/* Starts "user_program CASE ARGUMENT". @setup runs in the child before exec. */
static pid_t start_program(const char *program, const char *name, const char *argument, void (*setup)(void))
{
	pid_t child;

	for (int i = 0; i < nr_memories; i++)
		user_consumer_close(&memories[i]);
	nr_memories = 0;
	memset(attempted, 0, USER_COUNTS_BYTES);
	wrong = 0;
	child = fork();
	if (child == 0) {
		if (setup)
			setup();
		execl(program, program, name, argument, NULL);
		_exit(97);
	}
	return child;
}

static void check_each(const struct user_record *record, void *argument)
{
	size_t bytes;
	int pid, tid;

	if (strcmp(record->name, "storm") == 0) {
		long i, check;
		const void *at = user_record_field(record, "i", &bytes);

		memcpy(&i, at, sizeof(i));
		memcpy(&check, user_record_field(record, "check", &bytes), sizeof(check));
		wrong += check != i * 7;
	} else if (strcmp(record->name, "text") == 0) {
		const char *text = user_record_field(record, "text", &bytes);

		wrong += bytes != 22 || memcmp(text, "some text to be copied", 22) != 0;
	}
	if (user_record_field(record, "pid", &bytes)) {
		pid = (int)user_record_integer(record, "pid");
		wrong += pid != record->pid;
	}
	if (user_record_field(record, "tid", &bytes)) {
		tid = (int)user_record_integer(record, "tid");
		wrong += tid != (int)record->tid;
	}
}

static void take_memories(int ms)
{
	int fd;

	while (nr_memories < MAX_MEMORIES && (fd = user_accept(listener, ms)) != -1) {
		if (fd < 0)
			continue;
		CU_ASSERT_EQUAL_FATAL(user_consumer_open(&memories[nr_memories], fd), 0);
		memories[nr_memories].each = check_each;
		nr_memories++;
		ms = 0;
	}
}

/* Drains and flushes until the program ends. Returns the status of waitpid(). */
static int run_to_end(pid_t child)
{
	int status;

	while (waitpid(child, &status, WNOHANG) == 0) {
		take_memories(1);
		for (int i = 0; i < nr_memories; i++)
			user_consumer_drain(&memories[i], true);
	}
	take_memories(0);
	for (int i = 0; i < nr_memories; i++)
		user_consumer_salvage(&memories[i]);
	return status;
}

static unsigned long long stored(void)
{
	unsigned long long sum = 0;

	for (int i = 0; i < nr_memories; i++) {
		CU_ASSERT_PTR_NULL(memories[i].fault);
		if (memories[i].fault)
			printf("(%s) ", memories[i].fault);
		sum += memories[i].found;
	}
	return sum;
}

static unsigned long long lost(void)
{
	unsigned long long sum = 0;

	for (int i = 0; i < nr_memories; i++)
		sum += user_consumer_lost(&memories[i]);
	return sum;
}

static bool has_event(int memory, const char *name)
{
	return user_consumer_event(&memories[memory], "program", name) != NULL;
}

#define EXPECT_EXACT_LEDGER()                                                                              \
	do {                                                                                               \
		CU_ASSERT_EQUAL(stored() + lost(), *attempted);                                            \
		if (stored() + lost() != *attempted)                                                       \
			printf("(%llu stored, %llu lost, %llu attempted) ", stored(), lost(), *attempted); \
		CU_ASSERT_EQUAL(wrong, 0);                                                                 \
	} while (0)

static void set_early(void)
{
	setenv("USER_PROGRAM_EARLY", "1", 1);
}

static void events_before_main_and_after_exit_are_recorded(void)
{
	CU_ASSERT_EQUAL(run_to_end(start_program(USER_PROGRAM, "plain", "1000", set_early)), 0);
	CU_ASSERT_EQUAL(*attempted, 1003);
	CU_ASSERT_EQUAL(nr_memories, 1);
	EXPECT_EXACT_LEDGER();
	CU_ASSERT_EQUAL(lost(), 0);
}

static void a_statically_linked_library_records_the_same_events(void)
{
	CU_ASSERT_EQUAL(run_to_end(start_program(USER_PROGRAM_STATIC, "plain", "1000", set_early)), 0);
	CU_ASSERT_EQUAL(*attempted, 1003);
	EXPECT_EXACT_LEDGER();
}

static void without_rseq_the_counts_add_up_too(void)
{
	setenv("GLIBC_TUNABLES", "glibc.pthread.rseq=0", 1);
	CU_ASSERT_EQUAL(run_to_end(start_program(USER_PROGRAM, "storm", "300", NULL)), 0);
	unsetenv("GLIBC_TUNABLES");
	EXPECT_EXACT_LEDGER();
	printf("(%llu events) ", *attempted);
}

static void forked_children_have_memories_of_their_own(void)
{
	CU_ASSERT_EQUAL(run_to_end(start_program(USER_PROGRAM, "forks", "3", NULL)), 0);
	CU_ASSERT_EQUAL(nr_memories, 1 + 3 + 9 + 27);
	CU_ASSERT_EQUAL(*attempted, 400);
	EXPECT_EXACT_LEDGER();
	CU_ASSERT_EQUAL(lost(), 0);
}

static void children_of_a_bare_clone_have_memories_too(void)
{
	CU_ASSERT_EQUAL(run_to_end(start_program(USER_PROGRAM, "raw_forks", NULL, NULL)), 0);
	CU_ASSERT_EQUAL(nr_memories, 21);
	CU_ASSERT_EQUAL(*attempted, 22);
	EXPECT_EXACT_LEDGER();
}

static void vfork_and_spawn_disturb_nothing(void)
{
	CU_ASSERT_EQUAL(run_to_end(start_program(USER_PROGRAM, "vforks", NULL, NULL)), 0);
	CU_ASSERT_EQUAL(nr_memories, 1);
	CU_ASSERT_EQUAL(*attempted, 60);
	EXPECT_EXACT_LEDGER();
}

static void events_of_a_vforked_child_among_threads_are_complete(void)
{
	CU_ASSERT_EQUAL(run_to_end(start_program(USER_PROGRAM, "vforks_beside", NULL, NULL)), 0);
	CU_ASSERT_TRUE(has_event(0, "in_vforked"));
	EXPECT_EXACT_LEDGER();
	printf("(%llu stored, %llu lost) ", stored(), lost());
}

static void exec_leaves_no_descriptor(void)
{
	CU_ASSERT_EQUAL(run_to_end(start_program(USER_PROGRAM, "execs", NULL, NULL)), 0);
	EXPECT_EXACT_LEDGER();
}

static void closing_all_descriptors_changes_nothing(void)
{
	CU_ASSERT_EQUAL(run_to_end(start_program(USER_PROGRAM, "closes_all", NULL, NULL)), 0);
	CU_ASSERT_EQUAL(*attempted, 102);
	EXPECT_EXACT_LEDGER();
}

static void limit_address_space(void)
{
	struct rlimit limit = {12 << 20, 12 << 20};

	setrlimit(RLIMIT_AS, &limit);
}

static void limit_file_size(void)
{
	struct rlimit limit = {1 << 20, 1 << 20};

	setrlimit(RLIMIT_FSIZE, &limit);
}

static void turn_off(void)
{
	setenv("TRACER_BUFFERS", "off", 1);
}

static void unlisten(void)
{
	setenv("TRACER_SOCKET", "/nonexistent/socket", 1);
}

static void without_memory_or_daemon_programs_run_undisturbed(void)
{
	static void (*const setups[])(void) = {limit_address_space, limit_file_size, turn_off, unlisten};

	for (size_t i = 0; i < sizeof(setups) / sizeof(*setups); i++) {
		CU_ASSERT_EQUAL(run_to_end(start_program(USER_PROGRAM, "no_memory", NULL, setups[i])), 0);
		CU_ASSERT_EQUAL(nr_memories, 0);
	}
}

/* A daemon with a full accept queue: connections to it wait until it accepts. Its address goes into
 * @path. */
static int listen_full(char *path, size_t bytes, int fillers[static 4])
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(path, bytes, "/tmp/user-consumer-full-%d", (int)getpid());
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	unlink(path);
	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	CU_ASSERT_EQUAL_FATAL(listen(fd, 0), 0);
	for (int i = 0; i < 4; i++) {
		fillers[i] = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		connect(fillers[i], (struct sockaddr *)&address, sizeof(address));
	}
	return fd;
}

static void close_fillers(int fillers[static 4])
{
	for (int i = 0; i < 4; i++)
		close(fillers[i]);
}

/* Each of their events is counted where the daemon looks for it: in their parent's memory. */
static void children_without_a_memory_are_counted_in_their_parents(void)
{
	static const char *const ways[] = {"no_descriptors", "no_file_size", "unsent"};
	int fillers[4], full;
	char path[64];

	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
		CU_ASSERT_EQUAL(run_to_end(start_program(USER_PROGRAM, "poor_children", ways[i], NULL)), 0);
		CU_ASSERT_EQUAL(*attempted, 145);
		CU_ASSERT_EQUAL(nr_memories, 1);
		EXPECT_EXACT_LEDGER();
		CU_ASSERT_EQUAL(lost(), 125);
		if (lost() != 125)
			printf("(%s: %llu lost, %d memories) ", ways[i], lost(), nr_memories);
	}
	full = listen_full(path, sizeof(path), fillers);
	CU_ASSERT_EQUAL(run_to_end(start_program(USER_PROGRAM, "poor_children", path, NULL)), 0);
	CU_ASSERT_EQUAL(*attempted, 145);
	EXPECT_EXACT_LEDGER();
	CU_ASSERT_EQUAL(lost(), 125);
	close_fillers(fillers);
	close(full);
	unlink(path);
}

static void an_offer_that_fails_is_tried_again(void)
{
	CU_ASSERT_EQUAL(run_to_end(start_program(USER_PROGRAM, "poor_children", "sent_late", NULL)), 0);
	CU_ASSERT_EQUAL(nr_memories, 11);
	EXPECT_EXACT_LEDGER();
	CU_ASSERT_EQUAL(lost(), 0);
}

/* The daemon does not accept the program's offer when the program begins. When it accepts the offer
 * at the program's end, all events are recorded. */
static void a_last_offer_at_the_end_of_a_program_is_accepted(void)
{
	int fillers[4], before = listener;
	char path[64], socket_before[108];
	pid_t child;

	snprintf(socket_before, sizeof(socket_before), "%s", getenv("TRACER_SOCKET"));
	listener = listen_full(path, sizeof(path), fillers);
	setenv("TRACER_SOCKET", path, 1);
	child = start_program(USER_PROGRAM, "plain", "1000", NULL);
	for (int i = 0; i < 5000 && __atomic_load_n(attempted, __ATOMIC_RELAXED) < 1000; i++)
		usleep(1000);
	close_fillers(fillers);
	CU_ASSERT_EQUAL(run_to_end(child), 0);
	CU_ASSERT_EQUAL(*attempted, 1001);
	CU_ASSERT_EQUAL(nr_memories, 1);
	EXPECT_EXACT_LEDGER();
	CU_ASSERT_EQUAL(lost(), 0);
	close(listener);
	unlink(path);
	listener = before;
	setenv("TRACER_SOCKET", socket_before, 1);
}

static void a_library_loaded_again_keeps_its_events_number(void)
{
	const struct user_event *event;

	CU_ASSERT_EQUAL(run_to_end(start_program(USER_PROGRAM, "loads", USER_LIBRARY, NULL)), 0);
	CU_ASSERT_EQUAL(*attempted, 300);
	EXPECT_EXACT_LEDGER();
	event = user_consumer_event(&memories[0], "library", "loaded");
	CU_ASSERT_PTR_NOT_NULL_FATAL(event);
	CU_ASSERT_TRUE(memories[0].memory->registry_used < 20000);
}

static const char *storm_ms = "1500";

static void migrations_and_signals_lose_nothing_uncounted(void)
{
	CU_ASSERT_EQUAL(run_to_end(start_program(USER_PROGRAM, "storm", storm_ms, NULL)), 0);
	EXPECT_EXACT_LEDGER();
	CU_ASSERT_TRUE(has_event(0, "handler"));
	printf("(%llu stored, %llu lost) ", stored(), lost());
}

/* Three threads and their signal handlers: at most six records in flight, and at most as many
 * counted as attempted that were not begun. */
static void a_kill_in_a_storm_loses_only_records_in_flight(void)
{
	unsigned long long most = 0, events = 0;
	int kills = getenv("TRACE_TEST_LONG") ? 1000 : 20 / unit_step(2); /* each number of drains once */

	for (int round = 0; round < kills; round++) {
		pid_t child = start_program(USER_PROGRAM, "storm", NULL, NULL);
		unsigned long long known;
		int status;

		for (int i = 0; i < 3 + round % 20; i++) {
			take_memories(2);
			for (int m = 0; m < nr_memories; m++)
				user_consumer_drain(&memories[m], round & 1);
		}
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		take_memories(0);
		for (int m = 0; m < nr_memories; m++)
			user_consumer_salvage(&memories[m]);
		known = stored() + lost();
		if (known > *attempted || *attempted - known > 6)
			printf("(round %d: %llu known of %llu, %d memories) ", round, known, *attempted, nr_memories);
		CU_ASSERT_TRUE(known <= *attempted && *attempted - known <= 6);
		CU_ASSERT_EQUAL(wrong, 0);
		most = *attempted - known > most ? *attempted - known : most;
		events += *attempted;
	}
	printf("(%d kills, %llu events, at most %llu in flight) ", kills, events, most);
}

/* ---- a soak ---- */

static unsigned long long soak_stored, soak_lost, soak_next[64], soak_from_children;

/* Each event of a thread appears once, in order, but in several rings, because the thread
 * migrates. */
static void check_soak(const struct user_record *record, void *argument)
{
	static const struct user_event *soak;
	static size_t n_offset, slot_offset;
	const unsigned char *at;
	size_t bytes;
	long n;
	int slot;

	if (record->event != soak) {
		if (strcmp(record->name, "soak_child") == 0)
			soak_from_children++;
		if (strcmp(record->name, "soak") != 0)
			return;
		soak = record->event;
		at = user_record_field(record, "n", &bytes);
		n_offset = (size_t)(at - record->payload);
		at = user_record_field(record, "slot", &bytes);
		slot_offset = (size_t)(at - record->payload);
	}
	memcpy(&n, record->payload + n_offset, sizeof(n));
	memcpy(&slot, record->payload + slot_offset, sizeof(slot));
	wrong += slot < 1 || slot > USER_SOAK_THREADS || n < 1;
	soak_next[slot & 63] += (unsigned long long)n;
}

static void retire(int i)
{
	user_consumer_salvage(&memories[i]);
	if (memories[i].fault)
		printf("(%s) ", memories[i].fault);
	CU_ASSERT_PTR_NULL(memories[i].fault);
	soak_stored += memories[i].found;
	soak_lost += user_consumer_lost(&memories[i]);
	user_consumer_close(&memories[i]);
	memories[i] = memories[--nr_memories];
}

static void take_soak(void)
{
	int before = nr_memories;

	take_memories(0);
	for (int i = before; i < nr_memories; i++)
		memories[i].each = check_soak;
	for (int i = nr_memories - 1; i >= 0; i--) {
		if (kill((pid_t)memories[i].memory->pid, 0) != 0 && errno == ESRCH)
			retire(i);
		else
			user_consumer_drain(&memories[i], true);
	}
}

/* Everything at once: signal handlers that trace, migrations between CPUs, forks, kill -9 of
 * children, a consumer that pauses now and then. $TRACE_TEST_EVENTS sets the number of events. Each
 * event is stored or counted as lost. */
static void a_soak_keeps_exact_counts(void)
{
	const char *events = getenv("TRACE_TEST_EVENTS");
	const struct user_count *counts = (const struct user_count *)attempted;
	unsigned long long begun = 0, done = 0, known, kills;
	pid_t child;
	int status;

	soak_stored = soak_lost = soak_from_children = 0;
	memset(soak_next, 0, sizeof(soak_next));
	child = start_program(USER_PROGRAM, "soak",
			      events			  ? events
			      : getenv("TRACE_TEST_LONG") ? "100000000"
							  : "3000000",
			      NULL);
	for (unsigned int round = 1; waitpid(child, &status, WNOHANG) == 0; round++) {
		take_soak();
		if (round % 512 == 0)
			usleep(50000);
	}
	CU_ASSERT_EQUAL(status, 0);
	take_soak();
	while (nr_memories)
		retire(0);
	for (size_t i = 1; i < USER_COUNTS_BYTES / sizeof(*counts); i++) {
		begun += counts[i].begun;
		done += counts[i].done;
	}
	kills = counts[0].begun;
	known = soak_stored + soak_lost;
	printf("(%llu events, %llu stored, %llu lost, %llu in flight at %llu kills, of which %llu were stored) ", begun,
	       soak_stored, soak_lost, begun - done, kills, known - done);
	CU_ASSERT_TRUE(done <= known && known <= begun);
	CU_ASSERT_TRUE(begun - done <= kills);
	CU_ASSERT_TRUE(soak_stored > 0 && soak_lost > 0 && soak_from_children > 0 && kills > 0);
	CU_ASSERT_EQUAL(wrong, 0);
}

/* ---- death at every instruction ---- */

static bool step(pid_t child, int *status)
{
	return ptrace(PTRACE_SINGLESTEP, child, NULL, NULL) == 0 && waitpid(child, status, 0) == child &&
	       WIFSTOPPED(*status);
}

static void trace_me(void)
{
	setenv("LD_BIND_NOW", "1", 1); /* the dynamic linker's instructions are not tested */
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

/* Runs to the program's first SIGSTOP, steps @n instructions, and kills it. Returns false if the
 * second SIGSTOP came first. */
static bool die_after(int n, const char *before)
{
	pid_t child = start_program(USER_PROGRAM, "stepped", before, trace_me);
	bool inside = true;
	int status;

	waitpid(child, &status, 0);
	while (WIFSTOPPED(status) && WSTOPSIG(status) != SIGSTOP) { /* the exec */
		ptrace(PTRACE_CONT, child, NULL, NULL);
		waitpid(child, &status, 0);
	}
	for (int i = 0; i < n && inside; i++)
		inside = step(child, &status) && WSTOPSIG(status) != SIGSTOP;
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	take_memories(0);
	for (int m = 0; m < nr_memories; m++)
		user_consumer_salvage(&memories[m]);
	return inside;
}

/* A daemon that records this machine may have taken the events first. */
static bool another_daemon_took(void)
{
	for (int i = 0; i < nr_memories; i++)
		if (memories[i].taken)
			return true;
	return false;
}

/* At the instructions @first, @first + @step and so on. */
static void step_through(const char *before, const char *buffers, int first, int step)
{
	int deaths = 0, missing = 0;

	setenv("TRACER_BUFFERS", buffers, 1);
	for (int n = first; die_after(n, before); n += step, deaths++) {
		unsigned long long known = stored() + lost();

		if (another_daemon_took())
			continue;
		if (known > *attempted || *attempted - known > 1)
			printf("(step %d: %llu known of %llu, %d memories) ", n, known, *attempted, nr_memories);
		CU_ASSERT_TRUE_FATAL(known <= *attempted && *attempted - known <= 1);
		missing += known != *attempted;
		for (int m = 0; m < nr_memories; m++)
			CU_ASSERT_TRUE(memories[m].in_flight <= 1);
	}
	unsetenv("TRACER_BUFFERS");
	if (!another_daemon_took())
		EXPECT_EXACT_LEDGER(); /* the last run got through */
	CU_ASSERT_TRUE(deaths > 60 / step && missing > 10 / step);
	printf("(%d deaths, %d in flight) ", deaths, missing);
}

static void step_everywhere(const char *before, const char *buffers)
{
	step_through(before, buffers, 0, unit_step(7));
}

static void death_at_any_instruction_of_a_record_costs_that_record(void)
{
	step_everywhere("5", "16Kx2");
}

/* 16 KiB hold 1,020 records of 16 bytes. */
static void death_at_any_instruction_of_a_switch_costs_that_record(void)
{
	if (getenv("TRACE_TEST_LONG")) {
		step_everywhere("1019", "16Kx2");
		step_everywhere("1020", "16Kx2");
		return;
	}
	/* in one of the two runs the switch is at the odd instructions, in the other at the even
	 * ones */
	step_through("1019", "16Kx2", 0, 2 * unit_step(7));
	step_through("1020", "16Kx2", 1, 2 * unit_step(7));
}

static void death_in_a_full_ring_costs_that_record(void)
{
	step_everywhere("2045", "16Kx2");
}

/* The first event of all sets up everything. It is long, so the steps are coarser. */
static void death_in_the_first_event_costs_that_event(void)
{
	int deaths = 0;

	for (int n = 0; die_after(n, "0"); n += 7 * unit_step(5), deaths++) {
		unsigned long long known = stored() + lost();

		if (another_daemon_took())
			continue;
		CU_ASSERT_TRUE_FATAL(known <= *attempted && *attempted - known <= 1);
	}
	printf("(%d deaths) ", deaths);
}

static const struct unit_case cases[] = {
	{"events_before_main_and_after_exit_are_recorded", events_before_main_and_after_exit_are_recorded},
	{"a_statically_linked_library_records_the_same_events", a_statically_linked_library_records_the_same_events},
	{"without_rseq_the_counts_add_up_too", without_rseq_the_counts_add_up_too},
	{"forked_children_have_memories_of_their_own", forked_children_have_memories_of_their_own},
	{"children_of_a_bare_clone_have_memories_too", children_of_a_bare_clone_have_memories_too},
	{"vfork_and_spawn_disturb_nothing", vfork_and_spawn_disturb_nothing},
	{"events_of_a_vforked_child_among_threads_are_complete", events_of_a_vforked_child_among_threads_are_complete},
	{"exec_leaves_no_descriptor", exec_leaves_no_descriptor},
	{"closing_all_descriptors_changes_nothing", closing_all_descriptors_changes_nothing},
	{"without_memory_or_daemon_programs_run_undisturbed", without_memory_or_daemon_programs_run_undisturbed},
	{"children_without_a_memory_are_counted_in_their_parents",
	 children_without_a_memory_are_counted_in_their_parents},
	{"an_offer_that_fails_is_tried_again", an_offer_that_fails_is_tried_again},
	{"a_last_offer_at_the_end_of_a_program_is_accepted", a_last_offer_at_the_end_of_a_program_is_accepted},
	{"a_library_loaded_again_keeps_its_events_number", a_library_loaded_again_keeps_its_events_number},
	{"migrations_and_signals_lose_nothing_uncounted", migrations_and_signals_lose_nothing_uncounted},
	{"a_kill_in_a_storm_loses_only_records_in_flight", a_kill_in_a_storm_loses_only_records_in_flight},
	{"a_soak_keeps_exact_counts", a_soak_keeps_exact_counts},
	{"death_at_any_instruction_of_a_record_costs_that_record",
	 death_at_any_instruction_of_a_record_costs_that_record},
	{"death_at_any_instruction_of_a_switch_costs_that_record",
	 death_at_any_instruction_of_a_switch_costs_that_record},
	{"death_in_a_full_ring_costs_that_record", death_in_a_full_ring_costs_that_record},
	{"death_in_the_first_event_costs_that_event", death_in_the_first_event_costs_that_event},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	char number[16];
	int result;

	listener = user_listen();
	counts_fd = memfd_create("counts", 0);
	if (listener < 0 || counts_fd < 0 || ftruncate(counts_fd, USER_COUNTS_BYTES) != 0) {
		perror("test_user_program");
		return 1;
	}
	attempted = mmap(NULL, USER_COUNTS_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, counts_fd, 0);
	snprintf(number, sizeof(number), "%d", counts_fd);
	setenv("USER_PROGRAM_COUNTS", number, 1);
	if (getenv("TRACE_TEST_LONG"))
		storm_ms = "60000";
	result = unit_main("user_program", cases, argc, argv);
	unlink(getenv("TRACER_SOCKET"));
	return result;
}
