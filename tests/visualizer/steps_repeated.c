/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* steps_repeated.c - what stories of steps.h have many of: things, and happenings. */
#include "steps_repeated.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <linux/sched.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>

enum {
	SOCKETS = 1 << 20,
	TCP = 2 << 20,
	PIPES = 3 << 20,
	FILES = 4 << 20,
	CHILDREN = 1 << 16,
	LISTENER = 7,
	FIRST_FD = 10
};

/* ---- things ---- */

static void nothing(struct story *story, uint32_t i)
{
	(void)i;
	EVENT(story, 0, trace_heartbeat, NULL, .realtime_ns = 0);
}

static void a_process(struct story *story, uint32_t i)
{
	BEFORE(story, start_thread, "sleeper", .tid = MANY + i, .tgid = MANY + i, .ppid = ONE, .nr = SYS_poll,
	       .state = TRACE_TASK_INTERRUPTIBLE);
}

static void a_thread(struct story *story, uint32_t i)
{
	BEFORE(story, start_thread, "thread", .tid = MANY + i, .tgid = ONE, .ppid = 1, .nr = SYS_futex,
	       .state = TRACE_TASK_INTERRUPTIBLE);
}

static void a_child(struct story *story, uint32_t i)
{
	EVENT(story, 0, sched_fork, "child", .parent_tid = ONE, .tid = CHILDREN + i, .tgid = CHILDREN + i);
}

static void a_dead_child(struct story *story, uint32_t i)
{
	a_child(story, i);
	run(story, 2, 0, CHILDREN + i);
	EVENT(story, 2, sched_exit, NULL, .tid = CHILDREN + i, .tgid = CHILDREN + i, .group_dead = 1);
	run(story, 2, CHILDREN + i, 0);
}

static void a_thread_that_waits_for_a_futex(struct story *story, uint32_t i)
{
	EVENT(story, 0, sched_fork, "thread", .parent_tid = ONE, .tid = CHILDREN + i, .tgid = ONE,
	      .clone_flags = CLONE_THREAD | CLONE_VM | CLONE_FILES);
	run(story, 2, 0, CHILDREN + i);
	EVENT(story, 2, sys_enter6, NULL, .nr = SYS_futex, .arg0 = 0x1010, .arg1 = FUTEX_WAIT_PRIVATE);
	run(story, 2, CHILDREN + i, 0);
}

static void a_runnable_process(struct story *story, uint32_t i)
{
	a_child(story, i);
	EVENT(story, 0, sched_wakeup_new, NULL, .tid = CHILDREN + i, .target_cpu = 1);
}

static void a_file(struct story *story, uint32_t i)
{
	enter(story, 0, SYS_read, 1);
	EVENT(story, 0, fs_open, "/file", .fd = (int)(FIRST_FD + i), .dev = 1, .mode = S_IFREG | 0644,
	      .ino = FILES + i);
	leave(story, 0, FIRST_FD + i);
}

static void a_pipe(struct story *story, uint32_t i)
{
	enter(story, 0, SYS_pipe, 1);
	EVENT(story, 0, fs_open, "pipe:[1]", .fd = (int)(FIRST_FD + i), .dev = 9, .mode = S_IFIFO | 0600,
	      .ino = PIPES + i);
	leave(story, 0, 0);
}

static void a_mapping(struct story *story, uint32_t i)
{
	BEFORE(story, start_map, "/lib.so", .tgid = ONE, .dev = 1, .start = 0x100000ull * (i + 1),
	       .end = 0x100000ull * (i + 1) + 0x1000, .ino = FILES + i);
}

static void a_socket(struct story *story, uint32_t cpu, int fd, uint64_t ino, uint64_t peer, uint32_t call)
{
	enter(story, cpu, call, 1);
	EVENT(story, cpu, fs_open, "socket:[1]", .fd = fd, .dev = 8, .mode = S_IFSOCK | 0777, .ino = ino);
	EVENT(story, cpu, sock_endpoints, NULL, .fd = fd, .ino = ino, .peer_ino = peer, .family = AF_UNIX,
	      .type = SOCK_STREAM, .state = 1);
	leave(story, cpu, fd);
}

