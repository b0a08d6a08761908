/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_state_waits_files.c - the cause of a wait, from the object that the call works on: files,
 * sockets, memory, locks.
 *
 * Thread 10 ("one") runs on CPU 0 and blocks from 3000 to 6000 unless a test says otherwise; 20
 * ("two") runs on CPU 1.
 */
#include <sys/mman.h>
#include "state_waits_case.h"
#include "unit.h"

#define DISK 8

static void by_disk(struct analysis_case *c)
{
	struct trace_block_complete done = {.dev = DISK, .bytes = 4096};

	block(c);
	tb_irq(c->tb, 1, 5000, 7);
	tb_event(c->tb, 1, 5900, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	wake(c, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(c->tb, 1, 6050, 7);
	finish(c);
}

/* "two" is in @call on its descriptor 5. */
static void by_two(struct analysis_case *c, uint32_t call)
{
	block(c);
	tb_sys_enter(c->tb, 1, 5000, call, 5, 0, 1);
	wake(c, TRACE_CONTEXT_TASK);
	finish(c);
}

static void by_timer(struct analysis_case *c)
{
	block(c);
	tb_vector(c->tb, 1, 5000, TRACE_VECTOR_LOCAL_TIMER);
	wake(c, TRACE_CONTEXT_HARDIRQ);
	tb_vector_exit(c->tb, 1, 6050, TRACE_VECTOR_LOCAL_TIMER);
	finish(c);
}

/* ---- files ---- */

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

/* ---- sockets ---- */

static void connection(struct analysis_case *c, uint16_t family, uint16_t type)
{
	struct trace_start_socket sock = {.tgid = 10,
					  .fd = 3,
					  .ino = 500,
					  .family = family,
					  .type = type,
					  .protocol = 6,
					  .remote_port = 80,
					  .remote_lo = 0x0200000affff0000ull};

	tb_fd(c->tb, 10, 3, 9, 500, S_IFSOCK | 0777, "socket:[500]");
	tb_start(c->tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
}

/* SO_RCVTIMEO. But the timer that ends connect() is the kernel's, which repeats its packets:
 * connect() waits for the peer that does not answer. */
static void a_timeout_of_a_socket_is_a_wait_for_it_only_in_connect(void)
{
	struct analysis_case c = begin();

	connection(&c, AF_INET, SOCK_STREAM);
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	by_timer(&c);
	expect(&c, TRACE_WAIT_TIMEOUT, "", 0, "");

	c = begin();
	connection(&c, AF_INET, SOCK_STREAM);
	tb_sys_enter(c.tb, 0, 2000, SYS_connect, 3, 0, 16);
	by_timer(&c);
	expect(&c, TRACE_WAIT_NETWORK, "10.0.0.2:80", 0, "");
}

static void a_wait_for_a_socket_names_the_kind_of_socket(void)
{
	static const struct {
		uint16_t family, type;
		const char *via;
	} sockets[] = {{AF_UNIX, SOCK_STREAM, "unix"},
		       {AF_INET, SOCK_STREAM, "tcp"},
		       {AF_INET6, SOCK_DGRAM, "udp"},
		       {AF_NETLINK, SOCK_RAW, "socket"}};

	for (size_t i = 0; i < sizeof(sockets) / sizeof(sockets[0]); i++) {
		struct analysis_case c = begin();

		connection(&c, sockets[i].family, sockets[i].type);
		tb_sys_enter(c.tb, 0, 2000, SYS_read, 3, 0, 1);
		by_two(&c, SYS_write);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, sockets[i].via);
	}
}

/* The kernel answers by itself. A packet that arrived at that time is unrelated. */
static void a_wakeup_by_a_netlink_socket_is_no_packet(void)
{
	struct trace_net_rx rx = {.ifindex = 2};
	struct analysis_case c = begin();

	connection(&c, AF_NETLINK, SOCK_RAW);
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	block(&c);
	tb_softirq(c.tb, 1, 5500, SOFTIRQ_NET_RX);
	tb_event(c.tb, 1, 5600, TRACE_EV_net_rx, &rx, sizeof(rx), NULL);
	wake(&c, TRACE_CONTEXT_SOFTIRQ);
	tb_softirq_exit(c.tb, 1, 6010, SOFTIRQ_NET_RX);
	finish(&c);
	expect(&c, TRACE_WAIT_OTHER, "recvfrom", 0, "socket");
}

/* The other end belonged to another process; the waker has it now. */
static void the_other_end_of_a_unix_socket_may_have_been_passed_on(void)
{
	struct trace_start_socket socks[2] = {
		{.tgid = 10, .fd = 3, .ino = 500, .peer_ino = 501, .family = AF_UNIX, .type = SOCK_STREAM},
		{.tgid = 40, .fd = 4, .ino = 501, .peer_ino = 500, .family = AF_UNIX, .type = SOCK_STREAM}};
	struct analysis_case c = begin();

	tb_thread(c.tb, 40, 40, 1, "had it", 1, false);
	for (size_t i = 0; i < 2; i++) {
		tb_fd(c.tb, socks[i].tgid, socks[i].fd, 9, socks[i].ino, S_IFSOCK | 0777, "socket:");
		tb_start(c.tb, 1000, TRACE_EV_start_socket, &socks[i], sizeof(socks[i]), NULL);
	}
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	by_two(&c, SYS_sendto);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "unix");
}

static void a_sender_waits_for_the_socket_as_well(void)
{
	struct analysis_case c = begin();

	connection(&c, AF_UNIX, SOCK_STREAM);
	tb_sys_enter(c.tb, 0, 2000, SYS_sendto, 3, 0, 1);
	by_two(&c, SYS_read);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "unix");
}

