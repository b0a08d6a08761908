/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* waits_ipc.c - threads of one process; semaphores, queues and locks between processes. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "waits.h"

/* ---- threads of one process ---- */

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static bool happened;

static void *make_it_happen(void *nothing)
{
	sleep_ns(PAUSE_NS);
	pthread_mutex_lock(&mutex);
	happened = true;
	pthread_cond_signal(&condition);
	pthread_mutex_unlock(&mutex);
	sleep_ns(10 * MS);
	return nothing;
}

static void wait_for_condition(void *context)
{
	pthread_mutex_lock(&mutex);
	while (!happened)
		pthread_cond_wait(&condition, &mutex);
	pthread_mutex_unlock(&mutex);
}

static void condvar(void)
{
	pthread_t thread;

	write_truth("who", getpid());
	pthread_create(&thread, NULL, make_it_happen, NULL);
	measure(wait_for_condition, NULL);
	_exit(0);
}

static void *sleep_a_while(void *nothing)
{
	sleep_ns(PAUSE_NS);
	return nothing;
}

static void join_thread(void *thread)
{
	pthread_join(*(pthread_t *)thread, NULL);
}

static void join(void)
{
	pthread_t thread;

	write_truth("who", getpid());
	pthread_create(&thread, NULL, sleep_a_while, NULL);
	measure(join_thread, &thread);
}

static void wait_in_vain(void *context)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += PAUSE_NS;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&mutex);
	pthread_cond_timedwait(&condition, &mutex, &until);
}

static void condvar_timeout(void)
{
	measure(wait_in_vain, NULL);
}

/* ---- between processes ---- */

static void post(void *semaphore)
{
	sem_post(semaphore);
}

static void wait_semaphore(void *semaphore)
{
	sem_wait(semaphore);
}

static void posix_semaphore(void)
{
	sem_t *semaphore = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	require(!sem_init(semaphore, 1, 0));
	wait_for_child(post, wait_semaphore, semaphore);
}

static void sysv_add(int id, short by)
{
	struct sembuf operation = {.sem_op = by};

	require(!semop(id, &operation, 1));
}

static void sysv_post(void *id)
{
	sysv_add(*(int *)id, 1);
}

static void sysv_wait(void *id)
{
	sysv_add(*(int *)id, -1);
}

static void sysv_semaphore(void)
{
	int id = semget(IPC_PRIVATE, 1, 0600);

	require(id >= 0);
	wait_for_child(sysv_post, sysv_wait, &id);
	semctl(id, 0, IPC_RMID);
}

struct message {
	long type;
	char text[8];
};

static void message_send(void *id)
{
	struct message message = {.type = 1};

	require(!msgsnd(*(int *)id, &message, sizeof(message.text), 0));
}

static void message_receive(void *id)
{
	struct message message;

	require(msgrcv(*(int *)id, &message, sizeof(message.text), 0, 0) > 0);
}

static void sysv_messages(void)
{
	int id = msgget(IPC_PRIVATE, 0600);

	require(id >= 0);
	wait_for_child(message_send, message_receive, &id);
	msgctl(id, IPC_RMID, NULL);
}

static void queue_send(void *queue)
{
	require(!mq_send(*(mqd_t *)queue, "x", 1, 0));
}

static void queue_receive(void *queue)
{
	char text[64];

	require(mq_receive(*(mqd_t *)queue, text, sizeof(text), NULL) == 1);
}

static void posix_messages(void)
{
	struct mq_attr attributes = {.mq_maxmsg = 2, .mq_msgsize = 64};
	char name[64];
	mqd_t queue;

	snprintf(name, sizeof(name), "/workload-waits-%d", getpid());
	queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
	if (queue == (mqd_t)-1)
		skip();
	mq_unlink(name);
	wait_for_child(queue_send, queue_receive, &queue);
}

/* ---- robust mutexes: the kernel releases those of a thread that ends ---- */

static struct robust_list_head held;
static struct robust_list held_entry;

static void hold_until_exit(uint32_t *word)
{
	held_entry.next = &held.list;
	held.list.next = &held_entry;
	held.futex_offset = (char *)word - (char *)&held_entry;
	*word = (uint32_t)getpid() | FUTEX_WAITERS;
	require(!syscall(SYS_set_robust_list, &held, sizeof(held)));
}

static void child_ended(int number)
{
}

