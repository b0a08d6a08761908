/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_CLIENT_SEARCH_H
#define DAEMON_CLIENT_SEARCH_H
/* client_search.h - programs that already run, and the socket and programs of another daemon */
#include <stdbool.h>

#include "user_identity.h"

struct clients;

/**
 * client_search_listen() - listen for offers; if another daemon has the socket, wait for its end
 */
void client_search_listen(struct clients *clients);
/**
 * client_search_all() - scan /proc, and register the programs that are found
 * @late: programs found only now started during the recording, but could not connect
 * If the scan fails, the number of missed programs is unknown; so the failure is only reported.
 */
void client_search_all(struct clients *clients, bool late);
/** client_search_again() - if a scan is due and the budget allows it */
void client_search_again(struct clients *clients);
/** client_search_other_gone() - the other daemon ended: take its socket and its programs */
void client_search_other_gone(struct clients *clients);
#endif