/* A connection from the client OTHER to ONE, which accepts it. */
static void a_connection(struct story *story, uint32_t i)
{
	a_socket(story, 1, (int)(FIRST_FD + i), SOCKETS + 2ull * i, SOCKETS + 2ull * i + 1, SYS_connect);
	a_socket(story, 0, (int)(FIRST_FD + i), SOCKETS + 2ull * i + 1, SOCKETS + 2ull * i, SYS_accept);
}

static void transfer(struct story *story, uint32_t cpu, uint32_t call, int fd, uint64_t ino)
{
	enter(story, cpu, call, (uint64_t)fd);
	if (call == SYS_write)
		EVENT(story, cpu, sock_send, NULL, .ino = ino, .ret = 16, .family = AF_UNIX);
	else
		EVENT(story, cpu, sock_recv, NULL, .ino = ino, .ret = 16, .family = AF_UNIX);
	leave(story, cpu, 16);
}

static void an_open_request(struct story *story, uint32_t i)
{
	transfer(story, 1, SYS_write, (int)(FIRST_FD + i), SOCKETS + 2ull * i);
	transfer(story, 0, SYS_read, (int)(FIRST_FD + i), SOCKETS + 2ull * i + 1);
}

/* A server of its own answers a client of its own; both processes are new. */
static void a_server(struct story *story, uint32_t i)
{
	const uint32_t server = CHILDREN + 2 * i, client = server + 1;
	const int fd = FIRST_FD;

	for (uint32_t tid = server; tid <= client; tid++)
		EVENT(story, 0, sched_fork, "child", .parent_tid = ONE, .tid = tid, .tgid = tid);
	run(story, 0, ONE, server);
	run(story, 1, OTHER, client);
	a_socket(story, 1, fd, SOCKETS + 2ull * i, SOCKETS + 2ull * i + 1, SYS_connect);
	a_socket(story, 0, fd, SOCKETS + 2ull * i + 1, SOCKETS + 2ull * i, SYS_accept);
	transfer(story, 1, SYS_write, fd, SOCKETS + 2ull * i);
	transfer(story, 0, SYS_read, fd, SOCKETS + 2ull * i + 1);
	story->ns += 100;
	transfer(story, 0, SYS_write, fd, SOCKETS + 2ull * i + 1);
	transfer(story, 1, SYS_read, fd, SOCKETS + 2ull * i);
	run(story, 0, server, ONE);
	run(story, 1, client, OTHER);
}

/* Each connection is from another host. */
static void a_remote_connection(struct story *story, uint32_t i)
{
	int fd = (int)(FIRST_FD + i);

	enter(story, 0, SYS_accept, 1);
	EVENT(story, 0, fs_open, "socket:[1]", .fd = fd, .dev = 8, .mode = S_IFSOCK | 0777, .ino = TCP + i);
	EVENT(story, 0, sock_endpoints, NULL, .fd = fd, .ino = TCP + i, .family = AF_INET, .type = SOCK_STREAM,
	      .state = 1, .protocol = 6, .local_port = 80, .remote_port = 1000, .local_lo = 0x0100000affff0000ull,
	      .remote_lo = 0x0000000affff0000ull | (uint64_t)(i + 2) << 40);
	leave(story, 0, fd);
}

static void a_remote_request(struct story *story, uint32_t i)
{
	enter(story, 0, SYS_read, FIRST_FD + i);
	EVENT(story, 0, sock_recv, NULL, .ino = TCP + i, .ret = 16, .family = AF_INET, .protocol = 6);
	leave(story, 0, 16);
}

/* A datagram from OTHER to ONE, all through one socket; none is answered. */
static void a_datagram(struct story *story, uint32_t i)
{
	if (i == 0)
		for (uint32_t cpu = 0; cpu < 2; cpu++) {
			enter(story, cpu, SYS_socket, 1);
			EVENT(story, cpu, fs_open, "socket:[1]", .fd = 3, .dev = 8, .mode = S_IFSOCK | 0777,
			      .ino = 50 + cpu);
			EVENT(story, cpu, sock_endpoints, NULL, .fd = 3, .ino = 50 + cpu, .family = AF_UNIX,
			      .type = SOCK_DGRAM, .state = 7);
			leave(story, cpu, 3);
		}
	enter(story, 1, SYS_write, 3);
	EVENT(story, 1, sock_ready, NULL, .ino = 50, .family = AF_UNIX);
	EVENT(story, 1, sock_send, NULL, .ino = 51, .ret = 16, .family = AF_UNIX);
	leave(story, 1, 16);
	transfer(story, 0, SYS_read, 3, 50);
}

