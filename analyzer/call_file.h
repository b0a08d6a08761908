/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_CALL_FILE_H
#define ANALYZER_CALL_FILE_H
/* call_file.h - the file that a call acts on: each entry asks for it, so it is inline. */
#include <stdint.h>
#include "state.h"

/** call_file() - the file of the descriptor that is the call's first argument; 0: none */
static inline file_idx call_file(const struct trace_analysis *a, const struct trace_thread *thread,
				 const struct frame *frame)
{
	const struct call *call = &a->calls[frame->call];

	if (!frame->nr_args)
		return 0;
	if (call->flags & CALL_HAS_FD)
		return fds_file(thread->fds, (int32_t)frame->args[0]);
	/* utimensat() and others without a path are for the descriptor's own file */
	if ((call->flags & CALL_HAS_DIRECTORY) && !frame->args[call->directory + 1])
		return call_directory(a, thread, frame);
	return 0;
}
#endif
