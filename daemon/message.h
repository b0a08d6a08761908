/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_MESSAGE_H
#define DAEMON_MESSAGE_H
/*
 * message.h - what the programs tell the person who started them: lines on stderr, never on stdout.
 *
 * One thread (the main one) speaks. A progress line, if one stands on the terminal, is wiped before a message.
 */
#include <stdbool.h>

/** message_init() - @program stands before each message, borrowed; @quiet leaves out notes, never errors or warnings */
void message_init(const char *program, bool quiet);

/** message_to_log() - there is no terminal any more: from now on messages go to syslog */
void message_to_log(void);

/** message_note() - something good to know; not with --quiet */
void message_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** message_warning() - something is worse than the user may think, losses above all */
void message_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** message_error() - why it did not work */
void message_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/** message_progress() - replace the progress line by @line; NULL wipes it. Only for terminals. */
void message_progress(const char *line);

/** message_end() - the exit status of a program whose status is @status so far: not 0 if what it printed did not get to stdout, which is told */
int message_end(int status);
#endif
