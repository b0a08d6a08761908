/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waits_32_bit.c - system calls of 32-bit programs: other numbers, other structures, and calls that
 * multiplex others. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "waits.h"

/* arch/x86/entry/syscalls/syscall_32.tbl */
#define CALL_READ	3
#define CALL_WAITPID	7
#define CALL_PIPE	42
#define CALL_DUP2	63
#define CALL_OLD_MMAP	90
#define CALL_SOCKETCALL 102
#define CALL_IPC	117
#define CALL_NANOSLEEP	162
#define CALL_POLL	168
#define CALL_FUTEX	240
#define CALL_RECVMSG	372
#define CALL_FUTEX_64	422
/* linux/net.h, linux/ipc.h */
#define INNER_SOCKETPAIR 8
#define INNER_ACCEPT	 5
#define INNER_RECV	 10
#define INNER_SEMOP	 1

/* int $0x80 with up to five arguments; memory that they point to must have 32-bit addresses. */
static long call_32(long nr, long b, long c, long d, long si, long di)
{
	long ret = -1;
#ifdef __x86_64__
	__asm__ volatile("int $0x80"
			 : "=a"(ret)
			 : "a"(nr), "b"(b), "c"(c), "d"(d), "S"(si), "D"(di)
			 : "r8", "r9", "r10", "r11", "memory");
#endif
	return ret;
}

static void refused(int number)
{
	skip();
}

/* A page of memory with a 32-bit address. */
static void *low_memory(void)
{
#ifdef __x86_64__
	void *memory = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);

	signal(SIGSEGV, refused); /* on a kernel without 32-bit calls */
	require(memory != MAP_FAILED);
	return memory;
#else
	skip();
#endif
}

static long low(const void *memory)
{
	return (long)(uintptr_t)memory;
}

static void sleep_32(void *times)
{
	require(call_32(CALL_NANOSLEEP, low(times), 0, 0, 0, 0) == 0);
}

static void sleep_by_32_bit_call(void)
{
	int32_t *times = low_memory();

	times[1] = PAUSE_NS;
	measure(sleep_32, times);
}

/* ---- descriptors ---- */

static int read_from;
static void read_32(void *memory)
{
	require(call_32(CALL_READ, read_from, low(memory), 8, 0, 0) > 0);
}

/* 32-bit calls create the pipe itself, and move its end. */
static void pipe_by_32_bit_calls(void)
{
	int32_t *memory = low_memory();
	int fds[2];

	require(call_32(CALL_PIPE, low(memory), 0, 0, 0, 0) == 0 && call_32(CALL_DUP2, memory[0], 100, 0, 0, 0) == 100);
	close(memory[0]);
	fds[1] = memory[1];
	read_from = 100;
	child_that(write_8, fds);
	measure(read_32, memory);
}

static void poll_32(void *memory)
{
	require(call_32(CALL_POLL, low(memory), 1, -1, 0, 0) == 1);
}

static void poll_by_32_bit_call(void)
{
	struct pollfd *one = low_memory();
	int fds[2];

	make_unix(fds);
	*one = (struct pollfd){.fd = fds[0], .events = POLLIN};
	child_that(write_8, fds);
	measure(poll_32, one);
}

static void exit_at_once(void *context)
{
}

static void waitpid_32(void *memory)
{
	require(call_32(CALL_WAITPID, -1, low(memory), 0, 0, 0) > 0);
}

static void waitpid_by_32_bit_call(void)
{
	child_that(exit_at_once, NULL);
	measure(waitpid_32, low_memory());
}

static void futex_32(void *memory)
{
	int32_t *word = memory;

	require(call_32(CALL_FUTEX, low(word), 128 /* FUTEX_WAIT_PRIVATE */, 0, low(word + 4), 0) ==
		-110 /* ETIMEDOUT */);
}

static void futex_by_32_bit_call(void)
{
	int32_t *memory = low_memory();

	memory[5] = PAUSE_NS;
	measure(futex_32, memory);
}

static void read_file_32(void *memory)
{
	for (int i = 0; i < 32 * MIB / 4096; i++)
		require(call_32(CALL_READ, read_from, low(memory), 4096, 0, 0) == 4096);
}

static void futex_64_times_out(void *memory)
{
	int32_t *word = memory;

	require(call_32(CALL_FUTEX_64, low(word), 128 /* FUTEX_WAIT_PRIVATE */, 0, low(word + 4), 0) ==
		-110 /* ETIMEDOUT */);
}

/* A timeout of two 64-bit numbers. */
static void futex_by_64_bit_time(void)
{
	int32_t *memory = low_memory();

	memory[6] = PAUSE_NS;
	measure(futex_64_times_out, memory);
}

static void wait_while_held(void *word)
{
	call_32(CALL_FUTEX_64, low(word), 0 /* FUTEX_WAIT */, *(volatile int32_t *)word, 0, 0);
}

/* The old mmap() has its arguments in memory. The mapping is shared with the child. */
static void futex_in_old_mapping(void)
{
	int32_t *memory = low_memory();
	long mapped;

	memory[1] = 4096;
	memory[2] = PROT_READ | PROT_WRITE;
	memory[3] = MAP_SHARED | MAP_ANONYMOUS;
	memory[4] = -1;
	mapped = call_32(CALL_OLD_MMAP, low(memory), 0, 0, 0, 0);
	require((uint32_t)mapped < (uint32_t)-4095);
	measure_holder_that_ends((uint32_t *)(uintptr_t)(uint32_t)mapped, wait_while_held,
				 (void *)(uintptr_t)(uint32_t)mapped);
}

