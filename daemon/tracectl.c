/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* tracectl: see docs/man/tracectl.1. */
#include "control_steps.h"

int main(int argc, char **argv)
{
	return control_steps_main(&tracectl_program, argc, argv);
}
