// SPDX-License-Identifier: LGPL-2.1-or-later
// live.js - a trace that is recorded while it is shown: what has changed since the engine has read the file again.
//
// The engine numbers rows as they appear in the file. Its last second may be in another order when more of it is there,
// so a row may have another number then.

import { clean } from "./words.js";

function identityOf({ kind, cpu, pid, tid, from }) {
	return [kind, cpu, pid, tid, from].join(" ");
}

/** The rows that have other numbers now: Map from the old id to the new one, or to null if there is no such row. */
export function movedRows(before, now) {
	const ids = new Map(now.map(row => [identityOf(row), row.id]));

	return new Map(
		before.map(row => [row.id, ids.get(identityOf(row)) ?? null]).filter(([id, newId]) => id !== newId)
	);
}

/** True if an answer about @item names a row that has moved. */
function isAbout(item, moved) {
	return JSON.stringify(item, (name, value) =>
		["row", "waiter"].includes(name) && moved.has(value) ? "moved" : value
	).includes('"moved"');
}

/** The state of the page is about the same rows as before. What cannot be is not selected any more. */
export function moveRows(view, moved) {
	const idOf = id => (moved.has(id) ? moved.get(id) : id),
		keysOf = keys =>
			keys
				.map(key => (/^\d+$/.test(key) ? idOf(Number(key)) : key))
				.filter(key => key !== null)
				.map(String);

	if (moved.size === 0) return;
	view.row = idOf(view.row);
	view.subject = idOf(view.subject);
	view.named = view.named.map(idOf).filter(id => id !== null);
	view.open = new Set(keysOf([...view.open]));
	if (view.opened) view.opened = keysOf([view.opened])[0] ?? null;
	view.pinned = keysOf(view.pinned);
	view.hover = null;
	for (const part of ["span", "path"]) if (view[part] && isAbout(view[part], moved)) view[part] = null;
	if (isAbout(view.chain, moved)) view.chain = [];
}

/** The view is about a trace of another duration. One that shows all of it does so still. */
export function takeDuration(view, ns) {
	const isWhole = view.from === 0 && view.to === view.duration;

	view.duration = view.most = Math.max(1, ns);
	if (isWhole) view.to = view.duration;
}

const LONG_REST_S = 10; // after a reading that took long

/**
 * "The trace is being recorded: 12 s more than at 10:03:04." @first: {ns, time: as text} when the page was opened.
 * @rest_s: the pause between two readings, if it is known. @unread: why it is not read again any more
 */
export function growthText({ duration_ns, clean_end, rest_s = 0, unread = "" }, first) {
	const more = `${Math.round((duration_ns - first.ns) / 1e9)} s more than at ${clean(first.time)}`,
		isLong = rest_s >= LONG_REST_S,
		pause = isLong ? ` It is long: the next reading is ${rest_s} s after this one; the key u reads it now.` : "";

	if (unread) return `The trace has grown, but is not read again: ${clean(unread, 200)}. The key u reads it.`;
	return clean_end
		? `The recording has ended: ${more}.`
		: `The trace is being recorded, and is read again by itself: ${more}.${pause}`;
}
