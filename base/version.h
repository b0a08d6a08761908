/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef BASE_VERSION_H
#define BASE_VERSION_H
/* version.h - the version of the programs, and the git revision of their sources */

/** program_version() - "0.2.0 (06c18c24abcd-dirty)"; without git "0.2.0" */
const char *program_version(void);
#endif
