// SPDX-License-Identifier: LGPL-2.1-or-later
// time.js - times as text, and the ticks of the axis. Times are ns from the start of the trace.

const UNITS = [
	[1e9, "s"],
	[1e6, "ms"],
	[1e3, "us"],
	[1, "ns"]
];

/** The text of a duration, written as tracevisualizer writes it: "614 ns", "1.03 ms", "55.219 s". */
export function durationText(ns) {
	if (ns < 1) return "0";
	if (ns < 1000) return `${Math.round(ns)} ns`;
	if (ns < 999995)
		// a value that rounds to 1000.00 takes the next unit
		return `${(ns / 1e3).toFixed(2)} us`;
	if (ns < 999995000) return `${(ns / 1e6).toFixed(2)} ms`;
	return `${(ns / 1e9).toFixed(3)} s`;
}

/** "83 %", "0.4 %": two digits that count. */
export function percentText(part, whole) {
	const percent = whole > 0 ? (100 * part) / whole : 0;

	if (percent === 0) return "0 %";
	if (percent < 0.05) return "< 0.1 %";
	return `${percent < 9.95 ? percent.toFixed(1) : Math.round(percent)} %`;
}

export function countText(n) {
	return String(n).replace(/\B(?=(\d{3})+$)/g, ",");
}

/** "1 event", "27,550 events" */
export function numberText(n, noun, nouns = `${noun}s`) {
	return `${countText(n)} ${n === 1 ? noun : nouns}`;
}

export function bytesText(n) {
	const units = ["B", "KiB", "MiB", "GiB", "TiB"];
	let unit = 0;

	while (n >= 1024 && unit < units.length - 1) {
		n /= 1024;
		unit++;
	}
	return `${unit ? n.toFixed(1) : n} ${units[unit]}`;
}

/** The distance of ticks, 1, 2 or 5 times a power of ten, of which about @most fit into @ns. */
export function tickDistance(ns, most) {
	const least = Math.max(1, ns / Math.max(1, most));
	const power = 10 ** Math.floor(Math.log10(least));
	const factor = [1, 2, 5, 10].find(f => f * power >= least * 0.999999);

	return Math.max(1, Math.round(factor * power));
}

let zero = 0; // the point that has the text "0"; beside another trace the begin of the command

/** Points in time have texts that count from @ns on. */
export function setZero(ns) {
	zero = ns;
}

/** The first point of ticks of @distance at or after @from. */
export function firstTick(from, distance) {
	return Math.ceil((from - zero) / distance) * distance + zero;
}

function textOf(t, distance) {
	if (t === 0) return "0";
	const [unit, name] = UNITS.find(([u]) => Math.abs(t) >= u) ?? UNITS[3];
	const digits = Math.max(0, Math.min(9, Math.ceil(Math.log10(unit / distance) - 1e-9)));

	return `${(t / unit).toFixed(digits)} ${name}`;
}

/** The text of a point in time with the digits that @distance needs: "1.25 s", "103 ms". */
export function pointText(t, distance) {
	return textOf(t - zero, distance);
}

/** The part of a trace that a page of --from and --to shows: "1.20 s to 1.45 s of 10.000 s". */
export function partText({ part, duration_ns }) {
	const distance = Math.max(1, duration_ns / 100);

	return `the part from ${textOf(part.from_ns, distance)} to ${textOf(part.from_ns + duration_ns, distance)} of ${durationText(part.of_ns)}`;
}

/** The wall clock at @t as UTC: "01:30:53.106086". @startRealtimeNs: a BigInt; digits of a second. */
export function wallText(t, startRealtimeNs, digits) {
	const ns = startRealtimeNs + BigInt(Math.floor(t));
	const day = Number((ns / 1000000000n) % 86400n);
	const two = n => String(n).padStart(2, "0");
	const fraction = String(ns % 1000000000n)
		.padStart(9, "0")
		.slice(0, digits);

	return `${two(Math.floor(day / 3600))}:${two(Math.floor(day / 60) % 60)}:${two(day % 60)}${digits ? "." + fraction : ""}`;
}

/** The digits of a second that tell ticks of this distance apart. */
export function wallDigits(distance) {
	return Math.max(0, Math.min(9, 9 - Math.floor(Math.log10(distance) + 1e-9)));
}
