/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_waits_files.c - the cause of a wait, from the object that the call works on: files,
 * by their descriptors, paths and pages.
 *
 * Thread 10 ("one") runs on CPU 0 and blocks from 3000 to 6000 unless a test says otherwise; 20
 * ("two") runs on CPU 1.
 */
#include <signal.h>
#include <sys/mman.h>
#include "state_waits_ends.h"
#include "unit.h"

/* A writer may have to wait for the pages of another file, that of the file system's log. */
static void a_wait_for_pages_under_writeback_is_for_their_file(void)
{
	static const struct {
		uint64_t ino;
		const char *path;
	} files[] = {{81, "/log"}, {82, "/data"}}; /* 82 was not opened by any process */

	for (size_t i = 0; i < 2; i++) {
		struct trace_fs_writeback_wait wait = {.dev = 9, .ino = files[i].ino};
		struct analysis_case c = begin();

		tb_fd(c.tb, 10, 3, 9, 80, S_IFREG | 0600, "/data");
		tb_fd(c.tb, 20, 4, 9, 81, S_IFREG | 0600, "/log");
		tb_sys_enter(c.tb, 0, 2000, SYS_write, 3, 0, 1);
		tb_event(c.tb, 0, 2500, TRACE_EV_fs_writeback_wait, &wait, sizeof(wait), NULL);
		by_disk(&c);
		expect(&c, TRACE_WAIT_FILE, files[i].path, 0, "");
	}
}

static void calls_on_a_descriptor_wait_for_its_file(void)
{
	static const struct {
		uint32_t nr;
		const char *name;
	} calls[] = {{SYS_close, "close"},	 {SYS_getdents64, "getdents64"}, {SYS_fstat, "fstat"},
		     {SYS_lseek, "lseek"},	 {SYS_ftruncate, "ftruncate"},	 {SYS_pread64, "pread64"},
		     {SYS_pwrite64, "pwrite64"}, {SYS_fallocate, "fallocate"},	 {SYS_fchmod, "fchmod"},
		     {SYS_ioctl, "ioctl"}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct analysis_case c = begin();

		tb_string(c.tb, TRACE_STRING_SYSCALL, calls[i].nr, calls[i].name);
		tb_fd(c.tb, 10, 3, 9, 80, S_IFREG | 0600, "/data");
		tb_sys_enter(c.tb, 0, 2000, calls[i].nr, 3, 0, 1);
		by_disk(&c);
		expect(&c, TRACE_WAIT_FILE, "/data", 0, "");
	}
}

/* Too many pages are dirty: the kernel delays the process that dirties more, and a timer ends the
 * delay. */
static void a_throttled_writer_waits_for_the_file(void)
{
	struct trace_fs_throttle throttle = {0};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 9, 80, S_IFREG | 0600, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_write, 3, 0, 1);
	tb_event(c.tb, 0, 2500, TRACE_EV_fs_throttle, &throttle, sizeof(throttle), NULL);
	by_timer(&c);
	expect(&c, TRACE_WAIT_FILE, "/data", 0, "throttle");
}

/* Events of CPU 2 are missing. Only the cause that follows from the call itself remains. */
static void a_release_across_a_gap_is_not_used(void)
{
	static const struct {
		uint32_t mode, twos_mode;
		enum trace_wait_kind kind;
		const char *path, *twos_path;
	} files[] = {{S_IFREG | 0600, S_IFREG | 0600, TRACE_WAIT_FILE, "/data", "/link"},
		     {S_IFREG | 0600, 0, TRACE_WAIT_FILE, "/data", "[fanotify]"},
		     {S_IFCHR | 0600, S_IFCHR | 0600, TRACE_WAIT_DEVICE, "/dev/pts/0", "/dev/ptmx"}};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct trace_trace_heartbeat heartbeat = {0};
		struct analysis_case c = begin();

		tb_event(c.tb, 2, 3500, TRACE_EV_trace_heartbeat, &heartbeat, sizeof(heartbeat), NULL);
		tb_lost(c.tb, 2, 1);
		tb_event(c.tb, 2, 4500, TRACE_EV_trace_heartbeat, &heartbeat, sizeof(heartbeat), NULL);
		tb_fd(c.tb, 10, 3, 9, 80, files[i].mode, files[i].path);
		tb_fd(c.tb, 20, 5, 9, 80, files[i].twos_mode, files[i].twos_path);
		tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
		by_two(&c, SYS_write);
		CU_ASSERT_EQUAL(case_wait(c.one, files[i].kind, files[i].path, 0, ""), BLOCKED_NS - 1000);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 1000);
		case_free(&c);
	}
}

