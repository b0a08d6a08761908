// SPDX-License-Identifier: LGPL-2.1-or-later
// place.js - the place that is shown, as the hash of the address: span, rows, selection.
//
// #v=FROM-TO&s=FROM-TO&r=ROW&t=TIME&o=KEY,KEY&p=KEY,KEY&f=FILTER&a=1&b=1&c=COUNTER&c=COUNTER&x=1; a part that is absent is the default.

function span(text) {
	const match = /^(\d{1,16})-(\d{1,16})$/.exec(text ?? "");

	return match && Number(match[1]) < Number(match[2]) ? { from: Number(match[1]), to: Number(match[2]) } : null;
}

function number(text) {
	return /^\d{1,16}$/.test(text ?? "") ? Number(text) : null;
}

function keys(text) {
	return (text ?? "").split(",").filter(key => /^(\d{1,10}|waiting|resting|kernel)$/.test(key));
}

/** @place: {visible, range: {from, to} or null, row, t: numbers or null, open, pinned: [keys], filter, all, byClient, counters: [names], samples} */
export function writePlace({ visible, range, row, t, open, pinned, filter, all, byClient, counters = [], samples = false }) {
	const parts = new URLSearchParams();
	const spanText = s => `${Math.floor(s.from)}-${Math.ceil(s.to)}`;

	if (visible) parts.set("v", spanText(visible));
	if (range) parts.set("s", spanText(range));
	if (row !== null) parts.set("r", row);
	if (t !== null) parts.set("t", Math.floor(t));
	if (open.length) parts.set("o", open.join(","));
	if (pinned.length) parts.set("p", pinned.join(","));
	if (filter) parts.set("f", filter);
	if (all) parts.set("a", 1);
	if (byClient) parts.set("b", 1);
	if (samples) parts.set("x", 1);
	for (const name of counters) parts.append("c", name);
	return "#" + parts.toString().replaceAll("%2C", ",");
}

export function readPlace(hash) {
	const parts = new URLSearchParams(hash.replace(/^#/, ""));

	return {
		visible: span(parts.get("v")),
		range: span(parts.get("s")),
		row: number(parts.get("r")),
		t: number(parts.get("t")),
		open: keys(parts.get("o")),
		pinned: keys(parts.get("p")),
		filter: (parts.get("f") ?? "").slice(0, 200),
		all: parts.get("a") === "1",
		byClient: parts.get("b") === "1",
		samples: parts.get("x") === "1",
		counters: [...new Set(parts.getAll("c").map(name => name.slice(0, 200)))].slice(0, 12)
	};
}
