/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * mute_files.c - a file system of a user without privileges (FUSE, below an overlay that root can
 * read), whose server answers until a program uses it, and then never again.
 *
 * mute_files KIND FOLDER PROGRAM: KIND says what the program does with a file of that system, whose
 * content is that of PROGRAM:
 *   exec    executes it; PROGRAM copies its input to its output, as cat(1)
 *   map     maps it as code, and executes in it no more
 *   poll    is in poll(), with the descriptors in a page of it
 *   flush   as map, but the server then answers all but the close of a file
 *   serve   as map, but the server answers for ever
 *   offer   sends the open file to the daemon in place of its trace buffers, again and again
 *   lock    reads a page of it through /proc/self/mem, which holds the lock of its mappings, while
 *           another thread waits for that lock to change them: the kernel lets no later reader pass
 * Prints "mute PID" when the server has stopped answering and the program waits for it, and ends
 * when standard input is closed: then the kernel aborts the connection, because no other process
 * has its descriptor.
 *
 * Each step waits for the one before it, however slow the machine is: the program tells that it
 * uses the file, the server tells its first call without an answer, and /proc tells that a thread
 * waits for the lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <trace/user_memory.h>
#include <unistd.h>

#define PAGE	      4096u
#define ROOT_NODE     1u
#define FILE_NODE     2u
#define REQUEST_BYTES (1u << 20)
#define FILE_NAME     "file"
#define ALARM_SECONDS 300 /* then the server ends by itself, and with it all waits */

static struct {
	int fd;
	char *content;
	size_t bytes;
	bool is_mute;	   /* atomically */
	bool mutes_flush;  /* and nothing else */
	int muted[2];	   /* a pipe that is closed then */
	int used[2];	   /* a pipe: the program uses the file, and later the number of a thread */
	int unanswered[2]; /* a pipe: the server did not answer the program */
	int holds[2];	   /* a pipe that is closed when a thread of the program holds the lock */
	pid_t program;
	char folder[128];
} server;

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* ---- the server ---- */

static void answer(uint64_t unique, int err, const void *data, size_t bytes)
{
	static struct {
		struct fuse_out_header head;
		char data[256 << 10];
	} out;

	out.head =
		(struct fuse_out_header){.len = (uint32_t)(sizeof(out.head) + bytes), .error = err, .unique = unique};
	if (bytes)
		memcpy(out.data, data, bytes);
	if (write(server.fd, &out, out.head.len) < 0 && errno != ENOENT && errno != EINTR)
		perror("answer");
}

static struct fuse_attr attributes(uint64_t node)
{
	bool is_file = node == FILE_NODE;

	return (struct fuse_attr){.ino = node,
				  .nlink = is_file ? 1 : 2,
				  .blksize = PAGE,
				  .mode = is_file ? S_IFREG | 0777 : S_IFDIR | 0777,
				  .size = is_file ? server.bytes : 0,
				  .blocks = is_file ? server.bytes / 512 + 1 : 0};
}

static void look_up(const struct fuse_in_header *head, const char *name)
{
	struct fuse_entry_out out = {
		.nodeid = FILE_NODE, .generation = 1, .entry_valid = 3600, .attr = attributes(FILE_NODE)};
	bool is_there = head->nodeid == ROOT_NODE && strcmp(name, FILE_NAME) == 0;

	answer(head->unique, is_there ? 0 : -ENOENT, &out, is_there ? sizeof(out) : 0);
}

static void read_file(const struct fuse_in_header *head, const struct fuse_read_in *in)
{
	size_t at = in->offset < server.bytes ? in->offset : server.bytes,
	       bytes = in->size < server.bytes - at ? in->size : server.bytes - at;

	answer(head->unique, 0, server.content + at, bytes);
}

static void serve_one(const struct fuse_in_header *head)
{
	struct fuse_init_out init = {.major = 7, .minor = 31, .max_write = PAGE};
	struct fuse_attr_out status = {.attr = attributes(head->nodeid)};
	struct fuse_open_out opened = {.fh = head->nodeid};
	struct fuse_statfs_out system = {.st = {.bsize = PAGE, .namelen = 255}};

	switch (head->opcode) {
	case FUSE_INIT:
		init.max_readahead = ((const struct fuse_init_in *)(head + 1))->max_readahead;
		answer(head->unique, 0, &init, sizeof(init));
		break;
	case FUSE_GETATTR:
		answer(head->unique, 0, &status, sizeof(status));
		break;
	case FUSE_LOOKUP:
		look_up(head, (const char *)(head + 1));
		break;
	case FUSE_OPEN:
	case FUSE_OPENDIR:
		answer(head->unique, 0, &opened, sizeof(opened));
		break;
	case FUSE_READ:
		read_file(head, (const struct fuse_read_in *)(head + 1));
		break;
	case FUSE_STATFS:
		answer(head->unique, 0, &system, sizeof(system));
		break;
	case FUSE_FORGET:
	case FUSE_BATCH_FORGET:
		break;
	case FUSE_RELEASE:
	case FUSE_RELEASEDIR:
	case FUSE_FLUSH:
	case FUSE_READDIR:
	case FUSE_ACCESS:
		answer(head->unique, 0, NULL, 0);
		break;
	default:
		answer(head->unique, -ENOSYS, NULL, 0);
	}
}

