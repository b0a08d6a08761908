/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_REPORT_SERVERS_H
#define VISUALIZER_REPORT_SERVERS_H
/* report_servers.h - servers and their clients. */
#include "report.h"

/**
 * report_servers() - servers and their clients, what clients waited for, and receivers from the
 * network
 */
void report_servers(const struct report *report);
#endif
