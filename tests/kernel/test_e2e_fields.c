/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * test_e2e_fields.c - fields of events that are easy to get wrong, compared with what the program
 * itself knows.
 *
 * This is the program as well: "test_e2e_fields do TRUTH FOLDER". Root only; skipped (77) where the
 * kernel cannot be recorded.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <trace/reader.h>
#include <time.h>
#include <unistd.h>

#include "e2e_session.h"
#include "truth_file.h"
#include "unit.h"

#define RT_PRIORITY 10
#define NR_LEAVING  200
#define MANY_RIGHTS 253
#define FILE_BYTES  (4 << 20)
#define MAX_TIDS    (4 << 20)
#define LABEL	    0x6c6162656cull /* of an io_uring request */
#define DEEP	    60		    /* nested folders; their names are all still recorded */
#define TOO_DEEP    300		    /* and too many of them */
#define LONG_PATH   3000

/* ---- the program ---- */

static pthread_mutex_t lent;

static void *borrow(void *unused)
{
	struct sched_param priority = {.sched_priority = RT_PRIORITY};

	(void)unused;
	write_truth("lends", sched_setscheduler(0, SCHED_FIFO, &priority) == 0);
	pthread_mutex_lock(&lent);
	pthread_mutex_unlock(&lent);
	return NULL;
}

/* A thread that waits for a mutex lends its priority to the holder. */
static void lend_a_priority(void)
{
	pthread_mutexattr_t attributes;
	pthread_t thread;

	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&lent, &attributes);
	pthread_mutex_lock(&lent);
	need(!pthread_create(&thread, NULL, borrow, NULL), "thread");
	usleep(300000);
	pthread_mutex_unlock(&lent);
	pthread_join(thread, NULL);
	write_truth("own_prio", 120 + getpriority(PRIO_PROCESS, 0));
}

static void nothing(int signal)
{
	(void)signal;
}

static void get_signals(void)
{
	struct itimerval soon = {.it_value = {0, 100000}}; /* fires during pause() */
	sigset_t none;

	sigemptyset(&none);
	signal(SIGALRM, nothing);
	setitimer(ITIMER_REAL, &soon, NULL);
	pause();
	kill(getpid(), SIGALRM);
}

/* Sends a message with the descriptor @fd, @nr times, to a socket that asks for the sender's
 * credentials or not. */
static void send_rights(int fd, size_t nr, int with_credentials)
{
	static union {
		char bytes[4096];
		struct cmsghdr header;
	} control;
	char byte = 'x';
	struct iovec data = {&byte, 1};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control.bytes,
				 .msg_controllen = CMSG_SPACE(nr * sizeof(int))};
	int ends[2];

	need(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends), "socketpair");
	need(!setsockopt(ends[1], SOL_SOCKET, SO_PASSCRED, &with_credentials, sizeof(with_credentials)), "SO_PASSCRED");
	control.header = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
					  .cmsg_type = SCM_RIGHTS,
					  .cmsg_len = CMSG_LEN(nr * sizeof(int))};
	for (size_t i = 0; i < nr; i++)
		memcpy(CMSG_DATA(&control.header) + i * sizeof(int), &fd, sizeof(fd));
	need(sendmsg(ends[0], &message, 0) == 1, "sendmsg");
	message.msg_controllen = sizeof(control);
	need(recvmsg(ends[1], &message, 0) == 1 && !(message.msg_flags & MSG_CTRUNC), "recvmsg");
	need((control.header.cmsg_type == SCM_RIGHTS) == !with_credentials, "the order of control messages");
}

static void pass_descriptors(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat stat;

	need(fd >= 0 && !fstat(fd, &stat), path);
	write_truth("ino", (long long)stat.st_ino);
	send_rights(fd, 1, 0);
	send_rights(fd, 1, 1);
	send_rights(fd, MANY_RIGHTS, 0);
}

static volatile int both_there;

