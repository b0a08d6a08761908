/* SPDX-License-Identifier: GPL-2.0-only OR LGPL-2.1-or-later */
/* data_entry.bpf.c - the program of data.bpf.c for entries, attached behind sys_enter. */
SEC("event/sys_enter")
int BPF_PROG(sys_data, struct pt_regs *regs, long id)
{
	return copy_arguments(regs, id, 0, DATA_AT_ENTRY);
}