static void a_socket_may_be_known_only_by_its_descriptor(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 9, 500, S_IFSOCK | 0777, "socket:[500]");
	tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
	by_two(&c, SYS_sendto);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "socket");
}

/* A program at the end of a tunnel writes packets into a device. A program that writes to a file
 * while it wakes does not. */
static void packets_from_a_tunnel_are_the_networks(void)
{
	static const struct {
		uint32_t mode;
		enum trace_wait_kind kind;
		const char *target, *via;
		uint32_t pid;
	} files[] = {{S_IFCHR | 0600, TRACE_WAIT_NETWORK, "10.0.0.2:80", "", 0},
		     {S_IFREG | 0600, TRACE_WAIT_PROCESS, "two", "tcp", 20}};

	for (size_t i = 0; i < 2; i++) {
		struct analysis_case c = begin();

		connection(&c, AF_INET, SOCK_STREAM);
		tb_fd(c.tb, 20, 5, 9, 81, files[i].mode, "/dev/net/tun");
		tb_sys_enter(c.tb, 0, 2000, SYS_recvfrom, 3, 0, 0);
		by_two(&c, SYS_write);
		expect(&c, files[i].kind, files[i].target, files[i].pid, files[i].via);
	}
}

/* A used connection does not make its owner a server: a poll on it is no idle wait. */
static void only_a_listener_is_idle_in_a_poll(void)
{
	for (int listens = 0; listens < 2; listens++) {
		struct trace_sock_endpoints ends = {.fd = 4,
						    .ino = 500,
						    .family = AF_INET,
						    .type = SOCK_STREAM,
						    .protocol = 6,
						    .state = listens ? 10 : 1};
		struct analysis_case c = begin();

		tb_fd(c.tb, 10, 4, 9, 500, S_IFSOCK, "socket:[500]");
		tb_sys_enter(c.tb, 0, 1100, listens ? SYS_listen : SYS_connect, 4, 1, 0);
		tb_event(c.tb, 0, 1150, TRACE_EV_sock_endpoints, &ends, sizeof(ends), NULL);
		tb_sys_exit(c.tb, 0, 1200, 0);
		tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 1, 0);
		by_two(&c, SYS_connect);
		CU_ASSERT_EQUAL(c.one->waits[0].idle, listens);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, "poll");
	}
}