static void pin(int cpu)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	CPU_SET(cpu, &cpus);
	sched_setaffinity(0, sizeof(cpus), &cpus);
}

static void leave_together(void)
{
	__atomic_fetch_add(&both_there, 1, __ATOMIC_SEQ_CST);
	for (long tries = 0; both_there < 2; tries++)
		if (tries > 10000)
			sched_yield();
	syscall(SYS_exit, 0);
}

static void *leave(void *unused)
{
	(void)unused;
	pin(1);
	leave_together();
	return NULL;
}

/* Processes of two threads that exit at the same time, on two CPUs. */
static void leave_in_pairs(void)
{
	pthread_t thread;
	pid_t pid;

	for (int i = 0; i < NR_LEAVING; i++) {
		pid = fork();
		if (pid == 0) {
			pin(0);
			need(!pthread_create(&thread, NULL, leave, NULL), "thread");
			leave_together();
		}
		waitpid(pid, NULL, 0);
	}
}

static long long resident_pages(int fd)
{
	static unsigned char there[FILE_BYTES / 4096];
	void *map = mmap(NULL, FILE_BYTES, PROT_READ, MAP_SHARED, fd, 0);
	long long pages = 0;

	need(map != MAP_FAILED && !mincore(map, FILE_BYTES, there), "mincore");
	for (size_t i = 0; i < sizeof(there); i++)
		pages += there[i] & 1;
	munmap(map, FILE_BYTES);
	return pages;
}

