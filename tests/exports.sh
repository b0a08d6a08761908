#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# exports.sh - libtrace.so exports what the public headers declare, and nothing else.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
nm -D --defined-only "$TRACE_BUILD/lib/libtrace.so" | awk '{ print $3 }' | grep -v '^__\|^_init$\|^_fini$' | sort -u > "$work/exported"
cat "$TRACE_SOURCE"/include/trace/*.h | grep -o 'trace_[a-z0-9_]*(' | tr -d '(' | sort -u > "$work/declared"
unknown=$(comm -23 "$work/exported" "$work/declared")
if [ -n "$unknown" ]; then
	echo "exported, but in no public header:" $unknown
	exit 1
fi
for header in reader.h writer.h; do
	grep -v '^ \*\|^/\*' "$TRACE_SOURCE/include/trace/$header" | grep -o '[ *]trace_[a-z0-9_]*(.*' | grep -o 'trace_[a-z0-9_]*(' | tr -d '(' | sort -u > "$work/public"
	missing=$(comm -13 "$work/exported" "$work/public")
	if [ -n "$missing" ]; then
		echo "in $header, but not exported:" $missing
		exit 1
	fi
done
