/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TESTS_EXAMPLE_TRACES_H
#define TESTS_EXAMPLE_TRACES_H
/*
 * example_traces.h - the built traces on which test_examples.c runs the programs of docs/API.md
 * that need more than a few events.
 */

/**
 * write_server_trace() - one client connects and sends one request; the server works 1.3 us for
 * it
 */
void write_server_trace(int fd);
/**
 * write_scope_trace() - a program is in scope shop:checkout for 5.5 us, blocked on a file for 3
 * us of it
 */
void write_scope_trace(int fd);
#endif