/* Another process is no thread that has to die first, though it may have held what the file
 * needs. */
static void exec_waits_for_its_program_file(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_execve, 1, 2, 3);
	tb_sys_path(c.tb, 0, 2010, SYS_execve, "/bin/true");
	by_two(&c, SYS_getpid);
	expect(&c, TRACE_WAIT_FILE, "/bin/true", 0, "");
}

static void an_open_waits_for_the_watcher_that_must_permit_it(void)
{
	static const bool is_open[] = {true, false};

	for (size_t i = 0; i < 2; i++) {
		struct analysis_case c = begin();

		tb_fd(c.tb, 10, 3, 9, 80, S_IFREG | 0600, "/data");
		tb_fd(c.tb, 20, 5, 14, 1, 0, "anon_inode:[fanotify]");
		if (is_open[i])
			tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
		else
			tb_sys_enter(c.tb, 0, 2000, SYS_open, 1, 0, 0);
		if (!is_open[i])
			tb_sys_path(c.tb, 0, 2010, SYS_open, "/data");
		by_two(&c, SYS_write);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, "inotify");
	}
}

/* Thread 10 sleeps for 900 ns, until a timer ends that. */
static void look_at_a_lease(struct analysis_case *c, uint64_t ns)
{
	tb_switch(c->tb, 0, ns, 10, 0, TRACE_TASK_INTERRUPTIBLE);
	tb_vector(c->tb, 1, ns + 890, TRACE_VECTOR_LOCAL_TIMER);
	tb_add(c->tb, 1, ns + 895, hrtimer_expire, NULL, .timer = 1);
	tb_waking(c->tb, 1, ns + 900, 10, TRACE_CONTEXT_HARDIRQ);
	tb_vector_exit(c->tb, 1, ns + 905, TRACE_VECTOR_LOCAL_TIMER);
	tb_switch(c->tb, 0, ns + 910, 0, 10, TRACE_TASK_RUNNING);
}

/* The signal to the holder came before the recording. */
static void the_holder_of_a_lease_that_breaks_already_is_unknown(void)
{
	struct analysis_case c = case_new();

	tb_thread_in(c.tb, 10, 10, 1, "one", 0, true, SYS_open);
	tb_thread(c.tb, 20, 20, 1, "two", 1, true);
	look_at_a_lease(&c, 2100);
	look_at_a_lease(&c, 3100);
	tb_open(c.tb, 0, 6100, 4, 9, 80, S_IFREG | 0600, "/data");
	tb_sys_exit(c.tb, 0, 6200, 4);
	case_run(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_UNKNOWN, "", 0, ""), 1800);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "/data", 0, ""), 0);
	case_free(&c);
}

/*
 * An open to read breaks the lease of a writer: the kernel signals the holder, and looks at the
 * lease at each tick of a timer.
 */
static void an_open_waits_for_the_holder_of_a_lease(void)
{
	static const bool breaks[] = {true, false};

	for (size_t i = 0; i < 2; i++) {
		struct analysis_case c = begin();

		tb_sys_enter(c.tb, 0, 2000, SYS_open, 1, 0, 0);
		tb_sys_path(c.tb, 0, 2010, SYS_open, "/data");
		if (breaks[i])
			tb_add(c.tb, 0, 2020, signal_generate, NULL, .tid = 20, .signal = SIGIO, .result = 1);
		for (uint64_t ns = 2100; ns < 6100; ns += 1000)
			look_at_a_lease(&c, ns);
		tb_sys_exit(c.tb, 0, 6200, 4);
		case_run(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, "two", 20, "lock"), breaks[i] ? 3600 : 0);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "/data", 0, ""), breaks[i] ? 0 : 3600);
		case_free(&c);
	}
}

static void a_reader_of_a_timerfd_waits_for_the_time(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 14, 1, 0, "anon_inode:[timerfd]");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 8);
	by_two(&c, SYS_getpid); /* any thread that the interrupt met */
	expect(&c, TRACE_WAIT_TIMEOUT, "", 0, "");
}

/* The event of its opening was lost. Only the path from the program's arguments is known, and not
 * the type of the file. */