/* The kernel tells the thread. */
static unsigned int process_of(unsigned int thread)
{
	char path[48], line[128];
	unsigned int process = thread;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%u/status", thread);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		sscanf(line, "Tgid: %u", &process);
	if (file)
		fclose(file);
	return process;
}

static void note_unanswered(const struct fuse_in_header *head)
{
	unsigned int process = process_of(head->pid);

	fprintf(stderr, "call %u of process %u has no answer\n", head->opcode, process);
	if (process == (unsigned int)server.program && write(server.unanswered[1], "", 1) < 0)
		perror("pipe");
}

static void *serve(void *unused)
{
	static _Alignas(8) char request[REQUEST_BYTES];

	for (;;) {
		ssize_t bytes = read(server.fd, request, sizeof(request));
		const struct fuse_in_header *head = (const void *)request;

		if (bytes < 0 && (errno == EINTR || errno == ENOENT))
			continue;
		if (bytes < (ssize_t)sizeof(*head))
			return unused;
		if (!__atomic_load_n(&server.is_mute, __ATOMIC_ACQUIRE) ||
		    (server.mutes_flush && head->opcode != FUSE_FLUSH))
			serve_one(head);
		else
			note_unanswered(head);
	}
}

/* ---- mounts ---- */

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		fail(path);
	close(fd);
}

static const char *below(const char *name)
{
	static char path[4][192];
	static unsigned int next;

	next = (next + 1) % 4;
	snprintf(path[next], sizeof(path[next]), "%s/%s", server.folder, name);
	return path[next];
}

static void enter_namespaces(void)
{
	unsigned int uid = getuid(), gid = getgid();
	char map[32];

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		fail("unshare");
	write_text("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	write_text("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	write_text("/proc/self/gid_map", map);
}

static void mount_files(const char *program)
{
	int fd = open(program, O_RDONLY | O_CLOEXEC);
	char options[512];
	struct stat status;
	pthread_t thread;

	if (fd < 0 || fstat(fd, &status) < 0)
		fail(program);
	server.bytes = (size_t)status.st_size;
	server.content = mmap(NULL, server.bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	if (mkdir(below("lower"), 0755) < 0 || mkdir(below("other"), 0755) < 0 || mkdir(below("all"), 0755) < 0)
		fail(server.folder);
	server.fd = open(getenv("MUTE_DEVICE") ?: "/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0", server.fd);
	if (server.fd < 0 || mount("mute", below("lower"), "fuse", MS_NODEV, options) < 0)
		fail("fuse");
	pthread_create(&thread, NULL, serve, NULL);
	snprintf(options, sizeof(options), "lowerdir=%s:%s", below("lower"), below("other"));
	if (mount("overlay", below("all"), "overlay", 0, options) < 0)
		fail("overlay");
}

/* ---- the program ---- */

static char *map_file(int protection)
{
	int fd = open(below("all/" FILE_NAME), O_RDONLY | O_CLOEXEC);
	char *page = mmap(NULL, PAGE, protection, MAP_PRIVATE, fd, 0);

	if (fd < 0 || page == MAP_FAILED)
		fail("map");
	close(fd);
	return page;
}

/* Tells the server that the program uses the file, and waits until the server is mute. */
static void await_mute(void)
{
	const pid_t none = 0;
	char byte;

	if (write(server.used[1], &none, sizeof(none)) < 0 || read(server.muted[0], &byte, 1) < 0)
		fail("pipe");
}

/* The program itself waits for the page, in the call. */
static void poll_for_ever(void)
{
	struct pollfd *page = (struct pollfd *)map_file(PROT_READ | PROT_WRITE);

	await_mute();
	poll(page, 1, -1);
}

static void *read_own_memory(void *page)
{
	int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
	char byte;

	if (fd < 0 || pread(fd, &byte, 1, (off_t)(uintptr_t)page) < 0)
		perror("/proc/self/mem");
	return NULL;
}

static void *change_mappings(void *unused)
{
	pid_t thread = gettid();
	char byte;

	if (read(server.holds[0], &byte, 1) < 0 || write(server.used[1], &thread, sizeof(thread)) < 0)
		fail("pipe");
	return mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED ? unused : NULL;
}

/* The daemon opens what looks like the trace buffers of a program, by its mapping. */
static void map_program_memory(void)
{
	char name[USER_MEMORY_NAME_BYTES];
	int fd;

	user_memory_name(getenv("TRACER_SOCKET"), name);
	fd = memfd_create(name, MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, PAGE) < 0 || mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED)
		fail("memfd");
	close(fd);
}

static void lock_mappings(void)
{
	char *page = map_file(PROT_READ);
	pthread_t threads[2];

	map_program_memory();
	await_mute();
	pthread_create(&threads[1], NULL, change_mappings, NULL); /* first: its stack is a mapping, too */
	pthread_create(&threads[0], NULL, read_own_memory, page);
	for (;;)
		pause();
}

/* The daemon may begin to listen later. */
static int connect_to_daemon(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", getenv("TRACER_SOCKET"));
	while ((fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)) >= 0) {
		if (!connect(fd, (const struct sockaddr *)&address, sizeof(address)))
			return fd;
		close(fd);
		usleep(20000);
	}
	fail("socket");
	return -1;
}

