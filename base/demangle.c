/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* demangle.c - load the C++ run-time library, and call its demangler. */
#include "demangle.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <string.h>

#define NO_MEMORY_TO_DEMANGLE (-1) /* status of __cxa_demangle() */

static char *(*demangler)(const char *, char *, size_t *, int *); /* NULL: not installed */
static pthread_once_t load_once = PTHREAD_ONCE_INIT;
static bool is_prepared; /* atomically */

static void load(void)
{
	void *library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);

	if (library)
		*(void **)&demangler = dlsym(library, "__cxa_demangle");
	__atomic_store_n(&is_prepared, true, __ATOMIC_RELEASE);
}

void demangle_prepare(void)
{
	pthread_once(&load_once, load);
}

bool demangle_is_prepared(void)
{
	return __atomic_load_n(&is_prepared, __ATOMIC_ACQUIRE);
}

char *demangle(const char *name)
{
	char *readable;
	int status = 0;

	if (strncmp(name, "_Z", 2))
		return NULL;
	demangle_prepare();
	readable = demangler ? demangler(name, NULL, NULL, &status) : NULL;
	if (status == NO_MEMORY_TO_DEMANGLE)
		errno = ENOMEM;
	return readable;
}
