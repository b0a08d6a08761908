// SPDX-License-Identifier: LGPL-2.1-or-later
// histogram.js - how long calls took: a bar for each power of two of time, as the report counts them.

import { el } from "./dom.js";
import { countText, durationText } from "./time.js";

const power = ns => (ns > 0 ? Math.round(Math.log2(ns)) : 0);

/** Adds the pairs [from_ns, calls] of a report to the Map @sums. */
export function addTimes(sums, times) {
	for (const [ns, calls] of times ?? []) sums.set(ns, (sums.get(ns) ?? 0) + calls);
	return sums;
}

/** The first and the last power of two that any of the Maps has; null: all are empty. */
export function rangeOf(all) {
	const powers = all.flatMap(times => [...times.keys()].map(power));

	return powers.length ? { first: Math.min(...powers), last: Math.max(...powers) } : null;
}

/** "128 ns: 12, 256 ns: 5": each time is the shortest of its bar. */
export function timesText(times) {
	return [...times]
		.sort((a, b) => a[0] - b[0])
		.map(([ns, calls]) => `${durationText(ns)}: ${countText(calls)}`)
		.join(", ");
}

/** The bars of one row of a table. All rows have the same @range, so that they can be compared. */
export function histogram(times, range) {
	const most = Math.max(...times.values(), 1),
		text = timesText(times);
	const bars = [];

	for (let p = range.first; p <= range.last; p++) {
		const calls = times.get(p ? 2 ** p : 0) ?? 0,
			bar = el("i", {});

		bar.style.height = calls ? `${Math.max(8, (100 * calls) / most)}%` : "0";
		bars.push(bar);
	}
	return el("span", { class: "histogram", role: "img", "aria-label": text || "no call", title: text }, ...bars);
}
