/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * workload_owners.c - waits with known owners, and servers with known rests, for
 * test_e2e_owners.c: each measures itself and writes lines "key value".
 *
 *	workload_owners TRUTH-FILE
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "spend.h"

static FILE *truth;

static void require(bool held)
{
	if (!held) {
		perror("workload_owners");
		_exit(1);
	}
}

static void put_byte(int fd)
{
	require(write(fd, "x", 1) == 1);
}

/* False at the end of the connection. */
static bool got_byte(int fd)
{
	char byte;

	return read(fd, &byte, 1) > 0;
}

static void write_truth(const char *scenario, const char *key, long long value)
{
	fprintf(truth, "%s.%s %lld\n", scenario, key, value);
	fflush(truth);
}

/* ---- locks: three threads or processes hold one in turn, a fourth waits for all ---- */

#define HOLDERS 3

struct lock_kind {
	const char *name;
	void (*take)(void), (*give)(void);
	bool of_processes;
};

static struct shared {
	pthread_mutex_t mutex, pi;
	pthread_rwlock_t rwlock;
	pthread_barrier_t start;
	long long got_ns[HOLDERS + 1], gave_ns[HOLDERS + 1], asked_ns;
} * shared;
static const char *lock_path;
static int lock_file;
static const struct lock_kind *kind;

static void take_mutex(void)
{
	pthread_mutex_lock(&shared->mutex);
}

static void give_mutex(void)
{
	pthread_mutex_unlock(&shared->mutex);
}

static void take_pi(void)
{
	pthread_mutex_lock(&shared->pi);
}

static void give_pi(void)
{
	pthread_mutex_unlock(&shared->pi);
}

static void take_rwlock(void)
{
	pthread_rwlock_wrlock(&shared->rwlock);
}

static void give_rwlock(void)
{
	pthread_rwlock_unlock(&shared->rwlock);
}

/* Processes that inherit one open file do not exclude each other. */
static void take_flock(void)
{
	lock_file = open(lock_path, O_RDWR);
	flock(lock_file, LOCK_EX);
}

static void give_flock(void)
{
	flock(lock_file, LOCK_UN);
}

static void set_record_lock(short type)
{
	struct flock lock = {.l_type = type, .l_whence = SEEK_SET};

	fcntl(lock_file, F_SETLKW, &lock);
}

static void take_record(void)
{
	set_record_lock(F_WRLCK);
}

static void give_record(void)
{
	set_record_lock(F_UNLCK);
}

/* Holder @i asks 10 ms after the one before it, and holds the lock for a time of its own. */
static void hold(int i)
{
	static const long long hold_ms[HOLDERS + 1] = {60, 40, 20, 1};
	char name[32];

	pthread_barrier_wait(&shared->start);
	sleep_ns(i * 10 * MS);
	if (i == HOLDERS)
		shared->asked_ns = clock_ns(CLOCK_MONOTONIC);
	kind->take();
	shared->got_ns[i] = clock_ns(CLOCK_MONOTONIC);
	sleep_ns(hold_ms[i] * MS);
	shared->gave_ns[i] = clock_ns(CLOCK_MONOTONIC);
	kind->give();
	snprintf(name, sizeof(name), "tid%d", i);
	write_truth(kind->name, name, syscall(SYS_gettid));
}

static void *hold_in_thread(void *number)
{
	hold((int)(intptr_t)number);
	return NULL;
}

static void hold_in_process(int i)
{
	if (fork())
		return;
	hold(i);
	_exit(0);
}

static void hold_all(void)
{
	pthread_t threads[HOLDERS + 1];

	for (int i = 0; i <= HOLDERS; i++)
		if (kind->of_processes)
			hold_in_process(i);
		else
			pthread_create(&threads[i], NULL, hold_in_thread, (void *)(intptr_t)i);
	for (int i = 0; i <= HOLDERS && !kind->of_processes; i++)
		pthread_join(threads[i], NULL);
	while (wait(NULL) > 0)
		;
	for (int i = 0; i < HOLDERS; i++) {
		long long from = i ? shared->gave_ns[i - 1] : shared->asked_ns;
		char name[32];

		from = from > shared->asked_ns ? from : shared->asked_ns;
		snprintf(name, sizeof(name), "ns%d", i);
		write_truth(kind->name, name, shared->gave_ns[i] - from);
	}
}

static void locks_prepare(void)
{
	pthread_mutexattr_t mutex;
	pthread_rwlockattr_t rwlock;
	pthread_barrierattr_t barrier;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pthread_mutexattr_init(&mutex);
	pthread_mutexattr_setpshared(&mutex, PTHREAD_PROCESS_SHARED);
	pthread_mutex_init(&shared->mutex, &mutex);
	pthread_mutexattr_setprotocol(&mutex, PTHREAD_PRIO_INHERIT);
	pthread_mutex_init(&shared->pi, &mutex);
	pthread_rwlockattr_init(&rwlock);
	pthread_rwlockattr_setpshared(&rwlock, PTHREAD_PROCESS_SHARED);
	pthread_rwlock_init(&shared->rwlock, &rwlock);
	pthread_barrierattr_init(&barrier);
	pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED);
	pthread_barrier_init(&shared->start, &barrier, HOLDERS + 1);
}