static void offer_file(void)
{
	struct user_offer offer = {USER_MEMORY_MAGIC, USER_MEMORY_VERSION, (uint32_t)getpid()};
	struct iovec text = {&offer, sizeof(offer)};
	union {
		struct cmsghdr head;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = {.head = {CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS}};
	struct msghdr message = {
		.msg_iov = &text, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof(control)};
	int file = open(below("all/" FILE_NAME), O_RDONLY | O_CLOEXEC);

	if (file < 0)
		fail("offer");
	await_mute();
	memcpy(CMSG_DATA(&control.head), &file, sizeof(file));
	for (int i = 0; i < 10; i++)
		if (sendmsg(connect_to_daemon(), &message, MSG_NOSIGNAL) < 0)
			perror("sendmsg");
	for (;;)
		pause();
}

/* It copies the number that the server wrote. */
static void execute_file(void)
{
	if (dup2(server.muted[0], STDIN_FILENO) < 0 || dup2(server.used[1], STDOUT_FILENO) < 0)
		fail("pipe");
	execl(below("all/" FILE_NAME), FILE_NAME, NULL);
	fail("exec");
}

static void run_program(const char *kind)
{
	volatile char byte;

	close(server.fd);
	close(server.muted[1]);
	close(server.holds[1]);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (strcmp(kind, "exec") == 0)
		execute_file();
	if (strcmp(kind, "offer") == 0)
		offer_file();
	if (strcmp(kind, "map") == 0 || strcmp(kind, "flush") == 0 || strcmp(kind, "serve") == 0) {
		byte = *map_file(PROT_READ | PROT_EXEC);
		(void)byte;
		await_mute();
		for (;;)
			pause();
	}
	if (strcmp(kind, "poll") == 0)
		poll_for_ever();
	if (strcmp(kind, "lock") == 0)
		lock_mappings();
	fail(kind);
}

/* Is it in the state D of proc(5)? */
static bool waits_for_lock(pid_t thread)
{
	char path[64], text[256] = "", *name_end;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)server.program, (int)thread);
	file = fopen(path, "re");
	if (!file || !fgets(text, sizeof(text), file))
		fail(path);
	fclose(file);
	name_end = strrchr(text, ')');
	return name_end && strncmp(name_end, ") D", 3) == 0;
}

/* Ends with the program. */
static pid_t await_use(void)
{
	pid_t thread;

	if (read(server.used[0], &thread, sizeof(thread)) != sizeof(thread))
		fail("program");
	return thread;
}

static void become_mute(const char *kind)
{
	const pid_t none = 0;
	bool is_locked = strcmp(kind, "lock") == 0;
	char byte;

	if (strcmp(kind, "exec") == 0 && write(server.muted[1], &none, sizeof(none)) < 0)
		fail("pipe");
	await_use();
	__atomic_store_n(&server.is_mute, strcmp(kind, "serve") != 0, __ATOMIC_RELEASE);
	if (strcmp(kind, "exec") != 0) /* which would end */
		close(server.muted[1]);
	if ((is_locked || strcmp(kind, "poll") == 0) && read(server.unanswered[0], &byte, 1) != 1)
		fail("pipe");
	close(server.holds[1]);
	if (is_locked) {
		pid_t thread = await_use();

		while (!waits_for_lock(thread))
			usleep(1000);
	}
}

int main(int argc, char **argv)
{
	char byte;

	if (argc != 4)
		return 2;
	alarm(ALARM_SECONDS);
	server.mutes_flush = strcmp(argv[1], "flush") == 0;
	snprintf(server.folder, sizeof(server.folder), "%s", argv[2]);
	enter_namespaces();
	mount_files(argv[3]);
	if (pipe2(server.muted, O_CLOEXEC) < 0 || pipe2(server.used, O_CLOEXEC) < 0 ||
	    pipe2(server.unanswered, O_CLOEXEC) < 0 || pipe2(server.holds, O_CLOEXEC) < 0)
		fail("pipe");
	server.program = fork();
	if (server.program == 0)
		run_program(argv[1]);
	close(server.used[1]);
	become_mute(argv[1]);
	printf("mute %d\n", (int)server.program);
	fflush(stdout);
	while (read(STDIN_FILENO, &byte, 1) > 0)
		;
	kill(server.program, SIGKILL);
	_exit(0);
}
