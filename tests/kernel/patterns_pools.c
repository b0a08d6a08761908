/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* patterns_pools.c - one thread reads the requests, others handle them. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "server_patterns.h"

/* ---- pools ---- */

struct job {
	int fd;
	struct message message;
};

static struct job queue[256];
static unsigned int queue_in, queue_out;
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static int pool_fds[2];

static void run_job(const struct job *job)
{
	charge_to(the_meter(job->fd));
	work(0, &job->message);
	answer(job->fd);
}

static void *condvar_worker(void *unused)
{
	for (;;) {
		struct job job;

		at_rest();
		pthread_mutex_lock(&queue_lock);
		while (queue_in == queue_out)
			pthread_cond_wait(&queue_filled, &queue_lock);
		job = queue[queue_out++ % 256];
		pthread_mutex_unlock(&queue_lock);
		run_job(&job);
	}
	return NULL;
}

static void condvar_put(const struct job *job)
{
	pthread_mutex_lock(&queue_lock);
	queue[queue_in++ % 256] = *job;
	pthread_mutex_unlock(&queue_lock);
	pthread_cond_signal(&queue_filled);
}

static void *pipe_worker(void *unused)
{
	struct job job;

	while (at_rest(), read(pool_fds[0], &job, sizeof(job)) == sizeof(job))
		run_job(&job);
	return NULL;
}

static void pipe_put(const struct job *job)
{
	full_write(pool_fds[1], job, sizeof(*job));
}

static void *eventfd_worker(void *unused)
{
	uint64_t tickets;

	while (at_rest(), read(pool_fds[0], &tickets, sizeof(tickets)) == sizeof(tickets)) {
		struct job job;

		pthread_mutex_lock(&queue_lock);
		job = queue[queue_out++ % 256];
		pthread_mutex_unlock(&queue_lock);
		run_job(&job);
	}
	return NULL;
}

static void eventfd_put(const struct job *job)
{
	uint64_t one = 1;

	pthread_mutex_lock(&queue_lock);
	queue[queue_in++ % 256] = *job;
	pthread_mutex_unlock(&queue_lock);
	full_write(pool_fds[0], &one, sizeof(one));
}

/* One thread reads the requests, @nr others handle them. */
static void dispatch(int listening, int nr, void *(*worker)(void *), void (*put)(const struct job *))
{
	int epoll = epoll_create1(0);
	struct epoll_event event = {.events = EPOLLIN, .data.fd = listening}, events[8];
	pthread_t thread;

	for (int i = 0; i < nr; i++)
		pthread_create(&thread, NULL, worker, NULL);
	epoll_ctl(epoll, EPOLL_CTL_ADD, listening, &event);
	for (;;) {
		int ready;

		at_rest();
		ready = epoll_wait(epoll, events, 8, -1);

		for (int i = 0; i < ready; i++) {
			struct job job = {.fd = events[i].data.fd};

			if (job.fd == listening) {
				event.data.fd = take_connection(listening);
				epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event);
			} else if (take(job.fd, &job.message, sizeof(job.message)) == sizeof(job.message)) {
				bind_meter(0, job.message.client);
				put(&job);
			} else {
				epoll_ctl(epoll, EPOLL_CTL_DEL, job.fd, NULL);
				close(job.fd);
			}
		}
	}
}

static void loop_pool_condvar(int listening)
{
	dispatch(listening, 2, condvar_worker, condvar_put);
}

/* More requests than workers: workers find the next job without waiting for it. */
static void loop_pool_busy(int listening)
{
	dispatch(listening, 1, condvar_worker, condvar_put);
}

static void loop_pool_pipe(int listening)
{
	if (pipe(pool_fds))
		die("pipe");
	dispatch(listening, 2, pipe_worker, pipe_put);
}

static void loop_pool_eventfd(int listening)
{
	pool_fds[0] = eventfd(0, EFD_SEMAPHORE);
	dispatch(listening, 2, eventfd_worker, eventfd_put);
}

void pool_condvar(void)
{
	simple(AF_INET, SOCK_STREAM, loop_pool_condvar);
}

void pool_busy(void)
{
	simple(AF_UNIX, SOCK_STREAM, loop_pool_busy);
}

void pool_pipe(void)
{
	simple(AF_UNIX, SOCK_STREAM, loop_pool_pipe);
}

void pool_eventfd(void)
{
	simple(AF_INET6, SOCK_STREAM, loop_pool_eventfd);
}