/* The descriptors of the poll are not recorded, but its waker wrote to a socket. */
static void a_poll_is_for_the_socket_that_its_waker_used(void)
{
	struct trace_start_socket sock = {.tgid = 20, .fd = 5, .ino = 500, .family = AF_UNIX, .type = SOCK_STREAM};
	struct analysis_case c = begin();

	tb_fd(c.tb, 20, 5, 9, 500, S_IFSOCK | 0777, "socket:[500]");
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	tb_sys_enter(c.tb, 0, 2000, SYS_poll, 0x700, 1, 0);
	by_two(&c, SYS_sendto);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "unix");
}

/* accept() of a 32-bit program is one of the calls of socketcall(). */
static void a_32_bit_program_in_accept_is_idle(void)
{
	static const struct {
		uint64_t number;
		bool idle;
	} calls[] = {{5 /* accept */, true}, {18 /* accept4 */, true}, {10 /* recv */, false}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct trace_sys_enter3 enter = {.nr = 102, .abi = TRACE_ABI_32, .arg0 = calls[i].number, .arg1 = 1};
		struct analysis_case c = begin();

		tb_string(c.tb, TRACE_STRING_SYSCALL_32, 102, "socketcall");
		tb_event(c.tb, 0, 2000, TRACE_EV_sys_enter3, &enter, sizeof(enter), NULL);
		by_two(&c, SYS_connect);
		CU_ASSERT_EQUAL(c.one->waits[0].idle, calls[i].idle);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, "");
	}
}

/* ---- locks ---- */

/* The first argument of ipc() is the call, with its version in the upper half. Calls up to 4 are
 * those of semaphores. */
static void semaphores_of_32_bit_programs_are_in_ipc(void)
{
	static const struct {
		uint64_t call;
		const char *via, *lock;
	} calls[] = {{0x10001 /* semop */, "semaphore", "semaphore 5"},
		     {4 /* semtimedop */, "semaphore", "semaphore 5"},
		     {11 /* msgsnd */, "mqueue", NULL}};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct trace_sys_enter6 enter = {.nr = 117, .abi = TRACE_ABI_32, .arg0 = calls[i].call, .arg1 = 5};
		struct analysis_case c = begin();
		struct trace_lock_wait *locks;
		size_t nr = 0;

		tb_string(c.tb, TRACE_STRING_SYSCALL_32, 117, "ipc");
		tb_event(c.tb, 0, 2000, TRACE_EV_sys_enter6, &enter, sizeof(enter), NULL);
		by_two(&c, SYS_semop);
		locks = trace_lock_waits(c.analysis, &nr);
		CU_ASSERT_EQUAL_FATAL(nr, calls[i].lock ? 1 : 0);
		if (nr)
			CU_ASSERT_STRING_EQUAL(locks[0].path, calls[i].lock);
		free(locks);
		expect(&c, TRACE_WAIT_PROCESS, "two", 20, calls[i].via);
	}
}

static void one_sleeps(struct analysis_case *c, uint64_t ns, uint64_t for_ns, uint32_t call, uint64_t arg0,
		       uint64_t arg1, uint32_t state)
{
	tb_sys_enter(c->tb, 0, ns, call, arg0, arg1, 0);
	tb_switch(c->tb, 0, ns + 10, 10, 0, state);
	tb_waking(c->tb, 1, ns + 10 + for_ns, 10, TRACE_CONTEXT_TASK);
	tb_switch(c->tb, 0, ns + 20 + for_ns, 0, 10, TRACE_TASK_RUNNING);
	tb_sys_exit(c->tb, 0, ns + 30 + for_ns, 0);
}

static void one_waits(struct analysis_case *c, uint64_t ns, uint64_t for_ns, uint32_t call, uint64_t arg0,
		      uint64_t arg1)
{
	one_sleeps(c, ns, for_ns, call, arg0, arg1, TRACE_TASK_INTERRUPTIBLE);
}

