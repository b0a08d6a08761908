/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "trace.h"

int trace_verify(const struct trace *trace, struct trace_error *ret_error)
{
	return 0;
}