static void a_message_in_a_pipe(struct story *story, uint32_t i)
{
	if (i == 0) {
		BEFORE(story, start_fd, "pipe:[1]", .tgid = ONE, .fd = 4, .dev = 9, .ino = 60, .mode = S_IFIFO | 0600,
		       .flags = O_RDONLY);
		BEFORE(story, start_fd, "pipe:[1]", .tgid = OTHER, .fd = 4, .dev = 9, .ino = 60, .mode = S_IFIFO | 0600,
		       .flags = O_WRONLY);
	}
	enter(story, 1, SYS_write, 4);
	leave(story, 1, 16);
	enter(story, 0, SYS_read, 4);
	leave(story, 0, 16);
}

static void an_operation_of_a_ring(struct story *story, uint32_t i)
{
	EVENT(story, 0, sys_enter6, NULL, .nr = SYS_io_uring_enter, .arg0 = 5, .arg1 = 1);
	EVENT(story, 0, uring_enter, NULL, .ring = 0x1000);
	EVENT(story, 0, uring_submit, NULL, .req = 0x100ull * (i + 1), .user_data = i, .opcode = 22, .fd = 4);
	leave(story, 0, 1);
}

static void a_named_request(struct story *story, uint32_t i)
{
	struct {
		uint32_t tid, pad;
		uint64_t value;
	} payload = {.tid = ONE, .value = i};
	uint16_t id = steps_user_type(story, "shop:order.begin", TRACE_ROLE_REQUEST_BEGIN);

	if (i == 0)
		EVENT(story, 0, user_stream, "/bin/shop", .stream = story->streams[PROGRAM].stream, .pid = ONE,
		      .cpu = 0);
	add(story, &story->streams[PROGRAM], ++story->ns, id, &payload, sizeof(payload), NULL);
}

static void a_named_connection(struct story *story, uint32_t i)
{
	an_open_request(story, i);
	a_named_request(story, i);
}

static void a_wait_in_one_call(struct story *story, uint32_t i)
{
	if (i == 0)
		enter(story, 0, SYS_poll, 1);
	run(story, 0, ONE, 0);
	EVENT(story, 1, sched_waking, NULL, .tid = ONE);
	run(story, 0, 0, ONE);
}

static void a_stopped_wait(struct story *story, uint32_t i)
{
	a_child(story, i);
	run(story, 2, 0, CHILDREN + i);
	enter(story, 2, SYS_read, 4);
	EVENT(story, 2, sched_switch, NULL, .prev_tid = CHILDREN + i, .next_tid = 0,
	      .prev_state = TRACE_TASK_UNINTERRUPTIBLE, .next_prio = 120);
}

static void an_interrupt_that_nests(struct story *story, uint32_t i)
{
	(void)i;
	EVENT(story, 2, irq_entry, NULL, .irq = 7);
}

static void a_block_request(struct story *story, uint32_t i)
{
	EVENT(story, 0, block_issue, NULL, .sector = i, .dev = 1, .bytes = 512, .request = 0x100ull * (i + 1));
}

static void a_packet(struct story *story, uint32_t i)
{
	(void)i;
	EVENT(story, 1, net_tx, NULL, .ifindex = 1, .bytes = 100, .protocol = 0x800);
}

static void a_piece_of_work(struct story *story, uint32_t i)
{
	EVENT(story, 0, work_queue, NULL, .work = 0x100ull * (i + 1), .func = 0x5000);
}

static void a_signal(struct story *story, uint32_t i)
{
	(void)i;
	EVENT(story, 0, signal_generate, NULL, .tid = OTHER, .signal = 10, .group = 1);
}

