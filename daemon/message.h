/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_MESSAGE_H
#define DAEMON_MESSAGE_H
/*
 * message.h - messages of the programs to the user: lines on stderr, never on stdout.
 *
 * Only the main thread prints. If a progress line is on the terminal, it is erased before a
 * message.
 */
#include <stdbool.h>

/**
 * message_init() - @program: printed before each message, borrowed. @quiet: print no notes, only
 * errors and warnings
 */
void message_init(const char *program, bool quiet);

/** message_to_log() - the terminal is gone: from now on messages go to syslog */
void message_to_log(void);

/**
 * message_waiting() - the program is about to do @what, static text, for an unknown time: on a
 * terminal a line says so; not with --quiet
 * It ends at the next message, or at message_waiting_end(). Nothing else may write to the terminal
 * meanwhile.
 */
void message_waiting(const char *what);
void message_waiting_end(void);

/** message_note() - useful information; not printed with --quiet */
void message_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** message_warning() - a problem that the user may not expect, mainly losses */
void message_warning(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** message_error() - the reason why the program failed */
void message_error(const char *format, ...) __attribute__((format(printf, 1, 2)));

/**
 * message_end() - return the program's exit status, which is @status so far
 * If the output did not reach stdout, report that and return a status other than 0.
 */
int message_end(int status);
#endif
