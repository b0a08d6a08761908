/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* lttng_provider.h - one tracepoint with one int, for a CTF trace that babeltrace2 reads. */
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER bench
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./lttng_provider.h"
#if !defined(BENCH_LTTNG_PROVIDER_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define BENCH_LTTNG_PROVIDER_H
#include <lttng/tracepoint.h>
LTTNG_UST_TRACEPOINT_EVENT(bench, number, LTTNG_UST_TP_ARGS(int, value),
			   LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int, value, value)))
#endif
#include <lttng/tracepoint-event.h>