const struct repeated_step repeated_things[] = {
	{.name = "nothing", .fn = nothing},
	{.name = "processes", .fn = a_process, .cost = THREADS},
	{.name = "threads", .fn = a_thread, .cost = THREADS},
	{.name = "children", .fn = a_child, .cost = THREADS},
	{.name = "dead children", .fn = a_dead_child, .cost = THREADS},
	{.name = "threads at a futex", .fn = a_thread_that_waits_for_a_futex, .cost = THREADS},
	{.name = "runnable processes", .fn = a_runnable_process, .cost = THREADS},
	{.name = "files", .fn = a_file, .cost = DESCRIPTORS},
	{.name = "pipes", .fn = a_pipe, .cost = DESCRIPTORS},
	{.name = "mappings", .fn = a_mapping},
	{.name = "connections", .fn = a_connection, .cost = DESCRIPTORS},
	{.name = "open requests", .fn = an_open_request, .before = a_connection, .cost = DESCRIPTORS},
	{.name = "servers", .fn = a_server, .cost = THREADS},
	{.name = "remote requests", .fn = a_remote_request, .before = a_remote_connection, .cost = REQUESTS},
	{.name = "datagrams", .fn = a_datagram},
	{.name = "messages in a pipe", .fn = a_message_in_a_pipe},
	{.name = "operations of a ring", .fn = an_operation_of_a_ring},
	{.name = "named requests", .fn = a_named_request},
	{.name = "named connections", .fn = a_named_connection, .before = a_connection, .cost = REQUESTS},
	{.name = "waits in one call", .fn = a_wait_in_one_call},
	{.name = "threads in I/O", .fn = a_stopped_wait, .cost = THREADS},
	{.name = "nested interrupts", .fn = an_interrupt_that_nests},
	{.name = "block requests", .fn = a_block_request},
	{.name = "packets", .fn = a_packet},
	{.name = "work", .fn = a_piece_of_work},
	{.name = "signals", .fn = a_signal},
	{.name = NULL},
};

/* ---- happenings ---- */

static void a_loss(struct story *story, uint32_t i)
{
	(void)i;
	EVENT(story, 2, trace_heartbeat, NULL, .realtime_ns = 0);
	lose(story, &story->streams[2]);
	EVENT(story, 2, trace_heartbeat, NULL, .realtime_ns = 0);
}

static void a_loss_here(struct story *story, uint32_t i)
{
	(void)i;
	run(story, 0, ONE, ONE);
	lose(story, &story->streams[0]);
	run(story, 0, ONE, ONE);
}

static void a_loss_of_a_program(struct story *story, uint32_t i)
{
	if (story->streams[PROGRAM].bytes == 0 || i == 0)
		a_named_request(story, 0);
	lose(story, &story->streams[PROGRAM]);
	a_named_request(story, i + 1);
}

/* In the file that a_mapping() mapped there. */
static void a_sample(struct story *story, uint32_t i)
{
	EVENT(story, 0, sample, NULL, .tid = ONE, .in_user = 1, .kernel = sizeof(struct trace_sample),
	      .user = sizeof(struct trace_sample), .ip = 0x100000ull * (i + 1) + 16);
}

static void a_change_of_mask(struct story *story, uint32_t i)
{
	uint64_t all = ~0ull;

	EVENT(story, 0, trace_mask, NULL, .mask0 = i % 2 ? all : ~(1ull << TRACE_EV_sched_switch), .mask1 = all,
	      .mask2 = all, .mask3 = all);
}

static void a_selection(struct story *story, uint32_t i)
{
	EVENT(story, 0, trace_select, i % 2 ? "all" : "none", );
}

static void a_wait(struct story *story, uint32_t i)
{
	(void)i;
	enter(story, 0, SYS_poll, 1);
	run(story, 0, ONE, 0);
	EVENT(story, 1, sched_waking, NULL, .tid = ONE);
	run(story, 0, 0, ONE);
	leave(story, 0, 1);
}

