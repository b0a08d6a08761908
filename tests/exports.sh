#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
# exports.sh [--update] - libtrace.so exports what the public headers declare, and nothing else. It
# and libtracer.so export the names in exports.list, which --update writes anew.
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

# exports.list holds the names of both libraries, so that no name comes or goes by accident.
list=$TRACE_SOURCE/tests/exports.list
for library in libtrace libtracer; do
	nm -D --defined-only "$TRACE_BUILD/lib/$library.so" | awk -v "library=$library.so" '{ print library, $3 }' | grep -v ' __\| _init$\| _fini$'
done | LC_ALL=C sort -u > "$work/now"
if [ "${1:-}" = --update ]; then
	cp "$work/now" "$list"
	exit 0
fi
[ "$(uname -m)" = x86_64 ] && cp "$list" "$work/listed" || grep -v ' vfork$' "$list" > "$work/listed"
if ! diff "$work/listed" "$work/now" > "$work/changes"; then
	sed -n 's/^< /no longer exported: /p; s/^> /newly exported: /p' "$work/changes"
	echo "If this is intended: TRACE_BUILD=... TRACE_SOURCE=... tests/exports.sh --update, and commit tests/exports.list"
	exit 1
fi
