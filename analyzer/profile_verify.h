/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_PROFILE_VERIFY_H
#define ANALYZER_PROFILE_VERIFY_H
/* profile_verify.h - what the check of a profile needs of it */
#include <trace/profile.h>

/** profile_analysis() - the analysis whose times @profile divides; borrowed */
const struct trace_analysis *profile_analysis(const struct trace_profile *profile);
/** profile_spans() - the spans to which it is restricted; NULL: all time counts */
const struct profile_spans *profile_spans(const struct trace_profile *profile);
#endif
