/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "version.h"

#include <program_version.h>

const char *program_version(void)
{
	return PROGRAM_VERSION;
}