static void locks(void)
{
	static const struct lock_kind kinds[] = {{"mutex_threads", take_mutex, give_mutex, false},
						 {"mutex_processes", take_mutex, give_mutex, true},
						 {"pi", take_pi, give_pi, false},
						 {"rwlock", take_rwlock, give_rwlock, false},
						 {"flock", take_flock, give_flock, true},
						 {"record", take_record, give_record, true}};

	locks_prepare();
	lock_file = open(lock_path, O_RDWR | O_CREAT, 0600);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		kind = &kinds[i];
		hold_all();
	}
}

/* ---- a condition that moves its waiters to a mutex ---- */

static uint32_t condition = 7, mutex_word = 2;
static long long moved_ns, released_ns, waited_from_ns;

static void *wait_at_condition(void *unused)
{
	write_truth("requeue", "tid", syscall(SYS_gettid));
	waited_from_ns = clock_ns(CLOCK_MONOTONIC);
	syscall(SYS_futex, &condition, FUTEX_WAIT_PRIVATE, 7, NULL, NULL, 0);
	return NULL;
}

/* A call that finds no thread yet is repeated: a busy machine may take long until one waits. */
static long long futex_until_found(uint32_t *word, int operation, int nr, long nr_moved, uint32_t *to, int value)
{
	long long ns;

	do {
		sleep_ns(30 * MS);
		ns = clock_ns(CLOCK_MONOTONIC);
	} while (syscall(SYS_futex, word, operation, nr, nr_moved, to, value) < 1);
	return ns;
}

/* The waiting thread comes to the mutex only when it is moved. */
static void *release_mutex(void *unused)
{
	write_truth("requeue", "owner", syscall(SYS_gettid));
	sleep_ns(30 * MS);
	released_ns = futex_until_found(&mutex_word, FUTEX_WAKE_PRIVATE, 1, 0, NULL, 0);
	return NULL;
}

static void requeue(void)
{
	pthread_t waiter, owner;

	pthread_create(&waiter, NULL, wait_at_condition, NULL);
	pthread_create(&owner, NULL, release_mutex, NULL);
	moved_ns = futex_until_found(&condition, FUTEX_CMP_REQUEUE_PRIVATE, 0, 1, &mutex_word, 7);
	pthread_join(waiter, NULL);
	pthread_join(owner, NULL);
	write_truth("requeue", "signaller", getpid());
	write_truth("requeue", "condition_ns", moved_ns - waited_from_ns);
	write_truth("requeue", "mutex_ns", released_ns - moved_ns);
}

/* ---- servers ---- */

static socklen_t address_bytes = sizeof(struct sockaddr_in);

static struct sockaddr_in serve(int *ret_fd, int type)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

	*ret_fd = socket(AF_INET, type, 0);
	bind(*ret_fd, (struct sockaddr *)&address, address_bytes);
	getsockname(*ret_fd, (struct sockaddr *)&address, &address_bytes);
	if (type == SOCK_STREAM)
		listen(*ret_fd, 5);
	return address;
}

static int ask(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	connect(fd, (const struct sockaddr *)address, address_bytes);
	return fd;
}

static bool in_child(const char *name)
{
	if (fork())
		return false;
	prctl(PR_SET_NAME, name);
	write_truth(name, "pid", getpid());
	return true;
}

static void answer_slowly(int listener)
{
	int fd = accept(listener, NULL, NULL);

	while (got_byte(fd)) {
		sleep_ns(30 * MS);
		put_byte(fd);
	}
	_exit(0);
}

static void ask_thrice(const struct sockaddr_in *address)
{
	int fd = ask(address);

	for (int i = 0; i < 3; i++) {
		sleep_ns(10 * MS);
		put_byte(fd);
		got_byte(fd);
	}
	_exit(0);
}

/* A proxy in poll(): with a request open it waits for its backend, else for its client. */
static void pass_on(int listener, const struct sockaddr_in *backend)
{
	struct pollfd fds[] = {{listener, POLLIN, 0}, {ask(backend), POLLIN, 0}, {-1, POLLIN, 0}};
	long long ns[2] = {0};
	bool is_open = false;

	for (;;) {
		long long from = clock_ns(CLOCK_MONOTONIC);

		poll(fds, 3, -1);
		ns[is_open] += clock_ns(CLOCK_MONOTONIC) - from;
		if (fds[0].revents)
			fds[2].fd = accept(listener, NULL, NULL);
		if (fds[2].fd >= 0 && fds[2].revents) {
			if (!got_byte(fds[2].fd))
				break;
			put_byte(fds[1].fd);
			is_open = true;
		}
		if (fds[1].revents) {
			got_byte(fds[1].fd);
			put_byte(fds[2].fd);
			is_open = false;
		}
	}
	write_truth("proxy", "blocked_ns", ns[1]);
	write_truth("proxy", "idle_ns", ns[0]);
	_exit(0);
}

