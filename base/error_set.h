/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_ERROR_SET_H
#define BASE_ERROR_SET_H
#include <trace/error.h>

/** error_set() - fill in @ret_error (may be NULL). Returns @code, a negative errno */
int error_set(struct trace_error *ret_error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