/* The parent has a handler for the signal by which the kernel tells that the child has ended. */
void measure_holder_that_ends(uint32_t *word, void (*wait_for)(void *), void *context)
{
	struct sigaction action = {.sa_handler = child_ended, .sa_flags = SA_RESTART};
	char byte = 'x';
	pid_t child;

	require(!sigaction(SIGCHLD, &action, NULL));
	child = fork();
	if (child == 0) {
		hold_until_exit(word);
		require(write(ready[1], &byte, 1) == 1);
		sleep_ns(PAUSE_NS);
		_exit(0);
	}
	write_truth("who", child);
	require(read(ready[0], &byte, 1) == 1);
	measure(wait_for, context);
	waitpid(child, NULL, 0);
}

static uint32_t own_word = 7; /* in memory that the child has a copy of */

static void *move_waiter(void *word)
{
	while (syscall(SYS_futex, &own_word, FUTEX_CMP_REQUEUE, 0, 1, word, 7) != 1)
		sleep_ns(MS / 10);
	return NULL;
}

static void wait_at_own_word(void *unused)
{
	syscall(SYS_futex, &own_word, FUTEX_WAIT, 7, NULL, NULL, 0);
}

/* A thread moves the waiter at once to the mutex that the child holds. */
static void measure_moved(void *(*move)(void *), void (*wait_for)(void *))
{
	uint32_t *word = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_t thread;

	require(word != MAP_FAILED && !pthread_create(&thread, NULL, move, word));
	measure_holder_that_ends(word, wait_for, NULL);
	pthread_join(thread, NULL);
}

static void moved_to_holder(void)
{
	measure_moved(move_waiter, wait_at_own_word);
}

/* The calls of Linux 6.7: <linux/futex.h> has them since then. */
#define NR_FUTEX_WAIT	 455
#define NR_FUTEX_REQUEUE 456
#define SIZE_U32	 2

static void *move_waiter_of_two(void *word)
{
	struct {
		uint64_t value, address;
		uint32_t flags, reserved;
	} pair[2] = {{7, (uintptr_t)&own_word, SIZE_U32, 0}, {0, (uintptr_t)word, SIZE_U32, 0}};

	while (syscall(NR_FUTEX_REQUEUE, pair, 0, 0, 1) != 1)
		sleep_ns(MS / 10);
	return NULL;
}

static void wait_at_own_word_of_32_bits(void *unused)
{
	syscall(NR_FUTEX_WAIT, &own_word, 7ul, 0xfffffffful, SIZE_U32, NULL, 0);
}

static void moved_by_futex_requeue(void)
{
	if (syscall(NR_FUTEX_WAIT, &own_word, 0ul, 0xfffffffful, SIZE_U32, NULL, 0) != 0 && errno == ENOSYS)
		moved_to_holder();
	else
		measure_moved(move_waiter_of_two, wait_at_own_word_of_32_bits);
}

/* The child takes a lock, announces that, and releases it after a while. */
static void wait_for_holder(void (*take)(void *), void *context)
{
	pid_t child = fork();
	char byte = 'x';

	if (child == 0) {
		take(context);
		require(write(ready[1], &byte, 1) == 1);
		sleep_ns(PAUSE_NS);
		_exit(0); /* which releases it */
	}
	write_truth("who", child);
	require(read(ready[0], &byte, 1) == 1);
	measure(take, context);
	waitpid(child, NULL, 0);
}

static void take_flock(void *path)
{
	require(!flock(open(path, O_RDWR | O_CREAT, 0600), LOCK_EX));
}

static void file_lock(void)
{
	wait_for_holder(take_flock, (void *)scratch_path("lock"));
}

static void take_record_lock(void *path)
{
	struct flock all = {.l_type = F_WRLCK};

	require(!fcntl(open(path, O_RDWR | O_CREAT, 0600), F_SETLKW, &all));
}

static void record_lock(void)
{
	wait_for_holder(take_record_lock, (void *)scratch_path("lock"));
}

const struct scenario ipc_scenarios[] = {
	SCENARIO(condvar),	   SCENARIO(join),
	SCENARIO(posix_semaphore), SCENARIO(sysv_semaphore),
	SCENARIO(sysv_messages),   SCENARIO(posix_messages),
	SCENARIO(file_lock),	   SCENARIO(record_lock),
	SCENARIO(moved_to_holder), SCENARIO(moved_by_futex_requeue),
	SCENARIO(condvar_timeout), {NULL, NULL},
};
