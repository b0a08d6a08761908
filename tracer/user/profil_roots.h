/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACER_USER_PROFIL_ROOTS_H
#define TRACER_USER_PROFIL_ROOTS_H
/*
 * profil_roots.h - which of its perf events counts a thread that has several
 *
 * A thread that begins while the events of others are being opened may inherit the events of the
 * thread that began it, and get events of its own as well; the threads that it begins inherit both.
 * So a tick names its root, the thread for which its event was opened, and a thread counts with the
 * root of its first tick only:
 *
 *   P has events, T begins and inherits them, T is found and gets its own, T begins U.
 *   Ticks of U come with the roots P and T. The first one has the root P: those with T are dropped.
 *
 * Records of different CPUs are read in any order, so a record may be older than the end of its
 * thread that was read already; its time tells.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct profil_root - of thread @tid. @root: 0: not known yet. @end: its time; 0: it lives */
struct profil_root {
	uint32_t tid;
	uint32_t root;
	uint64_t end;
};

/** struct profil_roots - zeroed: empty. @slots: owned; by tid, a power of two */
struct profil_roots {
	struct profil_root *slots;
	size_t nr, nr_slots;
};

/** profil_roots_count() - does a tick of @tid with this root count? Without memory it does. */
bool profil_roots_count(struct profil_roots *roots, uint32_t tid, uint32_t root, uint64_t time);
/** profil_roots_end() - thread @tid ended: its number may be another thread's later */
void profil_roots_end(struct profil_roots *roots, uint32_t tid, uint64_t time);
/**
 * profil_roots_purge() - forget threads that ended before @time: all older records have been read
 */
void profil_roots_purge(struct profil_roots *roots, uint64_t time);
void profil_roots_clear(struct profil_roots *roots);
#endif