static void a_wait_for_io(struct story *story, uint32_t i)
{
	(void)i;
	enter(story, 0, SYS_read, FIRST_FD);
	EVENT(story, 0, sched_switch, NULL, .prev_tid = ONE, .next_tid = 0, .prev_state = TRACE_TASK_UNINTERRUPTIBLE,
	      .next_prio = 120);
	EVENT(story, 2, irq_entry, NULL, .irq = 7);
	EVENT(story, 2, block_complete, NULL, .sector = i, .dev = 1, .bytes = 512, .request = 0x100ull * (i + 1));
	EVENT(story, 2, sched_waking, NULL, .tid = ONE, .context = TRACE_CONTEXT_HARDIRQ);
	EVENT(story, 2, irq_exit, NULL, .irq = 7);
	run(story, 0, 0, ONE);
	leave(story, 0, 16);
}

static void a_turn(struct story *story, uint32_t i)
{
	(void)i;
	EVENT(story, 1, sched_switch, NULL, .prev_tid = OTHER, .next_tid = 0, .prev_state = TRACE_TASK_RUNNING,
	      .next_prio = 120);
	run(story, 1, 0, OTHER);
}

static void a_close(struct story *story, uint32_t i)
{
	enter(story, 0, SYS_close, FIRST_FD + i);
	leave(story, 0, 0);
}

static void a_dup(struct story *story, uint32_t i)
{
	enter(story, 0, SYS_dup, FIRST_FD + i);
	leave(story, 0, (1 << 20) + i);
}

static void an_empty_close_range(struct story *story, uint32_t i)
{
	(void)i;
	enter(story, 0, SYS_close_range, 1 << 30);
	leave(story, 0, 0);
}

static void a_read(struct story *story, uint32_t i)
{
	enter(story, 0, SYS_read, FIRST_FD + i);
	leave(story, 0, 16);
}

static void an_answer(struct story *story, uint32_t i)
{
	transfer(story, 0, SYS_write, (int)(FIRST_FD + i), SOCKETS + 2ull * i + 1);
}

static void a_question(struct story *story, uint32_t i)
{
	(void)i;
	transfer(story, 1, SYS_write, FIRST_FD, SOCKETS);
	transfer(story, 0, SYS_read, FIRST_FD, SOCKETS + 1);
}

static void a_poll(struct story *story, uint32_t i)
{
	(void)i;
	enter(story, 0, SYS_poll, 1);
	leave(story, 0, 1);
}

static void a_fork(struct story *story, uint32_t i)
{
	EVENT(story, 0, sched_fork, "child", .parent_tid = ONE, .tid = 2 * CHILDREN + i, .tgid = 2 * CHILDREN + i);
}

static void a_thread_comes_and_goes(struct story *story, uint32_t i)
{
	EVENT(story, 0, sched_fork, "thread", .parent_tid = ONE, .tid = 2 * CHILDREN + i, .tgid = ONE,
	      .clone_flags = CLONE_THREAD | CLONE_VM | CLONE_FILES);
	run(story, 2, 0, 2 * CHILDREN + i);
	EVENT(story, 2, sched_exit, NULL, .tid = 2 * CHILDREN + i, .tgid = ONE);
	EVENT(story, 2, sched_switch, NULL, .prev_tid = 2 * CHILDREN + i, .next_tid = 0, .prev_state = TRACE_TASK_DEAD,
	      .next_prio = 120);
	EVENT(story, 2, sched_free, NULL, .tid = 2 * CHILDREN + i);
}

static void an_exit(struct story *story, uint32_t i)
{
	a_fork(story, i);
	run(story, 2, 0, 2 * CHILDREN + i);
	EVENT(story, 2, sched_exit, NULL, .tid = 2 * CHILDREN + i, .tgid = 2 * CHILDREN + i, .group_dead = 1);
	EVENT(story, 2, sched_waking, NULL, .tid = ONE);
	EVENT(story, 2, sched_switch, NULL, .prev_tid = 2 * CHILDREN + i, .next_tid = 0, .prev_state = TRACE_TASK_DEAD,
	      .next_prio = 120);
	EVENT(story, 0, sched_free, NULL, .tid = 2 * CHILDREN + i);
}

static void a_child_reaped(struct story *story, uint32_t i)
{
	enter(story, 0, SYS_wait4, (uint32_t)-1);
	EVENT(story, 0, sched_free, NULL, .tid = CHILDREN + i);
	leave(story, 0, CHILDREN + i);
}

