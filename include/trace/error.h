/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef TRACE_ERROR_H
#define TRACE_ERROR_H
/* error.h - how the libraries report failures: a negative errno, and one sentence
 * with the cause and what to do */
#ifdef __cplusplus
extern "C" {
#endif

/* The result of the function says whether it failed. The compiler warns if a caller ignores it. */
#define TRACE_NODISCARD __attribute__((warn_unused_result))

/**
 * struct trace_error - the caller's storage for a failure; untouched on success
 * @code: negative errno. -EBADMSG: damaged data; -ENOTSUP: newer format; -EINVAL:
 *     not a trace, or a bad argument
 * @message: one sentence for the user, without a newline: names the file, the offset, what to do
 */
struct trace_error {
	int code;
	char message[508];
};

#ifdef __cplusplus
}
#endif
#endif
