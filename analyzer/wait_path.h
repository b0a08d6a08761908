/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef ANALYZER_WAIT_PATH_H
#define ANALYZER_WAIT_PATH_H
/* wait_path.h - the via that the path of a file shows, such as eventfd or pipe */
#include "state_file.h"
#include "wait_cause.h"

struct trace_analysis;

/** file_via() - the via of a wait for @file, if its path shows a kind; else NONE */
enum via file_via(const struct trace_analysis *a, file_idx file);
/** path_anonymous() - the name is "anon_inode:[eventfd]" in /proc, and "[eventfd]" in the kernel */
const char *path_anonymous(const char *path);
#endif
