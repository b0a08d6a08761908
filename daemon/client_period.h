/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLIENT_PERIOD_H
#define DAEMON_CLIENT_PERIOD_H
/* client_period.h - how often the daemon looks at the programs: more often the more they record */
struct clients;

/**
 * client_period_choose() - set the time of the next look, from what was taken since the last one
 */
void client_period_choose(struct clients *clients);
#endif