static void an_exec(struct story *story, uint32_t i)
{
	(void)i;
	EVENT(story, 1, sched_exec, "/usr/bin/make", .tid = OTHER, .old_tid = OTHER);
}

static void an_exec_here(struct story *story, uint32_t i)
{
	(void)i;
	EVENT(story, 0, sched_exec, "/usr/bin/make", .tid = ONE, .old_tid = ONE);
}

static void one_of_two_names(struct story *story, uint32_t i)
{
	EVENT(story, 0, sched_comm, i % 2 ? "odd" : "even", .tid = ONE);
}

static void a_name(struct story *story, uint32_t i)
{
	char name[16];

	snprintf(name, sizeof(name), "name %u", i);
	EVENT(story, 0, sched_comm, name, .tid = ONE);
}

static void a_mapping_of_a_file(struct story *story, uint32_t i)
{
	EVENT(story, 0, sys_enter6, NULL, .nr = SYS_mmap, .arg1 = 4096, .arg2 = 1, .arg3 = 2, .arg4 = FIRST_FD);
	leave(story, 0, 0x10000000000 + 0x10000ll * i);
}

static void an_unmapping(struct story *story, uint32_t i)
{
	enter(story, 0, SYS_munmap, 0x100000ull * (i + 1));
	leave(story, 0, 0);
}

static void a_page_fault(struct story *story, uint32_t i)
{
	EVENT(story, 0, fault_entry, NULL, .address = 0x100000ull * (i + 1), .user = 1);
	run(story, 0, ONE, 0);
	EVENT(story, 1, sched_waking, NULL, .tid = ONE);
	run(story, 0, 0, ONE);
	EVENT(story, 0, fault_exit, NULL, .major = 1);
}

static void a_completion(struct story *story, uint32_t i)
{
	EVENT(story, 0, uring_complete, NULL, .req = 0x100ull * (i + 1), .user_data = i, .res = 16, .position = i);
}

static void a_ring_call(struct story *story, uint32_t i)
{
	EVENT(story, 0, sys_enter6, NULL, .nr = SYS_io_uring_enter, .arg0 = 5, .arg2 = 1, .arg3 = 1);
	EVENT(story, 0, uring_enter, NULL, .ring = 0x1000, .seen = i);
	leave(story, 0, 0);
}

static void a_futex_wake(struct story *story, uint32_t i)
{
	EVENT(story, 0, sys_enter6, NULL, .nr = SYS_futex, .arg0 = 0x1010, .arg1 = FUTEX_WAKE_PRIVATE, .arg2 = 1);
	EVENT(story, 0, sched_waking, NULL, .tid = CHILDREN + i);
	leave(story, 0, 1);
}

static void a_futex_wait(struct story *story, uint32_t i)
{
	EVENT(story, 0, sys_enter6, NULL, .nr = SYS_futex, .arg0 = 0x1010 + 8ull * i, .arg1 = FUTEX_WAIT_PRIVATE);
	run(story, 0, ONE, 0);
	EVENT(story, 1, sched_waking, NULL, .tid = ONE);
	run(story, 0, 0, ONE);
	leave(story, 0, 0);
}

static void a_lock(struct story *story, uint32_t i)
{
	(void)i;
	enter(story, 0, SYS_flock, FIRST_FD);
	run(story, 0, ONE, 0);
	EVENT(story, 1, sched_waking, NULL, .tid = ONE);
	run(story, 0, 0, ONE);
	leave(story, 0, 0);
}

static void a_received_packet(struct story *story, uint32_t i)
{
	(void)i;
	EVENT(story, 1, softirq_entry, NULL, .vec = 3);
	EVENT(story, 1, net_rx, NULL, .ifindex = 1, .bytes = 100, .protocol = 0x800);
	EVENT(story, 1, sock_ready, NULL, .ino = SOCKETS + 1, .family = AF_UNIX);
	EVENT(story, 1, softirq_exit, NULL, .vec = 3);
}

static void work_begins(struct story *story, uint32_t i)
{
	EVENT(story, 1, work_start, NULL, .work = 0x100ull * (i + 1), .func = 0x5000);
	EVENT(story, 1, work_end, NULL, .work = 0x100ull * (i + 1));
}

