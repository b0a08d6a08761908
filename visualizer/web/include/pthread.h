/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef WEB_PTHREAD_H
#define WEB_PTHREAD_H
/* pthread.h - for WebAssembly, which has one thread here: locks do nothing. */
#include <sys/types.h>

#define PTHREAD_ONCE_INIT 0

static inline int pthread_mutex_init(pthread_mutex_t *mutex, const void *attributes)
{
	*mutex = (pthread_mutex_t){};
	return 0;
}

static inline int pthread_mutex_destroy(pthread_mutex_t *mutex)
{
	return 0;
}

static inline int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	return 0;
}

static inline int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	return 0;
}

static inline int pthread_once(pthread_once_t *once, void (*fn)(void))
{
	if (!*once) {
		*once = 1;
		fn();
	}
	return 0;
}

#endif