static void read_a_file(const char *folder)
{
	static char buffer[1 << 20];
	char path[200];
	struct timespec now;
	struct stat stat;
	int fd;

	snprintf(path, sizeof(path), "%s/pages", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	need(fd >= 0 && !fstat(fd, &stat), path);
	clock_gettime(CLOCK_MONOTONIC, &now);
	for (int i = 0; i < FILE_BYTES; i += (int)sizeof(buffer))
		need(write(fd, buffer, sizeof(buffer)) == sizeof(buffer), "write");
	fsync(fd);
	posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	for (int i = 0; i < FILE_BYTES; i += (int)sizeof(buffer))
		need(pread(fd, buffer, sizeof(buffer), i) == sizeof(buffer), "read");
	write_truth("file_ino", (long long)stat.st_ino);
	write_truth("file_dev", (long long)major(stat.st_dev) << 20 | minor(stat.st_dev)); /* as the kernel has it */
	write_truth("file_made_ns", now.tv_sec * 1000000000ll + now.tv_nsec);
	write_truth("file_pages", resident_pages(fd));
	clock_gettime(CLOCK_MONOTONIC, &now);
	write_truth("file_counted_ns", now.tv_sec * 1000000000ll + now.tv_nsec);
	close(fd);
}

static void put_line(const char *path, long long number)
{
	FILE *file = fopen(path, "we");

	need(file && fprintf(file, "%lld\n", number) > 0 && !fclose(file), path);
}

/* Moves into a group of a version 1 hierarchy without controllers. */
static void move_in_another_hierarchy(const char *folder)
{
	char root[200], group[220], tasks[240];
	pid_t pid;

	snprintf(root, sizeof(root), "%s/cgroup", folder);
	snprintf(group, sizeof(group), "%s/group", root);
	snprintf(tasks, sizeof(tasks), "%s/tasks", group);
	need(!mkdir(root, 0700), root);
	if (mount("none", root, "cgroup", 0, "none,name=trace-fields") < 0)
		return;
	need(!mkdir(group, 0700) || access(group, F_OK) == 0, group);
	pid = fork();
	if (pid == 0) {
		pause();
		_exit(0);
	}
	put_line(tasks, pid);
	write_truth("moved", pid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	usleep(20000); /* until it has left the group */
	rmdir(group);
	umount(root);
}

/**
 * struct ring - a small io_uring, without the library
 */
struct ring {
	struct io_uring_params params;
	struct io_uring_sqe *entries;
	char *submitted, *completed;
	int fd;
};

static void *ring_map(const struct ring *ring, size_t bytes, off_t what)
{
	void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, ring->fd, what);

	need(map != MAP_FAILED, "io_uring's memory");
	return map;
}

static bool ring_new(struct ring *ring)
{
	memset(ring, 0, sizeof(*ring));
	ring->fd = (int)syscall(SYS_io_uring_setup, 8, &ring->params);
	if (ring->fd < 0)
		return false;
	ring->submitted = ring_map(ring, ring->params.sq_off.array + ring->params.sq_entries * sizeof(uint32_t),
				   IORING_OFF_SQ_RING);
	ring->completed = ring_map(ring,
				   ring->params.cq_off.cqes + ring->params.cq_entries * sizeof(struct io_uring_cqe),
				   IORING_OFF_CQ_RING);
	ring->entries = ring_map(ring, ring->params.sq_entries * sizeof(*ring->entries), IORING_OFF_SQES);
	return true;
}

static void ring_submit(struct ring *ring, const struct io_uring_sqe *entry)
{
	uint32_t *tail = (uint32_t *)(ring->submitted + ring->params.sq_off.tail),
		 idx = *tail & (ring->params.sq_entries - 1);

	((uint32_t *)(ring->submitted + ring->params.sq_off.array))[idx] = idx;
	ring->entries[idx] = *entry;
	__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
	need(syscall(SYS_io_uring_enter, ring->fd, 1, 0, 0, NULL, 0) == 1, "io_uring_enter");
}

static int ring_take(struct ring *ring)
{
	uint32_t *head = (uint32_t *)(ring->completed + ring->params.cq_off.head),
		 *tail = (uint32_t *)(ring->completed + ring->params.cq_off.tail);
	int result;

	while (__atomic_load_n(tail, __ATOMIC_ACQUIRE) == *head)
		syscall(SYS_io_uring_enter, ring->fd, 0, 1, IORING_ENTER_GETEVENTS, NULL, 0);
	result = ((struct io_uring_cqe *)(ring->completed +
					  ring->params.cq_off.cqes))[*head & (ring->params.cq_entries - 1)]
			 .res;
	__atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
	return result;
}

/* Looks at a datagram by a call and by a ring, and takes it. */
static void look_at_a_datagram(void)
{
	static char buffer[64];
	int ends[2];
	struct stat status;
	struct ring ring;

	need(!socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) && send(ends[0], "hello", 5, 0) == 5 &&
		     !fstat(ends[1], &status),
	     "datagram");
	need(recv(ends[1], buffer, sizeof(buffer), MSG_PEEK) == 5, "look");
	if (ring_new(&ring)) {
		struct io_uring_sqe look = {.opcode = IORING_OP_RECV,
					    .fd = ends[1],
					    .addr = (uintptr_t)buffer,
					    .len = sizeof(buffer),
					    .msg_flags = MSG_PEEK};

		ring_submit(&ring, &look);
		write_truth("looked_by_ring", ring_take(&ring));
		close(ring.fd);
	}
	need(recv(ends[1], buffer, sizeof(buffer), 0) == 5, "receive");
	write_truth("looked_ino", (long long)status.st_ino);
	close(ends[0]);
	close(ends[1]);
}

/* A request that receives repeatedly has the label of an earlier, completed accept, while another
 * request accepts. */