/* Locks with the same waiting time: files by their paths, then futexes by their addresses. */
static void the_lock_that_was_waited_for_longest_comes_first(void)
{
	static const struct {
		const char *path;
		uint64_t address, ns, count;
	} rows[] = {{"/b", 0, 600, 1},	  {"", 0x9000, 500, 2}, {"/a", 0, 300, 1},
		    {"/c", 0, 300, 1},	  {"/d", 0, 300, 1},	{"", 0x1000, 300, 1},
		    {"", 0x2000, 300, 1}, {"", 0x3000, 300, 1}, {"", 0x800, 200, 1}};
	struct analysis_case c = begin();
	struct trace_lock_wait *locks;
	size_t nr = 0;

	for (int i = 0; i < 4; i++) {
		char path[] = {'/', (char)('a' + i), '\0'};

		tb_fd(c.tb, 10, 3 + i, 9, 80 + (uint64_t)i, S_IFREG | 0600, path);
	}
	one_waits(&c, 1100, 300, SYS_futex, 0x3000, 0);
	one_waits(&c, 1500, 300, SYS_flock, 6, 2);
	one_waits(&c, 1900, 300, SYS_futex, 0x1000, 0);
	one_waits(&c, 2300, 250, SYS_futex, 0x9000, 0);
	one_waits(&c, 2700, 300, SYS_flock, 3, 2);
	one_waits(&c, 3100, 600, SYS_flock, 4, 2);
	one_waits(&c, 3800, 300, SYS_flock, 5, 2);
	one_waits(&c, 4200, 200, SYS_futex, 0x800, 0);
	one_waits(&c, 4600, 300, SYS_futex, 0x2000, 0);
	one_waits(&c, 5000, 250, SYS_futex, 0x9000, 0);
	tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
	case_run(&c);
	locks = trace_lock_waits(c.analysis, &nr);
	CU_ASSERT_EQUAL_FATAL(nr, sizeof(rows) / sizeof(rows[0]));
	for (size_t i = 0; i < nr; i++) {
		CU_ASSERT_STRING_EQUAL(locks[i].path, rows[i].path);
		CU_ASSERT_STRING_EQUAL(locks[i].via, *rows[i].path ? "lock" : "futex");
		CU_ASSERT_EQUAL(locks[i].address, rows[i].address);
		CU_ASSERT_EQUAL(locks[i].ns, rows[i].ns);
		CU_ASSERT_EQUAL(locks[i].count, rows[i].count);
		CU_ASSERT_EQUAL(trace_process_pid(locks[i].waiter), 10);
		CU_ASSERT_EQUAL(trace_process_pid(locks[i].holder), 20);
	}
	free(locks);
	case_free(&c);
}

/* Locks of files are waited for in sleeps that signals end. */
static void a_sleep_without_signals_is_for_a_lock_of_the_kernel(void)
{
	static const uint32_t states[] = {TRACE_TASK_INTERRUPTIBLE, TRACE_TASK_UNINTERRUPTIBLE};
	static const char *const paths[] = {"/a", "[lock of the kernel]"};

	for (int i = 0; i < 2; i++) {
		struct analysis_case c = begin();
		struct trace_lock_wait *locks;
		size_t nr = 0;

		tb_fd(c.tb, 10, 3, 9, 80, S_IFREG | 0600, "/a");
		one_sleeps(&c, 1500, 300, SYS_flock, 3, 2, states[i]);
		tb_switch(c.tb, 0, 9000, 10, 0, TRACE_TASK_RUNNING);
		case_run(&c);
		locks = trace_lock_waits(c.analysis, &nr);
		CU_ASSERT_EQUAL_FATAL(nr, 1);
		CU_ASSERT_STRING_EQUAL(locks[0].path, paths[i]);
		CU_ASSERT_STRING_EQUAL(locks[0].via, "lock");
		CU_ASSERT_EQUAL(locks[0].ns, 300);
		CU_ASSERT_EQUAL(trace_process_pid(locks[0].holder), 20);
		free(locks);
		case_free(&c);
	}
}

/* ---- others ---- */

static void a_ptraced_thread_waits_for_its_tracer(void)
{
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_ptrace, "ptrace");
	tb_sys_enter(c.tb, 0, 2000, SYS_ptrace, 7, 40, 0, 0);
	by_two(&c, SYS_kill);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "ptrace");
}