static void a_file_may_be_known_only_by_its_path(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 1100, SYS_open, 0, 0, 0);
	tb_sys_path(c.tb, 0, 1110, SYS_open, "/data");
	tb_sys_exit(c.tb, 0, 1200, 3);
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
	by_disk(&c);
	expect(&c, TRACE_WAIT_FILE, "/data", 0, "");
}

/* sendfile(out, in), splice(in, offset, out): a wakeup by a disk means the file, any other one the
 * pipe. */
static void the_waker_decides_between_two_files(void)
{
	static const uint32_t calls[] = {SYS_sendfile, SYS_splice};

	for (size_t i = 0; i < 2; i++) {
		for (int disk = 0; disk < 2; disk++) {
			struct analysis_case c = begin();

			tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_splice, "splice");
			tb_fd(c.tb, 10, 3, 9, 80, S_IFREG | 0600, "/data");
			pipe_fd(&c, 10, 4, 90, O_WRONLY);
			if (calls[i] == SYS_sendfile)
				tb_sys_enter(c.tb, 0, 2000, SYS_sendfile, 4, 3, 0, 100);
			else
				tb_sys_enter(c.tb, 0, 2000, SYS_splice, 3, 0, 4, 0, 100, 0);
			if (disk)
				by_disk(&c);
			else
				by_two(&c, SYS_read);
			expect(&c, disk ? TRACE_WAIT_FILE : TRACE_WAIT_PROCESS, disk ? "/data" : "two", disk ? 0 : 20,
			       disk ? "" : "pipe");
		}
	}
}

static void one_of_two_files_may_be_unknown(void)
{
	for (int first = 0; first < 2; first++) {
		struct analysis_case c = begin();

		tb_fd(c.tb, 10, first ? 3 : 4, 9, 80, S_IFREG | 0600, "/data");
		tb_sys_enter(c.tb, 0, 2000, SYS_sendfile, 3, 4, 0, 100);
		by_disk(&c);
		expect(&c, TRACE_WAIT_FILE, "/data", 0, "");

		c = begin();
		tb_fd(c.tb, 10, first ? 3 : 4, 9, 80, S_IFREG | 0600, "/data");
		tb_sys_enter(c.tb, 0, 2000, SYS_sendfile, 3, 4, 0, 100);
		by_two(&c, SYS_getpid);
		expect(&c, TRACE_WAIT_FILE, "/data", 0, "");
	}
}

/*
 * From a descriptor that is not known to a pipe. "two" may write to a socket, which becomes ready.
 */
static void data_of_a_socket_does_not_come_by_a_pipe(void)
{
	for (int by_socket = 0; by_socket < 2; by_socket++) {
		struct analysis_case c = begin();

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_splice, "splice");
		pipe_fd(&c, 10, 4, 90, O_WRONLY);
		tb_sys_enter(c.tb, 0, 2000, SYS_splice, 3, 0, 4, 0, 100, 0);
		block(&c);
		tb_sys_enter(c.tb, 1, 5000, SYS_write, 5, 0, 1);
		if (by_socket)
			tb_add(c.tb, 1, 5950, sock_ready, NULL, .ino = 500, .family = AF_UNIX);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, by_socket ? "" : "pipe");
	}
}

static void data_sent_from_a_file_counts_as_read(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 9, 80, S_IFREG | 0600, "/in");
	tb_fd(c.tb, 10, 4, 9, 81, S_IFREG | 0600, "/out");
	tb_sys_enter(c.tb, 0, 2000, SYS_sendfile, 4, 3, 0, 100);
	tb_sys_exit(c.tb, 0, 2100, 70);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	CU_ASSERT_EQUAL_FATAL(c.one->nr_files, 2);
	for (size_t i = 0; i < 2; i++) {
		bool in = strcmp(c.one->files[i].path, "/in") == 0;

		CU_ASSERT_EQUAL(c.one->files[i].read_bytes, in ? 70 : 0);
		CU_ASSERT_EQUAL(c.one->files[i].reads, in);
		CU_ASSERT_EQUAL(c.one->files[i].written_bytes, in ? 0 : 70);
		CU_ASSERT_EQUAL(c.one->files[i].writes, !in);
	}
	case_free(&c);
}

static void a_sync_of_everything_waits_for_all_files(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_sync);
	by_disk(&c);
	expect(&c, TRACE_WAIT_FILE, "(all files)", 0, "");
}

