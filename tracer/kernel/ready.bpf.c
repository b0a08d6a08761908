/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* ready.bpf.c - loads from pages of a ring, only so that they have been accessed. See ready.c. */

/* The loader runs this itself, for the first pages on the ring's CPU, otherwise on any CPU.
 * Arguments: is the ring a structural one; its CPU; the first of TRACER_READY_PAGES pages of its
 * data. */
SEC("raw_tp")
int make_ready(u64 *arguments)
{
	bool structural = arguments[0];
	u64 at = arguments[2] * 4096, mask = (structural ? config.structural.slots_mask : config.ring.slots_mask) & ~7U;
	struct subbuf_control *control = control_of_cpu(structural, arguments[1]);

	if (!control)
		return 0;
	SUBBUF_LOAD(&control->position);
	if (!structural && arguments[2] == 0)
		note_run_queue(control);
	for (u32 i = 0; i < TRACER_READY_PAGES; i++, at += 4096)
		SUBBUF_LOAD((u64 *)((unsigned char *)control + SUBBUF_CONTROL_BYTES + (at & mask)));
	return 0;
}