/* The worker waits on behalf of its process. It may be older than the trace. */
static void a_ring_inherits_the_wait_cause_of_its_worker(void)
{
	struct trace_start_thread worker = {.tid = 11,
					    .tgid = 10,
					    .ppid = 1,
					    .nr = -1,
					    .cpu = 1,
					    .state = TRACE_TASK_INTERRUPTIBLE,
					    .flags = TRACE_THREAD_IO_WORKER};
	struct trace_block_complete done = {.dev = DISK, .bytes = 4096};
	struct analysis_case c = begin();

	tb_string(c.tb, TRACE_STRING_DEVICE, DISK, "vda");
	tb_start(c.tb, 1000, TRACE_EV_start_thread, &worker, sizeof(worker), "iou-wrk-10");
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
	tb_waking(c.tb, 0, 2500, 11, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 1, 2700, 20, 11, TRACE_TASK_RUNNING);
	block(&c);
	tb_switch(c.tb, 1, 3500, 11, 20, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(c.tb, 1, 5000, 7);
	tb_event(c.tb, 1, 5050, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	tb_waking(c.tb, 1, 5100, 11, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(c.tb, 1, 5200, 7);
	tb_switch(c.tb, 1, 5500, 20, 11, TRACE_TASK_RUNNING);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_FILE, "vda", 0, ""), 1600); /* the worker's */
	CU_ASSERT_EQUAL(c.one->syscall_ns, 1100 + 800 + 3500); /* its time is kernel time, in a call that never ends */
	CU_ASSERT_EQUAL(c.one->nr_syscalls_rows, 1);
	expect(&c, TRACE_WAIT_FILE, "vda", 0, "io_uring");
}

/* The worker waited for the disk, but the file of the request says more. */
static void a_ring_waits_for_the_file_that_its_worker_reads(void)
{
	struct trace_start_thread worker = {.tid = 11,
					    .tgid = 10,
					    .ppid = 1,
					    .nr = -1,
					    .cpu = 1,
					    .state = TRACE_TASK_INTERRUPTIBLE,
					    .flags = TRACE_THREAD_IO_WORKER};
	struct trace_uring_submit submit = {.req = 0xf00, .opcode = 22, .fd = 4};
	struct trace_uring_complete complete = {.req = 0xf00, .res = 512};
	struct trace_block_complete done = {.dev = DISK, .bytes = 4096};
	struct analysis_case c = begin();

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &worker, sizeof(worker), "iou-wrk-10");
	tb_fd(c.tb, 10, 4, 9, 80, S_IFREG | 0600, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
	tb_event(c.tb, 0, 2100, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	tb_waking(c.tb, 0, 2500, 11, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 1, 2700, 20, 11, TRACE_TASK_RUNNING);
	block(&c);
	tb_switch(c.tb, 1, 3500, 11, 20, TRACE_TASK_UNINTERRUPTIBLE);
	tb_irq(c.tb, 1, 5000, 7);
	tb_event(c.tb, 1, 5050, TRACE_EV_block_complete, &done, sizeof(done), NULL);
	tb_waking(c.tb, 1, 5100, 11, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(c.tb, 1, 5200, 7);
	tb_switch(c.tb, 1, 5500, 20, 11, TRACE_TASK_RUNNING);
	tb_event(c.tb, 1, 5600, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_FILE, "/data", 0, "io_uring");
}

/* A call on memory waits for another process with the same address space, or for a kernel thread
 * that frees memory. */
static void calls_on_memory_wait_for_the_releasing_thread(void)
{
	static const struct {
		uint32_t nr;
		const char *name;
	} calls[] = {{SYS_brk, "brk"},
		     {SYS_mremap, "mremap"},
		     {SYS_shmat, "shmat"},
		     {SYS_munmap, "munmap"},
		     {SYS_mprotect, "mprotect"}};
	struct trace_start_thread kernel = {
		.tid = 30, .tgid = 30, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .cpu = 1, .state = 1};

	for (size_t i = 0; i < 2 * sizeof(calls) / sizeof(calls[0]); i++) {
		struct analysis_case c = begin();

		tb_string(c.tb, TRACE_STRING_SYSCALL, calls[i / 2].nr, calls[i / 2].name);
		tb_start(c.tb, 1000, TRACE_EV_start_thread, &kernel, sizeof(kernel), "kcompactd0");
		tb_sys_enter(c.tb, 0, 2000, calls[i / 2].nr, 0x5000, 0x1000, 0);
		if (i % 2) {
			tb_waking(c.tb, 1, 2500, 30, TRACE_CONTEXT_TASK);
			tb_switch(c.tb, 1, 4000, 20, 30, TRACE_TASK_RUNNING);
			block(&c);
			wake(&c, TRACE_CONTEXT_TASK);
			finish(&c);
			expect(&c, TRACE_WAIT_KERNEL, "kcompactd0", 0, "memory");
		} else {
			by_two(&c, SYS_getpid);
			expect(&c, TRACE_WAIT_PROCESS, "two", 20, "memory");
		}
	}
}

static void fcntl_waits_for_a_lock(void)
{
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 3, 9, 80, S_IFREG | 0600, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_fcntl, 3, F_SETLKW, 0x7000);
	by_two(&c, SYS_getpid);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "lock");
}

/* A thread of the own process that is no worker, or a worker that had waited before: the cause of
 * its wait does not apply. */
static void a_ring_does_not_inherit_wait_causes_of_other_threads(void)
{
	for (int is_worker = 0; is_worker < 2; is_worker++) {
		struct trace_start_thread other = {.tid = 11,
						   .tgid = 10,
						   .ppid = 1,
						   .nr = -1,
						   .cpu = 1,
						   .state = TRACE_TASK_INTERRUPTIBLE,
						   .flags = is_worker ? TRACE_THREAD_IO_WORKER : 0};
		struct analysis_case c = begin();
		uint64_t slept = is_worker ? 1200 : 3500;

		tb_start(c.tb, 1000, TRACE_EV_start_thread, &other, sizeof(other),
			 is_worker ? "iou-wrk-10" : "one too");
		tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
		block(&c);
		tb_waking(c.tb, 1, 1050, 11, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 1, 1100, 20, 11, TRACE_TASK_RUNNING);
		if (!is_worker) {
			tb_sys_exit(c.tb, 1, 1150, 0);
			tb_sys_enter(c.tb, 1, 3400, SYS_nanosleep, 0, 0);
		}
		tb_switch(c.tb, 1, slept, 11, 20, TRACE_TASK_INTERRUPTIBLE);
		tb_vector(c.tb, 1, slept + 100, TRACE_VECTOR_LOCAL_TIMER);
		tb_waking(c.tb, 1, slept + 110, 11, TRACE_CONTEXT_HARDIRQ);
		tb_vector_exit(c.tb, 1, slept + 120, TRACE_VECTOR_LOCAL_TIMER);
		tb_switch(c.tb, 1, slept + 200, 20, 11, TRACE_TASK_RUNNING);
		if (!is_worker)
			tb_sys_exit(c.tb, 1, slept + 300, 0);
		wake(&c, TRACE_CONTEXT_TASK);
		finish(&c);
		CU_ASSERT(is_worker || !c.one->waits[0].idle);
		expect(&c, TRACE_WAIT_PROCESS, "one", 10, "io_uring");
	}
}

/* Its process gives it work. A waker of another process has released a file or lock that the work
 * needs. */
static void a_worker_of_a_ring_is_idle_until_its_process_wakes_it(void)
{
	for (uint32_t by = 0; by < 2; by++) {
		struct trace_start_thread worker = {.tid = 11,
						    .tgid = 10,
						    .ppid = 1,
						    .nr = -1,
						    .cpu = 1,
						    .state = TRACE_TASK_INTERRUPTIBLE,
						    .flags = TRACE_THREAD_IO_WORKER};
		struct analysis_case c = begin();

		tb_start(c.tb, 1000, TRACE_EV_start_thread, &worker, sizeof(worker), "iou-wrk-10");
		tb_waking(c.tb, by, 5000, 11, TRACE_CONTEXT_TASK);
		tb_switch(c.tb, 1, 5100, 20, 11, TRACE_TASK_RUNNING);
		case_run(&c);
		CU_ASSERT_EQUAL(c.one->waits[0].idle, by == 0);
		CU_ASSERT_EQUAL(case_wait(c.one, TRACE_WAIT_PROCESS, by ? "two" : "one", by ? 20 : 10, "io_uring"),
				4000);
		case_free(&c);
	}
}

static void a_ring_woken_by_a_kernel_thread_waited_for_it(void)
{
	struct trace_start_thread kernel = {
		.tid = 30, .tgid = 30, .ppid = 2, .nr = -1, .flags = TRACE_THREAD_KERNEL, .cpu = 1, .state = 1};
	struct analysis_case c = begin();

	tb_start(c.tb, 1000, TRACE_EV_start_thread, &kernel, sizeof(kernel), "md0_raid1");
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
	tb_waking(c.tb, 1, 2500, 30, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 1, 2600, 20, 30, TRACE_TASK_RUNNING);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	finish(&c);
	expect(&c, TRACE_WAIT_KERNEL, "md0_raid1", 0, "io_uring");
}

/* The same with the kernel's older interface: idle until a client's data arrives, but not while the
 * disk works. */
static void a_listener_is_idle_in_asynchronous_io_unless_on_a_disk(void)
{
	for (int disk = 0; disk < 2; disk++) {
		struct trace_start_socket sock = {
			.tgid = 10, .fd = 5, .ino = 500, .family = AF_UNIX, .type = SOCK_STREAM, .state = 10};
		struct analysis_case c = begin();

		tb_string(c.tb, TRACE_STRING_SYSCALL, SYS_io_getevents, "io_getevents");
		tb_string(c.tb, TRACE_STRING_DEVICE, DISK, "vda");
		tb_fd(c.tb, 10, 5, 9, 500, S_IFSOCK, "socket:[500]");
		tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
		tb_fd(c.tb, 20, 5, 9, 80, PIPE_MODE, "pipe:[80]");
		tb_sys_enter(c.tb, 0, 2000, SYS_io_getevents, 0, 1, 1);
		if (disk)
			by_disk(&c);
		else
			by_two(&c, SYS_write);
		CU_ASSERT_EQUAL(c.one->waits[0].idle, !disk);
		expect(&c, disk ? TRACE_WAIT_FILE : TRACE_WAIT_PROCESS, disk ? "vda" : "two", disk ? 0 : 20,
		       disk ? "" : "pipe");
	}
}

/* A database that listens has work as long as its disk has. */
static void a_listener_that_waits_in_a_ring_for_a_disk_has_work(void)
{
	struct trace_start_socket sock = {
		.tgid = 10, .fd = 5, .ino = 500, .family = AF_UNIX, .type = SOCK_STREAM, .state = 10};
	struct trace_uring_submit submit = {.req = 0xf00, .opcode = 22, .fd = 4};
	struct trace_uring_complete complete = {.req = 0xf00, .res = 512};
	struct analysis_case c = begin();

	tb_fd(c.tb, 10, 5, 9, 500, S_IFSOCK, "socket:[500]");
	tb_start(c.tb, 1000, TRACE_EV_start_socket, &sock, sizeof(sock), NULL);
	tb_fd(c.tb, 10, 4, 9, 80, S_IFREG | 0600, "/data");
	tb_sys_enter(c.tb, 0, 2000, SYS_io_uring_enter, 3, 1, 1);
	tb_event(c.tb, 0, 2100, TRACE_EV_uring_submit, &submit, sizeof(submit), NULL);
	block(&c);
	tb_irq(c.tb, 1, 5000, 7);
	tb_event(c.tb, 1, 5500, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	wake(&c, TRACE_CONTEXT_HARDIRQ);
	tb_irq_exit(c.tb, 1, 6050, 7);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	tb_event(c.tb, 0, 6150, TRACE_EV_uring_complete, &complete, sizeof(complete), NULL);
	tb_sys_exit(c.tb, 0, 6200, 1);
	case_run(&c);
	CU_ASSERT_FALSE(c.one->waits[0].idle);
	expect(&c, TRACE_WAIT_FILE, "/data", 0, "io_uring");
}

static void a_wait_outside_calls_is_for_its_waker(void)
{
	struct analysis_case c = begin();

	tb_sys_enter(c.tb, 0, 2000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 2100, 10);
	block(&c);
	wake(&c, TRACE_CONTEXT_TASK);
	tb_switch(c.tb, 0, 6100, 0, 10, TRACE_TASK_RUNNING);
	case_run(&c);
	expect(&c, TRACE_WAIT_PROCESS, "two", 20, "");

	c = begin();
	tb_sys_enter(c.tb, 0, 2000, SYS_getpid);
	tb_sys_exit(c.tb, 0, 2100, 10);
	tb_switch(c.tb, 0, 6000, 10, 0, TRACE_TASK_UNINTERRUPTIBLE);
	case_run(&c);
	expect(&c, TRACE_WAIT_UNKNOWN, "", 0, "");
}

int main(int argc, char **argv)
{
	static const struct unit_case cases[] = {
		CASE(a_wait_for_pages_under_writeback_is_for_their_file),
		CASE(an_open_waits_for_the_watcher_that_must_permit_it),
		CASE(a_reader_of_a_timerfd_waits_for_the_time),
		CASE(a_file_may_be_known_only_by_its_path),
		CASE(the_waker_decides_between_two_files),
		CASE(one_of_two_files_may_be_unknown),
		CASE(data_sent_from_a_file_counts_as_read),
		CASE(a_sync_of_everything_waits_for_all_files),
		CASE(a_mapping_that_is_synced_is_its_file),
		CASE(close_range_closes_a_range),
		CASE(a_pidfd_is_no_file),
		CASE(a_call_that_populates_memory_waits_for_its_file),
		CASE(a_page_of_a_layer_is_of_the_file_that_was_mapped),
		CASE(writeback_in_a_layer_is_for_the_file_that_was_opened),
		CASE(a_timeout_of_a_socket_is_a_wait_for_it_only_in_connect),
		CASE(a_wait_for_a_socket_names_the_kind_of_socket),
		CASE(packets_from_a_tunnel_are_the_networks),
		CASE(only_a_listener_is_idle_in_a_poll),
		CASE(a_poll_is_for_the_socket_that_its_waker_used),
		CASE(a_32_bit_program_in_accept_is_idle),
		CASE(semaphores_of_32_bit_programs_are_in_ipc),
		CASE(the_lock_that_was_waited_for_longest_comes_first),
		CASE(a_sleep_without_signals_is_for_a_lock_of_the_kernel),
		CASE(a_ptraced_thread_waits_for_its_tracer),
		CASE(a_ring_inherits_the_wait_cause_of_its_worker),
		CASE(a_wait_outside_calls_is_for_its_waker),
		CASE(calls_on_a_descriptor_wait_for_its_file),
		CASE(a_throttled_writer_waits_for_the_file),
		CASE(a_release_across_a_gap_is_not_used),
		CASE(exec_waits_for_its_program_file),
		CASE(a_wakeup_by_a_netlink_socket_is_no_packet),
		CASE(a_socket_may_be_known_only_by_its_descriptor),
		CASE(a_ring_waits_for_the_file_that_its_worker_reads),
		CASE(the_other_end_of_a_unix_socket_may_have_been_passed_on),
		CASE(a_sender_waits_for_the_socket_as_well),
		CASE(calls_on_memory_wait_for_the_releasing_thread),
		CASE(fcntl_waits_for_a_lock),
		CASE(a_ring_does_not_inherit_wait_causes_of_other_threads),
		CASE(a_listener_that_waits_in_a_ring_for_a_disk_has_work),
		CASE(a_worker_of_a_ring_is_idle_until_its_process_wakes_it),
		CASE(a_ring_woken_by_a_kernel_thread_waited_for_it),
		CASE(a_listener_is_idle_in_asynchronous_io_unless_on_a_disk),
		{NULL, NULL},
	};

	return unit_main("waits for files", cases, argc, argv);
}
