/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "delivery.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control.h"

/** struct delivery - on its way. All owned by its thread */
struct delivery {
	int from;
	int to;
	int client;
	char text[];
};

static atomic_int nr_deliveries;

/* 0: there is room. -ECONNRESET: the client has gone; it asks for nothing more, so whatever makes its socket readable is its end. */
static int wait_for_room(const struct delivery *delivery)
{
	struct pollfd fds[2] = {{.fd = delivery->to, .events = POLLOUT}, {.fd = delivery->client, .events = POLLIN}};

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return -errno;
		if (fds[1].revents)
			return -ECONNRESET;
		if (fds[0].revents)
			return 0;
	}
}

/* So many bytes go into a pipe that has room at all, without waiting for more of it. Whether it waits is a property that others have the pipe with, too. */
static int copy(const struct delivery *delivery)
{
	char bytes[PIPE_BUF];
	off_t at = 0;
	ssize_t got, put;
	int err;

	while ((got = pread(delivery->from, bytes, sizeof(bytes), at)) > 0) {
		err = wait_for_room(delivery);
		if (err)
			return err;
		put = write(delivery->to, bytes, (size_t)got);
		if (put < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		at += put > 0 ? put : 0;
	}
	return got < 0 ? -errno : 0;
}

static void *deliver(void *context)
{
	struct delivery *delivery = context;
	char text[128];
	int err = copy(delivery);

	snprintf(text, sizeof(text), "the snapshot could not be written: %s", err == -EPIPE ? "nobody reads it any more" : strerror(-err));
	close(delivery->from);
	close(delivery->to);
	control_answer(delivery->client, err, err ? text : delivery->text);
	close(delivery->client);
	free(delivery);
	nr_deliveries--;
	return NULL;
}

int delivery_begin(int from, int to, int client, const char *text)
{
	struct delivery *delivery = malloc(sizeof(*delivery) + strlen(text) + 1);
	pthread_t thread;
	int err = delivery ? 0 : ENOMEM;

	if (!err && ++nr_deliveries > DELIVERIES_MOST)
		err = EBUSY;
	if (!err) {
		*delivery = (struct delivery){from, to, client};
		strcpy(delivery->text, text);
		err = pthread_create(&thread, NULL, deliver, delivery);
	}
	if (!err) {
		pthread_detach(thread);
		return 0;
	}
	if (delivery)
		nr_deliveries--;
	free(delivery);
	return -err;
}