static void a_delivery(struct story *story, uint32_t i)
{
	(void)i;
	EVENT(story, 1, signal_deliver, NULL, .signal = 10);
}

static void a_cpu_goes(struct story *story, uint32_t i)
{
	EVENT(story, 0, cpu_hotplug, NULL, .cpu = 2, .online = i % 2);
}

static void a_migration(struct story *story, uint32_t i)
{
	EVENT(story, 0, sched_migrate, NULL, .tid = CHILDREN + i, .from_cpu = 1, .to_cpu = 2);
}

static void a_control_group(struct story *story, uint32_t i)
{
	EVENT(story, 0, cgroup_attach, "/group", .cgroup = i + 1, .tid = ONE);
}

static void a_mark(struct story *story, uint32_t i)
{
	(void)i;
	EVENT(story, 0, trace_mark, "mark", );
}

const struct repeated_step repeated_happenings[] = {
	{.name = "samples", .fn = a_sample},
	{.name = "losses", .fn = a_loss, .cost = GAPS},
	{.name = "losses here", .fn = a_loss_here, .cost = GAPS},
	{.name = "losses of a program", .fn = a_loss_of_a_program},
	{.name = "changes of the mask", .fn = a_change_of_mask, .cost = GAPS},
	{.name = "selections", .fn = a_selection},
	{.name = "waits", .fn = a_wait},
	{.name = "waits for I/O", .fn = a_wait_for_io},
	{.name = "turns", .fn = a_turn},
	{.name = "closes", .fn = a_close},
	{.name = "dups", .fn = a_dup},
	{.name = "close_range() of none", .fn = an_empty_close_range},
	{.name = "reads", .fn = a_read},
	{.name = "answers", .fn = an_answer},
	{.name = "questions", .fn = a_question},
	{.name = "polls", .fn = a_poll},
	{.name = "forks", .fn = a_fork},
	{.name = "short threads", .fn = a_thread_comes_and_goes},
	{.name = "exits", .fn = an_exit},
	{.name = "children reaped", .fn = a_child_reaped},
	{.name = "execs", .fn = an_exec, .cost = EXECS},
	{.name = "execs here", .fn = an_exec_here, .cost = EXECS},
	{.name = "names", .fn = a_name},
	{.name = "two names in turn", .fn = one_of_two_names},
	{.name = "mmap()", .fn = a_mapping_of_a_file},
	{.name = "munmap()", .fn = an_unmapping},
	{.name = "page faults", .fn = a_page_fault},
	{.name = "completions", .fn = a_completion},
	{.name = "calls of a ring", .fn = a_ring_call},
	{.name = "futex wakes", .fn = a_futex_wake},
	{.name = "futex waits", .fn = a_futex_wait},
	{.name = "locks", .fn = a_lock},
	{.name = "received packets", .fn = a_received_packet},
	{.name = "work begun", .fn = work_begins},
	{.name = "signals delivered", .fn = a_delivery},
	{.name = "CPUs that go", .fn = a_cpu_goes},
	{.name = "migrations", .fn = a_migration},
	{.name = "control groups", .fn = a_control_group},
	{.name = "marks", .fn = a_mark},
	{.name = NULL},
};

/* ---- stories ---- */

const struct repeated_step *repeated_named(const struct repeated_step *list, const char *name)
{
	while (list->name && strcmp(list->name, name) != 0)
		list++;
	return list->name ? list : NULL;
}

void repeated_tell(struct story *story, const struct repeated_step *thing, const struct repeated_step *happening,
		   uint32_t nr)
{
	thread(story, ONE, ONE, -1);
	thread(story, OTHER, OTHER, -1);
	BEFORE(story, start_fd, "anon_inode:[io_uring]", .tgid = ONE, .fd = 5, .dev = 10, .ino = 70, .mode = S_IFREG);
	run(story, 0, 0, ONE);
	run(story, 1, 0, OTHER);
	for (uint32_t i = 0; i < nr && thing->before; i++)
		thing->before(story, i);
	for (uint32_t i = 0; i < nr; i++)
		thing->fn(story, i);
	for (uint32_t i = 0; i < nr; i++)
		happening->fn(story, i);
}