static void a_mapping_that_is_synced_is_its_file(void)
{
	struct trace_start_map map = {.tgid = 10, .dev = 9, .ino = 80, .start = 0x1000, .end = 0x3000};
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_msync, "msync");
	tb_start(c.tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/mapped");
	tb_sys_enter(c.tb, 0, 2000, SYS_msync, 0x2000, 0x1000, MS_SYNC);
	by_disk(&c);
	expect(&c, TRACE_WAIT_FILE, "/mapped", 0, "");
}

/* close_range(3, 4, 0), and with CLOSE_RANGE_CLOEXEC, which closes nothing before the next exec. */
static void close_range_closes_a_range(void)
{
	for (int cloexec = 0; cloexec < 2; cloexec++)
		for (int fd = 2; fd <= 5; fd++) {
			bool closed = !cloexec && fd >= 3 && fd <= 4;
			struct analysis_case c = begin();

			tb_fd(c.tb, 10, fd, 9, 80, S_IFREG | 0600, "/data");
			tb_sys_enter(c.tb, 0, 1100, SYS_close_range, 3, 4, cloexec ? 4 : 0);
			tb_sys_exit(c.tb, 0, 1200, 0);
			tb_sys_enter(c.tb, 0, 2000, SYS_read, (uint64_t)fd, 0, 1);
			by_two(&c, SYS_getpid);
			expect(&c, closed ? TRACE_WAIT_PROCESS : TRACE_WAIT_FILE, closed ? "two" : "/data",
			       closed ? 20 : 0, "");
		}
}

/* Since Linux 6.9 a pidfd is a regular file of a file system of its own. */
static void a_pidfd_is_no_file(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 15, 77, S_IFREG | 0600, "[pidfs]");
	tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
	by_two(&c, SYS_exit_group);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "pidfd");
}

static void map_at(struct analysis_case *c, int fd, uint64_t address)
{
	tb_sys_enter(c->tb, 0, 1500, SYS_mmap, address, 0x1000, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd, 0);
	tb_sys_exit(c->tb, 0, 1500, (int64_t)address);
}

/*
 * Another file is mapped over one of as many mappings as the analysis keeps, and is not known then.
 */
static void a_file_that_was_mapped_over_is_not_named_beyond_the_limit(void)
{
	for (uint32_t nr = 1; nr <= 1u << 20; nr += (1u << 20) - 1) {
		struct analysis_case c = begin();

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_msync, "msync");
		tb_fd(c.tb, 10, 3, 9, 80, S_IFREG | 0600, "/mapped");
		tb_fd(c.tb, 10, 4, 9, 81, S_IFREG | 0600, "/data");
		for (uint32_t i = 0; i < nr; i++) {
			map_at(&c, 3, 0x1000 + 0x2000ull * i);
			if (i % 50000 == 49999)
				tb_cut(c.tb, 0);
		}
		map_at(&c, 4, 0x1000);
		tb_sys_enter(c.tb, 0, 2000, SYS_msync, 0x1000, 0x1000, MS_SYNC);
		by_disk(&c);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "/data", 0, ""), nr == 1 ? BLOCKED_NS : 0);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "/mapped", 0, ""), 0);
		case_free(&c);
	}
}

/* mmap() with MAP_POPULATE names its file; for madvise() the page that it asks for does. Without a
 * file neither has one. */
static void a_call_that_populates_memory_waits_for_its_file(void)
{
	static const struct {
		uint32_t call, flags;
		bool page;
		enum trace_wait_kind kind;
	} calls[] = {{SYS_madvise, 0, true, TRACE_WAIT_FILE},
		     {SYS_madvise, 0, false, TRACE_WAIT_MEMORY},
		     {SYS_mmap, MAP_PRIVATE, false, TRACE_WAIT_FILE},
		     {SYS_mmap, MAP_PRIVATE | MAP_ANONYMOUS, false, TRACE_WAIT_MEMORY}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct trace_fs_fault fault = {.dev = 9, .ino = 80};
		struct analysis_case c = begin();

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_madvise, "madvise");
		tb_fd(c.tb, 10, 3, 9, 80, S_IFREG | 0600, "/data");
		tb_sys_enter(c.tb, 0, 2000, calls[i].call, 0, 4096, 3, calls[i].flags, 3, 0);
		if (calls[i].page)
			tb_event(c.tb, 0, 2500, TRACE_EV_fs_fault, &fault, sizeof(fault), NULL);
		by_disk(&c);
		expect(&c, calls[i].kind, calls[i].kind == TRACE_WAIT_FILE ? "/data" : "", 0, "");
	}
}