static void use_a_label_again(void)
{
	static char buffer[64];
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
	socklen_t bytes = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0),
	    client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), server;
	struct ring ring;

	need(!bind(listener, (struct sockaddr *)&address, bytes) && !listen(listener, 5) &&
		     !getsockname(listener, (struct sockaddr *)&address, &bytes) &&
		     !connect(client, (struct sockaddr *)&address, bytes),
	     "connection");
	if (!ring_new(&ring))
		return;
	ring_submit(&ring, &(struct io_uring_sqe){.opcode = IORING_OP_ACCEPT, .fd = listener, .user_data = LABEL});
	server = ring_take(&ring);
	ring_submit(&ring, &(struct io_uring_sqe){.opcode = IORING_OP_ACCEPT, .fd = listener, .user_data = LABEL + 1});
	ring_submit(&ring, &(struct io_uring_sqe){.opcode = IORING_OP_PROVIDE_BUFFERS,
						  .fd = 1,
						  .addr = (uintptr_t)buffer,
						  .len = sizeof(buffer)});
	need(ring_take(&ring) >= 0, "buffers");
	ring_submit(&ring, &(struct io_uring_sqe){.opcode = IORING_OP_RECV,
						  .fd = server,
						  .ioprio = IORING_RECV_MULTISHOT,
						  .flags = IOSQE_BUFFER_SELECT,
						  .user_data = LABEL});
	need(write(client, "hello", 5) == 5, "write");
	write_truth("received", ring_take(&ring));
	close(ring.fd);
}

/* A file in @depth folders. */
static void open_below(const char *folder, int depth, const char *name)
{
	int at = open(folder, O_DIRECTORY | O_CLOEXEC), below;

	for (int i = 0; i < depth; i++, at = below) {
		need(!mkdirat(at, "d", 0700) || errno == EEXIST, "mkdir");
		below = openat(at, "d", O_PATH | O_DIRECTORY | O_CLOEXEC);
		close(at);
	}
	need(close(openat(at, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600)) == 0, name);
	close(at);
}

static void name_files(const char *folder)
{
	char path[LONG_PATH + 1];

	open_below(folder, DEEP, "deep");
	open_below(folder, TOO_DEEP, "too-deep");
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = '\0';
	memcpy(path, "/long/", 6);
	need(access(path, F_OK) < 0, "a long path");
	need(close(open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC)) == 0, "namespace");
}

/* Most commands of bpf() return 0, which then is no descriptor. */
static void look_up_in_a_map(const char *folder)
{
	union bpf_attr map = {.map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 8, .max_entries = 1};
	union bpf_attr look = {0};
	uint64_t value = 1;
	uint32_t key = 0;
	char path[256];
	struct stat stat;
	int fd;

	snprintf(path, sizeof(path), "%s/input", folder);
	fd = open(path, O_CREAT | O_RDONLY | O_CLOEXEC, 0600);
	need(dup2(fd, 0) == 0 && !fstat(0, &stat), path);
	write_truth("input_ino", (long long)stat.st_ino);
	look.map_fd = (uint32_t)syscall(SYS_bpf, BPF_MAP_CREATE, &map, sizeof(map));
	look.key = (uintptr_t)&key;
	look.value = (uintptr_t)&value;
	need(!syscall(SYS_bpf, BPF_MAP_LOOKUP_ELEM, &look, sizeof(look)), "map");
	close((int)look.map_fd);
}

static int do_all(const char *path, const char *folder)
{
	truth = fopen(path, "we");
	need(truth, path);
	write_truth("pid", getpid());
	lend_a_priority();
	get_signals();
	pass_descriptors(path);
	leave_in_pairs();
	read_a_file(folder);
	use_a_label_again();
	look_at_a_datagram();
	move_in_another_hierarchy(folder);
	name_files(folder);
	look_up_in_a_map(folder);
	return 0;
}

/* ---- its recording ---- */

static const char *self;
static struct session session;
static struct trace *trace;

/**
 * struct search - the events of one type that a case looks at
 */
struct search {
	struct trace_cursor *cursor;
	uint64_t mask[TRACE_MASK_WORDS];
};

static struct search search_for(uint32_t id)
{
	struct search search = {0};

