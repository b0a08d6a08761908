/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * prices.c - a server that takes 20 ms for each answer, because it sleeps. orders.c is its client.
 */
#include <err.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static void answer(int client)
{
	char question;
	int price = 250;

	while (read(client, &question, 1) == 1) {
		nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
		if (write(client, &price, sizeof(price)) != sizeof(price))
			return;
	}
}

int main(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "prices.socket"};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	unlink(address.sun_path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof(address)) || listen(fd, 10))
		err(1, "%s", address.sun_path);
	puts("prices: ready");
	fflush(stdout);
	for (;;) {
		int client = accept(fd, NULL, NULL);

		if (client < 0)
			err(1, "accept");
		answer(client);
		close(client);
	}
}