static void file_by_32_bit_calls(void)
{
	read_from = cold_file();
	measure(read_file_32, low_memory());
}

/* ---- calls that multiplex others ---- */

static void receive_32(void *arguments)
{
	require(call_32(CALL_SOCKETCALL, INNER_RECV, low(arguments), 0, 0, 0) > 0);
}

static uint32_t *receive_arguments(uint32_t *memory, int fd)
{
	memory[0] = (uint32_t)fd;
	memory[1] = (uint32_t)(uintptr_t)(memory + 16);
	memory[2] = 8;
	memory[3] = 0;
	return memory;
}

static void receive_by_socketcall(void)
{
	int fds[2];

	make_unix(fds);
	child_that(write_8, fds);
	measure(receive_32, receive_arguments(low_memory(), fds[0]));
}

/* A 32-bit call creates both ends, and the child inherits them. */
static void socketpair_by_socketcall(void)
{
	uint32_t *memory = low_memory();
	int32_t *ends = (int32_t *)memory + 32;
	int fds[2];

	memory[0] = AF_UNIX;
	memory[1] = SOCK_STREAM;
	memory[3] = (uint32_t)(uintptr_t)ends;
	require(call_32(CALL_SOCKETCALL, INNER_SOCKETPAIR, low(memory), 0, 0, 0) == 0);
	fds[0] = ends[0];
	fds[1] = ends[1];
	child_that(write_8, fds);
	measure(read_8, fds);
}

static struct sockaddr_in server;
static int connect_there(void)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	require(!connect(fd, (struct sockaddr *)&server, sizeof(server)));
	return fd;
}

static void connect_and_stay(void *context)
{
	connect_there();
	sleep_ns(50 * MS);
}

static int accept_32(uint32_t *memory, int listener)
{
	long fd;

	memory[0] = (uint32_t)listener;
	memory[1] = memory[2] = 0;
	fd = call_32(CALL_SOCKETCALL, INNER_ACCEPT, low(memory), 0, 0, 0);
	require(fd >= 0);
	return (int)fd;
}

static int listening;
static void accept_only(void *memory)
{
	accept_32(memory, listening);
}

static void accept_by_socketcall(void)
{
	listening = bound(SOCK_STREAM, &server);
	require(!listen(listening, 5));
	child_that(connect_and_stay, NULL);
	measure(accept_only, low_memory());
}

/* A native call, which does not name the socket, reads the accepted connection. */
static void accepted_by_socketcall(void)
{
	int fds[2], listener = bound(SOCK_STREAM, &server);
	pid_t child;

	require(!listen(listener, 5));
	child = fork();
	if (child == 0) {
		int fd = connect_there();

		sleep_ns(PAUSE_NS);
		require(write(fd, "x", 1) == 1);
		sleep_ns(10 * MS);
		_exit(0);
	}
	write_truth("who", child);
	fds[0] = accept_32(low_memory(), listener);
	measure(read_8, fds);
}

static int semaphore_set;
static void semop_32(void *operation)
{
	require(call_32(CALL_IPC, INNER_SEMOP, semaphore_set, 1, 0, low(operation)) == 0);
}

static void post_semaphore(void *context)
{
	struct sembuf operation = {.sem_op = 1};

	require(!semop(semaphore_set, &operation, 1));
}

static void semaphore_by_ipc(void)
{
	struct sembuf *operation = low_memory();

	semaphore_set = semget(IPC_PRIVATE, 1, 0600);
	require(semaphore_set >= 0);
	*operation = (struct sembuf){.sem_op = -1};
	wait_for_child(post_semaphore, semop_32, operation);
	semctl(semaphore_set, 0, IPC_RMID);
}

/* ---- descriptors in messages ---- */

/* struct compat_msghdr */
struct message_32 {
	uint32_t name, name_bytes, parts, nr_parts, control, control_bytes, flags;
};
/* struct compat_cmsghdr with one descriptor */
struct control_32 {
	uint32_t bytes;
	int32_t level, type, fd;
};

static int receive_descriptor_32(int by)
{
	struct {
		struct message_32 message;
		uint32_t part[2];
		struct control_32 control;
		char byte;
	} *m = low_memory();

	m->part[0] = (uint32_t)(uintptr_t)&m->byte;
	m->part[1] = 1;
	m->message = (struct message_32){.parts = (uint32_t)(uintptr_t)m->part,
					 .nr_parts = 1,
					 .control = (uint32_t)(uintptr_t)&m->control,
					 .control_bytes = sizeof(m->control)};
	require(call_32(CALL_RECVMSG, by, low(&m->message), 0, 0, 0) == 1 && m->control.type == SCM_RIGHTS);
	return m->control.fd;
}

static void passed_to_32_bit(void)
{
	measure_passed(receive_descriptor_32);
}

const struct scenario scenarios_32_bit[] = {
	SCENARIO(sleep_by_32_bit_call),	    SCENARIO(pipe_by_32_bit_calls), SCENARIO(poll_by_32_bit_call),
	SCENARIO(waitpid_by_32_bit_call),   SCENARIO(futex_by_32_bit_call), SCENARIO(futex_by_64_bit_time),
	SCENARIO(futex_in_old_mapping),	    SCENARIO(file_by_32_bit_calls), SCENARIO(receive_by_socketcall),
	SCENARIO(socketpair_by_socketcall), SCENARIO(accept_by_socketcall), SCENARIO(accepted_by_socketcall),
	SCENARIO(semaphore_by_ipc),	    SCENARIO(passed_to_32_bit),	    {NULL, NULL},
};
