/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* view_symbols.c - names of code, kept between questions: view_symbols.h. */
#include "view_symbols.h"

#include <pthread.h>
#include <stdlib.h>
#include <trace/symbols.h>
#include "checked_memory.h"
#include "profile_names.h"

/* struct view_symbols - @lock protects @symbols, which is owned; NULL before the first question */
struct view_symbols {
	pthread_mutex_t lock;
	struct trace_symbols *symbols;
};

struct view_symbols *view_symbols_new(void)
{
	struct view_symbols *symbols = memory_take(1, sizeof(*symbols));

	*symbols = (struct view_symbols){0};
	pthread_mutex_init(&symbols->lock, NULL);
	return symbols;
}

struct view_symbols *view_symbols_free(struct view_symbols *symbols)
{
	if (!symbols)
		return NULL;
	trace_symbols_free(symbols->symbols);
	pthread_mutex_destroy(&symbols->lock);
	free(symbols);
	return NULL;
}

void view_symbols_take(struct view_symbols *symbols, struct report *report)
{
	pthread_mutex_lock(&symbols->lock);
	if (!symbols->symbols)
		symbols->symbols = profile_symbols_new(report);
	report->symbols = symbols->symbols;
}

void view_symbols_give(struct view_symbols *symbols, struct report *report)
{
	trace_symbols_pause(symbols->symbols);
	report->symbols = NULL;
	pthread_mutex_unlock(&symbols->lock);
}
