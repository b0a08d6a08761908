/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* preload_instrumented.c - built with -finstrument-functions, so that each call is recorded. */
int instrumented(int depth);

int instrumented(int depth)
{
	return depth ? instrumented(depth - 1) + 1 : 1;
}
