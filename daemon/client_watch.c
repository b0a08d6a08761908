/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "client_watch.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

int client_watch_init(struct client_watch *watch)
{
	watch->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	watch->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (watch->epoll_fd < 0 || watch->timer_fd < 0)
		return -errno;
	return client_watch_add(watch, watch->timer_fd, WATCH_TIMER);
}

void client_watch_close(struct client_watch *watch)
{
	if (watch->timer_fd >= 0)
		close(watch->timer_fd);
	if (watch->epoll_fd >= 0)
		close(watch->epoll_fd);
}

int client_watch_add(const struct client_watch *watch, int fd, uint32_t kind)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = (uint64_t)(unsigned int)fd << 32 | kind};

	return epoll_ctl(watch->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0 ? -errno : 0;
}

void client_watch_remove(const struct client_watch *watch, int fd)
{
	epoll_ctl(watch->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
}

void client_watch_set_timer(const struct client_watch *watch, uint64_t ns)
{
	struct itimerspec times = {
		.it_value = {.tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000)}};

	timerfd_settime(watch->timer_fd, 0, &times, NULL);
}
