/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* flight_scopes - a short and a long scope, and two values, for flight_recorder_saves. */
#include <trace/tracepoint.h>
#include <unistd.h>

static void step(useconds_t us)
{
	if (us > 100000) {
		trace_scope(steps, long);
		usleep(us);
	} else {
		trace_scope(steps, short);
		usleep(us);
	}
}

int main(void)
{
	for (int cents = 0; cents < 8; cents += 7) {
		step(cents ? 400000 : 20000);
		tracepoint(steps, paid, cents);
	}
	return 0;
}
