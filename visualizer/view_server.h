/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef VISUALIZER_VIEW_SERVER_H
#define VISUALIZER_VIEW_SERVER_H
/*
 * view_server.h - the page and the answers to its questions, over HTTP on the loopback address.
 *
 * Only a program that knows the address gets an answer: the first part of each path is a random
 * number of 128 bits. It is in no command line, where other users could read it. Everything else
 * gets 404, without a word. The Host header must be the loopback address, so that no other site
 * can reach the server under a name of its own.
 */
#include "visualizer_options.h"

struct trace;

/**
 * view_serve() - show @trace, and below it @other (NULL: one trace), until the user ends it
 *     (Ctrl-C), or until no page has asked for ten minutes
 * Prints the address, and opens a browser if there is a display. Returns 0; 1 after a message on
 * stderr.
 */
int view_serve(const struct trace *trace, const struct trace *other, const struct visualizer_options *options);
#endif