	search.mask[id / 64] = 1ull << (id % 64);
	search.cursor = trace_cursor_new(trace,
					 &(struct trace_cursor_options){.size = sizeof(struct trace_cursor_options),
									.mask = search.mask,
									.no_lost = true},
					 NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(search.cursor);
	return search;
}

static const void *search_next(struct search *search)
{
	const struct trace_event *event = trace_cursor_next(search->cursor);

	if (!event)
		search->cursor = trace_cursor_free(search->cursor);
	return event ? event->payload : NULL;
}

static long long truth_of(const char *key)
{
	return session_truth(&session, key);
}

/* Once for all cases. */
static void record(void)
{
	if (trace)
		return;
	session_begin(&session);
	CU_ASSERT_EQUAL_FATAL(session_run("%s/tracedaemon -b2097152 -e default,fs_cache_add,fs_cache_delete %s -- %s "
					  "do %s %s 2>%s/stderr",
					  TRACE_BIN, session.trace, self, session.truth, session.folder,
					  session.folder),
			      0);
	trace = trace_open(session.trace, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(trace);
}

static void a_lent_priority_is_returned(void)
{
	const struct trace_sched_prio *prio;
	struct search search;
	int nr = 0;

	record();
	if (truth_of("lends") != 1) /* not allowed on this system */
		return;
	search = search_for(TRACE_EV_sched_prio);
	while ((prio = search_next(&search))) {
		if (prio->tid != truth_of("pid"))
			continue;
		CU_ASSERT_EQUAL(prio->old_prio, nr ? 99 - RT_PRIORITY : truth_of("own_prio"));
		CU_ASSERT_EQUAL(prio->new_prio, nr ? truth_of("own_prio") : 99 - RT_PRIORITY);
		nr++;
	}
	CU_ASSERT_EQUAL(nr, 2);
}

static void a_signal_says_whether_the_kernel_made_it(void)
{
	const struct trace_signal_generate *signal;
	struct search search;
	int nr = 0;

	record();
	search = search_for(TRACE_EV_signal_generate);
	while ((signal = search_next(&search))) {
		if (signal->tid != truth_of("pid") || signal->signal != SIGALRM)
			continue;
		CU_ASSERT_EQUAL(signal->code, nr ? SI_USER : SI_KERNEL);
		nr++;
	}
	CU_ASSERT_EQUAL(nr, 2);
}

static void all_descriptors_of_messages_are_recorded(void)
{
	const struct trace_fs_open *open;
	struct search search;
	int nr = 0;

	record();
	search = search_for(TRACE_EV_fs_open);
	while ((open = search_next(&search)))
		nr += (long long)open->ino == truth_of("ino") && (open->flags & O_ACCMODE) == O_RDONLY;
	CU_ASSERT_EQUAL(nr, 1 + 1 + 1 + MANY_RIGHTS);
}

static void one_thread_is_the_last_of_its_process(void)
{
	unsigned char *nr_last = calloc(MAX_TIDS + 1, 1);
	const struct trace_sched_exit *exit;
	int nr = 0, nr_twice = 0;
	struct search search;

	record();
	search = search_for(TRACE_EV_sched_exit);
	while ((exit = search_next(&search)))
		if (exit->group_dead && exit->tgid <= MAX_TIDS) {
			nr++;
			nr_twice += nr_last[exit->tgid]++ > 0;
		}
	CU_ASSERT_TRUE(nr >= NR_LEAVING);
	CU_ASSERT_EQUAL(nr_twice, 0);
	free(nr_last);
}

/* An inode of another program's file may have had the number before; memory may be needed later. */
static long long pages_of(uint32_t id)
{
	long long pages = 0, ino = truth_of("file_ino"), dev = truth_of("file_dev"), made_ns = truth_of("file_made_ns"),
		  counted_ns = truth_of("file_counted_ns");
	struct search search = search_for(id);
	const struct trace_event *event;

	while ((event = trace_cursor_next(search.cursor))) {
		const struct trace_fs_cache_add *change = event->payload; /* fs_cache_delete has the same fields */

		if ((long long)change->ino == ino && (long long)change->dev == dev &&
		    (long long)event->ts_ns >= made_ns && (long long)event->ts_ns <= counted_ns)
			pages += 1ll << change->order;
	}
	CU_ASSERT_EQUAL(trace_cursor_end(search.cursor, NULL), 0);
	return pages;
}

static void the_orders_of_cached_pages_add_up(void)
{
	record();
	CU_ASSERT_EQUAL(pages_of(TRACE_EV_fs_cache_add) - pages_of(TRACE_EV_fs_cache_delete), truth_of("file_pages"));
	CU_ASSERT_TRUE(pages_of(TRACE_EV_fs_cache_add) >= FILE_BYTES / 4096);
}

static int nr_of_looked(uint32_t id)
{
	long long ino = truth_of("looked_ino");
	struct search search = search_for(id);
	const struct trace_sock_look *bytes; /* sock_recv has the same fields */
	int nr = 0;

	while ((bytes = search_next(&search)))
		if ((long long)bytes->ino == ino) {
			CU_ASSERT_EQUAL(bytes->ret, 5);
			nr++;
		}
	return nr;
}

static void a_look_at_a_socket_is_told_from_a_receipt(void)
{
	record();
	CU_ASSERT_EQUAL(nr_of_looked(TRACE_EV_sock_look), 1 + (truth_of("looked_by_ring") == 5));
	CU_ASSERT_EQUAL(nr_of_looked(TRACE_EV_sock_recv), 1);
}

static void a_multishot_receive_is_no_accepted_connection(void)
{
	const struct trace_uring_complete *complete;
	struct search search;
	int nr = 0;

	record();
	if (truth_of("received") != 5) /* io_uring is not allowed on this system, or does not support it yet */
		return;
	search = search_for(TRACE_EV_uring_complete);
	while ((complete = search_next(&search)))
		if (complete->user_data == LABEL && complete->flags & IORING_CQE_F_MORE) {
			CU_ASSERT_EQUAL(complete->res, 5);
			CU_ASSERT_EQUAL(complete->req, 0); /* a multishot result that is no connection has no request */
			nr++;
		}
	CU_ASSERT_EQUAL(nr, 1);
}

/* read_a_file() first writes one to its disk, and flushes the disk's cache. */
static void a_flush_is_not_at_the_highest_sector(void)
{
	static const uint32_t ids[] = {TRACE_EV_block_issue, TRACE_EV_block_complete};
	const struct trace_block_issue *request; /* block_complete begins with the same field */

	record();
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		struct search search = search_for(ids[i]);

		while ((request = search_next(&search)))
			CU_ASSERT_NOT_EQUAL(request->sector, UINT64_MAX);
	}
}

static void groups_of_other_hierarchies_are_none(void)
{
	const struct trace_cgroup_attach *attach;
	struct search search;

	record();
	search = search_for(TRACE_EV_cgroup_attach);
	while ((attach = search_next(&search)))
		CU_ASSERT_NOT_EQUAL(attach->tid, truth_of("moved"));
}

/* The text of the one event of this type with a text that begins with @begin and ends with @end. */
static void find_text(uint32_t id, const char *begin, const char *end, char text[2048])
{
	struct search search = search_for(id);
	const struct trace_event *event;
	int nr = 0;

	while ((event = trace_cursor_next(search.cursor))) {
		const char *found = trace_event_string(event);
		size_t bytes = strlen(found);

		if (strncmp(found, begin, strlen(begin)) != 0 || bytes < strlen(end) ||
		    strcmp(found + bytes - strlen(end), end) != 0)
			continue;
		snprintf(text, 2048, "%s", found);
		nr++;
	}
	CU_ASSERT_EQUAL(trace_cursor_end(search.cursor, NULL), 0);
	CU_ASSERT_EQUAL_FATAL(nr, 1);
}

static void a_path_is_whole_or_says_that_it_is_not(void)
{
	char text[2048], whole[512];
	size_t at;

	record();
	at = (size_t)snprintf(whole, sizeof(whole), "%s", session.folder);
	for (int i = 0; i < DEEP; i++)
		at += (size_t)snprintf(whole + at, sizeof(whole) - at, "/d");
	snprintf(whole + at, sizeof(whole) - at, "/deep");
	find_text(TRACE_EV_fs_open, "", "/d/deep", text);
	CU_ASSERT_STRING_EQUAL(text, whole);
	find_text(TRACE_EV_fs_open, "", "/d/too-deep", text);
	CU_ASSERT_EQUAL(strncmp(text, ".../d/", 6), 0);
	find_text(TRACE_EV_sys_path, "/long/x", "", text);
	CU_ASSERT_EQUAL(strcmp(text + strlen(text) - 5, "xx..."), 0);
}

/* Other programs may open their network namespace, too, which is the same. */
static void files_without_a_name_are_not_the_root(void)
{
	const struct trace_event *event;
	struct search search;
	struct stat status;
	int nr = 0;

	record();
	CU_ASSERT_EQUAL_FATAL(stat("/proc/self/ns/net", &status), 0);
	search = search_for(TRACE_EV_fs_open);
	while ((event = trace_cursor_next(search.cursor))) {
		const struct trace_fs_open *open = event->payload;

		if (open->ino != status.st_ino || open->mode != status.st_mode)
			continue;
		CU_ASSERT_STRING_EQUAL(trace_event_string(event), "[nsfs]");
		nr++;
	}
	CU_ASSERT_EQUAL(trace_cursor_end(search.cursor, NULL), 0);
	CU_ASSERT(nr >= 1);
}

static void a_command_of_bpf_opens_nothing(void)
{
	const struct trace_fs_open *open;
	struct search search;
	int nr = 0;

	record();
	search = search_for(TRACE_EV_fs_open);
	while ((open = search_next(&search)))
		nr += (long long)open->ino == truth_of("input_ino");
	CU_ASSERT_EQUAL(nr, 1);
}

static const struct unit_case cases[] = {
	{"a_lent_priority_is_returned", a_lent_priority_is_returned},
	{"a_signal_says_whether_the_kernel_made_it", a_signal_says_whether_the_kernel_made_it},
	{"all_descriptors_of_messages_are_recorded", all_descriptors_of_messages_are_recorded},
	{"one_thread_is_the_last_of_its_process", one_thread_is_the_last_of_its_process},
	{"the_orders_of_cached_pages_add_up", the_orders_of_cached_pages_add_up},
	{"a_look_at_a_socket_is_told_from_a_receipt", a_look_at_a_socket_is_told_from_a_receipt},
	{"a_multishot_receive_is_no_accepted_connection", a_multishot_receive_is_no_accepted_connection},
	{"a_flush_is_not_at_the_highest_sector", a_flush_is_not_at_the_highest_sector},
	{"groups_of_other_hierarchies_are_none", groups_of_other_hierarchies_are_none},
	{"a_path_is_whole_or_says_that_it_is_not", a_path_is_whole_or_says_that_it_is_not},
	{"files_without_a_name_are_not_the_root", files_without_a_name_are_not_the_root},
	{"a_command_of_bpf_opens_nothing", a_command_of_bpf_opens_nothing},
	{NULL, NULL},
};

int main(int argc, char **argv)
{
	int status;

	if (argc == 4 && !strcmp(argv[1], "do"))
		return do_all(argv[2], argv[3]);
	if (geteuid() != 0 || access("/sys/kernel/btf/vmlinux", R_OK) != 0) {
		fprintf(stderr, "test_e2e_fields: needs root and a kernel with BTF\n");
		return 77;
	}
	self = argv[0];
	status = unit_main("fields of events", cases, argc, argv);
	trace_close(trace);
	session_end(&session);
	return status;
}