/* ---- one file by several paths ---- */

#define LAYER	0x00800001u /* major 8 */
#define OVERLAY 0x00000023u /* major 0: no disk */

/* "one" has mapped this file, and a page of inode 80 of LAYER is missing. */
static void faults_in(struct analysis_case *c, uint32_t mapped_dev, uint64_t mapped_ino)
{
	struct trace_start_map map = {.tgid = 10, .dev = mapped_dev, .ino = mapped_ino, .start = 0x1000, .end = 0x3000};
	struct trace_fs_fault fault = {.dev = LAYER, .ino = 80};

	tb_start(c->tb, 1000, TRACE_EV_start_map, &map, sizeof(map), "/merged/data");
	tb_fd(c->tb, 20, 3, LAYER, 80, S_IFREG | 0600, "/lower/data"); /* known by this path last */
	tb_fault(c->tb, 0, 2000, 0x2000, true);
	tb_event(c->tb, 0, 2500, TRACE_EV_fs_fault, &fault, sizeof(fault), NULL);
	tb_switch(c->tb, 0, 3000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(c->tb, 1, 5500, 9);
	tb_add(c->tb, 1, 5600, block_complete, NULL, .dev = LAYER);
	wake(c, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(c->tb, 1, 6010, 9);
	tb_switch(c->tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_fault_end(c->tb, 0, 6200, true);
	case_run(c);
}

static void a_page_of_a_layer_is_of_the_file_that_was_mapped(void)
{
	static const struct {
		uint32_t dev;
		uint64_t ino;
		const char *path;
	} mappings[] = {{OVERLAY, 80, "/merged/data"},
			{OVERLAY, 1ull << 62 | 80, "/merged/data"}, /* with the number of the layer */
			{LAYER, 80, "/merged/data"},		    /* a hard link, or a mount */
			{OVERLAY, 81, "/lower/data"},		    /* out of date */
			{LAYER + 1, 80, "/lower/data"}};	    /* another disk */

	for (size_t i = 0; i < sizeof(mappings) / sizeof(mappings[0]); i++) {
		struct analysis_case c = begin();

		faults_in(&c, mappings[i].dev, mappings[i].ino);
		expect(&c, TRACE_WAIT_FILE, mappings[i].path, 0, "");
	}
}

/* fsync() of a file of an overlay waits for pages of the layer. */
static void writeback_in_a_layer_is_for_the_file_that_was_opened(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, OVERLAY, 80, S_IFREG | 0600, "/merged/data");
	tb_fd(c.tb, 20, 3, LAYER, 80, S_IFREG | 0600, "/upper/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_fsync, 3, 0, 0);
	tb_add(c.tb, 0, 2500, fs_writeback_wait, NULL, .dev = LAYER, .ino = 80);
	by_disk(&c);
	expect(&c, TRACE_WAIT_FILE, "/merged/data", 0, "");
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_wait_for_pages_under_writeback_is_for_their_file),
		CASE(an_open_waits_for_the_watcher_that_must_permit_it),
		CASE(an_open_waits_for_the_holder_of_a_lease),
		CASE(the_holder_of_a_lease_that_breaks_already_is_unknown),
		CASE(a_reader_of_a_timerfd_waits_for_the_time),
		CASE(a_file_may_be_known_only_by_its_path),
		CASE(the_waker_decides_between_two_files),
		CASE(one_of_two_files_may_be_unknown),
		CASE(data_of_a_socket_does_not_come_by_a_pipe),
		CASE(data_sent_from_a_file_counts_as_read),
		CASE(a_sync_of_everything_waits_for_all_files),
		CASE(a_mapping_that_is_synced_is_its_file),
		CASE(a_file_that_was_mapped_over_is_not_named_beyond_the_limit),
		CASE(close_range_closes_a_range),
		CASE(a_pidfd_is_no_file),
		CASE(a_call_that_populates_memory_waits_for_its_file),
		CASE(a_page_of_a_layer_is_of_the_file_that_was_mapped),
		CASE(writeback_in_a_layer_is_for_the_file_that_was_opened),
		CASE(calls_on_a_descriptor_wait_for_its_file),
		CASE(a_throttled_writer_waits_for_the_file),
		CASE(a_release_across_a_gap_is_not_used),
		CASE(exec_waits_for_its_program_file),
		{NULL, NULL},
	};

	return unit_main("waits for files", cases, argc, argv);
}
