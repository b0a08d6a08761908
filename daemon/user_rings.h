/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef DAEMON_USER_RINGS_H
#define DAEMON_USER_RINGS_H
/*
 * user_rings.h - a program's rings: which are in use, the memory that they have, and their flushes
 */
struct user_program;

/** user_rings_look() - add the rings that came into use since the last look */
void user_rings_look(struct user_program *program);
/**
 * user_rings_check_pages() - charge the memory that the program has; above the limit of its user,
 * the daemon writes nothing into the open sub-buffers
 */
void user_rings_check_pages(struct user_program *program);
/**
 * user_rings_charge() - charge the rings' mapping; without room for it they are read from the file
 */
void user_rings_charge(struct user_program *program);
/** user_rings_discharge() - return all that was charged */
void user_rings_discharge(struct user_program *program);
/** user_rings_free() - of a program whose rings the drain does not read any more */
void user_rings_free(struct user_program *program);

/**
 * user_rings_stop_overwriting() - from now on sub-buffers stay until the daemon takes them
 * An earlier flight recorder may have been killed before it did this. A flight recorder does it
 * when it ends, for the next daemon.
 */
void user_rings_stop_overwriting(struct user_program *program);
/**
 * user_rings_finish_flushes() - complete the flush of a daemon that was killed while it closed a
 * sub-buffer, so that no ring waits for it for ever
 */
void user_rings_finish_flushes(struct user_program *program);
#endif
