/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_KERNEL_GROUP_SERVERS_H
#define TESTS_KERNEL_GROUP_SERVERS_H
/* group_servers.h - the variants of group_servers.c; in the first each answer shows its work */
enum {
	GROUP_IN_TURN = 23,
	GROUP_VARIANTS = 37,
	ALL_CLIENTS = 0, /* instead of a CLIENT-PID in the truth file: their sum */
};
#endif