static void proxy(void)
{
	int backend, front;
	struct sockaddr_in to_backend = serve(&backend, SOCK_STREAM), to_front = serve(&front, SOCK_STREAM);

	if (in_child("backend"))
		answer_slowly(backend);
	if (in_child("proxy"))
		pass_on(front, &to_backend);
	if (in_child("client"))
		ask_thrice(&to_front);
	close(backend);
	close(front);
	while (wait(NULL) > 0)
		;
}

/* ---- a pool: a reader hands requests to a worker, which waits in the midst of its job ---- */

static pthread_mutex_t jobs_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t jobs = PTHREAD_COND_INITIALIZER;
static int nr_jobs, client_fd;

static void *work(void *unused)
{
	long long rest_ns = 0, job_ns = 0;

	prctl(PR_SET_NAME, "worker");
	write_truth("pool", "worker", syscall(SYS_gettid));
	for (int i = 0; i < 3; i++) {
		long long from = clock_ns(CLOCK_MONOTONIC), got;

		pthread_mutex_lock(&jobs_mutex);
		while (!nr_jobs)
			pthread_cond_wait(&jobs, &jobs_mutex);
		nr_jobs--;
		pthread_mutex_unlock(&jobs_mutex);
		got = clock_ns(CLOCK_MONOTONIC);
		rest_ns += got - from;
		sleep_ns(20 * MS);
		put_byte(client_fd);
		job_ns += clock_ns(CLOCK_MONOTONIC) - got;
	}
	write_truth("pool", "rest_ns", rest_ns);
	write_truth("pool", "job_ns", job_ns);
	return NULL;
}

static void read_requests(int listener)
{
	pthread_t worker;

	pthread_create(&worker, NULL, work, NULL);
	client_fd = accept(listener, NULL, NULL);
	while (got_byte(client_fd)) {
		pthread_mutex_lock(&jobs_mutex);
		nr_jobs++;
		pthread_cond_signal(&jobs);
		pthread_mutex_unlock(&jobs_mutex);
	}
	pthread_join(worker, NULL);
	_exit(0);
}

static void pool(void)
{
	int listener;
	struct sockaddr_in address = serve(&listener, SOCK_STREAM);

	if (in_child("pool"))
		read_requests(listener);
	if (in_child("pool_client"))
		ask_thrice(&address);
	close(listener);
	while (wait(NULL) > 0)
		;
}

/* ---- UDP, and a process whose parent has closed its listener ---- */

static void answer_datagrams(int fd)
{
	struct sockaddr_in from;
	long long ns = 0;
	char byte;

	for (int i = 0; i < 3; i++) {
		socklen_t bytes = sizeof(from);
		long long begin = clock_ns(CLOCK_MONOTONIC);

		recvfrom(fd, &byte, 1, 0, (struct sockaddr *)&from, &bytes);
		ns += clock_ns(CLOCK_MONOTONIC) - begin;
		sendto(fd, &byte, 1, 0, (struct sockaddr *)&from, bytes);
	}
	write_truth("udp", "idle_ns", ns);
	_exit(0);
}

static void send_datagrams(const struct sockaddr_in *address)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	char byte = 0;

	for (int i = 0; i < 3; i++) {
		sleep_ns(20 * MS);
		sendto(fd, &byte, 1, 0, (const struct sockaddr *)address, address_bytes);
		recv(fd, &byte, 1, 0);
	}
	_exit(0);
}

static void datagrams(void)
{
	int fd;
	struct sockaddr_in address = serve(&fd, SOCK_DGRAM);

	if (in_child("udp"))
		answer_datagrams(fd);
	if (in_child("udp_client"))
		send_datagrams(&address);
	close(fd);
	while (wait(NULL) > 0)
		;
}

static void poll_a_helper(void)
{
	int listener, fds[2];
	struct pollfd helper;

	serve(&listener, SOCK_STREAM);
	close(listener);
	if (in_child("no_server")) {
		require(pipe(fds) == 0);
		if (!fork()) {
			sleep_ns(40 * MS);
			put_byte(fds[1]);
			_exit(0);
		}
		helper = (struct pollfd){fds[0], POLLIN, 0};
		poll(&helper, 1, -1);
		_exit(0);
	}
	while (wait(NULL) > 0)
		;
}

int main(int argc, char **argv)
{
	char scratch[256];

	truth = argc == 2 ? fopen(argv[1], "a") : NULL;
	if (!truth) {
		fprintf(stderr, "usage: workload_owners TRUTH-FILE\n");
		return 2;
	}
	snprintf(scratch, sizeof(scratch), "%s-lock", argv[1]);
	lock_path = scratch;
	locks();
	requeue();
	proxy();
	pool();
	datagrams();
	poll_a_helper();
	return 0;
}
