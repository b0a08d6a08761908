#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# prefetches.sh - prefetches in the source are also in the optimized library, because compilers may
# drop such calls.
set -eu
asking=$(objdump -d --no-show-raw-insn "$TRACE_BUILD/lib/libtrace.so" |
	awk '/^[0-9a-f]+ </ { sub(/[.>].*/, "", $2); name = substr($2, 2) } /prefetch/ { print name }' | sort -u)
for name in trace_cursor_next analysis_pass latencies_flush acct_defer; do
	# a function with one caller may be inlined there, or be separate
	case $name in trace_cursor_next) name='trace_cursor_next|prefetch_second_key' ;; esac
	if ! echo "$asking" | grep -qxE "$name"; then
		echo "does not ask for any memory early: $name; these do:" $asking
		exit 1
	fi
done
