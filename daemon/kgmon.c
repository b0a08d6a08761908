/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* kgmon: see docs/man/kgmon.1. */
#include "control_steps.h"

int main(int argc, char **argv)
{
	return control_steps_main(&kgmon_program, argc, argv);
}
