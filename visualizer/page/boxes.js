// SPDX-License-Identifier: LGPL-2.1-or-later
// boxes.js - asks for the spans of visible rows that are wide enough for a text, row by row.

import { ask, newest, question } from "./ask.js";
import { wideParts } from "./picture.js";
import { visibleRows } from "./view.js";

export const LEAST_LETTER = 12; // CSS pixels of a box with the letter of its class
const LEAST_PIXELS = 26,
	MOST_SPANS = 400,
	MOST_OF_PART = 40,
	MOST_PARTS = 24;

/** The known spans of rows: spans.get(id) is a list in order of time. */
export function makeBoxes(view, picture) {
	return { view, picture, spans: new Map(), done: new Map(), ask: null };
}

/** Asks for the first spans of the row, and where there are too many of them, for those of each wide part. */
async function askSpans(node, view, parts, isCurrent) {
	const from = Math.floor(parts[0].from),
		to = Math.ceil(parts.at(-1).to);
	const min = Math.floor(((view.to - view.from) * LEAST_LETTER) / view.width); // shorter ones have no text
	const all = await ask(question("spans", { row: node.leaf, from, to, max: MOST_SPANS, min })),
		found = all.spans;

	if (!all.cut) return found;
	for (const part of parts) {
		if (part.to <= (found.at(-1)?.to ?? 0)) continue;
		const answer =
			isCurrent() &&
			(await ask(
				question("spans", {
					row: node.leaf,
					from: Math.floor(part.from),
					to: Math.ceil(part.to),
					max: MOST_OF_PART,
					min
				})
			));

		found.push(...(answer?.spans ?? []).filter(span => span.from >= (found.at(-1)?.to ?? 0)));
	}
	return found;
}

async function askRow(boxes, node, isCurrent) {
	const { view, picture, spans, done } = boxes,
		key = `${Math.floor(view.from)}-${Math.ceil(view.to)}-${view.about.done_ns}`;

	if (done.get(node.leaf) === key) return;
	const parts = wideParts(picture, node.leaf, LEAST_PIXELS * devicePixelRatio, MOST_PARTS);
	if (!parts) return; // once its picture is complete, it is asked again
	const found = parts.length ? await askSpans(node, view, parts, isCurrent) : [];

	if (!isCurrent()) return;
	done.set(node.leaf, key);
	spans.set(node.leaf, found);
	if (parts.length) view.emit("paint");
}

/** Completes the boxes of the visible rows; what was asked for another span is given up. */
export function completeBoxes(boxes) {
	const { view } = boxes;

	boxes.ask ??= newest(
		async () => {
			const { from, to, scroll } = view,
				isCurrent = () => view.from === from && view.to === to && view.scroll === scroll;

			for (const { node } of visibleRows(view)) {
				if (!isCurrent()) return;
				if (node.leaf !== null) await askRow(boxes, node, isCurrent).catch(() => {});
			}
		},
		change => view.busy(change)
	);
	boxes.ask();
}
