/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * orders.c - takes 25 orders, and is slow for three reasons, which docs/TUTORIAL.md finds.
 *
 * An order has 10 lines. It asks the server (prices.c) for its price, takes the goods from the
 * stock, and adds its lines to the file receipts. The options are the remedies:
 *
 *     -p    take the price from a table
 *     -s    count the stock without its lock
 *     -r    sync the receipts once, after the last order
 */
#define _GNU_SOURCE /* pthread_setname_np() */
#include <err.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static bool has_prices, counts_unlocked, syncs_at_end;
static pthread_mutex_t stock_lock = PTHREAD_MUTEX_INITIALIZER;
static int stock = 1000;

static void sleep_ms(long ms)
{
	nanosleep(&(struct timespec){.tv_nsec = ms * 1000000}, NULL);
}

/* The thread that counts the stock, again and again. */
static void *count_stock(void *unused)
{
	for (;;) {
		if (!counts_unlocked)
			pthread_mutex_lock(&stock_lock);
		sleep_ms(30);
		if (!counts_unlocked)
			pthread_mutex_unlock(&stock_lock);
		sleep_ms(2);
	}
	return unused;
}

static int connect_to_prices(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "prices.socket"};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)))
		err(1, "prices.socket: does ./prices run in this folder?");
	return fd;
}

static int ask_price(int server)
{
	int price;

	if (write(server, "?", 1) != 1 || read(server, &price, sizeof(price)) != sizeof(price))
		err(1, "no price");
	return price;
}

static void take_goods(void)
{
	pthread_mutex_lock(&stock_lock);
	stock--;
	pthread_mutex_unlock(&stock_lock);
}

static void add_lines(int receipts, int order, int price)
{
	for (int line = 1; line <= 10; line++) {
		dprintf(receipts, "order %d, line %d: %d\n", order, line, price);
		if (!syncs_at_end && fdatasync(receipts))
			err(1, "receipts");
	}
}

int main(int argc, char **argv)
{
	int receipts = open("receipts", O_WRONLY | O_CREAT, 0644), server = connect_to_prices();
	pthread_t counter;

	for (int option; (option = getopt(argc, argv, "psr")) != -1;) {
		has_prices |= option == 'p';
		counts_unlocked |= option == 's';
		syncs_at_end |= option == 'r';
	}
	if (receipts < 0 || pthread_create(&counter, NULL, count_stock, NULL) ||
	    pthread_setname_np(counter, "stock-counter"))
		err(1, "cannot begin");
	for (int order = 1; order <= 25; order++) {
		int price = has_prices ? 250 : ask_price(server);

		take_goods();
		add_lines(receipts, order, price);
	}
	if (fdatasync(receipts))
		err(1, "receipts");
	return 0;
}
